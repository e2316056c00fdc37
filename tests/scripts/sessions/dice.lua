-- SPDX-License-Identifier: GPL-2.0-or-later
-- math.random with a seed of each session.

function thread_init(tid)
  con = sysbench.sql.driver():connect()
  math.randomseed(tid + 1)
end

function event(tid)
  local a, b = math.random(6), math.random(10, 20)
  con:query(("SELECT %d, %d"):format(a, b))
  print(("[%d]"):format(tid), a, b, ("%.12f"):format(math.random()))
end
