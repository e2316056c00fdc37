# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows how configuration files are read, and that nothing in them is lost without a word."""

import pytest

import bench


@pytest.fixture(name="cpu")
def cpu_with_file(tmp_path):
    def run(text, *args, dialect="own"):
        (tmp_path / "c.cfg").write_text(text)
        return bench.run(
            "cpu", "--config-file=c.cfg", *args, "run", dialect=dialect, cwd=tmp_path
        )

    return run


def test_options_of_the_program_and_of_the_test(cpu):
    got = cpu("# comment\nthreads=3\ncpu-max-prime = 20 # tail\n\n  events\t=\t'7'\njust text\n")
    assert "Number of threads: 3\n" in got.out
    assert "Prime numbers limit: 20\n" in got.out
    assert "total number of events:              7\n" in got.out
    assert (got.err, got.status) == ("c.cfg:6: 'just' is ignored: there is no '=' in its line\n", 0)


@pytest.mark.parametrize("dialect", ["own", "1.1", "1.0", "0.5"])
def test_files_without_an_end_are_refused(tmp_path, dialect):
    (tmp_path / "long").write_text("threads=" + "9" * (1 << 20))
    with open(tmp_path / "huge", "w", encoding="ascii") as huge:
        huge.truncate(1 << 40)
    args = ["--test=cpu"] if dialect == "0.5" else ["cpu"]
    for name in "/dev/zero", "long", "huge":
        got = bench.run(f"--config-file={name}", *args, "run", dialect=dialect, cwd=tmp_path)
        assert got.err == f"--config-file={name}: the file is larger than 1 MiB\n"
        assert got.status == 1


def test_scripts_without_an_end_are_refused(tmp_path):
    """They took all memory."""
    got = bench.run("/dev/zero", "run", cwd=tmp_path)
    assert (got.status, got.err.splitlines()[0]) == (1, "FATAL: cannot open /dev/zero: File too large")
    with open("/dev/zero", encoding="ascii") as zero:
        got = bench.run("-", "run", cwd=tmp_path, stdin=zero)
    assert (got.status, got.err.splitlines()[0]) == (1, "FATAL: cannot read the standard input: File too large")


def test_the_largest_file(cpu):
    last = "events=7"
    got = cpu("#" * ((1 << 20) - len(last) - 1) + "\n" + last)
    assert "total number of events:              7\n" in got.out and got.status == 0


@pytest.mark.parametrize("dialect", ["own", "1.0", "0.5"])
def test_lines_without_a_value_are_named(tmp_path, dialect):
    text = "[client]\nthreads 4\n--time: 3\n  debug\r\n\n# no more\n\t\nmysql-password secret\n"
    (tmp_path / "c.cfg").write_text(text)
    args = ["--test=cpu", "--max-requests=5"] if dialect == "0.5" else ["cpu", *bench.QUICK]
    got = bench.run("--config-file=c.cfg", *args, "run", dialect=dialect, cwd=tmp_path)
    assert "Number of threads: 1\n" in got.out and "Debug mode" not in got.out
    expected = ((2, "threads"), (3, "time"), (4, "debug"), (8, "mysql-password"))
    assert got.err == "".join(
        f"c.cfg:{line}: '{name}' is ignored: there is no '=' in its line\n"
        for line, name in expected
        if dialect == "own"
    )


def test_quiet_hides_the_notes(cpu):
    """Also if it follows --config-file."""
    text = "threads 4\nevents=7 8\n"
    for quiet in ("--quiet",), ("--quiet=off", "--quiet=on"):
        got = cpu(text, *quiet)
        assert (got.err, got.status) == ("", 0)
        assert "total number of events:              7\n" in got.out
    assert cpu(text, "--quiet=off").err == (
        "c.cfg:1: 'threads' is ignored: there is no '=' in its line\n"
        "c.cfg:2: only the first item of 'events' is used: '7'\n")
    assert "first item" not in cpu("max-requests=7 8\n", "--quiet").err  # read again under the present name


