# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that several workloads in one run get events in proportion to their weights, are counted
apart, have globals, options, hooks and modules of their own, and prepare shared tables once."""
import json
import sqlite3

import pytest

from lua import command

EMPTY = "function event() end\n"
# The 99th percentile of chi-square with two degrees of freedom.
CHI_SQUARE_2 = 9.21


def mix(folder, *args, scripts=None, status=0):
    """(result, document) of a run of scripts {name: text}"""
    for name, text in (scripts or {}).items():
        folder.file(name, text)
    r = command([*args, "--report=text", "--report=json:r.json", "run"], folder.path)
    assert r.status == status, r.out + r.err
    path = folder.path / "r.json"
    return r, json.loads(path.read_text()) if path.exists() else None


def kinds_of(document, key="events"):
    return {kind["name"]: kind[key] for kind in document["groups"][0]["total"]["event_kinds"]}


def refusal(folder, *args):
    r = command(args, folder.path)
    assert r.status == 1
    return r.said[-1]


@pytest.mark.threads
@pytest.mark.parametrize("threads, workers", [(1, 0), (2, 0), (4, 1)])
def test_a_million_events_have_their_shares(folder, threads, workers):
    _, document = mix(folder, "./a.lua@7", "./b.lua@2.5", "./c.lua@.5", f"--threads={threads}",
                      f"--workers={workers}", "--events=1000000", "--time=0", "--rand-seed=7",
                      scripts={"a.lua": EMPTY, "b.lua": EMPTY, "c.lua": EMPTY})
    counts = kinds_of(document)
    expected = {"a": 700000, "b": 250000, "c": 50000}
    assert sum(counts.values()) == 1000000
    assert sum((counts[k] - n) ** 2 / n for k, n in expected.items()) < CHI_SQUARE_2, counts


def test_the_choice_repeats_and_is_apart_from_the_draws_of_scripts(folder):
    draws = "function event() sysbench.rand.uniform(1, 9) end"
    args = ("./a.lua@3", "./b.lua@1", "--events-per-session=2000", "--threads=3", "--time=0")
    first, same, other = (
        kinds_of(mix(folder, *args, f"--rand-seed={seed}", scripts={"a.lua": a, "b.lua": EMPTY})[1])
        for seed, a in ((1, EMPTY), (1, draws), (2, EMPTY)))
    assert first == same
    assert first != other


def test_scripts_share_nothing(folder):
    """Globals, modules loaded in an event, options with defaults that differ."""
    script = """
sysbench.cmdline.options = {size = {"size", "%s", sysbench.cmdline.ARG_SIZE}, only_%s = {"", %d}}
count = 0
function event() count = count + 1; module_count = require("shared").next() end
function thread_done()
  print("%s", count == module_count, sysbench.opt.size, sysbench.opt.only_%s,
        sysbench.cmdline.script_path, loadstring("return count")() == count)
end
"""
    scripts = {"shared.lua": "local n = 0 return {next = function() n = n + 1 return n end}",
               "a.lua": script % ("1K", "a", 1, "a", "a"), "x@y.lua": script % ("2K", "b", 2, "b", "b")}
    args = ("./a.lua@1", "./x@y.lua@1", "--events=100", "--time=0")
    r, document = mix(folder, *args, scripts=scripts)
    assert "a\ttrue\t1024\t1\t./a.lua\ttrue" in r.lines
    assert "b\ttrue\t2048\t2\t./x@y.lua\ttrue" in r.lines
    assert set(kinds_of(document)) == {"a", "x_y"}
    r, _ = mix(folder, *args, "--size=3K")
    assert "a\ttrue\t3072\t1\t./a.lua\ttrue" in r.lines
    assert "b\ttrue\t3072\t2\t./x@y.lua\ttrue" in r.lines


def test_a_bare_switch_counts_for_each_script(folder):
    script = """
