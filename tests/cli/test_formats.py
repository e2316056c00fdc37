# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that csv, jsonl, csv-total and markdown have the figures of the JSON document of their run,
in the run and later, that rows of many runs share a file, and that no file breaks a table."""

import csv
import datetime
import errno
import io
import json
import re
import os
import resource
import signal
import subprocess

import pytest

import bench
from files import build_faults, with_fault
from gate import diagonal, slow

FORMS = ("csv", "jsonl", "csv-total", "markdown")
REPORTS = [f"--report={name}:{name}" for name in ("text", "json", *FORMS)]
RUN = ["cpu", "--cpu-max-prime=2000", "--threads=2", "--percentile=95,50,99.9"]
SHORT = ["cpu", *bench.QUICK]
HOSTILE = '=HYPERLINK("x")|a\n\x1b[31m<b>`,'


def later(form, *files, **kwargs):
    done = bench.run("report", f"--format={form}", *files, **kwargs)
    assert done.status == 0, done
    return done.out


def rows(text):
    """Dictionaries of the rows; each has all columns and no other."""
    first, *others = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert len(first) == len(set(first))
    assert all(len(row) == len(first) for row in others)
    return [dict(zip(first, row)) for row in others]


def number(cell):
    return None if cell == "" else float(cell)


def percentiles(record):
    return {f"p{p['percent']:g}_s": p["s"] for p in record["percentiles"]}


def stamp(ns):
    at = datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{ns % 10**9 // 10**6:03}"


@pytest.fixture(name="ran", scope="module")
def fixture_ran(tmp_path_factory):
    """The folder of a run with every report."""
    folder = tmp_path_factory.mktemp("run")
    done = bench.run(*RUN, "--time=1.2", "--report-interval=0.2", "--report-checkpoints=1",
                     "--rand-seed=7", *REPORTS, "run", cwd=folder)
    assert done.status == 0 and done.err == "", done
    return folder


def document(folder):
    return json.loads((folder / "json").read_text())


def test_rows_of_intervals_have_the_figures_of_the_document(ran):
    intervals = document(ran)["groups"][0]["intervals"]
    table = rows((ran / "csv").read_text())
    objects = [json.loads(line) for line in (ran / "jsonl").read_text().splitlines()]
    assert len(table) == len(objects) == len(intervals) >= 1
    for row, line, record in zip(table, objects, intervals):
        known = {**record["figures"], "running": record["running"], **percentiles(record)}
        assert line.pop("time") == row["time"] + "Z" and row.pop("time") == stamp(record["raw"]["wall_ns"])
        assert {name: number(cell) for name, cell in row.items()} == line == known
        assert list(row) == list(line)
    assert list(table[0])[:3] == ["at_s", "span_s", "running"]
    assert list(table[0])[-3:] == ["p95_s", "p50_s", "p99.9_s"]


def test_the_row_of_a_run_has_the_figures_of_the_document(ran):
    whole = document(ran)
    total = whole["groups"][0]["total"]
    (row,) = rows((ran / "csv-total").read_text())
    for name, value in {**total["figures"], **percentiles(total)}.items():
        assert number(row.pop(name)) == value, name
    assert row == {
        "time": stamp(whole["facts"]["times"]["start_wall_ns"]), "workload": "cpu", "driver": "",
        "server_version": "", "client_version": "", "tables": "", "table_rows": "", "host": whole["facts"]["host"]["name"],
        "bench_version": whole["facts"]["program"]["version"], "dialect": "bench", "threads": "2",
        "time_limit_s": "1.2", "event_limit": "0", "warmup_s": "0.0", "rate": "0.0", "seed": "7",
        "status": "0",
    }


@pytest.mark.slow
def test_pandas_finds_the_types(ran, tmp_path):
    """Those that the schema of the document states, whatever the values are, and times."""
    pandas = pytest.importorskip("pandas")
    for form in ("csv", "csv-total"):
        got = pandas.read_csv(ran / form, parse_dates=["time"])
        assert got["time"].dtype == "datetime64[ns]"
        figures = document(ran)["groups"][0]["total"]["figures"]
        for name, value in figures.items():
            if name in got and got[name].notna().all():
                assert got[name].dtype == type(value), name
        assert got["events"].dtype == int and got["p99.9_s"].dtype == float
    assert got["workload"][0] == "cpu" and got["threads"].dtype == int


@pytest.mark.parametrize("form", FORMS)
def test_a_saved_result_prints_what_the_run_wrote(ran, form):
    assert later(form, "json", cwd=ran) == (ran / form).read_text()


def test_several_files_make_one_table(ran):
    for form, each in (("csv", len(rows((ran / "csv").read_text()))), ("csv-total", 1)):
        assert len(rows(later(form, "json", "json", "json", cwd=ran))) == 3 * each
    assert later("jsonl", "json", "json", cwd=ran) == 2 * (ran / "jsonl").read_text()


@pytest.mark.parametrize("form", ("csv", "csv-total"))
def test_files_with_other_columns_do_not_make_one_table(ran, tmp_path, form):
    done = bench.run(*SHORT, "--percentile=42", "--time=0.3", "--report-interval=0.05",
                     "--events=0", "--report=json:other", "run", cwd=tmp_path)
    assert done.status == 0, done
    done = bench.run("report", f"--format={form}", ran / "json", "other", cwd=tmp_path)
    assert done.status == 1 and (done.out == "" or form == "csv")
    assert done.err == ("bench report: the files have different columns, which depend on "
                        "--percentile and on the groups, kinds of events, phases and metrics; "
                        "print them one by one\n")


def test_a_number_that_nobody_knows_is_an_empty_cell(ran, tmp_path):
    changed = document(ran)
    record = changed["groups"][0]["intervals"][0]
    record["percentiles"][0]["s"] = record["figures"]["max_s"] = record["figures"]["events"] = None
    (tmp_path / "changed").write_text(json.dumps(changed))
    row = rows(later("csv", "changed", cwd=tmp_path))[0]
    line = json.loads(later("jsonl", "changed", cwd=tmp_path).splitlines()[0])
    for name in ("p95_s", "max_s", "events"):
        assert (row[name], line[name]) == ("", None)


def test_rows_of_a_file_without_percentiles(tmp_path):
    done = bench.run(*SHORT, "--percentile=0", "--report=csv-total:t", "--report=json:json", "run",
                     cwd=tmp_path)
    assert done.status == 0, done
    assert list(rows((tmp_path / "t").read_text())[0])[-1] == "fair_time_dev"


# --- markdown ---

def table(text):
    """Label and cells of each row."""
    lines = [line.replace("\\|", "¦") for line in text.splitlines()]
    assert all(line.startswith("|") and line.endswith("|") for line in lines)
    split = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    assert len({len(cells) for cells in split}) == 1
    assert set("".join(split[1])) <= set("-:")
    return {label: cells for label, *cells in [split[0], *split[2:]]}


def test_markdown_shows_what_people_compare(ran):
    total = document(ran)["groups"][0]["total"]["figures"]
    got = table((ran / "markdown").read_text())
    assert got[""] == ["value"] and got["workload"] == ["cpu"] and got["threads"] == ["2"]
    assert got["events/s"] == [f"{total['events_per_s']:.2f}"]
    assert got["ignored errors"] == ["0"]
    ranks = [label for label in got if "percentile" in label]
    assert ranks == [f"latency {p}th percentile (ms)" for p in ("50", "95", "99.9")]
    for label, name in (("min", "min_s"), ("avg", "avg_s"), ("max", "max_s")):
        cell = float(got[f"latency {label} (ms)"][0])
        assert cell == pytest.approx(total[name] * 1000, rel=6e-3)


def test_markdown_has_a_column_for_each_file(ran, tmp_path):
    done = bench.run("oltp_read_only", "--db-driver=null", "--events=20", "--time=0",
                     "--report=json:sql|json", "run", cwd=tmp_path)
    assert done.status == 0, done
    got = table(later("markdown", ran / "json", "sql|json", cwd=tmp_path))
    assert got[""] == [str(ran / "json"), "sql¦json"]
    assert got["workload"] == ["cpu", "oltp_read_only"]
    assert got["database"] == ["", "null"]
    assert got["latency 50th percentile (ms)"][1] == "" != got["latency 95th percentile (ms)"][1]
    figures = json.loads((tmp_path / "sql|json").read_text())["groups"][0]["total"]["figures"]
    assert got["queries/s"] == ["", f"{figures['queries_per_s']:.2f}"]


def test_a_lower_bound_keeps_its_sign():
    """The sign stands before all digits: an event hangs beyond the end, which is unfinished."""
    done = bench.run("oltp_point_select", "--db-driver=null", "--null-latency=fixed:700ms", "--threads=1", "--time=1",
                     "--time-grace=0.1", "--report=markdown", "run")
    got = table(done.out)
    assert re.fullmatch(r"≥[0-9]+\.[0-9][0-9]", got["latency max (ms)"][0])


def test_fileio_and_memory_have_bytes(tmp_path):
    args = ["fileio", "--file-num=1", "--file-total-size=1M", "--file-test-mode=rndrw"]
    assert bench.run(*args, "prepare", cwd=tmp_path).status == 0
    done = bench.run(*args, "--events=50", "--time=0", "--report=markdown:m", "run", cwd=tmp_path)
    assert done.status == 0
    got = table((tmp_path / "m").read_text())
    assert float(got["read (MiB/s)"][0]) > 0 and float(got["written (MiB/s)"][0]) > 0
    done = bench.run("memory", "--memory-total-size=1M", "--report=markdown", "run")
    assert float(table(done.out)["transferred (MiB/s)"][0]) > 0


# --- texts of others ---

@pytest.mark.sanitized
def test_texts_of_a_file_break_no_table(ran, tmp_path):
    changed = document(ran)
    changed["facts"]["database"] = {"driver": HOSTILE, "server_version": "-1+1"}
    changed["facts"]["workload"]["name"] = "@SUM(1)"
    (tmp_path / "changed").write_text(json.dumps(changed))
    text = later("csv-total", "changed", cwd=tmp_path)
    (row,) = rows(text)
    assert row["driver"] == "'" + HOSTILE.replace("\n", "\\x0a").replace("\x1b", "\\x1b")
    assert (row["server_version"], row["workload"]) == ("'-1+1", "'@SUM(1)")
    assert len(text.splitlines()) == 2
    text = later("markdown", "changed", cwd=tmp_path)
    assert "\x1b" not in text and "\\<b\\>\\`" in text
    table(text)


# --- files ---

def test_processes_append_at_once(tmp_path):
    command = [bench.binary(), *SHORT, "--report=csv-total:t", "run"]
    runs = [subprocess.Popen(command, cwd=tmp_path, env=bench.environment()) for _ in range(8)]
    assert [run.wait(bench.TIMEOUT_S) for run in runs] == [0] * 8
    text = (tmp_path / "t").read_text()
    assert text.count("workload") == 1 and text.endswith("\n")
    assert [row["events"] for row in rows(text)] == ["1"] * 8


def test_a_file_with_other_columns_is_refused_before_the_run(tmp_path):
    path = tmp_path / "t"
    for text in ("a,b\n", "time\n", "\n"):
        path.write_text(text)
        done = bench.run(*SHORT, "--report=csv-total:t", "run", cwd=tmp_path)
        assert (done.status, path.read_text()) == (1, text)
        assert done.err == (
            "FATAL: --report=csv-total:t: the first line of this file does not name the columns of "
            "this run, which depend on --percentile, on the groups, kinds of events, phases and "
            "metrics, and on the version of bench; name another file\n")


def test_a_file_system_without_locks_will_do(tmp_path):
    library = build_faults(tmp_path)
    for error, status in ((errno.ENOSYS, 0), (errno.ENOLCK, 0), (errno.EBADF, 1)):
        done = bench.run(*SHORT, "--report=csv-total:t", "run", cwd=tmp_path, env=with_fault(library, "flock", 0, error))
        assert done.status == status, done
    assert len(rows((tmp_path / "t").read_text())) == 2


def test_a_last_line_without_an_end_gets_one(tmp_path):
    for _ in range(2):
        assert bench.run(*SHORT, "--report=csv-total:t", "run", cwd=tmp_path).status == 0
        text = (tmp_path / "t").read_text()
        (tmp_path / "t").write_text(text[:-1])
    assert len(rows(text)) == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_spoils_neither_the_other_report_nor_the_status(form):
    done = bench.run(*RUN, "--time=0.2", "--report-interval=0.02", f"--report={form}:/dev/full",
                     "--report=text", "run")
    assert done.status == 1
    assert "total number of events" in done.out
    where = " to '/dev/full'" if form in ("csv-total", "markdown") else ""
    assert f"cannot write the report{where}: No space left on device\n" in done.err


def test_a_table_is_whole_or_not_there(tmp_path):
    (tmp_path / "t").write_text("before\n")
    done = bench.run(*SHORT, "--report=markdown:t", "--report=text", "run", cwd=tmp_path,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (99, 99)))
    assert done.status == 1 and "total number of events" in done.out
    assert done.err == "report not complete: cannot write the report to 't': File too large\n"
    assert (tmp_path / "t").read_text() == "before\n" and os.listdir(tmp_path) == ["t"]


@pytest.mark.parametrize("form, fault", diagonal(
    FORMS + ("text", "hdr", "json", "openmetrics"),
    ("--report=json:none/file", "--report=jsonl", "--wrong", "--assert=p99@read<1ms")))
def test_a_run_that_does_not_begin_leaves_the_file(form, fault, tmp_path):
    (tmp_path / "t").write_text("before\n")
    interval = ["--report-interval=1"] if form in ("csv", "jsonl") else []
    fault = "--report=text:none/file" if interval and fault == "--report=jsonl" else fault
    done = bench.run("memory", *interval, f"--report={form}:t", fault, "run", cwd=tmp_path)
    assert done.status == 1, done
    assert (tmp_path / "t").read_text() == "before\n" and os.listdir(tmp_path) == ["t"]


@pytest.mark.parametrize("form", ("text", "csv", "jsonl", "hdr", "markdown", "json", "openmetrics"))
def test_a_run_with_nothing_to_say_leaves_nothing_of_another_run(form, tmp_path):
    (tmp_path / "t").write_text("before\n" * 1000)
    done = bench.run(*SHORT, "--report-interval=60", "--verbosity=0", f"--report={form}:t", "run", cwd=tmp_path)
    assert done.status == 0 and "before" not in (tmp_path / "t").read_text()


@pytest.mark.parametrize("form", ("text", "csv", slow("jsonl"), slow("hdr")))
def test_a_file_ends_before_what_does_not_fit(form, tmp_path):
    """No line is cut, and none follows one that is missing, except in the text: its final report is worth most."""
    def run(name, size):
        def confine():
            # ThreadSanitizer writes a file before it starts the program.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        done = bench.run(*RUN, "--time=0.3", "--report-interval=0.02", f"--report={form}:{name}", "--report=text",
                         "run", cwd=tmp_path, preexec_fn=confine)
        return done, (tmp_path / name).read_text()

    done, whole = run("whole", 10**9)
    assert done.status == 0, done
    first = whole.index("\n") + 1
    for size in (0, 1, first - 1, first + 99):
        done, text = run(f"cut{size}", size)
        assert done.status == 1 and "total number of events" in done.out
        assert "report not complete: cannot write the report: File too large\n" in done.err
        assert len(text) <= size and (text == "" or text.endswith("\n"))
        assert form in ("jsonl", "text") or text.splitlines()[:1] in ([], whole.splitlines()[:1])


@pytest.mark.sanitized
def test_half_a_row_is_taken_back(tmp_path):
    assert bench.run(*SHORT, "--report=csv-total:t", "run", cwd=tmp_path).status == 0
    path = tmp_path / "t"
    before = path.read_bytes()
    limit = len(before) + 20
    done = bench.run(*SHORT, "--report=csv-total:t", "--report=text", "run", cwd=tmp_path,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.status == 1
    assert done.err == "cannot write the report to 't': File too large\n"
    assert path.read_bytes() == before and "total number of events" in done.out


def test_a_link_is_refused(tmp_path):
    (tmp_path / "t").symlink_to("victim")
    done = bench.run(*SHORT, "--report=csv-total:t", "run", cwd=tmp_path)
    assert done.status == 1 and "'t': it is a symbolic link" in done.err
    assert not (tmp_path / "victim").exists()


def test_two_reports_do_not_share_a_file(tmp_path):
    done = bench.run(*SHORT, "--report=csv:t", "--report=jsonl:./t", "run", cwd=tmp_path)
    assert done.status == 1
    assert done.err == ("--report=jsonl:./t: another --report uses this file too; name another "
                        "file\n")


# --- standard output ---

@pytest.mark.parametrize("form", ("csv", "jsonl"))
def test_intervals_need_an_interval(form):
    done = bench.run(*SHORT, f"--report={form}", "run")
    assert done.status == 1
    assert done.err == (f"FATAL: --report={form} writes a row for each interval, but there are "
                        "no intervals; set their length (--report-interval=1)\n")


def test_standard_output_has_the_report_alone():
    done = bench.run(*RUN, "--time=0.3", "--report-interval=0.05", "--report=csv:-", "run")
    intervals = rows(done.out)
    # A machine that stands still makes the run longer, and then there are more of them.
    assert done.status == 0 and 1 <= len(intervals) <= float(intervals[-1]["at_s"]) / 0.05 + 0.01
    for path in ("-", "/dev/stdout"):
        done = bench.run(*SHORT, f"--report=csv-total:{path}", "run")
        assert done.status == 0 and len(rows(done.out)) == 1


def test_a_run_that_fails_has_a_row_with_its_status(tmp_path):
    (tmp_path / "fails.lua").write_text("function thread_init() error('no') end\n"
                                        "function event() end\n")
    done = bench.run("./fails.lua", "--events=1", "--report=csv-total:t", "run", cwd=tmp_path)
    assert done.status == 1
    (row,) = rows((tmp_path / "t").read_text())
    assert (row["status"], row["events"], row["p95_s"]) == ("1", "", "")


def test_the_forms_of_a_report_are_those_of_a_run():
    reports = bench.run("cpu", "--report=none", "run").err.split("allowed: ")[1]
    formats = bench.run("report", "--format=none", "file").err.split("allowed: ")[1]
    assert reports == formats
    assert all(name in reports.strip().split(", ") for name in ("text", "json", *FORMS))


@pytest.mark.parametrize("ranks,shown", [("50,99,95", " lat (ms,99%): "), ("0", None)])
def test_interval_lines_show_the_greatest_rank_or_none(ranks, shown):
    """In a dialect, as sysbench, the first one."""
    args = ["cpu", "--time=1", "--report-interval=0.2", f"--percentile={ranks}", "run"]
    lines = [line for line in bench.run(*args).out.splitlines() if "s ] thds: " in line]
    assert lines and all((shown or "eps") in line and (shown is None) == ("lat (ms" not in line) for line in lines)
