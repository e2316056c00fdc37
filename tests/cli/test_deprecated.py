# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that option names of old versions work, with the reference's warnings in its dialect."""

import pytest

import bench

TEST_WARNING = (
    "WARNING: the --test option is deprecated. You can pass a script name or path on the command "
    "line without any options.\n"
)
WARNINGS = "".join(
    f"WARNING: --{old} is deprecated, use --{new} instead\n"
    for old, new in (
        ("num-threads", "threads"),
        ("max-requests", "events"),
        ("max-time", "time"),
        ("tx-rate", "rate"),
    )
)
OLD = ("--tx-rate=1000", "--max-time=5", "--max-requests=3", "--num-threads=2")


@pytest.mark.parametrize("dialect", bench.DIALECTS)
def test_all_old_names(dialect):
    got = bench.run("--test=cpu", *OLD, "--cpu-max-prime=3", "run", dialect=dialect)
    assert got.status == 0
    if dialect == "1.0":
        assert got.out.startswith(WARNINGS + "sysbench 1.0.20 ")
        assert got.err == TEST_WARNING
    else:
        assert got.out.startswith(bench.NAME[dialect])
        assert got.err == TEST_WARNING + WARNINGS
    assert "Number of threads: 2\nTarget transaction rate: 1000/sec\n" in got.out
    assert "total number of events:              3\n" in got.out


@pytest.mark.parametrize(
    "args, threads",
    [
        ("--threads=3 --num-threads=2", 2),
        ("--num-threads=2 --threads=3", 2),
        ("--num-threads=1 --threads=3", 3),
        ("--threads=3 --num-threads=1", 3),
        ("--num-threads=1", 1),
        ("--num-threads=0 --threads=3", 3),
        ("--threads=3 --num-threads=", 3),
    ],
)
def test_which_name_wins(args, threads):
    got = bench.run("cpu", *args.split(), *bench.QUICK, "run", dialect="1.0")
    assert f"Number of threads: {threads}\n" in got.out
    assert ("WARNING" in got.out) == (threads == 2)


@pytest.mark.parametrize("args, threads", [("--threads=3 --num-threads=2", 2), ("--num-threads=2 --threads=3", 3),
                                           ("--threads=3 --num-threads=1", 1), ("--num-threads=2 --threads=1", 1),
                                           ("--config-file=old.cnf --threads=3", 3),
                                           ("--threads=3 --config-file=old.cnf", 2)])
def test_the_last_setting_counts(args, threads, tmp_path):
    """Under whichever name; a sweep sets the present one last."""
    (tmp_path / "old.cnf").write_text("num-threads=2\n")
    got = bench.run("cpu", *args.split(), *bench.QUICK, "run", cwd=tmp_path)
    assert f"Number of threads: {threads}\n" in got.out


@pytest.mark.parametrize("dialect", [d for d in bench.DIALECTS if d != "1.0"])
def test_no_threads(dialect):
    got = bench.run("--test=cpu", "--num-threads=0", *bench.QUICK, "run", dialect=dialect)
    if dialect == "own":
        assert "--num-threads=0: out of range; allowed: 1 to 1000000\n" in got.err
    else:
        assert "Invalid value for --num-threads: 0.\n" in got.out
    assert got.status == 1


def test_zero_is_zero():
    """The reference ignored an explicit 0, so that --max-time=0 left the limit at 10 s."""
    got = bench.run("cpu", "--max-time=0", "help", dialect="1.0")
    assert got.out.startswith("WARNING: Both event and time limits are disabled")
    got = bench.run("cpu", "--max-time=0", "--time=5", "help", dialect="1.0")
    assert "WARNING" not in got.out


def test_test_option_and_positionals():
    assert "cpu options:" in bench.run("--test=cpu", "help").out
    assert "cpu options:" in bench.run("--test=", "cpu", "help").out
    got = bench.run("--test=cpu", "cpu", "run", dialect="1.0")
    assert got == ("", TEST_WARNING + "Unrecognized command line argument: run\n", 1)


@pytest.mark.parametrize("new, old", [("threads", "num_threads"), ("events", "max_requests")])
def test_scripts_see_both_names_in_step(new, old, tmp_path):
    (tmp_path / "s.lua").write_text(
        f"function prepare() print(sysbench.opt.{new}, sysbench.opt.{old}) end\n"
    )
    for name in (new, old.replace("_", "-")):
        got = bench.run("s.lua", f"--{name}=4", "prepare", cwd=tmp_path, dialect="1.0")
        assert got.out.endswith("\n4\t4\n")
