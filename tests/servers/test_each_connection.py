# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows in the servers' logs that each connection of many sends what the reference's connection sends:
every workload, 1, 8 and 64 threads, statements prepared and not."""

import os
import re
import subprocess

import pytest

import modes
import transcripts
from gate import parameters
from test_sql_captures import form, hide_table, mysql_sessions, pgsql_sessions
from test_workloads import WORKLOADS

BENCH = os.environ.get("BENCH", "")
REFERENCE = os.environ.get("BENCH_REFERENCE_BIN", "/usr/bin/sysbench")
THREADS = {1: 10, 8: 80, 64: 320}  # and events
BULK_TABLES = 64

DRIVERS, PS_MODES = ["mysql", "pgsql"], ["auto", "disable"]


@pytest.fixture(params=DRIVERS)
def logging(request):
    server = request.getfixturevalue("mariadb_plain" if request.param == "mysql" else "postgresql")
    transcripts.empty(server)
    if server.driver == "pgsql":
        server.sql("ALTER ROLE spec_user SET log_statement = 'all'")
    yield server
    if server.driver == "pgsql":
        server.sql("ALTER ROLE spec_user RESET log_statement")


def without_questions(sessions):
    kept = [[(hide_table(form(t)), values) for t, values in s if not transcripts.PREFLIGHT.match(t)] for s in sessions]
    return [s for s in kept if s]


def run(binary, server, workload, *argv):
    env = {**os.environ, "BENCH_COMPAT": "1.0"}
    # Elsewhere, because the reference looks for scripts in ./src/lua first.
    line = [workload, *server.login(), *argv]
    done = subprocess.run([binary, *(modes.command(line) if binary == BENCH else line)], env=env, cwd="/", capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def logged(binary, server, workload, *argv):
    """What was printed, and the statements of each connection as (form, form of the parameters)."""
    if server.driver == "pgsql":
        begin = os.path.getsize(server.path("server.log"))
        out = run(binary, server, workload, *argv)
        return out, without_questions(pgsql_sessions(server.path("server.log"), begin))
    log = server.path("general-each.log")
    server.sql(f"SET GLOBAL general_log_file='{log}'; SET GLOBAL general_log=ON;")
    out = run(binary, server, workload, *argv)
    server.sql("SET GLOBAL general_log=OFF;")
    sessions = [[(t, "") for t in s] for s in mysql_sessions(log)]
    os.unlink(log)
    return out, without_questions(sessions)


def events_of(session):
    """The statements of a connection, parted where a transaction begins; else each by itself."""
    events = []
    for statement in session:
        if not events or statement[0] == "BEGIN" or events[-1][0][0] != "BEGIN":
            events.append([])
        events[-1].append(statement)
    return events


def number(out, label):
    return int(re.search(rf"^ *{label}: +(\d+)", out, re.M).group(1))


@pytest.mark.both_modes
@pytest.mark.parametrize("logging, workload, ps_mode", parameters(
    [(d, w, mode) for d in DRIVERS for w in WORKLOADS if w != "bulk_insert" for mode in PS_MODES],
    gate=[("mysql", "oltp_read_write", "auto"), ("pgsql", "oltp_point_select", "disable")],
), indirect=["logging"])
def test_each_connection(logging, workload, ps_mode):
    argv = ["--table-size=2000", "--rand-type=uniform", f"--db-ps-mode={ps_mode}", "--time=0"]
    run(BENCH, logging, workload, "--table-size=2000", "prepare")
    # Inserted ids would be there already when ours come to run.
    out, (session,) = logged(REFERENCE, logging, workload, *argv, "--events=5", "run")
    wanted = events_of(session)
    assert len(wanted) == number(out, "total number of events") == 5
    assert all(event == wanted[0] for event in wanted)
    for threads, events in THREADS.items():
        out, sessions = logged(BENCH, logging, workload, *argv, f"--threads={threads}", f"--events={events}",
                               "--mysql-ignore-errors=1213,1020,1205,1062", "run")
        found = [event for session in sessions for event in events_of(session)]
        whole = [event for event in found if event == wanted[0]]
        broken = [event for event in found if event != wanted[0]]
        assert number(out, "total number of events") == events
        # One that met a conflict ended where it met it, and was done again.
        assert len(broken) <= number(out, "ignored errors")
        for event in broken:
            sent = [s for s in event if s[0] != "ROLLBACK"]
            assert sent == wanted[0][: len(sent)]
        assert len(whole) >= events or broken and len(found) >= events
        assert len(sessions) <= threads


@pytest.mark.parametrize("logging, ps_mode", parameters(
    [(d, mode) for d in DRIVERS for mode in PS_MODES], gate=[("mysql", "auto")]), indirect=["logging"])
def test_each_connection_of_bulk_insert(logging, ps_mode):
    run(BENCH, logging, "bulk_insert", f"--threads={BULK_TABLES}", "prepare")
    _, (session,) = logged(REFERENCE, logging, "bulk_insert", "--events=2000", "--time=0", "run")
    wanted = set(session)
    assert len(wanted) == 1
    logging.sql(("DELETE FROM spec_db." if logging.driver == "mysql" else "DELETE FROM ") + "sbtest1")
    for threads in THREADS:
        _, sessions = logged(BENCH, logging, "bulk_insert", f"--threads={threads}", f"--db-ps-mode={ps_mode}",
                             f"--events={2000 * threads}", "--time=0", "run")
        assert {s for session in sessions for s in session} == wanted
