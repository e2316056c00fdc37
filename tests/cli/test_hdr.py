# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that HdrHistogram logs have, bucket for bucket, the histograms of the document of the same
run, and that the lines of a log add up to the total.  The decoder follows the definition of the
format, HdrHistogram's V2 in its log 1.3, and shares nothing with the program."""

import base64
import collections
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time
import zlib

import pytest

import bench
import documents
import prefix
from gate import slow

LIB = os.path.join(os.path.dirname(bench.binary()), "../lib/bench")
pytestmark = pytest.mark.skipif(not os.path.exists(f"{LIB}/codecs/zlib.so"),
                                reason="built without zlib")

HIGHEST = 2**42 - 1
LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
QUICK = ["cpu", "--cpu-max-prime=300"]
BOTH = ["--report=hdr:log", "--report=json:json", "--report-bins=all"]

Line = collections.namedtuple("Line", "tag start length max buckets")


def numbers(data):
    """ZigZag LEB128, in which the ninth byte has eight bits."""
    at = 0
    while at < len(data):
        value = 0
        for k in range(9):
            byte = data[at]
            at += 1
            value |= (byte if k == 8 else byte & 0x7f) << 7 * k
            if k == 8 or byte < 0x80:
                break
        yield value >> 1 ^ -(value & 1)


def lowest(index):
    """With 2,048 sub-buckets, of which half are of their own in each power of two."""
    if index < 2048:
        return index
    shift = index // 1024 - 1
    return (index % 1024 + 1024) << shift


def decode(text):
    """{lowest value of a bucket: count}"""
    packed = base64.b64decode(text, validate=True)
    cookie, length = struct.unpack_from(">II", packed)
    assert cookie & ~0xf0 == 0x1c849304 and length == len(packed) - 8
    payload = zlib.decompress(packed[8:])
    cookie, length, offset, digits, low, high, ratio = struct.unpack_from(">IIIIQQd", payload)
    assert cookie & ~0xf0 == 0x1c849303 and length == len(payload) - 40
    assert (offset, digits, low, high, ratio) == (0, 3, 1, HIGHEST, 1.0)
    index, buckets = 0, {}
    for n in numbers(payload[40:]):
        if n > 0:
            buckets[lowest(index)] = n
        index += -n if n < 0 else 1
    assert index <= 33 * 1024
    return buckets


def parse(text):
    """The times of the heading, all comments, and the lines."""
    head, _, rest = text.partition(LEGEND + "\n")
    assert head.startswith("#[Histogram log format version 1.3]\n")
    comments = [row for row in (head + rest).splitlines() if row.startswith("#")]
    times = dict(re.findall(r"^#\[(\w+Time): ([\d.]+) \(seconds since epoch\)", head, re.M))
    lines = []
    for row in rest.splitlines():
        if not row.startswith("#"):
            tag, row = re.fullmatch(r"(?:Tag=([^,\s]+),)?(.*)", row).groups()
            start, length, most, histogram = row.split(",")
            lines.append(Line(tag, float(start), float(length), float(most), decode(histogram)))
    return times, comments, lines


def added(lines, tag=None):
    total = collections.Counter()
    for line in lines:
        if line.tag == tag:
            total.update(line.buckets)
    return dict(total)


def stored(record, name="latency"):
    return dict(documents.histogram(record, name))


def run(folder, *args, dialect="own"):
    done = bench.run(*args, "run", cwd=folder, dialect=dialect)
    assert done.status in bench.good(args), done
    [group] = json.loads((folder / "json").read_text())["groups"]
    return *parse((folder / "log").read_text()), group


def saved(folder, name="json"):
    done = bench.run("report", "--format=hdr", name, cwd=folder)
    assert (done.status, done.err) == (0, ""), done
    return done.out


def check_maxima(lines):
    for line in lines:
        top = max(line.buckets, default=0)
        wanted = documents.highest(top) if line.buckets else 0
        assert f"{line.max:.3f}" == f"{wanted / 1e6:.3f}"


def test_one_line_without_intervals(tmp_path):
    _, _, lines, group = run(tmp_path, *QUICK, "--events=500", "--threads=2", *BOTH)
    [line] = lines
    assert (line.tag, line.start) == (None, 0)
    assert abs(line.length - group["total"]["figures"]["at_s"]) < 0.001
    assert line.buckets == stored(group["total"])
    assert sum(line.buckets.values()) == 500
    check_maxima(lines)


