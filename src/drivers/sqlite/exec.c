/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements: their turn among the connections of this process, their execution and results. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sqlite/sqlite.h"

/* Returns the lock that the connection has to hold to run st.  BEGIN, which is read-only and has no
   columns, touches nothing yet and needs none. */
static enum bn_sqlite_hold exec_get_hold(const struct bn_sqlite_conn *c, sqlite3_stmt *st)
{
  if (!sqlite3_stmt_readonly(st))
    return BN_SQLITE_EXCLUSIVE;
  return c->readers_wait && sqlite3_column_count(st) > 0 ? BN_SQLITE_SHARED : BN_SQLITE_NONE;
}

/* Waits for the turn of the connection, or for the upgrade of the turn that it has.  Returns DONE,
   or ERROR and d. */
static enum bn_sql exec_enter(struct bn_sqlite_conn *c, enum bn_sqlite_hold wants,
                              struct bn_sql_diag *d)
{
  enum bn_sqlite_wait rc;

  if (c->holds == BN_SQLITE_SHARED)
    rc = bn_sqlite_queue_upgrade(&c->file->queue, &c->turn);
  else
    rc = bn_sqlite_queue_enter(&c->file->queue, &c->turn, wants);
  switch (rc) {
  case BN_SQLITE_GRANTED:
    c->holds = wants;
    return BN_SQL_DONE;
  case BN_SQLITE_INTERRUPTED:
    return bn_sqlite_fail_text(c, SQLITE_INTERRUPT, "sqlite3_step()", "interrupted", d);
  case BN_SQLITE_CONFLICT:
    return bn_sqlite_fail_text(c, SQLITE_BUSY_SNAPSHOT, "sqlite3_step()",
                               "two transactions that have read want to write", d);
  case BN_SQLITE_OWN:
    break;
  }
  return bn_sqlite_fail_text(c, SQLITE_LOCKED, "sqlite3_step()",
                             "another connection of this thread is in a transaction", d);
}

/* Executes st, adds its rows to c->rows, and fills p.  Returns SQLITE_DONE, the code of the step
   that failed, or SQLITE_NOMEM if there is no room for the rows; after a failure p->kind stays as
   it is. */
static int exec_read_rows(struct bn_sqlite_conn *c, sqlite3_stmt *st, struct bn_sqlite_part *p)
{
  const int nfields = sqlite3_column_count(st);
  int rc;

  p->begin = c->rows.len;
  while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
    if (bn_sqlite_rows_add(&c->rows, st, nfields) != 0)
      return SQLITE_NOMEM;
    p->nrows++;
  }
  if (rc != SQLITE_DONE)
    return rc;
  p->end = c->rows.len;
  p->nfields = (uint32_t)nfields;
  p->kind = nfields > 0 ? BN_SQL_ROWS : BN_SQL_DONE;
  return SQLITE_DONE;
}

/* Runs st when it is its turn.  Resets st at the end, which ends the transaction of a statement
   outside of BEGIN and COMMIT; then the turn ends, if no transaction is open.  Returns p->kind,
   which is ERROR after a failure that d describes. */
static enum bn_sql exec_run(struct bn_sqlite_conn *c, sqlite3_stmt *st, struct bn_sqlite_part *p,
                            struct bn_sql_diag *d)
{
  const enum bn_sqlite_hold wants = c->file != NULL ? exec_get_hold(c, st) : BN_SQLITE_NONE;
  int changes_before, rc;

