/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sleeps until the next item of the schedule and does it. */
#include "engine/sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/wait.h"
#include "engine/grace.h"
#include "engine/schedule.h"
#include "engine/stop.h"

/* The interval of checks for the end of a run that was abandoned. */
static const uint64_t poll_ns = BN_NSEC_PER_SEC / 4;

/* Takes the baseline of the measurement at the end of the warm-up.  No event begins meanwhile, even
   if this thread is held up: otherwise thousands of short events would end between the baseline and
   the first ticket. */
static void sampler_end_warmup(const struct bn_sampler *s, uint64_t now_ns)
{
  const bool is_native = bn_policy_is_native(s->parts->conf->policy);
  const uint64_t at_ns = is_native ? s->schedule.times.measure_ns : now_ns;

  bn_quota_freeze(s->parts->quota);
  /* The report of a run that ends in the warm-up covers the warm-up. */
  if (!is_native || !bn_run_state_in_warmup(s->parts, &s->schedule.times)) {
    const struct bn_snap *base = bn_reports_end_warmup(s->parts->reports, at_ns);

    for (unsigned i = 0; i < s->parts->conf->plan.threads; i++)
      s->ended[i] = base->session[i].events;
  }
  bn_quota_thaw(s->parts->quota, s->ended);
  bn_watch_start(s->parts->watch);
}

/* Hands the state of the run out to the reporters.  They log their own failures. */
static void sampler_report(const struct bn_sampler *s, uint64_t now_ns,
                           bool (*hand_out)(struct bn_reports *r, const struct bn_run_state *s))
{
  const struct bn_run_state state = bn_run_state_at(s->parts, &s->schedule.times, now_ns);

  if (!hand_out(s->parts->reports, &state))
    bn_outcome_set(s->parts->outcome, BN_OUTCOME_REPORT_FAILED);
}

/* The clock of a worker may be some microseconds behind the clock of the intervals. */
static const uint64_t clock_tolerance_ns = 10 * BN_NSEC_PER_MSEC;

/* Returns when the time that the total covers has ended, or UINT64_MAX while a session can add to
   it.  In bench's own report it ends with the last loop, in dialects with the last session. */
static uint64_t sampler_total_end_ns(const struct bn_sampler *s)
{
  const bool is_native = bn_policy_is_native(s->parts->conf->policy);
  const struct bn_outcome *o = s->parts->outcome;
  const unsigned n_adding = is_native ? bn_threads_count_looping(s->parts->threads)
                                      : bn_threads_count_busy(s->parts->threads);

  return n_adding > 0 ? UINT64_MAX : atomic_load(is_native ? &o->looped_ns : &o->end_ns);
}

/* Returns whether the limit or the end of the run lets no event begin any more. */
static bool sampler_is_past_limit(const struct bn_sampler *s, uint64_t now_ns)
{
  return now_ns >= bn_stat_get(&s->parts->quota->limit.until_ns);
}

/* Ends a run in which an assertion has been violated for too long (--abort-on-assert).  Assertions
   are judged only while events may begin, because the load falls in the grace.  The run is ended
   before the message, which waits for its reader. */
static void sampler_judge_asserts(const struct bn_sampler *s)
{
  const uint64_t now_ns = bn_clock_mono();
  const struct bn_assert *violated;
  struct bn_run_state state;

  if (sampler_is_past_limit(s, now_ns) || bn_quota_unused(s->parts->quota) == 0 ||
      bn_threads_count_looping(s->parts->threads) == 0)
    return;
  state = bn_run_state_at(s->parts, &s->schedule.times, now_ns);
  violated = bn_reports_judge_second(s->parts->reports, &state);
  if (violated == NULL)
    return;
  bn_threads_end(s->parts->threads, BN_CAUSE_VIOLATED, 0);
  bn_log_stderr("--assert=%s has been violated for %.15g s (--abort-on-assert): the run ends",
                violated->text, s->parts->conf->raw.abort_on_assert_s);
}

/* Makes the interval, the checkpoint and the tick that are due. */
static void sampler_report_due_items(struct bn_sampler *s, uint64_t now_ns)
{
  /* bn_schedule_take_interval moves schedule.interval_ns to the next interval. */
  const uint64_t at_ns = s->schedule.interval_ns;
  const bool is_native = bn_policy_is_native(s->parts->conf->policy);

  /* An interval that ends after the time of the total would be outside of it. */
  if (bn_schedule_take_interval(&s->schedule, now_ns) &&
      bn_clock_between(sampler_total_end_ns(s), at_ns) <= clock_tolerance_ns) {
    sampler_report(s, now_ns, bn_reports_show_interval);
    /* The reporter may have been slow. */
    now_ns = bn_clock_mono();
  }
  /* The final report takes the place of a checkpoint.  The rates of bench's own end with the span
     of the run: a checkpoint after the span would leave it no time. */
  if (sampler_total_end_ns(s) != UINT64_MAX || (is_native && sampler_is_past_limit(s, now_ns)))
    bn_schedule_drop_checkpoints(&s->schedule);
  if (bn_schedule_take_checkpoint(&s->schedule, now_ns))
    sampler_report(s, now_ns, bn_reports_show_checkpoint);
  if (bn_schedule_take_tick(&s->schedule, now_ns)) {
    sampler_report(s, now_ns, bn_reports_show_tick);
    sampler_judge_asserts(s);
  }
}

