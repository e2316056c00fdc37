# SPDX-License-Identifier: GPL-2.0-or-later
"""A PostgreSQL server that answers the question for its limits badly neither crashes the program nor misleads it,
one that resets connections does not end a run that ignores that, and one that talks without end fills no memory."""

import os
import re
import signal
import subprocess

import pytest

from fakepgsql import INFO, READY, FakePgSQL, LeavingPgSQL, ParsingPgSQL, ResettingPgSQL, SilentPgSQL, answer, message
from servers import BENCH, FETCHING
from gate import slow, sanitized

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
    "three columns": answer(3, [["1", "0", "1"]]),
    "five columns": answer(5, [["1", "0", "1", "0", "1"]]),
    "no row": answer(4, []),
    "two rows": answer(4, [["1", "0", "1", "0"]] * 2),
    "only NULL": answer(4, [[None] * 4]),
    "no limit": answer(4, [[None, "3", "1", "0"]]),
    "no reserve": answer(4, [["1", None, "1", "0"]]),
    "no use": answer(4, [["1", "3", None, "0"]]),
    "words": answer(4, [["many", "some", "none", "0"]]),
    "empty": answer(4, [[""] * 4]),
    "huge": answer(4, [[HUGE] * 4]),
    "negative": answer(4, [["-" + HUGE] * 4]),
    "a short row": answer(4, [["100"]]),
    "a long row": answer(4, [["1", "0", "1", "0", "1"]]),
    "an error": FAILED,
    "nothing": message(b"I") + READY,
}
# From these something is.
TOLD = {
    "few": (answer(4, [["8", "3", "1", "0"]]), "connections, but the server allows 5"),
    "enough": (answer(4, [["100", "3", "1", "0"]]), ""),
}


def either(values, for_sanitizers=()):
    """Both protocols with each value; in the gate each value has one of them."""
    in_gate = {True: pytest.mark.sanitized, False: ()}
    return [pytest.param(value, protocol, marks=pytest.mark.slow if (i + j) % 2 else in_gate[value in for_sanitizers])
            for i, value in enumerate(values) for j, protocol in enumerate(("own", "library"))]


