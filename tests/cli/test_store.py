# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that a saved result prints the report of its run byte by byte, that a killed run leaves its
whole seconds, and that files which are no results are refused with a sentence."""

import fractions
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

import bench
import documents
from gate import diagonal, slow

DIALECTS = ("own", "1.1", "1.0", "0.5")
SQL = ["oltp_read_write", "--table-size=100", "--tables=2", "--db-ps-mode=auto"]
TESTS = {
    "cpu": ["cpu", "--cpu-max-prime=2000"],
    "threads": ["threads", "--thread-locks=1"],
    "mutex": ["mutex", "--mutex-num=2", "--mutex-locks=50000", "--mutex-loops=100"],
    "memory": ["memory", "--memory-block-size=64K", "--memory-total-size=1T"],
    "fileio": ["fileio", "--file-test-mode=rndrw", "--file-num=2", "--file-total-size=1M"],
    "null": [*SQL, "--db-driver=null"],
    "sqlite": [*SQL, "--db-driver=sqlite", "--sqlite-synchronous=off"],
    "script": ["own.lua"],
}
SCRIPT = """
sysbench.cmdline.options = {pause = {"seconds", 0.001}}
function event() end
"""
BOTH = ["--report=text:text", "--report=json:json"]


def report(*args, **kwargs):
    return bench.run("report", *args, **kwargs)


def command(name, dialect, folder, *options):
    """The command line of a test; 0.5 knows it by --test."""
    test, *own = TESTS[name]
    if test.endswith(".lua"):
        (folder / test).write_text(SCRIPT if dialect != "0.5" else "function event(id) end\n")
        test = "./" + test
    first = [f"--test={test}"] if dialect == "0.5" else [test]
    return [*first, *own, *options]


def run_with_both(name, dialect, folder, *options):
    """With --rate, fewer events are due than there are threads, so that none may be too many."""
    for word in {"fileio": ["prepare"], "sqlite": ["prepare"]}.get(name, []):
        done = bench.run(*command(name, dialect, folder), word, dialect=dialect, cwd=folder)
        assert done.status == 0, done
    args = command(name, dialect, folder, *options, *BOTH, "run")
    done = bench.run(*args, dialect=dialect, cwd=folder)
    assert done.status in bench.good(options), done
    return done


@pytest.mark.parametrize("name, dialect", diagonal(list(TESTS), DIALECTS))
def test_a_saved_result_prints_what_the_run_printed(name, dialect, tmp_path):
    options = ["--time=1.3", "--threads=2", "--report-interval=0.3", "--report-checkpoints=1"]
    if dialect != "own":
        options = ["--time=2", "--threads=2", "--report-interval=1", "--report-checkpoints=1"]
    if dialect == "0.5":
        options = ["--max-time=2", "--num-threads=2", *options[2:]]
    run_with_both(name, dialect, tmp_path, *options)
    assert report("json", cwd=tmp_path) == ((tmp_path / "text").read_text(), "", 0)
    assert not (tmp_path / "json.partial").exists()


@pytest.mark.parametrize("options", [
    ["--percentile=50,99.9,95", "--histogram"],
    ["--percentile=0"],
    ["--debug", "--threads=3", "--report-checkpoints=1", "--time=1.1"],
    ["--verbosity=4", "--rand-seed=7", "--validate"],
    ["--verbosity=2"],
    ["--warmup-time=0.3", "--report-interval=0.1"],
    ["--rate=50", "--report-interval=0.2", "--threads=50"],
    ["--forced-shutdown=2", "--events=10"],
])
def test_every_part_of_the_report_is_kept(options, tmp_path):
    run_with_both("cpu", "own", tmp_path, "--time=0.3", *options)
    kept = (tmp_path / "text").read_text()
    assert (kept == "") == ("--verbosity=2" in options)
    assert report("json", cwd=tmp_path) == (kept, "", 0)


def test_timings_and_figures_of_workloads_are_kept(tmp_path):
    run_with_both("sqlite", "own", tmp_path, "--time=0.2", "--debug", "--db-debug")
    kept = (tmp_path / "text").read_text()
    assert "Query execution statistics" in kept
    assert report("json", cwd=tmp_path) == (kept, "", 0)


def test_figures_are_computed_from_the_raw_numbers(tmp_path):
    """In the order that the manual states, so to the last bit."""
    run_with_both("fileio", "1.0", tmp_path, "--time=1")
    [group] = json.loads((tmp_path / "json").read_text())["groups"]
    figures, raw = group["total"]["figures"], group["total"]["raw"]
    assert figures["span_s"] == raw["span_ns"] * 1e-9
    for name in ("events", "reads", "writes", "bytes_read", "bytes_written"):
        assert figures[name] > 0
        assert figures[name + "_per_s"] == figures[name] / (raw["span_ns"] * 1e-9)
    own = {row["name"]: row["value"] for row in group["total"]["workload"]}
    assert own["read_mib_per_s"] == figures["bytes_read_per_s"] / 2**20
    assert own["written_mib_per_s"] == figures["bytes_written_per_s"] / 2**20


def test_the_document_holds_what_was_measured(tmp_path):
    run_with_both("sqlite", "own", tmp_path, "--time=0.7", "--threads=2", "--report-interval=0.3")
    text = (tmp_path / "json").read_text()
    document = json.loads(text)
    assert list(document) == ["format", "version", "facts", "groups", "end"]
    assert (document["format"], document["version"]) == ("bench result", 2)
    [group] = document["groups"]
    assert 1 <= len(group["intervals"]) <= 3
    total = group["total"]
    raw, figures = total["raw"], total["figures"]
    assert total["kind"] == "sql"
    assert document["facts"]["database"]["driver"] == "sqlite"
    assert document["facts"]["files"]["folder"] == str(tmp_path.resolve())
    assert figures["events"] == raw["counters"]["events"] > 0
    assert sum(row[0] for row in raw["sessions"]) == figures["events"]
    assert documents.counted(total) == figures["events"]
    in_span = figures["events"] - figures["in_grace"]
    assert figures["events_per_s"] == in_span / figures["span_s"]
    assert figures["queries"] == sum(raw["counters"][n] for n in ("reads", "writes", "other"))
    assert [metric["name"] for metric in group["metrics"]][:4] == [
        "other", "reads", "writes", "events"]
    assert document["end"]["status"] == 0


def test_the_ages_of_unfinished_events_are_kept(tmp_path):
    """With them, the percentiles can be computed from the document."""
    bench.run("threads", "--rate=1000000", "--time=0.2", "--time-grace=0", "--rate-max-backlog=0",
              "--percentile=50,99", *BOTH, "run", cwd=tmp_path)
    total = json.loads((tmp_path / "json").read_text())["groups"][0]["total"]
    buckets, ages = documents.histogram(total), documents.ages(total)
    assert sum(n for _, n in ages) == total["figures"]["unfinished"] > 0
    for row in total["percentiles"]:
        exact = percentile(sorted(buckets + ages), row["percent"])
        assert row["s"] == pytest.approx(min(exact, total["figures"]["max_s"]), rel=1e-12)
    run_with_both("cpu", "own", tmp_path, "--events=3")
    assert "ages" not in json.loads((tmp_path / "json").read_text())["groups"][0]["total"]["raw"]


OF_TOTALS = {"setup_s", "grace_s", "teardown_s", "outages", "longest_outage_s", "due", "started",
             "dropped", "finished", "served", "warmup_backlog"}


def test_only_totals_have_figures_of_the_parts_of_a_run(tmp_path):
    """Elsewhere they are not known, and a share served of 0 would be wrong."""
    for dialect, times in (("own", ("--time=1.2", "--report-interval=0.5")),
                           ("1.1", ("--time=2", "--report-interval=1"))):
        run_with_both("cpu", dialect, tmp_path, "--rate=20", "--threads=50", *times, "--report-checkpoints=1")
        [group] = json.loads((tmp_path / "json").read_text())["groups"]
        parts = [*group["intervals"], *group["checkpoints"]]
        assert parts
        for record in parts:
            assert OF_TOTALS & set(record["figures"]) == set()
        of_total = OF_TOTALS & set(group["total"]["figures"])
        assert of_total == (OF_TOTALS if dialect == "own" else set())
        assert report("json", cwd=tmp_path).out == (tmp_path / "text").read_text()


def test_facts_say_what_was_run_where_and_how(tmp_path):
    (tmp_path / "options.cnf").write_text("threads=2\nmysql-password=hidden-in-file\n")
    done = bench.run("cpu", "--events=5", "--config-file=options.cnf", "--pgsql-password=hidden",
                     "--report=json:json", "run", cwd=tmp_path)
    told = "--pgsql-password is not used: cpu opens no database connection\n"
    assert (done.err, done.status) == (told, 0)
    text = (tmp_path / "json").read_text()
    assert "hidden" not in text
    facts = json.loads(text)["facts"]
    assert facts["program"]["name"] == "bench"
    assert facts["workload"]["name"] == "cpu"
    assert facts["host"]["kernel"].endswith(os.uname().release)
    assert facts["host"]["processors_allowed"] == len(os.sched_getaffinity(0))
    assert facts["plan"]["threads"] == 2
    options = {option["name"]: option for option in facts["options"]}
    shown = {name: (options[name]["value"], options[name]["origin"], options[name].get("secret"))
             for name in ("threads", "events", "time", "pgsql-password", "mysql-password")}
    assert shown == {
        "threads": ("2", "file", None),
        "events": ("5", "command line", None),
        "time": ("10", "default", None),
        "pgsql-password": (None, "command line", True),
        "mysql-password": (None, "file", True),
    }
    times = facts["times"]
    assert abs(times["start_wall_ns"] * 1e-9 - time.time()) < 60
    assert times["start_wall_ns"] < times["end_wall_ns"]


def test_a_run_ends_with_its_measurement(tmp_path):
    (tmp_path / "own.lua").write_text("""
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned);")
function event() end
function thread_done() ffi.C.usleep(400000) end
""")
    done = bench.run("./own.lua", "--events=1", "--report=json", "run", cwd=tmp_path)
    times = json.loads(done.out)["facts"]["times"]
    assert 0 < times["end_wall_ns"] - times["start_wall_ns"] < 400 * 10**6


def test_facts_name_the_database_driver(tmp_path):
    done = bench.run("oltp_point_select", "--db-driver=null", "--events=5", "--report=json:json", "run",
                     cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    facts = json.loads((tmp_path / "json").read_text())["facts"]
    assert facts["database"] == {"driver": "null", "at_start": "driver"}
    assert (facts["workload"]["tables"], facts["workload"]["rows"]) == ("1", "10000")
    heading = "\nDatabase: null, 1 table x 10000 rows\n\nThreads started!\n"
    assert heading in report("json", cwd=tmp_path).out


def test_facts_name_the_client_library(tmp_path):
    for word in ("prepare", "run"):
        done = bench.run("oltp_point_select", "--db-driver=sqlite", "--events=5", "--table-size=10",
                         "--report=json:json", word, cwd=tmp_path)
        assert done.status == 0, done
    database = json.loads((tmp_path / "json").read_text())["facts"]["database"]
    assert (database["driver"], database["client_version"].split(".")[0]) == ("sqlite", "3")


def test_reports_of_a_script_are_said_and_the_standard_ones_printed(tmp_path):
    (tmp_path / "own.lua").write_text("""
