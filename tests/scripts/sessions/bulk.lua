-- SPDX-License-Identifier: GPL-2.0-or-later
-- Bulk inserts over many events: rows are sent when the statement is long enough, and at the end.

function prepare()
  local con = sysbench.sql.driver():connect()
  for tid = 0, sysbench.opt.threads - 1 do
    con:query(("CREATE TABLE load%d(id INTEGER PRIMARY KEY, pad VARCHAR(1000))"):format(tid))
  end
end

function thread_init(tid)
  con = sysbench.sql.driver():connect()
  id = 0
  con:bulk_insert_init(("INSERT INTO load%d(id, pad) VALUES"):format(tid))
end

function event()
  for _ = 1, 9 do
    id = id + 1
    con:bulk_insert_next(("(%d, '%s')"):format(id, ("x"):rep(sysbench.rand.uniform(900, 1000))))
  end
end

function thread_done(tid)
  con:bulk_insert_done()
  local rows, last = con:query_row(("SELECT COUNT(*), MAX(id) FROM load%d"):format(tid))
  print(("[%d]"):format(tid), id, rows, last)
  assert(con.driver:name() == "null" or tonumber(rows) == id)
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  for tid = 0, sysbench.opt.threads - 1 do
    con:query("DROP TABLE load" .. tid)
  end
end
