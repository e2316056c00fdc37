# SPDX-License-Identifier: GPL-2.0-or-later
"""The module `pgsql`, hook by hook, on a private PostgreSQL."""

import ctypes
import ctypes.util
import os
import re
import shutil
import subprocess
import types

import pytest
from servers import BENCH


CLASS_OTHER, CLASS_DEADLOCK, CLASS_LOCK_TIMEOUT, CLASS_SERIALIZATION = 0, 1, 2, 3
CLASS_CONNECTION, CLASS_DUPLICATE = 4, 6
MIB = 1024 * 1024
NOTHING = {"rc": "DONE", "affected": 0, "nrows": 0, "nfields": 0, "more": False}


WAYS = [("require", "auto"), ("disable", "own"), ("disable", "library")]
NAMES = ["encrypted", "own", "library"]


@pytest.fixture(params=WAYS, ids=NAMES)
def sh(shell, postgresql, request):
    """Statements go by the driver's own framing, or all by libpq, as encrypted ones always do."""
    s = shell(postgresql, ["--pgsql-sslmode=" + request.param[0], "--pgsql-protocol=" + request.param[1]])
    assert s("connect")["rc"] == "DONE"
    return s


VALUES = ("-1::int, (-9223372036854775808)::bigint, '2020-02-03'::date, '2020-02-03 04:05:06.007'::timestamp, "
          "'11:12:13'::time, 1.500::numeric(20,3), 0.1::real, 1e100::float8, '\\x610062'::bytea, true, "
          "'x'::char(4), NULL")
AS_TEXT = ["-1", "-9223372036854775808", "2020-02-03", "2020-02-03 04:05:06.007", "11:12:13", "1.500", "0.1",
           "1e+100", "\\x610062", "t", "x   ", None]


@pytest.mark.sanitized
def test_values_are_text_in_the_servers_form_prepared_or_not(sh):
    assert sh.query("SELECT " + VALUES) == [AS_TEXT]
    assert sh("prepare 0 SELECT " + VALUES)["rc"] == "DONE"
    for _ in range(2):
        assert (sh("execute 0")["nrows"]) == 1
        assert sh.rows() == [AS_TEXT]


def test_parameters_are_read_where_they_are_bound(sh):
    sh("prepare 0 SELECT ?, ?, ?, '?', \"a?\", $$?$$, E'\\'?' FROM (SELECT 1 AS \"a?\") t /* ? /* ? */ ? */ -- ?")
    assert sh("bind 0 int:-5 double:0.125 text:a'b") == NOTHING
    sh("execute 0")
    assert sh.rows() == [["-5", "0.125", "a'b", "?", "1", "?", "'?"]]
    sh("set 0 int:9223372036854775807")
    sh("execute 0")
    assert sh.rows()[0][0] == "9223372036854775807"
    sh("set 0 null:")
    sh("execute 0")
    assert sh.rows()[0][0] is None
    sh("set 0 int:7")
    sh("execute 0")
    assert sh.rows()[0][0] == "7"


def test_types_of_parameters(sh):
    sh("prepare 0 SELECT pg_typeof(?), pg_typeof(?), pg_typeof(?), pg_typeof(?)")
    sh("bind 0 int:1 double:1 text:a blob:a")
    sh("execute 0")
    assert sh.rows() == [["bigint", "double precision", "character varying", "bytea"]]
    assert sh("bind 0 text:1 double:1 text:a blob:a")["rc"] == "DONE"  # prepared again
    sh("execute 0")
    assert sh.rows() == [["character varying", "double precision", "character varying", "bytea"]]


@pytest.mark.parametrize("sh", [pytest.param(way, id=name, marks=[pytest.mark.slow] if name != "own" else [])
                                for way, name in zip(WAYS, NAMES)], indirect=True)
def test_values_of_64_MiB_go_both_ways(sh):
    sh("prepare 0 SELECT length(?), ?")
    sh(f"bind 0 fill:{64 * MIB} int:3")
    sh("execute 0")
    assert sh.rows() == [[str(64 * MIB), "3"]]
    assert sh(f"query SELECT repeat('x', {64 * MIB}), 1")["rc"] == "ROWS"
    assert sh("fetch lengths") == [64 * MIB, 1]
    sh(f"prepare 1 SELECT 1, repeat('x', {64 * MIB})")
    assert sh("execute 1")["rc"] == "ROWS"
    assert sh("fetch lengths") == [1, 64 * MIB]


