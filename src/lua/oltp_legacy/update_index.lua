-- SPDX-License-Identifier: GPL-2.0-or-later
-- Changes of the indexed column, as in sysbench 0.5.

local old = require("common")

thread_init = old.thread_init

function event()
  db_query(("UPDATE %s SET k=k+1 WHERE id=%d"):format(old.table_name(), old.row_id()))
end
