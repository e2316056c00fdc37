# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what a run of order_entry sends, on the driver without a server: inputs with the shares that the rules ask
for, as many statements as the profiles have, and the same inputs in each try of a transaction."""
import json
import pathlib
import re

import pytest

import bench

HERE = pathlib.Path(__file__).resolve().parent
# The largest sums of squares that a right generator exceeds in one of 1000 runs, by degrees of freedom.
CHI = {3: 16.27, 4: 18.47, 7: 24.32, 10: 29.59, 999: 1143.9}


def run(tmp_path, *options, name="order_entry", status=0):
    done = bench.run(name, "--db-driver=null", "--time=0", "--rand-seed=7", "--report=text", "--report=json:o.json",
                     *options, "run", cwd=tmp_path)
    assert done.status == status, done.err
    return done


def counts(tmp_path, *options):
    run(tmp_path, *options)
    total = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]
    found = {c["name"]: c["count"] for c in total["counts"]}
    found.update({k["name"]: k["events"] for k in total["event_kinds"]})
    figures = total["figures"]
    found["statements"] = figures["reads"] + figures["writes"] + figures["other"]
    return found


def chi2(observed, expected):
    return sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))


def uniform(observed):
    return chi2(observed, [sum(observed) / len(observed)] * len(observed)) < CHI[len(observed) - 1]


def series(found, pattern):
    return [n for name, n in found.items() if re.fullmatch(pattern, name)]


def add_pairs(weight, u, A, sign=1):
    """Adds how many r of 0..A make each value of r | u: those without the bits of u, and any of its bits below A."""
    part = more = A & ~u
    while True:
        weight[u | part] += sign << (u & A).bit_count()
        if part == 0:
            return
        part = (part - 1) & more


def nurand(A, x, y):
    """How often each value of NURand(A, x, y) with C = 0 comes, of (A + 1) * (y - x + 1) pairs of draws."""
    width = y - x + 1
    weight = [0] * (y + A + 2)
    for block in range(0, y + 1, A + 1):
        if block + A <= y:  # each bit is set in three of four pairs
            for v in range(A + 1):
                weight[block | v] += 3 ** v.bit_count()
        else:
            for u in range(block, y + 1):
                add_pairs(weight, u, A)
    for u in range(x):
        add_pairs(weight, u, A, -1)
    folded = [0] * width
    for v, n in enumerate(weight):
        folded[v % width] += n
    assert sum(folded) == (A + 1) * width
    return folded


def groups(A, x, y):
    """The shares of the groups of audits.lua: by the three highest bits below A + 1."""
    shares = [0] * 8
    for v, n in enumerate(nurand(A, x, y)):
        shares[v % (A + 1) * 8 // (A + 1)] += n / ((A + 1) * (y - x + 1))
    return shares


def is_skewed(observed, A, x, y):
    return chi2(observed, [share * sum(observed) for share in groups(A, x, y)]) < CHI[7]


def test_inputs_have_their_shares(tmp_path):
    """In 250,000 transactions, each audit has the sample that it needs (10,870 deliveries, 108,700 new orders)."""
    n = counts(tmp_path, "--warehouses=9", "--events=250000")
    cards = 250000 / 23
    for kind, of in (("new_order", 10), ("payment", 10), ("order_status", 1), ("delivery", 1), ("stock_level", 1)):
        assert abs(n[kind] - of * cards) <= 10
        assert n["_inputs_" + kind] == n[kind]
    lines = [n[f"_lines_{i}"] for i in range(5, 16)]
    total = sum(i * k for i, k in zip(range(5, 16), lines))
    assert sum(lines) == n["new_order"] and uniform(lines)
    assert 9.5 <= total / n["new_order"] <= 10.5
    assert n["rolled_back"] == n["_inputs_unused_item"]
    assert 0.009 <= n["rolled_back"] / n["new_order"] <= 0.011
    remote = series(n, r"_remote_line_\d")
    assert 0.0095 <= sum(remote) / total <= 0.0105 and uniform(remote)
    remote = series(n, r"_remote_payment_\d")
    assert 0.14 <= sum(remote) / n["payment"] <= 0.16 and uniform(remote)
    assert 0.57 <= n["_payments_by_name"] / n["payment"] <= 0.63
    assert 0.57 <= n["_statuses_by_name"] / n["order_status"] <= 0.63
    assert sum(series(n, r"_quantity_.*")) == total and uniform(series(n, r"_quantity_.*"))
    items = series(n, r"_item_group_\d")
    assert sum(items) == total - n["rolled_back"] and is_skewed(items, 8191, 1, 100000)
    assert is_skewed(series(n, r"_customer_group_\d"), 1023, 1, 3000)
    assert is_skewed(series(n, r"_name_group_\d"), 255, 0, 999)


def test_skewed_numbers_have_the_exact_distribution(tmp_path):
    """Each of 1000 values, in 500,000 draws with C = 123, against its count in all pairs of draws."""
    (tmp_path / "names.lua").write_text("""
