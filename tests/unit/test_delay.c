/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times that are drawn at random: what a value means, and that draws have its distribution. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "cm.h"
#include "option/delay.h"

enum { DRAWS = 1000000 };

static uint64_t sorted[DRAWS];

static int by_value(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

/* Sorts the draws and returns their mean. */
static double draw_all(const char *text)
{
  struct bn_delay d;
  struct bn_rng r;
  double sum = 0;

  bn_rng_seed(&r, 7, BN_RNG_THINK, 0);
  assert_int_equal(bn_delay_parse(text, &d), 0);
  for (int i = 0; i < DRAWS; i++) {
    sorted[i] = bn_delay_draw(&d, bn_rng_double(&r));
    sum += (double)sorted[i];
  }
  qsort(sorted, DRAWS, sizeof sorted[0], by_value);
  return sum / DRAWS;
}

static void assert_within(double value, double expected, double share)
{
  if (fabs(value - expected) > expected * share)
    fail_msg("%.0f is not within %g of %.0f", value, share, expected);
}

static void draws_times_that_are_fixed(void **state)
{
  (void)state;
  assert_within(draw_all("5ms"), 5e6, 1e-12);
  assert_int_equal(sorted[0], 5000000);
  assert_int_equal(sorted[DRAWS - 1], 5000000);
}

static void draws_times_of_an_exponential_distribution(void **state)
{
  const double mean = draw_all("exp:5ms");

  (void)state;
  assert_within(mean, 5e6, 0.005);
  assert_within((double)sorted[DRAWS / 2], 5e6 * log(2), 0.02);
  /* One in a thousand is longer than 6.9 means. */
  assert_within((double)sorted[DRAWS - DRAWS / 1000], 5e6 * log(1000), 0.05);
}

static void draws_times_between_two_bounds(void **state)
{
  const double mean = draw_all("uniform:1ms..9ms");

  (void)state;
  assert_within(mean, 5e6, 0.005);
  assert_in_range(sorted[0], 1000000, 1001000);
  assert_in_range(sorted[DRAWS - 1], 8999000, 9000000);
  assert_within((double)sorted[DRAWS / 4], 3e6, 0.02);
  assert_within((double)sorted[DRAWS * 3 / 4], 7e6, 0.02);
}

/* One in 22,026 draws is longer than ten means.  Cut there, the mean is 1 - exp(-10) of itself. */
static void cuts_long_times(void **state)
{
  (void)state;
  assert_within(draw_all("exp:1s..10s"), 1e9 * (1 - exp(-10)), 0.005);
  assert_int_equal(sorted[DRAWS - 1], UINT64_C(10000000000));
  assert_true(sorted[DRAWS - 1 - DRAWS / 10000] < UINT64_C(10000000000));
  (void)draw_all("exp:1s");
  assert_true(sorted[DRAWS - 1] > UINT64_C(10000000000));
}

static void reads_times_with_units(void **state)
{
  static const struct {
    const char *text;
    double low_ns, high_ns;
  } row[] = {{"0", 0, 0},
             {"fixed:0", 0, 0},
             {"exp:0ms", 0, HUGE_VAL},
             {"7ns", 7, 7},
             {"fixed:1.5us", 1500, 1500},
             {"5ms", 5e6, 5e6},
             {"0.25", 25e7, 25e7},
             {"2s", 2e9, 2e9},
             {"2m", 120e9, 120e9},
             {"24h", 86400e9, 86400e9},
             {"exp:5ms", 5e6, HUGE_VAL},
             {"exp:5ms..1s", 5e6, 1e9},
             {"uniform:100us..2ms", 1e5, 2e6},
             {"uniform:1..1.5", 1e9, 1.5e9},
             {"uniform:3ms..3ms", 3e6, 3e6}};
  struct bn_delay d;

  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    assert_int_equal(bn_delay_parse(row[i].text, &d), 0);
    assert_true(d.low_ns == row[i].low_ns && d.high_ns == row[i].high_ns);
    assert_int_equal(bn_delay_is_none(&d), row[i].low_ns == 0);
  }
}

static void refuses_all_else(void **state)
{
  static const char *const text[] = {"",
                                     "x",
                                     "-1",
                                     "5 ms",
                                     "5mss",
                                     "5MS",
                                     "1e3",
                                     ".5",
                                     "1.",
                                     "exp",
                                     "exp:",
                                     "exp:x",
                                     "normal:1s",
                                     "fixed:1..2",
                                     "1ms..2ms",
                                     "uniform:1ms",
                                     "uniform:..1s",
                                     "uniform:2ms..1ms",
                                     "exp:2ms..1ms",
                                     "exp:1ms..",
                                     "exp:1ms..25h",
                                     "25h",
                                     "86400.1",
                                     "exp:25h",
                                     "uniform:0..25h",
                                     "nan",
                                     "inf"};
  struct bn_delay d;

  (void)state;
  for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
    if (bn_delay_parse(text[i], &d) == 0)
      fail_msg("'%s' is taken", text[i]);
}

BN_TESTS(delay)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_times_that_are_fixed),
      cmocka_unit_test(draws_times_of_an_exponential_distribution),
      cmocka_unit_test(draws_times_between_two_bounds),
      cmocka_unit_test(cuts_long_times),
      cmocka_unit_test(reads_times_with_units),
      cmocka_unit_test(refuses_all_else),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
