-- SPDX-License-Identifier: GPL-2.0-or-later
-- The module of module_calls.lua.

module("old_style", package.seeall)

n = 0

function open(tid)
  owner = tid
  connection = sysbench.sql.driver():connect()
end

function count()
  n = n + 1
  connection:query(("SELECT %d, %d"):format(owner, n))
end

function describe()
  return ("%s of %d"):format(_NAME, owner)
end
