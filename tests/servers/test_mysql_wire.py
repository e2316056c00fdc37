# SPDX-License-Identifier: GPL-2.0-or-later
"""What the driver `mysql` sends and reads without its client library is what the library makes of it."""

import random
import re
import signal
import struct
import subprocess
import threading

import pytest

import clusters
from fakemysql import (COLUMN, COM_EXECUTE, COM_PREPARE, COM_QUERY, END, OK, PREPARED, FakeMySQL,
                       OneByOneMySQL, PreparingMySQL, ScriptedMySQL, packets)
from servers import BENCH, FETCHING
from gate import sanitized

MIB = 1024 * 1024
OWN, BY_LIBRARY = ["--mysql-protocol=own"], ["--mysql-protocol=library"]
NOTHING = {"affected": 0, "nrows": 0, "nfields": 0, "more": False}


@pytest.fixture(params=["off", "required"])
def both(request, shell, mariadb):
    """The same connection twice: without the library, and by it."""
    ssl = f"--mysql-ssl={request.param}"
    pair = shell(mariadb, [*OWN, ssl], by="tcp"), shell(mariadb, [*BY_LIBRARY, ssl], by="tcp")
    for sh in pair:
        assert sh("connect")["rc"] == "DONE"
    return pair


def ask(sh, *commands):
    """Every answer, with the rows of results."""
    answers = []
    for command in commands:
        answers.append(sh(command))
        if answers[-1]["rc"] == "ROWS":
            answers.append(sh.rows())
    return answers


def same(pair, *commands):
    """What both of them answer."""
    by_wire, by_library = (ask(sh, *commands) for sh in pair)
    assert by_wire == by_library
    return by_wire


def make_table(server, name, columns, rows):
    values = ", ".join("(" + ", ".join(row) + ")" for row in rows)
    server.sql(f"SET sql_mode = ''; DROP TABLE IF EXISTS spec_db.{name};"
               f"CREATE TABLE spec_db.{name} ({columns}); INSERT INTO spec_db.{name} VALUES {values};")


