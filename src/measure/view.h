/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the difference of two snapshots into figures that are ready to print. */
#ifndef BN_MEASURE_VIEW_H
#define BN_MEASURE_VIEW_H

#include "api/report.h"
#include "measure/snap.h"
#include "option/conf.h"

enum bn_view_span { BN_VIEW_INTERVAL, BN_VIEW_CHECKPOINT, BN_VIEW_TOTAL };

enum { BN_FIGURES_MAX = 64 };

/* The memory behind a view; reused. */
struct bn_view_store {
  double percentile_s[BN_PERCENTS_MAX];
  struct bn_figure figure[BN_FIGURES_MAX];
  struct bn_session_view *session; /* owned; NULL unless wanted */
};

/* Fills the part of a view that follows from a difference alone: pure.  exact: delta's base is the
   start of the measurement, so that its exact extremes hold where they fall into the outermost
   buckets. */
void bn_view_fill(struct bn_view *v, struct bn_view_store *store, const struct bn_snap *delta,
                  const struct bn_conf *conf, bool exact);

#endif
