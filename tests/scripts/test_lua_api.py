# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of the scripting interface return what they promise: numbers, tables, texts."""
import json
import os
import re
import shutil
import subprocess

import pytest

from lua import command

# --- life cycle -----------------------------------------------------------------------------------

PHASES = """
print("top", sysbench.tid, sysbench.cmdline.command, sysbench.opt)
function init(...) print("init", sysbench.tid, select("#", ...)) end
function thread_init(id) print("thread_init", id, sysbench.tid) end
function event(id) n = (n or 0) + 1 print("event", id, sysbench.tid) return n > 2 end
function thread_done(id) print("thread_done", id, n) end
function done() print("done", sysbench.tid, n) end
"""


@pytest.mark.sanitized
def test_phases_in_order(folder):
    r = folder.run(PHASES)
    printed = [line for line in r.lines if re.match(r"top|init|thread_|event\t|done", line)]
    assert printed == ["top\t0\trun\tnil", "init\t0\t0", "top\t0\trun\tnil", "thread_init\t0\t0",
                       "event\t0\t0", "event\t0\t0", "event\t0\t0", "thread_done\t0\t3",
                       "done\t0\tnil"]
    assert r.events == 2 and r.status == 0
    assert r.out.index("init\t0\t0") < r.out.index("Running the test")
    assert r.out.index("thread_init\t0") < r.out.index("Threads started!")
    assert r.out.index("thread_done") < r.out.index("Throughput:")
    assert r.out.index("Threads fairness:") < r.out.index("done\t0\tnil")


def test_a_file_is_a_string_without_a_dialect(folder):
    """1.0.20 shows nil."""
    text = """
sysbench.cmdline.options = {log = {"where", "a.csv", sysbench.cmdline.ARG_FILE}}
function prepare() print("log", sysbench.opt.log) end
"""
    for args, dialect, want in (([], "", "a.csv"), (["--log=/b c"], "", "/b c"), ([], "1.1", "nil"),
                                (["--log=b"], "1.0", "nil")):
        r = folder.lua(text, *args, "prepare", BENCH_COMPAT=dialect)
        assert f"log\t{want}" in r.lines and r.status == 0, r.out + r.err


def test_threads_share_nothing_and_count_exactly(folder):
    r = folder.run("""
function event(id) mine = (mine or 0) + 1 end
function thread_done(id) print("thread", id, mine or 0) end
""", "--threads=8", "--events=10007", "--time=0")
    counts = [int(n) for n in re.findall(r"^thread\t\d\t(\d+)$", r.out, re.M)]
    assert len(counts) == 8 and sum(counts) == 10007 == r.events


def test_top_level_alone(folder):
    r = folder.lua("print(sysbench.cmdline.command, 1 + 1)")
    assert (r.out, r.status) == ("nil\t2\n", 0)


def test_own_thread_run_needs_no_event(folder):
    text = "function thread_run(id) print('mine', id, event) end"
    r = folder.run(text, "--threads=2")
    assert sorted(re.findall(r"mine\t(\d)\tnil", r.out)) == ["0", "1"]
    assert (r.events, r.status) == (0, 0)
    r = folder.run(text, BENCH_COMPAT="1.0")
    assert "FATAL: cannot find the event() function in t.lua" in r.lines and r.status == 1


def test_event_may_be_replaced_while_running(folder):
    r = folder.run("""
local function last() print("last") return true end
function event() event = last end
""")
    assert r.out.count("last") == 1 and r.events == 1


def test_commands(folder):
    text = """
sysbench.cmdline.commands = {
  once = {function () print("once", sysbench.tid, sysbench.opt.threads) end},
  many = {function () print("many", sysbench.tid) end, sysbench.cmdline.PARALLEL_COMMAND},
  no = {function () return false end}, zero = {function () return 0 end},
  run = {function () print("own run") end} }
function prepare() print("prepare", sysbench.tid) return false end
"""
    assert folder.lua(text, "--threads=3", "once").out == "once\t0\t3\n"
    many = folder.lua(text, "--threads=3", "many")
    assert sorted(re.findall(r"many\t(\d)", many.out)) == ["0", "1", "2"] and many.status == 0
    assert "Initializing worker threads...\n\n" in many.out
    assert folder.lua(text, "many").out == "many\t0\n"
    assert [folder.lua(text, c).status for c in ("once", "no", "zero", "prepare")] == [0, 1, 0, 0]
    assert folder.lua(text, "run").out == "own run\n"
    assert "Unknown command: other" in folder.lua(text, "other").err


def test_barrier(folder):
    r = folder.lua("""
sysbench.cmdline.commands = { load = {function ()
  print("before", sysbench.tid)
  assert(sysbench.cmdline.barrier() == true)
  print("after", sysbench.tid)
end, sysbench.cmdline.PARALLEL_COMMAND} }
""", "--threads=4", "load")
    words = [line.split("\t")[0] for line in r.lines if "\t" in line]
    assert words == ["before"] * 4 + ["after"] * 4 and r.status == 0


def test_barrier_tells_that_another_thread_failed(folder):
    r = folder.lua("""
sysbench.cmdline.commands = { load = {function ()
  if sysbench.tid == 1 then error("no space") end
  print("barrier", sysbench.cmdline.barrier())
end, sysbench.cmdline.PARALLEL_COMMAND} }
""", "--threads=2", "load")
    assert "barrier\tfalse" in r.lines and r.status == 1


# --- sysbench.cmdline, sysbench.opt ---------------------------------------------------------------


def test_cmdline_fields(folder):
    r = folder.lua("""
local c = sysbench.cmdline
print(c.argv[0] ~= nil, #c.argv, c.argv[1], c.argv[2], c.argv[3], c.command, c.script_path)
print(c.ARG_NULL, c.ARG_BOOL, c.ARG_INT, c.ARG_SIZE, c.ARG_DOUBLE, c.ARG_STRING, c.ARG_LIST,
  c.ARG_FILE, c.ARG_MAX, c.PARALLEL_COMMAND)
c.commands = { go = {function () end, true} }
print(c.command_defined("go"), c.command_parallel("go"), c.command_defined("stop"))
""", "--threads=2", "go")
    assert r.lines[:3] == ["true\t3\tt.lua\t--threads=2\tgo\tgo\tt.lua",
                           "0\t1\t2\t3\t4\t5\t6\t7\t8\ttrue", "true\ttrue\tfalse"]


OPTIONS = """
local c = sysbench.cmdline
c.options = {
  s = {"string"}, sd = {"string", "x"}, n = {"number", 7}, f = {"fraction", 0.5},
  i = {"integer", 3, c.ARG_INT}, z = {"size", "2K", c.ARG_SIZE}, b = {"bool", true},
  l = {"list", {"a", "b"}}, lt = {"list", {"c"}, c.ARG_LIST}, ls = {"list", "d,e", c.ARG_LIST},
  ["with-dash"] = {"dash", "d"}, with_us = {"under", "u"} }
function prepare()
  local o = sysbench.opt
  for _, k in ipairs{"s", "sd", "n", "f", "i", "z", "b", "l", "lt", "ls", "with_dash", "with_us"} do
    local v = o[k]
    print(k, type(v), type(v) == "table" and table.concat(v, "|") or v)
  end
  print(o["with-dash"], o.nothing, o.threads, o.percentile, o.thread_stack_size, o.debug)
end
"""


