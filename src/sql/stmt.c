/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepared statements: by the server, or emulated. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "sql/emulate.h"
#include "sql/internal.h"

static struct bn_sql_stmt *make(struct bn_sql_conn *c, const char *sql, size_t len)
{
  struct bn_sql_stmt *st = calloc(1, sizeof *st + c->ops->stmt_size);

  if (st == NULL)
    return NULL;
  st->shared = bn_sql_text_get(&c->sys->texts, sql, len);
  if (st->shared == NULL) {
    free(st);
    return NULL;
  }
  st->text = st->shared->text;
  st->len = len;
  st->conn = c;
  st->handle = st->driver_part;
  st->kind = bn_sql_kind_of(c->sys, st->text, len);
  st->next = c->stmts;
  c->stmts = st;
  c->refs++;
  return st;
}

void bn_sql_stmt_shut(struct bn_sql_stmt *st)
{
  if (!st->prepared)
    return;
  if (st->conn->source == st)
    bn_sql_result_drop(st->conn);
  st->conn->ops->close(st->handle);
  st->prepared = st->bound = false;
}

void bn_sql_stmt_destroy(struct bn_sql_stmt *st)
{
  bn_sql_text_put(&st->conn->sys->texts, st->shared);
  free(st->binds);
  free(st);
}

void bn_sql_stmt_free(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c;

  if (st == NULL)
    return;
  c = st->conn;
  bn_sql_stmt_shut(st);
  for (struct bn_sql_stmt **p = &c->stmts; *p != NULL; p = &(*p)->next) {
    if (*p == st) {
      *p = st->next;
      break;
    }
  }
  bn_sql_stmt_destroy(st);
  bn_sql_conn_unref(c);
}

static void start_emulation(struct bn_sql_stmt *st)
{
  st->emulated = true;
  st->n_params = bn_sql_count_params(st->text, st->len, st->conn->drv->caps.backslash_escapes);
}

/* One attempt; the connection is open. */
static enum bn_sql try_prepare(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  enum bn_sql rc;

  memset(st->handle, 0, c->ops->stmt_size);
  rc = c->more ? bn_sql_result_blocks(c, BN_STEP_PREPARE, false)
               : c->ops->prepare(c->handle, st->handle, st->text, st->len, &c->diag);
  if (rc == BN_SQL_DONE) {
    st->prepared = st->fresh = true;
    c->n_prepared++;
    return rc;
  }
  if (rc == BN_SQL_EMULATE) {
    bn_log(BN_INFO, "Failed to prepare query \"%s\" (%d: %s), using emulation", st->text,
           c->diag.code, c->diag.text);
    start_emulation(st);
    return BN_SQL_DONE;
  }
  return rc;
}

/* 0, or -1: failed, and the view says how.  A connection lost meanwhile is opened again when the
   loss is ignorable, and the statement prepared on the new one. */
static int prepare(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;

  if (c->sys->emulate || !c->drv->caps.prepared_statements) {
    start_emulation(st);
    return 0;
  }
  for (;;) {
    const enum bn_sql rc = try_prepare(st);

    if (rc == BN_SQL_DONE)
      return 0;
    bn_sql_failed(c, rc, BN_STEP_PREPARE, st->text, st->len);
    if (rc != BN_SQL_LOST || c->state != BN_CONN_OPEN || bn_session_over(c->session))
      return -1;
    c->view.error = BN_VERDICT_NONE;
    c->view.sql_errno = 0;
  }
}

struct bn_sql_stmt *bn_sql_prepare(struct bn_sql_conn *c, const char *sql, size_t len)
{
  struct bn_sql_stmt *st;

  if (!bn_sql_begin(c))
    return NULL;
  st = make(c, sql, len);
  if (st == NULL) {
    bn_log(BN_FATAL, "cannot prepare a statement: out of memory");
    bn_sql_refuse(c);
    return NULL;
  }
  if (!bn_sql_preflight_defers(c) && prepare(st) != 0) {
    bn_sql_stmt_free(st);
    return NULL;
  }
  return st;
}

struct bn_sql_conn *bn_sql_stmt_conn(struct bn_sql_stmt *st)
{
  return st->conn;
}

const char *bn_sql_stmt_text(const struct bn_sql_stmt *st, size_t *len)
{
  *len = st->len;
  return st->text;
}

static int copy_binds(struct bn_sql_stmt *st, const struct bn_sql_bind *binds, size_t n)
{
  struct bn_sql_bind *copy = calloc(n > 0 ? n : 1, sizeof *copy);

  if (copy == NULL) {
    bn_log(BN_FATAL, "cannot bind parameters: out of memory");
    return -1;
  }
  memcpy(copy, binds, n * sizeof *copy);
  free(st->binds);
  st->binds = copy;
  st->n_binds = n;
  st->bound = false;
  return 0;
}

