# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that sweeps of the bundled files run on real servers, and go on when they were killed, even in
the middle of preparing data."""

import json
import shutil
import subprocess
import time

import pytest

import transcripts
from servers import BENCH

pytestmark = pytest.mark.slow

CUT = ["--repeat=2", "--seed=1", "--warmup-time=0", "--time=0.2", "--tables=2"]


@pytest.fixture(params=["mariadb", "postgresql"])
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    yield server
    transcripts.empty(server)


def begin(server, folder, *args):
    return subprocess.Popen([BENCH, "sweep", "--out=s", *args, *server.login()], cwd=folder,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process, path):
    end = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < end and process.poll() is None, process.communicate()
        time.sleep(0.005)


def points(folder, name):
    return json.loads((folder / "s" / name / "table.json").read_text())["points"]


def test_a_killed_sweep_over_threads_goes_on(server, tmp_path):
    args = ("--from=concurrency", "--vary=threads=1,2,4,8", "--table-size=100", *CUT)
    process = begin(server, tmp_path, *args)
    wait_for(process, tmp_path / "s/concurrency/runs/0003.txt")
    process.kill()
    process.communicate()
    process = begin(server, tmp_path, "--resume", *args)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    assert [(p["values"]["threads"], p["n"]) for p in points(tmp_path, "concurrency")] == [
        (n, 2) for n in ("1", "2", "4", "8")]
    assert "Universal Scalability Law" in out


def test_a_sweep_that_was_killed_while_it_prepared_goes_on(server, tmp_path):
    args = ("--from=table-size", "--vary=table-size=100,3000", "--threads=2",
            *[option for option in CUT if not option.startswith("--time=")], "--time=1")
    while True:
        process = begin(server, tmp_path, *args)
        wait_for(process, tmp_path / "s/table-size/runs/prepare.txt")
        process.kill()
        process.communicate()
        if not (tmp_path / "s/table-size/runs/0001.json").exists():
            break
        # The signal came too late, after the first run.
        shutil.rmtree(tmp_path / "s")
        transcripts.empty(server)
    process = begin(server, tmp_path, "--resume", *args)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    assert [(p["values"]["table-size"], p["n"]) for p in points(tmp_path, "table-size")] == [
        ("100", 2), ("3000", 2)]
    assert not (tmp_path / "s/table-size/data.json").exists()
