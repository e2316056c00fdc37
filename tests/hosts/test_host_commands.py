# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of several hosts do what one process with all their threads does."""

import os
import re
import signal
import sqlite3
import subprocess
import time

import gate
import pytest
from fleet import BENCH, TIMEOUT_S

# Each session notes its steps; all sessions go from step to step together.
STEPS = """
local function note(step)
  local file = io.open(os.getenv("NOTES"), "a")
  file:write(("%s %d of %d\\n"):format(step, sysbench.tid, sysbench.opt.threads))
  file:close()
end
function prepare()
  note("one")
  if sysbench.cmdline.barrier() then note("two") end
  if sysbench.cmdline.barrier() then note("three") end
end
function cleanup() note("cleanup") end
sysbench.cmdline.commands = {prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND}}
"""
# Session 2 is on the second of two hosts with two threads.
FAILING = """
function prepare()
  if sysbench.tid == 2 then error("no room left") end
  while sysbench.cmdline.barrier() do end
end
sysbench.cmdline.commands = {prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND}}
"""


def alone(folder, *args):
    """What one process prints."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run([BENCH, *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def lines(text):
    return sorted(text.splitlines())


def live_apart(fleet, hosts):
    """Each of the hosts has a working folder of its own."""
    for host in hosts:
        (fleet.folder / host).mkdir()
        fleet.through(host, "sh", "-c", 'cd "$0" && exec "$@"', fleet.folder / host)


def test_sessions_of_all_hosts_prepare_together(fleet):
    notes = fleet.folder / "notes"
    script = fleet.script("steps.lua", STEPS)
    done = fleet.run("a,b:1,c:3", script, "--threads=2", "prepare", NOTES=str(notes))
    assert done.status == 0, done.err
    found = notes.read_text().splitlines()
    for i, step in enumerate(("one", "two", "three")):
        assert sorted(found[6 * i:6 * i + 6]) == [f"{step} {n} of 6" for n in range(6)]
    done = fleet.run("a,b:1,c:3", script, "--threads=2", "cleanup", NOTES=str(notes))
    assert done.status == 0, done.err
    assert notes.read_text().splitlines()[18:] == ["cleanup 0 of 6"]


def test_a_script_that_can_be_read_once(fleet):
    """The second host is started when the first one has found out that all have to prepare."""
    notes, script = fleet.folder / "notes", fleet.script("steps.lua", STEPS)
    with subprocess.Popen(["cat", script], stdout=subprocess.PIPE) as cat:
        done = fleet.run("a,b", "/dev/stdin", "--threads=2", "prepare", stdin=cat.stdout, NOTES=str(notes))
    assert done.status == 0, done.err
    found = notes.read_text().splitlines()
    assert sorted(found[:4]) == [f"one {n} of 4" for n in range(4)] and len(found) == 12


def test_a_script_that_does_not_come_can_be_given_up(fleet):
    reader, writer = os.pipe()
    fleet.begin("a,b", "/dev/stdin", "run", stdin=reader)
    os.close(reader)
    fleet.wait_for_line("bench ")
    time.sleep(0.3)
    fleet.process.send_signal(signal.SIGINT)
    assert fleet.finish().status == -signal.SIGINT
    os.close(writer)


@pytest.mark.parametrize("tables", [7, 2])  # one after the other, and shared by threads
def test_the_lines_are_those_of_one_process(fleet, tables):
    options = ("oltp_read_write", "--db-driver=null", f"--tables={tables}", "--table-size=9")
    done = fleet.run("a,b,c", *options, "--threads=2", "prepare")
    assert done.status == 0, done.err
    assert lines(done.out) == lines(alone(fleet.folder / "alone", *options, "--threads=6", "prepare"))
    assert fleet.left() == []


@pytest.mark.parametrize("seed", gate.first([["--rand-seed=5"], []]))
def test_each_host_has_a_database_of_its_own_with_sqlite(fleet, seed):
    live_apart(fleet, "ab")
    options = ("oltp_read_write", "--db-driver=sqlite", "--sqlite-db=x.db", "--tables=3", "--table-size=50", *seed)
    done = fleet.run("a,b", *options, "--threads=2", "prepare")
    assert done.status == 0, done.err
    alone(fleet.folder / "alone", *options, "--threads=4", "prepare")
    folders = [fleet.folder / name for name in ("a", "b", "alone")]
    data = [content(folder / "x.db") for folder in folders]
    assert data[0] == data[1] == data[2] and len(data[0]) == 3
    assert re.search(r"^b: Creating table 'sbtest3'", done.out, re.M)
    done = fleet.run("a,b", *options, "--threads=2", "--events=50", "run")
    assert done.status == 0, done.err
    done = fleet.run("a,b", *options, "--threads=2", "cleanup")
    assert done.status == 0, done.err
    assert content(fleet.folder / "b/x.db") == {}


def test_a_long_line_has_one_name(fleet):
    """The line reaches the controller in several pieces."""
    long = "o" * 200000
    script = fleet.script("long.lua", 'function prepare() print(("o"):rep(200000)) print("ooo") end')
    done = fleet.run("a", script, "--db-driver=sqlite", "prepare")
    assert done.status == 0, done.err
    assert [line for line in done.out.splitlines() if "ooo" in line] == [f"a: {long}", "a: ooo"]


def test_a_violation_on_one_host_is_the_status_of_all(fleet):
    """A check that finds something has not failed: the other hosts go on, and each prints what it has found."""
    live_apart(fleet, "ab")
    options = ("order_entry", "--db-driver=sqlite", "--sqlite-db=x.db", "--threads=2")
    assert fleet.run("a,b", *options, "--order-check=none", "prepare").status == 0
    with sqlite3.connect(fleet.folder / "a/x.db") as con:
        con.execute("UPDATE stock SET s_quantity = 5 WHERE s_i_id = 9")
    done = fleet.run("a,b", *options, "check")
    assert done.status == 3 and "failed" not in done.err, done.err
    found = dict(re.findall(r"^(\w): Checked: (\d+) of 21 conditions hold", done.out, re.M))
    assert found == {"a": "20", "b": "21"}
    assert re.search("^a: condition S5 .* is violated by 1 row", done.out, re.M) and "first host" not in done.out


def test_sessions_for_deliveries_stay_on_one_host(fleet):
    """Also if the second host would have no terminal; a single host may have them."""
    options = ("order_entry", "--db-driver=null", "--threads=2", "--time=0", "--events=20", "--order-deliveries=1")
    why = "--order-deliveries=1: cannot be used on several hosts: sessions carry out the deliveries of their own host alone"
    for hosts in "a,b", "a,b:1":
        done = fleet.run(hosts, *options, "run")
        assert done.status == 1 and re.search(rf"^[ab]: {why}$", done.err, re.M), done.err
    done = fleet.run("a", *options, "--order-deck=0,0,0,1,0", "run")
    assert done.status == 0, done.err
    assert done.total["events"] == 40  # each delivery is an event of the terminal and one of the other session


def content(path):
    with sqlite3.connect(path) as con:
        names = [row[0] for row in con.execute("SELECT name FROM sqlite_master WHERE type = 'table' "
                                               "AND name LIKE 'sbtest%'")]
        return {name: con.execute(f"SELECT * FROM {name} ORDER BY id").fetchall() for name in names}


def test_files_are_made_on_each_host(fleet):
    live_apart(fleet, "ab")
    options = ("fileio", "--file-num=3", "--file-total-size=96K")
    done = fleet.run("a,b", *options, "prepare")
    assert done.status == 0, done.err
    for host in "ab":
        found = sorted((fleet.folder / host).iterdir())
        assert [path.name for path in found] == [f"test_file.{i}" for i in range(3)]
        assert f"{host}: Creating file test_file.2" in done.out
    done = fleet.run("a,b", *options, "cleanup")
    assert done.status == 0, done.err
    assert not any(path for host in "ab" for path in (fleet.folder / host).iterdir())


@pytest.mark.sanitized
def test_one_session_that_fails_ends_all(fleet):
    done = fleet.run("a,b", fleet.script("failing.lua", FAILING), "--threads=2", "prepare")
    assert done.status == 1
    assert re.search("^b: .*no room left", done.err, re.M), done.err
    assert re.search("^b: the command 'prepare' failed there with status 1$", done.err, re.M), done.err
    assert fleet.left() == []


def test_a_host_that_dies_ends_all(fleet):
    """Host b stands still before it comes to the barrier."""
    notes = fleet.folder / "notes"
    script = fleet.script("steps.lua", STEPS.replace(
        'note("one")', 'note("one") if sysbench.tid == 2 then os.execute("exec sleep 60") end'))
    fleet.begin("a,b", script, "--threads=2", "prepare", NOTES=str(notes))
    deadline = time.monotonic() + TIMEOUT_S
    while not notes.exists() or len(notes.read_text().splitlines()) < 4:
        assert time.monotonic() < deadline and fleet.process.poll() is None
        time.sleep(0.01)
    os.kill(fleet.pid("b"), signal.SIGKILL)
    done = fleet.finish()
    assert done.status == 1
    assert re.search("^b: lost: ", done.err, re.M), done.err
    assert re.search("^a: .*'prepare' was stopped before it was complete$", done.err, re.M), done.err
    assert "two" not in notes.read_text()
    for pid, words in fleet.processes().items():
        if "sleep 60" in words:  # a child of the script is the script's
            os.kill(pid, signal.SIGKILL)
    assert fleet.left() == []


def test_a_command_of_the_first_host_needs_no_other(fleet):
    fleet.through("b", "false")
    done = fleet.run("a,b", "oltp_read_write", "--db-driver=null", "cleanup")
    assert done.status == 0, done.err
    done = fleet.run("a,b", "oltp_read_write", "--db-driver=null", "--threads=2", "prepare")
    assert done.status == 1
    assert re.search("^b: lost: ", done.err, re.M), done.err


@pytest.mark.sanitized
def test_a_password_file_that_cannot_be_read_ends_it_at_once(fleet):
    done = fleet.run("a,b", "oltp_read_write", "--mysql-password-file=missing", "prepare")
    assert done.status == 1 and "missing" in done.err
