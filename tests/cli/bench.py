# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the program as a user would, and nothing else."""

import collections
import os
import pathlib
import subprocess

Result = collections.namedtuple("Result", "out err status")

# How a user asks for the texts of each version; "own" is asking for none.
DIALECTS = ("own", "1.1", "1.0")
NAME = {"own": "bench", "1.1": "sysbench", "1.0": "sysbench"}
LUAJIT = "(using system LuaJIT 2.1"
# A run that hangs, not one that is slow on a loaded machine.
TIMEOUT_S = 240
# A run that takes no time.
QUICK = ("--events=1", "--cpu-max-prime=3")


def binary():
    """The program under test: $BENCH_BIN, $BENCH, or bin/bench in or above the working folder."""
    for name in ("BENCH_BIN", "BENCH"):
        if os.environ.get(name):
            return os.path.abspath(os.environ[name])
    here = pathlib.Path.cwd()
    for folder in (here, *here.parents):
        if os.access(folder / "bin" / "bench", os.X_OK):
            return str(folder / "bin" / "bench")
    raise FileNotFoundError("no bin/bench found: set BENCH or run in the build tree")


def source_root():
    return pathlib.Path(__file__).resolve().parents[2]


def good(options):
    """The statuses of a run that was well.  With --rate, a busy machine may be late at the end."""
    return (0, 4) if any(option.startswith(("--rate=", "--rate-profile=")) for option in options) else (0,)


def environment(dialect="own", **extra):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BENCH", "LUA_"))}
    if dialect != "own":
        env["BENCH_COMPAT"] = dialect
    env.update(LC_ALL="C", **extra)
    return env


def run(*args, dialect="own", env=None, stdin=subprocess.DEVNULL, program=None, **kwargs):
    """Runs to the end; standard output and standard error are kept apart."""
    if isinstance(stdin, str):
        kwargs["input"] = stdin
        stdin = None
    else:
        kwargs["stdin"] = stdin
    done = subprocess.run(
        [program or binary(), *map(str, args)],
        env=environment(dialect, **(env or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        **kwargs,
    )
    return Result(done.stdout, done.stderr, done.returncode)


def without_banner(result, dialect="own"):
    """The result without the first two lines, which must be the banner."""
    first, empty, rest = result.out.split("\n", 2)
    assert first.startswith(NAME[dialect] + " ") and LUAJIT in first, first
    assert empty == ""
    return result._replace(out=rest)
