/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seconds, rates, percentiles, extremes and fairness from a snapshot difference. */
#include "measure/view.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/event_kinds.h"
#include "measure/phases.h"

#define BN_TYPE_u64       BN_VIEW_U64
#define BN_TYPE_f64       BN_VIEW_F64
#define BN_KINDS_ALL      UINT_MAX
#define BN_KINDS_SQL      (1U << BN_KIND_SQL)
#define BN_KINDS_REQUESTS (1U << BN_KIND_SQL | 1U << BN_KIND_FILEIO)
#define BN_KINDS_BYTES    (1U << BN_KIND_FILEIO | 1U << BN_KIND_MEMORY)
/* For the column of traits. */
enum {
  NONE = BN_FIGURE_NONE,
  PARTS = BN_FIGURE_PARTS,
  PACED = BN_FIGURE_PACED,
  COMMITS = BN_FIGURE_COMMITS,
  NATIVE = BN_FIGURE_NATIVE,
  SHARE = BN_FIGURE_SHARE,
  WHOLE = BN_FIGURE_WHOLE,
  AGED = BN_FIGURE_AGED,
  WAKES = BN_FIGURE_WAKES
};

/* A cell of the column of rules is a rule, and the figure that it is the rate or a statistic of. */
#define RULE_COMPUTED      BN_RULE_COMPUTED, 0
#define RULE_STATISTIC(of) BN_RULE_STATISTIC, offsetof(struct bn_view, of)
#define RULE_COUNTER       BN_RULE_COUNTER, 0
#define RULE_RATE(of)      BN_RULE_RATE, offsetof(struct bn_view, of)
#define RULE_SUM           BN_RULE_SUM, 0
#define RULE_LONGEST       BN_RULE_LONGEST, 0

const struct bn_view_field bn_view_fields[] = {
#define FIGURE(type, name, unit, better, rule, kinds, traits, text)                                \
  {#name,          unit,                                                                           \
   BN_TYPE_##type, BN_BETTER_##better,                                                             \
   RULE_##rule,    BN_KINDS_##kinds,                                                               \
   traits,         offsetof(struct bn_view, name)},
#include "measure/figures.def"
    {.name = NULL},
};

bool bn_view_is_rate(const struct bn_view_field *f)
{
  return strcmp(f->unit, "1/s") == 0 || strcmp(f->unit, "bytes/s") == 0;
}

double bn_view_value(const struct bn_view *v, const struct bn_view_field *f)
{
  return f->type == BN_VIEW_U64 ? (double)bn_view_u64(v, f)
                                : *(const double *)(const void *)((const char *)v + f->offset);
}

uint64_t bn_view_u64(const struct bn_view *v, const struct bn_view_field *f)
{
  return *(const uint64_t *)(const void *)((const char *)v + f->offset);
}

uint64_t *bn_view_u64_at(struct bn_view *v, size_t offset)
{
  return (uint64_t *)(void *)((char *)v + offset);
}

double *bn_view_f64_at(struct bn_view *v, size_t offset)
{
  return (double *)(void *)((char *)v + offset);
}

bool bn_view_has_idle_lag(const struct bn_view *v)
{
  const struct bn_metrics *m = &v->delta->metrics;
  const bool has_woken = v->lag_max_s > 0; /* each wake-up takes some time */

  return bn_statset_has_lag(m) && !bn_statset_has_waiting(m) && !has_woken;
}

/* setup_s is more than 0 only in totals that tell the parts of a run apart. */
bool bn_view_has_parts(const struct bn_view *v)
{
  return v->setup_s > 0;
}

bool bn_view_knows(const struct bn_view *v, const struct bn_view_field *f)
{
  return (f->traits & BN_FIGURE_PARTS) == 0 || bn_view_has_parts(v);
}

bool bn_view_counts_commits(const struct bn_metrics *m)
{
  return bn_metrics_find_counter(m, "missing_commits") < m->n_counters;
}

/* Returns whether a figure has the trait, but the run does not meet the need of such figures. */
static bool view_lacks(const struct bn_view_field *f, unsigned trait, bool is_met)
{
  return (f->traits & trait) != 0 && !is_met;
}

