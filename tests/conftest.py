# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which pytest's processes take the tests, and what they do when a sanitizer crashes."""

import os

import _pytest.runner
import pytest

# Once in some ten thousand programs LeakSanitizer itself dies, after main(), of which nothing
# follows for the test: https://github.com/google/sanitizers/issues/1353.
SANITIZER_DIED = "LeakSanitizer has encountered a fatal error"


def has_a_victim(item):
    """Does it take a server that tests of its file kill, freeze and restart?"""
    return any(name.endswith("victim") for name in item.fixturenames)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One process takes all that share a victim, and begins early: --dist=loadgroup."""
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
