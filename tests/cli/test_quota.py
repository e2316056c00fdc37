# SPDX-License-Identifier: GPL-2.0-or-later
"""A CPU quota of a control group: a result says for how long it held the threads back."""

import contextlib
import json
import os
import pathlib

import bench

QUICK = ("cpu", "--cpu-max-prime=1000", "--threads=2", "--time=1", "run")


@contextlib.contextmanager
def group_of_a_tenth():
    """A group of version 1 or 2 that gets a tenth of a processor, or None where none can be made."""
    name = f"bench-test-{os.getpid()}"
    second = pathlib.Path("/sys/fs/cgroup", name)
    first = pathlib.Path("/sys/fs/cgroup/cpu", name)
    made = None
    for folder, limits in ((first, {"cpu.cfs_quota_us": "10000"}), (second, {"cpu.max": "10000 100000"})):
        with contextlib.suppress(OSError):
            folder.mkdir()
            made = folder
            for file, value in limits.items():
                (folder / file).write_text(value)
            break
    limited = made is not None and ((made / "cpu.stat").exists() and (
        (made / "cpu.max").exists() or (made / "cpu.cfs_quota_us").exists()))
    try:
        yield made if limited else None
    finally:
        if made is not None:
            made.rmdir()


def facts(folder):
    return json.loads((folder / "json").read_text())["facts"].get("process", {})


def test_a_quota_is_told(tmp_path):
    with group_of_a_tenth() as group:
        def enter():
            if group is not None:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        done = bench.run(*QUICK, "--report=json:json", cwd=tmp_path, preexec_fn=enter)
    assert done.status == 0, done
    held = facts(tmp_path).get("throttled_s")
    told = "a CPU quota held the threads of the control group back" in done.err
    # Where no group can be made, a group that the tests run in may have a quota.
    assert (held > 0.1 and told) if group is not None else (not told or held > 0)


def test_without_a_quota_nothing_is_told(tmp_path):
    """A dialect prints no notes in any case."""
    done = bench.run(*QUICK, cwd=tmp_path, dialect="1.0")
    assert done.status == 0 and "quota" not in done.err + done.out
