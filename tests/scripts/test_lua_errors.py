# SPDX-License-Identifier: GPL-2.0-or-later
"""An error in any phase of a script: the right words in the right place, the status, the report."""
import re

import pytest

import gate
from lua import BENCH, command

FAIL = """
sysbench.cmdline.options = { where = {"phase", "none"} }
local function at(p) if sysbench.opt.where == p then error("boom in " .. p) end end
function init() at("init") end
function prepare() at("prepare") end
function cleanup() at("cleanup") end
function help() at("help") end
function thread_init() at("thread_init") end
function event() at("event") end
function thread_done() at("thread_done") end
function done() at("done") end
sysbench.cmdline.commands = { cc = {function () at("cc") end},
  par = {function () at("par") end, sysbench.cmdline.PARALLEL_COMMAND} }
"""


def failed(function, where):
    return "FATAL: `%s' function failed: t.lua:3: boom in %s" % (function, where)


def test_threads_that_are_not_ready_in_time(folder):
    r = folder.run("function thread_init() os.execute('exec sleep 1') end function event() end",
                   "--thread-init-timeout=0.1")
    assert "FATAL: Worker threads failed to initialize within 0.1 seconds!" in r.said
    assert r.status == 2


@pytest.mark.parametrize("phase,function,measured", [
    ("init", "init", None), ("thread_init", "thread_init", None), ("event", "thread_run", 0),
    ("thread_done", "thread_done", 7), ("done", "done", 7)])
def test_phases_of_run(folder, phase, function, measured):
    r = folder.run(FAIL, "--where=" + phase, "--events=7")
    assert failed(function, phase) in r.said and r.status == 1
    assert r.reported == (measured is not None)
    assert measured is None or r.events == measured
    assert ("FATAL: Threads initialization failed!" in r.said) == (phase == "thread_init")
    assert "traceback" not in r.out + r.err


@pytest.mark.parametrize("name,function", [
    ("prepare", "prepare"), ("cleanup", "cleanup"), ("help", "help"),
    ("cc", "sysbench.cmdline.call_command"), ("par", "sysbench.cmdline.call_command")])
def test_commands(folder, name, function):
    for threads in "1", "3":
        r = folder.lua(FAIL, "--where=" + name, "--threads=" + threads, name)
        assert failed(function, name) in r.said and r.status == 1


def test_top_level(folder):
    r = folder.lua("error('here')")
    assert (r.lines, r.said, r.status) == ([], ["FATAL: t.lua:1: here"], 1)
    r = folder.run("if sysbench.tid == 1 then error('there') end function event() end",
                   "--threads=2")
    assert r.said == ["FATAL: t.lua:1: there", "FATAL: Threads initialization failed!"]
    assert r.status == 1 and not r.reported


def test_an_error_of_all_threads_is_told_once(folder):
    r = folder.run('function thread_init() error("x") end function event() end', "--threads=4")
    assert r.err == ("FATAL: `thread_init' function failed: t.lua:1: x\n"
                     "(3 more threads)\n"
                     "FATAL: Threads initialization failed!\n")
    r = folder.lua("""
sysbench.cmdline.commands = {par = {function () error("x") end, sysbench.cmdline.PARALLEL_COMMAND}}
""", "--threads=4", "par")
    assert r.err == ("FATAL: `sysbench.cmdline.call_command' function failed: t.lua:2: x\n"
                     "(3 more threads)\n")


# Nobody fails before all have begun: an error ends the run.
TOGETHER = """
ffi.cdef("int access(const char *, int); int usleep(unsigned);")
function event(id)
  io.open("begun." .. id, "w"):close()
  for other = 0, sysbench.opt.threads - 1 do
    while ffi.C.access("begun." .. other, 0) ~= 0 do ffi.C.usleep(1000) end
  end
  error(%s)
end
"""


def test_an_error_of_all_events_is_told_once(folder):
    r = folder.run(TOGETHER % '"x"', "--threads=4")
    assert r.said[:2] == ["FATAL: `thread_run' function failed: t.lua:8: x", "(3 more threads)"]
    assert r.status == 1 and "more thread" not in "".join(r.said[2:])


