-- SPDX-License-Identifier: GPL-2.0-or-later
-- The order-entry mix as scripts for sysbench 1.0 commonly have it: each statement is a text that
-- the script formats, row by row, with the statements of bench's mode plain.  It runs on the tables
-- of `bench order_entry prepare`.  Of 100 events of a thread, 45 are new orders.

sysbench.cmdline.options = {warehouses = {"Warehouses of the tables", 2}}

local floor, bor, uniform = math.floor, require("bit").bor, sysbench.rand.uniform
local con, deck, seen, warehouses

local function nurand(a, from, to)
  return (bor(uniform(0, a), uniform(from, to)) + 7) % (to - from + 1) + from
end

local SYLLABLES = {
  [0] = "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"
}

local function last_name()
  local n = nurand(255, 0, 999)
  return SYLLABLES[floor(n / 100)] .. SYLLABLES[floor(n / 10) % 10] .. SYLLABLES[n % 10]
end

local function run(text, ...)
  con:query(text:format(...))
end

local function row(text, ...)
  return con:query_row(text:format(...))
end

-- Returns the first column of the middle one of the rows.
local function middle(text, ...)
  local result = con:query(text:format(...))
  local found = {}
  for i = 1, result.nrows do
    found[i] = result:fetch_row()[1]
  end
  return found[floor((#found + 1) / 2)]
end

local function customer_of(w, d)
  local by_name = uniform(1, 100) <= 60 and middle([[SELECT c_id FROM customer
    WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first]], w, d, last_name())
  return by_name or nurand(1023, 1, 3000)
end

local function order_line(o_id, w, d, number)
  local i_id, quantity = nurand(8191, 1, 100000), uniform(1, 10)
  local price = row("SELECT i_price, i_name, i_data FROM item WHERE i_id = %d", i_id)
  local in_stock, dist = row([[SELECT s_quantity, s_dist_%02d, s_data FROM stock
    WHERE s_w_id = %d AND s_i_id = %d FOR UPDATE]], d, w, i_id)
  local left = in_stock - quantity
  run([[UPDATE stock SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1,
    s_remote_cnt = s_remote_cnt + %d WHERE s_w_id = %d AND s_i_id = %d]],
    left >= 10 and left or left + 91, quantity, 0, w, i_id)
  run([[INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
    ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    VALUES (%d, %d, %d, %d, %d, %d, NULL, %d, %.2f, '%s')]],
    o_id, d, w, number, i_id, w, quantity, quantity * price, dist)
end

local function new_order(w, d)
  local c, n = nurand(1023, 1, 3000), uniform(5, 15)
  row([[SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id
    WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]], w, d, c)
  local o_id = row([[SELECT d_next_o_id, d_tax FROM district
    WHERE d_w_id = %d AND d_id = %d FOR UPDATE]], w, d)
  run("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = %d AND d_id = %d", w, d)
  run([[INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt,
    o_all_local) VALUES (%d, %d, %d, %d, CURRENT_TIMESTAMP, NULL, %d, 1)]], o_id, d, w, c, n)
  run("INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (%d, %d, %d)", o_id, d, w)
  for number = 1, n do
    order_line(o_id, w, d, number)
  end
end

local function payment(w, d)
  local amount = uniform(100, 500000) / 100
  run("UPDATE warehouse SET w_ytd = w_ytd + %.2f WHERE w_id = %d", amount, w)
  local w_name = row([[SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip
    FROM warehouse WHERE w_id = %d]], w)
  run("UPDATE district SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", amount, w, d)
  local d_name = row([[SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    FROM district WHERE d_w_id = %d AND d_id = %d]], w, d)
  local c, data = customer_of(w, d), ""
  local credit = select(11, row([[SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
    c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance FROM customer
    WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d FOR UPDATE]], w, d, c))
  if credit == "BC" then
    local old = row([[SELECT c_data FROM customer
      WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]], w, d, c)
    local new = ("%d %d %d %d %d %.2f"):format(c, d, w, d, w, amount) .. old
    data = (", c_data = '%s'"):format(new:sub(1, 500))
  end
  run([[UPDATE customer SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f,
    c_payment_cnt = c_payment_cnt + 1%s WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]],
    amount, amount, data, w, d, c)
  run([[INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (%d, %d, %d, %d, %d, CURRENT_TIMESTAMP, %.2f, '%s')]],
    c, d, w, d, w, amount, w_name .. "    " .. d_name)
end

local function order_status(w, d)
  local c = customer_of(w, d)
  row([[SELECT c_balance, c_first, c_middle, c_last FROM customer
    WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]], w, d, c)
  local o_id = row([[SELECT o_id, o_entry_d, o_carrier_id FROM orders
    WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d ORDER BY o_id DESC LIMIT 1]], w, d, c)
  middle([[SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d]], w, d, o_id)
end

local function deliver(w, d, o_id)
  run("DELETE FROM new_order WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %d", w, d, o_id)
  run("UPDATE orders SET o_carrier_id = %d WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d",
    uniform(1, 10), w, d, o_id)
  local c = row([[SELECT o_c_id FROM orders
    WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d]], w, d, o_id)
  run([[UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
    WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d]], w, d, o_id)
  local sum = row([[SELECT SUM(ol_amount) FROM order_line
    WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d]], w, d, o_id)
  run([[UPDATE customer SET c_balance = c_balance + %.2f, c_delivery_cnt = c_delivery_cnt + 1
    WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]], sum, w, d, c)
end

local function delivery(w)
  for d = 1, 10 do
    local o_id = row([[SELECT no_o_id FROM new_order WHERE no_w_id = %d AND no_d_id = %d
      ORDER BY no_o_id LIMIT 1 FOR UPDATE]], w, d)
    if o_id then
      deliver(w, d, o_id)
    end
  end
end

local function stock_level(w, d)
  local next_id = row("SELECT d_next_o_id FROM district WHERE d_w_id = %d AND d_id = %d", w, d)
  row([[SELECT COUNT(DISTINCT s_i_id) FROM order_line
    JOIN stock ON s_w_id = %d AND s_i_id = ol_i_id WHERE ol_w_id = %d AND ol_d_id = %d
    AND ol_o_id < %d AND ol_o_id >= %d AND s_quantity < %d]],
    w, w, d, next_id, next_id - 20, uniform(10, 20))
end

local MIX = {{new_order, 45}, {payment, 43}, {order_status, 4}, {delivery, 4}, {stock_level, 4}}

function thread_init()
  con = sysbench.sql.driver():connect()
  warehouses = sysbench.opt.warehouses
  deck, seen = {}, 0
  for _, part in ipairs(MIX) do
    for _ = 1, part[2] do
      deck[#deck + 1] = part[1]
    end
  end
  for i = #deck, 2, -1 do
    local j = uniform(1, i)
    deck[i], deck[j] = deck[j], deck[i]
  end
end

function thread_done()
  con:disconnect()
end

function event()
  seen = seen % #deck + 1
  con:query("BEGIN")
  deck[seen](uniform(1, warehouses), uniform(1, 10))
  con:query("COMMIT")
end
