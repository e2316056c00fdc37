# SPDX-License-Identifier: GPL-2.0-or-later
"""The module `mysql`, hook by hook, on a private MariaDB."""

import os
import socket
import subprocess
import types

import pytest
from servers import BENCH


CLASS_OTHER, CLASS_DEADLOCK, CLASS_LOCK_TIMEOUT, CLASS_CONNECTION, CLASS_DUPLICATE = 0, 1, 2, 4, 6
MIB = 1024 * 1024


OWN, LIBRARY = "own", pytest.param("library", marks=pytest.mark.slow)


@pytest.fixture(params=["own", "library"])
def sh(shell, mariadb, request):
    """Statements go by the driver's own framing, or all by the client library."""
    s = shell(mariadb, [f"--mysql-protocol={request.param}"])
    assert s("connect")["rc"] == "DONE"
    return s


TYPES = """CREATE TABLE spec_types (i INT, b BIGINT, u BIGINT UNSIGNED, d DATE, dt DATETIME(3),
    tm TIME, dc DECIMAL(20,3), f FLOAT, db DOUBLE, bl BLOB, bt BIT(8), c CHAR(4), y YEAR, z INT ZEROFILL)"""
VALUES = """(-1, -9223372036854775808, 18446744073709551615, '2020-02-03', '2020-02-03 04:05:06.007',
    '-11:12:13', 1.5, 0.1, 1e100, 'a\\0b', b'101', 'x', 2020, 7)"""
AS_TEXT = ["-1", "-9223372036854775808", "18446744073709551615", "2020-02-03", "2020-02-03 04:05:06.007",
           "-11:12:13", "1.500", "0.1", "1e100", "a\0b", "\5", "x", "2020", "0000000007"]


@pytest.mark.sanitized
def test_values_are_text_in_the_servers_form_prepared_or_not(sh):
    sh.query("DROP TABLE IF EXISTS spec_types")
    sh.query(TYPES.replace("\n", " "))
    sh.query("INSERT INTO spec_types VALUES " + VALUES.replace("\n", " ") + ", (" + ",".join(["NULL"] * 14) + ")")
    assert sh.query("SELECT * FROM spec_types") == [AS_TEXT, [None] * 14]
    assert sh("prepare 0 SELECT * FROM spec_types")["rc"] == "DONE"
    for _ in range(2):
        answer = sh("execute 0")
        assert (answer["nrows"], answer["nfields"]) == (2, 14)
        assert sh.rows() == [AS_TEXT, [None] * 14]
    sh.query("DROP TABLE spec_types")


def test_parameters_are_read_where_they_are_bound(sh):
    sh("prepare 0 SELECT ?, ?, ?, '?', `a?` FROM (SELECT 1 AS `a?`) t -- ?")
    assert sh("bind 0 int:-5 double:0.125 text:a'b")["rc"] == "DONE"
    sh("execute 0")
    assert sh.rows() == [["-5", "0.125", "a'b", "?", "1"]]
    sh("set 0 int:9223372036854775807")
    sh("execute 0")
    assert sh.rows()[0][0] == "9223372036854775807"
    sh("set 0 null:")
    sh("execute 0")
    assert sh.rows()[0][0] is None
    sh("set 0 int:7")
    sh("execute 0")
    assert sh.rows()[0][0] == "7"


@pytest.mark.parametrize("sh", [OWN, LIBRARY], indirect=True)
def test_values_of_64_MiB_go_both_ways(sh):
    sh("prepare 0 SELECT LENGTH(?), ?")
    sh(f"bind 0 fill:{64 * MIB} int:3")
    assert sh("execute 0")["rc"] == "ROWS"
    assert sh.rows() == [[str(64 * MIB), "3"]]
    assert sh(f"query SELECT REPEAT('x', {64 * MIB}), 1")["rc"] == "ROWS"
    assert sh("fetch lengths") == [64 * MIB, 1]
    sh(f"prepare 1 SELECT 1, REPEAT('x', {64 * MIB})")
    assert sh("execute 1")["rc"] == "ROWS"
    assert sh("fetch lengths") == [1, 64 * MIB]


