/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the counters of the span once, and subtracts baselines from them. */
#include "engine/span_end.h"

#include <stdlib.h>

#include "base/alloc.h"

void bn_span_end_init(struct bn_span_end *e, const struct bn_statset *stats)
{
  e->stats = stats;
  e->counter = bn_alloc(stats->metrics.n_counters, sizeof *e->counter);
  e->rated = bn_alloc(stats->metrics.n_counters, sizeof *e->rated);
  e->at_ns = 0;
}

void bn_span_end_done(struct bn_span_end *e)
{
  free(e->counter);
  free(e->rated);
}

void bn_span_end_count(struct bn_span_end *e, uint64_t end_ns, uint64_t now_ns)
{
  if (e->at_ns != 0)
    return;
  if (e->stats->sample != NULL)
    e->stats->sample(e->stats->sampled, e->counter);
  e->at_ns = bn_snap_raise_counters(e->counter, e->stats, end_ns, now_ns);
}

void bn_span_end_count_anew(struct bn_span_end *e, uint64_t end_ns, uint64_t now_ns)
{
  bn_span_end_count(e, end_ns, now_ns); /* looks up the workload's counters */
  e->at_ns = bn_snap_raise_counters(e->counter, e->stats, end_ns, now_ns);
}

void bn_span_end_set_rates(struct bn_span_end *e, const struct bn_snap *base,
                           struct bn_view_rules *rules)
{
  for (size_t i = 0; i < e->stats->metrics.n_counters; i++) {
    const bool is_absent = e->counter[i] == BN_ABSENT || base->counter[i] == BN_ABSENT;

    e->rated[i] = is_absent ? BN_ABSENT : e->counter[i] - base->counter[i];
  }
  if (e->at_ns > base->at_ns) {
    rules->rated = e->rated;
    rules->rated_s = (double)(e->at_ns - base->at_ns) * 1e-9;
  }
}
