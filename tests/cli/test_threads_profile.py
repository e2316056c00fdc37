# SPDX-License-Identifier: GPL-2.0-or-later
"""The number of active threads follows --threads-profile, and reports and documents tell its phases apart."""
import json
import re
import signal
import subprocess
import time

import pytest

import bench

NULL = ["oltp_point_select", "--db-driver=null", "--null-latency=fixed:5ms"]


def total(*options):
    done = bench.run(*NULL, *options, "--report=json", "run")
    assert done.status == 0, done.err
    return json.loads(done.out)


# Each event takes 5 ms or more: a busy machine makes fewer of them, and never more.
@pytest.mark.parametrize("workers", ["--workers=0", "--workers=2"])
def test_phases_have_the_events_of_their_threads(workers):
    document = total("--threads-profile=hold:1/1s; hold:8/500ms; step:4..2-2/500ms", workers)
    figures = document["groups"][0]["total"]["figures"]
    phases = document["groups"][0]["total"]["phases"]
    assert document["facts"]["plan"]["threads"] == 8
    assert figures["span_s"] == pytest.approx(2.5, abs=0.1)
    assert [p["wanted_threads"] for p in phases] == [1, 8, 3]
    assert [p["wanted_per_s"] for p in phases] == [None] * 3
    for phase, most in zip(phases, [200 + 1, 800 + 8, 600 + 8]):
        assert 0 < phase["started"] <= most
        assert phase["due"] == phase["started"] == phase["count"]
        assert phase["queued"] == phase["carried"] == 0
    assert sum(p["started"] for p in phases) == figures["events"]
    assert figures["lag_max_s"] > 0


def test_the_report_has_a_table_and_intervals_show_active_threads(tmp_path):
    """The number of an interval's line is that of its middle."""
    document = tmp_path / "run.json"
    done = bench.run(*NULL, "--threads=4", "--threads-profile=hold:1/1200ms; hold:3/1300ms", "--report-interval=1",
                     "--report=text", f"--report=json:{document}", "--assert=p99@phase:2<10s",
                     "run")
    assert done.status == 0, done.err
    assert re.findall(r"thds: (\d+)", done.out) == ["1", "3"]
    [head] = [line.split() for line in done.out.splitlines() if line.split()[:2] == ["until", "s"]]
    assert head[2:9] == ["threads", "started", "ended", "dropped", "retries", "failed", "started/s"]
    assert re.search(r"^ +1\.200 +1\.00 +\d+ .* hold:1/1200ms$", done.out, re.M)
    assert re.search(r"^ +2\.500 +3\.00 +\d+ .* hold:3/1300ms$", done.out, re.M)
    again = bench.run("report", str(document))
    assert done.out.split("Phases (times")[1].split("\n\n")[0] in again.out
    metrics = bench.run("report", "--format=openmetrics", str(document)).out
    assert 'bench_phase_wanted_threads{phase="2"} 3' in metrics
    assert "nan" not in metrics.lower().replace("finan", "")


@pytest.mark.parametrize("options,message", [
    (["--rate=5"], "cannot be used with --rate: events that are due at a rate do not wait for threads that pause"),
    (["--rate-profile=hold:5/1s"], "cannot be used with --rate-profile: events that are due at a rate do not wait "
                                   "for threads that pause"),
    (["--events=5"], "cannot be used with --events: threads that pause would not end; use --time"),
    (["--events-per-session=5"], "cannot be used with --events-per-session: threads that pause would not end; use "
                                 "--time"),
    (["--threads=3"], "has up to 4 active threads, more than --threads=3"),
])
def test_other_options_are_refused(options, message):
    done = bench.run("cpu", "--threads-profile=hold:4/1s", *options, "run")
    assert (done.status, done.err) == (1, f"--threads-profile=hold:4/1s: {message}\n")


