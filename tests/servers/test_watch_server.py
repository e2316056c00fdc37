# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that --watch=server has the server's own counters, and that a server costs a line at most."""

import json
import os
import re
import subprocess

import pytest

import transcripts
from servers import BENCH, PASSWORD, USER

WORKLOAD = ["oltp_read_write", "--tables=2", "--table-size=200", "--threads=2"]


def bench(server, *argv, cwd):
    return subprocess.run([BENCH, argv[0], *server.login(), *argv[1:]], cwd=cwd, capture_output=True, text=True,
                          timeout=120)


def run(server, folder, *argv):
    """The watched figures of the total, its other figures, the intervals and what was printed."""
    got = bench(server, *WORKLOAD, "--watch=server", "--report=text", "--report=json:json", *argv, "run", cwd=folder)
    assert got.returncode == 0, got.stdout + got.stderr
    group = json.loads((folder / "json").read_text())["groups"][0]
    assert PASSWORD not in got.stdout + got.stderr + (folder / "json").read_text()
    return group, got


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


def test_counters_are_those_of_the_run(server, tmp_path):
    """Commits are transactions, and queries those that the run counts."""
    name = {"mysql": "server_Com_commit_per_s", "pgsql": "server_database_xact_commit_per_s"}[server.driver]
    for _ in range(5):
        group, got = run(server, tmp_path, "--time=4", "--report-interval=1", "--watch-lines")
        watch, figures = group["total"].get("watch", {}), group["total"]["figures"]
        # A server that is slow to answer has no figures in an interval.
        told = [record for record in group["intervals"] if "watch" in record]
        # Who is held up while the last reading comes has counts of other events.
        if (told and watch.get(name, 0) == pytest.approx(figures["transactions_per_s"], rel=0.3)
                and watch.get("server_Com_commit_per_transaction", 1) == pytest.approx(1, rel=0.05)
                and watch.get("server_Com_select_per_transaction", 14) == pytest.approx(14, rel=0.05)):
            break
    assert got.stderr == "" and "\nWatched:\n    server " in got.stdout
    assert len(re.findall(r"^\[ \ds \] server: ", got.stdout, re.M)) == len(told) >= 1
    if server.driver == "mysql":
        # The last reading may come later than the last commit, and counts what ended in the grace.
        assert watch["server_Com_commit_per_s"] == pytest.approx(figures["transactions_per_s"], rel=0.3)
        assert watch["server_Com_commit_per_transaction"] == pytest.approx(1, rel=0.05)
        assert watch["server_Com_select_per_transaction"] == pytest.approx(14, rel=0.05)
        # Two threads, and the connection that asks.
        assert told[0]["watch"]["server_Threads_connected"] >= 3
        assert watch["server_Bytes_sent_per_s"] > 0
    else:
        # A backend reports what it has counted once a second.
        assert watch["server_database_xact_commit_per_s"] == pytest.approx(figures["transactions_per_s"], rel=0.5)
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


def test_a_frozen_server_holds_up_nothing(server, tmp_path):
    """Intervals come on time, and the run ends, although no reading does."""
    argv = [BENCH, *WORKLOAD[:1], *server.login(), *WORKLOAD[1:], "--watch=server", "--watch-lines", "--time=4",
            "--time-grace=0.5", "--report-interval=1", "run"]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        out = ""
        while "s ] thds: " not in out:
            out += (line := run.stdout.readline())
            assert line, run.stderr.read()
        server.freeze()
        try:
            rest, _ = run.communicate(timeout=30)
        finally:
            server.thaw()
    # A line that comes half a second late has the stamp of the next, and a busy machine may miss one.
    stamps = re.findall(r"^\[ (\d)s \] thds", out + rest, re.M)
    assert len(stamps) >= 2 and stamps == sorted(stamps)
    assert run.returncode in (0, 2)


def test_the_device_is_that_of_the_data(server, tmp_path):
    """PostgreSQL tells only superusers where its data are."""
    if server.driver == "pgsql":
        server.sql(f"ALTER ROLE {USER} SUPERUSER", "postgres")
    try:
        got = bench(server, *WORKLOAD, "--watch=device", "--time=1", "run", cwd=tmp_path)
    finally:
        if server.driver == "pgsql":
            server.sql(f"ALTER ROLE {USER} NOSUPERUSER", "postgres")
    assert got.returncode == 0
    if rows_of_device(server.path("data")):
        assert got.stderr == "" and "    device utilization (%):" in got.stdout
    else:
        assert re.fullmatch(r"--watch=device: no device is watched: .*\n", got.stderr)
    if server.driver == "pgsql":
        got = bench(server, *WORKLOAD, "--watch=device", "--time=1", "run", cwd=tmp_path)
        assert got.returncode == 0 and "Watched" not in got.stdout
        assert re.fullmatch(r'--watch=device: cannot ask the server: .* examine "data_directory"\n', got.stderr)


def test_a_server_that_refuses_costs_one_line(mariadb, tmp_path):
    """Two connections are allowed, and the two threads have them."""
    transcripts.empty(mariadb)
    assert bench(mariadb, *WORKLOAD, "prepare", cwd=tmp_path).returncode == 0
    limit = "".join(f"ALTER USER '{USER}'@'{host}' WITH MAX_USER_CONNECTIONS %d;" for host in ("localhost", "%%"))
    mariadb.sql(limit % (2, 2))
    try:
        for _ in range(5):  # the server may still count who has looked at the tables
            got = bench(mariadb, *WORKLOAD, "--watch=server", "--time=1", "run", cwd=tmp_path)
            if got.returncode == 0:
                break
    finally:
        mariadb.sql(limit % (0, 0))
    assert got.returncode == 0, got.stderr
    lines = [line for line in got.stderr.splitlines() if "--watch" in line]
    assert len(lines) == 1 and lines[0].startswith("--watch=server: cannot connect to ")
    assert "max_user_connections" in lines[0] and "Watched" not in got.stdout


@pytest.mark.parametrize("driver", ["sqlite", "null"])
def test_drivers_without_a_server(tmp_path, driver):
    argv = [BENCH, "oltp_read_write", "--table-size=10", f"--db-driver={driver}"]
    if driver == "sqlite":
        argv.append("--sqlite-db=./db")
    assert subprocess.run([*argv, "prepare"], cwd=tmp_path, capture_output=True).returncode == 0
    got = subprocess.run([*argv, "--time=1", "--watch=server,host", "run"], cwd=tmp_path, capture_output=True,
                         text=True, timeout=60)
    assert got.returncode == 0
    assert got.stderr == f"--watch=server: no server is watched: the driver '{driver}' has no counters of a server\n"
    assert "processors user" in got.stdout
