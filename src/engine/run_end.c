/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ends a run before its limits do, and the words and the exit status for it. */
#include <unistd.h>

#include "base/log.h"
#include "engine/run_internal.h"

void bn_run_end_now(struct bn_run *run)
{
  bn_admit_close(&run->admit);
  if (run->pacer_made)
    bn_pacer_wake(&run->pacer);
  (void)pthread_mutex_lock(&run->lock);
  if (run->cut_ns == 0)
    run->cut_ns = bn_clock_mono();
  run->barrier_failed = true;
  (void)pthread_cond_broadcast(&run->changed);
  (void)pthread_mutex_unlock(&run->lock);
}

void bn_run_fail(struct bn_run *run)
{
  (void)pthread_mutex_lock(&run->lock);
  run->failed = true;
  (void)pthread_mutex_unlock(&run->lock);
  bn_run_end_now(run);
}

bool bn_run_leave(struct bn_run *run, int status)
{
  bool measured;

  (void)pthread_mutex_lock(&run->lock);
  measured = run->opened;
  if (measured && !run->left) {
    run->left = true;
    run->left_with = status & 0xff;
  }
  (void)pthread_mutex_unlock(&run->lock);
  if (measured)
    bn_run_end_now(run);
  return measured;
}

void bn_run_abandon(struct bn_run *run, enum bn_status status)
{
  bn_run_end_now(run);
  (void)pthread_mutex_lock(&run->lock);
  run->abandoned = true;
  run->end_ns = bn_clock_mono();
  if (status == BN_STATUS_TIMEOUT)
    run->timeout = status;
  (void)pthread_cond_broadcast(&run->changed);
  (void)pthread_mutex_unlock(&run->lock);
}

void bn_run_stay_behind(struct bn_run *run)
{
  bn_run_abandon(run, BN_STATUS_OK);
  for (;;)
    (void)pause();
}

/* Workers that were left behind may still fail. */
bool bn_run_has_failed(struct bn_run *run)
{
  bool yes;

  (void)pthread_mutex_lock(&run->lock);
  yes = run->failed;
  (void)pthread_mutex_unlock(&run->lock);
  return yes;
}

/* The status a script left with, or -1: none did. */
static int left_with(struct bn_run *run)
{
  int status;

  (void)pthread_mutex_lock(&run->lock);
  status = run->left ? run->left_with : -1;
  (void)pthread_mutex_unlock(&run->lock);
  return status;
}

int bn_run_status(struct bn_run *run)
{
  if (run->signo != 0)
    return BN_STATUS_SIGNAL + run->signo;
  if (run->timeout != BN_STATUS_OK)
    return run->timeout;
  if (left_with(run) > 0)
    return left_with(run);
  return bn_run_has_failed(run) || run->report_failed ||
                 (run->over_backlog && !run->conf->policy->overload_passes)
             ? BN_STATUS_FAILED
             : BN_STATUS_OK;
}

void bn_run_say_how_it_ended(struct bn_run *run)
{
  if (run->over_backlog && !run->conf->policy->overload_passes)
    bn_log(BN_FATAL, "The event queue is full. This means the worker threads are unable to keep up "
                     "with the specified event generation rate");
  if (left_with(run) >= 0)
    bn_log_stderr("the script ended the run by os.exit(%d); the report covers what was measured "
                  "until then",
                  left_with(run));
  if (bn_run_has_failed(run))
    bn_log_stderr("the run failed; the report covers what was measured until then");
}
