/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SQL layer on a driver in the test's hands: what is counted, ignored, said and done again. */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cm.h"
#include "measure/stat.h"
#include "sql/count.h"
#include "sqlfake.h"

static struct bn_sql_conn *connect_to(struct fixture *f)
{
  struct bn_sql_conn *c = bn_sql_connect(f->drv, f->s, NULL, NULL, 0);

  assert_non_null(c);
  return c;
}

static struct bn_sql_rs *query(struct bn_sql_conn *c, const char *sql)
{
  return bn_sql_query(c, sql, strlen(sql));
}

static void counts_statements_by_their_result(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 3});
  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 0});
  plan((struct fake_answer){.rc = BN_SQL_DONE, .affected = 2});
  plan((struct fake_answer){.rc = BN_SQL_DONE, .affected = 0});
  assert_int_equal(query(c, "SHOW x")->nrows, 3);
  assert_int_equal(query(c, "SELECT nothing")->nrows, 0);
  assert_null(query(c, "UPDATE two"));
  assert_null(query(c, "UPDATE none"));
  assert_null(query(c, "BEGIN"));
  assert_int_equal(counted(&f, BN_C_READ), 2);
  assert_int_equal(counted(&f, BN_C_WRITE), 1);
  assert_int_equal(counted(&f, BN_C_OTHER), 2);
  assert_int_equal(counted(&f, BN_C_ERROR), 0);
  assert_int_equal(f.kind, BN_KIND_SQL);
  assert_true(bn_stat_get(&f.s->stat->longest_statement_ns) > 0);
  fixture_close(&f);
  assert_int_equal(fake.connects, 1);
  assert_int_equal(fake.disconnects, 1);
}

static void assert_rows(const struct fixture *f, uint64_t read, uint64_t inserted, uint64_t updated,
                        uint64_t deleted)
{
  assert_int_equal(counted(f, BN_SQL_C_ROWS_READ), read);
  assert_int_equal(counted(f, BN_SQL_C_ROWS_INSERTED), inserted);
  assert_int_equal(counted(f, BN_SQL_C_ROWS_UPDATED), updated);
  assert_int_equal(counted(f, BN_SQL_C_ROWS_DELETED), deleted);
}

static void affects(struct bn_sql_conn *c, const char *sql, uint64_t rows)
{
  plan((struct fake_answer){.rc = BN_SQL_DONE, .affected = rows});
  assert_null(query(c, sql));
}

/* The same in every dialect. */
static void counts_rows_by_the_first_word(void **state)
{
  (void)state;
  for (int version = BN_V05; version <= BN_V11; version++) {
    struct fixture f;

    fixture_open(&f, (enum bn_version)version);
    struct bn_sql_conn *c = connect_to(&f);

    plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 7});
    assert_non_null(query(c, "DELETE FROM t RETURNING id"));
    affects(c, "insert INTO t", 3);
    affects(c, " \n/* a */ /**/REPLACE t", 2);
    affects(c, "INSERT IGNORE t", 0);
    affects(c, "UPDATE t", 4);
    affects(c, "Delete FROM t", 5);
    affects(c, "CREATE TABLE t AS SELECT 1", 100);
    affects(c, "/* UPDATE */ BEGIN", 0);
    affects(c, "/* UPDATE", 1);
    affects(c, "/*/ UPDATE", 1);
    affects(c, "-- a\n--b\n INSERT INTO t", 6);
    affects(c, "-- UPDATE", 1);
    affects(c, "-", 1);
    affects(c, "", 1);
    affects(c, "D", 1);
    assert_rows(&f, 7, 11, 4, 5);
    assert_int_equal(counted(&f, BN_SQL_C_UPDATES_WITHOUT_ROWS), 0);
    assert_int_equal(counted(&f, BN_SQL_C_DELETES_WITHOUT_ROWS), 0);
    fixture_close(&f);
  }
}

static void counts_updates_and_deletes_without_rows(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "update t", 8);

  for (uint64_t rows = 0; rows < 3; rows++) {
    plan((struct fake_answer){.rc = BN_SQL_DONE, .affected = rows});
    (void)bn_sql_execute(st);
  }
  affects(c, "DELETE FROM t", 0);
  affects(c, "DELETE FROM t", 0);
  plan((struct fake_answer){.rc = BN_SQL_DONE, .affected = 9});
  assert_null(bn_sql_query_uncounted(c, "DELETE FROM t", 13));
  assert_rows(&f, 0, 0, 3, 0);
  assert_int_equal(counted(&f, BN_SQL_C_UPDATES_WITHOUT_ROWS), 1);
  assert_int_equal(counted(&f, BN_SQL_C_DELETES_WITHOUT_ROWS), 2);
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

