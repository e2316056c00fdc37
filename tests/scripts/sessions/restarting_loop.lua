-- SPDX-License-Identifier: GPL-2.0-or-later
-- The loop that scripts copy from sysbench: events are repeated within themselves.

local failures = 0

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event(id)
  con:query("SELECT 'try'")
  if sysbench.rand.uniform(1, 10) == 1 then
    error({errcode = sysbench.error.RESTART_EVENT, why = con:query_row("SELECT 1")})
  end
  con:query("SELECT 'done'")
end

function thread_run(thread_id)
  while ffi.C.sb_more_events(thread_id) do
    ffi.C.sb_event_start(thread_id)
    local success, ret
    repeat
      success, ret = pcall(event, thread_id)
      if not success then
        if type(ret) ~= "table" or ret.errcode ~= sysbench.error.RESTART_EVENT then
          error(ret, 2)
        end
        failures = failures + 1
        con:query("SELECT 'again', " .. ret.why)
      end
    until success
    ffi.C.sb_event_stop(thread_id)
  end
end

function thread_done(thread_id)
  print(("[%d]"):format(thread_id), failures)
end
