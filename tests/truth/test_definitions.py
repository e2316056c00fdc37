# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that definitions.py applies the definitions: to records made by hand, whose figures can be
counted on one's fingers."""

import itertools
import types

import pytest

import definitions
from definitions import Range, Some

MS = 1000000
GATE = 10**15


def at(ms):
    return GATE + round(ms * MS)


def session(*events, closing=None, loop=0):
    """Pairs of times in ms since the gate opened."""
    return types.SimpleNamespace(
        loop=at(loop), closing=closing and at(closing),
        events=[(at(begin), None if end is None else at(end)) for begin, end in events])


def is_near(found, ms, within_ms=0.02):
    """Whether a range holds a time and is hardly wider."""
    least, most = found.least / MS, found.most / MS
    return least <= ms <= most and most - least <= within_ms


def total(events, queue=(), warm=0, checkpoint=None, end=1000, cut=None):
    return definitions.Total(events, list(queue), at(warm), checkpoint and at(checkpoint), at(end),
                             at(cut or end))


@pytest.mark.parametrize("percent, n, rank", [
    (50, 1, 1), (50, 2, 1), (50, 3, 2), (95, 20, 19), (95, 21, 20), (99.9, 1000, 999),
    (99.9, 1001, 1000), (100, 7, 7), (0, 7, 1), (95, 100, 95), (0.1, 3000, 3)])
def test_the_rank_of_a_percentile(percent, n, rank):
    assert definitions.rank_of(percent, n) == rank


def test_events_follow_each_other_in_a_closed_loop():
    events = definitions.closed_loop([session((0.01, 100), (100.01, 300), closing=300.01)], GATE)
    assert [is_near(definitions.latency(event), ms) for event, ms in zip(events, (100, 200))]
    assert is_near(events[1].start, at(100) / MS)


def test_figures_of_a_closed_loop():
    events = definitions.closed_loop(
        [session((0, 400), (400, 900), (900, 1100), closing=1100),
         session((0, 300), (300, 700), (700, None))], GATE)
    found = total(events, cut=1500)
    assert found.finished.count() == Range(5, 5)
    assert found.in_grace.count() == Range(1, 1)
    assert found.rate() == Range(4, 4)
    assert found.ages.count() == Range(1, 1)
    assert is_near(definitions.maximum(found.ages), 800)
    # 200, 300, 400, 400, 500 and the age 800.
    assert is_near(definitions.percentile(found.both, 50), 400)
    assert is_near(definitions.percentile(found.both, 95), 800)
    assert is_near(definitions.maximum(found.both), 800)
    assert is_near(definitions.minimum(found.latencies), 200)
    assert is_near(definitions.mean(found.latencies), 360)


def test_an_event_belongs_to_the_warm_up_when_it_starts_in_it():
    events = definitions.closed_loop([session((0, 400), (400, 700), (700, 900), closing=900)], GATE)
    found = total(events, warm=500)
    assert found.finished.count() == Range(1, 1)
    assert found.rate() == Range(2, 2)
    assert is_near(definitions.maximum(found.latencies), 200)


def test_an_event_counts_after_the_checkpoint_before_which_it_began():
    events = definitions.closed_loop([session((0, 400), (400, 700), (700, 900), closing=900)], GATE)
    found = total(events, checkpoint=500)
    assert found.finished.count() == Range(2, 2)
    assert found.rate() == Range(4, 4)


def test_an_event_at_an_edge_may_count_or_not():
    events = definitions.closed_loop([session((0, 400), (400.5, 1000), closing=1001)], GATE)
    found = total(events, warm=400.25)
    assert found.finished.count() == Range(0, 1)
    assert found.in_grace.count() == Range(0, 1)
    assert definitions.percentile(found.latencies, 50) is not None
    assert definitions.mean(found.latencies) is not None


def test_a_percentile_is_at_least_that_much_when_a_younger_age_takes_part():
    latencies = Some([Range(ns, ns) for ns in (100, 200, 400, 500)])
    assert definitions.is_at_least(latencies, Some([]), 100) is False
    # 100, 200, the age 300, 400, 500.
    ages = Some([Range(300, 300)])
    assert definitions.is_at_least(latencies, ages, 40) is False
    assert definitions.is_at_least(latencies, ages, 41) is True
    assert definitions.is_at_least(latencies, ages, 100) is True
    ages = Some([Range(600, 600)])
    assert definitions.is_at_least(latencies, ages, 80) is False
    assert definitions.is_at_least(latencies, ages, 81) is True
    assert definitions.is_at_least(latencies, Some([Range(190, 210)]), 40) is None


def test_the_percentile_of_values_that_may_belong():
    values = Some(range(1, 11), lambda n: True if n < 9 else None).map(lambda n: Range(n, n))
    assert values.count() == Range(8, 10)
    assert definitions.percentile(values, 50) == Range(4, 5)
    assert definitions.percentile(values, 100) == Range(8, 10)
    assert definitions.mean(values) == Range(4.5, 5.5)
    assert definitions.percentile(Some([]), 50) is None


def test_arrivals_come_at_the_rate_and_not_evenly():
    due = list(itertools.islice(definitions.dues(1, 100, GATE), 20000))
    gaps = [b - a for a, b in zip(due, due[1:])]
    assert sum(gaps) / len(gaps) == pytest.approx(10 * MS, rel=0.03)
    assert sum(gap < 10 * MS for gap in gaps) / len(gaps) == pytest.approx(0.632, rel=0.03)


