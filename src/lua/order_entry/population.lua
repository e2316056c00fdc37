-- SPDX-License-Identifier: GPL-2.0-or-later
-- The rows of the order-entry workload as they are loaded.  The seed of a database, kept in its
-- settings, and the number of a warehouse decide each value but the dates: a load that is continued
-- or grows gives the rows of a load in one go, and a reset finds the loaded values again.

local cardinality = require("order_entry.cardinality")
local random = require("order_entry.random")

local M = {}

-- The rules below.  A database that other rules have filled cannot be reset or grow.
M.VERSION = 1

-- Items are drawn in parts, so that threads can share them.
M.ITEM_PARTS = 100

local ITEMS, DISTRICTS = cardinality.ITEMS, cardinality.DISTRICTS
local CUSTOMERS, ORDERS = cardinality.CUSTOMERS, cardinality.ORDERS
local FIRST_OPEN = cardinality.FIRST_OPEN

-- Numbers of streams: parts of items, then those of each warehouse.
local WAREHOUSE_STREAMS = 8
local STREAM = {warehouse = 0, district = 1, customer = 2, history = 3, orders = 4, counts = 5,
                order_line = 6, stock = 7}

-- Returns an empty row whose values are drawn from a stream of the warehouse.  What one table draws
-- does not change what another one draws.
local function row_of(settings, w, stream)
  return sysbench.row(settings.seed, M.ITEM_PARTS + w * WAREHOUSE_STREAMS + STREAM[stream])
end

-- Columns that several tables have -----------------------------------------------------------

-- Returns true in one of ten cases.
local function one_in_ten(row)
  return row:uniform(1, 10) == 1
end

local function add_address(row)
  row:alnum(10, 20)
  row:alnum(10, 20)
  row:alnum(10, 20)
  row:letters(2)
  row:text(("%04d11111"):format(row:uniform(0, 9999)))
end

local function add_tax(row)
  row:number(row:uniform(0, 2000), 4)
end

-- s_data and i_data.
local function add_data(row)
  row:alnum(26, 50, one_in_ten(row) and "ORIGINAL" or nil)
end

-- Tables -------------------------------------------------------------------------------------

-- This function and those below add the values of one row, in the order of the columns in
-- schema.lua.
local function item(row, id)
  row:number(id)
  row:number(row:uniform(1, 10000))
  row:alnum(14, 24)
  row:number(row:uniform(100, 10000), 2)
  add_data(row)
end

-- Calls add(row) for each item of a part, 1 to ITEM_PARTS.
function M.items(settings, part, add)
  local row, size = sysbench.row(settings.seed, part - 1), ITEMS / M.ITEM_PARTS
  for id = (part - 1) * size + 1, part * size do
    item(row, id)
    add(row)
  end
end

local function warehouse(row, w)
  row:number(w)
  row:alnum(6, 10)
  add_address(row)
  add_tax(row)
  row:number(30000000, 2)
end

local function district(row, w, d)
  row:number(d)
  row:number(w)
  row:alnum(6, 10)
  add_address(row)
  add_tax(row)
  row:number(3000000, 2)
  row:number(ORDERS + 1)
end

-- The first 1000 customers of a district have all last names, one each, and the others have skewed
-- ones.  `uniform` draws from the row.
local function customer(row, w, d, c, settings, uniform)
  local name = c <= 1000 and c - 1 or random.skewed("name", settings.c_last_load, uniform)
  row:number(c)
  row:number(d)
  row:number(w)
  row:alnum(8, 16)
  row:text("OE")
  row:text(random.last_name(name))
  add_address(row)
  row:digits(16)
  row:text(settings.now)
  row:text(one_in_ten(row) and "BC" or "GC")
  row:number(5000000, 2)
  row:number(row:uniform(0, 5000), 4)
  row:number(-1000, 2)
  row:number(1000, 2)
  row:number(1)
  row:number(0)
  row:alnum(300, 500)
end

-- key: nil without a key of its own.  Loaded rows have negative keys, the server's are positive.
local function history(row, w, d, c, settings, key)
  if key then
    row:number(key)
  end
  row:number(c)
  row:number(d)
  row:number(w)
  row:number(d)
  row:number(w)
  row:text(settings.now)
  row:number(1000, 2)
  row:alnum(12, 24)
end

