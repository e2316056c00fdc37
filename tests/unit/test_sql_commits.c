/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --verify-commits: what is sent besides the script's statements, and what is known afterwards. */
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "sql/conn.h"
#include "sqlfake.h"

struct trial {
  struct fixture f;
  struct bn_driver below;
  struct bn_sql_committer layer;
  struct bn_sql_conn *c;
};

/* What the driver says of the next statement, if it is asked. */
static enum bn_sql_transaction open_now;

static enum bn_sql_transaction transaction(void *conn)
{
  (void)conn;
  return open_now;
}

/* Its losses are ignored, so that there is a new connection. */
static void begin(struct trial *t)
{
  static char ignored[] = "2013";

  t->c = fixture_ignoring(&t->f, ignored);
  t->below = *t->c->link.ops;
  t->c->link.ops = &t->below;
  t->layer = (struct bn_sql_committer){.ledger = &t->f.sys->verify.ledger,
                                       .trace = &t->f.sys->trace,
                                       .driver = &t->below,
                                       .caps = &t->f.drv->caps};
  bn_sql_committer_init(&t->layer, &t->below);
  assert_non_null(bn_sql_commits_wrap(&t->c->link, &t->layer, t->f.s));
  (void)snprintf(t->layer.ledger->table, sizeof t->layer.ledger->table, "t");
  fake.log[0] = '\0';
}

static void begin_asking(struct trial *t)
{
  begin(t);
  t->below.transaction = transaction;
  open_now = BN_TRANSACTION_OWN;
}

static void end(struct trial *t)
{
  fixture_close(&t->f);
}

/* The driver's answers are those planned; what it was asked is `log`. */
static void say(struct trial *t, const char *sql, const char *log)
{
  (void)bn_sql_query(t->c, sql, strlen(sql));
  assert_string_equal(fake.log, log);
  fake.log[0] = '\0';
  fake.n_answers = fake.next_answer = 0;
}

static void plan_done(uint64_t affected)
{
  plan((struct fake_answer){.rc = BN_SQL_DONE, .affected = affected});
}

/* A transaction of one row that changes. */
static void write_in_transaction(struct trial *t)
{
  say(t, "BEGIN", "query BEGIN;");
  plan_done(1);
  say(t, "UPDATE a", "query UPDATE a;");
}

static struct bn_sql_commit_counts counts(const struct trial *t, uint64_t first, uint64_t second)
{
  struct bn_sql_known_row known[3] = {0};

  bn_sql_verify_snapshot_rows(t->f.sys->verify.ledger.newest, known);
  known[1].stored = first;
  known[2].stored = second;
  return bn_sql_verify_compare(known, 2);
}

static void assert_counts(struct bn_sql_commit_counts c, uint64_t acknowledged, uint64_t missing,
                          uint64_t unknown, uint64_t unknown_stored)
{
  assert_int_equal(c.acknowledged, acknowledged);
  assert_int_equal(c.missing, missing);
  assert_int_equal(c.unknown, unknown);
  assert_int_equal(c.unknown_stored, unknown_stored);
}

