-- Module "sysbench.sql.more": the part of module sysbench.sql that is loaded when needed: failures,
-- bulk inserts, further results, new connections, numbers with fractions.
local internal = ...
internal.declare("more")
internal.declare("sql_more")
local ffi = internal.ffi
local C = internal.C
local RESTART_EVENT, IGNORABLE = 1, 1
local DOUBLE, FLOAT = 6, 5
local ALERT = 1
local type, error, assert, pcall, tostring, pairs, unpack =
  type, error, assert, pcall, tostring, pairs, unpack
local text_of, typeof, istype, getinfo = ffi.string, ffi.typeof, ffi.istype, debug.getinfo
local CONNECTION, STATEMENT, RESULT = typeof("sql_connection"), typeof("sql_statement"),
  typeof("sql_result")
local DRIVER = typeof("sql_driver")
local text_len = ffi.new("size_t[1]")
local refuse, expect = internal.refuse, internal.expect

local connection_methods, statement_methods, result_methods = {}, {}, {}

-- The reference's message has this place, the line of its own module.
local here = '[string "sysbench.sql.lua"]:1: '

-- Errors -------------------------------------------------------------------------------------

-- The error descriptor of the connection's last failure.
local function descriptor(con, query)
  return {
    connection = con,
    query = query,
    sql_errno = con.sql_errno,
    sql_state = con.sql_state,
    sql_errmsg = con.sql_errmsg
  }
end

-- The script's line, for the message if nothing repeats the event; nil: the caller is a module of
-- bench's own.
local function place_of(level)
  local at = getinfo(level + 1, "Sl")
  return at and at.currentline > 0 and not at.source:find("^=%[")
    and ("%s:%d"):format(at.short_src, at.currentline) or nil
end

-- Returns whether the script's hook ignores a failure that the driver does not; a hook that fails
-- makes the statement fail.
local function ignored_by_hook(con, failure)
  local hook = internal.sysbench().hooks.sql_error_ignorable
  if not hook then
    C.bn_ffi_sql_settle(con, false)
    return false
  end
  local ok, ignore = pcall(hook, failure)
  C.bn_ffi_sql_settle(con, ok and ignore == true)
  if not ok then
    error(ignore, 0)
  end
  return ignore == true
end

-- Raises the connection's last failure: a descriptor that restarts the event, or a message with
-- the position `level` (as error counts it from the caller of this), or with `prefix`.
local function fail(con, query, level, prefix)
  C.bn_ffi_sql_failed(con)
  local failure = descriptor(con, query)
  local restart = con.error == IGNORABLE
  if not restart and failure.sql_errno == 0 and failure.sql_state == "" then
    -- pcall(con.query, con, …) has no place, so the script's function around it is the place.
    local caller = getinfo(level + 1, "S")
    local direct = caller and caller.what == "C" and 1 or 0
    local why = ""
    if not internal.dialect() then
      C.bn_ffi_sql_settle(con, false)
      why = failure.sql_errmsg ~= "" and ": " .. failure.sql_errmsg or ""
    end
    error((prefix or "") .. "SQL API error" .. why, prefix and 0 or level + 1 + direct)
  end
  if restart or ignored_by_hook(con, failure) then
    failure.errcode = RESTART_EVENT
    if not internal.dialect() then
      failure.place = place_of(level + 1)
      local text = C.bn_ffi_sql_failed_text(con, text_len)
      failure.statement = text ~= nil and text_of(text, text_len[0]) or nil
    end
    error(failure)
  end
  error(("%sSQL error, errno = %d, state = '%s': %s"):format(
        prefix or "", failure.sql_errno, failure.sql_state, failure.sql_errmsg),
        prefix and 0 or level + 1)
end

-- Restarts the event after an ignored error of preparing or binding a statement, which may happen
-- in execute.  sysbench restarts the event only after a lost connection.
local function restart_if_ignored(con, query)
  if con.error == IGNORABLE and (con.lost or not internal.dialect()) then
    fail(con, query, 2)
  end
end

-- The texts of the last failure are Lua strings, copied when a script asks for them.
local function field(con, name)
  if name == "sql_errmsg" then
    return text_of(con.bn_sql_errmsg)
  elseif name == "sql_state" then
    return text_of(con.bn_sql_state)
  end
  refuse("member", CONNECTION, name)
