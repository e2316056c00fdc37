# SPDX-License-Identifier: GPL-2.0-or-later
"""A signal ends a run in order: the report comes, the exit status names the signal, a second one does not wait."""
import contextlib
import fcntl
import os
import pty
import re
import shlex
import signal
import subprocess
import termios
import time

import pytest

from bench import TIMEOUT_S
from gate import slow

BENCH = os.environ.get("BENCH", "bench")

# Signals of one number and sender that are closer together are one; more time only parts them better.
PART_S = 0.3

# An event says that it has begun and ends when the file "go" is there.
SLEEPY = """
ffi.cdef("int usleep(unsigned int); int access(const char *, int);")
function event()
  io.write("begun\\n") io.flush()
  while ffi.C.access("go", 0) ~= 0 do ffi.C.usleep(1000) end
end
"""


def start(args, cwd, **env):
    return subprocess.Popen([BENCH] + args, cwd=cwd, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=dict(os.environ, **env))


def wait_for_line(process, word, stream="stdout"):
    """Reads the stream up to the line that contains word and returns what was read."""
    seen = []
    for line in getattr(process, stream):
        seen.append(line)
        if word in line:
            return "".join(seen)
    raise AssertionError("no line with %r in: %s" % (word, "".join(seen)))


def await_true(condition):
    until = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def await_taken(process, signo):
    """Until the program has fetched the signal: the kernel merges those of a number that nobody has fetched yet."""
    def taken():
        with open(f"/proc/{process.pid}/status") as status:
            return not int(re.search(r"^ShdPnd:\s+(\w+)$", status.read(), re.M)[1], 16) >> signo - 1 & 1

    await_true(taken)


def bytes_in(pipe):
    held = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(held, "little")


def finish(process, seen):
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return seen + out, err, process.returncode


def events_of(out):
    return int(re.search(r"total number of events: +(\d+)", out).group(1))


@pytest.mark.threads
@pytest.mark.parametrize("signo,status", [(signal.SIGINT, 130), (signal.SIGTERM, 143),
                                          (signal.SIGHUP, 129)])
def test_report_and_status(tmp_path, signo, status):
    process = start(["cpu", "--cpu-max-prime=2000", "--threads=2", "--time=600",
                     "--report-interval=0.2", "run"], tmp_path)
    seen = wait_for_line(process, "s ] thds: ")
    process.send_signal(signo)
    out, err, code = finish(process, seen)
    assert code == status
    assert events_of(out) > 0
    assert "Threads fairness:" in out
    assert "finishing" in err
    elapsed = float(re.search(r"time elapsed: +([\d.]+)s", out).group(1))
    assert 0.2 <= elapsed < 600


@pytest.mark.sanitized
def test_in_the_warm_up(tmp_path):
    """Its events are reported, and said not to be the measurement's."""
    (tmp_path / "telling.lua").write_text("function event() print('begun') event = function() end end")
    process = start(["telling.lua", "--warmup-time=600", "--time=1", "run"], tmp_path)
    seen = wait_for_line(process, "begun")
    process.send_signal(signal.SIGINT)
    out, err, code = finish(process, seen)
    assert code == 130 and "total number of events:" in out
    assert sorted(err.splitlines()) == [
        "interrupt received: finishing; send it again to end at once",
        "the warm-up was not over: nothing has been measured yet, and the report covers the warm-up"]


def test_running_event_is_finished(tmp_path):
    (tmp_path / "sleepy.lua").write_text(SLEEPY)
    process = start(["sleepy.lua", "--time=600", "run"], tmp_path)
    seen = wait_for_line(process, "begun")
    process.send_signal(signal.SIGINT)
    wait_for_line(process, "finishing", "stderr")
    (tmp_path / "go").touch()
    out, _, code = finish(process, seen)
    assert code == 130
    assert events_of(out) == 1
    assert "unfinished" not in out


