#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What --watch costs: events per second with all watchers read once a second, against the same run
without. An empty event() with one worker has the machine's watchers; oltp_read_write on MariaDB has
the server's too. Exit status 1: more than half a percent is lost."""

import re
import sys
import tempfile

import lib

LEAST = 0.995
PAIRS = lib.setting("PERF_PAIRS", 11)
SECONDS = lib.setting("PERF_SECONDS", 4)


def rate(*args):
    done = lib.run([lib.bench(), *args, f"--time={SECONDS}", "--report-interval=1", "run"])
    return float(re.search(r"total number of events: +(\d+)", done.text).group(1)) / SECONDS


def add_row(rows, label, args, watch):
    pairs = lib.alternate(PAIRS, lambda: rate(*args, f"--watch={watch}"), lambda: rate(*args))
    ratio, found = lib.ratios(pairs)
    watched, without = lib.middle(pairs)
    rows.add(label, f"{label:24} {watched:12.0f} {without:12.0f} {ratio:7.4f} "
             f"({found[0]:.3f}..{found[-1]:.3f}) >={LEAST}", ratio >= LEAST)


def main():
    rows = lib.Rows(f"--watch, a reading a second, medians of {PAIRS} pairs of {SECONDS} s",
                    f"{'row':24} {'watched':>12} {'without':>12} {'ratio':>7} (of pairs)     wanted")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("function event() end\n")
        script.flush()
        add_row(rows, "empty event", [script.name, "--threads=1"], "host,device")
    with lib.server(lib.servers.MariaDB) as server:
        args = ["oltp_read_write", *server.login(lib.BY[server.kind]), "--tables=4", "--table-size=10000"]
        lib.run([lib.bench(), *args, "prepare"])
        add_row(rows, "oltp_read_write, mariadb", [*args, "--threads=2"], "host,device,server")
    return rows.status()


sys.exit(main())
