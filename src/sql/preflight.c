/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Before a run: does the server allow as many connections and statements as the run needs?  It is
   asked once, on a connection for that purpose, so that the connections of the run execute nothing
   but the statements of the script. */
#include "sql/preflight.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/limit_check.h"
#include "base/log.h"
#include "measure/stat.h"
#include "option/conf.h"

/* Every server allows FEWEST_CONNECTIONS and FEWEST_STATEMENTS, so that smaller runs need not ask.
   Above FEW_STATEMENTS, a run that prepares statements ahead asks all the same, to leave other
   clients their share. */
enum { FEWEST_CONNECTIONS = 10, FEW_STATEMENTS = 1000, FEWEST_STATEMENTS = 16000 };
/* The connections that a raised limit leaves free: one for the user who raises it, one for the
   connection that asks, and some that the server still counts after their end. */
enum { SPARE_CONNECTIONS = 4 };
/* The longest that preparing statements may delay the start if the user has not asked for it. */
enum { LONGEST_DELAY_S = 30 };
/* The number of bench's own connections when a server is asked: the first one of the run, and the
   one that asks. */
enum { OWN_CONNECTIONS = 2 };

void bn_sql_preflight_init(struct bn_sql_preflight *p)
{
  pthread_mutexattr_t attr;

  (void)pthread_mutexattr_init(&attr);
  (void)pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
  (void)pthread_mutex_init(&p->lock, &attr);
  (void)pthread_mutexattr_destroy(&attr);
}

void bn_sql_preflight_done(struct bn_sql_preflight *p)
{
  (void)pthread_mutex_destroy(&p->lock);
}

bool bn_sql_preflight_lock(struct bn_sql_preflight *p)
{
  return pthread_mutex_lock(&p->lock) != EDEADLK;
}

void bn_sql_preflight_unlock(struct bn_sql_preflight *p)
{
  (void)pthread_mutex_unlock(&p->lock);
}

bool bn_sql_preflight_is_worker(const struct bn_session *s)
{
  return bn_session_is_worker(s) && !atomic_load_explicit(&s->stat->running, memory_order_relaxed);
}

bool bn_sql_preflight_is_due(const struct bn_session *s)
{
  return s->services->conf->plan.threads >= FEWEST_CONNECTIONS && bn_sql_preflight_is_worker(s);
}

bool bn_sql_preflight_enter(struct bn_sql_preflight *p)
{
  bool is_first;

  if (!bn_sql_preflight_lock(p))
    return false;
  is_first = !p->first_came;
  p->first_came = true;
  if (!is_first)
    bn_sql_preflight_unlock(p);
  return is_first;
}

void bn_sql_preflight_note_limits(struct bn_sql_preflight *p, const struct bn_sql_info *info,
                                  size_t places, int64_t ours)
{
  const int64_t used = info->prepared_statements; /* -1: unknown */

  p->asked = true;
  p->info = *info;
  p->places = places;
  /* Names of accounts, which quotas name, may have any bytes. */
  for (size_t i = 0; i < BN_SQL_QUOTAS; i++) {
    struct bn_sql_quota *q = &p->info.quota[i];

    (void)bn_escape(q->by, sizeof q->by, info->quota[i].by, "");
    (void)bn_escape(q->raise, sizeof q->raise, info->quota[i].raise, "");
  }
  ours /= (int64_t)places; /* the share of the server that was asked */
  if (used > 0)
    p->info.prepared_statements = used > ours ? used - ours : 0;
}

/* Returns how many threads of the run one server has at most; connections take the servers in
   turn. */
static int64_t preflight_threads_of(const struct bn_sql_preflight *p, const struct bn_session *s)
{
  const size_t threads = s->services->conf->plan.threads;

  return (int64_t)(p->places > 1 ? (threads + p->places - 1) / p->places : threads);
}

/* Says on standard error if the quota leaves too few connections.  `remedy` tells how to raise it;
   `reserved` of the connections are for other users only.  Returns false if the run is refused. */
static bool preflight_judge_quota(const struct bn_sql_preflight *p, const struct bn_session *s,
                                  const struct bn_sql_quota *quota, const char *remedy,
                                  int64_t reserved)
{
  const struct bn_limit_check demand = {
      .what = "connections",
      .by = quota->by,
      .remedy = remedy,
      .instead = "use fewer --threads",
      .needed = preflight_threads_of(p, s),
      .allowed = quota->allowed,
      .others = quota->used - OWN_CONNECTIONS, /* negative: unknown */
      .reserved = reserved + SPARE_CONNECTIONS,
      .certain = p->all_connect,
  };

  return bn_limit_check_log(&demand) != BN_REFUSED;
}

