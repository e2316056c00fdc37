# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections with a waiter, as under --workers: the thread sleeps nowhere else, however late and in
how many parts the server's bytes come."""

import socket
import threading
import time

import pytest

LIBRARY = {"mysql": "--mysql-protocol=library", "pgsql": "--pgsql-protocol=library"}
ENCRYPTED = {"mysql": "--mysql-ssl=required", "pgsql": "--pgsql-sslmode=require"}
PLAIN = {"mysql": "--mysql-ssl=off", "pgsql": "--pgsql-sslmode=disable"}


class Delay:
    """Forwards each part of at most SIZE bytes after SECONDS."""

    def __init__(self, port, seconds, size):
        self.to, self.seconds, self.size = port, seconds, size
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                pair = self.listener.accept()[0], socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            for each in pair:
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.forward, args=pair, daemon=True).start()
            threading.Thread(target=self.forward, args=pair[::-1], daemon=True).start()

    def forward(self, source, to):
        try:
            while data := source.recv(self.size):
                time.sleep(self.seconds)
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@pytest.fixture(params=["mariadb", "postgresql"])
def encrypting(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("seconds, size", [(0.02, 65536), (0.0005, 64)])
@pytest.mark.parametrize("ways", [[PLAIN], [LIBRARY], [ENCRYPTED], [ENCRYPTED, LIBRARY]])
def test_a_thread_sleeps_only_in_the_waiter(shell, encrypting, ways, seconds, size):
    delay = Delay(encrypting.port, seconds, size)
    port = f"--{encrypting.driver}-port={delay.port}"
    sh = shell(encrypting, [port, *(way[encrypting.driver] for way in ways)], by="tcp", env={"SHELL_WAITS": "1"})
    assert sh("connect")["rc"] == "DONE"
    assert sh.query("SELECT 1 + 1") == [["2"]]
    assert sh("prepare 0 SELECT 1 + ?")["rc"] == "DONE"
    assert sh("bind 0 int:4")["rc"] == "DONE"
    assert sh("execute 0")["rc"] == "ROWS"
    assert sh.rows() == [["5"]]
    assert sh("info")["rc"] == 0
    assert sh.query("SELECT length('%s')" % ("x" * 20000)) == [["20000"]]
    assert sh("query SELECT repeat('x', 20000)")["nrows"] == 1
    counted = sh("waits")
    # MariaDB Connector/C sleeps for 1 us when it has begun to connect.
    assert counted["waits"] >= 8 and counted["slept"] <= 4, counted
    delay.listener.close()


def test_a_full_backlog_is_waited_for(shell, encrypting, tmp_path):
    """With a server that accepts after a while, and hangs up then."""
    names = {"mysql": ("s", "--mysql-socket=%s/s"), "pgsql": (".s.PGSQL.5432", "--pgsql-host=%s")}
    name, option = names[encrypting.driver]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / name))
        listener.listen(0)
        waiting = []
        try:
            while True:
                waiting.append(socket.socket(socket.AF_UNIX))
                waiting[-1].setblocking(False)
                waiting[-1].connect(str(tmp_path / name))
        except BlockingIOError:
            pass

        def accept():
            time.sleep(0.8)
            for _ in waiting:
                listener.accept()[0].close()

        accepting = threading.Thread(target=accept)
        accepting.start()
        port = ["--pgsql-port=5432"] if encrypting.driver == "pgsql" else []
        sh = shell(encrypting, [option % tmp_path, *port], env={"SHELL_WAITS": "1"})
        answer = sh("connect")
        accepting.join()
    for each in waiting:
        each.close()
    assert answer["rc"] == "ERROR"
    assert "Resource temporarily unavailable" not in answer["text"] and "(11)" not in answer["text"], answer
