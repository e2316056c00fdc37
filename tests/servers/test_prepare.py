# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows how prepare fills tables: by COPY or LOAD DATA where both ways store the same, else by INSERT."""

import contextlib
import os
import re
import types

import pytest

import transcripts
from gate import parameters
from test_sql_captures import mysql_sessions, pgsql_sessions
from test_workloads import bench, must, number

SIZES = ["--tables=2", "--table-size=8000"]
FACTS = ("COUNT(*), COUNT(DISTINCT id), MIN(id), MAX(id), MIN(k) >= 1, MAX(k) <= 8000, "
         "MIN(LENGTH(c)), MAX(LENGTH(c)), MIN(LENGTH(pad)), MAX(LENGTH(pad))")


SERVERS = ["mariadb_plain", "postgresql"]


@pytest.fixture(params=SERVERS)
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    return server


def schema(server):
    return "spec_db." if server.driver == "mysql" else ""


def query(server, text):
    return server.sql(text.replace("{s}", schema(server)) + ";").strip()


@contextlib.contextmanager
def watched(server):
    """The statements of the test's user, a list for each connection, once the block has ended."""
    sessions = []
    if server.driver == "mysql":
        log = server.path("general-load.log")
        server.sql(f"SET GLOBAL general_log_file='{log}'; SET GLOBAL general_log=ON;")
        yield sessions
        server.sql("SET GLOBAL general_log=OFF;")
        sessions += mysql_sessions(log)
        os.unlink(log)
        return
    server.sql("ALTER ROLE spec_user SET log_statement = 'all'")
    begin = os.path.getsize(server.path("server.log"))
    yield sessions
    server.sql("ALTER ROLE spec_user RESET log_statement")
    found = pgsql_sessions(server.path("server.log"), begin)
    sessions += [[text for text, _ in session] for session in found]


def kinds(sessions):
    """How often each way to fill a table was used."""
    all_of = [text for session in sessions for text in session]
    return {word: sum(text.startswith(word) for text in all_of) for word in ("INSERT", "COPY", "LOAD DATA")}


FAST = {"mysql": "LOAD DATA", "pgsql": "COPY"}


@pytest.mark.parametrize("server, way, threads", parameters(
    [(s, way, threads) for s in SERVERS for way in ("auto", "insert") for threads in (1, 2, 5)],
    gate=[("mariadb_plain", "auto", 2), ("mariadb_plain", "insert", 5), ("postgresql", "auto", 5),
          ("postgresql", "insert", 1)]), indirect=["server"])
def test_tables_are_the_same_by_each_way(server, way, threads):
    with watched(server) as sessions:
        must(server, "oltp_read_write", *SIZES, f"--threads={threads}", f"--db-bulk-load={way}", "prepare")
    used = kinds(sessions)
    assert (used["INSERT"] > 0) == (way == "insert")
    assert (used[FAST[server.driver]] > 0) == (way == "auto")
    yes = "1" if server.driver == "mysql" else "t"
    for table in ("sbtest1", "sbtest2"):
        found = query(server, f"SELECT {FACTS} FROM {{s}}{table}").split()
        assert found == ["8000", "8000", "1", "8000", yes, yes, "119", "119", "59", "59"]
    # The server goes on counting where the rows end.
    query(server, "INSERT INTO {s}sbtest1(k) VALUES (7)")
    assert query(server, "SELECT MAX(id) FROM {s}sbtest1") == "8001"


SCRIPT = """
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t (id INTEGER PRIMARY KEY, v VARCHAR(200))")
  %s
end
"""


def script(tmp_path, body):
    path = tmp_path / "load.lua"
    path.write_text(SCRIPT % body)
    return str(path)