# Column: values beside NULL.
TYPES = {
    "TINYINT": ["-128", "127", "0"], "TINYINT UNSIGNED": ["255", "0"],
    "SMALLINT": ["-32768", "32767"], "SMALLINT UNSIGNED": ["65535"],
    "MEDIUMINT": ["-8388608", "8388607"], "MEDIUMINT UNSIGNED": ["16777215"],
    "INT": ["-2147483648", "2147483647", "0", "-1"], "INT UNSIGNED": ["4294967295"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807"], "BIGINT UNSIGNED": ["18446744073709551615"],
    "TINYINT ZEROFILL": ["7"], "INT(4) ZEROFILL": ["7", "123456"], "BIGINT(20) ZEROFILL": ["7"],
    "BOOLEAN": ["1"], "YEAR": ["2020", "0", "1999"],
    "DECIMAL(20,3)": ["1.5", "-99999999999999999.999", "0"], "DECIMAL(5,0) ZEROFILL": ["42"],
    "FLOAT": ["0.1", "-3.4e38", "1e-45", "16777217", "1234567", "0", "-0.0"], "FLOAT(7,3)": ["1.5", "-1234.5678"],
    "DOUBLE": ["0.1", "1e15", "1e16", "-1e100", "2.2250738585072014e-308", "5e-324", "1e-15", "1e-5"],
    "DOUBLE(10,2)": ["1.5", "-1234567.891"], "DOUBLE ZEROFILL": ["1.5"], "FLOAT(9,2) ZEROFILL": ["1.5"],
    "DOUBLE(40,25)": ["0.1", "123456.789"],
    "DATE": ["'2020-02-03'", "'0000-00-00'", "'9999-12-31'"],
    "TIME": ["'-838:59:59'", "'00:00:00'", "'11:12:13'", "'-00:00:01'"],
    "TIME(3)": ["'-11:12:13.007'", "'0:0:0'", "'100:00:00.5'"], "TIME(6)": ["'0:0:0.000001'"],
    "DATETIME": ["'2020-02-03 04:05:06'", "'0000-00-00'", "'2020-02-03'"],
    "DATETIME(1)": ["'2020-02-03 04:05:06.7'"], "DATETIME(6)": ["'2020-02-03 04:05:06.000007'", "'2020-02-03'"],
    "TIMESTAMP NULL": ["'2020-02-03 04:05:06'"], "TIMESTAMP(2) NULL": ["'2020-02-03 04:05:06.78'"],
    "CHAR(4)": ["'x'", "''"], "VARCHAR(300)": ["REPEAT('y', 300)", "'é'"], "TINYTEXT": ["'t'"],
    "LONGTEXT": ["REPEAT('z', 70000)"], "BINARY(4)": ["'a\\0b'"], "VARBINARY(9)": ["x'00ff'"],
    "BLOB": ["'a\\0b'", "''", "REPEAT('b', 251)", "REPEAT('b', 252)"], "BIT(1)": ["b'1'"], "BIT(20)": ["b'10101'"],
    "ENUM('a','b')": ["'b'"], "SET('a','b')": ["'a,b'", "''"], "JSON": ["'{\"a\": [1, null]}'"],
    "GEOMETRY": ["ST_GeomFromText('POINT(1 2)')"],
}


# test_all_types_in_one_row has the same values, which may hide what a type does to the columns behind it.
@pytest.mark.slow
def test_values_of_every_type_are_the_same_text(both, mariadb):
    for name, values in TYPES.items():
        make_table(mariadb, "spec_wire_t", f"id INT, v {name}",
                   [(str(i), v) for i, v in enumerate([*values, "NULL"])])
        for number in ("0", "1"):
            got = same(both, f"prepare {number} SELECT id, v, v FROM spec_wire_t ORDER BY id", f"execute {number}")
            assert len(got[2]) == len(values) + 1, name
            assert got[2][-1][1] is None, name
            same(both, "query SELECT id, v, v FROM spec_wire_t ORDER BY id")
    mariadb.sql("DROP TABLE spec_db.spec_wire_t")


@pytest.mark.sanitized
def test_all_types_in_one_row(both, mariadb):
    columns = ", ".join(f"c{i} {name}" for i, name in enumerate(TYPES))
    longest = max(len(values) for values in TYPES.values())
    rows = [["NULL"] * len(TYPES), *([values[row % len(values)] for values in TYPES.values()] for row in range(longest)),
            ["NULL" if i % 3 else values[0] for i, values in enumerate(TYPES.values())]]
    make_table(mariadb, "spec_wire_all", columns, rows)
    got = same(both, "prepare 0 SELECT * FROM spec_wire_all", "execute 0", "execute 0",
               "query SELECT * FROM spec_wire_all")
    assert [len(row) for row in got[2]] == [len(TYPES)] * (longest + 2)
    mariadb.sql("DROP TABLE spec_db.spec_wire_all")


def doubles(count):
    """Bit patterns at random, and numbers of few digits."""
    choose = random.Random(20)
    while count > 0:
        value = struct.unpack("<d", choose.randbytes(8))[0]
        if choose.random() < 0.5:
            value = choose.randrange(10**choose.randrange(1, 18)) / 10 ** choose.randrange(0, 25)
        if value - value == 0:
            count -= 1
            yield value


def test_a_thousand_floating_point_numbers(both, mariadb):
    values = list(doubles(1000))
    make_table(mariadb, "spec_wire_f", "id INT, d DOUBLE, f FLOAT, a DOUBLE(30,4), b DOUBLE(60,20)",
               [(str(i), repr(v), repr(v if 1e-38 < abs(v) < 1e38 else 0.0), repr(v), repr(v))
                for i, v in enumerate(values)])
    got = same(both, "prepare 0 SELECT d, f, a, b, d * 1.0, f * 2 FROM spec_wire_f ORDER BY id", "execute 0")
    assert [float(row[0]) for row in got[2]] == values
    mariadb.sql("DROP TABLE spec_db.spec_wire_f")


@pytest.mark.parametrize("what", ["1", "NULL", "'a'", "NOW() > 0", "SEC_TO_TIME(-4000)", "DATE'2020-01-01'", "1.50", "1e0",
                                  "MAKETIME(1, 2, 3.25)", "TIMESTAMP'2020-01-01 01:02:03.4'", "x'00'", "PI()"])
def test_expressions(both, what):
    got = same(both, f"prepare 0 SELECT {what}, ?", "bind 0 int:3", "execute 0", f"query SELECT {what}, 3")
    assert len(got) == 6


@pytest.mark.parametrize("words", [
    "int:0 int:-1 int:9223372036854775807", "int:-9223372036854775808 null:int null:text",
    "double:0.1 double:-1e300 double:3", "text: text:a'b\\ blob:xyz", "fill:250 fill:251 fill:252",
    "fill:65535 fill:65536 int:1", "text:a int:1 double:0.5", "null:text fill:3 null:int",
])
def test_parameters_of_every_type(both, mariadb, words):
    same(both, "prepare 0 SELECT ?, ?, ?", f"bind 0 {words}", "execute 0", "execute 0")
    # Of the other columns of a table the types are known beforehand.
    make_table(mariadb, "spec_wire_p", "id INT, v INT", [("1", "2")])
    same(both, "prepare 1 SELECT v FROM spec_wire_p WHERE ? = ? OR id = ? OR 1", f"bind 1 {words}", "execute 1")
    mariadb.sql("DROP TABLE spec_db.spec_wire_p")


def test_types_of_parameters_may_change(both):
    got = same(both, "prepare 0 SELECT ?", "bind 0 int:3", "execute 0", "bind 0 text:abc", "execute 0",
               "bind 0 double:0.5", "execute 0", "bind 0 int:4", "execute 0")
    assert [answer["rc"] for answer in got if isinstance(answer, dict)] == ["DONE"] + ["DONE", "ROWS"] * 4
    assert [got[3], got[-1]] == [[["3"]], [["4"]]]  # what it makes of a text is the server's matter


def test_so_many_parameters_that_their_nulls_need_two_bytes(both):
    columns = ", ".join(["?", "NULL", "1"] * 11)
    words = " ".join(f"int:{i}" if i % 2 else "null:int" for i in range(11))
    got = same(both, f"prepare 0 SELECT {columns}", f"bind 0 {words}", "execute 0")
    assert got[3][0] == sum(([str(i) if i % 2 else None, None, "1"] for i in range(11)), [])


@pytest.mark.parametrize("size", [
    16 * MIB - 40, 16 * MIB - 15, *(pytest.param(size, marks=pytest.mark.slow) for size in (16 * MIB, 33 * MIB))])
def test_packets_of_16_MiB_are_continued_both_ways(shell, mariadb, size):
    sh = shell(mariadb)
    sh("connect")
    sh("prepare 0 SELECT LENGTH(?), ?")
    for length in (size, 5, size + 1):
        sh(f"bind 0 fill:{length} int:3")
        assert ask(sh, "execute 0")[1] == [[str(length), "3"]]
    sh(f"prepare 1 SELECT REPEAT('x', {size}), 7 UNION ALL SELECT 'y', 8")
    assert sh("execute 1")["nrows"] == 2
    assert [sh("fetch lengths") for _ in range(2)] == [[size, 1], [1, 1]]
    assert sh(f"query SELECT REPEAT('x', {size}), 7 UNION ALL SELECT 'y', 8")["nrows"] == 2
    assert [sh("fetch lengths") for _ in range(2)] == [[size, 1], [1, 1]]
    assert sh("fetch lengths") is None
    assert sh.query("SELECT 1") == [["1"]]


def test_exact_multiples_of_a_packet(shell, mariadb):
    """A row of 2^24 - 1 bytes is followed by an empty packet."""
    sh = shell(mariadb)
    sh("connect")
    overhead = {"query": 4, "execute": 1 + 1 + 4}  # of a row besides the value: length, zero, nulls
    for kind, more in overhead.items():
        for extra in (-1, 0, 1):
            size = 2**24 - 1 - more + extra
            sh(f"prepare 0 SELECT REPEAT('x', {size})")
            assert sh("execute 0" if kind == "execute" else f"query SELECT REPEAT('x', {size})")["nrows"] == 1
            assert [sh("fetch lengths"), sh("fetch lengths")] == [[size], None]


def test_a_table_that_changes_under_a_statement(both, mariadb):
    make_table(mariadb, "spec_wire_c", "id INT, v INT", [("1", "-2")])
    same(both, "prepare 0 SELECT * FROM spec_wire_c", "execute 0", "execute 0")
    for change in ("MODIFY v BIGINT UNSIGNED", "MODIFY v DOUBLE", "MODIFY v VARCHAR(20)", "MODIFY v TIME(3)"):
        mariadb.sql(f"UPDATE spec_db.spec_wire_c SET v = 5; ALTER TABLE spec_db.spec_wire_c {change};")
        wire, library = ([ask(sh, "execute 0") for _ in range(2)] for sh in both)
        assert wire[0] == wire[1]
        assert wire == library
    mariadb.sql("DROP TABLE spec_db.spec_wire_c")


def test_columns_that_came_with_a_result_nobody_fetched(shell, mariadb):
    """MariaDB describes them once."""
    sh = shell(mariadb)
    sh("connect")
    sh("prepare 0 SELECT ?, 'x'")
    sh("bind 0 int:5")
    for _ in range(3):
        assert sh("execute 0")["nrows"] == 1
    assert sh.rows() == [["5", "x"]]


def test_a_procedure_again_and_again(both, mariadb):
    mariadb.sql("DROP PROCEDURE IF EXISTS spec_db.spec_wire_proc")
    made = both[0]("query CREATE PROCEDURE spec_wire_proc(n INT) BEGIN SELECT n, 'a'; SELECT 0.5e0, n, n; "
                   "SELECT 'c'; END")
    assert made["rc"] == "DONE"
    same(both, "prepare 0 CALL spec_wire_proc(?)", "bind 0 int:5")
    for _ in range(3):
        got = same(both, "execute 0", "next 0", "next 0", "next 0")
        assert [a for a in got if isinstance(a, list)] == [[["5", "a"]], [["0.5", "5", "5"]], [["c"]]]
    mariadb.sql("DROP PROCEDURE spec_db.spec_wire_proc")


def test_results_that_nobody_reads_are_dropped(shell, mariadb):
    sh = shell(mariadb)
    sh("connect")
    assert sh("query SELECT 1; SELECT 2; SELECT 3")["more"] is True
    assert sh.query("SELECT 4") == [["4"]]
    assert sh("query SELECT 1; SELECT 2")["more"] is True
    assert sh.query("SHOW VARIABLES LIKE 'autocommit'") == [["autocommit", "ON"]]  # the library's
    assert sh("query SELECT 1; SELECT 2")["more"] is True
    assert sh("prepare 0 SELECT 5")["rc"] == "DONE"
    assert ask(sh, "execute 0")[1] == [["5"]]
    assert sh("query SELECT 1; SELECT 2")["more"] is True
    sh("close 0")
    assert sh.query("SELECT 6") == [["6"]]


def test_library_and_driver_in_turn(both, mariadb):
    make_table(mariadb, "spec_wire_m", "id INT PRIMARY KEY, v INT", [("1", "1")])
    commands = ["query BEGIN", "prepare 0 UPDATE spec_wire_m SET v = v + ? WHERE id = 1", "bind 0 int:2",
                "execute 0", "query SHOW WARNINGS", "query SELECT v FROM spec_wire_m", "query ROLLBACK",
                "prepare 1 SELECT v FROM spec_wire_m", "execute 1", "query SET @a = 1", "execute 1",
                "query INSERT INTO spec_wire_m VALUES (1, 1)", "query SELECT nosuch", "query SELECT @a",
                "query DELETE FROM spec_wire_m WHERE id = 7", "query COMMIT"]
    got = same(both, *commands)
    assert got[3]["affected"] == 1
    mariadb.sql("DROP TABLE spec_db.spec_wire_m")


def test_errors_are_the_same(both, mariadb):
    make_table(mariadb, "spec_wire_e", "id INT PRIMARY KEY", [("1",)])
    same(both, "prepare 0 INSERT INTO spec_wire_e VALUES (?)", "execute 0", "bind 0 int:1", "execute 0",
         "prepare 1 SELECT (SELECT 1 UNION SELECT 2)", "execute 1", "query SELECT (SELECT 1 UNION SELECT 2)",
         "query SELECT * FROM nosuch", "query BEGIN", "execute 0", "query SELECT * FROM nosuch", "query ROLLBACK")
    got = same(both, "execute 0")
    assert (got[0]["rc"], got[0]["code"], got[0]["state"]) == ("ERROR", 1062, "23000")
    mariadb.sql("DROP TABLE spec_db.spec_wire_e")


def when_asleep(server, number, act):
    """A thread that does this when a statement of that connection sleeps."""
    asleep = f"SELECT COUNT(*) FROM information_schema.processlist WHERE id = {number} AND state = 'User sleep'"

    def wait_and_act():
        clusters.wait_until(lambda: server.sql(asleep).strip() == "1", "the statement sleeps")
        act()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    return thread


def kill(server, number):
    """Returns when the server has closed that connection."""
    there = f"SELECT COUNT(*) FROM information_schema.processlist WHERE id = {number}"
    server.sql(f"KILL {number}")
    clusters.wait_until(lambda: server.sql(there).strip() == "0", "the connection has gone")


def test_a_query_stopped_while_rows_are_on_their_way(both, mariadb):
    answers = []
    for sh in both:
        sh("prepare 0 SELECT SLEEP(600)")
        (number,), = sh.query("SELECT CONNECTION_ID()")
        for command in ("execute 0", "query SELECT SLEEP(600)"):
            killer = when_asleep(mariadb, number, lambda n=number: mariadb.sql(f"KILL QUERY {n}"))
            answers.append(sh(command))
            killer.join()
        assert sh.query("SELECT 1") == [["1"]]
    assert answers[:2] == answers[2:]


@pytest.mark.parametrize("by", ["socket", "tcp"])
@pytest.mark.parametrize("command", ["execute 0", "query SELECT 5"])
def test_a_connection_the_server_has_closed(shell, mariadb, by, command):
    answers = []
    for argv in ([], BY_LIBRARY):
        sh = shell(mariadb, argv, by=by)
        sh("connect")
        sh("prepare 0 SELECT ?")
        sh("bind 0 int:1")
        kill(mariadb, sh.query("SELECT CONNECTION_ID()")[0][0])
        answers.append([sh(command), sh(command)])
    wire, library = answers
    assert [a["rc"] for a in wire] == ["LOST", "LOST"]
    # Whether sending or reading fails first is the system's choice.
    assert (wire[0]["code"], wire[0]["text"]) in [(a["code"], a["text"]) for a in library] or wire[0]["code"] == 2013
    assert wire[1] == library[1]


def test_interrupted_while_a_prepared_statement_waits(both, mariadb, request):
    """The library has a number of its own for the end of an encrypted connection, and OpenSSL's words."""
    answers = []
    for sh in both:
        (number,), = sh.query("SELECT CONNECTION_ID()")
        sh("prepare 0 SELECT SLEEP(600)")
        sh("interrupt")
        waker = when_asleep(mariadb, number, lambda p=sh.process: p.send_signal(signal.SIGUSR1))
        answers.append([sh("execute 0"), sh("execute 0"), sh("prepare 1 SELECT 1")["rc"], sh("disconnect")["rc"],
                        sh("connect")["rc"], sh.query("SELECT 1")])
        waker.join()
    if "[required]" in request.node.name:
        assert (answers[1][0]["code"], answers[1][0].pop("text")) == (2026, "TLS/SSL error: unexpected eof while reading")
        answers[1][0] |= {"code": 2013, "text": answers[0][0]["text"]}
    assert answers[0] == answers[1]
    assert answers[0][0]["code"] == 2013


def test_a_statement_too_long_for_the_server(shell, mariadb):
    sh = shell(mariadb)
    sh("connect")
    sh("prepare 0 SELECT LENGTH(?)")
    sh(f"bind 0 fill:{300 * MIB}")
    assert sh("execute 0")["rc"] == "LOST"
    sh("disconnect")
    sh("connect")
    assert sh.query("SELECT 1") == [["1"]]


@pytest.mark.parametrize("waits", [{}, {"SHELL_WAITS": "1"}], ids=["alone", "beside"])
def test_the_library_waits_for_room_on_an_encrypted_socket(shell, mariadb, waits):
    """It sends long texts, for which the socket has no room at once."""
    sh = shell(mariadb, ["--mysql-ssl=required"], by="tcp", env=waits)
    assert sh("connect")["rc"] == "DONE"
    assert sh.query(f"SELECT LENGTH('{'x' * 8 * MIB}')") == [[str(8 * MIB)]]


@pytest.mark.parametrize("waits", [{}, {"SHELL_WAITS": "1"}], ids=["alone", "beside"])
def test_the_end_of_an_encrypted_connection_is_not_the_next_ones(shell, mariadb, waits):
    """OpenSSL keeps the errors of all connections of a thread together, where the library looks for its own."""
    sh = shell(mariadb, ["--mysql-ssl=required"], by="tcp", env=waits)
    for number in (1, 0):
        sh(f"use {number}")
        assert sh("connect")["rc"] == "DONE"
    kill(mariadb, sh.query("SELECT CONNECTION_ID()")[0][0])
    assert sh("query SELECT 1")["rc"] == "LOST"
    sh("use 1")
    assert sh("query SET @a = SLEEP(0.1)")["rc"] == "DONE"


def test_a_frozen_server_is_left_alone(shell, mariadb_victim):
    sh = shell(mariadb_victim, by="tcp")
    sh("connect")
    sh("prepare 0 SELECT ?")
    sh("bind 0 int:1")
    mariadb_victim.freeze()
    try:
        sh("interrupt 300")
        assert sh("execute 0")["rc"] == "LOST"
    finally:
        mariadb_victim.thaw()
    sh("disconnect")
    assert sh("connect")["rc"] == "DONE"


@pytest.mark.parametrize("notice", ["close 0", "query SET @a = 1"])
@pytest.mark.parametrize("by", ["socket", "tcp"])
def test_a_socket_that_the_library_has_closed_is_nobodys(shell, mariadb, by, notice):
    """Its number is that of the next connection."""
    sh = shell(mariadb, by=by)
    sh("connect")
    for number in (0, 1):
        sh(f"prepare {number} SELECT 1")
    kill(mariadb, sh.query("SELECT CONNECTION_ID()")[0][0])
    sh(notice)
    sh("close 1")
    sh("use 1")
    sh("connect")
    (other,), = sh.query("SELECT CONNECTION_ID()")
    sh("use 0")
    answers = [sh("query SELECT CONNECTION_ID()") for _ in range(2)]
    assert [a["rc"] for a in answers] == ["LOST", "LOST"], other
    sh("use 1")
    assert sh.query("SELECT CONNECTION_ID()") == [[other]]


def test_information_while_results_are_pending(shell, mariadb):
    sh = shell(mariadb)
    sh("connect")
    assert sh("query SELECT 1; SELECT 2; SELECT 3")["more"] is True
    info = sh("info")
    assert (info["rc"], info["max_connections"] > 0) == (0, True)
    assert sh.query("SELECT 4") == [["4"]]


# --- servers that do what real ones do rarely or never -----------------------------------------------


@pytest.fixture
def scripted(shell):
    """A factory of connections to servers that give these answers."""
    made = []

    def make(*answers):
        made.append(ScriptedMySQL(*answers))
        sh = shell(made[-1])
        assert sh("connect")["rc"] == "DONE"
        return sh, made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.sanitized
def test_types_are_told_again_after_a_refusal(scripted):
    """A server that is no part of its cluster yet does not look at them."""
    refusal = packets(b"\xff\x17\x04#08S01not yet")
    sh, server = scripted(packets(OK), packets(OK), refusal, packets(OK), packets(OK))
    sh("prepare 0 UPDATE t SET v = ?")
    sh("bind 0 int:1")
    assert [sh("execute 0")["rc"] for _ in range(5)] == ["DONE", "DONE", "ERROR", "DONE", "DONE"]
    # Command, statement, flags, count, nulls: then whether types follow.
    assert [asked[11] for asked in server.asked] == [1, 0, 0, 1, 0]


ROWS = [b"\1", COLUMN, END, b"\1a", END]


@pytest.mark.parametrize("answer, code", [
    sanitized(packets(b"\xfb/etc/passwd"), 2027),
    (packets(b"\xfemysql_clear_password\0salt"), 2027),
    (packets(b""), 2027),
    (packets(b"\0"), 2027),
    (packets(OK, seq=2), 2027),
    sanitized(packets(b"\xfd\xff\xff\xff", *ROWS[1:]), 2027),
    (packets(b"\xfe" + b"\xff" * 8), 2027),
    (packets(*ROWS[:3]), 2013),
    sanitized(packets(*ROWS[:4]) + b"\xff\xff\xff\5\xfe", 2013),
    (packets(*ROWS)[:-1], 2013),
    (b"\xff\xff", 2013),
    (b"", 2013),
], ids=lambda p: p.hex()[:20] if isinstance(p, bytes) else None)
def test_an_answer_of_no_server_ends_the_connection(scripted, answer, code):
    sh, server = scripted(packets(*ROWS), answer)
    assert sh.query("SELECT 1") == [["a"]]
    answer = sh("query SELECT 2")
    assert (answer["rc"], answer["code"], answer["state"]) == ("LOST", code, "HY000")
    assert sh("query SELECT 3")["rc"] == "LOST"
    assert len(server.asked) == 2


@pytest.mark.parametrize("name", [sanitized("a file"), "rows of bench"])
def test_no_statement_gives_a_file_to_the_server(tmp_path, name):
    """prepare, whose connections may load rows; its first statement is CREATE TABLE."""
    secret = tmp_path / "a file"
    secret.write_text("nobody but us knows this")
    path = str(secret) if name == "a file" else name
    server = ScriptedMySQL(packets(b"\xfb" + path.encode()), packets(OK))
    done = subprocess.run([BENCH, "oltp_point_select", *server.login(), "--table-size=5", "prepare"],
                          capture_output=True, text=True, timeout=60)
    server.close()
    assert done.returncode == 1 and "the server asked for a file" in done.stdout + done.stderr
    assert b"nobody but us" not in server.received and server.asked[0][1:].startswith(b"CREATE TABLE")


@pytest.mark.parametrize("fields, row", [(1, b"\1a"), (2, b"\xfb\xfb"), (2, b"\x0fmax_connections\xfb")])
def test_information_with_nothing_in_it(scripted, fields, row):
    answer = packets(bytes([fields]), *[COLUMN] * fields, END, row, END)
    sh, _ = scripted(answer, answer, packets(OK))
    info = sh("info")
    assert info["rc"] == 0 and info["max_connections"] in (-1, 0)
    assert sh("query SELECT 1")["rc"] == "DONE"


@pytest.mark.sanitized
@pytest.mark.parametrize("row", [b"\xfb" * 6, b"\2id\7int(11)" + b"\xfb" * 4])
def test_columns_with_nothing_in_them(row):
    """prepare asks for the columns before it loads rows; here the table then refuses all of them."""
    columns = packets(b"\6", *[COLUMN] * 6, END, row, END)
    limits = packets(b"\2", COLUMN, COLUMN, END, END)
    refusal = packets(b"\xff\x15\4#42000no")
    server = ScriptedMySQL(packets(OK), limits, limits, columns, refusal, refusal)
    done = subprocess.run([BENCH, "oltp_point_select", *server.login(), "--table-size=5", "prepare"],
                          capture_output=True, text=True, timeout=60)
    server.close()
    assert done.returncode == 1 and b"SHOW COLUMNS" in server.asked[3]


@pytest.mark.parametrize("row", [sanitized(b"\5a"), b"\1a\1b", b"\xfc"], ids=["long", "more", "short"])
def test_a_malformed_row_is_no_end_of_the_result(tmp_path, row):
    """The connection ends with it: nothing of what follows is sure."""
    server = ScriptedMySQL(packets(*ROWS[:4], row, END), packets(*ROWS))
    done = subprocess.run([BENCH, FETCHING, *server.login(), *OWN, "prepare"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60)
    server.close()
    assert "FATAL: cannot read the rest of a result: a row is malformed, or there is no memory for it\n" in done.stderr, done.stdout + done.stderr
    assert re.search(r"^2\ta\tfalse\t.*cannot read the rest of a result$", done.stdout, re.M)
    assert "errno = 2006" in done.stdout and len(server.asked) == 1


@pytest.mark.parametrize("protocol, refused, groups, status", [
    (OWN, None, [1, 64, 64, 64, 7], 0), (BY_LIBRARY, None, [1] * 200, 0), sanitized(OWN, b"sbtest2 ", [1, 64, 1], 1),
    (OWN, b"sbtest100 ", [1, 64, 64, 1], 1), (BY_LIBRARY, b"sbtest3 ", [1, 1, 1], 1)])
def test_statements_are_prepared_together(protocol, refused, groups, status):
    """The one that the server refuses is asked for again, by itself."""
    server = PreparingMySQL([*groups, 0], refused)
    done = subprocess.run([BENCH, "oltp_point_select", *server.login(), *protocol, "--compat=1.1", "--tables=200",
                           "--events=3", "run"], capture_output=True, text=True, timeout=60)
    server.close()
    assert (server.left, done.returncode) == ([0], status), done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("no such table") == status


@pytest.mark.parametrize("version, groups", [
    (b"5.7.12", [1] * 200), (b"5.5.5-10.11.6-MariaDB", [1, 64, 64, 64, 7]), (b"9.1.0", [1, 64, 64, 64, 7])])
def test_servers_that_may_not_read_ahead(version, groups):
    """They get one statement at a time."""
    server = PreparingMySQL([*groups, 0], version=version)
    done = subprocess.run([BENCH, "oltp_point_select", *server.login(), *OWN, "--compat=1.1", "--tables=200",
                           "--events=3", "run"], capture_output=True, text=True, timeout=60)
    server.close()
    assert (server.left, done.returncode) == ([0], 0), done.stdout + done.stderr


@pytest.mark.sanitized
def test_a_proxy_that_takes_one_statement_at_a_time():
    """Each session may find that out for itself, and opens its connection again."""
    server = OneByOneMySQL()
    done = subprocess.run([BENCH, "oltp_point_select", *server.login(), *OWN, "--tables=20", "--table-size=1",
                           "--threads=2", "--events=6", "run"], capture_output=True, text=True, timeout=60)
    server.close()
    assert done.returncode == 0 and 1 <= server.hung_up <= 2, done.stdout + done.stderr
    assert done.stderr == ("the server ended a connection on which several statements were prepared at once, perhaps a "
                           "proxy such as ProxySQL: sessions prepare them one by one\n")


SHUTDOWN = b"\xff\x1d\x04#08S01Server shutdown in progress"


@pytest.mark.parametrize("farewell, code, text", [
    (b"", 2013, "Lost connection to "), sanitized(PREPARED[:20], 2013, "Lost connection to "), (packets(b"\7no"), 2027, ""),
    *[(packets(SHUTDOWN, seq=n), 1053, "Server shutdown in progress") for n in (1, 0)]])
def test_a_connection_lost_while_statements_are_prepared_together(farewell, code, text):
    """The message says what has happened, and not what happens to the next statement."""
    server = PreparingMySQL([1, 64], farewell=farewell)
    done = subprocess.run([BENCH, "oltp_point_select", *server.login(), *OWN, "--tables=200", "--table-size=1",
                           "--events=3", "run"], capture_output=True, text=True, timeout=60)
    server.close()
    assert done.returncode == 1 and f'FATAL: MySQL error: {code} "{text}' in done.stderr, done.stdout + done.stderr
    assert done.stderr.count("MySQL error: ") == 1, done.stderr


class RefusingMySQL(FakeMySQL):
    """Refuses to prepare anything, with that error; `texts` has the queries."""

    one_by_one = False

    def __init__(self, code, state):
        self.error = packets(b"\xff" + code.to_bytes(2, "little") + b"#" + state.encode() + b"not this one")
        self.texts = []
        super().__init__("mysql_native_password")

    def talk(self, conn):
        for command in self.commands(conn):
            if command[0] == COM_QUERY:
                self.texts.append(command[1:].decode())
            conn.sendall(self.error if command[0] == COM_PREPARE else packets(OK))


REFUSED = """
function thread_init()
  con = sysbench.sql.driver():connect()
  st = con:prepare("UPDATE t SET a = ?")
  p = st:bind_create(sysbench.sql.type.INT)
  st:bind_param(p)
  con:prepare("DELETE FROM t")
end
function event() p:set(7) st:execute() end
"""


@pytest.mark.parametrize("code, state, options, as_text", [
    (1105, "HY000", [], True), (8108, "HY000", [], True), (1235, "42000", [], True), (1295, "HY000", [], True),
    (1105, "HY000", ["--compat=1.1"], False), (1105, "HY000", ["--db-ps-mode=extended"], False),
    (1146, "42S02", [], False), (1064, "42000", [], False), (1142, "42000", [], False)])
@pytest.mark.parametrize("protocol", [OWN, BY_LIBRARY])
def test_a_statement_that_the_server_refuses_to_prepare_is_sent_as_text(tmp_path, protocol, code, state, options, as_text):
    """Unless the error is one of the statement, which is named then, too."""
    (tmp_path / "r.lua").write_text(REFUSED)
    server = RefusingMySQL(code, state)
    done = subprocess.run([BENCH, "r.lua", *server.login(), *protocol, *options, "--events=2", "--time=0", "run"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=60)
    server.close()
    said = done.stdout + done.stderr
    assert done.returncode == (0 if as_text else 1), said
    assert server.texts == (["UPDATE t SET a = 7"] * 2 if as_text else [])
    hint = f"the server does not prepare 'UPDATE t SET a = ?' ({code}: not this one): "
    assert done.stderr.count(hint) == (as_text and code != 1295)
    named = f'MySQL error: {code} "not this one" for query \'UPDATE t SET a = ?\'\n'
    assert as_text or (named in done.stderr) == ("--compat=1.1" not in options), said


class WriterlessMySQL(FakeMySQL):
    """As ProxySQL whose writer is away for a while: refuses some statements that are to be prepared or executed, which
    it counts over all connections, and keeps the connection.  `texts` has the queries."""

    one_by_one = False
    ERROR = packets(b"\xff\x29\x23#HY000Max connect timeout reached while reaching hostgroup 0 after 10000ms")

    def __init__(self, first, count):
        self.refused, self.seen, self.texts = range(first, first + count), 0, []
        super().__init__("mysql_native_password")

    def answer(self, command):
        if command[0] == COM_QUERY:
            self.texts.append(command[1:].decode())
            return packets(OK)
        self.seen += 1
        if self.seen in self.refused:
            return self.ERROR
        return PREPARED if command[0] == COM_PREPARE else packets(OK)

    def talk(self, conn):
        for command in self.commands(conn):
            if command[0] in (COM_QUERY, COM_PREPARE, COM_EXECUTE):
                conn.sendall(self.answer(command))


AWAY = """
function thread_init()
  con = sysbench.sql.driver():connect()
  st = con:prepare("DO ?")
  p = st:bind_create(sysbench.sql.type.INT)
  st:bind_param(p)
end
function event() p:set(7) st:execute() end
"""


# The first statement is PREPARE, the third one the second EXECUTE.
@pytest.mark.parametrize("protocol, first, count", [(OWN, 1, 3), (BY_LIBRARY, 1, 1), (OWN, 3, 4), (BY_LIBRARY, 3, 4)])
def test_a_proxy_without_a_writer_for_a_while(tmp_path, protocol, first, count):
    """It counts as a lost connection: the next one may reach a server.  No statement is sent as text."""
    (tmp_path / "r.lua").write_text(AWAY)
    server = WriterlessMySQL(first, count)
    done = subprocess.run([BENCH, "r.lua", *server.login(), *protocol, "--db-ignore-errors=connection", "--events=4",
                           "--time=0", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    server.close()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    # Those of the start are not in the report.
    assert first == 1 or re.search(rf"^ *reconnects: +{count} ", done.stdout, re.M), done.stdout
    assert not any(text.startswith("DO ") for text in server.texts)
    # Four executions succeed, after one PREPARE, or another one on the last connection.
    assert server.seen == count + 4 + (1 if first == 1 else 2)


class FailingOverMySQL(FakeMySQL):
    """As a proxy whose writer dies within a transaction: hangs up at the 20th statement that is executed.  Of those that
    are prepared afterwards, it refuses the one with that number.  `executed` says how many statements have succeeded.
    The tables of bundled workloads have one branch or warehouse."""

    one_by_one = False
    LAST = 20
    ROWS = {"pgbench_branches": [["1"]], "oe_settings')": [["oe_settings"]], "_isolation": [["level", "REPEATABLE-READ"]],
            "FROM oe_settings": [[name, "1"] for name in ("version", "seed", "c_last_load", "wanted", "warehouses")]}

    def __init__(self, refused):
        self.refused, self.executed, self.has_failed, self.prepared_since = refused, 0, False, 0
        super().__init__("mysql_native_password")

    def query(self, text):
        for word, rows in self.ROWS.items():
            if word in text:
                texts = [b"".join(bytes([len(cell)]) + cell.encode() for cell in row) for row in rows]
                return packets(bytes([len(rows[0])]), *[COLUMN] * len(rows[0]), END, *texts, END)
        return packets(OK)

    def prepare(self, text):
        self.prepared_since += self.has_failed
        if self.prepared_since == self.refused:
            self.refused = None
            return WriterlessMySQL.ERROR
        marks = text.count("?")
        head = b"\0\1\0\0\0\0\0" + marks.to_bytes(2, "little") + bytes(3)
        return packets(head, *[COLUMN] * marks, *[END] * (marks > 0))

    def talk(self, conn):
        for command in self.commands(conn):
            text = command[1:].decode(errors="replace")
            if command[0] == COM_EXECUTE:
                if self.executed == self.LAST - 1 and not self.has_failed:
                    self.has_failed = True
                    return
                self.executed += 1
                conn.sendall(packets(b"\0\1\0\2\0\0\0"))  # one row has changed
            elif command[0] in (COM_QUERY, COM_PREPARE):
                conn.sendall(self.query(text) if command[0] == COM_QUERY else self.prepare(text))


# A delivery executes twelve statements, three different ones, if no district has an open order.
WORKLOADS = {"tpcb_like": (7, ["--tpcb-check=none"]),
             "order_entry": (12, ["--order-check=none", "--order-deck=0,0,0,1,0"])}


@pytest.mark.parametrize("refused", [1, 3])
@pytest.mark.parametrize("protocol", [OWN, BY_LIBRARY])
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_prepares_again_after_a_failover(tmp_path, name, protocol, refused):
    """Also if that fails at first: each of five transactions has all its statements."""
    each, options = WORKLOADS[name]
    server = FailingOverMySQL(refused)
    done = subprocess.run([BENCH, name, *server.login(), *protocol, *options, "--db-ignore-errors=connection",
                           "--events=5", "--time=0", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    server.close()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert re.search(r"^ *reconnects: +2 ", done.stdout, re.M) and re.search(r"^ *transactions: +5 ", done.stdout, re.M)
    # The first failure is in the last try but one, which has executed some statements; the next try has executed those
    # that are prepared before the one that is refused.
    done_before = (server.LAST - 1) % each
    done_then = {1: 0, 3: 2 if name == "tpcb_like" else 11}[refused]
    assert server.executed == 5 * each + done_before + done_then
