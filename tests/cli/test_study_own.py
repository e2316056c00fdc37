# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what `bench study FILE` does: options of a study in Lua, its errors, and how signals end it."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import bench
import pytest

OPTIONS = """
local document = require("study.document")

study = {
  title = "print what it is given",
  operands = "WORD...",
  max_operands = 2,
  options = {
    {name = "rounds", type = "int", def = 3, min = 1, max = 9, letter = "r", help = "number of rounds"},
    {name = "seed", type = "int", min = 0, help = "seed"},
    {name = "side", type = "list", repeats = true, help = "sides"},
    {name = "form", type = "choice", choices = {"text", "json"}, def = "text", help = "form"},
    {name = "block-size", type = "size", def = "16K", help = "size of blocks"},
    {name = "pause", type = "seconds", help = "time to wait"},
    {name = "loud", type = "bool", def = false, help = "more lines"},
    {name = "pin", type = "string", def = "4711", secret = true, help = "number of the account"},
    {name = "api-password", type = "string", letter = "p", help = "judged by its name"},
    {name = "out", type = "path", letter = "o", form = "=FILE", help = "file"},
    {name = "inner", type = "string", hidden = true, help = "not listed"},
  },
  run = function(options, operands, given)
    print(document.print{options = options, operands = document.list(operands), given = given})
    return 5
  end,
}
"""

DEFAULTS = {"rounds": 3, "form": "text", "block_size": 16384, "loud": False, "pin": "4711"}


