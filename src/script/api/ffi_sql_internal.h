/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts objects between the names of scripts and of the SQL layer. */
#ifndef BN_SCRIPT_API_FFI_SQL_INTERNAL_H
#define BN_SCRIPT_API_FFI_SQL_INTERNAL_H

#include "script/api/ffi_sql_more.h"
#include "sql/sql.h"

/* Types of parameters, with the numbers of old/compat.h. */
enum bn_ffi_type { BN_FFI_INT64 = 4, BN_FFI_DOUBLE = 6, BN_FFI_TEXT = 12 };

/* A public part is the beginning of its object, so these functions keep the address. */
static inline sql_driver *bn_ffi_from_driver(struct bn_sql_driver *drv)
{
  return (sql_driver *)(void *)drv;
}

static inline struct bn_sql_driver *bn_ffi_to_driver(sql_driver *drv)
{
  return (struct bn_sql_driver *)(void *)drv;
}

static inline sql_connection *bn_ffi_from_conn(struct bn_sql_conn *c)
{
  return (sql_connection *)(void *)c;
}

static inline struct bn_sql_conn *bn_ffi_to_conn(sql_connection *c)
{
  return (struct bn_sql_conn *)(void *)c;
}

static inline sql_result *bn_ffi_from_rs(struct bn_sql_rs *rs)
{
  return (sql_result *)(void *)rs;
}

static inline struct bn_sql_rs *bn_ffi_to_rs(sql_result *rs)
{
  return (struct bn_sql_rs *)(void *)rs;
}

static inline sql_statement *bn_ffi_from_stmt(struct bn_sql_stmt *st)
{
  return (sql_statement *)(void *)st;
}

static inline struct bn_sql_stmt *bn_ffi_to_stmt(sql_statement *st)
{
  return (struct bn_sql_stmt *)(void *)st;
}

/* Does what follows bn_sql_prepare in the current instance: names the statement st (name NULL: it
   has no name), or notes the failure (st NULL).  Returns the statement. */
sql_statement *bn_ffi_sql_finish_prepare(sql_connection *c, struct bn_sql_stmt *st,
                                         const char *name);
/* Notes in the current instance that a call on the connection has failed, if rc is not 0.  Returns
   rc. */
int bn_ffi_sql_check(const sql_connection *c, int rc);
/* Binds parameters as bn_sql_bind does, without the current instance. */
int bn_ffi_bind_params(struct bn_sql_stmt *st, const struct bn_ffi_param *const *params, size_t n);

#endif
