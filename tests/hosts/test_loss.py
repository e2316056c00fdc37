# SPDX-License-Identifier: GPL-2.0-or-later
"""A host that is lost is named, the others stop or go on, and nothing is left anywhere."""

import contextlib
import os
import random
import re
import signal
import sys
import time

import documents
import gate
import pytest

# Of a run of 3 s whose hosts are all this machine.
TIME_S = 3
# A run that only its limit would end takes longer than a test waits for it.
ENDLESS = "--time=600"
OPTIONS = (f"--time={TIME_S}", "--threads=2", "--report-interval=1")


def check_loss(fleet, done, host):
    assert done.status == 1, done.out + done.err
    assert host in done.out and host in done.err
    assert set(re.findall(r"^(\S+): lost", done.err, re.M)) <= {host}
    assert "Traceback" not in done.err
    assert fleet.left() == []


def begin(fleet, *args):
    fleet.begin("a,b,c", fleet.steady(), *OPTIONS, *args, "run")
    fleet.wait_for_line("s ] thds:")


@pytest.mark.threads
@pytest.mark.sanitized
def test_a_killed_agent_ends_the_run(fleet):
    begin(fleet, ENDLESS)
    os.kill(fleet.pid("b"), signal.SIGKILL)
    done = fleet.finish()
    check_loss(fleet, done, "b")
    assert done.member("b")["host"]["lost"]
    assert done.member("a")["total"]["figures"]["events"] > 0


def test_the_others_go_on(fleet):
    """What the lost host had sent in its whole seconds counts, as it did in the intervals."""
    time_s = 6
    begin(fleet, "--on-host-loss=continue", f"--time={time_s}")
    # When the first whole second of one host is printed, that of another may still be on its way.
    fleet.wait_for_line("[ 2s ] thds:")
    os.kill(fleet.pid("b"), signal.SIGKILL)
    done = fleet.finish()
    check_loss(fleet, done, "b")
    assert done.elapsed_s >= time_s
    whole = done.document["groups"][0]
    lost = done.member("b")["total"]
    assert lost["figures"]["unfinished"] == lost["raw"]["unfinished"] <= done.total["unfinished"]
    events = {h: done.member(h)["total"]["figures"]["events"] for h in "abc"}
    assert done.total["events"] == sum(events.values())
    # The host counted on while its last second was read: its histogram may have an event more.
    assert 0 <= documents.counted(whole["total"]) - done.total["events"] < 0.01 * events["b"]
    assert float.fromhex(whole["total"]["raw"]["fair_events"][0]) == 6
    seconds = int(done.member("b")["host"]["time_s"])
    assert 1 <= seconds < time_s
    assert done.document["facts"]["hosts"]["together_s"] < seconds + 1
    said = re.search(r"All hosts ran together for ([\d.]+) s of [\d.]+ s, with", done.out)
    assert said and abs(float(said[1]) - seconds) < 1, done.out
    together = sum(i["figures"]["events"] for i in whole["intervals"][:seconds])
    # A third of them, if the machine is fair to it.
    assert together / 10 < events["b"] < together
    assert re.search(rf"^b: missing from the report after its first {seconds}\.\d s: 2 of 6 threads$",
                     done.err, re.M), done.err


@pytest.mark.slow
def test_an_agent_that_stands_still(fleet):
    begin(fleet, ENDLESS)
    os.kill(fleet.pid("b"), signal.SIGSTOP)
    done = fleet.finish()
    # What is left for a moment may be the process that removes the agent's folder.
    with contextlib.suppress(ProcessLookupError):
        os.kill(fleet.pid("b"), signal.SIGCONT)
    check_loss(fleet, done, "b")


