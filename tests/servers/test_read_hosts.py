# SPDX-License-Identifier: GPL-2.0-or-later
"""--db-read-hosts: two real servers that do not replicate show in their logs which of them got what."""

import collections
import json
import os
import re
import subprocess

import pytest

import clusters
import servers
import transcripts
from test_sql_captures import mysql_sessions, pgsql_sessions
from test_workloads import must, number
from servers import BENCH
from gate import slow

SIZES = ["--tables=2", "--table-size=100"]


class Pair:
    """A server that writes, and one that is read."""

    def __init__(self, writer, reader):
        self.driver = writer.driver
        self.each = {"writer": writer, "reader": reader}
        self.begins = {}
        for server in self.each.values():
            transcripts.empty(server)

    def hosts(self):
        """Without encryption, so that both protocols can be used."""
        plain = ["--pgsql-sslmode=disable"] if self.driver == "pgsql" else []
        return [f"--db-read-hosts=127.0.0.1:{self.each['reader'].port}", *plain]

    def prepare(self, *argv):
        for server in self.each.values():
            must(server, argv[0], *SIZES, *argv[1:], "prepare")

    def listen(self):
        for role, server in self.each.items():
            if self.driver == "mysql":
                server.sql(f"SET GLOBAL general_log_file='{server.path(role)}.log'; SET GLOBAL general_log=ON;")
            else:
                server.sql("ALTER ROLE spec_user SET log_statement = 'all'")
                self.begins[role] = os.path.getsize(server.path("server.log"))

    def heard(self):
        """{role: sessions, each a list of statements}."""
        found = {}
        for role, server in self.each.items():
            if self.driver == "mysql":
                server.sql("SET GLOBAL general_log=OFF;")
                found[role] = mysql_sessions(f"{server.path(role)}.log")
                os.unlink(f"{server.path(role)}.log")
            else:
                server.sql("ALTER ROLE spec_user RESET log_statement")
                sessions = pgsql_sessions(server.path("server.log"), self.begins[role])
                found[role] = [[text for text, _ in s] for s in sessions]
        return found

    def run(self, workload, *argv):
        """The report, and {role: Counter of first words}."""
        self.listen()
        out = must(self.each["writer"], workload, *SIZES, *self.hosts(), "--threads=2", "--events=20", *argv,
                   "run", by="tcp")
        heard = self.heard()
        return out, {role: collections.Counter(word(t) for s in heard[role] for t in s if not transcripts.PREFLIGHT.match(t))
                     for role in heard}


def word(text):
    return re.match(r"[A-Za-z]*", text.strip()).group().upper()


@pytest.fixture(params=["mysql", "pgsql"])
def pair(request):
    names = {"mysql": ("mariadb_plain", "mariadb"), "pgsql": ("postgresql", "postgresql_victim")}
    both = Pair(*(request.getfixturevalue(name) for name in names[request.param]))
    yield both
    for server in both.each.values():
        transcripts.empty(server)


# Of either protocol, prepared and not.
WAYS = [("own", "auto"), ("own", "disable"), ("library", "auto"), ("library", "disable")]


@pytest.mark.both_modes
@pytest.mark.parametrize("pair, protocol, mode", [
    ("mysql", "own", "auto"), *(slow("mysql", *way) for way in WAYS[1:]),
    ("pgsql", "library", "disable"), *(slow("pgsql", *way) for way in WAYS[:-1])], indirect=["pair"])
def test_each_statement_goes_to_its_server(pair, protocol, mode):
    ways = [f"--{pair.driver}-protocol={protocol}", f"--db-ps-mode={mode}"]
    pair.prepare("oltp_read_write")

    out, words = pair.run("oltp_point_select", *ways)
    assert (words["writer"]["SELECT"], words["reader"]["SELECT"]) == (0, 20), words
    assert number(out, "reads by read servers") == number(out, "read") == 20

    # One thread: a deadlock lets a transaction begin twice.
    out, words = pair.run("oltp_read_write", "--threads=1", *ways)
    assert sum(words["reader"].values()) == 0, words
    assert (words["writer"]["BEGIN"], words["writer"]["COMMIT"], words["writer"]["SELECT"]) == (20, 20, 280)
    assert number(out, "reads by read servers") == 0

    out, words = pair.run("oltp_read_write", "--skip-trx=on", "--threads=1", *ways)
    assert set(words["reader"]) == {"SELECT"} and words["reader"]["SELECT"] == 280, words
    assert words["writer"] == {"UPDATE": 40, "DELETE": 20, "INSERT": 20}
    assert number(out, "reads by read servers") == number(out, "read") == 280

    for workload in ("oltp_update_index", "oltp_write_only"):
        out, words = pair.run(workload, *ways)
        assert sum(words["reader"].values()) == 0, words
        assert words["writer"]["UPDATE"] >= 20


