# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what the bundled workloads do to an SQLite database when the program runs them."""
import re
import sqlite3
import subprocess
import threading

import pytest

import gate
from lua import BENCH, TIMEOUT_S, command

WORKLOADS = ("bulk_insert", "oltp_delete", "oltp_insert", "oltp_point_select", "oltp_read_only",
             "oltp_read_write", "oltp_update_index", "oltp_update_non_index", "oltp_write_only",
             "select_random_points", "select_random_ranges")


class Database:
    def __init__(self, folder):
        self.folder = folder

    def bench(self, workload, step, *options, **env):
        return command([workload, "--db-driver=sqlite", *options, step], self.folder, **env)

    def ok(self, workload, step, *options, **env):
        result = self.bench(workload, step, *options, **env)
        assert result.status == 0, result.out + result.err
        return result

    def rows(self, sql):
        with sqlite3.connect(self.folder / "sbtest.sqlite") as connection:
            return connection.execute(sql).fetchall()

    def ids(self, table=1):
        return [row[0] for row in self.rows(f"SELECT id FROM sbtest{table} ORDER BY id")]


@pytest.fixture
def db(tmp_path):
    return Database(tmp_path)


def number(result, label):
    return int(re.search(rf"^ *{label}: +(\d+)", result.out, re.M).group(1))


@pytest.mark.parametrize("workload, threads", gate.diagonal(WORKLOADS, [8, 1]))
def test_prepare_run_run_cleanup(db, workload, threads):
    options = [f"--threads={threads}"]
    if workload != "bulk_insert":
        options.append("--table-size=200")
    db.ok(workload, "prepare", *options)
    for _ in range(2):
        result = db.ok(workload, "run", "--events=100", "--time=0", *options)
        assert number(result, "transactions") == 100 and number(result, "ignored errors") == 0
    db.ok(workload, "cleanup", *options)
    assert db.rows("SELECT name FROM sqlite_master WHERE name LIKE 'sbtest%'") == []


@pytest.mark.parametrize("workload, counts", [
    ("oltp_read_write", (1400, 400, 200)), ("oltp_read_only", (1400, 0, 200)),
    ("oltp_write_only", (0, 400, 200)), ("oltp_point_select", (100, 0, 0)),
    ("oltp_update_index", (0, 100, 0)), ("oltp_update_non_index", (0, 100, 0)),
    ("oltp_insert", (0, 100, 0)), ("select_random_points", (100, 0, 0)),
    ("select_random_ranges", (100, 0, 0))])
def test_statements_of_an_event(db, workload, counts):
    db.ok(workload, "prepare", "--tables=1", "--table-size=50")
    result = db.ok(workload, "run", "--events=100", "--threads=4", "--table-size=50")
    assert tuple(number(result, name) for name in ("read", "write", "other")) == counts


@pytest.mark.threads
@pytest.mark.sanitized
def test_threads_load_slices_of_a_table(db):
    """Ids have no gap, the numbering goes on behind them, and values lie in their ranges."""
    size = ["--tables=2", "--table-size=3001"]
    result = db.ok("oltp_insert", "prepare", "--threads=7", *size)
    assert result.out.count("Creating table") == result.out.count("Inserting 3001 records") == 2
    for table in (1, 2):
        assert db.ids(table) == list(range(1, 3002))
        assert db.rows(f"SELECT count(*) FROM sbtest{table} WHERE k BETWEEN 1 AND 3001 AND "
                       "length(c) = 119 AND length(pad) = 59") == [(3001,)]
        assert db.rows(f"SELECT name FROM pragma_index_list('sbtest{table}')") == [(f"k_{table}",)]
    db.ok("oltp_insert", "run", "--events=40", *size)
    new = len(db.ids(1)) + len(db.ids(2)) - 6002
    assert new == 40 and db.ids(1)[-1] == len(db.ids(1)) and db.ids(2)[-1] == len(db.ids(2))


@pytest.mark.parametrize("threads, tables", gate.first([(6, 1), (2, 2), (1, 1)], 2))
def test_prepare_fails_as_a_whole(db, threads, tables):
    db.ok("oltp_read_write", "prepare", "--table-size=1")
    options = [f"--threads={threads}", f"--tables={tables}", "--table-size=100"]
    result = db.bench("oltp_read_write", "prepare", *options)
    assert result.status == 1 and "sbtest1 already exists" in result.err
    assert db.ids(1) == [1]


