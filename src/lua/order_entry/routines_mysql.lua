-- SPDX-License-Identifier: GPL-2.0-or-later
-- The routines of the mode routine for MySQL and MariaDB: procedures with the statements of the
-- mode plain.  A procedure begins and ends its transaction, and rolls back after an error.  Lists
-- are texts with commas, which all versions of the servers can read.

local ITEMS = require("order_entry.cardinality").ITEMS

local M = {}

local stock_texts = {}
for d = 1, 10 do
  stock_texts[d] = ("s_dist_%02d"):format(d)
end

-- What :text stands for.  It has the character set of the tables: another one keeps a server from
-- using an index.
local TEXT = "VARCHAR%s CHARACTER SET latin1"

-- What follows the variables.
local handlers = [[
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;
  DECLARE EXIT HANDLER FOR NOT FOUND
  BEGIN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a row is missing; see bench order_entry check';
  END;
  START TRANSACTION;
]]

-- The row ceil(k / 2) of the k customers with one last name.
local by_name = [[
    SELECT COUNT(*) INTO v_rank FROM customer
      WHERE c_w_id = %s AND c_d_id = %s AND c_last = p_last;
    SET v_rank = GREATEST(v_rank - 1, 0) DIV 2;
    SELECT c_id INTO v_c_id FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_last = p_last
      ORDER BY c_first LIMIT v_rank, 1;]]

M.routines = {}

-- Adds a procedure.  Its variables are declared before the handlers, as MySQL wants it, and the
-- body follows.  ":text(N)" stands for the type of a text.
local function add(name, parameters, variables, body)
  local text = ("CREATE PROCEDURE %s(%s)\nMODIFIES SQL DATA SQL SECURITY INVOKER\nmain: BEGIN\n" ..
                "%s%s%s\nEND main"):format(name, parameters, variables, handlers, body)
  M.routines[#M.routines + 1] = {
    name = name,
    sql = text:gsub(":text(%b())", function(length) return TEXT:format(length) end),
  }
end

add("oe_new_order",
  "p_w INT, p_d INT, p_c INT, p_lines INT, p_all_local INT, p_item :text(200), " ..
  "p_supply :text(200), p_quantity :text(200), p_order :text(200)", [[
  DECLARE v_discount, v_w_tax, v_d_tax DECIMAL(4,4);
  DECLARE v_o_id, v_at, v_line, v_item, v_supply, v_quantity, v_stock INT DEFAULT 0;
  DECLARE v_price DECIMAL(5,2);
  DECLARE v_amount, v_total DECIMAL(12,2) DEFAULT 0;
  DECLARE v_last, v_credit, v_name, v_dist :text(24);
  DECLARE v_i_data, v_s_data :text(50);
  DECLARE v_lines :text(2000) DEFAULT '';
]], [[
  SELECT d_next_o_id, d_tax INTO v_o_id, v_d_tax FROM district
    WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d;
  SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_w_tax
    FROM customer JOIN warehouse ON w_id = c_w_id
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (v_o_id, p_d, p_w, p_c, CURRENT_TIMESTAMP, NULL, p_lines, p_all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_o_id, p_d, p_w);
  WHILE v_at < p_lines DO
    SET v_at = v_at + 1;
    SET v_line = SUBSTRING_INDEX(SUBSTRING_INDEX(p_order, ',', v_at), ',', -1);
    SET v_item = SUBSTRING_INDEX(SUBSTRING_INDEX(p_item, ',', v_line), ',', -1);
    SET v_supply = SUBSTRING_INDEX(SUBSTRING_INDEX(p_supply, ',', v_line), ',', -1);
    SET v_quantity = SUBSTRING_INDEX(SUBSTRING_INDEX(p_quantity, ',', v_line), ',', -1);
    SET v_price = NULL;
    BEGIN
      DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
      SELECT i_price, i_name, i_data INTO v_price, v_name, v_i_data FROM item WHERE i_id = v_item;
    END;
    IF v_price IS NULL THEN
      IF v_item <= ]] .. ITEMS .. [[ THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a row is missing; see bench order_entry check';
      END IF;
      ROLLBACK;
      LEAVE main;
    END IF;
    SELECT s_quantity, ELT(p_d, ]] .. table.concat(stock_texts, ", ") .. [[), s_data
      INTO v_stock, v_dist, v_s_data FROM stock
      WHERE s_w_id = v_supply AND s_i_id = v_item FOR UPDATE;
    SET v_stock = v_stock - v_quantity;
    IF v_stock < 10 THEN
      SET v_stock = v_stock + 91;
    END IF;
    UPDATE stock SET s_quantity = v_stock, s_ytd = s_ytd + v_quantity,
      s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (v_supply <> p_w)
      WHERE s_w_id = v_supply AND s_i_id = v_item;
    SET v_amount = v_quantity * v_price;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
        ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
      VALUES (v_o_id, p_d, p_w, v_line, v_item, v_supply, NULL, v_quantity, v_amount, v_dist);
    SET v_total = v_total + v_amount;
    SET v_lines = CONCAT(v_lines, CONCAT_WS(' ', v_line, v_supply, v_item, v_name, v_quantity,
      v_stock, IF(v_i_data LIKE '%ORIGINAL%' AND v_s_data LIKE '%ORIGINAL%', 'B', 'G'), v_price,
      v_amount), '\n');
  END WHILE;
  COMMIT;
  SELECT v_o_id, v_last, v_credit, v_discount, v_w_tax, v_d_tax,
    v_total * (1 - v_discount) * (1 + v_w_tax + v_d_tax) AS total, v_lines;]])