def test_wrong_number_of_parameters(sh):
    sh("prepare 0 SELECT ?")
    answer = sh("bind 0 int:1 int:2")
    assert answer["rc"] == "ERROR"
    assert answer["text"] == "Wrong number of parameters to mysql_stmt_bind_param"
    assert sh("bind 0 int:1")["rc"] == "DONE"


def test_several_results_in_order(sh):
    assert sh("query SELECT 1; SET @a=1; SELECT 3")["more"] is True
    assert sh.rows() == [["1"]]
    assert sh("next") == {"rc": "DONE", "affected": 0, "nrows": 0, "nfields": 0, "more": True}
    assert sh("next") == {"rc": "ROWS", "affected": 0, "nrows": 1, "nfields": 1, "more": False}
    assert sh.rows() == [["3"]]
    assert sh.query("SELECT 4") == [["4"]]


def test_the_second_of_several_statements_fails(sh):
    assert sh("query SELECT 1; SELECT nosuch; SELECT 3")["more"] is True
    answer = sh("next")
    assert (answer["rc"], answer["code"], answer["call"]) == ("ERROR", 1054, "mysql_drv_next_result()")
    assert sh.query("SELECT 4") == [["4"]]


def test_a_procedure_gives_its_results_prepared_or_not(sh):
    sh.query("DROP PROCEDURE IF EXISTS two_results")
    made = sh.query("CREATE PROCEDURE two_results(n INT) BEGIN SELECT n, 'a'; SELECT n + 1; END")
    assert made["rc"] == "DONE"
    for begin, then in (("query CALL two_results(5)", "next"), ("execute 0", "next 0")):
        if begin.startswith("execute"):
            sh("prepare 0 CALL two_results(?)")
            sh("bind 0 int:5")
        assert sh(begin)["more"] is True
        assert sh.rows() == [["5", "a"]]
        assert sh(then)["rc"] == "ROWS"
        assert sh.rows() == [["6"]]
        assert sh(then) == {"rc": "DONE", "affected": 0, "nrows": 0, "nfields": 0, "more": False}
    sh.query("DROP PROCEDURE two_results")


def test_affected_rows(sh):
    sh.query("DROP TABLE IF EXISTS spec_aff")
    sh.query("CREATE TABLE spec_aff (id INT PRIMARY KEY, v INT)")
    assert sh("query INSERT INTO spec_aff VALUES (1, 1), (2, 1), (3, 1)")["affected"] == 3
    assert sh("query UPDATE spec_aff SET v = 2 WHERE id < 3")["affected"] == 2
    assert sh("query UPDATE spec_aff SET v = 2 WHERE id = 9")["affected"] == 0
    sh("prepare 0 DELETE FROM spec_aff WHERE id < ?")
    sh("bind 0 int:3")
    assert sh("execute 0")["affected"] == 2
    sh.query("DROP TABLE spec_aff")


def test_errors_have_number_state_class_and_call(sh):
    answer = sh("query SELECT * FROM spec_missing")
    assert answer["rc"] == "ERROR"
    assert (answer["code"], answer["state"], answer["class"]) == (1146, "42S02", CLASS_OTHER)
    assert answer["text"] == "Table 'spec_db.spec_missing' doesn't exist"
    assert (answer["call"], answer["ignorable"]) == ("mysql_drv_query()", False)
    assert sh("prepare 0 SELECT * FROM spec_missing")["call"] == "mysql_stmt_prepare()"
    assert sh("query")["code"] == 1065


def test_what_cannot_be_prepared_is_to_be_emulated(sh):
    answer = sh("prepare 0 DEALLOCATE PREPARE nosuch")
    assert (answer["rc"], answer["code"], answer["call"]) == ("EMULATE", 1295, "mysql_stmt_prepare()")