local nurand, seen = require("order_entry.random").nurand, {}
function event()
  for i = 1, 500000 do
    local v = nurand(255, 0, 999, 123)
    seen[v] = (seen[v] or 0) + 1
  end
end
function thread_done() for v = 0, 999 do print("value", seen[v] or 0) end end
""")
    done = bench.run("names.lua", "--events=1", "--rand-seed=7", "run", cwd=tmp_path)
    seen = [int(n) for n in re.findall(r"^value\t(\d+)$", done.out, re.M)]
    exact = nurand(255, 0, 999)
    assert max(exact) / 256000 == pytest.approx(0.025629, abs=5e-7)
    expected = [exact[(v - 123) % 1000] / 256000 * 500000 for v in range(1000)]
    assert sum(seen) == 500000 and chi2(seen, expected) < CHI[999]


# Statements of a transaction with its BEGIN and its end, but New-Order.
STATEMENTS = {"plain": {"order_status": 5, "delivery": 72, "stock_level": 4},
              "batched": {"order_status": 5, "delivery": 7, "stock_level": 3},
              "routine": {"order_status": 1, "delivery": 1, "stock_level": 1}}
KINDS = ("new_order", "payment", "order_status", "delivery", "stock_level")


@pytest.mark.parametrize("kind", ["order_status", "delivery", "stock_level"])
@pytest.mark.parametrize("mode", STATEMENTS)
def test_transactions_have_their_statements(tmp_path, mode, kind):
    """The driver without a server gets what MySQL gets."""
    deck = ",".join("1" if k == kind else "0" for k in KINDS)
    n = counts(tmp_path, "--order-mode=" + mode, "--order-deck=" + deck, "--events=1000")
    assert n["statements"] == STATEMENTS[mode][kind] * 1000


@pytest.mark.parametrize("mode, each", [("plain", 9), ("batched", 6)])
def test_a_payment_has_its_statements(tmp_path, mode, each):
    """One more by last name.  Without a server no customer has bad credit."""
    n = counts(tmp_path, "--order-mode=" + mode, "--order-deck=0,1,0,0,0", "--events=1000")
    assert n["statements"] == each * 1000 + n["_payments_by_name"]


def test_a_plain_order_has_four_statements_a_line(tmp_path):
    """7 and 4 for each line; of an unused item only the first of the four."""
    n = counts(tmp_path, "--order-deck=1,0,0,0,0", "--events=10000")
    lines = sum(i * n[f"_lines_{i}"] for i in range(5, 16))
    assert n["rolled_back"] > 0
    assert n["statements"] == 7 * 10000 + 4 * lines - 3 * n["rolled_back"]


def test_a_batched_order_has_ten_statements(tmp_path):
    """However many lines it has, also with an unused item."""
    n = counts(tmp_path, "--order-mode=batched", "--order-deck=1,0,0,0,0", "--events=1000")
    assert n["rolled_back"] > 0
    assert n["statements"] == 10 * 1000


def test_a_routine_is_one_statement(tmp_path):
    """All kinds, those rolled back on purpose among them, have the inputs that they have in the mode plain."""
    plain, routine = (counts(tmp_path, "--order-mode=" + mode, "--warehouses=3", "--events=5000")
                      for mode in ("plain", "routine"))
    assert routine.pop("statements") == 5000 < plain.pop("statements")
    assert routine["rolled_back"] > 0 and routine == plain


def test_a_repeated_transaction_has_the_same_inputs(tmp_path):
    """Each of 500 fails once; inputs count once, and each kind has its retries."""
    done = run(tmp_path, "--events=500", "--warehouses=3", "--db-max-tries=3", name=HERE / "order_retries.lua")
    tries = re.findall(r"^([12])\t(.*)$", done.out, re.M)
    fails = [text for number, text in tries if number == "1"]
    assert [text for number, text in tries if number == "2"] == fails
    assert len(fails) >= len(set(fails)) > 450  # Stock-Level has four statements
    total = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]
    kinds = {k["name"]: k for k in total["event_kinds"]}
    inputs = {c["name"]: c["count"] for c in total["counts"] if c["name"].startswith("_inputs_")}
    for kind in KINDS:
        assert kinds[kind]["events"] == inputs["_inputs_" + kind]
        assert kinds[kind]["retries"] == (0 if kind == "stock_level" else kinds[kind]["events"])


def test_a_transaction_that_is_given_up_makes_room_for_another(tmp_path):
    """With one try, each transaction but Stock-Level fails, and the next one has inputs of its own."""
    done = run(tmp_path, "--events=500", "--warehouses=3", "--db-max-tries=1", name=HERE / "order_retries.lua")
    tries = re.findall(r"^1\t(.*)$", done.out, re.M)
    total = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]
    failed = sum(k["failed_events"] for k in total["event_kinds"])
    assert len(tries) == failed > 200 and len(set(tries)) > 0.95 * failed


@pytest.mark.parametrize("workers", ["--workers=0", "--workers=1"])
@pytest.mark.parametrize("tries,every,status", [(1, 0, 5), (2, 0, 5), (2, 2, 0)])
def test_a_terminal_pauses_after_a_transaction_that_was_given_up(tmp_path, tries, every, status, workers):
    """No try succeeds, or each second one.  Pauses take a thousandth: two terminals key 18 ms, 56 times in 0.5 s."""
    (tmp_path / "failing.lua").write_text(f"""
