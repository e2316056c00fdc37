# SPDX-License-Identifier: GPL-2.0-or-later
"""Every function that scripts see, called with wrong values: errors, no crash, and the report."""
import pathlib
import re

import gate
import pytest

HERE = pathlib.Path(__file__).parent
SCRIPT = (HERE / "wrong_values.lua").read_text()
SOURCES = HERE.parent.parent / "src"


@pytest.mark.parametrize("form, driver", gate.diagonal(["", "1.1", "1.0", "0.5"], ["sqlite", "null"]))
def test_none_crashes(folder, driver, form):
    r = folder.run(SCRIPT, "--db-driver=" + driver, "--events=1", "--time=0", BENCH_COMPAT=form)
    last = r.err.splitlines()[-3:]
    # Some values are texts that the server refuses, which ends a run without a dialect.
    assert r.status == (driver == "sqlite" and form == "") and r.reported, last
    calls, errors = map(int, re.search(r"^calls (\d+) errors (\d+)$", r.err, re.M).groups())
    assert calls > 2400 and errors > calls * 0.75


def test_the_table_has_all():
    """A function that is added is tried too."""
    methods = set()
    for file in (SOURCES / "lua/internal").glob("sysbench.*.lua"):
        methods |= set(re.findall(r"^function (?:\w+_methods:|rand\.|sql\.|histogram\.)(\w+)",
                                  file.read_text(), re.M))
    for file in (SOURCES / "script/old").glob("*.h"):
        methods |= set(re.findall(r"^BN_API .*?\*?(\w+)\(", file.read_text(), re.M))
    tried = set(re.findall(r"\w+", SCRIPT))
    assert len(methods) > 60 and methods - tried == set()


PREPARED = """
local con = sysbench.sql.driver():connect()
con:query("CREATE TABLE t(a INT)")
local stmt = con:prepare("SELECT a FROM t WHERE a = ?")
local rs = con:query("SELECT 1")
"""


@pytest.mark.parametrize("call,text", [
    ("stmt:bind_param(nil)",
     "bind_param: value 1 is nil; expected a parameter that bind_create() has made"),
    ("stmt:bind_param(stmt:bind_create(3), con)",
     "bind_param: value 2 is <sql_connection>; expected a parameter that bind_create() has made"),
    ("stmt:bind_param(stmt)",
     "bind_param: value 1 is <sql_statement>; expected a parameter that bind_create() has made"),
    ("con.query(nil, 'SELECT 1')",
     "query: expected a connection, got nil; the call is connection:query()"),
    ("stmt.execute()", "execute: expected a statement, got nil; the call is statement:execute()"),
    ("stmt.execute(con)",
     "execute: expected a statement, got <sql_connection>; the call is statement:execute()"),
    ("rs.fetch_row()", "fetch_row: expected a result, got nil; the call is result:fetch_row()"),
    ("sysbench.sql.driver(io.stdout)", "driver: expected the name of a driver, got userdata"),
    ("ffi.cast('sql_driver *', nil):name()",
     "name: expected a driver, got a null pointer; the call is driver:name()"),
    ("ffi.cast('sql_connection *', nil):query('SELECT 1')",
     "query: expected a connection, got a null pointer; the call is connection:query()"),
    ("ffi.C.db_prepare(con, 'SELEC', 5):execute()",
     "execute: expected a statement, got a null pointer; the call is statement:execute()"),
    ("local q = 'INSERT INTO t VALUES (1)'; ffi.C.db_query(con, q, #q):fetch_row()",
     "fetch_row: expected a result, got a null pointer; the call is result:fetch_row()"),
    ("rs.free(io.stdout)", "free: expected a result, got userdata; the call is result:free()"),
    ("con:bulk_insert_next(nil)",
     "bulk_insert_next: expected a text or a row of sysbench.row, got nil"),
    ("con:bulk_insert_next(rs)",
     "bulk_insert_next: expected a text or a row of sysbench.row, got <sql_result>"),
])
def test_sentences(folder, call, text):
    r = folder.run("function event()" + PREPARED + call + "\nend", "--db-driver=sqlite")
    assert "FATAL: `thread_run' function failed: t.lua:6: " + text in r.said
    assert (r.status, r.reported) == (1, True)


def test_sentence_of_histograms(folder):
    r = folder.run("function event() sysbench.histogram.new(5, 1, 9).update({}, 5) end")
    assert "t.lua:1: update: expected a histogram, got table; the call is histogram:update()" in r.err
    assert (r.status, r.reported) == (1, True)


@pytest.mark.parametrize("call,text", [
    ("db_query(nil, 'SELECT 1', 8)", "db_query: the connection is nil"),
    gate.sanitized("db_execute(nil)", "db_execute: the statement is nil"),
    ("db_fetch_row(nil)", "db_fetch_row: the result is nil"),
    ("db_query(con, nil, 8)", "db_query: the query is nil"),
    ("db_prepare(con, nil, 8)", "db_prepare: the query is nil"),
    ("db_bulk_insert_init(con, nil, 8)", "db_bulk_insert_init: the query is nil"),
    ("sb_histogram_print(nil)", "sb_histogram_print: the histogram is nil"),
])
@pytest.mark.parametrize("workers", [(), ("--threads=2", "--workers=1")])
def test_c_interface(folder, call, text, workers):
    r = folder.run("function thread_init() con = sysbench.sql.driver():connect() end\n"
                   f"function event() ffi.C.{call} end", "--db-driver=null", "--events=1", "--time=0", *workers)
    assert "ALERT: " + text in r.said
    assert (r.status, r.reported, r.events) == (0, True, 1)
