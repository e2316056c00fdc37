-- SPDX-License-Identifier: GPL-2.0-or-later
-- The proof sheet at the end of a run: whether the transactions have ended in time and at a steady
-- rate, whether their inputs have the shares that the rules ask for, and whether the rows keep
-- their conditions.  The manual gives the sources of the samples that verdicts need.

local check = require("order_entry.check")
local deck = require("order_entry.deck")
local random = require("order_entry.random")
local sheets = require("order_entry.sheet")

local M = {}

-- Response times and the rate ------------------------------------------------------------------

-- The time in which 90 % of the transactions of each kind are to end, in seconds.
local ceilings = {{"new_order", 5}, {"payment", 5}, {"order_status", 5}, {"delivery", 5},
                  {"stock_level", 20}, {"deferred", 80}}

-- Adds the response times of kinds that have had events: the time in which 90 % have ended, and
-- whether the mean is not above it.
local function audit_times(sheet, kinds)
  for _, ceiling in ipairs(ceilings) do
    local name, most = ceiling[1], ceiling[2]
    local kind = kinds[name]
    if kind and kind.events > 0 then
      sheet:decide(name .. ", 90 % within", ("%.3f s"):format(kind.latency_p90),
                   ("at most %d s"):format(most), kind.latency_p90 <= most, kind.events, 1)
      -- A delivery that is handed over is only queued, so that one stall decides the mean.
      if name ~= "delivery" or sysbench.opt.order_deliveries == 0 then
        sheet:decide(name .. ", mean below the 90 %", ("%.3f ms"):format(kind.latency_avg * 1000),
                     ("<= %.3f ms"):format(kind.latency_p90 * 1000),
                     kind.latency_avg <= kind.latency_p90, kind.events, 100)
      end
    end
  end
end

-- The quarters of the time may differ from their mean by so much, in percent.
local STEADY = 5

-- Adds a line about the rate of new orders in the quarters of the measured time, which are known if
-- the report covers all of --time.
local function audit_steadiness(sheet, n, span_s)
  local name = "new orders of quarters, from their mean"
  local bound = ("-%d to %d %%"):format(STEADY, STEADY)
  if sysbench.opt.time == 0 then
    return sheet:undecided(name, "", bound, "unknown (no --time)")
  elseif span_s < 0.999 * sysbench.opt.time then
    return sheet:undecided(name, "", bound, ("unknown (%.0f s of %g s)"):format(span_s,
                                                                             sysbench.opt.time))
  end
  local low, high, sum = math.huge, 0, 0
  for quarter = 1, 4 do
    local count = n["_new_orders_quarter_" .. quarter]
    low, high, sum = math.min(low, count), math.max(high, count), sum + count
  end
  local function deviation(count)
    return sum > 0 and (count / (sum / 4) - 1) * 100 or 0
  end
  sheet:decide(name, ("%.1f to %.1f %%"):format(deviation(low), deviation(high)), bound,
               deviation(low) >= -STEADY and deviation(high) <= STEADY, sum, 16100)
end

-- Inputs ---------------------------------------------------------------------------------------

