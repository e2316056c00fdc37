/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a result of the ticks of a host that was lost. */
#include <errno.h>

#include "hosts/interval_merge.h"
#include "measure/journal.h"

/* Makes the result of a lost host from its last tick.  Returns 1. */
static int intervals_cut(const struct bn_intervals_host *h, const struct bn_snap *all,
                         const struct bn_view *v, struct bn_result *out)
{
  struct bn_view total = *v;

  total.delta = all;
  total.latency = all->hist[BN_H_LATENCY];
  bn_journal_cut(out, h->as.name, &total);
  bn_result_escape(out);
  return 1;
}

/* Copies the figures that do not follow from a snapshot. */
static void intervals_copy_state(struct bn_view *v, const struct bn_view *tick)
{
  v->kind = tick->kind;
  v->at_s = tick->at_s;
  v->paced = tick->paced;
  v->backlog = tick->backlog;
  v->concurrency = tick->concurrency;
  v->oldest_s = tick->oldest_s;
  v->unfinished = tick->unfinished;
  v->span = BN_VIEW_TICK;
}

/* Moves the start of the run to before the time that its figures are of. */
static void intervals_move_start(struct bn_facts *f, uint64_t earlier_ns)
{
  f->start_ns -= earlier_ns < f->start_ns ? earlier_ns : 0;
  f->start_wall_ns -= earlier_ns < f->start_wall_ns ? earlier_ns : 0;
}

/* Returns whether a counter has become less, so that the difference would not be a count. */
static bool intervals_have_decreased(const struct bn_snap *now, const struct bn_snap *base)
{
  bool less = false;

  for (size_t i = 0; i < BN_C_FIXED; i++)
    less |= now->counter[i] < base->counter[i];
  return less;
}

/* Makes the result of a lost host since its last checkpoint.  It lacks the statistics of sessions,
   and extremes, which are known only since the beginning. */
static int intervals_cut_since_base(const struct bn_intervals_host *h, struct bn_result *out,
                                    struct bn_err *err)
{
  const struct bn_view *tick = &h->tick.view;
  const struct bn_view_rules rules = {.percents = tick->percents, .n_percents = tick->n_percents};
  struct bn_view_store store;
  struct bn_snap since;
  struct bn_view v;
  int rc = -1;

  bn_snap_make(&since, &tick->delta->metrics, 0, true);
  bn_snap_copy(&since, &h->tick.delta);
  bn_snap_diff(&since, &h->base);
  for (size_t i = 0; h->ticked.hist != NULL && i < h->ticked.n; i++)
    bn_hist_add(since.hist[i], h->ticked.hist[i]);
  since.min_ns = UINT64_MAX;
  since.max_ns = 0;
  bn_view_store_init(&store, &since);
  bn_view_fill(&v, &store, &since, &rules);
  intervals_copy_state(&v, tick);
  rc = bn_valid_check(&h->as, &v, err) == 0 ? intervals_cut(h, &since, &v, out) : -1;
  if (rc > 0 && h->tick.delta.span_ns > since.span_ns)
    intervals_move_start(&out->facts, h->tick.delta.span_ns - since.span_ns);
  bn_view_store_done(&store);
  bn_snap_done(&since);
  return rc;
}

int bn_intervals_result(const struct bn_intervals *r, size_t host, struct bn_result *out,
                        struct bn_err *err)
{
  const struct bn_intervals_host *h = &r->host[host];
  struct bn_snap all = h->tick.delta;

  /* A checkpoint without a tick after it: nothing is known of the time after it. */
  if (h->ticks == 0 || h->cut || (h->based && all.at_ns <= h->base.at_ns))
    return 0;
  if (h->based && intervals_have_decreased(&all, &h->base))
    return bn_err_set(err, EPROTO, "its figures have become less");
  if (h->based)
    return intervals_cut_since_base(h, out, err);
  all.hist = h->ticked.hist;
  return intervals_cut(h, &all, &h->tick.view, out);
}
