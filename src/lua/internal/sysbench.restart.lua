-- Module "sysbench.restart": handles an event that has failed.
local internal = ...
internal.declare("more")
local C = internal.C
local type, error, pcall, xpcall, gsub, traceback =
  type, error, pcall, xpcall, string.gsub, debug.traceback

local RESTART_EVENT = 1

local M = {}

-- In 0.5 a failure is the number alone.
local function is_restart(sysbench, failure)
  if type(failure) == "table" then
    return failure.errcode == RESTART_EVENT
  end
  return failure == RESTART_EVENT and sysbench.version == "0.5"
end

-- Returns a failure without the place of module sysbench.loop, which calls event(): an error that
-- names the caller of event() has no place of the user's, and had none in sysbench.
local function without_own_place(failure)
  return type(failure) == "string" and gsub(failure, '^%[string "sysbench%.loop%.lua"%]:%d+: ', "")
    or failure
end

-- Calls the script's hook, in which the connection may be lost again.
local function prepare(sysbench, failure)
  local hook = sysbench.hooks.before_restart_event
  if not hook then
    return true
  end
  local ok, raised = pcall(hook, failure)
  if not ok and not is_restart(sysbench, raised) then
    error(raised, 0)
  end
  return ok, raised
end

-- Repeats an event until it succeeds (true and its result), the run is over (false: it has ended
-- without being counted), or it fails with another error, which is raised.  After --db-max-tries it
-- has failed, and the next event takes its place; next_event, if given, returns the environment and
-- the sysbench table that it has.
function M.restart(env, sysbench, call, id, failure, next_event)
  local tries = 1
  local ok
  failure = without_own_place(failure)
  repeat
    if not is_restart(sysbench, failure) then
      error(failure, 0)
    end
    tries = C.bn_ffi_event_again(tries)
    if tries == 0 then
      return false
    end
    internal.log(5, tries > 1 and "Ignored error encountered, restarting transaction"
                    or "Ignored error encountered, transaction failed")
    ok, failure = prepare(sysbench, failure)
    if tries == 1 and next_event then
      env, sysbench = next_event()
    end
    if ok then
      ok, failure = call(env.event, id)
    end
  until ok
  return true, failure
end

-- Prints the traceback of an error that ends the run.  Returns the error without our own place.
local function show_traceback(failure)
  failure = without_own_place(failure)
  -- os.exit() ends a run with a userdata.
  if not is_restart(internal.sysbench(), failure) and type(failure) ~= "userdata" then
    internal.log_traceback(traceback(tostring(failure), 2))
  end
  return failure
end

-- Replaces pcall for --verbosity=5.
function M.traced(run, ...)
  return xpcall(run, show_traceback, ...)
end

return M
