/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up the snapshots of several parts and computes the figures of the sum. */
#include "measure/merged_view.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void bn_merged_view_done(struct bn_merged_view *v)
{
  bn_hist_free(v->ages);
  bn_view_store_done(&v->store);
  bn_snap_done(&v->snap);
}

/* --- snapshots -------------------------------------------------------------------------------- */

/* Marks the sums of counters of devices as absent: several parts may have counted the same
   device. */
static void merged_view_forget_devices(struct bn_snap *s)
{
  for (size_t i = 0; i < s->metrics.n_counters; i++)
    if (s->metrics.counter[i].merge == BN_MERGE_NONE)
      s->counter[i] = BN_ABSENT;
}

/* Returns how many rows of statements the sum has room for: the most that there can be, or 0 if no
   part has statements. */
static size_t merged_view_statement_room(const struct bn_views *parts)
{
  for (size_t i = 0; i < parts->n; i++)
    if (parts->view[i]->delta->statements.n > 0)
      return BN_STATEMENTS_ROWS;
  return 0;
}

/* Returns the metrics of the sum: those of the part that has the most, because other parts may lack
   the last histogram, the lag of pauses. */
static const struct bn_metrics *merged_view_find_metrics(const struct bn_views *parts)
{
  const struct bn_metrics *largest = &parts->view[0]->delta->metrics;

  for (size_t i = 1; i < parts->n; i++)
    if (parts->view[i]->delta->metrics.n_hists > largest->n_hists)
      largest = &parts->view[i]->delta->metrics;
  return largest;
}

int bn_merged_view_add(struct bn_merged_view *v, const struct bn_views *parts, unsigned sessions,
                       struct bn_err *err)
{
  unsigned n_placed = 0; /* sessions of the parts before */

  bn_snap_init_for_metrics(&v->snap, merged_view_find_metrics(parts), sessions,
                           true /* histograms */);
  bn_statement_table_init(&v->snap.statements, merged_view_statement_room(parts),
                          true /* histograms */);
  bn_view_store_init(&v->store, &v->snap);
  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_snap *part = parts->view[i]->delta;

    if (bn_snap_merge(&v->snap, part, n_placed) != 0)
      return bn_sum_refuse(err);
    n_placed += part->n_sessions;
  }
  if (parts->n > 1)
    merged_view_forget_devices(&v->snap);
  return 0;
}

/* Adds the ages of unfinished events of a part.  A document may lack the ages: then one event gets
   that of the oldest, and the others 0, so that no percentile is too high.  Returns false if the
   number of ages does not fit into 64 bits. */
static bool merged_view_put_ages(struct bn_hist *ages, const struct bn_view *v)
{
  const bool has_unfinished = v->unfinished != UINT64_MAX && v->unfinished > 0;

  if (v->ages != NULL) {
    if (!bn_hist_sum_fits(ages, v->ages))
      return false;
    bn_hist_add(ages, v->ages);
  } else if (has_unfinished) {
    if (v->unfinished > UINT64_MAX - bn_hist_count(ages))
      return false;
    bn_hist_put(ages, bn_view_seconds_to_ns(v->oldest_s), 1);
    bn_hist_put(ages, 0, v->unfinished - 1);
  }
  return true;
}

int bn_merged_view_add_ages(struct bn_merged_view *v, const struct bn_views *parts,
                            struct bn_err *err)
{
  v->ages = bn_hist_new();
  for (size_t i = 0; i < parts->n; i++)
    if (!merged_view_put_ages(v->ages, parts->view[i]))
      return bn_sum_refuse(err);
  /* Percentiles count latencies and ages together. */
  if (!bn_hist_sum_fits(v->ages, v->snap.hist[BN_H_LATENCY]))
    return bn_sum_refuse(err);
  if (bn_hist_count(v->ages) == 0) {
    bn_hist_free(v->ages);
    v->ages = NULL;
  }
  return 0;
}

/* --- intervals -------------------------------------------------------------------------------- */

/* Sums timing k, which is that of `hist`, from the figures of the parts.  Its deviation does not
   follow from them, and is not known.  A count beyond 64 bits, as in a wrong document, is cut. */
