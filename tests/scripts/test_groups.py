# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that groups of threads run together, each with its script, options and rate: their events
add up to those of the run in every format, each is a part as in p99@group:NAME, a group that fails
is named, and passwords of a group are in no list of processes."""
import csv
import json
import re
import shlex
import sqlite3

import pytest

from lua import command

EMPTY = "function event() end\n"
KINDS = """
sysbench.kinds = {%s}
local n = 0
function event() n = n + 1; return n %% 4 == 0 and sysbench.kind.%s or sysbench.kind.both end
"""


def run(folder, *args, status=0, reports=("text", "json:r.json")):
    """(result, document) of the command `run`.  With a rate, a busy machine may be late at the end,
    which outranks a violated assertion."""
    r = command([*args, *(f"--report={report}" for report in reports), "run"], folder.path)
    is_late = r.status == 4 and status in (0, 3) and any("rate=" in str(arg) for arg in args)
    assert r.status == status or is_late, r.out + r.err
    path = folder.path / "r.json"
    return r, json.loads(path.read_text()) if path.exists() else None


def whole(document):
    return document["groups"][0]["total"]


def parts(document, key="events"):
    """{name: figure} of the groups as parts of the run."""
    return {kind["name"][len("group:"):]: kind[key] for kind in whole(document)["event_kinds"]
            if kind["name"].startswith("group:")}


def members(document):
    return {g["host"]["name"]: g for g in document["groups"][1:]}


def figure(group, name):
    return group["total"]["figures"][name]


def constant(folder, *more):
    """Groups with 400, 100 and 1000 events, of which two have a rate."""
    folder.file("a.lua", EMPTY)
    return ("--time=0", "--group=reads: ./a.lua --threads=2 --rate=200 --events=400",
            "--group=report: ./a.lua --rate=50 --events=100; "
            "free: ./a.lua --threads=3 --events=1000", *more)


EXACT = {"reads": 400, "report": 100, "free": 1000}


def test_rates_are_exact(folder):
    """Arrivals at constant gaps: how many are due does not depend on how fast the machine is.  On a
    busy one, some are not finished, and the status is 4."""
    folder.file("a.lua", EMPTY)
    r = command(["--arrivals=constant", "--time=2", "--group=a: ./a.lua --rate=200",
                 "--group=b: ./a.lua --threads=2 --rate=37.5", "--report=json:r.json", "run"],
                folder.path)
    assert r.status in (0, 4), r.out + r.err
    document = json.loads((folder.path / "r.json").read_text())
    due = {"a": 400, "b": 75}
    assert {name: figure(g, "due") for name, g in members(document).items()} == due
    assert figure(document["groups"][0], "due") == 475
    for name, g in members(document).items():
        assert parts(document)[name] == figure(g, "events")
        left = figure(g, "unfinished") + figure(g, "dropped")
        assert figure(g, "events") + left == due[name]


@pytest.mark.threads
def test_sums_are_those_of_the_run(folder):
    r, document = run(folder, *constant(folder, "--report-interval=1"),
                      reports=("text", "json:r.json", "csv:i.csv", "openmetrics:o.txt",
                               "csv-total:t.csv", "markdown:m.md"))
    assert parts(document) == EXACT
    assert figure(document["groups"][0], "events") == 1500
    assert {name: figure(g, "events") for name, g in members(document).items()} == EXACT
    assert {name: g["host"]["threads"] for name, g in members(document).items()} == {
        "reads": 2, "report": 1, "free": 3}
    assert abs(sum(parts(document, "share").values()) - 1) < 1e-12
    rates = sum(parts(document, "events_per_s").values())
    assert abs(rates - figure(document["groups"][0], "events_per_s")) < 1e-6 * rates
    # Those without a rate are due when they begin.
    assert [figure(document["groups"][0], key) for key in ("due", "started", "finished")] == [1500] * 3
    text = {line.split()[-1]: int(line.split()[0]) for line in r.lines if "  group:" in line}
    assert text == {f"group:{name}": n for name, n in EXACT.items()}
    metrics = (folder.path / "o.txt").read_text()
    assert {name: int(n) for name, n in re.findall(
        r'bench_group_events_total{group="(\w+)"} (\d+)', metrics)} == EXACT
    assert "bench_event_kind" not in metrics
    assert re.search(r"bench_events_total 1500\n", metrics)
    [total] = csv.DictReader((folder.path / "t.csv").open())
    assert {name: int(total[f"events@group:{name}"]) for name in EXACT} == EXACT
    intervals = list(csv.DictReader((folder.path / "i.csv").open()))
    for row in intervals:
        assert sum(int(row[f"events@group:{name}"]) for name in EXACT) == int(row["events"])
    # It ends within an interval of the others.
    assert sum(int(row["events@group:free"]) for row in intervals) == EXACT["free"]
    for name in EXACT:
        assert f"| group:{name} events/s |" in (folder.path / "m.md").read_text()


def test_a_group_that_has_ended_is_part_of_the_next_checkpoint(folder):
    """Its events are in no rate after that.  What is of the whole run stays in the final report."""
    folder.file("a.lua", EMPTY)
    r = command(["--arrivals=constant", "--time=1.5", "--report-checkpoints=1", "--report=json:r.json",
                 "--group=x: ./a.lua --rate=10 --events=5", "--group=y: ./a.lua --rate=100", "run"], folder.path)
    assert r.status in (0, 4), r.out + r.err
    document = json.loads((folder.path / "r.json").read_text())
    all_groups = document["groups"][0]
    first, last = ({kind["name"]: kind["events"] for kind in record["event_kinds"]}
                   for record in (*all_groups["checkpoints"], all_groups["total"]))
    assert (first["group:x"], last["group:x"]) == (5, 0)
    assert all_groups["checkpoints"][0]["figures"]["events"] == 5 + first["group:y"]
    x, y = members(document)["x"], members(document)["y"]
    for name in ("events", "events_per_s", "span_s"):
        assert figure(all_groups, name) == figure(y, name)
    assert (figure(x, "events"), figure(x, "events_per_s"), x["host"]["time_s"]) == (0, 0, 0)
    assert [figure(g, "due") for g in (x, y, all_groups)] == [5, 150, 155]


def test_all_threads_of_a_group_are_those_of_one_host(folder):
    folder.file("a.lua", EMPTY)
    _, document = run(folder, "--events=9", "--time=0", "--threads-total=3", "--group=a: ./a.lua",
                      "--group=b: ./a.lua --threads-total=2", "--c.threads-total=4",
                      "--group=c: ./a.lua", "--group=d: ./a.lua --threads=5 --threads-total=0")
    assert {name: g["host"]["threads"] for name, g in members(document).items()} == {
        "a": 3, "b": 2, "c": 4, "d": 5}
    # The total outside takes the place of the threads outside, and 0 gives them back.
    _, document = run(folder, "--events=9", "--time=0", "--threads=2", "--threads-total=3", "--group=a: ./a.lua",
                      "--group=b: ./a.lua --threads-total=0")
    assert {name: g["host"]["threads"] for name, g in members(document).items()} == {"a": 3, "b": 2}


@pytest.mark.slow
def test_a_default_time_that_ends_a_group_before_its_events_is_told(folder):
    """A group whose events are done, or that has no limit of events, does not say so."""
    folder.file("a.lua", "local ffi = require('ffi')\nffi.cdef('int usleep(unsigned)')\n"
                "function event() ffi.C.usleep(1000) end\n")
    r, _ = run(folder, "--group=x: ./a.lua --events=1000000", "--group=y: ./a.lua --events=9",
               "--group=z: ./a.lua")
    at = r.lines.index("Warnings:")
    assert r.lines[at + 1:at + 3] == ["    the default --time=10 ended the run before all of "
                                      "--events=1000000 had begun; --time=0 removes this limit", ""]


def test_the_workers_of_groups_are_not_one_number(folder):
    """Those outside are of each group, and a group may have others."""
    folder.file("a.lua", EMPTY)
    r, _ = run(folder, "--events=9", "--time=0", "--workers=2", "--threads=8", "--group=x: ./a.lua",
               "--group=y: ./a.lua --workers=3")
    again = command(["report", "r.json"], folder.path)
    for result in (r, again):
        assert [line for line in result.lines if line.startswith("Number of ")] == ["Number of threads: 16"]


# Its 20th event does not end in the time of the run.
HANG = """
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned)")
local n = 0
function event() n = n + 1; if n == 20 then ffi.C.usleep(3000000) end end
"""


def test_latencies_of_a_group_count_its_unfinished_events(folder):
    """A group that hangs has the latencies that its total has, of which the highest are bounds."""
    folder.file("hang.lua", HANG)
    folder.file("a.lua", EMPTY)
    r, document = run(folder, "--group=h: ./hang.lua --rate=400", "--group=o: ./a.lua --rate=10",
                      "--arrivals=constant", "--time=1", "--percentile=1,99", "--time-grace=0.1",
                      "--assert=p99@group:h<100ms", "--assert=max@group:h<100ms",
                      "--assert=p98@group:h<100ms", "--assert=p1@group:h<9s",
                      "--assert=p99@group:o<9s", status=2)
    shown = {line.split(":  ")[0].strip(): line.split(":  ")[1].strip() for line in r.lines
             if "@group:" in line and line.startswith("    ")}
    assert [text.split()[-1] for text in shown.values()] == ["FAILED"] * 3 + ["ok"] * 2
    assert all(text.startswith("at least ") for text in list(shown.values())[:3])
    [kind] = [k for k in whole(document)["event_kinds"] if k["name"] == "group:h"]
    own = members(document)["h"]
    assert kind["unfinished"] == figure(own, "unfinished") > 300
    assert kind["max_s"] == figure(own, "max_s")
    assert ([(p["s"], p.get("at_least", False)) for p in kind["percentiles"]]
            == [(p["s"], p["at_least"]) for p in own["total"]["percentiles"]])
    assert "unfinished" not in [k for k in whole(document)["event_kinds"]
                                if k["name"] == "group:o"][0]
    [row] = [line for line in r.lines if line.endswith("  group:h")]
    [process] = [line for line in r.lines if line.endswith("  h")]
    # On a busy machine, the lowest percentile is a bound, too.
    bounds = 1 + sum(p.get("at_least", False) for p in kind["percentiles"])
    assert row.count("≥") == bounds >= 2 and process.count("≥") == 1
    start = r.lines.index("Throughput:")
    again = command(["report", "r.json"], folder.path).out.splitlines()
    assert again[again.index("Throughput:"):] == r.lines[start:]


def test_kinds_and_groups_are_apart(folder):
    """Each event is of a kind and of a group, which are families and tables of their own."""
    folder.file("a.lua", KINDS % ("'both', 'a'", "a"))
    r, _ = run(folder, "--time=0", "--group=one: ./a.lua --events=300; two: ./a.lua --events=100",
               reports=("text", "openmetrics:o.txt"))
    metrics = (folder.path / "o.txt").read_text()
    for family in ("event_kind", "group"):
        counts = re.findall(r"^bench_%s_events_total{\w+=.*} (\d+)$" % family, metrics, re.M)
        assert len(counts) == 2 and sum(map(int, counts)) == 400
    for title in ("Kinds of events (times in ms):", "Groups (times in ms):"):
        at = r.lines.index(title)
        rows = [line.split() for line in r.lines[at + 2:at + 4]]
        assert sum(int(row[0]) for row in rows) == 400
        assert abs(sum(float(row[1].rstrip("%")) for row in rows) - 100) < 0.11


def test_the_report_of_the_document_and_what_repeats_the_run(folder):
    r, document = run(folder, *constant(folder))
    again = command(["report", "r.json"], folder.path)
    assert again.status == 0
    start = r.lines.index("Throughput:")
    assert again.out.splitlines()[again.out.splitlines().index("Throughput:"):] == r.lines[start:]
    [line] = [line for line in r.lines if line.startswith("Repeat:")]
    assert ("'--group=reads: ./a.lua --threads=2 --rate=200 --events=400; report: ./a.lua --rate=50 "
            "--events=100; free: ./a.lua --threads=3 --events=1000'") in line
    assert document["groups"][0]["name"] == "reads: ./a.lua, report: ./a.lua, free: ./a.lua"


def test_options_outside_of_groups_are_defaults_of_all(folder):
    script = """