def test_wrong_number_of_parameters(sh):
    sh("prepare 0 SELECT ?::int")
    for wrong, rc in (("bind 0 int:1 int:2", "MISCOUNT"), ("bind 0", "MISCOUNT"), ("execute 0", "ERROR")):
        answer = sh(wrong)
        assert answer["rc"] == rc
        assert answer["text"] == "wrong number of parameters in prepared statement"
    assert sh("bind 0 int:1")["rc"] == "DONE"
    assert sh("execute 0")["rc"] == "ROWS"


def test_of_several_statements_the_last_result_counts(sh):
    assert sh("query SELECT 1; SELECT 2") == {"rc": "ROWS", "affected": 0, "nrows": 1, "nfields": 1, "more": False}
    assert sh.rows() == [["2"]]
    assert sh("next") == NOTHING
    assert sh.query("SELECT 4") == [["4"]]


def test_affected_rows(sh):
    sh.query("CREATE TABLE spec_aff (id INT PRIMARY KEY, v INT)")
    assert sh("query INSERT INTO spec_aff VALUES (1, 1), (2, 1), (3, 1)")["affected"] == 3
    assert sh("query UPDATE spec_aff SET v = 2 WHERE id < 3")["affected"] == 2
    assert sh("query UPDATE spec_aff SET v = 2 WHERE id = 9")["affected"] == 0
    sh("prepare 0 DELETE FROM spec_aff WHERE id < ?")
    sh("bind 0 int:3")
    assert sh("execute 0")["affected"] == 2
    sh.query("DROP TABLE spec_aff")


def test_errors_have_state_class_and_call(sh):
    answer = sh("query SELECT * FROM spec_missing")
    assert (answer["rc"], answer["code"], answer["state"]) == ("ERROR", 0, "42P01")
    assert (answer["class"], answer["ignorable"], answer["call"]) == (CLASS_OTHER, False, "PQexec")
    assert answer["text"] == 'relation "spec_missing" does not exist'
    assert sh("query")["text"] == "the query is empty"
    answer = sh("prepare 0 SELECT * FROM spec_missing")
    assert answer["call"] == "PQprepare()"
    assert answer["text"] == (
        'ERROR:  relation "spec_missing" does not exist\nLINE 1: SELECT * FROM spec_missing\n'
        "                      ^\n\n")
    sh("prepare 0 SELECT * FROM spec_missing WHERE id = ?")
    answer = sh("bind 0 int:1")
    assert answer["text"].startswith('PQprepare() failed: ERROR:  relation "spec_missing" does not exist\nLINE 1: ')


def test_copy_in_a_query_is_an_error_not_a_hang(sh):
    sh.query("CREATE TEMP TABLE spec_copy (id INT)")
    assert sh("query COPY spec_copy FROM STDIN")["state"] == "0A000"
    assert sh("query COPY spec_copy TO STDOUT")["state"] == "0A000"
    assert sh.query("SELECT count(*) FROM spec_copy") == [["0"]]


def test_copies_of_several_kinds_in_one_query_end(sh):
    sh.query("CREATE TEMP TABLE spec_copy (id INT)")
    sh.query("INSERT INTO spec_copy SELECT generate_series(1, 20000)")
    for sql in ("SELECT 1; COPY spec_copy TO STDOUT; COPY spec_copy FROM STDIN; SELECT 2",
                "COPY spec_copy TO STDOUT; COPY spec_copy TO STDOUT", "COPY spec_copy FROM STDIN; SELECT 2"):
        assert sh("query", sql)["state"] == "0A000"
    for sql in ("COPY spec_copy TO STDOUT", "COPY spec_copy FROM STDIN"):
        sh("prepare 0", sql)
        assert sh("execute 0")["state"] == "0A000"
    assert sh.query("SELECT count(*) FROM spec_copy") == [["20000"]]


