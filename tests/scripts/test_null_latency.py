# SPDX-License-Identifier: GPL-2.0-or-later
"""Statements of the null driver take the time of --null-latency, and a long one ends when it is interrupted."""
import re
import signal
import subprocess
import time

import pytest

import bench

POINT = ("oltp_point_select", "--db-driver=null")


def number(pattern, text):
    return float(re.search(pattern, text)[1])


# A machine that is busy with other work only adds to times, so these tests bound the smallest time from above: it is less
# than twice what it should be.
def test_the_number_of_transactions_is_at_most_that_of_arithmetic(tmp_path):
    """A point select is one statement: 4 threads x 2 s / 20 ms."""
    done = bench.run(*POINT, "--null-latency=fixed:20ms", "--threads=4", "--time=2", "run", cwd=tmp_path)
    assert done.status == 0
    assert 4 <= number(r"transactions: +(\d+)", done.out) <= 404
    assert 20 <= number(r"min: +([\d.]+)", done.out) < 38


@pytest.mark.parametrize("mode", ["auto", "disable"])
def test_each_statement_of_a_transaction_takes_its_time(tmp_path, mode):
    """BEGIN, 14 reads and COMMIT; prepared statements and texts alike."""
    done = bench.run("oltp_read_only", "--db-driver=null", "--null-latency=5ms", f"--db-ps-mode={mode}",
                     "--time=0", "--events=10", "run", cwd=tmp_path)
    assert done.status == 0
    assert 80 <= number(r"min: +([\d.]+)", done.out) < 150


def test_exponential_times_have_their_mean_and_their_percentile(tmp_path):
    """The mean of 1000 draws has a standard deviation of 3.2 %; 95 % of them do not exceed 3.0 means, and the
    smallest is a thousandth of the mean.  Waking up comes on top."""
    done = bench.run(*POINT, "--null-latency=exp:4ms", "--threads=2", "--time=0", "--events=1000", "run",
                     cwd=tmp_path)
    assert number(r"min: +([\d.]+)", done.out) < 1
    assert number(r"avg: +([\d.]+)", done.out) > 3.6
    assert number(r"95th percentile: +([\d.]+)", done.out) > 10


@pytest.mark.parametrize("value", ["exp:5mss", "uniform:9ms..1ms", "25h", "normal:1ms"])
def test_a_bad_value_is_named(tmp_path, value):
    done = bench.run(*POINT, f"--null-latency={value}", "run", cwd=tmp_path)
    assert done.status == 1
    assert done.err == (f"--null-latency={value}: not a time; allowed: TIME, fixed:TIME, exp:MEAN, "
                        "exp:MEAN..MOST, uniform:LEAST..MOST; times are seconds, also with ns, us, ms, s, "
                        "m or h, up to a day\n")


def test_the_grace_ends_a_long_statement(tmp_path):
    begin = time.monotonic()
    done = bench.run(*POINT, "--null-latency=fixed:1h", "--threads=2", "--time=1", "--time-grace=0.5s", "run",
                     cwd=tmp_path)
    assert time.monotonic() - begin < 10
    assert done.status == 2
    assert done.err.startswith("2 thread(s) are still busy after 0.5 s without progress (--time-grace)")
    # The statement began a little after the run's clock.
    assert 1.4 < number(r"unfinished: +2 \(oldest ([\d.]+) s\)", done.out) < 5


@pytest.mark.threads
def test_a_signal_ends_a_long_statement(tmp_path):
    begin = time.monotonic()
    with subprocess.Popen([bench.binary(), *POINT, "--null-latency=fixed:1h", "--threads=2", "--time=100",
                           "--time-grace=0.5s", "--report-interval=0.2", "run"], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for line in process.stdout:
            if line.startswith("[ 0.2s ]"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert time.monotonic() - begin < 10
    assert process.returncode == 130
    assert err.startswith("interrupt received: finishing")
    assert 0.6 < number(r"unfinished: +2 \(oldest ([\d.]+) s\)", out) < 5
