/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a run at one instant, collected from its parts for the reports. */
#ifndef BN_ENGINE_MOMENT_H
#define BN_ENGINE_MOMENT_H

#include "engine/interrupt.h"
#include "engine/load.h"
#include "engine/outage.h"
#include "engine/reports.h"
#include "engine/threads.h"
#include "engine/watch.h"

struct bn_failures; /* engine/failures.h */

/* The parts of a run that its watching threads use; borrowed.  Each has its own lock. */
struct bn_parts {
  const struct bn_conf *conf;
  struct bn_clock *clock;
  struct bn_outcome *outcome;
  struct bn_load *load;
  struct bn_quota *quota;
  struct bn_pacer *pacer; /* NULL: no --rate */
  struct bn_outage *outage;
  struct bn_threads *threads;
  struct bn_interrupt *interrupt;
  struct bn_reports *reports;
  struct bn_failures *failures;
  struct bn_watch *watch;
  const struct bn_report_use *reporters;
  size_t n_reporters;
  uint64_t made_ns; /* when the set-up began */
  bool scripted;    /* the events are a script's */
};

/* --rate: how many arrivals wait for one of the `left` events that may yet begin.  The reporting
   thread, or the main thread without it. */
uint64_t bn_moment_backlog(const struct bn_parts *p, const struct bn_times *times, uint64_t now_ns,
                           uint64_t left);
/* The run has ended, or nothing may begin any more, before the warm-up was over.  Any thread, after
   the start barrier has opened. */
bool bn_moment_in_warmup(const struct bn_parts *p, const struct bn_times *times);
/* After the start barrier has opened; the same threads. */
struct bn_moment bn_moment_at(const struct bn_parts *p, const struct bn_times *times,
                              uint64_t now_ns);
/* Of the final report, after all workers have gone or were left: at the end of the span.  ages gets
   those of the arrivals that wait; it belongs to the caller and outlives the moment.  The main
   thread. */
struct bn_moment bn_moment_end(const struct bn_parts *p, const struct bn_times *times,
                               struct bn_hist *ages);
/* --rate: of what was due in the span, more than a hundredth did not end in it, and more than what
   can be in flight at any time: L + 4 sqrt(L) + 1, where L is the mean number of events in service
   (Little's law; L customers of an M/G/infinity queue have a Poisson distribution).  *ended: how
   many did. */
bool bn_moment_unserved(const struct bn_parts *p, const struct bn_moment *end, uint64_t *ended);

#endif
