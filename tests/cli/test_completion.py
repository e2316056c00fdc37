# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what bash, zsh and fish offer where a word of a command line is completed."""

import pathlib
import shlex
import shutil
import subprocess

import pytest

import bench
from gate import diagonal

BUILT_IN = {"fileio", "cpu", "memory", "threads", "mutex"}


def program_for(shell):
    """The program that is installed, which bench prints too."""
    got = bench.run(f"--completion={shell}")
    assert (got.err, got.status) == ("", 0)
    name = {"bash": "bench", "zsh": "_bench", "fish": "bench.fish"}[shell]
    built = pathlib.Path(bench.binary()).parents[1] / "completions" / shell / name
    assert built.read_text() == got.out
    return got.out


@pytest.fixture(name="file", scope="module")
def completion_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    for shell in ("bash", "zsh", "fish"):
        (folder / shell).write_text(program_for(shell))
    return lambda shell: str(folder / shell)


def run_shell(argv, cwd=None):
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is not installed")
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=bench.TIMEOUT_S)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_syntax(shell, file):
    assert not run_shell([shell, "-n", file(shell)])


# --- one table of cases for the three shells ----------------------------------------------------------

# The words of the command line; the last one is completed.  Then what is offered for it.
EXACT = [
    (["bench", "cp"], {"cpu"}),
    (["bench", "th"], {"threads"}),
    (["bench", "oltp_read_w"], {"oltp_read_write"}),
    (["bench", "oltp_read_write."], {"oltp_read_write.lua"}),
    (["bench", "oltp_delete.l"], {"oltp_delete.lua"}),
    (["bench", "rep"], {"report"}),
    (["bench", "hel"], {"help"}),
    (["bench", "help", "mut"], {"mutex"}),
    (["bench", "cpu", ""], {"run", "help"}),
    (["bench", "fileio", ""], {"prepare", "cleanup", "run", "help"}),
    (["bench", "--threads=4", "--db-driver=pgsql", "oltp_insert", ""],
     {"prepare", "prewarm", "warmup", "cleanup", "run", "help"}),
    (["bench", "order_entry", ""], {"prepare", "cleanup", "check", "reset", "run", "help"}),
    (["bench", "/usr/share/bench/oltp_read_write.lua", "pre"], {"prepare", "prewarm"}),
    (["bench", "./own.lua", ""], {"prepare", "run", "cleanup", "help"}),
    (["bench", "--test=fileio", "pre"], {"prepare"}),
    (["bench", "cpu", "run", ""], set()),
    (["bench", "cpu", "--cpu-"], {"--cpu-max-prime="}),
    (["bench", "mutex", "--cpu-"], set()),
    (["bench", "cpu", "--mysql-h"], set()),
    (["bench", "oltp_insert", "--mysql-h"], {"--mysql-host="}),
    (["bench", "oltp_insert", "--auto"], {"--auto-inc"}),
    (["bench", "oltp_insert", "run", "--table-"], {"--table-size="}),
    (["bench", "--vali"], {"--validate"}),
    (["bench", "--validate="], {"--validate=on", "--validate=off"}),
    (["bench", "cpu", "--clock=t"], {"--clock=tsc"}),
    (["bench", "fileio", "--file-io-mode="],
     {f"--file-io-mode={mode}" for mode in ("sync", "async", "mmap", "io_uring")}),
    (["bench", "fileio", "--file_test_mode=rndr"], {"--file_test_mode=rndrd", "--file_test_mode=rndrw"}),
    (["bench", "--db-driver=s"], {"--db-driver=sqlite"}),
    (["bench", "--report=j"], {"--report=json", "--report=json:", "--report=jsonl", "--report=jsonl:"}),
    (["bench", "--report=json:resu"], {"--report=json:result.json"}),
    (["bench", "--config-file=resu"], {"--config-file=result.json"}),
    (["bench", "cpu", "--mysql-ssl-ca=resu"], set()),
    (["bench", "oltp_insert", "--mysql-ssl-ca=resu"], {"--mysql-ssl-ca=result.json"}),
    (["bench", "--test=bulk"], {"--test=bulk_insert"}),
    (["bench", "report", "resu"], {"result.json"}),
    (["bench", "report", "--form"], {"--format="}),
    (["bench", "report", "--format="], {"--format=" + name for name in
                                          ("text", "json", "csv", "jsonl", "csv-total", "markdown", "hdr", "openmetrics")}),
    (["bench", "report", "--thr"], set()),
    (["bench", "ow"], {"own.lua"}),
    (["bench", "--threads="], set()),
    # Nothing of the line is executed.
    (["bench", "$(touch made)", ""], {"prepare", "run", "cleanup", "help"}),
    (["bench", "--config-file=$(touch made)`touch made`"], set()),
]


