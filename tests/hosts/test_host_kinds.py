# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of events of a run on several hosts, and the workloads of a mix, are the sums of those of
its hosts, in the total, in each interval and at each checkpoint."""

import csv
import re

import pytest

# In turns: three of kind a, one of kind b, each of 30 ms.
KINDS = """
sysbench.kinds = {"a", "b"}
ffi.cdef("int usleep(unsigned int);")
local n = 0
function event()
  n = n + 1
  ffi.C.usleep(30000)
  return n % 4 == 0 and sysbench.kind.b or sysbench.kind.a
end
"""


def counts(record):
    return [kind["events"] for kind in record["event_kinds"]]


def sums(records):
    return [sum(of_kind) for of_kind in zip(*map(counts, records), strict=True)]


def test_kinds_add_up(fleet):
    script = fleet.script("kinds.lua", KINDS)
    done = fleet.run("a,b:3", script, "--events-per-session=40", "--time=0", "--threads=2",
                     "--report-interval=0.3", "--report-checkpoints=1", "--kind-lines",
                     "--percentile=50,99", "--assert=events@event:a>=1", "run")
    assert done.status == 0, done.err
    group = done.document["groups"][0]
    # A checkpoint begins the total anew.
    whole = sums([group["total"], *group["checkpoints"]])
    assert whole == [150, 50]
    members = [done.member(host)["total"] for host in "ab"]
    assert sums(members) == counts(group["total"])
    assert sum(counts(group["total"])) == group["total"]["figures"]["events"]
    intervals = group["intervals"]
    assert len(intervals) >= 1
    assert all(part <= all_ for part, all_ in zip(sums(intervals), whole, strict=True))
    for record in intervals:
        assert sum(counts(record)) == record["figures"]["events"]
        assert all(kind["percentiles"][1]["s"] >= 0.0299 for kind in record["event_kinds"] if kind["count"])
    lines = re.findall(r"^\[ [\d.]+s \]   (\w+): eps: ", done.out, re.M)
    assert lines == ["a", "b"] * len(intervals)
    rows = re.findall(r"^ +(\d+) +[\d.]+% .*  ([ab])$", done.out.split("Kinds of events")[-1], re.M)
    assert [(int(n), name) for n, name in rows] == list(zip(counts(group["total"]), "ab", strict=True))
    assert fleet.left() == []


def test_rows_have_the_columns_of_kinds(fleet):
    """Also the line of names, which a file of csv-total gets before the hosts are ready."""
    script = fleet.script("kinds.lua", KINDS)
    for _ in range(2):
        done = fleet.run("a,b", script, "--events-per-session=8", "--time=0", "--report-interval=0.1",
                         f"--report=csv-total:{fleet.folder}/t.csv", f"--report=csv:{fleet.folder}/i.csv",
                         "run")
        assert done.status == 0, done.err
    first, second = csv.DictReader((fleet.folder / "t.csv").open())
    for row in (first, second):
        assert None not in row and None not in row.values()
        assert [row[f"events@event:{name}"] for name in "ab"] == ["12", "4"]
    for row in csv.DictReader((fleet.folder / "i.csv").open()):
        assert int(row["events@event:a"]) + int(row["events@event:b"]) == int(row["events"])


@pytest.mark.parametrize("texts", [("function event() end", KINDS), (KINDS, "function event() end")],
                         ids=["without kinds", "with kinds"])
def test_rows_with_other_columns_are_refused_before_the_start(texts, fleet):
    first, second = [fleet.script(f"{name}.lua", text) for name, text in zip("xy", texts, strict=True)]
    rows = fleet.folder / "t.csv"
    args = ("--events=4", "--time=0", f"--report=csv-total:{rows}", "run")
    assert fleet.run("a,b", first, *args).status == 0
    before = rows.read_text()
    done = fleet.run("a,b", second, *args)
    assert done.status == 1
    assert "the first line of this file does not name the columns of this run" in done.err
    assert "Threads started!" not in done.out
    assert rows.read_text() == before
    assert fleet.left() == []


def test_a_kind_that_no_host_has(fleet):
    script = fleet.script("kinds.lua", KINDS)
    done = fleet.run("a,b", script, "--events=4", "--time=0", "--assert=p99@event:c<1s", "run")
    assert done.status == 1
    assert "the run has no kind of events called 'c'; it has: a, b" in done.err


def test_workloads_of_a_mix_add_up(fleet):
    """Their scripts are sent, from one folder; each thread draws for itself."""
    (fleet.folder / "my scripts").mkdir()
    fleet.script("my scripts/half.lua", "return function() end")
    fleet.script("my scripts/one.lua", 'local half = require("half") function event() half() end')
    fleet.script("my scripts/two.lua", "function event() end")
    fleet.script("three.lua", "function event() end")
    done = fleet.run("a,b:3", "./my scripts/one.lua@3", "my scripts/two.lua@1", "oltp_point_select@1",
                     "--db-driver=null", "--events=20000", "--time=0", "--threads=4", "run")
    assert done.status == 0, done.err
    total = counts(done.document["groups"][0]["total"])
    assert sum(total) == 20000
    # The 99.9th percentile of chi-square with two degrees of freedom.
    assert sum((n - m) ** 2 / m for n, m in zip(total, (12000, 4000, 4000), strict=True)) < 13.82
    assert sums([done.member(host)["total"] for host in "ab"]) == total
    done = fleet.run("a,b:3", "my scripts/one.lua@3", "three.lua@1", "--events=20", "run")
    assert done.status == 1
    assert "three.lua: with --hosts the scripts of all workloads must be in one folder" in done.err
