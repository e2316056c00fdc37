-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statistics by which two series of measurements are compared.
--
-- They are those of logarithms, so that a difference is a ratio and the noise of fast and slow runs
-- is alike.  Sources:
--
-- - paired t: Student (1908), "The Probable Error of a Mean", Biometrika 6:1-25.
-- - drift as a straight line that is estimated apart from the difference: Cox (1951), "Some
--   Systematic Experimental Designs", Biometrika 38:312-323; the degrees of freedom of the sum of
--   both errors: Satterthwaite (1946), "An Approximate Distribution of Estimates of Variance
--   Components", Biometrics Bulletin 2:110-114.
-- - signs: Dixon and Mood (1946), "The Statistical Sign Test", JASA 41:557-566.
-- - ranks: Mann and Whitney (1947), "On a Test of Whether one of Two Random Variables is
--   Stochastically Larger than the Other", Annals of Mathematical Statistics 18:50-60; the
--   interval: Hodges and Lehmann (1963), "Estimates of Location Based on Rank Tests", ibid.
--   34:598-611.
-- - equivalence (two one-sided tests): Schuirmann (1987), "A Comparison of the Two One-Sided Tests
--   Procedure and the Power Approach for Assessing the Equivalence of Average Bioavailability",
--   Journal of Pharmacokinetics and Biopharmaceutics 15:657-680.
-- - several tests at once: Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure",
--   Scandinavian Journal of Statistics 6:65-70.

local student = require("study.stats.student")

local abs, exp, floor, log, max, min, sqrt =
  math.abs, math.exp, math.floor, math.log, math.max, math.min, math.sqrt

local stats = {}

function stats.mean(x)
  local sum = 0
  for i = 1, #x do sum = sum + x[i] end
  return sum / #x
end