def test_option_values(folder):
    assert folder.lua(OPTIONS, "prepare").lines == [
        "s\tstring\t", "sd\tstring\tx", "n\tnumber\t7", "f\tnumber\t0.5", "i\tnumber\t3",
        "z\tnumber\t2048", "b\tboolean\ttrue", "l\ttable\ta|b", "lt\ttable\tc", "ls\ttable\td|e",
        "with_dash\tstring\td", "with_us\tstring\tu", "nil\tnil\t1\t95\t65536\tfalse"]
    r = folder.lua(OPTIONS, "--s=q", "--n=1.5", "--i=-4", "--z=3M", "--b=off", "--l=p,q,,r",
                   "--lt=", "--with_dash=A", "--with-us=B", "--threads=2", "prepare")
    assert r.lines == ["s\tstring\tq", "sd\tstring\tx", "n\tnumber\t1.5", "f\tnumber\t0.5",
                       "i\tnumber\t-4", "z\tnumber\t3145728", "b\tboolean\tfalse",
                       "l\ttable\tp|q|r", "lt\ttable\t", "ls\ttable\td|e", "with_dash\tstring\tA",
                       "with_us\tstring\tB", "nil\tnil\t2\t95\t65536\tfalse"]


def test_workers_see_the_same_options(folder):
    r = folder.run("""
sysbench.cmdline.options = { mine = {"own", "x"} }
function event()
  local n, seen = 0, {}
  print("direct", sysbench.opt.mine, sysbench.opt.threads)
  sysbench.opt.threads = 5
  for k, v in pairs(sysbench.opt) do n = n + 1 seen[k] = v end
  print("walk", n > 30, seen.mine, seen.threads, seen.rand_type, seen.verbosity)
  print("missing", sysbench.opt.nosuch, sysbench.opt.mine)
  return true
end
""", "--mine=y", "--threads=1")
    assert "direct\ty\t1" in r.lines and "missing\tnil\ty" in r.lines
    assert "walk\ttrue\ty\t5\tuniform\t3" in r.lines


@pytest.mark.sanitized
def test_validators(folder):
    text = """
local function check(want) return function (n, v) print(n, v, type(v)) return v == want end end
sysbench.cmdline.options = {
  a = {"a", "x", sysbench.cmdline.ARG_STRING, check("1")},
  b = {"b", "x", sysbench.cmdline.ARG_STRING, check("2")},
  c = {"c", "x", sysbench.cmdline.ARG_STRING, function () end},
  d = {"d", "x", sysbench.cmdline.ARG_STRING, function () error("boom") end} }
function prepare() print(sysbench.opt.a, sysbench.opt.b) end
"""
    r = folder.lua(text, "--a=1", "--b=2", "prepare")
    assert r.lines == ["a\t1\tstring", "b\t2\tstring", "1\t2"] and r.status == 0
    r = folder.lua(text, "--a=2", "prepare")
    assert r.status == 1 and r.err == "--a=2: the script refuses this value\n"
    r = folder.lua(text, "--c=2", "prepare")
    assert r.status == 1 and r.err == "--c=2: the script refuses this value\n"
    r = folder.lua(text, "--d=2", "prepare")
    assert r.status == 1 and "t.lua:7: boom" in r.err
    r = folder.lua(text, "--a=mysql://u:s3cret@h", "prepare")
    assert r.status == 1 and "refuses this value" in r.err and "s3cret" not in r.err


@pytest.mark.parametrize("name, given, version", [
    ("threads", "--threads", ""), ("threads", "--num-threads", ""), ("report_interval", "--report-interval", ""),
    ("workers", "--workers", ""), ("quiet", "--quiet", ""), ("mysql_port", "--mysql-port", ""),
    ("workers", "--workers", "1.0"), ("think_time", "--think-time", "1.1")])
def test_validators_of_options_that_bench_has_too(folder, name, given, version):
    text = f"""
sysbench.cmdline.options = {{{name} = {{"", 2, sysbench.cmdline.ARG_INT, function (n, v)
  print("validate", n, v)
  return tonumber(v) <= 1
end}}}}
function prepare() print("opt", sysbench.opt.{name}) end
"""
    r = folder.lua(text, f"{given}=9", "prepare", BENCH_COMPAT=version)
    assert (r.status, r.lines[-1]) == (1, f"validate\t{name}\t9")
    refusal = f"invalid option: --{name}=9" if version else f"--{name}=9: the script refuses this value"
    assert r.err.splitlines()[-1] == refusal
    r = folder.lua(text, f"{given}=1", "prepare", BENCH_COMPAT=version)
    assert r.status == 0 and r.lines[-2:] == [f"validate\t{name}\t1", "opt\t1"], r.out + r.err
    r = folder.lua(text, "prepare", BENCH_COMPAT=version)
    assert r.status == 0 and r.lines[-1] == "opt\t2" and "validate" not in r.out, r.out + r.err


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_validator_sees_no_value_that_is_not_used(folder, version):
    """Sysbench calls it for no option of its own, whose typed value the script's default replaces."""
    r = folder.lua("sysbench.cmdline.options = {threads = {'', 2, sysbench.cmdline.ARG_INT, function () end}}\n"
                   "function prepare() print('opt', sysbench.opt.threads) end", "--threads=9", "prepare",
                   BENCH_COMPAT=version)
    assert (r.status, r.lines[-1]) == (0, "opt\t2")


def test_help_lists_options_by_name(folder):
    r = folder.lua(OPTIONS, "help")
    names = re.findall(r"^  --([a-z_-]+)", r.out, re.M)
    assert names == sorted(names) and len(names) == 12 and r.lines[0] == "t.lua options:"
    assert re.search(r"^  --z=SIZE +size \[2K\]$", r.out, re.M)


def test_printed_options_have_no_heading(folder):
    r = folder.lua(OPTIONS + "function prepare() sysbench.cmdline.print_test_options() end", "prepare")
    rows = folder.lua(OPTIONS, "help").out
    assert "t.lua options:\n" + r.out == rows


def test_switches_without_a_default(folder):
    text = "sysbench.cmdline.options = {b = {'b', nil, sysbench.cmdline.ARG_BOOL}}\n" \
           "function prepare() print(sysbench.opt.b) end"
    for version, bare in (("", "false"), ("1.0", "true"), ("1.1", "true")):
        for argument, value in (((), bare), (("--b",), "true"), (("--b=off",), "false")):
            assert folder.lua(text, *argument, "prepare", BENCH_COMPAT=version).lines == [value]
        r = folder.lua(text, "help", BENCH_COMPAT=version)
        assert "  --b[=on|off] b\n" in r.out


# --- sysbench.rand --------------------------------------------------------------------------------


def draw(folder, expression, n=20000, *args):
    r = folder.run("function event() for i = 1, %d do print(('%%.17g'):format(tonumber(%s))) end "
                   "return true end" % (n, expression), "--rand-seed=1", *args)
    return [float(x) for x in re.findall(r"^-?[\d.e+-]+$", r.out, re.M)]


@pytest.mark.parametrize("function,mean,tolerance", [
    ("uniform", 500.5, 9), ("gaussian", 500.5, 3), ("special", 501.4, 2), ("pareto", 122.4, 7),
    ("zipfian", 214.5, 8), ("default", 500.5, 9)])