def test_an_error_within_a_transaction_leaves_it_open_until_rollback(sh):
    sh.query("BEGIN")
    assert sh("query SELECT nosuch")["rolled_back"] is False
    assert sh("query SELECT 1")["state"] == "25P02"
    sh.query("ROLLBACK")
    assert sh.query("SELECT 1") == [["1"]]
    assert sh("query SELECT nosuch")["rolled_back"] is True


def test_duplicates_deadlocks_and_lock_timeouts(sh):
    sh.query("CREATE TABLE spec_dl (id INT PRIMARY KEY, v INT)")
    sh.query("INSERT INTO spec_dl VALUES (1, 0), (2, 0)")
    answer = sh("query INSERT INTO spec_dl VALUES (1, 1)")
    assert (answer["state"], answer["class"], answer["ignorable"]) == ("23505", CLASS_DUPLICATE, True)
    sh("use 1")
    sh("connect")
    sh.query("BEGIN ISOLATION LEVEL SERIALIZABLE")
    sh.query("SELECT * FROM spec_dl")
    sh("use 0")
    sh.query("UPDATE spec_dl SET v = 1 WHERE id = 1")
    sh("use 1")
    answer = sh("query UPDATE spec_dl SET v = 2 WHERE id = 1")
    assert (answer["state"], answer["class"], answer["ignorable"]) == ("40001", CLASS_SERIALIZATION, True)
    assert answer["rolled_back"] is False
    sh.query("ROLLBACK")
    sh.query("BEGIN")
    sh.query("UPDATE spec_dl SET v = 1 WHERE id = 1")
    sh("use 0")
    sh.query("SET lock_timeout = 100")
    answer = sh("query UPDATE spec_dl SET v = 1 WHERE id = 1")
    assert (answer["state"], answer["class"], answer["ignorable"]) == ("55P03", CLASS_LOCK_TIMEOUT, False)
    sh("use 1")
    sh("disconnect")
    sh("use 0")
    sh.query("DROP TABLE spec_dl")


def test_ignore_errors(shell, postgresql):
    sh = shell(postgresql, ["--pgsql-ignore-errors=42703,08006"])
    sh("connect")
    assert sh("query SELECT nosuch")["ignorable"] is True
    assert sh("query SELECT * FROM nosuch")["ignorable"] is False
    sh = shell(postgresql, ["--pgsql-ignore-errors=all"])
    sh("connect")
    assert sh("query SELECT * FROM nosuch")["ignorable"] is True


def test_quote_escapes_as_the_server_wants(sh):
    assert sh("quote a'b\\c\"d") == "a''b\\c\"d"
    assert sh.query("SELECT '" + sh("quote it's \\ \"x\"") + "'") == [["it's \\ \"x\""]]


def test_quote_follows_what_is_set(sh):
    sh.query("SET standard_conforming_strings = off")
    assert sh("quote it's a \\") == "it''s a \\\\"
    sh.query("SET client_encoding = 'SJIS'")
    sh.query("SET standard_conforming_strings = on")
    assert sh("quote it's a \\") == "it''s a \\"
    sh.query("RESET client_encoding")
    assert sh("quote it's") == "it''s"


def test_rows_stay_while_the_connection_is_used_otherwise(sh):
    assert sh("query SELECT n, NULL, '' FROM generate_series(1, 1000) n")["nrows"] == 1000
    assert sh("fetch") == ["1", None, ""]
    assert sh("info")["rc"] == 0
    rows = sh.rows()
    assert (len(rows), rows[0], rows[-1]) == (999, ["2", None, ""], ["1000", None, ""])
    assert sh.query("SELECT 5") == [["5"]]


def test_what_the_server_says_unasked_disturbs_nothing(sh):
    sh.query("SET client_min_messages = debug1")
    sh.query("LISTEN spec_news")
    sh("prepare 0 SELECT ?")
    sh("bind 0 int:7")
    sh("use 1")
    sh("connect")
    for _ in range(50):
        sh.query("NOTIFY spec_news, '" + "n" * 5000 + "'")
    sh("use 0")
    assert sh("execute 0")["nrows"] == 1
    assert sh.rows() == [["7"]]
    sh("use 1")
    for _ in range(50):
        sh.query("NOTIFY spec_news, '" + "n" * 5000 + "'")
    sh("use 0")
    assert sh("prepare 1 SELECT 'p'")["rc"] == "DONE"
    assert sh("execute 1")["nrows"] == 1
    assert sh.rows() == [["p"]]
    noisy = "DO $$BEGIN FOR i IN 1..200 LOOP RAISE NOTICE 'n %', repeat('x', 1000); END LOOP; END$$"
    assert sh("query", noisy)["rc"] == "DONE"
    assert sh.query("SELECT 2") == [["2"]]


