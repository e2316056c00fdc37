# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows which data bench sweep prepares for its runs, which it removes, and that the files of a user stay."""

import json

import pytest

import bench
from sweeps import CPU, OWN, SQLITE, sweep, study, table, results, options


def test_data_are_prepared_for_the_runs_that_need_them(tmp_path):
    done = sweep(tmp_path, "--vary=threads=1,2", "--vary=table-size=10,20,30", "--repeat=2",
                 "--prepare", "--cleanup", *SQLITE, "run")
    assert done.status == 0, done
    order = [point % 3 for point in study(tmp_path)["order"]]
    # In each repeat the runs of one size follow each other.
    assert sum(a != b for a, b in zip(order[:6], order[1:6])) == 2
    assert not (tmp_path / "s/data.json").exists()
    assert not list((tmp_path / "s/runs").glob("*.err"))
    assert {options(d)["table-size"] for d in results(tmp_path).values()} == {"10", "20", "30"}
    for document in results(tmp_path).values():
        assert document["groups"][0]["total"]["figures"]["transactions"] == 4
    left = bench.run(*SQLITE, "run", cwd=tmp_path)
    assert left.status == 1 and "run 'prepare' first" in left.err


def test_options_of_runs_change_no_data(tmp_path):
    done = sweep(tmp_path, "--vary=point-selects=1,2", "--vary=table_size=10,20", "--repeat=2",
                 "--seed=1", "--prepare", *SQLITE, "run")
    assert done.status == 0
    order = [point % 2 for point in study(tmp_path)["order"]]
    assert order[0] == order[1] and order[2] == order[3]


def test_a_script_says_which_options_keep_its_data(tmp_path):
    (tmp_path / "own.lua").write_text(OWN % "true")
    args = ("--vary=hot=1,2,3", "--vary=rows=1,2", "--repeat=1", "--seed=3", "--prepare", "./own.lua",
            "--db-driver=null", "--time=0", "--events=2", "run")
    done = sweep(tmp_path, *args)
    assert done.status == 0, done
    assert study(tmp_path)["settings"]["data"] == ["rows"]
    order = [point % 2 for point in study(tmp_path)["order"]]
    assert sum(a != b for a, b in zip(order, order[1:])) == 1
    traits = {row["name"]: row["traits"] for row in results(tmp_path)["runs/0001.json"]["facts"]["options"]}
    assert (traits["hot"], traits["rows"]) == (["keeps_data"], [])
    # The order of the runs follows from it.
    (tmp_path / "own.lua").write_text(OWN % "false")
    done = sweep(tmp_path, "--resume", *args)
    assert done.status == 1 and (
        'was begun with another list of options that change the data: ["rows"], not ["hot","rows"]'
    ) in done.err, done


@pytest.mark.parametrize("more", [("--vary=threads=1,2",), ("--vary=threads=1,2", "--cleanup")])
def test_data_are_removed_at_the_end(tmp_path, more):
    """Kind 20 of issue 37: a sweep removes what it made."""
    assert sweep(tmp_path, *more, "--repeat=1", "--prepare", *SQLITE, "--table-size=10",
                 "run").status == 0
    assert not (tmp_path / "s/data.json").exists()
    assert bench.run(*SQLITE, "--table-size=10", "run", cwd=tmp_path).status == 1


@pytest.mark.parametrize("test", ["oltp_read_only", "bulk_insert", "select_random_points"])
def test_cleanup_gives_the_room_back(tmp_path, test):
    """Kind 20 of issue 37: SQLite kept the pages of tables that were dropped."""
    args = (test, "--db-driver=sqlite", "--sqlite-db=x.db")
    size = () if test == "bulk_insert" else ("--table-size=20000",)
    assert bench.run(*args, *size, "prepare", cwd=tmp_path).status == 0
    if test == "bulk_insert":
        assert bench.run(*args, "--events=50000", "--time=0", "run", cwd=tmp_path).status == 0
    assert (tmp_path / "x.db").stat().st_size > 500_000
    assert bench.run(*args, "cleanup", cwd=tmp_path).status == 0
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 20_000


def test_data_are_removed_after_a_failure(tmp_path):
    (tmp_path / "data.lua").write_text(
        "function prepare() assert(io.open('data', 'w')):close() end\n"
        "function cleanup() assert(os.remove('data')) end\n"
        "function thread_init() error('no') end\n"
        "function event() end\n")
    done = sweep(tmp_path, "--vary=threads=1,2", "--repeat=1", "--prepare", "./data.lua", "run")
    assert done.status == 1 and "the first run" in done.err, done
    assert not (tmp_path / "s/data.json").exists() and not (tmp_path / "data").exists()


