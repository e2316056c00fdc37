# SPDX-License-Identifier: GPL-2.0-or-later
"""sysbench.sql on SQLite: objects, values, results and errors, prepared and emulated."""
import os
import re
import tempfile

import pytest

import gate
from bench import good
from lua import command

ERRORS = ("FATAL: ", "ALERT: ")
START = """
local function try(name, f, ...)
  local r = {pcall(f, ...)}
  for i = 1, table.maxn(r) do r[i] = tostring(r[i]) end
  print(name, table.concat(r, " | "))
end
function event()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
"""


def run(folder, body, *args, driver="sqlite"):
    """What the script printed in its one event."""
    r = folder.run(START + body + "\nend\n", f"--db-driver={driver}", "--events=1", "--time=0",
                   *args)
    said = r.out.partition("Threads started!\n\n")[2].partition("SQL statistics:")[0]
    r.printed = [s for s in said.splitlines() if not s.startswith("(last message repeated")]
    r.errors = [s for s in r.said if s.startswith(ERRORS)]
    return r


def expect(r, text):
    """What it printed, with the errors, which are on standard error."""
    lines = text.splitlines()
    assert r.printed == [s for s in lines if not s.startswith(ERRORS)]
    assert r.errors == [s for s in lines if s.startswith(ERRORS)]


@pytest.mark.sanitized
@pytest.mark.parametrize("mode", ["auto", "disable"])
def test_objects(folder, mode):
    r = run(folder, """
  print(drv, drv:name(), con, con.error, con.sql_errno, con.driver == drv)
  print("create", con:query("CREATE TABLE t(a INTEGER, b TEXT, c DOUBLE)"))
  print("insert", con:query("INSERT INTO t VALUES (1,'one',1.5),(NULL,'two',NULL),(3,NULL,2.25)"))
  local rs = con:query("SELECT a, b, c FROM t ORDER BY b")
  print(rs, rs.nrows, rs.nfields)
  local row = rs:fetch_row()
  while row do print(row[1], row[2], row[3], type(row[1])) row = rs:fetch_row() end
  rs = con:query("SELECT a, b, c FROM t ORDER BY b")
  print("columns", rs:fetch()) print("columns", rs:fetch(3, 1)) print("columns", rs:fetch(1, 2, 3, 1, 2, 3))
  print("columns", rs:fetch(1))
  rs = con:query("SELECT a, b, c FROM t ORDER BY b")
  try("no such column", function () rs:fetch(1, 4) end)
  try("no such column", function () rs:fetch("b") end)
  try("free", rs.free, rs)
  try("free twice", rs.free, rs)
  try("fetch freed", rs.fetch_row, rs)
  print("row", con:query_row("SELECT a, b FROM t WHERE a=1"))
  print("no row", con:query_row("SELECT a FROM t WHERE a=99"))
  print("no result", con:query_row("UPDATE t SET a=a"))
  rs = con:query("SELECT a FROM t WHERE a=99")
  print("empty", rs.nrows, rs.nfields, rs:fetch_row())
  local st = con:prepare("SELECT a, b FROM t WHERE a=? OR b=? ORDER BY a")
  local p1, p2 = st:bind_create(sysbench.sql.type.INT), st:bind_create(sysbench.sql.type.CHAR, 20)
  print(st, st.connection == con, p1, p1.type, p1.max_len, p2.type, p2.max_len, p1.is_null)
  print("bind", st:bind_param(), st:bind_param(p1, p2))
  p1:set(1) p2:set("two")
  rs = st:execute() print("execute", rs, rs.nrows, rs.nfields)
  p1:set(nil) p2:set_rand_str("t##")
  print("execute", st:execute().nrows, p1.is_null)
  p1:set(1) print("fetch", unpack(st:execute():fetch_row()))
  print("close", st:close())
  try("close twice", st.close, st)
  try("execute closed", st.execute, st)
  try("no such field", function () return con.nosuchfield end)
""", f"--db-ps-mode={mode}")
    expect(r, """\
<sql_driver>	sqlite	<sql_connection>	0	0	true
create	nil
insert	nil
<sql_result>	3	3
3	nil	2.25	string
1	one	1.5	string
nil	two	nil	nil
columns	true	nil	nil	nil	nil	nil	nil
columns	true	1.5	1	nil	nil	nil	nil
columns	true	nil	two	nil	nil	two	nil
columns	false
no such column	false | t.lua:22: fetch: expected the numbers of columns, from 1 to 3, got 4
no such column	false | t.lua:23: fetch: expected the numbers of columns, from 1 to 3, got b
free	true | true | db_free_results() failed
ALERT: attempt to free an invalid result set
free twice	false | db_free_results() failed
ALERT: attempt to fetch row from an invalid result set
fetch freed	true
row	1	one
no row	nil
no result	nil
empty	0	1	nil
<sql_statement>	true	<sql_param>	4	8	12	20	false
bind	nil	0
execute	<sql_result>	2	2
execute	0	true
fetch	1	one
close	0
ALERT: attempt to use an already closed statement
close twice	false | SQL API error
execute closed	false | t.lua:3: SQL API error
no such field	false | t.lua:44: 'struct 127' has no member named 'nosuchfield'
""".replace("struct 127", re.search(r"struct \d+", r.out).group()))
    assert r.status == 0
    assert re.search(r"read: +9\n.*write: +2\n.*other: +1\n", r.out)


