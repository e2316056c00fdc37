-- SPDX-License-Identifier: GPL-2.0-or-later
-- The conditions of the workload tpcb_like: whether the balances are what the history says.

local check = require("order_entry.check")
local tables = require("tpcb_tables")

local M = {}

-- Returns the condition that each balance of a table is the sum of its changes.  A row that is
-- missing in one of the two tables violates it, and so does NULL.
local function balances(name, key, balance)
  local sql = [[
SELECT k AS %s, SUM(a) AS %s, SUM(h) AS history FROM (
  SELECT %s AS k, %s AS a, 0 AS h, CASE WHEN %s IS NULL THEN 2 ELSE 1 END AS n
    FROM pgbench_%s UNION ALL
  SELECT %s, 0, SUM(delta), COUNT(*) - COUNT(delta) FROM pgbench_history GROUP BY %s) t
GROUP BY k HAVING SUM(n) <> 1 OR SUM(a) <> SUM(h)]]
  return {name = name, meaning = ("balances of %s are the sums of their history"):format(name),
          sql = sql:format(key, balance, key, balance, balance, name, key, key)}
end

local SUM = "(SELECT COALESCE(SUM(%s), 0) FROM pgbench_%s) AS %s"

local totals = {
  name = "totals", meaning = "the sums of balances and of the history are equal",
  sql = ("SELECT accounts, tellers, branches, history FROM (SELECT %s, %s, %s, %s) t " ..
         "WHERE accounts <> tellers OR tellers <> branches OR branches <> history"):format(
    SUM:format("abalance", "accounts", "accounts"), SUM:format("tbalance", "tellers", "tellers"),
    SUM:format("bbalance", "branches", "branches"), SUM:format("delta", "history", "history")),
}

-- Returns the query for the number of a table's rows, their least and their greatest key, and the
-- number that the scale asks for.
local function rows(name, key, n)
  return ("SELECT '%s' AS t, COUNT(*) AS n, MIN(%s) AS l, MAX(%s) AS m, %d * (SELECT MAX(bid) " ..
          "FROM pgbench_branches) AS e FROM pgbench_%s"):format(name, key, key, n, name)
end

local all_rows = {
  name = "rows", meaning = "tables that do not grow have their rows",
  sql = ("SELECT t AS table_, n AS rows_, l AS first, m AS last, e AS expected FROM (%s " ..
         "UNION ALL %s UNION ALL %s) t WHERE n <> e OR l <> 1 OR m <> e"):format(
    rows("accounts", "aid", tables.ACCOUNTS), rows("tellers", "tid", tables.TELLERS),
    rows("branches", "bid", 1)),
}

local conditions = {totals, balances("accounts", "aid", "abalance"),
                    balances("tellers", "tid", "tbalance"),
                    balances("branches", "bid", "bbalance"), all_rows}

-- Returns what is found of each condition, in one transaction.  which: "quick" leaves out those
-- that read the largest table.
local function find_all(drv, con, which)
  local found = {}
  check.begin(drv, con)
  for _, condition in ipairs(conditions) do
    if which == "all" or not condition.sql:find("pgbench_accounts") then
      found[#found + 1] = check.find(con, condition)
    end
  end
  con:query("ROLLBACK")
  return found
end

-- Sets the exit status for what is found.  Returns the numbers of conditions that are violated and
-- that could not be checked.
local function judge(found)
  local n = {violated = 0, unchecked = 0}
  for _, one in ipairs(found) do
    if one.n ~= 0 then
      local verdict = one.n and "violated" or "unchecked"
      sysbench.cmdline.judge(verdict)
      n[verdict] = n[verdict] + 1
    end
  end
  return n.violated, n.unchecked
end

-- Prints the lines of conditions and a sum.  all_lines: also of conditions that hold.
local function print_found(found, all_lines)
  for _, one in ipairs(found) do
    if all_lines or one.n ~= 0 then
      print(check.line(one))
    end
  end
  local violated, unchecked = judge(found)
  if all_lines or violated + unchecked > 0 or not sysbench.cmdline.quiet() then
    print(check.sum_line(#found, violated, unchecked, #conditions - #found,
                         "--tpcb-check=" .. sysbench.opt.tpcb_check))
  end
end

-- The command: checks all conditions of a database that is loaded.
function M.check()
  tables.check_options()
  local drv = sysbench.sql.driver()
  if not tables.has_server(drv) then
    sysbench.cmdline.refuse(("--%s: it has no tables to check"):format(
      drv:name() == "null" and "db-driver=null" or "mysql-dry-run"))
  end
  local con = drv:connect()
  tables.of_loaded(drv, con)
  print_found(find_all(drv, con, "all"), true)
  con:disconnect()
end

-- Checks what --tpcb-check says at the end of prepare.
function M.after_prepare()
  local drv = sysbench.sql.driver()
  if sysbench.opt.tpcb_check ~= "none" and tables.has_server(drv) then
    local con = drv:connect()
    print_found(find_all(drv, con, sysbench.opt.tpcb_check), false)
    con:disconnect()
  end
end

-- Returns the lines of a report: `first`, and what a check after the load has found.
function M.lines_after_run(first)
  local lines, drv = {first}, sysbench.sql.driver()
  if sysbench.opt.tpcb_check == "none" or not tables.has_server(drv) then
    return lines
  end
  local ok, found = pcall(function()
    local con = drv:connect()
    local list = find_all(drv, con, sysbench.opt.tpcb_check)
    con:disconnect()
    return list
  end)
  if not ok then
    sysbench.cmdline.judge("unchecked")
    lines[2] = "    the conditions could not be checked"
    return lines
  end
  local violated, unchecked = judge(found)
  for _, one in ipairs(found) do
    if one.n ~= 0 then
      lines[#lines + 1] = "    " .. check.line(one)
    end
  end
  lines[#lines + 1] = ("    %d of %d conditions hold%s (--tpcb-check=%s)"):format(
    #found - violated - unchecked, #found, check.left_out_text(#conditions - #found),
    sysbench.opt.tpcb_check)
  return lines
end

return M