@pytest.mark.slow
def test_a_pause_is_no_loss(fleet):
    """Intervals of the host end late then, or are not there."""
    begin(fleet)
    os.kill(fleet.pid("b"), signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(fleet.pid("b"), signal.SIGCONT)
    done = fleet.finish()
    assert done.status == 0, done.err
    assert done.total["events"] == sum(done.member(h)["total"]["figures"]["events"] for h in "abc")
    assert fleet.left() == []


FAILING = """
ffi.cdef("int usleep(unsigned int);")
local n = 0
function event(id)
  n = n + 1
  if id == 2 and n > 20 then error("broken") end
  ffi.C.usleep(10000)
end
"""


@pytest.mark.sanitized
def test_threads_that_do_not_start_on_one_host(fleet):
    script = fleet.script("picky.lua", """
function thread_init(id) if id == 2 then error("broken") end end
function event() end
""")
    done = fleet.run("a,b,c", script, *OPTIONS, "run")
    assert done.status == 1 and "b: FATAL: " in done.err and "broken" in done.err
    assert "lost" not in done.err
    assert fleet.left() == []


@pytest.mark.parametrize("how", ["abort", "continue"])
def test_a_run_that_fails_on_one_host(fleet, how):
    """Its result is there, and it decides about the others as if it were lost."""
    limit = ENDLESS if how == "abort" else "--time=1"
    done = fleet.run("a,b,c", fleet.script("failing.lua", FAILING), *OPTIONS, limit,
                     f"--on-host-loss={how}", "run")
    assert done.status == 1 and "b: FATAL: " in done.err and "broken" in done.err
    assert ("b: the run failed there" in done.err) == (how == "abort")
    assert how == "abort" or done.member("a")["host"]["time_s"] > 0.9
    assert done.member("b")["host"]["lost"] is None
    assert done.total["events"] == sum(
        done.member(h)["total"]["figures"]["events"] for h in "abc")
    assert fleet.left() == []


def test_events_before_a_checkpoint_are_not_missing(fleet):
    """The total of a host that ends early is of the time after the last checkpoint only."""
    script = fleet.script("early.lua", """
ffi.cdef("int usleep(unsigned int);")
local n = 0
function event(id)
  n = n + 1
  if id == 1 and n > 5 then error("broken") end
  ffi.C.usleep(300000)
end
""")
    done = fleet.run("a:1,b:1", script, "--time=0", "--events=20", "--report-checkpoints=1",
                     "--on-host-loss=continue", "run")
    assert done.status == 1 and "broken" in done.err
    assert re.search(r"^b: missing from the report after its first \d+\.\d s: 1 of 2 threads, "
                     r"5 of --events=20$", done.err, re.M), done.err
    checkpoint, = done.document["groups"][0]["checkpoints"]
    assert checkpoint["figures"]["events"] + done.total["events"] == 10 + 5
    assert fleet.left() == []


@pytest.mark.parametrize("how", ["abort", "continue"])
def test_a_signal_on_one_host(fleet, how):
    """Its result is there, and what it does not do any more is told, as if it were lost."""
    time_s = 600 if how == "abort" else 4
    begin(fleet, f"--time={time_s}", "--report-interval=0.3", f"--on-host-loss={how}", "--events=100000")
    os.kill(fleet.pid("b"), signal.SIGTERM)
    done = fleet.finish()
    assert done.status == 1, done.err
    stopped = "b: the run was stopped there; the other hosts are stopped (--on-host-loss=abort)\n"
    assert (stopped in done.err) == (how == "abort")
    b = done.member("b")
    missing = re.search(r"^b: missing from the report after its first ([\d.]+) s: 2 of 6 threads, (\d+) of "
                        r"--events=100000$", done.err, re.M)
    assert (missing is not None) == (how == "continue"), done.err
    if missing:
        assert abs(float(missing[1]) - b["host"]["time_s"]) < 0.1
        assert int(missing[2]) + b["total"]["figures"]["events"] in (33333, 33334)
    assert done.document["end"]["reason"] == {"abort": "failure", "continue": "time limit"}[how]
    assert done.document["end"]["failed"] and done.document["end"]["signo"] == 0
    if how == "continue":
        assert done.member("b")["host"]["time_s"] < done.member("a")["host"]["time_s"]
        assert time_s - 1 < done.member("a")["host"]["time_s"]
    assert [done.member(h)["host"]["lost"] for h in "abc"] == [None] * 3
    assert done.total["events"] == sum(done.member(h)["total"]["figures"]["events"] for h in "abc")
    assert fleet.left() == []


@pytest.mark.parametrize("status", gate.first([7, 0, 1]))
def test_a_script_that_ends_the_run_on_one_host(fleet, status):
    """As in one process, where all threads end."""
    script = fleet.script("leaving.lua", f"""
ffi.cdef("int usleep(unsigned int);")
local n = 0
function thread_init(id) me = id end
function event()
  n = n + 1
  if me == 2 and n > 20 then os.exit({status}) end
  ffi.C.usleep(10000)
end
""")
    done = fleet.run("a,b,c", script, *OPTIONS, ENDLESS, "--on-host-loss=continue", "run")
    assert done.status == status, done.err
    assert "b: the script ended the run there by os.exit(); the other hosts are stopped" in done.err
    assert done.document["end"]["reason"] == "script" and not done.document["end"]["failed"]
    assert done.total["events"] == sum(done.member(h)["total"]["figures"]["events"] for h in "abc")
    assert fleet.left() == []


@pytest.mark.parametrize("error,kind,text", [
    ('"broken"', "failing.lua:6", "failing.lua:6: broken"),
    # A kind is a key of the documents that hosts send.
    gate.slow('("é"):rep(60), 0', "é" * 31, "é" * 60),
    gate.slow('"\\233\\255x", 0', r"\xe9\xffx", r"\xe9\xffx"),
])
def test_a_thread_that_fails_on_one_host(fleet, error, kind, text):
    """The other thread of its host does its events, and the other host goes on."""
    script = fleet.script("failing.lua", FAILING.replace('"broken"', error))
    done = fleet.run("a:2,b:2", script, "--events=200", "--time=0", "--on-thread-error=continue", "run")
    assert done.status == 1 and "b: 1 of 2 threads failed (--on-thread-error=continue)" in done.err
    assert "the run failed" not in done.err and done.total["events"] == 200
    assert [done.total["failed_threads"], done.member("b")["total"]["figures"]["failed_threads"]] == [1, 1]
    assert done.document["end"]["reason"] == "event limit" and done.document["end"]["failed"]
    assert done.document["facts"]["thread_errors"] == {kind: text}
    assert fleet.left() == []


def test_a_script_that_exits_at_its_end(fleet):
    """When the part of one host is over, the others have theirs to do."""
    script = fleet.script("ending.lua", """
ffi.cdef("int usleep(unsigned int);")
function thread_init(id) me = id end
function event() ffi.C.usleep(me < 2 and 20000 or 1000) end
function done() os.exit(0) end
""")
    done = fleet.run("a:2,b:2", script, "--time=0", "--events=200", "run")
    assert (done.status, done.total["events"]) == (0, 200), done.err
    assert "stopped" not in done.err and fleet.left() == []


@pytest.mark.parametrize("where,body,options,events", [
    # Threads that end their loops themselves: the last event of each is dropped.
    ("done", "n = (n or 0) + 1 if n == (me < 2 and 50 or 5) then return true end", [], 106),
    # No event can begin when a thread has found no ticket.
    gate.slow("thread_done", "", ["--events=200"], 200),
    # Events that are given up have their tickets.
    ("done", "if me >= 2 then error({errcode = sysbench.error.RESTART_EVENT}) end",
     ["--events=200", "--db-max-tries=1"], 100),
    # The total is of the time after the last checkpoint only.
    gate.slow("done", "", ["--events=600", "--report-checkpoints=1"], None),
])
def test_a_script_that_exits_when_its_load_is_over(fleet, where, body, options, events):
    script = fleet.script("over.lua", f"""
ffi.cdef("int usleep(unsigned int);")
function thread_init(id) me = id end
function event() ffi.C.usleep(me < 2 and 20000 or 10000) {body} end
function {where}() os.exit(0) end
""")
    done = fleet.run("a:2,b:2", script, "--time=0", *options, "run")
    assert done.status == 0 and "stopped" not in done.err, done.err
    assert events is None or done.total["events"] == events
    assert not done.document["end"]["early"] and fleet.left() == []


def test_a_script_that_exits_in_the_warm_up(fleet):
    """The tickets of its host are all there, however many events it has done."""
    script = fleet.script("warm.lua", """
ffi.cdef("int usleep(unsigned int);")
local n = 0
function thread_init(id) me = id end
function event()
  n = n + 1
  if me == 1 and n > 100 then os.exit(7) end
  ffi.C.usleep(5000)
end
""")
    done = fleet.run("a:1,b:1", script, ENDLESS, "--events=20", "--warmup-time=600", "run")
    assert done.status == 7, done.err
    assert "b: the script ended the run there by os.exit(); the other hosts are stopped" in done.err
    assert done.document["end"]["reason"] == "script" and done.document["end"]["early"]
    assert fleet.left() == []


@pytest.mark.parametrize("fault", gate.first([
    "garble@WELCOME", "close@READY", "replace@INTERVAL:1", "cut@RESULT", "close@WELCOME", "cut@WELCOME",
    "replace@WELCOME", "garble@READY", "close@PONG:5", "garble@INTERVAL:2", "replace@INTERVAL:2",
    "cut@INTERVAL:3", "close@INTERVAL:2", "garble@RESULT", "close@RESULT", "close@END",
], 4))
def test_a_broken_stream(fleet, fault):
    fleet.relay("b", f"--fault={fault}")
    # Results are sent at the end; the others go on until they are told of the loss.
    limit = "--time=0.5" if "RESULT" in fault else ENDLESS if "INTERVAL" in fault else OPTIONS[0]
    done = fleet.run("a,b,c", fleet.steady(), *OPTIONS, limit, "run")
    assert "\x1b" not in done.err + done.out
    check_loss(fleet, done, "b")


@pytest.mark.parametrize("frame,edit,why", [
    ("RESULT", r'"errors":\s*\d+=>"errors":"18446744073709551614"', "its figures are too large"),
    gate.slow("RESULT", r'"percent":\s*95.0=>"percent":96.0', "its percentiles have other ranks than it said"),
    gate.slow("RESULT", r'"at_ns":\s*\d+=>"at_ns":1', "the times of its result make no sense"),
    gate.slow("INTERVAL", r'"events":\d+=>"events":"18446744073709551614"', "its figures are too large"),
    ("INTERVAL", r'"events":\d+=>"events":null', "its figures lack a count"),
])
def test_an_odd_host_does_not_cost_the_report(fleet, frame, edit, why):
    """It is named with the reason, and the others are reported."""
    fleet.relay("b", f"--fault=edit@{frame}", f"--edit={edit}")
    # What is sent at the very end of a run comes behind it where the machine is busy.
    time_s = 2 if frame == "INTERVAL" else 0.5
    done = fleet.run("b,a,c", fleet.steady(), f"--time={time_s}", "--threads=2", "--on-host-loss=continue", "run")
    check_loss(fleet, done, "b")
    assert re.search(rf"^b: lost: .*{why}$", done.err, re.M), done.err
    assert why in done.member("b")["host"]["lost"] and why in done.out
    assert done.total["events"] > 0


@pytest.mark.sanitized
@pytest.mark.parametrize("edit,why", [
    (r'\]\}\}$=>,{"name":"more","unit":"1","kind":"counter"}]}}', "it counts other metrics than other hosts"),
    (r'"threads":2=>"threads":3', "it runs 3 threads in place of 2"),
    (r'"group"=>"other"', "it did not say what it measures"),
])
def test_an_odd_host_is_refused_before_the_start(fleet, edit, why):
    fleet.relay("b", "--fault=edit@READY", f"--edit={edit}")
    done = fleet.run("a,b", fleet.steady(), "--time=60", "--threads=2", "run")
    assert done.status == 1 and why in done.err and "Threads started" not in done.out, done.err
    assert fleet.left() == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["stall@INTERVAL:2", "stall@RESULT"])
