-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statements deep below an event: recursion, tail calls, many arguments, large texts.

local function down(n, ...)
  if n == 0 then
    con:query("SELECT " .. table.concat({...}, ", "))
    return select("#", ...)
  end
  local found = down(n - 1, n, ...)
  return found
end

local function tail(n, text)
  if n == 0 then
    return con:query_row(("SELECT '%s'"):format(text))
  end
  return tail(n - 1, text .. n % 10)
end

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event(tid)
  local depth = sysbench.rand.uniform(1, 100)
  print(("[%d]"):format(tid), down(depth), #tail(500, "x"), depth)
  con:query(("SELECT '%s'"):format(("y"):rep(5000)))
end
