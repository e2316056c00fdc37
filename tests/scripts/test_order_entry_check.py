# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows on SQLite that `order_entry check` finds a fault in each condition, none in right rows, and how it ends."""
import re
import shutil

import pytest

import order_faults
from test_order_entry import Database

ALL_HOLD = "Checked: 21 of 21 conditions hold, 0 violated, 0 could not be checked"
QUICK_HOLD = ("Checked: 10 of 10 conditions hold, 0 violated, 0 could not be checked, 12 left out "
              "(--order-check=quick)")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """A database with a warehouse, and what prepare has printed last."""
    db = Database(tmp_path_factory.mktemp("loaded"))
    r = db.bench("--rand-seed=41", "--threads=2", "prepare")
    assert r.status == 0, r.err
    db.last_line = r.lines[-1]
    return db


@pytest.fixture
def copy(loaded, tmp_path):
    shutil.copy(loaded.file, tmp_path)
    return Database(tmp_path)


def verdicts(result):
    return dict(re.findall(r"^condition (\w+) .*?: ((?:holds|could|is violated).*)$", result.out, re.M))


def test_right_rows_have_no_fault(loaded, copy):
    """After prepare, which checks the quick conditions, and after an order."""
    assert loaded.last_line == QUICK_HOLD
    copy.change(order_faults.ORDER)
    r = copy.bench("check")
    assert r.status == 0 and r.lines[-1] == ALL_HOLD
    assert list(verdicts(r)) == list(order_faults.FOUND) and set(verdicts(r).values()) == {"holds"}


@pytest.mark.parametrize("threads", [1, 3, 30])
def test_each_condition_finds_its_fault(copy, threads):
    """With its number of rows and the keys of the first one, in the same order by any number of threads."""
    copy.change(order_faults.ORDER + order_faults.FAULTS)
    r = copy.bench(f"--threads={threads}", "check")
    assert r.status == 3
    assert r.lines[-1] == "Checked: 0 of 21 conditions hold, 21 violated, 0 could not be checked"
    found = verdicts(r)
    assert list(found) == list(order_faults.FOUND)
    for name, (count, first) in order_faults.FOUND.items():
        assert found[name].startswith(f"is violated by {count}; the first: {first}"), name


def test_the_rows_of_a_violated_condition_are_counted_up_to_a_limit(copy):
    copy.change("UPDATE stock SET s_quantity = 101 WHERE s_i_id > 80000")
    r = copy.bench("check")
    assert r.status == 3 and verdicts(r)["S5"] == (
        "is violated by more than 10000 rows; the first: s_w_id=1, s_i_id=80001, s_quantity=101")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_condition_that_cannot_be_checked_is_told(copy, threads):
    """The status is 1, and other conditions are checked all the same."""
    copy.change("ALTER TABLE stock RENAME COLUMN s_quantity TO s_quantity_")
    r = copy.bench(f"--threads={threads}", "check")
    assert r.status == 1 and "s_quantity" in r.err
    assert r.lines[-1] == "Checked: 20 of 21 conditions hold, 0 violated, 1 could not be checked"
    assert verdicts(r)["S5"] == "could not be checked"


def test_a_database_that_is_not_ready_is_refused(copy, tmp_path):
    copy.change("UPDATE oe_settings SET value = '3' WHERE name = 'wanted'")
    for threads in 1, 2:
        r = copy.bench(f"--threads={threads}", "check")
        assert r.status == 1 and "half loaded: 1 of 3 warehouses; continue with: " in r.err and "holds" not in r.out


@pytest.mark.parametrize("which,lines", [("none", 0), ("quick", 5), ("all", 7)])
def test_prepare_checks_at_its_end(copy, which, lines):
    """As --order-check says; it shows the conditions that are violated."""
    copy.change("UPDATE customer SET c_delivery_cnt = 1, c_payment_cnt = 2 WHERE c_d_id = 1 AND c_id = 1;"
                "UPDATE district SET d_ytd = 1 WHERE d_id = 1; DELETE FROM stock WHERE s_i_id = 1;"
                "UPDATE order_line SET ol_number = 99 WHERE ol_o_id = 1 AND ol_number = 1")
    r = copy.bench(f"--order-check={which}", "prepare")
    assert r.status == (3 if lines else 0)
    assert len(verdicts(r)) == lines and ("Checked: " in r.out) == (lines > 0)


# Delivers order 2101 of a district.
DELIVERY = """
UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 4
  AND c_id = (SELECT o_c_id FROM orders WHERE o_d_id = 4 AND o_id = 2101);
UPDATE orders SET o_carrier_id = 1 WHERE o_d_id = 4 AND o_id = 2101;
DELETE FROM new_order WHERE no_d_id = 4 AND no_o_id = 2101;
"""


def test_a_load_has_2100_delivered_orders_in_each_district(copy):
    """In warehouses that prepare has loaded; where a run may have delivered orders, the general condition stands."""
    copy.change(DELIVERY)
    r = copy.bench("prepare")
    assert r.status == 0 and "Checked: 9 of 9 conditions hold" in r.out
    copy.change("UPDATE oe_settings SET value = '0' WHERE name = 'warehouses'")
    r = copy.bench("prepare")
    assert r.status == 3 and verdicts(r) == {"11L": "is violated by 1 row; the first: w=1, d=4, orders=3000, open=899"}
    assert r.lines[-1] == (
        "Checked: 9 of 10 conditions hold, 1 violated, 0 could not be checked, 12 left out (--order-check=quick)")


@pytest.mark.parametrize("mode", ["plain", "batched"])
def test_an_item_that_is_missing_is_no_rollback_on_purpose(copy, mode):
    copy.change("DELETE FROM item WHERE i_id <= 50000")
    r = copy.bench(f"--order-mode={mode}", "--time=0", "--events=300", "--order-check=none", "run")
    assert r.status == 1 and "item" in r.err and "; see bench order_entry check" in r.err


def test_a_wrong_word_is_refused(tmp_path):
    r = Database(tmp_path).bench("--order-check=some", "check")
    assert r.status == 1 and "--order-check=some: unknown; allowed: none, quick, all" in r.err
