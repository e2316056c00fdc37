# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that bench ab finds out which of two sides is better, says when it cannot tell, and keeps what
it has measured. Most runs are those of a program that writes results with figures of its own."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

import bench
from gate import slow

PROGRAM = """#!{python} -ES
import json, os, random, sys, time

given = dict(arg[2:].split("=", 1) for arg in sys.argv[1:] if arg.startswith("--") and "=" in arg)
if given.get("fail") == "always":
    sys.exit("first line\\nFATAL: the server has gone\\nlast line")
calls = {folder!r} + "/calls"
with open(calls, "a") as file:
    file.write("x")
n = os.path.getsize(calls)
if given.get("fail") == "once" and n == 4:
    sys.exit("only this time")
if given.get("fail") == "later" and n > 9:
    sys.exit("from now on")
path = given["report"].partition(":")[2]
with open({folder!r} + "/template") as file:
    document = json.load(file)
figures = document["groups"][0]["total"]["figures"]
noise = random.Random(n).gauss(1, float(given.get("noise", 0.01)))
strange = float(given.get("strange", 1)) if "/aa/" in path else 1
figures["events_per_s"] = float(given.get("speed", 1000)) * noise * strange
figures["avg_s"] = 1 / figures["events_per_s"]
document["facts"]["times"]["start_wall_ns"] = n * 10**9
while n > int(given.get("hold", n)):
    time.sleep(0.01)
with open(path, "w") as file:
    json.dump(document, file)
"""


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    """With a program that takes --speed, --noise and more, measures at once, and hangs in the calls after --hold."""
    done = bench.run("cpu", *bench.QUICK, "--time=0", f"--report=json:{tmp_path}/template", "run")
    assert done.status == 0, done
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(python=sys.executable, folder=str(tmp_path)))
    program.chmod(0o755)
    return tmp_path


def ab(folder, *args, **kwargs):
    programs = ("--a-program=./program", "--b-program=./program")
    return bench.run("ab", *programs, "--seed=1", *args, "work", "run", cwd=folder, **kwargs)


def study(folder, *args):
    done = ab(folder, "--format=json", *args)
    return done.status, json.loads(done.out)


def test_equal_sides_are_the_same(folder):
    done = ab(folder)
    assert done.status == 0
    lines = done.out.split("\n")
    assert lines[:4] == ["A: ./program work run", "B: ./program work run",
                         "rate in 1/s, more is better; 8 pairs, order by --seed=1", ""]
    assert all(len(line) <= 100 for line in lines)
    assert lines[4].split() == "pairs A B B to A interval A to A interval".split()
    assert lines[-2].startswith("Verdict: same within 5 %: ")
    told = done.err.split("\n")
    assert told[0].startswith("bench ab: both sides are the same, which shows the noise")
    assert len(told) == 10 and told[8].startswith("bench ab: round 8 of at most 32: A ")
    # Kind 27 of issue 37: how long it will take.
    assert re.search(r"1/s; \d+ s to \d+ (s|min \d+ s) left$", told[1]), told[1]
    assert "left with" not in done.err


@pytest.mark.slow
def test_sides_that_differ_are_not_called_equal(folder):
    for side in (("--b=--speed=1000",), ("--b-program=bench",)):
        assert "both sides are the same" not in ab(folder, *side, "--cooldown=0").err


@pytest.mark.parametrize(
    "args, status, verdict",
    [
        (["--b=--speed=900"], 3, "worse"),
        slow(["--a=--speed=900"], 0, "better"),
        slow(["--b=--speed=900", "--metric=avg"], 3, "worse"),  # less is better
        slow(["--b=--speed=900", "--same=20%"], 3, "worse"),  # and within the limits
    ],
)
def test_differences_are_found(args, status, verdict, folder):
    got, found = study(folder, *args)
    assert (got, found["verdict"], len(found["rounds"])) == (status, verdict, 8)
    look = found["looks"][0]
    wanted = {"worse": 0.9, "better": 1 / 0.9}[verdict]
    if "--metric=avg" in args:
        assert (found["better"], found["unit"]) == ("less", "s")
        wanted = 1 / wanted
    assert look["b_a"]["low"] < wanted < look["b_a"]["high"]
    assert look["aa_a"]["low"] < 1 < look["aa_a"]["high"] and look["steady"]
    assert 0.005 < look["aa_a"]["noise"] < 0.03


