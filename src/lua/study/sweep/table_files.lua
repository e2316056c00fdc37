-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes the table of a sweep as documents: table.json and table.csv.  The table that
-- is printed has its columns in report.lua.
--
--   {"format": "bench sweep table", "version": 1,
--    "command": [TEXT],             the command line of the run, without secrets
--    "repeat": N, "seed": N,
--    "vary": [{"option": NAME, "values": [TEXT]}],   in the order of the command line
--    "rate": NAME,                  what "rate" is: "transactions_per_s" or "events_per_s"; null:
--                                   no run has ended well
--    "points": [POINT],             all of them; the first option changes slowest
--    "best": N,                     index of the point with the highest median of rate of those
--                                   without a failed run; null: none
--    "within_noise": [N],           points that cannot be told from it; null: not known
--    "usl": [FIT]}                  over "threads"; empty: fewer than 4 values were measured
--
-- A POINT is one combination of values:
--
--   {"values": {NAME: TEXT},
--    "state": TEXT,                 "measured": at least one run ended well; "failed": none of its
--                                   runs did; "left out": by --stop-when, before its first run;
--                                   "pending": its first run has not been made
--    "n": N, "failed": N, "left_out": N,   of its runs
--    "stops": BOOL,                 --stop-when holds for the median of its runs
--    "runs": [TEXT],                files of those that ended well, below DIR, in the order of the
--                                   values: "runs/0007.json"
--    "figures": {NAME: FIGURE}}
--
-- The names are "rate", "p50_s", "p95_s", "p99_s", and those of the columns of csv-total
-- (measure/row.h) that are figures of the total: "avg_s", "errors_per_s"; and those that only one
-- kind of test has, with the prefix "test_": "test_ns_per_load".  Units are in the names; "rate" is
-- in 1/s.
-- A FIGURE is of the runs that ended well:
--
--   {"n": N, "median": X, "min": X, "max": X, "values": [X]}   null in "values": not measured
--
-- A FIT is of the points that differ in "threads" alone:
--
--   {"values": {NAME: TEXT},        what those points have in common
--    "n": N, "threads": [X], "rate": [X],   what was fitted: medians
--    "gamma": BOUND, "alpha": BOUND, "beta": BOUND,
--    "peak": {"threads": BOUND, "rate": X},   null: the fit has no peak
--    "r_squared": X}
--
-- A BOUND is {"value": X, "low": X, "high": X}, the limits being those of the 95 % confidence
-- interval; null: there is none.

local document = require("study.document")
local folder = require("study.sweep.folder")
local native = require("study.native")

local tables = {}

local real = document.real

-- Returns the values of a point, but for an axis that may be nil.
local function values_of(grid, point, without)
  local map = document.map()
  for i, axis in ipairs(grid) do
    if i ~= without then document.set(map, axis.name, grid:shown(point, i)) end
  end
  return map
end

-- Returns the "state" of a POINT.
local function state_of(seen)
  if seen.done > 0 then return "measured" end
  if seen.failed > 0 then return "failed" end
  return seen["left out"] > 0 and "left out" or "pending"
end

-- Returns a figure over the runs of a point that are done, a list of their numbers; nil if no run
-- has it.  The value of a run without it is null.
local function figure_of(tally, point, name, done)
  local spread = tally:spread(point, name)
  if not spread then return nil end
  local values = document.list{}
  for i, run in ipairs(done) do values[i] = real(tally:value(run, name)) end
  return document.map{
    {"n", spread.n}, {"median", real(spread.median)}, {"min", real(spread.min)},
    {"max", real(spread.max)}, {"values", values}}
end

