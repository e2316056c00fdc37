# SPDX-License-Identifier: GPL-2.0-or-later
"""The definitions of bench-output(7), applied to what a workload has recorded.

A workload cannot read the clock at the moment when the program does, only just before or after.  So
every time is a range that the record gives: the program ends an event after the record says so, and
before the session records anything else.  Every figure is a range in turn.  It is one number for a
count of events none of which lies at an edge, and a few microseconds wide for a latency.
All times are in ns of CLOCK_MONOTONIC.
"""

import collections
import fractions
import math

# The program may read another clock, which it compares with this one.
CLOCK_NS = 5000
# How long a session may take between the last reading of one side and the next of the other where
# the record gives no bound.
NEAR_NS = 1000000
# How long the program may take from a time to the counts of that time.  Workloads keep their events
# further away.
LATE_NS = 15 * NEAR_NS
# How long it may take from the end of an event to the next claim of an arrival where nobody was held
# up.
SOON_NS = 100000
# A bucket of the histograms, by which latencies are rounded.
BUCKET = 0.001

Range = collections.namedtuple("Range", "least most")
# start: what the latency counts from; begun: when the session began to work on it; end: or None.
Event = collections.namedtuple("Event", "session start begun end")


def around(least, most):
    return Range(least - CLOCK_NS, most + CLOCK_NS)


def span_of(first, last):
    """From one time to another."""
    return Range(max(0, last.least - first.most), max(0, last.most - first.least))


def latency(event):
    return span_of(event.start, event.end)


def service(event):
    return span_of(event.begun, event.end)


def queueing(event):
    return span_of(event.start, event.begun)


# --- events --------------------------------------------------------------------------------------


def end_of(session, n, at_once):
    """When the program ended the n-th event of a session; None: it did not.  at_once: the next one
    begins then."""
    end = session.events[n][1]
    if end is None:
        return None
    last = session.events[n + 1][0] if n + 1 < len(session.events) else session.closing
    if last is None or not at_once:
        last = min(last or math.inf, end + NEAR_NS)
    return around(end, last)


def closed_loop(sessions, gate_ns):
    """An event starts when the one before it has ended, the first when the gate opens."""
    events = []
    for number, session in enumerate(sessions):
        start = gate_ns
        for n, (begin, end) in enumerate(session.events):
            at = around(start, begin)
            if n == 0:
                at = at._replace(least=gate_ns)
            events.append(Event(number, at, at, end_of(session, n, True)))
            start = end
    return events


def dues(seed, rate, gate_ns):
    """When the arrivals of --rate are due: the sums of exponential gaps, in units of 2^-20 expected
    arrivals, each a hash of the sum before it (src/engine/arrivals.c)."""
    mask = 2**64 - 1

    def mix(x):
        x = (x + 0x9E3779B97F4A7C15) & mask
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
        return x ^ x >> 31

    purpose = 2
    first = mix(seed)
    key = sum(mix(mix(word ^ purpose)) for word in (first, mix(first ^ mask))) & mask
    position = 0
    while True:
        gap = -math.log(((mix(key ^ position) >> 12) + 0.5) * 2.0**-52) * 2**20
        position += max(1, int(gap + 0.5))
        yield gate_ns + int(position * 2.0**-20 / rate * 1e9)


def until(times, last_ns, more):
    """Those of ascending times that are not after it, and so many more."""
    found = []
    for at in times:
        more -= at > last_ns
        if more < 0:
            break
        found.append(at)
    return found


class Claim:
    """That a session took the next arrival; begin: when it began to work on it, or None."""

    def __init__(self, number, session, n):
        self.number, self.is_first = number, n == 0
        self.free = session.events[n - 1][1] if n > 0 else session.loop
        self.begin, self.end = None, None
        if n < len(session.events):
            self.begin, self.end = session.events[n][0], end_of(session, n, False)


def claims_of(sessions, end_ns):
    """In the order of taking.  A session takes an arrival as soon as it is free, and waits for it;
    what it has taken when the span ends is never begun.  When the gate opens, sessions are in each
    other's way, and only what they begin first says what they took first."""
    claims = []
    for number, session in enumerate(sessions):
        n = len(session.events)
        claims += [Claim(number, session, k) for k in range(n)]
        free = session.events[-1][1] if n > 0 else session.loop
        if free is not None and free < end_ns:
            claims.append(Claim(number, session, n))
    claims.sort(key=lambda claim: claim.free)
    places = [k for k, claim in enumerate(claims) if claim.is_first]
    first = sorted((claims[k] for k in places), key=lambda claim: claim.begin or math.inf)
    for k, claim in zip(places, first):
        claims[k] = claim
    return claims


def held_up(claims, due):
    """The longest that a session took to begin an event although it was free and the event due: so
    long may others have been held up between the end of an event and the claim of the next."""
    return max((claim.begin - max(claim.free, due_ns)
                for claim, due_ns in zip(claims, due) if claim.begin is not None), default=0)


