# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what becomes of a run when its server is killed, restarted or frozen, or ends connections."""

import re
import signal
import subprocess
import time

import pytest

import clusters
import modes
import proxy
import transcripts
from servers import BENCH
from test_workloads import bench, must, number
from gate import slow, sanitized

SIZES = ["--tables=2", "--table-size=100"]
RUN_FAILED = "the run failed; the report covers what was measured until then"
LOST = {  # what the server's end looks like
    "mysql": "--mysql-ignore-errors=1053,1213,1205,1927,2002,2006,2013,2026",
    "pgsql": "--pgsql-ignore-errors=57P01,57P02,57P03,08001,08006,40P01,40001,23505",
}


MARIADB, POSTGRESQL = "mariadb_victim", "postgresql_victim"


def each(names, *rows):
    """Parameters of which the first, `victim`, is that fixture's."""
    return pytest.mark.parametrize(names, rows, indirect=["victim"])


@pytest.fixture(params=[MARIADB, POSTGRESQL])
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
    """A run in the background, until it is interrupted."""

    def __init__(self, server, *argv, login=None):
        self.server = server
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [BENCH, *modes.command([argv[0], *(login or server.login()), "--time=0", "--report-interval=0.1", *argv[1:], "run"])],
            cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def get_going(self, threads=4):
        """Waits until all are connected, and events have ended since."""
        clusters.wait_until(lambda: connections(self.server) >= threads, "all threads are connected", 120)
        self.await_events()

    def await_events(self):
        """That end from now on: a report that begins later has some."""
        back_s, ended_s = time.monotonic() - self.begun, None
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            report = re.match(r"\[ ([0-9.]+)s \].* tps: (\S+)", line)
            if report and ended_s is not None and ended_s > back_s and float(report[2]) > 0:
                break
            ended_s = float(report[1]) if report else ended_s

    def end(self, sent=None):
        """Status, standard output, standard error."""
        if sent is not None:
            self.process.send_signal(sent)
        out, err = self.process.communicate(timeout=180)
        return self.process.returncode, out, err


def connections(server):
    """Of the test's user."""
    view, column = {"mysql": ("information_schema.processlist", "user"),
                    "pgsql": ("pg_stat_activity", "usename")}[server.driver]
    return int(server.sql(f"SELECT COUNT(*) FROM {view} WHERE {column} = 'spec_user';"))


def read_only(server, on):
    if server.driver == "mysql":
        server.sql(f"SET GLOBAL read_only = {int(on)}")
    else:
        server.sql(f"ALTER SYSTEM SET default_transaction_read_only = {'on' if on else 'off'}")
        server.sql("SELECT pg_reload_conf()")


WAYS = [(MARIADB, "auto"), (POSTGRESQL, "disable"), slow(MARIADB, "disable"), slow(POSTGRESQL, "auto")]


@pytest.mark.both_modes(gate=True)
@each("victim, ps_mode", *WAYS)
def test_a_killed_server_ends_the_run_with_a_report(victim, ps_mode):
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", f"--db-ps-mode={ps_mode}")
    run.get_going()
    victim.kill()
    status, out, err = run.end()
    assert status == 1
    assert err.rstrip("\n").endswith(RUN_FAILED)
    assert number(out, "total number of events") > 0
    fatal = {"mysql": r"^FATAL: \S+ returned error 20(13|06) \(.*\)",
             "pgsql": r"^FATAL: PQexec(Prepared)?\(\) failed: 7 \S"}[victim.driver]
    assert re.search(fatal, err, re.M), err
    victim.start()


@pytest.mark.both_modes
@each("victim, ps_mode", *WAYS)
def test_a_restarted_server_is_found_again_when_its_loss_is_ignored(victim, ps_mode):
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", LOST[victim.driver], f"--db-ps-mode={ps_mode}")
    run.get_going()
    victim.kill()
    time.sleep(0.2)  # the threads try in vain meanwhile
    victim.start()
    run.get_going()
    status, out, err = run.end(signal.SIGINT)
    assert status == 128 + signal.SIGINT, out + err
    assert number(out, "reconnects") >= 4
    assert RUN_FAILED not in err


@pytest.mark.both_modes(gate=True)
@each("victim, ignored", sanitized(MARIADB, False), sanitized(POSTGRESQL, True), slow(MARIADB, True), slow(POSTGRESQL, False))
def test_connections_ended_by_the_server(victim, ignored):
    argv = [LOST[victim.driver]] if ignored else []
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", *argv)
    run.get_going()
    assert transcripts.end_connections(victim) >= 4
    if ignored:
        run.get_going()
        status, out, err = run.end(signal.SIGINT)
        assert status == 128 + signal.SIGINT, out + err
        assert number(out, "reconnects") == 4
    else:
        status, out, err = run.end()
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
    run = Run(address, "oltp_write_only", *SIZES, "--db-ignore-errors=connection,read-only")
    try:
        clusters.wait_until(lambda: connections(victim) > 0, "the thread is connected", 120)
        read_only(victim, True)
        begun, before = time.monotonic(), address.way.connections
        clusters.wait_until(lambda: address.way.connections >= before + 12, "the thread tries again and again", 120)
        # After 1, 2, 4, … 250 ms at least, that is.
        assert address.way.connections - before <= 11 + (time.monotonic() - begun) / 0.25
        address.way.target = ("127.0.0.1", successor.port)
        run.await_events()
        status, out, err = run.end(signal.SIGINT)
    finally:
        run.process.kill()
        read_only(victim, False)
        address.way.close()
    assert status == 128 + signal.SIGINT, out + err
    assert number(out, "reconnects") >= 12
    assert number(out, "ignored errors") <= number(out, "reconnects")


