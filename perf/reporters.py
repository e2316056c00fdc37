#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What all reporters together cost: instructions in user mode per empty event(), with all of them and
with none. callgrind counts the instructions of each thread. Those of the worker are a matter of
events: the least of all runs, because LuaJIT draws lots when it chooses what to compile. Those of
the other threads are a matter of time, because they report once a second: they count for an event
by the rate at which the program runs without callgrind, so the machine should be idle. Exit status
1: an event takes more than a hundredth more."""

import glob
import os
import re
import statistics
import sys
import tempfile

import lib

MOST = 1.01
PAIRS = lib.setting("PERF_PAIRS", 5)
BEFORE, COUNTED = 20000, 400000  # events until the script is compiled; events to count
SHORT_S, LONG_S = 3, 9
FORMS = ("text", "json", "csv", "jsonl", "csv-total", "markdown", "hdr", "openmetrics")


def options(folder, on):
    files = [f"--report={form}:{folder}/{form}" for form in FORMS]
    more = ["--report-interval=1", "--report-bins=all", "--metrics-listen=0", "--assert=p99<3600s"]
    return ["--report=text", *(files + more if on else [])]


def instructions(folder, args):
    """{number of the thread: instructions}"""
    out = f"{folder}/out"
    lib.run(["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes",
             f"--callgrind-out-file={out}", lib.bench(), f"{folder}/empty.lua", "--rand-seed=1",
             "--threads=1", *args, "run"])
    found = {}
    for name in glob.glob(out + "-*"):
        with open(name, encoding="utf-8") as f:
            found[name[len(out):]] = int(re.search(r"^totals: (\d+)", f.read(), re.M).group(1))
        os.remove(name)
    return found


def cost(folder, on):
    """Instructions per event of the worker, and per second of the other threads."""
    args = options(folder, on)
    few = instructions(folder, [*args, f"--events={BEFORE}", "--time=0"])
    many = instructions(folder, [*args, f"--events={BEFORE + COUNTED}", "--time=0"])
    short, long = (instructions(folder, [*args, f"--time={s}"]) for s in (SHORT_S, LONG_S))
    worker = max(many, key=many.get)  # threads start in the same order in all runs
    others = sum(long[t] - short[t] for t in long if t != worker)
    return (many[worker] - few[worker]) / COUNTED, others / (LONG_S - SHORT_S)


def native_rate(script):
    """Events per second without callgrind; the best, because others only take away."""
    def once():
        done = lib.run([lib.bench(), script, "--threads=1", "--time=1", "run"])
        return int(re.search(r"total number of events: +(\d+)", done.text).group(1))

    return max(once() for _ in range(3))


def main():
    rows = lib.Rows(f"instructions per empty event with all reporters and none, {PAIRS} pairs of runs",
                    f"{'row':16} {'all':>10} {'none':>10} {'ratio':>8} wanted")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/empty.lua", "w", encoding="utf-8") as script:
            script.write("function event() end\n")
        rate = native_rate(script.name)
        pairs = lib.alternate(PAIRS, lambda: cost(folder, True), lambda: cost(folder, False))
    worker = [min(c[0] for c in side) for side in zip(*pairs)]
    others = [statistics.median(c[1] for c in side) / rate for side in zip(*pairs)]
    for label, (on, off) in (("worker", worker), ("all threads", map(sum, zip(worker, others)))):
        rows.add(label, f"{label:16} {on:10.2f} {off:10.2f} {on / off:8.4f} <={MOST}", on / off <= MOST)
    print(f"# reports: {others[0] * rate:.0f} and {others[1] * rate:.0f} instructions a second, "
          f"at {rate} events a second")
    return rows.status()


sys.exit(main())
