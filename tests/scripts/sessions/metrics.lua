-- SPDX-License-Identifier: GPL-2.0-or-later
-- Counters and times of the script's own.

local pages = sysbench.metrics.counter("pages", "pages")
local waits = sysbench.metrics.histogram("page_wait", "us")

function thread_init()
  con = sysbench.sql.driver():connect()
  pages:add(100)
end

function event()
  pages:add(sysbench.rand.uniform(1, 5))
  con:query("SELECT 1")
  waits:add(sysbench.rand.uniform(100, 900))
end

function thread_done()
  pages:add()
end
