/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Old db_* names behind ffi.C, each a thin shell around the SQL layer. */
#include "script/old/compat_sql.h"

#include <stdlib.h>

#include "script/api/ffi_sql_internal.h"
#include "script/api/ffi_sql_more.h"

/* What scripts compare with is what the objects they share with the SQL layer hold. */
_Static_assert((int)DB_ERROR_IGNORABLE == (int)BN_VERDICT_IGNORABLE, "verdicts");
_Static_assert((int)DB_ERROR_FATAL == (int)BN_VERDICT_FATAL, "verdicts");
_Static_assert((int)SQL_TYPE_BIGINT == (int)BN_FFI_INT64, "types");
_Static_assert((int)SQL_TYPE_DOUBLE == (int)BN_FFI_DOUBLE, "types");
_Static_assert((int)SQL_TYPE_VARCHAR == (int)BN_FFI_TEXT, "types");

/* These callers have no hook to ask. */
static sql_result *settled(struct bn_sql_conn *c, struct bn_sql_rs *rs)
{
  bn_sql_settle(c, false);
  return bn_ffi_from_rs(rs);
}

sql_driver *db_create(const char *name)
{
  return bn_ffi_sql_driver(name);
}

int db_destroy(sql_driver *drv)
{
  (void)drv;
  return 0;
}

sql_connection *db_connection_create(sql_driver *drv)
{
  return bn_ffi_sql_connect(drv, NULL, NULL, 0);
}

int db_connection_close(sql_connection *con)
{
  return bn_ffi_sql_disconnect(con);
}

int db_connection_reconnect(sql_connection *con)
{
  return bn_ffi_sql_reconnect(con);
}

void db_connection_free(sql_connection *con)
{
  bn_ffi_sql_conn_free(con);
}

int db_bulk_insert_init(sql_connection *con, const char *query, size_t len)
{
  return bn_ffi_sql_bulk_init(con, query, len);
}

int db_bulk_insert_next(sql_connection *con, const char *query, size_t len)
{
  return bn_ffi_sql_bulk_next(con, query, len);
}

int db_bulk_insert_done(sql_connection *con)
{
  return bn_ffi_sql_bulk_done(con);
}

sql_result *db_query(sql_connection *con, const char *query, size_t len)
{
  struct bn_sql_conn *c = bn_ffi_to_conn(con);

  return settled(c, bn_sql_query(c, query, len));
}

bool db_more_results(sql_connection *con)
{
  return bn_ffi_sql_more_results(con);
}

sql_result *db_next_result(sql_connection *con)
{
  struct bn_sql_conn *c = bn_ffi_to_conn(con);

  return settled(c, bn_sql_next_result(c));
}

sql_row *db_fetch_row(sql_result *rs)
{
  return bn_ffi_sql_fetch(rs) ? &rs->row : NULL;
}

sql_statement *db_prepare(sql_connection *con, const char *query, size_t len)
{
  return bn_ffi_sql_prepare(con, query, len);
}

static enum bn_sql_type type_of(sql_bind_type_t type)
{
  if (type >= SQL_TYPE_TINYINT && type <= SQL_TYPE_BIGINT)
    return BN_SQL_INT64;
  if (type == SQL_TYPE_FLOAT || type == SQL_TYPE_DOUBLE)
    return BN_SQL_DOUBLE;
  return type == SQL_TYPE_NONE ? BN_SQL_NULL : BN_SQL_TEXT;
}

int db_bind_param(sql_statement *stmt, sql_bind *params, size_t len)
{
  struct bn_sql_bind *binds = calloc(len > 0 ? len : 1, sizeof *binds);
  int rc;

  if (binds == NULL)
    return 1;
  for (size_t i = 0; i < len; i++)
    binds[i] = (struct bn_sql_bind){.type = type_of(params[i].type),
                                    .is_null = (const bool *)params[i].is_null,
                                    .data = params[i].buffer,
                                    .len = params[i].data_len};
  rc = bn_sql_bind(bn_ffi_to_stmt(stmt), binds, len);
  free(binds);
  return rc == 0 ? 0 : 1;
}

/* Results are always fetched as text. */
int db_bind_result(sql_statement *stmt, sql_bind *results, size_t len)
{
  (void)stmt;
  (void)results;
  (void)len;
  return 0;
}

sql_result *db_execute(sql_statement *stmt)
{
  struct bn_sql_stmt *st = bn_ffi_to_stmt(stmt);

  return settled(bn_sql_stmt_conn(st), bn_sql_execute(st));
}

sql_result *db_stmt_next_result(sql_statement *stmt)
{
  struct bn_sql_stmt *st = bn_ffi_to_stmt(stmt);

  return settled(bn_sql_stmt_conn(st), bn_sql_stmt_next_result(st));
}

int db_close(sql_statement *stmt)
{
  return bn_ffi_sql_stmt_close(stmt);
}

int db_free_results(sql_result *rs)
{
  return bn_ffi_sql_free_result(rs);
}
