# SPDX-License-Identifier: GPL-2.0-or-later
"""The mutex test warns of locks whose waiters stop each other, and of no others."""

import os
import re

import pytest

import bench

LEAST = ("--mutex-num=4096", "--mutex-locks=1", "--mutex-loops=0")
WARNING = "--mutex-type=ticket with {} threads on {} CPUs: its waiters spin in a fixed order"


def mutex(kind, threads, cpus):
    """Runs on so many of the CPUs."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < cpus:
        pytest.skip(f"this needs {cpus} CPUs")
    done = bench.run(
        *("mutex", f"--mutex-type={kind}", f"--threads={threads}", *LEAST, "run"),
        preexec_fn=lambda: os.sched_setaffinity(0, allowed[:cpus]),
    )
    if f"--mutex-type={kind}: unknown" in done.err:
        pytest.skip("this build has no Concurrency Kit")
    assert done.status == 0, done
    return done.err


@pytest.mark.parametrize("threads, cpus", ((2, 1), (3, 2)))
def test_fair_spinning_on_too_few_cpus(threads, cpus):
    """The CPUs that the process may use count, not those that the machine has."""
    assert WARNING.format(threads, cpus) in mutex("ticket", threads, cpus)


def test_an_event_that_begins_in_the_warm_up_is_repeated():
    """Nothing else would be measured: a session has one event."""
    done = bench.run("mutex", "--threads=2", "--warmup-time=0.2", "--mutex-num=16", "--mutex-locks=1",
                     "--mutex-loops=300000000", "run")
    assert done.status == 0 and re.search(r"^ *total number of events: +2$", done.out, re.M), done


@pytest.mark.parametrize("kind, threads, cpus", (("ticket", 2, 2), ("ticket", 1, 1), ("cas", 2, 1)))
def test_nothing_to_warn_of(kind, threads, cpus):
    assert mutex(kind, threads, cpus) == ""
