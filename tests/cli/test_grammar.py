# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows how arguments are told apart and which setting of an option counts."""

import ctypes
import os
import pathlib
import subprocess

import pytest

import bench


@pytest.mark.parametrize(
    "args",
    [
        "--cpu-max-prime=5 --events=1 --threads=3 cpu run",
        "cpu --cpu-max-prime=5 --events=1 --threads=3 run",
        "cpu run --cpu-max-prime=5 --events=1 --threads=3",
        "--threads=2 cpu --cpu_max_prime=7 --events=1 run --cpu-max-prime=5 --threads=3",
    ],
)
def test_options_may_stand_anywhere(args):
    got = bench.run(*args.split())
    assert "Number of threads: 3\n" in got.out
    assert "Prime numbers limit: 5\n" in got.out
    assert (got.err, got.status) == ("", 0)


def test_help_beats_everything_but_the_form():
    usage = bench.run("--help").out
    for args in ("--help --version", "--help --bogus", "--threads=abc --help", "--help=on", "-h", "help", "run --help"):
        assert bench.run(*args.split()) == (usage, "", 0)
    assert bench.run("nosuch", "--help").err.endswith("FATAL: Cannot find benchmark 'nosuch': no such built-in test, file or module\n")
    assert bench.run("a", "b", "c", "--help").status == 1
    assert bench.run("--help", "--help=off", "--version").out.startswith("bench ")


def test_the_help_of_a_test_may_be_asked_for_in_any_form(tmp_path):
    (tmp_path / "s.lua").write_text('sysbench.cmdline.options = {rows = {"how many", 3}}\n')
    for test in ("cpu", "oltp_read_only", "./s.lua"):
        told = bench.run(test, "help", cwd=tmp_path)
        assert told.status == 0 and " options:\n" in told.out
        for args in ([test, "--help"], [test, "-h"], ["help", test], ["--help", test, "run"], ["--threads=2", "help", test]):
            assert bench.run(*args, cwd=tmp_path) == told
    assert bench.run("-V") == bench.run("--version")
    report = bench.run("report", "--help")
    assert "bench report [options]... " in report.out
    assert bench.run("report", "-h") == bench.run("help", "report") == report
    assert "  --output=FILE, -o FILE " in bench.run("help", "merge").out


SEEN = """
sysbench.cmdline.options = {
  n = {"a number", 1}, s = {"a string", "dflt"}, l = {"a list", {"a", "b"}}, b = {"a flag", false}
}
function prepare()
  local o = sysbench.opt
  print(o.n, o.s, table.concat(o.l, "|"), o.b, o.threads, o.percentile, o.time)
end
"""


def see(tmp_path, *args):
    (tmp_path / "seen.lua").write_text(SEEN)
    got = bench.run("seen.lua", *args, "prepare", cwd=tmp_path)
    assert (got.err, got.status) == ("", 0)
    return got.out.split("\n\n", 1)[1].rstrip("\n").split("\t")


@pytest.mark.sanitized
def test_values_reach_scripts(tmp_path):
    assert see(tmp_path) == ["1", "dflt", "a|b", "false", "1", "95", "10"]
    assert see(
        tmp_path, "--n=2.5", "--s=x=y, z", "--l=p,q,,r", "--b", "--threads=4", "--percentile=99,50"
    ) == ["2.5", "x=y, z", "p|q|r", "true", "4", "99", "10"]
    assert see(tmp_path, "--n=1K", "--s=", "--l=", "--b=1", "--b=off", "--time=0.5") == [
        "1024",
        "",
        "",
        "false",
        "1",
        "95",
        "0.5",
    ]


def test_script_from_standard_input():
    got = bench.run(stdin="print('top', sysbench.cmdline.command)\n")
    assert bench.without_banner(got) == ("top\tnil\n", "", 0)
    got = bench.run("-", "prepare", stdin="print('top', sysbench.cmdline.command)\n")
    assert bench.without_banner(got) == ("top\tprepare\n", "", 0)


NO_TEST = ("FATAL: no test is named, and standard input has no script; name a test, for example: "
           "bench cpu run (see bench --help)\n")


def test_neither_a_test_nor_a_script():
    """An option that nobody knows is named first: it may be a mistyped one that needs no test."""
    for args, said in (
        ([], NO_TEST),
        (["--threads=5"], NO_TEST),
        (["--verison"], "--verison: no such option; did you mean --version?\n"),
        (["--thread=5"], "--thread=***: no such option; did you mean --threads?\n"),
        (["--foo"], "--foo: no such option\n"),
        (["--cpu-max-prime=5"], "--cpu-max-prime=5: only the cpu test has this option\n"),
        (["--mysql-pasword=S"], "--mysql-pasword=***: no such option; did you mean --mysql-password?\n"),
    ):
        for stdin in ("", " \t\n\n"):
            assert bench.without_banner(bench.run(*args, stdin=stdin)) == ("", said, 1)
    # What was asked for may be empty, and a script takes any option.
    assert bench.without_banner(bench.run("-")) == ("", "", 0)
    assert bench.without_banner(bench.run("--foo", stdin="print('top')")) == ("top\n", "", 0)


