/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison of two sides as a value: every figure at every point, with its verdict.

   Pure.  The first figure is the primary one.  Its tests at all points are one family, those of the
   other figures at all points are a second one, and those that decide the exit status are a third;
   each family has its own Holm adjustment, so that each errs with the probability alpha. */
#ifndef BN_STUDY_COMPARISON_H
#define BN_STUDY_COMPARISON_H

#include "study/compare/side.h"
#include "study/points.h"
#include "study/stats/compare.h"

struct bn_comparison_rules {
  double alpha, same; /* struct bn_compare_rules */
  bool stationary;    /* runs that are not interleaved are compared by ranks */
  /* Of each figure: whether it fails the comparison, and how much worse it may be. */
  bool fails[BN_SIDE_FIGURES_MAX];
  double limit[BN_SIDE_FIGURES_MAX];
};

struct bn_comparison_row {
  size_t figure;
  bool measured; /* on both sides */
  bool hidden;   /* nobody asked for it, and it is 0 in every run */
  struct bn_compare_found found;
  enum bn_compare_verdict verdict;
  size_t more;  /* bn_compare_more(), where the verdict is that it cannot be told */
  bool failing; /* it is worse by more than its limit */
};

enum bn_comparison_how {
  BN_COMPARISON_PAIRED,
  BN_COMPARISON_STATIONARY, /* not interleaved; nothing is assumed to drift */
  BN_COMPARISON_APART,      /* not interleaved: nothing can be told */
  BN_COMPARISON_MISSING     /* one side has no run that counts */
};

struct bn_comparison_point {
  size_t point; /* its number */
  enum bn_comparison_how how;
  size_t n_a, n_b;               /* runs that count; of pairs, those whose other run counts too */
  bool one_order;                /* all pairs began with the same side */
  struct bn_comparison_row *row; /* owned; one for each figure */
};

struct bn_comparison {
  struct bn_comparison_point *point; /* owned */
  size_t n, n_figures;
  bool failing; /* a row is */
};

/* The points are of the runs of A and behind them those of B.  What is given is borrowed.  -1: out
 * of memory; bn_comparison_done() is to be called in any case.
 */
int bn_comparison_make(const struct bn_side *a, const struct bn_side *b,
                       const struct bn_side_figures *figures, const struct bn_points *points,
                       const struct bn_comparison_rules *rules, struct bn_comparison *out,
                       struct bn_err *err);
void bn_comparison_done(struct bn_comparison *c);

#endif
