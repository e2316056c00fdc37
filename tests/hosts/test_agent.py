# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench --agent` does what a controller asks of it by frames, and leaves nothing behind."""
import contextlib
import json
import os
import re
import signal
import struct
import subprocess
import time

import gate
import pytest

from agent import (BENCH, END, INTERVAL, MEET, OPEN, PASS, PING, PONG, PRINTED, READY, REFUSE, RESULT,
                   START, WAIT_S, WELCOME, Agent, file_frame, frame)

MS = 1000 * 1000
SLEEPER = """
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(2000) end
"""
# Each session tells what it draws.
TELLER = """
function thread_init(id)
  for i = 1, 20 do
    print(("%d of %d: %d %d %d"):format(sysbench.tid, sysbench.opt.threads, id,
      sysbench.rand.uniform(1, 1000000), sysbench.rand.default(1, 1000000)))
  end
end
function event() end
"""
HANGING = """
ffi.cdef("int usleep(unsigned int);")
function event() while true do ffi.C.usleep(1000) end end
"""


@pytest.fixture
def agent(tmp_path):
    with Agent(tmp_path / "agent") as a:
        yield a


def start_now(a, after_ms=50):
    at_ns = time.monotonic_ns() + after_ms * MS
    a.start(at_ns)
    return at_ns


def check_refused(a, *words):
    sentence = a.wait(REFUSE).decode()
    for word in words:
        assert word in sentence
    while a.read():
        pass
    assert a.process.wait(WAIT_S) == 1
    assert a.left() == []
    return sentence


# --- the beginning ---

def test_it_says_who_it_is(agent):
    agent.hello("cpu", "run")
    welcome = json.loads(agent.wait(WELCOME))
    assert welcome["protocol"] == 1
    assert welcome["version"] in subprocess.check_output([BENCH, "--version"], text=True)
    assert welcome["host name"] == os.uname().nodename


@pytest.mark.sanitized
def test_another_protocol_is_refused(agent):
    agent.hello("cpu", "run", protocol=2)
    check_refused(agent, "protocol")


@pytest.mark.sanitized
@pytest.mark.parametrize("garbage, word", [
    (b"hello, agent\n", ""),
    (struct.pack("<IB", 1 << 30, 1), ""),
    (frame(OPEN), "OPEN"),
    (frame(START, struct.pack("<Q", 1)), "START"),
    (frame(END, b"\0"), ""),
    (file_frame("a.lua", ""), "FILE"),
])
def test_a_stream_that_makes_no_sense_is_refused(agent, garbage, word):
    agent.send(garbage)
    check_refused(agent, word)


@pytest.mark.parametrize("name", [
    "/etc/passwd", "../up.lua", gate.sanitized("a/../../b"), "a//b", "a/", gate.sanitized("")])
def test_a_file_stays_in_the_folder(agent, name):
    agent.hello("cpu", "run")
    agent.send(file_frame(name, "x"))
    check_refused(agent)


# A sanitized program cannot write its report of a finding to a file then, either.
if "BENCH_SANITIZER" not in os.environ:
    def test_a_full_disk_is_told(tmp_path):
        shell = ["sh", "-c", 'ulimit -f 0 && exec "$0" --agent', BENCH]
        with Agent(tmp_path / "agent", shell) as a:
            a.hello("cpu", "run")
            a.send(file_frame("script.lua", "x" * 5000))
            check_refused(a, "script.lua", "File too large")


# The process that removes the folder works in another one.
def test_a_relative_folder_is_used_and_removed(tmp_path):
    shell = ["sh", "-c", 'TMPDIR=agent exec "$0" --agent', BENCH]
    with Agent(tmp_path / "agent", shell) as a:
        a.hello("cpu", "run")
        a.wait(WELCOME)
        assert [path.name[:12] for path in a.tmp.iterdir()] == ["bench-agent."]
        end_input(a)
        assert a.left() == []


def test_a_folder_that_is_not_there_is_told(tmp_path):
    shell = ["sh", "-c", 'TMPDIR=nowhere exec "$0" --agent', BENCH]
    with Agent(tmp_path / "agent", shell) as a:
        assert check_refused(a) == ("cannot make a folder in 'nowhere': No such file or directory; "
                                    "set TMPDIR to another folder")


