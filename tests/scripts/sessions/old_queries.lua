-- SPDX-License-Identifier: GPL-2.0-or-later
-- The interface of 0.5: db_query, which connects by itself, and the old random numbers.

function prepare()
  db_connect()
  db_query("CREATE TABLE visit(id INTEGER PRIMARY KEY, n INTEGER, c VARCHAR(30))")
  db_bulk_insert_init("INSERT INTO visit VALUES")
  for id = 1, sysbench.opt.threads * 10 do
    db_bulk_insert_next("(" .. id .. ", 0, '" .. sb_rand_str("@@@@") .. "')")
  end
  db_bulk_insert_done()
  db_disconnect()
end

function event(thread_id)
  local id = thread_id * 10 + sb_rand_uniform(1, 10)
  local c_val = sb_rand_str("###-@@@-###")
  db_query("BEGIN")
  db_query("SELECT c FROM visit WHERE id=" .. id)
  db_query("UPDATE visit SET n=n+1, c='" .. c_val .. "' WHERE id=" .. id)
  db_query("SELECT " .. sb_rand(1, 1000) .. ", " .. sb_rand_gaussian(1, 1000) .. ", " ..
    sb_rand_special(1, 1000) .. ", " .. sb_rnd())
  db_query("COMMIT")
  print("[" .. thread_id .. "]", id, c_val, db_driver)
end

function cleanup()
  db_connect()
  db_query("DROP TABLE visit")
end
