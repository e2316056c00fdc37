# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that servers receive, per connection and in order, the statements the reference sends them.

What they received is in their own logs; the captures of the reference were made from the same."""

import os
import re

import pytest

import transcripts  # noqa: F401  (finds the folder of the next three)
import runner
import sqltrace
import test_sql_trace
from gate import parameters

SQL = runner.GOLDEN / "sql"
# Several connections, which the captures of PostgreSQL do not tell apart.
NEEDS_CONNECTIONS = ("bulk", "parallel-prepare")


def form(text):
    """As in the traces, but nothing of a definition is left to a database engine."""
    text = re.sub(r"\$\d+", "?", text)
    return " ".join(text.split()) if text.startswith("CREATE") else sqltrace.statement(text)


def hide_table(text):
    return re.sub(r"\bsbtest\d+\b", "sbtest#", text)


# --- MySQL: lines of the general log, turned into those of the captures -------------------------------

GENERAL = re.compile(
    r"(?:\d{6} +\d+:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.]+Z)?\t+ *(\d+) (Connect|Query|Prepare|Execute|Close stmt|Quit)\t?(.*)")


def mysql_sessions(path):
    """Texts executed by each connection of the test's user, in order."""
    by, last = {}, None
    with open(path, errors="replace") as f:
        for line in f.read().split("\n"):
            m = GENERAL.fullmatch(line)
            if not m:
                if last:
                    last[-1] += "\n" + line
                continue
            number, kind, text = m.groups()
            last = None
            if kind == "Connect" and text.startswith("spec_user@"):
                by[number] = []
            elif number in by and kind in ("Query", "Execute"):
                last = by[number]
                last.append(text)
    return list(by.values())


# --- PostgreSQL: lines of the log, as they are in the captures but for what precedes them --------------

EXECUTED = re.compile(r"(?:execute [^:]+|statement): (.*)", re.S)


def pgsql_statements(lines):
    """(text, form of the parameters) of each statement."""
    found = []
    for line in lines:
        if line.startswith("   parameters: "):
            # One more than the literal's own pattern: NULL, and quotes around all the others.
            values = re.sub(r"'(?:[^']|'')*'", "'?'", line.strip())
            found[-1] = (found[-1][0], values)
        elif EXECUTED.fullmatch(line):
            found.append((EXECUTED.fullmatch(line).group(1), ""))
        elif found:
            found[-1] = (found[-1][0] + "\n" + line, found[-1][1])
    return found


def pgsql_sessions(path, begin):
    """The log from byte BEGIN on, one list of statements for each connection."""
    by, last = {}, None
    with open(path, errors="replace") as f:
        f.seek(begin)
        for line in f.read().split("\n"):
            m = re.fullmatch(r"([0-9a-f.]+)\|(LOG|DETAIL):  (.*)", line)
            if m and (m.group(2) == "LOG" or m.group(3).startswith("parameters: ")):
                session, kind, text = m.groups()
                last = by.setdefault(session, [])
                last.append(("   " if kind == "DETAIL" else "") + text)
            elif last and line.startswith("\t"):
                last.append(line)
            else:
                last = None
    return [found for found in map(pgsql_statements, by.values()) if found]


def run_step(server, folder, protocol, workload, options, step):
    argv = [runner.binary(), workload, *server.login(), f"--{server.driver}-protocol={protocol}"]
    argv += [] if any(o.startswith("--events") for o in options) else ["--events=1"]
    # The reference knows no other way to fill a table.
    argv += ["--db-bulk-load=insert"] if step == "prepare" else []
    output = runner.execute([*argv, *options, step], folder, runner.environment("1.1", {}))
    assert output.status == 0, output


def steps_of(case):
    workload, options, steps = test_sql_trace.CASES[case]
    return workload, options, steps, hide_table if case == "four-tables" else str


# One of each kind of statement.
GATE = [(case, "auto") for case in ("oltp_read_write", "oltp_insert", "select_random_points", "select_random_ranges",
                                    "insert-no-autoinc", "no-secondary", "multiples", "ps-disable")]


def both_ways(cases):
    """The library sends what the driver would; a few cases have each kind of statement."""
    by_library = {"insert-no-autoinc", "multiples", "oltp_read_write", "ps-disable"}
    return [(case, "auto") for case in sorted(cases)] + [(case, "library") for case in sorted(by_library & cases)]


@pytest.mark.parametrize("case, protocol", parameters(
    both_ways(set(test_sql_trace.CASES)), gate=[*GATE, ("bulk", "auto"), ("ps-disable", "library")]))
def test_mysql_receives_what_the_reference_sends(case, protocol, mariadb_plain, tmp_path):
    workload, options, steps, hide = steps_of(case)
    if case == "no-secondary":
        options = [*options, "--mysql-storage-engine=myisam"]
    server = mariadb_plain
    transcripts.empty(server)
    for step, captured in steps:
        log = server.path(f"general-{step}.log")
        server.sql(f"SET GLOBAL general_log_file='{log}'; SET GLOBAL general_log=ON;")
        try:
            run_step(server, tmp_path, protocol, workload, options, step)
        finally:
            server.sql("SET GLOBAL general_log=OFF;")
        got = [[hide(form(text)) for text in session] for session in mysql_sessions(log)]
        os.unlink(log)
        if not captured:
            continue
        by = {}
        for number, kind, text in sqltrace.parse_capture((SQL / f"1.1.my.{captured}.txt").read_text()):
            if kind != "Prepare":
                by.setdefault(number, []).append(hide(form(text)))
        compare(case, captured, got, list(by.values()))


def compare(case, captured, got, want):
    # A connection that executed nothing is not in the captures.
    got, want = sorted(s for s in got if s), sorted(want)
    if captured == "v-bulk-run":
        # Ours asks where to go on, and a thread that is too slow for any event inserts nothing.
        want = [[f"SELECT MAX(id) FROM sbtest{i}", *s] for i, s in enumerate(want, start=1)]
        want = [w[: len(g)] for g, w in zip(got, want)]
    assert got == want, captured


@pytest.mark.parametrize("case, protocol", parameters(
    both_ways(set(test_sql_trace.CASES) - set(NEEDS_CONNECTIONS)), gate=[*GATE, ("oltp_read_write", "library")]))
def test_postgresql_receives_what_the_reference_sends(case, protocol, postgresql, tmp_path):
    workload, options, steps, hide = steps_of(case)
    transcripts.empty(postgresql)
    postgresql.sql("ALTER ROLE spec_user SET log_statement = 'all'")
    try:
        for step, captured in steps:
            begin = os.path.getsize(postgresql.path("server.log"))
            run_step(postgresql, tmp_path, protocol, workload, options, step)
            if not captured:
                continue
            found = pgsql_sessions(postgresql.path("server.log"), begin)
            got = [[(hide(form(t)), values) for t, values in session] for session in found]
            text = (SQL / f"1.1.pg.{captured}.txt").read_text().rstrip("\n")
            want = [(hide(form(t)), values) for t, values in pgsql_statements(text.split("\n"))]
            assert got == [want], captured
    finally:
        postgresql.sql("ALTER ROLE spec_user RESET log_statement")
