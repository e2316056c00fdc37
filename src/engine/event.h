/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event path of every event: inline for the built-in loop and wrapped for scripts. */
#ifndef BN_ENGINE_EVENT_H
#define BN_ENGINE_EVENT_H

#include "api/session.h"
#include "measure/stat.h"

struct bn_times; /* engine/threads.h */

/* Unless noted, only the worker that drives the session calls these functions.

   Most events are counted inline when they end.  An event that is looked at when it ends takes the
   slow way, bn_event_count_marked. */

/* s->mark points here if each event is looked at when it ends. */
extern const _Atomic uint64_t bn_event_always;
/* s->mark points here if the event in flight is looked at for no other reason than its kind. */
extern const _Atomic uint64_t bn_event_of_kind;

/* Prepares the session for the run that starts now, while its worker waits at the start barrier.
   The main thread calls it. */
void bn_event_prepare(struct bn_session *s, const struct bn_times *times);

/* Ends a session that has failed: the current event is not counted, and no other begins. */
void bn_event_stop(struct bn_session *s);

/* Does the rest of bn_event_more: claims a ticket of --events and, under --rate, an arrival
   (s->due_ns), and sleeps until the arrival is due, or for the think time.  Returns as
   bn_event_more. */
bool bn_event_more_slow(struct bn_session *s);

/* As bn_event_more, for a session that shares its worker.  LATER: the session sleeps, and asks
   again when its worker goes on with it. */
enum bn_event_answer { BN_EVENT_NO, BN_EVENT_YES, BN_EVENT_LATER };
enum bn_event_answer bn_event_ask(struct bn_session *s);

/* Sets the length of the next pause.  Returns false under --rate, where sessions do not pause. */
bool bn_event_set_pause(struct bn_session *s, uint64_t ns);

/* As bn_event_more, for loops with events in flight, which do not pause.  Under --rate it returns
   before the arrival is due; the event must not start before s->due_ns (0: at once). */
bool bn_event_claim(struct bn_session *s);

/* Returns the ticket of an event that was begun and is not counted. */
void bn_event_return_uncounted(struct bn_session *s, const struct bn_tick *tick);

/* Returns the ticket of a claimed event that will not be begun. */
void bn_event_return_unbegun(struct bn_session *s);

/* Records that a claimed event begins at start_ns, after its claim: tickets depend on which side of
   the end of the warm-up it is. */
void bn_event_note_begun(struct bn_session *s, uint64_t start_ns);

/* Returns the end of the last event, or now_ns if there were no events. */
uint64_t bn_event_find_last_end(const struct bn_session *s, uint64_t now_ns);

/* Ends the events of a session that has left its loop; its last event ended at end_ns.  Records an
   outage in which the session has ended, and returns the tickets that it has in reserve. */
void bn_event_leave(struct bn_session *s, uint64_t end_ns);

/* Returns the events counted since the end of the warm-up, 0 before it.  Waits while the baseline
   is being taken; a wait moves s->last_ns to its end. */
uint64_t bn_event_get_counted(struct bn_session *s);

/* Counts an event that has ended at or after s->mark, apart if it belongs to the warm-up.  Notes
   whether it ended after the span and, under --rate, how long it waited, and counts it for its
   kind. */
void bn_event_count_marked(struct bn_session *s, const struct bn_tick *tick);

/* Ends an event that took longer than s->stat->edge_ns: longer than any before it, or so long that
   there may have been an outage.  The edge is 0 under --rate, in a session that pauses, after a
   failed event, and in a session that has failed.  Looks for an outage before other threads can see
   the end. */
__attribute__((cold)) void bn_event_end_long(struct bn_session *s, const struct bn_tick *tick,
                                             uint64_t took_ns);

/* Notes the kind of the event in flight, and has the event looked at when it ends. */
static inline void bn_event_mark_kind(struct bn_session *s, unsigned kind)
{
  s->kind = kind;
  if (s->mark != &bn_event_always)
    s->mark = &bn_event_of_kind;
}

/* Sets the kind of the event in flight, from 1 on; the last call counts.  The event is looked at
   when it ends, so that events of no kind cost nothing.  Without an event in flight it has no
   effect. */
static inline void bn_event_set_kind(struct bn_session *s, unsigned kind)
{
  if (__builtin_expect(bn_stat_get(&s->stat->begun) != bn_stat_get(&s->stat->ended), 1))
    bn_event_mark_kind(s, kind);
}

/* Notes that the event in flight is repeated.  The retry counts for the kind that the event has
   when it ends. */
static inline void bn_event_note_repeat(struct bn_session *s)
{
  s->repeats++;
  s->mark = &bn_event_always;
}

/* Records that an event ends without success, before other threads can see the end: an outage may
   go on with it. */
__attribute__((cold)) void bn_event_mark_failing(struct bn_session *s, const struct bn_tick *tick);

