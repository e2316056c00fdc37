-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statements where a script cannot be suspended: in the comparison of table.sort and in the
-- replacement of string.gsub.

function thread_init()
  con = sysbench.sql.driver():connect()
end

local function before(a, b)
  con:query(("SELECT %d, %d"):format(a, b))
  return a < b
end

function event(tid)
  local numbers = {}
  for i = 1, 5 do
    numbers[i] = sysbench.rand.uniform(1, 100)
  end
  con:query("SELECT 'before'")
  table.sort(numbers, before)
  for i = 2, 5 do
    assert(numbers[i - 1] <= numbers[i])
  end
  local text = ("a b c"):gsub("%a", function (letter)
    return letter .. con:query_row("SELECT 1")
  end)
  con:query("SELECT 'behind'")
  print(("[%d]"):format(tid), text, table.concat(numbers, " "))
end
