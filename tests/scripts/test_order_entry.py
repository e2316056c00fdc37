# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what `order_entry prepare` loads into SQLite, and that reset brings it back."""
import re
import shutil
import sqlite3

import pytest

import order_rows
from lua import command

TABLES = ("warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "item", "stock")


class Database:
    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "sbtest.sqlite"

    def bench(self, *args):
        return command(["order_entry", "--db-driver=sqlite", *args], self.folder)

    def query(self, sql):
        with sqlite3.connect(self.file) as connection:
            return [[None if value is None else str(value) for value in row] for row in connection.execute(sql)]

    def change(self, text):
        with sqlite3.connect(self.file) as connection:
            connection.executescript(text)

    def all_rows(self):
        """The number of rows of each table and a checksum that does not depend on their order."""
        with sqlite3.connect(self.file) as connection:
            hashes = {table: list(map(hash, connection.execute(f"SELECT * FROM {table}"))) for table in TABLES}
        return {table: (len(rows), sum(rows)) for table, rows in hashes.items()}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """A database with a warehouse."""
    db = Database(tmp_path_factory.mktemp("loaded"))
    r = db.bench("--rand-seed=40", "--threads=2", "prepare")
    assert r.status == 0, r.err
    assert r.lines[-2] == "Loaded: 1 warehouse" and r.out.count("Loading warehouse") == 1
    return db


@pytest.fixture
def copy(loaded, tmp_path):
    shutil.copy(loaded.file, tmp_path)
    return Database(tmp_path)


def refused(result):
    assert result.status == 1 and result.out.count("\n") <= 1
    return result.err.replace("FATAL: ", "").strip()


def test_rows_have_their_distributions(loaded):
    """Chi-square at 1 %, binomial shares at 1 %; the seed decides."""
    assert order_rows.Rows("sqlite", loaded.query, 1).faults() == []


def test_indexes_and_settings(loaded):
    indexes = loaded.query("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    assert sorted(indexes) == [["customer_name", "customer"], ["orders_customer", "orders"]]
    settings = dict(loaded.query("SELECT name, value FROM oe_settings"))
    assert settings["warehouses"] == settings["wanted"] == settings["version"] == "1"
    assert 0 <= int(settings["c_last_load"]) <= 255 and settings["warehouse 1"] == loaded.query(
        "SELECT DISTINCT c_since FROM customer")[0][0]


def test_prepare_again_changes_nothing(copy):
    before = copy.all_rows()
    r = copy.bench("prepare")
    assert r.status == 0 and "Loading" not in r.out and copy.all_rows() == before


# More orders of a district than one transaction of a reset deletes: their numbers are 6001 to 12000.
MANY_ORDERS = "".join(f"""
INSERT INTO orders SELECT o_id + {more}, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local
FROM orders WHERE o_d_id = 3 AND o_id <= 3000;
INSERT INTO order_line SELECT ol_o_id + {more}, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
ol_quantity, ol_amount, ol_dist_info FROM order_line WHERE ol_d_id = 3 AND ol_o_id <= 3000;
""" for more in (6000, 9000))


def test_reset_brings_the_loaded_rows_back(copy):
    before, settings = copy.all_rows(), copy.query("SELECT * FROM oe_settings ORDER BY name")
    copy.change(order_rows.run_text("sqlite") + MANY_ORDERS)
    changed = copy.all_rows()
    assert [table for table in TABLES if changed[table] == before[table]] == ["item"]
    counts = [rows for rows, _ in (changed[table] for table in ("orders", "history", "new_order"))]
    orders, payments, opened = (n - loaded for n, loaded in zip(counts, (30000, 30000, 9000)))
    r = copy.bench("--threads=2", "--sql-trace=trace", "reset")
    assert r.status == 0, r.err
    # One for each 3000 numbers above 3000 in the district with many orders, each district, the customers and the stock.
    assert (copy.folder / "trace").read_text().count("] COMMIT\n") == 3 + 10 + 2
    assert r.lines[-1] == (f"Reset: 1 warehouse; {orders} orders and {payments} payments deleted, "
                           f"{orders - opened} deliveries of districts undone")
    assert min(orders, payments, orders - opened) > 1
    after = copy.all_rows()
    assert [table for table in TABLES if after[table] != before[table]] == []
    assert copy.query("SELECT * FROM oe_settings ORDER BY name") == settings


def test_a_database_that_is_not_ready_is_refused(copy, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(Database(empty).bench("reset")) == (
        "there are no tables of order_entry; make them with: bench order_entry --warehouses=N prepare")
    copy.change("UPDATE oe_settings SET value = '3' WHERE name = 'wanted'")
    assert refused(copy.bench("reset")) == (
        "the tables of order_entry are half loaded: 1 of 3 warehouses; continue with: "
        "bench order_entry --warehouses=3 prepare")
    copy.change("UPDATE oe_settings SET value = '1' WHERE name = 'wanted'; INSERT INTO oe_settings VALUES ('reset', 'x')")
    assert "a reset of order_entry has not ended" in refused(copy.bench("prepare"))
    assert copy.bench("reset").status == 0
    copy.change("UPDATE oe_settings SET value = '0' WHERE name = 'version'")
    assert "were made by rules of version 0" in refused(copy.bench("reset"))
    copy.change("UPDATE oe_settings SET value = '1' WHERE name = 'version'")
    assert "history was made without a key of its own" in refused(copy.bench("--order-history-key", "prepare"))


def test_cleanup_drops_all_tables(copy):
    assert copy.bench("cleanup").status == 0
    assert copy.query("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'") == []


def test_tables_of_others_stay(tmp_path):
    """Their names are common; nothing is changed before all is known to be the workload's."""
    db = Database(tmp_path)
    db.change("CREATE TABLE item (a INT); INSERT INTO item VALUES (5)")
    for name in "prepare", "cleanup":
        assert refused(db.bench(name)) == ("the database has a table 'item' that order_entry has not made; use another "
                                           "database, or rename the table")
    assert db.query("SELECT name FROM sqlite_master") == [["item"]] and db.query("SELECT a FROM item") == [["5"]]


@pytest.mark.parametrize("name", ["prepare", "run", "check", "reset"])
def test_a_dialect_is_refused(tmp_path, name):
    """Before anything is changed; help is printed, and tables can be dropped."""
    r = command(["order_entry", "--db-driver=sqlite", name], tmp_path, BENCH_COMPAT="1.0")
    assert r.status == 1
    assert ("order_entry cannot be used in a dialect: leave out --compat and BENCH_COMPAT, and start the program as "
            "bench\n") in r.out + r.err
    assert list(tmp_path.iterdir()) == []
    assert "--warehouses" in command(["order_entry", "help"], tmp_path, BENCH_COMPAT="1.0").out
    assert command(["order_entry", "--db-driver=sqlite", "cleanup"], tmp_path, BENCH_COMPAT="1.0").status == 0


@pytest.mark.parametrize("value", ["-1", "1.5", "2000000"])
def test_numbers_of_warehouses_are_checked(tmp_path, value):
    r = Database(tmp_path).bench(f"--warehouses={value}", "prepare")
    assert r.status == 1 and re.search(r"--warehouses", r.err)
