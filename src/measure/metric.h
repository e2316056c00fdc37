/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of metrics as values: who holds one owns its names, so that it outlives the run. */
#ifndef BN_MEASURE_METRIC_H
#define BN_MEASURE_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "api/metric.h"

/* The metrics of a run or result by kind.  Counters begin with those of enum bn_counter, histograms
   with BN_H_LATENCY, labelled counts with BN_L_ERRORS. */
struct bn_metrics {
  size_t n_counters, n_hists, n_labelled;
  struct bn_metric *counter, *hist, *labelled; /* owned: one block, in this order */
  char *names;                                 /* owned: their names and units */
};

/* Copies the metrics of every run and then the workload's: `extra` ends with a NULL name; NULL:
   none. */
void bn_metrics_init(struct bn_metrics *m, const struct bn_metric *extra);
/* Copies n rows of any kinds, which are in order within each kind. */
void bn_metrics_copy_rows(struct bn_metrics *m, const struct bn_metric *rows, size_t n);
void bn_metrics_copy(struct bn_metrics *to, const struct bn_metrics *from);
void bn_metrics_done(struct bn_metrics *m);

/* Returns whether every run has a metric of that name. */
bool bn_metrics_are_fixed(const char *name);
/* Returns the index of the counter of that name, or n_counters if there is none but what a script
   may have declared. */
size_t bn_metrics_counter(const struct bn_metrics *m, const char *name);

#endif
