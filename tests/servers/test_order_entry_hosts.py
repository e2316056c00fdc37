# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that all commands of order_entry work on several hosts: they load and reset together, the first one checks."""
import re

import pytest

import transcripts
from gate import slow
from test_many_hosts import fleet  # noqa: F401 (a fixture)

ALL_HOLD = "Checked: 21 of 21 conditions hold, 0 violated, 0 could not be checked"
FIRST_CHECKS = "Checking with the 2 threads of the first host alone\n"


def change(server, text):
    server.sql(("USE spec_db; " if server.driver == "mysql" else "") + text)


@pytest.mark.parametrize("server", ["mariadb_plain", slow("postgresql")], indirect=True)
def test_commands_of_two_hosts(fleet, server):  # noqa: F811
    """The exit status of a check is that of the first host, and a run says where its rate is."""
    transcripts.empty(server)

    def bench(*words, status=0, threads=2):
        done = fleet.run("a,b", "order_entry", *server.login(), f"--threads={threads}", *words)
        assert done.status == status, done.err
        return done

    done = bench("--warehouses=2", "prepare")
    assert "Loaded: 2 warehouses\n" + FIRST_CHECKS + "Checked: 10 of 10 conditions hold" in done.out
    done = bench("--time=0", "--events=40", "run")
    said = re.findall("^([ab]): +not in the report of several hosts or groups: NOPM", done.err, re.M)
    assert sorted(said) == ["a", "b"] and "sysbench.hooks" not in done.err
    assert "NOPM" not in done.out and done.total["events"] == 40
    done = bench("check")
    assert FIRST_CHECKS in done.out and done.out.count("holds\n") == 21 and ALL_HOLD in done.out
    change(server, "UPDATE stock SET s_quantity = 5 WHERE s_w_id = 2 AND s_i_id = 9")
    done = bench("check", status=3, threads=1)
    assert "is violated by 1 row; the first: s_w_id=2, s_i_id=9, s_quantity=5" in done.out and "failed" not in done.err
    done = bench("reset")
    assert sorted(re.findall(r"^Resetting warehouse (\d)", done.out, re.M)) == ["1", "2"]
    assert ALL_HOLD in bench("check").out
    bench("cleanup")
