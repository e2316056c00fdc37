-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module prints a history for people, as text or as Markdown.

local columns = require("study.columns")
local digits = require("study.digits")
local edivisive = require("study.stats.edivisive")
local series = require("study.history.series")

local text = {}

-- Returns a number of a metric as people read it: latencies are in milliseconds.
local function shown(trend, value)
  return columns.number(trend.metric.unit == "s" and value * 1e3 or value)
end

-- Returns the difference at change i; "-": the median before it is 0.
local function difference_text(trend, i)
  local difference = trend:difference(i)
  return difference and (digits.factor(1 + difference / 100) or ("%+.2f %%"):format(difference))
    or "-"
end

-- Returns the end of a metric's line, and the table of its changes.  The verdict is empty if
-- neither a larger nor a smaller value is better.
local function changes_table(trend, markdown)
  local t = columns.new("llrrrlrl")
  t:add("since (UTC)", "runs", "before", "after", "difference", "verdict", "p", "first run")
  for i, change in ipairs(trend.changes) do
    local before, after, run = trend.segments[i], trend.segments[i + 1], trend.runs[change.at]
    local turn = trend:turn(i)
    t:add(columns.time(run.start_wall_ns), ("%d+%d"):format(before.n, after.n),
      shown(trend, before.median), shown(trend, after.median), difference_text(trend, i),
      turn == "changed" and "" or turn, ("%.4f"):format(change.p), run.path)
  end
  return (markdown and ":\n\n" or ":\n") .. t:text(markdown)
end

-- Returns what else was new in the first run of each segment.
local function facts_text(trend, markdown)
  local parts = {}
  for _, change in ipairs(trend.changes) do
    local before, after = trend.runs[change.at - 1], trend.runs[change.at]
    for _, fact in ipairs(series.changed_facts(before, after)) do
      parts[#parts + 1] = ("%s%s: %s %s, before: %s\n"):format(
        markdown and "\n" or "  ", columns.time(after.start_wall_ns),
        columns.quote(fact.name, markdown), columns.quote(fact.after, markdown),
        columns.quote(fact.before, markdown))
    end
  end
  return table.concat(parts)
end

-- Of fewer runs, permutations show nothing but a clear break in the middle.
local runs_few = 16

-- Returns a remark if `n` runs are too few to find every change, else "".
local function few_text(n)
  local least = 2 * edivisive.least
  if n < least then return (" (%d runs are needed to find one)"):format(least) end
  return n < runs_few and (" (of fewer than %d runs, only a large one is found)"):format(runs_few)
    or ""
end

-- Returns the end of the line of a metric without changes: the median, and the deviation in
-- percent.
local function level_text(trend)
  local segment = trend.segments[1]
  local line = (": no change point%s; median %s"):format(
    few_text(segment.n), shown(trend, segment.median))
  if segment.median > 0 and segment.n > 1 then
    line = ("%s, standard deviation %s %%"):format(
      line, columns.number(segment.deviation / segment.median * 100))
  end
  return line .. "\n"
end

-- Returns what was found of a metric, below a line that says how many runs do not count for it.
local function trend_text(trend, markdown)
  local metric = trend.metric
  local parts = {("\n%s (%s)"):format(
    columns.quote(metric.text, markdown), metric.unit == "s" and "ms" or metric.unit)}
  if trend.unmeasured > 0 then
    parts[#parts + 1] = (", not measured in %d run(s)"):format(trend.unmeasured)
  end
  if trend.too_old > 0 then
    parts[#parts + 1] = (", without the oldest %d run(s)"):format(trend.too_old)
  end
  if #trend.runs == 0 then
    parts[#parts + 1] = "\n"
  elseif #trend.changes == 0 then
    parts[#parts + 1] = level_text(trend)
  else
    parts[#parts + 1] = changes_table(trend, markdown)
    parts[#parts + 1] = facts_text(trend, markdown)
  end
  return table.concat(parts)
end

-- Returns the line above a series: its name, and the number and the time of its runs.
local function heading(history, one, markdown)
  local runs = one.runs
  return ("%s%s: %d run%s, %s to %s UTC\n"):format(
    markdown and "### " or "", columns.quote(history.series:name(one), markdown), #runs,
    #runs == 1 and "" or "s", columns.time(runs[1].start_wall_ns),
    columns.time(runs[#runs].start_wall_ns))
end

-- Returns the text of a history: {series = of study.history.series, trends = {[i] = of each metric
-- of series i}}.
function text.write(history, markdown)
  local parts = {}
  for i, one in ipairs(history.series) do
    parts[#parts + 1] = (i > 1 and "\n" or "") .. heading(history, one, markdown)
    for _, trend in ipairs(history.trends[i]) do parts[#parts + 1] = trend_text(trend, markdown) end
  end
  return table.concat(parts)
end

-- Returns "p99 of NAME is worse since 2026-03-01 12:00 UTC (x.json): +5.08 %", on the last change.
function text.regression(history, one, trend)
  local run = trend.runs[trend.changes[#trend.changes].at]
  return ("%s of %s is worse since %s UTC (%s): %s"):format(
    trend.metric.text, history.series:name(one), columns.time(run.start_wall_ns), run.path,
    difference_text(trend, #trend.changes))
end

return text