def test_figures_of_an_open_loop():
    due = [at(ms) for ms in (100, 200, 250, 300, 350, 990, 1010)]
    events, queue = definitions.open_loop(
        [session((100.05, 500), (500.01, 700), (700.01, 1100), closing=1100),
         session((200.05, 600), (600.01, None), loop=1)], due, at(1000))
    assert [event.start.least for event in sorted(events, key=lambda event: event.begun)] == due[:5]
    assert queue == due[5:]
    found = total(events, queue, end=1000, cut=1400)
    assert found.due() == Range(6, 6)
    assert found.finished.count() == Range(4, 4)
    assert found.in_grace.count() == Range(1, 1)
    assert found.served() == Range(0.5, 0.5)
    assert found.ages.count() == Range(2, 2)
    assert is_near(definitions.maximum(found.ages), 1100)
    # 400, 400, 450, 750 and the ages 10, 1100.
    assert is_near(definitions.percentile(found.both, 50), 400, within_ms=1.1)
    assert definitions.is_at_least(found.latencies, found.ages, 1) is True
    waits = found.finished.map(definitions.queueing)
    assert is_near(definitions.maximum(waits), 350, within_ms=1.1)
    assert is_near(definitions.maximum(found.finished.map(definitions.service)), 400, within_ms=1.1)


def test_arrivals_of_the_warm_up_do_not_count():
    due = [at(ms) for ms in (100, 200, 300, 600)]
    events, queue = definitions.open_loop(
        [session((100, 400), (400, 1010), closing=1010)], due, at(1000))
    found = total(events, queue, warm=250)
    assert found.started.count() == Range(0, 0)
    assert found.due() == Range(2, 2)
    assert found.ages.count() == Range(2, 2)


def test_a_session_that_woke_late_had_taken_its_arrival_before():
    due = [at(100), at(130), at(200), at(300)]
    events, queue = definitions.open_loop(
        [session((0, 50), (131, 150)), session((0.05, 92), (130, 160))], [at(0), at(0), *due],
        at(250))
    starts = {(event.session, event.begun.most): event.start for event in events}
    assert starts[0, at(131) + definitions.CLOCK_NS] == Range(at(100), at(100))
    assert starts[1, at(130) + definitions.CLOCK_NS] == Range(at(130), at(130))
    assert queue[0] == at(200)


def test_where_one_woke_late_others_may_have_claimed_late():
    due = [at(0), at(0), at(100), at(130), at(200), at(300)]
    events, _ = definitions.open_loop(
        [session((0, 50), (131, 150)), session((0.05, 60), (130, 160))], due, at(250))
    starts = {(event.session, event.begun.most): event.start for event in events}
    assert starts[0, at(131) + definitions.CLOCK_NS] == Range(at(100), at(130))
    assert starts[1, at(130) + definitions.CLOCK_NS] == Range(at(100), at(130))


def test_two_sessions_that_took_arrivals_at_the_same_time():
    events, _ = definitions.open_loop(
        [session((1, 50), (101, 150)), session((2, 50.05), (101, 160))],
        [at(1), at(2), at(100), at(101), at(200), at(300)], at(250))
    assert [event.start for event in events if event.begun.least > at(60)] == [
        Range(at(100), at(101))] * 2


def test_the_first_arrivals_are_taken_in_any_order():
    events, _ = definitions.open_loop(
        [session((20, 50), loop=0), session((10, 60), loop=0.1)],
        [at(10), at(20), at(100), at(200)], at(90))
    assert [(event.session, event.start.most) for event in events] == [(1, at(10)), (0, at(20))]


def test_figures_of_an_interval():
    events = definitions.closed_loop(
        [session((0, 400), (400, 900), (900, 1100), closing=1100),
         session((0, 300), (300, 700), (700, None))], GATE)
    found = definitions.Interval(events, [], GATE, at(0), at(500), at(1000))
    assert found.finished.count() == Range(2, 2)
    assert found.rate() == Range(4, 4)
    assert is_near(definitions.maximum(found.ages), 200)
    found = definitions.Interval(events, [], GATE, at(800), at(1500), at(1000))
    assert found.finished.count() == Range(1, 1)
    assert is_near(definitions.maximum(found.ages), 800)


@pytest.mark.parametrize("first, second, from_ms, until_ms, lengths", [
    ([(0, 100), (100, 1500)], [(0, 300), (300, 1400)], 0, 2000, [1100]),
    ([(0, 100), (100, None)], [(0, 300), (300, None)], 0, 2000, [1700]),
    ([(0, 1100), (1100, 2200)], [(0, 1101), (1101, 2300)], 0, 2300, [1100, 1099]),
    ([(0, 1100), (1100, 2200)], [(0, 1101), (1101, 2300)], 200, 2150, [1049]),
    ([(0, 900), (900, 1800)], [(0, 800), (800, None)], 0, 2000, [])])
def test_outages(first, second, from_ms, until_ms, lengths):
    events = definitions.closed_loop(
        [session(*one, closing=one[-1][1]) for one in (first, second)], GATE)
    found = definitions.outages(events, at(from_ms), at(until_ms))
    assert len(found.sure) == len(lengths) and not found.maybe
    assert all(is_near(pause, ms, within_ms=2) for pause, ms in zip(found.sure, lengths))


def test_a_time_without_work_is_no_outage():
    events, _ = definitions.open_loop([session((0, 100), (1500, 1600))],
                                      [at(0), at(1500), at(9000)], at(2000))
    assert not definitions.outages(events, at(0), at(2000)).count().most
    events, _ = definitions.open_loop([session((0, 100), (1500, 2700))],
                                      [at(0), at(1500), at(9000)], at(3000))
    [pause] = definitions.outages(events, at(0), at(3000)).sure
    assert is_near(pause, 1200, within_ms=2)
