# SPDX-License-Identifier: GPL-2.0-or-later
"""A run on several hosts is the run of one process with all their threads."""

import csv
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import bench
import documents
import gate
import pytest
from fleet import BENCH

# With --rate, a busy machine may be late at the end.
LATE = (0, 4)
# Each session writes the numbers that it draws, and does nothing then.
DRAWS = """
function thread_init(id)
  local file = io.open(os.getenv("DRAWS") .. "/" .. id, "w")
  for i = 1, 20 do
    file:write(sysbench.rand.uniform(1, 1000000), " ", sysbench.rand.gaussian(1, 1000000), "\\n")
  end
  file:close()
end
function event() end
"""
# Sessions 0 to 3 have events of 5 ms, the others of up to 45 ms.  How long each of them was.
RECORDED = """
ffi.cdef("int usleep(unsigned int); int clock_gettime(int, long *);")
local t, file = ffi.new("long[2]")
local function now() ffi.C.clock_gettime(1, t) return tonumber(t[0]) + tonumber(t[1]) * 1e-9 end
function thread_init(id)
  file = io.open(os.getenv("RECORD") .. "/" .. id, "w")
end
function event(id)
  local begin = now()
  ffi.C.usleep(id < 4 and 5000 or sysbench.rand.uniform(5000, 45000))
  file:write(now() - begin, "\\n")
end
function thread_done() file:close() end
"""
QUERIES = """
ffi.cdef("int usleep(unsigned int);")
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:query("SELECT 1")
  ffi.C.usleep(10000)
end
"""

QUICK = ("--cpu-max-prime=100", "--time=0")
# Between events; percentiles of one host, and their mean, are further away.
TOLERANCE_S = 0.005


@pytest.mark.threads
@pytest.mark.sanitized
def test_counters_add_up(fleet):
    done = fleet.run("a,b", "cpu", *QUICK, "--events=1001", "--threads=2", "run")
    assert done.status == 0, done.err
    assert done.total["events"] == 1001
    assert sum(done.member(h)["total"]["figures"]["events"] for h in "ab") == 1001
    assert [done.member(h)["host"]["threads"] for h in "ab"] == [2, 2]
    assert re.search(r"total number of events: +1001\b", done.out)
    assert len(done.document["groups"][0]["total"]["raw"]["sessions"]) == 4
    assert fleet.left() == []


def test_each_thread_of_each_host_has_its_events(fleet):
    done = fleet.run("a,b:3", "cpu", *QUICK, "--events-per-session=50", "--threads=2", "--time=0", "run")
    assert done.status == 0, done.err
    assert done.total["events"] == 250 and done.document["facts"]["plan"]["events"] == 250
    assert [done.member(h)["total"]["figures"]["events"] for h in "ab"] == [100, 150]
    assert [row[0] for row in done.document["groups"][0]["total"]["raw"]["sessions"]] == [50] * 5
    assert done.document["end"]["reason"] == "event limit"


def test_two_hosts_of_two_threads_draw_what_four_threads_draw(fleet):
    script = fleet.script("draws.lua", DRAWS)
    texts = []
    for hosts, threads in (("a,b", 2), ("a", 4), ("a:1,b:3", 7)):
        folder = fleet.folder / f"draws{len(texts)}"
        folder.mkdir()
        done = fleet.run(hosts, script, "--events=4", f"--threads={threads}", "--rand-seed=7", "run",
                         DRAWS=str(folder))
        assert done.status == 0, done.err
        texts.append({path.name: path.read_text() for path in folder.iterdir()})
    assert sorted(texts[0]) == ["0", "1", "2", "3"]
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize("draw", ["sysbench.rand.unique()", "sb_rand_uniq()", "sb_rand_uniq(1, 10000)"])
def test_unique_numbers_are_unique_on_all_hosts(fleet, draw):
    script = fleet.script("unique.lua", """
function event(id)
  local file = io.open(os.getenv("DRAWS") .. "/" .. id, "a")
  file:write(NUMBER, "\\n")
  file:close()
end
""".replace("NUMBER", draw))
    folder = fleet.folder / "draws"
    folder.mkdir()
    done = fleet.run("a,b:2,c", script, "--events=300", "--rand-seed=7", "run", DRAWS=str(folder))
    assert done.status == 0, done.err
    numbers = [n for path in folder.iterdir() for n in path.read_text().split()]
    assert len(numbers) == 300 and len(set(numbers)) == 300


@pytest.mark.parametrize("hosts,options,threads", [
    ("a,b,c", ["--threads-total=8"], [3, 3, 2]),
    gate.slow("a,b:5", ["--threads=2"], [2, 5]),
    ("a,b:5", ["--threads-total=6"], [1, 5]),
])
def test_threads_of_each_host(fleet, hosts, options, threads):
    done = fleet.run(hosts, "cpu", *QUICK, "--events=100", *options, "run")
    assert done.status == 0, done.err
    assert [g["host"]["threads"] for g in done.document["groups"][1:]] == threads


