/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reporting thread: ends the warm-up, reports intervals and checkpoints, and bounds every wait
   for workers by the time grace or by the forced shutdown.

   It sleeps until the next item of its schedule (engine/schedule.h) or until it is woken. */
#ifndef BN_ENGINE_SAMPLER_H
#define BN_ENGINE_SAMPLER_H

#include "engine/run_state.h"
#include "engine/schedule.h"

struct bn_sampler {
  const struct bn_run_parts *parts;
  pthread_t thread;
  bool made;    /* the thread exists; used by the main thread only */
  bool redraws; /* redraws the progress of a command once a second */
  /* Used by the thread only. */
  struct bn_schedule schedule;
  uint64_t *ended;    /* owned; events of each session at the end of the warm-up */
  unsigned n_seconds; /* of the measurement so far */
  pthread_mutex_t lock;
  bool stop; /* guarded by the lock: the thread is to end */
};

/* parts is borrowed. */
void bn_sampler_init(struct bn_sampler *s, const struct bn_run_parts *parts);
void bn_sampler_done(struct bn_sampler *s);

/* The main thread calls these.  The thread reports once the start barrier has opened, or keeps the
   progress of a command up to date.  Start returns 0, or -1 and err.  Stop waits for the thread's
   last call of a reporter, and does nothing if there is no thread. */
int bn_sampler_start(struct bn_sampler *s, bool is_command, struct bn_err *err);
void bn_sampler_stop(struct bn_sampler *s);
/* Wakes the thread after the state of the run has changed.  Any thread. */
void bn_sampler_wake(struct bn_sampler *s);

#endif
