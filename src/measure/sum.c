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

/* Returns whether moments can be summed: a document may have any numbers. */
static bool sum_moments_are_finite(const struct bn_moments *m)
{
  return isfinite(m->n) && isfinite(m->sum) && isfinite(m->sum_sq);
}

/* A quarter of the range, because up to three of the counts are added to one figure: queries are
   reads, writes and other statements. */
uint64_t bn_sum_largest_count(size_t n)
{
  return UINT64_MAX / 4 / n;
}

/* Returns whether a figure of a view can be part of a sum. */
static bool sum_figure_fits(const struct bn_view *v, const struct bn_view_field *f,
                            uint64_t max_count)
{
  if (f->type == BN_VIEW_U64)
    return bn_snap_is_within(bn_view_u64(v, f), max_count);
  if (f->rule == BN_RULE_LONGEST || bn_view_is_rate(f))
    return sum_is_summable(bn_view_value(v, f));
  return true; /* it follows from the snapshots, or bn_sum_fits() checks it */
}

bool bn_sum_fits(const struct bn_view *v, size_t n)
{
  const uint64_t max_count = bn_sum_largest_count(n);
  const struct bn_snap *s = v->delta;
  const bool counts_fit = bn_snap_fits(s, max_count) && s->running <= UINT_MAX / n;
  const bool ages_fit = v->ages == NULL || bn_hist_has_at_most(v->ages, max_count);
  const bool moments_fit =
      sum_moments_are_finite(&s->fair_events) && sum_moments_are_finite(&s->fair_busy_s);
  const bool times_fit = sum_is_summable(v->span_s) && sum_is_summable(v->at_s);

  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (!sum_figure_fits(v, f, max_count))
      return false;
  return counts_fit && ages_fit && moments_fit && times_fit;
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

static double sum_find_longest(const struct bn_views *parts, const struct bn_view_field *f)
{
  double longest = 0;

  for (size_t i = 0; i < parts->n; i++)
    longest = fmax(longest, bn_view_value(parts->view[i], f));
  return longest;
}

/* Returns the factor by which a part's rate counts in the rate of the sum, whose span is span_s:
   in a second of that span, the part counted its rate times its share of the span. */
static double sum_rate_weight(const struct bn_view *part, double span_s)
{
  return part->span_s / span_s;
}

/* Returns the sum of a rate, per second of span_s.  The counters of the parts cannot tell it,
   because they have also counted in the grace. */
static double sum_rate(const struct bn_views *parts, const struct bn_view_field *f, double span_s)
{
  double sum = 0;

  for (size_t i = 0; i < parts->n; i++)
    sum += bn_view_value(parts->view[i], f) * sum_rate_weight(parts->view[i], span_s);
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

/* Returns whether all views know the figures of the parts of their run, such as its set-up. */
static bool sum_all_have_run_parts(const struct bn_views *views)
{
  for (size_t i = 0; i < views->n; i++)
    if (!bn_view_has_parts(views->view[i]))
      return false;
  return true;
}

/* Sets the figures of the parts of a run to 0, which bn_view_has_parts() takes for unknown. */
static void sum_clear_run_parts(struct bn_view *v)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++) {
    if ((f->traits & BN_FIGURE_PARTS) == 0)
      continue;
    if (f->type == BN_VIEW_U64)
      *bn_view_u64_at(v, f->offset) = 0;
    else
      *bn_view_f64_at(v, f->offset) = 0;
  }
}

/* Returns the sum of the running sessions, which are not those of the snapshots at a limit or with
   --threads-profile.  It is at most UINT_MAX, because a document may have any number. */
static unsigned sum_running(const struct bn_views *parts)
{
  unsigned sum = 0;

  for (size_t i = 0; i < parts->n; i++) {
    const unsigned room = UINT_MAX - sum, running = parts->view[i]->running;

    sum += running < room ? running : room;
  }
  return sum;
}

int bn_sum_complete_view(struct bn_view *v, const struct bn_views *parts, struct bn_err *err)
{
  if (sum_fields(v, parts, err) != 0)
    return -1;
  v->running = sum_running(parts);
  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_view *part = parts->view[i];

    v->kind = part->kind > v->kind ? part->kind : v->kind; /* SQL, the last kind, prevails */
    v->paced |= part->paced;
    v->replaced |= part->replaced;
    v->max_at_least |= part->max_at_least;
  }
  v->served = bn_view_served_share(v->finished, v->due); /* one of the run's parts too */
  if (!sum_all_have_run_parts(parts))
    sum_clear_run_parts(v);
  return 0;
}

