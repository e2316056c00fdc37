-- SPDX-License-Identifier: GPL-2.0-or-later
-- The routines of the mode routine for PostgreSQL: functions with the statements of the mode plain.
-- A function is one statement, so it is one transaction.  Functions that only read are STABLE: all
-- of their queries see the rows of one moment.

local ITEMS = require("order_entry.cardinality").ITEMS

local M = {}

-- The SQLSTATE of a new order that is rolled back on purpose.
M.ROLLED_BACK = "OE001"

local stock_texts = {}
for d = 1, 10 do
  stock_texts[d] = ("s_dist_%02d"):format(d)
end

-- The row ceil(k / 2) of the k customers with one last name.
local by_name = [[
    SELECT (array_agg(c_id ORDER BY c_first))[((count(*) + 1) / 2)::int] INTO r_c_id FROM customer
      WHERE c_w_id = %s AND c_d_id = %s AND c_last = p_last;]]

M.routines = {}

-- Adds a function.  text: the variables, if any, and the body from BEGIN on.  The results are
-- parameters of the kind OUT, so that a call returns one row.
local function add(name, kind, parameters, results, text)
  local declared, body = text:match("^(.-)(BEGIN\n.*)$")
  M.routines[#M.routines + 1] = {
    name = name,
    sql = ("CREATE FUNCTION %s(%s, OUT %s) LANGUAGE plpgsql %s AS $$\n%s%s$$"):format(
      name, parameters, results:gsub(", ", ", OUT "), kind,
      declared ~= "" and "DECLARE\n" .. declared or "", body),
  }
end

