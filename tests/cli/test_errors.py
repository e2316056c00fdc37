# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows text, stream and exit status of everything that can be wrong with a command line."""

import os
import re
import resource
import shutil
import subprocess

import pytest

import bench

# What the arguments are; whether the banner precedes; standard output; standard error; what is
# added to it when no dialect was asked for, or, where that begins with "-", said instead of it all:
# the one form of option errors.  PROG stands for the program's name.
CASES = [
    # the form of the command line
    ("cpu run extra", False, "", "Unrecognized command line argument: extra\n", ""),
    ("cpu", True, "", "The 'cpu' test requires a command argument. See 'PROG cpu help'\n", ""),
    ("cpu cleanup", True, "", "'cpu' test does not implement the 'cleanup' command.\n", ""),
    ("cpu prepare", True, "", "'cpu' test does not implement the 'prepare' command.\n", ""),
    ("cpu bogus", True, "", "Unknown command: bogus\n", "commands of 'cpu': run, help\n"),
    ("fileio --file-test-mode=rndrd start", True, "", "Unknown command: start\n",
     "commands of 'fileio': prepare, cleanup, run, help\n"),
    ("oltp_insert --db-driver=null start", True, "", "Unknown command: start\n",
     "commands of 'oltp_insert': prepare, prewarm, warmup, cleanup, run, help\n"),
    ("tpcb_like frobnicate", True, "", "Unknown command: frobnicate\n",
     "commands of 'tpcb_like': prepare, cleanup, check, run, help\n"),
    ("tpcb_like chekc", True, "", "Unknown command: chekc (did you mean check?)\n", ""),
    ("cpu rnu", True, "", "Unknown command: rnu (did you mean run?)\n", ""),
    ("cpu preapre", True, "", "Unknown command: preapre (did you mean prepare?)\n", ""),
    (
        "--threads 4 cpu run",
        False,
        "",
        "Unrecognized command line argument: run (did you mean --threads=4?)\n",
        "",
    ),
    (
        "-threads=2 cpu run",
        False,
        "",
        "Unrecognized command line argument: run (did you mean --threads=2?)\n",
        "",
    ),
    (
        "cpu threads=4 run",
        False,
        "",
        "Unrecognized command line argument: run (did you mean --threads=4?)\n",
        "",
    ),
    ("cpu time=4", True, "", "Unknown command: time=4 (did you mean --time=4?)\n", ""),
    ("cpu nosuch=4 run", False, "", "Unrecognized command line argument: run\n", ""),
    # subcommands
    ("compair a b", False, "",
     "Unrecognized command line argument: b (did you mean compare instead of compair?)\n", ""),
    ("swep --vary=threads=1,2 cpu run", False, "",
     "Unrecognized command line argument: run (did you mean sweep instead of swep?)\n", ""),
    (
        "compair a",
        True,
        "FATAL: Cannot find benchmark 'compair': no such built-in test, file or module\n",
        "",
        "did you mean compare?\n",
    ),
    (
        "threads=4 run",
        True,
        "FATAL: Cannot find benchmark 'threads=4': no such built-in test, file or module\n",
        "",
        "did you mean --threads=4?\n",
    ),
    (
        "-t 4 cpu run",
        False,
        "",
        "Unrecognized command line argument: cpu\n",
        "-t: no such option; options have two dashes and a name, such as --threads=4\n",
    ),
    (
        "cpu -psecret run",
        False,
        "",
        "Unrecognized command line argument: run\n",
        "-p: no such option; options have two dashes and a name, such as --threads=4\n",
    ),
    ("-max-time=6", False, "", "unknown argument '-max-time=6' (did you mean --max-time=6?)\n", ""),
    ("-x cpu", False, "", "unknown argument '-x'\n", ""),
    # options that do not exist
    ("cpu --foo=1 run", True, "", "invalid option: --foo=1\n", "--foo=***: no such option\n"),
    ("cpu -- run", True, "", "invalid option: --\n", "--: no such option\n"),
    ("cpu --=3 run", True, "", "invalid option: --=3\n", "--=***: no such option\n"),
    ("cpu --test run", True, "", "invalid option: --test\n", "--test: no value\n"),
    (
        "--test cpu run",
        True,
        "",
        "invalid option: --test (did you mean --test=cpu?)\n",
        "--test: no value; did you mean --test=cpu?\n",
    ),
    (
        "cpu --thread=2 run",
        True,
        "",
        "invalid option: --thread=2 (did you mean --threads?)\n",
        "--thread=***: no such option; did you mean --threads?\n",
    ),
    (
        "cpu --Threads=2 run",
        True,
        "",
        "invalid option: --Threads=2 (did you mean --threads?)\n",
        "--Threads=***: no such option; did you mean --threads?\n",
    ),
    (
        "cpu --cpu-maxprime=2 run",
        True,
        "",
        "invalid option: --cpu-maxprime=2 (did you mean --cpu-max-prime?)\n",
        "--cpu-maxprime=***: no such option; did you mean --cpu-max-prime?\n",
    ),
    (
        "cpu --debug=maybe run",
        True,
        "",
        "invalid option: --debug=maybe\n",
        "--debug=maybe: neither on nor off; allowed: on, true, 1, off, false, 0\n",
    ),
    (
        "cpu --debug= run",
        True,
        "",
        "invalid option: --debug=\n",
        "--debug=: neither on nor off; allowed: on, true, 1, off, false, 0\n",
    ),
    (
        "cpu --debug=ON run",
        True,
        "",
        "invalid option: --debug=ON\n",
        "--debug=ON: neither on nor off; allowed: on, true, 1, off, false, 0\n",
    ),
    # values
    (
        "--threads=abc cpu run",
        False,
        "",
        "Invalid value for the 'threads' option: 'abc'\n",
        "--threads=abc: not a whole number; allowed: 1 to 1000000\n",
    ),
    (
        "--threads=99999999999 cpu run",
        False,
        "",
        "Invalid value for the 'threads' option: '99999999999'\n",
        "--threads=99999999999: out of range; allowed: 1 to 1000000\n",
    ),
    (
        "--threads=0 cpu run",
        False,
        "FATAL: Invalid value for --threads: 0.\n\n",
        "",
        "--threads=0: out of range; allowed: 1 to 1000000\n",
    ),
    (
        "--threads= cpu run",
        False,
        "FATAL: Invalid value for --threads: 0.\n\n",
        "",
        "--threads=: no value; allowed: 1 to 1000000\n",
    ),
    (
        "--threads=-1 cpu run",
        False,
        "FATAL: Invalid value for --threads: -1.\n\n",
        "",
        "--threads=-1: out of range; allowed: 1 to 1000000\n",
    ),
    (
        "--events=-5 cpu run",
        False,
        "FATAL: Invalid value for --events: -5.\n\n",
        "",
        "--events=-5: out of range; allowed: 0 or more\n",
    ),
    (
        "--time=-1 cpu run",
        False,
        "FATAL: Invalid value for --time: -1.\n\n",
        "",
        "--time=-1: out of range; allowed: 0 or more seconds, also with ms, s, m or h\n",
    ),
    (
        "--rate=-1 cpu run",
        False,
        "FATAL: Invalid value for --rate: -1.\n\n",
        "",
        "--rate=-1: out of range; allowed: 0 or more\n",
    ),
    (
        "--warmup-time=-1 cpu run",
        False,
        "FATAL: Invalid value for --warmup-time: -1.\n\n",
        "",
        "--warmup-time=-1: out of range; allowed: 0 or more seconds, also with ms, s, m or h\n",
    ),
    (
        "--report-interval=-1 cpu run",
        False,
        "FATAL: Invalid value for --report-interval: -1.\n\n",
        "",
        "--report-interval=-1: out of range; allowed: 0 or more seconds, also with ms, s, m or h\n",
    ),
    (
        "--forced-shutdown=5x cpu run",
        False,
        "FATAL: Invalid value for --forced-shutdown: '5x'\n",
        "",
        "--forced-shutdown=5x: not a time; allowed: whole seconds, N%, off\n",
    ),
    (
        "--thread-stack-size=64Q cpu run",
        False,
        "FATAL: Invalid value for thread-stack-size: 64Q.\n\n",
        "",
        "--thread-stack-size=64Q: not a size; allowed: 1 or more bytes, also with K, M, G or T\n",
    ),
    (
        "--rand-type=foo cpu run",
        False,
        "FATAL: Invalid random numbers distribution: foo.\n",
        "",
        "--rand-type=foo: unknown; allowed: uniform, gaussian, special, pareto, zipfian\n",
    ),
    (
        "--report-checkpoints=1,x cpu run",
        False,
        "FATAL: Invalid value for --report-checkpoints: 'x'\n",
        "",
        "--report-checkpoints=x: not a whole number of seconds; allowed: 0 or more\n",
    ),
    (
        "--verbosity=9 cpu run",
        False,
        "Invalid value for verbosity: 9\n",
        "",
        "--verbosity=9: out of range; allowed: 0 to 5\n",
    ),
    (
        "--percentile=101 cpu run",
        False,
        "FATAL: Invalid value for --percentile: 101\n",
        "",
        "--percentile=101: out of range; allowed: more than 0, at most 100, or 0 alone for none\n",
    ),
    (
        "--histogram --percentile=0 cpu run",
        False,
        "FATAL: --histogram cannot be used with --percentile=0\n",
        "",
        "--percentile=0: cannot be used with --histogram\n",
    ),
    (
        "cpu --cpu-max-prime=abc run",
        True,
        "",
        "Invalid value for the 'cpu_max_prime' option: 'abc'\n",
        "--cpu-max-prime=abc: not a whole number; allowed: 1 or more\n",
    ),
    (
        "cpu --cpu-max-prime=0 run",
        True,
        "FATAL: Invalid value of cpu-max-prime: 0.\n",
        "",
        "--cpu-max-prime=0: out of range; allowed: 1 or more\n",
    ),
    (
        "--report=jsno cpu run",
        False,
        "",
        "--report=jsno: no such report; allowed: text, json, csv, jsonl, csv-total, markdown, hdr, openmetrics\n",
        "--report=jsno: no such report; allowed: text, json, csv, jsonl, csv-total, markdown, hdr, openmetrics\n",
    ),
    # tests
    (
        "nosuch run",
        True,
        "FATAL: Cannot find benchmark 'nosuch': no such built-in test, file or module\n",
        "",
        "",
    ),
    (
        "oltp_red_write run",
        True,
        "FATAL: Cannot find benchmark 'oltp_red_write': no such built-in test, file or module\n",
        "did you mean oltp_read_write?\n",
        "",
    ),
    (
        "oltp run",
        True,
        "FATAL: Cannot find benchmark 'oltp': no such built-in test, file or module\n",
        "the test 'oltp' of sysbench 0.4 is a script here: use oltp_legacy/oltp.lua with "
        "--oltp-table-size, or oltp_read_write with --table-size\n",
        "",
    ),
]


