/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that receives SIGINT, SIGTERM and SIGHUP of a run or command.

   It waits for a signal or for a given time.  It never waits for a lock that is held during a call
   of a driver, a reporter or a script, nor for a reader of standard error, so that the user can
   always end the process. */
#ifndef BN_ENGINE_SIGNALS_H
#define BN_ENGINE_SIGNALS_H

#include "engine/sampler.h"
#include "engine/stop.h"
#include "engine/watchdog.h"

struct bn_receiver {
  const struct bn_run_parts *parts; /* the sampler's */
  struct bn_sampler *sampler;
  struct bn_watchdog *watchdog;
  pthread_t thread;
  bool made; /* used by the main thread only */
  _Atomic bool stop;
  _Atomic int asked; /* what bn_receiver_request_end has asked for: ASKED_* in signals.c */
  /* Used by the thread only. */
  int n_requests;             /* requests for the end so far */
  struct bn_end_signal first; /* the first request, if it was a signal */
  struct bn_patience patience;
  int stage; /* at the last check of progress: enum bn_stage, or the one of hooks */
};

/* The main thread calls these. *r is zeroed before, and the sampler and the watchdog, which are
   borrowed, have been started.  Start returns 0, or -1 and err.  After stop, the calling thread
   receives the signals. */
int bn_receiver_start(struct bn_receiver *r, struct bn_sampler *sampler,
                      struct bn_watchdog *watchdog, struct bn_err *err);
void bn_receiver_stop(struct bn_receiver *r);
/* Acts as the first SIGINT, or (at_once) as the second one, but prints nothing.  Any thread,
   between start and stop. */
void bn_receiver_request_end(struct bn_receiver *r, bool at_once);
/* Returns whether bn_receiver_request_end was called.  Any thread. */
bool bn_receiver_has_request(const struct bn_receiver *r);

#endif
