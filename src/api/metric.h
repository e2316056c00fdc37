/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics, as data: counters, histograms and labelled counts, addressed by index. */
#ifndef BN_API_METRIC_H
#define BN_API_METRIC_H

#include <stdbool.h>
#include <stdint.h>

/* The kind of a metric.  No part of the program looks for a metric of a script by its name. */
enum bn_metric_kind {
  BN_COUNTER,
  BN_HISTOGRAM,
  BN_LABELLED,
  BN_SCRIPT_COUNTER,
  BN_SCRIPT_HISTOGRAM
};

/* How what several processes count is put together. */
enum bn_merge_rule {
  BN_MERGE_SUM,  /* added up */
  BN_MERGE_RATE, /* added up, as a rate of each one's span */
  BN_MERGE_MEAN, /* the mean, in which each weighs as much as a counter of its own */
  BN_MERGE_NONE  /* it is of a device, which may be the same for several: nobody knows a sum */
};

struct bn_metric {
  const char *name; /* "reads", "latency", "fsync_latency"; unique in a run */
  const char *unit; /* "1", "ns", "bytes" */
  enum bn_metric_kind kind;
  enum bn_merge_rule merge; /* of a counter: BN_MERGE_SUM or BN_MERGE_NONE */
  bool of_events;           /* a counter of events: those that start in the warm-up do not count */
};

/* Counters of every run, those of statements first, in the order (and with the values) of the
   counter types that scripts name SB_CNT_OTHER … SB_CNT_BYTES_WRITTEN. */
enum bn_counter {
  BN_C_OTHER,
  BN_C_READ,
  BN_C_WRITE,
  BN_C_EVENTS,
  BN_C_ERROR, /* ignored errors */
  BN_C_RECONNECT,
  BN_C_BYTES_READ,
  BN_C_BYTES_WRITTEN,
  BN_C_FIXED /* number of the counters above; counters of workloads follow */
};

/* Histogram 0 of every run is the event latency. */
enum { BN_H_LATENCY, BN_H_FIXED };

/* The value of a counter that cannot be known here (the device of a file on tmpfs): reporters omit
   it.  A sum or difference with it is BN_ABSENT. */
#define BN_ABSENT UINT64_MAX

enum { BN_LABELS_MAX = 64, BN_LABEL_LEN = 128 };

/* The largest number of ranks of --percentile and of times of --report-checkpoints. */
enum { BN_PERCENTS_MAX = 32, BN_CHECKPOINTS_MAX = 256 };

#endif
