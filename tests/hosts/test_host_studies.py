# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies whose runs are runs of several hosts."""

import json
import os
import re
import signal
import subprocess

import pytest
from fleet import BENCH, TIMEOUT_S

WORK = ("cpu", "--cpu-max-prime=100")
HUNDRED = ("--events=100", "--time=0")


class Study:
    """A study whose runs use the shell of the fleet; the path of the shell is relative."""

    def __init__(self, fleet, *args):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BENCH", "LUA_"))}
        env.update(LC_ALL="C", TMPDIR=str(fleet.spare))
        self.folder = fleet.folder
        self.process = fleet.process = subprocess.Popen(
            [BENCH, *args, "--hosts-shell=./shell", f"--hosts-program={BENCH}", "run"],
            cwd=fleet.folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self):
        """What it printed."""
        out, err = self.process.communicate(timeout=TIMEOUT_S)
        assert self.process.returncode == 0, out + err
        return out + err

    def results(self, folder):
        return [json.loads(path.read_text()) for path in sorted((self.folder / folder).glob("*.json"))]


def hosts(result):
    return [group["host"]["name"] for group in result["groups"][1:]]


def total(result):
    return result["groups"][0]["total"]["figures"]


def test_a_sweep_runs_on_all_hosts(fleet):
    study = Study(fleet, "sweep", "--out=s", "--vary=threads=1,3", "--repeat=1", "--seed=1", *WORK,
                  *HUNDRED, "--hosts=a,b")
    study.finish()
    runs = [json.loads(path.read_text()) for path in sorted(fleet.folder.glob("s/**/runs/*.json"))]
    assert sorted(len(run["groups"][0]["total"]["raw"]["sessions"]) for run in runs) == [2, 6]
    assert all(hosts(run) == ["a", "b"] and total(run)["events"] == 100 for run in runs)
    table = json.loads(next(fleet.folder.glob("s/**/table.json")).read_text())
    assert [point["values"]["threads"] for point in table["points"]] == ["1", "3"]
    assert fleet.left() == []


@pytest.mark.slow
def test_sides_may_have_other_hosts(fleet):
    """It is ended when the first pair is there."""
    study = Study(fleet, "ab", "--out=pairs", "--a=--hosts=a", "--b=--hosts=a,b", *WORK, *HUNDRED)
    seen = []
    for line in study.process.stderr:
        seen.append(line)
        if re.search(r"\bround 1 of", line):
            study.process.send_signal(signal.SIGINT)
            break
    study.process.communicate(timeout=TIMEOUT_S)
    assert study.process.returncode == 128 + signal.SIGINT, seen
    for side, names in (("a", ["a"]), ("b", ["a", "b"])):
        result = study.results(f"pairs/{side}")[0]
        assert hosts(result) == names and total(result)["events"] == 100
    assert fleet.left() == []


@pytest.mark.slow
def test_a_number_of_threads_is_searched(fleet):
    study = Study(fleet, "search", "--over=threads", "--goal=max<1000s", "--out=probes", "--max=2",
                  "--time=0.2", "--time-max=0.2", "--warmup-time=0", "--cooldown=0", *WORK, "--hosts=a,b")
    assert "highest number of threads that keeps the goal: 2 threads" in study.finish()
    found = study.results("probes")
    assert {len(run["groups"][0]["total"]["raw"]["sessions"]) for run in found} == {2, 4}
    assert all(hosts(run) == ["a", "b"] for run in found)


@pytest.mark.slow
def test_a_rate_is_searched_for_all_hosts(fleet):
    """Whether a host keeps it depends on what else this machine does."""
    study = Study(fleet, "search", "--goal=max<1000s", "--out=probes", "--min=60", "--max=100", "--time=0.3",
                  "--time-max=0.3", "--warmup-time=0", "--cooldown=0", "--probes=4", fleet.steady(),
                  "--hosts=a,b", "--threads=4")
    told = study.process.communicate(timeout=TIMEOUT_S)
    found = study.results("probes")
    assert len(found) >= 2, told
    free, paced = found[:2]
    assert hosts(free) == hosts(paced) == ["a", "b"]
    assert paced["end"]["reason"] == "time limit", told  # its intervals are short, and many of them are empty
    options = {option["name"]: option["value"] for option in paced["facts"]["options"]}
    assert 60 <= float(options["rate"]) <= 100 and options["threads"] == "4"
    assert total(free)["due"] is None and total(paced)["due"] > 0
    assert fleet.left() == []