require("order_entry")
local think, plain, n = sysbench.think, require("order_entry.plain"), 0
local new = plain.new
function plain.new(statements)
  local made = new(statements)
  local new_order = made.new_order
  function made.new_order(t)
    n = n + 1
    if n % 2 ~= 0 or {every} == 0 then error({{errcode = sysbench.error.RESTART_EVENT}}) end
    return new_order(t)
  end
  return made
end
function sysbench.think(s) think(s / 1000) end
""")
    done = bench.run("failing.lua", "--db-driver=null", "--threads=2", "--time=0.5", "--order-wait",
                     f"--db-max-tries={tries}", "--order-deck=1,0,0,0,0", "--report=text", "--report=json:o.json", workers,
                     "run", cwd=tmp_path)
    assert done.status == status, done.err
    total = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]
    (kind,) = [k for k in total["event_kinds"] if k["name"] == "new_order"]
    counts = {c["name"]: c["count"] for c in total["counts"]}
    ended = kind["events"] + kind["failed_events"]
    assert 2 <= ended <= 56 and (kind["events"] > 0) == (every == 2)
    assert abs(counts["_inputs_new_order"] - ended) <= 2
    assert counts["_think_permille"] > 0


def test_the_report_tells_both_parts_of_the_rate(tmp_path):
    done = run(tmp_path, "--events=20000", "--warehouses=2", "--order-remote=0", "--order-home=random")
    rate = re.search(r"^    NOPM \(new orders a minute\): +([\d.]+) \(([\d.]+) committed, ([\d.]+) rolled back on purpose\)$",
                     done.out, re.M)
    all_, committed, rolled_back = map(float, rate.groups())
    assert committed + rolled_back == pytest.approx(all_, abs=0.02) and 0 < rolled_back < 0.02 * all_
    total = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]
    (orders,) = [k for k in total["event_kinds"] if k["name"] == "new_order"]
    assert all_ == pytest.approx(orders["events_per_s"] * 60, rel=1e-4)
    # The first lines name what deviates, before the options.
    head = done.out[:done.out.index("Running the test")]
    for option in ("--order-wait=off", "--threads=1", "--order-remote=0", "--order-home=random"):
        assert option in head
    assert "--order-deck" not in head
    for name in ("tpc", "tpm"):
        assert name not in done.out.lower()


def test_terminals_key_and_think(tmp_path):
    """Ten terminals of a warehouse key for 2 s or more before the first transaction."""
    done = run(tmp_path, "--threads=10", "--order-wait=on", "--time=1", "--workers=1")
    total = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]
    assert total["figures"]["events"] == 0
    assert "--order-wait" not in done.out[:done.out.index("Running the test")].split("deviations")[1]
    assert "efficiency: " in done.out


@pytest.mark.parametrize("mode", ["plain", "routine"])
@pytest.mark.parametrize("workers", ["--workers=0", "--workers=2"])
def test_deliveries_may_have_sessions_of_their_own(tmp_path, workers, mode):
    """Each is carried out once, also those that wait when the terminals have ended; the statements are the same."""
    deck = "--order-deck=0,0,0,1,1"
    itself = counts(tmp_path, deck, "--threads=4", "--events=4000", "--order-mode=" + mode)
    n = counts(tmp_path, deck, "--threads=6", "--order-deliveries=2", "--events=4000", workers, "--order-mode=" + mode)
    assert itself["deferred"] == 0
    assert n["delivery"] + n["stock_level"] == 4000 and 1990 <= n["delivery"] <= 2010
    assert n["deferred"] == n["delivery"] == n["_inputs_delivery"]
    each = {"plain": (72, 4), "routine": (1, 1)}[mode]
    assert n["statements"] == each[0] * n["delivery"] + each[1] * n["stock_level"]


def test_deliveries_are_drained_behind_the_limit(tmp_path):
    """A terminal fills the queue, which holds 1024, and one session takes 1 ms for each delivery."""
    done = run(tmp_path, "--threads=2", "--order-deliveries=1", "--order-deck=0,0,0,1,0", "--order-mode=routine",
               "--null-latency=1ms", "--events=1500")
    total = json.loads((tmp_path / "o.json").read_text())["groups"][0]["total"]
    kinds = {k["name"]: k for k in total["event_kinds"]}
    assert kinds["delivery"]["events"] == kinds["deferred"]["events"] == 1500
    assert kinds["deferred"]["max_s"] > 0.9 > kinds["delivery"]["avg_s"]
    assert "deferred deliveries:                 1500 by 1 sessions; at most 1024 waited" in done.out
    assert "    deferred, 90 % within" in done.out and "at most 80 s" in done.out


def test_a_failed_run_leaves_waiting_deliveries(tmp_path):
    """A terminal fails after 20 requests, while a session carries out the first one, which takes long."""
    (tmp_path / "fails.lua").write_text("""
