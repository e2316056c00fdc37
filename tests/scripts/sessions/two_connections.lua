-- SPDX-License-Identifier: GPL-2.0-or-later
-- Two connections in one session: one sees what the other has committed, and nothing else.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE shown(id INTEGER PRIMARY KEY, n INTEGER)")
  for id = 0, sysbench.opt.threads - 1 do
    con:query(("INSERT INTO shown VALUES (%d, 0)"):format(id))
  end
end

function thread_init()
  drv = sysbench.sql.driver()
  writer, reader = drv:connect(), drv:connect()
  real = drv:name() ~= "null"
  sum = 0
end

local function look(con, tid)
  return tonumber((con:query_row("SELECT n FROM shown WHERE id = " .. tid)))
end

function event(tid)
  local n = sysbench.rand.uniform(1, 9)
  writer:query("BEGIN")
  writer:query(("UPDATE shown SET n = n + %d WHERE id = %d"):format(n, tid))
  local inside, outside = look(writer, tid), look(reader, tid)
  assert(not real or (inside == sum + n and outside == sum))
  if n > 6 then
    writer:query("ROLLBACK")
  else
    writer:query("COMMIT")
    sum = sum + n
  end
  print(("[%d]"):format(tid), inside, outside, look(reader, tid))
end

function thread_done()
  reader:disconnect()
  writer:disconnect()
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE shown")
end
