/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections and statements on a driver in the test's hands: lost, opened and prepared again. */
#include <string.h>

#include "base/log.h"
#include "cm.h"
#include "sql/end_hints.h"
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

static void reconnects_and_prepares_again(void **state)
{
  char ignored[] = "2013";
  struct fixture f;
  bool is_null = false;
  int64_t value = 1;
  const struct bn_sql_bind b = {.type = BN_SQL_INT64, .is_null = &is_null, .data = &value};

  (void)state;
  struct bn_sql_conn *c = fixture_ignoring(&f, ignored);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "SELECT ?", 8);

  assert_int_equal(bn_sql_bind(st, &b, 1), 0);
  plan((struct fake_answer){.rc = BN_SQL_LOST, .code = 2013});
  fake.refuse_connect = 3;
  fake.log[0] = '\0';
  assert_null(bn_sql_execute(st));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_int_equal(bn_sql_conn_view(c)->sql_errno, 2013);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 1);
  assert_int_equal(counted(&f, BN_C_ERROR), 0);
  assert_string_equal(fake.log,
                      "execute SELECT ?;close;disconnect;connect 0;disconnect;connect 0;disconnect;"
                      "connect 0;disconnect;connect 0;");
  fake.log[0] = '\0';
  fake.refuse_prepare = 1; /* and once more on the way */
  assert_null(bn_sql_execute(st));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_NONE);
  assert_string_equal(fake.log, "prepare SELECT ?;disconnect;connect 0;prepare SELECT ?;bind 1;"
                                "execute SELECT ?;");
  assert_int_equal(counted(&f, BN_C_RECONNECT), 2);
  fake.log[0] = '\0';
  assert_null(bn_sql_execute(st));
  assert_string_equal(fake.log, "execute SELECT ?;");
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

static void the_next_server_is_tried_after_a_failure(void **state)
{
  char ignored[] = "2013";
  struct fixture f;

  (void)state;
  memset(&f, 0, sizeof f);
  f.ignored = ignored;
  fixture_open_with(&f, BN_V11);
  fake.places = 3;
  struct bn_sql_conn *c = bn_sql_connect(f.drv, f.s, NULL, NULL, 0);

  fake.log[0] = '\0';
  plan((struct fake_answer){.rc = BN_SQL_LOST, .code = 2013});
  fake.refuse_connect = 1;
  assert_null(query(c, "SELECT 1"));
  assert_string_equal(fake.log, "query SELECT 1;disconnect;connect 1;disconnect;connect 2;");
  /* Whoever asks for a new connection gets it where the old one was. */
  fake.log[0] = '\0';
  assert_int_equal(bn_sql_reconnect(c), 0);
  assert_string_equal(fake.log, "disconnect;connect 2;");
  fixture_close(&f);
}

/* It is given up only if there is another one to go to, and the run goes on then. */
static void a_silent_server_is_given_up_if_there_is_another(void **state)
{
  static char connection[] = "connection", all[] = "all", gone[] = "2006", lost[] = "2013",
              state_of_both[] = "HY000", deadlock[] = "1213";
  static const struct {
    char *ignored, *also; /* by --db-ignore-errors; by the driver's own list */
    unsigned places;
    enum bn_version version;
    bool command, expected;
  } rows[] = {
      {connection, NULL, 2, BN_V11, false, true},
      {all, NULL, 2, BN_V11, false, true},
      {state_of_both, NULL, 2, BN_V11, false, true},
      {gone, lost, 2, BN_V11, false, true},
      {lost, NULL, 2, BN_V11, false, false}, /* it may as well be the other */
      {deadlock, NULL, 2, BN_V11, false, false},
      {connection, NULL, 1, BN_V11, false, false},
      {connection, NULL, 2, BN_V10, false, false},
      {connection, NULL, 2, BN_V11, true, false}, /* it may load rows */
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char *ignored = rows[i].ignored;
    struct fixture f = {.ignored = rows[i].also,
                        .sql_conf.ignore_errors = {.item = &ignored, .n = 1}};

    fixture_open_with(&f, rows[i].version);
    fake.places = rows[i].places;
    f.services.is_command = rows[i].command;
    (void)connect_to(&f);
    assert_int_equal(fake.elsewhere, rows[i].expected);
    fixture_close(&f);
  }
}

