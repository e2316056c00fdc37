-- SPDX-License-Identifier: GPL-2.0-or-later
-- The common part of the workloads of sysbench 0.5: options as global variables, and tables.

local M = {}

-- Options --------------------------------------------------------------------------------------

local numbers = {
  oltp_table_size = 10000, oltp_tables_count = 1, oltp_range_size = 100,
  oltp_point_selects = 10, oltp_simple_ranges = 1, oltp_sum_ranges = 1, oltp_order_ranges = 1,
  oltp_distinct_ranges = 1, oltp_index_updates = 1, oltp_non_index_updates = 1,
  oltp_delete_inserts = 1, myisam_max_rows = 1000000, random_points = 10,
  number_of_ranges = 10, random_ranges_delta = 5
}

local switches = {
  oltp_range_selects = true, oltp_auto_inc = true, oltp_create_secondary = true,
  oltp_read_only = false, oltp_write_only = false, oltp_skip_trx = false, oltp_secondary = false
}

-- mysql_engine_trx has had no effect since version 0.5; it is listed as a known option.
local texts = {
  mysql_table_engine = "innodb", mysql_table_options = "", mysql_engine_trx = "auto",
  pgsql_variant = "none"
}

local states = { on = true, ["true"] = true, ["1"] = true, [""] = true,
                 off = false, ["false"] = false, ["0"] = false }

-- Outside of dialects, messages about wrong input look like those about other options.
local is_native = not sysbench.cmdline.dialect()

local function refuse(name, value, hint, wrong)
  if is_native then
    sysbench.cmdline.refuse(("--%s=%s: %s; allowed: %s"):format(
      name:gsub("_", "-"), tostring(value), wrong, hint))
  end
  error(("Invalid value for the '%s' option: '%s' (%s)"):format(name, tostring(value), hint), 0)
end

-- Returns the value from a script or the command line; undeclared options are texts.
local function given(name)
  local value = rawget(_G, name)
  if value == nil then
    value = sysbench.opt[name]
  end
  return value
end

-- Returns the largest value of an option outside of dialects. Threads whose options have no smaller
-- limit need not load the module.
local function largest(name)
  local has_own = name == "random_points" or name == "number_of_ranges"
  return has_own and require("oltp_options").largest[name] or 2 ^ 53
end

-- Returns an option as a number, or refuses it.  Dialects have no upper bound, as sysbench.
local function number(name, default)
  local value = given(name)
  if value == nil then
    return default
  end
  local n = tonumber(value)
  if not n or n ~= math.floor(n) or (n < 0 and not is_native) then
    refuse(name, value, "a number from 0", "not a whole number")
  elseif is_native and (n < 0 or n > largest(name)) then
    refuse(name, value, ("0 to %d"):format(largest(name)), "out of range")
  end
  return n
end

-- Returns an option as true or false, or refuses it.  An option that is given without a value is
-- on.
local function switch(name, default)
  local value = given(name)
  if type(value) == "boolean" then
    return value
  elseif value == nil then
    return default
  end
  local state = states[value]
  if state == nil then
    refuse(name, value, "on or off", "neither on nor off")
  end
  return state
end

-- Sets a global variable for every option.
function set_vars()
  for name, default in pairs(numbers) do
    _G[name] = number(name, default)
  end
  for name, default in pairs(switches) do
    _G[name] = switch(name, default)
  end
  for name, default in pairs(texts) do
    _G[name] = given(name) or default
  end
  if pgsql_variant == "redshift" then
    oltp_delete_inserts = 0
  end
  if oltp_tables_count < 1 then
    refuse("oltp_tables_count", oltp_tables_count, "a number from 1", "out of range")
  end
  if oltp_read_only and oltp_write_only then
    error("--oltp-read-only and --oltp-write-only are mutually exclusive")
  end
end

-- The thread_init() of workloads that need nothing but a connection.
function M.thread_init()
  set_vars()
  db_connect()
end

-- Random values --------------------------------------------------------------------------------

local group = ("#"):rep(11)
local c_template = group .. ("-" .. group):rep(9)
local pad_template = group .. ("-" .. group):rep(4)

function M.c_value()
  return sb_rand_str(c_template)
end

function M.pad_value()
  return sb_rand_str(pad_template)
end

-- Returns the id of a row that exists unless it was deleted.
function M.row_id()
  return sb_rand(1, oltp_table_size)
end

function M.table_name()
  return "sbtest" .. sb_rand_uniform(1, oltp_tables_count)
end

-- Returns the condition of a query for a range of rows.
function M.range()
  local id = M.row_id()
  if sysbench.version == "0.5" then
    return ("WHERE id BETWEEN %d AND %d+%d"):format(id, id, oltp_range_size - 1)
  end
  return ("WHERE id BETWEEN %d AND %d"):format(id, id + oltp_range_size - 1)
end

-- Tables ---------------------------------------------------------------------------------------

