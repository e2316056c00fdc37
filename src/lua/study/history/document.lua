-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes documents of a history (study.history.text): one for programs, and the one that
-- github-action-benchmark reads.

local columns = require("study.columns")
local document = require("study.document")
local edivisive = require("study.stats.edivisive")
local series = require("study.history.series")

local real = document.real

local documents = {}

-- Returns a list of a document: what fn makes of each item.
local function list_of(items, fn)
  local list = {}
  for i, item in ipairs(items) do list[i] = fn(item, i) end
  return document.list(list)
end

-- For programs ----------------------------------------------------------------------------------

-- Returns change i of a trend: the first run after it, the medians of the segments before and after
-- it, and the facts that are new in that run.
local function change_document(trend, i)
  local change, before, after = trend.changes[i], trend.segments[i], trend.segments[i + 1]
  local run = trend.runs[change.at]
  return document.map{
    {"start", change.at - 1},
    {"file", run.path},
    {"start_wall_ns", run.start_wall_ns},
    {"before", real(before.median)},
    {"after", real(after.median)},
    {"difference_percent", real(trend:difference(i))},
    {"verdict", trend:turn(i)},
    {"p", real(change.p)},
    {"facts", list_of(series.changed_facts(trend.runs[change.at - 1], run), function(fact)
      return document.map{{"fact", fact.name}, {"before", fact.before}, {"after", fact.after}}
    end)},
  }
end

-- Returns the trend of one metric of a series: its runs, the segments between its changes, and the
-- changes.
local function trend_document(trend)
  return document.map{
    {"name", trend.metric.text},
    {"unit", trend.metric.unit},
    {"better", trend.metric.better},
    {"logarithms", trend.has_logs},
    {"runs_not_measured", trend.unmeasured},
    {"runs_too_old", trend.too_old},
    {"runs", list_of(trend.runs, function(run, i)
      return document.map{
        {"file", run.path}, {"start_wall_ns", run.start_wall_ns},
        {"value", real(trend.values[i])}}
    end)},
    {"segments", list_of(trend.segments, function(segment)
      return document.map{
        {"start", segment.start - 1}, {"runs", segment.n}, {"median", real(segment.median)},
        {"deviation", real(segment.deviation)}}
    end)},
    {"changes", list_of(trend.changes, function(_, i) return change_document(trend, i) end)},
  }
end

-- Returns the document, version 1.  Runs of a metric are numbered from 0 on.
function documents.history(history)
  return document.map{
    {"format", "bench history"},
    {"version", 1},
    {"method", "e-divisive with means, alpha 1"},
    {"level", real(edivisive.level)},
    {"permutations", edivisive.permutations},
    {"least_segment", edivisive.least},
    {"series", list_of(history.series, function(one, i)
      return document.map{
        {"name", history.series:name(one, true)}, {"test", one.test}, {"runs", #one.runs},
        {"metrics", list_of(history.trends[i], trend_document)}}
    end)},
    {"left_out", list_of(history.series.left, function(left)
      return document.map{{"file", left.path}, {"why", left.why}}
    end)},
  }
end

-- github-action-benchmark -------------------------------------------------------------------------

-- Returns the newest value of a trend, as github-action-benchmark reads it.  The range is the
-- deviation since the last change, if that was more than one run ago.
local function newest_document(name, trend)
  local last = trend.segments[#trend.segments]
  local newest = document.map{
    {"name", ("%s: %s"):format(name, trend.metric.text)},
    {"unit", trend.metric.unit},
    {"value", real(trend.values[#trend.values])},
  }
  if last.n > 1 then document.set(newest, "range", "± " .. columns.number(last.deviation)) end
  document.set(newest, "extra", ("%d run(s) since %s UTC"):format(
    last.n, columns.time(trend.runs[last.start].start_wall_ns)))
  return newest
end

-- Returns the newest run of each series, as that action's inputs customBiggerIsBetter and
-- customSmallerIsBetter have it: a list of {"name", "unit", "value", "range", "extra"}, of which
-- the last two may be absent.
function documents.github(history)
  local list = {}
  for i, one in ipairs(history.series) do
    for _, trend in ipairs(history.trends[i]) do
      if #trend.runs > 0 then
        list[#list + 1] = newest_document(history.series:name(one, true), trend)
      end
    end
  end
  return document.list(list)
end

return documents
