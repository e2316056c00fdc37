# SPDX-License-Identifier: GPL-2.0-or-later
"""A thread pauses after its events, for --think-time or as its script says, and no latency has the pause in it."""
import json

import pytest

import bench

# Each event says how long the next pause is.
OWN = """
function event()
  sysbench.think(0.05)
end
"""
EMPTY = "function event() end\n"
SHORT = "function event() sysbench.think(0.01) end\n"


def total(tmp_path, script, *options):
    (tmp_path / "think.lua").write_text(script)
    done = bench.run("think.lua", "--threads=2", "--time=1", *options, "--report=json", "run", cwd=tmp_path)
    assert done.status == 0, done.err
    return json.loads(done.out)["groups"][0]["total"]["figures"]


# A busy machine adds to pauses: it makes fewer events and never more.
@pytest.mark.parametrize("workers", ["--workers=0", "--workers=1"])
@pytest.mark.parametrize("script,options", [(EMPTY, ["--think-time=fixed:50ms"]), (OWN, []),
                                            (OWN, ["--think-time=1h"])])
def test_events_are_as_many_as_pauses_allow(tmp_path, script, options, workers):
    """One event at once and 19 after pauses of 50 ms, of two threads."""
    got = total(tmp_path, script, *options, workers)
    assert 4 <= got["events"] <= 40


def test_a_latency_has_no_pause_in_it(tmp_path):
    """The least latency of an empty event is microseconds, and its pause 50 ms."""
    assert total(tmp_path, EMPTY, "--think-time=fixed:50ms")["min_s"] < 0.05


@pytest.mark.parametrize("workers", ["--workers=0", "--workers=1"])
def test_the_lag_of_wake_ups_is_told(tmp_path, workers):
    """Of --think-time, and of a script's own pauses."""
    for script, option in ((EMPTY, "--think-time=uniform:10ms..30ms"), (SHORT, "--think-time=0")):
        got = total(tmp_path, script, option, workers)
        assert 0 < got["lag_p50_s"] <= got["lag_p99_s"] <= got["lag_max_s"]


def lags(document):
    """The lag's places in a document: the metric, the timings of each record, and the histograms."""
    (group,) = document["groups"]
    records = [*group["intervals"], *group["checkpoints"], group["total"]]
    return ([m["name"] for m in group["metrics"]].count("wakeup_lag"),
            [[t["count"] for t in r["timings"] if t["name"] == "wakeup_lag"] for r in records],
            "wakeup_lag" in group["total"]["raw"]["histograms"])


# The script sleeps itself; in its second half it pauses, if it is to.
LATE = """
ffi.cdef("int usleep(unsigned int);")
sysbench.cmdline.options = {pauses = {"Pauses", false}}
function event()
  ffi.C.usleep(1000)
  if sysbench.opt.pauses and sysbench.time_left() < 1 then sysbench.think(0.001) end
end
"""


def test_a_script_that_does_not_pause_has_no_lag_in_its_documents(tmp_path):
    """Nor in OpenMetrics; one that pauses has it in all records, and the same when a document is printed again."""
    for pauses in ("off", "on"):
        (tmp_path / "late.lua").write_text(LATE)
        done = bench.run("late.lua", "--time=2", "--report-interval=0.5", "--report-checkpoints=1", "--report=json:d",
                         "--report=openmetrics", "--pauses=" + pauses, "run", cwd=tmp_path)
        assert done.status == 0, done.err
        document = json.loads((tmp_path / "d").read_text())
        metric, counts, histogram = lags(document)
        again = bench.run("report", "d", "--format=json", cwd=tmp_path)
        assert json.loads(again.out) == document
        if pauses == "off":
            assert not metric and not any(counts) and not histogram
            assert "wakeup_lag" not in done.out
        else:
            # A record before the first pause has it too, with no value.
            assert metric == 1 and all(len(c) == 1 for c in counts) and counts[-1][0] > 0 and histogram
            assert 'timing="wakeup_lag",quantile' in done.out


def test_without_pauses_there_is_no_lag(tmp_path):
    got = total(tmp_path, EMPTY, "--think-time=0")
    assert got["lag_p50_s"] is None and got["events"] > 40


