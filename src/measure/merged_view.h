/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view that is the sum of views of the same time, one of each part of a load: of runs that are
   merged, or of the hosts of one run. */
#ifndef BN_MEASURE_MERGED_VIEW_H
#define BN_MEASURE_MERGED_VIEW_H

#include <stdbool.h>

#include "base/err.h"
#include "measure/sum.h"

/* All zero: nothing has been added. */
struct bn_merged_view {
  struct bn_snap snap;
  struct bn_view_store store;
  struct bn_hist *ages; /* of unfinished events; NULL: there are none */
  struct bn_view view;  /* points into the others, and to names of the parts */
};

/* Frees what the view owns, also after a function below has failed. */
void bn_merged_view_done(struct bn_merged_view *v);

/* These functions return 0, or -1 and err if a sum is beyond 64 bits. */

/* Adds up the snapshots, which are of the same metrics.  sessions: how many they have together; 0:
   none are kept. */
int bn_merged_view_add(struct bn_merged_view *v, const struct bn_views *parts, unsigned sessions,
                       struct bn_err *err);
/* Adds up the ages of unfinished events into v->ages, which stays NULL if there are none.
   bn_merged_view_add() has been called.  Not for dialects, whose percentiles count no ages. */
int bn_merged_view_add_ages(struct bn_merged_view *v, const struct bn_views *parts,
                            struct bn_err *err);

/* The end and the length of an interval or a tick: members of struct bn_snap and struct bn_view. */
struct bn_merge_time {
  enum bn_view_span span;
  uint64_t span_ns, at_ns, wall_ns;
  double at_s;
};

/* Makes an interval or a tick with all its figures.  hists: the sums of the histograms of all
   parts, which have none themselves; NULL: the histograms of the parts are added up.  Without the
   histograms of all parts the view has no percentiles. */
int bn_merged_view_make(struct bn_merged_view *v, const struct bn_views *parts,
                        struct bn_hist *const *hists, const struct bn_view_rules *how,
                        const struct bn_merge_time *t, struct bn_err *err);
/* Returns whether all parts have histograms, in either form. */
bool bn_merged_view_has_hists(const struct bn_views *parts);

#endif
