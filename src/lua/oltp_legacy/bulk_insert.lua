-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each thread fills a table of its own with statements of many rows, as in sysbench 0.5.

local old = require("common")

-- Makes the table that this thread fills in a run.  The tables are numbered from 0.
function prepare()
  set_vars()
  db_connect()
  for table_id = sysbench.tid, sysbench.opt.threads - 1, sysbench.opt.threads do
    db_query(([[
CREATE TABLE IF NOT EXISTS sbtest%d (
id %s NOT NULL,
k %s DEFAULT '0' NOT NULL,
PRIMARY KEY (id)
)%s]]):format(table_id, old.integer_type(), old.integer_type(),
             old.is_mysql() and " ENGINE = InnoDB" or ""))
  end
  db_disconnect()
end

old.shared_prepare = prepare

function cleanup()
  set_vars()
  local con = db_connect()
  for table_id = 0, sysbench.opt.threads - 1 do
    old.drop_table("sbtest" .. table_id, "may be absent")
  end
  require("oltp_tables").shrink(sysbench.sql.driver(), con)
  db_disconnect()
end

local last_id

-- The ids go on after the largest one that the table has.
function thread_init(thread_id)
  set_vars()
  local con = db_connect()
  last_id = tonumber((con:query_row_uncounted(
    ("SELECT MAX(id) FROM sbtest%d"):format(thread_id)))) or 0
  db_bulk_insert_init(("INSERT INTO sbtest%d VALUES"):format(thread_id))
end

function event()
  last_id = last_id + 1
  db_bulk_insert_next(("(%d,%d)"):format(last_id, last_id))
end

function thread_done()
  db_bulk_insert_done()
end
