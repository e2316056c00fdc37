-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module judges the figures of --fail-on after each look of a study of two sides by pairs.
--
-- When a study ends depends on the figure of --metric.  The bounds of a look are wrong with the
-- probability of its level whenever the study ends (study.stats.sequential), so the tests of the
-- figures here have that level too, adjusted for their number (Holm).

local compare = require("study.stats.compare")
local limit = require("study.limit")
local stats = require("study.stats")

local gate = {}
gate.__index = gate

-- Returns the list of the limits that the items of --fail-on are.
function gate.new(items)
  local self, limited = setmetatable({}, gate), {}
  for i, item in ipairs(items) do
    self[i] = limit.read(item, limit.figure)
    local name = self[i].figure.text
    if limited[name] then limit.refuse_again(item, name) end
    limited[name] = true
  end
  return self
end

-- Returns the values of a result; nil and the figure that it does not have.
function gate:read(result)
  local values = {}
  for i, one in ipairs(self) do
    local value = result:value(one.figure.text)
    if not value or math.abs(value) == math.huge then return nil, one.figure.text end
    values[i] = value
  end
  return values
end

-- Judges rounds {values = {a = what gate:read returned, b =}} at a level.  Returns a list of
-- {limit =, found = of study.stats.compare, failing = it is worse by more than its limit,
--  undecided = neither that nor the opposite is shown, verdict =}.
function gate:judge(rounds, level, same)
  local rows, tests = {}, {}
  for i, one in ipairs(self) do
    local sample = {a = {}, b = {}, paired = true, better = one.figure.better}
    local rules = {alpha = level, same = same, limit = one.share, amount = one.amount}
    for k, round in ipairs(rounds) do
      sample.a[k], sample.b[k] = round.values.a[i], round.values.b[i]
    end
    rows[i] = {limit = one, rules = rules, found = compare.measure(sample, rules)}
    tests[i] = rows[i].found.beyond
  end
  stats.holm(tests)
  for _, row in ipairs(rows) do
    row.verdict = compare.judge(row.found, row.rules)
    row.failing, row.undecided = compare.judge_limit(row.found, row.verdict, row.rules)
  end
  return rows
end

-- Returns whether a row has that member.
function gate.any(rows, member)
  for _, row in ipairs(rows) do
    if row[member] then return true end
  end
  return false
end

return gate
