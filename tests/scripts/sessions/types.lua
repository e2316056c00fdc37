-- SPDX-License-Identifier: GPL-2.0-or-later
-- Prepared statements with parameters of all types, NULL among them.

local T = sysbench.sql.type
local kinds = {T.TINYINT, T.SMALLINT, T.INT, T.BIGINT, T.FLOAT, T.DOUBLE, T.CHAR, T.VARCHAR}
local lengths = {[T.CHAR] = 8, [T.VARCHAR] = 30}

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query([[CREATE TABLE sample(id INTEGER PRIMARY KEY, t SMALLINT, s SMALLINT, i INTEGER,
    b BIGINT, f DOUBLE PRECISION, d DOUBLE PRECISION, c CHAR(8), v VARCHAR(30))]])
end

function thread_init()
  con = sysbench.sql.driver():connect()
  real = con.driver:name() ~= "null"
  insert = con:prepare("INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
  params = {insert:bind_create(T.INT)}
  for _, kind in ipairs(kinds) do
    params[#params + 1] = insert:bind_create(kind, lengths[kind])
  end
  insert:bind_param(unpack(params))
  find = con:prepare("SELECT t, s, i, b, f, d, c, v FROM sample WHERE id = ?")
  key = find:bind_create(T.BIGINT)
  find:bind_param(key)
  n = 0
end

local function draw()
  local uniform = sysbench.rand.uniform
  return {uniform(0, 100), -uniform(0, 30000), uniform(0, 2 ^ 31 - 1), 2 ^ 50 + uniform(1, 1000),
    uniform(1, 1000) / 8, -uniform(1, 1000) / 64, sysbench.rand.string("@@##@@##"),
    "it's " .. uniform(1, 99)}
end

function event(tid)
  local id = tid * 100000 + n
  n = n + 1
  local values = draw()
  params[1]:set(id)
  for i = 1, 8 do
    if sysbench.rand.uniform(1, 10) == 1 then
      values[i] = nil
    end
    params[i + 1]:set(values[i])
  end
  params[8]:set_rand_str("@@@@####")
  insert:execute()
  key:set(id)
  local rs = find:execute()
  local row = rs:fetch_row()
  for i = 1, real and 8 or 0 do
    if i <= 6 then
      assert(tonumber(row[i]) == values[i], i)
    elseif i == 8 then
      assert(row[i] == values[i], i)
    end
  end
  print(("[%d]"):format(tid), n, rs.nrows, row[4], row[5], row[6], row[7], row[8])
  rs:free()
end

function thread_done()
  insert:close()
  find:close()
  con:disconnect()
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE sample")
end
