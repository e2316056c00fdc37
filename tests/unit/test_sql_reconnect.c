/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When lost connections are made again, on a simulated clock: the waits between attempts, how long
   an attempt may take, and what ends both. */
#include "cm.h"

#include <string.h>

#include "simclock.h"
#include "sql/count.h"
#include "sqlfake.h"

static const uint64_t ms = 1000000, s = 1000000000;

/* One connection, which is lost, and from then on so many attempts fail. */
static struct bn_sql_conn *lose(struct fixture *f, unsigned places, bool silent, unsigned refusals,
                                uint64_t limit_ns)
{
  static char lost[] = "2013";

  sim_begin();
  memset(f, 0, sizeof *f);
  f->ignored = lost;
  fixture_open_with(f, BN_V11);
  fake.places = places;
  struct bn_sql_conn *c = bn_sql_connect(f->drv, f->s, NULL, NULL, 0);

  assert_non_null(c);
  plan((struct fake_answer){.rc = BN_SQL_LOST, .code = 2013});
  fake.refuse_connect = refusals;
  fake.silent = silent;
  if (limit_ns > 0)
    atomic_store(&f->limit.until_ns, bn_clock_mono() + limit_ns);
  return c;
}

/* Attempt i, of those after the loss, begins at that time after the first. */
static void expect_attempt(unsigned i, uint64_t at_ns, uint64_t may_take_ns)
{
  assert_int_equal(fake.began_ns[1 + i] - fake.began_ns[1], at_ns);
  assert_int_equal(fake.deadline_ns[1 + i] - fake.began_ns[1 + i], may_take_ns);
}

/* At once, then after 1, 2, 4, … 250 ms.  An attempt may take until the end of the run. */
static void a_server_that_refuses_is_asked_again_and_again(void **state)
{
  static const uint64_t wait_ms[] = {1, 2, 4, 8, 16, 32, 64, 128, 250, 250, 250};
  enum { N = sizeof wait_ms / sizeof *wait_ms };
  struct bn_sql_conn *c;
  struct fixture f;
  uint64_t at_ns = 0;

  (void)state;
  c = lose(&f, 1, false, N, 60 * s);
  assert_null(bn_sql_query(c, "SELECT 1", 8));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_int_equal(fake.connects, 1 + N + 1);
  for (unsigned i = 0; i <= N; i++) {
    expect_attempt(i, at_ns, 60 * s - at_ns);
    at_ns += i < N ? wait_ms[i] * ms : 0;
  }
  assert_int_equal(counted(&f, BN_SQL_C_CONNECTION_WAIT), at_ns);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 1);
  fixture_close(&f);
}

/* Each of three servers holds up the others for 2 s, in later rounds for 4, 8 and 16 s; the waits
   are between rounds.  The end of the run ends the last attempt. */
static void a_server_that_is_silent_holds_up_no_other(void **state)
{
  static const uint64_t take_s[] = {2, 2, 2, 4, 4, 4, 8, 8, 8, 16, 16, 16, 16, 16, 16};
  enum { N = sizeof take_s / sizeof *take_s };
  const uint64_t limit_ns = 130 * s;
  struct bn_sql_conn *c;
  struct fixture f;
  uint64_t at_ns = 0;

  (void)state;
  c = lose(&f, 3, true, 1000, limit_ns);
  assert_null(bn_sql_query(c, "SELECT 1", 8));
  for (unsigned i = 0; at_ns < limit_ns; i++) {
    const uint64_t left_ns = limit_ns - at_ns;

    assert_in_range(i, 0, N - 1);
    expect_attempt(i, at_ns, take_s[i] * s < left_ns ? take_s[i] * s : left_ns);
    at_ns += take_s[i] * s + (i % 3 == 2 ? ms << i / 3 : 0);
    assert_int_equal(fake.connects > 2 + i, at_ns < limit_ns);
  }
  assert_int_equal(counted(&f, BN_SQL_C_CONNECTION_WAIT), limit_ns);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 0);
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  fixture_close(&f);
}

/* Without a limit, as in a command, after a minute. */
static void nobody_waits_for_ever(void **state)
{
  struct bn_sql_conn *c;
  struct fixture f;

  (void)state;
  c = lose(&f, 1, true, 1000, 0);
  capture_begin();
  assert_null(bn_sql_query(c, "SELECT 1", 8));
  (void)capture_end();
  expect_attempt(0, 0, 60 * s);
  assert_int_equal(fake.connects, 2);
  fixture_close(&f);
}

/* The error is that of the statement: the limit of the run has ended the attempt to connect, which
   says nothing of the server. */
static void a_loss_after_the_end_counts_as_what_it_was(void **state)
{
  struct bn_label label[2];
  struct bn_sql_conn *c;
  struct fixture f;

  (void)state;
  c = lose(&f, 1, false, 1000, 0);
  atomic_store(&f.limit.until_ns, bn_clock_mono());
  assert_null(bn_sql_query(c, "SELECT 1", 8));
  assert_int_equal(bn_sql_conn_view(c)->sql_errno, 2013);
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  assert_int_equal(bn_labels_read(f.stats.labels[0], label, 2), 1);
  assert_string_equal(label[0].name, "2013");
  fixture_close(&f);
}

