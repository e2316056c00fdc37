-- SPDX-License-Identifier: GPL-2.0-or-later
-- The mode batched: each transaction sends as few statements as its profile and the database allow.
-- It reads, changes and inserts the rows of all lines of an order at once.

local plain = require("order_entry.plain")
local cardinality = require("order_entry.cardinality")
local DISTRICTS, ITEMS = cardinality.DISTRICTS, cardinality.ITEMS
local concat, floor = table.concat, math.floor
local MOST_LINES = 15

local M = {}

-- Returns `text` so many times, separated by commas.
local function repeated(text, n)
  return (text .. ", "):rep(n - 1) .. text
end

local districts = {}
for d = 1, DISTRICTS do
  districts[d] = ("s_dist_%02d"):format(d)
end

-- Lines of an order ---------------------------------------------------------------------------

-- The rows of stock of an order.  A repeated item is one row, which changes by all of its lines.
local function new_work()
  return {n = 0, supply = {}, item = {}, quantity = {}, sum = {}, lines = {}, remote = {},
          row_of = {}, dist = {}, amount = {}, price = {}, i_data = {}, s_data = {},
          list = {}}
end

-- Finds the rows of stock for the lines of an order, in the order in which they are locked.  Where
-- several lines have the same row, places are left: their key is that of no row.
local function find_rows(work, t, n_lines)
  local n = 0
  for k = 1, n_lines do
    local line = t.order[k]
    local supply, item = t.supply[line], t.item[line]
    if n == 0 or work.supply[n] ~= supply or work.item[n] ~= item then
      n = n + 1
      work.supply[n], work.item[n] = supply, item
      work.quantity[n], work.sum[n], work.lines[n], work.remote[n] = nil, 0, 0, 0
    end
    work.row_of[line] = n
    work.sum[n] = work.sum[n] + t.quantity[line]
    work.lines[n] = work.lines[n] + 1
    work.remote[n] = work.remote[n] + (supply == t.w and 0 or 1)
  end
  for place = n + 1, n_lines do
    work.supply[place], work.item[place] = 0, 0
    work.quantity[place], work.sum[place], work.lines[place], work.remote[place] = 0, 0, 0, 0
  end
  work.n = n
end

-- Takes the rows of items, which come in any order.  A line without one has no price.
local function take_items(work, t, st, rs)
  for line = 1, t.n do
    work.price[line] = st.dry and t.item[line] <= ITEMS and 100 or nil
    work.i_data[line] = ""
  end
  repeat
    local found, id, price, data = st:next(rs, 1, 2, 4)
    for line = 1, found and t.n or 0 do
      if t.item[line] == tonumber(id) then
        work.price[line], work.i_data[line] = plain.cents(price), data
      end
    end
  until not found
end

-- Takes the rows of stock, which come in any order.
local function take_stock(work, st, rs)
  for k = 1, work.n do
    work.quantity[k] = st.dry and 50 or nil
    work.dist[k], work.s_data[k] = "", ""
  end
  repeat
    local found, w, i, quantity, data, dist = st:next(rs, 1, 2, 3, 4, 5)
    for k = 1, found and work.n or 0 do
      if work.supply[k] == tonumber(w) and work.item[k] == tonumber(i) then
        work.quantity[k], work.dist[k], work.s_data[k] = tonumber(quantity), dist, data
      end
    end
  until not found
end

-- Computes the amounts of the lines, and what they leave of each row of stock.
local function compute_lines(work, t, n_lines)
  for k = 1, n_lines do
    local line = t.order[k]
    local row = work.row_of[line]
    if not work.quantity[row] or not work.price[line] then
      error(("order_entry: a row of %s is missing; see bench order_entry check")
            :format(work.price[line] and "stock" or "item"), 0)
    end
    work.quantity[row] = plain.quantity_left(work.quantity[row], t.quantity[line])
    work.amount[line] = t.quantity[line] * work.price[line]
    plain.brand(work.i_data[line], work.s_data[row])
  end
end

-- Statements with lists of parameters: MySQL, SQLite -------------------------------------------

local list = {}

-- The text of the district's column, by driver.
local dist_text = {
  mysql = ("ELT(?, %s)"):format(concat(districts, ", ")),
  sqlite = "CASE d",
}
for d = 1, DISTRICTS do
  dist_text.sqlite = ("%s WHEN %d THEN %s"):format(dist_text.sqlite, d, districts[d])
