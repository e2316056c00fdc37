# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the options of a driver module the program was not built with are known when asked for."""

import shutil
import subprocess

import pytest

import bench
import prefix

SCRIPT = "function prepare() print(sysbench.opt.foreign_speed) end\n"


@pytest.fixture(name="program", scope="module")
def program_with_driver(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("foreign")
    program = prefix.move(folder)
    source = bench.source_root()
    module = folder / "lib" / "bench" / "drivers" / "foreign.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", f"-I{source / 'src'}", "-o", module]
        + [source / "tests" / "cli" / "foreign_driver.c"],
        check=True,
    )
    (folder / "s.lua").write_text(SCRIPT)
    return program


def prepare(program, *args):
    return bench.run(
        "s.lua", *args, "prepare", program=str(program), cwd=program.parents[1], dialect="1.1"
    )


@pytest.mark.sanitized
def test_options_of_the_driver(program):
    assert prepare(program, "--db-driver=foreign").out.endswith("\n7\n")
    assert prepare(program, "--foreign-speed=3", "--db-driver=foreign").out.endswith("\n3\n")
    got = prepare(program, "--db-driver=foreign", "--foreign-speed=10")
    assert got == ("FATAL: Invalid value for --foreign-speed: 10 (allowed: 1 to 9)\n", "", 1)


def test_help_lists_it(program):
    line = "  foreign - added module; its options are known with --db-driver=foreign\n"
    assert line in bench.run("--help", program=str(program)).out
    assert line not in bench.run("--help", program=str(program), dialect="1.0").out


def test_driver_that_is_not_asked_for(program):
    got = prepare(program, "--foreign-speed=3")
    assert (got.err, got.status) == ("invalid option: --foreign-speed=3\n", 1)
    assert prepare(program).out.endswith("\nnil\n")


def test_driver_that_is_not_there(program):
    """Tests without a database never complain."""
    got = bench.run("cpu", "--db-driver=absent", *bench.QUICK, "run", program=str(program))
    assert (got.err, got.status) == ("", 0)
