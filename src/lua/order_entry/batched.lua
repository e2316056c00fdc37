-- SPDX-License-Identifier: GPL-2.0-or-later
-- The mode batched: each transaction sends as few statements as its profile and the database allow.
-- It reads, changes and inserts the rows of all lines of an order at once.

local plain = require("order_entry.plain")
local DISTRICTS = require("order_entry.cardinality").DISTRICTS
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
          list = {}, dry = {}}
end

-- Finds the rows of stock for the lines of an order, in the order in which they are locked.
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
  work.n = n
end

-- Takes the rows of items, which come in any order.  A line without one has no price.
local function take_items(work, t, rows, n)
  for line = 1, t.n do
    work.price[line] = nil
  end
  for k = 1, n do
    local row = rows[k]
    local id = tonumber(row[1])
    for line = 1, t.n do
      if t.item[line] == id then
        work.price[line], work.i_data[line] = plain.cents(row[2]), row[4]
      end
    end
  end
end

-- Takes the rows of stock, which come in any order, and computes what is left of each.
local function take_stock(work, t, n_lines, rows, n)
  for r = 1, n do
    local row = rows[r]
    local w, i = tonumber(row[1]), tonumber(row[2])
    for k = 1, work.n do
      if work.supply[k] == w and work.item[k] == i then
        work.quantity[k], work.dist[k], work.s_data[k] = tonumber(row[3]), row[5], row[4]
      end
    end
  end
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

-- Returns the rows of items or stock that were found, and their number.  A driver without a server
-- finds all that there should be.
local function found(dry, work, what, rows, n)
  if not dry then
    return rows, n
  end
  for k = 1, work.n do
    work.dry[k] = what == "item" and {work.item[k], "1.00", "", ""} or
                  {work.supply[k], work.item[k], "50", "", ""}
  end
  return work.dry, work.n
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

function list.prepare(s, p)
  s.items, s.stocks, s.lines_insert = {}, {}, {}
  for n = 5, MOST_LINES do
    s.items[n] = p:prepare("items", ("i"):rep(n),
      ("SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN (%s)")
      :format(repeated("?", n)))
  end
  for n = 4, MOST_LINES do
    s.stocks[n] = p:prepare("stocks", "i" .. ("ii"):rep(n), stocks_text(p.driver, n))
    s.lines_insert[n] = p:prepare("lines_insert", ("iiiiiiiih"):rep(n),
      "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, " ..
      "ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) VALUES " ..
      repeated("(?, ?, ?, ?, ?, ?, NULL, ?, ? * 0.01, ?)", n))
  end
  s.stock_update = p:prepare("stock_update", "iiiiii",
    "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + ?, " ..
    "s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?")
end

function list.items(s, t)
  local st = s.items[t.n]
  for line = 1, t.n do
    st.params[line]:set(t.item[line])
  end
  return st:all(st:execute())
end

-- The last row fills places that are not needed, because several lines have the same row.
function list.stock(s, t, work, n_lines)
  local st = s.stocks[n_lines]
  st.params[1]:set(t.d)
  for k = 1, n_lines do
    local row = k < work.n and k or work.n
    st.params[2 * k]:set(work.supply[row])
    st.params[2 * k + 1]:set(work.item[row])
  end
  return st:all(st:execute())
end

function list.update_stock(s, work)
  for k = 1, work.n do
    s.stock_update:run(work.quantity[k], work.sum[k], work.lines[k], work.remote[k],
                       work.supply[k], work.item[k])
  end
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

function array.items(s, t)
  return s.items:all(s.items:run(array_of(t.item, t.n)))
end

function array.stock(s, t, work)
  return s.stocks:all(s.stocks:run(t.d, array_of(work.supply, work.n),
                                   array_of(work.item, work.n)))
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

-- Returns the number of the order and the tax of the district.
local function next_order(s, t)
  local row
  if s.district_take then
    row = s.district_take:must(t.w, t.d)
  else
    row = s.district:must(t.w, t.d)
    s.district_next:run(t.w, t.d)
  end
  return tonumber(row[1]), row[2]
end

