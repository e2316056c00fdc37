# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that connections which are reset leave no memory and no descriptors behind.

BENCH_RESETS is the number of seconds in which one connection of twenty is reset; without it, every
other one is for a moment.
"""

import os
import pathlib
import re
import subprocess
import time

import pytest

import clusters
import proxy
from servers import BENCH
from test_workloads import number

TIME_S = int(os.environ.get("BENCH_RESETS", "5"))
SHARE = 0.05 if "BENCH_RESETS" in os.environ else 0.5
THREADS = 8

# A connection for each event, on which a reset may come anywhere.
SCRIPT = """
local con
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:reconnect()
  for i = 1, 10 do con:query("SELECT 1, '" .. ("x"):rep(200) .. "'") end
end
"""


def use_of(pid):
    """kB of memory and the number of descriptors; None: the process has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        kb = int(re.search(r"^VmRSS:\s+(\d+)", status, re.M).group(1))
        return kb, len(os.listdir(f"/proc/{pid}/fd"))
    except (AttributeError, OSError):
        return None


def uses(process):
    """At twenty times at most, until the process has ended."""
    found = []
    while (use := use_of(process.pid)) is not None:
        found.append(use)
        time.sleep(TIME_S / 20)
    return found


def test_memory_and_descriptors_stay(server, tmp_path):
    way = proxy.Proxy(server)
    (tmp_path / "script.lua").write_text(SCRIPT)
    process = subprocess.Popen(
        [BENCH, "script.lua", *server.login("tcp"), f"--{server.driver}-port={way.port}",
         f"--threads={THREADS}", f"--time={TIME_S}", "--db-ignore-errors=connection", "run"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # A thread that cannot connect at the beginning ends the run.
        clusters.wait_until(lambda: way.connections > 2 * THREADS, "events begin")
        way.share = SHARE
        found = uses(process)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        way.close()
    assert process.returncode == 0, out + err
    events, (kb, descriptors) = number(out, "total number of events"), zip(*found[:-1])
    begin = len(kb) // 4
    print(f"soak: {server.driver}: {events} events, each on a connection, of which {way.resets} were "
          f"reset: {kb[begin]} kB, then {kb[-1]}, {descriptors[-1]} descriptors")
    assert kb[-1] < kb[begin] * 1.03 + 1500
    # Each thread has a connection, and may be opening another one.
    assert max(descriptors) <= min(descriptors) + 2 * THREADS
    assert way.resets > 0
