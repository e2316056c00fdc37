# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of users of 0.5 and of oltp_legacy with their numbers of threads, on smaller tables and
for a shorter time: they do not end before they should, and report."""

import os
import re
import subprocess

import pytest

import modes
import transcripts
from servers import BENCH

LEGACY = "/usr/share/sysbench/tests/include/oltp_legacy/oltp.lua"
OLD = "--test=/root/sysbench-0.5/sysbench/tests/db/oltp.lua"
pytestmark = pytest.mark.slow


class Session:
    def __init__(self, server, version):
        self.server, self.version = server, version

    def run(self, *argv):
        env = {**os.environ, "BENCH_COMPAT": self.version}
        done = subprocess.run([BENCH, *modes.command([*argv[:-1], *self.server.login(), argv[-1]])], env=env,
                              capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        # In a dialect nothing says which script took the place of the one in that path.
        assert not any("does not exist" in line for line in done.stderr.splitlines())
        return done.stdout


def number(out, label):
    return float(re.search(rf"^ *{label}: +([0-9.]+)", out, re.M).group(1))


@pytest.fixture
def server(mariadb_plain):
    transcripts.empty(mariadb_plain)
    return mariadb_plain


@pytest.mark.both_modes
def test_a_thousand_threads(server):
    s = Session(server, "1.0")
    sizes = ["--oltp-tables-count=10", "--oltp-table-size=500"]
    s.run(LEGACY, *sizes, "--threads=10", "prepare")
    for read_only in ([], ["--oltp-read-only=on"]):
        out = s.run(LEGACY, *sizes, *read_only, "--threads=1000", "--time=6", "--report-interval=2", "run")
        assert number(out, "total time") >= 6
        lines = re.findall(r"^\[ (\d+)s \] thds: (\d+) tps: [0-9.]+ qps: [0-9.]+ \(r/w/o: \S+\) "
                           r"lat \(ms,95%\): [0-9.]+ err/s: [0-9.]+ reconn/s: 0.00$", out, re.M)
        # A busy machine prints a line late, with the time it was taken at.
        assert 0 < len(lines) == len(re.findall(r"^\[ ", out, re.M))
        assert all(int(n) <= 1000 for _, n in lines)
        assert all(int(at) >= 2 * n for n, (at, _) in enumerate(lines, start=1))
        events, total = number(out, "transactions"), number(out, "total")
        assert events == number(out, "total number of events") > 0
        if read_only:
            assert number(out, "write") == 0 and total == 16 * events
        else:
            # More than 20 only where a deadlock made an event begin again.
            assert total >= 20 * events and (total == 20 * events or number(out, "ignored errors"))


def test_250_tables(server):
    s = Session(server, "0.5")
    sizes = ["--mysql-table-engine=innodb", "--oltp-table-size=20", "--oltp-tables-count=250"]
    out = s.run(OLD, *sizes, "--num-threads=8", "prepare")
    assert out.count("Creating table 'sbtest") == 250
    no_ranges = ["--oltp_simple_ranges=0", "--oltp-distinct-ranges=0", "--oltp-sum-ranges=0"]
    limits = ["--max-requests=0", "--max-time=3"]
    out = s.run(OLD, *sizes, "--num-threads=500", "--oltp-read-only=on", *no_ranges, "--oltp-order-ranges=0",
                *limits, "run")
    assert number(out, "total time") >= 3
    transactions = number(out, "transactions")
    assert number(out, "read") == 10 * transactions and number(out, "write") == 0
    assert number(out, "other") == 2 * transactions > 0
    out = s.run(OLD, *sizes, "--num-threads=128", "--oltp-point-selects=0", "--rand-type=uniform", *no_ranges,
                "--oltporder-ranges=0", *limits, "run")
    assert number(out, "total time") >= 3
    # The misspelled option leaves one range query in each transaction.
    assert number(out, "read") >= number(out, "transactions") > 0
    out = s.run(OLD, *sizes, "cleanup")
    assert out.count("Dropping table 'sbtest") == 250


def test_defaults_of_each_version(server):
    """10000 events in 0.5; in 1.1 as many as are asked for."""
    s = Session(server, "0.5")
    sizes = ["--oltp-table-size=2000"]
    s.run("--test=sysbench/tests/db/oltp.lua", *sizes, "prepare")
    out = s.run("--test=sysbench/tests/db/oltp.lua", *sizes, "--oltp-range-selects=off",
                "--oltp-point-selects=1", "--oltp-read-only=on", "run")
    assert number(out, "transactions") == number(out, "total number of events") == 10000
    s = Session(server, "1.1")
    out = s.run("--events=100", "--time=600", LEGACY, *sizes, "run")
    assert number(out, "total number of events") == 100 and number(out, "queries") == 2000
