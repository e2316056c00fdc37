-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module reads the runs of one side of a comparison, a result in a file or those in a folder,
-- and keeps what a comparison needs of them.

local native = require("study.native")
local match = require("study.match")
local results = require("study.results")

local side = {}

local values_most = 4

-- A set of texts in the order in which they came: of many, the first four and that there are more.
local function new_values()
  return {list = {}, has = {}, more = false}
end

-- Adds a text unless the set has it.  Beyond the first four, the set only notes that there are
-- more.
local function add_value(values, text)
  if values.has[text] then return end
  if #values.list == values_most then
    values.more = true
    return
  end
  values.list[#values.list + 1], values.has[text] = text, true
end

-- Returns the value of a fact as a text.  A whole number may be an integer of 64 bits, to whose
-- text Lua adds the letters "LL".
local function fact_text(fact)
  if fact.type == "real" then return ("%g"):format(fact.value) end
  if fact.type == "whole" then
    return type(fact.value) == "number" and ("%d"):format(fact.value)
      or tostring(fact.value):match("^-?%d+")
  end
  return fact.value
end

-- Adds what a run that counts says of itself to the values of its side, and keeps the names that
-- the first one has.
local function add_facts(s, options, facts)
  local first = s.first or {option = {}, names = {}, fact = {}, facts = facts}
  local function add(all, key, text)
    all[key] = all[key] or new_values()
    add_value(all[key], text)
  end
  local function add_option(o)
    if not o.secret then add(s.options, o.name, o.value or "") end
    if not s.first then
      if not first.option[o.name] then first.names[#first.names + 1] = o.name end
      first.option[o.name] = o
    end
  end
  for _, whole in ipairs(options) do
    for _, o in ipairs(match.parts(whole)) do add_option(o) end
  end
  for _, fact in ipairs(facts) do
    fact.name = fact.section .. " " .. fact.key
    add(s.facts, fact.name, fact_text(fact))
    if not s.first then first.fact[fact.name] = true end
  end
  if not s.first then
    table.sort(first.names)
    s.first = first
  end
end

local reasons = {
  [3] = "an assertion did not hold", [4] = "it could not keep up with --rate",
  [5] = "no event succeeded"}

-- Returns why a run does not count, or nil.
local function fault_of(result)
  local fault, status = results.fault(result), result.end_.status
  if fault == "killed" then return "the run was killed" end
  if fault == "nothing" then return "the run measured nothing" end
  return fault and ("the run failed: %s (exit status %d)"):format(
    reasons[status] or result.end_.reason, status)
end

-- Runs share the options that they have in common, because there are a hundred of each.
local function shared_options(known, options)
  local kept = {}
  for _, o in ipairs(options) do
    if not match.ignore(o) then
      local key = o.name .. "\n" .. o.origin .. "\n" .. (o.value or "")
      known[key] = known[key] or o
      kept[#kept + 1] = known[key]
    end
  end
  return kept
end

-- Adds the run of a result to its side.  A run that does not count keeps its turn among the others,
-- but options and facts are not taken from it.  known: see shared_options.
local function add_run(s, path, result, figures, known)
  -- A run whose start failed never began: its end tells its turn.
  local began_ns = result.start_wall_ns ~= 0 and result.start_wall_ns or result.times.end_wall_ns
  local run = {
    path = path, left_out = fault_of(result), status = result.end_.status, value = {},
    workload = result.workload, start_wall_ns = began_ns, rate = result.plan.rate,
    options = shared_options(known, result.options)}
  results.add_kinds(s.kinds, result)
  if not run.left_out then
    figures:add_of_run(result.plan.percents, s.kinds)
    add_facts(s, result.options, result.fact_list)
  end
  for i, figure in ipairs(figures) do run.value[i] = result:value(figure.text) end
  s.runs[#s.runs + 1] = run
end

-- Reads a file, which has to be a result, or all results of a folder (results.find), of which other
-- documents are passed over; at least one has to be a result.  Returns
--   path       the operand
--   runs       a list of {path =, left_out = why it does not count or nil, status =,
--              value = by number of the figure, nil: not measured, start_wall_ns =, rate =,
--              workload =, options = those that may make points}
--   n_counted  how many runs count
--   kinds      a set of the kinds of events that its runs tell apart
--   options, facts   the values of all runs that count, by name: {list =, has =, more =}
--   first      nil, or of the first run that counts: option = by name, names = sorted, facts = the
--              list, fact = a set of the names
function side.read(path, figures)
  local files, is_folder = native.check(results.find(path))
  local s, known = {path = path, runs = {}, n_counted = 0, options = {}, facts = {}, kinds = {}}, {}
  for _, file in ipairs(files) do
    local result, why = native.result(file, "totals")
    if result then
      add_run(s, file, result, figures, known)
      result:close()
    elseif result == nil or not is_folder then
      native.fail("%s", why)
    end
  end
  if #s.runs == 0 then native.fail("%s", results.none(path)) end
  for _, run in ipairs(s.runs) do s.n_counted = s.n_counted + (run.left_out and 0 or 1) end
  return s
end

-- Finds the points of the runs of A and, after them, of B; options by which only the sides differ
-- make none.
function side.points(a, b)
  local runs, sides = {}, {}
  for i, s in ipairs{a, b} do
    for _, run in ipairs(s.runs) do
      runs[#runs + 1], sides[#sides + 1] = run, i
    end
  end
  return match.find(runs, sides)
end

side.no_values = new_values()

return side