-- Returns the geometric mean of values above 0.
function stats.geometric_mean(x)
  local sum = 0
  for i = 1, #x do sum = sum + log(x[i]) end
  return exp(sum / #x)
end

-- Returns the median of sorted values, one or more.
function stats.median(x)
  return (x[floor((#x + 1) / 2)] + x[floor(#x / 2) + 1]) / 2
end

-- Returns the standard deviation of a sample: the divisor is n - 1.
function stats.deviation(x)
  local mean, squares = stats.mean(x), 0
  for i = 1, #x do squares = squares + (x[i] - mean) * (x[i] - mean) end
  return #x > 1 and sqrt(squares / (#x - 1)) or 0
end

-- Pairs -------------------------------------------------------------------------------------------

-- The 0.1 % between two buckets of a histogram makes this noise.
stats.least_noise = 4e-4

-- Fits a straight line through the means of pairs over time, which say nothing about their
-- differences, so that the slope is independent of these.  Returns the slope, its variance and the
-- degrees of freedom, which are 0 if there is no line.
local function drift_of(pairs)
  local a, b, a_s, b_s = pairs.a, pairs.b, pairs.a_s, pairs.b_s
  local n, at, mean, sxx, sxy, syy = #a, 0, 0, 0, 0, 0
  if not a_s or n < 3 then return 0, 0, 0 end
  for i = 1, n do
    at = at + (a_s[i] + b_s[i]) / 2 / n
    mean = mean + (log(a[i]) + log(b[i])) / 2 / n
  end
  for i = 1, n do
    local x, y = (a_s[i] + b_s[i]) / 2 - at, (log(a[i]) + log(b[i])) / 2 - mean
    sxx, sxy, syy = sxx + x * x, sxy + x * y, syy + y * y
  end
  if sxx <= 0 then return 0, 0, 0 end
  local slope = sxy / sxx
  return slope, max(syy - slope * sxy, 0) / (n - 2) / sxx, n - 2
end

-- Estimates the mean of ln (B / A) from {a, b, a_s, b_s}: two or more pairs of measurements above 0
-- that are close in time, and when each was made, s, from any origin (nil: no drift is looked for).
-- Returns {mean, error = standard error of the mean, dof = of the error, noise = standard deviation
-- of one pair, drift_per_s = what was taken off ln A and ln B alike}.
function stats.paired(pairs)
  local slope, variance, drift_dof = drift_of(pairs)
  local a, b, a_s, b_s = pairs.a, pairs.b, pairs.a_s, pairs.b_s
  local n, mean, lags, squares, difference = #a, 0, 0, 0, {}
  for i = 1, n do
    local lag = a_s and b_s[i] - a_s[i] or 0
    difference[i] = log(b[i]) - log(a[i]) - slope * lag
    mean = mean + difference[i] / n
    lags = lags + lag / n
  end
  for i = 1, n do
    local d = difference[i] - mean
    squares = squares + d * d
  end
  local noise = max(sqrt(squares / (n - 1)), stats.least_noise)
  local of_pairs, of_drift, dof = noise * noise / n, variance * lags * lags, n - 1
  if drift_dof > 0 then
    dof = (of_pairs + of_drift) ^ 2
      / (of_pairs * of_pairs / (n - 1) + of_drift * of_drift / drift_dof)
  end
  return {
    mean = mean, error = sqrt(of_pairs + of_drift), dof = dof, noise = noise, drift_per_s = slope}
end

-- Returns the probability of such an estimate or a larger one if the true mean is `limit`.
function stats.above(estimate, limit)
  return student.cdf((limit - estimate.mean) / estimate.error, estimate.dof)
end

-- Returns {low, high}.  The true mean passes each end with the probability alpha.
function stats.interval(estimate, alpha)
  local half = student.quantile(1 - alpha, estimate.dof) * estimate.error
  return {low = estimate.mean - half, high = estimate.mean + half}
end

-- 0.5^n comes near to 0.
local coins_exact = 1000

-- Returns the probability of so many or more of n fair coins on one side; above 1,000 by the normal
-- distribution with its correction for continuity.
function stats.signs(more, n)
  if n > coins_exact then return student.normal_cdf((n - 2 * more + 1) / sqrt(n)) end
  local term, sum = 2 ^ -n, 0
  for k = 0, n - more do
    sum = sum + term
    term = term * ((n - k) / (k + 1))
  end
  return min(sum, 1)
end

-- Ranks -------------------------------------------------------------------------------------------
--
-- Two series that are not paired are {a, b}, each in ascending order.

-- Up to so many differences, orders are counted.
local exact_max = 400

local function is_small(ranked)
  return #ranked.a * #ranked.b <= exact_max
end

-- Returns ways and all: the statistic is u in ways[u] of all orders of n_a and n_b things.  The
-- generating function is the Gaussian binomial coefficient: the product over i of
-- (1 - q^(n_b + i)) / (1 - q^i).
local function count_orders(n_a, n_b)
  local ways, top, all = {[0] = 1}, n_a * n_b, 0
  for u = 1, top do ways[u] = 0 end
  for i = 1, n_a do
    for u = top, n_b + i, -1 do ways[u] = ways[u] - ways[u - n_b - i] end
    for u = i, top do ways[u] = ways[u] + ways[u - i] end
  end
  for u = 0, top do all = all + ways[u] end
  return ways, all
end

-- Returns in how many pairs A is larger, with ties as halves, and the sum of t^3 - t over groups of
-- t equal values.
local function count_a_above(ranked)
  local a, b = ranked.a, ranked.b
  local above, ties, i, k = 0, 0, 1, 1
  while i <= #a or k <= #b do
    local x = min(a[i] or b[k], b[k] or a[i])
    local first_a, first_b = i, k
    while i <= #a and a[i] <= x do i = i + 1 end
    while k <= #b and b[k] <= x do k = k + 1 end
    local in_a, in_b = i - first_a, k - first_b
    above = above + in_a * (first_b - 1 + in_b / 2)
    ties = ties + (in_a + in_b) ^ 3 - (in_a + in_b)
  end
  return above, ties
end

-- Returns the probability of such a B or a larger one if both series come from one distribution:
-- exact for n_a * n_b <= 400 without ties, else by the normal distribution with its corrections for
-- ties and for continuity.
function stats.rank_above(ranked)
  local n_a, n_b = #ranked.a, #ranked.b
  local n, u, ties = n_a + n_b, count_a_above(ranked)
  if ties == 0 and is_small(ranked) then
    local ways, all = count_orders(n_a, n_b)
    local below = 0
    for k = 0, u do below = below + ways[k] end
    return below / all
  end
  local variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)))
  -- All values are equal.
  if variance <= 0 then return 1 end
  return student.normal_cdf((u + 0.5 - n_a * n_b / 2) / sqrt(variance))
end

-- Returns how many differences b - a are x or less.
local function count_up_to(ranked, x)
  local a, b = ranked.a, ranked.b
  local count, k = 0, 0
  for i = 1, #a do
    while k < #b and b[k + 1] - a[i] <= x do k = k + 1 end
    count = count + k
  end
  return count
end

-- Returns the difference number k of all in ascending order, from 1.
local function difference(ranked, k)
  local a, b = ranked.a, ranked.b
  local low, high = b[1] - a[#a], b[#b] - a[1]
  if count_up_to(ranked, low) >= k then return low end
  while true do
    local middle = low + (high - low) / 2
    if middle <= low or middle >= high then return high end
    if count_up_to(ranked, middle) >= k then
      high = middle
    else
      low = middle
    end
  end
end

-- Returns the median of all differences b - a.
function stats.shift(ranked)
  local n = #ranked.a * #ranked.b
  return (difference(ranked, floor((n + 1) / 2)) + difference(ranked, floor(n / 2) + 1)) / 2
end

-- Returns how many differences are outside of the interval on each side, and one more; 0: there is
-- no interval.
local function outermost(ranked, alpha)
  local n_a, n_b = #ranked.a, #ranked.b
  if is_small(ranked) then
    local ways, all = count_orders(n_a, n_b)
    local u, sum = 0, ways[0]
    while sum / all <= alpha do
      u = u + 1
      sum = sum + ways[u]
    end
    return u
  end
  local deviations = student.normal_quantile(1 - alpha)
  local k = n_a * n_b / 2 - 0.5 - deviations * sqrt(n_a * n_b * (n_a + n_b + 1) / 12)
  return max(floor(k) + 1, 0)
end

-- Returns an interval of the shift, as stats.interval; nil: there are too few values for any.
function stats.shift_interval(ranked, alpha)
  local k = outermost(ranked, alpha)
  if k == 0 then return nil end
  return {
    low = difference(ranked, k), high = difference(ranked, #ranked.a * #ranked.b + 1 - k)}
end

-- Several tests -----------------------------------------------------------------------------------

-- Sorts a list of tests {p = one-sided} and sets `adjusted` of each, which is not above alpha if
-- the test is rejected.
function stats.holm(tests)
  table.sort(tests, function(s, t) return s.p < t.p end)
  local most = 0
  for i, test in ipairs(tests) do
    most = max(most, test.p * (#tests + 1 - i))
    test.adjusted = min(most, 1)
  end
end

-- The number of pairs that would do ---------------------------------------------------------------

local needed_max, nearly_normal = 1000000, 200

-- Returns the quantile by which the mean of n pairs is judged.  For many pairs, Student's t is
-- nearly normal, which takes less time.
local function quantile(p, n)
  return n > nearly_normal and student.normal_quantile(p) or student.quantile(p, n - 1)
end

-- A difference has one margin, so that twice the chance of failing is allowed to it.
local function decides(question, n)
  local mean, margin = question.mean, question.margin
  local error, t = question.noise / sqrt(n), quantile(1 - question.alpha, n)
  local inside = min(mean - margin.low, margin.high - mean)
  return abs(mean) >= (t + quantile(0.9, n)) * error
    or inside >= (t + quantile(0.95, n)) * error
end

-- Returns the least number of pairs that decides, with a probability of 90 %, whether a difference
-- is there or lies within the margin, if the noise and the mean are those found so far.  The
-- question is {noise, mean, margin = {low, high}, alpha}.  1,000,000: so many or more.
function stats.needed(question)
  local low, high = 1, 2
  while high < needed_max and not decides(question, high) do
    low, high = high, 2 * high
  end
  if high >= needed_max then return needed_max end
  while high - low > 1 do
    local middle = floor((low + high) / 2)
    if decides(question, middle) then
      high = middle
    else
      low = middle
    end
  end
  return high
end

return stats
