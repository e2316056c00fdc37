/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes calls that sessions are blocked in return, from a thread of its own: a driver whose
   interrupt blocks holds up neither the thread that hears of signals nor the one that reports. */
#include "engine/run_internal.h"

/* A callee that has not returned by then is left behind. */
static const uint64_t patience_ns = BN_NSEC_PER_SEC;

/* With the lock, which is released during the call; bn_run_set_interrupt waits meanwhile, so that
   what arg points at stays alive. */
static void interrupt_one(struct bn_run *run, struct bn_worker *w)
{
  while (run->interrupting != NULL)
    (void)pthread_cond_wait(&run->changed, &run->lock);
  if (w->interrupt == NULL)
    return;
  void (*const fn)(void *arg) = w->interrupt;
  void *const arg = w->interrupt_arg;

  run->interrupting = w;
  (void)pthread_mutex_unlock(&run->lock);
  fn(arg);
  (void)pthread_mutex_lock(&run->lock);
  run->interrupting = NULL;
  (void)pthread_cond_broadcast(&run->changed);
}

/* While workers are measured the main thread has nothing to interrupt and its session may still be
   needed by done(). */
static unsigned sessions_to_interrupt(const struct bn_run *run)
{
  return run->conf->threads + (atomic_load(&run->stage) != BN_STAGE_MEASURE);
}

/* With the lock. */
static void interrupt_each(struct bn_run *run)
{
  const unsigned n = sessions_to_interrupt(run);
  unsigned i;

  for (i = 0; i < n; i++)
    interrupt_one(run, &run->workers[i]);
}

static void *interrupter_main(void *arg)
{
  struct bn_run *run = arg;
  unsigned done = 0;

  (void)pthread_mutex_lock(&run->lock);
  while (!run->stop_interrupter) {
    if (done == run->interrupt_round) {
      (void)pthread_cond_wait(&run->changed, &run->lock);
    } else {
      done = run->interrupt_round;
      interrupt_each(run);
    }
  }
  run->interrupter_gone = true;
  (void)pthread_cond_broadcast(&run->changed);
  (void)pthread_mutex_unlock(&run->lock);
  return NULL;
}

void bn_run_interrupt_all(struct bn_run *run)
{
  const unsigned n = sessions_to_interrupt(run);
  unsigned i;

  for (i = 0; i < n; i++)
    atomic_store_explicit(&run->workers[i].session->interrupted, true, memory_order_relaxed);
  (void)pthread_mutex_lock(&run->lock);
  if (!run->stop_interrupter) {
    run->interrupt_round++;
    if (!run->interrupter_made)
      run->interrupter_made = pthread_create(&run->interrupter, NULL, interrupter_main, run) == 0;
    if (run->interrupter_made)
      (void)pthread_cond_broadcast(&run->changed);
    else
      interrupt_each(run);
  }
  (void)pthread_mutex_unlock(&run->lock);
}

bool bn_run_stop_interrupting(struct bn_run *run)
{
  const uint64_t until_ns = bn_clock_mono() + patience_ns;
  const struct timespec at = {(time_t)(until_ns / BN_NSEC_PER_SEC),
                              (long)(until_ns % BN_NSEC_PER_SEC)};
  bool made, gone;
  int rc = 0;

  (void)pthread_mutex_lock(&run->lock);
  run->stop_interrupter = true;
  (void)pthread_cond_broadcast(&run->changed);
  made = run->interrupter_made;
  while (made && !run->interrupter_gone && rc == 0)
    rc = pthread_cond_timedwait(&run->changed, &run->lock, &at);
  gone = !made || run->interrupter_gone;
  (void)pthread_mutex_unlock(&run->lock);
  if (made && gone)
    (void)pthread_join(run->interrupter, NULL);
  return gone;
}

void bn_run_set_interrupt(struct bn_session *s, void (*fn)(void *arg), void *arg)
{
  struct bn_run *run = s->services->of;
  struct bn_worker *w = &run->workers[s - run->sessions];

  (void)pthread_mutex_lock(&run->lock);
  while (run->interrupting == w)
    (void)pthread_cond_wait(&run->changed, &run->lock);
  w->interrupt = fn;
  w->interrupt_arg = arg;
  (void)pthread_mutex_unlock(&run->lock);
}
