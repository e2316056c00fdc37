-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event reads the rows whose k is one of several random numbers, as in sysbench 0.5.

local random_k = require("random_k")

local statement, values = nil, {}

-- Prepares the statement.  It reads the table `values` again each time it is executed.
function thread_init()
  set_vars()
  db_connect()
  statement = db_prepare(([[
        SELECT id, k, c, pad
          FROM %s
          WHERE k IN (%s)
        ]]):format(random_k.table_name, ("?, "):rep(random_points - 1) .. "?"))
  for i = 1, random_points do
    values[i] = 1
  end
  db_bind_param(statement, values)
end

function event(thread_id)
  for i = 1, random_points do
    values[i] = random_k.draw(thread_id)
  end
  db_free_results(db_execute(statement))
end

function thread_done()
  db_close(statement)
end