/* Claims the next event.  Returns false if no event may begin.  After true, bn_event_start must
   follow, or the ticket is lost. */
static inline bool bn_event_more(struct bn_session *s)
{
  if (__builtin_expect(s->last_ns >= bn_stat_get(&s->limit->until_ns), 0) ||
      __builtin_expect(s->attend != 0, 0))
    return bn_event_more_slow(s);
  return true;
}

/* Sets the times of an event under --rate: it starts when its arrival was due, and begins now.
   Takes the arrival from the session. */
__attribute__((cold)) void bn_event_start_due(struct bn_session *s, struct bn_tick *tick);

/* Makes an event in flight visible.  The number is written after the time, so that a thread that
   sees the event knows its start.  Release: pairs with the acquire load in measure/snap.c. */
static inline void bn_event_show_start(struct bn_stat *st, uint64_t start_ns)
{
  bn_stat_bump(&st->begun_at, start_ns);
  atomic_store_explicit(&st->begun, bn_stat_get(&st->begun) + 1, memory_order_release);
}

/* Starts the claimed event: when it was due (--rate), else at s->last_ns, the end of the previous
   one.  Only an event that was due sets tick->begun_ns. */
static inline void bn_event_start(struct bn_session *s, struct bn_tick *tick)
{
  tick->start_ns = s->last_ns;
  if (__builtin_expect(s->due_ns != 0, 0))
    bn_event_start_due(s, tick);
  bn_event_show_start(s->stat, tick->start_ns);
}

/* As bn_event_start, with a clock read, for loops that spend time of their own between events. */
static inline void bn_event_start_now(struct bn_session *s, struct bn_tick *tick)
{
  const uint64_t claim_ns = s->last_ns;

  s->last_ns = bn_clock_now(&s->clock);
  /* An event of --rate is noted by bn_event_start_due, and an event whose pause has ended after the
     warm-up was noted then. */
  if (__builtin_expect(s->attend != 0, 0) && s->due_ns == 0 &&
      ((s->attend & BN_ATTEND_THINK) == 0 || claim_ns < s->stat->counts_from_ns))
    bn_event_note_begun(s, s->last_ns);
  bn_event_start(s, tick);
}

/* Moves the start of the event in flight to now, for events that begin with work of their own.  An
   event of --rate keeps its start, because it is late. */
void bn_event_start_later(struct bn_session *s, struct bn_tick *tick);

/* Lets the session begin events of its own accord, by bn_event_start_at.  These need no ticket, and
   they end with its work, not with the limit.  The session calls it before its loop. */
void bn_event_exempt(struct bn_session *s);

/* Starts an event now whose latency counts from start_ns, for sessions that are exempt. */
static inline void bn_event_start_at(struct bn_session *s, struct bn_tick *tick, uint64_t start_ns)
{
  s->last_ns = bn_clock_now(&s->clock);
  *tick = (struct bn_tick){.start_ns = start_ns, .begun_ns = s->last_ns};
  bn_event_show_start(s->stat, start_ns);
}

/* Starts the next event; returns false if the run is over.  For loops that end each event with
   bn_event_end, which has looked at the limit. */
static inline bool bn_event_begin(struct bn_session *s, struct bn_tick *tick)
{
  if (__builtin_expect(s->attend != 0, 0) && !bn_event_more_slow(s))
    return false;
  bn_event_start(s, tick);
  return true;
}

/* Counts an event that ended at end_ns, but does not record its latency in a histogram. */
static inline void bn_event_count_time(struct bn_stat *st, uint64_t end_ns, uint64_t took_ns)
{
  bn_stat_bump(&st->busy_ns, took_ns);
  bn_stat_count(st, BN_C_EVENTS, 1);
  if (__builtin_expect(took_ns < bn_stat_get(&st->min_ns), 0) && end_ns >= st->measure_from_ns)
    atomic_store_explicit(&st->min_ns, took_ns, memory_order_relaxed);
}

/* Counts an event that ended at end_ns, with its latency.  The histogram comes last, so that its
   rare out-of-line call is a tail call. */
static inline void bn_event_count(struct bn_stat *st, uint64_t end_ns, uint64_t took_ns)
{
  bn_event_count_time(st, end_ns, took_ns);
  bn_stat_record(st, BN_H_LATENCY, took_ns);
}

/* Makes the end of an event visible to other threads.  Release: pairs with the acquire loads in
   engine/outage.c, so that a thread that sees the end also sees what the session did before it. */
static inline void bn_event_show_end(struct bn_stat *st, const struct bn_tick *tick)
{
  bn_stat_bump(&st->ended_at, tick->start_ns);
  atomic_store_explicit(&st->ended, bn_stat_get(&st->ended) + 1, memory_order_release);
}

