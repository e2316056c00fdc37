/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdicts of a run that measured nothing, and what is refused before it. */
#include "cm.h"

#include <string.h>

#include "engine/judge.h"

static const struct bn_view_rules rules;

static void parse(struct bn_assert *a, const char *text)
{
  struct bn_err err = {0};

  assert_int_equal(bn_assert_parse(a, text, &err), 0);
}

static void nothing_measured_holds_nothing(void **state)
{
  struct bn_facts f = {.start_ns = 0};
  struct bn_assert a;
  struct bn_judge j;

  (void)state;
  parse(&a, "tps<100");
  bn_judge_init(&j, &a, 1);
  bn_judge_total(&j, NULL, &rules, &f);
  assert_false(f.verdict[0].found.holds || f.verdict[0].found.measured);
  bn_facts_done(&f);
}

static void the_first_that_is_not_measured_is_named(void **state)
{
  struct bn_metrics m;
  const struct bn_assert_scope scope = {.metrics = &m, .kinds = 1U << BN_KIND_CPU, .own = true};
  struct bn_err err = {0};
  struct bn_assert a[2];
  struct bn_judge j;

  (void)state;
  assert_int_equal(bn_metrics_init(&m, NULL), 0);
  parse(&a[0], "tps>100");
  parse(&a[1], "qps>1");
  bn_judge_init(&j, a, 1);
  assert_int_equal(bn_judge_check(&j, &scope, &err), 0);
  bn_judge_init(&j, a, 2);
  assert_int_equal(bn_judge_check(&j, &scope, &err), -1);
  assert_string_equal(err.text, "--assert=qps>1: this test does not measure queries_per_s");
  assert_int_equal(err.code, BN_ERR_OPTION);
  bn_metrics_done(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_measured_holds_nothing),
      cmocka_unit_test(the_first_that_is_not_measured_is_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
