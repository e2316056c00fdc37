/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slow half of the event path: tickets of --events, arrivals of --rate, pauses, the end of the
   warm-up, outages. */
#include "engine/event.h"

#include "base/log.h"
#include "engine/active.h"
#include "engine/arrivals.h"
#include "engine/loop.h"
#include "engine/outage.h"
#include "engine/phases.h"
#include "engine/quota.h"
#include "engine/renewal.h"
#include "engine/threads.h"
#include "option/conf.h"

const _Atomic uint64_t bn_event_always = 0, bn_event_of_kind = 0;

/* Lets the session pause between its events.  The end of each event is looked at, because the next
   event does not begin at it.  A script may ask for its first pause in the middle of a run: until
   then other threads take the start of the event in flight for the last end, and from now on they
   read that end from last_end_ns.  Release: pairs with the acquire load in engine/outage.c. */
static void event_enable_pauses(struct bn_session *s)
{
  if (!bn_stat_pauses(s->stat)) {
    atomic_store_explicit(&s->stat->last_end_ns, s->last_ns, memory_order_relaxed);
    atomic_store_explicit(&s->stat->pauses, true, memory_order_release);
  }
  s->stat->edge_ns = 0;
  s->mark = &bn_event_always;
  s->attend |= BN_ATTEND_THINK;
}

/* With a warm-up or arrivals, all ends are looked at, else the ends after the limit.  The first
   event is claimed the slow way (BN_ATTEND_LIMIT), because no end before it has looked at the
   limit. */
void bn_event_prepare(struct bn_session *s, const struct bn_times *times)
{
  const struct bn_conf *c = s->services->conf;
  const bool is_native = bn_policy_is_native(c->policy), is_paced = s->pacer != NULL;
  const bool has_warmup = is_native && times->measure_ns != times->start_ns;
  const bool looks_at_all_ends = has_warmup || (is_native && is_paced);

  s->stat->measure_from_ns = times->measure_ns;
  s->stat->counts_from_ns = has_warmup ? times->measure_ns : 0;
  s->mark = looks_at_all_ends ? &bn_event_always : &s->limit->until_ns;
  s->attend = BN_ATTEND_LIMIT;
  if (bn_conf_has_pauses(c) || s->think.own_ns != UINT64_MAX)
    event_enable_pauses(s);
  if (c->profile.of == BN_PROFILE_THREADS)
    s->think.active_until_ns = 0; /* event_find_active_ns looks the profile up at the first event */
  if (is_paced || s->share->quota->events != 0)
    s->attend |= BN_ATTEND_CLAIM;
  if (is_paced)
    s->attend |= BN_ATTEND_RATE;
  s->start_ns = times->start_ns;
  bn_renewal_start(s);
  atomic_store_explicit(&s->stat->running, true, memory_order_relaxed);
}

/* The short ways of an event do not test for a failure: these values lead it off them. */
void bn_event_stop(struct bn_session *s)
{
  /* bn_event_claim and event_ask_claim refuse the next event; bn_event_count_marked does not count
     this one. */
  s->failed = true;
  /* Any latency is longer, so that bn_event_end goes to bn_event_end_long, which takes this event
     as a failure. */
  s->stat->edge_ns = 0;
  /* bn_event_more and bn_event_begin go to bn_event_more_slow, which claims. */
  s->attend |= BN_ATTEND_LIMIT;
  /* Any end is after it, so that bn_event_finish goes to bn_event_count_marked. */
  s->mark = &bn_event_always;
}

/* Waits until the baseline has been taken.  The next event begins after the wait, which is not part
   of its latency, however long the reporting thread takes. */
static void event_await_baseline(struct bn_session *s)
{
  bn_quota_await_baseline(s->share->quota);
  s->last_ns = bn_clock_now(&s->clock);
}

uint64_t bn_event_get_counted(struct bn_session *s)
{
  uint64_t n;

  while (bn_quota_get_counted(s->share, &n) == BN_QUOTA_FROZEN)
    event_await_baseline(s);
  return n;
}

