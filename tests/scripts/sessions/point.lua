-- SPDX-License-Identifier: GPL-2.0-or-later
-- The plain style: thread_init, event and thread_done with a global connection.

function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)")
  for id = 0, sysbench.opt.threads - 1 do
    con:query(("INSERT INTO account VALUES (%d, 1000)"):format(id))
  end
end

function thread_init(id)
  drv = sysbench.sql.driver()
  con = drv:connect()
  n = 0
  spent = 0
end

function event(id)
  n = n + 1
  local sum = sysbench.rand.uniform(1, 9)
  con:query("BEGIN")
  local balance = con:query_row("SELECT balance FROM account WHERE id = " .. id)
  con:query(("UPDATE account SET balance = %d WHERE id = %d"):format(balance - sum, id))
  con:query("COMMIT")
  spent = spent + sum
end

function thread_done(id)
  local balance = tonumber((con:query_row("SELECT balance FROM account WHERE id = " .. id)))
  print(("[%d]"):format(id), n, spent, balance)
  assert(drv:name() == "null" or balance == 1000 - spent)
  con:disconnect()
end

function cleanup()
  sysbench.sql.driver():connect():query("DROP TABLE account")
end