static void stops_reconnecting_when_the_run_is_over(void **state)
{
  char ignored[] = "2013";
  struct fixture f;

  (void)state;
  struct bn_sql_conn *c = fixture_ignoring(&f, ignored);

  plan((struct fake_answer){.rc = BN_SQL_LOST, .code = 2013});
  fake.refuse_connect = 1000;
  atomic_store(&f.limit.until_ns, 0);
  assert_null(query(c, "SELECT 1"));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_int_equal(fake.connects, 2);
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  assert_int_equal(counted(&f, BN_C_RECONNECT), 0);
  assert_int_equal(fake.disconnects, 2);
  capture_begin();
  assert_null(query(c, "SELECT 1"));
  assert_string_equal(capture_end(), "ALERT: attempt to use an already closed connection\n");
  /* The script has not closed it: that it does so is no mistake, but again is one, or after an
     attempt to open it that fails. */
  capture_begin();
  assert_int_equal(bn_sql_disconnect(c), 0);
  assert_string_equal(capture_end(), "");
  for (int i = 0; i < 2; i++) {
    capture_begin();
    assert_int_equal(bn_sql_disconnect(c), -1);
    assert_string_equal(capture_end(), "ALERT: attempt to close an already closed connection\n");
    if (i == 0)
      assert_int_equal(bn_sql_reconnect(c), -1);
  }
  assert_int_equal(fake.disconnects, 3);
  fixture_close(&f);
}

/* The label is a key of documents. */
static void a_state_of_any_bytes_makes_a_label_of_text(void **state)
{
  static const char *const states[][2] = {
      {"\xe9\xff\x1b", "\\xe9\\xff\\x1b"}, {"a\xc3", "a\\xc3"}, {"HY000", "HY000"}};
  struct fixture f;

  (void)state;
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    struct bn_label label[2];

    fixture_open(&f, BN_V11);
    plan((struct fake_answer){.rc = BN_SQL_ERROR, .state = states[i][0]});
    capture_begin();
    assert_null(query(connect_to(&f), "SELECT 1"));
    (void)capture_end();
    assert_int_equal(bn_labels_read(f.stats.labels[0], label, 2), 1);
    assert_string_equal(label[0].name, states[i][1]);
    fixture_close(&f);
  }
}

/* The hook asked about a failure of `what` calls reconnect and then answers. */
static void answer_after_reconnect(struct fixture *f, struct bn_sql_conn *c, enum bn_sql what,
                                   bool ignored)
{
  bn_sql_defer_failure(c);
  plan((struct fake_answer){.rc = what, .code = 1146, .state = "42S02"});
  assert_null(query(c, "SELECT 1"));
  assert_int_equal(bn_sql_reconnect(c), 0);
  fake.log[0] = '\0';
  bn_sql_settle_failure(c, ignored);
  assert_string_equal(fake.log, "");
  assert_int_equal(bn_sql_conn_view(c)->sql_errno, 1146);
  assert_string_equal(bn_sql_conn_view(c)->sql_state, "42S02");
  assert_int_equal(counted(f, BN_C_RECONNECT), 1);
  assert_int_equal(counted(f, BN_C_ERROR), 1);
}

static void a_reconnect_leaves_the_failure_that_is_asked_about(void **state)
{
  static const enum bn_sql what[] = {BN_SQL_ERROR, BN_SQL_LOST};

  (void)state;
  for (size_t i = 0; i < 4; i++) {
    const bool ignored = i % 2 == 0;
    struct fixture f;

    fixture_open(&f, BN_V11);
    capture_begin();
    answer_after_reconnect(&f, connect_to(&f), what[i / 2], ignored);
    assert_string_equal(capture_end(), ignored ? ""
                                               : "FATAL: fake_query() returned error 1146 "
                                                 "(failure 1146) for query 'SELECT 1'\n");
    fixture_close(&f);
  }
}

static void loses_a_connection_for_good(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  plan((struct fake_answer){.rc = BN_SQL_LOST, .code = 2006});
  capture_begin();
  assert_null(query(c, "SELECT 1"));
  assert_null(query(c, "SELECT 2"));
  assert_string_equal(
      capture_end(), "FATAL: fake_query() returned error 2006 (failure 2006) for query 'SELECT 1'\n"
                     "ALERT: attempt to use an already closed connection\n");
  assert_int_equal(bn_sql_disconnect(c), 0);
  assert_int_equal(bn_sql_reconnect(c), 0);
  assert_null(query(c, "SELECT 3"));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_NONE);
  fixture_close(&f);
}

