/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of a view that is the sum of others: those that do not follow from the sum of their
   snapshots. */
#ifndef BN_MEASURE_SUM_H
#define BN_MEASURE_SUM_H

#include "base/err.h"
#include "measure/view.h"

/* Views of the same span, one of each part. */
struct bn_views {
  const struct bn_view **view; /* owned by who made it */
  size_t n;
};

/* Returns -1 and sets err: a sum is beyond 64 bits. */
int bn_sum_too_large(struct bn_err *err);
/* Sums of n counts of at most so much fit into 64 bits, also the latencies and the ages of events
   together. */
uint64_t bn_sum_most(size_t n);
/* Returns whether a view can be part of a sum of n views: the sum is not too large, whatever the
   others are if they fit too, and its rates and times are numbers. */
bool bn_sum_fits(const struct bn_view *v, size_t n);
/* After bn_view_fill(), which has set span_s: what else is in a view but its times and the figures
   of the workload.  0, or -1 and err. */
int bn_sum_view(struct bn_view *v, const struct bn_views *parts, struct bn_err *err);
/* The figures of the workload, as far as they can be summed, and what a script has counted.  Names
   and texts stay the parts'. */
void bn_sum_figures(struct bn_view *v, struct bn_view_store *store, const struct bn_views *parts);

#endif