# What bench's own form says besides.
PROPOSAL = re.compile(r" \(did you mean [^()]*\?\)|^did you mean .*\n|^the test 'oltp' of .*\n")


@pytest.mark.parametrize("dialect", bench.DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_error(case, dialect, tmp_path):
    args, banner, out, err, added = case
    got = bench.run(*args.split(), dialect=dialect, cwd=tmp_path)
    if banner:
        got = bench.without_banner(got, dialect)
    err = err.replace("PROG", bench.NAME[dialect])
    if dialect != "own":
        err = PROPOSAL.sub("", err)
    if dialect == "own" and added.startswith("-"):
        out, err = "", added
    elif dialect == "own" and out.startswith("FATAL: "):
        out, err = "", out + err + added
    elif dialect == "own":
        err += added
    assert got == (out, err, 1)


@pytest.mark.parametrize("dialect", [d for d in bench.DIALECTS if d != "own"])
def test_letters_are_no_options_in_dialects(dialect):
    got = bench.run("cpu", "-h", dialect=dialect)
    assert got == ("", "unknown argument '-h'\n", 1)
    assert bench.run("-V", dialect=dialect) == ("", "unknown argument '-V'\n", 1)


@pytest.mark.parametrize("name", ["sweep", "compare", "ab", "search", "history", "report", "plot", "merge", "study"])
def test_reserved_names_and_the_way_around(name, tmp_path):
    (tmp_path / f"{name}.lua").write_text("print('mine')\n")
    assert bench.run(name, "run", cwd=tmp_path).status == 1
    assert bench.run(f"{name}.lua", cwd=tmp_path).out.endswith("\nmine\n")
    assert bench.run(f"./{name}.lua", cwd=tmp_path).out.endswith("\nmine\n")


def test_the_last_of_several_settings_decides():
    got = bench.run("--threads=0", "--threads=abc", "--threads=2", "cpu", *bench.QUICK, "run")
    assert "Number of threads: 2\n" in got.out and got.status == 0


def test_first_fault_in_the_order_of_the_reference():
    got = bench.run("--verbosity=9", "--rand-type=foo", "--threads=0", "cpu", "run")
    assert got.err == "--threads=0: out of range; allowed: 1 to 1000000\n"


def test_option_of_another_test_is_named(tmp_path):
    (tmp_path / "s.lua").write_text("sysbench.cmdline.options = {n = {'a number', 1}}\n")
    got = bench.run("s.lua", "--cpu-max-prime=5", "prepare", cwd=tmp_path)
    assert got.err == "--cpu-max-prime=5: only the cpu test has this option\n"
    assert got.status == 1


@pytest.mark.parametrize("name", ["tablesize", "oltp-table-size", "oltp_tablesize", "tbale_size"])
def test_options_of_scripts_are_proposed(name):
    got = bench.run("oltp_read_write", f"--{name}=5", "run")
    assert got.err == f"--{name}=***: no such option; did you mean --table-size?\n"
    assert got.status == 1


def test_endless_run_is_announced():
    told = "WARNING: Both event and time limits are disabled, running an endless test\n"
    got = bench.run("--time=0", "cpu", "help")
    assert got.out.startswith("bench ") and got.err == told
    got = bench.run("--time=0", "cpu", "help", dialect="1.0")
    assert got.out.startswith(told) and got.err == ""


@pytest.mark.sanitized
def test_unknown_dialect():
    got = bench.run("--compat=2.0", "--version")
    assert got == ("", "--compat=2.0: no such dialect; allowed: 1.1, 1.0, 0.5\n", 1)
    got = bench.run("--version", env={"BENCH_COMPAT": "2.0"})
    assert got == ("", "BENCH_COMPAT=2.0: no such dialect; allowed: 1.1, 1.0, 0.5\n", 1)
    assert bench.run("--compat", "--version").status == 1


HOLD_FILES = """local held = {}
function hold() for i = 1, %d do held[i] = assert(io.open('/dev/null')) end end
function thread_init() hold() end
function event() end
function prepare() hold() sysbench.cmdline.barrier() end
sysbench.cmdline.commands = {prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND}}
"""


@pytest.mark.parametrize("command", ("run", "prepare"))
def test_sessions_may_have_files_open(tmp_path, command):
    """More than the soft limit, which is 1,024 on many machines, but not more than the hard one."""
    (tmp_path / "open.lua").write_text(HOLD_FILES % 3)
    args = ("open.lua", "--threads=80", "--events=80", command)

    def limited(hard):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))

        return bench.run(*args, cwd=tmp_path, preexec_fn=limit)

    done = limited(1024)
    assert done.status == 0, done
    done = limited(128)
    assert done.status == 1 and "Too many open files" in done.out + done.err, done
    told = (
        "ulimit -n allows 128 open files and connections, and no more are left: raise it to 576 (nofile "
        "of limits.conf, LimitNOFILE=576 of systemd, --ulimit nofile=576 of containers), or use fewer --threads"
    )
    assert done.err.splitlines().count(told) == 1, done.err


