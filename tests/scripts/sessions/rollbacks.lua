-- SPDX-License-Identifier: GPL-2.0-or-later
-- Transactions of several statements, some of which the script takes back, also to a savepoint.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE ledger(id INTEGER PRIMARY KEY, n INTEGER)")
  for id = 0, sysbench.opt.threads - 1 do
    con:query(("INSERT INTO ledger VALUES (%d, 0)"):format(id))
  end
end

function thread_init()
  con = sysbench.sql.driver():connect()
  expected = 0
end

local function add(tid, n)
  con:query(("UPDATE ledger SET n = n + %d WHERE id = %d"):format(n, tid))
end

function event(tid)
  local n, way = sysbench.rand.uniform(1, 9), sysbench.rand.uniform(1, 3)
  con:query("BEGIN")
  add(tid, n)
  if way == 1 then
    con:query("ROLLBACK")
  else
    if way == 2 then
      con:query("SAVEPOINT half")
      add(tid, 1000)
      con:query("ROLLBACK TO SAVEPOINT half")
    end
    con:query("COMMIT")
    expected = expected + n
  end
  local found = con:query_row("SELECT n FROM ledger WHERE id = " .. tid)
  assert(con.driver:name() == "null" or tonumber(found) == expected)
  print(("[%d]"):format(tid), way, expected, found)
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE ledger")
end