def test_lines_of_windows(cpu):
    got = cpu("threads=2\r\ntime=abc\r\n")
    text = "c.cfg:2: time=abc: not a time; allowed: 0 or more seconds, also with ms, s, m or h\n"
    assert (got.err, got.status) == (text, 1)


@pytest.mark.parametrize("dialect", ["1.0", "1.1"])
def test_nothing_in_quotes_is_nothing(cpu, dialect):
    got = cpu("time=''\nrate=\"\"\n", *bench.QUICK, dialect=dialect)
    assert (got.err, got.status) == ("", 0)


def test_passwords_are_not_shown(cpu):
    got = cpu("mysql-password=my secret\nmysql-user=my self\n", *bench.QUICK)
    assert got.err == (
        "c.cfg:1: only the first item of 'mysql-password' is used: write it in quotes\n"
        "c.cfg:2: only the first item of 'mysql-user' is used: 'my'\n"
    )


def test_the_test_may_stand_in_the_file(tmp_path):
    (tmp_path / "c").write_text("test=cpu\nevents=1\ncpu-max-prime=3\n")
    (tmp_path / "s.lua").write_text('function event() print("mine") end\n')
    command = ["--config-file=c", "run"]
    for args, line in (
        (command, "Prime numbers limit: 3\n"),
        (["run", "--config-file=c"], "Prime numbers limit: 3\n"),
        (["memory", "--memory-total-size=1M", *command], "memory"),
        (["--test=memory", "--memory-total-size=1M", *command], "memory"),
        (["s.lua", *command], "mine\n"),
        (["--config-file=c", "help"], "--cpu-max-prime=N"),
    ):
        got = bench.run(*args, cwd=tmp_path)
        assert got.status == 0 and line in got.out, args
    got = bench.run("--config-file=c", cwd=tmp_path)
    assert got.err == "The 'cpu' test requires a command argument. See 'bench cpu help'\n"
    got = bench.run("--config-file=c", "walk", cwd=tmp_path)
    assert (got.err, got.status) == ("Unknown command: walk\ncommands of 'cpu': run, help\n", 1)
    got = bench.run(*command, "--max-requests=1", cwd=tmp_path, dialect="0.5")
    assert "Prime numbers limit: 3\n" in got.out and got.status == 0
    # sysbench takes the test from its arguments alone.
    for dialect in ("1.0", "1.1"):
        got = bench.run(*command, cwd=tmp_path, dialect=dialect)
        assert "FATAL: Cannot find benchmark 'run'" in got.out


def test_what_stands_right_of_the_file_wins(tmp_path):
    (tmp_path / "c.cfg").write_text("threads=3\n")
    args = ["cpu", *bench.QUICK, "run"]
    got = bench.run("--threads=2", "--config-file=c.cfg", *args, cwd=tmp_path)
    assert "Number of threads: 3\n" in got.out
    got = bench.run("--config-file=c.cfg", "--threads=2", *args, cwd=tmp_path)
    assert "Number of threads: 2\n" in got.out


def test_booleans(cpu):
    assert "Debug mode" not in cpu("debug=off\nhelp=\n", *bench.QUICK).out
    assert "Debug mode enabled.\n" in cpu("debug=on\n", *bench.QUICK).out
    got = cpu("debug=maybe\n", *bench.QUICK)
    assert got == (
        "",
        "c.cfg:1: debug=maybe: neither on nor off; allowed: on, true, 1, off, false, 0\n",
        1,
    )


@pytest.mark.parametrize("dialect", ["1.0", "1.1"])
def test_dialects_ignore_options_of_the_test(cpu, dialect):
    got = cpu("cpu-max-prime=20\ntime=3\n", *bench.QUICK, dialect=dialect)
    assert "Prime numbers limit: 20\n" not in got.out
    assert (got.err, got.status) == ("", 0)


def test_0_5_takes_options_of_tests_and_only_its_own_names(tmp_path):
    (tmp_path / "c.cfg").write_text("cpu-max-prime=20\nthreads=3\nnum-threads=2\n")
    args = ("--test=cpu", "--config-file=c.cfg", "--max-requests=5", "run")
    got = bench.run(*args, dialect="0.5", cwd=tmp_path)
    assert "Prime numbers limit: 20\n" in got.out and "Number of threads: 2\n" in got.out
    assert got.err == ""


