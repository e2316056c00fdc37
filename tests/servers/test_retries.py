# SPDX-License-Identifier: GPL-2.0-or-later
"""--db-max-tries with conflicts that real servers report: each of them is counted once."""

import json
import re
import subprocess

import pytest

import modes
import transcripts
from servers import BENCH
from gate import slow


# Every transaction locks both rows, each thread in another order.
CROSSING = """
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE crossing(id INTEGER PRIMARY KEY, n INTEGER)")
  con:query("INSERT INTO crossing VALUES (1, 0), (2, 0)")
end
function thread_init(id)
  con, first = sysbench.sql.driver():connect(), id % 2 + 1
end
function event()
  con:query("BEGIN")
  con:query("UPDATE crossing SET n = n + 1 WHERE id = " .. first)
  con:query("UPDATE crossing SET n = n + 1 WHERE id = " .. 3 - first)
  con:query("COMMIT")
end
function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE crossing")
end
"""


def bench(server, folder, text, *argv):
    (folder / "t.lua").write_text(text)
    done = subprocess.run([BENCH, *modes.command(["t.lua", *server.login(), *argv])], cwd=folder, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0 and "FATAL" not in done.stderr, done.stdout + done.stderr
    return done.stdout


def number(out, label):
    found = re.search(rf"^ *{label}: +(\d+)", out, re.M)
    return int(found.group(1)) if found else 0


@pytest.fixture(params=["mariadb", "postgresql"])
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    return server


@pytest.mark.both_modes(gate=True)
@pytest.mark.parametrize("server, tries", [
    ("mariadb", 1), ("mariadb", 50), ("postgresql", 2), slow("mariadb", 2), slow("postgresql", 1),
    slow("postgresql", 50)], indirect=["server"])
def test_deadlocks(server, tmp_path, tries):
    """What is committed is what the events did that did not fail."""
    deadlock = ["--db-ignore-errors=deadlock,lock-timeout,serialization"]
    is_postgresql = "--db-driver=pgsql" in server.login()
    if is_postgresql:
        # Otherwise the server looks for deadlocks after a second.
        server.sql("ALTER ROLE ALL SET deadlock_timeout = '10ms'")
    bench(server, tmp_path, CROSSING, "prepare")
    try:
        out = bench(server, tmp_path, CROSSING, *deadlock, "--threads=4", "--events=200", "--time=0",
                    f"--db-max-tries={tries}", "run")
        failed, done = number(out, r"failed events \(--db-max-tries\)"), number(out, "total number of events")
        retries = int((re.search(r"\((\d+) retries\)", out) or [0, 0])[1])
        assert done + failed == 200
        assert number(out, "ignored errors") == retries + failed
        place = "crossing" if is_postgresql else "spec_db.crossing"
        assert [int(word) for word in server.sql(f"SELECT n FROM {place}").split() if word.isdigit()] == [done, done]
    finally:
        bench(server, tmp_path, CROSSING, "cleanup")
        if is_postgresql:
            server.sql("ALTER ROLE ALL RESET deadlock_timeout")


# The server fails the first K of each five inserts of a session.
SIGNALS = """DELIMITER //
CREATE TABLE spec_db.signals(n INTEGER)//
CREATE TRIGGER spec_db.signals_fail BEFORE INSERT ON spec_db.signals FOR EACH ROW
BEGIN
  SET @tries = IFNULL(@tries, -1) + 1;
  IF @tries % 5 < {failing} THEN
    SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'spec says no';
  END IF;
END//
"""
INSERTS = """
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("INSERT INTO signals VALUES (1)") end
"""


@pytest.mark.parametrize("failing, tries, done, failed", [
    slow(1, 2, 32, 0), (2, 3, 24, 0), pytest.param(3, 2, 16, 8, marks=pytest.mark.sanitized), slow(4, 3, 8, 8)])
def test_an_exact_number_of_failures(mariadb, tmp_path, failing, tries, done, failed):
    """(3, 2): of five tries, two are those of an event that fails, two of one that is repeated, and one is one."""
    transcripts.empty(mariadb)
    mariadb.sql(SIGNALS.format(failing=failing))
    try:
        out = bench(mariadb, tmp_path, INSERTS, f"--events={done + failed}", "--time=0", f"--db-max-tries={tries}",
                    "--report=text", "--report=json:json", "run")
        total = json.loads((tmp_path / "json").read_text())["groups"][0]["total"]["figures"]
        assert (total["events"], total["failed_events"]) == (done, failed)
        assert total["errors"] == 8 * failing
        assert total["retries"] == 8 * failing - failed
        assert number(out, "ignored errors") == 8 * failing
        assert mariadb.sql("SELECT COUNT(*) FROM spec_db.signals").split() == [str(done)]
    finally:
        mariadb.sql("DROP TABLE spec_db.signals")


CAUGHT = """
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE caught(id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO caught VALUES (1)")
end
function thread_init() con, tries = sysbench.sql.driver():connect(), 0 end
function insert(id)
  local ok, failure = pcall(con.query, con, "INSERT INTO caught VALUES (" .. id .. ")")
  print("insert", id, ok and "done" or failure.sql_state)
  return failure
end
function event()
  tries = tries + 1
  con:query("BEGIN")
  insert(tries * 10)
  local failure = insert(1)
  insert(tries * 10 + 1)
  if tries == 1 and AGAIN then error(failure) end
  if tries == 2 then insert(22) end
  con:query("COMMIT")
end
function cleanup() sysbench.sql.driver():connect():query("DROP TABLE caught") end
"""
# --events=1: what became of the inserts, and the rows and errors in the end.
COMES_LATER = {"mariadb": ("done", "1 10 11", "1 20 21 22"), "postgresql": ("25P02", "1", "1")}
AT_ONCE = {"mariadb": COMES_LATER["mariadb"], "postgresql": ("done", "1 11", "1 11 21 22")}


@pytest.mark.parametrize("options, again, server", [
    ([], "false", "mariadb"), ([], "true", "mariadb"), ([], "false", "postgresql"), ([], "true", "postgresql"),
    (["--verify-commits"], "false", "mariadb"), (["--verify-commits"], "true", "postgresql"),
    (["--compat=1.1"], "false", "mariadb"), (["--compat=1.0"], "true", "mariadb"),
    (["--compat=1.1"], "false", "postgresql"), (["--compat=1.0"], "true", "postgresql"),
], indirect=["server"])
def test_the_rollback_after_an_ignored_error_comes_before_the_event_is_repeated(server, tmp_path, options, again):
    """A script that has caught the error goes on in its transaction.  PostgreSQL carries out nothing more of it,
    which is no further error in the report; in a dialect it is rolled back at once, as by sysbench."""
    is_postgresql = "--db-driver=pgsql" in server.login()
    kind = "postgresql" if is_postgresql else "mariadb"
    text = CAUGHT.replace("AGAIN", again)
    bench(server, tmp_path, text, "prepare")
    try:
        out = bench(server, tmp_path, text, "--db-ignore-errors=duplicate,1062", *options, "--events=1", "--time=0",
                    "run")
        after, once, twice = (AT_ONCE if "compat" in "".join(options) else COMES_LATER)[kind]
        said = re.findall(r"^insert\t(\d+)\t(\w+)$", out, re.M)
        assert ("11", after) in said and ("1", "23505" if is_postgresql else "23000") in said
        assert ("21" in dict(said)) == (again == "true")
        assert number(out, "ignored errors") == (2 if again == "true" else 1)
        place = "caught" if is_postgresql else "spec_db.caught"
        ids = [word for word in server.sql(f"SELECT id FROM {place} ORDER BY id").split() if word.isdigit()]
        assert " ".join(ids) == (twice if again == "true" else once)
    finally:
        bench(server, tmp_path, text, "cleanup")


REFUSED = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  tries = (tries or 0) + 1
  con:query("BEGIN")
  if tries == 1 then pcall(con.query, con, "SELECT 1 / 0") end
  con:query("SELECT 1")
  con:query("COMMIT")
end
"""


def test_what_postgresql_refuses_after_an_ignored_error_repeats_the_event(postgresql, tmp_path):
    out = bench(postgresql, tmp_path, REFUSED, "--db-ignore-errors=22012", "--events=3", "--time=0", "run")
    assert number(out, "ignored errors") == 1 and number(out, "total number of events") == 3
    assert "25P02" not in out


def test_a_run_whose_connections_are_all_lost_says_so(server, tmp_path):
    mine = {"mysql": "KILL CONNECTION_ID()", "pgsql": "SELECT pg_terminate_backend(pg_backend_pid())"}[server.driver]
    (tmp_path / "t.lua").write_text(
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        f"function event() con:query('{mine}') end\n")
    done = subprocess.run([BENCH, "t.lua", *server.login(), "--db-ignore-errors=all", "--db-max-tries=2",
                           "--events=1", "--time=0", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 5 and " and 2 connections were made again, so " in done.stderr, done.stderr


SECOND_FAILS = """
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("INSERT INTO spec_db.kept VALUES (1); INSERT INTO spec_db.missing VALUES (1)") end
"""


@pytest.mark.parametrize("protocol", ["own", "library"])
def test_an_error_behind_the_first_statement_of_a_text(mariadb, tmp_path, protocol):
    """It is that of the next statement on the connection, by each protocol."""
    transcripts.empty(mariadb)
    mariadb.sql("CREATE TABLE spec_db.kept(a INTEGER)")
    try:
        out = bench(mariadb, tmp_path, SECOND_FAILS, f"--mysql-protocol={protocol}", "--events=3", "--time=0",
                    "--db-ignore-errors=all", "run")
        assert (number(out, "total number of events"), number(out, "ignored errors")) == (3, 2)
    finally:
        mariadb.sql("DROP TABLE spec_db.kept")
