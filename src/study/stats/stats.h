/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics by which two series of measurements are compared.

   Pure.  On logarithms, so that a difference is a ratio and the noise of fast and slow runs is
   alike.  Sources:

   - paired t: Student (1908), "The Probable Error of a Mean", Biometrika 6:1-25.
   - drift as a straight line that is estimated apart from the difference: Cox (1951), "Some
     Systematic Experimental Designs", Biometrika 38:312-323; the degrees of freedom of the sum of
     both errors: Satterthwaite (1946), "An Approximate Distribution of Estimates of Variance
     Components", Biometrics Bulletin 2:110-114.
   - signs: Dixon and Mood (1946), "The Statistical Sign Test", JASA 41:557-566.
   - ranks: Mann and Whitney (1947), "On a Test of Whether one of Two Random Variables is
     Stochastically Larger than the Other", Annals of Mathematical Statistics 18:50-60; the
   interval: Hodges and Lehmann (1963), "Estimates of Location Based on Rank Tests", ibid.
   34:598-611.
   - equivalence (two one-sided tests): Schuirmann (1987), "A Comparison of the Two One-Sided Tests
     Procedure and the Power Approach for Assessing the Equivalence of Average Bioavailability",
     Journal of Pharmacokinetics and Biopharmaceutics 15:657-680.
   - several tests at once: Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure",
     Scandinavian Journal of Statistics 6:65-70. */
#ifndef BN_STUDY_STATS_H
#define BN_STUDY_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Each pair has a measurement of A and one of B, which are close in time. */
struct bn_pairs {
  const double *a, *b; /* > 0 */
  const double *a_s,
      *b_s; /* when each was made, s, from any origin; NULL: no drift is looked for */
  size_t n; /* >= 2 */
};

/* Of ln (B / A). */
struct bn_estimate {
  double mean, error; /* the mean, and its standard error */
  double dof;         /* of the error */
  double noise;       /* standard deviation of one pair */
  double drift_per_s; /* that was taken off: of ln A and ln B alike */
};

struct bn_interval {
  double low, high;
};

/* The noise of a pair is taken for at least 0.0004, which is what the 0.1 % between buckets of a
   histogram make of it. */
void bn_stats_paired(const struct bn_pairs *pairs, struct bn_estimate *out);
/* The probability of such an estimate or a larger one if the true mean is `limit`. */
double bn_stats_above(const struct bn_estimate *e, double limit);
/* Each end is passed by the true mean with the probability alpha. */
struct bn_interval bn_stats_interval(const struct bn_estimate *e, double alpha);

/* The probability of so many or more of n fair coins on one side; above 1,000 by the normal
   distribution with its correction for continuity. */
double bn_stats_signs(size_t more, size_t n);

/* Two series that are not paired, each in ascending order. */
struct bn_ranked {
  const double *a, *b;
  size_t n_a, n_b;
};

/* The probability of such a B or a larger one if both series come from one distribution: exact for
   n_a * n_b <= 400 without ties, else by the normal distribution with its corrections for ties and
   for continuity. */
double bn_stats_rank_above(const struct bn_ranked *r);
/* The median of all differences b - a. */
double bn_stats_shift(const struct bn_ranked *r);
/* Of the shift, as bn_stats_interval().  false: there are too few for any. */
bool bn_stats_shift_interval(const struct bn_ranked *r, double alpha, struct bn_interval *out);

/* A test, among others. */
struct bn_test {
  double p;        /* one-sided */
  double adjusted; /* after Holm: not above alpha means rejected */
};

double bn_stats_mean(const double *x, size_t n);
/* Ascending; no value is NaN. */
void bn_stats_sort(double *x, size_t n);
/* Of sorted values, one or more. */
double bn_stats_median(const double *x, size_t n);
/* Of a sample: the divisor is n - 1. */
double bn_stats_deviation(const double *x, size_t n);

#endif
