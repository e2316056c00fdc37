# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what is asked of a server before a run, and how connections are set up: limits that are too
low, isolation level, kinds of prepared statements."""

import contextlib
import os
import re
import signal
import subprocess
import threading

import pytest

import clusters
import modes
import servers
import transcripts
from gate import diagonal
from fakemysql import COM_QUERY, END, OK, FakeMySQL, packets
from test_prepare import query, watched
from test_workloads import bench, must, number

SMALL = ["--table-size=100"]


SERVERS = ["mariadb_plain", "postgresql"]


@pytest.fixture(params=SERVERS)
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    must(server, "oltp_read_write", "--tables=4", *SMALL, "prepare")
    return server


@contextlib.contextmanager
def limited(server, **limits):
    before = {name: server.sql(f"SELECT @@{name}").strip() for name in limits}
    server.sql("".join(f"SET GLOBAL {name}={value};" for name, value in limits.items()))
    try:
        yield
    finally:
        server.sql("".join(f"SET GLOBAL {name}={value};" for name, value in before.items()))


@pytest.fixture
def mysql(mariadb_plain):
    transcripts.empty(mariadb_plain)
    must(mariadb_plain, "oltp_read_write", "--tables=4", *SMALL, "prepare")
    await_sessions(mariadb_plain, 0)
    await_no_statements(mariadb_plain)
    return mariadb_plain


def run(server, *argv):
    return bench(server, "oltp_read_write", *SMALL, "--db-ignore-errors=deadlock,duplicate", *argv, "run")


CONNECTS_LATE = """
function thread_init() if sysbench.tid > 0 then con = sysbench.sql.driver():connect() end end
function event() if con then con:query("SELECT 1") end end
"""


def test_the_first_session_need_not_connect(mysql, tmp_path):
    """The first connection is opened by one of several that share a worker: it waited for itself."""
    (tmp_path / "late.lua").write_text(CONNECTS_LATE)
    out = must(mysql, f"{tmp_path}/late.lua", "--threads=20", "--workers=1", "--events-per-session=5", "run")
    assert number(out, "queries") == 19 * 5


def test_too_few_connections(mysql):
    with limited(mysql, max_connections=40):
        status, out, err = run(mysql, "--threads=64", "--events=64")
        assert status == 1
        said = re.search(r'^the run needs up to 64 connections, but the server allows 40: type "(SET GLOBAL '
                         r'max_connections = \d+;)" on the server, or use fewer --threads$', err, re.M)
        assert said and err.splitlines()[0] == said.group(0), err
        assert err.endswith("\nFATAL: Threads initialization failed!\n") and "Threads started!" not in out
        assert "Too many connections" not in err
        # What is to be typed is enough for the threads.
        assert 64 <= int(re.search(r"\d+", said[1])[0]) <= 70
        mysql.sql(said[1])
        status, out, err = run(mysql, "--threads=64", "--events=64")
        assert (status, err) == (0, ""), out


def select(login, folder, *argv):
    """Runs it in a folder that is not the source folder, whose scripts would be found before the installed ones."""
    done = subprocess.run([os.path.abspath(os.environ["BENCH"]), "oltp_point_select", *login, *argv, "run"],
                          cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def test_tables_are_looked_at_before_the_run(server, tmp_path):
    """Once, with one question for each, on a connection of its own."""
    with watched(server) as sessions:
        status, out, err = select(server.login(), tmp_path, "--tables=4", "--table-size=200", "--threads=12",
                                  "--events=24", "--time=0")
    assert (status, err) == (0, "warning: 4 tables have fewer rows than --table-size=200, 'sbtest1' has at most 100: "
                                "run 'cleanup' and 'prepare', or use --table-size=100\n"), out
    asked = [s for s in sessions if any("MAX(id)" in text for text in s)]
    assert len(asked) == 1 and sum("MAX(id)" in text for text in asked[0]) == 4
    assert number(out, "read") == 24
    status, out, err = select(server.login(), tmp_path, "--tables=6", *SMALL, "--threads=4")
    assert (status, err) == (1, "table 'sbtest5' does not exist: run 'prepare' first, or use --tables=4\n"), out


def test_tables_are_looked_at_on_each_server(mysql, mariadb, tmp_path):
    def outcome(threads=2):
        login = [*mysql.login("tcp"), f"--mysql-port={mysql.port},{mariadb.port}"]
        status, _, err = select(login, tmp_path, "--tables=4", *SMALL, f"--threads={threads}", "--events=4", "--time=0")
        return status, err

    transcripts.empty(mariadb)
    assert outcome(threads=1) == (0, "")
    where = f"on 127.0.0.1:{mariadb.port}"
    assert outcome() == (1, f"table 'sbtest1' does not exist {where}: run 'prepare' first, for each server if they "
                            "share no data\n")
    must(mariadb, "oltp_read_write", "--tables=4", "--table-size=50", "prepare")
    assert outcome() == (0, f"warning: 4 tables {where} have fewer rows than --table-size=100, 'sbtest1' has at most "
                            "50: run 'cleanup' and 'prepare', or use --table-size=50\n")
    transcripts.empty(mariadb)


@contextlib.contextmanager
def console(server, text):
    """A client of the administrator, which has executed the text."""
    client = {"mysql": lambda: [server.client(), "--no-defaults", f"--socket={server.socket}", "--user=root", "--batch",
                                "--skip-column-names", "--unbuffered", "spec_db"],
              "pgsql": lambda: [servers.find_program("psql"), "-X", "-q", "-A", "-t", "-h", server.folder, "-p",
                                str(server.port), "-U", "postgres", "-d", "spec_db"]}[server.driver]()
    with subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(f"{text}SELECT 'held';\n")
        process.stdin.flush()
        assert process.stdout.readline() == "held\n"
        yield
        process.stdin.close()


def locked(server, table):
    """Another client holds the strongest lock of the table."""
    lock = {"mysql": f"LOCK TABLES {table} WRITE", "pgsql": f"BEGIN; LOCK TABLE {table}"}[server.driver]
    return console(server, f"{lock};\n")


def test_a_locked_table_does_not_hold_up_the_start(server):
    argv = [os.path.abspath(os.environ["BENCH"]), "oltp_point_select", *server.login(), *SMALL, "--events=4", "--time=0",
            "run"]
    with locked(server, "sbtest1"):
        process = subprocess.Popen(argv, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        patience = threading.Timer(300, process.kill)
        patience.start()
        started = any("Initializing worker threads" in line for line in process.stdout)
    out, err = process.communicate(timeout=300)
    patience.cancel()
    assert (started, process.returncode, err) == (True, 0, ""), out
    assert number(out, "read") == 4


def test_too_few_connections_of_postgresql(postgresql):
    transcripts.empty(postgresql)
    must(postgresql, "oltp_read_write", "--table-size=10000", "prepare")
    status, out, err = bench(postgresql, "oltp_read_write", "--threads=1300", "run")
    assert status == 1
    assert re.search(r'^the run needs up to 1300 connections, but the server allows 1197: type "ALTER SYSTEM '
                     r'SET max_connections = 13\d\d;" on the server and restart it, or use fewer --threads$',
                     err, re.M), err
    assert "Threads started!" not in out


QUOTAS = {
    "user": ("mariadb_plain", "ALTER USER 'spec_user'@'{host}' WITH MAX_USER_CONNECTIONS {n};",
             "max_user_connections of 'spec_user'@'{host}'", 0),
    "role": ("postgresql", "ALTER ROLE spec_user CONNECTION LIMIT {n};", "CONNECTION LIMIT of ROLE spec_user", -1),
    "database": ("postgresql", "ALTER DATABASE spec_db CONNECTION LIMIT {n};",
                 "CONNECTION LIMIT of DATABASE spec_db", -1),
}


@contextlib.contextmanager
def quota(request, kind, n):
    """The server, what raises the quota to some number, and who allows n connections."""
    fixture, statement, by, none = QUOTAS[kind]
    server = request.getfixturevalue(fixture)
    host = server.sql("SELECT host FROM mysql.user WHERE user = 'spec_user'").split() if kind == "user" else [""]
    transcripts.empty(server)
    must(server, "oltp_read_write", "--tables=4", *SMALL, "prepare")

    def limit(number):
        server.sql("".join(statement.format(host=h, n=number) for h in host))

    await_sessions(server, 0)
    limit(n)
    try:
        yield server, re.escape(statement).replace("\\{n\\}", r"\d+").replace("\\{host\\}", ".*"), \
            re.escape(by).replace("\\{host\\}", ".*")
    finally:
        limit(none)


def sessions_of(server):
    """Those of the user of the runs."""
    if server.driver == "mysql":
        return server.sql("SELECT id FROM information_schema.processlist WHERE user = 'spec_user'").split()
    return server.sql("SELECT pid FROM pg_stat_activity WHERE usename = 'spec_user'").split()


@pytest.mark.parametrize("kind", QUOTAS)
def test_too_few_connections_of_one(request, kind):
    """The server has enough, but not for this user, role or database."""
    with quota(request, kind, 12) as (server, statement, by):
        status, out, err = run(server, "--threads=16", "--events=16")
        assert status == 1
        said = re.fullmatch(rf'the run needs up to 16 connections, but {by} allows 12: type "({statement})" on the '
                            r"server, or use fewer --threads\nFATAL: Threads initialization failed!\n", err)
        assert said and "Threads started!" not in out, err
        server.sql(said.group(1))
        await_sessions(server, 0)
        status, out, err = run(server, "--threads=16", "--events=16")
        assert (status, err) == (0, ""), out


def await_sessions(server, n):
    """Servers forget a session some time after its client has gone."""
    clusters.wait_until(lambda: len(sessions_of(server)) == n, f"{n} sessions")


@contextlib.contextmanager
def held(server, folder, n):
    """Another client has n connections."""
    script = folder / "hold.lua"
    script.write_text("function thread_init() con = sysbench.sql.driver():connect() end\n"
                      "function event() print('connected') io.flush() io.read() end\n")
    argv = [os.path.abspath(os.environ["BENCH"]), str(script), *server.login(), f"--threads={n}", f"--events={n}", "--time=0",
            "run"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/") as holder:
        assert any(line == "connected\n" for line in holder.stdout)
        yield
        holder.communicate("\n" * n, timeout=300)


@pytest.mark.parametrize("kind", QUOTAS)
def test_connections_of_one_that_others_use(request, kind, tmp_path):
    """Those of the same user, role or database."""
    with quota(request, kind, 20) as (server, statement, by), held(server, tmp_path, 6):
        _, _, err = run(server, "--threads=16", "--events=16")
    assert re.search(rf"^warning: the run needs up to 16 connections; {by} allows 20, and other clients use [6-8]: "
                     rf'type "{statement}" on the server, or use fewer --threads$', err, re.M), err


def test_connections_of_other_roles_count(request):
    """PostgreSQL does not tell a role of which kind the processes of other roles are."""
    with quota(request, "database", 20) as (server, statement, by), contextlib.ExitStack() as others:
        for _ in range(6):
            others.enter_context(console(server, ""))
        _, _, err = run(server, "--threads=16", "--events=16")
    assert re.search(rf"^warning: the run needs up to 16 connections; {by} allows 20, and other clients use [6-8]: "
                     rf'type "{statement}" on the server, or use fewer --threads$', err, re.M), err


def test_a_quota_binds_nobody_who_may_exceed_it(request):
    """PostgreSQL's superusers have no limits."""
    with quota(request, "database", 12) as (server, _, _), quota(request, "role", 12):
        server.sql("ALTER ROLE spec_user SUPERUSER")
        try:
            status, out, err = run(server, "--threads=16", "--events=16")
        finally:
            server.sql("ALTER ROLE spec_user NOSUPERUSER")
    assert (status, err) == (0, ""), out


