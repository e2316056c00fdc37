# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that events which are repeated and events which fail are counted as bench-output(7) says,
by the record that the workload itself keeps of its tries."""

import json
import os
import pathlib
import subprocess

import pytest

import documents
import gate
from runs import BENCH, TIMEOUT_S

SCRIPT = pathlib.Path(__file__).resolve().parent / "retry.lua"
# Of 8 events, with 3 tries: 3 succeed at once, 3 are repeated and succeed, 2 fail.
FAILURES = [0, 1, 0, 2, 5, 0, 3, 1]


class Record:
    """What the sessions have recorded: the tries, and of each event that ended well how long it
    took by itself and its tries."""

    def __init__(self, folder, threads):
        self.tries, self.done = 0, []
        for i in range(threads):
            for line in (folder / f"record.{i}").read_text().splitlines():
                word, *rest = line.split()
                self.tries += word == "try"
                if word == "done":
                    self.done.append((float(rest[0]), int(rest[1])))


def run(folder, *args, threads=1, tries=3, failures=FAILURES, status=0):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BENCH", "LUA_"))}
    done = subprocess.run(
        [BENCH, str(SCRIPT), "--db-driver=sqlite", "--sqlite-db=:memory:", f"--threads={threads}",
         f"--db-max-tries={tries}", "--failures=" + ",".join(map(str, failures)), "--report=text",
         "--report=json:json", "--report=csv-total:csv", *args, "run"],
        cwd=folder, env={**env, "TRIES": str(tries), "LC_ALL": "C"}, encoding="utf-8",
        capture_output=True, timeout=TIMEOUT_S)
    # One event more than can be in service may be late on a busy machine.
    late = any(arg.startswith("--rate=") for arg in args) and done.returncode == 4
    assert late or done.returncode == status, done.stdout + done.stderr
    total = json.loads((folder / "json").read_text())["groups"][0]["total"]
    return done, total, Record(folder, threads)


@pytest.mark.parametrize("threads, rate", gate.first([(4, []), (1, []), (4, ["--rate=2000"])]))
def test_retries_and_failures_are_those_of_the_record(tmp_path, threads, rate):
    events = 160
    done, total, record = run(tmp_path, "--time=0", f"--events={events}", *rate, threads=threads)
    found = total["figures"]
    assert found["events"] == len(record.done)
    assert found["events"] + found["failed_events"] == events and found["failed_events"] > 0
    # Each event begins with a try that repeats nothing, and each failed try is an ignored error.
    assert found["retries"] == record.tries - events
    assert found["errors"] == record.tries - len(record.done)
    repeated = sum(tries > 1 for _, tries in record.done)
    assert found["retried_events"] == repeated + found["failed_events"]
    assert f" {found['retried_events']} ({found['retries']} retries)\n" in done.stdout
    assert f"failed events (--db-max-tries):      {found['failed_events']}\n" in done.stdout
    header, row = (line.split(",") for line in (tmp_path / "csv").read_text().splitlines())
    for name in ("retried_events", "retries", "failed_events"):
        assert int(row[header.index(name)]) == found[name]
    if rate:
        assert found["started"] == found["due"] == events
        assert found["dropped"] == found["backlog"] == found["unfinished"] == 0


@pytest.mark.slow
def test_a_latency_has_all_tries_and_failed_events_have_none(tmp_path):
    """Failing tries take 20 ms: an event with one failure takes as long and one with two, which
    waits too, twice as long; a failed one would take 60 ms."""
    _, total, record = run(tmp_path, "--time=0", "--events=32", "--pause=0.02")
    found = total["figures"]
    own = [took for took, _ in record.done]
    assert found["sum_s"] >= sum(own)
    assert found["max_s"] >= max(own) >= 0.04
    assert found["min_s"] < 0.02
    latency = documents.histogram(total)
    assert sum(count for _, count in latency) == len(own) == found["events"]
    for tries, least_ns in ((2, 20e6), (3, 40e6)):
        slow = sum(count for ns, count in latency if ns >= least_ns * 0.999)
        assert slow >= sum(n >= tries for _, n in record.done)


@pytest.mark.slow
def test_all_events_fail(tmp_path):
    done, total, record = run(tmp_path, "--time=0", "--events=20", tries=1, failures=[1], status=5)
    found = total["figures"]
    assert (found["events"], found["failed_events"], found["retries"]) == (0, 20, 0)
    assert record.tries == found["errors"] == 20
    assert "retried events" not in done.stdout and not documents.histogram(total)


@pytest.mark.slow
def test_what_fails_in_the_warm_up_is_not_counted(tmp_path):
    """The tickets of --events are those of the time after it."""
    _, total, record = run(tmp_path, "--warmup-time=1.5", "--time=0", "--events=40", threads=2)
    found = total["figures"]
    assert found["events"] + found["failed_events"] == 40
    assert record.tries > found["events"] + found["failed_events"] + found["retries"]


@pytest.mark.slow
def test_with_a_rate_each_arrival_has_one_end(tmp_path):
    _, total, _ = run(tmp_path, "--rate=400", "--rand-seed=1", "--time=1", threads=4)
    found = total["figures"]
    assert found["due"] == found["started"] + found["dropped"] + found["backlog"]
    in_flight = found["unfinished"] - found["backlog"]
    assert found["started"] == found["events"] + found["failed_events"] + in_flight
    assert found["failed_events"] > 0 and found["events"] == found["finished"] + found["in_grace"]
