-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module keeps the figures of all runs of a sweep, and says what they mean for each point.
--
-- The results themselves are large.  A run is {state =, values = {NAME = NUMBER}, stops =, lack =};
-- its state is "pending", "done", which means that it ended well, "failed" or "left out", by
-- --stop-when.  lack is why it cannot measure what --stop-when is about, or nil.

local invocation = require("study.invocation")
local native = require("study.native")
local results = require("study.results")
local stats = require("study.stats")
local student = require("study.stats.student")
local usl = require("study.stats.usl")

local tally = {}
tally.__index = tally

-- Every result has these, by the names of columns and of figures.
local firsts = {{"rate", "rate"}, {"p50_s", "p50"}, {"p95_s", "p95"}, {"p99_s", "p99"}}
-- Result files may come from anywhere, with names of their own.
local names_most = 1280

-- The order has the point of each run; runs_of has the runs of each point.
function tally.new(grid, order)
  local self = setmetatable({
    grid = grid, order = order, runs = {}, runs_of = {}, names = {}, known = {}}, tally)
  for point = 0, grid.points - 1 do self.runs_of[point] = {} end
  for i, point in ipairs(order) do
    self.runs[i] = {state = "pending"}
    table.insert(self.runs_of[point], i)
  end
  for _, pair in ipairs(firsts) do self:add_name(pair[1]) end
  return self
end

