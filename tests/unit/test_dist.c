/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every distribution follows its stated law (chi-square and Kolmogorov-Smirnov against the exact
   one) and has the statistics measured on sysbench. */
#include "base/dist.h"

#include <math.h>
#include <string.h>

#include "cm.h"
#include "goodness.h"

enum { T_MAX = 1000 };

typedef uint64_t draw_fn(const struct bn_dist *, struct bn_rng *, uint64_t, uint64_t);

static struct bn_dist params(unsigned iterations, unsigned pct, unsigned res, double h, double exp)
{
  struct bn_dist d = {.iterations = iterations,
                      .special_pct = pct,
                      .special_res = res,
                      .pareto_h = h,
                      .zipf_exp = exp};

  bn_dist_init(&d);
  return d;
}

static uint64_t draw_uniform(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b)
{
  (void)d;
  return bn_dist_uniform(r, a, b);
}

/* P(k) = f(k + 1) - f(k) for k = 0..t-1 from a distribution function f. */
typedef double cdf_fn(const struct bn_dist *d, double x, double t);

/* Of the mean of I uniform numbers (Bates), at x in [0, 1]. */
static double bates_cdf(unsigned n, double x)
{
  long double sum = 0, binomial = 1, factorial = 1;
  const long double y = (long double)x * n;

  if (x <= 0)
    return 0;
  if (x >= 1)
    return 1;
  for (unsigned k = 0; (long double)k <= y; k++) {
    sum += (k % 2 == 0 ? 1 : -1) * binomial * powl(y - k, n);
    binomial = binomial * (n - k) / (k + 1);
  }
  for (unsigned k = 2; k <= n; k++)
    factorial *= k;
  return (double)(sum / factorial);
}

static double uniform_cdf(const struct bn_dist *d, double x, double t)
{
  (void)d;
  return x / t;
}

static double gaussian_cdf(const struct bn_dist *d, double x, double t)
{
  return bates_cdf(d->iterations, x / t);
}

static double special_cdf(const struct bn_dist *d, double x, double t)
{
  const double s = t - 1;
  const double broad = 1 - d->special_res / 100.0;
  const double low = s / 2 - s * d->special_pct / 200;
  const double u = fmin(fmax((x - low) / (s * d->special_pct / 100 + 1), broad), 1);

  return broad * bates_cdf(d->iterations, x / s) + u - broad;
}

static double pareto_cdf(const struct bn_dist *d, double x, double t)
{
  return pow(x / t, 1 / d->pareto_power);
}

static double zipf_cdf(const struct bn_dist *d, double x, double t)
{
  double sum = 0, all = 0;

  for (int k = 1; k <= (int)t; k++) {
    all += pow(k, -d->zipf_exp);
    if (k <= (int)x)
      sum = all;
  }
  return sum / all;
}

static void check_law(draw_fn *draw, cdf_fn *cdf, const struct bn_dist *d, size_t t)
{
  const uint64_t a = 1000000;
  struct bn_rng r;
  double p[T_MAX], before = cdf(d, 0, (double)t);
  uint64_t count[T_MAX] = {0};

  assert_true(t <= T_MAX);
  bn_rng_seed(&r, 11, BN_RNG_DATA, t);
  for (int i = 0; i < 300000; i++) {
    const uint64_t x = draw(d, &r, a, a + t - 1);

    assert_in_range(x, a, a + t - 1);
    count[x - a]++;
  }
  for (size_t k = 0; k < t; k++) {
    const double next = cdf(d, (double)(k + 1), (double)t);

    p[k] = next - before;
    before = next;
  }
  assert_true(fabs(before - 1) < 1e-9);
  assert_true(chi_square_z(t, p, count) < 4);
}

static void test_uniform_law(void **state)
{
  (void)state;
  for (size_t t = 2; t <= T_MAX; t = t * 3 / 2)
    check_law(draw_uniform, uniform_cdf, NULL, t);
}

static void test_gaussian_law(void **state)
{
  static const unsigned iterations[] = {1, 2, 3, 4, 12};

  (void)state;
  for (size_t i = 0; i < sizeof iterations / sizeof iterations[0]; i++) {
    const struct bn_dist d = params(iterations[i], 1, 75, 0.2, 0.8);

    check_law(bn_dist_gaussian, gaussian_cdf, &d, 10);
    check_law(bn_dist_gaussian, gaussian_cdf, &d, 1000);
  }
}

