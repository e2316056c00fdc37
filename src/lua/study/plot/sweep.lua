-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes the chart of a sweep: a varied option against rate and latency.
--
-- Results with the same options are repeats of a point, which is drawn as their median with a bar
-- from the least to the largest.  On the x axis is the option with the most values, if there is one
-- an option of numbers; each combination of the others is a line of its own.

local native = require("study.native")
local match = require("study.match")
local stats = require("study.stats")
local usl = require("study.stats.usl")

local sweep = {}
sweep.__index = sweep

local lines_max = 28  -- that colours and dashes tell apart

local function dashed(name)
  return (name:gsub("_", "-"))
end

-- The x axis ------------------------------------------------------------------------------------

-- Returns whether an option is a number at all points.
function sweep:has_numbers(option)
  for point = 1, self.points.n do
    if not native.number(self.points.value(point, option)) then return false end
  end
  return true
end

function sweep:count_values(option)
  local n, seen = 0, {}
  for point = 1, self.points.n do
    local value = self.points.value(point, option)
    if not seen[value] then n, seen[value] = n + 1, true end
  end
  return n
end

-- Sets x, the number of the option on the x axis, nil if nothing was varied, and whether its values
-- are numbers.
function sweep:choose_x()
  local most = 0
  for option = 1, #self.points.options do
    local numbers, n = self:has_numbers(option), self:count_values(option)
    if numbers and not self.numbers or numbers == self.numbers and n > most then
      self.x, self.numbers, most = option, numbers, n
    end
  end
end

-- Returns whether an option follows from that on the x axis; then it makes no further lines.
function sweep:follows(option)
  local value_at = {}
  for point = 1, self.points.n do
    local x, value = self.points.value(point, self.x), self.points.value(point, option)
    if (value_at[x] or value) ~= value then return false end
    value_at[x] = value
  end
  return true
end

