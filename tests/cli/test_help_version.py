# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows version, banner and help in each dialect, and that the help tells the defaults."""

import os
import re

import pytest

import bench

VERSION = {"1.1": "sysbench 1.1.0", "1.0": "sysbench 1.0.20", "0.5": "sysbench 0.5"}


def test_version():
    got = bench.run("--version")
    assert re.fullmatch(r"bench \d+\.\d+\.\d+\n", got.out) and got[1:] == ("", 0)
    for dialect, text in VERSION.items():
        assert bench.run("--version", dialect=dialect) == (text + "\n", "", 0)
        assert bench.run(f"--compat={dialect}", "--version") == (text + "\n", "", 0)
    assert bench.run("--compat=1.0", "--version", dialect="1.1").out == "sysbench 1.0.20\n"


def test_dialect_by_the_name_of_the_program(tmp_path):
    link = tmp_path / "sysbench"
    os.symlink(bench.binary(), link)
    assert bench.run("--version", program=str(link)).out == "sysbench 1.0.20\n"
    assert bench.run("--version", program=str(link), dialect="1.1").out == "sysbench 1.1.0\n"


def test_banner():
    for dialect in bench.DIALECTS:
        version = bench.run("--version", dialect=dialect).out.rstrip("\n")
        got = bench.run("cpu", "help", dialect=dialect)
        word = ":  multi-threaded" if dialect == "0.5" else " (using system LuaJIT 2.1"
        assert got.out.startswith(version + word)
        assert got.out.split("\n")[1:3] == ["", "cpu options:"]
    got = bench.run("cpu", "help", dialect="0.5")
    assert got.out.startswith("sysbench 0.5:  multi-threaded system evaluation benchmark\n\n")


def options_of(text):
    """{option: (form, default)} of every option line; no default: None."""
    found = {}
    for line in re.sub(r"\n {10,}", " ", text).split("\n"):
        match = re.match(r"  --([a-z-]+)(\S*)\s+(\S.*?)(?: \[([^\[\]]*)\])?$", line)
        if match:
            found[match[1]] = (match[2], match[4])
    return found


# Options of the reference with their defaults, by version, that every build has.
GENERAL = {
    "1.0": """threads 1;events 0;time 10;forced-shutdown off;thread-stack-size 64K;rate 0;
        report-interval 0;report-checkpoints;debug off;validate off;help off;version off;config-file -;
        tx-rate 0;max-requests 0;max-time 0;num-threads 1;rand-type special;rand-spec-iter 12;
        rand-spec-pct 1;rand-spec-res 75;rand-seed 0;rand-pareto-h 0.2;verbosity 3;percentile 95;
        histogram off""",
    "1.1": """threads 1;events 0;time 10;warmup-time 0;forced-shutdown off;thread-stack-size 64K;
        thread-init-timeout 30;rate 0;report-interval 0;report-checkpoints;debug off;validate off;
        help off;version off;config-file -;luajit-cmd -;rand-type uniform;rand-seed 0;
        rand-pareto-h 0.2;rand-zipfian-exp 0.8;verbosity 3;percentile 95;histogram off""",
    "0.5": """num-threads 1;max-requests 10000;max-time 0;forced-shutdown off;thread-stack-size 64K;
        tx-rate 0;report-interval 0;report-checkpoints;test -;debug off;validate off;help -;
        version off;rand-init off;rand-type special;rand-spec-iter 12;rand-spec-pct 1;
        rand-spec-res 75;rand-seed 0;rand-pareto-h 0.2;config-file -;verbosity 3;percentile 95""",
}
OWN = """completion none;workers 0;connect-at-once 64;time-grace auto;events-per-session 0;rate-profile -;threads-profile -;rate-max-backlog 131072;arrivals poisson;think-time 0;reconnect-rate 0;on-thread-error abort;report text;assert;abort-on-assert 0;label -;watch;watch-lines off;kind-lines off;group -;hosts -;hosts-file -;hosts-shell ssh -o BatchMode=yes;hosts-program bench;threads-total 0;on-host-loss abort;metrics-listen -;metrics-linger 0;report-bins total;quiet off;compat -;clock auto"""


def table(text):
    rows = [row.split() for row in text.replace("\n", " ").split(";")]
    return {
        name: None if rest == ["-"] else " ".join(rest) for name, *rest in rows
    }


@pytest.mark.parametrize("version", sorted(GENERAL))
def test_general_options_of_a_dialect(version):
    text = bench.run("--help", dialect=version).out.split("General database options:")[0]
    found = {name: default for name, (_, default) in options_of(text).items()}
    assert found == table(GENERAL[version])
    assert list(found) == list(table(GENERAL[version]))


def test_own_help_has_all_options():
    text = bench.run("--help").out.split("General database options:")[0]
    found = options_of(text)
    names = set(table(OWN)).union(*(table(GENERAL[version]) for version in GENERAL))
    assert set(found) == names
    for name, default in {**table(GENERAL["1.1"]), **table(OWN)}.items():
        assert found[name][1] == default


