# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bench with record.lua and collects what the run said and what its events have recorded."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

BENCH = os.path.abspath(os.environ.get("BENCH", "bin/bench"))
SCRIPT = pathlib.Path(__file__).resolve().parent / "record.lua"
# As in record.lua.
BYTES = 1 << 20
HEAD = 4
# A run that hangs, not one that is slow on a loaded machine.
TIMEOUT_S = 240


class Session:
    """What one session has recorded, in ns of CLOCK_MONOTONIC; None has not happened."""

    def __init__(self, path):
        words = memoryview(path.read_bytes()).cast("q")
        stamps = self.stamps(words)
        self.loop, self.closing, self.closed, _ = [next(stamps) for _ in range(HEAD)]
        self.events = []
        for begin in stamps:
            if begin is None:
                break
            self.events.append((begin, next(stamps)))

    @staticmethod
    def stamps(words):
        for i in range(0, len(words), 2):
            yield words[i] * 10**9 + words[i + 1] if words[i] else None


class Run:
    """Begins with the program, which is waited for in finish()."""

    def __init__(self, folder, threads, *args):
        self.folder, self.threads = folder, threads
        for i in range(threads):
            (folder / f"record.{i}").touch()
            os.truncate(folder / f"record.{i}", BYTES)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BENCH", "LUA_"))}
        self.spawn_ns = time.monotonic_ns()
        self.process = subprocess.Popen(
            [BENCH, str(SCRIPT), f"--threads={threads}", "--report=text", "--report=json:json",
             *args, "run"],
            cwd=folder, env={**env, "LC_ALL": "C"}, encoding="utf-8", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.signal_ns = None
        self.lines, self.reader = [], threading.Thread(target=self.read_lines)
        self.reader.start()

    def read_lines(self):
        """Keeps when each line of stdout was seen, and the line."""
        with self.process.stdout as out:
            for line in out:
                self.lines.append((time.monotonic_ns(), line))

    def has_begun(self, events):
        """Whether each session has begun so many events."""
        for i in range(self.threads):
            with open(self.folder / f"record.{i}", "rb") as file:
                file.seek(16 * (HEAD + 2 * (events - 1)))
                if not any(file.read(8)):
                    return False
        return True

    def interrupt_after(self, events):
        """Sends SIGINT when each session has begun so many events."""
        deadline = time.monotonic() + TIMEOUT_S
        while not self.has_begun(events):
            assert self.process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        self.signal_ns = time.monotonic_ns()
        self.process.send_signal(signal.SIGINT)

    def finish(self):
        guard = threading.Timer(TIMEOUT_S, self.process.kill)
        guard.start()
        with self.process.stderr as err:
            self.err = err.read()
        self.status = self.process.wait()
        self.exit_ns = time.monotonic_ns()
        guard.cancel()
        self.reader.join()
        self.out = "".join(line for _, line in self.lines)
        self.sessions = [Session(self.folder / f"record.{i}") for i in range(self.threads)]
        self.document = json.loads((self.folder / "json").read_text())
        return self
