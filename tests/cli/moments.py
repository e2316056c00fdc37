# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals at random moments of a program that runs a workload or fills its tables: what must be true afterwards.

BENCH_SIGNALS is how often each workload is interrupted. A failure names its number, which repeats its draws."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

import bench
import modes

TIMES = int(os.environ.get("BENCH_SIGNALS", "2"))
SIGNALS = (signal.SIGINT, signal.SIGTERM)
QUICK = ["--threads=3", "--time=0.4", "--warmup-time=0.1", "--report-interval=0.05"]


def interrupted(draw, args, folder, span_s):
    """(exit status, standard output, standard error); one signal, sometimes two."""
    env = bench.environment(TMPDIR=str(folder / "tmp"))
    with subprocess.Popen([bench.binary(), *modes.command(args)], cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            time.sleep(draw.uniform(0, span_s))
            for _ in range(draw.choice((1, 1, 2))):
                process.send_signal(draw.choice(SIGNALS))
                time.sleep(draw.choice((0, 0.002, 0.05)))
            out, err = process.communicate(timeout=bench.TIMEOUT_S)
        except BaseException:
            process.kill()
            raise
    return process.returncode, out, err


def ended_in_order(status, told):
    # Before anybody receives signals, and after, they have their usual effect.
    assert status == 0 or abs(status) in SIGNALS or status - 128 in SIGNALS, told


def close_database(database, told):
    """What an ended process has left beside it goes when the next one that has written closes it."""
    with contextlib.closing(sqlite3.connect(database)) as con:
        assert con.execute("PRAGMA integrity_check").fetchall() == [("ok",)], told
        con.execute("PRAGMA user_version = 1")


def attempt_run(name, number, args, folder, stays):
    """stays: the files that were there before and are there afterwards."""
    draw = random.Random(f"{name} {number}")
    (folder / "tmp").mkdir(exist_ok=True)
    status, out, err = interrupted(draw, [*args, *QUICK, "--report=text", "--report=json:out.json", "run"], folder, 0.7)
    told = (name, number, status, out, err)
    ended_in_order(status, told)
    reported = "Threads fairness:" in out
    if "[ 0." in out:
        assert reported, told
    path = folder / "out.json"
    if reported and status >= 0:
        document = json.loads(path.read_text())
        assert document["end"]["status"] in (status, 0), told
        figures = document["groups"][0]["total"]["figures"]
        assert f"total number of events:              {figures['events']}\n" in out, told
    elif path.exists():
        json.loads(path.read_text())
    path.unlink(missing_ok=True)
    # A second signal does not wait until all connections are closed, and leaves SQLite's log behind.
    if (folder / "a.db-wal").exists() and "ending at once" in err:
        close_database(folder / "a.db", told)
    left = {f.name for f in folder.iterdir()} - {"tmp", *stays}
    assert not left, (left, told)
    assert not list((folder / "tmp").iterdir()), told


def attempt_prepare(name, number, args, folder):
    """What was made can be removed, and made again."""
    draw = random.Random(f"prepare {name} {number}")
    (folder / "tmp").mkdir(exist_ok=True)
    status, out, err = interrupted(draw, [*args, "--threads=2", "prepare"], folder, 0.5)
    told = (name, number, status, out, err)
    ended_in_order(status, told)
    assert status <= 0 or "was ended by a signal before it was complete" in err, told
    assert not list((folder / "tmp").iterdir()), told
    cleaned = bench.run(*args, "cleanup", cwd=folder)
    assert cleaned.status == 0, (told, cleaned)