@pytest.mark.slow
def test_the_verdict_names_the_interval(folder):
    done = ab(folder, "--b=--speed=900", "--metric=avg")
    assert "\nVerdict: B is worse: +" in done.out


@pytest.mark.slow
def test_it_can_be_that_nobody_can_tell(folder):
    status, found = study(folder, "--a=--noise=0.2", "--b=--noise=0.2")
    assert (status, found["verdict"]) == (0, "cannot tell")
    assert [look["pairs"] for look in found["looks"]] == [8, 12, 16, 24, 32]
    assert len(found["rounds"]) == 32


@pytest.mark.slow
def test_a_machine_that_is_not_steady_is_not_believed(folder):
    """The second run of A is slower than the first."""
    args = ("--a=--strange=0.8", "--b=--speed=500")
    status, found = study(folder, "--out=out", *args)
    assert (status, found["verdict"], len(found["rounds"])) == (0, "cannot tell", 8)
    assert not found["looks"][0]["steady"]
    done = ab(folder, "--out=again", "--fail-on=avg", *args)
    assert "\nVerdict: cannot tell. The machine is not steady: A differs from itself by -" in done.out
    assert done.out.endswith("\nUndecided: avg: the machine is not steady\n")


@pytest.mark.parametrize("args, status", [
    (["--b=--speed=900", "--fail-on=avg:5%"], 3),
    (["--b=--speed=900", "--fail-on=avg:20%,rate:20%"], 0),
    (["--b=--speed=900", "--fail-on=avg:5%:0.2ms"], 0),
    slow(["--b=--speed=900", "--fail-on=rate:20%,avg:5%"], 3),
    slow(["--a=--noise=0.2", "--b=--noise=0.2", "--fail-on=avg:5%"], 6),
    slow(["--a=--noise=0.2", "--b=--noise=0.2", "--fail-on=avg:5%", "--fail-undecided=off"], 0),
    slow(["--a=--noise=0.2", "--b=--noise=0.2", "--fail-undecided"], 6),
    (["--out=o", "--a=--strange=0.8", "--b=--speed=500", "--fail-on=avg"], 6),
    (["--out=o", "--a=--strange=0.8", "--b=--speed=500", "--fail-undecided"], 6),
])
def test_metrics_fail_a_study(folder, args, status):
    """Kinds 20 and 26 of issue 37."""
    got, found = study(folder, *args)
    assert got == status
    gate = found["fail_on"]
    assert [row["metric"] for row in gate] == [
        item.partition(":")[0] for a in args if a.startswith("--fail-on=") for item in a[10:].split(",")]
    if gate and status == 3:
        assert [row["failing"] for row in gate] == [row["metric"] == "avg" for row in gate]
        assert gate[-1]["low"] < 1 / 0.9 < gate[-1]["high"]


def test_a_study_goes_on_while_a_loss_is_on_both_sides_of_the_limit(folder):
    """The metric has its verdict after 8 rounds. Its loss is about the limit, so that no round shows more."""
    status, found = study(folder, "--b=--speed=900", "--fail-on=rate:10%")
    assert (status, found["verdict"], found["looks"][0]["verdict"]) == (6, "worse", "worse")
    assert len(found["rounds"]) == 32
    [row] = found["fail_on"]
    assert (row["verdict"], row["failing"], row["undecided"]) == ("worse", False, True)
    assert row["low"] < 0.9 < row["high"] < 0.95