def test_distributions(folder, function, mean, tolerance):
    values = draw(folder, "sysbench.rand.%s(1, 1000)" % function)
    assert len(values) == 20000 and min(values) >= 1 and max(values) <= 1000
    assert all(v == int(v) for v in values[:100])
    assert abs(sum(values) / len(values) - mean) < tolerance


@pytest.mark.slow
def test_default_follows_the_option(folder):
    values = draw(folder, "sysbench.rand.default(1, 1000)", 20000, "--rand-type=pareto")
    assert abs(sum(values) / len(values) - 122.4) < 7


def test_large_and_negative_ranges(folder):
    values = draw(folder, "sysbench.rand.uniform(1, 2^53)", 2000)
    assert len(set(values)) == 2000 and max(values) > 2**52 and min(values) >= 1
    values = draw(folder, "sysbench.rand.uniform(2^40, 2^40 + 9)", 500)
    assert set(values) == {2**40 + i for i in range(10)}
    values = draw(folder, "sysbench.rand.uniform(-3, 3)", 500)
    assert set(values) == set(range(-3, 4))
    assert set(draw(folder, "sysbench.rand.uniform(7, 7)", 9)) == {7}
    values = draw(folder, "sysbench.rand.uniform(-6.9e18, 6.9e18)", 2000)
    assert -6.9e18 <= min(values) < -6e18 and 6e18 < max(values) <= 6.9e18
    assert abs(sum(values) / 2000) < 5e17


def test_other_numbers(folder):
    values = draw(folder, "sysbench.rand.uniform_double()", 5000)
    assert 0 <= min(values) and max(values) < 1 and abs(sum(values) / 5000 - 0.5) < 0.02
    values = draw(folder, "sysbench.rand.unique()", 5000)
    assert len(set(values)) == 5000 and max(values) < 2**32
    values = draw(folder, "sysbench.rand.uniform_uint64()", 500)
    assert len(set(values)) == 500 and max(values) > 2**62


def test_strings(folder):
    r = folder.run("""
function event()
  local r = sysbench.rand
  print("s", r.string("a-##-@@-#"), #r.string(""), #r.string(("#"):rep(100000)))
  local short, long = 99, 0
  for i = 1, 2000 do
    local s = r.varstring(3, 7)
    assert(s:match("^[0-z]+$"))
    short, long = math.min(short, #s), math.max(long, #s)
  end
  print("v", short, long, #r.varstring(5, 5))
  print(pcall(r.varstring, 5, 2))
  print(pcall(r.uniform, 1))
  print(pcall(r.uniform))
  return true
end
""")
    assert re.search(r"^s\ta-\d\d-[a-z]{2}-\d\t0\t100000$", r.out, re.M)
    assert "v\t3\t7\t5" in r.lines
    assert "false\t[string \"sysbench.rand.lua\"]:74: assertion failed!" in r.lines
    for n in (1, 2):
        assert ("false\tbad argument #%d to '?' (cannot convert 'nil' to 'unsigned int')" % n
                in r.lines)


@pytest.mark.parametrize("form", ["", "1.1"])
def test_a_string_has_no_negative_length(folder, form):
    r = folder.run("""
function event()
  for i = 1, 200 do
    assert(#sysbench.rand.varstring(0, 5) <= 5)
    local ok, why = pcall(sysbench.rand.varstring, -1, 5)
    assert(not ok and why == "varstring: the shortest length is -1; it must be at least 0", why)
  end
  for n = 1, 2 do
    local ok, why = pcall(sysbench.rand.varstring, n > 1 and 1 or nil)
    assert(not ok and why:find("#" .. n .. " to '?' (cannot convert 'nil'", 1, true), why)
  end
  local data = ffi.C.bn_ffi_rand_chars(5)
  print("long", data ~= nil, ffi.C.bn_ffi_rand_chars(-1ULL) == nil)
end
""", "--events=1", BENCH_COMPAT=form)
    assert "long\ttrue\ttrue" in r.lines and r.status == 0, r.out


@pytest.mark.parametrize("form", ["", "1.1"])
def test_fields_that_do_not_exist(folder, form):
    r = folder.run("""
print("main", sysbench.nothing, getmetatable(sysbench) == nil)
function event() print("worker", sysbench.nothing, sysbench.result) end
""", "--events=1", BENCH_COMPAT=form)
    assert f"main\tnil\t{'true' if form else 'false'}" in r.lines
    assert "worker\tnil\tnil" in r.lines and r.status == 0, r.out


def test_random_numbers_before_a_run(folder):
    text = "print(sysbench.rand.uniform(1, 1e9), sysbench.rand.unique())"
    assert re.fullmatch(r"\d+\t\d+\n", folder.lua(text).out)


# --- sysbench.histogram ---------------------------------------------------------------------------


def test_histogram(folder):
    r = folder.lua("""
local h = sysbench.histogram.new(64, 1, 1000)
for i = 1, 10 do h:update(i * 10) end
h:update(0.5) h:update(5000) h:update(5000)
h:print()
print(tostring(h), pcall(sysbench.histogram.new, 1, 1, 1000))
""")
    rows = [line.split() for line in r.lines if "|" in line]
    assert [(float(row[0]), int(row[-1])) for row in rows] == [
        (1, 1), (10, 1), (19.307, 1), (29.936, 1), (41.596, 1), (51.795, 1), (57.797, 1),
        (71.969, 1), (80.309, 1), (89.615, 1), (100, 1), (1000, 2)]
    assert r.lines[0].split() == ["value", "-------------", "distribution", "-------------",
                                  "count"]
    assert r.lines[-1].startswith("<sb_histogram>\tfalse\t")


# --- hooks ----------------------------------------------------------------------------------------

SLEEP = """
ffi.cdef("int usleep(unsigned);")
function event() ffi.C.usleep(10000) end
"""
# Its events end the run once a hook has called enough().
ENOUGH = """
ffi.cdef("int usleep(unsigned); int access(const char *, int);")
function enough() io.open("enough", "w"):close() end
function event() ffi.C.usleep(10000) return ffi.C.access("enough", 0) == 0 end
"""


def test_intermediate_statistics(folder):
    r = folder.run(ENOUGH + """
function sysbench.hooks.report_intermediate(s)
  local k = {} for f in pairs(s) do k[#k + 1] = f end table.sort(k)
  n, seen = (n or 0) + 1, (seen or 0) + s.events
  if n > 1 and seen > 20 then enough() end
  print("I", sysbench.tid, s.threads_running, s.events, s.time_interval, s.time_total,
    s.latency_pct, table.concat(k, " "))
end
""", "--threads=2", "--time=600", "--report-interval=0.1")
    rows = [line.split("\t") for line in r.lines if line.startswith("I\t")]
    assert len(rows) >= 2 and "eps:" not in r.out.split("Throughput")[0]
    before = 0
    for _, tid, running, events, interval, total, latency, keys in rows:
        assert tid == "2" and running in "012"
        # Events of 10 ms; one of each thread may have begun before.
        assert 0 <= int(events) <= 200 * float(interval) + 2
        assert float(latency) >= 0.01 or events == "0"
        assert 0 < float(interval) and float(total) == pytest.approx(before + float(interval), abs=1e-6)
        before = float(total)
        assert keys == ("concurrency errors events latency_pct other queue_length reads reconnects "
                        "threads_running time_interval time_total writes")


