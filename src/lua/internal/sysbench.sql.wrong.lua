-- Module "sysbench.sql.wrong": messages about wrong calls, and the texts that show objects. Its
-- functions raise an error at the call of the method that refuses the call (refuse and expect in
-- sysbench.sql).
local internal = ...
local error, ipairs, type, tostring, istype =
  error, ipairs, type, tostring, internal.ffi.istype

-- The levels are this function, refuse or expect, the method and its caller.
local CALLER = 4

local M = {}

-- Every other object is a parameter.
function M.show(object)
  for _, kind in ipairs({ "sql_result", "sql_statement", "sql_connection", "sql_driver" }) do
    if istype(kind, object) then
      return "<" .. kind .. ">"
    end
  end
  return "<sql_param>"
end

local function shown(value)
  if type(value) ~= "cdata" then
    return type(value)
  end
  return value == nil and "a null pointer" or tostring(value)
end

-- Refuses an object that is missing or of another kind.
function M.object(object, kind, method)
  error(("%s: expected a %s, got %s; the call is %s:%s()")
        :format(method, kind, shown(object), kind, method), CALLER)
end

-- The reference's message has the place of its own module.
function M.query(query)
  error('[string "sysbench.sql.lua"]:1: ' ..
        "attempt to get length of local 'query' (a " .. type(query) .. " value)", 0)
end

function M.text(value)
  error("attempt to get length of local 'value' (a " .. type(value) .. " value)", CALLER)
end

function M.rows(value)
  error("bulk_insert_next: expected a text or a row of sysbench.row, got " .. shown(value), CALLER)
end

function M.sqlstate()
  error("expect_error: expected an SQLSTATE, a text of five letters or digits", CALLER)
end

function M.number(what)
  error("cannot convert 'string' to '" .. what .. "'", CALLER)
end

function M.length(method, len, max_len)
  error(("%s: the value has %d bytes, but max_len of the parameter is %d")
        :format(method, len, max_len), CALLER)
end

function M.max_len()
  error("bind_create: CHAR and VARCHAR need max_len, the greatest length in bytes", CALLER)
end

function M.param_type(param_type)
  error("Unsupported argument type: " .. tostring(param_type), CALLER)
end

function M.value(value, place)
  error(("bind_param: value %d is %s; expected a parameter that bind_create() has made")
        :format(place, shown(value)), CALLER)
end

function M.name(name)
  error("prepare: expected the name of the statement, got " .. type(name), CALLER)
end

-- LuaJIT has this message for other objects.
function M.member(object_type, name)
  error(("'%s' has no member named '%s'"):format(tostring(object_type):match("<(.*)>"),
                                                 tostring(name)), CALLER)
end

-- One more level: the function that refuses it is called by the method.
function M.column(i, n)
  error(("fetch: expected the numbers of columns, from 1 to %d, got %s"):format(n, tostring(i)),
        CALLER + 1)
end

function M.driver(name)
  error("driver: expected the name of a driver, got " .. type(name), CALLER)
end

function M.options(options)
  error("connect_with: expected a table of options, got " .. type(options), CALLER)
end

return M
