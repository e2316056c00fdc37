# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server says does nothing to the terminal that shows it."""
import os
import re
import subprocess

import pytest

from fakemysql import FakeMySQL, ScriptedMySQL, packets
from fakepgsql import READY, FakePgSQL, message

RUDE = b"no\x1b[2J\x1b]0;title\x07 \xc2\x9b \x9b2J \xff\r \xe2\x80\xae end \xc3\xa9 \xe9t\xe9"
SHOWN = (r"no\x1b[2J\x1b]0;title\x07 \xc2\x9b \x9b2J ".encode() + b"\xff" + r"\x0d \xe2\x80\xae end ".encode()
         + b"\xc3\xa9 \xe9t\xe9")
STATE = b"\x1b[2J\r"
FORMS = ["", "1.1", "1.0", "0.5"]
HARMFUL = re.compile(rb"[\0-\x08\x0b-\x1f\x7f]|(?<![\xc3])[\x80-\x9f]")

CALLS = {
    "query": "con:query('SELECT max_connections')",
    "table": "local ok, e = pcall(con.query, con, 'SELECT max_connections') error({mine = e, sql_errmsg = tostring(e)})",
    "again": "local ok, e = pcall(con.query, con, 'SELECT max_connections') error(e, 0)",
    "old": "db_query('SELECT max_connections')",
}


class RudeMySQL(FakeMySQL):
    """Greets with an error."""

    def talk(self, conn):
        self.seq = 0
        self.send(conn, b"\xff\x10\x04" + RUDE)


class RudePgSQL(FakePgSQL):
    """Answers each query with a notice and an error."""

    def __init__(self):
        fields = b"SERROR\0VERROR\0C" + STATE + b"\0M" + RUDE + b"\0\0"
        super().__init__(message(b"N", fields.replace(b"ERROR", b"NOTICE")) + message(b"E", fields) + READY)
        self.rest = self.info


def run(fake, form, tmp_path, script, *options):
    (tmp_path / "t.lua").write_text(script)
    try:
        return subprocess.run([os.path.abspath(os.environ["BENCH"]), "t.lua", *fake.login(), *options, "--threads=1",
                               "run"], cwd=tmp_path, env={**os.environ, "BENCH_COMPAT": form}, capture_output=True,
                              timeout=60, check=False)
    finally:
        fake.close()


def harmless(done):
    for text in (done.stdout, done.stderr):
        assert HARMFUL.search(text) is None, text
        assert b"\xe2\x80\xae" not in text and SHOWN in done.stdout + done.stderr


@pytest.mark.parametrize("form", ["", "1.1", "1.0", pytest.param("0.5", marks=pytest.mark.sanitized)])
def test_errors_are_escaped(tmp_path, form):
    done = run(RudeMySQL("mysql_native_password"), form, tmp_path,
               "function thread_init() sysbench.sql.driver():connect() end\nfunction event() end\n")
    assert done.returncode == 1
    harmless(done)


def script_of(form, call):
    connect = "db_connect()" if call == "old" else "drv = sysbench.sql.driver() con = drv:connect()"
    return f"function thread_init() {connect} end\nfunction event() {CALLS[call]} end\n"


@pytest.mark.parametrize("driver", ["mysql", "pgsql"])
@pytest.mark.parametrize("verbosity", [3, 5])
@pytest.mark.parametrize("form,call", [(f, c) for f in FORMS for c in CALLS if c != "old" or f in ("", "0.5")])
def test_errors_of_statements_are_escaped(tmp_path, form, call, verbosity, driver):
    fake = RudePgSQL() if driver == "pgsql" else ScriptedMySQL(
        *[packets(b"\xff\x28\x04#" + STATE + RUDE)] * 8)
    done = run(fake, form, tmp_path, script_of(form, call), f"--verbosity={verbosity}")
    harmless(done)
    if driver == "pgsql" and form == "0.5":
        assert b"NOTICE:  " + SHOWN in done.stderr


@pytest.mark.parametrize("protocol", ["own", pytest.param("library", marks=pytest.mark.sanitized)])
def test_ignored_errors_are_escaped(tmp_path, protocol):
    fake = ScriptedMySQL(*[packets(b"\xff\xbd\x04#" + STATE + RUDE)] * 3)  # 1213, a deadlock
    harmless(run(fake, "", tmp_path, script_of("", "query"), "--verbosity=5", "--mysql-ignore-errors=1213",
                 f"--mysql-protocol={protocol}"))
