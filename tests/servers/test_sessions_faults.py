# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows in both modes how a run ends: by a signal, in its grace, when sessions fail or do not get ready, and with more
events than it can do."""

import json
import re
import signal
import subprocess
import threading
import time

import pytest

import modes
import transcripts
from fake import FakeServer
from gate import diagonal, first
from servers import BENCH
from test_workloads import number

SLEEP = {"mysql": "SELECT SLEEP(%g)", "pgsql": "SELECT pg_sleep(%g)"}
SESSIONS = 8


@pytest.fixture
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    return server


SERVERS = ["mariadb", "postgresql"]


class Run:
    """Of a script; it goes on in the background."""

    def __init__(self, server, folder, script, *argv):
        sleep = SLEEP[server.driver]
        (folder / "t.lua").write_text(re.sub(r"SLEEP\(([0-9.]+)\)", lambda m: f'"{sleep % float(m[1])}"', script))
        self.folder = folder
        line = modes.command(["t.lua", *server.login(), f"--threads={SESSIONS}", "--time=0", "--report=text",
                              "--report=json:document", *argv, "run"])
        self.process = subprocess.Popen([BENCH, *line], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def end(self):
        """The status, and what was printed."""
        try:
            out, err = self.process.communicate(timeout=120)
        finally:
            self.process.kill()
        return self.process.returncode, out, err

    def total(self):
        """The last record of the document."""
        return json.loads((self.folder / "document").read_text())["groups"][0]["total"]

    def await_line(self, text):
        for line in self.process.stdout:
            if text in line:
                return
        raise AssertionError(f"no {text!r}: {self.process.communicate()[1]}")


WAITING = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  if not begun then print("begun") end
  begun = true
  con:query(SLEEP(%g))
end
function thread_done() con:query("SELECT 'last'") end
"""


@pytest.mark.both_modes(gate=True)
@pytest.mark.parametrize("server", first(SERVERS), indirect=True)
def test_a_signal_lets_the_statements_in_flight_end(server, tmp_path):
    run = Run(server, tmp_path, WAITING % 0.5)
    for _ in range(SESSIONS):
        run.await_line("begun")
    run.process.send_signal(signal.SIGINT)
    status, out, err = run.end()
    assert status == 128 + signal.SIGINT, out + err
    assert [session["events"] > 0 for session in run.total()["sessions"]] == [True] * SESSIONS
    assert "unfinished" not in out and number(out, "total number of events") == number(out, "read") - SESSIONS


@pytest.mark.both_modes(gate=True)
@pytest.mark.parametrize("server", first(SERVERS), indirect=True)
def test_a_second_signal_does_not_wait_for_statements(server, tmp_path):
    run = Run(server, tmp_path, WAITING % 600)
    for _ in range(SESSIONS):
        run.await_line("begun")
    run.process.send_signal(signal.SIGINT)
    assert any("finishing" in line for line in run.process.stderr)
    begun = time.monotonic()
    run.process.send_signal(signal.SIGINT)
    status, out, err = run.end()
    assert status == 128 + signal.SIGINT, out + err
    assert time.monotonic() - begun < 60


@pytest.mark.both_modes(gate=True)
@pytest.mark.parametrize("server", first(SERVERS), indirect=True)
def test_the_grace_of_the_end_is_enough_for_statements(server, tmp_path):
    """Statements that last longer than the time of the run end in its grace."""
    run = Run(server, tmp_path, WAITING % 1, "--time=0.5")
    status, out, err = run.end()
    assert status == 0, out + err
    assert [session["events"] for session in run.total()["sessions"]] == [1] * SESSIONS


@pytest.mark.both_modes(gate=True)
@pytest.mark.parametrize("server", first(SERVERS), indirect=True)
def test_events_wait_when_more_are_due_than_can_be_done(server, tmp_path):
    """Eight sessions can do 400 events a second; twice as many are due."""
    run = Run(server, tmp_path, WAITING % 0.02, "--time=2", "--rate=800")
    status, out, err = run.end()
    assert status == 4, out + err
    figures = run.total()["figures"]
    assert figures["due"] == figures["started"] + figures["dropped"] + figures["backlog"]
    assert figures["backlog"] > 400
    # A busy machine does fewer.
    assert 200 < figures["events"] <= 2 * 400 + SESSIONS
    assert figures["concurrency"] is None or figures["concurrency"] <= SESSIONS