def test_cumulative_statistics(folder):
    r = folder.run(ENOUGH + """
function sysbench.hooks.report_cumulative(s)
  enough()
  print("C", sysbench.tid, s.threads_running, s.events, s.latency_min, s.latency_avg,
    s.latency_max, s.latency_sum)
end
""", "--threads=2", "--time=600", "--report-checkpoints=1")
    rows = [line.split("\t")[1:] for line in r.lines if line.startswith("C\t")]
    # At the end no thread runs any more: the hook is told how many there were.
    assert [row[:2] for row in rows] == [["2", "2"], ["0", "2"]]
    for row in rows[:1]:  # between the checkpoint and the end there may be no event
        n, low, mean, high, total = [float(x) for x in row[2:]]
        assert 0 < n and 0.01 <= low <= mean <= high and abs(mean * n - total) < 1e-6
    assert "Throughput:" not in r.out and re.search(r"^\[ \d+s \] Checkpoint report:$", r.out, re.M)


def test_percentiles(folder):
    """All ranks in every hook, under a name that pairs() does not show."""
    text = """
ffi.cdef("int usleep(unsigned); int access(const char *, int);")
local n = 0
function event()
  n = n + 1
  ffi.C.usleep(n % 10 == 0 and 40000 or 1000)
  return ffi.C.access("interval", 0) == 0 and ffi.C.access("cumulative", 0) == 0
end
local function show(name)
  return function (s)
    local t, seen = {}, false
    -- A machine that stands still makes reports of few events.
    if s.events > 20 then io.open(name, "w"):close() end
    for i, p in ipairs(s.percentiles) do t[i] = p.rank .. "=" .. p.latency end
    for k in pairs(s) do seen = seen or k == "percentiles" end
    print("P", name, s.latency_pct, s.events, tostring(seen), table.concat(t, " "))
  end
end
sysbench.hooks.report_intermediate = show("interval")
sysbench.hooks.report_cumulative = show("cumulative")
"""
    args = ("--time=600", "--report-interval=0.5", "--report-checkpoints=1,2,3,4,5,6,7,8,9")

    def reports(*more):
        for name in "interval", "cumulative":
            (folder.path / name).unlink(missing_ok=True)
        return [line.split("\t")[1:] for line in folder.run(text, *args, *more).lines
                if line.startswith("P\t")]

    rows = reports("--percentile=95,50,99.5,80")
    long = [row for row in rows if int(row[2]) > 20]
    assert {row[0] for row in long} == {"cumulative", "interval"}
    for name, first, events, seen, values in rows:
        pairs = [tuple(map(float, p.split("="))) for p in values.split()]
        assert [rank for rank, _ in pairs] == [95, 50, 80, 99.5] and seen == "false"
        assert pairs[0][1] == float(first)
    for name, first, events, seen, values in long:
        latency = dict(tuple(map(float, p.split("="))) for p in values.split())
        # Nine of ten events take 1 ms, one takes 40 ms; a busy machine adds to each.
        assert 0.001 <= latency[50] <= latency[80] <= latency[95] <= latency[99.5]
        assert 0.04 <= latency[95]
    assert {row[4] for row in reports("--percentile=0")} == {""}


def test_percentiles_without_events(folder):
    r = folder.run("""
ffi.cdef("int usleep(unsigned); int access(const char *, int);")
function event() while ffi.C.access("enough", 0) ~= 0 do ffi.C.usleep(1000) end end
function sysbench.hooks.report_intermediate(s)
  local p = s.percentiles
  io.open("enough", "w"):close()
  print("P", s.events, s.latency_pct, p[1].latency, p[2].latency, p[3])
end
""", "--events=1", "--time=600", "--report-interval=0.1", "--percentile=95,50")
    assert "P\t0\t1e-06\tnil\tnil\tnil" in r.lines


def test_report_json(folder):
    r = folder.run(SLEEP + "sysbench.hooks.report_intermediate = sysbench.report_json",
                   "--time=2", "--report-interval=0.2")
    start, end = r.out.index("[\n"), r.out.index("\n]\n") + 3
    rows = json.loads(r.out[start:end])
    times = [row["time"] for row in rows]
    assert len(times) >= 2 and times == sorted(times)
    assert sorted(rows[0]) == ["errors", "latency", "qps", "reconnects", "threads", "time", "tps"]
    assert all(0 <= row["tps"] <= 120 and row["qps"]["total"] == 0 for row in rows)
    assert max(row["tps"] for row in rows) > 0
    assert r.reported and r.out.index("Throughput:") > end


def test_report_json_of_totals(folder):
    hook = "sysbench.hooks.report_cumulative = sysbench.report_json\n"
    event = "function event() end\n"
    for version in ("", "1.0"):
        r = folder.run(hook + event + "function done() print('done') end", "--events=3",
                       BENCH_COMPAT=version)
        start = r.out.index("[\n")
        assert r.out.endswith("}done\n\n]\n")
        assert len(json.loads(r.out[start:].replace("done", ""))) == 1
    # Checkpoints are an array of their own, which ends before the total begins.
    r = folder.run(hook + SLEEP, "--time=2.5", "--report-checkpoints=1,2")
    text = re.sub(r"\[ \d+s \] Checkpoint report:\n", "", r.out[r.out.index("s ] Checkpoint report:") - 3:])
    checkpoints, total = re.findall(r"^\[$.*?^\]$", text, re.M | re.S)
    assert [len(json.loads(a)) for a in (checkpoints, total)] in ([2, 1], [1, 1])


@pytest.mark.parametrize("version", ["", "1.0", "1.1"])
def test_a_report_of_totals_has_its_time_and_threads(folder, version):
    """Outside of the dialects, with any of the ready-made reports: sysbench has no threads, and whole seconds."""
    seen = {}
    for form in "json", "csv", "default":
        r = folder.run(f"function event() end sysbench.hooks.report_cumulative = sysbench.report_{form}", "--threads=3",
                       "--time=1", "--verbosity=0", BENCH_COMPAT=version)
        seen[form] = r.out
    total, = json.loads(seen["json"])
    time = seen["json"].split('"time":')[1].split(",")[0].strip()
    assert total["threads"] == (0 if version else 3) and re.fullmatch(r"1" if version else r"1(\.\d{4})?", time)
    assert seen["csv"].startswith("1,0," if version else "1,3,")
    assert seen["default"].startswith("[ 1s ] thds: 0 " if version else "[ 1s ] thds: 3 ")


TEXTS = """
function event()
  for _, name in ipairs{"default", "uniform", "gaussian", "pareto", "zipfian", "special"} do
    local n = sysbench.rand[name]("2", sysbench.opt.rows or "4")
    print(name, n >= 2 and n <= 4)
  end
  print("varstring", #sysbench.rand.varstring("3", "3"))
  print("sum", sysbench.rand.uniform("1.9", 1), sysbench.rand.uniform(7, "0x7"))
  print(pcall(sysbench.rand.uniform, "1", "many"))
end
"""


def test_random_numbers_take_bounds_that_are_texts(folder):
    """Values of options that a script does not declare are texts."""
    r = folder.run(TEXTS, "--events=1")
    assert r.status == 0 and r.err == "", r.err
    assert [line.split("\t")[1] for line in r.lines if line.split("\t")[0] in (
        "default", "uniform", "gaussian", "pareto", "zipfian", "special")] == ["true"] * 6
    assert "varstring\t3" in r.lines and "sum\t1\t7" in r.lines
    assert "false\tbad argument #2 to 'uniform' (a number expected, got 'many')" in r.out.replace("t.lua:9: ", "")


