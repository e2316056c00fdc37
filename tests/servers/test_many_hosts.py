# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that several hosts prepare the tables of one process, and that the report of all has the
server's counts."""

import collections
import contextlib
import json
import re
import signal

import pytest

import fleet as fleets
import transcripts
from test_prepare import query, schema, watched
from test_workloads import must, number
from gate import slow


@pytest.fixture
def fleet(tmp_path):
    made = fleets.Fleet(tmp_path)
    yield made
    made.close()


def content(server, tables):
    return [query(server, f"SELECT id, k, c, pad FROM {schema(server)}sbtest{i} ORDER BY id")
            for i in range(1, tables + 1)]


MARIADB, POSTGRESQL = "mariadb_plain", "postgresql"


# One table after the other, and shared by threads.
@pytest.mark.parametrize("server, tables", [(MARIADB, 7), (POSTGRESQL, 4), slow(MARIADB, 4), slow(POSTGRESQL, 7)],
                         indirect=["server"])
def test_tables_are_those_of_one_process(fleet, server, tables):
    options = ("oltp_read_write", f"--tables={tables}", "--table-size=200")
    must(server, *options, "--threads=6", "prepare")
    expected = content(server, tables)
    assert [text.count("\n") for text in expected] == [199] * tables
    transcripts.empty(server)
    done = fleet.run("a,b,c", *options, *server.login(), "--threads=2", "prepare")
    assert done.status == 0, done.err
    assert content(server, tables) == expected
    done = fleet.run("a,b,c", *options, *server.login(), "--threads=2", "cleanup")
    assert done.status == 0, done.err
    where = "table_schema = 'spec_db'" if server.driver == "mysql" else "table_schema = 'public'"
    assert query(server, f"SELECT COUNT(*) FROM information_schema.tables WHERE {where}") == "0"


def of_mariadb(server):
    text = server.sql("SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Com_insert', 'Com_update', "
                      "'Com_delete', 'Com_begin', 'Com_commit')")
    return collections.Counter({name[4:].upper(): int(n) for name, n in map(str.split, text.splitlines())})


@contextlib.contextmanager
def counted(server):
    """What the server has counted in the block: statements by their first word.  PostgreSQL's are in its
    log; what it counts itself, it hands in late."""
    found = collections.Counter()
    if server.driver == "mysql":
        before = of_mariadb(server)
        yield found
        found.update(of_mariadb(server) - before)
        return
    with watched(server) as sessions:
        yield found
    found.update(text.split(None, 1)[0].rstrip(";") for session in sessions for text in session)


@pytest.mark.parametrize("server, workload", [
    (MARIADB, "oltp_read_write"), (POSTGRESQL, "oltp_point_select"), slow(MARIADB, "oltp_point_select"),
    slow(POSTGRESQL, "oltp_read_write")], indirect=["server"])
def test_counts_are_those_of_the_server(fleet, server, workload):
    options = ("--tables=8", "--table-size=500", *server.login())
    must(server, "oltp_read_write", "--tables=8", "--table-size=500", "prepare")
    with counted(server) as found:
        done = fleet.run("a,b", workload, *options, "--threads=4", "--events=401", "run")
    assert done.status == 0, done.err
    total = done.total
    assert total["events"] == total["transactions"] == 401
    if total["errors"] > 0:
        # Deadlocks: their transactions were begun again, and what came before is the server's alone.
        assert (found["COMMIT"], found["BEGIN"]) == (401, 401 + total["errors"])
        return
    assert found["COMMIT"] == found["BEGIN"] == (401 if workload == "oltp_read_write" else 0)
    # A statement whose row another transaction has just deleted is counted with the others.
    missed = total["other"] - found["BEGIN"] - found["COMMIT"]
    assert found["INSERT"] + found["UPDATE"] + found["DELETE"] == total["writes"] + missed
    assert missed < 10
    # Each host has looked whether the tables are there, and for some of their ids; it does not look
    # for longer than five seconds.  It has asked for the settings of its server too.
    assert 2 <= found["SELECT"] - total["reads"] <= 2 * (8 * 2 + 12)


@pytest.mark.sanitized
def test_commits_of_all_hosts_are_verified(fleet, mariadb):
    """Each host has a table of its own."""
    transcripts.empty(mariadb)
    options = ("oltp_update_index", "--table-size=1000")
    must(mariadb, *options, "prepare")
    done = fleet.run("a,b", *options, *mariadb.login(), "--threads=2", "--events=40", "--time=0",
                     "--verify-commits", "run")
    assert done.status == 0, done.err
    assert (number(done.out, "acknowledged"), number(done.out, "missing")) == (40, 0)
    must(mariadb, *options, "cleanup")
    assert mariadb.sql("SHOW TABLES FROM spec_db") == ""


@pytest.mark.parametrize("server", [MARIADB, slow(POSTGRESQL)], indirect=True)
def test_the_server_is_watched_once(fleet, server):
    """By the first host.  What it counts is what all hosts did, and is not told of a host."""
    options = ("oltp_read_write", "--tables=2", "--table-size=500")
    must(server, *options, "prepare")
    process = fleet.begin("a,b", *options, *server.login(), "--threads=2", "--time=0", "--rate=200",
                          "--report-interval=1", "--watch=host,server", "--watch-lines", "run")
    # A server that is slow to answer has no figures in an interval.  PostgreSQL's backends report what they have
    # counted once a second.
    seen = [fleet.wait_for_line("] server: ") for _ in range(2 if server.driver == "mysql" else 3)]
    process.send_signal(signal.SIGINT)
    done = fleet.finish()
    assert done.status == 128 + signal.SIGINT and "--watch" not in done.err, done.err
    whole = done.document["groups"][0]
    told = [record["watch"] for record in whole["intervals"] if "watch" in record]
    watch = whole["total"]["watch"]
    assert all(name.startswith("server_") for name in watch)
    for host in "ab":
        assert all(name.startswith("host_") for name in done.member(host)["total"]["watch"])
    if server.driver == "mysql":
        # Both are of the same two readings, of which each may have a part of a transaction of each of the threads.
        assert watch["server_Com_select_per_s"] == pytest.approx(14 * watch["server_Com_commit_per_s"], rel=0.3)
        # Those of one host would be half of the commits.  A host that ends later adds some that are not read any more.
        assert 0.2 < watch["server_Com_commit_per_transaction"] < 1.7
        # Two threads on each host, and the one connection that asks.
        assert max(figures["server_Threads_connected"] for figures in told) <= 5
        assert "\n    server questions/commits (1/s):" in done.out
    else:
        assert watch["server_database_xact_commit_per_s"] > 0
        assert "\n    server commits/rollbacks (1/s):" in done.out
    assert len(seen) + len(re.findall(r"^\[ \d+s \] server: ", done.out, re.M)) == len(told)
    assert all(name.startswith("server_") for figures in told for name in figures)
    assert "host: " not in done.out
    assert max(len(json.dumps(figures)) for figures in told) < 48 << 10
    must(server, *options, "cleanup")
