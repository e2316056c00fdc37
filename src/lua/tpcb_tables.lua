-- SPDX-License-Identifier: GPL-2.0-or-later
-- The tables of the workload tpcb_like: how they are made, loaded and dropped.  They are those of
-- pgbench, so that both programs can use the same database.  A branch is loaded in one transaction
-- with its tellers and accounts, so its row shows that they are there: a load that was interrupted
-- is continued, and tables grow, by the branches that are missing.

local load = require("order_entry.load")
local options = require("order_entry.options")

local M = {}

M.TELLERS, M.ACCOUNTS = 10, 100000
-- pgbench has numbers of accounts of 64 bits from this scale on.
local BIG_SCALE = 20000
local MOST_BRANCHES = 2 ^ 20
-- Bytes of a branch in SQLite, at least.
local BRANCH_BYTES = 10e6
local ROWS_OF_PROGRESS = 10000

-- The columns as pgbench has them.
local tables = {
  {name = "branches", key = "bid", columns = "bid {int} NOT NULL, bbalance {int}, filler CHAR(88)"},
  {name = "tellers", key = "tid",
    columns = "tid {int} NOT NULL, bid {int}, tbalance {int}, filler CHAR(84)"},
  {name = "accounts", key = "aid",
    columns = "aid {aid} NOT NULL, bid {int}, abalance {int}, filler CHAR(84)"},
  {name = "history", columns = "tid {int}, bid {int}, aid {aid}, delta {int}, mtime {time}, " ..
    "filler CHAR(22)"},
}

-- Options -------------------------------------------------------------------------------------

-- Refuses values that no command can work with.
function M.check_options()
  local scale, which = sysbench.opt.scale, sysbench.opt.tpcb_check
  if not (scale >= 0 and scale <= MOST_BRANCHES and scale % 1 == 0) then
    sysbench.cmdline.refuse(("--scale=%.15g: not a whole number from 0 to %d")
                            :format(scale, MOST_BRANCHES))
  elseif which ~= "none" and which ~= "quick" and which ~= "all" then
    sysbench.cmdline.refuse(("--tpcb-check=%s: unknown; allowed: none, quick, all"):format(which))
  end
end

-- What is loaded ------------------------------------------------------------------------------

local exists_text = {
  mysql = "SELECT COUNT(*) FROM information_schema.tables " ..
          "WHERE table_schema = DATABASE() AND table_name = 'pgbench_branches'",
  pgsql = "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass('pgbench_branches')",
  sqlite = "SELECT COUNT(*) FROM sqlite_master " ..
           "WHERE type = 'table' AND name = 'pgbench_branches'",
}

-- PostgreSQL makes keys after the rows.
local KEYS_TEXT = "SELECT COUNT(*) FROM pg_index " ..
                  "WHERE indisprimary AND indrelid = to_regclass('%s')"

-- Returns the number that a query finds, and does not count the query.
local function number(con, text)
  return tonumber((con:query_row_uncounted(text)))
end

-- Returns whether the driver asks a server: the null driver does not, nor does a dry run.
function M.has_server(drv)
  return drv:name() ~= "null" and not options.is_dry_run()
end

-- Returns the scale of the tables, and refuses them if rows or keys are missing, or if --scale says
-- something else.  Without a server, there is the scale that is asked for.
function M.of_loaded(drv, con)
  local asked = sysbench.opt.scale
  if not M.has_server(drv) then
    return math.max(asked, 1)
  elseif number(con, exists_text[drv:name()]) == 0 then
    sysbench.cmdline.refuse("there are no tables of tpcb_like; make them with: " ..
                            "bench tpcb_like --scale=N prepare")
  end
  local n = number(con, "SELECT COUNT(*) FROM pgbench_branches")
  local last = n > 0 and number(con, "SELECT MAX(bid) FROM pgbench_branches") or 1
  if n ~= last or drv:name() == "pgsql" and
     number(con, KEYS_TEXT:format("pgbench_accounts")) == 0 then
    sysbench.cmdline.refuse(("the tables of tpcb_like are half loaded; continue with: " ..
                             "bench tpcb_like --scale=%d prepare"):format(last))
  elseif asked > 0 and asked ~= n then
    sysbench.cmdline.refuse(("--scale=%d: the tables have %d branch%s"):format(
      asked, n, n > 1 and "es" or ""))
  end
  return n
end

-- Making tables -------------------------------------------------------------------------------

-- The words of the columns, the key if it is made before the rows, and what follows.  A column of
-- type TIMESTAMP of MySQL may change by itself.  A key of type INTEGER of SQLite is the number of
-- the row.
local dialects = {
  mysql = {int = "INT", time = "DATETIME", key = ", PRIMARY KEY (%s)",
           after = " ENGINE=InnoDB DEFAULT CHARSET=latin1"},
  pgsql = {int = "INT", time = "TIMESTAMP", key = "", after = ""},
  sqlite = {int = "INTEGER", time = "DATETIME", key = ", PRIMARY KEY (%s)", after = ""},
}
dialects.null = dialects.mysql

