-- SPDX-License-Identifier: GPL-2.0-or-later
-- Deletions of single rows, as in sysbench 0.5.

local old = require("common")

thread_init = old.thread_init

function event()
  db_query(("DELETE FROM %s WHERE id=%d"):format(old.table_name(), old.row_id()))
end
