-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module prints what a study of two sides by pairs has found, as text and as a document.
--
-- A study is {metric = as native.figure has it, same = 0.05: sides that differ by less than 5 % are
-- the same, seed, sides = {a, b}, rounds = {{order, a, b, aa, repeated}}, looks, levels, ended =
-- there is a verdict, signal}.

local columns = require("study.columns")
local digits = require("study.digits")
local document = require("study.document")
local limit = require("study.limit")
local native = require("study.native")
local sequential = require("study.stats.sequential")
local settings = require("study.ab.settings")

local report = {}

local words = {
  unknown = "cannot tell", better = "better", worse = "worse", same = "same", equal = "equal"}

-- Returns what the last look says, which is what the study says at its end.
function report.verdict(look)
  return look.steady and look.verdict or "unknown"
end

-- Returns statements and the words of a command on one line, for a terminal.
function report.settings(statements, command)
  local list = {}
  for i, statement in ipairs(statements) do list[i] = settings.masked(statement) end
  if #command > 0 then list[#list + 1] = native.mask_text(table.concat(command, " ")) end
  return native.escape(table.concat(list, "; "))
end

-- Returns a ratio as a difference, such as "-4.99 %", or as a factor from ten times on.
local function percent(ratio)
  local value = 100 * (ratio - 1)
  return digits.factor(ratio) or
    ("%+." .. (value < 99.995 and 2 or 1) .. "f %%"):format(value)
end

-- Returns a number of 0 or more with at least three significant digits.
local function number(value)
  return digits.significant(value, 0)
end

-- Returns what the last round has measured, on one line.
function report.line(study)
  local n = #study.rounds
  local round = study.rounds[n]
  return ("round %d of at most %d: A %s, B %s (%s), A again %s %s"):format(
    n, sequential.most, number(round.a), number(round.b), percent(round.b / round.a),
    number(round.aa), study.metric.unit)
end

-- Returns a blank and a word of a command line, in quotes if a shell would not read it as one word.
local function quoted(text)
  local plain = text ~= "" and not text:find("[ \t\n\"'\\$`*?&|;<>()#~!{}%[%]]")
  return (plain and " %s" or " '%s'"):format(native.escape(text))
end

-- Returns a command line without secrets, up to the end of its line.
local function words_text(words)
  local parts = {}
  for i, word in ipairs(words) do parts[i] = quoted(native.mask(word)) end
  return table.concat(parts) .. "\n"
end

-- Returns the lines about a side: its command line, and what is executed before each of its runs.
local function side_text(name, side)
  local text = name .. ":" .. words_text(side.words)
  for _, statement in ipairs(side.statements) do
    text = text .. "   before each run:" .. quoted(settings.masked(statement)) .. "\n"
  end
  if #side.command > 0 then text = text .. "   before each run:" .. words_text(side.command) end
  return text
end

-- Returns the rest of the words of a metric's row: "-4.99 %", "-8.36 % .. -1.50 %".
local function ratio_cells(found)
  local interval = found.interval
  return found.ratio and percent(found.ratio) or "-",
    interval and percent(interval.low) .. " .. " .. percent(interval.high) or "-"
end

local function ratio_text(found)
  return ("  %9s %9s .. %9s"):format(
    percent(found.ratio), percent(found.interval.low), percent(found.interval.high))
end

