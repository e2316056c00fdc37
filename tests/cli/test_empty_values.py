# SPDX-License-Identifier: GPL-2.0-or-later
"""Each option with an empty value: a sentence or a value that is accepted, never a crash."""

import re

import pytest

import bench

pytestmark = pytest.mark.sanitized

# A run of each kind that ends at once.
RUNS = {
    "cpu": bench.QUICK,
    "memory": ("--memory-total-size=1K",),
    "threads": ("--events=1",),
    "mutex": ("--mutex-num=1", "--mutex-locks=1", "--mutex-loops=1"),
    "fileio": ("--file-test-mode=seqwr", "--file-total-size=1M", "--file-num=1", "--events=1"),
    "oltp_read_write": ("--db-driver=null", "--events=1"),
    "select_random_points": ("--db-driver=null", "--events=1"),
    "select_random_ranges": ("--db-driver=null", "--events=1"),
    "tpcb_like": ("--db-driver=null", "--events=1"),
}
STUDIES = {
    "sweep": (("--vary=threads=1", "--repeat=1", "--out=o"), ("cpu", *bench.QUICK, "run")),
    "ab": ((), ("nothing", "run")),
    "search": (("--goal=p99<1s",), ("nothing", "run")),
    "compare": (("a.json",), ("a.json",)),
    "history": ((), ("a.json",)),
    "report": ((), ("a.json",)),
    "merge": ((), ("a.json",)),
    "plot": (("--output=p.svg",), ("a.json",)),
}


def options(*args):
    # The options of other lists stand in sentences, with a blank or a parenthesis before them.
    return sorted(set(re.findall(r"^ *--([a-z0-9][a-z0-9_-]*)", bench.run(*args).out, re.M)) - {"help"})


def check(args, folder, dialect="own"):
    result = bench.run(*args, cwd=folder, dialect=dialect)
    assert 0 <= result.status < 128, (args, result)
    assert "traceback" not in result.err, (args, result)
    assert result.status in (0, 3) or result.err.strip() or "FATAL: " in result.out, (args, result)
    return result


@pytest.mark.parametrize("dialect", ("own", "1.1"))
@pytest.mark.parametrize("test", RUNS)
def test_options_of_a_run(test, dialect, tmp_path):
    names = options(test, "help") + (options("--help") if test in ("cpu", "oltp_read_write") else [])
    assert len(names) > 1
    for name in names:
        # Without hosts, their options are not used.
        hosts = ("--hosts=a",) if name.startswith("hosts-") else ()
        check((test, *RUNS[test], *hosts, f"--{name}=", "run"), tmp_path, dialect)


@pytest.mark.parametrize("study", STUDIES)
def test_options_of_a_subcommand(study, tmp_path):
    before, after = STUDIES[study]
    bench.run("cpu", *bench.QUICK, "--report=json:a.json", "run", cwd=tmp_path)
    names = options(study, "--help")
    assert names
    for name in names:
        check((study, *before, f"--{name}=", *after), tmp_path)


@pytest.mark.parametrize("args, sentence", [
    (("cpu", "--time=", "run"), "--time=: no value; allowed: 0 or more seconds, also with ms, s, m or h"),
    (("cpu", "--hosts=a", "--hosts-shell=", "run"), "--hosts-shell=: no value; allowed: any text but an empty one"),
    (("cpu", "--hosts=a", "--hosts-program=", "run"), "--hosts-program=: no value; allowed: any text but an empty one"),
    (("ab", "--metric=", "cpu", "run"), "bench ab: --metric=: no value; allowed: any text but an empty one"),
    (("search", "--precision=", "cpu", "run"), "bench search: --precision=: no value; allowed: any text but an empty one"),
    (("compare", "--metric=", "a", "b"), "bench compare: --metric=: no value; allowed: any text but an empty one"),
])
def test_a_value_that_is_missing(args, sentence, tmp_path):
    result = bench.run(*args, cwd=tmp_path)
    assert (result.status, result.err.splitlines()[0]) == (1, sentence)


def test_sysbench_takes_an_empty_number_for_zero(tmp_path):
    for dialect in ("1.0", "1.1"):
        assert bench.run("cpu", *bench.QUICK, "--time=", "run", cwd=tmp_path, dialect=dialect).status == 0


@pytest.mark.parametrize("value, what", [("", "no value"), (" ", "not a time"), (" # none", "not a time"),
                                         ('""', "not a time"), ("'' # none", "not a time"), (",", "not a time")])
def test_an_empty_number_in_a_file(value, what, tmp_path):
    """A run without an end was the result."""
    (tmp_path / "c").write_text(f"time={value}\n")
    result = bench.run("cpu", "--config-file=c", "--events=1", "run", cwd=tmp_path)
    assert (result.status, result.err) == (
        1, f"c:1: time={value}: {what}; allowed: 0 or more seconds, also with ms, s, m or h\n")


def test_an_empty_text_in_a_file(tmp_path):
    (tmp_path / "c").write_text("hosts-shell= # none\n")
    result = bench.run("cpu", "--config-file=c", "--hosts=a", "run", cwd=tmp_path)
    assert (result.status, result.err) == (
        1, "c:1: hosts-shell= # none: no value; allowed: any text but an empty one\n")
