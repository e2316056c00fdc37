/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the values of a chart become an axis: from where to where, in which unit, with which marks.

   Pure. */
#ifndef BN_STUDY_AXIS_H
#define BN_STUDY_AXIS_H

#include "study/plot/chart.h"

enum { BN_AXIS_MARKS = 24 };

struct bn_axis {
  bool log;
  double low, high;
  double unit;        /* values of x are divided by it */
  const char *suffix; /* its name, of times */
  struct bn_chart_mark mark[BN_AXIS_MARKS];
  size_t n_marks; /* 0, of x: marks at round numbers, as many as fit */
};

/* Rates begin with 0.  Latencies do too, unless they span more than a factor of 20: then the axis
   is logarithmic.  plain: for few rows of plain text. */
void bn_axis_y(struct bn_axis *a, const struct bn_chart_panel *p, bool plain);
/* The marks of numbers and names are at most `most` and keep a distance. */
void bn_axis_x(struct bn_axis *a, const struct bn_chart *c, size_t most);

#endif