static void counts_no_misses_where_nothing_is_executed(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  plan((struct fake_answer){.rc = BN_SQL_DONE, .dry = true});
  plan((struct fake_answer){.rc = BN_SQL_DONE, .dry = true});
  assert_null(query(c, "UPDATE t"));
  assert_null(query(c, "DELETE FROM t"));
  assert_rows(&f, 0, 0, 0, 0);
  assert_int_equal(counted(&f, BN_SQL_C_UPDATES_WITHOUT_ROWS), 0);
  assert_int_equal(counted(&f, BN_SQL_C_DELETES_WITHOUT_ROWS), 0);
  assert_int_equal(counted(&f, BN_C_OTHER), 2);
  fixture_close(&f);
}

static void counts_by_text_in_dialect_05(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V05);
  struct bn_sql_conn *c = connect_to(&f);

  (void)query(c, "  select 1");
  (void)query(c, "Insert into t");
  (void)query(c, "UPDATE t");
  (void)query(c, "delete from t");
  (void)query(c, "BEGIN");
  (void)query(c, "commit");
  (void)query(c, "UNLOCK TABLES");
  struct bn_sql_stmt *st = bn_sql_prepare(c, "COMMIT", 6);

  (void)bn_sql_execute(st);
  assert_int_equal(counted(&f, BN_C_READ), 1);
  assert_int_equal(counted(&f, BN_C_WRITE), 3);
  assert_int_equal(counted(&f, BN_C_OTHER), 4);
  assert_string_equal(bn_sqlsys_metrics(f.sys)[BN_SQL_C_COMMITS - BN_C_FIXED].name, "transactions");
  assert_int_equal(counted(&f, BN_SQL_C_COMMITS), 3);
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

static void words_a_fatal_error_and_counts_it(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  const struct bn_sql_conn_view *v = bn_sql_conn_view(c);

  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1146, .state = "42S02"});
  capture_begin();
  assert_null(query(c, "SELECT x FROM missing"));
  const char *said = capture_end();

  assert_string_equal(said, "FATAL: fake_query() returned error 1146 (failure 1146) for query "
                            "'SELECT x FROM missing'\n");
  assert_int_equal(v->error, BN_VERDICT_FATAL);
  assert_int_equal(v->sql_errno, 1146);
  assert_string_equal(v->sql_state, "42S02");
  assert_string_equal(v->sql_errmsg, "failure 1146");
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  assert_int_equal(counted(&f, BN_C_OTHER), 0);
  (void)query(c, "SELECT 1");
  assert_int_equal(v->error, BN_VERDICT_NONE);
  fixture_close(&f);
}

static void rolls_back_for_an_ignored_error(void **state)
{
  char ignored[] = "1213";
  struct fixture f;

  (void)state;
  struct bn_sql_conn *c = fixture_ignoring(&f, ignored);

  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1213});
  capture_begin();
  assert_null(query(c, "UPDATE a"));
  assert_string_equal(capture_end(), "");
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_string_equal(fake.log, "connect 0;query UPDATE a;");
  assert_true(bn_sql_retry(f.sys, f.s, 1, true));
  assert_string_equal(fake.log, "connect 0;query UPDATE a;query ROLLBACK;");
  plan((struct fake_answer){.rc = BN_SQL_DONE}); /* took the ROLLBACK */
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1213, .rolled_back = true});
  assert_null(query(c, "nothing"));
  fake.log[0] = '\0';
  assert_null(query(c, "UPDATE b"));
  assert_true(bn_sql_retry(f.sys, f.s, 1, true));
  assert_string_equal(fake.log, "query UPDATE b;");
  assert_int_equal(counted(&f, BN_C_ERROR), 2);
  assert_int_equal(counted(&f, BN_C_OTHER), 1);
  fixture_close(&f);
}

/* An ignored error, and a ROLLBACK that is refused, within XA for example. */
static struct bn_sql_conn *fixture_refusing_rollback(struct fixture *f, char *ignored)
{
  struct bn_sql_conn *c = fixture_ignoring(f, ignored);

  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1213});
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1399});
  return c;
}

