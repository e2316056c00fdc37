-- SPDX-License-Identifier: GPL-2.0-or-later
-- Brings the tables of the order-entry workload back to the rows that were loaded, without loading:
-- orders above the loaded ones are deleted, constants are written, and random values that a run
-- changes (s_quantity, c_data) are made again from the seed and written where they differ.
--
-- Transactions are small, because servers of a group refuse those of 150 MB.  A reset that ends
-- between two of them is repeated: the setting `reset` says so until all is done.

local cardinality = require("order_entry.cardinality")
local load = require("order_entry.load")
local options = require("order_entry.options")
local population = require("order_entry.population")
local schema = require("order_entry.schema")
local settings_of = require("order_entry.settings")

local M = {}

-- Numbers in one list of an UPDATE, orders and payments that one transaction deletes.
local LIST, ORDERS, PAYMENTS = 1000, 3000, 500000

-- What the first thread has found to undo: orders, payments, and deliveries of districts.
local found

-- One table after the other ----------------------------------------------------------------

-- h_data of a payment has blanks, that of a loaded row has none.  There is no index for it, so one
-- thread reads the whole table, on MySQL once for each limit.
local function reset_history(drv, con)
  local text = "DELETE FROM history WHERE h_data LIKE '% %'"
  if drv:name() == "mysql" then
    for _ = 1, found.payments / PAYMENTS do
      con:query(text .. " LIMIT " .. PAYMENTS)
    end
  end
  con:query(text)
end

-- Statements for a district: %w and %d stand for its numbers, %o for the last loaded order, %f for
-- the first that was not delivered, and %l for the last that one transaction deletes.
local of_orders = {
  "DELETE FROM order_line WHERE ol_w_id = %w AND ol_d_id = %d AND ol_o_id > %o AND ol_o_id <= %l",
  "DELETE FROM orders WHERE o_w_id = %w AND o_d_id = %d AND o_id > %o AND o_id <= %l",
}
local of_district = {
  "DELETE FROM order_line WHERE ol_w_id = %w AND ol_d_id = %d AND ol_o_id > %o",
  "DELETE FROM new_order WHERE no_w_id = %w AND no_d_id = %d",
  "DELETE FROM orders WHERE o_w_id = %w AND o_d_id = %d AND o_id > %o",
  "UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = %w AND o_d_id = %d AND o_id >= %f " ..
    "AND o_carrier_id IS NOT NULL",
  "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = %w AND ol_d_id = %d " ..
    "AND ol_o_id >= %f AND ol_delivery_d IS NOT NULL",
  "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) SELECT o_id, o_d_id, o_w_id FROM orders " ..
    "WHERE o_w_id = %w AND o_d_id = %d AND o_id >= %f",
  "UPDATE district SET d_ytd = 30000, d_next_o_id = %o + 1 WHERE d_w_id = %w AND d_id = %d",
  "UPDATE customer SET c_balance = -10, c_ytd_payment = 10, c_payment_cnt = 1, " ..
    "c_delivery_cnt = 0 WHERE c_w_id = %w AND c_d_id = %d AND (c_balance <> -10 " ..
    "OR c_ytd_payment <> 10 OR c_payment_cnt <> 1 OR c_delivery_cnt <> 0)",
}

-- Calls use(...) in a transaction.
local function in_transaction(drv, con, use, ...)
  con:query(drv:name() == "sqlite" and "BEGIN IMMEDIATE" or "BEGIN")
  use(con, ...)
  con:query("COMMIT")
end

-- Executes statements with these values.
local function execute(con, texts, values)
  for _, text in ipairs(texts) do
    con:query((text:gsub("%%(%l)", values)))
  end
end

-- The last orders, fewer than one transaction can delete, go with the rest of the district.
local function reset_district(drv, con, w, d)
  local values = {w = w, d = d, o = cardinality.ORDERS, f = cardinality.FIRST_OPEN}
  local last = con:query_row(("SELECT MAX(o_id) FROM orders WHERE o_w_id = %d AND o_d_id = %d")
                             :format(w, d))
  for l = values.o + ORDERS, tonumber(last or 0), ORDERS do
    values.l = l
    in_transaction(drv, con, execute, of_orders, values)
  end
  in_transaction(drv, con, execute, of_district, values)
end

-- Calls use(row) for each row of a result, and reads all of it before the next statement.
local function for_rows(con, text, use)
  local rs = con:query(text)
  for _ = 1, rs.nrows do
    use(rs:fetch_row())
  end
end