-- Returns the verdict of the last look as a sentence.  If A differs from itself, the difference of
-- B means nothing, so that this is said first.
local function verdict_text(study)
  local look = study.looks[#study.looks]
  local low, high = percent(look.b.interval.low), percent(look.b.interval.high)
  if not look.steady then
    return ("cannot tell. The machine is not steady: A differs from itself by %s to %s."):format(
      percent(look.again.interval.low), percent(look.again.interval.high))
  elseif look.verdict == "unknown" then
    return ("cannot tell. After %d pairs, the difference is %s to %s."):format(
      look.pairs, low, high)
  elseif look.verdict == "equal" then
    return "equal. All values are the same."
  elseif look.verdict == "same" then
    return ("same within %g %%: %s to %s"):format(100 * study.same, low, high)
  end
  return ("B is %s: %s to %s"):format(words[look.verdict], low, high)
end

-- Returns why nothing can be told of a figure of --fail-on.
local function undecided_text(look, row)
  if not look.steady then return "the machine is not steady" end
  if row.verdict == "worse" then return limit.undecided(row.limit) end
  return ("cannot tell after %d pairs"):format(look.pairs)
end

-- Returns the table of the figures of --fail-on, and a line for each that fails the study or of
-- which nothing can be told; "": there are none.
local function gate_text(study, markdown)
  local look = study.looks[#study.looks]
  if not look or #look.gate == 0 then return "" end
  local t, lines = columns.new("llrrrrl"), {}
  t:add("metric", "unit", "A", "B", "B to A", "interval", "verdict")
  for _, row in ipairs(look.gate) do
    local figure, found = row.limit.figure, row.found
    local ratio, interval = ratio_cells(found)
    t:add(figure.text, figure.shown_unit, number(found.a * figure.scale),
      number(found.b * figure.scale), ratio, interval, words[row.verdict])
    if study.ended and look.steady and row.failing then
      lines[#lines + 1] = ("Regression: %s is worse%s\n"):format(
        figure.text, limit.exceeded(row.limit))
    elseif study.ended and (not look.steady or row.undecided) then
      lines[#lines + 1] = ("Undecided: %s: %s\n"):format(figure.text, undecided_text(look, row))
    end
  end
  local between = markdown and "\n\n" or "\n"
  return "\nMetrics of --fail-on:" .. between .. t:text(markdown) .. (#lines > 0 and "\n" or "")
    .. table.concat(lines, markdown and "\n" or "")
end

-- Returns the line about the noise, which is "" before the first look, and the line of the verdict.
-- A study that has not ended has no verdict.
local function last_lines(study)
  local last = ""
  if #study.looks > 0 then
    last = ("\nNoise: the ratio of two runs of A varies by %.2f %%.\n"):format(
      100 * study.looks[#study.looks].again.noise)
  end
  return last, ("Verdict: %s\n"):format(study.ended and verdict_text(study)
    or study.signal and ("none, the study was interrupted by signal %d."):format(study.signal)
    or "none, the study failed.")
end

local function metric_text(study)
  local metric = study.metric
  return ("%s in %s, %s is better; %d pairs, order by --seed=%d\n\n"):format(
    metric.text, metric.unit, metric.better, #study.rounds, study.seed)
end

-- Returns the report for a terminal: the sides, a row for each look, the noise, the verdict, and
-- the metrics of --fail-on.
function report.text(study)
  local parts = {side_text("A", study.sides.a), side_text("B", study.sides.b), metric_text(study)}
  local function add(form, ...)
    parts[#parts + 1] = form:format(...)
  end
  if #study.looks > 0 then
    add("pairs  %10s %10s  %9s %22s  %9s %22s\n", "A", "B", "B to A", "interval", "A to A",
        "interval")
    for _, look in ipairs(study.looks) do
      add("%5d  %10s %10s%s%s\n", look.pairs, number(look.b.a), number(look.b.b),
          ratio_text(look.b), ratio_text(look.again))
    end
  end
  local noise, verdict = last_lines(study)
  return table.concat(parts) .. noise .. verdict .. gate_text(study)
end

-- Returns the same for a pull request or the summary of a job.
function report.markdown(study)
  local parts, t = {}, columns.new("rrrrrrr")
  for _, side in ipairs{side_text("A", study.sides.a), side_text("B", study.sides.b)} do
    for line in side:gmatch("[^\n]+") do
      parts[#parts + 1] = ("- %s\n"):format(columns.quote(line, true))
    end
  end
  parts[#parts + 1] = "\n" .. columns.quote(metric_text(study):gsub("\n", ""), true) .. "\n"
  t:add("pairs", "A", "B", "B to A", "interval", "A to A", "interval")
  for _, look in ipairs(study.looks) do
    local ratio, interval = ratio_cells(look.b)
    local again, around = ratio_cells(look.again)
    t:add(tostring(look.pairs), number(look.b.a), number(look.b.b), ratio, interval, again, around)
  end
  local noise, verdict = last_lines(study)
  parts[#parts + 1] = "\n" .. (#study.looks > 0 and t:text(true) or "") .. noise
  parts[#parts + 1] = ("\n**%s**\n"):format(columns.quote(verdict:gsub("\n", ""), true))
  return table.concat(parts) .. gate_text(study, true)
end

local function words_document(words)
  local list = {}
  for i, word in ipairs(words) do list[i] = native.mask(word) end
  return document.list(list)
end

local function side_document(side)
  local statements = {}
  for i, statement in ipairs(side.statements) do statements[i] = settings.masked(statement) end
  return document.map{
    {"command", words_document(side.words)},
    {"statements", document.list(statements)},
    {"exec", words_document(side.command)},
  }
end

local function ratio_document(found)
  return document.map{
    {"ratio", document.real(found.ratio)},
    {"low", document.real(found.interval.low)},
    {"high", document.real(found.interval.high)},
    {"noise", document.real(found.noise)},
  }
end

-- Returns the list "fail_on" of report.document: the rows of the last look.  It is empty before the
-- first look.  A ratio or an interval that is not known is null.
local function gate_document(study)
  local look, list = study.looks[#study.looks], {}
  for i, row in ipairs(look and look.gate or {}) do
    local found, interval = row.found, row.found.interval or {}
    list[i] = document.map{
      {"metric", row.limit.figure.text},
      {"unit", row.limit.figure.unit},
      {"limit_percent", document.real(100 * row.limit.share)},
      {"limit_amount", document.real(row.limit.amount)},
      {"a", document.real(found.a)},
      {"b", document.real(found.b)},
      {"ratio", document.real(found.ratio)},
      {"low", document.real(interval.low)},
      {"high", document.real(interval.high)},
      {"verdict", words[row.verdict]},
      {"failing", row.failing},
      {"undecided", row.undecided},
    }
  end
  return document.list(list)
end

local function round_document(round)
  return document.map{
    {"order", document.list(round.order)},
    {"a", document.real(round.a)},
    {"b", document.real(round.b)},
    {"aa", document.real(round.aa)},
    {"repeated", round.repeated},
  }
end

-- Returns one of the "looks" of report.document.  Its verdict is "cannot tell" if A differs from
-- itself.
local function look_document(look, level)
  return document.map{
    {"pairs", look.pairs},
    {"level", document.real(level)},
    {"a", document.real(look.b.a)},
    {"b", document.real(look.b.b)},
    {"b_a", ratio_document(look.b)},
    {"aa_a", ratio_document(look.again)},
    {"steady", look.steady},
    {"verdict", words[report.verdict(look)]},
  }
end

-- Returns the document, version 1:
--
--   {"format": "bench ab", "version": 1,
--    "metric": NAME, "unit": TEXT, "better": TEXT,     "more", "less"
--    "same": X,
--    "seed": N,                     of the order of the runs
--    "sides": {"a": SIDE, "b": SIDE},
--    "rounds": [{"order": [TEXT],   "a", "b" and "aa", which is the second run of side A
--                "a": X, "b": X, "aa": X,          the metric
--                "repeated": BOOL}],               a run of it failed at first
--    "looks": [{"pairs": N, "level": X,            one-sided level of the intervals
--               "a": X, "b": X,                    geometric means
--               "b_a": INTERVAL, "aa_a": INTERVAL, B against A, A against itself
--               "steady": BOOL, "verdict": TEXT}],
--    "fail_on": [{"metric": NAME, "unit": TEXT, "limit_percent": X, "limit_amount": X, "a": X,
--                 "b": X, "ratio": X, "low": X, "high": X, "verdict": TEXT,   at the last look
--                 "failing": BOOL, "undecided": BOOL}],
--    "verdict": TEXT,               "same", "equal", "worse", "better", "cannot tell"; null: the
--                                   study has not ended, or was interrupted, or a run failed
--    "signal": N}                   that interrupted it; 0: none
--
-- SIDE: {"command": [TEXT], "statements": [TEXT], "exec": [TEXT]}, without secrets.
-- INTERVAL: {"ratio": X, "low": X, "high": X, "noise": X}; noise is the standard deviation of the
-- logarithm of one ratio.
function report.document(study)
  local rounds, looks = {}, {}
  for i, round in ipairs(study.rounds) do rounds[i] = round_document(round) end
  for i, look in ipairs(study.looks) do looks[i] = look_document(look, study.levels[i]) end
  return document.map{
    {"format", "bench ab"},
    {"version", 1},
    {"metric", study.metric.text},
    {"unit", study.metric.unit},
    {"better", study.metric.better},
    {"same", document.real(study.same)},
    {"seed", study.seed},
    {"sides", document.map{
      {"a", side_document(study.sides.a)}, {"b", side_document(study.sides.b)}}},
    {"rounds", document.list(rounds)},
    {"looks", document.list(looks)},
    {"fail_on", gate_document(study)},
    {"verdict", study.ended and words[report.verdict(study.looks[#study.looks])] or document.null},
    {"signal", study.signal or 0},
  }
end

return report
