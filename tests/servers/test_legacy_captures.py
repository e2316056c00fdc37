# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the workloads of 0.5 send servers what those of the reference sent: per connection, in
order, with the same text but for drawn values, in the dialects 0.5 and 1.0."""

import os
import re

import pytest

import transcripts  # noqa: F401  (finds the folder of the next three)
import runner
import sqltrace
from gate import parameters
from test_sql_captures import mysql_sessions, pgsql_sessions, pgsql_statements

SQL = runner.GOLDEN / "sql"
SCRIPTS = ["oltp", "oltp_simple", "select", "insert", "delete", "update_index", "update_non_index",
           "bulk_insert", "select_random_points", "select_random_ranges"]
# name: (script, options, names of the captures, what is run before)
CASES = {name: (name, ["--oltp-table-size=3"], f"L-{name}", []) for name in SCRIPTS}
for option in ("--mysql-table-engine=myisam", "--oltp-auto-inc=off", "--oltp-create-secondary=off",
               "--oltp-secondary", "--pgsql-variant=redshift"):
    capture = "LV-" + re.sub(r"[^a-z]", "", option)
    CASES[capture] = ("oltp", ["--oltp-table-size=2", option], capture, [])
CASES["LV-pp"] = ("parallel_prepare", ["--oltp-table-size=2", "--oltp-tables-count=4"], "LV-pp", [])

# Where ours is to do what another version did: version 0.5 did not know two of the options, and its
# bulk_insert not PostgreSQL; in 1.0 each thread of parallel_prepare made all tables, because it read
# an option that nobody had set.
INSTEAD = {("0.5", "my", "LV-oltpcreatesecondaryoff", "prepare"): "1.0.20",
           ("0.5", "pg", "LV-oltpcreatesecondaryoff", "prepare"): "1.0.20",
           ("0.5", "my", "LV-pgsqlvariantredshift", "prepare"): "1.0.20",
           ("0.5", "pg", "L-bulk_insert", "prepare"): "1.0.20",
           ("0.5", "pg", "L-bulk_insert", "run"): "1.0.20",
           ("1.0.20", "my", "LV-pp", "run"): "0.5"}
# Servers refuse them, or (NEVER) the reference's own script failed before it sent anything.
NOT_ON_POSTGRESQL = ("LV-oltpsecondary", "LV-pgsqlvariantredshift")
NEVER = [("0.5", "L-select_random_points"), ("0.5", "L-select_random_ranges")]
# Ours reads the largest id first: a second run goes on after the rows that there are.
LARGEST_ID = "SELECT MAX(id) FROM sbtest0"
STEPS = {"prepare": "prep", "run": "run", "cleanup": "clean"}


def form(text):
    """The text with ? for values; of a bulk insert, whose length is cut in captures, the first row."""
    if re.match(r"INSERT INTO \w+(\([^)]*\))? VALUES ?\(", text) and "DEFAULT" not in text:
        text = sqltrace.statement(text)
    elif not text.startswith("CREATE"):
        text = sqltrace.LITERAL.sub("?", text)
    return re.sub(r"\n\t", "\n", re.sub(r"\$\d+", "?", text)).rstrip()


def capture(version, server, name, step):
    """The sessions of a capture; None: that step was not recorded."""
    taken = INSTEAD.get((version, server, name, step), version)
    path = SQL / f"{taken}.{server}.{name}-{STEPS[step]}.txt"
    if not path.exists():
        return None
    if server == "my":
        by = {}
        for number, kind, text in sqltrace.parse_capture(path.read_text()):
            if kind != "Prepare":
                by.setdefault(number, []).append(form(text))
        if (version, name, step) == ("0.5", "LV-pgsqlvariantredshift", "run"):
            # Redshift has no unique ids.
            by = {n: [t for t in s if t[:6] not in ("DELETE", "INSERT")] for n, s in by.items()}
        if (name, step) == ("L-bulk_insert", "run"):
            by = {n: ([LARGEST_ID] if any(t.startswith("INSERT") for t in s) else []) + s for n, s in by.items()}
        return sorted(by.values())
    lines = [line for line in path.read_text().rstrip("\n").split("\n")
             if not line.startswith("could not receive data")]
    first = [(LARGEST_ID, "")] if (name, step) == ("L-bulk_insert", "run") else []
    return [first + [(form(text), values) for text, values in pgsql_statements(lines)]]


def argv(version, server, case, step):
    script, options, _, _ = CASES[case]
    threads = 2 if script == "parallel_prepare" else 1
    if version == "0.5":
        head = [f"--test=tests/db/{script}.lua", f"--num-threads={threads}", f"--max-requests={threads}"]
    else:
        head = [f"oltp_legacy/{script}.lua", f"--threads={threads}", f"--events={threads}", "--time=0"]
    # The reference knows no other way to fill a table.
    way = ["--db-bulk-load=insert"] if step == "prepare" else []
    return [runner.binary(), *head, *server.login(), *options, *way, step]


def run(version, server, case, step, folder):
    output = runner.execute(argv(version, server, case, step), folder,
                            runner.environment("1.1", {}) | {"BENCH_COMPAT": version[:3]})
    assert output.status == 0, output
    return output


def all_threads_had_an_event(case, step, output):
    """One that comes late may find that another has taken its event, and makes no tables then."""
    made = [line for line in output.stdout if line.startswith("thread prepare")]
    return (CASES[case][0], step) != ("parallel_prepare", "run") or len(made) == 2


def steps_of(case):
    return [s for s in STEPS if s != "prepare" or CASES[case][0] != "parallel_prepare"]


VERSIONS = ["0.5", "1.0.20"]


@pytest.mark.parametrize("version, case", parameters(
    [(version, case) for version in VERSIONS for case in sorted(CASES)],
    gate=[("0.5", "oltp"), ("0.5", "LV-oltpsecondary"), ("1.0.20", "bulk_insert"), ("1.0.20", "LV-pp")]))
def test_mysql_receives_what_the_reference_sends(version, case, mariadb_plain, tmp_path):
    server, compared = mariadb_plain, 0
    transcripts.empty(server)
    for step in steps_of(case):
        log = server.path(f"general-{step}.log")
        done = False
        for _ in range(20):
            server.sql(f"SET GLOBAL general_log_file='{log}'; SET GLOBAL general_log=ON;")
            try:
                done = all_threads_had_an_event(case, step, run(version, server, case, step, tmp_path))
            finally:
                server.sql("SET GLOBAL general_log=OFF;")
            if done:
                break
            transcripts.empty(server)
            os.unlink(log)
        assert done, "one thread had all events twenty times"
        got = sorted([form(text) for text in s] for s in mysql_sessions(log) if s)
        os.unlink(log)
        want = capture(version, "my", CASES[case][2], step)
        if want is not None:
            assert got == want, step
            compared += 1
    assert compared >= 2


@pytest.mark.parametrize("version, case", parameters(
    [(version, case) for version in VERSIONS for case in sorted(set(CASES) - set(NOT_ON_POSTGRESQL) - {"LV-pp"})],
    gate=[("0.5", "insert"), ("1.0.20", "oltp")]))
def test_postgresql_receives_what_the_reference_sends(version, case, postgresql, tmp_path):
    compared = 0
    transcripts.empty(postgresql)
    postgresql.sql("ALTER ROLE spec_user SET log_statement = 'all'")
    try:
        for step in steps_of(case):
            begin = os.path.getsize(postgresql.path("server.log"))
            run(version, postgresql, case, step, tmp_path)
            found = pgsql_sessions(postgresql.path("server.log"), begin)
            got = [[(form(text), values) for text, values in session] for session in found]
            want = capture(version, "pg", CASES[case][2], step)
            if want is not None:
                assert got == want, step
                compared += 1
    finally:
        postgresql.sql("ALTER ROLE spec_user RESET log_statement")
    assert compared >= 2 or (version, CASES[case][2]) in NEVER
