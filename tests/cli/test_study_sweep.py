# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that bench sweep makes each run once, in an order that its seed decides, that a sweep which
was killed goes on with --resume, and that its tables say what the results say."""

import json
import os
import re
import resource
import signal
import statistics
import subprocess
import time

import pytest

import bench
from gate import slow
from sweeps import CPU, OWN, sweep, study, table, rows, results, options, total


# --- runs and tables ------------------------------------------------------------------------------


def test_each_combination_is_run_and_tabled(tmp_path):
    done = sweep(tmp_path, "--vary=threads=1..4", "--vary", "cpu-max-prime=10,20", "--repeat=3", *CPU)
    assert done.status == 0, done
    found = results(tmp_path)
    assert len(found) == 18
    assert done.err.splitlines()[17].startswith("[18/18] threads=")
    assert len(done.err.splitlines()) == 18
    for document in found.values():
        assert document["end"]["status"] == 0
    points = table(tmp_path)["points"]
    assert [(p["values"]["threads"], p["values"]["cpu-max-prime"]) for p in points] == [
        (t, c) for t in ("1", "2", "4") for c in ("10", "20")]
    for point in points:
        assert (point["state"], point["n"], point["failed"], len(point["runs"])) == (
            "measured", 3, 0, 3)
        for name in point["runs"]:
            had = options(found[name])
            assert all(had[key] == value for key, value in point["values"].items())
    assert "Best: threads=" in done.out
    assert "Universal" not in done.out and table(tmp_path)["usl"] == []


def test_figures_are_medians_of_the_results(tmp_path):
    args = ("--vary=threads=1,2", "--repeat=4", "--seed=3", *CPU)
    assert sweep(tmp_path, *args).status == 0
    found, tabled = results(tmp_path), table(tmp_path)
    assert (tabled["rate"], tabled["repeat"], tabled["seed"]) == ("events_per_s", 4, 3)
    assert tabled["command"] == list(CPU)
    for point, row in zip(tabled["points"], rows(tmp_path)):
        for figure, name in (("rate", "events_per_s"), ("avg_s", "avg_s"), ("max_s", "max_s"),
                             ("events", "events")):
            values = [total(found[run])[name] for run in point["runs"]]
            got = point["figures"][figure]
            assert got["values"] == pytest.approx(values, rel=1e-15)
            assert got["median"] == pytest.approx(statistics.median(values), rel=1e-15)
            assert (got["min"], got["max"], got["n"]) == (min(values), max(values), 4)
        assert row["threads"] == point["values"]["threads"]
        assert (row["runs"], row["failed"], row["left_out"]) == ("4", "0", "0")
        for figure in ("rate", "p50_s", "p95_s", "p99_s", "avg_s", "errors_per_s"):
            for part in ("median", "min", "max"):
                assert float(row[f"{figure}_{part}"]) == point["figures"][figure][part]
    best = max(range(2), key=lambda i: tabled["points"][i]["figures"]["rate"]["median"])
    assert tabled["best"] == best


def test_figures_of_the_test_itself_are_tabled(tmp_path):
    done = sweep(tmp_path, "--vary=memory-block-size=4K,8K", "--repeat=1", "memory", "--time=0.1",
                 "--memory-oper=latency", "--memory-total-size=0", "run")
    assert done.status == 0 and " ns_per_load " in done.out.splitlines()[0]
    for point, row in zip(table(tmp_path)["points"], rows(tmp_path)):
        value = point["figures"]["test_ns_per_load"]["median"]
        assert value > 0 and float(row["test_ns_per_load_median"]) == value


def test_the_terminal_has_aligned_columns(tmp_path):
    done = sweep(tmp_path, "--vary=threads=1,16", "--repeat=1", *CPU)
    lines = done.out.splitlines()
    assert re.split(r"  +", lines[0].strip())[:5] == [
        "threads", "runs", "events/s", "spread, %", "avg, ms"]
    assert len(lines[0]) == len(lines[1]) == len(lines[2]) <= 100
    assert [line.split()[:2] for line in lines[1:3]] == [["1", "1"], ["16", "1"]]
    assert lines[1].split()[3] == "-"


def test_characters_are_counted_and_not_bytes(tmp_path):
    (tmp_path / "own.lua").write_text("sysbench.cmdline.options = {mode = {'', 'a'}}\nfunction event() end\n")
    done = sweep(tmp_path, f"--vary=mode=\u00e4\u00f6\u00fc,abc,{chr(0xe4) * 20}", "--repeat=1", "./own.lua", "--time=0",
                 "--events=20", "run")
    assert done.status == 0, done
    lines = done.out.splitlines()[:4]
    assert len({len(line) for line in lines}) == 1 and chr(0xe4) * 14 + "..." in lines[3], lines


def test_the_law_is_fitted_over_threads_by_their_old_name(tmp_path):
    done = sweep(tmp_path, "--vary=num-threads=1..8", "--repeat=1", *CPU)
    assert done.status == 0 and len(table(tmp_path)["usl"]) == 1


def test_the_law_is_fitted_over_threads(tmp_path):
    done = sweep(tmp_path, "--vary=threads=1..8", "--vary=cpu-max-prime=10,20", "--repeat=1", *CPU)
    assert done.status == 0
    assert done.out.count("Universal Scalability Law over threads, 95 % confidence, "
                          "cpu-max-prime=") == 2
    fits = table(tmp_path)["usl"]
    assert [fit["values"] for fit in fits] == [{"cpu-max-prime": "10"}, {"cpu-max-prime": "20"}]
    for fit in fits:
        assert fit["threads"] == [1, 2, 4, 8] and fit["n"] == 4
        for name in ("gamma", "alpha", "beta"):
            bound = fit[name]
            assert 0 <= bound["low"] <= bound["value"] <= bound["high"]
    names = {p["values"]["threads"]: p["figures"]["rate"]["median"]
             for p in table(tmp_path)["points"] if p["values"]["cpu-max-prime"] == "20"}
    assert fits[1]["rate"] == [names[n] for n in ("1", "2", "4", "8")]


def test_old_names_that_replace_nothing(tmp_path):
    """In a dialect: the option that is varied itself, a default, and a 0 that 1.0 ignores."""
    for axis, old, dialect in (("num-threads=1,2", "--num-threads=4", "1.0"),
                               ("events=10,20", "--max-requests=0", "1.0"),
                               ("threads=1,2", "--num-threads=0", "1.0"),
                               ("events=10,20", "--max-requests=10000", "0.5")):
        folder = tmp_path / old[2:]
        folder.mkdir()
        done = sweep(folder, f"--vary={axis}", "--repeat=1", *CPU[:-1], old, f"--compat={dialect}", "run")
        assert done.status == 0 and len(results(folder)) == 2, done


def test_the_seed_decides_the_order(tmp_path):
    orders = []
    for number, seed in enumerate((5, 5, 6)):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = sweep(folder, "--vary=threads=1..16", "--repeat=2", f"--seed={seed}", *CPU)
        assert done.status == 0
        order = study(folder)["order"]
        orders.append(order)
        assert sorted(order[:5]) == sorted(order[5:]) == [0, 1, 2, 3, 4]
        ran = [options(results(folder)[f"runs/{i + 1:04}.json"])["threads"] for i in range(10)]
        assert ran == [str(1 << point) for point in order]
    assert orders[0] == orders[1] != orders[2]


def test_the_warm_up_is_given_to_each_run(tmp_path):
    done = sweep(tmp_path, "--vary=threads=1,2", "--repeat=1", "--warmup=0.01", "--cooldown=0.01",
                 *CPU)
    assert done.status == 0
    assert {options(d)["warmup-time"] for d in results(tmp_path).values()} == {"0.01"}


# --- --stop-when ----------------------------------------------------------------------------------


def test_larger_values_are_left_out(tmp_path):
    done = sweep(tmp_path, "--vary=events=10,20,30,40", "--repeat=2", "--stop-when=events>=20",
                 "cpu", "--time=0", "--cpu-max-prime=10", "run")
    assert done.status == 0, done
    points = table(tmp_path)["points"]
    assert [(p["state"], p["n"], p["left_out"], p["stops"]) for p in points] == [
        ("measured", 2, 0, False), ("measured", 2, 0, True), ("left out", 0, 2, False),
        ("left out", 0, 2, False)]
    assert len(results(tmp_path)) == 4
    assert re.search(r"^ *30  left out ", done.out, re.M)
    assert [row["rate_median"] for row in rows(tmp_path)][2:] == ["", ""]


# --- interrupted and resumed ----------------------------------------------------------------------


def wait_for(process, condition):
    end = time.monotonic() + bench.TIMEOUT_S
    while not condition():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.01)


# Runs stop before that number of results is exceeded, until there is a file "go".
WAITING = """
ffi.cdef("int usleep(unsigned int); int access(const char *, int);")
function event()
  if ffi.C.access("s/runs/000%d.json", 0) ~= 0 then return end
  while ffi.C.access("go", 0) ~= 0 do ffi.C.usleep(1000) end
