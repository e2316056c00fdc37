-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module prints a comparison: as tables for people, and as a document.
--
-- The comparison is {sides = {A, B}, figures =, differences =, points =, compared =, failing = and
-- undecided = what study.compare.comparison returns, rules =}.

local columns = require("study.columns")
local digits = require("study.digits")
local compare = require("study.stats.compare")
local differ = require("study.compare.differ")
local document = require("study.document")
local invocation = require("study.invocation")
local limit = require("study.limit")

local real = document.real

local verdicts = {}

-- From so many pairs on it is all the same how many they are.
local more_most = 100000

local function plural(n)
  return n == 1 and "" or "s"
end

-- Returns a ratio as a difference in percent with that ending, or as a factor.
local function shown_difference(ratio, ending)
  local x = 100 * (ratio - 1)
  local size = math.abs(x)
  return digits.factor(ratio) or
    (size < 10 and "%+.2f" or size < 100 and "%+.1f" or "%+.0f"):format(x) .. ending
end

-- Returns what is said of a row in a few words: "worse", "cannot tell: needs 3 more pairs".
local function verdict_text(v, at, row)
  if not row.measured then return "not measured" end
  if at.how == "apart" then return "cannot tell: the runs do not alternate" end
  if row.verdict == "same" then return ("same within %.4g %%"):format(100 * v.rules.same) end
  if row.verdict ~= "unknown" then return row.verdict end
  if row.more >= more_most then return "cannot tell: too much noise" end
  return ("cannot tell: needs %s%d more %s"):format(
    (row.found.noise > 0 or not row.found.ratio) and "" or "at least ", row.more,
    at.how == "paired" and "pair" .. plural(row.more)
      or "run" .. plural(row.more) .. " of each side")
end

-- The text ----------------------------------------------------------------------------------------

-- Returns the line about a side, and a line for each run that does not count, with the reason.
local function side_text(v, i, markdown)
  local s, lines = v.sides[i], {}
  lines[1] = ("%s%s: %s (%d run%s)\n"):format(markdown and "- " or "", ("AB"):sub(i, i),
    columns.quote(s.path, markdown), s.n_counted, plural(s.n_counted))
  for _, run in ipairs(s.runs) do
    if run.left_out then
      lines[#lines + 1] = ("%s left out: %s: %s\n"):format(
        markdown and "  -" or "  ", columns.quote(run.path, markdown), run.left_out)
    end
  end
  return table.concat(lines)
end

-- Returns the cells of a figure.
local function cells_of(v, at, row)
  local figure, found = v.figures[row.figure], row.found
  local cells = {
    figure.text:sub(1, 60) .. (row.figure > 1 and " *" or ""), figure.shown_unit, "", "", "", "",
    verdict_text(v, at, row)}
  if not row.measured then return cells end
  for i, value in ipairs{found.a, found.b} do
    cells[2 + i] = value < math.huge and columns.number(figure.scale * value) or "beyond"
  end
  if found.ratio then cells[5] = shown_difference(found.ratio, " %") end
  if found.interval and at.how ~= "apart" then
    local low, high = found.interval.low, found.interval.high
    cells[6] = ("%s to %s"):format(shown_difference(low, digits.factor(high) and " %" or ""),
      shown_difference(high, " %"))
  end
  return cells
end

