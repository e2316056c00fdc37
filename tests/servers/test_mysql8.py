# SPDX-License-Identifier: GPL-2.0-or-later
"""What only Oracle's MySQL 8 has: ways to log in with caching_sha2_password; ../mysql8.sh runs it."""

import json

import pytest

from test_workloads import bench, must, number


def forget(server):
    """From now on the server asks for the whole password, once."""
    server.sql("FLUSH PRIVILEGES")


def logged_in(sh):
    assert sh("connect")["rc"] == "DONE"
    user, = sh.query("SELECT SUBSTRING_INDEX(USER(), '@', 1)")
    plugin, = sh.query("SELECT @@default_authentication_plugin")
    assert (user, plugin) == (["spec_user"], ["caching_sha2_password"])
    return sh.query("SHOW STATUS LIKE 'Ssl_cipher'")[0][1] != ""


@pytest.mark.parametrize("by, mode, encrypted", [
    ("socket", "off", False),
    ("tcp", "required", True),
    ("tcp", "verify_identity", True),
    ("tcp", "off", False),  # by the server's RSA key
    ("tcp", "preferred", True),
])
def test_full_and_cached_login(shell, mariadb, certificates, by, mode, encrypted):
    forget(mariadb)
    for _ in range(2):
        sh = shell(mariadb, [f"--mysql-ssl={mode}", f"--mysql-ssl-ca={certificates.ca}"], by=by)
        assert logged_in(sh) is encrypted


@pytest.mark.parametrize("mode", ["off", "preferred"])
def test_full_login_on_a_server_without_encryption(shell, mariadb_plain, mode):
    for _ in range(2):
        forget(mariadb_plain)
        assert logged_in(shell(mariadb_plain, [f"--mysql-ssl={mode}"], by="tcp")) is False


@pytest.mark.parametrize("by, mode", [("socket", "off"), ("tcp", "required"), ("tcp", "off")])
def test_wrong_password(shell, mariadb, by, mode):
    forget(mariadb)
    sh = shell(mariadb, ["--mysql-password=wrong", f"--mysql-ssl={mode}"], by=by)
    answer = sh("connect")
    assert (answer["rc"], answer["code"]) == ("ERROR", 1045)


def test_a_run_of_threads_that_log_in_at_once(mariadb):
    sizes = ["--tables=1", "--table-size=100"]
    must(mariadb, "oltp_point_select", *sizes, "prepare", by="tcp")
    try:
        forget(mariadb)
        out = must(mariadb, "oltp_point_select", *sizes, "--threads=64", "--events=640", "run", by="tcp")
        assert number(out, "read") == 640
    finally:
        must(mariadb, "oltp_point_select", *sizes, "cleanup", by="tcp")


@pytest.mark.parametrize("name", ["zlib", "zstd"])
def test_the_compression_is_named(mariadb, tmp_path, name):
    (tmp_path / "x.lua").write_text("function thread_init() sysbench.sql.driver():connect() end\nfunction event() end\n")
    status, _, err = bench(mariadb, tmp_path / "x.lua", "--mysql-compression=on", f"--mysql-compression-algorithms={name}",
                           "--events=1", f"--report=json:{tmp_path}/json", "run")
    if "this client library compresses by zlib only" in err:
        pytest.skip("MariaDB Connector/C")
    assert (status, err) == (0, "")
    assert json.loads((tmp_path / "json").read_text())["facts"]["database"]["compression"] == name
