-- Module "sysbench.shared", for sessions that share a worker and its interpreter (--workers): the
-- functions of ffi.C that may wait, each as one that leaves its session until its call has
-- returned; and libraries of which each session has its own view. Returns what stands for ffi.C.
local internal = ...
internal.declare("more")
internal.declare("sql")
internal.declare("sql_more")
internal.declare("workqueue")
internal.declare("shared")
local ffi = internal.ffi
local C = ffi.C
local pairs, rawget, rawset, setmetatable, getmetatable, error, type, select =
  pairs, rawget, rawset, setmetatable, getmetatable, error, type, select
local yield, isyieldable, resume, running = coroutine.yield, coroutine.isyieldable,
  coroutine.resume, coroutine.running
local create = coroutine.create

internal.is_shared = true -- for module sysbench.kinds

-- Leaves the session until it may go on.
local wait = internal.wait

-- Functions that wait ------------------------------------------------------------------------

-- Each is written out: LuaJIT compiles the functions that a common maker returns without knowing
-- their upvalues, which costs two hundredths of the instructions of an event. A result is kept in a
-- local before it is returned: what follows a wait is not compiled if it begins with a tail call.

local waiting = {}

-- text may be of C, and then has its length beside it.
local function result_of(which, object, text, len)
  if C.bn_ffi_shared_call(which, object, text, len or text and #text or 0) then
    wait()
  end
  local rs = C.bn_ffi_shared_rs(text)
  return rs
end

-- Makes a call that returns a number, waits if it is not done at once, and returns the number.
local function number_of(which, object, number)
  if C.bn_ffi_shared_call(which, object, nil, number or 0) then
    wait()
  end
  local answer = C.bn_ffi_shared_number()
  return answer
end

function waiting.bn_ffi_sql_query(con, text, len)
  return result_of(C.BN_CALL_QUERY, con, text, len)
end

function waiting.bn_ffi_sql_query_uncounted(con, text, len)
  return result_of(C.BN_CALL_QUERY_UNCOUNTED, con, text, len)
end

function waiting.bn_ffi_sql_execute(statement)
  return result_of(C.BN_CALL_EXECUTE, statement)
end

function waiting.bn_ffi_sql_next_result(con)
  return result_of(C.BN_CALL_NEXT_RESULT, con)
end

function waiting.bn_ffi_sql_stmt_next_result(statement)
  return result_of(C.BN_CALL_STMT_NEXT_RESULT, statement)
end

function waiting.bn_ffi_sql_prepare(con, text, len, name)
  if C.bn_ffi_shared_call(C.BN_CALL_PREPARE, con, text, len) then
    wait()
  end
  return C.bn_ffi_shared_stmt(con, text, name)
end

function waiting.bn_ffi_sql_bind(statement, params, count)
  if C.bn_ffi_shared_bind(statement, params, count) then
    wait()
  end
  return C.bn_ffi_shared_rc(statement.connection, nil)
end

function waiting.bn_ffi_sql_connect(driver, names, values, count)
  if C.bn_ffi_shared_connect(driver, names, values, count) then
    wait()
  end
  return C.bn_ffi_shared_conn()
end

-- Makes a call of a bulk insert, and returns 0 if it has succeeded.
local function bulk(which, con, text, len)
  if C.bn_ffi_shared_call(which, con, text, len or 0) then
    wait()
  end
  local rc = C.bn_ffi_shared_rc(con, text)
  return rc
end

function waiting.bn_ffi_sql_bulk_init(con, text, len)
  return bulk(C.BN_CALL_BULK_INIT, con, text, len)
end

function waiting.bn_ffi_sql_bulk_next(con, text, len)
  return bulk(C.BN_CALL_BULK_NEXT, con, text, len)
end

function waiting.bn_ffi_sql_bulk_done(con)
  return bulk(C.BN_CALL_BULK_DONE, con)
end

function waiting.bn_ffi_sql_stmt_close(statement)
  return number_of(C.BN_CALL_STMT_CLOSE, statement)
end

function waiting.bn_ffi_sql_disconnect(con)
  return number_of(C.BN_CALL_DISCONNECT, con)
end

function waiting.bn_ffi_sql_reconnect(con)
  return number_of(C.BN_CALL_RECONNECT, con)
end

function waiting.bn_ffi_sql_settle(con, ignore)
  number_of(C.BN_CALL_SETTLE, con, ignore and 1 or 0)
end

-- Events -------------------------------------------------------------------------------------

local LATER = 2

-- begin: the event begins at once
local function ask(begin)
  local answer = C.bn_ffi_shared_ask(begin)
  while answer == LATER do
    wait()
    answer = C.bn_ffi_shared_ask(begin)
  end
  return answer == 1
end

function waiting.bn_ffi_event_begin()
  return ask(true)
end

function waiting.bn_ffi_event_next()
  C.bn_ffi_event_end()
  return ask(true)
end

function waiting.bn_ffi_event_next_of_kind(kind)
  C.bn_ffi_event_set_kind(kind)
  C.bn_ffi_event_end()
  return ask(true)
end

-- As in C.  Below 0, C has not waited for the event that takes the place of the failed one, and
-- this function does.
function waiting.bn_ffi_event_again(tries)
  local after = number_of(C.BN_CALL_AGAIN, nil, tries)
  if after >= 0 then
    return after
  end
  local more
  if C.bn_ffi_shared_takes() then
    more = waiting.bn_ffi_workqueue_take()
  else
    more = ask(true)
  end
  return more and 1 or 0
end

function waiting.bn_ffi_workqueue_take()
  number_of(C.BN_CALL_TAKE)
  return C.bn_ffi_shared_taken()
end

-- Tries again after 5 ms while there is no room.
function waiting.bn_ffi_workqueue_give(a, b)
  local answer = C.bn_ffi_workqueue_give(a, b)
  while answer == 1 do
    C.bn_ffi_shared_sleep(5e6)
    if C.bn_ffi_shared_waits() then
      wait()
    end
    answer = C.bn_ffi_workqueue_give(a, b)
  end
  return answer
end

-- Functions of C by which scripts sleep, once they have declared them ------------------------

-- Returns 0, as functions of C do that have slept all of the time.
local function sleep(ns)
  C.bn_ffi_shared_sleep(ns)
  if C.bn_ffi_shared_waits() then
    wait()
  end
  return 0
end

function waiting.usleep(us)
  return sleep(us * 1e3)
end

function waiting.sleep(s)
  return sleep(s * 1e9)
end

-- LuaJIT's manual sleeps by a poll of nothing.
function waiting.poll(files, count, ms)
  if files ~= nil or ms < 0 then
    return C.poll(files, count, ms)
  end
  return sleep(ms * 1e6)
end

-- Old names, which take nil for any object ---------------------------------------------------

function waiting.sb_more_events()
  return ask(false)
end

-- Their callers have no hook to ask, so that a failure is settled with them: it is not ignored.
local function settled(name, which, is_of_statement)
  waiting[name] = function (...)
    local object, text, len = ...
    if object == nil or text == nil and select("#", ...) > 1 then
      return C[name](...)
    end
    local rs = result_of(which, object, text, len)
    local con = is_of_statement and object.connection or object
    if con.error ~= 0 then
      number_of(C.BN_CALL_SETTLE, con, 0)
    end
    return rs
  end
end

settled("db_query", C.BN_CALL_QUERY, false)
settled("db_next_result", C.BN_CALL_NEXT_RESULT, false)
settled("db_execute", C.BN_CALL_EXECUTE, true)
settled("db_stmt_next_result", C.BN_CALL_STMT_NEXT_RESULT, true)

-- new: the function of today with the same arguments
local function old(name, new)
  waiting[name] = function (...)
    local object, text = ...
    if object == nil or text == nil and select("#", ...) > 1 then
      return C[name](...)
    end
    return waiting[new](...)
  end
end

old("db_connection_close", "bn_ffi_sql_disconnect")
old("db_connection_reconnect", "bn_ffi_sql_reconnect")
old("db_close", "bn_ffi_sql_stmt_close")
old("db_bulk_insert_done", "bn_ffi_sql_bulk_done")
old("db_bulk_insert_init", "bn_ffi_sql_bulk_init")
old("db_bulk_insert_next", "bn_ffi_sql_bulk_next")
old("db_prepare", "bn_ffi_sql_prepare")

function waiting.db_connection_create(driver)
  if driver == nil then
    return C.db_connection_create(driver)
  end
  return waiting.bn_ffi_sql_connect(driver, nil, nil, 0)
end

-- All others are as they are.
local calls = setmetatable({}, {
  __index = function (t, name)
    local call = waiting[name] or C[name]
    rawset(t, name, call)
    return call
  end
})

-- Coroutines of a script ---------------------------------------------------------------------

-- The coroutines that are sessions.
local sessions = setmetatable({}, { __mode = "k" })

-- A coroutine of the script that waits is no result of resume: the session waits with it.
local function passed(co, ...)
  if C.bn_ffi_shared_waits() then
    wait()
    return passed(co, resume(co))
  end
  return ...
end

-- Returns the results of a coroutine, or raises its error as coroutine.wrap() does.
local function unwrapped(ok, ...)
  if ok then
    return ...
  end
  error(..., type((...)) == "string" and 2 or 0)
end

local coroutines = {
  resume = function (co, ...)
    return passed(co, resume(co, ...))
  end,
  wrap = function (body)
    local co = create(body)
    return function (...)
      return unwrapped(passed(co, resume(co, ...)))
    end
  end,
  yield = function (...)
    if sessions[running()] then
      error("attempt to yield across C-call boundary", 0)
    end
    return yield(...)
  end,
  running = function ()
    local co = running()
    return not sessions[co] and co or nil
  end,
  isyieldable = function ()
    return not sessions[running()] and isyieldable()
  end
}
for name, call in pairs(coroutine) do
  coroutines[name] = coroutines[name] or call
end

-- Views of libraries -------------------------------------------------------------------------

-- Shows a view as a whole for pairs() (module sysbench).
local function completer(library)
  return function (view)
    local metatable = getmetatable(library)
    local fill = metatable and rawget(metatable, "bn.complete")
    if fill then
      fill(library)
    end
    setmetatable(view, nil)
    for name, value in pairs(library) do
      if rawget(view, name) == nil then
        rawset(view, name, value)
      end
    end
  end
end

-- Returns the view of a library two functions of which change what the interpreter has once.
local function guarded(library, shown, first, second)
  return {
    __index = function (_, name)
      if name == first or name == second then
        internal.wants_own(shown .. "." .. name)
      end
      return library[name]
    end
  }
end

local views = {
  coroutine = { __index = coroutines },
  io = guarded(io, "io", "input", "output"),
  math = guarded(math, "math", "random", "randomseed"),
  string = {
    __index = string,
    __newindex = function (_, name, value)
      internal.wants_own("a function of its own in `string`")
      rawset(string, name, value)
    end
  }
}
for _, name in pairs({ "bit", "debug", "os", "table" }) do
  views[name] = { __index = _G[name] }
end
for name, metatable in pairs(views) do
  metatable["bn.complete"] = completer(name == "coroutine" and coroutines or _G[name])
end

-- Strings have one metatable in an interpreter: a script that changes it changes the strings of all
-- sessions.
local function own_getmetatable(value)
  if type(value) == "string" then
    internal.wants_own("the metatable of strings")
  end
  return getmetatable(value)
end

-- Gives a new session, which runs, views of the libraries in its environment.
function internal.adopt(env)
  sessions[running()] = true
  for name, metatable in pairs(views) do
    env[name] = setmetatable({}, metatable)
  end
  env.getmetatable = own_getmetatable
end

-- As sysbench.cmdline.prepare_held(), but it leaves the session while it waits.
local function prepare_held()
  if C.bn_ffi_shared_call(C.BN_CALL_PREPARE_HELD, nil, nil, 0) then
    wait()
  end
  return C.bn_ffi_shared_prepared()
end

local new_cmdline = internal.cmdline

-- Replaces the function that makes sysbench.cmdline.
function internal.cmdline()
  local cmdline = new_cmdline()
  cmdline.prepare_held = prepare_held
  return cmdline
end

-- Completes a session's `ffi`.
function internal.adopt_ffi(own)
  own.C = calls
  own.cdef = internal.module("sysbench.cdef")
  function own.metatype(...)
    internal.wants_own("ffi.metatype")
    return ffi.metatype(...)
  end
end

return calls
