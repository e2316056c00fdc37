/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a session, waits at the start barrier, runs the loop, closes the session. */
#include "engine/worker.h"

#include <sys/prctl.h>

#include "base/log.h"
#include "engine/event.h"
#include "engine/limits.h"

/* Runs the events of a session, in the loop of the workload if it has one. */
static enum bn_next worker_run_loop(const struct bn_job *job, struct bn_session *s)
{
  enum bn_next next = BN_CONTINUE;
  struct bn_tick tick = {.start_ns = 0};

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

/* Fails the session for a reason that has been logged; "": the reason is not known here. */
static void worker_fail(struct bn_session *s, const char *reason)
{
  s->services->fail_session(s, reason, reason);
}

void bn_worker_begin_session(const struct bn_worker *w, struct bn_session *s)
{
  if (!w->job->conf->policy->threads_start_silently)
    bn_log(BN_DEBUG, "Worker thread (#%u) started", s->number);
  bn_threads_enter_stage(w->threads, s, BN_SESSION_OPENING);
}

void bn_worker_note_opened(const struct bn_worker *w, struct bn_session *s)
{
  bn_log(BN_DEBUG, "Worker thread (#%u) %s", s->number, w->job->conf->policy->thread_ready);
  bn_threads_enter_stage(w->threads, s, BN_SESSION_READY);
  atomic_store_explicit(&s->doing, "waiting for the other threads", memory_order_relaxed);
}

void bn_worker_note_not_opened(struct bn_session *s, const struct bn_err *err)
{
  bn_log_failure(err);
  worker_fail(s, err->text);
  bn_log(BN_DEBUG, "Worker thread (#%u) failed to initialize!", s->number);
}

void bn_worker_note_looped(const struct bn_worker *w, struct bn_session *s, bool failed)
{
  if (failed)
    worker_fail(s, "" /* the loop has logged the reason */);
  const uint64_t loop_end_ns = bn_clock_now(&s->clock);
  const uint64_t end_ns = bn_event_find_last_end(s, loop_end_ns);

  /* All of this is recorded before bn_event_leave, which may wait for the baseline. */
  bn_stat_leave(s->stat, end_ns);
  bn_outcome_record_looped(w->threads->outcome, end_ns, loop_end_ns);
  bn_threads_note_looped(w->threads, s, loop_end_ns);
  if (w->job->ops->untimed_close)
    bn_outcome_record_end(w->threads->outcome, bn_clock_mono());
  bn_event_leave(s, end_ns);
  /* Release: pairs with the acquire load in engine/outage.c, so that a reader that sees a stopped
     session also sees its last event in the outcome and in the outage. */
  atomic_store_explicit(&s->stat->running, false, memory_order_release);
}

void bn_worker_note_closed(struct bn_session *s, bool failed, const struct bn_err *err)
{
  if (!failed)
    return;
  bn_log_failure(err);
  worker_fail(s, err->text);
}

void bn_worker_leave_session(const struct bn_worker *w, struct bn_session *s)
{
  if (!w->job->ops->untimed_close)
    bn_outcome_record_end(w->threads->outcome, bn_clock_mono());
  bn_threads_enter_stage(w->threads, s, BN_SESSION_GONE);
}

int bn_worker_refuse_builtin(const struct bn_conf *c, const char *test, struct bn_err *err)
{
  if (c->raw.workers != 0)
    return bn_err_set(
        err, 0, "--workers is for scripts: each thread of '%s' is one of the operating system",
        test);
  if (c->raw.reconnect_rate > 0)
    return bn_err_set(err, 0, "--reconnect-rate=%.15g: '%s' has no connections to a database",
                      c->raw.reconnect_rate, test);
  return 0;
}

/* Opens the session, waits for the start, runs the loop, and closes the session. */
static void worker_drive(const struct bn_worker *w, struct bn_session *s)
{
  const struct bn_job *job = w->job;
  struct bn_err err = {0};

  if (job->ops->session_open == NULL || job->ops->session_open(job->self, s, &err) == 0) {
    bn_worker_note_opened(w, s);
    if (bn_threads_await_start_barrier(w->threads, 1)) {
      s->last_ns = bn_clock_now(&s->clock);
      bn_worker_note_looped(w, s, worker_run_loop(job, s) == BN_FAILED);
    }
  } else {
    bn_worker_note_not_opened(s, &err);
  }
  err.text[0] = '\0'; /* the reason of an open that failed is logged */
  if (job->ops->session_close != NULL)
    bn_worker_note_closed(s, job->ops->session_close(job->self, s, &err) != 0, &err);
}

void *bn_worker_main(void *worker)
{
  const struct bn_worker *w = worker;
  struct bn_session *s = bn_worker_session(w, 0);
  const unsigned long slack_ns = 1;

  /* The kernel's default lets each sleep end 50 us late, which would count as latency. */
  if (w->job->conf->plan.rate > 0 || bn_conf_has_pauses(w->job->conf))
    (void)prctl(PR_SET_TIMERSLACK, slack_ns, 0UL, 0UL, 0UL);
  bn_worker_begin_session(w, s);
  if (!bn_threads_have_signal(w->threads))
    worker_drive(w, s);
  bn_worker_leave_session(w, s);
  return NULL;
}

void bn_worker_run_command(struct bn_threads *t, struct bn_session *s, const struct bn_job *job)
{
  struct bn_err err = {0};

  if (job->command->run(job->self, s, job->command->name, &err) == 0)
    return;
  bn_log_failure(&err);
  /* The limit on files is checked before the other sessions close theirs. */
  bn_limits_report_files(t->n);
  bn_threads_end(t, BN_CAUSE_FAILED, 0);
}

void *bn_worker_command_main(void *worker)
{
  const struct bn_worker *w = worker;
  struct bn_session *s = bn_worker_session(w, 0);

  if (bn_threads_await_start_barrier(w->threads, 1))
    bn_worker_run_command(w->threads, s, w->job);
  bn_worker_leave_session(w, s);
  return NULL;
}
