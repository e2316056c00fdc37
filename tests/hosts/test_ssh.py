# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts are reached through ssh as it is installed, by a server of the test's own."""

import os
import signal
import socket
import subprocess
import time

import pytest
import sshd
from servers import free_port



class Server:
    """An sshd of this user alone, on a loopback port."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        sshd.make_keys(folder, *(f"[{name}]:{self.port}" for name in ("127.0.0.1", "localhost")))
        config = sshd.write_config(folder / "config", folder, "127.0.0.1", self.port,
                                   "AcceptEnv TMPDIR")
        self.process = subprocess.Popen([sshd.SSHD, "-D", "-e", "-f", str(config)],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.wait()

    def wait(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.process.stderr.read().decode()
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1):
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("sshd does not listen")

    def shell(self, known="known"):
        return f"ssh {sshd.client(self.folder, known)} -p {self.port} -o SendEnv=TMPDIR"

    def connections(self):
        """Its processes, one or two for each connection."""
        return map(int, subprocess.run(["pgrep", "-P", str(self.process.pid)], check=False,
                                       capture_output=True).stdout.split())

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture
def server(tmp_path):
    if not sshd.is_there():
        pytest.skip("no sshd: install openssh-server")
    (tmp_path / "ssh").mkdir()
    made = Server(tmp_path / "ssh")
    yield made
    made.close()


def test_two_hosts(fleet, server):
    done = fleet.run("127.0.0.1,localhost", "cpu", "--cpu-max-prime=100", "--events=1000",
                     "--time=0", "--threads=2", "run", shell=server.shell())
    assert done.status == 0, done.err
    assert done.total["events"] == 1000
    assert done.member("localhost")["host"]["threads"] == 2
    assert fleet.left() == []


def test_a_host_key_that_is_not_known(fleet, server):
    done = fleet.run("localhost", "cpu", "--events=1", "run", shell=server.shell("unknown"))
    assert done.status == 1
    assert "localhost: " in done.err and "Host key verification failed" in done.err
    assert "255" in done.err


@pytest.mark.slow
def test_a_lost_server(fleet, server):
    """The connections of both hosts break."""
    fleet.begin("127.0.0.1,localhost", fleet.steady(), "--time=600", "--report-interval=0.3", "run",
                shell=server.shell())
    fleet.wait_for_line("s ] thds:")
    # Stopped first: the second one would otherwise hear of the first in time to end in order.
    connections = list(server.connections())
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in connections:
            os.kill(pid, number)
    done = fleet.finish()
    assert done.status == 1
    assert "localhost: lost" in done.err and "127.0.0.1: lost" in done.err
    assert fleet.left() == []


@pytest.mark.slow
def test_a_killed_agent(fleet, server):
    fleet.begin("127.0.0.1,localhost", fleet.steady(), "--time=600", "--report-interval=0.3", "run",
                shell=server.shell())
    fleet.wait_for_line("s ] thds:")
    agents = fleet.agents()
    assert len(agents) == 2
    os.kill(agents[0], signal.SIGKILL)
    done = fleet.finish()
    assert done.status == 1
    assert fleet.left() == []


@pytest.mark.slow
def test_a_killed_controller(fleet, server):
    fleet.begin("127.0.0.1,localhost", fleet.steady(), "--time=600", "--report-interval=0.3", "run",
                shell=server.shell())
    fleet.wait_for_line("s ] thds:")
    fleet.process.kill()
    fleet.process.wait()
    assert fleet.left() == []
