-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module prints what a search has found: a row for each probe, the table, the answer and the
-- knee.
--
-- A row is {probe = {purpose, value, time_s}, with the capacity as the value where it was measured,
-- closed = there was no rate, so that the goal is not judged, overload = the run ended early or
-- could not keep up, holds, decided, status = exit status, rate, avg_s, p50_s, p95_s, p99_s,
-- errors, shown = {rate, avg_s, p95_s, p99_s} of the group whose option is varied, else the row,
-- [i] = the figure of condition i, broken = {[i] = it does not hold}}; a figure that is not known
-- is nil.

local digits = require("study.digits")
local document = require("study.document")

local real = document.real -- null for a number that is not known

local report = {}
report.__index = report

-- The goal is that of study.search.goal; over: "rate" or "threads", or "pay.rate" of a group; what:
-- the same without the group, which is nil if there is none.
function report.new(goal, over, what, group)
  local threads = what == "threads"
  return setmetatable({
    goal = goal, over = over, what = what, group = group, rows = {}, csv = "",
    title = threads and "number of threads" or "rate", unit = threads and " threads" or "/s",
  }, report)
end

local latencies = {avg_s = "avg", p50_s = "p50", p95_s = "p95", p99_s = "p99"}

-- Puts the figures of a result, which may have no total, into a row.
local function measure(row, result)
  local events = result:value("events")
  if not events then return end
  local errors = result:value("errors") or 0
  row.rate = result:value("eps")
  row.errors = events + errors > 0 and errors / (events + errors) or nil
  if events > 0 then
    for name, figure in pairs(latencies) do row[name] = result:value(figure) end
  end
end

-- Returns the figures of a group of a result.
local function measure_group(group, result)
  local shown = {rate = result:value("eps@group:" .. group)}
  for name, figure in pairs(latencies) do
    shown[name] = result:value(figure .. "@group:" .. group)
  end
  return shown
end

