/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries as text, the rows of every result, and statements prepared by the server.  The types of
   parameters belong to a statement, so a statement with parameters is prepared when they are bound.
   Values are sent in binary form from the SQL layer's memory; results come as text. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/pgsql/conn.h"
#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/error.h"

const struct bn_sql_caps bn_pgsql_caps = {.syntax = BN_SYNTAX_POSTGRESQL, .prepares_anew = true};

enum bn_sql bn_pgsql_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                           struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = conn;

  (void)len; /* the text is terminated */
  if (bn_pgsql_on_wire(c))
    return bn_pgsql_wire_query(&c->wire, sql, r, d);
  return bn_pgsql_lib_query(&c->lib, sql, r, d);
}

enum bn_sql bn_pgsql_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  (void)conn;
  (void)stmt;
  (void)d;
  *r = (struct bn_sql_result){.affected = 0};
  return BN_SQL_DONE;
}

bool bn_pgsql_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  struct bn_pgsql_conn *c = conn;

  if (r->rows == &c->wire)
    return bn_pgsql_wire_fetch(&c->wire, r, row);
  return bn_pgsql_lib_fetch(&c->lib, r, row);
}

void bn_pgsql_free_result(void *conn, struct bn_sql_result *r)
{
  struct bn_pgsql_conn *c = conn;

  if (r->rows == &c->wire)
    bn_pgsql_wire_free_result(&c->wire);
  else
    bn_pgsql_lib_free_result(r);
  r->rows = NULL;
}

/* Object ids of types, from the server's catalogue. */
enum { OID_BYTEA = 17, OID_INT8 = 20, OID_FLOAT8 = 701, OID_VARCHAR = 1043 };

/* Returns the server's id of the type as which a value is sent, or 0: the server decides. */
static uint32_t stmt_find_type(enum bn_sql_type type)
{
  switch (type) {
  case BN_SQL_INT64:
    return OID_INT8;
  case BN_SQL_DOUBLE:
    return OID_FLOAT8;
  case BN_SQL_TEXT:
    return OID_VARCHAR;
  case BN_SQL_BLOB:
    return OID_BYTEA;
  case BN_SQL_NULL:
    break;
  }
  return 0;
}

/* Returns the next question mark from p on that is a parameter, or the end of the text. */
static const char *stmt_next_param(const struct bn_pgsql_request *q,
                                   const struct bn_driver_host *host, const char *p)
{
  return host->next_param(p, q->text, q->text + q->len, &bn_pgsql_caps);
}

/* Sets the text of a statement, which the caller keeps, and counts its parameters. */
static void stmt_set_text(struct bn_pgsql_stmt *st, const char *sql, size_t len)
{
  const struct bn_driver_host *host = st->conn->driver->host;
  struct bn_pgsql_request *q = &st->request;
  const char *const end = sql + len;
  const char *p;

  q->text = sql;
  q->len = len;
  q->n_params = 0;
  p = stmt_next_param(q, host, sql);
  while (p < end) {
    q->n_params++;
    p = stmt_next_param(q, host, p + 1);
  }
}

/* Makes q->sql, the text with $1, $2, … in place of the question marks, unless it exists.  The text
   is freed after each prepare, because many sessions with many statements would need much memory
   for it.  With host->anew it stays, because each execute prepares. */
static void stmt_number_params(struct bn_pgsql_request *q, const struct bn_driver_host *host)
{
  enum { NUMBER_MAX = sizeof "$18446744073709551615" };
  const char *const end = q->text + q->len;
  size_t number = 0;
  char *to;

  if (q->sql != NULL)
    return;
  q->sql = to = host->alloc(1, q->len + q->n_params * NUMBER_MAX + 1);
  for (const char *from = q->text;;) {
    const char *mark = stmt_next_param(q, host, from);

    memcpy(to, from, (size_t)(mark - from));
    to += mark - from;
    if (mark == end)
      return;
    to += snprintf(to, NUMBER_MAX, "$%zu", ++number);
    from = mark + 1;
  }
}

static void stmt_free_sql(struct bn_pgsql_request *q)
{
  free(q->sql);
  q->sql = NULL;
}

/* Prepares by libpq, with the present types.  Returns DONE, ERROR or LOST. */
static enum bn_sql stmt_send_prepare(struct bn_pgsql_stmt *st, struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = st->conn;
  const char transaction = bn_pgsql_transaction_letter(c);
  enum bn_sql rc;

  st->fields = BN_PGSQL_UNKNOWN;
  stmt_number_params(&st->request, c->driver->host);
  bn_pgsql_wire_lend(&c->wire);
  rc = bn_pgsql_lib_prepare(&c->lib, &st->request, transaction, d);
  stmt_free_sql(&st->request);
  return rc;
}

enum bn_sql bn_pgsql_prepare(void *conn, void *stmt, const char *sql, size_t len,
                             struct bn_sql_diag *d)
{
  struct bn_pgsql_stmt *st = stmt;
  const struct bn_driver_host *host;
  enum bn_sql rc;

  st->conn = conn;
  host = st->conn->driver->host;
  stmt_set_text(st, sql, len);
  if (host->anew)
    stmt_number_params(&st->request, host);
  /* A statement with parameters is prepared when they are bound, because only then their types are
     known; with host->anew, each execute prepares. */
  if (st->request.n_params > 0 || host->anew)
    return BN_SQL_DONE;
  rc = stmt_send_prepare(st, d);
  if (rc != BN_SQL_DONE)
    bn_pgsql_close(st);
  return rc;
}

/* Sets the types of the parameters, of which there is one at least, from their values.  Returns
   whether a type has changed. */
