# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics of nothing, and what a run does not measure, are null, empty or absent in every form; a
run in which no event succeeded has a status of its own; reads that find nothing are told."""

import csv
import json
import re
import signal
import sqlite3
import subprocess

import pytest

import bench
from fleet import BENCH, Fleet

# Event 1 of thread 0 ends after two intervals, those of other threads at once.
WAITS = """
ffi = require("ffi")
ffi.cdef("int usleep(unsigned);")
local function lines()
  local n = 0
  for _ in io.lines("jsonl") do n = n + 1 end
  return n
end
function event(id)
  repeat ffi.C.usleep(1000) until id > 0 or lines() >= 2
end
"""
LATENCIES = ("min_s", "median_s", "avg_s", "max_s", "dev_s")
UNASKED = ("served", "due", "started", "backlog", "lag_p99_s", "missing_commits", "acknowledged_commits",
           "reads", "queries_per_s", "bytes_read", "retries", "longest_outage_s")
EMPTY = 5


def script(folder, text):
    (folder / "s.lua").write_text(text)
    return "./s.lua"


def group(folder):
    return json.loads((folder / "json").read_text())["groups"][0]


def cells(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_latencies_of_an_interval_without_events_are_null(tmp_path):
    done = bench.run(script(tmp_path, WAITS), "--events=1", "--time=0", "--report-interval=0.1",
                     "--report=text", "--report=json:json", "--report=csv:csv", "--report=jsonl:jsonl", "run",
                     cwd=tmp_path)
    assert done.status == 0, done
    intervals = [i for i in group(tmp_path)["intervals"] if i["figures"]["events"] == 0]
    rows = [json.loads(line) for line in (tmp_path / "jsonl").read_text().splitlines()]
    table = cells(tmp_path / "csv")
    assert intervals
    for record in intervals:
        assert [record["figures"][name] for name in LATENCIES] == [None] * 5
        assert record["percentiles"][0]["s"] is None
        assert (record["figures"]["sum_s"], record["figures"]["events_per_s"]) == (0, 0)
    for row, line in zip(rows, table):
        nothing = row["events"] == 0
        for name in (*LATENCIES, "p95_s"):
            assert (row[name] is None, line[name] == "") == (nothing, nothing)
    saved = bench.run("report", "json", cwd=tmp_path)
    assert saved.status == 0 and done.out.endswith(saved.out)


def test_what_a_run_does_not_measure_is_null(tmp_path):
    done = bench.run("cpu", *bench.QUICK, "--report=json:json", "--report=csv-total:csv",
                     "--report=openmetrics:prom", "run", cwd=tmp_path)
    assert done.status == 0, done
    figures = group(tmp_path)["total"]["figures"]
    row = cells(tmp_path / "csv")[0]
    assert {name: figures[name] for name in UNASKED} == dict.fromkeys(UNASKED)
    assert {name: row[name] for name in UNASKED} == dict.fromkeys(UNASKED, "")
    assert figures["errors"] == figures["unfinished"] == 0
    assert not re.search("bench_(queries|read_bytes|arrivals|outages)", (tmp_path / "prom").read_text())


def test_a_total_without_events_has_no_latencies(tmp_path):
    done = bench.run(script(tmp_path, "function event() return true end"), "--threads=2", "--report=json:json",
                     "--report=openmetrics:prom", "--report=markdown:md", "--report=text", "run", cwd=tmp_path)
    total = group(tmp_path)["total"]
    assert [total["figures"][name] for name in LATENCIES] == [None] * 5
    assert [p["s"] for p in total["percentiles"]] == [None]
    assert [s["min_s"] for s in total["sessions"]] == [s["avg_s"] for s in total["sessions"]] == [None, None]
    assert "latency" not in (tmp_path / "md").read_text()
    metrics = (tmp_path / "prom").read_text()
    assert "latency_min" not in metrics and 'quantile="0.95"} NaN' in metrics
    assert re.search(r"min: +-\n +avg: +-\n +max: +-\n", done.out)


def test_a_dialect_prints_zeros_for_nothing(tmp_path):
    done = bench.run(script(tmp_path, "function event() return true end"), "--report=text", "--report=json:json",
                     "run", dialect="1.0", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    assert re.search(r"min: +0.00\n +avg: +0.00\n +max: +0.00\n", done.out)
    assert done.out.endswith(bench.run("report", "json", cwd=tmp_path).out)
    assert group(tmp_path)["total"]["figures"]["min_s"] is None


@pytest.mark.parametrize("dialect", ["own", "1.0"])
def test_new_members_of_hooks_alone_are_nil(dialect, tmp_path):
    done = bench.run(script(tmp_path, """
        function event() return true end
        function sysbench.hooks.report_cumulative(stat)
          print(stat.latency_min, stat.latency_avg, stat.latency_max, stat.latency_pct * 1e6,
            stat.percentiles[1].rank, stat.percentiles[1].latency)
        end"""), "run", dialect=dialect, cwd=tmp_path)
    latency = "nil" if dialect == "own" else "1e-06"
    assert f"0\t0\t0\t1\t95\t{latency}\n" in done.out + done.err


def test_documents_with_zeros_for_nothing_are_read_as_new_ones(tmp_path):
    """Documents of earlier versions have 0.0 in the place of null."""
    bench.run(script(tmp_path, "function event() return true end"), "--report=json:json", "run", cwd=tmp_path)
    text = (tmp_path / "json").read_text()
    old = re.sub(r'"([a-z0-9_]+_s|s)": null', r'"\1": 0.0', text)
    assert old != text
    (tmp_path / "old").write_text(old)
    for form in ("csv-total", "text"):
        new, same = (bench.run("report", f"--format={form}", name, cwd=tmp_path).out for name in ("json", "old"))
        assert new == same


# --- a run that did nothing ----------------------------------------------------------------------

SQL = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t (id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO t VALUES (1)")
end
function event() con:query("INSERT INTO t VALUES (%s)") end
"""
SQLITE = ("--db-driver=sqlite", "--sqlite-db=:memory:", "--time=0", "--events=5", "--db-max-tries=2")
RETURNS = "a value that event() returns ends its thread"
FAILED = "no event succeeded: 10 statements failed with errors that are ignored"


