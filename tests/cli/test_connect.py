# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows which options the URI of --connect sets, what beats it, and what is said about a wrong one."""

import json

import pytest

import bench

SECRET = "Zq9-hunter2"


def options(tmp_path, *args, **kwargs):
    """{name: value} of the options of the database that were set."""
    got = bench.run("cpu", *bench.QUICK, "--report=json", *args, "run", cwd=tmp_path, **kwargs)
    assert (got.err, got.status) == ("", 0)
    assert SECRET not in got.out
    return {
        option["name"]: option["value"]
        for option in json.loads(got.out)["facts"]["options"]
        if option["origin"] != "default" and option["name"].startswith(("db-", "mysql-", "pgsql-"))
    }


@pytest.mark.parametrize("uri, expected", [
    ("mysql://", {}),
    ("mariadb://", {}),
    (f"mysql://me:{SECRET}@h:3307/mine",
     {"user": "me", "password": None, "host": "h", "port": "3307", "db": "mine"}),
    ("mysql://a:3307,b:3307", {"host": "a,b", "port": "3307"}),
    ("mysql://[::1]/", {"host": "::1"}),
    ("mysql://me@localhost/d?socket=/run/my.sock",
     {"user": "me", "host": "localhost", "db": "d", "socket": "/run/my.sock"}),
    ("mysql://h?ssl-mode=VERIFY_CA&ssl-ca=%2Fetc%2Fca.pem&connect_timeout=3",
     {"host": "h", "ssl": "verify_ca", "ssl-ca": "/etc/ca.pem", "connect-timeout": "3"}),
    ("mysql://h?ssl-cert=b&ssl-key=c&ssl-cipher=d",
     {"host": "h", "ssl-cert": "b", "ssl-key": "c", "ssl-cipher": "d"}),
    ("mysql://h?password-file=secret", {"host": "h", "password-file": "secret"}),
    ("mysql://me@h/d?unix_socket=/s&charset=utf8mb4&read_timeout=5&compression-algorithms=zstd",
     {"user": "me", "host": "h", "db": "d", "socket": "/s", "charset": "utf8mb4", "read-timeout": "5",
      "compression-algorithms": "zstd"}),
])
def test_mysql(uri, expected, tmp_path):
    expected = {f"mysql-{name}": value for name, value in expected.items()}
    assert options(tmp_path, f"--connect={uri}") == {"db-driver": "mysql", **expected}


@pytest.mark.parametrize("uri, expected", [
    ("postgres://", {}),
    (f"postgresql://me:{SECRET}@h:5433/mine?sslmode=require",
     {"user": "me", "password": None, "host": "h", "port": "5433", "db": "mine", "sslmode": "require"}),
    ("postgresql://%2Frun%2Fpg/d", {"host": "/run/pg", "db": "d"}),
    ("postgresql:///d?host=/run/pg", {"host": "/run/pg", "db": "d"}),
    ("postgresql:///?socket=/run/pg", {"host": "/run/pg"}),
    ("postgresql://?service=here", {"service": "here"}),
    ("postgresql://?host=h&port=5&user=u&dbname=d", {"host": "h", "port": "5", "user": "u", "db": "d"}),
    ("postgresql://h?application_name=x%20y&sslmode=require&options=-csearch_path%3D'o'%5C",
     {"host": "h", "sslmode": "require", "parameters": r"application_name='x y' options='-csearch_path=\'o\'\\'"}),
    ("postgresql://h?sslrootcert=a&sslcert=b&sslkey=c&require_auth=md5",
     {"host": "h", "sslrootcert": "a", "sslcert": "b", "sslkey": "c", "require-auth": "md5"}),
])
def test_pgsql(uri, expected, tmp_path):
    expected = {f"pgsql-{name}": value for name, value in expected.items()}
    assert options(tmp_path, f"--connect={uri}") == {"db-driver": "pgsql", **expected}


@pytest.mark.parametrize("dialect", ["1.1", "1.0"])
def test_dialects_take_it_too(dialect, tmp_path):
    got = options(tmp_path, "--connect=mysql://h:3307", dialect=dialect)
    assert got == {"db-driver": "mysql", "mysql-host": "h", "mysql-port": "3307"}


@pytest.mark.parametrize("typed, name, value", [
    (["--mysql-host=typed"], "mysql-host", "typed"),
    (["--mysql-user=typed"], "mysql-user", "typed"),
    (["--mysql_db=typed"], "mysql-db", "typed"),
    (["--db-driver=mysql"], "db-driver", "mysql"),
    (["--mysql-host=typed"], "mysql-socket", None),
    (["--mysql-password-file=secret"], "mysql-password", None),
])
def test_what_is_typed_wins(typed, name, value, tmp_path):
    uri = f"--connect=mysql://me:{SECRET}@h/d?socket=/run/my.sock"
    for args in ([uri, *typed], [*typed, uri]):
        assert options(tmp_path, *args).get(name) == value
    # A password that is beaten is not set; any other is, with a value that is not shown.
    assert ("mysql-password" in options(tmp_path, uri, *typed)) == ("password-file" not in typed[0])


