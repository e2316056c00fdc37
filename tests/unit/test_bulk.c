/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bulk insert: statements as long as the reference's, and what becomes of failures. */
#include <string.h>

#include "cm.h"
#include "engine/run.h"
#include "engine/stop.h"
#include "measure/stat.h"
#include "sqlfake.h"

static struct bn_sql_conn *start(struct fixture *f)
{
  struct bn_sql_conn *c;

  fixture_open(f, BN_V11);
  c = bn_sql_connect(f->drv, f->s, NULL, NULL, 0);
  assert_non_null(c);
  fake.log[0] = '\0';
  return c;
}

static int next(struct bn_sql_conn *c, const char *row)
{
  return bn_sql_bulk_next(c, row, strlen(row));
}

static void sends_one_statement(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = start(&f);

  (void)state;
  plan((struct fake_answer){.rc = BN_SQL_DONE, .affected = 2});
  assert_int_equal(bn_sql_bulk_init(c, "INSERT INTO t VALUES", 20), 0);
  assert_int_equal(next(c, "(1,1)"), 0);
  assert_int_equal(next(c, "(2,2)"), 0);
  assert_string_equal(fake.log, "");
  assert_int_equal(bn_sql_bulk_done(c), 0);
  assert_string_equal(fake.log, "query INSERT INTO t VALUES(1,1),(2,2);");
  assert_int_equal(counted(&f, BN_C_WRITE), 1);
  assert_int_equal(bn_sql_bulk_init(c, "INSERT", 6), 0);
  assert_int_equal(bn_sql_bulk_done(c), 0);
  assert_int_equal(counted(&f, BN_C_WRITE), 1);
  fixture_close(&f);
}

/* 20 + 100 + 5189 * 101 = 524209, and 20 + 35 + 14562 * 36 = 524287, which is the most. */
static void fills_the_reference_buffer(void **state)
{
  static const struct {
    size_t head, row;
    int rows; /* that fit */
  } sizes[] = {{20, 100, 5190}, {20, 35, 14563}, {21, 35, 14562}};
  static const char insert[] = "INSERT INTO t1 VALUES";
  char row[101];

  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct fixture f;
    struct bn_sql_conn *c = start(&f);

    memset(row, 'x', sizes[i].row);
    row[sizes[i].row] = '\0';
    assert_int_equal(bn_sql_bulk_init(c, insert, sizes[i].head), 0);
    for (int n = 0; n < sizes[i].rows; n++)
      assert_int_equal(next(c, row), 0);
    assert_string_equal(fake.log, "");
    assert_int_equal(next(c, row), 0);
    assert_true(fake.log[0] != '\0');
    assert_int_equal(counted(&f, BN_C_OTHER) + counted(&f, BN_C_WRITE), 1);
    assert_int_equal(bn_sql_bulk_done(c), 0);
    assert_int_equal(counted(&f, BN_C_OTHER) + counted(&f, BN_C_WRITE), 2);
    fixture_close(&f);
  }
}

static void refuses_a_row_that_never_fits(void **state)
{
  static char row[524288];
  struct fixture f;
  struct bn_sql_conn *c = start(&f);

  (void)state;
  memset(row, 'y', sizeof row);
  assert_int_equal(bn_sql_bulk_init(c, "INSERT INTO t VALUES", 20), 0);
  assert_int_equal(bn_sql_bulk_next(c, row, 524287 - 20), 0);
  capture_begin();
  assert_int_equal(bn_sql_bulk_next(c, row, 524287 - 20 + 1), -1);
  assert_string_equal(capture_end(),
                      "FATAL: Query length exceeds the maximum value (524288), aborting\n");
  assert_int_equal(bn_sql_bulk_done(c), 0);
  fixture_close(&f);
}

static void says_what_is_missing(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = start(&f);

  (void)state;
  capture_begin();
  assert_int_equal(next(c, "(1)"), -1);
  assert_string_equal(capture_end(),
                      "ALERT: attempt to call bulk_insert_next() before bulk_insert_init()\n");
  fixture_close(&f);
}

