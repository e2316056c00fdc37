/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements that are prepared in one exchange, and the loss of their connection meanwhile. */
#include <string.h>

#include "cm.h"
#include "sqlfake.h"

static struct bn_sql_conn *connect_to(struct fixture *f)
{
  struct bn_sql_conn *c = bn_sql_connect(f->drv, f->s, NULL, NULL, 0);

  assert_non_null(c);
  return c;
}

/* Oldest first; those that the driver leaves are prepared as if nobody had held them. */
static void prepares_together(void **state)
{
  struct fixture f;
  struct bn_sql_stmt *st[4];
  bool is_null = true;
  int64_t value = 0;
  const struct bn_sql_bind b = {.type = BN_SQL_INT64, .is_null = &is_null, .data = &value};

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  bn_sql_hold_prepares(f.s);
  st[0] = bn_sql_prepare(c, "A", 1);
  st[1] = bn_sql_prepare(c, "B ?", 3);
  assert_int_equal(bn_sql_bind(st[1], &b, 1), 0);
  st[2] = bn_sql_prepare(c, "C ?", 3);
  assert_int_equal(bn_sql_bind(st[2], &b, 1), 0);
  st[3] = bn_sql_prepare(c, "D", 1);
  assert_string_equal(fake.log, "connect 0;");
  fake.together = 2;
  assert_int_equal(bn_sql_prepare_held(f.s), 0);
  assert_string_equal(fake.log, "connect 0;all 4 A B ?;prepare C ?;bind 1;prepare D;");
  assert_string_equal(bn_sql_conn_view(c)->sql_errmsg, "");
  fake.log[0] = '\0';
  for (int i = 0; i < 4; i++)
    (void)bn_sql_execute(st[i]);
  assert_string_equal(fake.log, "execute A;execute B ?;execute C ?;execute D;");
  for (int i = 0; i < 4; i++)
    bn_sql_stmt_free(st[i]);
  fixture_close(&f);
}

/* More than are prepared at once, and one that cannot be. */
static void tells_what_cannot_be_prepared_together(void **state)
{
  enum { N = BN_SQL_AT_ONCE + 1 };
  struct fixture f;
  struct bn_sql_stmt *st[N];

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  bn_sql_hold_prepares(f.s);
  for (int i = 0; i < N; i++)
    st[i] = bn_sql_prepare(c, "A", 1);
  fake.together = BN_SQL_AT_ONCE;
  assert_int_equal(bn_sql_prepare_held(f.s), 0);
  assert_non_null(strstr(fake.log, "all 64 A A"));
  assert_non_null(strstr(fake.log, ";all 1 A;"));
  bn_sql_hold_prepares(f.s);
  bn_sql_stmt_free(st[0]);
  st[0] = bn_sql_prepare(c, "B", 1);
  fake.together = 0;
  fake.refuse_prepare = 1;
  capture_begin();
  assert_int_equal(bn_sql_prepare_held(f.s), -1);
  assert_non_null(strstr(capture_end(), "FATAL: "));
  for (int i = 0; i < N; i++)
    bn_sql_stmt_free(st[i]);
  fixture_close(&f);
}

static unsigned times_in_log(const char *what)
{
  unsigned n = 0;

  for (const char *p = fake.log; (p = strstr(p, what)) != NULL; p += strlen(what))
    n++;
  return n;
}

enum { HELD = BN_SQL_AT_ONCE + 2 };

/* In that exchange, from 1. */
static int prepare_and_lose(struct fixture *f, struct bn_sql_conn *c, struct bn_sql_stmt **st,
                            unsigned in)
{
  bn_sql_hold_prepares(f->s);
  for (int i = 0; i < HELD; i++)
    st[i] = bn_sql_prepare(c, "A", 1);
  fake.together = BN_SQL_AT_ONCE;
  fake.lost_together = in;
  return bn_sql_prepare_held(f->s);
}