@pytest.mark.parametrize("threads, lines", [("4", []), ("5", ["Number of workers: 2"])])
def test_the_heading_compares_workers_with_the_threads_of_a_host(fleet, threads, lines):
    script = fleet.script("quick.lua", "function event() end")
    done = fleet.run("a,b", script, "--events=100", f"--threads-total={threads}", "--workers=2", "run")
    assert done.status == 0, done.err
    assert re.findall("Number of workers.*", done.out) == lines
    assert f"Number of threads: {threads}\n" in done.out


def test_all_threads_are_here_without_hosts():
    done = bench.run("cpu", *QUICK, "--events=100", "--threads-total=3", "run")
    assert done.status == 0 and "Number of threads: 3\n" in done.out
    # A profile is held against them, and not against --threads.
    profile = ("cpu", QUICK[0], "--threads=1", "--threads-profile=hold:4/100ms", "run")
    done = bench.run(*profile, "--threads-total=4")
    assert done.status == 0 and "Number of threads: 4\n" in done.out
    assert "more than --threads=3" in bench.run(*profile, "--threads-total=3").err


def test_a_file_of_hosts(fleet):
    (fleet.folder / "hosts").write_text("a  # the first\nb:3\n")
    done = fleet.run("c", "cpu", *QUICK, "--events=10", "--hosts-file=hosts", "run")
    if done.status != 0:  # both at once may be refused, if a sentence says so
        assert "--hosts" in done.err
        return
    assert {g["host"]["name"] for g in done.document["groups"][1:]} >= {"a", "b"}


@pytest.mark.threads
def test_the_rate_is_that_of_all_hosts(fleet):
    done = fleet.run("a,b:3", fleet.steady(), "--rate=300", "--time=1", "--threads=5", "run")
    assert done.status in LATE, done.err
    # A Poisson process of 300: 4 deviations are 70.  A busy machine may be late with the last ones.
    assert 230 < done.total["due"] < 370
    assert done.member("a")["total"]["figures"]["due"] > done.member("b")["total"]["figures"]["due"]


@pytest.mark.slow
def test_the_rate_of_a_dialect_is_whole(fleet):
    done = fleet.run("a,b", fleet.steady(), "--compat=1.1", "--rate=101", "--time=1", "run")
    assert done.status in LATE, done.err
    assert done.total["events"] > 40


@pytest.mark.parametrize("returns, status", [("1", 5), ("nil", 0)])
def test_hosts_without_a_successful_event_have_a_status_of_their_own(fleet, returns, status):
    """Their sum decides, and one sentence says so."""
    script = fleet.script("returns.lua", f"function event() return {returns} end")
    done = fleet.run("a,b", script, "--threads=2", "--events=100", "--time=0", "run")
    assert done.status == done.document["end"]["status"] == status
    assert done.err.count("no event succeeded") == (status != 0)


def test_figures_are_those_of_all_events(fleet):
    """One host has events of 5 ms and the other of 5 to 45 ms, so that percentiles cannot be averaged."""
    script = fleet.script("recorded.lua", RECORDED)
    folder = fleet.folder / "record"
    folder.mkdir()
    done = fleet.run("a,b", script, "--time=1", "--threads=4", "--percentile=95", "--rand-seed=1",
                     "run", RECORD=str(folder))
    assert done.status == 0, done.err
    events = sorted(float(s) for p in folder.iterdir() for s in p.read_text().split())
    assert len(events) == done.total["events"] > 100
    assert sum(count for _, count in histogram(done.document)) == len(events)
    whole = done.document["groups"][0]["total"]
    shown = next(p["s"] for p in whole["percentiles"] if p["percent"] == 95)
    # The engine counts what is between the events of a script too.
    exact = events[math.ceil(0.95 * len(events)) - 1]
    assert exact * 0.999 <= shown <= exact * 1.001 + TOLERANCE_S
    # A host that starts later makes the span of all longer than its own.
    assert in_span(done.total) == pytest.approx(sum(in_span(done.member(h)["total"]["figures"]) for h in "ab"))


def in_span(figures):
    return figures["events_per_s"] * figures["span_s"]


def histogram(document):
    return documents.histogram(document["groups"][0]["total"])


