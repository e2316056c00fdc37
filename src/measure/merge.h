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
  BN_MERGE_HOSTS   /* the hosts of one run, with times of one clock: the sum has no facts about its
                      parts and no intervals, and its sessions are in the order of the parts; its
                      end and its facts are those of the hosts that were not cut */
};

/* Sums n > 0 results, in any order.  Counters and histograms add up exactly, and the figures are
   computed from the sums; rates are per second of the time in which at least one of the runs was
   measured.  notes gets lines about the result, which may quote the documents.  Returns 0, or -1
   and err, which says why they cannot be merged; *out is then empty. */
int bn_merge(const struct bn_part *part, size_t n, enum bn_merge_how how, struct bn_result *out,
             struct bn_buf *notes, struct bn_err *err);

/* Returns which of two exit statuses stands for both. */
int bn_merge_join_status(int a, int b);

#endif
