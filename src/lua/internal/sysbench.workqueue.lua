-- Module "sysbench.workqueue": work that threads hand over to other threads of the same process.
local internal = ...
internal.declare("more")
internal.declare("workqueue")
local C = internal.C
local module = internal.module
local pcall, error, type = pcall, error, type

local M = {}

-- Returns the number, or refuses the call of the method.
local function check_number(value, method)
  if type(value) ~= "number" then
    error(("sysbench.workqueue.%s: expected a number, got a %s"):format(method, type(value)), 3)
  end
  return value
end

-- Says, in thread_init(), that this thread may hand over work.
function M.gives()
  C.bn_ffi_workqueue_join(false)
end

-- Says, in thread_init(), that this thread takes work.  Returns what is to be its thread_run(),
-- which calls event() for each piece of work.
function M.takes(event)
  if type(event) ~= "function" then
    error("sysbench.workqueue.takes: expected a function, got a " .. type(event), 2)
  elseif not C.bn_ffi_workqueue_join(true) then
    error("sysbench.workqueue.takes: the process has too many open files (ulimit -n)", 2)
  end
  local env = { event = event }
  return function (id)
    while C.bn_ffi_workqueue_take() do
      local ok, failure = pcall(event, id)
      if not ok and not module("sysbench.restart").restart(env, internal.sysbench(), pcall, id,
                                                           failure) then
        return
      end
      C.bn_ffi_event_end()
    end
  end
end

-- Returns whether this thread is one of the last n of its process.
function M.among_last(n)
  return C.bn_ffi_workqueue_among_last(check_number(n, "among_last"))
end

-- Hands over two numbers, and waits while there is no room.
function M.give(a, b)
  local answer = C.bn_ffi_workqueue_give(check_number(a, "give"), check_number(b, "give"))
  if answer == 2 then
    error("sysbench.workqueue.give: no thread takes work", 2)
  elseif answer ~= 0 then
    error({ errcode = internal.sysbench().error.RESTART_EVENT })
  end
end

-- Returns the two numbers of the work that the event is about.
function M.taken()
  return C.bn_ffi_workqueue_taken(0), C.bn_ffi_workqueue_taken(1)
end

-- Returns the number of pieces of work that wait; at the end, of those that nobody has taken.
function M.left()
  return C.bn_ffi_workqueue_left()
end

-- Returns the largest number of pieces of work that have waited.
function M.longest()
  return C.bn_ffi_workqueue_longest()
end

return M
