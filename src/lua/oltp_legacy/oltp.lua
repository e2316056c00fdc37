-- SPDX-License-Identifier: GPL-2.0-or-later
-- Transactions of point queries, range queries and changes, as in sysbench 0.5.

local old = require("common")

local begin_query, commit_query

-- Connects, and chooses how transactions begin and end.  MyISAM has no transactions, so all tables
-- are locked instead.
function thread_init()
  set_vars()
  db_connect()
  begin_query, commit_query = "BEGIN", "COMMIT"
  -- SQLite restarts a transaction that reads first if another one writes then.
  if db_driver == "sqlite" and not oltp_read_only then
    begin_query = "BEGIN IMMEDIATE"
  end
  if old.is_mysql() and mysql_table_engine == "myisam" then
    local tables = {}
    for table_id = 1, oltp_tables_count do
      tables[table_id] = ("sbtest%d WRITE"):format(table_id)
    end
    begin_query, commit_query = "LOCK TABLES " .. table.concat(tables, " ,"), "UNLOCK TABLES"
  end
end

local function repeated(times, statement, name)
  for _ = 1, times do
    statement(name)
  end
end

local function point_select(name)
  db_query(("SELECT c FROM %s WHERE id=%d"):format(name, old.row_id()))
end

local function simple_range(name)
  db_query(("SELECT c FROM %s %s"):format(name, old.range()))
end

local function sum_range(name)
  db_query(("SELECT SUM(K) FROM %s %s"):format(name, old.range()))
end

local function order_range(name)
  db_query(("SELECT c FROM %s %s ORDER BY c"):format(name, old.range()))
end

local function distinct_range(name)
  db_query(("SELECT DISTINCT c FROM %s %s ORDER BY c"):format(name, old.range()))
end

local function index_update(name)
  db_query(("UPDATE %s SET k=k+1 WHERE id=%d"):format(name, old.row_id()))
end

local function non_index_update(name)
  db_query(("UPDATE %s SET c='%s' WHERE id=%d"):format(name, old.c_value(), old.row_id()))
end

local function delete_insert(name)
  local id = old.row_id()
  db_query(("DELETE FROM %s WHERE id=%d"):format(name, id))
  db_query(("INSERT INTO %s (id, k, c, pad) VALUES (%d, %d, '%s', '%s')"):format(
           name, id, old.row_id(), old.c_value(), old.pad_value()))
end

local function reads(name)
  repeated(oltp_point_selects, point_select, name)
  if oltp_range_selects then
    repeated(oltp_simple_ranges, simple_range, name)
    repeated(oltp_sum_ranges, sum_range, name)
    repeated(oltp_order_ranges, order_range, name)
    repeated(oltp_distinct_ranges, distinct_range, name)
  end
end

local function changes(name)
  repeated(oltp_index_updates, index_update, name)
  repeated(oltp_non_index_updates, non_index_update, name)
  repeated(oltp_delete_inserts, delete_insert, name)
end

function event()
  local name = old.table_name()
  if not oltp_skip_trx then
    db_query(begin_query)
  end
  if not oltp_write_only then
    reads(name)
  end
  if not oltp_read_only then
    changes(name)
  end
  if not oltp_skip_trx then
    db_query(commit_query)
  end
end

-- Without transactions, of two threads that have deleted the same row one inserts it too late.
-- MySQL's list of ignored errors does not have its error, as those of the other drivers do.
if not sysbench.cmdline.dialect() then
  function sysbench.hooks.sql_error_ignorable(failure)
    return oltp_skip_trx and failure.sql_errno == 1062
  end
end
