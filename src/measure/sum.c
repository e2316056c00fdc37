/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums, extremes and weighted means of figures. */
#include "measure/sum.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "api/metric.h"
#include "measure/event_kinds.h"
#include "measure/phases.h"

int bn_sum_refuse(struct bn_err *err)
{
  return bn_err_set(err, EOVERFLOW, "the counts of the results do not fit into 64 bits");
}

/* --- figures of views ------------------------------------------------------------------------- */

/* Returns whether a time or a rate can be summed: a document may have any number. */
static bool sum_is_summable(double x)
{
  return isfinite(x) && x >= 0;
}

/* Returns whether the moments can be summed. */
static bool sum_are_finite(const struct bn_moments *m)
{
  return isfinite(m->n) && isfinite(m->sum) && isfinite(m->sum_sq);
}

/* A quarter of the range, because up to three of the counts are added to one figure: queries are
   reads, writes and other statements. */
uint64_t bn_sum_largest_count(size_t n)
{
  return UINT64_MAX / 4 / n;
}

bool bn_sum_fits(const struct bn_view *v, size_t n)
{
  const uint64_t most = bn_sum_largest_count(n);
  bool fits = bn_snap_fits(v->delta, most) && v->delta->running <= UINT_MAX / n &&
              sum_are_finite(&v->delta->fair_events) && sum_are_finite(&v->delta->fair_busy_s) &&
              sum_is_summable(v->span_s) && sum_is_summable(v->at_s) &&
              (v->ages == NULL || bn_hist_has_at_most(v->ages, most));

  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (f->type == BN_VIEW_U64)
      fits &= bn_snap_is_within(bn_view_u64(v, f), most);
    else if (f->rule == BN_RULE_LONGEST || bn_view_is_rate(f))
      fits &= sum_is_summable(bn_view_value(v, f));
  return fits;
}

/* Adds up a count of all parts.  If a part does not know it, the sum is not known.  Returns 0, or
   -1 and err. */
static int sum_count(uint64_t *sum, const struct bn_views *parts, const struct bn_view_field *f,
                     struct bn_err *err)
{
  *sum = 0;
  for (size_t i = 0; i < parts->n; i++) {
    const uint64_t n = bn_view_u64(parts->view[i], f);

    if (n == BN_ABSENT) {
      *sum = BN_ABSENT;
      return 0;
    }
    if (n >= BN_ABSENT - *sum) /* the sum would be BN_ABSENT or more */
      return bn_sum_refuse(err);
    *sum += n;
  }
  return 0;
}

/* Returns the largest value of a figure. */
static double sum_find_longest(const struct bn_views *parts, const struct bn_view_field *f)
{
  double longest = 0;

  for (size_t i = 0; i < parts->n; i++)
    longest = fmax(longest, bn_view_value(parts->view[i], f));
  return longest;
}

/* Returns the sum of a rate per second of span_s.  A part counted its rate times its span; its
   counter cannot be used, because that has also counted in the grace. */
static double sum_rate(const struct bn_views *parts, const struct bn_view_field *f, double span_s)
{
  double sum = 0;

  for (size_t i = 0; i < parts->n; i++)
    sum += bn_view_value(parts->view[i], f) * (parts->view[i]->span_s / span_s);
  return sum;
}

/* Sums the figures that do not follow from the sum of the snapshots, by their rules.  Returns 0, or
   -1 and err. */
static int sum_fields(struct bn_view *v, const struct bn_views *parts, struct bn_err *err)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    switch (f->rule) {
    case BN_RULE_COMPUTED:
    case BN_RULE_STATISTIC:
    case BN_RULE_COUNTER:
      break;
    case BN_RULE_RATE:
      *bn_view_f64_at(v, f->offset) = sum_rate(parts, f, v->span_s);
      break;
    case BN_RULE_SUM:
      if (sum_count(bn_view_u64_at(v, f->offset), parts, f, err) != 0)
        return -1;
      break;
    case BN_RULE_LONGEST:
      *bn_view_f64_at(v, f->offset) = sum_find_longest(parts, f);
      break;
    }
  return 0;
}

