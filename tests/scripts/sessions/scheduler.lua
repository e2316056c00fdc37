-- SPDX-License-Identifier: GPL-2.0-or-later
-- A scheduler of the script's own: four coroutines with a connection each take turns in an event,
-- and one that is never resumed again.

local cons, queue = {}, {}

function thread_init()
  local drv = sysbench.sql.driver()
  for i = 1, 4 do
    cons[i] = drv:connect()
  end
end

local function task(i, steps)
  return coroutine.create(function ()
    for step = 1, steps do
      cons[i]:query(("SELECT 'task %d', %d"):format(i, step))
      coroutine.yield(i)
    end
    local ok, message = pcall(function ()
      coroutine.yield(-i)
      error(cons[i]:query_row("SELECT 1"), 0)
    end)
    return ok, message
  end)
end

function event(tid)
  for i = 1, 4 do
    queue[i] = task(i, sysbench.rand.uniform(0, 4))
  end
  local said = {}
  while #queue > 0 do
    local co = table.remove(queue, 1)
    local ok, what, message = coroutine.resume(co)
    said[#said + 1] = tostring(what) .. (message or "")
    assert(ok, what)
    if coroutine.status(co) == "suspended" then
      queue[#queue + 1] = co
    end
  end
  coroutine.resume(task(1, 1)) -- stays where it is
  print(("[%d]"):format(tid), table.concat(said, " "))
end
