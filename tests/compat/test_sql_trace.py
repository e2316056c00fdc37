# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the bundled workloads send the statements of the reference, here to SQLite."""

import pathlib
import re
import tempfile

import pytest

import gate
import runner
import sqltrace

SQL = runner.GOLDEN / "sql"


def capture(name):
    return (SQL / f"1.1.my.{name}.txt").read_text()


# --- the reduction itself -------------------------------------------------------------------------


def test_statement_forms():
    form = sqltrace.statement
    assert form("SELECT c FROM sbtest1 WHERE id=12") == "SELECT c FROM sbtest1 WHERE id=?"
    assert (
        form("SELECT c FROM sbtest1 WHERE id BETWEEN 3 AND 102 ORDER BY c")
        == "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c"
    )
    assert form("UPDATE sbtest1 SET k=k+1 WHERE id=3") == "UPDATE sbtest1 SET k=k+1 WHERE id=?"
    assert (
        form("INSERT INTO sbtest1 (id, k, c, pad) VALUES (-5, 3, '1-2', 'it''s')")
        == "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)"
    )
    assert (
        form("INSERT INTO sbtest1(k, c, pad) VALUES(1, 'a', 'b'),(2, 'c', 'd')")
        == "INSERT INTO sbtest1(k, c, pad) VALUES(?, ?, ?),..."
    )
    assert form("BEGIN IMMEDIATE") == form("BEGIN")
    assert form("SELECT a\n   FROM t") == "SELECT a FROM t"
    assert (
        form(
            "CREATE TABLE sbtest1(\n  id INTEGER NOT NULL AUTO_INCREMENT,\n"
            "  k INTEGER DEFAULT '0' NOT NULL,\n"
            "  PRIMARY KEY (id)\n) /*! ENGINE = innodb */"
        )
        == "CREATE TABLE sbtest1 (id, k INTEGER DEFAULT '0' NOT NULL)"
    )


@pytest.mark.parametrize(
    "one, other",
    [
        ("SELECT c FROM sbtest1 WHERE id=1", "SELECT c FROM sbtest2 WHERE id=1"),
        ("SELECT c FROM sbtest1 WHERE id=1", "SELECT c FROM sbtest1 WHERE id = 1"),
        ("UPDATE sbtest1 SET k=k+1 WHERE id=1", "UPDATE sbtest1 SET k=k+2 WHERE id=1"),
        (
            "INSERT INTO sbtest1(k, c, pad) VALUES(1, 'a', 'b')",
            "INSERT INTO sbtest1(k, c, pad) VALUES(1,'a','b')",
        ),
        (
            "CREATE TABLE t(id INTEGER, k INTEGER DEFAULT '0' NOT NULL)",
            "CREATE TABLE t(id INTEGER, k INTEGER)",
        ),
        ("CREATE TABLE t(id INTEGER, c CHAR(120))", "CREATE TABLE t(id INTEGER, c CHAR(60))"),
        ("BEGIN", "COMMIT"),
    ],
)
def test_statements_that_stay_different(one, other):
    assert sqltrace.statement(one) != sqltrace.statement(other)


def test_sessions_keep_their_order():
    trace = sqltrace.trace_sessions
    assert trace("[s0] a\n[s1] b\n[s0] c\n") == [["a", "c"], ["b"]]
    assert trace("[s0] a\n[s0] c\n") != trace("[s0] c\n[s0] a\n")
    assert trace("[s0] a\n[s0] c\n") != trace("[s0] a\n[s1] c\n")
    with pytest.raises(ValueError):
        sqltrace.parse_trace("a\n")


def test_captures_are_readable():
    files = sorted(SQL.glob("1.1.my.*.txt"))
    assert len(files) == 45
    for path in files:
        assert sqltrace.capture_sessions(path.read_text()), path.name


# --- our workloads --------------------------------------------------------------------------------