FAILING = """
function thread_init(id)
  con, n = sysbench.sql.driver():connect(), 0
  if id == FAILS_AT_START then
    con:query("SELECT gone FROM nowhere")
  end
end
function event(id)
  n = n + 1
  con:query(SLEEP(0.01))
  if id < 3 and n == 5 then
    fail("SELECT gone FROM nowhere")
  end
end
function fail(query)
  con:query(query)
end
"""
FAILING_IN_C = FAILING.replace("con:query(query)", "ffi.C.db_query(con, query, #query)")


@pytest.mark.both_modes(gate=True)
@pytest.mark.parametrize("server, script", diagonal(SERVERS, [FAILING, FAILING_IN_C]), ids=lambda value: "",
                         indirect=["server"])
def test_the_others_do_the_events_of_sessions_that_failed(server, script, tmp_path):
    run = Run(server, tmp_path, script, "--events=400", "--on-thread-error=continue")
    status, out, err = run.end()
    assert status == 1, out + err
    total = run.total()
    assert (total["figures"]["events"], total["figures"]["failed_threads"]) == (400, 3)
    assert [session["events"] for session in total["sessions"][:3]] == [4, 4, 4]
    assert all(session["events"] > 4 for session in total["sessions"][3:])
    assert "3 of 8 threads failed (--on-thread-error=continue)" in err
    assert "nowhere" in err


@pytest.mark.both_modes(gate=True)
@pytest.mark.parametrize("server, script", diagonal(SERVERS, [FAILING, FAILING.replace("FAILS_AT_START", "5")]),
                         ids=lambda value: "", indirect=["server"])
def test_a_session_that_fails_ends_the_run(server, script, tmp_path):
    run = Run(server, tmp_path, script, "--time=600")
    status, out, err = run.end()
    assert status == 1, out + err
    assert ("Threads fairness:" in out) == (script == FAILING)
    assert "nowhere" in err


class Silent(FakeServer):
    """Accepts connections, and says nothing on them."""

    driver = "mysql"

    def login(self):
        return ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.port}"]

    def __init__(self):
        self.connected = threading.Semaphore(0)
        super().__init__()

    def talk(self, conn):
        self.connected.release()
        while conn.recv(4096):
            pass


@pytest.mark.both_modes(gate=True)
def test_sessions_that_do_not_get_ready_end_the_run(tmp_path):
    server = Silent()
    run = Run(server, tmp_path, WAITING % 1, "--thread-init-timeout=1")
    status, out, err = run.end()
    server.close()
    assert status == 2, out + err
    assert "FATAL: Worker threads failed to initialize within 1 seconds!" in err
    assert "threads 0 to 7: connecting to the database" in err and "Threads fairness:" not in out


@pytest.mark.both_modes(gate=True)
def test_a_login_that_a_signal_ends_is_no_failure(tmp_path):
    server = Silent()
    run = Run(server, tmp_path, WAITING % 1)
    assert server.connected.acquire(timeout=60)
    run.process.send_signal(signal.SIGINT)
    status, out, err = run.end()
    server.close()
    assert status == 128 + signal.SIGINT, out + err
    assert "FATAL" not in err and "ALERT" not in err


DROPPING = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  for i = 1, 3 do
    local st = con:prepare("SELECT ? + " .. i)
    local p = st:bind_create(sysbench.sql.type.INT)
    st:bind_param(p)
    p:set(7)
    local rs = st:execute()
    assert(tonumber(rs:fetch_row()[1]) == 7 + i)
    rs:free()
  end
  con:query("SELECT seq, REPEAT('x', 200) FROM seq_1_to_2000")
end
"""


def test_a_statement_that_a_collector_frees_does_not_disturb_a_result(mariadb, tmp_path):
    """The collector runs in another session of the worker, while the session of the statement receives a result.  To
    close it then would make the client library lose count of the packets."""
    transcripts.empty(mariadb)
    run = Run(mariadb, tmp_path, DROPPING, "--threads=40", "--workers=1", "--events=500", "--mysql-compression=on")
    status, out, err = run.end()
    assert (status, err) == (0, ""), out + err
