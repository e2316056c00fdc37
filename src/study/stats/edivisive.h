/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Change points of a series: E-divisive with means.

   D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple Change Point Analysis of
   Multivariate Data", Journal of the American Statistical Association 109 (2014), with alpha = 1
   and one variable.  For benchmarks as in D. Daly et al., "The Use of Change Point Detection to
   Identify Software Performance Regressions in a Continuous Integration System", ICPE 2020.

   A segment is cut where the energy statistic of the values before and behind the cut is largest,
   if a permutation test finds it so large by chance with a probability of at most
   BN_EDIVISIVE_LEVEL.  Each part is then a segment of its own.  The paper tests the largest cut of
   all segments; here each segment is tested by itself, so that noise in one does not hide a change
   in another.  Afterwards each change point is placed anew between its two neighbours.

   Pure: the seed of the permutations is fixed, so that a series always gives the same answer. */
#ifndef BN_STUDY_EDIVISIVE_H
#define BN_STUDY_EDIVISIVE_H

#include <stddef.h>

enum {
  BN_EDIVISIVE_LEAST = 4,          /* values on each side of a change */
  BN_EDIVISIVE_PERMUTATIONS = 1999 /* of a segment */
};
#define BN_EDIVISIVE_LEVEL 0.001

struct bn_change {
  size_t at; /* the first value behind it */
  double p;  /* of the permutation test */
};

/* The change points of n finite values, in ascending order.  change: room for n.  0, or -1: out of
   memory.  The time grows with the square of n: with one change about 10 ms for 100 values, and 5 s
   for 2000. */
int bn_edivisive(const double *value, size_t n, struct bn_change *change, size_t *n_changes);

#endif
