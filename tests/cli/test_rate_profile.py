# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile makes as many events due as its integral says, sets the time of the run, and takes the place of --rate."""

import json

import pytest

import bench

PROFILE = "ramp:0..400/1s; hold:400/1s"


def run(folder, *args):
    done = bench.run("cpu", "--cpu-max-prime=3", "--threads=4", "--arrivals=constant", "--report=json:r.json",
                     *args, "run", cwd=folder)
    # A busy machine may be late at the end.
    assert done.status in (0, 4), done.err
    return json.loads((folder / "r.json").read_text())


def figures(document):
    return document["groups"][0]["total"]["figures"]


@pytest.mark.parametrize("args, due, seconds, rate", [
    ([], 600, 2, 300), (["--time=1"], 200, 1, 200), (["--time=2.5"], 800, 2.5, 320),
    (["--time=0", "--events=100"], 100, None, 300)])
def test_the_integral_is_due(tmp_path, args, due, seconds, rate):
    got = run(tmp_path, f"--rate-profile={PROFILE}", *args)
    total = figures(got)
    assert total["due"] == due == total["started"] + total["dropped"] + total["backlog"]
    assert got["facts"]["plan"]["rate"] == rate
    if seconds:
        assert total["span_s"] == seconds == got["facts"]["plan"]["time_ns"] / 1e9


def test_a_phase_that_did_not_begin_has_no_queue(tmp_path):
    """Nothing was due in it; what waited at its begin and its end, and its rate, are not known."""
    args = ["--rate-profile=hold:200/100ms; hold:200/1s", "--time=0.1", "--report=csv-total:r.csv"]
    second = run(tmp_path, *args)["groups"][0]["total"]["phases"][0]
    (tmp_path / "r.json").rename(tmp_path / "s.json")
    began, other = run(tmp_path, *args)["groups"][0]["total"]["phases"]
    assert began["carried"] == 0 and began["queued"] is not None and began["started_per_s"] > 0
    assert [other[name] for name in ("carried", "queued", "started_per_s", "wanted_per_s")] == [None] * 4
    assert [other[name] for name in ("due", "started", "dropped", "retries", "failed_events")] == [0] * 5
    names, values = (line.split(",") for line in (tmp_path / "r.csv").read_text().splitlines()[:2])
    row = dict(zip(names, values))
    assert row["carried@phase:2"] == row["queued@phase:2"] == "" and row["carried@phase:1"] == "0"
    bench.run("merge", "--force", "-o", "m.json", "r.json", "s.json", cwd=tmp_path)
    merged = json.loads((tmp_path / "m.json").read_text())["groups"][0]["total"]["phases"]
    assert merged[1]["carried"] is None and merged[0]["carried"] == 0
    assert merged[0]["started_per_s"] == pytest.approx(began["started_per_s"] + second["started_per_s"])
    assert merged[0]["wanted_threads"] is None


def test_no_profile_is_said_with_a_word(tmp_path):
    done = bench.run("cpu", "--rate-profile=none", "--threads-profile=none", "--events=3", "run", cwd=tmp_path)
    assert done.status == 0 and done.err == "", done.err


def test_a_trace_is_read(tmp_path):
    (tmp_path / "t.csv").write_text("second,rate\n36000,100\n36000.5,300\n36001,0\n")
    assert figures(run(tmp_path, "--rate-profile=trace:t.csv"))["due"] == 200
    # A document with the name of a file in another encoding can be read.
    name = "\udcb4" * 14 + ".csv"
    (tmp_path / "t.csv").rename(tmp_path / name)
    bench.run("cpu", f"--rate-profile=trace:{name}", "--report=json:json", "run", cwd=tmp_path)
    assert bench.run("report", "json", cwd=tmp_path).status == 0


