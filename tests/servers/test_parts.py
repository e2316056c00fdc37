# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows on real servers that groups of one run use different servers, drivers and passwords, that
workloads are drawn by weight, and that each studies a figure of one part."""
import json
import subprocess

import pytest

import transcripts
from servers import BENCH

COUNTS = {"group:my": 300, "group:pg": 200}


@pytest.fixture
def both(mariadb, postgresql):
    for server in (mariadb, postgresql):
        transcripts.empty(server)
    yield mariadb, postgresql
    for server in (mariadb, postgresql):
        transcripts.empty(server)


def bench(folder, *args, status=(0,)):
    done = subprocess.run([BENCH, *args], cwd=folder, capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode in status, done.stdout + done.stderr
    return done


def kinds(path):
    document = json.loads(path.read_text())
    return {k["name"]: k["events"] for k in document["groups"][0]["total"]["event_kinds"]}


def test_groups_on_two_servers(both, tmp_path):
    mariadb, postgresql = both
    words = ["--group=my: oltp_point_select --threads=2 --table-size=100 --events=300 "
             + " ".join(mariadb.login()),
             "--group=pg: oltp_update_non_index --table-size=100 --events=200 "
             + " ".join(postgresql.login()), "--time=0"]
    done = bench(tmp_path, *words, "prepare")
    assert done.stdout.count("Creating table 'sbtest1'") == 2
    bench(tmp_path, *words, "--report=json:r.json", "run")
    assert kinds(tmp_path / "r.json") == COUNTS
    document = json.loads((tmp_path / "r.json").read_text())
    reads = {g["host"]["name"]: g["total"]["figures"]["reads"] for g in document["groups"][1:]}
    writes = {g["host"]["name"]: g["total"]["figures"]["writes"] for g in document["groups"][1:]}
    assert (reads, writes) == ({"my": 300, "pg": 0}, {"my": 0, "pg": 200})
    # A server that is gone is that of a group.
    done = bench(tmp_path, *words, "--pg.pgsql-port=1", "run", status=(1,))
    assert "pg: FATAL: " in done.stderr and "port 1" in done.stderr
    bench(tmp_path, *words, "cleanup")


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_workloads_by_weight(both, name, tmp_path):
    server = both[name == "postgresql"]
    words = ["oltp_point_select@4", "oltp_update_non_index@1", "--table-size=100", *server.login()]
    bench(tmp_path, *words, "prepare")
    bench(tmp_path, *words, "--events=1000", "--time=0", "--threads=2", "--rand-seed=1",
          "--report=json:r.json", "run")
    counts = kinds(tmp_path / "r.json")
    assert sum(counts.values()) == 1000
    # 99.99 % of all draws.
    assert abs(counts["oltp_update_non_index"] - 200) < 50
    document = json.loads((tmp_path / "r.json").read_text())
    figures = document["groups"][0]["total"]["figures"]
    assert (figures["reads"], figures["writes"]) == (counts["oltp_point_select"],
                                                     counts["oltp_update_non_index"])
    bench(tmp_path, *words, "cleanup")
