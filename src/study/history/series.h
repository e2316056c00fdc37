/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stored results as series: runs of the same test with the same options, in the order of time. */
#ifndef BN_STUDY_SERIES_H
#define BN_STUDY_SERIES_H

#include "api/opt.h"
#include "study/figure.h"
#include "study/points.h"

/* Facts that may explain a change. */
enum { BN_SERIES_FACTS = 6 };
extern const char *const bn_series_fact_names[BN_SERIES_FACTS]; /* "server version" */

struct bn_series_run {
  char *path;
  uint64_t start_wall_ns;
  char *fact[BN_SERIES_FACTS]; /* NULL: not known */
  double *value;               /* of each metric; NAN: the run did not measure it */
  struct bn_result about;      /* the name of the test and the options, without ignored ones */
  size_t point;
};

/* Borrowed from the set. */
struct bn_series {
  const char *test;
  struct bn_series_run *run; /* at least one */
  size_t n;
};

/* A result that belongs to no series. */
struct bn_series_left {
  char *path, *why; /* why: a sentence with the path */
};

/* What is asked for is borrowed, the rest is owned. */
struct bn_series_set {
  const struct bn_figure_name *metric;
  size_t n_metrics;
  const struct bn_list *ignored; /* options that make no series of their own */
  bn_opt_traits_of *traits_of;   /* of options in documents of older versions */
  bool *met;                     /* of each of them, whether a run has it */
  struct bn_series_run *run;     /* by series */
  size_t n_runs;
  struct bn_series *series; /* in the order of bn_points */
  size_t n;
  struct bn_points points;
  struct bn_series_left *left;
  size_t n_left;
};

/* Reads files, and of each folder the *.json in it and in its folder "runs".  A file of a folder
   that is no result is left out, and so is each run that failed, measured nothing, has no time, or
   is there twice.  -1 and err. */
int bn_series_read(struct bn_series_set *set, const char *const *operand, struct bn_err *err);
/* Adds the test and " --NAME=VALUE" for each option by which the series differ or, if `all`, for
   each that was given and makes points.  It quotes files. */
void bn_series_name(const struct bn_series_set *set, const struct bn_series *s, bool all,
                    struct bn_buf *out);
void bn_series_done(struct bn_series_set *set);

#endif
