# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that studies run several workloads by their weights, judge a figure of one of them or of a
kind of events, and that 0.5 answers words with weights as it answers any word."""
import json

from lua import EVENT_KINDS, command

EMPTY = "function event() end\n"
MIX = ("./a.lua@3", "./b.lua@1")


def study(folder, *args, status=(0,)):
    folder.file("a.lua", EMPTY)
    folder.file("b.lua", EMPTY)
    r = command(args, folder.path)
    assert r.status in status, r.out + r.err
    return r


def kinds(path):
    document = json.loads(path.read_text())
    return {k["name"]: k["events"] for k in document["groups"][0]["total"]["event_kinds"]}


def test_sweep(folder):
    study(folder, "sweep", "--vary=threads=1,2", "--repeat=1", "--out=s", *MIX, "--events=1000",
          "--time=0", "--rand-seed=1", "run")
    found = [kinds(path) for path in (folder.path / "s/runs").glob("*.json")]
    assert len(found) == 2
    for counts in found:
        assert sum(counts.values()) == 1000 and abs(counts["a"] - 750) < 60


def test_ab(folder):
    """Threads of side A pause twenty times as long."""
    r = study(folder, "ab", "--a=--think-time=40ms", "--b=--think-time=2ms", "--metric=eps@event:b",
              "--time=0.5", "--threads=2", *MIX, "run")
    assert "B is better" in r.out and "eps@event:b" in r.out


def test_search(folder):
    study(folder, "search", "--goal=p95@event:b<10s", "--min=500", "--max=1000", "--time=0.3",
          "--precision=50", "--warmup-time=0", "--out=s", *MIX, "run", status=(0, 3, 4))
    found = [kinds(path) for path in (folder.path / "s").rglob("*.json")]
    assert found and all(counts["a"] > counts["b"] > 0 for counts in found)


def test_compare(folder):
    for side in "AB":
        (folder.path / side).mkdir()
        for i in range(4):
            study(folder, *MIX, "--events=200", "--time=0", f"--report=json:{side}/{i}.json", "run")
    r = study(folder, "compare", "--metric=p95@event:a", "--secondary=eps@event:b", "A", "B")
    assert "p95@event:a" in r.out and "eps@event:b" in r.out
    r = study(folder, "compare", "--metric=p95@event:c", "A", "B", status=(1,))
    assert "the kinds of events are: a, b" in r.err


def test_kinds_of_a_script_in_a_sweep(folder):
    folder.file("t.lua", EVENT_KINDS)
    study(folder, "sweep", "--vary=events=400,800", "--repeat=1", "--out=s", "t.lua", "--time=0", "run")
    found = sorted(kinds(path)["a"] for path in (folder.path / "s/runs").glob("*.json"))
    assert found == [300, 600]


def test_words_with_weights_in_a_dialect(folder):
    folder.file("a.lua", EMPTY)
    r = command(["--compat=0.5", "--test=./a.lua@8", "./b.lua@2", "run"], folder.path)
    assert r.status == 1
    assert r.err == "Unknown command: ./b.lua@2.\n"
