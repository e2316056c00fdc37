# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts start at one instant, within the clock error that the report states, whatever the delays
and the clocks are."""

import os
import subprocess

import pytest

# Each session writes the wall clock, which all hosts of these tests share, at its first event.
FIRST = """
ffi.cdef("int clock_gettime(int, long *); int usleep(unsigned int);")
local function now()
  local t = ffi.new("long[2]")
  ffi.C.clock_gettime(0, t)
  return string.format("%d%09d", tonumber(t[0]), tonumber(t[1]))
end
function event(id)
  local file = io.open(os.getenv("FIRST") .. "/" .. id, "w")
  file:write(now())
  file:close()
  event = function() ffi.C.usleep(10000) end
end
"""
TOLERANCE_S = 0.005 if not os.environ.get("BENCH_SANITIZER") else 0.1


def start(fleet, hosts, *args):
    """How far apart the hosts began, in seconds, and the largest clock error that is reported."""
    folder = fleet.folder / "first"
    folder.mkdir(exist_ok=True)
    script = fleet.script("first.lua", FIRST)
    done = fleet.run(hosts, script, "--time=0.3", *args, "run", FIRST=str(folder))
    assert done.status == 0, done.err
    starts = [int(path.read_text()) for path in folder.iterdir()]
    members = done.document["groups"][1:]
    assert len(starts) == len(members)
    return (max(starts) - min(starts)) / 1e9, max(m["host"]["clock_error_s"] for m in members)


def check_starts(fleet, hosts, bound_s, *args):
    """A busy machine wakes a process late now and then; clocks that are wrong are wrong each time."""
    for _ in range(20):
        apart_s, error_s = start(fleet, hosts, *args)
        if error_s < bound_s + TOLERANCE_S and apart_s < error_s + TOLERANCE_S:
            return
    raise AssertionError(f"{apart_s} s apart, and the clocks are known within {error_s} s")


@pytest.mark.slow
def test_without_delay(fleet):
    check_starts(fleet, "a,b,c", 0)


@pytest.mark.slow
@pytest.mark.parametrize("there,back", [("25", "25"), ("50", "0"), ("0", "50"), ("0:50", "0:50")])
def test_with_delays(fleet, there, back):
    """The bound of an exchange is half of its round trip, also where all delay is on one way."""
    fleet.relay("b", f"--there={there}", f"--back={back}")
    check_starts(fleet, "a,b,c", 0.026)


def has_time_namespaces():
    """If not, it is for the known reason: they want root and Linux 5.6."""
    done = subprocess.run(["unshare", "--time", "--monotonic", "5", "--fork", "true"], check=False,
                          capture_output=True, text=True)
    refusals = "Operation not permitted", "Invalid argument", "unrecognized option"
    assert done.returncode == 0 or any(word in done.stderr for word in refusals), done.stderr
    return done.returncode == 0


def test_with_other_clocks(fleet):
    """Monotonic clocks that are 500 s and 1000 s away."""
    if not has_time_namespaces():
        return
    fleet.through("b", "unshare", "--time", "--monotonic", "1000", "--fork", "--kill-child")
    fleet.through("c", "unshare", "--time", "--monotonic", "500", "--fork", "--kill-child")
    apart_s, error_s = start(fleet, "a,b,c")
    assert apart_s < error_s + 60
