# SPDX-License-Identifier: GPL-2.0-or-later
"""What is not compared with the reference."""

import os

# Sanitizers see every command line in the transcripts; and the reference is equal to itself.
collect_ignore = []
if os.environ.get("BENCH_SANITIZER") or os.environ.get("BENCH_REFERENCE") == "1":
    collect_ignore.append("test_differential.py")
