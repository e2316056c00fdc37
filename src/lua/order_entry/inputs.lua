-- SPDX-License-Identifier: GPL-2.0-or-later
-- Draws the inputs of order-entry transactions from the session's stream.  Each kind has one record
-- per session, which every draw fills anew: a repeated transaction has the same inputs, and memory
-- does not grow.

local cardinality = require("order_entry.cardinality")
local skewed = require("order_entry.random").skewed
local last_name = require("order_entry.random").last_name
local uniform = sysbench.rand.uniform

local M = {}

local DISTRICTS, ITEMS = cardinality.DISTRICTS, cardinality.ITEMS

-- Returns true with the given probability, in steps of a millionth.
local function happens(probability)
  return uniform(1, 1000000) <= probability * 1000000
end

-- Returns one of the other warehouses, or `home` if there is no other.
local function other_warehouse(home, warehouses)
  if warehouses == 1 then
    return home
  end
  local rank = uniform(1, warehouses - 1)
  return rank < home and rank or rank + 1
end

-- Chooses the customer by last name in 60 of 100 cases, else by number.
local function draw_customer(t, plan)
  t.by_name = happens(0.6)
  if t.by_name then
    t.name_number = skewed("name", plan.c_last)
    t.c_last = last_name(t.name_number)
  else
    t.c = skewed("customer", plan.c_customer)
  end
end

-- Puts the lines in the order in which their stock rows are locked, which is the same for all
-- sessions.  A line without an item has no stock row and comes last.
local function order_lines(t)
  local order, item, supply = t.order, t.item, t.supply
  local last = t.rollback and t.n - 1 or t.n
  for line = 1, t.n do
    local at = line
    while line <= last and at > 1 and
          (supply[order[at - 1]] > supply[line] or
           supply[order[at - 1]] == supply[line] and item[order[at - 1]] > item[line]) do
      order[at] = order[at - 1]
      at = at - 1
    end
    order[at] = line
  end
end

-- Draws the lines of an order.  The last line of an order that is to be rolled back has an item
-- that does not exist.  all_local is 0 if a line comes from another warehouse, else 1.
local function draw_lines(t, plan)
  t.all_local = 1
  for line = 1, t.n do
    t.item[line] = skewed("item", plan.c_item)
    t.quantity[line] = uniform(1, 10)
    t.supply[line] = t.w
    if happens(plan.remote_line) then
      t.supply[line] = other_warehouse(t.w, plan.warehouses)
      t.all_local = t.supply[line] == t.w and t.all_local or 0
    end
  end
  if t.rollback then
    t.item[t.n] = ITEMS + 1
  end
  order_lines(t)
end

local draw = {}

-- This function and those below fill the record of their kind.
function draw.new_order(t, plan)
  t.c = skewed("customer", plan.c_customer)
  t.n = uniform(5, 15)
  t.rollback = happens(0.01)
  draw_lines(t, plan)
end

function draw.payment(t, plan)
  t.cents = uniform(100, 500000)
  t.c_w, t.c_d = t.w, t.d
  if happens(plan.remote_payment) then
    t.c_w = other_warehouse(t.w, plan.warehouses)
    t.c_d = uniform(1, DISTRICTS)
  end
  draw_customer(t, plan)
end

function draw.order_status(t, plan)
  draw_customer(t, plan)
end

function draw.delivery(t)
  t.carrier = uniform(1, 10)
end

function draw.stock_level(t, plan)
  t.d = plan.district
  t.threshold = uniform(10, 20)
end

-- Returns a function that draws the inputs of a kind.
-- plan: warehouses, home (0: drawn for each transaction), district (of stock_level), remote_line
-- and remote_payment (probabilities), c_last, c_customer, c_item (the C of each NURand).
function M.new(plan)
  local records = {}
  for kind in pairs(draw) do
    records[kind] = {kind = kind}
  end
  local lines = records.new_order
  lines.item, lines.quantity, lines.supply, lines.order = {}, {}, {}, {}

  return function(kind)
    local t = records[kind]
    t.w = plan.home > 0 and plan.home or uniform(1, plan.warehouses)
    t.d = uniform(1, DISTRICTS)
    draw[kind](t, plan)
    return t
  end
end

return M
