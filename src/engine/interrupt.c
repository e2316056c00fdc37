/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs interrupts in a thread that is made with the first interrupt: a driver whose interrupt
   blocks holds up neither the receiver of signals nor the reporting thread. */
#include "engine/interrupt.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/wait.h"

/* An interrupt that does not return for so long is abandoned at the end of the run. */
static const uint64_t patience_ns = BN_NSEC_PER_SEC;

void bn_interrupt_init(struct bn_interrupt *it, struct bn_session *sessions, unsigned n)
{
  memset(it, 0, sizeof *it);
  it->session = sessions;
  it->n = n;
  it->call = bn_alloc(n, sizeof *it->call);
  bn_wait_init_cond(&it->changed);
  (void)pthread_mutex_init(&it->lock, NULL);
  it->made = true;
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

static const struct bn_wait same_call = {"the session's interrupt", BN_BOUND_LEFT_BEHIND};
static const struct bn_wait work = {"an interrupt that is wanted", BN_BOUND_STOP};
static const struct bn_wait end = {"interrupts to return", BN_BOUND_DEADLINE};
static const struct bn_wait returning = {"the interrupter to return", BN_BOUND_RETURNING};

/* Interrupts one session, if a call of it is registered.  The caller holds the lock, which is
   released while the interrupt runs.  bn_interrupt_set waits meanwhile, so that the object that arg
   points at stays alive. */
static void interrupt_call(struct bn_interrupt *it, const struct bn_interruptible *call)
{
  if (call->fn == NULL)
    return;
  const struct bn_interruptible registered = *call;

  it->running = call;
  (void)pthread_mutex_unlock(&it->lock);
  registered.fn(registered.arg);
  (void)pthread_mutex_lock(&it->lock);
  it->running = NULL;
  bn_wait_wake(&it->changed);
}

/* Interrupts the sessions once in each round.  A request that comes during a round begins
   another round. */
static void *interrupt_main(void *arg)
{
  struct bn_interrupt *it = arg;
  unsigned handled_round = 0;

  (void)pthread_mutex_lock(&it->lock);
  while (!it->stop) {
    if (handled_round == it->round) {
      (void)bn_wait_until(&work, &it->changed, &it->lock, UINT64_MAX);
    } else {
      handled_round = it->round;
      for (unsigned i = 0; i < it->first_n; i++)
        interrupt_call(it, &it->call[i]);
    }
  }
  it->gone = true;
  bn_wait_wake(&it->changed);
  (void)pthread_mutex_unlock(&it->lock);
  return NULL;
}

void bn_interrupt_first_sessions(struct bn_interrupt *it, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    atomic_store_explicit(&it->session[i].interrupted, true, memory_order_relaxed);
  (void)pthread_mutex_lock(&it->lock);
  if (!it->stop) {
    if (n > it->first_n)
      it->first_n = n;
    it->round++;
    if (!it->thread_made)
      it->thread_made = bn_wait_spawn(&it->thread, 0, interrupt_main, it) == 0;
    bn_wait_wake(&it->changed);
  }
  (void)pthread_mutex_unlock(&it->lock);
}

bool bn_interrupt_stop(struct bn_interrupt *it)
{
  const uint64_t until_ns = bn_clock_mono() + patience_ns;
  bool must_join, gone, in_time = true;

  (void)pthread_mutex_lock(&it->lock);
  it->stop = true;
  bn_wait_wake(&it->changed);
  while (it->thread_made && !it->gone && in_time)
    in_time = bn_wait_until(&end, &it->changed, &it->lock, until_ns);
  gone = !it->thread_made || it->gone;
  must_join = it->thread_made && it->gone;
  if (must_join)
    it->thread_made = false;
  (void)pthread_mutex_unlock(&it->lock);
  if (must_join)
    bn_wait_join(&returning, it->thread);
  return gone;
}

void bn_interrupt_set(struct bn_interrupt *it, const struct bn_session *s, void (*fn)(void *arg),
                      void *arg)
{
  struct bn_interruptible *call = &it->call[s - it->session];

  (void)pthread_mutex_lock(&it->lock);
  while (it->running == call)
    (void)bn_wait_until(&same_call, &it->changed, &it->lock, UINT64_MAX);
  *call = (struct bn_interruptible){fn, arg};
  (void)pthread_mutex_unlock(&it->lock);
}
