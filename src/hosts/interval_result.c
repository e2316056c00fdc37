/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a result of the ticks of a host that was lost. */
#include <errno.h>

#include "hosts/interval_merge.h"
#include "measure/journal.h"

/* Adds the total to the result of a lost host: the view v, but with the counters and histograms of
   `all`. */
static void intervals_make_cut_result(const struct bn_intervals_host *h, const struct bn_snap *all,
                                      const struct bn_view *v, struct bn_result *out)
{
  struct bn_view total = *v;

  total.delta = all;
  total.latency = all->hist[BN_H_LATENCY];
  bn_journal_complete_cut(out, h->spec.name, &total);
  bn_result_escape(out);
}

/* Copies the figures of a tick that do not follow from a snapshot, which are those that
   reports_complete_view() of the engine sets. */
static void intervals_copy_instant(struct bn_view *v, const struct bn_view *tick)
{
  v->kind = tick->kind;
  v->at_s = tick->at_s;
  v->failed_threads = tick->failed_threads;
  v->paced = tick->paced;
  v->backlog = tick->backlog;
  v->concurrency = tick->concurrency;
  v->oldest_s = tick->oldest_s;
  v->unfinished = tick->unfinished;
  v->span = BN_VIEW_TICK;
}

/* Moves the start of the run back by a time, unless a clock would come to 0 or less. */
static void intervals_move_start(struct bn_facts *f, uint64_t by_ns)
{
  f->start_ns -= by_ns < f->start_ns ? by_ns : 0;
  f->start_wall_ns -= by_ns < f->start_wall_ns ? by_ns : 0;
}

/* Returns whether a counter is less than at the base, so that their difference would wrap. */
static bool intervals_have_counters_decreased(const struct bn_snap *now, const struct bn_snap *base)
{
  for (size_t i = 0; i < BN_C_FIXED; i++)
    if (now->counter[i] < base->counter[i])
      return true;
  return false;
}

/* Makes the result of a lost host of the time since h->base.  It lacks the statistics of sessions
   and the extremes, which are known only since the start.  bn_journal_complete_cut() takes that
   time for the whole run, so the start is moved back to where it was.  Returns 1, or -1 and err if
   the figures make no sense. */
static int intervals_cut_since_checkpoint(const struct bn_intervals_host *h, struct bn_result *out,
                                          struct bn_err *err)
{
  const struct bn_view *tick = &h->tick.view;
  struct bn_view_rules rules = {.percents = tick->percents, .n_percents = tick->n_percents};
  struct bn_view_store store;
  struct bn_snap since;
  struct bn_view v;
  int rc;

  bn_snap_init_for_metrics(&since, &tick->delta->metrics, 0, true /* histograms */);
  bn_snap_copy(&since, &h->tick.delta);
  bn_snap_subtract(&since, &h->base);
  for (size_t i = 0; h->ticked.hist != NULL && i < h->ticked.n; i++)
    bn_hist_add(since.hist[i], h->ticked.hist[i]);
  since.min_ns = UINT64_MAX;
  since.max_ns = 0;
  rules.span_s = tick->span_s - (double)(h->tick.delta.span_ns - since.span_ns) * 1e-9;
  bn_view_store_init(&store, &since);
  bn_view_fill(&v, &store, &since, &rules);
  intervals_copy_instant(&v, tick);
  rc = bn_valid_check_view(&h->spec, &v, err);
  if (rc == 0) {
    intervals_make_cut_result(h, &since, &v, out);
    if (h->tick.delta.span_ns > since.span_ns)
      intervals_move_start(&out->facts, h->tick.delta.span_ns - since.span_ns);
  }
  bn_view_store_done(&store);
  bn_snap_done(&since);
  return rc == 0 ? 1 : -1;
}

int bn_intervals_make_result(const struct bn_intervals *r, size_t host, struct bn_result *out,
                             struct bn_err *err)
{
  const struct bn_intervals_host *h = &r->host[host];
  struct bn_snap all = h->tick.delta; /* borrows what the tick owns */

  /* Without a tick after the last checkpoint, nothing is known of the time after it. */
  if (h->ticks == 0 || h->needs_base || (h->has_base && all.at_ns <= h->base.at_ns))
    return 0;
  if (h->has_base && intervals_have_counters_decreased(&all, &h->base))
    return bn_err_set(err, EPROTO, "its figures have become less");
  if (h->has_base)
    return intervals_cut_since_checkpoint(h, out, err);
  all.hist = h->ticked.hist;
  intervals_make_cut_result(h, &all, &h->tick.view, out);
  return 1;
}
