-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event is the statement of --sql.  For transcripts whose script was not kept.

sysbench.cmdline.options = {sql = {"Statement", "SELECT 1"}}

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  con:query(sysbench.opt.sql)
end
