-- Module "sysbench.more": the fields of `sysbench` that few scripts use.  A worker loads it when
-- its script first touches one of them.
local internal = ...
local C = internal.C
local module = internal.module

-- A pause after this event, in place of that of --think-time.  It is no part of a latency.
local function think(seconds)
  if type(seconds) ~= "number" or not (seconds >= 0 and seconds <= 86400) then
    error("sysbench.think: not a number of seconds from 0 to 86400", 2)
  end
  if not C.bn_ffi_think(seconds) then
    error("sysbench.think: cannot be used with --rate: events that are due at a rate do not " ..
          "wait for threads that pause", 2)
  end
end

-- Makes the event that is under way start now.
local function start_event()
  C.bn_ffi_event_start_later()
end

-- The seconds for which events may begin, as of the end of the last event or pause; math.huge:
-- without a limit.
local function time_left()
  return C.bn_ffi_time_left()
end

-- Functions that return the value of a field, or nil if it has none yet.
return {
  row = function () return module("sysbench.row").new end,
  think = function () return think end,
  start_event = function () return start_event end,
  time_left = function () return time_left end,
  workqueue = function () return module("sysbench.workqueue") end,
  kind = function () return module("sysbench.kinds").kind() end,
  event_kind = function () return module("sysbench.kinds").event_kind() end
}
