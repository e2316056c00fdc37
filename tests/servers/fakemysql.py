# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that is not to be trusted: speaks MySQL's handshake without encryption, keeps what it is
sent, and asks for the password."""

import select
import subprocess

from fake import FakeServer

CLIENT_SSL = 1 << 11
CAPABILITIES = 0xFFFFF7FF & ~CLIENT_SSL & ~(1 << 24 | 1 << 26 | 1 << 27)
SCRAMBLE = b"abcdefghijklmnopqrst"
FULL_LOGIN, KEY_WANTED = b"\x01\x04", b"\x02"


class FakeMySQL(FakeServer):
    """One connection at a time; `received` is all that came."""

    one_by_one = True
    patience_s = 60

    def __init__(self, greeting_plugin, then_plugin=None):
        self.greeting_plugin, self.then_plugin = greeting_plugin, then_plugin
        self.received = b""
        self.key = None
        super().__init__()

    def login(self):
        return ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.port}", "--mysql-user=spec_user",
                "--mysql-password=Clear-Pw-0815", "--mysql-db=spec_db"]

    driver = "mysql"
    version = b"8.0.33"
    password = b"Clear-Pw-0815"

    def greeting(self):
        low, high = CAPABILITIES & 0xFFFF, CAPABILITIES >> 16
        return (b"\x0a" + self.version + b"\0" + (7).to_bytes(4, "little") + SCRAMBLE[:8] + b"\0" + low.to_bytes(2, "little") + b"\x21"
                + (2).to_bytes(2, "little") + high.to_bytes(2, "little") + b"\x15" + bytes(10) + SCRAMBLE[8:] + b"\0"
                + self.greeting_plugin.encode() + b"\0")

    def send(self, conn, payload):
        conn.sendall(len(payload).to_bytes(3, "little") + bytes([self.seq]) + payload)
        self.seq = (self.seq + 1) % 256

    def receive(self, conn):
        """The payload of a packet; None: the client has hung up."""
        data = b""
        while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:3], "little"):
            more = conn.recv(65536)
            if not more:
                return None
            data += more
            self.received += more
        self.seq = (data[3] + 1) % 256
        return data[4:]

    def commands(self, conn):
        """Lets the client in, and yields what it sends then until it leaves."""
        def read(n):
            data = b""
            while len(data) < n and (more := conn.recv(n - len(data))):
                data += more
            return data

        def packet():
            return read(int.from_bytes(read(4)[:3], "little"))

        conn.sendall(packets(self.greeting(), seq=0))
        packet()
        conn.sendall(packets(OK, seq=2))
        while (command := packet()) and command[0] != COM_QUIT:
            yield command

    def public_key(self):
        if self.key is None:
            private = subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True).stdout
            self.key = subprocess.run(["openssl", "rsa", "-pubout"], input=private, check=True, capture_output=True).stdout
        return self.key

    def talk(self, conn):
        self.seq = 0
        self.send(conn, self.greeting())
        if self.receive(conn) is None:
            return
        if self.then_plugin:
            self.send(conn, b"\xfe" + self.then_plugin.encode() + b"\0" + SCRAMBLE + b"\0")
            if self.receive(conn) is None:
                return
        self.send(conn, FULL_LOGIN)
        answer = self.receive(conn)
        if answer == KEY_WANTED:
            self.send(conn, b"\x01" + self.public_key())
            answer = self.receive(conn)
        if answer is not None:
            self.send(conn, b"\xff\x15\x04#28000Access denied")


def packets(*payloads, seq=1):
    """They as they travel."""
    return b"".join(len(p).to_bytes(3, "little") + bytes([(seq + i) % 256]) + p for i, p in enumerate(payloads))


COM_QUIT, COM_QUERY, COM_PREPARE, COM_EXECUTE = 1, 3, 0x16, 0x17
OK = b"\0\0\0\2\0\0\0"
END = b"\xfe\0\0\2\0"
COLUMN = b"\3def\0\0\0\1?\0\x0c\x3f\0\x15\0\0\0\x08\x80\0\0\0\0"  # BIGINT
# Statement 1 has one parameter and no columns.
PREPARED = packets(b"\0\1\0\0\0\0\0\1\0\0\0\0", COLUMN, END)


class ScriptedMySQL(FakeMySQL):
    """Lets everybody in, answers each query and execution with the next of `answers`, bytes as they travel, and hangs
    up behind the last one.  `asked` has what they were, without the packet's header."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        super().__init__("mysql_native_password")

    def talk(self, conn):
        self.seq = 0
        self.send(conn, self.greeting())
        if self.receive(conn) is None:
            return
        self.send(conn, OK)
        while (command := self.receive(conn)) is not None:
            if command == b"":  # the end of a file
                self.send(conn, OK)
            elif command[0] == COM_PREPARE:
                conn.sendall(PREPARED)
            elif command[0] in (COM_QUERY, COM_EXECUTE):
                self.asked.append(command)
                conn.sendall(self.answers.pop(0))
                if not self.answers:
                    return


class PreparingMySQL(FakeMySQL):
    """Answers statements that are to be prepared only when so many of them have come as `groups` says, one group after
    the other.  Those with the word `refused` in them fail; executions succeed.  `left` has the groups that are left.
    With a `farewell`, the last group gets one answer and that, and the server hangs up."""

    ERROR = packets(b"\xff\x7a\x04#42S02no such table")
    one_by_one = False  # bench asks for limits on a connection of its own
    patience_s = 60

    def __init__(self, groups, refused=None, version=b"8.0.33", farewell=None):
        self.left, self.refused, self.version, self.farewell = list(groups), refused, version, farewell
        super().__init__("mysql_native_password")

    def talk(self, conn):
        waiting = []
        for command in self.commands(conn):
            if command[0] in (COM_QUERY, COM_EXECUTE):
                conn.sendall(packets(OK))
            elif command[0] == COM_PREPARE:
                if not self.left:  # it has said farewell
                    return
                waiting.append(self.ERROR if self.refused and self.refused in command else PREPARED)
            if waiting and len(waiting) == self.left[0]:
                self.left.pop(0)
                if self.farewell is not None and not self.left:
                    conn.sendall(waiting[0] + self.farewell)
                    return
                conn.sendall(b"".join(waiting))
                waiting = []


class OneByOneMySQL(FakeMySQL):
    """Prepares and executes whatever it is sent, but hangs up if a packet comes before the last one was answered, as
    ProxySQL does.  `hung_up` says how often."""

    one_by_one = False
    version = b"8.0.11"

    def __init__(self):
        self.hung_up = 0
        super().__init__("mysql_native_password")

    def talk(self, conn):
        for command in self.commands(conn):
            if command[0] not in (COM_QUERY, COM_PREPARE, COM_EXECUTE):
                continue
            if select.select([conn], [], [], 0.001)[0]:
                self.hung_up += 1
                return
            conn.sendall(PREPARED if command[0] == COM_PREPARE else packets(OK))
