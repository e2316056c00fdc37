-- SPDX-License-Identifier: GPL-2.0-or-later
-- The tables of the OLTP workloads: how they are made, filled, read into memory and dropped.

local M = {}

-- Prints a line about the progress, except with --quiet.
function M.say(text)
  if not sysbench.cmdline.quiet() then
    sysbench.cmdline.progress()
    print(text)
  end
end

local function is_redshift(drv)
  return drv:name() == "pgsql" and sysbench.opt.pgsql_variant == "redshift"
end

-- Making one table ---------------------------------------------------------------------------

local largest_int = 2 ^ 31 - 1

-- The id column, and the key line after the columns, as each driver writes them.
local id_column = {
  mysql = function(integer)
    return integer .. " NOT NULL" .. (sysbench.opt.auto_inc and " AUTO_INCREMENT" or "")
  end,
  pgsql = function(integer)
    if not sysbench.opt.auto_inc then
      return integer .. " NOT NULL"
    elseif sysbench.opt.pgsql_variant == "redshift" then
      return integer .. " IDENTITY(1,1)"
    end
    return integer == "BIGINT" and "BIGSERIAL" or "SERIAL"
  end,
  sqlite = function()
    if sysbench.opt.secondary then
      return "INTEGER NOT NULL"
    end
    return "INTEGER PRIMARY KEY" .. (sysbench.opt.auto_inc and " AUTOINCREMENT" or "")
  end,
}
id_column.null = id_column.mysql

local key_line = {
  mysql = function() return sysbench.opt.secondary and "KEY xid (id)" or "PRIMARY KEY (id)" end,
  pgsql = function() return not sysbench.opt.secondary and "PRIMARY KEY (id)" end,
  sqlite = function() return nil end,
}
key_line.null = key_line.mysql

local function engine_clause(name)
  if name == "mysql" or name == "null" then
    return ("/*! ENGINE = %s */"):format(sysbench.opt.mysql_storage_engine)
  end
  return ""
end

-- Returns CREATE TABLE as the driver needs it.  Numbers have 64 bits if there are too many ids for
-- 32.
local function create_table_text(drv, table_num)
  local name = drv:name()
  if not id_column[name] then
    error("these workloads do not know the database driver '" .. name .. "'")
  end
  local integer = sysbench.opt.table_size > largest_int and "BIGINT" or "INTEGER"
  local key = key_line[name]()
  return ([[
CREATE TABLE sbtest%d(
  id %s,
  k %s DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL%s
) %s %s]]):format(table_num, id_column[name](integer), integer, key and ",\n  " .. key or "",
                  engine_clause(name), sysbench.opt.create_table_options or "")
end

-- Makes a table, and with --secondary its index on id where CREATE TABLE cannot make one.
local function create_empty_table(drv, con, table_num)
  M.say(("Creating table 'sbtest%d'..."):format(table_num))
  con:query(create_table_text(drv, table_num))
  local key_apart = drv:name() == "pgsql" or drv:name() == "sqlite"
  if sysbench.opt.secondary and key_apart and not is_redshift(drv) then
    con:query(("CREATE INDEX xid_%d ON sbtest%d(id)"):format(table_num, table_num))
  end
end

-- Creates the index on k if `moment`, "before" or "after" loading, is the one chosen for it.
local function create_index_at(moment, drv, con, table_num)
  local chosen = sysbench.opt.create_index or "after"
  if chosen == moment and sysbench.opt.create_secondary and not is_redshift(drv) then
    M.say(("Creating a secondary index on 'sbtest%d'..."):format(table_num))
    sysbench.cmdline.indexing(sysbench.opt.tables)
    con:query(("CREATE INDEX k_%d ON sbtest%d(k)"):format(table_num, table_num))
    sysbench.cmdline.indexing(sysbench.opt.tables, true)
  end
end

-- Counts rows that were inserted, for the line of progress on a terminal.
local function count_loaded(table_num, rows)
  sysbench.cmdline.loaded("sbtest" .. table_num, rows,
                          sysbench.opt.tables * sysbench.opt.table_size)
end

local function announce_rows(table_num)
  if sysbench.opt.table_size > 0 then
    M.say(("Inserting %d records into 'sbtest%d'"):format(sysbench.opt.table_size, table_num))
    count_loaded(table_num, 0)
  end
end

-- Rows between two reports of the progress.
local ROWS_OF_PROGRESS = 10000

-- Inserts the rows first..last; their ids are sent along if `with_id`, else the server counts.
local function load_rows(con, table_num, first, last, with_id)
  local columns = with_id and "id, k, c, pad" or "k, c, pad"
  con:bulk_insert_init(("INSERT INTO sbtest%d(%s) VALUES"):format(table_num, columns))
  for id = first, last do
    local c, pad = get_c_value(), get_pad_value()
    local k = sysbench.rand.default(1, sysbench.opt.table_size)
    if with_id then
      con:bulk_insert_next(("(%d, %d, '%s', '%s')"):format(id, k, c, pad))
    else
      con:bulk_insert_next(("(%d, '%s', '%s')"):format(k, c, pad))
    end
    if (id - first + 1) % ROWS_OF_PROGRESS == 0 then
      count_loaded(table_num, ROWS_OF_PROGRESS)
    end
  end
  con:bulk_insert_done()
  count_loaded(table_num, (last - first + 1) % ROWS_OF_PROGRESS)
  sysbench.cmdline.progress()
