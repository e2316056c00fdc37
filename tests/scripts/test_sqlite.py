# SPDX-License-Identifier: GPL-2.0-or-later
"""SQLite under load: fairness, other processes, full disks, bad files, interruptions."""
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

import gate
from lua import BENCH, TIMEOUT_S, command

SQLITE = ["--db-driver=sqlite"]


def bench(folder, *args, **env):
    return command(list(args), folder.path, **env)


def prepared(folder, size=1000, *args):
    r = bench(folder, "oltp_read_write", *SQLITE, f"--table-size={size}", *args, "prepare")
    assert r.status == 0, r.out + r.err


def number(r, name):
    return float(re.search(rf"^ *{name}: +([0-9.]+)", r.out, re.M).group(1))


@pytest.mark.parametrize("threads", gate.first([8, 64]))
def test_every_thread_gets_its_turn(folder, threads):
    prepared(folder)
    r = bench(folder, "oltp_read_write", *SQLITE, "--table-size=1000", f"--threads={threads}", "--time=0",
              f"--events={100 * threads}", "--report=text", "--report=json:json", "run")
    assert r.status == 0 and "FATAL" not in r.err and number(r, "ignored errors") == 0
    assert number(r, "queries") == 20 * number(r, "transactions") == 2000 * threads
    sessions = json.loads((folder.path / "json").read_text())["groups"][0]["total"]["sessions"]
    # Turns are taken in order; a thread that does not run for a while has fewer of them.
    assert len(sessions) == threads and min(session["events"] for session in sessions) >= 10


@pytest.mark.parametrize("mode", gate.first(["delete", "memory", "off"]))
def test_other_journals_queue_readers_too(folder, mode):
    options = [*SQLITE, f"--sqlite-journal-mode={mode}", "--sqlite-synchronous=off",
               "--table-size=500"]
    assert bench(folder, "oltp_read_write", *options, "prepare").status == 0
    for extra in ["--threads=8"], ["--threads=8", "--skip-trx=on", "--delete-inserts=0"]:
        r = bench(folder, "oltp_read_write", *options, *extra, "--time=0", "--events=200", "run")
        assert r.status == 0 and r.events == 200 and number(r, "ignored errors") == 0
    journal = sqlite3.connect(folder.path / "sbtest.sqlite").execute("PRAGMA journal_mode").fetchone()
    assert journal == ("delete",)  # the other two are not kept in the file


@pytest.mark.parametrize("mode", gate.first(["wal", "delete"]))
def test_deferred_transactions_start_again(folder, mode):
    options = [*SQLITE, f"--sqlite-journal-mode={mode}", "--sqlite-synchronous=off",
               "--table-size=500"]
    assert bench(folder, "oltp_read_write", *options, "prepare").status == 0
    r = bench(folder, "oltp_read_write", *options, "--sqlite-begin=deferred", "--threads=4",
              "--time=0", "--events=2000", "run")
    assert r.status == 0 and r.events == 2000 and "FATAL" not in r.err
    assert number(r, "ignored errors") > 0