@pytest.mark.threads
def test_rows_stay_complete_under_concurrent_writes(db):
    db.ok("oltp_write_only", "prepare", "--table-size=20")
    db.ok("oltp_write_only", "run", "--table-size=20", "--threads=8", "--events=300")
    assert db.ids() == list(range(1, 21))


def test_ids_of_our_own_may_meet_in_a_later_run(db):
    """The same seed draws the same ids twice; the events are repeated until they find free ones."""
    own = ["--auto-inc=off", "--rand-seed=7"]
    db.ok("oltp_insert", "prepare", *own)
    assert db.ids() == []
    for ignored in (0, 50):
        result = db.ok("oltp_insert", "run", "--events=50", *own)
        assert number(result, "ignored errors") == ignored and "FATAL" not in result.err
    assert len(set(db.ids())) == 100


@pytest.mark.parametrize("dialect", gate.first(["", "1.0", "1.1"], 2))
def test_bulk_insert_counts_inserts_alone(db, dialect):
    """What each thread asks its table first is no part of the load."""
    db.ok("bulk_insert", "prepare", "--threads=3", BENCH_COMPAT=dialect)
    for _ in range(2):
        result = db.ok("bulk_insert", "run", "--threads=3", "--events=30", "--time=0", BENCH_COMPAT=dialect)
        counts = [number(result, name) for name in ("read", "write", "other")]
        assert counts[0] == counts[2] == 0 and 1 <= counts[1] <= 3, result.out


def test_bulk_insert_goes_on(db):
    db.ok("bulk_insert", "prepare", "--threads=2")
    for _ in range(2):
        db.ok("bulk_insert", "run", "--threads=2", "--events=5000")
    found = db.ids(1), db.ids(2)
    assert all(ids == list(range(1, len(ids) + 1)) for ids in found)
    assert len(found[0]) + len(found[1]) == 10000


@pytest.mark.parametrize("workload", gate.first(sorted((w for w in WORKLOADS if w != "bulk_insert"), reverse=True), 2))
def test_reconnect(db, workload):
    db.ok(workload, "prepare", "--table-size=30")
    result = db.ok(workload, "run", "--table-size=30", "--events=20", "--reconnect=3")
    assert number(result, "reconnects") == 6


def test_secondary_has_a_plain_index_on_id(db):
    options = ["--secondary", "--table-size=10"]
    db.ok("oltp_insert", "prepare", *options)
    db.ok("oltp_insert", "run", "--events=5", *options)
    assert db.ids() == list(range(1, 16))
    assert db.rows('SELECT name, "unique" FROM pragma_index_list(\'sbtest1\') ORDER BY 1') == [
        ("k_1", 0), ("xid_1", 0)]
    db.ok("oltp_read_write", "run", "--events=5", *options)
    db.ok("oltp_read_write", "warmup", *options)


@pytest.mark.parametrize("option, said", [
    ("--table-size=1e30", "--table-size=1e+30: out of range; allowed: 0 to 9007199254740992"),
    ("--table-size=-1", "--table-size=-1: out of range; allowed: 0 to 9007199254740992"),
    ("--tables=0", "--tables=0: out of range; allowed: 1 to 1000000"),
    ("--tables=1000001", "--tables=1000001: out of range; allowed: 1 to 1000000"),
    gate.sanitized("--point-selects=1e10", "--point-selects=10000000000: out of range; allowed: 0 to 1000000000"),
    ("--create-index=never", "--create-index=never: unknown; allowed: after, before, none"),
    ("--pgsql-variant=x", "--pgsql-variant=x: unknown; allowed: none, redshift")])
def test_values_out_of_range_are_refused_in_a_sentence(db, option, said):
    for step in ("prepare", "run", "cleanup"):
        result = db.bench("oltp_read_write", step, "--threads=4", option)
        assert (result.err, result.status) == (said + "\n", 1)
        assert ".lua" not in result.out
    assert not (db.folder / "sbtest.sqlite").exists()


