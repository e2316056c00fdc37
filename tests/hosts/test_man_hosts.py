# SPDX-License-Identifier: GPL-2.0-or-later
"""The example of bench-hosts(7) with several hosts prints what the page shows: typed on one host,
with two others that ssh reaches and a database that all three reach."""

import os
import pathlib
import shutil
import subprocess
import sys

import network as networks
import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
import examples
import servers

pytestmark = pytest.mark.slow
SESSIONS = examples.sessions("hosts")


@pytest.fixture
def database():
    """Whose clients come by a Unix socket."""
    if servers.MariaDB.missing():
        pytest.skip(servers.MariaDB.missing())
    folder = servers.make_folder("bench-template-", servers.account_for("mysql"))
    server = servers.MariaDB(template=servers.MariaDB.make_template(os.path.join(folder, "data")))
    try:
        server.start_somewhere()
        server.sql("CREATE DATABASE sbtest; CREATE USER sbtest@localhost;"
                   " GRANT ALL ON sbtest.* TO sbtest@localhost")
        yield server
    finally:
        server.remove()
        shutil.rmtree(folder)


def test_there_is_an_example():
    assert len(SESSIONS) == 1


@pytest.mark.parametrize(("page", "session"), SESSIONS)
def test_example(page, session, network, database, tmp_path, monkeypatch):
    if network is None:
        return
    (tmp_path / "bin").mkdir()
    shutil.copy(network.shell(), tmp_path / "bin/ssh")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    with subprocess.Popen(network.inside(sys.executable, networks.HERE / "forward.py",
                                         f"{networks.INNER}.1", "3306", database.socket),
                          stdout=subprocess.PIPE, text=True) as forward:
        try:
            assert forward.stdout.readline() == "ready\n"
            examples.write_files(page, session.line, tmp_path)
            examples.run_session(session, tmp_path, [("@db1/", f"@{networks.INNER}.1/")])
        finally:
            forward.kill()
    assert network.left(60) == {}
