/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The null driver takes the time of statements by a waiter or in place, and an interrupted
   connection is lost. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cm.h"
#include "drivers/null/options.h"
#include "option/delay.h"

enum { MS = 1000000 };

/* The waiter's clock, and what it was asked for. */
static uint64_t now_ns, until_ns;
static unsigned waits;
static bool comes_early;

static uint64_t fake_now(void)
{
  return now_ns;
}

static int fake_wait(const struct bn_sql_waiter *w, int fd, short events, bool *armed,
                     uint64_t deadline_ns)
{
  (void)w;
  assert_true(fd == -1 && events == 0 && armed == NULL);
  until_ns = deadline_ns;
  waits++;
  now_ns = comes_early ? deadline_ns - 1 : deadline_ns;
  return 0;
}

static const struct bn_sql_waiter waiter = {.wait = fake_wait};

struct fixture {
  void *self, *conn, *stmt;
  struct bn_null_conf conf;
  struct bn_sql_diag diag;
};

static void open_it(struct fixture *f, const char *latency, const struct bn_sql_waiter *w)
{
  const struct bn_driver_host host = {.alloc = bn_alloc,
                                      .now_ns = w != NULL ? fake_now : bn_clock_mono};
  const struct bn_sql_target target = {.waiter = w};
  struct bn_err err = {0};

  memset(f, 0, sizeof *f);
  now_ns = 1000 * (uint64_t)MS;
  waits = 0;
  comes_early = false;
  f->conf.rows = 1;
  assert_int_equal(bn_delay_parse(latency, &f->conf.delay), 0);
  f->conn = calloc(1, bench_driver.conn_size);
  f->stmt = calloc(1, bench_driver.stmt_size);
  assert_true(f->conn != NULL && f->stmt != NULL);
  assert_int_equal(bench_driver.init(&f->self, &f->conf, &host, &err), 0);
  assert_int_equal(bench_driver.connect(f->self, f->conn, &target, UINT64_MAX, &f->diag),
                   BN_SQL_DONE);
  assert_int_equal(bench_driver.prepare(f->conn, f->stmt, "SELECT 1", 8, &f->diag), BN_SQL_DONE);
  assert_int_equal(bench_driver.bind(f->stmt, NULL, 0, &f->diag), BN_SQL_DONE);
  assert_int_equal(waits, 0);
}

static void close_it(struct fixture *f)
{
  bench_driver.close(f->stmt);
  bench_driver.disconnect(f->conn);
  bench_driver.done(f->self);
  free(f->stmt);
  free(f->conn);
}

static enum bn_sql query(struct fixture *f, const char *sql)
{
  struct bn_sql_result r = {0};

  memset(&f->diag, 0, sizeof f->diag);
  return bench_driver.query(f->conn, sql, strlen(sql), &r, &f->diag);
}

static enum bn_sql execute(struct fixture *f)
{
  struct bn_sql_result r = {0};

  memset(&f->diag, 0, sizeof f->diag);
  return bench_driver.execute(f->stmt, &r, &f->diag);
}

static void assert_lost(const struct fixture *f, enum bn_sql rc)
{
  assert_int_equal(rc, BN_SQL_LOST);
  assert_string_equal(f->diag.state, "08006");
  assert_string_equal(f->diag.text, "the connection was interrupted");
  assert_int_equal(bench_driver.classify(&f->diag), BN_CLASS_CONNECTION);
}

static void waits_for_each_statement(void **state)
{
  struct fixture f;

  (void)state;
  assert_true(bench_driver.waits);
  open_it(&f, "5ms", &waiter);
  assert_int_equal(query(&f, "BEGIN"), BN_SQL_DONE);
  assert_int_equal(until_ns, 1005 * (uint64_t)MS);
  now_ns += MS;
  assert_int_equal(execute(&f), BN_SQL_ROWS);
  assert_int_equal(until_ns, 1011 * (uint64_t)MS);
  assert_int_equal(waits, 2);
  close_it(&f);
}

static void is_lost_after_a_wait_that_ends_early(void **state)
{
  struct fixture f;

  (void)state;
  open_it(&f, "5ms", &waiter);
  comes_early = true;
  assert_lost(&f, query(&f, "COMMIT"));
  comes_early = false;
  assert_lost(&f, execute(&f));
  assert_lost(&f, query(&f, "COMMIT"));
  assert_int_equal(waits, 1);
  close_it(&f);
}

static void never_waits_without_a_latency(void **state)
{
  struct fixture f;

  (void)state;
  open_it(&f, "0", &waiter);
  assert_int_equal(query(&f, "SELECT 1"), BN_SQL_ROWS);
  assert_int_equal(execute(&f), BN_SQL_ROWS);
  assert_int_equal(waits, 0);
  close_it(&f);
}

static void *interrupt(void *arg)
{
  const struct timespec a_while = {.tv_nsec = 20 * MS};
  struct fixture *f = arg;

  (void)nanosleep(&a_while, NULL);
  bench_driver.interrupt(f->conn);
  return NULL;
}

static void another_thread_ends_a_wait_in_place(void **state)
{
  const uint64_t begin = bn_clock_mono();
  struct fixture f;
  pthread_t thread;

  (void)state;
  open_it(&f, "1h", NULL);
  assert_int_equal(pthread_create(&thread, NULL, interrupt, &f), 0);
  assert_lost(&f, query(&f, "SELECT 1"));
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_lost(&f, execute(&f));
  assert_true(bn_clock_mono() - begin < 600 * UINT64_C(1000) * MS);
  close_it(&f);
}

static void waits_in_place_until_the_time(void **state)
{
  struct fixture f;
  uint64_t begin;

  (void)state;
  open_it(&f, "20ms", NULL);
  begin = bn_clock_mono();
  assert_int_equal(execute(&f), BN_SQL_ROWS);
  assert_true(bn_clock_mono() - begin >= 20 * (uint64_t)MS);
  close_it(&f);
}

BN_TESTS(null_driver)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits_for_each_statement),
      cmocka_unit_test(is_lost_after_a_wait_that_ends_early),
      cmocka_unit_test(never_waits_without_a_latency),
      cmocka_unit_test(another_thread_ends_a_wait_in_place),
      cmocka_unit_test(waits_in_place_until_the_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
