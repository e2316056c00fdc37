/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Old names in ffi.C, each of which calls what stands for it today. */
#include "script/old/compat.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dist.h"
#include "base/geohist.h"
#include "base/log.h"
#include "engine/event.h"
#include "option/conf.h"
#include "script/api/ffi_hist.h"
#include "script/api/ffi_rand.h"
#include "script/api/ffi_sql_internal.h"
#include "script/api/instance.h"
#include "script/setup.h"

/* If the argument is nil, logs that and returns true; else returns false.  A script may pass nil
   for any pointer, for example what a failed function has returned. */
static bool compat_refuse_nil(const void *arg, const char *function, const char *what)
{
  if (arg != NULL)
    return false;
  bn_log(BN_ALERT, "%s: the %s is nil", function, what);
  return true;
}

/* The header does not declare this function, because scripts that use it do so themselves. */
BN_API void sb_counter_inc(int thread_id, sb_counter_type type);

bool sb_more_events(int thread_id)
{
  (void)thread_id;
  return bn_event_more(bn_instance_session());
}

/* Starts an event at the present time, and not at the end of the previous event, because a script's
   own loop spends time between events.  An event that was started before and not stopped is not
   counted, but as in sysbench it has used up one of --events. */
void sb_event_start(int thread_id)
{
  struct bn_instance *in = bn_instance_current();

  (void)thread_id;
  if (in->own_event_begun)
    bn_event_forget(in->lua.session, &in->own_tick);
  bn_event_start_now(in->lua.session, &in->own_tick);
  in->own_event_begun = true;
}

void sb_event_stop(int thread_id)
{
  struct bn_instance *in = bn_instance_current();

  (void)thread_id;
  /* A stop without a start would count an event that never was. */
  if (!in->own_event_begun)
    return;
  bn_event_end(in->lua.session, &in->own_tick);
  in->own_event_begun = false;
}

void sb_counter_inc(int thread_id, sb_counter_type type)
{
  (void)thread_id;
  if ((unsigned)type < SB_CNT_MAX) /* a script may pass any number */
    bn_stat_count(bn_instance_session()->stat, (unsigned)type, 1);
}

uint32_t sb_rand_default(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_DEFAULT, a, b);
}

uint32_t sb_rand_uniform(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_UNIFORM, a, b);
}

uint32_t sb_rand_gaussian(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_GAUSSIAN, a, b);
}

uint32_t sb_rand_special(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_SPECIAL, a, b);
}

uint32_t sb_rand_pareto(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_PARETO, a, b);
}

uint32_t sb_rand_zipfian(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_ZIPFIAN, a, b);
}

uint32_t sb_rand_unique(void)
{
  return bn_ffi_rand_unique();
}

uint64_t sb_rand_uniform_uint64(void)
{
  return bn_ffi_rand_uint64();
}

double sb_rand_uniform_double(void)
{
  return bn_ffi_rand_double();
}

void sb_rand_str(const char *fmt, char *buf)
{
  if (fmt == NULL || buf == NULL) {
    bn_log(BN_ALERT, "sb_rand_str: the format or the buffer is nil");
    return;
  }
  const size_t len = strlen(fmt);

  bn_dist_fill_template(&bn_instance_session()->rng, fmt, len, buf);
  buf[len] = '\0';
}

uint32_t sb_rand_varstr(char *buf, uint32_t min_len, uint32_t max_len)
{
  if (compat_refuse_nil(buf, __func__, "buffer"))
    return 0;
  const uint32_t len = sb_rand_uniform(min_len, max_len);

  bn_dist_fill_varchars(&bn_instance_session()->rng, buf, len);
  return len;
}

sb_histogram_t *sb_histogram_new(size_t size, double min, double max)
{
  return bn_ffi_hist_new(size, min, max);
}

void sb_histogram_delete(sb_histogram_t *h)
{
  if (!compat_refuse_nil(h, __func__, "histogram"))
    bn_ffi_hist_free(h);
}

void sb_histogram_update(sb_histogram_t *h, double value)
{
  if (!compat_refuse_nil(h, __func__, "histogram"))
    bn_ffi_hist_update(h, value);
}

