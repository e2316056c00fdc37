/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of results by the names that users type: "rate", "tps", "p99", "p95@read", "errors". */
#ifndef BN_STUDY_FIGURE_H
#define BN_STUDY_FIGURE_H

#include "measure/assert.h"
#include "measure/result.h"

struct bn_figure_name {
  char text[2 * BN_ASSERT_NAME]; /* as typed */
  bool is_rate;                  /* "rate": transactions/s of a database, else events/s */
  struct bn_assert metric;       /* the parsed name, without a limit; not for "rate" */
  enum bn_better better;
};

/* Reads METRIC [@PART] of measure/assert.h, or "rate".  Returns 0, or -1 and err, which quotes
   the name and says what is wrong. */
int bn_figure_parse(struct bn_figure_name *out, const char *text, struct bn_err *err);
/* Finds the figure of the total of a result's first group, in the unit of bn_figure_unit():
   latencies are in seconds.  Returns false if the run has no total, or did not measure it.  A
   result without histograms (--report-bins=none) has the percentiles of its --percentile only. */
bool bn_figure_find(const struct bn_figure_name *name, const struct bn_result *r, double *value);
/* Returns the unit as in documents: "s", "1/s", "bytes/s", "1". */
const char *bn_figure_unit(const struct bn_figure_name *name);
/* Returns the factor by which tables show a figure in *unit: latencies in ms, which people read
   more easily than seconds.  *unit is "" for a number without a unit. */
double bn_figure_scale(const struct bn_figure_name *name, const char **unit);
/* Judges an assertion (bn_assert_parse) on the total of a stored result.  Without a total the
   finding says that it was not measured. */
struct bn_finding bn_figure_judge(const struct bn_assert *a, const struct bn_result *r);
/* Returns 0 if a run with such a result can measure what an assertion is about, or -1 and err,
   which says what the run lacks, such as a group of that name.  Times of waiting, which are not
   measured in every run, are no lack. */
int bn_figure_check(const struct bn_assert *a, const struct bn_result *r, struct bn_err *err);

#endif