static void names_a_place_that_cannot_be_reached(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  fake.refuse_connect = 1;
  capture_begin();
  assert_null(bn_sql_connect(f.drv, f.s, NULL, NULL, 0));
  assert_string_equal(capture_end(), "FATAL: unable to connect to nowhere, aborting...\n"
                                     "FATAL: error 2002: failure 2002\n");
  fixture_close(&f);
}

static void says_once_that_a_thread_cannot_use_the_driver(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  fake.refuse_thread = true;
  capture_begin();
  assert_null(bn_sql_connect(f.drv, f.s, NULL, NULL, 0));
  assert_string_equal(capture_end(), "FATAL: thread-local driver initialization failed.\n");
  assert_int_equal(fake.connects, 0);
  fixture_close(&f);
}

static void passes_overrides_and_refuses_unknown_ones(void **state)
{
  const char *name[] = {"user"}, *value[] = {"me"}, *wrong[] = {"colour"};
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = bn_sql_connect(f.drv, f.s, name, value, 1);

  assert_non_null(c);
  assert_int_equal(bn_sql_reconnect(c), 0);
  assert_string_equal(fake.log, "connect 0 user=me;disconnect;connect 0 user=me;");
  capture_begin();
  assert_null(bn_sql_connect(f.drv, f.s, wrong, value, 1));
  assert_string_equal(capture_end(), "FATAL: the database driver 'fake' has no option 'colour'\n");
  fixture_close(&f);
}

static void closes_statements(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "BEGIN", 5);

  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1});
  assert_non_null(bn_sql_execute(st));
  assert_int_equal(bn_sql_stmt_close(st), 0);
  assert_string_equal(fake.log, "connect 0;prepare BEGIN;execute BEGIN;free;close;");
  capture_begin();
  assert_null(bn_sql_execute(st));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_FATAL);
  assert_int_equal(bn_sql_stmt_close(st), -1);
  assert_string_equal(capture_end(), "ALERT: attempt to use an already closed statement\n"
                                     "(last message repeated 1 times)\n");
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

/* The collector frees a statement while its result is being read. */
static void keeps_a_statement_for_its_result(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *a = bn_sql_prepare(c, "A", 1), *b = bn_sql_prepare(c, "B", 1);

  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 2, .more = true});
  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 2});
  plan((struct fake_answer){.rc = BN_SQL_ROWS, .nrows = 1});
  struct bn_sql_rs *rs = bn_sql_execute(a);

  fake.log[0] = '\0';
  assert_true(bn_sql_fetch(rs));
  bn_sql_stmt_free(a);
  assert_true(bn_sql_fetch(rs));
  assert_false(bn_sql_fetch(rs));
  assert_ptr_equal(bn_sql_next_result(c), rs);
  assert_true(bn_sql_fetch(rs));
  assert_string_equal(fake.log, "free;next of statement;");
  assert_ptr_equal(bn_sql_execute(b), rs);
  fake.log[0] = '\0';
  bn_sql_stmt_free(b);
  bn_sql_conn_free(c);
  assert_string_equal(fake.log, "close;");
  assert_true(bn_sql_fetch(rs));
  fixture_close(&f);
  assert_string_equal(fake.log, "close;free;close;disconnect;");
}

static void keeps_a_connection_for_its_statements(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "A", 1);

  bn_sql_conn_free(c);
  assert_int_equal(fake.disconnects, 0);
  assert_null(bn_sql_execute(st));
  bn_sql_stmt_free(st);
  assert_int_equal(fake.disconnects, 1);
  assert_ptr_equal(connect_to(&f), c); /* its memory is used again */
  fixture_close(&f);
}

static void outlives_its_session_in_other_hands(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "A", 1);

  bn_sql_session_end(f.sys, f.s);
  assert_int_equal(fake.disconnects, 1);
  capture_begin();
  assert_null(bn_sql_execute(st));
  assert_int_equal(bn_sql_reconnect(c), -1);
  (void)capture_end();
  bn_sql_conn_free(c);
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

/* A miscount is the script's mistake, any other failure to bind the server's. */
static void tells_a_miscount_from_a_failure_to_bind(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "SELECT ?", 8);
  const struct bn_sql_bind none = {.type = BN_SQL_NULL};

  capture_begin();
  assert_int_equal(bn_sql_bind(st, &none, 0), -1);
  assert_int_equal(bn_sql_conn_view(c)->sql_errno, 2031);
  assert_string_equal(
      capture_end(),
      "FATAL: fake_bind() failed\nFATAL: error 2031: failure 2031 for query 'SELECT ?'\n");
  fake.miscount = true;
  capture_begin();
  assert_int_equal(bn_sql_bind(st, &none, 0), -1);
  assert_int_equal(bn_sql_conn_view(c)->sql_errno, 0);
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_FATAL);
  assert_string_equal(capture_end(), "ALERT: failure 2031\n");
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

