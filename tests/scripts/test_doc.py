# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of the manual pages do what the pages say."""
import os
import pathlib
import subprocess

import pytest

from lua import BENCH

TESTS = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted((TESTS.parent / "man").glob("*.7"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page):
    r = subprocess.run(["sh", str(TESTS / "doc.sh"), str(page)], text=True, timeout=60,
                       capture_output=True, env=dict(os.environ, BENCH=BENCH))
    assert r.returncode == 0, r.stdout + r.stderr
    assert r.stdout.endswith(" examples, 0 failed\n")
