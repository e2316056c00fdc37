/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slow half of the event path: tickets of --events, arrivals of --rate, and what is said when
   there are no more. */
#include "engine/event.h"

#include "base/log.h"
#include "engine/admit.h"
#include "engine/outage.h"
#include "engine/pacer.h"
#include "option/conf.h"

/* However long the reporting thread is held up in it.  No event's time holds the wait. */
static void await_baseline(struct bn_session *s)
{
  bn_admit_await(s->seat->admit);
  s->last_ns = bn_clock_now(&s->clock);
}

uint64_t bn_event_counted(struct bn_session *s)
{
  uint64_t n;

  while (bn_admit_counted(s->seat, &n) == BN_ADMIT_FROZEN)
    await_baseline(s);
  return n;
}

void bn_event_unclaim(struct bn_session *s, const struct bn_tick *tick)
{
  bn_admit_unclaim(s->seat, tick->start_ns < s->stat->counts_from_ns);
}

void bn_event_began(struct bn_session *s, uint64_t start_ns)
{
  if (start_ns >= s->stat->counts_from_ns)
    bn_admit_began(s->seat);
  else if (s->last_ns >= s->stat->counts_from_ns)
    bn_stat_bump(&s->stat->overdue, 1);
}

void bn_event_start_due(struct bn_session *s, struct bn_tick *tick)
{
  tick->begun_ns = s->last_ns;
  tick->start_ns = s->due_ns;
  s->due_ns = 0;
  bn_event_began(s, tick->start_ns);
}

void bn_event_leave(struct bn_session *s)
{
  while (bn_admit_leave(s->seat) == BN_ADMIT_FROZEN)
    await_baseline(s);
}