end
"""
SLOW = ("--vary=threads=1..8", "--repeat=2", "--seed=9", "./waiting.lua", "--time=0", "--events=20", "run")


def begin(folder, results, *args):
    """A sweep that stops after so many results."""
    (folder / "waiting.lua").write_text(WAITING % results)
    return subprocess.Popen([bench.binary(), "sweep", "--out=s", *args], cwd=folder,
                            env=bench.environment(), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_a_killed_sweep_goes_on(tmp_path):
    process = begin(tmp_path, 3, *SLOW)
    wait_for(process, (tmp_path / "s/runs/0003.json").exists)
    wait_for(process, (tmp_path / "s/runs/0004.txt").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (tmp_path / "go").touch()
    kept = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "s/runs").glob("*.json")}
    assert len(kept) == 3
    before = study(tmp_path)
    done = sweep(tmp_path, "--resume", *SLOW)
    assert done.status == 0, done
    assert len(done.err.splitlines()) == 8 - len(kept)
    assert study(tmp_path) == before
    assert [(p["state"], p["n"]) for p in table(tmp_path)["points"]] == [("measured", 2)] * 4
    for name, mtime_ns in kept.items():
        assert (tmp_path / "s/runs" / name).stat().st_mtime_ns == mtime_ns
    # All is done: only the tables are made again.
    again = sweep(tmp_path, "--resume", *SLOW)
    assert (again.status, again.err, again.out) == (0, "", done.out)


def test_an_interrupted_sweep_keeps_what_it_has(tmp_path):
    process = begin(tmp_path, 2, *SLOW)
    wait_for(process, (tmp_path / "s/runs/0002.json").exists)
    wait_for(process, (tmp_path / "s/runs/0003.txt").exists)
    process.send_signal(signal.SIGINT)
    (tmp_path / "go").touch()
    out, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGINT
    assert re.search(r"^\d of 8 runs are missing; --resume makes them$", err, re.M)
    assert "Best: threads=" in out
    measured = sum(p["n"] for p in table(tmp_path)["points"])
    assert 2 <= measured < 8
    assert sweep(tmp_path, "--resume", *SLOW).status == 0
    assert sum(p["n"] for p in table(tmp_path)["points"]) == 8


# It says what fileio says, and is then in the middle of its work until there is a file "go".
TAKING_OVER = """
ffi.cdef("int usleep(unsigned int); int access(const char *, int);")
function prepare()
  print("Extending existing file data")
  io.stdout:flush()
  while ffi.C.access("go", 0) ~= 0 do ffi.C.usleep(1000) end
  error("no")