enum bn_view_lack bn_view_find_lack(const struct bn_view_field *f, const struct bn_view_scope *s)
{
  if (view_lacks(f, BN_FIGURE_PACED, s->paced))
    return BN_LACK_RATE;
  if (view_lacks(f, BN_FIGURE_WAKES, s->wakes))
    return BN_LACK_WAKES;
  if (view_lacks(f, BN_FIGURE_COMMITS, s->commits))
    return BN_LACK_COMMITS;
  if (view_lacks(f, BN_FIGURE_PARTS, s->parts) || view_lacks(f, BN_FIGURE_NATIVE, s->native))
    return BN_LACK_DIALECT;
  if (view_lacks(f, BN_FIGURE_WHOLE, s->total))
    return BN_LACK_TOTAL;
  return (f->kinds & s->kinds) == 0 ? BN_LACK_KIND : BN_LACK_NONE;
}

/* Returns why a view, which does not tell its dialect and passes for native, lacks a figure. */
static enum bn_view_lack view_find_own_lack(const struct bn_view *v, const struct bn_view_field *f)
{
  /* This is called for each figure: the metrics are searched only for those that need it. */
  const bool needs_commits = (f->traits & BN_FIGURE_COMMITS) != 0;
  const bool needs_wakes = (f->traits & BN_FIGURE_WAKES) != 0;
  const struct bn_view_scope s = {
      .kinds = 1U << v->kind,
      .paced = v->paced,
      .wakes = v->paced || (needs_wakes && bn_statset_has_lag(&v->delta->metrics)),
      .commits = needs_commits && bn_view_counts_commits(&v->delta->metrics),
      .parts = bn_view_has_parts(v),
      .native = true,
      .total = v->span == BN_VIEW_TOTAL};

  return bn_view_find_lack(f, &s);
}

/* Returns whether the value of a figure is not known: a document has null for it. */
static bool view_is_unknown(const struct bn_view *v, const struct bn_view_field *f)
{
  return f->type == BN_VIEW_U64 ? bn_view_u64(v, f) == BN_ABSENT : !isfinite(bn_view_value(v, f));
}

/* A script may count what tests of its kind do not have, such as bytes.  So a figure of other kinds
   of tests is measured if it is more than 0. */
bool bn_view_measures(const struct bn_view *v, const struct bn_view_field *f)
{
  const bool is_beyond_range = isinf(bn_view_value(v, f)); /* measured, but not exactly */
  enum bn_view_lack lack;

  if (view_is_unknown(v, f) && !is_beyond_range)
    return false;
  lack = view_find_own_lack(v, f);
  return lack == BN_LACK_NONE || (lack == BN_LACK_KIND && bn_view_value(v, f) > 0);
}

/* --- statistics of nothing -------------------------------------------------------------------- */

/* Sets a figure that is not known to 0 if the run does not measure it. */
static void view_settle_figure(struct bn_view *v, const struct bn_view_field *f)
{
  if (!view_is_unknown(v, f) || view_find_own_lack(v, f) == BN_LACK_NONE)
    return;
  if (f->type == BN_VIEW_U64)
    *bn_view_u64_at(v, f->offset) = 0;
  else
    *bn_view_f64_at(v, f->offset) = 0;
}

/* Returns whether a statistic has values: the figure at offset f->of, which counts them, is more
   than 0 and known.  A maximum that counts ages also has a value if an event is unfinished. */
static bool view_has_values(const struct bn_view *v, const struct bn_view_field *f)
{
  const struct bn_view_field *count = bn_view_fields;

  if ((f->traits & BN_FIGURE_AGED) != 0 && v->max_at_least)
    return true;
  while (count->offset != f->of)
    count++;
  return bn_view_value(v, count) > 0 && isfinite(bn_view_value(v, count));
}

static void view_set_nan(double *value, size_t n)
{
  for (size_t i = 0; i < n; i++)
    value[i] = NAN;
}

/* Sets the statistics of a timing without values to NaN, but not its maximum and its n percentiles
   if these count unfinished events.  percentile_s is NULL if it has no percentiles. */
static void view_settle_timing(struct bn_timing *t, double *percentile_s, size_t n)
{
  if (t->count > 0)
    return;
  t->min_s = t->avg_s = t->dev_s = NAN;
  if (t->unfinished > 0)
    return;
  t->max_s = NAN;
  if (percentile_s != NULL)
    view_set_nan(percentile_s, n);
}

/* Sets the statistics of a session without events to NaN.  Its extremes are since the measurement
   began, so that they may be those of events before this span. */
