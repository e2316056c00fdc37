-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes the runs of a sweep.

local data = require("study.sweep.data")
local digits = require("study.digits")
local invocation = require("study.invocation")
local native = require("study.native")
local results = require("study.results")
local stats = require("study.stats")

local runs = {}
runs.__index = runs

-- Returns an object that makes the runs of a sweep, and has its members: options, folder, command,
-- grid.  The caller adds the tally.
function runs.new(sweep)
  local self = setmetatable({took_s = {}}, runs)
  for name, value in pairs(sweep) do self[name] = value end
  self.data = data.new(self.folder, self.command, self.grid)
  return self
end

-- Progress --------------------------------------------------------------------------------------

-- Returns "; 10 s left", from the median of the runs of this process.
local function time_left(self)
  local pending = self.tally:count("pending")
  if pending == 0 or #self.took_s == 0 then return "" end
  table.sort(self.took_s)
  return ("; %s left"):format(
    digits.duration(pending * (stats.median(self.took_s) + self.options.cooldown)))
end

-- Prints "[ 7/30] threads=16 repeat 2: " and what became of the run.
local function log(self, run, what)
  local n = #self.tally.runs
  native.log("%s", native.escape(("[%" .. #tostring(n) .. "d/%d] %s repeat %d: %s%s"):format(
    run, n, self.grid:name(self.tally.order[run]),
    math.floor((run - 1) / self.grid.points) + 1, what, time_left(self))))
end

-- Logs a run that ended well, with its rate and p95, and why --stop-when cannot hold for it, if so.
local function log_done(self, run)
  local p95_s = self.tally:value(run, "p95_s")
  local what = ("%.1f %s"):format(self.tally:value(run, "rate"),
    self.tally.rate == "events_per_s" and "events/s" or "tps")
  if p95_s then
    local ms = p95_s * 1e3
    what = what .. (", p95 %s ms"):format(digits.significant(ms, 2))
  end
  local lack = self.tally.runs[run].lack
  if lack then what = what .. "; --stop-when cannot hold: " .. lack end
  log(self, run, what)
end

-- A run -----------------------------------------------------------------------------------------

-- Returns the arguments of a run, which writes a text report and a result for the folder.
local function arguments(self, run)
  local words = self.grid:words(self.tally.order[run])
  words[#words + 1] = "--report=text"
  words[#words + 1] = "--report=json:" .. self.folder:run(run, "json")
  if self.options.warmup then
    words[#words + 1] = ("--warmup-time=%.9g"):format(self.options.warmup)
  end
  return self.command:argv("run", words)
end

-- Returns "exit status 1: no such table (DIR/runs/0007.err)".
local function reason(ended, errors)
  local how = "it left no result"
  if ended.signal then
    how = "ended by signal " .. ended.signal
  elseif ended.status ~= 0 then
    how = "exit status " .. ended.status
  end
  local said = invocation.quote_errors(errors):sub(1, 255)
  return ("%s%s%s (%s)"):format(how, said ~= "" and ": " or "", said, errors:sub(1, 160))
end

-- Makes a run.  Returns true; or nil, why it failed, and whether it was refused: it has exited
-- before it measured anything, so that its command line may be wrong.
local function make(self, run)
  local path, errors = self.folder:run(run, "json"), self.folder:run(run, "err")
  -- The result of an earlier attempt would be taken for that of this run.
  native.remove(path)
  local ended = native.check(native.child{
    argv = arguments(self, run), out = self.folder:run(run, "txt"), errors = errors})
  if native.signalled() then return nil end
  local result = native.kind(path) and native.result(path)
  local good = ended.status == 0 and result and not results.fault(result)
  if good then self.tally:take(run, result, self.options.stop_when) end
  local why = not good and reason(ended, errors) or nil
  self.folder.drop_empty(errors)
  return good or nil, why, not ended.signal and not (result and result.has_total)
end

-- Makes the data that a run needs, and the run.  Returns true; or nil, if a signal ends the sweep.
local function attempt(self, run)
  local begun_s = native.clock()
  local ok, why, refused = true, nil, nil
  if self.options.prepare then
    local hopeless
    ok, why, hopeless = self.data:have(self.tally.order[run])
    if hopeless and native.signalled() then return nil end
    if hopeless then native.fail("%s", why) end
  end
  if ok then ok, why, refused = make(self, run) end
  if native.signalled() then return nil end
  if ok then
    table.insert(self.took_s, native.clock() - begun_s)
    log_done(self, run)
    return true
  end
  self.tally.runs[run].state = "failed"
  -- If the first run is refused, nothing can be expected of the others.
  if refused and self.tally:count("done") == 0 and self.tally:count("failed") == 1 then
    native.fail("the first run, %s, failed before it measured anything: %s",
      self.grid:name(self.tally.order[run]):sub(1, 100), why:sub(1, 380))
  end
  log(self, run, "failed: " .. why)
  return true
end

-- Makes all runs that are pending.
function runs:make_all()
  local first = true
  for run = 1, #self.tally.runs do
    if self.tally.runs[run].state == "pending" then
      if not first then native.pause(self.options.cooldown) end
      if native.signalled() or not attempt(self, run) then return end
      first = false
    end
    if self.options.stop_when then self.tally:leave_out(run) end
  end
end

return runs
