/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events in which a statement was prepared because it was used for the first time: how many. */
#include "sql/lazy_prepare.h"

#include "base/log.h"
#include "measure/stat.h"

/* Of the event in flight, from 1.  One that is repeated has the same number again. */
static uint64_t number_of(const struct bn_session *s)
{
  return bn_stat_get(&s->stat->counter[BN_C_EVENTS]) + bn_stat_get(&s->stat->failed) + 1;
}

/* The event in flight was begun in it, or was due in it. */
static bool is_warm(const struct bn_stat *st)
{
  return bn_stat_get(&st->begun_at) - bn_stat_get(&st->ended_at) < st->counts_from_ns;
}

void bn_sql_lazy_prepare_note(struct bn_sql_lazy_prepare *u, const struct bn_session *s)
{
  const uint64_t event = number_of(s);

  if (!atomic_load_explicit(&s->stat->running, memory_order_relaxed) || event == u->event ||
      is_warm(s->stat))
    return;
  u->event = event;
  u->paid++;
}

void bn_sql_lazy_prepare_add(struct bn_sql_first_uses *all, const struct bn_sql_lazy_prepare *u,
                             struct bn_session *s)
{
  /* The last one may have been dropped. */
  const bool unfinished = u->paid > 0 && u->event == number_of(s);

  (void)atomic_fetch_add(&all->paid, u->paid - unfinished);
  (void)atomic_fetch_add(&all->events,
                         s->services->counted_events(s) + bn_stat_get(&s->stat->failed));
}

void bn_sql_lazy_prepare_tell(const struct bn_sql_first_uses *all)
{
  const uint64_t paid = atomic_load(&all->paid), events = atomic_load(&all->events);

  if (paid == 0 || events == 0)
    return;
  bn_log_hint("%llu of %llu events (%.3g %%) include the preparation of a statement, because a "
              "session used it for the first time (--db-prepare)",
              (unsigned long long)paid, (unsigned long long)events,
              100.0 * (double)paid / (double)events);
}
