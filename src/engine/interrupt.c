/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs interrupts in a thread that is made when the first one is wanted: a driver whose interrupt
   blocks holds up neither the thread that hears of signals nor the one that reports. */
#include "engine/interrupt.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* A callee that has not returned by then is left behind. */
static const uint64_t patience_ns = BN_NSEC_PER_SEC;

int bn_interrupt_init(struct bn_interrupt *it, struct bn_session *sessions, unsigned n)
{
  pthread_condattr_t attr;

  memset(it, 0, sizeof *it);
  it->session = sessions;
  it->n = n;
  it->call = calloc(n, sizeof *it->call);
  if (it->call == NULL || pthread_condattr_init(&attr) != 0) {
    free(it->call);
    return -1;
  }
  (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  (void)pthread_mutex_init(&it->lock, NULL);
  (void)pthread_cond_init(&it->changed, &attr);
  (void)pthread_condattr_destroy(&attr);
  it->made = true;
  return 0;
}

void bn_interrupt_done(struct bn_interrupt *it)
{
  if (!it->made)
    return;
  free(it->call);
  (void)pthread_cond_destroy(&it->changed);
  (void)pthread_mutex_destroy(&it->lock);
  it->made = false;
}

/* With the lock, which is released during the call; bn_interrupt_set waits meanwhile, so that what
   arg points at stays alive. */
static void interrupt_one(struct bn_interrupt *it, const struct bn_interruptible *call)
{
  while (it->running != NULL)
    (void)pthread_cond_wait(&it->changed, &it->lock);
  if (call->fn == NULL)
    return;
  const struct bn_interruptible now = *call;

  it->running = call;
  (void)pthread_mutex_unlock(&it->lock);
  now.fn(now.arg);
  (void)pthread_mutex_lock(&it->lock);
  it->running = NULL;
  (void)pthread_cond_broadcast(&it->changed);
}

/* With the lock. */
static void interrupt_each(struct bn_interrupt *it)
{
  for (unsigned i = 0; i < it->first_n; i++)
    interrupt_one(it, &it->call[i]);
}

static void *interrupter_main(void *arg)
{
  struct bn_interrupt *it = arg;
  unsigned done = 0;

  (void)pthread_mutex_lock(&it->lock);
  while (!it->stop) {
    if (done == it->round) {
      (void)pthread_cond_wait(&it->changed, &it->lock);
    } else {
      done = it->round;
      interrupt_each(it);
    }
  }
  it->gone = true;
  (void)pthread_cond_broadcast(&it->changed);
  (void)pthread_mutex_unlock(&it->lock);
  return NULL;
}

void bn_interrupt_first(struct bn_interrupt *it, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    atomic_store_explicit(&it->session[i].interrupted, true, memory_order_relaxed);
  (void)pthread_mutex_lock(&it->lock);
  if (!it->stop) {
    it->first_n = n > it->first_n ? n : it->first_n;
    it->round++;
    if (!it->thread_made)
      it->thread_made = pthread_create(&it->thread, NULL, interrupter_main, it) == 0;
    if (it->thread_made)
      (void)pthread_cond_broadcast(&it->changed);
    else
      interrupt_each(it);
  }
  (void)pthread_mutex_unlock(&it->lock);
}

bool bn_interrupt_stop(struct bn_interrupt *it)
{
  const uint64_t until_ns = bn_clock_mono() + patience_ns;
  const struct timespec at = {(time_t)(until_ns / BN_NSEC_PER_SEC),
                              (long)(until_ns % BN_NSEC_PER_SEC)};
  bool join, gone;
  int rc = 0;

  (void)pthread_mutex_lock(&it->lock);
  it->stop = true;
  (void)pthread_cond_broadcast(&it->changed);
  while (it->thread_made && !it->gone && rc == 0)
    rc = pthread_cond_timedwait(&it->changed, &it->lock, &at);
  gone = !it->thread_made || it->gone;
  join = it->thread_made && it->gone;
  it->thread_made = it->thread_made && !it->gone;
  (void)pthread_mutex_unlock(&it->lock);
  if (join)
    (void)pthread_join(it->thread, NULL);
  return gone;
}

void bn_interrupt_set(struct bn_interrupt *it, const struct bn_session *s, void (*fn)(void *arg),
                      void *arg)
{
  struct bn_interruptible *call = &it->call[s - it->session];

  (void)pthread_mutex_lock(&it->lock);
  while (it->running == call)
    (void)pthread_cond_wait(&it->changed, &it->lock);
  *call = (struct bn_interruptible){fn, arg};
  (void)pthread_mutex_unlock(&it->lock);
}