sysbench.cmdline.options = {short = {"", %s}}
function event() end
function thread_done() print("%s", sysbench.opt.short) end
"""
    scripts = {"a.lua": script % ("true", "a"), "b.lua": script % ("false", "b")}
    args = ("./a.lua@1", "./b.lua@1", "--events=9", "--time=0")
    r, _ = mix(folder, *args, scripts=scripts)
    assert {"a\ttrue", "b\tfalse"} <= set(r.lines)
    r, _ = mix(folder, *args, "--short")
    assert {"a\ttrue", "b\ttrue"} <= set(r.lines)


def test_the_help_of_a_long_mix(folder):
    names = [f"./{'x' * 40}/a{i}.lua@1" for i in range(12)]
    for name in names:
        folder.file(name[:-2], "sysbench.cmdline.options = {own = {'of its own', 1}}\n" + EMPTY)
    r = command([*names, "help"], folder.path)
    assert r.status == 0 and "of its own" in r.out, r.out + r.err


@pytest.mark.parametrize("workers", [0, 1])
def test_scripts_declare_the_same_c(folder, workers):
    """As those do that load one module; other declarations of a name are an error of the script."""
    declares = "local ffi = require('ffi') ffi.cdef('struct pair { %s a, b; };')\n" + EMPTY
    scripts = {"a.lua": declares % "int", "b.lua": declares % "int", "c.lua": declares % "long"}
    _, document = mix(folder, "./a.lua@1", "./b.lua@1", "--events=100", "--time=0", "--threads=2",
                      f"--workers={workers}", scripts=scripts)
    assert sum(kinds_of(document).values()) == 100
    assert refusal(folder, "./a.lua@1", "./c.lua@1", f"--workers={workers}", "run") == (
        "FATAL: ./c.lua:1: attempt to redefine 'pair'")


@pytest.mark.parametrize("workers", [0, 1])
def test_failures_belong_to_their_workload(folder, workers):
    """Each event of b fails twice and succeeds, each of c fails for good at its third try."""
    failing = """
local tries, prepared = 0, 0
function sysbench.hooks.before_restart_event() prepared = prepared + 1 end
function event()
  tries = tries + 1
  if tries %% 3 ~= 0 or %s then error({errcode = sysbench.error.RESTART_EVENT}) end
end
function thread_done() print("%s", tries, prepared) end
"""
    r, document = mix(folder, "./a.lua@2", "./b.lua@1", "./c.lua@1", "--events=4000", "--threads=2",
                      f"--workers={workers}", "--time=0", "--db-max-tries=3", "--rand-seed=3",
                      scripts={"a.lua": EMPTY, "b.lua": failing % ("false", "b"),
                               "c.lua": failing % ("true", "c")})
    events, retries, failed = (kinds_of(document, key) for key in ("events", "retries",
                                                                   "failed_events"))
    assert (retries["a"], failed["a"], failed["b"], events["c"]) == (0, 0, 0, 0)
    assert retries["b"] == 2 * events["b"] and retries["c"] == 2 * failed["c"]
    assert events["a"] + events["b"] + failed["c"] == 4000
    assert abs(failed["c"] - 1000) < 150 and abs(events["b"] - 1000) < 150
    lines = [line.split("\t") for line in r.lines if line.startswith(("b\t", "c\t"))]
    # The hook runs after each failed try, but for one that no other event follows in its thread.
    prepared = sum(int(prepared) for name, _, prepared in lines if name == "c")
    assert 0 <= 3 * failed["c"] - prepared <= 2
    assert sum(int(tries) for name, tries, _ in lines if name == "b") == 3 * events["b"]


def test_with_rate(folder):
    _, document = mix(folder, "./a.lua@1", "./b.lua@1", "--rate=2000", "--events=400", "--time=0",
                      "--threads=2", scripts={"a.lua": EMPTY, "b.lua": EMPTY})
    assert sum(kinds_of(document).values()) == 400


def tables(path):
    with sqlite3.connect(path) as base:
        names = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type='table' "
                                                "AND name LIKE 'sbtest%' OR name='own'")]
        return {name: base.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0]
                for name in sorted(names)}


def test_bundled_workloads_share_their_tables(folder):
    """A script with tables of its own prepares them beside, in the first thread."""
    own = """
