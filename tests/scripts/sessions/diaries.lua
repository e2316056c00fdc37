-- SPDX-License-Identifier: GPL-2.0-or-later
-- Files: each session writes its own, by io.open and by io.output, with the time in it.

local begun = os.time()

function thread_init(tid)
  con = sysbench.sql.driver():connect()
  diary = assert(io.open("diary." .. tid, "w"))
  diary:setvbuf("line")
  n = 0
end

function event(tid)
  n = n + 1
  local now = os.time()
  assert(now >= begun and os.difftime(now, begun) < 3600 and os.clock() >= 0)
  diary:write(n, " ", os.date("!%Y", 0), " ")
  local word = con:query_row("SELECT '" .. sysbench.rand.string("@@@") .. "'")
  diary:write(word, "\n")
  io.write("[" .. tid .. "]\t" .. n .. "\n")
end

function thread_done(tid)
  diary:close()
  local lines = 0
  for line in io.lines("diary." .. tid) do
    lines = lines + 1
    assert(line:match("^" .. lines .. " 1970 %w+$"), line)
  end
  assert(lines == n)
  os.remove("diary." .. tid)
end
