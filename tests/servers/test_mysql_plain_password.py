# SPDX-License-Identifier: GPL-2.0-or-later
"""No password in clear goes to a server without encryption, unless none was asked for."""

import pathlib
import socket

import pytest

from fakemysql import FakeMySQL
from servers import BENCH

PLUGINS = [("caching_sha2_password", None), ("mysql_native_password", "caching_sha2_password"),
           ("caching_sha2_password", "caching_sha2_password"), ("sha256_password", None), ("mysql_native_password", "mysql_clear_password"), ("mysql_clear_password", None)]


@pytest.fixture(params=PLUGINS, ids=lambda p: "-".join(filter(None, p)))
def fake(request):
    server = FakeMySQL(*request.param)
    yield server
    server.close()


def has_oracles_library():
    """Whether the driver is built with Oracle's client library, and not with MariaDB's."""
    return b"libmysqlclient.so" in (pathlib.Path(BENCH).parents[1] / "lib/bench/drivers/mysql.so").read_bytes()


@pytest.mark.parametrize("mode", ["on", "required", "verify_ca", "verify_identity"])
def test_nothing_at_all_is_sent_where_encryption_is_required(shell, certificates, fake, mode):
    sh = shell(fake, [f"--mysql-ssl={mode}", f"--mysql-ssl-ca={certificates.ca}"])
    answer = sh("connect")
    assert (answer["rc"], answer["code"]) == ("ERROR", 2026)
    assert fake.received == b""


@pytest.mark.parametrize("given", [[], ["ca"]])
def test_preferred_goes_on_without_but_not_with_the_password_in_clear(shell, certificates, fake, given):
    answer = shell(fake, ["--mysql-ssl=preferred", *(f"--mysql-ssl-ca={certificates.ca}" for _ in given)])("connect")
    assert answer["rc"] == "ERROR"
    # libmysqlclient hangs up on a server that begins with that method.
    assert b"spec_user" in fake.received or fake.greeting_plugin == "mysql_clear_password"
    assert fake.password not in fake.received


@pytest.mark.parametrize("fake", PLUGINS[:3], indirect=True)
def test_without_encryption_the_servers_key_protects_it(shell, fake):
    answer = shell(fake, ["--mysql-ssl=off"])("connect")
    assert (answer["rc"], answer["code"]) == ("ERROR", 1045)
    assert fake.key is not None
    assert fake.password not in fake.received


MARIADB = ("the server asks for a method that may send the password in clear text, and the connection is not encrypted; "
           "use --mysql-ssl, or --mysql-cleartext-password=on to allow it")
ORACLE = ("the server asks for the password in clear text; use --mysql-ssl=required, or --mysql-cleartext-password=on to "
          "send it without encryption")


@pytest.mark.parametrize("mode", ["off", "preferred"])
@pytest.mark.parametrize("fake", [("mysql_clear_password", None), ("mysql_native_password", "mysql_clear_password"),
                                  ("mysql_native_password", "dialog"), ("dialog", None),
                                  ("mysql_native_password", "no_such_method")], indirect=True)
def test_no_server_gets_it_in_clear_unless_allowed(shell, fake, mode):
    answer = shell(fake, [f"--mysql-ssl={mode}"])("connect")
    assert answer["rc"] == "ERROR" and fake.password not in fake.received
    if has_oracles_library():
        # Any other method is one that the library lacks.
        assert (answer["text"] == ORACLE) == ("mysql_clear_password" in (fake.greeting_plugin, fake.then_plugin))
    else:
        # With `preferred` a method of ours asks for the account's, which this server may never name.
        assert answer["text"] == MARIADB or mode == "preferred"


@pytest.mark.sanitized
@pytest.mark.parametrize("mode", ["off", "preferred"])
@pytest.mark.parametrize("fake", [("mysql_native_password", "mysql_clear_password")], indirect=True)
def test_it_is_sent_where_that_is_allowed(shell, fake, mode):
    shell(fake, [f"--mysql-ssl={mode}", "--mysql-cleartext-password=on"])("connect")
    assert fake.password in fake.received


class LocalMySQL(FakeMySQL):
    """On a socket of the file system."""

    def __init__(self, folder):
        self.path = f"{folder}/socket"
        super().__init__("mysql_native_password", "mysql_clear_password")
        super().close()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen()
        self.listen(listener)

    def login(self):
        return [a for a in super().login() if "-port=" not in a and "-host=" not in a] + [f"--mysql-socket={self.path}"]


@pytest.fixture
def local(tmp_path):
    server = LocalMySQL(tmp_path)
    yield server
    server.close()


def test_a_socket_file_without_encryption_may_be_the_librarys_doing(shell, local):
    """Oracle's library finds that out itself."""
    answer = shell(local, ["--mysql-ssl=required"])("connect")
    assert (answer["code"], local.received) == (2026, b"")
    assert answer["text"] == (
        "SSL connection error: SSL is required but the server doesn't support it" if has_oracles_library() else
        "encryption was asked for, but this server or this client library has none on a socket file: use "
        "--mysql-host=127.0.0.1, or leave --mysql-ssl out")


def test_it_is_sent_on_a_socket_of_the_file_system(shell, local):
    shell(local, ["--mysql-ssl=off"])("connect")
    assert local.password in local.received