def can_trace():
    return (shutil.which("strace") is not None
            and subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode == 0)


@pytest.mark.skipif(not can_trace(), reason="needs strace that may trace")
@pytest.mark.parametrize("times", [100])
def test_a_statement_is_one_message_and_one_answer(shell, postgresql, tmp_path, times):
    calls = tmp_path / "calls"
    sh = shell(postgresql, ["--pgsql-sslmode=disable"],
               wrap=["strace", "-f", "-e", "trace=sendto,recvfrom,poll,ppoll", "-o", str(calls)],
               # Looking for leaks is a kind of tracing.
               env={"ASAN_OPTIONS": "detect_leaks=0"})
    sh("connect")
    sh("prepare 0 SELECT ?")
    sh("bind 0 int:7")
    sh("execute 0")
    before = len(re.findall("sendto|recvfrom|poll", calls.read_text()))
    sh("execute 0", times)
    after = len(re.findall("sendto|recvfrom|poll", calls.read_text()))
    assert sh.rows() == [["7"]]
    assert after - before == 2 * times


def test_info(sh):
    info = sh("info")
    # Three are kept for administrators.
    assert (info["rc"], info["max_connections"], info["max_prepared"]) == (0, 1197, -1)
    assert info["version"].startswith("PostgreSQL ")


@pytest.mark.parametrize("by, argv", [
    ("socket", []), ("tcp", ["--pgsql-sslmode=disable"]), ("tcp", ["--pgsql-sslmode=require"]),
])
def test_interrupt_ends_a_blocked_call(shell, postgresql, by, argv):
    sh = shell(postgresql, argv, by=by)
    sh("connect")
    sh("interrupt 200")
    answer = sh("query SELECT pg_sleep(600)")
    assert (answer["rc"], answer["class"], answer["state"]) == ("LOST", CLASS_CONNECTION, "08006")
    assert sh("query SELECT 1")["rc"] == "LOST"
    sh("disconnect")
    assert sh("connect")["rc"] == "DONE"
    assert sh.query("SELECT 1") == [["1"]]


def test_a_connection_ended_by_the_server_is_lost(sh, postgresql, request):
    """Nobody has asked why it was: libpq may say so, or that it is lost."""
    sh("prepare 0 SELECT ?")
    sh("bind 0 int:1")
    (connection,) = sh.query("SELECT pg_backend_pid()")[0]
    postgresql.sql(f"SELECT pg_terminate_backend({connection})")
    answer = sh("execute 0")
    assert (answer["rc"], answer["class"]) == ("LOST", CLASS_CONNECTION)
    assert answer["state"] == "57P01" or (answer["state"] == "08006" and "[own]" not in request.node.name)
    sh("disconnect")
    assert sh("connect")["rc"] == "DONE"


@pytest.mark.parametrize("by, argv", [
    ("socket", []), ("tcp", ["--pgsql-sslmode=disable"]), ("tcp", ["--pgsql-sslmode=require"]),
    ("socket", ["--pgsql-protocol=library"]),
])
@pytest.mark.parametrize("ended_by", ["another", "itself"])
def test_why_the_server_ends_a_connection_is_told(shell, postgresql, by, argv, ended_by):
    sh = shell(postgresql, [*argv, "--pgsql-ignore-errors=57P01"], by=by)
    sh("connect")
    number = sh.query("SELECT pg_backend_pid()")[0][0]
    if ended_by == "another":
        postgresql.sql(f"SELECT pg_terminate_backend({number})")
        while postgresql.sql(f"SELECT count(*) FROM pg_stat_activity WHERE pid = {number}").strip() != "0":
            pass
        answer = sh("query SELECT 1")
    else:
        answer = sh(f"query SELECT pg_terminate_backend({number})")
    assert (answer["rc"], answer["state"], answer["ignorable"]) == ("LOST", "57P01", True)
    assert answer["text"].startswith("FATAL:  terminating connection due to administrator command\n"), answer["text"]
    assert not answer["text"].endswith("\n")


