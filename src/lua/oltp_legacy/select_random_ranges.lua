-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event counts the rows whose k is in one of several ranges, as in sysbench 0.5.

local random_k = require("random_k")

local statement, values = nil, {}

-- Prepares the statement.  It reads the table `values` again each time it is executed.
function thread_init()
  set_vars()
  db_connect()
  statement = db_prepare(([[
        SELECT count(k)
          FROM %s
          WHERE %s]]):format(random_k.table_name,
                             ("k BETWEEN ? AND ? OR "):rep(number_of_ranges - 1) ..
                             "k BETWEEN ? AND ?"))
  for i = 1, 2 * number_of_ranges do
    values[i] = 1
  end
  db_bind_param(statement, values)
end

function event(thread_id)
  for i = 1, 2 * number_of_ranges, 2 do
    values[i] = random_k.draw(thread_id)
    values[i + 1] = values[i] + random_ranges_delta
  end
  db_free_results(db_execute(statement))
end

function thread_done()
  db_close(statement)
end