@pytest.mark.sanitized
def test_values_arrive_as_they_were_written(server, tmp_path):
    """Those whose meaning only the server knows make the row and those behind it INSERTs."""
    body = """con:bulk_insert_init("INSERT INTO t (id, v) VALUES")
  con:bulk_insert_next("(1, 'it''s')")
  con:bulk_insert_next("(2,NULL)")
  con:bulk_insert_next("( 3 , 'tab\\there, line\\nend, return\\rend' )")
  con:bulk_insert_next("(4, '')")
  con:bulk_insert_next("(5, 'gr\\195\\188n')")
  con:bulk_insert_next("(6, '(),''')")
  %s
  con:bulk_insert_done()"""
    for more in ("", """con:bulk_insert_next("(3+4, UPPER('x'))") con:bulk_insert_next("(8, 'y')")"""):
        transcripts.empty(server)
        with watched(server) as sessions:
            must(server, script(tmp_path, body % more), "prepare")
        used = kinds(sessions)
        assert used[FAST[server.driver]] == 1
        assert used["INSERT"] == (1 if more else 0)
        found = query(server, "SELECT id, COALESCE(v, 'null'), LENGTH(v) FROM {s}t WHERE id <> 3 ORDER BY id")
        assert found.split("\n")[:2] == ["1\tit's\t4", "2\tnull\tNULL" if server.driver == "mysql" else "2\tnull\t"]
        assert query(server, "SELECT v FROM {s}t WHERE id = 6") == "(),'"
        assert query(server, "SELECT COUNT(*) FROM {s}t") == ("8" if more else "6")
        code = {"mysql": "HEX(v)", "pgsql": "upper(encode(convert_to(v, 'UTF8'), 'hex'))"}[server.driver]
        row3 = "tab\there, line\nend, return\rend".encode().hex().upper()
        assert query(server, f"SELECT {code} FROM {{s}}t WHERE id = 3") == row3
        assert query(server, "SELECT v FROM {s}t WHERE id = 4") == ""
        if more:
            assert query(server, "SELECT v FROM {s}t WHERE id = 7") == "X"


@pytest.mark.parametrize("server, engine", [
    ("mariadb_plain", "InnoDB"), ("mariadb_plain", "MyISAM"), ("postgresql", "")], indirect=["server"])
def test_a_row_that_cannot_be_stored_fails_the_command(server, engine, tmp_path):
    """As INSERT words it, and of its statement nothing stays where there are transactions."""
    body = f"""{'con:query("ALTER TABLE t ENGINE=' + engine + '")' if server.driver == 'mysql' else ''}
  con:bulk_insert_init("INSERT INTO t VALUES")
  for i = 1, 100 do con:bulk_insert_next("(" .. i .. ", 'a')") end
  con:bulk_insert_next("(50, 'b')")
  con:bulk_insert_done()"""
    status, _, err = bench(server, script(tmp_path, body), "prepare")
    assert status == 1
    found = query(server, "SELECT COUNT(*) FROM {s}t")
    if server.driver == "mysql":
        assert f"1062 (Duplicate entry '50' for key '{server.primary_key}')" in err
        assert found == ("0" if engine == "InnoDB" else "100")
    else:
        assert 'FATAL: PQexec() failed: 7 duplicate key value violates unique constraint "t_pkey"' in err
        assert found == "0"


def test_a_value_that_would_be_cut_fails_the_command(server, tmp_path):
    """LOAD DATA LOCAL cuts it, stores the row and only warns."""
    body = """con:bulk_insert_init("INSERT INTO t VALUES")
  con:bulk_insert_next("(1, 'a')")
  con:bulk_insert_next("(2, '" .. ("b"):rep(201) .. "')")
  con:bulk_insert_done()"""
    with watched(server) as sessions:
        status, _, err = bench(server, script(tmp_path, body), "prepare")
    assert kinds(sessions)[FAST[server.driver]] == 1
    assert status == 1
    assert re.search(r"FATAL: .*(Data too long for column 'v'|value too long for type)", err), err
    assert query(server, "SELECT COUNT(*) FROM {s}t") == "0"


def test_what_is_part_of_a_transaction_stays_part_of_it(server, tmp_path):
    body = """con:query("BEGIN")
  con:bulk_insert_init("INSERT INTO t VALUES")
  con:bulk_insert_next("(1, 'a')")
  con:bulk_insert_done()
  con:query("ROLLBACK")"""
    with watched(server) as sessions:
        must(server, script(tmp_path, body), "prepare")
    used = kinds(sessions)
    assert used["INSERT"] == 0 and used[FAST[server.driver]] >= 1
    assert query(server, "SELECT COUNT(*) FROM {s}t") == "0"