/* The SQL layer has to prepare it before each execution. */
static bool goes_stale(const struct bn_sql_stmt *st)
{
  return st->conn->sys->anew && !st->conn->drv->caps.prepares_anew && !st->emulated;
}

/* Tells the driver where the values are. */
static int bind(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  enum bn_sql rc;

  if (st->binds == NULL) {
    st->bound = !goes_stale(st);
    return 0;
  }
  rc = c->ops->bind(st->handle, st->binds, st->n_binds, &c->diag);
  if (rc == BN_SQL_DONE) {
    st->bound = !goes_stale(st);
    return 0;
  }
  if (rc == BN_SQL_MISCOUNT) {
    bn_log(BN_ALERT, "%s", c->diag.text);
    bn_sql_refuse(c);
  } else {
    bn_sql_failed(c, rc, BN_STEP_BIND, st->text, st->len);
  }
  return -1;
}

static bool usable(struct bn_sql_stmt *st)
{
  if (!st->closed)
    return true;
  bn_log(BN_ALERT, "attempt to use an already closed statement");
  bn_sql_refuse(st->conn);
  return false;
}

int bn_sql_bind(struct bn_sql_stmt *st, const struct bn_sql_bind *binds, size_t n)
{
  struct bn_sql_conn *c = st->conn;

  if (!usable(st) || !bn_sql_begin(c) || copy_binds(st, binds, n) != 0)
    return -1;
  if (!st->emulated && !st->prepared && bn_sql_preflight_defers(c))
    return 0;
  if (!st->emulated && !st->prepared && prepare(st) != 0)
    return -1;
  if (!st->emulated)
    return bind(st);
  if (n == st->n_params) {
    st->bound = true;
    return 0;
  }
  bn_log(BN_ALERT, "wrong number of parameters in prepared statement");
  bn_sql_refuse(c);
  return -1;
}

static struct bn_sql_rs *execute_text(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  const struct bn_sql_emulation e = {st->text, st->len, c->drv->caps.backslash_escapes,
                                     c->ops->quote, c->handle};
  uint64_t since;
  enum bn_sql rc;

  if (st->n_binds != st->n_params || bn_sql_emulate(&e, st->binds, &c->emulated) != 0) {
    bn_log(BN_ALERT, st->n_binds != st->n_params
                         ? "wrong number of parameters in prepared statement"
                         : "cannot put the values into a statement: out of memory");
    bn_sql_refuse(c);
    return NULL;
  }
  bn_sql_trace(c, c->emulated.data, c->emulated.len);
  since = bn_clock_now(&c->session->clock);
  rc = c->more ? bn_sql_result_blocks(c, BN_STEP_QUERY, false)
               : c->ops->query(c->handle, c->emulated.data, c->emulated.len, &c->result, &c->diag);
  return bn_sql_finish(c, rc, since, st->kind, c->emulated.data, c->emulated.len);
}

/* After a reconnect, or before the first execution. */
static bool ready(struct bn_sql_stmt *st)
{
  if (!usable(st))
    return false;
  if (goes_stale(st) && !st->fresh)
    bn_sql_stmt_shut(st);
  if (!st->prepared && !st->emulated && prepare(st) != 0)
    return false;
  st->fresh = false;
  if (!st->emulated)
    return st->bound || bind(st) == 0;
  st->bound = true;
  return true;
}

struct bn_sql_rs *bn_sql_execute(struct bn_sql_stmt *st)
{
  struct bn_sql_conn *c = st->conn;
  uint64_t since;
  enum bn_sql rc;

  if (!bn_sql_begin(c) || (__builtin_expect(!st->bound, 0) && !ready(st)))
    return NULL;
  if (__builtin_expect(st->emulated, 0))
    return execute_text(st);
  bn_sql_trace(c, st->text, st->len);
  c->source = st;
  since = bn_clock_now(&c->session->clock);
  rc = __builtin_expect(c->more, 0) ? bn_sql_result_blocks(c, BN_STEP_QUERY, true)
                                    : c->ops->execute(st->handle, &c->result, &c->diag);
  return bn_sql_finish(c, rc, since, st->kind, st->text, st->len);
}

struct bn_sql_rs *bn_sql_stmt_next_result(struct bn_sql_stmt *st)
{
  if (!usable(st))
    return NULL;
  return bn_sql_next_result(st->conn);
}

int bn_sql_stmt_close(struct bn_sql_stmt *st)
{
  if (!usable(st))
    return -1;
  st->conn->view.error = BN_VERDICT_NONE;
  bn_sql_stmt_shut(st);
  st->bound = false;
  st->closed = true;
  return 0;
}