def test_a_lag_can_be_asserted(tmp_path):
    (tmp_path / "think.lua").write_text(EMPTY)
    """A test that cannot pause refuses it; a script could, and the assertion fails if it did not."""
    asserted = ["--time=0.1", "--assert=lag_max_s<100s"]
    done = bench.run("cpu", *asserted, "run", cwd=tmp_path)
    assert done.status == 1
    assert "lag_max_s is only measured with --rate, --think-time or a script that pauses" in done.err
    for script, options, status in ((EMPTY, [], 3), (EMPTY, ["--think-time=1ms"], 0), (SHORT, [], 0)):
        (tmp_path / "think.lua").write_text(script)
        done = bench.run("think.lua", *asserted, *options, "run", cwd=tmp_path)
        assert done.status == status


def test_the_end_of_the_time_ends_a_pause(tmp_path):
    got = total(tmp_path, EMPTY, "--think-time=1h")
    assert got["events"] == 2 and got["span_s"] == pytest.approx(1, abs=0.001)


def test_a_rate_does_not_wait_for_pauses(tmp_path):
    (tmp_path / "think.lua").write_text(OWN)
    done = bench.run("think.lua", "--rate=10", "--think-time=1s", "run", cwd=tmp_path)
    assert done.status == 1
    assert done.err == ("--think-time=1s: cannot be used with --rate: events that are due at a rate do not wait for "
                        "threads that pause\n")
    done = bench.run("think.lua", "--rate=10", "--time=1", "run", cwd=tmp_path)
    assert done.status == 1
    assert "sysbench.think: cannot be used with --rate" in done.err


@pytest.mark.parametrize("value", ["-1", "'1'", "0/0", "86401", ""])
def test_a_bad_pause_is_an_error_of_the_script(tmp_path, value):
    (tmp_path / "think.lua").write_text(f"function event() sysbench.think({value}) end\n")
    done = bench.run("think.lua", "--events=1", "run", cwd=tmp_path)
    assert done.status == 1
    assert "think.lua:1: sysbench.think: not a number of seconds from 0 to 86400" in done.err


# Each terminal keys for 50 ms before its first event too, and then works for 50 ms before the clock starts.
KEYING = """
ffi.cdef("int usleep(unsigned int);")
function thread_init() sysbench.think(0.05) end
function event()
  ffi.C.usleep(50000)
  sysbench.start_event()
end
"""


@pytest.mark.parametrize("workers", ["--workers=0", "--workers=1"])
def test_an_event_may_start_after_a_pause_and_work_of_its_own(tmp_path, workers):
    """No event fits into the time before the first start, and no latency has the work in it."""
    got = total(tmp_path, KEYING, "--time=0.04", workers)
    assert got["events"] == 0
    got = total(tmp_path, KEYING, "--time=0", "--events=4", workers)
    assert got["events"] == 4 and got["min_s"] < 0.05 and got["span_s"] >= 0.15


def test_requests_in_flight_do_not_wait_for_pauses(tmp_path):
    bench.run("fileio", "--file-num=1", "--file-total-size=1M", "prepare", cwd=tmp_path)
    options = ["--file-num=1", "--file-total-size=1M", "--file-test-mode=rndrd", "--file-io-mode=async",
               "--think-time=1ms", "--time=0.2"]
    done = bench.run("fileio", *options, "run", cwd=tmp_path)
    assert done.status == 1
    assert "--think-time cannot be used with --file-async-backlog=128" in done.err
    assert bench.run("fileio", *options, "--file-async-backlog=1", "run", cwd=tmp_path).status == 0


def test_dialects_have_no_function_for_it(tmp_path):
    (tmp_path / "think.lua").write_text("function event() print(sysbench.think) end\n")
    done = bench.run("think.lua", "--events=1", "run", dialect="1.0", cwd=tmp_path)
    assert "nil" in done.out


LEFT = """
function event()
  print("left", sysbench.time_left())
end
"""


def test_a_script_knows_the_time_left(tmp_path):
    """As of the last event: it falls from --time on, is more in the warm-up, and infinite without a limit."""
    (tmp_path / "left.lua").write_text(LEFT)

    def lefts(*options):
        done = bench.run("left.lua", "--events=50", *options, "run", cwd=tmp_path)
        return [float(line.split()[1]) for line in done.out.split("\n") if line.startswith("left")]
    left = lefts("--time=1000")
    assert len(left) == 50 and 990 < left[-1] and left[0] <= 1000
    assert left == sorted(left, reverse=True) and len(set(left)) == 50
    assert lefts("--time=0") == [float("inf")] * 50
    assert 1000 < lefts("--time=1000", "--warmup-time=0.1")[0] <= 1000.1
