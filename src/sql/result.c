/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results: the rows of the current one, and those still pending. */
#include <stdlib.h>

#include "base/log.h"
#include "sql/internal.h"

struct bn_sql_conn *bn_sql_rs_conn(struct bn_sql_rs *rs)
{
  return (struct bn_sql_conn *)(void *)((char *)rs - offsetof(struct bn_sql_conn, rs));
}

static void release(struct bn_sql_conn *c)
{
  c->live = false;
  c->ops->free_result(c->handle, &c->result);
}

void bn_sql_result_drop(struct bn_sql_conn *c)
{
  if (c->live)
    release(c);
  /* A connection takes no new statement while results are pending. */
  while (c->more && c->state == BN_CONN_OPEN) {
    struct bn_sql_result r = {0};
    struct bn_sql_diag d = {0};
    const enum bn_sql rc =
        c->ops->next(c->handle, c->source != NULL ? c->source->handle : NULL, &r, &d);

    if (rc == BN_SQL_ROWS)
      c->ops->free_result(c->handle, &r);
    if (rc == BN_SQL_LOST)
      c->state = BN_CONN_LOST;
    c->more = rc <= BN_SQL_ROWS && r.more;
  }
  c->more = false;
  c->source = NULL;
}

void bn_sql_result_pass(struct bn_sql_conn *c)
{
  if (!c->more || !c->sys->policy->unread_results_block || c->ops->unread == NULL)
    bn_sql_result_drop(c);
  else if (c->live)
    release(c);
}

enum bn_sql bn_sql_result_blocks(struct bn_sql_conn *c, enum bn_sql_step step, bool prepared)
{
  if (!atomic_exchange(&c->sys->unread_told, true))
    bn_log_stderr("results of the statement before are unread, and as in sysbench no other is sent "
                  "until connection:next_result() has taken them");
  /* A ROLLBACK would not be sent either. */
  c->diag.rolled_back = true;
  return c->ops->unread(step, prepared, &c->diag);
}

bool bn_sql_more_results(struct bn_sql_conn *c)
{
  return c->more;
}

struct bn_sql_rs *bn_sql_next_result(struct bn_sql_conn *c)
{
  struct bn_sql_stmt *source = c->source;
  uint64_t since;
  enum bn_sql rc;

  c->view.error = BN_VERDICT_NONE;
  if (!c->more) {
    if (c->live)
      release(c);
    return NULL;
  }
  if (c->live)
    release(c);
  c->more = false;
  since = bn_clock_now(&c->session->clock);
  rc = c->ops->next(c->handle, source != NULL ? source->handle : NULL, &c->result, &c->diag);
  return bn_sql_finish(c, rc, since, BN_SQL_UNCOUNTED, NULL, 0);
}

static int widen(struct bn_sql_conn *c)
{
  struct bn_sql_value *wider = realloc(c->rs.values, c->result.nfields * sizeof *c->rs.values);

  if (wider == NULL) {
    bn_log(BN_FATAL, "cannot fetch a row of %u fields: out of memory", c->result.nfields);
    return -1;
  }
  c->rs.values = wider;
  c->fields_cap = c->result.nfields;
  return 0;
}

bool bn_sql_fetch(struct bn_sql_rs *rs)
{
  struct bn_sql_conn *c = bn_sql_rs_conn(rs);

  if (!c->live) {
    bn_log(BN_ALERT, "attempt to fetch row from an invalid result set");
    return false;
  }
  if (c->result.nfields > c->fields_cap && widen(c) != 0)
    return false;
  if (__builtin_expect(!c->owner->timed, 1))
    return c->ops->fetch(c->handle, &c->result, rs->values);

  const uint64_t since = bn_clock_now(&c->session->clock);
  const bool found = c->ops->fetch(c->handle, &c->result, rs->values);

  bn_stat_record(c->session->stat, BN_SQL_H_FETCH, bn_clock_now(&c->session->clock) - since);
  return found;
}

int bn_sql_free_result(struct bn_sql_rs *rs)
{
  struct bn_sql_conn *c = bn_sql_rs_conn(rs);

  if (!c->live) {
    bn_log(BN_ALERT, "attempt to free an invalid result set");
    return -1;
  }
  release(c);
  return 0;
}
