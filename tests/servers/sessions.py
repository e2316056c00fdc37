# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs workloads with some workers for their sessions, and tells what each session did."""

import collections
import json
import os
import pathlib
import re
import subprocess

import sqltrace
from servers import BENCH

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "scripts/sessions"
# A line that a script printed for itself, or for all sessions.
SAID = re.compile(r"\[(\d+|all)\](?:\t(.*))?")
# The time that connections waited for each other is no count.
TIMES = {"connection_wait"}

Outcome = collections.namedtuple("Outcome", "status sql said events counters errors counts out err")


def by_session(pairs):
    found = {}
    for session, text in pairs:
        found.setdefault(session, []).append(text)
    return found


def statements(trace):
    """Of a file of --sql-trace, by session."""
    return by_session(sqltrace.parse_trace(trace.read_text()))


class Folder:
    """Where runs of that many sessions with that many events each leave their files."""

    def __init__(self, path, login, sessions, events):
        self.path, self.login, self.sessions, self.events = path, login, sessions, events

    def bench(self, test, *argv, timeout=300):
        env = {**os.environ, "BENCH_COMPAT": ""}
        return subprocess.run([BENCH, test, *self.login, *argv], cwd=self.path, env=env, capture_output=True,
                              text=True, timeout=timeout)

    def command(self, test, *argv):
        done = self.bench(test, *argv)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def run(self, test, workers, *argv):
        """With that number of workers; None: the option is not given."""
        trace, document = self.path / "trace", self.path / "document"
        for file in (trace, document):
            file.unlink(missing_ok=True)
        given = [f"--workers={workers}"] if workers else []
        done = self.bench(test, f"--threads={self.sessions}", *given, f"--events-per-session={self.events}", "--time=0",
                          "--rand-seed=38", f"--sql-trace={trace}", "--report=text", f"--report=json:{document}", *argv,
                          "run")
        assert document.exists(), done.stdout + done.stderr
        groups = json.loads(document.read_text())["groups"]
        assert groups, done.stdout + done.stderr
        total = groups[0]["total"]
        counters = {name: n for name, n in total["raw"]["counters"].items() if name not in TIMES}
        said = (SAID.fullmatch(line) for line in done.stdout.splitlines())
        return Outcome(
            status=done.returncode,
            sql=statements(trace),
            said=by_session((m[1], m[2]) for m in said if m),
            events=[session["events"] for session in total["sessions"]],
            counters=counters,
            errors=dict(total["raw"]["labels"]["errors_by_code"]),
            counts={each["name"]: each["count"] for each in total.get("counts", []) + total["timings"]},
            out=done.stdout, err=done.stderr)


def first_difference(a, b):
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return f"number {i}: {x[:300]!r}, {y[:300]!r}"
    return f"{len(a)} and {len(b)} of them, equal until then"


def differences(one, other):
    """Says how two outcomes differ, in a few lines."""
    found = []
    for name in ("status", "events", "counters", "errors", "counts"):
        a, b = getattr(one, name), getattr(other, name)
        if a != b:
            found.append(f"{name}: {a}, {b}")
    for name in ("sql", "said"):
        a, b = getattr(one, name), getattr(other, name)
        for session in sorted(set(a) | set(b), key=str):
            if a.get(session) != b.get(session):
                found.append(f"{name} of session {session}: "
                             f"{first_difference(a.get(session, []), b.get(session, []))}")
    return found
