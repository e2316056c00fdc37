/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Student's t by the regularized incomplete beta function: its continued fraction (Abramowitz and
   Stegun 1964, 26.5.8), evaluated by the method of Lentz (1976) as modified by Thompson and Barnett
   (1986). */
#include "study/stats/student.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { TERMS_MAX = 10000, BISECTIONS = 200 };

static double not_zero(double x)
{
  return fabs(x) < DBL_MIN / DBL_EPSILON ? DBL_MIN / DBL_EPSILON : x;
}

/* The numerator m of the fraction 1 / (1 + d1 / (1 + d2 / (1 + …))). */
static double numerator(int m, double a, double b, double x)
{
  const double k = m / 2;

  if (m % 2 == 0)
    return k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
  return -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
}

static double fraction(double a, double b, double x)
{
  double f = 1, c = 1, d = 0;

  for (int m = 1; m < TERMS_MAX; m++) {
    const double n = numerator(m, a, b, x);

    d = 1 / not_zero(1 + n * d);
    c = not_zero(1 + n / c);
    f *= c * d;
    if (fabs(c * d - 1) < DBL_EPSILON)
      break;
  }
  return 1 / f;
}

/* lgamma() would write to a variable of the whole process. */
static double log_gamma(double x)
{
  int sign;

  return lgamma_r(x, &sign);
}

/* I(a, b) at x; y is 1 - x, which the caller knows better than a subtraction does. */
static double beta(double a, double b, double x, double y)
{
  const double scale =
      exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));

  if (x <= 0)
    return 0;
  if (y <= 0)
    return 1;
  if (x < (a + 1) / (a + b + 2))
    return scale * fraction(a, b, x) / a;
  return 1 - scale * fraction(b, a, y) / b;
}

double bn_normal_cdf(double z)
{
  return erfc(-z * M_SQRT1_2) / 2;
}

double bn_student_cdf(double t, double dof)
{
  const double square = t * t;
  const double tail = beta(dof / 2, 0.5, dof / (dof + square), square / (dof + square)) / 2;

  if (isinf(t))
    return t > 0 ? 1 : 0;
  return t > 0 ? 1 - tail : tail;
}

/* The t < 0 with that probability below it. */
static double bisect(double p, double dof, bool normal)
{
  double low = -1, high = 0;

  while ((normal ? bn_normal_cdf(low) : bn_student_cdf(low, dof)) > p) {
    high = low;
    low *= 2;
  }
  for (int i = 0; i < BISECTIONS && high - low > DBL_EPSILON * -low; i++) {
    const double middle = low + (high - low) / 2;

    if ((normal ? bn_normal_cdf(middle) : bn_student_cdf(middle, dof)) > p)
      high = middle;
    else
      low = middle;
  }
  return low + (high - low) / 2;
}

double bn_normal_quantile(double p)
{
  return p <= 0.5 ? bisect(p, 0, true) : -bisect(1 - p, 0, true);
}

double bn_student_quantile(double p, double dof)
{
  return p <= 0.5 ? bisect(p, dof, false) : -bisect(1 - p, dof, false);
}
