# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that counters and histograms that a script declares are summed over sessions exactly, and
that every form of a result has them."""
import csv
import io
import json
import re

import pytest

from bench import good
from lua import BENCH, command

COUNTS = """
local skipped = sysbench.metrics.counter("rows_skipped", "rows")
local calls = sysbench.metrics.counter("calls")
local load = sysbench.metrics.histogram("page_load", "ms")
function init() skipped:add(1000000) load:add(1) end
function event(id)
  skipped:add(3)
  skipped:add(0)
  calls:add()
  load:add(calls_here and 30 or 10)
  calls_here = not calls_here
end
function thread_done(id) skipped:add(7) end
function done() skipped:add(1000000) load:add(1) end
"""


def documents(folder, text, *args, **env):
    """(result of the run, its document)"""
    r = folder.run(text, "--report=text", "--report=json:r.json", *args, **env)
    assert r.status in good(args), r.out + r.err
    return r, json.loads((folder.path / "r.json").read_text())


def total_of(document):
    return document["groups"][0]["total"]


@pytest.mark.threads
@pytest.mark.parametrize("threads", [1, 8, 70])
def test_sums_are_exact(folder, threads):
    """70: more sessions than stripes of a histogram. thread_done() belongs to a thread, init() and
    done() do not."""
    r, document = documents(folder, COUNTS, f"--threads={threads}", "--events=10007", "--time=0")
    total = total_of(document)
    skipped, calls = total["counts"]
    want = 3 * 10007 + 7 * threads
    assert (skipped["name"], skipped["unit"], skipped["count"]) == ("rows_skipped", "rows", want)
    assert (calls["name"], calls["unit"], calls["count"]) == ("calls", "1", 10007)
    assert calls["per_s"] == pytest.approx(total["figures"]["events_per_s"])
    assert total["raw"]["counters"]["rows_skipped"] == want
    (load,) = total["timings"]
    assert (load["name"], load["count"]) == ("page_load", 10007)
    assert load["min_s"] == pytest.approx(0.010, rel=1e-3)
    assert load["max_s"] == pytest.approx(0.030, rel=1e-3)
    assert load["percentiles"][0]["s"] == pytest.approx(0.030, rel=1e-3)
    assert re.search(rf"^    rows_skipped \(rows\): +{want} +\([\d.]+ per sec\.\)$", r.out, re.M)
    assert re.search(r"^    calls: +10007 +\([\d.]+ per sec\.\)$", r.out, re.M)
    assert "Latency of page_load (ms):\n         min:" in r.out
    printed = command(["report", "r.json"], folder.path)
    assert printed.out == r.out[r.out.index("Started: "):]


def test_a_counter_for_programs_is_in_the_document_alone(folder):
    """Its name begins with an underscore; without another one, the text has no heading."""
    hidden = 'local h = sysbench.metrics.counter("_hidden") function event() h:add(2) end\n'
    r, document = documents(folder, hidden, "--events=10", "--time=0")
    (count,) = total_of(document)["counts"]
    assert (count["name"], count["count"]) == ("_hidden", 20)
    assert "hidden" not in r.out and "Counters of the script" not in r.out
    r, document = documents(folder, 'sysbench.metrics.counter("seen")\n' + hidden, "--events=10", "--time=0")
    assert [c["count"] for c in total_of(document)["counts"]] == [0, 20]
    assert "Counters of the script:\n    seen: " in r.out and "hidden" not in r.out


def test_intervals_are_parts_of_the_total(folder):
    _, document = documents(folder, COUNTS.replace("thread_done", "no_thread_done"), "--threads=2",
                            "--events=40000", "--rate=40000", "--time=0", "--report-interval=0.2",
                            "--report-bins=all")
    group = document["groups"][0]
    intervals = group["intervals"]
    assert len(intervals) >= 1
    parts = [sum(r["counts"][i]["count"] for r in intervals) for i in (0, 1)]
    total = [c["count"] for c in group["total"]["counts"]]
    last = 40000 - sum(r["figures"]["events"] for r in intervals)
    assert total == [120000, 40000] and last >= 0
    assert parts[1] <= total[1] and parts[0] <= total[0]
    # The histograms of --rate stand behind those of the script.
    names = [t["name"] for t in group["total"]["timings"]]
    assert names == ["page_load", "queueing", "service", "wakeup_lag"]
    assert [t["count"] for t in group["total"]["timings"][:3]] == [40000] * 3


@pytest.mark.sanitized
def test_beside_the_metrics_of_a_database(folder):
    _, document = documents(folder, """
