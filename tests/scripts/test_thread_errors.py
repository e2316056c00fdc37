# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that fail: --on-thread-error."""
import json
import re

import pytest

import gate
from lua import command

CONTINUE = "--on-thread-error=continue"
WAIT = """
ffi.cdef("int usleep(unsigned int);")
local function wait_for(id)
  local file
  repeat ffi.C.usleep(1000) file = io.open("failed." .. id) until file
  file:close()
end
local function show(id) io.open("failed." .. id, "w"):close() end
"""
# The first --bad threads fail in their event --at, and the others wait for that in their first.
SOME = WAIT + """
sysbench.cmdline.options = { bad = {"threads that fail", 0}, at = {"the event", 3} }
local function fail(id) error("boom " .. id) end
function event(id)
  n = (n or 0) + 1
  if id < sysbench.opt.bad and n == sysbench.opt.at then
    show(id)
    fail(id)
  end
  for bad = 0, id >= sysbench.opt.bad and n == 1 and sysbench.opt.bad - 1 or -1 do wait_for(bad) end
end
"""


def line_of(script, text):
    """Where a script fails, as Lua names the place."""
    return f"t.lua:{script[:script.index(text)].count(chr(10)) + 1}"


def run(folder, script, *args, **env):
    """The result and its document."""
    r = folder.run(script, "--report=text", "--report=json:document", *args, **env)
    return r, json.loads((folder.path / "document").read_text())


def figures(document):
    return document["groups"][0]["total"]["figures"]


@pytest.mark.threads
@pytest.mark.parametrize("more", [[], ["--rate=20000"], ["--at=1"], ["--warmup-time=0.1"]])
def test_the_others_do_the_events_of_threads_that_failed(folder, more):
    r, document = run(folder, SOME, "--threads=4", "--bad=3", "--events=400", "--time=0", CONTINUE, *more)
    total = figures(document)
    assert r.status == 1 and r.events == total["events"] == 400
    assert total["failed_threads"] == 3 and re.search(r"failed threads: +3\n", r.out)
    assert document["end"]["failed"] and document["end"]["reason"] == "event limit"
    place = line_of(SOME, "error(")
    assert list(document["facts"]["thread_errors"]) == list(document["facts"]["thread_error_seconds"]) == [place]
    assert re.fullmatch(place + ": boom [0-2]", document["facts"]["thread_errors"][place])
    assert re.search(rf"Failed threads \(.*\):\n    {place}: .* {place}: boom \d\n\n", r.out)
    # A line for each kind, not for each thread.
    assert sum("threads continue (--on-thread-error=continue)" in line for line in r.said) == 1
    assert "3 of 4 threads failed (--on-thread-error=continue)" in r.said
    if "--rate=20000" in more:
        assert total["due"] == total["started"] + total["dropped"] + total["backlog"]
        assert (total["started"], total["dropped"]) == (400, 3)


def test_who_has_nothing_to_do_waits_for_what_comes_back(folder):
    """The others have done all other events when the thread 0 fails."""
    script = WAIT + """
function event(id)
  n = (n or 0) + 1
  if id > 0 and n == 1 then wait_for(0) end
  if id == 0 then
    show(0)
    ffi.C.usleep(200000)
    error("late")
  end
end
"""
    r, document = run(folder, script, "--threads=4", "--events=50", "--time=0", CONTINUE)
    assert r.status == 1 and r.events == 50 and figures(document)["failed_threads"] == 1


@pytest.mark.threads
def test_intervals_show_the_threads_that_are_left(folder):
    slow = SOME.replace("n = (n or 0) + 1", "n = (n or 0) + 1 ffi.C.usleep(2000)")
    r, document = run(folder, slow, "--threads=3", "--bad=2", "--time=1.8", "--report-interval=0.3",
                      CONTINUE)
    assert r.status == 1 and document["end"]["reason"] == "time limit"
    assert re.findall(r"thds: (\d)", r.out)[-1] == "1"
    assert document["groups"][0]["intervals"][-1]["figures"]["failed_threads"] == 2
    # Until the end, not until the first failure.
    assert figures(document)["span_s"] >= 1.8