def test_intervals_are_those_of_all_hosts(fleet):
    """A machine that stands still leaves some out, and what is late has more events."""
    done = fleet.run("a,b", fleet.steady(), "--time=2", "--threads=2", "--report-interval=0.2", "run")
    assert done.status == 0, done.err
    lines = re.findall(r"^\[ [\d.]+s \] thds: (\d)", done.out, re.M)
    intervals = [i["figures"] for i in done.document["groups"][0]["intervals"]]
    assert set(lines) == {"4"} and len(lines) == len(intervals)
    # Four threads have events of 10 ms; one of each may have begun before.
    assert all(i["events"] <= 4 * (100 * i["span_s"] + 2) for i in intervals), intervals
    events, span_s = sum(i["events"] for i in intervals), sum(i["span_s"] for i in intervals)
    assert events <= done.total["events"]
    # One host alone has half of them.
    most = max(done.member(h)["total"]["figures"]["events"] for h in "ab")
    assert events > most * span_s / done.total["span_s"], (intervals, most)


def test_checkpoints_divide_the_run(fleet):
    """Statements are told of the total alone."""
    script = fleet.script("queries.lua", QUERIES)
    done = fleet.run("a,b", script, "--time=0", "--events=450", "--report-checkpoints=0,1",
                     "--db-driver=null", "--statements", "run")
    assert done.status == 0, done.err
    checkpoint, = done.document["groups"][0]["checkpoints"]
    figures = checkpoint["figures"]
    first = figures["events"]
    assert 0 < first < 450 and first + done.total["events"] == 450
    statement, = done.document["groups"][0]["total"]["statements"]
    # An event is cut, and a thread that is put aside while it counts finds more of them.
    assert 0 < statement["count"] < 450
    assert figures["events_per_s"] == pytest.approx(first / figures["span_s"])
    assert checkpoint["percentiles"][0]["s"] >= 0.01
    assert float.fromhex(checkpoint["raw"]["fair_events"][0]) == 2
    assert done.total["events"] == sum(done.member(h)["total"]["figures"]["events"] for h in "ab")
    assert done.out.count("Checkpoint report:") == 1 and re.search(r"^\[ \d+s \] Checkpoint report:", done.out, re.M)


def test_errors_of_a_checkpoint_have_class_and_message(fleet):
    script = fleet.script("duplicates.lua", """
ffi.cdef("int usleep(unsigned int);")
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)")
  con:query("INSERT OR IGNORE INTO t VALUES (1)")
end
function event()
  pcall(con.query, con, "INSERT INTO t VALUES (1)")
  con:query("SELECT 1")
  ffi.C.usleep(10000)
end
""")
    for host in "ab":  # each has a database of its own
        elsewhere(fleet, host)
    done = fleet.run("a,b", script, "--time=2", "--report-checkpoints=1", "--db-driver=sqlite", "--sqlite-db=data",
                     "--db-ignore-errors=duplicate", "run")
    assert done.status == 0, done.err
    checkpoint, total = done.out.split("Checkpoint report:")[1].split("SQL statistics:")[1:3]
    for report in (checkpoint, total):
        assert re.search(r"^ +\d+ \(duplicate\): +\d+ +UNIQUE constraint failed: t.id$", report, re.M), report


def test_an_assertion_is_about_all_hosts(fleet):
    """Each host alone would violate it."""
    done = fleet.run("a,b", "cpu", *QUICK, "--events=100", "--assert=events>=100", "run")
    assert done.status == 0, done.err
    done = fleet.run("a,b", "cpu", *QUICK, "--events=100", "--assert=events>=101", "run")
    assert done.status == 3
    assert len(done.document["assertions"]) == 1


@pytest.mark.parametrize("words", [
    gate.sanitized(("cpu", "--assert=p99@read<5ms")), gate.slow(("cpu", "--assert=reads>5")),
    gate.slow(("cpu", "--assert=served>0")),
    gate.sanitized(("oltp_read_only", "--db-driver=null", "--assert=p99@begin<5ms")),
])
def test_an_assertion_that_cannot_be_judged(fleet, words):
    """It is refused before the start, with the sentence of one process."""
    alone = subprocess.run([BENCH, *words, "run"], cwd=fleet.folder, capture_output=True, text=True)
    done = fleet.run("a,b", *words, "run")
    assert alone.returncode == done.status == 1
    assert words[-1] in done.err and done.err == alone.stderr
    assert "Threads started" not in done.out and fleet.left() == []


def test_assertions_about_statements(fleet):
    """They are judged by the statements of all hosts."""
    done = fleet.run("a,b", "oltp_read_only", "--db-driver=null", "--events=100", "--statements",
                     "--assert=p99@commit<10s,p99@commit<0ns,p99@nothing<1s", "run")
    assert done.status == 3, done.err
    asserted = {a["text"]: a for a in done.document["assertions"]}
    assert asserted["p99@commit<10s"]["holds"] and not asserted["p99@commit<0ns"]["holds"]
    assert asserted["p99@nothing<1s"]["value"] is None
    counts = {s["name"]: s["count"] for s in done.document["groups"][0]["total"]["statements"]}
    assert counts["commit"] == 100