local skipped = sysbench.metrics.counter("rows_skipped", "rows")
local load = sysbench.metrics.histogram("page_load", "us")
local con = sysbench.sql.driver():connect()
con:query("CREATE TABLE IF NOT EXISTS t(a)")
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") skipped:add(2) load:add(5) end
""", "--db-driver=sqlite", "--sqlite-db=t.db", "--db-debug=on", "--events=50")
    total = total_of(document)
    assert [t["name"] for t in total["timings"]] == ["sql_execute", "sql_fetch", "page_load"]
    assert [total["timings"][i]["count"] for i in (0, 2)] == [50, 50]
    counters = total["raw"]["counters"]
    assert (counters["rows_read"], counters["rows_skipped"], counters["reads"]) == (50, 100, 50)
    assert total["timings"][2]["max_s"] == pytest.approx(5e-6, rel=1e-3)


@pytest.mark.sanitized
def test_merge_sums_them(folder):
    for name, events in (("a.json", 100), ("b.json", 250)):
        folder.run(COUNTS, f"--report=json:{name}", f"--events={events}", "--time=0")
    r = command(["merge", "--force", "-o", "m.json", "a.json", "b.json"], folder.path)
    assert r.status == 0, r.err
    parts = [json.loads((folder.path / name).read_text()) for name in ("a.json", "b.json")]
    merged = total_of(json.loads((folder.path / "m.json").read_text()))
    assert [c["count"] for c in merged["counts"]] == [3 * 350 + 14, 350]
    assert merged["timings"][0]["count"] == 350
    spans = [total_of(d)["figures"]["span_s"] for d in parts]
    rates = [total_of(d)["counts"][1]["per_s"] for d in parts]
    assert merged["counts"][1]["per_s"] == pytest.approx(
        sum(s * r for s, r in zip(spans, rates)) / merged["figures"]["span_s"])
    folder.run("sysbench.metrics.counter('calls') function event() end", "--report=json:c.json",
               "--events=1")
    r = command(["merge", "--force", "a.json", "c.json"], folder.path)
    assert r.status == 1 and "metrics" in r.err, r.err


def test_other_formats(folder):
    r, _ = documents(folder, COUNTS, "--events=10", "--report=openmetrics:m.prom",
                     "--assert=p95@page_load>29ms")
    page = (folder.path / "m.prom").read_text()
    assert 'bench_workload_counts_total{counter="rows_skipped",unit="rows"} 37\n' in page
    assert 'bench_timing_seconds_count{timing="page_load"} 10\n' in page
    assert re.search(r"p95@page_load>29ms: +\S+ ms ok", r.out), r.out


def test_rows_have_a_column_for_each(folder):
    """Those of the run and those of its document are the same bytes."""
    forms = ("csv", "jsonl", "csv-total")
    _, document = documents(folder, COUNTS, "--rate=2000", "--time=0.7", "--report-interval=0.2",
                            "--percentile=50,99", *(f"--report={form}:{form}" for form in forms))
    group = document["groups"][0]
    rows = {form: list(csv.DictReader(io.StringIO((folder.path / form).read_text())))
            for form in ("csv", "csv-total")}
    (total,) = rows["csv-total"]
    skipped, calls = group["total"]["counts"]
    (load,) = group["total"]["timings"][:1]
    assert int(total["script_rows_skipped"]) == skipped["count"]
    assert float(total["script_calls_per_s"]) == calls["per_s"]
    assert int(total["script_page_load_count"]) == load["count"]
    assert float(total["script_page_load_max_s"]) == load["max_s"]
    assert float(total["script_page_load_p99_s"]) == load["percentiles"][1]["s"]
    assert [int(row["script_calls"]) for row in rows["csv"]] == [
        record["counts"][1]["count"] for record in group["intervals"]]
    assert "script_page_load_p99_s" not in rows["csv"][0]
    for form in forms:
        printed = command(["report", f"--format={form}", "r.json"], folder.path)
        assert printed.out == (folder.path / form).read_text()


def test_commands_and_hooks_do_not_count(folder):
    text = COUNTS + """