def test_files_of_a_script_meet_the_limit(tmp_path):
    """The limit is more than the sessions need, so that twice the limit is the advice."""
    (tmp_path / "open.lua").write_text(HOLD_FILES % 100)
    done = bench.run("open.lua", "--threads=4", "--events=4", "run", cwd=tmp_path,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300)))
    assert done.status == 1 and "Too many open files" in done.out + done.err, done
    assert [line for line in done.err.splitlines() if line.startswith("ulimit -n")] == [
        "ulimit -n allows 300 open files and connections, and no more are left: raise it to 600 (nofile of "
        "limits.conf, LimitNOFILE=600 of systemd, --ulimit nofile=600 of containers), or use fewer --threads"
    ], done.err


# A sanitizer needs terabytes of addresses itself.
if "BENCH_SANITIZER" not in os.environ:

    def test_threads_that_the_host_refuses(tmp_path):
        """The limit that was met is among those that the message names, with their values."""

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (64 << 30, 64 << 30))

        done = bench.run("cpu", "--threads=80", "--thread-stack-size=1048512K", "--events=1", "run", cwd=tmp_path,
                         preexec_fn=limit)
        assert done.status == 1
        assert re.fullmatch(
            r"FATAL: cannot start worker thread \d\d of 80: Resource temporarily unavailable: use fewer --threads or "
            r"a smaller --thread-stack-size, or raise the limit that is met: (.*, )?ulimit -v \(bytes\) 68719476736"
            r"(, .*)?\nFATAL: Threads initialization failed!\n", done.err), done.err


