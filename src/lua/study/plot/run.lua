-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module takes from a result what pictures need: intervals, the percentile curve, and what was
-- run.  It copies, so that many large results need not be in memory together.

local axis = require("study.plot.axis")
local columns = require("study.columns")

local run = {}

-- The description of a run ----------------------------------------------------------------------

-- Returns a fact that is a text; nil: it is none, because results may come from anywhere.
local function text_of(value)
  return type(value) == "string" and value or nil
end

local function counted(n, what)
  return ("%d %s%s"):format(n, what, n == 1 and "" or "s")
end

-- Returns the driver with the version of the server, or else of the client; nil: there is no
-- driver.
local function database_of(facts)
  local driver = text_of(facts.driver)
  local version = text_of(facts.server_version) or text_of(facts.client_version)
  return driver and version and driver .. " " .. version or driver
end

local function program_of(facts)
  local name, version = text_of(facts.name), text_of(facts.version)
  return name and version and name .. " " .. version
end

-- Returns the processor, with the number of processors if it is known; nil: the processor is not
-- known.
local function host_of(facts)
  local processor, n = text_of(facts.cpu_model), tonumber(facts.processors_online)
  if processor and n and n % 1 == 0 then
    return ("%s (%s)"):format(processor, counted(n, "processor"))
  end
  return processor
end

-- Parts of the headings; the first ones are of the title, the others of the note.
local parts = {"workload", "database", "threads", "rate", "program", "host", "date"}
local n_title = 4

-- Returns the parts of the headings by their names; nil: the result does not say so.
local function tell(result)
  local facts, plan = result.facts, result.plan
  return {
    workload = result.workload,
    database = database_of(facts.database or {}),
    threads = counted(plan.threads, "thread"),
    rate = plan.rate > 0 and ("%g events/s asked for"):format(plan.rate) or nil,
    program = program_of(facts.program or {}),
    host = host_of(facts.host or {}),
    date = result.start_wall_ns > 0 and columns.time(result.start_wall_ns) .. " UTC" or nil,
  }
end

-- Returns the text of a part if all runs have the same one.
local function common_part(runs, part)
  local text = runs[1].told[part]
  for _, one in ipairs(runs) do
    if one.told[part] ~= text then return nil end
  end
  return text ~= "" and text or nil
end

-- Titles a chart by what all runs, one or more, have in common.
function run.set_headings(chart, runs)
  local title, note = {}, {}
  for i, part in ipairs(parts) do
    local to = i <= n_title and title or note
    to[#to + 1] = common_part(runs, part)
  end
  chart.title = #title > 0 and table.concat(title, ", ") or ("%d results"):format(#runs)
  chart.note = table.concat(note, ", ")
end

-- Intervals -------------------------------------------------------------------------------------

local ranks_max = 5
run.asked = {99, 95, 99.9, 90}  -- those that people ask for come first

-- Returns the ranks of latencies over time, ascending, from the median to the maximum, which is
-- 100. If the intervals have histograms, every percentile is known.
local function choose_ranks(result)
  local ranks, percents = {50, 100}, {}
  for _, percent in ipairs(result.plan.percents) do percents[percent] = true end
  local function add(rank)
    for _, other in ipairs(ranks) do
      if other == rank then return end
    end
    if #ranks < ranks_max and rank > 50 and rank < 100 then ranks[#ranks + 1] = rank end
  end
  for _, rank in ipairs(run.asked) do
    if result:is_packed() or percents[rank] then add(rank) end
  end
  for _, percent in ipairs(result.plan.percents) do add(percent) end
  table.sort(ranks)
  return ranks
end

-- The percentile curve --------------------------------------------------------------------------

local curve_step = 0.004  -- decades between points, which are a pixel or two

-- Returns points of latency over 1 / (1 - q), or nil: there is no histogram with an event.
local function curve_of(result)
  local buckets = result:buckets()
  if not buckets then return nil end
  local curve, all, before, last_y = {}, 0, 0, nil
  for _, count in ipairs(buckets.count) do all = all + count end
  for i, s in ipairs(buckets.s) do
    -- Quantiles above before / all, up to where the next bucket begins, have the value of this one.
    local x = all / (all - before)
    before = before + buckets.count[i]
    if s < math.huge then
      last_y = math.min(s, buckets.max_s)
      if #curve == 0 or math.log10(x / curve[#curve].x) >= curve_step then
        curve[#curve + 1] = {x = x, y = last_y}
      end
    end
  end
  if #curve == 0 then return nil end
  -- The last value holds for the rest; where there are few, as far as the axis goes.
  curve[#curve + 1] = {x = math.max(all, axis.rank_least), y = last_y}
  return curve
end

-- The whole -------------------------------------------------------------------------------------

-- Returns what the headings need of a result: {file =, told =}.
function run.head(file, result)
  return {file = file, told = tell(result)}
end

-- Returns that and all that is drawn:
--   is_sql = transactions are counted,
--   ranks = {50, …, 100}, series = what r:series(ranks) returns, n_intervals =,
--   curve = {{x =, y =}, …}; nil: there is no histogram
function run.read(file, result)
  local self = run.head(file, result)
  self.is_sql = result.kind == "sql"
  self.ranks = choose_ranks(result)
  self.series = result:series(self.ranks)
  self.n_intervals = #self.series.at_s
  self.curve = curve_of(result)
  return self
end

return run