void bn_event_return_uncounted(struct bn_session *s, const struct bn_tick *tick)
{
  bn_quota_unclaim(s->share, tick->start_ns < s->stat->counts_from_ns);
}

void bn_event_return_unbegun(struct bn_session *s)
{
  /* Before the session is charged, the event has no ticket, like an event of the warm-up. */
  const bool is_warm = !s->share->charged;

  s->due_ns = 0;
  bn_quota_unclaim(s->share, is_warm);
}

/* Adds n to a counter of the kind of the event in flight; s->kind is not 0. */
static void event_add_to_kind(const struct bn_session *s, enum bn_metric_kind counter, uint64_t n)
{
  bn_stat_count(s->stat, bn_event_kind_row(s->stat, s->kind) + (counter - BN_EVENT_ENDED), n);
}

/* Counts a failed event for its kind, if it has one, and for the phase in which it was due. */
static void event_count_failed(const struct bn_session *s, const struct bn_tick *tick)
{
  if (s->kind != 0) {
    event_add_to_kind(s, BN_EVENT_RETRIES, s->repeats);
    event_add_to_kind(s, BN_EVENT_FAILED, 1);
  }
  if (s->phases != NULL)
    bn_phases_count_failed(s->phases, s->id, tick->start_ns, s->repeats);
}

void bn_event_fail(struct bn_session *s, const struct bn_tick *tick)
{
  const bool is_warm = tick->start_ns < s->stat->counts_from_ns;

  /* Comes before bn_event_end_bare, which clears the kind and the repeats. */
  if (!is_warm)
    event_count_failed(s, tick);
  s->last_ns = bn_clock_now(&s->clock);
  bn_event_end_bare(s, tick);
  if (!is_warm)
    bn_stat_bump(&s->stat->dropped, 1); /* its phase counts it as failed, not as dropped */
  bn_event_show_pause(s);
  if (!is_warm && s->last_ns <= bn_stat_get(&s->limit->span_ns))
    bn_stat_bump(&s->stat->failed, 1);
  if ((s->attend & BN_ATTEND_CLAIM) != 0)
    bn_quota_fail(s->share, is_warm);
}

/* An event that starts in the warm-up and is begun after it is overdue. */
void bn_event_note_begun(struct bn_session *s, uint64_t start_ns)
{
  if (start_ns >= s->stat->counts_from_ns)
    bn_quota_note_begun(s->share);
  else if (s->last_ns >= s->stat->counts_from_ns)
    bn_stat_bump(&s->stat->overdue, 1);
}

void bn_event_start_due(struct bn_session *s, struct bn_tick *tick)
{
  tick->begun_ns = s->last_ns;
  tick->start_ns = s->due_ns;
  s->due_ns = 0;
  bn_event_note_begun(s, tick->start_ns);
  if (s->phases != NULL && tick->start_ns >= s->stat->counts_from_ns)
    bn_phases_note_begun(s->phases, s->id, tick->begun_ns);
}

void bn_event_count_dropped(struct bn_session *s, const struct bn_tick *tick)
{
  bn_stat_bump(&s->stat->dropped, 1);
  if (s->phases != NULL)
    bn_phases_count_dropped(s->phases, s->id, tick);
}

/* The event has been counted as begun: only its part of the sum of starts, begun_at, changes. */
void bn_event_start_later(struct bn_session *s, struct bn_tick *tick)
{
  const uint64_t old_start_ns = tick->start_ns;

  if (s->pacer != NULL)
    return; /* the event of --rate keeps its start */
  s->last_ns = bn_clock_now(&s->clock);
  if (s->last_ns <= old_start_ns)
    return; /* the clock has not moved on */
  tick->start_ns = s->last_ns;
  bn_stat_bump(&s->stat->begun_at, tick->start_ns - old_start_ns);
  /* The event may have moved over the end of the warm-up. */
  if (s->attend != 0 && old_start_ns < s->stat->counts_from_ns)
    bn_event_note_begun(s, tick->start_ns);
}

