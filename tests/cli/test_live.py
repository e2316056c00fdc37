# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows the line that a person at a terminal sees during a run and during prepare, when there is none, and
what --quiet leaves."""

import json
import os
import re
import signal
import subprocess
import tempfile

import pytest

import bench
from gate import slow

CPU = ["cpu", "--cpu-max-prime=500"]
LINE = re.compile(r"^\d+ s, \d+ s left: \d+ events/s, p95 \d+\.\d+ ms$")
TOLD = "interrupt received: finishing; send it again to end at once\n"
# Of a run that is interrupted when it has shown a line; then nothing depends on when that was.
SEEN = (" left: ", lambda child: child.send_signal(signal.SIGINT))


def on_terminal(*args, dialect="own", cwd=None, once=None, **env):
    """Standard error is a terminal, standard output is not: (out, err, status).

    once: a text, and what is done to the program when it has shown that."""
    ours, theirs = os.openpty()
    printed = tempfile.TemporaryFile("w+")
    child = subprocess.Popen([bench.binary(), *args], stdin=subprocess.DEVNULL, stdout=printed,
                             stderr=theirs, env=bench.environment(dialect, **env), cwd=cwd)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
        if once is not None and once[0].encode() in seen:
            once[1](child)
            once = None
    os.close(ours)
    status = child.wait(timeout=bench.TIMEOUT_S)
    printed.seek(0)
    err = seen.decode().replace("\r\n", "\n")
    # It may come while the line is being written.
    return printed.read(), err.replace(TOLD, "", 1), status


def lines_of(err):
    """What stood in the line, one after the other; it is cleared in the end."""
    parts = err.split("\r\x1b[K")
    return parts[:-1], parts[-1]


def test_a_person_at_a_terminal_sees_how_a_run_goes():
    out, err, status = on_terminal(*CPU, "--time=600", "run", once=SEEN, NO_COLOR="1")
    lines, rest = lines_of(err)
    assert (status, rest) == (130, "")
    assert LINE.match(lines[0]), lines
    assert "events per second" in out and "left" not in out
    assert "\x1b[" not in "".join(lines)


def test_the_line_has_what_the_run_has():
    _, err, _ = on_terminal("oltp_point_select", "--db-driver=null", "--events=1500000000000", "--time=600",
                            "--percentile=50,99.9", "--report-checkpoints=1", "run", once=SEEN)
    lines, _ = lines_of(err)
    assert re.match(r"^\d+ s, \d+ s left: \d+ events/s, p99.9 \d+\.\d+ ms, 0 errors$", lines[0])
    _, err, _ = on_terminal(*CPU, "--events=1000000000", "--forced-shutdown=off", "--percentile=0",
                            "--rate=4000000", "--time=600", "--rate-max-backlog=0", "run", once=SEEN)
    lines, _ = lines_of(err)
    assert re.match(r"^\d+ s, \d+ s left: \d+ events/s, \d+ waiting$", lines[0]), lines


def test_a_document_on_standard_output_stands_alone():
    """The line on the terminal is no report that a person would read there."""
    out, err, status = on_terminal(*CPU, "--time=600", "--report=json", "run", once=SEEN)
    assert status == 130 and json.loads(out)["end"]["status"] == 130
    assert re.match(r"\d+ s, ", lines_of(err)[0][0])
    done = bench.run(*CPU, "--time=0.3", "--report-interval=0.1", "--report=csv", "--metrics-listen=0", "run")
    assert done.out.startswith("time,at_s,") and done.status == 0


@pytest.mark.parametrize("options, dialect", [
    (["--report-interval=1"], "own"), (["--quiet"], "own"), slow(["--verbosity=2"], "own"), ([], "1.1"),
    slow([], "1.0"),
])
def test_there_is_no_line(options, dialect):
    _, err, status = on_terminal(*CPU, "--time=2", *options, "run", dialect=dialect)
    assert (err, status) == ("", 0)


def test_there_is_no_line_without_a_terminal():
    done = bench.run(*CPU, "--time=1.2", "run")
    assert (done.err, done.status) == ("", 0) and "left" not in done.out


@pytest.mark.sanitized
def test_a_message_clears_the_line(tmp_path):
    (tmp_path / "own.lua").write_text("""
        local ffi = require("ffi")
        ffi.cdef("int usleep(unsigned); int access(const char *, int);")
        function event() while ffi.C.access("go", 0) ~= 0 do ffi.C.usleep(10000) end error("out of luck") end""")
    _, err, status = on_terminal("./own.lua", "--time=600", "run", cwd=tmp_path,
                                 once=(" left: ", lambda _: (tmp_path / "go").touch()))
    assert status == 1
    lines, rest = lines_of(err)
    assert re.match(r"\d+ s, \d+ s left: 0 events/s", lines[0]) and "out of luck" in rest
    assert not any("luck" in line for line in lines)


def test_prepare_shows_the_share_of_all_rows(tmp_path):
    out, err, status = on_terminal("oltp_insert", "--db-driver=sqlite", "--tables=2", "--table-size=12000", "prepare",
                                   cwd=tmp_path)
    assert status == 0 and "Inserting 12000 records into 'sbtest2'" in out
    lines, rest = lines_of(err)
    shown = [re.sub(r"(?<=done, )\d+ s$", "0 s", re.sub(r"\d+ s left", "N s left", line)) for line in lines]
    # A slow machine takes more than a second for an index.
    shown = [line for i, line in enumerate(shown) if i == 0 or line != shown[i - 1]]
    assert rest == "" and shown == ["'sbtest1': 41 % of 24000 rows, N s left", "'sbtest1': 50 % of 24000 rows, N s left",
                                    "creating indexes: 0 of 2 done, 0 s",
                                    "'sbtest2': 91 % of 24000 rows, N s left", "'sbtest2': 100 % of 24000 rows, N s left",
                                    "creating indexes: 1 of 2 done, 0 s"]


SLOW_INDEXES = """
ffi.cdef("int usleep(unsigned int);")
local function pause() for i = 1, 45 do ffi.C.usleep(100000) end end
local function make()
  sysbench.cmdline.indexing(3, false)
  pause()
  sysbench.cmdline.indexing(3, true)
