#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What --watch costs. An empty event() with one worker: events per second with the machine's watchers
read once a second, against the same run without. The server's watcher on MariaDB: processor time of a
reading, of the program and of the server, and the share of the machine that one a second takes; a rate
with a server varies by far more than that. Exit status 1: more than half a percent is lost."""

import os
import re
import sys
import tempfile

import lib

LOST = 0.005
PAIRS = lib.setting("PERF_PAIRS", 11)
SECONDS = lib.setting("PERF_SECONDS", 4)
PER_S = 20


def rate(*args):
    done = lib.run([lib.bench(), *args, f"--time={SECONDS}", "--report-interval=1", "run"])
    return float(re.search(r"total number of events: +(\d+)", done.text).group(1)) / SECONDS


def add_rates(rows):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("function event() end\n")
        script.flush()
        args = [script.name, "--threads=1"]
        pairs = lib.alternate(PAIRS, lambda: rate(*args, "--watch=host,device"), lambda: rate(*args))
    ratio, found = lib.ratios(pairs)
    watched, without = lib.middle(pairs)
    rows.add("empty event", f"{'empty event, rate':36} {watched:12.0f} {without:12.0f} {ratio:9.4f} "
             f"({found[0]:.3f}..{found[-1]:.3f}) >={1 - LOST}", ratio >= 1 - LOST)


def add_cost(rows, server):
    args = [lib.bench(), "oltp_point_select", *server.login(lib.BY[server.kind]), "--table-size=1000"]
    lib.run([*args, "prepare"])
    args += ["--rate=1", f"--time={SECONDS}", f"--report-interval={1 / PER_S}"]

    def cost(*watch):
        before = lib.processor_s(server.process.pid)
        done = lib.run([*args, *watch, "run"])
        return done.user + done.system + lib.processor_s(server.process.pid) - before

    pairs = lib.alternate(PAIRS, lambda: cost("--watch=host,device,server"), cost)
    watched, without = lib.middle(pairs)
    reading = (watched - without) / (PER_S * SECONDS)
    share = reading / os.cpu_count()
    rows.add("server", f"{'host,device,server, MariaDB, seconds':36} {watched:12.3f} {without:12.3f} "
             f"{share:9.4f} ({reading * 1e3:.2f} ms a reading) <={LOST}", share <= LOST)


def main():
    rows = lib.Rows(f"--watch, medians of {PAIRS} pairs of {SECONDS} s",
                    f"{'row':36} {'watched':>12} {'without':>12} {'ratio':>9}           wanted")
    add_rates(rows)
    with lib.server(lib.servers.MariaDB) as server:
        add_cost(rows, server)
    return rows.status()


sys.exit(main())
