# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that assertions and studies select the events of a kind as a part of a run, p99@event:NAME,
and that mistakes are answered with the kinds that there are."""
import json
import re

import pytest

from lua import EVENT_KINDS, command



# METRIC@event:NAME, holds?, how it is shown
@pytest.mark.parametrize("text, holds, shown", [
    ("events@event:a>=300", True, "300 ok"),
    ("events@event:b<100", False, "100 FAILED"),
    ("share@event:a>=75%", True, "75.00 % ok"),
    ("share@event:a>0.75", False, "0.750 FAILED"),
    ("retries@event:a<=0", True, "0 ok"),
    ("failed_events@event:b<=0", True, "0 ok"),
    ("eps@event:a>0", True, "/s ok"),
    ("p99@event:b<1s", True, " s ok"),
    ("max@event:a<0ns", False, "FAILED"),
])
def test_assertions(folder, text, holds, shown):
    r = folder.run(EVENT_KINDS, "--threads=1", "--events=400", "--time=0", f"--assert={text}")
    assert r.status == (0 if holds else 3), r.err
    [line] = [line for line in r.lines if line.strip().startswith(text)]
    assert line.endswith(shown)


@pytest.mark.parametrize("text, message", [
    ("p99@event:c<1s", "the run has no kind of events called 'c'; it has: a, b"),
    ("p99@event:<1s", "the name of a kind of events after @event: is missing"),
    ("share<1", "share is of a part of the run; write share@event:NAME"),
    ("tps@event:a>1", "tps is not counted for kinds of events; pN, min, avg, median, max, events, "),
    ("events@a>1", "events is not a latency; only pN, min, avg, median and max take @"),
    ("p99@a<1s", "the run has no latency called 'a'; it has: latency, event:a, event:b"),
])
def test_assertions_that_are_none(folder, text, message):
    r = folder.run(EVENT_KINDS, "--events=4", "--time=0", f"--assert={text}")
    assert r.status == 1
    assert f"--assert={text}: {message}" in r.err


def test_assertions_without_kinds(folder):
    r = folder.run("function event() end", "--events=4", "--time=0", "--assert=p99@event:a<1s")
    assert r.status == 1
    assert "the run does not tell kinds of events apart, so it has none called 'a'" in r.err


def results(folder, *sides):
    """A folder of four results for each side."""
    for side in sides:
        (folder.path / side).mkdir()
        for i in range(4):
            r = folder.run(EVENT_KINDS, "--threads=1", "--events=400", "--time=0",
                           f"--report=json:{side}/{i}.json")
            assert r.status == 0, r.err


def test_compare_and_history(folder):
    """A metric of a kind is compared, and its history found."""
    results(folder, "a", "b")
    r = command(["compare", "--metric=p95@event:b", "--secondary=eps@event:a", "a", "b"], folder.path)
    assert "p95@event:b" in r.out and "eps@event:a" in r.out, r.out + r.err
    r = command(["compare", "a", "b"], folder.path)
    assert "p95@event:a *" in r.out and "p95@event:b *" in r.out, r.out + r.err
    r = command(["history", "--metric=eps@event:a", "a"], folder.path)
    assert r.status == 0 and "eps@event:a" in r.out, r.out + r.err


@pytest.mark.parametrize("study, message", [
    (["compare", "--metric=p99@event:c", "a", "b"],
     "the runs have not measured 'p99@event:c' (--metric); the kinds of events are: a, b"),
    (["compare", "--fail-on=p99@event:c:5%", "a", "b"],
     "the runs have not measured 'p99@event:c' (--fail-on); the kinds of events are: a, b"),
    (["compare", "--metric=share@event:a", "a", "b"],
     "--metric=share@event:a: neither a larger nor a smaller value is better; name a rate, a latency"),
    (["history", "--metric=eps@event:c", "a"],
     "--metric=eps@event:c: no run has measured it; the kinds of events are: a, b"),
    (["compare", "--metric=p99@event:", "a", "b"],
     "--metric=p99@event:: the name of a kind of events after @event: is missing"),
])
def test_studies_name_the_kinds_that_there_are(folder, study, message):
    results(folder, "a", "b")
    r = command(study, folder.path)
    assert r.status == 1
    assert message in r.err


def test_a_limit_of_a_kind_has_a_colon_too(folder):
    """compare --fail-on=NAME:PERCENT:AMOUNT, whose NAME is that of a part."""
    results(folder, "a", "b")
    r = command(["compare", "--format=json", "--fail-on=p95@event:b:5%:50us,eps@event:a:3%", "a", "b"],
                folder.path)
    document = json.loads(r.out)
    shown = [row["metric"] for row in document["points"][0]["metrics"]]
    assert "p95@event:b" in shown and "eps@event:a" in shown
    r = command(["compare", "--fail-on=p95@event:b:x", "a", "b"], folder.path)
    assert "--fail-on=p95@event:b:x: write a percentage after the colon, such as 5%" in r.err
    r = command(["compare", "--fail-on=p95@event:b:5%:50", "a", "b"], folder.path)
    assert "write a time with its unit, such as 50us, after the second colon" in r.err


def test_a_search_has_a_goal_of_a_kind(folder):
    folder.file("t.lua", EVENT_KINDS)
    r = command(["search", "--goal=p99@event:b<1s", "--min=500", "--max=1000", "--precision=50",
                 "--time=0.3", "--warmup-time=0", "t.lua", "run"], folder.path)
    assert re.search(r"errors,%  p99@event:b, s  goal\n", r.out), r.out + r.err
    rows = re.findall(r"^ +\d+  \w+ .*  (\S+)  (?:kept\??|broken\??|-)\n", r.out, re.M)
    assert len(rows) > 1 and max(float(row) for row in rows if row != "-") > 0, r.out


def test_a_search_has_a_goal_of_a_latency_of_rates(folder):
    """Its first probe, for the capacity, has no rate."""
    folder.file("t.lua", EVENT_KINDS)
    r = command(["search", "--goal=p99@service<1s", "--min=500", "--max=1000", "--precision=50", "--time=0.3",
                 "--warmup-time=0", "t.lua", "run"], folder.path)
    assert r.status == 0 and "p99@service" in r.out, r.out + r.err


@pytest.mark.parametrize("condition, why", [
    ("avg@event:c<1s", "the run has no kind of events called 'c'; it has: a, b"),
    ("eps@group:a>1", "the run has no groups, so it has none called 'a' (--group)"),
    ("max@reed<1s", "the run has no latency called 'reed'; it has: "),
    ("mib_per_s>1", "this test does not measure bytes_moved_per_s")])
def test_a_study_names_a_condition_on_what_no_run_measures(folder, condition, why):
    """A search took it for a goal that no rate keeps, and a sweep never stopped."""
    folder.file("t.lua", EVENT_KINDS)
    run = ("--warmup-time=0", "t.lua", "run")
    r = command(["search", f"--goal={condition}", "--time=0.1", *run], folder.path)
    assert r.status == 1 and f"bench search: --goal: '{condition}': {why}" in r.err, r.err
    assert r.out == "" and "probe" not in r.err
    r = command(["sweep", "--vary=events=1,2", "--repeat=1", "--out=s", f"--stop-when={condition}", *run], folder.path)
    assert r.status == 0 and r.err.count(f"; --stop-when cannot hold: {why}") == 2, r.err


def test_a_sweep_knows_a_kind_of_which_no_event_has_ended(folder):
    folder.file("t.lua", EVENT_KINDS)
    r = command(["sweep", "--vary=events=1,2", "--repeat=1", "--out=s", "--stop-when=p99@event:b>1s", "t.lua", "run"],
                folder.path)
    assert r.status == 0 and "cannot hold" not in r.err, r.err
