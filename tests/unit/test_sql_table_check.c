/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The check of the tables before a run, on a driver in the test's hands, and the alarm that bounds
   it. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "cm.h"
#include "sql/link.h"
#include "sql/table_check.h"
#include "sqlfake.h"

static const struct bn_sql_table_check three = {
    .prefix = "sbtest", .n = 3, .rows = 10, .option = "tables"};

static int check(struct fixture *f, struct bn_err *err)
{
  fake.queries = 0;
  return bn_sql_table_check(f->sys, f->s, &three, err);
}

static void names_a_missing_table(void **state)
{
  struct bn_err err = {0};
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1146});
  assert_int_equal(check(&f, &err), -1);
  assert_string_equal(err.text, "table 'sbtest1' does not exist: run 'prepare' first");
  assert_int_equal(fake.queries, 1);
  assert_int_equal(fake.connects, fake.disconnects);
  assert_int_equal(fake.interrupts, 0);
  fixture_close(&f);
}

/* Changes the answer of a server: the second one has no table. */
static void second_lacks_tables(unsigned place, const char *sql, struct fake_answer *a)
{
  (void)sql;
  if (place == 1)
    *a = (struct fake_answer){.rc = BN_SQL_ERROR, .code = 1146};
}

static void names_the_server_that_lacks_a_table(void **state)
{
  struct bn_err err = {0};
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  fake.places = 3;
  fake.tell = second_lacks_tables;
  assert_int_equal(check(&f, &err), 0); /* its thread uses the first one */
  f.conf.plan.threads = 2;
  assert_int_equal(check(&f, &err), -1);
  assert_string_equal(err.text, "table 'sbtest1' does not exist on place 1: run 'prepare' first, "
                                "for each server if they share no data");
  assert_int_equal(fake.queries, 2);
  assert_int_equal(fake.connects, fake.disconnects);
  fixture_close(&f);
}

static void lets_an_ignored_absence_pass(void **state)
{
  char ignored[] = "1146";
  struct bn_err err = {0};
  struct fixture f;

  (void)state;
  struct bn_sql_conn *c = fixture_ignoring(&f, ignored);

  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1146});
  assert_int_equal(check(&f, &err), 0);
  assert_int_equal(fake.queries, 1);
  bn_sql_conn_free(c);
  fixture_close(&f);
}

static void takes_no_row_for_an_empty_table(void **state)
{
  struct bn_err err = {0};
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  plan((struct fake_answer){.rc = BN_SQL_ROWS});
  assert_int_equal(check(&f, &err), 0);
  assert_int_equal(fake.queries, 1);
  fixture_close(&f);
}

static atomic_int rung;

static void ring(void *handle)
{
  assert_null(handle);
  atomic_fetch_add(&rung, 1);
}

static void rings_once_when_it_is_time(void **state)
{
  const struct bn_driver ops = {.interrupt = ring};
  const struct bn_sql_link link = {.ops = &ops};
  struct bn_sql_alarm a;

  (void)state;
  atomic_store(&rung, 0);
  assert_int_equal(bn_sql_alarm_set(&a, &link, 1), 0);
  while (atomic_load(&rung) == 0)
    (void)sched_yield();
  bn_sql_alarm_clear(&a);
  assert_int_equal(atomic_load(&rung), 1);
}

static void does_not_ring_once_it_is_cleared(void **state)
{
  const struct bn_driver ops = {.interrupt = ring};
  const struct bn_sql_link link = {.ops = &ops};
  struct bn_sql_alarm a;

  (void)state;
  atomic_store(&rung, 0);
  assert_int_equal(bn_sql_alarm_set(&a, &link, INT64_MAX), 0);
  bn_sql_alarm_clear(&a);
  assert_int_equal(atomic_load(&rung), 0);
}

static void is_not_set_where_nothing_interrupts(void **state)
{
  const struct bn_driver ops = {.interrupt = NULL};
  const struct bn_sql_link link = {.ops = &ops};
  struct bn_sql_alarm a;

  (void)state;
  assert_int_equal(bn_sql_alarm_set(&a, &link, 1), -1);
}

BN_TESTS(sql_table_check)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_a_missing_table),
      cmocka_unit_test(names_the_server_that_lacks_a_table),
      cmocka_unit_test(lets_an_ignored_absence_pass),
      cmocka_unit_test(takes_no_row_for_an_empty_table),
      cmocka_unit_test(rings_once_when_it_is_time),
      cmocka_unit_test(does_not_ring_once_it_is_cleared),
      cmocka_unit_test(is_not_set_where_nothing_interrupts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
