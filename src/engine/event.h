/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event path: what every event costs, inline for the built-in loop and wrapped for scripts. */
#ifndef BN_ENGINE_EVENT_H
#define BN_ENGINE_EVENT_H

#include "api/session.h"
#include "measure/stat.h"

/* All functions: the worker that drives the session only. */

/* Claims a ticket of --events and, under --rate, an arrival (s->due_ns), and sleeps until it is
 * due. */
bool bn_event_more_slow(struct bn_session *s);

/* As bn_event_more, for loops with events in flight: under --rate it returns before the arrival is
   due; nothing may be started before s->due_ns (0: at once). */
bool bn_event_claim(struct bn_session *s);

/* The ticket of an event that was begun and is not counted is not spent. */
void bn_event_unclaim(struct bn_session *s);

/* The session begins no event any more. */
void bn_event_leave(struct bn_session *s);

/* Events since the warm-up's baseline, for which it waits while that is taken; 0 before. */
uint64_t bn_event_counted(struct bn_session *s);

/* May another event begin?  true claims it: bn_event_start must follow, or it is lost. */
static inline bool bn_event_more(struct bn_session *s)
{
  if (__builtin_expect(s->last_ns >= bn_stat_get(&s->limit->until_ns), 0) ||
      __builtin_expect(s->paced, 0))
    return bn_event_more_slow(s);
  return true;
}

/* Starts the claimed event: when it was due (--rate), else at s->last_ns, the end of the previous
 * one. */
static inline void bn_event_start(struct bn_session *s, struct bn_tick *tick)
{
  tick->start_ns = __builtin_expect(s->due_ns != 0, 0) ? s->due_ns : s->last_ns;
  s->due_ns = 0;
  bn_stat_bump(&s->stat->begun_at, tick->start_ns);
  bn_stat_bump(&s->stat->begun, 1);
}

/* The same with a clock read, for loops that spend time of their own between events. */
static inline void bn_event_start_now(struct bn_session *s, struct bn_tick *tick)
{
  s->last_ns = bn_clock_now(&s->clock);
  bn_event_start(s, tick);
}

/* false: the run is over and nothing was begun. */
static inline bool bn_event_begin(struct bn_session *s, struct bn_tick *tick)
{
  if (!bn_event_more(s))
    return false;
  bn_event_start(s, tick);
  return true;
}

/* Ends an event now: one clock read, its latency recorded. */
static inline void bn_event_end(struct bn_session *s, const struct bn_tick *tick)
{
  struct bn_stat *st = s->stat;
  const uint64_t now = bn_clock_now(&s->clock);
  const uint64_t took = now > tick->start_ns ? now - tick->start_ns : 0;

  s->last_ns = now;
  bn_stat_bump(&st->busy_ns, took);
  bn_stat_bump(&st->ended_at, tick->start_ns);
  bn_stat_bump(&st->ended, 1);
  bn_stat_count(st, BN_C_EVENTS, 1);
  bn_stat_record(st, BN_H_LATENCY, took);
  if (__builtin_expect(took > bn_stat_get(&st->max_ns), 0) && now >= st->measure_from_ns)
    atomic_store_explicit(&st->max_ns, took, memory_order_relaxed);
  if (__builtin_expect(took < bn_stat_get(&st->min_ns), 0) && now >= st->measure_from_ns)
    atomic_store_explicit(&st->min_ns, took, memory_order_relaxed);
}

/* Ends an event that is not to be counted; its ticket stays spent. */
static inline void bn_event_forget(struct bn_session *s, const struct bn_tick *tick)
{
  bn_stat_bump(&s->stat->ended_at, tick->start_ns);
  bn_stat_bump(&s->stat->ended, 1);
}

/* The same, and its ticket is used again: the script said "stop" or failed in it. */
static inline void bn_event_drop(struct bn_session *s, const struct bn_tick *tick)
{
  bn_event_forget(s, tick);
  if (s->paced)
    bn_event_unclaim(s);
}

#endif