/* The new connection has no transaction. */
static void a_refused_rollback_makes_a_new_connection(void **state)
{
  char ignored[] = "1213";
  struct fixture f;

  (void)state;
  struct bn_sql_conn *c = fixture_refusing_rollback(&f, ignored);

  assert_null(query(c, "UPDATE a"));
  assert_true(bn_sql_retry(f.sys, f.s, 1, true));
  assert_string_equal(fake.log, "connect 0;query UPDATE a;query ROLLBACK;disconnect;connect 0;");
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_int_equal(bn_sql_conn_view(c)->sql_errno, 1213);
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 1);
  fixture_close(&f);
}

/* The error is counted once, although there is no connection any more. */
static void a_refused_rollback_may_lose_the_server(void **state)
{
  char ignored[] = "1213";
  struct fixture f;

  (void)state;
  struct bn_sql_conn *c = fixture_refusing_rollback(&f, ignored);

  fake.refuse_connect = 1000;
  atomic_store(&f.limit.until_ns, bn_clock_mono() + 1000000);
  capture_begin();
  assert_null(query(c, "UPDATE a"));
  (void)bn_sql_retry(f.sys, f.s, 1, true);
  (void)capture_end();
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 0);
  fixture_close(&f);
}

/* No server does that; what it makes a driver allocate is freed all the same. */
static void frees_what_a_rollback_returns(void **state)
{
  char ignored[] = "1213";
  struct fixture f;

  (void)state;
  struct bn_sql_conn *c = fixture_ignoring(&f, ignored);

  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1213});
  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1});
  assert_null(query(c, "UPDATE a"));
  assert_true(bn_sql_retry(f.sys, f.s, 1, true));
  assert_string_equal(fake.log, "connect 0;query UPDATE a;query ROLLBACK;free;");
  fixture_close(&f);
}

static void list_of_ignored_errors(const char *const *items, size_t n, bool ignored[4])
{
  static const struct fake_answer failures[4] = {
      {.rc = BN_SQL_ERROR, .code = 1213, .state = "40001", .rolled_back = true},
      {.rc = BN_SQL_ERROR, .code = 1205, .state = "HY000", .rolled_back = true},
      {.rc = BN_SQL_ERROR, .code = 0, .state = "40P01", .rolled_back = true},
      {.rc = BN_SQL_ERROR, .code = 7, .state = "", .rolled_back = true}};
  struct fixture f;
  char *copy[4];

  memset(&f, 0, sizeof f);
  for (size_t i = 0; i < n; i++)
    copy[i] = strdup(items[i]);
  f.sql_conf.ignore_errors = (struct bn_list){.item = copy, .n = n};
  fixture_open_with(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  capture_begin();
  for (size_t i = 0; i < 4; i++) {
    plan(failures[i]);
    (void)query(c, "x");
    ignored[i] = bn_sql_conn_view(c)->error == BN_VERDICT_IGNORABLE;
  }
  (void)capture_end();
  fixture_close(&f);
  for (size_t i = 0; i < n; i++)
    free(copy[i]);
}

static void ignores_what_the_option_lists(void **state)
{
  bool got[4];

  (void)state;
  list_of_ignored_errors((const char *const[]){"1205", "40P01"}, 2, got);
  assert_true(!got[0] && got[1] && got[2] && !got[3]);
  list_of_ignored_errors((const char *const[]){"Deadlock"}, 1, got);
  assert_true(got[0] && !got[1] && !got[2] && !got[3]);
  list_of_ignored_errors((const char *const[]){"all"}, 1, got);
  assert_true(got[0] && got[1] && got[2] && got[3]);
  list_of_ignored_errors((const char *const[]){"40001"}, 1, got);
  assert_true(got[0] && !got[1] && !got[2] && !got[3]);
}

static void refuses_a_bad_list(void **state)
{
  char item[] = "dead-lock";
  char *items[] = {item};
  struct fixture f;

  (void)state;
  memset(&f, 0, sizeof f);
  f.sql_conf.ignore_errors = (struct bn_list){.item = items, .n = 1};
  capture_begin();
  fixture_open_with(&f, BN_V10);
  assert_non_null(
      strstr(capture_end(), "FATAL: Invalid value for --db-ignore-errors: 'dead-lock'"));
  assert_null(f.drv);
  fixture_close(&f);
}

static void waits_with_a_failure_until_it_is_settled(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  bn_sql_defer_failure(c);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 5});
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 6, .rolled_back = true});
  capture_begin();
  assert_null(query(c, "one"));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_FATAL);
  assert_string_equal(capture_end(), "");
  capture_begin();
  bn_sql_settle_failure(c, false);
  bn_sql_settle_failure(c, false);
  assert_string_equal(capture_end(),
                      "FATAL: fake_query() returned error 5 (failure 5) for query 'one'\n");
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  capture_begin();
  assert_null(query(c, "two"));
  bn_sql_settle_failure(c, true);
  assert_string_equal(capture_end(), "");
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_int_equal(counted(&f, BN_C_ERROR), 2);
  fixture_close(&f);
}

