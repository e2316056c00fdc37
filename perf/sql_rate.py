#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rate of statements, ours against the reference's, with what each costs the client: processor time
and voluntary context switches. MariaDB and PostgreSQL, by Unix socket and by TCP.

Starts private servers; runs alternate. A row has the median of the ratios of the rates, with the
smallest and the largest, that of the processor time of an event, and the switches per statement of
both. Exit status 1: a row missed a figure. Environment: see README.md."""

import os
import re
import statistics
import sys

import lib

PAIRS = lib.setting("PERF_PAIRS", 7)
SECONDS = lib.setting("PERF_SECONDS", 4)
ROWS = os.environ.get("PERF_ROWS", "").split()
TABLE = ["--tables=1", "--table-size=100000"]
RATE_MIN, CPU_MAX, SWITCHES_MAX = 1.00, 0.90, 1.02


def number(text, label):
    return float(re.search(rf"^ *{label}: +([\d.]+)", text, re.M).group(1))


def run(program, workload, login, threads):
    """(events per second, processor seconds of an event, switches per statement)."""
    done = lib.run([program, workload, *TABLE, *login, f"--threads={threads}", f"--time={SECONDS}", "run"],
                   BENCH_COMPAT="1.0")
    events = number(done.text, "total number of events")
    return (events / number(done.text, "total time"), (done.user + done.system) / events,
            done.switches / number(done.text, "total"))


def compare(rows, label, programs, workload, login, threads):
    pairs = lib.alternate(PAIRS, *(lambda p=p: run(p, workload, login, threads) for p in programs))
    rate, found = lib.ratios([(a[0], b[0]) for a, b in pairs])
    cpu, _ = lib.ratios([(a[1], b[1]) for a, b in pairs])
    ours, theirs = (statistics.median(side[2] for side in sides) for sides in zip(*pairs))
    rows.add(label, f"{label:44} {rate:.3f} ({found[0]:.2f}..{found[-1]:.2f})    {cpu:.2f}    {ours:.2f} ({theirs:.2f})",
             rate >= RATE_MIN and cpu <= CPU_MAX and ours <= SWITCHES_MAX)


def main():
    programs = lib.bench(), lib.reference()
    rows = lib.Rows(f"statements, medians of {PAIRS} pairs of {SECONDS} s; wanted: rate >= {RATE_MIN:.2f}, "
                    f"CPU <= {CPU_MAX:.2f}, switches <= {SWITCHES_MAX:.2f}"
                    f"{'; idle processors poll' if lib.AWAKE else ''}",
                    f"{'row':44} {'rate':20}  CPU     switches (reference)")
    with lib.awake():
        for server, _ in lib.each_server():
            lib.run([programs[0], "oltp_read_write", *TABLE, *server.login("socket"), "prepare"])
            for way in ("socket", "tcp"):
                for workload in ("oltp_point_select", "oltp_read_write"):
                    for threads in (1, 2, 16, 64):
                        label = f"{server.kind} {way} {workload} {threads}"
                        if all(word in label.split() for word in ROWS):
                            compare(rows, label, programs, workload, server.login(way), threads)
    return rows.status()


sys.exit(main())
