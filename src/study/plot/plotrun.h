/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pictures need of a result: intervals, the percentile curve, and what was run.

   Pure.  Copies, so that many large results need not be in memory together. */
#ifndef BN_STUDY_PLOTRUN_H
#define BN_STUDY_PLOTRUN_H

#include "base/buf.h"
#include "base/err.h"
#include "measure/result.h"
#include "study/plot/chart.h"

enum { BN_PLOT_RANKS = 5 };

/* Parts of the headings; those of the title come first. */
enum bn_plot_tell {
  BN_TELL_WORKLOAD,
  BN_TELL_DATABASE,
  BN_TELL_THREADS,
  BN_TELL_RATE,
  BN_TELL_PROGRAM,
  BN_TELL_HOST,
  BN_TELL_DATE,
  BN_TELLS
};

struct bn_plot_interval {
  double at_s, events_per_s, transactions_per_s;
  double latency_s[BN_PLOT_RANKS]; /* NAN: there was no event, or it is not known */
};

struct bn_plotrun {
  char *file;                        /* owned */
  char *tell[BN_TELLS];              /* owned; "": not known */
  bool sql;                          /* transactions are counted */
  struct bn_plot_interval *interval; /* owned */
  size_t n_intervals;
  double rank[BN_PLOT_RANKS]; /* ascending; 50 is the first and 100, the maximum, the last */
  size_t n_ranks;
  struct bn_chart_series curve; /* latency over 1 / (1 - q); no points: there is no histogram */
};

/* What the headings need alone; 0 or -1: out of memory, and err.  bn_plotrun_done() in any case. */
int bn_plotrun_head(struct bn_plotrun *run, const char *file, const struct bn_result *r,
                    struct bn_err *err);
/* The same with all that is drawn. */
int bn_plotrun_make(struct bn_plotrun *run, const char *file, const struct bn_result *r,
                    struct bn_err *err);
void bn_plotrun_done(struct bn_plotrun *run);
/* Titles a chart by what all runs have in common. */
void bn_plotrun_headings(struct bn_chart *c, const struct bn_plotrun *run, size_t n);

#endif