def test_a_load_that_is_refused_leaves_its_transaction_as_it_was(server, tmp_path):
    """PostgreSQL does not copy into views; the rows are inserted, and those before them stay."""
    body = """con:query("CREATE VIEW w AS SELECT id, v FROM t")
  con:query("BEGIN")
  con:query("INSERT INTO t VALUES (1, 'a')")
  for id = 2, 3 do
    con:bulk_insert_init("INSERT INTO w VALUES")
    con:bulk_insert_next("(" .. id .. ", 'b')")
    con:bulk_insert_done()
  end
  con:query("COMMIT")"""
    with watched(server) as sessions:
        must(server, script(tmp_path, body), "prepare")
    used = kinds(sessions)
    assert (used["INSERT"], used["LOAD DATA"]) == ((3, 0) if server.driver == "pgsql" else (1, 2))
    assert query(server, "SELECT id, v FROM {s}t ORDER BY id").split() == ["1", "a", "2", "b", "3", "b"]


@pytest.mark.parametrize("begin", ["", 'con:query("BEGIN")'])
def test_rows_that_only_insert_takes_are_inserted(postgresql, tmp_path, begin):
    """COPY reads no fraction as a whole number, also not in a later part of the rows."""
    body = f"""con:query("CREATE TABLE f (id INTEGER, v INTEGER)")
  {begin}
  for id = 1, 2 do
    con:bulk_insert_init("INSERT INTO f VALUES")
    con:bulk_insert_next(("(%d, %s)"):format(id, id == 2 and "2.5" or "1"))
    con:bulk_insert_done()
  end
  {begin.replace("BEGIN", "COMMIT")}"""
    transcripts.empty(postgresql)
    with watched(postgresql) as sessions:
        must(postgresql, script(tmp_path, body), "prepare")
    assert kinds(sessions)["INSERT"] == 1
    assert query(postgresql, "SELECT id, v FROM f ORDER BY id").split() == ["1", "1", "2", "3"]


def test_a_load_that_fails_ends_a_transaction_as_an_insert_does(server, tmp_path):
    body = """con:query("BEGIN")
  con:query("INSERT INTO t VALUES (1, 'a')")
  con:bulk_insert_init("INSERT INTO t VALUES")
  con:bulk_insert_next("(2, 'a')")
  con:bulk_insert_next("(3, '" .. ("b"):rep(201) .. "')")
  print(pcall(con.bulk_insert_done, con))
  con:query("COMMIT")"""
    status, out, err = bench(server, script(tmp_path, body), "prepare")
    assert status == 0 and "false\tdb_bulk_insert_done() failed" in out
    assert re.search(r"FATAL: .*(Data too long for column 'v'|value too long for type)", err), err
    assert query(server, "SELECT id FROM {s}t").split() == (["1"] if server.driver == "mysql" else [])


@pytest.mark.sanitized
def test_rows_of_c_values_arrive(server, tmp_path):
    """Those of sysbench.row, with each kind of value."""
    body = """local row = sysbench.row(7, 1)
  con:query("CREATE TABLE r (a INTEGER, b DECIMAL(8,2), c VARCHAR(20), d VARCHAR(20), e INTEGER)")
  con:bulk_insert_init("INSERT INTO r VALUES")
  for i = 1, 3000 do
    row:number(-i) row:number(i, 2) row:text("it's") row:alnum(5, 20, "word") row:null()
    con:bulk_insert_next(row)
  end
  con:bulk_insert_done()"""
    with watched(server) as sessions:
        must(server, script(tmp_path, body), "prepare")
    assert kinds(sessions)[FAST[server.driver]] == 1
    facts = ("COUNT(*), SUM(a), SUM(b), MIN(c), MAX(c), SUM(CASE WHEN d LIKE '%word%' THEN 1 ELSE 0 END), "
             "MIN(LENGTH(d)), MAX(LENGTH(d)), COUNT(e)")
    assert query(server, f"SELECT {facts} FROM {{s}}r").split("\t") == [
        "3000", "-4501500", "45015.00", "it's", "it's", "3000", "5", "20", "0"]


@pytest.mark.sanitized
def test_a_missing_table_is_named(server, tmp_path):
    body = """con:bulk_insert_init("INSERT INTO nosuch VALUES")
  con:bulk_insert_next("(1, 'a')")
  con:bulk_insert_done()"""
    status, _, err = bench(server, script(tmp_path, body), "prepare")
    assert status == 1
    assert re.search(r"FATAL: .*nosuch.*(does not exist|doesn't exist)", err)


def test_a_server_that_allows_no_load_gets_inserts(mariadb_plain):
    transcripts.empty(mariadb_plain)
    mariadb_plain.sql("SET GLOBAL local_infile=OFF")
    try:
        with watched(mariadb_plain) as sessions:
            must(mariadb_plain, "oltp_read_write", *SIZES, "--threads=2", "prepare")
    finally:
        mariadb_plain.sql("SET GLOBAL local_infile=ON")
    assert kinds(sessions)["INSERT"] >= 4
    assert query(mariadb_plain, "SELECT COUNT(*), MAX(id) FROM {s}sbtest2") == "8000\t8000"