@pytest.fixture(name="own")
def own_study(tmp_path):
    """Writes a study and returns its path."""

    def write(text, name="own.lua"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def body(lines, before=""):
    """A study whose run() has these lines."""
    return ('local native = require("study.native")\n'
            f'{before}\n'
            f'study = {{title = "x", run = function(_, operands)\n{lines}\nend}}\n')


def given_to(path, *words):
    done = bench.run("study", path, *words)
    assert (done.err, done.status) == ("", 5), done
    return json.loads(done.out)


# --- options --------------------------------------------------------------------------------------


def test_defaults_and_values(own):
    path = own(OPTIONS)
    got = given_to(path)
    assert got["options"] == DEFAULTS and got["operands"] == []
    assert not any(got["given"].values()) and "block_size" in got["given"]
    got = given_to(path, "--rounds=5", "-o", "a b", "--side=x,y", "one", "--side", "z", "--loud",
                   "--block_size=1M", "--pause=20ms", "--form=JSON", "two", "--inner=i")
    assert got["options"] == DEFAULTS | {
        "rounds": 5, "out": "a b", "side": ["x", "y", "z"], "loud": True, "block_size": 1 << 20,
        "pause": 0.02, "form": "json", "inner": "i"}
    assert got["operands"] == ["one", "two"]
    assert {name for name, yes in got["given"].items() if yes} == {
        "rounds", "out", "side", "loud", "block_size", "pause", "form", "inner"}
    # A letter and its value are one argument or two; a whole number may have 64 bits.
    got = given_to(path, "-r7", f"--seed={2**53 + 1}")
    assert got["options"]["rounds"] == 7 and got["options"]["seed"] == 2**53 + 1


def test_wrong_options(own):
    path = own(OPTIONS)
    for words, part in (
        (["--rounds=10"], "--rounds=10: "),
        (["--form=x"], "--form=x: "),
        (["--nothing=1"], "--nothing=***: no such option"),
        (["-z"], f"unknown argument '-z' (see bench study {path} --help)"),
        (["a", "b", "c"], f"too many arguments, from 'c' on; usage: bench study {path} [options]... WORD..."),
    ):
        done = bench.run("study", path, *words)
        assert (done.out, done.status) == ("", 1)
        assert done.err.startswith(f"bench study: {path}: ") and part in done.err, done.err
        assert done.err.count("\n") == 1


def test_help_has_no_secrets(own):
    path = own(OPTIONS)
    for words in (("study", path, "--help"), ("help", "study", path), ("study", path, "-h")):
        done = bench.run(*words)
        assert (done.err, done.status) == ("", 0)
        assert done.out.startswith(f"Usage:\n  bench study {path} [options]... WORD...\n\n")
        assert "\n  --rounds=N, -r N" in done.out and "number of rounds [3]\n" in done.out
        assert "size of blocks [16K]\n" in done.out
        assert "4711" not in done.out and "inner" not in done.out
    # The heading of the options has the whole name, however long it is.
    folder = path.parent / ("f" * 200) / ("g" * 100)
    folder.mkdir(parents=True)
    path = path.rename(folder / path.name)
    assert f"\nstudy {path} options:\n" in bench.run("study", path, "--help").out


def shown(done):
    """The words that ps shows, without the blanks that hide the length of a secret."""
    return [word.rstrip(" ") for word in done.out.split("\n")[1].split("\0")]


def test_secrets_are_not_in_the_list_of_processes(own):
    path = own(OPTIONS.replace("return 5", 'io.write(io.open("/proc/self/cmdline"):read("*a"))'))
    done = bench.run("study", path, "--pin=12345", "--out=mysql://u:geheim@h", "--side=seen")
    words = shown(done)
    assert words[1:] == ["study", str(path), "--pin=xxxx", "--out=xxxx", "--side=seen", ""]
    assert '"12345"' in done.out
    done = bench.run("--pin=12345", "study", path)
    assert shown(done)[1:] == ["--pin=xxxx", "study", str(path), ""]
    done = bench.run("study", path, "--pin", "12345")
    assert shown(done)[3:] == ["--pin", "xxxx", ""]
    done = bench.run("study", path, "--api-password", "geheim", "-p", "geheim", "-pgeheim", "--out", "mysql://u:geheim@h")
    words = shown(done)
    assert words[3:] == ["--api-password", "xxxx", "-p", "xxxx", "-pxxxx", "--out", "xxxx", ""]


def test_the_command_line_of_a_run(own):
    path = own(OPTIONS.replace("max_operands = 2", "takes_run = true"))
    got = given_to(path, "--rounds=4", "cpu", "--threads=2", "--help", "run", "--", "--rounds=5")
    assert got["options"]["rounds"] == 4
    assert got["operands"] == ["cpu", "--threads=2", "--help", "run", "--rounds=5"]


# --- what is wrong with a file --------------------------------------------------------------------


def refused(path, *words):
    done = bench.run("study", path, *words)
    assert done.status == 1 and done.out == "", done
    return done.err


def test_a_file_that_cannot_be_read(own, tmp_path):
    missing = tmp_path / "missing.lua"
    assert refused(missing) == f"bench study: cannot open {missing}: No such file or directory\n"
    path = own("study = {\n  title = \n}")
    done = bench.run("study", path.name, cwd=tmp_path)
    assert done == ("", "bench study: own.lua:3: unexpected symbol near '}'\n", 1)
    # Lua cuts long names.
    deep = tmp_path / ("a" * 70)
    deep.mkdir()
    path = own("}", deep / "own.lua")
    assert refused(path).startswith(f"bench study: {path}: ...")
    for args in ((), ("-",), ("--help=off", path.name)):
        assert bench.run("study", *args, cwd=deep) == (
            "", "bench study: too few arguments; usage: bench study FILE [options]... [operands]...\n", 1)


def test_a_file_may_return_its_study(own, tmp_path):
    """A bundled study is such a file."""
    path = own("return {title = 'x', run = function() print('it ran') end}")
    assert bench.run("study", path.name, cwd=tmp_path) == ("it ran\n", "", 0)


@pytest.mark.parametrize(("text", "part"), [
    ("", "it returns no table, and there is no global table 'study'; see bench-studies(7)"),
    ("study = 1", "it returns no table, and there is no global table 'study'"),
    ("study = {run = print}", "study: 'title' is missing"),
    ("study = {title = 'x'}", "study: 'run' must be a function"),
    ("study = {title = 'x', run = print, option = {}}", "study: unknown member 'option'"),
    ("study = {title = 'x', run = print, options = {1}}", "option 1: a table was expected"),
    ("study = {title = 'x', run = print, min_operands = 0.5}",
     "study: 'min_operands' must be a whole number"),
])
def test_a_file_that_declares_no_study(own, text, part):
    path = own(text)
    err = refused(path)
    assert err.startswith(f"bench study: {path}: {part}") and err.count("\n") == 1, err


@pytest.mark.parametrize(("option", "part"), [
    ("name = 'A b', type = 'int', help = 'x'", "option 1: the name 'A b' must have small letters"),
    ("name = 'a', help = 'x'", "option 'a': 'type' is missing"),
    ("name = 'a', type = 'integer', help = 'x'", "option 'a': unknown type 'integer'; types: bool, int,"),
    ("name = 'a', type = 'int'", "option 'a': 'help' is missing"),
    ("name = 'a', type = 'int', help = 'x', defalt = 3", "option 'a': unknown member 'defalt'"),
    ("name = 'a', type = 'int', help = 'x', def = 'b'", "option 'a': the default 'b' does not fit"),
    ("name = 'a', type = 'int', help = 'x', def = 5, max = 4", "option 'a': the default '5' does not fit"),
    ("name = 'a', type = 'int', help = 'x', min = 5, max = 4", "option 'a': 'min' must not be more than"),
    ("name = 'a', type = 'choice', help = 'x'", "option 'a': 'choices' belong to the type 'choice'"),
    ("name = 'a', type = 'int', help = 'x', letter = 'ab'", "option 'a': 'letter' must be one letter"),
    ("name = 'a', type = 'int', help = 'x', traits = {'odd'}", "option 'a': unknown trait 'odd'"),
    ("name = 'a', type = 'int', help = 'x', hidden = 1", "option 'a': 'hidden' must be true or false"),
    ("name = 'help', type = 'bool', help = 'x'", "help"),
])
def test_an_option_that_is_declared_wrongly(own, option, part):
    path = own(f"study = {{title = 'x', run = print, options = {{{{{option}}}}}}}")
    err = refused(path)
    assert err.startswith(f"bench study: {path}: ") and part in err and err.count("\n") == 1, err


def test_failures_and_faults(own):
    path = own(body('print("a line")\nnative.fail("%d of %s", 3, "them")'))
    done = bench.run("study", path)
    assert done == ("a line\n", f"bench study: {path}: 3 of them\n", 1)
    # A failure passes through functions that catch errors and raise them again.
    path = own(body('local ok, e = pcall(native.fail, "odd")\nassert(not ok and tostring(e) == "odd")\nerror(e)'))
    assert refused(path) == f"bench study: {path}: odd\n"
    path = own(body("local none\nreturn none.x"))
    done = bench.run("study", path.name, cwd=path.parent)
    assert done.err.startswith("bench study own.lua: own.lua:5: attempt to index") and done.status == 1
    assert "\nstack traceback:\n\town.lua:5: in function" in done.err
    path = own("local none\nprint(none.x)")
    assert "stack traceback:\n" in refused(path)
    path = own(body('return "x"'))
    assert "must return an exit status" in refused(path)


def test_modules_beside_the_file(own, tmp_path):
    path = own(body('print(require("helper"), require("study.native") == native)'))
    own('return "mine"', "helper.lua")
    # A file does not take the place of a module of the program.
    (tmp_path / "study").mkdir()
    own('return "another"', "study/native.lua")
    for cwd, name in ((tmp_path, path.name), (pathlib.Path("/"), path)):
        assert bench.run("study", name, cwd=cwd) == ("mine\ttrue\n", "", 0)


def test_where_the_subcommand_is_named():
    assert "\n  study - run a study of your own, a file of Lua\n" in bench.run("--help").out
    assert "subcommand|study|||" in bench.run("--completion=bash").out
    done = bench.run("study", "--help")
    assert done.out.startswith("Usage:\n  bench study FILE [options]... [operands]...\n") and done.status == 0


# --- signals, locks and folders ---------------------------------------------------------------------


class Started:
    """A study that has printed its first line, which is `said`."""

    def __init__(self, path, **kwargs):
        self.process = subprocess.Popen(
            [bench.binary(), "study", path], env=bench.environment(**kwargs), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = self.process.stdout.readline().rstrip("\n")

    def signal(self, signo):
        self.process.send_signal(signo)

    def end(self):
        out, err = self.process.communicate(timeout=bench.TIMEOUT_S)
        return out, err, self.process.returncode


LOOP = "local x = 0\nwhile true do x = x + 1 end"


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM])
def test_a_loop_without_end_is_ended(own, signo):
    study = Started(own(body(f'print("here")\n{LOOP}')))
    study.signal(signo)
    assert study.end() == ("", "", -signo)


