-- SPDX-License-Identifier: GPL-2.0-or-later
-- Connections that are made anew: con:reconnect, disconnect and connect, and one for each event.

function thread_init()
  drv = sysbench.sql.driver()
  con = drv:connect()
  n = 0
end

function event(tid)
  n = n + 1
  if n % 20 == 3 then
    con:reconnect()
  elseif n % 20 == 6 then
    con:disconnect()
    con = drv:connect()
  elseif n % 20 == 9 then
    local short = drv:connect()
    short:query(("SELECT 'short %d'"):format(n))
    short:disconnect()
  end
  local found = con:query_row(("SELECT %d"):format(n))
  assert(drv:name() == "null" or tonumber(found) == n)
end

function thread_done(tid)
  print(("[%d]"):format(tid), n)
  con:disconnect()
end
