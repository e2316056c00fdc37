/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums the results of runs that were under load at the same time into one result. */
#ifndef BN_MEASURE_MERGE_H
#define BN_MEASURE_MERGE_H

#include "base/buf.h"
#include "measure/runs.h"

/* Counters and histograms add up exactly, and the figures are computed from the sums; rates are per
   second of the time in which at least one of the runs was measured.  n > 0, in any order.  force:
   also runs that were given different options, or that all ran for less than nine tenths of that
   time.  notes gets lines about the result, which may quote the documents.  0, or -1: err says why
   these cannot be merged; *out is then empty. */
int bn_merge(const struct bn_part *part, size_t n, bool force, struct bn_result *out,
             struct bn_buf *notes, struct bn_err *err);

#endif