def test_a_report_for_a_pull_request(folder):
    done = ab(folder, "--b=--speed=900 --x=a|b", "--fail-on=avg:5%", "--format=markdown")
    assert done.status == 3
    lines = done.out.split("\n")
    assert lines[:2] == ["- A: ./program work run",
                         "- B: ./program work run --speed=900 '--x=a\\|b'"]
    assert lines[5] == "| pairs | A | B | B to A | interval | A to A | interval |"
    assert lines[6] == "|---:|---:|---:|---:|---:|---:|---:|"
    assert lines[7].startswith("| 8 | ") and len(lines[7].split("|")) == 9
    assert any(line.startswith("**Verdict: B is worse: ") for line in lines)
    assert "| metric | unit | A | B | B to A | interval | verdict |" in lines
    assert lines[-2:] == ["Regression: avg is worse by more than 5 %", ""]


@pytest.mark.slow
def test_the_documents_are_kept(folder):
    status, found = study(folder, "--out=out")
    out = folder / "out"
    assert status == 0 and found == json.loads((out / "study.json").read_text())
    assert sorted(os.listdir(out)) == ["a", "aa", "b", "study.json"]
    names = [f"{i:04}.json" for i in range(1, 9)]
    began = []
    for number, name in enumerate(names):
        results = {arm: json.loads((out / arm / name).read_text()) for arm in ("a", "aa", "b")}
        times = {arm: r["facts"]["times"]["start_wall_ns"] for arm, r in results.items()}
        assert found["rounds"][number]["order"] == sorted(times, key=times.get)
        for arm, result in results.items():
            figures = result["groups"][0]["total"]["figures"]
            assert found["rounds"][number][arm] == figures["events_per_s"]
        began.append(times)
    assert all(sorted(os.listdir(out / arm)) == names for arm in ("a", "aa", "b"))
    assert max(began[0].values()) < min(began[1].values())
    assert {round["order"][0] for round in found["rounds"]} == {"a", "aa", "b"}
    # The seed decides on the order.
    assert [r["order"] for r in study(folder)[1]["rounds"]] == [r["order"] for r in found["rounds"]]
    done = ab(folder, "--out=out")
    assert (done.out, done.status) == ("", 1)
    assert done.err == ("bench ab: --out=out: cannot make the folder 'out': File exists; name a new "
                        "folder\n")


@pytest.mark.slow
def test_compare_says_the_same_of_the_folders(folder):
    status, found = study(folder, "--out=out", "--b=--speed=900")
    done = bench.run("compare", "--format=json", "out/a", "out/b", cwd=folder)
    metric = json.loads(done.out)["points"][0]["metrics"][0]
    assert (done.status, metric["verdict"]) == (status, found["verdict"]) == (3, "worse")
    # It takes a drift off.
    assert metric["ratio"] == pytest.approx(found["looks"][0]["b_a"]["ratio"], rel=0.02)


@pytest.mark.slow
def test_the_report_may_go_to_a_file(folder):
    done = ab(folder, "-o", "report")
    assert (done.out, done.status) == ("", 0)
    assert "\nVerdict: same" in (folder / "report").read_text()
    assert ab(folder, "--format=json", "-o", "report").status == 0
    assert json.loads((folder / "report").read_text())["verdict"] == "same"


@pytest.mark.slow
def test_a_failed_round_is_repeated_once(folder):
    done = ab(folder, "--out=out", "--format=json", "--a=--fail=once", "--b=--fail=once")
    found = json.loads(done.out)
    assert (done.status, len(found["rounds"])) == (0, 8)
    assert [r["repeated"] for r in found["rounds"]] == [False, True] + 6 * [False]
    assert " failed with status 1: only this time; the round is repeated\n" in done.err
    assert len(os.listdir(folder / "out" / "b")) == 8


@pytest.mark.sanitized
def test_a_side_that_fails_ends_the_study(folder):
    done = ab(folder, "--out=out", "--b=--fail=always")
    why = "bench ab: round 1, side B: the run failed with status 1: the server has gone"
    assert done == ("", f"{why}; the round is repeated\n{why}\n", 1)
    # The folder would be in the way of the next study.
    assert not (folder / "out").exists()
    for words in ["cpu"], ["cpu", "help"]:
        done = bench.run("ab", *words, cwd=folder)
        assert done == ("", "bench ab: the command 'run' is missing; write the command line of a run after the "
                        "options, such as: oltp_read_write --tables=4 run\n", 1)
    done = ab(folder, "--b-program=./nowhere")
    assert done.status == 1
    assert done.err.endswith("side B: cannot start './nowhere': No such file or directory\n")


