# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what SQL the bundled workloads send with each driver, without program and server.

recorder.lua stands in for both; captures are what MySQL received from the reference 1.1."""

import pathlib
import re
import subprocess

import gate
import pytest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE.parents[1] / "src" / "lua"
CAPTURES = HERE.parent / "compat" / "golden" / "sql"
SHORTENED = re.compile(r"\[\.\.\. \d+ characters left out here \.\.\.\]")


def attempt(script, step, *settings):
    return subprocess.run(["luajit", HERE / "recorder.lua", SCRIPTS, script, step, *settings],
                          capture_output=True, text=True, timeout=120, check=False)


def record(script, step, *settings):
    """The printed messages and what the server got, each a list of texts."""
    done = attempt(script, step, *settings)
    assert done.returncode == 0, done.stderr
    messages, sent = [], []
    for line in done.stdout.splitlines():
        if line.startswith("[c1] "):
            sent.append(line[5:])
        elif sent and not re.match(r"(Creating|Inserting|Dropping|Preloading|Prewarming) ", line):
            sent[-1] += "\n" + line
        else:
            messages.append(line)
    return messages, sent


def sent(*args):
    return record(*args)[1]


def only(words, statements):
    return [s for s in statements if s.startswith(words)]


def form(text):
    """Numbers and random strings of a statement give way to `?`; of many rows one remains."""
    text = re.sub(r"'[-\d]{20,}'?", "?", SHORTENED.sub("", text))
    text = re.sub(r"(?<![\w+])-?\d+", "?", text)
    text = re.sub(r"(VALUES ?\([?, ]*\)).*", r"\1...", text, flags=re.S)
    text = re.sub(r"^(Prepare|Execute) +", r"\1 ", text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def captured(name):
    lines = (CAPTURES / f"1.1.my.{name}.txt").read_text().split("\n[c1] ")
    lines[0] = lines[0].replace("[c1] ", "", 1)
    return ["Connect" if line.startswith("Connect") else form(line) for line in lines]


# --- as the reference -----------------------------------------------------------------------------

OLTP = ("oltp_delete", "oltp_insert", "oltp_point_select", "oltp_read_only", "oltp_read_write",
        "oltp_update_index", "oltp_update_non_index", "oltp_write_only", "select_random_points",
        "select_random_ranges")
CASES = {f"{w}-{s}": (w, s) for w in OLTP for s in ("prepare", "run")}
CASES.update({
    # Outside of the dialects it looks for tables that are left.
    "oltp_read_write-cleanup": ("oltp_read_write", "cleanup", "dialect=1.0"),
    "v-autoinc-off-prep": ("oltp_read_write", "prepare", "auto_inc=off"),
    "v-insert-noai-prep": ("oltp_insert", "prepare", "auto_inc=off"),
    "v-insert-noai-run": ("oltp_insert", "run", "auto_inc=off", "events=2"),
    "v-nosec-prep": ("oltp_read_write", "prepare", "create_secondary=off",
                     "mysql_storage_engine=myisam"),
    "v-size0-prep": ("oltp_read_write", "prepare", "table_size=0"),
    "v-mult-run": ("oltp_read_write", "run", "dialect=1.1", "point_selects=2.9", "simple_ranges=2", "sum_ranges=0",
                   "order_ranges=0", "distinct_ranges=0", "index_updates=2", "non_index_updates=0",
                   "delete_inserts=2"),
    "v-noranges-run": ("oltp_read_write", "run", "point_selects=1", "range_selects=off"),
    "v-skiptrx-run": ("oltp_read_write", "run", "skip_trx=on"),
    "v-ranges-run": ("select_random_ranges", "run", "number_of_ranges=2", "events=2"),
})


@pytest.mark.parametrize("name", sorted(CASES))
def test_mysql_gets_the_same_as_from_the_reference(name):
    script, step, *settings = CASES[name]
    if not any(s.startswith("table_size=") for s in settings):
        settings.append("table_size=3")
    assert [form(text) for text in sent(script, step, *settings)] == captured(name)


def test_blanks_in_long_statements():
    points, ranges = (sent(f"select_random_{kind}", "run", f"{option}=2")[1] for kind, option in
                      (("points", "random_points"), ("ranges", "number_of_ranges")))
    indent = " " * 8
    assert points == (f"Prepare {indent}SELECT id, k, c, pad\n{indent}  FROM sbtest1\n"
                      f"{indent}  WHERE k IN (?, ?)\n{indent}")
    assert ranges == (f"Prepare {indent}SELECT count(k)\n{indent}  FROM sbtest1\n"
                      f"{indent}  WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?")


def test_the_null_driver_is_sent_what_mysql_is():
    got = [[form(s) for s in sent("oltp_write_only", step, f"driver={d}", "dialect=1.0")]
           for step in ("prepare", "run", "warmup", "cleanup") for d in ("mysql", "null")]
    assert got[0::2] == got[1::2]


def test_drawn_values():
    """Ids lie in 1..table_size, a range spans range_size ids, c has 119 and pad 59 characters."""
    got = sent("oltp_read_write", "run", "table_size=7", "range_size=5", "events=50")
    ids = [int(m) for s in got for m in re.findall(r"^Execute SELECT c .* id=(\d+)$", s)]
    assert sorted(set(ids)) == list(range(1, 8)) and len(ids) == 500
    bounds = [m for s in got for m in re.findall(r"BETWEEN (\d+) AND (\d+)", s)]
    assert len(bounds) == 200 and all(int(b) - int(a) == 4 for a, b in bounds)
    rows = [re.fullmatch(r"Execute INSERT .* \((\d), (\d), '(.{119})', '(.{59})'\)", s)
            for s in only("Execute INSERT", got)]
    deleted = [s[-1] for s in only("Execute DELETE", got)]
    assert len(rows) == 50 and [row[1] for row in rows] == deleted


def test_points_of_a_thread_lie_in_its_segment():
    got = only("Execute", sent("select_random_points", "run", "table_size=90", "threads=3", "tid=1",
                               "events=200"))
    points = {int(n) for s in got for n in re.findall(r"\d+", s.partition("IN (")[2])}
    assert points == set(range(30, 61))


# --- statements and connections -------------------------------------------------------------------


def test_a_session_prepares_everything_first():
    """The same as the reference, which prepares each kind for all tables before the next kind."""
    settings = ("oltp_read_write", "run", "tables=4", "table_size=2", "range_selects=off", "point_selects=2", "events=2")
    got, reference = sent(*settings, "rest=now"), captured("v-tables-run")
    prepared = only("Prepare", map(form, got))
    assert sorted(prepared) == sorted(only("Prepare", reference)) and len(prepared) == 22
    assert len(set(only("Prepare", got))) == 22 and len(only("Close", got)) == 22
    assert max(i for i, s in enumerate(got) if s in only("Prepare", got)) < got.index("Execute BEGIN")


@pytest.mark.parametrize("settings, again", [
    ((), 7), (("db_prepare=eager",), 22), (("db_prepare=auto", "dialect=1.1"), 22)])
@pytest.mark.parametrize("why", ["reconnect=1", "errors=lost"])
def test_what_is_prepared_on_a_new_connection(settings, again, why):
    """All statements if they were asked for, else those that are used and those of the first table."""
    got = sent("oltp_read_write", "run", "rest=now", "tables=4", "range_selects=off", "events=1", why, *settings)
    prepared = only("Prepare", got)
    assert len(set(prepared[:22])) == 22
    rest = prepared[22:]
    assert len(set(rest)) == len(rest) and again <= len(rest) <= max(again, 12)


def test_a_session_prepares_only_what_it_uses():
    got = sent("oltp_point_select", "run", "tables=1000", "events=5", "table_size=9")
    prepared = only("Prepare", got)
    used = {re.search(r"sbtest\d+", s)[0] for s in only("Execute", got)}
    assert 1 <= len(prepared) - len(used - {"sbtest1"}) <= 1 and len(set(prepared)) == len(prepared)
    assert len(only("Close", got)) == len(prepared)


def test_one_session_looks_into_every_table_in_a_dialect():
    settings = ("oltp_point_select", "run", "tables=20", "events=1", "table_size=9", "dialect=1.0")
    prepared = only("Prepare", sent(*settings))
    assert sorted(prepared) == sorted(f"Prepare SELECT c FROM sbtest{t} WHERE id=?" for t in range(1, 21))
    assert len(only("Prepare", sent(*settings, "tid=1"))) <= 2


@pytest.mark.parametrize("script", ["oltp_read_write", "select_random_points",
                                    "select_random_ranges"])
def test_reconnect(script):
    """After every second event the session closes its statements, connects and prepares anew."""
    got = sent(script, "run", "reconnect=2", "events=5")
    assert len(only("Connect", got)) == 3 and len(only("Prepare", got)) == len(only("Close", got))
    first, second = got[:got.index("Quit")], got[got.index("Quit") + 1:]
    assert list(map(form, first)) == list(map(form, second[:second.index("Quit")]))


@pytest.mark.parametrize("driver, error, rollbacks, prepared", [
    ("mysql", "ignored", 0, 11), ("mysql", "lost", 0, 22), ("mysql", "own", 1, 11),
    ("pgsql", "ignored", 0, 11), ("pgsql", "lost", 0, 22), ("pgsql", "own", 1, 11),
    ("sqlite", "ignored", 0, 12), ("sqlite", "own", 1, 12),
])
def test_restart(driver, error, rollbacks, prepared):
    """The SQL layer rolls back what a failed statement left open, the script what it left open itself;
    a new connection gets new statements."""
    got = sent("oltp_read_write", "run", f"driver={driver}", f"errors={error}")
    assert len(only("Query ROLLBACK", got)) == rollbacks
    assert len(only("Prepare", got)) == len(only("Close", got)) == prepared


def test_restart_without_a_transaction_sends_nothing():
    for error in "ignored", "own":
        assert only("Query", sent("oltp_read_write", "run", "skip_trx=on", f"errors={error}")) == []
    assert only("Query", sent("select_random_points", "run", "errors=ignored")) == []


@pytest.mark.parametrize("settings, begin", [
    ((), "BEGIN IMMEDIATE"),
    (("sqlite_begin=deferred",), "BEGIN"),
    (("index_updates=0", "non_index_updates=0"), "BEGIN IMMEDIATE"),
    (("index_updates=0", "non_index_updates=0", "delete_inserts=0"), "BEGIN"),
])
def test_sqlite_transactions_that_write_begin_immediate(settings, begin):
    for script in ("oltp_read_write", "oltp_write_only"):
        got = sent(script, "run", "driver=sqlite", "events=2", "reconnect=1", *settings)
        assert only("Execute BEGIN", got) == [f"Execute {begin}"] * 2
    assert "Execute BEGIN" in sent("oltp_read_only", "run", "driver=sqlite")


OWN_SCRIPT = """
require("oltp_common")
function thread_init()
  drv = sysbench.sql.driver()
  con = drv:connect()
  stmt, param = {}, {}
  for t = 1, sysbench.opt.tables do
    stmt[t], param[t] = {}, {}
  end
  prepare_statements()
