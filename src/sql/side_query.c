/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a connection with a driver that the run has loaded, and reads pairs of values. */
#include "sql/side_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sql/driver.h"

/* Returns the first driver that is in use, or NULL. */
static const struct bn_sql_driver *side_query_find_driver(struct bn_sqlsys *sys)
{
  const struct bn_sql_driver *found = NULL;

  (void)pthread_mutex_lock(&sys->lock);
  for (size_t i = 0; found == NULL && i < sys->n_rows; i++)
    if (sys->drivers[i].ops != NULL)
      found = &sys->drivers[i];
  (void)pthread_mutex_unlock(&sys->lock);
  return found;
}

/* Sets err to "cannot ACTION to PLACE: REASON", without a place that is not known.  Returns -1. */
static int side_query_fail(const struct bn_sql_diag *d, const char *action, struct bn_err *err)
{
  return bn_err_set(err, d->code, "cannot %s%s%s: %s", action, d->where[0] != '\0' ? " to " : "",
                    d->where, d->text);
}

int bn_sql_side_query_open(struct bn_sql_side_query *p, struct bn_sqlsys *sys, uint64_t deadline_ns,
                           struct bn_err *err)
{
  const struct bn_sql_target target = {.ordinal = 0};
  const struct bn_sql_driver *drv = side_query_find_driver(sys);
  struct bn_sql_diag d = {0};

  if (drv == NULL)
    return bn_err_set(err, EINVAL, "the script has opened no connection to a database");
  bn_sql_link_make(&p->link, drv->ops, drv->self);
  p->entered = drv->ops->thread_init == NULL || drv->ops->thread_init(drv->self) == 0;
  if (!p->entered)
    return bn_err_set(err, ENOMEM, "out of memory for a connection");
  if (bn_sql_link_connect(&p->link, &target, deadline_ns, &d) != BN_SQL_DONE)
    return side_query_fail(&d, "connect", err);
  atomic_store(&p->open, true);
  return 0;
}

int bn_sql_side_query_read_pairs(const struct bn_sql_link *link, const char *sql,
                                 void (*fn)(void *arg, const struct bn_sql_value pair[2]),
                                 void *arg, struct bn_err *err)
{
  struct bn_sql_result r = {0};
  struct bn_sql_diag d = {0};
  const enum bn_sql rc = link->ops->query(link->handle, sql, strlen(sql), &r, &d);
  struct bn_sql_value *row;

  if (rc == BN_SQL_DONE)
    return 0;
  if (rc != BN_SQL_ROWS)
    return side_query_fail(&d, "ask the server", err);
  /* The driver fills nfields values; two more stay NULL, for rows that lack a name or a value. */
  row = bn_alloc((size_t)r.nfields + 2, sizeof *row);
  while (link->ops->fetch(link->handle, &r, row))
    if (row[0].ptr != NULL && row[1].ptr != NULL)
      fn(arg, row);
  link->ops->free_result(link->handle, &r);
  free(row);
  if (!r.cut)
    return 0;
  (void)snprintf(d.text, sizeof d.text, "the rest of the result cannot be read");
  return side_query_fail(&d, "ask the server", err);
}

void bn_sql_side_query_interrupt(struct bn_sql_side_query *p)
{
  if (atomic_load(&p->open) && p->link.ops->interrupt != NULL)
    p->link.ops->interrupt(p->link.handle);
}

void bn_sql_side_query_close(struct bn_sql_side_query *p)
{
  const struct bn_driver *ops = p->link.ops;

  atomic_store(&p->open, false);
  if (p->entered) {
    bn_sql_link_disconnect(&p->link); /* also due if connect has failed */
    if (ops->thread_done != NULL)
      ops->thread_done(p->link.self);
  }
  bn_sql_link_free(&p->link);
  p->entered = false;
}
