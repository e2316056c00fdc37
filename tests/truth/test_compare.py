# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that compare.py accepts the figures of a run that was made by hand, and no others."""

import re
import types

import pytest

import compare

GATE = 10**15
TEXT = """
[ 0.5s ] thds: 2 eps: 4.00 lat (ms,50%): 300.00
[ 1.0s ] thds: 2 eps: 4.00 lat (ms,50%): 400.00

Throughput:
    events/s (eps):                      4.0000
    time elapsed:                        1.0000s
    total number of events:              5
    finished in the grace:               1
    unfinished:                          1 (oldest 0.800 s)
    set-up, grace, teardown:             0.1000s, 0.5000s, 0.2000s

Latency (ms):
         min:                                  200
         avg:                                  360
         max:                                 ≥800
         50th percentile:                      400
         95th percentile:                     ≥800
"""


def session(closing, closed, *events):
    """Times are in ms since the gate opened."""
    def at(ms):
        return ms and GATE + ms * 10**6

    return types.SimpleNamespace(loop=GATE, closing=at(closing), closed=at(closed), events=[
        (GATE + begin * 10**6, at(end)) for begin, end in events])


def record(at_ms, figures, percentiles, **more):
    return {"raw": {"at_ns": GATE + at_ms * 10**6}, "figures": figures, "percentiles": [
        {"percent": percent, "s": s, "at_least": at_least} for percent, s, at_least in percentiles],
        **more}


def interval(at_ms, latencies, oldest_s):
    return record(at_ms, {
        "span_s": 0.5, "events": len(latencies), "events_per_s": 2.0 * len(latencies),
        "in_grace": 0, "oldest_s": oldest_s, "min_s": min(latencies), "max_s": max(latencies),
        "avg_s": sum(latencies) / len(latencies)}, [(50, min(latencies), False)])


def run():
    """A run of one second: of two sessions one is stuck after 0.7 s, and given up after a grace of
    0.5 s."""
    figures = {
        "span_s": 1.0, "at_s": 1.0, "setup_s": 0.1, "grace_s": 0.5, "teardown_s": 0.2, "events": 5,
        "in_grace": 1, "unfinished": 1, "oldest_s": 0.8, "events_per_s": 4.0, "min_s": 0.2,
        "avg_s": 0.36, "max_s": 0.8, "fair_events_avg": 2.5, "fair_time_avg": 0.9, "outages": None,
        "longest_outage_s": None}
    total = record(1000, figures, [(50, 0.4, False), (95, 0.8, True)], max_at_least=True,
                   sessions=[{"events": 3}, {"events": 2}], timings=[])
    group = {"total": total, "checkpoints": [],
             "intervals": [interval(500, [0.3, 0.4], 0.2), interval(1000, [0.4, 0.5], 0.3)]}
    facts = {"plan": {"warmup_ns": 0, "time_ns": 10**9, "events": 0, "rate": 0, "seed": 1},
             "times": {"start_ns": GATE}, "options": [{"name": "time-grace", "value": "0.5"}]}
    return types.SimpleNamespace(
        sessions=[session(1100, 1100, (0, 400), (400, 900), (900, 1100)),
                  session(None, None, (0, 300), (300, 700), (700, None))],
        document={"facts": facts, "groups": [group]}, out=TEXT, signal_ns=None,
        spawn_ns=GATE - 2 * 10**8, exit_ns=GATE + 2 * 10**9)


def wrong(made):
    return compare.Comparison(made).check()


def test_the_run_made_by_hand_is_right():
    assert not wrong(run())


def is_found_in_the_document(made):
    return any(not line.startswith("text: ") for line in wrong(made))


# Of these times the record has bounds, which are wide.
WIDE = {"setup_s": (0, 40), "teardown_s": (-1, 40)}


@pytest.mark.parametrize("name", sorted(run().document["groups"][0]["total"]["figures"]))
def test_a_wrong_figure_is_found(name):
    for factor in WIDE.get(name, (0.98, 1.02)):
        made = run()
        figures = made.document["groups"][0]["total"]["figures"]
        figures[name] = (figures[name] or 0) * factor or 1
        assert is_found_in_the_document(made), factor


def change(tree, path, value):
    *way, last = path
    for key in way:
        tree = tree[key]
    tree[last] = value


@pytest.mark.parametrize("path, value", [
    (("intervals", 0, "figures", "events"), 3),
    (("intervals", 1, "figures", "events_per_s"), 4.1),
    (("intervals", 1, "figures", "oldest_s"), 0.35),
    (("intervals", 0, "figures", "max_s"), 0.41),
    (("intervals", 0, "percentiles", 0, "s"), 0.31),
    (("total", "percentiles", 0, "s"), 0.402),
    (("total", "percentiles", 0, "at_least"), True),
    (("total", "percentiles", 1, "at_least"), False),
    (("total", "max_at_least"), False),
    (("total", "sessions", 1, "events"), 3),
])
def test_a_wrong_member_is_found(path, value):
    made = run()
    change(made.document["groups"][0], path, value)
    assert is_found_in_the_document(made)


@pytest.mark.parametrize("number", range(len(re.findall(r"\d[\d.]*", TEXT))))
def test_a_wrong_number_in_the_text_is_found(number):
    made = run()
    found = list(re.finditer(r"\d[\d.]*", TEXT))[number]
    before = TEXT[:found.start()]
    # Names of ranks and of fields, and the times of intervals, are not figures.
    if before.endswith(("[ ", "thds: ", "(ms,", "Latency (ms")) or found.group() in ("50", "95"):
        return
    made.out = before + str(float(found.group()) + 1) + TEXT[found.end():]
    assert wrong(made)


@pytest.mark.parametrize("what, instead", [
    ("≥", ""), ("min:    ", "min:   ≥"), ("    finished in the grace:               1\n", ""),
    ("    unfinished:", "    undone:    "), ("0.2000s\n", "0.2000s\nArrivals (--rate):\n"),
    ("300.00", "- (oldest 200)")])
def test_a_wrong_line_of_text_is_found(what, instead):
    made = run()
    made.out = TEXT.replace(what, instead)
    assert made.out != TEXT and wrong(made)


def test_a_last_event_after_the_span_is_found():
    made = run()
    made.sessions[0].events.append((GATE + 1101 * 10**6, GATE + 1102 * 10**6))
    assert any("after the span" in line for line in wrong(made))