# --- where to, and as whom ---------------------------------------------------------------------------


def test_hosts_and_ports_in_turn_the_port_fastest(shell, postgresql):
    sh = shell(postgresql, ["--pgsql-host=127.0.0.1,127.0.0.9", f"--pgsql-port={postgresql.port},1,2"])
    places = []
    for _ in range(7):
        answer = sh("connect")
        places.append("good" if answer["rc"] == "DONE" else answer["text"].split(" failed")[0])
        if answer["rc"] == "DONE":
            sh("disconnect")
    where = 'connection to server at "{}", port {}'
    assert places == [
        "good", where.format("127.0.0.1", 1), where.format("127.0.0.1", 2),
        where.format("127.0.0.9", postgresql.port), where.format("127.0.0.9", 1),
        where.format("127.0.0.9", 2), "good",
    ]


def test_overrides_replace_options_of_one_connection(shell, postgresql):
    sh = shell(postgresql, ["--pgsql-user=nobody"])
    assert "authentication failed" in sh("connect")["text"]
    assert sh(f"connect user=spec_user host={postgresql.folder}")["rc"] == "DONE"
    assert sh.query("SELECT current_user, inet_server_addr()") == [["spec_user", None]]
    sh("disconnect")
    answer = sh("connect ignore-errors=x")
    assert (answer["rc"], answer["text"]) == ("ERROR", "--pgsql-ignore-errors cannot differ between connections\n\n")


@pytest.mark.parametrize("argv, text", [
    (["--pgsql-port="], "No PostgreSQL ports specified, aborting"),
    (["--pgsql-port=54x"], "Invalid value for --pgsql-port: '54x'"),
    (["--pgsql-ignore-errors=1213"], "Invalid value for --pgsql-ignore-errors: '1213' is no SQLSTATE and not 'all'"),
    (["--pgsql-password=", "--pgsql-password-file=/nonexistent"],
     "cannot open the password file '/nonexistent': No such file or directory"),
])
def test_what_cannot_be_is_refused_at_the_start(shell, postgresql, argv, text):
    assert shell(postgresql, argv).start == {"rc": "INIT", "text": text}


@pytest.mark.parametrize("by", ["tcp", "socket"])
@pytest.mark.parametrize("methods, rc", [
    ("scram-sha-256", "DONE"), ("password,scram-sha-256", "DONE"), ("!password,!none", "DONE"), ("md5", "ERROR"),
    ("password", "ERROR"), ("!scram-sha-256", "ERROR"),
])
def test_the_servers_method_is_checked(shell, postgresql, methods, rc, by):
    """By libpq, if it can."""
    sh = shell(postgresql, ["--pgsql-sslmode=disable", f"--pgsql-require-auth={methods}"], by=by)
    if ctypes.CDLL(ctypes.util.find_library("pq")).PQlibVersion() < 160000:
        assert sh.start == {"rc": "INIT", "text": "--pgsql-require-auth needs libpq 16 or later; leave it out, or use "
                                                  "--pgsql-sslmode=verify-full to know which server asks"}
        return
    assert sh("connect")["rc"] == rc
    if rc == "DONE":
        assert sh.query("SELECT 1") == [["1"]]


def test_wrong_password_database_and_mode(shell, postgresql):
    where = f'connection to server at "127.0.0.1", port {postgresql.port} failed: '
    answer = shell(postgresql, ["--pgsql-password=wrong", "--pgsql-sslmode=disable"])("connect")
    assert answer["text"] == where + 'FATAL:  password authentication failed for user "spec_user"\n\n'
    answer = shell(postgresql, ["--pgsql-db=nosuch"])("connect")
    assert answer["text"] == where + 'FATAL:  database "nosuch" does not exist\n\n'
    assert shell(postgresql, ["--pgsql-sslmode=foo"])("connect")["text"] == 'invalid sslmode value: "foo"\n\n'


