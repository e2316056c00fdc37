-- SPDX-License-Identifier: GPL-2.0-or-later
-- Functions of libraries that a script replaces with some that know the session.

local tid = sysbench.tid
local clock = 0
local old_format, old_insert = string.format, table.insert
local inserted = 0

os.time = function ()
  clock = clock + 1
  return tid * 1000 + clock
end

math.random = function (a, b)
  return sysbench.rand.uniform(a or 1, b or 100)
end

function table.insert(list, ...)
  inserted = inserted + 1
  return old_insert(list, ...)
end

function string.format(text, ...)
  return old_format("%d:" .. text, tid, ...)
end

function print(...)
  io.write("[" .. tid .. "]\t" .. table.concat({...}, "\t") .. "\n")
end

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  local list = {}
  for _ = 1, math.random(1, 5) do
    table.insert(list, math.random())
  end
  con:query("SELECT '" .. ("%s"):format(table.concat(list, ",")) .. "', " .. os.time())
  print(os.time(), inserted, string.format("%d", #list), ("x"):rep(3))
end
