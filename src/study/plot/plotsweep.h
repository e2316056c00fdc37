/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chart of a sweep: a varied option against rate and latency.

   Pure. */
#ifndef BN_STUDY_PLOTSWEEP_H
#define BN_STUDY_PLOTSWEEP_H

#include "base/err.h"
#include "measure/result.h"
#include "study/plot/chart.h"

/* Results with the same options are repeats of a point, which is drawn as their median with a bar
   from the least to the largest.  On the x axis is the option with the most values, if there is one
   an option of numbers; each combination of the others is a line of its own.  The headings are the
   caller's.  -1 and err: there are too many lines, or
   no memory. */
int bn_plotsweep(struct bn_chart *c, const struct bn_result *const *result, size_t n,
                 struct bn_err *err);

#endif