void bn_sql_preflight_judge_connections(struct bn_sql_preflight *p, const struct bn_session *s)
{
  const struct bn_sql_info *info = &p->info;
  const struct bn_sql_quota server = {
      .by = "the server", .allowed = info->max_connections, .used = info->connections};
  bool is_refused =
      !preflight_judge_quota(p, s, &server, info->raise_connections, info->reserved_connections);

  for (size_t i = 0; i < BN_SQL_QUOTAS && info->quota[i].by[0] != '\0'; i++)
    is_refused |=
        !preflight_judge_quota(p, s, &info->quota[i], info->quota[i].raise, 0 /* none reserved */);
  p->refused = is_refused;
}

bool bn_sql_preflight_defers(const struct bn_sql_preflight *p, const struct bn_session *s,
                             unsigned n)
{
  int64_t allowed;

  /* No lock is needed: a due session has held it since all_connect and info were written. */
  if (!bn_sql_preflight_is_due(s) || !p->all_connect)
    return false;
  allowed = p->info.max_prepared_statements;
  return allowed >= 0 && preflight_threads_of(p, s) * n > allowed;
}

/* Returns whether --db-prepare=auto may let sessions prepare more statements before the events than
   the script has prepared at its start. */
static bool preflight_may_prepare_ahead(const struct bn_sql_expected *e)
{
  return e->way == BN_SQL_PREPARE_AUTO && e->in_all > e->at_start;
}

bool bn_sql_preflight_wants_limits(const struct bn_sql_preflight *p, const struct bn_session *s,
                                   const struct bn_sql_expected *e)
{
  const uint64_t all = s->services->conf->plan.threads * e->in_all;

  if (p->statements_judged || p->asked)
    return false;
  if (e->way == BN_SQL_PREPARE_EAGER)
    return true;
  return all > (preflight_may_prepare_ahead(e) ? FEW_STATEMENTS : FEWEST_STATEMENTS);
}

enum bn_sql_excess bn_sql_preflight_find_excess(const struct bn_sql_cost *cost)
{
  if (cost->all > BN_SQL_EAGER_MAX)
    return BN_EXCESS_NUMBER;
  if (cost->unused >= 0 && cost->on_server > cost->unused / 2) /* half is for other clients */
    return BN_EXCESS_SHARE;
  return cost->rest_ns > cost->most_ns ? BN_EXCESS_TIME : BN_EXCESS_NONE;
}

/* Returns the longest time for preparing statements before the events: LONGEST_DELAY_S, or half of
   the time that threads have to get ready if that is less, because the estimate is rough. */
static uint64_t preflight_longest_delay_ns(const struct bn_session *s)
{
  const uint64_t longest_ns = LONGEST_DELAY_S * BN_NSEC_PER_SEC;
  const uint64_t timeout_ns = s->services->conf->init_timeout_ns; /* 0: none */

  return timeout_ns != 0 ? bn_clock_min(timeout_ns / 2, longest_ns) : longest_ns;
}

/* Returns how many more statements the server allows, or -1 if that is unknown or without limit. */
static int64_t preflight_unused_statements(const struct bn_sql_info *info, bool asked)
{
  const int64_t allowed = info->max_prepared_statements, used = info->prepared_statements;

  if (!asked || allowed < 0)
    return -1;
  if (used <= 0) /* none, or their number is not known */
    return allowed;
  return used < allowed ? allowed - used : 0;
}

/* Returns what it costs to prepare all statements before the events. */
static struct bn_sql_cost preflight_cost_of(const struct bn_sql_preflight *p,
                                            const struct bn_session *s,
                                            const struct bn_sql_expected *e)
{
  const uint64_t n_rest = e->in_all - e->at_start;

  return (struct bn_sql_cost){
      .all = (int64_t)(s->services->conf->plan.threads * e->in_all),
      .on_server = preflight_threads_of(p, s) * (int64_t)e->in_all,
      .unused = preflight_unused_statements(&p->info, p->asked),
      .rest_ns = e->at_start > 0 ? e->spent_ns / e->at_start * n_rest : 0,
      .most_ns = preflight_longest_delay_ns(s),
  };
}

/* Says why statements are prepared when they are first used, although the user has not asked for
   that. */
static void preflight_log_excess(const struct bn_sql_preflight *p, const struct bn_sql_cost *cost,
                                 enum bn_sql_excess excess)
{
  static const char consequence[] = "each statement is prepared when a session first uses it";
  const int64_t used = p->info.prepared_statements > 0 ? p->info.prepared_statements : 0;
  struct bn_buf remedy;