def test_every_form_of_report(fleet):
    done = fleet.run("a,b", "cpu", *QUICK, "--events=100", "--report=csv-total:total.csv",
                     "--report=jsonl:rows", "--report=markdown:table", "--report-interval=1", "run")
    assert done.status == 0, done.err
    with open(fleet.folder / "total.csv", encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert float(row["events"]) == 100
    assert "| threads | 2 |" in (fleet.folder / "table").read_text()


@pytest.mark.sanitized
def test_a_result_in_several_frames(fleet):
    fleet.relay("b", "--fault=split@RESULT")
    done = fleet.run("a,b", "cpu", *QUICK, "--events=100", "run")
    assert done.status == 0, done.err
    assert done.total["events"] == 100


@pytest.mark.slow
def test_results_do_not_grow_with_the_length_of_the_run(fleet):
    """The relay closes the connection behind so many bytes of a result: intervals are not in it."""
    fleet.relay("b", "--fault=limit@RESULT", "--limit=40000")
    done = fleet.run("a,b", fleet.steady(), "--time=4", "--report-interval=0.02", "run")
    assert done.status == 0, done.err
    assert len(done.document["groups"][0]["intervals"]) > 50


def test_a_report_made_again_is_the_same(fleet):
    done = fleet.run("a,b", "cpu", *QUICK, "--events=100", "run")
    again = subprocess.run([BENCH, "report", "document.json"], cwd=fleet.folder, check=True,
                           capture_output=True, text=True).stdout
    assert done.out.partition("General statistics")[2] == again.partition("General statistics")[2]


def test_the_table_of_hosts(fleet):
    """Its rank is the greatest of several, as in every other line."""
    done = fleet.run("first,second", "cpu", *QUICK, "--events=100", "--percentile=50,99.9,95", "run")
    assert re.search(r"^ +threads +events/s +p99.9 ms ", done.out, re.M), done.out
    for host in ("first", "second"):
        row = next(line for line in done.out.splitlines() if line.split()[-1:] == [host]).split()
        assert len(row) >= 6
        shown = {p["percent"]: p["s"] for p in done.member(host)["total"]["percentiles"]}
        assert float(row[2]) == pytest.approx(shown[99.9] * 1e3, abs=0.01)
        member = done.member(host)["host"]
        assert member["lost"] is None and 0 < member["clock_error_s"] < 30
        assert 0 <= member["start_lag_s"] < 60 and member["processor_s"] > 0
        assert 0 < member["time_s"] <= done.total["span_s"]


UNEQUAL = """
ffi.cdef("int usleep(unsigned int);")
function event(id) ffi.C.usleep(id < 2 and 1000 or 40000) end
"""


@pytest.mark.slow
def test_hosts_that_end_at_different_times(fleet):
    """The rate is that of all events in the time until the last, as that of one process."""
    done = fleet.run("a,b", fleet.script("unequal.lua", UNEQUAL), "--time=0", "--events=400",
                     "--threads=2", "run")
    assert done.status == 0, done.err
    times = {host: done.member(host)["host"]["time_s"] for host in "ab"}
    together = done.document["facts"]["hosts"]["together_s"]
    assert done.total["events"] == 400 and times["b"] >= 4
    assert done.total["span_s"] == pytest.approx(max(times.values()), abs=0.5)
    assert done.total["events_per_s"] == pytest.approx(400 / done.total["span_s"])
    assert together <= min(times.values())
    assert re.search(r"All hosts ran together for [\d.]+ s of [\d.]+ s$", done.out, re.M), done.out


@pytest.mark.sanitized
def test_no_secret_on_a_command_line_or_in_a_file(fleet):
    secret = "s3cr3t-word"
    (fleet.folder / "password").write_text(secret + "\n")
    script = fleet.script("telling.lua", """
function thread_init() print("password", #sysbench.opt.mysql_password) end
function event() end
""")
    done = fleet.run("a", script, "--events=1", "--mysql-password-file=password", "run")
    assert done.status == 0, done.err
    assert "password\t11" in done.err
    assert fleet.words("a") == ["a", BENCH, "--agent"]
    assert secret not in json.dumps(done.document)


def test_empty_lines_of_the_shell_are_not_shown(fleet):
    """ssh ends its own lines with a carriage return and a newline."""
    (fleet.folder / "a.way").write_text("printf 'one\\r\\n\\r\\n\\ntwo\\r\\n' >&2\nexec \"$@\"\n")
    done = fleet.run("a", fleet.script("s.lua", "function event() end"), "--events=2", "--time=0", "run")
    assert done.status == 0 and done.err == "a: one\na: two\n"


@pytest.mark.parametrize("way", ["a variable", "a URI", "a configuration file"])
def test_passwords_reach_the_hosts(fleet, way):
    """The agent is started without the variables of whoever types the command, as ssh does."""
    script = fleet.script("telling.lua", """
function thread_init()
  print("password", #sysbench.opt.mysql_password + #(os.getenv("MYSQL_PWD") or ""))
end
function event() end
""")
    (fleet.folder / "word").write_text("s3cr3t-word\n")
    (fleet.folder / "conf").write_text("mysql-password-file=word\n")
    (fleet.folder / "a.way").write_text('unset MYSQL_PWD\nexec "$@"\n')
    env = {"MYSQL_PWD": "s3cr3t-word"} if way == "a variable" else {}
    args = {"a URI": ["--connect=mysql://sbtest@127.0.0.1/sbtest?password-file=word"],
            "a configuration file": ["--config-file=conf"]}.get(way, [])
    done = fleet.run("a", script, "--events=1", *args, "run", **env)
    assert done.status == 0, done.err
    assert "password\t11" in done.err
    assert "s3cr3t-word" not in json.dumps(done.document)


@pytest.mark.parametrize("file", ["--config-file=conf", "--mysql-password-file=old"])
def test_a_given_password_beats_that_of_a_file_on_hosts_too(fleet, file):
    """As without hosts, where the file is not read."""
    script = fleet.script("telling.lua", """
function thread_init() print("password", sysbench.opt.mysql_password) end
function event() end
""")
    (fleet.folder / "conf").write_text("mysql-password-file=old\n")
    for _ in range(2):
        done = fleet.run("a", script, "--events=1", "--mysql-password=new", file, "run")
        assert done.status == 0, done.err
        assert "password\tnew\n" in done.err
        (fleet.folder / "old").write_text("old\n")


def test_modules_beside_the_script_are_sent(fleet):
    (fleet.folder / "lib").mkdir()
    fleet.script("lib/helper.lua", "return {event = function() print('helped') end}")
    script = fleet.script("lib/one.lua", "event = require('helper').event")
    done = fleet.run("a,b", script, "--events=2", "run")
    assert done.status == 0, done.err
    assert "helped" in done.err and fleet.left() == []


def elsewhere(fleet, host):
    """The host's agent is started in a folder of its own, which is returned."""
    home = fleet.folder / f"home-{host}"
    home.mkdir()
    (fleet.folder / f"{host}.way").write_text(f'cd {home} && exec "$@"\n')
    return home


@pytest.mark.parametrize("load", ["require('other')", "dofile('other.lua')", "loadfile('other.lua')()"])
@pytest.mark.parametrize("where", ["at the top", "in thread_init"])
@pytest.mark.parametrize("here", [True, False], ids=["here", "not here"])
def test_hosts_run_the_same_modules(fleet, load, where, here):
    """A module that does not stand beside the script is that of each host."""
    text = load if where == "at the top" else f"function thread_init() {load} end"
    (fleet.folder / "lib").mkdir()
    script = fleet.script("lib/one.lua", f"{text}\nfunction event() end")
    homes = [elsewhere(fleet, host) for host in "ab"]
    name = "./other.lua" if "require" in load else "other.lua"
    for home in (*homes, *[fleet.folder] * here):
        (home / "other.lua").write_text("print('the same')")
    done = fleet.run("a,b", script, "--events=2", "run")
    assert done.status == 0 and done.err.count("the same") >= 2, done.err
    (homes[1] / "other.lua").write_text("print('another')")
    done = fleet.run("a,b", script, "--events=2", "run")
    assert done.status == 1 and "Threads started" not in done.out, done.err
    other = [f"{name}' here", f"{name}' of "][not here]
    assert f"its script '{name}' is another one than '{other}" in done.err
    assert fleet.left() == []


@pytest.mark.parametrize("command", ["prepare", "run"])
def test_hosts_run_the_same_bundle(fleet, command):
    """Another build of bench on one host."""
    tree = fleet.folder / "there"
    own = pathlib.Path(BENCH).resolve().parents[1]
    for name in ("bin/bench", "lib/bench", "share/bench"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (own / name).is_dir() else shutil.copy)(own / name, tree / name)
    (fleet.folder / "a.way").write_text(f"exec {tree}/bin/bench --agent\n")
    args = ("oltp_point_select", "--db-driver=sqlite", "--sqlite-db=data", "--events=1", command)
    done = fleet.run("a", *args)
    assert "its script" not in done.err
    with open(tree / "share/bench/oltp_common.lua", "a") as common:
        common.write("-- changed\n")
    done = fleet.run("a", *args)
    assert done.status == 1
    assert (f"its script '{tree}/share/bench/oltp_common.lua' is another one than '{own}/share/bench/oltp_common.lua' "
            "here; install the same version of bench on all hosts") in done.err
    assert fleet.left() == []


@pytest.mark.parametrize("home", ["here", "there"])
@pytest.mark.parametrize("name", ["oltp_point_select", "oltp_point_select.lua", "oltp_common.lua"])
def test_no_file_hides_the_bundle(fleet, home, name):
    """As alone, a name of the bundle means the bundle."""
    folder = fleet.folder if home == "here" else elsewhere(fleet, "a")
    (folder / name).write_text("print('hidden') function event() end")
    done = fleet.run("a", "oltp_point_select", "--db-driver=null", "--events=2", "run")
    assert done.status == 0 and "hidden" not in done.err, done.err
    assert done.document["groups"][0]["name"] == "oltp_point_select"


def test_what_a_script_writes_stays_on_the_host(fleet):
    """The agent works where it was started, and what was sent comes before files of its names there."""
    (fleet.folder / "lib").mkdir()
    for name in ("one.lua", "helper.lua", "again.lua"):
        fleet.script(name, "error('of the host')")
    fleet.script("lib/helper.lua", "return {}")
    fleet.script("lib/again.lua", "return 'again'")
    script = fleet.script("lib/one.lua", """
require("helper")
function event(id)
  local file = io.open("made." .. id, "w")
  file:write(dofile("again.lua"))
  file:close()
end
""")
    done = fleet.run("a,b", os.path.relpath(script, fleet.folder), "--events=2", "run")
    assert done.status == 0, done.err
    assert [(fleet.folder / f"made.{i}").read_text() for i in range(2)] == ["again"] * 2
    done = fleet.run("a", fleet.script("lib/one.lua", "\nerror('broken')"), "--events=1", "run")
    assert done.status == 1 and "one.lua:2: broken" in done.err, done.err
    assert "bench-agent" not in done.err and fleet.left() == []


def test_relative_names_with_a_configuration_file(fleet):
    """prepare and run find the same database."""
    (fleet.folder / "conf").write_text("sqlite-db=relative.db\ntable-size=10\n")
    args = ("oltp_read_only", "--db-driver=sqlite", "--config-file=conf")
    assert fleet.run("a", *args, "prepare").status == 0
    done = fleet.run("a", *args, "--events=5", "run")
    assert done.status == 0 and done.total["events"] == 5, done.err
    assert (fleet.folder / "relative.db").exists() and fleet.left() == []


def test_notes_about_a_configuration_file(fleet):
    """Each host had all of them again, with the name of its copy, which was gone by then."""
    notes = ["conf:1: only the first item of 'threads' is used: '1'",
             "conf:2: 'just' is ignored: there is no '=' in its line",
             "conf:3: unknown option 'foo' is ignored"]
    (fleet.folder / "conf").write_text("threads=1 2\njust text\nfoo=1\n")
    done = fleet.run("a,b", "cpu", *QUICK, "--events=4", "--config-file=conf", "run")
    assert done.status == 0 and done.err.splitlines() == notes[:2], done.err
    warnings = done.out.partition("\nWarnings:\n")[2].splitlines()
    assert sorted(line.strip() for line in warnings if line) == notes


@pytest.mark.sanitized
def test_a_configuration_file_that_cannot_be_read_again(fleet):
    """The hosts would get an empty one."""
    script = fleet.steady()
    (fleet.folder / "conf").write_text("table-size=10\n")
    with subprocess.Popen(["cat", fleet.folder / "conf"], stdout=subprocess.PIPE) as cat:
        done = fleet.run("a", script, "--config-file=/dev/stdin", "--events=5", "run", stdin=cat.stdout)
    assert done.status == 1 and "--config-file=/dev/stdin cannot be sent to the hosts" in done.err
    assert fleet.left() == []


def test_lines_of_hosts_begin_with_their_names(fleet):
    script = fleet.script("loud.lua", """
function event() io.stderr:write("one\\27[2Jline\\n") event = function() end end
""")
    done = fleet.run("a,b", script, "--events=2", "run")
    for host in "ab":
        assert re.search(rf"^{host}: .*one\\x1b\[2Jline$", done.err, re.M), done.err


HOOKS = """
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(10000) end
sysbench.hooks.report_intermediate = sysbench.report_csv
function sysbench.hooks.report_cumulative(stat) print("hooked") end
function sysbench.hooks.add_to_cumulative(stat) return "added" end
function done() print("done", sysbench.result.groups[1].total.figures.events > 0) end
"""


def test_hooks_for_reports_are_not_called(fleet):
    """Each host would print its own figures, and nobody those of all."""
    done = fleet.run("a,b", fleet.script("hooks.lua", HOOKS), "--time=1", "--report-interval=0.1",
                     "run")
    assert done.status == 0, done.err
    assert re.search(rf"total number of events: +{done.total['events']}\b", done.out)
    assert re.search(r"^\[ \d\.\d+s \] thds: 2 ", done.out, re.M), done.out
    assert "hooked" not in done.err + done.out and "added" not in done.err + done.out
    assert done.err.count("(sysbench.hooks) are not called in a run on several hosts") == 1
    assert done.err.count("done\ttrue") == 2
    assert not done.document["end"]["replaced_total"]


def test_prepare_runs_on_one_host(fleet):
    script = fleet.script("commands.lua", """
function prepare() print("prepared") end
function event() end
sysbench.cmdline.commands = {prepare = {prepare}}
""")
    done = fleet.run("a,b", script, "prepare")
    assert done.status == 0, done.err
    assert (done.out + done.err).count("prepared") == 1
    assert not (fleet.folder / "b.pid").exists()


@pytest.mark.parametrize("hosts,word", [
    ("a,,b", "empty"), gate.sanitized("-oProxyCommand=x", "'-'"), ("a,a", "twice"), ("a:0", "threads"),
])
def test_a_bad_list_is_refused(fleet, hosts, word):
    done = fleet.run(hosts, "cpu", *QUICK, "--events=1", "run")
    assert done.status == 1 and "--hosts" in done.err and word in done.err


@pytest.mark.parametrize("interval", [0, gate.slow(0.5)])
def test_a_violated_assertion_ends_all_hosts(fleet, interval):
    """Each host makes 100 events a second at most: only their sum violates it.  Without intervals, it is
    judged each second, and no interval is reported."""
    done = fleet.run("a,b", fleet.steady(), "--time=600", "--threads=1", "--abort-on-assert=2",
                     f"--report-interval={interval}", "--assert=eps<115", "run")
    assert (interval > 0) == ("s ] thds:" in done.out) == bool(done.document["groups"][0]["intervals"])
    assert "--assert=eps<115 has been violated for 2 s (--abort-on-assert): the run ends\n" in done.err
    assert done.status == 3, done.err
    assert done.document["end"]["reason"] == "assertion" and not done.document["end"]["failed"]
    assert done.document["end"]["signo"] == 0
    assert done.total["events"] == sum(done.member(h)["total"]["figures"]["events"] for h in "ab")
    assert fleet.left() == []


@pytest.mark.slow
def test_an_assertion_that_only_the_sum_holds(fleet):
    done = fleet.run("a,b,c,d", fleet.steady(), "--time=6", "--threads=1", "--abort-on-assert=5",
                     "--assert=eps>102", "run")
    assert done.status == 0, done.err
    assert done.document["end"]["reason"] == "time limit"


COLD = """
ffi.cdef("int usleep(unsigned int); int clock_gettime(int, long *);")
local t, begin = ffi.new("long[2]")
local function now() ffi.C.clock_gettime(1, t) return tonumber(t[0]) + tonumber(t[1]) * 1e-9 end
function event()
  begin = begin or now()
  ffi.C.usleep(now() - begin < 4.6 and 200000 or 10000)
end
"""


@pytest.mark.slow
def test_seconds_of_the_warmup_are_not_judged(fleet):
    """The time after it is too short for a violation that ends the run."""
    done = fleet.run("a,b", fleet.script("cold.lua", COLD), "--warmup-time=5", "--time=2",
                     "--abort-on-assert=3", "--assert=eps>30", "run")
    assert done.status == 0 and "violated" not in done.err, done.err
    assert done.document["end"]["reason"] == "time limit"


@pytest.mark.parametrize("args", [
    ("--num-threads=3", "--max-requests=100"), ("--config-file=old.conf",),
])
def test_the_limits_of_old_names_are_divided(fleet, args):
    """In 0.5 they are no other names of the new ones, which come last."""
    fleet.script("old.conf", "num-threads=3\nmax-requests=100\n")
    done = fleet.run("a,b", "--test=cpu", "--compat=0.5", "--cpu-max-prime=100", *args, "run")
    assert done.status == 0, done.err
    assert "endless" not in done.err
    assert [done.member(h)["total"]["figures"]["events"] for h in "ab"] == [50, 50]
    assert [len(done.member(h)["total"]["sessions"]) for h in "ab"] == [3, 3]


@pytest.mark.parametrize("words", [("-",), ("-", "run"), ("nothing.lua",)])
def test_hosts_need_a_test_and_a_command(fleet, words):
    """Otherwise the top level of a script would be executed here, and nowhere else."""
    fleet.script("nothing.lua", 'print("here")')
    done = fleet.run("a,b", "--threads=1", *words)
    assert done.status == 1 and "--hosts needs a test and a command" in done.err, done.out + done.err
    assert "here" not in done.out


def test_old_names_are_warned_of_once(fleet):
    done = fleet.run("a,b", "cpu", *QUICK, "--compat=1.0", "--max-time=1", "--events=100", "run")
    assert done.status == 0
    assert (done.out + done.err).count("--max-time is deprecated") == 1


def watched_table(out, title):
    """The lines of a table: the columns by their headings, by hosts."""
    heading, *lines = re.search(rf"^{title}:\n((?:    .*\n)+)$", out, re.M)[1].splitlines()
    names = heading.replace(" %", "%").replace(" M", "M").split()
    return {line.split()[-1]: dict(zip(names, line.split())) for line in lines}


def test_each_host_is_watched(fleet):
    """Intervals are sums of all hosts, and have no figures of one."""
    done = fleet.run("a,b", fleet.steady(), "--time=1", "--report-interval=0.3", "--watch=host", "--watch-lines",
                     "run")
    assert (done.status, done.err) == (0, "")
    table = watched_table(done.out, "Watched on each host")
    assert sorted(table) == ["a", "b"]
    for host in "ab":
        watch = done.member(host)["total"]["watch"]
        assert watch["host_context_switches_per_s"] > 0
        assert table[host]["user%"] == f"{watch['host_user_percent']:.2f}"
        assert table[host]["availableMiB"] == f"{watch['host_memory_available_bytes'] / 2**20:.2f}"
    whole = done.document["groups"][0]
    assert not [record for record in [whole["total"], *whole["intervals"]] if "watch" in record]
    assert "Watched:" not in done.out and "host: " not in done.out
    again = subprocess.run([BENCH, "report", "document.json"], cwd=fleet.folder, check=True,
                           capture_output=True, text=True).stdout
    assert watched_table(again, "Watched on each host") == table


def test_what_cannot_be_watched_on_a_host(fleet):
    """It costs one line with the name of the host.  A folder in memory has no device."""
    shm = pathlib.Path(tempfile.mkdtemp(prefix="bench-watch-", dir="/dev/shm"))
    try:
        fleet.through("b", "env", "-C", shm)
        files = ("fileio", "--file-num=2", "--file-total-size=4M", "--file-test-mode=rndwr")
        assert fleet.run("a,b", *files, "prepare").status == 0
        done = fleet.run("a,b", *files, "--time=0.5", "--watch=device,server", "run")
    finally:
        shutil.rmtree(shm)
    assert done.status == 0, done.err
    lines = [line for line in done.err.splitlines() if "--watch" in line]
    assert [line for line in lines if line.startswith("b: ")] == [
        f"b: --watch=device: no device is watched: the file system of '{shm}' (tmpfs) has no block device"]
    assert "a: --watch=server: no server is watched: this test uses no database" in lines
    assert "watch" not in done.member("b")["total"]
    if "watch" not in done.member("a")["total"]:
        assert len(lines) == 3 and any(
            line.startswith("a: --watch=device: no device is watched: ") for line in lines)
        return
    assert len(lines) == 2
    table = watched_table(done.out, "Watched devices of each host")
    assert float(table["a"]["writes/s"]) > 0 and set(table["b"].values()) == {"-", "b"}


def test_the_first_host_watches_what_all_share(fleet):
    """A configuration file that says so is the same for all hosts."""
    fleet.script("settings", "watch=server\n")
    done = fleet.run("a,b", "cpu", *QUICK, "--events=10", "--config-file=settings", "run")
    assert done.status == 0
    assert done.err == "a: --watch=server: no server is watched: this test uses no database\n"


def test_the_heading_says_what_the_user_has_typed(fleet):
    """Hosts have other paths, options and times than the user: they get the script and the password in
    other forms, report intervals for --abort-on-assert, and start in different seconds."""
    (fleet.folder / "lua").mkdir()
    fleet.script("lua/x.lua", """
sysbench.cmdline.options = { skip = {"", false}, many = {"", 1}, rand_type = {"", "pareto"} }
function event() end
""")
    fleet.script("secret", "hidden\n")
    fleet.through("b", "sh", "-c", 'sleep 1.1; exec "$@"', "sh")
    done = fleet.run("a:1,b:1", "./lua/x.lua", "--mysql-password-file=secret", "--label=commit=1a2b",
                     "--assert=events>0", "--abort-on-assert=60", "--events=10", "--time=0", "--skip",
                     "--many=1", "--many=4", "run")
    assert done.status == 0, done.err
    facts = done.document["facts"]
    options = {o["name"].replace("_", "-"): o["value"] for o in facts["options"]}
    assert (options["skip"], options["many"], options["rand-type"]) == ("on", "4", "pareto")
    assert facts["labels"] == {"commit": "1a2b"} and facts["workload"]["name"] == "./lua/x.lua"
    assert re.search(r"^Started: +20", done.out, re.MULTILINE)
    [repeat] = re.findall(r"^Repeat: +(.*)$", done.out, re.MULTILINE)
    assert repeat.startswith("bench ./lua/x.lua ") and "--mysql-password-file=secret" in repeat
    assert "--skip=on" in repeat and "--many=4" in repeat and "--many=1" not in repeat
    assert "--report-interval" not in repeat and "hidden" not in done.out + json.dumps(done.document)
