-- Module "sysbench.more": the fields of `sysbench` that few workers use.  A worker loads it when
-- its script first touches one of them, or a field that does not exist.
local internal = ...
internal.declare("more")
local C = internal.C
local module = internal.module
local rawget, rawset, type, error, ipairs, pairs = rawget, rawset, type, error, ipairs, pairs

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

local function report(format)
  return function () return module("sysbench.report")[format] end
end

-- Functions that return the values of the fields that pairs() shows before they are touched, and of
-- those that it does not show.
local shown, hidden = {
  histogram = function () return module("sysbench.histogram") end,
  report_csv = report("csv"), report_json = report("json"), report_default = report("default")
}, {}

-- A dialect does not have these.
if not internal.dialect() then
  shown.metrics = function () return module("sysbench.metrics") end
  hidden.row = function () return module("sysbench.row").new end
  hidden.think = function () return think end
  hidden.start_event = function () return start_event end
  hidden.time_left = function () return time_left end
  hidden.workqueue = function () return module("sysbench.workqueue") end
  hidden.kind = function () return module("sysbench.kinds").kind() end
  hidden.event_kind = function () return module("sysbench.kinds").event_kind end
  hidden.result = function () return internal.result() end
end

local M = {}

-- Returns the value of a field, or nil if it has none yet.
function M.load(key)
  local make = shown[key] or hidden[key]
  return make and make()
end

-- Sets all fields that pairs() shows before they are touched, the keys of `common` and of `shown`,
-- each to what load(key) returns.
function M.complete(sysbench, load, common)
  for _, names in ipairs({ common, shown }) do
    for key in pairs(names) do
      if rawget(sysbench, key) == nil then
        rawset(sysbench, key, load(key))
      end
    end
  end
end

return M