def in_bash(file, words, cwd):
    """COMPREPLY, with what readline leaves in place before it: it parts words at '=' and ':'."""
    parted = []
    for word in words:
        rest = word
        while rest:
            size = next((i for i, c in enumerate(rest) if c in "=:"), len(rest)) or 1
            parted.append(rest[:size])
            rest = rest[size:]
        if not word:
            parted.append("")
    before = words[-1][: len(words[-1]) - len(parted[-1].strip("=:"))]
    script = f"""
source {shlex.quote(file('bash'))}
COMP_WORDS=({' '.join(shlex.quote(word) for word in parted)})
COMP_CWORD={len(parted) - 1}
_bench
[[ ${{#COMPREPLY[@]}} -eq 0 ]] || printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return [before + word for word in run_shell(["bash", "--norc", "-uc", script], cwd)]


def in_zsh(file, words, cwd):
    """The functions of the completion system are replaced by ones that print what they are given."""
    quoted = " ".join(shlex.quote(word) for word in words)
    script = f"""
compadd() {{ local w; for w in ${{(P)argv[-1]}}; do [[ $w = $PREFIX* ]] && print -r -- $w; done }}
compset() {{ [[ $1 = -P ]] && done=${{(M)PREFIX##${{~2}}}} PREFIX=${{PREFIX##${{~2}}}} }}
_files() {{ local f; for f in $PREFIX*(N); [[ -z $2 || $f = ${{~2}} ]] && print -r -- $done$f; true }}
source {shlex.quote(file('zsh'))}
words=({quoted}) CURRENT=$#words PREFIX=$words[-1] done=
_bench
true
"""
    script = script.replace("words=(" + quoted, "words=(" + quoted.replace("''", '""'))
    return run_shell(["zsh", "-fc", script], cwd)


def in_fish(file, words, cwd):
    line = " ".join(shlex.quote(word) if set(word) & set("$`(") else word for word in words)
    script = f"source {shlex.quote(file('fish'))}\ncomplete -C{shlex.quote(line)}"
    offered = [row.split("\t")[0] for row in run_shell(["fish", "--no-config", "-c", script], cwd)]
    # Where nothing fits, fish shows what is similar.
    return [word for word in offered if word.startswith(words[-1])]


@pytest.mark.parametrize("complete, case", diagonal([in_bash, in_zsh, in_fish], EXACT))
def test_exactly_these_are_offered(case, complete, file, tmp_path):
    words, expected = case
    for name in ("result.json", "own.lua"):
        (tmp_path / name).write_text("")
    assert sorted(complete(file, words, tmp_path)) == sorted(expected)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("complete", [in_bash, in_zsh, in_fish])
def test_tests_and_options_are_complete(complete, file, tmp_path):
    listed = bench.run("--help").out.split("Compiled-in tests:\n")[1]
    names = {line.split()[0] for line in listed.split("\n") if line.startswith("  ")} | {"help"}
    assert BUILT_IN < names
    offered = complete(file, ["bench", ""], tmp_path)
    assert set(offered) - {name + ".lua" for name in names} == names
    # Old names are accepted, but not offered.
    general = {"--threads=", "--time=", "--report=", "--completion=", "--percentile=", "--help"}
    offered = set(complete(file, ["bench", "--"], tmp_path))
    assert general | {"--mysql-password=", "--sqlite-db=", "--db-driver="} < offered
    assert not offered & {"--num-threads=", "--help-man", "--cpu-max-prime=", "--format="}


def test_a_script_in_the_working_folder_is_not_executed(tmp_path):
    (tmp_path / "oltp_insert.lua").write_text("error('executed')\n")
    assert bench.run("--completion=bash", cwd=tmp_path) == bench.run("--completion=bash")


def test_no_shell_is_no_question():
    assert bench.run("--completion", "cpu", "run").err == (
        "--completion: no value; allowed: none, bash, zsh, fish\ndid you mean --completion=cpu?\n"
    )
    assert bench.run("--completion=none", "cpu", "--events=1", "run").status == 0