add("oe_payment",
  "p_w INT, p_d INT, p_c_w INT, p_c_d INT, p_c INT, p_last :text(16), p_cents INT", [[
  DECLARE v_amount DECIMAL(12,2) DEFAULT p_cents * 0.01;
  DECLARE v_c_id INT DEFAULT p_c;
  DECLARE v_rank INT;
  DECLARE v_w_name, v_d_name :text(10);
  DECLARE v_warehouse, v_district :text(80);
  DECLARE v_first, v_middle, v_last, v_street_1, v_street_2, v_city, v_state, v_zip, v_phone,
    v_credit :text(20);
  DECLARE v_since DATETIME;
  DECLARE v_discount DECIMAL(4,4);
  DECLARE v_credit_lim, v_balance DECIMAL(12,2);
  DECLARE v_data :text(600);
]], [[
  UPDATE warehouse SET w_ytd = w_ytd + v_amount WHERE w_id = p_w;
  UPDATE district SET d_ytd = d_ytd + v_amount WHERE d_w_id = p_w AND d_id = p_d;
  SELECT w_name, CONCAT_WS(' ', w_street_1, w_street_2, w_city, w_state, w_zip)
    INTO v_w_name, v_warehouse FROM warehouse WHERE w_id = p_w;
  SELECT d_name, CONCAT_WS(' ', d_street_1, d_street_2, d_city, d_state, d_zip)
    INTO v_d_name, v_district FROM district WHERE d_w_id = p_w AND d_id = p_d;
  IF p_last IS NOT NULL THEN
]] .. by_name:format("p_c_w", "p_c_d", "p_c_w", "p_c_d") .. [[

  END IF;
  SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
      c_since, c_credit, c_credit_lim, c_discount, c_balance - v_amount
    INTO v_first, v_middle, v_last, v_street_1, v_street_2, v_city, v_state, v_zip, v_phone,
      v_since, v_credit, v_credit_lim, v_discount, v_balance
    FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c_id FOR UPDATE;
  IF v_credit = 'BC' THEN
    SELECT LEFT(CONCAT(CONCAT_WS(' ', v_c_id, p_c_d, p_c_w, p_d, p_w, v_amount), c_data), 500)
      INTO v_data FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c_id
      FOR UPDATE;
    UPDATE customer SET c_balance = c_balance - v_amount, c_ytd_payment = c_ytd_payment + v_amount,
      c_payment_cnt = c_payment_cnt + 1, c_data = v_data
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c_id;
  ELSE
    UPDATE customer SET c_balance = c_balance - v_amount, c_ytd_payment = c_ytd_payment + v_amount,
      c_payment_cnt = c_payment_cnt + 1
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c_id;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (v_c_id, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, v_amount,
      CONCAT(v_w_name, '    ', v_d_name));
  COMMIT;
  SELECT v_c_id, v_warehouse, v_district, v_first, v_middle, v_last, v_street_1, v_street_2, v_city,
    v_state, v_zip, v_phone, v_since, v_credit, v_credit_lim, v_discount, v_balance,
    LEFT(v_data, 200) AS data;]])

