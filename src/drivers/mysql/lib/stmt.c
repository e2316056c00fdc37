/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements prepared by the server and executed by the client library.  Parameters are read from
   the SQL layer's memory; rows are converted to text only when they are fetched. */
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/driver.h"
#include "drivers/mysql/error.h"
#include "drivers/mysql/lib/lib.h"

enum {
  /* Room for any number or time as text; longer texts are fetched separately.  The client libraries
     format floating-point numbers to the room they find. */
  CELL_MIN = 512
};

/* A column of the row that was fetched last. */
struct bn_mysql_cell {
  char *data;
  size_t room;
  unsigned long len;
  char null; /* my_bool or bool, as the client library has it */
};

enum bn_sql bn_mysql_lib_prepare(struct bn_mysql_lib *c, struct bn_mysql_lib_stmt *st,
                                 const char *sql, size_t len, struct bn_sql_diag *d)
{
  enum bn_sql rc;

  st->lib = c;
  bn_mysql_lib_enter(c);
  st->handle = mysql_stmt_init(c->handle);
  bn_mysql_trace(c->driver, "mysql_stmt_init(%p) = %p", (void *)c->handle, (void *)st->handle);
  if (st->handle == NULL)
    return bn_mysql_fail_text(0, "mysql_stmt_init()", "out of memory", d);
  bn_mysql_trace(c->driver, "mysql_stmt_prepare(%p, \"%.*s\", %zu) = %p", (void *)st->handle,
                 (int)len, sql, len, (void *)st->handle);
  if (mysql_stmt_prepare(st->handle, sql, len) == 0) {
    st->n_params = mysql_stmt_param_count(st->handle);
    return BN_SQL_DONE;
  }
  rc = bn_mysql_lib_fail_stmt(st, "mysql_stmt_prepare()", d);
  if (bn_mysql_can_send_as_text(d->code))
    rc = BN_SQL_EMULATE;
  bn_mysql_lib_stmt_close(st);
  return rc;
}

void bn_mysql_lib_adopt(struct bn_mysql_lib *c, struct bn_mysql_lib_stmt *st, size_t n_params)
{
  st->lib = c;
  st->n_params = n_params;
}

/* Makes the library read the value from the SQL layer's memory at each execute. */
static void stmt_bind_value(MYSQL_BIND *to, const struct bn_sql_bind *b)
{
  memset(to, 0, sizeof *to);
  /* The library only reads by these pointers, but its members have no const, and is_null is a char
     or a bool there: memcpy copies the pointers of either type. */
  memcpy(&to->buffer, &b->data, sizeof to->buffer);
  memcpy(&to->length, &b->len, sizeof to->length);
  memcpy(&to->is_null, &b->is_null, sizeof to->is_null);
  switch (b->type) {
  case BN_SQL_INT64:
    to->buffer_type = MYSQL_TYPE_LONGLONG;
    break;
  case BN_SQL_DOUBLE:
    to->buffer_type = MYSQL_TYPE_DOUBLE;
    break;
  case BN_SQL_TEXT:
    to->buffer_type = MYSQL_TYPE_VAR_STRING;
    break;
  case BN_SQL_BLOB:
    to->buffer_type = MYSQL_TYPE_BLOB;
    break;
  case BN_SQL_NULL:
    to->buffer_type = MYSQL_TYPE_NULL;
    break;
  }
}

size_t bn_mysql_lib_stmt_params(const struct bn_mysql_lib_stmt *st)
{
  return st->n_params;
}

enum bn_sql bn_mysql_lib_check_params(const struct bn_mysql_lib_stmt *st, size_t n,
                                      struct bn_sql_diag *d)
{
  bn_mysql_trace(st->lib->driver, "mysql_stmt_param_count(%p) = %lu", (void *)st->handle,
                 (unsigned long)st->n_params);
  if (n == st->n_params)
    return BN_SQL_DONE;
  return bn_mysql_fail_text(0, "mysql_stmt_bind_param()",
                            "Wrong number of parameters to mysql_stmt_bind_param", d);
}

enum bn_sql bn_mysql_lib_bind(struct bn_mysql_lib_stmt *st, const struct bn_sql_bind *b, size_t n,
                              struct bn_sql_diag *d)
{
  MYSQL_BIND *params;
  bool failed;

