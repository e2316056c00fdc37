# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that processes of a launcher of MPI make one run on a server."""

import os
import re

import pytest

import ranks as launched
from test_workloads import must

pytestmark = pytest.mark.slow
NAMES = ["mpich"] if os.environ.get("BENCH_SANITIZER") else list(launched.LAUNCHERS)


@pytest.mark.parametrize("name", NAMES)
def test_one_run_on_a_server(tmp_path, server, name):
    why = launched.missing(name)
    if why:
        pytest.skip(why)
    ranks = launched.Ranks(tmp_path, name)
    options = ("oltp_read_write", "--tables=2", "--table-size=500", *server.login())
    must(server, *options, "prepare")
    try:
        done = ranks.run(4, *options, "--threads=2", "--events=201", "--time=0", "--report=text",
                         "--report=json:document.json", "run")
        assert done.status == 0, done.out + done.err
        assert re.search(r"Number of threads: 8\b", done.out)
        assert re.findall(r"transactions: +(\d+) ", done.out) == ["201"]
        assert done.total["events"] == done.total["transactions"] == 201
        assert ranks.left() == []
    finally:
        ranks.close()
