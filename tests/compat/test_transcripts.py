# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the command lines of the golden transcripts print the same form in our dialects.

BENCH_BIN or BENCH names the program, else bin/bench is searched. BENCH_REFERENCE=1 with
BENCH_BIN=/usr/bin/sysbench checks the suite against the reference 1.0.20, without deviations.
"""

import pathlib

import pytest

import deviations
import form
import runner

# What is enabled: (version, prefix of the transcript's name). Those with a server are run by
# tests/servers/test_transcripts_sql.py.
ENABLED = [
    (version, prefix)
    for version in ("0.5", "1.0.20", "1.1")
    for prefix in (
        "cpu-",
        "lua-",
        "gen-",
        "err-",
        "config-",
        "deprecated-",
        "thread-",
        "oltp_",
        "select_random_",
        "bulk_insert-",
        "threads-",
        "mutex-",
        "memory-",
        "fileio-",
        "seed",
    )
]



def needs_server(transcript):
    """Does it speak to a database?  This suite starts none."""
    return "-mysql" in transcript.name or "-pgsql" in transcript.name or any(
        arg.startswith("--db-driver=") for arg in transcript.argv
    )



def enabled_cases():
    rows = ENABLED
    if runner.against_reference():
        rows = [row for row in ENABLED if row[0] == "1.0.20"]
    cases = []
    for version, prefix in rows:
        for path in sorted((runner.GOLDEN / version).glob(prefix + "*.txt")):
            if not needs_server(runner.load(version, path.stem)):
                cases.append((version, path.stem))
    return runner.for_this_build(cases)


def files(*options, version="1.1"):
    """A command that makes the files of the fileio test."""
    return [*(["--test=fileio"] if version == "0.5" else ["fileio"]), *options, "prepare"]


def before_study(transcript):
    """Files of a user's session, whose first command makes them."""
    if transcript.argv[-1] == "prepare":
        return []
    same = [arg for arg in transcript.argv if arg.startswith("--file-num=")]
    return [files(*same, "--file-total-size=64M", version=transcript.version)]


def before(transcript):
    """The commands that leave the files a file test found when it was recorded."""
    if transcript.name.startswith(("fileio-study", "fileio-wiki", "seed002-fileio")):
        return before_study(transcript)
    if not transcript.name.startswith("fileio-"):
        return []

    def made(*options):
        return [files(*options, version=transcript.version)]

    normal = ("--file-num=4", "--file-total-size=16M")
    special = {
        "fileio-prepare": [],
        "fileio-prepare-uneven": [],
        "fileio-prepare-validate": [],
        "fileio-cleanup-nofiles": [],
        "fileio-run-missing-files": [],
        "fileio-prepare-seqwr": made("--file-num=2", "--file-total-size=1M"),
        "fileio-run-uneven": made("--file-num=3", "--file-total-size=1000000"),
    }
    if transcript.name in special:
        return special[transcript.name]
    if (
        transcript.name.startswith("fileio-validate-")
        and transcript.name != "fileio-validate-noprep"
    ):
        return made(*normal, "--validate")
    return made(*normal)


def run_case(version, name):
    transcript = runner.load(version, name)
    return transcript, runner.run(transcript, before(transcript))


def strictly(transcript, output):
    """What is wrong with the output, as lines; empty when it has the expected form."""
    ctx = form.context(transcript)
    expected, got = form.transcript_form(transcript), form.reduce_output(output, ctx)
    wrong = []
    if not runner.against_reference():
        expected = deviations.expected_form(transcript, expected)
        if transcript.name == "gen-help":
            expected = deviations.expected_listing(expected, got)
        got = form.on_time(expected, got)
        # In 0.5 tests without figures of their own have no interval lines.
        if form.last_interval_reported(
            output.stdout, ctx
        ) is False and form.has_intervals(transcript.stdout) and not deviations.last_interval_is_silent(transcript):
            wrong = ["the report of the last interval is missing"]
    return wrong + form.differences(expected, got)


def judge(transcript, output):
    """(what is wrong with the output, was it right but for late reports)"""
    strict = strictly(transcript, output)
    wrong = form.unless_late(lambda of: strictly(transcript, of(output)), form.context(transcript))
    return wrong, strict != [] and wrong == []


@pytest.mark.parametrize("case", enabled_cases(), ids="/".join)
def test_transcript(case):
    transcript, output = run_case(*case)
    wrong, _ = judge(transcript, output)
    # The threads of the reference print at the same time and now and then cut each other's lines in
    # two.  Ours do not, so they have one try.
    for _ in range(3 if runner.against_reference() else 0):
        if wrong:
            _, output = run_case(*case)
            wrong, _ = judge(transcript, output)
    if wrong:
        printed = ["--- printed ---", *output.stdout, "--- stderr ---", *output.stderr]
        end = f"--- exit status {output.status} ---"
        pytest.fail("\n".join([*wrong, *printed, end]), pytrace=False)


def test_golden_set_is_complete():
    """A lost file would silently be one test less."""
    counts = {v: len(list((runner.GOLDEN / v).glob("*.txt"))) for v in runner.DIALECT}
    assert counts == {"0.5": 206, "1.0.20": 367, "1.1": 332}
    assert pathlib.Path(runner.GOLDEN / "lua-scripts" / "slow.lua").exists()


@pytest.mark.parametrize("case", sorted(deviations.cases()), ids="/".join)
def test_deviation_changes_its_transcript(case):
    transcript = runner.load(*case)
    golden = form.transcript_form(transcript)
    assert form.differences(golden, deviations.expected_form(transcript, golden))


def test_listing_without_absent_and_extra_parts():
    golden = form.transcript_form(runner.load("1.1", "gen-help"))
    lines = golden.stdout
    small = deviations.without(lines, {"mysql", "fileio"}, {"General options": {"rate"}})
    assert set(lines) - set(small) > {
        "  mysql - MySQL driver",
        "mysql options:",
        "  fileio - File I/O test",
        "  --rate=N <desc> [0]",
    }
    assert (
        "  pgsql - PostgreSQL driver" in small
        and "  --pgsql-host=STRING <desc> [localhost]" in small
    )
    ours = form.Form(deviations.without(lines, {"mysql"}, {}), [], 0)
    assert deviations.expected_listing(golden, ours) == ours
    assert deviations.expected_listing(
        golden, ours._replace(stdout=ours.stdout[1:])
    ) != ours._replace(stdout=ours.stdout[1:])
