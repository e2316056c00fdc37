#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processor time of a point select of many sessions on two workers, through PgBouncer in transaction
mode: against pgbench with two threads, and against a thread of the system for each session.

Starts private servers; runs alternate. Time and queries are those between two instants after all
connections are open. With few processors the pooler is the limit of the rate, so its own processor time
is printed, and no rate is compared. Exit status 1: a row missed its figure. Environment: see README.md."""

import os
import re
import subprocess
import sys
import tempfile
import time

import lib
from servers import DATABASE, PASSWORD, USER, PostgreSQL, find_program, free_port, make_folder, run_as

PAIRS = lib.setting("PERF_PAIRS", 9)  # a virtual machine may be a third faster for some seconds
SECONDS = lib.setting("PERF_SECONDS", 5)
SESSIONS = [int(n) for n in os.environ.get("PERF_SESSIONS", "1000 10000").split()]
SETTLE_S = 3
ROWS = 100000
PGBENCH_MOST, THREADS_MOST = 0.5, 0.6


class Pooler:
    """PgBouncer without passwords, so that logging in costs neither side anything."""

    def __init__(self, server):
        self.port, self.folder = free_port(), make_folder("bench-sessions-", server.account)
        with open(f"{self.folder}/users", "w", encoding="utf-8") as f:
            f.write(f'"{USER}" "{PASSWORD}"\n')
        with open(f"{self.folder}/ini", "w", encoding="utf-8") as f:
            f.write(f"[databases]\n* = host=127.0.0.1 port={server.port} user={USER} password={PASSWORD}\n"
                    f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\n"
                    f"unix_socket_dir =\nauth_type = trust\nauth_file = {self.folder}/users\n"
                    f"stats_users = {USER}\n"
                    "pool_mode = transaction\nmax_client_conn = 15000\ndefault_pool_size = 20\n"
                    "listen_backlog = 4096\n")
        self.process = run_as(server.account, [find_program("pgbouncer"), "-q", f"{self.folder}/ini"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)

    def queries(self):
        """How many it has passed on since it began."""
        totals = lib.run([find_program("psql"), "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-Atc",
                          "SHOW TOTALS", "pgbouncer"]).text
        return int(re.search(r"^(?:total_)?query_count\|(\d+)", totals, re.MULTILINE).group(1))


def measured(argv, started, pooler):
    """(processor seconds of a query, of the pooler for a query). STARTED: a word of its output when all
    connections are open."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT, cwd="/",
                                   env={**os.environ, "LC_ALL": "C", "PGPASSWORD": PASSWORD})

        def text():
            out.seek(0)
            return out.read()

        while started not in text():
            if process.poll() is not None:
                sys.exit(f"{' '.join(argv)} failed:\n{text()}")
            time.sleep(0.1)
        time.sleep(SETTLE_S)
        processes = (process.pid, pooler.process.pid)
        before = [pooler.queries(), *map(lib.processor_s, processes)]
        time.sleep(SECONDS)
        after = [pooler.queries(), *map(lib.processor_s, processes)]
        process.terminate()
        process.wait()
    queries, ours, of_pooler = (b - a for a, b in zip(before, after))
    return ours / queries, of_pooler / queries


def bench(pooler, sessions, workers):
    return measured([lib.bench(), "oltp_point_select", "--db-driver=pgsql", "--pgsql-host=127.0.0.1",
                     f"--pgsql-port={pooler.port}", f"--pgsql-user={USER}", f"--pgsql-password={PASSWORD}",
                     "--pgsql-sslmode=disable", f"--pgsql-db={DATABASE}", "--db-ps-mode=disable", "--tables=1", f"--table-size={ROWS}",
                     f"--threads={sessions}", f"--workers={workers}", "--time=600", "--report-interval=1",
                     "--thread-init-timeout=120", "run"], "Threads started", pooler)


def pgbench(pooler, sessions, script):
    return measured([find_program("pgbench"), "-n", "-f", script, "-c", str(sessions), "-j", "2", "-T", "600",
                     "-P", "1", "-h", "127.0.0.1", "-p", str(pooler.port), "-U", USER, DATABASE],
                    "progress: ", pooler)


def row(rows, label, first, second, most):
    pairs = lib.alternate(PAIRS, first, second)
    ratio, found = lib.ratios([(a[0], b[0]) for a, b in pairs])
    ours, theirs = ([1e6 * t for t in lib.middle([(a[i], b[i]) for a, b in pairs])] for i in (0, 1))
    rows.add(label, f"{label:44} {ours[0]:7.1f} {ours[1]:7.1f}  {theirs[0]:7.1f} {theirs[1]:7.1f}  "
             f"{ratio:.2f} ({found[0]:.2f}..{found[-1]:.2f}) <= {most:.2f}", ratio <= most)


def main():
    rows = lib.Rows(f"a point select through PgBouncer, medians of {PAIRS} pairs of {SECONDS} s",
                    f"{'row':44} {'us, ours and theirs':>15}  {'us of the pooler':>15}  ratio, wanted")
    with lib.server(PostgreSQL) as server, tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(f"\\set id random(1, {ROWS})\nSELECT c FROM sbtest1 WHERE id=:id;\n")
        script.flush()
        os.chmod(script.name, 0o644)
        lib.run([lib.bench(), "oltp_point_select", *server.login("tcp"), "--tables=1",
                 f"--table-size={ROWS}", "prepare"])
        pooler = Pooler(server)
        try:
            for n in SESSIONS:
                row(rows, f"{n} sessions, against pgbench -j 2", lambda n=n: bench(pooler, n, 2),
                    lambda n=n: pgbench(pooler, n, script.name), PGBENCH_MOST)
            row(rows, f"{SESSIONS[0]} sessions, against threads", lambda: bench(pooler, SESSIONS[0], 2),
                lambda: bench(pooler, SESSIONS[0], SESSIONS[0]), THREADS_MOST)
        finally:
            pooler.process.kill()
            pooler.process.wait()
    return rows.status()


sys.exit(main())
