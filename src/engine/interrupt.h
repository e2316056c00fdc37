/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts blocked calls of sessions, from a separate thread.

   An interrupt that blocks this thread blocks no other thread: bn_interrupt_first_sessions does not
   wait, and bn_interrupt_set waits only for the interrupt of the same session.  If the thread
   cannot be started, no call is interrupted, and a session that blocks in a call is abandoned. */
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
  struct bn_session *session;    /* borrowed; an array of n */
  struct bn_interruptible *call; /* owned; one per session */
  unsigned n;
  pthread_mutex_t lock; /* guards calls and all members below */
  pthread_cond_t changed;
  const struct bn_interruptible *running; /* the call whose fn runs now; NULL: none */
  unsigned round;                         /* number of requests to interrupt so far */
  unsigned first_n;                       /* the requests cover the first first_n sessions */
  bool thread_made, stop, gone;           /* the thread was started, is to end, has ended */
  pthread_t thread;
};

/* The n sessions are borrowed. */
void bn_interrupt_init(struct bn_interrupt *interrupt, struct bn_session *sessions, unsigned n);
void bn_interrupt_done(struct bn_interrupt *interrupt);

/* Registers fn(arg), which interrupts the call that the session is about to block in. fn NULL
   unregisters it and waits until a running fn has returned.  The worker of the session calls it. */
void bn_interrupt_set(struct bn_interrupt *interrupt, const struct bn_session *s,
                      void (*fn)(void *arg), void *arg);
/* Interrupts the session for good: its calls fail from now on, without a message.  A call that it
   blocks in goes on.  Any thread. */
void bn_interrupt_session(struct bn_session *s);
/* Interrupts the first n sessions for good, and the calls that they block in.  Any thread. */
void bn_interrupt_first_sessions(struct bn_interrupt *interrupt, unsigned n);
/* Ends the thread, if there is one.  Waits a second for an interrupt that is being made; returns
   false if it has not returned, and leaves it and the thread behind. */
bool bn_interrupt_stop(struct bn_interrupt *interrupt);

#endif
