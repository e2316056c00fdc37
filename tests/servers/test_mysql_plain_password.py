# SPDX-License-Identifier: GPL-2.0-or-later
"""No password in clear goes to a server without encryption, unless none was asked for."""

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
