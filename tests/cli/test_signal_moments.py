# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that after a signal at any moment a report is complete, a document whole, and nothing else is left."""

import pytest

import bench
import moments

PLAIN = {
    "cpu": ["cpu", "--cpu-max-prime=2000"],
    "threads": ["threads", "--thread-yields=10"],
    "mutex": ["mutex", "--mutex-num=16", "--mutex-locks=20000", "--mutex-loops=100"],
    "memory": ["memory", "--memory-block-size=64K", "--memory-total-size=100T"],
}
pytestmark = pytest.mark.slow
FILES = ["fileio", "--file-num=4", "--file-total-size=1M"]
TABLES = ["oltp_read_write", "--db-driver=sqlite", "--sqlite-db=a.db", "--tables=2", "--table-size=1000"]


@pytest.mark.parametrize("name", PLAIN)
def test_plain(tmp_path, name):
    for number in range(moments.TIMES):
        moments.attempt_run(name, number, PLAIN[name], tmp_path, [])


def prepared(args, folder):
    done = bench.run(*args, "prepare", cwd=folder)
    assert done.status == 0, done
    return [f.name for f in folder.iterdir()]


def test_fileio(tmp_path):
    stays = prepared(FILES, tmp_path)
    for number in range(moments.TIMES):
        moments.attempt_run("fileio", number, [*FILES, "--file-test-mode=rndrw"], tmp_path, stays)


def test_sqlite(tmp_path):
    stays = prepared(TABLES, tmp_path)
    args = [*TABLES, "--db-ignore-errors=deadlock,lock-timeout"]
    for number in range(moments.TIMES):
        moments.attempt_run("sqlite", number, args, tmp_path, stays)


@pytest.mark.parametrize("name,args", [("fileio", [*FILES, "--file-total-size=64M"]),
                                       ("sqlite", [*TABLES, "--table-size=100000"])])
def test_prepare(tmp_path, name, args):
    for number in range(moments.TIMES):
        moments.attempt_prepare(name, number, args, tmp_path)
