-- SPDX-License-Identifier: GPL-2.0-or-later
-- Change points of a series: E-divisive with means.
--
-- D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple Change Point Analysis of
-- Multivariate Data", Journal of the American Statistical Association 109 (2014), with alpha = 1
-- and one variable.  For benchmarks as in D. Daly et al., "The Use of Change Point Detection to
-- Identify Software Performance Regressions in a Continuous Integration System", ICPE 2020.
--
-- A segment is cut where the energy statistic of the values before and after the cut is largest, if
-- a permutation test finds it so large by chance with a probability of at most `level`.  Each part
-- is then a segment of its own.  The paper tests the largest cut of all segments; here each segment
-- is tested by itself, so that noise in one does not hide a change in another.  Afterwards each
-- change point is placed anew between its two neighbours.
--
-- Few values have few orders: of 16, a permutation test cannot find that the last four are all 300
-- times as large.  Student's t test of the two parts ("The Probable Error of a Mean", Biometrika 6,
-- 1908) can; its probability is multiplied by the number of cuts and ends that were looked at
-- (Bonferroni), and has to be ten times as small, so that it adds little to the errors of the
-- other.
--
-- The seed of the permutations is fixed, so that a series always gives the same answer.
--
-- Of a left part with m values and a right part with k values, with the sums of distances L within
-- the left part, R within the right part and T within both together, the statistic of the paper is
--
--   mk/(m+k) (2(T-L-R)/(mk) - 2L/(m(m-1)) - 2R/(k(k-1)))
--     = 2/(m+k) (T - (m+k-1) (L/(m-1) + R/(k-1)))
--
-- so that the best of the cuts of m + k values has the least L/(m-1) + R/(k-1).

local ffi = require("ffi")
local native = require("study.native")
local student = require("study.stats.student")

local abs, huge, max, min, sqrt = math.abs, math.huge, math.max, math.min, math.sqrt

local edivisive = {
  level = 0.001,
  least = 4,            -- values on each side of a change
  permutations = 1999,  -- of a segment
}

-- So many orders of a segment are shuffled in turn, each from its last one.
local n_orders = 8
local doubles = ffi.typeof("double[?]")

-- Arrays of C begin at 0.  Two orders of a segment are looked at together, x and y.
local function prepare(n)
  local size = n + edivisive.least
  local work = {
    right_x = doubles(size),  -- [i]: the sum of the distances within the right part from value i on
    left_x = doubles(size),   -- [m]: that within the first m values, over m - 1; no cut: infinity
    right_y = doubles(size),
    left_y = doubles(size),
    inverse = doubles(size),  -- [k]: 1 / (k - 1)
  }
  for k = 2, n do work.inverse[k] = 1 / (k - 1) end
  for m = 0, edivisive.least - 1 do
    work.left_x[m], work.left_y[m] = huge, huge
  end
  return work
end

-- Returns the largest statistic of all cuts of n values and of all ends of the right part, because
-- a change that was taken back later is to be seen too: that of x, that of y, and the end of x, or
-- nil.  Two sums at a time take a quarter less time than one after the other: neither waits for the
-- other.
local function find_strongest(work, x, y, n)
  local right_x, right_y, left_x, left_y = work.right_x, work.right_y, work.left_x, work.left_y
  local inverse, least_n = work.inverse, edivisive.least
  local strongest_x, strongest_y, end_x = 0, 0, nil
  ffi.fill(right_x, n * ffi.sizeof("double"))
  ffi.fill(right_y, n * ffi.sizeof("double"))
  for i = 0, n - 1 do
    -- Value i lengthens all right parts.  Those after the last cut are too short.
    local own_x, own_y, last = x[i], y[i], i + 1 - least_n
    local sum_x, sum_y, least_x, least_y = 0, 0, huge, huge
    for at = i - 1, last < 0 and 0 or last + 1, -1 do
      sum_x, sum_y = sum_x + abs(x[at] - own_x), sum_y + abs(y[at] - own_y)
      right_x[at], right_y[at] = right_x[at] + sum_x, right_y[at] + sum_y
    end
    for at = last, 0, -1 do
      sum_x, sum_y = sum_x + abs(x[at] - own_x), sum_y + abs(y[at] - own_y)
      local within_x, within_y, by = right_x[at] + sum_x, right_y[at] + sum_y, inverse[i + 1 - at]
      right_x[at], right_y[at] = within_x, within_y
      least_x = min(least_x, left_x[at] + within_x * by)
      least_y = min(least_y, left_y[at] + within_y * by)
    end
    local statistic_x = 2 / (i + 1) * (right_x[0] - i * least_x)
    local statistic_y = 2 / (i + 1) * (right_y[0] - i * least_y)
    if i + 1 >= least_n then
      left_x[i + 1], left_y[i + 1] = right_x[0] * inverse[i + 1], right_y[0] * inverse[i + 1]
    end
    if statistic_x > strongest_x then
      strongest_x, end_x = statistic_x, i + 1
    end
    if statistic_y > strongest_y then strongest_y = statistic_y end
  end
  return strongest_x, strongest_y, end_x