end
function cleanup() assert(os.remove("data")) end
function event() end
"""


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGKILL])
def test_files_of_the_user_outlive_a_prepare_that_was_interrupted(tmp_path, signo):
    (tmp_path / "own.lua").write_text(TAKING_OVER)
    (tmp_path / "data").touch()
    args = ("--vary=threads=1,2", "--repeat=1", "--prepare", "./own.lua", "run")
    process = begin(tmp_path, 0, *args)
    said = tmp_path / "s/runs/prepare.txt"
    wait_for(process, lambda: said.exists() and "Extending" in said.read_text())
    os.killpg(process.pid, signo)
    (tmp_path / "go").touch()
    process.communicate(timeout=bench.TIMEOUT_S)
    for _ in range(2):
        done = sweep(tmp_path, "--resume", *args)
        assert done.status == 1, done
        assert "Extending existing file data: the files are not data of the sweep" in done.err
        assert (tmp_path / "data").exists() and not (tmp_path / "s/data.json").exists()


def test_a_sweep_that_is_interrupted_at_once_begins_anew(tmp_path):
    """The signal ends the script that is asked which options keep its data."""
    (tmp_path / "own.lua").write_text(
        'ffi.cdef("int usleep(unsigned int); int access(const char *, int);")\n'
        'io.open("asked", "w"):close()\n'
        'while ffi.C.access("go", 0) ~= 0 do ffi.C.usleep(1000) end\n' + OWN % "true")
    args = ("--vary=hot=1,2", "--repeat=1", "--prepare", "./own.lua", "--db-driver=null", "--time=0", "--events=2",
            "run")
    process = begin(tmp_path, 0, *args)
    wait_for(process, (tmp_path / "asked").exists)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGINT
    assert not (tmp_path / "s/study.json").exists()
    (tmp_path / "go").touch()
    done = sweep(tmp_path, "--resume", *args)
    assert done.status == 0 and study(tmp_path)["settings"]["data"] == [], done


def test_a_damaged_result_is_made_anew(tmp_path):
    args = ("--vary=threads=1,2", "--repeat=1", *CPU)
    assert sweep(tmp_path, *args).status == 0
    path = tmp_path / "s/runs/0001.json"
    path.write_text(path.read_text()[:1000])
    done = sweep(tmp_path, "--resume", *args)
    assert done.status == 0 and len(done.err.splitlines()) == 1
    assert json.loads(path.read_text())["end"]["status"] == 0


def test_two_sweeps_do_not_share_a_folder(tmp_path):
    process = begin(tmp_path, 1, *SLOW)
    wait_for(process, (tmp_path / "s/runs/0002.txt").exists)
    done = sweep(tmp_path, "--resume", *SLOW)
    assert (done.status, done.err) == (
        1, "bench sweep: --out=s: another sweep uses this folder now\n")
    process.terminate()
    (tmp_path / "go").touch()
    process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGTERM


# --- failures -------------------------------------------------------------------------------------


def test_a_study_keeps_no_file_open(tmp_path):
    """Whatever a run leaves behind, a result or a file of errors, the next one finds as many descriptors."""
    few = 32
    # The first run decides whether a sweep goes on: with this seed it is one that works.
    args = ("--seed=1", "--vary=cpu-max-prime=10,0", f"--repeat={few}", "cpu", "--time=0", "--events=1", "run")
    done = sweep(tmp_path, *args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few)))
    assert (tmp_path / "s/table.json").exists(), done
    points = table(tmp_path)["points"]
    assert [(p["state"], p["n"], p["failed"]) for p in points] == [("measured", few, 0), ("failed", 0, few)], done.err


def test_a_point_that_fails_costs_one_point(tmp_path):
    args = ("--vary=cpu-max-prime=10,0,20", "--repeat=2", "--seed=7", "cpu", "--time=0", "--events=20", "run")
    done = sweep(tmp_path, *args)
    assert done.status == 1
    assert len(re.findall(r"^\[\d/6\] cpu-max-prime=0 repeat [12]: failed: exit status 1: "
                          r"--cpu-max-prime=0: out of range; allowed: 1 or more \(s/runs/000\d\.err\)", done.err,
                          re.M)) == 2
    assert done.err.endswith("2 of 6 runs failed; --resume tries them again\n")
    assert re.search(r"^ +0  0, 2 failed  ", done.out, re.M)
    points = table(tmp_path)["points"]
    assert [(p["state"], p["n"], p["failed"]) for p in points] == [
        ("measured", 2, 0), ("failed", 0, 2), ("measured", 2, 0)]
    assert points[1]["figures"] == {} and points[1]["runs"] == []
    again = sweep(tmp_path, "--resume", *args)
    assert again.status == 1 and again.err.count("failed: exit status") == 2


PACE = """
sysbench.cmdline.options = {pace = {"", 0}}
function event()
  if sysbench.opt.pace == FAILS and not io.open("failed") then
    io.open("failed", "w"):close()
    error("once")
  end
  require("ffi").C.usleep(20000 / sysbench.opt.pace)