SMALL = ["--table-size=3"]
OLTP = (
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
)
# name: (workload, options of all steps, steps, each with the capture it must equal or None)
CASES = {
    w: (
        w,
        SMALL,
        [("prepare", f"{w}-prepare"), ("run", f"{w}-run"), ("cleanup", "oltp_read_write-cleanup")],
    )
    for w in OLTP + ("select_random_points", "select_random_ranges")
}
CASES.update(
    {
        "autoinc-off": (
            "oltp_read_write",
            ["--table-size=2", "--auto-inc=off"],
            [("prepare", "v-autoinc-off-prep")],
        ),
        "no-secondary": (
            "oltp_read_write",
            ["--table-size=2", "--create-secondary=off"],
            [("prepare", "v-nosec-prep")],
        ),
        "size-0": ("oltp_read_write", ["--table-size=0"], [("prepare", "v-size0-prep")]),
        "insert-no-autoinc": (
            "oltp_insert",
            ["--table-size=5", "--auto-inc=off", "--events=2"],
            [("prepare", "v-insert-noai-prep"), ("run", "v-insert-noai-run")],
        ),
        "multiples": (
            "oltp_read_write",
            [
                "--table-size=2",
                "--point-selects=2",
                "--simple-ranges=2",
                "--sum-ranges=0",
                "--order-ranges=0",
                "--distinct-ranges=0",
                "--index-updates=2",
                "--non-index-updates=0",
                "--delete-inserts=2",
                "--range-size=5",
            ],
            [("prepare", None), ("run", "v-mult-run")],
        ),
        "no-ranges": (
            "oltp_read_write",
            ["--table-size=2", "--point-selects=1", "--range-selects=off"],
            [("prepare", None), ("run", "v-noranges-run")],
        ),
        "skip-trx": (
            "oltp_read_write",
            ["--table-size=2", "--skip-trx=on"],
            [("prepare", None), ("run", "v-skiptrx-run")],
        ),
        "ps-disable": (
            "oltp_read_write",
            ["--table-size=2", "--point-selects=1", "--db-ps-mode=disable"],
            [("prepare", None), ("run", "v-psdisable-run")],
        ),
        "four-tables": (
            "oltp_read_write",
            [
                "--table-size=2",
                "--tables=4",
                "--events=2",
                "--range-selects=off",
                "--point-selects=2",
            ],
            [("prepare", None), ("run", "v-tables-run")],
        ),
        "parallel-prepare": (
            "oltp_read_write",
            ["--table-size=2", "--tables=4", "--threads=2"],
            [("prepare", "v-parallel-prep")],
        ),
        "ranges": (
            "select_random_ranges",
            ["--table-size=20", "--number-of-ranges=2", "--delta=7", "--events=2"],
            [("prepare", None), ("run", "v-ranges-run")],
        ),
        "bulk": (
            "bulk_insert",
            ["--threads=2", "--events=10"],
            [("prepare", "v-bulk-prep"), ("run", "v-bulk-run"), ("cleanup", "v-bulk-cleanup")],
        ),
    }
)

SANITIZED = (
    "autoinc-off",
    "bulk",
    "four-tables",
    "multiples",
    "no-secondary",
    "oltp_read_write",
    "parallel-prepare",
    "ps-disable",
    "ranges",
    "select_random_points",
    "size-0",
)

# What differs on SQLite on purpose: (statement of the capture, ours).
ON_SQLITE = {
    # MySQL draws an id for 0; SQLite, like PostgreSQL, draws one when the column is not named.
    "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)": (
        "INSERT INTO sbtest1 (k, c, pad) VALUES (?, ?, ?)"
    ),
}


def run_step(folder, workload, options, step):
    """Runs one step with a trace; returns its text."""
    trace = folder / f"{step}.trace"
    argv = [
        runner.binary(),
        workload,
        "--db-driver=sqlite",
        f"--sqlite-db={folder}/db.sqlite",
        f"--sql-trace={trace}",
    ] + ([] if any(o.startswith("--events") for o in options) else ["--events=1"])
    output = runner.execute(argv + options + [step], folder, runner.environment("1.1", {}))
    assert output.status == 0, output
    return trace.read_text()


