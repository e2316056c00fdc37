/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the counters of the span once, and subtracts baselines from them. */
#include "engine/span_end.h"

#include <stdlib.h>

#include "base/alloc.h"

void bn_span_end_init(struct bn_span_end *e, const struct bn_statset *stats)
{
  (void)pthread_mutex_init(&e->lock, NULL);
  e->stats = stats;
  e->counter = bn_alloc(stats->metrics.n_counters, sizeof *e->counter);
  e->rated = bn_alloc(stats->metrics.n_counters, sizeof *e->rated);
  e->at_ns = 0;
}

void bn_span_end_done(struct bn_span_end *e)
{
  (void)pthread_mutex_destroy(&e->lock);
  free(e->counter);
  free(e->rated);
}

void bn_span_end_count(struct bn_span_end *e, uint64_t end_ns, uint64_t now_ns)
{
  (void)pthread_mutex_lock(&e->lock);
  if (e->at_ns == 0) {
    if (e->stats->sample != NULL)
      e->stats->sample(e->stats->sampled, e->counter);
    e->at_ns = bn_snap_raise_counters(e->counter, e->stats, end_ns, now_ns);
  }
  (void)pthread_mutex_unlock(&e->lock);
}

void bn_span_end_count_anew(struct bn_span_end *e, uint64_t end_ns, uint64_t now_ns)
{
  /* Looks up the workload's counters if that was not done before. */
  bn_span_end_count(e, end_ns, now_ns);
  (void)pthread_mutex_lock(&e->lock);
  e->at_ns = bn_snap_raise_counters(e->counter, e->stats, end_ns, now_ns);
  (void)pthread_mutex_unlock(&e->lock);
}

bool bn_span_end_is_counted(struct bn_span_end *e)
{
  bool is_counted;

  (void)pthread_mutex_lock(&e->lock);
  is_counted = e->at_ns != 0;
  (void)pthread_mutex_unlock(&e->lock);
  return is_counted;
}

void bn_span_end_set_rates(struct bn_span_end *e, const struct bn_snap *base,
                           struct bn_view_rules *rules)
{
  (void)pthread_mutex_lock(&e->lock);
  for (size_t i = 0; i < e->stats->metrics.n_counters; i++) {
    const bool is_absent = e->counter[i] == BN_ABSENT || base->counter[i] == BN_ABSENT;

    e->rated[i] = is_absent ? BN_ABSENT : e->counter[i] - base->counter[i];
  }
  if (e->at_ns > base->at_ns) {
    rules->rated = e->rated;
    rules->rated_s = (double)(e->at_ns - base->at_ns) * 1e-9;
  }
  (void)pthread_mutex_unlock(&e->lock);
}
