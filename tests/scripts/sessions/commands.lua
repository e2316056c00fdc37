-- SPDX-License-Identifier: GPL-2.0-or-later
-- Commands of the script, one of them in all sessions at the same time, with barriers.

local function load()
  local con = sysbench.sql.driver():connect()
  if sysbench.tid == 0 then
    con:query("CREATE TABLE part(id INTEGER PRIMARY KEY, tid INTEGER)")
  end
  if not sysbench.cmdline.barrier() then
    return false
  end
  con:bulk_insert_init("INSERT INTO part VALUES")
  for i = 1, 10 do
    con:bulk_insert_next(("(%d, %d)"):format(sysbench.tid * 10 + i, sysbench.tid))
  end
  con:bulk_insert_done()
  sysbench.cmdline.barrier()
  print(("[%d]"):format(sysbench.tid), con:query_row("SELECT COUNT(*) FROM part"))
end

local function remove()
  sysbench.sql.driver():connect():query("DROP TABLE part")
end

sysbench.cmdline.commands = {
  prepare = {load, sysbench.cmdline.PARALLEL_COMMAND},
  cleanup = {remove},
}

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event(tid)
  print(("[%d]"):format(tid), con:query_row("SELECT SUM(id) FROM part WHERE tid = " .. tid))
end
