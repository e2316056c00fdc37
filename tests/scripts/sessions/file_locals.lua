-- SPDX-License-Identifier: GPL-2.0-or-later
-- Locals of the file: the connection, statements in a table, and functions that close over them.

local con
local statements, parameters = {}, {}
local seen = {}
local texts = {
  read = "SELECT word FROM dictionary WHERE id = ?",
  write = "UPDATE dictionary SET word = ? WHERE id = ?",
}

local function execute(name, ...)
  for i, value in ipairs({...}) do
    parameters[name][i]:set(value)
  end
  return statements[name]:execute()
end

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE dictionary(id INTEGER PRIMARY KEY, word VARCHAR(20))")
  con:bulk_insert_init("INSERT INTO dictionary VALUES")
  for id = 1, sysbench.opt.threads * 10 do
    con:bulk_insert_next(("(%d, 'none')"):format(id))
  end
  con:bulk_insert_done()
end

function thread_init()
  con = sysbench.sql.driver():connect()
  for name, text in pairs(texts) do
    statements[name] = con:prepare(text)
  end
  local T = sysbench.sql.type
  parameters.read = {statements.read:bind_create(T.INT)}
  local write = statements.write
  parameters.write = {write:bind_create(T.VARCHAR, 20), write:bind_create(T.INT)}
  for name, statement in pairs(statements) do
    statement:bind_param(unpack(parameters[name]))
  end
end

function event(tid)
  local id = tid * 10 + sysbench.rand.uniform(1, 10)
  local word = sysbench.rand.string("@@@-###")
  local row = execute("read", id):fetch_row()
  if seen[id] and con.driver:name() ~= "null" then
    assert(row[1] == seen[id], row[1])
  end
  execute("write", word, id)
  seen[id] = word
end

function thread_done(tid)
  local words = {}
  for id = tid * 10 + 1, tid * 10 + 10 do
    words[#words + 1] = seen[id] or "-"
  end
  print(("[%d]"):format(tid), table.concat(words, " "))
  for _, statement in pairs(statements) do
    statement:close()
  end
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE dictionary")
end