def end_sessions(server, n):
    """Of a run that has n of them; those of others before it may take a while to go."""
    await_sessions(server, n)
    end = {"mysql": "KILL {};", "pgsql": "SELECT pg_terminate_backend({});"}[server.driver]
    server.sql("".join(end.format(n) for n in sessions_of(server)), check=False)


@pytest.mark.both_modes
@pytest.mark.parametrize("kind", QUOTAS)
def test_sessions_that_cannot_connect_again(request, kind):
    """It is said once, in the middle of the run."""
    remedy = {"user": "ALTER USER ... WITH MAX_USER_CONNECTIONS", "role": "ALTER ROLE ... CONNECTION LIMIT",
              "database": "ALTER DATABASE ... CONNECTION LIMIT"}[kind]
    with quota(request, kind, 10) as (server, _, _):
        argv = modes.command(["oltp_point_select", *server.login(), *SMALL, "--threads=8", "--time=600",
                              "--db-ignore-errors=all", "run"])
        with subprocess.Popen([os.path.abspath(os.environ["BENCH"]), *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/") as process:
            patience = threading.Timer(300, process.kill)
            patience.start()
            assert any(line == "Threads started!\n" for line in process.stdout)
            server.sql(QUOTAS[kind][1].format(host="%", n=4) + (
                QUOTAS[kind][1].format(host="localhost", n=4) if kind == "user" else ""))
            end_sessions(server, 8)
            said = process.stderr.readline()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
            patience.cancel()
    assert re.fullmatch(rf'cannot connect again: .*: raise the limit with "{re.escape(remedy)}" on the server, or use '
                        r"fewer --threads\n", said), said + err
    assert "cannot connect again" not in err and number(out, "total number of events") > 0, out + err


@pytest.mark.both_modes
def test_too_few_threads_to_ask_before_the_run(request):
    """The server's refusal is explained."""
    with quota(request, "role", 4) as (server, _, _):
        status, _, err = run(server, "--threads=8", "--events=64")
    assert status == 1
    assert err.count('\nraise the limit with "ALTER ROLE ... CONNECTION LIMIT" on the server, or use fewer --threads\n'
                     ) == 1, err


def test_a_full_server_is_explained(mysql, tmp_path):
    with limited(mysql, max_connections=10), held(mysql, tmp_path, 6):
        status, _, err = run(mysql, "--threads=9", "--events=9")
    assert status == 1 and "error 1040: Too many connections" in err, err
    assert err.count("\nraise max_connections on the server, or use fewer --threads\n") == 1, err


def test_a_limit_of_all_users(mariadb_template):
    """An account's own limit overrides it, and MariaDB lets those pass it who may exceed max_connections."""
    mysql = servers.mysql_kind()(template=mariadb_template, options=["--max-user-connections=12"])
    try:
        mysql.start_somewhere()
        mysql.create_user()
        must(mysql, "oltp_read_write", *SMALL, "prepare")
        argv = ["--threads=16", "--events=16"]
        status, _, err = run(mysql, *argv)
        said = re.match(r"the run needs up to 16 connections, but max_user_connections of ('spec_user'@'.*') allows "
                        r'12: type "(ALTER USER \1 WITH MAX_USER_CONNECTIONS \d+;)" on the server, ', err)
        assert status == 1 and said, err
        mysql.sql(said.group(2))
        await_sessions(mysql, 0)
        status, out, err = run(mysql, *argv)
        assert (status, err) == (0, ""), out
        if mysql.vendor == "MariaDB":
            mysql.sql(f"ALTER USER {said.group(1)} WITH MAX_USER_CONNECTIONS 0; GRANT SUPER ON *.* TO {said.group(1)}")
            status, out, err = run(mysql, *argv)
            assert (status, err) == (0, ""), out
    finally:
        mysql.remove()


def test_connections_that_others_use(mysql):
    client = [servers.find_program("mariadb"), "--no-defaults", f"--socket={mysql.socket}", "--user=root", "-e",
              "SELECT SLEEP(600)"]
    others = [subprocess.Popen(client, stdout=subprocess.DEVNULL) for _ in range(6)]
    try:
        asleep = "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(600)'"
        clusters.wait_until(lambda: int(mysql.sql(asleep)) == 6, "six other clients")
        with limited(mysql, max_connections=20):
            _, _, err = run(mysql, "--threads=16", "--events=16")
    finally:
        for process in others:
            process.kill()
            process.wait()
    assert re.search(r"^warning: the run needs up to 16 connections; the server allows 20, and other clients use [6-9]: "
                     r'type "SET GLOBAL max_connections = 2[6-9];" on the server, or use fewer --threads$',
                     err, re.M), err


def test_a_script_that_connects_once_is_only_warned(mysql, tmp_path):
    script = tmp_path / "once.lua"
    script.write_text("function thread_init()\n"
                      "  if sysbench.tid == 0 then con = sysbench.sql.driver():connect() end\nend\n"
                      "function event() if con then con:query('SELECT 1') end end\n")
    with limited(mysql, max_connections=40):
        status, out, err = bench(mysql, str(script), "--threads=64", "--events=640", "run")
    assert status == 0, out + err
    assert err.startswith("warning: the run needs up to 64 connections, but the server allows 40: ")


def await_no_statements(mysql):
    """Servers forget those of a client some time after it has gone."""
    clusters.wait_until(lambda: int(mysql.sql("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").split("\t")[1]) == 0,
                        "no prepared statements", 60)


def test_too_few_statements(mysql):
    eager = ["--threads=16", "--events=16", "--db-prepare=eager"]
    with limited(mysql, max_prepared_stmt_count=100):
        status, out, err = run(mysql, *eager)
        assert status == 1
        said = re.search(r'^the run needs up to 176 prepared statements, but the server allows 100: type "(SET GLOBAL '
                         r'max_prepared_stmt_count = \d+;)" on the server, or use --db-ps-mode=disable$', err, re.M)
        assert said, err
        assert err.endswith("\nFATAL: Threads initialization failed!\n")
        await_no_statements(mysql)
        status, out, err = run(mysql, *eager, "--db-ps-mode=disable")
        assert (status, err) == (0, ""), out
        mysql.sql(said.group(1))
        status, out, err = run(mysql, *eager)
        assert (status, err) == (0, ""), out


LATE = (r"(\d+) of (\d+) events \(([\d.]+) %\) include the preparation of a statement, because a session used it for "
        r"the first time \(--db-prepare\)\n")
FULL = ("the server prepares no more statements (1461: Can't create more than max_prepared_stmt_count statements "
        "(current value: 100)): sessions send those that they have not prepared as text; to avoid this, raise its "
        "limit or use --db-ps-mode=disable")


@pytest.mark.parametrize("way", ["auto", "lazy"])
def test_statements_that_the_server_refuses_are_sent_as_text(mysql, way):
    """All events are carried out, and it is said once."""
    tables = ["--tables=4", "--threads=16", "--events=160", f"--db-prepare={way}"]
    with limited(mysql, max_prepared_stmt_count=100):
        status, out, err = run(mysql, *tables)
        assert (status, number(out, "total number of events")) == (0, 160), out + err
        lines = err.splitlines()
        said = re.search(r'^warning: the run needs up to 608 prepared statements, but the server allows 100: type "(SET '
                         r'GLOBAL max_prepared_stmt_count = \d+;)" on the server, or use --db-ps-mode=disable; the '
                         r"statements that the server refuses are sent as text$", err, re.M)
        assert said and lines.count(FULL) == 1, err
        assert len(lines) == 2 + bool(re.search(LATE, err)), err
        mysql.sql(said.group(1))
        await_no_statements(mysql)
        status, out, err = run(mysql, *tables)
    assert status == 0, out
    assert err == "" if way == "auto" else re.fullmatch(LATE, err), err


def prepared(mysql):
    return int(mysql.sql("SHOW GLOBAL STATUS LIKE 'Com_stmt_prepare'").split("\t")[1])


@pytest.mark.parametrize("way, least, most", [("auto", 4 * 38, 4 * 38), ("eager", 4 * 38, 4 * 38), ("lazy", 44, 60)])
def test_when_statements_are_prepared(mysql, way, least, most):
    """4 threads, 4 tables: 9 kinds of statements for each table and two for none."""
    before = prepared(mysql)
    status, out, err = run(mysql, "--tables=4", "--threads=4", "--events=1", f"--db-prepare={way}")
    assert status == 0, out
    assert least <= prepared(mysql) - before <= most
    assert (err == "") == (way != "lazy"), err


def test_events_that_prepare_statements_are_counted(mysql):
    """One session, one kind of statement: at most three of the four tables are met in events."""
    argv = ["oltp_point_select", *SMALL, "--tables=4", "--db-prepare=lazy", "--events=200"]
    status, out, err = bench(mysql, *argv, "run")
    said = re.fullmatch(LATE, err)
    assert status == 0 and said, err
    assert (said[1], said[2], said[3]) == ("3", "200", "1.5")


@pytest.mark.slow
def test_statements_that_the_warm_up_prepared_are_not_counted(mysql):
    argv = ["oltp_point_select", *SMALL, "--tables=4", "--db-prepare=lazy", "--events=200", "--warmup-time=10"]
    status, _, err = bench(mysql, *argv, "run")
    assert (status, err) == (0, "")


@pytest.mark.parametrize("limit, said", [
    (400, r'each statement is prepared when a session first uses it: the run needs up to 264 prepared statements, more '
          r'than half of the \d+ that the server has left; to prepare them before the run, type "SET GLOBAL '
          r'max_prepared_stmt_count = \d+;" on the server, or use --db-prepare=eager'),
    (1000, None)])
def test_half_of_what_is_left_is_for_others(mysql, limit, said):
    argv = ["--tables=4", "--threads=12", "--events=120", "--range-selects=off"]
    with limited(mysql, max_prepared_stmt_count=limit):
        status, out, err = run(mysql, *argv)
        assert status == 0, out
        assert re.search(said, err) if said else err == "", err
        await_no_statements(mysql)
        status, out, err = run(mysql, *argv, "--db-prepare=eager")
    assert (status, err) == (0, ""), out


def fifty_tables(mysql):
    must(mysql, "oltp_read_only", "--tables=4", "cleanup")
    must(mysql, "oltp_read_only", "--tables=50", "--table-size=1", "--create-secondary=off", "--threads=4", "prepare")
    return ["oltp_read_only", "--tables=50", "--table-size=1"]


def test_few_threads_leave_half_for_others_too(mysql):
    """4 threads need 1008 statements; those of the first table, which they have prepared, are nobody else's, but one on
    its way to each of the others may be."""
    argv = [*fifty_tables(mysql), "--threads=4", "--events=40"]
    with limited(mysql, max_prepared_stmt_count=2000):
        status, out, err = bench(mysql, *argv, "run")
        said = re.match(r"each statement is prepared when a session first uses it: the run needs up to 1008 prepared "
                        r"statements, more than half of the (?:199[7-9]|2000) that the server has left; ", err)
        assert status == 0 and said, out + err
        await_no_statements(mysql)


def test_eager_refuses_few_threads_too(mysql):
    with limited(mysql, max_prepared_stmt_count=100):
        status, _, err = run(mysql, "--tables=4", "--threads=4", "--events=40", "--db-prepare=eager")
    assert status == 1
    assert "the run needs up to 152 prepared statements, but the server allows 100: " in err


def test_more_statements_than_are_prepared_at_once(mysql):
    argv = fifty_tables(mysql)
    before = prepared(mysql)
    status, out, err = bench(mysql, *argv, "--threads=200", "--events=400", "run")
    assert status == 0, out
    assert err.startswith("each statement is prepared when a session first uses it: the run needs up to 50400 prepared "
                          "statements, more than 50000; to prepare them before the run, use --db-prepare=eager\n")
    assert 200 * 7 <= prepared(mysql) - before <= 200 * 7 + 400 * 5


def test_few_threads_ask_nothing_and_many_on_a_connection_of_its_own(server):
    for threads in (4, 16):
        with watched(server) as sessions:
            out = must(server, "oltp_point_select", *SMALL, f"--threads={threads}", "--events=64", "run")
        assert number(out, "read") == 64
        asked = [s for s in sessions if any("max_connections" in text for text in s)]
        assert len(asked) == (threads > 9)
        assert not any("SELECT c " in text for session in asked for text in session)
        assert sum(text.startswith("SELECT c ") for session in sessions for text in session) == 64


LEVELS = {"read-uncommitted": "READ-UNCOMMITTED", "read-committed": "READ-COMMITTED",
          "repeatable-read": "REPEATABLE-READ", "serializable": "SERIALIZABLE"}


@pytest.mark.parametrize("server, level", diagonal(SERVERS, ["default", *LEVELS]), indirect=["server"])
def test_isolation_level(server, level, tmp_path):
    """Also of a connection that was made again."""
    ask = f"SELECT {server.isolation}"
    default = {"mysql": "REPEATABLE-READ", "pgsql": "READ-COMMITTED"}[server.driver]
    script = tmp_path / "level.lua"
    script.write_text(f"""
function event()
  local con = sysbench.sql.driver():connect()
  print("level", con:query_row("{ask}"))
  con:reconnect()
  print("again", con:query_row("{ask}"))
end""")
    out = must(server, str(script), "--events=1", f"--db-isolation-level={level}", "run")
    found = re.findall(r"^(?:level|again)\t(.*)$", out, re.M)
    assert [f.upper().replace(" ", "-") for f in found] == [LEVELS.get(level, default)] * 2
    assert number(out, "total") == 2


@pytest.mark.parametrize("mode, prepares, texts", [
    ("auto", 1, 0), ("disable", 0, 20), pytest.param("simple", 0, 20, marks=pytest.mark.slow), ("extended", 20, 0)])
def test_ps_mode_of_mysql(mysql, mode, prepares, texts):
    def counters():
        text = mysql.sql("SHOW GLOBAL STATUS WHERE Variable_name IN "
                         "('Com_stmt_prepare', 'Com_stmt_execute', 'Com_select', 'Prepared_stmt_count')")
        return {name: int(value) for name, value in (line.split("\t") for line in text.splitlines())}

    await_no_statements(mysql)
    first, before = counters(), counters()
    out = must(mysql, "oltp_point_select", *SMALL, "--events=20", f"--db-ps-mode={mode}", "run")
    after = counters()
    # MySQL's own client selects something whenever it connects, MariaDB's does not.
    by_client = before["Com_select"] - first["Com_select"]
    by_check = 2  # of the table, before the run
    assert number(out, "read") == 20
    assert after["Com_stmt_prepare"] - before["Com_stmt_prepare"] == prepares
    assert after["Com_stmt_execute"] - before["Com_stmt_execute"] == 20 - texts
    assert after["Com_select"] - before["Com_select"] == 20 + by_check + by_client
    await_no_statements(mysql)


@pytest.mark.parametrize("mode, form", [
    ("auto", r"execute sbstmt\d+: SELECT c FROM sbtest1 WHERE id=\$1"),
    ("disable", r"statement: SELECT c FROM sbtest1 WHERE id=\d+"),
    pytest.param("simple", r"statement: SELECT c FROM sbtest1 WHERE id=\d+", marks=pytest.mark.slow),
    ("extended", r"execute <unnamed>: SELECT c FROM sbtest1 WHERE id=\$1")])
def test_ps_mode_of_postgresql(postgresql, mode, form):
    transcripts.empty(postgresql)
    must(postgresql, "oltp_read_write", *SMALL, "prepare")
    with watched(postgresql) as sessions:
        out = must(postgresql, "oltp_point_select", *SMALL, "--events=20", f"--db-ps-mode={mode}", "run")
    assert number(out, "read") == 20
    with open(postgresql.path("server.log"), errors="replace") as f:
        lines = re.findall(rf"LOG:  {form}$", f.read(), re.M)
    sent = [text for session in sessions for text in session]
    asked = [text for text in sent if text.startswith("SELECT MAX(id)")]
    sampled = [text for text in sent if text.startswith("SELECT COUNT(*)")]
    assert len(lines) >= 20 and (len(asked), len(sampled), len(sent)) == (1, 1, 22)


def test_statements_without_parameters_and_results_by_each_mode(server, tmp_path):
    script = tmp_path / "modes.lua"
    script.write_text("""
function event()
  local con = sysbench.sql.driver():connect()
  local plain, one = con:prepare("SELECT 7"), con:prepare("SELECT id FROM sbtest1 WHERE id = ?")
  local id = one:bind_create(sysbench.sql.type.INT)
  one:bind_param(id)
  for i = 1, 3 do
    id:set(i)
    print("got", plain:execute():fetch_row()[1], one:execute():fetch_row()[1])
  end
  con:reconnect()
  id:set(9)
  print("got", plain:execute():fetch_row()[1], one:execute():fetch_row()[1])
end""")
    for mode in ("auto", "disable", "simple", "extended"):
        out = must(server, str(script), "--events=1", f"--db-ps-mode={mode}", "run")
        assert re.findall(r"^got\t(.*)$", out, re.M) == ["7\t1", "7\t2", "7\t3", "7\t9"], mode


TOGETHER = """
local function show(name, statement)
  local rs = statement:execute()
  for _ = 1, rs.nrows do
    local row = rs:fetch_row()
    print(name, tostring(row[1]), tostring(row[2]), tostring(row[3]))
  end
end
function event()
  local con = sysbench.sql.driver():connect()
  %s
  local one, plain, counts = con:prepare("SELECT id, c, pad FROM sbtest1 WHERE id = ?"),
    con:prepare("SELECT 7, NULL, 'x'"), con:prepare("SELECT COUNT(*), MAX(id), 0.5 FROM sbtest1 WHERE id > ?")
  local id, least = one:bind_create(sysbench.sql.type.BIGINT), counts:bind_create(sysbench.sql.type.INT)
  one:bind_param(id)
  counts:bind_param(least)
  %s
  for i = 1, 3 do
    id:set(i)
    least:set(10 * i)
    show("one", one)
    show("counts", counts)
    show("plain", plain)
    if i == 2 then
      plain:close()
      plain = con:prepare("SELECT 8, 'y', NULL")
      con:reconnect()
    end
  end
  one:close()
  show("counts", counts)
end"""


@pytest.mark.sanitized
def test_statements_prepared_together_are_the_same(server, tmp_path):
    """Their rows, also after others were closed, and on a new connection."""
    rows = []
    for parts in (("", ""), ("sysbench.cmdline.hold()", "assert(sysbench.cmdline.prepare_held())")):
        script = tmp_path / "together.lua"
        script.write_text(TOGETHER % parts)
        rows.append(re.findall(r"^(?:one|plain|counts)\t.*$", must(server, str(script), "--events=1", "run"), re.M))
    assert rows[0] == rows[1] and len(rows[0]) == 10
    assert "counts\t90\t100\t0.5" in rows[0] and "plain\t8\ty\tnil" in rows[0]


@pytest.mark.parametrize("mode", [pytest.param("auto", marks=pytest.mark.slow), "extended"])
def test_every_workload_by_extended_statements(server, mode):
    for workload in ("oltp_read_write", "select_random_points"):
        out = must(server, workload, *SMALL, "--threads=4", "--events=40", f"--db-ps-mode={mode}",
                   "--db-ignore-errors=deadlock,duplicate", "run")
        assert number(out, "total number of events") == 40


def test_an_isolation_level_that_sqlite_lacks(tmp_path):
    argv = ["--db-driver=sqlite", f"--sqlite-db={tmp_path}/t.db", *SMALL]
    done = subprocess.run([os.environ["BENCH"], "oltp_read_write", *argv,
                           "--db-isolation-level=read-committed", "prepare"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "FATAL: the database driver 'sqlite' has no isolation level 'read-committed'" in done.stderr
    done = subprocess.run([os.environ["BENCH"], "oltp_read_write", *argv,
                           "--db-isolation-level=serializable", "prepare"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


class LimitedMySQL(FakeMySQL):
    """Answers the questions for its limits with `limits`, everything else with OK.  It tells limits of connections to
    those who know the `number` of their connection."""

    one_by_one = False
    patience_s = 60
    number = 7  # that of the greeting

    def __init__(self, limits):
        self.limits, self.asked = limits, 0
        super().__init__("mysql_native_password")

    def tells(self, question, name):
        number = re.search(rb"CONNECTION_ID\(\) & 4294967295 = (\d+)", question)
        is_told = number is None or name != b"max_connections" or int(number[1]) == self.number
        return is_told and name in question

    def talk(self, conn):
        data = conn.makefile("rb")
        conn.sendall(packets(self.greeting(), seq=0))
        seq = 1
        while True:
            head = data.read(4)
            if len(head) < 4:
                return
            payload = data.read(int.from_bytes(head[:3], "little"))
            seq = head[3] + 1
            if payload[:5] == bytes([COM_QUERY]) + b"SHOW":
                self.asked += 1
                column = b"\3def\0\0\0\1c\0\x0c\x21\0\x40\0\0\0\xfd\0\0\0\0\0"
                rows = [bytes([len(k)]) + k + bytes([len(v)]) + v for k, v in self.limits.items()
                        if self.tells(payload, k)]
                conn.sendall(packets(b"\2", column, column, END, *rows, END, seq=seq))
            else:
                conn.sendall(packets(OK, seq=seq))


@pytest.mark.parametrize("allowed,used,said", [
    pytest.param(b"5", b"1", "the server allows 5", marks=pytest.mark.sanitized),
    (b"100", b"99", "other clients use 97"), (b"100", b"1", ""),
    (b"9223372036854775807", b"9223372036854775807", ""), (b"100", b"9223372036854775807", ""),
    pytest.param(b"many", b"1", "", marks=pytest.mark.sanitized), (b"", b"", ""), (b"5x", b"1", ""), (b"-1", b"1", ""), (b"1e1", b"1", "")])
def test_limits_that_no_server_means_are_not_known(tmp_path, allowed, used, said):
    fake = LimitedMySQL({b"max_connections": allowed, b"Threads_connected": used})
    (tmp_path / "x.lua").write_text("function thread_init() con = sysbench.sql.driver():connect() end\n"
                                    "function event() con:query('DO 1') end\n")
    done = subprocess.run([os.path.abspath(os.environ["BENCH"]), "./x.lua", *fake.login(), "--threads=12",
                           "--events=24", "--time=0", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    fake.close()
    assert fake.asked > 0
    assert (said in done.stderr if said else done.stderr == ""), done.stderr


@pytest.mark.parametrize("version,number,status", [
    (b"8.0.33", 7, 1), (b"8.0.11", 12, 0), (b"8.0.11-proxysql", 7, 0), (b"10.6.14-MariaDB-maxscale", 7, 0)])
def test_limits_behind_a_pooler_of_mysql_are_not_those_of_the_run(tmp_path, version, number, status):
    fake = LimitedMySQL({b"max_connections": b"5", b"Threads_connected": b"1"})
    fake.version, fake.number = version, number
    (tmp_path / "x.lua").write_text("function thread_init()\n"
                                    "  sysbench.cmdline.expect()\n"
                                    "  con = sysbench.sql.driver():connect()\nend\n"
                                    "function event() con:query('DO 1') end\n")
    done = subprocess.run([os.path.abspath(os.environ["BENCH"]), "./x.lua", *fake.login(), "--threads=12",
                           "--events=24", "--time=0", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    fake.close()
    assert done.returncode == status, done.stdout
    assert done.stderr.startswith("the run needs up to 12 connections, but the server allows 5: " if status else "")
    assert status or done.stderr == ""