def test_errors_in_other_words_are_other_errors(folder):
    r = folder.run(TOGETHER % '"x" .. id', "--threads=4")
    assert sorted(r.said[:4]) == [f"FATAL: `thread_run' function failed: t.lua:8: x{i}"
                                  for i in range(4)]
    assert "more thread" not in r.err


def test_errors_with_a_general_sqlstate_differ_by_their_text(folder):
    """SQLite has one number and HY000 for both."""
    r = folder.run("""
function thread_init(id)
  local con = sysbench.sql.driver():connect()
  con:query("SELECT " .. (id == 0 and "x FROM missing" or "nonsense(1)"))
end
function event() end
""", "--db-driver=sqlite", "--sqlite-db=:memory:", "--threads=2")
    assert "error 1 (no such table: missing)" in r.err and "error 1 (no such function: nonsense)" in r.err


def test_an_error_of_the_main_thread_is_counted_at_the_end(folder):
    """done() runs when the errors of the threads have been counted."""
    r = folder.run("""
local function fail()
  local con = sysbench.sql.driver():connect()
  pcall(con.query, con, "SELECT x FROM missing")
end
function thread_init() fail() end
function event() end
function done() fail() end
""", "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=1")
    assert r.err.count("FATAL") == 1 and r.err.endswith("\n(1 more thread)\n"), r.err


def test_a_wrong_option_is_told_once(folder):
    r = command(["oltp_read_write", "--db-driver=oracle", "--threads=16", "prepare"], folder.path)
    assert r.status == 1 and r.err.count("--db-driver=oracle: unknown") == 1, r.err
    r = folder.run("function thread_init() sysbench.sql.driver() end function event() end",
                   "--db-driver=sqlite", "--db-ps-mode=x", "--threads=16")
    assert r.status == 1 and r.err.count("--db-ps-mode=x: unknown") == 1, r.err


def test_events_of_other_threads_are_reported(folder):
    r = folder.run("""
ffi.cdef("int usleep(unsigned);")
function event(id)
  ffi.C.usleep(1000)
  if id == 0 then n = (n or 0) + 1 if n == 20 then error("enough") end end
end
""", "--threads=2", "--time=600")
    assert "FATAL: `thread_run' function failed: t.lua:5: enough" in r.said
    assert r.status == 1 and r.reported and 19 <= r.events
    assert "the run failed" in r.err


def test_thread_done_is_called_where_the_run_went_well(folder):
    r = folder.run("""
function event(id) if id == 0 then error("x") end end
function thread_done(id) print("done", id) end
""", "--threads=2")
    assert "done\t1" in r.lines and "done\t0" not in r.lines


@pytest.mark.parametrize("value,printed,described", [
    gate.sanitized("{m = 'a\\nFATAL: b'}", "(not a string)",
                   'the error value is a table: {m = "a\\x0aFATAL: b"}'),
    gate.sanitized("{k = ('x'):rep(5000)}", "(not a string)",
                   'the error value is a table: {k = "' + "x" * 255 + '"}'),
    gate.sanitized("{1, code = 'x'}", "(not a string)", 'the error value is a table: {1 = 1, code = "x"}'),
    ("nil", "(not a string)", "the error value is nil"),
    ("true", "(not a string)", "the error value is a boolean: true"),
    ("42", "t.lua:1: 42", ""),
    ("setmetatable({}, {__tostring = function () error('no') end})", "(not a string)",
     "the error value is a table: {}")])
def test_error_values(folder, value, printed, described):
    r = folder.run("function event() error(%s) end" % value)
    assert "FATAL: `thread_run' function failed: " + printed in r.said and r.status == 1
    assert described in r.err


@pytest.mark.sanitized
def test_long_message_is_complete(folder):
    r = folder.lua("error(('x'):rep(20000))")
    assert r.said == ["FATAL: t.lua:1: " + "x" * 20000]


