-- SPDX-License-Identifier: GPL-2.0-or-later
-- The verdict on one figure of two sides, A and B, from its values in several runs: chooses the
-- test and draws the conclusion.  The statistics and their sources are in study.stats.

local native = require("study.native")
local stats = require("study.stats")

local exp, log, max, sqrt = math.exp, math.log, math.max, math.sqrt

-- From `pairs_min` pairs on there may be a verdict.
local compare = {pairs_min = 4}

-- Returns the fewest pairs, or values of each side, from which a verdict can come.  C(2n, n) orders
-- of unpaired values are equally likely, so that the test can be positive from 1 / alpha of them
-- on.
function compare.least(paired, alpha)
  if paired then return compare.pairs_min end
  local n, orders = 1, 2
  while orders * alpha < 1 do
    orders = orders * (2 * (2 * n + 1) / (n + 1))
    n = n + 1
  end
  return n
end

-- Returns whether all values have a finite logarithm.
local function all_positive(x)
  for _, v in ipairs(x) do
    if not (v > 0 and v < math.huge) then return false end
  end
  return true
end

local function mapped(x, f)
  local out = {}
  for i, v in ipairs(x) do out[i] = f(v) end
  return out
end

-- Returns whether all values of both sides are equal.  A has a value.
local function are_alike(sample)
  local first = sample.a[1]
  for _, x in ipairs{sample.a, sample.b} do
    for _, v in ipairs(x) do
      if v < first or v > first then return false end
    end
  end
  return true
end

-- Returns the B that is worse than a value of A by the limit and by the amount.
local function worse_than(sample, rules, a)
  local loss = max(a * (rules.limit or 0), rules.amount or 0)
  return sample.better == "more" and a - loss or a + loss
end

-- Sets the tests of whether B is on the good side, and whether it is on the bad one, from those of
-- whether it is larger, and whether it is smaller, in terms of the figure.
local function set_tests(sample, good, bad, larger, smaller)
  local more = sample.better == "more"
  good.p = more and larger or smaller
  bad.p = more and smaller or larger
end

-- Sets the interval of the ratio.  interval: that of the logarithm; nil: there is none.
local function set_interval(found, interval)
  found.interval = interval and {low = exp(interval.low), high = exp(interval.high)}
end

-- Judges two or more pairs of positive values by ln (B / A).  An amount may move the limit to 0 or
-- below; then every B is above it.
local function measure_pairs(sample, rules, found)
  local estimate = stats.paired(sample)
  local above = stats.above(estimate, 0)
  local times = worse_than(sample, rules, found.a) / found.a
  local beyond = times > 0 and stats.above(estimate, log(times)) or 0
  found.method = "t"
  found.ratio = exp(estimate.mean)
  found.noise = estimate.noise
  found.drift_per_s = estimate.drift_per_s
  set_interval(found, stats.interval(estimate, rules.alpha))
  set_tests(sample, found.better, found.worse, above, 1 - above)
  set_tests(sample, found.within, found.beyond, beyond, 1 - beyond)
end

-- Returns in how many pairs B is larger than what the rules make of A, and in how many smaller.
local function signs_of(sample, rules)
  local larger, smaller = 0, 0
  for i, a in ipairs(sample.a) do
    local limit = worse_than(sample, rules, a)
    if sample.b[i] > limit then larger = larger + 1 end
    if sample.b[i] < limit then smaller = smaller + 1 end
  end
  return larger, smaller
end

-- Judges pairs by their signs alone, because values of 0 or less have no logarithm: there is no
-- ratio.  Pairs of equal values do not count.
local function measure_signs(sample, rules, found)
  local function set(good, bad, by)
    local larger, smaller = signs_of(sample, by)
    local n = larger + smaller
    set_tests(sample, good, bad, stats.signs(larger, n), stats.signs(smaller, n))
  end
  found.method = "signs"
  set(found.better, found.worse, {})
  set(found.within, found.beyond, rules)
end

local function sorted(x)
  local out = mapped(x, function(v) return v end)
  table.sort(out)
  return out
end

-- Judges values that are not paired by ranks.  For the limit, B is ranked among the values of A,
-- each made worse by the limit.
local function measure_ranks(sample, rules, found)
  local a, b = sorted(sample.a), sorted(sample.b)
  local limits = mapped(a, function(v) return worse_than(sample, rules, v) end)
  table.sort(limits)
  found.method = "ranks"
  set_tests(sample, found.better, found.worse, stats.rank_above{a = a, b = b},
    stats.rank_above{a = b, b = a})
  if found.ratio then
    local logs = {a = mapped(a, log), b = mapped(b, log)}
    local dev_a, dev_b = stats.deviation(logs.a), stats.deviation(logs.b)
    found.ratio = exp(stats.shift(logs))
    set_interval(found, stats.shift_interval(logs, rules.alpha))
    -- The efficiency of ranks is 3 / pi of that of t where the noise is normal.
    found.noise = sqrt((dev_a * dev_a + dev_b * dev_b) * math.pi / 3)
  end
  set_tests(sample, found.within, found.beyond, stats.rank_above{a = limits, b = b},
    stats.rank_above{a = b, b = limits})
end

