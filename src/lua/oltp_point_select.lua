-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event reads one row by its id.

require("oltp_common")

function prepare_statements()
  -- A statement is one event here, so that rates and latencies are those of a single query.
  sysbench.opt.point_selects = 1
  prepare_point_selects()
end

function event()
  execute_point_selects()
  check_reconnect()
end