def test_lines_of_intervals_are_those_of_the_document(tmp_path):
    args = ["--time=0.8", "--threads=2", "--report-interval=0.3"]
    times, comments, lines, group = run(tmp_path, *QUICK, *args, *BOTH)
    # On a busy machine an interval may have no event, and then it has no line.
    intervals = [i for i in group["intervals"] if i["figures"]["avg_s"] is not None]
    assert 1 <= len(intervals) == len(lines) - 1 <= 2
    for line, interval in zip(lines, intervals):
        assert line.buckets == stored(interval)
        assert abs(line.start + line.length - interval["figures"]["at_s"]) < 0.002
        assert abs(line.length - interval["figures"]["span_s"]) < 0.001
    assert abs(lines[-1].start - intervals[-1]["figures"]["at_s"]) < 0.001
    assert added(lines) == stored(group["total"])
    check_maxima(lines)
    assert times["StartTime"] == times["BaseTime"]
    assert "#[Workload: cpu]" in comments
    assert f"# Values of 2^42 ns and more count as {HIGHEST} ns." in comments


@pytest.mark.parametrize("dialect, times", [
    ("own", ("--time=0.5", "--report-interval=0.2")),
    slow("1.1", ("--time=2", "--report-interval=1")),
    slow("1.0", ("--time=2", "--report-interval=1")),
])
def test_further_histograms_are_tagged_and_saved_ones_are_the_same(dialect, times, tmp_path):
    args = ["fileio", "--file-total-size=1M", "--file-num=2", "--file-test-mode=rndrw"]
    assert bench.run(*args, "prepare", cwd=tmp_path).status == 0
    _, _, lines, group = run(tmp_path, *args, *times, *BOTH,
                             dialect=dialect)
    assert {line.tag for line in lines} == {None, "read_latency", "write_latency", "fsync_latency"}
    for tag in (None, "read_latency", "write_latency", "fsync_latency"):
        assert added(lines, tag) == stored(group["total"], tag or "latency")
    check_maxima(lines)
    assert saved(tmp_path) == (tmp_path / "log").read_text()


@pytest.mark.parametrize("interval", [[], ["--report-interval=0.3"]])
def test_checkpoints_take_nothing_away(interval, tmp_path):
    """The total counts from the last one on; the log is of the whole run."""
    args = [*QUICK, "--time=1.5", "--report-checkpoints=1", *interval]
    _, _, lines, group = run(tmp_path, *args, *BOTH)
    events = [r["figures"]["events"] for r in (*group["checkpoints"], group["total"])]
    assert len(events) == 2 and min(events) > 0
    assert sum(added(lines).values()) == sum(events)

    _, comments, kept = parse(saved(tmp_path))
    if interval:
        assert kept == lines[:len(group["intervals"])] and kept
        assert comments[-1].startswith("# What came after the last interval is not known")
    else:
        assert len(lines) == 1
        assert [line.buckets for line in kept] == [stored(group["total"])]
        assert kept[0].start > 0.9
        assert comments[-1].startswith("# What came before the last checkpoint is not known")


def test_checkpoints_take_nothing_from_a_phase(tmp_path):
    """The document's total has all of its events, and so has the log."""
    args = [*QUICK, "--rate-profile=hold:500/500ms; hold:500/700ms", "--report-checkpoints=1"]
    _, _, lines, group = run(tmp_path, *args, *BOTH)
    for name in ("phase:1 hold:500/500ms", "phase:2 hold:500/700ms"):
        assert added(lines, name.replace(" ", "_")) == stored(group["total"], name) != {}


def test_a_document_without_histograms_of_intervals_says_so(tmp_path):
    args = ["--time=0.5", "--report-interval=0.1"]
    _, _, _, group = run(tmp_path, *QUICK, *args, "--report=hdr:log", "--report=json:json")
    _, comments, [line] = parse(saved(tmp_path))
    assert line.buckets == stored(group["total"]) and line.start == 0
    assert group["intervals"] and comments[-1] == (
        f"# {len(group['intervals'])} interval(s) are without a line of their own: the document does not have their "
        "histograms (--report-bins=all).")


def test_time_counts_from_the_end_of_the_warm_up(tmp_path):
    times, _, lines, group = run(tmp_path, *QUICK, "--warmup-time=0.5", "--time=0.5",
                                 "--report-interval=0.1", *BOTH)
    began = json.loads((tmp_path / "json").read_text())["facts"]["times"]["start_wall_ns"]
    assert abs(float(times["BaseTime"]) - (began / 1e9 + 0.5)) < 0.001
    first = group["intervals"][0]["figures"]
    assert abs(lines[0].start - (first["at_s"] - first["span_s"])) < 0.002
    assert added(lines) == stored(group["total"])


