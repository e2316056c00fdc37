/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fits the Universal Scalability Law. */
#include "study/stats/usl.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "study/stats/student.h"

enum { GAMMA, ALPHA, BETA, PARAMETERS, STEPS_MAX = 500 };

/* The parameters; of gamma the log. */
struct theta {
  double p[PARAMETERS];
};

struct data {
  const double *threads, *rate;
  size_t n;
};

/* A symmetric system of equations: normal[i][k] of all pairs, and the right side. */
struct normal {
  double a[PARAMETERS][PARAMETERS], b[PARAMETERS];
};

static double divisor(const struct theta *t, double n)
{
  return 1 + t->p[ALPHA] * (n - 1) + t->p[BETA] * n * (n - 1);
}

/* log X - log X(N); NAN: the law says nothing for these parameters. */
static double residual(const struct data *d, const struct theta *t, size_t i)
{
  const double n = d->threads[i], by = divisor(t, n);

  return by > 0 ? log(d->rate[i]) - t->p[GAMMA] - log(n) + log(by) : NAN;
}

static double sum_of_squares(const struct data *d, const struct theta *t)
{
  double sum = 0;

  for (size_t i = 0; i < d->n; i++) {
    const double r = residual(d, t, i);

    sum += r * r;
  }
  return sum;
}

static void derive(const struct data *d, const struct theta *t, struct normal *s)
{
  memset(s, 0, sizeof *s);
  for (size_t i = 0; i < d->n; i++) {
    const double n = d->threads[i], by = divisor(t, n), r = residual(d, t, i);
    const double slope[PARAMETERS] = {1, -(n - 1) / by, -n * (n - 1) / by};

    for (int k = 0; k < PARAMETERS; k++) {
      s->b[k] += slope[k] * r;
      for (int j = 0; j < PARAMETERS; j++)
        s->a[k][j] += slope[k] * slope[j];
    }
  }
}

/* A parameter that is held does not move. */
static void hold(struct normal *s, unsigned held)
{
  for (int k = 0; k < PARAMETERS; k++)
    if ((held & 1U << k) != 0) {
      for (int j = 0; j < PARAMETERS; j++)
        s->a[k][j] = s->a[j][k] = 0;
      s->a[k][k] = 1;
      s->b[k] = 0;
    }
}

/* Cholesky's decomposition of the matrix with a diagonal of 1, because the parameters differ by
   powers of ten.  b becomes the solution.  false: there is none. */
static bool solve(const struct normal *s, double b[PARAMETERS])
{
  double l[PARAMETERS][PARAMETERS] = {{0}}, scale[PARAMETERS];

  for (int k = 0; k < PARAMETERS; k++)
    scale[k] = sqrt(s->a[k][k]);
  for (int k = 0; k < PARAMETERS; k++)
    for (int j = 0; j <= k; j++) {
      double sum = s->a[k][j] / (scale[k] * scale[j]);

      for (int i = 0; i < j; i++)
        sum -= l[k][i] * l[j][i];
      if (k == j && !(sum > 1e-14))
        return false;
      l[k][j] = k == j ? sqrt(sum) : sum / l[j][j];
    }
  for (int k = 0; k < PARAMETERS; k++) {
    b[k] /= scale[k];
    for (int i = 0; i < k; i++)
      b[k] -= l[k][i] * b[i];
    b[k] /= l[k][k];
  }
  for (int k = PARAMETERS - 1; k >= 0; k--) {
    for (int i = k + 1; i < PARAMETERS; i++)
      b[k] -= l[i][k] * b[i];
    b[k] /= l[k][k];
  }
  for (int k = 0; k < PARAMETERS; k++)
    b[k] /= scale[k];
  return true;
}

/* Moves t to fewer squares; false: it is at the end. */
static bool step(const struct data *d, struct theta *t, unsigned held, double *damping)
{
  const double now = sum_of_squares(d, t);
  struct normal s;

  derive(d, t, &s);
  hold(&s, held);
  for (; *damping < 1e12; *damping *= 10) {
    struct normal damped = s;
    struct theta next = *t;
    double sum, move[PARAMETERS];

    memcpy(move, s.b, sizeof move);
    for (int k = 0; k < PARAMETERS; k++)
      damped.a[k][k] *= 1 + *damping;
    if (!solve(&damped, move))
      continue;
    for (int k = 0; k < PARAMETERS; k++)
      next.p[k] += move[k];
    sum = sum_of_squares(d, &next);
    if (sum < now) {
      *t = next;
      *damping = fmax(*damping / 10, 1e-12);
      return now - sum > 1e-15 * now;
    }
  }
  return false;
}

