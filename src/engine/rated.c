/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts events and statements up to the end of the span, or as soon after it as possible. */
#include "engine/rated.h"

#include <stdlib.h>

int bn_rated_init(struct bn_rated *r, const struct bn_statset *stats)
{
  *r = (struct bn_rated){.stats = stats,
                         .counter = calloc(stats->metrics.n_counters + 1, sizeof *r->counter)};
  (void)pthread_mutex_init(&r->lock, NULL);
  return r->counter != NULL ? 0 : -1;
}

void bn_rated_done(struct bn_rated *r)
{
  if (r->stats == NULL)
    return;
  free(r->counter);
  (void)pthread_mutex_destroy(&r->lock);
  *r = (struct bn_rated){.stats = NULL};
}

/* The caller holds the lock.  Devices are looked up once, without activity after the span. */
static void rated_count(struct bn_rated *r, uint64_t end_ns, uint64_t now_ns)
{
  if (r->at_ns == 0 && r->stats->sample != NULL)
    r->stats->sample(r->stats->sampled, r->counter);
  r->at_ns = bn_snap_count(r->counter, r->stats, end_ns, now_ns);
}

void bn_rated_count(struct bn_rated *r, uint64_t end_ns, uint64_t now_ns)
{
  (void)pthread_mutex_lock(&r->lock);
  if (r->at_ns == 0)
    rated_count(r, end_ns, now_ns);
  (void)pthread_mutex_unlock(&r->lock);
}

void bn_rated_settle(struct bn_rated *r, const struct bn_snap *base, const struct bn_moment *m,
                     uint64_t late, struct bn_view_rules *rules)
{
  bool known;

  (void)pthread_mutex_lock(&r->lock);
  if ((r->at_ns == 0 || late == 0) && !m->abandoned)
    rated_count(r, m->now_ns, m->looped_ns);
  known = r->at_ns > base->at_ns;
  for (size_t i = 0; known && i < r->stats->metrics.n_counters; i++)
    if (r->counter[i] != BN_ABSENT)
      r->counter[i] -= base->counter[i];
  rules->rated = known ? r->counter : NULL;
  rules->rated_s = known ? (double)(r->at_ns - base->at_ns) * 1e-9 : 0;
  (void)pthread_mutex_unlock(&r->lock);
}