@pytest.mark.parametrize("sh", [OWN, LIBRARY], indirect=True)
def test_duplicates_deadlocks_and_lock_timeouts(sh):
    sh.query("DROP TABLE IF EXISTS spec_dl")
    sh.query("CREATE TABLE spec_dl (id INT PRIMARY KEY, v INT) ENGINE=InnoDB")
    sh.query("INSERT INTO spec_dl VALUES (1, 0), (2, 0)")
    answer = sh("query INSERT INTO spec_dl VALUES (1, 1)")
    assert (answer["code"], answer["class"], answer["ignorable"]) == (1062, CLASS_DUPLICATE, False)
    assert answer["rolled_back"] is True  # no transaction was open
    sh("use 1")
    sh("connect")
    sh.query("BEGIN")
    sh.query("UPDATE spec_dl SET v = 1 WHERE id = 1")
    sh("use 0")
    sh.query("SET innodb_lock_wait_timeout = 1")
    sh.query("BEGIN")
    answer = sh("query UPDATE spec_dl SET v = 1 WHERE id = 1")
    assert (answer["code"], answer["class"], answer["ignorable"]) == (1205, CLASS_LOCK_TIMEOUT, True)
    assert answer["rolled_back"] is False
    sh.query("ROLLBACK")
    sh("use 1")
    sh("disconnect")
    sh("use 0")
    sh.query("DROP TABLE spec_dl")


def test_quote_escapes_as_the_server_wants(sh):
    assert sh("quote a'b\\c\"d") == "a\\'b\\\\c\\\"d"
    assert sh.query("SELECT '" + sh("quote it's \\ \"x\"") + "'") == [["it's \\ \"x\""]]


def test_info(sh, mariadb):
    info = sh("info")
    assert (info["max_connections"], info["max_prepared"]) == (1200, 1000000)
    assert mariadb.vendor in info["version"]


@pytest.mark.parametrize("by", ["socket", "tcp"])
def test_interrupt_ends_a_blocked_call(shell, mariadb, by):
    sh = shell(mariadb, by=by)
    sh("connect")
    sh("interrupt 200")
    answer = sh("query SELECT SLEEP(600)")
    assert (answer["rc"], answer["class"]) == ("LOST", CLASS_CONNECTION)
    assert sh("query SELECT 1")["rc"] == "LOST"
    sh("disconnect")
    assert sh("connect")["rc"] == "DONE"
    assert sh.query("SELECT 1") == [["1"]]


def test_a_connection_killed_by_the_server_is_lost(sh, mariadb):
    sh("prepare 0 SELECT ?")
    sh("bind 0 int:1")
    (connection,) = sh.query("SELECT CONNECTION_ID()")[0]
    mariadb.sql(f"KILL {connection}")
    assert sh("execute 0")["rc"] == "LOST"
    sh("disconnect")
    assert sh("connect")["rc"] == "DONE"


def test_read_timeout(shell, mariadb):
    sh = shell(mariadb, ["--mysql-read-timeout=1"])
    sh("connect")
    assert sh("query SELECT SLEEP(600)")["rc"] == "LOST"


@pytest.mark.slow  # it waits
def test_connect_timeout_does_not_limit_statements(shell, mariadb):
    sh = shell(mariadb, ["--mysql-connect-timeout=10"], by="tcp")
    sh("connect")
    assert sh.query("SELECT SLEEP(11)") == [["0"]]


# --- where to, and as whom ---------------------------------------------------------------------------


def test_hosts_and_ports_in_turn_the_port_fastest(shell, mariadb):
    sh = shell(mariadb, ["--mysql-host=127.0.0.1,127.0.0.9", f"--mysql-port={mariadb.port},1,2"], by="tcp")
    places = []
    for _ in range(7):
        answer = sh("connect")
        places.append(answer.get("where", "good"))
        if answer["rc"] == "DONE":
            sh("disconnect")
    assert places == [
        "good", " on host '127.0.0.1', port 1", " on host '127.0.0.1', port 2",
        f" on host '127.0.0.9', port {mariadb.port}", " on host '127.0.0.9', port 1",
        " on host '127.0.0.9', port 2", "good",
    ]


