-- Module "sysbench.renewal": connections that are closed and opened again between events, in the
-- turns that a session has with --reconnect-rate.
local internal = ...
internal.declare("more")
local C = internal.C
local type, error, rawget, setmetatable = type, error, rawget, setmetatable

-- The connections of an instance, by its `sysbench` table, and what is done on a new one.
local lists = setmetatable({}, { __mode = "k" })

-- The event does not begin before there is a connection.
local function open_again(entry)
  entry.connection:reconnect()
  if entry.again then
    entry.again(entry.connection)
  end
  C.bn_ffi_event_start_later()
end

-- Makes the connections of an instance take turns before its events.
local function attach(env, sysbench)
  local list, event, last = lists[sysbench], rawget(env, "event"), 0
  if not list or not event then
    return
  end
  function env.event(id)
    if C.bn_ffi_take_renewal() then
      last = last % #list + 1
      open_again(list[last])
    end
    return event(id)
  end
end

local M = {}

-- Adds a connection to those of the instance that runs.
function M.add(connection, again)
  if again ~= nil and type(again) ~= "function" then
    error(("connection:may_reconnect: expected a function, got a %s"):format(type(again)), 3)
  end
  local sysbench = internal.sysbench()
  local list = lists[sysbench] or {}
  list[#list + 1] = { connection = connection, again = again }
  lists[sysbench] = list
  internal.attach_renewals = attach
end

return M
