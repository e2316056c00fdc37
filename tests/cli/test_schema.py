# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that documents follow the schema that is installed, that the schema has every member, and that
a document tells how to do its run again."""

import json
import pathlib
import re
import signal
import subprocess
import time

import jsonschema
import pytest

import bench
import documents
from gate import slow

TREE = pathlib.Path(bench.binary()).parent.parent

SCHEMA = json.loads((TREE / "share/bench/result.schema.json").read_text())
SQL = ["oltp_read_write", "--table-size=100", "--tables=2"]
TESTS = {
    "cpu": ["cpu", "--cpu-max-prime=2000"],
    "threads": ["threads", "--thread-locks=1"],
    "mutex": ["mutex", "--mutex-num=2", "--mutex-locks=5000000", "--mutex-loops=100"],
    "memory": ["memory", "--memory-block-size=64K", "--memory-total-size=1T"],
    "fileio": ["fileio", "--file-test-mode=rndrw", "--file-num=2", "--file-total-size=1M"],
    "null": [*SQL, "--db-driver=null", "--db-debug", "--statements"],
    "sqlite": [*SQL, "--db-driver=sqlite", "--sqlite-synchronous=off"],
    "failing": ["./failing.lua"],
    "hanging": ["./hanging.lua", "--time-grace=0.2"],
}
SCRIPTS = {"failing": 'function event() error("out of luck") end',
           "hanging": "local ffi = require('ffi') ffi.cdef('int usleep(unsigned);')\n"
                      "function event() for _ = 1, 600 do ffi.C.usleep(100000) end end"}
# By the name of the case: options, a signal to send, what the document says.
ENDS = {
    "success": (["--time=0.3"], None),
    "interrupted": (["--time=60"], signal.SIGINT),
    "terminated": (["--time=60"], signal.SIGTERM),
    "deadline": (["--time=0.4", "--forced-shutdown=0"], None),
}


def strict(schema):
    """The schema, with no member allowed that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: strict(value) for key, value in schema.items()}
    if "properties" in copy and copy.get("type") == "object":
        copy.setdefault("additionalProperties", False)
    return copy


STRICT = jsonschema.Draft202012Validator(strict(SCHEMA))


def check(document, validator=STRICT):
    assert [error.message for error in validator.iter_errors(document)] == []


def prepared(name, folder):
    for script, text in SCRIPTS.items():
        (folder / (script + ".lua")).write_text(text)
    if name in ("fileio", "sqlite"):
        assert bench.run(*TESTS[name], "prepare", cwd=folder).status == 0


