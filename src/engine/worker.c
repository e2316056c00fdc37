/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a session, waits at the start barrier, runs the loop, closes the session. */
#include "engine/worker.h"

#include <sys/prctl.h>

#include "base/log.h"
#include "engine/event.h"
#include "engine/limits.h"

static enum bn_next worker_run_loop(const struct bn_job *job, struct bn_session *s)
{
  enum bn_next next = BN_CONTINUE;
  struct bn_tick tick = {0, 0};

  if (job->ops->loop != NULL)
    return job->ops->loop(job->self, s);
  while (next == BN_CONTINUE && bn_event_begin(s, &tick)) {
    next = job->ops->event(job->self, s);
    if (next == BN_CONTINUE)
      bn_event_end(s, &tick);
    else
      bn_event_drop(s, &tick);
  }
  return next;
}

/* Fails the session of the worker; with an empty `reason` the workload has logged the reason. */
static void worker_fail(struct bn_worker *w, const char *reason)
{
  w->session->services->fail_session(w->session, reason, reason);
}

/* Returns the end of the last event, or the end of the loop if there were no events. */
static uint64_t worker_last_end(const struct bn_session *s, uint64_t loop_end_ns)
{
  const struct bn_stat *st = s->stat;

  /* Under --rate sessions read the clock while they wait. */
  if (st->service_hist != 0)
    return bn_stat_get(&st->last_end_ns);
  return bn_stat_get(&st->begun) > 0 ? s->last_ns : loop_end_ns;
}

/* Runs the measured part of a worker: between the start barrier and the end of the loop. */
static void worker_measure(struct bn_worker *w)
{
  struct bn_session *s = w->session;

  s->last_ns = bn_clock_now(&s->clock);
  if (worker_run_loop(w->job, s) == BN_FAILED)
    worker_fail(w, "");
  const uint64_t loop_end_ns = bn_clock_now(&s->clock), end_ns = worker_last_end(s, loop_end_ns);

  bn_statset_leave(w->job->stats, s->stat, end_ns);
  bn_outcome_looped(w->threads->outcome, end_ns, loop_end_ns);
  bn_threads_looped(w, bn_clock_now(&s->clock));
  if (w->job->ops->untimed_close)
    bn_outcome_end(w->threads->outcome, bn_clock_mono());
  bn_event_leave(s, end_ns);
  /* Release: pairs with the acquire load in engine/outage.c, so that a reader that sees a stopped
     session also sees its last event in the outcome and in the outage. */
  atomic_store_explicit(&s->stat->running, false, memory_order_release);
}

static void worker_go(struct bn_worker *w)
{
  if (!w->job->ops->untimed_close)
    bn_outcome_end(w->threads->outcome, bn_clock_mono());
  bn_threads_enter(w, BN_WORKER_GONE);
}

static void worker_drive(struct bn_worker *w)
{
  const struct bn_job *job = w->job;
  struct bn_session *s = w->session;
  struct bn_err err = {0};

  if (job->ops->session_open == NULL || job->ops->session_open(job->self, s, &err) == 0) {
    bn_log(BN_DEBUG, "Worker thread (#%u) %s", s->number, job->conf->policy->thread_ready);
    bn_threads_enter(w, BN_WORKER_READY);
    atomic_store_explicit(&s->doing, "waiting for the other threads", memory_order_relaxed);
    if (bn_threads_await_start_barrier(w))
      worker_measure(w);
  } else {
    bn_log_failure(&err);
    worker_fail(w, err.text);
    bn_log(BN_DEBUG, "Worker thread (#%u) failed to initialize!", s->number);
  }
  err.text[0] = '\0';
  if (job->ops->session_close != NULL && job->ops->session_close(job->self, s, &err) != 0) {
    bn_log_failure(&err);
    worker_fail(w, err.text);
  }
}

void *bn_worker_run(void *worker)
{
  struct bn_worker *w = worker;
  const struct bn_job *job = w->job;
  struct bn_session *s = w->session;

  if (!job->conf->policy->threads_start_silently)
    bn_log(BN_DEBUG, "Worker thread (#%u) started", s->number);
  if (job->conf->plan.rate > 0)
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  bn_threads_enter(w, BN_WORKER_OPENING);
  bn_clock_reader_init(&s->clock, job->clock);
  if (!bn_threads_unwanted(w->threads))
    worker_drive(w);
  worker_go(w);
  return NULL;
}

void bn_worker_call(struct bn_threads *t, struct bn_session *s, const struct bn_job *job)
{
  struct bn_err err = {0};

  if (job->command->run(job->self, s, job->command->name, &err) == 0)
    return;
  bn_log_failure(&err);
  /* The limit on files is checked before the other sessions close theirs. */
  bn_limits_report_files(t->n);
  bn_threads_end(t, BN_CAUSE_FAILED, 0);
}

void *bn_worker_command(void *worker)
{
  struct bn_worker *w = worker;

  bn_clock_reader_init(&w->session->clock, w->job->clock);
  if (bn_threads_await_start_barrier(w))
    bn_worker_call(w->threads, w->session, w->job);
  worker_go(w);
  return NULL;
}
