/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --verify-commits, on a simulated clock: what servers are asked, when, and what is known then. */
#include "cm.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "simclock.h"
#include "sql/driver.h"
#include "sqlfake.h"

/* One connection whose row has had so many commits. */
static struct trial {
  struct fixture f;
  struct bn_sql_commit_row *row; /* the ledger's */
  char stored[24];               /* what all servers have of it */
  bool commits_go_on;            /* the session commits while a server answers */
  bool marked[2];                /* those servers have what was made */
  const char *refused;           /* how statements begin that fail */
  int code;                      /* of that failure; 0: 1142 */
  unsigned refuses;              /* connections, so many after such a failure */
  const char *lost;              /* and those that lose their connection */
  double until_s;                /* both until then; 0: for ever */
  bool freezes;                  /* the server does so then */
  unsigned creates[2], drops[2]; /* of a server */
  char created[2][64];           /* the first and the last text */
} trial;

static bool begins(const char *sql, const char *word)
{
  return word != NULL && strncmp(sql, word, strlen(word)) == 0;
}

static void note(unsigned place, const char *sql)
{
  trial.drops[place] += begins(sql, "DROP");
  if (!begins(sql, "CREATE"))
    return;
  (void)snprintf(trial.created[trial.creates[0] + trial.creates[1] > 0], 64, "%s", sql);
  trial.creates[place]++;
}

static void tell(unsigned place, const char *sql, struct fake_answer *a)
{
  static const char *cell[2][2] = {{"0", "0"}, {"1", trial.stored}};
  const bool fails = trial.until_s == 0 || sim_s() < trial.until_s;

  note(place, sql);
  if (fails && begins(sql, trial.refused)) {
    *a = (struct fake_answer){.rc = BN_SQL_ERROR, .code = trial.code != 0 ? trial.code : 1142};
    fake.refuse_connect += trial.refuses;
    trial.refuses = 0;
  }
  if (fails && begins(sql, trial.lost)) {
    *a = (struct fake_answer){.rc = BN_SQL_LOST, .code = 2013};
    fake.frozen |= trial.freezes ? 1U << place : 0;
  }
  if (strncmp(sql, "SELECT", 6) != 0 || a->rc > BN_SQL_ROWS)
    return;
  *a = (struct fake_answer){.rc = BN_SQL_ROWS, .nrows = trial.marked[place] ? 2 : 0, .cell = cell};
  a->nrows -= fake.cut;
  if (trial.commits_go_on)
    atomic_fetch_add(&trial.row->acknowledged, 1);
}

/* A run in which nothing has happened yet. */
static void begin(unsigned places)
{
  sim_begin();
  memset(&trial, 0, sizeof trial);
  trial.marked[0] = trial.marked[1] = true;
  fixture_open(&trial.f, BN_V11);
  fake.places = places;
  fake.tell = tell;
}

static void end(void)
{
  fixture_close(&trial.f);
}

static const struct bn_sql_committer *make(void)
{
  return bn_sql_driver_get_committer(trial.f.drv, trial.f.drv->ops, trial.f.s);
}

static void count(uint64_t acknowledged, const char *stored)
{
  assert_non_null(make());
  trial.row = calloc(1, sizeof *trial.row);
  assert_non_null(trial.row);
  trial.row->id = 1;
  atomic_store(&trial.row->acknowledged, acknowledged);
  trial.f.sys->verify.ledger.newest = trial.row;
  (void)snprintf(trial.stored, sizeof trial.stored, "%s", stored);
}

static void check(int rc, uint64_t acknowledged, uint64_t missing, uint64_t unknown)
{
  const struct bn_sql_commit_counts *c = &trial.f.sys->verify.counts;
  struct bn_err err = {0};

  assert_int_equal(bn_sqlsys_verify(trial.f.sys, trial.f.s, &err), rc);
  assert_int_equal(c->acknowledged, acknowledged);
  assert_int_equal(c->missing, missing);
  assert_int_equal(c->unknown, unknown);
}