end
dist_text.sqlite = dist_text.sqlite .. " END"
dist_text.null = dist_text.mysql

-- SQLite has no index for a list of rows, but for a join; it has no rows to lock in an order.
local function stocks_text(driver, n)
  local columns = "s_w_id, s_i_id, s_quantity, s_data, " .. dist_text[driver]
  if driver == "sqlite" then
    return ("WITH o (d) AS (VALUES (?)), k (w, i) AS (VALUES %s) SELECT %s FROM o CROSS JOIN k " ..
            "CROSS JOIN stock ON s_w_id = w AND s_i_id = i"):format(repeated("(?, ?)", n), columns)
  end
  return ("SELECT %s FROM stock WHERE (s_w_id, s_i_id) IN (%s) ORDER BY s_w_id, s_i_id{lock}")
         :format(columns, repeated("(?, ?)", n))
end

-- MySQL takes a parameter without a cast for a text, by which it finds no key.  It reads the list
-- first: a plan that begins with the table would read and lock all of it.
local function stock_update_text(driver, n)
  local set = "SET s_quantity = q, s_ytd = s_ytd + y, s_order_cnt = s_order_cnt + n, " ..
              "s_remote_cnt = s_remote_cnt + r"
  local row = "SELECT " .. ("CAST(? AS SIGNED) AS %s, "):rep(6):format("w", "i", "q", "y", "n", "r")
  local rows = (row:sub(1, -3) .. " UNION ALL "):rep(n):sub(1, -12)
  if driver == "sqlite" then
    return ("UPDATE stock %s FROM (%s) AS k WHERE s_w_id = w AND s_i_id = i"):format(set, rows)
  end
  return ("UPDATE (%s) AS k STRAIGHT_JOIN stock ON s_w_id = w AND s_i_id = i %s"):format(rows, set)
end

-- Prepares each statement for every number of lines, 5 to 15.  On stock and lines there is one for
-- 4 too: an order that is rolled back does the work of all lines but the last.
function list.prepare(s, p)
  s.items, s.stocks, s.stock_update, s.lines_insert = {}, {}, {}, {}
  for n = 5, MOST_LINES do
    s.items[n] = p:prepare("items", ("i"):rep(n),
      ("SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN (%s)")
      :format(repeated("?", n)))
  end
  for n = 4, MOST_LINES do
    s.stocks[n] = p:prepare("stocks", "i" .. ("ii"):rep(n), stocks_text(p.driver, n))
    s.stock_update[n] = p:prepare("stock_update", ("iiiiii"):rep(n),
                                  stock_update_text(p.driver, n))
    s.lines_insert[n] = p:prepare("lines_insert", ("iiiiiiiih"):rep(n),
      "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, " ..
      "ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) VALUES " ..
      repeated("(?, ?, ?, ?, ?, ?, NULL, ?, ? * 0.01, ?)", n))
  end
end

-- Reads the items of all lines, also the unused one.  Returns the statement and its result.
function list.items(s, t)
  local st = s.items[t.n]
  for line = 1, t.n do
    st.params[line]:set(t.item[line])
  end
  return st, st:execute()
end

-- Reads and locks the rows of stock.  Returns the statement and its result.  Places that are left
-- have the key of no row.
function list.stock(s, t, work, n_lines)
  local st = s.stocks[n_lines]
  st.params[1]:set(t.d)
  for k = 1, n_lines do
    st.params[2 * k]:set(work.supply[k])
    st.params[2 * k + 1]:set(work.item[k])
  end
  return st, st:execute()
end

-- Writes all rows of stock.  Places that are left change no row.
function list.update_stock(s, work, n_lines)
  local st = s.stock_update[n_lines]
  for k = 1, n_lines do
    st:set(6 * k - 5, work.supply[k], work.item[k], work.quantity[k])
    st:set(6 * k - 2, work.sum[k], work.lines[k], work.remote[k])
  end
  st:execute()
end

function list.insert_lines(s, t, work, n_lines, o_id)
  local st = s.lines_insert[n_lines]
  for line = 1, n_lines do
    st:set(9 * line - 8, o_id, t.d, t.w)
    st:set(9 * line - 5, line, t.item[line], t.supply[line])
    st:set(9 * line - 2, t.quantity[line], work.amount[line], work.dist[work.row_of[line]])
  end
  st:execute()
