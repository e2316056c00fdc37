/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions: what of the SQL layer belongs to one of them, its start, interruption and end. */
#include <stdlib.h>

#include "base/log.h"
#include "sql/internal.h"

/* From any thread: what the session's worker is waiting for returns. */
static void interrupt_all(void *arg)
{
  struct bn_sql_session *o = arg;

  pthread_mutex_lock(&o->lock);
  for (struct bn_sql_conn *c = o->open; c != NULL; c = c->next_open) {
    if (c->ops->interrupt != NULL)
      c->ops->interrupt(c->handle);
  }
  pthread_mutex_unlock(&o->lock);
}

static struct bn_sql_session *find(struct bn_sqlsys *sys, const struct bn_session *s)
{
  struct bn_sql_session *o = sys->sessions;

  while (o != NULL && o->session != s)
    o = o->next;
  return o;
}

static struct bn_sql_session *make(struct bn_sqlsys *sys, struct bn_session *s)
{
  struct bn_sql_session *o = calloc(1, sizeof *o);

  if (o == NULL)
    return NULL;
  o->sys = sys;
  o->session = s;
  /* The sessions of commands and of the main thread are not part of the measurement. */
  if (s->services->metrics == bn_sqlsys_metrics(sys)) {
    o->count_commits = sys->policy->transactions_are_commits;
    o->timed = sys->conf->debug && s->stat->hist != NULL;
  }
  pthread_mutex_init(&o->lock, NULL);
  pthread_mutex_lock(&sys->lock);
  o->next = sys->sessions;
  sys->sessions = o;
  pthread_mutex_unlock(&sys->lock);
  s->services->set_interrupt(s, interrupt_all, o);
  return o;
}

struct bn_sql_session *bn_sql_session_get(struct bn_sqlsys *sys, struct bn_session *s,
                                          struct bn_sql_driver *drv)
{
  const uint64_t bit = UINT64_C(1) << drv->index;
  struct bn_sql_session *o;

  pthread_mutex_lock(&sys->lock);
  o = find(sys, s);
  pthread_mutex_unlock(&sys->lock);
  if (o == NULL)
    o = make(sys, s);
  if (o == NULL || (o->started & bit) != 0)
    return o;
  if (drv->ops->thread_init != NULL && drv->ops->thread_init(drv->self) != 0) {
    bn_log(BN_FATAL, "thread-local driver initialization failed.");
    return NULL;
  }
  o->started |= bit;
  return o;
}

void bn_sql_session_opened(struct bn_sql_conn *c)
{
  struct bn_sql_session *o = c->owner;

  pthread_mutex_lock(&o->lock);
  c->next_open = o->open;
  o->open = c;
  pthread_mutex_unlock(&o->lock);
}

void bn_sql_session_closing(struct bn_sql_conn *c)
{
  struct bn_sql_session *o = c->owner;

  pthread_mutex_lock(&o->lock);
  for (struct bn_sql_conn **p = &o->open; *p != NULL; p = &(*p)->next_open) {
    if (*p == c) {
      *p = c->next_open;
      break;
    }
  }
  pthread_mutex_unlock(&o->lock);
}

static struct bn_sql_session *take(struct bn_sqlsys *sys, const struct bn_session *s)
{
  struct bn_sql_session *found = NULL;

  pthread_mutex_lock(&sys->lock);
  for (struct bn_sql_session **p = &sys->sessions; *p != NULL; p = &(*p)->next) {
    if ((*p)->session == s) {
      found = *p;
      *p = found->next;
      break;
    }
  }
  pthread_mutex_unlock(&sys->lock);
  return found;
}

void bn_sql_session_end(struct bn_sqlsys *sys, struct bn_session *s)
{
  struct bn_sql_session *o = take(sys, s);

  if (o == NULL)
    return;
  s->services->set_interrupt(s, NULL, NULL);
  while (o->all != NULL) {
    struct bn_sql_conn *c = o->all;

    o->all = c->next_all;
    bn_sql_conn_retire(c);
  }
  for (size_t i = 0; i < sys->n_rows; i++) {
    const struct bn_sql_driver *drv = &sys->drivers[i];

    if ((o->started & (UINT64_C(1) << i)) != 0 && drv->ops->thread_done != NULL)
      drv->ops->thread_done(drv->self);
  }
  pthread_mutex_destroy(&o->lock);
  free(o);
}
