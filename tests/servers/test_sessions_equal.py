# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that each session of a run sends the same SQL, gets the same answers and counts the same, however many
workers carry the sessions: with scripts of many styles, the bundled workloads and those of 0.5.

BENCH_SESSION_EVENTS is the number of events of each session."""

import os
import re

import pytest

import sessions
import transcripts
from gate import slow

# Sessions, and events of each.
SMALL, LARGE = (8, 25), (32, int(os.environ.get("BENCH_SESSION_EVENTS", "60")))
MODULES = {"shelf", "old_style"}
SCRIPTS = sorted({file.stem for file in sessions.FOLDER.glob("*.lua")} - MODULES)
OPTIONS = {name: ["--db-ignore-errors=duplicate"] for name in ("duplicates", "wrapped_errors")}
# Scripts in which events are repeated because statements have failed; on null none do.
FAILING = {"duplicates", "hooks", "wrapped_errors"}
# SQLite has one writer, and events that would be a second one are repeated.
WRITES_NOTHING = [name for name in SCRIPTS if not re.search(
    r"^(function|  ) *prepare\b", (sessions.FOLDER / f"{name}.lua").read_text(), re.M)]

SIZES = ["--tables=2", "--table-size=500", "--rand-type=uniform"]
# Rows that two transactions write in another order, or delete at the same time, are errors on servers.
NO_MEETING = ["--delete-inserts=0", "--table-size=5000"]
WORKLOADS = {
    "oltp_read_write": [*SIZES, *NO_MEETING], "oltp_read_only": SIZES, "oltp_write_only": [*SIZES, *NO_MEETING],
    "oltp_point_select": SIZES, "oltp_insert": SIZES, "oltp_delete": SIZES, "oltp_update_index": SIZES,
    "oltp_update_non_index": SIZES, "select_random_points": SIZES[1:], "select_random_ranges": SIZES[1:],
    "bulk_insert": [],
}
OLD_SIZES = ["--oltp-tables-count=2", "--oltp-table-size=500", "--rand-type=uniform"]
OLD_NO_MEETING = ["--oltp-delete-inserts=0", "--oltp-table-size=5000"]
OLD = ["oltp", "oltp_simple", "select", "insert", "delete", "update_index", "update_non_index", "bulk_insert",
       "select_random_points", "select_random_ranges"]
WORKLOADS.update({f"oltp_legacy/{name}.lua": OLD_SIZES for name in OLD})
WORKLOADS["oltp_legacy/oltp.lua"] = [*OLD_SIZES, *OLD_NO_MEETING]
WORKLOADS["oltp_legacy/bulk_insert.lua"] = []
PLACES, MODES = ["null", "mariadb", "postgresql"], ["auto", "disable"]


def rows(names):
    """Each name on all places with all numbers of workers; the gate has each on one place, with one worker or two.
    That is null for two of three, because servers cost more."""
    found = []
    for i, name in enumerate(names):
        found.append((PLACES[1 + i // 3 % 2 if i % 3 == 0 else 0], name, (1 + i // 3 % 2,), MODES[i // 2 % 2]))
        found += [slow(place, name, (32, 2, 1), MODES[(i + k) % 2]) for k, place in enumerate(PLACES)]
    return found


@pytest.fixture
def folder(request, place, tmp_path):
    """Of runs against an empty database."""
    size = LARGE if request.node.get_closest_marker("slow") else SMALL
    if place == "null":
        # Statements that take time let sessions take turns.
        return sessions.Folder(tmp_path, ["--db-driver=null", "--null-latency=exp:200us"], *size)
    if place == "sqlite":
        return sessions.Folder(tmp_path, ["--db-driver=sqlite", f"--sqlite-db={tmp_path}/db"], *size)
    server = request.getfixturevalue(place)
    transcripts.empty(server)
    return sessions.Folder(tmp_path, server.login(), *size)


def run(folder, test, made, workers, *argv):
    """With tables of its own."""
    if made is not None:
        folder.command(test, *made, "prepare")
    try:
        return folder.run(test, workers, *argv)
    finally:
        if made is not None:
            folder.command(test, *made, "cleanup")


def check(folder, test, made, workers, *argv):
    threads = run(folder, test, made, None, *argv)
    assert threads.status == 0, threads.out + threads.err
    for n in workers:
        found = run(folder, test, made, n, *argv)
        assert sessions.differences(threads, found) == [], (n, found.err)
    return threads


def script(name):
    return str(sessions.FOLDER / f"{name}.lua")


@pytest.mark.parametrize("place, name, workers, ps_mode", rows(SCRIPTS))
def test_a_script(folder, place, name, workers, ps_mode):
    argv = [f"--db-ps-mode={ps_mode}", *OPTIONS.get(name, [])]
    made = None if name in WRITES_NOTHING else [f"--threads={folder.sessions}"]
    threads = check(folder, script(name), made, workers, *argv)
    assert len(threads.sql) == folder.sessions
    if name != "stops":
        assert threads.events == [folder.events] * folder.sessions
    assert (threads.counters["errors"] > 0) == (name in FAILING and place != "null")


@pytest.mark.parametrize("place, workload, workers, ps_mode", rows(WORKLOADS))
def test_a_workload(folder, place, workload, workers, ps_mode):
    sizes = WORKLOADS[workload]
    made = sizes if sizes else [f"--threads={folder.sessions}"]
    threads = check(folder, workload, made, workers, *sizes, f"--db-ps-mode={ps_mode}")
    assert threads.events == [folder.events] * folder.sessions
    assert len(threads.sql) == folder.sessions or "bulk_insert" in workload


@pytest.mark.parametrize("place", ["null", slow("mariadb"), slow("postgresql")])
def test_a_parallel_command(folder, place):
    """Which runs with a thread for each session, however many workers a run has."""
    trace, found = folder.path / "trace", {}
    for workers in ([], ["--workers=2"], ["--workers=1"]):
        argv = [f"--threads={folder.sessions}", *workers]
        done = folder.command(script("commands"), *argv, f"--sql-trace={trace}", "prepare")
        folder.command(script("commands"), *argv, "cleanup")
        said = sorted(line for line in done.stdout.splitlines() if sessions.SAID.fullmatch(line))
        found[tuple(workers)] = (said, sessions.statements(trace))
    assert len(said) == folder.sessions
    assert all(each == found[()] for each in found.values())


@pytest.mark.parametrize("place", ["sqlite"])
@pytest.mark.parametrize("name", [name if name == "strings" else slow(name) for name in WRITES_NOTHING])
def test_a_script_on_sqlite(folder, place, name):
    """Which needs a worker for each session."""
    check(folder, script(name), None, [folder.sessions])
