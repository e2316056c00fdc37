-- SPDX-License-Identifier: GPL-2.0-or-later
-- The debug library: tracebacks with statements above and below them, and upvalues and locals
-- that are read and set.

local kept

function thread_init()
  kept = 1
  con = sysbench.sql.driver():connect()
end

local function look()
  con:query("SELECT 'below'")
  local trace = debug.traceback("here")
  local lines = select(2, trace:gsub("\n", "\n"))
  local name, value = debug.getlocal(2, 1)
  con:query("SELECT 'above'")
  return lines >= 2, name, value, debug.getinfo(1, "S").short_src == debug.getinfo(2, "S").short_src
end

function event(tid)
  local drawn = sysbench.rand.uniform(1, 100)
  local lines, name, value, same = look()
  assert(drawn)
  local upvalue
  for i = 1, 10 do
    if debug.getupvalue(event, i) == "kept" then
      upvalue = i
    end
  end
  debug.setupvalue(event, upvalue, kept + 1)
  print(("[%d]"):format(tid), lines, name, value, same, kept)
end