@pytest.mark.parametrize("text, options, said", [
    ("function event() return 1 end", ("--threads=3",), RETURNS),
    (SQL % "1", SQLITE, FAILED),
    ("function event() error({errcode = sysbench.error.RESTART_EVENT}) end", ("--time=1",), RETURNS),
    ("function event() return 1 end", ("--rate=1000", "--time=1", "--assert=eps>1"), RETURNS),
], ids=["returned", "failed", "repeated", "before 3 and 4"])
def test_a_run_without_a_successful_event_has_a_status_of_its_own(text, options, said, tmp_path):
    done = bench.run(script(tmp_path, text), *options, "--report=json:json", "run", cwd=tmp_path)
    assert done.status == EMPTY and said in done.err
    assert json.loads((tmp_path / "json").read_text())["end"]["status"] == EMPTY


def test_studies_leave_such_a_run_out(tmp_path):
    for name in "ab":
        done = bench.run(script(tmp_path, "function event() return 1 end"), f"--report=json:{name}", "run", cwd=tmp_path)
        assert done.status == EMPTY
    assert "'a': the run failed: no event succeeded (exit status 5)" in bench.run("compare", "a", "b", cwd=tmp_path).err
    assert "'a' is the result of a run that measured nothing" in bench.run("history", "a", "b", cwd=tmp_path).err


@pytest.mark.parametrize("options, status", [
    (("--time=5", "--events=1"), 1),
    (("--db-ignore-errors=all", "--rate=100", "--time=0.2"), EMPTY)])
@pytest.mark.parametrize("hosts", [(), ("--hosts=a,b", "--threads=2")], ids=["alone", "hosts"])
def test_what_ended_a_run_is_not_put_down_to_its_rate_or_script(hosts, options, status, tmp_path):
    fleet = Fleet(tmp_path)
    shell = (f"--hosts-shell={fleet.shell}", f"--hosts-program={BENCH}") if hosts else ()
    done = bench.run(script(tmp_path, SQL % "unknown"), *SQLITE[:2], *hosts, *shell, *options, "run", cwd=tmp_path)
    assert done.status == status and "could not be kept up" not in done.err
    assert ("no event succeeded" in done.err) == (status == EMPTY), done.err