@pytest.mark.sanitized
@pytest.mark.parametrize("mode", ["auto", "disable"])
def test_values_of_parameters(folder, mode):
    r = run(folder, """
  local T = sysbench.sql.type
  con:query("CREATE TABLE v(a INTEGER, b DOUBLE, c CHAR)")
  local st = con:prepare("INSERT INTO v VALUES (?, ?, ?)")
  local a, b, c = st:bind_create(T.SMALLINT), st:bind_create(T.FLOAT), st:bind_create(T.VARCHAR, 8)
  st:bind_param(a, b, c)
  local function add(x, y, z) a:set(x) b:set(y) c:set(z) st:execute() end
  add(7.9, 0.125, "it's")
  add(-7.9, 1/3, TEXT)
  add(9223372036854775807LL, 2, "as long.")
  add(2^53, -1e300, "")
  add(nil, nil, nil)
  add(1, 1.5, "back")
  local rs = con:query("SELECT a, b, c, length(CAST(c AS BLOB)), typeof(a), typeof(b), typeof(c) FROM v")
  for i = 1, rs.nrows do
    local row = rs:fetch_row()
    for j = 1, 7 do row[j] = row[j] and row[j]:gsub("%z", "NUL") or "nil" end
    print(table.concat(row, " "))
  end
  try("string for int", a.set, a, "12") try("number for text", c.set, c, 12)
  try("random int", a.set_rand_str, a, "##")
  try("date", st.bind_create, st, T.DATE) try("no length", st.bind_create, st, T.CHAR)
  c:set("kept") pcall(c.set, c, 12) st:execute()
  print(con:query_row("SELECT c FROM v ORDER BY rowid DESC LIMIT 1"))
  try("too long", c.set, c, "as long as") try("random, too long", c.set_rand_str, c, "@@@-###-@@")
  print(con:query_row("SELECT c FROM v ORDER BY rowid DESC LIMIT 1"))
  c:set(nil) c:set_rand_str("@@@-###-") st:execute()
  print((con:query_row("SELECT c FROM v ORDER BY rowid DESC LIMIT 1"):gsub("%a", "a"):gsub("%d", "0")))
""".replace("TEXT", '"a\\0b?"' if mode == "auto" else '"aNULb?"'), f"--db-ps-mode={mode}")
    assert r.printed == """\
7 0.125 it's 4 integer real text
-7 0.333333333333333 aNULb? LEN integer real text
9223372036854775807 2.0 as long. 8 integer real text
9007199254740992 -1.0e+300  0 integer real text
nil nil nil nil null null null
1 1.5 back 4 integer real text
string for int	false | cannot convert 'string' to 'int64_t'
number for text	false | attempt to get length of local 'value' (a number value)
random int	false | Unsupported argument type: 4
date	false | Unsupported argument type: 8
no length	false | bind_create: CHAR and VARCHAR need max_len, the greatest length in bytes
kept
too long	false | set: the value has 10 bytes, but max_len of the parameter is 8
random, too long	false | set_rand_str: the value has 10 bytes, but max_len of the parameter is 8
kept
aaa-000-
""".replace("LEN", "4" if mode == "auto" else "6").splitlines()


@pytest.mark.parametrize("dialect", ["1.0", "1.1"])
def test_dialects_cut_long_values(folder, dialect):
    r = run(folder, """
  con:query("CREATE TABLE v(c CHAR)")
  local st = con:prepare("INSERT INTO v VALUES (?)")
  local c = st:bind_create(sysbench.sql.type.CHAR, 8)
  st:bind_param(c)
  c:set("as long as") st:execute()
  c:set_rand_str("----------") st:execute()
  local rs = con:query("SELECT c FROM v")
  print(rs:fetch_row()[1], rs:fetch_row()[1])
""", f"--compat={dialect}")
    assert "as long \t--------" in r.out


@pytest.mark.sanitized
def test_many_parameters_outlive_collection(folder):
    r = run(folder, """
  local marks, params = {}, {}
  for i = 1, 100 do marks[i] = "?" end
  local st = con:prepare("SELECT " .. table.concat(marks, "+"))
  for i = 1, 100 do params[i] = st:bind_create(sysbench.sql.type.BIGINT) params[i]:set(i) end
  print(st:bind_param(unpack(params)))
  params = nil
  collectgarbage() collectgarbage()
  print(st:execute():fetch_row()[1])
  for _ = 1, 20000 do local s = ("x"):rep(100) .. _ end
  print(st:execute():fetch_row()[1])
  local orphan = sysbench.sql.driver():connect():prepare("SELECT 'still open'")
  collectgarbage() collectgarbage()
  print(orphan:execute():fetch_row()[1])
""")
    assert r.printed == ["0", "5050", "5050", "still open"]


