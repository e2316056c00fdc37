-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module follows one metric over the runs of a series: its segments, and the change points
-- between them.

local edivisive = require("study.stats.edivisive")
local stats = require("study.stats")

local trend = {}
trend.__index = trend

-- The time for change points grows with the square of the runs: of more, the oldest are left out.
local runs_max = 2000

-- Returns {start = its first value, n =, median =, deviation = of the sample, 0 for one value}.
local function describe(values, first, last)
  local sorted = {}
  for i = first, last do sorted[#sorted + 1] = values[i] end
  table.sort(sorted)
  return {
    start = first, n = #sorted, median = stats.median(sorted),
    -- The mean of equal values may be rounded.
    deviation = sorted[1] < sorted[#sorted] and stats.deviation(sorted) or 0,
  }
end

-- Finds the changes of ratios, as studies of two sides do, if no value is 0 or less: p99 of 1 to
-- 8 ms is as noisy as that of 500 to 4000 ms.  Returns whether it did, and the changes.
local function find_changes(values)
  local logs = {}
  for i, value in ipairs(values) do
    if value <= 0 then return false, edivisive.find(values) end
    logs[i] = math.log(value)
  end
  return true, edivisive.find(logs, stats.least_noise)
end

-- Returns the trend of a metric, which is number `index` of each run's values:
--   {metric =, runs = those that measured it, values = of each of them, unmeasured =, too_old =,
--    has_logs = change points are those of the logarithms,
--    changes = as study.stats.edivisive has them, segments = one more than changes, or none}
function trend.find(metric, index, series)
  local self = setmetatable({
    metric = metric, runs = {}, values = {}, segments = {}, unmeasured = 0,
    too_old = math.max(#series.runs - runs_max, 0),
  }, trend)
  for i = self.too_old + 1, #series.runs do
    local value = series.runs[i].values[index]
    if value then
      self.runs[#self.runs + 1], self.values[#self.values + 1] = series.runs[i], value
    else
      self.unmeasured = self.unmeasured + 1
    end
  end
  self.has_logs, self.changes = find_changes(self.values)
  for i = 0, #self.values > 0 and #self.changes or -1 do
    local this, following = self.changes[i], self.changes[i + 1]
    self.segments[i + 1] = describe(
      self.values, this and this.at or 1, following and following.at - 1 or #self.values)
  end
  return self
end

-- Returns which way change i went: "better", "worse", or "changed" where neither way is better.
function trend:turn(i)
  local before, after = self.segments[i].median, self.segments[i + 1].median
  if self.metric.better == "neither" or before == after then return "changed" end
  return (self.metric.better == "more") == (before < after) and "better" or "worse"
end

-- Returns the difference of the medians at change i in percent of the one before; nil: that is 0.
function trend:difference(i)
  local before, after = self.segments[i].median, self.segments[i + 1].median
  return before > 0 and (after / before - 1) * 100 or nil
end

-- Returns whether the last change made the metric worse, and is among the last `runs` runs.
function trend:is_regression(runs)
  local last = self.changes[#self.changes]
  return last and self:turn(#self.changes) == "worse" and #self.values - last.at < runs
end

return trend