end

-- Returns the best cut of n values into two parts, of which the second ends with them.
local function find_cut(work, x, n)
  local left, inverse, least_n = work.left_x, work.inverse, edivisive.least
  local within, least, best = 0, huge, 0
  for i = 0, n - 1 do
    for k = 0, i - 1 do within = within + abs(x[k] - x[i]) end
    if i + 1 >= least_n then left[i + 1] = within * inverse[i + 1] end
  end
  within = 0
  for at = n - 1, least_n, -1 do
    for k = at + 1, n - 1 do within = within + abs(x[at] - x[k]) end
    local both = left[at] + within * inverse[n - at]
    if n - at >= least_n and both < least then
      least, best = both, at
    end
  end
  return best
end

local function shuffle(x, n, rng)
  for i = n, 2, -1 do
    local k = rng:below(i)
    x[k], x[i - 1] = x[i - 1], x[k]
  end
end

-- Returns how probable so strong a cut is in the same values in any order.  Once that cannot be
-- below the level any more, it ends.
local function judge(work, x, n, strength, rng)
  local permutations, orders, done, as_strong = edivisive.permutations, {}, 0, 0
  for i = 1, n_orders do
    orders[i] = doubles(n)
    ffi.copy(orders[i], x, n * ffi.sizeof("double"))
  end
  local function count(statistic)
    if done == permutations then return end
    done = done + 1
    -- Sums of the same numbers in another order may differ in the last digits.
    if statistic >= strength * (1 - 1e-9) then as_strong = as_strong + 1 end
  end
  while done < permutations and as_strong + 1 <= edivisive.level * (permutations + 1) do
    for _, order in ipairs(orders) do shuffle(order, n, rng) end
    for i = 1, n_orders, 2 do
      local of_one, of_next = find_strongest(work, orders[i], orders[i + 1], n)
      count(of_one)
      count(of_next)
    end
  end
  return (as_strong + 1) / (done + 1)
end

-- Returns how probable such a difference of the means of two parts of n normal values is: x[0] to
-- x[at - 1], and from there to x[last - 1].  noise: the least standard deviation of one value.
local function judge_means(x, at, last, n, noise)
  local sum_a, sum_b, squares = 0, 0, 0
  for i = 0, at - 1 do sum_a = sum_a + x[i] / at end
  for i = at, last - 1 do sum_b = sum_b + x[i] / (last - at) end
  for i = 0, last - 1 do
    local d = x[i] - (i < at and sum_a or sum_b)
    squares = squares + d * d
  end
  local deviation = max(sqrt(squares / (last - 2)), noise)
  if deviation <= 0 then return 1 end
  local t = abs(sum_a - sum_b) / deviation / sqrt(1 / at + 1 / (last - at))
  local cuts = n - 2 * edivisive.least + 1
  return min(1, 2 * student.cdf(-t, last - 2) * cuts * (cuts + 1) / 2)
end

-- Returns the values from `first` to before `last` as an array of C, and their number.
local function segment_of(values, first, last)
  local x, n = doubles(last - first), last - first
  for i = 0, n - 1 do x[i] = values[first + i] end
  return x, n
end

-- Cuts the first segment until it is whole, then the next.
local function cut_all(work, values, noise)
  local changes, rng, i, first = {}, native.rng(1, 0, "command"), 1, 1
  while first <= #values do
    local last = changes[i] and changes[i].at or #values + 1
    local x, n = segment_of(values, first, last)
    local strength, _, strongest_end = find_strongest(work, x, x, n)
    local at = strongest_end and find_cut(work, x, strongest_end)
    local p = at and judge(work, x, n, strength, rng)
    if p and p > edivisive.level then
      p = max(judge_means(x, at, strongest_end, n, noise) * 10, 1 / (edivisive.permutations + 1))
    end
    if p and p <= edivisive.level then
      table.insert(changes, i, {at = first + at, p = p})
    else
      first, i = last, i + 1
    end
  end
  return changes
end

-- The first cut of a segment was found while the later ones were not known.
local function place_anew(work, values, changes)
  for i, change in ipairs(changes) do
    local first = i > 1 and changes[i - 1].at or 1
    local last = changes[i + 1] and changes[i + 1].at or #values + 1
    change.at = first + find_cut(work, segment_of(values, first, last))
  end
end

-- Returns the change points of a list of finite values, in ascending order: {at = the first value
-- after the change, from 1; p = of the test that found it}.  The time grows with the square of the
-- number of values: with one change about 10 ms for 100, and 3 s for 2000.  noise: what the values
-- differ by at least without a change; nil: 0.
function edivisive.find(values, noise)
  local work = prepare(#values)
  local changes = cut_all(work, values, noise or 0)
  place_anew(work, values, changes)
  return changes
end

return edivisive