def test_data_stay_without_cleanup(tmp_path):
    assert sweep(tmp_path, "--vary=threads=1,2", "--repeat=1", "--prepare", "--cleanup=off", *SQLITE,
                 "--table-size=10", "run").status == 0
    assert json.loads((tmp_path / "s/data.json").read_text())["whole"] is True
    assert bench.run(*SQLITE, "--table-size=10", "run", cwd=tmp_path).status == 0


def test_files_of_the_user_are_not_cleaned_up(tmp_path):
    """The sweep removed them at its end, because fileio prepares on files that exist."""
    fileio = ("fileio", "--file-num=2", "--file-total-size=64K")
    assert bench.run(*fileio, "prepare", cwd=tmp_path).status == 0
    args = ("--vary=threads=1,2", "--repeat=1", "--prepare", *fileio, "--file-test-mode=rndrd",
            "--events=2", "run")
    for more in ((), ("--resume",)):
        done = sweep(tmp_path, *more, *args)
        assert done == ("", "bench sweep: Reusing existing file test_file.0: the files are not data of the sweep; "
                        "remove them with 'cleanup', or leave out --prepare\n", 1)
        assert (tmp_path / "test_file.1").exists()
    assert bench.run(*fileio, "cleanup", cwd=tmp_path).status == 0
    assert sweep(tmp_path, "--resume", *args).status == 0
    assert not (tmp_path / "test_file.0").exists()


def test_files_of_the_user_are_found_by_a_later_prepare(tmp_path):
    """The first prepare makes one file, and the second one needs that of the user too."""
    (tmp_path / "test_file.1").write_bytes(bytes(4096))
    done = sweep(tmp_path, "--vary=file-num=1,2", "--seed=1", "--repeat=1", "--prepare", "fileio",
                 "--file-total-size=64K", "--file-test-mode=rndrd", "--events=2", "run")
    assert done.status == 1 and "Extending existing file test_file.1: the files are not data" in done.err, done
    assert table(tmp_path)["points"][0]["n"] == 1
    assert (tmp_path / "test_file.1").exists() and not (tmp_path / "s/data.json").exists()


@pytest.mark.parametrize("quiet", [("--quiet",), ("--verbosity=0",), ("--compat=1.0", "--verbosity=0")])
def test_quiet_runs_take_no_files_of_the_user_either(tmp_path, quiet):
    fileio = ("fileio", "--file-num=2", "--file-total-size=64K")
    assert bench.run(*fileio, "prepare", cwd=tmp_path).status == 0
    done = sweep(tmp_path, "--vary=threads=1,2", "--repeat=1", "--prepare", *fileio, "--file-test-mode=rndrd",
                 "--events=2", *quiet, "run")
    assert done.status == 1 and "Reusing existing file test_file.0" in done.err, done
    assert (tmp_path / "test_file.1").exists()


def test_an_empty_value_is_varied(tmp_path):
    args = ("--vary=db-init-sql=,PRAGMA cache_size=1", "--repeat=1", "--prepare", *SQLITE, "run")
    assert sweep(tmp_path, *args).status == 0
    assert [p["values"]["db-init-sql"] for p in table(tmp_path)["points"]] == ["", "PRAGMA cache_size=1"]
    assert sweep(tmp_path, "--resume", *args).status == 0
    for vary in (("--vary=threads=",), ("--vary=threads=", "--vary=events=1,2")):
        done = sweep(tmp_path, *vary, *CPU)
        assert done.err == "bench sweep: --vary=threads=: the values are missing; write NAME=VALUE,VALUE,...\n"


def test_data_of_the_user_are_not_cleaned_up(tmp_path):
    assert bench.run(*SQLITE, "--table-size=10", "prepare", cwd=tmp_path).status == 0
    args = ("--vary=table-size=10,20", "--repeat=1", "--prepare", *SQLITE, "run")
    for more in ((), ("--resume",)):
        done = sweep(tmp_path, *more, *args)
        assert done.status == 1
        assert done.err.startswith("bench sweep: prepare failed: ")
        assert "already exists" in done.err
    assert bench.run(*SQLITE, "--table-size=10", "run", cwd=tmp_path).status == 0


def test_data_that_were_being_prepared_are_made_anew(tmp_path):
    args = ("--vary=table-size=10,20", "--repeat=1", "--seed=1", "--prepare", "--cleanup=off",
            *SQLITE, "run")
    assert sweep(tmp_path, *args).status == 0
    data = json.loads((tmp_path / "s/data.json").read_text())
    data["whole"] = False
    (tmp_path / "s/data.json").write_text(json.dumps(data))
    (tmp_path / "s/runs/0002.json").unlink()
    assert sweep(tmp_path, "--resume", *args).status == 0
    assert len(results(tmp_path)) == 2
