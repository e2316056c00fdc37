# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that --assert compares what was measured with limits, says so in report and document, and exits
with status 3, and that --abort-on-assert ends a run early."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

import bench
from gate import slow

CPU = ["cpu", "--cpu-max-prime=1000", "--events=100", "--time=0"]
BOTH = ["--report=text:text", "--report=json:json"]
DIALECTS = ("1.1", "1.0", "0.5")

FAST = """
function event() end
"""
SLOW = """
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(20000) end
"""
# Half of all attempts end in an error that is ignored.
ERRORS = """
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t (id INTEGER PRIMARY KEY)")
  con:query("INSERT INTO t VALUES (1)")
  n = 0
end
function event()
  n = n + 1
  con:query(n % 2 == 1 and "INSERT INTO t VALUES (1)" or "SELECT * FROM t")
end
"""


def script(folder, text):
    (folder / "own.lua").write_text(text)
    return "./own.lua"


def asserted(*texts):
    return [f"--assert={text}" for text in texts]


def list_of(text):
    """[(assertion, value, verdict)] of a report."""
    part = text.split("\nAssertions:\n")[1].split("\n\n")[0]
    return [re.fullmatch(r"    (.+): +((?:at least )?[\d.]+ ?\S*|not measured) (ok|FAILED.*)", line).groups()
            for line in part.split("\n")]


def document(folder):
    return json.loads((folder / "json").read_text())


def test_assertions_that_hold(tmp_path):
    texts = ["p99<50s", "p99.9 <= 50s", "tps>1", "errors<0.1%", "events>=100", "max<1000s", "span_s>1ns"]
    got = bench.run(*CPU, *asserted(*texts), "run")
    assert (got.err, got.status) == ("", 0)
    rows = list_of(got.out)
    assert [row[0] for row in rows] == texts
    assert {row[2] for row in rows} == {"ok"}
    assert rows[3][1] == "0.00 %" and rows[4][1] == "100"
    assert got.out.endswith("\n\n")


def test_one_that_does_not_hold(tmp_path):
    got = bench.run(*CPU, *asserted("p99<1ns", "events>100,events<=100"), "run")
    assert got.status == 3
    rows = list_of(got.out)
    assert [(row[0], row[2]) for row in rows] == [
        ("p99<1ns", "FAILED"), ("events>100", "FAILED"), ("events<=100", "ok")]
    assert got.err.split("\n") == [f"--assert=p99<1ns does not hold: {rows[0][1]}",
                                   "--assert=events>100 does not hold: 100", ""]


def test_each_form_of_the_issue(tmp_path):
    """On fileio, which measures everything; each is true of the figures of its document."""
    mode = ["fileio", "--file-test-mode=rndrw", "--file-num=2", "--file-total-size=1M"]
    assert bench.run(*mode, "prepare", cwd=tmp_path).status == 0
    texts = ["p99<50ms", "tps>1000", "errors<0.1%", "p99.9@read<2ms", "mib_per_s>100", "qps>1",
             "p50@fsync<=1s", "max@write<10s", "avg@read_latency<10s", "median<10s", "bytes_read>0"]
    got = bench.run(*mode, "--events=500", "--percentile=99", *asserted(*texts), *BOTH, "run", cwd=tmp_path)
    saved = document(tmp_path)
    found = {row["text"]: row for row in saved["assertions"]}
    assert list(found) == texts
    total = saved["groups"][0]["total"]
    figures = total["figures"]
    [p99] = total["percentiles"]
    timings = {row["name"]: row for row in total["timings"]}
    values = {
        "p99<50ms": p99["s"] * 1e3, "tps>1000": figures["transactions_per_s"], "errors<0.1%": 0,
        "mib_per_s>100": figures["bytes_moved_per_s"] / 2**20, "qps>1": figures["queries_per_s"],
        "max@write<10s": timings["write_latency"]["max_s"],
        "avg@read_latency<10s": timings["read_latency"]["avg_s"], "median<10s": figures["median_s"],
        "bytes_read>0": figures["bytes_read"],
    }
    for text, value in values.items():
        assert found[text]["value"] == pytest.approx(value, rel=1e-12), text
    units = {text: row["unit"] for text, row in found.items()}
    assert units["p99.9@read<2ms"] == "ms" and units["errors<0.1%"] == "%"
    assert units["mib_per_s>100"] == "MiB/s" and units["tps>1000"] == "1/s"
    limits = {"p99<50ms": 50, "p99.9@read<2ms": 2}
    for text, limit in limits.items():
        assert found[text]["holds"] == (found[text]["value"] < limit)
    assert found["tps>1000"]["holds"] == (values["tps>1000"] > 1000)
    holds = all(row["holds"] for row in found.values())
    assert got.status == saved["end"]["status"] == (0 if holds else 3)


