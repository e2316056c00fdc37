# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever happens to one server or on the way to it, and whenever: the run ends with a report, counts
every event once, and has as many commits as the server.

BENCH_FAULT_SCHEDULES is the number of schedules for each server.
"""

import concurrent.futures
import json
import os
import random
import subprocess
import time

import pytest

import clusters
import modes
import proxy
import transcripts
from test_faults import read_only
from servers import BENCH

N_SCHEDULES = int(os.environ.get("BENCH_FAULT_SCHEDULES", "2"))
THREADS, TIME_S, GRACE_S = 4, 3, 1
# A run that has not ended then hangs, whatever else the machine does.
HANGS_S = 20 * (TIME_S + GRACE_S)
FAULTS = ("restart", "reset", "freeze", "truncate", "read-only", "drop", "connections", "delay")
NAMES = ("mariadb_victim", "postgresql_victim")

# Each event stores a token of its own.  Files have the tokens of events that began, and those whose
# commit was acknowledged.
SCRIPT = """
sysbench.cmdline.options = {files = {"Folder of the files", ""}}
local con, begun, stored, n
function thread_init()
  con = sysbench.sql.driver():connect()
  begun = assert(io.open(sysbench.opt.files .. "/begun." .. sysbench.tid, "w"))
  stored = assert(io.open(sysbench.opt.files .. "/stored." .. sysbench.tid, "w"))
  begun:setvbuf("no") stored:setvbuf("no")
  n = 0
end
function event()
  n = n + 1
  begun:write(n, "\\n")
  con:query("BEGIN")
  con:query(string.format("INSERT INTO tokens VALUES (%d, %d)", sysbench.tid, n))
  con:query("SELECT n FROM tokens WHERE thread = " .. sysbench.tid .. " AND n <= " .. n)
  con:query("COMMIT")
  stored:write(n, "\\n")
end
"""


class Schedule:
    """What happens, when, for how long, and how the run meets it."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.what = FAULTS[seed % len(FAULTS)]
        self.after_s = rng.uniform(0, 1.5)
        # In the whole of the soak, a server that is frozen stays so beyond the end of the run.
        self.lasts_s = rng.choice((0.3, 1.5, 10)) if N_SCHEDULES > 10 else 0.5
        self.ignored = rng.random() < 0.7
        self.protocol = rng.choice(("own", "library"))
        self.rate = rng.choice((0, 0, 200))

    def __repr__(self):
        ignored = "ignored" if self.ignored else "not ignored"
        return (f"{self.what} after {self.after_s:.2f} s for {self.lasts_s} s, {ignored}, "
                f"{self.protocol}, rate {self.rate}")

    def argv(self):
        return [f"--time={TIME_S}", f"--time-grace={GRACE_S}", f"--threads={THREADS}",
                f"--rate={self.rate}",
                *(["--db-ignore-errors=connection,read-only,resource"] if self.ignored else [])]


def strike(schedule, server, way):
    """Returns when all is well again."""
    if schedule.what == "restart":
        server.kill()
        time.sleep(min(schedule.lasts_s, 1.5))
        server.start()
    elif schedule.what == "freeze":
        server.freeze()
        time.sleep(schedule.lasts_s)
        server.thaw()
    elif schedule.what == "read-only":
        read_only(server, True)
        time.sleep(schedule.lasts_s)
        read_only(server, False)
    elif schedule.what == "connections":
        transcripts.end_connections(server)
    else:
        way.way = schedule.what
        time.sleep(schedule.lasts_s)
        way.way = "pass"


def table(server):
    return "spec_db.tokens" if server.driver == "mysql" else "tokens"


class Run:
    """In the background, through the proxy."""

    def __init__(self, schedule, server, way, folder):
        self.folder = folder
        (folder / "script.lua").write_text(SCRIPT)
        self.process = subprocess.Popen(
            [BENCH, *modes.command(
                ["script.lua", *server.login("tcp"), f"--{server.driver}-port={way.port}",
                 f"--{server.driver}-protocol={schedule.protocol}", f"--files={folder}",
                 "--report=text", f"--report=json:{folder}/report", *schedule.argv(), "run"])],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def lines(self, what):
        """`thread TAB n` of all that is in those files."""
        return {f"{f.suffix[1:]}\t{n}" for f in self.folder.glob(what + ".*")
                for n in f.read_text().split()}

    def await_commits(self):
        def all_have():
            assert self.process.poll() is None, self.process.communicate()
            files = list(self.folder.glob("stored.*"))
            return len(files) == THREADS and all(f.stat().st_size > 0 for f in files)

        clusters.wait_until(all_have, "every thread has committed")

    def end(self):
        return self.process.communicate(timeout=HANGS_S)


def check_counts(run, total, rows, schedule):
    """Every event once, and every commit that was acknowledged."""
    begun, stored = run.lines("begun"), run.lines("stored")
    # With --rate, arrivals that nobody has begun are unfinished, too.
    unfinished = total["unfinished"] - (total["backlog"] or 0)
    counted = total["events"] + total["retries"] + total["failed_events"] + unfinished
    # Each thread may have dropped the event in which it failed or was stopped.
    assert 0 <= len(begun) - counted <= THREADS, (len(begun), total)
    assert 0 <= len(stored) - total["events"] <= THREADS, (len(stored), total)
    assert rows <= begun
    # What a server that was killed had acknowledged may be gone: it flushes once a second.
    assert schedule.what == "restart" or stored <= rows, sorted(stored - rows)
    assert len(rows - stored) <= total["errors"] + unfinished + THREADS


@pytest.mark.slow
@pytest.mark.both_modes
@pytest.mark.parametrize("seed", range(N_SCHEDULES))
@pytest.mark.parametrize("name", NAMES)
def test_a_schedule(name, seed, request, tmp_path):
    server = request.getfixturevalue(name)
    # Each server has faults of its own where there are few.
    schedule = Schedule(seed + NAMES.index(name) * N_SCHEDULES)
    print(schedule)
    if server.process.poll() is not None:
        server.start()
    transcripts.empty(server)
    server.sql(f"CREATE TABLE {table(server)} (thread INT, n INT, PRIMARY KEY (thread, n))")
    if server.driver == "pgsql":
        server.sql("GRANT ALL ON tokens TO spec_user")
    way = proxy.Proxy(server)
    run = Run(schedule, server, way, tmp_path)
    try:
        run.await_commits()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            end = pool.submit(run.end)
            time.sleep(schedule.after_s)
            strike(schedule, server, way)
            out, err = end.result()
    finally:
        run.process.kill()
        way.close()
        server.thaw()
    status = run.process.returncode
    print(f"status {status}\n{out}\n{err}")
    # 4: the rate could not be kept up.
    assert status in ((0, 1, 2, 4) if schedule.rate else (0, 1, 2))
    assert "Threads fairness:" in out
    assert status == 0 or err.strip()
    total = json.loads((tmp_path / "report").read_text())["groups"][0]["total"]["figures"]
    rows = set(server.sql(f"SELECT thread, n FROM {table(server)}").splitlines())
    check_counts(run, total, rows, schedule)
    server.sql(f"DROP TABLE {table(server)}")