-- Returns the conditions that a probe broke: "p99<20ms"; or that it was overloaded.
function report:broken(row)
  local list = {}
  for i, condition in ipairs(self.goal) do
    if row.broken[i] then list[#list + 1] = condition.text end
  end
  if row.overload then table.insert(list, 1, "overloaded") end
  return table.concat(list, ", ")
end

-- Returns "kept" or "broken", with a "?" if the probe was too short to decide; "-": the probe had
-- no rate, and so was not judged.
local function verdict(row)
  if row.closed then return "-" end
  return (row.holds and "kept" or "broken") .. (row.decided and "" or "?")
end

-- Adds a probe whose goal was judged as `findings` say, with its line of table.csv.
function report:add(row, result, findings)
  measure(row, result)
  row.shown = self.group and measure_group(self.group, result) or row
  for i = 1, #self.goal do
    row[i] = findings[i].measured and findings[i].value or nil
    row.broken[i] = findings[i].broken
  end
  self.rows[#self.rows + 1] = row
  local probe = row.probe
  local names = {"probe", "purpose", self.over, "time_s", "status", "goal"}
  local values = {
    #self.rows, '"' .. probe.purpose .. '"', digits.real(probe.value), digits.real(probe.time_s),
    row.status, row.closed and "" or '"' .. verdict(row) .. '"'}
  for _, cell in ipairs(result:row()) do
    names[#names + 1] = cell.name
    values[#values + 1] = cell.text
  end
  if #self.rows == 1 then self.csv = table.concat(names, ",") .. "\n" end
  self.csv = self.csv .. table.concat(values, ",") .. "\n"
end

-- Returns four digits, without an exponent where that is short; "-": the number is not known.
local function number(value)
  if not value or value - value ~= 0 then return "-" end
  if value == math.floor(value) then return digits.fixed(value, 0) end
  local decimals, size = 3, math.abs(value)
  while size >= 10 and decimals > 0 do
    size, decimals = size / 10, decimals - 1
  end
  while size < 1 and decimals < 6 do
    size, decimals = size * 10, decimals + 1
  end
  return digits.fixed(value, decimals)
end

-- Times of probes are what somebody typed, or multiples of it.
local function seconds(value)
  return ("%.4g"):format(value)
end

-- Returns "p99 12.3 ms, errors 0 %".
function report:figures(row)
  local list = {}
  for i, condition in ipairs(self.goal) do
    local unit = condition.unit == "1" and "" or " " .. condition.unit
    list[i] = ("%s %s%s"):format(condition.text:match("^[^<>]*"), number(row[i]), unit)
  end
  return table.concat(list, ", ")
end

-- Returns "1200 events/s" or "8 threads".
function report:value(row)
  return number(row.probe.value) .. (self.what == "rate" and " events/s" or " threads")
end

-- Returns "probe 3: 1200 events/s, 20 s: p99 12.3 ms, errors 0 %: kept" of the last row.
function report:line()
  local words = {
    capacity = "", step = "", longer = ", longer", confirm = ", to confirm", again = ", again"}
  local row = self.rows[#self.rows]
  local head = ("probe %d: "):format(#self.rows)
  local time = (", %s s%s: "):format(seconds(row.probe.time_s), words[row.probe.purpose])
  if row.closed then
    return ("%swithout --rate%s%s events/s, %s"):format(
      head, time, number(row.shown.rate), self:figures(row))
  end
  local broken = not row.holds and (row.overload or #self.goal > 1) and self:broken(row) or ""
  return ("%s%s%s%s: %s%s"):format(head, self:value(row), time, self:figures(row), verdict(row),
    broken ~= "" and " (" .. broken .. ")" or "")
end

local line_form = "%5s  %-8s  %10s  %7s  %10s  %9s  %9s  %9s  %8s%s  %s\n"

-- Returns "  p99@event:pay, ms" for each condition about a part of the run; row: with its figure
-- instead.
function report:part_cells(row)
  local cells = {}
  for i, condition in ipairs(self.goal) do
    if condition.timing then
      local unit = condition.unit == "1" and "" or ", " .. condition.unit
      local title = condition.text:match("^%s*([^<>]-)%s*[<>]") .. unit
      cells[#cells + 1] = ("  %" .. #title .. "s"):format(row and number(row[i]) or title)
    end
  end
  return table.concat(cells)
end

-- Returns the table in the order of values.
function report:table_text()
  local order, unsure = {}, false
  for i, row in ipairs(self.rows) do
    order[i] = i
    unsure = unsure or not (row.closed or row.decided)
  end
  table.sort(order, function(a, b)
    local x, y = self.rows[a].probe.value, self.rows[b].probe.value
    return x < y or x == y and a < b
  end)
  local lines = {line_form:format(
    "probe", "purpose", self.what == "rate" and self.over .. ", 1/s" or self.over, "time, s",
    "events/s", "avg, ms", "p95, ms", "p99, ms", "errors,%", self:part_cells(), "goal")}
  for _, i in ipairs(order) do
    local row = self.rows[i]
    local shown = row.shown
    local function scaled(name, scale)
      return number(shown[name] and shown[name] * scale)
    end
    lines[#lines + 1] = line_form:format(
      i, row.probe.purpose, row.closed and "-" or number(row.probe.value),
      number(row.probe.time_s), number(shown.rate), scaled("avg_s", 1e3), scaled("p95_s", 1e3),
      scaled("p99_s", 1e3), number(row.errors and row.errors * 100), self:part_cells(row),
      verdict(row))
  end
  if self.group then
    lines[#lines + 1] = ("events/s, avg, p95 and p99 are those of the group %s, and errors those "
      .. "of the run\n"):format(self.group)
  end
  if unsure then
    lines[#lines + 1] = "?: the probe was too short to decide with 95 % confidence\n"
  end
  return table.concat(lines)
end

-- Returns the row of the lowest value that was tried.
function report:lowest()
  local lowest
  for _, row in ipairs(self.rows) do
    local is_higher = lowest and lowest.probe.value < row.probe.value
    if not row.closed and not is_higher then lowest = row end
  end
  return lowest
end

-- Returns the row with the most throughput for its mean latency; nil: there is none.
function report:knee()
  local knee
  for _, row in ipairs(self.rows) do
    local shown, most = row.shown, knee and knee.shown
    if not row.closed and shown.avg_s and shown.avg_s > 0
      and (not most or shown.rate / shown.avg_s > most.rate / most.avg_s) then
      knee = row
    end
  end
  return knee
end

-- Returns the row that confirms the answer.
function report:answer_row(hunt)
  for i = #self.rows, 1, -1 do
    if self.rows[i].probe.value == hunt.answer then return self.rows[i] end
  end
end

-- Returns the line on the answer, and a line on the lowest value above it that breaks the goal, or
-- on why none is known.  The search has found an answer.
function report:answer_text(hunt)
  local last = self:answer_row(hunt)
  local answer = ("highest %s that keeps the goal: %s%s (%s by a run of %s s: %s)\n"):format(
    self.title, number(hunt.answer), self.unit,
    last.decided and "confirmed" or "kept, but not decided,", seconds(last.probe.time_s),
    self:figures(last))
  if hunt.failed <= hunt.answer then
    return answer .. (hunt.answer >= hunt.most and "--max allows no higher %s\n"
      or "no probe was left to try a higher %s\n"):format(self.title)
  end
  return answer .. ("lowest %s above it that breaks the goal: %s%s (%s %% more%s)\n"):format(
    self.title, number(hunt.failed), self.unit, number((hunt.failed / hunt.answer - 1) * 100),
    hunt.again == hunt.failed and "" or "; no probe was left to look again")
end

-- Returns the table and what follows from it; the hunt is as the search ended.
function report:text(hunt)
  local parts, knee = {self:table_text(), "\n"}, self:knee()
  if hunt.capacity > 0 then
    parts[#parts + 1] = ("capacity without --rate: %s/s\n"):format(number(hunt.capacity))
  end
  if knee then
    parts[#parts + 1] = ("knee (the probe with the most throughput / mean latency, Kleinrock's "
      .. "power): %s%s, avg %s ms\n"):format(
      number(knee.probe.value), self.unit, number(knee.shown.avg_s * 1e3))
  end
  if hunt.state == "found" then parts[#parts + 1] = self:answer_text(hunt) end
  return table.concat(parts)
end

-- Returns whether a probe keeps condition i; null: it was not judged.
local function kept(row, i)
  if row.closed then return document.null end
  return not row.broken[i]
end

-- Returns one of the "probes" of report:document.  A probe without --rate has neither a value nor a
-- verdict.
local function probe_document(self, row)
  local conditions = {}
  for i, condition in ipairs(self.goal) do
    conditions[i] = document.map{
      {"text", condition.text}, {"value", real(row[i])}, {"unit", condition.unit},
      {"kept", kept(row, i)}}
  end
  return document.map{
    {"purpose", row.probe.purpose},
    {"value", real(not row.closed and row.probe.value)},
    {"time_s", real(row.probe.time_s)},
    {"status", row.status},
    {"goal", row.closed and document.null or verdict(row)},
    {"overload", row.overload},
    {"events_per_s", real(row.rate)},
    {"avg_s", real(row.avg_s)},
    {"p50_s", real(row.p50_s)},
    {"p95_s", real(row.p95_s)},
    {"p99_s", real(row.p99_s)},
    {"errors", real(row.errors)},
    {"conditions", document.list(conditions)},
  }
end

-- Returns the same as a document, version 1; a number that is not known is null:
--
--   {"format": "bench search", "version": 1, "goal": …, "over": …, "answer": …, "decided": …,
--    "broken_at": …, "capacity_per_s": …, "knee": …,
--    "probes": [{"purpose": …, "value": …, "time_s": …, "status": …, "goal": …, "overload": …,
--                "events_per_s": …, "avg_s": …, "p50_s": …, "p95_s": …, "p99_s": …, "errors": …,
--                "conditions": [{"text": …, "value": …, "unit": …, "kept": …}]}]}
function report:document(hunt)
  local found, knee, probes = hunt.state == "found", self:knee(), {}
  for i, row in ipairs(self.rows) do probes[i] = probe_document(self, row) end
  local decided = document.null
  if found then decided = self:answer_row(hunt).decided end
  return document.map{
    {"format", "bench search"},
    {"version", 1},
    {"goal", self.goal.text},
    {"over", self.over},
    {"answer", real(found and hunt.answer)},
    {"decided", decided},
    {"broken_at", real(hunt.failed > 0 and hunt.failed)},
    {"capacity_per_s", real(hunt.capacity > 0 and hunt.capacity)},
    {"knee", real(knee and knee.probe.value)},
    {"probes", document.list(probes)},
  }
end

return report
