# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that --statements tells what each kind of statement did: in the report of a run, in its
document, in the report from the document, and in the sum of several."""

import json
import re

import pytest

import bench
from documents import buckets_of
from gate import diagonal, slow

OLTP = ["oltp_read_write", "--table-size=100", "--tables=3"]
NULL = ["--db-driver=null"]
SQLITE = ["--db-driver=sqlite", "--sqlite-db=db", "--sqlite-synchronous=off"]
BOTH = ["--report=text:text", "--report=json:json"]
NAMES = {"begin", "commit", "point_selects", "simple_ranges", "sum_ranges", "order_ranges",
         "distinct_ranges", "index_updates", "non_index_updates", "deletes", "inserts"}
ROW = re.compile(r" +(\d+) +(\d+) +(\d+) +([\d.]+)%((?: +[\d.]+)+)  (.*)")


def run(folder, *args, status=0, dialect="own"):
    """The document."""
    done = bench.run(*args, "--statements", *BOTH, "run", cwd=folder, dialect=dialect)
    assert done.status == status, done
    return json.loads((folder / "json").read_text())


def total(document):
    return document["groups"][0]["total"]


def by_name(document):
    return {row["name"]: row for row in total(document)["statements"]}


def table(text):
    """{name: [count, rows, errors, share in percent, times …]}"""
    rows = text.split("Statements (times in ms):\n")[1].split("\n\n")[0].splitlines()[1:]
    matches = [ROW.fullmatch(row) for row in rows]
    return {m[6]: [*map(int, m.groups()[:3]), float(m[4]), *map(float, m[5].split())] for m in matches}


def script(folder, text):
    (folder / "own.lua").write_text(
        "function thread_init() con = sysbench.sql.driver():connect() end\n" + text)
    return ["own.lua", *NULL, "--events=10", "--time=0"]


@pytest.mark.parametrize("mode, driver", diagonal(("auto", "disable", "extended"), (NULL, SQLITE)))
def test_bundled_workloads_name_their_statements(driver, mode, tmp_path):
    assert bench.run(*OLTP, *driver, "prepare", cwd=tmp_path).status == 0
    document = run(tmp_path, *OLTP, *driver, f"--db-ps-mode={mode}", "--threads=3", "--events=200",
                   "--time=0", "--percentile=99,50")
    rows, figures = by_name(document), total(document)["figures"]
    assert set(rows) == NAMES
    assert sum(row["count"] for row in rows.values()) == figures["queries"]
    assert sum(row["errors"] for row in rows.values()) == figures["errors"]
    assert rows["point_selects"]["count"] == rows["point_selects"]["rows"] == 2000
    counters = total(document)["raw"]["counters"]
    assert sum(row["rows"] for row in rows.values()) == sum(
        counters["rows_" + kind] for kind in ("read", "inserted", "updated", "deleted"))
    for row in rows.values():
        last = row["min_s"]
        for value in (*(p["s"] for p in sorted(row["percentiles"], key=lambda p: p["percent"])),
                      row["max_s"]):
            assert last <= value
            last = value
        assert row["min_s"] <= row["avg_s"] <= row["max_s"]
    assert [row["sum_s"] for row in total(document)["statements"]] == sorted(
        (row["sum_s"] for row in rows.values()), reverse=True)


@pytest.mark.parametrize("dialect", ["own", slow("1.1"), slow("1.0")])
def test_the_report_has_the_figures_of_the_document(dialect, tmp_path):
    seconds = 1.2 if dialect == "own" else 2
    ranks = "99,50" if dialect == "own" else "99"
    document = run(tmp_path, *OLTP, *NULL, "--threads=2", f"--time={seconds}", "--report-checkpoints=1",
                   "--report-interval=1", f"--percentile={ranks}", dialect=dialect)
    text = (tmp_path / "text").read_text()
    # A run that was not scheduled for a while may end before its checkpoint is due, or have no statement by then.
    records = (*document["groups"][0]["checkpoints"], total(document))
    shown = [record for record in records if record.get("statements")]
    # A checkpoint reads counters and times one after the other, while each thread counts a query.
    assert all(record["figures"]["queries"] <= 2 for record in records if not record.get("statements"))
    assert len(records) <= 2 and text.count("Statements (times in ms):\n") == len(shown)
    assert bench.run("report", "json", cwd=tmp_path) == (text, "", 0)
    assert {row["name"] for record in shown for row in record["statements"]} == NAMES
    for record, part in zip(records, text.split("SQL statistics:")[1:]):
        if not record.get("statements"):
            continue
        rows = table(part)
        # A checkpoint that comes at the very end leaves little for the final report.
        assert 0 < len(rows) == len(record["statements"]) <= len(NAMES)
        for row in record["statements"]:
            ranked = sorted(row["percentiles"], key=lambda p: p["percent"])
            times = [row["avg_s"], *(p["s"] for p in ranked), row["max_s"]]
            assert rows[row["name"]][:3] == [row["count"], row["rows"], row["errors"]]
            share = 100 * row["sum_s"] / sum(r["sum_s"] for r in record["statements"])
            assert rows[row["name"]][3] == pytest.approx(share, abs=0.051)
            assert rows[row["name"]][4:] == pytest.approx([1e3 * s for s in times], abs=0.01, rel=0.01)
    for record in document["groups"][0]["intervals"]:
        assert "statements" not in record


def test_it_is_off_unless_asked_for(tmp_path):
    done = bench.run(*OLTP, *NULL, "--events=10", "--time=0", *BOTH, "run", cwd=tmp_path)
    assert done.status == 0
    assert "Statements" not in (tmp_path / "text").read_text()
    assert "statements" not in total(json.loads((tmp_path / "json").read_text()))


def test_a_table_of_two_runs_has_their_statements_side_by_side(tmp_path):
    script(tmp_path, """
