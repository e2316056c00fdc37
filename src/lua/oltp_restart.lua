-- SPDX-License-Identifier: GPL-2.0-or-later
-- The work before an event that failed is repeated, and after an event with --reconnect, for
-- oltp_common.lua, which loads it at the first failure or with --reconnect.

local M = {}

-- After a failed statement, bench has sent ROLLBACK if the server had not ended the transaction. An
-- error that a script raises itself has no number and leaves the transaction open.
local function leaves_transaction_open(failure)
  return type(stmt) == "table" and stmt.begin and not failure.sql_errno
end

-- Makes the connection ready for an event that is repeated: statements are prepared again on a new
-- connection, and a transaction that is open is rolled back.
function M.before_event(failure, renew_statements)
  if failure.connection and failure.connection.lost then
    renew_statements()
  elseif leaves_transaction_open(failure) then
    -- If this fails, the repeated event fails too, and reports why.
    pcall(con.query, con, "ROLLBACK")
  end
end

local events_on_connection = 0

-- Connects again after every --reconnect events of the thread.
function M.after_event(prepare_again)
  local every = sysbench.opt.reconnect
  every = every - every % 1 -- math would have to be loaded
  events_on_connection = events_on_connection + 1
  if events_on_connection >= every then
    events_on_connection = 0
    close_statements()
    con:reconnect()
    prepare_again()
  end
end

return M