  if (n == 0)
    return BN_SQL_DONE;
  params = st->lib->driver->host->alloc(n, sizeof *params);
  for (size_t i = 0; i < n; i++)
    stmt_bind_value(&params[i], &b[i]);
  failed = mysql_stmt_bind_param(st->handle, params); /* copies params */
  bn_mysql_trace(st->lib->driver, "mysql_stmt_bind_param(%p, %p) = %d", (void *)st->handle,
                 (void *)params, failed);
  free(params);
  if (failed)
    return bn_mysql_lib_fail_stmt(st, "mysql_stmt_bind_param()", d);
  return BN_SQL_DONE;
}

/* Reads the library's current result.  Returns DONE, ROWS, or the failure. */
static enum bn_sql stmt_read_result(struct bn_mysql_lib_stmt *st, struct bn_sql_result *r,
                                    struct bn_sql_diag *d)
{
  const struct bn_mysql_lib *c = st->lib;
  int rc;

  *r = (struct bn_sql_result){.more = mysql_more_results(c->handle)};
  r->nfields = mysql_stmt_field_count(st->handle);
  if (r->nfields == 0) {
    r->affected = mysql_stmt_affected_rows(st->handle);
    bn_mysql_trace(c->driver, "mysql_stmt_affected_rows(%p) = %llu", (void *)st->handle,
                   (unsigned long long)r->affected);
    return BN_SQL_DONE;
  }
  rc = mysql_stmt_store_result(st->handle);
  bn_mysql_trace(c->driver, "mysql_stmt_store_result(%p) = %d", (void *)st->handle, rc);
  if (rc != 0)
    return bn_mysql_lib_fail_stmt(st, "mysql_stmt_store_result()", d);
  r->more = mysql_more_results(c->handle);
  r->nrows = mysql_stmt_num_rows(st->handle);
  bn_mysql_trace(c->driver, "mysql_stmt_num_rows(%p) = %llu", (void *)st->handle,
                 (unsigned long long)r->nrows);
  if (c->driver->host->policy->mysql_traces_field_count)
    bn_mysql_trace(c->driver, "mysql_stmt_field_count(%p) = %u", (void *)st->handle, r->nfields);
  r->rows = st;
  st->rows_bound = false;
  return BN_SQL_ROWS;
}

enum bn_sql bn_mysql_lib_execute(struct bn_mysql_lib_stmt *st, struct bn_sql_result *r,
                                 struct bn_sql_diag *d)
{
  int rc;

  bn_mysql_lib_enter(st->lib);
  rc = mysql_stmt_execute(st->handle);
  bn_mysql_trace(st->lib->driver, "mysql_stmt_execute(%p) = %d", (void *)st->handle, rc);
  if (rc != 0)
    return bn_mysql_lib_fail_stmt(st, "mysql_stmt_execute()", d);
  return stmt_read_result(st, r, d);
}

enum bn_sql bn_mysql_lib_stmt_next(struct bn_mysql_lib_stmt *st, struct bn_sql_result *r,
                                   struct bn_sql_diag *d)
{
  enum bn_sql outcome;
  int rc;

  bn_mysql_lib_enter(st->lib);
  rc = mysql_stmt_next_result(st->handle);
  bn_mysql_trace(st->lib->driver, "mysql_stmt_next_result(%p) = %d", (void *)st->handle, rc);
  if (rc < 0)
    return BN_SQL_DONE;
  if (rc > 0)
    return bn_mysql_lib_fail_stmt(st, "mysql_drv_stmt_next_result()", d);
  outcome = stmt_read_result(st, r, d);
  /* libmysqlclient does not update the statement's own count after the first result. */
  if (outcome == BN_SQL_DONE)
    r->affected = mysql_affected_rows(st->lib->handle);
  return outcome;
}

/* Frees the buffers for rows, if there are any. */
static void stmt_free_columns(struct bn_mysql_lib_stmt *st)
{
  for (unsigned i = 0; i < st->n_columns; i++)
    free(st->cell[i].data);
  free(st->cell);
  free(st->column);
  st->cell = NULL;
  st->column = NULL;
  st->n_columns = 0;
}

