-- SPDX-License-Identifier: GPL-2.0-or-later
-- Errors that an option ignores: the event is repeated, or the script catches them and goes on.
-- Options: --db-ignore-errors=duplicate.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE taken(id INTEGER PRIMARY KEY)")
  for id = 0, sysbench.opt.threads - 1 do
    con:query(("INSERT INTO taken VALUES (%d)"):format(id * 100000))
  end
end

function thread_init()
  con = sysbench.sql.driver():connect()
  tries, caught = 0, 0
end

local function take(id)
  con:query(("INSERT INTO taken VALUES (%d)"):format(id))
end

function event(tid)
  tries = tries + 1
  con:query("SELECT 'try'")
  if tries % 7 == 0 then
    take(tid * 100000)
  elseif tries % 7 == 3 then
    local ok, err = pcall(take, tid * 100000)
    if not ok then
      caught = caught + 1
      assert(err.errcode == sysbench.error.RESTART_EVENT and err.connection == con)
      assert(con.error == sysbench.sql.error.IGNORABLE and err.sql_state == con.sql_state)
    end
  end
  take(tid * 100000 + tries)
end

function thread_done(tid)
  print(("[%d]"):format(tid), tries, caught,
    con:query_row(("SELECT COUNT(*) FROM taken WHERE id BETWEEN %d AND %d"):format(
      tid * 100000, tid * 100000 + 99999)))
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE taken")
end
