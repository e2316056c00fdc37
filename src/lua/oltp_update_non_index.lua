-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event updates a column without an index in one row.

require("oltp_common")

function prepare_statements()
  prepare_non_index_updates()
end

function event()
  execute_non_index_updates()
  check_reconnect()
end
