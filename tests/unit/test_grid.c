/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sweep varies: lists and ranges, combinations, the order of the runs, what --stop-when
   leaves out, and medians. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/sweep/grid.h"
#include "study/sweep/tally.h"

/* A grid of --vary options, whose texts are parted by blanks. */
static int read(struct bn_grid *g, const char *text, struct bn_err *err)
{
  char copy[256], *rest = copy;
  char *item[64];
  struct bn_list list = {.item = item};

  (void)snprintf(copy, sizeof copy, "%s", text);
  while ((item[list.n] = strsep(&rest, ", ")) != NULL)
    list.n++;
  *g = (struct bn_grid){.n_axes = 0};
  return bn_grid_read(g, &list, err);
}

static void values_are(const char *text, const char *want)
{
  struct bn_err err = {0};
  struct bn_buf got = {.max = 0};
  struct bn_grid g;

  if (read(&g, text, &err) != 0)
    fail_msg("%s: %s", text, err.text);
  for (size_t i = 0; i < g.n_axes; i++)
    for (size_t k = 0; k < g.axis[i].n; k++)
      (void)bn_buf_printf(&got, "%s%s%s%s", got.len > 0 ? " " : "", k == 0 ? g.axis[i].name : "",
                          k == 0 ? "=" : "", g.axis[i].value[k]);
  assert_string_equal(got.data, want);
  bn_buf_done(&got);
  bn_grid_done(&g);
}

static void lists_and_ranges_have_their_values(void **state)
{
  (void)state;
  values_are("threads=1,2,4..64", "threads=1 2 4 8 16 32 64");
  values_are("threads=1..48", "threads=1 2 4 8 16 32 48");
  values_are("threads=10..1000", "threads=10 20 40 80 160 320 640 1000");
  values_are("threads=10..100:30", "threads=10 40 70 100");
  values_are("threads=0..10:4", "threads=0 4 8 10");
  values_are("file-block-size=512..4096", "file-block-size=512 1024 2048 4096");
  values_are("file-block-size=512..4K", "file-block-size=512 1K 2K 4K");
  values_are("file-total-size=256M..1G", "file-total-size=256M 512M 1G");
  values_are("memory-block-size=1K..3K:1K", "memory-block-size=1K 2K 3K");
  values_are("rand-type=uniform,zipfian threads=1,2", "rand-type=uniform zipfian threads=1 2");
  values_are("--threads=1,2", "threads=1 2");
  values_are("file-dir=../a,./b..c", "file-dir=../a ./b..c");
  values_are("connect=mysql://a/b?x=1,mysql://c/d?x=2", "connect=mysql://a/b?x=1 mysql://c/d?x=2");
}

