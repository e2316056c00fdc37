# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit tests of studies in Lua hold: each test_*.lua beside this file is run by run.lua."""

import pathlib

import bench
import pytest

HERE = pathlib.Path(__file__).resolve().parent
FILES = sorted(HERE.glob("test_*.lua"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_lua(file):
    done = bench.run("study", HERE / "run.lua", file)
    lines = done.out.splitlines()
    failed = [line for line in lines if not line.startswith("ok ")]
    assert failed == [] and done.err == "" and done.status == 0, done.out + done.err
    assert lines, "the file has no tests"


def test_a_failure_is_told(tmp_path):
    """The runner itself: a function that fails has a line, and its status is 1."""
    file = tmp_path / "test_fails.lua"
    file.write_text('local t = require("tests")\n'
                    'return {\n'
                    '  ["one is two"] = function() t.equal(1, 2) end,\n'
                    '  ["close"] = function() t.close(1 + 1e-12, 1) end,\n'
                    '  ["not close"] = function() t.close(0 / 0, 1, 1) end,\n'
                    '  ["raises"] = function() t.raises(function() error("so it is") end, "so") end,\n'
                    '}\n')
    done = bench.run("study", HERE / "run.lua", file)
    assert done.status == 1
    lines = done.out.splitlines()
    assert "ok close" in lines and "ok raises" in lines
    assert [line.partition(": ")[0] for line in lines if line.startswith("not ok ")] == [
        "not ok not close", "not ok one is two"]
    assert "got 1, wanted 2" in done.out