def started(name, folder, *options):
    return subprocess.Popen([bench.binary(), *TESTS[name], "--threads=2", "--report-interval=0.1", *options, "run"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
                            env=bench.environment())


def run(name, folder, options, signo):
    """The exit status; the reports are in the files text and json."""
    reports = ["--report=text:text", "--report=json:json", "--report-bins=all", "--debug", "--percentile=50,99"]
    child = started(name, folder, *reports, *options)
    text = folder / "text"
    while signo is not None and child.poll() is None and not (
            text.exists() and re.search(r"^\[ +\d+(\.\d)?s \]", text.read_text(), re.M)):
        time.sleep(0.01)
    if signo is not None:
        child.send_signal(signo)
    child.communicate(timeout=bench.TIMEOUT_S)
    return child.returncode


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_schema_has_the_figures_of_the_table():
    """make schema writes it."""
    root = bench.source_root()
    made = subprocess.run(["awk", "-f", "build-aux/figures.awk", "src/measure/figures.def",
                           "src/measure/result.schema.json"], cwd=root, check=True, capture_output=True, text=True)
    assert made.stdout == (root / "src/measure/result.schema.json").read_text()
    figures = json.loads(made.stdout)["$defs"]["record"]["properties"]["figures"]["properties"]
    assert len(figures) > 60 and figures["events"] == {
        "description": "events that ended in the span or in the grace", "$ref": "#/$defs/count"}


# Of each other end, one test is enough to begin with.
SHORT = {("cpu", "interrupted"), ("null", "terminated"), ("fileio", "deadline")}
WITH_END = [(name, end) for name in TESTS if name not in SCRIPTS for end in ENDS]


@pytest.mark.parametrize("name, end", [
    pair if pair[1] == "success" or pair in SHORT else slow(*pair) for pair in WITH_END])
def test_documents_follow_the_schema(name, end, tmp_path):
    prepared(name, tmp_path)
    options, signo = ENDS[end]
    status = run(name, tmp_path, options, signo)
    text = (tmp_path / "text").read_text()
    document = json.loads((tmp_path / "json").read_text())
    check(document)
    assert document["end"]["status"] == status
    # The limit of the deadline is met if no event is in flight then.
    allowed = {(128 + signo, "signal")} if signo else {(0, "time limit")}
    if end == "deadline":
        allowed.add((2, "timeout"))
    if name == "mutex":
        allowed.add((0, "done"))  # its locks may take less time
    assert (status, document["end"]["reason"]) in allowed
    said = document["groups"][0]["total"]["figures"]
    assert f"total number of events:              {said['events']}\n" in text
    # The deadline leaves events behind; on a loaded machine all of them.
    assert said["events"] > 0 or name == "mutex" or end == "deadline"
    again = bench.run("report", "json", cwd=tmp_path)
    assert (again.out, again.status) == (text, 0)


@pytest.mark.parametrize("name, status, reason", [("failing", 1, "failure"), ("hanging", 2, "timeout")])
@pytest.mark.sanitized
def test_documents_of_failures_follow_the_schema(name, status, reason, tmp_path):
    prepared(name, tmp_path)
    found = run(name, tmp_path, ["--time=0.3"], None)
    document = json.loads((tmp_path / "json").read_text())
    check(document)
    assert (document["end"]["status"], document["end"]["reason"], found) == (status, reason, status)
    assert document["facts"]["messages"]


def test_a_full_disk_loses_the_document_alone(tmp_path):
    done = bench.run("cpu", "--events=7", "--report=text", "--report=json:/dev/full", "run", cwd=tmp_path)
    assert done.status == 1 and "cannot write the result" in done.err
    assert "total number of events:              7\n" in done.out


@pytest.mark.parametrize("options", [
    ["--rate=300", "--warmup-time=0.1"],
    ["--rate-profile=hold:100/0.1s; hold:300/0.1s; hold:100/0.1s", "--warmup-time=0.1", "--report-interval=0.1"], ["--report-bins=none"], ["--validate", "--histogram"],
    ["--report-checkpoints=1", "--time=1.1"]])
def test_all_options_follow_the_schema(options, tmp_path):
    done = bench.run("cpu", "--cpu-max-prime=500", "--time=0.3", "--report=json:json", *options, "run", cwd=tmp_path)
    assert done.status in bench.good(options), done
    check(json.loads((tmp_path / "json").read_text()))


def test_documents_of_all_versions_follow_the_schema():
    """Members are only added, so that the schema of today fits what yesterday's version wrote."""
    folder = bench.source_root() / "tests/store"
    documents = [path for path in sorted(folder.glob("*.json")) if "journal" not in path.name]
    assert len(documents) >= 7
    for path in documents:
        check(json.loads(path.read_text()), jsonschema.Draft202012Validator(SCHEMA))


def test_a_document_that_is_damaged_does_not_follow_the_schema(tmp_path):
    assert bench.run("cpu", "--events=1", "--report=json:json", "run", cwd=tmp_path).status == 0
    good = json.loads((tmp_path / "json").read_text())
    for damage in (lambda d: d.pop("facts"), lambda d: d["end"].update(status="0"),
                   lambda d: d["groups"][0]["total"]["figures"].update(events=-1),
                   lambda d: d["groups"][0]["total"]["raw"]["histograms"]["latency"].append([1]),
                   lambda d: d["facts"].update(format=7)):
        bad = json.loads(json.dumps(good))
        damage(bad)
        assert list(STRICT.iter_errors(bad))


# --- doing a run again ----------------------------------------------------------------------------


def command_line(document):
    """What to type for the same run; secrets are not known."""
    facts, words = document["facts"], []
    for option in facts["options"]:
        if option["origin"] == "default" or option["name"] in ("test", "report", "rand-seed"):
            continue
        assert not option.get("secret"), option
        words.append(f"--{option['name']}={option['value']}")
    return [facts["workload"]["name"], *words, f"--rand-seed={facts['plan']['seed']}"]


def traced(folder, name, *args):
    done = bench.run(*args, f"--sql-trace={name}", "run", cwd=folder)
    assert done.status == 0, done
    by_session = {}
    for line in (folder / name).read_text().splitlines():
        session, _, rest = line.partition(" ")
        by_session.setdefault(session, []).append(rest)
    return by_session


@pytest.mark.parametrize("threads, options", [
    (1, ["--events=20"]),
    (1, ["--events=20", "--rand-type=zipfian", "--range-size=7", "--skip-trx=on", "--rand-seed=99"]),
    (3, ["--time=0.3"]),
])
def test_the_same_run_can_be_made_from_a_document(threads, options, tmp_path):
    (tmp_path / "conf").write_text("point-selects=3\n")
    first = traced(tmp_path, "one", *SQL, "--db-driver=null", "--db-ps-mode=disable", "--config-file=conf",
                   f"--threads={threads}", *options, "--report=json:json")
    again = command_line(json.loads((tmp_path / "json").read_text()))
    again = [word for word in again if not word.startswith(("--config-file", "--sql-trace"))]
    assert "--point_selects=3" in again
    second = traced(tmp_path, "two", *again)
    # Of several threads, a busy machine may have let one do little or nothing.
    assert threads > 1 or len(first) == len(second) == 1
    both = set(first) & set(second)
    assert both and sum(min(len(first[s]), len(second[s])) for s in both) > 20
    for session in both:
        n = min(len(first[session]), len(second[session]))
        assert first[session][:n] == second[session][:n]
        assert threads > 1 or len(first[session]) == len(second[session]) > 20


def test_a_list_of_numbers_is_one_line(tmp_path):
    """A histogram has a hundred buckets or more; what only looks like such a list stays as it is."""
    name = "[1, 2] \\ [3].lua"
    (tmp_path / name).write_text("function event() end")
    done = bench.run("./" + name, "--events=2000", "--report=json:[ 0 ].json", "run", cwd=tmp_path)
    assert done.status == 0, done
    text = (tmp_path / "[ 0 ].json").read_text()
    assert not re.search(r"^ *[\d.e+-]+,?$", text, re.M) and re.search(r'"percents": \[95\.0\],?$', text, re.M)
    document = json.loads(text)
    assert documents.counted(document["groups"][0]["total"]) == 2000
    assert "[ 0 ].json" in str(document["facts"]["options"]) and json.dumps(name)[1:-1] in text
