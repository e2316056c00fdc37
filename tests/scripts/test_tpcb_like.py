# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows on SQLite what tpcb_like loads and sends, that it repeats a transaction with the same inputs, and that its
check finds wrong balances and lost rows."""
import pathlib
import re
import shutil
import sqlite3

import pytest

import chi
from lua import command

HERE = pathlib.Path(__file__).resolve().parent
ALL_HOLD = "Checked: 5 of 5 conditions hold, 0 violated, 0 could not be checked"


class Database:
    def __init__(self, folder):
        self.folder = folder

    def bench(self, *args, name="tpcb_like"):
        return command([name, "--db-driver=sqlite", *args], self.folder)

    def ok(self, *args, **kwargs):
        result = self.bench(*args, **kwargs)
        assert result.status == 0, result.out + result.err
        return result

    def query(self, sql):
        with sqlite3.connect(self.folder / "sbtest.sqlite") as connection:
            return connection.execute(sql).fetchall()

    def change(self, text):
        with sqlite3.connect(self.folder / "sbtest.sqlite") as connection:
            connection.executescript(text)

    def history(self):
        return self.query("SELECT tid, bid, aid, delta FROM pgbench_history ORDER BY rowid")

    def sum(self):
        return self.query("SELECT SUM(delta) FROM pgbench_history")[0][0]

    def run(self, *args, **kwargs):
        return self.ok("--time=0", *args, "run", **kwargs)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """A database with two branches."""
    db = Database(tmp_path_factory.mktemp("loaded"))
    lines = db.ok("--scale=2", "--threads=2", "prepare").lines
    assert sorted(lines[-4:-2]) == ["Loading branch 1...", "Loading branch 2..."] and lines[-2] == "Loaded: scale 2"
    assert lines[-1] == (
        "Checked: 2 of 2 conditions hold, 0 violated, 0 could not be checked, 3 left out (--tpcb-check=quick)")
    return db


@pytest.fixture
def copy(loaded, tmp_path):
    shutil.copy(loaded.folder / "sbtest.sqlite", tmp_path)
    return Database(tmp_path)


def found(result):
    """The conditions that are violated, and how."""
    return dict(re.findall(r"^ *condition (\w+) .*?: is violated by (.*)$", result.out, re.M))


def test_rows(loaded):
    assert loaded.query("SELECT bid, bbalance, filler FROM pgbench_branches ORDER BY bid") == [(1, 0, None), (2, 0, None)]
    assert loaded.query("SELECT bid, COUNT(*), MIN(tid), MAX(tid), SUM(tbalance), COUNT(filler) FROM pgbench_tellers "
                        "GROUP BY bid") == [(1, 10, 1, 10, 0, 0), (2, 10, 11, 20, 0, 0)]
    assert loaded.query("SELECT bid, COUNT(*), MIN(aid), MAX(aid), SUM(abalance), MIN(filler) = MAX(filler), "
                        "MAX(filler) FROM pgbench_accounts GROUP BY bid") == [
        (1, 100000, 1, 100000, 0, 1, " " * 84), (2, 100000, 100001, 200000, 0, 1, " " * 84)]
    assert loaded.history() == []


def test_a_run(copy):
    """Its statements, its inputs, which are uniform, and the conditions that it keeps."""
    result = copy.run("--threads=4", "--events=2000", "--rand-seed=1", "--tpcb-check=all")
    for name, n in ("read", 2000), ("write", 8000), ("other", 4000), ("transactions", 2000):
        assert re.search(rf"^ +{name}: +{n}\b", result.out, re.M)
    assert result.lines[-2:] == ["    5 of 5 conditions hold (--tpcb-check=all)", ""]
    assert "Scale: 2\n    5 of 5" in result.out and result.out.startswith("Scale: 2\n")
    rows = copy.history()
    assert len(rows) == 2000
    for column, low, high, cells in (0, 1, 20, 20), (1, 1, 2, 2), (2, 1, 200000, 100), (3, -5000, 5000, 73):
        counts = [0] * cells
        for row in rows:
            counts[(row[column] - low) * cells // (high - low + 1)] += 1
        assert chi.fits(counts, chi.uniform(cells))
    assert copy.ok("check").lines[-1] == ALL_HOLD


def test_a_repeated_transaction_has_the_same_inputs(copy, loaded, tmp_path):
    """Each transaction fails once.  With one try, those that fail leave their inputs out."""
    copy.run("--rand-seed=7", "--events=60")
    expected = copy.history()
    copy.change("DELETE FROM pgbench_history")
    copy.run("--rand-seed=7", "--events=60", "--db-max-tries=2", "--tpcb-check=none", name=HERE / "tpcb_retries.lua")
    assert copy.history() == expected
    copy.change("DELETE FROM pgbench_history")
    copy.run("--rand-seed=7", "--events=60", "--db-max-tries=1", "--tpcb-check=none", name=HERE / "tpcb_retries.lua")
    assert copy.history() == expected[1::2]


def test_a_load_is_continued_and_grows(copy):
    copy.run("--threads=2", "--events=100")
    copy.change("DELETE FROM pgbench_branches WHERE bid = 1; DELETE FROM pgbench_tellers WHERE bid = 1; "
                "DELETE FROM pgbench_accounts WHERE bid = 1; DELETE FROM pgbench_history")
    copy.change("UPDATE pgbench_branches SET bbalance = 0; UPDATE pgbench_tellers SET tbalance = 0; "
                "UPDATE pgbench_accounts SET abalance = 0")
    for step in "run", "check":
        result = copy.bench(step)
        assert result.status == 1
        assert "half loaded; continue with: bench tpcb_like --scale=2 prepare" in result.out + result.err
    result = copy.ok("--scale=3", "--threads=3", "prepare")
    assert re.findall(r"Loading branch (\d)", result.out) in (["1", "3"], ["3", "1"])
    assert copy.ok("--scale=3", "check").lines[-1] == ALL_HOLD
    smaller = copy.ok("--scale=1", "prepare").out
    assert "Loading" not in smaller and "Loaded: scale 3\n" in smaller
    assert copy.run("--events=10").lines[-2].startswith("    2 of 2")
    copy.ok("cleanup")
    assert copy.query("PRAGMA page_count") <= [(2,)]  # the file has shrunk
    assert copy.query("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'pgbench%'") == [(0,)]
    assert "there are no tables of tpcb_like" in copy.bench("run").err


# What is planted after a run, and the conditions that are violated.
FAULTS = [
    ("UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 5", "totals accounts"),
    ("UPDATE pgbench_accounts SET abalance = abalance + CASE aid WHEN 5 THEN 1 ELSE -1 END WHERE aid IN (5, 6)",
     "accounts"),
    ("UPDATE pgbench_tellers SET tbalance = tbalance + CASE tid WHEN 1 THEN 9 ELSE -9 END WHERE tid < 3", "tellers"),
    ("UPDATE pgbench_branches SET bbalance = bbalance + CASE bid WHEN 1 THEN 9 ELSE -9 END", "branches"),
    ("UPDATE pgbench_branches SET bbalance = NULL WHERE bid = 1", "totals branches"),
    ("DELETE FROM pgbench_history WHERE rowid = 3", "totals accounts tellers branches"),
    ("INSERT INTO pgbench_history SELECT * FROM pgbench_history WHERE rowid = 3", "totals accounts tellers branches"),
    ("UPDATE pgbench_history SET tid = 21 WHERE rowid = 3", "tellers"),
    ("UPDATE pgbench_history SET bid = NULL WHERE rowid = 3", "branches"),
    ("UPDATE pgbench_history SET delta = NULL WHERE rowid = 3", "totals accounts tellers branches"),
    ("DELETE FROM pgbench_tellers WHERE tid = 20", "totals tellers rows"),
    ("UPDATE pgbench_accounts SET aid = 200001 WHERE aid = 7", "rows"),
    ("UPDATE pgbench_accounts SET aid = 0 WHERE aid = 7", "rows"),
    ("DELETE FROM pgbench_accounts WHERE aid = 200000", "rows"),
]


@pytest.fixture(scope="module")
def after_run(loaded, tmp_path_factory):
    folder = tmp_path_factory.mktemp("after_run")
    shutil.copy(loaded.folder / "sbtest.sqlite", folder)
    db = Database(folder)
    db.run("--rand-seed=3", "--events=200")
    assert not db.query("SELECT aid FROM pgbench_history WHERE aid IN (5, 6, 7, 200000)")
    return db


@pytest.mark.parametrize("text, names", FAULTS)
def test_the_check_finds(after_run, tmp_path, text, names):
    shutil.copy(after_run.folder / "sbtest.sqlite", tmp_path)
    db = Database(tmp_path)
    db.change(text)
    result = db.bench("check")
    assert result.status == 3 and set(found(result)) == set(names.split())
    assert f"{5 - len(names.split())} of 5 conditions hold" in result.lines[-1]


def test_a_run_finds_what_is_wrong(copy):
    """By the conditions that --tpcb-check selects, with the status of `check`."""
    copy.change("UPDATE pgbench_accounts SET abalance = 3 WHERE aid = 5")
    assert "    2 of 2 conditions hold, 3 left out (--tpcb-check=quick)" in copy.run("--events=1", "--rand-seed=1").lines
    result = copy.bench("--events=1", "--rand-seed=1", "--tpcb-check=all", "run")
    assert result.status == 3 and "    3 of 5 conditions hold (--tpcb-check=all)" in result.lines
    assert found(result) == {"totals": "1 row; the first: accounts=" + str(3 + copy.sum()) + f", tellers={copy.sum()}, "
                             f"branches={copy.sum()}, history={copy.sum()}",
                             "accounts": "1 row; the first: aid=5, abalance=3, history=0"}
    assert "conditions hold" not in copy.run("--events=1", "--tpcb-check=none").out


def test_what_cannot_be_checked(copy):
    copy.change("ALTER TABLE pgbench_history RENAME TO other")
    result = copy.bench("check")
    assert result.status == 1
    assert result.lines[-1] == "Checked: 1 of 5 conditions hold, 0 violated, 4 could not be checked"


@pytest.mark.parametrize("option, message", [
    ("--scale=1.5", "--scale=1.5: not a whole number from 0 to 1048576"),
    ("--scale=-1", "--scale=-1: not a whole number from 0 to 1048576"),
    ("--scale=3", "--scale=3: the tables have 2 branches"),
    ("--tpcb-check=some", "--tpcb-check=some: unknown; allowed: none, quick, all"),
])
@pytest.mark.parametrize("step", ["run", "check"])
def test_refused_options(loaded, step, option, message):
    result = loaded.bench(option, step)
    assert result.status == 1 and result.err.strip() == message


def test_without_a_server():
    result = command(["tpcb_like", "--db-driver=null", "--scale=7", "--events=10", "run"], HERE)
    assert result.status == 0 and result.out.startswith("Scale: 7\n") and "conditions" not in result.out
    result = command(["tpcb_like", "--db-driver=null", "check"], HERE)
    assert (result.status, result.err) == (1, "--db-driver=null: it has no tables to check\n")


UNCHECKED = ("    conditions are not checked at the end of a run on several hosts, in groups or in a dialect; use: bench "
             "tpcb_like check")


@pytest.mark.parametrize("which, lines", [("all", 1), ("none", 0)])
@pytest.mark.parametrize("words, env", [(["--group=one: tpcb_like"], {}), (["tpcb_like"], {"BENCH_COMPAT": "1.0"})])
def test_a_run_says_if_it_does_not_check(copy, words, env, which, lines):
    copy.change("UPDATE pgbench_accounts SET abalance = 3 WHERE aid = 5")
    result = command([*words, "--db-driver=sqlite", "--events=10", f"--tpcb-check={which}", "run"], copy.folder, **env)
    said = result.out + result.err
    assert result.status == 0 and said.count(UNCHECKED) == lines, said
    assert len(copy.history()) == 10 and "conditions hold" not in said and "sysbench.hooks" not in said


def test_a_dialect_makes_no_tables(copy, tmp_path_factory):
    """But it runs on those that are there."""
    empty = tmp_path_factory.mktemp("empty")
    result = command(["tpcb_like", "--db-driver=sqlite", "prepare"], empty, BENCH_COMPAT="1.0")
    assert result.status == 1
    assert ("tpcb_like prepare cannot be used in a dialect: leave out --compat and BENCH_COMPAT, and start the program "
            "as bench\n") in result.out + result.err
    assert list(empty.iterdir()) == []
    result = command(["tpcb_like", "--db-driver=sqlite", "--events=10", "run"], copy.folder, BENCH_COMPAT="1.0")
    assert result.status == 0 and len(copy.history()) == 10 and "Scale: 2" in result.out
