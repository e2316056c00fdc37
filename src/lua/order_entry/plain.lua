-- SPDX-License-Identifier: GPL-2.0-or-later
-- The mode plain: each transaction follows its profile row by row, as most programs do.

local floor = math.floor
local ITEMS = require("order_entry.cardinality").ITEMS

local M = {}

-- Returns a number of cents for a text such as "12.34".
local function cents(text)
  return floor(text * 100 + 0.5)
end
M.cents = cents

-- Returns the quantity in stock after an order of `ordered` pieces.
function M.quantity_left(in_stock, ordered)
  if in_stock >= ordered + 10 then
    return in_stock - ordered
  end
  return in_stock - ordered + 91
end

-- A terminal shows the results of the next two functions.  Nothing is shown here, but to compute
-- them is a part of the transaction.

-- Returns the amount of an order with taxes and discount.
function M.total(amount, discount, w_tax, d_tax)
  return amount * 0.01 * (1 - discount) * (1 + w_tax + d_tax)
end

-- Returns "B" for a line whose item and stock are originals, else "G".
function M.brand(i_data, s_data)
  return i_data:find("ORIGINAL", 1, true) and s_data:find("ORIGINAL", 1, true) and "B" or "G"
end

-- Returns the first column of row ceil(k / 2) of the k rows of customers with one last name.
local function middle_of(st, rs)
  local n = st.dry and 1 or rs.nrows
  for _ = 2, floor((n + 1) / 2) do
    rs:fetch()
  end
  return st:must(rs, 1)
end

-- The data of a customer with bad credit begin with this text after a payment.
function M.payment_data(t, c)
  return ("%d %d %d %d %d %d.%02d"):format(c, t.c_d, t.c_w, t.d, t.w, floor(t.cents / 100),
                                           t.cents % 100)
end

-- Statements that several modes use -----------------------------------------------------------

-- Prepares what is the same in the modes plain and batched.
function M.prepare_common(p)
  return {
    begin = p:prepare("begin", "", "{begin}"),
    commit = p:prepare("commit", "", "COMMIT"),
    rollback = p:prepare("rollback", "", "ROLLBACK"),
    order_insert = p:prepare("order_insert", "iiiiii",
      "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, " ..
      "o_all_local) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, NULL, ?, ?)"),
    open_insert = p:prepare("open_insert", "iii",
      "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"),
    history_insert = p:prepare("history_insert", "iiiiiih",
      "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, " ..
      "h_data) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ? * 0.01, ?)"),
    customer_by_name = p:prepare("customer_by_name", "iin",
      "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"),
  }
end

M.DISTRICT_NEXT = "UPDATE district SET d_next_o_id = d_next_o_id + 1 " ..
                  "WHERE d_w_id = ? AND d_id = ?"

-- Prepares Order-Status, which is the same in both modes.
function M.prepare_order_status(s, p)
  s.begin_read = p:prepare("begin_read", "", "{begin_read}")
  s.status_by_id = p:prepare("status_by_id", "iii",
    "SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer " ..
    "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?")
  s.status_by_name = p:prepare("status_by_name", "iin",
    "SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer " ..
    "WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first")
  s.last_order = p:prepare("last_order", "iii",
    "SELECT o_id, o_entry_d, o_carrier_id FROM orders " ..
    "WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1")
  s.order_lines = p:prepare("order_lines", "iii",
    "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line " ..
    "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?")
end

-- Returns the transaction Order-Status.
function M.order_status(s)
  return function(t)
    s.begin_read:run()
    local c
    if t.by_name then
      c = middle_of(s.status_by_name, s.status_by_name:run(t.w, t.d, t.c_last))
    else
      c = s.status_by_id:must(s.status_by_id:run(t.w, t.d, t.c), 1)
    end
    local o_id = s.last_order:must(s.last_order:run(t.w, t.d, tonumber(c)), 1)
    s.order_lines:skip(s.order_lines:run(t.w, t.d, tonumber(o_id)))
    s.commit:run()
  end
end

-- Returns the number of the customer who pays.
function M.payer(s, t)
  if t.by_name then
    return tonumber((middle_of(s.customer_by_name,
                               s.customer_by_name:run(t.c_w, t.c_d, t.c_last))))
  end
  return t.c
end

-- The transactions ----------------------------------------------------------------------------