@pytest.mark.parametrize("text", [
    "function event() local function deeper() error('deep') end deeper() end",
    "function thread_init() local function deeper() error('deep') end deeper() end "
    "function event() end"])
def test_tracebacks_with_debug(folder, text):
    r = folder.run(text, "--verbosity=5", "--events=1")
    assert r.err.count("stack traceback:") == 1 and "in function 'deeper'" in r.err
    assert "traceback" not in r.out


EXIT = """
local n = 0
function event(id) n = n + 1 if n == 100 and id == 0 then os.exit(%s) end end
function thread_done(id) print("left", id) end
function done() print("done") end
"""
LEFT = "the script ended the run by os.exit(%d); the report covers what was measured until then"


@pytest.mark.parametrize("argument,status", [("7", 7), ("", 0), ("true", 0), ("false", 1), ("256", 0)])
def test_exit_in_an_event_ends_the_run_in_order(folder, argument, status):
    r = folder.run(EXIT % argument, "--threads=2", "--time=60")
    assert r.status == status and r.reported and r.events >= 99
    assert LEFT % status in r.err.splitlines()
    assert sorted(line for line in r.lines if "left" in line) == ["left\t0", "left\t1"]
    assert r.lines[-1] == "done"
    assert "FATAL" not in r.err and "traceback" not in r.err


def test_exit_shows_no_traceback(folder):
    r = folder.run(EXIT % 7, "--verbosity=5")
    assert r.status == 7 and r.events == 99 and "traceback" not in r.err


def test_exit_that_is_caught(folder):
    """The event goes on to its end; one that never ends is left behind."""
    r = folder.run("function event() pcall(os.exit, 5) end", "--time=60")
    assert r.status == 5 and r.events == 1
    r = folder.run("function event() while true do pcall(os.exit, 5) end end", "--time=60",
                   "--threads=2")
    assert r.status == 5 and r.events == 0 and r.reported


@pytest.mark.sanitized
def test_exit_in_other_functions(folder):
    event = "function event() end "
    for function in "done", "thread_done":
        r = folder.run(event + "function %s() os.exit(4) end" % function, "--events=3")
        assert r.status == 4 and r.events == 3
    hook = "function sysbench.hooks.report_intermediate() os.exit(6) end "
    slow = "ffi.cdef('int usleep(unsigned);') function event() ffi.C.usleep(1000) end "
    r = folder.run(hook + slow, "--report-interval=0.1", "--time=60")
    assert r.status == 6 and r.reported
    # Nothing is measured yet.
    r = folder.run(event + "function thread_init() os.exit(3) end", "--events=3")
    assert r.status == 3 and not r.reported and r.err == ""
    for function in "init", "prepare", "cleanup":
        r = folder.lua("function %s() os.exit(3) end %s" % (function, event),
                       "run" if function == "init" else function)
        assert r.status == 3 and not r.reported and r.err == ""
    # A failure is not hidden by a script that is content.
    r = folder.run("function event() error('no') end function done() os.exit(0) end")
    assert r.status == 1 and r.reported


def test_hooks(folder):
    slow = "ffi.cdef('int usleep(unsigned);') function event() ffi.C.usleep(10000) end "
    r = folder.run(slow + "function sysbench.hooks.report_intermediate() error('in hook') end",
                   "--time=1", "--report-interval=0.1")
    text = "FATAL: `report_intermediate' function failed: t.lua:1: in hook"
    assert r.said.count(text) == 1 and r.status == 1 and r.reported and r.events > 0
    r = folder.run(slow + "function sysbench.hooks.report_cumulative() error('in hook') end",
                   "--time=0.3")
    assert "FATAL: `report_cumulative' function failed: t.lua:1: in hook" in r.said
    assert r.status == 1 and r.reported and r.events > 0


def test_reporting_instance_that_cannot_start(folder):
    r = folder.run("""
if sysbench.tid == 1 then error("only there") end
function event() return true end
function sysbench.hooks.report_intermediate() end
""", "--time=0.3", "--report-interval=0.1")
    assert "FATAL: t.lua:2: only there" in r.said and r.status == 1 and r.reported


