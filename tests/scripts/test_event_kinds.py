# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that events are counted for the kinds that a script names: exactly, with retries and
failures, and in every form of a result."""
import csv
import io
import json
import re

import pytest

from bench import good
from documents import buckets_of
from lua import EVENT_KINDS, command

# Of ten events: four new orders, of which one is repeated once; three payments, of which one is
# repeated twice; one of no kind; a payment and one that has not said its kind fail at their third
# try.
MIXED = """
sysbench.kinds = {"new_order", "payment", "status"}
local n, tries = 0, 0

local function fail(most)
  if tries <= most then
    if tries == 3 then tries = 0 end
    error({errcode = sysbench.error.RESTART_EVENT})
  end
end

function event()
  tries = tries + 1
  if tries == 1 then n = n + 1 end
  local step = n % 10
  if step == 0 then fail(1) end
  if step == 1 then fail(3) end
  if step >= 5 and step <= 8 then sysbench.event_kind("payment") end
  if step == 5 then fail(2) end
  if step == 6 then fail(3) end
  tries = 0
  if step < 5 then return sysbench.kind.new_order end
end
"""
# events, retries, failed_events
OF_TEN = {"new_order": (4, 1, 0), "payment": (3, 4, 1), "status": (0, 0, 0)}
ROW = re.compile(r" +(\d+) +([\d.]+)% +([\d.]+) +(\d+) +(\d+)((?: +(?:[\d.]+|-))+)  (.*)")


def documents(folder, text, *args, status=None):
    """(result of the run, its document)"""
    r = folder.run(text, "--report=text", "--report=json:r.json", *args)
    assert r.status in ((status,) if status is not None else good(args)), r.out + r.err
    return r, json.loads((folder.path / "r.json").read_text())


def total_of(document):
    return document["groups"][0]["total"]


def by_name(record):
    return {kind["name"]: kind for kind in record["event_kinds"]}


def counts(record):
    return {name: (kind["events"], kind["retries"], kind["failed_events"])
            for name, kind in by_name(record).items()}


def tens(n):
    return {name: tuple(n * count for count in three) for name, three in OF_TEN.items()}


@pytest.mark.threads
@pytest.mark.sanitized
@pytest.mark.parametrize("threads, workers", [(1, 0), (4, 0), (4, 1), (5, 2)])
def test_counts_are_exact(folder, threads, workers):
    """Also where sessions share an interpreter."""
    r, document = documents(folder, MIXED, f"--threads={threads}", f"--workers={workers}",
                            "--events-per-session=100", "--time=0", "--db-driver=null",
                            "--db-max-tries=3", "--percentile=50,99")
    total = total_of(document)
    assert counts(total) == tens(10 * threads)
    assert (total["figures"]["events"], total["figures"]["failed_events"],
            total["figures"]["retries"]) == (80 * threads, 20 * threads, 70 * threads)
    for kind in total["event_kinds"]:
        assert kind["count"] == kind["events"]
        assert kind["share"] == pytest.approx(kind["events"] / (80 * threads))
        assert kind["events_per_s"] == pytest.approx(
            kind["share"] * total["figures"]["events_per_s"])
        assert [p["percent"] for p in kind["percentiles"]] == [50, 99]
    assert by_name(total)["status"]["max_s"] is None
    rows = r.out.split("Kinds of events (times in ms):\n")[1].split("\n\n")[0].splitlines()
    assert rows[0].split() == ["events", "share", "per", "sec.", "retries", "failed", "avg", "50th", "99th",
                               "max", "name"]
    shown = [ROW.fullmatch(row) for row in rows[1:]]
    assert [m[7] for m in shown] == ["new_order", "payment", "status"]
    assert {m[7]: (int(m[1]), int(m[4]), int(m[5])) for m in shown} == tens(10 * threads)
    assert [m[2] for m in shown] == ["50.0", "37.5", "0.0"]
    printed = command(["report", "r.json"], folder.path)
    assert printed.out == r.out[r.out.index("Started: "):]


def test_latencies_are_those_of_the_kind(folder):
    _, document = documents(folder, """
sysbench.kinds = {"long", "short"}
ffi.cdef("int usleep(unsigned int);")
local n = 0
function event()
  n = n + 1
  if n % 10 > 0 then return sysbench.kind.short end
  ffi.C.usleep(20000)
  return sysbench.kind.long