static uint64_t between(uint64_t from_ns, uint64_t to_ns)
{
  return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The session's clock may be a little behind the one that ends the wait. */
static bool wait_until(struct bn_session *s, uint64_t due_ns, bool never)
{
  bool waited = true;

  s->last_ns = bn_clock_now(&s->clock);
  if (s->last_ns >= due_ns)
    return true;
  waited = bn_pacer_sleep(s->pacer, s->limit, due_ns);
  s->last_ns = bn_clock_now(&s->clock);
  if (waited && !never && s->stat->lag_hist != 0)
    bn_stat_record(s->stat, s->stat->lag_hist, between(due_ns, s->last_ns));
  return waited;
}

static bool await_arrival(struct bn_session *s)
{
  const uint64_t due = s->due_ns;
  const bool never = due >= bn_session_deadline(s);
  const bool waited = wait_until(s, never ? bn_session_deadline(s) : due, never);

  s->due_ns = 0;
  if (never || !waited || s->last_ns >= bn_session_deadline(s))
    return false;
  s->due_ns = due;
  return true;
}

/* 0.5 says nothing. */
static void say_why(const struct bn_session *s, enum bn_admission answer)
{
  if (answer != BN_ADMIT_CLOSED && !s->services->conf->policy->limits_end_silently)
    bn_log(BN_INFO, "%s limit exceeded, exiting...", answer == BN_ADMIT_TIME_UP ? "Time" : "Event");
}

bool bn_event_claim(struct bn_session *s)
{
  enum bn_admission answer;

  /* Loops that begin events at times of their own may have gone beyond the end of the warm-up. */
  if (s->stat->counts_from_ns != 0 && s->mark != &s->limit->until_ns)
    s->last_ns = bn_clock_now(&s->clock);
  while ((answer = bn_admit_claim(s->seat, s->last_ns)) == BN_ADMIT_FROZEN)
    await_baseline(s);
  if (answer != BN_ADMIT_YES) {
    say_why(s, answer);
    return false;
  }
  if (s->pacer != NULL)
    s->due_ns = bn_pacer_claim(s->pacer);
  return true;
}

static __attribute__((noinline)) bool claim_and_wait(struct bn_session *s)
{
  const bool more = bn_event_claim(s) && (s->due_ns == 0 || await_arrival(s));

  if (!more)
    s->attend |= BN_ATTEND_LIMIT;
  else if (__builtin_expect((s->attend & BN_ATTEND_LIMIT) != 0, 0))
    s->attend &= (unsigned char)~BN_ATTEND_LIMIT;
  return more;
}

/* Nearly all events of --events have no more to ask for. */
bool bn_event_more_slow(struct bn_session *s)
{
  return (s->attend == BN_ATTEND_CLAIM && bn_admit_use(s->seat, s->last_ns)) || claim_and_wait(s);
}

/* --- ends that are looked at --- */

/* It was begun in the warm-up, or was due in it. */
static void count_warm(struct bn_session *s, uint64_t took)
{
  struct bn_stat *st = s->stat;

  bn_stat_bump(&st->warm_events, 1);
  bn_stat_bump(&st->warm_busy_ns, took);
  bn_stat_record(st, st->warm_hist, took);
  bn_admit_was_warm(s->seat);
}

/* Response time = queueing + service.  Returns the latter. */
static uint64_t note_waiting(struct bn_stat *st, const struct bn_tick *tick, uint64_t now)
{
  /* What follows from an event without an arrival of its own begins at once. */
  const uint64_t begun_ns = tick->begun_ns > tick->start_ns ? tick->begun_ns : tick->start_ns;
  const uint64_t service = between(begun_ns, now);

  bn_stat_bump(&st->service_ns, service);
  bn_stat_record(st, st->queueing_hist, begun_ns - tick->start_ns);
  bn_stat_record(st, st->service_hist, service);
  return service;
}

void bn_event_attend(struct bn_session *s, const struct bn_tick *tick)
{
  struct bn_stat *st = s->stat;
  const uint64_t now = s->last_ns, took = between(tick->start_ns, now);
  /* Who ends the span writes its end first. */
  const bool over = now >= atomic_load_explicit(&s->limit->until_ns, memory_order_acquire);
  uint64_t service = 0;

  if (over)
    s->attend |= BN_ATTEND_LIMIT;
  if (st->service_hist != 0)
    atomic_store_explicit(&st->last_end_ns, now, memory_order_relaxed);
  if (tick->start_ns < st->counts_from_ns) {
    count_warm(s, took);
    return;
  }
  if (st->service_hist != 0)
    service = note_waiting(st, tick, now);
  else if (bn_stat_get(&st->begun) == bn_stat_get(&st->ended))
    s->mark = &s->limit->until_ns; /* what is begun from now on does not belong to the warm-up */
  if (over && now > bn_stat_get(&s->limit->span_ns)) {
    bn_stat_bump(&st->late, 1);
    bn_stat_bump(&st->late_service_ns, service);
  }
  bn_event_count(s, took);
}

/* What lies before the end of the warm-up does not count, but a stall may begin there. */
void bn_event_look(struct bn_session *s, const struct bn_tick *tick)
{
  const struct bn_stat *st = s->stat;
  const uint64_t now = s->last_ns;
  const uint64_t before_ns = st->service_hist != 0 ? bn_stat_get(&st->last_end_ns) : tick->start_ns;
  const uint64_t from_ns = before_ns > st->measure_from_ns ? before_ns : st->measure_from_ns;

  if (between(from_ns, now) > BN_OUTAGE_NS && s->outage != NULL)
    bn_outage_look(s->outage, st, tick->start_ns, before_ns, now, bn_stat_get(&s->limit->span_ns));
}

static void note_long(struct bn_stat *st, uint64_t took)
{
  if (took > bn_stat_get(&st->max_ns))
    atomic_store_explicit(&st->max_ns, took, memory_order_relaxed);
  /* Under --rate the first end after a stall may be that of a short event. */
  st->edge_ns = st->service_hist != 0 ? 0 : bn_stat_get(&st->max_ns);
  if (st->edge_ns > BN_OUTAGE_NS)
    st->edge_ns = BN_OUTAGE_NS;
}

void bn_event_end_long(struct bn_session *s, const struct bn_tick *tick, uint64_t took)
{
  if (tick->start_ns >= s->stat->counts_from_ns && s->last_ns >= s->stat->measure_from_ns)
    note_long(s->stat, took);
  bn_event_look(s, tick);
  bn_event_finish(s, tick, took);
}
