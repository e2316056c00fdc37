/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judging a difference several times while its pairs are measured, with a bound on all errors
   together.

   Pure.  The error of all looks is spent by the power family of Kim and DeMets (1987, Design and
   analysis of group sequential tests based on the type I error spending rate function, Biometrika
   74) with the exponent 2, in the way of Lan and DeMets (1983, Discrete sequential boundaries for
   clinical trials, Biometrika 70).  The boundary follows by the recursive integration of Armitage,
   McPherson and Rowe (1969, Repeated significance tests on accumulating data, JRSS A 132), as
   Jennison and Turnbull (2000, Group Sequential Methods with Applications to Clinical Trials,
   chapter 19) have it.  Its nominal levels are those of the paired t tests of
   study/stats/compare.h, whose intervals then are repeated confidence intervals (Jennison and
   Turnbull 1989, Interim analyses: the repeated confidence interval approach, JRSS B 51). */
#ifndef BN_STUDY_SEQUENTIAL_H
#define BN_STUDY_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "study/stats/compare.h"

enum { BN_LOOKS = 5, BN_LOOKS_PAIRS = 32 };

/* After how many pairs a study is judged. */
extern const unsigned bn_looks_pairs[BN_LOOKS];

/* One-sided levels of n looks, the k-th of them after pairs[k] independent pairs, ascending: tests
   at these levels are false with the probability spent[k] at or before look k. */
void bn_sequential_levels(const double *spent, const unsigned *pairs, size_t n, double *level);
/* Those of the looks of a study, for an error of at most 1 % on each side. */
void bn_looks_levels(double level[BN_LOOKS]);

/* Measurements of pairs, > 0. */
struct bn_look_values {
  double *a, *b, *again; /* sides A and B, and A once more */
  enum bn_better better; /* BN_BETTER_MORE or BN_BETTER_LESS */
  double same;           /* as in struct bn_compare_rules */
};

/* A study after so many pairs. */
struct bn_look {
  size_t pairs;
  struct bn_compare_found b, again; /* side B against A, A against itself */
  enum bn_compare_verdict verdict;  /* on B; without regard to `steady` */
  bool steady;                      /* A is neither better nor worse than itself */
};

/* level: one-sided.  The intervals of all looks of a study together have one bound that is wrong
   with a probability of at most 1 %, and so has each verdict. */
struct bn_look bn_look_at(const struct bn_look_values *v, size_t pairs, double level);

#endif
