/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics that a script declares at its top level: sysbench.metrics. */
#ifndef BN_SCRIPT_API_METRICS_H
#define BN_SCRIPT_API_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "api/metric.h"

enum {
  BN_DECLARED_MAX = 64,      /* of a script */
  BN_DECLARED_TIMES_MAX = 8, /* of them histograms, which are large */
  BN_DECLARED_NAME = 32      /* bytes of a name or a unit, at most */
};

struct bn_declared {
  char name[BN_DECLARED_NAME + 1], unit[BN_DECLARED_NAME + 1];
  enum bn_metric_kind kind;
};

/* Written while the main instance executes the top level, constant from then on. */
struct bn_declarations {
  unsigned n, n_times;
  bool closed; /* nothing more can be declared */
  struct bn_declared row[BN_DECLARED_MAX];
  struct bn_metric *table;            /* owned: the workload's metrics and these; NULL: not made */
  unsigned first_counter, first_hist; /* of them, among the metrics of the run */
  uint64_t aside; /* where the main instance counts, which is no part of the load */
};

/* internal.declare_metric(kind, name, unit): the index of the metric among those of its kind that
   the script has declared; or nil and a sentence that says why there is none. */
int bn_metrics_declare(lua_State *L);
/* Nothing more is declared.  Makes the table: the workload's metrics, which end with a NULL name or
   are NULL, and behind them the declared ones; none if none is declared.  0 or -1: out of memory.
 */
int bn_declarations_close(struct bn_declarations *d, const struct bn_metric *workload);
void bn_declarations_done(struct bn_declarations *d);

#endif