TRANSACTIONS = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:query("%s")
  con:query("SELECT 1")
  con:query("COMMIT")
  con:query("SELECT 2")
  con:query("BEGIN")
  con:query("SELECT 3")
  con:query("ROLLBACK")
  con:query("SELECT 4 FOR UPDATE")
end
"""


@pytest.mark.parametrize("pair, protocol", [("mysql", "library"), ("pgsql", "own"), slow("mysql", "own"),
                                            slow("pgsql", "library")], indirect=["pair"])
def test_transactions_that_read_are_on_the_read_server(pair, tmp_path, protocol):
    begins = "START TRANSACTION READ ONLY" if pair.driver == "mysql" else "BEGIN TRANSACTION READ ONLY"
    script = tmp_path / "t.lua"
    script.write_text(TRANSACTIONS % begins)
    pair.listen()
    out = must(pair.each["writer"], str(script), *pair.hosts(), "--events=1", f"--{pair.driver}-protocol={protocol}",
               "run", by="tcp")
    heard = pair.heard()
    assert heard["reader"] == [[begins, "SELECT 1", "COMMIT", "SELECT 2"]]
    assert heard["writer"] == [["BEGIN", "SELECT 3", "ROLLBACK", "SELECT 4 FOR UPDATE"]]
    assert number(out, "reads by read servers") == 2


TURNS = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:query("%s")
  con:query("%s")
  con:query("SELECT 1 FOR UPDATE")
  con:query("COMMIT")
  con:query("START TRANSACTION READ ONLY")
  con:query("SELECT 2")
  con:query("COMMIT")
end
"""


@pytest.mark.parametrize("pair", ["pgsql"], indirect=True)
@pytest.mark.parametrize("turn", ["SET TRANSACTION READ WRITE", "SET LOCAL transaction_read_only TO off"])
@pytest.mark.parametrize("comment", ["", " /* trace=" + "1" * 200 + " */"], ids=["plain", "long"])
def test_a_read_transaction_that_turns_to_writing_goes_to_the_write_server(pair, tmp_path, turn, comment):
    """It begins there with the same text, however long that is."""
    begin = "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY" + comment
    script = tmp_path / "t.lua"
    script.write_text(TURNS % (begin, turn))
    pair.listen()
    must(pair.each["writer"], str(script), *pair.hosts(), "--events=1", "run", by="tcp")
    heard = pair.heard()
    assert heard["reader"] == [[begin, "COMMIT", "START TRANSACTION READ ONLY", "SELECT 2", "COMMIT"]]
    assert heard["writer"] == [[begin, turn, "SELECT 1 FOR UPDATE", "COMMIT"]]


BEHIND = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:query("%s")
  con:query("SELECT 1")
  con:query("%s")
  con:query("SELECT 2 FOR UPDATE")
  con:query("COMMIT")
end
"""


@pytest.mark.parametrize("pair, protocol", [("mysql", "own"), ("pgsql", "library"), slow("mysql", "library"),
                                            slow("pgsql", "own")], indirect=["pair"])
def test_what_follows_a_transaction_that_reads_is_on_the_write_server(pair, tmp_path, protocol):
    """MariaDB would carry out the DDL, PostgreSQL would begin a transaction that can write."""
    begins, leaves = {"mysql": ("START TRANSACTION READ ONLY", "CREATE OR REPLACE TABLE left_reading (a INT)"),
                      "pgsql": ("BEGIN TRANSACTION READ ONLY", "COMMIT; BEGIN")}[pair.driver]
    script = tmp_path / "t.lua"
    script.write_text(BEHIND % (begins, leaves))
    pair.listen()
    must(pair.each["writer"], str(script), *pair.hosts(), "--events=1", f"--{pair.driver}-protocol={protocol}",
         "run", by="tcp")
    heard = pair.heard()
    assert heard["reader"] == [[begins, "SELECT 1", "COMMIT"]]
    assert heard["writer"] == [[leaves, "SELECT 2 FOR UPDATE", "COMMIT"]]


def test_commits_are_verified_on_the_write_server(pair):
    pair.prepare("oltp_read_write")
    out, words = pair.run("oltp_read_write", "--verify-commits", "--skip-trx=on")
    assert number(out, "missing") == 0 and number(out, "acknowledged") >= 20
    assert set(words["reader"]) == {"SELECT"}, words
    assert number(out, "reads by read servers") == words["reader"]["SELECT"] >= 280


@pytest.mark.parametrize("pair", ["mysql", slow("pgsql")], indirect=True)
def test_documents_have_the_list_and_the_reads(pair, tmp_path):
    pair.prepare("oltp_point_select")
    file = tmp_path / "result.json"
    pair.run("oltp_point_select", f"--report=json:{file}")
    document = json.loads(file.read_text())
    assert document["groups"][0]["total"]["raw"]["counters"]["read_host_reads"] == 20
    options = {o["name"]: o["value"] for o in document["facts"]["options"]}
    assert options["db-read-hosts"] == pair.hosts()[0].partition("=")[2]


SCRIPT = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:query("SELECT 1")
  local f = io.open("%s", "a")
  f:write("x\\n")
  f:close()
end
"""


