/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that makes calls which may block, one at a time, for somebody who waits only so long.

   Whoever asks holds `lock`, which is given up while he waits and is not held during the call.  A
   call that was given up goes on: until it returns nothing else is asked, and what it returns is
   nobody's. */
#ifndef BN_ENGINE_TIMED_CALL_H
#define BN_ENGINE_TIMED_CALL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct bn_timed_call {
  pthread_mutex_t *lock; /* borrowed; of all that follows */
  pthread_cond_t changed;
  pthread_t thread;
  bool made, busy, stop, gone; /* made: the thread has been started */
  void (*fn)(void *arg);       /* while busy */
  void *arg;
};

/* Without the lock.  -1: err says why there is no thread. */
int bn_timed_call_start(struct bn_timed_call *a, pthread_mutex_t *lock, struct bn_err *err);
/* With the lock.  false: fn has not returned in time, or has not been called because another call
   has not returned. */
bool bn_timed_call_ask(struct bn_timed_call *a, void (*fn)(void *arg), void *arg,
                       uint64_t patience_ns);
/* With the lock.  false: a call still has not returned. */
bool bn_timed_call_rest(struct bn_timed_call *a, uint64_t patience_ns);
/* With the lock, which is free for a moment at the end.  false: a call still has not returned, and
   the thread is left behind. */
bool bn_timed_call_stop(struct bn_timed_call *a, uint64_t patience_ns);

#endif
