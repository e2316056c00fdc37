# SPDX-License-Identifier: GPL-2.0-or-later
"""Every example of the manual pages that needs no server prints what the page shows."""

import re
import shutil

import pytest

import examples

LOCAL = examples.sessions("")


def row(page, session):
    """In the gate if it does not run for a given time."""
    mark = () if re.search("--time=[^0]|-profile=|sweep| ab ", session.text) is None else pytest.mark.slow
    return pytest.param(page, session, marks=mark, id=f"{session.page}:{session.line}")


@pytest.mark.parametrize(("page", "session"), [row(*local) for local in LOCAL])
def test_example(page, session, tmp_path):
    if "bench plot" in session.text and shutil.which("gnuplot") is None:
        pytest.skip("gnuplot is not installed")
    examples.write_files(page, session.line, tmp_path)
    # Runs that begin half a second apart still overlap by nine tenths then.
    examples.run_session(session, tmp_path, [("--time=3 ", "--time=10 ")])


def test_every_display_is_run_or_marked():
    assert len(LOCAL) >= 15
    for page in examples.pages():
        for example in examples.examples(page):
            assert example.kind, f"{example.page}:{example.line} has no kind: see examples.py"
            has_command = re.search(r"^\$ ", example.text, re.MULTILINE)
            assert (has_command is not None) == (example.kind == "session"), example
        # A command in running text would not be run.
        assert not re.search(r"^\.D[l1] \$", page.read_text(), re.MULTILINE)


def test_every_file_is_used():
    for page in examples.pages():
        found = examples.examples(page)
        for example in found:
            if example.kind == "file":
                later = [e.text for e in found if e.kind == "session" and e.line > example.line]
                assert any(example.name in text for text in later), example.name
                assert re.match(rf"(--|#) {example.name}\n", example.text)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["a", "...", "d"], ["a", "d"], True),
        (["a", "...", "d"], ["a", "b"], False),
        (["a"], ["a", "b"], False),
        ([], [], True),
    ],
)
def test_elision(shown, printed, same):
    assert examples.agrees(shown, printed) is same


def test_figures_are_masked():
    line = "sbtest1:  200    (27.77 per sec.) >4398046.51"
    assert examples.masked(line, False) == "sbtest1: 200 (# per sec.) #"
    assert examples.masked(line, True) == "sbtest1: # (# per sec.) #"
