# SPDX-License-Identifier: GPL-2.0-or-later
"""What an installation has, copied somewhere else."""

import pathlib
import shutil

import bench


def move(prefix):
    """Copies the program, its scripts and its modules under PREFIX; returns the program."""
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(bench.binary(), prefix / "bin" / "bench")
    tree = pathlib.Path(bench.binary()).parents[1]
    for part in ("share", "lib"):
        shutil.copytree(tree / part / "bench", prefix / part / "bench", symlinks=False)
    return prefix / "bin" / "bench"
