# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes the histograms of result documents, whose form bench-result(5) explains."""

import copy

RANGE = 33 << 10  # buckets; the one behind them has what is beyond the range


def index(ns):
    """The bucket of a value."""
    shift = max(0, ns.bit_length() - 11)
    return min((shift << 10) + (ns >> shift), RANGE)


def lowest(bucket):
    """Its least value."""
    shift = max(0, (bucket >> 10) - 1)
    return bucket - (shift << 10) << shift


def highest(least):
    """The greatest value of the bucket whose least value is given."""
    return lowest(index(least) + 1) - 1


def buckets_of(stored):
    """(least value, count) of each bucket that is not empty, in ascending order.  Documents of
    version 1 have such pairs."""
    found, bucket = [], 0
    for value in stored:
        if isinstance(value, list):
            found.append(tuple(value))
        elif isinstance(value, int) and value < 0:
            bucket -= value
        else:
            if value != 0:
                found.append((lowest(bucket), value))
            bucket += 1
    return found


def stored_of(buckets):
    """The other way: how a document has these buckets."""
    stored, bucket = [], 0
    for least, count in sorted(buckets):
        empty = index(least) - bucket
        stored += [-empty if empty > 1 else 0][:empty] + [count]
        bucket = index(least) + 1
    return stored


def histogram(record, name="latency"):
    """The buckets of a record."""
    return buckets_of(record["raw"]["histograms"][name])


def ages(record):
    """The buckets of the ages of unfinished events."""
    return buckets_of(record["raw"].get("ages", []))


def counted(record, name="latency"):
    return sum(count for _, count in histogram(record, name))


def put_histogram(record, buckets, name="latency"):
    record["raw"]["histograms"][name] = stored_of(buckets)


def nulled(old, new):
    """The old value, with null for each 0 that is null in the new one: it was not measured."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {name: nulled(value, new.get(name)) for name, value in old.items()}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [nulled(a, b) for a, b in zip(old, new)]
    return None if new is None and old == 0 and old is not False else old


def renewed(document):
    """A document as the present version writes it."""
    new = copy.deepcopy(document)
    new["version"] = 2
    for group in new["groups"]:
        for record in [*group["intervals"], *group["checkpoints"], group["total"] or {}]:
            raw = record.get("raw", {})
            for name in raw.get("histograms", {}):
                put_histogram(record, histogram(record, name), name)
            if "ages" in raw:
                raw["ages"] = stored_of(ages(record))
            for statement in raw.get("statements", []):
                statement["histogram"] = stored_of(buckets_of(statement["histogram"]))
    return new
