# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that connections which are reset leave no memory and no descriptors behind.

BENCH_RESETS is the number of seconds in which one connection of twenty is reset; without it, every
other one is, of a few.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

import clusters
import proxy
from servers import BENCH
from test_workloads import number

TIME_S = int(os.environ.get("BENCH_RESETS", "0"))
SHARE = 0.05 if TIME_S else 0.5
THREADS = 4
LEAST_PAUSES = 4
# Events of a thread from one pause to the next.
EVENTS = 100 if TIME_S else 10

# A connection for each event, on which a reset may come anywhere.  In each pause a thread waits for a line of a pipe
# of its own, and has the connection of the event that it has just ended.  Without the pipe it goes on.
SCRIPT = f"""
local con
local ended = 0
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:reconnect()
  for i = 1, 10 do con:query("SELECT 1, '" .. ("x"):rep(200) .. "'") end
  ended = ended + 1
  if ended % {EVENTS} == 0 then
    local pipe = io.open("pipe." .. sysbench.tid .. "." .. ended / {EVENTS})
    if pipe then
      pipe:read()
      pipe:close()
    end
  end
end
"""


def memory_of(pid):
    """In kB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+)", status, re.M).group(1))


def descriptors_of(pid):
    """What they are of."""
    folder = pathlib.Path(f"/proc/{pid}/fd")
    found = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has just been closed
            found.append(os.readlink(path))
    return found


class Pauses:
    """All threads of the process wait in each of them."""

    def __init__(self, folder):
        self.folder, self.number, self.ends = folder, 0, []
        self.make_pipes()

    def make_pipes(self):
        self.number += 1
        self.paths = [self.folder / f"pipe.{tid}.{self.number}" for tid in range(THREADS)]
        for path in self.paths:
            os.mkfifo(path)

    def enter(self, process):
        """Returns when each thread has a descriptor of its pipe."""
        self.ends = [self.open(process, path) for path in self.paths]
        names = {str(path) for path in self.paths}
        clusters.wait_until(lambda: names <= set(descriptors_of(process.pid)), "the threads have opened their pipes")

    @staticmethod
    def open(process, path):
        """Returns when a thread has opened the other end to read."""
        ends = []

        def opened():
            assert process.poll() is None, process.communicate()
            try:
                ends.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # nobody reads yet
                pass
            return ends

        clusters.wait_until(opened, f"a thread has opened {path.name}", 600)
        return ends[0]

    def leave(self, for_good):
        if not for_good:
            self.make_pipes()
        for end in self.ends:
            os.write(end, b"\n")
            os.close(end)


def test_memory_and_descriptors_stay(server, tmp_path):
    way, pauses = proxy.Proxy(server), Pauses(tmp_path)
    (tmp_path / "script.lua").write_text(SCRIPT)
    process = subprocess.Popen(
        [BENCH, "script.lua", *server.login("tcp"), f"--{server.driver}-port={way.port}",
         f"--threads={THREADS}", "--time=0", "--db-ignore-errors=connection", "run"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found, ends_s, is_last = [], time.monotonic() + TIME_S, False
    try:
        while not is_last:
            pauses.enter(process)
            found.append((memory_of(process.pid), len(descriptors_of(process.pid))))
            # A thread that cannot connect at the beginning ends the run.
            way.share = SHARE
            is_last = len(found) >= LEAST_PAUSES and time.monotonic() >= ends_s
            pauses.leave(for_good=is_last)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=180)
    finally:
        process.kill()
        way.close()
    assert process.returncode == 128 + signal.SIGINT, out + err
    events, (kb, descriptors) = number(out, "total number of events"), zip(*found)
    begin = (len(kb) + 3) // 4
    print(f"soak: {server.driver}: {events} events, each on a connection, of which {way.resets} were "
          f"reset: {kb[begin]} kB, then {kb[-1]}, {descriptors[-1]} descriptors")
    assert kb[-1] < kb[begin] * 1.03 + 1500
    # Each thread has a connection and a pipe.
    assert set(descriptors) == {descriptors[0]}
    assert way.resets > 0
