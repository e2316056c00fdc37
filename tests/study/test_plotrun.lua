-- SPDX-License-Identifier: GPL-2.0-or-later
-- What pictures take from results: latencies of intervals, the curve of percentiles, and rates.

local native = require("study.native")
local run = require("study.plot.run")
local sweep = require("study.plot.sweep")
local t = require("tests")

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or ""

local function read(name)
  local path = here .. "../store/" .. name
  local result = assert(native.result(path))
  return run.read(path, result), result
end

return {
  ["intervals with histograms know the ranks that people ask for"] = function()
    local one, result = read("v1-cpu-intervals.json")
    t.ok(result:is_packed())
    t.equal(one.ranks, {50, 95, 99, 99.9, 100})
    t.equal(one.n_intervals, #result:intervals())
    for i, interval in ipairs(result:intervals()) do
      t.equal(one.series.at_s[i], interval.at_s)
      t.equal(one.series.events_per_s[i], interval.events_per_s)
      t.equal(one.series.latency_s[2][i], interval.percentiles[1].s)
      t.equal(one.series.latency_s[5][i], interval.max_s)
      t.ok(one.series.latency_s[4][i] <= interval.max_s * 1.001)
      t.ok(one.series.latency_s[4][i] >= one.series.latency_s[3][i])
    end
  end,
  ["intervals without histograms know what was asked for"] = function()
    local one, result = read("v1-cpu.json")
    t.ok(not result:is_packed())
    t.equal(one.ranks, {50, 95, 99, 100})
    t.equal(one.series.latency_s[1][1], result:intervals()[1].percentiles[1].s)
  end,
  ["the curve goes from the least to the largest latency"] = function()
    for _, name in ipairs{"v1-cpu-intervals.json", "v1-own-sqlite.json", "v1-fileio-1.0.json"} do
      local one, result = read(name)
      local buckets = result:buckets()
      local n = 0
      for _, count in ipairs(buckets.count) do n = n + count end
      t.equal(one.curve[1].x, 1)
      t.equal(one.curve[#one.curve], {x = math.max(n, 10), y = math.min(buckets.s[#buckets.s],
        buckets.max_s)})
      for i = 2, #one.curve do t.ok(one.curve[i].x >= one.curve[i - 1].x) end
    end
  end,
  ["the curve has the percentiles"] = function()
    local one, result = read("v1-own-sqlite.json")
    for _, percent in ipairs{10, 50, 75, 90} do
      local y
      for _, point in ipairs(one.curve) do
        if point.x * (100 - percent) < 100 then y = point.y end
      end
      t.equal(y, result:value("p" .. percent))
    end
  end,
  ["headings tell what all runs have in common"] = function()
    local one, other = read("v1-cpu-intervals.json"), read("v1-cpu.json")
    local chart = {}
    run.set_headings(chart, {one})
    t.equal(chart.title, "cpu, 2 threads, 40 events/s asked for")
    run.set_headings(chart, {one, other})
    t.equal(chart.title, "cpu, 2 threads")
    one.told.workload, one.told.threads = "x", "y"
    run.set_headings(chart, {one, other})
    t.equal(chart.title, "2 results")
  end,
  ["runs of a sweep have transactions if all of them count these"] = function()
    local function result(test, kind, figures)
      return {workload = test, kind = kind, options = {}, plan = {threads = 1},
        value = function(_, figure) return figures[figure] end}
    end
    local oltp = result("oltp", "sql", {rate = 30, eps = 90})
    local cpu = result("cpu", "events", {rate = 50, eps = 50})
    local function rates(results)
      local panel = sweep.chart(results).panels[1]
      return panel.title, panel.series[1][1].y, #results > 1 and panel.series[1][2].y
    end
    t.equal({rates{oltp}}, {"Throughput (transactions/s)", 30, false})
    t.equal({rates{oltp, cpu}}, {"Throughput (events/s)", 50, 90})
  end,
}