-- Prepares the statements of New-Order.  A row of stock has a text for each district, so that there
-- is a statement for each.
local function prepare_new_order(s, p)
  s.customer_tax = p:prepare("customer_tax", "iii",
    "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id " ..
    "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?")
  s.district = p:prepare("district", "ii",
    "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ?{lock}")
  s.district_next = p:prepare("district_next", "ii", M.DISTRICT_NEXT)
  s.item = p:prepare("item", "i", "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?")
  s.stock = {}
  for d = 1, 10 do
    s.stock[d] = p:prepare("stock", "ii",
      ("SELECT s_quantity, s_dist_%02d, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?{lock}")
      :format(d))
  end
  s.stock_update = p:prepare("stock_update", "iiiii",
    "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, " ..
    "s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?")
  s.line_insert = p:prepare("line_insert", "iiiiiiiih",
    "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, " ..
    "ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) " ..
    "VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ? * 0.01, ?)")
end

-- Does the work of one line; returns its amount in cents, or nil for an unused item.
local function order_line(s, t, line, o_id)
  local i_id, supply, quantity = t.item[line], t.supply[line], t.quantity[line]
  if i_id > ITEMS then
    s.item:find(s.item:run(i_id))
    return nil
  end
  local price, i_data = s.item:must(s.item:run(i_id), 1, 3)
  local stock = s.stock[t.d]
  local in_stock, dist, s_data = stock:must(stock:run(supply, i_id), 1, 2, 3)
  s.stock_update:run(M.quantity_left(tonumber(in_stock), quantity), quantity,
                     supply == t.w and 0 or 1, supply, i_id)
  local amount = quantity * cents(price)
  M.brand(i_data, s_data)
  s.line_insert:run(o_id, t.d, t.w, line, i_id, supply, quantity, amount, dist)
  return amount
end

-- Returns the transaction.  An unused item ends it with a rollback, after the work of all other
-- lines.
local function new_order(s)
  return function(t)
    s.begin:run()
    local next_id, d_tax = s.district:must(s.district:run(t.w, t.d), 1, 2)
    local o_id, amount = tonumber(next_id), 0
    s.district_next:run(t.w, t.d)
    local discount, w_tax = s.customer_tax:must(s.customer_tax:run(t.w, t.d, t.c), 1, 4)
    s.order_insert:run(o_id, t.d, t.w, t.c, t.n, t.all_local)
    s.open_insert:run(o_id, t.d, t.w)
    for k = 1, t.n do
      local line_amount = order_line(s, t, t.order[k], o_id)
      if not line_amount then
        s.rollback:run()
        return "rolled back"
      end
      amount = amount + line_amount
    end
    M.total(amount, discount, w_tax, d_tax)
    s.commit:run()
  end
end

-- Prepares the statements of Payment.  Only those for customers with bad credit read and write
-- c_data.
local function prepare_payment(s, p)
  s.warehouse_pay = p:prepare("warehouse_pay", "ii",
    "UPDATE warehouse SET w_ytd = w_ytd + ? * 0.01 WHERE w_id = ?")
  s.warehouse = p:prepare("warehouse", "i",
    "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?")
  s.district_pay = p:prepare("district_pay", "iii",
    "UPDATE district SET d_ytd = d_ytd + ? * 0.01 WHERE d_w_id = ? AND d_id = ?")
  s.district_name = p:prepare("district_name", "ii",
    "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district " ..
    "WHERE d_w_id = ? AND d_id = ?")
  s.customer = p:prepare("customer", "iii",
    "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, " ..
    "c_since, c_credit, c_credit_lim, c_discount, c_balance FROM customer " ..
    "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{lock}")
  s.customer_data = p:prepare("customer_data", "iii",
    "SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{lock}")
  s.customer_pay = p:prepare("customer_pay", "iiiii",
    "UPDATE customer SET c_balance = c_balance - ? * 0.01, " ..
    "c_ytd_payment = c_ytd_payment + ? * 0.01, c_payment_cnt = c_payment_cnt + 1 " ..
    "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?")
  s.customer_pay_bad = p:prepare("customer_pay_bad", "iiciii",
    "UPDATE customer SET c_balance = c_balance - ? * 0.01, " ..
    "c_ytd_payment = c_ytd_payment + ? * 0.01, c_payment_cnt = c_payment_cnt + 1, c_data = ? " ..
    "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?")
end