static void takes_an_expected_error_for_an_answer(void **state)
{
  char item[] = "all";
  char *items[] = {item};
  struct fixture f;

  (void)state;
  memset(&f, 0, sizeof f);
  f.sql_conf.ignore_errors = (struct bn_list){.item = items, .n = 1};
  fixture_open_with(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  bn_sql_expect_error(c, "OE001");
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 7, .state = "OE001", .rolled_back = true});
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 7, .state = "OE002"});
  plan((struct fake_answer){.rc = BN_SQL_LOST, .state = "OE001"});
  capture_begin();
  assert_null(query(c, "UPDATE t"));
  assert_string_equal(capture_end(), "");
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_NONE);
  assert_int_equal(counted(&f, BN_C_WRITE) + counted(&f, BN_C_OTHER), 1);
  assert_int_equal(counted(&f, BN_SQL_C_UPDATES_WITHOUT_ROWS), 0);
  assert_int_equal(counted(&f, BN_C_ERROR), 0);
  assert_null(query(c, "UPDATE t"));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  assert_null(query(c, "UPDATE t"));
  assert_true(bn_sql_conn_view(c)->lost);
  fixture_close(&f);
}

static void walks_through_rows_and_results(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 2, .more = true});
  plan((struct fake_answer){.rc = BN_SQL_DONE, .more = true});
  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1});
  struct bn_sql_rs *rs = query(c, "many");

  assert_int_equal(rs->nfields, 2);
  assert_true(bn_sql_fetch(rs));
  assert_string_equal(rs->values[0].ptr, "x");
  assert_null(rs->values[1].ptr);
  assert_true(bn_sql_fetch(rs));
  assert_false(bn_sql_fetch(rs));
  assert_true(bn_sql_more_results(c));
  assert_null(bn_sql_next_result(c));
  assert_true(bn_sql_more_results(c));
  assert_ptr_equal(bn_sql_next_result(c), rs);
  assert_int_equal(rs->nrows, 1);
  assert_false(bn_sql_more_results(c));
  assert_null(bn_sql_next_result(c));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_NONE);
  assert_int_equal(counted(&f, BN_C_READ), 1);
  capture_begin();
  assert_false(bn_sql_fetch(rs));
  assert_int_equal(bn_sql_free_result(rs), -1);
  assert_string_equal(capture_end(), "ALERT: attempt to fetch row from an invalid result set\n"
                                     "ALERT: attempt to free an invalid result set\n");
  fixture_close(&f);
}

/* An error among them fails the next statement, which is not sent. */
static void reads_pending_results_away(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1, .more = true});
  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1, .more = true});
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1});
  (void)query(c, "many");
  fake.log[0] = '\0';
  assert_null(query(c, "then"));
  assert_string_equal(fake.log, "free;next;free;next;");
  assert_int_equal(bn_sql_conn_view(c)->sql_errno, 1);
  fake.log[0] = '\0';
  assert_null(query(c, "then"));
  assert_string_equal(fake.log, "query then;");
  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1, .more = true});
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1, .state = "45000"});
  bn_sql_expect_error(c, "45000");
  (void)query(c, "call");
  fake.log[0] = '\0';
  assert_null(query(c, "then"));
  assert_string_equal(fake.log, "free;next;query then;");
  fixture_close(&f);
}

static void a_dialect_refuses_while_results_are_pending(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V10);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "one", 3);

  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1, .more = true});
  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1, .more = true});
  plan((struct fake_answer){.rc = BN_SQL_DONE});
  (void)query(c, "many");
  fake.log[0] = '\0';
  assert_null(query(c, "then"));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_FATAL);
  assert_int_equal(bn_sql_conn_view(c)->sql_errno, 2014);
  assert_null(bn_sql_prepare(c, "two", 3));
  assert_null(bn_sql_execute(st));
  assert_string_equal(fake.log, "free;unread query;unread prepare;unread execute;");
  assert_true(bn_sql_more_results(c));
  assert_non_null(bn_sql_next_result(c));
  assert_null(query(c, "then"));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_FATAL);
  assert_null(bn_sql_next_result(c));
  fake.log[0] = '\0';
  assert_null(query(c, "then"));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_NONE);
  assert_string_equal(fake.log, "query then;");
  fixture_close(&f);
}

