/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics that a script declares at its top level: sysbench.metrics and sysbench.kinds. */
#ifndef BN_SCRIPT_API_METRICS_H
#define BN_SCRIPT_API_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "api/metric.h"

enum {
  BN_DECLARED_MAX = 128,     /* most metrics of a script */
  BN_DECLARED_TIMES_MAX = 8, /* most histograms among them, which are large */
  BN_DECLARED_NAME = 32,     /* most bytes of a name or a unit */
  BN_DECLARED_KIND_METRICS =
      1 + BN_EVENT_COUNTERS /* a kind of events: its histogram and counters */
};

struct bn_declared {
  char name[BN_DECLARED_NAME + 1], unit[BN_DECLARED_NAME + 1];
  enum bn_metric_kind kind;
};

/* A kind of events: "payment", and the names of its metrics. */
struct bn_declared_kind {
  char name[BN_EVENT_KIND_NAME + 1];
  char metric[BN_DECLARED_KIND_METRICS][BN_EVENT_KIND_NAME + sizeof "failed_events@event:"];
};

/* Written while the main instance executes the top level, and constant afterwards. */
struct bn_declarations {
  bool closed; /* no more metrics can be declared */
  unsigned n;
  struct bn_declared row[BN_DECLARED_MAX];
  unsigned n_kinds;
  struct bn_declared_kind kind[BN_EVENT_KINDS_MAX];
  struct bn_metric *table;            /* owned; the workload's metrics and these; NULL: not made */
  unsigned first_counter, first_hist; /* indices of the first ones among the metrics of the run */
  uint64_t main_count; /* counter of the main instance, which is no part of the load */
};

/* internal.declare_metric(kind, name, unit): declares a metric, unless it is declared already with
   that kind and unit.  Returns its index among the declared metrics of its kind; or nil and a
   sentence that says why it cannot be declared. */
int bn_metrics_declare(lua_State *L);
/* internal.declare_kind(name): declares a kind of events, unless it is declared already.  Returns
   its number, from 1 on; or nil and a sentence that says why it cannot be declared. */
int bn_metrics_declare_kind(lua_State *L);
/* internal.kinds(): returns a list of the names of the declared kinds, in the order of their
   numbers. */
int bn_metrics_list_kinds(lua_State *L);
/* Ends the declarations, after which none is accepted.  If there are any, makes d->table of the
   workload's metrics (NULL: none), the declared ones and those of the kinds of events; a row with a
   NULL name ends both tables. */
void bn_declarations_close(struct bn_declarations *d, const struct bn_metric *workload);
/* Frees what bn_declarations_close has made. */
void bn_declarations_done(struct bn_declarations *d);

#endif