def were_swapped(earlier, later, due_ns, soon_ns):
    """Whether two claims may have been made in the other order; due_ns: of the later one."""
    if earlier.is_first and later.is_first:
        return (earlier.begin or math.inf) + CLOCK_NS > due_ns
    return later.free - earlier.free < soon_ns


def start_of(claims, k, due, soon_ns=SOON_NS):
    """When the event was due: the k-th to be taken, unless another was taken at the same time."""
    latest, first, last = claims[k].begin + CLOCK_NS, k, k
    while first > 0 and (due[first] > latest or
                         were_swapped(claims[first - 1], claims[first], due[first], soon_ns)):
        first -= 1
    while last + 1 < len(claims) and were_swapped(claims[last], claims[last + 1], due[last + 1],
                                                  soon_ns):
        last += 1
    while last > first and due[last] > latest:
        last -= 1
    return Range(due[first], due[last])


def open_loop(sessions, due, end_ns):
    """(events, arrivals that no session has begun).  An event starts when it is due."""
    claims = claims_of(sessions, end_ns)[:len(due)]
    soon_ns = max(SOON_NS, held_up(claims, due))
    events = []
    for k, claim in enumerate(claims):
        if claim.begin is None:
            continue
        start = start_of(claims, k, due, soon_ns)
        ready = min(claim.begin, max(claim.free, start.least))
        events.append(Event(claim.number, start, around(ready, claim.begin), claim.end))
    return events, due[len(events):]


# --- which events, how many ----------------------------------------------------------------------


def is_after(time, edge_ns):
    """Whether it is after the edge; None: that cannot be told."""
    if time.least > edge_ns:
        return True
    return False if time.most <= edge_ns else None


def no(answer):
    return None if answer is None else not answer


def both(*answers):
    if False in answers:
        return False
    return None if None in answers else True


def has_ended(event, edge_ns, near_ns=0):
    """Whether it ended at or before the edge; near_ns: that one was looked at so much early or
    late."""
    if event.end is None:
        return False
    return no(is_after(Range(event.end.least - near_ns, event.end.most + near_ns), edge_ns))


class Some:
    """The items for which a test holds, and those for which it may hold."""

    def __init__(self, items, test=lambda item: True):
        answers = [(item, test(item)) for item in items]
        self.sure = [item for item, answer in answers if answer is True]
        self.maybe = [item for item, answer in answers if answer is None]

    def where(self, test):
        found = Some(self.sure, test)
        found.maybe += [item for item in self.maybe if test(item) is not False]
        return found

    def map(self, function):
        found = Some([])
        found.sure = [function(item) for item in self.sure]
        found.maybe = [function(item) for item in self.maybe]
        return found

    def plus(self, other):
        found = Some([])
        found.sure = self.sure + other.sure
        found.maybe = self.maybe + other.maybe
        return found

    def count(self):
        return Range(len(self.sure), len(self.sure) + len(self.maybe))


# --- figures of ranges ---------------------------------------------------------------------------


def rank_of(percent, n):
    """The number of the value that is the percentile, from 1."""
    return max(1, math.ceil(fractions.Fraction(str(percent)) * n / 100))


def percentile(values, percent, near=0):
    """The ⌈qN⌉-th smallest, or one that is so many places nearer to an end; None: there is no
    value.  0 stands for none where there may be none."""
    number = values.count()
    if number.most == 0:
        return None
    low = sorted(value.least for value in values.sure + values.maybe)
    high = sorted(value.most for value in values.sure)
    least = max(1, rank_of(percent, number.least) - near)
    most = rank_of(percent, number.most) + near
    largest = max(value.most for value in values.sure + values.maybe)
    return Range(low[least - 1] if number.least > 0 else 0,
                 high[most - 1] if most <= len(high) else largest)


def maximum(values):
    return percentile(values, 100)


def minimum(values):
    """None: there is no value."""
    if values.count().most == 0:
        return None
    everything = values.sure + values.maybe
    return Range(min(value.least for value in everything),
                 min(value.most for value in values.sure or everything))


def total(values):
    return Range(sum(value.least for value in values.sure),
                 sum(value.most for value in values.sure + values.maybe))


def mean(values):
    """None: there is no value."""
    number = values.count()
    if number.most == 0:
        return None
    if not values.sure:
        return Range(minimum(values).least, maximum(values).most)
    least, most = (extreme_mean([getattr(value, side) for value in values.sure],
                                [getattr(value, side) for value in values.maybe], side == "most")
                   for side in ("least", "most"))
    return Range(least, most)


def extreme_mean(sure, maybe, upwards):
    """With those that may belong to it if they move the mean."""
    for value in sorted(maybe, reverse=upwards):
        if (value > sum(sure) / len(sure)) == upwards:
            sure = sure + [value]
    return sum(sure) / len(sure)