def full_pipe():
    """(read end, write end) of a pipe that takes nothing more."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"." * 4096)
    os.set_blocking(writer, True)
    return reader, writer


def start_unread(args, cwd):
    """(process, read end of its standard error), with standard error full."""
    reader, writer = full_pipe()
    process = subprocess.Popen([BENCH] + args, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=writer)
    os.close(writer)
    return process, reader


@pytest.mark.slow
def test_standard_error_that_nobody_reads_delays_no_signal(tmp_path):
    process, reader = start_unread(["cpu", "--cpu-max-prime=2000", "--time=600", "--report-interval=1",
                                    "run"], tmp_path)
    seen = wait_for_line(process, "s ] thds: ")
    process.send_signal(signal.SIGINT)
    out, _, code = finish(process, seen)
    os.close(reader)
    assert code == 130
    assert events_of(out) > 0


@pytest.mark.parametrize("signals", (slow(2), 3))
def test_standard_error_that_nobody_reads_does_not_keep_the_process(tmp_path, signals):
    """An event that hangs: the second signal ends the run without it, and the third does not wait."""
    (tmp_path / "sleepy.lua").write_text(SLEEPY)
    process, reader = start_unread(["sleepy.lua", "--time=600", "run"], tmp_path)
    seen = wait_for_line(process, "begun")
    process.send_signal(signal.SIGTERM)
    # Another one of the same number could be an echo of the first.
    await_taken(process, signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    if signals == 3:
        process.send_signal(signal.SIGHUP)
    _, _, code = finish(process, seen)
    os.close(reader)
    assert code == 143


@pytest.mark.threads
def test_second_signal_does_not_wait(tmp_path):
    (tmp_path / "sleepy.lua").write_text(SLEEPY)
    process = start(["sleepy.lua", "--time=600", "--threads=3", "run"], tmp_path)
    seen = "".join(wait_for_line(process, "begun") for _ in range(3))
    process.send_signal(signal.SIGINT)
    wait_for_line(process, "finishing", "stderr")
    time.sleep(PART_S)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err, code = finish(process, seen)
    assert code == 130
    assert re.search(r"^    unfinished: +3 \(oldest", out, re.M) and "forced" not in out
    assert events_of(out) == 0
    assert "interrupt received: ending at once" in err and "has ended for" not in err


def test_in_thread_init(tmp_path):
    (tmp_path / "slow.lua").write_text(
        'ffi.cdef("int usleep(unsigned int); int access(const char *, int);")\n'
        'function thread_init() print("opening") io.stdout:flush()\n'
        '  while ffi.C.access("go", 0) ~= 0 do ffi.C.usleep(1000) end\n'
        "end\n"
        "function event() end\n")
    process = start(["slow.lua", "--threads=2", "run"], tmp_path)
    seen = wait_for_line(process, "opening")
    process.send_signal(signal.SIGTERM)
    wait_for_line(process, "finishing", "stderr")
    (tmp_path / "go").touch()
    out, _, code = finish(process, seen)
    assert code == 143
    assert "Threads started!" not in out


@pytest.mark.parametrize("method", ["prepare", slow("query"), slow("query_row")])
def test_statements_of_a_start_that_is_ended_say_nothing(tmp_path, method):
    """They fail because of the signal, which has been told."""
    (tmp_path / "slow.lua").write_text(
        'ffi.cdef("int usleep(unsigned int); int access(const char *, int);")\n'
        "function thread_init()\n"
        "  local con = sysbench.sql.driver():connect()\n"
        '  print("opening") io.stdout:flush()\n'
        '  while ffi.C.access("go", 0) ~= 0 do ffi.C.usleep(1000) end\n'
        f'  con:{method}("SELECT 1")\n'
        "end\n"
        "function event() end\n")
    process = start(["slow.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", "--threads=2", "run"], tmp_path)
    seen = "".join(wait_for_line(process, "opening") for _ in range(2))
    process.send_signal(signal.SIGTERM)
    wait_for_line(process, "finishing", "stderr")
    (tmp_path / "go").touch()
    _, err, code = finish(process, seen)
    assert (err, code) == ("", 143)


@pytest.mark.parametrize("threads", [slow(1), 3])
def test_in_prepare(tmp_path, threads):
    db = ["--db-driver=sqlite", "--sqlite-db=%s" % (tmp_path / "t.sqlite"), "--tables=3",
          "--table-size=3000000", "--threads=%d" % threads]
    process = start(["oltp_read_write"] + db + ["prepare"], tmp_path)
    seen = wait_for_line(process, "Inserting")
    process.send_signal(signal.SIGINT)
    _, err, code = finish(process, seen)
    assert code == 130
    assert "'prepare' was ended by a signal" in err
    cleanup = subprocess.run([BENCH, "oltp_read_write"] + db + ["cleanup"], cwd=tmp_path, text=True,
                             capture_output=True, timeout=TIMEOUT_S)
    assert cleanup.returncode == 0, cleanup.stdout + cleanup.stderr


@pytest.mark.threads
@pytest.mark.sanitized
def test_sql_run(tmp_path):
    db = ["--db-driver=sqlite", "--sqlite-db=%s" % (tmp_path / "t.sqlite"), "--table-size=1000",
          "--threads=4", "--sqlite-synchronous=off"]
    subprocess.run([BENCH, "oltp_read_write"] + db + ["prepare"], cwd=tmp_path, check=True,
                   stdout=subprocess.DEVNULL, timeout=TIMEOUT_S)
    process = start(["oltp_read_write"] + db + ["--time=600", "--report-interval=0.2", "run"], tmp_path)
    seen = ""
    while not re.search(r"tps: (?!0\.00)", seen):
        seen += wait_for_line(process, "s ] thds: ")
    process.send_signal(signal.SIGINT)
    out, err, code = finish(process, seen)
    assert code == 130
    assert "FATAL" not in err
    transactions = int(re.search(r"transactions: +(\d+)", out).group(1))
    queries = int(re.search(r"queries: +(\d+)", out).group(1))
    assert transactions > 0 and queries == 20 * transactions


def test_ignored_signals_stay_ignored(tmp_path):
    """As nohup and the shell's background jobs want it."""
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start(["cpu", "--cpu-max-prime=1000", "--time=0.5", "run"], tmp_path)
    finally:
        signal.signal(signal.SIGHUP, old)
    seen = wait_for_line(process, "Threads started!")
    process.send_signal(signal.SIGHUP)
    out, _, code = finish(process, seen)
    assert code == 0
    assert events_of(out) > 0


