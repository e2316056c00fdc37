-- SPDX-License-Identifier: GPL-2.0-or-later
-- The subcommand `history` finds the change points in a series of results.

local documents = require("study.history.document")
local edivisive = require("study.stats.edivisive")
local native = require("study.native")
local output = require("study.output")
local results = require("study.results")
local series = require("study.history.series")
local shared = require("study.options")
local text = require("study.history.text")
local trend = require("study.history.trend")

local status_regression, status_undecided = 3, 6

-- The request -----------------------------------------------------------------------------------

-- Returns the figures of --metric (native.figure).  Fails for a name that is none, and without
-- names.
local function parse_metrics(names)
  local metrics = {}
  for i, name in ipairs(names or {}) do
    local metric, why = native.figure(name)
    if not metric then native.fail("--metric=%s: %s", name, why) end
    metrics[i] = metric
  end
  if #metrics == 0 then native.fail("--metric names no metric") end
  return metrics
end

-- Refuses metrics of which none can fail a job, because a job that can never fail has a mistake.
local function check_judged(metrics)
  for _, metric in ipairs(metrics) do
    if metric.better ~= "neither" then return end
  end
  native.fail("--fail: neither a larger nor a smaller value of '%s' is better; add another "
    .. "--metric", metrics[1].text)
end

-- That action reads values that all get better in the same way.
local function check_directions(metrics)
  local of = {}
  for _, metric in ipairs(metrics) do
    if metric.better == "neither" then
      native.fail("--metric=%s: neither a larger nor a smaller value is better, so --format=github "
        .. "cannot show it", metric.text)
    end
    of[metric.better] = of[metric.better] or metric.text
    if of.more and of.less then
      native.fail("--format=github: more is better for '%s', and less for '%s'; write a file for "
        .. "each", of.more, of.less)
    end
  end
end

-- A mistyped name would let a CI job pass for ever.
local function check_found(history, ignored)
  for _, name in ipairs(ignored) do
    if not history.series:has_met(name) then
      native.fail("--ignore=%s: no run has this option", name)
    end
  end
  for k, metric in ipairs(history.series.metrics) do
    local any = false
    for _, trends in ipairs(history.trends) do any = any or #trends[k].runs > 0 end
    if not any then
      native.fail("--metric=%s: no run has measured it%s", metric.text,
        results.known_kinds(metric.text, history.series.kinds))
    end
  end
end

-- The history -------------------------------------------------------------------------------------

-- Returns {series = of study.history.series, trends = {[i] = {[k] = of series i and metric k}}}.
local function read_history(operands, metrics, ignored)
  local history = {series = series.read(operands, metrics, ignored), trends = {}}
  for _, left in ipairs(history.series.left) do
    native.log("bench history: left out: %s", native.escape(left.why))
  end
  if #history.series == 0 then
    native.fail("'%s'%s: no result of a run that ended normally", operands[1],
      operands[2] and " and others" or "")
  end
  for i, one in ipairs(history.series) do
    history.trends[i] = {}
    for k, metric in ipairs(metrics) do history.trends[i][k] = trend.find(metric, k, one) end
  end
  check_found(history, ignored)
  return history
end

local function write(history, options)
  if options.format == "json" then
    output.write_document(documents.history(history), options.output)
  elseif options.format == "github" then
    output.write_document(documents.github(history), options.output)
  else
    output.write_text(text.write(history, options.format == "markdown"), options.output)
  end
end

-- Says which trends are regressions, or that no trend can be one yet, and returns the exit status.
local function judge(history, runs, fails_undecided)
  local status, most = 0, 0
  for i, one in ipairs(history.series) do
    for _, found in ipairs(history.trends[i]) do
      most = math.max(most, #found.runs)
      if found:is_regression(runs) then
        native.log("bench history: regression: %s",
          native.escape(text.regression(history, one, found)))
        status = status_regression
      end
    end
  end
  if most >= 2 * edivisive.least then return status end
  native.log("bench history: --fail: no series has the %d runs that a change point needs; the "
    .. "longest has %d", 2 * edivisive.least, most)
  return fails_undecided and status_undecided or status
end

return {
  name = "history",
  title = "find the change points in a series of results",
  operands = "FOLDER | FILE...",
  min_operands = 1,
  options = {
    {name = "metric", type = "list", def = "rate", form = "=LIST",
     help = "metrics: rate, or names that --assert takes"},
    {name = "ignore", type = "list", form = "=LIST",
     help = "options of the runs that do not separate series"},
    {name = "fail", type = "bool", def = "off",
     help = "exit status 3 if the last change point is a new regression"},
    shared.fail_undecided{help = "exit status 6 with --fail if all series are too short"},
    {name = "fail-within", type = "int", def = "20", min = 1, max = 2 ^ 31 - 1,
     help = "runs since a regression for which --fail fails"},
    shared.format{
      choices = {"text", "markdown", "json", "github"},
      help = "form: text, markdown, json, github"},
    shared.output{help = "file for the history, instead of standard output"},
    shared.max_document_size,
  },
  -- Returns the exit status.  Only --fail makes it other than 0.
  run = function(options, operands)
    output.check(options.output)
    native.read_at_most(options.max_document_size)
    local metrics = parse_metrics(options.metric)
    if options.fail then check_judged(metrics) end
    if options.fail_undecided and not options.fail then
      native.fail("--fail-undecided needs --fail")
    end
    if options.format == "github" then check_directions(metrics) end
    local history = read_history(operands, metrics, options.ignore or {})
    write(history, options)
    return options.fail and judge(history, options.fail_within, options.fail_undecided) or 0
  end,
}