def test_sockets_in_turn_and_hosts_ignored(shell, mariadb):
    sh = shell(mariadb, [f"--mysql-socket={mariadb.socket},/nonexistent.sock", "--mysql-host=nosuch.invalid"])
    assert sh("connect")["rc"] == "DONE"
    sh("disconnect")
    answer = sh("connect")
    assert (answer["code"], answer["where"]) == (2002, " on socket '/nonexistent.sock'")
    assert sh("connect")["rc"] == "DONE"


def test_hosts_that_do_not_answer_are_all_named(tmp_path):
    (tmp_path / "x.lua").write_text("function thread_init() sysbench.sql.driver():connect() end\nfunction event() end\n")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        done = subprocess.run([BENCH, "./x.lua", "--db-driver=mysql", "--mysql-host=127.0.0.1,127.0.0.9",
                               f"--mysql-port={port}", "--threads=6", "run"], cwd=tmp_path, capture_output=True,
                              text=True, timeout=120)
    for host in "127.0.0.1", "127.0.0.9":
        where = f"on host '{host}', port {port}"
        assert done.stderr.count(f"FATAL: unable to connect to MySQL server {where}, aborting...\nFATAL: error 2") == 1
        again = f"\n(2 more threads: unable to connect to MySQL server {where}, aborting...: error 2"
        assert done.stderr.count(again) == 1, done.stderr
    assert done.returncode == 1


def test_overrides_replace_options_of_one_connection(shell, mariadb):
    sh = shell(mariadb, ["--mysql-user=nobody"])
    assert sh("connect")["code"] == 1045
    assert sh("connect user=spec_user")["rc"] == "DONE"
    assert sh.query("SELECT USER()") == [["spec_user@localhost"]]
    sh("disconnect")
    assert sh(f"connect user=spec_user host=127.0.0.1 port={mariadb.port}")["rc"] == "DONE"
    assert sh.query("SHOW STATUS LIKE 'Threads_connected'")
    sh("disconnect")
    answer = sh("connect ssl=on")
    assert (answer["rc"], answer["text"]) == ("ERROR", "--mysql-ssl cannot differ between connections")


@pytest.mark.parametrize("argv, text", [
    (["--mysql-socket=", "--mysql-host="], "No MySQL hosts specified, aborting"),
    (["--mysql-socket=", "--mysql-port="], "No MySQL ports specified, aborting"),
    (["--mysql-port=33x"], "Invalid value for --mysql-port: '33x'"),
    *((["--mysql-protocol=own", option],
       f"--mysql-protocol=own cannot be used with {name}: leave one of them out") for option, name in (
        ("--mysql-debug=on", "--mysql-debug=on"), ("--mysql-compression=on", "--mysql-compression=on"),
        ("--mysql-read-timeout=3", "--mysql-read-timeout"))),
    (["--mysql-ignore-errors=12a"],
     "Invalid value for --mysql-ignore-errors: '12a' is no error number and not 'all'"),
    (["--mysql-password=", "--mysql-password-file=/nonexistent"],
     "cannot open the password file '/nonexistent': No such file or directory"),
    (["--mysql-defaults-file=/nonexistent"],
     "cannot open the option file '/nonexistent': No such file or directory"),
])
def test_what_cannot_be_is_refused_at_the_start(shell, mariadb, argv, text):
    sh = shell(mariadb, argv)
    assert sh.start == {"rc": "INIT", "text": text}


def test_wrong_password_and_database(shell, mariadb):
    sh = shell(mariadb, ["--mysql-password=wrong"])
    answer = sh("connect")
    assert (answer["rc"], answer["code"], answer["state"]) == ("ERROR", 1045, "28000")
    assert "wrong" not in answer["text"]
    answer = shell(mariadb, ["--mysql-db=nosuchdb"])("connect")
    assert answer["code"] == 1044


