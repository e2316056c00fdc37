/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of a run at the end of its span, from which the rates of bench's own final report
   follow.

   Invariant: `counter` holds what all sessions have counted up to at_ns, each for itself. */
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

/* 0 or -1: out of memory; done accepts that, and zeroes. */
int bn_rated_init(struct bn_rated *r, const struct bn_statset *stats);
void bn_rated_done(struct bn_rated *r);
/* Counts if that has not been done.  The span ended at end_ns. */
void bn_rated_look(struct bn_rated *r, uint64_t end_ns, uint64_t now_ns);
/* Once, for the final report: sets the counters of `rules` to those since the base, unless that is
   later.  If nothing ended after the span (late: events that did), or if nobody has looked, they
   are those with which each session left its loop. */
void bn_rated_settle(struct bn_rated *r, const struct bn_snap *base, const struct bn_moment *m,
                     uint64_t late, struct bn_view_rules *rules);

#endif
