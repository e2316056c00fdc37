-- SPDX-License-Identifier: GPL-2.0-or-later
-- Makes every second try of a transaction of tpcb_like fail before its sixth statement, beginning
-- with the first one.
require("tpcb_like")
local driver, executed = sysbench.sql.driver, 0

local function failing_statement(con, statement)
  return {
    bind_create = function(_, kind) return statement:bind_create(kind) end,
    bind_param = function(_, ...) return statement:bind_param(...) end,
    close = function() statement:close() end,
    execute = function()
      executed = executed + 1
      if executed % 13 == 6 then
        con:query("ROLLBACK")
        error({errcode = sysbench.error.RESTART_EVENT})
      end
      return statement:execute()
    end,
  }
end

local function failing_connection(con)
  return {
    prepare = function(_, ...) return failing_statement(con, con:prepare(...)) end,
    query_row_uncounted = function(_, text) return con:query_row_uncounted(text) end,
    disconnect = function() con:disconnect() end,
  }
end

function sysbench.sql.driver()
  local drv = driver()
  return {name = function() return drv:name() end,
          connect = function() return failing_connection(drv:connect()) end}
end
