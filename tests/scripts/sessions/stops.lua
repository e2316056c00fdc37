-- SPDX-License-Identifier: GPL-2.0-or-later
-- Events that return true end their session, which has not counted them.

function thread_init()
  con = sysbench.sql.driver():connect()
  n = 0
end

function event(tid)
  n = n + 1
  con:query(("SELECT %d"):format(n))
  return n > tid + 5
end

function thread_done(tid)
  print(("[%d]"):format(tid), n, con:query_row("SELECT 'done'"))
end