-- Returns whether the driver gets statements for MySQL.
function M.is_mysql()
  return db_driver == "mysql" or db_driver == "null"
end

local function id_column()
  if M.is_mysql() then
    return "INTEGER UNSIGNED NOT NULL " .. (oltp_auto_inc and "AUTO_INCREMENT" or "")
  elseif db_driver ~= "pgsql" then
    return "INTEGER NOT NULL"
  elseif pgsql_variant == "redshift" then
    return "INTEGER IDENTITY(1,1) NOT NULL"
  end
  return "SERIAL NOT NULL"
end

function M.integer_type()
  return M.is_mysql() and "INTEGER UNSIGNED" or "INTEGER"
end

local function table_options()
  if not M.is_mysql() then
    return ""
  end
  return ("/*! ENGINE = %s MAX_ROWS = %d */ %s"):format(mysql_table_engine, myisam_max_rows,
                                                        mysql_table_options)
end

-- Makes a table; each line of the definition follows `indent`.  Only MySQL makes a secondary key by
-- the same statement.
function M.create_table(name, indent)
  local lines = {
    "id " .. id_column() .. ",",
    "k " .. M.integer_type() .. " DEFAULT '0' NOT NULL,",
    "c CHAR(120) DEFAULT '' NOT NULL,",
    "pad CHAR(60) DEFAULT '' NOT NULL,",
    oltp_secondary and "KEY xid (id)" or "PRIMARY KEY (id)"
  }
  local apart = oltp_secondary and not M.is_mysql()
  if apart then
    lines[5] = nil
    lines[4] = lines[4]:sub(1, -2)
  end
  db_query(("CREATE TABLE %s (\n%s%s\n%s) %s"):format(name, indent,
           table.concat(lines, "\n" .. indent), indent:sub(3), table_options()))
  if apart and pgsql_variant ~= "redshift" then
    db_query(("CREATE INDEX xid_%s ON %s(id)"):format(name, name))
  end
end

-- SQLite numbers rows by itself only if id is the primary key.
function M.ids_are_sent()
  return not oltp_auto_inc or oltp_secondary and db_driver == "sqlite"
end

-- Fills a table.  The blanks in its statements are those of sysbench, so that logs are alike.
local function insert_rows(table_id)
  local with_id = M.ids_are_sent()
  db_bulk_insert_init(("INSERT INTO sbtest%d(%s) VALUES"):format(
                      table_id, with_id and "id, k, c, pad" or "k, c, pad"))
  for id = 1, oltp_table_size do
    local c, pad, k = M.c_value(), M.pad_value(), M.row_id()
    if with_id then
      db_bulk_insert_next(("(%d,%d,'%s', '%s'  )"):format(id, k, c, pad))
    else
      db_bulk_insert_next(("(%d, '%s', '%s')"):format(k, c, pad))
    end
  end
  db_bulk_insert_done()
end

-- Prints a line about the progress, except with --quiet.
function M.say(text)
  require("oltp_tables").say(text)
end

-- Makes and fills one table.
function create_insert(table_id)
  M.say(("Creating table 'sbtest%d'..."):format(table_id))
  M.create_table("sbtest" .. table_id, "")
  M.say(("Inserting %d records into 'sbtest%d'"):format(oltp_table_size, table_id))
  insert_rows(table_id)
  if oltp_create_secondary and pgsql_variant ~= "redshift" then
    M.say(("Creating secondary indexes on 'sbtest%d'..."):format(table_id))
    db_query(("CREATE INDEX k_%d on sbtest%d(k)"):format(table_id, table_id))
  end
end

-- Makes the tables that belong to one of several threads.
function M.create_tables_of(thread_id)
  for table_id = thread_id + 1, oltp_tables_count, sysbench.opt.threads do
    create_insert(table_id)
  end
end

-- Drops a table. In version 0.5 it is an error if there is none, unless it may be absent.
function M.drop_table(name, may_be_absent)
  local must_exist = sysbench.version == "0.5" and not may_be_absent
  M.say(("Dropping table '%s'..."):format(name))
  db_query((must_exist and "DROP TABLE " or "DROP TABLE IF EXISTS ") .. name)
end

-- Commands -------------------------------------------------------------------------------------

function prepare()
  set_vars()
  db_connect()
  M.create_tables_of(sysbench.tid)
  db_disconnect()
end

function cleanup()
  set_vars()
  local con = db_connect()
  for table_id = 1, oltp_tables_count do
    M.drop_table("sbtest" .. table_id)
  end
  require("oltp_tables").shrink(sysbench.sql.driver(), con)
  db_disconnect()
end

-- The prepare() that all threads call.  One that a script has put in its place does not share the
-- tables, so that one thread calls it.
M.shared_prepare = prepare

sysbench.cmdline.commands = {
  prepare = {
    function()
      if prepare == M.shared_prepare or sysbench.tid == 0 then
        return prepare()
      end
    end,
    sysbench.cmdline.PARALLEL_COMMAND
  }
}

return M
