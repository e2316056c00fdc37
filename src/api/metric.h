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
  BN_SCRIPT_HISTOGRAM,
  /* The metrics of a kind of events, of which a script may name several: the latencies, and four
     counters.  Row k of each is of the same kind of events. */
  BN_EVENT_HISTOGRAM,
  BN_EVENT_ENDED,
  BN_EVENT_RETRIES,
  BN_EVENT_FAILED,
  BN_EVENT_LATE,
  /* The latencies of the events that were due in a phase of --rate-profile. */
  BN_PHASE_HISTOGRAM
};

/* The prefix of the name of a kind of events, wherever a part of a run is named:
   "p99@event:payment".  The histogram of a kind has its prefixed name, "event:payment", and the
   counters are named "events@event:payment" and so on. */
#define BN_EVENT_PART "event:"
/* The prefix of the name of a group of --group, whose events count as a kind of their own: its
   metrics are "group:reads", "events@group:reads" and so on.  No kind of a script or a mix has such
   a name, because its name has letters, digits and underscores only. */
#define BN_GROUP_PART "group:"
enum {
  BN_GROUPS_MAX = 16,                                      /* of a run */
  BN_GROUP_NAME = 32,                                      /* most bytes of a name */
  BN_PART_NAME = sizeof BN_GROUP_PART - 1 + BN_GROUP_NAME, /* the same, of a kind or a group */
  BN_EVENT_KINDS_MAX = 32, /* of a script; each has a histogram, which is large */
  BN_EVENT_KIND_NAME = 32, /* most bytes of a name */
  BN_EVENT_COUNTERS = BN_EVENT_LATE - BN_EVENT_ENDED + 1
};
/* The beginnings of the names of a kind's metrics, in the order of enum bn_metric_kind. */
#define BN_EVENT_METRICS                                                                           \
  {                                                                                                \
    "", "events@", "retries@", "failed_events@", "late_events@"                                    \
  }

/* The prefix of the name of a phase, which is its number, from 1 on: "p99@phase:2".  The name of
   its histogram ends with the text of the phase: "phase:2 hold:5000/5m". */
#define BN_PHASE_PART "phase:"

/* How the counts of several processes are put together. */
enum bn_merge_rule {
  BN_MERGE_SUM,  /* added up */
  BN_MERGE_RATE, /* added up, as rates, each of the span of its process */
  BN_MERGE_MEAN, /* the mean, in which the value of a process weighs as much as a counter of it */
  BN_MERGE_NONE  /* it is of a device, which processes may share: a sum could count it twice */
};

struct bn_metric {
  const char *name; /* "reads", "latency", "fsync_latency"; unique in a run */
  const char *unit; /* "1", "ns", "bytes" */
  enum bn_metric_kind kind;
  enum bn_merge_rule merge; /* of a counter: BN_MERGE_SUM or BN_MERGE_NONE */
  bool of_events;           /* it is of events: those that start in the warm-up do not count */
};

/* The metrics of every run: counters with index, name and unit, histograms and labelled counts with
   index and name.  The counters begin with those of statements, in the order (and with the values)
   of the counter types that scripts name SB_CNT_OTHER … SB_CNT_BYTES_WRITTEN.  Their figures have
   the same names. */
#define BN_METRICS(COUNTER, HISTOGRAM, LABELLED)                                                   \
  COUNTER(BN_C_OTHER, "other", "1")                                                                \
  COUNTER(BN_C_READ, "reads", "1")                                                                 \
  COUNTER(BN_C_WRITE, "writes", "1")                                                               \
  COUNTER(BN_C_EVENTS, "events", "1")                                                              \
  COUNTER(BN_C_ERROR, "errors", "1") /* ignored errors */                                          \
  COUNTER(BN_C_RECONNECT, "reconnects", "1")                                                       \
  COUNTER(BN_C_BYTES_READ, "bytes_read", "bytes")                                                  \
  COUNTER(BN_C_BYTES_WRITTEN, "bytes_written", "bytes")                                            \
  HISTOGRAM(BN_H_LATENCY, "latency")                                                               \
  LABELLED(BN_L_ERRORS, "errors_by_code")

/* Expand a row of a table of metrics to its index, or to nothing. */
#define BN_METRIC_INDEX(index, ...) index,
#define BN_METRIC_OTHER(...)

/* The last member of each enum is the number of its metrics.  The metrics of workloads follow. */
enum bn_counter { BN_METRICS(BN_METRIC_INDEX, BN_METRIC_OTHER, BN_METRIC_OTHER) BN_C_FIXED };
enum { BN_METRICS(BN_METRIC_OTHER, BN_METRIC_INDEX, BN_METRIC_OTHER) BN_H_FIXED };
enum { BN_METRICS(BN_METRIC_OTHER, BN_METRIC_OTHER, BN_METRIC_INDEX) BN_L_FIXED };

/* The value of a counter that cannot be known here (the device of a file on tmpfs): reporters omit
   it.  A sum or difference with it is BN_ABSENT. */
#define BN_ABSENT UINT64_MAX

enum { BN_LABELS_MAX = 64, BN_LABEL_LEN = 128 };

/* The largest number of ranks of --percentile and of times of --report-checkpoints. */
enum { BN_PERCENTS_MAX = 32, BN_CHECKPOINTS_MAX = 256 };

#endif
