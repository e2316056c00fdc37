# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows on databases that transactions of order_entry keep the conditions of the rules in each mode, with the
statements that the mode promises, also when they are repeated."""
import concurrent.futures
import contextlib
import hashlib
import json
import re
import sqlite3
import subprocess
import time

import pytest

import transcripts
from servers import DATABASE
from test_order_entry_servers import TABLES, query, sums
from test_workloads import bench, must

CHECK = """
function prepare()
  local con = sysbench.sql.driver():connect()
  for _, condition in ipairs(require("order_entry.conditions")) do
    print(condition.name, con:query_row(condition.sql) == nil and "holds" or "violated")
  end
  con:disconnect()
end
"""
NAMES = [str(n) for n in range(1, 13)] + [f"S{n}" for n in range(1, 9)]
pytestmark = pytest.mark.without("sqlite", "routine")  # it has none
MODES = ("plain", "batched", "routine")
KINDS = ("new_order", "payment", "order_status", "delivery", "stock_level")


class Database:
    """A loaded database, which the tests of a module share."""

    def __init__(self, folder, driver, login, server=None):
        self.folder, self.driver, self.options, self.server = folder, driver, login, server
        self.has_routines = False
        (folder / "check.lua").write_text(CHECK)
        must(self, "order_entry", "--warehouses=2", "--threads=2", "prepare")

    def make_ready(self, mode):
        """The option for a mode, whose routines are made first."""
        if mode == "routine" and not self.has_routines:
            must(self, "order_entry", "--order-mode=routine", "prepare")
            self.has_routines = True
        return "--order-mode=" + mode

    def login(self):
        return self.options

    def digest(self):
        """The number of rows and a checksum of each table, without dates."""
        if self.server:
            return sums(self.server, dates=False)
        with contextlib.closing(sqlite3.connect(self.folder / "oe.db")) as db:
            found = {}
            for table in TABLES:
                columns = [name for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})") if kind != "DATETIME"]
                rows = db.execute(f"SELECT {', '.join(columns)} FROM {table}")
                found[table] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
            return found

    def query(self, text):
        """The rows of a statement, as texts."""
        if self.server:
            return query(self.server, text)
        with contextlib.closing(sqlite3.connect(self.folder / "oe.db")) as db, db:
            return [[str(value) for value in row] for row in db.execute(text)]

    def check(self):
        out = must(self, str(self.folder / "check.lua"), "prepare")
        assert re.findall(r"^(\w+)\s+(holds|violated)$", out, re.M) == [(name, "holds") for name in NAMES]

    def run(self, *options):
        """Counts of the run by name: metrics of the script, events of each kind, statements, retries, errors."""
        path = self.folder / "run.json"
        must(self, "order_entry", f"--report=json:{path}", *options, "run")
        total = json.loads(path.read_text())["groups"][0]["total"]
        figures = total["figures"]
        n = {c["name"]: c["count"] for c in total["counts"]}
        n.update({k["name"]: k["events"] for k in total["event_kinds"]})
        n["retries"] = sum(k["retries"] for k in total["event_kinds"])
        n["failed"] = sum(k["failed_events"] for k in total["event_kinds"])
        n["statements"] = figures["reads"] + figures["writes"] + figures["other"]
        n["errors"] = figures["errors"]
        return n


@pytest.fixture(scope="module", params=["sqlite", "mariadb_plain", "postgresql"])
def database(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("order_entry")
    if request.param == "sqlite":
        yield Database(folder, "sqlite", ["--db-driver=sqlite", f"--sqlite-db={folder}/oe.db"])
        return
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    yield Database(folder, server.driver, server.login(), server)
    transcripts.empty(server)


def deck(kind):
    return "--order-deck=" + ",".join("1" if k == kind else "0" for k in KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_the_conditions_hold(database, mode):
    """After 600 transactions of eight threads, with remote lines, and on servers with one worker too."""
    for workers in ["--workers=0"] + ["--workers=1"] * (database.driver != "sqlite"):
        n = database.run(database.make_ready(mode), "--threads=8", "--order-remote=6", "--events=600", workers)
        assert sum(n[kind] for kind in KINDS) == 600 and n["failed"] == 0
        assert n["retries"] == n["errors"]
        assert n["rolled_back"] == n["_inputs_unused_item"]
        database.check()


# Statements of a transaction: of each, and of each line of an order.
PLAIN = {"new_order": (7, 4), "payment": (9, 0), "order_status": (5, 0), "delivery": (72, 0), "stock_level": (4, 0)}
AT_ONCE = {"new_order": (10, 0), "payment": (6, 0), "order_status": (5, 0), "delivery": (7, 0), "stock_level": (3, 0)}
BATCHED = {"mysql": AT_ONCE, "pgsql": {**AT_ONCE, "new_order": (7, 0), "payment": (3, 0), "delivery": (4, 0)},
           "sqlite": {**AT_ONCE, "delivery": (42, 0)}}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
def test_transactions_have_their_statements(database, mode, kind):
    """One more for a payment by name, and in the mode plain for one of a customer with bad credit."""
    each, of_line = (1, 0) if mode == "routine" else (PLAIN if mode == "plain" else BATCHED[database.driver])[kind]
    events = 40 if kind == "delivery" else 400
    n = database.run(database.make_ready(mode), deck(kind), f"--events={events}")
    lines = sum(i * n[f"_lines_{i}"] for i in range(5, 16))
    most = each * events + of_line * lines + n["_payments_by_name"] * (mode != "routine")
    least = most
    if kind == "new_order" and mode == "plain":
        least = most = most - 3 * n["rolled_back"]
    elif kind == "payment" and mode == "plain":
        least, most = most + 10, most + 90  # a tenth of 400
    assert n["districts_skipped"] == 0
    assert least <= n["statements"] <= most


@pytest.mark.slow
def test_a_batched_delivery_takes_one_order_of_each_district(database):
    """It takes none of a district without open orders, nor of another warehouse."""
    must(database, "order_entry", "--threads=2", "reset")
    database.query("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3")
    keys = "SELECT no_w_id, no_d_id, no_o_id FROM new_order"
    before = database.query(keys)
    n = database.run("--order-mode=batched", "--order-check=none", deck("delivery"), "--events=2")
    assert (n["delivery"], n["districts_skipped"]) == (2, 2)
    taken = [["1", str(d), str(o)] for d in range(1, 11) if d != 3 for o in (2101, 2102)]
    after = database.query(keys)
    assert sorted(row for row in before if row not in after) == sorted(taken)
    for text in ("SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL",
                 "SELECT DISTINCT ol_w_id, ol_d_id, ol_o_id FROM order_line "
                 "WHERE ol_o_id > 2100 AND ol_delivery_d IS NOT NULL"):
        assert sorted(database.query(text)) == sorted(taken)
    must(database, "order_entry", "--threads=2", "reset")
    database.check()


# Changes the customers of the orders that are open longest, and keeps them until somebody waits for one.
HOLD = """
BEGIN;
UPDATE customer SET c_data = c_data FROM orders
  WHERE o_w_id = 1 AND o_id = 2101 AND c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id;