static void tells_of_a_connection_lost_while_it_prepares_together(void **state)
{
  struct bn_sql_stmt *st[HELD];
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  capture_begin();
  assert_int_equal(prepare_and_lose(&f, c, st, 2), -1);
  assert_string_equal(capture_end(), "FATAL: fake_prepare() failed\nFATAL: error 2013: failure "
                                     "2013 for query 'A'\n");
  assert_null(strstr(fake.log, "prepare A;"));
  for (int i = 0; i < HELD; i++)
    bn_sql_stmt_free(st[i]);
  fixture_close(&f);
}

/* The new connection gets all of them, one by one, also those that the old one had. */
static void prepares_all_again_after_a_loss_that_is_ignored(void **state)
{
  struct bn_sql_stmt *st[HELD];
  struct fixture f;
  char all[] = "all";

  (void)state;
  struct bn_sql_conn *c = fixture_ignoring(&f, all);

  assert_int_equal(prepare_and_lose(&f, c, st, 2), 0);
  assert_non_null(strstr(fake.log, ";all 2;close;"));
  assert_int_equal(times_in_log("prepare A;"), HELD);
  for (int i = 0; i < HELD; i++)
    (void)bn_sql_execute(st[i]);
  assert_int_equal(times_in_log("prepare A;"), HELD);
  assert_int_equal(times_in_log("execute A;"), HELD);
  for (int i = 0; i < HELD; i++)
    bn_sql_stmt_free(st[i]);
  fixture_close(&f);
}

/* It is lost again while it gets them: those that it had go with it. */
static void prepares_all_again_after_each_loss(void **state)
{
  struct bn_sql_stmt *st[HELD];
  struct fixture f;
  char all[] = "all";

  (void)state;
  struct bn_sql_conn *c = fixture_ignoring(&f, all);

  fake.spare_prepare = 30;
  fake.refuse_prepare = 1;
  assert_int_equal(prepare_and_lose(&f, c, st, 2), 0);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 2);
  assert_int_equal(times_in_log("prepare A;"), 30 + 1 + HELD);
  for (int i = 0; i < HELD; i++)
    (void)bn_sql_execute(st[i]);
  assert_int_equal(times_in_log("prepare A;"), 30 + 1 + HELD);
  assert_int_equal(times_in_log("execute A;"), HELD);
  for (int i = 0; i < HELD; i++)
    bn_sql_stmt_free(st[i]);
  fixture_close(&f);
}

/* Lost when one of them is prepared by itself, behind 63 that the server had already. */
static void prepares_all_again_after_a_later_loss(void **state)
{
  struct bn_sql_stmt *st[HELD];
  struct fixture f;
  char all[] = "all";

  (void)state;
  struct bn_sql_conn *c = fixture_ignoring(&f, all);

  bn_sql_hold_prepares(f.s);
  for (int i = 0; i < HELD; i++)
    st[i] = bn_sql_prepare(c, "A", 1);
  fake.together = BN_SQL_AT_ONCE - 1;
  fake.refuse_prepare = 1;
  assert_int_equal(bn_sql_prepare_held(f.s), 0);
  assert_non_null(strstr(fake.log, "disconnect;connect 0;prepare A;all 2 A A;prepare A;"));
  fake.log[0] = '\0';
  for (int i = 0; i < HELD; i++)
    (void)bn_sql_execute(st[i]);
  assert_int_equal(times_in_log("execute A;"), HELD);
  assert_int_equal(times_in_log("prepare "), 0);
  for (int i = 0; i < HELD; i++)
    bn_sql_stmt_free(st[i]);
  fixture_close(&f);
}

BN_TESTS(sql_together)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(prepares_together),
      cmocka_unit_test(tells_what_cannot_be_prepared_together),
      cmocka_unit_test(tells_of_a_connection_lost_while_it_prepares_together),
      cmocka_unit_test(prepares_all_again_after_a_loss_that_is_ignored),
      cmocka_unit_test(prepares_all_again_after_each_loss),
      cmocka_unit_test(prepares_all_again_after_a_later_loss),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