void sb_histogram_print(sb_histogram_t *h)
{
  size_t len = 0;

  if (compat_refuse_nil(h, __func__, "histogram"))
    return;
  char *text = bn_ffi_hist_text(h, &len);

  bn_log(BN_NOTICE, "%s", text);
  bn_ffi_free(text);
}

/* --- databases -------------------------------------------------------------------------------- */

/* Scripts compare with these values, which are those in the objects of the SQL layer. */
_Static_assert((int)DB_ERROR_IGNORABLE == (int)BN_VERDICT_IGNORABLE, "verdicts");
_Static_assert((int)DB_ERROR_FATAL == (int)BN_VERDICT_FATAL, "verdicts");
_Static_assert((int)SQL_TYPE_BIGINT == (int)BN_FFI_INT64, "types");
_Static_assert((int)SQL_TYPE_DOUBLE == (int)BN_FFI_DOUBLE, "types");
_Static_assert((int)SQL_TYPE_VARCHAR == (int)BN_FFI_TEXT, "types");

/* If the connection or the text of the query is nil, logs that and returns true; else returns
   false. */
static bool compat_refuse_nil_query(const sql_connection *con, const char *query,
                                    const char *function)
{
  return compat_refuse_nil(con, function, "connection") ||
         compat_refuse_nil(query, function, "query");
}

/* Settles that a failure of the last statement is not ignored, because these functions have no hook
   that could ignore it.  Returns the statement's result as an object of scripts. */
static sql_result *compat_settle(struct bn_sql_conn *c, struct bn_sql_rs *rs)
{
  enum { NOT_IGNORED = false };

  bn_sql_settle_failure(c, NOT_IGNORED);
  return bn_ffi_from_rs(rs);
}

sql_driver *db_create(const char *name)
{
  return bn_ffi_sql_driver(name);
}

/* Does nothing: drivers are closed at the end of the run. */
int db_destroy(sql_driver *drv)
{
  (void)drv;
  return 0;
}

sql_connection *db_connection_create(sql_driver *drv)
{
  if (compat_refuse_nil(drv, __func__, "driver"))
    return NULL;
  return bn_ffi_sql_connect(drv, NULL, NULL, 0);
}

int db_connection_close(sql_connection *con)
{
  if (compat_refuse_nil(con, __func__, "connection"))
    return 1;
  return bn_ffi_sql_disconnect(con);
}

int db_connection_reconnect(sql_connection *con)
{
  if (compat_refuse_nil(con, __func__, "connection"))
    return 1;
  return bn_ffi_sql_reconnect(con);
}

void db_connection_free(sql_connection *con)
{
  bn_ffi_sql_conn_free(con);
}

int db_bulk_insert_init(sql_connection *con, const char *query, size_t len)
{
  if (compat_refuse_nil_query(con, query, __func__))
    return 1;
  return bn_ffi_sql_bulk_init(con, query, len);
}

int db_bulk_insert_next(sql_connection *con, const char *query, size_t len)
{
  if (compat_refuse_nil_query(con, query, __func__))
    return 1;
  return bn_ffi_sql_bulk_next(con, query, len);
}

int db_bulk_insert_done(sql_connection *con)
{
  if (compat_refuse_nil(con, __func__, "connection"))
    return 1;
  return bn_ffi_sql_bulk_done(con);
}

sql_result *db_query(sql_connection *con, const char *query, size_t len)
{
  if (compat_refuse_nil_query(con, query, __func__))
    return NULL;
  struct bn_sql_conn *c = bn_ffi_to_conn(con);

  return compat_settle(c, bn_sql_query(c, query, len));
}

bool db_more_results(sql_connection *con)
{
  if (compat_refuse_nil(con, __func__, "connection"))
    return false;
  return bn_ffi_sql_more_results(con);
}

sql_result *db_next_result(sql_connection *con)
{
  if (compat_refuse_nil(con, __func__, "connection"))
    return NULL;
  struct bn_sql_conn *c = bn_ffi_to_conn(con);

  return compat_settle(c, bn_sql_next_result(c));
}