@pytest.mark.parametrize("form", ["text", slow("json")])
def test_a_late_failure_leaves_the_rounds_before_it(form, folder):
    """Kind: a failure late in a study that throws away what it has measured."""
    done = ab(folder, f"--format={form}", "--b=--fail=later")
    assert done.status == 1 and "side B: the run failed with status 1: from now on" in done.err.split("\n")[-2]
    if form == "json":
        found = json.loads(done.out)
        assert (len(found["rounds"]), found["verdict"], found["signal"]) == (3, None, 0)
    else:
        assert "is better; 3 pairs" in done.out and done.out.endswith("\nVerdict: none, the study failed.\n")


def wait_for_rounds(path, n):
    until = time.monotonic() + bench.TIMEOUT_S
    while time.monotonic() < until:
        if path.exists() and len(json.loads(path.read_text())["rounds"]) >= n:
            return
        time.sleep(0.05)
    raise TimeoutError(f"{path} has no {n} rounds")


@pytest.mark.parametrize("signo", [signal.SIGINT, slow(signal.SIGTERM)])
def test_an_interrupted_study_keeps_whole_rounds(signo, folder):
    args = ["--a-program=./program", "--b-program=./program", "--a=--hold=7", "--b=--hold=7"]
    with subprocess.Popen(
        [bench.binary(), "ab", *args, "--out=out", "work", "run"], cwd=folder, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=bench.environment(TMPDIR=str(folder / "temporary")),
        preexec_fn=(folder / "temporary").mkdir,
    ) as process:
        wait_for_rounds(folder / "out" / "study.json", 2)
        process.send_signal(signo)
        out, err = process.communicate(timeout=bench.TIMEOUT_S)
    found = json.loads((folder / "out" / "study.json").read_text())
    rounds = len(found["rounds"])
    assert process.returncode == 128 + signo
    assert err.endswith(f"\nbench ab: interrupted by signal {signo:d} after {rounds} rounds\n")
    assert f"Verdict: none, the study was interrupted by signal {signo:d}.\n" in out
    assert rounds == 2 and (found["verdict"], found["signal"]) == (None, signo)
    for arm in ("a", "aa", "b"):
        assert len(os.listdir(folder / "out" / arm)) == rounds
    assert os.listdir(folder / "temporary") == []


SLEEPING = "ffi.cdef('int usleep(unsigned int);')\nfunction event() ffi.C.usleep({}) end\n"


@pytest.mark.slow
def test_a_slow_script_is_worse(tmp_path):
    """The scripts are named by the sides, and run by this program."""
    (tmp_path / "one.lua").write_text(SLEEPING.format(2000))
    (tmp_path / "two.lua").write_text(SLEEPING.format(12000))
    done = bench.run("ab", "--a=./one.lua", "--b=./two.lua --threads=1", "--format=json", "--time=0",
                     "--events=6", "run", cwd=tmp_path)
    found = json.loads(done.out)
    assert found["sides"]["b"]["command"][1:] == ["./two.lua", "--time=0", "--events=6", "run",
                                                  "--threads=1"]
    assert found["looks"][-1]["b_a"]["ratio"] < 1
    # A machine under load may not be steady.
    assert (found["verdict"], done.status) == ("worse", 3) or not found["looks"][-1]["steady"], found