@pytest.mark.parametrize("profile,message", [
    ("hold:1/1s; hold:1.5/1s", "phase 2, 'hold:1.5/1s', column 17: the number of threads is not whole; at most 1000000; "
                               "allowed: hold:THREADS/TIME"),
    ("hold:x/1s", "phase 1, 'hold:x/1s', column 6: not a number of threads; allowed: hold:THREADS/TIME"),
    ("sine:4+-5/1s", "phase 1, 'sine:4+-5/1s', column 9: the number of threads would fall below 0; allowed: "
                     "sine:THREADS+-THREADS/TIME [for TIME]"),
    ("hold:1000001/1s", "phase 1, 'hold:1000001/1s', column 6: the number of threads is greater than 1000000; allowed: "
                        "hold:THREADS/TIME"),
    ("hold:0/1s", "has no active thread at any time"),
])
def test_bad_profiles_are_refused(profile, message):
    done = bench.run("cpu", f"--threads-profile={profile}", "run")
    assert (done.status, done.err) == (1, f"--threads-profile={profile}: {message}\n")


def test_an_endless_run_needs_a_thread_at_the_end():
    done = bench.run("cpu", "--threads-profile=ramp:4..0/1s", "--time=0", "run")
    assert (done.status, done.err) == (1, "--threads-profile=ramp:4..0/1s: ends with no active thread, so that a run "
                                          "without a time limit never ends; leave out --time=0\n")


@pytest.mark.parametrize("args", [("cpu", "--cpu-max-prime=500"), (*NULL, "--workers=2")], ids=["cpu", "workers"])
def test_threads_that_are_never_active_again_wait_for_the_end(args):
    """Kind: a wait whose end is never; it aborted the program."""
    command = [bench.binary(), *args, "--threads=4", "--threads-profile=hold:4/0.1s; hold:1/0.1s", "--time=0", "run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=bench.environment()) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode == 130 and b"total number of events:" in out, err


def test_a_trace_has_numbers_of_threads(tmp_path):
    (tmp_path / "day.csv").write_text("second,threads\n0,1\n0.2,4\n0.5,2\n")
    document = total(f"--threads-profile=trace:{tmp_path}/day.csv")
    [phase] = document["groups"][0]["total"]["phases"]
    assert phase["wanted_threads"] == pytest.approx((0.2 + 4 * 0.3 + 2 * 0.3) / 0.8)


def test_hosts_are_refused():
    done = bench.run(*NULL, "--threads-profile=hold:4/1s", "--hosts=a,b", "run")
    assert done.status == 1
    assert "--threads-profile=hold:4/1s: cannot be used with --hosts: " in done.err


def test_requests_in_flight_are_refused(tmp_path):
    done = bench.run("fileio", "--file-test-mode=rndrd", "--file-io-mode=async", "--threads-profile=hold:4/1s", "run",
                     cwd=tmp_path)
    assert done.status == 1
    assert "--threads-profile cannot be used with --file-async-backlog=128" in done.err


def test_studies_of_threads_are_refused(tmp_path):
    done = bench.run("sweep", "--vary=threads=1,2", "--out=o", "cpu", "--threads-profile=hold:4/1s", "run", cwd=tmp_path)
    assert done.status == 1
    assert ("--vary=threads: the runs have --threads-profile, which says how many threads are active; leave one of "
            "them out") in done.err
    done = bench.run("search", "--goal=p99<1s", "--over=threads", "--out=o", "cpu", "--threads-profile=hold:4/1s", "run",
                     cwd=tmp_path)
    assert done.status == 1
    assert "--threads-profile: the search varies --threads, and a profile says how many threads are active" in done.err


def test_a_sweep_varies_the_profile(tmp_path):
    done = bench.run("sweep", "--vary=threads-profile=hold:1/200ms,hold:2/200ms", "--repeat=1", "--out=o", *NULL, "run",
                     cwd=tmp_path)
    assert done.status == 0, done.err
    assert "hold:2/200ms" in done.out


def test_a_dialect_follows_the_profile():
    done = bench.run(*NULL, "--compat=0.5", "--threads-profile=hold:1/300ms; hold:2/300ms", "run")
    assert done.status == 0, done.err + done.out
    assert "Number of threads: 2" in done.out