static void each_transaction_that_writes_counts_once(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  write_in_transaction(&t);
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  write_in_transaction(&t);
  plan_done(1);
  say(&t, "COMMIT", "query UPDATE t SET n = n + 1 WHERE id = 1;query COMMIT;");
  assert_counts(counts(&t, 2, 0), 2, 0, 0, 0);
  assert_counts(counts(&t, 1, 0), 2, 1, 0, 0);
  /* The row has gone with its first commit. */
  write_in_transaction(&t);
  say(&t, "COMMIT",
      "query UPDATE t SET n = n + 1 WHERE id = 1;"
      "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  assert_counts(counts(&t, 1, 0), 3, 2, 0, 0);
  end(&t);
}

static void nothing_is_added_to_what_writes_nothing(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  say(&t, "START  TRANSACTION", "query START  TRANSACTION;");
  say(&t, "SELECT 1", "query SELECT 1;");
  say(&t, "COMMIT", "query COMMIT;");
  write_in_transaction(&t);
  say(&t, "ROLLBACK", "query ROLLBACK;");
  say(&t, "COMMIT", "query COMMIT;");
  assert_null(t.f.sys->verify.ledger.newest);
  /* What is rolled back to a savepoint does not end the transaction. */
  write_in_transaction(&t);
  say(&t, "ROLLBACK TO s", "query ROLLBACK TO s;");
  say(&t, "ROLLBACK WORK  TO s", "query ROLLBACK WORK  TO s;");
  say(&t, "ROLLBACK TRANSACTION TO SAVEPOINT s", "query ROLLBACK TRANSACTION TO SAVEPOINT s;");
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  write_in_transaction(&t);
  say(&t, "ROLLBACK TRANSACTION", "query ROLLBACK TRANSACTION;");
  say(&t, "COMMIT", "query COMMIT;");
  end(&t);
}

static void a_statement_by_itself_gets_a_transaction(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  plan_done(0);
  plan_done(7);
  say(&t, "/* a */ DELETE FROM a;",
      "query BEGIN;query /* a */ DELETE FROM a;;"
      "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  assert_counts(counts(&t, 1, 0), 1, 0, 0, 0);
  say(&t, "UPDATE a", "query BEGIN;query UPDATE a;query COMMIT;");
  assert_counts(counts(&t, 1, 0), 1, 0, 0, 0);
  plan_done(0);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1062});
  capture_begin();
  say(&t, "INSERT a", "query BEGIN;query INSERT a;query ROLLBACK;");
  (void)capture_end();
  say(&t, "INSERT a RETURNING b", "query INSERT a RETURNING b;");
  say(&t, "INSERT a; INSERT b", "query INSERT a; INSERT b;");
  say(&t, "INSERT 'a;', 'returning'", "query BEGIN;query INSERT 'a;', 'returning';query COMMIT;");
  say(&t, "INSERT 'a;' RETURNING b", "query INSERT 'a;' RETURNING b;");
  say(&t, "INSERT 'a;'; INSERT b", "query INSERT 'a;'; INSERT b;");
  end(&t);
}

static void other_transactions_stay_as_they_are(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  say(&t, "LOCK TABLES a WRITE", "query LOCK TABLES a WRITE;");
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "UNLOCK TABLES", "query UNLOCK TABLES;");
  say(&t, "XA START 'x'", "query XA START 'x';");
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "XA COMMIT 'x'", "query XA COMMIT 'x';");
  say(&t, "UPDATE a", "query BEGIN;query UPDATE a;query COMMIT;");
  say(&t, "SET autocommit = 0", "query SET autocommit = 0;");
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "SET autocommit=1", "query SET autocommit=1;");
  say(&t, "UPDATE a", "query BEGIN;query UPDATE a;query COMMIT;");
  end(&t);
}

/* As MySQL has it: COMMIT unlocks nothing, and no other table may be written. */
static void locked_tables_are_not_verified(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  say(&t, "SET autocommit=0", "query SET autocommit=0;");
  say(&t, "LOCK TABLES a WRITE", "query LOCK TABLES a WRITE;");
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "COMMIT", "query COMMIT;");
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "COMMIT", "query COMMIT;");
  say(&t, "UNLOCK TABLES", "query UNLOCK TABLES;");
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  /* BEGIN unlocks. */
  say(&t, "LOCK TABLES a WRITE", "query LOCK TABLES a WRITE;");
  write_in_transaction(&t);
  plan_done(1);
  say(&t, "COMMIT", "query UPDATE t SET n = n + 1 WHERE id = 1;query COMMIT;");
  assert_counts(counts(&t, 2, 0), 2, 0, 0, 0);
  end(&t);
}

static void a_lock_within_a_transaction_belongs_to_it(void **state)
{
  struct trial t;

  (void)state;
  begin_asking(&t);
  say(&t, "BEGIN", "query BEGIN;");
  open_now = BN_TRANSACTION_OPEN;
  say(&t, "LOCK TABLE a", "query LOCK TABLE a;");
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  open_now = BN_TRANSACTION_OWN;
  say(&t, "UPDATE a", "query BEGIN;query UPDATE a;query COMMIT;");
  /* MySQL has none any more. */
  say(&t, "LOCK TABLES a WRITE", "query LOCK TABLES a WRITE;");
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "UNLOCK TABLES", "query UNLOCK TABLES;");
  open_now = BN_TRANSACTION_MANUAL;
  say(&t, "LOCK TABLES a WRITE", "query LOCK TABLES a WRITE;");
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "COMMIT", "query COMMIT;");
  end(&t);
}