static void refuses_a_wrong_mode_and_unknown_drivers(void **state)
{
  char mode[] = "sometimes", none[] = "";
  struct fixture f;

  (void)state;
  memset(&f, 0, sizeof f);
  f.sql_conf.ps_mode = mode;
  capture_begin();
  fixture_open_with(&f, BN_V10);
  assert_string_equal(capture_end(), "FATAL: Invalid value for db-ps-mode: sometimes\n");
  assert_null(f.drv);
  capture_begin();
  assert_null(bn_sql_driver(f.sys, f.s, "nope"));
  assert_string_equal(capture_end(), "FATAL: invalid database driver name: 'nope'\n");
  fixture_close(&f);
  fixture_open(&f, BN_V11);
  f.sql_conf.driver = none;
  bn_log_set_verbosity(BN_INFO);
  capture_begin();
  assert_ptr_equal(bn_sql_driver(f.sys, f.s, NULL), f.drv);
  assert_string_equal(capture_end(), "No DB drivers specified, using fake\n");
  bn_log_set_verbosity(BN_NOTICE);
  fixture_close(&f);
}

static void measures_when_asked(void **state)
{
  struct fixture f;

  (void)state;
  memset(&f, 0, sizeof f);
  f.sql_conf.debug = true;
  fixture_open_with(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 2});
  struct bn_sql_rs *rs = query(c, "SELECT");

  while (bn_sql_fetch(rs))
    ;
  assert_string_equal(bn_sqlsys_metrics(f.sys)[BN_SQL_C_COMMITS - BN_C_FIXED].name, "sql_execute");
  assert_int_equal(bn_hist_count(f.s->stat->hist[BN_H_FIXED]), 1);
  assert_int_equal(bn_hist_count(f.s->stat->hist[BN_H_FIXED + 1]), 3);
  fixture_close(&f);
}

static void traces_statements_as_lines(void **state)
{
  char path[] = "/tmp/bn-sql-trace-XXXXXX";
  struct fixture f;
  char line[200] = "";
  int fd;

  (void)state;
  fd = mkstemp(path);
  assert_true(fd >= 0 && close(fd) == 0);
  memset(&f, 0, sizeof f);
  f.sql_conf.trace = path;
  fixture_open_with(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  (void)query(c, "SELECT\n 1");
  struct bn_sql_stmt *st = bn_sql_prepare(c, "BEGIN", 5);

  (void)bn_sql_execute(st);
  bn_sql_stmt_free(st);
  fixture_close(&f);
  FILE *in = fopen(path, "r");

  assert_non_null(fgets(line, sizeof line, in));
  assert_string_equal(line, "[s0] SELECT  1\n");
  assert_non_null(fgets(line, sizeof line, in));
  assert_string_equal(line, "[s0] BEGIN\n");
  assert_null(fgets(line, sizeof line, in));
  (void)fclose(in);
  (void)remove(path);
}

BN_TESTS(sql)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_statements_by_their_result),
      cmocka_unit_test(counts_rows_by_the_first_word),
      cmocka_unit_test(counts_updates_and_deletes_without_rows),
      cmocka_unit_test(counts_no_misses_where_nothing_is_executed),
      cmocka_unit_test(counts_by_text_in_dialect_05),
      cmocka_unit_test(words_a_fatal_error_and_counts_it),
      cmocka_unit_test(rolls_back_for_an_ignored_error),
      cmocka_unit_test(a_refused_rollback_makes_a_new_connection),
      cmocka_unit_test(a_refused_rollback_may_lose_the_server),
      cmocka_unit_test(frees_what_a_rollback_returns),
      cmocka_unit_test(ignores_what_the_option_lists),
      cmocka_unit_test(refuses_a_bad_list),
      cmocka_unit_test(waits_with_a_failure_until_it_is_settled),
      cmocka_unit_test(takes_an_expected_error_for_an_answer),
      cmocka_unit_test(walks_through_rows_and_results),
      cmocka_unit_test(reads_pending_results_away),
      cmocka_unit_test(a_dialect_refuses_while_results_are_pending),
      cmocka_unit_test(refuses_a_wrong_mode_and_unknown_drivers),
      cmocka_unit_test(measures_when_asked),
      cmocka_unit_test(traces_statements_as_lines),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
