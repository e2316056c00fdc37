# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts that are all this machine: a shell for --hosts-shell that starts the program here.

The shell notes what it was given and the number of the process, which then is the agent.  A test
may put something between: `fleet.through(host, command...)`.
"""

import contextlib
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BENCH = os.path.abspath(os.environ.get("BENCH", "bin/bench"))
# A run that hangs, not one that is slow on a loaded machine or under a sanitizer.
TIMEOUT_S = 600

# Events of 10 ms that need no processor.
STEADY = """
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(10000) end
"""

SHELL = """#!/bin/sh
# Stands in for ssh: host, program, arguments.
host=$1
shift
cd {folder}
printf '%s\\n' "$host" "$@" >"$host.words"
echo $$ >"$host.pid"
[ ! -f "$host.way" ] || exec /bin/sh "./$host.way" "$@"
exec "$@"
"""


class Done:
    def __init__(self, out, err, status, elapsed_s, document):
        self.out, self.err, self.status = out, err, status
        self.elapsed_s, self.document = elapsed_s, document

    @property
    def total(self):
        """Figures of all hosts together."""
        return self.document["groups"][0]["total"]["figures"]

    def member(self, host):
        """The group of a host."""
        for group in self.document["groups"][1:]:
            if group["host"]["name"] == host:
                return group
        raise KeyError(host)


class Fleet:
    """All its processes and files are below `folder`."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        self.spare = folder / "tmp"
        self.spare.mkdir()
        self.shell = folder / "shell"
        self.shell.write_text(SHELL.format(folder=shlex.quote(str(folder))))
        self.shell.chmod(0o755)

    def through(self, host, *command):
        """That host's agent is started by this command, which gets its words."""
        words = " ".join(shlex.quote(str(word)) for word in command)
        (self.folder / f"{host}.way").write_text(f'exec {words} "$@"\n')

    def relay(self, host, *args):
        self.through(host, sys.executable, HERE / "relay.py", f"--pid={self.folder}/{host}.pid",
                     *args)

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def steady(self):
        return self.script("steady.lua", STEADY)

    def begin(self, hosts, *args, shell=None, one=False, stdin=subprocess.DEVNULL, **env):
        """one: what goes to standard error goes to standard output."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("BENCH", "LUA_"))}
        clean.update(LC_ALL="C", TMPDIR=str(self.spare), **env)
        self.begin_s = time.monotonic()
        self.process = subprocess.Popen(
            [BENCH, *map(str, args[:-1]), f"--hosts={hosts}", f"--hosts-shell={shell or self.shell}",
             f"--hosts-program={BENCH}", "--report=text", "--report=json:document.json", args[-1]],
            cwd=self.folder, env=clean, encoding="utf-8", errors="replace",
            stdin=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if one else subprocess.PIPE)
        return self.process

    def finish(self):
        try:
            out, err = self.process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.process.communicate()
            raise
        elapsed_s = time.monotonic() - self.begin_s
        path = self.folder / "document.json"
        document = json.loads(path.read_text()) if path.exists() else None
        return Done(out, err, self.process.returncode, elapsed_s, document)

    def run(self, hosts, *args, **kwargs):
        self.begin(hosts, *args, **kwargs)
        return self.finish()

    def wait_for_line(self, word):
        """Reads standard output up to a line with that word, and nothing of what comes behind it;
        it is lost for finish()."""
        seen = [""]
        while word not in seen[-1]:
            seen.append(self.read_line())
            assert seen[-1], "no %r in %s%s" % (word, "".join(seen), self.process.stderr.read())
        return seen[-1]

    def wait_until(self, state, what):
        until = time.monotonic() + TIMEOUT_S
        while not state():
            assert time.monotonic() < until and self.process.poll() is None, what
            time.sleep(0.02)

    def read_line(self):
        """Byte by byte: finish() does not see what a file object has read ahead."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.process.stdout.fileno(), 1)
            if not byte:
                break
            line += byte
        return line.decode(errors="replace")

    def pid(self, host):
        """The shell makes its file first, and writes into it then."""
        path = self.folder / f"{host}.pid"
        until = time.monotonic() + TIMEOUT_S
        while not path.read_text().strip() and time.monotonic() < until:
            time.sleep(0.01)
        return int(path.read_text())

    def words(self, host):
        return (self.folder / f"{host}.words").read_text().splitlines()

    def processes(self):
        """What was started for the run and has not ended, the controller too: it has its TMPDIR."""
        mark = f"TMPDIR={self.spare}".encode()
        found = {}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    found[int(entry.name)] = b" ".join(words).decode(errors="replace")
            except (OSError, ValueError):
                continue  # it has ended
        return found

    def agents(self):
        """Not their children, which wait for their end to remove their files."""
        found = [pid for pid, words in self.processes().items() if words.startswith(f"{BENCH} --agent")]
        return [pid for pid in found if parent(pid) not in found]

    def left(self):
        """What is still there when all had time to end: processes and files."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            found = [path.name for path in self.spare.iterdir()] + list(self.processes().values())
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.05)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, signal.SIGKILL)


def parent(pid):
    """0: it has ended."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
