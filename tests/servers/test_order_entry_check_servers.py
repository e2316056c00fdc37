# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows on servers that `order_entry check` finds a fault in each condition, and raises no alarm beside a run.

BENCH_ORDER_CHECKS is the number of checks beside a run; with it, the last check has ten warehouses.
"""
import contextlib
import os
import re
import subprocess

import pytest

import order_faults
import transcripts
from servers import BENCH
from test_workloads import bench, must

CHECKS = int(os.environ.get("BENCH_ORDER_CHECKS", "0"))
ALL_HOLD = "Checked: 21 of 21 conditions hold, 0 violated, 0 could not be checked"


@pytest.fixture(scope="module", params=["mariadb_plain", "postgresql"])
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    must(server, "order_entry", "--threads=2", "prepare")
    yield server
    transcripts.empty(server)


def change(server, text):
    server.sql(("USE spec_db; " if server.driver == "mysql" else "") + text)


def check(server, threads):
    status, out, _ = bench(server, "order_entry", f"--threads={threads}", "check", timeout=600)
    return status, out, dict(re.findall(r"^condition (\w+) .*?: ((?:holds|could|is violated).*)$", out, re.M))


@contextlib.contextmanager
def load(server):
    """A run beside the test, which does not end before it."""
    with subprocess.Popen([BENCH, "order_entry", *server.login(), "--threads=4", "--order-mode=batched", "--time=0",
                           "--order-remote=6", "run"], stdout=subprocess.DEVNULL) as run:
        try:
            yield
            assert run.poll() is None
        finally:
            run.terminate()


def check_is_silent(server, threads):
    status, out, found = check(server, threads)
    assert status == 0 and set(found.values()) == {"holds"} and ALL_HOLD in out


@pytest.mark.slow
def test_a_check_beside_a_run_finds_nothing(server):
    """By one session and by three.  A reset keeps the tables small."""
    rounds = CHECKS or 4
    for first in range(0, rounds, 10):
        must(server, "order_entry", "--threads=2", "reset", timeout=600)
        with load(server):
            for i in range(first, min(first + 10, rounds)):
                check_is_silent(server, 1 + i % 2 * 2)


@pytest.mark.slow
def test_each_condition_finds_its_fault(server):
    """In the loaded rows, some of which a reset does not bring back."""
    must(server, "order_entry", "--threads=2", "reset")
    change(server, order_faults.ORDER)
    status, out, found = check(server, 3)
    assert status == 0 and ALL_HOLD in out
    change(server, order_faults.FAULTS)
    for threads in 1, 3:
        status, out, found = check(server, threads)
        assert status == 3 and list(found) == list(order_faults.FOUND)
        for name, (count, first) in order_faults.FOUND.items():
            first = first.replace("=0", "=0.00") if name == "S6" else first
            assert found[name].startswith(f"is violated by {count}; the first: {first}"), name
    transcripts.empty(server)
    must(server, "order_entry", "--threads=2", "prepare")


@pytest.mark.slow
def test_a_condition_that_cannot_be_checked_takes_no_other_along(server):
    """Two queries that fail, S3 and S4, leave the others in their transaction."""
    must(server, "order_entry", "--threads=2", "reset")
    change(server, "ALTER TABLE stock RENAME COLUMN s_ytd TO other; ALTER TABLE stock RENAME COLUMN s_order_cnt TO more;")
    for threads in 1, 3:
        status, out, found = check(server, threads)
        assert status == 1 and "Checked: 19 of 21 conditions hold, 0 violated, 2 could not be checked" in out
        assert [name for name, verdict in found.items() if verdict != "holds"] == ["S3", "S4"]
    change(server, "ALTER TABLE stock RENAME COLUMN other TO s_ytd; ALTER TABLE stock RENAME COLUMN more TO s_order_cnt;")


@pytest.mark.slow
@pytest.mark.without("postgresql")
def test_a_check_groups_in_memory(server):
    """A server whose tables in memory are small, a limit of MySQL's, makes none on its disk for it."""
    made = "SHOW GLOBAL STATUS LIKE 'Created_tmp_disk_tables'"
    server.sql("SET GLOBAL tmp_table_size = 1048576, GLOBAL max_heap_table_size = 1048576")
    before = server.sql(made)
    try:
        check(server, 1)
        assert server.sql(made) == before
    finally:
        server.sql("SET GLOBAL tmp_table_size = DEFAULT, GLOBAL max_heap_table_size = DEFAULT")


@pytest.mark.slow
def test_a_check_of_more_warehouses_beside_a_run_finds_nothing(server):
    transcripts.empty(server)
    must(server, "order_entry", f"--warehouses={10 if CHECKS else 2}", "--threads=2", "prepare", timeout=600)
    with load(server):
        check_is_silent(server, 3)
