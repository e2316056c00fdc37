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
    lines = re.findall(r"^    (\S.{39}) (.{18}) (\S.{15}) (\S.*)$", out[out.index("Proof sheet:"):], re.M)
    return {name.rstrip(): (value.rstrip(), bound.rstrip(), verdict) for name, value, bound, verdict in lines}


def run(tmp_path, *options):
    done = bench.run("order_entry", "--db-driver=null", "--time=0", "--rand-seed=7", "--report=text", "--report=json:o.json",
                     *options, "run", cwd=tmp_path)
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "o.json").read_text())
    total = document["groups"][0]["total"]
    return sheet(done.out), {c["name"]: c["count"] for c in total["counts"]}


# Lines whose verdict depends on how busy the machine is.
TIMED = ("within", "mean below", "quarters")


def timed(name):
    return any(word in name for word in TIMED)


def test_a_right_run_passes_each_audit(tmp_path):
    """With 250,000 transactions, each audit has its sample; values follow from the counters of the document."""
    found, n = run(tmp_path, "--warehouses=9", "--events=250000")
    assert len(found) == 10 + 1 + 4 + 15
    assert {verdict for name, (_, _, verdict) in found.items() if not timed(name)} == {"✓"}
    orders, payments = n["_inputs_new_order"], n["_inputs_payment"]
    lines = sum(i * n[f"_lines_{i}"] for i in range(5, 16))
    assert found["new orders rolled back"][0] == f"{n['_inputs_unused_item'] / orders * 100:.2f} %"
    assert found["mean of lines per order"][0] == f"{lines / orders:.2f}"
    assert found["payments by last name"][0] == f"{n['_payments_by_name'] / payments * 100:.2f} %"
    assert found["share of payment"][:2] == (f"{payments / 250000 * 100:.2f} %", "at least 43 %")
    delta = int(found["C of last names, run against load"][0])
    assert 65 <= delta <= 119 and delta not in (96, 112)
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
    assert len(found) == 10 + 1 + 4 + 11 and not [name for name in found if "remote" in name]


def test_the_mix_needs_more_than_decks_that_are_not_used_up(tmp_path):
    """The sample grows with the root of the terminals; decks on and below the bound have other verdicts."""
    for threads, need in (1, 968), (4, 1935):
        found, _ = run(tmp_path, "--events=500", f"--threads={threads}")
        assert found["share of payment"][2] == f"too short (500 of {need})"
    found, _ = run(tmp_path, "--events=5000", "--order-deck=45,43,4,4,4")
    assert {verdict for name, (_, _, verdict) in found.items() if "share" in name} == {"unknown (--order-deck)"}
    found, _ = run(tmp_path, "--events=5000", "--order-deck=46,42,4,4,4")
    assert found["share of payment"] == ("42.00 %", "at least 43 %", "✗")


def test_response_times_do_not_depend_on_the_percentiles_shown(tmp_path):
    """The 90 % time is that of the report, if the report has it."""
    found, _ = run(tmp_path, "--events=2000", "--percentile=50,90")
    kinds = {k["name"]: k for k in json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]["event_kinds"]}
    assert kinds.pop("deferred")["events"] == 0 and "deferred, 90 % within" not in found
    for name, kind in kinds.items():
        p90, mean = kind["percentiles"][1]["s"], kind["avg_s"]
        assert found[f"{name}, 90 % within"][:2] == (f"{p90:.3f} s", f"at most {20 if name == 'stock_level' else 5} s")
        assert found[f"{name}, mean below the 90 %"][:2] == (f"{mean * 1000:.3f} ms", f"<= {p90 * 1000:.3f} ms")
    found, _ = run(tmp_path, "--events=2000", "--percentile=50")
    assert len([name for name in found if "90 % within" in name]) == 5


def test_steadiness_compares_quarters_of_the_time(tmp_path):
    """Its value follows from the counters; it is unknown without --time, and if the run does not come to its end."""
    name = "new orders of quarters, from their mean"
    found, _ = run(tmp_path, "--events=2000")
    assert found[name] == ("", "-5 to 5 %", "unknown (no --time)")
    found, _ = run(tmp_path, "--events=2000", "--time=1000")
    assert found[name][2].startswith("unknown (") and found[name][2].endswith(" s of 1000 s)")
    found, n = run(tmp_path, "--time=1", "--warmup-time=0.2", "--threads=2")
    quarters = [n[f"_new_orders_quarter_{i}"] for i in range(1, 5)]
    begun, mean = n["_inputs_new_order"], sum(quarters) / 4
    # Orders that are in flight at the ends of the warm-up and of the time are counted at one of the two only.
    assert sum(quarters) == pytest.approx(begun, abs=4) and min(quarters) > 0
    low, high = min(quarters) / mean * 100 - 100, max(quarters) / mean * 100 - 100
    assert found[name][0] == f"{low:.1f} to {high:.1f} %"
    right = low >= -5 and high <= 5
    assert found[name][2] == (f"too short ({sum(quarters)} of 16100)" if sum(quarters) < 16100 else "✓" if right else "✗")