static void view_settle_session(struct bn_session_view *s)
{
  if (s->events > 0)
    return;
  s->avg_s = NAN;
  if (!(s->max_s > 0 && isfinite(s->max_s)))
    s->min_s = s->max_s = NAN;
}

void bn_view_settle(struct bn_view *v, struct bn_view_store *store)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++) {
    view_settle_figure(v, f);
    if (f->rule == BN_RULE_STATISTIC && !view_has_values(v, f))
      *bn_view_f64_at(v, f->offset) = NAN;
  }
  if (v->events == 0 && !v->max_at_least)
    view_set_nan(store->percentile_s, v->n_percents);
  for (size_t i = 0; i < v->n_timings; i++)
    view_settle_timing(&store->timing[i], store->timing_s != NULL ? store->timing_s[i] : NULL,
                       v->n_percents);
  for (size_t i = 0; i < v->n_statements; i++)
    view_settle_timing(&store->statement[i].timing, store->statement_s[i], v->n_percents);
  for (size_t i = 0; v->sessions != NULL && i < v->n_sessions; i++)
    view_settle_session(&store->session[i]);
  bn_event_kinds_set_shares(v, store);
  for (size_t i = 0; i < v->n_phases; i++)
    bn_phases_settle(&store->phase[i]);
}

/* --- values from a snapshot ------------------------------------------------------------------- */

/* Returns a value of a histogram in seconds; one beyond its range, UINT64_MAX, is HUGE_VAL. */
static double view_ns_to_s(uint64_t ns)
{
  return ns == UINT64_MAX ? HUGE_VAL : (double)ns * 1e-9;
}

/* Returns whether both values are in one bucket.  All values beyond the range share the bucket that
   begins with 2^42 ns. */
static bool view_same_bucket(uint64_t a, uint64_t b)
{
  const uint64_t range_end = UINT64_C(1) << BN_HIST_TOP_BIT;

  if (a >= range_end || b >= range_end)
    return a >= range_end && b >= range_end;
  return bn_hist_index(a) == bn_hist_index(b);
}

/* Sets the extremes of the latency, if there is one, to the edges of the outermost buckets.  With
   `exact`, an exact extreme replaces the edge of its bucket.  An exact extreme in another bucket
   does not count: its event ended between the end of the warm-up and the snapshot of that end. */
static void view_set_extremes(struct bn_view *v, const struct bn_snap *delta, bool exact)
{
  uint64_t low, high;

  if (!bn_hist_bounds(v->latency, &low, &high))
    return;
  if (exact && delta->min_ns != UINT64_MAX && view_same_bucket(delta->min_ns, low))
    low = delta->min_ns;
  if (exact && delta->max_ns != 0 && view_same_bucket(delta->max_ns, high))
    high = delta->max_ns;
  v->min_s = view_ns_to_s(low);
  v->max_s = view_ns_to_s(high);
}

/* Sums of the durations of events wrap around at this value, because they have 64 bits. */
static const double wrap_ns = 0x1p64;

/* Returns the middle of a bucket, or the lower edge of the last one, which has no upper edge. */
static double view_middle_of(uint64_t lowest, uint64_t highest)
{
  return highest == UINT64_MAX ? (double)lowest : (double)lowest / 2 + (double)highest / 2;
}

/* Adds the values of a bucket, as its middle, to the sum in ns, a double, at arg. */
static void view_add_middles(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  *(double *)arg += (double)count * view_middle_of(lowest, highest);
}

/* Returns the true value of a sum of latencies that may have wrapped around; its rough size,
   about_ns, tells how often.  2^64 ns are 584 years, but with --rate latencies include waiting, so
   that the sum exceeds them after a few minutes of overload. */
static double view_unwrap(uint64_t sum_ns, double about_ns)
{
  const double wraps = round((about_ns - (double)sum_ns) / wrap_ns);

  return (double)sum_ns + (wraps > 0 ? wraps * wrap_ns : 0);
}

uint64_t bn_view_seconds_to_ns(double s)
{
  return s > 0 && s < 1e9 ? (uint64_t)llround(s * 1e9) : 0;
}

double bn_view_mean(double sum, uint64_t n)
{
  return n > 0 ? sum / (double)n : 0;
}

