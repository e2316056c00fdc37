-- Module "sysbench.sql": drivers, connections, statements, parameters and results. The objects are
-- C structs (script/api/ffi_sql.h); C returns outcomes and this module raises errors. Code that few
-- event loops need is in sysbench.sql.more, and messages about wrong calls in sysbench.sql.wrong:
-- neither costs memory until it is used.
local internal = ...
internal.declare("sql")
local ffi = internal.ffi
local C = internal.C
local module = internal.module
local type, error = type, error
local copy, gc, typeof, istype = ffi.copy, ffi.gc, ffi.typeof, ffi.istype

local types = {
  NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7,
  DATE = 8, DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12
}
local errors = { NONE = 0, IGNORABLE = 1, FATAL = 2 }

-- Tables of methods. The methods in sysbench.sql.more for a kind of object join its table when a
-- name is missed.
local kinds = {}
local missed = {
  __index = function (methods, name)
    setmetatable(methods, nil)
    for key, method in pairs(module("sysbench.sql.more")[kinds[methods]]) do
      rawset(methods, key, method)
    end
    return rawget(methods, name)
  end
}

local function methods_of(kind)
  local methods = setmetatable({}, missed)
  kinds[methods] = kind
  return methods
end

-- The types of objects.  C takes nil for any of them and would follow it, so each method checks its
-- object (expect); compiled code has decided that when it was made.  A null pointer, which
-- functions of ffi.C return, has the type and is equal to nil.
local CONNECTION, STATEMENT, DRIVER = typeof("sql_connection"), typeof("sql_statement"),
  typeof("sql_driver")

-- Raises an error where the method was called that calls this. what: a function of
-- sysbench.sql.wrong.
local function refuse(what, ...)
  module("sysbench.sql.wrong")[what](...)
end

-- Raises an error where the method was called unless the object is of the type.
local function expect(object, object_type, kind, method)
  if object == nil or not istype(object_type, object) then
    module("sysbench.sql.wrong").object(object, kind, method)
  end
end

-- Shows an object by its kind.
local function show(object)
  return module("sysbench.sql.wrong").show(object)
end

-- Results ------------------------------------------------------------------------------------

local result_methods = methods_of("result")

-- C declares the fields of a result together with its methods, when the first of them is missed.
local result_is_declared = false

ffi.metatype("sql_result", {
  __index = function (result, name)
    local method = result_methods[name]
    if method == nil and not result_is_declared then
      result_is_declared = true
      return result[name]
    end
    return method
  end,
  __tostring = show
})

-- The return value of statements without a result set: in a dialect the value that scripts of that
-- version know, equal to nil and yet true.  It has no rows; sysbench's own ends the program.
local dialect, nothing = internal.dialect(), nil
if dialect then
  nothing = ffi.metatype("struct { uint32_t nrows, nfields; }", {
    __eq = function () return true end,
    __tostring = function () return "<sql_result>" end,
    __index = {
      fetch_row = function () return nil end,
      free = function () return true end
    }
  })()
end
internal.no_result = nothing

-- Parameters ---------------------------------------------------------------------------------

local int_methods = {}

function int_methods:set_rand_str()
  refuse("param_type", self.type)
end

-- A fraction is cut towards zero; nil is NULL.
function int_methods:set(value)
  if value == nil then
    self.is_null = true
    return
  end
  if type(value) == "string" then
    refuse("number", "int64_t")
  end
  self.buffer[0] = value
  self.is_null = false
end

local text_methods = {}

-- Sets a text; nil is NULL.
function text_methods:set(value)
  if value == nil then
    self.is_null = true
    return
  end
  if type(value) ~= "string" then
    refuse("text", value)
  end
  local len = #value
  -- A longer text than the parameter is cut in a dialect, as in sysbench, else refused.
  if len > self.max_len then
    len = dialect and self.max_len or refuse("length", "set", len, self.max_len)
  end
  copy(self.buffer, value, len)
  self.data_len = len
  self.is_null = false
end

-- Fills the parameter from a template: '#' becomes a digit, '@' a letter.
function text_methods:set_rand_str(fmt)
  local len = #fmt
  if len > self.max_len then
    len = dialect and self.max_len or refuse("length", "set_rand_str", len, self.max_len)
  end
  C.bn_ffi_sql_rand_str(self.buffer, fmt, len)
  self.data_len = len
  self.is_null = false
end

-- The first member's fields count as the struct's own.
local int_param = ffi.metatype("struct { struct bn_ffi_param; int64_t buffer[1]; }",
                               { __index = int_methods, __tostring = show })
local text_param = ffi.metatype("struct { struct bn_ffi_param; char buffer[?]; }",
                                { __index = text_methods, __tostring = show })

local function new_int()
  local param = int_param()
  param.type, param.max_len, param.data_len = types.BIGINT, 8, 8
  return param
end

-- Returns a parameter for texts of at most max_len bytes, which it has room for from the start.
local function new_text(max_len)
  if type(max_len) ~= "number" or not (max_len >= 0 and max_len < 2 ^ 31) then
    refuse("max_len")
  end
  local param = text_param(max_len)
  param.type, param.max_len = types.VARCHAR, max_len
  return param
end

local constructors = {
  [types.TINYINT] = new_int, [types.SMALLINT] = new_int, [types.INT] = new_int,
  [types.BIGINT] = new_int, [types.CHAR] = new_text, [types.VARCHAR] = new_text
}