@pytest.mark.parametrize("dialect", ["1.0", "1.1"])
def test_dialects_take_names_and_switches_as_they_stand(cpu, dialect):
    got = cpu("# comment = 1\n threads=2\n--threads=3\ndebug=off\n", *bench.QUICK, dialect=dialect)
    assert "Number of threads: 1\n" in got.out and "Debug mode enabled.\n" in got.out
    assert got.err == ""
    assert "Debug mode" not in cpu("debug=\n", *bench.QUICK, dialect=dialect).out


def test_lists_and_first_items(cpu):
    got = cpu("report-checkpoints=1, 2,3 '4'\ntime=1\n", *bench.QUICK)
    assert "Report checkpoint(s) at 1, 2, 3, 4 seconds\n" in got.out
    got = cpu("threads=2 3\n", *bench.QUICK)
    assert "Number of threads: 2\n" in got.out
    assert got.err == "c.cfg:1: only the first item of 'threads' is used: '2'\n"
    got = cpu("percentile=50,95\n", *bench.QUICK, dialect="1.0")
    assert got.err == "" and got.out.count("percentile:") == 1 and " 50th percentile:" in got.out
    got = cpu("percentile=50,95\n", *bench.QUICK)
    assert got.err == "" and got.out.count("percentile:") == 2


def test_commas_belong_to_a_text(cpu, tmp_path):
    lines = "hosts-shell=false\nhosts=one:1, two:2,'three'\n"
    got = cpu(lines, "--events=9", "--time=1")
    assert got.status == 1 and "only the first item" not in got.err
    assert all(f"{host}: lost: " in got.err for host in ("one", "two", "three")), got.err
    got = cpu(lines.replace(", two", " two"), "--events=9", "--time=1")
    assert "c.cfg:2: only the first item of 'hosts' is used: 'one:1'\n" in got.err
    assert "one: lost: " in got.err and "two: " not in got.err, got.err
    # sysbench takes the first item.
    (tmp_path / "s.lua").write_text("function event() print(sysbench.opt.mysql_user) end\n")
    args = ("s.lua", "--config-file=c", "--events=1", "run")
    for value, own, first in (("a,b", "a,b", "a"), (",a,, b,", ",a,,b,", "a"), ("'a b',,", "a b,,", "a b")):
        (tmp_path / "c").write_text(f"mysql-user={value}\n")
        for dialect, text in (("own", own), ("1.1", first)):
            got = bench.run(*args, cwd=tmp_path, dialect=dialect)
            assert f"\n{text}\n" in got.out and got.err == "", (value, dialect)


def test_dashes_before_names(cpu):
    assert "Number of threads: 2\n" in cpu("--threads=2\n", *bench.QUICK).out


def test_unknown_names_are_reported(cpu):
    got = cpu("unknown-opt=foo\ncpu-maxprime=5\n", *bench.QUICK)
    assert got.status == 0
    assert got.err == (
        "c.cfg:1: unknown option 'unknown-opt' is ignored\n"
        "c.cfg:2: unknown option 'cpu-maxprime' is ignored (did you mean cpu-max-prime?)\n"
    )


@pytest.mark.parametrize("dialect", bench.DIALECTS)
def test_unknown_names_with_scripts(dialect, tmp_path):
    (tmp_path / "c.cfg").write_text("no-such=1\n")
    (tmp_path / "s.lua").write_text("function prepare() print('done') end\n")
    got = bench.run("--config-file=c.cfg", "s.lua", "prepare", dialect=dialect, cwd=tmp_path)
    got = bench.without_banner(got, dialect)
    if dialect == "own":
        assert got == ("done\n", "c.cfg:1: unknown option 'no-such' is ignored\n", 0)
    else:
        assert got.out == (
            "WARNING: Global option 'no_such' will not be exported, because the type is unknown\n"
            "done\n"
        )
    got = bench.run("--config-file=c.cfg", "oltp_read_only", "help", dialect=dialect, cwd=tmp_path)
    assert "WARNING" not in got.out and ("no-such" in got.err) == (dialect == "own")