double bn_view_served_share(uint64_t finished, uint64_t due)
{
  const bool are_known = finished != BN_ABSENT && due != BN_ABSENT;

  return are_known && due > 0 ? (double)finished / (double)due : NAN;
}

/* Sets the sum and the mean of the latencies. */
static void view_set_sums(struct bn_view *v, const struct bn_snap *delta)
{
  double about_ns = 0;

  bn_hist_each(v->latency, view_add_middles, &about_ns);
  v->sum_s = view_unwrap(delta->busy_ns, about_ns) * 1e-9;
  v->avg_s = bn_view_mean(v->sum_s, v->events);
}

/* The sum of the squared distances from a mean. */
struct spread {
  double mean_ns, sum_sq;
};

static void view_add_distances(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  struct spread *s = arg;
  const double distance_ns = view_middle_of(lowest, highest) - s->mean_ns;

  s->sum_sq += (double)count * distance_ns * distance_ns;
}

/* Returns the standard deviation of n values, or 0 without any.  Squares the distances from the
   mean: the difference of two large sums, sum_sq / n - mean^2, would be lost in rounding. */
static double view_deviation_s(const struct bn_hist *h, uint64_t n, double mean_s)
{
  struct spread s = {.mean_ns = mean_s * 1e9};

  bn_hist_each(h, view_add_distances, &s);
  return n > 0 ? sqrt(s.sum_sq / (double)n) * 1e-9 : 0;
}

/* Returns the busy time of a session, unwrapped: the mean latency tells its rough size. */
static double view_busy_s(const struct bn_view *v, const struct bn_snap_session *s)
{
  return view_unwrap(s->busy_ns, v->avg_s * 1e9 * (double)s->events) * 1e-9;
}

/* Returns the rank of a percentile of n values: ceil(percent n / 100), within [1, n].  The product
   may be off by its last bits, which must not round it up: 99.9 % of 1,000 is 999. */
static uint64_t view_rank_of(uint64_t n, double percent)
{
  const double exact_rank = (double)n * percent / 100;
  const double rank = ceil(exact_rank - exact_rank * 4 * DBL_EPSILON);

  if (!(rank >= 1))
    return 1;
  return rank < (double)n ? (uint64_t)rank : n;
}

/* Returns a percentile of a histogram together with the ages of unfinished events (NULL: there are
   none), or 0 if both are empty.  nearest: the rank is rounded as in sysbench; ages is NULL. */
static uint64_t view_percentile_ns(const struct bn_hist *h, const struct bn_hist *ages,
                                   double percent, bool nearest)
{
  const uint64_t n = bn_hist_count(h) + (ages != NULL ? bn_hist_count(ages) : 0);

  if (nearest)
    return bn_hist_percentile(h, percent);
  return n > 0 ? bn_hist_value_at_rank(h, ages, view_rank_of(n, percent)) : 0;
}

double bn_view_percentile_bound_s(const struct bn_view *v, const struct bn_view_rules *rules,
                                  double percent)
{
  const uint64_t ended = bn_hist_count(v->latency);
  const uint64_t unfinished = rules->ages != NULL ? bn_hist_count(rules->ages) : 0;
  const uint64_t rank = view_rank_of(ended + unfinished, percent);

  return rank <= ended ? view_ns_to_s(bn_hist_value_at_rank(v->latency, NULL, rank)) : HUGE_VAL;
}

size_t bn_view_find_rank(const struct bn_view *v, double rank)
{
  size_t i = 0;

  while (i < v->n_percents && v->percents[i] != rank)
    i++;
  return i;
}

size_t bn_view_greatest_rank(const struct bn_view *v)
{
  size_t greatest = 0;

  for (size_t i = 1; i < v->n_percents; i++)
    if (v->percents[i] > v->percents[greatest])
      greatest = i;
  return greatest;
}

double bn_view_hist_percentile_s(const struct bn_hist *h, double percent, bool nearest)
{
  return bn_hist_count(h) > 0 ? view_ns_to_s(view_percentile_ns(h, NULL, percent, nearest)) : NAN;
}

/* Does bn_view_timing_percentile_s() for a phase, whose histogram counts the ages of unfinished
   events.  Each of these events may become longer than all others, which moves every value above
   its age one rank down.  Values below the smallest age stay at their ranks. */
