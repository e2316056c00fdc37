/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a sweep as files and on the terminal.

   DIR/table.json, version 1:

     {"format": "bench sweep table", "version": 1,
      "command": [TEXT],             the command line of the run, without secrets
      "repeat": N, "seed": N,
      "vary": [{"option": NAME, "values": [TEXT]}],   in the order of the command line
      "rate": NAME,                  what "rate" is: "transactions_per_s" or "events_per_s"; null:
   no run has ended well "points": [POINT],             all of them; the first option changes
   slowest "best": N,                     index of the point with the highest median of rate; null:
   none "usl": [FIT]}                  over "threads"; empty: fewer than 4 values were measured

   A POINT is one combination of values:

     {"values": {NAME: TEXT},
      "state": TEXT,                 "measured": at least one run ended well; "failed": none of its
                                     runs did; "left out": by --stop-when, before its first run;
                                     "pending": its first run has not been made
      "n": N, "failed": N, "left_out": N,   of its runs
      "stops": BOOL,                 --stop-when holds for the median of its runs
      "runs": [TEXT],                files of those that ended well, below DIR, in the order of the
                                     values: "runs/0007.json"
      "figures": {NAME: FIGURE}}

   The names are "rate", "p50_s", "p95_s", "p99_s", and those of the columns of csv-total
   (measure/row.h) that are figures of the total: "avg_s", "errors_per_s"; and those that
   only one kind of test has, behind "test_": "test_ns_per_load".  Units are in the names;
   "rate" is in 1/s.  A FIGURE is of the runs that ended well:

     {"n": N, "median": X, "min": X, "max": X, "values": [X]}   null in "values": not measured

   A FIT is of the points that differ in "threads" alone:

     {"values": {NAME: TEXT},        what those points have in common
      "n": N, "threads": [X], "rate": [X],   what was fitted: medians
      "gamma": BOUND, "alpha": BOUND, "beta": BOUND,
      "peak": {"threads": BOUND, "rate": X},   null: the fit has no peak
      "r_squared": X}

   A BOUND is {"value": X, "low": X, "high": X}, the limits being those of the 95 % confidence
   interval; null: there is none. */
#ifndef BN_STUDY_TABLE_H
#define BN_STUDY_TABLE_H

#include "api/store.h"
#include "base/buf.h"
#include "study/invocation.h"
#include "study/sweep/fits.h"
#include "study/sweep/tally.h"

/* What a table is of; all is borrowed. */
struct bn_table {
  const struct bn_tally *tally;
  const struct bn_fits *fits;
  const struct bn_invocation *command;
  size_t repeats;
  uint64_t seed;
};

/* NULL: out of memory. */
struct bn_node *bn_table_document(const struct bn_table *t, const struct bn_store *js);
/* A row for each point: the values, the numbers of runs, and of the rate, the mean latency, the
   percentiles and errors_per_s the median, the least and the largest value.  -1: out of memory. */
int bn_table_csv(const struct bn_table *t, struct bn_buf *out);
/* For the terminal, at most 100 columns wide; -1: out of memory. */
int bn_table_text(const struct bn_table *t, struct bn_buf *out);

#endif
