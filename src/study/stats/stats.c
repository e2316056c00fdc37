/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests and intervals for paired and unpaired series of measurements. */
#include "study/stats/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "study/stats/student.h"

enum { COINS_EXACT = 1000 };

static const double least_noise = 4e-4;

double bn_stats_mean(const double *x, size_t n)
{
  double sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += x[i];
  return sum / (double)n;
}

double bn_stats_deviation(const double *x, size_t n)
{
  const double mean = bn_stats_mean(x, n);
  double squares = 0;

  for (size_t i = 0; i < n; i++)
    squares += (x[i] - mean) * (x[i] - mean);
  return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* A straight line through the means of pairs over time. */
struct line {
  double slope, variance; /* of the slope */
  double dof;             /* 0: there is no line */
};

static double level(const struct bn_pairs *p, size_t i)
{
  return (log(p->a[i]) + log(p->b[i])) / 2;
}

static double when(const struct bn_pairs *p, size_t i)
{
  return (p->a_s[i] + p->b_s[i]) / 2;
}

static double ratio(const struct bn_pairs *p, size_t i)
{
  return log(p->b[i]) - log(p->a[i]);
}

static double lag(const struct bn_pairs *p, size_t i)
{
  return p->a_s != NULL ? p->b_s[i] - p->a_s[i] : 0;
}

/* The mean of a pair says nothing about its difference, so that the slope is independent of it. */
static struct line drift_of(const struct bn_pairs *p)
{
  double at = 0, mean = 0, sxx = 0, sxy = 0, syy = 0;
  struct line l = {.dof = 0};

  if (p->a_s == NULL || p->n < 3)
    return l;
  for (size_t i = 0; i < p->n; i++) {
    at += when(p, i) / (double)p->n;
    mean += level(p, i) / (double)p->n;
  }
  for (size_t i = 0; i < p->n; i++) {
    const double x = when(p, i) - at, y = level(p, i) - mean;

    sxx += x * x;
    sxy += x * y;
    syy += y * y;
  }
  if (sxx <= 0)
    return l;
  l.dof = (double)p->n - 2;
  l.slope = sxy / sxx;
  l.variance = fmax(syy - l.slope * sxy, 0) / l.dof / sxx;
  return l;
}

void bn_stats_paired(const struct bn_pairs *p, struct bn_estimate *out)
{
  const struct line drift = drift_of(p);
  const double n = (double)p->n;
  double lags = 0, squares = 0, of_pairs, of_drift;

  *out = (struct bn_estimate){.drift_per_s = drift.slope, .dof = n - 1};
  for (size_t i = 0; i < p->n; i++) {
    out->mean += (ratio(p, i) - drift.slope * lag(p, i)) / n;
    lags += lag(p, i) / n;
  }
  for (size_t i = 0; i < p->n; i++) {
    const double d = ratio(p, i) - drift.slope * lag(p, i) - out->mean;

    squares += d * d;
  }
  out->noise = fmax(sqrt(squares / (n - 1)), least_noise);
  of_pairs = out->noise * out->noise / n;
  of_drift = drift.variance * lags * lags;
  out->error = sqrt(of_pairs + of_drift);
  if (drift.dof > 0)
    out->dof = pow(of_pairs + of_drift, 2) /
               (of_pairs * of_pairs / (n - 1) + of_drift * of_drift / drift.dof);
}

double bn_stats_above(const struct bn_estimate *e, double limit)
{
  return bn_student_cdf((limit - e->mean) / e->error, e->dof);
}

struct bn_interval bn_stats_interval(const struct bn_estimate *e, double alpha)
{
  const double half = bn_student_quantile(1 - alpha, e->dof) * e->error;

  return (struct bn_interval){e->mean - half, e->mean + half};
}

double bn_stats_signs(size_t more, size_t n)
{
  double term = exp2(-(double)n), sum = 0;

  /* 0.5^n comes near to 0. */
  if (n > COINS_EXACT)
    return bn_normal_cdf(((double)n - 2 * (double)more + 1) / sqrt((double)n));
  for (size_t k = 0; k + more <= n; k++) {
    sum += term;
    term *= (double)(n - k) / (double)(k + 1);
  }
  return fmin(sum, 1);
}

/* --- ranks ------------------------------------------------------------------------------------ */

enum { EXACT_MAX = 400 };

/* ways[u]: in how many orders of n_a and n_b things the statistic is u; their number is returned.
   The generating function is the Gaussian binomial coefficient: the product over i of
   (1 - q^(n_b + i)) / (1 - q^i). */
static double count_orders(size_t n_a, size_t n_b, double ways[EXACT_MAX + 1])
{
  const size_t top = n_a * n_b;
  double all = 0;

  for (size_t u = 0; u <= top; u++)
    ways[u] = u == 0;
  for (size_t i = 1; i <= n_a; i++) {
    for (size_t u = top; u >= n_b + i; u--)
      ways[u] -= ways[u - n_b - i];
    for (size_t u = i; u <= top; u++)
      ways[u] += ways[u - i];
  }
  for (size_t u = 0; u <= top; u++)
    all += ways[u];
  return all;
}

static bool is_small(const struct bn_ranked *r)
{
  return r->n_a <= EXACT_MAX && r->n_b <= EXACT_MAX && r->n_a * r->n_b <= EXACT_MAX;
}

/* P (U <= u) */
static double exact_below(const struct bn_ranked *r, size_t u)
{
  double ways[EXACT_MAX + 1], sum = 0;
  const double all = count_orders(r->n_a, r->n_b, ways);

  for (size_t k = 0; k <= u && k <= r->n_a * r->n_b; k++)
    sum += ways[k];
  return sum / all;
}

/* The pairs in which A is larger; of ties half.  *ties: the sum of t^3 - t over groups of t equal
   values. */
static double count_a_above(const struct bn_ranked *r, double *ties)
{
  double above = 0;
  size_t i = 0, k = 0;

  *ties = 0;
  while (i < r->n_a || k < r->n_b) {
    const double x = k == r->n_b || (i < r->n_a && r->a[i] <= r->b[k]) ? r->a[i] : r->b[k];
    const size_t below = k;
    double in_a = 0, in_b = 0, t;

    for (; i < r->n_a && r->a[i] <= x; i++)
      in_a++;
    for (; k < r->n_b && r->b[k] <= x; k++)
      in_b++;
    above += in_a * ((double)below + in_b / 2);
    t = in_a + in_b;
    *ties += t * t * t - t;
  }
  return above;
}

double bn_stats_rank_above(const struct bn_ranked *r)
{
  const double n_a = (double)r->n_a, n_b = (double)r->n_b, n = n_a + n_b;
  double ties, variance;
  const double u = count_a_above(r, &ties);

  if (ties <= 0 && is_small(r))
    return exact_below(r, (size_t)u);
  variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0)
    return 1; /* all are equal */
  return bn_normal_cdf((u + 0.5 - n_a * n_b / 2) / sqrt(variance));
}