# --- the message blames the guilty argument --------------------------------------------------------

@pytest.mark.parametrize("args, message", [
    (["\u2014threads=2", "--events=1", "run"], "argument 2 ('--threads') has U+2014 (an em dash): type '-' in its place"),
    (["\u2014\u2014threads=2", "run"], "argument 2 ('--threads') has U+2014 (an em dash): type '-' in its place"),
    (["-\u2013threads=2", "run"], "argument 2 ('--threads') has U+2013 (an en dash): type '-' in its place"),
    (["--cpu\u2011max-prime=2", "run"], "argument 2 has U+2011 (a non-breaking hyphen): type '-' in its place"),
    (["\u00a0--threads=2", "run"], "argument 2 ('--threads') has U+00A0 (a no-break space): remove it"),
    (["--threads\u00a0=2", "run"], "argument 2 has U+00A0 (a no-break space): remove it"),
    (["--threads=\u202f2", "run"], "argument 2 ('--threads') has U+202F (a narrow no-break space): remove it"),
    (["--events=2\r", "run"], "argument 2 ('--events') has a carriage return (\\r, as files of Windows have): remove it"),
    (["run\r"], "argument 2 has a carriage return (\\r, as files of Windows have): remove it"),
    (["--mysql-password=secret\r", "run"],
     "argument 2 ('--mysql-password') has a carriage return (\\r, as files of Windows have): remove it"),
    (["--threads=", "2", "--events=1", "run"],
     "--threads= has no value: leave out the blank after it (did you mean --threads=2?)"),
    (["--mysql-password=", "secret", "run"],
     "--mysql-password= has no value: leave out the blank after it (did you mean --mysql-password=***?)"),
    (["--threads=1_000", "run"], "--threads=1_000: not a whole number; allowed: 1 to 1000000\ndid you mean --threads=1000?"),
    (["--events=10,000", "run"], "--events=10,000: not a whole number; allowed: 0 or more\ndid you mean --events=10000?"),
    (["--rate=1,5", "run"], "--rate=1,5: not a number; allowed: 0 or more"),
    ([f"--threads={'1' * 40}", "run"], f"--threads={'1' * 40}: not a whole number; allowed: 1 to 1000000"),
])
def test_the_guilty_argument_is_named(args, message):
    got = bench.run("cpu", *args)
    assert (got.err, got.status) == (message + "\n", 1) and "secret" not in got.out
    assert "leave out" not in bench.run("cpu", *args, dialect="1.1").err