def test_hosts_share_a_profile(tmp_path):
    shell = tmp_path / "sh"
    shell.write_text("#!/bin/sh\nshift\nexec \"$@\"\n")
    shell.chmod(0o755)
    hosts = [f"--hosts-shell={shell}", f"--hosts-program={bench.binary()}", "--hosts=a:1,b:3"]
    assert figures(run(tmp_path, f"--rate-profile={PROFILE}", *hosts))["due"] == 600
    (tmp_path / "t.csv").write_text("0,1\n1,1\n")
    done = bench.run("cpu", "--rate-profile=trace:t.csv", *hosts, "run", cwd=tmp_path)
    assert done.status == 1
    assert done.err == ("--rate-profile=trace:t.csv: a trace cannot be used with --hosts, which do not have its file; "
                        "write its rates as phases\n")


def test_one_of_two_rates_is_refused(tmp_path):
    done = bench.run("cpu", f"--rate-profile={PROFILE}", "--rate=5", "run", cwd=tmp_path)
    assert done.status == 1
    assert done.err == f"--rate-profile={PROFILE}: cannot be used with --rate, which it replaces\n"


def test_a_rate_that_cannot_be_kept_up_is_named(tmp_path):
    (tmp_path / "slow.lua").write_text(
        "ffi.cdef('int usleep(unsigned int);') function event() ffi.C.usleep(10000) end\n")
    done = bench.run("slow.lua", "--rate-profile=hold:1000/1s", "run", cwd=tmp_path)
    assert done.status == 4
    assert "--rate-profile could not be kept up: of " in done.err


SLOW = "ffi.cdef('int usleep(unsigned int);') function event() ffi.C.usleep(2000) end\n"


@pytest.fixture
def spike(tmp_path):
    """A document of a run that gets four times what one thread can do for half a second.  The total counts from a
    checkpoint behind that, and the phases count from the start."""
    (tmp_path / "slow.lua").write_text(SLOW)
    done = bench.run("slow.lua", "--rate-profile=hold:50/1s; hold:2000/500ms; hold:50/3s", "--report=json:r.json",
                     "--report=text:r.txt", "--report=csv-total:r.csv", "--report-interval=1",
                     "--report-checkpoints=2", "--assert=recovery_s@phase:2<2.9s", "--assert=p95@phase:2>50ms",
                     "--assert=queued@phase:2>=500", "--assert=unfinished@phase:1<=0", "run", cwd=tmp_path)
    assert done.status in (0, 3, 4), done.err
    return tmp_path


def test_phases_are_reported(spike):
    document = json.loads((spike / "r.json").read_text())
    total, [checkpoint] = (document["groups"][0][name] for name in ("total", "checkpoints"))
    phases, carried = total["phases"], 0
    assert [p["text"] for p in phases] == ["hold:50/1s", "hold:2000/500ms", "hold:50/3s"]
    assert [(p["from_s"], p["to_s"]) for p in phases] == [(0, 1), (1, 1.5), (1.5, 4.5)]
    for phase in phases:
        assert phase["carried"] == carried
        assert phase["due"] + carried == phase["started"] + phase["dropped"] + phase["queued"]
        carried = phase["queued"]
    for figure in ("due", "started", "dropped"):
        assert sum(p[figure] for p in phases) == total["figures"][figure]
    assert sum(p["count"] for p in phases) == total["figures"]["events"] + checkpoint["figures"]["events"]
    # A busy machine may be slow before, or not recover; the unit tests compare the time with that of the exact queue.
    recovery_s = phases[1]["recovery_s"] or 0
    assert phases[0]["recovery_s"] is None and phases[2]["recovery_s"] is None
    # Documents of intervals have no phases, and are read.
    assert all("phases" not in i for i in document["groups"][0]["intervals"])
    text = (spike / "r.txt").read_text()
    table = text[text.index("Phases (times in ms):"):text.index("\n\nAssertions:")]
    said = "recovered" if phases[1]["recovered"] else "not recovered"
    assert len(table.splitlines()) == 5 + (recovery_s > 0)
    assert (f"phase 2 (hold:2000/500ms): {said} after " in table) == (recovery_s > 0)
    assert table in bench.run("report", "r.json", cwd=spike).out
    names, values = (line.split(",") for line in (spike / "r.csv").read_text().splitlines())
    row = dict(zip(names, values))
    assert int(row["due@phase:2"]) == phases[1]["due"] and float(row["p95_s@phase:1"]) > 0.002
    assert row["recovery_s@phase:1"] == "" and float(row["recovery_s@phase:2"] or 0) == recovery_s
    holds = {a["text"]: a["holds"] for a in document["assertions"]}
    assert holds["p95@phase:2>50ms"] and holds["queued@phase:2>=500"] and holds["unfinished@phase:1<=0"]


