-- SPDX-License-Identifier: GPL-2.0-or-later
-- Coroutines of the script's own, with statements and values of their own between them.

local con, steps

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE pearl(id INTEGER PRIMARY KEY, n INTEGER)")
  for id = 0, sysbench.opt.threads - 1 do
    con:query(("INSERT INTO pearl VALUES (%d, 1)"):format(id))
  end
end

-- Goes on over all events of the session.
local function counting(id)
  return coroutine.wrap(function (step)
    while true do
      local n = tonumber((con:query_row("SELECT n FROM pearl WHERE id = " .. id)))
      step = coroutine.yield("read", n, nil, step)
      con:query(("UPDATE pearl SET n = %d WHERE id = %d"):format(n + step, id))
      step = coroutine.yield("written")
    end
  end)
end

function thread_init(id)
  con = sysbench.sql.driver():connect()
  steps = counting(id)
end

local function once(id)
  return coroutine.create(function (a, b)
    assert(coroutine.status(coroutine.running()) == "running")
    con:query("SELECT " .. a)
    local c, d = coroutine.yield(b, a)
    con:query("SELECT " .. c)
    if d then
      error({reason = "because of " .. id})
    end
    return con:query_row("SELECT 1"), "end"
  end)
end

local function say(...)
  print(("[%d]"):format(sysbench.tid), ...)
end

function event(id)
  local a, b = sysbench.rand.uniform(1, 99), sysbench.rand.uniform(1, 9)
  say(steps(a))
  local co = once(id)
  say(coroutine.status(co), coroutine.resume(co, a, b))
  say(steps(b))
  say(coroutine.status(co))
  local ok, what, more = coroutine.resume(co, b, a > 50)
  say(ok, ok and what or what.reason, more, coroutine.status(co), coroutine.resume(co))
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE pearl")
end
