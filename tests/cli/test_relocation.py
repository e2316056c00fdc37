# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the program finds its scripts and modules through links and in a moved prefix."""

import os
import shutil

import pytest

import bench
import prefix


@pytest.fixture(name="moved")
def moved_prefix(tmp_path):
    folder = prefix.move(tmp_path / "moved" / "here").parents[1]
    (folder / "share" / "bench" / "probe_here.lua").write_text("print('found')\n")
    return folder


def listed_drivers(text):
    lines = text.split("Compiled-in database drivers:\n")[1].split("\n")
    return sorted(line.split()[0] for line in lines[: lines.index("")])


def find(program, cwd, **kwargs):
    return bench.run("probe_here", program=str(program), cwd=cwd, **kwargs)


def test_moved_prefix(moved, tmp_path):
    got = find(moved / "bin" / "bench", tmp_path)
    assert got.out.endswith("\nfound\n") and got.status == 0


def test_through_links(moved, tmp_path):
    link = tmp_path / "links" / "deep"
    link.mkdir(parents=True)
    os.symlink(moved / "bin" / "bench", link / "one")
    os.symlink("one", link / "sysbench")
    for name in ("one", "sysbench"):
        got = find(link / name, tmp_path)
        assert got.out.endswith("\nfound\n") and got.status == 0


def test_through_the_path(moved, tmp_path):
    path = f"{moved / 'bin'}:{os.environ['PATH']}"
    assert find("bench", tmp_path, env={"PATH": path}).out.endswith("\nfound\n")


def test_without_its_scripts(moved, tmp_path):
    shutil.rmtree(moved / "share")
    got = find(moved / "bin" / "bench", tmp_path)
    assert (
        "FATAL: Cannot find benchmark 'probe_here': no such built-in test, file or module\n"
        in got.err
    )
    assert got.status == 1


def test_drivers_in_the_help_are_those_present(moved, tmp_path):
    program = str(moved / "bin" / "bench")
    drivers = moved / "lib" / "bench" / "drivers"
    present = sorted(path.stem for path in drivers.glob("*.so"))
    listed = bench.run("--help", program=program).out
    assert listed_drivers(listed) == present
    shutil.rmtree(drivers)
    assert listed_drivers(bench.run("--help", program=program).out) == []


@pytest.mark.parametrize("module, package, option, args", [
    ("engines/async", "libaio-dev", "file-io-mode", ["fileio", "--file-io-mode=async", "--file-test-mode=rndrd"]),
    ("engines/io_uring", "liburing-dev", "file-io-mode", ["fileio", "--file-io-mode=io_uring",
                                                          "--file-test-mode=rndrd"]),
    ("placements/numa", "libnuma-dev", "memory-numa", ["memory", "--memory-numa=0"]),
    ("drivers/mysql", "libmariadb-dev", "db-driver", ["oltp_point_select", "--db-driver=mysql"]),
    ("drivers/pgsql", "libpq-dev", "db-driver", ["oltp_point_select", "--connect=postgresql://h/d"]),
    ("drivers/sqlite", "libsqlite3-dev", "db-driver", ["oltp_point_select", "--db-driver=sqlite"]),
    ("drivers/null", None, None, ["oltp_point_select", "--db-driver=null"]),
])
def test_a_module_that_is_missing(moved, tmp_path, module, package, option, args):
    path = moved / "lib" / "bench" / f"{module}.so"
    path.unlink(missing_ok=True)
    done = bench.run(*args, "run", program=str(moved / "bin" / "bench"), cwd=tmp_path)
    kind = path.parent.name[:-1]
    advice = f"; install the package {package} (its name on Debian) and build bench again (--{option})"
    assert f"FATAL: there is no {kind} module '{path}'{advice if package else ''}\n" in done.out + done.err
    assert done.status == 1


def test_a_script_beside_the_bundled_workloads_may_have_tables_of_its_own(moved, tmp_path):
    (moved / "share" / "bench" / "own_tables.lua").write_text("""
require("oltp_common")
function prepare_statements() end
function event() con:query("SELECT 1") end
""")
    program = str(moved / "bin" / "bench")
    for workload, word in (("oltp_read_write", "prepare"), ("oltp_read_write", "cleanup"), ("own_tables", "run")):
        done = bench.run(workload, "--db-driver=sqlite", "--table-size=1", "--events=3", word, program=program,
                         cwd=tmp_path)
        assert (done.err, done.status) == ("", 0)
    missing = bench.run("oltp_point_select", "--db-driver=sqlite", "run", program=program, cwd=tmp_path)
    assert (missing.err, missing.status) == ("table 'sbtest1' does not exist: run 'prepare' first\n", 1)