@pytest.mark.parametrize("dialect", ["own", slow("1.1"), slow("1.0"), "0.5"])
def test_the_saved_report_is_the_one_of_the_run(dialect, tmp_path):
    first = ["--test=cpu", "--max-requests=50"] if dialect == "0.5" else ["cpu", "--events=50"]
    bench.run(*first, "--cpu-max-prime=1000", *asserted("p99<1ns", "tps>1"), *BOTH, "run", dialect=dialect,
              cwd=tmp_path)
    text = (tmp_path / "text").read_text()
    assert ("Assertions" in text) == (dialect == "own")
    assert bench.run("report", "json", cwd=tmp_path) == (text, "", 0)
    saved = document(tmp_path)
    assert [row["holds"] for row in saved["assertions"]] == [False, True]
    assert saved["end"]["status"] == 3
    again = json.loads(bench.run("report", "--format=json", "json", cwd=tmp_path).out)
    assert again == saved


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_prints_what_it_printed(dialect):
    first = ["--test=cpu", "--max-requests=1"] if dialect == "0.5" else ["cpu", "--events=1"]
    args = [*first, "--cpu-max-prime=3"]
    with_them = bench.run(*args, *asserted("tps>1", "p99<1ns"), "run", dialect=dialect)
    without = bench.run(*args, "run", dialect=dialect)

    def lines(out):
        return re.sub(r"[\d.]+|\s+", " ", out)

    assert lines(with_them.out) == lines(without.out)
    assert (without.status, with_them.status) == (0, 3)
    assert re.fullmatch(r"--assert=tps>1 holds: [\d.]+/s\n--assert=p99<1ns does not hold: [\d.]+ ns\n",
                        with_them.err)


def test_no_assertions_no_trace(tmp_path):
    got = bench.run(*CPU, *BOTH, "run", cwd=tmp_path)
    assert got.status == 0
    assert "assertions" not in document(tmp_path)
    assert "Assertions" not in (tmp_path / "text").read_text()


def test_a_quiet_run_has_its_status():
    got = bench.run(*CPU, "--verbosity=0", *asserted("tps<1"), "run")
    assert "Assertions" not in got.out and got.status == 3
    assert got.err.startswith("--assert=tps<1 does not hold: ")


def test_from_a_file(tmp_path):
    (tmp_path / "bench.cnf").write_text("assert = tps<1\n")
    got = bench.run(*CPU, "--config-file=bench.cnf", *asserted("events<200"), "run", cwd=tmp_path)
    assert got.status in (0, 3)
    assert [row[0] for row in list_of(got.out)][-1] == "events<200"


@pytest.mark.sanitized
def test_errors_of_sql(tmp_path):
    name = script(tmp_path, ERRORS)
    got = bench.run(name, "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=20",
                    *asserted("errors<0.1%", "errors<=50%", "errors<=20", "p99@sql_execute<1s"), "run", cwd=tmp_path)
    assert (got.status, "--assert=p99@sql_execute<1s: the run has no latency called" in got.err) == (1, True)
    got = bench.run(name, "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=20", "--db-debug",
                    *asserted("errors<0.1%", "errors<=50%", "errors<=20", "p99@sql_execute<100s"), "run", cwd=tmp_path)
    assert got.status == 3
    assert [row[1:] for row in list_of(got.out)][:3] == [("50.00 %", "FAILED"), ("50.00 %", "ok"), ("20", "ok")]
    assert list_of(got.out)[3][2] == "ok"


