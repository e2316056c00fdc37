-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module tells how two folders of `bench sweep --from=FILE` compare, sweep by sweep: two
-- machines, for example.
--
-- The score of a point is the median of a figure over the runs of the point.  The relative score is
-- that of B divided by that of A, or the other way round where less is better: more than 1 is
-- always better.  Scores of several points or sweeps have a geometric mean (Fleming and Wallace,
-- How not to lie with statistics: the correct way to summarize benchmark results, Communications of
-- the ACM 29, 1986): it is the same whichever side the scores are relative to.  Scores are not
-- tested: nothing is said about chance.

local columns = require("study.columns")
local differ = require("study.compare.differ")
local document = require("study.document")
local native = require("study.native")
local results = require("study.results")
local side = require("study.compare.side")
local stats = require("study.stats")

local real = document.real

local scores = {}

-- Folders -----------------------------------------------------------------------------------------

-- Returns whether a folder is that of a sweep.  It is none if its runs have all failed to leave a
-- result.
local function is_sweep(folder, name)
  local runs = folder .. "/" .. name .. "/runs"
  local files = native.kind(runs) == "folder" and results.find(runs)
  return files and #files > 0 or false
end

-- Returns the names of the sweeps of a folder, sorted; or nil and a message.
local function list_sweeps(folder)
  local names, why = native.list(folder)
  local sweeps = {}
  for _, name in ipairs(names or {}) do
    if name:sub(1, 1) ~= "." and is_sweep(folder, name) then sweeps[#sweeps + 1] = name end
  end
  return names and sweeps, why
end

-- Returns whether the folder has folders of sweeps, and no results of its own.
function scores.apply(folder)
  local files, is_folder = results.find(folder)
  if not files or not is_folder or #files > 0 then return false end
  local sweeps = list_sweeps(folder)
  return sweeps ~= nil and #sweeps > 0
end

-- Scores ------------------------------------------------------------------------------------------

-- Returns the scores of a side by the number of their points, and for each point with two runs or
-- more the difference between the largest and the least value as a share of the score.  before: how
-- many runs stand before those of the side.
local function scores_of(s, points, before)
  local values, score, spread = {}, {}, {}
  for i, run in ipairs(s.runs) do
    local value, point = run.value[1], points.of[before + i]
    if not run.left_out and value and value > 0 and value < math.huge then
      values[point] = values[point] or {}
      table.insert(values[point], value)
    end
  end
  for point, list in pairs(values) do
    table.sort(list)
    score[point] = stats.median(list)
    if #list > 1 then spread[point] = (list[#list] - list[1]) / score[point] end
  end
  return score, spread
end

-- Returns what the points have in common that both sides have measured: {name =, n_points =, a =
-- and b = the best of each side, best_a = and best_b = their points, first, last = relative scores
-- of the first and of the last point, best = of the best of each side, mean = geometric, over the
-- points, spread = the median over points and sides; nil: no point has two runs}.  Without points
-- there are the first two.
local function score_sweep(name, a, b, points, better)
  local score_a, spread_a = scores_of(a, points, 0)
  local score_b, spread_b = scores_of(b, points, #a.runs)
  local row, relative, spreads = {name = name}, {}, {}
  local is_less = better == "less"
  -- Returns the relative score of B, whose score is y, to A, whose score is x.
  local function relate(x, y)
    return is_less and x / y or y / x
  end
  local function take_best(member, point, score)
    local best = row[member]
    if not best or is_less and score < best or not is_less and score > best then
      row[member], row["best_" .. member] = score, points.name(point)
    end
  end
  for point = 1, points.n do
    local x, y = score_a[point], score_b[point]
    if x and y then
      take_best("a", point, x)
      take_best("b", point, y)
      relative[#relative + 1] = relate(x, y)
      spreads[#spreads + 1] = spread_a[point]
      spreads[#spreads + 1] = spread_b[point]
    end
  end
  row.n_points = #relative
  if #relative > 0 then
    row.first, row.last = relative[1], relative[#relative]
    row.best, row.mean = relate(row.a, row.b), stats.geometric_mean(relative)
    table.sort(spreads)
    row.spread = #spreads > 0 and stats.median(spreads) or nil
  end
  return row
end

-- Compares all sweeps of two folders by the first of the figures.  Returns {folders =, figure =,
-- rows =, only = for each folder the names of sweeps that the other does not have, differences = of
-- all sweeps, each once, n_scored = sweeps with points, mean = geometric, over those}.
function scores.make(folders, figures)
  local s = {
    folders = folders, figure = figures[1], rows = {}, only = {{}, {}}, differences = {}}
  local known, means = {}, {}
  -- Adds the row of a sweep that both folders have.  A difference between the sides that several
  -- sweeps show is added once.
  local function compare_sweep(name)
    local a = side.read(folders[1] .. "/" .. name, figures)
    local b = side.read(folders[2] .. "/" .. name, figures)
    local points = side.points(a, b)
    local row = score_sweep(name, a, b, points, s.figure.better)
    s.rows[#s.rows + 1], means[#means + 1] = row, row.mean
    for _, d in ipairs(differ.find(a, b, points)) do
      local key = table.concat({d.name, d.a, d.b}, "\n")
      if not known[key] then
        s.differences[#s.differences + 1], known[key] = d, true
      end
    end
  end
  for i, folder in ipairs(folders) do
    for _, name in ipairs((native.check(list_sweeps(folder)))) do
      if not is_sweep(folders[3 - i], name) then
        table.insert(s.only[i], name)
      elseif i == 1 then
        compare_sweep(name)
      end
    end
  end
  if #means == 0 then native.fail("the sweeps of the two folders have no point in common") end
  s.n_scored, s.mean = #means, stats.geometric_mean(means)
  return s
end

-- Forms -------------------------------------------------------------------------------------------

-- Returns the table of sweeps.  The best values are in the unit of the figure, the other scores are
-- ratios of B to A, and "-" is a score that is not known.
local function table_text(s, markdown)
  local t, unit, scale = columns.new("lrrrrrrrr"), s.figure.shown_unit, s.figure.scale
  unit = unit ~= "" and ", " .. unit or ""
  t:add("sweep", "points", "best A" .. unit, "best B" .. unit, "first", "best", "last", "mean",
    "spread, %")
  for _, row in ipairs(s.rows) do
    t:add(row.name, tostring(row.n_points), row.a and columns.number(row.a * scale) or "-",
      row.b and columns.number(row.b * scale) or "-")
    for _, name in ipairs{"first", "best", "last", "mean"} do
      t:add(row[name] and ("%.3f"):format(row[name]) or "-")
    end
    t:add(row.spread and ("%.1f"):format(100 * row.spread) or "-")
  end
  return t:text(markdown)
end

-- Returns a text for a terminal, or one in Markdown; all that stands in files is escaped.
function scores.text(s, markdown)
  local parts = {}
  local function add(form, ...)
    parts[#parts + 1] = form:format(...)
  end
  for i, folder in ipairs(s.folders) do
    add("%s%s: %s (%d sweeps)\n", markdown and "- " or "", ("AB"):sub(i, i),
      columns.quote(folder, markdown), #s.rows + #s.only[i])
  end
  add("%s", differ.text(s.differences, markdown))
  add("\nScores of B relative to A by %s, more than 1 is better:\n%s%s", s.figure.text,
    markdown and "\n" or "", table_text(s, markdown))
  for i, only in ipairs(s.only) do
    local names = {}
    for k, name in ipairs(only) do names[k] = columns.quote(name, markdown) end
    if #names > 0 then
      add("%sonly in %s: %s\n", markdown and "\n" or "", ("AB"):sub(i, i),
        table.concat(names, ", "))
    end
  end
  add("\nGeometric mean of %d sweep%s: %.3f\n", s.n_scored, s.n_scored == 1 and "" or "s", s.mean)
  return table.concat(parts)
end

local function row_document(row)
  return document.map{
    {"name", row.name}, {"points", row.n_points}, {"a", real(row.a)}, {"b", real(row.b)},
    {"best_a", row.best_a or document.null}, {"best_b", row.best_b or document.null},
    {"first", real(row.first)}, {"best", real(row.best)}, {"last", real(row.last)},
    {"mean", real(row.mean)}, {"spread", real(row.spread)}}
end

-- Returns the document "bench scores", version 1.  Values of a and b are in the unit of the metric.
function scores.document(s)
  local sides, rows = {}, document.list{}
  for i, folder in ipairs(s.folders) do
    sides[i] = document.map{{"path", folder}, {"only", document.list(s.only[i])}}
  end
  for i, row in ipairs(s.rows) do rows[i] = row_document(row) end
  return document.map{
    {"format", "bench scores"}, {"version", 1}, {"a", sides[1]}, {"b", sides[2]},
    {"differences", differ.document(s.differences)}, {"metric", s.figure.text},
    {"unit", s.figure.unit}, {"sweeps", rows}, {"mean", real(s.mean)}}
end

return scores
