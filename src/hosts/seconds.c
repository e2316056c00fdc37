/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subtracts what there was a second ago. */
#include "hosts/seconds.h"

/* What is left of a second after hosts were held up goes to the next one. */
static const double least_s = 0.5;

static int seconds_make(struct bn_seconds *s, const struct bn_view *tick, uint64_t begin_ns)
{
  s->made = true;
  if (bn_snap_make(&s->base, &tick->delta->metrics, 0, true) != 0 ||
      bn_snap_make(&s->delta, &tick->delta->metrics, 0, true) != 0 ||
      bn_view_store_init(&s->store, &s->delta) != 0)
    return -1;
  s->base.at_ns = begin_ns;
  return 0;
}

int bn_seconds_judge(struct bn_seconds *s, struct bn_asserts *asserts, const struct bn_view *tick,
                     const struct bn_view_rules *rules, uint64_t begin_ns,
                     const struct bn_assert **out)
{
  struct bn_view v;

  *out = NULL;
  if (!s->made && seconds_make(s, tick, begin_ns) != 0)
    return -1;
  bn_snap_copy(&s->delta, tick->delta);
  bn_snap_diff(&s->delta, &s->base);
  bn_view_fill(&v, &s->store, &s->delta, rules);
  if (v.span_s < least_s)
    return 0;
  v.span = BN_VIEW_TICK;
  v.kind = tick->kind;
  v.at_s = tick->at_s;
  v.paced = tick->paced;
  v.backlog = tick->backlog;
  v.concurrency = tick->concurrency;
  v.oldest_s = tick->oldest_s;
  *out = bn_asserts_second(asserts, &v, rules);
  bn_snap_copy(&s->base, tick->delta);
  return 0;
}

void bn_seconds_done(struct bn_seconds *s)
{
  if (!s->made)
    return;
  bn_view_store_done(&s->store);
  bn_snap_done(&s->delta);
  bn_snap_done(&s->base);
  s->made = false;
}