def run(info, protocol, tmp_path, script=SCRIPT, other=None):
    (tmp_path / "x.lua").write_text(script)
    fake = FakePgSQL(info, other)
    try:
        done = subprocess.run([BENCH, "./x.lua", *fake.login(), f"--pgsql-protocol={protocol}", "--threads=12",
                               "--events=24", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert any(INFO in query for query in fake.asked)
        return done
    finally:
        fake.close()


@pytest.mark.parametrize("info, protocol", either(UNKNOWN, ["a long row", "a short row"]))
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


EACH_ANOTHER = """
function thread_init(id)
  con = sysbench.sql.driver():connect()
  con:query("SELECT " .. id)
end
function event() end
"""


@pytest.mark.sanitized
@pytest.mark.parametrize("protocol", ["own", "library"])
def test_an_error_of_all_threads_is_told_once_with_a_statement(protocol, tmp_path):
    done = run(TOLD["enough"][0], protocol, tmp_path, EACH_ANOTHER, FAILED)
    assert re.fullmatch(r"FATAL: PQexec\(\) failed: 7 .*relation does not exist\n"
                        r"FATAL: failed query was: SELECT \d+\n"
                        r"the table does not exist: if the script has 'prepare', run it first, with the same options\n"
                        r"FATAL: `thread_init' function failed: \S+x.lua:4: SQL error, errno = 0, state = '42P01': .*\n"
                        r"\(11 more threads\)\n"
                        r"FATAL: Threads initialization failed!\n", done.stderr), done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("state, times", [(b"22P02", 1), (b"57014", 12)])
def test_errors_that_name_values_are_told_once(state, times, tmp_path):
    """Texts of 57014 name what canceled the statement: other words are another reason."""
    def refuse(query):
        return message(b"E", b"SERROR\0VERROR\0C" + state + b"\0Mnot " + query.strip(b"\0") + b"\0\0") + READY

    done = run(TOLD["enough"][0], "own", tmp_path, EACH_ANOTHER, refuse)
    assert done.stderr.count("FATAL: PQexec() failed: 7 ") == times, done.stderr
    assert done.stderr.count("FATAL: `thread_init' function failed: ") == times, done.stderr


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


@pytest.mark.parametrize("workload, protocol", either(["oltp_update_index", "oltp_read_write", "./x.lua"], ["./x.lua"]))
def test_a_connection_lost_while_statements_are_prepared_repeats_the_event(workload, protocol, tmp_path):
    """Of the answers to Parse as of those to Execute one in 50 is a reset; the first connections are spared."""
    (tmp_path / "x.lua").write_text(EAGER)
    fake = ResettingPgSQL(spared=100, one_in=50)
    try:
        # The highest id is 1, as any answer.
        size = ["--table-size=1"] if workload.startswith("oltp") else []
        done = subprocess.run([BENCH, workload, *fake.login(), f"--pgsql-protocol={protocol}", *size, "--threads=4",
                               "--time=0", "--events=600", "--db-ignore-errors=connection", "run"],
                              cwd=tmp_path, capture_output=True, text=True, timeout=240)
        assert (done.returncode, done.stderr) == (0, "")
        assert "total number of events:              600\n" in done.stdout
        # None is counted twice: each loss is one new connection.
        assert fake.lost > 10 and f"    reconnects:                          {fake.lost} " in done.stdout
    finally:
        fake.close()


NOTICE = message(b"N", b"SNOTICE\0VNOTICE\0C00000\0M" + b"again " * 12 + b"\0\0")
STATUS = message(b"S", b"application_name\0" + b"x" * 80 + b"\0")
ROW = message(b"D", b"\0\1\0\0\0\3one")
MANY = 300000  # of them are more than 30 MB
HEAD, TAIL = answer(1, []).split(message(b"C", b"SELECT 0\0"))[0], message(b"C", b"SELECT 2\0") + READY
FOUND, FAILURE = "rows 2 one one", "failed relation does not exist"

TALK = {
    "before": (lambda: NOTICE * MANY + HEAD + ROW + ROW + TAIL, FOUND),
    "among": (lambda: HEAD + ROW + NOTICE * MANY + ROW + TAIL, FOUND),
    "behind": (lambda: HEAD + ROW + ROW + NOTICE * MANY + TAIL, FOUND),
    "late": (lambda: HEAD + ROW + ROW + TAIL + NOTICE * MANY, FOUND),
    "settings": (lambda: HEAD + ROW + STATUS * MANY + ROW + TAIL, FOUND),
    "an error": (lambda: HEAD + ROW + NOTICE + FAILED[:-len(READY)] + NOTICE * MANY + READY, FAILURE),
}
TELLS = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  local ok, rs = pcall(con.query, con, "SELECT x")
  if ok then
    print("rows " .. rs.nrows .. " " .. rs:fetch_row()[1] .. " " .. rs:fetch_row()[1])
  else
    print("failed " .. tostring(rs.sql_errmsg))
  end
  for line in io.lines("/proc/self/status") do if line:find("VmHWM") then print(line) end end
end
"""


def most_memory(talk, found, protocol, tmp_path):
    """In kB, of a run whose three statements are answered so."""
    (tmp_path / "t.lua").write_text(TELLS)
    fake = FakePgSQL(b"", talk)
    try:
        done = subprocess.run([BENCH, "./t.lua", *fake.login(), f"--pgsql-protocol={protocol}", "--time=0", "--events=3",
                               "--db-ignore-errors=all", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    finally:
        fake.close()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count(found + "\n") == 3
    return max(int(n) for n in re.findall(r"VmHWM:\s+(\d+) kB", done.stdout))


@pytest.mark.parametrize("talk, protocol", either(TALK, ["before"]))
def test_notices_without_end_are_not_kept(talk, protocol, tmp_path):
    make, found = TALK[talk]
    least = most_memory(HEAD + ROW + ROW + TAIL, FOUND, protocol, tmp_path)
    most = most_memory(make(), found, protocol, tmp_path)
    # AddressSanitizer keeps for a while what libpq has freed.
    assert most < least + 12000 or (protocol == "library" and os.environ.get("BENCH_SANITIZER"))


@pytest.mark.parametrize("row", [sanitized(b"\0\1\0\0\0\5a"), b"\0\1\0\0\0\1ab", b"\0\1"],
                         ids=["long", "more", "short"])
def test_a_malformed_row_is_no_end_of_the_result(row, tmp_path):
    """The connection ends with it: nothing of what follows is sure."""
    good = answer(1, [["a"], ["b"]])
    fake = FakePgSQL(b"", good.replace(message(b"D", b"\0\1\0\0\0\1b"), message(b"D", row)))
    try:
        done = subprocess.run([BENCH, FETCHING, *fake.login(), "--pgsql-protocol=own", "prepare"], cwd=tmp_path,
                              capture_output=True, text=True, timeout=180)
    finally:
        fake.close()
    assert "FATAL: cannot read the rest of a result: a row is malformed, or there is no memory for it\n" in done.stderr, done.stdout + done.stderr
    assert re.search(r"^2\ta\tfalse\t.*cannot read the rest of a result$", done.stdout, re.M)
    assert "no connection to the server" in done.stdout and len(fake.asked) == 1


def test_limits_behind_a_pooler_are_not_those_of_the_run(tmp_path):
    """All threads connect, so that a server of its own would refuse; with another process's id it is behind a
    pooler, whose limit is not known."""
    script = SCRIPT.replace("con =", "sysbench.cmdline.expect() con =")
    done = run(answer(4, [["8", "3", "1", "0"]]), "own", tmp_path, script)
    assert done.returncode == 1, done.stdout
    assert done.stderr.startswith("the run needs up to 12 connections, but the server allows 5: type "), done.stderr
    done = run(answer(4, [["8", "3", "1", "77"]]), "own", tmp_path, script)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("protocol, refused, parsed, status", [
    ("own", None, [1, 64, 64, 64, 7], 0), ("library", None, [1] * 200, 0),
    ("own", b"sbtest2 ", [1, 64, 1], 1), ("own", b"sbtest100 ", [1, 64, 64, 1], 1),
    ("library", b"sbtest3 ", [1, 1, 1], 1)])
def test_statements_are_prepared_together(tmp_path, protocol, refused, parsed, status):
    """As far as the server likes them; the one that it refuses is asked for again, by itself."""
    fake = ParsingPgSQL(*([refused] if refused else []))
    try:
        done = subprocess.run([BENCH, "oltp_point_select", *fake.login(), f"--pgsql-protocol={protocol}", "--compat=1.1",
                               "--tables=200", "--events=3", "run"], cwd=tmp_path, capture_output=True, text=True,
                              timeout=180)
    finally:
        fake.close()
    assert (fake.parsed, done.returncode) == (parsed, status), done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("relation does not exist") == status


SHUT_DOWN = message(b"E", b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0")


@pytest.mark.parametrize("farewell, text", [
    (b"", "server closed the connection unexpectedly"),
    (message(b"1") + SHUT_DOWN, "FATAL:  terminating connection due to administrator command"),
    (message(b"1") + message(b"1") + b"#no messages", "lost synchronization with server: got message type \"#\"")])
def test_a_connection_lost_while_statements_are_prepared_together(farewell, text):
    """The message says what has happened, and not what happens to the next statement."""
    fake = ParsingPgSQL(farewell=farewell)
    try:
        done = subprocess.run([BENCH, "oltp_point_select", *fake.login(), "--pgsql-protocol=own", "--tables=200",
                               "--table-size=1", "--events=3", "run"], capture_output=True, text=True, timeout=180)
    finally:
        fake.close()
    assert fake.parsed == [1, 64] and done.returncode == 1, done.stdout + done.stderr
    assert done.stderr.startswith("FATAL: PQprepare() failed: " + text), done.stderr
    assert done.stderr.count("PQprepare()") == 1 and "no connection" not in done.stderr


FAREWELLS = {
    "57P01": SHUT_DOWN,
    "57P02": message(b"N", b"SWARNING\0VWARNING\0C57P02\0Mterminating connection because of crash\0\0"),
    "57P05": message(b"E", b"SFATAL\0VFATAL\0C57P05\0Mterminating connection due to idle-session timeout\0\0"),
    "08006": message(b"N", b"SNOTICE\0VNOTICE\0C00000\0Mhello\0\0"),
}


@pytest.mark.parametrize("state, protocol", either(FAREWELLS, ["57P01"]))
@pytest.mark.parametrize("listed", [True, False])
def test_a_farewell_is_known_by_its_state(state, protocol, listed, tmp_path):
    """08006 is the state of a connection that is lost without one."""
    (tmp_path / "x.lua").write_text(SCRIPT)
    fake = LeavingPgSQL(FAREWELLS[state])
    other = "08006" if state != "08006" else "57P01"
    try:
        done = subprocess.run([BENCH, "./x.lua", *fake.login(), f"--pgsql-protocol={protocol}", "--events=3",
                               f"--db-ignore-errors={state if listed else other}", "run"],
                              cwd=tmp_path, capture_output=True, text=True, timeout=180)
    finally:
        fake.close()
    assert done.returncode == (0 if listed else 1), done.stdout + done.stderr
    assert (f"state = '{state}'" in done.stderr) != listed, done.stderr
    assert not listed or re.search(r"^ +reconnects: +2 ", done.stdout, re.M), done.stdout


class RenamingPgSQL(FakePgSQL):
    """A pooler that gives prepared statements names of its own, so that DEALLOCATE fails."""

    STATES = {b"BEGIN": b"T", b"COMMIT": b"I", b"DEALLOCATE": b"E"}
    UNKNOWN_NAME = message(b"E", b"SERROR\0VERROR\0C26000\0Mprepared statement does not exist\0\0")
    ABORTED = message(b"E", b"SERROR\0VERROR\0C25P02\0Mcurrent transaction is aborted\0\0")

    def converse(self, conn, stream):
        state, text = b"I", b""
        while (kind := stream.read(1)) not in (b"", b"X"):
            payload = stream.read(int.from_bytes(stream.read(4), "big") - 4)
            if kind == b"Q":
                word = re.match(rb"\w+", payload)[0]
                state = self.STATES.get(word, state)
                self.asked.append(word)
                text = {b"SELECT": self.other[:-len(READY)], b"DEALLOCATE": self.UNKNOWN_NAME}.get(
                    word, message(b"C", word + b"\0"))
            elif kind == b"P":
                text = self.ABORTED if state == b"E" else message(b"1")
            if kind in (b"Q", b"S"):
                conn.sendall(text + message(b"Z", state))
                text = b""


CLOSING = """
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:query("BEGIN")
  for _ = 1, 40 do con:prepare("UPDATE t SET k = 1"):close() end
  con:query("COMMIT")
end
"""


@pytest.mark.parametrize("protocol", ["own", "library"])
def test_a_pooler_that_does_not_know_the_names_of_statements_aborts_no_transaction(tmp_path, protocol):
    (tmp_path / "x.lua").write_text(CLOSING)
    fake = RenamingPgSQL(b"")
    done = subprocess.run([BENCH, "./x.lua", *fake.login(), f"--pgsql-protocol={protocol}", "--events=2", "run"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=60)
    fake.close()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert fake.asked.count(b"COMMIT") == 2 and b"DEALLOCATE" not in fake.asked


FILLING = """
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("BEGIN")
  con:bulk_insert_init("INSERT INTO t(k) VALUES")
  con:bulk_insert_next("(1 + 1)")  -- cannot be loaded by COPY
  con:bulk_insert_done()
  con:query("COMMIT")
end
"""


@pytest.mark.parametrize("protocol", ["own", "library"])
def test_a_bulk_insert_asks_nothing_in_the_transaction_of_the_script(tmp_path, protocol):
    """A question that the server does not know would abort the transaction."""
    (tmp_path / "x.lua").write_text(FILLING)
    fake = RenamingPgSQL(b"")
    done = subprocess.run([BENCH, "./x.lua", *fake.login(), f"--pgsql-protocol={protocol}", "prepare"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    fake.close()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    begun = fake.asked.index(b"BEGIN")
    assert fake.asked[begun:begun + 3] == [b"BEGIN", b"INSERT", b"COMMIT"]


class MutePgSQL(FakePgSQL):
    def talk(self, conn):
        while conn.recv(4096):
            pass


def test_a_time_limit_that_libpq_is_given_limits_a_connect(tmp_path):
    """The three ways to give it are tried at the same time."""
    fake = MutePgSQL(b"")
    (tmp_path / "x.lua").write_text(SCRIPT)
    (tmp_path / "services").write_text("[slow]\nconnect_timeout=1\n")
    runs = [subprocess.Popen([BENCH, "./x.lua", *fake.login(), *argv, "run"], cwd=tmp_path,
                             env={**os.environ, **env}, stderr=subprocess.PIPE, text=True)
            for env, argv in (({"PGCONNECT_TIMEOUT": "1"}, []), ({}, ["--pgsql-parameters=connect_timeout=1"]),
                              ({"PGSERVICEFILE": str(tmp_path / "services")}, ["--pgsql-service=slow"]))]
    try:
        for each in runs:
            _, err = each.communicate(timeout=20)
            assert each.returncode == 1 and "timeout expired" in err, err
    finally:
        for each in runs:
            each.kill()
        fake.close()


INTERRUPTED = "interrupt received: finishing; send it again to end at once"
BUSY = ("1 thread(s) are still busy after 0.2 s without progress (--time-grace); the report counts their events as "
        "unfinished")


@pytest.mark.parametrize("script, spared, grace_s, said", [
    ("oltp_point_select", 0, 120, [INTERRUPTED]),  # bound
    ("oltp_point_select", 1, 120, [INTERRUPTED]),  # prepared together
    ("bulk_insert", 0, 0.2, [INTERRUPTED, BUSY])])
def test_a_signal_while_the_server_is_silent(tmp_path, script, spared, grace_s, said):
    """The calls that it interrupts fail without a word."""
    fake = SilentPgSQL(spared)
    # Prepared before the run whatever time it takes, so that nothing is said of that.
    tables = ["--tables=200", "--table-size=1", "--db-prepare=eager"] if script.startswith("oltp") else []
    process = subprocess.Popen([BENCH, script, *fake.login(), *tables, f"--time-grace={grace_s}", "--time=600", "run"],
                               cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert fake.silent.wait(180)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=180)
    finally:
        process.kill()
        fake.close()
    assert (process.returncode, err.splitlines()) == (130, said), out


def test_a_bulk_insert_that_outlives_the_run(tmp_path):
    """Its event is dropped, as that of any other statement is; the run has not failed."""
    fake = SilentPgSQL(0)
    try:
        done = subprocess.run([BENCH, "bulk_insert", *fake.login(), "--time-grace=0.2", "--time=0.5", "run"],
                              cwd=tmp_path, capture_output=True, text=True, timeout=180)
    finally:
        fake.close()
    assert (done.returncode, done.stderr.splitlines()) == (2, [BUSY]), done.stdout