static double view_phase_percentile_s(const struct bn_timing *t, const struct bn_hist *h,
                                      double percent, double *upper_s)
{
  const uint64_t n = bn_hist_count(h), rank = view_rank_of(n, percent);
  const double value_s = view_ns_to_s(bn_hist_value_at_rank(h, NULL, rank));
  const bool may_grow = value_s >= t->youngest_s;

  *upper_s = value_s;
  if (may_grow && t->unfinished > n - rank)
    *upper_s = HUGE_VAL;
  else if (may_grow)
    *upper_s = view_ns_to_s(bn_hist_value_at_rank(h, NULL, rank + t->unfinished));
  return value_s;
}

double bn_view_timing_percentile_s(const struct bn_timing *t, const struct bn_hist *h,
                                   double percent, double *upper_s)
{
  if (t->of_phase)
    return view_phase_percentile_s(t, h, percent, upper_s);

  const uint64_t ended = bn_hist_count(h), rank = view_rank_of(ended + t->unfinished, percent);

  /* h does not count the unfinished events.  If all of them last longest, the percentile is the
     value at `rank`; if all last shortest, at `rank - unfinished`. */
  *upper_s = rank <= ended ? view_ns_to_s(bn_hist_value_at_rank(h, NULL, rank)) : HUGE_VAL;
  return rank > t->unfinished ? view_ns_to_s(bn_hist_value_at_rank(h, NULL, rank - t->unfinished))
                              : 0;
}

/* Sets the figures of "wakeup_lag", which is the last histogram if the run has it. */
static void view_set_lag(struct bn_view *v, const struct bn_snap *delta)
{
  const struct bn_hist *lag = delta->hist[delta->metrics.n_hists - 1];
  uint64_t low, high;

  if (!bn_statset_has_lag(&delta->metrics) || !bn_hist_bounds(lag, &low, &high))
    return;
  v->lag_p50_s = bn_view_hist_percentile_s(lag, 50, false /* not nearest */);
  v->lag_p99_s = bn_view_hist_percentile_s(lag, 99, false /* not nearest */);
  v->lag_max_s = view_ns_to_s(high);
}

/* Returns whether a percentile of that value is a lower bound: an unfinished event that is not
   older may still become longer. */
static bool view_is_at_least(const struct bn_view_rules *rules, uint64_t ns)
{
  uint64_t low, high;

  return rules->ages != NULL && bn_hist_bounds(rules->ages, &low, &high) && low <= ns;
}

/* A percentile is its bucket's highest equivalent value, clamped to the extremes. */
double bn_view_percentile_s(const struct bn_view *v, const struct bn_view_rules *rules,
                            double percent, bool *at_least)
{
  const uint64_t ns = view_percentile_ns(v->latency, rules->ages, percent, rules->nearest);
  double value_s = view_ns_to_s(ns);

  *at_least = view_is_at_least(rules, ns);
  if (v->events == 0 && rules->ages == NULL)
    return NAN;
  if (value_s > v->max_s && value_s != HUGE_VAL)
    value_s = v->max_s;
  if (value_s < v->min_s && rules->ages == NULL) /* an age may be less than each latency */
    value_s = v->min_s;
  return value_s;
}

/* Sets the percentiles of the rules, and the median, which does not count ages. */
static void view_set_percentiles(struct bn_view *v, struct bn_view_store *store,
                                 const struct bn_view_rules *rules)
{
  v->median_s = fmax(v->min_s, fmin(v->max_s, view_ns_to_s(bn_hist_percentile(v->latency, 50))));
  v->percents = store->percents;
  v->percentile_s = store->percentile_s;
  v->at_least = store->at_least;
  v->n_percents = rules->n_percents;
  for (size_t i = 0; i < v->n_percents; i++) {
    store->percents[i] = rules->percents[i];
    store->percentile_s[i] =
        bn_view_percentile_s(v, rules, rules->percents[i], &store->at_least[i]);
  }
}

struct bn_timing bn_view_timing_of(const struct bn_metric *hist)
{
  return (struct bn_timing){.name = hist->name,
                            .of_script = hist->kind == BN_SCRIPT_HISTOGRAM,
                            .of_kind = hist->kind == BN_EVENT_HISTOGRAM,
                            .of_phase = hist->kind == BN_PHASE_HISTOGRAM};
}

/* Adds a bucket of a histogram to the count and the sum of a timing.  Each value counts as the
   middle of its bucket in whole ns; in the last bucket, which is open, as its lowest value. */
