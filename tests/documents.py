# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes the histograms of result documents, whose form bench-result(5) explains."""


def highest(lowest):
    """The greatest value of the bucket: 1,024 buckets for each power of two."""
    return lowest if lowest < 2048 else lowest + (1 << (lowest.bit_length() - 11)) - 1


def buckets_of(stored):
    """(least value, count) of each bucket that is not empty, in ascending order."""
    return [(lowest, count) for lowest, count in stored]


def stored_of(buckets):
    """The other way: how a document has these buckets."""
    return [[lowest, count] for lowest, count in sorted(buckets)]


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