static void what_the_driver_knows_to_be_open_counts(void **state)
{
  static const char *const beginnings[] = {"SAVEPOINT s", "COMMIT AND CHAIN", "CALL begins()",
                                           "SET @@session.autocommit = 0"};
  struct trial t;

  (void)state;
  begin_asking(&t);
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    open_now = BN_TRANSACTION_OWN;
    (void)bn_sql_query(t.c, beginnings[i], strlen(beginnings[i]));
    open_now = i == 3 ? BN_TRANSACTION_MANUAL : BN_TRANSACTION_OPEN;
    fake.log[0] = '\0';
    plan_done(1);
    say(&t, "UPDATE a", "query UPDATE a;");
    plan_done(1);
    say(&t, "COMMIT",
        i == 0 ? "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;"
               : "query UPDATE t SET n = n + 1 WHERE id = 1;query COMMIT;");
  }
  /* A statement that is not known to commit has ended the transaction, with what was written. */
  open_now = BN_TRANSACTION_OPEN;
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  open_now = BN_TRANSACTION_OWN;
  say(&t, "COMMIT", "query COMMIT;");
  say(&t, "UPDATE a", "query BEGIN;query UPDATE a;query COMMIT;");
  assert_counts(counts(&t, 4, 0), 4, 0, 0, 0);
  end(&t);
}

static void a_second_begin_is_as_the_server_has_it(void **state)
{
  struct trial t;

  (void)state;
  begin_asking(&t);
  t.c->drv->caps = (struct bn_sql_caps){.syntax = BN_SYNTAX_POSTGRESQL};
  say(&t, "BEGIN", "query BEGIN;");
  open_now = BN_TRANSACTION_OPEN;
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "BEGIN", "query BEGIN;");
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  /* What was rolled back meanwhile does not count. */
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  open_now = BN_TRANSACTION_OWN;
  say(&t, "BEGIN", "query BEGIN;");
  open_now = BN_TRANSACTION_OPEN;
  say(&t, "COMMIT", "query COMMIT;");
  /* MySQL has stored it. */
  t.c->drv->caps = (struct bn_sql_caps){.syntax = BN_SYNTAX_MYSQL};
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  say(&t, "BEGIN", "query BEGIN;");
  say(&t, "COMMIT", "query COMMIT;");
  assert_counts(counts(&t, 1, 0), 1, 0, 0, 0);
  end(&t);
}

static void a_text_may_begin_a_transaction_and_write(void **state)
{
  static const char *const texts[] = {"BEGIN; UPDATE a", "SELECT 1; BEGIN; SELECT ';'; insert a",
                                      "UPDATE a; COMMIT; BEGIN; DELETE a;"};
  static const char *const idle[] = {"BEGIN; SELECT 1", "BEGIN; SELECT '; UPDATE a'",
                                     "BEGIN; UPDATE a; COMMIT; BEGIN READ ONLY; SELECT 1"};
  struct trial t;

  (void)state;
  begin_asking(&t);
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
    open_now = BN_TRANSACTION_OWN;
    (void)bn_sql_query(t.c, idle[i], strlen(idle[i]));
    open_now = BN_TRANSACTION_OPEN;
    fake.log[0] = '\0';
    say(&t, "COMMIT", "query COMMIT;");
  }
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    open_now = BN_TRANSACTION_OWN;
    (void)bn_sql_query(t.c, texts[i], strlen(texts[i]));
    open_now = BN_TRANSACTION_OPEN;
    fake.log[0] = '\0';
    plan_done(1);
    say(&t, "COMMIT; BEGIN; UPDATE a",
        i == 0 ? "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT; BEGIN; UPDATE a;"
               : "query UPDATE t SET n = n + 1 WHERE id = 1;query COMMIT; BEGIN; UPDATE a;");
    plan_done(1);
    say(&t, "COMMIT", "query UPDATE t SET n = n + 1 WHERE id = 1;query COMMIT;");
  }
  /* It has ended what it began. */
  open_now = BN_TRANSACTION_OWN;
  (void)bn_sql_query(t.c, "BEGIN; UPDATE a; COMMIT", strlen("BEGIN; UPDATE a; COMMIT"));
  fake.log[0] = '\0';
  say(&t, "COMMIT", "query COMMIT;");
  assert_counts(counts(&t, 6, 0), 6, 0, 0, 0);
  end(&t);
}