/* Returns whether all views tell the parts of their run, such as its set-up, apart. */
static bool sum_all_have_parts(const struct bn_views *views)
{
  for (size_t i = 0; i < views->n; i++)
    if (!bn_view_has_parts(views->view[i]))
      return false;
  return true;
}

/* If a view does not know the figures of the parts of its run, sets them to 0 in the sum, which
   bn_view_has_parts() takes for unknown. */
static void sum_clear_run_parts(struct bn_view *v, const struct bn_views *views)
{
  if (sum_all_have_parts(views))
    return;
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++) {
    if ((f->traits & BN_FIGURE_PARTS) == 0)
      continue;
    if (f->type == BN_VIEW_U64)
      *bn_view_u64_at(v, f->offset) = 0;
    else
      *bn_view_f64_at(v, f->offset) = 0;
  }
}

int bn_sum_view(struct bn_view *v, const struct bn_views *parts, struct bn_err *err)
{
  if (sum_fields(v, parts, err) != 0)
    return -1;
  v->running = 0;
  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_view *part = parts->view[i];

    v->running = part->running < UINT_MAX - v->running ? v->running + part->running : UINT_MAX;
    v->kind = part->kind > v->kind ? part->kind : v->kind;
    v->paced |= part->paced;
    v->replaced |= part->replaced;
    v->max_at_least |= part->max_at_least;
  }
  v->served = bn_view_served_share(v->finished, v->due);
  sum_clear_run_parts(v, parts);
  return 0;
}

/* --- figures of workloads --------------------------------------------------------------------- */

/* Returns the figure of a workload that has that name, or NULL. */
static const struct bn_figure *sum_find_figure(const struct bn_view *v, const char *key)
{
  for (size_t i = 0; i < v->n_figures; i++)
    if (strcmp(v->figures[i].key, key) == 0)
      return &v->figures[i];
  return NULL;
}

/* Returns the weight of a part's figure in that of the sum: for a rate the part's share of the
   time, for a mean its share of what the counter f->weight counts, or 0 if nothing was counted. */
static double sum_weight_of(const struct bn_view *sum, const struct bn_view *part,
                            const struct bn_figure *f)
{
  if (f->merge == BN_MERGE_RATE)
    return part->span_s / sum->span_s;
  if (f->weight >= sum->delta->metrics.n_counters || sum->counter[f->weight] == 0)
    return 0;
  return (double)part->counter[f->weight] / (double)sum->counter[f->weight];
}

/* Sums a rate or a mean of a workload.  A part that lacks a mean has counted nothing for it.
   Returns false if the sum is not known: the figure has another rule, or a part lacks the rate. */
static bool sum_figure(const struct bn_view *sum, const struct bn_views *parts, struct bn_figure *f)
{
  if (f->merge != BN_MERGE_RATE && f->merge != BN_MERGE_MEAN)
    return false;
  f->value = 0;
  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_figure *part = sum_find_figure(parts->view[i], f->key);

    if (part == NULL && f->merge == BN_MERGE_RATE)
      return false;
    if (part != NULL)
      f->value += part->value * sum_weight_of(sum, parts->view[i], f);
  }
  return true;
}

/* Sums the rates of a script's counts, as sum_rate() does; the counts follow from the snapshots. */
static void sum_counts(const struct bn_view *v, struct bn_view_store *store,
                       const struct bn_views *parts)
{
  for (size_t k = 0; k < v->n_counts; k++) {
    double sum = 0;

    for (size_t i = 0; i < parts->n; i++)
      if (k < parts->view[i]->n_counts)
        sum += parts->view[i]->counts[k].per_s * (parts->view[i]->span_s / v->span_s);
    store->count[k].per_s = sum;
  }
}

/* Sums the rates of the kinds of events, as sum_rate() does. */
static void sum_event_kinds(const struct bn_view *v, struct bn_view_store *store,
                            const struct bn_views *parts)
{
  for (size_t k = 0; k < v->n_event_kinds; k++) {
    double sum = 0;

    for (size_t i = 0; i < parts->n; i++)
      if (k < parts->view[i]->n_event_kinds)
        sum += parts->view[i]->event_kinds[k].events_per_s * (parts->view[i]->span_s / v->span_s);
    store->event_kind[k].events_per_s = sum;
  }
}

