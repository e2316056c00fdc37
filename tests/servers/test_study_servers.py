# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that sweeps of the bundled files run on real servers, and go on when they were killed, even in
the middle of preparing data; and that ab gives variables of a server their values of before again."""

import json
import re
import shutil
import subprocess
import time

import pytest

import bench
import transcripts
from servers import BENCH

CUT = ["--repeat=2", "--seed=1", "--warmup-time=0", "--time=0.2", "--tables=2"]


@pytest.fixture(params=["mariadb", "postgresql"])
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    yield server
    transcripts.empty(server)


def begin(server, folder, *args):
    return subprocess.Popen([BENCH, "sweep", "--out=s", *args, *server.login()], cwd=folder,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process, path):
    end = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < end and process.poll() is None, process.communicate()
        time.sleep(0.005)


def points(folder, name):
    return json.loads((folder / "s" / name / "table.json").read_text())["points"]


@pytest.mark.slow
def test_a_killed_sweep_over_threads_goes_on(server, tmp_path):
    args = ("--from=concurrency", "--vary=threads=1,2,4,8", "--table-size=100", *CUT)
    process = begin(server, tmp_path, *args)
    wait_for(process, tmp_path / "s/concurrency/runs/0003.txt")
    process.kill()
    process.communicate()
    process = begin(server, tmp_path, "--resume", *args)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    assert [(p["values"]["threads"], p["n"]) for p in points(tmp_path, "concurrency")] == [
        (n, 2) for n in ("1", "2", "4", "8")]
    assert "Universal Scalability Law" in out


@pytest.mark.slow
def test_a_sweep_that_was_killed_while_it_prepared_goes_on(server, tmp_path):
    args = ("--from=table-size", "--vary=table-size=100,3000", "--threads=2",
            *[option for option in CUT if not option.startswith("--time=")], "--time=1")
    while True:
        process = begin(server, tmp_path, *args)
        wait_for(process, tmp_path / "s/table-size/runs/prepare.txt")
        process.kill()
        process.communicate()
        if not (tmp_path / "s/table-size/runs/0001.json").exists():
            break
        # The signal came too late, after the first run.
        shutil.rmtree(tmp_path / "s")
        transcripts.empty(server)
    process = begin(server, tmp_path, "--resume", *args)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    assert [(p["values"]["table-size"], p["n"]) for p in points(tmp_path, "table-size")] == [
        ("100", 2), ("3000", 2)]
    assert not (tmp_path / "s/table-size/data.json").exists()


LOOK = """
ffi.cdef("int usleep(unsigned int);")
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  local seen = {}
  for i, sql in ipairs{%s} do seen[i] = tostring(con:query_row(sql)) end
  io.open("seen", "a"):write(table.concat(seen, " "), "\\n")
  ffi.C.usleep(20000)