static void stop(struct bn_session *session, uint64_t until_ns)
{
  struct fixture *f = session->services->of;

  (void)until_ns;
  atomic_store(&f->limit.until_ns, 0);
}

/* A stop in the first wait: there is no other attempt, and no time passes. */
static void the_end_of_the_run_ends_a_wait(void **state)
{
  struct bn_sql_conn *c;
  struct fixture f;

  (void)state;
  c = lose(&f, 1, false, 1000, 0);
  f.services.pause = stop;
  assert_null(bn_sql_query(c, "SELECT 1", 8));
  assert_int_equal(fake.connects, 2);
  assert_int_equal(counted(&f, BN_SQL_C_CONNECTION_WAIT), 0);
  fixture_close(&f);
}

/* Until somebody interrupts it, or for too long. */
static void freeze(unsigned place, const char *sql, struct fake_answer *a)
{
  const double begun_s = sim_s();

  (void)place;
  if (strcmp(sql, "SET serializable") != 0)
    return;
  while (fake.interrupts == 0 && sim_s() < begun_s + 100)
    sim_sleep_ms(10);
  *a = (struct fake_answer){.rc = BN_SQL_LOST, .code = 2013};
}

/* The server lets the new connection in, and says nothing about its isolation level. */
static void the_isolation_level_is_set_until_the_deadline(void **state)
{
  struct bn_sql_conn *c;
  struct fixture f;
  double begun_s;

  (void)state;
  c = lose(&f, 1, false, 0, 5 * s);
  f.sql_conf.isolation = BN_ISOLATION_SERIALIZABLE;
  fake.tell = freeze;
  begun_s = sim_s();
  assert_null(bn_sql_query(c, "SELECT 1", 8));
  assert_int_equal(fake.interrupts, 1);
  assert_true(sim_s() - begun_s >= 5 && sim_s() - begun_s < 5.1);
  assert_int_equal(fake.connects, 2);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 0);
  fixture_close(&f);
}

static void refuse_to_write(unsigned place, const char *sql, struct fake_answer *a)
{
  (void)place;
  if (strcmp(sql, "UPDATE a") == 0)
    *a = (struct fake_answer){.rc = BN_SQL_ERROR, .code = 1290};
}

/* One server, which writes nothing any more.  Returns how many events fail in 10 s, N at most. */
static unsigned events_that_fail(struct fixture *f, enum bn_version version)
{
  enum { N = 1000 };
  static char refused[] = "1290";
  struct bn_sql_conn *c;
  unsigned n = 0;

  sim_begin();
  memset(f, 0, sizeof *f);
  f->ignored = refused;
  fixture_open_with(f, version);
  c = bn_sql_connect(f->drv, f->s, NULL, NULL, 0);
  assert_non_null(c);
  fake.tell = refuse_to_write;
  for (; n < N && sim_s() < 10; n++) {
    (void)bn_sql_query(c, "BEGIN", 5);
    assert_null(bn_sql_query(c, "UPDATE a", 8));
    assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  }
  return n;
}

/* It is not asked at full speed: the first new connection is made at once, the others after 1, 2,
   4, … 250 ms, which are 8 in the first 255 ms. */
static void a_server_that_writes_nothing_is_left_at_times(void **state)
{
  struct fixture f;

  (void)state;
  assert_int_equal(events_that_fail(&f, BN_V11), 1 + 8 + 39);
  assert_int_equal(fake.connects, 1 + 1 + 8 + 39);
  assert_int_equal(counted(&f, BN_C_ERROR), 1 + 8 + 39);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 1 + 8 + 39);
  fixture_close(&f);
}

/* As sysbench. */
static void a_dialect_stays_with_such_a_server(void **state)
{
  struct fixture f;

  (void)state;
  assert_int_equal(events_that_fail(&f, BN_V10), 1000);
  assert_int_equal(fake.connects, 1);
  assert_int_equal(counted(&f, BN_C_ERROR), 1000);
  fixture_close(&f);
}

BN_TESTS(sql_reconnect)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_server_that_refuses_is_asked_again_and_again),
      cmocka_unit_test(a_server_that_is_silent_holds_up_no_other),
      cmocka_unit_test(nobody_waits_for_ever),
      cmocka_unit_test(a_loss_after_the_end_counts_as_what_it_was),
      cmocka_unit_test(the_end_of_the_run_ends_a_wait),
      cmocka_unit_test(the_isolation_level_is_set_until_the_deadline),
      cmocka_unit_test(a_server_that_writes_nothing_is_left_at_times),
      cmocka_unit_test(a_dialect_stays_with_such_a_server),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
