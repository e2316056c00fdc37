# SPDX-License-Identifier: GPL-2.0-or-later
"""What the Python scripts of this folder share: the two programs, running one of them, pairs of runs
in alternation, private servers, and rows with what is wanted. Environment: see README.md.

    rows = lib.Rows("what is compared", "names of the columns")
    pairs = lib.alternate(5, lambda: cost(lib.bench()), lambda: cost(lib.reference()))
    ratio, found = lib.ratios(pairs)
    rows.add("label", f"label {ratio:.2f}", ratio <= 0.9)
    sys.exit(rows.status())
"""

import collections
import contextlib
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/servers"))
import servers  # noqa: E402

# Output; seconds; how often its threads went to sleep.
Done = collections.namedtuple("Done", "text user system elapsed switches")

# How the server of each kind is reached: as its users do.
BY = {"mariadb": "socket", "pg": "tcp"}


def program(variable, default):
    """The full path of a program that the environment may name."""
    name = os.environ.get(variable, default)
    path = shutil.which(name)
    if path is None:
        sys.exit(f"cannot run '{name}': set {variable}")
    return os.path.realpath(path)


def bench():
    return program("BENCH_BIN", "bin/bench")


def reference():
    return program("REFERENCE_BIN", "/usr/bin/sysbench")


def setting(variable, default):
    """A number that the environment may set."""
    return int(os.environ.get(variable, default))


def run(argv, **env):
    """Done. The program runs in /, because the reference looks for scripts in ./src/lua first. When it
    fails, so does the script, with what the program said."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        process = subprocess.Popen(argv, stdout=out, stderr=errors, cwd="/",
                                   env={**os.environ, "LC_ALL": "C", **env})
        _, status, used = os.wait4(process.pid, 0)
        elapsed = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read())
    if process.returncode != 0:
        sys.exit(f"{' '.join(argv)} failed:\n{''.join(texts)}")
    return Done(texts[0], used.ru_utime, used.ru_stime, elapsed, used.ru_nvcsw)


def processor_s(pid):
    """User and system time of all threads of a process."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def alternate(pairs, first, second):
    """Results (of first, of second) of so many pairs; who goes first changes with every pair, so that
    neither profits from what the machine does meanwhile."""
    results = []
    for pair in range(pairs):
        if pair % 2 == 0:
            a = first()
            results.append((a, second()))
        else:
            b = second()
            results.append((first(), b))
    return results


def middle(pairs):
    """Medians of both sides."""
    return [statistics.median(side) for side in zip(*pairs)]


def ratios(pairs):
    """(median, ratios in ascending order) of the first to the second."""
    found = sorted(a / b for a, b in pairs)
    return statistics.median(found), found


AWAKE = setting("PERF_AWAKE", 0) != 0


@contextlib.contextmanager
def awake():
    """With PERF_AWAKE=1 no processor halts meanwhile: an idle one polls, which a kernel with a cpuidle
    driver does while a latency of 0 us is asked for. A processor of a virtual machine that halts is
    woken by the hypervisor, which can cost more than the statement that is waited for, and varies more."""
    if not AWAKE:
        yield
        return
    try:
        with open("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", encoding="utf-8") as state:
            if state.read() != "POLL\n":
                sys.exit("PERF_AWAKE=1: an idle processor of this machine cannot poll")
        wanted = open("/dev/cpu_dma_latency", "wb", buffering=0)
    except OSError as error:
        sys.exit(f"PERF_AWAKE=1: {error}")
    with wanted:
        wanted.write(struct.pack("i", 0))
        yield


@contextlib.contextmanager
def server(kind):
    """A private server of the class KIND, with the user and the database of the tests."""
    missing = kind.missing()
    if missing:
        sys.exit(missing)
    started = kind()
    try:
        started.start_somewhere()
        started.create_user()
        yield started
    finally:
        started.remove()


def each_server():
    """MariaDB, then PostgreSQL, each while it is looked at."""
    for kind in (servers.MariaDB, servers.PostgreSQL):
        with server(kind) as started:
            yield started, started.login(BY[started.kind])


def host():
    """What is needed to read the numbers later, in one line."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        models = [line.partition(": ")[2].strip() for line in f if line.startswith("model name")]
    return (f"{models[0] if models else 'unknown processor'}, {os.cpu_count()} processors, "
            f"Linux {os.uname().release}, load {os.getloadavg()[0]:.2f}, "
            f"{time.strftime('%Y-%m-%dT%H:%MZ', time.gmtime())}")


class Rows:
    """Prints rows as they come and remembers which missed what is wanted."""

    def __init__(self, title, columns):
        self.missed = []
        print(f"# {title}\n# {host()}\n{columns}", flush=True)

    def add(self, label, text, good):
        """GOOD: whether the row is as wanted; None when nothing is."""
        if good is False:
            self.missed.append(label)
        word = {True: " met", False: " missed", None: ""}[good]
        print(text + word, flush=True)

    def status(self):
        return 1 if self.missed else 0