FORM = "option 'a' must be a table {DESCRIPTION, DEFAULT, TYPE}"


@pytest.mark.parametrize("options,words,own", [
    ("5", "wrong type for sysbench.cmdline.options: number",
     "sysbench.cmdline.options must be a table, not a number"),
    ("{a = 5}", "wrong table structure in sysbench.cmdline.options", FORM),
    ("{a = 'Number of'}", "wrong table structure in sysbench.cmdline.options", FORM),
    ("{{'x'}}", "wrong table structure in sysbench.cmdline.options",
     "an option in sysbench.cmdline.options has no name"),
    ("{a = {}}", "nil description for option a", FORM),
    ("{a = {'x', function () end}}", "cannot determine type for option a",
     "option 'a': the default must be a string, a number, a boolean or a table of them"),
    gate.sanitized("{a = {'x', {{}}}}", "wrong type for list option a",
     "option 'a': the items of the default must be strings or numbers"),
    ("{a = {'x', {'b'}, sysbench.cmdline.ARG_INT}}", "wrong type for list option a",
     "option 'a': with a table as default, the type must be sysbench.cmdline.ARG_LIST"),
    ("{a = {'x', 1, 77}}", "cannot determine type for option a",
     "option 'a': the type must be one of sysbench.cmdline.ARG_BOOL, ARG_INT, ARG_SIZE, "
     "ARG_DOUBLE, ARG_STRING, ARG_LIST and ARG_FILE")])
def test_malformed_options(folder, options, words, own):
    """In a dialect in the words and the place of sysbench, else by what the script has to have."""
    text = "sysbench.cmdline.options = %s function prepare() end" % options
    r = folder.lua(text, "prepare", BENCH_COMPAT="1.0")
    assert r.status == 1
    assert re.search(r"^FATAL: `sysbench\.cmdline\.read_cmdline_options' function failed: "
                     r'\[string "sysbench\.cmdline\.lua"\]:\d+: ' + re.escape(words) + "$",
                     r.out, re.MULTILINE)
    for command in "prepare", "help":
        r = folder.lua(text, command)
        assert (r.err, r.status) == ("t.lua: %s\n" % own, 1)


def test_an_unknown_trait_of_an_option(folder):
    """sysbench passes over fields with names, and so do its dialects."""
    text = "sysbench.cmdline.options = {a = {'x', 1, keep_data = true}} function prepare() end"
    for command in "prepare", "help":
        r = folder.lua(text, command)
        assert (r.err, r.status) == (
            "t.lua: option 'a': there is no trait 'keep_data'; allowed: output_only, observes, "
            "figures_only, repeat_only, endpoint, place, added, keeps_data\n", 1)
    assert folder.lua(text, "prepare", BENCH_COMPAT="1.0").status == 0
    assert folder.lua(text.replace("keep_data", "keeps_data"), "prepare").status == 0


@pytest.mark.parametrize("row,value", [
    ("'abc', sysbench.cmdline.ARG_DOUBLE", "0"), ("'1.5x', sysbench.cmdline.ARG_DOUBLE", "1.5"),
    ("false, sysbench.cmdline.ARG_DOUBLE", "0"), ("-2.5, sysbench.cmdline.ARG_SIZE", "0"),
    ("'2Q', sysbench.cmdline.ARG_SIZE", "0"), ("'', sysbench.cmdline.ARG_SIZE", "0"),
    ("'abc', sysbench.cmdline.ARG_INT", None), ("2.5, sysbench.cmdline.ARG_INT", None)])