@pytest.mark.sanitized
def test_a_configuration_file_may_have_it_and_is_beaten_by_one_that_is_typed(tmp_path):
    (tmp_path / "a.cfg").write_text("connect=mysql://me@a:1/d\nmysql-host=b\n")
    got = options(tmp_path, "--config-file=a.cfg")
    assert got == {"db-driver": "mysql", "mysql-host": "b", "mysql-port": "1", "mysql-user": "me", "mysql-db": "d"}
    (tmp_path / "b.cfg").write_text("db-driver=pgsql\nmysql-host=b\nmysql-socket=/run/b.sock\nmysql-user=b\n")
    got = options(tmp_path, "--config-file=b.cfg", "--connect=mysql://a")
    assert got == {"db-driver": "mysql", "mysql-host": "a", "mysql-socket": None, "mysql-user": "b"}
    # Nor does the file of a password beat one that is typed.
    (tmp_path / "c.cfg").write_text("mysql-password-file=old\n")
    got = options(tmp_path, "--config-file=c.cfg", f"--connect=mysql://me:{SECRET}@a")
    assert got["mysql-password-file"] is None and "mysql-password" in got


# In the order of the options in the help.
MYSQL_PARAMETERS = ("socket, unix_socket, ssl-mode, ssl-key, ssl-ca, ssl-cert, ssl-cipher, compression, "
                    "compression-algorithms, password-file, defaults-file, connect-timeout, read-timeout, charset")
PGSQL_PARAMETERS = ("host, socket, port, user, password, dbname, service, sslmode, sslrootcert, sslcert, sslkey, "
                    "require_auth, password-file, connect_timeout, application_name, options, target_session_attrs, "
                    "load_balance_hosts, hostaddr, passfile, client_encoding, channel_binding, keepalives, "
                    "keepalives_idle, keepalives_interval, keepalives_count, tcp_user_timeout, sslcrl, sslcrldir, "
                    "sslsni, sslcertmode, sslnegotiation, sslcompression, ssl_min_protocol_version, "
                    "ssl_max_protocol_version, requirepeer, gssencmode, krbsrvname, gsslib, gssdelegation, "
                    "fallback_application_name, min_protocol_version, max_protocol_version")


@pytest.mark.parametrize("uri, message", [
    (f"u:{SECRET}@h", "--connect: it has no '://'; the form is scheme://user@host:port/database"),
    (f"oracle://u:{SECRET}@h", "--connect: unknown scheme; allowed: mysql, mariadb, postgresql, postgres"),
    (f"mysql://u:{SECRET}@h:x", "--connect: the port is not a number from 1 to 65535"),
    (f"mysql://u:{SECRET}", "--connect: the port is not a number from 1 to 65535"),
    (f"mysql://u:a/{SECRET}@h", "--connect: '@' or '#' is where none can be: write %2F for '/', %3F for '?', %23 "
     "for '#' and %40 for '@'"),
    (f"mysql://u:{SECRET}%@h", "--connect: in the password, two hexadecimal digits must follow '%'; for '%' write %25"),
    (f"mysql://u:{SECRET}@h?nosuch=utf8",
     f"--connect: the driver mysql has no parameter 'nosuch'; allowed: {MYSQL_PARAMETERS}"),
    (f"postgresql://u:{SECRET}@h?ssl-mode=require",
     f"--connect: the driver pgsql has no parameter 'ssl-mode'; allowed: {PGSQL_PARAMETERS}"),
    (f"mysql://u:{SECRET}@h?ssl-mode=tls", "--mysql-ssl=tls: unknown; allowed: disabled, preferred, required, "
     "verify_ca, verify_identity, off, false, 0, on, true, 1"),
])
def test_what_is_wrong_is_named_without_the_password(uri, message, tmp_path):
    got = bench.run("cpu", *bench.QUICK, f"--connect={uri}", "run", cwd=tmp_path)
    assert (got.err, got.status) == (message + "\n", 1)
    assert SECRET not in got.out


def test_another_driver_is_refused():
    got = bench.run("cpu", *bench.QUICK, "--connect=mysql://h", "--db-driver=pgsql", "run")
    assert (got.err, got.status) == ("--connect: the URI is for the driver mysql, but --db-driver=pgsql; leave out one of them\n", 1)


def test_the_arguments_of_the_process_do_not_show_it(tmp_path):
    (tmp_path / "args.lua").write_text("print(io.open('/proc/self/cmdline'):read('*a'))")
    got = bench.run("./args.lua", f"--connect=mysql://u:{SECRET}@h", cwd=tmp_path)
    assert "--connect=xxxx" in got.out and SECRET not in got.out


def test_in_a_dialect_a_word_is_a_scripts(tmp_path):
    (tmp_path / "own.lua").write_text("""
        sysbench.cmdline.options = {connect = {"how", "tcp"}}
        function event() print(sysbench.opt.connect) end""")
    for dialect in ("1.0", "1.1"):
        done = bench.run("./own.lua", "--events=1", "--connect=socket", "run", dialect=dialect, cwd=tmp_path)
        assert "socket\n" in done.out and done.status == 0, done
    done = bench.run("./own.lua", "--events=1", "--connect=socket", "run", cwd=tmp_path)
    assert done.status == 1 and done.err.startswith("--connect: ")
