# SPDX-License-Identifier: GPL-2.0-or-later
"""PostgreSQL behind PgBouncer, which gives each transaction the server's connection that is free."""

import re
import socket
import subprocess

import pytest

import clusters
import servers
import transcripts
from test_workloads import number
from servers import BENCH

SIZE = ["--table-size=200"]


class PgBouncer:
    """With fewer connections to the server than threads have to it."""

    def __init__(self, server):
        self.server, self.port = server, servers.free_port()
        self.folder = servers.make_folder("bench-pgbouncer-", server.account)
        with open(f"{self.folder}/users", "w") as f:
            f.write(f'"{servers.USER}" "{servers.PASSWORD}"\n')
        with open(f"{self.folder}/ini", "w") as f:
            f.write(f"[databases]\n* = host=127.0.0.1 port={server.port}\n[pgbouncer]\n"
                    f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
                    f"auth_type = scram-sha-256\nauth_file = {self.folder}/users\nlogfile = {self.folder}/log\n"
                    "pool_mode = transaction\ndefault_pool_size = 3\n" + self._no_statements())
        self.process = servers.run_as(
            server.account, [servers.find_program("pgbouncer"), "-q", f"{self.folder}/ini"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        clusters.wait_until(self._listens, "PgBouncer listens")

    @staticmethod
    def _no_statements():
        """Later versions keep track of prepared statements unless told otherwise."""
        said = subprocess.run([servers.find_program("pgbouncer"), "--version"], capture_output=True, text=True)
        version = re.match(r"PgBouncer (\d+)\.(\d+)", said.stdout)
        return "max_prepared_statements = 0\n" if tuple(map(int, version.groups())) >= (1, 21) else ""

    def _listens(self):
        assert self.process.poll() is None
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        self.process.kill()
        self.process.wait()
        servers.shutil.rmtree(self.folder)


@pytest.fixture
def pooler(postgresql):
    if not servers.find_program("pgbouncer"):
        pytest.skip("no pgbouncer: install it")
    transcripts.empty(postgresql)  # of what other tests of this process have left
    subprocess.run([BENCH, "oltp_read_write", *postgresql.login(), *SIZE, "prepare"], check=True,
                   stdout=subprocess.DEVNULL)
    made = PgBouncer(postgresql)
    yield made
    made.stop()
    subprocess.run([BENCH, "oltp_read_write", *postgresql.login(), *SIZE, "cleanup"], check=True,
                   stdout=subprocess.DEVNULL)


def run(pooler, *argv):
    login = [*pooler.server.login(), f"--pgsql-port={pooler.port}"]
    done = subprocess.run([BENCH, "oltp_read_write", *login, *SIZE, "--threads=8", "--events=80", "--time=0", *argv,
                           "run"], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("protocol", ["own", pytest.param("library", marks=pytest.mark.slow)])
def test_statements_as_text_pass(pooler, protocol):
    status, out, err = run(pooler, "--db-ps-mode=disable", f"--pgsql-protocol={protocol}",
                           "--pgsql-ignore-errors=40P01,40001,23505", "--verify-commits")
    assert (status, err) == (0, ""), out + err
    assert number(out, "total number of events") == number(out, "acknowledged") == 80
    assert number(out, "missing") == 0


def test_statements_that_are_prepared_at_each_execution_pass(pooler):
    status, out, err = run(pooler, "--db-ps-mode=extended", "--pgsql-ignore-errors=40P01,40001,23505")
    assert (status, err) == (0, ""), out + err
    assert number(out, "total number of events") == 80


@pytest.mark.parametrize("protocol", [pytest.param("own", marks=pytest.mark.slow), "library"])
def test_prepared_statements_are_refused_with_a_remedy(pooler, protocol):
    status, out, err = run(pooler, f"--pgsql-protocol={protocol}")
    assert status == 1 and "Threads started" not in out
    assert re.search(r'^FATAL: PQprepare\(\) failed: .*prepared statement "\w+" already exists$', err, re.M)
    assert err.count("use --db-ps-mode=disable or --db-ps-mode=extended\n") == 1


def test_settings_of_a_session_do_not_reach_other_clients(pooler):
    """The server's connection would keep the isolation level for whoever gets it next."""
    status, out, err = run(pooler, "--db-isolation-level=serializable", "--db-ps-mode=disable")
    assert status == 1 and err.count("--db-isolation-level cannot be used through a pooler") == 1, out + err
    login = [*pooler.server.login(), f"--pgsql-port={pooler.port}"]
    level = subprocess.run([BENCH, "/dev/stdin", *login, "--db-ps-mode=disable", "--events=20", "run"], text=True,
                           input="function event() print(sysbench.sql.driver():connect():query_row("
                                 "'SHOW transaction_isolation')) end", capture_output=True, timeout=60).stdout
    assert "serializable" not in level and level.count("read committed") == 20
    status, out, err = run(pooler, "--db-init-sql=SET lock_timeout = 0", "--db-ps-mode=disable")
    assert status == 0 and err.count("there is a pooler: what --db-init-sql sets") == 1, out + err
    direct = subprocess.run([BENCH, "oltp_read_write", *pooler.server.login(), *SIZE, "--events=8",
                             "--db-isolation-level=serializable", "--db-init-sql=SET lock_timeout = 0", "run"],
                            capture_output=True, text=True, timeout=120)
    assert (direct.returncode, direct.stderr) == (0, "")
