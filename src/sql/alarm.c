/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread waits for the time and interrupts the connection. */
#include "sql/alarm.h"

#include <string.h>

#include "base/wait.h"

static const struct bn_wait due = {"the time of an alarm", BN_BOUND_DEADLINE};
static const struct bn_wait returning = {"a cleared alarm to return", BN_BOUND_RETURNING};

static void *alarm_main(void *arg)
{
  struct bn_sql_alarm *a = arg;
  bool early = true, cleared;

  (void)pthread_mutex_lock(&a->lock);
  while (!a->cleared && early)
    early = bn_wait_until(&due, &a->changed, &a->lock, a->at_ns);
  cleared = a->cleared;
  (void)pthread_mutex_unlock(&a->lock);
  if (!cleared)
    a->link->ops->interrupt(a->link->handle);
  return NULL;
}

int bn_sql_alarm_set(struct bn_sql_alarm *a, const struct bn_sql_link *link, uint64_t at_ns)
{
  memset(a, 0, sizeof *a);
  a->link = link;
  a->at_ns = at_ns;
  if (link->ops->interrupt == NULL || bn_wait_init(&a->changed) != 0)
    return -1;
  (void)pthread_mutex_init(&a->lock, NULL);
  if (bn_wait_spawn(&a->thread, 0, alarm_main, a) == 0)
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