def test_a_file_comes_once(agent):
    agent.hello("cpu", "run")
    agent.send(file_frame("a.lua", "x"))
    agent.send(file_frame("a.lua", "y"))
    check_refused(agent, "a.lua", "File exists")


def test_pings_are_answered_at_any_time(agent):
    before = time.monotonic_ns()
    agent.send(frame(PING, struct.pack("<Q", 7)))
    sent, there = struct.unpack("<QQ", agent.wait(PONG))
    assert sent == 7
    assert before <= there <= time.monotonic_ns()


# --- a run ---

def lines_of(agent):
    """The records that an agent has sent, each with the texts of its histograms."""
    for line in agent.of(INTERVAL):
        record, *texts = line.decode().split("\t")
        yield json.loads(record), texts


def counts_of(text):
    """Of the buckets of a histogram that is a text, as src/measure/hist_codec.h says it."""
    for gap, more, last in re.findall(r"(!?)([(-G]*)([\^-}])", text):
        number = 0
        for digit in [ord(c) - ord("(") for c in more] + [ord(last) - ord("^")]:
            number = number * 32 + digit
        if not gap:
            yield number


def test_a_run_with_files(agent):
    agent.open("script.lua", "--threads=2", "--time=2", "--report-interval=0.5", "run",
               sessions=2, files={"script.lua": "require('sub.module')\n" + SLEEPER,
                                  "sub/module.lua": "name = 1\n"})
    facts = agent.ready()
    assert facts["format"] == "bench journal"
    assert facts["facts"]["plan"]["threads"] == 2
    assert facts["group"]["name"] == "script.lua" and facts["group"]["metrics"]
    folder, = agent.tmp.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "sub" / "module.lua").stat().st_mode & 0o777 == 0o600
    start_now(agent)
    assert agent.finish() == 0
    assert agent.left() == []
    total = agent.result()["groups"][0]["total"]
    lines = list(lines_of(agent))
    assert set(key for line, _ in lines for key in line) == {"interval", "tick"}
    intervals = [(line["interval"], texts) for line, texts in lines if "interval" in line]
    ticks = [line["tick"] for line, _ in lines if "tick" in line]
    assert 1 <= len(intervals) <= 5 and len(ticks) in (1, 2)
    counted = sum(sum(counts_of(latency)) for _, (latency, _) in intervals)
    # A counter that counted nothing in an interval is left out.
    events = sum(i["raw"]["counters"].get("events", 0) for i, _ in intervals)
    # A session may be between the two, and events end while the two are read.
    assert counted > 2 and abs(counted - events) < counted / 2
    assert events == total["figures"]["events"]
    assert 0 < total["figures"]["events"] <= 2 * 1000
    assert 0 < agent.result()["facts"]["process"]["processor_s"] < 4


@pytest.mark.sanitized
def test_the_result_is_a_document(agent, tmp_path):
    agent.open("cpu", "--events=20", "--threads=2", "--cpu-max-prime=100", "run", sessions=2)
    agent.ready()
    start_now(agent)
    assert agent.finish() == 0
    document = tmp_path / "result.json"
    document.write_bytes(b"".join(agent.of(RESULT)))
    report = subprocess.run([BENCH, "report", document], capture_output=True, text=True,
                            check=False)
    assert report.returncode == 0, report.stderr
    assert "total number of events:              20" in report.stdout
    # What a journal has before the end can be read as one.
    journal = tmp_path / "journal"
    journal.write_bytes(b"\n".join(agent.of(READY) + agent.of(INTERVAL)) + b"\n")
    report = subprocess.run([BENCH, "report", journal], capture_output=True, text=True,
                            check=False)
    assert report.returncode == 0, report.stderr


# Test files of `fileio` outlive the agent that has made them.
def test_without_files_it_works_where_it_was_started(agent, tmp_path):
    agent.open("fileio", "--file-num=1", "--file-total-size=64K", "prepare")
    assert agent.finish() == 0
    assert "Creating file test_file.0" in agent.printed()
    assert (tmp_path / "test_file.0").stat().st_size == 65536
    assert agent.left() == []


