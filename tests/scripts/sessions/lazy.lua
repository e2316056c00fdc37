-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statements in metamethods: tables that read and write themselves, operators and calls.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE property(id INTEGER PRIMARY KEY, value INTEGER)")
  for id = 0, sysbench.opt.threads * 10 - 1 do
    con:query(("INSERT INTO property VALUES (%d, %d)"):format(id, id % 10))
  end
end

local Record = {}

function Record.__index(record, i)
  return tonumber((con:query_row("SELECT value FROM property WHERE id = " .. record.base + i)))
end

function Record.__newindex(record, i, value)
  con:query(("UPDATE property SET value = %d WHERE id = %d"):format(value, record.base + i))
end

function Record.__call(record, i, value)
  record[i] = record[i] + value
  return record[i]
end

function Record.__add(record, value)
  return record[0] + value
end

function Record.__concat(record, text)
  return record[1] .. text
end

function Record.__eq(a, b)
  return a[2] == b[2]
end

function Record.__lt(a, b)
  return a[3] < b[3]
end

function thread_init(tid)
  con = sysbench.sql.driver():connect()
  own = setmetatable({base = tid * 10}, Record)
  other = setmetatable({base = tid * 10}, Record)
end

function event(tid)
  local i = sysbench.rand.uniform(0, 9)
  print(("[%d]"):format(tid), own(i, sysbench.rand.uniform(1, 9)), own + 1, own .. " is text",
    own == other, own < other)
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE property")
end