@pytest.mark.sanitized
def test_password_from_environment_file_and_option_file(shell, mariadb, tmp_path):
    login = [arg for arg in mariadb.login() if "password" not in arg]
    server = types.SimpleNamespace(driver="mysql", login=lambda: login)
    assert shell(server)("connect")["code"] == 1045
    env = {"MYSQL_PWD": "spec_pw"}
    assert shell(server, env=env)("connect")["rc"] == "DONE"
    # One that is given and empty is a password, too.
    assert shell(server, ["--mysql-password="], env=env)("connect")["code"] == 1045
    file = tmp_path / "pw"
    file.write_text("spec_pw\n")
    assert shell(server, [f"--mysql-password-file={file}"])("connect")["rc"] == "DONE"
    (tmp_path / ".my.cnf").write_text(
        "[mysqld]\npassword = other\n# a comment\n[client]\nuser=spec_user\npassword = \"spec\\_pw\"\n"
        "[mysqldump]\npassword=x\n".replace("\\_", "_"))
    server.login = lambda: [arg for arg in login if not arg.startswith("--mysql-user=")]
    argv, env = ["--mysql-defaults-file=~/.my.cnf"], {"HOME": str(tmp_path)}
    sh = shell(server, argv, env=env)
    assert sh("connect")["rc"] == "DONE"
    assert sh.query("SELECT USER()") == [["spec_user@localhost"]]
    # What was typed counts, also if it is the default.
    assert shell(server, ["--mysql-user=sbtest", *argv], env=env)("connect")["code"] == 1045


def where_it_goes(shell, folder, text, *argv):
    """The user, and the way to the server: by TCP there is no user of localhost, to which % belongs."""
    (folder / "my.cnf").write_text(text)
    server = types.SimpleNamespace(driver="mysql", login=lambda: ["--mysql-db=spec_db"])
    sh = shell(server, [f"--mysql-defaults-file={folder}/my.cnf", *argv])
    answer = sh("connect")
    return answer if answer["rc"] != "DONE" else sh.query("SELECT USER(), @@port, CURRENT_USER()")[0]


def test_the_server_of_an_option_file_replaces_defaults(shell, mariadb, tmp_path):
    login = "user=spec_user\npassword=spec_pw\n"
    by_socket = ["spec_user@localhost", str(mariadb.port), "spec_user@localhost"]
    text = f"[client]\n{login}[client-mariadb]\nsocket = '{mariadb.socket}'\n[mysql]\nsocket=/nonexistent\n"
    assert where_it_goes(shell, tmp_path, text) == by_socket
    # A host that is not this one is not reached by a socket.
    text = f"[bench]\n{login}host=127.0.0.1\nport={mariadb.port}\nsocket=/nonexistent\n"
    assert where_it_goes(shell, tmp_path, text)[1:2] == [str(mariadb.port)]
    # What was asked for is not replaced.
    assert where_it_goes(shell, tmp_path, text, f"--mysql-socket={mariadb.socket}") == by_socket
    refused = where_it_goes(shell, tmp_path, text, "--mysql-port=1")
    assert (refused["rc"], refused["where"]) == ("ERROR", " on host '127.0.0.1', port 1")
    refused = where_it_goes(shell, tmp_path, text, "--mysql-host=localhost", "--mysql-socket=/typed")
    assert "/typed" in refused["where"]
    refused = where_it_goes(shell, tmp_path, text, "--mysql-host=127.0.0.9", "--mysql-port=1")
    assert refused["where"] == " on host '127.0.0.9', port 1"