/* What 1.0 does with a wrong number of parameters. */
static void stays_bound_as_it_was(void **state)
{
  struct fixture f;
  const struct bn_sql_bind first = {.type = BN_SQL_NULL};

  (void)state;
  fixture_open(&f, BN_V10);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "SELECT ?", 8);

  assert_int_equal(bn_sql_bind(st, &first, 1), 0);
  fake.miscount = true;
  capture_begin();
  assert_int_equal(bn_sql_bind(st, &first, 0), 1);
  assert_string_equal(capture_end(), "ALERT: failure 2031\n");
  fake.miscount = false;
  fake.log[0] = '\0';
  capture_begin();
  (void)bn_sql_execute(st);
  assert_string_equal(capture_end(), "");
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_NONE);
  assert_string_equal(fake.log, "bind 1;execute SELECT ?;");
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

static void emulates_when_told(void **state)
{
  char mode[] = "disable";
  struct fixture f;
  bool is_null = false;
  int64_t value = -7;
  const struct bn_sql_bind b[2] = {{.type = BN_SQL_INT64, .is_null = &is_null, .data = &value},
                                   {.type = BN_SQL_INT64, .is_null = &is_null, .data = &value}};

  (void)state;
  memset(&f, 0, sizeof f);
  f.sql_conf.ps_mode = mode;
  fixture_open_with(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "SELECT '?', ?", 13);

  capture_begin();
  assert_int_equal(bn_sql_bind(st, b, 2), -1);
  assert_string_equal(capture_end(), "ALERT: wrong number of parameters in prepared statement\n");
  assert_int_equal(bn_sql_bind(st, b, 1), 0);
  (void)bn_sql_execute(st);
  assert_int_equal(bn_sql_reconnect(c), 0);
  value = 8;
  (void)bn_sql_execute(st);
  assert_string_equal(fake.log, "connect 0;query SELECT '?', -7;disconnect;connect 0;"
                                "query SELECT '?', 8;");
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

/* A driver need not say of every failure that the transaction is open. */
static void rolls_back_whatever_became_of_the_last_one(void **state)
{
  char ignored[] = "all";
  char *items[] = {ignored};
  struct fixture f;

  (void)state;
  memset(&f, 0, sizeof f);
  f.sql_conf.ignore_errors = (struct bn_list){.item = items, .n = 1};
  fixture_open_with(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "SELECT ?", 8);
  const struct bn_sql_bind b = {.type = BN_SQL_NULL};

  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1213, .rolled_back = true});
  assert_null(query(c, "UPDATE a"));
  fake.log[0] = '\0';
  assert_int_equal(bn_sql_bind(st, (struct bn_sql_bind[]){b, b}, 2), -1);
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_true(bn_sql_retry(f.sys, f.s, 1, true));
  assert_string_equal(fake.log, "bind 2;query ROLLBACK;");
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

/* The hook asked about a failure executes a longer statement, in whose place the failed one was. */
static void keeps_the_text_of_an_emulated_statement(void **state)
{
  enum { LEN = 5000 };
  char mode[] = "disable", filler[LEN];
  struct fixture f;
  bool is_null = false;
  size_t len = sizeof filler;
  const struct bn_sql_bind b = {
      .type = BN_SQL_TEXT, .is_null = &is_null, .data = filler, .len = &len};

  (void)state;
  memset(filler, 'x', sizeof filler);
  memset(&f, 0, sizeof f);
  f.sql_conf.ps_mode = mode;
  fixture_open_with(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *fails = bn_sql_prepare(c, "SELECT bad", 10);
  struct bn_sql_stmt *longer = bn_sql_prepare(c, "SELECT ?", 8);

  bn_sql_defer_failure(c);
  assert_int_equal(bn_sql_bind(longer, &b, 1), 0);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1146});
  capture_begin();
  assert_null(bn_sql_execute(fails));
  assert_null(bn_sql_execute(longer));
  bn_sql_settle_failure(c, false);
  assert_string_equal(
      capture_end(),
      "FATAL: fake_query() returned error 1146 (failure 1146) for query 'SELECT bad'\n");
  bn_sql_stmt_free(fails);
  bn_sql_stmt_free(longer);
  fixture_close(&f);
}

