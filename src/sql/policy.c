/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures: which are ignored, what is done about those, and how the others are worded. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "sql/internal.h"

static bool ignores(const struct bn_sql_driver *drv, const struct bn_sql_diag *d)
{
  const enum bn_sql_class class =
      drv->ops->classify != NULL ? drv->ops->classify(d) : BN_CLASS_OTHER;

  return bn_sql_errors_have(&drv->ignored, d, class) ||
         bn_sql_errors_have(&drv->sys->ignored, d, class);
}

/* By the server's own name of the error: its number, else its SQLSTATE.  Only executions count. */
static void count_error(struct bn_sql_conn *c)
{
  if (c->failed_step != BN_STEP_QUERY)
    return;
  char label[BN_LABEL_LEN] = "unknown";

  if (c->diag.code != 0)
    (void)snprintf(label, sizeof label, "%d", c->diag.code);
  else if (c->diag.state[0] != '\0')
    (void)snprintf(label, sizeof label, "%s", c->diag.state);
  c->session->services->count_label(c->session->services->of, 0, label);
  bn_stat_count(c->session->stat, BN_C_ERROR, 1);
}

/* The event will be repeated from its beginning, so a transaction left open must go. */
static void roll_back(struct bn_sql_conn *c)
{
  struct bn_sql_result r = {0};
  struct bn_sql_diag d = {0};

  bn_sql_trace(c, "ROLLBACK", 8);
  if (c->ops->query(c->handle, "ROLLBACK", 8, &r, &d) == BN_SQL_LOST)
    c->state = BN_CONN_LOST;
}

static void recover(struct bn_sql_conn *c)
{
  c->view.error = BN_VERDICT_IGNORABLE;
  bn_log(BN_DEBUG, "Ignoring error %u %s, ", (unsigned)c->diag.code, c->diag.text);
  if (c->state == BN_CONN_OPEN) {
    count_error(c);
    if (!c->diag.rolled_back)
      roll_back(c);
  }
  if (c->state != BN_CONN_LOST)
    return;
  const struct bn_sql_diag why = c->diag;

  if (bn_sql_reconnect(c) != 0)
    count_error(c);
  /* What the script sees is the failure of its statement. */
  c->diag = why;
  c->view.error = BN_VERDICT_IGNORABLE;
  c->view.sql_errno = why.code;
}

static void give_up(struct bn_sql_conn *c)
{
  c->view.error = BN_VERDICT_FATAL;
  bn_sql_message(c->ops, c->sys->policy, c->failed_step, &c->diag, c->failed_sql, c->failed_len);
  if (!c->sys->policy->fatal_errors_uncounted)
    count_error(c);
}

void bn_sql_end_quietly(struct bn_sql_conn *c)
{
  const bool in_event = atomic_load_explicit(&c->session->stat->running, memory_order_relaxed);

  c->view.error = in_event ? BN_VERDICT_IGNORABLE : BN_VERDICT_FATAL;
}

void bn_sql_failed(struct bn_sql_conn *c, enum bn_sql rc, enum bn_sql_step step, const char *sql,
                   size_t len)
{
  c->view.sql_errno = c->diag.code;
  c->failed_step = step;
  c->failed_sql = sql;
  c->failed_len = len;
  if (rc == BN_SQL_LOST)
    c->state = BN_CONN_LOST;
  if (bn_session_interrupted(c->session)) {
    bn_sql_end_quietly(c);
  } else if (!c->no_restart && ignores(c->drv, &c->diag)) {
    recover(c);
  } else if (c->defer && step == BN_STEP_QUERY && !c->no_restart) {
    c->view.error = BN_VERDICT_FATAL;
    c->pending = true;
  } else {
    give_up(c);
  }
}

void bn_sql_refuse(struct bn_sql_conn *c)
{
  memset(&c->diag, 0, sizeof c->diag);
  c->view.error = BN_VERDICT_FATAL;
  c->view.sql_errno = 0;
}

void bn_sql_defer(struct bn_sql_conn *c)
{
  c->defer = true;
}

/* Without memory it is forgotten: the script still hears of it. */
void bn_sql_keep_failure(struct bn_sql_conn *c)
{
  c->pending = false;
  if (c->kept == NULL)
    c->kept = malloc(sizeof *c->kept);
  if (c->kept != NULL)
    *c->kept = (struct bn_sql_failure){c->diag, c->failed_step, c->failed_sql, c->failed_len};
}

/* true: what was kept is what waits now. */
static bool take_kept(struct bn_sql_conn *c)
{
  if (c->kept == NULL)
    return false;
  c->diag = c->kept->diag;
  c->failed_step = c->kept->step;
  c->failed_sql = c->kept->sql;
  c->failed_len = c->kept->len;
  c->view.sql_errno = c->diag.code;
  free(c->kept);
  c->kept = NULL;
  return true;
}

void bn_sql_settle(struct bn_sql_conn *c, bool ignore)
{
  if (!c->pending && !take_kept(c))
    return;
  c->pending = false;
  if (ignore)
    recover(c);
  else
    give_up(c);
}