/* Records how late the session has woken from a sleep until due_ns. */
static void event_record_lag(const struct bn_session *s, uint64_t due_ns)
{
  if (s->stat->lag_hist != 0)
    bn_stat_record(s->stat, s->stat->lag_hist, bn_clock_between(due_ns, s->last_ns));
}

/* Sleeps until the claimed arrival is due.  If the limit comes first, returns false and gives the
   arrival up: s->due_ns is 0.  After a sleep the arrival is due even if the session's clock is
   before it, because that clock may be a little behind the clock that has ended the sleep. */
static bool event_await_arrival(struct bn_session *s)
{
  const uint64_t due_ns = s->due_ns, deadline_ns = bn_session_deadline(s);
  const uint64_t until_ns = bn_clock_min(due_ns, deadline_ns);
  bool slept = false;

  s->due_ns = 0; /* unless it turns out to be due */
  s->last_ns = bn_clock_now(&s->clock);
  if (s->last_ns < until_ns) {
    slept = bn_pacer_sleep(s->pacer, s->limit, until_ns);
    s->last_ns = bn_clock_now(&s->clock);
    if (!slept)
      return false;
  }
  /* The run may have been closed during the sleep, which moves the deadline to 0. */
  if (due_ns >= deadline_ns || s->last_ns >= bn_session_deadline(s))
    return false;
  if (slept)
    event_record_lag(s, due_ns);
  s->due_ns = due_ns;
  return true;
}

/* Logs which limit was met; nothing if the run was closed, or in the 0.5 dialect. */
static void event_log_limit(const struct bn_session *s, enum bn_admission answer)
{
  const char *limit = answer == BN_QUOTA_TIME_UP ? "Time" : "Event";

  if (answer != BN_QUOTA_CLOSED && !s->services->conf->policy->limits_end_silently)
    bn_log(BN_INFO, "%s limit exceeded, exiting...", limit);
}

/* Waits until a ticket may have been returned, after all were taken.  Returns false if no ticket
   will be returned, or if the session has an event in flight, whose end the wait would delay. */
static bool event_await_ticket(struct bn_session *s)
{
  if (bn_stat_get(&s->stat->begun) != bn_stat_get(&s->stat->ended))
    return false;
  if (!bn_quota_await_ticket(s->share))
    return false;
  s->last_ns = bn_clock_now(&s->clock);
  return true;
}

/* Claims a ticket; waits while the baseline is being taken and while tickets may be returned. */
static enum bn_admission event_claim_ticket(struct bn_session *s)
{
  enum bn_admission answer;

  do {
    while ((answer = bn_quota_claim(s->share, s->last_ns)) == BN_QUOTA_FROZEN)
      event_await_baseline(s);
  } while (answer == BN_QUOTA_SPENT && event_await_ticket(s));
  return answer;
}

/* Returns whether the next event may still belong to the warm-up.  event_count_any() ends that by
   setting the mark to the limit, once no event of the warm-up is in flight.  In a session that
   pauses, or has service times, it never does: the answer stays true, which costs a reading of the
   clock for each claim. */
static inline bool event_may_be_in_warmup(const struct bn_session *s)
{
  return s->stat->counts_from_ns != 0 && s->mark != &s->limit->until_ns;
}

bool bn_event_claim(struct bn_session *s)
{
  enum bn_admission answer;

  if (s->failed)
    return false;
  /* Loops that choose the start of their events may have passed the end of the warm-up. */
  if (event_may_be_in_warmup(s))
    s->last_ns = bn_clock_now(&s->clock);
  answer = event_claim_ticket(s);
  if (answer != BN_QUOTA_YES) {
    event_log_limit(s, answer);
    return false;
  }
  if (s->pacer != NULL)
    s->due_ns = bn_pacer_claim(s->pacer);
  return true;
}

/* --- pauses --- */

/* An exempt session counts as a session that pauses, because its next event does not begin at the
   end of the last. */
void bn_event_exempt(struct bn_session *s)
{
  event_enable_pauses(s);
  s->attend &= (unsigned char)~BN_ATTEND_CLAIM;
  bn_quota_exempt(s->share);
}

