/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements prepared by the server.  The types of the parameters belong to the statement, so one
   with parameters is prepared when they are bound.  Values are sent in binary form, from where the
   SQL layer keeps them; results come as text. */
#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/pgsql/internal.h"

/* Object ids of types, from the server's catalogue. */
enum { OID_BYTEA = 17, OID_INT8 = 20, OID_FLOAT8 = 701, OID_VARCHAR = 1043 };

enum { DEALLOCATE_AT = 32 };

/* A number as it travels. */
struct bn_pgsql_param {
  uint64_t big_endian;
};

static Oid type_of(enum bn_sql_type type)
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
  return 0; /* the server decides */
}

static void forget_closing(struct bn_pgsql_conn *c)
{
  c->closing_len = 0;
  c->n_closing = 0;
}

/* Statements closed some time ago; what comes of it concerns nobody. */
static void deallocate(struct bn_pgsql_conn *c)
{
  if (c->n_closing < DEALLOCATE_AT || bn_pgsql_transaction(c) == PQTRANS_INERROR)
    return;
  PQclear(PQexec(c->handle, c->closing));
  forget_closing(c);
}

static void close_later(struct bn_pgsql_stmt *st)
{
  const size_t more = sizeof "DEALLOCATE ;" + sizeof st->name;
  struct bn_pgsql_conn *c = st->conn;
  char *wider = realloc(c->closing, c->closing_len + more);

  if (wider == NULL)
    return; /* the server keeps it until the connection ends */
  c->closing = wider;
  c->closing_len += (size_t)snprintf(c->closing + c->closing_len, more, "DEALLOCATE %s;", st->name);
  c->n_closing++;
}

/* Has the server prepare st with the types of n parameters. */
static enum bn_sql send_prepare(struct bn_pgsql_stmt *st, bool whole, struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = st->conn;
  PGresult *res;
  enum bn_sql rc = BN_SQL_DONE;

  st->fields = BN_PGSQL_UNKNOWN;
  bn_pgsql_lend(c);
  deallocate(c);
  if (st->name[0] != '\0')
    close_later(st);
  (void)snprintf(st->name, sizeof st->name, "sbstmt%u", ++c->last_name);
  res = PQprepare(c->handle, st->name, st->sql, (int)st->n_params, st->type);
  if (PQresultStatus(res) != PGRES_COMMAND_OK) {
    rc = bn_pgsql_fail(c, res, "PQprepare()", whole, d);
    st->name[0] = '\0';
  }
  PQclear(res);
  return rc;
}

enum bn_sql bn_pgsql_prepare(void *conn, void *stmt, const char *sql, size_t len,
                             struct bn_sql_diag *d)
{
  struct bn_pgsql_stmt *st = stmt;
  enum bn_sql rc;

  st->conn = conn;
  st->sql = bn_pgsql_number_params(sql, len, &st->n_params);
  if (st->sql == NULL)
    return bn_pgsql_fail_text("53200", "PQprepare()", "out of memory", d);
  if (st->n_params > 0 || st->conn->driver->host->anew)
    return BN_SQL_DONE;
  rc = send_prepare(st, true, d);
  if (rc != BN_SQL_DONE)
    bn_pgsql_close(st);
  return rc;
}

static void free_values(struct bn_pgsql_stmt *st)
{
  free(st->param);
  free(st->value);
  free(st->length);
  free(st->format);
  st->param = NULL;
  st->value = NULL;
  st->length = st->format = NULL;
}

static int make_types(struct bn_pgsql_stmt *st)
{
  if (st->type == NULL)
    st->type = calloc(st->n_params, sizeof *st->type);
  return st->type != NULL ? 0 : -1;
}

/* Returns whether a type is another than before. */
static bool set_types(struct bn_pgsql_stmt *st, const struct bn_sql_bind *b)
{
  bool changed = false;

  for (size_t i = 0; i < st->n_params; i++) {
    const Oid type = type_of(b[i].type);

    changed = changed || st->type[i] != type;
    st->type[i] = type;
  }
  return changed;
}

/* d->text as messages about binding show it: the call is part of it. */
static void say_call(struct bn_sql_diag *d)
{
  char text[sizeof d->text];

  (void)snprintf(text, sizeof text, "%s failed: %.*s", d->call, (int)sizeof text - 64, d->text);
  (void)snprintf(d->text, sizeof d->text, "%s", text);
}

enum bn_sql bn_pgsql_bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d)
{
  struct bn_pgsql_stmt *st = stmt;
  enum bn_sql rc;