-- Returns a point of the grid as the table has it.
local function point_of(tally, point)
  local seen, done = tally:look(point), {}
  local names, figures = document.list{}, document.map()
  for _, i in ipairs(tally.runs_of[point]) do
    if tally.runs[i].state == "done" then
      done[#done + 1] = i
      names[#names + 1] = folder.run_name(i, "json")
    end
  end
  for _, name in ipairs(tally.names) do
    local figure = figure_of(tally, point, name, done)
    if figure then document.set(figures, name, figure) end
  end
  return document.map{
    {"values", values_of(tally.grid, point)}, {"state", state_of(seen)}, {"n", seen.done},
    {"failed", seen.failed}, {"left_out", seen["left out"]}, {"stops", seen.stops},
    {"runs", names}, {"figures", figures}}
end

local function reals(numbers)
  local list = document.list{}
  for i, number in ipairs(numbers) do list[i] = real(number) end
  return list
end

local function bound_of(bound)
  return document.map{
    {"value", real(bound.value)}, {"low", real(bound.low)}, {"high", real(bound.high)}}
end

-- Returns a FIT.  axis: that of threads.
local function fit_of(grid, axis, fit)
  local law = fit.law
  return document.map{
    {"values", values_of(grid, fit.point, axis)}, {"n", #fit.threads},
    {"threads", reals(fit.threads)}, {"rate", reals(fit.rate)},
    {"gamma", bound_of(law.gamma)}, {"alpha", bound_of(law.alpha)}, {"beta", bound_of(law.beta)},
    {"peak", law.peak and document.map{
      {"threads", bound_of(law.peak)}, {"rate", real(law.peak_rate)}} or document.null},
    {"r_squared", real(law.r_squared)}}
end

-- The sweep has options, command, tally, seed, fits and axis, which is that of threads.
function tables.document(sweep)
  local tally, grid = sweep.tally, sweep.tally.grid
  local vary, points, laws = document.list{}, document.list{}, document.list{}
  for i, axis in ipairs(grid) do
    vary[i] = document.map{{"option", axis.name}, {"values", document.list{unpack(axis.shown)}}}
  end
  local best = tally:best()
  local rivals = best and tally:rivals(best)
  for point = 0, grid.points - 1 do points[point + 1] = point_of(tally, point) end
  for i, fit in ipairs(sweep.fits) do laws[i] = fit_of(grid, sweep.axis, fit) end
  return document.map{
    {"format", "bench sweep table"}, {"version", 1},
    {"command", document.list(sweep.command:shown())},
    {"repeat", sweep.options["repeat"]}, {"seed", sweep.seed}, {"vary", vary},
    {"rate", tally.rate or document.null}, {"points", points},
    {"best", best or document.null},
    {"within_noise", rivals and document.list(rivals) or document.null}, {"usl", laws}}
end

-- Returns a cell of CSV.  A value that a reader would split is quoted (RFC 4180), and one that a
-- spreadsheet would compute is not a formula any more, as in csv-total (report/rows/line.c).
local function quoted(text)
  text = native.escape(text)
  if text:find("^[=+%-@]") and not native.number(text) then text = "'" .. text end
  if not text:find('[,"\r\n]') then return text end
  return '"' .. text:gsub('"', '""') .. '"'
end

-- Returns whether table.csv has the figure; table.json has all.  of_group has the names of the
-- groups of which an option is varied.
local function is_column(name, of_group)
  local figure, group = name:match("^(.-)@group:(.*)$")
  if figure then
    return of_group[group] and (figure == "events_per_s" or figure == "avg_s"
      or figure:find("^p[%d.]+_s$"))
  end
  return name == "rate" or name == "avg_s" or name == "errors_per_s" or name:find("^test_")
    or name:find("^p[%d.]+_s$")
end

-- Returns a row for each point: the values, the numbers of runs, and of the rate, the mean latency,
-- the percentiles and errors_per_s the median, the least and the largest value; of a group of which
-- an option is varied the same but for the errors.
function tables.csv(tally)
  local grid, rows, columns = tally.grid, {}, {}
  local heading, of_group = {}, {}
  for _, group in ipairs(grid:groups()) do of_group[group] = true end
  for i, axis in ipairs(grid) do heading[i] = quoted(axis.name) end
  heading[#heading + 1] = "runs,failed,left_out"
  for _, name in ipairs(tally.names) do
    if is_column(name, of_group) then
      columns[#columns + 1] = name
      heading[#heading + 1] = ("%s_median,%s_min,%s_max"):format(name, name, name)
    end
  end
  rows[1] = table.concat(heading, ",")
  for point = 0, grid.points - 1 do
    local seen, cells = tally:look(point), {}
    for i in ipairs(grid) do cells[i] = quoted(grid:shown(point, i)) end
    cells[#cells + 1] = ("%d,%d,%d"):format(seen.done, seen.failed, seen["left out"])
    for _, name in ipairs(columns) do
      local spread = tally:spread(point, name)
      for _, member in ipairs{"median", "min", "max"} do
        cells[#cells + 1] = spread and native.shortest(spread[member]) or ""
      end
    end
    rows[#rows + 1] = table.concat(cells, ",")
  end
  return table.concat(rows, "\n") .. "\n"
end

return tables