static void test_special_law(void **state)
{
  static const unsigned rows[][3] = {{12, 1, 75},  {4, 10, 50}, {4, 30, 50},
                                     {1, 100, 99}, {2, 50, 0},  {12, 5, 25}};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct bn_dist d = params(rows[i][0], rows[i][1], rows[i][2], 0.2, 0.8);

    check_law(bn_dist_special, special_cdf, &d, 10);
    check_law(bn_dist_special, special_cdf, &d, 999);
    check_law(bn_dist_special, special_cdf, &d, 1000);
  }
}

static void test_pareto_law(void **state)
{
  static const double hs[] = {0.01, 0.1, 0.2, 0.5, 0.8};

  (void)state;
  for (size_t i = 0; i < sizeof hs / sizeof hs[0]; i++) {
    const struct bn_dist d = params(12, 1, 75, hs[i], 0.8);

    check_law(bn_dist_pareto, pareto_cdf, &d, 10);
    check_law(bn_dist_pareto, pareto_cdf, &d, 1000);
  }
}

static void test_zipfian_law(void **state)
{
  static const double thetas[] = {0, 0.3, 0.8, 0.99, 1 - 1e-10, 1, 1 + 1e-10, 1.2, 2, 4};

  (void)state;
  for (size_t i = 0; i < sizeof thetas / sizeof thetas[0]; i++) {
    const struct bn_dist d = params(12, 1, 75, 0.2, thetas[i]);

    check_law(bn_dist_zipfian, zipf_cdf, &d, 2);
    check_law(bn_dist_zipfian, zipf_cdf, &d, 10);
    check_law(bn_dist_zipfian, zipf_cdf, &d, 1000);
  }
}

static const double quantile_percents[] = {1, 5, 25, 50, 75, 95, 99};

struct golden {
  draw_fn *draw;
  unsigned iterations, pct, res;
  double h, theta;
  double mean, sd;
  double quantile[7];
  double p1; /* P(1), 0: not stated */
};

/* 2,000,000 draws of sysbench from [1, 1000] (zipfian 1: computed). */
static const struct golden goldens[] = {
    {draw_uniform, 12, 1, 75, 0.2, 0.8, 500.5, 288.8, {10, 50, 250, 501, 751, 950, 991}, 0},
    {bn_dist_gaussian, 12, 1, 75, 0.2, 0.8, 500.5, 83.4, {309, 363, 444, 500, 557, 638, 693}, 0},
    {bn_dist_gaussian, 4, 1, 75, 0.2, 0.8, 500.5, 144.2, {176, 262, 400, 501, 601, 739, 825}, 0},
    {bn_dist_special, 12, 1, 75, 0.2, 0.8, 501.4, 41.7, {355, 429, 499, 502, 505, 571, 646}, 0},
    {bn_dist_special, 4, 10, 50, 0.2, 0.8, 512.8, 103.3, {209, 312, 500, 523, 545, 688, 792}, 0},
    {bn_dist_pareto, 12, 1, 75, 0.2, 0.8, 122.4, 223.6, {1, 1, 1, 7, 126, 692, 931}, 0.384},
    {bn_dist_pareto, 12, 1, 75, 0.1, 0.8, 44.6, 143.0, {1, 1, 1, 1, 2, 326, 804}, 0.729},
    {bn_dist_zipfian, 12, 1, 75, 0.2, 0.8, 214.5, 266.4, {1, 1, 13, 86, 340, 820, 962}, 0.0646},
    {bn_dist_zipfian, 12, 1, 75, 0.2, 1, 133.6, 221.4, {1, 1, 4, 24, 154, 688, 928}, 0.1336},
    {bn_dist_zipfian, 12, 1, 75, 0.2, 1.2, 72.2, 164.1, {1, 1, 2, 7, 45, 450, 844}, 0.2305},
};