end
require("ffi").cdef("int usleep(unsigned);")
"""


@pytest.mark.parametrize("fails, best", [(0, "9"), (9, "3")])
def test_a_failed_run_never_wins(tmp_path, fails, best):
    """Kind 20 of issue 37: the fastest point has a run that failed, and is not the best one then."""
    (tmp_path / "pace.lua").write_text(PACE.replace("FAILS", str(fails)))
    done = sweep(tmp_path, "--vary=pace=1,3,9", "--repeat=3", "--seed=5", "./pace.lua", "--time=0",
                 "--events=6", "run")
    assert f"\nBest: pace={best}, " in done.out, done
    found = table(tmp_path)
    assert found["points"][found["best"]]["values"] == {"pace": best}



@pytest.mark.parametrize("varied, sentence", [
    ("threads=1,2,x", "--threads=x: not a whole number; allowed: 1 to 1000000"),
    ("threads=1,0,2", "--threads=0: out of range; allowed: 1 to 1000000"),
    ("time=1,2d", "--time=2d: not a time; allowed: 0 or more seconds, also with ms, s, m or h"),
    ("histogram=on,maybe", "--histogram=maybe: neither on nor off; allowed: on, true, 1, off, false, 0"),
])
def test_a_bad_value_is_found_before_the_first_run(tmp_path, varied, sentence):
    done = sweep(tmp_path, "--vary=cpu-max-prime=10,20", f"--vary={varied}", *CPU)
    assert done == ("", f"bench sweep: --vary: {sentence}\n", 1)
    assert not (tmp_path / "s").exists()


def test_values_of_a_dialect_are_for_its_runs(tmp_path):
    """It reads "0.3x" as 0.3."""
    args = ("--vary=rand-pareto-h=0.2,0.3x", "--repeat=1", "cpu", "--max-requests=20", "run")
    assert sweep(tmp_path, *args).err == (
        "bench sweep: --vary: --rand-pareto-h=0.3x: not a number; allowed: a number\n")
    assert sweep(tmp_path, *args[:-1], "--compat=1.0", "run").status == 0
    assert sweep(tmp_path, "--out=t", *args, dialect="1.0").status == 0


def test_a_run_that_crashes_costs_one_point(tmp_path):
    (tmp_path / "crash.lua").write_text(
        "sysbench.cmdline.options = { crash = { '', 0 } }\n"
        "function event() if sysbench.opt.crash == 1 then\n"
        "  require('ffi').C.raise(9) end end\n"
        "require('ffi').cdef('int raise(int);')\n")
    done = sweep(tmp_path, "--vary=crash=0,1", "--repeat=1", "--seed=2", "./crash.lua", "--time=0",
                 "--events=5", "run")
    assert done.status == 1
    assert "failed: ended by signal 9 (s/runs/" in done.err
    assert [p["state"] for p in table(tmp_path)["points"]] == ["measured", "failed"]


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        (("--vary=treads=1,2", *CPU), "--treads=\\*\\*\\*: no such option; did you mean --threads\\?"),
        (("--vary=threads=1,2", "cpu", "--tme=1", "run"),
         "--tme=\\*\\*\\*: no such option; did you mean --time\\?"),
        (("--vary=threads=1,2", "cqu", "run"), "Cannot find benchmark 'cqu'.*"),
    ],
)
def test_a_wrong_command_line_ends_the_sweep(tmp_path, wrong, sentence):
    done = sweep(tmp_path, *wrong)
    assert (done.status, done.out) == (1, "")
    assert re.fullmatch("bench sweep: the first run, t\\w+=[12], failed before it measured anything: "
                        f"exit status 1: {sentence} \\(s/runs/0001.err\\)\n", done.err), done.err
    # Nothing has to be removed before the right one.
    assert sweep(tmp_path, "--vary=threads=1,2", "--repeat=1", *CPU).status == 0


def test_runs_have_a_status_though_children_are_ignored_outside(tmp_path):
    """The kernel keeps no status of a child while its parent ignores SIGCHLD, as some daemons do."""
    done = sweep(tmp_path, "--vary=threads=1,2", *CPU, "--cpu-max-prime=0",
                 preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert (done.status, done.out) == (1, "")
    assert "exit status 1: " in done.err, done.err


# --- --plot ---------------------------------------------------------------------------------------


def test_the_table_is_drawn(tmp_path):
    done = sweep(tmp_path, "--vary=threads=1,2", "--repeat=2", "--plot=threads.svg", *CPU)
    assert done.status == 0, done.err
    assert done.out.startswith("threads ")
    text = (tmp_path / "threads.svg").read_text()
    assert text.startswith("<?xml") and "threads" in text
    plotted = bench.run("plot", "-o", "again.svg", "s", cwd=tmp_path)
    assert plotted == ("", "", 0)
    assert (tmp_path / "again.svg").read_text() == text


def test_a_picture_that_cannot_be_drawn_ends_the_sweep_before_it_begins(tmp_path):
    (tmp_path / "bin").mkdir()
    cases = [
        ("t.pdf", None, "--plot=t.pdf: the name of the file must end in .svg or .png"),
        ("no/t.svg", None, "--plot=no/t.svg: cannot write the file: No such file or directory"),
        ("t.svg", {"PATH": f"{tmp_path}/bin"},
         "the program gnuplot, which draws the picture, is not in PATH; install it (Debian, Ubuntu: "
         "apt-get install gnuplot-nox; Fedora: dnf install gnuplot)"),
    ]
    for name, env, sentence in cases:
        done = sweep(tmp_path, "--vary=threads=1,2", f"--plot={name}", *CPU, env=env)
        assert done == ("", f"bench sweep: {sentence}\n", 1)
        assert not (tmp_path / "s").exists()


def test_several_sweeps_have_no_picture(tmp_path):
    done = sweep(tmp_path, "--from=machine", "--plot=m.svg")
    assert done == ("", "bench sweep: --plot=m.svg: a picture shows one sweep; draw each with bench "
                        "plot s/NAME\n", 1)


# --- --from ---------------------------------------------------------------------------------------


@pytest.mark.sanitized
def test_a_file_has_several_sweeps(tmp_path):
    (tmp_path / "two").write_text(
        "# two\n"
        'few = "--vary=threads=1,2" --repeat=2 --seed=3 cpu --time=0 --cpu-max-prime=10 run\n'
        "many = --vary=cpu-max-prime=20..40 --repeat=4 cpu --time=0 --events=7 run\n")
    args = ("--from=two", "--repeat=1", "--events=5")
    done = sweep(tmp_path, *args)
    assert done.status == 0, done
    assert done.out.startswith("few:\nthreads  runs") and "\n\nmany:\ncpu-max-prime  runs" in done.out
    assert "few (1 of 2)\n" in done.err and "many (2 of 2)\n" in done.err
    for name, option, values in (("few", "threads", ["1", "2"]),
                                 ("many", "cpu-max-prime", ["20", "40"])):
        points = json.loads((tmp_path / "s" / name / "table.json").read_text())["points"]
        assert [(p["values"][option], p["n"]) for p in points] == [(v, 1) for v in values]
        assert {p["figures"]["events"]["median"] for p in points} == {5}
    again = sweep(tmp_path, "--resume", *args)
    assert (again.status, again.out) == (0, done.out)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("a b = cpu run\n",
         "f:1: the name 'a b' names a folder; use only letters, digits, '-' and '_'"),
        ("a = cpu run\na = cpu run\n", "f:2: the name 'a' is used twice"),
        ("a = --vary=threads=1 cpu run\nb = --repeat=0 cpu run\n",
         "b: f:2: --repeat=0: out of range; allowed: 1 to 1000"),
        ("a = --vary=threads=4..1 cpu run\n",
         "a: --vary=threads: the range '4..1' must end with a larger number than it begins with"),
        ("a = --vary=threads=1 cpu\n",
         "a: the command 'run' is missing; write the command line of a run after the options, such "
         "as: oltp_read_write --tables=4 run"),
        ("# nothing\n", "f: this file has no sweep; write lines NAME = WORDS"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, sentence):
    (tmp_path / "f").write_text(text)
    assert sweep(tmp_path, "--from=f") == ("", f"bench sweep: {sentence}\n", 1)
    assert not (tmp_path / "s").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert sweep(tmp_path, "--from=nope").err == (
        "bench sweep: --from=nope: there is no such file, and none is bundled; bundled: block-size, "
        "concurrency, file-num, machine, table-size\n")
    assert sweep(tmp_path, "--from=./nope").err == "bench sweep: ./nope: No such file or directory\n"


CUT = ("--vary=threads=1,2", "--repeat=1", "--time=0", "--events=20")
BUNDLED = {
    "concurrency": ("--warmup-time=0", "--db-driver=sqlite", "--table-size=10"),
    "table-size": ("--warmup-time=0", "--db-driver=sqlite", "--vary=table-size=10,20", "--threads=2"),
    "file-num": ("--vary=file-num=1..4", "--file-total-size=1M"),
    "block-size": ("--vary=file-block-size=4K..16K", "--file-total-size=1M"),
}


@pytest.mark.parametrize("name", [n if n in ("concurrency", "block-size") else slow(n) for n in BUNDLED])
def test_bundled_sweeps(tmp_path, name):
    more = BUNDLED[name]
    cut = CUT[1:] if any(arg.startswith("--vary") for arg in more) else CUT
    done = sweep(tmp_path, f"--from={name}", *cut, *more)
    assert done.status == 0, done
    points = json.loads((tmp_path / "s" / name / "table.json").read_text())["points"]
    assert len(points) in (2, 3) and {p["state"] for p in points} == {"measured"}
    # All that was prepared is gone.
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("test_file")] == []


@pytest.mark.slow
def test_the_bundled_sweeps_of_a_machine(tmp_path):
    path = os.path.join(os.path.dirname(bench.binary()), "../share/bench/machine.sweep")
    text = open(path, encoding="utf-8").read()
    for large, small in (("=1G", "=1M"), ("=100000", "=10"), ("=10000", "=10")):
        assert large in text
        text = text.replace(large, small)
    (tmp_path / "m").write_text(re.sub(r" --time=\d+", " --time=0.1", text))
    done = sweep(tmp_path, "--from=m", "--vary=threads=1,2", "--repeat=1")
    assert done.status == 0, done
    names = [p.name for p in (tmp_path / "s").iterdir()]
    assert len(names) == 10 and {"cpu", "memory-latency", "oltp-write"} <= set(names)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, sentence",
    [
        (CPU, "--vary is missing; name an option of the run and its values, such as "
         "--vary=threads=1,2,4..64"),
        (("--vary=1,2", *CPU), "--vary=1: the option is missing; write NAME=VALUE,VALUE,..."),
        (("--vary=threads=8..2", *CPU),
         "--vary=threads: the range '8..2' must end with a larger number than it begins with"),
        (("--vary=rate=1,2", *CPU[:-1], "--rate-profile=hold:5/1s", CPU[-1]),
         "--vary=rate: the runs have --rate-profile, which replaces --rate; leave one of them out"),
        (("--vary=threads=1,2", *CPU[:-1], "--threads-total=8", CPU[-1]),
         "--vary=threads: the runs have --threads-total, which replaces --threads; leave one of them out"),
        (("--vary=threads=1,2", "cpu", "--num-threads=4", "--compat=1.0", "run"),
         "--vary=threads: the runs have --num-threads, which replaces --threads in a dialect; leave one of them "
         "out"),
        (("--vary=events=10,20", "cpu", "--max-requests=0", "--compat=0.5", "run"),
         "--vary=events: the runs have --max-requests, which replaces --events in a dialect; leave one of them "
         "out"),
        (("--vary=threads=1,2", "--vary=num-threads=3,4", *CPU),
         "--vary=num-threads=3: 'num-threads' is varied twice; give all its values at once"),
        (("--vary=report=text,json", *CPU), "--vary=report: this option cannot be varied"),
        (("--vary=assert=p99<1s,p99<2s", *CPU), "--vary=assert: this option cannot be varied"),
        (("--vary=label=a=1,b", *CPU), "--vary=label: this option cannot be varied"),
        (("--vary=watch=host,hots", *CPU), "--vary=watch: this option cannot be varied"),
        (("--vary=percentile=50,200", *CPU), "--vary: --percentile=200: out of range; allowed: more "
         "than 0, at most 100, or 0 alone for none"),
        (("--vary=percentile=50,x", *CPU), "--vary: --percentile=x: not a number; allowed: more than "
         "0, at most 100, or 0 alone for none"),
        (("--vary=report-checkpoints=1,x", *CPU), "--vary: --report-checkpoints=x: not a whole number "
         "of seconds; allowed: 0 or more"),
        (("--vary=time-grace=1,x", *CPU), "--vary: --time-grace=x: not a time; allowed: 0 or more "
         "seconds, also with ms, s, m or h, or auto"),
        (("--vary=forced-shutdown=off,x", *CPU), "--vary: --forced-shutdown=x: not a time; allowed: "
         "whole seconds, N%, off"),
        (("--vary=rand-pareto-h=0.2,1", *CPU), "--vary: --rand-pareto-h=1: out of range; allowed: more "
         "than 0, less than 1"),
        (("--vary=threads=1,2", *CPU[:-1]),
         "the command 'run' is missing; write the command line of a run after the options, such "
         "as: oltp_read_write --tables=4 run"),
        (("--vary=threads=1,2", "cpu", "--report=csv:x", "run"),
         "--report cannot be given: each run writes a result and a text report into the folder of "
         "--out"),
        (("--vary=rand-type=uniform,zipfian", "--stop-when=p99>1s", *CPU),
         "--stop-when needs numbers as the values of the first --vary; 'uniform' of 'rand-type' "
         "is not a number"),
        (("--vary=threads=1,2", "--stop-when=p99>1", *CPU),
         "--stop-when=p99>1: the time has no unit; add ns, us, ms or s"),
        ((), "--vary is missing; name an option of the run and its values, such as "
         "--vary=threads=1,2,4..64"),
        (("--vary=threads=1,2", "--out=a,b", *CPU), "--out=a,b: the name must not contain a comma"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, args, sentence):
    done = sweep(tmp_path, *args)
    assert done == ("", f"bench sweep: {sentence}\n", 1)
    assert not (tmp_path / "s").exists()


def test_a_spreadsheet_computes_no_value(tmp_path):
    """Kind 34 of issue 37."""
    (tmp_path / "text.lua").write_text(
        "sysbench.cmdline.options = {word = {'', 'a'}}\nfunction event() end\n")
    values = ["=HYPERLINK(1)", "+cmd", "@SUM(1)", "-5", "-a", "ab", "\x1b[2J"]
    done = sweep(tmp_path, "--vary=word=" + ",".join(values), "--repeat=1", "./text.lua", "--time=0",
                 "--events=1", "run")
    assert done.status == 0, done
    assert [row["word"] for row in rows(tmp_path)] == [
        "'=HYPERLINK(1)", "'+cmd", "'@SUM(1)", "-5", "'-a", "ab", "\\x1b[2J"]
    assert [p["values"]["word"] for p in table(tmp_path)["points"]] == values


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes links of other users")
@pytest.mark.parametrize("out, link, study_args", [
    (out, link, args)
    for out, link in (("s", "s"), ("s/", "s"), ("s/new", "s"), ("own", "own/runs"), ("mine", "s"))
    for args in (("sweep", "--vary=threads=1,2", "--repeat=1"),
                 ("search", "--goal=p99<1s", "--time=0.1", "--warmup-time=0", "--probes=4"),
                 ("ab", "--same=99%"))
    # Only a sweep has a folder of its runs.
    if link != "own/runs" or args[0] == "sweep"
])
def test_no_link_of_another_user_is_followed(tmp_path, study_args, out, link):
    """Kind 32 of issue 37; a link of the user leads to one of another user, too."""
    for name in ("victim", "own"):
        (tmp_path / name).mkdir()
    (tmp_path / "victim/table.json").write_text("mine")
    (tmp_path / link).symlink_to(tmp_path / "victim")
    os.lchown(tmp_path / link, 12345, 12345)
    (tmp_path / "mine").symlink_to("s")
    done = bench.run(*study_args, f"--out={out}", "cpu", "run", cwd=tmp_path)
    assert done.status == 1 and f"bench {study_args[0]}: --out={out}" in done.err, done
    assert "File exists" in done.err or " is a symbolic link of another user" in done.err
    assert [p.name for p in (tmp_path / "victim").iterdir()] == ["table.json"]
    os.lchown(tmp_path / link, 0, 0)
    if study_args[0] == "sweep":
        assert bench.run(*study_args, f"--out={out}", *CPU, cwd=tmp_path).status == 0


def test_a_folder_has_one_study(tmp_path):
    args = ("--vary=threads=1,2", "--repeat=1", "--seed=4")
    assert sweep(tmp_path, *args, *CPU).status == 0
    assert sweep(tmp_path, *args, *CPU).err == (
        "bench sweep: --out=s: this folder has a study; complete it with --resume, or name "
        "another folder\n")
    for changed, what in (
        ((*args, "cpu", "--events=5", "run"), r"command line: \[.*\], not \[.*\]"),
        (("--vary=threads=1,3", *args[1:], *CPU),
         r'vary: \["threads=1,2"\], not \["threads=1,3"\]'),
        (("--vary=threads=1,2", "--repeat=3", *CPU), "repeat: 1, not 3"),
        ((*args[:2], "--seed=5", *CPU), "--seed: 4, not 5"),
        ((*args, "--warmup=1", *CPU), "warmup: none, not 1"),
        ((*args, "--prepare", *CPU), "prepare: off, not on"),
        ((*args, "--stop-when=p99>1s", *CPU), "stop-when: none, not p99>1s"),
    ):
        done = sweep(tmp_path, "--resume", *changed)
        assert done.status == 1
        assert re.fullmatch(f"bench sweep: --resume: 's' was begun with another {what}; "
                            "use the same value, or name another folder\n", done.err), done.err


def test_passwords_of_varied_options_are_nowhere(tmp_path):
    """Kind 33 of issue 37."""
    args = ("--vary=connect=mysql://me:geheim@one:1/db,mysql://me:gehe@im2@two:1/db",
            "--repeat=1", "--seed=4", "cpu", "--time=0", "--events=3", "run")
    done = sweep(tmp_path, *args)
    assert done.status == 0 and "connect=mysql://me:***@two:1 repeat 1" in done.err, done
    assert [p["values"]["connect"] for p in table(tmp_path)["points"]] == [
        "mysql://me:***@one:1", "mysql://me:***@two:1"]
    again = sweep(tmp_path, "--resume", *args)
    other = sweep(tmp_path, "--resume", "--vary=connect=mysql://me:geheim@three", *args[1:])
    assert again.status == 0 and other.status == 1
    texts = [text for run in (done, again, other) for text in (run.out, run.err)]
    texts += [p.read_text() for p in (tmp_path / "s").rglob("*") if p.is_file()]
    assert len(texts) > 10 and not [text for text in texts if re.search("geheim|im2", text)]


@pytest.mark.parametrize("args, sentence", [
    (["--vary=mysql-password=geheim,x"], "--vary=mysql-password=***: secrets cannot be varied, because "
                                         "tables and files show the values"),
    (["--vary=my_token=geheim"], "--vary=my_token=***: secrets cannot be varied, because tables and files "
                                 "show the values"),
    (["--vary=connect=mysql://u:geheim@h,mysql://u:geheim2@h"],
     "--vary=connect: the value 'mysql://u:***@h' is there twice"),
    (["--stop-when=p99>1s", "--vary=connect=mysql://u:geheim@h"],
     "--stop-when needs numbers as the values of the first --vary; 'mysql://u:***@h' of 'connect' is "
     "not a number"),
])
def test_a_password_is_in_no_refusal(tmp_path, args, sentence):
    assert sweep(tmp_path, *args, *CPU) == ("", f"bench sweep: {sentence}\n", 1)


def test_passwords_are_nowhere(tmp_path):
    args = ("--vary=threads=1,2", "--repeat=1", "cpu", "--mysql-password=geheim1",
            "--connect=mysql://me:geheim2@localhost/db", "--time=0", "--events=1", "run")
    sweep(tmp_path, *args)
    again = sweep(tmp_path, "--resume", *args)
    texts = [again.out, again.err]
    texts += [p.read_text() for p in (tmp_path / "s").rglob("*") if p.is_file()]
    assert len(texts) > 4
    assert not [text for text in texts if "geheim" in text]