bool bn_event_set_pause(struct bn_session *s, uint64_t ns)
{
  if (s->pacer != NULL)
    return false;
  s->think.own_ns = ns;
  event_enable_pauses(s);
  return true;
}

/* Returns the length of the pause before the next event: the script's own length if it has set one,
   else a length that is drawn once after each event.  Returns 0 if the session does not pause, or
   if its pause was drawn before.  Only a length of the script's own precedes the first event. */
static uint64_t event_draw_pause(struct bn_session *s)
{
  struct bn_think *think = &s->think;
  const uint64_t begun = bn_stat_get(&s->stat->begun), own_ns = think->own_ns;
  const bool is_own = own_ns != UINT64_MAX;
  const bool is_drawn = begun == think->drawn_after; /* before the first event too: both are 0 */
  const bool precedes_first = begun == 0 && is_own;

  if ((s->attend & BN_ATTEND_THINK) == 0 || (is_drawn && !precedes_first))
    return 0;
  think->drawn_after = begun;
  think->own_ns = UINT64_MAX;
  return is_own ? own_ns : bn_delay_draw(&s->services->conf->think, bn_rng_double(&think->rng));
}

/* Ends the pause after a sleep until until_ns: records how late the session has woken, and notes
   that its next event begins now.  Returns false if the limit comes first.  The ticket then stays
   claimed: the load has ended, so that no session could use it. */
static bool event_end_pause(struct bn_session *s, uint64_t until_ns)
{
  const uint64_t deadline_ns = bn_session_deadline(s);

  s->last_ns = bn_clock_now(&s->clock);
  if (until_ns >= deadline_ns || s->last_ns >= deadline_ns)
    return false;
  event_record_lag(s, until_ns);
  bn_event_note_begun(s, s->last_ns);
  return true;
}

/* Returns the first time from at_ns on at which --threads-profile wants the session to be
   active. */
static uint64_t event_find_active_ns(struct bn_session *s, uint64_t at_ns)
{
  struct bn_active_span span;

  /* UINT64_MAX: there is no such profile, or it wants the session for ever. */
  if (at_ns < s->think.active_until_ns || s->think.active_until_ns == UINT64_MAX)
    return at_ns;
  span = bn_active_find(&s->services->conf->profile, s->id,
                        (double)bn_clock_between(s->start_ns, at_ns) * 1e-9);
  s->think.active_until_ns = bn_clock_after(s->start_ns, span.until_s);
  return bn_clock_max(bn_clock_after(s->start_ns, span.from_s), at_ns);
}

/* Pauses before the claimed event, if the session is to pause.  Returns false if the limit comes
   first.  The ticket is claimed before the pause: otherwise a session could pause and then find no
   ticket. */
static bool event_pause(struct bn_session *s)
{
  const uint64_t until_ns = event_find_active_ns(s, s->last_ns + event_draw_pause(s));

  if (until_ns <= s->last_ns)
    return true;
  s->services->pause(s, until_ns);
  return event_end_pause(s, until_ns);
}

/* Sets BN_ATTEND_LIMIT if the session may begin no more events: each further call then takes the
   slow way, which answers the same.  Clears it otherwise. */
static inline void event_set_limit_bit(struct bn_session *s, bool may_begin)
{
  if (!may_begin)
    s->attend |= BN_ATTEND_LIMIT;
  else if (__builtin_expect((s->attend & BN_ATTEND_LIMIT) != 0, 0))
    s->attend &= (unsigned char)~BN_ATTEND_LIMIT;
}

/* Claims the next event, and sleeps until its arrival is due, or for the pause before it.  Returns
   false if no event may begin. */
static __attribute__((noinline)) bool event_claim_and_wait(struct bn_session *s)
{
  const bool may_begin =
      bn_event_claim(s) && (s->due_ns == 0 || event_await_arrival(s)) && event_pause(s);

  event_set_limit_bit(s, may_begin);
  return may_begin;
}