-- Returns the counts of NAME_first to NAME_last.
local function series(counts, name, first, last)
  local list = {}
  for i = first, last do
    list[#list + 1] = counts[name .. "_" .. i]
  end
  return list
end

local function total(list)
  local sum = 0
  for _, n in ipairs(list) do
    sum = sum + n
  end
  return sum
end

-- Returns n equal shares.
local function uniform(n)
  local shares = {}
  for i = 1, n do
    shares[i] = 1 / n
  end
  return shares
end

-- Returns the shares of the quarters into which audits.lua puts the other warehouses.
local function quarters_of(warehouses)
  local others, shares = warehouses - 1, {}
  for quarter = 1, 4 do
    shares[quarter] = (math.ceil(quarter * others / 4) - math.ceil((quarter - 1) * others / 4)) /
                      others
  end
  return shares
end

-- The shares of the groups of audits.lua in the exact distributions of NURand.
local groups = {
  item = {0.018819, 0.049315, 0.048259, 0.140301, 0.048259, 0.140301, 0.140028, 0.414719},
  customer = {0.115479, 0.047958, 0.047958, 0.143958, 0.047958, 0.143958, 0.143958,
              0.308771},
  name = {0.09325, 0.048, 0.048, 0.144, 0.048, 0.144, 0.144, 0.33075},
}

-- Adds the shares of the kinds.  A terminal that has drawn all cards of its decks has the shares of
-- the deck exactly; what differs are the decks that are not used up at the begin and the end of the
-- measurement.  A share on the bound is below it in half of all runs, however long they are.
local function audit_mix(sheet, n, terminals)
  local cards, all = deck.parse(sysbench.opt.order_deck), 0
  local n_cards = total(cards)
  for _, kind in ipairs(deck.kinds) do
    all = all + n["_inputs_" .. kind]
  end
  for i, kind in ipairs(deck.kinds) do
    local least, p = deck.least[kind], cards[i] / n_cards
    local distance = least and math.abs(cards[i] * 100 - least * n_cards) / (n_cards * 100)
    local need = least and 3.3 * math.sqrt(terminals * (n_cards + 1) / 3 * p * (1 - p)) / distance
    if need and need < math.huge then
      sheet:share("share of " .. kind, n["_inputs_" .. kind], all, least, nil, math.ceil(need))
    elseif need then
      sheet:undecided("share of " .. kind, "", ("at least %d %%"):format(least),
                      "unknown (--order-deck)")
    end
  end
end

-- Adds the audits of order lines.
local function audit_orders(sheet, n, warehouses)
  local orders, by_length, lines = n._inputs_new_order, series(n, "_lines", 5, 15), 0
  for i, count in ipairs(by_length) do
    lines = lines + count * (i + 4)
  end
  sheet:share("new orders rolled back", n._inputs_unused_item, orders, 0.9, 1.1, 107200)
  sheet:mean("mean of lines per order", lines, orders, 9.5, 10.5, 440)
  sheet:distribution("lines per order, uniform", by_length, uniform(11), 1100)
  local quantities = {}
  for pair = 1, 5 do
    quantities[pair] = n[("_quantity_%d_%d"):format(2 * pair - 1, 2 * pair)]
  end
  sheet:distribution("quantities, uniform", quantities, uniform(5), 100)
  if warehouses > 1 then
    local remote = series(n, "_remote_line", 1, 4)
    sheet:share("remote lines", total(remote), lines, 0.95, 1.05, 428800)
    sheet:distribution("warehouses of remote lines, uniform", remote, quarters_of(warehouses),
                       10 * (warehouses - 1))
  end
end

-- Adds the audits of payments and order statuses.
local function audit_customers(sheet, n, warehouses)
  if warehouses > 1 then
    local remote = series(n, "_remote_payment", 1, 4)
    sheet:share("remote payments", total(remote), n._inputs_payment, 14, 16, 13810)
    sheet:distribution("warehouses of remote payments, uniform", remote, quarters_of(warehouses),
                       10 * (warehouses - 1))
  end
  sheet:share("payments by last name", n._payments_by_name, n._inputs_payment, 57, 63, 2890)
  sheet:share("order statuses by last name", n._statuses_by_name, n._inputs_order_status, 57, 63,
              2890)
end

-- Adds the deliveries that have skipped a district.  At most 1 % may do so, but one always may.
local function audit_deliveries(sheet, n)
  local short, all = n._deliveries_short, n._inputs_delivery
  sheet:decide("deliveries that skipped a district", ("%d of %d"):format(short, all), "1 % or 1",
               short <= 1 or short <= 0.01 * all, all, 100)
end

-- c_delta: how much the C of last names of the run differs from that of the load.
local function audit_skew(sheet, n, c_delta)
  for _, of in ipairs({"item", "customer", "name"}) do
    sheet:distribution(of .. "s, NURand", series(n, "_" .. of .. "_group", 0, 7), groups[of], 1000)
  end
  sheet:decide("C of last names, run against load", ("%d"):format(c_delta), "in its set",
               random.is_delta(c_delta), 1, 1)
end

-- Adds the mean of think times, one after each transaction, also after those that were given up;
-- keying times are constants.
local function audit_waits(sheet, n)
  if sysbench.opt.order_wait then
    sheet:mean("think times, of their mean", n._think_permille / 1000, n._think_times, 0.95, 1.05,
               4330)
  end
end

-- Conditions -----------------------------------------------------------------------------------

-- Returns what is found of each condition, in one transaction, and how many are left out.
local function find_all(drv, which)
  local con = drv:connect()
  check.begin(drv, con)
  local found = {}
  local list, n_left_out = check.conditions(which, check.warehouses(con))
  for i, condition in ipairs(list) do
    found[i] = check.find(con, condition)
  end
  con:query("ROLLBACK")
  con:disconnect()
  return found, n_left_out
end

-- Adds the conditions that do not hold, and their sum.  A violated one fails the run, asserted or
-- not.
local function audit_conditions(sheet, which)
  local drv = sysbench.sql.driver()
  if which == "none" or drv:name() == "null" then
    return
  end
  local ok, found, n_left_out = pcall(find_all, drv, which)
  if not ok then
    sheet:count("unchecked")
    return sheet:say("the conditions could not be checked")
  end
  local n_hold = 0
  for _, one in ipairs(found) do
    local verdict = check.verdict(one)
    sheet:count(verdict)
    if verdict == "holds" then
      n_hold = n_hold + 1
    else
      sheet:say("%s", check.line(one))
    end
    if verdict == "violated" then
      sysbench.cmdline.judge("violated")
    end
  end
  sheet:say("%d of %d conditions hold%s (--order-check=%s)", n_hold, #found,
            check.left_out_text(n_left_out), which)
end

-- The sheet ------------------------------------------------------------------------------------

-- Returns the lines of the sheet, with their numbers.  run: its warehouses and its c_delta.
function M.sheet(stat, run)
  local sheet, n = sheets.new("Proof sheet: what, measured, bound, verdict"), stat.counts
  audit_times(sheet, stat.event_kinds)
  audit_steadiness(sheet, n, stat.time_interval)
  audit_deliveries(sheet, n)
  audit_mix(sheet, n, sysbench.opt.threads)
  audit_orders(sheet, n, run.warehouses)
  audit_customers(sheet, n, run.warehouses)
  audit_skew(sheet, n, run.c_delta)
  audit_waits(sheet, n)
  audit_conditions(sheet, sysbench.opt.order_check)
  return sheet:close()
end

return M
