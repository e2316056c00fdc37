# SPDX-License-Identifier: GPL-2.0-or-later
"""--db-max-tries with conflicts that real servers report: each of them is counted once."""

import json
import re
import subprocess

import pytest

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
    done = subprocess.run([BENCH, "t.lua", *server.login(), *argv], cwd=folder, capture_output=True, text=True,
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
