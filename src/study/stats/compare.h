/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on one figure of two sides, A and B, from its values in several runs.

   Pure.  The statistics and their sources are in study/stats/stats.h. */
#ifndef BN_STUDY_COMPARE_H
#define BN_STUDY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/figure.h"
#include "study/stats/stats.h"

enum bn_compare_verdict {
  BN_COMPARE_UNKNOWN, /* cannot tell */
  BN_COMPARE_BETTER,
  BN_COMPARE_WORSE,
  BN_COMPARE_SAME, /* within the margin */
  BN_COMPARE_EQUAL /* there is no difference at all */
};

enum bn_compare_method {
  BN_COMPARE_FEW,   /* none: there are too few values */
  BN_COMPARE_T,     /* paired t of ln (B / A), without the drift */
  BN_COMPARE_SIGNS, /* of pairs, where a value is not positive and has no logarithm */
  BN_COMPARE_RANKS  /* Mann-Whitney, of values that are not paired */
};

/* Values of a figure. */
struct bn_compare_sample {
  double *a, *b;           /* of pairs, a[i] belongs to b[i]; else the arrays are used up */
  const double *a_s, *b_s; /* pairs: when each run began, s, from any origin; NULL: drift is none */
  size_t n_a, n_b;         /* pairs: alike */
  bool paired;
  enum bn_better better; /* BN_BETTER_MORE or BN_BETTER_LESS */
};

struct bn_compare_rules {
  double alpha; /* of each one-sided test: 0.01 */
  double same;  /* the margin: 0.05 means that B is from 0.95 to 1.05 times A */
  double limit; /* how much worse a figure may be: 0.03 is 3 %; below 1 where more is better */
};

struct bn_compare_found {
  enum bn_compare_method method;
  size_t n_a, n_b;
  bool paired;
  double a, b;    /* geometric means; arithmetic ones if a value is not positive */
  bool has_ratio; /* of B to A */
  bool has_interval;
  double ratio;                /* without the drift */
  struct bn_interval interval; /* of the ratio; each end is passed with the probability alpha */
  double noise;                /* standard deviation of ln (B / A) of one pair; 0: not known */
  double drift_per_s;          /* of ln, that was taken off */
  bool all_equal;              /* all values of both sides */
  /* Whether B is worse, better, and worse by more than the limit.  adjusted: as p, until the caller
     adjusts it. */
  struct bn_test worse, better, beyond;
};

/* The fewest pairs, or values of each side, from which a verdict can come. */
enum { BN_COMPARE_PAIRS_MIN = 4 };

void bn_compare_measure(const struct bn_compare_sample *s, const struct bn_compare_rules *rules,
                        struct bn_compare_found *out);
/* After the tests were adjusted. */
enum bn_compare_verdict bn_compare_judge(const struct bn_compare_found *f,
                                         const struct bn_compare_rules *rules);

#endif
