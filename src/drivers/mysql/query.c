/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries as text, and the results of all statements, by wire/ or by the client library. */
#include "drivers/mysql/conn.h"

enum bn_sql bn_mysql_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                           struct bn_sql_diag *d)
{
  struct bn_mysql_conn *c = conn;
  enum bn_sql rc;

  c->source = NULL;
  if (c->way == BN_MYSQL_WAY_WIRE && bn_mysql_wire_takes_text(sql, len))
    return bn_mysql_wire_query(&c->wire, sql, len, r, d);
  if (c->way == BN_MYSQL_WAY_NONE) {
    *r = (struct bn_sql_result){.dry = true};
    return BN_SQL_DONE;
  }
  bn_mysql_settle(c);
  rc = bn_mysql_lib_query(&c->lib, sql, len, r, d);
  bn_mysql_note_library(c);
  return rc;
}

enum bn_sql bn_mysql_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct bn_mysql_conn *c = conn;
  struct bn_mysql_stmt *st = stmt;
  bool by_wire;
  enum bn_sql rc;

  *r = (struct bn_sql_result){.affected = 0};
  c->source = NULL;
  if (c->way == BN_MYSQL_WAY_NONE)
    return BN_SQL_DONE;
  /* On its connections wire/ has executed all prepared statements, but not all texts. */
  by_wire = c->way == BN_MYSQL_WAY_WIRE && (st != NULL || bn_mysql_wire_has_more(&c->wire));
  if (by_wire) {
    rc = bn_mysql_wire_next(&c->wire, st != NULL ? &st->wire : NULL, r, d);
  } else {
    rc = st != NULL ? bn_mysql_lib_stmt_next(&st->lib, r, d) : bn_mysql_lib_next(&c->lib, r, d);
    bn_mysql_note_library(c);
  }
  c->source = rc == BN_SQL_ROWS ? st : NULL;
  return rc;
}

/* r->rows tells who has the rows: nobody (NULL), the wire, or an object of the library. */
bool bn_mysql_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  struct bn_mysql_conn *c = conn;

  if (r->rows == NULL)
    return false;
  if (r->rows == &c->wire)
    return bn_mysql_wire_fetch(&c->wire, c->source != NULL ? &c->source->wire : NULL, r, row);
  if (c->source != NULL)
    return bn_mysql_lib_stmt_fetch(&c->source->lib, r, row);
  return bn_mysql_lib_fetch(&c->lib, r, row);
}

void bn_mysql_free_result(void *conn, struct bn_sql_result *r)
{
  struct bn_mysql_conn *c = conn;

  if (r->rows == NULL)
    return;
  if (r->rows == &c->wire)
    bn_mysql_wire_free_result(&c->wire);
  else if (c->source != NULL)
    bn_mysql_lib_stmt_free_result(&c->source->lib);
  else
    bn_mysql_lib_free_result(&c->lib, r);
  r->rows = NULL;
  c->source = NULL;
}