@pytest.mark.parametrize("workload, steps", [
    ("oltp_read_write", ("prepare", "warmup", "run", "cleanup")), ("bulk_insert", ("prepare", "run", "cleanup")),
    ("tpcb_like", ("prepare", "run", "cleanup"))])
def test_each_command_of_a_dry_run(folder, workload, steps):
    """No statement has a result."""
    size = {"oltp_read_write": ["--table-size=10"], "tpcb_like": ["--scale=1"]}.get(workload, [])
    for step in steps:
        r = command([workload, "--db-driver=mysql", "--mysql-dry-run", *size, "--events=3", step], folder.path)
        assert r.status == 0, (step, r.out, r.err)


def test_nothing_is_checked_in_a_dry_run(folder):
    r = command(["tpcb_like", "--db-driver=mysql", "--mysql-dry-run", "check"], folder.path)
    assert (r.status, r.err) == (1, "--mysql-dry-run: it has no tables to check\n")


@pytest.mark.parametrize("workload, option, most", [("select_random_points", "--random-points", 7000),
                                                    ("select_random_ranges", "--number-of-ranges", 3500)])
def test_the_most_parameters(folder, workload, option, most):
    run = [workload, "--db-driver=null", "--table-size=10", "--time=0", "--events=2"]
    r = command([*run, f"{option}={most}", "run"], folder.path)
    assert r.status == 0, r.out + r.err
    r = command([*run, f"{option}={most + 1}", "run"], folder.path)
    assert (r.status, r.err) == (1, f"{option}={most + 1}: out of range; allowed: 1 to {most}\n")


def test_order_entry_has_no_dry_run(folder):
    for step in "prepare", "run", "check", "cleanup":
        r = command(["order_entry", "--db-driver=mysql", "--mysql-dry-run", step], folder.path)
        assert (r.status, r.err) == (1, "--mysql-dry-run: order_entry needs the answers of a server; "
                                        "'run' alone works without one, with --db-driver=null\n")


def test_what_was_typed_wrong_is_said_without_a_place_in_a_script(db):
    for argv, said in (
            (["oltp_read_write"], "Command is required. Supported commands: prepare, warmup, run, cleanup, help"),
            (["oltp_common", "run"], "this script is meant to be included by other OLTP scripts and should "
                                     "not be called directly."),
            (["select_random_points", "--tables=2", "prepare"], "--tables=2: out of range; allowed: 1"),
            (["select_random_ranges", "--tables=2", "cleanup"], "--tables=2: out of range; allowed: 1")):
        result = command([*argv, "--db-driver=sqlite"], db.folder)
        assert (result.out, result.err, result.status) == ("", said + "\n", 1)


def test_a_connection_that_cannot_be_made_is_said_without_a_place_in_a_script(db):
    why = "unable to open database file: No such file or directory\n"
    for word, last in (("run", "there is no such file: correct --sqlite-db, or run 'prepare' first\n"
                               "FATAL: Threads initialization failed!\n"), ("prepare", why), ("cleanup", why)):
        result = db.bench("oltp_read_write", word, "--sqlite-db=/no/where.db")
        assert result.status == 1
        assert result.err == ("FATAL: unable to open SQLite database '/no/where.db', aborting...\n"
                              "FATAL: error 14: " + last)
    for option in ("--db-driver=oracle", "--db-ps-mode=maybe"):
        result = db.bench("oltp_read_write", "run", option, "--threads=8")
        assert result.status == 1 and result.out == ""
        assert re.fullmatch(rf"{option}: unknown; allowed: [a-z, ]+\n", result.err)