def test_children_can_be_interrupted(tmp_path):
    """os.execute and io.popen start children that do not inherit our blocked signals."""
    (tmp_path / "child.lua").write_text(
        'os.execute("sh -c \'kill -TERM $$; echo survived\'")\n'
        'local p = io.popen("sh -c \'kill -INT $$; echo survived\'")\n'
        'io.write(p:read("*a")) p:close() print("done")\n')
    done = subprocess.run([BENCH, "child.lua"], cwd=tmp_path, text=True, capture_output=True,
                          timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "survived" not in done.stdout
    assert done.stdout.rstrip().endswith("done")


@pytest.mark.parametrize("script,args,ready", [
    ("function event() end\n"
     'function done() io.write("stuck\\n") io.flush() while true do end end\n',
     ["--events=5", "run"], "stuck"),
    ("function event() end\n"
     "sysbench.hooks.report_intermediate = function()\n"
     '  io.write("stuck\\n") io.flush() while true do end end\n',
     ["--time=600", "--report-interval=0.2", "run"], "stuck"),
    slow('function init() io.write("stuck\\n") io.flush() while true do end end\n'
         "function event() end\n", ["run"], "stuck"),
    slow('function prepare() io.write("stuck\\n") io.flush() while true do end end\n',
         ["prepare"], "stuck")], ids=["done", "hook", "init", "prepare"])
def test_what_hangs_is_ended_by_the_second_signal(tmp_path, script, args, ready):
    (tmp_path / "hangs.lua").write_text(script)
    process = start(["hangs.lua"] + args, tmp_path)
    seen = wait_for_line(process, ready)
    process.send_signal(signal.SIGTERM)
    wait_for_line(process, "finishing", "stderr")
    time.sleep(PART_S)
    process.send_signal(signal.SIGTERM)
    out, err, code = finish(process, seen)
    assert code == 143
    assert "at once" in err
    # What was measured before an interval hook hung is not lost.
    assert ("total number of events:" in out) == ("--time=600" in args or "--events=5" in args)


@pytest.mark.parametrize("hook", [slow("report_cumulative"), "add_to_cumulative"])
def test_final_report_hook_that_hangs(tmp_path, hook):
    """Nobody but the text report can print what was measured any more."""
    (tmp_path / "hangs.lua").write_text(
        "function event() end\n"
        f"sysbench.hooks.{hook} = function()\n"
        '  io.write("stuck\\n") io.flush() while true do end end\n')
    process = start(["hangs.lua", "--events=1000", "run"], tmp_path)
    seen = wait_for_line(process, "stuck")
    process.send_signal(signal.SIGTERM)
    wait_for_line(process, "finishing", "stderr")
    time.sleep(PART_S)
    process.send_signal(signal.SIGTERM)
    out, err, code = finish(process, seen)
    assert code == 143
    assert "at once" in err
    assert events_of(out) == 1000
    assert out.count("Threads fairness:") == 1


HANG = 'io.write("stuck\\n") io.flush() while true do end'


@pytest.mark.parametrize("script,args,report", [
    ("function event() %s end" % HANG, ["run"], "unfinished:                          1 (oldest"),
    slow("function event() end function thread_init() %s end" % HANG, ["run"], None),
    slow("function event() end function init() %s end" % HANG, ["run"], None),
    slow("function prepare() %s end" % HANG, ["prepare"], None),
    slow("function event() end sysbench.hooks.report_intermediate = function() %s end" % HANG,
         ["--report-interval=0.2", "run"], "total number of events:")],
    ids=["event", "thread_init", "init", "prepare", "hook"])
def test_one_signal_is_enough_in_the_end(tmp_path, script, args, report):
    """Who sends one and no more, as timeout(1) without -k does, gets an end and the report too."""
    (tmp_path / "hangs.lua").write_text(script)
    process = start(["hangs.lua"] + args, tmp_path)
    seen = wait_for_line(process, "stuck")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err, code = finish(process, seen)
    assert time.monotonic() - began > 4.5
    assert code == 130
    assert "interrupt received: finishing" in err
    assert re.search(r"no statement, event or thread has ended for [\d.]+ s: ending at once\n", err)
    if report is not None:
        assert report in out
        assert "Threads fairness:" in out


@pytest.mark.slow
def test_slow_events_get_the_time_they_need(tmp_path):
    """Three times the longest so far, if that is more."""
    (tmp_path / "slow.lua").write_text(
        'ffi.cdef("int usleep(unsigned int);")\n'
        "local n = 0\n"
        'function event() n = n + 1 io.write("event ", n, "\\n") io.flush()\n'
        "  ffi.C.usleep(n == 1 and 4000000 or 5500000) end\n")
    process = start(["slow.lua", "--time=600", "run"], tmp_path)
    seen = wait_for_line(process, "event 2")
    process.send_signal(signal.SIGTERM)
    out, err, code = finish(process, seen)
    assert code == 143
    assert events_of(out) == 2
    assert "at once" not in err.replace("send it again to end at once", "")


def test_two_signals_that_are_typed_are_two(tmp_path):
    """However fast: the terminal does not send them twice."""
    (tmp_path / "sleepy.lua").write_text(SLEEPY)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BENCH, "sleepy.lua", "--time=600", "run"], cwd=tmp_path, stdin=theirs, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(theirs)
    seen = wait_for_line(process, "begun")
    os.write(ours, b"\x03")
    # The kernel merges signals that nobody has fetched yet.
    wait_for_line(process, "finishing", "stderr")
    os.write(ours, b"\x03")
    out, err, code = finish(process, seen)
    os.close(ours)
    assert code == 130
    assert "interrupt received: ending at once" in err and "has ended for" not in err
    assert re.search(r"^    unfinished: +1 \(oldest", out, re.M) and "forced" not in out


