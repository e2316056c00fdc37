# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that a document has what somebody needs to repeat its run: settings of the server, its role,
how much data it has, and parameters of the connection; and that `compare` tells what differs."""

import json
import os
import subprocess

import pytest

import transcripts
from servers import BENCH
from test_workloads import must

SERVERS = ["mariadb_plain", "postgresql"]
# A setting of each server, how an administrator asks for it, and what is in effect without options.
KNOWN = {
    "mariadb_plain": ("innodb_flush_log_at_trx_commit", "SELECT @@innodb_flush_log_at_trx_commit",
                      {"isolation": "REPEATABLE-READ", "on_this_host": "yes"}, "InnoDB"),
    "postgresql": ("shared_buffers", "SHOW shared_buffers",
                   {"isolation": "read committed", "on_this_host": "yes", "role": "primary"}, "heap"),
}
SMALL = ["--table-size=100"]


@pytest.fixture(params=SERVERS)
def server(request):
    server = request.getfixturevalue(request.param)
    server.known = KNOWN[request.param]
    transcripts.empty(server)
    must(server, "oltp_read_write", *SMALL, "prepare")
    return server


def run(server, folder, *argv, dialect=(), env=()):
    done = subprocess.run(
        [BENCH, *dialect, "oltp_read_only", *server.login(), *SMALL, "--events=3", "--time=0", "--report=text",
         "--report=json:json", "--report=markdown:markdown", *argv, "run"],
        cwd=folder, capture_output=True, text=True, timeout=120, env={**os.environ, **dict(env)})
    assert done.returncode == 0, done
    return json.loads((folder / "json").read_text())["facts"], done


def test_a_document_has_the_settings_of_its_server(server, tmp_path):
    setting, sql, known, engine = server.known
    facts, done = run(server, tmp_path)
    assert facts["server"][setting] == server.sql(sql).strip()
    assert len(facts["server"]) > 20 and known.items() <= facts["server"].items()
    assert facts["data"]["engine"] == engine and int(facts["data"]["bytes"]) > 0 < int(facts["data"]["index_bytes"])
    assert done.stderr == "" and "     read: " in done.stdout
    # What is asked is not counted: 3 events of 14 reads.
    assert "read:                            42\n" in done.stdout
    table = (tmp_path / "markdown").read_text()
    assert "| server |" in table and "| stored |" in table and "| connection |" in table
    facts, _ = run(server, tmp_path, "--db-isolation-level=serializable")
    assert facts["server"]["isolation"] == "serializable"
    facts, _ = run(server, tmp_path, dialect=["--compat=1.1"])
    assert "server" not in facts and "data" not in facts


def test_what_a_user_may_not_ask_is_not_known(mariadb_plain, tmp_path):
    """One question fails on each server, and some answers need a privilege."""
    mariadb_plain.known = KNOWN["mariadb_plain"]
    transcripts.empty(mariadb_plain)
    must(mariadb_plain, "oltp_read_write", *SMALL, "prepare")
    facts, done = run(mariadb_plain, tmp_path)
    assert "role" not in facts["server"] and done.stderr == ""


def test_parameters_of_the_environment_are_told(postgresql, tmp_path):
    postgresql.known = KNOWN["postgresql"]
    transcripts.empty(postgresql)
    must(postgresql, "oltp_read_write", *SMALL, "prepare")
    before, _ = run(postgresql, tmp_path)
    (tmp_path / "json").rename(tmp_path / "a.json")
    facts, _ = run(postgresql, tmp_path, env={"PGOPTIONS": "-c jit=off -c work_mem=5MB"})
    assert "options='-c jit=off -c work_mem=5MB'" in facts["database"]["parameters"]
    assert "password" not in facts["database"]["parameters"]
    assert (facts["server"]["jit"], facts["server"]["work_mem"]) == ("off", "5MB")
    said = subprocess.run([BENCH, "compare", "a.json", "json"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60, check=False).stdout
    assert f"server work_mem: {before['server']['work_mem']} in A, 5MB in B" in said
    assert "database parameters: " in said
    assert "started" not in said
