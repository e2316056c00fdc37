/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Points of a study: which options make them, in which order they are, and which do not. */
#include "cm.h"

#include <string.h>

#include "study/points.h"

enum { RESULTS_MAX = 8 };

struct reports {
  struct bn_result result[RESULTS_MAX];
  const struct bn_result *list[RESULTS_MAX];
  struct bn_points points;
};

static void add(struct reports *b, size_t i, const char *test, const char *threads,
                const char *size)
{
  struct bn_facts *f = &b->result[i].facts;

  assert_non_null(bn_result_group(&b->result[i], test));
  bn_facts_option(f, &(struct bn_opt_fact){.name = "threads",
                                           .group = "General options",
                                           .text = threads,
                                           .origin = BN_FROM_COMMAND_LINE,
                                           .traits = BN_OPT_ADDED});
  bn_facts_option(
      f, &(struct bn_opt_fact){
             .name = "table-size", .group = "own", .text = size, .origin = BN_FROM_COMMAND_LINE});
  bn_facts_option(f, &(struct bn_opt_fact){.name = "rand-seed",
                                           .group = "General options",
                                           .text = i % 2 == 0 ? "1" : "2",
                                           .origin = BN_FROM_DEFAULT,
                                           .traits = BN_OPT_REPEAT_ONLY});
  bn_facts_option(f, &(struct bn_opt_fact){.name = "mysql-password",
                                           .group = "mysql options",
                                           .text = i % 2 == 0 ? "a" : "b",
                                           .origin = BN_FROM_FILE,
                                           .secret = true});
  b->list[i] = &b->result[i];
}

static void find(struct reports *b, const size_t *side, size_t n)
{
  struct bn_err err = {0};

  if (bn_points_find(b->list, side, n, &b->points, &err) != 0)
    fail_msg("%s", err.text);
}

static void expect_name(const struct reports *b, size_t point, const char *want)
{
  struct bn_buf name = {.max = 0};

  bn_points_name(&b->points, point, &name);
  assert_string_equal(name.data != NULL ? name.data : "", want);
  bn_buf_done(&name);
}

static void done(struct reports *b)
{
  bn_points_done(&b->points);
  for (size_t i = 0; i < RESULTS_MAX; i++)
    bn_result_done(&b->result[i]);
}

static void points_are_in_the_order_of_their_numbers(void **state)
{
  struct reports b = {.points = {.n = 0}};
  const size_t of[] = {2, 0, 1, 0, 3};

  (void)state;
  add(&b, 0, "oltp", "16", "1K");
  add(&b, 1, "oltp", "2", "1000");
  add(&b, 2, "oltp", "2", "1K");
  add(&b, 3, "oltp", "2", "1000");
  add(&b, 4, "oltp", "16", "auto");
  find(&b, NULL, 5);
  assert_int_equal(b.points.n, 4);
  assert_int_equal(b.points.n_options, 2);
  assert_string_equal(b.points.option[0], "table-size");
  assert_string_equal(b.points.option[1], "threads");
  expect_name(&b, 0, "table-size=1000 threads=2");
  expect_name(&b, 1, "table-size=1K threads=2");
  expect_name(&b, 3, "table-size=auto threads=16");
  for (size_t i = 0; i < 5; i++)
    assert_int_equal(b.points.of[i], of[i]);
  done(&b);
}

static void repeats_are_one_point_without_a_name(void **state)
{
  struct reports b = {.points = {.n = 0}};

  (void)state;
  add(&b, 0, "cpu", "1", NULL);
  add(&b, 1, "cpu", "1", NULL);
  find(&b, NULL, 2);
  assert_int_equal(b.points.n, 1);
  assert_int_equal(b.points.n_options, 0);
  expect_name(&b, 0, "");
  done(&b);
  find(&b, NULL, 0);
  assert_int_equal(b.points.n, 0);
  done(&b);
}

static void the_name_of_the_test_makes_points(void **state)
{
  struct reports b = {.points = {.n = 0}};

  (void)state;
  add(&b, 0, "mutex", "1", "");
  add(&b, 1, "cpu\n", "1", NULL);
  find(&b, NULL, 2);
  expect_name(&b, 0, "test=cpu\\x0a");
  expect_name(&b, 1, "test=mutex");
  done(&b);
}

/* The sides differ in table-size, and each has runs with 1 and with 2 threads. */
static void what_differs_between_sides_alone_makes_none(void **state)
{
  struct reports b = {.points = {.n = 0}};
  const size_t side[] = {0, 1, 0, 1};

  (void)state;
  add(&b, 0, "oltp", "1", "10");
  add(&b, 1, "oltp", "1", "20");
  add(&b, 2, "oltp", "2", "10");
  add(&b, 3, "oltp", "2", "20");
  find(&b, side, 4);
  assert_int_equal(b.points.n, 2);
  expect_name(&b, 0, "threads=1");
  assert_int_equal(b.points.of[0], b.points.of[1]);
  assert_int_equal(b.points.of[2], b.points.of[3]);
  done(&b);
}

/* As after an update of the program. */
static void an_unknown_option_counts_as_its_default(void **state)
{
  struct reports b = {.points = {.n = 0}};

  (void)state;
  for (size_t i = 0; i < 3; i++)
    add(&b, i, "oltp", "16", "1K");
  bn_facts_option(
      &b.result[1].facts,
      &(struct bn_opt_fact){.name = "new", .group = "own", .text = "5", .origin = BN_FROM_DEFAULT});
  bn_facts_option(
      &b.result[2].facts,
      &(struct bn_opt_fact){.name = "new", .group = "own", .text = "7", .origin = BN_FROM_FILE});
  find(&b, NULL, 2);
  assert_int_equal(b.points.n, 1);
  bn_points_done(&b.points);
  find(&b, NULL, 3);
  assert_int_equal(b.points.n, 2);
  assert_int_equal(b.points.of[0], b.points.of[1]);
  expect_name(&b, b.points.of[0], "new=5");
  done(&b);
}

BN_TESTS(points)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_in_the_order_of_their_numbers),
      cmocka_unit_test(repeats_are_one_point_without_a_name),
      cmocka_unit_test(the_name_of_the_test_makes_points),
      cmocka_unit_test(what_differs_between_sides_alone_makes_none),
      cmocka_unit_test(an_unknown_option_counts_as_its_default),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
