/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a configuration that reports show, and documents keep. */
#ifndef BN_API_PLAN_H
#define BN_API_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/metric.h"
#include "api/opt.h"

struct bn_metrics; /* measure/metric.h */

/* In limits, times and lists 0 stands for none, unlimited or off.  Times are in nanoseconds. */
struct bn_plan {
  enum bn_version version; /* dialect of the texts */
  int verbosity;           /* enum bn_level of base/log.h */
  unsigned threads;
  uint64_t events, time_ns, warmup_ns, interval_ns;
  int interval_decimals;                      /* digits that time stamps need */
  uint64_t checkpoint_ns[BN_CHECKPOINTS_MAX]; /* ascending, since the end of the warm-up */
  size_t n_checkpoints;
  double percents[BN_PERCENTS_MAX]; /* [0] the first one typed, then the others ascending */
  size_t n_percents;
  double rate;        /* events/s */
  bool forced;        /* --forced-shutdown with a time limit */
  uint64_t forced_ns; /* with `forced`: how long after the time limit the run is ended */
  bool debug, validate, histogram;
  bool watch_lines; /* the figures of --watch are printed under each interval */
  bool kind_lines;  /* the kinds of events are printed under each interval */
  bool seed_given;
  bool native;          /* the report of bench's own form, which `version` does not tell */
  int64_t seed_typed;   /* as given; of no meaning without seed_given */
  uint64_t seed;        /* the run's, once it is known; 0: several, in merged results */
  bool seed_from_timer; /* --rand-init of 0.5 */
  /* The metrics of the run; borrowed.  Not part of a document's plan: its records have them.  NULL:
     not known yet. */
  const struct bn_metrics *metrics;
};

#endif
