#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions in user mode per event, of two builds of bench: before a change and after it.

Usage: instructions.py BEFORE AFTER [WORD...]    WORD: rows that have all of them in their names

Counted by callgrind with one worker. Two runs that differ in the number of events give the cost of
one: what starting, connecting and compiling scripts costs is the same in both. LuaJIT draws lots when
it chooses what to compile, so a run now and then is a third worse: look at the medians, and at several.
Private servers are started for the rows that want one. Exit status 1: a row grew by more than a
hundredth, or --statements of AFTER adds more than three hundredths to a prepared point select or a
tenth to one that is a text."""

import re
import sys
import tempfile

import lib

MOST = 1.01
PAIRS = lib.setting("PERF_PAIRS", 5)
TABLE = ["--tables=1", "--table-size=10000"]
# Workload: events until every script is compiled, events to count.
EVENTS = {
    "empty": (20000, 400000),
    "oltp_point_select": (4000, 40000),
    "oltp_read_write": (500, 6000),
    # So many that the figures at the end, which a run makes once, count for little.
    "prepared": (4000, 200000),
    "text": (4000, 40000),
}
TEXT = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:query(("SELECT c FROM sbtest1 WHERE id=%d"):format(sysbench.rand.default(1, 10000)))
end
"""


def instructions(program, argv, events):
    done = lib.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                    "--log-fd=1", program, *argv, "--rand-seed=1", "--threads=1", "--time=0",
                    f"--events={events}", "run"])
    return int(re.search(r"Collected : (\d+)", done.text).group(1))


def per_event(program, argv, workload):
    before, counted = EVENTS[workload]
    return (instructions(program, argv, before + counted) - instructions(program, argv, before)) / counted


def compare(rows, label, commands, workload, most=MOST):
    """COMMANDS: before and after, each a program and its arguments."""
    if not all(word in label for word in sys.argv[3:]):
        return
    pairs = lib.alternate(PAIRS, lambda: per_event(*commands[0], workload),
                          lambda: per_event(*commands[1], workload))
    before, after = lib.middle(pairs)
    rows.add(label, f"{label:32} {before:10.1f} {after:10.1f} {after / before:8.4f}  <= {most:.2f}",
             after / before <= most)


def compare_builds(rows, label, argv, workload):
    compare(rows, label, [(program, argv) for program in sys.argv[1:3]], workload)


def compare_statements(rows, label, argv, workload, most):
    after = sys.argv[2]
    compare(rows, f"{label}, --statements", [(after, argv), (after, [*argv, "--statements"])],
            workload, most)


def compare_texts(rows, label, login):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(TEXT)
        script.flush()
        compare_statements(rows, label, [script.name, *login], "text", 1.10)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rows = lib.Rows(f"instructions per event, medians of {PAIRS} pairs",
                    f"{'row':32} {'before':>10} {'after':>10} {'ratio':>8}  wanted")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("function event() end\n")
        script.flush()
        compare_builds(rows, "empty event", [script.name], "empty")
    sql = ["oltp_point_select", "oltp_read_write"]
    for workload in sql:
        compare_builds(rows, f"null, {workload}", [workload, "--db-driver=null", *TABLE], workload)
    for server, login in lib.each_server():
        lib.run([sys.argv[1], "oltp_read_write", *TABLE, *login, "prepare"])
        for workload in sql:
            compare_builds(rows, f"{server.kind}, {workload}", [workload, *TABLE, *login], workload)
        compare_statements(rows, f"{server.kind}, prepared", [sql[0], *TABLE, *login], "prepared", 1.03)
        compare_texts(rows, f"{server.kind}, text", login)
    return rows.status()


sys.exit(main())
