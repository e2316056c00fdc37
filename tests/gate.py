# SPDX-License-Identifier: GPL-2.0-or-later
"""Divides the rows of parametrized tests: ./check runs some, `./check --all` all of them."""

import itertools

import pytest


def slow(*values):
    """A row of parameters that the gate leaves out."""
    return pytest.param(*values, marks=pytest.mark.slow)


def sanitized(*values):
    """A row of parameters that also runs under AddressSanitizer."""
    return pytest.param(*values, marks=pytest.mark.sanitized)


def parameters(rows, gate):
    """Marks the rows, which are tuples, as slow, except those in GATE."""
    assert set(gate) <= set(rows), set(gate) - set(rows)
    return [pytest.param(*row) if row in gate else slow(*row) for row in rows]


def first(rows, count=1):
    """Marks the rows after the first COUNT as slow.  A row of several values is a tuple."""
    rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    return [pytest.param(*row) if i < count else slow(*row) for i, row in enumerate(rows)]


def diagonal(*axes):
    """The product of the axes; in the gate each value is in one row at least."""
    axes = [list(axis) for axis in axes]
    kept = {tuple(i % len(axis) for axis in axes) for i in range(max(map(len, axes)))}
    rows = []
    for place in itertools.product(*(range(len(axis)) for axis in axes)):
        values = [axis[i] for axis, i in zip(axes, place)]
        rows.append(pytest.param(*values) if place in kept else slow(*values))
    return rows