def test_it_starts_at_its_time(agent):
    """Never before it, and a minute late on no machine."""
    agent.open("script.lua", "--events=1", "run", files={"script.lua": SLEEPER})
    agent.ready()
    at_ns = start_now(agent, after_ms=300)
    assert agent.finish() == 0
    assert 0 <= agent.result()["facts"]["times"]["start_ns"] - at_ns < 60000 * MS


def test_it_starts_at_once_after_its_time(agent):
    agent.open("cpu", "--events=1", "run")
    agent.ready()
    agent.start(1)
    assert agent.finish() == 0


def test_what_scripts_print_disturbs_no_frame(agent):
    agent.open("script.lua", "--events=3", "run",
               files={"script.lua": "print('at the top')\n"
                                    "function event() print('in an event', io.read()) end"})
    agent.ready()
    start_now(agent)
    assert agent.finish() == 0
    assert agent.told().count("in an event\tnil") == 3
    assert "at the top" in agent.told()


def tell(agents, *argv):
    """Runs them together; what each session has told."""
    for a in agents:
        a.ready()
    at_ns = time.monotonic_ns() + 50 * MS
    for a in agents:
        a.start(at_ns)
    lines = []
    for a in agents:
        assert a.finish() == 0
        lines += [line for line in a.told().splitlines() if " of " in line]
    return {n: [line for line in lines if line.startswith("%d of " % n)] for n in range(4)}


def test_sessions_are_numbered_over_all_hosts(tmp_path):
    def run(threads, hosts):
        agents = [Agent(tmp_path / ("%d.%d" % (hosts, i))) for i in range(hosts)]
        for i, a in enumerate(agents):
            a.open("script.lua", "--threads=%d" % threads, "--rand-seed=7", "--events=1", "run",
                   host=i, first=i * threads, sessions=4,
                   files={"script.lua": TELLER})
        told = tell(agents)
        for a in agents:
            a.__exit__()
        return told

    one, two = run(4, 1), run(2, 2)
    assert one == two
    for n in range(4):
        assert len(set(one[n])) == 20
        assert one[n][0].startswith("%d of 4: %d " % (n, n))


def test_a_command_needs_no_start(agent):
    agent.open("script.lua", "prepare",
               files={"script.lua": "function prepare() print('prepared') end"})
    assert agent.finish() == 0
    assert agent.printed() == "prepared\n"
    assert agent.of(READY) == [] and agent.of(MEET) == []


MEETING = """
function prepare()
  print(("%d of %d"):format(sysbench.tid, sysbench.opt.threads))
  print(sysbench.cmdline.barrier())
end
sysbench.cmdline.commands = {prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND}}
"""


def test_sessions_of_a_command_wait_for_those_of_other_hosts(agent):
    agent.open("script.lua", "--threads=2", "prepare", files={"script.lua": MEETING}, first=3,
               sessions=5, host=1)
    agent.wait(MEET)
    assert agent.printed() == ""
    agent.send(frame(PASS))
    while len(agent.of(MEET)) < 2:
        agent.read()
    assert "true" not in agent.printed()
    agent.send(frame(PASS))
    assert agent.finish() == 0
    assert sorted(agent.printed().splitlines()) == ["3 of 5", "4 of 5", "true", "true"]


def test_what_a_command_prints_comes_in_whole_lines(agent):
    agent.open("script.lua", "prepare", files={"script.lua": """
function prepare()
  for i = 1, 3 do
    io.write(("x"):rep(30000))
    io.flush()
  end
  io.write("\\nend")
end
"""})
    assert agent.finish() == 0
    assert agent.printed() == "x" * 90000 + "\nend"
    assert all(len(piece) < 1 << 18 for piece in agent.of(PRINTED))


@pytest.mark.sanitized
def test_a_run_that_cannot_be_made_says_why(agent):
    agent.open("cpu", "--threads=none", "run")
    assert agent.finish() == 1
    assert "--threads" in agent.told()
    assert agent.left() == []


# --- the end ---

def begin(a, script, *options):
    a.open("script.lua", "--time=60", *options, "run", files={"script.lua": script})
    a.ready()
    start_now(a, after_ms=0)
    a.wait(INTERVAL)


def test_it_stops_in_order(agent):
    begin(agent, SLEEPER)
    agent.stop()
    assert agent.finish() == 128 + signal.SIGINT
    end = agent.result()["end"]
    assert (end["reason"], end["signo"]) == ("signal", signal.SIGINT)
    assert agent.result()["groups"][0]["total"]["figures"]["events"] > 0
    assert agent.told() == ""


