/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of several results are repeats of the same point of a study, and by which options the
   points differ.

   Pure.  Options that say what is reported, how numbers are drawn or where files are do not make
   points: --report, --percentile, --rand-seed, --sqlite-db, …  Secrets are not looked at. */
#ifndef BN_STUDY_POINTS_H
#define BN_STUDY_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/result.h"

/* Names and values are owned. */
struct bn_points {
  char **option; /* names of those by which points differ: "threads"; "test" for that of the run */
  size_t n_options;
  size_t *of;   /* of each result, the number of its point */
  size_t n;     /* points, in the order of their values; numbers by size */
  char **value; /* [n * n_options], as typed; "" where an option had none, or is not known and has
                   no default in the others */
  size_t n_values;
};

/* side: of each result, which of several collections it is of; an option has to differ within one
   of them to make points, because their own difference is what is looked for.  NULL: one
   collection. -1: out of memory.  bn_points_done() in any case. */
int bn_points_find(const struct bn_result *const *result, const size_t *side, size_t n,
                   struct bn_points *out, struct bn_err *err);
void bn_points_done(struct bn_points *p);
/* Whether the option makes no points. */
bool bn_points_ignore(const struct bn_fact_option *o);

#endif
