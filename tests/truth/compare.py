# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares every figure of a run, in its document and in its text, with the definitions applied to
what its events have recorded."""

import re

import definitions
from definitions import BUCKET, NEAR_NS, Range

# What the text has for an interval.
INTERVAL = (r"\[ +[\d.]+s \] thds: \d+ (?:eps: ([\d.]+)|tps: ([\d.]+) qps: .*) "
            r"lat \(ms,[\d.]+%\): ((?:- )?\S+(?: \S+\))?)(?: err/s: .*)?\n")
# A thread may wake up so late on a loaded machine.
WAKE_NS = 100 * NEAR_NS
# Above this the record does not say any more which session waited for which arrival.
UNCLEAR_NS = 5 * NEAR_NS
# What threads wait for the processor where there is little else to do.
QUIET_NS = NEAR_NS
# From the time of an interval until its line has been printed and read where there is little else
# to do.
PRINTED_NS = 10 * NEAR_NS


def widened(expected, near_ns=0):
    """What a latency may be in a histogram."""
    return Range(expected.least * (1 - BUCKET) - near_ns, expected.most * (1 + BUCKET) + near_ns)


class Comparison:
    """`wrong` has a line for each figure that does not fit."""

    def __init__(self, run):
        self.run, self.wrong = run, []
        facts = run.document["facts"]
        [group] = run.document["groups"]
        self.plan, self.total = facts["plan"], group["total"]
        self.intervals, self.checkpoints = group["intervals"], group["checkpoints"]
        self.gate_ns = facts["times"]["start_ns"]
        self.measure_ns = self.gate_ns + self.plan["warmup_ns"]
        self.paced = self.plan["rate"] > 0
        self.figures = self.total["figures"]
        self.last_begin_ns = max((begin for session in run.sessions for begin, _ in session.events),
                                 default=self.gate_ns)
        self.find_edges()
        self.find_events()

    def find_edges(self):
        """As the document has them; check_edges() says whether they are right."""
        last = [record["raw"]["at_ns"] for record in self.checkpoints]
        self.checkpoint_ns = last[-1] if last else None
        begin_ns = self.checkpoint_ns or self.measure_ns
        self.end_ns = begin_ns + round(self.figures["span_s"] * 1e9)
        self.cut_ns = self.end_ns + round(self.figures["grace_s"] * 1e9)

    def find_events(self):
        sessions, queue = self.run.sessions, []
        if self.paced:
            due = definitions.dues(self.plan["seed"], self.plan["rate"], self.gate_ns)
            due = definitions.until(due, max(self.end_ns, self.last_begin_ns), len(sessions))
            self.events, queue = definitions.open_loop(
                sessions, due[:self.plan["events"] or None],
                0 if self.plan["events"] else self.end_ns)
        else:
            self.events = definitions.closed_loop(sessions, self.gate_ns)
        self.queue = queue
        self.truth = definitions.Total(self.events, queue, self.measure_ns, self.checkpoint_ns,
                                       self.end_ns, self.cut_ns)

    # --- single figures ---------------------------------------------------------------------------

    def expect(self, name, said, expected):
        """In the unit of the figure.  expected None: there is nothing; an age is 0 then."""
        if expected is None:
            if said not in (None, 0):
                self.wrong.append(f"{name}: {said}, but the record has nothing")
        elif said is None or not expected.least <= said <= expected.most:
            self.wrong.append(f"{name}: {said}, but the record says {expected.least} to "
                              f"{expected.most}")

    def expect_ns(self, name, said_s, expected):
        self.expect(name, None if said_s is None else said_s * 1e9, expected)

    def expect_latency(self, name, said_s, expected, near_ns=0):
        self.expect_ns(name, said_s, expected and widened(expected, near_ns))

    def expect_rate(self, name, said, expected):
        self.expect(name, said, Range(expected.least * (1 - 1e-9), expected.most * (1 + 1e-9)))

    def expect_same(self, name, said, expected):
        if expected is not None and said != expected:
            self.wrong.append(f"{name}: {said}, but the record says {expected}")

    # --- the edges --------------------------------------------------------------------------------

    def span_end(self):
        """When the span ended, by the record."""
        ends = [event.end for event in self.events if event.end is not None]
        if self.run.signal_ns is not None:
            closing = [session.closing for session in self.run.sessions if session.closing]
            return Range(max(self.run.signal_ns, self.last_begin_ns - WAKE_NS),
                         min(closing, default=self.run.exit_ns) + NEAR_NS)
        if self.plan["events"]:
            return Range(max(end.least for end in ends), max(end.most for end in ends))
        limit_ns = self.measure_ns + self.plan["time_ns"]
        return Range(limit_ns - 1, limit_ns + 1)

    def grace_end(self):
        """When the last event had ended, or those in flight were given up."""
        ends = [event.end for event in self.events if event.end is not None]
        last = Range(max((end.least for end in ends), default=0),
                     max((end.most for end in ends), default=0))
        if any(event.end is None for event in self.events):
            [grace_s] = (option["value"] for option in self.run.document["facts"]["options"]
                         if option["name"] == "time-grace")
            last = Range(self.end_ns + float(grace_s) * 1e9, self.run.exit_ns)
        closing = max(session.closing or 0 for session in self.run.sessions)
        return Range(max(self.end_ns, last.least - NEAR_NS),
                     max(self.end_ns, last.most, closing) + NEAR_NS)

    def check_edges(self):
        """The four times of a run, and that nothing begins after the span."""
        figures, run = self.figures, self.run
        self.expect("end of the span", self.end_ns, self.span_end())
        self.expect_ns("at_s", figures["at_s"], Range(self.end_ns - self.measure_ns - 1,
                                                      self.end_ns - self.measure_ns + 1))
        if self.last_begin_ns > self.end_ns + WAKE_NS:
            self.wrong.append(f"an event began {(self.last_begin_ns - self.end_ns) / 1e6} ms after "
                              "the span")
        self.expect("end of the grace", self.cut_ns, self.grace_end())
        closed = max((session.closed or 0 for session in run.sessions))
        self.expect_ns("teardown_s", figures["teardown_s"], Range(
            max(0, closed - self.cut_ns - NEAR_NS), run.exit_ns - self.cut_ns))
        self.expect_ns("setup_s", figures["setup_s"], Range(1, self.gate_ns - run.spawn_ns))
        if self.plan["events"] and run.signal_ns is None:
            self.expect_same("in_grace", figures["in_grace"], 0)

    # --- the document -----------------------------------------------------------------------------

    def check_counts(self):
        truth, figures = self.truth, self.figures
        self.expect("events", figures["events"], truth.finished.count())
        self.expect("in_grace", figures["in_grace"], truth.in_grace.count())
        self.expect("unfinished", figures["unfinished"], truth.ages.count())
        self.expect_latency("oldest_s", figures["oldest_s"], definitions.maximum(truth.ages))
        self.expect_rate("events_per_s", figures["events_per_s"], truth.rate())
        for number, said in enumerate(self.total["sessions"]):
            own = truth.finished.where(lambda event, number=number: event.session == number)
            self.expect(f"events of session {number}", said["events"], own.count())

    def check_latencies(self, name, record, truth, finished, near=0):
        """Of a report; truth: with ages; near: as for definitions.percentile()."""
        figures = record["figures"]
        self.expect_latency(f"{name} min_s", figures["min_s"], definitions.minimum(finished))
        self.expect_latency(f"{name} max_s", figures["max_s"], definitions.maximum(truth))
        self.expect_latency(f"{name} avg_s", figures["avg_s"], definitions.mean(finished))
        for said in record["percentiles"]:
            self.expect_latency(f"{name} percentile {said['percent']}", said["s"],
                                definitions.percentile(truth, said["percent"], near))

    def check_outages(self):
        """Only tests of databases have them."""
        if not self.is_of_database():
            for name in "outages", "longest_outage_s":
                if self.figures[name] is not None:
                    self.wrong.append(f"{name}: {self.figures[name]}, but nothing measures it")
            return
        found = definitions.outages(self.events, self.measure_ns, self.end_ns)
        self.expect("outages", self.figures["outages"], found.count())
        longest = definitions.maximum(found) or Range(0, 0)
        self.expect_ns("longest_outage_s", self.figures["longest_outage_s"],
                       Range(longest.least - NEAR_NS, longest.most + NEAR_NS))

    def is_of_database(self):
        return "database" in self.run.document["facts"]

    def check_at_least(self):
        latencies, ages = self.truth.latencies, self.truth.ages
        for said in self.total["percentiles"]:
            self.expect_same(f"at_least of percentile {said['percent']}", said["at_least"],
                             definitions.is_at_least(latencies, ages, said["percent"]))
        self.expect_same("max_at_least", self.total["max_at_least"],
                         definitions.is_at_least(latencies, ages, 100))

    def check_fairness(self):
        """The execution time is that of the service."""
        finished, n = self.truth.finished, len(self.run.sessions)
        number = finished.count()
        self.expect_rate("fair_events_avg", self.figures["fair_events_avg"],
                         Range(number.least / n, number.most / n))
        busy = definitions.total(finished.map(definitions.service))
        if not self.is_unclear():
            self.expect_ns("fair_time_avg", self.figures["fair_time_avg"],
                           Range(busy.least / n, busy.most / n))

    def warmup_backlog(self, late_ns):
        """Arrivals of the warm-up that nobody has begun so long after it."""
        waiting = sum(due <= self.measure_ns for due in self.queue)
        begun = definitions.Some(self.events, lambda event: definitions.both(
            definitions.no(definitions.is_after(event.start, self.measure_ns)),
            definitions.is_after(event.begun, self.measure_ns + late_ns))).count()
        return Range(begun.least + waiting, begun.most + waiting)

    def check_arrivals(self):
        truth, figures = self.truth, self.figures
        self.expect("due", figures["due"], truth.due())
        self.expect("started", figures["started"], truth.started.count())
        self.expect("backlog", figures["backlog"], Range(len(truth.queue), len(truth.queue)))
        self.expect_same("due", figures["due"],
                         figures["started"] + figures["dropped"] + figures["backlog"])
        self.expect("finished", figures["finished"], truth.in_span.count())
        self.expect_rate("served", figures["served"], truth.served())
        if self.plan["warmup_ns"]:
            self.expect("warmup_backlog", figures["warmup_backlog"], Range(
                self.warmup_backlog(WAKE_NS).least, self.warmup_backlog(0).most))
        if not self.is_unclear():
            self.check_timings()

    def is_unclear(self):
        """Open loop: whether a session began far later than it could have."""
        free = {number: session.loop for number, session in enumerate(self.run.sessions)}
        for event in sorted(self.events, key=lambda event: event.begun.most):
            if event.begun.most - max(free[event.session], event.start.most) > UNCLEAR_NS:
                return self.paced
            if event.end is not None:
                free[event.session] = event.end.least
        return False

    def held_up_ns(self):
        """The longest that a session was seen to be held up between two events, or the reporting
        thread before an interval."""
        free, found = {}, 0
        for event in sorted(self.events, key=lambda event: event.begun.most):
            if event.session in free:
                since_ns = max(free[event.session], event.start.most if self.paced else 0)
                found = max(found, event.begun.most - since_ns)
            if event.end is not None:
                free[event.session] = event.end.least
        for number, record in enumerate(self.intervals, 1):
            due_ns = self.measure_ns + number * self.plan["interval_ns"]
            found = max(found, record["raw"]["at_ns"] - due_ns)
        return found

    def printed_ns(self):
        """The longest that the line of an interval came after its time: so late may its counts have
        been read."""
        lines = [seen_ns for seen_ns, line in self.run.lines if re.match(INTERVAL, line)]
        return max((seen_ns - record["raw"]["at_ns"]
                    for seen_ns, record in zip(lines, self.intervals)), default=0)

    def was_quiet(self):
        return self.held_up_ns() < QUIET_NS and self.printed_ns() < PRINTED_NS

    def check_timings(self):
        truth, timings = self.truth, {timing["name"]: timing for timing in self.total["timings"]}
        for name in ("queueing", "service"):
            values = truth.finished.map(getattr(definitions, name))
            self.expect(f"{name} count", timings[name]["count"], values.count())
            self.expect_latency(f"{name} avg_s", timings[name]["avg_s"], definitions.mean(values))
            self.expect_latency(f"{name} max_s", timings[name]["max_s"],
                                definitions.maximum(values))

    def check_records(self, name, records, from_ns):
        """Intervals, or checkpoints, one after the other."""
        for number, record in enumerate(records):
            at_ns, figures = record["raw"]["at_ns"], record["figures"]
            said = f"{name} {number}"
            truth = definitions.Interval(self.events, self.queue, self.measure_ns, from_ns, at_ns,
                                           self.end_ns)
            self.expect_ns(f"{said} span_s", figures["span_s"],
                           Range(at_ns - from_ns - 1, at_ns - from_ns + 1))
            self.expect(f"{said} events", figures["events"], truth.finished.count())
            self.expect_same(f"{said} in_grace", figures["in_grace"], 0)
            self.expect_rate(f"{said} events_per_s", figures["events_per_s"], truth.rate())
            if figures["events"] > 0 and not self.is_unclear():
                self.check_latencies(said, record, truth.latencies, truth.latencies,
                                     near=int(figures["events"] > 20))
            self.expect_latency(f"{said} oldest_s", figures["oldest_s"],
                                definitions.maximum(truth.ages), NEAR_NS)
            from_ns = at_ns

    def check_sum(self):
        """Intervals that reach to the end of the span add up to its rate."""
        if not self.intervals or self.intervals[-1]["raw"]["at_ns"] < self.end_ns:
            return
        records = [*self.checkpoints, self.total]
        events = [sum(record["figures"]["events"] - record["figures"]["in_grace"]
                      for record in records) for records in (self.intervals, records)]
        self.expect_same("sum of the intervals", *events)

    # --- the text ---------------------------------------------------------------------------------

    def expect_text(self, name, text, value):
        """A printed number is the value, rounded."""
        decimals = len(text.partition(".")[2])
        if not re.fullmatch(r"[\d.]+", text) or abs(float(text) - value) > 0.5001 * 10**-decimals:
            self.wrong.append(f"text: {name} is {text}, but the document has {value}")

    def check_line(self, pattern, *values):
        """A line of the last report with these numbers; no values: it is not there."""
        found = re.search(pattern, self.last_report())
        if (found is None) == bool(values):
            self.wrong.append(f"text: {'no' if values else 'needless'} line {pattern!r}")
        elif found is not None:
            for text, value in zip(found.groups(), values):
                self.expect_text(pattern, text, value)

    def last_report(self):
        return self.run.out[self.run.out.rindex("Throughput:"):]

    def check_text(self):
        figures = self.figures
        self.check_line(r"events/s \(eps\): +([\d.]+)\n", figures["events_per_s"])
        self.check_line(r"time elapsed: +([\d.]+)s\n", figures["at_s"])
        self.check_line(r"total number of events: +(\d+)\n", figures["events"])
        self.check_line(r"\n    finished in the grace: +(\d+)\n",
                        *[figures["in_grace"]] * (figures["in_grace"] > 0))
        self.check_line(r"\n    unfinished: +(\d+) \(oldest ([\d.]+) s\)\n",
                        *[figures["unfinished"], figures["oldest_s"]] * (figures["unfinished"] > 0))
        outages = [figures["outages"], figures["longest_outage_s"]] * bool(figures["outages"])
        self.check_line(r"\n    outages of 1 s or more: +(\d+) \(longest ([\d.]+) s\)\n", *outages)
        self.check_line(r"\n    set-up, grace, teardown: +([\d.]+)s, ([\d.]+)s, ([\d.]+)s\n",
                        *(figures[name] for name in ("setup_s", "grace_s", "teardown_s")))
        self.check_text_of_latencies()
        self.check_text_of_arrivals()

    def check_text_of_latencies(self):
        figures, total = self.figures, self.total
        self.check_latency_line("min", figures["min_s"], False)
        self.check_latency_line("avg", figures["avg_s"], False)
        self.check_latency_line("max", figures["max_s"], total["max_at_least"])
        for said in total["percentiles"]:
            self.check_latency_line(f"{said['percent']:g}th percentile", said["s"],
                                    said["at_least"])

    def check_latency_line(self, name, said_s, at_least):
        """Where nothing has ended there is no latency, but there may be an age."""
        if at_least:
            self.check_line(rf"\n +{name}: +≥([\d.]+)\n", said_s * 1e3)
        elif self.figures["events"] > 0:
            self.check_line(rf"\n +{name}: +([\d.]+)\n", said_s * 1e3)
        elif not re.search(rf"\n +{name}: +-\n", self.last_report()):
            self.wrong.append(f"text: {name} is not '-' although nothing has ended")

    def check_text_of_arrivals(self):
        figures = self.figures
        if not self.paced:
            self.check_line(r"Arrivals \(--rate\):\n")
            return
        timings = {timing["name"]: timing for timing in self.total["timings"]}
        self.check_line(r"due in the span: +(\d+)\n", figures["due"])
        self.check_line(r"started: +(\d+)\n", figures["started"])
        self.check_line(r"dropped: +(\d+)\n", figures["dropped"])
        self.check_line(r"queued at the end: +(\d+)\n", figures["backlog"])
        self.check_line(r"finished in the span: +(\d+) \(([\d.]+) % of those due\)\n",
                        figures["finished"], 100 * figures["served"])
        for name in ("queueing", "service") if timings["service"]["count"] > 0 else ():
            self.check_line(name + r" time \(ms, avg/(?:95th/)?max\): +"
                            r"([\d.]+)/(?:[\d.]+/)?([\d.]+)\n",
                            *(timings[name][of] * 1e3 for of in ("avg_s", "max_s")))

    def check_text_of_intervals(self):
        lines = re.findall(INTERVAL, self.run.out)
        lines = [(eps or tps, latency) for eps, tps, latency in lines]
        self.expect_same("interval lines", len(lines), len(self.intervals))
        for (rate, latency), record in zip(lines, self.intervals):
            figures = record["figures"]
            self.expect_text("eps", rate, figures["events_per_s"])
            if figures["events"] > 0:
                greatest = max(record["percentiles"], key=lambda said: said["percent"])
                self.expect_text("lat", latency, greatest["s"] * 1e3)
                continue
            dash = re.fullmatch(r"- \(oldest ([\d.]+)\)", latency)
            if dash is None:
                self.wrong.append(f"text: an interval without events has the latency {latency!r}")
            else:
                self.expect_text("oldest", dash.group(1), figures["oldest_s"] * 1e3)

    # --- all --------------------------------------------------------------------------------------

    def check(self):
        self.check_edges()
        self.check_counts()
        self.check_outages()
        if not self.is_unclear():
            # In an open loop there is no bound for the end of an event that another follows late.
            self.check_latencies("total", self.total, self.truth.both, self.truth.latencies,
                                 near=int(self.paced))
            self.check_at_least()
        self.check_fairness()
        if self.paced:
            self.check_arrivals()
        self.check_records("interval", self.intervals, self.measure_ns)
        self.check_records("checkpoint", self.checkpoints, self.measure_ns)
        self.check_sum()
        self.check_text()
        self.check_text_of_intervals()
        return self.wrong
