/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of reporters: what they are told, with every number already computed. */
#ifndef BN_API_REPORT_H
#define BN_API_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "api/opt.h"
#include "api/workload.h"
#include "base/err.h"

struct bn_snap; /* measure/snap.h */
struct bn_hist; /* base/hist.h */
struct bn_run;  /* engine/run.h */

/* Statistics of one session, for --debug. */
struct bn_session_view {
  double min_s, avg_s, max_s, busy_s;
  uint64_t events;
};

/* Everything a format may print about a span of time. */
struct bn_view {
  const struct bn_snap *delta;       /* raw counters and histograms of the span */
  enum bn_kind kind;                 /* BN_KIND_SQL once any database driver was initialised */
  enum bn_version version;           /* dialect */
  const uint64_t *counter;           /* delta's, by enum bn_counter and the workload's metrics */
  const struct bn_hist *latency;     /* delta's */
  double at_s;                       /* since the start of the measurement (after warm-up) */
  double span_s;                     /* covered by this view: what rates divide by; > 0 */
  const double *percents;            /* ranks as typed; the first is what interval lines print */
  const double *percentile_s;        /* their values; 0 without events; HUGE_VAL: overflow */
  size_t n_percents;                 /* 0: --percentile=0 */
  double min_s, avg_s, max_s, sum_s; /* 0 without events */
  uint64_t events;
  unsigned running;                        /* sessions still in their loop */
  uint64_t unfinished;                     /* forced shutdown only: events in flight */
  bool paced;                              /* --rate */
  uint64_t backlog, concurrency;           /* --rate: arrivals waiting, events being executed */
  double fair_events_avg, fair_events_dev; /* population standard deviation over sessions */
  double fair_time_avg, fair_time_dev;     /* seconds */
  const struct bn_figure *figures;
  size_t n_figures;
  const struct bn_session_view *sessions; /* checkpoints and total with --debug only; else NULL */
  size_t n_sessions;
  bool replaced; /* another reporter prints this instead (a script's hook): text keeps
                    headings that the reference keeps, nothing else */
  bool final;    /* the last one of the run */
};

/* Which views a reporter prints in place of the text report. */
enum { BN_REPLACES_INTERVAL = 1, BN_REPLACES_TOTAL = 2 };

struct bn_reporter {
  const char *name; /* "text", "json", "csv" */
  const struct bn_opt *options;
  size_t conf_size, state_size;
  unsigned replaces;
  /* out is borrowed and stays open until close has returned. */
  int (*open)(void *self, const void *conf, FILE *out, struct bn_err *err);
  void (*begin)(void *self, const struct bn_run *run); /* header, before the workload's describe */
  void (*starting)(void *self,
                   const struct bn_run *run); /* after describe, before the first worker */
  void (*started)(void *self, const struct bn_run *run); /* the gate has opened */
  int (*interval)(void *self, const struct bn_view *v, struct bn_err *err);
  int (*checkpoint)(void *self, const struct bn_view *v, struct bn_err *err);
  void (*ended)(void *self); /* no interval or checkpoint comes any more; before total */
  int (*total)(void *self, const struct bn_view *v, struct bn_err *err);
  /* After a checkpoint or total with v->replaced: who should have printed it has failed. */
  int (*instead)(void *self, const struct bn_view *v, struct bn_err *err);
  int (*close)(void *self, struct bn_err *err); /* reports write errors */
};

#endif
