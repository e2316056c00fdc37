/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long assertions have been violated: seconds that hold begin anew, seconds that say nothing do
   not count, and what has ended the run does not hold in the end. */
#include "cm.h"

#include <string.h>

#include "engine/asserts.h"

static const struct bn_view_rules rules;

/* A difference of that length with that rate. */
static struct bn_view view_of(double span_s, double tps)
{
  return (struct bn_view){.span_s = span_s, .transactions_per_s = tps, .kind = BN_KIND_SQL};
}

static void parse(struct bn_assert *a, const char *text)
{
  struct bn_err err = {0};

  assert_int_equal(bn_assert_parse(a, text, &err), 0);
}

static const struct bn_assert *second(struct bn_asserts *j, double span_s, double tps)
{
  const struct bn_view v = view_of(span_s, tps);

  return bn_asserts_judge_second(j, &v, &rules);
}

static void seconds_in_a_row_count(void **state)
{
  struct bn_assert a[2];
  struct bn_asserts j;

  (void)state;
  parse(&a[0], "events>1000000");
  parse(&a[1], "tps>100");
  bn_asserts_init(&j, a, 2, 3);
  assert_null(second(&j, 1.001, 50));
  assert_null(second(&j, 0.999, 50));
  assert_null(second(&j, 1, 101)); /* it holds: from the beginning */
  assert_null(second(&j, 1, 100));
  assert_null(second(&j, 0.9995, 50));
  assert_ptr_equal(second(&j, 0.9995, 99), &a[1]);
}

/* The reporting thread was held up. */
static void a_long_second_counts_as_several(void **state)
{
  struct bn_assert a;
  struct bn_asserts j;

  (void)state;
  parse(&a, "tps>100");
  bn_asserts_init(&j, &a, 1, 3);
  assert_null(second(&j, 2.01, 50));
  assert_ptr_equal(second(&j, 0.99, 50), &a);
}

/* The intervals of several hosts are as long as --report-interval says. */
static void an_interval_counts_as_long_as_it_is(void **state)
{
  struct bn_assert a;
  struct bn_asserts j;

  (void)state;
  parse(&a, "tps>100");
  bn_asserts_init(&j, &a, 1, 1);
  for (int i = 0; i < 9; i++)
    assert_null(second(&j, 0.0999, 50));
  assert_ptr_equal(second(&j, 0.0999, 50), &a);
  bn_asserts_init(&j, &a, 1, 12);
  assert_null(second(&j, 10, 50));
  assert_ptr_equal(second(&j, 10, 50), &a);
}

static void the_first_second_may_be_enough(void **state)
{
  struct bn_assert a;
  struct bn_asserts j;

  (void)state;
  parse(&a, "tps>100");
  bn_asserts_init(&j, &a, 1, 0.5);
  assert_ptr_equal(second(&j, 1, 50), &a);
}

static void what_ended_the_run_does_not_hold(void **state)
{
  const struct bn_view good = view_of(10, 1000);
  struct bn_facts f = {.start_ns = 0};
  struct bn_assert a[2];
  struct bn_asserts j;

  (void)state;
  parse(&a[0], "tps>100");
  parse(&a[1], "tps>500");
  bn_asserts_init(&j, a, 2, 1);
  assert_ptr_equal(second(&j, 1, 200), &a[1]);
  bn_asserts_judge_total(&j, &good, &rules, &f);
  assert_int_equal(f.n_verdicts, 2);
  assert_true(f.verdict[0].found.holds && !f.verdict[0].found.ended_run);
  assert_true(!f.verdict[1].found.holds && f.verdict[1].found.ended_run);
  assert_true(f.verdict[1].found.value == 1000);
  assert_string_equal(f.verdict[1].text, "tps>500");
  assert_string_equal(f.verdict[1].unit, "1/s");
  bn_facts_done(&f);
}

static void nothing_measured_holds_nothing(void **state)
{
  struct bn_facts f = {.start_ns = 0};
  struct bn_assert a;
  struct bn_asserts j;

  (void)state;
  parse(&a, "tps<100");
  bn_asserts_init(&j, &a, 1, 0);
  bn_asserts_judge_total(&j, NULL, &rules, &f);
  assert_false(f.verdict[0].found.holds || f.verdict[0].found.measured);
  bn_facts_done(&f);
}

static void the_first_that_is_not_measured_is_named(void **state)
{
  struct bn_metrics m;
  const struct bn_assert_scope scope = {.metrics = &m, .kinds = 1U << BN_KIND_CPU, .native = true};
  struct bn_err err = {0};
  struct bn_assert a[2];
  struct bn_asserts j;

  (void)state;
  bn_metrics_init(&m, NULL);
  parse(&a[0], "tps>100");
  parse(&a[1], "qps>1");
  bn_asserts_init(&j, a, 1, 0);
  assert_int_equal(bn_asserts_check(&j, &scope, &err), 0);
  bn_asserts_init(&j, a, 2, 0);
  assert_int_equal(bn_asserts_check(&j, &scope, &err), -1);
  assert_string_equal(err.text, "--assert=qps>1: this test does not measure queries_per_s");
  assert_int_equal(err.code, BN_ERR_OPTION);
  bn_metrics_done(&m);
}

BN_TESTS(asserts)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seconds_in_a_row_count),
      cmocka_unit_test(a_long_second_counts_as_several),
      cmocka_unit_test(an_interval_counts_as_long_as_it_is),
      cmocka_unit_test(the_first_second_may_be_enough),
      cmocka_unit_test(what_ended_the_run_does_not_hold),
      cmocka_unit_test(nothing_measured_holds_nothing),
      cmocka_unit_test(the_first_that_is_not_measured_is_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
