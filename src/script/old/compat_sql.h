/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Database functions of sysbench that scripts call through ffi.C; declared to Lua like ffi.h, after
   ffi_sql_more.h. */
#ifndef BN_SCRIPT_OLD_COMPAT_SQL_H
#define BN_SCRIPT_OLD_COMPAT_SQL_H

#include "script/api/ffi_sql_more.h"

typedef enum { DB_ERROR_NONE, DB_ERROR_IGNORABLE, DB_ERROR_FATAL } sql_error_t;

typedef enum {
  SQL_TYPE_NONE,
  SQL_TYPE_TINYINT,
  SQL_TYPE_SMALLINT,
  SQL_TYPE_INT,
  SQL_TYPE_BIGINT,
  SQL_TYPE_FLOAT,
  SQL_TYPE_DOUBLE,
  SQL_TYPE_TIME,
  SQL_TYPE_DATE,
  SQL_TYPE_DATETIME,
  SQL_TYPE_TIMESTAMP,
  SQL_TYPE_CHAR,
  SQL_TYPE_VARCHAR
} sql_bind_type_t;

typedef struct {
  sql_bind_type_t type;
  void *buffer; /* int64_t, double or bytes */
  unsigned long *data_len;
  unsigned long max_len;
  char *is_null;
} sql_bind;

/* These work as the functions of ffi_sql.h and ffi_sql_more.h, but a failure is final at once,
   because no hook can ignore it.  An argument that is nil is logged and is a failure.  After a
   failure the functions return NULL, false, or a number other than 0. */
BN_API sql_driver *db_create(const char *name);
BN_API int db_destroy(sql_driver *drv);
BN_API sql_connection *db_connection_create(sql_driver *drv);
BN_API int db_connection_close(sql_connection *con);
BN_API int db_connection_reconnect(sql_connection *con);
BN_API void db_connection_free(sql_connection *con);
BN_API int db_bulk_insert_init(sql_connection *con, const char *query, size_t len);
BN_API int db_bulk_insert_next(sql_connection *con, const char *query, size_t len);
BN_API int db_bulk_insert_done(sql_connection *con);
/* Executes a query.  Returns its result, or NULL if it has none or has failed. */
BN_API sql_result *db_query(sql_connection *con, const char *query, size_t len);
BN_API bool db_more_results(sql_connection *con);
/* Frees the current result.  Returns the next one, or NULL if there is none, if it has no rows, or
   after a failure. */
BN_API sql_result *db_next_result(sql_connection *con);
/* Returns the next row, which is valid until the next call, or NULL if there is none. */
BN_API sql_row *db_fetch_row(sql_result *rs);
BN_API sql_statement *db_prepare(sql_connection *con, const char *query, size_t len);
BN_API int db_bind_param(sql_statement *stmt, sql_bind *params, size_t len);
BN_API int db_bind_result(sql_statement *stmt, sql_bind *results, size_t len);
/* Executes a statement.  Returns as db_query(). */
BN_API sql_result *db_execute(sql_statement *stmt);
/* Returns as db_next_result(). */
BN_API sql_result *db_stmt_next_result(sql_statement *stmt);
BN_API int db_close(sql_statement *stmt);

#endif