def test_statements_fit_into_a_small_packet(mariadb_plain):
    before = mariadb_plain.sql("SELECT @@max_allowed_packet").strip()
    transcripts.empty(mariadb_plain)
    mariadb_plain.sql("SET GLOBAL local_infile=OFF; SET GLOBAL max_allowed_packet=65536;")
    try:
        must(mariadb_plain, "oltp_read_write", "--table-size=3000", "prepare")
    finally:
        mariadb_plain.sql(f"SET GLOBAL local_infile=ON; SET GLOBAL max_allowed_packet={before};")
    assert query(mariadb_plain, "SELECT COUNT(*), MAX(id) FROM {s}sbtest1") == "3000\t3000"


def test_a_statement_of_any_length_fits_into_a_small_packet(mariadb_plain, tmp_path):
    """Short rows fill a statement to the last bytes, and blanks before VALUES vary which ones."""
    body = """con:query("CREATE TABLE a (v INTEGER)")
  for blanks = 1, 4 do
    con:bulk_insert_init("INSERT INTO a(v)" .. (" "):rep(blanks) .. "VALUES")
    for _ = 1, 20000 do con:bulk_insert_next("(1)") end
    con:bulk_insert_done()
  end"""
    before = mariadb_plain.sql("SELECT @@max_allowed_packet").strip()
    transcripts.empty(mariadb_plain)
    mariadb_plain.sql("SET GLOBAL local_infile=OFF; SET GLOBAL max_allowed_packet=65536;")
    try:
        must(mariadb_plain, script(tmp_path, body), "prepare")
    finally:
        mariadb_plain.sql(f"SET GLOBAL local_infile=ON; SET GLOBAL max_allowed_packet={before};")
    assert query(mariadb_plain, "SELECT COUNT(*) FROM {s}a") == "80000"


@pytest.mark.parametrize("columns, row", [
    ("v", "(%d)"), ("id, v", "(NULL, %d)"), ("id,v", "(0, %d)"), ("`v`, `ID`", "(%d, '0')")])
def test_numbers_given_by_the_server_have_no_gaps(mariadb_plain, tmp_path, columns, row):
    """LOAD DATA would leave some, so such rows are inserted."""
    body = f"""con:query("CREATE TABLE a (id INTEGER AUTO_INCREMENT PRIMARY KEY, v INTEGER)")
  con:bulk_insert_init("INSERT INTO a({columns}) VALUES")
  for i = 1, 3000 do con:bulk_insert_next(("{row}"):format(i)) end
  con:bulk_insert_done()
  con:bulk_insert_init("INSERT INTO a({columns}) VALUES")
  con:bulk_insert_next(("{row}"):format(0))
  con:bulk_insert_done()"""
    transcripts.empty(mariadb_plain)
    with watched(mariadb_plain) as sessions:
        must(mariadb_plain, script(tmp_path, body), "--db-bulk-load=insert", "prepare")
    by_insert = query(mariadb_plain, "SELECT COUNT(*), MAX(id) FROM {s}a")
    transcripts.empty(mariadb_plain)
    with watched(mariadb_plain) as sessions:
        must(mariadb_plain, script(tmp_path, body), "prepare")
    assert kinds(sessions)["LOAD DATA"] == 0
    assert query(mariadb_plain, "SELECT COUNT(*), MAX(id) FROM {s}a") == by_insert


def test_numbers_given_by_the_script_are_loaded(mariadb_plain, tmp_path):
    """In any column, until the first row without one."""
    body = """con:query("CREATE TABLE a (id INTEGER AUTO_INCREMENT PRIMARY KEY, v INTEGER)")
  for part = 0, 2 do
    con:bulk_insert_init("INSERT INTO a(v, id) VALUES")
    for i = 1, 100 do con:bulk_insert_next(("(%d, %s)"):format(i, part < 2 and part * 100 + i or 0)) end
    con:bulk_insert_done()
  end"""
    transcripts.empty(mariadb_plain)
    with watched(mariadb_plain) as sessions:
        must(mariadb_plain, script(tmp_path, body), "prepare")
    assert kinds(sessions) == {"INSERT": 1, "COPY": 0, "LOAD DATA": 2}
    assert query(mariadb_plain, "SELECT COUNT(*), MIN(id), MAX(id) FROM {s}a") == "300\t1\t300"