static void emulates_when_asked(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  fake.cannot_prepare = true;
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st;

  bn_log_set_verbosity(BN_INFO);
  capture_begin();
  st = bn_sql_prepare(c, "FLUSH", 5);
  assert_string_equal(capture_end(),
                      "Failed to prepare query \"FLUSH\" (1295: failure 1295), using emulation\n");
  bn_log_set_verbosity(BN_NOTICE);
  (void)bn_sql_execute(st);
  assert_non_null(strstr(fake.log, "query FLUSH;"));
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

/* It is not asked for the next ones, before there is a new connection. */
static void sends_text_to_a_server_that_prepares_no_more(void **state)
{
  struct fixture f;
  struct bn_sql_stmt *st[4];

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);

  st[0] = bn_sql_prepare(c, "A", 1);
  fake.full = true;
  st[1] = bn_sql_prepare(c, "B", 1);
  st[2] = bn_sql_prepare(c, "C", 1);
  for (int i = 0; i < 3; i++)
    assert_null(bn_sql_execute(st[i]));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_NONE);
  assert_string_equal(fake.log, "connect 0;prepare A;prepare B;execute A;query B;query C;");
  fake.log[0] = '\0';
  fake.full = false;
  assert_int_equal(bn_sql_reconnect(c), 0);
  st[3] = bn_sql_prepare(c, "D", 1);
  assert_string_equal(fake.log, "close;disconnect;connect 0;prepare D;");
  for (int i = 0; i < 4; i++)
    bn_sql_stmt_free(st[i]);
  fixture_close(&f);
}

static uint64_t five(struct bn_session *s)
{
  (void)s;
  return 5;
}

/* Once, however often it is repeated, and only if it is counted in the end. */
static void counts_events_that_prepare(void **state)
{
  struct bn_sql_end_hints all[2] = {{0}};
  struct bn_sql_lazy_prepare u = {0};
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  f.services.counted_events = five;
  bn_sql_lazy_prepare_note(&u, f.s);
  assert_int_equal(u.preparing_events, 0); /* before the loop */
  atomic_store(&f.s->stat->running, true);
  bn_sql_lazy_prepare_note(&u, f.s);
  bn_sql_lazy_prepare_note(&u, f.s);
  bn_stat_count(f.s->stat, BN_C_EVENTS, 1);
  bn_sql_lazy_prepare_note(&u, f.s);
  bn_sql_end_hints_add_prepares(&all[0], &u, f.s);
  assert_int_equal(atomic_load(&all[0].preparing_events), 1);
  assert_int_equal(atomic_load(&all[0].events), 5);
  bn_stat_count(f.s->stat, BN_C_EVENTS, 1);
  f.s->stat->counts_from_ns = 100;
  atomic_store(&f.s->stat->begun_at, 1099);
  atomic_store(&f.s->stat->ended_at, 1000); /* begun in the warm-up, which is over */
  bn_sql_lazy_prepare_note(&u, f.s);
  bn_sql_end_hints_add_prepares(&all[1], &u, f.s);
  assert_int_equal(atomic_load(&all[1].preparing_events), 2);
  atomic_store(&f.s->stat->begun_at, 1100);
  bn_sql_lazy_prepare_note(&u, f.s);
  assert_int_equal(u.preparing_events, 3);
  atomic_store(&f.s->stat->running, false);
  fixture_close(&f);
}

/* Quietly: an event as one that is restarted, a command as one that failed. */
static void begins_nothing_once_interrupted(void **state)
{
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *st = bn_sql_prepare(c, "A", 1);

  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 9, .rolled_back = true});
  fake.log[0] = '\0';
  atomic_store(&f.s->interrupted, true);
  capture_begin();
  assert_null(query(c, "B"));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_FATAL);
  atomic_store(&f.s->stat->running, true);
  assert_null(bn_sql_execute(st));
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_string_equal(fake.log, "");
  assert_int_equal(bn_sql_disconnect(c), 0);
  assert_null(query(c, "C")); /* as after a loss */
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_IGNORABLE);
  assert_string_equal(capture_end(), "");
  assert_int_equal(counted(&f, BN_C_ERROR), 0);
  bn_sql_stmt_free(st);
  fixture_close(&f);
}

/* Returns how often the run was ended. */
static unsigned fail_caught(enum bn_version version, bool in_event)
{
  struct fixture f;

  fixture_open(&f, version);
  struct bn_sql_conn *c = connect_to(&f);

  atomic_store(&f.s->stat->running, in_event);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1146});
  capture_begin();
  assert_null(query(c, "SELECT 1"));
  (void)capture_end();
  assert_int_equal(bn_sql_conn_view(c)->error, BN_VERDICT_FATAL);
  fixture_close(&f);
  return f.failed;
}

