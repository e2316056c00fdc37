/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SQL for Lua: thin functions between the objects that scripts see and the SQL layer. */
#include "script/api/ffi_sql.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/dist.h"
#include "script/api/ffi_sql_internal.h"
#include "script/api/ffi_sql_more.h"
#include "script/api/instance.h"
#include "sql/errors.h"

/* Lua reads these members of structs of the SQL layer by the declarations in our headers. */
#define SAME(a, x, b, y)                                                                           \
  _Static_assert(offsetof(a, x) == offsetof(struct b, y) &&                                        \
                     sizeof(((a *)0)->x) == sizeof(((struct b *)0)->y),                            \
                 #a "." #x)
SAME(sql_value, ptr, bn_sql_value, ptr);
SAME(sql_value, len, bn_sql_value, len);
SAME(sql_connection, error, bn_sql_conn_view, error);
SAME(sql_connection, sql_errno, bn_sql_conn_view, sql_errno);
SAME(sql_connection, bn_sql_state, bn_sql_conn_view, sql_state);
SAME(sql_connection, bn_sql_errmsg, bn_sql_conn_view, sql_errmsg);
SAME(sql_connection, driver, bn_sql_conn_view, driver);
SAME(sql_connection, lost, bn_sql_conn_view, lost);
SAME(sql_result, nrows, bn_sql_rs, nrows);
SAME(sql_result, nfields, bn_sql_rs, nfields);
SAME(sql_result, row, bn_sql_rs, values);
_Static_assert(sizeof(struct bn_ffi_param) % sizeof(int64_t) == 0, "values follow aligned");

/* For up to this many parameters, no memory is allocated. */
enum { PARAMS_ON_STACK = 32 };

sql_driver *bn_ffi_sql_driver(const char *name)
{
  struct bn_lua *lua = bn_lua_current();
  struct bn_sql_driver *drv = bn_sql_driver(lua->vm->setup->sql, lua->session, name);

  /* The SQL layer has logged why there is no driver; the error that the script raises now would
     only add its own place. */
  lua->reported = drv == NULL;
  return bn_ffi_from_driver(drv);
}

const char *bn_ffi_sql_driver_name(const sql_driver *drv)
{
  return bn_sql_driver_name((const struct bn_sql_driver *)(const void *)drv);
}

sql_connection *bn_ffi_sql_connect(sql_driver *drv, const char *const *names,
                                   const char *const *values, size_t n)
{
  struct bn_sql_conn *c =
      bn_sql_connect(bn_ffi_to_driver(drv), bn_instance_session(), names, values, n);

  bn_lua_current()->reported = c == NULL; /* logged, as in bn_ffi_sql_driver() */
  if (c != NULL)
    bn_sql_defer_failure(c);
  return bn_ffi_from_conn(c);
}

int bn_ffi_sql_disconnect(sql_connection *c)
{
  return bn_sql_disconnect(bn_ffi_to_conn(c));
}

int bn_ffi_sql_reconnect(sql_connection *c)
{
  return bn_sql_reconnect(bn_ffi_to_conn(c));
}

void bn_ffi_sql_conn_free(sql_connection *c)
{
  bn_sql_conn_free(bn_ffi_to_conn(c));
}

void bn_ffi_sql_failed(const sql_connection *c)
{
  struct bn_lua *lua = bn_lua_current();

  bn_instance_set_reported(lua, c->error != BN_VERDICT_NONE);
  /* With a state, the failures of several threads are logged as one even if the server's words
     differ (call_common_length). */
  (void)snprintf(lua->sql_state, sizeof lua->sql_state, "%s",
                 bn_sql_message_varies(c->bn_sql_state) ? c->bn_sql_state : "");
}

const char *bn_ffi_sql_failed_text(sql_connection *c, size_t *len)
{
  return bn_sql_failed_text(bn_ffi_to_conn(c), len);
}

void bn_ffi_sql_settle(sql_connection *c, bool ignore)
{
  bn_sql_settle_failure(bn_ffi_to_conn(c), ignore);
}

sql_result *bn_ffi_sql_query(sql_connection *c, const char *sql, size_t len)
{
  return bn_ffi_from_rs(bn_sql_query(bn_ffi_to_conn(c), sql, len));
}

sql_result *bn_ffi_sql_query_uncounted(sql_connection *c, const char *sql, size_t len)
{
  return bn_ffi_from_rs(bn_sql_query_uncounted(bn_ffi_to_conn(c), sql, len));
}

void bn_ffi_sql_expect_error(sql_connection *c, const char *state)
{
  bn_sql_expect_error(bn_ffi_to_conn(c), state);
}

bool bn_ffi_sql_more_results(sql_connection *c)
{
  return bn_sql_more_results(bn_ffi_to_conn(c));
}

sql_result *bn_ffi_sql_next_result(sql_connection *c)
{
  return bn_ffi_from_rs(bn_sql_next_result(bn_ffi_to_conn(c)));
}

bool bn_ffi_sql_fetch(sql_result *rs)
{
  return bn_sql_fetch(bn_ffi_to_rs(rs));
}

bool bn_ffi_sql_fetch_failed(sql_result *rs)
{
  return bn_sql_fetch_failed(bn_ffi_to_rs(rs));
}

int bn_ffi_sql_free_result(sql_result *rs)
{
  return bn_sql_free_result(bn_ffi_to_rs(rs));
}

sql_statement *bn_ffi_sql_prepare(sql_connection *c, const char *sql, size_t len, const char *name)
{
  return bn_ffi_sql_finish_prepare(c, bn_sql_prepare(bn_ffi_to_conn(c), sql, len), name);
}

sql_statement *bn_ffi_sql_finish_prepare(sql_connection *c, struct bn_sql_stmt *st,
                                         const char *name)
{
  if (st == NULL)
    bn_ffi_sql_failed(c);
  else if (name != NULL)
    bn_sql_stmt_set_name(st, name);
  return bn_ffi_from_stmt(st);
}

int bn_ffi_sql_check(const sql_connection *c, int rc)
{
  if (rc != 0)
    bn_ffi_sql_failed(c);
  return rc;
}

/* Returns the SQL layer's type for a number of enum bn_ffi_type. */
static enum bn_sql_type ffi_sql_get_type(int32_t type)
{
  switch (type) {
  case BN_FFI_INT64:
    return BN_SQL_INT64;
  case BN_FFI_DOUBLE:
    return BN_SQL_DOUBLE;
  default:
    return BN_SQL_TEXT;
  }
}

int bn_ffi_bind_params(struct bn_sql_stmt *st, const struct bn_ffi_param *const *params, size_t n)
{
  struct bn_sql_bind on_stack[PARAMS_ON_STACK] = {0}, *binds = on_stack;

  if (n > PARAMS_ON_STACK)
    binds = bn_alloc(n, sizeof *binds);
  for (size_t i = 0; i < n; i++)
    binds[i] = (struct bn_sql_bind){.type = ffi_sql_get_type(params[i]->type),
                                    .is_null = &params[i]->is_null,
                                    .data = params[i] + 1, /* the value follows its head */
                                    .len = &params[i]->data_len};
  const int rc = bn_sql_bind(st, binds, n);

  if (binds != on_stack)
    free(binds);
  return rc;
}

int bn_ffi_sql_bind(sql_statement *st, const struct bn_ffi_param *const *params, size_t n)
{
  struct bn_sql_stmt *stmt = bn_ffi_to_stmt(st);

  return bn_ffi_sql_check(bn_ffi_from_conn(bn_sql_stmt_conn(stmt)),
                          bn_ffi_bind_params(stmt, params, n));
}

sql_result *bn_ffi_sql_execute(sql_statement *st)
{
  return bn_ffi_from_rs(bn_sql_execute(bn_ffi_to_stmt(st)));
}

sql_result *bn_ffi_sql_stmt_next_result(sql_statement *st)
{
  return bn_ffi_from_rs(bn_sql_stmt_next_result(bn_ffi_to_stmt(st)));
}

int bn_ffi_sql_stmt_close(sql_statement *st)
{
  return bn_sql_stmt_close(bn_ffi_to_stmt(st));
}

void bn_ffi_sql_stmt_free(sql_statement *st)
{
  bn_sql_stmt_free(bn_ffi_to_stmt(st));
}

int bn_ffi_sql_bulk_init(sql_connection *c, const char *sql, size_t len)
{
  return bn_ffi_sql_check(c, bn_sql_bulk_init(bn_ffi_to_conn(c), sql, len));
}

int bn_ffi_sql_bulk_next(sql_connection *c, const char *row, size_t len)
{
  return bn_ffi_sql_check(c, bn_sql_bulk_next(bn_ffi_to_conn(c), row, len));
}

int bn_ffi_sql_bulk_done(sql_connection *c)
{
  return bn_ffi_sql_check(c, bn_sql_bulk_done(bn_ffi_to_conn(c)));
}

void bn_ffi_sql_rand_str(void *out, const char *fmt, size_t len)
{
  bn_dist_fill_template(&bn_instance_session()->rng, fmt, len, out);
}