  if (n != st->n_params || st->n_params > INT_MAX) {
    (void)bn_pgsql_fail_text("", "bind", "wrong number of parameters in prepared statement", d);
    return BN_SQL_MISCOUNT;
  }
  st->binds = b;
  if (n == 0)
    return BN_SQL_DONE;
  if (make_types(st) != 0)
    return bn_pgsql_fail_text("53200", "bind", "out of memory", d);
  if ((!set_types(st, b) && st->name[0] != '\0') || st->conn->driver->host->anew)
    return BN_SQL_DONE;
  rc = send_prepare(st, true, d);
  if (rc != BN_SQL_DONE)
    say_call(d);
  return rc;
}

static void set_number(struct bn_pgsql_stmt *st, size_t i, const void *data)
{
  uint64_t bits;

  memcpy(&bits, data, sizeof bits);
  st->param[i].big_endian = htobe64(bits);
  st->value[i] = (const char *)&st->param[i].big_endian;
  st->length[i] = sizeof bits;
}

/* false: libpq cannot say how long it is. */
static bool set_value(struct bn_pgsql_stmt *st, size_t i)
{
  const struct bn_sql_bind *b = &st->binds[i];

  if (bn_sql_bind_null(b)) {
    st->value[i] = NULL;
  } else if (b->type == BN_SQL_INT64 || b->type == BN_SQL_DOUBLE) {
    set_number(st, i, b->data);
  } else {
    st->value[i] = b->data != NULL ? b->data : "";
    st->length[i] = (int)*b->len;
    return *b->len <= INT_MAX;
  }
  return true;
}

/* Where libpq wants the values to be. */
static int make_values(struct bn_pgsql_stmt *st)
{
  if (st->format != NULL || st->n_params == 0)
    return 0;
  st->param = calloc(st->n_params, sizeof *st->param);
  st->value = calloc(st->n_params, sizeof *st->value);
  st->length = calloc(st->n_params, sizeof *st->length);
  st->format = calloc(st->n_params, sizeof *st->format);
  if (st->param == NULL || st->value == NULL || st->length == NULL || st->format == NULL)
    return -1;
  for (size_t i = 0; i < st->n_params; i++)
    st->format[i] = 1;
  return 0;
}

static enum bn_sql execute_by_libpq(struct bn_pgsql_stmt *st, struct bn_sql_result *r,
                                    struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = st->conn;
  PGresult *res;

  bn_pgsql_lend(c);
  if (make_values(st) != 0) {
    free_values(st);
    return bn_pgsql_fail_text("53200", "PQexecPrepared", "out of memory", d);
  }
  for (size_t i = 0; i < st->n_params; i++) {
    if (__builtin_expect(!set_value(st, i), 0))
      return bn_pgsql_fail_text("22001", "PQexecPrepared", "a parameter is too long", d);
  }
  if (__builtin_expect(c->driver->host->anew, 0)) {
    res = PQexecParams(c->handle, st->sql, (int)st->n_params, st->type, st->value, st->length,
                       st->format, 0);
    return bn_pgsql_take(c, res, "PQexecParams", r, d);
  }
  res =
      PQexecPrepared(c->handle, st->name, (int)st->n_params, st->value, st->length, st->format, 0);
  return bn_pgsql_take(c, res, "PQexecPrepared", r, d);
}

enum bn_sql bn_pgsql_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct bn_pgsql_stmt *st = stmt;
  const bool anew = st->conn->driver->host->anew;

  if (__builtin_expect(anew ? st->n_params > 0 && st->type == NULL : st->name[0] == '\0', 0))
    return bn_pgsql_fail_text("42P02", "PQexecPrepared",
                              "wrong number of parameters in prepared statement", d);
  if (!bn_pgsql_on_wire(st->conn) || st->n_params > BN_PGSQL_PARAMS_MAX)
    return execute_by_libpq(st, r, d);
  /* Prepared, bound and executed under no name. */
  if (__builtin_expect(anew, 0))
    return bn_pgsql_wire_execute_anew(st, r, d);
  return bn_pgsql_wire_execute(st, r, d);
}

void bn_pgsql_close(void *stmt)
{
  struct bn_pgsql_stmt *st = stmt;

  if (st->name[0] != '\0')
    close_later(st);
  st->name[0] = '\0';
  free(st->sql);
  st->sql = NULL;
  free(st->type);
  st->type = NULL;
  free_values(st);
}
