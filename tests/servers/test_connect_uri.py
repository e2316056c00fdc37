# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the URI of --connect reaches real servers by TCP and by socket, and is not printed."""

import json
import os
import subprocess
import urllib.parse

import pytest

import servers
import transcripts
from servers import BENCH

ODD = "p@s/s:w%?#&=1"


def run(uri, *args, cwd):
    done = subprocess.run(
        [BENCH, "oltp_point_select", f"--connect={uri}", "--table-size=10", "--verbosity=5", *args],
        cwd=cwd, capture_output=True, text=True, timeout=120)
    shown = done.stdout + done.stderr
    assert servers.PASSWORD not in shown and ODD not in shown
    assert done.returncode == 0, shown


def query(places):
    return "&".join(f"{name}={urllib.parse.quote(value)}" for name, value in places.items())


def uris_of(server, user=servers.USER, password=servers.PASSWORD):
    login = f"{user}:{urllib.parse.quote(password, safe='')}"
    if hasattr(server, "socket"):
        tcp, socket = {"ssl-mode": "disabled"}, {"socket": server.socket}
        scheme = "mysql"
    else:
        tcp, socket = {"sslmode": "disable"}, {"host": server.folder}
        scheme = "postgresql"
    return [f"{scheme}://{login}@127.0.0.1:{server.port}/{servers.DATABASE}?{query(tcp)}",
            f"{scheme}://{login}@:{server.port}/{servers.DATABASE}?{query(socket)}"]


@pytest.fixture(params=["mariadb", "postgresql"])
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)  # of what other tests of this process have left
    return server


@pytest.mark.sanitized
def test_by_tcp_and_socket(server, tmp_path):
    for uri in uris_of(server):
        run(uri, "prepare", cwd=tmp_path)
        run(uri, "--events=5", "--time=0", "--report=json:r.json", "run", cwd=tmp_path)
        text = (tmp_path / "r.json").read_text()
        assert servers.PASSWORD not in text
        options = {o["name"]: o["value"] for o in json.loads(text)["facts"]["options"]}
        assert options["connect"] is None and options[f"{options['db-driver']}-user"] == servers.USER
        run(uri, "cleanup", cwd=tmp_path)


def test_a_password_of_signs_is_decoded(server, tmp_path):
    if hasattr(server, "socket"):
        server.sql(f"CREATE USER odd_one IDENTIFIED BY '{ODD}'; GRANT ALL ON {servers.DATABASE}.* TO odd_one")
    else:
        server.sql(f"CREATE USER odd_one PASSWORD '{ODD}'")
    (tmp_path / "login.lua").write_text("local c = sysbench.sql.driver():connect() print('in', c:query('SELECT 1') ~= nil)")
    for uri in uris_of(server, "odd_one", ODD):
        done = subprocess.run([BENCH, "./login.lua", f"--connect={uri}"], cwd=tmp_path, capture_output=True, text=True,
                              timeout=120)
        assert "in\ttrue" in done.stdout, done.stdout + done.stderr


SESSION = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  for _, what in ipairs(sysbench.opt.show) do print("session", con:query_row("SELECT " .. what)) end
  con:reconnect()
