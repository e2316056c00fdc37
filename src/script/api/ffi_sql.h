/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SQL for Lua: the objects that scripts see and the functions behind them; declared to Lua like
   ffi.h.  sysbench's scripts know the names without our prefix. */
#ifndef BN_SCRIPT_API_FFI_SQL_H
#define BN_SCRIPT_API_FFI_SQL_H

#include "script/api/ffi.h"

typedef struct sql_driver sql_driver;

typedef struct sql_result sql_result; /* ffi_sql_more.h */

/* The public part of a connection, which is the beginning of a larger object. */
typedef struct {
  int error; /* sql_error_t */
  int sql_errno;
  const char *bn_sql_state, *bn_sql_errmsg; /* scripts read them as strings, without bn_ */
  sql_driver *driver;
  bool lost;
} sql_connection;

/* The same of a statement. */
typedef struct {
  sql_connection *connection;
} sql_statement;

/* The head of a parameter, which its value follows: int64_t, double or max_len bytes. */
struct bn_ffi_param {
  bool is_null;
  int32_t type; /* enum bn_ffi_type (ffi_sql_internal.h) */
  uint32_t max_len;
  size_t data_len;
};

/* These work as the functions of sql/sql.h, but a failure of a query, which the script may yet
   ignore, is neither logged nor counted before bn_ffi_sql_settle.  If they return NULL or -1,
   connection->error says whether that is a failure.  Texts come with their length.  Names of
   parameters would cost memory in each interpreter. */
BN_API sql_driver *bn_ffi_sql_driver(const char *);
BN_API const char *bn_ffi_sql_driver_name(const sql_driver *);
/* Parameters: the driver, names and values of n options that differ, n. */
BN_API sql_connection *bn_ffi_sql_connect(sql_driver *, const char *const *, const char *const *,
                                          size_t);
BN_API int bn_ffi_sql_disconnect(sql_connection *);
BN_API void bn_ffi_sql_conn_free(sql_connection *);
BN_API sql_result *bn_ffi_sql_query(sql_connection *, const char *, size_t);
/* The last parameter is the name for --statements; NULL: the digest of the text. */
BN_API sql_statement *bn_ffi_sql_prepare(sql_connection *, const char *, size_t, const char *);
/* The values of the n parameters are read at each execute.  Returns 1 after a failure, when the
   earlier parameters stay bound. */
BN_API int bn_ffi_sql_bind(sql_statement *, const struct bn_ffi_param *const *, size_t);
BN_API sql_result *bn_ffi_sql_execute(sql_statement *);
BN_API int bn_ffi_sql_stmt_close(sql_statement *);
BN_API void bn_ffi_sql_stmt_free(sql_statement *);
/* Fills memory from a template of that length, as bn_ffi_rand_string does, without a terminator. */
BN_API void bn_ffi_sql_rand_str(void *, const char *, size_t);

#endif
