# SPDX-License-Identifier: GPL-2.0-or-later
"""Eight hosts with clocks of their own, reached by ssh over ways with delay and loss, are one run,
and so are the ranks of a launcher of MPI there.

Where no namespaces may be made, the tests end once network.py has seen that it is refused for one
of the known reasons.  With BENCH_ALL_NETWORKS, each launcher starts eight ranks in each condition.
"""

import contextlib
import math
import os
import time

import documents
import pytest
from ranks import LAUNCHERS, Ranks, missing

pytestmark = pytest.mark.slow
ALL = "BENCH_ALL_NETWORKS" in os.environ
TOLERANCE_S = 0.005 if not os.environ.get("BENCH_SANITIZER") else 0.1


# Each session writes the wall clock, which all hosts share, at its first event, and how long each
# event was.
RECORDED = """
ffi.cdef("int usleep(unsigned int); int clock_gettime(int, long *);")
local t, file = ffi.new("long[2]")
local function now(clock)
  ffi.C.clock_gettime(clock, t)
  return tonumber(t[0]), tonumber(t[1])
end
local function seconds()
  local s, ns = now(1)
  return s + ns * 1e-9
end
function thread_init(id) file = io.open("%s/" .. id, "w") end
local function later(id)
  local begin = seconds()
  ffi.C.usleep(id < 8 and 5000 or sysbench.rand.uniform(5000, 45000))
  file:write(seconds() - begin, "\\n")
end
function event(id)
  local s, ns = now(0)
  file:write(string.format("%%d%%09d\\n", s, ns))
  event = later
  later(id)
end
function thread_done() file:close() end
"""

# For each host the delay there and back in ms, and the share of lost packets.
CONDITIONS = {
    "no delay": lambda i: (0, 0, 0),
    "up to 50 ms": lambda i: (i * 50 / 7, i * 50 / 7, 0),
    "one way": lambda i: (50, 0, 0) if i % 2 else (0, 50, 0),
    "loss": lambda i: (10, 10, 0.01),
}


def read_record(folder):
    """When the first session of each host began, and how long all events were, sorted."""
    starts_s, events_s = {}, []
    for path in folder.iterdir():
        first, *rest = path.read_text().split()
        host = int(path.name) // 2
        starts_s[host] = min(starts_s.get(host, math.inf), int(first) / 1e9)
        events_s += map(float, rest)
    return starts_s, sorted(events_s)


def percentile(events_s, percent):
    return events_s[math.ceil(percent / 100 * len(events_s)) - 1]


def check_figures(done, events_s):
    """They are those of all events; the engine also measures what is between them."""
    whole = done.document["groups"][0]["total"]
    assert whole["figures"]["events"] == len(events_s) > 500
    assert documents.counted(whole) == len(events_s)
    shown = {p["percent"]: p["s"] for p in whole["percentiles"]}
    for percent in (50, 95):
        exact = percentile(events_s, percent)
        assert exact * 0.999 <= shown[percent] <= exact * 1.001 + TOLERANCE_S


def run_recorded(fleet, run):
    """What `run` does with these words."""
    folder = fleet.folder / f"record{time.monotonic_ns()}"
    folder.mkdir()
    done = run(fleet.script("recorded.lua", RECORDED % folder), "--threads=2", "--percentile=50,95")
    assert done.status == 0, done.out + done.err
    starts_s, events_s = read_record(folder)
    check_figures(done, events_s)
    return done.document, starts_s


def late_hosts(document, starts_s):
    """Those that began further from the agreed instant than their clock errors allow."""
    agreed_s = document["facts"]["times"]["start_wall_ns"] / 1e9
    late = {}
    for i, group in enumerate(document["groups"][1:]):
        off_s, error_s = starts_s[i] - agreed_s, group["host"]["clock_error_s"]
        if abs(off_s) > error_s + TOLERANCE_S:
            late[group["host"]["name"]] = off_s, error_s
    return late


def check_starts(fleet, network, condition, run):
    """A busy machine wakes a process late now and then; clocks that are wrong are so each time."""
    for i, host in enumerate(network.hosts):
        network.set(host, *CONDITIONS[condition](i))
    for _ in range(20):
        document, starts_s = run_recorded(fleet, run)
        late = late_hosts(document, starts_s)
        apart_s = max(starts_s.values()) - min(starts_s.values())
        if not late and (condition != "no delay" or apart_s < TOLERANCE_S):
            break
    else:
        raise AssertionError(f"too far from the agreed start: {late}; {apart_s} s apart")
    assert network.left(60) == {}
    errors_s = [group["host"]["clock_error_s"] for group in document["groups"][1:]]
    print(f"{condition}: starts {apart_s * 1e3:.2f} ms apart, clocks known within"
          f" {max(errors_s) * 1e3:.2f} ms")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_hosts_start_at_one_instant(fleet, network, condition):
    if network is None:
        return
    check_starts(fleet, network, condition,
                 lambda *words: fleet.run(network.names(), *words, "--time=1.5", "run",
                                          shell=network.shell()))


@pytest.mark.parametrize("condition", CONDITIONS if ALL else ["one way"])
@pytest.mark.parametrize("name", LAUNCHERS if ALL else ["mpich"])
def test_ranks_start_at_one_instant(tmp_path, network, name, condition):
    """All ways lead over that of rank 0, too."""
    why = missing(name)
    if why:
        pytest.skip(why)
    if network is None or not network.shows_devices():
        return
    with contextlib.closing(Ranks(tmp_path, name)) as ranks:
        def run(*words):
            ranks.begin_over(network, 8 if ALL else 3, *words, "--time=1", "--report=text",
                             "--report=json:document.json", "run")
            return ranks.finish()

        check_starts(ranks, network, condition, run)