def test_a_silent_stream(fleet, fault):
    fleet.relay("b", f"--fault={fault}")
    done = fleet.run("a,b,c", fleet.steady(), *OPTIONS, "run")
    check_loss(fleet, done, "b")


@pytest.mark.slow
def test_a_host_that_answers_and_is_not_ready(fleet):
    fleet.relay("b", "--fault=mute@READY")
    done = fleet.run("a,b", fleet.steady(), "--time=1", "--thread-init-timeout=1", "run")
    assert done.status == 1 and "b: lost: its threads were not ready in time" in done.err
    assert "a: lost" not in done.err
    assert fleet.left() == []


@pytest.mark.slow
def test_a_host_that_answers_and_does_not_end(fleet):
    script = fleet.script("stays.lua", """
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(10000) end
function done() while os.getenv("STAYS") do end end
""")
    fleet.through("b", "env", "STAYS=1")
    done = fleet.run("a,b", script, "--time=1", "--time-grace=1", "run")
    check_loss(fleet, done, "b")
    assert "b: it has not ended 1.0 s after the time limit (--time-grace)" in done.err
    assert "b: lost: it has not ended in time" in done.err
    assert done.member("a")["total"]["figures"]["events"] > 0


@pytest.mark.slow
def test_a_process_that_stays(fleet):
    fleet.relay("b", "--linger")
    done = fleet.run("a,b", fleet.steady(), "--time=1", "run")
    assert done.status == 1 and "b: the shell to it has not ended" in done.err
    assert done.member("b")["total"]["figures"]["events"] > 0
    assert fleet.left() == []


