-- SPDX-License-Identifier: GPL-2.0-or-later
-- The conditions that the rows of the order-entry workload satisfy at any time.  Each row of the
-- table has a name, its meaning, and a query that returns the rows that violate it: the first
-- columns are their keys.  The queries run unchanged on all databases, and all of them are to be
-- asked in one snapshot.  1 to 12 are those of the rules; S1 to S8 look at what those leave out.
--
-- A missing row violates too, in both directions.  SQLite has no decimals: its sums drift away from
-- whole cents as a run goes on, so that the bound is just below half a cent.

return {
  {name = "1", meaning = "W_YTD = sum of D_YTD, per warehouse",
   sql = [[
SELECT w, SUM(a) AS w_ytd_, SUM(b) AS d_ytd_ FROM (
  SELECT w_id AS w, w_ytd AS a, 0 AS b, 1 AS n FROM warehouse UNION ALL
  SELECT d_w_id, 0, SUM(d_ytd), 2 FROM district GROUP BY d_w_id) t
GROUP BY w HAVING SUM(n) <> 3 OR ABS(SUM(a) - SUM(b)) > 0.004]]},
  {name = "2",
   meaning = "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID) where there are open orders, per district",
   sql = [[
SELECT w, d, SUM(x) AS next_, SUM(y) AS max_o, SUM(z) AS max_no FROM (
  SELECT d_w_id AS w, d_id AS d, d_next_o_id - 1 AS x, 0 AS y, 0 AS z, 1 AS n FROM district
    UNION ALL
  SELECT o_w_id, o_d_id, 0, MAX(o_id), 0, 2 FROM orders GROUP BY o_w_id, o_d_id UNION ALL
  SELECT no_w_id, no_d_id, 0, 0, MAX(no_o_id), 4 FROM new_order GROUP BY no_w_id, no_d_id) t
GROUP BY w, d HAVING SUM(n) NOT IN (3, 7) OR SUM(x) <> SUM(y) OR (SUM(n) = 7 AND SUM(z) <>
  SUM(y))]]},
  {name = "3", meaning = "open orders of a district have consecutive numbers",
   sql = [[
SELECT no_w_id, no_d_id, MIN(no_o_id), MAX(no_o_id), COUNT(*) FROM new_order
GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)]]},
  {name = "4", meaning = "sum of O_OL_CNT = number of order lines, per district",
   sql = [[
SELECT w, d, SUM(a) AS ol_cnt, SUM(b) AS lines_ FROM (
  SELECT o_w_id AS w, o_d_id AS d, SUM(o_ol_cnt) AS a, 0 AS b FROM orders GROUP BY o_w_id,
    o_d_id UNION ALL
  SELECT ol_w_id, ol_d_id, 0, COUNT(*) FROM order_line GROUP BY ol_w_id, ol_d_id) t
GROUP BY w, d HAVING SUM(a) <> SUM(b)]]},
  {name = "5", meaning = "orders without carrier are exactly the rows of new_order",
   sql = [[
SELECT w, d, o FROM (
  SELECT o_w_id AS w, o_d_id AS d, o_id AS o, 1 AS n FROM orders WHERE o_carrier_id IS NULL
    UNION ALL
  SELECT no_w_id, no_d_id, no_o_id, 2 FROM new_order) t
GROUP BY w, d, o HAVING SUM(n) <> 3]]},
  {name = "6", meaning = "O_OL_CNT = number of lines, per order",
   sql = [[
SELECT w, d, o, SUM(a) AS ol_cnt, SUM(b) AS lines_ FROM (
  SELECT o_w_id AS w, o_d_id AS d, o_id AS o, o_ol_cnt AS a, 0 AS b FROM orders UNION ALL
  SELECT ol_w_id, ol_d_id, ol_o_id, 0, COUNT(*) FROM order_line GROUP BY ol_w_id, ol_d_id,
    ol_o_id) t
GROUP BY w, d, o HAVING SUM(a) <> SUM(b)]]},
  {name = "7", meaning = "lines have no delivery date exactly where their order has no carrier",
   sql = [[
SELECT w, d, o, CASE WHEN o_carrier_id IS NULL THEN 1 ELSE 0 END AS open_, n AS lines_, undated
FROM (
  SELECT ol_w_id AS w, ol_d_id AS d, ol_o_id AS o, COUNT(*) AS n,
    COUNT(*) - COUNT(ol_delivery_d) AS undated FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l
LEFT JOIN orders ON o_w_id = w AND o_d_id = d AND o_id = o
WHERE o_id IS NULL OR undated <> CASE WHEN o_carrier_id IS NULL THEN n ELSE 0 END]]},
  {name = "8", meaning = "W_YTD = sum of H_AMOUNT, per warehouse",
   sql = [[
SELECT w, SUM(a) AS w_ytd_, SUM(b) AS paid FROM (
  SELECT w_id AS w, w_ytd AS a, 0 AS b, 1 AS n FROM warehouse UNION ALL
  SELECT h_w_id, 0, SUM(h_amount), 2 FROM history GROUP BY h_w_id) t
GROUP BY w HAVING SUM(n) = 2 OR ABS(SUM(a) - SUM(b)) > 0.004]]},
  {name = "9", meaning = "D_YTD = sum of H_AMOUNT, per district",
   sql = [[
SELECT w, d, SUM(a) AS d_ytd_, SUM(b) AS paid FROM (
  SELECT d_w_id AS w, d_id AS d, d_ytd AS a, 0 AS b, 1 AS n FROM district UNION ALL
  SELECT h_w_id, h_d_id, 0, SUM(h_amount), 2 FROM history GROUP BY h_w_id, h_d_id) t
GROUP BY w, d HAVING SUM(n) = 2 OR ABS(SUM(a) - SUM(b)) > 0.004]]},
  {name = "10", meaning = "C_BALANCE = delivered OL_AMOUNT - H_AMOUNT, per customer",
   sql = [[
SELECT w, d, c, SUM(a) AS balance, SUM(b) AS delivered, SUM(p) AS paid FROM (
  SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_balance AS a, 0 AS b, 0 AS p, 1 AS n FROM
    customer UNION ALL
  SELECT o_w_id, o_d_id, o_c_id, 0, s, 0, 0 FROM orders JOIN (
      SELECT ol_w_id, ol_d_id, ol_o_id, SUM(ol_amount) AS s FROM order_line
      WHERE ol_delivery_d IS NOT NULL GROUP BY ol_w_id, ol_d_id, ol_o_id) l
    ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id UNION ALL
  SELECT h_c_w_id, h_c_d_id, h_c_id, 0, 0, h_amount, 0 FROM history) t
GROUP BY w, d, c HAVING SUM(n) <> 1 OR ABS(SUM(a) - SUM(b) + SUM(p)) > 0.004]]},
  {name = "11", meaning = "orders - open orders = 2100 + deliveries since the load, per district",
   sql = [[
SELECT w, d, SUM(o) AS orders_, SUM(m) AS open_, SUM(dl) AS delivered FROM (
  SELECT d_w_id AS w, d_id AS d, 0 AS o, 0 AS m, 0 AS dl, 1 AS n FROM district UNION ALL
  SELECT o_w_id, o_d_id, COUNT(*), 0, 0, 0 FROM orders GROUP BY o_w_id, o_d_id UNION ALL
  SELECT no_w_id, no_d_id, 0, COUNT(*), 0, 0 FROM new_order GROUP BY no_w_id, no_d_id UNION ALL
  SELECT c_w_id, c_d_id, 0, 0, SUM(c_delivery_cnt), 0 FROM customer GROUP BY c_w_id, c_d_id) t
GROUP BY w, d HAVING SUM(n) <> 1 OR SUM(o) - SUM(m) <> 2100 + SUM(dl)]]},
  {name = "12", meaning = "C_BALANCE + C_YTD_PAYMENT = delivered OL_AMOUNT, per customer",
   sql = [[
SELECT w, d, c, COALESCE(c_balance + c_ytd_payment, 0) AS balance_ytd, s AS delivered FROM (
  SELECT o_w_id AS w, o_d_id AS d, o_c_id AS c, SUM(ol_amount) AS s FROM orders JOIN order_line
    ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
    WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) l
LEFT JOIN customer ON c_w_id = w AND c_d_id = d AND c_id = c
WHERE c_id IS NULL OR ABS(c_balance + c_ytd_payment - s) > 0.004
UNION ALL SELECT c_w_id, c_d_id, c_id, c_balance + c_ytd_payment, 0 FROM customer
WHERE ABS(c_balance + c_ytd_payment) > 0.004 AND NOT EXISTS (
  SELECT 1 FROM orders JOIN order_line ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
  WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id AND ol_delivery_d IS NOT NULL)]]},
  {name = "S1", meaning = "C_PAYMENT_CNT = rows of history, per customer",
   sql = [[
SELECT w, d, c, SUM(a) AS cnt, SUM(b) AS rows_ FROM (
  SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_payment_cnt AS a, 0 AS b FROM customer UNION ALL
  SELECT h_c_w_id, h_c_d_id, h_c_id, 0, COUNT(*) FROM history GROUP BY h_c_w_id, h_c_d_id,
    h_c_id) t
GROUP BY w, d, c HAVING SUM(a) <> SUM(b)]]},
  {name = "S2", meaning = "C_DELIVERY_CNT = orders above 2100 with a carrier, per customer",
   sql = [[
SELECT w, d, c, SUM(a) AS cnt, SUM(b) AS orders_ FROM (
  SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_delivery_cnt AS a, 0 AS b FROM customer UNION ALL
  SELECT o_w_id, o_d_id, o_c_id, 0, COUNT(*) FROM orders WHERE o_id > 2100 AND o_carrier_id IS
    NOT NULL
    GROUP BY o_w_id, o_d_id, o_c_id) t
GROUP BY w, d, c HAVING SUM(a) <> SUM(b)]]},
  {name = "S3",
   meaning = "S_YTD = OL_QUANTITY of orders above 3000, per item and supplying warehouse",
   sql = [[
SELECT w, i, SUM(a) AS ytd, SUM(b) AS sold FROM (
  SELECT s_w_id AS w, s_i_id AS i, s_ytd AS a, 0 AS b FROM stock WHERE s_ytd <> 0 UNION ALL
  SELECT ol_supply_w_id, ol_i_id, 0, SUM(ol_quantity) FROM order_line WHERE ol_o_id > 3000
    GROUP BY ol_supply_w_id, ol_i_id) t
GROUP BY w, i HAVING SUM(a) <> SUM(b)]]},
  {name = "S4",
   meaning = "S_ORDER_CNT and S_REMOTE_CNT = such lines, and those from other warehouses",
   sql = [[
SELECT w, i, SUM(a) AS cnt, SUM(b) AS lines_, SUM(r) AS remote, SUM(q) AS far FROM (
  SELECT s_w_id AS w, s_i_id AS i, s_order_cnt AS a, 0 AS b, s_remote_cnt AS r, 0 AS q FROM stock
    WHERE s_order_cnt <> 0 OR s_remote_cnt <> 0 UNION ALL
  SELECT ol_supply_w_id, ol_i_id, 0, COUNT(*), 0, SUM(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1
    ELSE 0 END)
    FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) t
GROUP BY w, i HAVING SUM(a) <> SUM(b) OR SUM(r) <> SUM(q)]]},
  {name = "S5", meaning = "S_QUANTITY stays within 10..100",
   sql = [[
SELECT s_w_id, s_i_id, s_quantity FROM stock WHERE s_quantity NOT BETWEEN 10 AND 100]]},
  {name = "S6", meaning = "OL_AMOUNT = OL_QUANTITY x I_PRICE, orders above 3000",
   sql = [[
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_amount FROM order_line LEFT JOIN item ON i_id =
  ol_i_id
WHERE ol_o_id > 3000 AND (i_id IS NULL OR ABS(ol_amount - ol_quantity * i_price) > 0.004
  OR ol_quantity NOT BETWEEN 1 AND 10)]]},
  {name = "S7", meaning = "O_ALL_LOCAL = 1 exactly where all lines come from the order's warehouse",
   sql = [[
SELECT o_w_id, o_d_id, o_id FROM orders JOIN (
  SELECT ol_w_id, ol_d_id, ol_o_id, MAX(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END)
    AS far
  FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l
ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE o_all_local <> 1 - far]]},
  {name = "S8", meaning = "lines of an order are numbered 1..n, n within 5..15",
   sql = [[
SELECT ol_w_id, ol_d_id, ol_o_id, MAX(ol_number), COUNT(*) FROM order_line GROUP BY ol_w_id,
  ol_d_id, ol_o_id
HAVING MAX(ol_number) <> COUNT(*) OR MIN(ol_number) <> 1 OR COUNT(*) NOT BETWEEN 5 AND 15
UNION ALL SELECT o_w_id, o_d_id, o_id, 0, 0 FROM orders WHERE o_ol_cnt = 0]]},
}
