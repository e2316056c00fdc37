/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements prepared by libpq, and executed by it if wire/ cannot. */
#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/error.h"
#include "drivers/pgsql/lib/lib.h"

/* The number of closed statements that are deallocated together. */
enum { DEALLOCATE_AT = 32 };

/* A number in network byte order. */
struct bn_pgsql_param {
  uint64_t big_endian;
};

/* --- names that the server is to forget --- */

/* Lets the server forget closed statements, once there are enough of them.  In a failed transaction
   the server would execute nothing. */
static void stmt_deallocate_closed(struct bn_pgsql_lib *c, char transaction)
{
  const bool has_failed = transaction == 'E', is_open = transaction == 'T';

  if (c->n_closing < DEALLOCATE_AT || has_failed)
    return;
  /* Through a pooler that gives statements names of its own, the command fails.  That would abort
     an open transaction, so there it is not sent: the names are only forgotten here. */
  if (!is_open || !bn_pgsql_lib_ask_pooled(c))
    PQclear(bn_pgsql_lib_exec(c, c->closing));
  c->closing_len = 0;
  c->n_closing = 0;
}

void bn_pgsql_lib_drop_name(struct bn_pgsql_lib *c, struct bn_pgsql_request *q)
{
  const size_t more = sizeof "DEALLOCATE ;" + sizeof q->name;

  c->closing = c->driver->host->resize(c->closing, 1, c->closing_len + more);
  c->closing_len += (size_t)snprintf(c->closing + c->closing_len, more, "DEALLOCATE %s;", q->name);
  c->n_closing++;
  q->name[0] = '\0';
}

void bn_pgsql_lib_set_name(struct bn_pgsql_lib *c, struct bn_pgsql_request *q)
{
  (void)snprintf(q->name, sizeof q->name, "sbstmt%u", ++c->last_name);
}

enum bn_sql bn_pgsql_lib_prepare(struct bn_pgsql_lib *c, struct bn_pgsql_request *q,
                                 char transaction, struct bn_sql_diag *d)
{
  PGresult *res;
  enum bn_sql rc = BN_SQL_DONE;

  stmt_deallocate_closed(c, transaction);
  if (q->name[0] != '\0')
    bn_pgsql_lib_drop_name(c, q);
  bn_pgsql_lib_set_name(c, q);
  res = bn_pgsql_lib_exec_prepare(c, q);
  if (PQresultStatus(res) != PGRES_COMMAND_OK) {
    rc = bn_pgsql_lib_fail_in_full(c, res, "PQprepare()", d);
    q->name[0] = '\0';
  }
  PQclear(res);
  return rc;
}

/* --- values --- */

void bn_pgsql_lib_free_values(struct bn_pgsql_lib *c)
{
  struct bn_pgsql_values *v = &c->values;

  free(v->param);
  free(v->value);
  free(v->length);
  free(v->format);
  *v = (struct bn_pgsql_values){.param = NULL};
}

/* Sets value i to an int64_t or a double, in network byte order. */
static void stmt_set_number(struct bn_pgsql_values *v, size_t i, const void *data)
{
  uint64_t bits;

  memcpy(&bits, data, sizeof bits);
  v->param[i].big_endian = htobe64(bits);
  v->value[i] = (const char *)&v->param[i].big_endian;
  v->length[i] = sizeof bits;
}

/* Sets value i.  Returns false if libpq cannot represent its length. */
static bool stmt_set_value(struct bn_pgsql_values *v, size_t i, const struct bn_sql_bind *b)
{
  if (bn_sql_bind_null(b)) {
    v->value[i] = NULL;
  } else if (b->type == BN_SQL_INT64 || b->type == BN_SQL_DOUBLE) {
    stmt_set_number(v, i, b->data);
  } else {
    if (*b->len > INT_MAX)
      return false;
    v->value[i] = b->data != NULL ? b->data : "";
    v->length[i] = (int)*b->len;
  }
  return true;
}

/* Makes room for n values.  Statements share it, because one is executed at a time. */
static void stmt_make_values(struct bn_pgsql_lib *c, size_t n)
{
  enum { FORMAT_BINARY = 1 };
  const struct bn_driver_host *host = c->driver->host;
  struct bn_pgsql_values *v = &c->values;

  if (n <= v->n)
    return;
  bn_pgsql_lib_free_values(c);
  v->param = host->alloc(n, sizeof *v->param);
  v->value = host->alloc(n, sizeof *v->value);
  v->length = host->alloc(n, sizeof *v->length);
  v->format = host->alloc(n, sizeof *v->format);
  v->n = n;
  for (size_t i = 0; i < n; i++)
    v->format[i] = FORMAT_BINARY;
}

enum bn_sql bn_pgsql_lib_execute(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q,
                                 bool anew, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  const char *call = anew ? "PQexecParams" : "PQexecPrepared";
  PGresult *res;

  stmt_make_values(c, q->n_params);
  for (size_t i = 0; i < q->n_params; i++) {
    if (__builtin_expect(!stmt_set_value(&c->values, i, &q->binds[i]), 0))
      return bn_pgsql_fail_too_long(call, d);
  }
  if (anew)
    res = bn_pgsql_lib_exec_anew(c, q);
  else
    res = bn_pgsql_lib_exec_prepared(c, q);
  return bn_pgsql_lib_take_result(c, res, call, r, d);
}