# ThreadSanitizer keeps a signal that has a handler until the program calls the system.
HANDLED_AT_ONCE = os.environ.get("BENCH_SANITIZER") != "tsan"


if HANDLED_AT_ONCE:
    def test_the_second_signal_ends_a_study_that_notes_the_first(own):
        study = Started(own(body(f'native.child_begin()\nprint("here")\n{LOOP}')))
        study.signal(signal.SIGINT)
        time.sleep(0.5)
        assert study.process.poll() is None
        study.signal(signal.SIGINT)
        assert study.end() == ("", "", -signal.SIGINT)


def test_a_signal_is_noted_and_passed_to_the_child(own):
    study = Started(own(body(
        'native.child_begin()\nnative.child_begin()\nassert(native.signalled() == nil)\nprint("here")\n'
        'local done = native.child{argv = {"sh", "-c", "trap \'exit 7\' TERM; while :; do sleep 0.05; done"}}\n'
        'print(done.status, native.signalled())\n'
        'local start = os.time()\nnative.pause(600)\nassert(os.time() - start < 60)\n'
        'return 128 + native.signalled()')))
    time.sleep(0.3)
    study.signal(signal.SIGTERM)
    assert study.end() == (f"7\t{int(signal.SIGTERM)}\n", "", 128 + signal.SIGTERM)


