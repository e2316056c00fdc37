# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that hooks of a script add lines to the ordinary reports, and that documents keep them."""
import json
import re

import pytest

from bench import good
from lua import BENCH, command

ADDS = """
ffi.cdef("int usleep(unsigned int);")
local calls = sysbench.metrics.counter("calls")
function event() ffi.C.usleep(1000) calls:add(2) end
function sysbench.hooks.add_to_intermediate(stat)
  seen = (seen or 0) + 1
  return ("    interval %d: %s"):format(seen, stat.counts.calls == 2 * stat.events)
end
function sysbench.hooks.add_to_cumulative(stat)
  return {"Added:", "    a tab:\\t|\\n    red: \\27[31m", "",
          math.abs(stat.counts.calls - 2 * stat.events) < stat.events and "same"}
end
"""
ADDED = ["Added:", "    a tab:\t|", "    red: \\x1b[31m", "same"]


def records(document):
    group = document["groups"][0]
    return [*group["intervals"], *group["checkpoints"], group["total"]]


def test_lines_stand_behind_the_report(folder):
    r = folder.run(ADDS, "--time=3", "--report-interval=1", "--report-checkpoints=1", "--threads=2",
                   "--report=text", "--report=json:r.json", "--assert=eps>0", "--quiet",
                   "--rate=500")
    assert r.status in good(["--rate=500"]), r.out + r.err
    lines = r.lines
    assert [lines[i - 2][3:6] for i in range(len(lines)) if "interval 1:" in lines[i]] == ["s ]"]
    block = "\n".join(ADDED) + "\n\n"
    assert r.out.count(block) == 2
    assert r.out.endswith(block + r.out[r.out.index("Assertions:"):])
    document = json.loads((folder.path / "r.json").read_text())
    added = [record.get("lines") for record in records(document)]
    assert added[-2:] == [ADDED] * 2 and added[0][0].startswith("    interval 1: ")
    assert command(["report", "r.json"], folder.path).out == r.out
    # Of several results there is no text.
    assert command(["merge", "--force", "-o", "m.json", "r.json", "r.json"], folder.path).status
    folder.run(ADDS, "--events=10", "--rate=500", "--report=json:s.json")
    r = command(["merge", "--force", "-o", "m.json", "r.json", "s.json"], folder.path)
    merged = json.loads((folder.path / "m.json").read_text())
    assert r.status == 0 and "lines" not in merged["groups"][0]["total"]


@pytest.mark.sanitized
def test_a_document_shows_no_control_characters(folder):
    folder.run(ADDS, "--events=2", "--report=json:r.json")
    text = (folder.path / "r.json").read_text()
    (folder.path / "r.json").write_text(text.replace('"same"', '"bell: \\u0007"'))
    assert "\nbell: \\x07\n" in command(["report", "r.json"], folder.path).out


def test_beside_a_replaced_report(folder):
    r = folder.run(ADDS + "function sysbench.hooks.report_cumulative() print('own') end",
                   "--events=2", "--report=text", "--report=json:r.json")
    assert "own" in r.lines and "Added:" not in r.lines and r.status == 0
    assert "Added:" in command(["report", "r.json"], folder.path).lines


@pytest.mark.parametrize("value", ["nil", "''", "{}", "{''}"])
def test_nothing_to_add(folder, value):
    r = folder.run(f"function sysbench.hooks.add_to_cumulative() return {value} end "
                   "function event() end", "--events=1")
    assert re.search(r"execution time \(avg/stddev\): +\S+\n\n$", r.out) and r.status == 0


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("7", "sysbench.hooks.add_to_cumulative: the result must be a string, a list of strings"),
        ("{7}", "sysbench.hooks.add_to_cumulative: the result must be a string, a list of strings"),
        ("true", "sysbench.hooks.add_to_cumulative: the result must be a string, a list of"),
        ("('long'):rep(20000)", "sysbench.hooks.add_to_cumulative: the lines have more than 65536"),
        ("nil, error('bad luck')", "`add_to_cumulative' function failed: t.lua:1: bad luck"),
    ],
)
def test_failures_leave_the_report(folder, value, sentence):
    r = folder.run(f"function sysbench.hooks.add_to_cumulative() return {value} end "
                   "function event() end", "--events=1")
    assert r.status == 1 and sentence in r.err and r.reported and "longlong" not in r.out, r.err


def test_dialects_do_not_call_them(folder):
    for dialect in ("0.5", "1.0", "1.1"):
        r = folder.run(ADDS.replace("sysbench.metrics.counter('calls')", "nil")
                       .replace('sysbench.metrics.counter("calls")', "{add = function () end}"),
                       "--max-requests=2", "--report-interval=1", BENCH_COMPAT=dialect)
        assert "Added:" not in r.lines and r.status == 0, r.out + r.err


def test_hooks_that_are_no_table(folder):
    """A function in place of the table sysbench.hooks is not taken for each of the hooks."""
    r = folder.run("sysbench.hooks = function () error('called') end  function event() end", "--events=10")
    assert r.status == 0 and "called" not in r.out + r.err and "Latency (ms):" in r.out, r.out + r.err
