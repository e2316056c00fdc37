# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the command of a transcript in a directory of its own."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import zlib

import pytest

import form

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
DIALECT = {"0.5": "0.5", "1.0.20": "1.0", "1.1": "1.1"}
TIMEOUT_S = 90
# With a sanitizer the loops of these would take minutes.
LIGHTER = {
    "threads-seed-document": {"run": "--thread-yields=50 run"},
    "seed000-threads": {"run": "--thread-yields=50 run"},
    "seed000-mutex": {"--mutex-locks=1000000": "--mutex-locks=1000"},
}
# Only there: elsewhere the run would end before its checkpoint after 1 s.
if os.environ.get("BENCH_SANITIZER") == "tsan":
    LIGHTER["mutex-checkpoint"] = {"--mutex-loops=100000": "--mutex-loops=10000"}
# These ended by their requests when they were recorded; on a loaded machine time would be up first.
# No header tells the limit.
MORE_TIME = {"--max-time=5": "--max-time=60", "--time=5": "--time=60"}
# Three seconds of work on an idle machine; the default limit of 10 s would end it on a loaded one.
# 0.5 has no limit of its own.
NEEDS_TIME = {("1.0.20", "threads-seed-document"), ("1.1", "threads-seed-document")}
# Taken once: pytest adds and drops names of its own while our threads would be walking through.
INHERITED = {
    k: v for k, v in os.environ.items() if not k.startswith(("BENCH", "LUA_", "MYSQL", "PG"))
}


def against_reference():
    """BENCH_REFERENCE=1: BENCH_BIN is the reference; this checks the suite, not our program."""
    return os.environ.get("BENCH_REFERENCE") == "1"


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


def load(version, name):
    return form.parse_transcript((GOLDEN / version / f"{name}.txt").read_text(), version, name)


def for_this_build(cases, kind=str):
    """CASES as parameters of a test: of each kind of name one, chosen by it, as the code is nearly the
    same in each version.  The others are slow, and a sanitized build leaves them out.  Slow are all
    that repeat the long runs of articles, too."""
    kinds = {}
    for case in cases:
        kinds.setdefault(kind(case[1]), []).append(case)
    chosen = {same[zlib.crc32(name.encode()) % len(same)] for name, same in kinds.items()}
    left_out = os.environ.get("BENCH_SANITIZER")
    return [pytest.param(case, marks=[] if case in chosen and not case[1].startswith("seed") else pytest.mark.slow)
            for case in cases if case in chosen or not left_out]


def environment(version, extra):
    env = dict(INHERITED, LC_ALL="C", **extra)
    if not against_reference():
        env["BENCH_COMPAT"] = DIALECT[version]
    return env


def lay_out(folder):
    """Fills the working directory as golden/README.md describes it."""
    shutil.copytree(GOLDEN / "lua-scripts", folder / "L")
    (folder / "lt").mkdir()
    shutil.move(folder / "L" / "slow.lua", folder / "lt" / "slow.lua")
    for config in (GOLDEN / "config").iterdir():
        shutil.copy(config, folder)


def execute(argv, folder, env, stdin=None, timeout=TIMEOUT_S):
    """Runs ARGV to its end; after TIMEOUT seconds its process group is killed."""
    with open(folder / stdin if stdin else os.devnull, "rb") as source:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env=env,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += b"killed: still running after %d s\n" % timeout
    return form.Output(form.output_lines(out), form.output_lines(err), process.returncode)


def arguments(transcript):
    """The arguments of the transcript with the limits that this build can keep."""
    argv = transcript.argv
    if os.environ.get("BENCH_SANITIZER") and transcript.name in LIGHTER:
        lighter = LIGHTER[transcript.name]
        argv = [word for arg in argv for word in lighter.get(arg, arg).split(" ")]
    if transcript.name.startswith("fileio-") and any(
        re.fullmatch(r"--(max-requests|events)=[1-9]\d*", arg) for arg in argv
    ):
        argv = [MORE_TIME.get(arg, arg) for arg in argv]
    if (transcript.version, transcript.name) in NEEDS_TIME:
        argv = ["--time=60", *argv]
    return argv


def run(transcript, before=()):
    """Runs the argument lists BEFORE, then the transcript's; returns the Output of the last."""
    with tempfile.TemporaryDirectory(prefix="bench-compat-") as name:
        folder = pathlib.Path(name)
        lay_out(folder)
        env = environment(transcript.version, transcript.env)
        for argv in before:
            made = execute([binary(), *argv], folder, env)
            if made.status != 0:
                raise RuntimeError(f"preparing with {argv} failed: {made}")
        return execute([binary(), *arguments(transcript)], folder, env, transcript.stdin)