-- The unused item is missed when the other lines have been done.
local function new_order(s, of, dry)
  local work = new_work()
  return function(t)
    local n_lines, amount = t.rollback and t.n - 1 or t.n, 0
    s.begin:run()
    local customer = s.customer_tax:must(t.w, t.d, t.c)
    local o_id, d_tax = next_order(s, t)
    s.order_insert:run(o_id, t.d, t.w, t.c, t.n, t.all_local)
    s.open_insert:run(o_id, t.d, t.w)
    find_rows(work, t, n_lines)
    take_items(work, t, found(dry, work, "item", of.items(s, t)))
    take_stock(work, t, n_lines, found(dry, work, "stock", of.stock(s, t, work, n_lines)))
    of.update_stock(s, work)
    of.insert_lines(s, t, work, n_lines, o_id)
    if n_lines < t.n and not work.price[t.n] then
      s.rollback:run()
      return "rolled back"
    end
    for line = 1, n_lines do
      amount = amount + work.amount[line]
    end
    plain.total(amount, customer[1], customer[4], d_tax)
    s.commit:run()
  end
end

-- Payment -------------------------------------------------------------------------------------

local customer_columns = "c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, " ..
  "c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance"

local function prepare_payment(s, p, returns)
  s.customer_pay = p:prepare("customer_pay", "iipiii",
    "UPDATE customer SET c_balance = c_balance - ? * 0.01, " ..
    "c_ytd_payment = c_ytd_payment + ? * 0.01, c_payment_cnt = c_payment_cnt + 1, " ..
    "c_data = CASE WHEN c_credit = 'BC' THEN {left} ELSE c_data END " ..
    "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?" ..
    (returns and " RETURNING " .. customer_columns or ""))
end

local function payment(s)
  return function(t)
    s.begin:run()
    local h_data
    if s.warehouse_take then
      h_data = s.warehouse_take:must(t.cents, t.w)[1] .. "    " ..
               s.district_pay_take:must(t.cents, t.w, t.d)[1]
    else
      h_data = plain.pay_home(s, t)
    end
    local c = plain.payer(s, t)
    local data = plain.payment_data(t, c)
    if s.customer then
      s.customer:must(t.c_w, t.c_d, c)
      s.customer_pay:run(t.cents, t.cents, data, t.c_w, t.c_d, c)
    else
      s.customer_pay:must(t.cents, t.cents, data, t.c_w, t.c_d, c)
    end
    s.history_insert:run(c, t.c_d, t.c_w, t.d, t.w, t.cents, h_data)
    s.commit:run()
  end
end

-- Changes rows and returns them in one statement.
local function prepare_takes(s, p)
  s.district_take = p:prepare("district_take", "ii",
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ? " ..
    "RETURNING d_next_o_id - 1, d_tax")
  s.warehouse_take = p:prepare("warehouse_take", "ii",
    "UPDATE warehouse SET w_ytd = w_ytd + ? * 0.01 WHERE w_id = ? " ..
    "RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip")
  s.district_pay_take = p:prepare("district_pay_take", "iii",
    "UPDATE district SET d_ytd = d_ytd + ? * 0.01 WHERE d_w_id = ? AND d_id = ? " ..
    "RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip")
end

-- Delivery, district by district: PostgreSQL, SQLite --------------------------------------------

-- Another delivery of the district may hold its first open order: the subquery waits and then finds
-- the next one.
local function prepare_takes_of_delivery(s, p)
  s.open_take = p:prepare("open_take", "iiii",
    "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = " ..
    "(SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? " ..
    "ORDER BY no_o_id LIMIT 1{lock}) RETURNING no_o_id")
  s.order_take = p:prepare("order_take", "iiii",
    "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? " ..
    "RETURNING o_c_id")
  local update = "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP " ..
                 "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ? RETURNING ol_amount"
  if p.driver == "pgsql" then
    update = ("WITH l AS (%s) SELECT SUM(ol_amount) FROM l"):format(update)
  end
  s.lines_take = p:prepare("lines_take", "iii", update)
  s.customer_deliver = plain.prepare_customer_deliver(p)
end

local function deliver_district(s, t, d)
  local open = s.open_take:row(t.w, d, t.w, d)
  if not open then
    return 1
  end
  local o_id, sum = tonumber(open[1]), 0
  local c = tonumber(s.order_take:must(t.carrier, t.w, d, o_id)[1])
  local rows, n = s.lines_take:all(s.lines_take:run(t.w, d, o_id))
  for k = 1, n do
    sum = sum + plain.cents(rows[k][1])
  end
  s.customer_deliver:run(sum, t.w, d, c)
  return 0
end

local function delivery_by_district(s)
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

-- Delivery, all districts at once: MySQL ----------------------------------------------------------

