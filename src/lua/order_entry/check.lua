-- SPDX-License-Identifier: GPL-2.0-or-later
-- Asks the database for rows that violate the conditions of the order-entry workload.  Each
-- condition is one query, which sees one state of the rows, so a run beside it causes no false
-- alarm.

local cardinality = require("order_entry.cardinality")
local conditions = require("order_entry.conditions")
local options = require("order_entry.options")
local settings_of = require("order_entry.settings")

local M = {}

local ITEMS, DISTRICTS, CUSTOMERS = cardinality.ITEMS, cardinality.DISTRICTS, cardinality.CUSTOMERS

-- Violating rows that are counted for a condition.
local MOST_ROWS = 10000

-- Which conditions -----------------------------------------------------------------------------

local CONSTANT = "SELECT '%s' AS t, COUNT(*) AS n, %d AS m, " ..
                 "SUM(CASE WHEN %s THEN 1 ELSE 0 END) AS r FROM %s"

-- Returns the condition that no row of a table that never grows is lost or added, or has a key that
-- was not loaded.
local function constant_tables(warehouses)
  local greatest = {w = warehouses, d = DISTRICTS, c = CUSTOMERS, i = ITEMS}
  local parts = {}
  for _, t in ipairs({
    {"customer", DISTRICTS * CUSTOMERS * warehouses,
     "c_w_id BETWEEN 1 AND %w AND c_d_id BETWEEN 1 AND %d AND c_id BETWEEN 1 AND %c"},
    {"district", DISTRICTS * warehouses, "d_w_id BETWEEN 1 AND %w AND d_id BETWEEN 1 AND %d"},
    {"item", ITEMS, "i_id BETWEEN 1 AND %i"},
    {"stock", ITEMS * warehouses, "s_w_id BETWEEN 1 AND %w AND s_i_id BETWEEN 1 AND %i"},
    {"warehouse", warehouses, "w_id BETWEEN 1 AND %w"},
  }) do
    parts[#parts + 1] = CONSTANT:format(t[1], t[2], t[3]:gsub("%%(%l)", greatest), t[1])
  end
  return {name = "rows", meaning = "tables that do not grow have their rows",
          sql = "SELECT t AS table_, n AS rows_, m AS expected, r AS with_right_keys FROM (\n  " ..
                table.concat(parts, " UNION ALL\n  ") .. ") t WHERE n <> m OR r <> m"}
end

-- Condition 11 as the rules have it, which holds until an order is delivered.
local LITERAL_11 = [[
SELECT w, d, SUM(o) AS orders_, SUM(m) AS open_ FROM (
  SELECT d_w_id AS w, d_id AS d, 0 AS o, 0 AS m FROM district WHERE d_w_id > %d UNION ALL
  SELECT o_w_id, o_d_id, COUNT(*), 0 FROM orders WHERE o_w_id > %d GROUP BY o_w_id, o_d_id
    UNION ALL
  SELECT no_w_id, no_d_id, 0, COUNT(*) FROM new_order WHERE no_w_id > %d
    GROUP BY no_w_id, no_d_id) t
GROUP BY w, d HAVING SUM(o) - SUM(m) <> %d]]

-- Returns that condition for the warehouses above a number.
local function literal_11(above)
  return {name = "11L", meaning = "orders - open orders = 2100 after the load, per district",
          sql = LITERAL_11:format(above, above, above, cardinality.FIRST_OPEN - 1)}
end

-- Returns whether a condition leaves out the two largest tables.
local function is_quick(condition)
  return not condition.sql:find("order_line") and not condition.sql:find("FROM stock")
end

-- Returns the conditions to ask, in the order of their report, and how many are left out.  which:
-- "quick" or "all".  above: no order of a warehouse above this number has been delivered; nil:
-- orders of all may have been.
function M.conditions(which, warehouses, above)
  local list, n_left_out = {}, 0
  local function add(condition)
    if which == "all" or is_quick(condition) then
      list[#list + 1] = condition
    else
      n_left_out = n_left_out + 1
    end
  end
  for _, condition in ipairs(conditions) do
    add(condition)
  end
  add(constant_tables(warehouses))
  if above and above < warehouses then
    add(literal_11(above))
  end
  return list, n_left_out
end

-- Asking ---------------------------------------------------------------------------------------

-- The statements that begin to read one state of the rows.  MySQL gets room to keep the orders of a
-- few warehouses in memory while it groups their lines.
local begin_texts = {
  mysql = "SET tmp_table_size = CAST(GREATEST(@@tmp_table_size, 67108864) AS UNSIGNED); " ..
          "SET max_heap_table_size = " ..
          "CAST(GREATEST(@@max_heap_table_size, 67108864) AS UNSIGNED); " ..
          "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; " ..
          "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
  pgsql = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
  sqlite = "BEGIN",
}

-- Returns the number of warehouses whose rows a check expects.
function M.warehouses(con)
  return settings_of.read(con).wanted
end

-- Begins the transaction of a check.  On PostgreSQL it sees the state that another session has
-- exported, if there is one.
function M.begin(drv, con, exported)
  for text in begin_texts[drv:name()]:gmatch("[^;]+") do
    con:query(text)
  end
  if drv:name() == "pgsql" and exported and exported ~= "" then
    con:query(("SET TRANSACTION SNAPSHOT '%s'"):format(exported))
  end
end

-- Returns the names of a query's columns, and how many at the front are keys.
local function columns_of(sql)
  local names, n_keys = {}, 0
  local depth, name = 0, ""
  for part, mark in (sql:match("^%s*SELECT (.-)%sFROM%s") .. ","):gmatch("([^(),]*)([(),])") do
    name = name .. part
    if mark == "," and depth == 0 then
      local alias = name:match(" AS ([%w_]+)$")
      names[#names + 1] = (alias or name):match("^%s*(.-)_?%s*$")
      n_keys = n_keys + ((alias or name:find("%(")) and 0 or 1)
      name = ""
    else
      name = name .. mark
      depth = depth + (mark == "(" and 1 or mark == ")" and -1 or 0)
    end
  end
  return names, math.max(n_keys, 1)
end

-- Returns "w=1, d=2" for a row.
local function row_text(names, row)
  local parts = {}
  for i, name in ipairs(names) do
    parts[i] = name .. "=" .. (row[i] or "NULL")
  end
  return table.concat(parts, ", ")
end

-- Returns what M.find does, and raises the error of a query that fails.  Rows are read in the order
-- of their keys, so that the first one is the same in each check.
local function find(con, condition)
  local names, n_keys = columns_of(condition.sql)
  local keys = {}
  for i = 1, n_keys do
    keys[i] = i
  end
  local rs = con:query(("%s ORDER BY %s LIMIT %d"):format(condition.sql, table.concat(keys, ", "),
                                                          MOST_ROWS + 1))
  local n = rs.nrows
  return {condition = condition, n = n, first = n > 0 and row_text(names, rs:fetch_row()) or nil}
end

-- Returns what is found about a condition: n, the number of violating rows, nil if it could not be
-- checked, and `first`, the text of the first of them.  On PostgreSQL a savepoint keeps a query
-- that fails from ending the transaction of all conditions.
function M.find(con, condition)
  local in_savepoint = sysbench.sql.driver():name() == "pgsql"
  local ok, found = pcall(function()
    if in_savepoint then
      con:query("SAVEPOINT condition")
    end
    return find(con, condition)
  end)
  if in_savepoint then
    pcall(con.query, con, (ok and "RELEASE" or "ROLLBACK TO") .. " SAVEPOINT condition")
  end
  return ok and found or {condition = condition}
end

-- Returns the verdict of a proof sheet about what is found.
function M.verdict(found)
  if not found.n then
    return "unchecked"
  end
  return found.n > 0 and "violated" or "holds"
end

-- Returns how the number of violating rows is told.
local function count_text(n)
  if n > MOST_ROWS then
    return ("more than %d rows"):format(MOST_ROWS)
  end
  return n == 1 and "1 row" or n .. " rows"
end

-- Returns the line of a report about a condition.
function M.line(found)
  local condition = found.condition
  local verdict = "holds"
  if not found.n then
    verdict = "could not be checked"
  elseif found.n > 0 then
    verdict = ("is violated by %s; the first: %s"):format(count_text(found.n), found.first)
  end
  return ("condition %s %s: %s"):format(condition.name, condition.meaning, verdict)
end

-- Returns the part of a sum about conditions that were not asked.
function M.left_out_text(n)
  return n > 0 and (", %d left out"):format(n) or ""
end

-- Returns the last line of a check.  option: the one that says which conditions to check, as typed.
function M.sum_line(n, violated, unknown, n_left_out, option)
  return ("Checked: %d of %d conditions hold, %d violated, %d could not be checked%s"):format(
    n - violated - unknown, n, violated, unknown,
    n_left_out > 0 and ("%s (%s)"):format(M.left_out_text(n_left_out), option) or "")
end

-- The command ----------------------------------------------------------------------------------

-- How long a condition takes, in comparison; 1 if it is not named.
local costs = {["10"] = 5, ["12"] = 4, S1 = 3, ["7"] = 2.3, ["6"] = 2, S7 = 2}

-- Deals the conditions out to the threads.  Returns the number of the thread of each.
local function share_out(list, n_threads)
  local by_cost, load, owner = {}, {}, {}
  for i, condition in ipairs(list) do
    by_cost[i] = {i, costs[condition.name] or 1}
  end
  table.sort(by_cost, function(a, b)
    return a[2] > b[2] or a[2] == b[2] and a[1] < b[1]
  end)
  for thread = 0, n_threads - 1 do
    load[thread] = 0
  end
  for _, entry in ipairs(by_cost) do
    local least = 0
    for thread = 1, n_threads - 1 do
      least = load[thread] < load[least] and thread or least
    end
    owner[entry[1]] = least
    load[least] = load[least] + entry[2]
  end
  return owner
end

-- Begins the transaction of the first thread, which the others may share, if the tables are loaded.
local function begin_first(drv, con, n_threads)
  settings_of.of_loaded(drv, con)
  M.begin(drv, con)
  local exported = ""
  if drv:name() == "pgsql" and n_threads > 1 then
    exported = con:query_row("SELECT pg_export_snapshot()")
  end
  sysbench.cmdline.share(exported)
end

-- Prints what is found in the order of the conditions, and adds to the shared number of those that
-- are not fine.  Returns false if another thread has failed.
local function print_in_order(list, owner, found, all)
  if sysbench.tid == 0 then
    sysbench.cmdline.share("0 0")
  end
  if not sysbench.cmdline.barrier() then
    return false
  end
  for i in ipairs(list) do
    if owner[i] == sysbench.tid then
      local violated, unknown = sysbench.cmdline.share():match("(%d+) (%d+)")
      violated = violated + (found[i].n and found[i].n > 0 and 1 or 0)
      unknown = unknown + (found[i].n and 0 or 1)
      sysbench.cmdline.share(violated .. " " .. unknown)
      if all or found[i].n ~= 0 then
        print(M.line(found[i]))
      end
    end
    if not sysbench.cmdline.barrier() then
      return false
    end
  end
  return true
end

-- Ends a check with its exit status and its last line, which --quiet leaves out if all is well and
-- the user has not asked for a check.
local function conclude(n, n_left_out, asked)
  local violated, unknown = sysbench.cmdline.share():match("(%d+) (%d+)")
  violated, unknown = tonumber(violated), tonumber(unknown)
  if violated > 0 then
    sysbench.cmdline.judge("violated")
  end
  if unknown > 0 then
    sysbench.cmdline.judge("unchecked")
  end
  if asked or violated + unknown > 0 or not sysbench.cmdline.quiet() then
    print(M.sum_line(n, violated, unknown, n_left_out,
                     "--order-check=" .. sysbench.opt.order_check))
  end
end

-- Prints which threads check, if the others are on other hosts.
local function print_threads(n_threads)
  if n_threads < sysbench.opt.threads and not sysbench.cmdline.quiet() then
    print(("Checking with the %d thread%s of the first host alone"):format(
      n_threads, n_threads > 1 and "s" or ""))
  end
end

-- Checks the conditions with all threads of the first host: those of other hosts do not know what
-- the threads share.  all_lines: tells of those that hold too.  above: see M.conditions.
local function check(which, all_lines, above)
  local n_threads = sysbench.cmdline.part() or sysbench.opt.threads
  if sysbench.tid >= n_threads then
    return
  end
  sysbench.cmdline.expect()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  if sysbench.tid == 0 then
    begin_first(drv, con, n_threads)
    print_threads(n_threads)
  end
  if not sysbench.cmdline.barrier() then
    return
  end
  if sysbench.tid > 0 then
    M.begin(drv, con, sysbench.cmdline.share())
  end
  local list, n_left_out = M.conditions(which, M.warehouses(con), above)
  local owner, found = share_out(list, n_threads), {}
  for i, condition in ipairs(list) do
    if owner[i] == sysbench.tid then
      found[i] = M.find(con, condition)
    end
  end
  local others_are_well = sysbench.cmdline.barrier()
  con:query("ROLLBACK")
  con:disconnect()
  if others_are_well and print_in_order(list, owner, found, all_lines) and sysbench.tid == 0 then
    conclude(#list, n_left_out, all_lines)
  end
end

-- The command: checks all conditions, and prints a line for each.
function M.check()
  options.check()
  check("all", true)
end

-- Checks at the end of prepare, as --order-check says.  Tells of violations only.
-- loaded_before: the number of warehouses that an earlier prepare has loaded.
function M.after_prepare(loaded_before)
  if sysbench.opt.order_check ~= "none" and sysbench.sql.driver():name() ~= "null" then
    check(sysbench.opt.order_check, false, loaded_before)
  end
end

return M
