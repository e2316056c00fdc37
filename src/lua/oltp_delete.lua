-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event deletes one row by its id, which may be gone already.

require("oltp_common")

function prepare_statements()
  prepare_for_each_table("deletes")
end

function event()
  local table_num = sysbench.rand.uniform(1, sysbench.opt.tables)
  param[table_num].deletes[1]:set(sysbench.rand.default(1, sysbench.opt.table_size))
  stmt[table_num].deletes:execute()
  check_reconnect()
end