end

-- Returns whether rows with ids can be loaded in parallel, faster than by INSERT.
local function ids_are_faster(drv)
  local name = drv:name()
  return sysbench.opt.db_bulk_load == "auto" and not is_redshift(drv)
         and (name == "mysql" or name == "pgsql")
end

-- SQLite numbers rows by itself only if id is the primary key.
local function ids_needed(drv)
  return not sysbench.opt.auto_inc or drv:name() == "sqlite" and sysbench.opt.secondary
         or ids_are_faster(drv)
end

-- Does what comes before the rows of a table.
local function begin_table(drv, con, table_num)
  create_empty_table(drv, con, table_num)
  create_index_at("before", drv, con, table_num)
  announce_rows(table_num)
end

-- Does what comes after the rows. Rows with ids do not advance a sequence of PostgreSQL.
local function end_table(drv, con, table_num, with_id)
  if with_id and drv:name() == "pgsql" and sysbench.opt.auto_inc
     and sysbench.opt.table_size >= 1 then
    con:query(("SELECT setval(pg_get_serial_sequence('sbtest%d', 'id'), %d)")
              :format(table_num, sysbench.opt.table_size))
  end
  create_index_at("after", drv, con, table_num)
end

-- Makes a table, its rows and its indexes: create_table() of scripts.
function M.create_table(drv, con, table_num)
  local with_id = ids_needed(drv)
  begin_table(drv, con, table_num)
  load_rows(con, table_num, 1, sysbench.opt.table_size, with_id)
  end_table(drv, con, table_num, with_id)
end

-- Preparing all tables -----------------------------------------------------------------------

-- More threads than tables share the tables, if rows can be inserted with our own ids.
local function tables_are_shared(drv)
  return sysbench.opt.threads > sysbench.opt.tables
         and not (is_redshift(drv) and sysbench.opt.auto_inc)
end

-- Thread t loads one slice of table t % tables + 1; the thread of the first slice makes table
-- and index. All threads go from step to step together, and none goes on after one has failed.
-- A server or a proxy may cut a connection that has waited for other threads, so each thread that
-- goes on connects anew.
local function prepare_shared_tables(drv, con)
  local tables, size = math.floor(sysbench.opt.tables), math.floor(sysbench.opt.table_size)
  local table_num = sysbench.tid % tables + 1
  local slice = math.floor(sysbench.tid / tables)
  local slices = math.floor((sysbench.opt.threads - table_num) / tables) + 1

  if slice == 0 then
    begin_table(drv, con, table_num)
  end
  if not sysbench.cmdline.barrier() then
    return
  end
  con:reconnect()
  load_rows(con, table_num, math.floor(size * slice / slices) + 1,
            math.floor(size * (slice + 1) / slices), true)
  if sysbench.cmdline.barrier() and slice == 0 then
    con:reconnect()
    end_table(drv, con, table_num, true)
  end
end

-- Calls do_table for each table of this thread.
local function for_own_tables(do_table)
  for table_num = sysbench.tid + 1, sysbench.opt.tables, sysbench.opt.threads do
    do_table(table_num)
  end
end

-- Refuses to begin if the rows do not fit; row_bytes: the least size of a row. One thread checks
-- before any thread makes a table. false: another thread has failed.
local function check_room(drv, row_bytes)
  if drv:name() ~= "sqlite" or sysbench.cmdline.dialect() then
    return true
  end
  if sysbench.tid == 0 then
    sysbench.cmdline.check_room(sysbench.opt.tables * sysbench.opt.table_size * row_bytes)
  end
  return sysbench.cmdline.barrier()
end

-- The number of tables that a run uses, if it does not depend on --tables.
M.tables_in_run = nil

-- Refuses more tables than a run uses.
local function check_count()
  if M.tables_in_run and sysbench.opt.tables > M.tables_in_run then
    if not sysbench.cmdline.dialect() then
      sysbench.cmdline.refuse(("--tables=%.15g: out of range; allowed: %d")
                              :format(sysbench.opt.tables, M.tables_in_run))
    end
    error(("this benchmark does not support --tables > %d"):format(M.tables_in_run))
  end
end

-- Makes all tables.  bundled: the functions that a script may have replaced by its own.  row_bytes:
-- the least size of a row that these make.
function M.prepare(bundled, row_bytes)
  if not sysbench.cmdline.dialect() then -- a dialect makes all tables, as sysbench does
    check_count()
  end
  sysbench.cmdline.expect()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  local has_own_tables = create_table ~= bundled.create_table
  local has_own_rows = has_own_tables or get_c_value ~= bundled.get_c_value or
                       get_pad_value ~= bundled.get_pad_value
  if not has_own_rows and not check_room(drv, row_bytes) then
    return
  end
  if not has_own_tables and tables_are_shared(drv) then
    prepare_shared_tables(drv, con)
  else
    for_own_tables(function(table_num)
      create_table(drv, con, table_num)
    end)
  end
  con:disconnect()
