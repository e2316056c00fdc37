-- Calls every function that scripts see with every wrong value in every place; run by
-- test_wrong_values.py.  Each call is written to stderr before it is made.
local ffi = require("ffi")
local CHAR, DOUBLE, INT = 11, 6, 3

local function say(...)
  io.stderr:write(table.concat({ ... }, " "), "\n")
end

-- Good values, made anew for each call.  `owners` keeps the connections of the others.
local make, owners = {}, {}

local function constant(value)
  return function () return value end
end

function make.driver() return sysbench.sql.driver() end

function make.connection()
  local con = make.driver():connect()
  owners[#owners + 1] = con
  return con
end

function make.bulk()
  local con = make.connection()
  con:query("CREATE TABLE IF NOT EXISTS b(a INT)")
  con:bulk_insert_init("INSERT INTO b VALUES")
  return con
end

function make.statement()
  local con = make.connection()
  con:query("CREATE TABLE IF NOT EXISTS t(a INT)")
  return con:prepare("SELECT a FROM t WHERE a = ?")
end

function make.int() return make.statement():bind_create(INT) end
function make.double() return make.statement():bind_create(DOUBLE) end
function make.text() return make.statement():bind_create(CHAR, 10) end

function make.bound()
  local statement = make.statement()
  local param = statement:bind_create(INT)
  param:set(1)
  statement:bind_param(param)
  return statement
end

function make.result() return make.connection():query("SELECT 1 UNION SELECT 2") end
-- Dialects do not have them.
local counted = sysbench.metrics and sysbench.metrics.counter("counted")
local timed = sysbench.metrics and sysbench.metrics.histogram("timed")

function make.counter() return counted end
function make.timed() return timed end
function make.histogram() return sysbench.histogram.new(10, 1, 100) end
function make.grid()
  return ffi.gc(ffi.C.sb_histogram_new(10, 1, 100), ffi.C.sb_histogram_delete)
end

-- What a function of ffi.C returns that failed or that has no rows.
local function null(kind)
  return function () return ffi.cast(kind .. " *", nil) end
end

local wrong = {
  { "nil", constant(nil) }, { "7", constant(7) }, { "-1.5", constant(-1.5) },
  { "nan", constant(0 / 0) }, { "1e300", constant(1e300) }, { "true", constant(true) },
  { "false", constant(false) }, { "string", constant("x") }, { "table", function () return {} end },
  { "function", constant(print) }, { "file", constant(io.stderr) },
  { "array", function () return ffi.new("int[4]") end },
  { "void *", null("void") }, { "null driver", null("sql_driver") },
  { "null connection", null("sql_connection") }, { "null statement", null("sql_statement") },
  { "null result", null("sql_result") },
  { "driver", make.driver }, { "connection", make.connection }, { "statement", make.statement },
  { "result", make.result }, { "parameter", make.int }, { "histogram", make.histogram },
  { "closed connection", function ()
    local con = make.connection()
    con:disconnect()
    return con
  end },
  { "closed statement", function ()
    local statement = make.statement()
    statement:close()
    return statement
  end },
  { "free result", function ()
    local result = make.result()
    if result ~= nil then
      result:free()
    end
    return result
  end }
}

local calls, errors = 0, 0

local function call(what, f, args, count)
  calls = calls + 1
  say(what)
  local ok, why = pcall(f, unpack(args, 1, count))
  if not ok then
    errors = errors + 1
    say("   ", tostring(why))
  end
end

local function good(makers, count)
  local args = {}
  for i = 1, count do
    args[i] = makers[i]()
  end
  return args
end

-- accepts: of the wrong values only those that are no pointers into nowhere
local function try(name, f, makers, accepts)
  for place = 1, #makers do
    for _, w in ipairs(wrong) do
      if not accepts or accepts(w[1]) then
        local args = good(makers, #makers)
        args[place] = w[2]()
        call(("%s, place %d: %s"):format(name, place, w[1]), f, args, #makers)
      end
    end
  end
  for count = 0, #makers do
    call(("%s, %d values"):format(name, count), f, good(makers, count), count)
  end
  owners = {}
  collectgarbage()
end

local select1, insert, row = constant("SELECT 1"), constant("INSERT INTO b VALUES"), constant("(1)")
local template, one, two = constant("#@"), constant(1), constant(2)

local methods = {
  { make.driver, "name" }, { make.driver, "connect", constant(nil) },
  { make.driver, "connect_with", constant({}) },
  { make.connection, "query", select1 }, { make.connection, "query_row", select1 },
  { make.connection, "query_row_uncounted", select1 },
  { make.connection, "expect_error", constant("23505") },
  { make.connection, "prepare", select1 }, { make.connection, "reconnect" },
  { make.connection, "disconnect" }, { make.connection, "more_results" },
  { make.connection, "next_result" }, { make.connection, "bulk_insert_init", insert },
  { make.connection, "may_reconnect", constant(print) },
  { make.bulk, "bulk_insert_next", row }, { make.bulk, "bulk_insert_done" },
  { make.statement, "bind_create", constant(CHAR), constant(10) },
  { make.statement, "bind_param", make.int },
  { make.statement, "bind_param", make.int, make.text, make.double },
  { make.bound, "execute" }, { make.bound, "next_result" }, { make.bound, "close" },
  { make.result, "fetch_row" }, { make.result, "fetch" }, { make.result, "free" },
  { make.int, "set", one }, { make.int, "set_rand_str", template },
  { make.double, "set", one }, { make.double, "set_rand_str", template },
  { make.text, "set", constant("x") }, { make.text, "set_rand_str", template },
  { make.histogram, "update", constant(5) }, { make.histogram, "print" },
  { make.counter, "add", constant(5) }, { make.timed, "add", constant(5) }
}

local function try_methods()
  for i, m in ipairs(methods) do
    local object, makers = m[1](), { m[1] }
    for place = 3, #m do
      makers[#makers + 1] = m[place]
    end
    if object ~= nil then
      try(i .. "." .. m[2], object[m[2]], makers)
    end
  end
end

local function stat()
  return { time_interval = 1, time_total = 1, threads_running = 1, events = 1, reads = 1,
    writes = 1, other = 1, errors = 1, reconnects = 1, latency_pct = 1 }
end

local numbers = { one, two }

local tables = {
  rand = { default = numbers, uniform = numbers, gaussian = numbers, special = numbers,
    pareto = numbers, zipfian = numbers, unique = {}, uniform_uint64 = {}, uniform_double = {},
    string = { template }, varstring = numbers, alnum = numbers, digits = numbers,
    letters = numbers },
  histogram = { new = { constant(10), one, constant(100) } },
  sql = { driver = { constant(nil) } },
  cmdline = { command_defined = { constant("run") }, command_parallel = { constant("run") },
    call_command = { constant("none") }, read_cmdline_options = {}, print_test_options = {},
    dialect = {}, expect = numbers }
}

local function try_tables()
  for name, functions in pairs(tables) do
    for key, makers in pairs(functions) do
      if sysbench[name][key] then
        try(name .. "." .. key, sysbench[name][key], makers)
      end
    end
  end
  for _, name in ipairs({ "report_csv", "report_json", "report_default" }) do
    try(name, sysbench[name] or sysbench.report[name], { stat })
  end
end

local function old_statement() return db_prepare("SELECT 1") end
local function old_result() return db_execute(old_statement()) end
local function values() return { 1, "x" } end

local old = {
  db_connect = {}, db_disconnect = {}, db_query = { select1 }, db_bulk_insert_init = { insert },
  db_bulk_insert_next = { row }, db_bulk_insert_done = {}, db_prepare = { select1 },
  db_bind_param = { old_statement, values }, db_bind_result = { old_statement, values },
  db_execute = { old_statement }, db_store_results = { old_result },
  db_free_results = { old_result }, db_close = { old_statement }, sb_rand = numbers,
  sb_rand_uniform = numbers, sb_rand_gaussian = numbers, sb_rand_special = numbers,
  sb_rand_str = { template }, sb_rnd = {}, sb_rand_uniq = numbers
}

local function try_old()
  for name, makers in pairs(old) do
    if _G[name] then
      try(name, _G[name], makers)
    end
  end
end

-- Through ffi.C; the closed connection there is not one that was freed.
local function length() return 8 end
local function buffer() return ffi.new("char[64]") end
local function binds() return ffi.new("sql_bind[1]") end

local c = {
  db_create = { constant(nil) }, db_destroy = { make.driver },
  db_connection_create = { make.driver }, db_connection_close = { make.connection },
  db_connection_reconnect = { make.connection },
  db_bulk_insert_init = { make.connection, insert, length },
  db_bulk_insert_next = { make.bulk, row, constant(3) }, db_bulk_insert_done = { make.bulk },
  db_query = { make.connection, select1, length }, db_more_results = { make.connection },
  db_next_result = { make.connection }, db_fetch_row = { make.result },
  db_prepare = { make.connection, select1, length },
  db_bind_param = { make.statement, binds, one }, db_bind_result = { make.statement, binds, one },
  db_execute = { make.bound }, db_stmt_next_result = { make.bound }, db_close = { make.bound },
  db_free_results = { make.result }, sb_more_events = { one }, sb_event_start = { one },
  sb_event_stop = { one }, sb_rand_default = numbers, sb_rand_uniform = numbers,
  sb_rand_gaussian = numbers, sb_rand_special = numbers, sb_rand_pareto = numbers,
  sb_rand_zipfian = numbers, sb_rand_unique = {}, sb_rand_uniform_uint64 = {},
  sb_rand_uniform_double = {}, sb_rand_str = { template, buffer },
  sb_rand_varstr = { buffer, one, two }, sb_histogram_new = { constant(10), one, constant(100) },
  sb_histogram_update = { make.grid, one }, sb_histogram_print = { make.grid }
}

-- A length that is none, a buffer that is too short or another kind of memory is C's own way to
-- crash; what is asked here is what Lua lets through: nil and objects.
local harmless = { ["nil"] = true, ["true"] = true, ["false"] = true, string = true, table = true,
  driver = true, connection = true, statement = true, result = true, ["void *"] = true,
  ["null driver"] = true, ["null connection"] = true, ["null statement"] = true,
  ["null result"] = true,
  ["closed connection"] = true, ["closed statement"] = true, ["free result"] = true }

-- What C makes belongs to the caller.
local owned = {
  sb_histogram_new = function (...)
    local grid = ffi.C.sb_histogram_new(...)
    if grid ~= nil then
      ffi.C.sb_histogram_delete(grid)
    end
  end,
  db_connection_create = function (...)
    local con = ffi.C.db_connection_create(...)
    if con ~= nil then
      ffi.C.db_connection_free(con)
    end
  end
}

local function try_c()
  for name, makers in pairs(c) do
    try("C." .. name, owned[name] or ffi.C[name], makers, function (v) return harmless[v] end)
  end
  for _, name in ipairs({ "db_connection_free", "sb_histogram_delete" }) do
    call("C." .. name, ffi.C[name], {}, 1)
  end
end

function event()
  try_methods()
  try_tables()
  try_old()
  try_c()
  say("calls", calls, "errors", errors)
end