SELECT pg_advisory_lock(1);
DO $$ BEGIN
  FOR i IN 1..3000 LOOP
    PERFORM pg_stat_clear_snapshot();
    EXIT WHEN EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock');
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
COMMIT;
"""


@pytest.mark.slow
@pytest.mark.without("sqlite")
@pytest.mark.without("mariadb_plain")
def test_a_batched_delivery_waits_for_changes_of_its_customers(database):
    """PostgreSQL then looks at these rows again, and at what the statement joins with them."""
    must(database, "order_entry", "--threads=2", "reset")
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        holder = pool.submit(database.server.sql, HOLD)
        while database.server.sql(held).strip() == "0" and not holder.done():
            time.sleep(0.01)
        n = database.run("--order-mode=batched", "--order-check=none", deck("delivery"), "--events=1")
        holder.result()
    assert (n["delivery"], n["districts_skipped"], n["errors"]) == (1, 0, 0)
    database.check()


@pytest.mark.slow
@pytest.mark.without("sqlite")
@pytest.mark.without("mariadb_plain")
@pytest.mark.parametrize("mode", MODES)
def test_failures_of_serializable_transactions_are_repeated(database, mode):
    """Each is a retry of a kind, and none leaves a trace in the rows.  Those of other databases wait."""
    n = database.run(database.make_ready(mode), "--db-isolation-level=serializable", "--threads=8",
                     "--order-home=random", "--warehouses=1", "--events=400")
    assert sum(n[kind] for kind in KINDS) == 400
    assert n["retries"] == n["errors"] > 0
    database.check()


@pytest.mark.slow
@pytest.mark.without("sqlite")
@pytest.mark.without("postgresql")
@pytest.mark.parametrize("mode", MODES)
def test_a_transaction_that_is_given_up_leaves_no_trace(database, mode):
    """Two payments wait for a warehouse that somebody else holds, each for a second, and fail; others go on."""
    server, option = database.server, database.make_ready(mode)
    server.sql("SET GLOBAL innodb_lock_wait_timeout = 1")
    holder = subprocess.Popen([server.client(), "--no-defaults", f"--socket={server.socket}", "--user=root", "--batch",
                               "--skip-column-names", "--unbuffered", DATABASE], text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    with holder:
        holder.stdin.write("BEGIN; SELECT w_id FROM warehouse FOR UPDATE;\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == "1\n"
        n = database.run(option, "--order-deck=0,1,1,0,0", "--db-max-tries=1", "--events=4")
        holder.stdin.close()
    server.sql("SET GLOBAL innodb_lock_wait_timeout = 50")
    assert (n["order_status"], n["payment"], n["failed"], n["retries"], n["errors"]) == (2, 0, 2, 0, 2)
    database.check()


@pytest.mark.slow
def test_all_modes_leave_the_same_rows(database):
    """1,000 transactions of one terminal with the same random numbers; some orders are rolled back on purpose."""
    found = []
    for mode in MODES if database.server else MODES[:2]:
        must(database, "order_entry", "--threads=2", "reset")
        n = database.run(database.make_ready(mode), "--rand-seed=3", "--order-remote=6", "--events=1000")
        found.append((n["rolled_back"], n["_inputs_payment"], database.digest()))
    assert found[0][0] > 0 and found.count(found[0]) == len(found)


@pytest.mark.slow
def test_routines_are_made_and_refused(database):
    """A run needs all five; prepare makes them and loads nothing."""
    if not database.server:
        for command in ("prepare", "run"):
            status, out, err = bench(database, "order_entry", "--order-mode=routine", command)
            assert status == 1 and "the driver 'sqlite' has no routines; use MySQL" in out + err
        return
    database.make_ready("routine")
    kind = "FUNCTION" if database.driver == "pgsql" else "PROCEDURE"
    database.server.sql(("" if kind == "FUNCTION" else f"USE {DATABASE}; ") + f"DROP {kind} oe_delivery;")
    status, out, err = bench(database, "order_entry", "--order-mode=routine", "run")
    assert status == 1
    assert ("--order-mode=routine: 4 of 5 routines exist; make them with: "
            "bench order_entry --order-mode=routine prepare") in out + err
    out = must(database, "order_entry", "--order-mode=routine", "prepare")
    assert "Creating routines..." in out and "Loading" not in out and "Creating an index" not in out
    assert database.run("--order-mode=routine", deck("delivery"), "--events=20")["delivery"] == 20


@pytest.mark.slow
def test_a_database_without_rows_is_refused(database):
    status, _, err = bench(database, "order_entry", "--warehouses=3", "run")
    assert status == 1
    assert "--warehouses=3: only 2 are loaded" in err