end

-- Statements with arrays: PostgreSQL -----------------------------------------------------------

local array = {}

-- Returns the text of an array of the first n elements.
local function array_of(of, n)
  return "{" .. concat(of, ",", 1, n) .. "}"
end

-- Prepares one statement of each kind, because an array can have any number of elements.
function array.prepare(s, p)
  s.items = p:prepare("items", "l",
    "SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id = ANY(?::int[])")
  s.stocks = p:prepare("stocks", "ill",
    ("SELECT s_w_id, s_i_id, s_quantity, s_data, (ARRAY[%s])[?] " ..
     "FROM unnest(?::int[], ?::int[]) AS k (w, i) JOIN stock ON s_w_id = k.w AND s_i_id = k.i " ..
     "ORDER BY s_w_id, s_i_id FOR UPDATE OF stock"):format(concat(districts, ", ")))
  s.stock_update = p:prepare("stock_update", "llllll",
    "UPDATE stock SET s_quantity = k.q, s_ytd = s_ytd + k.y, s_order_cnt = s_order_cnt + k.n, " ..
    "s_remote_cnt = s_remote_cnt + k.r FROM unnest(?::int[], ?::int[], ?::int[], ?::int[], " ..
    "?::int[], ?::int[]) AS k (w, i, q, y, n, r) WHERE s_w_id = k.w AND s_i_id = k.i")
  s.lines_insert = p:prepare("lines_insert", "iiilllll",
    "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, " ..
    "ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) SELECT ?::int, ?::smallint, ?::int, " ..
    "k.number, k.i, k.w, NULL, k.q, k.a * 0.01, k.dist FROM unnest(?::int[], ?::int[], " ..
    "?::int[], ?::int[], ?::text[]) WITH ORDINALITY AS k (i, w, q, a, dist, number)")
end

-- This function and those below do what those of `list` do.
function array.items(s, t)
  return s.items, s.items:run(array_of(t.item, t.n))
end

function array.stock(s, t, work)
  return s.stocks, s.stocks:run(t.d, array_of(work.supply, work.n), array_of(work.item, work.n))
end

function array.update_stock(s, work)
  local n = work.n
  s.stock_update:run(array_of(work.supply, n), array_of(work.item, n), array_of(work.quantity, n),
                     array_of(work.sum, n), array_of(work.lines, n), array_of(work.remote, n))
end

function array.insert_lines(s, t, work, n, o_id)
  for line = 1, n do
    work.list[line] = work.dist[work.row_of[line]]
  end
  s.lines_insert:run(o_id, t.d, t.w, array_of(t.item, n), array_of(t.supply, n),
                     array_of(t.quantity, n), array_of(work.amount, n), array_of(work.list, n))
end

-- New-Order -----------------------------------------------------------------------------------

-- What an order takes over from its district, after the district's change, its warehouse and its
-- customer.
local ORDER_DATA = "SELECT d_next_o_id - 1, d_tax, w_tax, c_discount, c_last, c_credit " ..
  "FROM district JOIN warehouse ON w_id = d_w_id " ..
  "JOIN customer ON c_w_id = d_w_id AND c_d_id = d_id WHERE "

-- Returns a function that opens an order: it changes the district and inserts the order's own rows.
-- It returns the number of the order and, as texts, the taxes of district and warehouse and the
-- customer's discount.
local function open_by_row(s, p)
  s.district_next = p:prepare("district_next", "ii", plain.DISTRICT_NEXT)
  s.order_data = p:prepare("order_data", "iii",
                           ORDER_DATA .. "d_w_id = ? AND d_id = ? AND c_id = ?")
  return function(t)
    s.district_next:run(t.w, t.d)
    local next_id, d_tax, w_tax, discount =
      s.order_data:must(s.order_data:run(t.w, t.d, t.c), 1, 2, 3, 4)
    local o_id = tonumber(next_id)
    s.order_insert:run(o_id, t.d, t.w, t.c, t.n, t.all_local)
    s.open_insert:run(o_id, t.d, t.w)
    return o_id, d_tax, w_tax, discount
  end
end

