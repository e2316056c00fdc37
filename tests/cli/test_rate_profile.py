# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile makes as many events due as its integral says, sets the time of the run, and takes the place of --rate."""

import json

import pytest

import bench

PROFILE = "ramp:0..400/1s; hold:400/1s"


def run(folder, *args):
    done = bench.run("cpu", "--cpu-max-prime=3", "--threads=4", "--arrivals=constant", "--report=json:r.json",
                     *args, "run", cwd=folder)
    # A busy machine may be late at the end.
    assert done.status in (0, 4), done.err
    return json.loads((folder / "r.json").read_text())


def figures(document):
    return document["groups"][0]["total"]["figures"]


@pytest.mark.parametrize("args, due, seconds, rate", [
    ([], 600, 2, 300), (["--time=1"], 200, 1, 200), (["--time=2.5"], 800, 2.5, 320),
    (["--time=0", "--events=100"], 100, None, 300)])
def test_the_integral_is_due(tmp_path, args, due, seconds, rate):
    got = run(tmp_path, f"--rate-profile={PROFILE}", *args)
    total = figures(got)
    assert total["due"] == due == total["started"] + total["dropped"] + total["backlog"]
    assert got["facts"]["plan"]["rate"] == rate
    if seconds:
        assert total["span_s"] == seconds == got["facts"]["plan"]["time_ns"] / 1e9


def test_a_trace_is_read(tmp_path):
    (tmp_path / "t.csv").write_text("second,rate\n36000,100\n36000.5,300\n36001,0\n")
    assert figures(run(tmp_path, "--rate-profile=trace:t.csv"))["due"] == 200


def test_hosts_share_a_profile(tmp_path):
    shell = tmp_path / "sh"
    shell.write_text("#!/bin/sh\nshift\nexec \"$@\"\n")
    shell.chmod(0o755)
    hosts = [f"--hosts-shell={shell}", f"--hosts-program={bench.binary()}", "--hosts=a:1,b:3"]
    assert figures(run(tmp_path, f"--rate-profile={PROFILE}", *hosts))["due"] == 600
    (tmp_path / "t.csv").write_text("0,1\n1,1\n")
    done = bench.run("cpu", "--rate-profile=trace:t.csv", *hosts, "run", cwd=tmp_path)
    assert done.status == 1
    assert done.err == ("--rate-profile=trace:t.csv: a trace cannot be used with --hosts, which do not have its file; "
                        "write its rates as phases\n")


def test_one_of_two_rates_is_refused(tmp_path):
    done = bench.run("cpu", f"--rate-profile={PROFILE}", "--rate=5", "run", cwd=tmp_path)
    assert done.status == 1
    assert done.err == f"--rate-profile={PROFILE}: cannot be used with --rate, which it replaces\n"


def test_a_rate_that_cannot_be_kept_up_is_named(tmp_path):
    (tmp_path / "slow.lua").write_text(
        "ffi.cdef('int usleep(unsigned int);') function event() ffi.C.usleep(10000) end\n")
    done = bench.run("slow.lua", "--rate-profile=hold:1000/1s", "run", cwd=tmp_path)
    assert done.status == 4
    assert "--rate-profile could not be kept up: of " in done.err