end
sysbench.cmdline.options = { show = {"What", {"1"}} }
"""


def session(server, tmp_path, show, *argv, **env):
    """What two connections in succession say, the second one made after a loss."""
    (tmp_path / "s.lua").write_text(SESSION)
    done = subprocess.run([BENCH, "s.lua", *argv, f"--show={show}", "--events=2", "run"], cwd=tmp_path, text=True,
                          capture_output=True, timeout=120, env={**os.environ, **env})
    assert done.returncode == 0 or done.stderr, done.stdout
    return [line.split("\t")[1] for line in done.stdout.splitlines() if line.startswith("session")] or done.stderr


def test_statements_after_each_connect(server, tmp_path):
    mysql = hasattr(server, "socket")
    show = "@@wait_timeout" if mysql else "current_setting('work_mem')"
    text = "SET SESSION wait_timeout=7; SELECT 1; SELECT 2" if mysql else "SET work_mem='123kB'; SELECT 1"
    value = "7" if mysql else "123kB"
    for protocol in "own", "library":
        asked = [*server.login(), f"--db-init-sql={text}", f"--{'mysql' if mysql else 'pgsql'}-protocol={protocol}"]
        assert session(server, tmp_path, show, *asked, *(["--mysql-ssl=off"] if mysql else ["--pgsql-sslmode=disable"])) \
            == [value] * 2
    for dialect in "1.0", "1.1":
        assert session(server, tmp_path, show, *server.login(), f"--db-init-sql={text}", f"--compat={dialect}") == [value] * 2
    assert "--db-init-sql: " in session(server, tmp_path, show, *server.login(), "--db-init-sql=SELECT nosuch")


def test_parameters_of_the_client_libraries(server, tmp_path):
    by_tcp = uris_of(server)[0]
    if hasattr(server, "socket"):
        assert session(server, tmp_path, "@@character_set_client", f"--connect={by_tcp}&charset=latin1") == ["latin1"] * 2
        return
    show = "current_setting('application_name')"
    assert session(server, tmp_path, show, f"--connect={by_tcp}") == ["bench"] * 2
    assert session(server, tmp_path, show, f"--connect={by_tcp}&application_name=x%20y") == ["x y"] * 2
    assert session(server, tmp_path, "current_setting('work_mem')",
                   f"--connect={by_tcp}&options=-cwork_mem%3D321kB&keepalives_idle=9") == ["321kB"] * 2
    assert session(server, tmp_path, "current_setting('work_mem')", *server.login(),
                   PGOPTIONS="-c work_mem=99kB") == ["99kB"] * 2
    for asked, why in [("nosuch=1", 'invalid connection option "nosuch"'), ("password=x", "'password' is a secret"),
                       ("options", 'missing "=" after "options"')]:
        assert f"--pgsql-parameters: {why}" in session(server, tmp_path, show, *server.login(),
                                                       f"--pgsql-parameters={asked}")


def test_results_say_how_the_bytes_travel(server, certificates, tmp_path):
    """Socket or TCP, encryption, protocol and compression, in the document, the heading and `bench compare`."""
    mysql = hasattr(server, "socket")
    plain, tls = (["--mysql-ssl=off"], ["--mysql-ssl=required"]) if mysql else \
        (["--pgsql-sslmode=disable"], ["--pgsql-sslmode=require"])
    cases = [("socket", plain, ("Unix socket", "none", "own", "none")), ("tcp", plain, ("TCP", "none", "own", "none"))]
    if mysql:
        cases.append(("tcp", [*plain, "--mysql-compression=on"], ("TCP", "none", "library", "zlib")))
    cases.append(("tcp", tls, ("TCP", "TLS", "own", "none")))
    (tmp_path / "s.lua").write_text(SESSION)
    for i, (by, options, (transport, encryption, protocol, compression)) in enumerate(cases):
        done = subprocess.run([BENCH, "s.lua", *server.login(by), *options, "--events=2", "--report=text",
                               f"--report=json:{i}.json", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        facts = json.loads((tmp_path / f"{i}.json").read_text())["facts"]["database"]
        assert (facts["transport"], facts["protocol"], facts["compression"]) == (transport, protocol, compression)
        assert facts["encryption"].startswith(encryption)
        assert f"\nConnection: {transport}, encryption {facts['encryption']}, {protocol} protocol" in done.stdout
        dialect = subprocess.run([BENCH, "s.lua", *server.login(by), *options, "--events=2", "--compat=1.0", "run"],
                                 cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert dialect.returncode == 0 and "Connection:" not in dialect.stdout
    last = len(cases) - 1
    said = subprocess.run([BENCH, "compare", "1.json", f"{last}.json"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60).stdout
    assert "database encryption: none in A, TLS" in said and "database transport" not in said