add("oe_order_status", "p_w INT, p_d INT, p_c INT, p_last :text(16)", [[
  DECLARE v_c_id INT DEFAULT p_c;
  DECLARE v_rank, v_o_id, v_carrier INT;
  DECLARE v_balance DECIMAL(12,2);
  DECLARE v_first, v_middle, v_last :text(16);
  DECLARE v_entry_d DATETIME;
  DECLARE v_lines :text(2000);
]], [[
  IF p_last IS NOT NULL THEN
]] .. by_name:format("p_w", "p_d", "p_w", "p_d") .. [[

  END IF;
  SELECT c_balance, c_first, c_middle, c_last INTO v_balance, v_first, v_middle, v_last
    FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c_id;
  SELECT o_id, o_entry_d, o_carrier_id INTO v_o_id, v_entry_d, v_carrier FROM orders
    WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c_id ORDER BY o_id DESC LIMIT 1;
  SELECT GROUP_CONCAT(CONCAT_WS(' ', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
      ol_delivery_d) SEPARATOR '\n') INTO v_lines
    FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o_id;
  COMMIT;
  SELECT v_c_id, v_balance, v_first, v_middle, v_last, v_o_id, v_entry_d, v_carrier, v_lines;]])

add("oe_delivery", "p_w INT, p_carrier INT", [[
  DECLARE v_d, v_o_id, v_c_id, v_skipped INT DEFAULT 0;
  DECLARE v_amount DECIMAL(12,2);
  DECLARE v_orders :text(200) DEFAULT '';
]], [[
  WHILE v_d < 10 DO
    SET v_d = v_d + 1;
    SET v_o_id = NULL;
    BEGIN
      DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
      SELECT no_o_id INTO v_o_id FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d
        ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    END;
    IF v_o_id IS NULL THEN
      SET v_skipped = v_skipped + 1;
    ELSE
      DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_o_id;
      UPDATE orders SET o_carrier_id = p_carrier
        WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o_id;
      SELECT o_c_id INTO v_c_id FROM orders
        WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o_id;
      UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
        WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o_id;
      SELECT SUM(ol_amount) INTO v_amount FROM order_line
        WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o_id;
      UPDATE customer SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c_id;
      SET v_orders = CONCAT(v_orders, ' ', v_d, ':', v_o_id);
    END IF;
  END WHILE;
  COMMIT;
  SELECT v_skipped, v_orders;]])

add("oe_stock_level", "p_w INT, p_d INT, p_threshold INT", [[
  DECLARE v_next, v_low INT;
]], [[
  SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w AND d_id = p_d;
  SELECT COUNT(DISTINCT s_i_id) INTO v_low FROM order_line
    JOIN stock ON s_w_id = p_w AND s_i_id = ol_i_id
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20
      AND s_quantity < p_threshold;
  COMMIT;
  SELECT v_low;]])

-- Finds the routines: a text with one %s for the list of their names; its rows are what DROP needs.
M.find = "SELECT routine_name FROM information_schema.routines " ..
         "WHERE routine_schema = DATABASE() AND routine_name IN (%s)"
M.drop = "DROP PROCEDURE %s"

return M