def test_a_signal_ends_the_study_and_its_child(own, tmp_path):
    """As long as the study does not ask for signals to be noted."""
    file = tmp_path / "pid"
    study = Started(own(body(
        'print("here")\n'
        f'native.child{{argv = {{"sh", "-c", "echo $$ >{file}.new; mv {file}.new {file}; exec sleep 600"}}}}')))
    deadline = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    study.signal(signal.SIGTERM)
    assert study.end()[2] == -signal.SIGTERM
    while os.path.exists(f"/proc/{file.read_text().strip()}"):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def filled(more):
    """A study that fills its temporary folder, prints the name, and goes on."""
    return body('local folder = native.temp_folder()\n'
                'assert(native.temp_folder() ~= folder)\n'
                'assert(native.mkdir(folder .. "/in"))\n'
                'assert(native.replace(folder .. "/in/file", "x"))\n'
                f'print(folder)\n{more}')


@pytest.mark.parametrize(("more", "signals", "status"), [
    *[(LOOP, [signal.SIGTERM], -signal.SIGTERM),
      (f"native.child_begin()\n{LOOP}", [signal.SIGINT, signal.SIGHUP], -signal.SIGHUP),
      ("native.pause(600)", [signal.SIGQUIT], -signal.SIGQUIT)] * HANDLED_AT_ONCE,
    ('native.child_begin()\nnative.child{argv = {"sleep", "600"}}\nreturn 9', [signal.SIGTERM], 9),
    ("os.exit(4)", [], 4),
    ('native.fail("x")', [], 1),
    ("", [], 0),
])
def test_the_temporary_folder_goes(own, tmp_path, more, signals, status):
    study = Started(own(filled(more)), TMPDIR=str(tmp_path))
    assert re.fullmatch(re.escape(f"{tmp_path}/bench-") + r"\w{6}/1", study.said)
    if signals:
        assert (pathlib.Path(study.said) / "in" / "file").read_text() == "x"
    for i, signo in enumerate(signals):
        time.sleep(0.5 if i else 0.1)
        study.signal(signo)
    assert study.end()[2] == status
    assert list(tmp_path.glob("bench-*")) == []


def test_no_temporary_folder(own, tmp_path):
    path = own(body('local folder, why = native.temp_folder()\nassert(folder == nil)\nprint(why)'))
    done = bench.run("study", path, env={"TMPDIR": str(tmp_path / "none")})
    assert done.out == (f"cannot make a folder in '{tmp_path}/none': No such file or directory; "
                        "set TMPDIR to another folder\n")


@pytest.mark.parametrize("args", [["ab"], ["search", "--goal=p99<1s"]], ids=lambda args: args[0])
def test_no_temporary_folder_for_runs(args, tmp_path):
    none = tmp_path / "none"
    done = bench.run(*args, "cpu", "run", env={"TMPDIR": str(none)})
    assert done == ("", f"bench {args[0]}: cannot make a folder in '{none}': No such file or directory; set "
                        "TMPDIR to another folder\n", 1)