@pytest.mark.sanitized
def test_several_results(folder):
    r = run(folder, """
  con:query("CREATE TABLE m(a)")
  print(con:query("INSERT INTO m VALUES (1); SELECT a FROM m; UPDATE m SET a = 2; SELECT a FROM m; -- end"))
  while con:more_results() do
    local rs = con:next_result()
    print(rs and rs:fetch_row()[1])
  end
  print("end", con:next_result())
  print(con:query("SELECT 1; SELECT nope; SELECT 3"):fetch_row()[1], con:more_results())
  try("failing", con.next_result, con)
  print(con:more_results())
  print(con:query("BEGIN; INSERT INTO m VALUES (7); COMMIT"), con:query_row("SELECT count(*) FROM m"))
  local a, b = con:query("SELECT 'a'"), con:query("SELECT 'b'")
  print(a:fetch_row()[1], b:fetch_row())
""")
    expect(r, """\
nil
1
nil
2
end	nil
1	true
FATAL: sqlite3_prepare_v3() returned error 1 (no such column: nope)
failing	false | SQL error, errno = 1, state = 'HY000': no such column: nope
false
nil	2
b	nil
""")


@pytest.mark.sanitized
def test_bulk_insert(folder):
    r = run(folder, """
  con:query("CREATE TABLE b(a INTEGER PRIMARY KEY, c TEXT)")
  print(con:bulk_insert_init("INSERT INTO b VALUES"))
  for i = 1, 9000 do con:bulk_insert_next(("(%d,'%s')"):format(i, ("x"):rep(100))) end
  print(con:bulk_insert_done())
  print(con:query_row("SELECT count(*), sum(a), min(length(c)) FROM b"))
  try("next", con.bulk_insert_next, con, "(1)")
  con:bulk_insert_init("INSERT INTO b(a) VALUES")
  con:bulk_insert_next("(1)")
  try("twice", con.bulk_insert_done, con)
  con:bulk_insert_init("INSERT INTO b(a) VALUES")
  try("too long", con.bulk_insert_next, con, ("x"):rep(524288))
""", "--sql-trace=trace")
    expect(r, """\
true	db_bulk_insert_init() failed
true	db_bulk_insert_done() failed
9000	40504500	100
ALERT: attempt to call bulk_insert_next() before bulk_insert_init()
next	false | db_bulk_insert_next() failed
FATAL: sqlite3_step() returned error 1555 (UNIQUE constraint failed: b.a) for query \
'INSERT INTO b(a) VALUES(1)'
twice	false | db_bulk_insert_done() failed
FATAL: Query length exceeds the maximum value (524288), aborting
too long	false | db_bulk_insert_next() failed
""")
    inserts = [t for t in (folder.path / "trace").read_text().splitlines() if "INSERT INTO b VALUES" in t]
    assert [t.startswith("[s0] INSERT INTO b VALUES(1,'x") for t in inserts] == [True, False]
    assert all(len(t) - len("[s0] ") < 524288 for t in inserts) and len(inserts[0]) > 524000


@pytest.mark.sanitized
def test_errors_have_the_place_of_the_caller(folder):
    r = run(folder, """
  try("direct", con.query, con, "SELEC")
  try("caller", function ()
    con:query("SELE")
  end)
  try("row", con.query_row, con, "SEL")
  try("no text", con.query, con)
  try("prepare", function ()
    local st = con:prepare("SELECT * FROM missing")
  end)
  try("count", function ()
    local st = con:prepare("SELECT ?")
    return st:bind_param(st:bind_create(4), st:bind_create(4))
  end)
  print(con.error, con.sql_errno)
  try("driver", function ()
    sysbench.sql.driver("nope")
  end)
  try("option", function ()
    drv:connect_with{colour = "red"}
  end)
  try("place", function ()
    drv:connect_with{db = "/nowhere/x"}
  end)
  print(con:disconnect()) print(con:disconnect())
  try("closed", con.query, con, "SELECT 1")
  try("closed", con.prepare, con, "SELECT 1")
  print(con:reconnect(), con:query_row("SELECT 8"))
""")
    expect(r, """\
FATAL: sqlite3_prepare_v3() returned error 1 (near "SELEC": syntax error) for query 'SELEC'
direct	false | SQL error, errno = 1, state = 'HY000': near "SELEC": syntax error
FATAL: sqlite3_prepare_v3() returned error 1 (near "SELE": syntax error) for query 'SELE'
caller	false | t.lua:13: SQL error, errno = 1, state = 'HY000': near "SELE": syntax error
FATAL: sqlite3_prepare_v3() returned error 1 (near "SEL": syntax error) for query 'SEL'
row	false | [string "sysbench.sql.lua"]:1: SQL error, errno = 1, state = 'HY000': near "SEL": \
syntax error
no text	false | [string "sysbench.sql.lua"]:1: attempt to get length of local 'query' (a nil value)
FATAL: sqlite3_prepare_v3() failed
FATAL: SQLite error: 1 "no such table: missing" for query 'SELECT * FROM missing'
prepare	false | t.lua:18: SQL API error
FATAL: sqlite3_bind() failed
FATAL: SQLite error: 25 "wrong number of parameters: 2 given, 1 in the statement" for query 'SELECT ?'
count	true | 1
2	25
FATAL: invalid database driver name: 'nope'; there are: mysql, pgsql, sqlite, null
driver	false | t.lua:26: failed to initialize the DB driver
FATAL: the database driver 'sqlite' has no option 'colour'
option	false | t.lua:29: connection creation failed
FATAL: unable to open SQLite database '/nowhere/x', aborting...
FATAL: error 14: unable to open database file: No such file or directory
place	false | t.lua:32: connection creation failed
true
ALERT: attempt to close an already closed connection
true
ALERT: attempt to use an already closed connection
closed	false | t.lua:3: SQL API error
closed	false | SQL API error
true	8
""")