static bool stmt_set_types(struct bn_pgsql_stmt *st, const struct bn_sql_bind *b)
{
  struct bn_pgsql_request *q = &st->request;
  bool changed = false;

  if (q->type == NULL)
    q->type = st->conn->driver->host->alloc(q->n_params, sizeof *q->type);
  for (size_t i = 0; i < q->n_params; i++) {
    const uint32_t type = stmt_find_type(b[i].type);

    changed |= q->type[i] != type;
    q->type[i] = type;
  }
  return changed;
}

/* Puts the call before d->text, as messages about binding show it.  A long text loses its end. */
static void stmt_prefix_call(struct bn_sql_diag *d)
{
  enum { CALL_ROOM = 64 }; /* for the call and " failed: ", which are shorter */
  char text[sizeof d->text];

  (void)snprintf(text, sizeof text, "%s failed: %.*s", d->call, (int)sizeof text - CALL_ROOM,
                 d->text);
  (void)snprintf(d->text, sizeof d->text, "%s", text);
}

enum bn_sql bn_pgsql_bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d)
{
  struct bn_pgsql_stmt *st = stmt;
  struct bn_pgsql_request *q = &st->request;
  bool have_types_changed, is_prepared;
  enum bn_sql rc;

  if (n != q->n_params || n > INT_MAX) { /* libpq counts parameters by an int */
    (void)bn_pgsql_fail_text("", "bind", "wrong number of parameters in prepared statement", d);
    return BN_SQL_MISCOUNT;
  }
  q->binds = b;
  if (n == 0)
    return BN_SQL_DONE;
  have_types_changed = stmt_set_types(st, b);
  is_prepared = q->name[0] != '\0' && !have_types_changed;
  if (is_prepared || st->conn->driver->host->anew) /* anew: each execute prepares */
    return BN_SQL_DONE;
  rc = stmt_send_prepare(st, d);
  if (rc != BN_SQL_DONE)
    stmt_prefix_call(d);
  return rc;
}

/* Does what bn_pgsql_prepare and bn_pgsql_bind do before they ask the server.  Returns false if
   this fails: the caller's later call of one of them will report the failure. */
static bool stmt_set_up(struct bn_pgsql_conn *c, const struct bn_sql_unprepared *u)
{
  struct bn_pgsql_stmt *st = u->stmt;
  struct bn_pgsql_request *q = &st->request;

  st->conn = c;
  st->fields = BN_PGSQL_UNKNOWN;
  q->binds = u->binds;
  stmt_set_text(st, u->sql, u->len);
  stmt_number_params(q, c->driver->host);
  if (q->n_params != u->n_binds || q->n_params > BN_PGSQL_PARAMS_MAX)
    return false;
  if (q->n_params > 0)
    (void)stmt_set_types(st, u->binds);
  bn_pgsql_lib_set_name(&c->lib, q);
  return true;
}

/* Makes a statement that the server does not know zero again. */
static void stmt_reset(struct bn_pgsql_stmt *st)
{
  st->request.name[0] = '\0'; /* so that bn_pgsql_close does not ask the server to forget it */
  bn_pgsql_close(st);
  memset(st, 0, sizeof *st);
}

enum bn_sql bn_pgsql_prepare_all(void *conn, const struct bn_sql_unprepared *list, size_t n,
                                 size_t *done, struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = conn;
  struct bn_pgsql_request *q[BN_SQL_AT_ONCE];
  enum bn_sql rc = BN_SQL_DONE;
  size_t n_set_up = 0;

  *done = 0;
  if (c->driver->host->anew || n > BN_SQL_AT_ONCE || !bn_pgsql_on_wire(c))
    return BN_SQL_DONE;
  while (n_set_up < n && stmt_set_up(c, &list[n_set_up])) {
    struct bn_pgsql_stmt *st = list[n_set_up].stmt;

    q[n_set_up] = &st->request;
    n_set_up++;
  }
  if (n_set_up > 0)
    rc = bn_pgsql_wire_prepare(&c->wire, q, n_set_up, done, d);
  for (size_t i = 0; i < *done; i++)
    stmt_free_sql(q[i]);
  /* list[n_set_up], if there is one, was set up in part. */
  for (size_t i = *done; i < n && i <= n_set_up; i++)
    stmt_reset(list[i].stmt);
  return rc;
}

enum bn_sql bn_pgsql_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct bn_pgsql_stmt *st = stmt;
  const struct bn_pgsql_request *q = &st->request;
  struct bn_pgsql_conn *c = st->conn;
  const bool anew = c->driver->host->anew;
  /* If parameters are not bound, they have no types, and the bind has prepared no statement. */
  const bool is_unbound = anew ? q->n_params > 0 && q->type == NULL : q->name[0] == '\0';

  if (__builtin_expect(is_unbound, 0)) /* undefined_parameter */
    return bn_pgsql_fail_text("42P02", "PQexecPrepared",
                              "wrong number of parameters in prepared statement", d);
  if (!bn_pgsql_on_wire(c) || q->n_params > BN_PGSQL_PARAMS_MAX) {
    bn_pgsql_wire_lend(&c->wire);
    return bn_pgsql_lib_execute(&c->lib, q, anew, r, d);
  }
  if (__builtin_expect(anew, 0))
    return bn_pgsql_wire_execute_anew(&c->wire, q, r, d);
  return bn_pgsql_wire_execute(&c->wire, q, &st->fields, r, d);
}

/* Frees what the statement owns; the SQL layer frees the statement itself. */
void bn_pgsql_close(void *stmt)
{
  struct bn_pgsql_stmt *st = stmt;
  struct bn_pgsql_request *q = &st->request;

  if (q->name[0] != '\0')
    bn_pgsql_lib_drop_name(&st->conn->lib, q);
  stmt_free_sql(q);
  free(q->type);
  q->type = NULL;
}
