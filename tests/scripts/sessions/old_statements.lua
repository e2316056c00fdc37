-- SPDX-License-Identifier: GPL-2.0-or-later
-- The interface of 0.5: prepared statements whose parameters are tables, and bulk inserts.

function prepare()
  db_connect()
  db_query("CREATE TABLE coat(id INTEGER PRIMARY KEY, k INTEGER, c VARCHAR(60))")
end

function thread_init(thread_id)
  db_connect()
  insert = db_prepare("INSERT INTO coat VALUES (?, ?, ?)")
  insert_params = {1, 1, "a text"}
  db_bind_param(insert, insert_params)
  find = db_prepare("SELECT c FROM coat WHERE id = ? AND k = ?")
  find_params = {1, 1}
  db_bind_param(find, find_params)
  n = 0
end

function event(thread_id)
  n = n + 1
  insert_params[1] = thread_id * 100000 + n
  insert_params[2] = sb_rand_uniform(1, 1000)
  insert_params[3] = sb_rand_str("@@@@-####")
  db_execute(insert)
  find_params[1], find_params[2] = insert_params[1], insert_params[2]
  local rs = db_execute(find)
  db_store_results(rs)
  db_free_results(rs)
  if n % 10 == 0 then
    db_bulk_insert_init("INSERT INTO coat VALUES")
    for i = 1, 5 do
      db_bulk_insert_next(("(%d, %d, NULL)"):format(thread_id * 100000 + 50000 + n + i, i))
    end
    db_bulk_insert_done()
  end
  print("[" .. thread_id .. "]", insert_params[2], insert_params[3])
end

function thread_done(thread_id)
  db_close(insert)
  db_close(find)
  db_disconnect()
end

function cleanup()
  db_query("DROP TABLE coat")
end