  *p = (struct bn_sqlite_part){.kind = BN_SQL_ERROR};
  if (wants > c->holds && exec_enter(c, wants, d) != BN_SQL_DONE)
    return BN_SQL_ERROR;
  /* SQLite ignores an interruption that comes before the statement begins. */
  if (atomic_load_explicit(&c->interrupted, memory_order_relaxed))
    return bn_sqlite_fail_text(c, SQLITE_INTERRUPT, "sqlite3_step()", "interrupted", d);
  changes_before = sqlite3_total_changes(c->db);
  rc = exec_read_rows(c, st, p);
  if (rc == SQLITE_NOMEM) {
    (void)sqlite3_reset(st);
    return bn_sqlite_fail_text(c, rc, "sqlite3_step()", "out of memory", d);
  }
  /* sqlite3_reset() releases the locks of the statement, and returns the code of the failed step,
     whose message stays. */
  if (rc != SQLITE_DONE)
    return bn_sqlite_fail(c, sqlite3_reset(st), "sqlite3_step()", d);
  if (sqlite3_total_changes(c->db) != changes_before)
    p->affected = (uint64_t)sqlite3_changes(c->db);
  (void)sqlite3_reset(st);
  if (c->holds != BN_SQLITE_NONE && sqlite3_get_autocommit(c->db) != 0)
    bn_sqlite_end_turn(c);
  return p->kind;
}

/* Compiles the first statement of the text, and sets *tail to what follows it; *st is NULL if the
   text has blanks and comments alone.  Returns DONE, or ERROR and d. */
static enum bn_sql exec_compile(struct bn_sqlite_conn *c, const char *sql, size_t len,
                                unsigned flags, sqlite3_stmt **st, const char **tail,
                                struct bn_sql_diag *d)
{
  int rc;

  if (len > INT_MAX)
    return bn_sqlite_fail_text(c, SQLITE_TOOBIG, "sqlite3_prepare_v3()", "statement too long", d);
  rc = sqlite3_prepare_v3(c->db, sql, (int)len, flags, st, tail);
  if (rc != SQLITE_OK)
    return bn_sqlite_fail(c, rc, "sqlite3_prepare_v3()", d);
  return BN_SQL_DONE;
}

/* Executes the statements from sql to end, which follow the first one of a text.  Servers execute a
   whole text before they answer, so this comes before the first result is returned.  The results
   are kept for bn_sqlite_next().  A statement that fails is the last one. */
static void exec_run_other_statements(struct bn_sqlite_conn *c, const char *sql, const char *end)
{
  while (sql < end) {
    struct bn_sqlite_part p = {.kind = BN_SQL_ERROR};
    sqlite3_stmt *st = NULL;
    enum bn_sql rc;

    rc = exec_compile(c, sql, (size_t)(end - sql), 0, &st, &sql, &c->pending_diag);
    if (rc == BN_SQL_DONE && st == NULL)
      return; /* blanks or a comment */
    if (rc == BN_SQL_DONE)
      rc = exec_run(c, st, &p, &c->pending_diag);
    (void)sqlite3_finalize(st);
    bn_sqlite_rows_add_part(c->driver->host, &c->rows, &p);
    if (rc == BN_SQL_ERROR)
      return;
  }
}

enum bn_sql bn_sqlite_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                            struct bn_sql_diag *d)
{
  struct bn_sqlite_conn *c = conn;
  const char *const end = sql + len;
  struct bn_sqlite_part p;
  sqlite3_stmt *st = NULL;
  enum bn_sql rc;

  bn_sqlite_rows_clear(&c->rows);
  rc = exec_compile(c, sql, len, 0, &st, &sql, d);
  if (rc != BN_SQL_DONE)
    return rc;
  if (st == NULL)
    return bn_sqlite_fail_text(c, SQLITE_ERROR, "sqlite3_prepare_v3()", "Query was empty", d);
  rc = exec_run(c, st, &p, d);
  (void)sqlite3_finalize(st);
  if (rc == BN_SQL_ERROR)
    return rc;
  exec_run_other_statements(c, sql, end);
  bn_sqlite_rows_select_part(&c->rows, &p, r);
  return rc;
}

enum bn_sql bn_sqlite_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct bn_sqlite_conn *c = conn;
  const struct bn_sqlite_part *p;

  (void)stmt;
  *r = (struct bn_sql_result){.affected = 0};
  if (c->rows.next_part >= c->rows.n_parts)
    return BN_SQL_DONE;
  p = &c->rows.part[c->rows.next_part++];
  if (p->kind == BN_SQL_ERROR)
    *d = c->pending_diag;
  else
    bn_sqlite_rows_select_part(&c->rows, p, r);
  return p->kind;
}