def test_connect_ignores_arguments(folder):
    """Scripts for sysbench pass what they like: hosts, tables of settings, options."""
    text = """
function prepare()
  local drv = sysbench.sql.driver()
  for _, arguments in ipairs({{{db = "/nowhere/x"}}, {{colour = "red"}}, {5, 6}, {"host"}, {true}}) do
    print(drv:connect(unpack(arguments)):query_row("SELECT 7"))
  end
  local ok, why = pcall(drv.connect_with, drv)
  print(ok, (why:gsub("^.-: ", "")))
end
"""
    for version in ("", "1.0", "1.1", "0.5"):
        r = folder.lua(text, "--db-driver=sqlite", "--sqlite-db=:memory:", "prepare",
                       BENCH_COMPAT=version)
        want = ["7"] * 5 + ["false\texpected a table of options, got nil"]
        assert r.lines[-6:] == want, r.out + r.err


HOOK = """
function sysbench.hooks.sql_error_ignorable(e)
  print("hook", e.connection, e.query, e.sql_errno, e.sql_state, e.sql_errmsg, e.errcode)
  return os.getenv("IGNORE") == "1" and n < 3
end
function sysbench.hooks.before_restart_event(e) print("restart", e.sql_errno, e.errcode) end
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  n = (n or 0) + 1
  if n < 4 then con:query("SELECT * FROM missing") end
end
"""


COUNTS_FROM = {"": 0, "1.1": 1, "1.0": 1, "0.5": 0}


@pytest.mark.parametrize("version", COUNTS_FROM)
def test_statements_before_the_start_count_in_1_x(folder, version):
    """sysbench 1.0 never sets its counters to 0 when the run begins."""
    r = folder.run("""
function init()
  sysbench.sql.driver():connect():query("CREATE TABLE t(a INTEGER PRIMARY KEY)")
end
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("INSERT INTO t VALUES (1)")
  con:query("SELECT a FROM t")
end
function done() sysbench.sql.driver():connect():query("SELECT a FROM t") end
function event() con:query("SELECT a FROM t") end
function sysbench.hooks.report_cumulative(stat)
  print(string.format("stat %d %d %d %d", stat.events, stat.reads, stat.writes, stat.other))
end
""", "--db-driver=sqlite", "--sqlite-db=t.db", "--events=5", "--time=0", "--db-ps-mode=disable",
                   BENCH_COMPAT=version)
    before = COUNTS_FROM[version]
    assert r.status == 0, r.err
    assert f"stat 5 {5 + before} {before} {before}" in r.lines, r.out


@pytest.mark.parametrize("version, before", gate.first([("1.0", 10), ("", 0)]))
def test_the_first_interval_has_what_thread_init_counted(folder, version, before):
    """Each event reads once, so reads beyond events are those of thread_init."""
    r = folder.run("""
function thread_init()
  con = sysbench.sql.driver():connect()
  for i = 1, 5 do
    con:query("SELECT 1")
    con:query_row_uncounted("SELECT 2")
  end
end
function event() con:query("SELECT 1") end
function sysbench.hooks.report_intermediate(stat)
  print("more", stat.reads - stat.events > 5 and "many" or "few")
end
function sysbench.hooks.report_cumulative(stat) print("reads", stat.reads - stat.events) end
""", "--db-driver=sqlite", "--sqlite-db=:memory:", "--threads=2", "--rate=10", "--time=3", "--report-interval=1",
                   BENCH_COMPAT=version)
    # An event of each thread may have read and not ended yet.
    more = [line for line in r.lines if line.startswith("more\t")]
    assert r.status in good(["--rate=10"]) and f"reads\t{before}" in r.lines, r.out + r.err
    assert len(more) >= 1 and more[0] == ("more\tmany" if before else "more\tfew"), r.out
    assert more[1:] == ["more\tfew"] * (len(more) - 1), r.out


def test_a_warmup_ends_what_thread_init_counted(folder):
    r = folder.run("""
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t(a INTEGER PRIMARY KEY)")
end
function event() con:query("SELECT count(*) FROM t") end
""", "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=5", "--time=0", "--warmup-time=1",
                   BENCH_COMPAT="1.1")
    assert r.status == 0 and re.search(r"other:\s+0$", r.out, re.M), r.out