def test_a_run_without_events_has_no_latency(tmp_path):
    name = script(tmp_path, "function event() return true end\n")
    got = bench.run(name, *asserted("p99<50s", "max<50s", "tps<1"), "run", cwd=tmp_path)
    assert got.status == 5
    assert [row[1:] for row in list_of(got.out)] == [
        ("not measured", "FAILED"), ("not measured", "FAILED"), ("0.00/s", "ok")]
    assert got.err.split("\n")[0] == "--assert=p99<50s does not hold: not measured"


def test_a_script_may_not_turn_out_to_measure_it(tmp_path):
    got = bench.run(script(tmp_path, FAST), "--events=5", *asserted("qps<100"), "run", cwd=tmp_path)
    assert (got.status, list_of(got.out)) == (3, [("qps<100", "not measured", "FAILED")])


def test_unfinished_events_prove_no_upper_limit(tmp_path):
    name = script(tmp_path, "ffi.cdef('int sleep(int);')\nfunction event() ffi.C.sleep(60) end\n")
    got = bench.run(name, "--time=0.6", "--time-grace=0.3", *asserted("p99<50s", "p99>0.5s", "max<50s"), "run",
                    cwd=tmp_path)
    assert got.status == 2
    assert [(row[1].startswith("at least "), row[2]) for row in list_of(got.out)] == [
        (True, "FAILED"), (True, "ok"), (True, "FAILED")]


def test_a_warm_up_is_not_measured(tmp_path):
    name = script(tmp_path, "function event() print('begun') event = function() end end")
    process = subprocess.Popen([bench.binary(), name, "--warmup-time=600", "--report-interval=1",
                                *asserted("tps>1"), "run"], text=True, env=bench.environment(), cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert any("begun" in line for line in iter(process.stdout.readline, ""))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=bench.TIMEOUT_S)
    assert process.returncode == 130
    assert list_of(out) == [("tps>1", "not measured", "FAILED")]
    assert "--assert=tps>1 does not hold: not measured\n" in err


def test_other_statuses_come_first(tmp_path):
    name = script(tmp_path, "function event() os.exit(7) end\n")
    assert bench.run(name, "--events=5", *asserted("tps<0"), "run", cwd=tmp_path).status == 7
    name = script(tmp_path, "function event() error('no') end\n")
    assert bench.run(name, "--events=5", *asserted("tps<0"), "run", cwd=tmp_path).status == 1
    name = script(tmp_path, SLOW)
    got = bench.run(name, "--rate=500", "--time=1", *asserted("served>99%"), "run", cwd=tmp_path)
    assert got.status == 4 and list_of(got.out)[0][2] == "FAILED"


@pytest.mark.parametrize("text, wrong", [
    ("p99<50", "the time has no unit; add ns, us, ms or s"),
    ("p99", "there is no comparison; write 'METRIC<LIMIT' in quotes, with <, <=, > or >=, such as 'p99<50ms' "
            "or 'errors<=0'"),
    ("p99@fsync<1ms", "the run has no latency called 'fsync'; it has: latency"),
    ("served>99%", "served is only measured with --rate"),
    ("mib_per_s>1", "this test does not measure bytes_moved_per_s"),
])
def test_refused_before_the_run(text, wrong):
    got = bench.run(*CPU, *asserted(text), "run")
    assert (got.status, got.err) == (1, f"--assert={text}: {wrong}\n")
    assert "Running the test" not in got.out


