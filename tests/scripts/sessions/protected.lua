-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statements below pcall and xpcall, in handlers of errors, and beside errors that are caught.

function thread_init()
  con = sysbench.sql.driver():connect()
end

local function say(...)
  print(("[%d]"):format(sysbench.tid), ...)
end

local function deep(n)
  if n == 0 then
    con:query("SELECT 'at the bottom'")
    error("no " .. con:query_row("SELECT 7"), 0)
  end
  local ok, message = pcall(deep, n - 1)
  assert(not ok)
  con:query("SELECT 'on the way'")
  error(message .. n, 0)
end

function event()
  say(pcall(con.query_row, con, "SELECT 1"))
  say(xpcall(function () return con:query_row("SELECT 2") end, debug.traceback))
  say(xpcall(function ()
    con:query("SELECT 3")
    error("boom", 0)
  end, function (message)
    return message .. " and " .. con:query_row("SELECT 4")
  end))
  say(pcall(deep, sysbench.rand.uniform(0, 5)))
  say(select("#", pcall(function () return nil, con:query_row("SELECT 5"), nil end)))
  local ok, message = pcall(error)
  say(ok, message)
  say(pcall(pcall, error, "inner"))
end