sysbench.cmdline.options = {who = {"", "nobody"}, size = {"", 1}}
function thread_init() print("told", sysbench.opt.who, sysbench.opt.size, sysbench.opt.threads) end
function event() end
"""
    folder.file("a.lua", script)
    folder.file("b.lua", script)
    r, document = run(folder, "--threads=2", "--who=all", "--events=10", "--time=0", "--size=3",
                      "--group=x: ./a.lua", "--group=y: ./b.lua --who='the y' --threads=1",
                      "--y.size=5", "--group=z: ./b.lua --events=7")
    told = sorted(set(line for line in r.err.splitlines() if "told" in line))
    assert told == ["x: told\tall\t3\t2", "y: told\tthe y\t5\t1", "z: told\tall\t3\t2"]
    assert parts(document) == {"x": 10, "y": 10, "z": 7}
    assert document["facts"]["plan"]["threads"] == 5
    assert document["facts"]["plan"]["events"] == 27


def test_the_defaults_of_a_script_count_in_its_group(folder):
    """As in a run alone, but not those which are the same for all groups, and no profile."""
    rows = ", ".join(f'{name} = {{"", {value}}}' for name, value in (
        ("threads", 4), ("rate", 400), ("events", 40), ("percentile", 50), ("time", 0.05),
        ("rate_profile", "'hold:9/60s'"), ("report_interval", 0.01)))
    folder.file("a.lua", f"sysbench.cmdline.options = {{{rows}}}\n" +
                "function thread_init() print(sysbench.opt.threads, sysbench.opt.time) end\n" + EMPTY)
    folder.file("b.lua", EMPTY)
    r, document = run(folder, "--arrivals=constant", "--group=x: ./a.lua", "--group=y: ./a.lua --threads=3",
                      "--group=z: ./b.lua --events=9", "--y.rate=200", "--y.events=20")
    assert {name: g["host"]["threads"] for name, g in members(document).items()} == {"x": 4, "y": 3, "z": 1}
    assert sorted(r.said) == ["x: 4\t10"] * 4 + ["y: 3\t10"] * 3
    assert parts(document) == {"x": 40, "y": 20, "z": 9}
    plan = document["facts"]["plan"]
    assert (plan["threads"], plan["rate"], plan["events"]) == (8, 600, 69)
    assert [p["percent"] for p in whole(document)["percentiles"]] == [95]
    assert not document["groups"][0].get("intervals")


@pytest.mark.parametrize("old, new", [("--tx-rate=50", "rate"), ("--num-threads=5", "threads"),
                                      ("file", "rate")])
def test_the_options_of_a_group_beat_old_names_outside(folder, old, new):
    folder.file("a.lua", EMPTY)
    folder.file("old.cnf", "tx-rate=50\n")
    _, document = run(folder, old if old != "file" else "--config-file=old.cnf", "--time=0",
                      f"--group=a: ./a.lua --events=2 --{new}=20", "--group=b: ./a.lua --events=2",
                      f"--b.{new}=10")
    assert document["facts"]["plan"][new] == 30


def test_the_uri_of_a_group_beats_options_outside(folder):
    folder.file("a.lua", "sysbench.sql.driver()\nfunction thread_init() local o = sysbench.opt; "
                "print('told', o.mysql_host[1], o.mysql_port[1], o.mysql_user, o.mysql_db) end\n" + EMPTY)
    r, _ = run(folder, "--db-driver=mysql", "--events=1", "--time=0", "--mysql-host=h1",
               "--mysql-port=7", "--mysql-user=u1", "--mysql-socket=/tmp/s", "--group=a: ./a.lua",
               "--group=b: ./a.lua --connect=mysql://h2:8/d2")
    told = {line.split(":")[0]: line.split("\t")[1:] for line in r.err.splitlines()
            if "told" in line}
    assert told["a"][:3] == ["h1", "7", "u1"]
    assert told["b"] == ["h2", "8", "u1", "d2"]


TRACED = """
local driver = sysbench.sql.driver()
function thread_init() con = driver:connect() end
function event() con:query("SELECT '%s'") end
"""


@pytest.mark.parametrize("words", ["--sql-trace=t.sql", "--config-file=t.cnf"])
def test_each_group_traces_its_statements_into_a_file_of_its_own(folder, words):
    """A single group has the file itself, and a device is not changed."""
    for name in "ab":
        folder.file(f"{name}.lua", TRACED % (name * 3))
    folder.file("t.cnf", "sql-trace=t.sql\n")
    run(folder, "--db-driver=null", "--events=50", "--time=0", "--threads=2", words,
        "--group=a: ./a.lua", "--group=b: ./b.lua")
    for name in "ab":
        lines = (folder.path / f"t.sql.{name}").read_text().splitlines()
        assert len(lines) == 50
        assert all(re.fullmatch(rf"\[s[01]\] SELECT '{name * 3}'", line) for line in lines)
    assert not (folder.path / "t.sql").exists()
    run(folder, "--db-driver=null", "--events=5", "--time=0", words, "--group=a: ./a.lua")
    assert len((folder.path / "t.sql").read_text().splitlines()) == 5
    r, _ = run(folder, "--db-driver=null", "--events=5", "--time=0", "--sql-trace=/dev/stderr",
               "--group=a: ./a.lua", "--group=b: ./b.lua")
    assert [r.err.count(f"[s0] SELECT '{name * 3}'") for name in "ab"] == [5, 5]


def test_options_outside_stay_in_the_document(folder):
    """Also those that one of the groups has in another way."""
    folder.file("a.lua", "sysbench.cmdline.options = {who = {'', 'nobody'}}\n" + EMPTY)
    r, document = run(folder, "--db-ps-mode=disable", "--who=all", "--events=3", "--time=0",
                      "--think-time=2ms", "--group=a: ./a.lua --db-ps-mode=auto --who=me",
                      "--group=b: ./a.lua", "--a.think-time=1ms")
    options = {o["name"]: o["value"] for o in document["facts"]["options"]}
    assert [options[name] for name in ("db-ps-mode", "think-time", "who")] == ["disable", "2ms",
                                                                             "all"]
    [line] = [line for line in r.lines if line.startswith("Repeat:")]
    for word in ("--db-ps-mode=disable", "--think-time=2ms", "--who=all"):
        assert f" {word} " in line


def test_a_profile(folder):
    """The time of the run is that of all groups, and each group has phases of its own."""
    folder.file("a.lua", EMPTY)
    profile = ("--rate-profile=hold:40/0.5s; hold:20/0.5s", "--arrivals=constant")
    r, document = run(folder, *profile, "--group=a: ./a.lua", "--group=b: ./a.lua --rate=30",
                      "--b.rate-profile=none")
    assert {name: figure(g, "due") for name, g in members(document).items()} == {"a": 30, "b": 30}
    at = r.lines.index("Phases of the group a (times in ms):")
    assert [line.split()[1] for line in r.lines[at + 2:at + 4]] == ["20", "10"]
    assert not [line for line in r.lines if line.startswith("Phases of the group b")]
    r, _ = run(folder, *profile, "--group=a: ./a.lua", "--assert=p99@phase:2<1s", status=1)
    assert "phases are told apart in the total of each group alone" in r.err


def test_threads_of_a_group_follow_a_profile(folder):
    """They are as many as the profile has at most, and the phases of the group have their means."""
    folder.file("a.lua", EMPTY)
    r, document = run(folder, "--time=1", "--group=a: ./a.lua '--threads-profile=hold:1/0.5s; hold:3/0.5s'",
                      "--group=b: ./a.lua --threads=2")
    assert "Number of threads: 5" in r.lines
    phases = document["groups"][1]["total"]["phases"]
    assert [phase["wanted_threads"] for phase in phases] == [1, 3]
    assert "Phases of the group a (times in ms):" in r.lines


def test_quotation_marks_of_both_kinds_can_be_repeated(folder):
    folder.file("a.lua", "sysbench.cmdline.options = {who = {'', 'nobody'}}\n"
                "function thread_init() print('who', sysbench.opt.who) end\n" + EMPTY)
    r, _ = run(folder, "--events=1", "--time=0",
               "--group=a: ./a.lua --who='it is \"a\" '\"'b'\"")
    assert "a: who\tit is \"a\" 'b'" in r.err.splitlines()
    [line] = [line for line in r.lines if line.startswith("Repeat:")]
    again = command(shlex.split(line)[2:], folder.path)
    assert again.status == 0
    assert "a: who\tit is \"a\" 'b'" in again.err.splitlines()


def test_kinds_of_one_name_add_up(folder):
    folder.file("a.lua", KINDS % ("'both', 'a'", "a"))
    folder.file("b.lua", KINDS % ("'b', 'both'", "b"))
    _, document = run(folder, "--events=400", "--time=0", "--group=one: ./a.lua; two: ./b.lua")
    kinds = {k["name"]: k["events"] for k in whole(document)["event_kinds"]}
    assert kinds == {"both": 600, "a": 100, "b": 100, "group:one": 400, "group:two": 400}


def test_kinds_of_one_group_have_shares_of_the_run(folder):
    folder.file("a.lua", KINDS % ("'both', 'a'", "a"))
    folder.file("b.lua", EMPTY)
    _, document = run(folder, "--events=400", "--time=0", "--group=one: ./a.lua; two: ./b.lua")
    shares = {k["name"]: k["share"] for k in whole(document)["event_kinds"]}
    assert shares == {"both": 0.375, "a": 0.125, "group:one": 0.5, "group:two": 0.5}
    own = {k["name"]: k["share"] for k in members(document)["one"]["total"]["event_kinds"]}
    assert own == {"both": 0.75, "a": 0.25}


def test_groups_of_one_script_draw_different_numbers(folder):
    folder.file("a.lua", "function event() print(sysbench.rand.uniform(1, 1000000)) end")
    args = ("--events=20", "--time=0", "--group=x: ./a.lua", "--group=y: ./a.lua")
    drawn = []
    for seed in (1, 1, 2):
        r, _ = run(folder, *args, f"--rand-seed={seed}")
        drawn.append({name: [line for line in r.err.splitlines() if line.startswith(f"{name}: ")]
                      for name in "xy"})
    assert drawn[0] == drawn[1]
    assert len(drawn[0]["x"]) == 20
    values = [[line[3:] for line in d[name]] for d in drawn[1:] for name in "xy"]
    assert len({tuple(v) for v in values}) == 4


# The third group loads 100 events and breaks.
BROKEN = "local n = 0\nfunction event() n = n + 1; if n > 100 then %s end end\n"


@pytest.mark.parametrize("what, said", [
    ("error('it is broken')", "b: FATAL: `thread_run' function failed: ./b.lua:2: it is broken"),
    ("os.execute('kill -9 $PPID')", "b: lost: the process started for it was ended by a signal: Killed")])
def test_a_group_that_fails_is_named_and_others_stay(folder, what, said):
    folder.file("b.lua", BROKEN % what)
    r, document = run(folder, *constant(folder), "--group=b: ./b.lua", "--on-host-loss=continue",
                      status=1)
    assert said in r.err
    assert {name: n for name, n in parts(document).items() if name != "b"} == EXACT
    assert {name: figure(members(document)[name], "events") for name in EXACT} == EXACT
    assert figure(document["groups"][0], "events") == 1500 + parts(document)["b"]


def test_threads_that_failed_are_told_with_their_groups(folder):
    """Two groups with failures of one kind have a line each, at a checkpoint too."""
    folder.file("b.lua", BROKEN % "if sysbench.tid == 0 then error('no') end")
    r, document = run(folder, "--group=x: ./b.lua --threads=2; y: ./b.lua --threads=3",
                      "--group=z: ./b.lua", "--x.rate=1000", "--y.rate=1000", "--z.rate=10",
                      "--time=1.3", "--arrivals=constant", "--report-checkpoints=1",
                      "--on-thread-error=continue", status=1)
    # A busy machine may come to the checkpoint first.
    shown = [line.split()[0] for line in r.lines if " ./b.lua:2: no" in line and "s  " in line]
    assert sorted(shown[-2:]) == ["x:", "y:"] and set(shown) == {"x:", "y:"}
    assert document["facts"]["thread_errors"] == {f"{name}: ./b.lua:2": "./b.lua:2: no"
                                                  for name in "xy"}
    assert {name: figure(g, "failed_threads") for name, g in members(document).items()} == {
        "x": 1, "y": 1, "z": 0}


def test_a_group_alone_may_go_on_after_a_thread_has_failed(folder):
    folder.file("a.lua", EMPTY)
    folder.file("b.lua", BROKEN % "if sysbench.tid == 0 then error('no') end")
    r, document = run(folder, "--group=x: ./b.lua --threads=2 --events-per-session=150",
                      "--x.on-thread-error=continue", "--group=y: ./a.lua --rate=200 --events=90",
                      "--arrivals=constant", "--time=0", status=1)
    assert "stopped" not in r.err
    assert parts(document)["y"] == 90
    assert figure(members(document)["x"], "failed_threads") == 1


@pytest.mark.parametrize("more", [[], ["--w.rate=200"]])
def test_a_group_of_which_no_event_succeeds_is_named(folder, more):
    """As a run of the same script alone, which has a status of its own."""
    folder.file("a.lua", EMPTY)
    folder.file("w.lua", "function event() return 1 end\n")
    r, document = run(folder, "--group=a: ./a.lua --events=9", "--group=w: ./w.lua", "--time=0.3", *more,
                      status=5)
    assert [line for line in r.said if "no event succeeded" in line] == [
        "w: no event succeeded, so the run has measured nothing: a value that event() returns ends "
        "its thread, and an error that repeats its event does so until the end of the run"]
    assert document["end"]["status"] == 5
    assert parts(document) == {"a": 9, "w": 0}


def test_one_failure_ends_all_unless_told_otherwise(folder):
    folder.file("a.lua", EMPTY)
    folder.file("b.lua", BROKEN % "error('no')")
    r, document = run(folder, "--group=a: ./a.lua --rate=100", "--group=b: ./b.lua", "--time=60",
                      status=1)
    assert "b: the run failed there; the other groups are stopped (--on-host-loss=abort)" in r.err
    assert parts(document)["b"] == 100


def test_a_group_that_cannot_start_is_named(folder):
    folder.file("a.lua", EMPTY)
    for words, said in (("./none.lua", "b: FATAL: Cannot find benchmark './none.lua'"),
                        ("./a.lua --threads=x", "--group=b: --threads=x: not a whole number"),
                        ("./a.lua --rating=5", "b: --rating=***: no such option"),
                        ("oltp_read_only --mysql-host=127.0.0.1 --mysql-port=1", "b: FATAL: ")):
        r, _ = run(folder, "--group=a: ./a.lua", f"--group=b: {words}", "--time=1", status=1)
        assert said in r.err


def test_assertions(folder):
    r, _ = run(folder, *constant(folder), "--assert=events@group:reads>=400",
               "--assert=share@group:report>50%", "--assert=p99@group:free<1h", status=1)
    assert "'h' is not a unit of time" in r.err
    r, _ = run(folder, *constant(folder), "--assert=events@group:reads>=400",
               "--assert=share@group:report>50%", "--assert=p99@group:free<9s", status=3)
    assert [line.split()[-1] for line in r.lines if "@group:" in line and line.startswith("    ")
            and "Repeat" not in line] == ["ok", "FAILED", "ok"]
    for text, message in (("p99@group:x<1s", "the run has no group called 'x'; it has: reads, "
                           "report, free"),
                          ("p99@group:<1s", "the name of a group after @group: is missing"),
                          ("qps@group:reads>1", "qps is not counted for groups; pN, min, avg"),
                          ("p99@event:x<1s", "the run does not tell kinds of events apart")):
        r, _ = run(folder, *constant(folder), f"--assert={text}", status=1)
        assert f"--assert={text}: {message}" in r.err
    r, _ = run(folder, "./a.lua", "--time=1", "--assert=p99@group:x<1s", status=1)
    assert "the run has no groups, so it has none called 'x' (--group)" in r.err


@pytest.mark.parametrize("asserted, ends", [
    ("eps@group:y>1000", True), ("p50<1ns", True),
    ("eps>1000", False), ("eps@group:x>1000", False), ("share@group:y<1%", False)])
def test_assertions_end_a_run_in_which_a_group_is_done(folder, asserted, ends):
    """Those about rates and shares that are not those of all groups, because one is done, do not."""
    folder.file("a.lua", EMPTY)
    r, document = run(folder, "--group=x: ./a.lua --events=5", "--group=y: ./a.lua --rate=100",
                      "--arrivals=constant", f"--time={60 if ends else 0.9}",
                      "--report-interval=0.1", "--abort-on-assert=0.3", f"--assert={asserted}",
                      status=3)
    assert (document["end"].get("reason") == "assertion") == ends
    assert ("has been violated for 0.3 s" in r.err) == ends


SHOW = """
local function read(path) local f = io.open(path); local s = f:read("*a"); f:close(); return s end
function thread_init()
  local parent = read("/proc/self/stat"):match("%) %S (%d+)")
  print("seen", (read("/proc/" .. parent .. "/cmdline") .. read("/proc/self/cmdline")):gsub("%z", " "))
  print("known", sysbench.opt.mysql_password == "sword" .. "fish",
        sysbench.opt.mysql_password == "had" .. "dock")
