/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that ends the process when other threads do not end the run.

   The receiver of signals orders the end: after a second signal, or when there has been no progress
   for too long after a single one.  A thread that has used up its memory or its stack
   (base/alloc.h) orders the end at once.  If the main thread has not ended the run 2.5 seconds
   later, the watchdog prints the text report from the counters as they are, unless it has been
   printed, names the journals from which `bench report` makes the documents, removes half-written
   documents, and calls _exit.  It allocates nothing, and it uses neither the log nor the streams of
   other threads, because a thread that hangs may hold their locks.  Its output does not block. Half
   a second after it has begun, a signal to its own thread calls _exit if it has not done so itself.
   Nothing watches it. */
#ifndef BN_ENGINE_WATCHDOG_H
#define BN_ENGINE_WATCHDOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "engine/run_state.h"

struct bn_watchdog {
  const struct bn_run_parts *parts;
  char *text;           /* owned; what `out` has written */
  FILE *out;            /* writes into `text`; only the watchdog uses it */
  struct bn_hist *ages; /* --rate: ages of the arrivals that wait; owned */
  pthread_t thread;
  bool made; /* the thread exists; used by the main thread only */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t at_ns; /* guarded by the lock; CLOCK_MONOTONIC; UINT64_MAX: no end has been ordered */
  bool stop;      /* guarded by the lock */
};

/* parts is borrowed. */
void bn_watchdog_init(struct bn_watchdog *w, const struct bn_run_parts *parts);
void bn_watchdog_done(struct bn_watchdog *w);

/* The main thread calls these.  Start returns 0, or -1 and err.  Stop ends the thread, and does
   nothing if there is none. */
int bn_watchdog_start(struct bn_watchdog *w, struct bn_err *err);
void bn_watchdog_stop(struct bn_watchdog *w);
/* Order the end of the process, in 2.5 seconds or at once.  The earliest order counts.  Any
   thread. */
void bn_watchdog_order_end(struct bn_watchdog *w);
void bn_watchdog_order_end_at_once(struct bn_watchdog *w);

#endif