require("order_entry")
local run_event, n = event, 0
function event(id)
  n = n + 1
  if n > 20 then error("enough") end
  run_event(id)
end
""")
    done = bench.run("fails.lua", "--db-driver=null", "--null-latency=300ms", "--threads=2", "--order-deliveries=1",
                     "--order-deck=0,0,0,1,0", "--order-mode=routine", "--time=60", "run", cwd=tmp_path)
    assert done.status == 1 and "enough" in done.err
    assert re.search(r"deferred deliveries: +[01] by 1 sessions; at most (19|20) waited; (19|20) not carried out",
                     done.out), done.out


def test_memory_does_not_grow(tmp_path):
    """The heap of Lua after 8,000 transactions is that after 2,000, without compiled code."""
    (tmp_path / "heap.lua").write_text("""
require("order_entry")
jit.off()
local run_event, n = event, 0
function event(id)
  run_event(id)
  n = n + 1
  if n == 2000 or n == 8000 then
    collectgarbage() collectgarbage()
    print("heap", collectgarbage("count"))
  end
end
""")
    done = run(tmp_path, "--events=8000", "--order-mode=batched", name="./heap.lua")
    first, last = map(float, re.findall(r"^heap\t([\d.]+)$", done.out, re.M))
    assert last - first < 4


def test_code_does_not_grow(tmp_path):
    """Nothing is compiled after the time for it, of which the script has lived through the most."""
    (tmp_path / "jit.lua").write_text("""