def test_the_heading_says_what_runs_where(db):
    db.ok("oltp_read_only", "prepare", "--tables=3", "--table-size=10")
    sizes = ("--events=1", "--tables=3", "--table-size=10")
    result = db.ok("oltp_read_only", "run", *sizes)
    assert re.search(r"^Database: sqlite, 3\.\d+\.\d+, 3 tables x 10 rows\n\nThreads started!$",
                     result.out, re.M)
    one = db.ok("oltp_point_select", "run", "--events=1", "--table-size=10")
    assert ", 1 table x 10 rows\n" in one.out
    points = db.ok("select_random_points", "run", "--tables=3", "--events=1", "--table-size=10")
    assert ", 1 table x 10 rows\n" in points.out
    inserts = db.ok("oltp_insert", "run", "--events=1", "--tables=3", "--auto-inc=off")
    assert re.search(r"^Database: sqlite, 3\.\d+\.\d+, 3 tables\n\n", inserts.out, re.M)
    (db.folder / "own.lua").write_text("sysbench.cmdline.options = {tables = {'', 4}, table_size = {'', 5}}\n"
                                       "function thread_init() con = sysbench.sql.driver():connect() end\n"
                                       "function event() con:query('SELECT 1') end\n")
    own = db.ok("./own.lua", "run", "--events=1")
    assert re.search(r"^Database: sqlite, 3\.\d+\.\d+\n\n", own.out, re.M)
    for dialect in ("1.0", "1.1"):
        said = command(["oltp_read_only", "--db-driver=sqlite", *sizes, "run"], db.folder,
                       BENCH_COMPAT=dialect)
        assert said.status == 0 and "Database:" not in said.out


def test_warmup_gathers_statistics(db):
    db.ok("oltp_read_only", "prepare", "--tables=3", "--table-size=10")
    result = db.ok("oltp_read_only", "warmup", "--tables=3", "--table-size=10", "--threads=2")
    assert result.out.count("Preloading table sbtest") == 3
    assert db.rows("SELECT count(DISTINCT tbl) FROM sqlite_stat1") == [(3,)]


@pytest.mark.parametrize("tables", [1, 2])
def test_absent_tables_are_noticed_before_the_start(db, tables):
    for command in "prepare", "cleanup":  # the file is there, and empty
        db.ok("oltp_read_write", command, "--table-size=1")
    result = db.bench("oltp_read_write", "run", f"--tables={tables}", "--threads=4")
    assert (result.out, result.status) == ("", 1)
    assert result.err == "table 'sbtest1' does not exist: run 'prepare' first\n"
    bulk = db.bench("bulk_insert", "run", f"--threads={tables}")
    assert (bulk.err, bulk.status) == (result.err, 1)


@pytest.mark.parametrize("workload", gate.first(["oltp_read_write", "oltp_point_select", "oltp_delete"]))
def test_any_absent_table_is_noticed_before_the_start_in_a_dialect(db, workload):
    """As in sysbench, which prepares all statements first."""
    db.ok(workload, "prepare", "--tables=2", "--table-size=10")
    options = ("--tables=3", "--table-size=10", "--events=1", "--threads=2")
    for version in ("1.0", "1.1"):
        result = db.bench(workload, "run", *options, BENCH_COMPAT=version)
        assert result.status == 1 and 1 <= result.out.count("no such table: sbtest3") <= 2
        assert re.search(r"FATAL: `thread_init' function failed: .*: SQL API error", result.out)
        assert "Threads started!" not in result.out
    # Without prepared statements it is the run that finds it.
    result = db.bench(workload, "run", *options, "--db-ps-mode=disable", BENCH_COMPAT="1.0")
    assert "Threads started!" in result.out


def test_one_of_the_tables_is_absent(db):
    db.ok("oltp_read_write", "prepare", "--tables=2", "--table-size=10")
    result = db.bench("oltp_read_only", "run", "--tables=4", "--table-size=10")
    assert (result.out, result.status) == ("", 1)
    assert result.err == "table 'sbtest3' does not exist: run 'prepare' first, or use --tables=2\n"
    one = db.ok("select_random_points", "run", "--tables=4", "--table-size=10", "--events=2")
    assert one.err == ""


@pytest.mark.sanitized
def test_tables_with_fewer_rows_are_told_of(db):
    db.ok("oltp_read_write", "prepare", "--tables=3", "--table-size=50")
    few = db.ok("oltp_point_select", "run", "--table-size=80", "--events=5")
    assert few.err == ("warning: table 'sbtest1' has at most 50 rows, fewer than --table-size=80: run 'cleanup' and "
                       "'prepare', or use --table-size=50\n")
    many = db.ok("oltp_point_select", "run", "--tables=3", "--table-size=80", "--events=5")
    assert many.err == ("warning: 3 tables have fewer rows than --table-size=80, 'sbtest1' has at most 50: run "
                        "'cleanup' and 'prepare', or use --table-size=50\n")
    enough = db.ok("oltp_point_select", "run", "--tables=3", "--table-size=50", "--events=5")
    assert enough.err == "" and number(enough, "read") == 5


