-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module searches for the highest value (a rate, a number of threads) that keeps a goal.  It
-- is told what each probe found, and says what to probe next, or the answer.
--
-- The goal is taken to be monotone: if it holds at a value, it holds at each lower one.  The first
-- probe of a rate is half of the capacity.  Then each probe halves, or better, the ratio of the
-- lowest value that did not hold to the highest that did.  If probes have a score, which grows with
-- the value and is 0 at the limit, the next value lies beside the zero of the line through the two
-- scores (regula falsi; Dowell and Jarratt 1971, "A modified regula falsi method for computing the
-- root of an equation", BIT 11); if that did not halve the ratio, it is their geometric mean
-- (bisection).  When the ratio is at most 1 + precision, the highest value that held is probed
-- again, for the longest time.  If it does not hold then, a value that is lower by the precision is
-- probed in the same way.  If it holds, the lowest value that did not hold is probed again for as
-- long, because something else may have disturbed its probe.  If that value holds now, the search
-- goes on above it.

local ceil, floor, log, max, min, sqrt =
  math.ceil, math.floor, math.log, math.max, math.min, math.sqrt

local hunt = {probes_min = 4, probes_max = 64}
hunt.__index = hunt

-- A value that fails is followed by one that is lower by at most this factor.
local steepest = 8
-- Values have six digits, which say enough, and so they are off by this factor at most.
local rounding = 1e-5
-- These probes are kept for the end: one confirms, and another one looks at a lower value or again
-- at the one that broke the goal.
local reserved = 2
-- Two values are this far apart if the slope between their scores is to be more than noise.
local far = 1.1

-- The plan has `min` and `max` (0: no bound), `precision` (0.03 is 3 %), `whole` (values are whole
-- numbers, and there is no capacity), `time_s` and `most_s` of a probe at first and at most, and
-- `probes`, which is how many there are at most.
--
-- A hunt has `state` ("runs", "found", "none", "spent"), `next` = {purpose, value, time_s} while it
-- runs, `answer`, `held` and `failed` (the highest value that held and the lowest above it that did
-- not; 0: none), `again` (the value of `failed` that was probed again), `capacity` (0: unknown),
-- `most` (the highest value that may be probed) and `found`, the list of what it was told.
function hunt.begin(plan)
  local first = plan.whole and {purpose = "step", value = plan.min, time_s = plan.time_s}
    or {purpose = "capacity", value = 0, time_s = plan.time_s}
  return setmetatable({
    plan = plan, state = "runs", next = first, held = 0, failed = 0, capacity = 0, found = {},
    least = plan.min, most = plan.max > 0 and plan.max or math.huge, probe_s = plan.time_s,
    ceiling = {value = 0}, ratios = {math.huge, math.huge},
  }, hunt)
end

local function is_finite(number)
  return number ~= nil and number - number == 0
end

-- Rounds a number above 0 to the nearest whole one.
function hunt.round(number)
  local whole = floor(number)
  return number - whole < 0.5 and whole or whole + 1
end

local function within(value, least, most)
  return min(max(value, least), most)
end

local function six_digits(value)
  local unit = value > 0 and 10 ^ (floor(math.log10(value)) - 5) or 1
  local whole = hunt.round(value / unit)
  return unit < 1 and whole / hunt.round(1 / unit) or whole * unit
end

-- Returns the value that is probed for one that was computed.  A bound stays as it is, so that the
-- hunt knows when it has been probed.
function hunt:rounded(value)
  if self.plan.whole or value == self.least or value == self.most then return value end
  return within(six_digits(value), self.least, self.most)
end

-- Returns what the last probe of a value found.
function hunt:probed(value)
  for i = #self.found, 1, -1 do
    if self.found[i].value == value then return self.found[i] end
  end
end

-- Returns the lowest point that fails above the held one: a measured one, or else the capacity.
function hunt:above()
  return self.failed > 0 and self:probed(self.failed) or self.ceiling
end

-- Returns the next point above a value that is far enough, or else the capacity, or nil.
function hunt:far_above(value)
  local point = self.ceiling
  for _, found in ipairs(self.found) do
    if found.value > value * far and found.value < point.value then point = found end
  end
  return point.value > value and point or nil
end

-- Returns where the line through both points is 0; nil: nowhere useful.
local function zero_between(a, b)
  if not (is_finite(a.score) and is_finite(b.score)) then return nil end
  local slope = (b.score - a.score) / (b.value - a.value)
  local zero = a.value - a.score / slope
  return slope > 0 and is_finite(slope) and is_finite(zero) and zero or nil
end

-- The next value is below one that failed when nothing has held yet.
function hunt:step_down()
  local point, precision = self:above(), self.plan.precision
  local higher = self:far_above(point.value)
  local zero = higher and zero_between(point, higher)
  local guess = zero and zero * (1 - precision / 2) or point.value / 4
  return max(within(guess, point.value / steepest, point.value / (1 + precision / 2)), self.least)
end

-- The next value is above one that held when nothing above it is known to fail.
function hunt:step_up()
  if self.capacity > self.held then return self.capacity end
  return self.capacity > 0 and self.held * (1 + self.plan.precision) or self.held * 2
end

-- The next value is between the bracket's ends: beside the zero of the scores, or where the bracket
-- becomes narrow if the goal is kept there or not, as the zero says.
function hunt:step_between()
  local low, high = self:probed(self.held), self:above()
  local ratio, narrow = high.value / low.value, 1 + self.plan.precision
  local zero = zero_between(low, high)
  local slow = log(ratio) * 2 > log(self.ratios[2])
  self.ratios = {ratio, self.ratios[1]}
  if slow or not zero or low.score > 0 or high.score < 0 then
    return sqrt(low.value * high.value)
  end
  if zero <= low.value * narrow then return low.value * narrow end
  return min(zero * (1 - self.plan.precision / 2), high.value / narrow)
end

-- Returns the value of the next probe.  A rate begins with half of the capacity.  A number of
-- threads is never one of the two bounds, because those have been probed.
function hunt:next_value()
  if #self.found == 1 and self.capacity > 0 then
    return within(self.capacity / 2, self.least, self.most)
  end
  local value
  if self.held == 0 then
    value = self:step_down()
  elseif self.failed == 0 and self.capacity <= self.held * (1 + self.plan.precision) then
    value = self:step_up()
  else
    value = self:step_between()
  end
  value = min(value, self.most)
  if not self.plan.whole then return value end
  return within(hunt.round(value), self.held + 1, self.failed > 0 and self.failed - 1 or math.huge)
end

-- Probes a value for the longest time.  If it holds, it is the answer.
function hunt:confirm(value)
  self.next = {purpose = "confirm", value = self:rounded(value), time_s = self.plan.most_s}
end

-- Returns whether no further step is needed: the bounds are close enough, or the highest value that
-- may be probed has held.
function hunt:is_narrow()
  if self.held >= self.most then return true end
  if self.failed == 0 then return false end
  return self.failed <= self.held * (1 + self.plan.precision) * (1 + rounding)
    or self.plan.whole and self.failed - self.held <= 1
end

-- Chooses what follows when a probe has moved a bound: to confirm the highest value that held, the
-- next value, or the end.  The last probes are kept for confirming.
function hunt:step()
  local last = #self.found + reserved >= self.plan.probes
  if self.held > 0 and (last or self:is_narrow()) then
    if self.held == self.answer then self:answer_with(self.held) else self:confirm(self.held) end
  elseif self.held == 0 and self.failed > 0 and self.failed <= self.least then
    self.state = "none"
  else
    self.next = {
      purpose = "step", value = self:rounded(self:next_value()), time_s = self.probe_s}
  end
end

-- Repeats a probe that was too short to decide, and returns whether it does.
function hunt:try_longer(found)
  local plan, time_s = self.plan, self.next.time_s
  if found.decision ~= "undecided" or time_s >= plan.most_s
    or #self.found + reserved >= plan.probes then
    return false
  end
  -- The time is in quarters of the first time, so that people can read it.
  local quarters = ceil(4 * max(2, 1.5 * found.longer) * time_s / plan.time_s)
  self.probe_s = min(quarters / 4 * plan.time_s, plan.most_s)
  self.next = {purpose = "longer", value = found.value, time_s = self.probe_s}
  return true
end

-- A value that was not confirmed is followed by one that is lower by as much as can be told apart.
function hunt:step_back(value)
  local lower = value * (1 - self.plan.precision / 2)
  if self.plan.whole then lower = min(hunt.round(lower), value - 1) end
  self.failed, self.held = value, 0
  if self.answer and lower <= self.answer then
    self:answer_with(self.answer)
  elseif lower < self.least then
    self.state = "none"
  else
    self:confirm(lower)
  end
end

-- Ends with the answer, if the bound above it was probed again or there is none.
function hunt:answer_with(value)
  self.held, self.answer = value, value
  if self.failed <= value or self.again == self.failed then
    self.state = "found"
  else
    self.next = {purpose = "again", value = self.failed, time_s = self.plan.most_s}
  end
end

-- Goes on above a bound that holds after all: up to the next value that does not.
function hunt:raise(value)
  self.held, self.failed, self.answer = value, 0, value
  for _, found in ipairs(self.found) do
    local broke = found.value > value and found.broke
    if broke and (self.failed == 0 or found.value < self.failed) then self.failed = found.value end
  end
  self:step()
end

-- Takes what the probe of a value found, and chooses what follows.  A probe that was too short to
-- decide counts by its value alone, unless it is repeated for longer.
function hunt:take(found)
  local holds = found.decision == "holds" or found.decision == "undecided" and found.holds
  found.broke = not holds
  if self.next.purpose == "again" then self.again = found.value end
  if self.next.purpose == "again" and not holds then
    self.state = "found"
  elseif self.next.purpose == "again" then
    self:raise(found.value)
  elseif self.next.purpose == "confirm" and holds then
    self:answer_with(found.value)
  elseif self.next.purpose == "confirm" then
    self:step_back(found.value)
  elseif not self:try_longer(found) then
    self[holds and "held" or "failed"] = found.value
    self:step()
  end
end

-- Takes what the probe of `next` found: its `value`, or the capacity that was reached;
-- its `decision` ("undecided": it was too short); `holds`, to be believed if no probe decides;
-- `score` (nil: unknown; at the capacity, the expected one); `longer`, as study.stats.batch has it.
function hunt:tell(found)
  self.found[#self.found + 1] = found
  if self.next.purpose == "capacity" then
    self.capacity, self.ceiling = six_digits(found.value), found
    if self.least == 0 then self.least = six_digits(min(self.capacity, self.most) / 128) end
    self:step()
  else
    self:take(found)
  end
  if self.state == "runs" and #self.found == self.plan.probes then
    self.held = self.answer or self.held
    self.state = self.answer and "found" or "spent"
  end
end

return hunt
