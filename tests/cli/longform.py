# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters of tests that only the long form of the suite takes."""

import pytest


def slow(*values):
    """One set of values that the long form takes alone."""
    return pytest.param(*values, marks=pytest.mark.slow)


def diagonal(*lists):
    """All pairs, triples, ... of the values of the lists, the last list fastest.

    Those on the diagonal, which has each value at least once, are not slow.
    """
    short = {tuple(k % len(values) for values in lists) for k in range(max(map(len, lists)))}
    made = [()]
    for values in lists:
        made = [(*row, i) for row in made for i in range(len(values))]
    return [pytest.param(*(values[i] for values, i in zip(lists, row)),
                         marks=[] if row in short else [pytest.mark.slow]) for row in made]
