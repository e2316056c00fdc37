/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts blocked calls of sessions, from a thread of its own.

   An interrupt that blocks this thread blocks no other: bn_interrupt_first does not wait, and
   bn_interrupt_set waits only for the interrupt of the same session.  If the thread cannot be
   started, no call is interrupted: a session that is blocked in one is left behind. */
#ifndef BN_ENGINE_INTERRUPT_H
#define BN_ENGINE_INTERRUPT_H

#include <pthread.h>
#include <stdbool.h>

#include "api/session.h"

struct bn_interruptible {
  void (*fn)(void *arg); /* NULL: nothing to interrupt */
  void *arg;
};

struct bn_interrupt {
  struct bn_session *session;    /* borrowed; one after another */
  struct bn_interruptible *call; /* owned; by session */
  unsigned n;
  pthread_mutex_t lock; /* guards calls and all below */
  pthread_cond_t changed;
  const struct bn_interruptible *running; /* NULL: none */
  unsigned round, first_n; /* how often sessions were to be interrupted, and the first how many */
  bool made, thread_made, stop, gone;
  pthread_t thread;
};

/* 0 or -1: out of memory. */
int bn_interrupt_init(struct bn_interrupt *it, struct bn_session *sessions, unsigned n);
void bn_interrupt_done(struct bn_interrupt *it);

/* fn(arg) makes the call that this session is going to be blocked in return; NULL: no such call any
   more, which waits until fn has returned.  Its worker. */
void bn_interrupt_set(struct bn_interrupt *it, const struct bn_session *s, void (*fn)(void *arg),
                      void *arg);
/* Interrupts the first n sessions, for good: their calls fail from now on.  Any thread. */
void bn_interrupt_first(struct bn_interrupt *it, unsigned n);
/* No more of that; false: an interrupt has not returned and was left behind. */
bool bn_interrupt_stop(struct bn_interrupt *it);

#endif