def test_metrics_and_tables_have_phases(spike):
    phases = json.loads((spike / "r.json").read_text())["groups"][0]["total"]["phases"]
    metrics = bench.run("report", "--format=openmetrics", "r.json", cwd=spike).out.splitlines()
    table = bench.run("report", "--format=markdown", "r.json", cwd=spike).out.splitlines()
    for number, phase in enumerate(phases, 1):
        label = f'{{phase="{number}"}}'
        for figure in ("due", "carried", "started", "dropped"):
            assert f"bench_phase_{figure}_total{label} {phase[figure]}" in metrics
        assert f"bench_phase_queued{label} {phase['queued']}" in metrics
        assert f"bench_phase_latency_seconds_count{label} {phase['count']}" in metrics
        name = f"| phase:{number} {phase['text']} "
        assert f"{name}started/s | {phase['started_per_s']:.2f} |" in table
        assert (f"{name}queued at its end | {phase['queued']} |" in table) == (phase["queued"] > 0)
    assert any(line.startswith("| phase:2 hold:2000/500ms 95th percentile (ms) | ") for line in table)
    recovered = [n for n, p in enumerate(phases, 1) if p["recovered"]]
    assert [line.split()[0] for line in metrics if line.startswith("bench_phase_recovery_seconds{")] == \
        [f'bench_phase_recovery_seconds{{phase="{n}"}}' for n in recovered]
    assert sum(" recovered after (s) " in line for line in table) == ((phases[1]["recovery_s"] or 0) > 0)
    document = json.loads((spike / "r.json").read_text())
    document["groups"][0]["total"]["phases"][0]["queued"] = None
    (spike / "null.json").write_text(json.dumps(document))
    names, values = bench.run("report", "--format=csv-total", "null.json", cwd=spike).out.splitlines()
    assert dict(zip(names.split(","), values.split(",")))["queued@phase:1"] == ""


def test_studies_name_phases(spike):
    document = json.loads((spike / "r.json").read_text())
    document["end"].update(status=0, reason="time limit")
    for name in ("a.json", "b.json"):
        (spike / name).write_text(json.dumps(document))
    done = bench.run("history", "--metric=p95@phase:1", "a.json", cwd=spike)
    assert "p95@phase:1" in done.out, done.err
    done = bench.run("compare", "--metric=p95@phase:2", "--fail-on=p95@phase:2:5%", "a.json", "b.json",
                     cwd=spike)
    assert done.err == "" and "Undecided: p95@phase:2" in done.out


HANG = """ffi.cdef('int usleep(unsigned int);')
local n = 0
function event() n = n + 1 if n == 40 then ffi.C.usleep(4000000) end end
"""
# Nothing is due in the last two seconds of the first phase: a thread that a busy machine delays has begun all
# events of it when it ends, so that its latency is the level for the next one.
CALM = "0,100\n0.2,0\n2.2,0\n"