def test_an_unknown_metric_lists_what_there_is():
    got = bench.run(*CPU, *asserted("tsp>1"), "run")
    first, second = got.err.rstrip("\n").split("\n")
    assert (got.out, got.status) == ("", 1)
    assert first == "--assert=tsp>1: no metric is called 'tsp'; did you mean tps?"
    assert second.startswith("the metrics are: pN (a percentile), min, ")
    for name in ("tps", "qps", "eps", "mib_per_s", "errors", "served", "lag_p99_s"):
        assert f" {name}," in second


def test_at_most_64():
    got = bench.run(*CPU, *asserted(*["tps>1"] * 65), "run")
    assert (got.out, got.err, got.status) == ("", "--assert=tps>1: too many assertions; allowed: up to 64\n", 1)


@pytest.mark.sanitized
def test_foreign_documents(tmp_path):
    bench.run(*CPU, *asserted("tps>1"), *BOTH, "run", cwd=tmp_path)
    saved = document(tmp_path)

    def printed(rows):
        saved["assertions"] = rows
        (tmp_path / "x").write_text(json.dumps(saved))
        return bench.run("report", "x", cwd=tmp_path)

    row = saved["assertions"][0]
    got = printed([{**row, "text": "a\x1b[31m\n", "unit": "\x07", "value": None, "later": 1}])
    assert r"    a\x1b[31m\x0a:" in got.out and " not measured ok\n" in got.out and got.status == 0
    for wrong, said in [({**row, "value": "x"}, "'value'"), ({**row, "holds": 1}, "'holds'"),
                        ({"value": 1}, "an assertion has no 'text' or no 'unit'"), (7, "an assertion has no")]:
        got = printed([wrong])
        assert got.status == 1 and said in got.err, (wrong, got)


# --- --abort-on-assert ---


def test_a_violated_assertion_ends_the_run(tmp_path):
    start = time.monotonic()
    got = bench.run(script(tmp_path, SLOW), "--time=600", "--abort-on-assert=2",
                    *asserted("tps>1", "p99<10ms", "events>1e9"), *BOTH, "run", cwd=tmp_path)
    assert time.monotonic() - start >= 1.5
    assert got.status == 3
    assert "--assert=p99<10ms has been violated for 2 s (--abort-on-assert): the run ends\n" in got.err
    rows = list_of((tmp_path / "text").read_text())
    assert [row[2] for row in rows] == ["ok", "FAILED (ended the run)", "FAILED"]
    saved = document(tmp_path)
    assert [row["ended_run"] for row in saved["assertions"]] == [False, True, False]
    assert 1.5 <= saved["groups"][0]["total"]["figures"]["span_s"] < 600
    assert bench.run("report", "json", cwd=tmp_path).out == (tmp_path / "text").read_text()


@pytest.mark.parametrize("dialect", [slow("1.1"), slow("1.0"), "0.5"])
def test_it_ends_runs_of_dialects(dialect, tmp_path):
    first = ["--test=cpu", "--max-time=600", "--max-requests=0"] if dialect == "0.5" else ["cpu", "--time=600"]
    got = bench.run(*first, "--abort-on-assert=1", *asserted("tps<0"), "run", dialect=dialect)
    assert got.status == 3
    assert "--assert=tps<0 has been violated for 1 s (--abort-on-assert): the run ends\n" in got.err
    assert "total number of events:" in got.out


def test_a_stall_violates_a_latency(tmp_path):
    """No event ends: the oldest event in flight tells."""
    name = script(tmp_path, """
ffi.cdef("int usleep(unsigned int); int access(const char *, int);")
function event()
  if sysbench.tid == 0 then
    for i = 1, 1000 do if ffi.C.access("go", 0) ~= 0 then ffi.C.usleep(10000) end end
  end
end
""")
    got = bench.run(name, "--time=600", "--time-grace=0.2", "--abort-on-assert=1", *asserted("p99<500ms"), "run",
                    cwd=tmp_path)
    assert "--assert=p99<500ms has been violated for 1 s" in got.err
    # The event in flight has used up the grace, which counts first.
    assert got.status == 2