add("oe_new_order", "VOLATILE",
  "p_w int, p_d int, p_c int, p_lines int, p_all_local int, p_item int[], p_supply int[], " ..
  "p_quantity int[], p_order int[]",
  "r_o_id int, r_last varchar, r_credit varchar, r_discount numeric, r_w_tax numeric, " ..
  "r_d_tax numeric, r_total numeric, r_lines text", [[
  v_line int; v_price numeric; v_name varchar; v_i_data varchar; v_stock int; v_dist varchar;
  v_s_data varchar; v_amount numeric;
BEGIN
  r_total := 0;
  r_lines := '';
  SELECT c_discount, c_last, c_credit, w_tax INTO STRICT r_discount, r_last, r_credit, r_w_tax
    FROM customer JOIN warehouse ON w_id = c_w_id
    WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  SELECT d_next_o_id, d_tax INTO STRICT r_o_id, r_d_tax FROM district
    WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (r_o_id, p_d, p_w, p_c, CURRENT_TIMESTAMP, NULL, p_lines, p_all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (r_o_id, p_d, p_w);
  FOREACH v_line IN ARRAY p_order LOOP
    SELECT i_price, i_name, i_data INTO v_price, v_name, v_i_data FROM item
      WHERE i_id = p_item[v_line];
    IF NOT FOUND THEN
      IF p_item[v_line] <= ]] .. ITEMS .. [[ THEN
        RAISE EXCEPTION 'a row is missing; see bench order_entry check';
      END IF;
      RAISE EXCEPTION 'the item is unused' USING ERRCODE = ']] .. M.ROLLED_BACK .. [[';
    END IF;
    SELECT s_quantity, (ARRAY[]] .. table.concat(stock_texts, ", ") .. [[])[p_d], s_data
      INTO STRICT v_stock, v_dist, v_s_data FROM stock
      WHERE s_w_id = p_supply[v_line] AND s_i_id = p_item[v_line] FOR UPDATE;
    v_stock := v_stock - p_quantity[v_line];
    IF v_stock < 10 THEN
      v_stock := v_stock + 91;
    END IF;
    UPDATE stock SET s_quantity = v_stock, s_ytd = s_ytd + p_quantity[v_line],
      s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + CASE WHEN p_supply[v_line] = p_w THEN 0 ELSE 1 END
      WHERE s_w_id = p_supply[v_line] AND s_i_id = p_item[v_line];
    v_amount := p_quantity[v_line] * v_price;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
        ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
      VALUES (r_o_id, p_d, p_w, v_line, p_item[v_line], p_supply[v_line], NULL, p_quantity[v_line],
        v_amount, v_dist);
    r_total := r_total + v_amount;
    r_lines := r_lines || concat_ws(' ', v_line, p_supply[v_line], p_item[v_line], v_name,
      p_quantity[v_line], v_stock,
      CASE WHEN v_i_data LIKE '%ORIGINAL%' AND v_s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END,
      v_price, v_amount) || chr(10);
  END LOOP;
  r_total := r_total * (1 - r_discount) * (1 + r_w_tax + r_d_tax);
END]])

add("oe_payment", "VOLATILE",
  "p_w int, p_d int, p_c_w int, p_c_d int, p_c int, p_last varchar, p_cents int",
  "r_c_id int, r_warehouse text, r_district text, r_first varchar, r_middle varchar, " ..
  "r_last varchar, r_street_1 varchar, r_street_2 varchar, r_city varchar, r_state varchar, " ..
  "r_zip varchar, r_phone varchar, r_since timestamp, r_credit varchar, r_credit_lim numeric, " ..
  "r_discount numeric, r_balance numeric, r_data varchar", [[
  v_amount numeric := p_cents * 0.01; v_w_name varchar; v_d_name varchar; v_data varchar;
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + v_amount WHERE w_id = p_w;
  SELECT w_name, concat_ws(' ', w_street_1, w_street_2, w_city, w_state, w_zip)
    INTO STRICT v_w_name, r_warehouse FROM warehouse WHERE w_id = p_w;
  UPDATE district SET d_ytd = d_ytd + v_amount WHERE d_w_id = p_w AND d_id = p_d;
  SELECT d_name, concat_ws(' ', d_street_1, d_street_2, d_city, d_state, d_zip)
    INTO STRICT v_d_name, r_district FROM district WHERE d_w_id = p_w AND d_id = p_d;
  r_c_id := p_c;
  IF p_last IS NOT NULL THEN
]] .. by_name:format("p_c_w", "p_c_d") .. [[

  END IF;
  SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
      c_since, c_credit, c_credit_lim, c_discount, c_balance - v_amount
    INTO STRICT r_first, r_middle, r_last, r_street_1, r_street_2, r_city, r_state, r_zip, r_phone,
      r_since, r_credit, r_credit_lim, r_discount, r_balance
    FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = r_c_id FOR UPDATE;
  IF r_credit = 'BC' THEN
    SELECT left(concat_ws(' ', r_c_id, p_c_d, p_c_w, p_d, p_w, to_char(v_amount, 'FM9990.00'))
        || c_data, 500)
      INTO STRICT v_data FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = r_c_id;
    UPDATE customer SET c_balance = c_balance - v_amount, c_ytd_payment = c_ytd_payment + v_amount,
      c_payment_cnt = c_payment_cnt + 1, c_data = v_data
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = r_c_id;
    r_data := left(v_data, 200);
  ELSE
    UPDATE customer SET c_balance = c_balance - v_amount, c_ytd_payment = c_ytd_payment + v_amount,
      c_payment_cnt = c_payment_cnt + 1
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = r_c_id;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (r_c_id, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, v_amount,
      v_w_name || '    ' || v_d_name);
END]])

add("oe_order_status", "STABLE", "p_w int, p_d int, p_c int, p_last varchar",
  "r_c_id int, r_balance numeric, r_first varchar, r_middle varchar, r_last varchar, " ..
  "r_o_id int, r_entry_d timestamp, r_carrier int, r_lines text", [[
BEGIN
  r_c_id := p_c;
  IF p_last IS NOT NULL THEN
]] .. by_name:format("p_w", "p_d") .. [[

  END IF;
  SELECT c_balance, c_first, c_middle, c_last INTO STRICT r_balance, r_first, r_middle, r_last
    FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = r_c_id;
  SELECT o_id, o_entry_d, o_carrier_id INTO STRICT r_o_id, r_entry_d, r_carrier FROM orders
    WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = r_c_id ORDER BY o_id DESC LIMIT 1;
  SELECT string_agg(concat_ws(' ', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d),
      chr(10)) INTO STRICT r_lines
    FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = r_o_id;
END]])

add("oe_delivery", "VOLATILE", "p_w int, p_carrier int", "r_skipped int, r_orders text", [[
  v_o_id int; v_c_id int; v_amount numeric;
BEGIN
  r_skipped := 0;
  r_orders := '';
  FOR v_d IN 1..10 LOOP
    SELECT no_o_id INTO v_o_id FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d
      ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF NOT FOUND THEN
      r_skipped := r_skipped + 1;
      CONTINUE;
    END IF;
    DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_o_id;
    UPDATE orders SET o_carrier_id = p_carrier
      WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o_id;
    SELECT o_c_id INTO STRICT v_c_id FROM orders
      WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o_id;
    UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
      WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o_id;
    SELECT SUM(ol_amount) INTO STRICT v_amount FROM order_line
      WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o_id;
    UPDATE customer SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c_id;
    r_orders := concat_ws(' ', r_orders, v_d || ':' || v_o_id);
  END LOOP;
END]])

add("oe_stock_level", "STABLE", "p_w int, p_d int, p_threshold int", "r_low int", [[
  v_next int;
BEGIN
  SELECT d_next_o_id INTO STRICT v_next FROM district WHERE d_w_id = p_w AND d_id = p_d;
  SELECT COUNT(DISTINCT s_i_id) INTO STRICT r_low FROM order_line
    JOIN stock ON s_w_id = p_w AND s_i_id = ol_i_id
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20
      AND s_quantity < p_threshold;
END]])

-- Finds the routines: a text with one %s for the list of their names; its rows are what DROP needs.
M.find = "SELECT oid::regprocedure FROM pg_proc WHERE proname IN (%s) AND " ..
         "pg_function_is_visible(oid)"
M.drop = "DROP FUNCTION %s"

return M