end
"""

# Variables, statements of side A and of side B with the values that are seen then, and one that fails.
SETTINGS = {
    "mariadb": (
        ["SELECT @@GLOBAL.long_query_time", "SELECT @@GLOBAL.sql_mode", "SELECT @@GLOBAL.max_join_size"],
        ["--a-set=SET GLOBAL long_query_time=3.5; SET GLOBAL sql_mode='ANSI_QUOTES,NO_ZERO_DATE'"],
        "3.500000 ANSI_QUOTES,NO_ZERO_DATE {2}",
        ["--b-set=SET @@GLOBAL.long_query_time = 7", "--b-set=SET GLOBAL max_join_size = 5000"],
        "7.000000 {1} 5000", "SET GLOBAL nonsense = 1", "Unknown system variable 'nonsense'"),
    "pgsql": (
        ["SHOW work_mem", "SHOW random_page_cost", "SHOW krb_server_keyfile"],
        ["--a-set=ALTER SYSTEM SET work_mem = '8MB'; SELECT pg_reload_conf()"], "8MB {1} {2}",
        ["--b-set=ALTER SYSTEM RESET random_page_cost", "--b-set=ALTER SYSTEM SET krb_server_keyfile TO 'it''s '"],
        "{0} 4 it's ", "ALTER SYSTEM SET shared_buffers = '9MB'",
        "shared_buffers takes effect when the server restarts"),
}


def as_administrator(server):
    own = {"mysql": ["--mysql-user=root", "--mysql-password="],
           "pgsql": [f"--pgsql-host={server.folder}", "--pgsql-user=postgres"]}
    return [*server.login(), *own[server.driver]]


def test_an_account_that_may_not_set_a_variable(mariadb, tmp_path):
    """The study said that the server was left with a setting that had been refused.  One of PostgreSQL
    may not ask for the values of before either."""
    done = bench.run("ab", "--a-set=SET GLOBAL long_query_time=3.5", *mariadb.login(), "oltp_read_only", "run",
                     cwd=tmp_path)
    failed = "bench ab: round 1, side [AB]: a statement failed with status 1: .*"
    assert re.fullmatch(f"{failed}; the round is repeated\nbench ab: the variables of the server have their "
                        f"values of before again\n{failed}\n", done.err), done.err
    assert done.status == 1


def test_variables_get_their_values_of_before(server, tmp_path):
    """Kind 27 of issue 37: after a study, a failure and a signal; a variable that one side sets has its
    value of before in runs of the other."""
    key = "pgsql" if server.driver == "pgsql" else "mariadb"
    variables, a, seen_a, b, seen_b, wrong, why = SETTINGS[key]

    def values():
        return [server.sql(sql).rstrip("\n") for sql in variables]

    if key == "pgsql":
        server.sql("ALTER SYSTEM SET random_page_cost = 3.5")
        server.sql("SELECT pg_reload_conf()")
    (tmp_path / "look.lua").write_text(LOOK % ", ".join(f'"{sql}"' for sql in variables))
    before = values()
    run = ["--same=90%", *as_administrator(server), "--time=0", "--events=1", "look.lua", "run"]
    for args, status, last in (
            ([], (0, 3), "the variables of the server have their values of before again"),
            # The parent of the command is the study.
            (["--b-exec=sh -c 'kill -INT $PPID'"], (130,), "interrupted by signal 2 after 0 rounds"),
            (["--b=--threads=none"], (1,), "side B: the run failed"),
            ([f"--b-set={wrong}"], (1,), "side B: a statement failed with status 1: ")):
        done = bench.run("ab", *a, *b, *args, *run, cwd=tmp_path)
        assert done.status in status and last in done.err.split("\n")[-2], done
        assert values() == before
        if "--b=--threads=none" in args:
            assert "bench ab: the variables of the server have their values of before again" in done.err
    assert wrong in done.err and why in done.err
    seen = (tmp_path / "seen").read_text().split("\n")
    assert set(seen) == {seen_a.format(*before), seen_b.format(*before), ""}
    if key == "pgsql":
        where = "FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'"
        assert server.sql(f"SELECT name, setting {where}") == "random_page_cost\t3.5\n"
        server.sql("ALTER SYSTEM RESET random_page_cost")
        server.sql("SELECT pg_reload_conf()")


def test_a_common_command_is_executed_once_more_at_the_end(server, tmp_path):
    """It was executed once for each side, which restarts a server twice."""
    variables, a, _, b, _, _, _ = SETTINGS["pgsql" if server.driver == "pgsql" else "mariadb"]
    (tmp_path / "look.lua").write_text(LOOK % f'"{variables[0]}"')
    command = "sh -c 'echo >>executed'"
    done = bench.run("ab", *a, *b, f"--a-exec={command}", f"--b-exec={command}", "--same=90%",
                     *as_administrator(server), "--time=0", "--events=1", "look.lua", "run", cwd=tmp_path)
    assert done.status in (0, 3), done
    assert done.err.endswith("bench ab: the variables of the server have their values of before again\n")
    runs = (tmp_path / "seen").read_text().count("\n")
    assert (tmp_path / "executed").read_text().count("\n") == runs + 1

    # If it fails, the values are stored, but the server may not have them.
    once = "sh -c 'mkdir done && exit || exit 1'"
    done = bench.run("ab", *a, f"--a-exec={once}", f"--b-exec={once}", *as_administrator(server),
                     "--time=0", "--events=1", "look.lua", "run", cwd=tmp_path)
    assert done.status == 1 and "values of before may not be in effect: the command failed" in done.err, done
    assert "have their values of before again" not in done.err