HOLDER = """
import sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("BEGIN IMMEDIATE")
print("holding", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(folder):
    """Another process that holds the write lock; killed in the end."""
    prepared(folder)
    p = subprocess.Popen([sys.executable, "-c", HOLDER, "sbtest.sqlite"], cwd=folder.path,
                         stdout=subprocess.PIPE)
    p.stdout.readline()
    yield p
    p.kill()
    p.wait()


def start(folder, *args):
    return subprocess.Popen([BENCH, *args], cwd=folder.path, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def until_line(stream, word):
    """Reads the stream up to the line that contains the word."""
    assert any(word in line for line in stream), f"no line with {word!r}"


def test_waits_for_another_process_and_survives_its_death(folder, holder):
    p = start(folder, "oltp_read_write", *SQLITE, "--table-size=1000", "--threads=4", "--time=0",
              "--events=20", "--sqlite-busy-timeout=600000", "run")
    until_line(p.stdout, "Threads started!")
    time.sleep(0.3)  # by then they wait, mostly
    holder.kill()
    out, err = p.communicate(timeout=TIMEOUT_S)
    assert p.returncode == 0 and err == ""
    assert int(re.search(r"events: +(\d+)", out).group(1)) == 20
    assert re.search(r"ignored errors: +0 ", out)


@pytest.mark.sanitized
def test_busy_timeout_restarts_the_event(folder, holder):
    r = bench(folder, "oltp_read_write", *SQLITE, "--table-size=1000", "--sqlite-busy-timeout=50",
              "--threads=4", "--time=0", "--events=4", "--db-max-tries=3", "run")
    assert r.status == 5 and r.events == 0 and "FATAL" not in r.err
    assert number(r, "ignored errors") == 12
    assert float(re.search(r"time elapsed: +([\d.]+)s", r.out).group(1)) >= 0.15


def test_grace_ends_what_waits(folder, holder):
    r = bench(folder, "oltp_read_write", *SQLITE, "--table-size=1000", "--threads=4",
              "--sqlite-busy-timeout=600000", "--time=0.3", "--time-grace=0.3", "run")
    assert r.status == 2 and r.reported and "--time-grace" in r.err and "FATAL" not in r.err


def test_interrupt_while_waiting_reports(folder, holder):
    p = start(folder, "oltp_read_write", *SQLITE, "--table-size=1000", "--threads=4",
              "--sqlite-busy-timeout=600000", "--time=600", "--report-interval=0.2", "run")
    until_line(p.stdout, "s ] thds: ")
    p.send_signal(signal.SIGINT)
    # The kernel merges signals that nobody has fetched yet.
    until_line(p.stderr, "finishing")
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=TIMEOUT_S)
    assert p.returncode == 130 and "Threads fairness:" in out


# A small disk of our own is mounted over /dev/shm, which is a mount of its own also in a chroot, whose
# root is none; made private first, so that nobody else sees it.
PRIVATE = """
mount --make-private /dev/shm && mount -t tmpfs -o size=3M none /dev/shm || exit 77
bench=$1; shift
"""


def on_private_disk(folder, text, *args):
    how = ["--propagation", "unchanged"] if os.getuid() == 0 else ["-Ur"]
    p = subprocess.run(["unshare", "-m", *how, "sh", "-c", PRIVATE + text, "sh", BENCH, *args],
                       cwd=folder.path, text=True, capture_output=True, timeout=TIMEOUT_S)
    if p.returncode == 77 or "unshare" in p.stderr:
        pytest.skip("cannot mount a small disk here: " + p.stderr)
    return p


needs_unshare = pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is missing")


@needs_unshare
def test_full_disk_ends_the_run_with_a_report(folder):
    options = "--db-driver=sqlite --sqlite-db=/dev/shm/x.db --table-size=3000"
    p = on_private_disk(folder, f"""
"$bench" oltp_read_write {options} prepare || exit 3
timeout 100 "$bench" oltp_write_only {options} --threads=16 --time=90 run
""")
    assert p.returncode == 1 and "Threads fairness:" in p.stdout
    path = "/dev/shm/x.db"
    assert f"returned error 13 (database or disk is full: '{path}') for query" in p.stderr
    assert "the run failed" in p.stderr


NO_ROOM = re.compile(r"the rows need at least (\d+) MiB, but the file system of '/dev/shm/x.db' has [23] MiB left: lower "
                     r"--tables or --table-size, or use another --sqlite-db\n")


@needs_unshare
@pytest.mark.parametrize("threads", gate.first([3, 1, 8]))
def test_prepare_looks_for_room(folder, threads):
    """No table is made; what is only tight is tried, and ends with a sentence, too."""
    options = f"--db-driver=sqlite --sqlite-db=/dev/shm/x.db --tables=4 --threads={threads}"
    p = on_private_disk(folder, f"""
timeout 100 "$bench" oltp_read_write {options} --table-size=10000 prepare
""")
    said = NO_ROOM.match(p.stderr)
    assert p.returncode == 1 and said and int(said[1]) == 4 * 10000 * 178 >> 20, p.stderr
    assert "Creating table" not in p.stdout and p.stderr.count("the rows need") == 1, p.stdout + p.stderr
    p = on_private_disk(folder, f"""
timeout 100 "$bench" oltp_read_write {options} --table-size=4000 prepare
""")
    assert p.returncode == 1 and "the rows need" not in p.stderr, p.stderr
    assert "database or disk is full: '/dev/shm/x.db'" in p.stderr and "Creating table" in p.stdout, p.stderr


@needs_unshare
def test_rows_of_another_size_are_not_counted(folder):
    """Neither those of a script, nor in a dialect."""
    folder.file("short.lua", """