def test_waits_have_their_mean(tmp_path):
    """Think times are counted in means; without waits there is no line about them."""
    found, n = run(tmp_path, "--events=0", "--time=3", "--order-wait", "--threads=20", "--order-deck=0,0,0,0,1")
    value, bound, verdict = found["think times, of their mean"]
    events = n["_inputs_stock_level"]
    assert bound == "0.95 to 1.05" and verdict.startswith("too short (") and verdict.endswith(" of 4330)")
    assert events == 0 or float(value) == pytest.approx(n["_think_permille"] / 1000 / events, rel=0.5)
    found, _ = run(tmp_path, "--events=20")
    assert "think times, of their mean" not in found


def test_waits_after_transactions_that_were_given_up(tmp_path):
    """A terminal thinks after each of them too: half of 10,000 transactions end in their second try."""
    (tmp_path / "failing.lua").write_text("""
require("order_entry")
local plain, n = require("order_entry.plain"), 0
local new = plain.new
function plain.new(statements)
  local made = new(statements)
  function made.stock_level()
    n = n + 1
    if n % 3 > 0 then error({errcode = sysbench.error.RESTART_EVENT}) end
  end
  return made
end
function sysbench.think() end
""")
    done = bench.run("failing.lua", "--db-driver=null", "--time=0", "--rand-seed=7", "--events=10000", "--order-wait",
                     "--db-max-tries=2", "--order-deck=0,0,0,0,1", "--report=text", "--report=json:o.json", "run",
                     cwd=tmp_path)
    total = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]
    (kind,) = [k for k in total["event_kinds"] if k["name"] == "stock_level"]
    n = {c["name"]: c["count"] for c in total["counts"]}
    assert n["_think_times"] == n["_inputs_stock_level"] == kind["events"] + kind["failed_events"]
    assert kind["failed_events"] > 4000
    value, _, verdict = sheet(done.out)["think times, of their mean"]
    assert verdict == "✓" and value == f"{n['_think_permille'] / 1000 / n['_think_times']:.2f}"


def test_deferred_deliveries_have_no_think_time(tmp_path):
    """Each delivery is two events, of which a terminal thinks after one; the time to queue it has no mean to judge."""
    found, n = run(tmp_path, "--events=0", "--time=3", "--order-wait", "--threads=20", "--order-deliveries=2",
                   "--order-deck=0,0,0,1,0")
    kinds = {k["name"]: k for k in json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]["event_kinds"]}
    deliveries = kinds["delivery"]["events"]
    assert deliveries >= 18 and kinds["deferred"]["events"] >= 18
    assert found["think times, of their mean"][2] == f"too short ({deliveries} of 4330)"
    assert "deferred, mean below the 90 %" in found and "delivery, mean below the 90 %" not in found


def test_the_sheet_can_be_asserted(tmp_path):
    """A violated line makes the status 3; the sums are those of the lines."""
    done = bench.run("order_entry", "--db-driver=null", "--warehouses=2", "--time=0", "--events=5000",
                     "--order-deck=46,42,4,4,4", "--assert=proof", "run", cwd=tmp_path)
    found = sheet(done.out)
    violated = sum(verdict == "✗" for _, _, verdict in found.values())
    hold = sum(verdict == "✓" for _, _, verdict in found.values())
    assert done.status == 3 and violated >= 1
    assert (f"    {len(found)} lines: {hold} hold, {violated} violated, 0 not checked, "
            f"{len(found) - hold - violated} undecided\n") in done.out
    assert re.search(rf"^    proof: +{violated} FAILED$", done.out, re.M)


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
        "8 of 9 conditions hold, 12 left out (--order-check=quick)"]),
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


def test_statements_are_prepared_again_on_new_connections(loaded, tmp_path):
    """There are 80 turns at most, and a busy machine misses some."""
    shutil.copy(loaded.file, tmp_path)
    for mode in ("plain", "batched"):
        r = Database(tmp_path).bench("--threads=2", "--reconnect-rate=200", "--time=0.4", f"--order-mode={mode}",
                                     "--order-check=none", "--report=json:o.json", "run")
        assert r.status == 0, r.err
        figures = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]["figures"]
        # A thread whose events take longer than its turns connects again before each of them.
        assert 1 <= figures["reconnects"] <= min(80, figures["events"]) and figures["errors"] == 0


def test_conditions_that_cannot_be_checked_are_told(loaded, tmp_path):
    """A sum that overflows is an error of SQLite.  That counts more than the condition that is violated."""
    shutil.copy(loaded.file, tmp_path)
    db = Database(tmp_path)
    db.change("UPDATE customer SET c_delivery_cnt = 9223372036854775807 WHERE c_id < 3")
    r = db.bench("--events=1", "--time=0", "--order-deck=0,0,0,0,1", "run")
    assert r.status == 1
    assert "deliveries since the load, per district: could not be checked" in r.out
    assert "7 of 9 conditions hold, 12 left out (--order-check=quick)" in r.out and " 4 violated, 1 not checked, " in r.out
