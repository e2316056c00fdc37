# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the manual page has every option of every table, and that mandoc has no complaint."""

import pathlib
import re
import shutil
import subprocess

import pytest

import bench


@pytest.fixture(name="page")
def manual_page():
    page = pathlib.Path(bench.binary()).parents[1] / "man" / "bench.1"
    assert page.exists(), "make has not built man/bench.1"
    return page


def items(text):
    return re.findall(r"^\.It Fl Fl ([a-z0-9-]+)", text, re.MULTILINE)


def test_every_option_is_in_the_page(page):
    tables = bench.run("--help-man")
    assert (tables.err, tables.status) == ("", 0)
    text = page.read_text()
    assert items(text) == items(tables.out) and len(items(text)) > 60
    assert "@" not in re.sub(r"\.\\\".*", "", text)
    # What the help lists is there too, and nothing is listed twice.
    listed = set(re.findall(r"^  --([a-z0-9-]+)", bench.run("--help").out, re.MULTILINE))
    assert listed <= set(items(text))
    assert len(set(items(text))) == len(items(text))


def test_every_item_tells_its_default(page):
    # The old names tell whose they are instead.
    for item in re.split(r"^\.It Fl Fl ", page.read_text(), flags=re.MULTILINE)[1:]:
        text = re.split(r"^\.El", item, flags=re.MULTILINE)[0]
        assert re.search(r"^Default: \S", text, re.MULTILINE) or "\nOld name of " in text, text


def test_bounds_and_dialects_are_told(page):
    text = page.read_text()
    assert "From 1 to 1000000.\nDefault: 1.\n" in text
    assert "Default: uniform, in dialect 1.0 special, in dialect 0.5 special.\n" in text
    assert "One of auto, tsc, vdso.\n" in text


def test_mandoc_has_no_complaint(page):
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    done = subprocess.run(
        ["mandoc", "-Tlint", "-Wstyle", page], capture_output=True, text=True, check=False
    )
    lines = [
        line
        for line in (done.stdout + done.stderr).split("\n")
        # Whether other pages are installed is no property of this one.
        if line and "lacks" not in line and "referenced manual not found" not in line
    ]
    assert lines == []
