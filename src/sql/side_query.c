/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a connection with a driver that the run has loaded, and reads pairs of values. */
#include "sql/side_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sql/driver.h"

/* The first that is in use. */
static void find_driver(struct bn_sql_side_query *p, struct bn_sqlsys *sys)
{
  (void)pthread_mutex_lock(&sys->lock);
  for (size_t i = 0; p->ops == NULL && i < sys->n_rows; i++) {
    p->ops = sys->drivers[i].ops;
    p->self = sys->drivers[i].self;
  }
  (void)pthread_mutex_unlock(&sys->lock);
}

static int side_query_tell(const struct bn_sql_diag *d, const char *what, struct bn_err *err)
{
  return bn_err_set(err, d->code, "cannot %s%s%s: %s", what, d->where[0] != '\0' ? " to " : "",
                    d->where, d->text);
}

int bn_sql_side_query_open(struct bn_sql_side_query *p, struct bn_sqlsys *sys, uint64_t deadline_ns,
                           struct bn_err *err)
{
  const struct bn_sql_target target = {.ordinal = 0};
  struct bn_sql_diag d = {0};

  find_driver(p, sys);
  if (p->ops == NULL)
    return bn_err_set(err, EINVAL, "the script has opened no connection to a database");
  p->handle = calloc(1, p->ops->conn_size);
  if (p->handle == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  p->entered = p->ops->thread_init == NULL || p->ops->thread_init(p->self) == 0;
  if (!p->entered)
    return bn_err_set(err, ENOMEM, "out of memory for a connection");
  if (p->ops->connect(p->self, p->handle, &target, deadline_ns, &d) != BN_SQL_DONE)
    return side_query_tell(&d, "connect", err);
  atomic_store(&p->open, true);
  return 0;
}

int bn_sql_side_query_pairs(struct bn_sql_side_query *p, const char *sql,
                            void (*fn)(void *arg, const struct bn_sql_value pair[2]), void *arg,
                            struct bn_err *err)
{
  struct bn_sql_result r = {0};
  struct bn_sql_diag d = {0};
  const enum bn_sql rc = p->ops->query(p->handle, sql, strlen(sql), &r, &d);
  struct bn_sql_value *row;

  if (rc == BN_SQL_DONE)
    return 0;
  if (rc != BN_SQL_ROWS)
    return side_query_tell(&d, "ask the server", err);
  row = calloc((size_t)r.nfields + 2, sizeof *row);
  while (row != NULL && p->ops->fetch(p->handle, &r, row))
    if (row[0].ptr != NULL && row[1].ptr != NULL)
      fn(arg, row);
  p->ops->free_result(p->handle, &r);
  if (row == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  free(row);
  return 0;
}

void bn_sql_side_query_interrupt(struct bn_sql_side_query *p)
{
  if (atomic_load(&p->open) && p->ops->interrupt != NULL)
    p->ops->interrupt(p->handle);
}

void bn_sql_side_query_close(struct bn_sql_side_query *p)
{
  atomic_store(&p->open, false);
  if (p->entered)
    p->ops->disconnect(p->handle);
  if (p->entered && p->ops->thread_done != NULL)
    p->ops->thread_done(p->self);
  free(p->handle);
  p->entered = false;
  p->handle = NULL;
}
