# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares counts with the distribution they should have."""
import math


def chi_square(counts, shares, least=10):
    """Pearson's statistic and its degrees of freedom.  Neighbours count together until `least` are
    expected of them."""
    n, cells, got, due = sum(counts), [], 0, 0.0
    for count, share in zip(counts, shares, strict=True):
        if share == 0 and count > 0:
            return math.inf, 1
        got, due = got + count, due + n * share
        if due >= least:
            cells.append((got, due))
            got, due = 0, 0.0
    if due > 0:
        last = cells.pop()
        cells.append((last[0] + got, last[1] + due))
    return sum((got - due) ** 2 / due for got, due in cells), len(cells) - 1


def chi_bound(degrees, z=2.3263):
    """The value that a right generator exceeds in 1 % of all cases (Wilson and Hilferty 1931)."""
    a = 2 / (9 * degrees)
    return degrees * (1 - a + z * math.sqrt(a)) ** 3


def fits(counts, shares):
    statistic, degrees = chi_square(counts, shares)
    return statistic <= chi_bound(degrees)


def uniform(n):
    return [1 / n] * n


def nurand_shares(a, x, y, c=0):
    """The exact distribution of NURand over x..y: that of the bitwise or of two uniform numbers,
    shifted by c."""
    size, width = a + 1, y - x + 1
    ored = [0] * (((y // size) + 1) * size)
    for high in range(0, y + 1, size):
        # below[m]: lower halves of the second number that are subsets of m, likewise the first's.
        below = [1 if x <= high + low <= y else 0 for low in range(size)]
        bit = 1
        while bit < size:
            for m in range(size):
                if m & bit:
                    below[m] += below[m ^ bit]
            bit *= 2
        product = [below[m] * 2 ** m.bit_count() for m in range(size)]
        bit = 1
        while bit < size:
            for m in range(size):
                if m & bit:
                    product[m] -= product[m ^ bit]
            bit *= 2
        ored[high:high + size] = product
    shares = [0.0] * width
    for value, ways in enumerate(ored):
        shares[(value + c) % width] += ways / (size * width)
    return shares
