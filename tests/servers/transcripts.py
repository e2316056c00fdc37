# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the golden transcripts that need a server, on private servers.

The command line is aimed at them, and what names them in the output reads as in the transcripts:
MariaDB on port 3306 and /run/mysqld/mysqld.sock, PostgreSQL on port 5432.
"""

import pathlib
import re
import shutil
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMPAT = HERE.parent / "compat"
import runner

# What bench asks besides what sysbench does: before many threads begin, and for ids of rows.
PREFLIGHT = re.compile(
    r"SHOW GLOBAL |SELECT current_setting|SELECT account, |SELECT 'ROLE', |SELECT MAX\(id\)|"
    r"SELECT COUNT\(\*\) FROM sbtest\d+ WHERE id IN")

MYSQLD_SOCKET = "/run/mysqld/mysqld.sock"


def value_of(argv, name):
    """The value of the last --NAME=…; None: not given."""
    found = None
    for arg in argv:
        if arg.startswith(f"--{name}="):
            found = arg.partition("=")[2]
    return found


def aim(argv, mariadb, postgresql):
    """ARGV with the private servers in place of those of the recordings."""
    out = []
    for arg in argv:
        arg = arg.replace(MYSQLD_SOCKET, mariadb.socket)
        out.append(re.sub(r"^(--mysql-port=)3306\b", rf"\g<1>{mariadb.port}", arg))
    driver = value_of(argv, "db-driver")
    added = []
    if driver == "pgsql" and value_of(argv, "pgsql-port") is None:
        added = [f"--pgsql-port={postgresql.port}"]
    elif driver in (None, "mysql") and value_of(argv, "mysql-port") is None:
        if value_of(argv, "mysql-host"):
            added = [f"--mysql-port={mariadb.port}"]
        elif value_of(argv, "mysql-socket") is None and value_of(argv, "mysql-host") is None:
            added = [f"--mysql-socket={mariadb.socket}"]
    return out + added


def disguise(lines, mariadb, postgresql):
    """Output lines with the names that the recordings have."""
    out = []
    for line in lines:
        line = line.replace(mariadb.socket, MYSQLD_SOCKET)
        line = re.sub(rf"\b{mariadb.port}\b", "3306", line)
        out.append(re.sub(rf"\b{postgresql.port}\b", "5432", line))
    return out


def end_connections(server):
    """All of the test's user."""
    if server.driver == "mysql":
        ids = server.sql("SELECT id FROM information_schema.processlist WHERE user = 'spec_user';")
        return sum(server.sql(f"KILL {i};", check=False) == "" for i in ids.split())
    return int(server.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                          "WHERE usename = 'spec_user'"))


def empty(server):
    """Drops every table of the transcripts' database; of the default user's, there is one.

    A server goes on with a statement whose client has gone: what an earlier test left is ended."""
    end_connections(server)
    if server.driver == "mysql":
        server.sql(
            "DROP DATABASE spec_db; CREATE DATABASE spec_db; CREATE DATABASE IF NOT EXISTS sbtest;"
            "CREATE USER IF NOT EXISTS sbtest@localhost; GRANT ALL ON sbtest.* TO sbtest@localhost;"
            "DROP TABLE IF EXISTS sbtest.sbtest1"
        )
    else:
        server.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION spec_user")


LOGIN = {
    "mysql": ["--db-driver=mysql", "--mysql-user=spec_user", "--mysql-password=spec_pw",
              "--mysql-db=spec_db", f"--mysql-socket={MYSQLD_SOCKET}"],
    "pgsql": ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", "--pgsql-user=spec_user",
              "--pgsql-password=spec_pw", "--pgsql-db=spec_db"],
}

# What ran before, by the part of the name behind mysql- or pgsql-; else what the options say.
TWO_TABLES = ["oltp_read_write", "--tables=2", "--table-size=1000"]
SMALL_TABLE = ["oltp_point_select", "--table-size=100"]
BULK = ["bulk_insert", "--threads=2"]
SPECIAL = {
    "bulk_insert": [[*BULK, "prepare"]],
    "bulk_insert-again": [[*BULK, "prepare"], [*BULK, "--events=1000", "run"]],
    "bulk_insert-cleanup": [[*BULK, "prepare"]],
    "bulk_insert-prepare": [],
    "cleanup-small": [[*SMALL_TABLE, "prepare"]],
    "compression": [[*SMALL_TABLE, "prepare"]],
    "debug": [[*SMALL_TABLE, "prepare"]],
    "dry-run": [],
    "err-missing-table": [],
    "err-missing-table-nops": [],
    "oltp_read_write-cleanup": [[*TWO_TABLES, "prepare"]],
    "oltp_read_write-prepare": [],
    "oltp_read_write-prepare-exists": [[*TWO_TABLES, "prepare"]],
    "prewarm-noexist": [],
    "ssl": [[*SMALL_TABLE, "prepare"]],
    "sslmode-require": [],
    "sslmode-bad": [],
}


