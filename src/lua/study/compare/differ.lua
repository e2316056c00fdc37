-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module tells what two sides of a comparison differ in besides what was measured: facts about
-- the program, the workload, the host and the server, and options that do not make points.

local columns = require("study.columns")
local document = require("study.document")
local side = require("study.compare.side")

local differ = {}

-- Values are compared whole, and the begin of each is shown.
local value_bytes = 199

-- These sections have what was seen in the run, and where its result is.
local outcome = {
  merge = true, error_classes = true, error_messages = true, document = true, process = true,
  thread_errors = true, thread_error_seconds = true, hosts = true}

-- Returns whether both sets have the same values in any order.  Of large sets only the first values
-- are known, and are compared (study.compare.side).
local function same_values(a, b)
  for _, text in ipairs(a.list) do
    if not b.has[text] then return false end
  end
  return #a.list == #b.list and a.more == b.more
end

-- Returns the values with commas between them, "none" for an empty one; "not known" if there are no
-- values.
local function joined(values)
  local parts = {}
  for i, text in ipairs(values.list) do
    parts[i] = text ~= "" and text:sub(1, value_bytes) or "none"
  end
  if values.more then parts[#parts + 1] = "..." end
  return #parts > 0 and table.concat(parts, ", ") or "not known"
end

-- Adds the values of both sides if they differ.  nil: a side has no value of that name.
local function add_difference(found, name, a, b)
  a, b = a or side.no_values, b or side.no_values
  if not same_values(a, b) then
    found[#found + 1] = {name = name, a = joined(a), b = joined(b)}
  end
end

-- Adds options of the first side's run that the other side has or that were set: an option that
-- only one of two programs knows, and that was not set, makes no difference.
local function add_options(found, a, b, points, from, other)
  local made = {}
  for _, name in ipairs(points.options) do made[name] = true end
  for _, name in ipairs(from.first and from.first.names or {}) do
    local o, known = from.first.option[name], other.first and other.first.option[name]
    local is_said = from == b and known
    local is_ignored = o.traits.output_only or o.traits.repeat_only or o.secret or made[name]
    if other.first and not is_said and not is_ignored and (known or o.origin ~= "default") then
      add_difference(found, "--" .. name, a.options[name], b.options[name])
    end
  end
end

-- Returns whether a value of each side is within a tenth of one of the other: runs that write make
-- tables larger.
local function is_near(a, b)
  for _, x in ipairs(a and a.list or {}) do
    for _, y in ipairs(b and b.list or {}) do
      local small, large = tonumber(x), tonumber(y)
      if small and large and math.abs(large - small) <= 0.1 * math.max(small, large) then
        return true
      end
    end
  end
  return false
end

-- Adds facts that the first run of `from` has and in which the sides differ.  Facts that A has too
-- were added before, and sizes of data that are nearly the same are left out.
local function add_facts(found, a, b, from)
  for _, fact in ipairs(from.first and from.first.facts or {}) do
    local is_said = from == b and a.first and a.first.fact[fact.name]
      or fact.section == "data" and is_near(a.facts[fact.name], b.facts[fact.name])
    if not outcome[fact.section] and not is_said then
      add_difference(found, fact.name, a.facts[fact.name], b.facts[fact.name])
    end
  end
end

-- Returns a list of {name = "host cpu_model" or "--table-size", a =, b = the values, with commas
-- between them}.  Runs that are left out do not count.
function differ.find(a, b, points)
  local found = {}
  add_options(found, a, b, points, a, b)
  add_options(found, a, b, points, b, a)
  add_facts(found, a, b, a)
  add_facts(found, a, b, b)
  return found
end

-- Returns them as lines for a terminal, or as a table of Markdown; "" if there are none.
function differ.text(found, markdown)
  if #found == 0 then return "" end
  local form = markdown and "| %s | %s | %s |\n" or "  %s: %s in A, %s in B\n"
  local lines = {markdown and "\n| differs | A | B |\n|---|---|---|\n" or "\nDiffers:\n"}
  for _, d in ipairs(found) do
    lines[#lines + 1] = form:format(columns.quote(d.name, markdown), columns.quote(d.a, markdown),
      columns.quote(d.b, markdown))
  end
  return table.concat(lines)
end

-- Returns them as a list of a document.
function differ.document(found)
  local list = document.list{}
  for i, d in ipairs(found) do
    list[i] = document.map{{"name", d.name}, {"a", d.a}, {"b", d.b}}
  end
  return list
end

return differ
