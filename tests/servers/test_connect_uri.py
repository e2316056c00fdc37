# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the URI of --connect reaches real servers by TCP and by socket, and is not printed."""

import json
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