def test_a_default_that_does_not_fit(folder, row, value):
    """In a dialect it is what sysbench makes of it, else an error, except an empty one."""
    text = "sysbench.cmdline.options = {o = {'x', %s}} function prepare() print(sysbench.opt.o) end"
    r = folder.lua(text % row, "prepare", BENCH_COMPAT="1.0")
    if value is None:
        assert r.status == 1 and r.err.startswith("Invalid value for the 'o' option: '")
    else:
        assert r.status == 0 and r.lines == [value]
    assert folder.lua(text % row, "--o=3", "prepare", BENCH_COMPAT="1.1").lines == ["3"]
    if not row.startswith("''"):
        r = folder.lua(text % row, "--o=3", "prepare")
        assert r.status == 1 and "the default of option --o does not fit its type: '" in r.err


@pytest.mark.parametrize("default,value", [("0", "3"), ("'x'", "3"), ("false", None)])
def test_a_switch_that_is_something_else_to_the_script(folder, default, value):
    """--debug=3 is wrong for the switch, and right for the script's own option of that name."""
    r = folder.lua("sysbench.cmdline.options = {debug = {'level', %s}} function prepare() "
                   "print(sysbench.opt.debug) end" % default, "--debug=3", "prepare",
                   BENCH_COMPAT="1.0")
    if value is None:
        assert (r.err, r.status) == ("invalid option: --debug=3\n", 1)
    else:
        assert (r.lines, r.status) == ([value], 0)


def test_endless_recursion_in_lua(folder):
    r = folder.run("function event() local function f() return 1 + f() end f() end")
    assert "stack overflow" in r.err and r.status == 1 and r.reported


def test_exit(folder):
    assert folder.lua("os.exit(7)").status == 7
    assert folder.run("function event() os.exit(9) end").status == 9


# --- which script ---------------------------------------------------------------------------------


def test_resolution(folder):
    folder.file("sub/hello.lua", "#!/usr/bin/env bench\nprint('hello', ...)")
    for name in "sub/hello.lua", "sub/hello", "sub.hello", "./sub/hello":
        r = command([name], folder.path)
        assert (r.out, r.status) == ("hello\n", 0), name
    folder.file("mine/x.lua", "print('found')")
    r = command(["x.lua"], folder.path, LUA_PATH=str(folder.path) + "/mine/?.lua")
    assert r.out == "found\n"
    # A LUA_PATH without ";;" has no default path, where sysbench and bench have their scripts.
    for version in "", "1.0":
        for name in "oltp_read_only", "oltp_read_only.lua":
            r = command([name, "help"], folder.path, LUA_PATH="/x/?.lua", BENCH_COMPAT=version)
            assert r.status == 0 and "--point" in r.out, r.out + r.err
        folder.file("mine.lua", "require('oltp_common')")
        r = command(["./mine.lua", "help"], folder.path, LUA_PATH="/x/?.lua", BENCH_COMPAT=version)
        assert r.status == 0 and "--point" in r.out, r.out + r.err
    for name in "nosuch", "sub", "sub/nosuch.lua", "hello.":
        r = command([name, "run"], folder.path)
        assert r.status == 1 and r.said[0] == (
            "FATAL: Cannot find benchmark '%s': no such built-in test, file or module" % name)


def test_syntax_errors(folder):
    folder.file("bad.lua", "\nx x")
    assert command(["bad.lua"], folder.path).said == ["FATAL: bad.lua:2: '=' expected near 'x'"]
    assert command(["bad"], folder.path).said == [
        "FATAL: error loading module 'bad' from file './bad.lua':",
        "\t./bad.lua:2: '=' expected near 'x'"]


@pytest.mark.parametrize("args", [["-"], []])
def test_standard_input(folder, args):
    text = "print(sysbench.cmdline.script_path, sysbench.cmdline.command) x = y.z"
    r = command(args, folder.path, stdin=text)
    assert r.lines == ["nil\tnil"]
    assert r.said == ["FATAL: stdin:1: attempt to index global 'y' (a nil value)"]
    assert r.status == 1
    r = command(args, folder.path, stdin="print(1)")
    assert (r.out, r.status) == ("1\n", 0)


