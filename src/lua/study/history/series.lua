-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module reads stored results as series: runs of the same test with the same options, in the
-- order of time.  It keeps of each result what a series needs.

local native = require("study.native")
local match = require("study.match")
local results = require("study.results")

local series = {}
series.__index = series

-- Facts that may explain a change.
series.facts = {
  {name = "bench version", section = "program", key = "version"},
  {name = "server version", section = "database", key = "server_version"},
  {name = "host", section = "host", key = "name"},
  {name = "processor", section = "host", key = "cpu_model"},
  {name = "kernel", section = "host", key = "kernel"},
  {name = "distribution", section = "host", key = "distribution"},
}

-- Results -----------------------------------------------------------------------------------------

local sentences = {
  killed = "is the result of a run that was killed",
  signal = "is the result of a run that a signal ended",
  failed = "is the result of a run that failed",
  nothing = "is the result of a run that measured nothing",
}

-- Returns what keeps a result out of each series, or nil.
local function fault_of(result)
  local fault = results.fault(result, true)
  if fault then return sentences[fault] end
  if result.start_wall_ns == 0 then return "does not say when the run began" end
end

-- Returns the labels of a run (--label) by their names.
local function labels_of(result)
  local labels = {}
  for key, value in pairs(result.facts.labels or {}) do labels[key] = tostring(value) end
  return labels
end

-- Returns the texts of series.facts by their numbers; nil: the result does not have the fact.
local function facts_of(result)
  local found = {}
  for i, fact in ipairs(series.facts) do
    local text = (result.facts[fact.section] or {})[fact.key]
    found[i] = type(text) == "string" and text or nil
  end
  return found
end

-- Returns the values of the metrics by their numbers; nil: not measured, or infinite.
local function values_of(result, metrics)
  local values = {}
  for i, metric in ipairs(metrics) do
    local value = result:value(metric.text)
    values[i] = value and math.abs(value) < math.huge and value or nil
  end
  return values
end

-- Returns a name with which options are the same that '-' and '_' alone tell apart.
local function common_name(name)
  return (name:gsub("_", "-"))
end

-- Notes that a run has the option, and returns true, if a name is to be ignored.
function series:ignores(name)
  self.met[name] = self.met[name] or self.ignored[name]
  return self.ignored[name]
end

