-- SPDX-License-Identifier: GPL-2.0-or-later
-- Result sets: rows one by one, some of them unread, freed or not, NULL, and none.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE shelf(id INTEGER PRIMARY KEY, book VARCHAR(20))")
  con:query("INSERT INTO shelf VALUES (1, 'one'), (2, NULL), (3, 'three'), (4, ''), (5, 'five')")
end

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event(tid)
  local rs = con:query("SELECT id, book FROM shelf ORDER BY id")
  local read = sysbench.rand.uniform(0, rs.nrows)
  local found = {}
  for _ = 1, read do
    local row = rs:fetch_row()
    found[#found + 1] = row[1] .. "=" .. tostring(row[2])
  end
  if sysbench.rand.uniform(1, 2) == 1 then
    rs:free()
  end
  local none = con:query("SELECT id FROM shelf WHERE id = 99")
  local empty = con:query("UPDATE shelf SET book = book WHERE id = 99")
  local book, id = con:query_row("SELECT book, id FROM shelf WHERE id = 3")
  print(("[%d]"):format(tid), rs.nfields, none.nrows, none:fetch_row() ~= nil, empty == nil, book,
    id, table.concat(found, " "))
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE shelf")
end