static void check_golden(const struct golden *g)
{
  enum { N = 500000 };
  const struct bn_dist d = params(g->iterations, g->pct, g->res, g->h, g->theta);
  uint64_t count[1001] = {0};
  double sum = 0, squares = 0;
  struct bn_rng r;

  bn_rng_seed(&r, 17, BN_RNG_DATA, 0);
  for (int i = 0; i < N; i++) {
    const uint64_t x = g->draw(&d, &r, 1, 1000);

    assert_in_range(x, 1, 1000);
    count[x]++;
    sum += (double)x;
    squares += (double)x * (double)x;
  }
  const double mean = sum / N;

  assert_true(fabs(mean - g->mean) < 1.3);
  assert_true(fabs(sqrt(squares / N - mean * mean) - g->sd) < fmax(0.5, 0.01 * g->sd));
  if (g->p1 > 0)
    assert_true(fabs((double)count[1] / N - g->p1) < 0.003);
  for (size_t q = 0; q < 7; q++) {
    uint64_t seen = 0, x = 0;

    while ((double)seen < N * quantile_percents[q] / 100)
      seen += count[++x];
    assert_true(fabs((double)x - g->quantile[q]) <= fmax(1, 0.02 * g->quantile[q]));
  }
}

static void test_golden_statistics(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++)
    check_golden(&goldens[i]);
}

static void test_special_band(void **state)
{
  const struct bn_dist d = params(12, 1, 75, 0.2, 0.8);
  struct bn_rng r;
  int in_band = 0;

  (void)state;
  bn_rng_seed(&r, 18, BN_RNG_DATA, 0);
  for (int i = 0; i < 200000; i++) {
    const uint64_t x = bn_dist_special(&d, &r, 1, 1000);

    in_band += x >= 496 && x <= 505;
  }
  assert_in_range(in_band, 142400, 144400); /* 71.7 % */
}

static draw_fn *const all_draws[] = {draw_uniform,   bn_dist_gaussian, bn_dist_special,
                                     bn_dist_pareto, bn_dist_zipfian,  bn_dist_default};

static void test_results_stay_in_any_range(void **state)
{
  static const uint64_t ranges[][2] = {
      {0, 0},
      {UINT64_MAX, UINT64_MAX},
      {7, 8},
      {0, UINT64_MAX},
      {1, UINT64_MAX},
      {0, UINT64_MAX - 1},
      {UINT64_MAX - 2, UINT64_MAX},
      {5, (UINT64_C(1) << 53) + 5},
      {UINT64_C(1) << 63, UINT64_MAX},
      {1, (UINT64_C(1) << 63) - 1},
  };
  static const double thetas[] = {0, 0.5, 1, 1.5, 20, 1e6};

  (void)state;
  for (size_t t = 0; t < sizeof thetas / sizeof thetas[0]; t++) {
    struct bn_dist d = params(2, 100, 99, 0.001, thetas[t]);
    struct bn_rng r;

    d.type = (enum bn_dist_type)(t % 5);
    bn_rng_seed(&r, 19, BN_RNG_DATA, t);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
      for (size_t k = 0; k < sizeof all_draws / sizeof all_draws[0]; k++)
        for (int n = 0; n < 500; n++) {
          assert_in_range(all_draws[k](&d, &r, ranges[i][0], ranges[i][1]), ranges[i][0],
                          ranges[i][1]);
          assert_in_range(all_draws[k](&d, &r, ranges[i][1], ranges[i][0]), ranges[i][0],
                          ranges[i][1]);
        }
  }
}

/* Extreme numbers: the state that yields 0, and one that yields the largest double. */
static void test_extreme_numbers(void **state)
{
  const struct bn_dist d = params(1, 100, 75, 0.2, 0.8);

  (void)state;
  for (size_t k = 0; k < 5; k++) {
    struct bn_rng least = {.s = {1, UINT64_MAX}}, most = {.s = {0, UINT64_MAX}};

    assert_in_range(all_draws[k](&d, &least, 10, 20), 10, 20);
    assert_in_range(all_draws[k](&d, &most, 0, UINT64_MAX - 1), 0, UINT64_MAX - 1);
  }
  struct bn_rng least = {.s = {1, UINT64_MAX}}, most = {.s = {0, UINT64_MAX}};

  const double gap = bn_dist_exponential(bn_rng_next(&least));

  assert_true(gap > 30 && gap < 40);
  assert_true(bn_dist_exponential(bn_rng_next(&most)) > 0);
  /* the far end, to the 53 bits of a double and their logarithm */
  const struct bn_dist flat = params(1, 1, 75, 0.2, 0);

  least = (struct bn_rng){.s = {1, UINT64_MAX}};
  assert_in_range(bn_dist_zipfian(&flat, &least, 0, UINT64_MAX), UINT64_MAX - (1 << 20),
                  UINT64_MAX);
}

