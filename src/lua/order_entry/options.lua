-- SPDX-License-Identifier: GPL-2.0-or-later
-- The options of the order-entry workload and the values they may have.

local M = {}

M.declared = {
  warehouses = {"Number of warehouses; 0: those that are loaded, or 1 to prepare", 0},
  -- prepare makes the routines, for this mode alone.
  order_mode = {"How transactions are sent: plain, batched or routine", "plain"},
  order_wait = {"Keying and think times of terminals", false, keeps_data = true},
  order_deck = {"Cards of each kind in the deck of a terminal", {"10", "10", "1", "1", "1"},
    keeps_data = true},
  order_home = {"Warehouse of a terminal: fixed, or random for each transaction", "fixed",
    keeps_data = true},
  order_remote = {"Percentage of order lines from other warehouses; 15 times of payments", 1,
    keeps_data = true},
  order_check = {"Conditions to check after a run or prepare: none, quick or all", "quick",
    keeps_data = true},
  order_deliveries = {"Sessions, of --threads, that carry out deliveries; 0: the terminals", 0,
    keeps_data = true},
  order_history_key = {"A key of its own for history, which some clusters need", false},
}

-- The least and the greatest value of each number.
local limits = {
  warehouses = {0, 2 ^ 20},
  order_deliveries = {0, 1000},
}

local words = {
  order_mode = {"plain", "batched", "routine"},
  order_home = {"fixed", "random"},
  order_check = {"none", "quick", "all"},
}

local function refuse(name, value, text, ...)
  sysbench.cmdline.refuse(("--%s=%s: %s"):format(name:gsub("_", "-"), value, text:format(...)))
end

local function check_word(name)
  for _, word in ipairs(words[name]) do
    if sysbench.opt[name] == word then
      return
    end
  end
  refuse(name, sysbench.opt[name], "unknown; allowed: %s", table.concat(words[name], ", "))
end

-- Returns an option as given, or nil if its value stands for none.
function M.given(name)
  local value = sysbench.opt[name]
  if value ~= 0 and value ~= "" and value ~= "none" then
    return ("--%s=%s"):format(name:gsub("_", "-"), value)
  end
end

-- Returns the option at whose rate transactions are due, or nil if there is none.
function M.given_rate()
  return M.given("rate") or M.given("rate_profile")
end

-- Refuses sessions for deliveries if no terminal is left, with options that need events, and on
-- several hosts, where the numbers of sessions do not tell them from the terminals of all hosts.
local function check_deliveries(opt)
  local needs_events = M.given_rate() or M.given("reconnect_rate")
  if opt.order_deliveries == 0 then
    return
  elseif opt.threads > (sysbench.cmdline.part() or opt.threads) then
    refuse("order_deliveries", opt.order_deliveries, "cannot be used on several hosts: " ..
           "sessions carry out the deliveries of their own host alone")
  elseif opt.order_deliveries >= opt.threads then
    refuse("order_deliveries", opt.order_deliveries, "no terminal is left; use --threads=%d or " ..
           "more, which counts both", opt.order_deliveries + 1)
  elseif needs_events then
    refuse("order_deliveries", opt.order_deliveries, "cannot be used with %s: the sessions that " ..
           "carry out deliveries have no events of their own", needs_events)
  end
end

-- Returns whether statements are not sent, so that there are no answers.
function M.is_dry_run()
  return sysbench.opt.mysql_dry_run and sysbench.sql.driver():name() == "mysql"
end

-- Refuses values that no command can work with.
local function check()
  if M.is_dry_run() then
    sysbench.cmdline.refuse("--mysql-dry-run: order_entry needs the answers of a server; " ..
                            "'run' alone works without one, with --db-driver=null")
  end
  check_word("order_check")
  check_word("order_mode")
  for name, limit in pairs(limits) do
    local value = sysbench.opt[name]
    if not (value >= limit[1] and value <= limit[2] and value % 1 == 0) then
      sysbench.cmdline.refuse(("--%s=%.15g: not a whole number from %d to %d")
                              :format(name:gsub("_", "-"), value, limit[1], limit[2]))
    end
  end
end

-- Refuses values that no run can work with.
function M.check_run()
  local opt = sysbench.opt
  check()
  check_word("order_home")
  if not (opt.order_remote >= 0 and opt.order_remote <= 6) then
    refuse("order_remote", ("%.15g"):format(opt.order_remote), "out of range; allowed: 0 to 6")
  end
  local counts, wrong = require("order_entry.deck").parse(opt.order_deck)
  if not counts then
    refuse("order_deck", table.concat(opt.order_deck, ","), "%s", wrong)
  end
  check_deliveries(opt)
  if opt.order_wait and M.given_rate() then
    refuse("order_wait", "on", "cannot be used with %s: transactions that are due at a rate do " ..
           "not wait for terminals", M.given_rate())
  end
end

-- Refuses values that the other commands cannot work with.  Each calls it first.
function M.check()
  check()
  if sysbench.sql.driver():name() == "null" then
    sysbench.cmdline.refuse("--db-driver=null: it has no tables; " ..
                            "'run' alone works without a server")
  end
end

return M
