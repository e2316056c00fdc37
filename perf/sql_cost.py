#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processor time and system calls of a statement, ours against the reference's.

Starts private servers; runs alternate; prints the medians of the ratios of the pairs, what is wanted
and whether it is met. What starting costs, connecting and compiling scripts, is measured apart and taken
away. Exit status 1: a row missed its figure. Environment: see README.md."""

import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/servers"))
import servers  # noqa: E402

PAIRS = int(os.environ.get("PERF_PAIRS", "5"))
SECONDS = int(os.environ.get("PERF_SECONDS", "5"))
THREADS = 16
# Events of each thread until all of a script is compiled, for some thousand statements.
WARM_UP = {"oltp_point_select": 2000, "oltp_read_write": 100}
TABLE = ["--tables=1", "--table-size=100000"]
USER_MAX, TOTAL_MAX = 0.75, 0.95
CALLS_MAX = {"mariadb": 2.3, "pg": 2.3}
missed = []


def run(program, workload, login, *argv):
    """(queries, user seconds, system seconds) of a run."""
    env = {**os.environ, "BENCH_COMPAT": "1.0"}
    with tempfile.TemporaryFile("w+") as out:
        pid = os.posix_spawn(program, [program, workload, *TABLE, *login, *argv], env,
                             file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status, used = os.wait4(pid, 0)
        out.seek(0)
        text = out.read()
    if status != 0:
        sys.exit(f"{program} failed:\n{text}")
    found = re.search(r"^ *total: +(\d+)", text, re.M)
    return int(found.group(1)) if found else 0, used.ru_utime, used.ru_stime


def syscalls(program, workload, login):
    """System calls per statement, with those of the start taken away."""
    counts = []
    for events in (1600, 17600):
        with tempfile.NamedTemporaryFile("r") as log:
            done = subprocess.run(
                ["strace", "-f", "-c", "-o", log.name, program, workload, *TABLE, *login,
                 f"--threads={THREADS}", f"--events={events}", "--time=0", "run"],
                capture_output=True, text=True, env={**os.environ, "BENCH_COMPAT": "1.0"})
            queries = int(re.search(r"^ *total: +(\d+)", done.stdout, re.M).group(1))
            calls = sum(int(m) for m in re.findall(
                r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) .*(?:recv|send|poll|read|write)\w*$", log.read(), re.M))
            counts.append((queries, calls))
    (q1, c1), (q2, c2) = counts
    return (c2 - c1) / (q2 - q1)


def row(label, value, text, most):
    """One line; VALUE is to be at most MOST."""
    word = "PASS" if value <= most else "FAIL"
    if word == "FAIL":
        missed.append(label)
    print(f"{label:52} {text:30} <= {most:.2f} {word}", flush=True)


def ratio_row(label, ratios, most):
    middle = statistics.median(ratios)
    row(label, middle, f"{middle:.2f} ({min(ratios):.2f}..{max(ratios):.2f})", most)


def compare(kind, label, ours, theirs, workload, login):
    argv = [f"--threads={THREADS}", "run"]
    user, total = [], []
    for _ in range(PAIRS):
        cost = []
        for program in (ours, theirs):
            warm_up = [f"--events={THREADS * WARM_UP[workload]}", "--time=0"]
            few, u0, s0 = run(program, workload, login, *warm_up, *argv)
            many, u1, s1 = run(program, workload, login, f"--time={SECONDS}", *argv)
            cost.append(((u1 - u0) / (many - few), (u1 + s1 - u0 - s0) / (many - few)))
        user.append(cost[0][0] / cost[1][0])
        total.append(cost[0][1] / cost[1][1])
    ratio_row(f"{label}: user CPU", user, USER_MAX)
    ratio_row(f"{label}: total CPU", total, TOTAL_MAX)
    calls = [syscalls(p, workload, login) for p in (ours, theirs)]
    row(f"{label}: system calls", calls[0], f"{calls[0]:.2f} (reference {calls[1]:.2f})",
        CALLS_MAX[kind])


def main():
    ours = os.path.abspath(os.environ.get("BENCH_BIN", "bin/bench"))
    theirs = os.environ.get("REFERENCE_BIN", "/usr/bin/sysbench")
    # The reference looks for scripts in ./src/lua first.
    os.chdir("/")
    started = [servers.MariaDB(), servers.PostgreSQL()]
    try:
        for server in started:
            server.start_somewhere()
            server.create_user()
            by = {"mariadb": "socket", "pg": "tcp"}[server.kind]
            login = server.login(by)
            run(ours, "oltp_read_write", login, "prepare")
            for workload in ("oltp_point_select", "oltp_read_write"):
                compare(server.kind, f"{server.kind} by {by}, {workload}", ours, theirs, workload, login)
    finally:
        for server in started:
            server.remove()
    return 1 if missed else 0


sys.exit(main())
