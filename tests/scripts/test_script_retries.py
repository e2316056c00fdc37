# SPDX-License-Identifier: GPL-2.0-or-later
"""Events that ignored errors end: --db-max-tries, and what a script sees of it."""
import re
import signal
import sqlite3
import subprocess
import time

import pytest

from lua import BENCH, TIMEOUT_S, command

SQLITE = ["--db-driver=sqlite"]
LOCKED = """
sysbench.hooks.before_restart_event = function () hooks = (hooks or 0) + 1 end
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("INSERT INTO t VALUES (1)") end
function thread_done() print("hooks", hooks or 0) end
"""


@pytest.fixture
def locked(folder):
    """A database that the test has locked for writing."""
    held = sqlite3.connect(folder.path / "sbtest.sqlite", isolation_level=None)
    held.execute("PRAGMA journal_mode = WAL")
    held.execute("CREATE TABLE t(a INTEGER)")
    held.execute("BEGIN IMMEDIATE")
    yield held
    held.close()


def number(r, name):
    found = re.search(rf"^ *{name}: +(\d+)", r.out, re.M)
    return int(found.group(1)) if found else None


@pytest.mark.parametrize("tries", [1, 2, 4])
def test_events_fail_at_a_locked_database(folder, locked, tries):
    r = folder.run(LOCKED, *SQLITE, "--sqlite-busy-timeout=0", "--events=10", "--time=0",
                   f"--db-max-tries={tries}")
    assert r.status == 5 and r.events == 0
    assert f"no event succeeded: {10 * tries} statements failed" in r.err and r.err.count("\n") == 1
    assert number(r, "ignored errors") == 10 * tries
    assert number(r, r"failed events \(--db-max-tries\)") == 10
    retries = f" 10 ({10 * (tries - 1)} retries)" if tries > 1 else None
    found = re.search(r"retried events: +(.*)", r.out)
    assert (found and found.group(1)) == (retries and retries.strip())
    # Before each try but the first one of all: none follows the last event.
    assert f"hooks\t{10 * tries - 1}" in r.lines


def test_a_checkpoint_does_not_hide_why_no_event_succeeds(folder, locked):
    """The final report has nothing of what was before it."""
    r = folder.run(LOCKED, *SQLITE, "--sqlite-busy-timeout=0", "--db-max-tries=1", "--rate=1",
                   "--arrivals=constant", "--time=1.3", "--report-checkpoints=1")
    assert r.status == 5 and r.events == 0
    assert re.search(r"^no event succeeded: [1-9]\d* statements failed", r.err, re.M), r.err


PREPARING = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE IF NOT EXISTS kept(a INTEGER)")
end
function event()
  if (n or 0) % 2 == 1 then con:query("BEGIN") end
  n = (n or 0) + 1
  con:prepare("INSERT INTO " .. (n % 2 == 0 and "missing" or "kept") .. " VALUES (1)"):execute()
end
"""


@pytest.mark.sanitized
def test_an_ignored_error_of_a_preparation_repeats_the_event(folder):
    """It counts as one of an execution does."""
    r = folder.run(PREPARING, *SQLITE, "--db-ignore-errors=all", "--events=10", "--time=0")
    assert r.status == 0 and r.err == "" and r.events == 10
    assert number(r, "ignored errors") == 9 and "retried events:                      9 (9 retries)" in r.out
    # Without --db-ignore-errors it ends the run, and has its reason.
    r = folder.run(PREPARING, *SQLITE, "--events=10", "--time=0")
    assert r.status == 1 and r.events == 1 and number(r, "ignored errors") == 1
    assert number(r, "of the errors, not ignored") == 1
    assert "no such table: missing" in r.err


def test_an_ignored_error_of_a_preparation_at_the_start_has_its_reason(folder):
    r = folder.run("function thread_init() sysbench.sql.driver():connect():prepare('SELECT * FROM missing') end\n"
                   "function event() end", *SQLITE, "--db-ignore-errors=all", "--events=1")
    assert r.status == 1 and "no such table: missing" in r.said[0], r.said


SECOND_FAILS = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE IF NOT EXISTS kept(a INTEGER)")
end
function event() con:query("INSERT INTO kept VALUES (1); INSERT INTO missing VALUES (1)") end
"""


@pytest.mark.sanitized
def test_an_error_behind_the_first_statement_of_a_text_is_that_of_the_next_statement(folder):
    r = folder.run(SECOND_FAILS, *SQLITE, "--events=3", "--time=0")
    assert (r.status, r.events, number(r, "ignored errors")) == (1, 1, 1), r.out
    assert number(r, "of the errors, not ignored") == 1 and "no such table: missing" in r.err
    # The event that finds the error is repeated.
    r = folder.run(SECOND_FAILS, *SQLITE, "--events=3", "--time=0", "--db-ignore-errors=all")
    assert (r.status, r.events, number(r, "ignored errors"), r.err) == (0, 3, 2, "")
    r = folder.run(SECOND_FAILS, *SQLITE, "--events=3", "--time=0", "--compat=1.1")
    assert r.status == 0 and "missing" not in r.out + r.err
    # A statement that is prepared next has no hook that would be asked.
    r = folder.run(SECOND_FAILS.replace(") end\n", ") con:prepare('SELECT 1') end\n"), *SQLITE, "--events=3", "--time=0")
    assert (r.status, r.events, number(r, "of the errors, not ignored")) == (1, 0, 1), r.out
    assert "no such table: missing" in r.err


