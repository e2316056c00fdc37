# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that --watch=server has the server's own counters, and that a server costs a line at most."""

import json
import os
import re
import signal
import subprocess
import threading

import pytest

import clusters
import transcripts
from servers import BENCH, PASSWORD, USER

WORKLOAD = ["oltp_read_write", "--tables=2", "--table-size=200", "--threads=2"]


def bench(server, *argv, cwd):
    return subprocess.run([BENCH, argv[0], *server.login(), *argv[1:]], cwd=cwd, capture_output=True, text=True,
                          timeout=120)


class Run:
    """In the background, until it is interrupted.  Events at a rate leave the processors to others."""

    def __init__(self, server, folder, *argv):
        self.folder = folder
        self.process = subprocess.Popen(
            [BENCH, *WORKLOAD[:1], *server.login(), *WORKLOAD[1:], "--time=0", "--rate=200", "--watch=server",
             "--watch-lines", "--report=text", "--report=json:json", *argv, "run"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.out = ""

    def __enter__(self):
        # A line that never comes is that of a run that hangs.
        self.watchdog = threading.Timer(300, self.process.kill)
        self.watchdog.start()
        return self

    def __exit__(self, *_):
        self.watchdog.cancel()
        self.process.kill()
        self.process.communicate()

    def await_lines(self, what, times):
        """So many that have this, from now on."""
        while times > 0:
            line = self.process.stdout.readline()
            self.out += line
            assert line, self.out + self.process.stderr.read()
            times -= what in line

    def end(self):
        """The watched figures of the total, those of the intervals and standard error."""
        self.process.send_signal(signal.SIGINT)
        # Not communicate(), which does not see what has been read ahead.
        self.out += self.process.stdout.read()
        err = self.process.stderr.read()
        assert self.process.wait(timeout=180) == 128 + signal.SIGINT, self.out + err
        text = (self.folder / "json").read_text()
        assert PASSWORD not in self.out + err + text
        group = json.loads(text)["groups"][0]
        return group["total"].get("watch"), [r["watch"] for r in group["intervals"] if "watch" in r], err


def rows_of_device(folder):
    """The folder's file system has a block device that the kernel counts for."""
    number = os.stat(folder).st_dev
    with open("/proc/diskstats") as rows:
        return [row for row in rows if row.split()[:2] == [str(os.major(number)), str(os.minor(number))]]


@pytest.fixture(params=["mariadb", "postgresql"])
def server(request, tmp_path):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    assert bench(server, *WORKLOAD, "prepare", cwd=tmp_path).returncode == 0
    return server


@pytest.mark.threads
def test_counters_are_those_of_the_run(server, tmp_path):
    """Commits are transactions, and queries those that the run counts."""
    # A server that is slow to answer has no figures in an interval.  PostgreSQL's backends report what they have
    # counted once a second.
    times, interval_s = (2, 0.5) if server.driver == "mysql" else (3, 1)
    with Run(server, tmp_path, f"--report-interval={interval_s}") as run:
        run.await_lines("] server: ", times)
        watch, told, err = run.end()
    assert "--watch" not in err and "\nWatched:\n    server " in run.out
    assert len(re.findall(r"^\[ [0-9.]+s \] server: ", run.out, re.M)) == len(told)
    if server.driver == "mysql":
        # Both are of the same two readings, of which each may have a part of a transaction of each of the threads.
        assert watch["server_Com_select_per_s"] == pytest.approx(14 * watch["server_Com_commit_per_s"], rel=0.2)
        # The last reading may come later than the last commit, and counts what ended in the grace.
        assert watch["server_Com_commit_per_transaction"] == pytest.approx(1, rel=0.2)
        # Two threads, and the connection that asks.
        assert told[0]["server_Threads_connected"] >= 3
        assert watch["server_Max_used_connections"] >= 3 and "server_Max_used_connections_per_s" not in watch
        assert watch["server_Bytes_sent_per_s"] > 0
    else:
        assert watch["server_database_xact_commit_per_s"] > 0
        assert watch["server_database_blks_hit_per_s"] > 0
    assert bench(server, *WORKLOAD, "cleanup", cwd=tmp_path).returncode == 0


def test_it_is_no_part_of_the_run(server, tmp_path):
    """The queries of the run are as many as without it."""
    counted = []
    for watch in ([], ["--watch=server", "--report-interval=0.1"]):
        got = bench(server, *WORKLOAD, *watch, "--events=50", "--time=0", "--rand-seed=5", "--threads=1",
                    "--report=json:json", "run", cwd=tmp_path)
        assert got.returncode == 0, got.stderr
        total = json.loads((tmp_path / "json").read_text())["groups"][0]["total"]
        counted.append({name: total["figures"][name] for name in ("queries", "transactions", "errors", "reconnects")})
    assert counted[0] == counted[1]


@pytest.mark.parametrize("server", ["mariadb", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True)
def test_a_frozen_server_holds_up_nothing(server, tmp_path):
    """Intervals come, and the run ends, although no reading does."""
    with Run(server, tmp_path, "--time-grace=0.5", "--report-interval=0.5") as run:
        run.await_lines("s ] thds: ", 1)
        server.freeze()
        try:
            run.await_lines("s ] thds: ", 3)
            run.end()
        finally:
            server.thaw()
    stamps = [float(text) for text in re.findall(r"^\[ ([0-9.]+)s \] thds", run.out, re.M)]
    assert stamps == sorted(set(stamps))


def test_the_device_is_that_of_the_data(server, tmp_path):
    """PostgreSQL tells only superusers where its data are."""
    if server.driver == "pgsql":
        server.sql(f"ALTER ROLE {USER} SUPERUSER", "postgres")
    try:
        got = bench(server, *WORKLOAD, "--watch=device", "--time=0.3", "run", cwd=tmp_path)
    finally:
        if server.driver == "pgsql":
            server.sql(f"ALTER ROLE {USER} NOSUPERUSER", "postgres")
    assert got.returncode == 0
    if rows_of_device(server.path("data")):
        assert got.stderr == "" and "    device utilization (%):" in got.stdout
    else:
        assert re.fullmatch(r"--watch=device: no device is watched: .*\n", got.stderr)
    if server.driver == "pgsql":
        got = bench(server, *WORKLOAD, "--watch=device", "--time=0.3", "run", cwd=tmp_path)
        assert got.returncode == 0 and "Watched" not in got.stdout
        assert re.fullmatch(r'--watch=device: cannot ask the server: .* examine "data_directory"\n', got.stderr)


@pytest.mark.sanitized
def test_a_server_that_refuses_costs_one_line(mariadb, tmp_path):
    """Two connections are allowed, and the two threads have them."""
    # It looks at no tables, which would be a third connection, still counted for a moment.
    (tmp_path / "x.lua").write_text("function thread_init() con = sysbench.sql.driver():connect() end\n"
                                    "function event() con:query('SELECT 1') end\n")
    transcripts.end_connections(mariadb)
    gone = f"SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{USER}'"
    clusters.wait_until(lambda: mariadb.sql(gone).strip() == "0", "no connection is left")
    limit = "".join(f"ALTER USER '{USER}'@'{host}' WITH MAX_USER_CONNECTIONS %d;" for host in ("localhost", "%%"))
    mariadb.sql(limit % (2, 2))
    try:
        got = bench(mariadb, "x.lua", "--threads=2", "--watch=server", "--time=0.3", "run", cwd=tmp_path)
    finally:
        mariadb.sql(limit % (0, 0))
    assert got.returncode == 0, got.stderr
    lines = [line for line in got.stderr.splitlines() if "--watch" in line]
    assert len(lines) == 1 and lines[0].startswith("--watch=server: cannot connect to ")
    assert "max_user_connections" in lines[0] and "Watched" not in got.stdout


@pytest.mark.parametrize("driver", ["sqlite", pytest.param("null", marks=pytest.mark.slow)])
def test_drivers_without_a_server(tmp_path, driver):
    argv = [BENCH, "oltp_read_write", "--table-size=10", f"--db-driver={driver}"]
    if driver == "sqlite":
        argv.append("--sqlite-db=./db")
    assert subprocess.run([*argv, "prepare"], cwd=tmp_path, capture_output=True).returncode == 0
    got = subprocess.run([*argv, "--time=0.3", "--watch=server,host", "run"], cwd=tmp_path, capture_output=True,
                         text=True, timeout=180)
    assert got.returncode == 0
    assert got.stderr == f"--watch=server: no server is watched: the driver '{driver}' has no counters of a server\n"
    assert "processors user" in got.stdout
