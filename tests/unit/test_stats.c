/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests and intervals of studies: against values that SciPy 1.10.1 computed, or that follow by hand
   from the definitions. */
#include "cm.h"

#include <math.h>

#include "study/stats/stats.h"

static void near(const char *what, double got, double want)
{
  if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
    fail_msg("%s: %.17g, not %.17g", what, got, want);
}

static const double a6[] = {101.2, 99.8, 100.9, 98.7, 102.3, 100.1};
static const double b6[] = {97.9, 98.1, 96.2, 95.9, 99.4, 98.8};

/* scipy.stats.ttest_1samp (log (b / a), 0), t.interval (0.98, 5, …) */
static void paired_t_is_that_of_scipy(void **state)
{
  const struct bn_pairs pairs = {.a = a6, .b = b6, .n = 6};
  struct bn_estimate e;
  struct bn_interval i;

  (void)state;
  bn_stats_paired(&pairs, &e);
  near("mean", e.mean, -0.028107033193892027);
  near("error", e.error, 0.005018854804652873);
  near("noise", e.noise, 0.01229363336451528);
  near("dof", e.dof, 5);
  near("above", bn_stats_above(&e, 0), 0.9987461804762887);
  i = bn_stats_interval(&e, 0.01);
  near("low", i.low, -0.04499512828622839);
  near("high", i.high, -0.011218938101555664);
  near("an end of the interval", bn_stats_above(&e, i.low), 0.01);
}

/* The slope and its error: scipy.stats.linregress. */
static void a_drift_is_estimated_apart(void **state)
{
  static const double a_s[] = {0, 10, 25, 30, 41, 50}, b_s[] = {5, 16, 20, 36, 45, 55};
  const struct bn_pairs pairs = {a6, b6, a_s, b_s, 6};
  struct bn_estimate e;

  (void)state;
  bn_stats_paired(&pairs, &e);
  near("slope", e.drift_per_s, 0.00011279227520421152);
  near("mean", e.mean, -0.028501806157106766);
  near("error", e.error, 0.0049872461221460935);
  near("dof", e.dof, 5.502566304625724);
  near("noise", e.noise, 0.011917598634613604);
}

/* A always comes first, and everything gets slower by the same factor from run to run. */
static void a_steady_drift_makes_no_difference(void **state)
{
  double a[8], b[8], a_s[8], b_s[8];
  const struct bn_pairs pairs = {a, b, a_s, b_s, 8};
  struct bn_estimate e;

  (void)state;
  for (int i = 0; i < 8; i++) {
    a_s[i] = 20 * i;
    b_s[i] = 20 * i + 10;
    a[i] = 1000 * exp(-0.001 * a_s[i]);
    b[i] = 990 * exp(-0.001 * b_s[i]);
  }
  bn_stats_paired(&pairs, &e);
  near("slope", e.drift_per_s, -0.001);
  near("mean", e.mean, log(0.99));
  assert_true(e.noise >= 4e-4);
}

static void signs_are_coins(void **state)
{
  (void)state;
  near("7 of 7", bn_stats_signs(7, 7), 0.0078125);
  near("9 of 12", bn_stats_signs(9, 12), 0.072998046875);
  near("6 of 12", bn_stats_signs(6, 12), 0.61279296875);
  near("0 of 5", bn_stats_signs(0, 5), 1);
  near("0 of 0", bn_stats_signs(0, 0), 1);
  near("530 of 1001", bn_stats_signs(530, 1001), 0.033386069864349145);
  near("600 of 1000", bn_stats_signs(600, 1000), 1.364232078032988e-10);
}

/* Hollander and Wolfe (1973), table 3.1, with two ties taken apart. */
static const double a9[] = {0.50, 1.30, 1.55, 1.62, 1.68, 1.83, 1.88, 2.48, 3.06};
static const double b9[] = {0.598, 0.647, 0.878, 1.06, 1.06001, 1.29, 1.29001, 2.05, 3.14};

static void exact_ranks_are_those_of_scipy(void **state)
{
  const struct bn_ranked up = {a9, b9, 9, 9}, down = {b9, a9, 9, 9};
  static const double one[] = {1}, two[] = {2};
  const struct bn_ranked least = {one, two, 1, 1};

  (void)state;
  near("greater", bn_stats_rank_above(&up), 0.9432538050185106);
  near("less", bn_stats_rank_above(&down), 0.06795557383792677);
  near("one each", bn_stats_rank_above(&least), 0.5);
}

static void ties_are_corrected_as_scipy_does(void **state)
{
  static const double a[] = {1, 2, 2, 3, 5, 5, 7, 8}, b[] = {2, 3, 4, 5, 5, 9, 9, 10, 11};
  static const double c[] = {3, 3, 3, 3, 3};
  const struct bn_ranked up = {a, b, 8, 9}, down = {b, a, 9, 8}, same = {c, c, 5, 5};

  (void)state;
  near("greater", bn_stats_rank_above(&up), 0.07245639037335934);
  near("less", bn_stats_rank_above(&down), 0.9400174984390606);
  near("all equal", bn_stats_rank_above(&same), 1);
}

static int ascending(const void *p, const void *q)
{
  const double x = *(const double *)p, y = *(const double *)q;

  return (x > y) - (x < y);
}

/* The interval: sorted differences, of which 30 * 25 are outside by the normal distribution. */
static void many_ranks_are_nearly_normal(void **state)
{
  double a[30], b[25];
  const struct bn_ranked r = {a, b, 30, 25};
  struct bn_interval i;

  (void)state;
  for (int k = 0; k < 30; k++)
    a[k] = k * 37 % 101 / 10.0;
  for (int k = 0; k < 25; k++)
    b[k] = k * 53 % 101 / 10.0 + 0.7 + 0.001;
  qsort(a, 30, sizeof *a, ascending);
  qsort(b, 25, sizeof *b, ascending);
  near("greater", bn_stats_rank_above(&r), 0.26308423887807164);
  near("shift", bn_stats_shift(&r), 0.501);
  assert_true(bn_stats_shift_interval(&r, 0.01, &i));
  near("low", i.low, -1.599);
  near("high", i.high, 2.601);
}

/* By sorting all 81 differences; P (U <= 14) = 0.00938, P (U <= 15) = 0.0122. */
static void the_shift_is_an_order_statistic(void **state)
{
  const struct bn_ranked r = {a9, b9, 9, 9}, few = {a9, b9, 3, 3};
  struct bn_interval i;

  (void)state;
  near("shift", bn_stats_shift(&r), -0.56);
  assert_true(bn_stats_shift_interval(&r, 0.01, &i));
  near("low", i.low, -1.232);
  near("high", i.high, 0.5);
  assert_true(bn_stats_shift_interval(&r, 0.025, &i));
  near("low", i.low, -1.183);
  near("high", i.high, 0.37);
  assert_false(bn_stats_shift_interval(&few, 0.01, &i));
}

BN_TESTS(stats)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(paired_t_is_that_of_scipy),
      cmocka_unit_test(a_drift_is_estimated_apart),
      cmocka_unit_test(a_steady_drift_makes_no_difference),
      cmocka_unit_test(signs_are_coins),
      cmocka_unit_test(exact_ranks_are_those_of_scipy),
      cmocka_unit_test(ties_are_corrected_as_scipy_does),
      cmocka_unit_test(many_ranks_are_nearly_normal),
      cmocka_unit_test(the_shift_is_an_order_statistic),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
