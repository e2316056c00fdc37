/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goodness of fit: how unlikely a sample is under a stated law. */
#ifndef BN_TESTS_GOODNESS_H
#define BN_TESTS_GOODNESS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Chi-square of n cells with probabilities p against counts, as a standard normal deviate (Wilson
   and Hilferty): above 4 the law is wrong, or one chance in 30,000.  Neighbouring cells that expect
   less than 10 are joined.  A count where p is 0 gives INFINITY. */
static inline double chi_square_z(size_t n, const double *p, const uint64_t *count)
{
  double total = 0, chi = 0, expected = 0, seen = 0, df = -1;

  for (size_t i = 0; i < n; i++)
    total += (double)count[i];
  for (size_t i = 0; i < n; i++) {
    if (p[i] <= 0 && count[i] != 0)
      return INFINITY;
    expected += p[i] * total;
    seen += (double)count[i];
    if (expected >= 10) {
      chi += (seen - expected) * (seen - expected) / expected;
      expected = seen = 0;
      df++;
    }
  }
  if (expected > 0.5) {
    chi += (seen - expected) * (seen - expected) / fmax(expected, 10);
    df++;
  }
  if (df < 1)
    return INFINITY; /* a test that cannot fail is none */
  return (cbrt(chi / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df));
}

static inline int compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov statistic times sqrt(n): above 2.3 once in 20,000 true samples.  u are values
   of the law's distribution function; they get sorted. */
static inline double ks_of_uniform(double *u, size_t n)
{
  double d = 0;

  qsort(u, n, sizeof u[0], compare_doubles);
  for (size_t i = 0; i < n; i++) {
    d = fmax(d, (double)(i + 1) / (double)n - u[i]);
    d = fmax(d, u[i] - (double)i / (double)n);
  }
  return d * sqrt((double)n);
}

#endif
