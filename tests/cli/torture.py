# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command again and again; each time another call fails: for memory, a write, a connect.

BENCH_TORTURE is the distance of two calls that are tried; 1 tries each.  If it is large, ten are.
"""

import collections
import concurrent.futures
import difflib
import json
import os
import re
import shutil
import subprocess

import bench

STEP = int(os.environ.get("BENCH_TORTURE", "1000"))

Ended = collections.namedtuple("Ended", "number status out err log")


def build(folder):
    """The library that makes calls fail, to be preloaded."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    source = bench.source_root() / "tests" / "cli" / "torture.c"
    library = folder / "torture.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True
    )
    return library


def masked(text):
    """What stays the same from run to run: the words. libpq forgets the server's version without a word."""
    text = re.sub(r"PostgreSQL [0-9.]+ \(.*?\)", "PostgreSQL of unknown version", text)
    return re.sub(r"[0-9. ]+", "#", text).splitlines()


def members(node, path=""):
    """The names in a document, of whatever depth."""
    if isinstance(node, dict):
        inner = (members(v, f"{path}.{k}") for k, v in node.items())
        return {f"{path}.{k}" for k in node}.union(*inner)
    if isinstance(node, list):
        return set().union(*(members(v, path + "[]") for v in node))
    return set()


def frames(log, heading):
    """(object, place) of the stack there, the innermost first, without the C library's own."""
    part = re.split("crashed|calls", log.partition(heading + "\n")[2])[0]
    found = re.findall(r"^(?:\S*/)?(\S+)\((.*)\) ?\[0x[0-9a-f]+\]$", part, re.MULTILINE)
    return [f for f in found if not f[0].startswith(("libc.", "libm.", "ld-linux", "torture.so"))]


def is_of_a_library(log):
    """Whether a library asked for memory, be it from the heap of scripts, and crashed by itself."""
    failed, crashed = ([name for name, _ in frames(log, at)] for at in ("failed", "crashed"))
    return bool(crashed) and ".so." in crashed[0] and crashed[0] in failed[:3]


class Torture:
    """`command` is run in `folder`, whose files it may write."""

    def __init__(self, library, kind, command, folder):
        self.library, self.kind, self.command, self.folder = library, kind, command, folder
        self.counts, self.complaints, self.libraries = collections.Counter(), [], set()
        self.documents = {}  # what is in the document of a run, by number

    def run(self, number):
        log, document = (self.folder / f"{kind}.{number}.json" for kind in ("log", "report"))
        env = {"LD_PRELOAD": str(self.library), "TORTURE": f"{self.kind} {number} {log}"}
        reports = ["--report=text", f"--report=json:{document}"]
        done = subprocess.run(
            [bench.binary(), self.command[0], *reports, *self.command[1:]],
            cwd=self.folder,
            env=bench.environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=bench.TIMEOUT_S,
            check=False,
        )
        ended = Ended(number, done.returncode, done.stdout, done.stderr, log.read_text())
        self.check_document(ended, document)
        log.unlink()
        return ended

    def check_document(self, ended, document):
        """It is whole or it is not there; what else is left must be named."""
        for path in self.folder.glob(f"report.{ended.number}.*"):
            if path == document:
                try:
                    self.documents[ended.number] = members(json.loads(path.read_text()))
                except json.JSONDecodeError as e:
                    self.complain(ended, f"the document is not whole: {e}")
            elif ended.status >= 0 and f"'{path}'" not in ended.err:
                self.complain(ended, f"left behind: {path.name}")
            path.unlink()

    def complain(self, ended, what):
        self.complaints.append(
            f"{self.kind} {ended.number}: {what}; status {ended.status}\n"
            f"{ended.err[-400:]}\n{ended.log[:3000]}"
        )

    def judge_success(self, ended, reference):
        """A call that may fail without harm: nothing is missing."""
        lines, expected = masked(ended.out), masked(reference.out)
        if lines != expected and "a message was lost" not in ended.out:
            differ = "\n".join(difflib.unified_diff(expected, lines, lineterm="", n=0))
            self.complain(ended, f"the report differs, and the status is 0: {differ}")
        lost = self.documents[0] - self.documents.pop(ended.number, set())
        # What was printed need not be remembered, and a question for settings may fail.
        lost = {name for name in lost
                if not name.startswith((".facts.messages", ".facts.server", ".facts.data"))}
        if lost:
            self.complain(ended, f"not in the document, and the status is 0: {sorted(lost)[:9]}")

    def judge(self, ended, reference):
        """True: the call was made."""
        if "failed\n" not in ended.log:
            return False
        if ended.status < 0 and is_of_a_library(ended.log):
            self.counts["crashed in a library"] += 1
            self.libraries.add(" ".join(frames(ended.log, "crashed")[0]))
        elif ended.status < 0:
            self.complain(ended, "crashed")
        elif ended.status == 0:
            self.counts["made no difference"] += 1
            self.judge_success(ended, reference)
        else:
            self.counts["ended with a sentence"] += 1
            if not ended.err.strip():
                self.complain(ended, "no sentence")
        return True

    def attempt(self, number, reference):
        try:
            return self.judge(self.run(number), reference)
        except subprocess.TimeoutExpired:
            self.complaints.append(f"{self.kind} {number}: hangs")
            return True

    def all(self, least=1):
        """Every STEP-th call; how many there are differs a little from run to run. LEAST: a command that
        makes fewer calls makes them in a way that the preloaded library does not see."""
        reference = self.run(0)
        assert reference.status == 0, reference
        calls = int(re.search(r"^calls (\d+)$", reference.log, re.MULTILINE).group(1))
        assert calls >= least, f"{self.kind}: {calls} calls"
        numbers = range(1, calls + 1, min(STEP, max(1, calls // 10)))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            tried = list(pool.map(lambda n: self.attempt(n, reference), numbers))
        told = ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items()))
        told += f" ({', '.join(sorted(self.libraries))})" if self.libraries else ""
        print(f"soak: {' '.join(self.command[:2])}: {self.kind}: {sum(tried)} of {calls}: {told}")
        complaints = [f"{len(self.complaints)} complaints", *self.complaints]
        assert not self.complaints, "\n".join(complaints)
        assert sum(tried) >= len(tried) * 0.8
