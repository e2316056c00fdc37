/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results: the rows of the current result of a connection, and the results that are pending. */
#include "sql/result.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "measure/stat.h"
#include "sql/count.h"

/* Lets the driver fill r with the next pending result.  Returns its outcome. */
static enum bn_sql result_next(const struct bn_sql_cursor *cur, struct bn_sql_result *r,
                               struct bn_sql_diag *d)
{
  return cur->link->ops->next(cur->link->handle, cur->source != NULL ? cur->source->handle : NULL,
                              r, d);
}

enum bn_sql bn_sql_cursor_drop(struct bn_sql_cursor *cur, bool open, struct bn_sql_diag *d)
{
  const struct bn_sql_link *link = cur->link;
  enum bn_sql rc = BN_SQL_DONE;

  bn_sql_cursor_release(cur);
  while (cur->more && open && rc <= BN_SQL_ROWS) {
    struct bn_sql_result r = {0};

    rc = result_next(cur, &r, d);
    if (rc == BN_SQL_ROWS)
      link->ops->free_result(link->handle, &r);
    cur->more = r.more;
  }
  cur->more = false;
  cur->source = NULL;
  return rc;
}

void bn_sql_cursor_free(struct bn_sql_cursor *cur)
{
  free(cur->rs.values);
  cur->rs.values = NULL;
  cur->room = 0;
}

enum bn_sql bn_sql_cursor_next(struct bn_sql_cursor *cur, struct bn_sql_diag *d)
{
  bn_sql_cursor_release(cur);
  cur->more = false;
  return result_next(cur, &cur->result, d);
}

/* Returns the cursor, whose first member is rs. */
static struct bn_sql_cursor *result_cursor_of(struct bn_sql_rs *rs)
{
  return (struct bn_sql_cursor *)(void *)rs;
}

/* Fetches a row into rs.values, which has room for it.  Returns false at the end, or if the next
   row cannot be read, which is logged. */
static bool result_fetch(struct bn_sql_cursor *cur)
{
  const struct bn_sql_link *link = cur->link;
  const bool found = link->ops->fetch(link->handle, &cur->result, cur->rs.values);

  if (__builtin_expect(!found && cur->result.cut, 0))
    bn_log(BN_FATAL, "cannot read the rest of a result: a row is malformed, or there is no "
                     "memory for it");
  return found;
}

bool bn_sql_fetch(struct bn_sql_rs *rs)
{
  struct bn_sql_cursor *cur = result_cursor_of(rs);

  if (!cur->live) {
    bn_log(BN_ALERT, "attempt to fetch row from an invalid result set");
    return false;
  }
  if (cur->result.nfields > cur->room) {
    cur->room = cur->result.nfields;
    cur->rs.values = bn_alloc_resize(cur->rs.values, cur->room, sizeof *cur->rs.values);
  }
  if (__builtin_expect(cur->timed == NULL, 1))
    return result_fetch(cur);

  const uint64_t since_ns = bn_clock_now(&cur->timed->clock);
  const bool found = result_fetch(cur);

  bn_stat_record(cur->timed->stat, BN_SQL_H_FETCH, bn_clock_now(&cur->timed->clock) - since_ns);
  return found;
}

bool bn_sql_fetch_failed(struct bn_sql_rs *rs)
{
  const struct bn_sql_cursor *cur = result_cursor_of(rs);

  return cur->live && cur->result.cut;
}

int bn_sql_free_result(struct bn_sql_rs *rs)
{
  struct bn_sql_cursor *cur = result_cursor_of(rs);

  if (!cur->live) {
    bn_log(BN_ALERT, "attempt to free an invalid result set");
    return -1;
  }
  bn_sql_cursor_release(cur);
  return 0;
}
