# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that bench search finds the highest rate, or number of threads, that keeps a goal: of an M/M/1
queue in virtual time (mm1.py), whose answer is known, and of real runs that it can say nothing of."""

import csv
import json
import math
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import bench
from gate import slow

MU = 2000
ANSWER = re.compile(r"^highest (?:rate|number of threads) that keeps the goal: ([\d.]+)", re.M)


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    """(the program, its environment)"""
    folder = tmp_path_factory.mktemp("mm1")
    made = bench.run("cpu", "--cpu-max-prime=3", "--events=200", "--time=0", "--rate=2000",
                     "--report-interval=0.02", "--report-bins=all", "--report=json:t.json", "run",
                     cwd=folder)
    assert made.status == 0, made
    program = folder / "mm1"
    source = pathlib.Path(__file__).resolve().parent / "mm1.py"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{source}' \"$@\"\n")
    program.chmod(0o755)
    return program, {"MM1_MU": str(MU), "MM1_TEMPLATE": str(folder / "t.json")}


def search(queue, *args, run=("cpu", "run"), seed=1, disturbed="", **kwargs):
    program, env = queue
    env = {**env, "MM1_DISTURBED": disturbed}
    return bench.run("search", f"--program={program}", "--cooldown=0", *args, *run,
                     env={**env, "MM1_SEED": str(seed)}, **kwargs)


@pytest.mark.parametrize("utilization", (0.75, slow(0.9)))
def test_the_rate_is_found(queue, utilization, tmp_path):
    truth = MU * utilization
    limit_ms = 1e3 * math.log(100) / (MU - truth)
    got = search(queue, f"--goal=p99<{limit_ms:.6f}ms,errors<0.1%", "--time=5", "--out=found",
                 cwd=tmp_path)
    assert got.status == 0, got
    answer = float(ANSWER.search(got.out).group(1))
    assert answer == pytest.approx(truth, rel=0.05)
    rows = list(csv.DictReader(open(tmp_path / "found/table.csv", encoding="utf-8")))
    assert len(rows) <= 12
    assert [row["purpose"] for row in rows][0] == "capacity"
    assert rows[-1]["purpose"] == "again" and rows[-1]["goal"].startswith("broken")
    confirmed = [row for row in rows if row["goal"].startswith("kept")][-1]
    assert confirmed["purpose"] in ("confirm", "again")
    assert float(confirmed["rate"]) == pytest.approx(answer, rel=1e-3)
    assert float(rows[0]["events_per_s"]) == pytest.approx(MU, rel=0.01)
    documents = sorted((tmp_path / "found").glob("probe-*.json"))
    assert len(documents) == len(rows)
    last = json.loads(documents[-1].read_text())
    assert last["groups"][0]["total"]["figures"]["events"] == int(rows[-1]["events"])
    assert len(re.findall(r"^probe \d+: ", got.err, re.M)) == len(rows)
    assert "knee (the probe with" in got.out


def test_the_number_of_threads_is_found(queue):
    got = search(queue, "--goal=p99<20.5ms", "--over=threads", "--time=1", "--probes=20",
                 "--precision=1%")
    assert got.status == 0, got
    assert ANSWER.search(got.out).group(1) == "20"
    assert "lowest number of threads above it that breaks the goal: 21 threads" in got.out
    got = search(queue, "--goal=p99<20.5ms", "--over=threads", "--time=0.2", "--max=10")
    assert got.status == 0, got
    assert ANSWER.search(got.out).group(1) == "10"
    assert "--max allows no higher number of threads" in got.out
    got = search(queue, "--goal=p99<20.5ms", "--over=threads", "--time=0.2", "--probes=4")
    assert got.status == 0, got
    assert "no probe was left to try a higher number of threads" in got.out and "--max" not in got.out


@pytest.mark.parametrize("disturbed", ("probe-05.json", "probe-08.json"))
def test_a_broken_bound_is_probed_again(queue, disturbed):
    """Kind 26 of issue 37: something else breaks the goal once, at 16 threads or at 18."""
    got = search(queue, "--goal=p99<20.5ms", "--over=threads", "--time=1", "--probes=24",
                 "--precision=1%", disturbed=disturbed)
    assert got.status == 0, got
    assert ANSWER.search(got.out).group(1) == "20"
    assert re.search(r"^probe \d+: \d+ threads, 6 s, again: p99 .*: kept$", got.err, re.M), got.err
    assert "no probe was left" not in got.out


def test_a_bound_that_was_not_probed_again_is_said(queue):
    got = search(queue, "--goal=p99<20.5ms", "--over=threads", "--time=1", "--probes=10",
                 "--precision=1%", disturbed="probe-09.json")
    assert got.status == 0, got
    assert "no probe was left to look again" in got.out, got.out + got.err


@pytest.mark.parametrize("goal, answer", (
    slow("p99.9<20.5ms", 20),
    # 20 ms stand in a bucket that ends above it.
    slow("median<=20ms", 19),
    slow("avg<=20.1ms", 20),
    ("avg<20ms,max<11500us", 11),
    slow("errors<1.05%", 10),
    ("p99<15.5ms,errors<=1.05%,eps>900", 10),
    ("errors<=0", 0),
    slow("eps>=2000", 0),
    slow("eps>=999.9", 32),
))
def test_conditions(queue, goal, answer):
    got = search(queue, f"--goal={goal}", "--over=threads", "--time=1", "--time-max=1",
                 "--probes=20", "--max=32", "--precision=0.1%")
    if answer == 0:
        assert got.status == 3, got
        return
    assert got.status == 0, got
    assert ANSWER.search(got.out).group(1) == str(answer), got


def test_what_is_never_kept(queue, tmp_path):
    got = search(queue, "--goal=p99<1us", "--time=1", cwd=tmp_path)
    assert got.status == 3, got
    assert re.search(r"the lowest rate that was tried breaks the goal p99<1us: 15\.62 events/s: "
                     r"p99 [\d.]+ us\n$", got.err), got.err
    assert ANSWER.search(got.out) is None
    assert len(re.findall(r"broken$", got.out, re.M)) >= 3
    assert list(tmp_path.iterdir()) == []


def test_what_breaks_the_goal_is_named(queue):
    """Kind 20 of issue 37: one of two conditions."""
    got = search(queue, "--goal=p99<1s,errors<0.05%", "--over=threads", "--time=1")
    assert got.status == 3
    assert re.search(r"^probe 1: 1 threads, 1 s: p99 .*: broken\? \(errors<0\.05%\)$", got.err,
                     re.M), got.err
    assert re.search(r"breaks the goal p99<1s,errors<0\.05%: 1 threads: p99 .* s, errors .* % "
                     r"\(errors<0\.05%\)$", got.err, re.M), got.err


def test_a_probe_that_cannot_be_used_has_its_value(queue, tmp_path):
    program = tmp_path / "once"
    program.write_text(f"#!/bin/sh\n[ -e ran ] && {{ echo 'FATAL: no more' >&2; exit 1; }}\n"
                       f"touch ran; exec '{queue[0]}' \"$@\"\n")
    program.chmod(0o755)
    got = search((program, queue[1]), "--goal=p99<1s", "--time=1", cwd=tmp_path)
    assert got.status == 1
    assert "bench search: probe 2 (1000 events/s) failed with exit status 1: no more\n" in got.err


def test_the_result_as_a_document(queue, tmp_path):
    got = search(queue, "--goal=p99<10ms,errors<1%", "--time=2", "--format=json", "-o", "r.json",
                 "--max=1000", cwd=tmp_path)
    assert (got.out, got.status) == ("", 0), got
    document = json.loads((tmp_path / "r.json").read_text())
    assert (document["format"], document["version"]) == ("bench search", 1)
    assert (document["goal"], document["over"]) == ("p99<10ms,errors<1%", "rate")
    assert (document["answer"], document["broken_at"]) == (1000, None)
    assert document["capacity_per_s"] == pytest.approx(MU, rel=0.01)
    first, *others = document["probes"]
    assert (first["purpose"], first["value"], first["goal"]) == ("capacity", None, None)
    assert others[-1]["purpose"] == "confirm" and others[-1]["value"] == 1000
    assert document["decided"] == (others[-1]["goal"] == "kept")
    assert [c["text"] for c in others[-1]["conditions"]] == ["p99<10ms", "errors<1%"]
    assert others[-1]["conditions"][0]["value"] == pytest.approx(others[-1]["p99_s"] * 1e3)
    assert document["knee"] in [probe["value"] for probe in others]


def test_the_probes_are_limited(queue):
    got = search(queue, "--goal=p99<10ms", "--time=2", "--probes=4")
    assert len(re.findall(r"^probe \d+: ", got.err, re.M)) <= 4
    assert got.status in (0, 1)


def test_a_real_run(tmp_path):
    """What the rate is depends on the machine; the parts fit together."""
    got = bench.run("search", "--goal=errors<1%", "--time=0.1", "--warmup-time=0.02", "--probes=5",
                    "--cooldown=0", "--min=1", "--max=20", "--out=o", "cpu", "--cpu-max-prime=3",
                    "run", cwd=tmp_path)
    # A machine that stands still keeps no rate.
    assert got.status in (0, 3) or (got.status == 1 and "rate" in got.err), got
    answer = ANSWER.search(got.out)
    assert (answer is not None) == (got.status == 0) and (answer is None or 1 <= float(answer[1]) <= 20)
    if answer is None:
        return
    log = (tmp_path / "o/probe-02.txt").read_text()
    assert re.search(r"Target transaction rate: \d+/sec", log)
    again = bench.run("search", "--goal=errors<1%", "--out=o", "cpu", "run", cwd=tmp_path)
    assert again.status == 1 and "table.csv already" in again.err


@pytest.mark.parametrize("args, message", (
    (["--goal=p99", "cpu", "run"], "--goal: 'p99': there is no comparison"),
    (["cpu", "run"], "--goal is missing"),
    (["--goal=p99<1s", "cpu"], "the command 'run' is missing"),
    (["--goal=p99<1s", "cpu", "--rate=5", "run"], "--rate: the search sets this option"),
    (["--goal=p99<1s", "--over=threads", "cpu", "--rate=5", "run"],
     "--rate: the search varies --threads, and the rate would be too much for few of them; leave it out"),
    (["--goal=p99<1s", "cpu", "--tx_rate=5", "run"], "--tx-rate: the search sets this option"),
    (["--goal=p99<1s", "--over=threads", "cpu", "--threads-total=8", "run"],
     "--threads-total: the search varies --threads, which this option replaces; leave it out"),
    (["--goal=p99<1s", "cpu", "--rate-profile=hold:5/1s", "run"],
     "--rate-profile: the search varies --rate, which a profile replaces; leave it out, or search with --over=threads"),
    (["--goal=p99<1s", "--over=threads", "cpu", "--threads", "run"],
     "--threads: the search sets this option"),
    (["--goal=p99<1s", "cpu", "--compat=1.0", "run"], "probes cannot use a dialect"),
    (["--goal=p99<1s", "cpu", "--events=5", "run"], "--events: the search sets this option"),
    (["--goal=p99<1s", "cpu", "--events_per_session=5", "run"],
     "--events-per-session: the search sets this option"),
    (["--goal=p99<1s", "--precision=80%", "cpu", "run"], "--precision=80%: not a percentage"),
    (["--goal=p99<1s", "--time=2", "--time-max=1", "cpu", "run"], "--time-max is less than --time"),
    (["--goal=p99<1s", "--min=5", "--max=4", "cpu", "run"], "--max is less than --min"),
    (["--goal=p99<1s", "--out=a,b", "cpu", "run"], "--out=a,b: the name must not contain a comma"),
    (["--goal=p99<1s", "--program=/none", "cpu", "run"], "--program=/none: No such file or directory"),
    (["--goal=p99<1s", "--program=no-such-program", "cpu", "run"], "cannot start 'no-such-program'"),
    (["--goal=p99<1s", "--time=0.1", "cpu", "--no-such", "run"],
     "probe 1 failed with exit status 1"),
    (["--goal=p99<1s", "--time=0.1", "--program=false", "cpu", "run"],
     "probe 1 failed with exit status 1"),
))
def test_refusals(args, message, tmp_path):
    got = bench.run("search", *args, cwd=tmp_path)
    assert got.status == 1, got
    assert message in got.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sanitized
def test_a_probe_that_fails_says_why(tmp_path):
    (tmp_path / "bad.lua").write_text("function event() error('the index is missing') end\n")
    got = bench.run("search", "--goal=p99<1s", "--time=0.1", "./bad.lua", "run", cwd=tmp_path)
    assert got.status == 1
    assert re.search(r"^bench search: probe 1 failed with exit status 1: .*the index is missing",
                     got.err, re.M), got.err


@pytest.mark.parametrize("over", ["rate", "threads"])
def test_a_probe_that_measures_nothing_says_why(over, tmp_path):
    (tmp_path / "bad.lua").write_text(
        "function event() sysbench.sql.driver():connect():query('SELECT * FROM missing') end\n")
    got = bench.run("search", "--goal=p99<1s", f"--over={over}", "--time=0.1", "--warmup-time=0", "./bad.lua",
                    "--db-driver=sqlite", "--sqlite-db=:memory:", "--db-ignore-errors=all", "--db-max-tries=1", "run",
                    cwd=tmp_path)
    assert got.status == 1
    assert re.search(r"^bench search: probe 1.* failed with exit status 5: no event succeeded: \d+ statements failed",
                     got.err, re.M), got.err


def test_a_program_that_writes_nothing(queue, tmp_path):
    """The result of an earlier search is not taken for its own."""
    template = pathlib.Path(queue[1]["MM1_TEMPLATE"]).read_text()
    (tmp_path / "o").mkdir()
    (tmp_path / "o/probe-01.json").write_text(template)
    got = bench.run("search", "--goal=p99<1s", "--time=0.1", "--program=true", "--out=o", "cpu",
                    "run", cwd=tmp_path)
    assert (got.status, got.out) == (1, "")
    assert re.search(r"^bench search: .*o/probe-01.json.*No such file", got.err), got.err


def test_an_interrupted_search_keeps_what_it_has(queue, tmp_path):
    program, env = queue
    process = subprocess.Popen(
        [bench.binary(), "search", "--goal=p99<10ms", "--time=1", "--cooldown=100", "--out=o",
         f"--program={program}", "cpu", "run"], cwd=tmp_path, env=bench.environment(**env),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    assert line.startswith("probe 1: "), line
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGTERM
    assert "interrupted by signal 15 after probe 1" in err
    assert "capacity" in out
    assert (tmp_path / "o/probe-01.json").exists() and (tmp_path / "o/table.csv").exists()


def test_an_interrupted_probe_ends_with_the_search(tmp_path):
    process = subprocess.Popen(
        [bench.binary(), "search", "--goal=p99<10ms", "--time=100", "--out=o", "cpu", "run"],
        cwd=tmp_path, env=bench.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    log = tmp_path / "o/probe-01.txt"
    while not log.exists() or "Warming up" not in log.read_text():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert (process.returncode, out) == (128 + signal.SIGINT, "")
    assert err == "bench search: interrupted by signal 2 in probe 1\n"
