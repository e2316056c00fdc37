/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Before a run: does the server allow as many connections and statements as the run needs?  Asked
   on a connection of its own, once, so that the others execute what the script says and no more. */
#include "sql/preflight.h"

#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "measure/stat.h"
#include "option/conf.h"

/* No server allows fewer connections, so that smaller runs need not ask. */
enum { FEWEST_CONNECTIONS = 10, FEWEST_STATEMENTS = 16000 };

void bn_sql_preflight_init(struct bn_sql_preflight *p)
{
  (void)pthread_mutex_init(&p->lock, NULL);
}

void bn_sql_preflight_done(struct bn_sql_preflight *p)
{
  (void)pthread_mutex_destroy(&p->lock);
}

void bn_sql_preflight_lock(struct bn_sql_preflight *p)
{
  (void)pthread_mutex_lock(&p->lock);
}

void bn_sql_preflight_unlock(struct bn_sql_preflight *p)
{
  (void)pthread_mutex_unlock(&p->lock);
}

bool bn_sql_preflight_is_worker(const struct bn_session *s)
{
  return s != s->services->main && s != s->services->reporting &&
         !atomic_load_explicit(&s->stat->running, memory_order_relaxed);
}

bool bn_sql_preflight_due(const struct bn_session *s)
{
  return s->services->conf->threads >= FEWEST_CONNECTIONS && bn_sql_preflight_is_worker(s);
}

bool bn_sql_preflight_enter(struct bn_sql_preflight *p)
{
  bool first;

  bn_sql_preflight_lock(p);
  first = !p->first_came;
  p->first_came = true;
  if (!first)
    bn_sql_preflight_unlock(p);
  return first;
}

void bn_sql_preflight_learn(struct bn_sql_preflight *p, const struct bn_sql_info *info)
{
  p->asked = true;
  p->info = *info;
}

static int64_t threads_of(const struct bn_sql_preflight *p, const struct bn_session *s)
{
  const int64_t threads = s->services->conf->threads, places = p->info.places;

  return places > 1 ? (threads + places - 1) / places : threads;
}

enum bn_sql_judgement bn_sql_preflight_judge(const struct bn_sql_demand *d)
{
  const int64_t others = d->others > 0 ? d->others : 0;

  if (d->allowed < 0 || others <= d->allowed - d->needed)
    return BN_ENOUGH;
  if (d->needed <= d->allowed)
    return BN_TIGHT;
  return d->certain ? BN_REFUSED : BN_TOO_FEW;
}

/* What to do, with the number. */
static void add_remedy(struct bn_buf *b, const char *remedy, int64_t number)
{
  const char *mark = remedy != NULL ? strstr(remedy, "%n") : NULL;

  if (mark != NULL)
    (void)bn_buf_printf(b, "type \"%.*s%lld%s, or ", (int)(mark - remedy), remedy,
                        (long long)number, mark + 2);
}

static void tell(const struct bn_sql_demand *d, enum bn_sql_judgement judgement)
{
  const int64_t others = d->others > 0 ? d->others : 0;
  struct bn_buf b;

  bn_buf_init(&b, 0);
  add_remedy(&b, d->remedy, d->needed + others + d->reserved);
  if (judgement == BN_TIGHT)
    bn_log_note("warning: the run needs up to %lld %s; the server allows %lld, and other clients "
                "use %lld: %s%s",
                (long long)d->needed, d->what, (long long)d->allowed, (long long)others,
                b.data != NULL ? b.data : "", d->instead);
  else if (judgement == BN_REFUSED)
    bn_log_stderr("the run needs up to %lld %s, but the server allows %lld: %s%s",
                  (long long)d->needed, d->what, (long long)d->allowed,
                  b.data != NULL ? b.data : "", d->instead);
  else
    bn_log_note("warning: the run needs up to %lld %s, but the server allows %lld: %s%s",
                (long long)d->needed, d->what, (long long)d->allowed, b.data != NULL ? b.data : "",
                d->instead);
  bn_buf_done(&b);
}

/* true: refused. */
static bool refuses(const struct bn_sql_demand *d)
{
  const enum bn_sql_judgement judgement = bn_sql_preflight_judge(d);

  if (judgement != BN_ENOUGH)
    tell(d, judgement);
  return judgement == BN_REFUSED;
}

/* The connection that asked, and the one it asked on, are among those in use. */
void bn_sql_preflight_connections(struct bn_sql_preflight *p, const struct bn_session *s)
{
  const struct bn_sql_info *info = &p->info;
  const struct bn_sql_demand d = {.what = "connections",
                                  .remedy = info->raise_connections,
                                  .instead = "use fewer --threads",
                                  .needed = threads_of(p, s),
                                  .allowed = info->max_connections,
                                  .others = info->connections - 2,
                                  .reserved = info->reserved_connections,
                                  .certain = p->all_connect};

  p->refused = refuses(&d);
}

bool bn_sql_preflight_defers(const struct bn_sql_preflight *p, const struct bn_session *s,
                             unsigned n)
{
  /* Of those that are due, each has waited for the lock since these were written. */
  return bn_sql_preflight_due(s) && p->all_connect && p->info.max_prepared_statements >= 0 &&
         threads_of(p, s) * n > p->info.max_prepared_statements;
}

bool bn_sql_preflight_asks(const struct bn_sql_preflight *p, const struct bn_session *s,
                           const struct bn_sql_expected *e)
{
  return !p->statements_judged && !p->asked &&
         s->services->conf->threads * e->in_all > FEWEST_STATEMENTS;
}

bool bn_sql_preflight_statements(struct bn_sql_preflight *p, const struct bn_session *s,
                                 const struct bn_sql_expected *e)
{
  const int64_t threads = threads_of(p, s), allowed = p->info.max_prepared_statements;
  const struct bn_sql_demand d = {.what = "prepared statements",
                                  .remedy = p->info.raise_statements,
                                  .instead = "use --db-ps-mode=disable",
                                  .needed = threads * (int64_t)e->in_all,
                                  .allowed = allowed,
                                  .others = p->info.prepared_statements,
                                  .certain = threads * (int64_t)e->at_start > allowed};

  if (!p->statements_judged && p->asked)
    p->refused_statements = refuses(&d);
  p->statements_judged = true;
  return !p->refused_statements;
}