def test_a_table_with_one_row_is_told_of(db):
    db.ok("oltp_read_write", "prepare", "--table-size=1")
    one = db.ok("oltp_point_select", "run", "--table-size=80", "--events=5")
    assert one.err == ("warning: table 'sbtest1' has at most 1 row, fewer than --table-size=80: run 'cleanup' and "
                       "'prepare', or use --table-size=1\n")


def test_ids_that_are_missing_are_told_of(db):
    """As of a server with auto_increment_increment=5, or after many deletions: the highest id is
    large enough, and most statements find no row."""
    db.ok("oltp_point_select", "prepare", "--tables=3", "--table-size=1000")
    with sqlite3.connect(db.folder / "sbtest.sqlite") as connection:
        connection.execute("DELETE FROM sbtest2 WHERE id % 5 != 0")
        connection.execute("DELETE FROM sbtest3 WHERE id BETWEEN 1 AND 500")
    told = db.ok("oltp_point_select", "run", "--tables=3", "--table-size=1000", "--events=5")
    assert told.err == ("warning: of 20 ids from 1 to --table-size=1000, table 'sbtest2' has 1, so that statements "
                        "find no row for the others: run 'cleanup' and 'prepare', with --auto-inc=off if the server "
                        "numbers rows in larger steps\n")
    assert f"Warnings:\n    {told.err[9:]}" in told.out
    for size in (1, 2, 19, 20, 21):
        assert db.ok("oltp_point_select", "run", f"--table-size={size}", "--events=5").err == ""


def test_a_default_that_uses_a_part_of_the_rows_is_told_of(db):
    db.ok("oltp_point_select", "prepare", "--table-size=10050")
    part = db.ok("oltp_point_select", "run", "--events=5")
    assert part.err == ("warning: the run uses the ids 1 to 10000, the default of --table-size, but table 'sbtest1' "
                        "has ids up to 10050: use --table-size=10050 for all of them\n")
    for size in (10000, 10050):
        assert db.ok("oltp_point_select", "run", f"--table-size={size}", "--events=5").err == ""


def test_the_table_with_the_fewest_rows_is_told(db):
    db.ok("oltp_point_select", "prepare", "--tables=3", "--table-size=50")
    with sqlite3.connect(db.folder / "sbtest.sqlite") as connection:
        connection.execute("DELETE FROM sbtest2 WHERE id > 10")
        connection.execute("DELETE FROM sbtest3 WHERE id > 30")
    told = db.ok("oltp_point_select", "run", "--tables=3", "--table-size=80", "--events=5").err
    assert told == ("warning: 3 tables have fewer rows than --table-size=80, 'sbtest2' has at most 10: run 'cleanup' "
                    "and 'prepare', or use --table-size=10\n")
    assert db.ok("oltp_point_select", "run", "--tables=3", "--table-size=10", "--events=5").err == ""


@pytest.mark.parametrize("ids", ["", "(-5, 1)", "(0, 1), (-5, 1)"])
def test_no_size_is_advised_for_tables_without_rows_to_read(db, ids):
    db.ok("oltp_point_select", "prepare", "--table-size=0")
    if ids:
        with sqlite3.connect(db.folder / "sbtest.sqlite") as connection:
            connection.execute(f"INSERT INTO sbtest1 (id, k) VALUES {ids}")
    assert db.ok("oltp_point_select", "run", "--table-size=80", "--events=5").err == (
        "warning: table 'sbtest1' has at most 0 rows, fewer than --table-size=80: run 'cleanup' and 'prepare'\n")


def test_inserts_of_own_ids_count_on_no_rows(db):
    """Their prepare leaves the tables empty."""
    db.ok("oltp_insert", "prepare", "--auto-inc=off", "--tables=2")
    for _ in range(2):
        assert db.ok("oltp_insert", "run", "--auto-inc=off", "--tables=2", "--events=20").err == ""


