-- SPDX-License-Identifier: GPL-2.0-or-later
-- The global table has a metatable that refuses globals which nobody has declared.

declared = {}

setmetatable(_G, {
  __newindex = function (globals, name, value)
    if not declared[name] and type(value) ~= "function" then
      error("assignment to the undeclared global " .. name, 2)
    end
    rawset(globals, name, value)
  end,
  __index = function (_, name)
    if not declared[name] then
      error("use of the undeclared global " .. name, 2)
    end
  end,
})

declared.con, declared.n = true, true

-- The program looks these up.
for _, name in ipairs({"init", "done", "thread_run", "prepare", "cleanup", "help"}) do
  declared[name] = true
end

function thread_init(tid)
  con = sysbench.sql.driver():connect()
  n = 0
  declared["of" .. tid] = true
  _G["of" .. tid] = tid
end

function event(tid)
  n = n + 1
  con:query("SELECT " .. n)
  local ok, message = pcall(function () undeclared = 1 end)
  local found, other = pcall(function () return _G["of" .. tid + 1] end)
  print(("[%d]"):format(tid), n, ok, message:match("assignment.*"), found, other:match("use.*"),
    _G["of" .. tid])
end

function thread_done() end
