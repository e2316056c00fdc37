# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers for the tests of this folder, started once, and the shell that drives a driver module."""

import fcntl
import json
import os
import shutil
import socket
import subprocess
import tempfile

import pytest

import servers
import transcripts
from servers import BENCH

# Sanitizers see every command line in other tests; one file is about Oracle's server alone.
collect_ignore = [
    *(["test_differential_sql.py", "test_each_connection.py"] if os.environ.get("BENCH_SANITIZER") else []),
    *([] if os.environ.get("BENCH_MYSQL") else ["test_mysql8.py"]),
]


@pytest.fixture(scope="session")
def certificates():
    if not shutil.which("openssl"):
        pytest.skip("no openssl: install it to test encryption")
    folder = tempfile.mkdtemp(prefix="bench-certs-", dir="/tmp")
    os.chmod(folder, 0o755)
    yield servers.Certificates(folder)
    shutil.rmtree(folder)


def started(server):
    server.start_somewhere()
    server.create_user()
    return server


# What is called mariadb is Oracle's MySQL where BENCH_MYSQL names the folder of one: ../mysql8.sh.
@pytest.fixture(scope="session")
def mariadb_template():
    kind = servers.mysql_kind()
    missing = kind.missing()
    if missing:
        pytest.skip(missing)
    folder = servers.make_folder("bench-template-", servers.account_for("mysql"))
    yield kind.make_template(os.path.join(folder, "data"))
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def mariadb(certificates, mariadb_template):
    """Offers encryption."""
    server = servers.mysql_kind()(certificates, mariadb_template)
    try:
        yield started(server)
    finally:
        server.remove()


@pytest.fixture(scope="session")
def mariadb_plain(mariadb_template):
    """Without encryption."""
    server = servers.mysql_kind()(template=mariadb_template)
    try:
        yield started(server)
    finally:
        server.remove()


@pytest.fixture
def mariadb_default_port(mariadb_template):
    """On port 3306, for the user and the database that are the defaults."""
    # Several runs of the suite at the same time take turns.
    with open(f"/tmp/bench-port-3306.{os.getuid()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield from server_on_default_port(mariadb_template)


def server_on_default_port(mariadb_template):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", 3306))
        except OSError:
            pytest.skip("there is a server on port 3306")
    server = servers.mysql_kind()(template=mariadb_template)
    try:
        server.port = 3306
        started(server).sql("CREATE USER sbtest@'127.0.0.1'; GRANT ALL ON sbtest.* TO sbtest@'127.0.0.1'")
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def mariadb_victim(mariadb_template):
    """Without encryption, and to be killed, frozen and restarted; started when it does not run."""
    server = servers.mysql_kind()(template=mariadb_template)
    try:
        yield started(server)
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgresql(certificates):
    """Offers encryption."""
    missing = servers.PostgreSQL.missing()
    if missing:
        pytest.skip(missing)
    server = servers.PostgreSQL(certificates)
    try:
        yield started(server)
    finally:
        server.remove()


@pytest.fixture(scope="module")
def postgresql_victim():
    """Without encryption, and to be killed, frozen and restarted."""
    missing = servers.PostgreSQL.missing()
    if missing:
        pytest.skip(missing)
    server = servers.PostgreSQL()
    try:
        yield started(server)
    finally:
        server.remove()


class Shell:
    """A driver module behind tests/servers/driver_shell; each call is one hook."""

    def __init__(self, driver, argv, env=None, wrap=()):
        build = os.path.dirname(os.path.dirname(BENCH))
        module = os.path.join(build, "lib/bench/drivers", driver + ".so")
        program = os.path.join(build, "tests/servers/driver_shell")
        argv = [arg for arg in argv if not arg.startswith("--db-driver=")]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [*wrap, program, module, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, text=True, bufsize=1, env={**os.environ, **(env or {})})
        self.start = json.loads(self.process.stdout.readline())

    def __call__(self, *words):
        self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the shell ended: {self.stderr()}")
        return json.loads(line)

    def rows(self):
        found = []
        while (row := self("fetch")) is not None:
            found.append(row)
        return found

    def query(self, sql):
        answer = self("query", sql)
        return self.rows() if answer["rc"] == "ROWS" else answer

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        """Ends the shell; what it freed and how is checked by the sanitizers, if it has them."""
        self.process.stdin.close()
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        return status


@pytest.fixture
def shell():
    """A factory; every shell it made ends well."""
    made = []

    def make(server, argv=(), by=None, **kwargs):
        login = server.login(by) if by else server.login()
        made.append(Shell(server.driver, [*login, *argv], **kwargs))
        return made[-1]

    yield make
    for each in made:
        expected = 1 if each.start["rc"] == "INIT" else 0
        assert each.close() == expected, each.stderr()


@pytest.fixture(params=["mariadb_plain", "postgresql"])
def server(request):
    """Of each kind one, without tables."""
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    yield server
    transcripts.empty(server)