require("oltp_common")
function get_c_value() return "c" end
function get_pad_value() return "pad" end
function prepare_statements() end
function event() end
""")
    options = "--db-driver=sqlite --sqlite-db=/dev/shm/x.db --table-size=40000 --create-secondary=off"
    p = on_private_disk(folder, f'"$bench" ./short.lua {options} prepare')
    assert (p.returncode, p.stderr) == (0, ""), p.stdout
    p = on_private_disk(folder, f'"$bench" --compat=1.1 oltp_read_write {options} prepare')
    assert p.returncode == 1 and "the rows need" not in p.stdout + p.stderr


def test_prepare_says_what_it_could_not_write(folder):
    limit = 600 * 1024
    p = subprocess.run(["sh", "-c", 'trap "" XFSZ; ulimit -f 600; exec "$@"', "sh", BENCH,
                        "oltp_read_write", *SQLITE, "--table-size=20000", "prepare"],
                       cwd=folder.path, text=True, capture_output=True, timeout=TIMEOUT_S)
    assert p.returncode == 1
    assert os.path.getsize(folder.path / "sbtest.sqlite") <= limit
    failure = next(s for s in p.stderr.splitlines() if s.startswith("FATAL: sqlite3_step()"))
    assert len(failure) <= 4095 + len("FATAL: ") and "disk I/O error: '" in failure


@pytest.mark.sanitized
def test_files_that_are_none(folder):
    def first_fatal(path, *args):
        r = bench(folder, "oltp_read_write", *SQLITE, f"--sqlite-db={path}", *args, "--events=1",
                  "run")
        assert r.status == 1
        return "\n".join(s for s in r.said if s.startswith("FATAL: "))

    folder.file("text.db", "this is not a database, but it is long enough to be read as one\n" * 9)
    for path in "no/where.db", "new.db":
        assert f"unable to open SQLite database '{path}', aborting...\nFATAL: error 14: there is no such file: " \
            "correct --sqlite-db, or run 'prepare' first" in first_fatal(path)
    folder.file("new.lua", "function thread_init() con = sysbench.sql.driver():connect() end function event() end")
    r = bench(folder, "./new.lua", *SQLITE, "--sqlite-db=no/where.db", "--events=1", "run")
    assert "error 14: unable to open database file: No such file or directory" in r.err
    for workload in "bulk_insert", "tpcb_like", "order_entry":
        r = bench(folder, workload, *SQLITE, "--sqlite-db=new.db", "--events=1", "run")
        assert "there is no such file" in r.err and r.status == 1
        assert not (folder.path / "new.db").exists()
    assert "FATAL: error 26: file is not a database: '" in first_fatal("text.db")
    assert "unable to open database file" in first_fatal(".")
    r = bench(folder, "oltp_read_write", *SQLITE, "--sqlite-db=", "--events=1", "run")
    assert r.status == 1 and r.said == ["--sqlite-db=: no value; allowed: any text but an empty one"]
    folder.file("empty.db", "")
    assert first_fatal("empty.db") == ""  # the sentence about its tables is not one
    # A script of one's own may make what it needs.
    assert bench(folder, "./new.lua", *SQLITE, "--sqlite-db=new.db", "--events=1", "run").status == 0
    assert (folder.path / "new.db").exists()


@pytest.mark.sanitized
def test_corrupt_file_is_said(folder):
    prepared(folder)
    with open(folder.path / "sbtest.sqlite", "r+b") as f:
        f.seek(8192)
        f.write(b"\xff" * 65536)
    r = bench(folder, "oltp_read_only", *SQLITE, "--table-size=1000", "--events=200", "run")
    assert r.status == 1 and "database disk image is malformed" in r.err


@needs_unshare
def test_read_only_file(folder):
    prepared(folder, 1000, "--sqlite-journal-mode=delete")

    def run(workload):
        # Permissions do not stop root, a disk mounted read-only does.
        return on_private_disk(folder, """
