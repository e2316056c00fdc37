# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that asks for authentication without an end is given up with a sentence, by each command."""

import pytest

import bench
from fakemysql import SCRAMBLE, FakeMySQL
from fakepgsql import FakePgSQL, message

SENTENCE = "the server asks for authentication again and again; check what listens at this address"
MD5_WANTED = message(b"R", (5).to_bytes(4, "big") + b"salt")


class AskingPgSQL(FakePgSQL):
    def login(self):
        return [*super().login(), "--pgsql-password=secret"]

    def talk(self, conn):
        with conn.makefile("rb") as stream:
            stream.read(int.from_bytes(stream.read(4), "big") - 4)
            conn.sendall(MD5_WANTED)
            while stream.read(1):
                stream.read(int.from_bytes(stream.read(4), "big") - 4)
                conn.sendall(MD5_WANTED)


class AskingMySQL(FakeMySQL):
    """Asks for another method of authentication, whatever it is answered."""

    def talk(self, conn):
        self.seq = 0
        self.send(conn, self.greeting())
        while self.receive(conn) is not None:
            self.send(conn, b"\xfemysql_native_password\0" + SCRAMBLE + b"\0")


@pytest.mark.parametrize("command", ["run", "prepare", "cleanup"])
@pytest.mark.parametrize("asking", [lambda: AskingPgSQL(b""),
                                    lambda: AskingMySQL("mysql_native_password")],
                         ids=["pgsql", "mysql"])
def test_it_is_given_up(asking, command):
    server = asking()
    done = bench.run("oltp_read_only", *server.login(), "--table-size=10", "--events=1", command)
    server.close()
    assert done.status == 1
    assert SENTENCE in done.err