static double fit(const struct data *d, struct theta *t, unsigned held)
{
  double damping = 1e-3, last = d->threads[0];

  for (size_t i = 0; i < d->n; i++)
    last = fmax(last, d->threads[i]);
  *t = (struct theta){{0, 0.05, 0.5 / (last * last)}};
  for (int k = ALPHA; k <= BETA; k++)
    if ((held & 1U << k) != 0)
      t->p[k] = 0;
  for (size_t i = 0; i < d->n; i++)
    t->p[GAMMA] +=
        (log(d->rate[i] / d->threads[i]) + log(divisor(t, d->threads[i]))) / (double)d->n;
  for (int i = 0; i < STEPS_MAX; i++)
    if (!step(d, t, held, &damping))
      break;
  return sum_of_squares(d, t);
}

/* The least squares with alpha and beta of 0 or more: the best of those with none, one or both of
   them held at 0. */
static double fit_bounded(const struct data *d, struct theta *best)
{
  static const unsigned helds[] = {0, 1U << ALPHA, 1U << BETA, 1U << ALPHA | 1U << BETA};
  double least = HUGE_VAL;

  for (size_t i = 0; i < sizeof helds / sizeof helds[0]; i++) {
    struct theta t;
    const double sum = fit(d, &t, helds[i]);

    if (sum < least && t.p[ALPHA] >= 0 && t.p[BETA] >= 0) {
      least = sum;
      *best = t;
    }
  }
  return least;
}

/* --- confidence ------------------------------------------------------------------------------- */

/* The inverse of the matrix. */
static bool invert(const struct normal *s, double out[PARAMETERS][PARAMETERS])
{
  for (int k = 0; k < PARAMETERS; k++) {
    double column[PARAMETERS] = {0};

    column[k] = 1;
    if (!solve(s, column))
      return false;
    memcpy(out[k], column, sizeof column);
  }
  return true;
}

static struct bn_usl_value from_zero(double value, double half)
{
  return (struct bn_usl_value){value, fmax(0, value - half), value + half};
}

static struct bn_usl_value by_log(double value, double half)
{
  return (struct bn_usl_value){exp(value), exp(value - half), exp(value + half)};
}

/* The rate that the fit expects. */
static double rate_of(const struct bn_usl *u, double threads)
{
  const struct theta t = {{0, u->alpha.value, u->beta.value}};

  return u->gamma.value * threads / divisor(&t, threads);
}

static void find_peak(const struct theta *t, double cov[PARAMETERS][PARAMETERS], double factor,
                      struct bn_usl *u)
{
  const double alpha = t->p[ALPHA], beta = t->p[BETA];
  double by_alpha, by_beta, variance;

  if (alpha >= 1 || beta <= DBL_MIN || (1 - alpha) / beta < 1)
    return;
  by_alpha = -0.5 / (1 - alpha);
  by_beta = -0.5 / beta;
  variance = by_alpha * by_alpha * cov[ALPHA][ALPHA] + by_beta * by_beta * cov[BETA][BETA] +
             2 * by_alpha * by_beta * cov[ALPHA][BETA];
  u->has_peak = true;
  u->peak = by_log(0.5 * log((1 - alpha) / beta), factor * sqrt(fmax(0, variance)));
  /* Without crosstalk there would be no peak. */
  if (u->beta.low <= 0) {
    u->peak.low = fmax(1, sqrt((1 - alpha) / u->beta.high));
    u->peak.high = HUGE_VAL;
  }
  u->peak_rate = rate_of(u, u->peak.value);
}

static double r_squared(const struct data *d, const struct bn_usl *u)
{
  double mean = 0, all = 0, left = 0;

  for (size_t i = 0; i < d->n; i++)
    mean += d->rate[i] / (double)d->n;
  for (size_t i = 0; i < d->n; i++) {
    const double off = d->rate[i] - mean, miss = d->rate[i] - rate_of(u, d->threads[i]);

    all += off * off;
    left += miss * miss;
  }
  return all > 0 ? 1 - left / all : 0;
}

bool bn_usl_fit(const double *threads, const double *rate, size_t n, struct bn_usl *out)
{
  const struct data d = {threads, rate, n};
  double cov[PARAMETERS][PARAMETERS], factor, sum;
  struct normal s;
  struct theta t;

  *out = (struct bn_usl){.has_peak = false};
  for (size_t i = 0; i < n; i++)
    if (!(rate[i] > 0) || !(threads[i] >= 1))
      return false;
  if (n < BN_USL_LEAST)
    return false;
  sum = fit_bounded(&d, &t);
  if (!isfinite(sum))
    return false;
  derive(&d, &t, &s);
  if (!invert(&s, cov))
    return false;
  factor =
      bn_student_quantile(0.975, (double)(n - PARAMETERS)) * sqrt(sum / (double)(n - PARAMETERS));
  out->gamma = by_log(t.p[GAMMA], factor * sqrt(cov[GAMMA][GAMMA]));
  out->alpha = from_zero(t.p[ALPHA], factor * sqrt(cov[ALPHA][ALPHA]));
  out->beta = from_zero(t.p[BETA], factor * sqrt(cov[BETA][BETA]));
  find_peak(&t, cov, factor, out);
  out->r_squared = r_squared(&d, out);
  return true;
}