def test_report_csv_and_default(folder):
    args = ("--time=1", "--report-interval=0.1")
    r = folder.run(SLEEP + "sysbench.hooks.report_intermediate = sysbench.report_csv", *args)
    assert re.search(r"^\d+,1,\d+\.\d\d,0\.00,0\.00,0\.00,0\.00,\d+\.\d\d,0\.00,0\.00$", r.out, re.M)
    r = folder.run(SLEEP + "sysbench.hooks.report_intermediate = sysbench.report_default", *args)
    assert re.search(r"^\[ \S+s \] thds: 1 tps: \d+\.\d\d qps: 0\.00 \(r/w/o: 0\.00/0\.00/0\.00\) "
                     r"lat \(ms,95%\): \d+\.\d\d err/s: 0\.00 reconn/s: 0\.00$", r.out, re.M)


def test_restart(folder):
    text = """
local tries = 0
function sysbench.hooks.before_restart_event(e) print("again", e.errcode, e.mine) end
function event()
  tries = tries + 1
  if tries < 4 then error({errcode = sysbench.error.RESTART_EVENT, mine = tries}) end
end
"""
    r = folder.run(text, "--events=1")
    assert [line for line in r.lines if "again" in line] == ["again\t1\t%d" % i for i in (1, 2, 3)]
    assert (r.events, r.status) == (1, 0)


def test_restart_ends_with_the_run(folder):
    text = "function event() error({errcode = sysbench.error.RESTART_EVENT}) end"
    r = folder.run(text, "--time=0.3", "--threads=2")
    assert (r.events, r.status) == (0, 5)
    assert 0.3 <= float(re.search(r"time elapsed: +([\d.]+)s", r.out).group(1))


# --- ffi.C ----------------------------------------------------------------------------------------


@pytest.mark.sanitized
def test_own_loop_and_counters(folder):
    r = folder.run("""
ffi.cdef[[void sb_counter_inc(int, sb_counter_type);]]
function thread_run(id)
  while ffi.C.sb_more_events(id) do
    ffi.C.sb_event_start(id)
    ffi.C.sb_counter_inc(id, ffi.C.SB_CNT_READ)
    for i = 1, 2 do ffi.C.sb_counter_inc(id, ffi.C.SB_CNT_WRITE) end
    ffi.C.sb_counter_inc(id, "SB_CNT_OTHER")
    ffi.C.sb_counter_inc(id, ffi.C.SB_CNT_ERROR)
    ffi.C.sb_event_stop(id)
  end
end
function sysbench.hooks.report_cumulative(s)
  print("counts", s.reads, s.writes, s.other, s.errors, s.events, s.reconnects)
end
""", "--events=5", "--threads=2")
    assert "counts\t5\t10\t5\t5\t5\t0" in r.lines and r.status == 0


def test_own_loop_measures_the_event_only(folder):
    r = folder.run("""
ffi.cdef("int usleep(unsigned);")
function thread_run(id)
  while ffi.C.sb_more_events(id) do
    ffi.C.usleep(50000)
    ffi.C.sb_event_start(id)
    ffi.C.usleep(1000)
    ffi.C.sb_event_stop(id)
  end
end
""", "--events=10")
    # A busy machine makes some events longer, but not the shortest.
    assert r.events == 10 and 1 <= float(re.search(r"min: +([\d.]+)", r.out).group(1)) < 50


@pytest.mark.parametrize("form", ["", "1.0"])
@pytest.mark.parametrize("loop,counted", [
    ("""
function event() end
function thread_run(id)
  for n = 1, 99 do
    if not ffi.C.sb_more_events(id) then break end
    ffi.C.sb_event_start(id)
    if n % 2 == 0 then ffi.C.sb_event_stop(id) end
  end
end
""", 5),
    ("function event() ffi.C.sb_event_start(0) end", 10),
    ("function event() ffi.C.sb_event_stop(0) end", 10),
    ("function event() ffi.C.sb_event_start(0) ffi.C.sb_event_stop(0) end", 20)])
def test_starts_and_stops_that_do_not_match(folder, loop, counted, form):
    """An event that is not stopped uses its ticket; as sysbench 1.0 it is not counted."""
    r = folder.run(loop, "--events=10", "--time=0", "--report=json:r.json", BENCH_COMPAT=form)
    raw = json.loads((folder.path / "r.json").read_text())["groups"][0]["total"]["raw"]
    assert r.status == 0 and raw["counters"]["events"] == counted
    assert raw["unfinished"] == 0 and abs(raw["unfinished_s"]) < 1e-9


def test_random_functions_by_their_old_names(folder):
    r = folder.run("""
function event()
  local C = ffi.C
  for _, n in ipairs{"default", "uniform", "gaussian", "special", "pareto", "zipfian"} do
    local v = C["sb_rand_" .. n](3, 9)
    assert(v >= 3 and v <= 9)
  end
  -- A script uses its buffer again: what was there before must not follow.
  local b = ffi.new("char[32]")
  ffi.fill(b, 31, 122)
  C.sb_rand_str("##-@@", b)
  assert(ffi.string(b):match("^%d%d%-%l%l$"))
  assert(C.sb_rand_varstr(b, 4, 4) == 4)
  assert(C.sb_rand_uniform_double() < 1 and C.sb_rand_unique() ~= C.sb_rand_unique())
  assert(type(C.sb_rand_uniform_uint64()) == "cdata")
  local h = C.sb_histogram_new(10, 1, 100)
  C.sb_histogram_update(h, 10)
  C.sb_histogram_print(h)
  C.sb_histogram_delete(h)
  print("all there")
  return true
end
""")
    assert "all there" in r.lines and r.out.count("|****") == 1, r.out


# --- environments ---------------------------------------------------------------------------------


def test_code_loaded_later_shares_the_globals(folder):
    folder.file("part.lua", "part_ran = (part_ran or 0) + 1 function from_part() return x end")
    r = folder.lua("""
x = 1
loadstring("x = x + 1")() load(function () local s = code code = nil return s end)
assert(_G.x == 2 and _G._G == _G and getfenv(0) == _G and getfenv(1) == _G)
loadfile("part.lua")() dofile("part.lua")
print(part_ran, from_part(), require("part"), require("part"), part_ran)
setfenv(1, {print = print}) print(x)
""")
    assert r.lines == ["2\t2\ttrue\ttrue\t3", "nil"]