/* With --events alone, nearly every event takes the short way, a ticket from the reserve. */
bool bn_event_more_slow(struct bn_session *s)
{
  if (s->attend == BN_ATTEND_CLAIM && bn_quota_claim_fast(s->share, s->last_ns))
    return true;
  return event_claim_and_wait(s);
}

/* --- the same for a session that shares its worker --- */

/* A session that finds no ticket asks again after this time. */
static const uint64_t ask_again_ns = 5 * BN_NSEC_PER_MSEC;
/* The length of a turn of a session whose events never wait. */
static const uint64_t turn_length_ns = BN_NSEC_PER_MSEC;

/* Returns NO, and gives the claimed arrival up (due_ns is 0), if the limit has come.  If the
   arrival is not due, puts the session to sleep and returns LATER.  Otherwise returns YES.  A
   session that has not slept has no wake-up lag. */
static enum bn_event_answer event_ask_arrival(struct bn_session *s)
{
  const uint64_t deadline_ns = bn_session_deadline(s);

  s->last_ns = bn_clock_now(&s->clock);
  if (s->last_ns >= deadline_ns) {
    s->due_ns = 0;
    return BN_EVENT_NO;
  }
  if (s->last_ns < s->due_ns) {
    bn_task_sleep(s->task, bn_clock_min(s->due_ns, deadline_ns));
    return BN_EVENT_LATER;
  }
  if (s->task->slept)
    event_record_lag(s, s->due_ns);
  s->task->slept = false;
  return BN_EVENT_YES;
}

/* Puts the session to sleep for its pause, and returns LATER.  Returns YES if there is no pause or
   the pause is over, and NO if the limit comes first. */
static enum bn_event_answer event_ask_pause(struct bn_session *s)
{
  const uint64_t deadline_ns = bn_session_deadline(s);
  uint64_t until_ns = s->think.until_ns, wake_ns;

  if (until_ns == 0) { /* no pause has begun */
    until_ns = event_find_active_ns(s, s->last_ns + event_draw_pause(s));
    if (until_ns <= s->last_ns)
      return BN_EVENT_YES;
    s->think.until_ns = until_ns;
  }
  wake_ns = bn_clock_min(until_ns, deadline_ns);
  if (bn_clock_mono() < wake_ns) {
    bn_task_sleep(s->task, wake_ns);
    return BN_EVENT_LATER;
  }
  s->think.until_ns = 0;
  s->task->slept = false;
  return event_end_pause(s, until_ns) ? BN_EVENT_YES : BN_EVENT_NO;
}

/* As bn_event_claim, but lets the session ask again soon instead of waiting for a returned ticket:
   a session of the same worker may be the one to return it.  The wait for the baseline, which is
   short, holds up the worker.  Goes on with the pause, or the wait for the arrival, that precedes
   the event. */
static enum bn_event_answer event_ask_claim(struct bn_session *s)
{
  enum bn_admission answer;

  if (s->failed)
    return BN_EVENT_NO;
  if (s->task->slept || event_may_be_in_warmup(s)) /* after a sleep, s->last_ns is old */
    s->last_ns = bn_clock_now(&s->clock);
  while ((answer = bn_quota_claim(s->share, s->last_ns)) == BN_QUOTA_FROZEN)
    event_await_baseline(s);
  if (bn_quota_note_answer(s->share, answer)) {
    bn_task_sleep(s->task, bn_clock_mono() + ask_again_ns);
    return BN_EVENT_LATER;
  }
  s->task->slept = false; /* a sleep for a ticket has no part in the lag of an arrival */
  if (answer != BN_QUOTA_YES) {
    event_log_limit(s, answer);
    return BN_EVENT_NO;
  }
  if (s->pacer == NULL)
    return event_ask_pause(s);
  s->due_ns = bn_pacer_claim(s->pacer);
  return event_ask_arrival(s);
}

/* Ends the turn of a session that has run events for turn_length_ns without a wait, so that the
   other sessions of its worker have theirs.  Returns whether the turn has ended.  A session with a
   claimed arrival goes on: it waits for the arrival or begins its event. */
