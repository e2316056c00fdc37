# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the metrics of a run have the figures of its document, that Prometheus's own parsers
accept them, and that a collector never finds half a file."""

import json
import math
import os
import re
import signal
import subprocess

import pytest

import bench
from gate import slow

QUICK = ["cpu", "--cpu-max-prime=300"]
BOTH = ["--report=openmetrics:prom", "--report=json:json"]
SUFFIXES = {"counter": {"_total"}, "gauge": {""}, "summary": {"", "_sum", "_count"}}


def parse(text):
    """{name: {labels: value}}, after the rules of OpenMetrics 1.0 for what bench writes."""
    rows = text.split("\n")
    assert rows[-2:] == ["# EOF", ""]
    samples, kinds, family, said, counted = {}, {}, None, [], set()
    for row in rows[:-2]:
        meta = re.fullmatch(r"# (TYPE|UNIT|HELP) (bench_[a-z_]+) (\S.*)", row)
        if meta:
            word, name, value = meta.groups()
            if word == "TYPE":
                assert name not in kinds  # a family stands in one piece
                kinds[name], family, said = value, name, []
            assert name == family and (word != "UNIT" or name.endswith("_" + value))
            said.append(word)
            continue
        name, labels, value = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? (\S+)", row).groups()
        assert name.startswith(family) and name[len(family):] in SUFFIXES[kinds[family]], row
        assert said[0] == "TYPE" and said[-1] == "HELP"
        assert ("UNIT" in said) == family.endswith(("_seconds", "_bytes"))
        pairs = re.findall(r'(\w+)="((?:[^"\\\n]|\\["\\n])*)"', labels or "")
        assert ",".join(f'{k}="{v}"' for k, v in pairs) == (labels or "")
        key = tuple((k, re.sub(r"\\(.)", r"\1", v)) for k, v in pairs)
        assert key not in samples.setdefault(name, {})
        samples[name][key] = float(value)
        counted |= {v for k, v in key if k == "counter"}
    # A quantity has one name, and no two families make the same one.
    assert not counted & {re.sub("^bench_|_seconds$", "", name) for name in kinds}
    made = [name + suffix for name, kind in kinds.items() for suffix in SUFFIXES[kind]]
    assert len(made) == len(set(made))
    return samples


def accept(text):
    """By the parsers of the Python client, as many samples as there are lines."""
    openmetrics = pytest.importorskip("prometheus_client.openmetrics.parser")
    older = pytest.importorskip("prometheus_client.parser")
    wanted = sum(not row.startswith("#") for row in text.splitlines())
    for parser in (openmetrics, older):
        families = list(parser.text_string_to_metric_families(text))
        assert sum(len(f.samples) for f in families) == wanted


def run(folder, *args, dialect="own", status=0):
    done = bench.run(*args, "run", cwd=folder, dialect=dialect)
    assert done.status in (bench.good(args) if status == 0 else (status,)), done
    text = (folder / "prom").read_text()
    accept(text)
    document = json.loads((folder / "json").read_text())
    return parse(text), document["groups"][0]["total"], document


def value(samples, name, **labels):
    return samples[name][tuple(labels.items())]


def check_totals(samples, total):
    figures = total["figures"]
    for name, figure in (("events_total", "events"), ("transactions_total", "transactions"),
                         ("errors_total", "errors"), ("reconnects_total", "reconnects"),
                         ("read_bytes_total", "bytes_read"),
                         ("written_bytes_total", "bytes_written"),
                         ("measured_seconds", "span_s"), ("events_per_second", "events_per_s"),
                         ("queries_per_second", "queries_per_s"),
                         ("event_latency_min_seconds", "min_s"),
                         ("event_latency_max_seconds", "max_s"),
                         ("event_latency_seconds_sum", "sum_s"),
                         ("event_latency_seconds_count", "events")):
        if figures[figure] is None:
            assert "bench_" + name not in samples
        else:
            assert value(samples, "bench_" + name) == figures[figure], name
    for kind, figure in (("read", "reads"), ("write", "writes"), ("other", "other")):
        if figures[figure] is None:
            assert "bench_queries_total" not in samples
        else:
            assert value(samples, "bench_queries_total", kind=kind) == figures[figure]
    for row in total["percentiles"]:
        got = value(samples, "bench_event_latency_seconds",
                    quantile=f"{row['percent'] / 100:.15g}")
        assert got == row["s"] or (figures["events"] == 0 and math.isnan(got))
    for row in total["workload"]:
        assert value(samples, "bench_workload_" + row["name"]) == row["value"]


@pytest.mark.parametrize("dialect", ["own", slow("1.1"), slow("1.0")])
def test_figures_of_a_test_of_files(dialect, tmp_path):
    args = ["fileio", "--file-total-size=1M", "--file-num=2", "--file-test-mode=rndrw"]
    assert bench.run(*args, "prepare", cwd=tmp_path).status == 0
    samples, total, document = run(tmp_path, *args, "--time=0.3" if dialect == "own" else "--time=1", *BOTH, dialect=dialect)
    check_totals(samples, total)
    for timing in total["timings"]:
        for suffix, figure in (("_sum", "sum_s"), ("_count", "count")):
            assert value(samples, "bench_timing_seconds" + suffix,
                         timing=timing["name"]) == timing[figure]
        for row in timing["percentiles"]:
            got = value(samples, "bench_timing_seconds", timing=timing["name"],
                        quantile=f"{row['percent'] / 100:.15g}")
            assert got == row["s"] or timing["count"] == 0
    # One name has one unit: what the device counts is in three.
    units = {row["name"]: row["unit"] for row in document["groups"][0]["metrics"] if row["name"].startswith("device_")}
    assert set(units.values()) <= {"1", "bytes", "ns"}
    for name, unit in units.items():
        family, by = {"1": ("counts", 1), "bytes": ("bytes", 1), "ns": ("seconds", 1e-9)}[unit]
        if total["raw"]["counters"].get(name) is not None:
            assert value(samples, f"bench_workload_{family}_total", counter=name) == pytest.approx(
                total["raw"]["counters"][name] * by)
    saved = bench.run("report", "--format=openmetrics", "json", cwd=tmp_path)
    assert saved == ((tmp_path / "prom").read_text(), "", 0)


@pytest.mark.sanitized
def test_errors_by_code_and_counters_of_sql(tmp_path):
    (tmp_path / "twice.lua").write_text("""
        local n = 0
        function thread_init()
          con = sysbench.sql.driver():connect()
          con:query("CREATE TABLE t(a INTEGER PRIMARY KEY)")
          con:query("INSERT INTO t VALUES (1)")
        end
        function event()
          n = n + 1
          if n <= 3 then con:query("INSERT INTO t VALUES (1)") end
        end
    """)
    samples, total, document = run(
        tmp_path, "./twice.lua", "--db-driver=sqlite", "--db-ignore-errors=duplicate",
        "--events=5", "--percentile=50,99.99,100", *BOTH)
    check_totals(samples, total)
    [[code, count]] = total["raw"]["labels"]["errors_by_code"]
    assert (samples["bench_errors_by_code_total"], count) == ({(("code", code),): 3}, 3)
    assert value(samples, "bench_workload_counts_total", counter="rows_inserted") == \
        total["raw"]["counters"]["rows_inserted"]
    assert set(samples["bench_event_latency_seconds"]) == {
        (("quantile", q),) for q in ("0.5", "0.9999", "1")}
    [labels] = samples["bench_run_info"]
    assert dict(labels)["driver"] == "sqlite"
    assert dict(labels)["workload"] == "./twice.lua"
    assert dict(labels)["version"] == document["facts"]["program"]["version"]


def test_rate_and_what_was_not_measured(tmp_path):
    samples, total, _ = run(tmp_path, *QUICK, "--rate=100", "--time=0.5", "--threads=3", *BOTH)
    for state in ("due", "started", "dropped", "finished"):
        assert value(samples, "bench_arrivals_total", state=state) == total["figures"][state]
    assert value(samples, "bench_threads") == 3
    samples, total, _ = run(tmp_path, *QUICK, "--time=0.1", "--percentile=0", *BOTH)
    assert "bench_arrivals_total" not in samples and "bench_event_latency_seconds" not in samples
    assert value(samples, "bench_exit_status") == 0


def test_a_run_that_failed(tmp_path):
    (tmp_path / "fails.lua").write_text("function thread_init() error('no') end\n"
                                        "function event() end\n")
    done = bench.run("./fails.lua", "--events=1", "--report=openmetrics:prom", "run", cwd=tmp_path)
    assert done.status == 1
    text = (tmp_path / "prom").read_text()
    accept(text)
    assert value(parse(text), "bench_exit_status") == 1


def test_a_stall_is_told_as_in_the_text(tmp_path):
    """Without an event, the text shows the age of the one that hangs, and no least latency."""
    (tmp_path / "hangs.lua").write_text("""
        local ffi = require("ffi")
        ffi.cdef("int usleep(unsigned);")
        function event() while true do ffi.C.usleep(100000) end end
    """)
    args = ["./hangs.lua", "--time=0.2", "--time-grace=0.2"]
    samples, total, _ = run(tmp_path, *args, *BOTH, "--report=text:text", status=2)
    text = (tmp_path / "text").read_text()
    assert re.search("min: +-\n", text) and re.search("max: +≥[0-9]", text)
    oldest = total["figures"]["oldest_s"]
    assert oldest > 0
    assert value(samples, "bench_event_latency_max_seconds") == total["figures"]["max_s"] >= oldest
    assert value(samples, "bench_event_latency_seconds", quantile="0.95") == total["percentiles"][0]["s"]
    assert "bench_event_latency_min_seconds" not in samples
    assert value(samples, "bench_events_unfinished") == 1


def test_a_text_of_metrics_is_of_one_result(tmp_path):
    run(tmp_path, *QUICK, "--events=3", *BOTH)
    done = bench.run("report", "--format=openmetrics", "json", "json", cwd=tmp_path)
    assert (done.out, done.status) == ("", 1)
    assert done.err == ("bench report: --format=openmetrics: a text of metrics has each name once, so name one "
                        "file\n")


def test_texts_of_a_document_are_escaped(tmp_path):
    run(tmp_path, *QUICK, "--events=3", *BOTH)
    document = json.loads((tmp_path / "json").read_text())
    document["facts"]["workload"]["name"] = 'a"b\\c\n\x1b[2J'
    (tmp_path / "other").write_text(json.dumps(document))
    done = bench.run("report", "--format=openmetrics", "other", cwd=tmp_path)
    accept(done.out)
    [labels] = parse(done.out)["bench_run_info"]
    assert dict(labels)["workload"] == r'a"b\c\x0a\x1b[2J'


def test_the_file_is_replaced_when_the_run_ends(tmp_path):
    """The old one stays whole until then, and the new one has its rights."""
    file = tmp_path / "bench.prom"
    file.write_text("old\n")
    file.chmod(0o640)
    old = file.stat()
    process = subprocess.Popen(
        [bench.binary(), *QUICK, "--time=600", "--report-interval=0.1", "--report=text",
         "--report=openmetrics:bench.prom", "run"],
        env=bench.environment(), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert any(line.startswith("[") for line in iter(process.stdout.readline, "")), "no interval"
    assert file.read_text() == "old\n" and os.listdir(tmp_path) == ["bench.prom"]
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    parse(file.read_text())
    new = file.stat()
    assert (new.st_ino != old.st_ino, new.st_mode) == (True, old.st_mode)
    assert os.listdir(tmp_path) == ["bench.prom"]


def test_a_script_counts_under_the_name_of_a_figure(tmp_path):
    """The counters were missing."""
    (tmp_path / "named.lua").write_text("""
        local counters = {sysbench.metrics.counter("max"), sysbench.metrics.counter("dropped")}
        function event() for _, counter in ipairs(counters) do counter:add(2) end end
    """)
    samples = run(tmp_path, "./named.lua", "--events=5", *BOTH)[0]
    for name in ("max", "dropped"):
        assert value(samples, "bench_workload_counts_total", counter=name) == 10


@pytest.mark.parametrize("file, message", [
    ("none/prom", "cannot write the report to 'none/prom': No such file or directory\n"),
    (".", "--report=openmetrics:.: this is a folder; name a file\n"),
    ("", "--report=openmetrics:: the name is empty; name a file\n"),
    ("link", "--report=openmetrics:link: this is a symbolic link; name the file that it leads to\n"),
])
def test_a_file_that_cannot_be_written_is_told_before_the_run(file, message, tmp_path):
    (tmp_path / "link").symlink_to("prom")
    done = bench.run(*QUICK, "--events=100", f"--report=openmetrics:{file}", "run", cwd=tmp_path)
    assert done.status == 1 and message in done.out + done.err
    assert "total number of events" not in done.out


def test_standard_output_has_nothing_else():
    done = bench.run(*QUICK, "--events=10", "--report=openmetrics", "run")
    assert (done.err, done.status) == ("", 0)
    assert value(parse(done.out), "bench_events_total") == 10
    done = bench.run(*QUICK, "--events=10", "--report=openmetrics:/dev/full", "run")
    assert done.status == 1
    assert "cannot write the report to '/dev/full': No space left on device\n" in done.err
