-- SPDX-License-Identifier: GPL-2.0-or-later
-- Makes, finds and drops the routines that the mode routine calls, one for each kind of
-- transaction.

local modules = {mysql = "order_entry.routines_mysql", pgsql = "order_entry.routines_pgsql"}

local M = {}

-- Refuses the mode routine on a database without routines.  The driver without a server has all.
function M.check_driver(drv)
  local name = drv:name()
  if not modules[name] and name ~= "null" then
    sysbench.cmdline.refuse(("--order-mode=routine: the driver '%s' has no routines; " ..
                             "use MySQL, MariaDB or PostgreSQL"):format(name))
  end
end

-- Returns what the statement that finds the routines says of each that there is.
local function find(con, of)
  local names, found = {}, {}
  for i, routine in ipairs(of.routines) do
    names[i] = "'" .. routine.name .. "'"
  end
  local rs = con:query(of.find:format(table.concat(names, ", ")))
  for i = 1, rs.nrows do
    found[i] = rs:fetch_row()[1]
  end
  return found
end

local function drop(con, of)
  for _, what in ipairs(find(con, of)) do
    con:query(of.drop:format(what))
  end
end

-- Makes all routines, in place of those that there are.
function M.make(drv, con)
  if not modules[drv:name()] then
    return
  end
  local of = require(modules[drv:name()])
  drop(con, of)
  for _, routine in ipairs(of.routines) do
    con:query(routine.sql)
  end
end

function M.drop(drv, con)
  if modules[drv:name()] then
    drop(con, require(modules[drv:name()]))
  end
end

-- Refuses a run without the routines.
function M.check_made(drv, con)
  M.check_driver(drv)
  if not modules[drv:name()] then
    return
  end
  local of = require(modules[drv:name()])
  local n = #find(con, of)
  if n < #of.routines then
    sysbench.cmdline.refuse(("--order-mode=routine: %d of %d routines exist; make them with: " ..
                             "bench order_entry --order-mode=routine prepare")
                            :format(n, #of.routines))
  end
end

return M