end
""", "--events=100", "--time=0", "--percentile=50")
    kinds = by_name(total_of(document))
    assert (kinds["long"]["events"], kinds["short"]["events"]) == (10, 90)
    assert kinds["long"]["min_s"] >= 0.0199
    assert kinds["short"]["percentiles"][0]["s"] < 0.01
    raw = total_of(document)["raw"]["histograms"]
    assert sum(n for _, n in buckets_of(raw["event:long"])) == 10


def test_every_form_has_them(folder):
    args = ["--threads=1", "--events=400", "--time=0", "--percentile=50,99.9"]
    reports = [f"--report={form}:r.{form}" for form in ("csv-total", "markdown", "openmetrics")]
    _, document = documents(folder, EVENT_KINDS, *args, *reports)
    kinds = by_name(total_of(document))
    # --report=csv-total is written by `bench report` too, as are the others.
    for form in ("csv-total", "markdown", "openmetrics"):
        printed = command(["report", f"--format={form}", "r.json"], folder.path)
        assert printed.status == 0, printed.err
        assert printed.out == (folder.path / f"r.{form}").read_text()
    [row] = csv.DictReader(io.StringIO((folder.path / "r.csv-total").read_text()))
    for name in ("a", "b"):
        cells = [row[f"{figure}@event:{name}"] for figure in
                 ("events", "share", "events_per_s", "retries", "failed_events", "avg_s", "p50_s",
                  "p99.9_s", "max_s")]
        kind = kinds[name]
        assert [float(cell) for cell in cells] == [
            kind["events"], kind["share"], kind["events_per_s"], 0, 0, kind["avg_s"],
            kind["percentiles"][0]["s"], kind["percentiles"][1]["s"], kind["max_s"]]
    markdown = (folder.path / "r.markdown").read_text()
    assert re.search(r"^\| a events/s \| [\d.]+ \|$", markdown, re.M)
    assert "| a share of events (%) | 75.0 |" in markdown
    assert re.search(r"^\| b 99.9th percentile \(ms\) \| [\d.]+ \|$", markdown, re.M)
    metrics = (folder.path / "r.openmetrics").read_text()
    assert 'bench_event_kind_events_total{kind="a"} 300\n' in metrics
    assert 'bench_event_kind_latency_seconds_count{kind="b"} 100\n' in metrics
    assert 'bench_event_kind_latency_seconds{kind="b",quantile="0.999"} ' in metrics
    assert 'timing="event' not in metrics and '@event' not in metrics
    printed = command(["report", "--format=hdr", "r.json"], folder.path)
    assert [line.split(",")[0] for line in printed.lines if line.startswith("Tag=event:")] == [
        "Tag=event:a", "Tag=event:b"]


def test_intervals_and_checkpoints(folder):
    """Each interval has a line for each kind, and the parts are the total."""
    r, document = documents(folder, EVENT_KINDS.replace("n = n + 1", "n = n + 1 ffi.C.usleep(15000)")
                            + 'ffi.cdef("int usleep(unsigned int);")', "--events=100", "--time=0",
                            "--report-interval=0.4", "--report-checkpoints=1", "--kind-lines",
                            "--report=csv:r.csv", "--report=jsonl:r.jsonl", "--percentile=50,90")
    group = document["groups"][0]
    assert len(group["intervals"]) >= 2
    names = {"a": 75, "b": 25}
    for name, most in names.items():
        assert by_name(group["total"])[name]["events"] + by_name(group["checkpoints"][0])[name]["events"] \
            == most
        parts = [by_name(interval)[name]["events"] for interval in group["intervals"]]
        assert 0 < sum(parts) <= most
    lines = re.findall(r"^\[ [\d.]+s \]   (\w+): eps: ([\d.]+) lat \(ms,90%\): ([\d.]+|-) "
                       r"retries: 0 failed: 0$", r.out, re.M)
    assert [line[0] for line in lines] == ["a", "b"] * len(group["intervals"])
    printed = command(["report", "r.json"], folder.path)
    assert printed.out == r.out[r.out.index("Started: "):]
    rows = list(csv.DictReader(io.StringIO((folder.path / "r.csv").read_text())))
    again = command(["report", "--format=csv", "r.json"], folder.path)
    assert again.out == (folder.path / "r.csv").read_text()
    for row, interval, line in zip(rows, group["intervals"], lines[::2], strict=True):
        kind = by_name(interval)["a"]
        assert int(row["events@event:a"]) == kind["events"]
        assert float(row["events_per_s@event:a"]) == pytest.approx(float(line[1]), abs=0.006)
        assert float(row["p90_s@event:a"]) == kind["percentiles"][1]["s"]
    objects = [json.loads(line) for line in (folder.path / "r.jsonl").read_text().splitlines()]
    assert [o["events@event:b"] for o in objects] == [int(row["events@event:b"]) for row in rows]


def test_an_event_after_one_that_failed_has_no_kind_of_it(folder):
    """It is counted once, as one of no kind."""
    total = total_of(documents(folder, """
