-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes charts of single runs (study.plot.run), one or several beside each other: over
-- time, and over quantiles.

local native = require("study.native")
local run = require("study.plot.run")

local runs = {}

-- Returns "median", "p99.9" or "maximum".
local function rank_name(rank)
  if rank >= 100 then return "maximum" end
  if rank <= 50 then return "median" end
  return "p" .. native.shortest(rank)
end

local function base_of(file)
  return file:match("[^/]*$")
end

-- Returns the name of the file without ".json", with its folder if another file has the same name.
-- A run alone has none.
local function run_name(all, number)
  if #all == 1 then return "" end
  local file = all[number].file
  local name = base_of(file)
  for i, other in ipairs(all) do
    if i ~= number and base_of(other.file) == base_of(file) then name = file end
  end
  return name:match("^(.+)%.json$") or name
end

-- Over time -------------------------------------------------------------------------------------

local function line_of(name, colour, at_s, values)
  local line = {name = name, look = "line", colour = colour}
  for i, at in ipairs(at_s) do line[i] = {x = at, y = values[i]} end
  return line
end

-- Returns the rate over time, with a line for each run.  Only if all runs count transactions are
-- these shown, because transactions and events cannot be compared.
local function rates_panel(all)
  local is_sql, lines = true, {}
  for _, one in ipairs(all) do is_sql = is_sql and one.is_sql end
  for i, one in ipairs(all) do
    local rates = is_sql and one.series.transactions_per_s or one.series.events_per_s
    lines[i] = line_of(run_name(all, i), i - 1, one.series.at_s, rates)
  end
  return {
    title = is_sql and "Throughput (transactions/s)" or "Throughput (events/s)", y = "rate",
    series = lines,
  }
end

local rank_colours, vermillion = {2, 0, 3, 4}, 1

-- Returns the latencies of one run.  The maximum is on top, as in the picture.
local function ranks_panel(one)
  local lines = {}
  for i = #one.ranks, 1, -1 do
    local colour = i < #one.ranks and rank_colours[i] or vermillion
    lines[#lines + 1] = line_of(
      rank_name(one.ranks[i]), colour, one.series.at_s, one.series.latency_s[i])
  end
  return {title = "Latency", y = "seconds", series = lines}
end

-- Returns the place of a rank among those of a run; nil: the run does not have it.
local function place_of(one, rank)
  for i, known in ipairs(one.ranks) do
    if known == rank then return i end
  end
end

local function all_know(all, rank)
  for _, one in ipairs(all) do
    if not place_of(one, rank) then return false end
  end
  return true
end

-- Returns the first of the ranks that people ask for that all runs know, or else the greatest one
-- above the median; all know the maximum.
local function common_rank(all)
  for _, rank in ipairs(run.asked) do
    if all_know(all, rank) then return rank end
  end
  local greatest = 100
  for _, rank in ipairs(all[1].ranks) do
    local is_greater = greatest == 100 or rank > greatest
    if rank > 50 and rank < 100 and is_greater and all_know(all, rank) then greatest = rank end
  end
  return greatest
end

-- Returns the latency over time at one rank that all runs know, with a line for each run.
local function common_panel(all)
  local rank, lines = common_rank(all), {}
  for i, one in ipairs(all) do
    lines[i] = line_of(
      run_name(all, i), i - 1, one.series.at_s, one.series.latency_s[place_of(one, rank)])
  end
  return {title = "Latency, " .. rank_name(rank), y = "seconds", series = lines}
end

-- Returns a chart of rate and latency by interval; or nil and a message: a run has no intervals.
function runs.over_time(all)
  for _, one in ipairs(all) do
    if one.n_intervals == 0 then
      return nil, ("'%s' has no intervals to draw over time; make the result with "
        .. "--report-interval=1"):format(one.file)
    end
  end
  local chart = {x = "time", x_title = "Time", marks = {}}
  run.set_headings(chart, all)
  chart.panels = {rates_panel(all), #all == 1 and ranks_panel(all[1]) or common_panel(all)}
  return chart
end

-- Over quantiles --------------------------------------------------------------------------------

-- Returns a chart of latency by quantile; or nil and a message: a run has no histogram.
function runs.over_quantiles(all)
  local lines = {}
  for i, one in ipairs(all) do
    if not one.curve then
      return nil, ("'%s' has no latency histogram: the run measured no event, or had "
        .. "--report-bins=none"):format(one.file)
    end
    lines[i] = {name = run_name(all, i), look = "steps", colour = i - 1}
    for k, point in ipairs(one.curve) do lines[i][k] = point end
  end
  local chart = {
    x = "rank", x_title = "Percentile", marks = {},
    panels = {{title = "Latency", y = "seconds", series = lines}},
  }
  run.set_headings(chart, all)
  return chart
end

return runs
