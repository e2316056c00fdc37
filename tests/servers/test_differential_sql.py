# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every bundled workload with sysbench 1.0.20 itself and with ours as 1.0 on the same servers, and
compares the form of what they print and their exit status."""

import os
import pathlib
import tempfile

import pytest

import transcripts
import deviations
import form
import runner

REFERENCE = os.environ.get("BENCH_REFERENCE_BIN", "/usr/bin/sysbench")
WORKLOADS = (
    "oltp_read_write oltp_read_only oltp_write_only oltp_point_select oltp_insert oltp_delete "
    "oltp_update_index oltp_update_non_index select_random_points select_random_ranges bulk_insert"
).split()
# Further runs of bulk_insert and of inserts would find their rows there already.
STEPS = {
    "prepare": ["prepare"],
    "run": ["--events=20", "run"],
    "interval": ["--time=2", "--threads=2", "--report-interval=1", "run"],
    "text": ["--events=20", "--db-ps-mode=disable", "--histogram", "run"],
    "cleanup": ["cleanup"],
}


def outputs(binary, version, workload, server):
    env = dict(runner.INHERITED, LC_ALL="C")
    if version:
        env["BENCH_COMPAT"] = version
    sizes = [] if workload == "bulk_insert" else ["--table-size=200"]
    transcripts.empty(server)
    found = {}
    with tempfile.TemporaryDirectory(prefix="bench-differential-") as name:
        for step, argv in STEPS.items():
            if workload in ("bulk_insert", "oltp_insert") and step in ("interval", "text"):
                continue
            argv = [workload, *server.login(), *sizes, *argv]
            output = runner.execute([binary, *argv], pathlib.Path(name), env)
            found[step] = argv, output
    return found


def reduced(argv, output):
    return form.reduce_output(output, form.Context(argv, "", "1.0.20"))


@pytest.mark.parametrize("driver", ["mysql", "pgsql"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_same(workload, driver, mariadb_plain, postgresql):
    server = mariadb_plain if driver == "mysql" else postgresql
    for _ in range(3):
        reference = outputs(REFERENCE, None, workload, server)
        ours = outputs(runner.binary(), "1.0", workload, server)
        wrong = []
        for step, (argv, output) in ours.items():
            transcript = form.Transcript("1.0.20", "", {}, argv, None, [], [], 0)
            got = deviations.tolerated(transcript, reduced(argv, output))
            differences = form.differences(reduced(*reference[step]), got)
            wrong += [f"{step}:", *differences] if differences else []
        if not wrong:
            return
    pytest.fail("\n".join(wrong), pytrace=False)
