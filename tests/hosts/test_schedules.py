# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever happens to one of several hosts reached by ssh, or to the controller, and whenever: the
run ends in time, names the host, and leaves nothing anywhere.

BENCH_SCHEDULES is the number of schedules.
"""

import contextlib
import os
import random
import re
import signal
import time

import pytest

pytestmark = pytest.mark.slow
N_SCHEDULES = int(os.environ.get("BENCH_SCHEDULES", "5"))
# How long an agent stands still at least; it does so until the run has ended.
PAUSE_S = 20 if N_SCHEDULES > 5 else 0
# The first schedules are quick ones: those that begin with a dropped link take 20 s.
FIRST = 5
TIME_S, GRACE_S, CONNECT_S = 5, 1, 20
# For processes that a busy machine does not run.
SLACK_S = 60
HOSTS = 3

# Events of 10 ms that need no processor, and room on the disk, which is the host's own.
WRITING = """
ffi.cdef("int usleep(unsigned int);")
local file
function thread_init(id)
  local name = "/dev/shm/events" .. id
  file = assert(io.open(name, "w"))
  os.remove(name)
  file:setvbuf("no")
end
function event()
  ffi.C.usleep(10000)
  assert(file:write(("x"):rep(100)))
end
"""


class Schedule:
    """What happens to which host, how many seconds after the first interval or the beginning."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.what = ("kill", "stop", "drop", "disk", "controller")[seed % 5]
        self.victim = rng.randrange(HOSTS)
        self.early = rng.random() < 0.3
        self.after_s = rng.uniform(0, 1.2)
        self.on_loss = rng.choice(["abort", "continue"])
        self.ways = [(rng.uniform(0, 50), rng.uniform(0, 50)) for _ in range(HOSTS)]

    def __repr__(self):
        when = "beginning" if self.early else "first interval"
        return (f"{self.what} h{self.victim + 1} {self.after_s:.2f} s after the {when},"
                f" {self.on_loss}")

    def limit_s(self):
        """From then on, a run may take so long."""
        if self.early:
            return CONNECT_S + GRACE_S + 2 + SLACK_S
        return TIME_S - 1 - self.after_s + GRACE_S + 2 + SLACK_S


def await_agent(host):
    deadline = time.monotonic() + 60
    while host.agent() is None:
        assert time.monotonic() < deadline, f"no agent on {host.name}"
        time.sleep(0.02)
    return host.agent()


@contextlib.contextmanager
def strike(schedule, fleet, network):
    """It lasts until the run has ended."""
    host = network.hosts[schedule.victim]
    if schedule.what == "controller":
        fleet.process.kill()
    elif schedule.what == "drop":
        network.set(host, cut=True)
    elif schedule.what == "disk":
        host.fill()
    else:
        agent, begin_s = await_agent(host), time.monotonic()
        os.kill(agent, signal.SIGKILL if schedule.what == "kill" else signal.SIGSTOP)
        if schedule.what == "stop":
            yield
            time.sleep(max(0.0, begin_s + PAUSE_S - time.monotonic()))
            os.kill(agent, signal.SIGCONT)
            return
    yield


def begin(schedule, fleet, network):
    for host, (there_ms, back_ms) in zip(network.hosts, schedule.ways):
        network.set(host, there_ms, back_ms)
    fleet.begin(network.names(HOSTS), fleet.script("writing.lua", WRITING), f"--time={TIME_S}",
                f"--time-grace={GRACE_S}", "--threads=2", "--report-interval=1",
                f"--on-host-loss={schedule.on_loss}", "run", shell=network.shell())
    if not schedule.early:
        fleet.wait_for_line("s ] thds:")
    time.sleep(schedule.after_s)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + N_SCHEDULES))
def test_a_schedule(fleet, network, seed):
    if network is None:
        return
    schedule = Schedule(seed)
    print(schedule)
    begin(schedule, fleet, network)
    begin_s = time.monotonic()
    with strike(schedule, fleet, network):
        done = fleet.finish()
        ended_s = time.monotonic() - begin_s
    print(f"{ended_s:.2f} s of {schedule.limit_s():.2f}", done.err)
    assert ended_s < schedule.limit_s()
    if schedule.what == "controller":
        assert done.status == -signal.SIGKILL
    else:
        assert done.status == 1
        name = f"h{schedule.victim + 1}"
        assert re.search(rf"^{name}: ", done.err, re.M)
        assert set(re.findall(r"^(\S+): lost", done.err, re.M)) <= {name}
    # An agent that hears nothing ends after 8 s.
    within_s = 8 + 2 if schedule.what == "drop" else 2
    assert network.left(within_s + SLACK_S) == {}
    assert fleet.left() == []
