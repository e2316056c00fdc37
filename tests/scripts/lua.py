# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs Lua scripts given as text and picks their results apart."""
import os
import re
import subprocess

BENCH = os.environ.get("BENCH", "bench")
if "/" in BENCH:
    BENCH = os.path.abspath(BENCH)


# A run that hangs, not one that is slow on a loaded machine.
# For a program that hangs.  Loading a warehouse takes 95 s under TSan, and longer beside other work.
TIMEOUT_S = 600

# A script with two kinds of events, in turns: three of kind a, one of kind b.
EVENT_KINDS = """
sysbench.kinds = {"a", "b"}
local n = 0
function event()
  n = n + 1
  return n % 4 == 0 and sysbench.kind.b or sysbench.kind.a
end
"""


class Result:
    def __init__(self, process):
        self.status, self.err = process.returncode, process.stderr
        head, _, body = process.stdout.partition("\n\n")
        self.banner, self.out = (head, body) if "LuaJIT" in head else ("", process.stdout)

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def said(self):
        """The lines of standard error."""
        return self.err.splitlines()

    @property
    def reported(self):
        return "Threads fairness:" in self.out

    @property
    def events(self):
        return int(re.search(r"total number of events: +(\d+)", self.out).group(1))


def command(args, folder, stdin="", **env):
    env = {"BENCH_COMPAT": "", **env}
    full = {k: v for k, v in {**os.environ, **env}.items() if v != ""}
    # A script may print what is not UTF-8.
    return Result(subprocess.run([BENCH, *args], cwd=folder, input=stdin, text=True, timeout=TIMEOUT_S,
                                 errors="surrogateescape", capture_output=True, env=full))


class Folder:
    """A folder with a script in it."""

    def __init__(self, path):
        self.path = path

    def file(self, name, text):
        at = self.path / name
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
        return at

    def lua(self, text, *args, **env):
        self.file("t.lua", text)
        return command(["t.lua", *args], self.path, **env)

    def run(self, text, *args, **env):
        return self.lua(text, *args, "run", **env)
