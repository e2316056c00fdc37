-- SPDX-License-Identifier: GPL-2.0-or-later
-- Errors of statements that leave coroutines: through coroutine.wrap the event is repeated, from
-- coroutine.resume the script has them.
-- Options: --db-ignore-errors=duplicate.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE wrapped(id INTEGER PRIMARY KEY)")
  for id = 0, sysbench.opt.threads - 1 do
    con:query(("INSERT INTO wrapped VALUES (%d)"):format(id * 100000))
  end
end

function thread_init()
  con = sysbench.sql.driver():connect()
  tries, told, caught = 0, 0, 0
end

function sysbench.hooks.before_restart_event()
  told = told + 1
end

local function insert(id)
  con:query(("INSERT INTO wrapped VALUES (%d)"):format(id))
  return id
end

function event(tid)
  tries = tries + 1
  if tries % 5 == 2 then
    coroutine.wrap(function ()
      coroutine.wrap(function () insert(tid * 100000) end)()
    end)()
  elseif tries % 5 == 4 then
    local co = coroutine.create(insert)
    local ok, err = coroutine.resume(co, tid * 100000)
    if not ok then
      caught = caught + 1
      assert(err.errcode == sysbench.error.RESTART_EVENT and coroutine.status(co) == "dead")
    end
  end
  insert(tid * 100000 + tries)
end

function thread_done(tid)
  print(("[%d]"):format(tid), tries, told, caught)
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE wrapped")
end