static void keeps_rows_after_a_failure(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = start(&f);

  (void)state;
  bn_sql_defer_failure(c);
  plan((struct fake_answer){.rc = BN_SQL_ERROR, .code = 1062, .rolled_back = true});
  assert_int_equal(bn_sql_bulk_init(c, "I ", 2), 0);
  assert_int_equal(next(c, "(1)"), 0);
  capture_begin();
  assert_int_equal(bn_sql_bulk_done(c), -1);
  assert_string_equal(capture_end(),
                      "FATAL: fake_query() returned error 1062 (failure 1062) for query 'I (1)'\n");
  assert_int_equal(counted(&f, BN_C_ERROR), 1);
  assert_int_equal(next(c, "(2)"), 0);
  fake.log[0] = '\0';
  assert_int_equal(bn_sql_bulk_done(c), 0);
  assert_string_equal(fake.log, "query I (1),(2);");
  fixture_close(&f);
}

/* --- commands: the driver's bulk load --- */

/* One command that inserts rows; NULL ends them. */
struct insert {
  struct bn_sql_driver *drv;
  const char *head, *const *row;
  int rc;
};

static int insert_rows(void *self, struct bn_session *s, const char *name, struct bn_err *err)
{
  struct insert *in = self;
  struct bn_sql_conn *c = bn_sql_connect(in->drv, s, NULL, NULL, 0);

  (void)name;
  (void)err;
  assert_non_null(c);
  fake.log[0] = '\0';
  in->rc = bn_sql_bulk_init(c, in->head, strlen(in->head));
  for (const char *const *row = in->row; *row != NULL && in->rc == 0; row++)
    in->rc = next(c, *row);
  if (in->rc == 0)
    in->rc = bn_sql_bulk_done(c);
  bn_sql_conn_free(c);
  return 0;
}

/* Returns what bulk_done did; fake.log says what was sent. */
static int in_command(struct fixture *f, const char *head, const char *const *row)
{
  const struct bn_command command = {.name = "prepare", .run = insert_rows};
  struct insert in = {.head = head, .row = row, .drv = f->drv};
  const struct bn_workload ops = {.name = "toy", .metrics = bn_sqlsys_metrics(f->sys)};
  const struct bn_run_setup setup = {.conf = &f->conf, .ops = &ops, .self = &in};
  struct bn_err err = {0};
  struct bn_run *run;
  char *end;

  assert_int_equal(bn_run_new(&run, &setup, &err), 0);
  assert_int_equal(bn_run_command(run, &command), BN_STATUS_OK);
  bn_sql_session_end(f->sys, bn_run_main_session(run));
  bn_run_free(run);
  end = strstr(fake.log, "disconnect;");
  /* Long statements are cut there. */
  if (end != NULL)
    *end = '\0';
  return in.rc;
}

static void loads_plain_rows(void **state)
{
  const char *const rows[] = {"(1, 'a''b', NULL)", " ( -2.50,'x\ty\nz\r', null ) ", NULL};
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  assert_int_equal(in_command(&f, " insert into t (id, v,w) values ", rows), 0);
  assert_string_equal(fake.log, "load t(id, v,w);1\ta'b\t\\N\n-2.50\tx\\ty\\nz\\r\t\\N\nend;");
  assert_int_equal(in_command(&f, "INSERT INTO `a`.b VALUES", rows), 0);
  assert_string_equal(fake.log, "load `a`.b();1\ta'b\t\\N\n-2.50\tx\\ty\\nz\\r\t\\N\nend;");
  fixture_close(&f);
}

static void inserts_where_it_is_asked_to(void **state)
{
  const char *const rows[] = {"(1)", "(2)", NULL};
  struct fixture f;

  (void)state;
  memset(&f, 0, sizeof f);
  f.sql_conf.bulk_load = BN_SQL_BULK_INSERT;
  fixture_open_with(&f, BN_V11);
  assert_int_equal(in_command(&f, "INSERT INTO t VALUES", rows), 0);
  assert_string_equal(fake.log, "query INSERT INTO t VALUES(1),(2);");
  fixture_close(&f);
}