/* Makes the end at s->last_ns visible and counts the event. */
static inline void bn_event_finish(struct bn_session *s, const struct bn_tick *tick,
                                   uint64_t took_ns)
{
  struct bn_stat *st = s->stat;

  bn_event_show_end(st, tick);
  if (__builtin_expect(s->last_ns >= bn_stat_get(s->mark), 0))
    bn_event_count_marked(s, tick);
  else
    bn_event_count(st, s->last_ns, took_ns);
}

/* Ends an event now, with one clock read, and records its latency.  The calls come last, as in
   bn_hist_record. */
static inline void bn_event_end(struct bn_session *s, const struct bn_tick *tick)
{
  const uint64_t now_ns = bn_clock_now(&s->clock);
  const uint64_t took_ns = bn_clock_between(tick->start_ns, now_ns);

  s->last_ns = now_ns;
  if (__builtin_expect(took_ns > s->stat->edge_ns, 0))
    bn_event_end_long(s, tick, took_ns);
  else
    bn_event_finish(s, tick, took_ns);
}

/* Returns the index of the first counter of a kind, from 1 on. */
static inline unsigned bn_event_kind_row(const struct bn_stat *st, unsigned kind)
{
  return st->kind_counter + (kind - 1) * BN_EVENT_COUNTERS;
}

/* As bn_event_count, for an event of this kind.  Its latency is in the histogram of the kind alone;
   bn_snap_take adds it to that of all events. */
static inline void bn_event_count_of_kind(struct bn_stat *st, unsigned kind, uint64_t end_ns,
                                          uint64_t took_ns)
{
  bn_event_count_time(st, end_ns, took_ns);
  bn_stat_count(st, bn_event_kind_row(st, kind), 1);
  bn_stat_record(st, st->kind_hist + kind - 1, took_ns);
}

/* As bn_event_end, for an event whose kind is known at its end.  Most of these are counted at once;
   the kind of the others is noted first, because they take the slow way. */
static inline void bn_event_end_of_kind(struct bn_session *s, const struct bn_tick *tick,
                                        unsigned kind)
{
  const uint64_t now_ns = bn_clock_now(&s->clock);
  const uint64_t took_ns = bn_clock_between(tick->start_ns, now_ns);
  struct bn_stat *st = s->stat;

  s->last_ns = now_ns;
  if (__builtin_expect(took_ns > st->edge_ns, 0)) {
    bn_event_mark_kind(s, kind);
    bn_event_end_long(s, tick, took_ns);
    return;
  }
  if (__builtin_expect(now_ns >= bn_stat_get(s->mark), 0)) {
    bn_event_mark_kind(s, kind);
    bn_event_finish(s, tick, took_ns);
    return;
  }
  bn_event_show_end(st, tick);
  bn_event_count_of_kind(st, kind, now_ns, took_ns);
}

/* Counts as dropped an event that was begun and is not counted among the events. */
__attribute__((cold)) void bn_event_count_dropped(struct bn_session *s, const struct bn_tick *tick);

/* Makes the time of the last end visible to other threads in a session that pauses.  In other
   sessions this is the start of the next event.  Release: pairs with the acquire load in
   engine/outage.c. */
static inline void bn_event_show_pause(struct bn_session *s)
{
  if (bn_stat_pauses(s->stat))
    atomic_store_explicit(&s->stat->last_end_ns, s->last_ns, memory_order_release);
}

/* Ends an event that has no latency, because it did not succeed. */
static inline void bn_event_end_bare(struct bn_session *s, const struct bn_tick *tick)
{
  bn_event_mark_failing(s, tick);
  bn_event_show_end(s->stat, tick);
  s->kind = s->repeats = 0;
}

/* Ends an event that is not to be counted; its ticket stays spent. */
static inline void bn_event_forget(struct bn_session *s, const struct bn_tick *tick)
{
  bn_event_end_bare(s, tick);
  if (tick->start_ns >= s->stat->counts_from_ns)
    bn_event_count_dropped(s, tick);
}

/* As bn_event_forget, for an event that ends now. */
static inline void bn_event_forget_now(struct bn_session *s, const struct bn_tick *tick)
{
  s->last_ns = bn_clock_now(&s->clock);
  bn_event_forget(s, tick);
  bn_event_show_pause(s);
}

/* As bn_event_forget_now, but returns the ticket: the script has ended the session in the event, or
   has failed in it. */
static inline void bn_event_drop(struct bn_session *s, const struct bn_tick *tick)
{
  bn_event_forget_now(s, tick);
  if ((s->attend & BN_ATTEND_CLAIM) != 0)
    bn_event_return_uncounted(s, tick);
}

/* Ends an event that has failed for good; its ticket stays spent and the session goes on. */
__attribute__((cold)) void bn_event_fail(struct bn_session *s, const struct bn_tick *tick);

#endif
