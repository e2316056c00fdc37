/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The normal distribution and Student's t: against closed forms, against the integral of the
   density where there is none, and against values of published tables. */
#include "cm.h"

#include <math.h>

#include "study/stats/student.h"

static void near(const char *what, double got, double want, double error)
{
  if (!(fabs(got - want) <= error))
    fail_msg("%s: %.17g, not %.17g", what, got, want);
}

/* With one degree of freedom t is Cauchy's, with two it has a closed form. */
static void the_distribution_has_its_closed_forms(void **state)
{
  static const double ts[] = {-1e6, -31.8, -3, -1, -1e-9, 0, 1e-3, 0.5, 2, 12.7, 1e4};

  (void)state;
  for (size_t i = 0; i < sizeof ts / sizeof ts[0]; i++) {
    near("1", bn_student_cdf(ts[i], 1), 0.5 + atan(ts[i]) / M_PI, 1e-12);
    near("2", bn_student_cdf(ts[i], 2), 0.5 + ts[i] / (2 * sqrt(2 + ts[i] * ts[i])), 1e-12);
  }
  near("minus infinity", bn_student_cdf(-INFINITY, 3), 0, 0);
  near("infinity", bn_student_cdf(INFINITY, 3), 1, 0);
}

static double density(double t, double dof)
{
  return exp(lgamma((dof + 1) / 2) - lgamma(dof / 2) - (dof + 1) / 2 * log1p(t * t / dof)) /
         sqrt(dof * M_PI);
}

/* Simpson's rule from 0 to t. */
static double integral(double t, double dof)
{
  enum { PARTS = 20000 };
  double sum = density(0, dof) + density(t, dof);

  for (int i = 1; i < PARTS; i++)
    sum += density(t * i / PARTS, dof) * (i % 2 == 1 ? 4 : 2);
  return sum * t / (3.0 * PARTS);
}

static void the_distribution_is_the_integral_of_its_density(void **state)
{
  static const double dofs[] = {0.7, 2.5, 7, 11, 19.25, 62, 1e3};
  static const double ts[] = {0.01, 0.8, 2.2, 5};

  (void)state;
  for (size_t i = 0; i < sizeof dofs / sizeof dofs[0]; i++)
    for (size_t k = 0; k < sizeof ts / sizeof ts[0]; k++) {
      near("above", bn_student_cdf(ts[k], dofs[i]), 0.5 + integral(ts[k], dofs[i]), 1e-10);
      near("below", bn_student_cdf(-ts[k], dofs[i]), 0.5 - integral(ts[k], dofs[i]), 1e-10);
    }
}

/* Of tables of t and of the normal distribution. */
static void quantiles_are_those_of_tables(void **state)
{
  (void)state;
  near("t 0.975, 1", bn_student_quantile(0.975, 1), 12.706204736432095, 1e-9);
  near("t 0.975, 5", bn_student_quantile(0.975, 5), 2.5705818366147395, 1e-9);
  near("t 0.99, 11", bn_student_quantile(0.99, 11), 2.7180791835, 1e-8);
  near("t 0.025, 30", bn_student_quantile(0.025, 30), -2.0422724563012373, 1e-9);
  near("t 0.5, 4", bn_student_quantile(0.5, 4), 0, 1e-12);
  near("z 0.975", bn_normal_quantile(0.975), 1.959963984540054, 1e-12);
  near("z 0.01", bn_normal_quantile(0.01), -2.3263478740408408, 1e-12);
  near("z 0.999", bn_normal_quantile(0.999), 3.090232306167813, 1e-12);
}

static void quantiles_invert_the_distribution(void **state)
{
  static const double ps[] = {1e-12, 1e-6, 0.001, 0.05, 0.4999, 0.7, 0.9999};
  static const double dofs[] = {1, 3.5, 11, 31, 500};

  (void)state;
  for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++) {
    near("z", bn_normal_cdf(bn_normal_quantile(ps[i])) / ps[i], 1, 1e-9);
    for (size_t k = 0; k < sizeof dofs / sizeof dofs[0]; k++)
      near("t", bn_student_cdf(bn_student_quantile(ps[i], dofs[k]), dofs[k]) / ps[i], 1, 1e-9);
  }
}

BN_TESTS(student)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_distribution_has_its_closed_forms),
      cmocka_unit_test(the_distribution_is_the_integral_of_its_density),
      cmocka_unit_test(quantiles_are_those_of_tables),
      cmocka_unit_test(quantiles_invert_the_distribution),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
