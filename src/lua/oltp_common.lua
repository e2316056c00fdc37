-- SPDX-License-Identifier: GPL-2.0-or-later
-- The library beneath the OLTP workloads: their options, tables, statements and commands.
--
-- A workload does require("oltp_common") and defines two functions:
--   prepare_statements()  names the statements it needs, by calling prepare_*()
--   event()               does one transaction, by calling execute_*()
-- Every global function of this file may be replaced after the require.

-- The name of the command: sysbench 1.0 has another one than later versions.
local warmup_name = tostring(sysbench.version):sub(1, 4) == "1.0." and "prewarm" or "warmup"

local is_native = not sysbench.cmdline.dialect()

if sysbench.cmdline.command == nil then
  local text = "Command is required. Supported commands: prepare, " .. warmup_name ..
               ", run, cleanup, help"
  if is_native then
    sysbench.cmdline.refuse(text) -- without a place in this file
  end
  error(text)
end

-- Options ------------------------------------------------------------------------------------

-- The declarations are in a module that workers need not load: a worker only reads values, unless a
-- script changes the declarations.
if sysbench.cmdline.in_worker then
  -- Adds the declarations that the script has not replaced.
  local function complete(self)
    setmetatable(self, nil)
    for key, row in pairs(require("oltp_options").declared) do
      self[key] = self[key] or row
    end
  end
  sysbench.cmdline.options = setmetatable({}, {["bn.complete"] = complete,
    __index = function(self, name)
      complete(self)
      return self[name]
    end})
else
  sysbench.cmdline.options = require("oltp_options").declared
end

-- Refuses values no workload can work with; every command calls it first.
local function check_options()
  require("oltp_options").check()
end

-- Rows ---------------------------------------------------------------------------------------

local c_template = ("###########-"):rep(9) .. "###########"
local pad_template = ("###########-"):rep(4) .. "###########"

function get_c_value()
  return sysbench.rand.string(c_template)
end

function get_pad_value()
  return sysbench.rand.string(pad_template)
end

local function random_table()
  return sysbench.rand.uniform(1, sysbench.opt.tables)
end

local function random_id()
  return sysbench.rand.default(1, sysbench.opt.table_size)
end

-- Commands -----------------------------------------------------------------------------------

-- The module that makes, fills and drops tables is not loaded by the threads of a run.

-- Makes and fills one table.
function create_table(drv, con, table_num)
  require("oltp_tables").create_table(drv, con, table_num)
end

-- What a script may have replaced by functions of its own when its tables are made.
local bundled = {
  create_table = create_table, get_c_value = get_c_value, get_pad_value = get_pad_value
}

