/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements prepared by the server: prepared and executed by wire/ or, on a connection that it
   does not use, by the client library. */
#include "drivers/mysql/conn.h"
#include "drivers/mysql/error.h"

/* Prepares by wire/, because the library keeps some ten kilobytes for each statement.  Returns DONE
   and sets st->by_wire, or EMULATE, ERROR or LOST. */
static enum bn_sql stmt_prepare_by_wire(struct bn_mysql_stmt *st, const char *sql, size_t len,
                                        struct bn_sql_diag *d)
{
  const struct bn_sql_unprepared unprepared = {
      .stmt = st, .sql = sql, .len = len, .n_binds = BN_MYSQL_ANY_BINDS};
  struct bn_mysql_wire_stmt *const wire = &st->wire;
  struct bn_mysql_conn *c = st->conn;
  size_t done = 0;
  enum bn_sql rc;

  c->source = NULL;
  rc = bn_mysql_wire_prepare(&c->wire, &unprepared, &wire, 1, &done, d);
  st->by_wire = done > 0;
  if (st->by_wire) {
    bn_mysql_lib_adopt(&c->lib, &st->lib, wire->n_params);
    return BN_SQL_DONE;
  }
  if (rc == BN_SQL_LOST)
    return rc;
  return bn_mysql_can_send_as_text(d->code) ? BN_SQL_EMULATE : BN_SQL_ERROR;
}

enum bn_sql bn_mysql_prepare(void *conn, void *stmt, const char *sql, size_t len,
                             struct bn_sql_diag *d)
{
  struct bn_mysql_stmt *st = stmt;
  struct bn_mysql_conn *c = conn;
  enum bn_sql rc;

  st->conn = c;
  if (c->way == BN_MYSQL_WAY_NONE)
    return BN_SQL_DONE;
  if (c->way == BN_MYSQL_WAY_WIRE)
    rc = stmt_prepare_by_wire(st, sql, len, d);
  else
    rc = bn_mysql_lib_prepare(&c->lib, &st->lib, sql, len, d);
  /* A statement without parameters needs no values to be bound. */
  if (rc == BN_SQL_DONE)
    st->complete = bn_mysql_lib_stmt_params(&st->lib) == 0;
  return rc;
}

enum bn_sql bn_mysql_bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d)
{
  struct bn_mysql_stmt *st = stmt;
  enum bn_sql rc;

  if (st->conn->way == BN_MYSQL_WAY_NONE)
    return BN_SQL_DONE;
  rc = bn_mysql_lib_check_params(&st->lib, n, d);
  if (rc != BN_SQL_DONE)
    return rc;
  bn_mysql_wire_bind(&st->wire, b, n);
  st->complete = true;
  if (st->conn->way == BN_MYSQL_WAY_WIRE)
    return BN_SQL_DONE;
  return bn_mysql_lib_bind(&st->lib, b, n, d);
}

enum bn_sql bn_mysql_prepare_all(void *conn, const struct bn_sql_unprepared *list, size_t n,
                                 size_t *done, struct bn_sql_diag *d)
{
  struct bn_mysql_conn *c = conn;
  const bool can_send_all =
      c->way == BN_MYSQL_WAY_WIRE && n <= BN_SQL_AT_ONCE && bn_mysql_lib_reads_ahead(&c->lib);
  struct bn_mysql_wire_stmt *wire[BN_SQL_AT_ONCE];
  enum bn_sql rc;

  *done = 0;
  if (!can_send_all) /* the SQL layer prepares them one by one */
    return BN_SQL_DONE;
  for (size_t i = 0; i < n; i++) {
    struct bn_mysql_stmt *st = list[i].stmt;

    wire[i] = &st->wire;
  }
  c->source = NULL;
  rc = bn_mysql_wire_prepare(&c->wire, list, wire, n, done, d);
  for (size_t i = 0; i < *done; i++) {
    struct bn_mysql_stmt *st = list[i].stmt;

    st->conn = c;
    st->by_wire = st->complete = true;
    bn_mysql_lib_adopt(&c->lib, &st->lib, list[i].n_binds);
    bn_mysql_wire_bind(&st->wire, list[i].binds, list[i].n_binds);
  }
  /* ProxySQL hangs up without an error if a packet comes while it works on another one, but may
     take the statements one by one. */
  if (rc == BN_SQL_LOST && n > 1 && d->code == BN_MYSQL_LOST)
    return BN_SQL_EMULATE;
  return rc;
}

/* Refuses to execute a statement whose parameters are not bound, as the client libraries do. */
static enum bn_sql stmt_refuse_unbound(struct bn_mysql_stmt *st, struct bn_sql_diag *d)
{
  enum { PARAMS_NOT_BOUND = 2031 };

  return bn_mysql_fail_with_status(bn_mysql_lib_status(&st->conn->lib), PARAMS_NOT_BOUND, "HY000",
                                   "mysql_stmt_execute()",
                                   "No data supplied for parameters in prepared statement", d);
}

enum bn_sql bn_mysql_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct bn_mysql_stmt *st = stmt;
  struct bn_mysql_conn *c = st->conn;
  enum bn_sql rc;

  if (__builtin_expect(c->way == BN_MYSQL_WAY_NONE, 0)) {
    *r = (struct bn_sql_result){.dry = true};
    return BN_SQL_DONE;
  }
  if (c->way == BN_MYSQL_WAY_WIRE && st->complete) {
    rc = bn_mysql_wire_execute(&c->wire, &st->wire, r, d);
  } else if (st->by_wire) {
    /* The library does not know the statement, so it cannot refuse the unbound parameters. */
    return stmt_refuse_unbound(st, d);
  } else {
    rc = bn_mysql_lib_execute(&st->lib, r, d);
    bn_mysql_note_library(c);
  }
  c->source = rc == BN_SQL_ROWS ? st : NULL;
  return rc;
}

void bn_mysql_close(void *stmt)
{
  struct bn_mysql_stmt *st = stmt;

  if (st->by_wire && st->conn->way == BN_MYSQL_WAY_WIRE)
    bn_mysql_wire_drop_stmt(&st->conn->wire, st->wire.id);
  st->by_wire = false;
  bn_mysql_lib_stmt_close(&st->lib);
  if (st->conn != NULL) /* NULL: the statement was never prepared */
    bn_mysql_note_library(st->conn);
  bn_mysql_wire_free_stmt(&st->wire);
}