@pytest.mark.slow
def test_a_statement_goes_before_each_run(tmp_path):
    (tmp_path / "touch.lua").write_text("""
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("INSERT INTO log VALUES ('run')") end
""")
    for side in "ab":
        with sqlite3.connect(tmp_path / side) as db:
            db.execute("CREATE TABLE log (what TEXT)")
    statement = "INSERT INTO log VALUES (']]''=]')"
    args = ("./touch.lua", "--db-driver=sqlite", "--threads=1", "--time=0", "--events=1", "--format=json",
            "--same=99 %")
    done = bench.run("ab", "--a=--sqlite-db=a", "--b=--sqlite-db=b", f"--b-set={statement}", *args, "run",
                     cwd=tmp_path)
    assert done.status in (0, 3), done
    found = json.loads(done.out)
    assert [found["sides"][side]["statements"] for side in "ab"] == [[], [statement]]
    logs = {}
    for side in "ab":
        with sqlite3.connect(tmp_path / side) as db:
            logs[side] = [row[0] for row in db.execute("SELECT what FROM log ORDER BY rowid")]
    rounds = len(found["rounds"])
    assert logs == {"a": 2 * rounds * ["run"], "b": rounds * ["]]'=]", "run"]}
    assert done.err.endswith(
        f"bench ab: the server is left with the settings of side B: {statement}\n")
    done = bench.run("ab", "--a-set=nonsense", "--sqlite-db=a", *args, "run", cwd=tmp_path)
    assert done.status == 1
    assert "side A: a statement failed with status 1: " in done.err and "nonsense" in done.err


SETTINGS = ("--db-driver=sqlite", "--sqlite-db=db", "--same=99%", "--time=0", "--events=1", "touch.lua", "run")


@pytest.fixture(name="table")
def fixture_table(tmp_path):
    """A folder with a script and a database, where settings write into a table."""
    (tmp_path / "touch.lua").write_text("""
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("INSERT INTO log VALUES ('run')") end
""")
    with sqlite3.connect(tmp_path / "db") as db:
        db.execute("CREATE TABLE log (what TEXT)")
    return tmp_path


def test_settings_have_several_statements_and_a_command(table):
    """Kind 27 of issue 37: a command without a shell may restart the server."""
    done = bench.run(
        "ab", "--a-set=INSERT INTO log VALUES ('a;1'), (\"2\"); ; SELECT 1;", "--a-set=INSERT INTO log VALUES ('3')",
        "--b-set=INSERT INTO log VALUES ('b')", "--b-exec=sh -c 'echo \"$0\" >>ran' '*'", *SETTINGS, cwd=table)
    assert done.status in (0, 3), done
    with sqlite3.connect(table / "db") as db:
        log = [row[0] for row in db.execute("SELECT what FROM log ORDER BY rowid")]
    rounds = log.count("b")
    assert sorted("".join(log).split("run")) == [""] + 2 * rounds * ["a;123"] + rounds * ["b"]
    assert (table / "ran").read_text() == rounds * "*\n"
    lines = done.out.split("\n")
    assert lines[1:4] == ["   before each run: 'INSERT INTO log VALUES ('a;1'), (\"2\")'", "   before each run: 'SELECT 1'",
                          "   before each run: 'INSERT INTO log VALUES ('3')'"]
    assert lines[6] == "   before each run: sh -c 'echo \"$0\" >>ran' '*'"
    assert re.search(r"\nbench ab: the server is left with the settings of side [AB]: INSERT .*\n$", done.err)


@pytest.mark.parametrize("args, sentence", [
    (["--a-set=SELECT 1; SELEC 2; SELECT 3"],
     "side A: a statement failed with status 1: sqlite3_prepare_v3() returned error 1 "
     "(near \"SELEC\": syntax error) for query 'SELEC 2'"),
    (["--b-set=SELECT 1", "--b-set=SELEC 2"], "for query 'SELEC 2'"),
    (["--b-exec=sh -c 'echo too bad; exit 3'"], "side B: the command failed with status 3: too bad"),
    (["--b-exec=./nowhere"], "side B: cannot start './nowhere': No such file or directory"),
    (["--a-exec=sh -c 'x"], "--a-exec: the quote ' has no end"),
    (["--a-set=SET GLOBAL x=1; set  session y = 2"], '--a-set: the effect of "set  session y = 2" ends with its '
     "connection, and a run makes others; use SET GLOBAL or ALTER SYSTEM, or --a=\"--db-init-sql='SQL'\""),
    (["--b-set=SET @@session.y = 2"], '--b-set: the effect of "SET @@session.y = 2" ends'),
    (["--b-set=SET work_mem TO 2"], '--b-set: the effect of "SET work_mem TO 2" ends'),
])
def test_settings_that_fail_are_named(table, args, sentence):
    """Kind 27 of issue 37."""
    done = bench.run("ab", *args, *SETTINGS, cwd=table)
    assert (done.out, done.status) == ("", 1)
    assert sentence in done.err.split("\n")[-2], done.err


