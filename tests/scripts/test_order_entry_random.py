# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows the skew of the numbers of order_entry against exact enumeration, and its last names."""
import math

import pytest

import chi

RANGES = [(255, 0, 999), (1023, 1, 3000), (8191, 1, 100000)]

# Counts of 10^6 numbers, one line for each number of the range.
DRAWS = """
local random = require("order_entry.random")
function event()
  local counts = {}
  for _ = 1, 1e6 do
    local n = random.nurand(%d, %d, %d, %d)
    counts[n] = (counts[n] or 0) + 1
  end
  for n = %d, %d do print("count " .. (counts[n] or 0)) end
end
"""


def hottest(shares, part):
    return sum(sorted(shares, reverse=True)[:round(len(shares) * part)])


@pytest.mark.parametrize("numbers, published", zip(RANGES, [
    (0.1473, 0.5423, 0.7707, 0.025629, 8.5091),
    (0.2224, 0.6132, 0.8255, 0.019222, 9.7228),
    (0.3046, 0.7098, 0.8844, 0.001946, 14.1824)]))
def test_enumeration_gives_the_published_shares(numbers, published):
    shares = chi.nurand_shares(*numbers)
    assert math.isclose(sum(shares), 1, abs_tol=1e-9)
    got = [hottest(shares, part) for part in (0.01, 0.1, 0.25)]
    assert [round(x, 4) for x in got] == list(published[:3])
    # All bits of A are 1 in 3 of the 4 pairs of each bit.
    a, x, y = numbers
    assert round(3 ** a.bit_length() / ((a + 1) * (y - x + 1)), 6) == round(max(shares), 6) == published[3]
    assert round(-sum(p * math.log2(p) for p in shares if p > 0), 4) == published[4]


@pytest.mark.parametrize("numbers, c", [(RANGES[0], 0), (RANGES[0], 173), (RANGES[1], 731), (RANGES[2], 4711)])
def test_a_million_numbers_fit_the_exact_shares(folder, numbers, c):
    """Chi-square at 1 %, and the share of the hottest tenth within 0.2 %."""
    a, x, y = numbers
    r = folder.run(DRAWS % (a, x, y, c, x, y), "--events=1", "--rand-seed=40")
    counts = [int(line.split()[1]) for line in r.lines if line.startswith("count ")]
    shares = chi.nurand_shares(a, x, y, c)
    assert sum(counts) == 10 ** 6 and chi.fits(counts, shares)
    hot = sorted(range(len(shares)), key=lambda i: -shares[i])[:len(shares) // 10]
    assert abs(sum(counts[i] for i in hot) / 1e6 - hottest(shares, 0.1)) < 0.002


def test_last_names_and_the_c_of_a_run(folder):
    """Three syllables; the two C differ as the rule allows, for each C of the load."""
    r = folder.run("""
local random = require("order_entry.random")
function event()
  print("names", random.last_name(371), random.last_name(0), random.last_name(999))
  for load = 0, 255 do
    for _ = 1, 200 do print("c", load, random.c_last_of_run(load)) end
  end
end
""", "--events=1", "--rand-seed=40")
    assert "names\tPRICALLYOUGHT\tBARBARBAR\tEINGEINGEING" in r.out
    pairs = [tuple(map(int, line.split()[1:])) for line in r.lines if line.startswith("c\t")]
    assert len(pairs) == 256 * 200
    allowed = set(range(65, 120)) - {96, 112}
    assert {abs(load - run) for load, run in pairs} == allowed
    assert all(0 <= run <= 255 for _, run in pairs)
