/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One metric over the runs of a series: its segments, and the change points between them. */
#ifndef BN_STUDY_TREND_H
#define BN_STUDY_TREND_H

#include "study/history/series.h"
#include "study/stats/edivisive.h"

/* The time for change points grows with the square of the runs: of more, the oldest are left out.
 */
enum { BN_TREND_RUNS = 2000 };

struct bn_segment {
  size_t start, n;
  double median;
  double deviation; /* standard deviation of the sample; 0 for one value */
};

enum bn_turn { BN_TURN_BETTER, BN_TURN_WORSE, BN_TURN_OTHER }; /* other: neither way is better */

struct bn_trend {
  const struct bn_figure_name *metric; /* borrowed, as the runs are */
  const struct bn_series_run **run;    /* that measured it */
  double *value;                       /* of each of these */
  size_t n, unmeasured, too_old;
  struct bn_change *change;
  size_t n_changes;
  struct bn_segment *segment; /* n_changes + 1, or none without values */
};

/* -1 and err: out of memory.  Freed in either case. */
int bn_trend_find(struct bn_trend *t, const struct bn_figure_name *metric, size_t index,
                  const struct bn_series *s, struct bn_err *err);
void bn_trend_done(struct bn_trend *t);
/* Which way change i went, from the median before to that behind. */
enum bn_turn bn_trend_turn(const struct bn_trend *t, size_t i);
/* Whether the last change made the metric worse, and is among the last `runs` runs. */
bool bn_trend_is_regression(const struct bn_trend *t, size_t runs);

#endif
