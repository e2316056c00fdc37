# SPDX-License-Identifier: GPL-2.0-or-later
"""Each thread runs the events of --events-per-session, whatever its speed, and then no more; a run that has fewer
events than it was given, because nobody has given it a time, says so."""
import json
import re

import pytest

import bench
from lua import command

# The thread 2 is several times as slow as the thread 0.
SPEEDS = """
ffi.cdef("int usleep(unsigned int);")
function event(id) ffi.C.usleep(100 + 400 * id) end
"""
EACH = ["--threads=3", "--events-per-session=100"]


def run(folder, script, *args):
    """The result and its document."""
    r = folder.run(script, "--report=text", "--report=json:document", *args)
    return r, json.loads((folder.path / "document").read_text())


def events_of_threads(document):
    """The first number of each row."""
    return [row[0] for row in document["groups"][0]["total"]["raw"]["sessions"]]


@pytest.mark.threads
@pytest.mark.parametrize("more", [
    [], ["--time=0"], ["--warmup-time=0.1", "--time=0"], ["--rate=2000"],
    ["--rate=2000", "--warmup-time=0.1"], ["--on-thread-error=continue"]])
def test_each_thread_has_its_events(folder, more):
    r, document = run(folder, SPEEDS, *EACH, *more)
    assert r.status == 0 and r.events == 300
    assert events_of_threads(document) == [100, 100, 100]
    assert re.search(r"events \(avg/stddev\): +100\.0000/0\.00\n", r.out)
    assert document["end"]["reason"] == "event limit" and not document["end"]["failed"]
    if "--rate=2000" in more:
        figures = document["groups"][0]["total"]["figures"]
        assert (figures["due"], figures["started"], figures["backlog"]) == (300, 300, 0)


def test_short_events_are_counted_exactly(folder):
    """Threads take the tickets of short events in batches."""
    r, document = run(folder, "function event() end", "--threads=4", "--events-per-session=25001", "--time=0")
    assert r.status == 0
    assert events_of_threads(document) == [25001] * 4


def test_time_ends_the_run_before_that(folder):
    r, document = run(folder, SPEEDS, "--threads=2", "--events-per-session=1000000", "--time=0.3")
    assert r.status == 0 and 0 < r.events < 10000
    assert document["end"]["reason"] == "time limit"


@pytest.mark.parametrize("default, more, limit", [
    ("0.3", ["--events=1000000"], "events=1000000"),
    ("0.3", ["--events-per-session=1000000", "--threads=2"], "events-per-session=1000000"),
    ("0.3", ["--events=1000000", "--time=0.2"], None), ("0.3", ["--events=3"], None), ("0.3", [], None),
    ("10", ["--events=1000000", "--rate-profile=hold:100/0.2s"], None)])
def test_a_default_that_ends_the_run_before_that_is_told(folder, default, more, limit):
    """The default is here that of the script."""
    script = f'sysbench.cmdline.options = {{time = {{"length of the run", {default}}}}}\n' + SPEEDS
    r = folder.run(script, *more)
    told = [line for line in r.said if "the default --time" in line]
    said = f"the default --time=0.3 ended the run before all of --{limit} had begun; --time=0 removes this limit"
    assert r.status in bench.good(more) and told == ([said] if limit else []), r.out + r.err


@pytest.mark.threads
@pytest.mark.parametrize("more", [[], ["--warmup-time=0.1"], ["--rate=3000"]])
def test_nobody_runs_the_events_of_a_thread_that_failed(folder, more):
    """The thread 1 fails in its tenth event; with a warm-up, that is in the warm-up."""
    script = SPEEDS.replace("end\n", """
  n = (n or 0) + 1
  if id == 1 and n == 10 then error("boom") end
end
""", 1)
    r, document = run(folder, script, *EACH, "--time=0", "--on-thread-error=continue", *more)
    assert r.status == 1
    assert events_of_threads(document) == [100, 0 if more == ["--warmup-time=0.1"] else 9, 100]
    assert document["end"]["reason"] == "event limit"


def test_repeated_events_count_once(folder):
    """Every third event is repeated after an ignored error."""
    script = """
function event()
  n = (n or 0) + 1
  if n % 3 == 0 then error({errcode = sysbench.error.RESTART_EVENT}) end
end
"""
    r, document = run(folder, script, *EACH, "--time=0")
    assert r.status == 0
    assert events_of_threads(document) == [100, 100, 100]


@pytest.mark.parametrize("test", [
    ["cpu", "--cpu-max-prime=100"], ["threads", "--thread-yields=1"], ["mutex", "--mutex-loops=1"]])
def test_built_in_tests_have_it(tmp_path, test):
    done = bench.run(*test, "--threads=3", "--events-per-session=7", "--time=0", "--report=json", "run", cwd=tmp_path)
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert events_of_threads(document) == ([1] * 3 if test[0] == "mutex" else [7] * 3)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_fileio_has_it(tmp_path, mode):
    """The flushes at the end of the test are no events."""
    options = ["fileio", "--file-num=2", "--file-total-size=1M", "--file-test-mode=rndrd", f"--file-io-mode={mode}"]
    bench.run(*options, "prepare", cwd=tmp_path)
    done = bench.run(*options, "--threads=3", "--events-per-session=200", "--time=0", "--report=json", "run",
                     cwd=tmp_path)
    assert done.status == 0, done.err
    assert events_of_threads(json.loads(done.out)) == [200] * 3


def test_memory_says_that_it_ignores_it(tmp_path):
    done = bench.run("memory", "--memory-total-size=1M", "--events-per-session=3", "run", cwd=tmp_path)
    assert done.status == 0
    assert "the memory test ends after --memory-total-size and ignores --events-per-session" in done.err


@pytest.mark.parametrize("events", ["--events=3", "--max-requests=3"])
def test_the_limits_exclude_each_other(tmp_path, events):
    done = bench.run("cpu", events, "--events-per-session=5", "run", cwd=tmp_path)
    assert done.status == 1
    assert "--events-per-session=5: cannot be used with --events\n" in done.err


def test_a_dialect_has_it_in_place_of_its_default(tmp_path):
    """10000 events are the default of 0.5."""
    (tmp_path / "t.lua").write_text(SPEEDS)
    r = command(["--test=t.lua", "--num-threads=2", "--events-per-session=20", "--compat=0.5", "run"], tmp_path)
    assert r.status == 0, r
    assert re.search(r"events \(avg/stddev\): +20\.0000/0\.00\n", r.out)
