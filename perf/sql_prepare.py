#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed of filling one table with two threads, ours against the reference's, and what is in it.

Starts private servers; runs alternate; prints the median of the ratios of the pairs. Both tables
are compared: ids without gaps, definition, form of the texts, distribution of k.
Environment: see README.md; PERF_TABLE_SIZE: rows of the table."""

import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/servers"))
import servers  # noqa: E402

PAIRS = int(os.environ.get("PERF_PAIRS", "5"))
ROWS = int(os.environ.get("PERF_TABLE_SIZE", "1000000"))
TABLE = ["oltp_read_write", "--tables=1", f"--table-size={ROWS}"]
TARGET = {"mariadb": 1.2, "pg": 3.0}

# All must be "t" or 1 except the last two, which are the mean and the deviation of k.
FACTS = """SELECT COUNT(*) = {rows}, MIN(id) = 1, MAX(id) = {rows}, COUNT(DISTINCT id) = {rows},
  MIN(k) >= 1, MAX(k) <= {rows}, SUM(c {like} '^([0-9]{{11}}-){{9}}[0-9]{{11}} *$') = 0,
  SUM(pad {like} '^([0-9]{{11}}-){{4}}[0-9]{{11}} *$') = 0, AVG(k), STDDEV(k) FROM {table};"""


def step(program, login, *argv):
    """Seconds that a command takes."""
    begin = time.monotonic()
    # In the folder of the sources the reference would take our scripts for its own.
    done = subprocess.run([program, *TABLE, *login, *argv], capture_output=True, text=True, cwd="/",
                          env={**os.environ, "BENCH_COMPAT": "1.0"})
    took = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"{program} {argv} failed:\n{done.stdout}{done.stderr}")
    return took


def definition(server):
    if server.driver == "mysql":
        return server.sql("SHOW CREATE TABLE spec_db.sbtest1;")
    return server.sql("SELECT column_name, data_type, character_maximum_length, column_default, "
                      "is_nullable FROM information_schema.columns WHERE table_name = 'sbtest1' "
                      "ORDER BY ordinal_position") + server.sql(
                          "SELECT indexdef FROM pg_indexes WHERE tablename = 'sbtest1' ORDER BY 1")


def next_id(server):
    """The id that a row gets now."""
    if server.driver == "mysql":
        return server.sql("INSERT INTO spec_db.sbtest1(k) VALUES (1); SELECT LAST_INSERT_ID();").strip()
    return server.sql("INSERT INTO sbtest1(k) VALUES (1) RETURNING id").strip()


def facts(server):
    like = {"mysql": "NOT RLIKE", "pgsql": "!~"}[server.driver]
    table = {"mysql": "spec_db.sbtest1", "pgsql": "sbtest1"}[server.driver]
    text = FACTS.format(rows=ROWS, like=like, table=table)
    if server.driver == "pgsql":
        for name in ("c", "pad"):
            text = text.replace(f"SUM({name}", f"SUM(({name}").replace("*$') = 0", "*$')::int) = 0")
    values = server.sql(text).split()
    wrong = [v for v in values[:-2] if v not in ("t", "1")]
    if wrong:
        sys.exit(f"{server.kind}: the table is not as it should be: {values}")
    shown = [] if next_id(server) == str(ROWS + 1) else sys.exit("the next id is not the next number")
    return definition(server), [float(v) / ROWS for v in values[-2:]] + shown


def compare(server, ours, theirs, argv):
    login, ratios, seconds, seen = server.login(), [], {ours: [], theirs: []}, {}
    for pair in range(PAIRS):
        for program in (theirs, ours):
            options = argv if program == ours else []
            seconds[program].append(step(program, login, *options, "--threads=2", "prepare"))
            if pair == 0:
                seen[program] = facts(server)
            step(program, login, "cleanup")
        ratios.append(seconds[theirs][-1] / seconds[ours][-1])
    if seen[ours][0] != seen[theirs][0]:
        sys.exit(f"{server.kind}: the definitions differ:\n{seen[ours][0]}\n{seen[theirs][0]}")
    print(f"{server.kind}: {ROWS} rows, 2 threads {' '.join(argv)}: "
          f"{statistics.median(ratios):.2f}x the reference ({min(ratios):.2f}..{max(ratios):.2f}), "
          f"target {TARGET[server.kind]:.1f}; {statistics.median(seconds[ours]):.2f} s and "
          f"{statistics.median(seconds[theirs]):.2f} s\n"
          + "".join(f"  {name}: k / rows has mean {f[1][0]:.4f}, deviation {f[1][1]:.4f}\n"
                    for name, f in (("ours", seen[ours]), ("reference", seen[theirs]))), end="",
          flush=True)


def main():
    ours = os.path.abspath(os.environ.get("BENCH_BIN", "bin/bench"))
    theirs = os.environ.get("REFERENCE_BIN", "/usr/bin/sysbench")
    for kind in (servers.MariaDB, servers.PostgreSQL):
        server = kind()
        try:
            server.start_somewhere()
            server.create_user()
            compare(server, ours, theirs, sys.argv[1:])
        finally:
            server.remove()


main()