-- Measures the values of a figure,
--
--   {a, b = lists, of pairs a[i] belongs to b[i], paired,
--    a_s, b_s = of pairs when each run began, s, from any origin; nil: the drift is none,
--    better = "more" or "less"},
--
-- by the rules
--
--   {alpha = of each one-sided test, for example 0.01,
--    same = the margin: 0.05 means that B is from 0.95 to 1.05 times A,
--    limit = how much worse a figure may be: 0.03 is 3 %; below 1 where more is better; nil: 0,
--    amount = the same in its own unit, and the larger of both counts; nil: 0}.
--
-- Returns
--
--   {method = "t" (paired t of ln (B / A), without the drift), "signs" (of pairs, where a value is
--      not positive and has no logarithm), "ranks" (Mann-Whitney, of values that are not paired) or
--      "few" (there are too few values),
--    n_a, n_b, paired, all_equal = all values of both sides are,
--    a, b = geometric means; arithmetic ones if a value is not positive; nil: there is no value,
--    ratio = of B to A, without the drift; nil: a value is not positive, or there is none,
--    interval = {low, high} of the ratio, which passes each end with the probability alpha; nil:
--      there is none,
--    noise = standard deviation of ln (B / A) of one pair; 0: not known,
--    drift_per_s = of ln, that was taken off,
--    worse, better, beyond, within = tests {p, adjusted = p until the caller adjusts it} of whether
--      B is worse, better, worse by more than the limit, and worse by less than it, if at all}.
function compare.measure(sample, rules)
  local a, b, least = sample.a, sample.b, compare.least(sample.paired, rules.alpha)
  local logs, enough = all_positive(a) and all_positive(b), #a >= least and #b >= least
  local found = {
    method = "few", n_a = #a, n_b = #b, paired = sample.paired, all_equal = false, noise = 0,
    drift_per_s = 0, worse = {p = 1}, better = {p = 1}, beyond = {p = 1}, within = {p = 1},
  }
  if #a > 0 and #b > 0 then
    local mean = logs and stats.geometric_mean or stats.mean
    found.a, found.b = mean(a), mean(b)
    found.ratio = logs and found.b / found.a or nil
    found.all_equal = are_alike(sample)
  end
  if not sample.paired and enough then
    measure_ranks(sample, rules, found)
  elseif sample.paired and #a >= 2 and logs then
    measure_pairs(sample, rules, found)
  elseif enough then
    measure_signs(sample, rules, found)
  end
  if not enough then found.method = "few" end
  for _, test in ipairs{found.worse, found.better, found.beyond, found.within} do
    test.adjusted = test.p
  end
  return found
end

-- Returns the verdict after the tests were adjusted: "better", "worse", "same" (within the margin),
-- "equal" (all values are alike, and no interval shows "same"; zeros, for example, have none) or
-- "unknown" (it cannot be told).
function compare.judge(found, rules)
  if found.method == "few" then return "unknown" end
  if found.worse.adjusted <= rules.alpha then return "worse" end
  if found.better.adjusted <= rules.alpha then return "better" end
  local interval = found.interval
  if interval and interval.low >= 1 - rules.same and interval.high <= 1 + rules.same then
    return "same"
  end
  return found.all_equal and "equal" or "unknown"
end

-- Returns whether the tests, after they were adjusted, show that B is worse by more than the limit,
-- and whether they show neither that nor the opposite.  verdict: that of compare.judge.
function compare.judge_limit(found, verdict, rules)
  local is_tested = found.method ~= "few"
  local is_beyond = is_tested and found.beyond.adjusted <= rules.alpha
  local is_within = is_tested and found.within.adjusted <= rules.alpha
  local is_open = verdict == "unknown" or verdict == "worse"
  return is_beyond, is_open and not is_beyond and not is_within
end

-- If all signs are alike, they have the probability 2^-n.
local function least_of(found, alpha)
  if not found.paired or found.ratio then return compare.least(found.paired, alpha) end
  local n = 0
  while 2 ^ -n > alpha do n = n + 1 end
  return n
end

-- Returns how many more pairs, or runs of each side, are expected to make a verdict possible, by
-- the noise and the difference found so far and for `family` tests at once; at least 1.
function compare.more(found, rules, family)
  local alpha = rules.alpha / max(family, 1)
  local needed = least_of(found, alpha)
  if found.noise > 0 then
    needed = max(needed, stats.needed{
      noise = found.noise, mean = found.ratio and log(found.ratio) or 0,
      margin = {low = native.log1p(-rules.same), high = native.log1p(rules.same)}, alpha = alpha})
  end
  return max(needed - math.min(found.n_a, found.n_b), 1)
end

-- Sorts runs {start_wall_ns (0: not known), is_b, run = the caller's number of it} by time.
-- Returns whether they are interleaved: 1 and 2, 3 and 4, and so on are one of A and one of B each,
-- which are the pairs.
function compare.interleaved(turns)
  table.sort(turns, function(s, t)
    if s.start_wall_ns ~= t.start_wall_ns then return s.start_wall_ns < t.start_wall_ns end
    if s.is_b ~= t.is_b then return t.is_b end
    return s.run < t.run
  end)
  if #turns == 0 or #turns % 2 ~= 0 or turns[1].start_wall_ns == 0 then return false end
  for i = 1, #turns, 2 do
    if turns[i].is_b == turns[i + 1].is_b then return false end
  end
  return true
end

return compare
