-- SPDX-License-Identifier: GPL-2.0-or-later
-- Counters at every level: global, local to the file, static in a closure, in _G by name, and in
-- the environment of a function.

total = 0
local calls = 0

local counter = (function ()
  local n = 0
  return function () n = n + 1 return n end
end)()

local function in_its_own()
  hidden = (hidden or 0) + 1
  return hidden
end
setfenv(in_its_own, setmetatable({}, {__index = _G}))

function thread_init(tid)
  con = sysbench.sql.driver():connect()
  _G["name_" .. tid] = "mine"
  _G.only = tid
end

function event(tid)
  total = total + 1
  calls = calls + 1
  local once = counter()
  con:query(("SELECT %d"):format(total))
  rawset(_G, "raw", (rawget(_G, "raw") or 0) + 1)
  assert(total == calls and once == calls and raw == calls and in_its_own() == calls)
  assert(_G.only == tid and sysbench.tid == tid and hidden == nil)
  local mine = 0
  for name in pairs(_G) do
    mine = mine + (type(name) == "string" and name:match("^name_") and 1 or 0)
  end
  assert(mine == 1 and _G["name_" .. tid] == "mine")
end

function thread_done(tid)
  print(("[%d]"):format(tid), total, calls, raw, counter(), getfenv(event) == _G)
end