-- Leaves out columns without a value, unless it is Markdown.
local function table_text(v, at, markdown)
  local align = "llrrrrl"
  local rows = {{"metric", "unit", "A", "B", "difference", "98 % interval", "verdict"}}
  local is_shown, shown_align = {}, ""
  for _, row in ipairs(at.rows) do
    if not row.hidden then rows[#rows + 1] = cells_of(v, at, row) end
  end
  for k = 1, #align do
    is_shown[k] = markdown or k == #align
    for i = 2, #rows do is_shown[k] = is_shown[k] or rows[i][k] ~= "" end
    if is_shown[k] then shown_align = shown_align .. align:sub(k, k) end
  end
  local t = columns.new(shown_align)
  for _, row in ipairs(rows) do
    for k, cell in ipairs(row) do
      if is_shown[k] then t:add(cell) end
    end
  end
  return t:text(markdown)
end

-- Returns the name of a point, escaped; "" if there is one point only.
local function point_name(v, point, markdown)
  local name = v.points.name(point)
  return markdown and columns.quote(name, true) or name
end

local remarks_how = {
  paired = "", stationary = ", not alternating (--assume-stationary)", apart = ", not alternating",
  missing = ": nothing to compare"}

-- Returns the heading of a point, which says how many runs are compared and how, and its table.  A
-- point that one side lacks has no table.
local function point_text(v, at, markdown)
  local name = point_name(v, at.point, markdown)
  local counts
  if at.how == "paired" then
    counts = ("%d pair%s"):format(at.n_a, plural(at.n_a))
  else
    counts = ("%d run%s of A, %d of B"):format(at.n_a, plural(at.n_a), at.n_b)
  end
  local text = (name ~= "" and name .. ": " or "") .. counts .. remarks_how[at.how]
  text = (markdown and "\n**%s**\n" or "\n%s\n"):format(text)
  if at.how == "missing" then return text end
  return text .. (markdown and "\n" or "") .. table_text(v, at, markdown)
end

-- Returns whether all events of a run, or of one of its groups, are due at a rate.
local function is_paced(run, group)
  local value = {}
  for _, option in ipairs(run.options) do value[option.name] = option.value end
  if not value.group then return run.rate > 0 end
  return invocation.are_paced(value.group, group, value)
end

-- Returns remarks on the whole comparison: what makes its verdicts weaker, and how to measure
-- instead.
local function remarks_text(v, markdown)
  local apart, one_order, paced, parts = false, false, false, {markdown and "" or "\n"}
  local function remark(wanted, text)
    if wanted then parts[#parts + 1] = (markdown and "\n" or "") .. text .. "\n" end
  end
  for _, at in ipairs(v.compared) do
    apart = apart or at.how == "apart"
    one_order = one_order
      or at.how == "paired" and at.one_order and at.n_a >= compare.pairs_min
  end
  local group = v.figures[1].text:match("@group:(.*)")
  for _, side in ipairs(v.sides) do
    for _, run in ipairs(side.runs) do paced = paced or is_paced(run, group) end
  end
  remark(paced and v.figures[1].is_rate,
    "The runs had a fixed rate (--rate), so their rates say little. Compare a latency, for\n"
    .. "example with --metric=p99.")
  remark(#v.figures > 1, (markdown and "\\" or "")
    .. "* secondary: adjusted for the number of secondary metrics (Holm)")
  remark(apart,
    "The runs do not alternate. Measure again in the order A B B A A B B A. If the\n"
    .. "machine was steady, --assume-stationary compares the runs as they are.")
  remark(one_order,
    "All pairs began with the same side. If the machine got slower or faster, but not\n"
    .. "steadily, that may look like a difference. Measure in the order A B B A A B B A.")
  return table.concat(parts)
end

-- Returns why nothing can be told of a row that decides.
local function undecided_text(v, at, row)
  if at.how == "missing" then return "nothing to compare" end
  if row.verdict ~= "worse" then return verdict_text(v, at, row) end
  return limit.undecided(v.rules.limit[row.figure])
end

-- Returns a line for each figure that fails the comparison, and then, if that fails it too, for
-- each of which nothing can be told.
local function failing_text(v, markdown)
  local failing, undecided = {}, {}
  for _, at in ipairs(v.compared) do
    for _, row in ipairs(at.rows) do
      local name = columns.quote(v.figures[row.figure].text, markdown)
      local where = (#v.compared > 1 and " at " or "") .. point_name(v, at.point, markdown)
      if row.failing then
        failing[#failing + 1] = ("\nRegression: %s is worse%s%s\n"):format(
          name, limit.exceeded(v.rules.limit[row.figure]), where)
      elseif row.undecided and v.rules.fails_undecided then
        undecided[#undecided + 1] = ("\nUndecided: %s%s: %s\n"):format(
          name, where, undecided_text(v, at, row))
      end
    end
  end
  return table.concat(failing) .. table.concat(undecided)
end

-- Returns a text for a terminal, or one in Markdown; all that stands in files is escaped.
function verdicts.text(v, markdown)
  local parts = {
    side_text(v, 1, markdown), side_text(v, 2, markdown), differ.text(v.differences, markdown)}
  for _, at in ipairs(v.compared) do parts[#parts + 1] = point_text(v, at, markdown) end
  parts[#parts + 1] = remarks_text(v, markdown)
  parts[#parts + 1] = failing_text(v, markdown)
  return table.concat(parts)
end

-- The document ------------------------------------------------------------------------------------

local function side_document(s)
  local left_out = document.list{}
  for _, run in ipairs(s.runs) do
    if run.left_out then
      left_out[#left_out + 1] = document.map{
        {"file", run.path}, {"reason", run.left_out}, {"status", run.status}}
    end
  end
  return document.map{{"path", s.path}, {"runs", s.n_counted}, {"left_out", left_out}}
end

local methods = {
  few = "too few runs", t = "paired t", signs = "signs of pairs", ranks = "Mann-Whitney"}

-- Returns one of the "metrics" of a point.  Values that were not measured and tests that were not
-- made are null; "text" is the verdict as the table has it.
local function row_document(v, at, row)
  local found, figure, apart = row.found, v.figures[row.figure], at.how == "apart"
  local tested = not apart and found.method ~= "few"
  local interval = not apart and found.interval or {}
  local verdict = row.verdict
  if not row.measured then
    verdict = "not measured"
  elseif not verdict or verdict == "unknown" then
    verdict = "cannot tell"
  end
  return document.map{
    {"metric", figure.text}, {"unit", figure.unit}, {"primary", row.figure == 1},
    {"a", real(row.measured and found.a)}, {"b", real(row.measured and found.b)},
    {"ratio", real(row.measured and found.ratio)},
    {"ratio_low", real(interval.low)}, {"ratio_high", real(interval.high)},
    {"noise", real(found.noise > 0 and found.noise)},
    {"drift_per_s", real(at.how == "paired" and found.drift_per_s)},
    {"method", apart and document.null or methods[found.method]},
    {"p_worse", real(tested and found.worse.p)},
    {"p_better", real(tested and found.better.p)},
    {"adjusted_p_worse", real(tested and found.worse.adjusted)},
    {"adjusted_p_better", real(tested and found.better.adjusted)},
    {"verdict", verdict}, {"text", verdict_text(v, at, row)}, {"more", row.more or document.null},
    {"failing", row.failing}, {"undecided", row.undecided or false}}
end

-- Returns one of the "points": the options that make it, and its metrics.  A point that one side
-- lacks has no metrics.
local function point_document(v, at)
  local options, metrics = document.map(), document.list{}
  for i, name in ipairs(v.points.options) do
    document.set(options, name, v.points.value(at.point, i))
  end
  for _, row in ipairs(at.how ~= "missing" and at.rows or {}) do
    if not row.hidden then metrics[#metrics + 1] = row_document(v, at, row) end
  end
  return document.map{
    {"options", options}, {"interleaved", at.how == "paired"}, {"runs_a", at.n_a},
    {"runs_b", at.n_b}, {"metrics", metrics}}
end

-- Returns the document "bench comparison", version 1.
function verdicts.document(v)
  local points = document.list{}
  for i, at in ipairs(v.compared) do points[i] = point_document(v, at) end
  return document.map{
    {"format", "bench comparison"}, {"version", 1}, {"a", side_document(v.sides[1])},
    {"b", side_document(v.sides[2])}, {"differences", differ.document(v.differences)},
    {"alpha", real(v.rules.alpha)}, {"same", real(v.rules.same)}, {"points", points},
    {"regression", v.failing}, {"undecided", v.undecided}}
end

return verdicts
