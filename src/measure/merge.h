/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums the results of runs that were under load at the same time into one result. */
#ifndef BN_MEASURE_MERGE_H
#define BN_MEASURE_MERGE_H

#include "base/buf.h"
#include "measure/runs.h"

/* The relation of the results to each other. */
enum bn_merge_how {
  BN_MERGE_ALIKE,  /* runs that were given the same options and overlap for nine tenths of the time
                      in which at least one of them was measured */
  BN_MERGE_FORCED, /* any runs */
  BN_MERGE_HOSTS   /* the hosts of one run, with times of one clock: the sum tells nothing of its
                      parts, has no intervals, and its sessions are in the order of the parts; how
                      it ended and its facts are those of the hosts that were not cut */
};

/* Counters and histograms add up exactly, and the figures are computed from the sums; rates are per
   second of the time in which at least one of the runs was measured.  n > 0, in any order.  notes
   gets lines about the result, which may quote the documents.  0, or -1: err says why these cannot
   be merged; *out is then empty. */
int bn_merge(const struct bn_part *part, size_t n, enum bn_merge_how how, struct bn_result *out,
             struct bn_buf *notes, struct bn_err *err);

/* The exit status that stands for both. */
int bn_merge_status(int a, int b);

#endif