-- Returns what makes the point of a run: {workload =, options = those that make points and are not
-- ignored}.  Options of a group are ignored by their name with that of the group and without it.
-- Runs of the same test and options share one, because there may be thousands.
function series:about(result)
  local options, words = {}, {result.workload}
  local function add(option)
    options[#options + 1] = option
    words[#words + 1] = option.name
    words[#words + 1] = option.value or "\0"
    words[#words + 1] = option.origin
  end
  for _, whole in ipairs(result.options) do
    local name = common_name(whole.name)
    for _, option in ipairs(self:ignores(name) and {} or match.parts(whole)) do
      local own = common_name(option.name)
      local is_ignored = self:ignores(own) or own ~= name and self:ignores(own:match("[^.]*$"))
      if not is_ignored and not match.ignore(option) then add(option) end
    end
  end
  local key = table.concat(words, "\0")
  if not self.about_of[key] then
    local about = {workload = result.workload, options = options, number = #self.abouts + 1}
    self.about_of[key], self.abouts[about.number] = about, about
  end
  return self.about_of[key]
end

function series:leave_out(path, why)
  self.left[#self.left + 1] = {path = path, why = why}
end

-- Adds the run of a file, or leaves the file out.  named: the user has named it, so that it has to
-- be a result.
function series:read_file(path, named)
  local result, why = native.result(path, "totals")
  if not result and named then native.fail("%s", why) end
  local fault = result and fault_of(result)
  if not result or fault then
    self:leave_out(path, fault and ("'%s' %s"):format(path, fault) or why)
  else
    self.runs[#self.runs + 1] = {
      path = path, start_wall_ns = result.start_wall_ns, about = self:about(result),
      facts = facts_of(result), labels = labels_of(result),
      values = values_of(result, self.metrics),
    }
    results.add_kinds(self.kinds, result)
  end
  if result then result:close() end
end

-- Series ------------------------------------------------------------------------------------------

local function is_before(a, b)
  if a.point ~= b.point then return a.point < b.point end
  if a.start_wall_ns ~= b.start_wall_ns then return a.start_wall_ns < b.start_wall_ns end
  return a.path < b.path
end

-- Divides the runs into series, one for each point, in the order of time.  Copies of a run, such as
-- files that were copied, are left out.
function series:part()
  self.points = match.find(self.abouts)
  for _, run in ipairs(self.runs) do run.point = self.points.of[run.about.number] end
  table.sort(self.runs, is_before)
  local before
  for _, run in ipairs(self.runs) do
    -- Clocks tell nanoseconds: two runs of a point do not begin in the same one.
    if before and run.point == before.point and run.start_wall_ns == before.start_wall_ns then
      self:leave_out(
        run.path, ("'%s' is a result of the same run as '%s'"):format(run.path, before.path))
    else
      self[run.point] = self[run.point] or {test = run.about.workload, point = run.point, runs = {}}
      table.insert(self[run.point].runs, run)
      before = run
    end
  end
end

-- Reads files, and of each folder the *.json in it and in its folder "runs".  A file of a folder
-- that is no result is left out, and so is each run that failed, measured nothing, has no time, or
-- is there twice.  metrics: figures (native.figure); ignored: names of options that make no series
-- of their own.  Returns
--
--   {[i] = {test =, point =, runs = {{path =, start_wall_ns =, about =, point =,
--                                     facts = {[k] = of series.facts, nil: not known},
--                                     labels = {NAME = TEXT},
--                                     values = {[k] = of metric k, nil: not measured}}, …}},
--    metrics =, left = {{path =, why = a sentence with the path}, …}, points = of study.match,
--    met = {NAME = true: a run has the ignored option}}
function series.read(operands, metrics, ignored)
  local self = setmetatable({
    metrics = metrics, ignored = {}, met = {}, runs = {}, left = {}, abouts = {}, about_of = {},
    kinds = {},
  }, series)
  for _, name in ipairs(ignored) do self.ignored[common_name(name)] = true end
  for _, operand in ipairs(operands) do
    local files, is_folder = native.check(results.find(operand))
    for _, path in ipairs(files) do self:read_file(path, not is_folder) end
  end
  if #self.runs > 0 then self:part() end
  return self
end

-- Returns whether a run has an option that was ignored.
function series:has_met(name)
  return self.met[common_name(name)]
end

-- Returns a list of the facts that two runs know differently: {name =, before =, after =}.
function series.changed_facts(before, after)
  local changed = {}
  for i, fact in ipairs(series.facts) do
    local was, is = before.facts[i], after.facts[i]
    if was and is and was ~= is then
      changed[#changed + 1] = {name = fact.name, before = was, after = is}
    end
  end
  local keys = {}
  for key, is in pairs(after.labels) do
    if before.labels[key] and before.labels[key] ~= is then keys[#keys + 1] = key end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    changed[#changed + 1] = {
      name = "label " .. key, before = before.labels[key], after = after.labels[key]}
  end
  return changed
end

-- Names -------------------------------------------------------------------------------------------

-- Returns the test, with " --NAME=VALUE" for each option by which the series differ or, if `all`,
-- for each that was given and makes points.  It quotes files.
function series:name(one, all)
  local words, test = {one.test}, "test"
  if all then
    for _, option in ipairs(one.runs[#one.runs].about.options) do
      if option.origin ~= "default" and option.value then
        words[#words + 1] = ("--%s=%s"):format(option.name, option.value)
      end
    end
  else
    for i, option in ipairs(self.points.options) do
      local value = self.points.value(one.point, i)
      -- The test itself is named first.
      if value ~= "" and option ~= test then
        words[#words + 1] = ("--%s=%s"):format(option, value)
      end
    end
  end
  return table.concat(words, " ")
end

return series
