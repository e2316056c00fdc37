-- Module "sysbench.sql": drivers, connections, statements, parameters and results.
-- The objects are C structs (script/api/ffi_sql.h); C returns what happened and this module raises.
-- What few event loops need is in sysbench.sql.more, which costs no memory until it is used.
local internal = ...
internal.declare("sql")
local ffi = internal.ffi
local C = ffi.C
local module = internal.module
local type, error, tostring, pairs, rawset, rawget, select, setmetatable =
  type, error, tostring, pairs, rawset, rawget, select, setmetatable
local copy, gc, text_of, typeof, istype = ffi.copy, ffi.gc, ffi.string, ffi.typeof, ffi.istype

local types = {
  NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7,
  DATE = 8, DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12
}
local errors = { NONE = 0, IGNORABLE = 1, FATAL = 2 }

-- The methods of one kind of object that sysbench.sql.more has join the table when one is missed.
local function with_more(methods, kind)
  return setmetatable(methods, {
    __index = function (_, name)
      setmetatable(methods, nil)
      for key, method in pairs(module("sysbench.sql.more")[kind]) do
        rawset(methods, key, method)
      end
      return rawget(methods, name)
    end
  })
end

-- The types of objects.  C takes nil for any of them and would follow it, so each method asks
-- first; compiled code has decided that when it was made.  A null pointer, which functions of
-- ffi.C return, has the type and is equal to nil.
local CONNECTION, STATEMENT, DRIVER = typeof("sql_connection"), typeof("sql_statement"),
  typeof("sql_driver")

local function shown(value)
  if type(value) ~= "cdata" then
    return type(value)
  end
  return value == nil and "a null pointer" or tostring(value)
end

-- Raises an error where the method was called: its object is missing or is another one.
local function refuse(object, kind, method)
  error(("%s: expected a %s, got %s; the call is %s:%s()")
        :format(method, kind, shown(object), kind, method), 3)
end

local function check_query(query)
  if type(query) ~= "string" then
    error('[string "sysbench.sql.lua"]:1: ' ..
          "attempt to get length of local 'query' (a " .. type(query) .. " value)", 0)
  end
end

-- Results ------------------------------------------------------------------------------------

local result_methods = with_more({}, "result")

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
  __tostring = function () return "<sql_result>" end
})

-- What statements without a result set return: in a dialect what scripts of that version know,
-- equal to nil and yet true.  It has no rows, where sysbench's own ends the program.
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

local function show_param()
  return "<sql_param>"
end

local function no_rand_str(self)
  error(("Unsupported argument type: %d"):format(self.type), 2)
end

local int_methods = { set_rand_str = no_rand_str }

-- A fraction is cut towards zero; nil is NULL.
function int_methods:set(value)
  if value == nil then
    self.is_null = true
    return
  end
  if type(value) == "string" then
    error("cannot convert 'string' to 'int64_t'", 2)
  end
  self.buffer[0] = value
  self.is_null = false
end

local text_methods = {}

-- As long as the parameter: what is longer is cut in a dialect, as in sysbench, and else refused.
local function fitting_length(method, len, max_len)
  if not dialect then
    error(("%s: the value has %d bytes, but max_len of the parameter is %d")
          :format(method, len, max_len), 3)
  end
  return max_len
end

function text_methods:set(value)
  if value == nil then
    self.is_null = true
    return
  end
  if type(value) ~= "string" then
    error("attempt to get length of local 'value' (a " .. type(value) .. " value)", 2)
  end
  local len = #value
  if len > self.max_len then
    len = fitting_length("set", len, self.max_len)
  end
  copy(self.buffer, value, len)
  self.data_len = len
  self.is_null = false
end

-- Fills it from a template: '#' becomes a digit, '@' a letter.
function text_methods:set_rand_str(fmt)
  local len = #fmt
  if len > self.max_len then
    len = fitting_length("set_rand_str", len, self.max_len)
  end
  C.bn_ffi_sql_rand_str(self.buffer, fmt, len)
  self.data_len = len
  self.is_null = false
end

-- The first member's fields count as the struct's own.
local int_param = ffi.metatype("struct { struct bn_ffi_param; int64_t buffer[1]; }",
                               { __index = int_methods, __tostring = show_param })
local text_param = ffi.metatype("struct { struct bn_ffi_param; char buffer[?]; }",
                                { __index = text_methods, __tostring = show_param })

local function new_int()
  local param = int_param()
  param.type, param.max_len, param.data_len = types.BIGINT, 8, 8
  return param
end

local function new_text(max_len)
  if type(max_len) ~= "number" or not (max_len >= 0 and max_len < 2 ^ 31) then
    error("bind_create: CHAR and VARCHAR need max_len, the greatest length in bytes", 2)
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

-- A statement could not be prepared or bound: its connection was lost, as it may be in execute, and
-- the event is to be repeated.
local function is_repeated(con)
  return con.lost and con.error == errors.IGNORABLE
end

local function refuse_value(value, place)
  error(("bind_param: value %d is %s; expected a parameter that bind_create() has made")
        :format(place, shown(value)), 3)
end

local function is_param(value)
  return value ~= nil and (istype(int_param, value) or istype(text_param, value) or
                           module("sysbench.sql.more").is_double(value))
end

local statement_methods = with_more({}, "statement")

function statement_methods:bind_create(param_type, max_len)
  local construct = constructors[param_type] or module("sysbench.sql.more").double(param_type)
  if not construct then
    error(("Unsupported argument type: %s"):format(tostring(param_type)), 2)
  end
  return construct(max_len)
