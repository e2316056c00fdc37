# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that lost output is noticed, that lines arrive at once, and that passwords are hidden."""

import fcntl
import os
import re
import signal
import subprocess
import termios
import time

import pytest

import bench
from gate import first, slow

LOST = "cannot write to standard output: part of the output is lost\n"
CPU = ["cpu", *bench.QUICK, "run"]


def start(*args, **kwargs):
    return subprocess.Popen([bench.binary(), *args], env=bench.environment(), text=True, **kwargs)


@pytest.mark.sanitized
def test_full_disk():
    for args in (CPU, ["--help"], ["--version"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            process = start(*args, stdout=full, stderr=subprocess.PIPE)
            err = process.communicate(timeout=bench.TIMEOUT_S)[1]
        assert LOST in err
        assert process.returncode == 1


def test_closed_standard_output():
    process = start("--version", stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert process.communicate(timeout=bench.TIMEOUT_S)[1] == LOST
    assert process.returncode == 1


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=lambda fds: "".join(map(str, fds)))
def test_no_file_gets_the_number_of_a_closed_stream(closed, tmp_path):
    """The report would stand in a file of data, and what a script reads would come from one."""
    options = ["fileio", "--file-num=2", "--file-total-size=32K", "--file-test-mode=rndrd", "--file-io-mode=sync"]
    assert bench.run(*options, "prepare", cwd=tmp_path).status == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    start(*options, "--events=3", "--report-interval=0.1", "run", cwd=tmp_path, stdin=subprocess.DEVNULL,
          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
          preexec_fn=lambda: [os.close(fd) for fd in closed]).wait(bench.TIMEOUT_S)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


ENDLESS = ["cpu", "--time=600", "--report-interval=1"]


def leave_after(word, args, **kwargs):
    """What `bench … | grep -m 1 WORD` does: standard error and the status."""
    process = start(*args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
    assert any(word in line for line in process.stdout)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    return err, process.wait(timeout=bench.TIMEOUT_S)


@pytest.mark.parametrize("word,args", [
    ("Threads started!", [*ENDLESS, "run"]),
    slow("Threads started!", [*ENDLESS, "--compat=1.0", "run"]),
    ("Creating file ", ["fileio", "--file-num=100000", "--file-total-size=400M", "prepare"]),
    ("an event", ["late.lua", "--time=600", "run"]),
])
def test_a_reader_that_went_away_ends_the_run_quietly(word, args, tmp_path):
    (tmp_path / "late.lua").write_text("function event() print('an event') end\n")
    assert leave_after(word, args, cwd=tmp_path) == ("", 128 + signal.SIGPIPE)
    assert len(list(tmp_path.iterdir())) < 100000


def test_other_reports_are_written_all_the_same(tmp_path):
    args = [*ENDLESS, "--report=text", "--report=json:r.json", "run"]
    assert leave_after("Threads started!", args, cwd=tmp_path) == ("", 128 + signal.SIGPIPE)
    got = bench.run("report", "r.json", cwd=tmp_path)
    assert "total number of events:" in got.out and got.status == 0


@pytest.mark.parametrize("args", [["--help"], ["--help-man"], ["cpu", "help"]])
def test_what_is_no_run_ends_as_other_programs_do(args):
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*args, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (process.stderr.read(), process.wait(timeout=bench.TIMEOUT_S)) == ("", -signal.SIGPIPE)
    process.stderr.close()


def test_a_reader_that_went_away_where_its_signal_is_ignored():
    ignored = {"restore_signals": False, "preexec_fn": lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)}
    err, status = leave_after("bench ", ["cpu", "--time=0.5", "--report-interval=0.1", "run"], **ignored)
    assert status == 1 and LOST in err


@pytest.mark.sanitized
def test_a_pipe_that_does_not_block_loses_nothing(tmp_path):
    """It takes one page, and is read when it is full."""
    (tmp_path / "s.lua").write_text("for i = 1, 5000 do io.write('line ', i, '\\n') end\n")
    for args in (["--help"], ["s.lua"]):
        reader, writer = os.pipe()
        fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
        os.set_blocking(writer, False)
        process = start(*args, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path)
        os.close(writer)
        held = bytearray(4)
        until = time.monotonic() + bench.TIMEOUT_S
        while int.from_bytes(held, "little") < 4000 and time.monotonic() < until:
            fcntl.ioctl(reader, termios.FIONREAD, held)
            if process.poll() is not None:
                break
        with open(reader, encoding="utf-8") as text:
            assert text.read() == bench.run(*args, cwd=tmp_path).out
        assert process.communicate(timeout=bench.TIMEOUT_S)[1] == "" and process.returncode == 0


def test_lines_arrive_at_once_in_a_pipe():
    process = start("cpu", "--time=200", "run", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in process.stdout:
        if line == "Threads started!\n":
            break
    process.terminate()  # not at the end yet, as its status says
    process.stdout.read()
    process.stdout.close()
    assert process.wait(timeout=bench.TIMEOUT_S) == 128 + 15


def test_report_to_a_file(tmp_path):
    got = bench.run(*CPU[:-1], "--report=text:out.txt", "run", cwd=tmp_path)
    assert (got.err, got.status) == ("", 0)
    text = (tmp_path / "out.txt").read_text()
    assert "Running the test with following options:" in text
    assert "total number of events:              1\n" in text
    assert "total number of events" not in got.out


def test_a_dash_is_standard_output(tmp_path):
    for report in ("text", "json"):
        got = bench.run(*CPU[:-1], f"--report={report}:-", "run", cwd=tmp_path)
        assert (got.err, got.status, list(tmp_path.iterdir())) == ("", 0, [])
        assert ("total number of events:              1\n" in got.out) == (report == "text")
        assert ('"format": "bench result"' in got.out) == (report == "json")


def test_report_files_that_fail(tmp_path):
    got = bench.run(*CPU[:-1], "--report=text:no/out.txt", "run", cwd=tmp_path)
    assert got == ("", "cannot write the report to 'no/out.txt': No such file or directory\n", 1)
    got = bench.run(*CPU[:-1], "--report=text:/dev/full", "run", cwd=tmp_path)
    assert got.status == 1
    assert "No space left on device\n" in got.err


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_report_is_not_written_through_a_link(kind, tmp_path):
    other = tmp_path / "other"
    other.write_text("kept")
    if kind == "hard":
        (tmp_path / "report").hardlink_to(other)
    else:
        (tmp_path / "report").symlink_to("other")
    got = bench.run(*CPU[:-1], "--report=text:report", "run", cwd=tmp_path)
    assert (got.out, got.status) == ("", 1)
    target = "name another file" if kind == "hard" else "name its target"
    assert got.err.startswith(f"cannot write the report to 'report': it is a {kind} link, which could lead to "
                              f"a file of another user; remove it, or {target}\n")
    assert other.read_text() == "kept"


def test_a_report_goes_where_standard_output_stands(tmp_path):
    """It is a file here, which is not emptied."""
    with open(tmp_path / "out", "w") as out:
        out.write("before\n")
        out.flush()
        subprocess.run([bench.binary(), *CPU[:-1], "--report=text:/dev/stdout", "run"], env=bench.environment(),
                       check=True, stdout=out, timeout=bench.TIMEOUT_S)
    text = (tmp_path / "out").read_text()
    assert text.startswith("before\n") and "total number of events:              1\n" in text


def test_passwords_are_not_in_the_process_list(tmp_path):
    (tmp_path / "s.lua").write_text(
        "print(sysbench.cmdline.argv[2]); io.stdout:flush(); io.read()\n"
    )
    process = start(
        "s.lua",
        "--mysql-password=topsecret",
        "--pgsql_password=hidden",
        "--password",
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for line in process.stdout:
        if line.startswith("--"):
            break
    with open(f"/proc/{process.pid}/cmdline", "rb") as cmdline:
        seen = cmdline.read().split(b"\0")
    process.communicate("\n", timeout=bench.TIMEOUT_S)
    assert [arg.rstrip() for arg in seen[2:5]] == [
        b"--mysql-password=xxxx",
        b"--pgsql_password=xxxx",
        b"--password",
    ]
    # Scripts see what was typed.
    assert line == "--mysql-password=topsecret\n"


FINALIZER = (
    "local h = newproxy(true) getmetatable(h).__gc = function()"
    " io.write('here\\n') io.flush() while true do end end keep = h"
    " sysbench.cmdline.commands = {noop = {function() end}}"
)


@pytest.mark.parametrize(
    "script, args",
    [
        ("print('here') while true do end", ()),
        ("os.execute('true') print('here') io.read()", ()),
        ("function help() print('here') while true do end end", ("help",)),
        (FINALIZER, ("noop",)),
    ],
    ids=["top level", "child", "help", "finalizer"],
)
def test_signal_without_a_run(script, args, tmp_path):
    """Nothing is measured yet, or any more: the program just ends."""
    (tmp_path / "s.lua").write_text(script + "\n")
    process = start("s.lua", *args, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in process.stdout:
        if line == "here\n":
            break
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=bench.TIMEOUT_S) == -signal.SIGINT
    process.communicate()


SMALL_FILE = ("fileio", "--file-num=1", "--file-total-size=64K", "--file-test-mode=rndrd",
              "--events=1")


def assert_note_is_at_the_end(text):
    assert "Doing random read test" in text and text.count("test files") == 1
    assert re.search(r"\n\nWarnings:\n    the test files [^\n]*\n\n\Z", text)


def test_notes_do_not_come_between_the_lines_of_a_report(tmp_path):
    """They would where both streams are one pipe or file: there they stand at its end, as in every
    text and document.  Errors go there all the same."""
    assert bench.run(*SMALL_FILE, "prepare", cwd=tmp_path).status == 0
    apart = bench.run(*SMALL_FILE, "--report=text", "--report=json:json", "run", cwd=tmp_path)
    assert_note_is_at_the_end(apart.out)
    assert "the test files" in (tmp_path / "json").read_text()
    assert bench.run("report", "json", cwd=tmp_path).out == apart.out.split("\n", 2)[2]
    assert "test files" in apart.err and apart.err.count("\n") == 1

    def merged(*args, **streams):
        subprocess.run([bench.binary(), *args], cwd=tmp_path, env=bench.environment(),
                       stderr=subprocess.STDOUT, timeout=bench.TIMEOUT_S, check=False, **streams)

    with open(tmp_path / "both", "w+") as both:
        merged(*SMALL_FILE, "run", stdout=both)
        both.seek(0)
        text = both.read()
    assert_note_is_at_the_end(text)
    read, write = os.pipe()
    merged(*SMALL_FILE, "run", stdout=write)
    merged("cpu", "--threads=0", "run", stdout=write)
    os.close(write)
    with open(read) as pipe:
        text = pipe.read()
    report, _, _ = text.partition("--threads=0")
    # The second run may have begun with its banner.
    assert_note_is_at_the_end(re.sub(r"bench [^\n]*\n\n\Z", "", report))
    assert text.endswith("--threads=0: out of range; allowed: 1 to 1000000\n")


@pytest.mark.parametrize("dialect", [slow("1.1"), slow("1.0"), "0.5"])
def test_dialects_add_nothing_on_standard_error(dialect, tmp_path):
    """Not what our own form says besides, of results, of failures and of signals."""
    test = "--test=" if dialect == "0.5" else ""
    prefix = (f"{test}fileio", *SMALL_FILE[1:-1], "--max-requests=1")
    assert bench.run(*prefix, "prepare", dialect=dialect, cwd=tmp_path).status == 0
    (tmp_path / "fails.lua").write_text("function event() error({1}) end\n")
    (tmp_path / "ends.lua").write_text(
        "function event() if not sent then sent = os.execute('kill -INT $PPID') end end\n")
    for args in (prefix, (f"{test}memory", "--memory-total-size=1M", "--max-requests=1"),
                 (f"{test}fails.lua",), (f"{test}ends.lua",)):
        got = bench.run(*args, "run", dialect=dialect, cwd=tmp_path)
        lines = [line for line in got.err.splitlines() if "deprecated" not in line]
        assert lines == [], args
        assert "General statistics:" in got.out or "Throughput:" in got.out


PRINTS = """
print("top", 1)
io.stdout:write("top level\\n")
sysbench.hooks.report_intermediate = sysbench.report_json
function thread_init() print("init") end
function event() io.write("event\\n") ffi.C.usleep(%d) end
function done() print("done") end
ffi.cdef("int usleep(unsigned int);")
"""


@pytest.mark.parametrize("form", first(["json", "csv", "markdown"]))
def test_a_script_prints_beside_a_document(form, tmp_path):
    """Its lines, and the reports of its hooks, are all there, on standard error."""
    (tmp_path / "s.lua").write_text(PRINTS % 150000)
    done = bench.run("s.lua", "--events=2", "--report-interval=0.1", f"--report={form}", "run", cwd=tmp_path)
    assert done.status == 0
    for line in ("top\t1", "top level", "init", "event", "done", '    "time":', "]"):
        assert f"\n{line}" in "\n" + done.err, line
    begins = {"json": "{\n", "csv": "time,", "markdown": "|"}[form]
    assert done.out.startswith(begins) and "event\n" not in done.out


@pytest.mark.parametrize("dialect,args", [("own", ["--report=text", "run"]), ("own", ["--report=json", "prepare"]),
                                          ("own", ["--report=json:r", "run"]), ("1.0", ["--report=json", "run"])])
def test_a_script_prints_where_it_always_did(dialect, args, tmp_path):
    """Beside a text report, in other commands, and in a dialect."""
    (tmp_path / "s.lua").write_text("function prepare() print('mine') end\nfunction event() print('mine') end\n")
    done = bench.run("s.lua", "--events=1", *args, dialect=dialect, cwd=tmp_path)
    assert done.status == 0 and "mine\n" in done.out and "mine" not in done.err


REPORTED = ("text", "json", "csv", "jsonl", "csv-total", "markdown", "hdr", "openmetrics")
FAILED_STARTS = {"init": "function init() error('no') end", "thread_init": "function thread_init() error('no') end",
                 "top": "error('no')"}


@pytest.mark.parametrize("place", FAILED_STARTS)
def test_a_failed_start_leaves_all_files_old_or_none(place, tmp_path):
    (tmp_path / "s.lua").write_text(FAILED_STARTS[place] + "\nfunction event() end\n")
    names = [form for form in REPORTED if form != "csv-total"]
    for name in names:
        (tmp_path / name).write_text("old\n")
    reports = [f"--report={form}:{form}" for form in REPORTED]
    done = bench.run("s.lua", "--events=1", "--report-interval=1", *reports, "run", cwd=tmp_path)
    assert done.status == 1
    old = {name for name in names if (tmp_path / name).read_text() == "old\n"}
    assert old == (set() if place == "thread_init" else set(names))
    rows = (tmp_path / "csv-total").read_text() if (tmp_path / "csv-total").exists() else ""
    assert rows.count("\n") == (2 if place == "thread_init" else 0)
