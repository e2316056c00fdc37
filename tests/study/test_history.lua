-- SPDX-License-Identifier: GPL-2.0-or-later
-- Series of a history: which runs belong together and in which order; and which way trends turn.

local document = require("study.document")
local native = require("study.native")
local series = require("study.history.series")
local t = require("tests")
local trend = require("study.history.trend")

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local rate = native.figure("rate")

-- Saves a document of version 1 as one of another start and other options, and returns its path.
local function save(folder, name, start_ns, options)
  local result = assert(document.read(here .. "../store/v1-cpu.json"))
  result.facts.times.start_wall_ns = start_ns
  for _, option in ipairs(result.facts.options) do
    option.value = options[option.name] or option.value
  end
  local path = folder .. "/" .. name .. ".json"
  assert(native.replace(path, document.print(result)))
  return path
end

local function names_of(one, folder)
  local names = {}
  for i, run in ipairs(one.runs) do names[i] = run.path:sub(#folder + 2, -6) end
  return names
end

-- Makes a series of runs with these values of one metric; false: not measured.
local function made_up(values)
  local one = {runs = {}}
  for i, value in ipairs(values) do one.runs[i] = {values = {value or nil}} end
  return one
end

local function repeated(value, n, list)
  for _ = 1, n do list[#list + 1] = value + #list % 2 end
  return list
end

return {
  ["runs are parted by their options, in the order of time"] = function()
    local folder = native.temp_folder()
    save(folder, "a", 3, {})
    save(folder, "b", 2, {threads = "4"})
    save(folder, "c", 1, {["rand-seed"] = "77"})
    save(folder, "d", 3, {})
    local set = series.read({folder}, {rate}, {})
    t.equal(#set, 2)
    t.equal(names_of(set[1], folder), {"c", "a"})
    t.equal(names_of(set[2], folder), {"b"})
    t.equal({set:name(set[1]), set:name(set[2])}, {"cpu --threads=2", "cpu --threads=4"})
    t.equal(set.left, {{path = folder .. "/d.json",
      why = ("'%s/d.json' is a result of the same run as '%s/a.json'"):format(folder, folder)}})
  end,
  ["ignored options part no runs"] = function()
    local folder = native.temp_folder()
    save(folder, "a", 1, {})
    save(folder, "b", 2, {threads = "4"})
    local set = series.read({folder}, {rate}, {"threads", "no_option", "threads"})
    t.equal(#set, 1)
    t.equal(names_of(set[1], folder), {"a", "b"})
    t.ok(set:has_met("threads") and not set:has_met("no-option"))
  end,
  ["names with '-' and '_' are the same"] = function()
    local folder = native.temp_folder()
    save(folder, "a", 1, {["cpu-max-prime"] = "10"})
    local set = series.read({folder}, {rate}, {"cpu_max_prime"})
    t.ok(set:has_met("cpu-max-prime"))
  end,
  ["a shift parts a trend, and has a way"] = function()
    local values = repeated(100, 20, {false})
    repeated(110, 10, values)
    local found = trend.find(rate, 1, made_up(values))
    t.equal({found.unmeasured, #found.runs, #found.segments}, {1, 30, 2})
    t.equal({found.changes[1].at, found.segments[1].n, found.segments[2].n}, {21, 20, 10})
    t.equal({found.segments[1].median, found.segments[2].median}, {100.5, 110.5})
    t.close(found.segments[1].deviation, math.sqrt(20 * 0.25 / 19))
    t.close(found:difference(1), (110.5 / 100.5 - 1) * 100)
    t.equal(found:turn(1), "better")
    t.ok(not found:is_regression(1000))
    local less = trend.find(native.figure("avg"), 1, made_up(values))
    t.equal(less:turn(1), "worse")
    t.ok(less:is_regression(10) and not less:is_regression(9))
    t.equal(trend.find(native.figure("events"), 1, made_up(values)):turn(1), "changed")
  end,
  ["of too many runs the oldest are left out"] = function()
    local values = {}
    for i = 1, 2003 do values[i] = i <= 3 and 1e6 or 5 end
    local found = trend.find(rate, 1, made_up(values))
    t.equal({found.too_old, #found.runs, #found.changes}, {3, 2000, 0})
    t.equal({found.segments[1].median, found.segments[1].deviation}, {5, 0})
  end,
  ["a trend without values has no segment"] = function()
    local found = trend.find(rate, 1, made_up{false, false})
    t.equal({found.unmeasured, #found.segments, #found.changes}, {2, 0, 0})
  end,
}
