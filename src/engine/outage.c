/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the latest end before a long event. */
#include "engine/outage.h"

#include <string.h>

#include "base/clock.h"

/* A time without a success.  Each session that is looked at may narrow it. */
struct gap {
  uint64_t from_ns;            /* the latest end of a successful event or of a warm-up */
  uint64_t in_flight_since_ns; /* the start of the oldest event; UINT64_MAX: none is known */
};

void bn_outage_init(struct bn_outage *o, const struct bn_statset *stats)
{
  memset(o, 0, sizeof *o);
  o->stats = stats;
  (void)pthread_mutex_init(&o->lock, NULL);
}

void bn_outage_done(struct bn_outage *o)
{
  (void)pthread_mutex_destroy(&o->lock);
}

/* Narrows the gap by an event in flight since start_ns (UINT64_MAX: none), and by a success or
   the end of a warm-up at from_ns. */
static void outage_narrow(struct gap *g, uint64_t start_ns, uint64_t from_ns)
{
  g->from_ns = bn_clock_max(g->from_ns, from_ns);
  g->in_flight_since_ns = bn_clock_min(g->in_flight_since_ns, start_ns);
}

/* Acquire: pairs with the release stores of `ended`, `failing_since_ns` and `pauses` in
   engine/event.[ch], and keeps a read before those that follow it. */
static uint64_t outage_acquire(const _Atomic uint64_t *n)
{
  return atomic_load_explicit(n, memory_order_acquire);
}

/* Narrows the gap by the last success of a session and by its event in flight.  `running` is read
   after the counters: a session that has left meanwhile has shown its end to bn_outage_leave. */
static void outage_narrow_by_session(struct gap *g, const struct bn_stat *st, uint64_t now_ns)
{
  const uint64_t start_ns = outage_acquire(&st->begun_at) - outage_acquire(&st->ended_at);
  /* An event that begins between these reads has no start yet: start_ns is 0. */
  const bool in_flight = outage_acquire(&st->begun) != outage_acquire(&st->ended) && start_ns != 0;
  const bool pauses = atomic_load_explicit(&st->pauses, memory_order_acquire);
  const uint64_t last_end_ns = outage_acquire(&st->last_end_ns);
  const uint64_t failing_since_ns = outage_acquire(&st->failing_since_ns);
  const bool last_has_failed = failing_since_ns != 0;
  const bool follows_at_once = !pauses || (in_flight && start_ns <= last_end_ns);
  uint64_t in_flight_since_ns = in_flight ? start_ns : UINT64_MAX;
  /* Without pauses, an event begins when the event before it ends, and a session between two
     events has just ended an event. */
  uint64_t last_ok_ns = in_flight ? start_ns : now_ns;

  if (!atomic_load_explicit(&st->running, memory_order_acquire))
    return;
  /* Failed events count as in flight since the first of them, until a pause follows them. */
  if (last_has_failed && follows_at_once)
    in_flight_since_ns = failing_since_ns;
  if (last_has_failed)
    last_ok_ns = outage_acquire(&st->last_ok_ns);
  else if (pauses)
    last_ok_ns = last_end_ns;
  outage_narrow(g, in_flight_since_ns, last_ok_ns);
}

/* Returns whether the gap up to until_ns is too short for an outage. */
static bool outage_is_short(const struct gap *g, uint64_t until_ns)
{
  return bn_clock_between(g->from_ns, until_ns) < BN_OUTAGE_NS;
}

/* Narrows the gap by the ends of sessions that have left their loops. */
static void outage_narrow_by_gone(struct gap *g, const struct bn_outage *o)
{
  outage_narrow(g, UINT64_MAX, atomic_load(&o->gone_last_ok_ns));
}

/* Narrows the gap by the successes of all sessions, until it is too short for an outage.  The gap
   has the times of the session `self` already; NULL: of no session.  If events take a second,
   thousands of sessions search at each end of an event: the next search therefore begins with the
   session that made the gap too short, which often does so again.  The sessions that have gone are
   looked at twice: first because that costs a single read, and last because a session that goes
   during the search is not running when its turn comes. */
static void outage_narrow_by_all(struct bn_outage *o, struct gap *g, const struct bn_stat *self,
                                 uint64_t now_ns, uint64_t until_ns)
{
  const unsigned n = o->stats->n_sessions;
  unsigned index = atomic_load_explicit(&o->showed, memory_order_relaxed);

  outage_narrow_by_gone(g, o);
  for (unsigned i = 0; i < n && !outage_is_short(g, until_ns); i++) {
    const struct bn_stat *st = o->stats->stat[index];

    /* An outage begins after the warm-up at the earliest. */
    outage_narrow(g, UINT64_MAX, st->measure_from_ns);
    if (st != self)
      outage_narrow_by_session(g, st, now_ns);
    if (outage_is_short(g, until_ns))
      atomic_store_explicit(&o->showed, index, memory_order_relaxed);
    index = index + 1 < n ? index + 1 : 0;
  }
  outage_narrow_by_gone(g, o);
}

/* Counts the gap as an outage if it is long enough.  A gap that overlaps the last outage is the
   same outage, which another session has counted. */
static void outage_count(struct bn_outage *o, const struct gap *g, uint64_t until_ns)
{
  const uint64_t from_ns = bn_clock_max(g->in_flight_since_ns, g->from_ns);

  if (bn_clock_between(from_ns, until_ns) < BN_OUTAGE_NS)
    return;
  (void)pthread_mutex_lock(&o->lock);
  if (from_ns >= o->ended_ns) {
    o->n++;
    o->ended_ns = until_ns;
    o->longest_ns = bn_clock_max(o->longest_ns, until_ns - from_ns);
  }
  (void)pthread_mutex_unlock(&o->lock);
}

void bn_outage_search(struct bn_outage *o, const struct bn_stat *self, uint64_t since_ns,
                      uint64_t last_ok_ns, uint64_t now_ns, uint64_t span_ns)
{
  const uint64_t until_ns = bn_clock_min(now_ns, span_ns);
  struct gap g = {.from_ns = last_ok_ns, .in_flight_since_ns = since_ns};

  outage_narrow_by_all(o, &g, self, now_ns, until_ns);
  outage_count(o, &g, until_ns);
}

void bn_outage_leave(struct bn_outage *o, uint64_t end_ns)
{
  bn_stat_raise(&o->gone_last_ok_ns, end_ns);
}

void bn_outage_search_at_end(struct bn_outage *o, uint64_t span_ns)
{
  struct gap g = {.from_ns = 0, .in_flight_since_ns = UINT64_MAX};

  /* Without an event in flight, the gap begins at UINT64_MAX: outage_count ignores it. */
  outage_narrow_by_all(o, &g, NULL /* self */, span_ns, span_ns);
  outage_count(o, &g, span_ns);
}

struct bn_outages bn_outage_get(struct bn_outage *o)
{
  struct bn_outages all;

  (void)pthread_mutex_lock(&o->lock);
  all = (struct bn_outages){.n = o->n, .longest_ns = o->longest_ns};
  (void)pthread_mutex_unlock(&o->lock);
  return all;
}
