# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that lost output is noticed, that lines arrive at once, and that passwords are hidden."""

import os
import signal
import subprocess
import time

import pytest

import bench

LOST = "cannot write to standard output: some of it is lost\n"
CPU = ["cpu", *bench.QUICK, "run"]


def start(*args, **kwargs):
    return subprocess.Popen([bench.binary(), *args], env=bench.environment(), text=True, **kwargs)


def test_full_disk():
    for args in (CPU, ["--help"], ["--version"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            process = start(*args, stdout=full, stderr=subprocess.PIPE)
            err = process.communicate(timeout=30)[1]
        assert LOST in err
        assert process.returncode == 1


def test_closed_standard_output():
    process = start("--version", stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert process.communicate(timeout=30)[1] == LOST
    assert process.returncode == 1


def test_reader_that_went_away():
    process = start(
        "cpu",
        "--time=1",
        "--report-interval=0.2",
        "run",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == 1
    assert LOST in err


def test_lines_arrive_at_once_in_a_pipe():
    process = start("cpu", "--time=20", "run", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    for line in process.stdout:
        if line == "Threads started!\n":
            break
    assert time.monotonic() - begun < 10
    process.terminate()
    process.stdout.read()
    process.stdout.close()
    assert process.wait(timeout=30) == 128 + 15


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
    process.communicate("\n", timeout=30)
    assert [arg.rstrip() for arg in seen[2:5]] == [
        b"--mysql-password=xxxx",
        b"--pgsql_password=xxxx",
        b"--password",
    ]
    # Scripts see what was typed.
    assert line == "--mysql-password=topsecret\n"


@pytest.mark.parametrize(
    "script", ["print('here') while true do end", "os.execute('true') print('here') io.read()"]
)
def test_signal_before_there_is_a_run(script, tmp_path):
    """Nothing has been measured yet: the program just ends."""
    (tmp_path / "s.lua").write_text(script + "\n")
    process = start("s.lua", cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in process.stdout:
        if line == "here\n":
            break
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == -signal.SIGINT
    process.communicate()
