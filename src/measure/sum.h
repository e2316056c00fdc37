/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the figures of a sum of views that do not follow from the sum of their snapshots. */
#ifndef BN_MEASURE_SUM_H
#define BN_MEASURE_SUM_H

#include "base/err.h"
#include "measure/view.h"

/* The views of the same time, one of each part: of runs that are merged, or of the hosts of one
   run. */
struct bn_views {
  const struct bn_view **view; /* [n]; the caller owns the list and the views */
  size_t n;
};

/* Refuses a sum that is beyond 64 bits: sets err and returns -1. */
int bn_sum_refuse(struct bn_err *err);
/* Returns the largest count of which a sum of n fits into 64 bits, even if latencies and the ages
   of events are summed together.  n > 0. */
uint64_t bn_sum_largest_count(size_t n);
/* Returns whether a view can be part of a sum of n views: no count is larger than
   bn_sum_largest_count(n), and the rates and times are numbers. */
bool bn_sum_fits(const struct bn_view *v, size_t n);
/* Completes a view from bn_view_fill(): sets what follows from the views of the parts and not from
   the sum of their snapshots, except what bn_sum_figures() sets.  Returns 0, or -1 and err. */
int bn_sum_complete_view(struct bn_view *v, const struct bn_views *parts, struct bn_err *err);
/* Sets the figures of the workload, as far as they can be summed, the rates of a script's counts
   and of kinds of events, the latencies of groups, and the phases.  Names and texts stay the
   parts'. */
void bn_sum_figures(struct bn_view *v, struct bn_view_store *store, const struct bn_views *parts);

#endif
