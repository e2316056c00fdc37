#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processor time and system calls of a statement, ours against the reference's.

Starts private servers; runs alternate; prints the medians of the ratios of the pairs, what is wanted
and whether it is met. What starting costs, connecting and compiling scripts, is measured apart and taken
away. Exit status 1: a row missed its figure. Environment: see README.md."""

import re
import sys
import tempfile

import lib

PAIRS = lib.setting("PERF_PAIRS", 5)
SECONDS = lib.setting("PERF_SECONDS", 5)
THREADS = 16
# Events of each thread until all of a script is compiled, for some thousand statements.
WARM_UP = {"oltp_point_select": 2000, "oltp_read_write": 100}
TABLE = ["--tables=1", "--table-size=100000"]
USER_MAX, TOTAL_MAX = 0.75, 0.95
CALLS_MAX = 2.3
CALLS = re.compile(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) .*(?:recv|send|poll|read|write)\w*$", re.M)


def queries(text):
    return int(re.search(r"^ *total: +(\d+)", text, re.M).group(1))


def run(program, workload, login, *argv, under=()):
    return lib.run([*under, program, workload, *TABLE, *login, f"--threads={THREADS}", *argv, "run"],
                   BENCH_COMPAT="1.0")


def cost(program, workload, login):
    """(user seconds, all seconds) of processor time of a query."""
    few = run(program, workload, login, f"--events={THREADS * WARM_UP[workload]}", "--time=0")
    many = run(program, workload, login, f"--time={SECONDS}")
    count = queries(many.text) - queries(few.text)
    user, system = many.user - few.user, many.system - few.system
    return user / count, (user + system) / count


def syscalls(program, workload, login):
    """System calls per statement, with those of the start taken away."""
    counts = []
    for events in (1600, 17600):
        with tempfile.NamedTemporaryFile("r") as log:
            done = run(program, workload, login, f"--events={events}", "--time=0",
                       under=["strace", "-f", "-c", "-o", log.name])
            counts.append((queries(done.text), sum(int(calls) for calls in CALLS.findall(log.read()))))
    (q1, c1), (q2, c2) = counts
    return (c2 - c1) / (q2 - q1)


def row(rows, label, value, text, most):
    """One line; VALUE is to be at most MOST."""
    rows.add(label, f"{label:52} {text:30} <= {most:.2f}", value <= most)


def compare(rows, label, programs, workload, login):
    pairs = lib.alternate(PAIRS, *(lambda p=p: cost(p, workload, login) for p in programs))
    for what, name, most in ((0, "user CPU", USER_MAX), (1, "total CPU", TOTAL_MAX)):
        ratio, found = lib.ratios([(a[what], b[what]) for a, b in pairs])
        row(rows, f"{label}: {name}", ratio, f"{ratio:.2f} ({found[0]:.2f}..{found[-1]:.2f})", most)
    calls = [syscalls(p, workload, login) for p in programs]
    row(rows, f"{label}: system calls", calls[0], f"{calls[0]:.2f} (reference {calls[1]:.2f})", CALLS_MAX)


def main():
    programs = lib.bench(), lib.reference()
    rows = lib.Rows(f"a statement, {THREADS} threads, medians of {PAIRS} pairs of {SECONDS} s",
                    f"{'row':52} {'ratio, or calls':30} wanted")
    for server, login in lib.each_server():
        lib.run([programs[0], "oltp_read_write", *TABLE, *login, "prepare"])
        for workload in WARM_UP:
            compare(rows, f"{server.kind} by {lib.BY[server.kind]}, {workload}", programs, workload, login)
    return rows.status()


sys.exit(main())