-- Returns the transaction.  For a customer with bad credit, the payment is put before c_data, and
-- the first 500 characters of both are kept.
local function payment(s)
  return function(t)
    s.begin:run()
    s.warehouse_pay:run(t.cents, t.w)
    s.district_pay:run(t.cents, t.w, t.d)
    local w_name = s.warehouse:must(s.warehouse:run(t.w), 1)
    local h_data = w_name .. "    " .. s.district_name:must(s.district_name:run(t.w, t.d), 1)
    local c = M.payer(s, t)
    if s.customer:must(s.customer:run(t.c_w, t.c_d, c), 11) == "BC" then
      local old_data = s.customer_data:must(s.customer_data:run(t.c_w, t.c_d, c), 1)
      local c_data = M.payment_data(t, c) .. old_data
      s.customer_pay_bad:run(t.cents, t.cents, c_data:sub(1, 500), t.c_w, t.c_d, c)
    else
      s.customer_pay:run(t.cents, t.cents, t.c_w, t.c_d, c)
    end
    s.history_insert:run(c, t.c_d, t.c_w, t.d, t.w, t.cents, h_data)
    s.commit:run()
  end
end

-- Prepares the statements by which one order of a district is delivered.
local function prepare_delivery(s, p)
  s.open_first = p:prepare("open_first", "ii",
    "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? " ..
    "ORDER BY no_o_id LIMIT 1{lock}")
  s.open_delete = p:prepare("open_delete", "iii",
    "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?")
  s.order_carrier = p:prepare("order_carrier", "iiii",
    "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?")
  s.order_customer = p:prepare("order_customer", "iii",
    "SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?")
  s.lines_deliver = p:prepare("lines_deliver", "iii",
    "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP " ..
    "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?")
  s.lines_sum = p:prepare("lines_sum", "iii",
    "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?")
  s.customer_deliver = M.prepare_customer_deliver(p)
end

-- Returns the statement that adds an amount in cents to the balance of a customer.
function M.prepare_customer_deliver(p)
  return p:prepare("customer_deliver", "iiii",
    "UPDATE customer SET c_balance = c_balance + ? * 0.01, c_delivery_cnt = c_delivery_cnt + 1 " ..
    "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?")
end

-- Rows that a transaction has changed are read after the change: MySQL would show those of orders
-- that are newer than its first read as missing.
local function deliver_district(s, t, d)
  local found, first_id = s.open_first:find(s.open_first:run(t.w, d), 1)
  if not found then
    return 1
  end
  local o_id = tonumber(first_id)
  s.open_delete:run(t.w, d, o_id)
  s.order_carrier:run(t.carrier, t.w, d, o_id)
  local c = s.order_customer:must(s.order_customer:run(t.w, d, o_id), 1)
  s.lines_deliver:run(t.w, d, o_id)
  local sum = s.lines_sum:must(s.lines_sum:run(t.w, d, o_id), 1)
  s.customer_deliver:run(cents(sum), t.w, d, tonumber(c))
  return 0
end

-- Returns the transaction, which returns how many districts it has skipped.
local function delivery(s)
  return function(t)
    local skipped = 0
    s.begin:run()
    for d = 1, 10 do
      skipped = skipped + deliver_district(s, t, d)
    end
    s.commit:run()
    return skipped
  end
end

local function prepare_stock_level(s, p)
  s.district_orders = p:prepare("district_orders", "ii",
    "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?")
  s.stock_low = p:prepare("stock_low", "iiiiii",
    "SELECT COUNT(DISTINCT s_i_id) FROM order_line " ..
    "JOIN stock ON s_w_id = ? AND s_i_id = ol_i_id " ..
    "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND s_quantity < ?")
end

-- Returns the transaction, which counts the items of a district's last 20 orders that are low in
-- stock.
local function stock_level(s)
  return function(t)
    s.begin_read:run()
    local next_id = tonumber((s.district_orders:must(s.district_orders:run(t.w, t.d), 1)))
    s.stock_low:must(s.stock_low:run(t.w, t.w, t.d, next_id, next_id - 20, t.threshold))
    s.commit:run()
  end
end

-- Prepares all statements; returns the transactions, by kind.  Each is a function of its inputs.
-- new_order returns "rolled back" or nothing; delivery returns how many districts it has skipped.
function M.new(p)
  local s = M.prepare_common(p)
  M.prepare_order_status(s, p)
  prepare_new_order(s, p)
  prepare_payment(s, p)
  prepare_delivery(s, p)
  prepare_stock_level(s, p)
  return {new_order = new_order(s), payment = payment(s), order_status = M.order_status(s),
          delivery = delivery(s), stock_level = stock_level(s)}
end

return M
