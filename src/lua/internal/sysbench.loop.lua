-- Module "sysbench.loop": the preset event loops.  All events of a session are in one protected
-- call, until one fails.  With a call for each event, a trace that LuaJIT begins within the event,
-- for example after a branch, could not go past the end of that call: most of an event with
-- branches would be interpreted.
local internal = ...
local C = internal.C

local M = {}

-- Ends an event, whose function has returned `result`, and begins the next one.  Returns whether
-- there is one.  Scripts that name kinds, and mixes, have such functions of their own.
local function end_event(result)
  if result then
    C.bn_ffi_event_drop()
    return false
  end
  return C.bn_ffi_event_next()
end

M.end_event = end_event

-- Runs events, from one that has begun until `finish`, which ends each, says that there is no
-- other.  event() is looked up each time because a script may replace it.
function M.run_events(finish, env, id)
  local more
  repeat
    more = finish(env.event(id))
  until not more
end

-- As run_events, with end_event for `finish`: compiled code knows a local function of this file,
-- which saves two hundredths of the instructions of an empty event.
function M.run_plain(_, env, id)
  local more
  repeat
    more = end_event(env.event(id))
  until not more
end

-- Runs the events of a session by `run`, run_events or run_plain with its arguments, in the
-- protected call `call`.  restart(failure) goes on after a failure, as that of module
-- sysbench.restart.
function M.run(call, restart, run, finish, ...)
  local more = C.bn_ffi_event_begin()
  while more do
    local ok, result = call(internal.call_below, run, finish, ...)
    if ok then
      return
    end
    ok, result = restart(result)
    if not ok then
      return
    end
    more = finish(result)
  end
end

return M