end

-- Moves to the next row.  Returns false after the last.
local function fetch(rs)
  if C.bn_ffi_sql_fetch(rs) then
    return true
  end
  if C.bn_ffi_sql_fetch_failed(rs) then
    error("cannot read the rest of a result", 3)
  end
  if rs.nrows == 0 and internal.dialect() then
    internal.log(ALERT, "attempt to fetch row from an empty result set")
  end
  return false
end

-- Returns a column of the row, nil for NULL.
local function text_at(rs, i)
  local value = rs.row.values[i - 1]
  return value.ptr ~= nil and text_of(value.ptr, value.len) or nil
end

-- Returns the next row as an array of strings with holes for NULL; nil after the last.
function result_methods:fetch_row()
  expect(self, RESULT, "result", "fetch_row")
  if not fetch(self) then
    return nil
  end
  local row = {}
  for i = 1, self.nfields do
    row[i] = text_at(self, i)
  end
  return row
end

-- Returns a column that a script has asked for by its number; nil for none.
local function column(rs, i)
  if i == nil then
    return nil
  end
  if type(i) ~= "number" or not (i >= 1 and i <= rs.nfields) then
    refuse("column", i, rs.nfields)
  end
  return text_at(rs, i)
end

-- Moves to the next row.  Returns true and the columns with these numbers, or false after the last
-- row.  A row of which few columns are needed costs no table, and no strings for the others.
function result_methods:fetch(a, b, c, d, e, f)
  expect(self, RESULT, "result", "fetch")
  if not fetch(self) then
    return false
  end
  return true, column(self, a), column(self, b), column(self, c), column(self, d), column(self, e),
         column(self, f)
end

function result_methods:free()
  expect(self, RESULT, "result", "free")
  return assert(C.bn_ffi_sql_free_result(self) == 0, "db_free_results() failed")
end

-- Returns the next result set of a statement, or as execute() without one.
function statement_methods:next_result()
  expect(self, STATEMENT, "statement", "next_result")
  local rs = C.bn_ffi_sql_stmt_next_result(self)
  if rs ~= nil then
    return rs
  end
  local con = self.connection
  if con.error ~= 0 then
    fail(con, "<prepared statement>", 2)
  end
  return internal.no_result
end

-- Returns the columns of the first row, or nil without rows.  It must be a tail call, because
-- errors name the caller of the method.
local function first_row(con, query, rs)
  if rs == nil then
    if con.error ~= 0 then
      fail(con, query, 2, here)
    end
    return nil
  end
  if rs.nrows == 0 then
    return nil
  end
  local row = rs:fetch_row()
  return unpack(row, 1, rs.nfields)
end

