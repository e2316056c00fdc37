# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what becomes of a run when its server is killed, restarted or frozen, or ends connections."""

import re
import signal
import subprocess
import time

import pytest

import proxy
import transcripts
from test_workloads import bench, must, number
from servers import BENCH

SIZES = ["--tables=2", "--table-size=1000"]
RUN_FAILED = "the run failed; the report covers what was measured until then"
LOST = {  # what the server's end looks like
    "mysql": "--mysql-ignore-errors=1053,1213,1205,1927,2002,2006,2013,2026",
    "pgsql": "--pgsql-ignore-errors=57P01,57P02,57P03,08001,08006,40P01,40001,23505",
}


@pytest.fixture(params=["mariadb_victim", "postgresql_victim"])
def victim(request):
    """Has the tables; runs again afterwards."""
    server = request.getfixturevalue(request.param)
    if server.process.poll() is not None:
        server.start()
    transcripts.empty(server)
    must(server, "oltp_read_write", *SIZES, "prepare")
    yield server
    server.thaw()
    if server.process.poll() is not None:
        server.start()
    must(server, "oltp_read_write", *SIZES, "cleanup")


class Run:
    """A run in the background."""

    def __init__(self, server, *argv):
        self.server = server
        self.begun = time.monotonic()
        self.process = subprocess.Popen([BENCH, argv[0], *server.login(), *argv[1:], "run"], cwd="/",
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def get_going(self, threads=4):
        """Waits until all are connected, and some time for events to end in."""
        end = time.monotonic() + 60
        while connections(self.server) < threads and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(1.5)

    def await_events(self):
        """That end from now on, in a run that reports each second."""
        back_s = time.monotonic() - self.begun
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            second = re.match(r"\[ (\d+)s \].* tps: (\S+)", line)
            if second and int(second[1]) > back_s and float(second[2]) > 0:
                break

    def end(self, timeout=90):
        """Status, standard output, standard error, seconds."""
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err, time.monotonic() - self.begun


def connections(server):
    """Of the test's user."""
    view, column = {"mysql": ("information_schema.processlist", "user"),
                    "pgsql": ("pg_stat_activity", "usename")}[server.driver]
    return int(server.sql(f"SELECT COUNT(*) FROM {view} WHERE {column} = 'spec_user';"))


def end_connections(server):
    """All of the test's user."""
    if server.driver == "mysql":
        ids = server.sql("SELECT id FROM information_schema.processlist WHERE user = 'spec_user';")
        return sum(server.sql(f"KILL {i};", check=False) == "" for i in ids.split())
    return int(server.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                          "WHERE usename = 'spec_user'"))


def read_only(server, on):
    if server.driver == "mysql":
        server.sql(f"SET GLOBAL read_only = {int(on)}")
    else:
        server.sql(f"ALTER SYSTEM SET default_transaction_read_only = {'on' if on else 'off'}")
        server.sql("SELECT pg_reload_conf()")


@pytest.mark.parametrize("ps_mode", ["auto", "disable"])
def test_a_killed_server_ends_the_run_with_a_report(victim, ps_mode):
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", "--time=100", f"--db-ps-mode={ps_mode}")
    run.get_going()
    victim.kill()
    killed = time.monotonic()
    status, out, err, _ = run.end()
    assert status == 1
    assert time.monotonic() < killed + 40
    assert err.rstrip("\n").endswith(RUN_FAILED)
    assert number(out, "total number of events") > 0
    fatal = {"mysql": r"^FATAL: \S+ returned error 20(13|06) \(.*\)",
             "pgsql": r"^FATAL: PQexec(Prepared)?\(\) failed: 7 \S"}[victim.driver]
    assert re.search(fatal, err, re.M), err
    victim.start()


@pytest.mark.parametrize("ps_mode", ["auto", "disable"])
def test_a_restarted_server_is_found_again_when_its_loss_is_ignored(victim, ps_mode):
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", "--time=100", LOST[victim.driver],
              f"--db-ps-mode={ps_mode}", "--report-interval=1")
    run.get_going()
    victim.kill()
    time.sleep(0.5)
    victim.start()
    run.get_going()
    run.await_events()
    run.process.send_signal(signal.SIGINT)
    status, out, err, _ = run.end()
    assert status == 128 + signal.SIGINT, out + err
    assert number(out, "reconnects") >= 4
    assert RUN_FAILED not in err


@pytest.mark.parametrize("ignored", [True, False])
def test_connections_ended_by_the_server(victim, ignored):
    argv = [LOST[victim.driver]] if ignored else []
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", "--time=10", *argv)
    run.get_going()
    assert end_connections(victim) >= 4
    status, out, err, _ = run.end()
    if ignored:
        assert status == 0, out + err
        assert number(out, "reconnects") == 4
    else:
        assert status == 1
        assert err.rstrip("\n").endswith(RUN_FAILED)
    assert number(out, "total number of events") > 0


class Address:
    """Of a proxy, which leads to a server."""

    def __init__(self, server):
        self.server, self.way = server, proxy.Proxy(server)

    def login(self):
        return [*self.server.login("tcp"), f"--{self.server.driver}-port={self.way.port}"]


