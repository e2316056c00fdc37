# SPDX-License-Identifier: GPL-2.0-or-later
"""The workloads of sysbench 0.5: every script and option on SQLite; paths into old installations."""
import os
import re
import sqlite3

import pytest

import gate
from lua import BENCH, command

SCRIPTS = ["oltp", "oltp_simple", "select", "insert", "delete", "update_index",
           "update_non_index", "bulk_insert", "select_random_points", "select_random_ranges"]
QUERIES = {  # of one event: read, write, other
    "oltp": (14, 4, 2), "oltp_simple": (1, 0, 0), "select": (1, 0, 0), "insert": (0, 1, 0),
    "update_index": (0, 1, 0), "update_non_index": (0, 1, 0), "select_random_points": (1, 0, 0),
    "select_random_ranges": (1, 0, 0)}
SQLITE = ["--db-driver=sqlite", "--sqlite-db=old.sqlite"]
FOLDER = os.path.join(os.path.dirname(os.path.dirname(BENCH)), "share/bench")
OURS = os.path.realpath(os.path.join(FOLDER, "tests/include/oltp_legacy"))


def old(folder, script, *args, **env):
    return command([f"tests/db/{script}.lua", *SQLITE, *args], folder.path, **env)


def must(folder, script, *args, **env):
    r = old(folder, script, *args, **env)
    assert r.status == 0, r.out + r.err
    return r


def query(folder, sql):
    with sqlite3.connect(folder.path / "old.sqlite") as db:
        return db.execute(sql).fetchall()


def queries(r):
    return tuple(int(re.search(rf"^ +{what}: +(\d+)", r.out, re.M).group(1))
                 for what in ("read", "write", "other"))


@pytest.mark.parametrize("script, version", gate.diagonal(SCRIPTS, ["", "0.5", "1.0", "1.1"]))
def test_every_script(folder, script, version):
    env = {"BENCH_COMPAT": version}
    sizes = ["--oltp-tables-count=2", "--oltp-table-size=100", "--threads=2"]
    if script.startswith("select_random") and version == "0.5":
        sizes[0] = "--oltp-tables-count=1"
    must(folder, script, *sizes, "prepare", **env)
    if script in QUERIES:
        r = must(folder, script, *sizes, "--events=10", "run", **env)
        assert r.events == 10
        if version != "0.5":  # which counts by the words of a statement, and pads other numbers
            assert queries(r) == tuple(10 * n for n in QUERIES[script])
    elif script == "delete":
        must(folder, script, *sizes, "--events=10", "--rand-type=uniform", "run", **env)
        assert 190 <= sum(query(folder, f"SELECT count(*) FROM sbtest{i}")[0][0] for i in (1, 2)) < 200
    else:
        must(folder, script, *sizes, "--events=10", "run", **env)
        rows = [query(folder, f"SELECT count(*), max(id) FROM sbtest{i}")[0] for i in (0, 1)]
        assert sum(n for n, _ in rows) == 10 and all(n == (last or 0) for n, last in rows)
    must(folder, script, *sizes, "cleanup", **env)
    assert query(folder, "SELECT name FROM sqlite_master WHERE name LIKE 'sbtest%'") == []


@pytest.mark.parametrize("version", ["", "0.5", "1.0", "1.1"])
def test_bulk_insert_goes_on_after_the_largest_id(folder, version):
    """A run with the ids of rows that exist would lose its own, with status 0 in 0.5 and 1.0."""
    must(folder, "bulk_insert", "prepare", BENCH_COMPAT=version)
    for rows in (5, 10):
        r = must(folder, "bulk_insert", "--max-requests=5", "--max-time=0", "run", BENCH_COMPAT=version)
        assert query(folder, "SELECT count(*), min(id), max(id) FROM sbtest0") == [(rows, 1, rows)], r.err
        if version != "0.5":  # which counts by the words of a statement, and pads other numbers
            assert queries(r) == (0, 1, 0)


