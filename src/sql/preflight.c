/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Before a run: does the server allow as many connections and statements as the run needs?  Asked
   on a connection of its own, once, so that the others execute what the script says and no more. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "sql/internal.h"

/* No server allows fewer connections, so that smaller runs need not ask. */
enum { FEWEST_CONNECTIONS = 10, FEWEST_STATEMENTS = 16000 };

static bool is_worker(const struct bn_session *s)
{
  return s != s->services->main && s != s->services->reporting &&
         !atomic_load_explicit(&s->stat->running, memory_order_relaxed);
}

static int64_t threads_of(const struct bn_sqlsys *sys, const struct bn_session *s)
{
  const int64_t threads = s->services->conf->threads;

  return sys->info.places > 1 ? (threads + sys->info.places - 1) / sys->info.places : threads;
}

/* c is open.  Whatever goes wrong, c itself will show what matters. */
static void ask(struct bn_sql_conn *c)
{
  struct bn_sqlsys *sys = c->sys;
  struct bn_sql_diag d = {0};
  struct bn_sql_target target;
  void *handle;

  sys->asked = true;
  sys->info = (struct bn_sql_info){.max_connections = -1,
                                   .max_prepared_statements = -1,
                                   .connections = -1,
                                   .prepared_statements = -1};
  handle = c->ops->info != NULL ? calloc(1, c->ops->conn_size) : NULL;
  if (handle == NULL)
    return;
  bn_sql_conn_target(c, &target);
  if (c->ops->connect(c->drv->self, handle, &target, UINT64_MAX, &d) == BN_SQL_DONE)
    (void)c->ops->info(handle, &sys->info);
  c->ops->disconnect(handle);
  free(handle);
}

/* What to do, with the number. */
static void add_remedy(struct bn_buf *b, const char *remedy, int64_t number)
{
  const char *mark = remedy != NULL ? strstr(remedy, "%n") : NULL;

  if (mark != NULL)
    (void)bn_buf_printf(b, "type \"%.*s%lld%s, or ", (int)(mark - remedy), remedy,
                        (long long)number, mark + 2);
}

struct demand {
  const char *what, *remedy, *instead;
  int64_t needed, allowed, others, reserved; /* others, reserved: used by others, kept for some */
};

/* true: more than there can be. */
static bool judge(const struct demand *d, bool certain)
{
  const int64_t others = d->others > 0 ? d->others : 0;
  const bool too_many = d->needed > d->allowed;
  struct bn_buf b;

  if (d->allowed < 0 || (!too_many && d->needed + others <= d->allowed))
    return false;
  bn_buf_init(&b, 0);
  add_remedy(&b, d->remedy, d->needed + others + d->reserved);
  if (too_many)
    bn_log_stderr("%sthis needs up to %lld %s, but the server allows %lld: %s%s",
                  certain ? "" : "warning: ", (long long)d->needed, d->what, (long long)d->allowed,
                  b.data != NULL ? b.data : "", d->instead);
  else
    bn_log_stderr("warning: this needs up to %lld %s; the server allows %lld, and others use %lld: "
                  "%s%s",
                  (long long)d->needed, d->what, (long long)d->allowed, (long long)others,
                  b.data != NULL ? b.data : "", d->instead);
  bn_buf_done(&b);
  return too_many && certain;
}

/* The connection that asked, and the one it asked on, are among those in use. */
static void judge_connections(struct bn_sql_conn *c)
{
  struct bn_sqlsys *sys = c->sys;
  const struct bn_sql_info *info = &sys->info;
  const struct demand d = {.what = "connections",
                           .remedy = info->raise_connections,
                           .instead = "use fewer --threads",
                           .needed = threads_of(sys, c->session),
                           .allowed = info->max_connections,
                           .others = info->connections - 2,
                           .reserved = info->reserved_connections};

  sys->refused = judge(&d, sys->all_connect);
}

bool bn_sql_preflight_due(const struct bn_sql_conn *c)
{
  return c->session->services->conf->threads >= FEWEST_CONNECTIONS && is_worker(c->session);
}

int bn_sql_preflight_open(struct bn_sql_conn *c, int (*open)(struct bn_sql_conn *c))
{
  struct bn_sqlsys *sys = c->sys;
  int rc = -1;
  bool done;

  (void)pthread_mutex_lock(&sys->preflight);
  done = sys->first_came;
  sys->first_came = true;
  if (!done) {
    rc = open(c);
    if (rc == 0) {
      ask(c);
      judge_connections(c);
    }
  }
  (void)pthread_mutex_unlock(&sys->preflight);
  if (sys->refused) {
    bn_sql_conn_shut(c);
    return 1;
  }
  return done ? open(c) : rc;
}

bool bn_sql_preflight_defers(const struct bn_sql_conn *c)
{
  const struct bn_sqlsys *sys = c->sys;

  /* Of those that are due, each has waited for the lock since these were written. */
  return bn_sql_preflight_due(c) && sys->all_connect && !sys->emulate &&
         sys->info.max_prepared_statements >= 0 &&
         threads_of(sys, c->session) * (c->n_prepared + 1) > sys->info.max_prepared_statements;
}

void bn_sql_all_connect(struct bn_sqlsys *sys)
{
  (void)pthread_mutex_lock(&sys->preflight);
  /* Not written again: by then it is read without the lock. */
  if (!sys->all_connect)
    sys->all_connect = true;
  (void)pthread_mutex_unlock(&sys->preflight);
}

static struct bn_sql_conn *open_connection(struct bn_sqlsys *sys, const struct bn_session *s)
{
  struct bn_sql_session *o;
  struct bn_sql_conn *c;

  (void)pthread_mutex_lock(&sys->lock);
  for (o = sys->sessions; o != NULL && o->session != s;)
    o = o->next;
  (void)pthread_mutex_unlock(&sys->lock);
  c = o != NULL ? o->all : NULL;
  while (c != NULL && c->state != BN_CONN_OPEN)
    c = c->next_all;
  return c;
}

/* With the lock held. */
static void judge_statements(struct bn_sql_conn *c, int64_t at_start, int64_t in_all)
{
  struct bn_sqlsys *sys = c->sys;
  const int64_t threads = threads_of(sys, c->session);
  struct demand d = {.what = "prepared statements",
                     .remedy = sys->info.raise_statements,
                     .instead = "use --db-ps-mode=disable",
                     .needed = threads * in_all,
                     .allowed = sys->info.max_prepared_statements,
                     .others = sys->info.prepared_statements};
  const bool certain = threads * at_start > d.allowed;

  sys->refused_statements = judge(&d, certain);
}

bool bn_sql_expect_statements(struct bn_sqlsys *sys, struct bn_session *s, uint64_t at_start,
                              uint64_t in_all)
{
  struct bn_sql_conn *c = open_connection(sys, s);
  bool refused;

  if (c == NULL || sys->emulate || !c->drv->caps.prepared_statements || !is_worker(s))
    return true;
  (void)pthread_mutex_lock(&sys->preflight);
  if (!sys->statements_judged) {
    sys->statements_judged = true;
    if (!sys->asked && s->services->conf->threads * in_all > FEWEST_STATEMENTS)
      ask(c);
    if (sys->asked)
      judge_statements(c, (int64_t)at_start, (int64_t)in_all);
  }
  refused = sys->refused_statements;
  (void)pthread_mutex_unlock(&sys->preflight);
  return !refused;
}