end
function prepare_statements()
  prepare_point_selects()
  stmt[2].own = con:prepare("SELECT 1")
end
function event()
  stmt[2].own:execute()
  execute_point_selects()
  check_reconnect()
end
function create_table(drv, con, n)
  con:query("CREATE TABLE mine" .. n)
end
"""


def test_scripts_may_build_on_the_library(tmp_path):
    """A script with tables of statements of its own, and its own create_table()."""
    script = tmp_path / "own.lua"
    script.write_text(OWN_SCRIPT)
    got = sent(script, "run", "tables=2", "reconnect=1", "events=2", "point_selects=2")
    assert len(only("Execute SELECT 1", got)) == 2 and len(only("Execute SELECT c", got)) == 4
    assert len(only("Prepare", got)) == len(only("Close", got))
    assert sent(script, "prepare", "threads=4", "tid=1", "tables=2") == [
        "Connect", "Query CREATE TABLE mine2", "Quit"]


OWN_STATEMENTS = """
require("oltp_common")
function prepare_statements()
  for t = 1, sysbench.opt.tables do
    %s
    stmt[t].mine, param[t].mine = con:prepare("SELECT " .. t), {}
  end
  prepare_point_selects()
end
function event()
  for t = 1, sysbench.opt.tables do
    stmt[t].mine:execute()
  end
  execute_point_selects()
  check_reconnect()
