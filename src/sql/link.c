/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A driver's connection: made, opened, interrupted at a given time, closed. */
#include "sql/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/wait.h"

static const struct bn_wait due = {"the time of an alarm", BN_BOUND_DEADLINE};
static const struct bn_wait returning = {"a cleared alarm to return", BN_BOUND_RETURNING};

void bn_sql_link_make(struct bn_sql_link *l, const struct bn_driver *ops, void *self)
{
  *l = (struct bn_sql_link){.ops = ops, .self = self, .handle = bn_alloc(1, ops->conn_size)};
}

void bn_sql_link_free(struct bn_sql_link *l)
{
  if (l->free != NULL)
    l->free(l->handle);
  else
    free(l->handle);
  l->handle = NULL;
  l->free = NULL;
}

enum bn_sql bn_sql_link_connect(struct bn_sql_link *l, const struct bn_sql_target *t,
                                uint64_t deadline_ns, struct bn_sql_diag *d)
{
  /* A layer's handle keeps what it was made with. */
  if (l->free == NULL)
    memset(l->handle, 0, l->ops->conn_size);
  return l->ops->connect(l->self, l->handle, t, deadline_ns, d);
}

void bn_sql_link_disconnect(struct bn_sql_link *l)
{
  l->ops->disconnect(l->handle);
}

enum bn_sql bn_sql_link_execute(const struct bn_sql_link *l, const char *sql, uint64_t *affected,
                                struct bn_sql_diag *d)
{
  struct bn_sql_result r = {0};
  enum bn_sql rc = l->ops->query(l->handle, sql, strlen(sql), &r, d);

  if (affected != NULL)
    *affected = r.affected;
  while (rc <= BN_SQL_ROWS) {
    const bool has_next = r.more; /* read before r is freed */

    if (rc == BN_SQL_ROWS)
      l->ops->free_result(l->handle, &r);
    if (!has_next)
      return BN_SQL_DONE;
    r = (struct bn_sql_result){0};
    rc = l->ops->next(l->handle, NULL, &r, d);
  }
  return rc;
}

/* Interrupts the link when the time has come, unless the alarm is cleared before. */
static void *link_alarm_main(void *arg)
{
  struct bn_sql_alarm *a = arg;
  bool is_due = false, cleared;

  (void)pthread_mutex_lock(&a->lock);
  while (!a->cleared && !is_due)
    is_due = !bn_wait_until(&due, &a->changed, &a->lock, a->at_ns);
  cleared = a->cleared;
  (void)pthread_mutex_unlock(&a->lock);
  /* The link is still open: it is closed after bn_sql_alarm_clear, which joins this thread. */
  if (!cleared)
    a->link->ops->interrupt(a->link->handle);
  return NULL;
}

int bn_sql_alarm_set(struct bn_sql_alarm *a, const struct bn_sql_link *link, uint64_t at_ns)
{
  memset(a, 0, sizeof *a);
  a->link = link;
  a->at_ns = at_ns;
  if (link->ops->interrupt == NULL) /* the thread could do nothing */
    return -1;
  bn_wait_init_cond(&a->changed);
  (void)pthread_mutex_init(&a->lock, NULL);
  if (bn_wait_spawn(&a->thread, 0, link_alarm_main, a) == 0)
    return 0;
  (void)pthread_mutex_destroy(&a->lock);
  (void)pthread_cond_destroy(&a->changed);
  return -1;
}

void bn_sql_alarm_clear(struct bn_sql_alarm *a)
{
  (void)pthread_mutex_lock(&a->lock);
  a->cleared = true;
  bn_wait_wake(&a->changed);
  (void)pthread_mutex_unlock(&a->lock);
  bn_wait_join(&returning, a->thread);
  (void)pthread_mutex_destroy(&a->lock);
  (void)pthread_cond_destroy(&a->changed);
}