function cmd_prepare()
  check_options()
  require("oltp_tables").prepare(bundled, #c_template + #pad_template)
end

-- Reads all tables once, so that a run finds them in memory.
function cmd_warmup()
  check_options()
  require("oltp_tables").warmup(warmup_name)
end

cmd_prewarm = cmd_warmup

function cleanup()
  check_options()
  require("oltp_tables").cleanup()
end

sysbench.cmdline.commands = {
  prepare = {function() return cmd_prepare() end, sysbench.cmdline.PARALLEL_COMMAND},
  prewarm = {function() return cmd_prewarm() end, sysbench.cmdline.PARALLEL_COMMAND},
  warmup = {function() return cmd_warmup() end, sysbench.cmdline.PARALLEL_COMMAND},
}

-- Statements ---------------------------------------------------------------------------------

local kinds = {
  point_selects = "SELECT c FROM sbtest%d WHERE id=?",
  simple_ranges = "SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ?",
  sum_ranges = "SELECT SUM(k) FROM sbtest%d WHERE id BETWEEN ? AND ?",
  order_ranges = "SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c",
  distinct_ranges = "SELECT DISTINCT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c",
  index_updates = "UPDATE sbtest%d SET k=k+1 WHERE id=?",
  non_index_updates = "UPDATE sbtest%d SET c=? WHERE id=?",
  deletes = "DELETE FROM sbtest%d WHERE id=?",
  inserts = "INSERT INTO sbtest%d (id, k, c, pad) VALUES (?, ?, ?, ?)",
}

-- The parameters of each kind (i: a number; c, p: a text as long as that column). They are strings
-- because each session has this table.
local letters = {
  point_selects = "i", simple_ranges = "ii", sum_ranges = "ii", order_ranges = "ii",
  distinct_ranges = "ii", index_updates = "i", non_index_updates = "ci", deletes = "i",
  inserts = "iicp",
}

-- Makes stmt[table_num][kind] and its parameters param[table_num][kind][1..].
local function prepare_statement(table_num, kind)
  local types, params = sysbench.sql.type, {}
  local statement = con:prepare(kinds[kind]:format(table_num), kind)
  for i = 1, #letters[kind] do
    local letter = letters[kind]:sub(i, i)
    params[i] = letter == "i" and statement:bind_create(types.BIGINT) or
                statement:bind_create(types.CHAR, letter == "c" and 120 or 60)
  end
  if statement:bind_param(unpack(params)) ~= 0 then
    error("cannot prepare: " .. kinds[kind]:format(table_num))
  end
  stmt[table_num][kind], param[table_num][kind] = statement, params
end

-- Makes the statements of one table, or their parameters, be prepared when they are first looked
-- up.  Other names than those of kinds are nil, as in any table.
local function make_kinds_lazy(by_kind, table_num)
  return setmetatable(by_kind, {__index = function(self, kind)
    if kinds[kind] then
      prepare_statement(table_num, kind)
      return rawget(self, kind)
    end
  end})
end

-- The kinds that every table has, in the order in which they were named.
local used_kinds = {}

-- Makes `by_table`, that is stmt or param, prepare each statement when it is first looked up. With
-- many tables a session then prepares only the statements that it uses. Until the first kind is
-- named, a script may put tables of its own into stmt and param.
local function make_lazy(by_table)
  if getmetatable(by_table) and #used_kinds > 0 then
    return
  end
  for table_num, by_kind in pairs(by_table) do
    if type(table_num) == "number" and not getmetatable(by_kind) then
      make_kinds_lazy(by_kind, table_num)
    end
  end
  if not getmetatable(by_table) then
    setmetatable(by_table, {__index = function(self, table_num)
      if type(table_num) == "number" then
        self[table_num] = make_kinds_lazy({}, table_num)
        return self[table_num]
      end
    end})
  end
end

-- Gives every table this kind of statement. The first table's is prepared at once, the others when
-- all kinds are known (thread_init) or when they are first looked up.
function prepare_for_each_table(kind)
  if not kinds[kind] then
    error(("there is no kind of statement named '%s'"):format(kind))
  end
  make_lazy(stmt)
  make_lazy(param)
  if not rawget(stmt[1], kind) then
    used_kinds[#used_kinds + 1] = kind
    prepare_statement(1, kind)
  end
end

-- Prepares the first `count` of the kinds for the other tables.
local function prepare_other_tables(count, together)
  if sysbench.opt.tables > 1 then
    require("oltp_prepare")(used_kinds, count, together, prepare_statement)
  end
end

-- SQLite takes the write lock at BEGIN if a transaction will write: later it might find that
-- another transaction has written meanwhile, and would have to start again.
local begin_text = "BEGIN"

function prepare_begin()
  stmt.begin = con:prepare(begin_text, "begin")
end

function prepare_commit()
  stmt.commit = con:prepare("COMMIT", "commit")
end

-- Says that `count` statements of a transaction write.  A BEGIN that has been prepared is replaced.
local function expect_writes(count)
  if count >= 1 and begin_text == "BEGIN" and drv:name() == "sqlite"
     and sysbench.opt.sqlite_begin ~= "deferred" then
    begin_text = "BEGIN IMMEDIATE"
    if stmt.begin then
      stmt.begin:close()
      prepare_begin()
    end
  end
end

function prepare_point_selects() prepare_for_each_table("point_selects") end
function prepare_simple_ranges() prepare_for_each_table("simple_ranges") end
function prepare_sum_ranges() prepare_for_each_table("sum_ranges") end
function prepare_order_ranges() prepare_for_each_table("order_ranges") end
function prepare_distinct_ranges() prepare_for_each_table("distinct_ranges") end

function prepare_index_updates()
  expect_writes(sysbench.opt.index_updates)
  prepare_for_each_table("index_updates")
end

function prepare_non_index_updates()
  expect_writes(sysbench.opt.non_index_updates)
  prepare_for_each_table("non_index_updates")
end

function prepare_delete_inserts()
  expect_writes(sysbench.opt.delete_inserts)
  prepare_for_each_table("deletes")
  prepare_for_each_table("inserts")
end

-- Sessions -----------------------------------------------------------------------------------

-- true: all statements are prepared on a new connection, as in sysbench or as requested; false: an
-- event prepares only the statements that it uses.
local prepares_again = false

-- Called on a new connection, when all statements are closed.
local function prepare_again()
  used_kinds = {}
  prepare_statements()
  if prepares_again then
    prepare_other_tables(#used_kinds, false)
  end
end

-- Called on a new connection, with the statements of the old one.
local function renew_statements()
  close_statements()
  prepare_again()
end

function init()
  local wrong = require("oltp_tables").init()
  if wrong then
    error(wrong)
  end
end

-- Returns how many statements every thread has prepared by now, and how many when every table has
-- been used.
local function count_statements()
  local for_no_table, for_each_table = 0, 0
  for key in pairs(stmt) do
    if type(key) ~= "number" then
      for_no_table = for_no_table + 1
    end
  end
  for _ in pairs(stmt[1] or {}) do
    for_each_table = for_each_table + 1
  end
  return for_no_table + for_each_table, for_no_table + for_each_table * sysbench.opt.tables
end

-- Opens a session: connects, and prepares the statements of the workload, all of them or only those
-- of the first table, as the server and --db-prepare allow.
function thread_init()
  if sysbench.tid == 0 then
    check_options()
  end
  sysbench.cmdline.expect()
  drv = sysbench.sql.driver()
  con = drv:connect()
  if drv:name() == "pgsql" and sysbench.opt.pgsql_variant == "redshift" then
    sysbench.opt.delete_inserts = 0
  end
  stmt, param = {}, {}
  make_lazy(stmt)
  make_lazy(param)
  prepare_statements()
  local when = sysbench.cmdline.expect(count_statements())
  if not when then
    error("the server does not allow as many prepared statements", 0)
  end
  -- sysbench prepares all statements at the start, and so finds any missing table. If these are too
  -- many, one thread of a dialect prepares one kind for each table instead, which will be used
  -- anyway.
  if when == "now" then
    prepare_other_tables(#used_kinds, true)
  elseif not is_native and sysbench.tid == 0 then
    prepare_other_tables(#used_kinds > 0 and 1 or 0, true)
  end
  prepares_again = when == "now" and (not is_native or sysbench.opt.db_prepare == "eager")
  con:may_reconnect(renew_statements)
end

-- Closes the statements in `list` and in the tables within, and forgets them.
local function close_all(list)
  for key, value in pairs(list) do
    if type(value) == "table" and not value.close then
      close_all(value)
    else
      value:close()
      list[key] = nil
    end
  end
end

-- Statements closed here are prepared again at their next use.
function close_statements()
  close_all({stmt})
  for key, value in pairs(param or {}) do
    if type(value) == "table" and not value.set then
      for kind in pairs(value) do
        value[kind] = nil
      end
    else
      param[key] = nil
    end
  end
end

function thread_done()
  close_statements()
  con:disconnect()
end

local after_event

-- The last call of every event: does what --reconnect asks for.
function check_reconnect()
  if sysbench.opt.reconnect >= 1 then
    after_event = after_event or require("oltp_restart").after_event
    after_event(prepare_again)
  end
end

function sysbench.hooks.before_restart_event(failure)
  require("oltp_restart").before_event(failure, renew_statements)
end

-- Events -------------------------------------------------------------------------------------

function begin()
  stmt.begin:execute()
end

function commit()
  stmt.commit:execute()
end

-- All statements of one call of these functions are for the same table.
function execute_point_selects()
  local table_num = random_table()
  for _ = 1, sysbench.opt.point_selects do
    param[table_num].point_selects[1]:set(random_id())
    stmt[table_num].point_selects:execute()
  end
end

-- Executes the range queries of one kind.  The last ranges may go beyond the largest id.
local function execute_ranges(kind)
  local table_num = random_table()
  for _ = 1, sysbench.opt[kind] do
    local id = random_id()
    local params = param[table_num][kind]
    params[1]:set(id)
    params[2]:set(id + sysbench.opt.range_size - 1)
    stmt[table_num][kind]:execute()
  end
end

function execute_simple_ranges() execute_ranges("simple_ranges") end
function execute_sum_ranges() execute_ranges("sum_ranges") end
function execute_order_ranges() execute_ranges("order_ranges") end
function execute_distinct_ranges() execute_ranges("distinct_ranges") end

function execute_index_updates()
  local table_num = random_table()
  for _ = 1, sysbench.opt.index_updates do
    param[table_num].index_updates[1]:set(random_id())
    stmt[table_num].index_updates:execute()
  end
end

function execute_non_index_updates()
  local table_num = random_table()
  for _ = 1, sysbench.opt.non_index_updates do
    local params = param[table_num].non_index_updates
    params[1]:set_rand_str(c_template)
    params[2]:set(random_id())
    stmt[table_num].non_index_updates:execute()
  end
end

-- Deletes a row and inserts it again, so that the table keeps its size.
function execute_delete_inserts()
  local table_num = random_table()
  for _ = 1, sysbench.opt.delete_inserts do
    local id, row = random_id(), param[table_num].inserts
    param[table_num].deletes[1]:set(id)
    row[1]:set(id)
    row[2]:set(random_id())
    row[3]:set_rand_str(c_template)
    row[4]:set_rand_str(pad_template)
    stmt[table_num].deletes:execute()
    stmt[table_num].inserts:execute()
  end
end

-- Without transactions, of two threads that have deleted the same row one inserts it too late.
-- MySQL's list of ignored errors does not have its error, as those of the other drivers do.  A
-- script that has set the hook before the require keeps its own.
if is_native and not sysbench.hooks.sql_error_ignorable then
  function sysbench.hooks.sql_error_ignorable(failure)
    return sysbench.opt.skip_trx and failure.sql_errno == 1062
  end
end