sysbench.kinds = {"a"}
local n = 0
function event()
  n = n + 1
  if n % 2 == 1 then
    sysbench.event_kind("a")
    error({errcode = sysbench.error.RESTART_EVENT})
  end
end
""", "--events=10", "--time=0", "--db-driver=null", "--db-max-tries=1")[1])
    counters, hists = total["raw"]["counters"], total["raw"]["histograms"]
    assert [counters[name] for name in ("events", "failed_events", "retries")] == [5, 5, 0]
    assert [sum(count for _, count in buckets_of(hists[name])) for name in ("latency", "event:a")] == [5, 0]


@pytest.mark.parametrize("options", [["--warmup-time=0.2", "--time=0.4"],
                                     ["--warmup-time=0.1", "--events=500", "--time=0", "--rate=2000"],
                                     ["--rate=1000", "--time=0.3"]])
def test_kinds_are_of_the_events_that_count(folder, options):
    _, document = documents(folder, EVENT_KINDS, "--threads=2", *options)
    total = total_of(document)
    kinds = by_name(total)
    assert kinds["a"]["events"] + kinds["b"]["events"] == total["figures"]["events"]
    assert kinds["a"]["events_per_s"] + kinds["b"]["events_per_s"] == \
        pytest.approx(total["figures"]["events_per_s"])
    buckets = [buckets_of(total["raw"]["histograms"][f"event:{name}"]) for name in kinds]
    assert sum(n for list_ in buckets for _, n in list_) == total["figures"]["events"]


def test_hooks_and_done_get_them(folder):
    r = folder.run(MIXED + """
