# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that a result that cannot be written is printed instead, which is said, with status 1; and
that a reader that leaves at the end of a run costs no more words than one that leaves before it."""

import json
import os
import resource
import signal
import subprocess
import time

import pytest

import bench
from fleet import BENCH, Fleet
from gate import first

RUN = ["cpu", "--events=3", "--cpu-max-prime=3", "--report-interval=1"]
OUTPUT = "the text report goes to standard output instead\n"
ERROR = "the text report goes to standard error instead\n"
FORMS = ["json", "csv-total", "markdown", "openmetrics", "hdr", "csv", "jsonl", "text"]
EVENTS = "    total number of events:              3\n"


def small_files():
    """Every file is as small as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9))


@pytest.mark.parametrize("form", first(FORMS, 3))
def test_a_lost_report_is_printed(form):
    report = f"--report={form}:/dev/full"
    done = bench.run(*RUN, "--threads=2", report, "run")
    # A run of no length has no interval to write in the form of JSON lines.
    if form == "jsonl":
        assert (done.err, done.status) == ("", 0)
        return
    assert done.status == 1
    assert EVENTS in done.out and "Number of threads: 2\n" in done.out
    assert "No space left on device\n" in done.err and done.err.endswith(OUTPUT)


def test_it_has_what_the_report_would_have(tmp_path):
    """The histogram, the script's lines, and the warnings, at any verbosity."""
    (tmp_path / "s.lua").write_text("""
        sysbench.hooks.add_to_cumulative = function() return "added\\n" end
        function event() end""")
    done = bench.run("s.lua", "--events=3", "--histogram", "--verbosity=0", "--report=json:/dev/full", "run",
                     cwd=tmp_path)
    assert done.status == 1 and done.err.endswith(OUTPUT)
    assert EVENTS in done.out and "Latency histogram" in done.out and "\nadded\n" in done.out


def test_a_full_disk_leaves_the_journal_too(tmp_path):
    done = bench.run(*RUN, "--report=json:r.json", "run", cwd=tmp_path, preexec_fn=small_files)
    assert done.status == 1 and EVENTS in done.out and done.err.endswith(OUTPUT)


@pytest.mark.parametrize("reports", [["--report=text"], ["--report=json"],
                                     ["--report=markdown", "--report=json:r.json"]])
def test_standard_error_gets_it_if_standard_output_failed(reports, tmp_path):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([bench.binary(), *RUN, *reports, "run"], env=bench.environment(), stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert ERROR in done.stderr and EVENTS in done.stderr


def test_another_document_is_not_spoilt(tmp_path):
    done = bench.run(*RUN, "--report=json", "--report=csv-total:/dev/full", "run", cwd=tmp_path)
    assert json.loads(done.out)["groups"][0]["total"]["figures"]["events"] == 3
    assert done.status == 1 and ERROR in done.err and EVENTS in done.err


@pytest.mark.parametrize("text", ["--report=text", "--report=text:t"])
def test_a_text_report_that_was_written_is_enough(text, tmp_path):
    done = bench.run(*RUN, text, "--report=json:/dev/full", "run", cwd=tmp_path)
    assert (done.err, done.status) == ("cannot write the result to '/dev/full': No space left on device\n", 1)


@pytest.mark.parametrize("dialect", ["1.1", "1.0"])
def test_a_dialect_prints_what_sysbench_prints(dialect):
    done = bench.run(*RUN, "--report=json:/dev/full", "run", dialect=dialect)
    assert done.status == 1 and OUTPUT not in done.err and EVENTS not in done.out


def test_the_result_of_several_hosts(tmp_path):
    fleet = Fleet(tmp_path)
    done = bench.run(*RUN, "--hosts=a,b", "--threads=2", f"--hosts-shell={fleet.shell}", f"--hosts-program={BENCH}",
                     "--report=json:/dev/full", "run", cwd=tmp_path)
    assert done.status == 1 and EVENTS in done.out and OUTPUT in done.err
    assert done.out.count("total number of events") == 1


@pytest.mark.parametrize("form", first(FORMS[:-1], 3))
def test_a_reader_that_leaves_at_the_end(form):
    """The first write of these forms is the last moment of the run."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as out:
        done = subprocess.run([bench.binary(), *RUN[:3], "--report-interval=9", f"--report={form}", "run"],
                              env=bench.environment(), stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    wrote = form != "jsonl"
    assert (done.stderr, done.returncode) == ("", (128 + signal.SIGPIPE) * wrote)


@pytest.mark.parametrize("form", first(["json", "csv-total", "markdown", "openmetrics"]))
@pytest.mark.parametrize("hosts", first([[], ["--hosts=a,b", "--threads=2"]]))
def test_a_signal_ends_the_wait_for_the_reader_of_a_fifo(form, hosts, tmp_path):
    fleet = Fleet(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    shell = (f"--hosts-shell={fleet.shell}", f"--hosts-program={BENCH}") if hosts else ()
    with subprocess.Popen([bench.binary(), *RUN, *hosts, *shell, f"--report={form}:fifo", "run"], cwd=tmp_path,
                          env=bench.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()  # the banner: signals are received soon, or end the process
        process.stdout.readline()
        time.sleep(4 if hosts else 1)  # a run that has not begun has no result
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode in (1, 128 + signal.SIGTERM)
    assert "no program reads this FIFO; start its reader first\n" in err and OUTPUT in err
    assert EVENTS in out


@pytest.mark.parametrize("command", ["run", "prepare", "cleanup"])
def test_a_signal_ends_the_wait_for_the_reader_of_a_trace(command, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen([bench.binary(), "oltp_read_only", "--db-driver=null", "--table-size=10", "--sql-trace=fifo",
                           command], cwd=tmp_path, env=bench.environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Terminated received" in err


def test_a_trace_goes_to_the_reader_of_a_fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    done = bench.run("oltp_read_only", "--db-driver=null", "--events=1", "--sql-trace=fifo", "run", cwd=tmp_path)
    lines = os.read(reader, 65536).splitlines()
    os.close(reader)
    assert done.status == 0 and b"[s0] COMMIT" in lines


@pytest.mark.parametrize("form", ["csv-total", "json", "csv"])
def test_a_folder_is_refused_before_the_run(form, tmp_path):
    done = bench.run(*RUN, f"--report={form}:.", "run", cwd=tmp_path)
    assert done.status == 1 and EVENTS not in done.out
    assert "folder" in done.err or "Is a directory" in done.err
