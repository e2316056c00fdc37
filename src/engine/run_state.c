/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the state of the run from its parts. */
#include "engine/run_state.h"

#include <math.h>

#include "engine/phases.h"

uint64_t bn_run_state_count_backlog(const struct bn_run_parts *p, const struct bn_times *times,
                                    uint64_t now_ns, uint64_t remaining)
{
  const uint64_t end_ns = bn_outcome_arrivals_end_ns(p->outcome, times->deadline_ns);
  const uint64_t due = bn_pacer_count_passed(p->pacer, bn_clock_min(now_ns, end_ns));

  return bn_pacer_count_queued(due, bn_load_count_begun(p->load), remaining);
}

/* Returns the end of the span: the limit or, if all sessions left their loops before the limit, the
   end of the last event.  It is UINT64_MAX if there is no limit and sessions are in their loops. */
static uint64_t state_span_end_ns(const struct bn_run_parts *p, const struct bn_times *times)
{
  const uint64_t limit_ns = bn_outcome_arrivals_end_ns(p->outcome, times->deadline_ns);
  uint64_t last_ns;

  if (bn_threads_count_looping(p->threads) > 0)
    return limit_ns;
  /* last_ns is loaded after the count: a session records its last event before it leaves. */
  last_ns = atomic_load(&p->outcome->last_ns);
  if (last_ns == 0 || atomic_load(&p->outcome->looped_ns) >= limit_ns)
    return limit_ns;
  return bn_clock_min(last_ns, limit_ns);
}

struct bn_run_state bn_run_state_at(const struct bn_run_parts *p, const struct bn_times *times,
                                    uint64_t now_ns)
{
  const bool is_native = bn_policy_is_native(p->conf->policy);
  const uint64_t span_end_ns = is_native ? state_span_end_ns(p, times) : UINT64_MAX;
  const uint64_t until_ns = bn_clock_min(now_ns, span_end_ns);
  const bool is_measured = until_ns > times->measure_ns;
  struct bn_run_state state = {.now_ns = now_ns,
                               .from_ns = is_measured ? times->measure_ns : times->start_ns,
                               .span_end_ns = until_ns,
                               .deadline_ns = times->deadline_ns,
                               .at_limit = now_ns >= times->deadline_ns,
                               .paced = p->pacer != NULL,
                               .failed_threads = bn_threads_count_failed(p->threads),
                               .abandoned = bn_outcome_has(p->outcome, BN_OUTCOME_ABANDONED)};

  /* Workers that leave because of the limit are included. */
  if (state.at_limit)
    state.running = bn_threads_count_at_limit(p->threads);
  if (state.paced) {
    const bool is_limited = !p->conf->policy->queue_ignores_events;
    const uint64_t remaining = is_limited ? bn_quota_unused(p->quota) : UINT64_MAX;

    state.backlog = bn_run_state_count_backlog(p, times, now_ns, remaining);
  }
  return state;
}

/* --- the end ---------------------------------------------------------------------------------- */

bool bn_run_state_in_warmup(const struct bn_run_parts *p, const struct bn_times *times)
{
  return state_span_end_ns(p, times) < times->measure_ns;
}

/* Returns how many events of the span were begun by now, dropped ones included.  As in a snapshot,
   all events in flight of a session belong to the span if their average start is in it
   (measure/stat.h has the identities). */
static uint64_t state_count_started(const struct bn_load *l, uint64_t now_ns)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < l->stats.n_sessions; i++) {
    const struct bn_stat *st = l->stats.stat[i];
    const uint64_t in_flight = bn_stat_get(&st->begun) - bn_stat_get(&st->ended);
    const uint64_t sum_of_starts_ns = bn_stat_get(&st->begun_at) - bn_stat_get(&st->ended_at);

    n += bn_stat_get(&st->counter[BN_C_EVENTS]) + bn_stat_get(&st->dropped);
    if (in_flight > 0 &&
        bn_stat_average_start(in_flight, sum_of_starts_ns, now_ns) >= st->counts_from_ns)
      n += in_flight;
  }
  return n;
}

/* Sets how many arrivals of the span were due, and how many of them still wait at its end, with
   their ages.  An event that is due at the limit does not begin, so that the limit itself is not
   part of the span.  Arrivals of the warm-up that still wait are counted apart. */
