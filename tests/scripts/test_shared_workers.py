# SPDX-License-Identifier: GPL-2.0-or-later
"""What threads of a script that share a worker (--workers) say, and what they do to each other."""
import re
import resource
import subprocess

import pytest

from lua import BENCH, TIMEOUT_S, Result, command

SLOW_STATEMENTS = ["--db-driver=null", "--null-latency=fixed:20ms"]
ONE_WORKER = [*SLOW_STATEMENTS, "--threads=5", "--workers=1", "--time=0"]

QUIET = """
function event() end
"""


def heading_of(out):
    return [line for line in out.splitlines() if line.startswith("Number of ")]


@pytest.mark.parametrize("option, lines", [
    ("--workers=2", ["Number of threads: 5", "Number of workers: 2"]), ("--workers=0", ["Number of threads: 5"]),
    ("--workers=5", ["Number of threads: 5"])])
def test_the_heading_has_the_number_of_workers_that_threads_share(folder, option, lines):
    argv = ["--threads=5", "--events=5", option]
    r = folder.run(QUIET, *argv, "--report=text", "--report=json:document")
    assert heading_of(r.out) == lines
    assert heading_of(command(["report", "document"], folder.path).out) == lines
    assert heading_of(folder.run(QUIET, *argv, "--compat=1.0").out) == ["Number of threads: 5"]


def test_the_heading_compares_workers_with_the_threads_in_all(folder):
    r = folder.run(QUIET, "--threads-total=5", "--workers=2", "--events=5")
    assert heading_of(r.out) == ["Number of threads: 5", "Number of workers: 2"]


@pytest.mark.parametrize("row, option", [
    ('threads = {"", 5}', "--workers=2"), ('workers = {"", 2}', "--threads=5"),
    ('threads = {"", 2}, workers = {"", 2}', "--threads=5")])
def test_the_defaults_of_a_script_make_threads_share(folder, row, option):
    text = "sysbench.cmdline.options = {%s} function event() math.random() end" % row
    r = folder.run(text, option, "--events-per-session=2")
    assert (r.status, r.events) == (0, 10), r.err
    assert heading_of(r.out) == ["Number of threads: 5", "Number of workers: 2"]
    assert "the script uses math.random" in r.err


FAILING = """
function thread_init(id)
  local con = sysbench.sql.driver():connect()
  con:query("SELECT 1")
  if id > 1 then error("no") end
end
function event() end
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_error_of_many_threads_is_printed_once(folder, workers):
    """The first thread of each worker is opened alone, the others of the worker at the same time."""
    r = folder.run(FAILING, *SLOW_STATEMENTS, "--threads=20", f"--workers={workers}")
    assert r.status == 1
    assert r.err.count("`thread_init' function failed: t.lua:5: no") == 1
    # The first failure ends the run: threads of another worker may not have come so far.
    assert int(re.search(r"[(](\d+) more threads[)]", r.err)[1]) in ([17] if workers == "1" else range(8, 18))


ARITHMETIC = "attempt to perform arithmetic on a nil value"
FAILURES = {"error('no')": "t.lua:4: no", "error('no', 2)": "no", "error('no', 4)": "no",
            "error('no', 3)": '[string "sysbench.lua"]:0: no', "return error('no')": "no",
            "return error('no', 2)": '[string "sysbench.lua"]:0: no', "return error('no', 3)": "no",
            "fail()": "t.lua:4: no", "return fail()": "no", "return nil + 1": "t.lua:4: " + ARITHMETIC}
KINDS = 'sysbench.kinds = {"a"}'
FAILING_EVENT = """%s
local function fail() error("no", 2) end
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") %s end
"""


@pytest.mark.parametrize("head", ["", KINDS])
@pytest.mark.parametrize("failure", FAILURES)
def test_an_event_fails_with_the_message_that_it_has_in_sysbench(folder, failure, head):
    """The events are called by a function, which may be named by an error and whose place is in no message."""
    for options in ([], ["--verbosity=5"], ["--workers=1"]):
        r = folder.run(FAILING_EVENT % (head, failure), *SLOW_STATEMENTS, "--threads=2", *options)
        assert r.status == 1
        assert re.search(r"`thread_run' function failed: (.*)", r.err)[1] == FAILURES[failure]
        if "--verbosity=5" in options:
            assert r.err.partition("\nstack traceback:")[0].splitlines()[-1] == FAILURES[failure]


WRONG_CALLS = ["return con:query({})", "con:query({})", "error({})"]


@pytest.mark.parametrize("failure", WRONG_CALLS)
def test_a_wrong_call_fails_with_the_message_that_it_has_in_a_thread(folder, failure):
    said = []
    for workers in (2, 1):
        r = folder.run(FAILING_EVENT % ("", failure), *SLOW_STATEMENTS, "--threads=2", f"--workers={workers}")
        assert r.status == 1
        said.append(re.search(r"`thread_run' function failed: .*", r.err)[0])
    assert said[0] == said[1]


WRAPPED = """
local function wrapped() return coroutine.wrap(function () error("no") end) end
function event()
  local f = wrapped()
  print("said", pcall(f))
  print("said", pcall(f))
  print("said", pcall(function () wrapped()() end))
  print("said", pcall(function () return wrapped()() end))
  print("said", pcall(function () for _ in wrapped() do end end))
