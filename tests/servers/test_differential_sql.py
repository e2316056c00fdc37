# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every bundled workload with sysbench 1.0.20 itself and with ours as 1.0 on the same servers, and
compares the form of what they print, their exit status, and the tables they make."""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest

import transcripts
import form
import runner
from gate import parameters

REFERENCE = os.environ.get("BENCH_REFERENCE_BIN", "/usr/bin/sysbench")
WORKLOADS = (
    "oltp_read_write oltp_read_only oltp_write_only oltp_point_select oltp_insert oltp_delete "
    "oltp_update_index oltp_update_non_index select_random_points select_random_ranges bulk_insert"
).split()
# Further runs of bulk_insert and of inserts would find their rows there already.
STEPS = {
    "prepare": ["prepare"],
    "run": ["--events=20", "--time=0", "run"],
    "interval": ["--time=2", "--threads=2", "--report-interval=1", "run"],
    "text": ["--events=20", "--time=0", "--db-ps-mode=disable", "--histogram", "run"],
    "cleanup": ["cleanup"],
}


def outputs(binary, version, workload, server):
    env = dict(runner.INHERITED, LC_ALL="C")
    if version:
        env["BENCH_COMPAT"] = version
    sizes = [] if workload == "bulk_insert" else ["--table-size=200"]
    transcripts.empty(server)
    found = {}
    with tempfile.TemporaryDirectory(prefix="bench-differential-") as name:
        for step, argv in STEPS.items():
            if workload in ("bulk_insert", "oltp_insert") and step in ("interval", "text"):
                continue
            argv = [workload, *server.login(), *sizes, *argv]
            output = runner.execute([binary, *argv], pathlib.Path(name), env)
            found[step] = argv, output
    return found


def differences(reference, ours):
    """Of two (argv, output)."""

    def compare(of):
        expected, got = (form.reduce_output(of(output), form.Context(argv, "", "1.0.20"))
                         for argv, output in (reference, ours))
        return form.differences(expected, form.on_time(expected, got))

    return form.unless_late(compare, form.Context(ours[0], "", "1.0.20"))


@pytest.mark.parametrize("workload, driver", parameters(
    [(w, d) for w in WORKLOADS for d in ("mysql", "pgsql")],
    gate=[("oltp_read_write", "mysql"), ("oltp_insert", "pgsql"), ("bulk_insert", "mysql")]))
def test_same(workload, driver, mariadb_plain, postgresql):
    server = mariadb_plain if driver == "mysql" else postgresql
    ours = outputs(runner.binary(), "1.0", workload, server)
    # The threads of the reference print at the same time; ours have one try.
    for _ in range(3):
        reference = outputs(REFERENCE, None, workload, server)
        wrong = []
        for step, run in ours.items():
            found = differences(reference[step], run)
            wrong += [f"{step}:", *found] if found else []
        if not wrong:
            return
    pytest.fail("\n".join(wrong), pytrace=False)


COLUMNS = ("SELECT table_name, ordinal_position, column_name, data_type, character_maximum_length, "
           "numeric_precision, column_default, is_nullable FROM information_schema.columns "
           "WHERE table_schema = 'public' ORDER BY 1, 2;")
INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1;"


def definitions(server):
    """Columns, types, defaults, indexes, engine of all tables."""
    if server.driver == "pgsql":
        return server.sql(COLUMNS) + server.sql(INDEXES)
    names = server.sql("SELECT table_name FROM information_schema.tables "
                       "WHERE table_schema = 'spec_db' ORDER BY 1;").split()
    made = "".join(server.sql(f"SHOW CREATE TABLE spec_db.{name};") for name in names)
    # The next number that the server gives out is no part of the definition.
    return re.sub(r" AUTO_INCREMENT=\d+", "", made)


def tables_of(binary, version, argv, server):
    env = dict(runner.INHERITED, LC_ALL="C")
    if version:
        env["BENCH_COMPAT"] = version
    transcripts.empty(server)
    subprocess.run([binary, argv[0], *server.login(), *argv[1:], "prepare"], env=env, check=True,
                   stdout=subprocess.DEVNULL, cwd="/")
    return definitions(server)


PREPARED = (
    "oltp_read_write --tables=2 --table-size=100",
    "oltp_read_write --table-size=100 --auto_inc=off",
    "oltp_read_write --table-size=100 --secondary",
    "oltp_read_write --table-size=100 --create_secondary=off",
    "oltp_insert --table-size=100",
    "select_random_points --table-size=100",
    "select_random_ranges --table-size=100",
    "bulk_insert --threads=2",
)


# For --secondary sysbench writes what only MySQL understands.
@pytest.mark.parametrize("driver, argv", parameters(
    [(driver, argv) for driver in ("mysql", "pgsql") for argv in PREPARED
     if driver == "mysql" or "--secondary" not in argv],
    gate=[("mysql", PREPARED[2]), ("mysql", PREPARED[5]), ("pgsql", PREPARED[0]), ("pgsql", PREPARED[1])]))
def test_same_tables(driver, argv, mariadb_plain, postgresql):
    server = mariadb_plain if driver == "mysql" else postgresql
    argv = argv.split()
    wanted = tables_of(REFERENCE, None, argv, server)
    assert "sbtest1" in wanted and "id" in wanted
    assert tables_of(runner.binary(), "1.0", argv, server) == wanted
    assert tables_of(runner.binary(), "1.1", argv, server) == wanted