def test_an_option_file_is_read_as_mysql_reads_it(shell, mariadb, tmp_path):
    """A mark of UTF-8, comments behind values, groups of MariaDB, included files, and init-command."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "b.cnf").write_text("[client]\npassword = 'spec_pw' # of the test\n")
    (tmp_path / "parts" / "b.cnf~").write_text("[client]\npassword=other\n")
    (tmp_path / "own.cnf").write_text("[bench]\nloose-init_command = SET SESSION lock_wait_timeout=8\n")
    text = (f"\ufeff[client-server]  # everybody\nuser=spec_user#comment\n ; no\n"
            f"socket=\"{mariadb.socket}\"\n[mysqld]\n!includedir {tmp_path}/parts\n!include {tmp_path}/own.cnf\n"
            "init-command=SET SESSION lock_wait_timeout=9\n[client]\n"
            "init-command=\"SET SESSION wait_timeout=7 /* # */\"\n")
    (tmp_path / "my.cnf").write_text(text)
    server = types.SimpleNamespace(driver="mysql", login=lambda: ["--mysql-db=spec_db"])
    for protocol in "own", "library":
        sh = shell(server, [f"--mysql-defaults-file={tmp_path}/my.cnf", f"--mysql-protocol={protocol}"])
        assert sh("connect")["rc"] == "DONE"
        assert sh.query("SELECT @@wait_timeout, @@lock_wait_timeout") == [["7", "8"]]
    (tmp_path / "my.cnf").write_text(text + "init-command=SET @@nonsense=1\n")
    refused = shell(server, [f"--mysql-defaults-file={tmp_path}/my.cnf"])("connect")
    assert refused["rc"] == "ERROR" and "nonsense" in refused["text"]
    (tmp_path / "own.cnf").write_text(f"!include {tmp_path}/own.cnf\n")
    assert "include one another" in shell(server, [f"--mysql-defaults-file={tmp_path}/own.cnf"]).start["text"]
    assert "65536 lines" in shell(server, ["--mysql-defaults-file=/dev/zero"]).start["text"]
    assert (shell(server, [f"--mysql-defaults-file={tmp_path}"]).start["text"]
            == f"cannot read the option file '{tmp_path}': Is a directory")
    (tmp_path / "own.cnf").write_text("!\n" * 65537)
    assert "65536 lines" in shell(server, [f"--mysql-defaults-file={tmp_path}/own.cnf"]).start["text"]


def test_encryption_of_an_option_file(shell, mariadb, certificates, tmp_path):
    (tmp_path / "my.cnf").write_text(f"[client]\nssl-mode=REQUIRED\nssl_ca={certificates.ca}\n")
    argv = [f"--mysql-defaults-file={tmp_path}/my.cnf"]
    cipher = "SHOW STATUS LIKE 'Ssl_cipher'"
    sh = shell(mariadb, argv)
    assert sh("connect")["rc"] == "DONE" and sh.query(cipher)[0][1]
    sh = shell(mariadb, [*argv, "--mysql-ssl=disabled"])
    assert sh("connect")["rc"] == "DONE" and not sh.query(cipher)[0][1]
    (tmp_path / "my.cnf").write_text("[client]\nssl-mode=tls\n")
    assert shell(mariadb, argv).start["text"].endswith(
        "my.cnf: ssl-mode=tls: unknown; allowed: disabled, preferred, required, verify_ca, verify_identity")
    (tmp_path / "my.cnf").write_text("[client]\nport=33x\n")
    assert shell(mariadb, argv).start["text"] == "Invalid value for the port in --mysql-defaults-file: '33x'"


def test_password_asked_for_on_the_terminal(mariadb):
    import pty

    build = os.path.dirname(os.path.dirname(os.environ["BENCH"]))
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(f"{build}/tests/servers/driver_shell", [
            "driver_shell", f"{build}/lib/bench/drivers/mysql.so", "--mysql-user=spec_user",
            "--mysql-db=spec_db", f"--mysql-socket={mariadb.socket}", "--mysql-password-prompt=on"])
    seen = read_until(fd, b"MySQL password: ")
    os.write(fd, b"spec_pw\n")
    seen += read_until(fd, b'{"rc": "DONE"}')
    os.write(fd, b"connect\n")
    seen += read_until(fd, b'"more": false}')
    os.write(fd, b"\x04")
    os.waitpid(pid, 0)
    os.close(fd)
    assert b"spec_pw" not in seen


def read_until(fd, text):
    seen = b""
    while text not in seen:
        seen += os.read(fd, 4096)
    return seen


# --- encryption --------------------------------------------------------------------------------------


def cipher_of(sh):
    assert sh("connect") == {"rc": "DONE", "affected": 0, "nrows": 0, "nfields": 0, "more": False}
    return sh.query("SHOW STATUS LIKE 'Ssl_cipher'")[0][1]


@pytest.mark.parametrize("mode, encrypted", [
    ("off", False), ("on", True), ("DISABLED", False), ("PREFERRED", True), ("required", True),
])
def test_encryption_by_switch_and_by_mode(shell, mariadb, mode, encrypted):
    assert (cipher_of(shell(mariadb, [f"--mysql-ssl={mode}"], by="tcp")) != "") is encrypted


def test_a_connection_that_verifies_nothing_reads_no_certificates(shell, mariadb, tmp_path):
    """Reading what the system trusts takes 0.06 s and 0.6 MiB. Opening this FIFO would wait for ever."""
    os.mkfifo(tmp_path / "trusted.pem")
    sh = shell(mariadb, ["--mysql-ssl=required"], by="tcp", env={"SSL_CERT_FILE": str(tmp_path / "trusted.pem")})
    assert cipher_of(sh) != ""


@pytest.mark.parametrize("protocol", ["auto", "own", "library"])
def test_each_protocol_is_encrypted(shell, mariadb, protocol):
    assert cipher_of(shell(mariadb, ["--mysql-ssl=on", f"--mysql-protocol={protocol}"], by="tcp")) != ""


@pytest.mark.parametrize("mode", ["verify_ca", "VERIFY_IDENTITY"])
def test_the_right_certificate_is_accepted(shell, mariadb, certificates, mode):
    sh = shell(mariadb, [f"--mysql-ssl={mode}", f"--mysql-ssl-ca={certificates.ca}"], by="tcp")
    assert cipher_of(sh) != ""


@pytest.mark.parametrize("mode", ["verify_ca", "verify_identity"])
def test_a_certificate_of_another_authority_is_refused(shell, mariadb, certificates, mode):
    sh = shell(mariadb, [f"--mysql-ssl={mode}", f"--mysql-ssl-ca={certificates.other_ca}"], by="tcp")
    answer = sh("connect")
    assert (answer["rc"], answer["code"]) == ("ERROR", 2026)


def test_a_certificate_of_another_host_is_refused_by_verify_identity(shell, mariadb, certificates):
    mariadb.use_certificate(certificates.wrong_cert, certificates.wrong_key)
    try:
        ca = f"--mysql-ssl-ca={certificates.ca}"
        assert cipher_of(shell(mariadb, ["--mysql-ssl=verify_ca", ca], by="tcp")) != ""
        answer = shell(mariadb, ["--mysql-ssl=verify_identity", ca], by="tcp")("connect")
        assert (answer["rc"], answer["code"]) == ("ERROR", 2026)
    finally:
        mariadb.use_certificate(certificates.cert, certificates.key)


@pytest.mark.parametrize("mode, name", [("required", False), ("verify_ca", True), ("verify_identity", True)])
def test_a_library_that_verifies_is_given_the_name_of_the_host(shell, mariadb, certificates, mode, name):
    """Under --workers the driver looks names up, but MariaDB's library from 3.4 on verifies them with verify_ca too."""
    sh = shell(mariadb, [f"--mysql-ssl={mode}", f"--mysql-ssl-ca={certificates.ca}", "--mysql-host=localhost",
                         f"--mysql-port={mariadb.port},{mariadb.port}", "--mysql-debug=on"],
               by="tcp", env={"SHELL_WAITS": "1"})
    sh("connect")
    sh.close()
    assert (', "localhost", "spec_user"' in sh.stderr()) is name


