/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The 1,024-step grid has sysbench's values and prints sysbench's table. */
#include "base/geohist.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hist.h"
#include "cm.h"

static void begin(struct bn_geohist *g)
{
  assert_int_equal(bn_geohist_init(g, BN_GEOHIST_SIZE, BN_GEOHIST_MIN_MS, BN_GEOHIST_MAX_MS), 0);
}

static void test_grid_values(void **state)
{
  static const double printed[] = {139.85, 142.39, 144.97, 147.61, 150.29}; /* neighbours */
  struct bn_geohist g;

  (void)state;
  begin(&g);
  assert_true(fabs(bn_geohist_value(&g, 0) - 0.001) < 1e-12);
  assert_true(fabs(bn_geohist_value(&g, 1023) - 100000) < 1e-6);
  for (size_t i = 1; i < BN_GEOHIST_SIZE; i++)
    assert_true(fabs(bn_geohist_value(&g, i) / bn_geohist_value(&g, i - 1) - 1.01817) < 1e-5);
  bn_geohist_update(&g, 139.85, 1);
  for (size_t i = 0; i < BN_GEOHIST_SIZE; i++)
    if (g.count[i] != 0)
      for (size_t k = 0; k < 5; k++)
        assert_true(fabs(bn_geohist_value(&g, i + k) - printed[k]) < 0.005);
  bn_geohist_done(&g);
}

static void test_values_fall_into_the_nearest_bucket(void **state)
{
  struct bn_geohist g;

  (void)state;
  begin(&g);
  for (size_t i = 0; i < BN_GEOHIST_SIZE; i++) {
    bn_geohist_update(&g, bn_geohist_value(&g, i) * 1.009, 1); /* half a step is 1.00905 */
    bn_geohist_update(&g, bn_geohist_value(&g, i) / 1.009, 2);
    assert_int_equal(g.count[i], 3);
  }
  bn_geohist_done(&g);
}

static void test_ends_are_clamped(void **state)
{
  struct bn_geohist g;

  (void)state;
  begin(&g);
  bn_geohist_update(&g, 0, 1);
  bn_geohist_update(&g, -1, 1);
  bn_geohist_update(&g, NAN, 1);
  bn_geohist_update(&g, 1e-9, 1);
  bn_geohist_update(&g, 1e9, 1);
  bn_geohist_update(&g, INFINITY, 1);
  assert_int_equal(g.count[0], 4);
  assert_int_equal(g.count[BN_GEOHIST_SIZE - 1], 2);
  bn_geohist_done(&g);
}

static void test_bad_arguments(void **state)
{
  struct bn_geohist g;

  (void)state;
  assert_int_equal(bn_geohist_init(&g, 1, 1, 2), -1);
  assert_int_equal(bn_geohist_init(&g, 10, 0, 2), -1);
  assert_int_equal(bn_geohist_init(&g, 10, 2, 2), -1);
  assert_int_equal(bn_geohist_init(&g, 10, NAN, 2), -1);
  assert_int_equal(bn_geohist_init(&g, 10, 1, INFINITY), -1);
  assert_int_equal(bn_geohist_init(&g, SIZE_MAX / 4, 1, 2), -1);
  bn_geohist_done(&g);
}

/* Nine events of 2.1 ms and one of 20.1 ms: sysbench's table has 2.11 and 20.00. */
static void test_table(void **state)
{
  static const char expected[] = "Latency histogram (values are in milliseconds)\n"
                                 "       value  ------------- distribution ------------- count\n"
                                 "       0.001 |****                                     1\n"
                                 "       2.106 |**************************************** 9\n"
                                 "      20.002 |****                                     1\n"
                                 "  100000.000 |*********                                2\n"
                                 " \n";
  struct bn_geohist g;
  struct bn_hist *h = bn_hist_new();
  char *text;
  size_t len;
  FILE *out = open_memstream(&text, &len);

  (void)state;
  assert_true(h != NULL && out != NULL);
  begin(&g);
  for (int i = 0; i < 9; i++)
    bn_hist_record(h, 2100000);
  bn_hist_record(h, 20100000);
  bn_hist_record(h, 0);
  bn_hist_record(h, UINT64_C(200000) * 1000000);
  bn_hist_record(h, UINT64_MAX);
  bn_geohist_add_hist(&g, h);
  bn_geohist_print(&g, false, out);
  assert_int_equal(fclose(out), 0);
  assert_string_equal(text, expected);
  free(text);
  bn_hist_free(h);
  bn_geohist_done(&g);
}

/* A latency bucket counts where its middle lies, also when it reaches into two steps. */
static void test_middles_decide(void **state)
{
  struct bn_geohist from_hist, expected;
  struct bn_hist *h = bn_hist_new();

  (void)state;
  assert_non_null(h);
  begin(&from_hist);
  begin(&expected);
  for (size_t i = 0; i < BN_HIST_BUCKETS; i++) {
    bn_hist_record(h, bn_hist_lowest(i));
    bn_geohist_update(&expected, (double)(bn_hist_lowest(i) + bn_hist_highest(i)) / 2e6, 1);
  }
  bn_geohist_add_hist(&from_hist, h);
  assert_memory_equal(from_hist.count, expected.count, BN_GEOHIST_SIZE * sizeof *expected.count);
  bn_geohist_done(&from_hist);
  bn_geohist_done(&expected);
  bn_hist_free(h);
}

/* In bench's own report a value below 0.1 keeps three digits, too. */
static void test_significant_digits(void **state)
{
  static const char expected[] = "Latency histogram (values are in milliseconds)\n"
                                 "       value  ------------- distribution ------------- count\n"
                                 "     0.00430 |********************                     1\n"
                                 "      0.0439 |**************************************** 2\n"
                                 "       0.440 |********************                     1\n"
                                 "      20.002 |********************                     1\n"
                                 " \n";
  struct bn_geohist g;
  char *text;
  size_t len;
  FILE *out = open_memstream(&text, &len);

  (void)state;
  assert_non_null(out);
  begin(&g);
  bn_geohist_update(&g, 0.0043, 1);
  bn_geohist_update(&g, 0.044, 2);
  bn_geohist_update(&g, 0.44, 1);
  bn_geohist_update(&g, 20, 1);
  bn_geohist_print(&g, true, out);
  assert_int_equal(fclose(out), 0);
  assert_string_equal(text, expected);
  free(text);
  bn_geohist_done(&g);
}

static void test_empty_table(void **state)
{
  struct bn_geohist g;
  char *text;
  size_t len;
  FILE *out = open_memstream(&text, &len);

  (void)state;
  assert_non_null(out);
  begin(&g);
  bn_geohist_print(&g, false, out);
  assert_int_equal(fclose(out), 0);
  assert_string_equal(text, "Latency histogram (values are in milliseconds)\n \n");
  free(text);
  bn_geohist_done(&g);
}

BN_TESTS(geohist)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grid_values),
      cmocka_unit_test(test_values_fall_into_the_nearest_bucket),
      cmocka_unit_test(test_ends_are_clamped),
      cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_middles_decide),
      cmocka_unit_test(test_significant_digits),
      cmocka_unit_test(test_empty_table),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
