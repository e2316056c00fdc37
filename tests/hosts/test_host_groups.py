# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of threads on several hosts: the hosts share the threads, the rate and the events of each
group, the groups add up to the run in every format, and messages name the host and the group."""

import csv
import json
import re
import sqlite3
import subprocess

import pytest
from fleet import BENCH
from test_host_commands import live_apart
from test_run import DRAWS, LATE

EMPTY = "function event() end\n"
KINDS = """
sysbench.kinds = {"a", "b"}
local n = 0
function event() n = n + 1; return n % 4 == 0 and sysbench.kind.b or sysbench.kind.a end
"""


def run(fleet, hosts, *args, statuses=(0,), **env):
    done = fleet.run(hosts, *args, "run", **env)
    assert done.status in statuses, done.out + done.err
    assert fleet.left() == []
    return done


def kinds(done, key="events"):
    return {kind["name"]: kind[key] for kind in done.document["groups"][0]["total"]["event_kinds"]}


def sums(done):
    """{group: its sum over the hosts}"""
    return {g["host"]["name"]: g for g in done.document["groups"][1:] if "group" not in g["host"]}


def parts(done):
    """{"host/group": the part of that group on that host}"""
    return {f"{g['host']['name']}/{g['host']['group']}": g for g in done.document["groups"][1:]
            if "group" in g["host"]}


def figures(groups, name):
    return {key: g["total"]["figures"][name] for key, g in groups.items()}


def threads(groups):
    return {key: g["host"]["threads"] for key, g in groups.items()}


def test_rates_are_shared(fleet):
    """How many arrivals at constant gaps are due does not depend on how fast the machine is."""
    fleet.script("a.lua", EMPTY)
    done = run(fleet, "a,b,c", "--arrivals=constant", "--time=2",
               "--group=reads: ./a.lua --threads=2 --rate=300",
               "--group=one: ./a.lua --threads-total=1 --rate=20",
               "--group=few: ./a.lua --threads-total=5 --rate=50", statuses=LATE)
    due = {"a/reads": 200, "b/reads": 200, "c/reads": 200, "a/one": 40, "a/few": 40, "b/few": 40, "c/few": 20}
    assert figures(parts(done), "due") == due
    assert figures(sums(done), "due") == {"reads": 600, "one": 40, "few": 100}
    assert done.total["due"] == 740
    assert threads(parts(done)) == {"a/reads": 2, "b/reads": 2, "c/reads": 2, "a/one": 1, "a/few": 2,
                                    "b/few": 2, "c/few": 1}
    assert threads(sums(done)) == {"reads": 6, "one": 1, "few": 5}
    for g in [*sums(done).values(), *parts(done).values(), done.document["groups"][0]]:
        f = g["total"]["figures"]
        assert f["events"] + f["unfinished"] + f["dropped"] == f["due"]


EXACT = {"reads": 400, "report": 30, "free": 1001}
GROUPS = ("--time=0", "--group=reads: ./a.lua --threads=2 --rate=400 --events=400",
          "--group=report: ./a.lua --threads-total=1 --rate=30 --events=30; "
          "free: ./a.lua --threads=3 --events=1001")


def test_groups_add_up_in_every_format(fleet):
    fleet.script("a.lua", EMPTY)
    done = run(fleet, "a,b", *GROUPS, "--report-interval=0.2", "--report=csv:i.csv", "--report=csv-total:t.csv",
               "--report=openmetrics:o.txt", "--report=markdown:m.md", "--assert=p99@group:reads<9s",
               "--assert=events@group:report>=30")
    everything = {f"group:{name}": n for name, n in EXACT.items()}
    assert kinds(done) == everything
    assert abs(sum(kinds(done, "share").values()) - 1) < 1e-12
    assert done.total["events"] == 1431
    assert figures(sums(done), "events") == EXACT
    assert figures(parts(done), "events") == {"a/reads": 200, "b/reads": 200, "a/report": 30,
                                              "a/free": 500, "b/free": 501}
    for name, g in sums(done).items():
        own = [part for part in parts(done).values() if part["host"]["group"] == name]
        assert sum(p["total"]["figures"]["errors"] for p in own) == g["total"]["figures"]["errors"]
        assert max(p["total"]["figures"]["max_s"] for p in own) == g["total"]["figures"]["max_s"]
    text = {line.split()[-1]: int(line.split()[0]) for line in done.out.splitlines() if "  group:" in line}
    assert text == everything
    rows = done.out.split("host/group\n")[1].split("\n\n")[0].splitlines()
    assert [row.split()[-1] for row in rows[:5]] == list(parts(done))
    metrics = (fleet.folder / "o.txt").read_text()
    assert {name: int(n) for name, n in re.findall(
        r'bench_group_events_total{group="(\w+)"} (\d+)', metrics)} == EXACT
    [total] = csv.DictReader((fleet.folder / "t.csv").open())
    intervals = list(csv.DictReader((fleet.folder / "i.csv").open()))
    assert {name: int(total[f"events@group:{name}"]) for name in EXACT} == EXACT
    for row in intervals:
        assert sum(int(row[f"events@group:{name}"]) for name in EXACT) == int(row["events"])
    assert sum(int(row["events@group:free"]) for row in intervals) == EXACT["free"]
    for name in EXACT:
        assert f"| group:{name} events/s |" in (fleet.folder / "m.md").read_text()
    again = subprocess.run([BENCH, "report", "document.json"], cwd=fleet.folder, capture_output=True,
                           text=True, check=True).stdout
    start = "\nThroughput:"
    assert again[again.index(start):] == done.out[done.out.index(start):]
    [repeat] = [line for line in done.out.splitlines() if line.startswith("Repeat:")]
    assert "--hosts=a,b" in repeat and "report: ./a.lua --threads-total=1 --rate=30 --events=30" in repeat


def test_kinds_and_weights_add_up(fleet):
    fleet.script("kinds.lua", KINDS)
    (fleet.folder / "more").mkdir()
    fleet.script("more/half.lua", "return function() end")
    fleet.script("more/one.lua", 'local half = require("half") function event() half() end')
    fleet.script("more/two.lua", EMPTY)
    done = run(fleet, "a,b", "--time=0", "--group=kinds: ./kinds.lua --threads=2 --events-per-session=40",
               "--group=mix: more/one.lua@3 more/two.lua@1 --threads=2 --events=20000",
               "--group=again: ./kinds.lua --events=8")
    found = kinds(done)
    assert [found[f"group:{name}"] for name in ("kinds", "mix", "again")] == [160, 20000, 8]
    assert (found["a"], found["b"]) == (126, 42)
    mix = [found[name] for name in ("one", "two")]
    # The 99.9th percentile of chi-square with one degree of freedom.
    assert sum(mix) == 20000
    assert sum((n - m) ** 2 / m for n, m in zip(mix, (15000, 5000), strict=True)) < 10.83
    assert {k["name"]: k["events"] for k in sums(done)["kinds"]["total"]["event_kinds"]} == {"a": 120, "b": 40}


def test_checkpoints_have_the_groups(fleet):
    """A checkpoint begins the total anew, also that of each group."""
    fleet.script("kinds.lua", 'ffi.cdef("int usleep(unsigned int);")\n'
                 + KINDS.replace("n = n + 1;", "n = n + 1; ffi.C.usleep(30000)"))
    done = run(fleet, "a,b", "--time=0", "--report-checkpoints=1", "--report-interval=0.3",
               "--group=x: ./kinds.lua --threads=2 --events-per-session=40; y: ./kinds.lua --events-per-session=44")
    group = done.document["groups"][0]
    records = [*group["checkpoints"], group["total"]]
    assert len(records) == 2
    for record in [*records, *group["intervals"]]:
        found = {kind["name"]: kind["events"] for kind in record["event_kinds"]}
        assert found["group:x"] + found["group:y"] == found["a"] + found["b"] == record["figures"]["events"]
    whole = {name: sum(kind["events"] for record in records for kind in record["event_kinds"] if kind["name"] == name)
             for name in ("group:x", "group:y", "a", "b")}
    assert whole == {"group:x": 160, "group:y": 88, "a": 186, "b": 62}
    assert figures(sums(done), "events") == {name: kinds(done)[f"group:{name}"] for name in "xy"}


def test_phases_of_a_group_add_up(fleet):
    """The time of the run is that of all groups, and the text has the phases of each group once."""
    fleet.script("a.lua", EMPTY)
    done = run(fleet, "a,b", "--arrivals=constant", "--rate-profile=hold:40/0.5s; hold:20/0.5s",
               "--group=x: ./a.lua --threads=3", "--group=y: ./a.lua --rate=30 --rate-profile=none",
               statuses=LATE)
    assert figures(sums(done), "due") == {"x": 30, "y": 30}
    assert done.document["facts"]["plan"]["rate"] == 60
    assert [p["due"] for p in sums(done)["x"]["total"]["phases"]] == [20, 10]
    assert done.out.count("\nPhases of the group ") == 1
    rows = done.out.split("\nPhases of the group x (times in ms):\n")[1].splitlines()
    assert [row.split()[1] for row in rows[1:3]] == ["20", "10"]


def test_groups_on_hosts_draw_what_groups_on_one_host_draw(fleet):
    for name, hosts, each in (("here", None, 4), ("hosts", "a,b", 2)):
        (fleet.folder / name).mkdir()
        script = fleet.script("draws.lua", 'sysbench.cmdline.options = {of = {"", "x"}}\n' + DRAWS.replace(
            '"/" .. id', '"/" .. sysbench.opt.of .. "-" .. id'))
        args = ("--rand-seed=7", "--time=0", "--events-per-session=2", f"--threads={each}",
                f"--group=x: {script}; y: {script} --of=y --rand-seed=9")
        env = {"DRAWS": str(fleet.folder / name)}
        if hosts is None:
            subprocess.run([BENCH, *args, "run"], cwd=fleet.folder, check=True, capture_output=True, env=env)
        else:
            run(fleet, hosts, *args, **env)
    here, hosts = ({path.name: path.read_text() for path in (fleet.folder / name).iterdir()}
                   for name in ("here", "hosts"))
    assert sorted(here) == [f"{group}-{tid}" for group in "xy" for tid in range(4)]
    assert here == hosts and len(set(here.values())) == 8


# The part of the group on the second host, whose only thread has the number 1.
BROKEN = "local n = 0\nfunction event() n = n + 1; if n > 100 and sysbench.tid == 1 then %s end end\n"


@pytest.mark.parametrize("what, said, lost", [
    ("error('it is broken')", "b/bad: FATAL: `thread_run' function failed: bad.lua:2: it is broken", False),
    ("os.execute('kill -9 $PPID')", "b/bad: lost: the process started for it was ended by a signal: Killed", True)])
def test_host_and_group_of_a_failure_are_named(fleet, what, said, lost):
    """The other parts stay, also those of the same group."""
    fleet.script("a.lua", EMPTY)
    fleet.script("bad.lua", BROKEN % what)
    done = run(fleet, "a,b", *GROUPS, "--group=bad: ./bad.lua --events=1000 --rate=100000",
               "--on-host-loss=continue", statuses=(1,))
    assert said in done.err
    missing = r"^b/bad: missing from the report.*: 1 of 2 threads, \d+ of --events=1000, 50000 of --rate=100000$"
    assert re.search(missing, done.err, re.M), done.err
    assert {name: n for name, n in figures(sums(done), "events").items() if name != "bad"} == EXACT
    assert figures({"a/bad": parts(done)["a/bad"]}, "events") == {"a/bad": 500}
    assert (parts(done)["b/bad"]["host"]["lost"] is not None) == lost
    assert (sums(done)["bad"]["host"]["lost"] is not None) == lost
    bad = kinds(done)["group:bad"]
    assert bad == sums(done)["bad"]["total"]["figures"]["events"]
    assert bad == (500 if lost else 600) or (lost and 500 < bad <= 600)
    assert done.total["events"] == 1431 + bad


def test_one_failure_ends_all_unless_told_otherwise(fleet):
    fleet.script("a.lua", EMPTY)
    fleet.script("bad.lua", BROKEN % "error('no')")
    done = run(fleet, "a,b", "--time=60", "--group=x: ./a.lua --rate=100", "--group=bad: ./bad.lua --rate=1000",
               statuses=(1,))
    assert "b/bad: the run failed there; the other processes are stopped (--on-host-loss=abort)" in done.err
    assert figures({"b/bad": parts(done)["b/bad"]}, "events") == {"b/bad": 100}


@pytest.mark.parametrize("args, said", [
    (("--x.events=1",), "--group=x: --events=1: there are 2 hosts, and each needs at least 1"),
    (("--x.threads=q",), "--group=x: --threads=q: not a whole number; allowed: 1 to 1000000"),
    (("--x.threads-total=1000001",), "--group=x: --threads-total=1000001: out of range"),
    (("--x.threads=600000",), "--group=x: --threads: the hosts have 1200000 threads together"),
    (("--time=1", "--x.threads-profile=hold:3/1s"),
     "--group=x: --threads-profile=hold:3/1s: cannot be used with --hosts"),
    (("--time=1", "--x.rate-profile=trace:t"), "--group=x: --rate-profile=trace:t: a trace cannot be used"),
    (("--x.hosts=c",), "--group=x: --hosts has one value for the whole run"),
    (("--group=y: sub/a.lua@1 ./a.lua@1",), "with --hosts the scripts of all workloads must be in one folder"),
    (("--mysql-password-prompt",), "--mysql-password-prompt cannot be used in a run with --group"),
    (("--x.mysql-password-prompt",), "--mysql-password-prompt cannot be used in a run with --group")])
def test_what_cannot_be_combined(fleet, args, said):
    fleet.script("a.lua", EMPTY)
    fleet.script("t", "0,5\n1,5\n")
    (fleet.folder / "sub").mkdir()
    fleet.script("sub/a.lua", EMPTY)
    done = run(fleet, "a,b", "--group=x: ./a.lua", *args, statuses=(1,))
    assert said in done.err


def test_bad_lists_of_hosts(fleet):
    fleet.script("a.lua", EMPTY)
    done = run(fleet, "a:2,b", "--group=x: ./a.lua", statuses=(1,))
    assert "--hosts: 'a:2' has a number of threads, which cannot be used with --group" in done.err
    done = run(fleet, "a,b", "--threads-total=2", "--group=x: ./a.lua --threads=4", statuses=(1,))
    assert ("--group=x: --threads cannot be used with --threads-total, which takes its place; leave one out, or "
            "write --threads-total=0 in this group") in done.err
    many = ",".join(f"h{i}" for i in range(100))
    done = run(fleet, many, "--group=x: ./a.lua; y: ./a.lua; z: ./a.lua", statuses=(1,))
    assert ("--group: 3 groups on 100 hosts need more than 256 processes; use fewer groups or hosts"
            in done.err)


def test_the_options_of_a_group_beat_those_outside(fleet):
    """Also by old names, those of the configuration file, and --NAME.OPTION."""
    fleet.script("a.lua", EMPTY)
    fleet.script("old.cnf", "tx-rate=70\nnum-threads=3\nthreads-total=2\n")
    done = run(fleet, "a,b", "--config-file=old.cnf", "--time=0", "--events=40", "--arrivals=constant",
               "--group=x: ./a.lua --num-threads=2 --threads-total=0 --rate=100 --threads-profile=none",
               "--group=y: ./a.lua --max-requests=10", "--y.tx-rate=90", "--group=z: ./a.lua")
    assert threads(parts(done)) == {"a/x": 2, "b/x": 2, "a/y": 1, "b/y": 1, "a/z": 1, "b/z": 1}
    assert figures(sums(done), "events") == {"x": 40, "y": 10, "z": 40}
    assert done.document["facts"]["plan"]["rate"] == 260
    assert done.document["facts"]["plan"]["events"] == 90


def test_a_wrong_weight_of_a_group_is_refused(fleet):
    """The other workloads of the group do not run without it."""
    fleet.script("a.lua", EMPTY)
    done = run(fleet, "a,b", "--time=0", "--events=2", "--group=x: a.lua@1 a.lua@0", statuses=(1,))
    assert done.err.splitlines()[-1] == \
        "a.lua@0: the weight of a workload must be a number above 0 and up to 1e9, written as 8 or 2.5"


def test_passwords_reach_the_hosts_and_no_list_of_processes(fleet):
    fleet.script("word", "s3cr3t-word\n")
    fleet.script("conf", "mysql-password-file=word\n")
    fleet.script("a.lua", """