def test_a_second_signal_does_not_wait_for_a_process(fleet):
    ended = fleet.folder / "ended"
    fleet.relay("b", "--linger", f"--note={ended}")
    fleet.begin("b", fleet.steady(), "--time=0.3", "run")
    fleet.wait_until(ended.exists, "the controller has not seen the end")
    time.sleep(0.2)  # it has just closed the stream
    fleet.process.send_signal(signal.SIGINT)
    assert "finishing" in fleet.process.stderr.readline()
    time.sleep(0.5)  # two signals at once are one: timeout(1) sends them
    fleet.process.send_signal(signal.SIGINT)
    done = fleet.finish()
    assert re.search(r"^b: the shell to it has not ended \d+ s after bench ended there", done.err, re.M)
    assert done.status == 1 and done.document["end"]["reason"] == "time limit"
    assert fleet.left() == []


@pytest.mark.parametrize("command,word", [
    (["/bin/sh", "-c", "echo Welcome to Debian; exit 0"], "Welcome to Debian"),
    (["/nowhere/bench"], "status 127: bench was not found there"),
    (["/bin/sh", "-c", "exit 255"], "status 255: the shell could not connect"),
    (["/bin/sh", "-c", "kill -9 $$"], "Killed"),
    gate.slow(["/bin/sh", "-c", "head -c 100000 /dev/zero"], "stream"),
    (["/bin/sh", "-c", "head -c 100000 /dev/urandom"], "stream"),
])
def test_what_is_no_agent(fleet, command, word):
    fleet.through("b", *command)
    done = fleet.run("a,b,c", fleet.steady(), *OPTIONS, "run")
    assert done.status == 1 and "b" in done.err and word in done.err, done.err
    assert "\x1b" not in done.err
    assert fleet.left() == []