def test_hook_decides_before_anything_is_said(folder):
    failed = "FATAL: sqlite3_prepare_v3() returned error 1 (no such table: missing) for query " \
             "'SELECT * FROM missing'"
    hook = "hook\t<sql_connection>\tSELECT * FROM missing\t1\tHY000\tno such table: missing\tnil"
    r = folder.run(HOOK, "--db-driver=sqlite", "--events=1", IGNORE="1")
    assert [s for s in r.lines if s.startswith(("hook", "restart"))] == [
        hook, "restart\t1\t1", hook, "restart\t1\t1", hook]
    assert [s for s in r.said if s.startswith("FATAL")] == [
        failed,
        "FATAL: `thread_run' function failed: t.lua:10: SQL error, errno = 1, state = 'HY000': no "
        "such table: missing"]
    assert r.status == 1 and re.search(r"ignored errors: +3 ", r.out)
    r = folder.run(HOOK, "--db-driver=sqlite", "--events=1")
    assert r.out.count("hook\t") == 1 and r.status == 1
    r = folder.run(HOOK, "--db-driver=sqlite", "--events=1", "--db-ignore-errors=1")
    assert "FATAL" not in r.err and "hook" not in r.out and r.status == 0
    assert re.search(r"ignored errors: +3 ", r.out) and r.events == 1


def test_in_a_dialect_the_failure_is_told_of_first(folder):
    failed = "FATAL: sqlite3_prepare_v3() returned error 1 (no such table: missing) for query " \
             "'SELECT * FROM missing'"
    hook = "hook\t<sql_connection>\tSELECT * FROM missing\t1\tHY000\tno such table: missing\tnil"
    raised = "FATAL: `thread_run' function failed: t.lua:10: SQL error, errno = 1, state = 'HY000': no " \
             "such table: missing"
    args = ("--db-driver=sqlite", "--events=1")
    for version in ("1.0", "1.1"):
        r = folder.run(HOOK, *args, BENCH_COMPAT=version)
        assert [s for s in r.lines if s.startswith(("hook", "restart", "FATAL"))] == [failed, hook, raised]
        # The same message is folded, wherever the hook prints in between.
        r = folder.run(HOOK, *args, BENCH_COMPAT=version, IGNORE="1")
        assert [s for s in r.lines if s.startswith(("hook", "restart", "FATAL", "(last"))] == [
            failed, hook, "restart\t1\t1", hook, "restart\t1\t1", hook,
            "(last message repeated 2 times)", raised]
        assert re.search(r"ignored errors: +3 ", r.out)


def test_wrong_numbers_of_parameters_in_1_0(folder):
    """They bind nothing: a statement is done as it was bound before, or has no marks."""
    text = """
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t(a INTEGER)")
  local p = {}
  local none, one = con:prepare("INSERT INTO t VALUES (5)"), con:prepare("INSERT INTO t VALUES (?)")
  for i = 1, 3 do p[i] = one:bind_create(sysbench.sql.type.INT) p[i]:set(10 + i) end
  print("none", none:bind_param(p[1], p[2]), pcall(none.execute, none))
  print("one", one:bind_param(p[1]), pcall(one.execute, one))
  print("two", one:bind_param(p[2], p[3]), pcall(one.execute, one))
  p = nil collectgarbage() collectgarbage()
  print("again", pcall(one.execute, one))
  print("rows", con:query_row("SELECT group_concat(a) FROM t"))
end
"""
    args = ("--db-driver=sqlite", "--sqlite-db=:memory:", "prepare")
    r = folder.lua(text, *args, BENCH_COMPAT="1.0")
    assert [s for s in r.lines if s.startswith(("none", "one", "two", "again", "rows"))] == [
        "none\t1\ttrue\t<sql_result>", "one\t0\ttrue\t<sql_result>",
        "two\t1\ttrue\t<sql_result>", "again\ttrue\t<sql_result>", "rows\t5,11,11,11"]
    assert r.out.count("FATAL: sqlite3_bind() failed") == 2 and r.status == 0
    # Of an emulated statement those too many are ignored.
    r = folder.lua(text, "--db-ps-mode=disable", *args, BENCH_COMPAT="1.0")
    assert "rows\t5,11,12,12" in r.lines and "FATAL" not in r.out and "ALERT" not in r.out
    r = folder.lua(text, *args)
    assert r.err.count("FATAL: sqlite3_bind() failed") > 1 and "rows\t11" in r.lines


def test_permanent_error_that_is_ignored_ends_with_the_time(folder):
    r = folder.run("""
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT * FROM missing") end
""", "--db-driver=sqlite", "--time=0.3", "--threads=2", "--db-ignore-errors=all")
    assert r.status == 5 and r.events == 0 and r.err.startswith("no event succeeded: ")
    assert int(re.search(r"ignored errors: +(\d+)", r.out).group(1)) > 10


