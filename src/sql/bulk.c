/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bulk insert: rows are collected into statements as long as the reference's. */
#include <string.h>

#include "base/log.h"
#include "sql/internal.h"

/* The reference's buffer, which also held a terminator. */
enum { STATEMENT_MAX = 524288 - 1 };

static int fail(struct bn_sql_conn *c)
{
  bn_sql_refuse(c);
  return -1;
}

static int add(struct bn_sql_conn *c, const char *data, size_t len)
{
  if (bn_buf_add(&c->bulk, data, len) == 0)
    return 0;
  bn_log(BN_FATAL, "cannot collect rows: out of memory");
  return fail(c);
}

/* Commands may fill tables the fastest way; a run's inserts are what is measured. */
static void choose_way(struct bn_sql_conn *c)
{
  struct bn_sql_info info = {.max_packet = -1};

  if (c->bulk_max != 0)
    return;
  c->bulk_max = STATEMENT_MAX;
  c->may_load = bn_sql_conn_loads(c);
  if (c->may_load && c->ops->info != NULL && c->ops->info(c->handle, &info) == 0 &&
      info.max_packet > 0 && info.max_packet < STATEMENT_MAX)
    c->bulk_max = (size_t)info.max_packet - 1;
}

static int reserve(struct bn_sql_conn *c)
{
  /* All at once: growing by doubling would leave the heap full of holes. */
  if (bn_buf_reserve(&c->bulk, c->loading ? BN_SQL_LOAD_MAX : STATEMENT_MAX + 1) == 0)
    return 0;
  bn_log(BN_FATAL, "cannot collect rows: out of memory");
  return fail(c);
}

int bn_sql_bulk_init(struct bn_sql_conn *c, const char *insert, size_t len)
{
  if (c->state != BN_CONN_OPEN) {
    bn_log(BN_ALERT, "attempt to use an already closed connection");
    return fail(c);
  }
  choose_way(c);
  if (len > c->bulk_max) {
    bn_log(BN_FATAL, "Query length exceeds the maximum value (%zu), aborting", c->bulk_max + 1);
    return fail(c);
  }
  bn_buf_clear(&c->bulk);
  c->view.error = BN_VERDICT_NONE;
  c->bulk_rows = 0;
  c->n_cuts = 0;
  c->bulk_head = len;
  (void)bn_sql_load_start(c, insert, len);
  if (reserve(c) != 0)
    return -1;
  c->bulk_active = true;
  return add(c, insert, len);
}

/* An event is not repeated because of these, so the failure is always told. */
static int send(struct bn_sql_conn *c, const char *sql, size_t len)
{
  c->no_restart = true;
  (void)bn_sql_query(c, sql, len);
  c->no_restart = false;
  return c->view.error == BN_VERDICT_NONE ? 0 : -1;
}

static void truncate_rows(struct bn_sql_conn *c)
{
  c->bulk.len = c->bulk_head;
  c->bulk.data[c->bulk.len] = '\0';
  c->bulk_rows = 0;
  c->n_cuts = 0;
}

/* What was sent goes; the statement that failed, number `sent`, becomes the first. */
static void keep_unsent(struct bn_sql_conn *c, const char *sql, unsigned sent)
{
  const size_t shift = (size_t)(sql - c->bulk.data);

  memmove(c->bulk.data, sql, c->bulk.len - shift + 1);
  c->bulk.len -= shift;
  for (unsigned i = sent; i < c->n_cuts; i++)
    c->bulk_cut[i - sent] = c->bulk_cut[i] - shift;
  c->n_cuts -= sent;
}

/* Sends the statements in the buffer.  Each but the first gets its beginning in the place of rows
   that were sent before. */
static int insert_all(struct bn_sql_conn *c)
{
  char *sql = c->bulk.data;

  for (unsigned i = 0; i <= c->n_cuts; i++) {
    char *end = c->bulk.data + (i < c->n_cuts ? c->bulk_cut[i] - 1 : c->bulk.len);
    const char last = *end;
    int rc;

    if (i > 0)
      sql = memmove(c->bulk.data + c->bulk_cut[i - 1] - c->bulk_head, sql, c->bulk_head);
    *end = '\0';
    rc = send(c, sql, (size_t)(end - sql));
    if (rc == 0 && c->drv->caps.needs_commit)
      rc = send(c, "COMMIT", 6);
    *end = last;
    if (rc != 0) {
      keep_unsent(c, sql, i);
      return -1;
    }
  }
  truncate_rows(c);
  return 0;
}

/* Sends what was collected; on failure the rows stay. */
static int flush(struct bn_sql_conn *c)
{
  if (c->bulk_rows == 0)
    return 0;
  if (!c->loading)
    return insert_all(c);
  switch (bn_sql_load_send(c)) {
  case BN_LOAD_DONE:
    truncate_rows(c);
    return 0;
  case BN_LOAD_NOT_DONE:
    return insert_all(c);
  case BN_LOAD_FAILED:
    break;
  }
  return -1;
}

/* Whether the row ends the statement in the buffer. */
static bool is_full(const struct bn_sql_conn *c, size_t len)
{
  const size_t rows_from = c->n_cuts > 0 ? c->bulk_cut[c->n_cuts - 1] : c->bulk_head;

  return !c->drv->caps.multi_rows_insert ||
         c->bulk_head + (c->bulk.len - rows_from) + len + 1 > c->bulk_max;
}

/* Adds the row to those that are loaded, or ends the loading. */
static int load_next(struct bn_sql_conn *c, const char *row, size_t len)
{
  if ((c->bulk.len + len + 1 >= BN_SQL_LOAD_MAX || c->n_cuts == BN_SQL_CUTS) && flush(c) != 0)
    return -1;
  if (!c->loading || bn_sql_load_add(c, row, len))
    return 0;
  /* It and those behind it are inserted. */
  if (flush(c) != 0)
    return -1;
  c->loading = false;
  return 0;
}

/* What has to stand between the rows so far and one more. */
static int part(struct bn_sql_conn *c, size_t len)
{
  const bool full = c->bulk_rows > 0 && is_full(c, len);

  if (full && !c->loading && flush(c) != 0)
    return -1;
  if (c->bulk_rows == 0)
    return 0;
  if (add(c, ",", 1) != 0)
    return -1;
  if (full)
    c->bulk_cut[c->n_cuts++] = c->bulk.len;
  return 0;
}

int bn_sql_bulk_next(struct bn_sql_conn *c, const char *row, size_t len)
{
  c->view.error = BN_VERDICT_NONE;
  if (!c->bulk_active) {
    bn_log(BN_ALERT, "attempt to call bulk_insert_next() before bulk_insert_init()");
    return fail(c);
  }
  if (len > c->bulk_max - c->bulk_head) {
    bn_log(BN_FATAL, "Query length exceeds the maximum value (%zu), aborting", c->bulk_max + 1);
    return fail(c);
  }
  if ((c->loading && load_next(c, row, len) != 0) || part(c, len) != 0 || add(c, row, len) != 0)
    return -1;
  c->bulk_rows++;
  return 0;
}

int bn_sql_bulk_done(struct bn_sql_conn *c)
{
  c->view.error = BN_VERDICT_NONE;
  if (flush(c) != 0)
    return -1;
  bn_buf_done(&c->bulk);
  bn_sql_load_forget(c);
  c->bulk_active = false;
  return 0;
}