static void merged_view_sum_timing(struct bn_timing *t, const struct bn_metric *hist,
                                   const struct bn_views *parts, size_t k)
{
  *t = bn_view_timing_of(hist);
  t->min_s = HUGE_VAL; /* above that of any part */
  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_view *v = parts->view[i];
    const struct bn_timing *part;

    if (k >= v->n_timings || v->timings[k].count == 0)
      continue;
    part = &v->timings[k];
    t->count = part->count < UINT64_MAX - t->count ? t->count + part->count : UINT64_MAX;
    t->sum_s += part->sum_s;
    t->min_s = fmin(t->min_s, part->min_s);
    t->max_s = fmax(t->max_s, part->max_s);
  }
  t->avg_s = bn_view_mean(t->sum_s, t->count);
  t->dev_s = HUGE_VAL; /* not known */
}

/* Computes the latencies from the figures of the parts, of which not all have histograms.
   Percentiles and deviations do not follow from these figures, and are not known (HUGE_VAL). */
static void merged_view_sum_latencies(struct bn_merged_view *s, const struct bn_views *parts)
{
  struct bn_view *v = &s->view;

  v->min_s = HUGE_VAL;
  v->median_s = v->dev_s = v->lag_p50_s = v->lag_p99_s = HUGE_VAL;
  v->sum_s = v->max_s = v->lag_max_s = 0;
  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_view *part = parts->view[i];

    v->sum_s += part->sum_s;
    v->lag_max_s = fmax(v->lag_max_s, part->lag_max_s);
    if (part->events == 0)
      continue;
    v->min_s = fmin(v->min_s, part->min_s);
    v->max_s = fmax(v->max_s, part->max_s);
  }
  v->avg_s = bn_view_mean(v->sum_s, v->counter[BN_C_EVENTS]);
  for (size_t k = 0; k < v->n_timings; k++)
    merged_view_sum_timing(&s->store.timing[k], &s->snap.metrics.hist[BN_H_FIXED + k], parts, k);
  bn_view_settle(v, &s->store);
}

bool bn_merged_view_has_hists(const struct bn_views *parts)
{
  for (size_t i = 0; i < parts->n; i++)
    if (parts->view[i]->delta->sparse == NULL && parts->view[i]->delta->hist[BN_H_LATENCY] == NULL)
      return false;
  return true;
}

/* Returns the rules of the sum of intervals or ticks, of which each was filled with part_rules.
   Without histograms there are no percentiles.  A tick may be made after the end of the span that
   its rates are of, so the span of summed ticks is the longest of the parts. */
static struct bn_view_rules merged_view_rules_of(const struct bn_view_rules *part_rules,
                                                 const struct bn_views *parts,
                                                 enum bn_view_span span, bool has_hists)
{
  struct bn_view_rules rules = *part_rules;

  rules.in_span = span == BN_VIEW_INTERVAL;
  if (!has_hists)
    rules.n_percents = 0;
  if (span == BN_VIEW_TICK)
    for (size_t i = 0; i < parts->n; i++)
      rules.span_s = fmax(rules.span_s, parts->view[i]->span_s);
  return rules;
}

/* The snapshots are added first, and the figures computed from their sum.  The latencies of parts
   without histograms, and the figures that no counter determines, are summed from the views. */
int bn_merged_view_make(struct bn_merged_view *v, const struct bn_views *parts,
                        struct bn_hist *const *hists, const struct bn_view_rules *how,
                        const struct bn_merge_time *t, struct bn_err *err)
{
  const bool has_hists = hists != NULL || bn_merged_view_has_hists(parts);
  const struct bn_view_rules rules = merged_view_rules_of(how, parts, t->span, has_hists);

  if (bn_merged_view_add(v, parts, 0 /* sessions */, err) != 0)
    return -1;
  for (size_t i = 0; hists != NULL && i < v->snap.metrics.n_hists; i++)
    bn_hist_add(v->snap.hist[i], hists[i]);
  v->snap.span_ns = t->span_ns;
  v->snap.at_ns = t->at_ns;
  v->snap.wall_ns = t->wall_ns;
  bn_view_fill(&v->view, &v->store, &v->snap, &rules);
  v->view.span = t->span;
  v->view.at_s = t->at_s;
  if (!has_hists)
    merged_view_sum_latencies(v, parts);
  if (bn_sum_complete_view(&v->view, parts, err) != 0)
    return -1;
  bn_sum_figures(&v->view, &v->store, parts);
  return 0;
}