function prepare() event() print("prepared") end
function sysbench.hooks.report_intermediate(stat) event() print("hook") end
"""
    r = folder.lua(text, "prepare")
    assert (r.out, r.status) == ("prepared\n", 0)
    r = folder.run(text + "function event() end", "--time=1", "--report-interval=0.1")
    assert "hook" in r.lines and re.search(r"rows_skipped \(rows\): +7 ", r.out)


def test_a_name_stands_for_one_metric(folder):
    r = folder.run("""
local c = sysbench.metrics.counter("calls", "1")
function thread_init() d = sysbench.metrics.counter("calls") end
function event() c:add() d:add(2) end
""", "--events=5")
    assert re.search(r"^    calls: +15 ", r.out, re.M) and r.status == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sysbench.metrics.counter('reads')", "bench has a metric 'reads' itself"),
        ("sysbench.metrics.counter('sql_fetch')", "bench has a metric 'sql_fetch' itself"),
        ("sysbench.metrics.histogram('queueing')", "bench has a metric 'queueing' itself"),
        ("sysbench.metrics.counter('1x')", "'1x' cannot be the name of a metric"),
        ("sysbench.metrics.counter('')", "'' cannot be the name of a metric"),
        ("sysbench.metrics.counter(('x'):rep(33))", "a name has up to 32 letters, digits and"),
        ("sysbench.metrics.counter('a b')", "'a b' cannot be the name of a metric"),
        ("sysbench.metrics.counter()", "the name must be a string, not a nil"),
        ("sysbench.metrics.counter('a', 1)", "the unit must be a string, not a number"),
        ("sysbench.metrics.counter('a', 'b\\n')", "the unit of 'a' must have 1 to 32 printable"),
        ("sysbench.metrics.histogram('a', 'rows')",
         "'rows' cannot be the unit of a histogram; allowed: s, ms, us, ns"),
        ("sysbench.metrics.counter('a') sysbench.metrics.histogram('a')",
         "'a' is declared already, as a counter with the unit '1'"),
        ("sysbench.metrics.counter('a') sysbench.metrics.counter('a', 'rows')",
         "'a' is declared already, as a counter with the unit '1'"),
        ("for i = 1, 129 do sysbench.metrics.counter('a' .. i) end",
         "'a129' is one metric too many; allowed: up to 128"),
        ("for i = 1, 9 do sysbench.metrics.histogram('a' .. i) end",
         "'a9' is one histogram too many; allowed: up to 8"),
        ("function init() sysbench.metrics.counter('a') end",
         "'a' is not declared at the top level of the script"),
        ("function thread_init() sysbench.metrics.counter('a') end",
         "'a' is not declared at the top level of the script"),
        ("c = sysbench.metrics.counter('a') c.add(1)", "add: expected a counter, got number"),
        ("c = sysbench.metrics.histogram('a') c.add(1)", "add: expected a histogram, got number"),
        *((f"c = sysbench.metrics.counter('a') function thread_init() c:add({value}) end",
           "add: expected a whole number of at least 0") for value in
          ("-1", "0.5", "0/0", "1/0", "2^54", "'1'", "{}")),
        *((f"c = sysbench.metrics.histogram('a') function thread_init() c:add({value}) end",
           "add: expected a time of at least 0") for value in ("-1", "0/0", "1/0", "'1'", "")),
    ],
)
def test_errors_are_sentences(folder, text, sentence):
    r = folder.run(text + "\nfunction event() end", "--events=1")
    assert r.status == 1 and "t.lua:1: " in r.err and sentence in r.err, r.err


def test_dialects_do_not_have_them(folder):
    for dialect in ("0.5", "1.0", "1.1"):
        r = folder.run("print(sysbench.metrics) function event() end", "--max-requests=1",
                       BENCH_COMPAT=dialect)
        assert "nil" in r.lines and r.status == 0, r.out + r.err