def test_verifying_needs_an_authority(shell, mariadb):
    answer = shell(mariadb, ["--mysql-ssl=verify_ca"], by="tcp")("connect")
    assert answer["text"] == "to verify the server, --mysql-ssl-ca has to name the certificates to trust"


@pytest.mark.parametrize("mode, rc", [("on", "ERROR"), ("required", "ERROR"), ("preferred", "DONE"), ("off", "DONE")])
def test_a_server_without_encryption(shell, mariadb_victim, mode, rc):
    assert shell(mariadb_victim, [f"--mysql-ssl={mode}"], by="tcp")("connect")["rc"] == rc


def test_compression(shell, mariadb):
    sh = shell(mariadb, ["--mysql-compression=on"])
    sh("connect")
    assert sh.query("SHOW STATUS LIKE 'Compression'") == [["Compression", "ON"]]


# --- the rest -----------------------------------------------------------------------------------------


def test_dry_run_contacts_nobody(shell, mariadb):
    sh = shell(mariadb, ["--mysql-dry-run=on", "--mysql-socket=/nonexistent"])
    nothing = {"rc": "DONE", "affected": 0, "nrows": 0, "nfields": 0, "more": False}
    assert sh("connect") == nothing
    assert sh("query SELECT 1") == nothing
    assert sh("prepare 0 SELECT ?") == nothing
    assert sh("bind 0 int:1") == nothing
    assert sh("execute 0") == nothing