@pytest.mark.sanitized
@pytest.mark.parametrize("events", [3, 1])  # 1: two threads get none, as by bad luck with 3
def test_parallel_prepare_makes_the_tables_of_every_thread(folder, events):
    sizes = ["--oltp-tables-count=5", "--oltp-table-size=10", "--threads=3"]
    r = must(folder, "parallel_prepare", *sizes, f"--events={events}", "--time=0", "run")
    assert sorted(line for line in r.lines if line.startswith("thread")) == [
        "thread prepare0", "thread prepare1", "thread prepare2"]
    assert [query(folder, f"SELECT count(*) FROM sbtest{i}") for i in range(1, 6)] == [[(10,)]] * 5
    must(folder, "parallel_prepare", *sizes, "cleanup")


def test_prepare_uses_the_threads(folder):
    r = must(folder, "oltp", "--oltp-tables-count=4", "--oltp-table-size=10", "--threads=4",
             "--sql-trace=trace.txt", "prepare")
    trace = (folder.path / "trace.txt").read_text()
    assert sorted(re.findall(r"^\[s(\d)\] CREATE TABLE", trace, re.M)) == ["0", "1", "2", "3"]
    # One thread in the reference says nothing of threads.
    assert "Initializing" not in r.out
    for i in range(1, 5):
        assert f"Creating table 'sbtest{i}'..." in r.lines
        assert query(folder, f"SELECT count(*), max(k) <= 10 FROM sbtest{i}") == [(10, 1)]