@pytest.mark.parametrize("dialect", bench.DIALECTS)
def test_missing_file(dialect, tmp_path):
    args = ("--config-file=no.cfg", "cpu", *bench.QUICK, "run")
    got = bench.run(*args, dialect=dialect, cwd=tmp_path)
    named = "--config-file=" if dialect == "own" else ""
    assert got.err == f"{named}no.cfg: No such file or directory\n"
    # sysbench goes on without it.
    assert (got.out == "", got.status) == ((True, 1) if dialect == "own" else (False, 0))


def test_a_folder_is_no_file(tmp_path):
    got = bench.run("--config-file=.", "cpu", "run", cwd=tmp_path)
    assert got == ("", "--config-file=.: Is a directory\n", 1)


def test_quote_that_is_not_closed(cpu):
    got = cpu('events=1\nthreads="2\n')
    assert got == ("", "c.cfg:2: the quote in the value of 'threads' is not closed\n", 1)
    got = cpu('events=1\nthreads="2\n', dialect="1.0")
    assert got == ("FATAL: Invalid value for --threads: 0.\n\n", "unexpected EOL on line 2\n", 1)


def test_value_out_of_bounds_names_the_place(cpu):
    got = cpu("threads=0\n")
    assert got == ("", "c.cfg:1: threads=0: out of range; allowed: 1 to 1000000\n", 1)
    got = cpu("events=1\npercentile=200\n")
    ranks = "more than 0, at most 100, or 0 alone for none"
    assert got == ("", f"c.cfg:2: percentile=200: out of range; allowed: {ranks}\n", 1)
    got = cpu("percentile=200\n", "--percentile=201")
    assert got == ("", f"--percentile=201: out of range; allowed: {ranks}\n", 1)
    got = cpu("percentile=200\n", dialect="1.1")
    assert got == ("FATAL: Invalid value for --percentile: 200\n", "", 1)


@pytest.mark.sanitized
def test_what_a_file_cannot_contain(cpu):
    for name in ("config-file", "compat"):
        got = cpu(f"{name}=1.0\n")
        assert got == ("", f"c.cfg:1: '{name}' can only be given on the command line\n", 1)


@pytest.mark.sanitized
def test_long_lines(cpu):
    assert "Number of threads: 2\n" in cpu("#" * 5000 + "\nthreads=2" + " " * 5000, *bench.QUICK).out


@pytest.mark.parametrize("line, second, first", [
    ("--threads=2 --events=3 --histogram=on", "--events", "threads"),
    ("threads=2 events=3", "events", "threads"),
    ("--mysql-host=a,b --mysql-user=u", "--mysql-user", "mysql-host"),
    ("percentile=95 99 --cpu-max-prime=3", "--cpu-max-prime", "percentile"),
    ("--mysql-password= --threads=2", "--threads", "mysql-password"),
    ("mysql-db='a b' --verbosity=5 run", "--verbosity", "mysql-db"),
    ("--mysql-user=u --mysql-password=secret", "--mysql-password", "mysql-user"),
    ("assert=p95<1s --debug", "--debug", "assert"),
])
def test_each_option_has_a_line_of_its_own(cpu, line, second, first):
    got = cpu(f"events=1\n{line}\n")
    assert got.err == (f"c.cfg:2: '{second}' stands after '{first}': write each option on a line of its own, or "
                       "the value in quotes\n") and got.status == 1
    assert "secret" not in got.err + got.out
    if first != "assert":
        assert cpu(f"{line}\n", "--events=1", dialect="1.1").status == 0


@pytest.mark.parametrize("line", ["mysql-db='a --threads=2'", "mysql-db=a # --threads=2", "mysql-password=a--threads=2",
                                  "mysql-password=--threads", "label=threads=2"])
def test_what_only_looks_like_a_second_option(cpu, line):
    assert cpu(f"{line}\n", *bench.QUICK).status == 0
