/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of a run at the end of its span, from which bench's own final report computes rates.

   Invariant: `counter` is the sum of what each session had counted up to at_ns. */
#ifndef BN_ENGINE_RATED_H
#define BN_ENGINE_RATED_H

#include <pthread.h>

#include "engine/reports.h"
#include "measure/snap.h"
#include "measure/view.h"

struct bn_rated {
  const struct bn_statset *stats; /* borrowed */
  pthread_mutex_t lock;
  uint64_t *counter; /* owned */
  uint64_t at_ns;    /* 0: not yet */
};

/* Returns 0, or -1 if out of memory. bn_rated_done accepts that, and zeroes. */
int bn_rated_init(struct bn_rated *r, const struct bn_statset *stats);
void bn_rated_done(struct bn_rated *r);
/* Counts, unless that has been done.  The span ended at end_ns. */
void bn_rated_count(struct bn_rated *r, uint64_t end_ns, uint64_t now_ns);
/* Sets the counters of `rules` to those since the base, unless the base is later.  Is called once,
   for the final report.  If no event ended after the span (late: events that did), or if
   bn_rated_count was not called, they are the counters with which each session left its loop. */
void bn_rated_settle(struct bn_rated *r, const struct bn_snap *base, const struct bn_moment *m,
                     uint64_t late, struct bn_view_rules *rules);

#endif
