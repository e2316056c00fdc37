-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module tells which of several results are repeats of the same point of a study, and by which
-- options the points differ.
--
-- Options that say what is reported, how numbers are drawn or where files are do not make points:
-- --report, --percentile, --rand-seed, --sqlite-db and so on.  Secrets are not looked at.  Each
-- group of --group makes points by its own options, such as "pay.rate", and by its workloads.

local invocation = require("study.invocation")
local native = require("study.native")

local match = {}

-- The name of the test takes the place of the option of 0.5.
local test = "test"

-- Returns whether the option of a result makes no points.
function match.ignore(option)
  local traits = option.traits
  return traits.output_only or traits.observes or traits.figures_only or traits.repeat_only
    or traits.place or option.secret or option.name == test
end

-- Returns an option of a result as a list: of --group the workloads and the own options of each
-- group, each as an option such as "group:pay" or "pay.rate", in the order of their names; of
-- another one itself.
function match.parts(option)
  if option.name ~= "group" or (option.value or "") == "" then return {option} end
  local parts = {}
  local function add(name, value, traits)
    parts[#parts + 1] = {name = name, value = value, origin = option.origin, traits = traits}
  end
  for _, group in ipairs(invocation.groups{"--group=" .. option.value}) do
    add("group:" .. group.name, group.workloads, option.traits)
    for name, value in pairs(group.own) do
      add(group.name .. "." .. name, value, native.traits(name))
    end
  end
  table.sort(parts, function(a, b) return a.name < b.name end)
  return parts
end

-- Returns the sorted names of options, and by name the value of each result; of several in one
-- result the last.  A result without the option is of a program that did not know it, and did what
-- the default does: "" if none is known.
local function gather(results)
  local names, values, absent = {}, {}, {}
  local function add(name, i, value)
    if not values[name] then
      names[#names + 1], values[name] = name, {}
    end
    values[name][i] = value or ""
  end
  for i, result in ipairs(results) do
    for _, whole in ipairs(result.options) do
      for _, option in ipairs(match.parts(whole)) do
        if not match.ignore(option) then
          add(option.name, i, option.value)
          if option.origin == "default" then absent[option.name] = option.value end
        end
      end
    end
    add(test, i, result.workload)
  end
  table.sort(names)
  for name, value in pairs(values) do
    for i = 1, #results do value[i] = value[i] or absent[name] or "" end
  end
  return names, values
end

-- Returns whether two results of one side have different values.
local function differs(value, sides)
  local last = {}
  for i, text in ipairs(value) do
    local side = sides and sides[i] or 1
    if last[side] and last[side] ~= text then return true end
    last[side] = text
  end
  return false
end

-- Orders numbers and sizes by size, before other texts.
local function compare_values(a, b)
  if a == b then return 0 end
  local x, y = native.number(a), native.number(b)
  if x and y and x ~= y then return x < y and -1 or 1 end
  if (x == nil) ~= (y == nil) then return x and -1 or 1 end
  return a < b and -1 or 1
end

-- Returns whether result i comes before k (-1), after it (1) or is of the same point (0), by the
-- options in their order.
local function compare_results(columns, i, k)
  for _, value in ipairs(columns) do
    local order = compare_values(value[i], value[k])
    if order ~= 0 then return order end
  end
  return 0
end

-- Finds the points of results {options =, workload =}.  sides has for each result which of several
-- collections it is of: an option has to differ within one of them to make points, because their
-- own difference is what is looked for; nil: one collection.  Returns
--   options                the names of those by which points differ; "test" for the test's
--   of                     for each result the number of its point
--   n                      how many points there are, in the order of their values
--   value(point, option)   the value of the option of that number, as typed
--   name(point)            "threads=16 table-size=1000", escaped; "" if there is one point only
function match.find(results, sides)
  local names, values = gather(results)
  local found, columns, order, first = {options = {}, of = {}, n = 0}, {}, {}, {}
  for _, name in ipairs(names) do
    if differs(values[name], sides) then
      found.options[#found.options + 1] = name
      columns[#columns + 1] = values[name]
    end
  end
  for i = 1, #results do order[i] = i end
  table.sort(order, function(i, k)
    return compare_results(columns, i, k) < 0
  end)
  for at, i in ipairs(order) do
    if at == 1 or compare_results(columns, order[at - 1], i) ~= 0 then
      found.n = found.n + 1
      first[found.n] = i
    end
    found.of[i] = found.n
  end
  function found.value(point, option)
    return columns[option][first[point]]
  end
  function found.name(point)
    local parts = {}
    for option, name in ipairs(found.options) do
      parts[option] = ("%s=%s"):format(
        native.escape(name, 256), native.escape(found.value(point, option), 256))
    end
    return table.concat(parts, " ")
  end
  return found
end

return match