/* Returns the only part that has events of the group with timing k, or NULL if none or several
   parts have some. */
static const struct bn_view *sum_find_only_part(const struct bn_views *parts, size_t k)
{
  const struct bn_view *found = NULL;

  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_view *part = parts->view[i];
    const bool has_events =
        k < part->n_timings && (part->timings[k].count > 0 || part->timings[k].unfinished > 0);

    if (!has_events)
      continue;
    if (found != NULL)
      return NULL;
    found = part;
  }
  return found;
}

/* Copies the latencies of a group, with its n percentiles, from the only part that has events of
   the group: that part has computed them with the ages of its unfinished events.  The other members
   of t follow from the histogram. */
static void sum_copy_group(struct bn_timing *t, double *percentile_s, const struct bn_timing *from,
                           size_t n)
{
  t->min_s = from->min_s;
  t->max_s = from->max_s;
  t->unfinished = from->unfinished;
  t->at_least = from->at_least;
  memcpy(percentile_s, from->percentile_s, n * sizeof *percentile_s);
}

/* Adds the unfinished events that the parts have in timing k to t, the same timing of the total.
   The maximum of such a part counts their ages, so t's maximum rises to it.  A number that is too
   large is left out: a document may have any. */
static void sum_add_unfinished(struct bn_timing *t, const struct bn_views *parts, size_t k)
{
  const uint64_t bound = UINT64_MAX / 2; /* so that no later sum overflows */

  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_timing *from;

    if (k >= parts->view[i]->n_timings)
      continue;
    from = &parts->view[i]->timings[k];
    if (from->unfinished <= bound - t->unfinished)
      t->unfinished += from->unfinished;
    if (from->unfinished > 0)
      t->max_s = fmax(t->max_s, from->max_s);
  }
}

/* Computes the latencies of the group with timing k, of which several parts have events.
   Unfinished events count as longer than all others. */
static void sum_compute_group(const struct bn_view *v, struct bn_timing *t, double *percentile_s,
                              const struct bn_views *parts, size_t k)
{
  sum_add_unfinished(t, parts, k);
  if (t->unfinished == 0) /* then the latencies are those of the histogram, which stay */
    return;
  for (size_t i = 0; i < v->n_percents; i++) {
    double upper_s;

    percentile_s[i] =
        bn_view_timing_percentile_s(t, v->delta->hist[BN_H_FIXED + k], v->percents[i], &upper_s);
    if (percentile_s[i] < upper_s)
      t->at_least |= UINT32_C(1) << i; /* BN_PERCENTS_MAX is 32 */
  }
}

/* Sets the latencies of the groups of a total, whose histograms lack unfinished events. */
static void sum_groups(const struct bn_view *v, struct bn_view_store *store,
                       const struct bn_views *parts)
{
  if (v->span != BN_VIEW_TOTAL)
    return;
  for (size_t k = 0; k < v->n_timings; k++) {
    struct bn_timing *t = &store->timing[k];
    const struct bn_view *part;

    if (!t->of_kind || !bn_event_kinds_is_group(t->name))
      continue;
    part = sum_find_only_part(parts, k);
    if (part != NULL && part->n_percents == v->n_percents && part->timings[k].percentile_s != NULL)
      sum_copy_group(t, store->timing_s[k], &part->timings[k], v->n_percents);
    else
      sum_compute_group(v, t, store->timing_s[k], parts, k);
  }
}

/* The figures of a single part are kept, whatever their rules say. */
void bn_sum_figures(struct bn_view *v, struct bn_view_store *store, const struct bn_views *parts)
{
  const struct bn_view *first = parts->view[0];

  for (size_t i = 0; i < first->n_figures; i++) {
    struct bn_figure *f = &store->figure[v->n_figures];

    *f = first->figures[i];
    if (parts->n == 1 || sum_figure(v, parts, f)) /* else the next figure takes its place */
      v->n_figures++;
  }
  v->figures = store->figure;
  sum_counts(v, store, parts);
  sum_event_kinds(v, store, parts);
  sum_groups(v, store, parts);
  bn_phases_sum(v, store, parts);
}