NEEDING = """
function prepare() sysbench.sql.driver():connect():query("%s missing") end
function thread_init() sysbench.sql.driver():connect():prepare("SELECT * FROM missing") end
function event() end
"""


def test_a_missing_table_of_a_script_leads_to_prepare(folder):
    """Bundled workloads look for their tables before the start."""
    hint = "the table does not exist: if the script has 'prepare', run it first, with the same options"
    text = NEEDING % "DROP TABLE"
    r = folder.run(text, *SQLITE, "--events=1", "--threads=2")
    assert r.status == 1 and r.err.count(hint) == 1, r.err
    assert hint not in folder.run(text, *SQLITE, "--events=1", "--compat=1.0").err
    r = folder.lua(text, *SQLITE, "prepare")
    assert r.status == 1 and "no such table: missing" in r.err and hint not in r.err


@pytest.mark.parametrize("version", ["0.5", "1.0", "1.1"])
def test_a_dialect_limits_tries_and_does_not_tell(folder, locked, version):
    r = folder.run(LOCKED, *SQLITE, "--sqlite-busy-timeout=0", "--max-requests=5" if version == "0.5"
                   else "--events=5", "--db-max-tries=2", BENCH_COMPAT=version)
    assert r.status == 0 and r.events == 0 and number(r, "ignored errors") == 10
    assert "retried" not in r.out and "failed" not in r.out