end
"""


def test_a_wrapped_coroutine_fails_with_the_message_that_it_has_in_a_thread(folder):
    """It has the place of its caller, if that is a function of the script."""
    said = []
    for workers in (2, 1):
        r = folder.run(WRAPPED, "--threads=2", f"--workers={workers}", "--events=1")
        said.append([line for line in r.lines if line.startswith("said")])
    assert len(said[0]) == 5 and said[0] == said[1]


TWO_STATEMENTS = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  coroutine.wrap(function () con:query("SELECT 1") con:query("SELECT 2") end)()
end
"""


@pytest.mark.parametrize("head", ["", 'local coroutine = require "coroutine"'])
def test_an_event_waits_for_the_statements_of_its_coroutine(folder, head):
    r = folder.run(head + TWO_STATEMENTS, *SLOW_STATEMENTS, "--threads=2", "--workers=1", "--events=10", "--time=0")
    assert (r.status, r.events) == (0, 10), r.err
    assert re.search(r"queries: +(\d+)", r.out)[1] == "20"
    assert float(re.search(r"min: +([0-9.]+)", r.out)[1]) >= 40


OLD_MODULE = """
module("counter", package.seeall)
n = 0
function bump() n = n + 1 return n end
"""
LATE_REQUIRE = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("SELECT 1")
  taken = require("counter")
