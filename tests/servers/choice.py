# SPDX-License-Identifier: GPL-2.0-or-later
"""Which combinations of a test's parameters every run of the suite takes: the others are slow."""

import itertools

import pytest


def parameters(cases, gate):
    """CASES, tuples, as parameters of a test; those that are not in GATE are slow."""
    assert set(gate) <= set(cases), set(gate) - set(cases)
    return [pytest.param(*case, marks=[] if case in gate else pytest.mark.slow) for case in cases]


def diagonal(*lists):
    """All combinations as parameters of a test; slow but for a diagonal, which has each value."""
    longest = max(map(len, lists))
    return parameters(list(itertools.product(*lists)),
                      [tuple(values[n % len(values)] for values in lists) for n in range(longest)])