function sysbench.hooks.report_cumulative(stat)
  local kind = stat.event_kinds.payment
  print(("%d %.3f %d %d %d"):format(kind.events, kind.share, kind.retries, kind.failed_events,
        kind.percentiles[1].rank), kind.latency_max >= kind.percentiles[1].latency,
        #stat.event_kinds.status.percentiles, stat.event_kinds.status.percentiles[1].latency)
end
function done() print("done", sysbench.result.groups[1].total.event_kinds[2].events) end
""", "--events=20", "--time=0", "--db-driver=null", "--db-max-tries=3")
    assert r.status == 0, r.err
    assert "6 0.375 8 2 95\ttrue\t1\tnil\n" in r.out
    assert "done\t6\n" in r.out


@pytest.mark.sanitized
def test_merge_sums_them(folder):
    for name, tens_each in (("a", 3), ("b", 5)):
        folder.run(MIXED, f"--report=json:{name}.json", f"--events={10 * tens_each}", "--time=0",
                   "--db-driver=null", "--db-max-tries=3")
    r = command(["merge", "--force", "-o", "m.json", "a.json", "b.json"], folder.path)
    assert r.status == 0, r.err
    merged, parts = (json.loads((folder.path / "m.json").read_text()),
                     [json.loads((folder.path / name).read_text()) for name in ("a.json", "b.json")])
    assert counts(total_of(merged)) == tens(8)
    assert by_name(total_of(merged))["payment"]["max_s"] == \
        max(by_name(total_of(part))["payment"]["max_s"] for part in parts)
    assert by_name(total_of(merged))["new_order"]["share"] == 0.5
    folder.run(EVENT_KINDS, "--report=json:c.json", "--events=10", "--time=0", "--db-driver=null",
               "--db-max-tries=3")
    r = command(["merge", "--force", "-o", "n.json", "a.json", "c.json"], folder.path)
    assert r.status == 1 and "'a.json' and 'c.json' count different metrics" in r.err


# What event() returned before there were kinds ends the thread as before, and is not counted.
@pytest.mark.parametrize("value", ["true", "1", "'a'", "{}", "{1}", "{0 / 0}", "sysbench.kind", "print",
                                   "sysbench.kind.a - 1", "sysbench.kind.a + 1", "ffi.new('int')"])
def test_other_true_values_end_the_thread(folder, value):
    r, document = documents(folder, f"""
sysbench.kinds = {{"a"}}
local n = 0
function event()
  n = n + 1
  if n == 3 then return {value} end
  return sysbench.kind.a
end
""", "--events=10", "--time=0")
    assert total_of(document)["figures"]["events"] == 2
    assert counts(total_of(document)) == {"a": (2, 0, 0)}


@pytest.mark.sanitized
def test_own_loops_and_the_last_word(folder):
    """Outside of an event the call has no effect, an event that was not stopped has no kind, and the
    next event does not inherit one."""
    _, document = documents(folder, """
sysbench.kinds = {"a", "b"}
ffi.cdef("bool sb_more_events(int); void sb_event_start(int); void sb_event_stop(int);")
function event() end
function thread_run(id)
  local n = 0
  sysbench.event_kind("b")
  while ffi.C.sb_more_events(id) do
    n = n + 1
    ffi.C.sb_event_start(id)
    if n == 5 then
      sysbench.event_kind("b")
      ffi.C.sb_event_start(id)
    end
    if n % 2 == 0 then
      sysbench.event_kind("b")
      sysbench.event_kind(sysbench.kind.a)
    end
    ffi.C.sb_event_stop(id)
    sysbench.event_kind("b")
  end
end
function done() sysbench.event_kind("a") end
""", "--events=20", "--time=0")
    assert counts(total_of(document)) == {"a": (10, 0, 0), "b": (0, 0, 0)}


def test_several_assignments_and_modules(folder):
    folder.file("shop.lua", "sysbench.kinds = {'b'}\nreturn function () return sysbench.kind.b end\n")
    _, document = documents(folder, """
sysbench.kinds = {"a"}
local kind = sysbench.kind
local buy = require("shop")
sysbench.kinds = {"c", "a"}
local n = 0
function event()
  n = n + 1
  return n % 3 == 0 and buy() or n % 3 == 1 and kind.c or kind.a
end
""", "--events=30", "--time=0")
    assert counts(total_of(document)) == {name: (10, 0, 0) for name in ("a", "b", "c")}
    assert [k["name"] for k in total_of(document)["event_kinds"]] == ["a", "b", "c"]


@pytest.mark.parametrize("text, message", [
    ("sysbench.kinds = 'a'", "t.lua:1: sysbench.kinds: expected a list of names, got a string"),
    ("sysbench.kinds = {a = 1}", "t.lua:1: sysbench.kinds: expected a list of names, got a table with other keys"),
    ("sysbench.kinds = {1}", "t.lua:1: sysbench.kinds: a name must be a string, not a number"),
    # Names of groups of a run begin so.
    ("sysbench.kinds = {'group:a'}", "t.lua:1: sysbench.kinds: 'group:a' cannot be the name of a kind of"),
    ("sysbench.kinds = {'new order'}", "t.lua:1: sysbench.kinds: 'new order' cannot be the name of a kind of"),
    ("local t = {} for i = 1, 33 do t[i] = 'k' .. i end sysbench.kinds = t",
     "'k33' is one kind of events too many; allowed: up to 32"),
    ("sysbench.kinds = {'a', 'b'} function event() return sysbench.kind.c end",
     "t.lua:1: sysbench.kind: no kind of events is called 'c'; sysbench.kinds has: a, b"),
    ("sysbench.kinds = {'a', 'b'} function event() sysbench.event_kind('c') end",
     "t.lua:1: sysbench.event_kind: no kind of events is called 'c'; sysbench.kinds has: a, b"),
    ("function event() sysbench.event_kind('c') end",
     "no kind of events is called 'c'; name the kinds at the top level of the script"),
    ("function init() sysbench.kinds = {'a'} end",
     "'a' is not declared at the top level of the script"),
])
def test_mistakes_are_explained(folder, text, message):
    r = folder.run(text + (" function event() end" if "event()" not in text else ""), "--events=1")
    assert r.status == 1
    assert message in r.err


@pytest.mark.parametrize("dialect", ["0.5", "1.0", "1.1"])
def test_dialects_have_none(folder, dialect):
    r = folder.run("sysbench.kinds = {'a'} function event() "
                   "print(sysbench.kind, sysbench.event_kind, #sysbench.kinds) end",
                   "--max-requests=1" if dialect == "0.5" else "--events=1", f"--compat={dialect}")
    assert "nil\tnil\t1\n" in r.out and "Kinds of events" not in r.out, r.err


def test_no_kind_has_a_latency_above_the_longest_event(folder):
    """Its latencies are known to a bucket, whose edge may be above the exact maximum of the run."""
    for seed in range(5):
        total = total_of(documents(folder, 'sysbench.kinds = {"a"} function event() return sysbench.kind.a end',
                                   "--events=100", "--time=0", f"--rand-seed={seed}", "--percentile=50,100")[1])
        kind, most_s = by_name(total)["a"], total["figures"]["max_s"]
        assert kind["max_s"] == most_s and kind["percentiles"][1]["s"] == most_s
