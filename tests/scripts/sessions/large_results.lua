-- SPDX-License-Identifier: GPL-2.0-or-later
-- Results of thousands of rows and rows of many bytes, which come in many pieces.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE digit(d INTEGER)")
  con:query("INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
end

function thread_init()
  con = sysbench.sql.driver():connect()
  n = 0
  times = sysbench.histogram.new(50, 1, 100000)
end

function event(tid)
  n = n + 1
  local rs = con:query("SELECT a.d + 10 * b.d + 100 * c.d FROM digit a, digit b, digit c")
  local rows, sum = 0, 0
  for row in function () return rs:fetch_row() end do
    rows, sum = rows + 1, sum + row[1]
  end
  local text = ("%d"):format(tid):rep(sysbench.rand.uniform(1, 20000))
  local back = con:query_row("SELECT '" .. text .. "'")
  assert(back == text or con.driver:name() == "null")
  times:update(#text)
  if n % 10 == 0 then
    print(("[%d]"):format(tid), rows, sum, #text)
  end
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE digit")
end