@pytest.fixture
def hung(tmp_path):
    """Documents of two runs whose only thread hangs in phase 2 until after the end, and their reports."""
    (tmp_path / "hang.lua").write_text(HANG)
    (tmp_path / "calm.csv").write_text(CALM)
    done = [bench.run("hang.lua", "--rate-profile=trace:calm.csv; hold:80/1s; hold:20/1s",
                      "--arrivals=constant", "--time-grace=0.1", "--percentile=99", "--assert=p99@phase:2<100ms",
                      "--assert=max@phase:2<10s", "--assert=recovery_s@phase:2<1s", "--assert=p10@phase:2<1s",
                      f"--report=json:{name}.json", "--report=text", "run", cwd=tmp_path) for name in "ab"]
    assert [d.status for d in done] == [2, 2], done[0].err
    return tmp_path, done[0].out


def test_a_hang_counts_in_its_phase(hung):
    folder, out = hung
    document = json.loads((folder / "a.json").read_text())
    before, phase, after = document["groups"][0]["total"]["phases"]
    assert (phase["due"], phase["count"], phase["unfinished"]) == (80, 19, 61)
    assert (before["unfinished"], after["count"], after["unfinished"], after["avg_s"]) == (0, 0, 20, None)
    # The 80th of 80 events was due at 2.2 + 20 * 0.0125 s or before, and the run ends at 4.2 s.
    assert phase["percentiles"][0]["s"] >= 1.74 and not phase["recovered"]
    judged = {a["text"]: (a["at_least"], a["holds"]) for a in document["assertions"]}
    assert judged["p99@phase:2<100ms"] == judged["max@phase:2<10s"] == judged["recovery_s@phase:2<1s"] == (True, False)
    # More than 10 % have ended: unfinished events do not move that rank.
    assert judged["p10@phase:2<1s"][1]
    row = next(line for line in out.splitlines() if line.endswith("hold:80/1s")).split()
    assert row[-3].startswith("≥") and row[-2].startswith("≥")
    assert "phase 2 (hold:80/1s): not recovered after 1.00 s" in out
    assert bench.run("report", "a.json", cwd=folder).out.count("≥") == out.count("≥")


def test_a_merge_sums_phases(hung):
    folder, _ = hung
    done = bench.run("merge", "--force", "-o", "m.json", "a.json", "b.json", cwd=folder)
    assert done.status == 0, done.err
    merged, *parts = ([p for p in json.loads((folder / f"{name}.json").read_text())["groups"][0]["total"]["phases"]]
                      for name in "mab")
    for k in range(3):
        of = [p[k] for p in parts]
        for figure in ("due", "started", "queued", "count", "unfinished"):
            assert merged[k][figure] == of[0][figure] + of[1][figure]
        assert merged[k]["youngest_s"] == min(p["youngest_s"] for p in of)
        assert merged[k]["sum_s"] == pytest.approx(of[0]["sum_s"] + of[1]["sum_s"])
    assert merged[1]["percentiles"][0]["s"] == pytest.approx(max(p[1]["percentiles"][0]["s"] for p in parts), rel=0.1)
    assert not merged[1]["recovered"] and merged[1]["recovery_s"] == pytest.approx(1)


OPTION = """ffi.cdef('int usleep(unsigned int);')
sysbench.cmdline.options = {pause = {'us', 0}}
function event() ffi.C.usleep(sysbench.opt.pause) end
"""
TWO = "--rate-profile=hold:50/200ms; hold:20/200ms"


def test_a_sweep_has_phases(tmp_path):
    (tmp_path / "t.lua").write_text(OPTION)
    done = bench.run("sweep", "--vary=threads=1,2", "--repeat=1", "--out=s", "t.lua", TWO, "run", cwd=tmp_path)
    assert done.status == 0, done.err
    found = [json.loads(path.read_text()) for path in (tmp_path / "s/runs").glob("*.json")]
    assert sorted(d["facts"]["plan"]["threads"] for d in found) == [1, 2]
    for document in found:
        assert [p["text"] for p in document["groups"][0]["total"]["phases"]] == ["hold:50/200ms", "hold:20/200ms"]


