#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processor time of the client for a transaction of tpcb_like on PostgreSQL, against pgbench on the same tables.

Starts a private server.  Both have 8 sessions of prepared statements, pgbench with two threads and bench with a thread
for each session and with two workers.  A short run is taken away from a long one, with what starting and connecting
cost; the programs alternate; prints medians.  Exit status 1: a row missed its figure.  Environment: see README.md."""

import statistics
import sys

import lib
from servers import DATABASE, find_program

ROUNDS = lib.setting("PERF_PAIRS", 5)
FEW, MANY = 1000, 1000 + lib.setting("PERF_EVENTS", 20000)
SESSIONS = 8
WANTED = 1.0


def bench(server, *options):
    argv = [lib.bench(), "tpcb_like", *server.login("socket"), f"--threads={SESSIONS}", "--time=0",
            "--tpcb-check=none", *options]
    return lambda n: lib.run([*argv, f"--events={n}", "run"])


def pgbench(server):
    argv = [find_program("pgbench"), "-n", "-M", "prepared", "-h", server.folder, "-p", str(server.port), "-U",
            "postgres", "-c", str(SESSIONS), "-j", "2", DATABASE]
    return lambda n: lib.run([*argv, "-t", str(n // SESSIONS)])


def cost(run):
    """Microseconds of a transaction, without the fixed part of a run."""
    few, many = run(FEW), run(MANY)
    return (many.user + many.system - few.user - few.system) / (MANY - FEW) * 1e6


def main():
    rows = lib.Rows(f"a transaction of tpcb_like, {SESSIONS} sessions, medians of {ROUNDS} rounds",
                    f"{'row':28} {'us':>7} {'pgbench':>8} {'ratio':>6} wanted")
    with lib.server(lib.servers.PostgreSQL) as server:
        lib.run([lib.bench(), "tpcb_like", *server.login("socket"), "--scale=10", "--threads=2", "prepare"])
        ways = {"pgbench": pgbench(server), "a thread for each session": bench(server),
                "two workers": bench(server, "--workers=2")}
        found = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, run in ways.items():
                found[name].append(cost(run))
    medians = {name: statistics.median(costs) for name, costs in found.items()}
    theirs = medians.pop("pgbench")
    for name, us in medians.items():
        rows.add(name, f"{name:28} {us:7.1f} {theirs:8.1f} {us / theirs:6.2f} <= {WANTED:.2f}", us / theirs <= WANTED)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