-- Numbers the lines: lines[i] is their name, "table-size=1000, test=oltp_insert", line_of[point]
-- its line.  Returns nil and a message: there are too many.
function sweep:find_lines()
  local apart, number_of = {}, {}
  for option = 1, #self.points.options do
    if option ~= self.x and not self:follows(option) then apart[#apart + 1] = option end
  end
  for point = 1, self.points.n do
    local values = {}
    for i, option in ipairs(apart) do
      values[i] = dashed(self.points.options[option]) .. "=" .. self.points.value(point, option)
    end
    local key = table.concat(values, "\0")
    if not number_of[key] then
      if #self.lines == lines_max then
        return nil, ("the results differ in so many options that the picture would have more than "
          .. "%d lines; name fewer results"):format(lines_max)
      end
      self.lines[#self.lines + 1] = table.concat(values, ", ")
      number_of[key] = #self.lines
    end
    self.line_of[point] = number_of[key]
  end
  return true
end

-- Returns where each point stands on the x axis.  Texts stand in the order in which they come.
function sweep:find_places()
  local places, place_of, n = {}, {}, 0
  for point = 1, self.points.n do
    local value = self.x and self.points.value(point, self.x) or ""
    if not place_of[value] then
      n = n + 1
      place_of[value] = self.numbers and native.number(value) or n
    end
    places[point] = place_of[value]
  end
  return places
end

-- Sets the x axis of the chart, and the order in which lines connect points.  If nothing was
-- varied, there is one mark, the number of threads.
function sweep:set_x(chart, results)
  local places, marked = self:find_places(), {}
  chart.x = self.numbers and "number" or "name"
  chart.x_title = self.x and dashed(self.points.options[self.x]) or "threads"
  chart.marks = {}
  for point, at in ipairs(places) do
    self.order[point] = {x = at, point = point}
    if not marked[at] then
      local text = self.x and self.points.value(point, self.x)
        or ("%d"):format(results[1].plan.threads)
      chart.marks[#chart.marks + 1], marked[at] = {at = at, text = text}, true
    end
  end
  table.sort(chart.marks, function(a, b) return a.at < b.at end)
  table.sort(self.order, function(a, b)
    if a.x ~= b.x then return a.x < b.x end
    return a.point < b.point
  end)
end

-- Says what a point is.
function sweep:set_repeats(chart)
  local n, most, least = {}, 0, math.huge
  for _, point in ipairs(self.points.of) do n[point] = (n[point] or 0) + 1 end
  for _, repeats in ipairs(n) do most, least = math.max(most, repeats), math.min(least, repeats) end
  if most > 1 then
    chart.x_title = ("%s (median of %s%d runs; bars: minimum to maximum)"):format(
      chart.x_title, least < most and "up to " or "", most)
  end
end

-- Figures ---------------------------------------------------------------------------------------

-- Returns the finite values of a figure by point, sorted, or nil: no result has the figure.
function sweep:values_of(results, figure)
  local values, any = {}, false
  for i, result in ipairs(results) do
    local value, point = result:value(figure), self.points.of[i]
    any = any or value ~= nil
    values[point] = values[point] or {}
    if value and math.abs(value) < math.huge then table.insert(values[point], value) end
  end
  for _, repeats in ipairs(values) do table.sort(repeats) end
  return any and values or nil
end

-- Returns line `number` of a figure, whose values by point are sorted.  Points without a value are
-- left out.
function sweep:line(number, values, name, colour)
  local line = {name = name, look = "bars", colour = colour}
  for _, place in ipairs(self.order) do
    local repeats = values[place.point]
    if self.line_of[place.point] == number and #repeats > 0 then
      line[#line + 1] = {
        x = place.x, y = stats.median(repeats), low = repeats[1], high = repeats[#repeats]}
    end
  end
  return line
end

-- Returns all lines of a figure.  A line that is alone has no name, and so no legend.
function sweep:all_lines(values)
  local lines = {}
  for number, name in ipairs(self.lines) do
    lines[number] = self:line(number, values, #self.lines > 1 and name or "", number - 1)
  end
  return lines
end

-- Returns a line of rates over threads as its fit, which is drawn as the line between the medians;
-- nil: it has none.
local function fit_of(line)
  local steps, threads, rates = 200, {}, {}
  for _, point in ipairs(line) do
    if point.x >= 1 then threads[#threads + 1], rates[#rates + 1] = point.x, point.y end
  end
  local law = usl.fit(threads, rates)
  if not law then return nil end
  local first, last = threads[1], threads[#threads]
  local fit = {name = "", look = "fit", colour = line.colour}
  for i = 0, steps do
    local x = first * (last / first) ^ (i / steps)
    fit[i + 1] = {x = x, y = usl.rate(law, x)}
  end
  return fit
end

-- Adds the fit to each line of rates if threads are on the x axis.  The medians of such a line are
-- then spots.
function sweep:add_fits(panel)
  if not (self.numbers and self.points.options[self.x] == "threads") then return end
  for i = 1, #self.lines do
    local fit = fit_of(panel.series[i])
    if fit then
      panel.series[i].look = "spots"
      panel.series[#panel.series + 1] = fit
    end
  end
  if #panel.series > #self.lines then
    panel.title = panel.title .. "; line: Universal Scalability Law"
  end
end

-- Panels ----------------------------------------------------------------------------------------

-- Returns the panel of rates, with their fits.  Transactions are shown only if all runs count them.
function sweep:rates_panel(results)
  local is_sql = true
  for _, result in ipairs(results) do is_sql = is_sql and result.kind == "sql" end
  local panel = {
    title = is_sql and "Throughput (transactions/s)" or "Throughput (events/s)", y = "rate",
    series = self:all_lines(self:values_of(results, is_sql and "rate" or "eps")),
  }
  self:add_fits(panel)
  return panel
end

-- Returns several percentiles of one line, or the highest of several lines.
function sweep:latencies_panel(results)
  local panel = {title = "Latency", y = "seconds", series = {}}
  local colours = {p99 = 1, p95 = 0, median = 2}
  for _, figure in ipairs{"p99", "p95", "median"} do
    local values = self:values_of(results, figure)
    if values and #self.lines > 1 then
      panel.title, panel.series = "Latency, " .. figure, self:all_lines(values)
      return panel
    elseif values then
      panel.series[#panel.series + 1] = self:line(1, values, figure, colours[figure])
    end
  end
  return panel
end

-- Returns the chart of one result or more, without headings; nil and a message: there are too many
-- lines.
function sweep.chart(results)
  local self = setmetatable({
    points = match.find(results),
    x = nil, numbers = false,
    lines = {}, line_of = {},
    order = {},  -- {x =, point =}, in the order of x
  }, sweep)
  local chart = {}
  self:choose_x()
  local ok, why = self:find_lines()
  if not ok then return nil, why end
  self:set_x(chart, results)
  self:set_repeats(chart)
  chart.panels = {self:rates_panel(results), self:latencies_panel(results)}
  return chart
end

return sweep