def test_debug_traces_calls_and_no_password(shell, mariadb):
    sh = shell(mariadb, ["--mysql-debug=on"])
    sh("connect")
    sh.query("SELECT 1")
    sh("disconnect")
    sh.close()
    trace = sh.stderr()
    assert "5 mysql_library_init(0, (nil), (nil))" in trace
    assert f'"localhost", "spec_user", "***", "spec_db", 0, "{mariadb.socket}", CLIENT_MULTI_STATEMENTS)' in trace
    assert "5 mysql_real_query(" in trace
    assert "spec_pw" not in trace


def test_ignore_errors_all(shell, mariadb):
    sh = shell(mariadb, ["--mysql-ignore-errors=all"])
    sh("connect")
    assert sh("query SELECT nosuch")["ignorable"] is True
    sh = shell(mariadb, ["--mysql-ignore-errors="])
    sh("connect")
    assert sh("query SELECT nosuch")["ignorable"] is False


def test_a_frozen_server_does_not_hold_up_connecting(shell, mariadb_victim):
    sh = shell(mariadb_victim, by="tcp")
    mariadb_victim.freeze()
    try:
        answer = sh("connect deadline_ms=500")
    finally:
        mariadb_victim.thaw()
    assert (answer["rc"], answer["class"]) == ("ERROR", CLASS_CONNECTION)


def test_statements_are_closed_on_the_server(sh, mariadb):
    def count():
        return int(mariadb.sql("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").split("\t")[1])

    before = count()
    for i in range(8):
        sh(f"prepare {i} SELECT {i}, ?")
    assert count() == before + 8
    for i in range(8):
        sh(f"close {i}")
    sh.query("SELECT 1")
    assert count() == before
    sh("prepare 0 SELECT * FROM nosuch")
    assert count() == before


def test_an_address_that_is_not_what_it_seems_names_its_remedy(shell, mariadb, tmp_path):
    """A port behind the host, and a port of localhost, which is reached by a socket."""
    argv = [BENCH, "oltp_point_select", "--db-driver=mysql", "--events=1", "run"]

    def said(*options, **env):
        return subprocess.run([*argv, *options], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                              env={**os.environ, **env}).stderr
    assert "--mysql-host=db:3307: write --mysql-host=db --mysql-port=3307" in said("--mysql-host=a,db:3307")
    hint = "reaches 'localhost' by its default socket, whatever the port is; for port 3307, write 127.0.0.1\n"
    for options in ["--mysql-port=3307"], ["--connect=mysql://localhost:3307/d"]:
        assert said(*options).count(hint) == 1
        assert hint not in said(*options, BENCH_COMPAT="1.1")
    assert "reaches 'localhost'" not in said("--mysql-port=3306") + said("--mysql-port=3307", "--mysql-socket=/none")