@pytest.mark.both_modes(gate=True)
@each("victim, limit", (MARIADB, None), slow(POSTGRESQL, None), slow(MARIADB, 30), slow(POSTGRESQL, 30))
def test_a_frozen_server_does_not_hold_up_the_end(victim, limit):
    """Which is that of the time, or comes with a signal."""
    argv = [] if limit is None else [f"--time={limit}"]
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4", "--time-grace=0.5", *argv)
    run.get_going()
    victim.freeze()
    try:
        status, out, err = run.end(signal.SIGINT if limit is None else None)
    finally:
        victim.thaw()
    assert status == (128 + signal.SIGINT if limit is None else 2), out + err
    assert "without progress (--time-grace)" in err
    assert number(out, "total number of events") > 0


@pytest.mark.both_modes
@each("victim", POSTGRESQL, slow(MARIADB))
def test_a_frozen_server_that_goes_on_costs_nothing_but_time(victim):
    run = Run(victim, "oltp_read_write", *SIZES, "--threads=4")
    run.get_going()
    victim.freeze()
    time.sleep(0.5)
    victim.thaw()
    run.await_events()
    status, out, err = run.end(signal.SIGINT)
    assert status == 128 + signal.SIGINT, out + err
    assert number(out, "reconnects") == 0


SLEEP = {"mysql": "SELECT SLEEP({})", "pgsql": "SELECT pg_sleep({})"}


def sleeping(folder, server):
    """A script whose events wait in the server, and end ten minutes later."""
    script = folder / "wait.lua"
    script.write_text(
        "local con\n"
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        f'function event() con:query("{SLEEP[server.driver].format(600)}") end\n')
    return str(script)


@pytest.mark.both_modes(gate=True)
@each("victim", MARIADB, slow(POSTGRESQL))
def test_forced_shutdown_while_statements_wait(victim, tmp_path):
    status, out, err = bench(victim, sleeping(tmp_path, victim), "--time=2", "--forced-shutdown=1", "--threads=2",
                             "run")
    assert status == 2
    assert "FATAL: The --time limit has expired, forcing shutdown..." in err
    assert number(out, "Number of unfinished transactions on forced shutdown") == 2


@pytest.mark.both_modes(gate=True)
@each("victim", MARIADB, slow(POSTGRESQL))
def test_a_thread_that_has_failed_counts_more_than_those_that_hang(victim, tmp_path):
    """It fails when the other one has begun its event."""
    script, begun = tmp_path / "wait.lua", tmp_path / "begun"
    script.write_text(
        "local con\n"
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        "function event()\n"
        "  if sysbench.tid == 0 then\n"
        f'    while not io.open("{begun}") do con:query("{SLEEP[victim.driver].format(0.05)}") end\n'
        '    error("broken")\n'
        "  end\n"
        f'  io.open("{begun}", "w"):close()\n'
        f'  con:query("{SLEEP[victim.driver].format(600)}")\n'
        "end\n")
    status, out, err = bench(victim, str(script), "--time=0", "--time-grace=0.5", "--threads=2", "run")
    assert status == 1, out + err
    assert "1 thread(s) are still busy after 0.5 s without progress (--time-grace)" in err
    assert err.rstrip("\n").endswith(RUN_FAILED)
    assert number(out, "unfinished") == 1


@pytest.mark.both_modes(gate=True)
@pytest.mark.threads
@each("victim", POSTGRESQL, slow(MARIADB))
def test_a_statement_that_outlives_the_run_is_interrupted(victim, tmp_path):
    status, out, err = bench(victim, sleeping(tmp_path, victim), "--time=2", "--threads=2", "run")
    assert status == 2, out + err


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


@pytest.mark.both_modes(gate=True)
@pytest.mark.parametrize("kind", ["mariadb", slow("postgresql")])
def test_encrypted_connections_ended_by_the_server(kind, request):
    server = request.getfixturevalue(kind)
    tls = {"mysql": "--mysql-ssl=required", "pgsql": "--pgsql-sslmode=require"}[server.driver]
    transcripts.empty(server)
    must(server, "oltp_read_write", *SIZES, "prepare")
    try:
        run = Run(server, "oltp_read_write", *SIZES, "--threads=4", LOST[server.driver], tls,
                  login=server.login("tcp"))
        run.get_going()
        assert transcripts.end_connections(server) >= 4
        run.await_events()
        status, out, err = run.end(signal.SIGINT)
        assert status == 128 + signal.SIGINT, out + err
        assert number(out, "reconnects") >= 4
    finally:
        must(server, "oltp_read_write", *SIZES, "cleanup")


def test_no_password_in_the_process_list(victim):
    run = Run(victim, "oltp_point_select", *SIZES, "--rate=50")
    run.get_going(threads=1)
    with open(f"/proc/{run.process.pid}/cmdline", "rb") as f:
        line = f.read()
    assert b"oltp_point_select" in line
    status, out, err = run.end(signal.SIGINT)
    assert status == 128 + signal.SIGINT
    assert b"spec_pw" not in line
    assert "spec_pw" not in out + err
