#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes the command line of a run and writes the result of an M/M/1 queue in virtual time: Poisson
arrivals of --rate, one server of rate $MM1_MU. With --threads and no --rate, an event takes one
millisecond for each thread, and a thousandth of the events for each thread fails. Events of the result
$MM1_DISTURBED take 0.1 s more. $MM1_TEMPLATE is a result of bench, whose numbers are replaced;
$MM1_SEED chooses the random numbers."""

import collections
import copy
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import documents

MU = float(os.environ["MM1_MU"])


def options():
    found = {}
    for arg in sys.argv[1:]:
        name, _, value = arg.partition("=")
        found[name] = value
    return found


def queue(rng, rate, start_s, time_s):
    """(when the customer came, how long it stayed) by Lindley's equation."""
    at = stay = 0.0
    while True:
        gap = rng.expovariate(rate)
        at += gap
        if at >= start_s + time_s:
            return
        stay = max(stay - gap, 0) + rng.expovariate(MU)
        if at >= start_s:
            yield at - start_s, stay


def lowest(ns):
    shift = max(0, ns.bit_length() - 11)
    return ns >> shift << shift


def fill(record, buckets, span_s, at_s, failing):
    events = sum(buckets.values())
    total_s = sum(ns * n for ns, n in buckets.items()) * 1e-9
    f, raw = record["figures"], record["raw"]
    f.update(span_s=span_s, at_s=at_s, events=events, transactions=events,
             events_per_s=events / span_s, transactions_per_s=events / span_s, sum_s=total_s,
             avg_s=total_s / max(events, 1), min_s=min(buckets, default=0) * 1e-9,
             max_s=max(buckets, default=0) * 1e-9)
    f["errors"] = round(events * failing)
    raw["counters"].update(events=events, errors=f["errors"])
    raw["span_ns"] = round(span_s * 1e9)
    for name in raw["histograms"]:
        documents.put_histogram(record, buckets.items() if name == "latency" else [], name)


def main():
    given = options()
    time_s, warmup_s = float(given["--time"]), float(given["--warmup-time"])
    rate, batches = float(given.get("--rate", 0)), round(time_s / float(given["--report-interval"]))
    path = given["--report"].partition("json:")[2]
    failing = 0 if rate > 0 else int(given.get("--threads", 0)) / 1000
    rng = random.Random(os.environ.get("MM1_SEED", "1") + given.get("--rate", "") +
                        os.path.basename(path))
    if rate > 0:
        stays = queue(rng, rate, warmup_s, time_s)
    elif "--threads" in given:
        stay = int(given["--threads"]) * 1e-3
        stays = ((i * 1e-3, stay) for i in range(int(time_s * 1000)))
    else:
        stays = ((i / MU, 1 / MU) for i in range(int(time_s * MU)))
    if os.path.basename(path) == os.environ.get("MM1_DISTURBED"):
        stays = ((at, stay + 0.1) for at, stay in stays)
    counts = [collections.Counter() for _ in range(batches)]
    for at, stay in stays:
        counts[min(int(at / time_s * batches), batches - 1)][lowest(round(stay * 1e9))] += 1
    with open(os.environ["MM1_TEMPLATE"], encoding="utf-8") as f:
        document = json.load(f)
    group = document["groups"][0]
    document["end"]["status"] = 0
    interval = group["intervals"][0]
    group["intervals"] = [copy.deepcopy(interval) for _ in range(batches)]
    for i, record in enumerate(group["intervals"]):
        fill(record, counts[i], time_s / batches, (i + 1) * time_s / batches, failing)
    fill(group["total"], sum(counts, collections.Counter()), time_s, time_s, failing)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(document, f)


main()