sql_row *db_fetch_row(sql_result *rs)
{
  if (compat_refuse_nil(rs, __func__, "result"))
    return NULL;
  return bn_ffi_sql_fetch(rs) ? &rs->row : NULL;
}

sql_statement *db_prepare(sql_connection *con, const char *query, size_t len)
{
  if (compat_refuse_nil_query(con, query, __func__))
    return NULL;
  return bn_ffi_sql_prepare(con, query, len, NULL /* no name */);
}

/* Returns the SQL layer's type for a script's type.  Times are texts. */
static enum bn_sql_type compat_type_of(sql_bind_type_t type)
{
  if (type >= SQL_TYPE_TINYINT && type <= SQL_TYPE_BIGINT)
    return BN_SQL_INT64;
  if (type == SQL_TYPE_FLOAT || type == SQL_TYPE_DOUBLE)
    return BN_SQL_DOUBLE;
  return type == SQL_TYPE_NONE ? BN_SQL_NULL : BN_SQL_TEXT;
}

/* Converts a parameter to the form of the SQL layer, which reads the script's value, length and
   flag at each execution.  A parameter without a buffer, or a text without a length, is always
   NULL. */
static struct bn_sql_bind compat_bind_of(const sql_bind *p)
{
  _Static_assert(sizeof(bool) == sizeof *p->is_null, "the flag of a script is read as a bool");
  _Static_assert(sizeof(size_t) == sizeof *p->data_len, "a length of a script is read as a size_t");
  struct bn_sql_bind b = {.type = compat_type_of(p->type),
                          .is_null = (const bool *)p->is_null,
                          .data = p->buffer,
                          .len = p->data_len};

  if (b.data == NULL || (b.type == BN_SQL_TEXT && b.len == NULL))
    b.type = BN_SQL_NULL;
  return b;
}

int db_bind_param(sql_statement *stmt, sql_bind *params, size_t len)
{
  if (compat_refuse_nil(stmt, __func__, "statement"))
    return 1;
  if (len > 0 && compat_refuse_nil(params, __func__, "list of parameters"))
    return 1;
  struct bn_sql_bind *binds = bn_alloc(len, sizeof *binds);

  for (size_t i = 0; i < len; i++)
    binds[i] = compat_bind_of(&params[i]);
  const int rc = bn_sql_bind(bn_ffi_to_stmt(stmt), binds, len);

  free(binds);
  return rc == 0 ? 0 : 1;
}

/* Does nothing: results are always fetched as texts. */
int db_bind_result(sql_statement *stmt, sql_bind *results, size_t len)
{
  (void)stmt;
  (void)results;
  (void)len;
  return 0;
}

sql_result *db_execute(sql_statement *stmt)
{
  if (compat_refuse_nil(stmt, __func__, "statement"))
    return NULL;
  struct bn_sql_stmt *st = bn_ffi_to_stmt(stmt);

  return compat_settle(bn_sql_stmt_conn(st), bn_sql_execute(st));
}

sql_result *db_stmt_next_result(sql_statement *stmt)
{
  if (compat_refuse_nil(stmt, __func__, "statement"))
    return NULL;
  struct bn_sql_stmt *st = bn_ffi_to_stmt(stmt);

  return compat_settle(bn_sql_stmt_conn(st), bn_sql_stmt_next_result(st));
}

int db_close(sql_statement *stmt)
{
  if (compat_refuse_nil(stmt, __func__, "statement"))
    return 1;
  return bn_ffi_sql_stmt_close(stmt);
}

/* script.c declares this function to Lua as each version has it: in some 0 is success, in others
   true. */
BN_API int db_free_results(sql_result *rs);

int db_free_results(sql_result *rs)
{
  const bool returns_bool = bn_lua_current()->vm->setup->conf->policy->free_results_is_bool;
  const bool is_freed =
      !compat_refuse_nil(rs, __func__, "result") && bn_ffi_sql_free_result(rs) == 0;

  if (returns_bool)
    return is_freed ? 1 : 0;
  return is_freed ? 0 : 1;
}
