-- SPDX-License-Identifier: GPL-2.0-or-later
-- A module that is required in an event and executes a statement while it is loaded, chunks that
-- are compiled in an event, and dofile.

function thread_init()
  con = sysbench.sql.driver():connect()
  n = 0
  package.preload.late = function (name)
    return {name = name, found = con:query_row("SELECT 1"), loads = (loads or 0) + 1}
  end
end

function event(tid)
  n = n + 1
  if n % 10 == 0 then
    package.loaded.late = nil
  end
  local late = require("late")
  local chunk = assert(loadstring("local n = ... con:query('SELECT ' .. n) return n + 1", "=chunk"))
  print(("[%d]"):format(tid), late.name, late.found, late.loads, chunk(n))
  assert(late == require("late"))
end
