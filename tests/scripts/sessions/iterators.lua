-- SPDX-License-Identifier: GPL-2.0-or-later
-- Rows as iterators: generators over coroutines within each other, closures, and stateless ones.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE leaf(id INTEGER PRIMARY KEY, parent INTEGER)")
  for tid = 0, sysbench.opt.threads - 1 do
    for i = 1, 7 do
      local id, parent = tid * 10 + i, tid * 10 + math.floor(i / 2)
      con:query(("INSERT INTO leaf VALUES (%d, %d)"):format(id, parent))
    end
  end
end

function thread_init()
  con = sysbench.sql.driver():connect()
  real = con.driver:name() ~= "null"
end

local function rows(sql)
  local rs
  return function ()
    rs = rs or con:query(sql)
    local row = rs:fetch_row()
    return row and tonumber(row[1])
  end
end

local function children(id, depth)
  for child in rows("SELECT id FROM leaf WHERE parent = " .. id .. " ORDER BY id") do
    coroutine.yield(child, depth)
    if real or depth < 3 then
      for grandchild, below in coroutine.wrap(function () children(child, depth + 1) end) do
        coroutine.yield(grandchild, below)
      end
    end
  end
end

local function next_parent(root, id)
  if id > root then
    local parent = con:query_row("SELECT parent FROM leaf WHERE id = " .. id)
    return tonumber(parent)
  end
end

function event(tid)
  local found = {}
  for id, depth in coroutine.wrap(function () children(tid * 10, 1) end) do
    found[#found + 1] = id .. ":" .. depth
  end
  for id in next_parent, tid * 10, tid * 10 + sysbench.rand.uniform(1, 7) do
    found[#found + 1] = id
    if not real then
      break
    end
  end
  print(("[%d]"):format(tid), table.concat(found, " "))
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE leaf")
end
