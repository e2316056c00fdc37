/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics that a script declares at its top level: sysbench.metrics. */
#ifndef BN_SCRIPT_API_METRICS_H
#define BN_SCRIPT_API_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "api/metric.h"

enum {
  BN_DECLARED_MAX = 64,      /* most metrics of a script */
  BN_DECLARED_TIMES_MAX = 8, /* most histograms among them, which are large */
  BN_DECLARED_NAME = 32      /* most bytes of a name or a unit */
};

struct bn_declared {
  char name[BN_DECLARED_NAME + 1], unit[BN_DECLARED_NAME + 1];
  enum bn_metric_kind kind;
};

/* Written while the main instance executes the top level, and constant afterwards. */
struct bn_declarations {
  unsigned n, n_times;
  bool closed; /* no more metrics can be declared */
  struct bn_declared row[BN_DECLARED_MAX];
  struct bn_metric *table;            /* owned; the workload's metrics and these; NULL: not made */
  unsigned first_counter, first_hist; /* indices of the first ones among the metrics of the run */
  uint64_t main_count; /* counter of the main instance, which is no part of the load */
};

/* internal.declare_metric(kind, name, unit): returns the index of the metric among the declared
   ones of its kind; or nil and a sentence that says why it cannot be declared. */
int bn_metrics_declare(lua_State *L);
/* Ends the declarations and makes the table: the workload's metrics, which end with a NULL name or
   are NULL, then the declared ones; none if none is declared. */
void bn_declarations_close(struct bn_declarations *d, const struct bn_metric *workload);
void bn_declarations_done(struct bn_declarations *d);

#endif