PROOF = """
function event() end
function sysbench.hooks.prove(stat)
  return {"Sheet of " .. stat.events .. " events:", "    a line", lines = 9, violated = %d, unchecked = %d, undecided = %d}
end
"""


@pytest.mark.parametrize("numbers,status,verdict,message", [
    ((0, 0, 0), 0, ("proof", "0", "ok"), ""),
    ((0, 0, 4), 0, ("proof", "0", "ok"),
     "--assert=proof holds, but of 9 lines of the proof sheet, undecided: 4; they neither hold nor are violated, "
     "because the run was too short or did not measure them\n"),
    ((2, 0, 3), 3, ("proof", "2", "FAILED"),
     "--assert=proof does not hold: of 9 lines of the proof sheet, violated: 2, not checked: 0, undecided: 3\n"),
    ((0, 1, 0), 1, ("proof", "at least 0", "FAILED"),
     "--assert=proof does not hold: of 9 lines of the proof sheet, violated: 0, not checked: 1, undecided: 0\n"),
])
def test_a_proof_sheet(numbers, status, verdict, message, tmp_path):
    """Its violated lines are the value; its lines are in the report, which a document repeats."""
    name = script(tmp_path, PROOF % numbers)
    got = bench.run(name, "--events=7", *BOTH, *asserted("proof", "eps>0"), "run", cwd=tmp_path)
    assert (got.status, got.err) == (status, message)
    text = (tmp_path / "text").read_text()
    assert "\nSheet of 7 events:\n    a line\n" in text and list_of(text)[0] == verdict
    row = document(tmp_path)["assertions"][0]
    assert row == {"text": "proof", "value": numbers[0], "unit": "1", "at_least": numbers[1] > 0,
                   "holds": verdict[2] == "ok", "ended_run": False}
    assert bench.run("report", "json", cwd=tmp_path).out == text


def test_a_proof_sheet_without_an_assertion(tmp_path):
    """It fails the run only if it could not be checked."""
    for numbers, status in ((2, 0, 3), 0), ((0, 1, 0), 1):
        name = script(tmp_path, PROOF % numbers)
        got = bench.run(name, "--events=7", "run", cwd=tmp_path)
        assert (got.status, got.err) == (status, "") and "    a line\n" in got.out


def test_no_proof_sheet_no_start(tmp_path):
    """A test without the hook, and a dialect, which does not call it."""
    wrong = ("--assert=proof: there is no proof sheet; a script makes one with sysbench.hooks.prove, as order_entry does, "
             "but not in a dialect or on several hosts")
    got = bench.run(*CPU, *asserted("proof"), "run")
    assert (got.status, got.err) == (1, wrong + "\n") and "Running the test" not in got.out
    name = script(tmp_path, PROOF % (0, 0, 0))
    got = bench.run(name, "--events=7", *asserted("proof"), "run", cwd=tmp_path, dialect="1.1")
    assert got.status == 1 and wrong in got.out + got.err and "Running the test" not in got.out


def test_a_proof_sheet_that_is_none(tmp_path):
    name = script(tmp_path, "function event() end function sysbench.hooks.prove() return 'yes' end")
    got = bench.run(name, "--events=7", *asserted("proof"), "run", cwd=tmp_path)
    assert got.status == 1 and list_of(got.out) == [("proof", "not measured", "FAILED")]
    assert ("sysbench.hooks.prove: the result must be a list of strings with the numbers lines, violated, unchecked and "
            "undecided") in got.err


def test_counts_and_the_end_do_not_end_a_run_early(tmp_path):
    """A number of events is that of the whole run, and no event ends after the limit."""
    got = bench.run(*CPU[:2], "--time=2.2", "--abort-on-assert=1", *asserted("events>1e9", "tps>0"), "run")
    assert got.status == 3
    assert "the run ends" not in got.err
    assert [row[2] for row in list_of(got.out)] == ["FAILED", "ok"]


def test_without_assertions_it_has_no_effect():
    assert bench.run(*CPU, "--abort-on-assert=1", "run").status == 0
