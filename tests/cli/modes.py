# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests in both modes: a thread for each session, and all sessions carried by one worker.

A test with the marker both_modes runs twice. Command lines of its runs pass through `command`."""

import re

import pytest

# Of the test that runs, and how many of its command lines have them.
workers = None
given = 0


def parameters(metafunc):
    """Adds the mode to a test with the marker; the gate runs the second one if the marker says so."""
    marker = metafunc.definition.get_closest_marker("both_modes")
    if marker:
        marks = [] if marker.kwargs.get("gate") else [pytest.mark.slow]
        metafunc.fixturenames.append("run_mode")
        metafunc.parametrize("run_mode", [pytest.param(None, id="threads"), pytest.param(1, id="worker", marks=marks)],
                             indirect=True)


def command(argv):
    """The arguments of the program, with the worker of the mode if they run several sessions."""
    global given
    argv = [str(arg) for arg in argv]
    threads = [int(m[1]) for m in (re.fullmatch(r"--threads=(\d+)", arg) for arg in argv) if m]
    if workers is None or argv[-1] != "run" or not threads or threads[-1] <= workers:
        return argv
    given += 1
    return [*argv[:-1], f"--workers={workers}", "run"]
