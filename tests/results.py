#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the reports that pytest leaves in the form of JUnit, for ./check.

results.py count FILE    "PASSED FAILED"; what was skipped has failed
results.py times FILE... where the time went: by file of tests, then the slowest tests
"""

import collections
import sys
import xml.etree.ElementTree

SLOWEST = 25


def tests(path):
    """(file, name, seconds, passed); a test that fails and then cannot clean up is one."""
    found = {}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        key = case.get("classname"), case.get("name")
        bad = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
        seconds, passed = found.get(key, (0, True))
        found[key] = seconds + float(case.get("time")), passed and not bad
    return [(file, name, *rest) for (file, name), rest in found.items()]


def count(path):
    passed = [ok for _, _, _, ok in tests(path)] or [False]
    print(sum(passed), len(passed) - sum(passed))


def times(paths):
    """Seconds are those of the clock: of a test that waits and of one that computes."""
    everything = [test for path in paths for test in tests(path)]
    seconds, number = collections.Counter(), collections.Counter()
    for file, _, took, _ in everything:
        seconds[file] += took
        number[file] += 1
    for file, took in seconds.most_common():
        print(f"{took:8.1f} s {number[file]:5} tests  {file}")
    print()
    for file, name, took, _ in sorted(everything, key=lambda test: -test[2])[:SLOWEST]:
        print(f"{took:8.1f} s  {file}::{name}")


if __name__ == "__main__":
    if sys.argv[1] == "count":
        count(sys.argv[2])
    else:
        times(sys.argv[2:])
