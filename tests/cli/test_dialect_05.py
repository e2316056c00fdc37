# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what the transcripts of 0.5 do not: values, unknown options, forms of the command line."""

import re

import pytest

import bench
from gate import slow

QUICK = ("--cpu-max-prime=3", "--max-requests=2")
BANNER = "sysbench 0.5:  multi-threaded system evaluation benchmark\n"


def run(*argv, **kwargs):
    return bench.run(*argv, dialect="0.5", **kwargs)


@pytest.mark.sanitized
def test_unknown_options_are_accepted_without_a_word():
    got = run("--test=cpu", *QUICK, "--foo=bar", "--percentle=9", "--file-num=3", "run")
    assert (got.status, got.err) == (0, "")
    assert "number of events:              2\n" in got.out


def test_new_names_are_accepted():
    got = run("--test=cpu", "--threads=2", "--events=3", "--cpu-max-prime=3", "run")
    assert (got.status, got.err) == (0, "")
    assert "Number of threads: 2\n" in got.out and "events:              3\n" in got.out


def test_default_limits():
    """10,000 events and no time."""
    got = run("--test=cpu", "--cpu-max-prime=3", "run")
    assert "total number of events:              10000\n" in got.out


@pytest.mark.parametrize("value, debug", [("on", True), ("off", False), ("yes", False), ("1", False)])
def test_only_on_is_on(value, debug):
    got = run("--test=cpu", *QUICK, f"--debug={value}", "run")
    assert got.status == 0
    assert ("Debug mode enabled.\n" in got.out) == debug
    assert got.err == ""


def test_mutex_loops_are_nothing():
    """Compilers drop the loop of 0.5: its empty iterations cost nothing, however many they are."""
    got = run("--test=mutex", "--mutex-locks=1000", "--mutex-loops=2000000000", "run")
    assert got.status == 0 and "total time:" in got.out


@pytest.mark.parametrize("block, total, events", [("12", "120", 10), ("100", "1000", 10), ("1K", "1", 1),
                                                  ("1K", "0", 0)])
def test_memory_takes_any_words(block, total, events):
    got = run("--test=memory", f"--memory-block-size={block}", f"--memory-total-size={total}", "run")
    assert got.status == 0, got.out
    assert f"Operations performed: {events} (" in got.out


@pytest.mark.parametrize("block", ["0", "2", "1023"])
def test_memory_blocks_that_are_refused(block):
    got = run("--test=memory", f"--memory-block-size={block}", "run")
    assert got == (BANNER + "\nFATAL: memory-block-size must be a multiple of 4!\n", "", 1)


def test_test_without_its_option():
    """As later versions have it, since nothing else could be meant."""
    got = run("cpu", *QUICK, "run")
    assert got.status == 0 and "number of events:              2\n" in got.out
    got = run("cpu", "run", "--test=cpu")
    assert got.status == 1 and got.err == "Unknown command: cpu.\n"
    assert got.out.startswith("Usage:\n  sysbench --test=<test-name>")


def test_help_option_says_nothing():
    got = run("--test=cpu", "--help", *QUICK, "run")
    assert got.status == 0 and "number of events:              2\n" in got.out


def test_misspelled_command():
    got = run("--test=cpu", "rnu")
    assert got.status == 1 and got.err == "Unknown command: rnu.\n"


@pytest.mark.parametrize("dialect", ["1.1", "1.0", "0.5"])
@pytest.mark.parametrize("option, name", [("--time=5s", "time"), ("--time=1e0", "time"),
                                          ("--rate=0.5", "rate"), ("--rate=3000000000", "rate"),
                                          ("--report-interval=1.5", "report_interval"),
                                          ("--percentile=99.9", "percentile"),
                                          ("--percentile=50,95", "percentile")])
def test_dialects_take_whole_numbers(dialect, option, name):
    got = bench.run("--test=cpu", option, "--cpu-max-prime=3", "run", dialect=dialect)
    assert got.status == 1
    assert got.err.endswith(f"Invalid value for the '{name}' option: '{option.partition('=')[2]}'\n")


@pytest.mark.parametrize("option", ["--rand-spec-pct=150", "--rand-spec-res=100",
                                    "--rand-spec-iter=0", "--rand-pareto-h=2"])
def test_bounds_sysbench_does_not_have(option):
    """A command line that ran goes on running; without a dialect such a value is refused."""
    got = bench.run("cpu", option, *bench.QUICK, "run", dialect="1.0")
    assert (got.status, got.err) == (0, "")
    assert bench.run("cpu", option, *bench.QUICK, "run").status == 1


SMALL_FILE = "--file-num=1 --file-total-size=16K --file-test-mode=rndrd".split()


@pytest.mark.parametrize("value", ["direct", slow("12x"), slow("99999999999"), "-1"])
def test_the_backlog_is_read_where_it_is_used(value, tmp_path):
    """As in sysbench; without a dialect it is refused in every mode."""
    backlog = f"--file-async-backlog={value}"
    assert bench.run("fileio", *SMALL_FILE, "prepare", cwd=tmp_path).status == 0
    for dialect in ("1.1", "1.0", "0.5"):
        test = ["fileio"] if dialect != "0.5" else ["--test=fileio"]
        args = [*test, *SMALL_FILE, backlog, "--max-requests=1", "run"]
        got = bench.run(*args, dialect=dialect, cwd=tmp_path)
        assert got.status == 0 and "Doing random read test" in got.out
        got = bench.run(*args, "--file-io-mode=async", dialect=dialect, cwd=tmp_path)
        assert got.status == 1 and f"file{'_' if value != '-1' else '-'}async" in got.out + got.err
    assert bench.run("fileio", *SMALL_FILE, backlog, "run", cwd=tmp_path).status == 1


@pytest.mark.parametrize("value", ["1.5G", slow("abc"), slow("-1")])
def test_a_size_that_is_none_is_0(value):
    """Where sysbench has no sentence for it; 0 bytes of memory are no limit."""
    args = ["memory", f"--memory-total-size={value}", "--time=1", "run"]
    for dialect in ("1.1", "1.0"):
        got = bench.run(*args, dialect=dialect)
        assert got.status == 0 and "  total size: 0MiB\n" in got.out
    assert bench.run(*args).status == 1


def test_the_highest_rate():
    for dialect in ("own", "1.0"):
        got = bench.run("cpu", "--rate=2147483647", "--rate-max-backlog=0", "--cpu-max-prime=3",
                        "--events=100", "run", dialect=dialect)
        assert got.status == 0 and re.search(r"total number of events: +100$", got.out, re.M)
