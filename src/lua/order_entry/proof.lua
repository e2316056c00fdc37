-- SPDX-License-Identifier: GPL-2.0-or-later
-- The proof sheet at the end of a run: whether the transactions have ended in time, whether their
-- inputs have the shares that the rules ask for, and whether the rows keep their conditions.

local check = require("order_entry.check")

local M = {}

-- Verdicts.
local YES, NO = "✓", "✗"

-- The sum of squares that a right generator exceeds in one of 1000 runs, by degrees of freedom.
local chi_limits = {10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88, 29.59}

-- Input audits ---------------------------------------------------------------------------------

-- Returns "✓" or "✗", or "too short" if the sample is smaller than the one in which a right
-- generator fails with a probability of 0.1 %.
local function verdict(holds, have, need)
  if have < need then
    return ("too short (%d of %d)"):format(have, need)
  end
  return holds and YES or NO
end

-- Adds an audit of a share to the sheet.  low and high: its bounds, in percent.
local function share(add, name, part, whole, low, high, need)
  local percent = whole > 0 and part / whole * 100 or 0
  add(name, ("%.2f %%"):format(percent), ("%g to %g %%"):format(low, high),
      verdict(percent >= low and percent <= high, whole, need))
end

-- Adds an audit of a distribution.  expected: the share of each count; one of 0 is left out.
local function distribution(add, name, counts, expected, need)
  local sum, chi, degrees = 0, 0, -1
  for i = 1, #counts do
    sum = sum + counts[i]
  end
  for i = 1, #counts do
    local e = expected[i] * sum
    if expected[i] > 0 then
      chi, degrees = chi + (e > 0 and (counts[i] - e) ^ 2 / e or 0), degrees + 1
    end
  end
  if degrees > 0 then
    add(name, ("chi-square %.1f"):format(chi), ("at most %.1f"):format(chi_limits[degrees]),
        verdict(chi <= chi_limits[degrees], sum, need))
  end
end