local function prepare_sets_of_delivery(s, p)
  local keys, form = ("(%s)"):format(repeated("(?, ?, ?)", DISTRICTS)), ("iii"):rep(DISTRICTS)
  s.open_first = p:prepare("open_first", "ii",
    "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? " ..
    "ORDER BY no_o_id LIMIT 1{lock}")
  s.open_delete = p:prepare("open_delete", form,
    "DELETE FROM new_order WHERE (no_w_id, no_d_id, no_o_id) IN " .. keys)
  s.order_carrier = p:prepare("order_carrier", "i" .. form,
    "UPDATE orders SET o_carrier_id = ? WHERE (o_w_id, o_d_id, o_id) IN " .. keys)
  s.order_customer = p:prepare("order_customer", form,
    "SELECT o_d_id, o_c_id FROM orders WHERE (o_w_id, o_d_id, o_id) IN " .. keys)
  s.lines_deliver = p:prepare("lines_deliver", form,
    "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP " ..
    "WHERE (ol_w_id, ol_d_id, ol_o_id) IN " .. keys)
  s.lines_sum = p:prepare("lines_sum", form,
    "SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE (ol_w_id, ol_d_id, ol_o_id) IN " ..
    keys .. " GROUP BY ol_d_id")
  s.customer_deliver = plain.prepare_customer_deliver(p)
end

-- Sets the keys of the orders of n districts from parameter `first` on.  The last one fills
-- places that are not needed.
local function set_orders(st, first, w, ids, ds, n)
  for k = 1, DISTRICTS do
    local at = k < n and k or n
    st:set(first + 3 * (k - 1), w, ds[at], ids[at])
  end
end

-- Puts the second column of each row into `of`, by its first column, a district.
local function by_district(st, rs, of)
  local rows, n = st:all(rs)
  for k = 1, n do
    of[tonumber(rows[k][1])] = rows[k][2]
  end
end

-- Delivers the first open orders of n districts.  Rows that a transaction has changed are read
-- after the change, as in the mode plain.
local function deliver_orders(s, t, ids, ds, n)
  local customer, sum = {}, {}
  set_orders(s.open_delete, 1, t.w, ids, ds, n)
  set_orders(s.order_customer, 1, t.w, ids, ds, n)
  set_orders(s.lines_deliver, 1, t.w, ids, ds, n)
  set_orders(s.lines_sum, 1, t.w, ids, ds, n)
  set_orders(s.order_carrier, 2, t.w, ids, ds, n)
  s.order_carrier.params[1]:set(t.carrier)
  s.open_delete:execute()
  s.order_carrier:execute()
  by_district(s.order_customer, s.order_customer:execute(), customer)
  s.lines_deliver:execute()
  by_district(s.lines_sum, s.lines_sum:execute(), sum)
  for k = 1, n do
    local d = ds[k]
    s.customer_deliver:run(sum[d] and plain.cents(sum[d]), t.w, d, tonumber(customer[d]))
  end
end

local function delivery_at_once(s)
  local ids, ds = {}, {}
  return function(t)
    local found = 0
    s.begin:run()
    for d = 1, DISTRICTS do
      local open = s.open_first:row(t.w, d)
      if open then
        found = found + 1
        ids[found], ds[found] = tonumber(open[1]), d
      end
    end
    if found > 0 then
      deliver_orders(s, t, ids, ds, found)
    end
    s.commit:run()
    return DISTRICTS - found
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
    s.stock_low:must(t.w, t.w, t.d, t.threshold)
    s.commit:run()
  end
end

-- Prepares all statements; returns the transactions, as plain.new does.
function M.new(p)
  local s, dry = plain.prepare_common(p), p.driver == "null"
  local returns = p.driver == "pgsql" or p.driver == "sqlite"
  local of = p.driver == "pgsql" and array or list
  plain.prepare_order_status(s, p)
  if returns then
    prepare_takes(s, p)
    prepare_takes_of_delivery(s, p)
  else
    plain.prepare_update_and_read(s, p)
    prepare_sets_of_delivery(s, p)
  end
  of.prepare(s, p)
  prepare_payment(s, p, returns)
  prepare_stock_level(s, p)
  return {new_order = new_order(s, of, dry), payment = payment(s),
          order_status = plain.order_status(s), stock_level = stock_level(s),
          delivery = returns and delivery_by_district(s) or delivery_at_once(s)}
end

return M