static bool event_end_turn(struct bn_session *s)
{
  struct bn_task *t = s->task;

  if (t->turn_ns == 0)
    t->turn_ns = s->last_ns;
  if (bn_clock_between(t->turn_ns, s->last_ns) < turn_length_ns || s->due_ns != 0)
    return false;
  t->turn_ns = 0;
  bn_loop_queue(t);
  return true;
}

/* Goes on with the wait that the session has begun, or claims its next event. */
static enum bn_event_answer event_ask_slow(struct bn_session *s)
{
  if (s->think.until_ns != 0)
    return event_ask_pause(s);
  if (s->due_ns != 0)
    return event_ask_arrival(s);
  return event_ask_claim(s);
}

enum bn_event_answer bn_event_ask(struct bn_session *s)
{
  enum bn_event_answer answer;

  /* The turn ends before the claim: a ticket or an arrival would wait for the next turn. */
  if (event_end_turn(s))
    return BN_EVENT_LATER;
  if (s->last_ns < bn_session_deadline(s) && s->attend == 0)
    return BN_EVENT_YES;
  /* The short way of bn_event_more_slow: with --events alone there are no waits to go on with. */
  if (s->attend == BN_ATTEND_CLAIM && bn_quota_claim_fast(s->share, s->last_ns))
    return BN_EVENT_YES;
  answer = event_ask_slow(s);
  /* A session that waits does not know yet whether it will reach the limit. */
  if (answer != BN_EVENT_LATER)
    event_set_limit_bit(s, answer == BN_EVENT_YES);
  return answer;
}

/* --- ends that are looked at --- */

/* Counts an event that was begun in the warm-up, or was due in it. */
static void event_count_warm(struct bn_session *s, uint64_t took_ns)
{
  struct bn_stat *st = s->stat;

  bn_stat_bump(&st->warm_events, 1);
  bn_stat_bump(&st->warm_busy_ns, took_ns);
  bn_stat_record(st, st->warm_hist, took_ns);
  bn_quota_note_warm_end(s->share);
}

/* Records the two parts of the response time, queueing and service.  Returns the service time. */
static uint64_t event_record_parts(struct bn_stat *st, const struct bn_tick *tick, uint64_t now_ns)
{
  /* Without an arrival, tick->begun_ns is 0 or that of an earlier event (bn_event_start).  With an
     arrival, the clock of the session may have been a little behind that time. */
  const uint64_t begun_ns = bn_clock_max(tick->begun_ns, tick->start_ns);
  const uint64_t service_ns = bn_clock_between(begun_ns, now_ns);

  bn_stat_bump(&st->service_ns, service_ns);
  bn_stat_record(st, st->queueing_hist, begun_ns - tick->start_ns);
  bn_stat_record(st, st->service_hist, service_ns);
  return service_ns;
}

/* Drops an event that has ended, because its session failed in it, and returns its ticket. */
static void event_drop_ended(struct bn_session *s, const struct bn_tick *tick)
{
  if (tick->start_ns >= s->stat->counts_from_ns)
    bn_event_count_dropped(s, tick);
  if ((s->attend & BN_ATTEND_CLAIM) != 0)
    bn_event_return_uncounted(s, tick);
}

/* Records the latency of an event for the phase in which it was due. */
static void event_count_in_phase(const struct bn_session *s, const struct bn_tick *tick,
                                 uint64_t took_ns)
{
  const size_t k = bn_phases_count_ended(s->phases, s->id, tick->start_ns, took_ns, s->repeats);

  bn_stat_record(s->stat, s->stat->phase_hist + (unsigned)k, took_ns);
}

/* Returns the kind of the event that has ended.  Clears it and the repeats for the next event. */
static unsigned event_take_kind(struct bn_session *s)
{
  const unsigned kind = s->kind;

  s->kind = s->repeats = 0;
  return kind;
}

/* Counts an event that is looked at for any reason (bn_event_count_marked).  An event of a session
   that has failed is dropped, and an event of the warm-up is counted apart.  Any other event counts
   for its phase, for queueing and service, as late, for its kind, and in the latencies.  The
   service time is measured before lateness is counted, because late events are also summed up by
   their service times. */
