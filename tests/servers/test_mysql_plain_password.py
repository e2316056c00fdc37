# SPDX-License-Identifier: GPL-2.0-or-later
"""No password in clear goes to a server without encryption, unless none was asked for."""

import os
import socket

import pytest

from fakemysql import FakeMySQL

PLUGINS = [("caching_sha2_password", None), ("mysql_native_password", "caching_sha2_password"),
           ("caching_sha2_password", "caching_sha2_password"), ("sha256_password", None), ("mysql_native_password", "mysql_clear_password"), ("mysql_clear_password", None)]


@pytest.fixture(params=PLUGINS, ids=lambda p: "-".join(filter(None, p)))
def fake(request):
    server = FakeMySQL(*request.param)
    yield server
    server.close()


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


@pytest.mark.parametrize("plugins", PLUGINS[:3])
def test_without_encryption_the_servers_key_protects_it(shell, plugins):
    fake = FakeMySQL(*plugins)
    answer = shell(fake, ["--mysql-ssl=off"])("connect")
    assert (answer["rc"], answer["code"]) == ("ERROR", 1045)
    assert fake.key is not None
    assert fake.password not in fake.received
    fake.close()


MARIADB = ("the server asks for a method that may send the password in clear text, and the connection is not encrypted; "
           "use --mysql-ssl, or --mysql-cleartext-password=on to allow it")
ORACLE = ("the server asks for the password in clear text; use --mysql-ssl=required, or --mysql-cleartext-password=on to "
          "send it without encryption")


@pytest.mark.parametrize("mode", ["off", "preferred"])
@pytest.mark.parametrize("plugins", [("mysql_clear_password", None), ("mysql_native_password", "mysql_clear_password"),
                                     ("mysql_native_password", "dialog"), ("dialog", None),
                                     ("mysql_native_password", "no_such_method")])
def test_no_server_gets_it_in_clear_unless_allowed(shell, plugins, mode):
    fake = FakeMySQL(*plugins)
    answer = shell(fake, [f"--mysql-ssl={mode}"])("connect")
    assert answer["rc"] == "ERROR" and fake.password not in fake.received
    if os.environ.get("BENCH_MYSQL"):
        # Any other method is one that the library lacks.
        assert answer["text"] == (ORACLE if "mysql_clear_password" in plugins else answer["text"])
        assert answer["text"] != ORACLE or "mysql_clear_password" in plugins
    else:
        # With `preferred` a method of ours asks for the account's, which this server may never name.
        assert answer["text"] == MARIADB or mode == "preferred"
    fake.close()


@pytest.mark.sanitized
@pytest.mark.parametrize("mode", ["off", "preferred"])
def test_it_is_sent_where_that_is_allowed(shell, mode):
    fake = FakeMySQL("mysql_native_password", "mysql_clear_password")
    shell(fake, [f"--mysql-ssl={mode}", "--mysql-cleartext-password=on"])("connect")
    assert fake.password in fake.received
    fake.close()


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


def test_a_socket_file_without_encryption_may_be_the_librarys_doing(shell, tmp_path):
    fake = LocalMySQL(tmp_path)
    answer = shell(fake, ["--mysql-ssl=required"])("connect")
    assert (answer["code"], fake.received) == (2026, b"")
    assert "on a socket file: use --mysql-host=127.0.0.1" in answer["text"] or os.environ.get("BENCH_MYSQL")
    fake.close()


def test_it_is_sent_on_a_socket_of_the_file_system(shell, tmp_path):
    fake = LocalMySQL(tmp_path)
    shell(fake, ["--mysql-ssl=off"])("connect")
    assert fake.password in fake.received
    fake.close()