def test_the_others_are_not_blamed(fleet):
    """The host that is ready is stopped before it is started, and ends with a result of nothing."""
    ready = fleet.folder / "ready"
    script = fleet.script("ready.lua", f"""
function thread_init() io.open("{ready}", "w"):close() end
function event() end
""")
    fleet.through("b", "/bin/sh", "-c", f"while ! [ -e '{ready}' ]; do sleep 0.1; done; sleep 0.5; "
                  "exit 3", "sh")
    done = fleet.run("a,b", script, *OPTIONS, "run")
    assert done.status == 1 and "b: lost: the process started for it ended with status 3" in done.err
    assert "a: lost" not in done.err and fleet.left() == []


@pytest.mark.parametrize("status", [0, 3])
def test_a_script_that_exits_before_the_run(fleet, status):
    script = fleet.script("init.lua", f"function init() os.exit({status}) end function event() end")
    done = fleet.run("a", script, *OPTIONS, "run")
    assert done.status == 1 and (f"a: lost: the process started for it ended with status {status}; "
                                 "did its script call os.exit()?") in done.err, done.err


def test_files_that_cannot_be_read(fleet):
    done = fleet.run("a,b", fleet.steady(), *OPTIONS, "--config-file=/nowhere/conf", "run")
    assert done.status == 1 and "/nowhere/conf" in done.err and "lost" not in done.err
    done = fleet.run("a,b", fleet.steady(), *OPTIONS, "--mysql-password-file=/nowhere/word", "run")
    assert done.status == 1 and "/nowhere/word" in done.err and "lost" not in done.err