/* Records the overload of a run in which more arrivals wait than --rate-max-backlog allows. */
static void sampler_check_backlog(const struct bn_sampler *s, uint64_t now_ns)
{
  const uint64_t max_backlog = (uint64_t)s->parts->conf->raw.rate_max_backlog; /* 0: no limit */
  /* bench's own report needs the arrivals replayed (engine/arrivals.h), even without a limit. */
  const bool is_wanted = max_backlog != 0 || bn_policy_is_native(s->parts->conf->policy);
  uint64_t backlog;

  if (s->parts->pacer == NULL || !s->schedule.measuring || !is_wanted)
    return;
  backlog = bn_run_state_count_backlog(s->parts, &s->schedule.times, now_ns,
                                       bn_quota_unused(s->parts->quota));
  if (max_backlog == 0 || backlog <= max_backlog)
    return;
  bn_outcome_set(s->parts->outcome, BN_OUTCOME_OVERLOADED);
  if (s->parts->conf->policy->overload_passes)
    bn_log(BN_FATAL, "Event queue is full.");
}

/* Returns how long the events in flight may take without progress. */
static uint64_t sampler_grace_ns(const struct bn_sampler *s)
{
  const bool is_cut = bn_stat_get(&s->parts->quota->limit.until_ns) == 0;

  return bn_grace_ns(s->parts, bn_grace_least_ns(s->parts, is_cut));
}

/* Logs that threads have used up the grace.  condition: says for which time used_s stands. */
static void sampler_log_used_grace(const struct bn_sampler *s, unsigned busy, unsigned looping,
                                   double used_s, const char *condition)
{
  const bool has_warmup = s->parts->conf->plan.warmup_ns != 0;

  if (looping == 0)
    bn_log_hint("%u thread(s) have not closed their sessions after %.1f s %s; no event is "
                "unfinished",
                busy, used_s, condition);
  else
    bn_log_hint("%u thread(s) are still busy after %.1f s %s; the report counts their events as "
                "unfinished%s",
                busy, used_s, condition,
                has_warmup ? ", except those that began in the warm-up" : "");
}

/* Ends a run whose threads have used up the grace or, if statements still end, the longer time for
   which statements alone may renew it.  A run that has failed ends as a failed run, because its
   hanging threads may well have the same cause. */
static void sampler_end_by_grace(const struct bn_sampler *s, uint64_t now_ns)
{
  const struct bn_patience *p = &s->schedule.patience;
  const uint64_t grace_ns = sampler_grace_ns(s);
  const bool statements_end = now_ns < p->since_ns + grace_ns;
  const uint64_t used_ns = statements_end ? now_ns - p->ended_since_ns : grace_ns;
  const unsigned busy = bn_threads_count_busy(s->parts->threads);
  const unsigned looping = bn_threads_count_looping(s->parts->threads);
  const bool has_failed = bn_outcome_has(s->parts->outcome, BN_OUTCOME_FAILED);
  const char *condition =
      statements_end ? "in which statements ended, but no event and no thread (--time-grace)"
                     : "without progress (--time-grace)";

  /* The main thread interrupts the events in flight, once it has counted them as unfinished. */
  bn_outcome_set(s->parts->outcome, BN_OUTCOME_TO_INTERRUPT);
  /* The message comes after the end of the run, because it waits for its reader. */
  bn_threads_end(s->parts->threads, has_failed ? BN_CAUSE_ABANDONED : BN_CAUSE_TIMEOUT, 0);
  sampler_log_used_grace(s, busy, looping, (double)used_ns * 1e-9, condition);
}

/* Ends the run at the limit of --forced-shutdown, and names the time limit as the dialect does. */
static void sampler_force_shutdown(const struct bn_sampler *s)
{
  const bool is_native = bn_policy_is_native(s->parts->conf->policy);

  bn_threads_end(s->parts->threads, BN_CAUSE_TIMEOUT, 0);
  bn_log(BN_FATAL, "The %s limit has expired, forcing shutdown...",
         is_native ? "--time" : "--max-time");
}

/* Gives the events in flight their grace, after the last event has begun. */
static void sampler_give_grace(struct bn_sampler *s, uint64_t now_ns)
{
  const uint64_t grace_ns = sampler_grace_ns(s);

  bn_schedule_give_grace(&s->schedule, now_ns, bn_grace_read_progress(s->parts), grace_ns,
                         bn_grace_longest_ns(s->parts, grace_ns));
}

/* Does what is due, and then ends the run if its threads have used up their time.  The counters at
   the end of the span are taken before reports are made, because a reporter may be slow. */