@pytest.mark.sanitized
def test_values_beyond_the_range_and_foreign_names(tmp_path):
    args = ["fileio", "--file-total-size=1M", "--file-num=2", "--file-test-mode=seqrewr"]
    assert bench.run(*args, "prepare", cwd=tmp_path).status == 0
    _, _, _, group = run(tmp_path, *args, "--events=64", "--time=0", *BOTH)
    text = (tmp_path / "json").read_text().replace('"write_latency"', '"a,b\\u001b c"')
    document = json.loads(text)
    documents.put_histogram(document["groups"][0]["total"], [(5, 2), (2**42, 3)])
    (tmp_path / "other").write_text(json.dumps(document))
    _, _, lines = parse(saved(tmp_path, "other"))
    assert lines[0].buckets == {5: 2, lowest(33 * 1024 - 1): 3}
    assert lines[0].max == round(HIGHEST / 1e6, 3)
    assert added(lines, "a_b__c") == stored(group["total"], "write_latency")


def await_lines(path, n):
    until = time.monotonic() + bench.TIMEOUT_S
    while time.monotonic() < until:
        if path.exists() and path.read_text().count("HISTFAA") >= n:
            return
        time.sleep(0.05)
    raise AssertionError("the log does not grow")


def test_a_killed_run_leaves_its_intervals(tmp_path):
    process = subprocess.Popen(
        [bench.binary(), *QUICK, "--time=600", "--report-interval=0.2", "--report=hdr:log", "run"],
        env=bench.environment(), cwd=tmp_path, stdout=subprocess.DEVNULL)
    await_lines(tmp_path / "log", 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, _, lines = parse((tmp_path / "log").read_text())
    assert len(lines) >= 3 and any(line.buckets for line in lines)


def test_the_journal_of_a_killed_run_has_the_same_times(tmp_path):
    process = subprocess.Popen(
        [bench.binary(), *QUICK, "--warmup-time=1", "--time=600", "--report-interval=0.3", *BOTH,
         "run"], env=bench.environment(), cwd=tmp_path, stdout=subprocess.DEVNULL)
    await_lines(tmp_path / "log", 5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = bench.run("report", "--format=hdr", "json.partial", cwd=tmp_path)
    assert done.status == 0 and "is the journal of a run that has not ended" in done.err
    times, _, lines = parse((tmp_path / "log").read_text())
    known, _, kept = parse(done.out)
    assert abs(float(times["BaseTime"]) - float(known["BaseTime"])) < 0.1
    # It may have been killed between the line of the log and that of the journal.
    assert len(kept) >= 4 and kept[:5] == lines[:len(kept[:5])]


def test_the_journal_of_a_killed_run_with_checkpoints_begins_at_the_start(tmp_path):
    """A total of a journal covers the whole measurement."""
    process = subprocess.Popen(
        [bench.binary(), *QUICK, "--time=600", "--report-checkpoints=1", "--report=text",
         "--report=json:json", "run"],
        env=bench.environment(), cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if "Checkpoint report" in line:
            break
    lines, until = [], time.monotonic() + bench.TIMEOUT_S
    try:
        while not (lines and lines[0].length >= 2) and time.monotonic() < until:
            done = bench.run("report", "--format=hdr", "json.partial", cwd=tmp_path)
            if done.status == 0:
                lines = parse(done.out)[2]
    finally:
        process.kill()
        process.wait()
    assert len(lines) == 1 and lines[0].start == 0 and lines[0].length >= 2 and "is not known" not in done.out, done


def test_a_run_that_measured_nothing_leaves_the_heading(tmp_path):
    (tmp_path / "fails.lua").write_text("function thread_init() error('no') end\n"
                                        "function event() end\n")
    done = bench.run("./fails.lua", "--events=1", "--report=hdr:log", "run", cwd=tmp_path)
    assert done.status == 1
    times, _, lines = parse((tmp_path / "log").read_text())
    assert lines == [] and times == {}


def test_standard_output_has_nothing_else():
    done = bench.run(*QUICK, "--events=10", "--report=hdr", "run")
    _, _, [line] = parse(done.out)
    assert (sum(line.buckets.values()), done.err, done.status) == (10, "", 0)


def test_errors_are_told(tmp_path):
    done = bench.run(*QUICK, "--events=1", "--report=hdr:/dev/full", "run")
    assert done.status == 1
    assert "cannot write the report: No space left on device\n" in done.err
    program = prefix.move(tmp_path / "moved")
    shutil.rmtree(tmp_path / "moved/lib/bench/codecs")
    done = bench.run(*QUICK, "--events=1", "--report=hdr", "run", program=str(program))
    assert done.status == 1
    assert ("the report hdr needs the zlib module, which is built if zlib is installed "
            "(Debian: zlib1g-dev): ") in done.out + done.err