def test_password_from_environment_file_and_pgpass(shell, postgresql, tmp_path):
    no_password = ["--pgsql-password="]
    assert shell(postgresql, no_password, env={"HOME": "/"})("connect")["rc"] == "ERROR"
    assert shell(postgresql, no_password, env={"PGPASSWORD": "spec_pw"})("connect")["rc"] == "DONE"
    file = tmp_path / "pw"
    file.write_text("spec_pw\n")
    assert shell(postgresql, [*no_password, f"--pgsql-password-file={file}"])("connect")["rc"] == "DONE"
    pgpass = tmp_path / "pgpass"
    pgpass.write_text("*:*:*:spec_user:spec_pw\n")
    pgpass.chmod(0o600)
    assert shell(postgresql, no_password, env={"PGPASSFILE": str(pgpass)})("connect")["rc"] == "DONE"


def test_a_service_replaces_defaults(shell, postgresql, tmp_path):
    (tmp_path / "services").write_text(
        f"[here]\nhost={postgresql.folder}\nport={postgresql.port}\nuser=spec_user\npassword=spec_pw\n"
        "dbname=spec_db\n")
    service = types.SimpleNamespace(driver="pgsql", login=lambda: ["--pgsql-service=here"])
    env = {"PGSERVICEFILE": str(tmp_path / "services")}
    sh = shell(service, env=env)
    assert sh("connect")["rc"] == "DONE"
    assert sh.query("SELECT current_user, current_database(), inet_server_addr()") == [["spec_user", "spec_db", None]]
    # What was asked for is not replaced.
    sh = shell(service, ["--pgsql-host=127.0.0.1", "--pgsql-db=postgres"], env=env)
    assert sh("connect")["rc"] == "DONE"
    assert sh.query("SELECT current_database(), inet_server_addr()") == [["postgres", "127.0.0.1"]]
    answer = shell(service, ["--pgsql-service=nowhere"], env=env)("connect")
    assert answer["rc"] == "ERROR" and 'definition of service "nowhere" not found' in answer["text"]


# --- encryption --------------------------------------------------------------------------------------


def encrypted(sh):
    assert sh("connect") == NOTHING
    return sh.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == [["t"]]


@pytest.mark.parametrize("mode, is_encrypted", [("disable", False), ("prefer", True), ("require", True)])
def test_encryption_by_mode(shell, postgresql, mode, is_encrypted):
    assert encrypted(shell(postgresql, [f"--pgsql-sslmode={mode}"])) is is_encrypted


@pytest.mark.parametrize("protocol", ["auto", "own", "library"])
def test_each_protocol_is_encrypted(shell, postgresql, protocol):
    assert encrypted(shell(postgresql, ["--pgsql-sslmode=require", f"--pgsql-protocol={protocol}"])) is True


def test_the_own_protocol_prints_no_notices_of_0_5(tmp_path):
    script = tmp_path / "s.lua"
    script.write_text("function thread_init() db_connect() end function event() end")
    done = subprocess.run([BENCH, f"--test={script}", "--db-driver=pgsql", "--pgsql-protocol=own", "run"],
                          capture_output=True, text=True, env={**os.environ, "BENCH_COMPAT": "0.5"}, timeout=60)
    assert done.returncode == 1
    assert ("--pgsql-protocol=own cannot be used in dialect 0.5, where the client library prints notices"
            in done.stdout + done.stderr)


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
def test_certificates_right_and_of_another_authority(shell, postgresql, certificates, mode):
    argv = [f"--pgsql-sslmode={mode}"]
    assert encrypted(shell(postgresql, [*argv, f"--pgsql-sslrootcert={certificates.ca}"]))
    answer = shell(postgresql, [*argv, f"--pgsql-sslrootcert={certificates.other_ca}"])("connect")
    assert answer["rc"] == "ERROR"
    assert "certificate verify failed" in answer["text"]


def test_a_certificate_of_another_host_is_refused_by_verify_full(shell, postgresql, certificates):
    postgresql.use_certificate(certificates.wrong_cert, certificates.wrong_key)
    try:
        ca = f"--pgsql-sslrootcert={certificates.ca}"
        assert encrypted(shell(postgresql, ["--pgsql-sslmode=verify-ca", ca]))
        answer = shell(postgresql, ["--pgsql-sslmode=verify-full", ca])("connect")
        assert answer["rc"] == "ERROR"
        assert 'does not match host name "127.0.0.1"' in answer["text"]
    finally:
        postgresql.use_certificate(certificates.cert, certificates.key)


