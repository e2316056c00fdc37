-- SPDX-License-Identifier: GPL-2.0-or-later
-- math.random without a seed: each session draws what a fresh interpreter draws.

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event(tid)
  con:query("SELECT " .. math.random(1000))
  print(("[%d]"):format(tid), math.random(1000), ("%.12f"):format(math.random()))
end