  switch (excess) {
  case BN_EXCESS_NONE:
    break;
  case BN_EXCESS_NUMBER:
    bn_log_note("%s: the run needs up to %lld prepared statements, more than %d; to prepare them "
                "before the run, use --db-prepare=eager",
                consequence, (long long)cost->all, BN_SQL_EAGER_MAX);
    break;
  case BN_EXCESS_SHARE:
    bn_buf_init(&remedy, 0);
    /* bench takes at most half of what is left. */
    bn_limit_check_append_remedy(&remedy, p->info.raise_statements, used + 2 * cost->on_server);
    bn_log_note("%s: the run needs up to %lld prepared statements, more than half of the %lld that "
                "the server has left; to prepare them before the run, %suse --db-prepare=eager",
                consequence, (long long)cost->on_server, (long long)cost->unused,
                remedy.data != NULL ? remedy.data : "");
    bn_buf_done(&remedy);
    break;
  case BN_EXCESS_TIME:
    bn_log_note("%s: to prepare all of them before the run takes about %.0f s, more than %.0f s; "
                "to do so, use --db-prepare=eager",
                consequence, (double)cost->rest_ns * 1e-9, (double)cost->most_ns * 1e-9);
    break;
  }
}

/* Returns the need for prepared statements, to be compared with the server's limit.  Only
   --db-prepare=eager surely needs them all.  If they are prepared ahead, other clients are left
   half of the statements that the server still allows, so the remedy reserves as many again. */
static struct bn_limit_check preflight_statements_demand(const struct bn_sql_preflight *p,
                                                         const struct bn_session *s,
                                                         const struct bn_sql_expected *e)
{
  const int64_t needed = preflight_threads_of(p, s) * (int64_t)e->in_all;
  const bool is_eager = e->way == BN_SQL_PREPARE_EAGER;

  return (struct bn_limit_check){
      .what = "prepared statements",
      .by = "the server",
      .remedy = p->info.raise_statements,
      .instead = is_eager ? "use --db-ps-mode=disable"
                          : "use --db-ps-mode=disable; the statements that the server refuses are "
                            "sent as text",
      .needed = needed,
      .allowed = p->asked ? p->info.max_prepared_statements : -1, /* -1: without limit */
      .others = p->info.prepared_statements,
      .reserved = preflight_may_prepare_ahead(e) ? needed : 0,
      .certain = is_eager,
  };
}

/* Decides when the statements are prepared that the script does not prepare at its start.  Before
   the events is best, because no latency includes it then.  --db-prepare=auto leaves them to the
   events if they are too many or too large a share of those that the server still allows, or take
   too long, and says so on standard error. */
static enum bn_sql_rest preflight_choose_rest(const struct bn_sql_preflight *p,
                                              const struct bn_session *s,
                                              const struct bn_sql_expected *e)
{
  const struct bn_limit_check demand = preflight_statements_demand(p, s, e);
  const enum bn_judgement judgement = bn_limit_check_log(&demand);
  struct bn_sql_cost cost;
  enum bn_sql_excess excess;

  if (judgement == BN_REFUSED)
    return BN_SQL_REST_REFUSED;
  if (e->way != BN_SQL_PREPARE_AUTO)
    return e->way == BN_SQL_PREPARE_EAGER ? BN_SQL_REST_NOW : BN_SQL_REST_LATER;
  if (e->in_all == e->at_start) /* nothing is left to prepare */
    return BN_SQL_REST_NOW;
  if (judgement != BN_ENOUGH)
    return BN_SQL_REST_LATER;
  cost = preflight_cost_of(p, s, e);
  excess = bn_sql_preflight_find_excess(&cost);
  if (excess == BN_EXCESS_NONE)
    return BN_SQL_REST_NOW;
  preflight_log_excess(p, &cost, excess);
  return BN_SQL_REST_LATER;
}

enum bn_sql_rest bn_sql_preflight_judge_statements(struct bn_sql_preflight *p,
                                                   const struct bn_session *s,
                                                   const struct bn_sql_expected *e)
{
  if (!p->statements_judged)
    p->rest = preflight_choose_rest(p, s, e);
  p->statements_judged = true;
  return p->rest;
}

bool bn_sql_preflight_is_lazy(struct bn_sql_preflight *p)
{
  bool lazy;

  if (!bn_sql_preflight_lock(p))
    return false;
  lazy = p->statements_judged && p->rest == BN_SQL_REST_LATER;
  bn_sql_preflight_unlock(p);
  return lazy;
}