end

-- Before a run -------------------------------------------------------------------------------

-- Returns the number of rows that a run expects in each table.
function M.rows_in_run()
  return sysbench.opt.table_size
end

-- Refuses to run without tables, and warns of too few rows.
local function check_tables()
  local tables, rows = M.tables_in_run or sysbench.opt.tables, M.rows_in_run()
  sysbench.cmdline.use_tables(tables, rows)
  if sysbench.opt.pgsql_variant ~= "redshift" then -- redshift: the highest id is not cheap there
    sysbench.cmdline.check_tables("sbtest", tables, rows, "tables")
  end
end

-- Warming up and cleaning up -----------------------------------------------------------------

local analyze = {
  mysql = "ANALYZE TABLE sbtest%d",
  sqlite = "ANALYZE sbtest%d",
}

-- Reads a table through its key and as a whole.  The queries are those of sysbench.
local function warm_table(con, name, table_num)
  local size, hint = sysbench.opt.table_size, ""
  if name ~= "sqlite" then
    hint = (" FORCE KEY (%s)"):format(sysbench.opt.secondary and "xid" or "PRIMARY")
  end
  con:query((analyze[name] or analyze.mysql):format(table_num))
  con:query(("SELECT AVG(id) FROM (SELECT * FROM sbtest%d%s LIMIT %d) t")
            :format(table_num, hint, size))
  con:query(("SELECT COUNT(*) FROM (SELECT * FROM sbtest%d WHERE k LIKE '%%0%%' LIMIT %d) t")
            :format(table_num, size))
end

-- Reads all tables once; `command` is the name it was called by.
function M.warmup(command)
  local drv = sysbench.sql.driver()
  local con, name = drv:connect(), drv:name()
  if name == "pgsql" then
    error(command .. " is currently MySQL only")
  elseif name ~= "sqlite" then
    con:query("SET tmp_table_size=2*1024*1024*1024")
    con:query("SET max_heap_table_size=2*1024*1024*1024")
  end
  for_own_tables(function(table_num)
    M.say(("%s table sbtest%d"):format(command == "prewarm" and "Prewarming" or "Preloading",
                                       table_num))
    warm_table(con, name, table_num)
  end)
  con:disconnect()
end

-- Gives the room of tables that were dropped back to the disk; servers do that by themselves.
function M.shrink(drv, con)
  if drv:name() == "sqlite" and not sysbench.cmdline.dialect() then con:query("VACUUM") end
end

-- The number of further tables sbtestN, and the highest N.
local rest_text = {
  mysql = [[
SELECT COUNT(*), MAX(n) FROM
  (SELECT CAST(SUBSTRING(table_name, 7) AS UNSIGNED) AS n FROM information_schema.tables
   WHERE table_schema = DATABASE() AND table_name REGEXP '^sbtest[0-9]{1,9}$') AS t
WHERE n > %d]],
  pgsql = [[
SELECT COUNT(*), MAX(n) FROM
  (SELECT CAST(SUBSTRING(relname FROM '^sbtest([0-9]{1,9})$') AS INTEGER) AS n FROM pg_class
   WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)) AS t
WHERE n > %d]],
  sqlite = [[
SELECT COUNT(*), MAX(n) FROM
  (SELECT CAST(SUBSTR(name, 7) AS INTEGER) AS n FROM sqlite_master
   WHERE type = 'table' AND name GLOB 'sbtest[0-9]*' AND name NOT GLOB 'sbtest*[^0-9]*') AS t
WHERE n > %d]],
}

-- Tells of tables of a prepare with a larger value of the option, which cleanup leaves.  In a dry
-- run there is no answer.
function M.tell_rest(drv, con, last, option)
  local text = rest_text[drv:name()]
  if not text or is_redshift(drv) or sysbench.cmdline.dialect() then return end
  local n, highest = con:query_row(text:format(last))
  if n and tonumber(n) > 0 then
    io.stderr:write(("%d more table(s) are left, up to sbtest%d; to drop them too run cleanup with "
      .. "--%s=%d\n"):format(n, highest, option, highest))
  end
end

-- Drops the tables of --tables, and tells of those that are left.
function M.cleanup()
  check_count()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  for table_num = 1, sysbench.opt.tables do
    M.say(("Dropping table 'sbtest%d'..."):format(table_num))
    con:query(("DROP TABLE IF EXISTS sbtest%d"):format(table_num))
  end
  if not M.tables_in_run then M.tell_rest(drv, con, sysbench.opt.tables, "tables") end
  M.shrink(drv, con)
  con:disconnect()
end

-- Called in the main state before a run; without a workload around it there is no event().  Returns
-- the error's text, for the caller to raise with its own place.
function M.init()
  local is_native = not sysbench.cmdline.dialect()
  if event == nil then
    local text = "this script is meant to be included by other OLTP scripts and should not be " ..
                 "called directly."
    if is_native then
      sysbench.cmdline.refuse(text)
    end
    return text
  end
  if is_native then
    require("oltp_options").check()
    check_tables()
  end
end

return M