@pytest.mark.parametrize("args", [["--label=a\u2014b"], ["--mysql-password=\u2014x"], ["--mysql-user="], ["--events="]])
def test_signs_and_empty_values_that_are_meant(args):
    got = bench.run("cpu", *args, *bench.QUICK, "run")
    assert "argument 2" not in got.err and "no value" not in got.err


def test_a_file_may_have_any_name(tmp_path):
    name = "\u2014own\u00a0.lua\u00a0"
    (tmp_path / name).write_text("function event() end")
    assert bench.run(name, "--events=1", "run", cwd=tmp_path).status == 0


def test_the_test_stands_before_the_command(tmp_path):
    got = bench.run("run", "cpu", cwd=tmp_path)
    assert got.err.endswith("the test stands before the command: cpu run\n") and got.status == 1


def test_grouped_digits_of_a_script_s_option(tmp_path):
    got = bench.run("oltp_read_only", "--db-driver=null", "--table-size=10,000", "run", cwd=tmp_path)
    assert got.err.endswith("did you mean --table-size=10000?\n")


def test_the_size_of_a_block_is_to_blame(tmp_path):
    few = ["--file-num=4", "--file-total-size=1M"]
    assert bench.run("fileio", *few, "prepare", cwd=tmp_path).status == 0
    rest = ["--file-extra-flags=direct", "--file-test-mode=rndrd", "--events=1", "--time=0", "run"]
    got = bench.run("fileio", *few, "--file-block-size=4000", *rest, cwd=tmp_path)
    assert "--file-block-size that is a multiple of" in got.err or "has no direct I/O" in got.err
    got = bench.run("fileio", "--file-num=4", "--file-total-size=2M", *rest[1:], cwd=tmp_path)
    assert "different --file-total-size, --file-block-size or --file-num values?" in got.err


@pytest.mark.parametrize("args, note", [
    (["cpu", "--mysql-port=3307"], "--mysql-port is not used: cpu opens no database connection\n"),
    (["t.lua", "--sqlite-db=x"], "--sqlite-db is not used: the driver is mysql; add --db-driver=sqlite\n"),
    (["t.lua", "--sqlite-db=x", "--db-driver=null"], ""), (["t.lua", "--mysql-db=x"], ""), (["cpu"], "")])
def test_options_of_a_driver_that_is_not_used(tmp_path, args, note):
    (tmp_path / "t.lua").write_text("function event() end")
    got = bench.run(*args, "--events=1", "run", cwd=tmp_path)
    assert (got.err, got.status) == (note, 0)
    assert bench.run(*args, "--events=1", "run", cwd=tmp_path, dialect="1.1").err == ""


def test_a_bundled_workload_without_its_file_names_the_folder(tmp_path):
    (tmp_path / "bin").mkdir()
    shutil.copy(os.path.realpath(os.environ["BENCH"]), tmp_path / "bin" / "bench")
    done = subprocess.run([tmp_path / "bin" / "bench", "oltp_read_only", "run"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and f"oltp_read_only is a bundled workload, but {tmp_path}" in done.stderr
