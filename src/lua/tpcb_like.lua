-- SPDX-License-Identifier: GPL-2.0-or-later
-- Payments into accounts, on the tables of pgbench and with its default transaction.  Commands are
-- in the module tpcb_tables, and the search for wrong balances is in tpcb_check.

sysbench.cmdline.options = {
  scale = {"Number of branches; 0: those of the tables, or 1 to prepare", 0},
  tpcb_check = {"Conditions to check after a run or prepare: none, quick or all", "quick",
    keeps_data = true},
}

sysbench.cmdline.commands = {
  prepare = {function() return require("tpcb_tables").prepare() end,
             sysbench.cmdline.PARALLEL_COMMAND},
  check = {function() return require("tpcb_check").check() end},
}

function cleanup()
  require("tpcb_tables").cleanup()
end

-- The statements of a transaction.  The letters stand for their parameters: d: delta, a: aid,
-- t: tid, b: bid.
local texts = {
  {"begin", "BEGIN", ""},
  {"account_pay", "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?", "da"},
  {"account", "SELECT abalance FROM pgbench_accounts WHERE aid = ?", "a"},
  {"teller_pay", "UPDATE pgbench_tellers SET tbalance = tbalance + ? WHERE tid = ?", "dt"},
  {"branch_pay", "UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE bid = ?", "db"},
  {"history_insert", "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) " ..
    "VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)", "tbad"},
  {"commit", "COMMIT", ""},
}

-- Whether a run ends with a check.  Scripts add no lines to the reports of several hosts, of groups
-- and of dialects.
local checks_at_end = not (sysbench.cmdline.part() or sysbench.cmdline.dialect())
-- The line of a report about the scale.  The main instance alone has it.
local scale_line

-- Refuses to run without the rows of --scale.  The scale is printed first, and again in the report.
function init()
  local tables = require("tpcb_tables")
  tables.check_options()
  sysbench.cmdline.expect()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  scale_line = ("Scale: %d"):format(tables.of_loaded(drv, con))
  con:disconnect()
  print(scale_line)
  if not checks_at_end and sysbench.opt.tpcb_check ~= "none" and tables.has_server(drv) then
    print("    conditions are not checked at the end of a run on several hosts, in groups or in " ..
          "a dialect; use: bench tpcb_like check")
  end
end

if checks_at_end then
  function sysbench.hooks.add_to_cumulative()
    -- Another instance reports checkpoints, at which transactions are under way.
    if scale_line then
      return require("tpcb_check").lines_after_run(scale_line)
    end
  end
end

-- A session -----------------------------------------------------------------------------------

local con
local statements, params
-- How many rows the tables have.
local branches, tellers, accounts
-- Whether the parameters have the inputs of a transaction that is not done, and its tries.
local is_drawn, tries = false, 0

-- Prepares the statements of a transaction.  One parameter serves all places of its letter, so that
-- event() sets each input once.
local function prepare_statements(driver)
  statements = {}
  for i, text in ipairs(texts) do
    -- A writer of SQLite takes the write lock first.  It would find later that the account that it
    -- has read has changed.
    local sql = driver == "sqlite" and text[1] == "begin" and "BEGIN IMMEDIATE" or text[2]
    local statement, list = con:prepare(sql, text[1]), {}
    for letter in text[3]:gmatch(".") do
      params[letter] = params[letter] or statement:bind_create(sysbench.sql.type.BIGINT)
      list[#list + 1] = params[letter]
    end
    if #list > 0 and statement:bind_param(unpack(list)) ~= 0 then
      error("tpcb_like: cannot prepare: " .. sql, 0)
    end
    statements[i] = statement
  end
end

function thread_init()
  local drv, tables = sysbench.sql.driver(), require("tpcb_tables")
  con, params = drv:connect(), {}
  branches = tables.of_loaded(drv, con)
  tellers, accounts = branches * tables.TELLERS, branches * tables.ACCOUNTS
  prepare_statements(drv:name())
end

function thread_done()
  for i = #statements, 1, -1 do
    statements[i]:close()
  end
  con:disconnect()
end

local uniform = sysbench.rand.uniform

-- Executes a transaction.  One that is repeated has the same inputs.
function event()
  if not is_drawn then
    params.a:set(uniform(1, accounts))
    params.b:set(uniform(1, branches))
    params.t:set(uniform(1, tellers))
    params.d:set(uniform(-5000, 5000))
    is_drawn = true
  end
  for i = 1, #statements do
    statements[i]:execute()
  end
  is_drawn, tries = false, 0
end

-- Called before an event is repeated, with the same inputs, and after one has failed for good.  If
-- the connection is a new one, the statements are prepared again when they are executed.
function sysbench.hooks.before_restart_event()
  tries = tries + 1
  if tries == sysbench.opt.db_max_tries then
    is_drawn, tries = false, 0
  end
end