static void commits_of_a_session_that_was_left_behind_are_not_missing(void **state)
{
  (void)state;
  begin(1);
  count(5, "5");
  trial.commits_go_on = true;
  check(0, 5, 0, 0);
  end();
}

static void missing_commits_are_waited_for(void **state)
{
  double began_s;

  (void)state;
  begin(1);
  count(5, "3");
  began_s = sim_s();
  check(-1, 5, 2, 0);
  assert_true(sim_s() - began_s >= 2 && sim_s() - began_s < 2.2);
  assert_int_equal(trial.drops[0], 1);
  end();
}

/* The row of the connection is behind the one that cannot be read. */
static void commits_are_not_missing_because_a_result_is_cut(void **state)
{
  (void)state;
  begin(1);
  count(5, "5");
  fake.cut = true;
  check(-1, 5, 0, 5);
  end();
}

/* What took its time to let us in before the events does so after them. */
static void a_slow_server_is_asked_at_the_end(void **state)
{
  (void)state;
  begin(1);
  fake.login_s = 3;
  count(5, "5");
  check(0, 5, 0, 0);
  assert_int_equal(trial.drops[0], 1);
  end();
}

/* Somebody has ended the run, and no server answers any more: the report waits for few of them. */
static void frozen_servers_do_not_hold_up_a_report(void **state)
{
  double began_s;

  (void)state;
  begin(2);
  count(5, "5");
  fake.places = 6;
  fake.frozen = 0x3f;
  fake.least_s = 1;
  atomic_store(&trial.f.limit.until_ns, 0);
  began_s = sim_s();
  check(-1, 5, 0, 5);
  assert_true(sim_s() - began_s <= 2.1);
  end();
}

/* Somebody has ended the run, and a server does not answer any more. */
static void one_frozen_server_does_not_use_up_the_time(void **state)
{
  (void)state;
  for (unsigned place = 0; place < 2; place++) {
    double began_s;

    begin(2);
    count(5, "5");
    fake.frozen = 1U << place;
    atomic_store(&trial.f.limit.until_ns, 0);
    began_s = sim_s();
    check(0, 5, 0, 0);
    assert_true(sim_s() - began_s <= 2);
    assert_int_equal(trial.drops[1 - place], 1);
    end();
  }
}

static void look_for_table(void *arg, const struct bn_log_message *told)
{
  const char *at = strstr(told->text, "still there");

  if (at != NULL && strstr(at, trial.f.sys->verify.ledger.table) != NULL)
    ++*(unsigned *)arg;
}

/* Whether somebody has been told how to remove the table of this trial. */
static bool is_left_told(void)
{
  unsigned n = 0;

  bn_log_each_message(look_for_table, &n);
  return n > 0;
}

static const char *refuse_to_make(void)
{
  capture_begin();
  assert_null(make());
  return capture_end();
}

static void a_table_that_cannot_be_used_is_dropped_where_it_was_made(void **state)
{
  (void)state;
  begin(1);
  trial.refused = "INSERT";
  (void)refuse_to_make();
  assert_int_equal(trial.drops[0], 1);
  assert_false(is_left_told());
  end();
  begin(2);
  trial.marked[1] = false;
  (void)refuse_to_make();
  assert_int_equal(trial.drops[0], 1);
  assert_int_equal(trial.drops[1], 0);
  end();
}

static void the_reason_is_told_why_a_table_is_not_seen(void **state)
{
  const char *why;

  (void)state;
  begin(2);
  trial.marked[1] = false;
  why = refuse_to_make();
  assert_non_null(strstr(why, "place 1 does not have the table that bench has just created"));
  end();
  begin(2);
  trial.refused = "SELECT";
  why = refuse_to_make();
  assert_non_null(strstr(why, "--verify-commits: cannot read its table on place 0: failure 1142"));
  assert_null(strstr(why, "does not have the table"));
  end();
}

