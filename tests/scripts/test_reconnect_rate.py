# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections that come and go: with --reconnect-rate, threads connect again between events, at most as often as asked."""
import json
import re

import pytest

import bench

# Events of 1 ms, with a statement each.
SCRIPT = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:may_reconnect(%s)
end
function event()
  con:query("SELECT 1")
end
function thread_done()
  con:disconnect()
end
"""
# As many events as there is time for; each takes a turn, and each turn 20 ms.
SLOW = """function (connection)
  assert(connection == con)
  ffi = ffi or require("ffi")
  ffi.cdef("int usleep(unsigned)")
  ffi.C.usleep(20000)
end"""
NULL = ["--db-driver=null", "--null-latency=fixed:1ms"]


def total(tmp_path, script, *options, notes=False):
    (tmp_path / "come.lua").write_text(script)
    done = bench.run("come.lua", *NULL, *options, "--report=json", "run", cwd=tmp_path)
    assert done.status == 0, done.err
    assert notes == ("could not be kept up" in done.err)
    return json.loads(done.out)["groups"][0]["total"]["figures"]


# A busy machine misses turns, and never takes more.
@pytest.mark.parametrize("workers", ["--workers=0", "--workers=1"])
def test_there_are_no_more_reconnections_than_asked_for(tmp_path, workers):
    got = total(tmp_path, SCRIPT % "", "--threads=4", "--reconnect-rate=20", "--time=2", workers)
    assert 4 <= got["reconnects"] <= 40
    assert got["errors"] == 0


@pytest.mark.parametrize("workers", ["--workers=0", "--workers=1"])
def test_connecting_is_no_part_of_a_latency(tmp_path, workers):
    """Each event follows a turn of 20 ms, and takes a millisecond."""
    got = total(tmp_path, SCRIPT % SLOW, "--reconnect-rate=1000", "--time=1", workers, notes=True)
    assert got["reconnects"] >= got["events"] - 1 > 0
    assert got["min_s"] < 0.02


def test_events_of_a_rate_wait_for_the_connection(tmp_path):
    got = total(tmp_path, SCRIPT % SLOW, "--reconnect-rate=1000", "--rate=10", "--time=1", notes=True)
    assert got["max_s"] >= 0.02


@pytest.mark.parametrize("seldom", ["--null-latency=fixed:100ms", "--think-time=100ms", "--rate=10"])
def test_turns_that_are_missed_are_noted(tmp_path, seldom):
    """Whatever lets the thread begin few events, the note is true."""
    (tmp_path / "come.lua").write_text(SCRIPT % "")
    done = bench.run("come.lua", *NULL, seldom, "--arrivals=constant", "--reconnect-rate=500", "--time=0.5", "run",
                     cwd=tmp_path)
    assert done.status in (0, 4), done.err  # 4: a busy machine is late for the rate
    assert re.search(r"--reconnect-rate=500 could not be kept up: of 250 times at which a thread was to connect again, "
                     r"2\d\d were missed, because it began no event before the next one\. Use a lower "
                     r"--reconnect-rate, or more events a second \(--threads, --rate\)\n", done.err)


@pytest.mark.parametrize("workload,options", [
    ("oltp_read_only", []), ("oltp_read_write", ["--db-prepare=eager", "--tables=3"]),
    ("oltp_read_write", ["--db-ps-mode=disable"]), ("oltp_read_only", ["--workers=2"]),
    ("select_random_points", []), ("oltp_point_select@2 oltp_write_only@1", []),
    ("oltp_point_select", ["--compat=1.1"]), ("oltp_point_select", ["--reconnect=1"]),
    ("order_entry", ["--order-mode=batched"])])
def test_bundled_workloads_take_turns(workload, options):
    """Rate and time leave room for 20 reconnections; --reconnect=1 adds one for each event."""
    done = bench.run(*workload.split(), *NULL, "--threads=3", "--reconnect-rate=20", "--time=1", "--verbosity=3",
                     *options, "--report=json", "run")
    assert done.status == 0, done.err
    got = json.loads(done.out)["groups"][0]["total"]["figures"]
    assert got["errors"] == 0
    if "--reconnect=1" in options:
        assert got["reconnects"] > got["events"]
    else:
        assert 3 <= got["reconnects"] <= 20


def test_a_document_names_the_option(tmp_path):
    (tmp_path / "come.lua").write_text(SCRIPT % "")
    done = bench.run("come.lua", *NULL, "--reconnect-rate=2.5", "--events=1", "--report=json", "run", cwd=tmp_path)
    [option] = [o for o in json.loads(done.out)["facts"]["options"] if o["name"] == "reconnect-rate"]
    assert option["value"] == "2.5"


def test_a_test_without_connections_is_refused():
    done = bench.run("cpu", "--reconnect-rate=1", "run")
    assert done.status == 1
    assert done.err == "FATAL: --reconnect-rate=1: 'cpu' has no connections to a database\n"


@pytest.mark.parametrize("workers", ["--workers=0", "--workers=1"])
def test_a_script_that_does_not_say_so_is_refused(tmp_path, workers):
    (tmp_path / "come.lua").write_text("function event() end\n")
    done = bench.run("come.lua", "--reconnect-rate=1", "--time=1", workers, "run", cwd=tmp_path)
    assert done.status == 1
    assert ("--reconnect-rate=1: the script does not say which connection may be opened again between events; call "
            "connection:may_reconnect() in thread_init()\n") in done.err


@pytest.mark.parametrize("call,message", [
    ("con:may_reconnect(1)", "connection:may_reconnect: expected a function, got a number"),
    ("con.may_reconnect()", "may_reconnect")])
def test_a_wrong_call_is_an_error_of_the_script(tmp_path, call, message):
    (tmp_path / "come.lua").write_text((SCRIPT % "").replace("con:may_reconnect()", call))
    done = bench.run("come.lua", *NULL, "--reconnect-rate=1", "--time=1", "run", cwd=tmp_path)
    assert done.status == 1
    assert message in done.err


def test_a_sweep_varies_the_rate(tmp_path):
    (tmp_path / "come.lua").write_text(SCRIPT % "")
    done = bench.run("sweep", "--vary=reconnect-rate=0,20", "--repeat=1", "--out=results", "come.lua", *NULL,
                     "--time=1", "run", cwd=tmp_path)
    assert done.status == 0, done.err
    assert "reconnect-rate" in done.out
