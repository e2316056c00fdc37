#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processor time of the client for a new order, over the whole mix of order_entry, in each mode.

Starts private servers, loads two warehouses, and reaches each server by its socket and by TCP.  The peer is the same mix
as scripts for sysbench commonly have it (order_common.lua), under the reference.  A short run is taken away from a long
one, with what starting, preparing and compiling cost; peer and modes alternate; prints medians, beside the time of a
statement and the floor: what as many statements take of a client that only sends and receives.  The ratio is the median
of those of the rounds.  The mode routine has no goal: it shows what a call costs.  Exit status 1: a row missed its
figure.  Environment: see README.md."""

import json
import pathlib
import re
import statistics
import sys
import tempfile

import floor
import lib

ROUNDS = lib.setting("PERF_PAIRS", 5)
SECONDS = lib.setting("PERF_SECONDS", 5)
THREADS = lib.setting("PERF_THREADS", 4)
WAREHOUSES = lib.setting("PERF_WAREHOUSES", 2)
WANTED = {"common": None, "plain": 0.6, "batched": 0.35, "routine": None}
COMMON_SHARE = 0.45  # of the events of order_common.lua, for new orders


def run(login, mode, seconds):
    """(processor seconds, new orders, statements) of a run."""
    options = [*login, f"--threads={THREADS}", f"--time={seconds}", f"--warehouses={WAREHOUSES}"]
    if mode == "common":
        done = lib.run([lib.reference(), str(pathlib.Path(__file__).with_name("order_common.lua")), *options, "run"])
        statements, events = (int(re.search(word + r": +(\d+)", done.text)[1])
                              for word in (" total", "total number of events"))
        return done.user + done.system, events * COMMON_SHARE, statements
    with tempfile.TemporaryDirectory() as folder:  # bench replaces the document
        path = pathlib.Path(folder, "document")
        done = lib.run([lib.bench(), "order_entry", *options, "--order-check=none", "--order-mode=" + mode,
                        f"--report=json:{path}", "run"])
        total = json.loads(path.read_text())["groups"][0]["total"]
    figures = total["figures"]
    (orders,) = [kind["events"] for kind in total["event_kinds"] if kind["name"] == "new_order"]
    return done.user + done.system, orders, figures["reads"] + figures["writes"] + figures["other"]


def cost(login, mode):
    """(microseconds of a new order, microseconds of a statement, statements of a new order)"""
    few, many = run(login, mode, 2), run(login, mode, 2 + SECONDS)
    seconds, orders, statements = (b - a for a, b in zip(few, many))
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