/* Of PostgreSQL: BEGIN makes what stands before it in its text a part of the transaction. */
static void a_text_may_write_before_its_begin(void **state)
{
  static const char writing[] = "UPDATE a; SELECT 1; BEGIN";
  struct trial t;

  (void)state;
  begin_asking(&t);
  for (int mysql = 0; mysql <= 1; mysql++) {
    t.c->drv->caps =
        (struct bn_sql_caps){.syntax = mysql != 0 ? BN_SYNTAX_MYSQL : BN_SYNTAX_STANDARD};
    open_now = BN_TRANSACTION_OWN;
    (void)bn_sql_query(t.c, writing, strlen(writing));
    open_now = BN_TRANSACTION_OPEN;
    fake.log[0] = '\0';
    say(&t, "COMMIT",
        mysql != 0 ? "query COMMIT;" : "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  }
  end(&t);
}

/* Of PostgreSQL: its COMMIT succeeds, and stores nothing. */
static void a_commit_of_a_failed_transaction_is_left_alone(void **state)
{
  struct trial t;

  (void)state;
  begin_asking(&t);
  say(&t, "BEGIN", "query BEGIN;");
  open_now = BN_TRANSACTION_OPEN;
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  open_now = BN_TRANSACTION_FAILED;
  say(&t, "COMMIT", "query COMMIT;");
  /* What was written before a savepoint is still there. */
  open_now = BN_TRANSACTION_OPEN;
  plan_done(1);
  say(&t, "UPDATE a", "query UPDATE a;");
  open_now = BN_TRANSACTION_FAILED;
  say(&t, "ROLLBACK TO s", "query ROLLBACK TO s;");
  open_now = BN_TRANSACTION_OPEN;
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  assert_counts(counts(&t, 1, 0), 1, 0, 0, 0);
  end(&t);
}

static void a_loss_in_a_commit_leaves_its_outcome_unknown(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  write_in_transaction(&t);
  plan_done(1);
  plan((struct fake_answer){.rc = BN_SQL_LOST, .code = 2013});
  say(&t, "COMMIT",
      "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;"
      "disconnect;connect 0;");
  assert_counts(counts(&t, 0, 0), 0, 0, 1, 0);
  assert_counts(counts(&t, 1, 0), 0, 0, 1, 1);
  /* The next one counts in another row, and cannot stand for the one before. */
  write_in_transaction(&t);
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (2, 1);query COMMIT;");
  assert_counts(counts(&t, 1, 1), 1, 0, 1, 1);
  assert_counts(counts(&t, 1, 0), 1, 1, 1, 1);
  /* A loss before the commit was sent is no such case. */
  write_in_transaction(&t);
  plan((struct fake_answer){.rc = BN_SQL_LOST, .code = 2013});
  say(&t, "COMMIT", "query UPDATE t SET n = n + 1 WHERE id = 2;disconnect;connect 0;");
  assert_counts(counts(&t, 0, 1), 1, 0, 1, 0);
  end(&t);
}

static void a_refused_commit_is_not_acknowledged(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  capture_begin();
  write_in_transaction(&t);
  plan_done(1);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1213, .rolled_back = true});
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  assert_counts(counts(&t, 0, 0), 0, 0, 0, 0);
  write_in_transaction(&t);
  plan_done(1);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1180, .rolled_back = true});
  say(&t, "COMMIT", "query INSERT INTO t (id, n) VALUES (1, 1);query COMMIT;");
  (void)capture_end();
  assert_counts(counts(&t, 0, 0), 0, 0, 1, 0);
  end(&t);
}