def test_two_signals_of_one_timeout_are_one(tmp_path):
    """timeout(1) signals its child and then the group of it."""
    (tmp_path / "sleepy.lua").write_text(SLEEPY)
    for _ in range(5):
        (tmp_path / "go").unlink(missing_ok=True)
        process = start(["sleepy.lua", "--time=600", "run"], tmp_path)
        seen = wait_for_line(process, "begun")
        process.send_signal(signal.SIGTERM)
        wait_for_line(process, "finishing", "stderr")
        process.send_signal(signal.SIGTERM)
        await_taken(process, signal.SIGTERM)
        (tmp_path / "go").touch()
        out, err, code = finish(process, seen)
        # Two that the machine has kept 0.2 s apart are two, and say nothing of what was asked.
        if "ending at once" not in err:
            break
    assert code == 143
    assert events_of(out) == 1
    assert "ending at once" not in err


def test_a_report_that_is_not_read_takes_no_other_with_it(tmp_path):
    """One hangs in an interval, in a pipe that is full; the text report comes, and the journal has the measurements."""
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    process = start(["cpu", "--cpu-max-prime=1000", "--time=600", "--report-interval=0.05",
                     "--report=json:json", "--report=text:text", "--report=jsonl:fifo", "run"],
                    tmp_path)
    full, size = 0, -1
    while full < 8:
        time.sleep(0.2)
        before, size = size, sum(os.path.getsize(p) for p in tmp_path.glob("text"))
        full = full + 1 if size == before > 0 else 0
    process.send_signal(signal.SIGTERM)
    wait_for_line(process, "finishing", "stderr")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=TIMEOUT_S)
    os.close(reader)
    assert process.returncode == 143, err
    text = (tmp_path / "text").read_text()
    assert events_of(text) > 0 and text.endswith("\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fifo", "json.partial", "text"]
    command = re.search(r"^'json' is not complete: what was measured is in a journal; print it with: bench (.+)$",
                        err, re.M)
    done = subprocess.run([BENCH] + shlex.split(command[1]), cwd=tmp_path, text=True, capture_output=True,
                          timeout=TIMEOUT_S)
    assert done.returncode == 0 and 0 < events_of(done.stdout) <= events_of(text), done


