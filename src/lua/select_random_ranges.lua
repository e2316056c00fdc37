-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event counts the rows whose k is in one of several random ranges.

require("oltp_common")

sysbench.cmdline.options.number_of_ranges = {"Number of ranges in the OR list of a query", 10,
  keeps_data = true}
sysbench.cmdline.options.delta = {"Distance from the first to the last number of a range", 5,
  keeps_data = true}

if not sysbench.cmdline.in_worker or sysbench.cmdline.command ~= "run" then
  require("oltp_tables").tables_in_run = 1
end

-- Prepares one statement with two parameters for each range.
function prepare_statements()
  local ranges = math.floor(sysbench.opt.number_of_ranges)
  stmt.ranges = con:prepare(([[
        SELECT count(k)
          FROM sbtest1
          WHERE %s]]):format(("k BETWEEN ? AND ? OR "):rep(ranges - 1) .. "k BETWEEN ? AND ?"),
                             "random_ranges")
  param.ranges = {}
  for i = 1, 2 * ranges do
    param.ranges[i] = stmt.ranges:bind_create(sysbench.sql.type.BIGINT)
  end
  stmt.ranges:bind_param(unpack(param.ranges))
end

-- Every thread reads in a segment of its own, so that threads seldom want the same rows.
function event(thread_id)
  local length = sysbench.opt.table_size / sysbench.opt.threads
  local first, last = math.floor(length * thread_id), math.floor(length * (thread_id + 1))
  local bounds = param.ranges
  for i = 1, #bounds, 2 do
    local low = sysbench.rand.default(first, last)
    bounds[i]:set(low)
    bounds[i + 1]:set(low + sysbench.opt.delta)
  end
  stmt.ranges:execute()
  check_reconnect()
end