-- Does the same in one statement: PostgreSQL.  "district" is there the row that has been changed.
local function open_at_once(s, p)
  s.order_open = p:prepare("order_open", "iiiiii",
    ("WITH district AS (%s RETURNING *), " ..
     "made AS (INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, " ..
     "o_ol_cnt, o_all_local) SELECT d_next_o_id - 1, d_id, d_w_id, ?::int, CURRENT_TIMESTAMP, " ..
     "NULL, ?::int, ?::int FROM district), " ..
     "opened AS (INSERT INTO new_order (no_o_id, no_d_id, no_w_id) " ..
     "SELECT d_next_o_id - 1, d_id, d_w_id FROM district) %s c_id = ?")
    :format(plain.DISTRICT_NEXT, ORDER_DATA))
  return function(t)
    local next_id, d_tax, w_tax, discount =
      s.order_open:must(s.order_open:run(t.w, t.d, t.c, t.n, t.all_local, t.c), 1, 2, 3, 4)
    return tonumber(next_id), d_tax, w_tax, discount
  end
end

-- The unused item is missed when the other lines have been done.
local function new_order(s, open, of)
  local work = new_work()
  return function(t)
    local n_lines, amount = t.rollback and t.n - 1 or t.n, 0
    s.begin:run()
    local o_id, d_tax, w_tax, discount = open(t)
    find_rows(work, t, n_lines)
    take_items(work, t, of.items(s, t))
    take_stock(work, of.stock(s, t, work, n_lines))
    compute_lines(work, t, n_lines)
    of.update_stock(s, work, n_lines)
    of.insert_lines(s, t, work, n_lines, o_id)
    if n_lines < t.n and not work.price[t.n] then
      s.rollback:run()
      return "rolled back"
    end
    for line = 1, n_lines do
      amount = amount + work.amount[line]
    end
    plain.total(amount, discount, w_tax, d_tax)
    s.commit:run()
  end
end

-- Payment -------------------------------------------------------------------------------------

local warehouse_columns = "w_name, w_street_1, w_street_2, w_city, w_state, w_zip"
local district_columns = "d_name, d_street_1, d_street_2, d_city, d_state, d_zip"
local customer_columns = "c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, " ..
  "c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance"

-- The changes of the rows that a payment has.
local WAREHOUSE_PAY = "UPDATE warehouse SET w_ytd = w_ytd + ? * 0.01 WHERE w_id = ?"
local DISTRICT_PAY = "UPDATE district SET d_ytd = d_ytd + ? * 0.01 WHERE d_w_id = ? AND d_id = ?"
local CUSTOMER_PAY =
  "UPDATE customer SET c_balance = c_balance - ? * 0.01, " ..
  "c_ytd_payment = c_ytd_payment + ? * 0.01, c_payment_cnt = c_payment_cnt + 1, " ..
  "c_data = CASE WHEN c_credit = 'BC' THEN {left} ELSE c_data END " ..
  "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"

-- Changes and reads each row in one statement: SQLite.
local function payment_by_row(s, p)
  s.warehouse_take = p:prepare("warehouse_take", "ii",
                               WAREHOUSE_PAY .. " RETURNING " .. warehouse_columns)
  s.district_take = p:prepare("district_take", "iii",
                              DISTRICT_PAY .. " RETURNING " .. district_columns)
  s.customer_take = p:prepare("customer_take", "iipiii",
                              CUSTOMER_PAY .. " RETURNING " .. customer_columns)
  return function(t)
    s.begin:run()
    local w_name = s.warehouse_take:must(s.warehouse_take:run(t.cents, t.w), 1)
    local d_name = s.district_take:must(s.district_take:run(t.cents, t.w, t.d), 1)
    local c = plain.payer(s, t)
    s.customer_take:must(s.customer_take:run(t.cents, t.cents, plain.payment_data(t, c), t.c_w,
                                             t.c_d, c))
    s.history_insert:run(c, t.c_d, t.c_w, t.d, t.w, t.cents, w_name .. "    " .. d_name)
    s.commit:run()
  end
end