-- Statements ---------------------------------------------------------------------------------

-- The parameters that a statement reads at each execute, which must not be collected before it.
local bound = setmetatable({}, { __mode = "k" })

local param_array = typeof("const struct bn_ffi_param *[?]")

local function is_param(value)
  return value ~= nil and (istype(int_param, value) or istype(text_param, value) or
                           module("sysbench.sql.more").is_double(value))
end

local statement_methods = methods_of("statement")

-- Returns a new parameter.  max_len: the greatest length of a text in bytes; numbers need none.
function statement_methods:bind_create(param_type, max_len)
  local construct = constructors[param_type] or module("sysbench.sql.more").double(param_type)
  if not construct then
    refuse("param_type", param_type)
  end
  return construct(max_len)
end

-- Returns 0, or 1 for too many or too few values.  An ignored error repeats the event.
function statement_methods:bind_param(...)
  expect(self, STATEMENT, "statement", "bind_param")
  local count = select("#", ...)
  if count == 0 then
    return nil
  end
  local params, addresses = { ... }, param_array(count)
  for i = 1, count do
    if not is_param(params[i]) then
      refuse("value", params[i], i)
    end
    addresses[i - 1] = ffi.cast("const struct bn_ffi_param *", params[i])
  end
  local rc = C.bn_ffi_sql_bind(self, addresses, count)
  if rc <= 0 then
    bound[self] = params
  end
  if rc == 0 then
    return 0
  end
  module("sysbench.sql.more").restart_if_ignored(self.connection, "<prepared statement>")
  return 1
end

-- Returns the result set, or `nothing` without one.  Raises an error as query() does.
function statement_methods:execute()
  expect(self, STATEMENT, "statement", "execute")
  local rs = C.bn_ffi_sql_execute(self)
  if rs ~= nil then
    return rs
  end
  local con = self.connection
  if con.error ~= 0 then
    module("sysbench.sql.more").fail(con, "<prepared statement>", 2)
  end
  return nothing
end

function statement_methods:close()
  expect(self, STATEMENT, "statement", "close")
  if C.bn_ffi_sql_stmt_close(self) ~= 0 then
    error("SQL API error", 2)
  end
  -- This is sysbench's own number for an emulated statement.
  return dialect and internal.sysbench().opt.db_ps_mode == "disable" and 1 or 0
end

ffi.metatype("sql_statement", {
  __index = statement_methods,
  __tostring = show
})

-- Connections --------------------------------------------------------------------------------

local connection_methods = methods_of("connection")

-- Returns the result set, or `nothing` without one.
function connection_methods:query(query)
  expect(self, CONNECTION, "connection", "query")
  if type(query) ~= "string" then
    refuse("query", query)
  end
  local rs = C.bn_ffi_sql_query(self, query, #query)
  if rs ~= nil then
    return rs
  end
  if self.error ~= 0 then
    module("sysbench.sql.more").fail(self, query, 2)
  end
  return nothing
end

-- name: for --statements. sysbench ignores it, and so do its dialects if it is no name.
function connection_methods:prepare(query, name)
  expect(self, CONNECTION, "connection", "prepare")
  if type(query) ~= "string" then
    refuse("query", query)
  end
  if name ~= nil and type(name) ~= "string" then
    name = not dialect and refuse("name", name) or nil
  end
  local statement = C.bn_ffi_sql_prepare(self, query, #query, name)
  if statement == nil then
    module("sysbench.sql.more").restart_if_ignored(self, query)
    error("SQL API error", 2)
  end
  return gc(statement, C.bn_ffi_sql_stmt_free)
end

function connection_methods:disconnect()
  expect(self, CONNECTION, "connection", "disconnect")
  C.bn_ffi_sql_disconnect(self)
  return true
end

-- Says that the connection may be closed and opened again between events, which --reconnect-rate
-- asks for.  again: what is done then, if anything.
function connection_methods:may_reconnect(again)
  expect(self, CONNECTION, "connection", "may_reconnect")
  if C.bn_ffi_may_reconnect() then
    module("sysbench.renewal").add(self, again)
  end
end

-- sysbench.sql.more handles names that are no method.
ffi.metatype("sql_connection", {
  __index = function (con, name)
    local method = connection_methods[name]
    if method == nil then
      return module("sysbench.sql.more").field(con, name)
    end
    return method
  end,
  __tostring = show
})

-- Drivers ------------------------------------------------------------------------------------

local driver_methods = methods_of("driver")

function driver_methods:name()
  expect(self, DRIVER, "driver", "name")
  return ffi.string(C.bn_ffi_sql_driver_name(self))
end

-- Arguments of a script are ignored, as in sysbench.
function driver_methods:connect()
  expect(self, DRIVER, "driver", "connect")
  local con = C.bn_ffi_sql_connect(self, nil, nil, 0)
  if con == nil then
    error("connection creation failed", 2)
  end
  return gc(con, C.bn_ffi_sql_conn_free)
end

ffi.metatype("struct sql_driver", {
  __index = driver_methods,
  __tostring = show
})

internal.refuse, internal.expect = refuse, expect

local sql = { type = types, error = errors }

-- name: replaces --db-driver
function sql.driver(name)
  if name ~= nil and type(name) ~= "string" then
    refuse("driver", name)
  end
  local driver = C.bn_ffi_sql_driver(name)
  if driver == nil then
    error("failed to initialize the DB driver", 2)
  end
  return driver
end

return sql
