/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of metrics as values: a table owns the texts of its rows, so that it outlives the run. */
#ifndef BN_MEASURE_METRIC_H
#define BN_MEASURE_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "api/metric.h"

/* The metrics of a run or result by kind.  Counters begin with those of enum bn_counter, histograms
   with BN_H_LATENCY, labelled counts with BN_L_ERRORS. */
struct bn_metrics {
  size_t n_counters, n_hists, n_labelled;
  struct bn_metric *counter, *hist, *labelled; /* owned: one block of rows, in this order */
  char *names;                                 /* owned: the names and units of all rows */
};

/* Makes a table of copies of metrics: within each kind first those that every run has, then those
   of a workload.  `extra` has these, and ends with a NULL name; NULL: there are none. */
void bn_metrics_init(struct bn_metrics *m, const struct bn_metric *extra);
/* Makes a table of copies of n rows, and nothing else.  Counters, histograms and labelled counts
   may be mixed; within each of these the order stays. */
void bn_metrics_copy_rows(struct bn_metrics *m, const struct bn_metric *rows, size_t n);
void bn_metrics_copy(struct bn_metrics *to, const struct bn_metrics *from);
void bn_metrics_done(struct bn_metrics *m);

/* Returns whether every run has a metric of that name. */
bool bn_metrics_is_fixed(const char *name);
/* Returns the index of the counter of that name, or n_counters if there is none.  A script may
   declare a counter of the same name, which is passed over. */
size_t bn_metrics_find_counter(const struct bn_metrics *m, const char *name);
/* Returns how many of n rows are of a kind. */
size_t bn_metrics_count_kind(const struct bn_metric *rows, size_t n, enum bn_metric_kind kind);
/* Returns the index of row k, from 0 on, of those among n rows that are of a kind, or n if there
   are fewer. */
size_t bn_metrics_find_nth(const struct bn_metric *rows, size_t n, enum bn_metric_kind kind,
                           size_t k);

#endif