-- Changes and reads all rows in one statement: PostgreSQL.  Each part changes a row by its key
-- alone, so that PostgreSQL joins nothing again if it has waited for that row.
local function payment_in_one(s, p)
  s.pay = p:prepare("pay", "iiiiiiipiiii",
    ("WITH w AS (%s RETURNING *), d AS (%s RETURNING *), c AS (%s RETURNING *), " ..
     "h AS (INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, " ..
     "h_data) SELECT c_id, c_d_id, c_w_id, d_id, w_id, CURRENT_TIMESTAMP, ? * 0.01, " ..
     "w_name || '    ' || d_name FROM w CROSS JOIN d CROSS JOIN c) " ..
     "SELECT %s, %s, %s FROM w CROSS JOIN d CROSS JOIN c")
    :format(WAREHOUSE_PAY, DISTRICT_PAY, CUSTOMER_PAY, warehouse_columns, district_columns,
            customer_columns))
  return function(t)
    s.begin:run()
    local c = plain.payer(s, t)
    s.pay:set(1, t.cents, t.w, t.cents)
    s.pay:set(4, t.w, t.d, t.cents)
    s.pay:set(7, t.cents, plain.payment_data(t, c), t.c_w)
    s.pay:set(10, t.c_d, c, t.cents)
    s.pay:must(s.pay:execute())
    s.commit:run()
  end
end

-- Changes rows and then reads all of them in one statement: MySQL.  It shows rows that the
-- transaction has changed as they are, and others as they were at its first read.
local function payment_at_once(s, p)
  s.customer_pay = p:prepare("customer_pay", "iipiii", CUSTOMER_PAY)
  s.home_pay = p:prepare("home_pay", "iiii",
    "UPDATE warehouse JOIN district ON d_w_id = w_id SET w_ytd = w_ytd + ? * 0.01, " ..
    "d_ytd = d_ytd + ? * 0.01 WHERE w_id = ? AND d_id = ?")
  s.payment_data = p:prepare("payment_data", "iiiii",
    ("SELECT %s, %s, %s FROM warehouse JOIN district ON d_w_id = w_id CROSS JOIN customer " ..
     "WHERE w_id = ? AND d_id = ? AND c_w_id = ? AND c_d_id = ? AND c_id = ?")
    :format(warehouse_columns, district_columns, customer_columns))
  return function(t)
    s.begin:run()
    s.home_pay:run(t.cents, t.cents, t.w, t.d)
    local c = plain.payer(s, t)
    s.customer_pay:run(t.cents, t.cents, plain.payment_data(t, c), t.c_w, t.c_d, c)
    local w_name, d_name =
      s.payment_data:must(s.payment_data:run(t.w, t.d, t.c_w, t.c_d, c), 1, 7)
    s.history_insert:run(c, t.c_d, t.c_w, t.d, t.w, t.cents, w_name .. "    " .. d_name)
    s.commit:run()
  end
end

-- Delivery, district by district: SQLite ---------------------------------------------------------

-- Prepares statements that change rows and return what the next one needs of them.
local function prepare_takes_of_delivery(s, p)
  s.open_take = p:prepare("open_take", "iiii",
    "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = " ..
    "(SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? " ..
    "ORDER BY no_o_id LIMIT 1) RETURNING no_o_id")
  s.order_take = p:prepare("order_take", "iiii",
    "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? " ..
    "RETURNING o_c_id")
  s.lines_take = p:prepare("lines_take", "iii",
    "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP " ..
    "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ? RETURNING ol_amount")
  s.customer_deliver = plain.prepare_customer_deliver(p)
end

-- Delivers the first open order of a district.  Returns how many districts are skipped: 1 if there
-- is no open order, else 0.
local function deliver_district(s, t, d)
  local is_open, first_id = s.open_take:find(s.open_take:run(t.w, d, t.w, d), 1)
  if not is_open then
    return 1
  end
  local o_id, sum = tonumber(first_id), 0
  local c = s.order_take:must(s.order_take:run(t.carrier, t.w, d, o_id), 1)
  local rs = s.lines_take:run(t.w, d, o_id)
  repeat
    local found, amount = s.lines_take:next(rs, 1)
    sum = sum + (found and plain.cents(amount) or 0)
  until not found
  s.customer_deliver:run(sum, t.w, d, tonumber(c))
  return 0
end