cp sbtest.sqlite /dev/shm && mount -o remount,ro /dev/shm && "$bench" "$@"
""", workload, *SQLITE, "--sqlite-db=/dev/shm/sbtest.sqlite", "--sqlite-journal-mode=delete",
                               "--table-size=1000", "--events=3", "run")

    reading, writing = run("oltp_read_only"), run("oltp_write_only")
    assert reading.returncode == 0, reading.stdout + reading.stderr
    assert writing.returncode == 1 and "attempt to write a readonly database: '" in writing.stderr


def test_trace_has_the_statements_of_each_session(folder):
    prepared(folder, 100)
    r = bench(folder, "oltp_read_write", *SQLITE, "--table-size=100", "--threads=4", "--events=40",
              "--time=0", "--sql-trace=trace", "run")
    lines = (folder.path / "trace").read_text().splitlines()
    assert r.status == 0 and len(lines) == 40 * 20
    assert all(re.match(r"\[s[0-3]\] [A-Z]", s) for s in lines)
    for session in range(4):
        mine = [s[5:] for s in lines if s.startswith(f"[s{session}]")]
        assert mine[::20].count("BEGIN IMMEDIATE") == len(mine) / 20
        assert mine[1:11].count("SELECT c FROM sbtest1 WHERE id=?") in (0, 10)
    r = bench(folder, "oltp_point_select", *SQLITE, "--table-size=100", "--events=2",
              "--db-ps-mode=disable", "--sql-trace=trace", "run")
    assert re.fullmatch(r"(\[s0\] SELECT c FROM sbtest1 WHERE id=\d+\n){2}",
                        (folder.path / "trace").read_text())


@pytest.mark.sanitized
def test_results_of_any_size_are_given_back(folder):
    """The driver keeps a small buffer for the next result and frees a large one; LeakSanitizer knows."""
    r = folder.run("""
