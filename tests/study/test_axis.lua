-- SPDX-License-Identifier: GPL-2.0-or-later
-- Axes of charts: ranges, units and marks.

local axis = require("study.plot.axis")
local t = require("tests")

-- All marks, separated by blanks.
local function marks_of(a)
  local texts = {}
  for i, mark in ipairs(a.marks) do texts[i] = mark.text end
  return table.concat(texts, " ")
end

local function expect_y(y, least, most, plain, want, low, high)
  local points = {{x = 1, y = least}, {x = 2, y = 0 / 0}, {x = 3, y = most}}
  points.look = "line"
  local a = axis.y({title = "", y = y, series = {points}}, plain)
  t.equal(marks_of(a), want)
  t.close(a.low, low)
  t.close(a.high, high)
end

local function chart_to(kind, x)
  return {x = kind, marks = {}, panels = {{y = "rate", series = {{look = "line", {x = x, y = 1}}}}}}
end

local function expect_values(values, kind, most, is_log, want)
  local chart = {x = kind, marks = {}, panels = {}}
  for i, value in ipairs(values) do chart.marks[i] = {at = value, text = ("%g"):format(value)} end
  local a = axis.x(chart, most)
  t.equal(marks_of(a), want)
  t.equal(a.log, is_log)
  t.ok(a.low < a.marks[1].at and a.high > a.marks[#a.marks].at)
end

return {
  ["rates begin with 0"] = function()
    expect_y("rate", 5900, 6380, false, "0 2k 4k 6k 8k", 0, 8000)
    expect_y("rate", 1, 3, false, "0 0.5 1 1.5 2 2.5 3", 0, 3)
    expect_y("rate", 1, 42.5e6, true, "0 20M 40M 60M", 0, 60e6)
    expect_y("rate", 0.001, 0.025, false, "0 0.005 0.01 0.015 0.02 0.025", 0, 0.025)
    expect_y("rate", 0, 0, false, "0", 0, 1)
  end,
  ["latencies of one size begin with 0"] = function()
    expect_y("seconds", 0.001, 0.004, false, "0 1 ms 2 ms 3 ms 4 ms", 0, 0.004)
    expect_y("seconds", 40e-6, 80e-6, true, "0 20 us 40 us 60 us 80 us", 0, 80e-6)
    expect_y("seconds", 40e-6, 80e-6, false, "0 20 µs 40 µs 60 µs 80 µs", 0, 80e-6)
    expect_y("seconds", 0.9, 0.9, false, "0 0.2 s 0.4 s 0.6 s 0.8 s 1 s", 0, 1)
  end,
  ["latencies that span much are logarithmic"] = function()
    expect_y("seconds", 0.0021, 0.5, false,
      "2 ms 5 ms 10 ms 20 ms 50 ms 100 ms 200 ms 500 ms", 0.002, 0.5)
    expect_y("seconds", 90e-6, 3, false, "100 µs 1 ms 10 ms 100 ms 1 s", 50e-6, 5)
    expect_y("seconds", 90e-6, 7, true, "100 us 1 ms 10 ms 100 ms 1 s 10 s", 50e-6, 10)
  end,
  ["bars are within the axis"] = function()
    local bars = {look = "bars", {x = 1, y = 10, low = 5, high = 75}}
    t.close(axis.y({title = "", y = "rate", series = {bars}}, false).high, 80)
    bars.look = "line"
    t.close(axis.y({title = "", y = "rate", series = {bars}}, false).high, 10)
  end,
  ["times have the unit that fits"] = function()
    for _, case in ipairs{{60, 60, "s"}, {1200, 20, "min"}, {7 * 86400, 168, "h"}, {0, 1, "s"}} do
      local a = axis.x(chart_to("time", case[1]), 8)
      t.equal(a.suffix, case[3])
      t.close(a.high, case[2])
    end
  end,
  ["ranks end with the last that is known"] = function()
    local a = axis.x(chart_to("rank", 2500), 8)
    t.equal(marks_of(a), "0 50 % 90 % 99 % 99.9 %")
    t.ok(a.log)
    t.close(a.high, 2500)
  end,
  ["values that crowd are logarithmic"] = function()
    expect_values({1, 2, 4, 8}, "number", 20, false, "1 2 4 8")
    expect_values({1, 2, 4, 8, 16, 32, 64, 128}, "number", 20, true, "1 2 4 8 16 32 64 128")
    expect_values({0, 1, 10, 1000}, "number", 20, false, "0 1000")
    expect_values({3}, "number", 20, false, "3")
  end,
  ["marks keep their distance"] = function()
    expect_values({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, "name", 5, false, "1 4 7 12")
    expect_values({10, 11, 12, 1000}, "number", 7, true, "10 1000")
  end,
}