function event() con:query(NAME) con:query("SELECT '|'") end""")
    for name, first in (("a", "SELECT 1"), ("b", "UPDATE t SET x=2")):
        text = (tmp_path / "own.lua").read_text().replace("NAME", repr(first))
        (tmp_path / f"{name}.lua").write_text(text)
        assert bench.run(f"{name}.lua", *NULL, "--events=10", "--time=0", "--statements",
                         f"--report=json:{name}", "run", cwd=tmp_path).status == 0
    done = bench.run("report", "--format=markdown", "a", "b", cwd=tmp_path)
    cells = {row.split(" | ")[0]: row.split(" | ")[1:] for row in done.out.splitlines()}
    for name, known in (("SELECT ?", (True, True)), ("UPDATE t SET x=?", (False, True))):
        for figure in ("avg (ms)", "95th percentile (ms)"):
            assert tuple(bool(c.strip(" |")) for c in cells[f"| {name} {figure}"]) == known, done


def test_a_statement_without_percentiles_has_its_maximum_below_max(tmp_path):
    asked = script(tmp_path, "function event() con:query('COMMIT') end")
    assert bench.run(*asked, "--statements", "--events=10", "--time=0", "--percentile=50,99", "--report=json:json",
                     "run", cwd=tmp_path).status == 0
    document = json.loads((tmp_path / "json").read_text())
    [statement] = document["groups"][0]["total"]["statements"]
    del statement["percentiles"]
    (tmp_path / "json").write_text(json.dumps(document))
    lines = bench.run("report", "json", cwd=tmp_path).out.splitlines()
    at = lines.index("Statements (times in ms):")
    assert lines[at + 1].split() == ["count", "rows", "errors", "share", "avg", "50th", "99th", "max", "name"]
    assert lines[at + 2].split()[5:7] == ["-", "-"] and len(lines[at + 2].split()) == 9, lines[at:at + 3]


def test_assertions_are_about_statements_too(tmp_path):
    asked = [*script(tmp_path, "function event() con:query('COMMIT') end"), "--statements"]
    done = bench.run(*asked, "--assert=p99.5@COMMIT<100s,max@COMMIT>0s", "run", cwd=tmp_path)
    assert done.status == 0, done
    done = bench.run(*asked, "--assert=p50@ROLLBACK<100s", "run", cwd=tmp_path)
    assert (done.status, done.err) == (3, "--assert=p50@ROLLBACK<100s does not hold: not measured\n")
    done = bench.run(*asked[:-1], "--assert=p50@COMMIT<1s", "run", cwd=tmp_path)
    assert done.status == 1
    assert ("the run has no latency called 'COMMIT'; it has: latency, wakeup_lag, and with --statements "
            "those of statements by their names") in done.out + done.err


@pytest.mark.sanitized
def test_texts_are_grouped_by_what_they_have_in_common(tmp_path):
    document = run(tmp_path, *script(tmp_path, """
function event()
  con:query(("SELECT c FROM t WHERE id=%d"):format(sysbench.rand.uniform(1, 1e9)))
  con:query(("/* %s */ SELECT c  FROM t WHERE id = '%s'"):format(sysbench.tid, "a b"))
  con:query("SELECT c FROM t WHERE id IN (1" .. (", 2"):rep(sysbench.rand.uniform(0, 9)) .. ")")
  local st = con:prepare("SELECT c FROM t WHERE id=?")
  local id = st:bind_create(sysbench.sql.type.INT)
  st:bind_param(id)
  st:execute()
  con:query_row_uncounted("SELECT 1 FROM nowhere")
end"""))
    rows = {name: row["count"] for name, row in by_name(document).items()}
    assert rows == {"SELECT c FROM t WHERE id=?": 30, "SELECT c FROM t WHERE id IN(...)": 10}
    assert set(table((tmp_path / "text").read_text())) == set(rows)


def test_scripts_may_name_what_they_prepare(tmp_path):
    document = run(tmp_path, *script(tmp_path, """
function event()
  for i = 1, 3 do
    con:prepare("SELECT " .. i, i < 3 and "gl\\27\\195\\182ck" or nil):execute()
  end
