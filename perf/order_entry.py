#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processor time of the client for a new order, over the whole mix of order_entry, in each mode.

Starts private servers, loads the warehouses, and reaches each server by its socket and by TCP.  The peer is the same
mix as scripts for sysbench commonly have it (order_common.lua), under the reference.  Processor time and events are
those between two of the lines that both print each second, after starting, preparing and, for bench, the 30 s in which
order_entry compiles; peer and modes alternate.  Prints medians, beside the time of a statement and the floor: what as
many statements take of a client that only sends and receives.  The ratio is the median of those of the rounds.  The
mode routine has no goal: it shows what a call costs.  Exit status 1: a row missed its figure.  Environment: see
README.md."""

import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import floor
import lib

ROUNDS = lib.setting("PERF_PAIRS", 5)
SECONDS = lib.setting("PERF_SECONDS", 10)
STARTED_S = 5  # when the reference is measured
COMPILED_S = 32  # when bench is: its terminals compile for COMPILING_S (order_entry/run.lua)
THREADS = lib.setting("PERF_THREADS", 4)
WAREHOUSES = lib.setting("PERF_WAREHOUSES", 2)
WANTED = {"common": None, "plain": 0.6, "batched": 0.35, "routine": None}
COMMON_SHARE = 0.45  # of the events of order_common.lua, for new orders


def measured(argv, from_s):
    """(processor seconds, events, statements) of SECONDS from the line of second FROM_S on."""
    argv = [*argv, "--report-interval=1", f"--time={from_s + SECONDS + 1}", "run"]
    at, rates, lines = {}, [], []
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/") as process:
        for line in process.stdout:
            lines.append(line)
            found = re.match(r"\[ (\d+)s \] .* tps: ([\d.]+) qps: ([\d.]+)", line)
            if not found:
                continue
            second = int(found[1])
            if second in (from_s, from_s + SECONDS):
                at[second] = lib.processor_s(process.pid)
            if from_s < second <= from_s + SECONDS:
                rates.append((float(found[2]), float(found[3])))
    if process.returncode != 0 or len(at) != 2:
        sys.exit("".join([" ".join(argv), " failed:\n", *lines]))
    events, statements = (sum(column) / len(rates) * SECONDS for column in zip(*rates))
    return at[from_s + SECONDS] - at[from_s], events, statements


def cost(login, mode):
    """(microseconds of a new order, microseconds of a statement, statements of a new order)"""
    options = [*login, f"--threads={THREADS}"]
    if mode == "common":
        argv = [lib.reference(), str(pathlib.Path(__file__).with_name("order_common.lua")),
                f"--warehouses={WAREHOUSES}", *options]
        seconds, events, statements = measured(argv, STARTED_S)
        orders = events * COMMON_SHARE
    else:
        with tempfile.TemporaryDirectory() as folder:  # bench replaces the document
            path = pathlib.Path(folder, "document")
            argv = [lib.bench(), "order_entry", *options, "--order-check=none", "--order-mode=" + mode,
                    "--report=text", f"--report=json:{path}"]
            seconds, events, statements = measured(argv, COMPILED_S)
            total = json.loads(path.read_text())["groups"][0]["total"]
        (orders,) = [kind["events"] for kind in total["event_kinds"] if kind["name"] == "new_order"]
        orders *= events / total["figures"]["events"]
    return seconds / orders * 1e6, seconds / statements * 1e6, statements / orders


def compare(rows, server, by):
    """Adds the rows of a server that is reached over BY, "socket" or "tcp"."""
    login = server.login(by)
    found, floors = {mode: [] for mode in WANTED}, []
    for _ in range(ROUNDS):
        floors.append(floor.cost(server, by, THREADS, SECONDS))
        for mode, costs in found.items():
            costs.append(cost(login, mode))
    for mode, costs in found.items():
        us, each, statements = (statistics.median(values) for values in zip(*costs))
        ratio = statistics.median(ours[0] / peer[0] for ours, peer in zip(costs, found["common"]))
        label, wanted = f"{server.kind} by {by}, {mode}", WANTED[mode]
        goal = "" if wanted is None else f" <= {wanted:.2f}"
        rows.add(label, f"{label:26} {us:6.0f} {each:15.1f} {statements:11.1f} "
                        f"{statements * statistics.median(floors):6.0f} {ratio:6.2f}{goal}",
                 None if wanted is None else ratio <= wanted)


def main():
    rows = lib.Rows(f"a new order, {THREADS} threads, medians of {ROUNDS} rounds of {SECONDS} s",
                    f"{'row':26} {'us':>6} {'of a statement':>15} {'statements':>11} {'floor':>6} {'ratio':>6} wanted")
    for server, login in lib.each_server():
        lib.run([lib.bench(), "order_entry", *login, f"--warehouses={WAREHOUSES}", "--threads=2", "--order-check=none",
                 "--order-mode=routine", "prepare"])
        for by in ("socket", "tcp"):
            compare(rows, server, by)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
