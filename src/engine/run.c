/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The phases of `run`: open, start, warm up, sample, join, total, close; and who may ask what of a
 * run. */
#include "engine/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/run_internal.h"
#include "engine/stop.h"

/* After the report, workers that were interrupted get this long to come back before the process
 * leaves them. */
static const uint64_t farewell_ns = BN_NSEC_PER_SEC;

const struct bn_conf *bn_run_conf(const struct bn_run *run)
{
  return run->conf;
}

struct bn_session *bn_run_session(struct bn_run *run, unsigned id)
{
  return &run->sessions[id];
}

struct bn_session *bn_run_main_session(struct bn_run *run)
{
  return &run->sessions[run->conf->threads];
}

struct bn_session *bn_run_report_session(struct bn_run *run)
{
  return &run->sessions[run->conf->threads + 1];
}

enum bn_kind bn_run_kind(const struct bn_run *run)
{
  return bn_book_kind(run->book);
}

bool bn_run_abandoned(const struct bn_run *run)
{
  return run->abandoned;
}

/* --- start ---------------------------------------------------------------------------------------
 */

static bool open_workload(struct bn_run *run)
{
  struct bn_err err = {0};

  if (run->ops->open == NULL ||
      run->ops->open(&run->self, bn_run_main_session(run), run->workload_conf, &err) == 0)
    return true;
  if (err.text[0] != '\0')
    bn_log(BN_FATAL, "%s", err.text);
  run->failed = true;
  return false;
}

static bool open_reports(struct bn_run *run)
{
  const bool ok = bn_book_open(run->book);

  bn_run_note(run, ok);
  return ok;
}

static bool start_workload(struct bn_run *run)
{
  struct bn_err err = {0};

  if (run->ops->start == NULL || run->ops->start(run->self, &err) == 0) {
    run->stats.sample = run->ops->sample;
    run->stats.sampled = run->self;
    return true;
  }
  if (err.text[0] != '\0')
    bn_log(BN_FATAL, "%s", err.text);
  run->failed = true;
  return false;
}

static bool announce(struct bn_run *run)
{
  bn_book_begin(run->book, run->self, run->seed);
  if (!start_workload(run))
    return false;
  bn_book_starting(run->book);
  return true;
}

/* Before there are workers, so that nothing comes between their messages. */
static void tell_what_is_watched(const struct bn_run *run)
{
  if (run->conf->interval_ns != 0)
    bn_log(BN_DEBUG, "Reporting thread started");
  if (run->conf->n_checkpoints != 0)
    bn_log(BN_DEBUG, "Checkpoints report thread started");
  if (run->conf->policy->plain_tests_uncut && run->ops->find_command == NULL &&
      (run->ops->kind == BN_KIND_PLAIN || run->ops->kind == BN_KIND_CPU) &&
      (run->conf->interval_ns != 0 || run->conf->n_checkpoints != 0))
    bn_log(BN_DEBUG, "Reporting not supported by the current test, ");
}

static bool spawn_workers(struct bn_run *run)
{
  struct bn_err err = {0};
  unsigned i;

  for (i = 0; i < run->conf->threads; i++)
    if (bn_worker_spawn(run, &run->workers[i], bn_worker_main, &err) != 0) {
      bn_log(BN_FATAL, "%s", err.text);
      bn_run_fail(run);
      bn_gate_fail(&run->gate);
      return false;
    }
  return true;
}

/* Which threads wait for what, in at most a few lines: neighbours with the same reason share one.
 */
static void tell_who_waits(struct bn_run *run)
{
  unsigned i, from = 0, lines = 0;
  const char *reason = NULL;

  for (i = 0; i <= run->conf->threads && lines < 10; i++) {
    const char *doing = NULL;

    if (i < run->conf->threads) {
      (void)pthread_mutex_lock(&run->lock);
      if (run->workers[i].state < BN_WORKER_RUNNING)
        doing = atomic_load_explicit(&run->sessions[i].doing, memory_order_relaxed);
      (void)pthread_mutex_unlock(&run->lock);
    }
    if (doing == reason)
      continue;
    if (reason != NULL && i - from == 1)
      bn_log_stderr("thread %u: %s", from, reason);
    else if (reason != NULL)
      bn_log_stderr("threads %u to %u: %s", from, i - 1, reason);
    lines += reason != NULL;
    reason = doing;
    from = i;
  }
}

static bool await_workers(struct bn_run *run)
{
  const uint64_t deadline =
      run->conf->init_timeout_ns == 0 ? UINT64_MAX : bn_clock_mono() + run->conf->init_timeout_ns;

  switch (bn_gate_await(&run->gate, deadline)) {
  case BN_GATE_OPEN:
    return true;
  case BN_GATE_CLOSED:
    bn_log(BN_FATAL, "Worker threads failed to initialize within %llu seconds!",
           (unsigned long long)(run->conf->init_timeout_ns / BN_NSEC_PER_SEC));
    tell_who_waits(run);
    bn_run_abandon(run, BN_STATUS_TIMEOUT);
    break;
  case BN_GATE_FAILED:
    break;
  }
  bn_gate_fail(&run->gate);
  return false;
}

