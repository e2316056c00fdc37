#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions in user mode per event, of two builds of bench: before a change and after it.

Usage: instructions.py BEFORE AFTER [WORD...]    WORD: rows that have all of them in their names

Counted by callgrind with one worker. Two runs that differ in the number of events give the cost of
one: what starting, connecting and compiling scripts costs is the same in both. LuaJIT draws lots when
it chooses what to compile, so a run now and then is a third worse: look at the medians, and at several.
Private servers are started for the rows that want one. Exit status 1: a row grew by more than a
hundredth."""

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
}


def instructions(program, argv, events):
    done = lib.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                    "--log-fd=1", program, *argv, "--rand-seed=1", "--threads=1", "--time=0",
                    f"--events={events}", "run"])
    return int(re.search(r"Collected : (\d+)", done.text).group(1))


def per_event(program, argv, workload):
    before, counted = EVENTS[workload]
    return (instructions(program, argv, before + counted) - instructions(program, argv, before)) / counted


def compare(rows, label, programs, argv, workload):
    if not all(word in label for word in sys.argv[3:]):
        return
    pairs = lib.alternate(PAIRS, lambda: per_event(programs[0], argv, workload),
                          lambda: per_event(programs[1], argv, workload))
    before, after = lib.middle(pairs)
    rows.add(label, f"{label:32} {before:10.1f} {after:10.1f} {after / before:8.4f}  <= {MOST:.2f}",
             after / before <= MOST)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    programs = sys.argv[1:3]
    rows = lib.Rows(f"instructions per event, medians of {PAIRS} pairs",
                    f"{'row':32} {'before':>10} {'after':>10} {'ratio':>8}  wanted")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("function event() end\n")
        script.flush()
        compare(rows, "empty event", programs, [script.name], "empty")
    sql = [workload for workload in EVENTS if workload != "empty"]
    for workload in sql:
        compare(rows, f"null, {workload}", programs, [workload, "--db-driver=null", *TABLE], workload)
    for server, login in lib.each_server():
        lib.run([programs[0], "oltp_read_write", *TABLE, *login, "prepare"])
        for workload in sql:
            compare(rows, f"{server.kind}, {workload}", programs, [workload, *TABLE, *login], workload)
    return rows.status()


sys.exit(main())
