-- SPDX-License-Identifier: GPL-2.0-or-later
-- The tables of the order-entry workload: their columns, keys and indexes on each database.

local M = {}

-- The types that differ.  A column of type TIMESTAMP of MySQL may change by itself.
local datetime = {mysql = "DATETIME", pgsql = "TIMESTAMP", sqlite = "DATETIME", null = "DATETIME"}

local address = "%s_street_1 VARCHAR(20), %s_street_2 VARCHAR(20), %s_city VARCHAR(20), " ..
                "%s_state CHAR(2), %s_zip CHAR(9)"

local function address_of(prefix)
  return (address:gsub("%%s", prefix))
end

-- Returns the columns s_dist_01 to s_dist_10.
local function stock_texts()
  local columns = {}
  for i = 1, 10 do
    columns[i] = ("s_dist_%02d CHAR(24)"):format(i)
  end
  return table.concat(columns, ", ")
end

-- Columns are NOT NULL, but those of a type that ends with NULL.  DATETIME stands for the type of
-- the database.  The table of settings, which says that the others are the workload's, is made
-- first and dropped last.
M.tables = {
  {name = "oe_settings", key = "name", columns = "name VARCHAR(32), value VARCHAR(64)"},
  {name = "warehouse", key = "w_id", columns = "w_id INT, w_name VARCHAR(10), " ..
    address_of("w") .. ", w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2)"},
  {name = "district", key = "d_w_id, d_id", columns = "d_id SMALLINT, d_w_id INT, " ..
    "d_name VARCHAR(10), " .. address_of("d") .. ", d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2), " ..
    "d_next_o_id INT"},
  {name = "customer", key = "c_w_id, c_d_id, c_id", columns = "c_id INT, c_d_id SMALLINT, " ..
    "c_w_id INT, c_first VARCHAR(16), c_middle CHAR(2), c_last VARCHAR(16), " ..
    address_of("c") .. ", c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2), " ..
    "c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), " ..
    "c_ytd_payment DECIMAL(12,2), c_payment_cnt INT, c_delivery_cnt INT, c_data VARCHAR(500)"},
  {name = "history", columns = "h_c_id INT, h_c_d_id SMALLINT, h_c_w_id INT, h_d_id SMALLINT, " ..
    "h_w_id INT, h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24)"},
  {name = "new_order", key = "no_w_id, no_d_id, no_o_id",
    columns = "no_o_id INT, no_d_id SMALLINT, no_w_id INT"},
  {name = "orders", key = "o_w_id, o_d_id, o_id", columns = "o_id INT, o_d_id SMALLINT, " ..
    "o_w_id INT, o_c_id INT, o_entry_d DATETIME, o_carrier_id SMALLINT NULL, " ..
    "o_ol_cnt SMALLINT, o_all_local SMALLINT"},
  {name = "order_line", key = "ol_w_id, ol_d_id, ol_o_id, ol_number",
    columns = "ol_o_id INT, ol_d_id SMALLINT, ol_w_id INT, ol_number SMALLINT, ol_i_id INT, " ..
    "ol_supply_w_id INT, ol_delivery_d DATETIME NULL, ol_quantity SMALLINT, " ..
    "ol_amount DECIMAL(6,2), ol_dist_info CHAR(24)"},
  {name = "item", key = "i_id", columns = "i_id INT, i_im_id INT, i_name VARCHAR(24), " ..
    "i_price DECIMAL(5,2), i_data VARCHAR(50)"},
  {name = "stock", key = "s_w_id, s_i_id", columns = "s_i_id INT, s_w_id INT, " ..
    "s_quantity SMALLINT, " .. stock_texts() ..
    ", s_ytd INT, s_order_cnt INT, s_remote_cnt INT, s_data VARCHAR(50)"},
}

-- The secondary indexes.
M.indexes = {
  {name = "customer_name", table = "customer", columns = "c_w_id, c_d_id, c_last, c_first"},
  {name = "orders_customer", table = "orders", columns = "o_w_id, o_d_id, o_c_id, o_id"},
}

-- Returns a table by its name.
function M.table(name)
  for _, t in ipairs(M.tables) do
    if t.name == name then
      return t
    end
  end
end

-- Returns the names of a table's columns, "w_id, w_name, ...", in their order.
function M.column_names(t)
  local names = {}
  for column in (t.columns .. ", "):gmatch("(.-), ") do
    names[#names + 1] = column:match("^%S+")
  end
  return table.concat(names, ", ")
end

-- A key of history, whose numbers the server gives to rows without one.
local history_key = {
  mysql = "h_id BIGINT AUTO_INCREMENT PRIMARY KEY, ",
  pgsql = "h_id BIGSERIAL PRIMARY KEY, ",
  sqlite = "h_id INTEGER PRIMARY KEY AUTOINCREMENT, ",
}
history_key.null = history_key.mysql

-- Latin-1 is enough, and costs less than characters of several bytes.
local after_columns = {mysql = " ENGINE=InnoDB DEFAULT CHARSET=latin1"}

-- Returns the list of columns with NOT NULL where it belongs.
local function columns_text(drv, columns)
  local parts = {}
  for column in (columns:gsub("DATETIME", datetime[drv:name()]) .. ", "):gmatch("(.-), ") do
    parts[#parts + 1] = column:find(" NULL$") and column or column .. " NOT NULL"
  end
  return table.concat(parts, ", ")
end

-- Returns CREATE TABLE for a table that may exist.
function M.create_text(drv, t)
  local name = drv:name()
  if not datetime[name] then
    error("order_entry does not know the database driver '" .. name .. "'", 0)
  end
  local own_key = t.name == "history" and sysbench.opt.order_history_key and history_key[name]
  return ("CREATE TABLE IF NOT EXISTS %s (%s%s%s)%s"):format(
    t.name, own_key or "", columns_text(drv, t.columns),
    t.key and (", PRIMARY KEY (%s)"):format(t.key) or "", after_columns[name] or "")
end

return M