def test_a_statement_gets_the_options_of_its_connection(tmp_path):
    """It gets no others, which its script does not have or which would ignore its failure."""
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/arguments\nexit 1\n')
    program.chmod(0o755)
    connection = ["--db-driver=mysql", "--mysql_host=h", "--mysql-ssl-ca=ca", "--mysql-connect-timeout=3",
                  "--mysql-db=d", "--sqlite-journal-mode=wal", "--pgsql-sslmode=require", "--config-file=f"]
    others = ["--mysql-ignore-errors=all", "--mysql-dry-run=on", "--db-ps-mode=auto", "--threads=2",
              "--mysql-table-engine=x"]
    done = ab(tmp_path, "--a-set=SELECT 1", "--b-set=SELECT 1", *connection, *others)
    assert done.status == 1 and ": a statement failed with status 1" in done.err, done
    script, *rest = (tmp_path / "arguments").read_text().split("\n")
    assert script.endswith("/statement.lua") and rest == [*connection, "prepare", ""]


def test_no_password_is_shown(folder):
    args = ("--a=--mysql-password=hunter2", "--b='--connect=mysql://u:hunter2@h/db'")
    done = ab(folder, "--out=out", *args)
    assert done.status == 0 and "hunter2" not in done.out + done.err, done
    text = (folder / "out" / "study.json").read_text()
    assert "hunter2" not in text and "--mysql-password=***" in text


@pytest.mark.parametrize("statement", ["SELECT 'SET PASSWORD = hunter2'", "SELECT 'u IDENTIFIED BY hunter2'"])
@pytest.mark.slow
def test_no_password_of_a_statement_is_shown(statement, tmp_path):
    (tmp_path / "none.lua").write_text("function event() end\n")
    done = bench.run("ab", f"--b-set={statement}", "--db-driver=sqlite", "--sqlite-db=db", "--time=0",
                     "--events=1", "--same=99%", "none.lua", "run", cwd=tmp_path)
    assert done.status in (0, 3) and "   before each run:" in done.out, done
    assert "hunter2" not in done.out + done.err


@pytest.mark.parametrize(
    "args, sentence",
    [
        (["--metric=nothing"], "--metric=nothing: no metric is called 'nothing'"),
        (["--metric=events"], "--metric=events: neither a larger nor a smaller value is better; name a rate or a "
                              "latency"),
        (["--fail-on=nothing:5%"], "--fail-on=nothing:5%: no metric is called 'nothing'"),
        (["--fail-on=events:5%"], "--fail-on=events:5%: neither a larger nor a smaller value is better; name a rate, "
                                  "a latency or errors"),
        (["--fail-on=avg:5%,p99:1%,avg:6%"], "--fail-on=avg:6%: avg has a limit already; give each metric one"),
        (["--fail-on=avg:5ms"], "--fail-on=avg:5ms: write a percentage after the colon, such as 5%"),
        (["--same=0"], "--same=0: not a percentage between 0 and 100"),
        (["--same=100%"], "--same=100%: not a percentage between 0 and 100"),
        (["--b=--x='y"], "--b: the quote ' has no end"),
        (["--out=one,two"], "--out=one,two: the name must not contain a comma"),
        (["--out=no/folder"],
         "--out=no/folder: cannot make the folder 'no/folder': No such file or directory"),
        (["--output=."], "--output=.: this is a folder; name a file"),
        (["--cooldown=-1"],
         "--cooldown=-1: out of range; allowed: 0 to 86400 seconds, also with ms, s, m or h"),
    ],
)
def test_bad_options(args, sentence, tmp_path):
    assert bench.run("ab", *args, "cpu", "run", cwd=tmp_path) == ("", f"bench ab: {sentence}\n", 1)
    assert os.listdir(tmp_path) == []
