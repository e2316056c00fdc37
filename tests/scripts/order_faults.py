# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults for the rows of a warehouse of order_entry that has just been loaded, and what a check finds of them."""

# A right order, the first after the load, of district 10: five lines of the items 11 to 15, one each.
ORDER = """
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
  VALUES (3001, 10, 1, 1, '2026-11-28 00:00:00', 5, 1);
INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (3001, 10, 1);
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
  ol_dist_info) SELECT 3001, 10, 1, i_id - 10, i_id, 1, 1, i_price, 'x' FROM item WHERE i_id BETWEEN 11 AND 15;
UPDATE district SET d_next_o_id = 3002 WHERE d_w_id = 1 AND d_id = 10;
UPDATE stock SET s_ytd = 1, s_order_cnt = 1 WHERE s_w_id = 1 AND s_i_id BETWEEN 11 AND 15;
"""

# Each fault is in rows of its own, so that all of them can be planted at once.
FAULTS = """
UPDATE district SET d_ytd = d_ytd + 1 WHERE d_w_id = 1 AND d_id = 1;
UPDATE history SET h_amount = 11 WHERE h_c_w_id = 1 AND h_c_d_id = 2 AND h_c_id = 5;
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 3;
DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 4 AND no_o_id = 2500;
UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 1 AND o_d_id = 5 AND o_id = 17;
UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 1 AND ol_d_id = 6 AND ol_o_id = 18 AND ol_number = 1;
UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 1 AND c_d_id = 7 AND c_id = 19;
UPDATE customer SET c_payment_cnt = 2 WHERE c_w_id = 1 AND c_d_id = 8 AND c_id IN (20, 21);
UPDATE customer SET c_delivery_cnt = 1 WHERE c_w_id = 1 AND c_d_id = 8 AND c_id = 22;
UPDATE stock SET s_ytd = 1 WHERE s_w_id = 1 AND s_i_id = 1;
UPDATE stock SET s_remote_cnt = 1 WHERE s_w_id = 1 AND s_i_id = 2;
UPDATE stock SET s_quantity = 9 WHERE s_w_id = 1 AND s_i_id = 3;
UPDATE order_line SET ol_amount = 0 WHERE ol_w_id = 1 AND ol_d_id = 10 AND ol_o_id = 3001 AND ol_number = 4;
UPDATE orders SET o_all_local = 0 WHERE o_w_id = 1 AND o_d_id = 9 AND o_id = 23;
UPDATE order_line SET ol_number = 99 WHERE ol_w_id = 1 AND ol_d_id = 9 AND ol_o_id = 24 AND ol_number = 2;
DELETE FROM item WHERE i_id = 99;
"""

# For each condition, the number of its violating rows and the keys of the first.
FOUND = {
    "1": ("1 row", "w=1, "), "2": ("1 row", "w=1, d=3, next=3001, max_o=3000, max_no=3000"),
    "3": ("1 row", "no_w_id=1, no_d_id=4, MIN(no_o_id)=2101, MAX(no_o_id)=3000, COUNT(*)=899"),
    "4": ("1 row", "w=1, d=5, "), "5": ("1 row", "w=1, d=4, o=2500"), "6": ("1 row", "w=1, d=5, o=17, "),
    "7": ("1 row", "w=1, d=6, o=18, open=0, "), "8": ("1 row", "w=1, "), "9": ("2 rows", "w=1, d=1, "),
    "10": ("2 rows", "w=1, d=2, c=5, "), "11": ("2 rows", "w=1, d=4, orders=3000, open=899, delivered=0"),
    "12": ("1 row", "w=1, d=7, c=19, "), "S1": ("2 rows", "w=1, d=8, c=20, cnt=2, rows=1"),
    "S2": ("1 row", "w=1, d=8, c=22, cnt=1, orders=0"), "S3": ("1 row", "w=1, i=1, ytd=1, sold=0"),
    "S4": ("1 row", "w=1, i=2, cnt=0, lines=0, remote=1, far=0"), "S5": ("1 row", "s_w_id=1, s_i_id=3, s_quantity=9"),
    "S6": ("1 row", "ol_w_id=1, ol_d_id=10, ol_o_id=3001, ol_number=4, ol_amount=0"),
    "S7": ("1 row", "o_w_id=1, o_d_id=9, o_id=23"), "S8": ("1 row", "ol_w_id=1, ol_d_id=9, ol_o_id=24, MAX(ol_number)=99, "),
    "rows": ("1 row", "table=item, rows=99999, expected=100000"),
}