/* Makes the buffers of n columns, in place of those of an earlier result. */
static void stmt_make_columns(struct bn_mysql_lib_stmt *st, unsigned n)
{
  const struct bn_driver_host *host = st->lib->driver->host;

  stmt_free_columns(st);
  st->column = host->alloc(n, sizeof *st->column);
  st->cell = host->alloc(n, sizeof *st->cell);
  st->n_columns = n;
  for (unsigned i = 0; i < n; i++) {
    struct bn_mysql_cell *cell = &st->cell[i];
    MYSQL_BIND *column = &st->column[i];
    void *null = &cell->null;

    cell->data = host->alloc(1, CELL_MIN);
    cell->room = CELL_MIN;
    column->buffer_type = MYSQL_TYPE_STRING;
    column->buffer = cell->data;
    column->buffer_length = cell->room;
    column->length = &cell->len;
    /* The member points to a my_bool in some libraries and to a bool in others; both are a byte. */
    memcpy(&column->is_null, &null, sizeof column->is_null);
  }
}

/* Makes the library put rows of n columns into the statement's buffers.  Returns false if it
   cannot. */
static bool stmt_bind_rows(struct bn_mysql_lib_stmt *st, unsigned n)
{
  if (st->n_columns != n)
    stmt_make_columns(st, n);
  st->rows_bound = mysql_stmt_bind_result(st->handle, st->column) == 0;
  return st->rows_bound;
}

/* Widens the buffer of column i, into which its value did not fit, and fetches the value again.
   Returns false if there is no memory for it, or the library fails. */
static bool stmt_fetch_long(struct bn_mysql_lib_stmt *st, unsigned i)
{
  struct bn_mysql_cell *cell = &st->cell[i];
  MYSQL_BIND *column = &st->column[i];
  char *wider = realloc(cell->data, cell->len);

  if (wider == NULL)
    return false;
  cell->data = wider;
  cell->room = cell->len;
  column->buffer = wider;
  column->buffer_length = cell->room;
  /* The library has a copy of the old binding, so the next row has to be bound anew. */
  st->rows_bound = false;
  return mysql_stmt_fetch_column(st->handle, column, i, 0) == 0;
}

/* Gets the values of the row that was fetched last.  Returns false if one of them cannot be
   read. */
static bool stmt_get_values(struct bn_mysql_lib_stmt *st, uint32_t n, struct bn_sql_value *row)
{
  for (uint32_t i = 0; i < n; i++) {
    const struct bn_mysql_cell *cell = &st->cell[i];

    if (cell->null) {
      row[i] = (struct bn_sql_value){.ptr = NULL, .len = 0};
      continue;
    }
    if (cell->len > cell->room && !stmt_fetch_long(st, i))
      return false;
    row[i] = (struct bn_sql_value){.ptr = cell->data, .len = cell->len};
  }
  return true;
}

bool bn_mysql_lib_stmt_fetch(struct bn_mysql_lib_stmt *st, struct bn_sql_result *r,
                             struct bn_sql_value *row)
{
  int rc;

  if (!st->rows_bound && !stmt_bind_rows(st, r->nfields)) {
    r->cut = true;
    return false;
  }
  rc = mysql_stmt_fetch(st->handle);
  bn_mysql_trace(st->lib->driver, "mysql_stmt_fetch(%p) = %d", (void *)st->handle, rc);
  if (rc == MYSQL_NO_DATA)
    return false;
  /* A row with a value that did not fit is DATA_TRUNCATED: stmt_get_values fetches the value. */
  const bool has_row = rc == 0 || rc == MYSQL_DATA_TRUNCATED;

  r->cut = !has_row || !stmt_get_values(st, r->nfields, row);
  return !r->cut;
}

void bn_mysql_lib_stmt_free_result(struct bn_mysql_lib_stmt *st)
{
  bn_mysql_lib_enter(st->lib);
  bn_mysql_trace(st->lib->driver, "mysql_stmt_free_result(%p)", (void *)st->handle);
  (void)mysql_stmt_free_result(st->handle);
}

void bn_mysql_lib_stmt_close(struct bn_mysql_lib_stmt *st)
{
  if (st->handle != NULL) {
    const MYSQL_STMT *handle = st->handle; /* for the trace, after it is freed */
    bool failed;

    bn_mysql_lib_enter(st->lib);
    failed = mysql_stmt_close(st->handle);
    bn_mysql_trace(st->lib->driver, "mysql_stmt_close(%p) = %d", (const void *)handle, failed);
  }
  st->handle = NULL;
  stmt_free_columns(st);
}