@pytest.mark.sanitized
def test_names_behind_ffi(folder):
    r = run(folder, """
  local C = ffi.C
  local d = C.db_create("sqlite")
  local c = C.db_connection_create(d)
  local function q(text) return C.db_query(c, text, #text) end
  print(q("CREATE TABLE f(a INTEGER, b TEXT)") == nil, c.error == C.DB_ERROR_NONE)
  local insert = "INSERT INTO f VALUES (?, ?)"
  local st = C.db_prepare(c, insert, #insert)
  local binds, a, b = ffi.new("sql_bind[2]"), ffi.new("int64_t[1]", 42), ffi.new("char[10]", "text")
  local len, null = ffi.new("unsigned long[1]", 4), ffi.new("char[1]", 0)
  binds[0].type, binds[0].buffer, binds[0].is_null = C.SQL_TYPE_INT, a, null
  binds[1].type, binds[1].buffer, binds[1].is_null = C.SQL_TYPE_CHAR, b, null
  binds[1].data_len = len
  print(C.db_bind_param(st, binds, 2), C.db_execute(st) == nil, C.db_close(st))
  local rs = q("SELECT a, b FROM f")
  local row = C.db_fetch_row(rs)
  print(rs.nrows, ffi.string(row.values[0].ptr, row.values[0].len), ffi.string(row.values[1].ptr))
  print(C.db_fetch_row(rs) == nil, C.db_free_results(rs), C.db_more_results(c))
  print(q("SELEC") == nil, c.error == C.DB_ERROR_FATAL, ffi.string(c.sql_errmsg))
  print(C.db_connection_close(c)) C.db_connection_free(c)
""")
    expect(r, """\
true	true
0	true	0
1	42	text
true	0	false
FATAL: sqlite3_prepare_v3() returned error 1 (near "SELEC": syntax error) for query 'SELEC'
true	true	near "SELEC": syntax error
0
""")


@pytest.mark.parametrize("version, freed, invalid", [("1.1", "true", "false"), ("1.0", "0", "1")])
def test_what_the_function_that_frees_results_returns(folder, version, freed, invalid):
    """0 is success in 1.0, true in 1.1, where scripts assert it."""
    r = folder.lua("""
local C = require("ffi").C
function prepare()
  local con = sysbench.sql.driver():connect()
  local rs = con:query("SELECT 1")
  print("first", C.db_free_results(rs))
  print("again", C.db_free_results(rs))
  print("nil", C.db_free_results(nil))
  local again = con:prepare("SELECT 1"):execute()
  print("prepared", C.db_free_results(again), C.db_free_results(again))
  print("method", pcall(rs.free, rs))
  if sysbench.version ~= "1.0.20" then
    print("assert", pcall(assert, C.db_free_results(rs), "db_free_results() failed"))
  end
end
""", "--db-driver=sqlite", "--sqlite-db=:memory:", "prepare", BENCH_COMPAT=version)
    said = [line for line in r.lines if "\t" in line]
    assert said == [f"first\t{freed}", f"again\t{invalid}", f"nil\t{invalid}", f"prepared\t{freed}\t{invalid}",
                    "method\tfalse\tdb_free_results() failed",
                    *(["assert\tfalse\tdb_free_results() failed"] if version == "1.1" else [])]
    assert r.out.count("ALERT: attempt to free an invalid result set") + r.out.count("(last message repeated") >= 2


@pytest.mark.parametrize("version", ["", "1.1", "1.0"])
def test_the_texts_of_a_failure_are_strings(folder, version):
    """sysbench's are pointers; scripts that make strings of them go on."""
    r = folder.lua("""
function prepare()
  local con = sysbench.sql.driver():connect()
  print("before", con.sql_state == "", con.sql_errmsg == "", con.sql_errno)
  pcall(con.query, con, "SELECT lost")
  print("after", con.sql_errmsg .. ".", ffi.string(con.sql_errmsg), con.sql_state, con.sql_errno)
  print("absent", pcall(function () return con.sqlstate end))
end
""", "--db-driver=sqlite", "--sqlite-db=:memory:", "prepare", BENCH_COMPAT=version)
    text, absent = "no such column: lost", "absent\tfalse\tt.lua:7: 'struct N' has no member named 'sqlstate'"
    said = [line for line in r.lines if line.startswith(("before", "after", "absent"))]
    said[-1:] = [re.sub(r"struct \d+", "struct N", said[-1])]
    assert said == ["before\ttrue\ttrue\t0", f"after\t{text}.\t{text}\tHY000\t1", absent], r.out + r.err


def test_scripts_take_turns_in_their_states(folder):
    """Sessions, the main state and report hooks have connections of their own."""
    r = folder.run("""
local function ask(text) return (con or connect()):query_row(text) end
function connect() con = sysbench.sql.driver():connect() return con end
function init() connect():query("CREATE TABLE IF NOT EXISTS e(n)") end
function event() ask("SELECT count(*) FROM e") end
function sysbench.hooks.report_intermediate() print("rows", ask("SELECT count(*) FROM e")) end
function done() print("done", ask("SELECT count(*) FROM e")) end
""", "--db-driver=sqlite", "--threads=4", "--time=1", "--report-interval=0.1")
    assert r.status == 0 and "FATAL" not in r.err
    assert "rows\t0" in r.lines and "done\t0" in r.lines


def test_choice_of_the_driver(folder):
    def first(*args):
        r = run(folder, "", *args[1:], driver=args[0])
        assert r.status == 1
        return r.out + r.err

    assert "FATAL: Multiple DB drivers are available. Use --db-driver=name" in first("")
    for args, said in ((["oracle"], r"--db-driver=oracle: unknown; allowed: .*\bsqlite\b.*"),
                       (["null", "--db-ps-mode=maybe"],
                        "--db-ps-mode=maybe: unknown; allowed: auto, disable, simple, extended"),
                       (["null", "--db-ignore-errors=colour"],
                        "--db-ignore-errors=colour: unknown; allowed: error numbers, SQLSTATEs, classes of errors, "
                        "all")):
        assert re.search(f"^{said}$", first(*args), re.M)
    assert "FATAL: --sql-trace=/nowhere/x: No such file" in first(
        "null", "--sql-trace=/nowhere/x")


