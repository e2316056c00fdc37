-- SPDX-License-Identifier: GPL-2.0-or-later
-- A figure of batches is judged rightly: exact cases, and by simulation how often a run exactly at
-- the limit is judged to be beside it, which should be 5 %.

local t = require("tests")
local batch = require("study.stats.batch")
local native = require("study.native")

local runs = 2000
local one_percent = {at = 0.01, below = true, share = true}

local function batches(n, make)
  local out = {}
  for i = 1, n do
    local num, den = make(i)
    out[i] = {num = num, den = den}
  end
  return out
end

local function alike(n, num, den)
  return batches(n, function() return num, den end)
end

-- Returns a function that draws the time that the next customer of an M/M/1 queue spends there, in
-- multiples of the mean service time (Lindley's equation); utilization 0: the times are
-- independent.
local function queue(rng, utilization)
  local stay = 0
  return function()
    if utilization > 0 then
      stay = math.max(stay + math.log(1 - rng:real()) / utilization, 0) - math.log(1 - rng:real())
    else
      stay = -math.log(1 - rng:real())
    end
    return stay
  end
end

-- Checks how many of the runs, which are exactly at the limit, are judged to be beside it.
local function check_wrong(utilization, events, percent)
  local wrong, limit, each = 0, math.log(100) / (1 - utilization), events / batch.most
  for run = 0, runs - 1 do
    local next_stay = queue(native.rng(run, utilization * 100, "workload"), utilization)
    for _ = 1, events / 4 do next_stay() end
    local all = batches(batch.most, function()
      local slow = 0
      for _ = 1, each do
        if next_stay() >= limit then slow = slow + 1 end
      end
      return slow, each
    end)
    if batch.judge(all, one_percent).decision ~= "undecided" then wrong = wrong + 1 end
  end
  t.ok(wrong <= runs * percent / 100, ("%d of %d are judged"):format(wrong, runs))
end

return {
  ["few events decide nothing"] = function()
    -- None of 200 is slow, but of 200 with 1 % that would be so in one case of eight.
    local judged = batch.judge(alike(batch.most, 0, 10), one_percent)
    t.equal(judged.decision, "undecided")
    t.ok(judged.holds and judged.longer > 1 and judged.longer < 4, judged.longer)
    t.equal(batch.judge(alike(batch.most, 0, 50), one_percent).decision, "holds")
    t.equal(batch.judge(alike(batch.least - 1, 0, 50), one_percent).decision, "undecided")
    t.equal(batch.judge({}, one_percent).decision, "undecided")
  end,

  ["a share of none is refuted by one"] = function()
    local none, eight = {at = 0, below = true, share = true}, alike(8, 0, 9)
    t.equal(batch.judge(eight, none).decision, "holds")
    eight[4].num = 1
    t.equal(batch.judge(eight, none).decision, "violated")
  end,

  -- The variance of a ratio of 10 batches, worked by hand: the residuals are +1 and -1, so that the
  -- standard error is sqrt(10 / 9 * 10) / 1000.
  ["the error is that of a ratio"] = function()
    local ten = batches(10, function(i) return 50 + (i % 2 == 1 and 1 or -1), 100 end)
    local judged = batch.judge(ten, {at = 0.5, below = false})
    t.close(judged.value, 0.5, 1e-12)
    t.ok(judged.holds, "the limit itself is not right")
    t.close(judged.error, math.sqrt(100 / 9) / 1000, 1e-11)
    t.equal(judged.batches, 10)
  end,

  ["neighbours that are alike are joined"] = function()
    local mean = {at = 0.9, below = true}
    local function rising(i) return i - 1, 100 end
    t.equal(batch.judge(batches(batch.most, rising), mean).batches, batch.least)
    -- One too many: they are joined in pairs, and the last joins the last pair.
    t.equal(batch.judge(batches(batch.most + 1, rising), mean).batches, batch.least)
  end,

  ["the score is the logarithm of the share"] = function()
    t.close(batch.score({value = 0.02, events = 1e12}, one_percent), math.log(2), 1e-9)
    t.close(batch.score({value = 0, events = 499}, one_percent), math.log(0.1), 1e-12)
    t.equal(batch.score({value = 0.02, events = 1e12}, {at = 0.01, below = true}), nil)
  end,

  ["runs at the limit are rarely judged: independent events"] = function()
    check_wrong(0, 4000, 5)
  end,

  ["runs at the limit are rarely judged: a utilization of 0.3"] = function()
    check_wrong(0.3, 4000, 7)
  end,

  ["runs at the limit are rarely judged: a utilization of 0.6"] = function()
    check_wrong(0.6, 8000, 9)
  end,

  -- A few bursts of slow events are all that such a run has.
  ["runs at the limit are rarely judged: a utilization of 0.9"] = function()
    check_wrong(0.9, 40000, 25)
  end,
}