@pytest.mark.parametrize("mode, rc", [("require", "ERROR"), ("prefer", "DONE"), ("disable", "DONE")])
def test_a_server_without_encryption(shell, postgresql_victim, mode, rc):
    assert shell(postgresql_victim, [f"--pgsql-sslmode={mode}"])("connect")["rc"] == rc


# --- the rest -----------------------------------------------------------------------------------------


@pytest.mark.sanitized
def test_load_by_copy(sh):
    sh.query("CREATE TEMP TABLE spec_load (id INT PRIMARY KEY, v TEXT)")
    assert sh(r"load spec_load id,v 1\ta\n2\t\N\n")["rc"] == "DONE"
    assert sh.query("SELECT * FROM spec_load ORDER BY id") == [["1", "a"], ["2", None]]
    answer = sh(r"load spec_load id,v 3\ta\n2\tb\n")
    assert (answer["rc"], answer["state"], answer["call"]) == ("ERROR", "23505", "COPY")
    assert sh(r"load nosuch id 1\n")["state"] == "42P01"
    assert sh.query("SELECT count(*) FROM spec_load") == [["2"]]


@pytest.mark.parametrize("transaction", ["own", "open"])
def test_statements_closed_are_forgotten_in_batches(sh, transaction):
    if transaction == "open":
        assert sh.query("BEGIN")["rc"] == "DONE"
    for i in range(40):
        sh(f"prepare {i} SELECT {i}")
        sh(f"close {i}")
    left = int(sh.query("SELECT count(*) FROM pg_prepared_statements")[0][0])
    assert left < 32
    names = [name for (name,) in sh.query("SELECT name FROM pg_prepared_statements")]
    assert len(set(names)) == left


def test_a_frozen_server_does_not_hold_up_connecting(shell, postgresql_victim):
    sh = shell(postgresql_victim)
    postgresql_victim.freeze()
    try:
        answer = sh("connect deadline_ms=500")
    finally:
        postgresql_victim.thaw()
    assert (answer["rc"], answer["class"]) == ("ERROR", CLASS_CONNECTION)
    assert answer["text"].endswith("failed: timeout expired\n\n")


def sockets(sh):
    """Flags of the process's sockets, by their numbers."""
    folder = f"/proc/{sh.process.pid}/fd"
    found = {}
    for fd in os.listdir(folder):
        if os.readlink(f"{folder}/{fd}").startswith("socket:"):
            with open(f"{folder}info/{fd}", encoding="ascii") as info:
                found[fd] = int(re.search(r"flags:\s*(\d+)", info.read()).group(1), 8)
    return found


def test_a_socket_that_libpq_has_closed_is_nobodys(shell, postgresql):
    """Its number is that of the next connection."""
    sh = shell(postgresql, ["--pgsql-sslmode=disable"])
    sh("connect")
    (number,), = sh.query("SELECT pg_backend_pid()")
    before = sockets(sh)
    postgresql.sql(f"SELECT pg_terminate_backend({number})")
    assert sh("query SELECT 1")["rc"] == "LOST"
    sh("info")  # libpq's
    assert sockets(sh) == {}
    sh("use 1")
    sh("connect")
    (other,), = sh.query("SELECT pg_backend_pid()")
    assert sockets(sh) == before
    sh("use 0")
    assert sh("query SELECT 1")["rc"] == "LOST"
    assert sockets(sh) == before
    sh("use 1")
    assert sh.query("SELECT pg_backend_pid()") == [[other]]


@pytest.mark.parametrize("host, remedy", [
    ("db:5433", "--pgsql-host=db:5433: write --pgsql-host=db --pgsql-port=5433"),
    ("127.0.0.1,h:1", "--pgsql-host=h:1: write --pgsql-host=h --pgsql-port=1"), ("::1", None), ("/tmp/a:1", None)])
def test_a_port_behind_the_host_names_its_option(tmp_path, host, remedy):
    done = subprocess.run([os.environ["BENCH"], "oltp_point_select", "--db-driver=pgsql", f"--pgsql-host={host}",
                           "--pgsql-port=1", "--events=1", "run"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60)
    assert (remedy or "Connection to database failed") in done.stderr