def test_null_driver_answers_by_the_first_word(folder):
    r = run(folder, """
  print(con:query("(SELECT a, b FROM x)").nrows, con:query_row("show tables"))
  print(con:query("INSERT INTO x"), con:query("CREATE TABLE x"), con:query("commit"))
  local st = con:prepare("UPDATE x SET a=?")
  print(st:bind_param(st:bind_create(4)), st:execute())
""", "--null-rows=3", driver="null")
    assert r.printed == ["3\t1", "nil\tnil\tnil", "0\tnil"]
    assert re.search(r"read: +2\n.*write: +2\n.*other: +2\n", r.out)


def test_version_05_counts_by_text(folder):
    r = folder.run("""
function event()
  con = con or sysbench.sql.driver():connect()
  for _, text in ipairs{"begin", " SELECT 1", "update x", "insert x", "delete x", "show x", "COMMIT"} do
    con:query(text)
  end
end
""", "--db-driver=null", "--max-requests=3", BENCH_COMPAT="0.5")
    assert re.search(r"read: +3\n.*write: +9\n.*other: +9\n.*total: +21\n.*transactions: +3 ", r.out)


def test_prepare_and_cleanup_with_connections_left_open(folder):
    r = folder.lua("""
sysbench.cmdline.commands = {prepare = {function ()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE p" .. sysbench.tid .. "(a)")
  st = con:prepare("INSERT INTO p" .. sysbench.tid .. " VALUES (1)")
  st:execute()
end, sysbench.cmdline.PARALLEL_COMMAND}}
""", "--db-driver=sqlite", "--threads=4", "prepare")
    assert r.status == 0 and r.err == ""
    assert command(["oltp_read_write", "--db-driver=sqlite", "cleanup"], folder.path).status == 0


@pytest.mark.sanitized
def test_a_result_outlives_its_connection(folder):
    """Whoever reads the rows need not hold the connection; it goes when the next one is made."""
    r = run(folder, """
  con:query("CREATE TABLE t(a INTEGER)")
  con:query("INSERT INTO t VALUES (1),(2)")
  local rs = drv:connect():query("SELECT a FROM t ORDER BY a")
  collectgarbage() collectgarbage()
  print(rs.nrows, rs:fetch_row()[1])
  collectgarbage()
  print(rs:fetch_row()[1], rs:fetch_row())
  rs = nil
  for i = 1, 3 do
    drv:connect():query("SELECT a FROM t")
    collectgarbage() collectgarbage()
  end
""", "--sqlite-db=t.db")
    assert r.status == 0 and r.printed == ["2\t1", "2\tnil"]


def test_a_result_outlives_its_statement(folder):
    """Whoever reads the rows need not hold the statement; close() ends the result."""
    r = run(folder, """
  con:query("CREATE TABLE t(a INTEGER)")
  con:query("INSERT INTO t VALUES (1),(2)")
  local rs = con:prepare("SELECT a FROM t ORDER BY a"):execute()
  print(rs:fetch_row()[1])
  collectgarbage() collectgarbage()
  print(rs:fetch_row()[1], rs:fetch_row())
  for i = 1, 3 do
    rs = drv:connect():prepare("SELECT a FROM t ORDER BY a"):execute()
    collectgarbage() collectgarbage()
    print(rs:fetch_row()[1])
  end
  local st = con:prepare("SELECT a FROM t ORDER BY a")
  rs = st:execute()
  st:close()
  print(rs:fetch_row())
""", "--sqlite-db=t.db")
    assert r.status == 0 and r.printed[:5] == ["1", "2\tnil", "1", "1", "1"] and r.printed[-1] == "nil", r.printed


@pytest.mark.sanitized
def test_a_hook_may_use_the_connection_that_failed(folder):
    """The failure it is asked about is told and counted all the same."""
    for ignore in ("false", "true"):
        r = folder.run("""
local con, tries = nil, 0
function thread_init() con = sysbench.sql.driver():connect() end
function sysbench.hooks.sql_error_ignorable(failure)
  if failure.query == "SELECT lost" then return false end
  print("asked", failure.sql_errmsg, con:query_row("SELECT 5"))
  pcall(con.query, con, "SELECT lost")
  return %s
end
function event()
  tries = tries + 1
  if tries == 1 then con:query("INSERT INTO missing VALUES (1)") end
end
""" % ignore, "--db-driver=sqlite", "--events=1", "--time=0")
        assert "asked\tno such table: missing\t5" in r.out
        failed = "FATAL: sqlite3_prepare_v3() returned error 1 (no such table: missing) for query 'INSERT"
        assert (failed in r.err) == (ignore == "false"), r.err
        assert r.status == (1 if ignore == "false" else 0)
        assert "ignored errors:                      2 " in r.out


