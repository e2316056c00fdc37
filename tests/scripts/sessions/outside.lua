-- SPDX-License-Identifier: GPL-2.0-or-later
-- An event is no coroutine that the script can suspend, and coroutine.running() does not name one.

function thread_init()
  con = sysbench.sql.driver():connect()
  print(("[%d]"):format(sysbench.tid), coroutine.running())
end

function event(tid)
  con:query("SELECT 1")
  local ok, message = pcall(coroutine.yield, "out")
  print(("[%d]"):format(tid), coroutine.running(), ok, type(message))
  con:query("SELECT 2")
  assert(not ok)
end
