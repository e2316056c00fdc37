#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the first use of a statement costs: oltp_read_write on 100 tables with 32 threads as it is
(--db-prepare=auto), against a script that has prepared every statement of every table before the first
event, and, for comparison only, prepared when it is used (--db-prepare=lazy).

Starts private servers, which allow 1,000,000 statements; runs alternate. Exit status 1: a row missed a
figure. Environment: see README.md."""

import re
import sys
import tempfile

import lib

PAIRS = lib.setting("PERF_PAIRS", 5)
SECONDS = lib.setting("PERF_SECONDS", 10)
TABLES, THREADS = 100, 32
TABLE = [f"--tables={TABLES}", "--table-size=1000"]
RATE_MIN = 0.97

# By the look-up that prepares a statement that is not there.
PREPARES_ALL = """
require("oltp_read_write")

local bundled_init = thread_init

function thread_init()
  bundled_init()
  local kinds = {}
  for kind in pairs(stmt[1]) do
    kinds[#kinds + 1] = kind
  end
  for table_num = 2, sysbench.opt.tables do
    for _, kind in ipairs(kinds) do
      assert(stmt[table_num][kind])
    end
  end
end
"""


def rate(program, workload, login, *options):
    done = lib.run([program, workload, *TABLE, *login, *options, f"--threads={THREADS}",
                    f"--time={SECONDS}", "run"])
    return float(re.search(r"events/s \(eps\): +([\d.]+)", done.text).group(1))


def compare(rows, label, program, login, script, how, wanted):
    pairs = lib.alternate(PAIRS, lambda: rate(program, "oltp_read_write", login, how),
                          lambda: rate(program, script, login, "--db-prepare=lazy"))
    ratio, found = lib.ratios(pairs)
    rows.add(label, f"{label:30} {ratio:.3f} ({found[0]:.2f}..{found[-1]:.2f})",
             None if wanted is None else ratio >= wanted)


def main():
    program = lib.bench()
    rows = lib.Rows(f"{TABLES} tables, {THREADS} threads, medians of {PAIRS} pairs of {SECONDS} s; wanted: "
                    f"rate >= {RATE_MIN:.2f}", f"{'row':30} rate to that of a script that prepares all")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(PREPARES_ALL)
        script.flush()
        for server, login in lib.each_server():
            if server.kind == "mariadb":
                server.sql("SET GLOBAL max_prepared_stmt_count=1000000")
            lib.run([program, "oltp_read_write", *TABLE, *login, "--threads=2", "prepare"])
            compare(rows, f"{server.kind} auto", program, login, script.name, "--db-prepare=auto", RATE_MIN)
            compare(rows, f"{server.kind} lazy", program, login, script.name, "--db-prepare=lazy", None)
    return rows.status()


sys.exit(main())
