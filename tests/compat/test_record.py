# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that tests/compat/record writes golden files, and the form that was recorded before."""

import importlib.machinery
import importlib.util
import subprocess
import sys

import pytest

import form
import runner
import test_transcripts

RECORD = str(runner.HERE / "record")
CASES = ["1.0.20/gen-version", "1.0.20/cpu-help", "0.5/cpu-help", "1.0.20/lua-opts-list-typed",
         "1.0.20/lua-err-event", "1.1/fileio-run-missing-files", "1.0.20/fileio-prepare-uneven"]


def module():
    loader = importlib.machinery.SourceFileLoader("record", RECORD)
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader("record", loader))
    loader.exec_module(found)
    return found


def record(folder, *argv):
    done = subprocess.run([sys.executable, "-B", RECORD, f"--out={folder}", f"--program={runner.binary()}",
                           *argv], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_every_golden_file_is_written_as_it_is():
    written = module().text_of
    for version in runner.DIALECT:
        for path in (runner.GOLDEN / version).glob("*.txt"):
            t = runner.load(version, path.stem)
            text = path.read_text()
            assert written(text.split("\n")[0], form.Output(t.stdout, t.stderr, t.status)) == text, path


@pytest.mark.skipif(runner.against_reference(), reason="is about the recorder")
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_recorded_again(tmp_path, case):
    version, name = case.split("/")
    record(tmp_path, version, name)
    text = (tmp_path / version / f"{name}.txt").read_text()
    golden = runner.load(version, name)
    again = form.parse_transcript(text, version, name)
    assert text.split("\n")[0] == (runner.GOLDEN / version / f"{name}.txt").read_text().split("\n")[0]
    wrong = test_transcripts.strictly(golden, form.Output(again.stdout, again.stderr, again.status))
    assert wrong == []


@pytest.mark.sanitized
@pytest.mark.skipif(runner.against_reference(), reason="is about the recorder")
def test_a_new_transcript(tmp_path):
    (tmp_path / "1.0.20").mkdir()
    record(tmp_path, "--prefix=nosuchtest", "--command=A=1 sysbench nosuchtest run", "1.0.20", "err-new")
    lines = (tmp_path / "1.0.20" / "err-new.txt").read_text().split("\n")
    assert lines[0] == "$ A=1 sysbench nosuchtest run"
    assert lines[-3:] == ["FATAL: Cannot find benchmark 'PREFIX': no such built-in test, file or module",
                          "--- exit status 1 ---", ""]