static void what_makes_no_sense_is_refused(void **state)
{
  static const char *const cases[][2] = {
      {"1,2", "--vary=1: the option is missing; write NAME=VALUE,VALUE,..."},
      {"threads=", "--vary=threads=: the values are missing; write NAME=VALUE,VALUE,..."},
      {"threads=1,2,1", "--vary=threads: the value '1' is there twice"},
      {"threads=1 threads=2",
       "--vary=threads=2: 'threads' is varied twice; give all its values at once"},
      {"table-size=1 table_size=2",
       "--vary=table_size=2: 'table_size' is varied twice; give all its values at once"},
      {"threads=4..1",
       "--vary=threads: the range '4..1' must end with a larger number than it begins with"},
      {"threads=1..x",
       "--vary=threads: the range '1..x' must be A..B or A..B:STEP, in whole numbers"},
      {"threads=1..4:0", "--vary=threads: the step of the range '1..4:0' must be 1 or more"},
      {"threads=0..4",
       "--vary=threads: the range '0..4' cannot double 0; begin with 1, or add a step"},
      {"threads=1..5000:1", "--vary=threads: too many values; allowed: up to 1000"},
      {"a=1..100:1 b=1..100:1", "--vary=b: too many combinations of values; allowed: up to 2000"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct bn_err err = {0};
    struct bn_grid g;

    assert_int_equal(read(&g, cases[i][0], &err), -1);
    assert_string_equal(err.text, cases[i][1]);
    bn_grid_done(&g);
  }
}

static void the_largest_number_ends_a_range(void **state)
{
  (void)state;
  values_are("x=9223372036854775808..18446744073709551615",
             "x=9223372036854775808 18446744073709551615");
}

static void each_point_is_a_combination(void **state)
{
  struct bn_err err = {0};
  struct bn_buf name = {.max = 0};
  struct bn_grid g;

  (void)state;
  assert_int_equal(read(&g, "threads=1,2,4 table-size=10,20", &err), 0);
  assert_int_equal(bn_grid_points(&g), 6);
  bn_grid_name(&g, 5, &name);
  assert_string_equal(name.data, "threads=4 table-size=20");
  bn_buf_clear(&name);
  bn_grid_name(&g, 2, &name);
  assert_string_equal(name.data, "threads=2 table-size=10");
  bn_buf_done(&name);
  bn_grid_done(&g);
}

/* Each repeat has each point once, whatever the order is. */
static void has_all(const size_t *order, size_t points, size_t repeats)
{
  for (size_t r = 0; r < repeats; r++)
    for (size_t p = 0; p < points; p++) {
      size_t n = 0;

      for (size_t i = 0; i < points; i++)
        n += order[r * points + i] == p;
      assert_int_equal(n, 1);
    }
}

static void the_order_follows_from_the_seed(void **state)
{
  struct bn_err err = {0};
  struct bn_grid g;
  size_t *a, *b, *c, *longer;

  (void)state;
  assert_int_equal(read(&g, "threads=1..64 x=1,2,3", &err), 0);
  a = bn_grid_order(&g, 5, 42, false);
  b = bn_grid_order(&g, 5, 42, false);
  c = bn_grid_order(&g, 5, 43, false);
  longer = bn_grid_order(&g, 8, 42, false);
  has_all(a, 21, 5);
  assert_memory_equal(a, b, 105 * sizeof *a);
  assert_memory_equal(a, longer, 105 * sizeof *a);
  assert_memory_not_equal(a, c, 105 * sizeof *a);
  assert_memory_not_equal(a, a + 21, 21 * sizeof *a);
  free(a);
  free(b);
  free(c);
  free(longer);
  bn_grid_done(&g);
}

/* 6000 shuffles of 3 points: each of the 6 orders 1000 times, within 4 standard deviations. */
static void each_order_is_as_likely(void **state)
{
  enum { SHUFFLES = 6000, ORDERS = 27 };
  unsigned seen[ORDERS] = {0};
  struct bn_err err = {0};
  struct bn_grid g;
  size_t *order;

  (void)state;
  assert_int_equal(read(&g, "threads=1,2,3", &err), 0);
  order = bn_grid_order(&g, SHUFFLES, 5, false);
  for (size_t i = 0; i < SHUFFLES; i++)
    seen[order[3 * i] * 9 + order[3 * i + 1] * 3 + order[3 * i + 2]]++;
  for (size_t i = 0; i < ORDERS; i++)
    if (seen[i] > 0)
      assert_in_range(seen[i], 885, 1115);
  free(order);
  bn_grid_done(&g);
}

static void runs_of_the_same_data_follow_each_other(void **state)
{
  struct bn_err err = {0};
  struct bn_grid g;
  size_t *order;

  (void)state;
  assert_int_equal(read(&g, "threads=1..64 table-size=10,20,30", &err), 0);
  g.axis[1].of_data = true;
  order = bn_grid_order(&g, 4, 1, false);
  has_all(order, 21, 4);
  for (size_t r = 0; r < 4; r++) {
    unsigned changes = 0;

    for (size_t i = 1; i < 21; i++)
      changes += !bn_grid_same_data(&g, order[r * 21 + i - 1], order[r * 21 + i]);
    assert_int_equal(changes, 2);
  }
  free(order);
  bn_grid_done(&g);
}

static void the_first_repeat_can_ascend(void **state)
{
  struct bn_err err = {0};
  struct bn_grid g;
  size_t *order;

  (void)state;
  assert_int_equal(read(&g, "threads=16,1,4 x=1,2", &err), 0);
  order = bn_grid_order(&g, 2, 3, true);
  has_all(order, 6, 2);
  for (size_t i = 0; i < 6; i++)
    assert_int_equal(bn_grid_index(&g, order[i], 0), i < 2 ? 1 : i < 4 ? 2 : 0);
  free(order);
  bn_grid_done(&g);
}

/* --- what runs say about points --------------------------------------------------------------- */

/* Run k is of point k % points. */
static void start(struct bn_tally *t, struct bn_grid *g, const char *text, size_t *order,
                  size_t n_runs)
{
  struct bn_err err = {0};

  assert_int_equal(read(g, text, &err), 0);
  for (size_t i = 0; i < n_runs; i++)
    order[i] = i % bn_grid_points(g);
  assert_int_equal(bn_tally_init(t, g, order, n_runs), 0);
}

static void end(struct bn_tally *t, struct bn_grid *g)
{
  bn_tally_done(t);
  bn_grid_done(g);
}

static void measured(struct bn_tally *t, size_t run, double rate, bool stops)
{
  t->run[run].value = malloc(sizeof(double));
  t->run[run].value[0] = rate;
  t->run[run].n_values = 1;
  t->run[run].stops = stops;
  bn_tally_mark(t, run, BN_TALLY_DONE);
}

static void larger_values_are_left_out(void **state)
{
  size_t order[18];
  struct bn_tally t;
  struct bn_grid g;

  (void)state;
  start(&t, &g, "threads=1,8,64 table-size=10,20", order, 18);
  measured(&t, 0, 1, false);
  bn_tally_leave_out(&t, 0);
  bn_tally_leave_out(&t, 1); /* not measured */
  assert_int_equal(bn_tally_count(&t, BN_TALLY_LEFT_OUT), 0);
  measured(&t, 2, 1, true); /* threads=8 table-size=10 */
  measured(&t, 10, 1, true);
  bn_tally_leave_out(&t, 2);
  /* Of threads=64 table-size=10 those that are pending. */
  assert_int_equal(bn_tally_count(&t, BN_TALLY_LEFT_OUT), 2);
  assert_int_equal(t.run[4].state, BN_TALLY_LEFT_OUT);
  assert_int_equal(t.run[16].state, BN_TALLY_LEFT_OUT);
  end(&t, &g);
}

/* Whatever later runs say. */
static void more_than_half_of_the_runs_so_far_decide(void **state)
{
  size_t order[6];
  struct bn_tally t;
  struct bn_grid g;

  (void)state;
  start(&t, &g, "threads=1,2", order, 6);
  measured(&t, 0, 1, false);
  measured(&t, 2, 1, true);
  measured(&t, 4, 1, true);
  bn_tally_leave_out(&t, 0);
  bn_tally_leave_out(&t, 2); /* one of two */
  assert_int_equal(bn_tally_count(&t, BN_TALLY_LEFT_OUT), 0);
  bn_tally_leave_out(&t, 4);
  assert_int_equal(bn_tally_count(&t, BN_TALLY_LEFT_OUT), 1);
  assert_int_equal(t.run[5].state, BN_TALLY_LEFT_OUT);
  end(&t, &g);
}

static void medians_are_of_the_runs_that_ended_well(void **state)
{
  struct bn_tally_point seen;
  struct bn_spread s;
  size_t order[10], best;
  struct bn_tally t;
  struct bn_grid g;

  (void)state;
  start(&t, &g, "threads=1,2", order, 10);
  assert_false(bn_tally_best(&t, &best));
  measured(&t, 0, 30, false);
  measured(&t, 2, 10, false);
  bn_tally_mark(&t, 4, BN_TALLY_FAILED);
  measured(&t, 6, 20, false);
  measured(&t, 1, 40, false);
  measured(&t, 3, NAN, false);
  bn_tally_mark(&t, 5, BN_TALLY_LEFT_OUT);
  assert_true(bn_tally_spread(&t, 0, BN_TALLY_RATE, &s));
  assert_true(s.n == 3 && s.median == 20 && s.min == 10 && s.max == 30);
  measured(&t, 8, 26, false);
  assert_true(bn_tally_spread(&t, 0, BN_TALLY_RATE, &s));
  assert_true(s.n == 4 && s.median == 23);
  assert_false(bn_tally_spread(&t, 0, BN_TALLY_P95, &s));
  bn_tally_look(&t, 0, &seen);
  assert_true(seen.done == 4 && seen.failed == 1 && seen.pending == 0);
  bn_tally_look(&t, 1, &seen);
  assert_true(seen.done == 2 && seen.left_out == 1 && seen.pending == 2);
  assert_true(bn_tally_best(&t, &best) && best == 1);
  end(&t, &g);
}

BN_TESTS(grid)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_and_ranges_have_their_values),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      cmocka_unit_test(the_largest_number_ends_a_range),
      cmocka_unit_test(each_point_is_a_combination),
      cmocka_unit_test(the_order_follows_from_the_seed),
      cmocka_unit_test(each_order_is_as_likely),
      cmocka_unit_test(runs_of_the_same_data_follow_each_other),
      cmocka_unit_test(the_first_repeat_can_ascend),
      cmocka_unit_test(larger_values_are_left_out),
      cmocka_unit_test(more_than_half_of_the_runs_so_far_decide),
      cmocka_unit_test(medians_are_of_the_runs_that_ended_well),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
