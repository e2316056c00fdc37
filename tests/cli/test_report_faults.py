# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that interrupts and write faults at random moments leave no half-written report: a document is whole or
is not there, rows and lines are whole, the text report is printed, and status 0 means that nothing is missing.

BENCH_FAULTS is the number of runs of each form. A run that fails prints its number, which repeats it."""

import csv
import errno
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import time

import pytest

import bench
import test_hdr
import test_openmetrics
from files import build_faults, with_fault

LIB = os.path.join(os.path.dirname(bench.binary()), "../lib/bench")
pytestmark = pytest.mark.skipif(not os.path.exists(f"{LIB}/codecs/zlib.so"),
                                reason="built without zlib")

RUNS = int(os.environ.get("BENCH_FAULTS", "10"))
FEW = 3
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CALLS = ("write", "half", "fsync", "rename", "open")
INTERVAL = re.compile(r"^\[ [0-9.]+s \] thds:", re.M)
OLD = {  # What was there before the run, by form.
    "json": '{"old": 1}\n', "markdown": "| old |\n", "openmetrics": "# EOF\n", "csv": "old\n", "jsonl": "{}\n",
    "hdr": "#old\n", "text": "old\n"}


def command(form, draw):
    """cpu, or statements that go nowhere."""
    test = draw.choice((["cpu", "--cpu-max-prime=1000"], ["oltp_point_select", "--db-driver=null"]))
    report = [f"--report={form}:out", "--report=text", "--report-interval=0.02", "--time=0.3", "--threads=2"]
    return [*test, *report, *(["--report-bins=all"] if draw.random() < 0.3 else [])]


# --- what is left ---------------------------------------------------------------------------------


class Left:
    """A run that has ended and its file."""

    def __init__(self, process, out, err, before, path):
        self.status, self.out, self.err, self.before = process.returncode, out, err, before
        self.text = path.read_text() if path.exists() else None
        self.intervals = len(INTERVAL.findall(out))
        self.has_total = "total number of events:" in out
        self.stays = self.text is not None and self.text == self.before

    def events(self):
        return int(re.search(r"total number of events: +(\d+)", self.out).group(1))


def whole_document(left, check):
    """The old file, or the new one, or none."""
    if left.text is None:
        assert left.status != 0 and left.before is None
    elif left.stays:
        assert left.status != 0
    else:
        check(left)


def check_json(left):
    document = json.loads(left.text)
    assert left.status < 0 or document["end"]["status"] in (left.status, 0)
    if left.has_total:
        assert document["groups"][0]["total"]["figures"]["events"] == left.events()
        assert len(document["groups"][0]["intervals"]) == left.intervals


def check_journal(left, folder):
    """Of the intervals that were shown, it may lack the last one."""
    if left.intervals > 1 and (left.text is None or left.stays):
        journal = bench.run("report", "out.partial", cwd=folder)
        assert journal.status == 0
        assert len(INTERVAL.findall(journal.out)) >= left.intervals - 1


def check_markdown(left):
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in left.text.splitlines()]
    assert left.text.endswith("|\n") and rows[:2] == [["", "value"], ["---", "---:"]]
    table = dict(rows[2:])
    assert "threads" in table and "host" in table, table
    if left.has_total:
        assert "ignored errors" in table
    if left.status > 0 and left.has_total:
        assert table.get("exit status") in (str(left.status), None)


def check_openmetrics(left):
    test_openmetrics.accept(left.text)
    samples = test_openmetrics.parse(left.text)
    assert () in samples["bench_exit_status"]
    if left.has_total:
        assert test_openmetrics.value(samples, "bench_events_total") == left.events()


def check_lines(left):
    """Rows of intervals: all of them if the status is 0."""
    assert left.text == "" or left.text.endswith("\n")


def check_csv(left):
    check_lines(left)
    rows = list(csv.reader(io.StringIO(left.text, newline=""), strict=True))
    assert {len(row) for row in rows} <= {len(rows[0]) if rows else 0}
    assert rows == [] or rows[0][0] == "time"
    assert left.status != 0 or len(rows) - 1 == left.intervals


def check_jsonl(left):
    check_lines(left)
    rows = [json.loads(row) for row in left.text.splitlines()]
    assert all(list(row) == list(rows[0]) for row in rows)
    assert left.status != 0 or len(rows) == left.intervals


def check_hdr(left):
    check_lines(left)
    if test_hdr.LEGEND in left.text:
        lines = test_hdr.parse(left.text)[2]
        total = sum(test_hdr.added(lines).values())
        assert left.status != 0 or total == left.events()
    else:
        assert left.status != 0 and all(row.startswith("#") for row in left.text.splitlines())


def check_text(left):
    check_lines(left)
    # Without the banner, which a signal may have left out too.
    assert left.status != 0 or left.text == left.out.split("\n", 2)[2]


def check_total(left):
    """The rows of other runs stay as they are; this one has added a row or nothing."""
    assert left.text is not None and left.text.startswith(left.before or "")
    rows = list(csv.reader(io.StringIO(left.text, newline=""), strict=True))
    assert left.text == "" or left.text.endswith("\n")
    assert len({len(row) for row in rows}) <= 1
    added = len(rows) - len((left.before or "").splitlines()) - (0 if left.before else 1)
    assert added in (0, 1) or left.text == ""
    assert left.status != 0 or added == 1
    if added == 1 and left.has_total:
        row = dict(zip(rows[0], rows[-1]))
        assert int(row["events"]) == left.events()
        assert left.status < 0 or int(row["status"]) in (left.status, 0)


DOCUMENTS = {"json": check_json, "markdown": check_markdown, "openmetrics": check_openmetrics}
ROWS = {"csv": check_csv, "jsonl": check_jsonl, "hdr": check_hdr, "text": check_text}
FORMS = [*DOCUMENTS, *ROWS, "csv-total"]


def check(form, left):
    if form in DOCUMENTS:
        whole_document(left, DOCUMENTS[form])
    elif form == "csv-total":
        if left.text is None:
            assert left.status != 0 and left.before is None
        else:
            check_total(left)
    elif left.text is None or left.stays:
        assert left.status != 0
    else:
        ROWS[form](left)


# --- what happens ---------------------------------------------------------------------------------


def send(process, draw, killed):
    """One signal or two at random moments of the run."""
    signals = [signal.SIGKILL] if killed else [draw.choice(SIGNALS) for _ in range(draw.randint(1, 2))]
    time.sleep(draw.uniform(0, 0.36))
    for signo in signals:
        process.send_signal(signo)
        time.sleep(draw.choice((0, 0.001, 0.05)))


def limit_of(draw):
    """Bytes that a file may have: any part of a small or of a large report."""
    return int(10 ** draw.uniform(0, 5.2))


def attempt(form, number, folder, library):
    """The first run has no fault, and so status 0."""
    draw = random.Random(f"{form} {number}")
    path = folder / "out"
    before = draw.choice((None, OLD.get(form)))
    if form == "csv-total" and draw.random() < 0.5:
        bench.run("cpu", *bench.QUICK, "--report=csv-total:out", "run", cwd=folder)
        before = path.read_text()
    elif before is not None:
        path.write_text(before)
    what = draw.choice(("signal", "kill", "limit", "signal and limit", "limit" if form in ROWS else "call", "call"))
    what = what if number > 0 else "nothing"
    kwargs, env = {}, {}
    if "limit" in what:
        limit = limit_of(draw)
        kwargs["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if what == "call":
        env = with_fault(library, draw.choice(CALLS), draw.choice((0, 1, 2, 3, 5, 20)),
                         draw.choice((errno.ENOSPC, errno.EIO, errno.EDQUOT)))
    with subprocess.Popen([bench.binary(), *command(form, draw), "run"], cwd=folder, env=bench.environment(**env),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs) as process:
        if what.startswith(("signal", "kill")):
            send(process, draw, what == "kill")
        out, err = process.communicate(timeout=bench.TIMEOUT_S)
    left = Left(process, out, err, before, path)
    # A signal that comes between the heading and the first event leaves nothing to report.
    if what != "kill" and (left.intervals > 0 if "signal" in what else "Threads started!" in out):
        # A second signal may find the program at its end, where it has its usual effect.
        assert left.has_total, (left.status, err, out)
        assert abs(left.status) in (0, 1, *SIGNALS, *(128 + s for s in SIGNALS)), (left.status, err)
    assert what != "nothing" or left.status == 0, err
    check(form, left)
    if form == "json" and left.status == -signal.SIGKILL:
        check_journal(left, folder)
    return what, left.status


@pytest.fixture(name="library", scope="module")
def fixture_library(tmp_path_factory):
    return build_faults(tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("numbers", [
    range(FEW), pytest.param(range(FEW, RUNS), marks=pytest.mark.slow)], ids=["few", "more"])
def test_no_report_is_half_written(form, numbers, tmp_path, library):
    for number in numbers:
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            attempt(form, number, folder, library)
        except Exception as e:
            raise AssertionError(f"{form}, run {number}") from e
