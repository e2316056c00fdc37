/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries as text, and the rows of every result, by the way that has the socket. */
#include "drivers/pgsql/conn.h"

/* Returns the result of the last statement if the text has several, as the reference does. */
enum bn_sql bn_pgsql_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                           struct bn_sql_diag *d)
{
  struct bn_pgsql_conn *c = conn;

  (void)len; /* the text is terminated */
  return bn_pgsql_on_wire(c) ? bn_pgsql_wire_query(&c->wire, sql, r, d)
                             : bn_pgsql_lib_query(&c->lib, sql, r, d);
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

  return r->rows == &c->wire ? bn_pgsql_wire_fetch(&c->wire, r, row)
                             : bn_pgsql_lib_fetch(&c->lib, r, row);
}

void bn_pgsql_free_result(void *conn, struct bn_sql_result *r)
{
  struct bn_pgsql_conn *c = conn;

  if (r->rows == &c->wire)
    bn_pgsql_wire_free(&c->wire);
  else
    bn_pgsql_lib_free_result(r);
  r->rows = NULL;
}