end
"""


@pytest.mark.parametrize("tables", [1, 3])
@pytest.mark.parametrize("own_tables", ["", "stmt[t], param[t] = {}, {}"])
def test_scripts_may_add_statements_for_each_table(tmp_path, tables, own_tables):
    """Before the library's own, as in sysbench, where each table of tables exists from the start."""
    script = tmp_path / "own.lua"
    script.write_text(OWN_STATEMENTS % own_tables)
    got = sent(script, "run", f"tables={tables}", "reconnect=1", "events=2", "point_selects=2")
    for t in range(1, tables + 1):
        assert len(only(f"Execute SELECT {t}", got)) == 2
    assert len(only("Execute SELECT c", got)) == 4
    assert len(only("Prepare", got)) == len(only("Close", got))


# --- tables ---------------------------------------------------------------------------------------


def created(*settings):
    got = only("Query CREATE TABLE", sent("oltp_read_write", "prepare", *settings))
    lines = got[0].splitlines()
    return lines[1].strip(), lines[4].strip(), [line.strip() for line in lines[5:]]


PAD = "pad CHAR(60) DEFAULT '' NOT NULL"


@pytest.mark.parametrize("settings, id_column, last_lines", [
    ((), "id INTEGER NOT NULL AUTO_INCREMENT,", ["PRIMARY KEY (id)", ") /*! ENGINE = innodb */"]),
    (("secondary=on", "create_table_options=X"), "id INTEGER NOT NULL AUTO_INCREMENT,",
     ["KEY xid (id)", ") /*! ENGINE = innodb */ X"]),
    (("driver=pgsql",), "id SERIAL,", ["PRIMARY KEY (id)", ")"]),
    (("driver=pgsql", "auto_inc=off"), "id INTEGER NOT NULL,", ["PRIMARY KEY (id)", ")"]),
    (("driver=pgsql", "secondary=on"), "id SERIAL,", [")"]),
    (("driver=pgsql", "pgsql_variant=redshift"), "id INTEGER IDENTITY(1,1),",
     ["PRIMARY KEY (id)", ")"]),
    (("driver=sqlite",), "id INTEGER PRIMARY KEY AUTOINCREMENT,", [")"]),
    (("driver=sqlite", "auto_inc=off"), "id INTEGER PRIMARY KEY,", [")"]),
    (("driver=sqlite", "secondary=on"), "id INTEGER NOT NULL,", [")"]),
])
def test_create_table(settings, id_column, last_lines):
    pad = PAD if last_lines[0].startswith(")") else PAD + ","
    assert created("table_size=1", *settings) == (id_column, pad, last_lines)


