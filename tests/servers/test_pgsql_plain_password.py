# SPDX-License-Identifier: GPL-2.0-or-later
"""No password in clear goes to a PostgreSQL server without encryption, unless it was allowed to."""

import ctypes
import ctypes.util
import socket
import threading

import pytest

from fakepgsql import FakePgSQL, answer, message

PASSWORD = b"Clear-Pw-0815"
CLEAR = message(b"R", (3).to_bytes(4, "big"))
MD5 = message(b"R", (5).to_bytes(4, "big") + b"salt")
SCRAM = message(b"R", (10).to_bytes(4, "big") + b"SCRAM-SHA-256\0\0")
REFUSED = ("the server asks for the password in clear text, and the connection is not encrypted; use "
           "--pgsql-sslmode=require, or --pgsql-require-auth=password to send it\n\n")


def knows_lists():
    """Whether libpq knows require_auth by itself."""
    return ctypes.CDLL(ctypes.util.find_library("pq")).PQlibVersion() >= 160000


class AskingPgSQL(FakePgSQL):
    """Asks for each of `requests` in turn and keeps the answers.  A list is sent piece by piece."""

    password = PASSWORD

    def __init__(self, *requests, negotiation=b"N"):
        self.requests = requests
        self.no_encryption = negotiation
        self.received = b""
        super().__init__(answer(0, []))

    def login(self):
        return [*super().login(), "--pgsql-password=" + PASSWORD.decode()]

    def ask(self, conn, stream):
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request in self.requests:
            pieces = request if isinstance(request, list) else [request]
            for i, piece in enumerate(pieces):
                if i:
                    threading.Event().wait(0.01)  # so that they may arrive one by one
                conn.sendall(piece)
            head = stream.read(5)
            self.received += head
            if len(head) < 5:
                raise OSError("hung up")
            self.received += stream.read(int.from_bytes(head[1:], "big") - 4)


class LocalPgSQL(AskingPgSQL):
    """The same on a socket of the file system."""

    def __init__(self, folder, *requests):
        super().__init__(*requests)
        self.folder = folder
        super().close()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{folder}/.s.PGSQL.{self.port}")
        listener.listen()
        self.listen(listener)

    def ask(self, conn, stream):
        conn.sendall(CLEAR)
        self.received += stream.read(5 + len(PASSWORD) + 1)

    def login(self):
        return [f"--pgsql-host={self.folder}" if "host" in a else a for a in super().login()]


@pytest.fixture(name="connect")
def connecting(shell):
    fakes = []

    def connect(fake, *args):
        fakes.append(fake)
        sh = shell(fake, list(args))
        return sh("connect"), sh

    yield connect
    for fake in fakes:
        fake.close()


REQUESTS = {
    "at once": [CLEAR],
    "in pieces": [[CLEAR[i:i + 1] for i in range(len(CLEAR))]],
    "after scram": [SCRAM, CLEAR],
    "after md5": [MD5, CLEAR],
    "behind md5": [MD5 + CLEAR, b""],
}


@pytest.mark.parametrize("mode", ["disable", "prefer"])
@pytest.mark.parametrize("requests", REQUESTS)
def test_no_server_gets_it_in_clear(connect, requests, mode):
    fake = AskingPgSQL(*REQUESTS[requests])
    got, _ = connect(fake, f"--pgsql-sslmode={mode}")
    assert (got["rc"], got["text"]) == ("ERROR", REFUSED)
    assert PASSWORD not in fake.received


@pytest.mark.sanitized
def test_not_even_with_the_refusal_of_encryption(connect):
    """libpq would read both at once."""
    fake = AskingPgSQL(b"", negotiation=b"N" + CLEAR)
    got, _ = connect(fake, "--pgsql-sslmode=prefer")
    assert (got["rc"], got["text"]) == ("ERROR", REFUSED)
    assert PASSWORD not in fake.received


