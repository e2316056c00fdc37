# SPDX-License-Identifier: GPL-2.0-or-later
"""Each deliberate difference from a transcript has its line in bench-compat(7), and each line its
difference: the page names the reasons of the rows in comments before the item."""

import pathlib
import re

import deviations
import runner

PAGE = pathlib.Path(__file__).resolve().parents[2] / "man" / "bench-compat.7"
FORMS = pathlib.Path(__file__).resolve().parents[1] / "servers" / "forms"
# What form.py (and test_transcripts_sql.py, of tables) reduces, so that no row is needed.
REDUCED = {
    "the last complete interval",
    "asynchronous latency",
    "the warm-up",
    "the order of tables",
    "passwords in the trace",
}


def reasons_of_rows():
    rows = {reason for reason, _ in deviations.TABLE.values()}
    return rows | {path.read_text().split("\n")[0] for path in FORMS.glob("*/*.txt")}


def items():
    """[(reasons, text)] of the list."""
    section = PAGE.read_text().split(".Sh DIFFERENCES OF THE TEXT OUTPUT\n")[1].split(".Sh ")[0]
    lines = section.split("Deliberate differences of the text")[1].split("\n")
    found, reasons = [], []
    for line in lines[2 : lines.index(".El")]:
        if line.startswith('.\\" = '):
            reasons.append(line[len('.\\" = ') :])
        elif line.startswith(".It "):
            found.append((reasons, []))
            reasons = []
        else:
            found[-1][1].append(line)
    return found


def test_every_difference_has_its_line():
    named = [reason for reasons, _ in items() for reason in reasons]
    assert len(named) == len(set(named))
    assert set(named) - REDUCED == reasons_of_rows()
    assert REDUCED <= set(named)


def test_every_line_has_its_difference():
    for reasons, text in items():
        assert reasons and re.search(r"\w", " ".join(text))


def test_forms_belong_to_transcripts():
    for path in FORMS.glob("*/*.txt"):
        assert (runner.GOLDEN / path.parent.name / path.name).exists()