@pytest.mark.parametrize("tries", ["0", "1000000"])
def test_the_end_of_the_run_ends_a_wait(folder, locked, tries):
    """Without a limit there are none; with it, they soon take a quarter of a second."""
    p = subprocess.Popen([BENCH, folder.file("t.lua", LOCKED), *SQLITE, "--sqlite-busy-timeout=0",
                          "--time=1", f"--db-max-tries={tries}", "run"], cwd=folder.path, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = p.communicate(timeout=TIMEOUT_S)
    assert p.returncode == 5 and err.startswith("no event succeeded: ") and err.count("\n") == 1
    retries = int(re.search(r"retried events: +1 \((\d+) retries\)", out).group(1))
    # 1 + 2 + 4 + … + 128 ms are 255, then 250 ms each; half of each is sure.
    assert retries > 50 if tries == "0" else 1 < retries <= 20
    assert "failed events" not in out and "unfinished" not in out


def test_a_signal_ends_a_wait(folder, locked):
    p = subprocess.Popen([BENCH, folder.file("t.lua", LOCKED), *SQLITE, "--sqlite-busy-timeout=0",
                          "--time=60", "--db-max-tries=1000000", "run"], cwd=folder.path, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert any("Threads started!" in line for line in p.stdout)
    time.sleep(0.5)  # for the first event
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=TIMEOUT_S)
    assert p.returncode == 128 + signal.SIGINT and "Threads fairness:" in out


FLAKY = """
local first, n = {}, 0
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t(id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO t VALUES (1)")
end
function event()
  n = n + 1
  print("drew", n, sysbench.rand.uniform(1, 1000000000))
  if n % 3 ~= 0 then con:query("INSERT INTO t VALUES (1)") end
end
"""


def test_waits_draw_no_random_numbers_of_the_script(folder):
    args = [*SQLITE, "--sqlite-db=:memory:", "--rand-seed=7", "--events=10", "--time=0"]
    drawn = [[line for line in folder.run(FLAKY, *args, f"--db-max-tries={tries}").lines
              if line.startswith("drew")] for tries in (0, 3)]
    assert drawn[0] == drawn[1] and len(drawn[0]) == 30


OWN_LOOP = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t(id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO t VALUES (1)")
end
function event() con:query("INSERT INTO t VALUES (1)") end
function thread_run()
  for _ = 1, 3 do
    local ok, failure = pcall(event)
    print("own", ok, failure.errcode == sysbench.error.RESTART_EVENT)
  end
end
"""


def test_a_loop_of_the_scripts_own_decides_itself(folder):
    r = folder.run(OWN_LOOP, *SQLITE, "--sqlite-db=:memory:", "--db-max-tries=2", "--time=0", "--events=9")
    assert r.lines.count("own\tfalse\ttrue") == 3 and r.status == 0
    assert number(r, "ignored errors") == 3 and "retried" not in r.out and "failed events" not in r.out


def test_an_assertion_counts_failed_events(folder, locked):
    args = [*SQLITE, "--sqlite-busy-timeout=0", "--events=3", "--time=0", "--db-max-tries=1"]
    r = folder.run(LOCKED, *args, "--assert=failed_events<=2")
    assert r.status == 5 and re.search(r"failed_events<=2: +3 FAILED", r.out)
    r = folder.run(LOCKED, *args, "--assert=failed_events<=3")
    assert r.status == 5 and re.search(r"failed_events<=3: +3 ok", r.out)
    r = command(["cpu", "--time=0", "--events=3", "--assert=retries<=2", "run"], folder.path)
    assert "this test does not measure retries" in r.err


TWO_ERRORS = """
local n = 0
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER NOT NULL)")
  con:query("INSERT INTO t VALUES (1, 1)")
end
function event()
  n = n + 1
  if n <= 3 then con:query("INSERT INTO t VALUES (1, 1)") end
  if n == 4 then con:query('SELECT * FROM "no\\tsuch' .. ("x"):rep(200) .. '"') end
end
"""


@pytest.mark.sanitized
def test_the_report_lists_errors_by_code(folder):
    """The most frequent one first, with its class and the beginning of its first message."""
    args = [*SQLITE, "--sqlite-db=:memory:", "--events=2", "--time=0", "--db-ignore-errors=all"]
    r = folder.run(TWO_ERRORS, *args, "--report=text", "--report=json:document")
    listed = r.out[r.out.index("Errors (count, first message):\n"):]
    message = "no such table: no\\x09such" + "x" * 200
    expected = ["Errors (count, first message):",
                f"    {'1555 (duplicate):':36} {3:<6} UNIQUE constraint failed: t.id",
                f"    {'1 (other):':36} {1:<6} {message[:120]}", ""]
    assert listed.splitlines() == expected and r.status == 0
    if (folder.path / "document").exists():
        assert command(["report", "document"], folder.path).out == r.out
    assert "Errors" not in folder.run(TWO_ERRORS, *args, BENCH_COMPAT="1.1").out


# An ignored error in a transaction that has written 10.  The place %s decides what becomes of it.
IGNORED = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE kept(id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO kept VALUES (1)")
end
function insert(id) return pcall(con.query, con, "INSERT INTO kept VALUES (" .. id .. ")") end
function event()
  tries = (tries or 0) + 1
  con:query("BEGIN")
  insert(tries * 10)
  local ok, failure = insert(1)
  print("seen", failure.sql_state)
  insert(tries * 10 + 1)
  %s
  con:query("COMMIT")
end
function thread_done()
  local rs, ids = con:query("SELECT id FROM kept ORDER BY id"), {}
  for i = 1, rs.nrows do ids[i] = rs:fetch_row()[1] end
  print("kept " .. table.concat(ids, " "))
end
"""
REPEATS = 'if tries == 1 then error(failure) end'
# The loop that scripts of sysbench have.
SYSBENCH_LOOP = """
local ffi = require("ffi")
ffi.cdef "bool sb_more_events(int); void sb_event_start(int); void sb_event_stop(int);"
function thread_run(id)
  while ffi.C.sb_more_events(id) do
    ffi.C.sb_event_start(id)
    repeat until pcall(event, id)
    ffi.C.sb_event_stop(id)
  end
end
"""


@pytest.mark.parametrize("kind, script, kept, errors", [
    ("caught", IGNORED % "", "1 10 11", 1),
    ("raised again", IGNORED % REPEATS, "1 20 21", 2),
    ("raised by the script", IGNORED % 'if tries == 1 then error({errcode = 1}) end', "1 20 21", 2),
    ("own loop", SYSBENCH_LOOP + IGNORED % REPEATS, "1 20 21", 2),
    ("to a savepoint", IGNORED.replace('insert(1)\n', 'insert(1)\n  con:query("ROLLBACK TO s")\n').replace(
        'insert(tries * 10)', 'insert(tries * 10) con:query("SAVEPOINT s")') % "", "1 10 11", 1),
    ("hook", 'sysbench.hooks.sql_error_ignorable = function () return true end\n' + IGNORED % REPEATS, "1 20 21", 2),
    ("rows unread", IGNORED % ('if tries == 1 then con:query("SELECT id FROM kept") error(failure) end'), "1 20 21", 2),
])
@pytest.mark.parametrize("options", [[], ["--verify-commits"], ["--compat=1.1"]])
def test_the_rollback_after_an_ignored_error_comes_before_the_event_is_repeated(folder, kind, script, kept, errors,
                                                                                options):
    """Not at once: the script may have caught the error and goes on, as in sysbench."""
    ignored = [] if kind == "hook" else ["--db-ignore-errors=duplicate"]
    r = folder.run(script, *SQLITE, *ignored, *options, "--events=1", "--time=0")
    assert (r.status, r.err) == (0, "") and f"kept {kept}" in r.lines, r.out
    assert number(r, "ignored errors") == errors and r.events == 1


def test_a_failed_event_leaves_no_transaction_to_the_next(folder):
    r = folder.run(IGNORED % REPEATS, *SQLITE, "--db-ignore-errors=duplicate", "--db-max-tries=1", "--events=2",
                   "--time=0")
    assert "kept 1 20 21" in r.lines and r.events == 1