static __attribute__((cold, noinline)) void event_count_any(struct bn_session *s,
                                                            const struct bn_tick *tick)
{
  struct bn_stat *st = s->stat;
  const uint64_t now_ns = s->last_ns, took_ns = bn_clock_between(tick->start_ns, now_ns);
  /* Acquire: pairs with bn_quota_close, which writes the end of the span before the limit. */
  const bool at_limit = now_ns >= atomic_load_explicit(&s->limit->until_ns, memory_order_acquire);
  const bool is_late = at_limit && now_ns > bn_stat_get(&s->limit->span_ns);
  uint64_t service_ns = 0;

  if (at_limit)
    s->attend |= BN_ATTEND_LIMIT;
  bn_event_show_pause(s);
  if (s->failed) {
    event_drop_ended(s, tick);
    return;
  }
  if (tick->start_ns < st->counts_from_ns) {
    event_count_warm(s, took_ns);
    s->kind = s->repeats = 0;
    return;
  }
  if (s->phases != NULL)
    event_count_in_phase(s, tick, took_ns);
  if (st->service_hist != 0)
    service_ns = event_record_parts(st, tick, now_ns);
  else if (!bn_stat_pauses(st) && bn_stat_get(&st->begun) == bn_stat_get(&st->ended))
    /* No event of the warm-up is in flight any more: only ends after the limit matter. */
    s->mark = &s->limit->until_ns;
  if (is_late) {
    bn_stat_bump(&st->late, 1);
    bn_stat_bump(&st->late_service_ns, service_ns);
  }
  if (s->kind != 0) {
    event_add_to_kind(s, BN_EVENT_RETRIES, s->repeats);
    event_add_to_kind(s, BN_EVENT_LATE, is_late);
    bn_event_count_of_kind(st, event_take_kind(s), now_ns, took_ns);
    return;
  }
  s->repeats = 0;
  bn_event_count(st, now_ns, took_ns);
}

void bn_event_count_marked(struct bn_session *s, const struct bn_tick *tick)
{
  /* An event that is looked at for its kind alone is common, and takes the short way before the
     limit.  Its kind may be 0: the mark is then that of an earlier event, which has failed. */
  const bool is_short =
      s->mark == &bn_event_of_kind && s->kind != 0 && s->last_ns < bn_stat_get(&s->limit->until_ns);

  if (!is_short) {
    event_count_any(s, tick);
    return;
  }
  s->mark = &s->limit->until_ns;
  bn_event_count_of_kind(s->stat, event_take_kind(s), s->last_ns,
                         bn_clock_between(tick->start_ns, s->last_ns));
}

/* Looks for an outage that ends now or goes on.  Events of the session have been in flight since
   since_ns, and its last success was at last_ok_ns.  A stall may begin in the warm-up, but only its
   time after the warm-up counts. */
static void event_check_outage(struct bn_session *s, uint64_t since_ns, uint64_t last_ok_ns,
                               uint64_t now_ns)
{
  const struct bn_stat *st = s->stat;
  const uint64_t from_ns = bn_clock_max(last_ok_ns, st->measure_from_ns);

  if (bn_clock_between(from_ns, now_ns) > BN_OUTAGE_NS && s->outage != NULL)
    bn_outage_search(s->outage, st, since_ns, last_ok_ns, now_ns, bn_stat_get(&s->limit->span_ns));
}

struct event_failing {
  uint64_t last_ok_ns; /* the session's last success before this event */
  uint64_t since_ns;   /* since then its events are in flight, without a success or a pause */
};

static struct event_failing event_find_failing(const struct bn_stat *st, const struct bn_tick *tick)
{
  const bool pauses = bn_stat_pauses(st);
  const bool follows_at_once = !pauses || tick->start_ns <= bn_stat_get(&st->last_end_ns);
  const uint64_t failing_since_ns = bn_stat_get(&st->failing_since_ns);

