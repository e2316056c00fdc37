# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that a run says the same whether the driver or its client library exchanges the statements:
reports, messages, traces, and everything that a script is told."""

import itertools
import os
import re
import subprocess

import pytest

import transcripts
from servers import BENCH
from gate import slow

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = ["--tables=2", "--table-size=50"]
BEGUN = ["--threads=1", "--rand-seed=7", "--time=0"]


@pytest.fixture(params=["mariadb", "postgresql"])
def server(request):
    server = request.getfixturevalue(request.param)
    transcripts.empty(server)
    return server


def run(server, protocol, *argv, version=""):
    plain = ["--pgsql-sslmode=disable"] if server.driver == "pgsql" else []
    return subprocess.run([BENCH, *server.login(), *plain, f"--{server.driver}-protocol={protocol}", *argv],
                          cwd="/", capture_output=True, text=True, timeout=120,
                          env={**os.environ, "BENCH_COMPAT": version})


def hide(text):
    """Times and rates of the report, when it began and by what, and which protocol the heading names."""
    text = re.sub(r"^(Started|Repeat):.*\n", "", text, flags=re.M)
    text = re.sub(r"^(Connection: .*), \w+ protocol", r"\1", text, flags=re.M)
    before, title, report = text.partition(" statistics:\n")
    return before + title + re.sub(r" +", " ", re.sub(r"\d+\.\d+", "0.0", report))


def both(server, *argv, version="", trace=None, prepare=()):
    """(status, standard output, standard error, trace) of both ways: the same, and so given once.

    PREPARE makes the tables before each, because an update that changes nothing is counted apart."""
    traced = [f"--sql-trace={trace}"] if trace else []
    found = []
    for protocol in ("own", "library"):
        if prepare:
            transcripts.empty(server)
            assert run(server, "auto", *prepare).returncode == 0
        done = run(server, protocol, *traced, *argv, version=version)
        found.append((done.returncode, hide(done.stdout), hide(done.stderr), trace.read_text() if trace else ""))
    assert found[0] == found[1]
    return found[0]


# In the gate each value of each.
RUNS = [("oltp_read_write", "auto", ""), ("oltp_point_select", "disable", "1.0"), ("select_random_ranges", "disable", "")]


@pytest.mark.parametrize("workload, ps_mode, version", [
    *RUNS, *(slow(*others) for others in itertools.product(
        ["oltp_read_write", "oltp_point_select", "select_random_ranges"], ["auto", "disable"], ["", "1.0"])
        if others not in RUNS)])
def test_reports_and_traces(server, workload, ps_mode, version, tmp_path):
    sizes = SIZES if workload.startswith("oltp") else SIZES[1:]
    trace = None if version else tmp_path / "trace"
    status, out, err, lines = both(server, workload, *sizes, *BEGUN, f"--db-ps-mode={ps_mode}", "--events=20", "run",
                                   version=version, trace=trace, prepare=[workload, *sizes, "--rand-seed=7", "prepare"])
    assert (status, err) == (0, "") and re.search(r"total number of events: +20\n", out)
    assert version or lines.count("\n") >= 20


@pytest.mark.parametrize("version", [pytest.param("", marks=pytest.mark.sanitized), slow("1.0")])
def test_scripts_are_told_the_same(server, version):
    status, out, err, _ = both(server, f"{HERE}/protocols.lua", *BEGUN, "--events=1", "run", version=version)
    assert status == 0, out + err
    assert "still there\t3\n" in out and "missing\tfalse|" in out and "after bulk\t30|30.000\n" in out


@pytest.mark.parametrize("version", ["", "0.5", slow("1.0"), slow("1.1")])
def test_a_missing_table_is_told_the_same(server, version, tmp_path):
    query = "('SELECT c FROM nowhere WHERE id = 1') end\n"
    script = tmp_path / "missing.lua"
    if version == "0.5":
        script.write_text("function thread_init() db_connect() end function event() db_query" + query)
        argv = [f"--test={script}", "--num-threads=1", "--max-requests=1"]
    else:
        script.write_text("function thread_init() con = sysbench.sql.driver():connect() end function event() con:query"
                          + query)
        argv = [str(script), "--threads=1", "--events=1", "--rand-seed=7"]
    if version == "0.5" and server.driver == "pgsql":
        done = run(server, "own", *argv, "run", version=version)
        assert done.returncode == 1 and "--pgsql-protocol=own" in done.stdout + done.stderr
        return
    status, out, err, _ = both(server, *argv, "run", version=version)
    assert status != 0 and "nowhere" in out + err
