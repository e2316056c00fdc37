# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that no call for memory, no write and no connect that fails makes a run with a server
crash, hang or end well without its whole report."""

import os

import pytest

import torture
from test_workloads import must
from gate import slow

pytestmark = pytest.mark.skipif(
    "BENCH_SANITIZER" in os.environ, reason="sanitizers have an allocator of their own"
)
# Transactions without conflicts, whose reports are alike.
SIZES = ("--tables=1", "--table-size=100", "--index-updates=0", "--delete-inserts=0")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return torture.build(tmp_path_factory.mktemp("torture"))


@pytest.mark.parametrize("server, protocol", [
    ("mariadb_plain", "own"), slow("mariadb_plain", "library"), slow("postgresql", "own"),
    slow("postgresql", "library")], indirect=["server"])
def test_a_call_that_fails(server, library, tmp_path, protocol):
    """PostgreSQL's administrator has no password, for which libpq would need 80,000 calls."""
    login = server.login("socket")
    if server.driver == "pgsql":
        login.append("--pgsql-user=postgres")
    must(server, "oltp_read_write", *login, *SIZES, "prepare")
    command = ["oltp_read_write", *login, f"--{server.driver}-protocol={protocol}", *SIZES,
               "--events=6", "--threads=2", "--report-interval=0", "run"]
    statements = 6 * 17  # each is written to its socket
    for kind, least in (("alloc", 1), ("write", statements), ("connect", 2)):
        torture.Torture(library, kind, command, tmp_path).all(least)
