-- SPDX-License-Identifier: GPL-2.0-or-later
-- The common part of select_random_points and select_random_ranges: a table, and how k is drawn.

local old = require("common")

local M = { table_name = "sbtest1" }

-- Every thread reads in its own segment.
function M.draw(thread_id)
  local length = oltp_table_size / sysbench.opt.threads
  if sysbench.version == "0.5" then
    length = math.floor(length)
  end
  return sb_rand(math.floor(length * thread_id), math.floor(length * (thread_id + 1)))
end

if sysbench.version ~= "0.5" then
  return M
end

-- Version 0.5 has a separate table, whose rows differ in k only.
M.table_name = "sbtest"

local row = "(%s%d, ' ', 'qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt')"

-- Makes the table of both workloads, whose rows have the numbers from 1 on as their k.
function prepare()
  set_vars()
  db_connect()
  old.say("Creating table 'sbtest'...")
  old.create_table("sbtest", (" "):rep(10))
  if oltp_create_secondary and pgsql_variant ~= "redshift" then
    db_query("CREATE INDEX k on sbtest(k)")
  end
  old.say(("Inserting %d records into 'sbtest'"):format(oltp_table_size))
  local with_id = db_driver == "sqlite" and old.ids_are_sent()
  db_bulk_insert_init(("INSERT INTO sbtest(%sk, c, pad) VALUES"):format(with_id and "id, " or ""))
  for k = 1, oltp_table_size do
    db_bulk_insert_next(row:format(with_id and k .. ", " or "", k))
  end
  db_bulk_insert_done()
  db_disconnect()
end

function cleanup()
  set_vars()
  db_connect()
  old.drop_table("sbtest")
  db_disconnect()
end

return M