-- Writes s_quantity of the items whose rows have changed, all of one quantity in one statement.
local function write_stock(con, w, ids_of)
  for quantity, ids in pairs(ids_of) do
    for first = 1, #ids, LIST do
      con:query(("UPDATE stock SET s_quantity = %d, s_ytd = 0, s_order_cnt = 0, " ..
                 "s_remote_cnt = 0 WHERE s_w_id = %d AND s_i_id IN (%s)")
                :format(quantity, w, table.concat(ids, ",", first,
                                                  math.min(first + LIST - 1, #ids))))
    end
  end
end

-- Makes the rows of stock of a warehouse again from the seed, and writes those that differ.
local function reset_stock(con, settings, w)
  local now, ids_of = {}, {}
  for_rows(con, "SELECT s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock " ..
                "WHERE s_w_id = " .. w, function(row)
    now[tonumber(row[1])] = row[2] .. "," .. row[3] .. "," .. row[4] .. "," .. row[5]
  end)
  population.rows("stock", settings, w, function(row)
    local id, quantity = row:take():match("^%((%d+),%d+,(%d+),")
    if now[tonumber(id)] ~= quantity .. ",0,0,0" then
      ids_of[quantity] = ids_of[quantity] or {}
      table.insert(ids_of[quantity], id)
    end
  end)
  write_stock(con, w, ids_of)
end

-- Payments write c_data of customers with bad credit alone.
local function reset_customer_data(con, settings, w)
  local now = {}
  for_rows(con, "SELECT c_d_id, c_id, c_data FROM customer WHERE c_credit = 'BC' " ..
                "AND c_w_id = " .. w, function(row)
    now[row[1] .. "," .. row[2]] = row[3]
  end)
  population.rows("customer", settings, w, function(row)
    local id, d, data = row:take():match("^%((%d+),(%d+),.*'(.*)'%)$")
    local present = now[d .. "," .. id]
    if present and present ~= data then
      con:query(("UPDATE customer SET c_data = '%s' WHERE c_w_id = %d AND c_d_id = %s " ..
                 "AND c_id = %s"):format(data, w, d, id))
    end
  end)
end

-- Resets a warehouse.  Each of its transactions may be repeated if a reset is interrupted.
local function reset_warehouse(drv, con, settings, w)
  load.say("Resetting warehouse %d...", w)
  -- At REPEATABLE READ, threads that find no open orders lock the same gap, and then wait for each
  -- other to insert into it.
  if drv:name() == "mysql" then
    con:query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
  end
  con:query("UPDATE warehouse SET w_ytd = 300000 WHERE w_id = " .. w)
  for d = 1, cardinality.DISTRICTS do
    reset_district(drv, con, w, d)
  end
  in_transaction(drv, con, reset_customer_data, settings, w)
  in_transaction(drv, con, reset_stock, settings, w)
end

-- The steps ----------------------------------------------------------------------------------

-- Begins, or continues a reset that was interrupted.
local function begin(drv, con)
  if not settings_of.exist(drv, con) then
    settings_of.of_loaded(drv, con)
  end
  local settings = settings_of.read(con)
  settings_of.check_version(settings)
  if not settings.reset then
    settings_of.of_loaded(drv, con)
    settings_of.add(con, "reset", os.date("%Y-%m-%d %H:%M:%S"))
  end
end

-- Returns how many rows a table has more than so many in each warehouse.
local function added_to(con, table_name, rows, warehouses)
  return tonumber((con:query_row("SELECT COUNT(*) FROM " .. table_name))) - rows * warehouses
end

-- Each delivery of a district takes an order from new_order.
local function count_changes(con)
  local W, D = settings_of.read(con).warehouses, cardinality.DISTRICTS
  local open = cardinality.ORDERS - cardinality.FIRST_OPEN + 1
  local orders = added_to(con, "orders", D * cardinality.ORDERS, W)
  found = {
    warehouses = W, orders = orders,
    payments = added_to(con, "history", D * cardinality.CUSTOMERS, W),
    deliveries = orders - added_to(con, "new_order", D * open, W),
  }
end

-- Returns "1 order", "2 orders".
local function count_text(n, singular, plural)
  return ("%d %s"):format(n, n == 1 and singular or plural)
end

local function print_changes()
  load.say("Reset: %s; %s and %s deleted, %s undone",
           count_text(found.warehouses, "warehouse", "warehouses"),
           count_text(found.orders, "order", "orders"),
           count_text(found.payments, "payment", "payments"),
           count_text(found.deliveries, "delivery of a district", "deliveries of districts"))
end

local steps = {
  function(drv, con)
    if sysbench.tid == 0 then
      begin(drv, con)
      count_changes(con)
    end
  end,
  function(drv, con)
    local settings = settings_of.read(con)
    settings.now = settings.item
    if sysbench.tid == 0 then
      reset_history(drv, con)
    end
    load.for_own(settings.warehouses, function(w)
      reset_warehouse(drv, con, settings, w)
    end)
  end,
  function(drv, con)
    load.for_own(#schema.tables, function(i)
      load.analyze(drv, con, schema.tables[i].name)
    end)
  end,
  function(_, con)
    if sysbench.tid == 0 then
      settings_of.remove(con, "reset")
      print_changes()
    end
  end,
}

-- Resets all warehouses, whatever --warehouses is: conditions hold for the whole database.
function M.reset()
  options.check()
  load.in_steps(steps)
end

return M