@pytest.mark.parametrize("dialect", ["1.0", "1.1"])
def test_nothing_is_a_script_in_dialects(dialect):
    assert bench.without_banner(bench.run("--foo", dialect=dialect), dialect) == ("", "", 0)


def test_scripts_are_found_by_name_and_path(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "own.lua").write_text("print('own')\n")
    for name in ("sub/own.lua", "./sub/own.lua", tmp_path / "sub" / "own.lua", "sub.own"):
        assert bench.without_banner(bench.run(name, cwd=tmp_path)).out == "own\n"


def as_any_user():
    """Root, too, may then read only what its permissions allow."""
    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


def may_drop_capabilities():
    status = pathlib.Path("/proc/self/status").read_text()
    return bool(int(status.split("CapEff:")[1].split()[0], 16) >> 8 & 1)  # CAP_SETPCAP


@pytest.mark.skipif(os.geteuid() == 0 and not may_drop_capabilities(), reason="root reads every file here")
def test_a_script_that_may_not_be_read_is_said(tmp_path):
    for name in ("s.lua", "folder"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        (tmp_path / "folder" / "s.lua").touch()
        (tmp_path / "s.lua").touch()
        (tmp_path / name).chmod(0)
        for script in (("s.lua", "./s.lua", "s") if name == "s.lua" else ("folder/s.lua",)):
            got = bench.run(script, "run", cwd=tmp_path, preexec_fn=as_any_user)
            assert got.err == f"FATAL: cannot read the script '{script}': Permission denied\n"
            assert got.status == 1
            got = bench.run(script, "run", cwd=tmp_path, preexec_fn=as_any_user, dialect="1.0")
            assert f"FATAL: Cannot find benchmark '{script}': no such built-in test, file or module\n" in got.out
        (tmp_path / name).chmod(0o700)


def test_script_with_interpreter_line(tmp_path):
    script = tmp_path / "mine"
    script.write_text("#!/usr/bin/env bench\nprint('hello', sysbench.cmdline.command)\n")
    script.chmod(0o755)
    folder = pathlib.Path(bench.binary()).parent
    env = bench.environment(PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run([script, "run"], env=env, capture_output=True, text=True, check=False)
    assert "hello\trun\n" in done.stdout


def test_built_in_test_beats_file_of_its_name(tmp_path):
    (tmp_path / "cpu").write_text("print('the file')\n")
    assert "the file" not in bench.run("cpu", *bench.QUICK, "run", cwd=tmp_path).out
    assert "the file" in bench.run("./cpu", cwd=tmp_path).out


@pytest.mark.parametrize("dialect", ["1.0", "1.1", "own"])
def test_undeclared_options_of_scripts(dialect, tmp_path):
    """1.0 takes any option of a script that declares none, 1.1 refuses it."""
    (tmp_path / "free.lua").write_text("function prepare() print(sysbench.opt.foo_bar) end\n")
    got = bench.run("free.lua", "--foo-bar=5", "prepare", dialect=dialect, cwd=tmp_path)
    got = bench.without_banner(got, dialect)
    own = dialect == "own"
    unknown = "--foo-bar=***: no such option\n" if own else "invalid option: --foo-bar=5\n"
    assert got == (("5\n", "", 0) if dialect == "1.0" else ("", unknown, 1))
    got = bench.run("free.lua", "--debug=maybe", "prepare", dialect=dialect, cwd=tmp_path)
    bad = ": neither on nor off; allowed: on, true, 1, off, false, 0\n"
    assert got.err == (f"--debug=maybe{bad}" if own else "invalid option: --debug=maybe\n")
    assert got.status == 1


def test_lists_where_the_reference_has_a_number(tmp_path):
    (tmp_path / "s.lua").write_text(
        "function prepare() local o = sysbench.opt print(o.percentile + 0, o.pgsql_port + 0) end\n"
    )
    args = ("--percentile=99.5,50", "--pgsql-port=5433,5434")
    assert bench.run("s.lua", "prepare", cwd=tmp_path).out.endswith("\n95\t5432\n")
    assert bench.run("s.lua", *args, "prepare", cwd=tmp_path).out.endswith("\n99.5\t5433\n")
    assert bench.run("s.lua", "--percentile=", "prepare", cwd=tmp_path).out.endswith("\n0\t5432\n")


def test_a_command_of_a_named_test_is_no_subcommand(tmp_path):
    (tmp_path / "own.lua").write_text("""
sysbench.cmdline.commands = {report = {function () print("mine") end}}
""")
    done = bench.run("--test=./own.lua", "report", cwd=tmp_path)
    assert done.status == 0 and "mine\n" in done.out
