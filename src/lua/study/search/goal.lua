-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module reads a goal, such as "p99<20ms,errors<0.1%", which is several conditions in the
-- grammar of --assert, and tells whether a result keeps all of them.
--
-- A percentile, the median, the mean of a latency, the share of errors and rates are judged by
-- study.stats.batch, with the intervals of the result as batches: pN < T holds if at most 100 - N
-- percent of the events took T or longer.  Other figures, and the latencies of statements, are of
-- the whole run, and their value alone decides.

local batch = require("study.stats.batch")
local native = require("study.native")

local goal = {conditions_max = 16}
goal.__index = goal

-- Returns the goal of a text; nil and a message, if it is none.
function goal.parse(text)
  local self = setmetatable({text = text}, goal)
  for part in (text or ""):gmatch("[^,]+") do
    if part:find("[^ ]") then
      if #self == goal.conditions_max then
        return nil, ("--goal has more than %d conditions"):format(goal.conditions_max)
      end
      local condition, why = native.assertion(part)
      if not condition then return nil, ("--goal: '%s': %s"):format(part, why) end
      self[#self + 1] = condition
    end
  end
  if #self == 0 then
    return nil, "--goal is missing; write a condition, such as --goal='p99<20ms'"
  end
  return self
end

local function is_below(condition)
  return condition.op:sub(1, 1) == "<"
end

-- Returns the rank of a percentile; nil: the condition is about something else.
local function rank_of(condition)
  return condition.what == "median" and 50 or condition.rank
end

-- Returns the limit of a condition as study.stats.batch takes it.
local function bound_of(condition)
  local rank, below = rank_of(condition), is_below(condition)
  if rank then return {at = (100 - rank) / 100, below = below, share = true} end
  if condition.what == "errors" then
    return {at = condition.limit / 100, below = below, share = true}
  end
  return {at = condition.limit / condition.scale, below = below, share = false}
end

-- Judges one condition.  Returns the finding about the total, what is decided, and its score.
local function judge(condition, result)
  local finding, batches = result:judge(condition.text), result:batches(condition.text)
  if not batches then
    local decision = finding.holds and "holds" or "violated"
    return finding, {decision = decision, holds = finding.holds, longer = 1}
  end
  local bound = bound_of(condition)
  local judged = batch.judge(batches, bound)
  -- A run without an error does not say how far errors are.
  local score = condition.what == "errors" and judged.value == 0 and -math.huge
    or batch.score(judged, bound)
  -- The total also has events that did not end in any interval.
  if judged.holds ~= finding.holds then
    judged.holds = false
    if judged.decision == "holds" then judged.decision = "undecided" end
  end
  return finding, judged, score
end

-- A violated condition outweighs an undecided one, and that one those that hold.
local weight = {holds = 1, undecided = 2, violated = 3}

-- Judges a result.  Returns nil and a message, as for a condition about what no run measures, or
--   {decision = "holds" (all do), "violated" (one is) or "undecided", holds = by the values alone,
--    score = the largest of batch.score, nil: unknown, longer = as study.stats.batch has it,
--    [i] = the finding about condition i, broken = it does not hold}
function goal:judge(result)
  if not result.has_total then return nil, "the run measured nothing" end
  local all = {decision = "holds", holds = true, score = -math.huge, longer = 1}
  for i, condition in ipairs(self) do
    local finding, judged, score = judge(condition, result)
    if finding.lack then return nil, ("--goal: '%s': %s"):format(condition.text, finding.lack) end
    all[i] = finding
    finding.broken = not judged.holds
    if weight[judged.decision] > weight[all.decision] then all.decision = judged.decision end
    all.holds = all.holds and judged.holds
    all.longer = math.max(all.longer, judged.longer)
    -- A figure without a score says nothing unless it is the one that is wrong.
    if score or not judged.holds then
      all.score = score and all.score and math.max(all.score, score)
    end
  end
  if all.score and math.abs(all.score) == math.huge then all.score = nil end
  return all
end

-- Returns the score where every event is too slow; nil: it is unknown.
function goal:worst_score()
  local worst
  for _, condition in ipairs(self) do
    if rank_of(condition) and is_below(condition) then
      local score = batch.score({value = 1, events = 1e15}, bound_of(condition))
      worst = score and math.max(worst or score, score) or worst
    end
  end
  return worst
end

-- A lower percentile may be that slow for seconds without a backlog.
local high_rank, far = 90, 4

-- Returns a list of what a run may assert in order to end early, because the backlog grows: each
-- assertion is violated in a second in which the median is above four times the limit of a higher
-- percentile.
function goal:abort()
  local list = {}
  for _, condition in ipairs(self) do
    local rank = rank_of(condition)
    if rank and rank >= high_rank and is_below(condition) then
      local timing = condition.timing and "@" .. condition.timing or ""
      list[#list + 1] = ("median%s<=%s%s"):format(
        timing, native.shortest(condition.limit * far), condition.unit)
    end
  end
  return list
end

return goal