def test_the_last_thread_ends_the_run(folder):
    r, document = run(folder, SOME, "--threads=4", "--bad=4", "--time=600", CONTINUE)
    assert r.status == 1 and r.events == 8
    assert figures(document)["failed_threads"] == 4 and document["end"]["reason"] == "failure"
    assert "the run failed; the report covers what was measured until then" in r.said


@pytest.mark.parametrize("args", [[], ["--on-thread-error=abort"]])
def test_by_default_one_thread_ends_the_run(folder, args):
    r, document = run(folder, SOME, "--threads=4", "--bad=1", "--time=600", *args)
    assert r.status == 1 and document["end"]["reason"] == "failure"
    assert figures(document)["failed_threads"] == 0
    assert "threads failed" not in r.err and "ailed threads" not in r.out


@pytest.mark.parametrize("dialect", ["0.5", "1.0", "1.1"])
def test_a_dialect_prints_what_it_prints(folder, dialect):
    old = ["--num-threads=3", "--max-requests=100"] if dialect == "0.5" else ["--threads=3", "--events=100"]
    r, document = run(folder, SOME, *old, "--bad=2", CONTINUE, BENCH_COMPAT=dialect)
    assert r.status == 1 and r.events == 100 and figures(document)["failed_threads"] == 2
    assert "ailed threads" not in r.out and "2 of 3 threads failed (--on-thread-error=continue)" in r.said


def test_before_the_start_every_failure_ends_the_run(folder):
    r = folder.run(SOME + 'function thread_init(id) if id == 1 then error("no") end end', "--threads=3",
                   CONTINUE)
    assert r.status == 1 and not r.reported


def test_a_failure_at_the_end_of_a_thread_counts_once(folder):
    script = SOME + 'function thread_done(id) if id < 2 then error("done") end end'
    r, document = run(folder, script, "--threads=4", "--bad=1", "--events=100", "--time=0", CONTINUE)
    assert r.status == 1 and r.events == 100 and figures(document)["failed_threads"] == 2
    assert set(document["facts"]["thread_errors"]) == {line_of(script, text) for text in ('error("b', 'error("d')}


@pytest.mark.parametrize("text,kind", [
    # A kind has at most 63 bytes.
    ('("é"):rep(60)', "é" * 31),
    gate.sanitized('"x" .. ("é"):rep(60)', "x" + "é" * 31),
    ('"\\233\\255x"', r"\xe9\xffx"),
    ('("\\233"):rep(40)', r"\xe9" * 15),
])
def test_errors_that_are_not_utf8_or_long_are_in_the_document(folder, text, kind):
    """The kind is a key of the document, which is UTF-8."""
    script = SOME.replace('error("boom " .. id)', f"error({text}, 0)")
    assert script != SOME
    args = ["--threads=3", "--bad=1", "--events=50", "--time=0", CONTINUE]
    r, document = run(folder, script, *args)
    assert r.status == 1 and r.events == 50 and f"    {kind}:" in r.out
    (folder.path / "failed.0").unlink()
    printed = json.loads(folder.run(script, "--report=json", *args).out)
    for facts in document["facts"], printed["facts"]:
        assert list(facts["thread_errors"]) == list(facts["thread_error_seconds"]) == [kind]
    shown = command(["report", "document"], folder.path)
    assert shown.status == 0 and f"    {kind}:" in shown.out


CAUGHT = WAIT + """
function thread_init() con = sysbench.sql.driver():connect() end
function event(id)
  n = (n or 0) + 1
  if id == 0 and n == 1 then
    show(0)
    pcall(con.query, con, "SELECT gone FROM t")
  elseif n == 1 then
    wait_for(0)
  end
end
"""


@pytest.mark.sanitized
def test_an_error_that_the_script_catches_ends_the_thread(folder):
    r, document = run(folder, CAUGHT, "--db-driver=sqlite", "--sqlite-db=:memory:", "--threads=2", "--events=30",
                      "--time=0", CONTINUE)
    total = figures(document)
    assert r.status == 1 and (total["events"], total["failed_threads"]) == (30, 1)
    assert document["facts"]["thread_errors"] == {"1": "no such table: t"}
