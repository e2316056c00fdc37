# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows the proof sheet of a run of order_entry: its audits against the counters of the document, the sample sizes, and
the conditions with their exit status."""
import json
import re
import shutil

import pytest

import bench
from test_order_entry import Database
from test_order_entry_run import groups


def sheet(out):
    """Measured value, bound and verdict by the name of each audit."""
    lines = re.findall(r"^    (\S.{39}) (\S.{17}) (\S.{13}) (\S.*)$", out[out.index("Proof sheet:"):], re.M)
    return {name.rstrip(): (value.rstrip(), bound.rstrip(), verdict) for name, value, bound, verdict in lines}


def run(tmp_path, *options):
    done = bench.run("order_entry", "--db-driver=null", "--time=0", "--rand-seed=7", "--report=text", "--report=json:o.json",
                     *options, "run", cwd=tmp_path)
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "o.json").read_text())
    total = document["groups"][0]["total"]
    return sheet(done.out), {c["name"]: c["count"] for c in total["counts"]}


def test_a_right_run_passes_each_audit(tmp_path):
    """With 250,000 transactions, each audit has its sample; values follow from the counters of the document."""
    found, n = run(tmp_path, "--warehouses=9", "--events=250000")
    assert len(found) == 5 + 14 and {verdict for _, _, verdict in found.values()} == {"✓"}
    orders, payments = n["_inputs_new_order"], n["_inputs_payment"]
    lines = sum(i * n[f"_lines_{i}"] for i in range(5, 16))
    assert found["new orders rolled back"][0] == f"{n['_inputs_unused_item'] / orders * 100:.2f} %"
    assert found["mean of lines per order"][0] == f"{lines / orders:.2f}"
    assert found["payments by last name"][0] == f"{n['_payments_by_name'] / payments * 100:.2f} %"
    lengths = [n[f"_lines_{i}"] for i in range(5, 16)]
    chi = sum((k - orders / 11) ** 2 / (orders / 11) for k in lengths)
    assert found["lines per order, uniform"][0] == f"chi-square {chi:.1f}"
    shares = groups(8191, 1, 100000)
    items = [n[f"_item_group_{i}"] for i in range(8)]
    chi = sum((k - share * sum(items)) ** 2 / (share * sum(items)) for k, share in zip(items, shares))
    assert float(found["items, NURand"][0].split()[1]) == pytest.approx(chi, abs=0.2)


def test_a_short_run_is_told_from_a_wrong_one(tmp_path):
    """No verdict without the sample; a share of remote lines that is three times that of the rules fails."""
    found, n = run(tmp_path, "--warehouses=9", "--events=2000", "--order-remote=3")
    assert found["new orders rolled back"][2] == f"too short ({n['_inputs_new_order']} of 107200)"
    assert found["deliveries that skipped a district"][2] == f"too short ({n['_inputs_delivery']} of 100)"
    assert found["mean of lines per order"][2] == "✓"
    found, _ = run(tmp_path, "--warehouses=9", "--events=100000", "--order-remote=3")
    assert found["remote payments"][1:] == ("14 to 16 %", "✗")
    assert found["warehouses of remote payments, uniform"][2] == "✓"


def test_one_warehouse_has_no_remote_audits(tmp_path):
    found, _ = run(tmp_path, "--warehouses=1", "--events=2000")
    assert len(found) == 5 + 10 and not [name for name in found if "remote" in name]


def test_a_percentile_above_90_proves_only_what_it_can(tmp_path):
    """Without a percentile of 90 or more there is no verdict about times."""
    found, _ = run(tmp_path, "--events=2000", "--percentile=50,90,99")
    assert found["payment, 90 % within"][1:] == ("90 % in 5 s", "✓") and "payment, 99 % within" not in found
    found, _ = run(tmp_path, "--events=2000", "--percentile=50")
    assert not [name for name in found if "within" in name]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    db = Database(tmp_path_factory.mktemp("loaded"))
    r = db.bench("--rand-seed=41", "--threads=2", "--order-check=none", "prepare")
    assert r.status == 0, r.err
    return db


FAULT = "UPDATE customer SET c_payment_cnt = c_payment_cnt + 1 WHERE c_id = 7; UPDATE stock SET s_quantity = 5 WHERE s_i_id = 9"


@pytest.mark.parametrize("which,status,lines", [
    ("all", 3, [
        "condition S1 C_PAYMENT_CNT = rows of history, per customer: is violated by 10 rows; the first: w=1, d=1, c=7, ",
        "condition S5 S_QUANTITY stays within 10..100: is violated by 1 row; the first: s_w_id=1, s_i_id=9, s_quantity=5",
        "19 of 21 conditions hold (--order-check=all)"]),
    ("quick", 3, [
        "condition S1 C_PAYMENT_CNT = rows of history, per customer: is violated by 10 rows; the first: w=1, d=1, c=7, ",
        "8 of 9 conditions hold (--order-check=quick)"]),
    ("none", 0, [])])
def test_conditions_are_checked_at_the_end(loaded, tmp_path, which, status, lines):
    """As --order-check says; the exit status is 3 if one is violated, and the document has the sheet too."""
    shutil.copy(loaded.file, tmp_path)
    db = Database(tmp_path)
    options = ["--events=1", "--time=0", "--order-deck=0,0,0,0,1", f"--order-check={which}", "--report=text",
               "--report=json:o.json", "run"]
    assert db.bench(*options).status == 0
    db.change(FAULT)
    r = db.bench(*options)
    assert r.status == status
    found = [line.strip() for line in r.lines if "condition" in line and "isolation" not in line]
    assert len(found) == len(lines)
    for line, begin in zip(found, lines):
        assert line.startswith(begin)
    document = (tmp_path / "o.json").read_text()
    assert "Proof sheet" in document and ("conditions hold" in document) == bool(lines)


def test_conditions_that_cannot_be_checked_are_told(loaded, tmp_path):
    """A sum that overflows is an error of SQLite.  That counts more than the condition that is violated."""
    shutil.copy(loaded.file, tmp_path)
    db = Database(tmp_path)
    db.change("UPDATE customer SET c_delivery_cnt = 9223372036854775807 WHERE c_id < 3")
    r = db.bench("--events=1", "--time=0", "--order-deck=0,0,0,0,1", "run")
    assert r.status == 1
    assert "deliveries since the load, per district: could not be checked" in r.out
    assert "7 of 9 conditions hold (--order-check=quick)" in r.out
