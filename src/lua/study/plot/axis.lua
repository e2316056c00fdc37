-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module turns the values of a chart (study.plot.script) into an axis:
--
--   {log = whether it is logarithmic, low, high,
--    unit = what values of x are divided by, suffix = the name of that unit,
--    marks = {{at =, text =}, …}}            none, of x: marks at round numbers, as many as fit

local floor, huge, log10, max, min = math.floor, math.huge, math.log10, math.max, math.min

local axis = {
  marks_max = 24,
  rank_least = 10,  -- an axis of ranks goes as far as this at least: to 90 %
}

local log_from = 20  -- a latency axis that spans more is logarithmic
local rounding = 1e-9

-- Units, the largest first.
local times = {{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}, {1e-9, " ns"}}
local plain_times = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}}
local counts = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}

-- Returns the largest unit that is not larger than the value, or else the smallest.
local function unit_of(units, value)
  for _, unit in ipairs(units) do
    if unit[1] <= value then return unit end
  end
  return units[#units]
end

-- Adds a mark, unless the axis has as many as it may have.
local function add_mark(a, at, text)
  if #a.marks < axis.marks_max then a.marks[#a.marks + 1] = {at = at, text = text} end
end

-- Adds a mark in this unit, such as "1.5k".
local function mark_number(a, at, unit)
  add_mark(a, at, at > 0 and ("%g%s"):format(at / unit[1], unit[2]) or "0")
end

-- Adds a mark in the unit that suits the time, such as "20 ms".
local function mark_time(a, seconds, plain)
  -- 0.001 may be a little less than that after a product.
  mark_number(a, seconds, unit_of(plain and plain_times or times, seconds * (1 + rounding)))
end

-- Returns the least and the largest of the values above 0, or nil.
local function span_of(panel)
  local least, most
  local function widen(value)
    if value and value > 0 and value < huge then
      least, most = min(least or value, value), max(most or value, value)
    end
  end
  for _, series in ipairs(panel.series) do
    local has_bars = series.look == "bars" or series.look == "spots"
    for _, point in ipairs(series) do
      widen(point.y)
      if has_bars then
        widen(point.low)
        widen(point.high)
      end
    end
  end
  return least, most
end

-- The axis goes from one of 1, 2 and 5 times a power of ten to another; there is a mark at each, or
-- at powers of ten only.
local function mark_decades(a, least, most, plain)
  local digits, all = {1, 2, 5, 10}, not plain and most / least < 1000
  for exponent = floor(log10(least)), floor(log10(most)) do
    for i = 1, 3 do
      local at, after = digits[i] * 10 ^ exponent, digits[i + 1] * 10 ^ exponent
      if after > least and at < most then
        if a.low <= 0 then a.low = at end
        a.high = after
        if all or i == 1 then mark_time(a, at, plain) end
      end
    end
  end
  local decades = log10(a.high)
  if all or math.abs(decades - floor(decades + 0.5)) < rounding then mark_time(a, a.high, plain) end
end

-- Returns the least of 1, 2, 2.5 and 5 times a power of ten by which at most `most` steps reach the
-- value.
local function step_to(value, most)
  local power = 10 ^ floor(log10(value / most))
  for _, digit in ipairs{1, 2, 2.5, 5} do
    if digit * power * most >= value then return digit * power end
  end
  return 10 * power
end

-- The axis goes from 0 on, in one unit.
local function mark_steps(a, most, units, plain)
  local step = step_to(most, plain and 4 or 6)
  local n = math.ceil(most / step - rounding)
  local unit = unit_of(units, n * step * (1 + rounding))
  for i = 0, n do mark_number(a, i * step, unit) end
  a.high = n * step
end

-- Returns the y axis of a panel.  Rates begin with 0.  Latencies do too, unless they span more than
-- a factor of 20: then the axis is logarithmic.  plain: for few rows of plain text.
function axis.y(panel, plain)
  local least, most = span_of(panel)
  local a = {log = false, low = 0, high = 1, unit = 1, suffix = "", marks = {}}
  if not most then
    add_mark(a, 0, "0")
  elseif panel.y == "seconds" and most > log_from * least then
    a.log = true
    mark_decades(a, least, most, plain)
  else
    mark_steps(a, most, panel.y == "rate" and counts or plain and plain_times or times, plain)
  end
  return a
end

-- The x axis ------------------------------------------------------------------------------------

-- Returns the largest x of all series, whose points are in the order of x; 0: there are no points.
local function largest_x(chart)
  local most = 0
  for _, panel in ipairs(chart.panels) do
    for _, series in ipairs(panel.series) do
      if #series > 0 then most = max(most, series[#series].x) end
    end
  end
  return most
end

local ranks = {
  {1, "0"}, {2, "50 %"}, {10, "90 %"}, {1e2, "99 %"}, {1e3, "99.9 %"}, {1e4, "99.99 %"},
  {1e5, "99.999 %"}, {1e6, "99.9999 %"}, {1e7, "99.99999 %"},
}

-- The axis goes up to the last rank that has its own mark.
local function mark_ranks(a, most)
  a.log, a.low, a.high = true, 1, max(most, axis.rank_least)
  for _, rank in ipairs(ranks) do
    if rank[1] <= a.high * 1.01 then add_mark(a, rank[1], rank[2]) end
  end
end

-- Ends the axis at `most` seconds, and chooses seconds, minutes or hours for its marks.
local function set_time(a, most)
  if most > 3 * 3600 then
    a.unit, a.suffix = 3600, "h"
  elseif most > 600 then
    a.unit, a.suffix = 60, "min"
  else
    a.suffix = "s"
  end
  a.high = most > 0 and most / a.unit or 1
end

-- Returns where a value stands on the axis, from 0 to 1.
local function place(a, x)
  if a.log then return math.log(x / a.low) / math.log(a.high / a.low) end
  return (x - a.low) / (a.high - a.low)
end

-- Returns whether the marks would be crowded on an axis that is not logarithmic.
local function is_crowded(marks)
  local all = marks[#marks].at - marks[1].at
  for i = 2, #marks do
    if marks[i].at - marks[i - 1].at < all / 16 then return true end
  end
  return false
end

-- Adds the marks of the chart that keep their distance, the last among them.
local function thin_marks(a, marks, most)
  local least, last, before = 1 / most, place(a, marks[#marks].at), -1
  for i, mark in ipairs(marks) do
    local at = place(a, mark.at)
    if i == #marks or at - before >= least and last - at >= least then
      add_mark(a, mark.at, mark.text)
      before = at
    end
  end
end

-- Makes an axis on which the values of an option keep a distance from both ends.  It is logarithmic
-- if numbers would be crowded otherwise.
local function set_values(a, chart, most)
  local marks = chart.marks
  local first, last = marks[1].at, marks[#marks].at
  if chart.x == "number" and first > 0 and is_crowded(marks) then
    local pad = (last / first) ^ 0.03
    a.log, a.low, a.high = true, first / pad, last * pad
  else
    local pad = last > first and (last - first) * 0.03 or 1
    a.low, a.high = first - pad, last + pad
  end
  thin_marks(a, marks, min(most, axis.marks_max))
end

-- Returns the x axis of a chart.  The marks of numbers and names are at most `most` and keep a
-- distance.
function axis.x(chart, most)
  local a = {log = false, low = 0, high = 0, unit = 1, suffix = "", marks = {}}
  if chart.x == "time" then
    set_time(a, largest_x(chart))
  elseif chart.x == "rank" then
    mark_ranks(a, largest_x(chart))
  elseif #chart.marks > 0 then
    set_values(a, chart, most)
  end
  return a
end

return axis
