# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that every option refuses what it cannot take, in words; bad_options.tab has a row for each,
and bad_lines.tab has mistakes that people make."""

import concurrent.futures
import functools
import os
import pathlib
import re

import pytest

import bench
from gate import slow


def rows(name="bad_options.tab"):
    text = (pathlib.Path(__file__).parent / name).read_text()
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    return [line.split("\t") for line in lines]


@functools.cache
def owners(heading, ask):
    """{option: name} of what the general help lists under that heading."""
    part = bench.run("--help").out.split(heading + ":\n")[1].split("\n\n")[0]
    return {
        option: name
        for name in re.findall(r"^  ([a-z]+) - ", part, re.MULTILINE)
        for option in re.findall(r"^  --([a-z0-9-]+)", bench.run(name, ask).out, re.MULTILINE)
    }


@functools.cache
def options_of_the_tables():
    """Those of runs, and those that subcommands have besides; they come last in the page."""
    general, *subcommands = [
        re.findall(r"^\.It Fl Fl ([a-z0-9-]+)", part, re.MULTILINE)
        for part in bench.run("--help-man").out.split("\n.Ss bench ")
    ]
    return general, {name for names in subcommands for name in names} - set(general)


def test_every_option_has_its_row():
    general, others = options_of_the_tables()
    assert len(general) == len(set(general)) > 60 and "format" in others
    assert {row[0] for row in rows()} == set(general) | others


REFUSING = [row for row in rows() if row[1] != "-"]


@pytest.mark.parametrize("row", REFUSING, ids=[row[0] for row in REFUSING])
def test_bad_value_is_refused(row, tmp_path):
    option, value, message = row
    if option in options_of_the_tables()[1]:
        # Several may have an option of that name, each with its row.
        subcommand = re.match("bench ([a-z]+): ", message).group(1)
        pair = " A B\n" in bench.run(subcommand, "--help").out
        operands = ["cpu", "run"] if subcommand in ("ab", "search", "sweep") else ["x", *["y"] * pair]
        got = bench.run(subcommand, f"--{option}={value}", *operands, cwd=tmp_path)
        assert got == ("", message + "\n", 1)
        return
    test = owners("Compiled-in tests", "help").get(option, "cpu")
    needed = ["--file-test-mode=rndrd"] if test == "fileio" else []
    got = bench.run(test, "--events=1", *needed, f"--{option}={value}", "run", cwd=tmp_path)
    out = got.out
    if out.startswith("bench "):
        out = bench.without_banner(got).out
    assert got.status == 1
    assert (out, got.err.split("\n")[0]) == ("", message)


@pytest.mark.parametrize("value", ("", ",,,"))
def test_a_run_without_any_report_is_refused(value, tmp_path):
    """A variable of a shell that is not set would cost the result."""
    allowed = "text, json, csv, jsonl, csv-total, markdown, hdr, openmetrics"
    refused = ("", f"--report=: no report is named; allowed: {allowed}\n", 1)
    assert bench.run("cpu", f"--report={value}", "--events=3", "run", cwd=tmp_path) == refused
    done = bench.run("cpu", f"--report={value}", "--report=csv-total", "--events=3", "run", cwd=tmp_path)
    assert done.status == 0 and "events" in done.out and done.err == ""


@pytest.mark.parametrize(
    "args, sentence",
    [
        ("memory --memory-oper=foo", "Invalid value for memory-oper: foo"),
        ("memory --memory-scope=foo", "Invalid value for memory-scope: foo"),
        ("memory --memory-access-mode=foo", "Invalid value for memory-access-mode: foo"),
        ("memory --memory-block-size=3K", "Invalid value for memory-block-size: 3K"),
        ("memory --memory-kernel=foo", "Invalid value for memory-kernel: foo"),
        ("mutex --mutex-type=foo", "Invalid value for --mutex-type: 'foo' (see 'bench mutex help')"),
        ("fileio --file-test-mode=foo", "Invalid IO operations mode: foo."),
        ("fileio --file-test-mode=rndrd --file-extra-flags=foo",
         "Invalid value for file-extra-flags: foo"),
        ("fileio --file-test-mode=rndrd --file-rw-ratio=-1",
         "Invalid value for --file-rw-ratio: -1.000000."),
        ("fileio --file-test-mode=rndrd --file-rw-ratio=-1e300",
         f"Invalid value for --file-rw-ratio: {-1e300:f}."),
        ("fileio --file-test-mode=rndrd --file-io-mode=async --file-async-backlog=0",
         "Invalid value of file-async-backlog: 0"),
    ],
)
def test_dialects_keep_their_words(args, sentence):
    for dialect in ("1.0", "1.1"):
        got = bench.run(*args.split(), "run", dialect=dialect)
        assert (got.err, got.status) == ("", 1)
        assert f"FATAL: {sentence}\n" in got.out


def numeric_options(test):
    """{option: test} of what takes a number, a size or a time, by its form in the help."""
    text = bench.run("--help").out if test is None else bench.run(test, "help").out
    return {name: test for name in re.findall(r"^  --([a-z0-9-]+)=(?:N|SIZE|SECONDS)\b", text, re.MULTILINE)}


def test_numbers_without_a_value_are_refused(tmp_path):
    """Not taken for 0, which means no limit for some: the run would not end."""
    scripts = {"oltp_read_write": ["--db-driver=null"], "fileio": ["--file-test-mode=rndrd"]}
    found = {}
    for test in (None, "cpu", "memory", "fileio", "oltp_read_write"):
        found |= numeric_options(test) | found
    assert {"time", "events", "rate", "report-interval", "rand-seed", "memory-block-size", "tables"} <= set(found)
    for option, test in found.items():
        test = test or "cpu"
        got = bench.run(test, *scripts.get(test, []), "--events=1", f"--{option}", "run", cwd=tmp_path)
        assert got.status == 1, option
        assert re.match(rf"--{option}: no value; allowed: [^\n]+\n$", got.err), got.err


@pytest.mark.sanitized
def test_value_is_missing_where_a_run_would_have_no_end():
    for place in ("cpu --time run", "cpu run --time", "--time cpu run"):
        assert bench.run(*place.split()) == (
            "", "--time: no value; allowed: 0 or more seconds, also with ms, s, m or h\n", 1)
    assert bench.run("cpu", "--percentile", "run").err == (
        "--percentile: no value; allowed: numbers, separated by commas\n")
    # In a dialect it is 0, as in sysbench.
    got = bench.run("--compat=1.0", "cpu", "--events=1", "--time", "run")
    assert got.status == 0 and "total number of events:              1\n" in got.out


@pytest.mark.parametrize("option", [row[0] for row in rows() if row[1] == "-"])
def test_any_text_is_taken(option, tmp_path):
    if option in options_of_the_tables()[1]:
        subcommand = owners("Subcommands", "--help")[option]
        got = bench.run(subcommand, f"--{option}=any, text", "x", cwd=tmp_path)
        assert f"--{option}" not in got.err
        return
    value = "cpu" if option == "test" else "any, text"
    args = ["run"] if option == "test" else ["cpu", "run"]
    got = bench.run(*bench.QUICK, f"--{option}={value}", *args, cwd=tmp_path)
    assert got.status == 0


def complaint(row, folder):
    """What is wrong with the answer to that line; None: nothing."""
    option, line = row
    got = bench.run(*line.split(), cwd=folder)
    named = re.search(rf"--{re.escape(option)}(?![a-z0-9-])", got.err)
    if got.status in (1, 2) and named and "events" not in got.out:
        return None
    return f"{line}: status {got.status}, {got.err[:200]}"


@pytest.mark.parametrize("step", (5, slow(1)))
def test_lines_with_a_mistake_are_refused(step, tmp_path):
    """By a sentence that names the option, before anything is run."""
    lines = rows("bad_lines.tab")
    assert len(lines) >= 500
    # Sanitizers have seen these paths in other tests, and are slow to start.
    lines = lines[::10] if "BENCH_SANITIZER" in os.environ else lines[::step]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        complaints = [c for c in pool.map(lambda row: complaint(row, tmp_path), lines) if c]
    assert not complaints, "\n".join(complaints)
