# SPDX-License-Identifier: GPL-2.0-or-later
"""--verify-commits with SQLite: what it counts, and what a run with missing commits says."""
import json
import re
import sqlite3

import pytest

from lua import command

SQLITE = ["--db-driver=sqlite", "--time=0"]
MISSING = "5 of 40 commits that the server has acknowledged are missing (--verify-commits)"
# Each event is a transaction and a statement by itself; `lose` is called in the one before the last.
SCRIPT = """
function thread_init() con = sysbench.sql.driver():connect(); n = 0 end
function event()
  n = n + 1
  con:query("BEGIN")
  con:query("INSERT INTO t VALUES (1)")
  con:query("COMMIT")
  con:query("UPDATE u SET a = a + 1")
  con:query("UPDATE u SET a = 0 WHERE a < 0")
  con:query("SELECT * FROM u")
  if n == 19 and lose then lose() end
end
"""
# As if the server had forgotten five commits of one connection.  WITH keeps that from being one.
LOSE = """
function lose()
  local name = con:query_row("SELECT name FROM sqlite_master WHERE name LIKE 'bench_commits_%'")
  con:query("WITH five AS (SELECT 5 AS n) UPDATE " .. name .. " SET n = n - (SELECT n FROM five)")
end
"""


@pytest.fixture
def tables(folder):
    with sqlite3.connect(folder.path / "sbtest.sqlite") as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE t(a INTEGER)")
        db.execute("CREATE TABLE u(a INTEGER)")
        db.execute("INSERT INTO u VALUES (0)")
    db.close()


def number(r, name):
    return int(re.search(rf"^ *{name}: +(\d+)", r.out, re.M).group(1))


def names(folder):
    db = sqlite3.connect(folder.path / "sbtest.sqlite")
    found = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    db.close()
    return sorted(found)


@pytest.mark.threads
@pytest.mark.parametrize("mode", ["auto", "disable"])
@pytest.mark.parametrize("version", [None, "1.0"])
def test_each_commit_that_writes_is_counted(folder, tables, mode, version):
    env = {"BENCH_COMPAT": version} if version else {}
    r = folder.run(SCRIPT, *SQLITE, "--threads=4", "--events=20", "--verify-commits", f"--db-ps-mode={mode}", **env)
    assert r.status == 0 and r.err == "", r.out + r.err
    assert number(r, "acknowledged") == 40
    assert number(r, "missing") == number(r, "outcome unknown") == 0
    # The statements of the test itself are the same as without it.
    assert (number(r, "read"), number(r, "write"), number(r, "other")) == (20, 40, 60)
    assert names(folder) == ["t", "u"]


@pytest.mark.sanitized
def test_missing_commits_fail_the_run(folder, tables):
    document = folder.path / "r.json"
    r = folder.run(SCRIPT + LOSE, *SQLITE, "--events=20", "--verify-commits", "--report=text",
                   f"--report=json:{document}", "--assert=missing_commits<1")
    assert r.status == 1 and f"FATAL: {MISSING}\n" in r.err
    assert number(r, "missing") == 5 and "missing_commits<1" in r.out
    [group] = json.loads(document.read_text())["groups"]
    total = group["total"]["figures"]
    assert [total[f"{name}_commits"] for name in ("acknowledged", "missing", "unknown")] == [40, 5, 0]
    saved = command(["report", str(document)], folder.path)
    assert "    missing:                             5\n" in saved.out
    table = command(["report", "--format=markdown", str(document)], folder.path).out
    assert re.search(r"\| missing commits +\| +5 \|", table) and "unknown outcome" not in table, table
    assert names(folder) == ["t", "u"]


def test_a_run_that_does_not_verify_says_nothing_about_commits(folder, tables):
    r = folder.run(SCRIPT, *SQLITE, "--events=20")
    assert r.status == 0 and "acknowledged" not in r.out
    refused = folder.run(SCRIPT, *SQLITE, "--events=20", "--assert=missing_commits<1")
    assert refused.status == 1
    assert "missing_commits is only measured with --verify-commits" in refused.err


@pytest.mark.parametrize("where", [["--db-driver=null"], ["--db-driver=sqlite", "--sqlite-db=:memory:"]])
def test_a_database_that_keeps_nothing_is_refused(folder, where):
    r = folder.run(SCRIPT, *where, "--time=0", "--events=20", "--verify-commits")
    assert r.status == 1
    assert "does not have the table that bench has just created" in r.err


def test_a_database_that_was_not_prepared_is_not_made(folder):
    r = command(["oltp_read_write", "run", "--verify-commits", "--sqlite-db=typo.sqlite", *SQLITE], folder.path)
    assert r.status == 1
    assert "there is no such file: correct --sqlite-db, or run 'prepare' first" in r.err
    assert not (folder.path / "typo.sqlite").exists()


# One event stores 1, 2, 3 and 4; what is rolled back is greater.
SAVEPOINTS = """
function thread_init() con = sysbench.sql.driver():connect() end
function insert(a) con:query("INSERT INTO t VALUES (" .. a .. ")") end
function event()
  con:query("SAVEPOINT s")
  insert(1)
  con:query("SAVEPOINT inner")
  insert(11)
  con:query("ROLLBACK TRANSACTION TO SAVEPOINT inner")
  insert(2)
  con:query("RELEASE s")
  con:query("BEGIN")
  insert(3)
  con:query("SAVEPOINT s")
  insert(12)
  con:query("ROLLBACK TRANSACTION  TO s")
  con:query("COMMIT")
  con:query("BEGIN")
  con:query("SAVEPOINT s")
  con:query("ROLLBACK TRANSACTION TO s")
  insert(13)
  con:query("ROLLBACK")
  con:query("INSERT INTO t VALUES ('4;')")
end
"""


@pytest.mark.sanitized
def test_savepoints_stay_as_they_are(folder, tables):
    r = folder.run(SAVEPOINTS, *SQLITE, "--events=1", "--verify-commits")
    assert r.status == 0 and r.err == "", r.out + r.err
    with sqlite3.connect(folder.path / "sbtest.sqlite") as db:
        assert [row[0] for row in db.execute("SELECT a FROM t")] == [1, 2, 3, "4;"]
    db.close()
    # RELEASE is not counted.
    assert number(r, "acknowledged") == 2 and number(r, "missing") == 0


# It fails after it has connected, so after the table was made.
@pytest.mark.parametrize("version", [None, "1.0"])
def test_a_start_that_fails_leaves_no_table(folder, tables, version):
    env = {"BENCH_COMPAT": version} if version else {}
    script = SCRIPT.replace("n = 0", 'n = 0; error("not today")')
    r = folder.run(script, *SQLITE, "--events=20", "--verify-commits", **env)
    assert r.status == 1 and "not today" in r.out + r.err
    assert names(folder) == ["t", "u"], r.err
