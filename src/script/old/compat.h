/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of sysbench that scripts call through ffi.C; declared to Lua like ffi.h, after
   ffi_sql_more.h.  No other code uses them. */
#ifndef BN_SCRIPT_OLD_COMPAT_H
#define BN_SCRIPT_OLD_COMPAT_H

#include "script/api/ffi_sql_more.h"

typedef enum {
  SB_CNT_OTHER,
  SB_CNT_READ,
  SB_CNT_WRITE,
  SB_CNT_TRX,
  SB_CNT_ERROR,
  SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ,
  SB_CNT_BYTES_WRITTEN,
  SB_CNT_MAX
} sb_counter_type;

/* These mark the events of a script's own loop.  The session is that of the calling thread,
   whatever its number. */
BN_API bool sb_more_events(int thread_id);
BN_API void sb_event_start(int thread_id);
BN_API void sb_event_stop(int thread_id);

/* These return a number in [a, b] of the distribution. */
BN_API uint32_t sb_rand_default(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_uniform(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_gaussian(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_special(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_pareto(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_zipfian(uint32_t a, uint32_t b);
/* These return what the functions of ffi_rand.h return. */
BN_API uint32_t sb_rand_unique(void);
BN_API uint64_t sb_rand_uniform_uint64(void);
BN_API double sb_rand_uniform_double(void);
/* Fills buf from a template, in which '#' is a digit and '@' a letter, and ends it with a zero
   byte. */
BN_API void sb_rand_str(const char *fmt, char *buf);
/* Fills buf with min_len to max_len characters, without a zero byte.  Returns their number. */
BN_API uint32_t sb_rand_varstr(char *buf, uint32_t min_len, uint32_t max_len);

/* The functions of ffi_hist.h.  A nil is logged and has no effect, as in sb_rand_str and
   sb_rand_varstr. */
typedef struct bn_geohist sb_histogram_t;
BN_API sb_histogram_t *sb_histogram_new(size_t size, double min, double max);
BN_API void sb_histogram_delete(sb_histogram_t *h);
BN_API void sb_histogram_update(sb_histogram_t *h, double value);
BN_API void sb_histogram_print(sb_histogram_t *h);

typedef enum {
  SB_ARG_TYPE_NULL,
  SB_ARG_TYPE_BOOL,
  SB_ARG_TYPE_INT,
  SB_ARG_TYPE_SIZE,
  SB_ARG_TYPE_DOUBLE,
  SB_ARG_TYPE_STRING,
  SB_ARG_TYPE_LIST,
  SB_ARG_TYPE_FILE,
  SB_ARG_TYPE_MAX
} sb_arg_type_t;
typedef bool sb_opt_validate_t(const char *name, const char *value);
typedef struct {
  const char *name;
  const char *desc;
  const char *value;
  sb_arg_type_t type;
  sb_opt_validate_t *validate;
} sb_arg_t;

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