def old_script(transcript):
    """(folder, name) of the workload of 0.5 that is run, or None."""
    for arg in transcript.argv:
        found = re.fullmatch(r"(?:--test=)?(tests/db|oltp_legacy)/(\w+)\.lua", arg)
        if found:
            return found.groups()
    return None


# Their own preparation failed.
UNPREPARED = ("pgsql-bulk_insert-cleanup",)


def before_old(transcript, folder, script):
    """As before(), for workloads of 0.5."""
    name = transcript.name
    if name == "conn-empty-port":
        return [[*transcript.argv[:1], "--db-driver=mysql", "--mysql-host=127.0.0.1",
                 "--mysql-port=3306", "--oltp-table-size=10000", "prepare"]]
    if transcript.argv[-1] == "prepare" or "missing-table" in name or "dry-run" in name:
        return []
    if name.startswith("conn-") or name in UNPREPARED:
        return []
    driver = value_of(transcript.argv, "db-driver")
    maker = script if script in ("bulk_insert", "select_random_points") else "oltp"
    maker = "select_random_points" if script == "select_random_ranges" else maker
    sizes = [
        arg
        for arg in transcript.argv
        if re.match(r"--(oltp-tables-count|oltp-table-size|num-threads|threads)=", arg)
    ]
    if name.startswith("seed004"):
        sizes = ["--oltp-tables-count=5", "--oltp-table-size=250"]
    elif not any(arg.startswith("--oltp-table-size") for arg in sizes):
        sizes.append("--oltp-table-size=1000")
    test = f"{folder}/{maker}.lua"
    return [[f"--test={test}" if transcript.version == "0.5" else test, *LOGIN[driver], *sizes,
             "prepare"]]


def before(transcript):
    """The commands that made the tables a transcript was recorded with."""
    old = old_script(transcript)
    if old:
        return before_old(transcript, *old)
    if transcript.name == "seed000-oltp" or transcript.name == "seed000-oltp-cleanup":
        return [["oltp_read_write", "--table-size=2000", *LOGIN["mysql"], "prepare"]]
    kind, _, name = transcript.name.partition("-")
    legacy = re.fullmatch(r"lua-legacy-(mysql|pgsql)-(run|cleanup)", transcript.name)
    if legacy:
        script = "L/legacy.lua"
        script = f"--test={script}" if transcript.version == "0.5" else script
        return [[script, *LOGIN[legacy.group(1)], "prepare"]]
    login = LOGIN.get(kind)
    if login is None:
        # The default driver's run of three point selects worked on the default database.
        return [[*SMALL_TABLE, "prepare"]] if name == "no-driver" else []
    if (transcript.version, name) == ("1.1", "select_random_points-tables2-prepare"):
        # One of the two was there.
        steps = [["select_random_points", "--table-size=10", "prepare"]]
    elif name in SPECIAL:
        steps = SPECIAL[name]
    elif transcript.argv[-1] == "run":
        sizes = [a for a in transcript.argv if re.match(r"--(tables|table-size)=", a)]
        workload = transcript.argv[0] if transcript.argv[0].startswith("select") else "oltp_read_write"
        steps = [[workload, *sizes, "prepare"]]
    else:
        steps = []
    return [[*step[:-1], *login, step[-1]] for step in steps]


def run(transcript, mariadb, postgresql):
    """The output of a transcript's command, after what has to precede it."""
    empty(postgresql if value_of(transcript.argv, "db-driver") == "pgsql" else mariadb)
    env = runner.environment(transcript.version, transcript.env)
    with tempfile.TemporaryDirectory(prefix="bench-compat-") as name:
        folder = pathlib.Path(name)
        runner.lay_out(folder)
        shutil.copy(HERE / "statement.lua", folder / "lt" / "err.lua")
        for argv in before(transcript):
            made = runner.execute([runner.binary(), *aim(argv, mariadb, postgresql)], folder, env)
            if made.status != 0:
                raise RuntimeError(f"preparing with {argv} failed: {made}")
        argv = [runner.binary(), *aim(transcript.argv, mariadb, postgresql)]
        got = runner.execute(argv, folder, env, transcript.stdin)
    return got._replace(
        stdout=disguise(got.stdout, mariadb, postgresql),
        stderr=disguise(got.stderr, mariadb, postgresql),
    )
