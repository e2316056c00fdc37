# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that a --rate far above what can be served costs neither the report nor the end of the run."""

import re

import pytest

import bench
from gate import slow

SLOW = "ffi.cdef('int usleep(unsigned int);') function event() ffi.C.usleep(10000) end\n"
FULL = {
    "1.1": "FATAL: The event queue is full.",
    "1.0": "FATAL: The event queue is full.",
    "0.5": "FATAL: Event queue is full.\n",
}


@pytest.mark.threads
@pytest.mark.parametrize("dialect, rate", [
    ("1.1", 1000000000), slow("1.1", 300000), *(slow(d, r) for d in ("1.0", "0.5") for r in (300000, 1000000000))])
def test_report_and_status(tmp_path, dialect, rate):
    (tmp_path / "slow.lua").write_text(SLOW)
    args = ["slow.lua", f"--rate={rate}", "--time=2", "--threads=2"]
    if dialect == "0.5":
        args = ["--test=slow.lua", f"--tx-rate={rate}", "--max-time=2", "--num-threads=2"]
        args.append("--max-requests=0")
    got = bench.run(*args, "--report-interval=1", "run", dialect=dialect, cwd=tmp_path)
    events = int(re.search(r"total number of events: +(\d+)", got.out).group(1))
    assert 0 < events < 500
    if dialect == "0.5":
        # When it finds the queue full; the report comes all the same.
        assert 0 < got.out.find(FULL[dialect]) < got.out.find("General statistics:"), got.out
    else:
        assert got.out.rstrip().split("\n")[-1].startswith(FULL[dialect]), got.out
    assert got.status == (0 if dialect == "0.5" else 1)
    # A late line has its own time; arrivals end after 2 s.
    for seconds, queue in re.findall(r"\[ +(\d+)s \] queue length: (\d+)", got.out):
        assert int(queue) > rate * min(int(seconds), 2) / 2


def test_arrivals_that_never_come(tmp_path):
    (tmp_path / "slow.lua").write_text(SLOW)
    got = bench.run("slow.lua", "--rate=1e-300", "--time=0.3", "run", cwd=tmp_path)
    assert got.status == 0, got.err
    assert "total number of events:              0\n" in got.out
