-- SPDX-License-Identifier: GPL-2.0-or-later
-- A workload whose events fail with a duplicate key so often as a list says, and whose sessions
-- record each try and each event that ended, as lines "try", "done" and the time the event took.
local C = ffi.C

sysbench.cmdline.options = {
  failures = {"how often each event fails, one after another", "0"},
  pause = {"seconds that a failing try takes", 0.0}
}

ffi.cdef [[
int clock_gettime(int, long *);
int usleep(unsigned);
]]

local now = ffi.new("long[2]")
local plan, record, connection, begun
local event_number, tries = 1, 0

local function seconds()
  C.clock_gettime(1, now)
  return tonumber(now[0]) + tonumber(now[1]) * 1e-9
end

function thread_init(id)
  plan = {}
  for word in sysbench.opt.failures:gmatch("[^,]+") do
    plan[#plan + 1] = tonumber(word)
  end
  record = assert(io.open("record." .. id, "w"))
  connection = sysbench.sql.driver():connect()
  connection:query("CREATE TABLE t(id INTEGER PRIMARY KEY)")
  connection:query("INSERT INTO t VALUES (1)")
end

local function fail()
  C.usleep(sysbench.opt.pause * 1e6)
  connection:query("INSERT INTO t VALUES (1)")
end

local limit

function event()
  limit = limit or tonumber(os.getenv("TRIES"))
  tries = tries + 1
  if tries == 1 then
    begun = seconds()
  end
  record:write("try\n")
  local failures = plan[(event_number - 1) % #plan + 1]
  if tries <= failures then
    if tries == limit then
      tries, event_number = 0, event_number + 1
    end
    fail()
  end
  record:write(("done %.9f %d\n"):format(seconds() - begun, tries))
  tries, event_number = 0, event_number + 1
end

function thread_done()
  record:close()
end
