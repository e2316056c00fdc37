# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows on servers what order_entry loads, how a load is continued and grows, and that reset brings it back."""
import subprocess
import time

import pytest

import order_rows
import transcripts
from servers import BENCH
from test_prepare import FAST, kinds, watched
from test_workloads import bench, must

TABLES = ("warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "item", "stock")
SEED = "--rand-seed=40"


@pytest.fixture(params=["mariadb_plain", "postgresql"])
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    yield server
    transcripts.empty(server)


def query(server, text):
    out = server.sql(("USE spec_db; " if server.driver == "mysql" else "") + text + ";")
    return [[None if value == "NULL" else value for value in line.split("\t")] for line in out.splitlines()]


def sums(server, dates=True):
    """The number of rows of each table and a checksum that does not depend on their order."""
    database = "spec_db" if server.driver == "mysql" else "public"
    found = {}
    for table in TABLES:
        columns = [name for name, kind in query(server, "SELECT column_name, data_type FROM information_schema.columns "
                   f"WHERE table_schema = '{database}' AND table_name = '{table}' ORDER BY column_name")
                   if dates or not kind.startswith(("date", "time"))]
        if server.driver == "mysql":
            listed = ", ".join(f"COALESCE({column}, 'null')" for column in columns)
            total = f"BIT_XOR(CAST(CONV(SUBSTR(MD5(CONCAT_WS('|', {listed})), 1, 15), 16, 10) AS UNSIGNED))"
        else:
            listed = ", ".join(columns)
            total = f"SUM(hashtextextended(ROW({listed})::text, 0))"
        found[table] = query(server, f"SELECT COUNT(*), {total} FROM {table}")[0]
    return found


def has_rows_in_flight(server, size):
    """Whether the server has rows of warehouse 2 that are not committed."""
    if server.driver == "mysql":
        return query(server, "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; "
                     "SELECT COUNT(*) FROM (SELECT 1 FROM stock WHERE s_w_id = 2 LIMIT 1) t") == [["1"]]
    return int(query(server, "SELECT pg_relation_size('stock')")[0][0]) > size


def kill_while_loading(server):
    """Ends prepare of a second warehouse before its transaction ends."""
    size = int(query(server, "SELECT pg_relation_size('stock')")[0][0]) if server.driver == "pgsql" else 0
    with subprocess.Popen([BENCH, "order_entry", *server.login(), "--warehouses=2", "prepare"], cwd="/",
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as loading:
        while not has_rows_in_flight(server, size):
            assert loading.poll() is None
            time.sleep(0.02)
        loading.kill()


@pytest.mark.slow
def test_rows_of_two_warehouses(server):
    """They have their distributions (chi-square at 1 %), are loaded by the fast way, and are the same if they are
    loaded one after the other, with an interruption, and by INSERT; and reset brings them back."""
    with watched(server) as sessions:
        must(server, "order_entry", SEED, "--warehouses=2", "--threads=3", "prepare")
    used = kinds(sessions)
    # Settings are inserted: six at first, then items, each warehouse, and that the load has ended.
    assert used[FAST[server.driver]] > 16 and used["INSERT"] <= 12
    assert order_rows.Rows(server.driver, lambda sql: query(server, sql), 2).faults() == []
    at_once, with_dates = sums(server, dates=False), sums(server)

    server.sql(("USE spec_db; " if server.driver == "mysql" else "") + order_rows.run_text(server.driver))
    changed = sums(server, dates=False)
    assert [table for table in TABLES if changed[table] == at_once[table]] == ["item"]
    must(server, "order_entry", "--threads=3", "reset")
    assert sums(server) == with_dates

    must(server, "order_entry", "cleanup")
    must(server, "order_entry", SEED, "--warehouses=1", "--db-bulk-load=insert", "prepare", timeout=300)
    kill_while_loading(server)
    status, out, err = bench(server, "order_entry", "reset")
    assert status == 1 and "half loaded: 1 of 2 warehouses" in out + err
    out = must(server, "order_entry", "--rand-seed=77", "--warehouses=2", "--threads=2", "prepare")
    assert out.count("Loading") == 1 and "Loading warehouse 2" in out and "Creating" not in out
    assert sums(server, dates=False) == at_once


def test_history_may_have_a_key(server):
    """Loaded rows have negative keys, those that follow positive ones.  Routines are made too, and dropped."""
    must(server, "order_entry", "--order-history-key", "--order-mode=routine", "--threads=2", "prepare")
    keys = "SELECT COUNT(*), MIN(h_id), MAX(h_id), COUNT(DISTINCT h_id) FROM history"
    assert query(server, keys) == [["30000", "-30000", "-1", "30000"]]
    server.sql(("USE spec_db; " if server.driver == "mysql" else "") + order_rows.run_text(server.driver))
    added = "SELECT MIN(h_id), COUNT(DISTINCT h_id) FROM history WHERE h_data LIKE '% %'"
    assert query(server, added) == [["1", "10"]]
    must(server, "order_entry", "reset")
    assert query(server, keys) == [["30000", "-30000", "-1", "30000"]]
    routines = "SELECT COUNT(*) FROM information_schema.routines WHERE routine_name LIKE 'oe%'"
    assert query(server, routines) == [["5"]]
    must(server, "order_entry", "cleanup")
    assert query(server, routines) == [["0"]]


@pytest.mark.slow
def test_a_reset_of_warehouses_without_open_orders_ends(server):
    """Kind: threads that lock the same gap of an index. All orders have been delivered. The first
    thread begins later than the others."""
    must(server, "order_entry", "--warehouses=3", "--threads=3", SEED, "prepare")
    before = sums(server, dates=False)
    for _ in range(2):
        query(server, "UPDATE orders SET o_carrier_id = 1 WHERE o_id > 2100; TRUNCATE TABLE new_order")
        must(server, "order_entry", "--threads=3", "reset")
    assert sums(server, dates=False) == before


@pytest.mark.slow
def test_a_sweep_over_modes_makes_the_routines(server, tmp_path):
    for seed in (1, 2):
        done = subprocess.run([BENCH, "sweep", "--vary=order-mode=plain,routine", "--prepare", f"--seed={seed}",
                               f"--out={tmp_path}/{seed}", "order_entry", *server.login(), "--warehouses=1",
                               "--events=20", "--time=0", "run"], cwd="/", capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_weak_isolation_level_is_not_called_an_option(server):
    must(server, "order_entry", "--warehouses=1", "prepare")
    level = "--db-init-sql=SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED"
    if server.driver == "mysql":
        level = "--db-init-sql=SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
    out = must(server, "order_entry", level, "--order-check=none", "--events=3", "run")
    assert ("the isolation level of the server, " in out) == (server.driver == "mysql"), out
    assert "--db-isolation-level" not in out and ", --events=3, " in out