def test_protocols_are_options_of_our_own():
    found = options_of(bench.run("--help").out)
    protocols = {name: value for name, value in found.items() if name.endswith("-protocol")}
    # One for each of these drivers that this build has.
    expected = {f"{name}-protocol": ("=STRING", "auto") for name in ("mysql", "pgsql") if f"{name}-db" in found}
    assert protocols == expected
    for dialect in ("0.5", "1.0", "1.1"):
        assert "-protocol" not in bench.run("--help", dialect=dialect).out


def test_forms():
    found = options_of(bench.run("--help", dialect="1.1").out)
    assert found["threads"][0] == "=N"
    assert found["debug"][0] == "[=on|off]"
    assert found["report-checkpoints"][0] == "=[LIST,...]"
    assert found["thread-stack-size"][0] == "=SIZE"
    assert found["config-file"][0] == "=FILENAME"
    assert found["rand-type"][0] == "=STRING"
    assert options_of(bench.run("--help", dialect="0.5").out)["debug"][0] == "=[on|off]"


def test_layout():
    text = bench.run("--help", dialect="1.0").out
    assert text.startswith(
        "Usage:\n  sysbench [options]... [testname] [command]\n\n"
        "Commands implemented by most tests: prepare run cleanup help\n\nGeneral options:\n"
    )
    assert text.endswith(
        "\n\nSee 'sysbench <testname> help' for a list of options for each test.\n\n"
    )
    for part in (
        "\n\nPseudo-Random Numbers Generator options:\n  --rand-type=STRING ",
        "\n\nLog options:\n  --verbosity=N ",
        "\n\nCompiled-in tests:\n",
        "\n  cpu - CPU performance test\n",
    ):
        assert part in text
    own = bench.run("--help").out
    assert "sysbench" not in own.replace("version of sysbench", "")
    assert "\n  oltp_read_write - " in own and "oltp_read_write" not in text


def test_rows_are_short_phrases():
    tests = ("fileio", "cpu", "memory", "threads", "mutex", "oltp_read_write", "select_random_points",
             "select_random_ranges", "order_entry", "tpcb_like")
    texts = [bench.run("--help").out, *(bench.run(test, "help").out for test in tests)]
    rows = [row for text in texts for row in text.split("\n") if row.startswith("  --")]
    assert len(rows) > 150
    for row in rows:
        phrase = re.fullmatch(r"  --\S+\s+(\S.*?)(?: \[[^\[\]]*\])?", row)[1]
        assert len(row) <= 100 and len(phrase) <= 70 and not phrase.endswith("."), row


def test_columns_are_aligned():
    for dialect in (*bench.DIALECTS, "0.5"):
        block = bench.run("--help", dialect=dialect).out.split("General options:\n")[1]
        lines = [line for line in block.split("\n\n")[0].split("\n") if "LIST" not in line]
        # What goes on in the next line begins where the text does.
        ends = {re.match(r"  --\S+\s+| +", line).end() for line in lines}
        assert len(ends) == 1


def test_help_of_tests(tmp_path):
    got = bench.without_banner(bench.run("cpu", "help", dialect="1.0"), "1.0")
    assert re.fullmatch(r"cpu options:\n  --cpu-max-prime=N \S.* \[10000\]\n\n", got.out)
    (tmp_path / "s.lua").write_text(
        "sysbench.cmdline.options = {zz = {'last', 'x'}, a_b = {'first', 2}}\n"
    )
    got = bench.without_banner(bench.run("s.lua", "help", cwd=tmp_path))
    assert got.out.startswith("s.lua options:\n  --a-b=N") and got.status == 0
    assert got.out.index("--a-b") < got.out.index("--zz")
    got = bench.without_banner(bench.run("s.lua", "help", cwd=tmp_path, dialect="1.0"), "1.0")
    assert got.out.startswith("s.lua options:\n  --a_b=N")
    (tmp_path / "none.lua").write_text("")
    got = bench.without_banner(bench.run("none.lua", "help", cwd=tmp_path))
    assert got == ("", "'none.lua' test does not implement the 'help' command.\n", 1)


def test_rows_fit_a_terminal(tmp_path):
    words = " ".join(f"word{i}" for i in range(60))
    (tmp_path / "s.lua").write_text(
        f"sysbench.cmdline.options = {{a_long_name = {{'{words}', 'a default'}}, b = {{'{'x' * 120}', 1}}}}\n"
    )
    scripts = [line.split(" - ")[0].strip() for line in bench.run("--help").out.split("Bundled workloads:\n")[1].split("\n\n")[0].split("\n")]
    assert len(scripts) > 10
    for test in ("--help", "fileio", "cpu", "memory", "mutex", "threads", *scripts):
        out = bench.run(*([test] if test == "--help" else [test, "help"])).out
        assert max(map(len, out.split("\n"))) <= 100, test
        assert not re.search(r"^  --[a-z-]*_", out, re.MULTILINE), test
    lines = bench.run("s.lua", "help", cwd=tmp_path).out.split("\n\n")[1].split("\n")[1:]
    assert lines[0].startswith("  --a-long-name=STRING word0 ") and len(lines[0]) <= 100
    # A word that fits nowhere is not broken.
    assert lines[-2:] == ["  --b=N".ljust(23) + "x" * 120, " " * 23 + "[1]"]
    text = " ".join(line.strip() for line in lines[:-2])
    assert text == f"--a-long-name=STRING {words} [a default]"