sysbench.sql.driver()
ffi.cdef("int usleep(unsigned int);")
function thread_init() print("password", #sysbench.opt.mysql_password, sysbench.opt.mysql_host[1]) end
function event() ffi.C.usleep(10000) end
""")
    fleet.begin("a,b", "--db-driver=mysql", "--time=60", "--config-file=conf",
                "--group=x: ./a.lua --mysql-password-file=word; conf: ./a.lua",
                "--group=y: ./a.lua --mysql-password=another-s3cr3t-word",
                "--group=z: ./a.lua --connect=mysql://me@db1/db?password-file=word",
                "--group=u: ./a.lua --connect=mysql://me:s3cr3t-word-in-uri@db1/db", "run")
    fleet.wait_for_line("Threads started!")
    shown = fleet.processes()
    fleet.process.terminate()
    done = fleet.finish()
    assert len(fleet.processes()) == 0 and len(shown) >= 11
    assert "s3cr3t" not in " ".join(shown.values()) + json.dumps(done.document) + done.out + done.err
    told = {line.split(":")[0]: line.split("\t")[1:] for line in done.err.splitlines() if "password" in line}
    assert told == {f"{host}/{group}": words for host in "ab" for group, words in {
        "x": ["11", "localhost"], "conf": ["11", "localhost"], "y": ["19", "localhost"],
        "z": ["11", "db1"], "u": ["18", "db1"]}.items()}


def test_a_password_file_of_a_group_beats_a_password_outside(fleet):
    """Outside is the command line or a configuration file; a group's own password beats its own file."""
    fleet.script("word", "from-file\n")
    fleet.script("conf", "mysql-password=outside-conf\n")
    fleet.script("a.lua", "sysbench.sql.driver()\n"
                 "function thread_init() print('password', sysbench.opt.mysql_password) end\n" + EMPTY)
    for outside in ("--mysql-password=outside", "--config-file=conf"):
        done = run(fleet, "a,b", "--db-driver=mysql", "--events=20", "--time=0", outside,
                   "--group=file: ./a.lua --mysql-password-file=word", "--group=none: ./a.lua",
                   "--group=both: ./a.lua --mysql-password-file=word --mysql-password=direct")
        told = {line.split(":")[0]: line.split("\t")[1] for line in done.err.splitlines() if "password" in line}
        word = "outside" if "conf" not in outside else "outside-conf"
        assert told == {f"{host}/{group}": password for host in "ab" for group, password in {
            "file": "from-file", "none": word, "both": "direct"}.items()}


def test_commands_are_executed_for_one_group_after_the_other(fleet):
    """In each of them the hosts do what they do without groups; groups that share data do it once."""
    words = ("--db-driver=null", "--group=reads: oltp_point_select --tables=3 --threads=2",
             "--group=writes: oltp_insert --tables=3", "--group=own: ./own.lua")
    fleet.script("own.lua", "function prepare() print('own', sysbench.tid) end\n"
                 "function cleanup() end\n" + EMPTY)
    done = fleet.run("a,b", *words, "prepare")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert sorted(line for line in lines if "Creating table" in line) == [
        f"reads: Creating table 'sbtest{i}'..." for i in (1, 2, 3)]
    assert lines[-1] == "own: own\t0"
    done = fleet.run("a,b", *words, "cleanup")
    assert done.status == 0, done.err
    assert [line for line in done.out.splitlines() if "Dropping" in line] == [
        f"reads: Dropping table 'sbtest{i}'..." for i in (1, 2, 3)]
    assert fleet.left() == []


@pytest.mark.parametrize("within, outside", [("--db-driver=sqlite --sqlite-db=x.db", "--threads=1"),
                                             ("--sqlite-db=x.db", "--db-driver=sqlite")])
def test_each_host_has_a_database_of_its_own_with_sqlite(fleet, within, outside):
    """The driver of each group decides.  A group of which a host has no threads fills the tables there
    for the next group, which uses the same ones."""
    live_apart(fleet, "ab")
    words = (outside, f"--group=one: oltp_point_select {within} --table-size=50 --threads-total=1",
             f"--group=reads: oltp_point_select {within} --table-size=50",
             "--group=n: oltp_insert --db-driver=null")
    done = fleet.run("a,b", *words, "prepare")
    assert done.status == 0, done.err
    assert [line for line in done.out.splitlines() if "'sbtest1'..." in line and "Creating table" in line][2:] == [
        "n: Creating table 'sbtest1'..."]
    for host in "ab":
        assert f"{host}/one: Creating table 'sbtest1'..." in done.out
        with sqlite3.connect(fleet.folder / host / "x.db") as base:
            assert base.execute("SELECT COUNT(*) FROM sbtest1").fetchone() == (50,)
    done = run(fleet, "a,b", *words, "--time=0", "--events=20")
    assert figures(parts(done), "events") == {"a/one": 20, "a/reads": 10, "b/reads": 10, "a/n": 10, "b/n": 10}


@pytest.mark.parametrize("fails, status", [("true", 5), ("id == 0 or nil", 0)])
def test_a_group_of_which_no_event_succeeds_on_any_host_is_named(fleet, fails, status):
    fleet.script("a.lua", EMPTY)
    fleet.script("w.lua", f"function event(id) return {fails} end\n")
    done = run(fleet, "a,b", "--group=a: ./a.lua --events=9", "--group=w: ./w.lua --events=5", "--time=0",
               statuses=(status,))
    assert done.document["end"]["status"] == status
    assert [line.split(",")[0] for line in done.err.splitlines()] == ["w: no event succeeded"] * (status != 0)


@pytest.mark.slow
def test_a_checkpoint_does_not_hide_a_group_of_which_no_event_succeeds(fleet):
    """The others have events in it, which the final report does not have."""
    fleet.script("a.lua", EMPTY)
    fleet.script("w.lua", "function event(id) return true end\n")
    done = run(fleet, "a,b", "--group=a: ./a.lua --rate=50", "--group=w: ./w.lua", "--time=1.5",
               "--report-checkpoints=1", statuses=(5,))
    assert "w: no event succeeded" in done.err and "a: no event succeeded" not in done.err


def test_a_checkpoint_does_not_hide_why_no_event_of_a_group_succeeds(fleet):
    live_apart(fleet, "ab")
    fleet.script("a.lua", EMPTY)
    fleet.script("w.lua", """
        function thread_init()
          con = sysbench.sql.driver():connect()
          con:query("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY)")
          con:query("INSERT OR IGNORE INTO t VALUES (1)")
        end
        function event() con:query("INSERT INTO t VALUES (1)") end
        """)
    done = run(fleet, "a,b", "--group=a: ./a.lua --rate=50",
               "--group=w: ./w.lua --events=5 --db-driver=sqlite --sqlite-db=x.db --db-max-tries=1 "
               "--db-ignore-errors=duplicate", "--time=1.5", "--report-checkpoints=1", statuses=(5,))
    assert "w: no event succeeded: 5 statements failed with errors that are ignored" in done.err, done.err


def test_a_sweep_varies_the_rate_of_a_group(fleet):
    fleet.script("kinds.lua", KINDS)
    done = subprocess.run(
        [BENCH, "sweep", "--out=s", "--vary=report.rate=20,40", "--repeat=1", "--seed=1", "--time=0",
         "--group=reads: ./kinds.lua --rate=100 --events=40; "
         "report: ./kinds.lua --threads-total=1 --events=20",
         "--hosts=a,b", "--hosts-shell=./shell", f"--hosts-program={BENCH}", "run"],
        cwd=fleet.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rates = []
    for path in fleet.folder.glob("s/**/runs/*.json"):
        document = json.loads(path.read_text())
        rates.append(document["facts"]["plan"]["rate"])
        found = {kind["name"]: kind["events"] for kind in document["groups"][0]["total"]["event_kinds"]}
        assert found == {"a": 45, "b": 15, "group:reads": 40, "group:report": 20}
    assert sorted(rates) == [120, 140]
