/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi_sql.h that module sysbench.sql.more declares. */
#ifndef BN_SCRIPT_API_FFI_SQL_MORE_H
#define BN_SCRIPT_API_FFI_SQL_MORE_H

#include "script/api/ffi_sql.h"

typedef struct {
  const char *ptr; /* NULL: SQL NULL */
  size_t len;
} sql_value;

typedef struct {
  sql_value *values;
} sql_row;

struct sql_result {
  uint32_t nrows, nfields;
  sql_row row; /* the row that was fetched last */
};

/* Where nothing else is said, these work as the functions of sql/sql.h. */
BN_API bool bn_ffi_sql_fetch(sql_result *rs);
BN_API bool bn_ffi_sql_fetch_failed(sql_result *rs);
BN_API int bn_ffi_sql_reconnect(sql_connection *c);
/* Notes that a statement has failed; the script is about to raise its error. */
BN_API void bn_ffi_sql_failed(const sql_connection *c);
/* Returns the text of that statement, of *len bytes, or NULL if it is not known. */
BN_API const char *bn_ffi_sql_failed_text(sql_connection *c, size_t *len);
/* Says whether the failure of the last statement is ignored; without a failure it has no effect. */
BN_API void bn_ffi_sql_settle(sql_connection *c, bool ignore);
BN_API sql_result *bn_ffi_sql_query_uncounted(sql_connection *c, const char *sql, size_t len);
BN_API void bn_ffi_sql_expect_error(sql_connection *c, const char *state);
BN_API bool bn_ffi_sql_more_results(sql_connection *c);
BN_API sql_result *bn_ffi_sql_next_result(sql_connection *c);
BN_API int bn_ffi_sql_free_result(sql_result *rs);
BN_API sql_result *bn_ffi_sql_stmt_next_result(sql_statement *st);
BN_API int bn_ffi_sql_bulk_init(sql_connection *c, const char *sql, size_t len);
BN_API int bn_ffi_sql_bulk_next(sql_connection *c, const char *row, size_t len);
BN_API int bn_ffi_sql_bulk_done(sql_connection *c);

#endif