-- Orders before FIRST_OPEN have been delivered, and so have a carrier.
local function order(row, w, d, o, c, lines, settings)
  row:number(o)
  row:number(d)
  row:number(w)
  row:number(c)
  row:text(settings.now)
  if o < FIRST_OPEN then
    row:number(row:uniform(1, 10))
  else
    row:null()
  end
  row:number(lines)
  row:number(1)
end

-- Lines of delivered orders have a date, and an amount of 0, so that no balance depends on them.
local function order_line(row, w, d, o, number, settings)
  row:number(o)
  row:number(d)
  row:number(w)
  row:number(number)
  row:number(row:uniform(1, ITEMS))
  row:number(w)
  if o < FIRST_OPEN then
    row:text(settings.now)
    row:number(5)
    row:number(0, 2)
  else
    row:null()
    row:number(5)
    row:number(row:uniform(1, 999999), 2)
  end
  row:alnum(24)
end

local function stock(row, w, id)
  row:number(id)
  row:number(w)
  row:number(row:uniform(10, 100))
  for _ = 1, 10 do
    row:alnum(24)
  end
  row:number(0)
  row:number(0)
  row:number(0)
  add_data(row)
end

-- Returns 1..n in random order.
local function permutation(row, n)
  local numbers = {}
  for i = 1, n do
    local at = row:uniform(1, i)
    numbers[i] = numbers[at]
    numbers[at] = i
  end
  return numbers
end

-- Returns o_ol_cnt of the orders of a warehouse, district by district.
local function line_counts(settings, w)
  local row, counts = row_of(settings, w, "counts"), {}
  for i = 1, DISTRICTS * ORDERS do
    counts[i] = row:uniform(5, 15)
  end
  return counts
end

-- The tables of a warehouse in the order of loading: the name, and a function that calls add(row)
-- for each row in the order of the key.
M.tables = {
  {"warehouse", function(settings, w, add)
    local row = row_of(settings, w, "warehouse")
    warehouse(row, w)
    add(row)
  end},
  {"district", function(settings, w, add)
    local row = row_of(settings, w, "district")
    for d = 1, DISTRICTS do
      district(row, w, d)
      add(row)
    end
  end},
  {"stock", function(settings, w, add)
    local row = row_of(settings, w, "stock")
    for id = 1, ITEMS do
      stock(row, w, id)
      add(row)
    end
  end},
  {"customer", function(settings, w, add)
    local row = row_of(settings, w, "customer")
    local function uniform(a, b)
      return row:uniform(a, b)
    end
    for d = 1, DISTRICTS do
      for c = 1, CUSTOMERS do
        customer(row, w, d, c, settings, uniform)
        add(row)
      end
    end
  end},
  {"history", function(settings, w, add)
    local row = row_of(settings, w, "history")
    local n = DISTRICTS * CUSTOMERS
    for i = 0, n - 1 do
      history(row, w, math.floor(i / CUSTOMERS) + 1, i % CUSTOMERS + 1, settings,
              settings.history_key and i - w * n)
      add(row)
    end
  end},
  {"orders", function(settings, w, add)
    local row, counts = row_of(settings, w, "orders"), line_counts(settings, w)
    for d = 1, DISTRICTS do
      local customers = permutation(row, CUSTOMERS)
      for o = 1, ORDERS do
        order(row, w, d, o, customers[o], counts[(d - 1) * ORDERS + o], settings)
        add(row)
      end
    end
  end},
  {"new_order", function(settings, w, add)
    local row = row_of(settings, w, "orders")
    for d = 1, DISTRICTS do
      for o = FIRST_OPEN, ORDERS do
        row:number(o)
        row:number(d)
        row:number(w)
        add(row)
      end
    end
  end},
  {"order_line", function(settings, w, add)
    local row, counts = row_of(settings, w, "order_line"), line_counts(settings, w)
    for d = 1, DISTRICTS do
      for o = 1, ORDERS do
        for number = 1, counts[(d - 1) * ORDERS + o] do
          order_line(row, w, d, o, number, settings)
          add(row)
        end
      end
    end
  end},
}

-- Calls add(row) for each row of a table of a warehouse.
function M.rows(name, settings, w, add)
  for _, t in ipairs(M.tables) do
    if t[1] == name then
      t[2](settings, w, add)
    end
  end
end

-- Rows of a warehouse, on average.
M.WAREHOUSE_ROWS = 1 + DISTRICTS + ITEMS +
                   DISTRICTS * (2 * CUSTOMERS + ORDERS + ORDERS - FIRST_OPEN + 1 + 10 * ORDERS)

return M
