#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
-- A wholesale supplier's transactions in the style of TPC-C, written as scripts for sysbench 1.0
-- are: it serves test_wholesale.py.

local ffi = require("ffi")
ffi.cdef[[
void sb_counter_inc(int thread_id, sb_counter_type type);
]]

sysbench.cmdline.options = {
  tables = {"Number of table sets", 2},
  scale = {"Warehouses in each set", 2},
  rollbacks = {"Percentage of orders with an unknown item", 10}
}

local DISTRICTS, CUSTOMERS, ITEMS = 3, 20, 50

-- Loading --------------------------------------------------------------------------------------

local function create(con, set)
  con:query(([[CREATE TABLE warehouse%d (w_id INT NOT NULL, w_name VARCHAR(10), w_tax DECIMAL(4,4),
    w_ytd DECIMAL(12,2), PRIMARY KEY (w_id))]]):format(set))
  con:query(([[CREATE TABLE district%d (d_w_id INT NOT NULL, d_id INT NOT NULL, d_tax DECIMAL(4,4),
    d_ytd DECIMAL(12,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id))]]):format(set))
  con:query(([[CREATE TABLE customer%d (c_w_id INT NOT NULL, c_d_id INT NOT NULL, c_id INT NOT NULL,
    c_last VARCHAR(16), c_balance DECIMAL(12,2), PRIMARY KEY (c_w_id, c_d_id, c_id))]]):format(set))
  con:query(("CREATE TABLE history%d (h_w_id INT, h_d_id INT, h_amount DECIMAL(6,2))"):format(set))
  con:query(([[CREATE TABLE orders%d (o_w_id INT NOT NULL, o_d_id INT NOT NULL, o_id INT NOT NULL,
    o_c_id INT, o_ol_cnt INT, o_carrier INT, PRIMARY KEY (o_w_id, o_d_id, o_id))]]):format(set))
  con:query(([[CREATE TABLE new_orders%d (no_w_id INT NOT NULL, no_d_id INT NOT NULL,
    no_o_id INT NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id))]]):format(set))
  con:query(([[CREATE TABLE order_line%d (ol_w_id INT NOT NULL, ol_d_id INT NOT NULL,
    ol_o_id INT NOT NULL, ol_number INT NOT NULL, ol_i_id INT, ol_amount DECIMAL(8,2),
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))]]):format(set))
  con:query(([[CREATE TABLE item%d (i_id INT NOT NULL, i_name VARCHAR(24), i_price DECIMAL(5,2),
    PRIMARY KEY (i_id))]]):format(set))
  con:query(([[CREATE TABLE stock%d (s_w_id INT NOT NULL, s_i_id INT NOT NULL, s_quantity INT,
    s_ytd INT, PRIMARY KEY (s_w_id, s_i_id))]]):format(set))
end

local function load_items(con, set)
  con:bulk_insert_init(("INSERT INTO item%d (i_id, i_name, i_price) VALUES"):format(set))
  for i = 1, ITEMS do
    con:bulk_insert_next(("(%d, '%s', %.2f)"):format(
      i, sysbench.rand.string("item-@@@@@@"), sysbench.rand.uniform(100, 9999) / 100))
  end
  con:bulk_insert_done()
end

local function load_warehouse(con, set, w)
  con:query(("INSERT INTO warehouse%d VALUES (%d, '%s', 0.0%d, 0)"):format(
    set, w, sysbench.rand.string("@@@@@"), sysbench.rand.uniform(100, 200)))
  con:bulk_insert_init(("INSERT INTO stock%d VALUES"):format(set))
  for i = 1, ITEMS do
    con:bulk_insert_next(("(%d, %d, %d, 0)"):format(w, i, sysbench.rand.uniform(10, 100)))
  end
  con:bulk_insert_done()
  for d = 1, DISTRICTS do
    con:query(("INSERT INTO district%d VALUES (%d, %d, 0.05, 0, 1)"):format(set, w, d))
    con:bulk_insert_init(("INSERT INTO customer%d VALUES"):format(set))
    for c = 1, CUSTOMERS do
      con:bulk_insert_next(("(%d, %d, %d, '%s', -10)"):format(w, d, c,
                           sysbench.rand.string("@@@@@@@@")))
    end
    con:bulk_insert_done()
  end
end

local function each_set_of_thread(work)
  local con = sysbench.sql.driver():connect()
  for set = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
    work(con, set)
  end
  con:disconnect()
end

