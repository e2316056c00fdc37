# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that --metrics-listen serves the metrics of a run while it lasts, in the form that a client takes,
and only where it was told to."""

import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess

import pytest
from prometheus_client import parser as plain_parser
from prometheus_client.openmetrics import parser as own_parser

import bench

LIB = pathlib.Path(bench.binary()).parent.parent / "lib/bench"
pytestmark = pytest.mark.skipif(not (LIB / "webs/http.so").exists(), reason="built without libmicrohttpd")

OWN = "application/openmetrics-text; version=1.0.0"
PAUSES = """
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned);")
function event() ffi.C.usleep(20000) end
"""


class Run:
    """A run that serves at a port of its own."""

    def __init__(self, folder, *options, at="0", script=PAUSES):
        (folder / "own.lua").write_text(script)
        self.child = subprocess.Popen(
            [bench.binary(), "./own.lua", "--time=60", "--percentile=50,99", f"--metrics-listen={at}", *options, "run"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=bench.environment())
        self.status = 128 + signal.SIGTERM
        said = self.child.stderr.readline()
        self.port = int(re.fullmatch(r"metrics: port (\d+)\n", said)[1])

    def ask(self, path="/metrics", method="GET", host="127.0.0.1", **headers):
        connection = http.client.HTTPConnection(host, self.port, timeout=bench.TIMEOUT_S)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def events(self):
        families = own_parser.text_string_to_metric_families(self.ask(Accept=OWN)[1])
        found = [sample.value for family in families for sample in family.samples
                 if sample.name == "bench_events_total"]
        return found[0] if found else 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.terminate()
        _, err = self.child.communicate(timeout=bench.TIMEOUT_S)
        assert self.child.returncode == self.status, err


@pytest.mark.threads
def test_the_page_shows_the_run_as_it_goes(tmp_path):
    with Run(tmp_path) as run:
        first = run.events()
        while first == 0:
            first = run.events()
        second = run.events()
        while second == first:
            second = run.events()
        assert second > first
        answer, text = run.ask(Accept=OWN)
        assert (answer.status, answer.getheader("Content-Type")) == (200, OWN + "; charset=utf-8")
        assert text.endswith("# EOF\n") and "# UNIT bench_event_latency_seconds seconds\n" in text
        families = {family.name: family for family in own_parser.text_string_to_metric_families(text)}
        assert families["bench_events"].type == "counter"
        quantiles = {sample.labels.get("quantile"): sample.value
                     for sample in families["bench_event_latency_seconds"].samples}
        assert 0.02 < quantiles["0.5"] <= quantiles["0.99"]
        assert "bench_exit_status" not in text


def lingering(run):
    """The samples of the page when it shows the end of the run."""
    while True:
        text = run.ask(Accept=OWN)[1]
        found = {sample.name: sample.value for family in own_parser.text_string_to_metric_families(text)
                 for sample in family.samples}
        if "bench_exit_status" in found:
            return found


@pytest.mark.threads
@pytest.mark.parametrize("options, events", [
    (["--events=3"], 3),
    # The total covers less than the page, whose counters do not go back.
    (["--events=70", "--report-checkpoints=1"], 70),
])
def test_the_page_lingers_with_the_end_of_the_run(options, events, tmp_path):
    run = Run(tmp_path, "--metrics-linger=600", "--report=json:json", *options)
    found = lingering(run)
    assert (found["bench_exit_status"], found["bench_events_total"]) == (0, events)
    assert found["bench_end_time_seconds"] > found["bench_start_time_seconds"]
    assert ("bench_setup_seconds" in found) == (len(options) == 1)
    # The documents are written, and a signal ends nothing but the wait.
    assert (tmp_path / "json").exists()
    run.child.terminate()
    _, err = run.child.communicate(timeout=bench.TIMEOUT_S)
    assert (run.child.returncode, err) == (0, "")


def test_an_ignored_signal_does_not_end_the_page(tmp_path):
    """As nohup wants it."""
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        run = Run(tmp_path, "--metrics-linger=600", "--events=2")
    finally:
        signal.signal(signal.SIGHUP, old)
    with run:
        lingering(run)
        run.child.send_signal(signal.SIGHUP)
        for _ in range(20):  # a page that goes does so within the first ones
            assert run.ask()[0].status == 200
        run.status = 0


def test_the_page_of_a_run_that_fails_lingers(tmp_path):
    with Run(tmp_path, "--metrics-linger=600", "--events=2", "--assert=p99<1us") as run:
        assert lingering(run)["bench_exit_status"] == 3
        run.status = 3


def test_the_page_of_a_run_that_its_script_ends_lingers(tmp_path):
    """Also with a status that a signal could have given."""
    with Run(tmp_path, "--metrics-linger=600", script="function event() os.exit(200) end") as run:
        assert lingering(run)["bench_exit_status"] == 200
        run.status = 200


def test_a_signal_ends_the_run_and_its_page(tmp_path):
    """Nobody waits who has asked for the end."""
    with Run(tmp_path, "--metrics-linger=600") as run:
        while run.events() == 0:
            pass


def test_a_page_that_is_not_there_cannot_linger():
    done = bench.run("cpu", "--events=1", "--metrics-linger=1", "run")
    assert (done.out, done.status) == ("", 1)
    assert done.err == ("FATAL: --metrics-linger is for the page of --metrics-listen: name its port too, as "
                        "--metrics-listen=9090\n")


def test_a_client_that_takes_anything_gets_the_older_format(tmp_path):
    with Run(tmp_path) as run:
        while run.events() == 0:
            pass
        answer, text = run.ask()
        assert answer.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
        families = {family.name: family for family in plain_parser.text_string_to_metric_families(text)}
        assert families["bench_events"].type == "counter"
        assert families["bench_events"].documentation == "Events that have ended."
        assert "# TYPE bench_events_total counter\n# HELP bench_events_total " in text
        assert "# EOF" not in text and "# UNIT" not in text
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True,
                                 check=False)
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


@pytest.mark.sanitized
def test_other_questions_are_refused(tmp_path):
    with Run(tmp_path) as run:
        while run.events() == 0:
            pass
        assert run.ask("/")[0].status == 404
        answer, _ = run.ask(method="POST")
        assert (answer.status, answer.getheader("Allow")) == (405, "GET, HEAD")
        answer, text = run.ask(method="HEAD")
        assert (answer.status, text) == (200, "") and int(answer.getheader("Content-Length")) > 100
        # Somebody who sends rubbish, or nothing, stops nobody.
        silent = socket.create_connection(("127.0.0.1", run.port))
        rude = socket.create_connection(("127.0.0.1", run.port))
        rude.sendall(b"\0\xff" * 40000)
        assert run.ask()[0].status == 200
        silent.close()
        rude.close()


def test_only_the_address_that_was_named_is_served(tmp_path):
    with Run(tmp_path, at="127.0.0.2:0") as run:
        assert run.ask(host="127.0.0.2")[0].status == 200
        # Something else may have that port at the other address.
        with pytest.raises((ConnectionRefusedError, http.client.HTTPException)):
            run.ask()


def test_a_report_is_still_written(tmp_path):
    (tmp_path / "own.lua").write_text(PAUSES)
    done = bench.run("./own.lua", "--events=3", "--metrics-listen=0", "run", cwd=tmp_path)
    assert done.status == 0 and "total number of events:              3\n" in done.out


def test_a_port_in_use_is_told_before_the_run():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        done = bench.run("cpu", "--events=1", f"--metrics-listen={at}", "run")
    assert (done.out.count("total number"), done.status) == (0, 1)
    assert done.err == f"FATAL: --metrics-listen={at}: Address already in use\n"


@pytest.mark.parametrize("at", ["nine", "70000", "-1", "host.example:9", "::1:9", "[::1:9", ":", "1.2.3.4:", "[]:1",
                                "a" * 300 + ":1"])
def test_what_is_no_address_is_refused(at):
    done = bench.run("cpu", "--events=1", f"--metrics-listen={at}", "run")
    assert done.status == 1
    assert done.err.startswith(f"FATAL: --metrics-listen={at}: this is not an address; name a port of 127.0.0.1")


def test_other_commands_and_dialects_serve_nothing(tmp_path):
    for command, dialect in (("cleanup", "own"), ("help", "own")):
        done = bench.run("fileio", "--metrics-listen=nine", command, cwd=tmp_path, dialect=dialect)
        assert done.status == 0, done
    assert "metrics-listen" not in bench.run("--help", dialect="1.0", env=dict(os.environ)).out