def test_it_stops_at_once(agent):
    # One order alone gives the events this grace.
    begin(agent, HANGING, "--time-grace=600")
    agent.stop()
    agent.stop(2)
    agent.wait(END)
    assert agent.result()["end"]["signo"] == signal.SIGINT
    assert agent.left() == []


def test_it_stops_before_its_start(agent):
    agent.open("script.lua", "--time=60", "run", files={"script.lua": SLEEPER})
    agent.ready()
    agent.stop()
    assert agent.finish() == 128 + signal.SIGINT
    assert agent.left() == []


@pytest.mark.sanitized
def test_it_stops_before_there_is_a_run(agent):
    agent.hello("cpu", "run")
    agent.stop()
    assert agent.finish() == 128 + signal.SIGINT
    assert agent.left() == []


def end_input(agent):
    """Again and again there is no writer.  In between the agent is asked: silence would end it too."""
    path = f"/proc/self/fd/{agent.process.stdin.fileno()}"
    reading = os.open(path, os.O_RDONLY)
    agent.process.stdin.close()
    deadline = time.monotonic() + WAIT_S
    while agent.process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
        with open(f"/proc/self/fd/{reading}", "wb") as writing:
            writing.write(frame(PING, struct.pack("<Q", 7)))
    os.close(reading)


@pytest.mark.parametrize("stage", [
    "hello", gate.slow("files"), "open", gate.slow("ready"), "run", "hung", gate.slow("top")])
def test_the_end_of_its_input_ends_it(agent, stage):
    script = {"hung": HANGING, "top": "while true do end"}.get(stage, SLEEPER)
    if stage != "hello":
        agent.hello("script.lua", "--time=60", "run")
        agent.send(file_frame("script.lua", script))
        agent.wait(WELCOME)
    if stage not in ("hello", "files"):
        agent.send(frame(OPEN))
    if stage in ("ready", "run", "hung"):
        agent.ready()
    if stage in ("run", "hung"):
        start_now(agent, after_ms=0)
        agent.wait(INTERVAL)
    end_input(agent)
    assert agent.process.poll() is not None
    assert agent.left() == []


@pytest.mark.slow
def test_silence_ends_it(agent):
    agent.open("script.lua", "--time=60", "run", files={"script.lua": SLEEPER})
    agent.ready()
    time.sleep(1)
    before = time.monotonic()
    agent.send(frame(PING, struct.pack("<Q", 7)))
    agent.process.wait(WAIT_S)
    assert 7.9 < time.monotonic() - before
    assert agent.left() == []


def test_a_controller_that_reads_no_more_ends_it(agent):
    begin(agent, SLEEPER)
    agent.process.stdout.close()
    # The controller goes on asking, so that the agent does not end for its silence.
    deadline = time.monotonic() + WAIT_S
    while agent.process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(BrokenPipeError):
            agent.send(frame(PING, struct.pack("<Q", 7)))
        time.sleep(0.1)
    assert agent.process.poll() is not None
    assert agent.left() == []


@pytest.mark.slow
def test_a_slow_controller_holds_up_nothing(agent):
    begin(agent, SLEEPER, "--report-interval=0.005", "--time=3")
    time.sleep(8)
    assert agent.finish() == 0
    total = agent.result()["groups"][0]["total"]
    assert total["figures"]["span_s"] < 8
    assert sum("interval" in line for line, _ in lines_of(agent)) > 100


@pytest.mark.parametrize("signo", gate.first([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP], 2))
def test_a_signal_leaves_no_file(agent, signo):
    begin(agent, SLEEPER)
    agent.process.send_signal(signo)
    agent.process.wait(WAIT_S)
    assert agent.left() == []
    # Nobody has its streams any more.
    while agent.read():
        pass


def test_a_terminal_is_told_what_an_agent_is(tmp_path):
    parent, child = os.openpty()
    done = subprocess.run([BENCH, "--agent"], stdin=child, capture_output=True, text=True,
                          check=False, timeout=WAIT_S)
    os.close(parent)
    os.close(child)
    assert done.returncode == 1
    assert "--hosts" in done.stderr
    assert done.stdout == ""
