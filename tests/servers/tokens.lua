-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event stores a token of its own; those whose commit was acknowledged go to a file.

sysbench.cmdline.options = {
  acknowledged = {"Folder for a file of each thread", ""},
}

local con, file, n

function thread_init()
  con = sysbench.sql.driver():connect()
  file = assert(io.open(sysbench.opt.acknowledged .. "/" .. sysbench.tid, "w"))
  n = 0
end

-- An event that is repeated stores another token: nobody knows what became of the one before.
function event()
  n = n + 1
  con:query("BEGIN")
  con:query(string.format("INSERT INTO tokens VALUES (%d, %d)", sysbench.tid, n))
  con:query("COMMIT")
  file:write(n, "\n")
  file:flush()
end

function thread_done()
  file:close()
end