/* Above 2^53 the low bits of uniform are as random as the high ones. */
static void test_uniform_reaches_every_integer(void **state)
{
  static double u[20000];
  const uint64_t top = (UINT64_C(1) << 63) + 12345;
  uint64_t count[16] = {0};
  double p[16];
  struct bn_rng r;

  (void)state;
  bn_rng_seed(&r, 20, BN_RNG_DATA, 0);
  for (int i = 0; i < 20000; i++) {
    const uint64_t x = bn_dist_uniform(&r, 0, top);

    count[x & 15]++;
    u[i] = (double)x / (double)top;
  }
  for (int i = 0; i < 16; i++)
    p[i] = 1.0 / 16;
  assert_true(chi_square_z(16, p, count) < 4);
  assert_true(ks_of_uniform(u, 20000) < 2.3);
}

/* Continuous laws over a range of 2^62. */
static void test_wide_ranges(void **state)
{
  static double u[20000];
  const uint64_t top = UINT64_C(1) << 62;
  const struct bn_dist d = params(12, 1, 75, 0.2, 0.5);
  struct bn_rng r;

  (void)state;
  bn_rng_seed(&r, 21, BN_RNG_DATA, 0);
  for (int i = 0; i < 20000; i++)
    u[i] = bates_cdf(12, (double)bn_dist_gaussian(&d, &r, 0, top) / (double)top);
  assert_true(ks_of_uniform(u, 20000) < 2.3);
  for (int i = 0; i < 20000; i++)
    u[i] = pareto_cdf(&d, (double)bn_dist_pareto(&d, &r, 1, top), (double)top);
  assert_true(ks_of_uniform(u, 20000) < 2.3);
  for (int i = 0; i < 20000; i++) /* the integral of x^-1/2 */
    u[i] = sqrt((double)bn_dist_zipfian(&d, &r, 1, top) / (double)top);
  assert_true(ks_of_uniform(u, 20000) < 2.3);
}

static void test_exponential_law(void **state)
{
  static double u[50000];
  double sum = 0;
  struct bn_rng r;

  (void)state;
  bn_rng_seed(&r, 22, BN_RNG_PACER, 0);
  for (int i = 0; i < 50000; i++) {
    const double x = bn_dist_exponential(bn_rng_next(&r));

    assert_true(x > 0);
    sum += x;
    u[i] = 1 - exp(-x);
  }
  assert_true(fabs(sum / 50000 - 1) < 0.02);
  assert_true(ks_of_uniform(u, 50000) < 2.3);
}

static void test_default_follows_type(void **state)
{
  (void)state;
  for (int type = BN_DIST_UNIFORM; type <= BN_DIST_ZIPFIAN; type++) {
    struct bn_dist d = params(12, 1, 75, 0.2, 0.8);
    struct bn_rng r, same;

    d.type = (enum bn_dist_type)type;
    bn_rng_seed(&r, 23, BN_RNG_DATA, 0);
    same = r;
    for (int i = 0; i < 100; i++)
      assert_int_equal(bn_dist_default(&d, &r, 1, 1000), all_draws[type](&d, &same, 1, 1000));
  }
  assert_string_equal(bn_dist_names[BN_DIST_UNIFORM], "uniform");
  assert_string_equal(bn_dist_names[BN_DIST_ZIPFIAN], "zipfian");
  assert_null(bn_dist_names[BN_DIST_ZIPFIAN + 1]);
}

BN_TESTS(dist)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_uniform_law),
      cmocka_unit_test(test_gaussian_law),
      cmocka_unit_test(test_special_law),
      cmocka_unit_test(test_pareto_law),
      cmocka_unit_test(test_zipfian_law),
      cmocka_unit_test(test_golden_statistics),
      cmocka_unit_test(test_special_band),
      cmocka_unit_test(test_results_stay_in_any_range),
      cmocka_unit_test(test_extreme_numbers),
      cmocka_unit_test(test_uniform_reaches_every_integer),
      cmocka_unit_test(test_wide_ranges),
      cmocka_unit_test(test_exponential_law),
      cmocka_unit_test(test_default_follows_type),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