require("order_entry")
local init, before, after = thread_init, 0, 0
function thread_init(id)
  sysbench.opt.time = sysbench.opt.time + 29.6
  init(id)
  jit.attach(function (what)
    if what == "stop" then
      if jit.status() then before = before + 1 else after = after + 1 end
    end
  end, "trace")
end
function thread_done() print("compiled", before, after) end
""")
    done = run(tmp_path, "--time=1", name="./jit.lua")
    before, after = map(int, re.search(r"^compiled\t(\d+)\t(\d+)$", done.out, re.M).groups())
    assert before > 20 and after == 0


@pytest.mark.parametrize("option,why", [
    ("--order-deck=1,1,1", "it needs five numbers of cards"),
    ("--order-deck=0,0,0,0,0", "it needs five numbers of cards"),
    ("--order-deck=1,1,1,1,x", "'x' is not a number of cards"),
    ("--order-mode=quick", "unknown; allowed: plain, batched, routine"),
    ("--order-home=here", "unknown; allowed: fixed, random"),
    ("--order-remote=7", "out of range; allowed: 0 to 6"),
    ("--order-deliveries=1", "no terminal is left; use --threads=2 or more"),
    ("--order-deliveries=1001", "not a whole number from 0 to 1000"),
])
def test_wrong_values_are_refused(tmp_path, option, why):
    done = bench.run("order_entry", "--db-driver=null", option, "run", cwd=tmp_path)
    assert done.status == 1 and option in done.err and why in done.err


@pytest.mark.parametrize("mode,given", [
    *((mode, given) for mode in ("--order-wait=on", "--order-deliveries=1")
      for given in ("--rate=5", "--rate-profile=hold:5/1s")),
    ("--order-deliveries=1", "--reconnect-rate=20")])
def test_what_needs_events_or_no_waits_is_refused(tmp_path, mode, given):
    done = bench.run("order_entry", "--db-driver=null", mode, "--threads=2", given, "run", cwd=tmp_path)
    assert done.status == 1 and f"{mode}: cannot be used with {given}: " in done.err and done.err.count("\n") == 1


def test_a_rate_does_not_wait_for_terminals(tmp_path):
    n = counts(tmp_path, "--rate=100000", "--events=1000")
    assert sum(n[kind] for kind in KINDS) == 1000


def test_deviations_name_the_profiles(tmp_path):
    for given in ("--rate-profile=hold:100/1s", "--threads-profile=hold:2/1s"):
        done = bench.run("order_entry", "--db-driver=null", given, "--time=0.1", "run", cwd=tmp_path)
        assert done.status in (0, 4), done.err
        assert f" {given}," in done.out.split("deviations from the rules: ")[1].splitlines()[0]
    done = run(tmp_path, "--rate-profile=none", "--threads-profile=none", "--events=1")
    assert "profile" not in done.out.split("deviations from the rules: ")[1].splitlines()[0]


def test_deviations_name_the_limits_of_events(tmp_path):
    for given, other in ("--events=3", "--events-per-session"), ("--events-per-session=3", "--events="):
        done = run(tmp_path, given)
        line = done.out.split("deviations from the rules: ")[1].splitlines()[0]
        assert f" {given}," in line and other not in line


@pytest.mark.parametrize("mode", ["plain", "batched", "routine"])
def test_numbers_of_many_warehouses_have_room(tmp_path, mode):
    """The longest texts that statements are given: those with numbers of warehouses of 7 digits."""
    found = counts(tmp_path, f"--order-mode={mode}", "--warehouses=1048576", "--order-home=random", "--events=2000")
    assert sum(found[kind] for kind in ("new_order", "payment", "order_status", "delivery", "stock_level")) == 2000


@pytest.mark.parametrize("command", ["prepare", "check", "reset"])
def test_a_command_that_needs_tables_is_refused_without_a_server(tmp_path, command):
    done = bench.run("order_entry", "--db-driver=null", command, cwd=tmp_path)
    assert done.status == 1
    assert "--db-driver=null: it has no tables; 'run' alone works without a server" in done.err
