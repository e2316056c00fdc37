# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which pytest's processes take the tests."""

import pytest


def has_a_victim(item):
    """Does it take a server that tests of its file kill, freeze and restart?"""
    return any(name.endswith("_victim") for name in item.fixturenames)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One process takes all that share a victim, and begins early: --dist=loadgroup."""
    for item in items:
        if has_a_victim(item):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))
    items.sort(key=lambda item: not has_a_victim(item))