def test_a_shell_that_is_not_there(fleet):
    done = fleet.run("a", fleet.steady(), *OPTIONS, "run", shell="/nowhere/ssh")
    assert done.status == 1 and "/nowhere/ssh" in done.err


def test_an_interrupted_controller_reports(fleet):
    begin(fleet, ENDLESS)
    fleet.process.send_signal(signal.SIGINT)
    done = fleet.finish()
    assert done.status == 130
    assert "total number of events:" in done.out
    assert done.document["end"]["signo"] == signal.SIGINT
    assert fleet.left() == []


# Five events of each session end.
HANG = """
ffi.cdef("int pause(void);")
local n = 0
function event()
  n = n + 1
  while n > 5 do ffi.C.pause() end
end
"""


def test_a_second_signal_does_not_wait(fleet):
    script = fleet.script("hang.lua", HANG)
    # One signal alone gives the events this grace.
    fleet.begin("a,b", script, ENDLESS, "--time-grace=600", "--report-interval=0.3", "run")
    fleet.wait_for_line("s ] thds:")
    fleet.process.send_signal(signal.SIGINT)
    assert "finishing" in fleet.process.stderr.readline()
    time.sleep(0.5)  # two signals at once are one: timeout(1) sends them
    fleet.process.send_signal(signal.SIGINT)
    done = fleet.finish()
    assert done.status == 130, done.err
    assert done.total["events"] == 10, done.err
    assert fleet.left() == []


def test_a_killed_controller_takes_the_agents_with_it(fleet):
    begin(fleet, ENDLESS)
    fleet.process.kill()
    fleet.process.wait()
    assert fleet.left() == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("BENCH_SCHEDULES", "2"))))
def test_a_random_schedule(fleet, seed):
    """Something happens to one host, or to the controller, at some moment."""
    rng = random.Random(seed)
    what = rng.choice(["kill", "stop", "fault", "controller"])
    host = rng.choice("abc")
    if what == "fault":
        name = rng.choice(["WELCOME", "READY", "PONG:9", "INTERVAL:1", "INTERVAL:2", "RESULT", "END"])
        fleet.relay(host, f"--fault={rng.choice(['close', 'cut', 'garble', 'replace', 'stall'])}@{name}")
    fleet.begin("a,b,c", fleet.steady(), *OPTIONS, f"--on-host-loss={rng.choice(['abort', 'continue'])}", "run")
    time.sleep(rng.uniform(0.3, TIME_S + 0.5))
    if what in ("kill", "stop") and (fleet.folder / f"{host}.pid").exists():
        try:
            os.kill(fleet.pid(host), signal.SIGKILL if what == "kill" else signal.SIGSTOP)
        except ProcessLookupError:
            pass
    elif what == "controller":
        fleet.process.kill()
    done = fleet.finish()
    if what == "controller":
        assert fleet.left() == []
        return
    if done.status == 0:  # it had ended before
        assert what != "fault" and fleet.left() == []
        return
    check_loss(fleet, done, host)


EARLY_END = """
import struct, subprocess, sys
agent = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
while True:
    head = agent.stdout.read(5)
    length, kind = struct.unpack("<IB", head)
    rest = agent.stdout.read(length - 1)
    if kind == 68:  # READY
        break
    sys.stdout.buffer.write(head + rest)
    sys.stdout.buffer.flush()
sys.stdout.buffer.write(struct.pack("<IBB", 2, 71, 0))  # END with the status 0
sys.stdout.buffer.flush()
agent.kill()
agent.wait()
"""


def test_agents_that_all_end_before_the_start(fleet):
    """The controller printed nothing and ended with status 0."""
    for host in "ab":
        fleet.through(host, sys.executable, fleet.script("early.py", EARLY_END))
    done = fleet.run("a,b", fleet.steady(), "--threads=2", "--time=1", "run")
    assert (done.status, done.err) == (1, "the run has not started: bench ended before that on every host\n")
    assert fleet.left() == []