def test_a_failed_statement_of_standard_input_has_its_place(folder):
    """As one of a file has it; the place of a caller that is bench's own is not shown."""
    text = """local con = sysbench.sql.driver("sqlite"):connect()
con:query("CREATE TABLE named(id INTEGER PRIMARY KEY)")
con:query("INSERT INTO named VALUES (1)")
con:query("INSERT INTO named VALUES (1)")"""
    r = command(["--db-driver=sqlite", "--db-ignore-errors=duplicate"], folder.path, stdin=text)
    assert r.status == 1 and r.said[0].endswith("' at stdin:4"), r.err


def test_bundled_script_by_an_old_path(folder):
    r = command(["/opt/nowhere/share/sysbench/oltp_read_write.lua", "help"], folder.path)
    assert "--tables" in r.out and r.status == 0
    assert "/opt/nowhere/share/sysbench/oltp_read_write.lua does not exist" in r.err


def test_positions_in_threads(folder):
    """Workers get the script as bytecode: their messages still name the line."""
    folder.file("mod.lua", "local m = {}\nfunction m.f()\n  error('deep')\nend\nreturn m")
    r = folder.run("local m = require('mod')\n\nfunction event()\n  m.f()\nend")
    assert "FATAL: `thread_run' function failed: ./mod.lua:3: deep" in r.said


# --- the message names statement, line and cause --------------------------------------------------

@pytest.mark.parametrize("what, text", [
    ('con:query("INSERT INTO named VALUES (1)")', "INSERT INTO named VALUES (1)"),
    ('con:prepare("INSERT INTO named VALUES (?)", "x")', None),
    ('st:execute()', "INSERT INTO named VALUES (?)"),
    ('con:query_row("INSERT INTO named VALUES (1)")', "INSERT INTO named VALUES (1)"),
])
@pytest.mark.parametrize("function", ["prepare", "thread_init"])
def test_an_ignored_error_that_nothing_repeats_names_statement_and_line(folder, function, what, text):
    script = f"""
function {function}()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE named(id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO named VALUES (1)")
  local st = con:prepare("INSERT INTO named VALUES (?)")
  local p = st:bind_create(sysbench.sql.type.INT)
  st:bind_param(p)
  p:set(1)
  {what}
end
function event() end
"""
    r = folder.lua(script, "--db-driver=sqlite", "--db-ignore-errors=duplicate", "--events=1",
                   "run" if function == "thread_init" else function)
    if text is None:
        assert r.status == 0
        return
    assert r.status == 1 and r.said[0].startswith(f"FATAL: `{function}' function failed: SQL error, errno = 1555"), r.err
    assert f"UNIQUE constraint failed: named.id for query '{text}'" in r.said[0]
    assert r.said[0].endswith("' at t.lua:10")


def test_a_statement_that_cannot_be_prepared_is_named(folder):
    for text in "SELECT a FROM nosuch", "SELEC":
        r = folder.lua(f"function prepare() sysbench.sql.driver():connect():prepare('{text}') end", "--db-driver=sqlite",
                       "prepare")
        assert r.status == 1 and f"for query '{text}'\n" in r.err
        r = folder.lua(f"function prepare() sysbench.sql.driver():connect():prepare('{text}') end", "--db-driver=sqlite",
                       "prepare", BENCH_COMPAT="1.1")
        assert r.status == 1 and "for query" not in r.out + r.err


@pytest.mark.parametrize("where", ["event", "thread_init", "prepare"])
def test_an_error_object_says_what_it_is(folder, where):
    text = f"""
local mine = setmetatable({{code = 7}}, {{__tostring = function (e) return "no stock: " .. e.code end}})
function event() end
function {where}() error(mine) end
"""
    command = "prepare" if where == "prepare" else "run"
    r = folder.lua(text, "--events=1", command)
    assert r.status == 1 and r.said[0].endswith("function failed: no stock: 7") and "error value is a" not in r.err
    r = folder.lua(text, "--events=1", command, BENCH_COMPAT="1.1")
    assert "(not a string)" in r.out + r.err
    broken = text.replace('return "no stock: " .. e.code', "error('in vain')")
    assert "(not a string)" in folder.lua(broken, "--events=1", command).err
