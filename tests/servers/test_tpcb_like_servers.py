# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows on servers that tpcb_like keeps its conditions, also when transactions fail and are repeated, and that pgbench
and bench use the same tables."""
import json
import re
import subprocess

import pytest

import transcripts
from servers import DATABASE, find_program
from test_order_entry_servers import query
from test_prepare import FAST, kinds, watched
from test_workloads import bench, must

ALL_HOLD = "Checked: 5 of 5 conditions hold, 0 violated, 0 could not be checked"
TABLES = ("accounts", "branches", "tellers", "history")


@pytest.fixture(params=["mariadb_plain", "postgresql"])
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    yield server
    transcripts.empty(server)


def count(server, table):
    return int(query(server, f"SELECT COUNT(*) FROM pgbench_{table}")[0][0])


def test_rows_runs_and_faults(server):
    with watched(server) as sessions:
        must(server, "tpcb_like", "--scale=2", "--threads=2", "prepare")
    used = kinds(sessions)
    assert used[FAST[server.driver]] >= 4 and used["INSERT"] <= 4
    assert [count(server, table) for table in TABLES] == [200000, 2, 20, 0]
    out = must(server, "tpcb_like", "--threads=8", "--events=800", "--tpcb-check=all", "run")
    assert "    5 of 5 conditions hold (--tpcb-check=all)" in out.splitlines()
    assert count(server, "history") == 800
    assert must(server, "tpcb_like", "check").splitlines()[-1] == ALL_HOLD
    use = "USE spec_db; " if server.driver == "mysql" else ""
    server.sql(use + "UPDATE pgbench_accounts SET abalance = abalance + CASE aid WHEN 1 THEN 1 ELSE -1 END "
               "WHERE aid IN (1, 2); UPDATE pgbench_branches SET bbalance = NULL WHERE bid = 2")
    status, out, _ = bench(server, "tpcb_like", "check")
    assert status == 3 and re.findall(r"^condition (\w+) .* is violated by (\d) row", out, re.M) == [
        ("totals", "1"), ("accounts", "2"), ("branches", "1")]
    must(server, "tpcb_like", "cleanup")
    assert "there are no tables of tpcb_like" in "".join(bench(server, "tpcb_like", "run")[1:])


def test_repeated_transactions(server, tmp_path):
    """Eight threads that meet at one branch: serialization failures on PostgreSQL; waits on MariaDB."""
    must(server, "tpcb_like", "prepare")
    path = tmp_path / "r.json"
    out = must(server, "tpcb_like", "--threads=8", "--events=400", "--db-isolation-level=serializable",
               f"--report=json:{path}", "--report=text", "run")
    assert "    2 of 2 conditions hold, 3 left out (--tpcb-check=quick)" in out.splitlines()
    figures = json.loads(path.read_text())["groups"][0]["total"]["figures"]
    assert figures["events"] == count(server, "history") == 400
    assert figures["errors"] > 0 or server.driver == "mysql"
    assert must(server, "tpcb_like", "check").splitlines()[-1] == ALL_HOLD


def pgbench(server, *argv):
    program = find_program("pgbench")
    if not program:
        pytest.skip("no pgbench: install postgresql-contrib")
    done = subprocess.run([program, "-h", server.folder, "-p", str(server.port), "-U", "postgres", *argv, DATABASE],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def state(server):
    """What psql tells of the tables, and their rows."""
    texts = {table: server.sql(f"\\d+ pgbench_{table}") for table in TABLES}
    rows = {table: query(server, "SELECT COUNT(*), SUM(hashtextextended(t::text, 0)) FROM pgbench_" + table + " t")
            for table in TABLES}
    return texts, rows


def test_tables_of_pgbench(postgresql):
    """Each program makes the tables, and each runs on those of the other."""
    server = postgresql
    transcripts.empty(server)
    pgbench(server, "-i", "-q", "-s", "2")
    expected = state(server)
    server.sql("DO $$ DECLARE t text; BEGIN FOREACH t IN ARRAY ARRAY['accounts', 'branches', 'tellers', 'history'] LOOP "
               "EXECUTE 'ALTER TABLE pgbench_' || t || ' OWNER TO spec_user'; END LOOP; END $$")
    out = must(server, "tpcb_like", "--threads=2", "--events=100", "--scale=2", "run")
    assert "Scale: 2\n    2 of 2 conditions hold, 3 left out (--tpcb-check=quick)\n" in out
    assert must(server, "tpcb_like", "check").splitlines()[-1] == ALL_HOLD
    must(server, "tpcb_like", "cleanup")

    must(server, "tpcb_like", "--scale=2", "--threads=2", "prepare")
    assert state(server) == expected
    assert "scaling factor: 2" in pgbench(server, "-n", "-S", "-t", "50")
    for protocol in "simple", "prepared":
        out = pgbench(server, "-n", "-c", "4", "-t", "50", "-M", protocol)
        assert "number of transactions actually processed: 200/200" in out
    must(server, "tpcb_like", "--threads=2", "--events=100", "run")
    assert count(server, "history") == 500
    assert must(server, "tpcb_like", "check").splitlines()[-1] == ALL_HOLD
    transcripts.empty(server)