-- Returns CREATE TABLE for a table that may exist.  Numbers of accounts have 64 bits if pgbench has
-- such at this scale.
local function create_text(drv, t)
  local own = dialects[drv:name()]
  local words = {int = own.int, time = own.time,
                 aid = sysbench.opt.scale < BIG_SCALE and own.int or "BIGINT"}
  return ("CREATE TABLE IF NOT EXISTS pgbench_%s (%s%s)%s"):format(
    t.name, t.columns:gsub("{(%w+)}", words), t.key and own.key:format(t.key) or "", own.after)
end

-- Returns the numbers of the branches without rows, and how many branches have rows.
local function missing_branches(con)
  local is_there, missing = {}, {}
  local rs = con:query("SELECT bid FROM pgbench_branches")
  local n_there = rs and rs.nrows or 0 -- nil in a dry run
  for _ = 1, n_there do
    is_there[tonumber(rs:fetch_row()[1]) or 0] = true
  end
  for bid = 1, math.max(sysbench.opt.scale, 1) do
    if not is_there[bid] then
      missing[#missing + 1] = bid
    end
  end
  return missing, n_there
end

-- Makes the tables that are missing.  Refuses to begin if the rows that are missing do not fit on
-- SQLite's disk.
local function make_tables(drv, con)
  if not dialects[drv:name()] then
    error("tpcb_like does not know the database driver '" .. drv:name() .. "'", 0)
  end
  for _, t in ipairs(tables) do
    con:query(create_text(drv, t))
  end
  if drv:name() == "sqlite" then
    sysbench.cmdline.check_room(#missing_branches(con) * BRANCH_BYTES)
  end
end

-- Loading rows --------------------------------------------------------------------------------

-- Loads n rows of a table.  add(row, i) adds the values of row i; all: rows of all tables.
local function load_table(con, name, columns, n, all, add)
  local row = sysbench.row(0, 0)
  con:bulk_insert_init(("INSERT INTO %s (%s) VALUES"):format(name, columns))
  for i = 1, n do
    add(row, i)
    con:bulk_insert_next(row)
    if i % ROWS_OF_PROGRESS == 0 then
      sysbench.cmdline.loaded(name, ROWS_OF_PROGRESS, all)
    end
  end
  con:bulk_insert_done()
end

-- A column of type CHAR is as wide without blanks, but not in SQLite.
local function load_branch(drv, con, bid, all)
  local filler = drv:name() == "sqlite" and (" "):rep(84) or ""
  load.say("Loading branch %d...", bid)
  sysbench.cmdline.loaded("pgbench_branches", 0, all)
  con:query(drv:name() == "sqlite" and "BEGIN IMMEDIATE" or "BEGIN")
  con:query(("INSERT INTO pgbench_branches (bid, bbalance) VALUES (%d, 0)"):format(bid))
  load_table(con, "pgbench_tellers", "tid, bid, tbalance", M.TELLERS, all, function(row, i)
    row:number((bid - 1) * M.TELLERS + i)
    row:number(bid)
    row:number(0)
  end)
  load_table(con, "pgbench_accounts", "aid, bid, abalance, filler", M.ACCOUNTS, all,
             function(row, i)
    row:number((bid - 1) * M.ACCOUNTS + i)
    row:number(bid)
    row:number(0)
    row:text(filler)
  end)
  con:query("COMMIT")
end

-- Makes the key of a table of PostgreSQL, unless it has one.  Other databases have theirs already.
local function make_key(drv, con, t)
  local name = "pgbench_" .. t.name
  if drv:name() == "pgsql" and t.key and number(con, KEYS_TEXT:format(name)) == 0 then
    load.say("Creating the key of %s...", name)
    con:query(("ALTER TABLE %s ADD PRIMARY KEY (%s)"):format(name, t.key))
  end
end

local missing, n_there

local steps = {
  function(drv, con)
    if sysbench.tid == 0 then
      make_tables(drv, con)
    end
  end,
  function(_, con)
    missing, n_there = missing_branches(con)
  end,
  function(drv, con)
    load.for_own(#missing, function(i)
      load_branch(drv, con, missing[i], #missing * M.ACCOUNTS)
    end)
    sysbench.cmdline.progress()
  end,
  function(drv, con)
    load.for_own(#tables, function(i)
      make_key(drv, con, tables[i])
    end)
  end,
  function(drv, con)
    load.for_own(#tables, function(i)
      load.analyze(drv, con, "pgbench_" .. tables[i].name)
    end)
  end,
}

-- The command: loads the branches that are missing.  It drops none, so a smaller --scale than that
-- of the tables changes nothing.
function M.prepare()
  M.check_options()
  if sysbench.cmdline.dialect() then
    sysbench.cmdline.refuse("tpcb_like prepare cannot be used in a dialect: leave out --compat " ..
                            "and BENCH_COMPAT, and start the program as bench")
  end
  if load.in_steps(steps) and sysbench.tid == 0 then
    load.say("Loaded: scale %d", n_there + #missing)
    require("tpcb_check").after_prepare()
  end
end

-- Drops the tables, first those whose rows may refer to others.
function M.cleanup()
  M.check_options()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  for i = #tables, 1, -1 do
    con:query("DROP TABLE IF EXISTS pgbench_" .. tables[i].name)
  end
  require("oltp_tables").shrink(drv, con)
  con:disconnect()
end

return M
