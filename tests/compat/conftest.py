# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the selected transcripts ahead of their tests, a few at a time: they mostly wait.

Under pytest-xdist each worker runs its share of the transcripts and leaves the results in a folder
for all, because any worker may be given any test.
"""

import concurrent.futures
import hashlib
import os
import pathlib
import pickle
import shutil
import tempfile
import time

import pytest

JOBS = int(os.environ.get("COMPAT_JOBS", "8"))
SHARED = "BENCH_COMPAT_SHARED"
PATIENCE_S = 300
# Sanitizers see every command line in the transcripts; and the reference is equal to itself.
collect_ignore = []
if os.environ.get("BENCH_SANITIZER") or os.environ.get("BENCH_REFERENCE") == "1":
    collect_ignore.append("test_differential.py")


def worker():
    """(number of this xdist worker, how many there are); (0, 1) without xdist."""
    name = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    return int(name[2:]), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


def name_of(case):
    return hashlib.sha256("\0".join(case).encode()).hexdigest()


class Ahead:
    """Results by case; a case that nobody started is run when it is asked for."""

    def __init__(self):
        self.pool = None
        self.futures = {}
        self.started = set()

    def file(self, case):
        return pathlib.Path(os.environ[SHARED], name_of(case))

    def work_and_leave(self, work, case):
        """Leaves the result, or the exception, for the other workers."""
        try:
            result = work(*case)
        except Exception as e:  # pylint: disable=broad-except
            result = e
        if SHARED in os.environ:
            made = pathlib.Path(f"{self.file(case)}.made")
            made.write_bytes(pickle.dumps(result))
            made.rename(self.file(case))
        return result

    def start(self, works):
        """WORKS: what runs each case; a case is a tuple of texts."""
        cases = list(works)
        number, workers = worker()
        self.pool = concurrent.futures.ThreadPoolExecutor(max(JOBS // workers, 1))
        self.started = set(cases) if SHARED in os.environ or workers == 1 else set()
        # Neighbours in the alphabet do the same things.  In the order of a hash those that burn
        # processor time and those that wait come mixed, and none is held up for seconds.
        for case in sorted(self.started, key=name_of)[number::workers]:
            self.futures[case] = self.pool.submit(self.work_and_leave, works[case], case)

    def result(self, work, case):
        if case in self.futures:
            result = self.futures[case].result()
        elif case in self.started:
            result = self.from_other_worker(case)
        else:
            result = work(*case)
        if isinstance(result, Exception):
            raise result
        return result

    def from_other_worker(self, case):
        deadline = time.monotonic() + PATIENCE_S
        while not self.file(case).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no other worker ran {case}")
            time.sleep(0.1)
        return pickle.loads(self.file(case).read_bytes())


AHEAD = Ahead()


def pytest_collection_finish(session):
    if session.config.option.collectonly:
        return
    works = {}
    for item in session.items:
        marker = item.get_closest_marker("runs_transcript")
        if marker:
            works[item.callspec.params["case"]] = marker.kwargs["work"]
    if works:
        AHEAD.start(works)


def pytest_sessionfinish(session):
    if AHEAD.pool:
        # Another worker may wait for what is still running here.
        AHEAD.pool.shutdown(wait=True, cancel_futures=worker()[1] == 1)


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "runs_transcript(work): the parameter `case` is run ahead by work(*case)"
    )
    if "PYTEST_XDIST_WORKER" not in os.environ and getattr(config.option, "numprocesses", None):
        os.environ[SHARED] = tempfile.mkdtemp(prefix="bench-compat-shared-")


def pytest_unconfigure(config):
    if "PYTEST_XDIST_WORKER" not in os.environ and SHARED in os.environ:
        shutil.rmtree(os.environ.pop(SHARED), ignore_errors=True)


@pytest.fixture(scope="session")
def ahead():
    return AHEAD
