/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Axes of charts: ranges, units and marks. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/plot/axis.h"

static void expect_near(double got, double want)
{
  if (fabs(got - want) > fabs(want) * 1e-9)
    fail_msg("%g instead of %g", got, want);
}

static void add(struct bn_chart_panel *p, double x, double y)
{
  const struct bn_chart_point at = {.x = x, .y = y};

  if (p->n == 0)
    assert_non_null(bn_chart_series(p, "s", BN_CHART_LINE, 0));
  assert_int_equal(bn_chart_point(&p->series[0], &at), 0);
}

/* All marks, separated by blanks. */
static void expect_marks(const struct bn_axis *a, const char *want)
{
  char all[1024] = "";
  size_t len = 0;

  for (size_t i = 0; i < a->n_marks; i++)
    len += (size_t)snprintf(all + len, sizeof all - len, "%s%s", i > 0 ? " " : "", a->mark[i].text);
  assert_string_equal(all, want);
}

static void expect_y(enum bn_chart_y y, double least, double most, bool plain, const char *want,
                     double low, double high)
{
  struct bn_chart c = {.n_panels = 0};
  struct bn_chart_panel *p = bn_chart_panel(&c, "", y);
  struct bn_axis a;

  add(p, 1, least);
  add(p, 2, NAN);
  add(p, 3, most);
  bn_axis_y(&a, p, plain);
  expect_marks(&a, want);
  expect_near(a.low, low);
  expect_near(a.high, high);
  bn_chart_done(&c);
}

static void rates_begin_with_0(void **state)
{
  (void)state;
  expect_y(BN_CHART_PER_S, 5900, 6380, false, "0 2k 4k 6k 8k", 0, 8000);
  expect_y(BN_CHART_PER_S, 1, 3, false, "0 0.5 1 1.5 2 2.5 3", 0, 3);
  expect_y(BN_CHART_PER_S, 1, 42.5e6, true, "0 20M 40M 60M", 0, 60e6);
  expect_y(BN_CHART_PER_S, 0.001, 0.025, false, "0 0.005 0.01 0.015 0.02 0.025", 0, 0.025);
  expect_y(BN_CHART_PER_S, 0, 0, false, "0", 0, 1);
}

static void latencies_of_one_size_begin_with_0(void **state)
{
  (void)state;
  expect_y(BN_CHART_SECONDS, 0.001, 0.004, false, "0 1 ms 2 ms 3 ms 4 ms", 0, 0.004);
  expect_y(BN_CHART_SECONDS, 40e-6, 80e-6, true, "0 20 us 40 us 60 us 80 us", 0, 80e-6);
  expect_y(BN_CHART_SECONDS, 40e-6, 80e-6, false, "0 20 µs 40 µs 60 µs 80 µs", 0, 80e-6);
  expect_y(BN_CHART_SECONDS, 0.9, 0.9, false, "0 0.2 s 0.4 s 0.6 s 0.8 s 1 s", 0, 1);
}

static void latencies_that_span_much_are_logarithmic(void **state)
{
  (void)state;
  expect_y(BN_CHART_SECONDS, 0.0021, 0.5, false, "2 ms 5 ms 10 ms 20 ms 50 ms 100 ms 200 ms 500 ms",
           0.002, 0.5);
  expect_y(BN_CHART_SECONDS, 90e-6, 3, false, "100 µs 1 ms 10 ms 100 ms 1 s", 50e-6, 5);
  expect_y(BN_CHART_SECONDS, 90e-6, 7, true, "100 us 1 ms 10 ms 100 ms 1 s 10 s", 50e-6, 10);
}

static void times_have_the_unit_that_fits(void **state)
{
  static const struct {
    double last_s, high;
    const char *unit;
  } cases[] = {{60, 60, "s"}, {1200, 20, "min"}, {7 * 86400.0, 168, "h"}, {0, 1, "s"}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct bn_chart c = {.x = BN_CHART_TIME};
    struct bn_axis a;

    add(bn_chart_panel(&c, "", BN_CHART_PER_S), cases[i].last_s, 1);
    bn_axis_x(&a, &c, 8);
    assert_string_equal(a.suffix, cases[i].unit);
    expect_near(a.high, cases[i].high);
    bn_chart_done(&c);
  }
}

static void ranks_end_with_the_last_that_is_known(void **state)
{
  struct bn_chart c = {.x = BN_CHART_RANK};
  struct bn_axis a;

  (void)state;
  add(bn_chart_panel(&c, "", BN_CHART_SECONDS), 2500, 1);
  bn_axis_x(&a, &c, 8);
  expect_marks(&a, "0 50 % 90 % 99 % 99.9 %");
  assert_true(a.log);
  expect_near(a.high, 2500);
  bn_chart_done(&c);
}

static void expect_values(const char *values, enum bn_chart_x x, size_t most, bool log,
                          const char *want)
{
  struct bn_chart c = {.x = x};
  struct bn_axis a;
  double value;
  int n;

  for (; sscanf(values, "%lf%n", &value, &n) == 1; values += n) {
    char text[32];

    (void)snprintf(text, sizeof text, "%g", value);
    assert_int_equal(bn_chart_mark(&c, value, text), 0);
  }
  bn_axis_x(&a, &c, most);
  expect_marks(&a, want);
  assert_int_equal(a.log, log);
  assert_true(a.low < a.mark[0].at && a.high > a.mark[a.n_marks - 1].at);
  bn_chart_done(&c);
}

static void values_that_crowd_are_logarithmic(void **state)
{
  (void)state;
  expect_values("1 2 4 8", BN_CHART_NUMBER, 20, false, "1 2 4 8");
  expect_values("1 2 4 8 16 32 64 128", BN_CHART_NUMBER, 20, true, "1 2 4 8 16 32 64 128");
  expect_values("0 1 10 1000", BN_CHART_NUMBER, 20, false, "0 1000");
  expect_values("3", BN_CHART_NUMBER, 20, false, "3");
}

static void marks_keep_their_distance(void **state)
{
  (void)state;
  expect_values("1 2 3 4 5 6 7 8 9 10 11 12", BN_CHART_NAME, 5, false, "1 4 7 12");
  expect_values("10 11 12 1000", BN_CHART_NUMBER, 7, true, "10 1000");
}

BN_TESTS(axis)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rates_begin_with_0),
      cmocka_unit_test(latencies_of_one_size_begin_with_0),
      cmocka_unit_test(latencies_that_span_much_are_logarithmic),
      cmocka_unit_test(times_have_the_unit_that_fits),
      cmocka_unit_test(ranks_end_with_the_last_that_is_known),
      cmocka_unit_test(values_that_crowd_are_logarithmic),
      cmocka_unit_test(marks_keep_their_distance),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
