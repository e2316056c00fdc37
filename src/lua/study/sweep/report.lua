-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes the table of a sweep for the terminal, at most 100 columns wide.

local native = require("study.native")
local columns_of_text = require("study.columns")

local number, width_of = columns_of_text.number, columns_of_text.width

local report = {}

-- A value of an option takes at most so much of a line.
local width_most, cell_most, columns_most, gap = 100, 31, 24, 2
local test_columns_before, rivals_most = 12, 8

-- Returns a text as a cell has it: escaped, and without its end if it is long.
local function cut(text)
  local escaped = native.escape(text)
  -- native.escape cuts between characters.
  return #escaped > cell_most and native.escape(text, cell_most - 2) .. "..." or escaped
end

local function rate_unit(tally)
  if not tally.rate then return "rate, 1/s" end
  return tally.rate == "events_per_s" and "events/s" or "transactions/s"
end

-- Returns the number of runs that ended well and, if there are any, of failed ones; "left out":
-- --stop-when has left out the point.
local function runs_cell(seen)
  if seen.failed > 0 then return ("%d, %d failed"):format(seen.done, seen.failed) end
  return seen.done == 0 and seen["left out"] > 0 and "left out" or tostring(seen.done)
end

-- Returns a column of a figure, scaled; with is_spread, of its range in percent of the median.
local function figure_column(tally, heading, name, scale, is_spread)
  return {heading = heading, cell = function(point)
    local spread = tally:spread(point, name)
    if not spread then return "-" end
    if not is_spread then return number(spread.median * scale) end
    if spread.n < 2 or spread.median <= 0 then return "-" end
    return ("%.1f"):format(100 * (spread.max - spread.min) / spread.median)
  end}
end

-- Adds the columns of a group of which an option is varied: its rate, its mean latency and the
-- percentiles that its runs have measured.
local function add_group(columns, tally, group)
  local function add(what, figure, scale)
    local heading = group .. " " .. what
    table.insert(columns, figure_column(tally, cut(heading), figure .. "@group:" .. group, scale))
  end
  add("events/s", "events_per_s", 1)
  add("avg, ms", "avg_s", 1e3)
  for _, name in ipairs(tally.names) do
    local rank, of = name:match("^p([%d.]+)_s@group:(.*)$")
    if of == group and #rank <= 8 then
      add(("p%s, ms"):format(rank), ("p%s_s"):format(rank), 1e3)
    end
  end
end

-- Returns the columns, and how many of them stay: the options and the number of runs.
local function columns_of(tally)
  local columns = {}
  for i, axis in ipairs(tally.grid) do
    columns[i] = {heading = cut(axis.name), cell = function(point)
      return cut(tally.grid:shown(point, i))
    end}
  end
  table.insert(columns, {heading = "runs", cell = function(point)
    return runs_cell(tally:look(point))
  end})
  local fixed = #columns
  table.insert(columns, figure_column(tally, rate_unit(tally), "rate", 1))
  table.insert(columns, figure_column(tally, "spread, %", "rate", 1, true))
  for _, group in ipairs(tally.grid:groups()) do add_group(columns, tally, group) end
  for _, name in ipairs(tally.names) do
    local of_test = name:match("^test_(.*)")
    if of_test and #columns < test_columns_before then
      table.insert(columns, figure_column(tally, cut(of_test), name, 1))
    end
  end
  table.insert(columns, figure_column(tally, "avg, ms", "avg_s", 1e3))
  table.insert(columns, figure_column(tally, "errors/s", "errors_per_s", 1))
  for _, name in ipairs(tally.names) do
    local rank = name:match("^p([%d.]+)_s$")
    if rank and #rank <= 8 and #columns < columns_most then
      table.insert(columns, figure_column(tally, ("p%s, ms"):format(rank), name, 1e3))
    end
  end
  return columns, fixed
end

-- Columns that do not fit are left out, the last one first.
local function table_of(tally)
  local columns, fixed = columns_of(tally)
  local rows, width = {}, 0
  for point = 0, tally.grid.points do rows[point + 1] = {} end
  for i, column in ipairs(columns) do
    local cells, widest = {column.heading}, width_of(column.heading)
    for point = 0, tally.grid.points - 1 do
      cells[point + 2] = column.cell(point)
      widest = math.max(widest, width_of(cells[point + 2]))
    end
    width = width + widest + (i > 1 and gap or 0)
    if width > width_most and i > fixed + 1 then break end
    for k, cell in ipairs(cells) do
      rows[k][i] = (" "):rep(widest + (i > 1 and gap or 0) - width_of(cell)) .. cell
    end
  end
  for k, row in ipairs(rows) do rows[k] = table.concat(row) .. "\n" end
  return table.concat(rows)
end

-- Returns "threads=16 table-size=1000", without one axis, which may be nil.
local function name_of(grid, point, without)
  local parts = {}
  for i, axis in ipairs(grid) do
    if i ~= without then
      parts[#parts + 1] = axis.name .. "=" .. cut(grid:shown(point, i))
    end
  end
  return table.concat(parts, " ")
end

-- Returns the lines on the point with the highest rate, and on points whose rates cannot be told
-- from it; "": no point has a rate.
local function best_of(tally)
  local best = tally:best()
  if not best then return "" end
  local rivals, names = tally:rivals(best), {}
  local text = ("\nBest: %s, %s %s\n"):format(name_of(tally.grid, best),
    number(tally:spread(best, "rate").median), rate_unit(tally))
  if not rivals and tally.grid.points > 1 then
    return text .. "One run of each does not show whether the difference is noise; see --repeat.\n"
  end
  for i, point in ipairs(rivals or {}) do
    names[i] = i <= rivals_most and name_of(tally.grid, point) or nil
  end
  if #names == 0 then return text end
  return text .. ("Within the noise of: %s%s\n"):format(table.concat(names, "; "),
    #rivals > #names and (" and %d more"):format(#rivals - #names) or "")
end

local function bound_line(name, bound, what)
  return ("  %s  %10s  (%s to %s)  %s\n"):format(
    name, number(bound.value), number(bound.low), number(bound.high), what)
end

-- Returns the line on the number of threads with the highest rate.  Its interval has no end if
-- crosstalk may be 0.
local function peak_line(tally, fit)
  local law = fit.law
  if not law.peak then return "  peak           none  within the fit\n" end
  local high = "or more)"
  if law.peak.high < math.huge then high = ("to %s)"):format(number(law.peak.high)) end
  return ("  peak   %10s  (%s %s  threads, with %s %s%s\n"):format(
    number(law.peak.value), number(law.peak.low), high, number(law.peak_rate),
    rate_unit(tally), law.peak.value > math.max(0, unpack(fit.threads)) and "; not measured" or "")
end

-- Returns the lines on one fit.  Their heading has the values that its points have in common.
local function fit_of(sweep, fit)
  local tally, law = sweep.tally, fit.law
  local of = #tally.grid > 1 and ", " .. name_of(tally.grid, fit.point, sweep.axis) or ""
  return ("\nUniversal Scalability Law over threads, 95 %% confidence%s:\n"):format(of)
    .. bound_line("gamma", law.gamma, rate_unit(tally) .. " of one thread")
    .. bound_line("alpha", law.alpha, "contention")
    .. bound_line("beta ", law.beta, "crosstalk")
    .. peak_line(tally, fit)
end

function report.text(sweep)
  local parts = {table_of(sweep.tally), best_of(sweep.tally)}
  for _, fit in ipairs(sweep.fits) do parts[#parts + 1] = fit_of(sweep, fit) end
  return table.concat(parts)
end

return report