@pytest.mark.parametrize("dialect", [{}, {"BENCH_COMPAT": "1.0"}])
def test_a_hook_that_rolls_back_keeps_the_database(folder, dialect):
    """Its connection stays: a database in memory would be gone with it."""
    r = folder.run("""
local con, tries = nil, 0
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t (a INTEGER)")
end
function sysbench.hooks.sql_error_ignorable()
  con:query("ROLLBACK")
  return true
end
function event()
  tries = tries + 1
  con:query("BEGIN")
  con:query("INSERT INTO t VALUES (1)")
  if tries == 1 then con:query("INSERT INTO missing VALUES (1)") end
  con:query("COMMIT")
end
""", "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=3", "--time=5", **dialect)
    assert r.status == 0, r.err
    assert re.search(r"ignored errors: +1 ", r.out), r.out
    assert re.search(r"reconnects: +0 ", r.out), r.out


@pytest.mark.parametrize("call", ['con.query, con, "SELECT x FROM missing"', 'con.prepare, con, "SELECT ? FROM missing"'])
def test_an_error_that_an_event_catches_ends_the_run(folder, call):
    """In a dialect and outside of events it is the script's affair."""
    text = f"""
function thread_init() con = sysbench.sql.driver():connect() print("at first", (pcall({call}))) end
function event() print("later", (pcall({call}))) end
"""
    for version, events, status in ("", 1, 1), ("1.1", 3, 0):
        r = folder.run(text, "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=3", "--time=0",
                       BENCH_COMPAT=version)
        assert r.lines.count("at first\tfalse") == 1 and r.lines.count("later\tfalse") == events, r.out
        assert (r.status, r.events) == (status, events), r.err


def test_a_restart_outside_of_an_event_is_an_error_like_others(folder):
    r = folder.lua("""
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t(a INTEGER PRIMARY KEY)")
  con:query("INSERT INTO t VALUES (1)")
  con:query("INSERT INTO t VALUES (1)")
end
""", "--db-driver=sqlite", "--db-ignore-errors=duplicate", "prepare")
    assert r.status == 1
    assert "`prepare' function failed: SQL error, errno = 1555, state = '" in r.err
    assert "(not a string)" not in r.err


def test_a_switch_with_more_words_is_a_switch_to_scripts(folder):
    for given, seen in (("off", "boolean\tfalse"), ("on", "boolean\ttrue"), ("verify_ca", "string\tverify_ca")):
        r = folder.run('function event() print(type(sysbench.opt.mysql_ssl), sysbench.opt.mysql_ssl) end',
                       f"--mysql-ssl={given}", "--events=1", "--time=0")
        assert seen in r.out


def test_the_trace_is_not_written_through_links(folder):
    other = folder.file("other", "kept")
    (folder.path / "symbolic").symlink_to(other)
    (folder.path / "hard").hardlink_to(other)
    for kind in "symbolic", "hard":
        r = folder.run("function event() sysbench.sql.driver():connect() end",
                       "--db-driver=null", "--sql-trace=" + kind)
        assert f"--sql-trace={kind}: it is a {kind} link" in r.err + r.out
        assert r.status == 1 and other.read_text() == "kept"


@pytest.mark.sanitized
def test_a_trace_that_cannot_be_written_ends_the_run(folder):
    r = folder.run("""
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
""", "--db-driver=null", "--sql-trace=/dev/full", "--threads=4", "--time=0", "--events=1000000000")
    assert r.status == 1 and "total number of events: " in r.out
    assert r.err == ("cannot write the trace file '/dev/full': No space left on device\n"
                     "the run failed; the report covers what was measured until then\n")


def test_the_trace_is_not_written_through_links_in_dev(folder):
    """Everybody may write to /dev/shm; a trace is added to standard output, whatever that is."""
    other = folder.file("other", "kept")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as shm:
        os.symlink(other, f"{shm}/link")
        r = folder.run("function event() sysbench.sql.driver():connect() end", "--db-driver=null",
                       f"--sql-trace={shm}/link")
    assert f"--sql-trace={shm}/link: it is a symbolic link" in r.err + r.out
    assert r.status == 1 and other.read_text() == "kept"


def test_the_trace_goes_to_devices_and_replaces_files(folder):
    script = "function event() sysbench.sql.driver():connect():query('SELECT 1') end"
    args = ["--db-driver=null", "--events=1", "--time=0"]
    r = folder.run(script, "--sql-trace=/dev/stdout", *args)
    assert "[s0] SELECT 1" in r.lines and r.status == 0
    trace = folder.file("trace", "old\n" * 99)
    assert folder.run(script, "--sql-trace=trace", *args).status == 0
    assert trace.read_text() == "[s0] SELECT 1\n"
    assert folder.run(script, "--sql-trace=/dev/null", *args).status == 0


@pytest.mark.parametrize("form", ["function thread_run() work() end", "event = work"])
def test_statements_without_an_event_have_their_time(folder, form):
    """In thread_run() itself, and in an event that says stop: one statement takes 10 ms."""
    r = folder.run(f"""
ffi.cdef("int usleep(unsigned int);")
function thread_init() con = sysbench.sql.driver():connect() end
function work() for i = 1, 30 do con:query("SELECT 1") ffi.C.usleep(10000) end return true end
{form}
""", "--db-driver=sqlite", "--time=60")
    queries, rate = re.search(r"queries: +(\d+) +\(([\d.]+) per sec", r.out).groups()
    assert r.status == (5 if form == "event = work" else 0) and queries == "30" and 0 < float(rate) < 150, r.out
    assert r.events == 0
