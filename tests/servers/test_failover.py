# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that runs go on when a server of a cluster is killed, and that no acknowledged commit is lost."""

import os
import re
import signal
import subprocess

import pytest

import clusters
import modes
from servers import BENCH
from test_workloads import number

TOKENS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokens.lua")
# Clusters are slow to start and to notice a loss; test_faults.py and unit/test_sql_reconnect.c have the ways through the
# code with one server.
pytestmark = pytest.mark.slow

RUN_FAILED = "the run failed; the report covers what was measured until then"


@pytest.fixture(scope="module")
def galera(mariadb_template):
    if clusters.Node.missing():
        pytest.skip(clusters.Node.missing())
    cluster = clusters.Galera(mariadb_template)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


@pytest.fixture
def pair():
    if clusters.Standby.missing():
        pytest.skip(clusters.Standby.missing())
    both = clusters.Pair()
    try:
        both.start()
        yield both
    finally:
        both.remove()


TABLES = {"mysql": "SHOW TABLES FROM spec_db", "pgsql": "SELECT tablename FROM pg_tables"}


class Tokens:
    """A run that stores tokens, in the background."""

    def __init__(self, cluster, first, folder, *argv):
        self.folder = folder
        first.sql(f"DROP TABLE IF EXISTS {self.table(first)}")
        first.sql(f"CREATE TABLE {self.table(first)} (thread INT, n INT, PRIMARY KEY (thread, n))")
        if first.driver == "pgsql":
            first.sql("GRANT ALL ON tokens TO spec_user")
        else:
            for node in cluster.nodes:
                node.catch_up()
        self.process = subprocess.Popen(
            [BENCH, *modes.command([TOKENS, *cluster.login(), f"--acknowledged={folder}", "--threads=6", "--time=0",
                                    *argv, "run"])],
            cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def table(server):
        return "spec_db.tokens" if server.driver == "mysql" else "tokens"

    def wait_for_commits(self):
        """Of every thread."""
        def all_have():
            assert self.process.poll() is None, self.process.communicate()
            files = list(self.folder.iterdir())
            return len(files) == 6 and all(f.stat().st_size > 0 for f in files)

        clusters.wait_until(all_have, "every thread has committed")

    def wait_for_more(self):
        """Of every thread, from now on."""
        before = {f.name: f.stat().st_size for f in self.folder.iterdir()}
        clusters.wait_until(lambda: all(f.stat().st_size > before[f.name] for f in self.folder.iterdir()),
                            "every thread has committed again")

    def end(self, sent=None):
        if sent is not None:
            self.process.send_signal(sent)
        out, err = self.process.communicate(timeout=240)
        return self.process.returncode, out, err

    def missing(self, server):
        """Commits that were acknowledged, and are not there; and how many were acknowledged."""
        rows = server.sql(f"SELECT thread, n FROM {self.table(server)}").splitlines()
        acknowledged = {f"{f.name}\t{n}" for f in self.folder.iterdir() for n in f.read_text().split()}
        return acknowledged - set(rows), len(acknowledged)

    def check(self, server, out):
        """No commit that was acknowledged is missing; returns how many were acknowledged."""
        missing, acknowledged = self.missing(server)
        assert not missing
        assert acknowledged >= number(out, "total number of events") > 0
        return acknowledged

    def check_verified(self, server, out):
        """The same, and the run has found out by itself."""
        # A commit that is acknowledged when the run is aborted may be unknown to the script.
        assert 0 <= number(out, "acknowledged") - self.check(server, out) <= 6
        assert number(out, "missing") == 0
        assert "bench_commits" not in server.sql(TABLES[server.driver])


@pytest.mark.both_modes
@pytest.mark.parametrize("protocol", ["own", "library"])
def test_sessions_of_a_killed_node_go_on_with_the_others(galera, tmp_path, protocol):
    first, _, last = galera.nodes
    run = Tokens(galera, first, tmp_path, "--verify-commits", "--mysql-ignore-errors=all",
                 f"--mysql-protocol={protocol}")
    run.wait_for_commits()
    galera.kill(last)
    run.wait_for_more()
    last.restart(galera.nodes[:2])
    status, out, err = run.end(signal.SIGINT)
    assert status == 128 + signal.SIGINT, out + err
    assert number(out, "reconnects") >= 2
    run.check_verified(first, out)


@pytest.mark.both_modes
def test_a_killed_node_ends_a_run_that_ignores_no_loss(galera, tmp_path):
    first, _, last = galera.nodes
    run = Tokens(galera, first, tmp_path)
    run.wait_for_commits()
    last.kill()
    status, out, err = run.end()
    galera.wait_for_two(last)
    last.restart(galera.nodes[:2])
    assert status == 1, out + err
    assert re.search(r"^FATAL: mysql_drv_query\(\) returned error 20(06|13) ", err, re.M), err
    assert err.rstrip("\n").endswith(RUN_FAILED)
    assert "Threads fairness:" in out
    run.check(first, out)


@pytest.mark.both_modes
def test_sessions_follow_the_standby_that_is_promoted(pair, tmp_path):
    run = Tokens(pair, pair.primary, tmp_path, "--verify-commits", "--db-ignore-errors=connection,read-only")
    run.wait_for_commits()
    pair.primary.kill()
    pair.standby.promote()
    run.wait_for_more()
    status, out, err = run.end(signal.SIGINT)
    assert status == 128 + signal.SIGINT, out + err
    assert number(out, "reconnects") >= 6
    run.check_verified(pair.standby, out)


@pytest.mark.both_modes
def test_a_killed_primary_ends_a_run_that_ignores_no_loss(pair, tmp_path):
    run = Tokens(pair.primary, pair.primary, tmp_path)
    run.wait_for_commits()
    pair.primary.kill()
    status, out, err = run.end()
    pair.standby.promote()
    assert status == 1, out + err
    assert err.rstrip("\n").endswith(RUN_FAILED)
    assert "Threads fairness:" in out
    run.check(pair.standby, out)