function tally:add_name(name)
  if self.known[name] then return end
  self.known[name] = true
  self.names[#self.names + 1] = name
end

-- Takes the result of a run that ended well; stop: the text of --stop-when, or nil.
function tally:take(run, result, stop)
  local values = {}
  local function set(name, value)
    self:add_name(name)
    values[name] = value and math.abs(value) < math.huge and value or nil
  end
  for _, pair in ipairs(firsts) do set(pair[1], result:value(pair[2])) end
  local function set_if_room(name, value)
    if self.known[name] or #self.names < names_most then set(name, value) end
  end
  for _, cell in ipairs(result:row()) do
    if cell.value then set_if_room(cell.name, cell.value) end
  end
  -- These are the figures of the test itself that its text report prints.
  for _, figure in ipairs(result:test_figures()) do
    if figure.text then
      set_if_room("test_" .. figure.key:sub(1, 60):gsub("%W", "_"), figure.value)
    end
  end
  local judged = stop and result:judge(stop)
  self.runs[run] = {
    state = "done", values = values, stops = judged ~= nil and judged.measured and judged.holds,
    lack = judged and judged.lack}
  self.rate = result.kind == "sql" and "transactions_per_s" or "events_per_s"
end

function tally:count(state)
  local n = 0
  for _, run in ipairs(self.runs) do
    if run.state == state then n = n + 1 end
  end
  return n
end

-- Returns how many runs of a point are in each state, and whether --stop-when holds for more than
-- half of those that are done.
function tally:look(point)
  local seen, stops = {pending = 0, done = 0, failed = 0, ["left out"] = 0}, 0
  for _, i in ipairs(self.runs_of[point]) do
    local run = self.runs[i]
    seen[run.state] = seen[run.state] + 1
    stops = stops + (run.stops and 1 or 0)
  end
  seen.stops = 2 * stops > seen.done
  return seen
end

-- Leaves out runs after run `last`, if --stop-when now holds for more than half of the runs of its
-- point: the pending ones of points with a larger value of the first option and the same values of
-- the others.  Only runs up to `last` decide, so that a sweep that is resumed leaves out the same.
function tally:leave_out(last)
  local point, done, stops = self.order[last], 0, 0
  for _, i in ipairs(self.runs_of[point]) do
    if i <= last and self.runs[i].state == "done" then
      done = done + 1
      stops = stops + (self.runs[i].stops and 1 or 0)
    end
  end
  if 2 * stops <= done then return end
  for i = last + 1, #self.runs do
    if self.runs[i].state == "pending" and self.grid:beyond(point, self.order[i]) then
      self.runs[i].state = "left out"
    end
  end
end

-- Returns a figure of a run; nil: the run is not done, or has not measured it.
function tally:value(run, name)
  local at = self.runs[run]
  return at.state == "done" and at.values[name] or nil
end

-- Returns {n =, median =, min =, max =} of the runs of a point that have measured a figure; nil:
-- none has.
function tally:spread(point, name)
  local values = {}
  for _, i in ipairs(self.runs_of[point]) do values[#values + 1] = self:value(i, name) end
  if #values == 0 then return nil end
  table.sort(values)
  return {n = #values, median = stats.median(values), min = values[1], max = values[#values]}
end

-- Returns the point with the highest median of the rate, the first of several; nil: there is none.
-- A point of which a run has failed is not compared with points that were well.
function tally:best()
  local most, best = 0, nil
  for point = 0, self.grid.points - 1 do
    local spread = self:look(point).failed == 0 and self:spread(point, "rate")
    if spread and spread.median > most then most, best = spread.median, point end
  end
  return best
end

-- Returns {[point] = {n =, mean =}} of the logarithms of the rates of points that were well, their
-- number, the standard deviation of one run, which is that of all points together, and its degrees
-- of freedom.
local function logs_of(self)
  local of, points, squares, dof = {}, 0, 0, 0
  for point = 0, self.grid.points - 1 do
    local logs = {}
    for _, i in ipairs(self:look(point).failed == 0 and self.runs_of[point] or {}) do
      local rate = self:value(i, "rate")
      if rate and rate > 0 then logs[#logs + 1] = math.log(rate) end
    end
    if #logs > 0 then
      of[point], points = {n = #logs, mean = stats.mean(logs)}, points + 1
      squares, dof = squares + stats.deviation(logs) ^ 2 * (#logs - 1), dof + #logs - 1
    end
  end
  return of, points, math.sqrt(squares / math.max(dof, 1)), dof
end

-- Returns the list of points whose rate cannot be told from that of the best one; nil: there is one
-- run of each point, so that their noise is not known.  These are multiple comparisons with the
-- best (Hsu 1984, "Constrained Simultaneous Confidence Intervals for Multiple Comparisons with the
-- Best", Annals of Statistics 12:1136-1144) by a pooled variance, at 5 % for all points together,
-- divided among them (Bonferroni) in place of Dunnett's quantile.
function tally:rivals(best)
  local of, points, noise, dof = logs_of(self)
  if dof == 0 then return nil end
  local t = student.quantile(1 - 0.05 / math.max(points - 1, 1), dof)
  local rivals, winner = {}, of[best]
  for point = 0, self.grid.points - 1 do
    local rival = point ~= best and of[point]
    local error = rival and noise * math.sqrt(1 / winner.n + 1 / rival.n)
    if rival and winner.mean - rival.mean <= t * error then rivals[#rivals + 1] = point end
  end
  return rivals
end

-- Fits the Universal Scalability Law to points that differ in threads alone.  Returns a list of
-- {point =, threads = {…}, rate = {…}, law =}, and the axis of threads.
function tally:fits()
  local grid, found, axis = self.grid, {}, nil
  for i = #grid, 1, -1 do
    if invocation.present_name(grid[i].name) == "threads" then axis = i end
  end
  if not axis then return found end
  for point = 0, grid.points - 1 do
    if grid:index(point, axis) == 1 then
      local fit = {point = point, threads = {}, rate = {}}
      for other = 0, grid.points - 1 do
        local spread = grid:agree(point, other, axis) and self:spread(other, "rate")
        local threads = native.number(grid:value(other, axis))
        if spread and spread.median > 0 and threads then
          table.insert(fit.threads, threads)
          table.insert(fit.rate, spread.median)
        end
      end
      fit.law = usl.fit(fit.threads, fit.rate)
      if fit.law then found[#found + 1] = fit end
    end
  end
  return found, axis
end

-- Takes the results that an earlier sweep of the same folder has left.
function tally:resume(folder, stop)
  for i = 1, #self.runs do
    local path = folder:run(i, "json")
    local result = native.kind(path) and native.result(path)
    if result and not results.fault(result) then self:take(i, result, stop) end
  end
end

return tally
