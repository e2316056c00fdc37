/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SQLite driver: an interruption ends what runs and what begins afterwards; the results of a
   text with several statements. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cm.h"
#include "dialect/dialect.h"
#include "drivers/sqlite/sqlite.h"

/* Some seconds, if nothing ends it. */
#define LONG_COUNT(first)                                                                          \
  "WITH RECURSIVE n(i) AS (SELECT " first " UNION ALL SELECT i + 1 FROM n LIMIT 10000000) "        \
  "SELECT count(*) FROM n"

struct fixture {
  struct bn_sqlite_conf conf;
  void *self;
  struct bn_sqlite_conn conn;
};

static void fixture_open(struct fixture *f)
{
  static const struct bn_driver_host host = {.policy = &bn_policy_bench,
                                             .now_ns = bn_clock_mono,
                                             .alloc = bn_alloc,
                                             .resize = bn_alloc_resize,
                                             .text = bn_alloc_text};
  static char db[] = ":memory:";
  const struct bn_sql_target target = {.ordinal = 0};
  struct bn_sql_diag d = {0};
  struct bn_err err = {0};

  memset(f, 0, sizeof *f);
  f->conf = (struct bn_sqlite_conf){.db = db, .journal_mode = 4, .synchronous = 1};
  assert_int_equal(bench_driver.init(&f->self, &f->conf, &host, &err), 0);
  assert_int_equal(bench_driver.connect(f->self, &f->conn, &target, UINT64_MAX, &d), BN_SQL_DONE);
}

static void fixture_close(struct fixture *f)
{
  bench_driver.disconnect(&f->conn);
  bench_driver.done(f->self);
}

static enum bn_sql query(struct fixture *f, const char *sql, struct bn_sql_diag *d)
{
  struct bn_sql_result r = {0};

  *d = (struct bn_sql_diag){0};
  return bench_driver.query(&f->conn, sql, strlen(sql), &r, d);
}

static void expect_interrupted(struct fixture *f, const char *sql)
{
  struct bn_sql_diag d;

  assert_int_equal(query(f, sql, &d), BN_SQL_ERROR);
  assert_string_equal(d.state, "57014");
  assert_string_equal(d.text, "interrupted");
  assert_true(d.rolled_back);
}

/* SQLite itself forgets an interruption that comes while nothing runs. */
static void an_interruption_between_statements_is_kept(void **state)
{
  struct bn_sql_diag d;
  struct fixture f;

  (void)state;
  fixture_open(&f);
  assert_int_equal(query(&f, "BEGIN", &d), BN_SQL_DONE);
  assert_int_equal(query(&f, "CREATE TABLE t(a)", &d), BN_SQL_DONE);
  bench_driver.interrupt(&f.conn);
  expect_interrupted(&f, LONG_COUNT("1"));
  expect_interrupted(&f, "SELECT 1");
  fixture_close(&f);
}

/* As another thread does it, but only the driver's part: SQLite has forgotten its own. */
static void interrupt_here(sqlite3_context *context, int argc, sqlite3_value **argv)
{
  struct bn_sqlite_conn *c = sqlite3_user_data(context);

  (void)argc;
  (void)argv;
  atomic_store(&c->interrupted, true);
  sqlite3_result_int(context, 1);
}

static void an_interruption_at_the_beginning_is_seen_later(void **state)
{
  struct bn_sql_diag d;
  struct fixture f;

  (void)state;
  fixture_open(&f);
  assert_int_equal(sqlite3_create_function(f.conn.db, "interrupt_here", 0, SQLITE_UTF8, &f.conn,
                                           interrupt_here, NULL, NULL),
                   SQLITE_OK);
  assert_int_equal(query(&f, "BEGIN", &d), BN_SQL_DONE);
  expect_interrupted(&f, LONG_COUNT("interrupt_here()"));
  fixture_close(&f);
}

static void the_transaction_is_known(void **state)
{
  static const struct {
    const char *sql;
    enum bn_sql_transaction then;
  } steps[] = {{"SELECT 1", BN_TRANSACTION_OWN},       {"BEGIN", BN_TRANSACTION_OPEN},
               {"COMMIT", BN_TRANSACTION_OWN},         {"SAVEPOINT s", BN_TRANSACTION_OPEN},
               {"ROLLBACK TO s", BN_TRANSACTION_OPEN}, {"CREATE TABLE t(a)", BN_TRANSACTION_OPEN},
               {"RELEASE s", BN_TRANSACTION_OWN}};
  struct bn_sql_diag d;
  struct fixture f;

  (void)state;
  fixture_open(&f);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    assert_int_equal(query(&f, steps[i].sql, &d), i == 0 ? BN_SQL_ROWS : BN_SQL_DONE);
    assert_int_equal(bench_driver.transaction(&f.conn), steps[i].then);
  }
  fixture_close(&f);
}

/* Returns the outcome of the second statement of a text, whose first one is done. */
static enum bn_sql query_second(struct fixture *f, const char *sql, struct bn_sql_diag *d)
{
  struct bn_sql_result r = {0};

  *d = (struct bn_sql_diag){0};
  assert_int_equal(bench_driver.query(&f->conn, sql, strlen(sql), &r, d), BN_SQL_DONE);
  assert_true(r.more);
  return bench_driver.next(&f->conn, NULL, &r, d);
}

static void a_later_statement_that_fails_is_told(void **state)
{
  struct bn_sql_diag d;
  struct fixture f;

  (void)state;
  fixture_open(&f);
  assert_int_equal(query_second(&f, "CREATE TABLE t(a PRIMARY KEY); INSERT INTO t VALUES (1)", &d),
                   BN_SQL_DONE);
  assert_int_equal(query_second(&f, "INSERT INTO t VALUES (2); INSERT INTO t VALUES (1)", &d),
                   BN_SQL_ERROR);
  assert_string_equal(d.state, "23505");
  fixture_close(&f);
}

BN_TESTS(sqlite_exec)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_interruption_between_statements_is_kept),
      cmocka_unit_test(an_interruption_at_the_beginning_is_seen_later),
      cmocka_unit_test(the_transaction_is_known),
      cmocka_unit_test(a_later_statement_that_fails_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