function event() end
sysbench.hooks.report_intermediate = function(stat) print("mine") end
sysbench.hooks.report_cumulative = function(stat) print("mine, all") end
""")
    done = bench.run("./own.lua", "--time=1", "--report-interval=0.4", *BOTH, "run", cwd=tmp_path)
    assert "mine" in done.out
    assert "thds:" not in (tmp_path / "text").read_text()
    end = json.loads((tmp_path / "json").read_text())["end"]
    assert (end["replaced_intervals"], end["replaced_total"]) == (True, True)
    done = report("json", cwd=tmp_path)
    assert 1 <= done.out.count("thds: 1 eps: ") <= 2
    assert "total number of events:" in done.out
    assert "the script printed its own reports during the run; these are the standard reports" in done.err


def test_the_dialect_stands_in_the_facts(tmp_path):
    """The texts of our own form are those of 1.1; the program's facts tell the two apart."""
    for dialect, name in (("own", "bench"), ("1.1", "1.1")):
        run_with_both("cpu", dialect, tmp_path, "--events=5")
        facts = json.loads((tmp_path / "json").read_text())["facts"]
        assert (facts["plan"]["dialect"], facts["program"]["dialect"]) == ("1.1", name)
        assert "explicit_dialect" not in facts["plan"]


@pytest.mark.sanitized
def test_unknown_names_are_kept_when_a_document_is_written_anew(tmp_path):
    run_with_both("cpu", "own", tmp_path, "--events=5")
    document = json.loads((tmp_path / "json").read_text())
    document["later"] = {"x": [1]}
    document["facts"]["plan"]["later"] = "y"
    document["groups"][0]["total"]["raw"]["later"] = 2.5
    (tmp_path / "new").write_text(json.dumps(document))
    done = report("--format=json", "new", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    assert json.loads(done.out) == document
    assert report("new", cwd=tmp_path).out == (tmp_path / "text").read_text()


# Documents of every version, kept for ever, beside what they print.
OLD = sorted((bench.source_root() / "tests/store").glob("*.txt"))


@pytest.mark.parametrize("text", OLD, ids=[path.stem for path in OLD])
def test_documents_of_every_version_print_the_same(text, tmp_path):
    """Written anew, they have what they had: a figure that a document never had is not 0, and one that
    was not measured is null.  The histograms have another form, and print the same in every format."""
    path = text.with_suffix(".json")
    done = report(path)
    assert (done.out, done.status) == (text.read_text(), 0)
    assert (done.err != "") == ("journal" in text.stem)
    again = report("--format=json", path).out
    if "journal" not in text.stem:
        old = documents.renewed(json.loads(path.read_text()))
        assert json.loads(again) == documents.nulled(old, json.loads(again))
    else:
        [group] = json.loads(again)["groups"]
        figures, tick = group["total"]["figures"], ticks_of(path)[-1]["figures"]
        assert {name: figures[name] for name in tick} == documents.nulled(tick, figures)
    (tmp_path / "again").write_text(again)
    assert report("again", cwd=tmp_path).out == done.out
    assert report("--format=json", "again", cwd=tmp_path).out == again
    for name, content in (("old", path.read_text()), ("new", again)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "json").write_text(content)
    for form in ("csv", "jsonl", "csv-total", "hdr", "openmetrics", "markdown"):
        old, new = (report(f"--format={form}", "json", cwd=tmp_path / name) for name in ("old", "new"))
        assert (old.out, old.status) == (new.out, 0), form


def test_old_documents_are_there():
    assert len(OLD) >= 5


def test_several_files_have_headings(tmp_path):
    run_with_both("cpu", "own", tmp_path, "--events=5")
    text = (tmp_path / "text").read_text()
    done = report("json", "json", cwd=tmp_path)
    assert done.out == f"==> json <==\n{text}\n==> json <==\n{text}"


def test_standard_output_takes_a_document(tmp_path):
    for name in "json", "json:-", "json:/dev/stdout":
        done = bench.run("cpu", *bench.QUICK, f"--report={name}", "run", cwd=tmp_path)
        assert (done.err, done.status) == ("", 0)
        document = json.loads(done.out)
        assert document["groups"][0]["total"]["figures"]["events"] == 1
    assert os.listdir(tmp_path) == []
    for others in ["--report=text"], ["--report=json:file"]:
        done = bench.run("cpu", *bench.QUICK, "--report=text", *others, "run", cwd=tmp_path)
        assert done.out.startswith("bench ")


def test_a_warning_does_not_stand_before_a_document(tmp_path):
    (tmp_path / "alert.lua").write_text("function event() ffi.C.db_query(nil, 'SELECT 1', 8) end")
    done = bench.run("alert.lua", "--events=1", "--time=0", "--report=json", "run", cwd=tmp_path)
    assert (done.err, done.status) == ("ALERT: db_query: the connection is nil\n", 0)
    assert json.loads(done.out)["groups"][0]["total"]["figures"]["events"] == 1


@pytest.mark.parametrize("first, known", [
    ("", "nothing"),
    ("function thread_init() drv = sysbench.sql.driver() end\n", "driver"),
    ("function thread_init() con = sysbench.sql.driver():connect() end\n", None),
])
def test_the_heading_names_what_was_known_of_the_database(first, known, tmp_path):
    """A saved result may know more, and its report is the one of the run."""
    (tmp_path / "late.lua").write_text(
        f"{first}function event()\n"
        "  con = con or (drv or sysbench.sql.driver()):connect() con:query('SELECT 1')\nend\n")
    done = bench.run("late.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=3", "--time=0",
                     "--report=text:text", "--report=json:json", "run", cwd=tmp_path)
    text = (tmp_path / "text").read_text()
    database = json.loads((tmp_path / "json").read_text())["facts"]["database"]
    lines = {"nothing": None, "driver": "sqlite", None: f"sqlite, {database['client_version']}"}
    heading = re.search("^Database: (.*)$", text, re.MULTILINE)
    assert done.status == 0, done
    assert (heading and heading[1]) == lines[known]
    assert (database["driver"], database.get("at_start")) == ("sqlite", known)
    assert report("json", cwd=tmp_path).out == text


def test_documents_of_older_versions_have_the_heading(tmp_path):
    run_with_both("sqlite", "own", tmp_path, "--events=3")
    document = json.loads((tmp_path / "json").read_text())
    version = document["facts"]["database"]["client_version"]
    document["facts"]["database"] = {
        "driver": "sqlite", "client_version": version, "version_at_start": version}
    (tmp_path / "old").write_text(json.dumps(document))
    text = (tmp_path / "text").read_text()
    assert f"\nDatabase: sqlite, {version}, 2 tables x 100 rows\n" in text
    assert report("old", cwd=tmp_path).out == text


@pytest.mark.parametrize("known, line", [
    ({}, ""),
    ({"transport": "TCP", "encryption": "none"}, "Connection: TCP, encryption none\n"),
    ({"encryption": "none", "protocol": "own"}, "Connection: encryption none, own protocol\n"),
])
def test_a_document_may_lack_facts_of_the_connection(known, line, tmp_path):
    run_with_both("sqlite", "own", tmp_path, "--events=3")
    document = json.loads((tmp_path / "json").read_text())
    document["facts"]["database"].update(known)
    (tmp_path / "changed").write_text(json.dumps(document))
    assert f"\n\n{line}Database: sqlite, " in report("changed", cwd=tmp_path).out


# --- the journal ---------------------------------------------------------------------------------


def start(folder, *args):
    return subprocess.Popen([bench.binary(), *args], env=bench.environment(), cwd=folder,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def await_ticks(path, n):
    """Until the journal has that many seconds."""
    until = time.monotonic() + bench.TIMEOUT_S
    while time.monotonic() < until:
        if path.exists() and path.read_text().count('{"tick":') >= n:
            return
        time.sleep(0.05)
    raise AssertionError("the journal does not grow")


def kill_after(folder, seconds, *args):
    process = start(folder, *args)
    await_ticks(folder / "json.partial", seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def ticks_of(journal):
    """Of its whole lines: the kill may cut the last one."""
    lines = journal.read_text().split("\n")[:-1]
    return [json.loads(line)["tick"] for line in lines if line.startswith('{"tick":')]


@pytest.fixture(name="killed", scope="module")
def fixture_killed(tmp_path_factory):
    """The folder of a run that was killed: its journal has four seconds, three intervals, two checkpoints or more."""
    folder = tmp_path_factory.mktemp("killed")
    kill_after(folder, 4, "cpu", "--cpu-max-prime=1000", "--histogram", "--report-interval=1",
               "--report-checkpoints=1,2", "--report=json:json", "run")
    return folder


@pytest.fixture(name="journal")
def fixture_journal(killed, tmp_path):
    """A copy of that journal."""
    return pathlib.Path(shutil.copy(killed / "json.partial", tmp_path))


def test_a_killed_run_leaves_its_whole_seconds(tmp_path):
    kill_after(tmp_path, 3, "cpu", "--cpu-max-prime=1000", "--threads=2", "--report-interval=1",
               "--histogram", "--report=text:text", "--report=json:json", "run")
    assert not (tmp_path / "json").exists()
    ticks = ticks_of(tmp_path / "json.partial")
    seconds = [tick["figures"]["at_s"] for tick in ticks]
    assert seconds == sorted(set(seconds)) and seconds[0] >= 1
    done = report("json.partial", cwd=tmp_path)
    assert done.status == 0
    assert "journal of a run that has not ended" in done.err
    # What the text reporter had written stands at the beginning.
    kept = (tmp_path / "text").read_text()
    last = kept.rindex("[ ")
    assert done.out.startswith(kept[:last])
    events = ticks[-1]["figures"]["events"]
    assert f"total number of events:              {events}\n" in done.out
    # The ticks' histograms add up; events that end while the counters are read are in them alone,
    # and each of two threads may be between its counter and its histogram.
    counted = sum(documents.counted(tick) for tick in ticks)
    assert events - 2 <= counted < 1.1 * events
    rows = [line for line in done.out.splitlines() if "|" in line]
    assert sum(int(line.split()[-1]) for line in rows) == counted


LONG_END = """
ffi.cdef("int usleep(unsigned int);")
local n = 0
function event()
  n = n + 1
  ffi.C.usleep(sysbench.tid == 1 and n > 5 and 60000000 or 20000)
end
"""


@pytest.mark.slow
def test_a_run_that_was_killed_in_its_grace_has_the_rates_of_its_span(tmp_path):
    (tmp_path / "long.lua").write_text(LONG_END)
    kill_after(tmp_path, 3, "./long.lua", "--threads=2", "--time=1", "--report=json:json", "run")
    document = json.loads(report("--format=json", "json.partial", cwd=tmp_path).out)
    total = document["groups"][0]["total"]
    figures = total["figures"]
    assert figures["at_s"] == pytest.approx(1) and figures["span_s"] == total["raw"]["span_ns"] * 1e-9 == 1
    assert figures["events_per_s"] == figures["events"] - figures["in_grace"] > 20
    assert figures["oldest_s"] > 2
    assert "time elapsed:                        1.0000s\n" in report("json.partial", cwd=tmp_path).out


def test_a_journal_without_a_tick_has_its_intervals(journal, tmp_path):
    """As of a run with short intervals that is killed in its first second."""
    lines = journal.read_text().splitlines(keepends=True)
    early = [line for line in lines if line.endswith("\n") and not line.startswith(('{"tick":', '{"checkpoint":'))]
    intervals = sum(line.startswith('{"interval":') for line in early)
    assert intervals >= 1
    (tmp_path / "early").write_text("".join(early))
    done = report("early", cwd=tmp_path)
    assert (done.out.count("thds: 1"), done.status) == (intervals, 0)
    assert done.err == (f"'early' has no totals: the report covers its {intervals} "
                        "interval(s) and 0 checkpoint(s)\n")


def test_a_journal_becomes_a_document(journal, tmp_path):
    done = report("--format=json", "json.partial", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    (tmp_path / "json").write_text(done.out)
    assert report("json", cwd=tmp_path).out == report("json.partial", cwd=tmp_path).out


@pytest.mark.parametrize("kept", ["json", "json.partial"])
def test_a_killed_run_is_no_success(kept, journal, tmp_path):
    """It has no exit status, which every form says, and its event in flight is unfinished."""
    document = json.loads(report("--format=json", "json.partial", cwd=tmp_path).out)
    (tmp_path / "json").write_text(json.dumps(document))
    total = document["groups"][0]["total"]
    assert (document["end"]["status"], document["end"]["reason"]) == (None, "killed")
    assert total["figures"]["unfinished"] == total["raw"]["unfinished"] <= 1
    assert "| exit status | none: the run was killed, or had not ended |" in report(
        "--format=markdown", kept, cwd=tmp_path).out
    assert "bench_exit_status" not in report("--format=openmetrics", kept, cwd=tmp_path).out


@pytest.mark.parametrize("hook", ["report_intermediate", slow("report_cumulative")])
def test_a_killed_run_says_that_a_script_printed_its_reports(hook, tmp_path):
    (tmp_path / "own.lua").write_text(f"""
function event() end
sysbench.hooks.{hook} = function(stat) end
""")
    kill_after(tmp_path, 2, "./own.lua", "--report-interval=1", "--report=json:json", "run")
    done = report("json.partial", cwd=tmp_path)
    assert "the script printed its own reports during the run; these are the standard reports" in done.err
    (tmp_path / "json").write_text(report("--format=json", "json.partial", cwd=tmp_path).out)
    end = json.loads((tmp_path / "json").read_text())["end"]
    assert end["replaced_intervals"] == (hook == "report_intermediate")
    assert end["replaced_total"] == (hook == "report_cumulative")


def test_a_name_that_is_not_utf8_ends_no_journal(tmp_path):
    script = os.fsencode(tmp_path) + b"/caf\xe9.lua"
    with open(script, "w") as f:
        f.write("function event() end\n")
    kill_after(tmp_path, 1, script, "--report=json:json", "run")
    done = report("--format=json", "json.partial", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    [group] = json.loads(done.out)["groups"]
    assert group["name"].endswith(r"caf\xe9.lua")
    assert group["total"]["figures"]["events"] > 0


def test_a_line_that_was_cut_is_left_out(journal, tmp_path):
    whole = journal.read_bytes()
    whole = whole[: whole.rindex(b"\n") + 1]
    (tmp_path / "whole").write_bytes(whole)
    (tmp_path / "cut").write_bytes(whole + b'{"tick": {"kin')
    assert report("cut", cwd=tmp_path).out == report("whole", cwd=tmp_path).out


@pytest.mark.sanitized
def test_lines_that_are_damaged_are_passed_over(journal, tmp_path):
    lines = journal.read_bytes().split(b"\n")[:-1]
    ticks = [i for i, line in enumerate(lines) if line.startswith(b'{"tick":')]

    def events(path):
        out = report("--format=json", path, cwd=tmp_path)
        total = json.loads(out.out)["groups"][0]["total"]
        return total["figures"]["events"], documents.counted(total), out

    def damage(name, n, line):
        (tmp_path / name).write_bytes(b"\n".join([*lines[:n], line, *lines[n + 1 :], b""]))
        return name

    whole, counted, _ = events("json.partial")
    # In the middle: later ticks have the sums, but what the histogram got in that second is lost.
    n = ticks[1]
    lost = documents.counted(json.loads(lines[n])["tick"])
    for text in b"\0" * 4096, lines[n][:100], lines[n].replace(b'"kind":"', b'"kind":"x', 1):
        got = events(damage("broken", n, text))
        assert got[:2] == (whole, counted - lost)
        assert got[2].status == 0
        assert got[2].err.startswith("'broken': 1 line(s) of the journal cannot be read and are left "
                                     f"out, the first is line {n + 1}: ")
    assert report("broken", cwd=tmp_path).err.count("\n") == 2
    # At the end: the seconds before it count.
    last = json.loads(lines[ticks[-2]])["tick"]["figures"]["events"]
    lines = lines[: ticks[-1] + 1]
    assert events(damage("broken", ticks[-1], b"{}}"))[0] == last
    # Without a group nobody knows what was counted.
    n = next(i for i, line in enumerate(lines) if line.startswith(b'{"group":'))
    done = report(damage("broken", n, b"{"), cwd=tmp_path)
    assert (done.status, "measured nothing" in done.err) == (0, True)
    assert f"{len(lines) - n} line(s)" in done.err
    done = report(damage("broken", 0, b'{"format":"bench journal",}'), cwd=tmp_path)
    assert (done.out, done.status) == ("", 1)
    assert done.err.startswith("bench report: 'broken' is not a result of bench: line 1 of the ")


def test_the_journal_is_gone_after_the_run(tmp_path):
    (tmp_path / "json.partial").touch()
    done = run_with_both("cpu", "own", tmp_path, "--events=5")
    assert done.err == ""
    assert sorted(os.listdir(tmp_path)) == ["json", "text"]


def test_a_journal_belongs_to_its_run(tmp_path):
    process = start(tmp_path, "cpu", "--time=60", "--report=json:json", "run")
    await_ticks(tmp_path / "json.partial", 1)
    done = bench.run("cpu", *bench.QUICK, "--report=json:json", "run", cwd=tmp_path)
    assert done.status == 1
    assert ("--report=json:json: 'json.partial' is the journal of a run in progress; "
            "wait for its end or name another file") in done.out + done.err
    ticks = len(ticks_of(tmp_path / "json.partial"))
    await_ticks(tmp_path / "json.partial", ticks + 1)
    assert os.listdir(tmp_path) == ["json.partial"]
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert os.listdir(tmp_path) == ["json"]


def test_the_journal_of_a_killed_run_is_moved_aside(tmp_path):
    kept = {}
    for n in "1", "2":
        kill_after(tmp_path, 1, "cpu", "--report=json:json", "run")
        kept["json.partial." + n] = (tmp_path / "json.partial").read_bytes()
        if n == "1":
            (tmp_path / "json.partial").rename(tmp_path / "json.partial.1")
    done = run_with_both("cpu", "own", tmp_path, "--events=5")
    assert done.err == ("'json.partial' was left by a run that did not end; it is now "
                        "'json.partial.2'\n")
    assert sorted(os.listdir(tmp_path)) == ["json", *kept, "text"]
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept
    assert report("json.partial.1", cwd=tmp_path).status == 0


def errors_of_a_run_whose_document_cannot_be_written(folder, name):
    """The journal of the run is there.  What the signal says may come at any time."""
    process = subprocess.Popen([bench.binary(), "cpu", "--time=600", f"--report=json:{name}", "run"],
                               env=bench.environment(), cwd=folder, text=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    await_ticks(folder / f"{name}.partial", 1)
    (folder / name).mkdir()
    process.send_signal(signal.SIGINT)
    lines = process.communicate(timeout=bench.TIMEOUT_S)[1].splitlines()
    assert report(f"{name}.partial", cwd=folder).status == 0
    return [line for line in lines if line.startswith("cannot write the result to ")]


@pytest.mark.parametrize("name", [slow("my json"), slow("it's 'json'"), 24 * "a'b'"])
def test_a_document_that_cannot_be_written_leaves_the_journal(name, tmp_path):
    """The command that prints it can be pasted."""
    [line] = errors_of_a_run_whose_document_cannot_be_written(tmp_path, name)
    before, _, command = line.rpartition("; print it with: bench report ")
    assert before.endswith("; what was measured is in a journal"), line
    assert shlex.split(command) == [f"{name}.partial"]


@pytest.mark.slow
def test_a_command_that_does_not_fit_is_not_told(tmp_path):
    """A message has at most 511 bytes."""
    [line] = errors_of_a_run_whose_document_cannot_be_written(tmp_path, 60 * "a'b'")
    assert line.endswith("; what was measured is in the journal beside it"), line


@pytest.mark.parametrize("left", ["", "of an older run"])
@pytest.mark.parametrize("failing", [
    ["./fails.lua", "--report=json:json", "run"],
    ["cpu", *bench.QUICK, "--report=json:json", "--report=text:no/text", "run"],
    ["cpu", *bench.QUICK, "--report=json:json", "--report=json:json", "run"],
], ids=["thread_init", "other report", "twice"])
def test_a_failed_start_leaves_what_there_was(left, failing, tmp_path):
    """The document says that the run has failed; there is no journal of it."""
    (tmp_path / "fails.lua").write_text("function thread_init() error('no') end function event() end")
    if left:
        (tmp_path / "json.partial").write_text(left)
    before = sorted(os.listdir(tmp_path))
    done = bench.run(*failing, cwd=tmp_path)
    assert done.status == 1 and "json.partial.1" not in done.out + done.err
    assert [name for name in sorted(os.listdir(tmp_path)) if name != "json"] == before
    if left:
        assert (tmp_path / "json.partial").read_text() == left


@pytest.mark.parametrize("one, other", [
    ("json:x", "json:x"), ("json:x", "text:x"), ("json:x", "json:./x"), ("json:x", "text:./x"),
    ("json:x", "text:folder/../x"), ("json:x", "text:x.partial"), ("json:x", "json:./x.partial"),
])
def test_two_reports_need_two_files(one, other, tmp_path):
    (tmp_path / "folder").mkdir()
    for both in [f"--report={one}", f"--report={other}"], [f"--report={other}", f"--report={one}"]:
        done = bench.run("cpu", *bench.QUICK, *both, "run", cwd=tmp_path)
        assert done.status == 1, done
        assert f"{both[1]}: another --report uses this file too; name another file" in done.err
        assert not (tmp_path / "x.partial").exists() or "partial" in other
        assert "in progress" not in done.out + done.err
    done = bench.run("cpu", *bench.QUICK, "--report=json:-", "--report=json:-", "run", cwd=tmp_path)
    assert (done.status, done.out.count('"bench result"')) == (0, 2)


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_reports_share_what_is_not_replaced(name):
    done = bench.run("cpu", *bench.QUICK, f"--report=text:{name}", f"--report=json:{name}", "run")
    assert (done.status, done.err) == (0, "")
    assert done.out.count('"bench result"') == (0 if name == "/dev/null" else 1)


def test_two_reports_need_two_files_in_memory():
    """/dev/shm has plain files, which are replaced."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        done = bench.run("cpu", *bench.QUICK, f"--report=text:{folder}/x", f"--report=json:{folder}/x", "run")
        assert done.status == 1
        assert f"--report=json:{folder}/x: another --report uses this file too; name another file" in done.err


def test_a_journal_is_not_written_through_links(tmp_path):
    (tmp_path / "other").write_text("")
    (tmp_path / "json.partial").symlink_to("other")
    done = bench.run("cpu", *bench.QUICK, "--report=json:json", "run", cwd=tmp_path)
    assert done.status == 1
    assert "cannot write the journal 'json.partial': it is a symbolic link" in done.out + done.err
    (tmp_path / "json.partial").unlink()
    os.link(tmp_path / "other", tmp_path / "json.partial")
    done = bench.run("cpu", *bench.QUICK, "--report=json:json", "run", cwd=tmp_path)
    assert done.status == 0
    assert sorted(os.listdir(tmp_path)) == ["json", "json.partial.1", "other"]
    assert (tmp_path / "other").read_text() == ""


def test_a_run_that_is_interrupted_writes_its_document(tmp_path):
    process = start(tmp_path, "cpu", "--time=30", *BOTH, "run")
    await_ticks(tmp_path / "json.partial", 1)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    end = json.loads((tmp_path / "json").read_text())["end"]
    assert (end["status"], end["signo"]) == (130, 2)
    assert report("json", cwd=tmp_path).out == (tmp_path / "text").read_text()


# --- histograms of intervals ---------------------------------------------------------------------

ONE_LONG = """
ffi.cdef("int usleep(unsigned us);")
local long = sysbench.tid == 0
function event()
  ffi.C.usleep(long and 900000 or 45000)
  long = false
end
"""
PACKED = "--report-bins=all"


def percentile(buckets, percent):
    rank = max(1, math.ceil(sum(n for _, n in buckets) * fractions.Fraction(str(percent)) / 100))
    for lowest, n in buckets:
        rank -= n
        if rank <= 0:
            return documents.highest(lowest) * 1e-9
    return 0


def assert_percentiles(record):
    """Clamped to the extremes, as in a report."""
    figures, buckets = record["figures"], documents.histogram(record)
    for row in record["percentiles"]:
        if not buckets:
            assert row["s"] is None
            continue
        expected = max(min(percentile(buckets, row["percent"]), figures["max_s"]), figures["min_s"])
        assert row["s"] == pytest.approx(expected, rel=1e-12)


def test_intervals_keep_their_histograms_on_request(tmp_path):
    (tmp_path / "own.lua").write_text(ONE_LONG)
    done = bench.run("./own.lua", "--threads=2", "--events=21", "--time=60", "--report-interval=0.2",
                     "--percentile=50,95,99", PACKED, *BOTH, "run", cwd=tmp_path)
    assert done.status == 0, done
    text = (tmp_path / "text").read_text()
    [group] = json.loads((tmp_path / "json").read_text())["groups"]
    intervals, total = group["intervals"], group["total"]
    printed = [line.split("lat (ms,99%):")[1].split()[0]
               for line in text.splitlines() if "lat (ms,99%):" in line]
    assert len(intervals) == len(printed) >= 1
    for record, shown in zip(intervals, printed):
        assert_percentiles(record)
        if record["figures"]["events"] == 0:
            assert shown == "-"
        else:
            assert float(shown) == pytest.approx(1e3 * record["percentiles"][2]["s"], rel=0.0051)
    together = {}
    for record in intervals:
        for lowest, n in documents.histogram(record):
            together[lowest] = together.get(lowest, 0) + n
    # Events that ended after the last interval are in the total alone.
    rest = {lowest: n - together.get(lowest, 0) for lowest, n in documents.histogram(total)}
    assert min(rest.values()) >= 0 and set(together) <= set(rest)
    counted = sum(record["figures"]["events"] for record in intervals)
    assert sum(rest.values()) == total["figures"]["events"] - counted == 21 - counted
    assert max(lowest for lowest, n in documents.histogram(total) if n) >= 0.89e9
    # The report is the one that was printed, and a rewritten document has the histograms.
    assert report("json", cwd=tmp_path) == (text, "", 0)
    again = json.loads(report("--format=json", "json", cwd=tmp_path).out)
    assert again["groups"][0]["intervals"] == intervals


def test_a_document_can_go_without_histograms(tmp_path):
    """Everything else of the report is still there; the file is smaller."""
    for bins in ("total", "none"):
        run_with_both("cpu", "own", tmp_path, "--time=0.2", "--histogram", f"--report-bins={bins}")
        (tmp_path / "json").rename(tmp_path / bins)
    [group] = json.loads((tmp_path / "none").read_text())["groups"]
    assert "histograms" not in group["total"]["raw"]
    assert group["total"]["figures"]["events"] > 0
    text = (tmp_path / "text").read_text()
    done = report("none", cwd=tmp_path)
    table = text[text.index("Latency histogram"):text.index("CPU speed")]
    assert table.count("\n") > 3
    assert done.out == text.replace(table, "")
    assert "'none' has no histograms (--report-bins=none)" in done.err
    rewritten = json.loads(report("--format=json", "none", cwd=tmp_path).out)
    assert "histograms" not in rewritten["groups"][0]["total"]["raw"]


DUPLICATES = """
function thread_init()
  con = sysbench.sql.driver():connect()
end
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t (id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO t VALUES (1)")
end
function event()
  if sysbench.tid == 0 then con:query("INSERT INTO t VALUES (1)") end
end
"""


@pytest.mark.sanitized
def test_the_document_says_why_and_what_failed(tmp_path):
    (tmp_path / "own.lua").write_text(DUPLICATES)
    sqlite = ["./own.lua", "--db-driver=sqlite"]
    assert bench.run(*sqlite, "prepare", cwd=tmp_path).status == 0
    began = time.time_ns()
    done = bench.run(*sqlite, "--time=0.3", "--events=100", "--db-ignore-errors=duplicate",
                     "--report=json:ignored", "run", cwd=tmp_path)
    assert done.status == 5, done
    document = json.loads((tmp_path / "ignored").read_text())
    assert document["end"]["reason"] == "time limit"
    [[code, count]] = document["groups"][0]["total"]["raw"]["labels"]["errors_by_code"]
    assert count == document["groups"][0]["total"]["figures"]["errors"] > 0
    assert document["facts"]["error_classes"] == {code: "duplicate"}
    assert "UNIQUE constraint failed: t.id" in document["facts"]["error_messages"][code]
    (tmp_path / "own.lua").write_text(DUPLICATES.replace("INSERT INTO t VALUES (1)", "SELECT gone FROM t"))
    done = bench.run(*sqlite, "--events=100", "--report=json:failed", "run", cwd=tmp_path)
    assert done.status == 1
    document = json.loads((tmp_path / "failed").read_text())
    assert (document["end"]["reason"], document["end"]["status"]) == ("failure", 1)
    fatal = [m for m in document["facts"]["messages"] if m["level"] == "fatal"]
    assert any("no such column: gone" in m["text"] for m in fatal)
    for message in document["facts"]["messages"]:
        assert began < message["wall_ns"] < time.time_ns()
        assert message["times"] >= 1 and message["text"] in done.out + done.err
    # A rewritten document has all of it.
    again = json.loads(report("--format=json", "failed", cwd=tmp_path).out)
    assert (again["facts"], again["end"]) == (document["facts"], document["end"])


@pytest.mark.parametrize("options, reason", [
    (["cpu", "--events=3"], "event limit"),
    (["cpu", "--time=0.1"], "time limit"),
    (["memory", "--memory-total-size=1M", "--time=0"], "done"),
])
def test_the_reason_of_the_end(options, reason, tmp_path):
    assert bench.run(*options, "--report=json:json", "run", cwd=tmp_path).status == 0
    assert json.loads((tmp_path / "json").read_text())["end"]["reason"] == reason


def test_intervals_have_no_histograms_by_default(tmp_path):
    for options in ([], ["--report-bins=total"]):
        run_with_both("cpu", "own", tmp_path, "--time=0.6", "--report-interval=0.05", *options)
        [group] = json.loads((tmp_path / "json").read_text())["groups"]
        assert group["intervals"]
        assert not any("histograms" in record["raw"] for record in group["intervals"])


def test_the_journal_has_the_histograms_of_intervals(tmp_path):
    kill_after(tmp_path, 1, "cpu", "--cpu-max-prime=1000", "--threads=2", "--report-interval=0.2",
               PACKED, "--report=json:json", "run")
    lines = (tmp_path / "json.partial").read_text().split("\n")[:-1]
    written = [json.loads(line)["interval"] for line in lines if line.startswith('{"interval":')]
    assert written
    for record in written:
        assert documents.histogram(record) or record["figures"]["events"] == 0
        assert_percentiles(record)
    made = json.loads(report("--format=json", "json.partial", cwd=tmp_path).out)
    intervals = made["groups"][0]["intervals"]
    assert list(map(documents.histogram, intervals)) == list(map(documents.histogram, written))


# --- files that fail -----------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_said_before_the_run(tmp_path):
    done = bench.run("cpu", *bench.QUICK, "--report=json:no/json", "run", cwd=tmp_path)
    assert done.status == 1
    assert "cannot write the journal 'no/json.partial': No such file or directory" in done.err
    assert os.listdir(tmp_path) == []


def test_a_folder_that_vanishes_costs_the_document_alone(tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    process = subprocess.Popen(
        [bench.binary(), "cpu", "--time=30", "--report=text", "--report=json:there/json", "run"],
        env=bench.environment(), cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    await_ticks(folder / "json.partial", 1)
    folder.rename(tmp_path / "gone")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate()
    assert process.returncode == 128 + 15
    assert "total number of events:" in out
    assert "cannot write the result to 'there/json': No such file or directory" in err


def test_a_full_disk_costs_the_document_alone(tmp_path):
    done = bench.run("cpu", *bench.QUICK, "--report=text", "--report=json:/dev/full", "run")
    assert done.status == 1
    assert "total number of events:" in done.out
    assert done.err == "cannot write the result to '/dev/full': No space left on device\n"


def test_a_file_is_replaced_as_a_whole(tmp_path):
    (tmp_path / "json").write_text("old")
    os.link(tmp_path / "json", tmp_path / "other")
    done = bench.run("cpu", *bench.QUICK, "--report=json:json", "run", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    assert (tmp_path / "other").read_text() == "old"
    assert json.loads((tmp_path / "json").read_text())["version"] == 2


@pytest.mark.parametrize("target", ["json", "none", "/dev/null"])
def test_a_symbolic_link_is_refused_before_the_run(target, tmp_path):
    (tmp_path / "json").write_text("old")
    (tmp_path / "link").symlink_to(target)
    done = bench.run("cpu", "--time=5", "--report=json:link", "run", cwd=tmp_path)
    assert done.status == 1
    assert "--report=json:link: this is a symbolic link; name the file that it leads to" in done.out + done.err
    assert sorted(os.listdir(tmp_path)) == ["json", "link"]
    assert (tmp_path / "json").read_text() == "old"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400])
def test_a_file_keeps_its_rights(mode, tmp_path):
    (tmp_path / "json").write_text("old")
    (tmp_path / "json").chmod(mode)
    before = (tmp_path / "json").stat()
    done = bench.run("cpu", *bench.QUICK, "--report=json:json", "run", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    after = (tmp_path / "json").stat()
    assert after.st_ino != before.st_ino
    assert after.st_mode == before.st_mode
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_keeps_its_owner(tmp_path):
    (tmp_path / "json").write_text("old")
    os.chown(tmp_path / "json", 12345, 23456)
    assert bench.run("cpu", *bench.QUICK, "--report=json:json", "run", cwd=tmp_path).status == 0
    after = (tmp_path / "json").stat()
    assert (after.st_uid, after.st_gid) == (12345, 23456)


@pytest.mark.parametrize("mask, mode", [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_follows_the_umask(mask, mode, tmp_path):
    subprocess.run([bench.binary(), "cpu", *bench.QUICK, "--report=json:json", "run"], umask=mask,
                   env=bench.environment(), cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "json").stat().st_mode & 0o777 == mode


@pytest.mark.sanitized
def test_a_fifo_gets_the_document(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["cat", "fifo"], cwd=tmp_path, stdout=subprocess.PIPE) as reader:
        try:
            done = bench.run("cpu", *bench.QUICK, "--report=json:fifo", "run", cwd=tmp_path)
            assert (done.err, done.status) == ("", 0)
            assert json.loads(reader.communicate()[0])["version"] == 2
        finally:
            reader.kill()
    assert os.listdir(tmp_path) == ["fifo"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_names(name, tmp_path):
    """Also where it is a file, which must not be replaced."""
    with open(tmp_path / "out", "w") as out:
        out.write("before\n")
        out.flush()
        subprocess.run([bench.binary(), "cpu", *bench.QUICK, "--report=text", f"--report=json:{name}", "run"],
                       env=bench.environment(), cwd=tmp_path, check=True, stdout=out)
    text = (tmp_path / "out").read_text()
    assert text.startswith("before\n") and "total number of events:" in text
    assert json.loads(text[text.index("\n{") :])["version"] == 2
    assert os.listdir(tmp_path) == ["out"]


def test_other_descriptors_are_written_where_they_stand(tmp_path):
    with open(tmp_path / "out", "w") as out:
        out.write("before\n")
        out.flush()
        fd = out.fileno()
        subprocess.run([bench.binary(), "cpu", *bench.QUICK, f"--report=json:/dev/fd/{fd}", "run"],
                       env=bench.environment(), cwd=tmp_path, check=True, pass_fds=[fd],
                       stdout=subprocess.DEVNULL)
    first, rest = (tmp_path / "out").read_text().split("\n", 1)
    assert first == "before" and json.loads(rest)["version"] == 2
    done = bench.run("cpu", "--time=5", "--report=json:/dev/fd/999", "run", cwd=tmp_path)
    assert done.status == 1
    assert "--report=json:/dev/fd/999: this is not open for writing; name a file" in done.out + done.err


# --- documents of others -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    run_with_both("cpu", "own", folder, "--events=5", "--histogram")
    return (folder / "json").read_text()


def changed(text, path, value):
    """The document with one value replaced."""
    document = json.loads(text)
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return json.dumps(document)


TOTAL = ("groups", 0, "total")
PLAN = ("facts", "plan")


@pytest.mark.parametrize("path, value, why", [
    (("format",), "other", "its 'format' is not \"bench result\""),
    (("version",), 3, "it has version 3, this bench reads versions up to 2"),
    (("version",), "1", "it has no 'version'"),
    (("facts",), [], "it has no 'plan'"),
    ((*PLAN, "dialect"), "9", "'dialect' is '9', which this version does not know"),
    ((*PLAN, "threads"), -1, "'threads' is not a whole number, or is out of range"),
    ((*PLAN, "threads"), 2**40, "'threads' is not a whole number, or is out of range"),
    ((*PLAN, "interval_decimals"), 10**9, "'interval_decimals' is not between 0 and 9"),
    ((*PLAN, "percents"), [1] * 33, "'percents' has more than 32 values"),
    ((*PLAN, "debug"), 1, "'debug' is not a boolean"),
    (("groups", 0, "metrics"), [{"name": "x", "unit": "1", "kind": "counter"}],
     "counter 0 of 'metrics' is not 'other'"),
    (("groups", 0, "metrics", 0, "kind"), "odd", "'kind' is 'odd', which"),
    (("groups", 0, "metrics", 0, "kind"), "retries of a kind", "counter 0 of 'metrics' is not 'other'"),
    (("groups", 0, "metrics", 8, "kind"), "event kind", "the first histogram of 'metrics' is not 'latency'"),
    (("groups", 0, "metrics", 8, "kind"), "phase", "the first histogram of 'metrics' is not 'latency'"),
    (("groups",), {"a": 1}, "'groups' is not a list"),
    (("groups", 0, "metrics"), 7, "'metrics' is not a list"),
    (("groups", 0, "intervals"), {}, "'intervals' is not a list"),
    (("groups", 0, "checkpoints"), "x", "'checkpoints' is not a list"),
    ((*TOTAL, "kind"), 7, "'kind' is not a text"),
    ((*TOTAL, "figures", "events"), -1, "'events' is not a count"),
    ((*TOTAL, "figures", "events"), "18446744073709551616", "'events' is not a count"),
    ((*TOTAL, "figures", "at_s"), "x", "'at_s' is not a number"),
    ((*TOTAL, "raw", "counters"), 1, "'counters' is not a map"),
    ((*TOTAL, "raw", "histograms", "latency"), {"a": 1}, "'latency' is not a list"),
    ((*TOTAL, "raw", "histograms", "latency"), [["x", 1]], "'latency' is not a count"),
    ((*TOTAL, "raw", "histograms", "latency"), [1, 1.5], "'latency' is not a count"),
    ((*TOTAL, "raw", "histograms", "latency"), [1, -33793, 0], "'latency' has more than 33793 buckets"),
    ((*TOTAL, "raw", "histograms", "latency"), [-(2**63), -(2**63), 1], "'latency' has more than 33793 buckets"),
    ((*TOTAL, "raw", "histograms", "latency"), [1] * 33794, "'latency' has more than 33793 buckets"),
    ((*TOTAL, "raw", "fair_events"), ["1", "2", "x"], "'fair_events' does not hold three numbers"),
    ((*TOTAL, "workload"), [{"value": 1}], "a figure of 'workload' has no name"),
    ((*TOTAL, "workload"), [{"name": "x"}] * 65, "'workload' has more than 64 values"),
    ((*TOTAL, "timings"), [{"name": "x"}], "'timings' has more than 0 values"),
    (("groups", 0, "metrics"), [{"name": "x", "unit": "1", "kind": "histogram"}] * 513,
     "'metrics' has more than 512 values"),
    (("groups", 0, "metrics"), [{"name": "x" * 65, "unit": "1", "kind": "counter"}],
     "the name or unit of a metric has more than 64 bytes"),
    (("groups",), [{}] * 513, "'groups' has more than 512 values"),
    (("facts", "host"), {f"key{i}": i for i in range(4097)}, "'facts' has more than 4096 facts"),
    (("facts", "rows"), [{"level": 3, "text": "x"}] * 4097, "'rows' has more than 4096 values"),
    (("facts", "options"), [{"name": "x", "origin": "file"}] * 65537,
     "'options' has more than 65536 values"),
    (("groups", 0, "checkpoints"), [{"kind": "cpu"}] * 65537,
     "'checkpoints' has more than 65536 values"),
    ((*TOTAL, "sessions"), [{}] * 1000001, "'sessions' has more than 1000000 values"),
    slow((*TOTAL, "raw", "sessions"), [[]] * 1000001, "'sessions' has more than 1000000 values"),
])
def test_hostile_documents_are_refused(path, value, why, good, tmp_path):
    (tmp_path / "bad").write_text(changed(good, path, value))
    done = report("bad", cwd=tmp_path)
    assert (done.out, done.status) == ("", 1)
    assert done.err.startswith("bench report: 'bad' is not a result of bench: ")
    assert why in done.err


@pytest.mark.parametrize("length, status", [(243, 0), (244, 0), (247, 0), (248, 1)])
def test_a_name_that_is_too_long_is_refused_before_the_run(length, status, tmp_path):
    name = "x" * length
    (tmp_path / "x.lua").write_text('function event() print("an event") end\n')
    done = bench.run("./x.lua", "--events=1", f"--report=json:{name}", "run", cwd=tmp_path)
    assert done.status == status, done
    assert ("an event" in done.out) == (status == 0)
    assert (tmp_path / name).exists() == (status == 0)


NUMERIC = """comment_char %
escape_char /
LC_NUMERIC
decimal_point "<U002C>"
thousands_sep ""
grouping -1
END LC_NUMERIC
"""


@pytest.mark.skipif(shutil.which("localedef") is None, reason="no localedef")
def test_the_locale_of_a_script_does_not_reach_the_document(tmp_path):
    (tmp_path / "source").write_text(NUMERIC)
    subprocess.run(["localedef", "-c", "-i", "source", "./comma"], cwd=tmp_path, check=False,
                   capture_output=True, timeout=60)
    if not (tmp_path / "comma" / "LC_NUMERIC").exists():
        pytest.skip("localedef makes no locale of one category")
    (tmp_path / "x.lua").write_text(
        'assert(os.setlocale("comma", "numeric"))\n'
        "function event() end\n")
    done = bench.run("./x.lua", "--events=20", "--threads=3", *BOTH, "--report=csv-total:csv-total",
                     "--report=markdown:markdown", "run", cwd=tmp_path,
                     env={"LOCPATH": str(tmp_path)})
    assert done.status == 0, done
    for form in ("csv-total", "markdown"):
        assert report(f"--format={form}", "json", cwd=tmp_path).out == (tmp_path / form).read_text()
    total = json.loads((tmp_path / "json").read_text())["groups"][0]["total"]
    moments = [float.fromhex(x) for x in total["raw"]["fair_events"]]
    assert moments[:2] == [3, 20]
    done = report("json", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)


@pytest.mark.parametrize("rate, printed", [
    (3 * 2**20, "3Mb/sec"), (-1, "0b/sec"), (None, "1.6777e+07Tb/sec"), (1e300, "1.6777e+07Tb/sec"),
])
def test_a_hostile_rate_is_printed_as_the_nearest_size(rate, printed, tmp_path):
    run_with_both("fileio", "0.5", tmp_path, "--max-requests=20")
    path = (*TOTAL, "figures", "bytes_moved_per_s")
    (tmp_path / "bad").write_text(changed((tmp_path / "json").read_text(), path, rate))
    done = report("bad", cwd=tmp_path)
    assert done.status == 0, done
    assert f"({printed})\n" in done.out


@pytest.mark.parametrize("text", [
    "", "null", "{", "[" * 10000, '{"format": 1, "format": 2}', '{"version": 1e999}',
    '{"version": 99999999999999999999}', '{"format": "\udcff"}', '{"format":"bench journal"',
    '{"format":"bench journal"}\n', '{"format":"bench journal","version":1}\n',
])
def test_what_is_no_document_is_refused(text, tmp_path):
    (tmp_path / "bad").write_text(text, errors="surrogateescape")
    done = report("bad", cwd=tmp_path)
    assert (done.out, done.status) == ("", 1)
    assert done.err.startswith("bench report: 'bad' is not a result of bench: ")


HOSTILE = "\x1b]0;x\a\x1b[2J\r\x7f\u009b2K\u202egnp.exe \u00e4\u20ac"
SHOWN = (r"\x1b]0;x\x07\x1b[2J\x0d\x7f\xc2\x9b2K\xe2\x80\xaegnp.exe" + " \u00e4\u20ac")


@pytest.mark.sanitized
def test_a_document_cannot_steer_the_terminal(good, tmp_path):
    document = json.loads(good)
    document["facts"]["rows"] = [{"level": 3, "text": f"one\ntwo {HOSTILE}\n"}]
    figure = {"name": "x", "value": 1, "text": f"row\n{HOSTILE}"}
    document["groups"][0]["total"]["workload"] = [figure]
    document["facts"]["database"] = {"driver": f"d{HOSTILE}", "server_version": f"v{HOSTILE}"}
    document["facts"].setdefault("workload", {}).update(tables=f"t{HOSTILE}", rows=f"r{HOSTILE}")
    (tmp_path / "odd").write_text(json.dumps(document))
    done = report("odd", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    assert f"\nDatabase: d{SHOWN}, v{SHOWN}, t{SHOWN} tables x r{SHOWN} rows\n" in done.out
    # A row may have several lines, the name of a figure has one.
    assert f"\none\ntwo {SHOWN}\n" in done.out
    assert f"\nrow\\x0a{SHOWN}: 1.00\n" in done.out
    # The document itself is kept as it is.
    again = json.loads(report("--format=json", "odd", cwd=tmp_path).out)
    assert again["facts"]["rows"] == document["facts"]["rows"]
    assert again["groups"][0]["total"]["workload"] == [figure]


def test_a_refusal_quotes_no_control_characters(good, tmp_path):
    (tmp_path / "odd").write_text(changed(good, (*PLAN, "dialect"), "\x1b[2J\u009b"))
    done = report("odd", cwd=tmp_path)
    assert (done.out, done.status) == ("", 1)
    assert r"'dialect' is '\x1b[2J\xc2\x9b', which this version does not know" in done.err
    (tmp_path / "odd").write_bytes(b'{"format": \x1b[2J\x9b')
    done = report("odd", cwd=tmp_path)
    assert (done.out, done.status) == ("", 1)
    assert "\x1b" not in done.err


def test_a_line_that_is_passed_over_quotes_no_control_characters(good, tmp_path):
    facts = json.loads(good)["facts"]
    for text, shown in (b'{"tick": \x1b[2J\n', ""), (b'{"x": "\x9b2J"}\n', ""), (
            b'{"format": "x", "version": 1, "facts": {"plan": {"dialect": "\\u001b[2J\\u009b"}}}\n',
            r"'dialect' is '\x1b[2J\xc2\x9b', which"):
        first = json.dumps({"format": "bench journal", "version": 1, "facts": facts},
                           separators=(",", ":"))
        (tmp_path / "odd").write_bytes(first.encode() + b"\n" + text)
        done = report("odd", cwd=tmp_path)
        assert (done.status, "the first is line 2: " in done.err) == (0, True)
        assert shown in done.err
        assert not {"\x1b", "\x9b", "\ufffd"} & set(done.err)


def test_histograms_are_counted_among_the_metrics(good, tmp_path):
    """Each would take 270 KiB of memory."""
    document = json.loads(good)
    more = [{"name": f"h{i}", "unit": "ns", "kind": "histogram"} for i in range(96)]
    document["groups"][0]["metrics"] += more
    (tmp_path / "bad").write_text(json.dumps(document))
    assert "'metrics' has more than 96 histograms" in report("bad", cwd=tmp_path).err
    del document["groups"][0]["metrics"][-1]
    (tmp_path / "good").write_text(json.dumps(document))
    assert report("good", cwd=tmp_path).status == 0


def test_a_journal_has_the_bounds_of_a_document(good, tmp_path):
    document = json.loads(good)
    [group] = document["groups"]
    lines = [{"format": "bench journal", "version": 1, "facts": document["facts"]}]
    lines += [{"group": {"name": "x", "metrics": group["metrics"]}}] * 512
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (tmp_path / "good").write_text(text)
    assert report("good", cwd=tmp_path).status == 0
    (tmp_path / "bad").write_text(text + text.splitlines()[1] + "\n")
    done = report("bad", cwd=tmp_path)
    assert done.status == 0
    assert ("the journal is read up to line 514, which is too large: 'groups' has more than 512 values\n"
            in done.err)
    assert len(json.loads(report("--format=json", "bad", cwd=tmp_path).out)["groups"]) == 512


LARGE = "'huge' has more than %d MiB; if it is a result of bench, set --max-document-size\n"


@pytest.mark.parametrize("subcommand", ["report", "merge", "compare", "history", "plot"])
def test_a_document_is_refused_for_its_size(subcommand, good, tmp_path):
    """Unless an option says otherwise; a sparse one is not read, and one without a size is not read to its end."""
    (tmp_path / "good").write_text(good)
    with open(tmp_path / "huge", "w", encoding="ascii") as huge:
        huge.write("{")
        huge.truncate((64 << 20) + 1)
    files = ["huge", "good"] if subcommand in ("merge", "compare") else ["huge"]
    done = bench.run(subcommand, *files, cwd=tmp_path)
    assert done == ("", f"bench {subcommand}: " + LARGE % 64, 1)
    done = bench.run(subcommand, "--max-document-size=1M", *files, cwd=tmp_path)
    assert done == ("", f"bench {subcommand}: " + LARGE % 1, 1)
    done = bench.run(subcommand, "--max-document-size=65M", *files, cwd=tmp_path)
    assert done.status == 1 and "is not a result of bench: line 1:" in done.err


@pytest.mark.parametrize("file", ["/dev/zero", "zeros"])
def test_the_first_byte_of_a_document_is_looked_at_first(file, tmp_path):
    with open(tmp_path / "zeros", "w", encoding="ascii") as zeros:
        zeros.truncate(9 << 30)
    done = report(file, cwd=tmp_path)
    assert done.status == 1 and done.err.startswith(f"bench report: '{file}' is not a result of bench: line 1: ")


def test_blanks_without_end_are_no_document():
    process = subprocess.Popen(["yes", ""], stdout=subprocess.PIPE)
    done = report("-", stdin=process.stdout)
    process.kill()
    process.wait()
    process.stdout.close()
    assert (done.status, done.err) == (1, "bench report: " + LARGE.replace("huge", "-") % 64)


def test_blanks_may_precede_a_document(good, tmp_path):
    (tmp_path / "good").write_text(" \n\t" + good)
    assert report("good", cwd=tmp_path).status == 0


@pytest.mark.slow
def test_a_journal_may_be_as_long_as_it_likes(tmp_path):
    """What stands behind a line without an end is not read."""
    kill_after(tmp_path, 2, "cpu", "--report=json:json", "run")
    whole = (tmp_path / "json.partial").read_bytes()
    whole = whole[: whole.rindex(b"\n") + 1]
    (tmp_path / "whole").write_bytes(whole)
    with open(tmp_path / "huge", "wb") as huge:
        huge.write(whole)
        huge.truncate(9 << 30)
    done = report("huge", cwd=tmp_path)
    assert (done.out, done.status) == (report("whole", cwd=tmp_path).out, 0)
    assert (f"'huge': the journal is read up to line {whole.count(10) + 1}, which is too large: "
            "it has more than 64 MiB\n") in done.err
    # Lines of 63 MiB that say nothing.
    (tmp_path / "long").write_bytes(whole + (b'{"x": "%s"}\n' % (b"x" * (63 << 20))) * 2)
    done = report("long", cwd=tmp_path)
    assert (done.out, "too large" in done.err) == (report("whole", cwd=tmp_path).out, False)


# Under ThreadSanitizer it takes a minute to count them.
if not os.environ.get("BENCH_SANITIZER"):

    @pytest.mark.slow
    def test_a_document_of_too_many_values_is_not_parsed(tmp_path):
        """2^28 of them would take 32 GiB."""
        with open(tmp_path / "many", "w") as many:
            many.write('{"x": "\\",[[", "y": ')
            for _ in range(257):
                many.write("[" * (1 << 20))
        done = report("many", "--max-document-size=1G", cwd=tmp_path)
        assert done == ("", "bench report: 'many' is not a result of bench: it has more than 268435456 values\n", 1)


@pytest.mark.parametrize("drop", ["percentiles", "timings", "workload", "sessions", "raw",
                                  "figures", "running"])
def test_what_is_missing_counts_as_nothing(drop, good, tmp_path):
    document = json.loads(good)
    del document["groups"][0]["total"][drop]
    (tmp_path / "less").write_text(json.dumps(document))
    done = report("less", cwd=tmp_path)
    said = "'less' has no histograms (--report-bins=none): --histogram prints nothing\n"
    assert (done.err, done.status) == (said if drop == "raw" else "", 0)
    assert "total number of events:" in done.out


def test_cut_documents_are_refused(good, tmp_path):
    for n in range(0, len(good) - 2, max(1, len(good) // 40)):
        (tmp_path / "cut").write_text(good[:n])
        assert report("cut", cwd=tmp_path).status == 1


def test_a_file_that_is_not_there(tmp_path):
    assert report("none", cwd=tmp_path) == (
        "", "bench report: cannot open 'none': No such file or directory\n", 1)
    assert report(tmp_path).status == 1


# --- what must not be lost, and what must not be told -----------------------------------------------


@pytest.mark.parametrize("path, why", [("", "the name is empty"), (".", "this is a folder")])
def test_a_file_that_cannot_be_is_refused_before_the_run(path, why, tmp_path):
    done = bench.run("cpu", f"--report=json:{path}", "--time=5", "run", cwd=tmp_path)
    assert done.status == 1
    assert f"--report=json:{path}: {why}; name a file" in done.out + done.err
    assert os.listdir(tmp_path) == []


def test_a_connection_of_the_top_level_is_told(tmp_path):
    (tmp_path / "early.lua").write_text("con = sysbench.sql.driver():connect()\nfunction event() end\n")
    done = bench.run("./early.lua", "--db-driver=sqlite", "--sqlite-db=x.db", "--events=3",
                     "--report=json:json", "run", cwd=tmp_path)
    assert done.status == 0
    facts = json.loads((tmp_path / "json").read_text())["facts"]
    assert facts["database"]["driver"] == "sqlite"
    assert facts["program"]["name"] == "bench"


def test_the_reporting_instance_may_be_the_first_to_connect(tmp_path):
    """Its top level runs inside the book of the run."""
    (tmp_path / "late.lua").write_text("""
if sysbench.tid > 0 then con = sysbench.sql.driver():connect() end
function event() end
function sysbench.hooks.report_intermediate(s) end
""")
    done = bench.run("./late.lua", "--db-driver=sqlite", "--sqlite-db=x.db", "--time=0.5", "--threads=1",
                     "--report-interval=0.1", "--report=text", "--report=json:json", "run", cwd=tmp_path)
    assert done.status == 0
    assert json.loads((tmp_path / "json").read_text())["facts"]["database"]["driver"] == "sqlite"


@pytest.mark.parametrize("name", ["mysql-pasword", "mysql_passwd", "my-secret", "app-password"])
def test_a_mistyped_password_is_not_kept(name, tmp_path):
    """A script without options takes any."""
    (tmp_path / "any.lua").write_text("function event(id) end\n")
    done = bench.run("--test=./any.lua", f"--{name}=hunter2", "--max-requests=3", "--report=json:json", "run",
                     dialect="0.5", cwd=tmp_path)
    assert done.status == 0, done
    text = (tmp_path / "json").read_text()
    assert name.replace("_", "-") in text.replace("_", "-") and "hunter2" not in text


@pytest.mark.slow
def test_ticks_are_small_whatever_the_threads(tmp_path):
    """Sessions one by one would be 140 bytes each, every second."""
    kill_after(tmp_path, 2, "cpu", "--threads=64", "--report=json:json", "run")
    ticks = ticks_of(tmp_path / "json.partial")
    assert ticks and all(tick["sessions"] == [] for tick in ticks)