/* How many differences b - a are x or less. */
static size_t count_up_to(const struct bn_ranked *r, double x)
{
  size_t count = 0, k = 0;

  for (size_t i = 0; i < r->n_a; i++) {
    while (k < r->n_b && r->b[k] - r->a[i] <= x)
      k++;
    count += k;
  }
  return count;
}

/* The difference number k of all in ascending order; the first is 1. */
static double difference(const struct bn_ranked *r, size_t k)
{
  double low = r->b[0] - r->a[r->n_a - 1], high = r->b[r->n_b - 1] - r->a[0];

  if (count_up_to(r, low) >= k)
    return low;
  for (;;) {
    const double middle = low + (high - low) / 2;

    if (middle <= low || middle >= high)
      return high;
    if (count_up_to(r, middle) >= k)
      high = middle;
    else
      low = middle;
  }
}

double bn_stats_shift(const struct bn_ranked *r)
{
  const size_t n = r->n_a * r->n_b;

  return (difference(r, (n + 1) / 2) + difference(r, n / 2 + 1)) / 2;
}

/* How many differences are outside of the interval on each side, and one more; 0: there is none. */
static size_t outermost(const struct bn_ranked *r, double alpha)
{
  const double n_a = (double)r->n_a, n_b = (double)r->n_b;
  double k;
  size_t u = 0;

  if (is_small(r)) {
    while (exact_below(r, u) <= alpha)
      u++;
    return u;
  }
  k = floor(n_a * n_b / 2 - 0.5 -
            bn_normal_quantile(1 - alpha) * sqrt(n_a * n_b * (n_a + n_b + 1) / 12)) +
      1;
  return k > 0 ? (size_t)k : 0;
}

bool bn_stats_shift_interval(const struct bn_ranked *r, double alpha, struct bn_interval *out)
{
  const size_t k = outermost(r, alpha);

  if (k == 0)
    return false;
  out->low = difference(r, k);
  out->high = difference(r, r->n_a * r->n_b + 1 - k);
  return true;
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

void bn_stats_sort(double *x, size_t n)
{
  qsort(x, n, sizeof *x, ascending);
}

double bn_stats_median(const double *x, size_t n)
{
  return (x[(n - 1) / 2] + x[n / 2]) / 2;
}