/* The server may have carried out what it has not answered. */
static void a_table_that_may_have_been_made_is_dropped(void **state)
{
  (void)state;
  begin(1);
  trial.lost = "CREATE";
  (void)refuse_to_make();
  assert_true(trial.creates[0] > 1);
  assert_int_equal(trial.drops[0], trial.creates[0]);
  assert_false(is_left_told());
  end();
  begin(1);
  trial.lost = "CREATE";
  trial.freezes = true;
  (void)refuse_to_make();
  assert_int_equal(trial.creates[0], 1);
  assert_int_equal(trial.drops[0], 0);
  assert_true(is_left_told());
  end();
  begin(1);
  trial.refused = "CREATE";
  (void)refuse_to_make();
  assert_int_equal(trial.drops[0], 0);
  assert_false(is_left_told());
  end();
}

/* Of the servers, `trial.until_s` says when they are well. */
static void assert_made(unsigned creates, unsigned drops)
{
  assert_non_null(make());
  assert_int_equal(trial.creates[0] + trial.creates[1], creates);
  assert_int_equal(trial.drops[0] + trial.drops[1], drops);
  assert_true(sim_s() >= trial.until_s && sim_s() < trial.until_s + 0.2);
}

static void the_table_is_made_once_a_server_lets_it(void **state)
{
  (void)state;
  begin(2);
  trial.refused = "CREATE";
  trial.code = 1290;
  trial.until_s = 9;
  assert_made(2 * 180 + 1, 0);
  end();
  /* An address is without a server while it passes on. */
  begin(1);
  trial.refused = "CREATE";
  trial.code = 1290;
  trial.until_s = 0.5;
  trial.refuses = 9;
  assert_made(2, 0);
  end();
  /* A server that has not let anybody in is asked once. */
  begin(2);
  fake.refuse_connect = 1;
  trial.refused = "CREATE";
  trial.code = 1290;
  trial.until_s = 1;
  assert_made(20 + 1, 0);
  assert_int_equal(trial.creates[0], 0);
  end();
}

/* What the first attempt to connect may take. */
static double patience_s(unsigned places)
{
  double s;

  begin(places);
  assert_non_null(make());
  s = (double)(fake.deadline_ns[0] - fake.began_ns[0]) / 1e9;
  end();
  return s;
}

/* A server that is slow to let us in must not end a run that has no other one. */
static void an_only_server_may_take_its_time(void **state)
{
  (void)state;
  assert_true(patience_s(1) > 9.9 && patience_s(1) <= 10);
  assert_true(patience_s(2) > 1.9 && patience_s(2) <= 2);
}

/* One that may have been made does not get in the way of the next one. */
static void a_table_has_the_name_of_its_attempt(void **state)
{
  (void)state;
  begin(1);
  trial.lost = "CREATE";
  trial.until_s = 0.04;
  assert_made(2, 1);
  assert_string_not_equal(trial.created[0], trial.created[1]);
  assert_non_null(strstr(trial.created[1], trial.f.sys->verify.ledger.table));
  end();
}

static enum bn_sql_transaction autocommit_is_off(void *conn)
{
  (void)conn;
  return BN_TRANSACTION_MANUAL;
}

/* Else the row is gone with the connection that wrote it. */
static void the_mark_is_committed_where_autocommit_is_off(void **state)
{
  struct bn_driver ops;

  (void)state;
  begin(1);
  assert_non_null(make());
  assert_null(strstr(fake.log, "COMMIT"));
  end();
  begin(1);
  ops = *trial.f.drv->ops;
  ops.transaction = autocommit_is_off;
  trial.f.drv->ops = &ops;
  assert_non_null(make());
  assert_non_null(strstr(strstr(fake.log, "INSERT"), "query COMMIT;"));
  end();
}

/* A server that has made none is asked again for 10 s, unless it will never make one, or somebody
   ends the run. */