end
function event() con:query("SELECT " .. taken.bump()) end
function thread_done(id) print(("thread %d: %d"):format(id, counter.n)) end
"""


def test_each_thread_has_its_own_old_module(folder):
    """The function `module` writes where the `require` of its thread reads, whatever thread was opened last."""
    folder.file("counter.lua", OLD_MODULE)
    r = folder.run(LATE_REQUIRE, *ONE_WORKER, "--events-per-session=3")
    assert r.status == 0, r.err
    assert sorted(line for line in r.lines if line.startswith("thread ")) == [f"thread {i}: 3" for i in range(5)]


LIBRARIES = """
local function names(library)
  local found = {}
  for name in pairs(library) do found[#found + 1] = name end
  table.sort(found)
  return table.concat(found, " ")
end
function thread_init()
  for _, name in ipairs({"bit", "coroutine", "debug", "io", "math", "os", "string", "table"}) do
    print("library", name, names(_G[name]))
  end
  for name, library in pairs(package.loaded) do
    assert(_G[name] == nil or _G[name] == library, name)
  end
  print("library", coroutine.isyieldable(), coroutine.running(), coroutine.create(print) ~= nil)
end
function event() end
"""


def test_libraries_are_whole(folder):
    """Also after pairs() has shown them."""
    said = []
    for workers in (2, 1):
        r = folder.run(LIBRARIES, "--threads=2", f"--workers={workers}", "--events=2")
        assert r.status == 0, r.err
        said.append(sorted(line for line in r.lines if line.startswith("library")))
    assert len(said[0]) == 18 and said[0] == said[1]


OUTPUTS = """
function thread_init(id) io.output("log." .. id) end
function event(id) io.write(id, "\\n") end
function thread_done() io.close() end
"""


def test_each_thread_has_its_own_default_output(folder):
    r = folder.run(OUTPUTS, "--threads=4", "--workers=1", "--events-per-session=5")
    assert r.status == 0, r.err
    assert [(folder.path / f"log.{i}").read_text() for i in range(4)] == [f"{i}\n" * 5 for i in range(4)]


ROWS = """
function thread_init()
  con = sysbench.sql.driver():connect()
  row = sysbench.row(1, sysbench.tid)
  con:bulk_insert_init("INSERT INTO t VALUES")
end
function event() row:number(1) con:bulk_insert_next(row) end
function thread_done() con:bulk_insert_done() end
"""


def test_rows_of_c_are_inserted(folder):
    """Their text is no string of Lua, and has its length beside it."""
    r = folder.run(ROWS, "--db-driver=null", "--threads=2", "--workers=1", "--events=20", "--time=0")
    assert r.status == 0 and r.events == 20, r.err


LOOP_IN_COROUTINE = """
function thread_run(id)
  coroutine.wrap(function ()
    while ffi.C.sb_more_events(id) do
      ffi.C.sb_event_start(id)
      for _ = 1, 1000000 do end
      ffi.C.sb_event_stop(id)
    end
  end)()
end
"""


def test_an_event_loop_in_a_coroutine_has_all_its_events(folder):
    """A session that has run for a millisecond without a wait lets the others have their turn."""
    r = folder.run(LOOP_IN_COROUTINE, "--threads=2", "--workers=1", "--events-per-session=30", "--time=0")
    assert r.status == 0 and r.events == 60, r.out + r.err


SLEEPING = """
ffi.cdef[[
int usleep(unsigned int); unsigned int sleep(unsigned int); int poll(struct pollfd *, unsigned long, int);
]]
function event(id)
  local sleep = {function () return ffi.C.usleep(100000) end, function () return ffi.C.poll(nil, 0, 100) end,
                 function () return ffi.C.sleep(1) end}
  assert(sleep[id % 3 + 1]() == 0)
end
"""


def test_a_thread_that_sleeps_lets_the_others_go_on(folder):
    """One after another, they would sleep for more than 20 s."""
    r = folder.run(SLEEPING, "--db-driver=null", "--threads=60", "--workers=1", "--time=0", "--events-per-session=1")
    assert r.status == 0 and r.events == 60
    assert float(re.search(r"time elapsed: +([0-9.]+)s", r.out)[1]) < 15
    assert "holds up" not in r.err


def test_a_call_that_holds_up_the_others_is_named(folder):
    script = "ffi.cdef('int usleep(unsigned int);')\nffi.C.usleep(1000)\nfunction event() end"
    r = folder.run(script, "--db-driver=null", "--threads=3", "--workers=1", "--events=3")
    assert r.status == 0
    assert r.err.count("t.lua:2: a call that waits, at the top level of a file") == 1


# Sanitizers reserve more of the address space than this test leaves.
@pytest.mark.not_under("asan", "tsan")
def test_a_run_that_has_no_memory_for_stacks_fails(folder):
    """A statement that waits in the worker's own stack would hold up all others."""
    folder.file("t.lua", """
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
""")
    bytes_limit = 1 << 30
    r = Result(subprocess.run(
        [BENCH, "t.lua", "--db-driver=null", "--null-latency=fixed:1s", "--threads=5000", "--workers=1", "--time=600", "run"],
        cwd=folder.path, text=True, timeout=TIMEOUT_S, capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes_limit, bytes_limit))))
    assert r.status == 1, r.out + r.err
    assert r.reported and r.err.count("no memory for the stack of another statement in flight") == 1
    assert f"ulimit -v (bytes) {bytes_limit}" in r.err


LISTS = """
sysbench.cmdline.options = { names = { "names", { "a" }, sysbench.cmdline.ARG_LIST }, size = { "size", 7 } }
function event()
  table.insert(sysbench.opt.names, sysbench.tid)
  sysbench.opt.size = sysbench.opt.size + sysbench.tid
  print(sysbench.tid, table.concat(sysbench.opt.names, ","), sysbench.opt.size, sysbench.opt.threads,
        sysbench.opt.nothing)
  local n = 0
  for name, value in pairs(sysbench.opt) do
    n = n + (name == "size" and value or 0)
  end
  print(n)
end
"""


@pytest.mark.parametrize("workers", ["0", "1"])
def test_each_thread_has_its_own_values_of_options(folder, workers):
    """A script may change them, lists in place."""
    r = folder.run(LISTS, "--threads=3", f"--workers={workers}", "--events-per-session=1", "--time=0")
    rows = sorted(line for line in r.out.splitlines() if re.match(r"\d+(\t|$)", line))
    assert rows == sorted([f"{tid}\ta,{tid}\t{7 + tid}\t3\tnil" for tid in range(3)] +
                          [str(7 + tid) for tid in range(3)])