function cmd_prepare()
  each_set_of_thread(function (con, set)
    print(("Creating tables: %d"):format(set))
    create(con, set)
    load_items(con, set)
    for w = 1, sysbench.opt.scale do
      load_warehouse(con, set, w)
    end
  end)
end

-- Checking -------------------------------------------------------------------------------------

local CONDITIONS = {
  [[SELECT count(*) FROM warehouse%d WHERE w_ytd <>
    (SELECT sum(d_ytd) FROM district%d WHERE d_w_id = w_id)]],
  [[SELECT count(*) FROM district%d WHERE d_next_o_id - 1 <>
    (SELECT coalesce(max(o_id), 0) FROM orders%d WHERE o_w_id = d_w_id AND o_d_id = d_id)]],
  [[SELECT count(*) FROM orders%d WHERE o_ol_cnt <>
    (SELECT count(*) FROM order_line%d WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id
     AND ol_o_id = o_id)]],
  [[SELECT count(*) FROM orders%d WHERE (o_carrier IS NULL) <> (EXISTS (SELECT 1 FROM new_orders%d
    WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id))]],
  [[SELECT count(*) FROM district%d WHERE d_ytd <>
    (SELECT coalesce(sum(h_amount), 0) FROM history%d WHERE h_w_id = d_w_id AND h_d_id = d_id)]]
}

function cmd_check()
  local con, bad = sysbench.sql.driver():connect(), 0
  for set = 1, sysbench.opt.tables do
    for number, condition in ipairs(CONDITIONS) do
      local broken = con:query_row(condition:format(set, set))
      if broken + 0 > 0 then
        print(("check %d of set %d failed in %d rows"):format(number, set, broken))
        bad = bad + 1
      end
    end
  end
  print("checks failed: " .. bad)
  return bad == 0
end

sysbench.cmdline.commands = {
  prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
  check = {cmd_check}
}

local TABLES = {"warehouse", "district", "customer", "history", "orders", "new_orders",
                "order_line", "item", "stock"}

function cleanup()
  local con = sysbench.sql.driver():connect()
  for set = 1, sysbench.opt.tables do
    for _, name in ipairs(TABLES) do
      con:query(("DROP TABLE IF EXISTS %s%d"):format(name, set))
    end
  end
end

-- Transactions -----------------------------------------------------------------------------------

local con, stmts, rolled_back

local function prepared(text)
  local stmt, params = con:prepare(text), {}
  for i = 1, select(2, text:gsub("?", "")) do
    params[i] = stmt:bind_create(sysbench.sql.type.INT)
  end
  stmt:bind_param(unpack(params))
  return function (...)
    for i = 1, #params do
      params[i]:set((select(i, ...)))
    end
    return stmt:execute()
  end
end

function thread_init()
  con = sysbench.sql.driver():connect()
  stmts, rolled_back = {}, 0
  for set = 1, sysbench.opt.tables do
    stmts[set] = {
      item = prepared(("SELECT i_price, i_name FROM item%d WHERE i_id = ?"):format(set)),
      stock = prepared(([[UPDATE stock%d SET s_quantity = ?, s_ytd = ? WHERE s_w_id = ?
        AND s_i_id = ?]]):format(set)),
      pay = prepared(([[UPDATE customer%d SET c_balance = c_balance - ? WHERE c_w_id = ?
        AND c_d_id = ? AND c_id = ?]]):format(set))
    }
  end
end

function thread_done(id)
  print(("thread %d rolled back %d"):format(id, rolled_back))
  con:disconnect()
end

local uniform = sysbench.rand.uniform