def is_at_least(latencies, ages, percent):
    """Whether the percentile of both is only known to be at least that much: an age that is not
    larger takes part in it.  None: that cannot be told."""
    if ages.count().most == 0:
        return False
    youngest, number = minimum(ages), latencies.plus(ages).count()
    below = sum(value.most * (1 + BUCKET) < youngest.least for value in latencies.sure)
    if rank_of(percent, number.most) <= below:
        return False
    reach = youngest.most * (1 + BUCKET)
    may_be_below = sum(value.least <= reach for value in latencies.sure + latencies.maybe)
    return True if ages.sure and rank_of(percent, number.least) > may_be_below else None


# --- outages -------------------------------------------------------------------------------------

OUTAGE_NS = 10**9


def first_of(ranges):
    return Range(min(one.least for one in ranges), min(one.most for one in ranges))


def pause_before(end, last, events):
    """The time from the last end to this one in which events were in flight; None: none was."""
    starts = [event.start for event in events if event.start.most < end.least and
              (event.end is None or event.end.most >= end.least)]
    if not starts:
        return None
    first = first_of(starts)
    return span_of(Range(max(last.least, first.least), max(last.most, first.most)), end)


def outages(events, measure_ns, end_ns):
    """How long each of them was, or may have been."""
    ends = sorted(event.end for event in events if event.end is not None
                  and measure_ns < event.end.most and event.end.least < end_ns)
    found, last = [], Range(measure_ns, measure_ns)
    for end in [*ends, Range(end_ns, end_ns)]:
        if end.most - last.least >= OUTAGE_NS:
            found.append(pause_before(end, last, events))
        last = end
    return Some(found, lambda pause: False if pause is None or pause.most < OUTAGE_NS else
                pause.least >= OUTAGE_NS or None)


# --- reports -------------------------------------------------------------------------------------


def per_second(number, span_ns):
    return Range(number.least / span_ns * 1e9, number.most / span_ns * 1e9)


def ages_at(events, cut_ns):
    return events.map(lambda event: span_of(event.start, around(cut_ns, cut_ns)))


def waits_at(queue, cut_ns):
    return Some([Range(cut_ns - due, cut_ns - due) for due in queue if due <= cut_ns])


class Total:
    """The final report: the events that started after measure_ns and, if there was a checkpoint,
    ended after it.  The span ends at end_ns, the grace at cut_ns."""

    def __init__(self, events, queue, measure_ns, checkpoint_ns, end_ns, cut_ns):
        self.span_ns = end_ns - (checkpoint_ns or measure_ns)
        self.started = Some(events, lambda event: is_after(event.start, measure_ns - 1))
        self.finished = self.started.where(lambda event: event.end is not None)
        if checkpoint_ns is not None:
            self.finished = self.finished.where(
                lambda event: no(has_ended(event, checkpoint_ns, LATE_NS)))
        self.in_span = self.finished.where(lambda event: has_ended(event, end_ns))
        self.in_grace = self.finished.where(lambda event: no(has_ended(event, end_ns)))
        self.queue = [due for due in queue if measure_ns <= due <= end_ns]
        self.latencies = self.finished.map(latency)
        self.in_flight = self.started.where(lambda event: event.end is None)
        self.ages = ages_at(self.in_flight, cut_ns).plus(waits_at(self.queue, end_ns))
        self.both = self.latencies.plus(self.ages)

    def rate(self):
        return per_second(self.in_span.count(), self.span_ns)

    def due(self):
        number = self.started.count()
        return Range(number.least + len(self.queue), number.most + len(self.queue))

    def served(self):
        """The share of the arrivals due in the span that finished in it."""
        done, due = self.in_span.count(), self.due()
        return Range(done.least / max(1, due.most), min(1, done.most / max(1, due.least)))


class Interval:
    """The events that ended after from_ns and neither after at_ns nor after the span, at end_ns,
    and those in flight then.  The program looks at one session after the other."""

    def __init__(self, events, queue, measure_ns, from_ns, at_ns, end_ns):
        self.span_ns = at_ns - from_ns
        self.finished = Some(events, lambda event: both(
            is_after(event.start, measure_ns - 1), no(has_ended(event, from_ns, LATE_NS)),
            has_ended(event, at_ns, LATE_NS), has_ended(event, end_ns)))
        self.latencies = self.finished.map(latency)
        unfinished = Some(events, lambda event: both(
            no(is_after(event.start, at_ns)), no(has_ended(event, at_ns, LATE_NS))))
        # What waits is as old as what is in flight only when the run is over.
        begun = unfinished.where(lambda event: no(is_after(event.begun, at_ns)) or None)
        waiting = waits_at(queue, at_ns)
        waiting.sure, waiting.maybe = [], waiting.sure
        self.ages = ages_at(begun, at_ns).plus(waiting)

    def rate(self):
        return per_second(self.finished.count(), self.span_ns)
