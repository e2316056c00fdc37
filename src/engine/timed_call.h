/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that makes calls which may block, one at a time, for a caller that waits a limited time.

   The caller holds `lock`, which is released while it waits and is not held during the call.  A
   call that was given up continues.  Its result is ignored, and no other call is made until it
   returns. */
#ifndef BN_ENGINE_TIMED_CALL_H
#define BN_ENGINE_TIMED_CALL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct bn_timed_call {
  pthread_mutex_t *lock; /* borrowed; guards all members below */
  pthread_cond_t changed;
  pthread_t thread;
  bool made;             /* the thread has been started */
  bool busy;             /* a call is to be made or has not returned */
  bool stop, gone;       /* the thread is to end, has ended */
  void (*fn)(void *arg); /* set while busy */
  void *arg;
};

/* Starts the thread; the caller does not hold the lock.  Returns 0, or -1 and err. */
int bn_timed_call_start(struct bn_timed_call *t, pthread_mutex_t *lock, struct bn_err *err);
/* Makes the call fn(arg); the caller holds the lock.  Returns false if fn has not returned in time,
   or was not called because an earlier call has not returned. */
bool bn_timed_call_make(struct bn_timed_call *t, void (*fn)(void *arg), void *arg,
                        uint64_t patience_ns);
/* Waits for the end of a call; the caller holds the lock.  Returns false if the call has not
   returned in time. */
bool bn_timed_call_await_idle(struct bn_timed_call *t, uint64_t patience_ns);
/* Ends the thread; the caller holds the lock, which is released for a moment.  Returns false if a
   call has not returned and the thread was abandoned. */
bool bn_timed_call_stop(struct bn_timed_call *t, uint64_t patience_ns);

#endif
