-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event updates the indexed column of one row.

require("oltp_common")

function prepare_statements()
  prepare_index_updates()
end

function event()
  execute_index_updates()
  check_reconnect()
end