static void inserts_what_only_the_server_understands(void **state)
{
  static const char *const heads[] = {"INSERT IGNORE INTO t VALUES",
                                      "REPLACE INTO t VALUES",
                                      "INSERT INTO t SELECT 1 UNION VALUES",
                                      "INSERT INTO t() VALUES",
                                      "INSERT INTO t(a VALUES",
                                      "INSERT INTO VALUES"};
  static const char *const odd[] = {"(f(1))",  "(0x1)",     "(1e3)",    "(+1)",   "(007)",
                                    "(-0)",    "(1.)",      "(.5)",     "('a')b", "('a\\n')",
                                    "('a'",    "(1",        "1",        "()",     "(NULLIF(1))",
                                    "(1),(2)", "('a' 'b')", "(DEFAULT)"};
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    const char *const rows[] = {"(1)", NULL};

    assert_int_equal(in_command(&f, heads[i], rows), 0);
    assert_ptr_equal(strstr(fake.log, "query "), fake.log);
  }
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    const char *const rows[] = {"(1)", odd[i], "(3)", NULL};
    char want[100];

    (void)snprintf(want, sizeof want, "load t();1\nend;query INSERT INTO t VALUES%s,(3);", odd[i]);
    assert_int_equal(in_command(&f, "INSERT INTO t VALUES", rows), 0);
    assert_string_equal(fake.log, want);
  }
  fixture_close(&f);
}

/* What was taken back is inserted; what was not is a failure. */
static void inserts_after_a_load_that_failed(void **state)
{
  const char *const rows[] = {"(1)", "(2)", NULL}, *const row[] = {"(1)", NULL};
  struct fixture f;

  (void)state;
  fixture_open(&f, BN_V11);
  fake.load = (struct fake_answer){.rc = BN_SQL_ERROR, .code = 1062, .rolled_back = true};
  assert_int_equal(in_command(&f, "INSERT INTO t VALUES", rows), 0);
  assert_string_equal(fake.log, "load t();1\n2\nend;query INSERT INTO t VALUES(1),(2);");
  fake.load.rolled_back = false;
  capture_begin();
  assert_int_equal(in_command(&f, "INSERT INTO t VALUES", rows), -1);
  assert_string_equal(capture_end(), "FATAL: fake_load() returned error 1062 (failure 1062) for "
                                     "query 'bulk load of 2 rows into t'\n");
  assert_null(strstr(fake.log, "query INSERT"));
  capture_begin();
  assert_int_equal(in_command(&f, "INSERT INTO t VALUES", row), -1);
  assert_string_equal(capture_end(), "FATAL: fake_load() returned error 1062 (failure 1062) for "
                                     "query 'bulk load of 1 row into t'\n");
  fixture_close(&f);
}

/* The load of n rows of `len` bytes is refused; returns how many statements insert them. */
static unsigned insert_refused_load(size_t n, size_t len)
{
  static char row[300001];
  const char *rows[7] = {NULL};
  struct fixture f;
  unsigned queries;

  assert_in_range(len, 4, sizeof row - 1);
  assert_in_range(n, 1, sizeof rows / sizeof *rows - 1);
  memset(row, 'x', len);
  memcpy(row, "('", 2);
  memcpy(row + len - 2, "')", 3);
  for (size_t i = 0; i < n; i++)
    rows[i] = row;
  fixture_open(&f, BN_V11);
  fake.load = (struct fake_answer){.rc = BN_SQL_ERROR, .rolled_back = true};
  assert_int_equal(in_command(&f, "INSERT INTO t VALUES", rows), 0);
  queries = fake.queries;
  fixture_close(&f);
  return queries;
}

/* A load is longer than a statement may be, so the rows become several. */
static void inserts_a_long_load_in_parts(void **state)
{
  (void)state;
  assert_int_equal(insert_refused_load(3, 300000), 3);
}

/* Two rows fit into a statement, five into what is loaded at once: the fifth waits for the sixth,
   as it would without the load. */
static void inserts_a_refused_load_as_if_nobody_had_tried(void **state)
{
  (void)state;
  assert_int_equal(insert_refused_load(6, 200000), 3);
}

BN_TESTS(bulk)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sends_one_statement),
      cmocka_unit_test(fills_the_reference_buffer),
      cmocka_unit_test(refuses_a_row_that_never_fits),
      cmocka_unit_test(says_what_is_missing),
      cmocka_unit_test(keeps_rows_after_a_failure),
      cmocka_unit_test(loads_plain_rows),
      cmocka_unit_test(inserts_where_it_is_asked_to),
      cmocka_unit_test(inserts_what_only_the_server_understands),
      cmocka_unit_test(inserts_after_a_load_that_failed),
      cmocka_unit_test(inserts_a_long_load_in_parts),
      cmocka_unit_test(inserts_a_refused_load_as_if_nobody_had_tried),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