-- Lines in the order of their items, as locks are to be taken.
local function basket()
  local items = {}
  for n = 1, uniform(3, 8) do
    items[n] = uniform(1, ITEMS)
  end
  table.sort(items)
  if uniform(1, 100) <= sysbench.opt.rollbacks then
    items[#items] = ITEMS + 1
  end
  return items
end

local function new_order(set, w, d)
  local c, items = uniform(1, CUSTOMERS), basket()
  -- Columns are strings: arithmetic and %d take them as numbers.
  local d_tax, o_id = con:query_row(([[SELECT d_tax, d_next_o_id FROM district%d
    WHERE d_w_id = %d AND d_id = %d FOR UPDATE]]):format(set, w, d))
  local w_tax = con:query_row(("SELECT w_tax FROM warehouse%d WHERE w_id = %d"):format(set, w))
  con:query(("UPDATE district%d SET d_next_o_id = %d WHERE d_w_id = %d AND d_id = %d"):format(
    set, o_id + 1, w, d))
  con:query(("INSERT INTO orders%d VALUES (%d, %d, %d, %d, %d, NULL)"):format(
    set, w, d, o_id, c, #items))
  con:query(("INSERT INTO new_orders%d VALUES (%d, %d, %d)"):format(set, w, d, o_id))
  for number, item in ipairs(items) do
    local rs = stmts[set].item(item)
    if rs.nrows == 0 then
      error("no such item")
    end
    local price, name = unpack(rs:fetch_row(), 1, rs.nfields)
    assert(rs.nfields == 2 and name:find("^item%-"))
    rs = con:query(([[SELECT s_quantity, s_ytd FROM stock%d WHERE s_w_id = %d AND s_i_id = %d
      FOR UPDATE]]):format(set, w, item))
    local quantity, ytd = unpack(rs:fetch_row(), 1, rs.nfields)
    local wanted = uniform(1, 10)
    local left = quantity - wanted
    stmts[set].stock(left < 10 and left + 91 or left, ytd + wanted, w, item)
    con:query(("INSERT INTO order_line%d VALUES (%d, %d, %d, %d, %d, %.2f)"):format(
      set, w, d, o_id, number, item, wanted * price * (1 + d_tax + w_tax)))
  end
end

local function payment(set, w, d)
  local amount, c = uniform(1, 500), uniform(1, CUSTOMERS)
  con:query(("UPDATE warehouse%d SET w_ytd = w_ytd + %d WHERE w_id = %d"):format(set, amount, w))
  con:query(("UPDATE district%d SET d_ytd = d_ytd + %d WHERE d_w_id = %d AND d_id = %d"):format(
    set, amount, w, d))
  stmts[set].pay(amount, w, d, c)
  con:query(("INSERT INTO history%d VALUES (%d, %d, %d)"):format(set, w, d, amount))
end

local function order_status(set, w, d)
  local c, orders = uniform(1, CUSTOMERS), {}
  local rs = con:query(([[SELECT o_id, o_carrier FROM orders%d WHERE o_w_id = %d AND o_d_id = %d
    AND o_c_id = %d ORDER BY o_id DESC]]):format(set, w, d, c))
  for i = 1, rs.nrows do
    orders[i] = {unpack(rs:fetch_row(), 1, rs.nfields)}
  end
  for _, order in ipairs(orders) do
    rs = con:query(([[SELECT ol_i_id, ol_amount FROM order_line%d WHERE ol_w_id = %d
      AND ol_d_id = %d AND ol_o_id = %d]]):format(set, w, d, order[1]))
    for _ = 1, rs.nrows do
      local item, amount = unpack(rs:fetch_row(), 1, rs.nfields)
      assert(item + 0 <= ITEMS and amount * 1 > 0)
    end
  end
end

local function delivery(set, w)
  for d = 1, DISTRICTS do
    local o_id = con:query_row(([[SELECT min(no_o_id) FROM new_orders%d WHERE no_w_id = %d
      AND no_d_id = %d]]):format(set, w, d))
    if o_id then
      con:query(("DELETE FROM new_orders%d WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %d"
        ):format(set, w, d, o_id))
      con:query(([[UPDATE orders%d SET o_carrier = %d WHERE o_w_id = %d AND o_d_id = %d
        AND o_id = %d]]):format(set, uniform(1, 10), w, d, o_id))
    end
  end
end

local MIX = { new_order, new_order, new_order, payment, payment, payment, order_status, delivery }

function event()
  local set, w = uniform(1, sysbench.opt.tables), uniform(1, sysbench.opt.scale)
  local transaction, d = MIX[uniform(1, #MIX)], uniform(1, DISTRICTS)
  con:query("BEGIN")
  local ok, failure = pcall(transaction, set, w, d)
  if ok then
    con:query("COMMIT")
    return
  end
  con:query("ROLLBACK")
  if type(failure) == "table" then
    error(failure)
  elseif not tostring(failure):find("no such item") then
    error(failure, 0)
  end
  rolled_back = rolled_back + 1
  ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
end

function sysbench.hooks.before_restart_event()
  con:query("ROLLBACK")
end

function sysbench.hooks.report_intermediate(stat)
  local seconds = stat.time_interval
  print(("%.0f,%u,%4.2f,%4.2f,%4.2f"):format(stat.time_total, stat.threads_running,
        stat.events / seconds, (stat.reads + stat.writes + stat.other) / seconds,
        stat.latency_pct * 1000))
end
