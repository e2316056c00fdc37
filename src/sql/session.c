/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions: what of the SQL layer belongs to one of them, its start, interruption and end. */
#include "sql/session.h"

#include <stdlib.h>

#include "base/log.h"
#include "measure/stat.h"
#include "sql/count.h"
#include "sql/driver.h"

/* From any thread: what the session's worker is waiting for returns. */
static void interrupt_all(void *arg)
{
  struct bn_sql_session *o = arg;

  pthread_mutex_lock(&o->lock);
  for (struct bn_sql_link *l = o->open; l != NULL; l = l->next) {
    if (l->ops->interrupt != NULL)
      l->ops->interrupt(l->handle);
  }
  pthread_mutex_unlock(&o->lock);
}

struct bn_sql_session *bn_sql_session_find(struct bn_sqlsys *sys, const struct bn_session *s)
{
  struct bn_sql_session *o;

  pthread_mutex_lock(&sys->sessions.lock);
  o = sys->sessions.first;
  while (o != NULL && o->session != s)
    o = o->next;
  pthread_mutex_unlock(&sys->sessions.lock);
  return o;
}

/* What is measured of the session.  The sessions of commands and of the main thread are not part of
   the measurement.  0 or -1: out of memory. */
static int session_measure(const struct bn_sqlsys *sys, struct bn_sql_session *o)
{
  const struct bn_session *s = o->session;
  const bool is_of_run = !s->services->is_command && bn_session_is_worker(s);

  if (s->services->metrics != bn_sqlsys_metrics(sys))
    return 0;
  o->measured = true;
  o->verified = sys->conf->verify_commits && is_of_run;
  o->paired = sys->conf->read_hosts.n > 0 && is_of_run;
  o->read_host_reads =
      bn_sql_counter_of_read_hosts(sys->policy->transactions_are_commits, o->verified);
  o->count_commits = sys->policy->transactions_are_commits;
  o->timed = sys->conf->debug && s->stat->hist != NULL;
  if (s->stat->statements != NULL && (o->names = bn_sql_statement_names_new(s)) == NULL)
    return -1;
  o->observed = o->timed || o->names != NULL;
  return 0;
}

static struct bn_sql_session *session_make(struct bn_sqlsys *sys, struct bn_session *s)
{
  struct bn_sql_session *o = calloc(1, sizeof *o);

  if (o == NULL)
    return NULL;
  o->session = s;
  if (session_measure(sys, o) != 0) {
    free(o);
    return NULL;
  }
  pthread_mutex_init(&o->lock, NULL);
  pthread_mutex_lock(&sys->sessions.lock);
  o->next = sys->sessions.first;
  sys->sessions.first = o;
  pthread_mutex_unlock(&sys->sessions.lock);
  s->services->set_interrupt(s, interrupt_all, o);
  return o;
}

struct bn_sql_session *bn_sql_session_get(struct bn_sqlsys *sys, struct bn_session *s,
                                          struct bn_sql_driver *drv)
{
  const uint64_t bit = UINT64_C(1) << drv->index;
  struct bn_sql_session *o = bn_sql_session_find(sys, s);

  if (o == NULL)
    o = session_make(sys, s);
  if (o == NULL) {
    bn_log(BN_FATAL, "cannot start a session: out of memory");
    return NULL;
  }
  if ((o->started & bit) != 0)
    return o;
  if (drv->ops->thread_init != NULL && drv->ops->thread_init(drv->self) != 0) {
    bn_log(BN_FATAL, "thread-local driver initialization failed.");
    return NULL;
  }
  o->started |= bit;
  return o;
}

void bn_sql_session_opened(struct bn_sql_session *o, struct bn_sql_link *link)
{
  pthread_mutex_lock(&o->lock);
  link->next = o->open;
  o->open = link;
  pthread_mutex_unlock(&o->lock);
}

void bn_sql_session_closing(struct bn_sql_session *o, struct bn_sql_link *link)
{
  pthread_mutex_lock(&o->lock);
  for (struct bn_sql_link **p = &o->open; *p != NULL; p = &(*p)->next) {
    if (*p == link) {
      *p = link->next;
      break;
    }
  }
  pthread_mutex_unlock(&o->lock);
}

struct bn_sql_session *bn_sql_session_take(struct bn_sqlsys *sys, struct bn_session *s)
{
  struct bn_sql_session *found = NULL;

  pthread_mutex_lock(&sys->sessions.lock);
  for (struct bn_sql_session **p = &sys->sessions.first; *p != NULL; p = &(*p)->next) {
    if ((*p)->session == s) {
      found = *p;
      *p = found->next;
      break;
    }
  }
  pthread_mutex_unlock(&sys->sessions.lock);
  if (found != NULL)
    s->services->set_interrupt(s, NULL, NULL);
  return found;
}

void bn_sql_session_free(struct bn_sqlsys *sys, struct bn_sql_session *o)
{
  for (size_t i = 0; i < sys->n_rows; i++) {
    const struct bn_sql_driver *drv = &sys->drivers[i];

    if ((o->started & (UINT64_C(1) << i)) != 0 && drv->ops->thread_done != NULL)
      drv->ops->thread_done(drv->self);
  }
  pthread_mutex_destroy(&o->lock);
  bn_sql_statement_names_free(o->names);
  free(o);
}