end
sysbench.cmdline.commands = {make = {make, sysbench.cmdline.PARALLEL_COMMAND}}
"""


@pytest.mark.slow
def test_the_time_of_indexes_goes_on(tmp_path):
    """Also in a thread that waits for its server.  Lines come at whole seconds of the command, so
    those of indexes may stand just before one of their own."""
    (tmp_path / "slow.lua").write_text(SLOW_INDEXES)
    out, err, status = on_terminal("./slow.lua", "--threads=2", "make", cwd=tmp_path)
    assert status == 0
    lines, rest = lines_of(err)
    assert rest == ""
    counts = [int(re.fullmatch(r"creating indexes: [0-2] of 3 done, (\d+) s", line)[1]) for line in lines]
    assert counts[0] == 0 and counts == sorted(counts) and max(counts) >= 2


def test_quiet_leaves_reports_output_of_scripts_and_errors(tmp_path):
    loud = bench.run(*CPU, "--events=3", "run")
    quiet = bench.run(*CPU, "--events=3", "--quiet", "run")
    assert loud.out.startswith("bench ") and quiet.out.startswith("Started: ") and quiet.status == 0
    assert "total number of events:              3\n" in quiet.out
    for command in ("prepare", "cleanup"):
        done = bench.run("oltp_insert", "--db-driver=sqlite", "--table-size=10", "--quiet", command, cwd=tmp_path)
        assert done == ("", "", 0)
    for command in ("prepare", "cleanup"):
        done = bench.run("oltp_legacy/oltp.lua", "--db-driver=sqlite", "--oltp-table-size=10", "--quiet", command,
                         cwd=tmp_path)
        assert (done.status, done.out, done.err) == (0, "", "")
    done = bench.run("bulk_insert", "--db-driver=sqlite", "--quiet", "prepare", cwd=tmp_path)
    assert done == ("", "", 0)
    (tmp_path / "own.lua").write_text('print("own words") function event() error("out of luck") end')
    done = bench.run("./own.lua", "--quiet", "--report=json:json", "run", cwd=tmp_path)
    assert (set(done.out.splitlines()), done.status) == ({"own words"}, 1) and "out of luck" in done.err
    done = bench.run("./gone.lua", "--quiet", "run", cwd=tmp_path)
    assert done.status == 1 and "gone.lua" in done.err