local function query(text)
  sysbench.sql.driver():connect():query(text)
end
function prepare() query("CREATE TABLE own (id INTEGER)") end
function cleanup() query("DROP TABLE own") end
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT * FROM own") end
"""
    path = folder.path / "t.db"
    words = ("oltp_read_only@4", "oltp_write_only@2", "oltp_insert@1", "select_random_points@1",
             "./own.lua@2", "--db-driver=sqlite", f"--sqlite-db={path}", "--table-size=100")
    folder.file("own.lua", own)
    r = command([*words, "--threads=2", "prepare"], folder.path)
    assert r.status == 0, r.out + r.err
    assert tables(path) == {"own": 0, "sbtest1": 100}
    _, document = mix(folder, *words, "--events=300", "--time=0", "--threads=2")
    counts = kinds_of(document)
    assert sum(counts.values()) == 300 and min(counts.values()) > 0
    assert tables(path)["sbtest1"] == 100 + counts["oltp_insert"]
    r = command([*words, "cleanup"], folder.path)
    assert r.status == 0, r.out + r.err
    assert tables(path) == {}


def test_one_workload_has_the_hooks_of_reports(folder):
    hook = """
function sysbench.hooks.report_cumulative(stat) print("mine", total, stat.events) end
total = "own"
"""
    scripts = {"a.lua": EMPTY, "b.lua": EMPTY + hook, "c.lua": EMPTY + hook}
    r, _ = mix(folder, "./a.lua@1", "./b.lua@1", "--events=10", "--time=0", scripts=scripts)
    assert "mine\town\t10" in r.lines
    assert refusal(folder, "./b.lua@1", "./c.lua@1", "run") == (
        "sysbench.hooks.report_cumulative: only one of several workloads can have it; ./b.lua and "
        "./c.lua do")


def test_what_cannot_be_mixed(folder):
    folder.file("a.lua", EMPTY)
    folder.file("b.lua", EMPTY)
    folder.file("loop.lua", EMPTY + "function thread_run() end")
    folder.file("kinds.lua", EMPTY + "sysbench.kinds = {'x'}")
    folder.file("text.lua", EMPTY + "sysbench.cmdline.options = {n = {'', 'x'}}")
    folder.file("number.lua", EMPTY + "sysbench.cmdline.options = {n = {'', 1}}")
    number = "the weight of a workload must be a number above 0 and up to 1e9, written as 8 or 2.5"
    for weight in ("0", "-1", "1e3", "1.2.3", "9999999999", ".", "80%"):
        assert refusal(folder, f"./a.lua@{weight}", "b.lua@1", "run") == f"./a.lua@{weight}: {number}"
    need = "each of several workloads needs a weight, such as"
    assert refusal(folder, "./a.lua", "b.lua@1", "run") == f"./a.lua: {need} ./a.lua@1"
    assert refusal(folder, "./a.lua@1", "b.lua", "run") == f"b.lua: {need} b.lua@1"
    assert refusal(folder, "cpu@1", "b.lua@1", "run") == (
        "cpu: a built-in test cannot be one of several workloads, which are scripts")
    assert refusal(folder, "--test=-@1 b.lua@1", "run").startswith("-: a script on standard input")
    assert refusal(folder, "--compat=1.0", "a.lua@1", "b.lua@1", "run") == (
        "b.lua@1: several workloads in one run cannot be combined with --compat")
    assert refusal(folder, "./a.lua@1", "a.lua@1", "run") == (
        "./a.lua and a.lua: two workloads of one run cannot have the same name")
    assert "no such built-in test" in refusal(folder, "./a.lua@1", "nosuch@1", "run")
    assert "replaces thread_run() cannot be" in refusal(folder, "a.lua@1", "loop.lua@1", "run")
    assert "cannot name others; run this script alone" in refusal(folder, "a.lua@1", "kinds.lua@1",
                                                                  "run")
    assert "option 'n': two workloads declare it with different types" in refusal(
        folder, "text.lua@1", "number.lua@1", "run")
