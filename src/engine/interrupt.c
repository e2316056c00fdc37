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

void bn_interrupt_init(struct bn_interrupt *interrupt, struct bn_session *sessions, unsigned n)
{
  memset(interrupt, 0, sizeof *interrupt);
  interrupt->session = sessions;
  interrupt->n = n;
  interrupt->call = bn_alloc(n, sizeof *interrupt->call);
  bn_wait_init_cond(&interrupt->changed);
  (void)pthread_mutex_init(&interrupt->lock, NULL);
}

void bn_interrupt_done(struct bn_interrupt *interrupt)
{
  free(interrupt->call);
  (void)pthread_cond_destroy(&interrupt->changed);
  (void)pthread_mutex_destroy(&interrupt->lock);
}

static const struct bn_wait same_call = {"the session's interrupt", BN_BOUND_LEFT_BEHIND};
static const struct bn_wait next_round = {"an interrupt that is wanted", BN_BOUND_STOP};
static const struct bn_wait last_round = {"interrupts to return", BN_BOUND_DEADLINE};
static const struct bn_wait thread_return = {"the interrupter to return", BN_BOUND_RETURNING};

/* Interrupts one session, if a call of it is registered.  The caller holds the lock, which is
   released while the interrupt runs.  bn_interrupt_set waits meanwhile, so that the object that arg
   points at stays alive. */
static void interrupt_call(struct bn_interrupt *interrupt, const struct bn_interruptible *call)
{
  if (call->fn == NULL)
    return;
  const struct bn_interruptible registered = *call;

  interrupt->running = call;
  (void)pthread_mutex_unlock(&interrupt->lock);
  registered.fn(registered.arg);
  (void)pthread_mutex_lock(&interrupt->lock);
  interrupt->running = NULL;
  bn_wait_wake(&interrupt->changed);
}

/* Interrupts the sessions once in each round.  A request that comes during a round begins
   another round. */
static void *interrupt_main(void *arg)
{
  struct bn_interrupt *interrupt = arg;
  unsigned handled_round = 0;

  (void)pthread_mutex_lock(&interrupt->lock);
  while (!interrupt->stop) {
    if (handled_round == interrupt->round) {
      (void)bn_wait_until(&next_round, &interrupt->changed, &interrupt->lock, UINT64_MAX);
    } else {
      handled_round = interrupt->round;
      for (unsigned i = 0; i < interrupt->first_n; i++)
        interrupt_call(interrupt, &interrupt->call[i]);
    }
  }
  interrupt->gone = true;
  bn_wait_wake(&interrupt->changed);
  (void)pthread_mutex_unlock(&interrupt->lock);
  return NULL;
}

void bn_interrupt_session(struct bn_session *s)
{
  atomic_store_explicit(&s->interrupted, true, memory_order_relaxed);
}

void bn_interrupt_first_sessions(struct bn_interrupt *interrupt, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    bn_interrupt_session(&interrupt->session[i]);
  (void)pthread_mutex_lock(&interrupt->lock);
  if (!interrupt->stop) {
    if (n > interrupt->first_n)
      interrupt->first_n = n;
    interrupt->round++;
    if (!interrupt->thread_made)
      interrupt->thread_made = bn_wait_spawn(&interrupt->thread, 0, interrupt_main, interrupt) == 0;
    bn_wait_wake(&interrupt->changed);
  }
  (void)pthread_mutex_unlock(&interrupt->lock);
}

bool bn_interrupt_stop(struct bn_interrupt *interrupt)
{
  const uint64_t until_ns = bn_clock_mono() + patience_ns;
  bool hangs, in_time = true;

  (void)pthread_mutex_lock(&interrupt->lock);
  interrupt->stop = true; /* no thread is made from now on */
  bn_wait_wake(&interrupt->changed);
  while (interrupt->thread_made && !interrupt->gone && in_time)
    in_time = bn_wait_until(&last_round, &interrupt->changed, &interrupt->lock, until_ns);
  hangs = interrupt->thread_made && !interrupt->gone;
  (void)pthread_mutex_unlock(&interrupt->lock);
  if (hangs) /* in an interrupt: the thread is left behind */
    return false;
  if (interrupt->thread_made)
    bn_wait_join(&thread_return, interrupt->thread);
  interrupt->thread_made = false;
  return true;
}

void bn_interrupt_set(struct bn_interrupt *interrupt, const struct bn_session *s,
                      void (*fn)(void *arg), void *arg)
{
  struct bn_interruptible *call = &interrupt->call[s - interrupt->session];

  (void)pthread_mutex_lock(&interrupt->lock);
  while (interrupt->running == call)
    (void)bn_wait_until(&same_call, &interrupt->changed, &interrupt->lock, UINT64_MAX);
  *call = (struct bn_interruptible){fn, arg};
  (void)pthread_mutex_unlock(&interrupt->lock);
}
