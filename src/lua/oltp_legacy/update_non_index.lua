-- SPDX-License-Identifier: GPL-2.0-or-later
-- Changes of a column without an index, as in sysbench 0.5.

local old = require("common")

thread_init = old.thread_init

function event()
  db_query(("UPDATE %s SET c='%s' WHERE id=%d"):format(old.table_name(), old.c_value(),
                                                       old.row_id()))
end
