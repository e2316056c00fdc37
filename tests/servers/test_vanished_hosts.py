# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that sessions leave a server whose host has vanished without a word, if there is another one,
and no server that is slow."""

import contextlib
import re
import signal
import subprocess
import time

import pytest

import clusters
import modes
import proxy
from servers import BENCH
from test_workloads import number
from gate import slow

LIMIT_S = 10
# On a busy machine servers may need long for new connections.
PATIENCE_S = 240
# Each session makes a file when its first event has ended, when one has after a long time, and when one has on another
# connection, whose number the statement returns.
SCRIPT = """
sysbench.cmdline.options = {statement = {"What an event does", ""}}
local con, last, number
local made = {}
local function make(name)
  made[name] = made[name] or assert(io.open(name .. "." .. sysbench.tid, "w")):close()
end
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  local is = con:query_row(sysbench.opt.statement)
  make("begun")
  if last and os.time() - last > 10 then make("late") end
  if number and is ~= number then make("moved") end
  last, number = os.time(), is
end
"""
# Events of a moment leave the processors to others.
STATEMENT = {"mysql": "SELECT CONNECTION_ID(), SLEEP({})", "pgsql": "SELECT pg_backend_pid(), pg_sleep({})"}
MOMENT_S = 0.02


class Run:
    """On these ports, with two sessions for each."""

    def __init__(self, server, folder, ports, event_s, *argv):
        folder.mkdir()
        self.folder, self.sessions = folder, 2 * len(ports)
        (folder / "script.lua").write_text(SCRIPT)
        self.process = subprocess.Popen(
            [BENCH, *modes.command(
                ["script.lua", *server.login("tcp"), f"--threads={self.sessions}",
                 f"--{server.driver}-port={','.join(str(p) for p in ports)}",
                 f"--statement={STATEMENT[server.driver].format(event_s)}", "--time=0",
                 "--db-ignore-errors=connection", *argv, "run"])],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(self, name, sessions):
        def have():
            assert self.process.poll() is None, self.process.communicate()
            return len(list(self.folder.glob(f"{name}.*"))) >= sessions

        clusters.wait_until(have, f"{sessions} sessions are {name}", PATIENCE_S)

    def end(self, sent=None):
        if sent is not None:
            self.process.send_signal(sent)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == (0 if sent is None else 128 + sent), out + err
        longest_ms = float(re.search(r"^ +max: +([0-9.]+)", out, re.M).group(1))
        return longest_ms / 1000, number(out, "reconnects")


@pytest.mark.both_modes
# The one of the gate is the only one that has found something.
@pytest.mark.parametrize("kind, encryption", [
    slow("mariadb", "--mysql-ssl=off"), ("mariadb", "--mysql-ssl=required"),
    slow("postgresql", "--pgsql-sslmode=disable"), slow("postgresql", "--pgsql-sslmode=require")])
def test_sessions_leave_a_host_that_vanishes(kind, encryption, request, tmp_path):
    server = request.getfixturevalue(kind)
    with contextlib.ExitStack() as stack:
        def begin(name, ports, event_s=MOMENT_S, *argv):
            run = Run(server, tmp_path / name, ports, event_s, encryption, *argv)
            stack.callback(run.process.kill)
            return run

        asked, owing, alone = ways = [proxy.Proxy(server) for _ in range(3)]
        for way in ways:
            stack.callback(way.close)
        leaves = begin("leaves", [asked.port, server.port, owing.port, server.port])
        stays = begin("stays", [alone.port])
        sleeps = begin("sleeps", [server.port, server.port], LIMIT_S + 2, "--events=4")
        for run in leaves, stays:
            run.wait_for("begun", run.sessions)
        # Statements arrive, and have no answer when the host vanishes.
        owing.way = "drop"
        time.sleep(0.5)
        for way in ways:
            way.vanish()
        time.sleep(LIMIT_S + 2)
        alone.come_back()
        leaves.wait_for("moved", 4)
        longest_s, reconnects = leaves.end(signal.SIGINT)
        assert longest_s > LIMIT_S - 2
        assert reconnects >= 4
        # There is nowhere to go, and a network may come back.
        stays.wait_for("late", 2)
        longest_s, reconnects = stays.end(signal.SIGINT)
        assert LIMIT_S + 1 < longest_s
        assert reconnects == 0
        # Its host acknowledges.
        longest_s, reconnects = sleeps.end()
        assert LIMIT_S + 1 < longest_s
        assert reconnects == 0