-- Returns the columns of the first row, or nil without rows.
function connection_methods:query_row(query)
  expect(self, CONNECTION, "connection", "query_row")
  if type(query) ~= "string" then
    refuse("query", query)
  end
  return first_row(self, query, C.bn_ffi_sql_query(self, query, #query))
end

-- Runs a query of the workload itself, which is not measured.
function connection_methods:query_row_uncounted(query)
  expect(self, CONNECTION, "connection", "query_row_uncounted")
  if type(query) ~= "string" then
    refuse("query", query)
  end
  return first_row(self, query, C.bn_ffi_sql_query_uncounted(self, query, #query))
end

-- Makes an error with this SQLSTATE an answer: its statement counts as completed and returns nil.
function connection_methods:expect_error(state)
  expect(self, CONNECTION, "connection", "expect_error")
  if type(state) ~= "string" or not state:find("^%w%w%w%w%w$") then
    refuse("sqlstate")
  end
  C.bn_ffi_sql_expect_error(self, state)
end

-- Tries until it succeeds or the run is over; then the event ends like a restarted one.
function connection_methods:reconnect()
  expect(self, CONNECTION, "connection", "reconnect")
  if C.bn_ffi_sql_reconnect(self) == 0 then
    return true
  end
  if not C.bn_ffi_over() then
    error("cannot connect again", 2)
  end
  local failure = descriptor(self, "<reconnect>")
  failure.errcode = RESTART_EVENT
  error(failure)
end

-- Raises an error if a bulk insert has failed.  A call that the end of the run has interrupted
-- restarts the event, which drops it.
local function checked_bulk(con, rc, text)
  if rc ~= 0 and con.error == IGNORABLE then
    fail(con, "<bulk insert>", 2)
  end
  return assert(rc == 0, text)
end

function connection_methods:bulk_insert_init(query)
  expect(self, CONNECTION, "connection", "bulk_insert_init")
  if type(query) ~= "string" then
    refuse("query", query)
  end
  local rc = C.bn_ffi_sql_bulk_init(self, query, #query)
  return checked_bulk(self, rc, "db_bulk_insert_init() failed")
end

-- rows: a text, or a row of sysbench.row, which ends with it
function connection_methods:bulk_insert_next(rows)
  expect(self, CONNECTION, "connection", "bulk_insert_next")
  local text, len = rows, type(rows) == "string" and #rows
  if type(rows) == "cdata" then
    text, len = internal.module("sysbench.row").take(rows)
  end
  if not len then
    refuse("rows", rows)
  end
  local rc = C.bn_ffi_sql_bulk_next(self, text, len)
  return checked_bulk(self, rc, "db_bulk_insert_next() failed")
end

function connection_methods:bulk_insert_done()
  expect(self, CONNECTION, "connection", "bulk_insert_done")
  local rc = C.bn_ffi_sql_bulk_done(self)
  return checked_bulk(self, rc, "db_bulk_insert_done() failed")
end

-- Returns whether another result of the last query is pending.
function connection_methods:more_results()
  expect(self, CONNECTION, "connection", "more_results")
  return C.bn_ffi_sql_more_results(self)
end

-- Returns the next result set of the last query, or as query() without one.
function connection_methods:next_result()
  expect(self, CONNECTION, "connection", "next_result")
  local rs = C.bn_ffi_sql_next_result(self)
  if rs ~= nil then
    return rs
  end
  if self.error ~= 0 then
    fail(self, "<next result>", 2)
  end
  return internal.no_result
end

local string_array = typeof("const char *[?]")

-- Converts {host = "db2", port = 3307} to a list of names and one of values, both of strings.
local function overrides_of(options)
  local names, values = {}, {}
  for name, value in pairs(options) do
    names[#names + 1] = tostring(name)
    if type(value) == "boolean" then
      value = value and "on" or "off"
    end
    values[#values + 1] = tostring(value)
  end
  return names, values
end

local driver_methods = {}

-- options: the driver's options, without its prefix, that differ for this connection.
function driver_methods:connect_with(options)
  expect(self, DRIVER, "driver", "connect_with")
  if type(options) ~= "table" then
    refuse("options", options)
  end
  local names, values = overrides_of(options) -- they keep the strings until the call has returned
  local con = C.bn_ffi_sql_connect(self, string_array(#names, names), string_array(#values, values),
                                   #names)
  if con == nil then
    error("connection creation failed", 2)
  end
  return ffi.gc(con, C.bn_ffi_sql_conn_free)
end

-- Parameters of type FLOAT and DOUBLE --------------------------------------------------------

local double_methods = {}

function double_methods:set_rand_str()
  refuse("param_type", self.type)
end

-- Sets a number; nil is NULL.
function double_methods:set(value)
  if value == nil then
    self.is_null = true
    return
  end
  if type(value) == "string" then
    refuse("number", "double")
  end
  self.buffer[0] = value
  self.is_null = false
end

local double_param = ffi.metatype("struct { struct bn_ffi_param; double buffer[1]; }", {
  __index = double_methods,
  __tostring = function () return "<sql_param>" end
})

local function is_double(value)
  return istype(double_param, value)
end

local function new_double()
  local param = double_param()
  param.type, param.max_len, param.data_len = DOUBLE, 8, 8
  return param
end

-- Returns the constructor for the type, if it is one of the two.
local function double(param_type)
  return (param_type == FLOAT or param_type == DOUBLE) and new_double or nil
end

return {
  fail = fail, restart_if_ignored = restart_if_ignored, field = field, double = double,
  is_double = is_double,
  connection = connection_methods, statement = statement_methods, result = result_methods,
  driver = driver_methods
}