static void view_add_to_timing(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  struct bn_timing *t = arg;
  const uint64_t middle = highest == UINT64_MAX ? lowest : lowest + (highest - lowest) / 2;

  t->count += count;
  t->sum_s += (double)count * (double)middle * 1e-9;
}

/* Computes the statistics of a timing, and the percentiles of the view's ranks, from its histogram
   alone: no sum and no extremes are kept beside it.  The extremes are edges of buckets, 0 if there
   are no values.  t->count and t->sum_s are 0, because the walk over the buckets adds to them. */
static void view_compute_timing(struct bn_timing *t, double *percentile_s, const struct bn_hist *h,
                                const struct bn_view *v, bool nearest)
{
  uint64_t lowest = 0, highest = 0;

  bn_hist_each(h, view_add_to_timing, t);
  (void)bn_hist_bounds(h, &lowest, &highest);
  t->min_s = view_ns_to_s(lowest);
  t->max_s = view_ns_to_s(highest);
  t->avg_s = bn_view_mean(t->sum_s, t->count);
  t->dev_s = view_deviation_s(h, t->count, t->avg_s);
  t->percentile_s = percentile_s;
  for (size_t i = 0; i < v->n_percents; i++)
    percentile_s[i] = bn_view_hist_percentile_s(h, v->percents[i], nearest);
}

/* Lowers the maximum and the n percentiles of a kind, which are edges of buckets, to the exact
   maximum of all events.  A percentile beyond the range of the histogram stays HUGE_VAL. */
static void view_clamp_to_latency(struct bn_timing *t, double *percentile_s, size_t n, double max_s)
{
  t->max_s = fmin(t->max_s, max_s);
  for (size_t i = 0; i < n; i++)
    if (percentile_s[i] > max_s && percentile_s[i] != HUGE_VAL)
      percentile_s[i] = max_s;
}

/* Sets the timings of all histograms but that of the latency. */
static void view_set_timings(struct bn_view *v, struct bn_view_store *store,
                             const struct bn_snap *delta, bool nearest)
{
  for (size_t i = BN_H_FIXED; i < delta->metrics.n_hists; i++) {
    double *const percentile_s = store->timing_s[v->n_timings];
    struct bn_timing *t = &store->timing[v->n_timings++];

    *t = bn_view_timing_of(&delta->metrics.hist[i]);
    view_compute_timing(t, percentile_s, delta->hist[i], v, nearest);
    if (t->of_kind)
      view_clamp_to_latency(t, percentile_s, v->n_percents, v->max_s);
  }
  v->timings = store->timing;
}

/* Orders statements by their total time, the longest first. */
static int view_compare_statements(const void *a, const void *b)
{
  const struct bn_timing *s = &((const struct bn_statement_view *)a)->timing;
  const struct bn_timing *t = &((const struct bn_statement_view *)b)->timing;

  if (s->sum_s != t->sum_s)
    return s->sum_s > t->sum_s ? -1 : 1;
  return strcmp(s->name, t->name);
}

/* Sets the statements that were executed in the span, ordered by their total time. */
static void view_set_statements(struct bn_view *v, struct bn_view_store *store,
                                const struct bn_snap *delta, bool nearest)
{
  for (size_t i = 0; i < delta->statements.n; i++) {
    const struct bn_statement_sum *sum = &delta->statements.sum[i];
    struct bn_statement_view *s = &store->statement[v->n_statements];

    *s = (struct bn_statement_view){
        .timing.name = sum->name, .rows = sum->rows, .errors = sum->errors};
    view_compute_timing(&s->timing, store->statement_s[v->n_statements], sum->hist, v, nearest);
    if (s->timing.count > 0 || s->errors > 0) /* else the next statement takes its place */
      v->n_statements++;
  }
  if (v->n_statements > 0)
    qsort(store->statement, v->n_statements, sizeof *store->statement, view_compare_statements);
  v->statements = store->statement;
}

double bn_view_statement_share(const struct bn_view *v, const struct bn_statement_view *s)
{
  double sum_s = 0;

  for (size_t i = 0; i < v->n_statements; i++)
    sum_s += v->statements[i].timing.sum_s;
  return sum_s > 0 ? s->timing.sum_s / sum_s : 0;
}