function thread_init() connection = sysbench.sql.driver():connect() end
function event()
  for _, n in ipairs({10, 100000, 10, 300000, 1000}) do
    local result = connection:query(("SELECT hex(zeroblob(%d))"):format(n))
    assert(#result:fetch_row()[1] == 2 * n)
    result:free()
  end
end
""", *SQLITE, "--events=3", "--time=0")
    assert r.status == 0 and r.events == 3, r.out + r.err


@pytest.mark.sanitized
def test_two_connections_of_one_thread_do_not_wait_for_each_other(folder):
    r = folder.run("""
function thread_init()
  local one, two = sysbench.sql.driver():connect(), sysbench.sql.driver():connect()
  one:query("CREATE TABLE t(a)")
  one:query("BEGIN IMMEDIATE")
  print(pcall(two.query, two, "INSERT INTO t VALUES (1)"))
  one:query("COMMIT")
  two:query("INSERT INTO t VALUES (2)")
  print(one:query_row("SELECT a FROM t"))
  local other = sysbench.sql.driver():connect_with{db = "other.sqlite"}
  one:query("BEGIN IMMEDIATE")
  other:query("CREATE TABLE t(a)")
  one:query("COMMIT")
  local memory = sysbench.sql.driver():connect_with{db = ":memory:"}
  memory:query("CREATE TABLE t(a)")
end
function event() end
""", *SQLITE, "--events=1")
    assert r.status == 0 and "another connection of this thread is in a transaction" in r.out
    assert "2" in r.lines and (folder.path / "other.sqlite").exists()


@pytest.mark.sanitized
def test_stale_snapshot_is_rolled_back(folder):
    r = folder.run("""
function event()
  local one, two = sysbench.sql.driver():connect(), sysbench.sql.driver():connect()
  one:query("CREATE TABLE t(a)")
  one:query("BEGIN") one:query("SELECT * FROM t")
  two:query("INSERT INTO t VALUES (2)")
  local ok, failure = pcall(one.query, one, "UPDATE t SET a = 1")
  print(ok, failure.errcode, failure.sql_errno, failure.sql_state)
  one:query("BEGIN") one:query("UPDATE t SET a = 1") one:query("COMMIT")
  print(two:query_row("SELECT a FROM t"))
end
""", *SQLITE, "--events=1")
    assert r.status == 0 and "FATAL" not in r.err
    assert r.lines[r.lines.index("false\t1\t517\t40001") + 1] == "1"


def test_debug_shows_execution_and_fetching(folder):
    prepared(folder, 100)
    script = """
function thread_init() con = sysbench.sql.driver():connect() end
function event() local rs = con:query("SELECT id FROM sbtest1") while rs:fetch_row() do end end
"""
    options = [*SQLITE, "--db-debug", "--events=50", "--time=0"]
    r = folder.run(script, *options, "--verbosity=5")
    blocks = re.search(r"deleted: .*\nDEBUG: \nDEBUG: Query execution statistics:\n((?:DEBUG: .*\n)+)"
                       r"DEBUG: Results fetching statistics:\n((?:DEBUG: .*\n){4})\nThroughput", r.out)
    for block in blocks.groups():
        row = re.fullmatch("".join(rf"DEBUG: {name:>8} {{32}}([0-9.]+)s\n" for name in
                                   ("min:", "avg:", "max:", "total:")), block)
        least, mean, most, total = map(float, row.groups())
        assert least <= mean <= most <= total
    assert "DEBUG" not in folder.run(script, *options).out


def test_settings_reach_the_connection(folder):
    script = """
function event()
  local con = sysbench.sql.driver():connect()
  print("set", con:query_row("PRAGMA journal_mode"), con:query_row("PRAGMA synchronous"))
end
"""
    for options, values in (([], "wal\t1"), (["--sqlite-synchronous=full"], "wal\t2"),
                            (["--sqlite-journal-mode=truncate"], "truncate\t1"),
                            (["--sqlite-journal-mode=WAL", "--sqlite-synchronous=OFF"], "wal\t0")):
        assert f"set\t{values}" in folder.run(script, *SQLITE, *options, "--events=1").lines
    r = folder.run(script, *SQLITE, "--sqlite-journal-mode=paper", "--events=1")
    assert r.status == 1 and "sqlite-journal-mode" in r.out + r.err


# --- rows -----------------------------------------------------------------------------------------

MAKE_TABLE = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, k INTEGER)")
end
"""
CHANGE_ROWS = MAKE_TABLE + """
function event()
  con:query("INSERT INTO t (k) VALUES (1), (2), (3), (4)")
  con:query("SELECT k FROM t LIMIT 1")
  con:query("UPDATE t SET k = 0 WHERE k <= 2")
  con:query("DELETE FROM t WHERE k = 0 OR k = 3")
end
"""


def test_rows_are_counted_by_kind(folder):
    reports = ["--report=text:text", "--report=json:json"]
    r = folder.run(CHANGE_ROWS, *SQLITE, "--events=10", "--time=0", *reports)
    assert (r.status, r.err) == (0, "")
    text = (folder.path / "text").read_text()
    assert "\n    rows read/inserted/updated/deleted:  10/40/20/30\n\nThroughput:\n" in text
    counters = json.loads((folder.path / "json").read_text())["groups"][0]["total"]["raw"]["counters"]
    assert [counters[f"rows_{kind}"] for kind in ("read", "inserted", "updated", "deleted")] == [10, 40, 20, 30]
    assert [counters[f"{kind}_without_rows"] for kind in ("updates", "deletes")] == [0, 0]
    assert bench(folder, "report", "json").out == text
    r = folder.run(CHANGE_ROWS, *SQLITE, "--events=10", "--time=0", BENCH_COMPAT="1.0")
    assert r.status == 0 and "rows" not in r.out


def miss(update, delete):
    """A script; a statement finds a row, or none."""
    return MAKE_TABLE + f"""
function prepare() thread_init() event() con:query("INSERT INTO t VALUES (1, 0)") end
function event()
  con:query("UPDATE t SET k = k + 1 WHERE id = {update}")
  con:query("DELETE FROM t WHERE id = {delete}")
end
"""


UPDATES = ("UPDATE: none of 6 statements changed a row; do the rows exist, and do their new values differ? "
           "(--table-size)")
DELETES = ("DELETE: none of 6 statements found a row; has an earlier run deleted the rows? "
           "('cleanup' and 'prepare' make them anew)")


@pytest.mark.parametrize("update, delete, said", [(7, 7, [UPDATES, DELETES]), (1, 7, [DELETES]), (7, 1, [UPDATES])])
def test_statements_that_all_miss_are_told_once(folder, update, delete, said):
    script, limits = miss(update, delete), ["--threads=2", "--events=6", "--time=0"]
    r = folder.lua(script, *SQLITE, "prepare")
    assert (r.status, r.err) == (0, "")
    r = folder.run(script, *SQLITE, *limits)
    assert (r.status, r.said) == (0, said)
    r = folder.run(script, *SQLITE, *limits, BENCH_COMPAT="1.0")
    assert (r.status, r.err) == (0, "")


@pytest.mark.parametrize("ps_mode, script", gate.diagonal(["auto", "disable"], ["oltp_update_index", "oltp_delete"]))
def test_a_dry_run_misses_nothing(folder, script, ps_mode):
    r = command([script, "--db-driver=mysql", "--mysql-dry-run", f"--db-ps-mode={ps_mode}", "--events=3",
                 "--report=json:dry.json", "run"], folder.path)
    assert (r.status, r.err) == (0, ""), r.out
    counters = json.loads((folder.path / "dry.json").read_text())["groups"][0]["total"]["raw"]["counters"]
    assert (counters["updates_without_rows"], counters["deletes_without_rows"]) == (0, 0)
