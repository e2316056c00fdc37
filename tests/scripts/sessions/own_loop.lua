-- SPDX-License-Identifier: GPL-2.0-or-later
-- A loop of the script's own: thread_run with events, and with statements outside of them.

ffi.cdef("void sb_counter_inc(int, sb_counter_type);")

function event()
  con:query("SELECT 'of event()'")
end

function thread_run(id)
  con = sysbench.sql.driver():connect()
  con:query("SELECT 'before'")
  local n = 0
  while ffi.C.sb_more_events(id) do
    ffi.C.sb_event_start(id)
    n = n + 1
    event(id)
    ffi.C.sb_counter_inc(id, ffi.C.SB_CNT_WRITE)
    ffi.C.sb_event_stop(id)
    if n % 10 == 0 then
      con:query(("SELECT 'between', %d"):format(n))
    end
  end
  con:query("SELECT 'behind'")
  print(("[%d]"):format(id), n)
end
