#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kind of events costs when it is used: processor time per event of a script that says the kind
of each event, against one that draws and branches in the same way and says none. A script says it by
`return sysbench.kind.NAME` or by `sysbench.event_kind(kind)`, from a table of kinds or of names, or
behind branches, with 2 and 8 kinds that are drawn at random. One worker; both scripts start alike, so
that what starting costs cancels out. Exit status 1: a kind costs more than 6 ns."""

import sys
import tempfile

import lib

MOST_NS = 6
PAIRS = lib.setting("PERF_PAIRS", 21)
EVENTS = lib.setting("PERF_EVENTS", 5000000)
NAMES = "abcdefgh"

# `seen` is what a script without kinds does with the one it has drawn.
HEAD = """
sysbench.kinds = {%(names)s}
local event_kind, draw, seen = sysbench.event_kind, sysbench.rand.uniform
local said = {}
for i, name in ipairs{%(names)s} do said[i] = %(said)s end
"""
SAY = {"return": "return %s", "event_kind": "event_kind(%s)"}
FORMS = (("return", "kinds"), ("return", "branches"),
         ("event_kind", "kinds"), ("event_kind", "names"), ("event_kind", "branches"))


def script(way, form, n, says):
    say = SAY[way] if says else "seen = %s"
    text = HEAD % {"names": ", ".join(f"'{name}'" for name in NAMES[:n]),
                   "said": "name" if form == "names" else "sysbench.kind[name]"}
    if form != "branches":
        body = "  " + say % f"said[draw(1, {n})]"
    else:
        what = {"return": "sysbench.kind.%s", "event_kind": "'%s'"}[way]
        tests = [f"i == {i + 1} then {say % (what % name)}" for i, name in enumerate(NAMES[:n])]
        body = f"  local i = draw(1, {n})\n  if " + "\n  elseif ".join(tests) + "\n  end"
    return f"{text}function event()\n{body}\nend\n"


def ns_per_event(path):
    done = lib.run([lib.bench(), path, "--threads=1", "--time=0", f"--events={EVENTS}", "--rand-seed=1", "run"])
    return (done.user + done.system) / EVENTS * 1e9


def compare(rows, folder, way, form, n):
    label = f"{way}, {form}, {n} kinds"
    paths = [f"{folder}/{name}.lua" for name in ("with", "without")]
    for path, says in zip(paths, (True, False)):
        with open(path, "w", encoding="utf-8") as f:
            f.write(script(way, form, n, says))
    pairs = lib.alternate(PAIRS, lambda: ns_per_event(paths[0]), lambda: ns_per_event(paths[1]))
    costs = sorted(a - b for a, b in pairs)
    cost, (on, off) = costs[len(costs) // 2], lib.middle(pairs)
    rows.add(label, f"{label:32} {on:9.2f} {off:9.2f} {cost:7.2f} ({costs[0]:.2f}..{costs[-1]:.2f})"
             f"  <= {MOST_NS}", cost <= MOST_NS)


def main():
    rows = lib.Rows(f"ns per event, medians of {PAIRS} pairs",
                    f"{'row':32} {'with':>9} {'without':>9} {'a kind':>7}  wanted")
    with tempfile.TemporaryDirectory() as folder:
        for n in (2, 8):
            for way, form in FORMS:
                compare(rows, folder, way, form, n)
    return rows.status()


sys.exit(main())
