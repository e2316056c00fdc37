# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the bundled workloads against real servers, with every way to execute statements."""

import json
import os
import re
import subprocess

import pytest

import modes
import transcripts
from gate import diagonal, parameters
from servers import BENCH

WORKLOADS = [
    "oltp_read_write", "oltp_read_only", "oltp_write_only", "oltp_point_select", "oltp_insert",
    "oltp_delete", "oltp_update_index", "oltp_update_non_index", "select_random_points",
    "select_random_ranges", "bulk_insert",
]
SIZES = ["--tables=2", "--table-size=200"]
# Threads and events.  A sanitizer makes 64 threads take half a minute, and finds no more with them.
LOADS = {1: 20, 8: 160, 64: 320}
if os.environ.get("BENCH_SANITIZER"):
    LOADS = {1: 20, 8: 80, 16: 80}
SERVERS = ["mariadb", "postgresql"]


def bench(server, *argv, by=None, timeout=120):
    """Nothing but the number of events ends a run that has one."""
    login = server.login(by) if by else server.login()
    if any(arg.startswith("--events=") for arg in argv) and not any(arg.startswith("--time=") for arg in argv):
        argv = [argv[0], "--time=0", *argv[1:]]
    done = subprocess.run([BENCH, *modes.command([argv[0], *login, *argv[1:]])], cwd="/", capture_output=True,
                          text=True, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


def must(server, *argv, **kwargs):
    status, out, err = bench(server, *argv, **kwargs)
    assert status == 0, out + err
    return out


def sizes_of(workload):
    if workload == "bulk_insert":
        return []
    return ["--table-size=200"] if workload.startswith("select") else SIZES


def number(out, label):
    return int(re.search(rf"^ *{label}: +(\d+)", out, re.M).group(1))


@pytest.fixture(params=SERVERS)
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    return server


MOST = max(LOADS)


@pytest.mark.both_modes
@pytest.mark.parametrize("server, workload, threads", parameters(
    [(s, w, n) for s in SERVERS for w in WORKLOADS for n in ((8,) if w == "bulk_insert" else LOADS)],
    gate=[("mariadb", "oltp_read_write", 8), ("postgresql", "oltp_read_write", MOST), ("mariadb", "oltp_insert", MOST),
          ("postgresql", "oltp_delete", 8), ("mariadb", "bulk_insert", 8), ("postgresql", "bulk_insert", 8)],
), indirect=["server"])
def test_workload(server, workload, threads):
    """Prepared by the server and not."""
    events = LOADS[threads]
    made = ["--threads=8"] if workload == "bulk_insert" else sizes_of(workload)
    # Few rows and many threads: conflicts are what the lists of ignored errors are for.
    ignore = ["--mysql-ignore-errors=1213,1020,1205,1062"]
    must(server, workload, *made, "prepare")
    try:
        for ps_mode in ("auto", "disable"):
            general = [f"--threads={threads}", f"--db-ps-mode={ps_mode}", f"--events={events}", "--time=0"]
            out = must(server, workload, *sizes_of(workload), *general, *ignore, "run")
            assert number(out, "total number of events") == events
            assert number(out, "reconnects") == 0
            assert workload == "bulk_insert" or number(out, "total") >= events
    finally:
        must(server, workload, *made, "cleanup")


@pytest.mark.parametrize("workload, old", [
    ("oltp_write_only", ""), ("oltp_read_write", ""), ("oltp_legacy/oltp.lua", "oltp-")])
def test_a_row_that_two_threads_insert_is_ignored_without_transactions(mariadb, workload, old):
    """They have both deleted it.  A dialect ends the run, as sysbench does."""
    transcripts.empty(mariadb)
    options = [f"--{old}table-size=1", f"--{old}skip-trx=on", "--threads=8", "--events=500"]
    must(mariadb, workload, *options[:1], "prepare")
    try:
        out = must(mariadb, workload, *options, "run")
        assert number(out, "total number of events") == 500 and number(out, "ignored errors") > 0
        assert bench(mariadb, workload, *options, "--compat=1.0", "run")[0] == 1
    finally:
        must(mariadb, workload, "cleanup")


@pytest.mark.parametrize("server, dialect", diagonal(SERVERS, ["", "0.5", "1.1", "1.0"]), indirect=["server"])
def test_a_saved_result_prints_what_the_run_printed(server, dialect, tmp_path):
    """And tells what the connection was to and through."""
    compat = [f"--compat={dialect}"] if dialect else []
    size = ["--oltp-table-size=100"] if dialect == "0.5" else ["--table-size=100"]
    test = "--test=oltp" if dialect == "0.5" else "oltp_read_write"
    limit = ["--max-requests=50", "--num-threads=2"] if dialect == "0.5" else ["--events=50", "--threads=2"]
    text, document = tmp_path / "text", tmp_path / "json"
    reports = [f"--report=text:{text}", f"--report=json:{document}"]
    must(server, test, *compat, *size, "prepare")
    try:
        must(server, test, *compat, *size, *limit, *reports, "run")
    finally:
        must(server, test, *compat, *size, "cleanup")
    done = subprocess.run([BENCH, "report", document], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == (text.read_text(), "", 0)
    database = json.loads(document.read_text())["facts"]["database"]
    assert database["driver"] in ("mysql", "pgsql")
    assert re.search(r"\d+\.\d+", database["server_version"])
    assert re.search(r"\d+", database["client_version"])
    assert not [name for name in tmp_path.iterdir() if name.suffix == ".partial"]


# Fails once in each session, with an error that leaves the transaction open or, 1213, has ended it.
FAILS_ONCE = """DELIMITER //
CREATE TRIGGER spec_db.once BEFORE UPDATE ON spec_db.sbtest1 FOR EACH ROW
IF @failed IS NULL THEN
  SET @failed = 1;
  SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = %d;
END IF//
"""


ROLLBACKS = {1205: 1, 1020: 1, 1213: 0}


@pytest.mark.parametrize("code, dialect", diagonal(list(ROLLBACKS), ["", "1.1", "1.0"]))
def test_one_rollback_before_an_event_is_repeated(mariadb, code, dialect):
    transcripts.empty(mariadb)
    compat = [f"--compat={dialect}"] if dialect else []
    count = "SHOW GLOBAL STATUS LIKE 'Com_rollback'"
    must(mariadb, "oltp_read_write", "--table-size=100", "prepare")
    try:
        mariadb.sql(FAILS_ONCE % code)
        before = int(mariadb.sql(count).split()[1])
        out = must(mariadb, "oltp_read_write", *compat, "--table-size=100", "--events=3", "--time=0", "run")
        assert int(mariadb.sql(count).split()[1]) - before == ROLLBACKS[code]
        assert (number(out, "total number of events"), number(out, "ignored errors")) == (3, 1)
    finally:
        must(mariadb, "oltp_read_write", "cleanup")


QUERIES = {  # of one event: read, write, other
    "oltp_read_write": (14, 4, 2),
    "oltp_read_only": (14, 0, 2),
    "oltp_write_only": (0, 4, 2),
    "oltp_point_select": (1, 0, 0),
    "oltp_insert": (0, 1, 0),
    "oltp_update_index": (0, 1, 0),
    "oltp_update_non_index": (0, 1, 0),
    "select_random_points": (1, 0, 0),
    "select_random_ranges": (1, 0, 0),
}


@pytest.mark.parametrize("server, workload", parameters(
    [(s, w) for s in SERVERS for w in sorted(QUERIES)],
    gate=[("mariadb", "oltp_read_write"), ("postgresql", "oltp_write_only"), ("mariadb", "oltp_insert"),
          ("postgresql", "select_random_points")],
), indirect=["server"])
def test_statements_are_counted_by_what_they_do(server, workload):
    sizes = sizes_of(workload)
    must(server, workload, *sizes, "prepare")
    try:
        for ps_mode in ("auto", "disable"):
            out = must(server, workload, *sizes, "--events=10", f"--db-ps-mode={ps_mode}", "run")
            counted = tuple(number(out, kind) for kind in ("read", "write", "other"))
            assert counted == tuple(10 * n for n in QUERIES[workload])
    finally:
        must(server, workload, *sizes, "cleanup")


def tables(server):
    if server.driver == "mysql":
        return server.sql("SELECT table_name FROM information_schema.tables WHERE table_schema='spec_db'")
    return server.sql("SELECT tablename FROM pg_tables WHERE schemaname='public'")


@pytest.mark.both_modes
@pytest.mark.parametrize("server, by", parameters(
    [(s, by) for s in SERVERS for by in ("socket", "tcp")], gate=[("mariadb", "socket")]), indirect=["server"])
def test_many_threads_many_tables_by_each_way(server, by):
    sizes = ["--tables=10", "--table-size=1000"]
    must(server, "oltp_read_write", *sizes, "--threads=4", "prepare", by=by)
    try:
        out = must(server, "oltp_read_write", *sizes, "--threads=200", "--events=600", "--time=0",
                   "--report-interval=0.2", "run", by=by)
    finally:
        must(server, "oltp_read_write", *sizes, "cleanup", by=by)
    # An interval in which no event ends has the age of the oldest that runs, if one does.
    lines = re.findall(r"^\[ (\S+)s \] (.*)$", out, re.M)
    form = re.compile(r"thds: (?:1?\d{1,2}|200) tps: \d+\.\d\d qps: \d+\.\d\d \(r/w/o: \S+\) "
                      r"lat \(ms,95%\): (?:\d+\.\d\d|-(?: \(oldest \d+\))?) err/s: \d+\.\d\d reconn/s: 0\.00")
    assert lines and [line for _, line in lines if not form.fullmatch(line)] == []
    assert lines == sorted(lines, key=lambda line: float(line[0]))
    assert number(out, "total number of events") == 600
    assert tables(server) == ""


def test_prepared_tables_are_as_they_should_be(server):
    must(server, "oltp_read_write", "--tables=2", "--table-size=3000", "--threads=2", "prepare")
    try:
        for table in ("sbtest1", "sbtest2"):
            found = server.sql(f"SELECT COUNT(*), MIN(id), MAX(id), MIN(LENGTH(c)), MIN(LENGTH(pad)) "
                               f"FROM {'spec_db.' if server.driver == 'mysql' else ''}{table};")
            assert found.split() == ["3000", "1", "3000", "119", "59"]
    finally:
        must(server, "oltp_read_write", "--tables=2", "cleanup")


def test_prepare_of_an_existing_table_fails(server):
    must(server, "oltp_read_write", *SIZES, "prepare")
    try:
        for threads in (1, 2):
            status, _, err = bench(server, "oltp_read_write", *SIZES, f"--threads={threads}", "prepare")
            assert status == 1
            assert "already exists" in err
    finally:
        must(server, "oltp_read_write", *SIZES, "cleanup")


def test_dry_run_sends_nothing(mariadb):
    status, out, _ = bench(mariadb, "oltp_read_write", "--mysql-dry-run", "--mysql-socket=/nonexistent",
                           "--events=3", "run")
    assert status == 0
    assert (number(out, "read"), number(out, "write"), number(out, "other")) == (0, 0, 60)


def test_bulk_insert_goes_on_behind_its_rows(server):
    must(server, "bulk_insert", "prepare")
    try:
        for _ in range(2):
            assert number(must(server, "bulk_insert", "--events=1000", "run"), "write") == 1
        schema = "spec_db." if server.driver == "mysql" else ""
        assert server.sql(f"SELECT COUNT(*), MAX(id) FROM {schema}sbtest1;").split() == ["2000", "2000"]
    finally:
        must(server, "bulk_insert", "cleanup")


def test_ids_of_legacy_insert_that_exist_are_drawn_again(mariadb):
    """The second run draws the ids of the first one, each of which repeats its event; one with another seed none."""
    run = ["oltp_legacy/insert.lua", "--oltp-auto-inc=off"]
    transcripts.empty(mariadb)
    must(mariadb, *run, "--oltp-table-size=0", "prepare")
    for seed, ignored in ((1, 0), (1, 20), (2, 0)):
        out = must(mariadb, *run, f"--rand-seed={seed}", "--oltp-table-size=10", "--events=20", "run")
        assert (number(out, "total number of events"), number(out, "ignored errors")) == (20, ignored)
    assert mariadb.sql("SELECT COUNT(*) FROM spec_db.sbtest1;").split() == ["60"]
    must(mariadb, *run, "cleanup")


def test_the_heading_names_the_server(server):
    must(server, "oltp_point_select", *SIZES, "prepare")
    out = must(server, "oltp_point_select", *SIZES, "--events=1", "run")
    name = {"mysql": r"(?:MySQL \d+\.\d+\.\d+\S*|\d+\.\d+\.\d+-MariaDB\S*)", "pgsql": r"PostgreSQL \d+\.\d+.*"}[server.driver]
    assert re.search(rf"^Database: {server.driver}, {name}, 2 tables x 200 rows\n\nThreads started!$",
                     out, re.M), out


@pytest.mark.sanitized
def test_errors_that_name_rows_are_told_once(server, tmp_path):
    """Each thread meets another row."""
    (tmp_path / "same.lua").write_text("""
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE same(id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO same VALUES (0),(1),(2),(3),(4),(5),(6),(7)")
end
function thread_init(id)
  sysbench.sql.driver():connect():query("INSERT INTO same VALUES (" .. id .. ")")
end
function event() end
function cleanup() sysbench.sql.driver():connect():query("DROP TABLE same") end
""")
    script = str(tmp_path / "same.lua")
    must(server, script, "prepare")
    try:
        status, _, err = bench(server, script, "--threads=8", "run")
    finally:
        must(server, script, "cleanup")
    assert (status, err.count("function failed"), err.count("(7 more threads)")) == (1, 1, 1), err


def test_a_reader_that_leaves_ends_the_run(server):
    """bench … | head: client libraries ignore the signal that says so."""
    must(server, "oltp_point_select", *SIZES, "prepare")
    run = subprocess.Popen([BENCH, "oltp_point_select", *SIZES, *server.login(), "--threads=2", "--time=600",
                            "--report-interval=1", "run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           cwd="/")
    try:
        while "s ] thds: " not in (line := run.stdout.readline()):
            assert line != "", run.stderr.read()
        run.stdout.close()
        assert (run.wait(timeout=120), run.stderr.read()) == (141, "")
    finally:
        run.kill()
        run.wait()
        run.stderr.close()
        must(server, "oltp_point_select", *SIZES, "cleanup")


ROWS = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE counted_rows (k INTEGER)")
  add = con:prepare("UPDATE counted_rows SET k = k + 10")
end
function event()
  con:query("INSERT INTO counted_rows VALUES (1), (2), (3), (4)")
  con:query("SELECT k FROM counted_rows LIMIT 1")
  con:query("UPDATE counted_rows SET k = 0 WHERE k <= 2")
  add:execute()
  con:query("DELETE FROM counted_rows WHERE k = 10 OR k = 13")
  con:query("/* no row */ DELETE FROM counted_rows WHERE k = 10")
  con:query("DELETE FROM counted_rows WHERE k = 14")
end
function thread_done() con:query("DROP TABLE counted_rows") end
"""


@pytest.mark.parametrize("protocol", ["auto", "library"])
@pytest.mark.parametrize("ps_mode", ["auto", "disable"])
def test_rows_are_counted_as_the_server_says(server, protocol, ps_mode, tmp_path):
    script, document = tmp_path / "rows.lua", tmp_path / "json"
    script.write_text(ROWS)
    must(server, str(script), f"--{server.driver}-protocol={protocol}", f"--db-ps-mode={ps_mode}", "--events=3",
         "--time=0", f"--report=json:{document}", "run")
    counters = json.loads(document.read_text())["groups"][0]["total"]["raw"]["counters"]
    found = {name: n for name, n in counters.items() if "rows" in name}
    assert found == {"rows_read": 3, "rows_inserted": 12, "rows_updated": 18, "rows_deleted": 12,
                     "updates_without_rows": 0, "deletes_without_rows": 3}


@pytest.mark.parametrize("workload", ["oltp_write_only", "oltp_update_index"])
def test_commits_are_verified(server, workload):
    """Of transactions and of single statements, prepared by the server and not."""
    size = ["--table-size=1000"]
    protocol = "--mysql-protocol" if server.driver == "mysql" else "--pgsql-protocol"
    must(server, workload, *size, "prepare")
    try:
        for mode in ("--db-ps-mode=auto", "--db-ps-mode=disable", f"{protocol}=library"):
            out = must(server, workload, *size, mode, "--threads=2", "--events=20", "--time=0", "--verify-commits",
                       "--mysql-ignore-errors=1213,1020,1205,1062", "run")
            assert number(out, "acknowledged") == 20
            assert number(out, "missing") == number(out, "outcome unknown") == 0
    finally:
        must(server, workload, *size, "cleanup")


# Each event stores 1, 2, …; what is rolled back is greater than 10.
BOUNDARIES = """
function statements(...) for _, sql in ipairs({...}) do con:query(sql) end end
function insert(a) con:query("INSERT INTO boundaries VALUES (" .. a .. ")") end
function thread_init()
  con = sysbench.sql.driver():connect()
  statements("DROP TABLE IF EXISTS boundaries", "CREATE TABLE boundaries(a INTEGER)")
end
function event()
  statements("BEGIN", "SAVEPOINT s", "ROLLBACK WORK  TO s")
  insert(11)
  con:query("ROLLBACK")
  con:query("BEGIN")
  insert(1)
  con:query("COMMIT AND CHAIN")
  insert(12)
  con:query("ROLLBACK AND CHAIN")
  insert(13)
  con:query("ROLLBACK")
  if mysql then locked_mysql() else locked_postgresql() end
  insert(4)
end
function locked_mysql()
  con:query("SET @@session.autocommit = 0")
  insert(2)
  con:query("COMMIT")
  insert(14)
  statements("ROLLBACK", "LOCK TABLES boundaries WRITE")
  insert(3)
  statements("COMMIT", "UNLOCK TABLES", "SET SESSION autocommit=1")
end
function locked_postgresql()
  statements("BEGIN", "LOCK TABLE boundaries")
  insert(2)
  con:query("COMMIT")
  statements("BEGIN; INSERT INTO boundaries VALUES (3)", "BEGIN", "COMMIT")
end
function thread_done()
  local found = con:query("SELECT a FROM boundaries ORDER BY a")
  local row = found:fetch_row()
  while row do
    print("stored " .. row[1])
    row = found:fetch_row()
  end
  con:query("DROP TABLE boundaries")
end
"""


@pytest.mark.parametrize("protocol", [pytest.param("auto", marks=pytest.mark.sanitized), "library"])
@pytest.mark.parametrize("ps_mode", ["auto", "disable"])
def test_transactions_of_a_script_stay_as_they_are(server, protocol, ps_mode, tmp_path):
    """--verify-commits begins none within them, and counts those that it can."""
    mysql = server.driver == "mysql"
    script = tmp_path / "boundaries.lua"
    script.write_text(f"mysql = {str(mysql).lower()}\n{BOUNDARIES}")
    options = [f"--{server.driver}-protocol={protocol}", f"--db-ps-mode={ps_mode}", "--events=1", "--time=0"]
    out = must(server, str(script), *options, "--verify-commits", "run")
    assert re.findall(r"^stored (\d+)$", out, re.M) == ["1", "2", "3", "4"]
    # The one of locked tables cannot be.
    assert number(out, "acknowledged") == (3 if mysql else 4)
    assert number(out, "missing") == number(out, "outcome unknown") == 0


# In a dialect, a script may catch an error and go on.
CAUGHT = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("DROP TABLE IF EXISTS caught")
  con:query("CREATE TABLE caught(a INTEGER)")
end
function event()
  con:query("BEGIN")
  con:query("INSERT INTO caught VALUES (1)")
  pcall(con.query, con, "SELECT nosuch FROM caught")
  con:query("COMMIT")
  con:query("INSERT INTO caught VALUES (2)")
end
function thread_done()
  print("stored " .. con:query_row("SELECT COUNT(*) FROM caught"))
  con:query("DROP TABLE caught")
end
"""


@pytest.mark.parametrize("protocol", ["auto", "library"])
def test_an_empty_statement_is_an_error_like_others(server, protocol, tmp_path):
    """PostgreSQL answers it without a code: it counts, and ends the run although the script catches it."""
    script = tmp_path / "empty.lua"
    script.write_text("local con\n"
                      "function thread_init() con = sysbench.sql.driver():connect() end\n"
                      "function event() pcall(con.query, con, '') end\n")
    done = subprocess.run([BENCH, str(script), *server.login(), f"--{server.driver}-protocol={protocol}", "--events=9",
                           "run"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stdout
    assert number(done.stdout, "ignored errors") == 1, done.stdout
    assert "empty" in done.stderr, done.stderr


@pytest.mark.parametrize("protocol", ["auto", pytest.param("library", marks=pytest.mark.sanitized)])
def test_a_commit_that_rolls_back_is_not_verified(server, protocol, tmp_path):
    """PostgreSQL ends a transaction in which a statement has failed without an error."""
    script = tmp_path / "caught.lua"
    script.write_text(CAUGHT)
    out = must(server, str(script), f"--{server.driver}-protocol={protocol}", "--events=3", "--time=0",
               "--compat=1.0", "--verify-commits", "run")
    stored = 6 if server.driver == "mysql" else 3
    assert f"stored {stored}\n" in out and number(out, "acknowledged") == stored
    assert number(out, "missing") == number(out, "outcome unknown") == 0