def test_ids_beyond_32_bits_get_wide_columns(tmp_path):
    script = tmp_path / "no_rows.lua"
    script.write_text('require("oltp_common")\nfunction get_c_value() error("enough") end\n')
    for driver, column in (("mysql", "id BIGINT NOT NULL AUTO_INCREMENT,"),
                           ("pgsql", "id BIGSERIAL,")):
        text = attempt(script, "prepare", f"driver={driver}", "table_size=3000000000").stdout
        assert column in text and "k BIGINT DEFAULT" in text


def steps_of_prepare(*settings):
    got = sent("oltp_read_write", "prepare", "table_size=1", *settings)
    return [re.match(r"Query (?:CREATE )?(\w+ \w+)", s)[1] for s in only("Query", got)]


@pytest.mark.parametrize("settings, steps", [
    (("create_index=after",), ["TABLE sbtest1", "INSERT INTO", "INDEX k_1"]),
    (("create_index=before",), ["TABLE sbtest1", "INDEX k_1", "INSERT INTO"]),
    (("create_index=none",), ["TABLE sbtest1", "INSERT INTO"]),
    (("create_index=before", "create_secondary=off"), ["TABLE sbtest1", "INSERT INTO"]),
    (("driver=pgsql", "secondary=on"),
     ["TABLE sbtest1", "INDEX xid_1", "INSERT INTO", "INDEX k_1"]),
    (("driver=sqlite", "secondary=on"),
     ["TABLE sbtest1", "INDEX xid_1", "INSERT INTO", "INDEX k_1"]),
    (("driver=pgsql", "pgsql_variant=redshift", "secondary=on"), ["TABLE sbtest1", "INSERT INTO"]),
])
def test_order_of_loading_and_indexes(settings, steps):
    assert steps_of_prepare(*settings) == steps