def test_types_that_load_data_reads_otherwise_are_inserted(mariadb_plain, tmp_path):
    body = """con:query("CREATE TABLE b (id INTEGER, v BIT(8), e ENUM('2', '1'))")
  con:bulk_insert_init("INSERT INTO b VALUES")
  con:bulk_insert_next("(1, 5, 1)")
  con:bulk_insert_done()"""
    transcripts.empty(mariadb_plain)
    must(mariadb_plain, script(tmp_path, body), "prepare")
    assert query(mariadb_plain, "SELECT v+0, e FROM {s}b") == "5\t2"


def test_a_run_inserts(server):
    """What bulk_insert measures stays what it was."""
    must(server, "bulk_insert", "prepare")
    with watched(server) as sessions:
        out = must(server, "bulk_insert", "--events=1000", "run")
    assert number(out, "write") == 1
    used = kinds(sessions)
    assert used["INSERT"] == 1 and used[FAST[server.driver]] == 0


def test_a_thread_that_fails_fails_the_command(server):
    """Others wait for it in vain."""
    query(server, "CREATE TABLE {s}sbtest2 (id INTEGER)")
    if server.driver == "pgsql":
        query(server, "ALTER TABLE sbtest2 OWNER TO spec_user")
    status, _, err = bench(server, "oltp_read_write", *SIZES, "--threads=5", "prepare")
    assert status == 1
    assert "already exists" in err


@pytest.mark.parametrize("threads, tables", [(4, 2), (3, 1)])
def test_no_connection_of_prepare_waits_idle_for_other_threads(mariadb, threads, tables):
    """A server that cuts idle connections cut those that waited for the others, and the index was not made."""
    transcripts.empty(mariadb)
    count = "SHOW GLOBAL STATUS LIKE 'Connections'"
    asked = [f"--threads={threads}", f"--tables={tables}", "--table-size=300"]
    before = int(mariadb.sql(count).split()[1])
    must(mariadb, "oltp_read_only", *asked, "prepare")
    try:
        # One when it starts, one to load, and one for each index; each count is a connection, too.
        assert int(mariadb.sql(count).split()[1]) - before - 1 >= 2 * threads + tables
        found = mariadb.sql("SELECT COUNT(DISTINCT TABLE_NAME) FROM information_schema.STATISTICS "
                            "WHERE TABLE_SCHEMA = 'spec_db' AND INDEX_NAME LIKE 'k\\_%'")
        assert found.split() == [str(tables)]
    finally:
        must(mariadb, "oltp_read_only", f"--tables={tables}", "cleanup")


@pytest.fixture(params=["sqlite", *SERVERS])
def any_server(request, tmp_path):
    if request.param == "sqlite":
        return types.SimpleNamespace(login=lambda: ["--db-driver=sqlite", f"--sqlite-db={tmp_path}/data"])
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    request.addfinalizer(lambda: transcripts.empty(server))
    return server


@pytest.mark.parametrize("workload, option", [("oltp_read_only", "tables"), ("bulk_insert", "threads")])
def test_cleanup_tells_what_a_smaller_number_left(any_server, workload, option):
    size = ["--table-size=10"] if workload == "oltp_read_only" else []

    def tell(command, n, *more):
        status, out, err = bench(any_server, workload, *size, f"--{option}={n}", *more, command)
        assert status == 0, out + err
        return err

    tell("prepare", 12)
    assert "left" not in tell("cleanup", 1, "--compat=1.0")
    assert ("10 more table(s) are left, up to sbtest12; to drop them too run cleanup with "
            f"--{option}=12\n") in tell("cleanup", 2)
    assert "left" not in tell("cleanup", 12)
    assert "left" not in tell("cleanup", 12)


def test_a_second_prepare_says_what_to_do(any_server):
    args = ["oltp_read_only", "--tables=1", "--table-size=10", "prepare"]
    must(any_server, *args)
    status, _, err = bench(any_server, *args)
    assert status == 1 and "run 'cleanup' first, with the options of its 'prepare'\n" in err
    status, out, err = bench(any_server, *args[:-1], "--compat=1.0", "prepare")
    assert status == 1 and "cleanup" not in out + err
    must(any_server, *args[:-1], "cleanup")
