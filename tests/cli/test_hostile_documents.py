# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that documents and journals which are cut, changed or made up end no subcommand with a crash
or without a sentence, and that no control characters of theirs reach the terminal.

BENCH_DOCUMENTS is the number of documents.
"""

import copy
import json
import os
import random
import re

import pytest

import bench

N_DOCUMENTS = int(os.environ.get("BENCH_DOCUMENTS", "8"))
STORE = bench.source_root() / "tests" / "store"
NAMES = ("a.json", "a b.json", "-x.json", "ü\n.json", "a'b.json", "\x1b[31m.json")
VALUES = (
    1e308, -1e308, 1e-320, 2**63, 2**64, -(2**63), -1, 0, 10**40, 0.1, None, True, "", "x",
    "\x1b[31mred\n\t", "ü" * 1000, "a" * 100000, [], {}, [[]], {"a": 1}, [1] * 5000,
)  # fmt: skip
KEYS = ("\x1b]0;x\x07", "", "a" * 5000, "\u202e", "format")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def paths(node, path=()):
    """Where the values of a document are."""
    is_list = isinstance(node, list)
    for key in range(len(node)) if is_list else node if isinstance(node, dict) else ():
        yield (*path, key)
        yield from paths(node[key], (*path, key))


def changed(document, draw):
    """With values of other kinds, without some, and a name that is odd."""
    path = draw.choice(list(paths(document)))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    how = draw.random()
    if how < 0.2:
        del inner[path[-1]]
    elif how < 0.35 and isinstance(inner, dict):
        inner[draw.choice(KEYS)] = inner.pop(path[-1])
    else:
        inner[path[-1]] = copy.deepcopy(draw.choice(VALUES))
    return document


def hostile(text, draw):
    """Bytes."""
    how = draw.randrange(5)
    if how == 0:
        return text[: draw.randrange(len(text))].encode()
    if how == 1:
        damaged = bytearray(text.encode())
        for _ in range(draw.randint(1, 8)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        return bytes(damaged)
    if how == 2:
        depth = draw.choice((100, 3000, 200000))
        return draw.choice(("[" * depth, '{"a":' * depth)).encode()
    lines = [text] if text.startswith("{\n") else text.splitlines()
    i = draw.randrange(len(lines))
    document = json.loads(lines[i])
    for _ in range(draw.randint(1, 3)):
        document = changed(document, draw) if document else document
    lines[i] = json.dumps(document)
    return "\n".join(lines).encode()


def commands(name):
    for form in ("text", "json", "hdr"):
        yield ["report", f"--format={form}", name]
    yield ["report", name, "ok.json", name]
    yield ["merge", name, "ok.json"]
    yield ["compare", name, "ok.json"]
    yield ["compare", ".", "."]
    yield ["history", "."]
    yield ["plot", "--output=o.svg", name]


@pytest.mark.parametrize("seed", [
    pytest.param(n, marks=pytest.mark.sanitized) if n < 4 else n for n in range(N_DOCUMENTS)])
def test_a_document(seed, tmp_path):
    draw = random.Random(seed)
    texts = [path.read_text() for path in sorted(STORE.glob("v1-*.json"))]
    name = "./" + draw.choice(NAMES)
    (tmp_path / name).write_bytes(hostile(draw.choice(texts), draw))
    (tmp_path / "ok.json").write_text(draw.choice(texts))
    for command in commands(name):
        done = bench.run(*command, cwd=tmp_path, errors="replace")
        assert 0 <= done.status < 100, (command, done)
        assert done.status == 0 or done.out + done.err, command
        assert not CONTROL.search(done.err), (command, done.err)
        assert not CONTROL.search(done.out), (command, done.out)


@pytest.mark.parametrize("form", ("text", "json", "csv-total", "markdown", "hdr", "openmetrics"))
def test_a_total_without_histograms(form, tmp_path):
    document = json.loads((STORE / "v1-cpu.json").read_text())
    del document["groups"][0]["total"]["raw"]["histograms"]
    (tmp_path / "x.json").write_text(json.dumps(document))
    done = bench.run("report", f"--format={form}", "x.json", cwd=tmp_path)
    assert done.status == 0, done
    assert form != "hdr" or "# The total is not known: " in done.out


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_journal(name, tmp_path):
    """Remarks about it name the file."""
    lines = (STORE / "v1-journal.json").read_text().splitlines()
    (tmp_path / name).write_text("\n".join([*lines[:-1], "{", lines[-1]]))
    done = bench.run("report", f"./{name}", cwd=tmp_path, errors="replace")
    assert done.status == 0 and "is the journal of a run that has not ended" in done.err, done
    assert "cannot be read and are left out" in done.err and not CONTROL.search(done.err), done
