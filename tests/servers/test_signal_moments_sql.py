# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that after a signal at any moment of a run or of prepare on a server a report is complete, a document whole,
and no connection is left."""

import time

import pytest

import transcripts
from test_workloads import must

import moments

WORKLOAD = ("oltp_read_write", "--tables=2", "--table-size=1000")


def wait_for_no_connection(server):
    """The server needs a moment to see that a client has gone."""
    deadline = time.monotonic() + 120
    while server.sql("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'spec_user'").strip() != "0":
        assert time.monotonic() < deadline, server.sql("SHOW PROCESSLIST")
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.both_modes
def test_mariadb(mariadb_plain, tmp_path):
    transcripts.empty(mariadb_plain)
    must(mariadb_plain, *WORKLOAD, "prepare")
    args = [WORKLOAD[0], *mariadb_plain.login(), *WORKLOAD[1:], "--db-ignore-errors=deadlock,duplicate"]
    for number in range(moments.TIMES):
        moments.attempt_run("mariadb", number, args, tmp_path, [])
    wait_for_no_connection(mariadb_plain)
    transcripts.empty(mariadb_plain)
    args = [WORKLOAD[0], *mariadb_plain.login(), "--tables=4", "--table-size=20000"]
    for number in range(moments.TIMES):
        moments.attempt_prepare("mariadb", number, args, tmp_path)
    wait_for_no_connection(mariadb_plain)