static void sampler_do_due_items(struct bn_sampler *s)
{
  enum { FOLLOW_S = 60 };
  const uint64_t now_ns = bn_clock_mono();
  struct bn_schedule *schedule = &s->schedule;

  if (bn_schedule_take_refit(schedule, now_ns)) {
    bn_clock_refit(s->parts->clock);
    sampler_check_backlog(s, now_ns);
    /* Before the measurement, the main thread reads counters. */
    if (schedule->measuring && ++s->n_seconds % FOLLOW_S == 0)
      bn_reports_follow_counters(s->parts->reports);
  }
  if (bn_schedule_take_warmup_end(schedule, now_ns))
    sampler_end_warmup(s, now_ns);
  if (schedule->measuring && sampler_is_past_limit(s, now_ns)) { /* the first time has an effect */
    bn_reports_end_span(s->parts->reports, atomic_load(&s->parts->quota->limit.span_ns), now_ns);
    bn_watch_end(s->parts->watch);
  }
  sampler_report_due_items(s, now_ns);
  if (schedule->measuring && sampler_is_past_limit(s, now_ns) && bn_grace_is_limited(s->parts))
    sampler_give_grace(s, now_ns);
  /* All workers may have gone while a report held this thread up. */
  if (bn_threads_count_busy(s->parts->threads) == 0)
    return;
  if (bn_schedule_take_forced(schedule, now_ns))
    sampler_force_shutdown(s);
  if (bn_schedule_take_out_of_grace(schedule, now_ns))
    sampler_end_by_grace(s, now_ns);
}

static bool sampler_is_stopping(struct bn_sampler *s)
{
  bool stop;

  (void)pthread_mutex_lock(&s->lock);
  stop = s->stop;
  (void)pthread_mutex_unlock(&s->lock);
  return stop;
}

/* Begins to report once the start barrier has opened, and does what is due. */
static void sampler_step(struct bn_sampler *s)
{
  struct bn_times times;

  if (!s->schedule.measuring && bn_threads_get_times(s->parts->threads, &times))
    bn_schedule_open(&s->schedule, &times, bn_reports_want_ticks(s->parts->reports));
  if (!bn_outcome_has(s->parts->outcome, BN_OUTCOME_ABANDONED))
    sampler_do_due_items(s);
}

/* Returns when the thread wakes next.  It draws the progress of a command anew each second.  Once a
   run has been abandoned, no item is due, and only its end is polled. */
static uint64_t sampler_next_wake_ns(const struct bn_sampler *s)
{
  const uint64_t now_ns = bn_clock_mono();

  if (s->redraws)
    return now_ns + BN_NSEC_PER_SEC;
  if (bn_outcome_has(s->parts->outcome, BN_OUTCOME_ABANDONED))
    return now_ns + poll_ns;
  return bn_schedule_next_ns(&s->schedule, now_ns);
}

static const struct bn_wait next_item = {"the next item of the schedule", BN_BOUND_DEADLINE};

/* Does what is due until the thread is to stop, and then once more.  The last check of the backlog
   finds an overload since the check before it. */
static void *sampler_main(void *arg)
{
  struct bn_sampler *s = arg;
  bool stop;

  bn_schedule_init(&s->schedule, s->parts->conf, bn_clock_mono());
  do {
    bn_stop_sleep(&next_item, sampler_next_wake_ns(s));
    stop = sampler_is_stopping(s);
    if (s->redraws && !stop)
      bn_log_redraw_progress();
    sampler_step(s);
  } while (!stop);
  sampler_check_backlog(s, bn_clock_mono());
  return NULL;
}

void bn_sampler_init(struct bn_sampler *s, const struct bn_run_parts *parts)
{
  memset(s, 0, sizeof *s);
  s->ended = bn_alloc(parts->conf->plan.threads, sizeof *s->ended);
  (void)pthread_mutex_init(&s->lock, NULL);
  s->parts = parts;
}

void bn_sampler_done(struct bn_sampler *s)
{
  free(s->ended);
  (void)pthread_mutex_destroy(&s->lock);
}

int bn_sampler_start(struct bn_sampler *s, bool is_command, struct bn_err *err)
{
  int rc;

  s->redraws = is_command;
  rc = bn_wait_spawn(&s->thread, 0, sampler_main, s);
  if (rc != 0)
    return bn_err_set(err, rc, "cannot start the reporting thread: %s", strerror(rc));
  s->made = true;
  return 0;
}

/* The thread ends only after `stop` was set under the lock.  While the lock is held and `stop`
   is not set, it exists. */
void bn_sampler_wake(struct bn_sampler *s)
{
  (void)pthread_mutex_lock(&s->lock);
  if (!s->stop)
    bn_stop_wake(s->thread);
  (void)pthread_mutex_unlock(&s->lock);
}

static const struct bn_wait last_report = {"the last call of a reporter", BN_BOUND_READER};

void bn_sampler_stop(struct bn_sampler *s)
{
  if (!s->made)
    return;
  (void)pthread_mutex_lock(&s->lock);
  s->stop = true;
  bn_stop_wake(s->thread);
  (void)pthread_mutex_unlock(&s->lock);
  bn_wait_join(&last_report, s->thread); /* a reporter may hold the thread up */
  s->made = false;
}
