-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event reads the rows whose k is one of several random numbers.

require("oltp_common")

sysbench.cmdline.options.random_points = {"Number of points in the IN () list of a query", 10,
  keeps_data = true}

if not sysbench.cmdline.in_worker or sysbench.cmdline.command ~= "run" then
  require("oltp_tables").tables_in_run = 1
end

-- Prepares one statement with a parameter for each point.
function prepare_statements()
  local points = math.floor(sysbench.opt.random_points)
  stmt.points = con:prepare(([[
        SELECT id, k, c, pad
          FROM sbtest1
          WHERE k IN (%s)
        ]]):format(("?, "):rep(points - 1) .. "?"), "random_points")
  param.points = {}
  for i = 1, points do
    param.points[i] = stmt.points:bind_create(sysbench.sql.type.BIGINT)
  end
  stmt.points:bind_param(unpack(param.points))
end

-- Every thread reads in a segment of its own, so that threads seldom want the same rows.
function event(thread_id)
  local length = sysbench.opt.table_size / sysbench.opt.threads
  local first, last = math.floor(length * thread_id), math.floor(length * (thread_id + 1))
  local points = param.points
  for i = 1, #points do
    points[i]:set(sysbench.rand.default(first, last))
  end
  stmt.points:execute()
  check_reconnect()
end
