# SPDX-License-Identifier: GPL-2.0-or-later
"""A PostgreSQL server that answers the question for its limits badly neither crashes the program nor misleads it, and
one that resets connections does not end a run that ignores that."""

import subprocess

import pytest

from conftest import BENCH
from fakepgsql import INFO, READY, FakePgSQL, ResettingPgSQL, answer, message

SCRIPT = """
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
"""
HUGE = str(2**63 - 1)
FAILED = message(b"E", b"SERROR\0VERROR\0C42P01\0Mrelation does not exist\0\0") + READY

# From these nothing is known, and the run is neither refused nor warned of.
UNKNOWN = {
    "no column": answer(0, [[]]),
    "one column": answer(1, [["100"]]),
    "three columns": answer(3, [["100", "3", "0"]]),
    "five columns": answer(5, [["1", "0", "0", "1", "1"]]),
    "no row": answer(4, []),
    "two rows": answer(4, [["1", "0", "0", "1"]] * 2),
    "only NULL": answer(4, [[None] * 4]),
    "no limit": answer(4, [[None, "3", "0", "1"]]),
    "no reserve": answer(4, [["1", None, "0", "1"]]),
    "no use": answer(4, [["1", "3", "0", None]]),
    "words": answer(4, [["many", "some", "few", "none"]]),
    "empty": answer(4, [["", "", "", ""]]),
    "huge": answer(4, [[HUGE] * 4]),
    "negative": answer(4, [["-" + HUGE] * 4]),
    "a short row": answer(4, [["100"]]),
    "a long row": answer(4, [["1", "0", "0", "1", "1"]]),
    "an error": FAILED,
    "nothing": message(b"I") + READY,
}
# From these something is.
TOLD = {
    "few": (answer(4, [["8", "3", None, "1"]]), "connections, but the server allows 5"),
    "reserved": (answer(4, [["8", "3", "2", "1"]]), "connections, but the server allows 3"),
    "enough": (answer(4, [["100", "3", None, "1"]]), ""),
}


def run(info, protocol, tmp_path):
    (tmp_path / "x.lua").write_text(SCRIPT)
    fake = FakePgSQL(info)
    try:
        done = subprocess.run([BENCH, "./x.lua", *fake.login(), f"--pgsql-protocol={protocol}", "--threads=12",
                               "--events=24", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert any(INFO in query for query in fake.asked)
        return done
    finally:
        fake.close()


@pytest.mark.parametrize("protocol", ["own", "library"])
@pytest.mark.parametrize("info", UNKNOWN)
def test_limits_that_are_not_told_are_not_judged(info, protocol, tmp_path):
    done = run(UNKNOWN[info], protocol, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "total number of events:              24\n" in done.stdout


@pytest.mark.parametrize("protocol", ["own", "library"])
@pytest.mark.parametrize("info", TOLD)
def test_limits_that_are_told_are_judged(info, protocol, tmp_path):
    text, sentence = TOLD[info]
    done = run(text, protocol, tmp_path)
    assert done.returncode == 0
    assert sentence in done.stderr and (sentence != "" or done.stderr == "")


# Prepares anew, as after every loss of a connection, one statement without and one with a parameter, in each event.
EAGER = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  local began, update = con:prepare("BEGIN"), con:prepare("UPDATE t SET k = k + 1 WHERE id = ?")
  local id = update:bind_create(sysbench.sql.type.BIGINT)
  assert(update:bind_param(id) == 0)
  id:set(1)
  began:execute()
  update:execute()
  began:close()
  update:close()
end
"""


@pytest.mark.parametrize("protocol", ["own", "library"])
@pytest.mark.parametrize("workload", ["oltp_update_index", "oltp_read_write", "./x.lua"])
def test_a_connection_lost_while_statements_are_prepared_repeats_the_event(workload, protocol, tmp_path):
    """Of the answers to Parse as of those to Execute one in 50 is a reset; the first connections are spared."""
    (tmp_path / "x.lua").write_text(EAGER)
    fake = ResettingPgSQL(spared=100, one_in=50)
    try:
        done = subprocess.run([BENCH, workload, *fake.login(), f"--pgsql-protocol={protocol}", "--threads=4", "--time=0",
                               "--events=2000", "--db-ignore-errors=connection", "run"],
                              cwd=tmp_path, capture_output=True, text=True, timeout=240)
        assert (done.returncode, done.stderr) == (0, "")
        assert "total number of events:              2000\n" in done.stdout
        # None is counted twice: each loss is one new connection.
        assert fake.lost > 20 and f"    reconnects:                          {fake.lost} " in done.stdout
    finally:
        fake.close()