enum bn_sql bn_sqlite_prepare(void *conn, void *stmt, const char *sql, size_t len,
                              struct bn_sql_diag *d)
{
  struct bn_sqlite_conn *c = conn;
  struct bn_sqlite_stmt *s = stmt;
  const char *const end = sql + len;
  sqlite3_stmt *second = NULL;
  enum bn_sql rc;

  s->conn = c;
  rc = exec_compile(c, sql, len, SQLITE_PREPARE_PERSISTENT, &s->st, &sql, d);
  if (rc != BN_SQL_DONE)
    return rc;
  if (s->st == NULL)
    return bn_sqlite_fail_text(c, SQLITE_ERROR, "sqlite3_prepare_v3()", "Query was empty", d);
  if (sql == end)
    return BN_SQL_DONE;
  /* Blanks and comments may follow. */
  rc = exec_compile(c, sql, (size_t)(end - sql), 0, &second, NULL, d);
  if (rc == BN_SQL_DONE && second == NULL)
    return BN_SQL_DONE;
  (void)sqlite3_finalize(second);
  (void)sqlite3_finalize(s->st);
  s->st = NULL;
  return bn_sqlite_fail_text(c, SQLITE_ERROR, "sqlite3_prepare_v3()",
                             "only one statement can be prepared at a time", d);
}

/* Names the failed call in messages: SQLite has a function that binds for each type. */
static const char exec_bind_call[] = "sqlite3_bind()";

/* Only remembers where the values are: they change from one execution to the next, and SQLite reads
   them when they are bound. */
enum bn_sql bn_sqlite_bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d)
{
  struct bn_sqlite_stmt *s = stmt;
  char text[80];

  if (n != (size_t)sqlite3_bind_parameter_count(s->st)) {
    (void)snprintf(text, sizeof text, "wrong number of parameters: %zu given, %d in the statement",
                   n, sqlite3_bind_parameter_count(s->st));
    return bn_sqlite_fail_text(s->conn, SQLITE_RANGE, exec_bind_call, text, d);
  }
  s->binds = b;
  s->n_binds = n;
  return BN_SQL_DONE;
}

/* Binds the present value of b to parameter i, from 1.  The memory of the value stays until the
   statement has been executed.  Returns a result code of SQLite. */
static int exec_bind_value(sqlite3_stmt *st, int i, const struct bn_sql_bind *b)
{
  if (bn_sql_bind_null(b))
    return sqlite3_bind_null(st, i);
  switch (b->type) {
  case BN_SQL_INT64:
    return sqlite3_bind_int64(st, i, *(const int64_t *)b->data);
  case BN_SQL_DOUBLE:
    return sqlite3_bind_double(st, i, *(const double *)b->data);
  case BN_SQL_TEXT:
    return sqlite3_bind_text64(st, i, b->data, *b->len, SQLITE_STATIC, SQLITE_UTF8);
  case BN_SQL_BLOB:
    return sqlite3_bind_blob64(st, i, b->data, *b->len, SQLITE_STATIC);
  case BN_SQL_NULL:
    break;
  }
  return sqlite3_bind_null(st, i);
}

/* Reads the values through the descriptors of bn_sqlite_bind, and then executes the statement. */
enum bn_sql bn_sqlite_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct bn_sqlite_stmt *s = stmt;
  struct bn_sqlite_conn *c = s->conn;
  struct bn_sqlite_part p;
  enum bn_sql rc;

  bn_sqlite_rows_clear(&c->rows);
  for (size_t i = 0; i < s->n_binds; i++) {
    const int code = exec_bind_value(s->st, (int)i + 1, &s->binds[i]);

    if (code != SQLITE_OK)
      return bn_sqlite_fail(c, code, exec_bind_call, d);
  }
  rc = exec_run(c, s->st, &p, d);
  if (rc != BN_SQL_ERROR)
    bn_sqlite_rows_select_part(&c->rows, &p, r);
  return rc;
}