/* Sets the statistics of the sessions.  Extremes of no events are 0 until bn_view_settle(). */
static void view_set_sessions(struct bn_view *v, struct bn_view_store *store,
                              const struct bn_snap *delta)
{
  for (unsigned i = 0; i < delta->n_sessions; i++) {
    const struct bn_snap_session *d = &delta->session[i];
    struct bn_session_view *s = &store->session[i];

    s->events = d->events;
    s->busy_s = view_busy_s(v, d);
    s->avg_s = bn_view_mean(s->busy_s, d->events);
    s->min_s = d->min_ns == UINT64_MAX ? 0 : (double)d->min_ns * 1e-9;
    s->max_s = (double)d->max_ns * 1e-9;
  }
  v->sessions = store->session;
  v->n_sessions = delta->n_sessions;
}

static double view_moments_mean(const struct bn_moments *m)
{
  return m->n > 0 ? (double)(m->sum / m->n) : 0;
}

/* Returns the standard deviation of the population, because the sessions are no sample. */
static double view_moments_dev(const struct bn_moments *m)
{
  const long double mean = m->n > 0 ? m->sum / m->n : 0;
  const long double variance = m->n > 0 ? m->sum_sq / m->n - mean * mean : 0;

  return variance > 0 ? (double)sqrtl(variance) : 0;
}

/* Sets the fairness of events and of busy times.  The snapshot has the moments of busy times that
   may have wrapped around; if the sum of all sessions has, the moments are computed anew. */
static void view_set_fairness(struct bn_view *v, const struct bn_snap *delta)
{
  struct bn_moments busy = delta->fair_busy_s;

  if (v->sum_s * 1e9 >= wrap_ns) {
    busy = (struct bn_moments){.n = delta->n_sessions};
    for (unsigned i = 0; i < delta->n_sessions; i++) {
      const double busy_s = view_busy_s(v, &delta->session[i]);

      busy.sum += busy_s;
      busy.sum_sq += (long double)busy_s * busy_s;
    }
  }
  v->fair_events_avg = view_moments_mean(&delta->fair_events);
  v->fair_events_dev = view_moments_dev(&delta->fair_events);
  v->fair_time_avg = view_moments_mean(&busy);
  v->fair_time_dev = view_moments_dev(&busy);
}

/* Returns the value of a counter that only some workloads have, or the fallback without it. */
static uint64_t view_named_counter(const struct bn_view *v, const uint64_t *counter,
                                   const char *name, uint64_t fallback)
{
  const size_t i = bn_metrics_find_counter(&v->delta->metrics, name);

  return i < v->delta->metrics.n_counters ? counter[i] : fallback;
}

/* Sets every figure that is a count, from the counters c.  commits: as in the rules. */
static void view_set_count_figures(struct bn_view *v, const uint64_t *c, bool commits)
{
  v->events = c[BN_C_EVENTS];
  v->reads = c[BN_C_READ];
  v->writes = c[BN_C_WRITE];
  v->other = c[BN_C_OTHER];
  v->requests = v->reads + v->writes;
  v->queries = v->requests + v->other;
  v->transactions = commits ? view_named_counter(v, c, "transactions", v->events) : v->events;
  v->errors = c[BN_C_ERROR];
  v->reconnects = c[BN_C_RECONNECT];
  v->connection_wait_s = view_ns_to_s(view_named_counter(v, c, "connection_wait", 0));
  v->bytes_read = c[BN_C_BYTES_READ];
  v->bytes_written = c[BN_C_BYTES_WRITTEN];
  v->bytes_moved = v->bytes_read + v->bytes_written;
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (f->rule == BN_RULE_COUNTER)
      *bn_view_u64_at(v, f->offset) = view_named_counter(v, c, f->name, 0);
}

/* Sets every rate but those of events and transactions, from counters that cover span_s. */
static void view_set_rates(struct bn_view *v, const uint64_t *c, double span_s)
{
  struct bn_view counted = {.delta = v->delta};

  view_set_count_figures(&counted, c, false /* commits */);
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (f->rule == BN_RULE_RATE)
      *bn_view_f64_at(v, f->offset) = (double)*bn_view_u64_at(&counted, f->of) / span_s;
  v->bytes_touched_per_s =
      (double)(counted.bytes_moved + view_named_counter(v, c, "bytes_untouched", 0)) / span_s;
}

