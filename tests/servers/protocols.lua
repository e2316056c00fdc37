-- SPDX-License-Identifier: GPL-2.0-or-later
-- Prints what a script can learn of statements, results and errors.  For test_protocols.py.

local function show(what, ...)
  local parts = {}
  for i = 1, select("#", ...) do
    parts[i] = tostring((select(i, ...)))
  end
  print(what, table.concat(parts, "|"))
end

local function rows_of(rs)
  if rs == nil then
    return "no result"
  end
  local lines = {}
  for _ = 1, rs.nrows do
    local row = rs:fetch_row()
    local cells = {}
    for i = 1, rs.nfields do
      cells[i] = tostring(row[i])
    end
    lines[#lines + 1] = table.concat(cells, ",")
  end
  rs:free()
  return table.concat(lines, ";")
end

local function try(what, call)
  local ok, failure = pcall(call)
  show(what, ok, type(failure) == "table" and table.concat({
    failure.sql_errno or 0, failure.sql_state or "", failure.sql_errmsg or ""}, "/") or failure)
end

function thread_init()
  local con = sysbench.sql.driver():connect()
  local text = string.rep("x", 70000)

  con:query("DROP TABLE IF EXISTS protocols")
  con:query("CREATE TABLE protocols (id INTEGER PRIMARY KEY, n NUMERIC(9,3), " ..
            "r DOUBLE PRECISION, c VARCHAR(100))")
  con:query("INSERT INTO protocols VALUES (1, 1.5, 0.1, 'one'), (2, NULL, 1e30, ''), " ..
            "(3, -7, -0.25, NULL)")
  show("rows", rows_of(con:query("SELECT * FROM protocols ORDER BY id")))
  show("row", con:query_row("SELECT c, n FROM protocols WHERE id = 1"))
  show("none", rows_of(con:query("SELECT id FROM protocols WHERE id = 9")))
  show("long", #con:query_row("SELECT '" .. text .. "'"))
  local statement = con:prepare("SELECT id, n, r, c FROM protocols WHERE id >= ? " ..
                                "AND (c = ? OR c IS NULL)")
  local id = statement:bind_create(sysbench.sql.type.INT)
  local c = statement:bind_create(sysbench.sql.type.CHAR, 20)
  statement:bind_param(id, c)
  for n, word in ipairs({"one", "", "three"}) do
    id:set(n)
    c:set(word)
    show("prepared " .. n, rows_of(statement:execute()))
  end
  statement:close()
  con:query("BEGIN")
  con:query("UPDATE protocols SET n = n + 1 WHERE id IN (1, 3)")
  con:query("ROLLBACK")
  show("rolled back", con:query_row("SELECT SUM(n) FROM protocols"))
  try("missing", function() con:query("SELECT * FROM protocols_missing") end)
  try("syntax", function() con:query("SELEC 1") end)
  try("duplicate", function() con:query("INSERT INTO protocols VALUES (1, 0, 0, '')") end)
  try("cannot prepare", function()
    con:prepare("SELECT * FROM protocols_missing WHERE id = ?"):execute()
  end)
  show("still there", con:query_row("SELECT COUNT(*) FROM protocols"))
  con:bulk_insert_init("INSERT INTO protocols (id, n, r, c) VALUES")
  for n = 11, 40 do
    con:bulk_insert_next("(" .. n .. ", 1, 2, 'bulk')")
  end
  con:bulk_insert_done()
  show("after bulk", con:query_row("SELECT COUNT(*), SUM(n) FROM protocols WHERE c = 'bulk'"))
  con:query("DROP TABLE protocols")
  con:disconnect()
end

function event()
end
