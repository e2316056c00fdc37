-- SPDX-License-Identifier: GPL-2.0-or-later
-- Tells whether a figure of a run is on the right side of its limit, or the run was too short.
--
-- The figure is a ratio of sums, num / den, over successive batches of the run: the share of events
-- slower than a limit (p99 < 20 ms holds if at most 1 % are not below 20 ms), the share of errors,
-- a mean.  Its interval is that of batch means (Conway 1963, "Some Tactical Problems in Digital
-- Simulation", Management Science 10; Law and Kelton, "Simulation Modeling and Analysis", 9.5.3)
-- with the variance of a ratio (Cochran 1977, "Sampling Techniques", 6.3) and Student's t.
-- Successive events are not independent: batches are joined in pairs while von Neumann's ratio
-- finds, at the 5 % level, that neighbours are alike (Fishman 1978, "Grouping Observations in
-- Digital Simulation", Management Science 24).  The variance of a share is that of independent
-- events at the limit or at the share, whichever is larger (Wilson 1927, "Probable Inference, the
-- Law of Succession, and Statistical Inference", Journal of the American Statistical Association
-- 22), times the design effect, which is the variance seen between batches divided by that of
-- independent events, and at least 1 (Kish 1965, "Survey Sampling", 8.2).  So a few events without
-- a slow one decide nothing.  tests/study/test_batch.lua measures how often a run exactly at the
-- limit is judged to be beside it: 2 % for independent events, 5 % and 7 % for M/M/1 queues at
-- utilizations of 0.3 and 0.6, and at 0.9 20 % where the run has a few bursts of slow events only,
-- 6 % with ten times as many events.

local student = require("study.stats.student")

local abs, floor, log, max, sqrt = math.abs, math.floor, math.log, math.max, math.sqrt

-- More batches than `most` are joined; fewer than `least` decide nothing.
local batch = {most = 20, least = 5}

-- These are 95 % on both sides, and the level at which neighbours are alike.
local one_sided, alike = 0.975, 0.95

-- Returns the batches first to last as one.
local function sum_of(batches, first, last)
  local num, den = 0, 0
  for i = first, last do
    num, den = num + batches[i].num, den + batches[i].den
  end
  return {num = num, den = den}
end

-- Each `by` neighbours become one; the last that fill none join the one before.
local function join(batches, by)
  local joined, n = {}, floor(#batches / by)
  for k = 1, n do
    joined[k] = sum_of(batches, (k - 1) * by + 1, k < n and k * by or #batches)
  end
  return joined
end

-- Returns by how much `num` exceeds what the ratio of all batches makes of `den`.
local function residual(one, ratio)
  return one.num - ratio * one.den
end

local function sum_of_squares(batches, ratio)
  local sum = 0
  for _, one in ipairs(batches) do sum = sum + residual(one, ratio) ^ 2 end
  return sum
end

-- Von Neumann's ratio is here a normal deviate, of mean 0 if neighbours are independent.
local function neighbours_are_alike(batches, ratio)
  local squares, n, steps = sum_of_squares(batches, ratio), #batches, 0
  for i = 2, n do
    steps = steps + (residual(batches[i], ratio) - residual(batches[i - 1], ratio)) ^ 2
  end
  return squares > 0 and 1 - steps / (2 * squares)
    > student.normal_quantile(alike) * sqrt((n - 2) / (n * n - 1))
end

-- Returns the variance of the sum.
local function variance_of(batches, den, ratio, bound)
  local n = #batches
  local seen = n / (n - 1) * sum_of_squares(batches, ratio)
  if not bound.share then return seen end
  local independent, at_limit = ratio * (1 - ratio) * den, bound.at * (1 - bound.at) * den
  -- A share of none or all is refuted by one event.
  if at_limit <= 0 then return 0 end
  local effect = independent > 0 and max(1, seen / independent) or 1
  return effect * max(independent, at_limit)
end

-- Decides if the limit lies outside of the interval, or sets `longer`.  With an error of 0, as of a
-- share whose limit is none or all, the value alone decides.
local function decide(judged, bound)
  local distance = abs(judged.value - bound.at)
  local reach = student.quantile(one_sided, judged.batches - 1) * judged.error
  if distance > reach or judged.error == 0 then
    judged.decision = judged.holds and "holds" or "violated"
  else
    judged.longer = (reach / distance) ^ 2
  end
end

-- Judges batches {num, den} by the bound {at, below = the right side is below it, share = num
-- counts some of what den counts}; the limit itself is right.  Returns
--
--   {value, error = the ratio and its standard error, which of no events are 0,
--    events = what the figure is a share or mean of, batches = their number after joining,
--    decision = "holds" or "violated", at 95 % of confidence (2.5 % on each side), or "undecided",
--    holds = by the value alone,
--    longer = a run so many times as long is about to decide what is undecided; at least 1}
function batch.judge(batches, bound)
  local n, sum = #batches, sum_of(batches, 1, #batches)
  local judged = {
    value = 0, error = 0, events = sum.den, batches = n, decision = "undecided", holds = false,
    longer = 1,
  }
  if sum.den <= 0 then return judged end
  local value = sum.num / sum.den
  judged.value = value
  if bound.below then
    judged.holds = value <= bound.at
  else
    judged.holds = value >= bound.at
  end
  if n < batch.least then return judged end
  local joined = join(batches, math.ceil(n / batch.most))
  while #joined >= 2 * batch.least and neighbours_are_alike(joined, value) do
    joined = join(joined, 2)
  end
  judged.batches = #joined
  judged.error = sqrt(variance_of(joined, sum.den, value, bound)) / sum.den
  decide(judged, bound)
  return judged
end

-- Returns how far the value of a share is on the wrong side, as the logarithm of its ratio to the
-- limit; below 0 it is on the right one.  nil: the limit is no share, or none or all.
function batch.score(judged, bound)
  if not bound.share or bound.at <= 0 or bound.at >= 1 then return nil end
  -- Half an event more than there are, so that none has a logarithm.
  local value = (judged.value * judged.events + 0.5) / (judged.events + 1)
  return bound.below and log(value / bound.at) or log((1 - value) / (1 - bound.at))
end

return batch