void bn_view_set_counts_and_rates(struct bn_view *v, const struct bn_view_rules *rules)
{
  view_set_count_figures(v, v->counter, rules->commits);
  v->events_per_s = (double)(v->events - v->in_grace) / v->span_s;
  v->transactions_per_s = (double)(v->transactions - v->in_grace) / v->span_s;
  v->rated = rules->rated != NULL ? rules->rated : v->counter;
  v->rated_s = rules->rated != NULL ? rules->rated_s : v->span_s;
  view_set_rates(v, v->rated, v->rated_s);
}

/* Sets the counts of a script, whose rates follow from the same counters as those of the view. */
static void view_set_script_counts(struct bn_view *v, struct bn_view_store *store)
{
  const struct bn_metrics *m = &v->delta->metrics;

  for (size_t i = BN_C_FIXED; i < m->n_counters; i++)
    if (m->counter[i].kind == BN_SCRIPT_COUNTER)
      store->count[v->n_counts++] = (struct bn_count){.name = m->counter[i].name,
                                                      .unit = m->counter[i].unit,
                                                      .count = v->counter[i],
                                                      .per_s = (double)v->rated[i] / v->rated_s};
  v->counts = store->count;
}

/* The order matters: the sums need the counts; the deviation and the fairness need the sums;
   percentiles are clamped to the extremes; and the timings use the maximum and the ranks. */
void bn_view_fill(struct bn_view *v, struct bn_view_store *store, const struct bn_snap *delta,
                  const struct bn_view_rules *rules)
{
  memset(v, 0, sizeof *v);
  v->delta = delta;
  v->counter = delta->counter;
  v->latency = delta->hist[BN_H_LATENCY];
  v->ages = rules->ages;
  v->span_s = rules->span_s > 0 ? rules->span_s : fmax((double)delta->span_ns * 1e-9, 1e-9);
  v->running = delta->running;
  v->in_grace = rules->nearest ? 0 : delta->late; /* dialects do not tell the grace apart */
  bn_view_set_counts_and_rates(v, rules);
  view_set_sums(v, delta);
  v->dev_s = view_deviation_s(v->latency, bn_hist_count(v->latency), v->avg_s);
  view_set_extremes(v, delta, rules->exact);
  if (rules->ages != NULL) { /* the oldest unfinished event takes longer than its age */
    v->max_s = fmax(v->max_s, view_ns_to_s(rules->oldest_ns));
    v->max_at_least = true;
  }
  view_set_percentiles(v, store, rules);
  view_set_timings(v, store, delta, rules->nearest);
  view_set_script_counts(v, store);
  bn_event_kinds_compute(v, store, rules);
  view_set_lag(v, delta);
  view_set_fairness(v, delta);
  if (rules->sessions) {
    view_set_sessions(v, store, delta);
    view_set_statements(v, store, delta, rules->nearest);
  }
  if (rules->in_span) { /* the events of all intervals and of the grace are those of the total */
    v->events -= v->in_grace;
    v->transactions -= v->in_grace;
    v->in_grace = 0;
  }
  bn_view_settle(v, store);
}

void bn_view_store_init(struct bn_view_store *store, const struct bn_snap *shape)
{
  memset(store, 0, sizeof *store);
  store->timing = bn_alloc(shape->metrics.n_hists, sizeof *store->timing);
  store->timing_s = bn_alloc(shape->metrics.n_hists, sizeof *store->timing_s);
  store->count = bn_alloc(shape->metrics.n_counters, sizeof *store->count);
  store->event_kind = bn_alloc(shape->metrics.n_hists, sizeof *store->event_kind);
  store->phase = bn_alloc(bn_phases_count(&shape->metrics), sizeof *store->phase);
  store->figure = bn_alloc(BN_FIGURES_MAX, sizeof *store->figure);
  store->session = bn_alloc(shape->n_sessions, sizeof *store->session);
  if (shape->statements.room > 0) {
    store->statement = bn_alloc(shape->statements.room, sizeof *store->statement);
    store->statement_s = bn_alloc(shape->statements.room, sizeof *store->statement_s);
  }
}

void bn_view_store_done(struct bn_view_store *store)
{
  free(store->timing);
  free(store->timing_s);
  free(store->statement);
  free(store->statement_s);
  free(store->count);
  free(store->event_kind);
  free(store->phase);
  free(store->figure);
  free(store->session);
  memset(store, 0, sizeof *store);
}
