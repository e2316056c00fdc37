-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statements in the conversion of a value to text, in table.foreach, and in string.format.

local Money = {}

function Money.__tostring(money)
  return "#" .. con:query_row("SELECT " .. money[1])
end

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event(tid)
  local a = setmetatable({sysbench.rand.uniform(1, 9)}, Money)
  local text = tostring(a)
  print(("[%d]"):format(tid), a, text)
  con:query(("SELECT '%s'"):format(tostring(a)))
  table.foreach({1, 2}, function (_, n)
    con:query("SELECT 'each', " .. n)
  end)
end