static void fail_behind_commit(struct trial *t, const char *text)
{
  char log[128];

  write_in_transaction(t);
  plan_done(1);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1213, .rolled_back = true});
  (void)snprintf(log, sizeof log, "query INSERT INTO t (id, n) VALUES (1, 1);query %s;", text);
  say(t, text, log);
}

/* Of PostgreSQL: the error is that of one of the statements, and the commit may be stored. */
static void a_failure_behind_a_commit_leaves_its_outcome_unknown(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  capture_begin();
  t.c->drv->caps = (struct bn_sql_caps){.syntax = BN_SYNTAX_MYSQL};
  fail_behind_commit(&t, "COMMIT; BEGIN");
  t.c->drv->caps = (struct bn_sql_caps){.syntax = BN_SYNTAX_POSTGRESQL};
  fail_behind_commit(&t, "COMMIT; -- that was it");
  assert_counts(counts(&t, 0, 0), 0, 0, 0, 0);
  fail_behind_commit(&t, "COMMIT; BEGIN; INSERT a");
  (void)capture_end();
  assert_counts(counts(&t, 0, 0), 0, 0, 1, 0);
  assert_counts(counts(&t, 1, 0), 0, 0, 1, 1);
  end(&t);
}

/* What the script says next would be part of it, and of no transaction that is verified. */
static void a_transaction_that_cannot_be_left_goes_with_its_connection(void **state)
{
  struct trial t;

  (void)state;
  begin(&t);
  plan_done(0);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 2013});
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1399});
  say(&t, "UPDATE a", "query BEGIN;query UPDATE a;query ROLLBACK;disconnect;connect 0;");
  assert_int_equal(bn_sql_conn_view(t.c)->sql_errno, 2013);
  assert_int_equal(counted(&t.f, BN_C_RECONNECT), 1);
  say(&t, "UPDATE a", "query BEGIN;query UPDATE a;query COMMIT;");
  end(&t);
}

static void prepared_statements_are_verified(void **state)
{
  static const char *const texts[] = {"BEGIN", "UPDATE a", "COMMIT"};
  struct bn_sql_stmt *st[3];
  struct trial t;

  (void)state;
  begin(&t);
  for (unsigned i = 0; i < 3; i++)
    st[i] = bn_sql_prepare(t.c, texts[i], strlen(texts[i]));
  fake.log[0] = '\0';
  plan_done(0);
  plan_done(1);
  for (unsigned i = 0; i < 3; i++)
    (void)bn_sql_execute(st[i]);
  assert_string_equal(fake.log, "execute BEGIN;execute UPDATE a;"
                                "query INSERT INTO t (id, n) VALUES (1, 1);execute COMMIT;");
  assert_counts(counts(&t, 1, 0), 1, 0, 0, 0);
  for (unsigned i = 0; i < 3; i++)
    bn_sql_stmt_free(st[i]);
  end(&t);
}

BN_TESTS(sql_commits)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_transaction_that_writes_counts_once),
      cmocka_unit_test(nothing_is_added_to_what_writes_nothing),
      cmocka_unit_test(a_statement_by_itself_gets_a_transaction),
      cmocka_unit_test(other_transactions_stay_as_they_are),
      cmocka_unit_test(locked_tables_are_not_verified),
      cmocka_unit_test(a_lock_within_a_transaction_belongs_to_it),
      cmocka_unit_test(what_the_driver_knows_to_be_open_counts),
      cmocka_unit_test(a_second_begin_is_as_the_server_has_it),
      cmocka_unit_test(a_text_may_begin_a_transaction_and_write),
      cmocka_unit_test(a_text_may_write_before_its_begin),
      cmocka_unit_test(a_commit_of_a_failed_transaction_is_left_alone),
      cmocka_unit_test(a_loss_in_a_commit_leaves_its_outcome_unknown),
      cmocka_unit_test(a_refused_commit_is_not_acknowledged),
      cmocka_unit_test(a_failure_behind_a_commit_leaves_its_outcome_unknown),
      cmocka_unit_test(a_transaction_that_cannot_be_left_goes_with_its_connection),
      cmocka_unit_test(prepared_statements_are_verified),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