/* Sets the clock of the run, with every worker waiting at the gate, and opens it. */
static void open_gate(struct bn_run *run)
{
  const struct bn_conf *c = run->conf;
  unsigned k;

  bn_book_started(run->book);
  run->start_ns = bn_clock_mono();
  run->measure_ns = run->start_ns + c->warmup_ns;
  run->deadline_ns = c->time_ns != 0 ? run->measure_ns + c->time_ns : UINT64_MAX;
  bn_book_start(run->book, run->start_ns);
  if (run->pacer_made)
    bn_pacer_start(&run->pacer, run->start_ns);
  for (k = 0; k < c->threads; k++) {
    struct bn_session *s = &run->sessions[k];

    s->stat->measure_from_ns = run->measure_ns;
    s->paced = run->admit.events != 0 || run->pacer_made;
    atomic_store_explicit(&s->stat->running, true, memory_order_relaxed);
  }
  bn_admit_open(&run->admit, run->deadline_ns);
  (void)pthread_mutex_lock(&run->lock);
  run->opened = true;
  (void)pthread_mutex_unlock(&run->lock);
  bn_gate_open(&run->gate);
  bn_stop_wake(run->sampler);
}

/* --- end -----------------------------------------------------------------------------------------
 */

/* true: every worker has gone; false: abandoned, or the time is up. */
static bool wait_for_workers(struct bn_run *run, uint64_t until_ns, bool also_abandoned)
{
  const struct timespec at = {(time_t)(until_ns / BN_NSEC_PER_SEC),
                              (long)(until_ns % BN_NSEC_PER_SEC)};
  unsigned i, created = 0;
  bool all;
  int rc = 0;

  for (i = 0; i < run->conf->threads; i++)
    created += run->workers[i].created;
  (void)pthread_mutex_lock(&run->lock);
  while (run->gone < created && (also_abandoned || !run->abandoned) && rc == 0)
    rc = until_ns == UINT64_MAX ? pthread_cond_wait(&run->changed, &run->lock)
                                : pthread_cond_timedwait(&run->changed, &run->lock, &at);
  all = run->gone == created;
  (void)pthread_mutex_unlock(&run->lock);
  return all;
}

static void join_workers(struct bn_run *run)
{
  unsigned i;

  for (i = 0; i < run->conf->threads; i++)
    if (run->workers[i].created) {
      (void)pthread_join(run->workers[i].thread, NULL);
      run->workers[i].created = false;
    }
}

static void close_reports(struct bn_run *run)
{
  const struct bn_end end = {.status = bn_run_status(run),
                             .signo = run->signo,
                             .failed = bn_run_has_failed(run),
                             .timeout = run->timeout != BN_STATUS_OK,
                             .left = run->left,
                             .overload = run->over_backlog};

  bn_run_note(run, bn_book_close(run->book, &end));
}

static void finish_workload(struct bn_run *run)
{
  struct bn_err err = {0};

  if (run->ops->finish != NULL && run->ops->finish(run->self, &err) != 0) {
    if (err.text[0] != '\0')
      bn_log(BN_FATAL, "%s", err.text);
    run->failed = true;
  }
}

/* Under the lock, because workers that were left behind still write it. */
static uint64_t end_of_workers(struct bn_run *run)
{
  uint64_t at;

  (void)pthread_mutex_lock(&run->lock);
  at = run->end_ns;
  (void)pthread_mutex_unlock(&run->lock);
  return at;
}

static void measure(struct bn_run *run)
{
  bool all;

  atomic_store(&run->stage, BN_STAGE_MEASURE);
  open_gate(run);
  all = wait_for_workers(run, UINT64_MAX, false);
  bn_sampler_stop(run);
  atomic_store(&run->stage, BN_STAGE_REPORT);
  bn_book_ended(run->book);
  if (all)
    bn_log(BN_INFO, "Done.\n\n");
  const struct bn_moment end = bn_run_moment(run, end_of_workers(run));

  bn_run_note(run, bn_book_total(run->book, &end));
  bn_run_say_how_it_ended(run);
  atomic_store(&run->stage, BN_STAGE_FINISH);
  if (!all && !run->sampler_left && wait_for_workers(run, bn_clock_mono() + farewell_ns, true))
    run->abandoned = false;
  if (!run->abandoned) {
    join_workers(run);
    finish_workload(run);
  }
}

static void give_up_start(struct bn_run *run)
{
  const bool all = wait_for_workers(run, UINT64_MAX, false);

  bn_sampler_stop(run);
  if (all || wait_for_workers(run, bn_clock_mono() + farewell_ns, true)) {
    run->abandoned = run->sampler_left;
    join_workers(run);
  }
  if (run->timeout == BN_STATUS_OK && run->signo == 0)
    bn_log(BN_FATAL, "%s", run->conf->policy->threads_not_ready);
}

int bn_run_execute(struct bn_run *run)
{
  struct bn_err err = {0};

  bn_run_seed(run, false);
  bn_run_allow_files(run);
  if (bn_sampler_start(run, &err) != 0 || bn_receiver_start(run, &err) != 0) {
    bn_log(BN_FATAL, "%s", err.text);
    bn_sampler_stop(run);
    return BN_STATUS_FAILED;
  }
  if (open_workload(run) && open_reports(run) && announce(run)) {
    tell_what_is_watched(run);
    if (spawn_workers(run) && await_workers(run))
      measure(run);
    else
      give_up_start(run);
  }
  bn_sampler_stop(run);
  close_reports(run);
  if (!bn_run_stop_interrupting(run))
    run->abandoned = true;
  if (!run->abandoned && run->ops->close != NULL)
    run->ops->close(run->self);
  bn_receiver_stop(run);
  return bn_run_status(run);
}