static void no_table_ends_the_start(void **state)
{
  (void)state;
  begin(1);
  trial.refused = "CREATE";
  trial.code = 1290;
  (void)refuse_to_make();
  assert_true(sim_s() >= 9.9 && sim_s() < 10);
  end();
  begin(1);
  fake.refuse_connect = 1;
  (void)refuse_to_make();
  assert_true(sim_s() < 0.1);
  end();
  begin(1);
  trial.refused = "CREATE";
  (void)refuse_to_make();
  assert_int_equal(trial.creates[0], 1);
  assert_true(sim_s() < 0.1);
  end();
  begin(1);
  trial.refused = "CREATE";
  trial.code = 1290;
  atomic_store(&trial.f.limit.until_ns, 0);
  (void)refuse_to_make();
  assert_true(sim_s() < 1.5);
  end();
}

/* There is time for it, although waiting for them has used up what there was. */
static void the_table_is_dropped_after_missing_commits(void **state)
{
  double began_s;

  (void)state;
  begin(2);
  count(5, "3");
  atomic_store(&trial.f.limit.until_ns, 0);
  began_s = sim_s();
  check(-1, 5, 2, 0);
  assert_true(sim_s() - began_s < 2);
  assert_int_equal(trial.drops[0] + trial.drops[1], 1);
  assert_false(is_left_told());
  end();
}

/* Also in a dialect, and in time for the report. */
static void a_table_that_stays_is_told(void **state)
{
  double began_s;

  (void)state;
  begin(1);
  count(5, "3");
  bn_log_set_asides(false);
  trial.refused = "DROP";
  atomic_store(&trial.f.limit.until_ns, 0);
  began_s = sim_s();
  check(-1, 5, 2, 0);
  assert_true(sim_s() - began_s < 2.7);
  assert_true(is_left_told());
  bn_log_set_asides(true);
  end();
}

/* Those who connect afterwards, as they were left behind, do not make another one. */
static void the_table_of_a_start_that_was_given_up_is_dropped(void **state)
{
  (void)state;
  begin(2);
  bn_sqlsys_drop_commit_table(trial.f.sys, trial.f.s);
  assert_int_equal(fake.connects, 0);
  end();
  begin(2);
  count(5, "3");
  fake.frozen = 2;
  atomic_store(&trial.f.limit.until_ns, 0);
  bn_sqlsys_drop_commit_table(trial.f.sys, trial.f.s);
  assert_int_equal(trial.drops[0], 1);
  assert_null(make());
  check(0, 0, 0, 0);
  end();
}

BN_TESTS(sql_verify)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commits_of_a_session_that_was_left_behind_are_not_missing),
      cmocka_unit_test(missing_commits_are_waited_for),
      cmocka_unit_test(commits_are_not_missing_because_a_result_is_cut),
      cmocka_unit_test(a_slow_server_is_asked_at_the_end),
      cmocka_unit_test(frozen_servers_do_not_hold_up_a_report),
      cmocka_unit_test(one_frozen_server_does_not_use_up_the_time),
      cmocka_unit_test(a_table_that_cannot_be_used_is_dropped_where_it_was_made),
      cmocka_unit_test(the_reason_is_told_why_a_table_is_not_seen),
      cmocka_unit_test(a_table_that_may_have_been_made_is_dropped),
      cmocka_unit_test(the_table_is_made_once_a_server_lets_it),
      cmocka_unit_test(an_only_server_may_take_its_time),
      cmocka_unit_test(a_table_has_the_name_of_its_attempt),
      cmocka_unit_test(the_mark_is_committed_where_autocommit_is_off),
      cmocka_unit_test(no_table_ends_the_start),
      cmocka_unit_test(the_table_is_dropped_after_missing_commits),
      cmocka_unit_test(a_table_that_stays_is_told),
      cmocka_unit_test(the_table_of_a_start_that_was_given_up_is_dropped),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
