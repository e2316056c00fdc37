-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statements in finalizers, which the collector calls when the script asks it to.

local con

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE goodbye(id INTEGER PRIMARY KEY, n INTEGER)")
  for id = 0, sysbench.opt.threads - 1 do
    con:query(("INSERT INTO goodbye VALUES (%d, 0)"):format(id))
  end
end

function thread_init()
  con, n = sysbench.sql.driver():connect(), 0
end

local function drop(tid)
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function ()
    con:query("UPDATE goodbye SET n = n + 1 WHERE id = " .. tid)
  end
end

local function drop_cdata(tid)
  ffi.gc(ffi.new("int[1]"), function ()
    con:query("UPDATE goodbye SET n = n + 100 WHERE id = " .. tid)
  end)
end

function event(tid)
  n = n + 1
  con:query("SELECT 'alive'")
  if n % 20 == 7 then
    drop(tid)
    collectgarbage()
    collectgarbage()
  elseif n % 20 == 14 then
    drop_cdata(tid)
    collectgarbage()
    collectgarbage()
  end
  con:query("SELECT 'gone'")
end

function thread_done(tid)
  print(("[%d]"):format(tid), n, con:query_row("SELECT n FROM goodbye WHERE id = " .. tid))
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE goodbye")
end
