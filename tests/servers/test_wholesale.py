# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs scripts as their users write them: one in the style of TPC-C, one that mixes interfaces."""

import os
import re
import subprocess

import pytest

import transcripts
from gate import parameters
from servers import BENCH

HERE = os.path.dirname(os.path.abspath(__file__))


def bench(server, script, *argv, version="", protocol="auto"):
    env = {**os.environ, "BENCH_COMPAT": version}
    argv = [f"--{server.driver}-protocol={protocol}", *argv]
    return subprocess.run([BENCH, os.path.join(HERE, script), *server.login(), *argv],
                          capture_output=True, text=True, timeout=120, env=env)


def must(server, script, *argv, **kwargs):
    done = bench(server, script, *argv, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SERVERS = ["mariadb", "postgresql"]


@pytest.fixture(params=SERVERS)
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    return server


def number(out, label):
    return int(re.search(rf"^ *{label}: +(\d+)", out, re.M).group(1))


@pytest.mark.slow
@pytest.mark.parametrize("version, protocol", [("", "auto"), ("1.0", "auto"), ("", "library")])
def test_wholesale(server, version, protocol):
    kwargs = {"version": version, "protocol": protocol}
    sizes = ["--tables=3", "--scale=2", "--threads=3"]
    out = must(server, "wholesale.lua", *sizes, "prepare", **kwargs)
    assert sorted(re.findall(r"Creating tables: (\d)", out)) == ["1", "2", "3"]
    assert "checks failed: 0" in must(server, "wholesale.lua", *sizes, "check", **kwargs)
    out = must(server, "wholesale.lua", *sizes[:2], "--threads=8", "--time=6", "--report-interval=1",
               "run", **kwargs)
    # The script's own lines, and none of ours; on a busy machine some of the five are missing.
    lines = re.findall(r"^(\d+),(\d+),([0-9.]+),[0-9.]+,[0-9.]+$", out, re.M)
    assert lines and any(float(line[2]) > 0 for line in lines) and "tps:" not in out
    rolled_back = sum(int(n) for n in re.findall(r"^thread \d rolled back (\d+)$", out, re.M))
    assert len(re.findall(r"^thread \d rolled back", out, re.M)) == 8
    # What the script counted itself, and what servers made it repeat.
    assert 0 < rolled_back <= number(out, "ignored errors")
    assert number(out, "transactions") > rolled_back
    assert "checks failed: 0" in must(server, "wholesale.lua", *sizes, "check", **kwargs)
    schema = "spec_db." if server.driver == "mysql" else ""
    server.sql(f"UPDATE {schema}warehouse2 SET w_ytd = w_ytd + 1 WHERE w_id = 1")
    done = bench(server, "wholesale.lua", *sizes, "check", **kwargs)
    assert done.returncode == 1 and "check 1 of set 2 failed in 1 rows" in done.stdout
    must(server, "wholesale.lua", *sizes, "cleanup", **kwargs)


@pytest.mark.parametrize("server, version, protocol", parameters(
    [(s, version, protocol) for s in SERVERS
     for version, protocol in (("", "auto"), ("0.5", "auto"), ("1.0", "auto"), ("", "library"))],
    gate=[("mariadb", "", "auto"), ("postgresql", "", "auto"), ("mariadb", "0.5", "auto"),
          ("postgresql", "1.0", "auto")]), indirect=["server"])
def test_mixed_interfaces(server, version, protocol):
    kwargs = {"version": version, "protocol": protocol}
    argv = ["--mixed-rows=150", "--mixed-rowz=1"]
    if version == "0.5":
        argv += ["--num-threads=3", "--max-requests=60"]
    else:
        argv += ["--threads=3", "--events=60", "--time=0"]
    head = ["--db-ps-mode=auto"]
    out = must(server, "mixed.lua", *head, *argv, "prepare", **kwargs)
    assert "driver " + server.driver in out
    done = bench(server, "mixed.lua", *head, *argv, "run", **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert number(done.stdout, "total number of events") == 60
    said = done.stderr.count("unknown option --mixed-rowz (did you mean --mixed-rows?)")
    assert said == (version == "")
    must(server, "mixed.lua", *argv, "cleanup", **kwargs)


INSTALLED = "/usr/share/sysbench"
WORKLOADS = {
    "oltp_read_write": 20, "oltp_read_only": 16, "oltp_write_only": 6, "oltp_point_select": 1,
    "oltp_insert": 1, "oltp_delete": 1, "oltp_update_index": 1, "oltp_update_non_index": 1,
    "select_random_points": 1, "select_random_ranges": 1}


@pytest.mark.parametrize("server, name, version", parameters(
    [(s, name, version) for s in SERVERS for name in WORKLOADS for version in ("", "1.0")],
    gate=[("mariadb", "oltp_read_write", ""), ("postgresql", "oltp_point_select", "1.0")]), indirect=["server"])
def test_scripts_of_an_installed_sysbench(server, name, version):
    """A file that exists is run, not ours: those of 1.0.20 as Debian has them."""
    if not os.path.exists(f"{INSTALLED}/oltp_common.lua"):
        pytest.skip("no scripts in /usr/share/sysbench: install sysbench")
    sizes = ["--table-size=100", "--threads=4"]
    out = ""
    for step in (["prepare"], ["--events=20", "--time=0", "run"], ["cleanup"]):
        done = bench(server, f"{INSTALLED}/{name}.lua", *sizes, *step, version=version)
        assert done.returncode == 0, (step, done.stdout, done.stderr)
        # Its own modules are used, which is told.
        assert re.sub(r"module '\w+' is '/usr/share/sysbench/\w+\.lua', which hides the bundled one\n", "",
                      done.stderr) == "", step
        out += done.stdout
    assert number(out, "total number of events") == 20
    assert number(out, "total") >= 20 * WORKLOADS[name]
