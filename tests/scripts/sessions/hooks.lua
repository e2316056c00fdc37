-- SPDX-License-Identifier: GPL-2.0-or-later
-- Hooks: an error that is ignored because the hook says so, what is told before an event is
-- repeated, and a report of the script's own.

local duplicate = {["23505"] = true, ["23000"] = true, ["HY000"] = true}

function sysbench.hooks.sql_error_ignorable(err)
  asked = (asked or 0) + 1
  return duplicate[err.sql_state]
end

function sysbench.hooks.before_restart_event(err)
  told = (told or 0) + 1
  print(("[%d]"):format(sysbench.tid), "again", err.query, err.connection == con)
  con:query("SELECT 'in the hook'")
end

function sysbench.hooks.report_cumulative(stat)
  print("[all]", stat.events, stat.reads, stat.writes, stat.other, stat.errors, stat.reconnects)
end

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE unique_id(id INTEGER PRIMARY KEY)")
  for id = 0, sysbench.opt.threads - 1 do
    con:query(("INSERT INTO unique_id VALUES (%d)"):format(id * 100000))
  end
end

function thread_init()
  con = sysbench.sql.driver():connect()
  n = 0
end

function event(tid)
  n = n + 1
  -- A number that is there already, in each fifth try.
  con:query(("INSERT INTO unique_id VALUES (%d)"):format(tid * 100000 + (n % 5 == 0 and 0 or n)))
end

function thread_done(tid)

  print(("[%d]"):format(tid), n, asked, told)
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE unique_id")
end
