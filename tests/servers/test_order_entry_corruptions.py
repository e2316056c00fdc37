# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that `order_entry check` finds corruptions that its author did not plant, each with the conditions that it
violates and no other, and that it raises no alarm after a load, a run, and a server that was killed."""
import re
import subprocess
import time

import pytest

import transcripts
from servers import BENCH
from test_order_entry_servers import query, sums
from test_workloads import bench, must

# Of warehouse 1 and district 1: orders and customers that a run has left in some state, and items.  A value may name
# those before it.
FACTS = {
    "O": "o_w_id = 1 AND o_d_id = 1 AND o_id",
    "L": "ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id",
    "N": "no_w_id = 1 AND no_d_id = 1 AND no_o_id",
    "C": "c_w_id = 1 AND c_d_id = 1 AND c_id",
    "H": "h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id",
    # The oldest open order, the newest order, and one of the run without remote lines.
    "open": "SELECT MIN(no_o_id) FROM new_order WHERE no_w_id = 1 AND no_d_id = 1",
    "last": "SELECT MAX(o_id) FROM orders WHERE o_w_id = 1 AND o_d_id = 1",
    "new": "SELECT MIN(o_id) FROM orders WHERE o_w_id = 1 AND o_d_id = 1 AND o_id > 3000 AND o_all_local = 1",
    # Who bought by order 5, got the order before the oldest open one, and made the largest payment.
    "buyer": "SELECT o_c_id FROM orders WHERE {O} = 5",
    "receiver": "SELECT o_c_id FROM orders WHERE {O} = {open} - 1",
    "payer": "SELECT h_c_id FROM history WHERE h_c_w_id = 1 AND h_c_d_id = 1 ORDER BY h_amount DESC LIMIT 1",
    # A customer whom the run has neither paid nor delivered anything for, and who waits for an order.
    "idle": "SELECT MIN(c_id) FROM customer JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id "
            "WHERE c_w_id = 1 AND c_d_id = 1 AND o_id BETWEEN 2500 AND 3000 AND c_payment_cnt = 1 "
            "AND c_delivery_cnt = 0",
    # An item of the new order that the two warehouses have not sold equally often, its line, and one that the run has
    # not sold.
    "sold": "SELECT MIN(ol_i_id) FROM order_line JOIN stock a ON a.s_i_id = ol_i_id AND a.s_w_id = 1 "
            "JOIN stock b ON b.s_i_id = ol_i_id AND b.s_w_id = 2 WHERE {L} = {new} AND a.s_order_cnt <> b.s_order_cnt",
    "line": "SELECT MIN(ol_number) FROM order_line WHERE {L} = {new} AND ol_i_id = {sold}",
    "unsold": "SELECT MIN(i_id) FROM item WHERE i_id NOT IN (SELECT ol_i_id FROM order_line WHERE ol_o_id > 3000)",
}

# The rows that corruptions touch, before and afterwards; those before are kept in tables saved_NAME.
REGIONS = {
    "warehouse": "w_id > 0",
    "district": "d_w_id > 0",
    "customer": "c_d_id IN (1, 2) AND c_id IN (1, 2, {buyer}, {receiver}, {payer}, {idle})",
    "history": "h_d_id IN (1, 2) OR h_c_d_id IN (1, 2)",
    "new_order": "no_d_id IN (1, 2)",
    "orders": "o_d_id IN (1, 2) AND o_id IN (5, 1000, 1500, 1501, 2000, 2700, {open}, {open} - 1, {new}, {last})",
    "order_line": "ol_d_id IN (1, 2) AND ol_o_id IN (0, 1000, 1500, 1501, 2000, 2700, {open}, {open} - 1, {new}, "
                  "{last})",
    "item": "i_id IN ({sold}, {unsold}, 100001)",
    "stock": "s_i_id IN ({sold}, {unsold}, 100001)",
}

LINE = "ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info"
OTHERS = "ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info"

# What is wrong, how it is planted, and the conditions that are violated.
CORRUPTIONS = [
    ("a warehouse has a cent too much",
     "UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 1", "1 8"),
    ("a district's money is in the same district of another warehouse",
     "UPDATE district SET d_ytd = d_ytd + CASE d_w_id WHEN 1 THEN 5 ELSE -5 END WHERE d_id = 1", "1 9"),
    ("the warehouses' money is swapped",
     "UPDATE warehouse SET w_ytd = (SELECT s.w_ytd FROM saved_warehouse s WHERE s.w_id = 3 - warehouse.w_id)", "1 8"),
    ("a warehouse is lost", "DELETE FROM warehouse WHERE w_id = 2", "1 8 rows"),
    ("a warehouse has no districts",
     "INSERT INTO warehouse SELECT 3, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, 0 "
     "FROM saved_warehouse WHERE w_id = 1", "1 rows"),
    ("a district is lost", "DELETE FROM district WHERE d_w_id = 2 AND d_id = 10", "1 2 9 11 rows"),
    ("a district has no orders",
     "INSERT INTO district SELECT 11, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, 0, 3001 "
     "FROM saved_district WHERE d_w_id = 1 AND d_id = 1", "2 11 rows"),
    ("the next order number is one too large",
     "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 1", "2"),
    ("two districts' next order numbers cancel out",
     "UPDATE district SET d_next_o_id = d_next_o_id + CASE d_id WHEN 1 THEN 1 ELSE -1 END "
     "WHERE d_w_id = 1 AND d_id IN (1, 2)", "2"),
    ("the newest order is lost with all that belongs to it",
     "DELETE FROM orders WHERE {O} = {last}; DELETE FROM order_line WHERE {L} = {last}; "
     "DELETE FROM new_order WHERE {N} = {last}", "2 S3 S4"),
    ("the newest open order is marked with another number",
     "UPDATE new_order SET no_o_id = no_o_id + 1000 WHERE {N} = {last}", "2 3 5"),
    ("an open order is not marked", "DELETE FROM new_order WHERE {N} = 2700", "3 5 11"),
    ("a delivered order is marked as open",
     "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (2000, 1, 1)", "3 5 11"),
    ("the mark of an open order is at a delivered one",
     "UPDATE new_order SET no_o_id = 2000 WHERE {N} = 2700", "3 5"),
    ("the mark of an open order is in another district",
     "DELETE FROM new_order WHERE {N} = 2700; "
     "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (2000, 2, 1)", "3 5 11"),
    ("the marks of a district are consecutive, and all one too small",
     "DELETE FROM new_order WHERE {N} = {last}; "
     "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ({open} - 1, 1, 1)", "2 5"),
    ("a line is lost", "DELETE FROM order_line WHERE {L} = {new} AND ol_number = 2", "4 6 S3 S4 S8"),
    ("a line has no order",
     f"INSERT INTO order_line ({LINE}) SELECT 0, 1, 1, 1, {OTHERS} FROM saved_order_line "
     "WHERE {L} = 1000 AND ol_number = 1", "4 6 7 S8"),
    ("two districts' numbers of lines cancel out",
     "UPDATE orders SET o_ol_cnt = o_ol_cnt + CASE o_d_id WHEN 1 THEN 1 ELSE -1 END "
     "WHERE o_w_id = 1 AND o_d_id IN (1, 2) AND o_id = 1000", "4 6"),
    ("a line is in another warehouse",
     "UPDATE order_line SET ol_w_id = 2, ol_number = 16 WHERE {L} = 1000 AND ol_number = 1", "4 6 S7 S8"),
    ("an open order has a carrier", "UPDATE orders SET o_carrier_id = 3 WHERE {O} = 2700", "5 7 S2"),
    ("a delivered order has no carrier", "UPDATE orders SET o_carrier_id = NULL WHERE {O} = 2000", "5 7"),
    ("two orders' carriers cancel out",
     "UPDATE orders SET o_carrier_id = CASE o_id WHEN 2700 THEN 3 END WHERE {O} IN (2000, 2700)", "5 7 S2"),
    ("two orders' numbers of lines cancel out",
     "UPDATE orders SET o_ol_cnt = o_ol_cnt + CASE o_id WHEN 1500 THEN 1 ELSE -1 END WHERE {O} IN (1500, 1501)", "6"),
    ("a line is in another order",
     "UPDATE order_line SET ol_o_id = 1501, ol_number = 16 WHERE {L} = 1500 AND ol_number = 1", "6 S8"),
    ("an order has no lines", "DELETE FROM order_line WHERE {L} = 2000", "4 6"),
    ("an order has no lines, and promises none",
     "DELETE FROM order_line WHERE {L} = 2000; UPDATE orders SET o_ol_cnt = 0 WHERE {O} = 2000", "S8"),
    ("a delivered line has NULL instead of a date",
     "UPDATE order_line SET ol_delivery_d = NULL WHERE {L} = 2000 AND ol_number = 3", "7"),
    ("a line of an open order has a date",
     "UPDATE order_line SET ol_delivery_d = (SELECT MAX(s.o_entry_d) FROM saved_orders s) "
     "WHERE {L} = 2700 AND ol_number = 3", "7 10 12"),
    ("the dates of a delivered order are at an open one",
     "UPDATE order_line SET ol_delivery_d = CASE ol_o_id WHEN 2700 THEN (SELECT MAX(s.o_entry_d) "
     "FROM saved_orders s) END WHERE {L} IN (2000, 2700)", "7 10 12"),
    ("a payment is lost", "DELETE FROM history WHERE {H} = {idle}", "8 9 10 S1"),
    ("a payment is there twice",
     "INSERT INTO history SELECT * FROM saved_history WHERE {H} = {idle}", "8 9 10 S1"),
    ("a payment is in another warehouse", "UPDATE history SET h_w_id = 2 WHERE {H} = {idle}", "8 9"),
    ("a payment is in another district", "UPDATE history SET h_d_id = 2 WHERE {H} = {idle}", "9"),
    ("two districts' money cancels out",
     "UPDATE district SET d_ytd = d_ytd + CASE d_id WHEN 1 THEN 7 ELSE -7 END WHERE d_w_id = 1 AND d_id IN (1, 2)",
     "9"),
    ("a district has no history", "DELETE FROM history WHERE h_w_id = 1 AND h_d_id = 1", "8 9 10 S1"),
    ("a district has no history, and no money",
     "UPDATE warehouse SET w_ytd = w_ytd - (SELECT s.d_ytd FROM saved_district s WHERE s.d_w_id = 1 AND s.d_id = 1) "
     "WHERE w_id = 1; UPDATE district SET d_ytd = 0 WHERE d_w_id = 1 AND d_id = 1; "
     "DELETE FROM history WHERE h_w_id = 1 AND h_d_id = 1", "10 S1"),
    ("all totals agree with a payment that the customer has not made",
     "UPDATE history SET h_amount = h_amount + 5 WHERE {H} = {idle}; UPDATE warehouse SET w_ytd = w_ytd + 5 "
     "WHERE w_id = 1; UPDATE district SET d_ytd = d_ytd + 5 WHERE d_w_id = 1 AND d_id = 1", "10"),
    ("two customers' balances are swapped",
     "UPDATE customer SET c_balance = (SELECT SUM(s.c_balance) FROM saved_customer s WHERE s.c_w_id = 1 "
     "AND s.c_d_id = 1 AND s.c_id IN ({payer}, {idle})) - c_balance WHERE {C} IN ({payer}, {idle})", "10 12"),
    ("a customer's balance and payments cancel out",
     "UPDATE customer SET c_balance = c_balance - 5, c_ytd_payment = c_ytd_payment + 5 WHERE {C} = {idle}", "10"),
    ("the payments of two customers are swapped",
     "UPDATE history SET h_c_id = CASE h_c_id WHEN {payer} THEN {idle} ELSE {payer} END WHERE {H} = {idle} "
     "OR {H} = {payer} AND h_amount = (SELECT MAX(s.h_amount) FROM saved_history s WHERE s.h_c_w_id = 1 "
     "AND s.h_c_d_id = 1)", "10"),
    ("a payment is the one of another customer", "UPDATE history SET h_c_id = {payer} WHERE {H} = {idle}", "10 S1"),
    ("the customers of two orders are swapped",
     "UPDATE orders SET o_c_id = (SELECT s.o_c_id FROM saved_orders s WHERE s.o_w_id = 1 AND s.o_d_id = 1 "
     "AND s.o_id = 2 * {open} - 1 - orders.o_id) WHERE {O} IN ({open} - 1, {open})", "10 12 S2"),
    ("a delivered order is lost with its lines",
     "DELETE FROM orders WHERE {O} = 1000; DELETE FROM order_line WHERE {L} = 1000", "11"),
    ("a delivery is counted twice",
     "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE {C} = {receiver}", "11 S2"),
    ("a delivery is undone but for the customer",
     "UPDATE orders SET o_carrier_id = NULL WHERE {O} = {open} - 1; UPDATE order_line SET ol_delivery_d = NULL "
     "WHERE {L} = {open} - 1; INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ({open} - 1, 1, 1)",
     "10 11 12 S2"),
    ("two districts' deliveries cancel out",
     "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + CASE c_d_id WHEN 1 THEN 1 ELSE -1 END "
     "WHERE c_w_id = 1 AND c_d_id IN (1, 2) AND c_id = 1", "11 S2"),
    ("a customer is lost", "DELETE FROM customer WHERE {C} = {buyer}", "10 12 S1 rows"),
    ("a customer is lost, and all totals agree",
     "DELETE FROM customer WHERE {C} = {idle}; DELETE FROM history WHERE {H} = {idle}; UPDATE warehouse "
     "SET w_ytd = w_ytd - 10 WHERE w_id = 1; UPDATE district SET d_ytd = d_ytd - 10 WHERE d_w_id = 1 AND d_id = 1",
     "rows"),
    ("a customer has paid more", "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE {C} = 1", "12"),
    ("two customers' payments cancel out",
     "UPDATE customer SET c_ytd_payment = c_ytd_payment + CASE c_id WHEN 1 THEN 1 ELSE -1 END WHERE {C} IN (1, 2)",
     "12"),
    ("the amount of a delivered line is larger",
     "UPDATE order_line SET ol_amount = ol_amount + 1 WHERE {L} = 2000 AND ol_number = 1", "10 12"),
    ("a payment is counted twice", "UPDATE customer SET c_payment_cnt = c_payment_cnt + 1 WHERE {C} = 1", "S1"),
    ("two customers' numbers of payments are swapped",
     "UPDATE customer SET c_payment_cnt = (SELECT SUM(s.c_payment_cnt) FROM saved_customer s WHERE s.c_w_id = 1 "
     "AND s.c_d_id = 1 AND s.c_id IN ({payer}, {idle})) - c_payment_cnt WHERE {C} IN ({payer}, {idle})", "S1"),
    ("two customers' deliveries cancel out",
     "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + CASE c_id WHEN 1 THEN 1 ELSE -1 END WHERE {C} IN (1, 2)",
     "S2"),
    ("two items' sales cancel out",
     "UPDATE stock SET s_ytd = s_ytd + CASE s_i_id WHEN {sold} THEN 1 ELSE -1 END "
     "WHERE s_w_id = 1 AND s_i_id IN ({sold}, {unsold})", "S3"),
    ("an item was never taken from stock",
     "UPDATE stock SET s_ytd = 0, s_order_cnt = 0 WHERE s_w_id = 1 AND s_i_id = {sold}", "S3 S4"),
    ("a line has another quantity and its amount",
     "UPDATE order_line SET ol_amount = ol_amount / ol_quantity * (11 - ol_quantity), ol_quantity = 11 - ol_quantity "
     "WHERE {L} = {new} AND ol_number = {line}", "S3"),
    ("a line is supplied by another warehouse",
     "UPDATE order_line SET ol_supply_w_id = 2 WHERE {L} = {new} AND ol_number = {line}", "S3 S4 S7"),
    ("the counters of two warehouses' stock are swapped",
     "UPDATE stock SET s_order_cnt = (SELECT s.s_order_cnt FROM saved_stock s WHERE s.s_i_id = {sold} "
     "AND s.s_w_id = 3 - stock.s_w_id) WHERE s_i_id = {sold}", "S4"),
    ("a remote line is counted that there is not",
     "UPDATE stock SET s_remote_cnt = s_remote_cnt + 1 WHERE s_w_id = 1 AND s_i_id = {unsold}", "S4"),
    ("the stock of an item is lost", "DELETE FROM stock WHERE s_w_id = 1 AND s_i_id = {sold}", "S3 S4 rows"),
    ("the stock of an unsold item is lost", "DELETE FROM stock WHERE s_w_id = 2 AND s_i_id = {unsold}", "rows"),
    ("the stock of an unsold item is that of no item",
     "UPDATE stock SET s_i_id = 100001 WHERE s_w_id = 2 AND s_i_id = {unsold}", "rows"),
    ("a stock is too small", "UPDATE stock SET s_quantity = 9 WHERE s_w_id = 2 AND s_i_id = {unsold}", "S5"),
    ("a stock is too large", "UPDATE stock SET s_quantity = 101 WHERE s_w_id = 1 AND s_i_id = {sold}", "S5"),
    ("an item has another price", "UPDATE item SET i_price = i_price + 0.01 WHERE i_id = {sold}", "S6"),
    ("an item is lost", "DELETE FROM item WHERE i_id = {sold}", "S6 rows"),
    ("an unsold item has another number", "UPDATE item SET i_id = 100001 WHERE i_id = {unsold}", "rows"),
    ("two amounts of an order cancel out",
     "UPDATE order_line SET ol_amount = ol_amount + CASE ol_number WHEN 1 THEN 0.01 ELSE -0.01 END "
     "WHERE {L} = {new} AND ol_number IN (1, 2)", "S6"),
    ("a local order is called remote", "UPDATE orders SET o_all_local = 0 WHERE {O} = 1000", "S7"),
    ("a loaded line is remote",
     "UPDATE order_line SET ol_supply_w_id = 2 WHERE {L} = 1000 AND ol_number = 1", "S7"),
    ("a line's number is skipped",
     "UPDATE order_line SET ol_number = 16 WHERE {L} = 1000 AND ol_number = 3", "S8"),
    ("lines are numbered from 0", "UPDATE order_line SET ol_number = 0 WHERE {L} = 1000 AND ol_number = 1", "S8"),
    ("an order has four lines",
     "DELETE FROM order_line WHERE {L} = 1000 AND ol_number > 4; UPDATE orders SET o_ol_cnt = 4 WHERE {O} = 1000",
     "S8"),
]


def tables_of(text):
    return dict.fromkeys(re.findall(r"(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)", text))


def in_batches():
    """The corruptions; those share a check, which takes seconds, that change other tables and violate other
    conditions."""
    batches = []
    for corruption in CORRUPTIONS:
        parts = {*tables_of(corruption[1]), *corruption[2].split()}
        for batch, used in batches:
            if not used & parts:
                batch.append(corruption)
                used |= parts
                break
        else:
            batches.append(([corruption], parts))
    return [batch for batch, _ in batches]


class Database:
    """Two warehouses after a run, and the rows that corruptions touch."""

    def __init__(self, server):
        self.server, self.facts = server, {}
        must(server, "order_entry", "--warehouses=2", "--threads=2", "prepare", timeout=600)
        self.holds()
        must(server, "order_entry", "--threads=8", "--order-remote=6", "--events=3000", "--order-check=all", "run")
        self.holds()
        for name, text in FACTS.items():
            is_query = text.startswith("SELECT")
            self.facts[name] = query(server, text.format(**self.facts))[0][0] if is_query else text
            assert self.facts[name] is not None, name
        self.regions = {table: region.format(**self.facts) for table, region in REGIONS.items()}
        for table, region in self.regions.items():
            self.change(f"CREATE TABLE saved_{table} AS SELECT * FROM {table} WHERE {region}")
        self.sums = sums(server)

    def change(self, text):
        self.server.sql(("USE spec_db; " if self.server.driver == "mysql" else "") + text)

    def check(self):
        """The exit status, and the names of the conditions that are violated and that hold."""
        status, out, err = bench(self.server, "order_entry", "--threads=2", "check")
        found = dict(re.findall(r"^condition (\w+) .*?: (holds|is violated)", out, re.M))
        assert len(found) == 21, out + err
        return status, {name for name, verdict in found.items() if verdict != "holds"}

    def holds(self):
        assert self.check() == (0, set())

    def undo(self, text):
        for table in tables_of(text):
            self.change(f"DELETE FROM {table} WHERE {self.regions[table]}; "
                        f"INSERT INTO {table} SELECT * FROM saved_{table}")


@pytest.fixture(scope="module", params=["mariadb_victim", "postgresql_victim"])
def database(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    yield Database(server)
    transcripts.empty(server)


@pytest.mark.slow
@pytest.mark.parametrize("corruptions", in_batches(), ids=lambda batch: batch[0][0])
def test_corruptions_are_found(database, corruptions):
    text = "; ".join(text for _, text, _ in corruptions).format(**database.facts)
    violated = {name for _, _, names in corruptions for name in names.split()}
    try:
        database.change(text)
        assert database.check() == (3, violated)
    finally:
        database.undo(text)


@pytest.mark.slow
def test_no_corruption_is_left(database):
    database.holds()
    assert sums(database.server) == database.sums


@pytest.mark.slow
def test_a_server_that_was_killed(database):
    """All conditions hold after kill -9 in the midst of a run, and a restart."""
    server, orders = database.server, "SELECT SUM(d_next_o_id) FROM district"
    begun = int(query(server, orders)[0][0])
    with subprocess.Popen([BENCH, "order_entry", *server.login(), "--threads=4", "--time=0", "run"], cwd="/",
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while int(query(server, orders)[0][0]) < begun + 300:
            assert run.poll() is None
            time.sleep(0.05)
        server.kill()
        run.kill()
    server.start()
    assert int(query(server, orders)[0][0]) > begun
    database.holds()
