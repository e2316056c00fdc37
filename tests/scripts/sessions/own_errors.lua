-- SPDX-License-Identifier: GPL-2.0-or-later
-- Errors of the script's own: tables that repeat the event, tables and strings that it catches.

local tries, restarts, caught = 0, 0, 0

local OutOfStock = setmetatable({}, {__tostring = function () return "out of stock" end})

function sysbench.hooks.before_restart_event(err)
  restarts = restarts + 1
  con:query(("SELECT '%s'"):format(err.reason))
end

function thread_init()
  con = sysbench.sql.driver():connect()
end

local function order(item)
  con:query("SELECT " .. item)
  if item == 1 then
    error(OutOfStock)
  elseif item == 2 then
    error("no such item", 0)
  elseif item == 3 then
    error({errcode = sysbench.error.RESTART_EVENT, reason = "conflict " .. tries})
  end
  return item
end

function event()
  tries = tries + 1
  local ok, what = pcall(order, sysbench.rand.uniform(1, 8))
  if not ok then
    if what == OutOfStock or what == "no such item" then
      caught = caught + 1
      con:query(("SELECT 'caught %s'"):format(tostring(what)))
    else
      error(what)
    end
  end
end

function thread_done(tid)
  print(("[%d]"):format(tid), tries, restarts, caught)
end
