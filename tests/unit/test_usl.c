/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fit of the Universal Scalability Law: against scipy's least squares for published
   measurements, at its bounds, and by simulation of its confidence. */
#include "cm.h"

#include <math.h>

#include "base/rng.h"
#include "study/stats/usl.h"

static void near(const char *what, double got, double want)
{
  if (!(fabs(got - want) <= 1e-6 * fabs(want) + 1e-12))
    fail_msg("%s: %.17g, not %.17g", what, got, want);
}

static void near_all(const char *what, const struct bn_usl_value *got, double value, double low,
                     double high)
{
  near(what, got->value, value);
  near(what, got->low, low);
  near(what, got->high, high);
}

/* SPEC SDM91 on a Sun SPARCcenter 2000 (Gunther 2007, table 5.1).  Wanted: what
   scipy.optimize.least_squares finds for log X. */
static void a_published_measurement_has_its_fit(void **state)
{
  static const double threads[] = {1, 18, 36, 72, 108, 144, 216};
  static const double rate[] = {64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2};
  struct bn_usl u;

  (void)state;
  assert_true(bn_usl_fit(threads, rate, 7, &u));
  near_all("gamma", &u.gamma, 67.94232307, 56.44146125, 81.78667175);
  near_all("alpha", &u.alpha, 0.01345247317, 0.002229555256, 0.02467539109);
  near_all("beta", &u.beta, 0.0001151100781, 5.508069363e-05, 0.0001751394626);
  assert_true(u.has_peak);
  near_all("peak", &u.peak, 92.57683557, 71.60318523, 119.6939837);
  near("rate at the peak", u.peak_rate, 1960.793828);
  near("R squared", u.r_squared, 0.9783129419);
}

/* A ray tracer (Gunther 2007, table 5.4), whose crosstalk cannot be told from none. */
static void a_peak_that_may_not_exist_has_no_upper_limit(void **state)
{
  static const double threads[] = {1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64};
  static const double rate[] = {20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310};
  struct bn_usl u;

  (void)state;
  assert_true(bn_usl_fit(threads, rate, 11, &u));
  near_all("gamma", &u.gamma, 21.59150217, 19.50436501, 23.90198121);
  near_all("alpha", &u.alpha, 0.05640542181, 0.03868182682, 0.07412901681);
  assert_true(fabs(u.beta.value - 3.3586e-06) < 1e-9);
  assert_true(u.beta.low == 0);
  assert_true(u.has_peak && isinf(u.peak.high));
  near("the lower limit", u.peak.low, sqrt((1 - u.alpha.value) / u.beta.high));
}

static void a_linear_rate_has_neither_contention_nor_crosstalk(void **state)
{
  static const double threads[] = {1, 2, 4, 8, 16};
  static const double rate[] = {100, 199, 402, 790, 1605};
  struct bn_usl u;

  (void)state;
  assert_true(bn_usl_fit(threads, rate, 5, &u));
  near_all("gamma", &u.gamma, 99.81050666, 96.55194685, 103.1790406);
  assert_true(u.alpha.value == 0 && u.alpha.low == 0);
  assert_true(u.beta.value == 0 && u.beta.low == 0);
  near("the upper limit of alpha", u.alpha.high, 0.01478344631);
  assert_false(u.has_peak);
}

static void what_cannot_be_fitted_is_not(void **state)
{
  static const double threads[] = {1, 2, 4, 8, 16}, some[] = {1, 2, 0, 8, 16};
  static const double below[] = {0, 1, 2, 3, 4};
  struct bn_usl u;

  (void)state;
  assert_false(bn_usl_fit(threads, threads, 3, &u));
  assert_false(bn_usl_fit(threads, some, 5, &u));
  assert_false(bn_usl_fit(below, threads, 5, &u));
}

static double law(double n)
{
  return 1000 * n / (1 + 0.03 * (n - 1) + 0.0005 * n * (n - 1));
}

static double normal(struct bn_rng *rng)
{
  const double u = 1 - bn_rng_double(rng), v = bn_rng_double(rng);

  return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static unsigned holds(const struct bn_usl_value *v, double truth)
{
  return v->low <= truth && truth <= v->high;
}

/* 2000 sweeps with a coefficient of variation of 2.5 %; the binomial deviation of 95 % is 0.5 %. */
static void the_truth_is_in_95_of_100_intervals(void **state)
{
  enum { STUDIES = 2000, N = 7, LEAST = 1870, MOST = 1930 };
  unsigned gamma = 0, alpha = 0, beta = 0, peak = 0;
  struct bn_rng rng;

  (void)state;
  bn_rng_seed(&rng, 1, BN_RNG_STUDY, 0);
  for (int k = 0; k < STUDIES; k++) {
    double threads[N], rate[N];
    struct bn_usl u;

    for (int i = 0; i < N; i++) {
      threads[i] = 1 << i;
      rate[i] = law(threads[i]) * exp(0.025 * normal(&rng));
    }
    assert_true(bn_usl_fit(threads, rate, N, &u));
    gamma += holds(&u.gamma, 1000);
    alpha += holds(&u.alpha, 0.03);
    beta += holds(&u.beta, 0.0005);
    peak += u.has_peak && holds(&u.peak, sqrt(0.97 / 0.0005));
  }
  print_message("of %d: gamma %u, alpha %u, beta %u, peak %u\n", STUDIES, gamma, alpha, beta, peak);
  assert_in_range(gamma, LEAST, MOST);
  assert_in_range(alpha, LEAST, MOST);
  assert_in_range(beta, LEAST, MOST);
  assert_in_range(peak, LEAST, MOST);
}

BN_TESTS(usl)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_published_measurement_has_its_fit),
      cmocka_unit_test(a_peak_that_may_not_exist_has_no_upper_limit),
      cmocka_unit_test(a_linear_rate_has_neither_contention_nor_crosstalk),
      cmocka_unit_test(what_cannot_be_fitted_is_not),
      cmocka_unit_test(the_truth_is_in_95_of_100_intervals),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