def test_ab_judges_a_phase(tmp_path):
    (tmp_path / "t.lua").write_text(OPTION)
    done = bench.run("ab", "--a=--pause=100000", "--b=--pause=100", "--metric=p50@phase:2", "t.lua", "--threads=10",
                     "--rate-profile=hold:50/200ms; hold:50/400ms", "run", cwd=tmp_path)
    assert done.status == 0, done.err
    assert "B is better" in done.out and "p50@phase:2" in done.out


def test_a_search_over_threads_judges_a_phase(tmp_path):
    (tmp_path / "t.lua").write_text(OPTION)
    args = ["--goal=p95@phase:1<10s", "--min=1", "--max=2", "--time=0.4", "--time-max=0.4", "--cooldown=0",
            "--warmup-time=0", "t.lua", TWO, "run"]
    done = bench.run("search", "--over=threads", "--out=s", *args, cwd=tmp_path)
    assert done.status in (0, 3, 4) and "p95@phase:1" in done.out, done.err
    done = bench.run("search", "--out=r", *args, cwd=tmp_path)
    assert done.status == 1 and "the search varies --rate, which a profile replaces" in done.err


def test_a_search_over_rates_has_no_pauses(tmp_path):
    """A probe with a rate could not have them.  One over threads can."""
    (tmp_path / "t.lua").write_text("function event() end\n")
    args = ["--goal=p95<10s", "--time=0.1", "--time-max=0.1", "--cooldown=0", "--probes=4", "--warmup-time=0", "t.lua",
            "run"]
    done = bench.run("search", *args, "--think-time=1ms", cwd=tmp_path)
    assert done.status == 1 and "--think-time: the search varies --rate, which cannot be used with" in done.err
    for more in (["--over=threads", "--max=2", "--think-time=1ms"], ["--min=500", "--max=500", "--think-time=0"]):
        done = bench.run("search", *args, *more, cwd=tmp_path)
        assert "probe 1" in done.err and "think-time" not in done.err, done.err


@pytest.mark.parametrize("text, message", [
    ("p99@phase:3<1s", "the run has no phase:3: its profile has 2 phase(s)"),
    ("queued<1", "queued is of a phase; write queued@phase:NUMBER"),
    ("tps@phase:1<1", "tps is not counted for phases; pN, min, avg, median, max, unfinished, due, started, dropped, "
     "retries, failed_events, recovery_s, queued, started_per_s are")])
def test_assertions_about_other_phases_are_refused(text, message):
    done = bench.run("cpu", "--rate-profile=hold:1/1s; hold:2/1s", f"--assert={text}", "run")
    assert done.status == 1 and f"--assert={text}: {message}" in done.err
    done = bench.run("cpu", "--assert=p99@phase:1<1s", "run")
    assert "the run has no phases; --rate-profile and --threads-profile make them" in done.err


def test_hosts_sum_their_phases(tmp_path):
    shell = tmp_path / "sh"
    shell.write_text("#!/bin/sh\nshift\nexec \"$@\"\n")
    shell.chmod(0o755)
    document = run(tmp_path, "--rate-profile=hold:200/1s; ramp:200..400/1s", f"--hosts-shell={shell}",
                   f"--hosts-program={bench.binary()}", "--hosts=a:1,b:3")
    phases = document["groups"][0]["total"]["phases"]
    assert [p["due"] for p in phases] == [200, 300]
    assert [round(p["wanted_per_s"], 6) for p in phases] == [200, 300]
    assert [p["to_s"] for p in phases] == [1, 2]


def test_a_dialect_has_no_phases(tmp_path):
    done = bench.run("--compat=1.1", "cpu", "--cpu-max-prime=3", "--rate-profile=hold:100/1s", "--report=json:r.json",
                     "run", cwd=tmp_path)
    assert done.status == 0 and "Phases" not in done.out
    assert "phases" not in json.loads((tmp_path / "r.json").read_text())["groups"][0]["total"]