def test_a_summary_for_programs_goes_to_standard_error(tmp_path):
    """No text report was asked for: standard output has nothing of a document that is not complete, or of the hook."""
    (tmp_path / "hangs.lua").write_text(
        "function event() end\n"
        "sysbench.hooks.report_cumulative = function()\n"
        '  io.write("stuck\\n") io.flush() while true do end end\n')
    process = start(["hangs.lua", "--events=1000", "--report=json", "run"], tmp_path)
    wait_for_line(process, "stuck", "stderr")
    process.send_signal(signal.SIGTERM)
    wait_for_line(process, "finishing", "stderr")
    time.sleep(PART_S)
    process.send_signal(signal.SIGTERM)
    out, err, code = finish(process, "")
    assert (out, code) == ("", 143)
    assert events_of(err) == 1000 and err.count("Threads fairness:") == 1


# ThreadSanitizer's _exit() waits for the lock of a stream that another thread holds; libc's does not.
@pytest.mark.not_under("tsan")
def test_a_reader_that_does_not_read(tmp_path):
    """A full pipe blocks whoever reports, but not the thread that hears of signals."""
    process = start(["cpu", "--cpu-max-prime=1000", "--time=600", "--report-interval=0.001", "run"],
                    tmp_path)
    fcntl.fcntl(process.stdout, 1031, 4096)  # F_SETPIPE_SZ
    wait_for_line(process, "Threads started!")
    await_true(lambda: bytes_in(process.stdout) > 3900)
    process.send_signal(signal.SIGTERM)
    wait_for_line(process, "finishing", "stderr")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=TIMEOUT_S) == 143
    process.stdout.close()
    process.stderr.close()