def test_redshift_neither_deletes_nor_inserts():
    got = sent("oltp_write_only", "run", "driver=pgsql", "pgsql_variant=redshift")
    assert [s.split()[1] for s in only("Execute", got)] == ["BEGIN", "UPDATE", "UPDATE", "COMMIT"]


@pytest.mark.parametrize("sizes, driver", gate.diagonal(
    [(1, 1, 5), (2, 4, 3), (4, 4, 3), (5, 2, 1000), (8, 3, 7), (3, 1, 2)], ["mysql", "pgsql", "sqlite"]))
def test_threads_share_the_tables(sizes, driver):
    """Threads, tables and rows.  Together they make every table and index once and insert each id of 1..size once."""
    threads, tables, size = sizes
    ids, once, texts = {t: [] for t in range(1, tables + 1)}, [], []
    for tid in range(threads):
        messages, got = record("oltp_update_index", "prepare", f"driver={driver}", f"tid={tid}",
                               f"threads={threads}", f"tables={tables}", f"table_size={size}")
        texts += messages
        assert len(only("Barrier", got)) == (2 if threads > tables else 0) + (driver == "sqlite")
        for text in only("Query", got):
            insert = re.match(r"Query INSERT INTO sbtest(\d+)\((id, )?k, c, pad\) VALUES", text)
            if not insert:
                once.append(text)
                continue
            rows = re.findall(r"\((\d+), ", text)
            assert bool(insert[2]) == (threads > tables)
            ids[int(insert[1])] += map(int, rows) if insert[2] else range(1, len(rows) + 1)
    assert all(sorted(found) == list(range(1, size + 1)) for found in ids.values())
    sequences = driver == "pgsql" and threads > tables
    assert len(set(once)) == len(once) == tables * (3 if sequences else 2)
    assert len(texts) == 3 * tables and len(set(texts)) == len(texts)
    if sequences:
        assert f"Query SELECT setval(pg_get_serial_sequence('sbtest1', 'id'), {size})" in once


@pytest.mark.parametrize("barrier, words", [
    (1, {"CREATE TABLE"}), (2, {"CREATE TABLE", "INSERT INTO"})])
def test_a_thread_stops_where_another_failed(barrier, words):
    got = sent("oltp_read_write", "prepare", "threads=2", "table_size=2", f"fails_before={barrier}")
    assert {" ".join(s.split()[1:3]) for s in only("Query", got)} == words and got[-1] == "Quit"


# --- other commands -------------------------------------------------------------------------------