def test_a_folder_behind_a_loop_of_links(own, tmp_path):
    """Both links are the user's own: the sentence does not say that another user has made them."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    done = bench.run("study", own(body('print((select(2, native.mkdir("a/in"))))')), cwd=tmp_path)
    assert done.out == ("cannot make the folder 'a/in': 'a' is a symbolic link of another user, or may lead to "
                        "one; name its target\n")


def test_a_lock_of_another_process(own, tmp_path):
    text = body(f'local lock, why = native.lock("{tmp_path}")\nprint(lock and "locked" or why)\n'
                'if lock then native.pause(600) end')
    path = own(text)
    first = Started(path)
    assert first.said == "locked"
    assert bench.run("study", path).out == f"--out={tmp_path}: another sweep uses this folder now\n"
    first.signal(signal.SIGTERM)
    first.end()
    second = Started(path)
    assert second.said == "locked"
    second.signal(signal.SIGTERM)
    second.end()


# --- results ----------------------------------------------------------------------------------------


def test_a_result(own, tmp_path):
    file = tmp_path / "run.json"
    run = ("cpu", "--events=20", "--time=0", "--cpu-max-prime=3", "--percentile=95,99", f"--report=json:{file}")
    assert bench.run(*run, "run").status == 0
    document = json.loads(file.read_text())
    total = document["groups"][0]["total"]
    path = own(body("""
  local r = assert(native.result(operands[1]))
  local by_name, judged = {}, r:judge("p99<1us")
  for _, option in ipairs(r.options) do
    by_name[option.name] = option
  end
  print(require("study.document").print{
    workload = r.workload, kind = r.kind, has_total = r.has_total, start = r.start_wall_ns,
    reason = r.end_.reason, status = r.end_.status, threads = r.plan.threads, percents = r.plan.percents,
    own = r.plan.own, version = r.facts.program.version, prime = by_name["cpu-max-prime"],
    quiet = by_name.quiet.traits, events = r:value("events"), p95 = r:value("p95"), tps = r:value("p95@x"),
    holds = judged.holds, measured = judged.measured, unit = judged.unit,
    first = r.fact_list[1].section, same = r.options == r.options,
  })
  r:close()
  assert(not pcall(r.value, r, "p95"))
"""))
    got = json.loads(bench.run("study", path, file).out)
    assert got == {
        "workload": "cpu", "kind": "cpu", "has_total": True,
        "start": document["facts"]["times"]["start_wall_ns"], "reason": "event limit", "status": 0,
        "threads": 1, "percents": [95, 99], "own": True, "version": document["facts"]["program"]["version"],
        "prime": {"name": "cpu-max-prime", "value": "3", "group": "cpu options", "origin": "command line",
                  "secret": False, "traits": {}},
        "quiet": {"output_only": True}, "events": 20, "p95": total["percentiles"][0]["s"],
        "holds": False, "measured": True, "unit": "us",
        "first": "program", "same": True,
    }


def test_a_result_without_its_intervals(own, tmp_path):
    """What the intervals of a document have is not read."""
    file = tmp_path / "run.json"
    run = ("cpu", "--time=0.5", "--report-interval=0.1", "--cpu-max-prime=3")
    assert bench.run(*run, f"--report=json:{file}", "run").status == 0
    path = own(body("""
  for _, part in ipairs{"all", "totals"} do
    local r = assert(native.result(operands[1], part))
    print(#r:intervals(), r:value("rate"), r:value("p99"), #r.options)
  end
"""))
    every, totals = [line.split() for line in bench.run("study", path, file).out.splitlines()]
    assert int(every[0]) > 0 and totals == ["0", *every[1:]]
    document = json.loads(file.read_text())
    document["groups"][0]["intervals"][0]["figures"]["events"] = "many"
    file.write_text(json.dumps(document, indent=1))
    done = bench.run("study", own(body('print(native.result(operands[1], "totals"):value("rate"))')), file)
    assert done.out.split() == every[1:2]


def test_a_file_that_is_no_result(own, tmp_path):
    path = own(body('print(native.result(operands[1]))'))
    other = own('{"format": "another"}', "other.json")
    assert bench.run("study", path, other).out.startswith(f"false\t'{other}' is not a result of bench")
    broken = own('{"format"', "broken.json")
    assert bench.run("study", path, broken).out.startswith(
        f"nil\t'{broken}' is not a result of bench: line 1: ")
    missing = tmp_path / "missing.json"
    assert bench.run("study", path, missing).out == f"nil\tcannot open '{missing}': No such file or directory\n"