static void ends_the_run_whatever_the_script_does(void **state)
{
  (void)state;
  assert_int_equal(fail_caught(BN_V11, true), 1);
  assert_int_equal(fail_caught(BN_V11, false), 0);
  assert_int_equal(fail_caught(BN_V10, true), 0);
}

/* What the hook tries is its own affair. */
static void ends_the_run_by_the_failure_that_a_hook_is_asked_about(void **state)
{
  (void)state;
  for (unsigned failed = 0; failed < 2; failed++) {
    struct fixture f;

    fixture_open(&f, BN_V11);
    struct bn_sql_conn *c = connect_to(&f);

    bn_sql_defer_failure(c);
    atomic_store(&f.s->stat->running, true);
    plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1146});
    plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1064});
    capture_begin();
    assert_null(query(c, "SELECT asked"));
    assert_null(query(c, "SELECT tried"));
    bn_sql_settle_failure(c, false);
    assert_int_equal(f.failed, 0);
    bn_sql_settle_failure(c, failed == 0);
    (void)capture_end();
    assert_int_equal(f.failed, failed);
    fixture_close(&f);
  }
}

/* --- statements that another session of the interpreter frees --- */

static bool waits;

static bool session_waits(const struct bn_session *s)
{
  (void)s;
  return waits;
}

/* Two statements are freed by a collector while a call of the session waits for the server. */
static void closes_no_statement_while_a_call_waits(void **state)
{
  struct bn_task *const some_task = (void *)&waits; /* is not looked at */
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  f.s->task = some_task;
  f.services.in_call = session_waits;
  struct bn_sql_conn *c = connect_to(&f);
  struct bn_sql_stmt *a = bn_sql_prepare(c, "A", 1), *b = bn_sql_prepare(c, "B", 1);

  fake.log[0] = '\0';
  waits = true;
  bn_sql_stmt_free(a);
  bn_sql_stmt_free(b);
  assert_string_equal(fake.log, "");
  bn_sql_stmt_free(bn_sql_prepare(c, "C", 1));
  assert_string_equal(fake.log, "close;close;prepare C;");
  waits = false;
  bn_sql_stmt_free(bn_sql_prepare(c, "D", 1));
  assert_string_equal(fake.log, "close;close;prepare C;close;prepare D;close;");
  f.s->task = NULL;
  fixture_close(&f);
}

BN_TESTS(sql_conn)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reconnects_and_prepares_again),
      cmocka_unit_test(the_next_server_is_tried_after_a_failure),
      cmocka_unit_test(a_state_of_any_bytes_makes_a_label_of_text),
      cmocka_unit_test(a_silent_server_is_given_up_if_there_is_another),
      cmocka_unit_test(stops_reconnecting_when_the_run_is_over),
      cmocka_unit_test(a_reconnect_leaves_the_failure_that_is_asked_about),
      cmocka_unit_test(loses_a_connection_for_good),
      cmocka_unit_test(names_a_place_that_cannot_be_reached),
      cmocka_unit_test(says_once_that_a_thread_cannot_use_the_driver),
      cmocka_unit_test(passes_overrides_and_refuses_unknown_ones),
      cmocka_unit_test(closes_statements),
      cmocka_unit_test(begins_nothing_once_interrupted),
      cmocka_unit_test(keeps_a_connection_for_its_statements),
      cmocka_unit_test(keeps_a_statement_for_its_result),
      cmocka_unit_test(outlives_its_session_in_other_hands),
      cmocka_unit_test(tells_a_miscount_from_a_failure_to_bind),
      cmocka_unit_test(stays_bound_as_it_was),
      cmocka_unit_test(emulates_when_told),
      cmocka_unit_test(keeps_the_text_of_an_emulated_statement),
      cmocka_unit_test(rolls_back_whatever_became_of_the_last_one),
      cmocka_unit_test(ends_the_run_whatever_the_script_does),
      cmocka_unit_test(ends_the_run_by_the_failure_that_a_hook_is_asked_about),
      cmocka_unit_test(emulates_when_asked),
      cmocka_unit_test(sends_text_to_a_server_that_prepares_no_more),
      cmocka_unit_test(counts_events_that_prepare),
      cmocka_unit_test(closes_no_statement_while_a_call_waits),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
