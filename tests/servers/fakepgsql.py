# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that is not to be trusted: speaks PostgreSQL's protocol, lets everybody in, and answers the question for its
limits as it is told to, or resets its connections."""

import random
import socket
import struct
import threading

from fake import FakeServer

SSL_WANTED, GSS_WANTED, CANCEL = 80877103, 80877104, 80877102
INFO = b"max_connections"


def message(kind, payload=b""):
    return kind + (len(payload) + 4).to_bytes(4, "big") + payload


READY = message(b"Z", b"I")


def answer(columns, rows):
    """Of a query, in text; None: NULL."""
    fields = b"".join(b"c\0" + bytes(6) + (25).to_bytes(4, "big") + b"\xff\xff\xff\xff\xff\xff\0\0" for _ in range(columns))
    text = message(b"T", columns.to_bytes(2, "big") + fields)
    for row in rows:
        cells = b"".join(b"\xff\xff\xff\xff" if c is None else len(c).to_bytes(4, "big") + c.encode() for c in row)
        text += message(b"D", len(row).to_bytes(2, "big") + cells)
    return text + message(b"C", b"SELECT %d\0" % len(rows)) + READY


class FakePgSQL(FakeServer):
    """Each connection has a thread.  `info` is what the question for the limits is answered with, as it travels; any
    other query gets `other`, a row with 1, or what `other` makes of the query.  `asked` has all queries."""

    driver = "pgsql"

    def __init__(self, info, other=None):
        self.info = info
        self.other = answer(1, [["1"]]) if other is None else other
        self.asked = []
        super().__init__()

    def login(self):
        return ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={self.port}", "--pgsql-user=spec_user",
                "--pgsql-sslmode=disable", "--pgsql-db=spec_db"]

    def talk(self, conn):
        with conn.makefile("rb") as stream:
            if self.let_in(conn, stream):
                self.converse(conn, stream)

    def let_in(self, conn, stream):
        """False: a request to cancel, which is over."""
        while True:
            length = int.from_bytes(stream.read(4), "big")
            code = int.from_bytes(stream.read(length - 4)[:4], "big") if length > 4 else CANCEL
            if code == CANCEL:
                return False
            if code not in (SSL_WANTED, GSS_WANTED):
                break
            conn.sendall(b"N")
        settings = {"server_version": "15.4", "client_encoding": "UTF8", "standard_conforming_strings": "on"}
        conn.sendall(message(b"R", bytes(4)) + b"".join(
            message(b"S", f"{k}\0{v}\0".encode()) for k, v in settings.items()) + message(b"K", bytes(8)) + READY)
        return True

    def converse(self, conn, stream):
        while (kind := stream.read(1)) not in (b"", b"X"):
            payload = stream.read(int.from_bytes(stream.read(4), "big") - 4)
            if kind == b"Q":
                self.asked.append(payload)
                other = self.other(payload) if callable(self.other) else self.other
                conn.sendall(self.info if INFO in payload else other)
            elif kind == b"S":
                conn.sendall(READY)


class ParsingPgSQL(FakePgSQL):
    """Prepares and executes what it is sent, but statements with the word `refused` in them.  `parsed` has for each
    exchange how many it was to prepare.  With a `farewell`, an exchange that prepares many is answered by that, and
    the server hangs up."""

    REPLIES = {b"P": message(b"1"), b"B": message(b"2"), b"D": message(b"n"), b"E": message(b"C", b"UPDATE 1\0")}
    ERROR = message(b"E", b"SERROR\0VERROR\0C42P01\0Mrelation does not exist\0\0")

    def __init__(self, refused=b"\0none", farewell=None):
        self.refused, self.parsed, self.farewell = refused, [], farewell
        super().__init__(answer(4, [["1000", "3", "1", "0"]]))

    def converse(self, conn, stream):
        text, parsed, failed = b"", 0, False
        while (kind := stream.read(1)) not in (b"", b"X"):
            payload = stream.read(int.from_bytes(stream.read(4), "big") - 4)
            if kind == b"Q":
                conn.sendall(self.info if INFO in payload else self.other)
                continue
            parsed += kind == b"P"
            if kind == b"S":
                self.parsed += [parsed] if parsed else []
                if self.farewell is not None and parsed > 1:
                    conn.sendall(self.farewell)
                    return
                conn.sendall(text + READY)
                text, parsed, failed = b"", 0, False
            elif not failed:
                failed = kind == b"P" and self.refused in payload
                text += self.ERROR if failed else self.REPLIES.get(kind, b"")


class LeavingPgSQL(FakePgSQL):
    """Answers the second query of the workload on each connection with `farewell`, and hangs up."""

    def __init__(self, farewell):
        self.farewell = farewell
        super().__init__(answer(4, [["1000", "3", "1", "0"]]))

    def converse(self, conn, stream):
        answered = 0
        while (kind := stream.read(1)) not in (b"", b"X"):
            payload = stream.read(int.from_bytes(stream.read(4), "big") - 4)
            if INFO in payload:
                conn.sendall(self.info)
                continue
            conn.sendall(self.farewell if answered else self.other)
            if answered:
                return
            answered += 1


class SilentPgSQL(FakePgSQL):
    """Prepares `spared` statements; behind these, and to an INSERT as text, it answers nothing any more, and sets
    `silent`."""

    def __init__(self, spared):
        self.spared, self.silent = spared, threading.Event()
        super().__init__(answer(4, [["1000", "3", "1", "0"]]))

    def converse(self, conn, stream):
        while (kind := stream.read(1)) not in (b"", b"X"):
            payload = stream.read(int.from_bytes(stream.read(4), "big") - 4)
            self.spared -= kind == b"P"
            if self.spared < 0 or b"INSERT" in payload:
                self.silent.set()
            elif kind == b"Q":
                conn.sendall(self.info if INFO in payload else self.other)
            else:
                conn.sendall({b"P": message(b"1"), b"S": READY}.get(kind, b""))


class ResettingPgSQL(FakePgSQL):
    """Prepares and executes whatever it is sent, and after the first `spared` answers resets the connection in the
    place of the answer, once in `one_in` times; `lost` says how often."""

    REPLIES = {b"P": message(b"1"), b"B": message(b"2"), b"C": message(b"3"), b"D": message(b"n"),
               b"E": message(b"C", b"UPDATE 1\0"), b"S": READY}

    def __init__(self, spared, one_in):
        self.spared, self.one_in, self.lost = spared, one_in, 0
        self.random = random.Random(1)
        self.lock = threading.Lock()
        super().__init__(answer(4, [["1000", "3", "1", "0"]]))

    def resets(self):
        with self.lock:
            self.spared -= 1
            resets = self.spared < 0 and self.random.randrange(self.one_in) == 0
            self.lost += resets
            return resets

    def converse(self, conn, stream):
        text = b""
        while (kind := stream.read(1)) not in (b"", b"X"):
            payload = stream.read(int.from_bytes(stream.read(4), "big") - 4)
            if kind == b"Q":
                text = self.info if INFO in payload else answer(1, [["1"]])
            else:
                text += self.REPLIES.get(kind, b"")
            if kind not in (b"Q", b"S"):
                continue
            if self.resets():
                conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            conn.sendall(text)
            text = b""
