/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries as text and their results, by the client library. */
#include "drivers/mysql/driver.h"
#include "drivers/mysql/error.h"
#include "drivers/mysql/lib/lib.h"

/* Traces what 0.5 does with a result: it counts the rows and fetches the first one. */
static void result_trace_first_row(const struct bn_mysql *driver, MYSQL_RES *res)
{
  bn_mysql_trace(driver, "mysql_num_rows(%p) = %llu", (void *)res,
                 (unsigned long long)mysql_num_rows(res));
  bn_mysql_trace(driver, "mysql_fetch_row(%p) = %p", (void *)res, (void *)mysql_fetch_row(res));
  mysql_data_seek(res, 0);
}

/* Reads the library's current result, with all of its rows.  Returns DONE, ROWS, or the failure. */
static enum bn_sql result_read(struct bn_mysql_lib *c, struct bn_sql_result *r,
                               struct bn_sql_diag *d)
{
  MYSQL_RES *res;

  *r = (struct bn_sql_result){.more = mysql_more_results(c->handle)};
  if (!c->driver->host->policy->mysql_traces_as_05)
    bn_mysql_trace(c->driver, "mysql_field_count(%p) = %u", (void *)c->handle,
                   mysql_field_count(c->handle));
  if (mysql_field_count(c->handle) == 0) {
    r->affected = mysql_affected_rows(c->handle);
    bn_mysql_trace(c->driver, "mysql_affected_rows(%p) = %llu", (void *)c->handle,
                   (unsigned long long)r->affected);
    return BN_SQL_DONE;
  }
  res = mysql_store_result(c->handle);
  bn_mysql_trace(c->driver, "mysql_store_result(%p) = %p", (void *)c->handle, (void *)res);
  if (res == NULL)
    return bn_mysql_lib_fail(c, "mysql_store_result()", d);
  /* The flag is right only after the rows have been read. */
  r->more = mysql_more_results(c->handle);
  r->nrows = mysql_num_rows(res);
  r->nfields = mysql_num_fields(res);
  r->rows = res;
  if (c->driver->conf->debug && c->driver->host->policy->mysql_traces_as_05)
    result_trace_first_row(c->driver, res);
  return BN_SQL_ROWS;
}

const char *bn_mysql_lib_cell(MYSQL_RES *res, MYSQL_ROW row, unsigned i)
{
  return i < mysql_num_fields(res) && row[i] != NULL ? row[i] : "";
}

enum bn_sql bn_mysql_lib_query(struct bn_mysql_lib *c, const char *sql, size_t len,
                               struct bn_sql_result *r, struct bn_sql_diag *d)
{
  int rc;

  bn_mysql_lib_enter(c);
  rc = mysql_real_query(c->handle, sql, len);
  bn_mysql_trace(c->driver, "mysql_real_query(%p, \"%.*s\", %zu) = %d", (void *)c->handle, (int)len,
                 sql, len, rc);
  if (rc != 0)
    return bn_mysql_lib_fail(c, bn_mysql_query_call, d);
  return result_read(c, r, d);
}

enum bn_sql bn_mysql_lib_next(struct bn_mysql_lib *c, struct bn_sql_result *r,
                              struct bn_sql_diag *d)
{
  int rc;

  bn_mysql_lib_enter(c);
  rc = mysql_next_result(c->handle);
  bn_mysql_trace(c->driver, "mysql_next_result(%p) = %d", (void *)c->handle, rc);
  if (rc < 0) /* there is no further result */
    return BN_SQL_DONE;
  if (rc > 0)
    return bn_mysql_lib_fail(c, "mysql_drv_next_result()", d);
  return result_read(c, r, d);
}

bool bn_mysql_lib_fetch(struct bn_mysql_lib *c, const struct bn_sql_result *r,
                        struct bn_sql_value *row)
{
  MYSQL_ROW fields = mysql_fetch_row(r->rows);
  const unsigned long *length;

  bn_mysql_trace(c->driver, "mysql_fetch_row(%p) = %p", r->rows, (void *)fields);
  if (fields == NULL)
    return false;
  length = mysql_fetch_lengths(r->rows);
  for (uint32_t i = 0; i < r->nfields; i++)
    row[i] = (struct bn_sql_value){.ptr = fields[i], .len = fields[i] != NULL ? length[i] : 0};
  return true;
}

void bn_mysql_lib_free_result(struct bn_mysql_lib *c, const struct bn_sql_result *r)
{
  bn_mysql_trace(c->driver, "mysql_free_result(%p)", r->rows);
  mysql_free_result(r->rows);
}
