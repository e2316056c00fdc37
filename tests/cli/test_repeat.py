# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that a report has the date of its run and the command that repeats it, without secrets."""

import json
import re
import shlex

import pytest

import bench

ODD = "SELECT 'it''s', \"$HOME\""
ARGS = ["oltp_read_only", "--db-driver=sqlite", "--sqlite-db=a b", "--tables=2", "--table-size=50"]


def repeated(text):
    return shlex.split(re.search("^Repeat:  bench (.*?)\n\n", text, re.MULTILINE | re.DOTALL)[1])


def options_of(folder):
    facts = json.loads((folder / "json").read_text())["facts"]
    return {o["name"]: o["value"] for o in facts["options"] if o["origin"] != "default"}, facts["plan"]["seed"]


@pytest.mark.sanitized
def test_the_command_repeats_the_run(tmp_path):
    assert bench.run(*ARGS, "prepare", cwd=tmp_path).status == 0
    (tmp_path / "conf").write_text("threads=2\n")
    first = bench.run(*ARGS, "--config-file=conf", "--events=5", "--time=0", f"--db-init-sql={ODD}",
                      "--mysql-password=secret", "--report=text", "--report=json:json", "run", cwd=tmp_path)
    assert first.status == 0 and "secret" not in first.out
    assert re.match(r"Started: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\nRepeat:  bench oltp_read_only ",
                    first.out.split("\n\n", 1)[1])
    options, seed = options_of(tmp_path)
    assert bench.run("report", "json", cwd=tmp_path).out == first.out.split("\n\n", 1)[1]
    markdown = bench.run("report", "--format=markdown", "json", cwd=tmp_path).out
    assert "| date | " in markdown and "| repeat | bench oltp_read_only " in markdown
    again = bench.run(*repeated(first.out)[:-1], "--report=text", "--report=json:json", "run", cwd=tmp_path)
    assert again.status == 0, again
    assert sorted(repeated(again.out)) == sorted(repeated(first.out))
    later, later_seed = options_of(tmp_path)
    assert later_seed == seed
    for gone in ("config-file", "mysql-password", "report", "test"):
        options.pop(gone, None)
        later.pop(gone, None)
    assert later.pop("rand-seed") == str(seed)
    assert later == options and later["db-init-sql"] == ODD and later["threads"] == "2"


def test_a_long_command_is_whole_in_a_table(tmp_path):
    """Half a command would be another one."""
    assert bench.run("cpu", "--events=1", "--report=json:json", "run", cwd=tmp_path).status == 0
    document = json.loads((tmp_path / "json").read_text())
    document["facts"]["options"].append({"name": "x", "group": "", "value": "1" * 10000, "origin": "command line",
                                         "traits": []})
    (tmp_path / "json").write_text(json.dumps(document))
    markdown = bench.run("report", "--format=markdown", "json", cwd=tmp_path).out
    [row] = [line for line in markdown.splitlines() if line.startswith("| repeat |")]
    assert f" --x={'1' * 10000} " in row and row.endswith(" run |")


def test_the_command_of_a_document_is_safe_to_paste(tmp_path):
    assert bench.run("cpu", "--events=1", "--report=json:json", "run", cwd=tmp_path).status == 0
    document = json.loads((tmp_path / "json").read_text())
    document["facts"]["workload"]["name"] = "cpu; touch owned"
    document["facts"]["options"].append({"name": "x;`touch owned`", "group": "", "value": "$(touch owned)\n\x1b[2J",
                                         "origin": "command line", "traits": []})
    (tmp_path / "json").write_text(json.dumps(document))
    words = repeated(bench.run("report", "json", cwd=tmp_path).out)
    assert words[0] == "cpu; touch owned" and "--x;`touch owned`=$(touch owned)\n\\x1b[2J" in words


@pytest.mark.parametrize("dialect", ["0.5", "1.0", "1.1"])
def test_dialects_have_no_such_lines(dialect, tmp_path):
    done = bench.run("cpu", "--max-requests=1", "--report=markdown:m", "--report=text", "run", cwd=tmp_path,
                     dialect=dialect)
    assert "Repeat:" not in done.out and "Started:" not in done.out
    assert f"bench cpu --compat={dialect} " in (tmp_path / "m").read_text()