end
function event() end
"""


@pytest.mark.parametrize("first, second", [
    (("--group=a: ./a.lua --mysql-password=swordfish --threads=2",), ("--b.mysql-password=haddock",)),
    (("--group=a: ./a.lua --threads=2", "--a.connect=mysql://me:swordfish@db/x"),
     ("--b.connect=mysql://me:haddock@db/x",)),
    (("--group=a: ./a.lua --connect=mysql://me:swordfish@db/x --threads=2",),
     ("--b.mysql-password=haddock",))])
def test_passwords_of_a_group_are_hidden(folder, first, second):
    """From lists of processes and documents, which keep all other words of all groups."""
    folder.file("a.lua", "sysbench.sql.driver()\n" + SHOW)
    r, document = run(folder, "--db-driver=mysql", "--events=1", "--time=0", *first,
                      "--group=b: ./a.lua --threads=3", *second)
    said = r.err.splitlines()
    assert {line for line in said if "known" in line} == {"a: known\ttrue\tfalse",
                                                         "b: known\tfalse\ttrue"}
    seen = [line for line in said if "seen" in line]
    assert len(seen) == 5
    for text in (*seen, r.out, (folder.path / "r.json").read_text()):
        assert "swordfish" not in text and "haddock" not in text
    (shown,) = [o["value"] for o in document["facts"]["options"] if o["name"] == "group"]
    assert shown.startswith("a: ./a.lua ") and "--threads=2" in shown
    assert "; b: ./a.lua --threads=3" in shown and shown in r.out


@pytest.mark.parametrize("group, message", [
    ("./a.lua", "--group: a name of up to 32 letters, digits and underscores, and a colon must come "
     "first; write --group='NAME: SCRIPT [OPTIONS]'"),
    ("", "--group: a name of up to 32 letters"),
    ("1x: ./a.lua", "--group: a name of up to 32 letters"),
    ("x: ./a.lua; x: ./a.lua", "--group=x: two groups have this name"),
    ("x:", "--group=x: it names no script; write --group='x: SCRIPT [OPTIONS]'"),
    ("x: --threads=2", "--group=x: it names no script"),
    ("x: sweep cpu", "--group=x: 'sweep' is a subcommand; a group runs a script"),
    ("x: cpu", "--group=x: 'cpu' is a built-in test; a group runs a script"),
    ("x: ./a.lua run", "--group=x: 'run' is a command; a group runs a script"),
    ("x: ./a.lua ./b.lua", "--group=x: './a.lua' and a further word stand for its script"),
    ("x: -t ./a.lua", "--group=x: a word begins with '-'"),
    ("x: ./a.lua 'y", "--group=x: a quotation mark is not closed"),
    *((f"x: ./a.lua --{option}", f"--group=x: --{option.split('=')[0]} has one value for the whole "
       "run; give it outside of the groups")
      for option in ("time=3", "max-time=3", "warmup_time=1".replace("_", "-"), "time-grace=1",
                     "report=json", "assert=p99<1s", "percentile=50", "report-interval=1",
                     "hosts=h", "compat=1.0", "group=y", "config-file=f", "label=a=b")),
])
def test_bad_input(folder, group, message):
    folder.file("a.lua", EMPTY)
    r = command([f"--group={group}", "run"], folder.path)
    assert r.status == 1
    assert r.said[-1].startswith(message)


@pytest.mark.parametrize("args, message", [
    (("--threads-total=4", "--x.threads=4", "run"),
     "--group=x: --threads cannot be used with --threads-total, which takes its place"),
    (("--x.threads-total=1", "--x.threads=4", "run"),
     "--group=x: --threads cannot be used with --threads-total, which takes its place"),
    (("--compat=1.0", "run"), "--group cannot be used with --compat"),
    (("--compat=0.5", "run"), "--group cannot be used with --compat"),
    (("./a.lua", "run"), "--group: './a.lua' stands outside of the groups"),
    (("--histogram=maybe", "run"), "x: --histogram=maybe: neither on nor off"),
    ((), "--group needs a command"),
    (("--y.time=3", "run"), "--y.time: no group is called 'y'; there are: x"),
    (("--x.rate-profile=hold:4/1s", "run"), "--group=x: --rate-profile needs the time of the run"),
    (("--x.threads-profile=hold:4/20s", "run"), "--group=x: --threads-profile needs the time of the run"),
    (("--x.threads-profile=hold:4/1s", "--time=1", "--events=5", "run"),
     "--group=x: --threads-profile cannot be used with --events, which stands outside of the groups"),
    (("--x.rate-profile=hold:4/1s", "--time=1", "--rate=5", "run"),
     "--group=x: --rate-profile cannot be used with --rate, which stands outside of the groups; "
     "write --rate=0 in this one"),
    (("--x.rate=4", "--rate-profile=hold:4/1s", "run"),
     "--group=x: --rate cannot be used with --rate-profile, which stands outside of the groups; "
     "write --rate-profile=none in this one"),
    (("--x.tx-rate=4", "--rate-profile=hold:4/1s", "run"),
     "--group=x: --rate cannot be used with --rate-profile, which stands outside of the groups; "
     "write --rate-profile=none in this one"),
    (("--x.max-requests=4", "--threads-profile=hold:4/1s", "run"),
     "--group=x: --events cannot be used with --threads-profile, which stands outside"),
    (("--x.rate-profile=hold:4/1s", "--time=1", "--tx-rate=5", "run"),
     "--group=x: --rate-profile cannot be used with --rate, which stands outside of the groups"),
    (("--x.think-time=1ms", "--rate=5", "run"), "--group=x: --think-time cannot be used with"),
    (("--x.events-per-session=5", "--events=5", "run"),
     "--group=x: --events-per-session cannot be used with --events"),
    (("--x.time=3", "run"), "--group=x: --time has one value for the whole run"),
    (("--mysql-password-prompt", "run"), "--mysql-password-prompt cannot be used in a run with --gr")])
def test_what_cannot_be_combined(folder, args, message):
    folder.file("a.lua", EMPTY)
    r = command(["--group=x: ./a.lua", *args], folder.path)
    assert r.status == 1
    assert r.said[-1].startswith(message)


def test_metrics_that_do_not_fit(folder):
    """Metrics of one name are one, also of different scripts."""
    folder.file("a.lua", "local n = sysbench.metrics.counter('n')\nfunction event() n:add(2) end")
    folder.file("b.lua", "local n = sysbench.metrics.histogram('n')\nfunction event() n:add(2) end")
    _, document = run(folder, "--events=9", "--time=0", "--group=a: ./a.lua; b: ./a.lua")
    assert [c["count"] for c in whole(document)["counts"]] == [36]
    r, _ = run(folder, "--events=9", "--time=0", "--group=a: ./a.lua; b: ./b.lua", status=1)
    assert ("--group=b: its script measures 'n' in another way than that of the group 'a'; give one "
            "of them another name") in r.err


def test_prepare_and_cleanup_take_the_same_words(folder):
    """Bundled workloads on the same tables prepare them once; a script has its own function."""
    path = folder.path / "t.db"
    folder.file("own.lua", "function prepare() print('own prepare') end\n" + EMPTY)
    words = ("--db-driver=sqlite", f"--sqlite-db={path}",
             "--group=reads: oltp_point_select --threads=2 --table-size=100; own: ./own.lua",
             "--group=writes: oltp_update_non_index@1 oltp_insert@1 --rate=100 --table-size=100")
    r = command([*words, "prepare"], folder.path)
    assert r.status == 0, r.out + r.err
    assert r.lines.count("own: own prepare") == 1
    assert len([line for line in r.lines if "Creating table" in line]) == 1
    _, document = run(folder, *words, "--events=50", "--time=0")
    assert parts(document) == {"reads": 50, "own": 50, "writes": 50}
    with sqlite3.connect(path) as base:
        [(rows,)] = base.execute("SELECT COUNT(*) FROM sbtest1")
    kinds = {k["name"]: k["events"] for k in whole(document)["event_kinds"]}
    assert rows == 100 + kinds["oltp_insert"]
    r = command([*words, "--writes.tables=2", "prepare"], folder.path)
    assert r.status == 1
    assert "reads: run 'cleanup' first" in r.err
    assert "reads: the command 'prepare' failed there with status 1" in r.err


@pytest.mark.parametrize("first, second, made", [
    ("--table-size=9", "--table_size=9", 1), ("--tables=2 --tables=1", "--tables=1", 1),
    ("--tables=1 --tables=2", "--tables=2 --tables=1", None)])
def test_the_same_values_are_the_same_data(folder, first, second, made):
    """In either spelling; the last value of an option counts. Two prepares of one table fail."""
    words = ("--db-driver=sqlite", f"--sqlite-db={folder.path}/t.db",
             f"--group=a: oltp_read_only {first}; b: oltp_insert {second}")
    r = command([*words, "prepare"], folder.path)
    if made is None:
        assert r.status == 1 and "b: run 'cleanup' first" in r.err, r.err
    else:
        assert r.status == 0, r.out + r.err
        assert len([line for line in r.lines if "Creating table" in line]) == made


def test_prepare_and_cleanup_leave_no_group_out_that_has_other_tables(folder):
    """Options that draw other numbers make no other tables."""
    path = folder.path / "t.db"
    words = ("--db-driver=sqlite", f"--sqlite-db={path}", "--group=bank: tpcb_like --threads=2",
             "--group=reads: oltp_read_only; ranges: select_random_ranges --rand-type=zipfian",
             "--group=again: tpcb_like")
    r = command([*words, "prepare"], folder.path)
    assert r.status == 0, r.out + r.err
    assert [line for line in r.lines if "Loaded: scale" in line] == ["bank: Loaded: scale 1"]
    assert [line.split(":")[0] for line in r.lines if "Creating table" in line] == ["reads"]
    with sqlite3.connect(path) as base:
        assert base.execute("SELECT COUNT(*) FROM sbtest1").fetchone() == (10000,)
        assert base.execute("SELECT COUNT(*) FROM pgbench_tellers").fetchone() == (10,)
    r = command([*words, "cleanup"], folder.path)
    assert r.status == 0, r.out + r.err
    with sqlite3.connect(path) as base:
        assert base.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'").fetchall() == []
