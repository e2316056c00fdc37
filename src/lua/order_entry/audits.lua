-- SPDX-License-Identifier: GPL-2.0-or-later
-- Counts the inputs of order-entry transactions, so that a run can prove that they have the shares
-- that the rules ask for.  The counts are metrics of the script: they are in the document, those of
-- several hosts add up, and memory does not grow.  A transaction counts at its first try.

local skewed = require("order_entry.cardinality").skewed

local floor = math.floor
local counter = sysbench.metrics.counter

local M = {}

-- Events of new_order that were rolled back on purpose; districts without an open order, and the
-- deliveries that have skipped one.
M.rolled_back = counter("rolled_back")
M.districts_skipped = counter("districts_skipped")
M.deliveries_short = counter("_deliveries_short")

-- Think times, in thousandths of what the rules ask for on average.  Each transaction has one, also
-- one that was given up.
local think_permille, think_times = counter("_think_permille"), counter("_think_times")

local submitted, lines, quantities, groups, ranks, quarters = {}, {}, {}, {}, {}, {}

for _, kind in ipairs(require("order_entry.deck").kinds) do
  submitted[kind] = counter("_inputs_" .. kind)
end
for n = 5, 15 do
  lines[n] = counter("_lines_" .. n)
end
for pair = 1, 5 do
  quantities[pair] = counter(("_quantity_%d_%d"):format(2 * pair - 1, 2 * pair))
end
for _, of in ipairs({"item", "customer", "name"}) do
  groups[of] = {}
  for group = 0, 7 do
    groups[of][group] = counter(("_%s_group_%d"):format(of, group))
  end
end
for _, of in ipairs({"line", "payment"}) do
  ranks[of] = {}
  for quarter = 1, 4 do
    ranks[of][quarter] = counter(("_remote_%s_%d"):format(of, quarter))
  end
end
for quarter = 1, 4 do
  quarters[quarter] = counter("_new_orders_quarter_" .. quarter)
end
local unused, named = counter("_inputs_unused_item"), {
  payment = counter("_payments_by_name"), order_status = counter("_statuses_by_name"),
}

-- Counts a skewed number with this C.  Its three highest bits below A + 1 decide the group: uniform
-- numbers have all groups equally often, NURand has 7 far more often than 0.
local function count_skewed(of, value, C)
  local skew = skewed[of]
  local bits = (value - skew.low - C) % (skew.high - skew.low + 1) % (skew.A + 1)
  groups[of][floor(bits * 8 / (skew.A + 1))]:add()
end

-- Counts a warehouse that is not `home`, by its rank among the others.
local function count_remote(of, w, home, warehouses)
  local rank = w < home and w or w - 1
  of[floor((rank - 1) * 4 / (warehouses - 1)) + 1]:add()
end

-- Counts a new order in the quarter of --time in which it begins.  Those of the warm-up are in none
-- of them.
local function count_in_time()
  local passed = 1 - sysbench.time_left() / sysbench.opt.time
  local quarter = quarters[floor(passed * 4) + 1]
  if quarter then
    quarter:add()
  end
end

local count = {}

-- Counts a new order and its lines.  The unused item does not count among the items, because its
-- number is not drawn by NURand.
function count.new_order(t, plan)
  count_in_time()
  lines[t.n]:add()
  count_skewed("customer", t.c, plan.c_customer)
  if t.rollback then
    unused:add()
  end
  for line = 1, t.n do
    quantities[floor((t.quantity[line] + 1) / 2)]:add()
    if t.item[line] <= skewed.item.high then
      count_skewed("item", t.item[line], plan.c_item)
    end
    if t.supply[line] ~= t.w then
      count_remote(ranks.line, t.supply[line], t.w, plan.warehouses)
    end
  end
end

-- Counts how the customer is chosen, by last name or by number, and the number that was drawn.
local function count_customer(t, plan)
  if t.by_name then
    named[t.kind]:add()
    count_skewed("name", t.name_number, plan.c_last)
  else
    count_skewed("customer", t.c, plan.c_customer)
  end
end

function count.payment(t, plan)
  count_customer(t, plan)
  if t.c_w ~= t.w then
    count_remote(ranks.payment, t.c_w, t.w, plan.warehouses)
  end
end

count.order_status = count_customer

-- Counts a think time, which is in means.
function M.count_think(think)
  think_permille:add(floor(think * 1000 + 0.5))
  think_times:add()
end

-- Counts the inputs of a transaction.
function M.count(t, plan)
  submitted[t.kind]:add()
  if count[t.kind] then
    count[t.kind](t, plan)
  end
end

return M
