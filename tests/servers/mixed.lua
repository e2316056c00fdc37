-- SPDX-License-Identifier: GPL-2.0-or-later
-- Both interfaces in one script: that of 0.5, and beside it objects of 1.0.  For test_wholesale.py.

pathtest = string.match(test, "(.*/)") or ""
test_dir = pathtest

function prepare()
  local rows = tonumber(mixed_rows) or 100
  db_connect()
  print("driver " .. db_driver)
  db_query("CREATE TABLE mixed (id INTEGER NOT NULL, a INTEGER, b INTEGER, c VARCHAR(40), " ..
           "PRIMARY KEY (id))")
  db_bulk_insert_init("INSERT INTO mixed (id, a, b, c) VALUES")
  for id = 1, rows do
    db_bulk_insert_next("(" .. id .. "," .. sb_rand(1, mixed_rows) .. "," ..
                        sb_rand_uniform(1, "9") .. ",'" .. sb_rand_str("###-@@@") .. "')")
  end
  db_bulk_insert_done()
  db_disconnect()
end

function thread_init(thread_id)
  db_connect()
  con = sysbench.sql.driver():connect()
  stmt = db_prepare("SELECT id, c FROM mixed WHERE id = ? OR c = ?")
  values = {1, "none"}
  db_bind_param(stmt, values)
  local ok, failure = pcall(db_query, "SELECT nothing FROM nowhere")
  assert(not ok and (failure == 3 or tostring(failure):find("db_query%(%) failed$")), failure)
end

function event(thread_id)
  values[1], values[2] = sb_rand(1, mixed_rows), sb_rand_str("###-@@@")
  local rs = db_execute(stmt)
  db_store_results(rs)
  db_free_results(rs)
  local low, high = con:query_row("SELECT min(a), max(a) FROM mixed")
  assert(low + 0 >= 1 and high + 0 <= mixed_rows + 0)
  db_query("UPDATE mixed SET b = b + 1 WHERE id = " .. values[1])
end

function thread_done(thread_id)
  db_close(stmt)
  db_disconnect()
  con:disconnect()
end

function cleanup()
  db_query("DROP TABLE mixed")
end