@pytest.fixture
def successor(request, victim):
    """Has the same tables."""
    server = request.getfixturevalue({"mysql": "mariadb", "pgsql": "postgresql"}[victim.driver])
    transcripts.empty(server)
    must(server, "oltp_write_only", *SIZES, "prepare")
    yield server
    must(server, "oltp_write_only", *SIZES, "cleanup")


def test_an_address_that_passes_to_another_server(victim, successor):
    """Until then, the server that writes nothing any more is asked again and again, but not at full speed."""
    address = Address(victim)
    run = Run(address, "oltp_write_only", *SIZES, "--time=100", "--report-interval=1",
              "--db-ignore-errors=connection,read-only")
    while connections(victim) == 0:
        time.sleep(0.05)
    try:
        read_only(victim, True)
        begun, before = time.monotonic(), address.way.connections
        while address.way.connections < before + 12:
            assert run.process.poll() is None and time.monotonic() < begun + 30
            time.sleep(0.05)
        # After 1, 2, 4, … 250 ms, that is.
        assert address.way.connections - before <= 11 + (time.monotonic() - begun) / 0.25
        address.way.target = ("127.0.0.1", successor.port)
        run.await_events()
        run.process.send_signal(signal.SIGINT)
        status, out, err, _ = run.end()
    finally:
        run.process.kill()
        read_only(victim, False)
        address.way.close()
    assert status == 128 + signal.SIGINT, out + err
    assert number(out, "reconnects") >= 12
    assert number(out, "ignored errors") <= number(out, "reconnects")


def test_a_frozen_server_does_not_hold_up_the_end(victim):
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", "--time=10")
    run.get_going()
    victim.freeze()
    try:
        status, out, err, seconds = run.end(timeout=90)
    finally:
        victim.thaw()
    assert status == 2, out + err
    assert seconds < 40
    assert number(out, "total number of events") > 0


def test_a_frozen_server_that_goes_on_costs_nothing_but_time(victim):
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", "--time=6")
    run.get_going()
    victim.freeze()
    time.sleep(1)
    victim.thaw()
    status, out, err, _ = run.end()
    assert status == 0, out + err
    assert number(out, "reconnects") == 0


def test_forced_shutdown_while_statements_wait(victim, tmp_path):
    script = tmp_path / "wait.lua"
    sleep = {"mysql": "SELECT SLEEP(30)", "pgsql": "SELECT pg_sleep(30)"}[victim.driver]
    script.write_text(
        "local con\n"
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        f'function event() con:query("{sleep}") end\n')
    status, out, err = bench(victim, str(script), "--time=3", "--forced-shutdown=1", "--threads=2", "run")
    assert status == 2
    assert "FATAL: The --time limit has expired, forcing shutdown..." in err
    assert number(out, "Number of unfinished transactions on forced shutdown") == 2


def test_a_thread_that_has_failed_counts_more_than_those_that_hang(victim, tmp_path):
    script = tmp_path / "wait.lua"
    sleep = {"mysql": "SELECT SLEEP(30)", "pgsql": "SELECT pg_sleep(30)"}[victim.driver]
    script.write_text(
        "local con\n"
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        "function event()\n"
        f'  if sysbench.tid == 0 then con:query("{sleep.replace("30", "1")}") error("broken") end\n'
        f'  con:query("{sleep}")\n'
        "end\n")
    status, out, err = bench(victim, str(script), "--time=30", "--time-grace=3", "--threads=2", "run")
    assert status == 1, out + err
    assert "1 thread(s) are still busy after 3.0 s without progress (--time-grace)" in err
    assert err.rstrip("\n").endswith(RUN_FAILED)
    assert number(out, "unfinished") == 1


def test_a_statement_that_outlives_the_run_is_interrupted(victim, tmp_path):
    script = tmp_path / "wait.lua"
    sleep = {"mysql": "SELECT SLEEP(60)", "pgsql": "SELECT pg_sleep(60)"}[victim.driver]
    script.write_text(
        "local con\n"
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        f'function event() con:query("{sleep}") end\n')
    begun = time.monotonic()
    status, out, err = bench(victim, str(script), "--time=3", "--threads=2", "run")
    assert status == 2, out + err
    assert time.monotonic() - begun < 45


def test_an_encrypted_run(mariadb, postgresql, certificates):
    for server, tls in (
        (mariadb, ["--mysql-ssl=VERIFY_IDENTITY", f"--mysql-ssl-ca={certificates.ca}"]),
        (postgresql, ["--pgsql-sslmode=verify-full", f"--pgsql-sslrootcert={certificates.ca}"]),
    ):
        transcripts.empty(server)
        must(server, "oltp_point_select", "--table-size=100", "prepare", by="tcp")
        try:
            out = must(server, "oltp_point_select", "--table-size=100", "--events=50", *tls, "run", by="tcp")
            assert number(out, "read") == 50
        finally:
            must(server, "oltp_point_select", "cleanup", by="tcp")


def test_no_password_in_the_process_list(victim):
    run = Run(victim, "oltp_point_select", *SIZES, "--time=6")
    run.get_going(1)
    with open(f"/proc/{run.process.pid}/cmdline", "rb") as f:
        line = f.read()
    assert b"oltp_point_select" in line
    status, out, err, _ = run.end()
    assert status == 0
    assert b"spec_pw" not in line
    assert "spec_pw" not in out + err