-- Returns the counts of NAME_first to NAME_last.
local function series(counts, name, first, last)
  local list = {}
  for i = first, last do
    list[#list + 1] = counts[name .. "_" .. i]
  end
  return list
end

local function uniform(n)
  local shares = {}
  for i = 1, n do
    shares[i] = 1 / n
  end
  return shares
end

-- Returns the shares of the quarters into which audits.lua puts the other warehouses.
local function quarters(warehouses)
  local others, shares = warehouses - 1, {}
  for quarter = 1, 4 do
    shares[quarter] = (math.ceil(quarter * others / 4) - math.ceil((quarter - 1) * others / 4)) /
                      others
  end
  return shares
end

-- The shares of the groups of audits.lua in the exact distributions of NURand.
M.groups = {
  item = {0.018819, 0.049315, 0.048259, 0.140301, 0.048259, 0.140301, 0.140028, 0.414719},
  customer = {0.115479, 0.047958, 0.047958, 0.143958, 0.047958, 0.143958, 0.143958,
              0.308771},
  name = {0.09325, 0.048, 0.048, 0.144, 0.048, 0.144, 0.144, 0.33075},
}

local function total(list)
  local sum = 0
  for _, n in ipairs(list) do
    sum = sum + n
  end
  return sum
end

-- Adds the audits of order lines.
local function audit_orders(add, n, orders, warehouses)
  local by_length, lines = series(n, "_lines", 5, 15), 0
  for i, count in ipairs(by_length) do
    lines = lines + count * (i + 4)
  end
  share(add, "new orders rolled back", n._inputs_unused_item, orders, 0.9, 1.1, 107200)
  local mean = orders > 0 and lines / orders or 0
  add("mean of lines per order", ("%.2f"):format(mean), "9.5 to 10.5",
      verdict(mean >= 9.5 and mean <= 10.5, orders, 440))
  distribution(add, "lines per order, uniform", by_length, uniform(11), 1100)
  local pairs_of = {}
  for pair = 1, 5 do
    pairs_of[pair] = n[("_quantity_%d_%d"):format(2 * pair - 1, 2 * pair)]
  end
  distribution(add, "quantities, uniform", pairs_of, uniform(5), 100)
  if warehouses > 1 then
    local remote = series(n, "_remote_line", 1, 4)
    share(add, "remote lines", total(remote), lines, 0.95, 1.05, 428800)
    distribution(add, "warehouses of remote lines, uniform", remote, quarters(warehouses),
                 10 * (warehouses - 1))
  end
end

-- Adds the audits of payments and order statuses.
local function audit_customers(add, n, warehouses)
  local payments, statuses = n._inputs_payment, n._inputs_order_status
  if warehouses > 1 then
    local remote = series(n, "_remote_payment", 1, 4)
    share(add, "remote payments", total(remote), payments, 14, 16, 13810)
    distribution(add, "warehouses of remote payments, uniform", remote, quarters(warehouses),
                 10 * (warehouses - 1))
  end
  share(add, "payments by last name", n._payments_by_name, payments, 57, 63, 2890)
  share(add, "order statuses by last name", n._statuses_by_name, statuses, 57, 63, 2890)
end

local function audit_deliveries(add, n)
  local short, all = n._deliveries_short, n._inputs_delivery
  add("deliveries that skipped a district", ("%d of %d"):format(short, all), "1 % or 1",
      verdict(short <= 1 or short <= 0.01 * all, all, 100))
end

local function audit_skew(add, n)
  for _, of in ipairs({"item", "customer", "name"}) do
    distribution(add, of .. "s, NURand", series(n, "_" .. of .. "_group", 0, 7), M.groups[of], 1000)
  end
end

-- Response times -------------------------------------------------------------------------------

-- The time in which 90 % of the transactions of each kind are to end, in seconds.
local ceilings = {{"new_order", 5}, {"payment", 5}, {"order_status", 5}, {"delivery", 5},
                  {"stock_level", 20}}

-- Returns the smallest measured percentile of at least 90, or nil.
local function percentile_from_90(kind)
  local found
  for _, p in ipairs(kind.percentiles) do
    if p.rank >= 90 and p.latency and (not found or p.rank < found.rank) then
      found = p
    end
  end
  return found
end

-- A higher percentile within the time shows that 90 % are; above it, it shows nothing.
local function time_verdict(p, bound)
  if p.latency <= bound then
    return YES
  end
  return p.rank > 90 and "unknown (--percentile=90)" or NO
end

local function add_times(add, kinds)
  for _, ceiling in ipairs(ceilings) do
    local name, bound = ceiling[1], ceiling[2]
    local p = kinds[name].events > 0 and percentile_from_90(kinds[name])
    if p then
      add(("%s, %g %% within"):format(name, p.rank), ("%.3f s"):format(p.latency),
          ("90 %% in %d s"):format(bound), time_verdict(p, bound))
    end
  end
end

-- Returns the lines of the sheet about inputs and response times.
local function audit_lines(stat, warehouses)
  local lines, n = {}, stat.counts
  local function add(name, value, bound, how)
    lines[#lines + 1] = ("    %-40s %-18s %-14s %s"):format(name, value, bound, how)
  end
  add_times(add, stat.event_kinds)
  audit_deliveries(add, n)
  audit_orders(add, n, n._inputs_new_order, warehouses)
  audit_customers(add, n, warehouses)
  audit_skew(add, n)
  return lines
end

-- Conditions -----------------------------------------------------------------------------------

-- Returns what is found of each condition, in one transaction.
local function find_all(drv, which)
  local con = drv:connect()
  check.begin(drv, con)
  local found = {}
  for _, condition in ipairs(check.conditions(which, check.warehouses(con))) do
    found[#found + 1] = check.find(con, condition)
  end
  con:query("ROLLBACK")
  con:disconnect()
  return found
end

-- Returns the lines about the conditions that do not hold, with a sum of all as the last one, and
-- sets the exit status.
local function condition_lines(which)
  local drv = sysbench.sql.driver()
  if which == "none" or drv:name() == "null" then
    return {}
  end
  local ok, found = pcall(find_all, drv, which)
  if not ok then
    sysbench.cmdline.judge("unchecked")
    return {"    the conditions could not be checked"}
  end
  local lines = {}
  for _, one in ipairs(found) do
    if one.n ~= 0 then
      sysbench.cmdline.judge(one.n and "violated" or "unchecked")
      lines[#lines + 1] = "    " .. check.line(one)
    end
  end
  lines[#lines + 1] = ("    %d of %d conditions hold (--order-check=%s)")
                      :format(#found - #lines, #found, which)
  return lines
end

-- Returns the lines of the sheet.
function M.lines(stat, warehouses)
  local lines = {"Proof sheet: what, measured, bound, verdict"}
  for _, line in ipairs(audit_lines(stat, warehouses)) do
    lines[#lines + 1] = line
  end
  for _, line in ipairs(condition_lines(sysbench.opt.order_check)) do
    lines[#lines + 1] = line
  end
  return lines
end

return M