OPTIONS = {
    "--oltp-read-only=on": (14, 0, 2),
    "--oltp_read_only=on": (14, 0, 2),
    "--oltp-write-only=on": (0, 4, 2),
    "--oltp-skip-trx=on": (14, 4, 0),
    "--oltp-range-selects=off": (10, 4, 2),
    "--oltp-point-selects=3": (7, 4, 2),
    "--oltp_simple_ranges=0": (13, 4, 2),
    "--oltp-sum-ranges=3": (16, 4, 2),
    "--oltp-order-ranges=0": (13, 4, 2),
    "--oltp-distinct-ranges=0": (13, 4, 2),
    "--oltp-index-updates=2": (14, 5, 2),
    "--oltp-non-index-updates=0": (14, 3, 2),
    "--oltp-delete-inserts=2": (14, 6, 2),
    "--pgsql-variant=redshift": (14, 2, 2),
    "--mysql-table-engine=myisam": (14, 4, 2),
    "--mysql-engine-trx=yes": (14, 4, 2),
    "--myisam-max-rows=5": (14, 4, 2),
    "--oltp-read-only=off": (14, 4, 2),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    made = tmp_path_factory.mktemp("table")
    r = command(["oltp_legacy/oltp.lua", *SQLITE, "--oltp-table-size=100", "prepare"], made)
    assert r.status == 0
    return made


@pytest.mark.parametrize("option, version", gate.diagonal(sorted(OPTIONS), ["", "1.0"]))
def test_options_of_oltp(table, option, version):
    r = command(["oltp_legacy/oltp.lua", *SQLITE, "--oltp-table-size=100", option, "--events=5",
                 "run"], table, BENCH_COMPAT=version)
    assert r.status == 0, r.out + r.err
    assert queries(r) == tuple(5 * n for n in OPTIONS[option])
    assert "unknown option" not in r.err


@pytest.mark.parametrize("option, text, own", [
    ("--oltp-read-only=maybe", "Invalid value for the 'oltp_read_only' option: 'maybe' (on or off)",
     "neither on nor off; allowed: on or off"),
    ("--oltp-table-size=1K", "Invalid value for the 'oltp_table_size' option: '1K' (a number from 0)",
     "not a whole number; allowed: a number from 0"),
    gate.sanitized("--oltp-table-size=1e30", None, "out of range; allowed: 0 to 9007199254740992"),
    ("--oltp-tables-count=-5", "Invalid value for the 'oltp_tables_count' option: '-5' (a number from 0)",
     "out of range; allowed: 0 to 9007199254740992"),
    ("--oltp-tables-count=0", "Invalid value for the 'oltp_tables_count' option: '0' (a number from 1)",
     "out of range; allowed: a number from 1"),
])
def test_bad_values(table, option, text, own):
    args = ["oltp_legacy/oltp.lua", *SQLITE, option, "--events=5", "--threads=3", "run"]
    r = command(args, table)
    assert r.status == 1 and "Threads started!" not in r.out
    assert r.err.endswith(f"oltp.lua\n{option}: {own}\nFATAL: Threads initialization failed!\n")
    if text is not None:
        r = command(args, table, BENCH_COMPAT="1.0")
        assert r.status == 1 and text in r.out


def test_read_only_excludes_write_only(table):
    r = command(["oltp_legacy/oltp.lua", *SQLITE, "--oltp-read-only=on", "--oltp-write-only=on",
                 "run"], table)
    assert r.status == 1
    assert re.search(r"`thread_init' function failed: \S+/common.lua:\d+: --oltp-read-only and "
                     r"--oltp-write-only are mutually exclusive\n", r.err)


@pytest.mark.parametrize("option, indexes", [
    ([], {"k_1"}), (["--oltp-create-secondary=off"], set()), (["--oltp-secondary"], {"k_1", "xid_sbtest1"}),
    (["--oltp-secondary=off"], {"k_1"}), (["--pgsql-variant=redshift"], set()),
    (["--oltp-auto-inc=off"], {"k_1"})])
def test_tables(folder, option, indexes):
    must(folder, "oltp", "--oltp-table-size=20", *option, "prepare")
    found = query(folder, "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    assert {name for name, in found} == indexes
    assert query(folder, "SELECT count(*), min(id), max(id), min(length(c)), min(length(pad)) "
                 "FROM sbtest1") == [(20, 1, 20, 119, 59)]


def test_more_points_than_a_statement_can_have(folder):
    r = old(folder, "select_random_points", "--random-points=7001", "run")
    assert r.status == 1 and "--random-points=7001: out of range; allowed: 0 to 7000" in r.err, r.err


@pytest.mark.parametrize("version", ["", "0.5"])
def test_random_points_without_a_primary_key(folder, version):
    options = ("--oltp-table-size=20", "--oltp-secondary", "--events=5")
    for step in "prepare", "run":
        must(folder, "select_random_points", *options, step, BENCH_COMPAT=version)
    table = "sbtest" if version else "sbtest1"
    assert query(folder, f"SELECT count(*), max(id) FROM {table}") == [(20, 20)]


@pytest.mark.parametrize("option", [(), ("--oltp-secondary",), ("--oltp-auto-inc=off",)])
def test_insert(folder, option):
    must(folder, "insert", "--oltp-table-size=20", *option, "prepare")
    must(folder, "insert", "--oltp-table-size=20", "--events=5", *option, "run")
    assert query(folder, "SELECT count(*), count(DISTINCT id), min(id) > 0 FROM sbtest1") == [(25, 25, 1)]
    must(folder, "insert", "cleanup")
    assert query(folder, "PRAGMA page_count") == [(1,)]


# --- where scripts are found -------------------------------------------------------------------------

@pytest.mark.parametrize("path, ours", [
    ("/usr/share/sysbench/tests/include/oltp_legacy/oltp.lua", "oltp.lua"),
    ("/root/sysbench-0.5/sysbench/tests/db/oltp.lua", "oltp.lua"),
    ("sysbench/tests/db/oltp.lua", "oltp.lua"),
    ("tests/db/select_random_points", "select_random_points.lua"),
    ("/usr/share/doc/sysbench/tests/db/bulk_insert.lua", "bulk_insert.lua"),
    ("oltp_legacy/select.lua", "select.lua"),
    ("/opt/sysbench/select.lua", "select.lua"),
])
def test_paths_of_old_installations(folder, path, ours):
    r = command([path, "--mysql-dry-run", "--events=1", "run"], folder.path)
    assert r.status == 0, r.out + r.err
    line, = r.err.splitlines()
    assert line.startswith(f"{path} does not exist; using the bundled /")
    assert os.path.realpath(os.path.dirname(line.split()[-1])) == OURS and line.endswith("/" + ours)


@pytest.mark.parametrize("path, exists", [
    ("/opt/sysbench/oltp_read_write.lua", True), ("/opt/sysbench/bulk_insert.lua", True),
    ("./src/lua/oltp_read_write.lua", True), ("/root/sysbench-1.0.20/src/lua/oltp_read_only.lua", True),
    ("/opt/lua/oltp_read_only.lua", False),
    ("/opt/sysbench/nothing.lua", False), ("/opt/oltp.lua", False), ("oltp", False), ("db/oltp.lua", False),
    ("/opt/sysbench/oltp_legacy/nothing.lua", False), ("/opt/tests/db/oltp_read_write.lua", False)])
def test_paths_that_are_modern_or_nothing(folder, path, exists):
    r = command([path, "--mysql-dry-run", "--events=1", "run"], folder.path)
    assert (r.status == 0) == exists, r.out + r.err
    assert not re.search("using the bundled .*/oltp_legacy/", r.err)
    assert (f"Cannot find benchmark '{path}'" in r.err) != exists


@pytest.mark.parametrize("name", ["oltp", "select.lua", "bulk_insert"])
def test_bare_names_of_0_5(folder, name):
    args = [f"--test={name}", "--db-driver=mysql", "--mysql-dry-run", "--oltp-table-size=5",
            "--max-requests=2", "run"]
    r = command(args, folder.path, BENCH_COMPAT="0.5")
    assert r.status == 0 and r.err == "", r.out + r.err
    r = command(["--test=nosuch", "run"], folder.path, BENCH_COMPAT="0.5")
    assert r.status == 1 and re.search(
        r"^PANIC: unprotected error in call to Lua API \(cannot open /\S+/nosuch.lua: "
        r"No such file or directory\)$", r.err, re.M)


def test_files_that_exist_are_run(folder):
    folder.file("tests/db/oltp.lua", "function event() print('mine', sysbench.tid) end")
    r = command(["tests/db/oltp.lua", "--events=1", "run"], folder.path)
    assert "mine\t0" in r.lines and r.err == ""


@pytest.mark.sanitized
def test_old_scripts_load_ours(folder):
    """A user's own script that runs the old common.lua by the path of its installation."""
    r = folder.run("""
pathtest = string.match(test, "(.*/)") or "/usr/share/sysbench/tests/db/"
dofile(pathtest .. "common.lua")
function thread_init(id) set_vars() end
function event(id)
  print(oltp_table_size, oltp_tables_count, type(create_insert), oltp_read_only, id)
end
""", "--events=1", "--oltp-table-size=7", "--oltp-read-only=on", "--oltp-tabels-count=3")
    assert "7\t1\tfunction\ttrue\t0" in r.lines
    assert "unknown option --oltp-tabels-count (did you mean --oltp-tables-count?)" in r.err
    assert r.err.count("\n") == 2


def test_parts_of_a_script_are_found_beside_it(folder):
    folder.file("deep/er/part.lua", "return { word = 'part' }")
    folder.file("deep/er/main.lua", "print(require('part').word)")
    assert command(["deep/er/main.lua"], folder.path).lines == ["part"]
    folder.file("part.lua", "return { word = 'of the working directory' }")
    assert command(["deep/er/main.lua"], folder.path).lines == ["of the working directory"]


# --- options that nobody declares ---------------------------------------------------------------------

FREE = "function prepare() db_driver = nil sb_rand(1, 2) print(my_rows, sysbench.opt.my_rows) end"


@pytest.mark.parametrize("version", ["", "0.5", "1.0"])
def test_unknown_options(folder, version):
    folder.file("t.lua", FREE)
    r = command(["--test=t.lua", "--my-rows=5", "--my-rosw=6", "--randtype=uniform", "--xyzzy",
                 "prepare"], folder.path, BENCH_COMPAT=version)
    assert r.status == 0 and r.lines[-1] == "5\t5", r.out + r.err
    assert [line for line in r.err.splitlines() if "unknown" in line] == ([] if version else [
        "unknown option --my-rosw (did you mean --my-rows?)",
        "unknown option --randtype (did you mean --rand-type?)", "unknown option --xyzzy"])


@pytest.mark.parametrize("version", ["", "0.5", "1.0"])
def test_of_equal_unknown_options_the_last_counts(folder, version):
    folder.file("t.lua", FREE)
    r = command(["--test=t.lua", "--my-rows=5", "--my-other=1", "--my_rows=7", "prepare"],
                folder.path, BENCH_COMPAT=version)
    assert r.status == 0 and r.lines[-1] == "7\t7", r.out + r.err


def test_unknown_options_of_other_scripts(folder):
    """A script of today that declares none, and version 1.1, have no unknown options."""
    r = folder.lua("function prepare() end", "--my-rows=5", "prepare")
    assert r.status == 1 and r.err.startswith("--my-rows=***: no such option")
    r = folder.lua(FREE, "--my-rows=5", "prepare", BENCH_COMPAT="1.1")
    assert r.status == 1 and r.err.startswith("invalid option: --my-rows=5")
    r = command(["bulk_insert", "--my-rows=5", "prepare"], folder.path)
    assert r.status == 1 and r.err.startswith("--my-rows=***: no such option")
    r = command(["oltp_legacy/oltp.lua", *SQLITE, "--oltp-tablesize=5", "--oltp-table-size=1",
                 "prepare"], folder.path, BENCH_COMPAT="1.1")
    assert (r.status, r.err) == (0, "")


@pytest.mark.parametrize("version", ["0.5", "1.0"])
def test_globals_are_the_options_of_old_versions(folder, version):
    """An option of ours would be taken for a variable of the script that has its name."""
    folder.file("t.lua", "function prepare() print(report, clock, compat, time_grace, warmup_time,"
                " rand_zipfian_exp, null_rows) print(num_threads, rand_type, mysql_user) end")
    r = command(["--test=t.lua", "--num-threads=3", "--db-driver=sqlite", "prepare"], folder.path,
                BENCH_COMPAT=version)
    assert r.status == 0 and r.lines[-2:] == ["\t".join(["nil"] * 7), "3\tspecial\tsbtest"]
    folder.file("t.lua", "report, clock = 'mine', 5 function prepare() print(report, clock) end")
    r = command(["--test=t.lua", "prepare"], folder.path, BENCH_COMPAT=version)
    assert r.status == 0 and r.lines[-1] == "mine\t5"


GLOBALS = """
at_top = my_rows
my_rows, mysql_table_engine, max_requests = 9, "mine", 2
my_unset = my_unset or 4
function show(what)
  print(what, at_top, my_rows, mysql_table_engine, my_unset, max_requests, myisam_max_rows)
end
function prepare() show("main") end
function thread_init() show("worker") end
function event() end
"""


@pytest.mark.parametrize("version, top, rows, engine, unset, requests", [
    ("0.5", "5", "9", "mine", "4", "2"), ("1.0", "nil", "5", "theirs", "4", "3")])
def test_globals_set_at_the_top_level(folder, version, top, rows, engine, unset, requests):
    """In 0.5 the options are there before the script, whose own values stay."""
    folder.file("t.lua", GLOBALS)
    options = ["--test=t.lua", "--my-rows=5", "--mysql-table-engine=theirs", "--max-requests=3",
               "--myisam-max-rows=8"]
    for command_, what in (("prepare", "main"), ("run", "worker")):
        r = command([*options, command_], folder.path, BENCH_COMPAT=version)
        assert f"{what}\t{top}\t{rows}\t{engine}\t{unset}\t{requests}\t8" in r.lines, r.out + r.err
    r = command([*options, "--my-unset=6", "prepare"], folder.path, BENCH_COMPAT=version)
    assert r.lines[-1].split("\t")[4] == "6"


OWN_GLOBALS = """
my_rows, threads, mysql_table_engine, test = my_rows or 10000, threads or 2, "mine", "mine"
my_list, my_unset = {}, my_unset or 4
function show() print(my_rows, threads, mysql_table_engine, test, type(my_list), my_unset) end
function prepare() show() end
function thread_init() show() end
function event() %s end
"""


@pytest.mark.parametrize("workers", [[], ["--workers=1"]])
def test_options_win_against_globals_of_the_top_level(folder, workers):
    """Natively as in 1.0, if the script uses the old names."""
    options = ["--threads=3", "--my-rows=5", "--mysql-table-engine=theirs", "--my-list=1", "--my-rows=7"]
    options += workers
    for step in "prepare", "run":
        r = folder.lua(OWN_GLOBALS % "sb_rand(1, 2)", *options, "--events=3", step)
        assert "7\t3\ttheirs\tmine\ttable\t4" in r.lines and r.status == 0, r.out + r.err
    r = folder.lua(OWN_GLOBALS % "sb_rand(1, 2)", "prepare")
    assert r.lines[-1] == "10000\t2\tmine\tmine\ttable\t4"
    r = folder.lua(OWN_GLOBALS % "", "--threads=3", "prepare")
    assert r.lines[-1] == "10000\t2\tmine\tmine\ttable\t4"