@pytest.mark.parametrize("version, message", [("1.0.20", "Prewarming"), ("1.1.0", "Preloading")])
@pytest.mark.parametrize("command", ["warmup", "prewarm"])
def test_warmup(version, message, command):
    messages, got = record("oltp_read_only", command, f"version={version}", "tables=5",
                           "threads=2", "tid=1", "table_size=8")
    assert messages == [f"{message} table sbtest2", f"{message} table sbtest4"]
    assert got[1:6] == [
        "Query SET tmp_table_size=2*1024*1024*1024",
        "Query SET max_heap_table_size=2*1024*1024*1024",
        "Query ANALYZE TABLE sbtest2",
        "Query SELECT AVG(id) FROM (SELECT * FROM sbtest2 FORCE KEY (PRIMARY) LIMIT 8) t",
        "Query SELECT COUNT(*) FROM (SELECT * FROM sbtest2 WHERE k LIKE '%0%' LIMIT 8) t"]


def test_warmup_of_other_drivers():
    assert sent("oltp_read_only", "warmup", "driver=sqlite", "table_size=8")[1:-1] == [
        "Query ANALYZE sbtest1", "Query SELECT AVG(id) FROM (SELECT * FROM sbtest1 LIMIT 8) t",
        "Query SELECT COUNT(*) FROM (SELECT * FROM sbtest1 WHERE k LIKE '%0%' LIMIT 8) t"]
    for version, name in (("1.0.20", "prewarm"), ("1.1.0", "warmup")):
        done = attempt("oltp_read_only", "warmup", "driver=pgsql", f"version={version}")
        assert done.returncode == 1 and f"{name} is currently MySQL only" in done.stderr


@pytest.mark.parametrize("driver, values", [
    ("mysql", r"\(id, k, c, pad\) VALUES \(0, \d+, "), ("pgsql", r"\(k, c, pad\) VALUES \(\d+, "),
    ("sqlite", r"\(k, c, pad\) VALUES \(\d+, ")])
def test_oltp_insert(driver, values):
    own = f"driver={driver}"
    assert re.search("INSERT INTO sbtest1 " + values, sent("oltp_insert", "run", own)[1])
    assert "VALUES (2147483647, " in sent("oltp_insert", "run", own, "auto_inc=off")[1]


@pytest.mark.parametrize("max_id, rows", [
    ((), "(1,1),(2,2),(3,3)"), (("max_id=41",), "(42,42),(43,43),(44,44)")])
def test_bulk_insert_goes_on_after_the_largest_id(max_id, rows):
    assert sent("bulk_insert", "run", "tid=2", "events=3", *max_id) == [
        "Connect", "Query SELECT MAX(id) FROM sbtest3",
        f"Query INSERT INTO sbtest3 VALUES{rows}", "Quit"]


@pytest.mark.parametrize("setting, step", gate.diagonal(
    ("tables=0", "tables=nan", "table_size=-1", "range_size=0", "threads=0", "reconnect=-1", "point_selects=-1",
     "create_index=never", "pgsql_variant=blueshift"), ("prepare", "run", "cleanup", "warmup")))
def test_senseless_values_are_refused(setting, step):
    name, _, _ = setting.partition("=")
    for form, dialect in (f"--{name} ", ["dialect=1.1"]), (f"--{name.replace('_', '-')}=", []):
        done = attempt("oltp_read_write", step, setting, *dialect)
        assert done.returncode == 1 and form in done.stderr and "[c1]" not in done.stdout


@pytest.mark.parametrize("script", ["select_random_points", "select_random_ranges"])
@pytest.mark.parametrize("step, dialect, text", [
    ("prepare", [], "--tables=2: out of range; allowed: 1"), ("cleanup", [], "--tables=2: out of range; allowed: 1"),
    ("cleanup", ["dialect=1.1"], "this benchmark does not support --tables > 1")])
def test_random_selects_have_one_table(script, step, dialect, text):
    done = attempt(script, step, "tables=2", *dialect)
    assert done.returncode == 1 and text in done.stderr
    assert "[c1]" not in done.stdout
