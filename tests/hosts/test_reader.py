# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of standard output that stops holds up what is printed, and nothing else."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import termios
import time

import pytest
from fleet import BENCH, TIMEOUT_S

# Half a second of interval reports fills a small pipe.
CHATTY = ("--threads=1", "--report-interval=0.01")
PIPE_BYTES = 4096


def held(stream):
    """The bytes that wait in a pipe."""
    return struct.unpack("i", fcntl.ioctl(stream, termios.FIONREAD, b"\0" * 4))[0]


def begin_unread(fleet, *args, **kwargs):
    fleet.begin("a,b", fleet.steady(), *CHATTY, *args, "run", **kwargs)
    fcntl.fcntl(fleet.process.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    fleet.wait_until(lambda: held(fleet.process.stdout) > PIPE_BYTES - 150, "the pipe is not full")


def test_the_report_waits_for_its_reader(fleet):
    begin_unread(fleet, "--time=2")
    fleet.wait_until(lambda: not fleet.agents(), "the agents have not ended")
    done = fleet.finish()
    assert done.status == 0 and "lost" not in done.err, done.err
    assert len(done.out) > PIPE_BYTES
    times = [float(t) for t in re.findall(r"^\[ ([\d.]+)s \] thds: 2 ", done.out, re.M)]
    assert max(times) > 1
    assert sum(i["figures"]["events"] for i in done.document["groups"][0]["intervals"]) > 10
    assert re.search(rf"total number of events: +{done.total['events']}\b", done.out)
    assert fleet.left() == []


def test_a_reader_that_has_left_ends_the_run(fleet):
    """Without a word; the reports that go elsewhere are complete."""
    fleet.begin("a,b", fleet.steady(), *CHATTY, "--time=600", "run")
    fleet.wait_for_line("s ] thds: 2")
    fleet.process.stdout.close()
    done = fleet.finish()
    assert (done.status, done.err) == (128 + signal.SIGPIPE, "")
    assert done.document["end"]["signo"] == signal.SIGPIPE
    assert done.total["events"] == sum(done.member(h)["total"]["figures"]["events"] for h in "ab") > 0
    assert fleet.left() == []


# ThreadSanitizer flushes standard output when a process leaves, which waits for its reader.
if os.environ.get("BENCH_SANITIZER") != "tsan":
    @pytest.mark.parametrize("one", [False, pytest.param(True, marks=pytest.mark.slow)])
    def test_a_second_signal_ends_it(fleet, one):
        """One signal ends the run, and the report waits.  one: both streams go into the pipe that is not read."""
        begin_unread(fleet, "--time=60", "--assert=events<1", one=one)
        fleet.process.send_signal(signal.SIGINT)
        if not one:
            assert "finishing" in fleet.process.stderr.readline()
        fleet.wait_until(lambda: not fleet.agents(), "the agents have not ended")
        time.sleep(0.3)  # two signals at once are one
        assert fleet.process.poll() is None
        fleet.process.send_signal(signal.SIGINT)
        assert fleet.process.wait(TIMEOUT_S) == 130
        done = fleet.finish()
        hint = "'document.json' is not complete; print what was measured with: bench report 'document.json."
        assert one or hint in done.err
        journal = next(fleet.folder.glob("document.json.*"))
        report = subprocess.run([BENCH, "report", journal], capture_output=True, text=True, check=False)
        assert report.returncode == 0 and "s ] thds: 2 " in report.stdout, report
        assert fleet.left() == []