def test_failed_events_are_not_put_down_to_the_rate_after_a_signal(tmp_path):
    text = SQL.replace("function event()", 'function event() io.stderr:write(".\\n") ') % "1"
    with subprocess.Popen([bench.binary(), script(tmp_path, text), *SQLITE[:2], "--db-ignore-errors=all", "--rate=99999",
                           "--time=60", "run"], cwd=tmp_path, env=bench.environment(), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        for _ in range(200):
            process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGTERM
    assert "could not be kept up" not in err and "no event succeeded" in err


@pytest.mark.parametrize("dialect", ["1.0", "1.1"])
def test_a_dialect_calls_such_a_run_a_success(dialect, tmp_path):
    done = bench.run(script(tmp_path, "function event() return 1 end"), "run", dialect=dialect, cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)


@pytest.mark.parametrize("text, options", [
    ("function thread_run() end function event() end", ()),
    ("function event(id) return id == 0 or nil end", ("--threads=2", "--events=3", "--time=0")),
    (SQL % "NULL", SQLITE),
    ("function event() os.exit(0) end", ()),
    ("function event() end", ("--rate=0.000001", "--time=0.1")),
], ids=["own loop", "one thread returns", "success", "os.exit", "nothing was due"])
def test_runs_that_need_no_event_or_had_one_succeed(text, options, tmp_path):
    done = bench.run(script(tmp_path, text), *options, "run", cwd=tmp_path)
    assert done.status == 0 and "no event succeeded" not in done.err


@pytest.mark.parametrize("hosts", [(), ("--hosts=a,b", "--threads=2")], ids=["alone", "hosts"])
def test_the_last_part_of_a_run_with_checkpoints_may_be_empty(hosts, tmp_path):
    """The total covers the time after the last checkpoint."""
    text = """
ffi.cdef("int usleep(unsigned int);")
function event()
  n = (n or 0) + 1
  ffi.C.usleep(20000)
  if n > 5 then error({errcode = sysbench.error.RESTART_EVENT}) end
end
"""
    fleet = Fleet(tmp_path)
    shell = (f"--hosts-shell={fleet.shell}", f"--hosts-program={BENCH}") if hosts else ()
    done = bench.run(script(tmp_path, text), *hosts, *shell, "--time=2", "--report-checkpoints=1", "run", cwd=tmp_path)
    assert done.status == 0 and "no event succeeded" not in done.err
    assert re.findall(r"total number of events: +(\d+)", done.out) == [str(20 if hosts else 5), "0"]


@pytest.mark.parametrize("hosts", [(), ("--hosts=a,b", "--threads=2")], ids=["alone", "hosts"])
def test_a_checkpoint_does_not_hide_what_failed_before_it(hosts, tmp_path):
    """Arrivals at 0.25 and 0.75 s; the next one would be after the end."""
    fleet = Fleet(tmp_path)
    shell = (f"--hosts-shell={fleet.shell}", f"--hosts-program={BENCH}") if hosts else ()
    done = bench.run(script(tmp_path, SQL % "1"), *SQLITE[:2], *hosts, *shell, "--db-max-tries=1", "--rate=2",
                     "--arrivals=constant", "--time=1.2", "--report-checkpoints=1", "run", cwd=tmp_path)
    assert done.status == EMPTY and "no event succeeded: 2 statements failed" in done.err, done.err


def point_selects(folder, step, *options, dialect="own"):
    """A run over a table whose ids have gaps."""
    with sqlite3.connect(folder / "db") as db:
        db.execute("CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k INTEGER, c TEXT, pad TEXT)")
        db.executemany("INSERT INTO sbtest1 VALUES (?, 1, 'c', 'p')", [(i,) for i in range(step, 1001, step)])
    return bench.run("oltp_point_select", "--db-driver=sqlite", "--sqlite-db=db", "--table-size=1000",
                     "--events=1000", "--time=0", *options, "run", dialect=dialect, cwd=folder)


def test_reads_that_find_nothing_are_told_with_both_numbers(tmp_path):
    done = point_selects(tmp_path, 5)
    told = re.search(r"SELECT: 1000 statements have read (\d+) rows, so that at least (\d+) found none", done.err)
    rows = int(re.search(r"rows read/inserted/updated/deleted: +(\d+)/", done.out)[1])
    assert told and (int(told[1]), int(told[2])) == (rows, 1000 - rows) and 100 < rows < 300
    assert done.status == 0 and "--auto-inc=off" in done.err


def test_reads_that_find_their_rows_are_not_told(tmp_path):
    assert "SELECT:" not in point_selects(tmp_path, 1).err


# --- the edge of a run ---------------------------------------------------------------------------

def test_intervals_have_the_events_of_the_total_but_those_of_the_grace(tmp_path):
    """Thread 0 is busy when the last interval of the span is counted, while other events end."""
    done = bench.run(script(tmp_path, WAITS), "--threads=4", "--time=1", "--report-interval=0.5",
                     "--report=json:json", "--report=jsonl:jsonl", "run", cwd=tmp_path)
    assert done.status == 0, done
    measured = group(tmp_path)
    events = [i["figures"]["events"] for i in measured["intervals"]]
    total = measured["total"]["figures"]
    assert total["in_grace"] >= 1
    assert sum(events) == total["events"] - total["in_grace"]
    assert {i["figures"]["in_grace"] for i in measured["intervals"]} == {0}