end

-- 0, or 1 when there are too many or too few.  A connection that is lost meanwhile repeats the
-- event.
function statement_methods:bind_param(...)
  if self == nil or not istype(STATEMENT, self) then
    refuse(self, "statement", "bind_param")
  end
  local count = select("#", ...)
  if count == 0 then
    return nil
  end
  local params, addresses = { ... }, param_array(count)
  for i = 1, count do
    if not is_param(params[i]) then
      refuse_value(params[i], i)
    end
    addresses[i - 1] = ffi.cast("const struct bn_ffi_param *", params[i])
  end
  local rc = C.bn_ffi_sql_bind(self, addresses, count)
  if rc <= 0 then
    bound[self] = params
  end
  if rc ~= 0 and is_repeated(self.connection) then
    module("sysbench.sql.more").fail(self.connection, "<prepared statement>", 2)
  end
  return rc == 0 and 0 or 1
end

function statement_methods:execute()
  if self == nil or not istype(STATEMENT, self) then
    refuse(self, "statement", "execute")
  end
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
  if self == nil or not istype(STATEMENT, self) then
    refuse(self, "statement", "close")
  end
  if C.bn_ffi_sql_stmt_close(self) ~= 0 then
    error("SQL API error", 2)
  end
  -- sysbench's own number for a statement that was emulated.
  return dialect and internal.sysbench().opt.db_ps_mode == "disable" and 1 or 0
end

ffi.metatype("sql_statement", {
  __index = statement_methods,
  __tostring = function () return "<sql_statement>" end
})

-- Connections --------------------------------------------------------------------------------

local connection_methods = with_more({}, "connection")

-- The result set, or what stands for none.
function connection_methods:query(query)
  if self == nil or not istype(CONNECTION, self) then
    refuse(self, "connection", "query")
  end
  check_query(query)
  local rs = C.bn_ffi_sql_query(self, query, #query)
  if rs ~= nil then
    return rs
  end
  if self.error ~= 0 then
    module("sysbench.sql.more").fail(self, query, 2)
  end
  return nothing
end

-- name: what --statements counts it as. sysbench ignores it, and so do its dialects if it is none.
function connection_methods:prepare(query, name)
  if self == nil or not istype(CONNECTION, self) then
    refuse(self, "connection", "prepare")
  end
  check_query(query)
  if name ~= nil and type(name) ~= "string" then
    if not dialect then
      error("prepare: expected the name of the statement, got " .. type(name), 2)
    end
    name = nil
  end
  local statement = C.bn_ffi_sql_prepare(self, query, #query, name)
  if statement == nil then
    if is_repeated(self) then
      module("sysbench.sql.more").fail(self, query, 2)
    end
    error("SQL API error", 2)
  end
  return gc(statement, C.bn_ffi_sql_stmt_free)
end

function connection_methods:disconnect()
  if self == nil or not istype(CONNECTION, self) then
    refuse(self, "connection", "disconnect")
  end
  C.bn_ffi_sql_disconnect(self)
  return true
end

-- The texts of the last failure are Lua strings, copied when a script asks for them.
ffi.metatype("sql_connection", {
  __index = function (con, name)
    if name == "sql_errmsg" then
      return text_of(con.bn_sql_errmsg)
    elseif name == "sql_state" then
      return text_of(con.bn_sql_state)
    end
    local method = connection_methods[name]
    if not method then
      -- As LuaJIT says it of other objects.
      error(("'%s' has no member named '%s'"):format(tostring(CONNECTION):match("<(.*)>"),
                                                     tostring(name)), 2)
    end
    return method
  end,
  __tostring = function () return "<sql_connection>" end
})

-- Drivers ------------------------------------------------------------------------------------

local driver_methods = {}

function driver_methods:name()
  if self == nil or not istype(DRIVER, self) then
    refuse(self, "driver", "name")
  end
  return text_of(C.bn_ffi_sql_driver_name(self))
end

-- What a script passes is ignored, as in sysbench.
function driver_methods:connect()
  if self == nil or not istype(DRIVER, self) then
    refuse(self, "driver", "connect")
  end
  local con = C.bn_ffi_sql_connect(self, nil, nil, 0)
  if con == nil then
    error("connection creation failed", 2)
  end
  return gc(con, C.bn_ffi_sql_conn_free)
end

-- options: what is different for this connection, as the driver's options without its prefix.
function driver_methods:connect_with(options)
  if self == nil or not istype(DRIVER, self) then
    refuse(self, "driver", "connect_with")
  end
  if type(options) ~= "table" then
    error("connect_with: expected a table of options, got " .. type(options), 2)
  end
  local names, values, count, kept = module("sysbench.sql.more").overrides_of(options)
  local con = C.bn_ffi_sql_connect(self, names, values, count)
  if con == nil then
    error("connection creation failed", 2)
  end
  kept = nil
  return gc(con, C.bn_ffi_sql_conn_free)
end

ffi.metatype("struct sql_driver", {
  __index = driver_methods,
  __tostring = function () return "<sql_driver>" end
})

internal.refuse = refuse

local sql = { type = types, error = errors }

-- name: instead of --db-driver
function sql.driver(name)
  if name ~= nil and type(name) ~= "string" then
    error("driver: expected the name of a driver, got " .. type(name), 2)
  end
  local driver = C.bn_ffi_sql_driver(name)
  if driver == nil then
    error("failed to initialize the DB driver", 2)
  end
  return driver
end

return sql
