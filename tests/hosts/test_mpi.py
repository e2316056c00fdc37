# SPDX-License-Identifier: GPL-2.0-or-later
"""A run under the launcher of an MPI is one run of all its processes."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import gate
import pytest
import ranks as launched
from fleet import BENCH
from test_run import DRAWS

QUICK = ("--cpu-max-prime=100", "--time=0")
REPORTS = ("--report=text", "--report=json:document.json")
# Open MPI's library takes 15 s to begin in a program that is built for a sanitizer.
NAMES = ["mpich"] if os.environ.get("BENCH_SANITIZER") else gate.first(sorted(launched.LAUNCHERS))


@pytest.fixture(params=NAMES)
def ranks(request, tmp_path):
    why = launched.missing(request.param)
    if why:
        pytest.skip(why)
    made = launched.Ranks(tmp_path, request.param)
    yield made
    made.close()


def ours(err):
    """What bench says, without the launchers' own lines."""
    return [line for line in err.splitlines() if line.startswith(("--", "1 ", "2 ", "3 ")) and line.strip("-")]


def wakes(pid):
    """How often it has begun to wait so far."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1])


def test_one_report(ranks):
    done = ranks.run(4, "cpu", *QUICK, "--events=1001", "--threads=2", *REPORTS, "run")
    assert done.status == 0, done.out + done.err
    assert done.out.count("bench 0") == done.out.count("Threads started!") == 1
    assert re.search(r"Number of threads: 8\b", done.out)
    assert re.findall(r"total number of events: +(\d+)", done.out) == ["1001"]
    assert re.search(r"events/s \(eps\): +[\d.]+$", done.out, re.M)
    members = done.document["groups"][1:]
    assert [g["host"]["threads"] for g in members] == [2, 2, 2, 2]
    assert sum(g["total"]["figures"]["events"] for g in members) == 1001
    assert [g["host"]["name"].rpartition(":")[2] for g in members] == ["0", "1", "2", "3"]
    assert len(done.document["groups"][0]["total"]["raw"]["sessions"]) == 8
    assert ranks.left() == []


def test_groups_are_shared_over_ranks(ranks):
    """Each rank has an agent for each group that has threads there, and the groups add up."""
    ranks.script("a.lua", "function event() end\n")
    done = ranks.run(3, "--time=0", "--group=x: ./a.lua --threads=2 --events=301",
                     "--group=y: ./a.lua --threads-total=1 --events=50 --rate=500", *REPORTS, "run")
    assert done.status == 0, done.out + done.err
    kinds = done.document["groups"][0]["total"]["event_kinds"]
    assert {k["name"]: k["events"] for k in kinds} == {"group:x": 301, "group:y": 50}
    members = [g["host"] for g in done.document["groups"][1:]]
    assert [(m["name"], m["threads"]) for m in members if "group" not in m] == [("x", 6), ("y", 1)]
    assert [(m["name"].rpartition(":")[2], m["group"], m["threads"]) for m in members if "group" in m] == [
        ("0", "x", 2), ("1", "x", 2), ("2", "x", 2), ("0", "y", 1)]
    assert re.findall(r":(\d/[xy])$", done.out, re.M) == ["0/x", "1/x", "2/x", "0/y"]
    assert ranks.left() == []


def test_no_password_in_a_list_of_processes(ranks):
    """Issue 37, kind 3: the processes of all ranks, and the program of rank 0, show none."""
    secret = "s3cr3t-word"
    for study in ([], ["sweep", "--vary=threads=1,2", "--out=results"]):
        ranks.begin(2, *study, ranks.steady(), "--time=60", f"--mysql-password={secret}",
                    f"--pgsql-password={secret}", f"--connect=mysql://me:{secret}@127.0.0.1/db", "run")
        ranks.wait_until(lambda: len(ranks.agents()) == 2, "the agents have not been started")
        shown = ranks.processes()
        ranks.process.send_signal(signal.SIGINT)
        ranks.finish()
        assert len(shown) >= 5 and secret not in " ".join(shown.values()), shown
        assert ranks.left() == []


@pytest.mark.slow
def test_each_rank_is_watched(ranks):
    """And what all of them share by the first one."""
    done = ranks.run(2, "cpu", *QUICK, "--events=100", "--watch=host,server", *REPORTS, "run")
    assert done.status == 0, done.out + done.err
    assert done.out.count("\nWatched on each host:\n") == 1
    for member in done.document["groups"][1:]:
        assert member["total"]["watch"]["host_memory_available_bytes"] > 0
    assert "watch" not in done.document["groups"][0]["total"]
    assert done.err.count("--watch=") == done.err.count("--watch=server: no server is watched") == 1


@pytest.mark.slow
def test_ranks_send_what_one_process_sends(ranks):
    script = ranks.script("draws.lua", DRAWS)
    texts = []
    for n in (1, 4):
        folder = ranks.folder / f"draws{n}"
        folder.mkdir()
        done = ranks.run(n, script, "--events=8", f"--threads={8 // n}", "--rand-seed=7", "run",
                         DRAWS=str(folder))
        assert done.status == 0, done.err
        assert ("Hosts" in done.out) == (n > 1)  # one process makes an ordinary run
        texts.append({path.name: path.read_text() for path in folder.iterdir()})
    assert sorted(texts[0]) == sorted(map(str, range(8)))
    assert texts[0] == texts[1]


def in_time(ranks, end, is_whole):
    """A run that `end` ends.  Its launcher leaves a second for the report, which may be too short on a
    machine that does other things, though not each time."""
    for _ in range(5):
        (ranks.folder / "document.json").unlink(missing_ok=True)
        ranks.begin(3, ranks.steady(), "--time=60", "--report-interval=1", *REPORTS, "run")
        end()
        done = ranks.finish()
        assert ranks.left() == []
        if is_whole(done):
            break
    return done


@pytest.mark.slow
def test_interrupted_at_the_launcher(ranks):
    def end():
        ranks.wait_for_line("s ] thds:")
        ranks.wait_for_line("s ] thds:")
        ranks.process.send_signal(signal.SIGINT)

    done = in_time(ranks, end, lambda done: done.document and "total number of events" in done.out)
    assert int(re.search(r"total number of events: +(\d+)", done.out)[1]) > 100, done.out + done.err
    # That of MPICH's launcher is sometimes 0 then.
    assert done.document["end"]["reason"] == "signal" and done.document["end"]["status"] > 128


@pytest.mark.slow
def test_a_killed_rank_ends_the_run(ranks):
    def end():
        ranks.wait_for_line("s ] thds:")
        begin_s, begun = time.monotonic(), wakes(ranks.rank(1))
        ranks.wait_for_line("s ] thds:")
        # Two messages a second: a rank that waits takes no time from what is measured.
        assert wakes(ranks.rank(1)) - begun < 600 * (time.monotonic() - begin_s) + 100
        os.kill(ranks.rank(2), signal.SIGKILL)

    path = ranks.folder / "document.json"
    done = in_time(ranks, end, lambda _: path.exists())  # which may come after the launcher's end
    assert done.status != 0
    document = json.loads(path.read_text())
    lost = [g["host"]["name"] for g in document["groups"][1:] if g["host"]["lost"]]
    assert any(name.endswith(":2") for name in lost), document["groups"][1:]
    assert document["groups"][0]["total"]["figures"]["events"] > 100


@pytest.mark.slow
def test_the_status_is_that_of_rank_0(ranks):
    done = ranks.run(2, "cpu", *QUICK, "--events=100", "--assert=events>=101", "run")
    assert done.status == 3, done.err
    assert len(ours(done.err)) == 1
    done = ranks.run(3, "--version")
    assert (done.out, done.status) == (subprocess.check_output([BENCH, "--version"], text=True), 0)
    done = ranks.run(2, "cpu", "--hosts=a,b", "run")
    assert done.status == 1 and len(ours(done.err)) == 1 and "--hosts" in done.err


@pytest.mark.slow
def test_a_script_of_standard_input(ranks):
    # A program that a script starts is not taken for one of the ranks.
    path = ranks.script("piped", "function event() assert(not os.getenv('BENCH_RANKS')) end\n")
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat, open(path, "rb") as file:
        for source in (cat.stdout, file):
            ranks.begin(2, "/dev/stdin", "--events=10", "run", stdin=source)
            done = ranks.finish()
            assert done.status == 0, done.err
            assert re.search(r"total number of events: +10\b", done.out)


@pytest.mark.slow
def test_runs_of_a_study(ranks):
    done = ranks.run(2, "sweep", "--vary=threads=1,2", "--repeat=1", "--out=results", "cpu", *QUICK,
                     "--events=20", "run")
    assert done.status == 0, done.err
    results = list((ranks.folder / "results").rglob("*.json"))
    groups = [json.loads(path.read_text()).get("groups", []) for path in results]
    assert sorted(g[0]["total"]["figures"]["events"] for g in groups if len(g) == 3) == [20, 20]
    assert ranks.left() == []


# A library that does not end, and a clock that does not let the test wait for it.
ENDLESS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
int MPI_Finalize(void) { for (;;) pause(); }
int timer_settime(timer_t timer, int flags, const struct itimerspec *when, struct itimerspec *old)
{
  int (*next)(timer_t, int, const struct itimerspec *, struct itimerspec *) =
      dlsym(RTLD_NEXT, "timer_settime");
  struct itimerspec soon = {.it_value = {0, 200000000}};
  return when->it_value.tv_sec > 1 ? next(timer, flags, &soon, old) : -1;
}
"""
NOTING = """#!/bin/sh
LD_PRELOAD={library} "{program}" "$@"
echo $? >status$PMI_RANK
# The launcher ends all when one has ended.
for try in $(seq 600); do
  [ ! -s status0 ] || [ ! -s status1 ] || break
  sleep 0.05
done
"""


@pytest.mark.slow
def test_a_library_that_does_not_end(ranks):
    """Launchers have statuses of their own for it, so that a shell notes that of bench."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if ranks.name != "mpich" or compiler is None:
        return
    library = ranks.folder / "endless.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, ranks.script("endless.c", ENDLESS),
                    "-ldl"], check=True)
    program = pathlib.Path(ranks.script("noting", NOTING.format(library=library, program=BENCH)))
    program.chmod(0o755)
    done = ranks.run(2, "cpu", *QUICK, "--events=100", "--assert=events>=101", "run",
                     program=str(program), ASAN_OPTIONS=":verify_asan_link_order=0")
    assert "library of MPI" in done.err, done.err
    assert [(ranks.folder / f"status{n}").read_text() for n in (0, 1)] == ["3\n", "0\n"]
    assert ranks.left() == []


@pytest.mark.slow
def test_without_the_module(ranks):
    program = ranks.folder / "bin" / "bench"
    program.parent.mkdir()
    shutil.copy(BENCH, program)
    done = ranks.run(3, "cpu", *QUICK, "--events=10", "run", program=str(program))
    assert done.status == 1 and done.out == ""
    assert len(re.findall(r"^3 processes were started by a launcher of .*$", done.err, re.M)) == 1
