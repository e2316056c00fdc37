/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SQL for Lua: the objects that scripts see and the functions behind them; declared to Lua like
   ffi.h.  Names without our prefix are those that scripts of sysbench know. */
#ifndef BN_SCRIPT_API_FFI_SQL_H
#define BN_SCRIPT_API_FFI_SQL_H

#include "script/api/ffi.h"

typedef struct sql_driver sql_driver;

typedef struct sql_result sql_result; /* ffi_sql_more.h */

/* The public parts of larger objects. */
typedef struct {
  int error; /* sql_error_t */
  int sql_errno;
  const char *bn_sql_state, *bn_sql_errmsg; /* without bn_ scripts read them as strings */
  sql_driver *driver;
  bool lost;
} sql_connection;

typedef struct {
  sql_connection *connection;
} sql_statement;

/* A parameter begins with this and goes on with its value: int64_t, double or max_len bytes. */
struct bn_ffi_param {
  bool is_null;
  int32_t type; /* enum bn_ffi_type (ffi_sql_internal.h) */
  uint32_t max_len;
  size_t data_len;
};

/* As in sql/sql.h; none logs or counts a failure of a query that may yet be ignored before
   bn_ffi_sql_settle.  NULL or -1: connection->error says whether it is a failure.  Texts go with
   their length.  Every name in a declaration costs each interpreter memory, so parameters have
   none. */
BN_API sql_driver *bn_ffi_sql_driver(const char *);
BN_API const char *bn_ffi_sql_driver_name(const sql_driver *);
/* The driver, names and values of n options that differ, n. */
BN_API sql_connection *bn_ffi_sql_connect(sql_driver *, const char *const *, const char *const *,
                                          size_t);
BN_API int bn_ffi_sql_disconnect(sql_connection *);
BN_API void bn_ffi_sql_conn_free(sql_connection *);
BN_API sql_result *bn_ffi_sql_query(sql_connection *, const char *, size_t);
/* With the name that --statements counts it under; NULL: the digest of its text. */
BN_API sql_statement *bn_ffi_sql_prepare(sql_connection *, const char *, size_t, const char *);
/* What the n parameters hold is read at each execute.  1: it failed, and those of before are. */
BN_API int bn_ffi_sql_bind(sql_statement *, const struct bn_ffi_param *const *, size_t);
BN_API sql_result *bn_ffi_sql_execute(sql_statement *);
BN_API int bn_ffi_sql_stmt_close(sql_statement *);
BN_API void bn_ffi_sql_stmt_free(sql_statement *);
/* Fills memory with as many characters of the template as are said. */
BN_API void bn_ffi_sql_rand_str(void *, const char *, size_t);

#endif
