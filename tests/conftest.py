# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which pytest's processes take the tests, and what they do when a sanitizer crashes."""

import os
import pathlib

import _pytest.runner
import pytest

# ThreadSanitizer's _exit() waits for the lock of a stream that another thread holds; libc's does not.
STUCK_UNDER_TSAN = "cli/test_signals.py::test_a_reader_that_does_not_read"
# Once in some ten thousand programs LeakSanitizer itself dies, after main(), of which nothing
# follows for the test: https://github.com/google/sanitizers/issues/1353.
SANITIZER_DIED = "LeakSanitizer has encountered a fatal error"


def has_a_victim(item):
    """Does it take a server that tests of its file kill, freeze and restart?"""
    return any(name.endswith("victim") for name in item.fixturenames)


def is_left_out(item):
    """Does ./check leave the item's file out under this sanitizer, without exception for the item?"""
    file = item.path.relative_to(pathlib.Path(__file__).parent).with_suffix("")
    marker = {"asan": "sanitized", "tsan": "threads"}.get(os.environ.get("BENCH_SANITIZER"))
    if marker and item.get_closest_marker(marker):
        return False
    return (str(file) in os.environ.get("BENCH_LEFT_OUT", "").split() or
            (marker == "threads" and item.nodeid.endswith(STUCK_UNDER_TSAN)))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """One process takes all that share a victim, and begins early: --dist=loadgroup."""
    left_out = {item for item in items if is_left_out(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        if has_a_victim(item):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))
    items.sort(key=lambda item: not has_a_victim(item))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    if not os.environ.get("BENCH_SANITIZER"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = _pytest.runner.runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed and SANITIZER_DIED in str(report.longrepr) for report in reports):
        reports = _pytest.runner.runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
