/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements are summed by name over sessions and results; at most 256 names, the rest is
   "other". */
#include "measure/statements.h"

#include <stdio.h>
#include <string.h>

#include "cm.h"

static struct bn_statement *get(struct bn_statements *all, unsigned session, const char *name)
{
  struct bn_statement *st = bn_statements_get(all, session, name, strlen(name));

  assert_non_null(st);
  return st;
}

static void check(const struct bn_statement_table *t, const char *name, uint64_t count,
                  uint64_t rows, uint64_t errors)
{
  const struct bn_statement_sum *s = bn_statement_table_find(t, name);

  assert_non_null(s);
  assert_int_equal(bn_hist_count(s->hist), count);
  assert_int_equal(s->rows, rows);
  assert_int_equal(s->errors, errors);
}

static struct bn_statement_table make(bool hists)
{
  struct bn_statement_table t;

  bn_statement_table_init(&t, BN_STATEMENTS_ROWS, hists);
  return t;
}

/* Three sessions share two stripes. */
static void sessions_are_summed(void **state)
{
  struct bn_statements *all = bn_statements_new(3, 2);
  struct bn_statement_table base = make(true), now = make(true), copy = make(true);

  (void)state;
  assert_non_null(all);
  bn_statement_succeeded(get(all, 0, "a"), 1000, 5);
  bn_statement_table_take(&base, all);
  for (unsigned i = 0; i < 3; i++) {
    bn_statement_succeeded(get(all, i, "a"), 2000, 10);
    bn_statement_failed(get(all, i, "b"));
  }
  assert_ptr_equal(get(all, 1, "a"), get(all, 1, "a"));
  assert_ptr_not_equal(get(all, 0, "a"), get(all, 2, "a"));
  bn_statement_table_take(&now, all);
  check(&now, "a", 4, 35, 0);
  bn_statement_table_copy(&copy, &now);
  bn_statement_table_sub(&copy, &base);
  assert_int_equal(copy.n, 2);
  check(&copy, "a", 3, 30, 0);
  check(&copy, "b", 0, 0, 3);
  assert_int_equal(bn_hist_percentile(bn_statement_table_find(&copy, "a")->hist, 1), 2000);
  bn_statement_table_done(&base);
  bn_statement_table_done(&now);
  bn_statement_table_done(&copy);
  bn_statements_free(all);
}

/* Names in the order of first to last - 1. */
static void count_names(struct bn_statements *all, unsigned first, unsigned last)
{
  char name[16];

  for (unsigned i = first; i < last; i++) {
    (void)snprintf(name, sizeof name, "n%u", i);
    bn_statement_succeeded(get(all, 0, name), i, 1);
  }
}

static void further_names_are_others(void **state)
{
  struct bn_statements *all = bn_statements_new(1, 1), *more = bn_statements_new(1, 1);
  struct bn_statement_table t = make(true), sum = make(true);

  (void)state;
  assert_non_null(all);
  assert_non_null(more);
  count_names(all, 0, 300);
  count_names(all, 0, 10);
  bn_statement_table_take(&t, all);
  assert_int_equal(t.n, 257);
  check(&t, "n9", 2, 2, 0);
  check(&t, "n255", 1, 1, 0);
  assert_null(bn_statement_table_find(&t, "n256"));
  check(&t, "other", 44, 44, 0);

  /* Sums have the same limit. */
  count_names(more, 250, 260);
  bn_statement_failed(get(more, 0, "n5"));
  assert_true(bn_statement_table_merge(&sum, &t));
  bn_statement_table_take(&t, more);
  assert_true(bn_statement_table_merge(&sum, &t));
  assert_int_equal(sum.n, 257);
  check(&sum, "n5", 2, 2, 1);
  check(&sum, "n250", 2, 2, 0);
  check(&sum, "other", 48, 48, 0);
  bn_statement_table_done(&t);
  bn_statement_table_done(&sum);
  bn_statements_free(all);
  bn_statements_free(more);
}

static void sums_that_do_not_fit_are_refused(void **state)
{
  struct bn_statement_table a = make(true), b = make(true);

  (void)state;
  bn_statement_table_find_or_add(&a, "x")->rows = UINT64_MAX - 1;
  bn_statement_table_find_or_add(&b, "x")->rows = 1;
  assert_true(bn_statement_table_merge(&a, &b));
  assert_false(bn_statement_table_merge(&a, &b));
  bn_statement_table_done(&a);
  bn_statement_table_done(&b);
}

/* As of a checkpoint, which keeps no histograms. */
static void tables_may_be_without_times(void **state)
{
  struct bn_statement_table a = make(true), b = make(false), none = {.room = 0};

  (void)state;
  bn_statement_table_find_or_add(&a, "x")->errors = 3;
  bn_statement_table_copy(&b, &a);
  assert_int_equal(bn_statement_table_find(&b, "x")->errors, 3);
  assert_null(bn_statement_table_find(&b, "x")->hist);
  bn_statement_table_copy(&none, &a);
  assert_int_equal(none.n, 0);
  assert_null(bn_statement_table_find_or_add(&none, "x"));
  bn_statement_table_done(&a);
  bn_statement_table_done(&b);
  bn_statement_table_done(&none);
}

static void names_have_a_greatest_length(void **state)
{
  struct bn_statements *all = bn_statements_new(1, 1);
  char name[2 * BN_STATEMENT_NAME];

  (void)state;
  assert_non_null(all);
  memset(name, 'a', sizeof name);
  assert_ptr_equal(bn_statements_get(all, 0, name, sizeof name),
                   bn_statements_get(all, 0, name, BN_STATEMENT_NAME));
  bn_statements_free(all);
}

BN_TESTS(statements)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sessions_are_summed),
      cmocka_unit_test(further_names_are_others),
      cmocka_unit_test(sums_that_do_not_fit_are_refused),
      cmocka_unit_test(tables_may_be_without_times),
      cmocka_unit_test(names_have_a_greatest_length),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