-- Prepares the delivery.  Returns the transaction, which returns how many districts it has skipped.
local function delivery_by_district(s, p)
  prepare_takes_of_delivery(s, p)
  return function(t)
    local skipped = 0
    s.begin:run()
    for d = 1, DISTRICTS do
      skipped = skipped + deliver_district(s, t, d)
    end
    s.commit:run()
    return skipped
  end
end

-- Delivery, all districts in two statements: PostgreSQL ------------------------------------------

-- The part `open` chooses the orders once, whatever the plan: PostgreSQL computes what WITH names a
-- single time if it locks rows.  Another delivery may hold the first open order of a district: this
-- one waits and then finds the next.
local DELIVER =
  "WITH open AS (SELECT w, d, o FROM (SELECT ?::int AS w) AS t " ..
  "CROSS JOIN generate_series(1, " .. DISTRICTS .. ") AS d " ..
  "CROSS JOIN LATERAL (SELECT no_o_id AS o FROM new_order WHERE no_w_id = w AND no_d_id = d " ..
  "ORDER BY no_o_id LIMIT 1 FOR UPDATE) AS first), " ..
  "gone AS (DELETE FROM new_order USING open " ..
  "WHERE no_w_id = w AND no_d_id = d AND no_o_id = o), " ..
  "sent AS (UPDATE orders SET o_carrier_id = ? FROM open " ..
  "WHERE o_w_id = w AND o_d_id = d AND o_id = o RETURNING w, d, o_c_id AS c), " ..
  "lines AS (UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP FROM open " ..
  "WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o RETURNING d, ol_amount) " ..
  "SELECT d, c, s FROM open LEFT JOIN sent USING (d) " ..
  "LEFT JOIN (SELECT d, SUM(ol_amount) AS s FROM lines GROUP BY d) AS l USING (d)"

-- The customers have a statement of their own: a payment may change one of them meanwhile, and
-- PostgreSQL then computes again what the statement joins with that row.  PostgreSQL 18.0 refuses
-- that for changes in WITH.
local CUSTOMERS_DELIVER =
  "UPDATE customer SET c_balance = c_balance + k.s, c_delivery_cnt = c_delivery_cnt + 1 " ..
  "FROM unnest(?::int[], ?::int[], ?::numeric[]) AS k (d, c, s) " ..
  "WHERE c_w_id = ? AND c_d_id = k.d AND c_id = k.c"

-- Prepares the delivery as two statements: one delivers the orders and returns their amounts, and
-- one adds these to the balances of customers.  Returns the transaction, as delivery_by_district.
local function delivery_in_two(s, p)
  local ds, cs, sums = {}, {}, {}
  s.deliver = p:prepare("deliver", "ii", DELIVER)
  s.customers_deliver = p:prepare("customers_deliver", "llli", CUSTOMERS_DELIVER)
  return function(t)
    s.begin:run()
    local rs, n = s.deliver:run(t.w, t.carrier), 0
    repeat
      local found, d, c, sum = s.deliver:next(rs, 1, 2, 3)
      if found then
        n = n + 1
        ds[n], cs[n], sums[n] = d, c, sum
        if not (c and sum) then
          error("order_entry: an open order has no row or no lines; see bench order_entry check",
                0)
        end
      end
    until not found
    if n > 0 then
      s.customers_deliver:run(array_of(ds, n), array_of(cs, n), array_of(sums, n), t.w)
    end
    s.commit:run()
    return DISTRICTS - n
  end
end

-- Delivery, all districts at once: MySQL ----------------------------------------------------------