@pytest.mark.sanitized
def test_require(folder):
    folder.file("lib/one.lua", "return {name = ..., loaded = package.loaded['lib.one'] ~= nil}")
    folder.file("lib/init.lua", "return 'init'")
    folder.file("old.lua", "module('old', package.seeall) function f() return 42 end")
    folder.file("loop.lua", "local m = require('loop') return m")
    folder.file("bad.lua", "return = 1")
    folder.file("fails.lua", "error('inside')")
    r = folder.lua("""
print(require("lib.one").name, require("lib.one").loaded, require("lib"))
require("old") print(old.f(), package.loaded.old == old)
for _, n in ipairs{"loop", "bad", "fails", "nosuch"} do print(select(2, pcall(require, n))) end
package.preload.pre = function (n) return n .. "!" end
print(require("pre"), require("ffi") == ffi, require("string") == string, package.loaded._G == _G)
package.path = "./lib/?.lua" print(require("one").name)
""")
    assert r.lines[:2] == ["lib.one\ttrue\tinit", "42\ttrue"]
    assert "./loop.lua:1: loop or previous error loading module 'loop'" in r.out
    assert ("error loading module 'bad' from file './bad.lua':\n\t./bad.lua:1: unexpected symbol "
            "near '='" in r.out)
    assert "./fails.lua:1: inside" in r.lines
    assert "module 'nosuch' not found:\n\tno field package.preload['nosuch']\n\tno file './nosuch" \
        in r.out
    assert r.lines[-2:] == ["pre!\ttrue\ttrue\ttrue", "one"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_require_finds_submodules_in_the_library_of_their_root(folder):
    source = folder.file("a.c", "int luaopen_a_b(void *L) { (void)L; return 0; }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder.path / "a.so", source], check=True)
    folder.file("broken.so", "")
    r = folder.lua("""
package.cpath = "./?.so"
print(require("a.b"))
for _, n in ipairs{"a.c", "nosuch.b", "broken.b", "a"} do print(select(2, pcall(require, n))) end
package.loaders[5] = function (n) return function () return "fifth" end end
print(require("a.c"))
""")
    assert r.lines[0] == "true"
    assert "\n\tno file './a/c.so'\n\tno module 'a.c' in file './a.so'\n" in r.out
    assert "\n\tno file './nosuch/b.so'\n\tno file './nosuch.so'\n" in r.out
    assert "error loading module 'broken.b' from file './broken.so':\n\t./broken.so: " in r.out
    assert "error loading module 'a' from file './a.so':\n\t./a.so: undefined symbol: luaopen_a\n" \
        in r.out
    assert r.lines[-1] == "fifth"


def test_search_paths(folder):
    show = "print(package.path) print(package.cpath)"
    path, cpath = folder.lua(show, HOME="/h").lines
    assert path.startswith("./?.lua;./?/init.lua;./src/lua/?.lua;/h/.luarocks/share/lua/5.1/?.lua;"
                           "/h/.luarocks/share/lua/5.1/?/init.lua;/h/.luarocks/share/lua/?.lua;"
                           "/h/.luarocks/share/lua/?/init.lua;/usr/local/share/lua/5.1/?.lua;"
                           "/usr/share/lua/5.1/?.lua;/")
    assert re.search(r"/bench/\?\.lua;$", path)
    assert cpath.startswith("./?.so;/h/.luarocks/lib/lua/5.1/?.so;/h/.luarocks/lib/lua/?.so;"
                            "/usr/local/lib/lua/5.1/?.so;/usr/lib/lua/5.1/?.so;")
    a, b = folder.lua(show, HOME="/h", LUA_PATH="/a/?.lua", LUA_CPATH="/b/?.so;;/c/?.so").lines
    assert a == "/a/?.lua" and b == "/b/?.so;" + cpath + "/c/?.so"


def test_library_tables_are_whole(folder):
    r = folder.lua("""
local n = {}
for _, lib in ipairs{"string", "table", "math", "io", "os", "debug", "bit", "jit", "coroutine"} do
  local c = 0 for _ in pairs(_G[lib]) do c = c + 1 end n[#n + 1] = c > 5
end
print(#n, n[1] and n[9], ("x"):rep(3), bit.bor(5, 2), type(ffi.C), 7 / 2, 1e3, unpack{1, 2})
""")
    assert r.out == "9\ttrue\txxx\t7\tuserdata\t3.5\t1000\t1\t2\n"


def test_children_do_not_inherit_blocked_signals(folder):
    r = folder.run("""
function event()
  os.execute("grep SigBlk /proc/self/status")
  local p = io.popen("grep SigBlk /proc/self/status")
  print((p:read("*a"):gsub("\\n", "")))
  p:close()
  print("status", os.execute("exit 3"))
  return true
end
""")
    masks = re.findall(r"SigBlk:\s+([0-9a-f]+)", r.out)
    assert len(masks) == 2
    assert all(int(m, 16) & (1 << 1 | 1 << 14) == 0 for m in masks)
    assert "status\t%d" % (3 << 8) in r.lines


COUNTS = {
    "pairs": "for k in pairs(t) do n = n + 1 end",
    "next": "for k in next, t do n = n + 1 end",
    "next called": "local k = next(t) while k do n, k = n + 1, next(t, k) end",
    "rawget": "for _, k in ipairs(known) do n = n + (rawget(t, k) and 1 or 0) end",
}


@pytest.mark.parametrize("way", COUNTS)
def test_libraries_are_whole_for_workers(folder, way):
    """They are filled when they are used; nobody who walks through one sees it empty."""
    r = folder.run("""
local names = {"io", "os", "debug", "bit", "math", "string", "table", "sysbench"}
local known = {"floor", "sin", "time", "open", "band", "getinfo", "sql", "rep", "sort"}
local function count(name)
  local n, t = 0, _G[name]
  %s
  return n
end
function init() for _, name in ipairs(names) do print("main", name, count(name)) end end
function event()
  for _, name in ipairs(names) do print("worker", name, count(name)) end
end
""" % COUNTS[way], "--events=1")
    found = {kind: {w[1]: int(w[2]) for w in map(str.split, r.lines) if w[:1] == [kind]}
             for kind in ("main", "worker")}
    assert r.status == 0 and len(found["main"]) == 8 and min(found["main"].values()) >= 1
    assert found["worker"] == found["main"]


@pytest.mark.sanitized
def test_lines_of_threads_do_not_mix(folder):
    r = folder.run("function event(id) print('line', id, ('x'):rep(200), 'end') end",
                   "--threads=4", "--events=4000", "--time=0")
    lines = [line for line in r.lines if "line" in line]
    assert len(lines) == 4000
    assert all(re.fullmatch(r"line\t\d\tx{200}\tend", line) for line in lines)


def test_versions(folder):
    text = "print(sysbench.version, sysbench.version_string, sysbench.error.RESTART_EVENT)"
    assert folder.lua(text).out == "1.1.0\tsysbench 1.1.0\t1\n"
    assert folder.lua(text, BENCH_COMPAT="1.0").out == "1.0.20\tsysbench 1.0.20\t1\n"


# --- names of the 0.5 interface -------------------------------------------------------------------

OLD = """
function prepare()
  print(type(db_query), type(sb_rand), thread_id, test, threads, mysql_table_engine,
    DB_ERROR_FAILED)
  print(pairs == require("string") and 0 or type(debug), rawget(_G, "db_query") ~= nil)
end
"""


def test_old_names(folder):
    want = "function\tfunction\t0\tt.lua\t3\tinnodb\t2"
    # They become globals when they are used.
    assert folder.lua("print(rawget(_G, 'db_query'))" + OLD, "--threads=3", "prepare").lines == [
        "nil", want, "table\ttrue"]
    r = folder.lua(OLD, "--threads=3", "--free=1", "prepare", BENCH_COMPAT="1.0")
    assert r.lines == [want, "boolean\ttrue"]
    none = "nil\tnil\tnil\tnil\tnil\tnil\tnil"
    assert folder.lua(OLD, "prepare", BENCH_COMPAT="1.1").lines == [none, "table\tfalse"]
    # A script that declares options may use the functions all the same, as in 1.0.
    modern = "sysbench.cmdline.options = {x = {'x', 1}}" + OLD
    assert folder.lua(modern, "prepare").lines == [
        "function\tfunction\tnil\tnil\tnil\tnil\tnil", "table\tfalse"]
    assert folder.lua(modern, "prepare", BENCH_COMPAT="1.1").lines == [none, "table\tfalse"]


def test_old_functions_that_raise_nothing(folder):
    text = """
function prepare()
  db_bulk_insert_init("INSERT INTO missing VALUES")
  db_bulk_insert_next("(1)")
  print("done", pcall(db_bulk_insert_done))
  local stmt, values = db_prepare("SELECT abs(-9223372036854775807 - ?)"), {1}
  db_bind_param(stmt, values)
  local ok, rs = pcall(db_execute, stmt)
  print("execute", ok, type(rs), ok and (pcall(db_store_results, rs)), ok and (pcall(db_free_results, rs)))
  values[1] = 0
  print("goes on", pcall(db_execute, stmt))
end
"""
    ours = "done\tfalse\tdb_bulk_insert_done() failed", "execute\tfalse\tstring\tfalse\tfalse"
    want = {
        "": ours,
        "1.0": ("done\ttrue", "execute\ttrue\tuserdata\ttrue\ttrue"),
        "0.5": ("done\ttrue", "execute\tfalse\tnumber\tfalse\tfalse"),
    }
    for version, (done, execute) in want.items():
        r = folder.lua(text, "--db-driver=sqlite", "--sqlite-db=:memory:", "prepare",
                       BENCH_COMPAT=version)
        said = [s for s in r.lines if s.startswith(("done", "execute"))]
        assert said == [done, execute], version
        # A failure that nobody raises is told of all the same.
        told = r.out + r.err
        assert told.count("no such table: missing") == 1 and "integer overflow" in told, version
        assert "goes on\ttrue\tuserdata" in r.out and r.status == 0, version


@pytest.mark.sanitized
def test_old_statements_are_bound_at_once_in_1_0(folder):
    """A wrong number of values binds nothing; a statement without marks is done all the same."""
    text = """
function prepare()
  db_query("CREATE TABLE t(a INTEGER)")
  local none, one = db_prepare("INSERT INTO t VALUES (9)"), db_prepare("INSERT INTO t VALUES (?)")
  print("two for none", pcall(db_bind_param, none, {1, 2}))
  print("none", (pcall(db_execute, none)))
  db_bind_param(one, {5})
  print("three for one", pcall(db_bind_param, one, {6, 7, 8}))
  print("table", pcall(db_bind_param, one, {{}}))
  print("one", (pcall(db_execute, one)))
  print("rows", sysbench.sql.driver():connect():query_row("SELECT group_concat(a) FROM t"))
end
"""
    args = ("--db-driver=sqlite", "--sqlite-db=t.sqlite", "prepare")
    r = folder.lua(text, *args, BENCH_COMPAT="1.0")
    assert [s for s in r.lines if not s.startswith("FATAL")] == [
        "two for none\tfalse\t2", "none\ttrue", "three for one\tfalse\t3",
        "table\tfalse\tUnsupported variable type: table", "one\ttrue", "rows\t9,5"], r.out
    assert r.out.count("FATAL: sqlite3_bind() failed") == 2 and r.status == 0
    # The other forms bind when they execute.
    (folder.path / "t.sqlite").unlink()
    r = folder.lua(text, *args)
    assert "two for none\ttrue" in r.lines and "none\tfalse" in r.lines and "rows\tnil" in r.lines


def test_free_options_of_old_scripts(folder):
    text = "function prepare() print(oltp_size, sysbench.opt.oltp_size, flag == '') end"
    r = folder.lua(text, "--oltp-size=5", "--flag", "prepare", BENCH_COMPAT="1.0")
    assert (r.out, r.status) == ("5\t5\ttrue\n", 0)
    r = folder.lua(text, "--oltp-size=5", "prepare", BENCH_COMPAT="1.1")
    assert r.status == 1 and "invalid option: --oltp-size=5" in r.err


def test_old_random_functions(folder):
    r = folder.run("""
function event()
  for i = 1, 200 do
    local a, b, c = sb_rand(1, 9), sb_rand_uniform(1, 9), sb_rand_special(1, 9)
    assert(a >= 1 and a <= 9 and b >= 1 and b <= 9 and c >= 1 and c <= 9)
  end
  local seen, n = {}, 0
  for i = 1, 100 do seen[sb_rand_uniq(1, 100)] = true end
  for v in pairs(seen) do assert(v >= 1 and v <= 100) n = n + 1 end
  print("unique", n, sb_rand_str("##"):match("^%d%d$") ~= nil, sb_rnd() >= 0)
  return true
end
""")
    assert "unique\t100\ttrue\ttrue" in r.lines


def test_old_unique_numbers_follow_the_seed(folder):
    """Each run has others, so that a script may make its keys of them; in 0.5 they do not depend on the seed."""
    folder.file("t.lua", "function event() for i = 1, 3 do print(sb_rand_uniq(1, 1000000)) end end")

    def drawn(*args, **env):
        r = command(["t.lua", "--max-requests=1", "--max-time=0", *args, "run"], folder.path, **env)
        assert r.status == 0, r.err
        return [int(line) for line in r.lines if line.isdigit()]
    runs = [drawn(f"--rand-seed={seed}") for seed in (1, 2, 3)]
    assert len({n for run in runs for n in run}) == 9 and drawn("--rand-seed=1") == runs[0]
    assert drawn() != drawn()
    for seed in [], ["--rand-seed=7"]:
        assert drawn(*seed, BENCH_COMPAT="0.5") == [n * 2147483647 % 1000000 + 1 for n in (1, 2, 3)]


def test_luajit_command(folder):
    text = "function event() print('jit', (jit.status())) return true end"
    assert "jit\tfalse" in folder.run(text, "--luajit-cmd=off").lines
    assert "jit\ttrue" in folder.run(text).lines
    r = folder.run(text, "--luajit-cmd=nonsense")
    assert r.status == 1 and r.lines == [] and r.said == [
        "FATAL: unknown luaJIT command or jit.* modules not installed"]
    assert os.path.exists(str(folder.path / "t.lua"))
    r = command(["cpu", "--luajit-cmd=nonsense", "--events=1", "run"], folder.path)
    assert r.status == 0 and r.err == "--luajit-cmd has no effect: the cpu test is not a script\n"
    r = command(["cpu", "--luajit-cmd=nonsense", "--events=1", "run"], folder.path,
                BENCH_COMPAT="1.1")
    assert r.status == 0 and r.err == ""


def test_top_level_may_use_a_database(folder):
    """The main instance has a session from its first line on, and so has every other."""
    r = folder.run("""
local con = sysbench.sql.driver("null"):connect()
print("rows", con:query("SELECT 1").nrows)
function event() con:query("SELECT 1") end
function done() print("done", con:query("SELECT 1").nrows) end
""", "--events=1")
    assert r.out.count("rows\t1") == 2 and "done\t1" in r.lines and r.status == 0
    assert "SQL statistics:" in r.lines


@pytest.mark.sanitized
def test_open_objects_are_closed_at_the_end(folder):
    """Nothing is closed by the script; a sanitizer build would complain about what stays behind."""
    r = folder.run("""
function init() con = sysbench.sql.driver("null"):connect() st = con:prepare("SELECT 1") end
function thread_init()
  con = sysbench.sql.driver("null"):connect()
  st = con:prepare("SELECT ?")
  p = st:bind_create(sysbench.sql.type.INT)
  st:bind_param(p)
  h = sysbench.histogram.new(10, 1, 100)
end
function event() p:set(1) st:execute() h:update(2) end
function sysbench.hooks.report_cumulative()
  con:query("SELECT 2")
  print("reported")
end
""", "--threads=3", "--events=300")
    assert "reported" in r.lines and (r.err, r.status) == ("", 0)


# --- defaults of a script for options of the program ----------------------------------------------

DEFAULTS = """
sysbench.cmdline.options = {
  threads = {"", 2}, events = {"", 6}, time = {"", 0}, percentile = {"", 50}, ["report_interval"] = {"", 1},
  ["db-driver"] = {"", "sqlite"}, ["sqlite-db"] = {"", "own.sqlite"}, ["rand-seed"] = {"", 7}, rate = {"", 0},
  ["db-ignore-errors"] = {"", "duplicate"}
}
if sysbench.tid == 0 then first = sysbench.rand.uniform(1, 10) end
function thread_init() con = sysbench.sql.driver():connect() end
function event() print("opt", sysbench.opt.threads, sysbench.opt.events, sysbench.rand.uniform(1, 1000000)) end
"""


def test_defaults_of_a_script_count_for_options_of_the_program(folder):
    """Behind the command line and a configuration file, and before those of the program: as `help` shows them."""
    r = folder.run(DEFAULTS)
    assert (r.status, r.err) == (0, "") and r.events == 6 and "Number of threads: 2" in r.lines
    assert "50th percentile:" in r.out and (folder.path / "own.sqlite").exists()
    assert "[2]" in folder.lua(DEFAULTS, "help").out
    folder.file("c.cfg", "threads=3\nsqlite-db=file.sqlite\n")
    r = folder.run(DEFAULTS, "--config-file=c.cfg")
    assert "Number of threads: 3" in r.lines and (folder.path / "file.sqlite").exists()
    r = folder.run(DEFAULTS, "--config-file=c.cfg", "--threads=4", "--events=8", "--sqlite-db=typed.sqlite")
    assert "Number of threads: 4" in r.lines and r.events == 8 and (folder.path / "typed.sqlite").exists()
    assert all(line.startswith("opt\t4\t8") for line in r.lines if line.startswith("opt"))


def test_a_default_that_does_not_fit_the_option_of_the_program_is_refused(folder):
    r = folder.run('sysbench.cmdline.options = {threads = {"", "many"}} function event() end')
    assert (r.status, r.err) == (1, "FATAL: the default of option --threads, 'many', is none that bench can use\n")


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_in_a_dialect_defaults_of_a_script_count_for_options_of_drivers(folder, version):
    """Sysbench has read the others before the script."""
    r = folder.run(DEFAULTS, "--events=2", BENCH_COMPAT=version)
    assert r.status == 0 and "Number of threads: 1" in r.lines and "95th percentile:" in r.out
    assert (folder.path / "own.sqlite").exists()


@pytest.mark.parametrize("version, host", [("", "127.0.0.3"), ("1.0", "127.0.0.2"), ("1.1", "127.0.0.2")])
@pytest.mark.parametrize("is_typed", [True, False])
def test_the_driver_uses_the_value_that_the_script_sees(folder, version, host, is_typed):
    """Sysbench has read the command line before it sets the defaults of the script, and its drivers ask later."""
    folder.file("c.cfg", "mysql-host=127.0.0.3\n")
    given = "--mysql-host=127.0.0.3" if is_typed else "--config-file=c.cfg"
    r = folder.lua("""
sysbench.cmdline.options = {mysql_host = {"", "127.0.0.2"}}
function prepare() print("opt", sysbench.opt.mysql_host) sysbench.sql.driver("mysql"):connect() end
""", given, "--mysql-port=1", "prepare", BENCH_COMPAT=version)
    assert r.status == 1 and f"opt\t{host}" in r.lines
    assert re.findall(r"server on host '([^']*)', port 1,", r.out + r.err) == [host]


DECLARED = """
require("oltp_common")
sysbench.cmdline.options.mine = {"", 2}
local function show()
  local names = {}
  for name in pairs(sysbench.cmdline.options) do names[name] = true end
  print("shown", names.mine, names.tables, sysbench.cmdline.options.mine[2])
end
sysbench.cmdline.commands.show = {show, sysbench.cmdline.PARALLEL_COMMAND}
function thread_init() show() end
function thread_done() end
function event() end
"""


@pytest.mark.parametrize("command_", ["run", "show"])
@pytest.mark.parametrize("options", [[], ["--workers=1"]])
def test_threads_see_the_declarations(folder, command_, options):
    r = folder.lua(DECLARED, "--threads=2", "--events=2", "--db-driver=null", *options, command_)
    assert r.status == 0 and r.lines.count("shown\ttrue\ttrue\t2") == 2, r.out + r.err


# --- names of options that only bench has ----------------------------------------------------------

OWN = """
sysbench.cmdline.options = {%s = {"", %s}}
function thread_init() con = sysbench.sql.driver():connect() end
function event() print("opt", sysbench.opt.%s) end
"""


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("name, default, typed", [
    ("think_time", 0, 50), ("workers", 4, 1), ("statements", 10, 7), ("reconnect_rate", 0, 3), ("quiet", 0, 2),
    ("connect_at_once", 0, 1)])
def test_in_a_dialect_options_of_scripts_are_theirs_alone(folder, version, name, default, typed):
    """Whatever bench calls so: SQLite cannot have shared workers, and the other values would pause or end the run."""
    text = OWN % (name, default, name)
    for args, value in ([], default), ([f"--{name}={typed}"], typed):
        r = folder.run(text, "--db-driver=sqlite", "--threads=2", "--events=10", *args, BENCH_COMPAT=version)
        assert (r.status, r.err, r.events) == (0, "", 10), r.out
        assert set(line for line in r.lines if line.startswith("opt")) == {f"opt\t{value}"}


@pytest.mark.parametrize("name, default", [("statements", 10), ("think_time", '"long"'), ("arrivals", 3)])
def test_a_default_for_another_option_of_that_name_is_ignored(folder, name, default):
    r = folder.run(OWN % (name, default, name), "--db-driver=sqlite", "--events=1")
    assert (r.status, r.err, r.events) == (0, "", 1) and f"opt\t{default}".replace('"', "") in r.lines
    assert folder.lua(OWN % (name, default, name), "help").status == 0


@pytest.mark.parametrize("version", ["0.5", "1.0"])
def test_options_that_nobody_declares_are_globals_if_they_were_typed(folder, version):
    """As texts, like any unknown option; not those of which scripts may have variables by chance."""
    folder.file("t.lua", "function prepare() print(think_time, workers, statements, clock, report, type(workers)) end")
    r = command(["--test=t.lua", "--think-time=100", "--workers=8", "--statements=10", "--report=text", "prepare"],
                folder.path, BENCH_COMPAT=version)
    assert (r.status, r.lines[-1]) == (0, "100\t8\t10\tnil\tnil\tstring"), r.err
