/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Charts of single runs, one or several beside each other.

   Pure. */
#ifndef BN_STUDY_PLOTCHARTS_H
#define BN_STUDY_PLOTCHARTS_H

#include "study/plot/plotrun.h"

/* Rate and latency by interval.  -1 and err: a run has no intervals, or there is no memory. */
int bn_plotcharts_time(struct bn_chart *c, const struct bn_plotrun *run, size_t n,
                       struct bn_err *err);
/* Latency by quantile.  -1 and err: a run has no histogram, or there is no memory. */
int bn_plotcharts_latency(struct bn_chart *c, const struct bn_plotrun *run, size_t n,
                          struct bn_err *err);

#endif
