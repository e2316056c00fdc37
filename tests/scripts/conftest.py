# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixture of the Lua tests."""
import pytest

from lua import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