end"""))
    assert {name: row["count"] for name, row in by_name(document).items()} == {
        "gl\x1böck": 20, "SELECT ?": 10}
    text = (tmp_path / "text").read_text()
    assert set(table(text)) == {"gl\\x1böck", "SELECT ?"}
    assert bench.run("report", "json", cwd=tmp_path) == (text, "", 0)


def test_a_name_is_a_text(tmp_path):
    args = script(tmp_path, 'function event() con:prepare("SELECT 1", {}) end')
    done = bench.run(*args, "run", cwd=tmp_path)
    assert done.status == 1
    assert "own.lua:2: prepare: expected the name of the statement, got table" in done.err + done.out
    assert bench.run(*args, "run", cwd=tmp_path, dialect="1.0").status == 0


def test_names_in_another_encoding_stay_different(tmp_path):
    """Kind: a document that bench writes and does not read."""
    document = run(tmp_path, *script(tmp_path, """
local names = {"a\\246", "a\\228"}
function event() for _, name in ipairs(names) do con:prepare("SELECT 1", name):execute() end end"""))
    assert {r"a\xf6", r"a\xe4"} <= set(by_name(document))
    assert bench.run("report", "json", cwd=tmp_path).status == 0


def test_names_beyond_the_limit_are_others(tmp_path):
    document = run(tmp_path, *script(tmp_path, """
function event()
  for i = 1, 300 do
    con:query("SELECT c FROM t" .. i)
  end
end"""), "--threads=2")
    rows = by_name(document)
    assert len(rows) == 257
    assert rows["other"]["count"] >= 10 * 44 - 300
    assert sum(row["count"] for row in rows.values()) == 3000 == total(document)["figures"]["queries"]
    # The others are seldom the last row, and are no name when the document is read.
    read = bench.run("report", "--format=json", "json", cwd=tmp_path)
    assert read.status == 0, read
    assert {name: row["count"] for name, row in by_name(json.loads(read.out)).items()} == \
        {name: row["count"] for name, row in rows.items()}


@pytest.mark.sanitized
def test_errors_are_counted(tmp_path):
    """Every second of them is ignored by the script, and its event is repeated."""
    (tmp_path / "own.lua").write_text("""
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)")
end
local odd = false
function sysbench.hooks.sql_error_ignorable() return true end
function event()
  odd = not odd
  con:query("SELECT " .. (odd and "5" or "missing"))
end""")
    document = run(tmp_path, "own.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", "--events=10",
                   "--time=0")
    rows, figures = by_name(document), total(document)["figures"]
    assert rows["SELECT ?"]["count"] == figures["queries"] == 10
    assert rows["SELECT missing"]["errors"] == figures["errors"] == 9
    assert rows["SELECT missing"]["count"] == 0
    assert rows["SELECT missing"]["max_s"] is rows["SELECT missing"]["avg_s"] is None


def test_the_warm_up_is_not_counted(tmp_path):
    """Statements go on while the counts are read, so both are near each other; there are 50 in the warm-up."""
    args = script(tmp_path, """
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(20000) con:query("SELECT 1") end""")
    document = run(tmp_path, *args, "--threads=2", "--warmup-time=0.5", "--events=20")
    [row] = by_name(document).values()
    assert row["count"] == pytest.approx(total(document)["figures"]["queries"], abs=20)
    assert row["count"] <= 40


def test_results_are_merged_by_name(tmp_path):
    documents = []
    for i in range(2):
        documents.append(run(tmp_path, *OLTP, *NULL, "--threads=2", "--time=0.2", "--percentile=50,99"))
        (tmp_path / "json").rename(tmp_path / f"{i}.json")
    done = bench.run("merge", "--force", "0.json", "1.json", cwd=tmp_path)
    assert done.status == 0, done
    (tmp_path / "sum").write_text(done.out)
    document = json.loads(done.out)
    sums, parts = by_name(document), [by_name(each) for each in documents]
    assert set(sums) == NAMES
    for name, row in sums.items():
        for key in ("count", "rows", "errors"):
            assert row[key] == sum(part[name][key] for part in parts)
        assert row["max_s"] == max(part[name]["max_s"] for part in parts)
    histograms = {row["name"]: dict(buckets_of(row["histogram"]))
                  for row in total(document)["raw"]["statements"]}
    assert {name: sum(buckets.values()) for name, buckets in histograms.items()} == {
        name: row["count"] for name, row in sums.items()}
    again = bench.run("merge", "--force", "sum", cwd=tmp_path)
    assert by_name(json.loads(again.out)) == sums
    assert set(table(bench.run("report", "sum", cwd=tmp_path).out)) == NAMES


@pytest.mark.sanitized
def test_documents_of_others_are_checked(tmp_path):
    document = run(tmp_path, *script(tmp_path, 'function event() con:query("SELECT 1") end'))
    rows = total(document)["statements"]
    rows.append(dict(rows[0]))
    (tmp_path / "twice").write_text(json.dumps(document))
    done = bench.run("report", "twice", cwd=tmp_path)
    assert done.status == 1
    assert "a statement has no 'name', or that of another one" in done.err
    total(document)["statements"] = [{**rows[0], "name": str(i)} for i in range(300)]
    (tmp_path / "many").write_text(json.dumps(document))
    done = bench.run("report", "many", cwd=tmp_path)
    assert done.status == 1
    assert "'statements' has more than 257 values" in done.err
