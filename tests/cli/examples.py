# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of the manual pages: finds them in a page, runs them, compares what they print.

A comment before each literal display says what the display is:

  .\\" file: NAME         a file of that name for the sessions that follow in the page
  .\\" session            commands behind "$ " and what they print on standard output
  .\\" session: mysql     the same, with a server; also: pgsql, and hosts (tests/hosts)
  .\\" sql: mysql         statements for the administrator of that server
  .\\" syntax             a form, which nobody can run

A line "..." stands for any number of lines. Widths of blanks are not compared, nor are figures:
without a time limit in the display those with a fraction, otherwise all of them. A session is one shell
command after the other in a new folder; each exits 0, unless the next one prints "$?". A line that
ends with a backslash goes on with the next one, in commands and in what they print.
"""

import collections
import os
import pathlib
import re
import subprocess

import bench

Example = collections.namedtuple("Example", "page line kind name text")
KINDS = ("file", "session", "sql", "syntax")
# What bench says on standard error about the machine and the workload, wherever it runs.
NOTES = re.compile(r"(random ids|files|blocks below 64 KiB|--rate=\d+ could not be kept up): .*")


def pages():
    """The sources of the pages: in a build within the tree, what is generated lies beside them."""
    found = sorted((bench.source_root() / "man").glob("bench*"))
    return [path for path in found if path.with_name(path.name + ".in") not in found]


def plain(line):
    """The text that a line of a literal display stands for."""
    line = line.removeprefix("\\&").replace("\\e", "\\").replace("\\-", "-")
    return line.replace("\\(>=", "≥")


def examples(page):
    """The literal displays of a page, in order; kind "" if no comment says what one is."""
    found, kind, inside = [], ("", ""), None
    for number, line in enumerate(pathlib.Path(page).read_text().split("\n"), 1):
        mark = re.fullmatch(r'\.\\" (\w+)(?:: (\S+))?', line)
        if inside is not None and line != ".Ed":
            inside.append(plain(line))
        elif inside is not None:
            found.append(Example(page.name, start, *kind, "\n".join(inside) + "\n"))
            kind, inside = ("", ""), None
        elif mark and mark[1] in KINDS:
            kind = (mark[1], mark[2] or "")
        elif line.startswith(".Bd -literal"):
            start, inside = number, []
    return found


def commands(text):
    """[(command, [lines of output])] of a session."""
    found = []
    for line in text.splitlines():
        if found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        elif found[-1][1] and found[-1][1][-1].endswith("\\"):
            found[-1][1][-1] = found[-1][1][-1][:-1] + line
        else:
            found[-1][1].append(line)
    return found


def masked(line, all_figures):
    figure = r"\d+(?:\.\d+)?" if all_figures else r"\d+\.\d+"
    return re.sub(r"\s+", " ", re.sub(r"(?<![A-Za-z_0-9.])>?" + figure, "#", line)).strip()


def agrees(shown, printed):
    """Whether the lines PRINTED are the lines SHOWN, which may have "..."."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(agrees(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and agrees(shown[1:], printed[1:])


def environment():
    path = os.path.dirname(bench.binary()) + os.pathsep + os.environ["PATH"]
    return bench.environment(PATH=path)


def check_output(example, command, shown, done):
    every = re.search(r"--time=[1-9]", example.text) is not None
    want = [masked(line, every) for line in shown]
    got = [masked(line, every) for line in done.stdout.splitlines()]
    said = [line for line in done.stderr.splitlines() if not NOTES.fullmatch(line)]
    where = f"{example.page}:{example.line}: $ {command}\n"
    assert agrees(want, got), where + "\n".join(["shown:", *want, "printed:", *got, *said])
    assert said == [], where + done.stderr


def run_session(example, folder, server=()):
    """Runs a session; SERVER: (text, text in its place) for each command."""
    status, pending, variables = 0, "", ""
    for command, shown in commands(example.text):
        assert status == 0 or "$?" in command, f"{pending}: exit status {status}"
        run = variables + command
        if re.fullmatch(r'\w+=".*"', command):
            variables = run + "; "
        for old, new in server:
            run = run.replace(old, new)
        done = subprocess.run(
            ["sh", "-c", f"(exit {status}); {run}"], cwd=folder, env=environment(), text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=bench.TIMEOUT_S, check=False,
        )
        check_output(example, command, shown, done)
        late = done.returncode == 4 and "--rate=" in command  # at the end, on a busy machine
        status, pending = (0 if "$?" in command or late else done.returncode), command
    assert status == 0, f"{pending}: exit status {status}"


def write_files(page, before, folder):
    """The files that PAGE shows before line BEFORE."""
    for example in examples(page):
        if example.kind == "file" and example.line < before:
            (pathlib.Path(folder) / example.name).write_text(example.text)


def sessions(name):
    """[(page, session)] of a server, "" for those without one."""
    return [(page, e) for page in pages() for e in examples(page) if (e.kind, e.name) == ("session", name)]