static void state_find_queue(const struct bn_run_parts *p, struct bn_run_state *s,
                             struct bn_hist *ages)
{
  const struct bn_pacer_due due = bn_pacer_count_due(p->pacer, s->from_ns, s->now_ns - 1);
  const uint64_t total_due = due.warmup + due.counted;
  const uint64_t begun = bn_load_count_begun(p->load);
  /* Events begin in the order of arrivals, so that those after the first `begun` wait. */
  const uint64_t skip = begun > due.warmup ? begun : due.warmup;
  const uint64_t waiting = bn_pacer_count_queued(total_due, skip, UINT64_MAX);
  /* With --events, arrivals after the last ticket belong to no event, so they were not due. */
  const uint64_t backlog = bn_pacer_count_queued(total_due, skip, bn_quota_unused(p->quota));
  /* Events that began after the run was cut and before its end was known count as due too. */
  const uint64_t begun_late = skip > total_due ? skip - total_due : 0;

  s->backlog = backlog;
  if (due.estimated)
    s->due = state_count_started(p->load, s->now_ns) + backlog;
  else
    s->due = due.counted - (waiting - backlog) + begun_late;
  s->queue_skip = skip;
  s->warmup_waiting = due.warmup > begun ? due.warmup - begun : 0;
  s->oldest_ns = bn_pacer_add_ages(p->pacer, s->now_ns, skip, backlog, ages);
  s->ages = ages;
}

/* Counts the arrivals of each phase, for the run whose state at its end is *s. */
static void state_end_phases(const struct bn_run_parts *p, struct bn_run_state *s)
{
  const struct bn_phases_end end = {
      .until_ns = s->now_ns, .due = s->due, .queued = s->backlog, .skip = s->queue_skip};

  s->phases = p->phases;
  bn_phases_end(p->phases, p->pacer, &end);
}

struct bn_run_state bn_run_state_end(const struct bn_run_parts *p, const struct bn_times *times,
                                     struct bn_hist *ages)
{
  const uint64_t end_ns = atomic_load(&p->outcome->end_ns);
  const uint64_t closed_ns = bn_clock_mono(); /* the sessions are closed, unless abandoned */
  const uint64_t span_end_ns = state_span_end_ns(p, times);
  struct bn_run_state state;

  if (!bn_policy_is_native(p->conf->policy))
    return bn_run_state_at(p, times, end_ns);
  state = bn_run_state_at(p, times, span_end_ns != UINT64_MAX ? span_end_ns : end_ns);
  /* A worker that is closing its session has no event in flight. */
  state.abandoned = bn_threads_count_looping(p->threads) > 0;
  state.looped_ns = atomic_load(&p->outcome->looped_ns);
  state.observed_ns = state.abandoned ? end_ns : state.looped_ns;
  state.setup_ns = bn_clock_between(p->made_ns, times->start_ns);
  state.grace_ns = bn_clock_between(state.now_ns, state.observed_ns);
  state.teardown_ns = state.abandoned ? 0 : bn_clock_between(state.looped_ns, closed_ns);
  if (state.paced)
    state_find_queue(p, &state, ages);
  if (p->phases != NULL)
    state_end_phases(p, &state);
  if (state.abandoned)
    bn_outage_search_at_end(p->outage, state.now_ns);
  state.outages = bn_outage_get(p->outage);
  return state;
}

bool bn_run_state_is_unserved(const struct bn_run_parts *p, const struct bn_run_state *end,
                              uint64_t *ended)
{
  const struct bn_served served = bn_load_count_served(p->load);
  const uint64_t unserved = end->due > served.events ? end->due - served.events : 0;
  const double span_ns = (double)bn_clock_between(end->from_ns, end->now_ns);
  /* The mean number of events in service, by Little's law.  The number has a Poisson distribution,
     whose standard deviation is the square root of its mean: four of these are allowed. */
  const double in_service = span_ns > 0 ? (double)served.service_ns / span_ns : 0;
  const double most_in_flight = in_service + 4 * sqrt(in_service) + 1;

  *ended = served.events;
  return unserved > end->due / 100 && (double)unserved > most_in_flight;
}