/* --- figures of workloads --------------------------------------------------------------------- */

static const struct bn_figure *sum_find_figure(const struct bn_view *v, const char *key)
{
  for (size_t i = 0; i < v->n_figures; i++)
    if (strcmp(v->figures[i].key, key) == 0)
      return &v->figures[i];
  return NULL;
}

/* Returns the factor by which a part's figure counts in that of the sum.  A mean counts by the
   part's share of the counter f->weight, which a document may lack, or by 0 if nothing was
   counted. */
static double sum_weight_of(const struct bn_view *sum, const struct bn_view *part,
                            const struct bn_figure *f)
{
  const bool has_counter = f->weight < sum->delta->metrics.n_counters;

  if (f->merge == BN_MERGE_RATE)
    return sum_rate_weight(part, sum->span_s);
  if (!has_counter || sum->counter[f->weight] == 0)
    return 0;
  return (double)part->counter[f->weight] / (double)sum->counter[f->weight];
}

/* Sums a rate or a mean of the workload.  A part that lacks a mean has counted nothing for it, so
   it adds nothing.  Returns false if the sum is not known: the figure is neither a rate nor a mean,
   or a part lacks the rate. */
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
        sum += parts->view[i]->counts[k].per_s * sum_rate_weight(parts->view[i], v->span_s);
    store->count[k].per_s = sum;
  }
}

/* Sums the rates of the kinds of events, as sum_rate() does. */
static void sum_event_kinds(const struct bn_view *v, struct bn_view_store *store,
                            const struct bn_views *parts)
{
  for (size_t k = 0; k < v->n_event_kinds; k++) {
    double sum = 0;

    for (size_t i = 0; i < parts->n; i++) {
      const struct bn_view *part = parts->view[i];

      if (k < part->n_event_kinds)
        sum += part->event_kinds[k].events_per_s * sum_rate_weight(part, v->span_s);
    }
    store->event_kind[k].events_per_s = sum;
  }
}

/* Returns whether a part has events of the group with timing k, ended or not. */
static bool sum_has_group(const struct bn_view *part, size_t k)
{
  return k < part->n_timings && (part->timings[k].count > 0 || part->timings[k].unfinished > 0);
}

/* Returns the part that alone has events of the group with timing k, or NULL if no part has any, or
   several parts have. */
static const struct bn_view *sum_find_only_part(const struct bn_views *parts, size_t k)
{
  const struct bn_view *only = NULL;

  for (size_t i = 0; i < parts->n; i++) {
    if (!sum_has_group(parts->view[i], k))
      continue;
    if (only != NULL)
      return NULL;
    only = parts->view[i];
  }
  return only;
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
   Raises the maximum to that of each part with such events, which counts their ages, even if their
   number is not added because it is too large: a document may have any. */
static void sum_add_unfinished(struct bn_timing *t, const struct bn_views *parts, size_t k)
{
  const uint64_t max_unfinished = UINT64_MAX / 2; /* so that no later sum overflows */

  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_view *part = parts->view[i];
    const struct bn_timing *from = k < part->n_timings ? &part->timings[k] : NULL;

    if (from == NULL || from->unfinished == 0)
      continue;
    if (from->unfinished <= max_unfinished - t->unfinished)
      t->unfinished += from->unfinished;
    t->max_s = fmax(t->max_s, from->max_s);
  }
}

/* Computes the latencies of the group with timing k from its histogram and the unfinished events,
   which count as longer than all others. */
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

/* Sets the latencies of the group with timing k: those of the only part that has events of the
   group, if it knows as many percentiles, or else new ones. */
static void sum_group(const struct bn_view *v, struct bn_view_store *store,
                      const struct bn_views *parts, size_t k)
{
  const struct bn_view *only = sum_find_only_part(parts, k);
  const bool is_complete =
      only != NULL && only->n_percents == v->n_percents && only->timings[k].percentile_s != NULL;

  if (is_complete)
    sum_copy_group(&store->timing[k], store->timing_s[k], &only->timings[k], v->n_percents);
  else
    sum_compute_group(v, &store->timing[k], store->timing_s[k], parts, k);
}

/* Sets the latencies of the groups of a total, whose histograms lack unfinished events. */
static void sum_groups(const struct bn_view *v, struct bn_view_store *store,
                       const struct bn_views *parts)
{
  if (v->span != BN_VIEW_TOTAL)
    return;
  for (size_t k = 0; k < v->n_timings; k++)
    if (store->timing[k].of_kind && bn_event_kinds_is_group(store->timing[k].name))
      sum_group(v, store, parts, k);
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
