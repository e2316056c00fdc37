# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server says does nothing to the terminal that shows it."""
import os
import subprocess

import pytest

from fakemysql import FakeMySQL

RUDE = b"no\x1b[2J\x1b]0;title\x07 \xc2\x9b \xff\r \xe2\x80\xae end \xc3\xa9"
SHOWN = r"no\x1b[2J\x1b]0;title\x07 \xc2\x9b \xff\x0d \xe2\x80\xae end é"


class RudeMySQL(FakeMySQL):
    """Greets with an error."""

    def talk(self, conn):
        self.seq = 0
        self.send(conn, b"\xff\x10\x04" + RUDE)


@pytest.mark.parametrize("form", ["", "1.1", "1.0", "0.5"])
def test_errors_are_escaped(tmp_path, form):
    fake = RudeMySQL("mysql_native_password")
    (tmp_path / "t.lua").write_text("function thread_init() sysbench.sql.driver():connect() end\n"
                                    "function event() end\n")
    done = subprocess.run([os.path.abspath(os.environ["BENCH"]), "t.lua", *fake.login(), "run"], cwd=tmp_path,
                          env={**os.environ, "BENCH_COMPAT": form}, capture_output=True, timeout=60, check=False)
    fake.close()
    assert done.returncode == 1
    assert SHOWN in done.stdout.decode()
    assert b"\x1b" not in done.stdout + done.stderr