@pytest.mark.parametrize("mode", ["disable", "prefer"])
@pytest.mark.parametrize("protocol", ["own", "library"])
def test_it_is_sent_where_that_is_allowed(connect, protocol, mode):
    fake = AskingPgSQL(CLEAR)
    got, sh = connect(fake, f"--pgsql-sslmode={mode}", "--pgsql-require-auth=scram-sha-256,password",
                      f"--pgsql-protocol={protocol}")
    assert got["rc"] == "DONE"
    assert PASSWORD in fake.received
    assert sh.query("SELECT 1") == [["1"]]


def test_a_socket_of_this_machine_is_not_guarded(connect, tmp_path):
    fake = LocalPgSQL(tmp_path)
    got, sh = connect(fake)
    assert got["rc"] == "DONE" and PASSWORD in fake.received
    assert sh.query("SELECT 1") == [["1"]]


@pytest.mark.parametrize("protocol", ["own", "library"])
@pytest.mark.parametrize("request_", [MD5, [MD5[:3], MD5[3:]]])
def test_other_methods_and_what_follows_pass(connect, request_, protocol):
    fake = AskingPgSQL(request_)
    got, sh = connect(fake, f"--pgsql-protocol={protocol}")
    assert got["rc"] == "DONE"
    assert fake.received[5:8] == b"md5"
    assert sh.query("SELECT 1") == [["1"]]


@pytest.mark.parametrize("methods, requests, asked", [
    ("scram-sha-256", [], "the server asks for no authentication, which --pgsql-require-auth does not allow\n\n"),
    ("scram-sha-256", [MD5], "the server asks for the login method 'md5', which --pgsql-require-auth does not allow\n\n"),
    ("!md5", [MD5], "the server asks for the login method 'md5', which --pgsql-require-auth does not allow\n\n"),
    ("md5,none", [CLEAR], "the server asks for the login method 'password', which --pgsql-require-auth does not allow\n\n"),
])
def test_the_list_is_kept(connect, methods, requests, asked):
    """Where libpq knows it, the words are its own."""
    fake = AskingPgSQL(*requests)
    got, _ = connect(fake, f"--pgsql-require-auth={methods}")
    assert got["rc"] == "ERROR" and PASSWORD not in fake.received
    assert got["text"] == asked or knows_lists()
    fake = AskingPgSQL(MD5)
    assert connect(fake, "--pgsql-require-auth=md5,scram-sha-256")[0]["rc"] == "DONE"


def test_an_old_library_cannot_keep_it_under_encryption(connect):
    fake = AskingPgSQL(b"", negotiation=b"S")
    got, _ = connect(fake, "--pgsql-sslmode=require", "--pgsql-require-auth=md5")
    assert got["rc"] == "ERROR"
    assert got["text"].startswith("--pgsql-require-auth needs libpq 16 or later on an encrypted") or knows_lists()


class LastWords(AskingPgSQL):
    """Says something and hangs up."""

    def ask(self, conn, stream):
        for piece in self.requests:
            conn.sendall(piece)
            threading.Event().wait(0.01)
        conn.shutdown(socket.SHUT_WR)
        stream.read()
        raise OSError("hung up")


FATAL = message(b"E", b"SFATAL\0VFATAL\0C53300\0Mtoo many of you\0\0")


@pytest.mark.parametrize("said, heard", [
    pytest.param([], "server closed the connection unexpectedly", marks=pytest.mark.sanitized),
    ([CLEAR[:7]], "server closed the connection unexpectedly"), ([FATAL], "FATAL:  too many of you"),
    pytest.param([FATAL[:9], FATAL[9:30], FATAL[30:]], "FATAL:  too many of you", marks=pytest.mark.sanitized),
    ([b"Eold servers say so\n\0"], "old servers say so"), ([message(b"X", bytes(20))], "expected authentication request"),
])
def test_libpq_hears_how_it_ends(connect, said, heard):
    got, _ = connect(LastWords(*said))
    assert got["rc"] == "ERROR"
    assert heard in got["text"]
