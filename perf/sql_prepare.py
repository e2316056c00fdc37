#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed of filling one table with two threads, ours against the reference's, and what is in it.

Starts private servers; runs alternate; prints the median of the ratios of the pairs. Both tables
are compared: ids without gaps, definition, form of the texts, distribution of k.
Environment: see README.md; PERF_TABLE_SIZE: rows of the table."""

import sys

import lib

PAIRS = lib.setting("PERF_PAIRS", 5)
ROWS = lib.setting("PERF_TABLE_SIZE", 1000000)
TABLE = ["oltp_read_write", "--tables=1", f"--table-size={ROWS}"]
TARGET = {"mariadb": 1.2, "pg": 3.0}

# All must be "t" or 1 except the last two, which are the mean and the deviation of k.
FACTS = """SELECT COUNT(*) = {rows}, MIN(id) = 1, MAX(id) = {rows}, COUNT(DISTINCT id) = {rows},
  MIN(k) >= 1, MAX(k) <= {rows}, SUM(c {like} '^([0-9]{{11}}-){{9}}[0-9]{{11}} *$') = 0,
  SUM(pad {like} '^([0-9]{{11}}-){{4}}[0-9]{{11}} *$') = 0, AVG(k), STDDEV(k) FROM {table};"""


def step(program, login, *argv):
    """Seconds that a command takes."""
    return lib.run([program, *TABLE, *login, *argv], BENCH_COMPAT="1.0").elapsed


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
    if next_id(server) != str(ROWS + 1):
        sys.exit("the next id is not the next number")
    return definition(server), [float(v) / ROWS for v in values[-2:]]


def compare(rows, server, login, argv):
    seen = {}

    def prepare(who, program, *options):
        """Seconds; the table is looked at the first time."""
        seconds = step(program, login, *options, "--threads=2", "prepare")
        if who not in seen:
            seen[who] = facts(server)
        step(program, login, "cleanup")
        return seconds

    pairs = lib.alternate(PAIRS, lambda: prepare("reference", lib.reference()),
                          lambda: prepare("ours", lib.bench(), *argv))
    if seen["ours"][0] != seen["reference"][0]:
        sys.exit(f"{server.kind}: the definitions differ:\n{seen['ours'][0]}\n{seen['reference'][0]}")
    ratio, found = lib.ratios(pairs)
    theirs, ours = lib.middle(pairs)
    rows.add(server.kind, f"{server.kind:10} {ours:8.2f} {theirs:10.2f} {ratio:6.2f} "
             f"({found[0]:.2f}..{found[-1]:.2f}) >= {TARGET[server.kind]:.1f}", ratio >= TARGET[server.kind])
    for who, (_, (mean, deviation)) in seen.items():
        rows.add(who, f"  {who}: k / rows has mean {mean:.4f}, deviation {deviation:.4f}", None)


def main():
    rows = lib.Rows(f"prepare: seconds for {ROWS} rows, 2 threads {' '.join(sys.argv[1:])}, medians of "
                    f"{PAIRS} pairs", f"{'server':10} {'ours':>8} {'reference':>10} {'speed':>6} (of pairs) wanted")
    for server, login in lib.each_server():
        compare(rows, server, login, sys.argv[1:])
    return rows.status()


sys.exit(main())