@pytest.mark.sanitized
def test_a_read_server_that_is_killed_is_replaced(mariadb_plain, mariadb, mariadb_victim, tmp_path):
    script, marks = tmp_path / "s.lua", tmp_path / "marks"
    script.write_text(SCRIPT % marks)
    victim = f"127.0.0.1:{mariadb_victim.port}"
    other = f"127.0.0.1:{mariadb.port}"
    process = subprocess.Popen(
        [BENCH, str(script), *mariadb_plain.login("tcp"), f"--db-read-hosts={victim},{other}", "--time=0",
         "--rate=50", "--mysql-ignore-errors=all", "run"],
        cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def count():
        assert process.poll() is None, process.communicate()
        return marks.stat().st_size if marks.exists() else 0

    try:
        clusters.wait_until(lambda: count() > 0, "an event")
        mariadb_victim.kill()
        before = count()
        # The event that was going on when it was killed may have been its last one.
        clusters.wait_until(lambda: count() > before + 20, "more events")
    finally:
        process.send_signal(servers.signal.SIGINT)
        out, err = process.communicate(timeout=180)
    assert number(out, re.escape(f"lost by {victim}")) == 1, out + err
    assert number(out, re.escape(f"reconnected to {other}")) == 1, out + err


@pytest.mark.parametrize("item", ["a:b", "::1", ":1", "/x,a:1:2"])
def test_lists_that_are_none_are_refused(mariadb_plain, item):
    done = subprocess.run([BENCH, "oltp_point_select", *mariadb_plain.login(), f"--db-read-hosts={item}", "run"],
                          cwd="/", capture_output=True, text=True, timeout=60)
    wrong = item.split(",")[-1]
    assert done.returncode == 1
    assert done.stderr.startswith(f"FATAL: --db-read-hosts={wrong}: not a server; allowed: host, "), done.stderr


def test_paths_are_sockets(pair):
    """Of PostgreSQL, folders with them; both servers are the same here."""
    server = pair.each["writer"]
    must(server, "oltp_point_select", *SIZES, "prepare")
    path = server.socket if pair.driver == "mysql" else f"{server.folder}:{server.port}"
    out = must(server, "oltp_point_select", *SIZES, f"--db-read-hosts={path}", "--events=20", "run", by="tcp")
    assert number(out, "reads by read servers") == 20


@pytest.mark.parametrize("way", ["list", "reads"])
def test_localhost_with_a_port_of_several_is_no_socket(mariadb_plain, tmp_path, way):
    """The client library takes that name for its default socket, which belongs to another server, or to none."""
    script = tmp_path / "port.lua"
    script.write_text("local con\n"
                      "function thread_init() con = sysbench.sql.driver():connect() end\n"
                      "function event() print('port', (con:query_row('SELECT @@port'))) end\n")
    port = mariadb_plain.port
    where = {"list": ["--mysql-host=localhost", f"--mysql-port={port},{port}"],
             "reads": ["--mysql-host=127.0.0.1", f"--mysql-port={port}", f"--db-read-hosts=localhost:{port}"]}[way]
    login = [a for a in mariadb_plain.login("tcp") if not a.startswith(("--mysql-host", "--mysql-port"))]
    done = subprocess.run([BENCH, str(script), *login, *where, "--threads=2", "--events=4", "run"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(f"port\t{port}\n") == 4, done.stdout


@pytest.mark.parametrize("driver", ["sqlite", "null"])
def test_drivers_without_servers_refuse_a_list(driver):
    done = subprocess.run([BENCH, "oltp_point_select", f"--db-driver={driver}", "--db-read-hosts=a", "run"],
                          cwd="/", capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith(f"FATAL: --db-read-hosts cannot be used with the database driver '{driver}', "
                                  "which has no servers\n"), done.stderr
