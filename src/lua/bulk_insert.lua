-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event adds one row to a growing INSERT, sent when it is full; every thread has a table.

local con
local last_id

-- Refuses to run without the tables.  A dialect, as sysbench, finds that out by its first
-- statement.
function init()
  if not sysbench.cmdline.dialect() then
    sysbench.cmdline.use_tables(sysbench.opt.threads, 0)
    sysbench.cmdline.check_tables("sbtest", sysbench.opt.threads, 0, "threads")
  end
end

function thread_init()
  local table_num = sysbench.tid + 1
  sysbench.cmdline.expect()
  con = sysbench.sql.driver():connect()
  last_id = tonumber((con:query_row_uncounted(
    ("SELECT MAX(id) FROM sbtest%d"):format(table_num)))) or 0
  con:bulk_insert_init(("INSERT INTO sbtest%d VALUES"):format(table_num))
end

function event()
  last_id = last_id + 1
  con:bulk_insert_next(("(%d,%d)"):format(last_id, last_id))
end

function thread_done()
  con:bulk_insert_done()
  con:disconnect()
end

-- Makes a table for each thread of the run.  A table that exists keeps its rows, to which a run
-- adds.
function prepare()
  local tables = require("oltp_tables")
  local admin = sysbench.sql.driver():connect()
  for table_num = 1, sysbench.opt.threads do
    tables.say(("Creating table 'sbtest%d'..."):format(table_num))
    admin:query(([[
        CREATE TABLE IF NOT EXISTS sbtest%d (
          id INTEGER NOT NULL,
          k INTEGER DEFAULT '0' NOT NULL,
          PRIMARY KEY (id))]]):format(table_num))
  end
  admin:disconnect()
end

-- Drops the tables of --threads, and tells of those that runs with more threads have left.
function cleanup()
  local tables = require("oltp_tables")
  local drv = sysbench.sql.driver()
  local admin = drv:connect()
  for table_num = 1, sysbench.opt.threads do
    tables.say(("Dropping table 'sbtest%d'..."):format(table_num))
    admin:query(("DROP TABLE IF EXISTS sbtest%d"):format(table_num))
  end
  tables.tell_rest(drv, admin, sysbench.opt.threads, "threads")
  tables.shrink(drv, admin)
  admin:disconnect()
end