  if (failing_since_ns != 0)
    return (struct event_failing){.last_ok_ns = bn_stat_get(&st->last_ok_ns),
                                  .since_ns = follows_at_once ? failing_since_ns : tick->start_ns};
  /* The event before this one has succeeded.  Without pauses, this one has started at its end. */
  return (struct event_failing){.last_ok_ns =
                                    pauses ? bn_stat_get(&st->last_end_ns) : tick->start_ns,
                                .since_ns = tick->start_ns};
}

/* Setting edge_ns to 0 makes the next event that succeeds be looked at, however short it is.
   Release: pairs with the acquire load of failing_since_ns in engine/outage.c. */
void bn_event_mark_failing(struct bn_session *s, const struct bn_tick *tick)
{
  struct bn_stat *st = s->stat;
  const struct event_failing failing = event_find_failing(st, tick);

  st->edge_ns = 0;
  atomic_store_explicit(&st->last_ok_ns, failing.last_ok_ns, memory_order_relaxed);
  atomic_store_explicit(&st->failing_since_ns, failing.since_ns, memory_order_release);
}

/* Looks for an outage that lasts until the session leaves its loop, because its last events have
   failed, and records its last success for the searches of other sessions.  While the load goes on,
   the failures of a session that has failed itself concern that session only, and are no outage. */
static void event_leave_outages(struct bn_session *s, uint64_t end_ns)
{
  const struct bn_stat *st = s->stat;
  const uint64_t failing_since_ns = bn_stat_get(&st->failing_since_ns);
  const uint64_t last_ok_ns = bn_stat_get(&st->last_ok_ns);
  const bool concerns_others = !s->failed || bn_session_over(s);

  if (failing_since_ns != 0 && concerns_others)
    event_check_outage(s, failing_since_ns, last_ok_ns, end_ns);
  if (s->outage != NULL)
    bn_outage_leave(s->outage, failing_since_ns != 0 ? last_ok_ns : end_ns);
}

uint64_t bn_event_find_last_end(const struct bn_session *s, uint64_t now_ns)
{
  const struct bn_stat *st = s->stat;

  /* Sessions that pause read the clock while they wait: s->last_ns is later. */
  if (bn_stat_pauses(st))
    return bn_stat_get(&st->last_end_ns);
  return bn_stat_get(&st->begun) > 0 ? s->last_ns : now_ns;
}

void bn_event_leave(struct bn_session *s, uint64_t end_ns)
{
  event_leave_outages(s, end_ns);
  while (bn_quota_leave(s->share, s->failed) == BN_QUOTA_FROZEN)
    event_await_baseline(s);
}

/* Raises max_ns, and sets edge_ns, beyond which the next event goes to bn_event_end_long: to
   max_ns, but at most BN_OUTAGE_NS, because any event that takes longer may end an outage. */
static void event_update_edge(struct bn_stat *st, uint64_t took_ns)
{
  if (took_ns > bn_stat_get(&st->max_ns))
    atomic_store_explicit(&st->max_ns, took_ns, memory_order_relaxed);
  /* If sessions pause, a short event may be the first to end after a stall. */
  st->edge_ns = bn_stat_pauses(st) ? 0 : bn_clock_min(bn_stat_get(&st->max_ns), BN_OUTAGE_NS);
}

void bn_event_end_long(struct bn_session *s, const struct bn_tick *tick, uint64_t took_ns)
{
  const bool is_measured =
      tick->start_ns >= s->stat->counts_from_ns && s->last_ns >= s->stat->measure_from_ns;

  if (s->failed) {
    bn_event_mark_failing(s, tick);
  } else {
    /* Only an event that is counted may be the longest. */
    if (is_measured)
      event_update_edge(s->stat, took_ns);
    /* A success may end an outage: that is looked for before other threads can see it. */
    const struct event_failing failing = event_find_failing(s->stat, tick);

    event_check_outage(s, failing.since_ns, failing.last_ok_ns, s->last_ns);
  }
  bn_event_finish(s, tick, took_ns);
  /* Until the end is visible, others would take the start of this event for an end that
     succeeded. */
  if (!s->failed)
    atomic_store_explicit(&s->stat->failing_since_ns, 0, memory_order_release);
}