def wanted(name, case):
    text = capture(name)
    found = sqltrace.capture_sessions(text, draw_table=case == "four-tables")
    if case == "oltp_insert":
        found = [[ON_SQLITE.get(s, s) for s in session] for session in found]
    if name == "v-bulk-run":
        # Ours goes on after the largest id, so that a second run does not collide with the first.
        found = [
            [f"SELECT MAX(id) FROM sbtest{i}", *session] for i, session in enumerate(found, start=1)
        ]
    return found


@pytest.mark.skipif(
    runner.against_reference(), reason="the reference has neither SQLite nor --sql-trace"
)
@pytest.mark.parametrize(
    "case", [gate.sanitized(case) if case in SANITIZED else case for case in sorted(CASES)]
)
def test_statements_are_the_references(case):
    workload, options, steps = CASES[case]
    with tempfile.TemporaryDirectory(prefix="bench-compat-") as name:
        folder = pathlib.Path(name)
        for step, captured in steps:
            text = run_step(folder, workload, options, step)
            if not captured:
                continue
            got = sqltrace.trace_sessions(text, draw_table=case == "four-tables")
            want = wanted(captured, case)
            if captured == "v-bulk-run":
                # A thread that was too slow for any of the few events inserts nothing.
                assert len(got) == len(want)
                want = [w[: len(g)] for g, w in zip(got, want)]
            assert got == want, step


@pytest.mark.sanitized
@pytest.mark.skipif(
    runner.against_reference(), reason="the reference has neither SQLite nor --sql-trace"
)
def test_values_have_the_references_shape():
    """Values of --db-ps-mode=disable: ids in 1..table size, ranges of range size, digit groups."""
    with tempfile.TemporaryDirectory(prefix="bench-compat-") as name:
        folder = pathlib.Path(name)
        options = ["--table-size=50", "--range-size=7", "--db-ps-mode=disable", "--events=20"]
        rows = run_step(folder, "oltp_read_write", options, "prepare")
        text = run_step(folder, "oltp_read_write", options, "run")
    group = r"\d{11}"
    c, pad = "-".join([group] * 10), "-".join([group] * 5)
    assert len(re.findall(rf"\(\d+, '{c}', '{pad}'\)", rows)) == 50
    ranges = re.findall(r"BETWEEN (\d+) AND (\d+)", text)
    assert len(ranges) == 20 * 4
    assert all(1 <= int(a) <= 50 and int(b) == int(a) + 6 for a, b in ranges)
    points = re.findall(r"SELECT c FROM sbtest1 WHERE id=(\d+)", text)
    assert (
        len(points) == 20 * 10 and all(1 <= int(i) <= 50 for i in points) and len(set(points)) > 20
    )
    assert len(re.findall(rf"UPDATE sbtest1 SET c='{c}' WHERE id=\d+", text)) == 20
    deleted = re.findall(r"DELETE FROM sbtest1 WHERE id=(\d+)", text)
    inserted = re.findall(
        rf"INSERT INTO sbtest1 \(id, k, c, pad\) VALUES \((\d+), \d+, '{c}', '{pad}'\)", text
    )
    assert len(deleted) == 20 and deleted == inserted
    assert text.count("BEGIN") == text.count("COMMIT") == 20


@pytest.mark.skipif(
    runner.against_reference(), reason="the reference has neither SQLite nor --sql-trace"
)
@pytest.mark.parametrize(
    "workload, begin",
    [gate.sanitized("oltp_read_only", "BEGIN"), gate.sanitized("oltp_read_write", "BEGIN IMMEDIATE")],
)
def test_writers_begin_immediately(workload, begin):
    """A deferred transaction that writes after a read may have to restart: writers lock at once."""
    with tempfile.TemporaryDirectory(prefix="bench-compat-") as name:
        folder = pathlib.Path(name)
        run_step(folder, workload, SMALL, "prepare")
        found = [
            t
            for _, t in sqltrace.parse_trace(run_step(folder, workload, SMALL, "run"))
            if t.startswith("BEGIN")
        ]
    assert found == [begin]
