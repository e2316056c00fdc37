-- SPDX-License-Identifier: GPL-2.0-or-later
-- Settings of the compiler, at the top level and in events, and functions that are not compiled.

local jit = require("jit")
local ok = pcall(require, "jit.opt")

jit.opt.start("hotloop=10", "maxtrace=2000")

local function sum(n)
  local total = 0
  for i = 1, n do
    total = total + i % 7
  end
  return total
end

jit.off(sum)

function thread_init()
  con = sysbench.sql.driver():connect()
  n = 0
end

function event(tid)
  n = n + 1
  if n == 5 then
    jit.off()
  elseif n == 10 then
    jit.on()
  elseif n == 15 then
    jit.flush()
  end
  local total = sum(1000 + n)
  con:query("SELECT " .. total)
  local hash = 0
  for i = 1, 2000 do
    hash = bit.bxor(bit.rol(hash, 5), i * n)
  end
  con:query("SELECT " .. hash)
  print(("[%d]"):format(tid), total, hash, type(jit.version), type(ok))
end