-- Prepares statements that read or change the orders of all districts at once.  Those that change
-- rows have a key for each district (execute_for).
local function prepare_sets_of_delivery(s, p)
  local keys, form = ("(%s)"):format(repeated("(?, ?, ?)", DISTRICTS)), ("iii"):rep(DISTRICTS)
  local first = {}
  for d = 1, DISTRICTS do
    first[d] = ("(SELECT no_d_id, no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = %d " ..
                "ORDER BY no_o_id LIMIT 1{lock})"):format(d)
  end
  s.open_first = p:prepare("open_first", ("i"):rep(DISTRICTS), concat(first, " UNION ALL "))
  s.open_delete = p:prepare("open_delete", form,
    "DELETE FROM new_order WHERE (no_w_id, no_d_id, no_o_id) IN " .. keys)
  s.order_carrier = p:prepare("order_carrier", "i" .. form,
    "UPDATE orders SET o_carrier_id = ? WHERE (o_w_id, o_d_id, o_id) IN " .. keys)
  s.lines_deliver = p:prepare("lines_deliver", form,
    "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP " ..
    "WHERE (ol_w_id, ol_d_id, ol_o_id) IN " .. keys)
  -- The sums are those of the rows as they are: a statement that changes rows reads no old ones.
  s.customer_deliver = p:prepare("customer_deliver", form,
    "UPDATE (SELECT o_w_id AS w, o_d_id AS d, o_c_id AS c, SUM(ol_amount) AS s FROM orders " ..
    "STRAIGHT_JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id " ..
    "WHERE (o_w_id, o_d_id, o_id) IN " .. keys .. " GROUP BY o_w_id, o_d_id, o_c_id) AS k " ..
    "STRAIGHT_JOIN customer ON c_w_id = w AND c_d_id = d AND c_id = c " ..
    "SET c_balance = c_balance + s, c_delivery_cnt = c_delivery_cnt + 1")
end

-- Reads the open orders of a result: their districts and numbers.  Returns how many there are;
-- without a server each district has one.
local function read_open(open, st, rs)
  local n = 0
  for d = 1, st.dry and DISTRICTS or 0 do
    n, open.d[d], open.o[d] = d, d, 1
  end
  repeat
    local found, d, o = st:next(rs, 1, 2)
    if found then
      n = n + 1
      open.d[n], open.o[n] = tonumber(d), tonumber(o)
    end
  until not found
  return n
end

-- Executes a statement with the keys of n orders, which begin at parameter `first`.  The last one
-- fills places that are not needed.
local function execute_for(st, first, w, open, n)
  for place = 1, DISTRICTS do
    local k = place < n and place or n
    st:set(first + 3 * (place - 1), w, open.d[k], open.o[k])
  end
  st:execute()
end

-- Prepares the delivery with these statements.  Returns the transaction, as delivery_by_district.
local function delivery_at_once(s, p)
  prepare_sets_of_delivery(s, p)
  local open = {d = {}, o = {}}
  return function(t)
    s.begin:run()
    for d = 1, DISTRICTS do
      s.open_first.params[d]:set(t.w)
    end
    local n = read_open(open, s.open_first, s.open_first:execute())
    if n > 0 then
      s.order_carrier.params[1]:set(t.carrier)
      execute_for(s.open_delete, 1, t.w, open, n)
      execute_for(s.order_carrier, 2, t.w, open, n)
      execute_for(s.lines_deliver, 1, t.w, open, n)
      execute_for(s.customer_deliver, 1, t.w, open, n)
    end
    s.commit:run()
    return DISTRICTS - n
  end
end

-- Stock-Level ---------------------------------------------------------------------------------

local function prepare_stock_level(s, p)
  s.stock_low = p:prepare("stock_low", "iiii",
    "SELECT COUNT(DISTINCT s_i_id) FROM district " ..
    "JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id < d_next_o_id " ..
    "AND ol_o_id >= d_next_o_id - 20 JOIN stock ON s_w_id = ? AND s_i_id = ol_i_id " ..
    "WHERE d_w_id = ? AND d_id = ? AND s_quantity < ?")
end

local function stock_level(s)
  return function(t)
    s.begin_read:run()
    s.stock_low:must(s.stock_low:run(t.w, t.w, t.d, t.threshold))
    s.commit:run()
  end
end

local payments = {mysql = payment_at_once, pgsql = payment_in_one, sqlite = payment_by_row}
local deliveries = {mysql = delivery_at_once, pgsql = delivery_in_two,
                    sqlite = delivery_by_district}
payments.null, deliveries.null = payments.mysql, deliveries.mysql

-- Prepares all statements; returns the transactions, as plain.new does.
function M.new(p)
  local s = plain.prepare_common(p)
  local of = p.driver == "pgsql" and array or list
  plain.prepare_order_status(s, p)
  local open = p.driver == "pgsql" and open_at_once(s, p) or open_by_row(s, p)
  of.prepare(s, p)
  prepare_stock_level(s, p)
  return {new_order = new_order(s, open, of), payment = payments[p.driver](s, p),
          order_status = plain.order_status(s), stock_level = stock_level(s),
          delivery = deliveries[p.driver](s, p)}
end

return M