def test_a_locked_database_does_not_hold_up_the_start(db):
    sizes = ("--table-size=10", "--sqlite-journal-mode=delete", "--sqlite-busy-timeout=600000")
    db.ok("oltp_point_select", "prepare", *sizes)
    other = sqlite3.connect(db.folder / "sbtest.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    process = subprocess.Popen([BENCH, "oltp_point_select", "--db-driver=sqlite", *sizes, "--events=4", "run"],
                               cwd=db.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    patience = threading.Timer(TIMEOUT_S, process.kill)
    patience.start()
    started = any("Initializing worker threads" in line for line in process.stdout)
    other.close()
    out, err = process.communicate(timeout=TIMEOUT_S)
    patience.cancel()
    assert (started, process.returncode, err) == (True, 0, ""), out


def test_tables_are_not_asked_for_in_dialects_nor_for_scripts_of_users(db):
    for word in "prepare", "cleanup":
        db.ok("oltp_read_write", word, "--table-size=1")
    for dialect in ("1.0", "1.1"):
        result = command(["oltp_point_select", "--db-driver=sqlite", "run"], db.folder, BENCH_COMPAT=dialect)
        assert result.status == 1 and "run 'prepare' first" not in result.err and "sbtest1" in result.out
    (db.folder / "own.lua").write_text("require('oltp_common')\n"
                                       "function prepare_statements() end\n"
                                       "function event() con:query('SELECT 1') end\n")
    assert db.ok("./own.lua", "run", "--events=3").err == ""


def test_the_hook_of_a_script_stays(db):
    """It is set before the library, which has one of this name, is loaded; it ignores the error of the first event."""
    db.ok("oltp_read_write", "prepare", "--table-size=1")
    (db.folder / "own.lua").write_text("function sysbench.hooks.sql_error_ignorable() return true end\n"
                                       "require('oltp_common')\n"
                                       "function prepare_statements() end\n"
                                       "function event()\n"
                                       "  tries = (tries or 0) + 1\n"
                                       "  con:query(tries == 1 and 'SELECT missing' or 'SELECT 1')\n"
                                       "end\n")
    result = db.ok("./own.lua", "run", "--events=3")
    assert number(result, "ignored errors") == 1 and number(result, "transactions") == 3


@pytest.mark.parametrize("ignored", gate.first(["all", "1", "other"], 2))
def test_a_table_whose_absence_is_ignored_may_be_absent(db, ignored):
    for word in "prepare", "cleanup":
        db.ok("oltp_read_write", word, "--table-size=1")
    result = db.bench("oltp_point_select", "run", f"--db-ignore-errors={ignored}", "--db-ps-mode=disable", "--time=0.1")
    assert "does not exist" not in result.err and "Threads started!" in result.out


@pytest.mark.parametrize("option", ["table-size=1000.5", "tables=1.5", "range-size=0x1p-1", "random-points=2.5"])
def test_fractions_of_what_is_counted_are_refused(tmp_path, option):
    name = "select_random_points" if "points" in option else "oltp_read_only"
    r = command([name, "--db-driver=null", f"--{option}", "--events=1", "run"], tmp_path)
    assert r.status == 1 and ("not a whole number" in r.err or "out of range" in r.err or "not a number" in r.err)
    assert command([name, "--db-driver=null", "--table-size=1e3", "--events=1", "run"], tmp_path).status == 0


# --- another file does not silently decide what runs ---------------------------------------------

NULL = ["--db-driver=null", "--events=1"]
OTHER = "function event() print('another test') end"
OTHER_MODULE = "print('another module') function event() end function thread_init() end"
LOG = "sysbench 1.0.20 (using bundled LuaJIT)\n"


@pytest.mark.parametrize("name", ["oltp_read_write", "bulk_insert", "cpu"])
@pytest.mark.parametrize("ending, text", [("", LOG), ("", OTHER), (".lua", OTHER)])
def test_a_bare_name_is_the_bundled_workload(tmp_path, name, ending, text):
    (tmp_path / (name + ending)).write_text(text)
    r = command([name, *([] if name == "cpu" else NULL), "--events=1", "run"], tmp_path)
    assert r.status == 0 and "another" not in r.out
    assert r.err == (f"{name} is the bundled workload; for the file, write ./{name}.lua\n"
                     if ending and name != "cpu" else "")


@pytest.mark.parametrize("kept, asked", [("oltp_read_write", "./oltp_read_write"),
                                         ("oltp_read_write.lua", "oltp_read_write.lua"),
                                         ("oltp_read_write.lua", "./oltp_read_write")])
def test_a_path_or_an_ending_is_a_file(tmp_path, kept, asked):
    (tmp_path / kept).write_text(OTHER)
    r = command([asked, "--events=1", "run"], tmp_path)
    assert (r.status, r.err) == (0, "") and "another test\n" in r.out


@pytest.mark.parametrize("name", ["oltp_read_write", "oltp_point_select", "select_random_points", "bulk_insert"])
def test_bundled_scripts_have_their_own_modules(tmp_path, name):
    for module in "oltp_common", "oltp_options", "oltp_tables", "common":
        (tmp_path / f"{module}.lua").write_text(OTHER_MODULE)
    r = command([name, *NULL, "run"], tmp_path)
    assert (r.status, r.err) == (0, "") and "another" not in r.out


def test_modules_of_a_folder_are_the_bundled_ones(tmp_path):
    (tmp_path / "order_entry").mkdir()
    (tmp_path / "order_entry" / "schema.lua").write_text(OTHER_MODULE)
    r = command(["order_entry", "--db-driver=sqlite", "cleanup"], tmp_path)
    assert (r.status, r.err) == (0, "") and "another" not in r.out


def test_the_folder_of_a_script_is_no_template_of_a_path(tmp_path):
    """A search path gives '?' and ';' a meaning."""
    folder = tmp_path / "a;b?c"
    folder.mkdir()
    (folder / "own.lua").write_text("require('helper') function event() end")
    (folder / "helper.lua").write_text("print('beside')")
    r = command(["a;b?c/own.lua", *NULL, "run"], tmp_path)
    assert r.status == 0 and "beside\n" in r.out, r.err


def test_a_script_has_the_modules_beside_it_first_and_says_so(tmp_path):
    own = "require('oltp_common') function thread_init() end function thread_done() end function event() end"
    (tmp_path / "sub").mkdir()
    for folder in tmp_path, tmp_path / "sub":
        (folder / "oltp_common.lua").write_text(f"print('module of {folder.name}')")
    (tmp_path / "sub" / "own.lua").write_text(own)
    (tmp_path / "own.lua").write_text(own)
    beside = command(["sub/own.lua", *NULL, "run"], tmp_path)
    assert beside.status == 0 and "module of sub\n" in beside.out
    assert beside.err == "module 'oltp_common' is 'sub/oltp_common.lua', which hides the bundled one\n"
    here = command(["./own.lua", *NULL, "run"], tmp_path)
    assert f"module of {tmp_path.name}\n" in here.out and here.err.count("hides the bundled one") == 1
    (tmp_path / "sub" / "oltp_common.lua").unlink()
    astray = command(["sub/own.lua", *NULL, "run"], tmp_path)
    assert astray.status == 0 and "module of" not in astray.out
    assert astray.err == "module 'oltp_common' is the bundled one, and not './oltp_common.lua'\n"


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_dialect_looks_as_sysbench_does_and_says_so(tmp_path, version):
    (tmp_path / "oltp_read_write").write_text(OTHER)
    r = command(["oltp_read_write", *NULL, "run"], tmp_path, BENCH_COMPAT=version)
    assert r.status == 0 and "another test\n" in r.out
    assert r.err == "the file 'oltp_read_write' hides the bundled workload oltp_read_write\n"
    (tmp_path / "oltp_common.lua").write_text(OTHER_MODULE)
    r = command(["oltp_point_select", *NULL, "run"], tmp_path, BENCH_COMPAT=version)
    assert r.out.startswith("another module") and "hides the bundled one" in r.err
    together = subprocess.run([BENCH, "oltp_read_write", *NULL, "run"], cwd=tmp_path, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={"BENCH_COMPAT": version}, timeout=TIMEOUT_S)
    assert "hides" not in together.stdout
