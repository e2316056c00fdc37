-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes the runs of a sweep.

local digits = require("study.digits")
local invocation = require("study.invocation")
local native = require("study.native")
local results = require("study.results")
local stats = require("study.stats")

local runs = {}

-- Progress --------------------------------------------------------------------------------------

-- Returns "; 10 s left", from the median of took_s, the times of the runs of this process.
local function time_left(sweep)
  local pending = sweep.tally:count("pending")
  if pending == 0 or #sweep.took_s == 0 then return "" end
  table.sort(sweep.took_s)
  return ("; %s left"):format(
    digits.duration(pending * (stats.median(sweep.took_s) + sweep.options.cooldown)))
end

-- Prints "[ 7/30] threads=16 repeat 2: " and what became of the run.
local function log(sweep, run, what)
  local n = #sweep.tally.runs
  native.log("%s", native.escape(("[%" .. #tostring(n) .. "d/%d] %s repeat %d: %s%s"):format(
    run, n, sweep.grid:name(sweep.tally.order[run]),
    math.floor((run - 1) / sweep.grid.points) + 1, what, time_left(sweep))))
end

-- Logs a run that ended well, with its rate and p95, and why --stop-when cannot hold for it, if so.
local function log_done(sweep, run)
  local p95_s = sweep.tally:value(run, "p95_s")
  local what = ("%.1f %s"):format(sweep.tally:value(run, "rate"),
    sweep.tally.rate == "events_per_s" and "events/s" or "tps")
  if p95_s then
    local ms = p95_s * 1e3
    what = what .. (", p95 %s ms"):format(digits.significant(ms, 2))
  end
  local lack = sweep.tally.runs[run].lack
  if lack then what = what .. "; --stop-when cannot hold: " .. lack end
  log(sweep, run, what)
end

-- A run -----------------------------------------------------------------------------------------

-- Returns the arguments of a run, which writes a text report and a result for the folder.
local function arguments(sweep, run)
  local words = sweep.grid:words(sweep.tally.order[run])
  words[#words + 1] = "--report=text"
  words[#words + 1] = "--report=json:" .. sweep.folder:run(run, "json")
  if sweep.options.warmup then
    words[#words + 1] = ("--warmup-time=%.9g"):format(sweep.options.warmup)
  end
  return sweep.command:argv("run", words)
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
local function make(sweep, run)
  local path, errors = sweep.folder:run(run, "json"), sweep.folder:run(run, "err")
  -- The result of an earlier attempt would be taken for that of this run.
  native.remove(path)
  local ended = native.check(native.child{
    argv = arguments(sweep, run), out = sweep.folder:run(run, "txt"), errors = errors})
  if native.signalled() then return nil end
  local result = native.kind(path) and native.result(path)
  local good = ended.status == 0 and result and not results.fault(result)
  if good then sweep.tally:take(run, result, sweep.options.stop_when) end
  local why = not good and reason(ended, errors) or nil
  sweep.folder.drop_empty(errors)
  return good or nil, why, not ended.signal and not (result and result.has_total)
end

-- Makes the data that a run needs, and the run.  Returns true; or nil, if a signal ends the sweep.
local function attempt(sweep, run)
  local begun_s = native.clock()
  local ok, why, refused = true, nil, nil
  if sweep.options.prepare then
    local hopeless
    ok, why, hopeless = sweep.data:have(sweep.tally.order[run])
    if hopeless and native.signalled() then return nil end
    if hopeless then native.fail("%s", why) end
  end
  if ok then ok, why, refused = make(sweep, run) end
  if native.signalled() then return nil end
  if ok then
    table.insert(sweep.took_s, native.clock() - begun_s)
    log_done(sweep, run)
    return true
  end
  sweep.tally.runs[run].state = "failed"
  -- If the first run is refused, nothing can be expected of the others.
  if refused and sweep.tally:count("done") == 0 and sweep.tally:count("failed") == 1 then
    native.fail("the first run, %s, failed before it measured anything: %s",
      sweep.grid:name(sweep.tally.order[run]):sub(1, 100), why:sub(1, 380))
  end
  log(sweep, run, "failed: " .. why)
  return true
end

-- Makes all runs of a sweep that are pending.  The sweep has options, folder, command, grid, data
-- and tally.
function runs.make_all(sweep)
  local first = true
  sweep.took_s = {}
  for run = 1, #sweep.tally.runs do
    if sweep.tally.runs[run].state == "pending" then
      if not first then native.pause(sweep.options.cooldown) end
      if native.signalled() or not attempt(sweep, run) then return end
      first = false
    end
    if sweep.options.stop_when then sweep.tally:leave_out(run) end
  end
end

return runs
