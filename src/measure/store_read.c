/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a result from a tree of values.  Anybody may have written it, so no value is trusted. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/near.h"
#include "measure/bounds.h"
#include "measure/event_kinds.h"
#include "measure/json_hist.h"
#include "measure/json_read.h"
#include "measure/layout.h"
#include "measure/phases.h"
#include "measure/store.h"

/* --- metrics ---------------------------------------------------------------------------------- */

/* Version 1 does not say how counters and figures are merged.  In it, the counters and figures of
   devices have names that begin with device_, and other figures are rates or these two means. */
static const char device_prefix[] = "device_", rate_suffix[] = "_per_s";
static const struct {
  const char *figure, *weight;
} old_means[] = {{"ns_per_load", "loads"}, {"event_overhead_ns", "empty_events"}};

/* Returns whether the name is that of a counter or figure of a device in version 1. */
static bool store_is_of_device(const char *name)
{
  return strncmp(name, device_prefix, sizeof device_prefix - 1) == 0;
}

static bool store_is_rate(const char *name)
{
  const size_t len = strlen(name), suffix_len = sizeof rate_suffix - 1;

  return len >= suffix_len && strcmp(name + len - suffix_len, rate_suffix) == 0;
}

/* Returns the rule by which a counter or a figure is merged: old_rule if the document does not have
   one, or BN_MERGE_NONE if it has one of a later version. */
static enum bn_merge_rule store_read_merge(struct bn_json_in *in, const struct bn_node *map,
                                           enum bn_merge_rule old_rule)
{
  const char *name = bn_json_in_text(in, map, "merge");

  if (name == NULL)
    return old_rule;

  const int i = bn_near_find(bn_layout_merges, name);

  return i >= 0 ? (enum bn_merge_rule)i : BN_MERGE_NONE;
}

/* Returns the counter by which a figure of version 1 is weighted if it is a mean, or NULL. */
static const char *store_old_weight(const char *figure)
{
  for (size_t i = 0; i < sizeof old_means / sizeof *old_means; i++)
    if (strcmp(old_means[i].figure, figure) == 0)
      return old_means[i].weight;
  return NULL;
}

/* Returns the rule by which a figure of version 1 is merged. */
static enum bn_merge_rule store_old_merge(const char *figure)
{
  if (store_old_weight(figure) != NULL)
    return BN_MERGE_MEAN;
  return store_is_rate(figure) && !store_is_of_device(figure) ? BN_MERGE_RATE : BN_MERGE_NONE;
}

/* Reads how a figure of a workload is merged.  f->key is set.  f->weight becomes the index of a
   counter, or n_counters if there is none. */
static void store_read_figure_merge(struct bn_json_in *in, const struct bn_node *map,
                                    const struct bn_metrics *m, struct bn_figure *f)
{
  const char *weight = bn_json_in_text(in, map, "weight");

  if (weight == NULL)
    weight = store_old_weight(f->key);
  f->merge = store_read_merge(in, map, store_old_merge(f->key));
  f->weight =
      weight != NULL ? (unsigned)bn_metrics_find_counter(m, weight) : (unsigned)m->n_counters;
}

static bool store_is_metric(const struct bn_metric *m, const struct bn_metric *expected)
{
  return strcmp(m->name, expected->name) == 0 && m->kind == expected->kind;
}

/* Checks that the metrics which every run has are the first ones, in the order of BN_METRICS: the
   program finds them by their indexes. */
static void store_check_fixed(struct bn_json_in *in, const struct bn_metrics *m)
{
  struct bn_metrics fixed;

  bn_metrics_init(&fixed, NULL);
  for (size_t i = 0; i < fixed.n_counters; i++)
    if (i >= m->n_counters || !store_is_metric(&m->counter[i], &fixed.counter[i]))
      bn_json_in_refuse(in, "counter %zu of 'metrics' is not '%s'", i, fixed.counter[i].name);
  if (m->n_hists == 0 || !store_is_metric(&m->hist[BN_H_LATENCY], &fixed.hist[BN_H_LATENCY]))
    bn_json_in_refuse(in, "the first histogram of 'metrics' is not '%s'",
                      fixed.hist[BN_H_LATENCY].name);
  bn_metrics_done(&fixed);
}

/* Reads a row of the metrics, whose texts stay those of the document. */
static void store_read_metric(struct bn_json_in *in, const struct bn_node *map, struct bn_metric *m)
{
  enum bn_merge_rule old_rule; /* for version 1, which does not say it */

  m->name = bn_json_in_text(in, map, "name");
  m->unit = bn_json_in_text(in, map, "unit");
  m->kind = (enum bn_metric_kind)bn_json_in_name(in, map, "kind", bn_layout_metric_kinds);
  if (m->name == NULL || m->unit == NULL) {
    bn_json_in_refuse(in, "a metric has no name or no unit");
    return;
  }
  old_rule = m->kind == BN_COUNTER && store_is_of_device(m->name) ? BN_MERGE_NONE : BN_MERGE_SUM;
  m->merge = store_read_merge(in, map, old_rule);
  if (strlen(m->name) > BN_BOUND_NAME || strlen(m->unit) > BN_BOUND_NAME)
    bn_json_in_refuse(in, "the name or unit of a metric has more than %d bytes", BN_BOUND_NAME);
}

int bn_store_read_metrics(const struct bn_node *n, struct bn_metrics *out, struct bn_err *err)
{
  struct bn_json_in in = {.err = err};
  const size_t rows = bn_json_in_length(&in, n, "metrics", BN_BOUND_METRICS);
  struct bn_metric *all = bn_alloc(rows, sizeof *all);

  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < rows; i++)
    store_read_metric(&in, bn_node_get_at(n, i), &all[i]);
  if (!in.failed) {
    bn_metrics_copy_rows(out, all, rows);
    store_check_fixed(&in, out);
  }
  free(all);
  if (out->n_hists > BN_BOUND_HISTOGRAMS)
    bn_json_in_refuse(&in, "'metrics' has more than %d histograms", BN_BOUND_HISTOGRAMS);
  if (in.failed)
    bn_metrics_done(out);
  return bn_json_in_verdict(&in);
}

/* --- raw numbers ------------------------------------------------------------------------------ */

/* The functions below read a part of a record.  They refuse malformed values by
   bn_json_in_refuse(). */

/* Reads moments, a list of three texts.  Without a list they stay 0. */
static void store_read_moments(struct bn_json_in *in, const struct bn_node *list, const char *key,
                               struct bn_moments *m)
{
  long double *const values[] = {&m->n, &m->sum, &m->sum_sq};

  if (list == NULL)
    return;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    const char *digits = bn_node_get_text(bn_node_get_at(list, i));
    char *end = NULL;

    *values[i] = digits != NULL ? strtold(digits, &end) : 0;
    if (digits == NULL || end == digits || *end != '\0')
      bn_json_in_refuse(in, "'%s' does not hold three numbers", key);
  }
}

/* Reads the labelled counts: for each metric a list of pairs, [label, count].  A label is cut to
   the length that labels of a run have. */
static void store_read_labels(struct bn_json_in *in, const struct bn_node *map, struct bn_snap *s)
{
  for (size_t i = 0; i < s->metrics.n_labelled; i++) {
    const char *name = s->metrics.labelled[i].name;
    const struct bn_node *list = bn_json_in_list(in, map, name);

    s->n_labels[i] = bn_json_in_length(in, list, name, BN_LABELS_MAX + 1);
    for (size_t k = 0; k < s->n_labels[i]; k++) {
      const struct bn_node *pair = bn_node_get_at(list, k);
      const char *text = bn_node_get_text(bn_node_get_at(pair, 0));
      struct bn_label *label = &s->label[i][k];

      (void)snprintf(label->name, sizeof label->name, "%s", text != NULL ? text : "");
      label->n = bn_json_in_read_count(in, bn_node_get_at(pair, 1), name);
    }
  }
}

/* Reads the numbers of sessions, a row for each.  A session without a row has only zeros. */
static void store_read_raw_sessions(struct bn_json_in *in, const struct bn_node *list,
                                    struct bn_snap *s)
{
  enum { EVENTS, BUSY_NS, MIN_NS, MAX_NS }; /* the numbers of a row */

  for (unsigned i = 0; i < s->n_sessions; i++) {
    const struct bn_node *row = bn_node_get_at(list, i);

    s->session[i] = (struct bn_snap_session){
        .events = bn_json_in_read_count(in, bn_node_get_at(row, EVENTS), "sessions"),
        .busy_ns = bn_json_in_read_count(in, bn_node_get_at(row, BUSY_NS), "sessions"),
        .min_ns = bn_json_in_read_count(in, bn_node_get_at(row, MIN_NS), "sessions"),
        .max_ns = bn_json_in_read_count(in, bn_node_get_at(row, MAX_NS), "sessions")};
  }
}

/* Reads the histograms of all metrics, if the snapshot has room for them. */
static void store_read_histograms(struct bn_json_in *in, const struct bn_node *map,
                                  struct bn_snap *s)
{
  if (s->hist[BN_H_LATENCY] == NULL)
    return;
  for (size_t i = 0; i < s->metrics.n_hists; i++)
    bn_json_in_hist(in, map, s->metrics.hist[i].name, s->hist[i]);
}

/* Reads the histograms of the statements that store_read_statements() has put into the table.  A
   histogram under another name belongs to no statement of the record, and is passed over. */
static void store_read_statement_buckets(struct bn_json_in *in, const struct bn_node *list,
                                         struct bn_snap *s)
{
  const size_t n = s->statements.hists ? bn_node_count(list) : 0;

  for (size_t i = 0; i < n; i++) {
    const struct bn_node *map = bn_node_get_at(list, i);
    const char *name = bn_json_in_text(in, map, "name");
    struct bn_statement_sum *sum =
        name != NULL ? bn_statement_table_find(&s->statements, name) : NULL;

    if (sum != NULL)
      bn_json_in_hist(in, map, "histogram", sum->hist);
  }
}

/* Reads the ages of unfinished events, which earlier documents and runs without such events
   lack. */
static void store_read_ages(struct bn_json_in *in, const struct bn_node *raw, struct bn_record *r)
{
  if (bn_json_in_list(in, raw, "ages") == NULL)
    return;
  r->view.ages = r->ages = bn_hist_new();
  bn_json_in_hist(in, raw, "ages", r->ages);
}

/* Reads all raw numbers of a record but the ages. */
static void store_read_raw(struct bn_json_in *in, const struct bn_node *raw, struct bn_snap *s)
{
  const struct bn_node *counters = bn_json_in_map(in, raw, "counters");

  bn_json_in_layout(in, raw, bn_layout_snap, s);
  for (size_t i = 0; i < s->metrics.n_counters; i++)
    s->counter[i] = bn_json_in_get_count(in, counters, s->metrics.counter[i].name);
  store_read_labels(in, bn_json_in_map(in, raw, "labels"), s);
  store_read_raw_sessions(in, bn_json_in_list(in, raw, "sessions"), s);
  store_read_moments(in, bn_json_in_list(in, raw, "fair_events"), "fair_events", &s->fair_events);
  store_read_moments(in, bn_json_in_list(in, raw, "fair_busy_s"), "fair_busy_s", &s->fair_busy_s);
  store_read_histograms(in, bn_json_in_map(in, raw, "histograms"), s);
  store_read_statement_buckets(in, bn_json_in_list(in, raw, "statements"), s);
}

/* Packs the histograms of an interval in place, if it has any: each takes up to 132 KiB, and a long
   run has many thousands of intervals. */
static void store_pack_histograms(struct bn_snap *s)
{
  bn_snap_pack(s, s);
  for (size_t i = 0; i < s->metrics.n_hists; i++) {
    bn_hist_free(s->hist[i]);
    s->hist[i] = NULL;
  }
}

/* --- records ---------------------------------------------------------------------------------- */

/* Sets a figure of a view to the number n of a document; n NULL: the document lacks it, and it
   becomes 0.  A null, which says that the figure is not known, becomes UINT64_MAX or HUGE_VAL. */
static void store_read_figure(struct bn_json_in *in, const struct bn_node *n,
                              const struct bn_view_field *f, struct bn_view *v)
{
  if (f->type == BN_VIEW_U64)
    *bn_view_u64_at(v, f->offset) = bn_json_in_read_count(in, n, f->name);
  else
    *bn_view_f64_at(v, f->offset) = bn_json_in_read_number(in, n, f->name);
}

static void store_read_figures(struct bn_json_in *in, const struct bn_node *map, struct bn_view *v)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    store_read_figure(in, bn_node_get(map, f->name), f, v);
}

/* Reads the figures of a brief record, which are a list in the order of bn_view_fields. */
static void store_read_brief_figures(struct bn_json_in *in, const struct bn_node *list,
                                     struct bn_view *v)
{
  size_t i = 0;

  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++, i++)
    store_read_figure(in, bn_node_get_at(list, i), f, v);
  if (bn_node_count(list) != i)
    bn_json_in_refuse(in, "'figures' does not have %zu values", i);
}

/* Reads the ranks, their values, and which of these are lower bounds. */
static void store_read_percentiles(struct bn_json_in *in, const struct bn_node *list,
                                   struct bn_record *r)
{
  r->view.n_percents = bn_json_in_length(in, list, "percentiles", BN_PERCENTS_MAX);
  for (size_t i = 0; i < r->view.n_percents; i++) {
    const struct bn_node *map = bn_node_get_at(list, i);

    r->store.percents[i] = bn_json_in_get_number(in, map, "percent");
    r->store.percentile_s[i] = bn_json_in_get_number(in, map, "s");
    r->store.at_least[i] = bn_json_in_bool(in, map, "at_least");
  }
  r->view.at_least = r->store.at_least;
  r->view.percents = r->store.percents;
  r->view.percentile_s = r->store.percentile_s;
}

/* Reads the percentiles of a timing into percentile_s, in the order of the n_ranks ranks of the
   record.  A list of another length says nothing about these ranks; older documents and intervals
   have none. */
static void store_read_timing_percentiles(struct bn_json_in *in, const struct bn_node *map,
                                          size_t n_ranks, double *percentile_s, struct bn_timing *t)
{
  const struct bn_node *list = bn_json_in_list(in, map, "percentiles");
  const size_t n = bn_json_in_length(in, list, "percentiles", BN_PERCENTS_MAX);

  if (list == NULL || n != n_ranks)
    return;
  for (size_t i = 0; i < n; i++) {
    const struct bn_node *percentile = bn_node_get_at(list, i);

    percentile_s[i] = bn_json_in_get_number(in, percentile, "s");
    if (bn_json_in_bool(in, percentile, "at_least"))
      t->at_least |= UINT32_C(1) << i; /* n is at most BN_PERCENTS_MAX, 32 */
  }
  t->percentile_s = percentile_s;
}

/* Gives each timing of a record the name and kind of its histogram, even if the document lacks the
   timing. */
static void store_name_timings(struct bn_record *r)
{
  for (size_t i = BN_H_FIXED; i < r->delta.metrics.n_hists; i++)
    r->store.timing[i - BN_H_FIXED] = bn_view_timing_of(&r->delta.metrics.hist[i]);
}

/* Reads the next timing.  map NULL: the document lacks it, and its values are 0. */
static void store_read_timing(struct bn_json_in *in, const struct bn_node *map, struct bn_record *r)
{
  const size_t k = r->view.n_timings++;
  struct bn_timing *t = &r->store.timing[k];

  bn_json_in_layout(in, map, bn_layout_timing, t);
  if (t->of_phase)
    bn_json_in_layout(in, map, bn_layout_ages, t);
  else /* groups have it; in other timings it is absent, and becomes 0 */
    t->unfinished = bn_json_in_get_count(in, map, "unfinished");
  store_read_timing_percentiles(in, map, r->view.n_percents, r->store.timing_s[k], t);
}

/* Reads the phases.  A document has all phases or none; a value that it lacks is 0. */
static void store_read_phases(struct bn_json_in *in, const struct bn_node *list,
                              struct bn_record *r)
{
  const size_t n = bn_json_in_length(in, list, "phases", bn_phases_count(&r->delta.metrics));

  if (n == 0)
    return;
  bn_phases_name_all(&r->view, &r->store, &r->delta.metrics);
  for (size_t k = 0; k < r->view.n_phases; k++)
    bn_json_in_layout(in, bn_node_get_at(list, k), bn_layout_phase, &r->store.phase[k]);
}

/* Reads the kinds of events, whose timings are read already. */
static void store_read_event_kinds(struct bn_json_in *in, const struct bn_node *list,
                                   struct bn_record *r)
{
  bn_event_kinds_name_all(&r->view, &r->store, &r->delta.metrics);
  for (size_t k = 0; k < r->view.n_event_kinds; k++)
    bn_json_in_layout(in, bn_node_get_at(list, k), bn_layout_event_kind, &r->store.event_kind[k]);
}

/* Reads the timings, and the kinds of events and the phases with their timings.  The document has
   three lists, each in the order of its histograms; the record has one list of all timings, in the
   order of the metrics.  A document may lack the last values of a list, and only totals have
   phases: reading ends when the lists have no more values. */
static void store_read_timings(struct bn_json_in *in, const struct bn_node *record,
                               struct bn_record *r)
{
  const struct bn_node *others = bn_json_in_list(in, record, "timings");
  const struct bn_node *kinds = bn_json_in_list(in, record, "event_kinds");
  const struct bn_node *phases = bn_json_in_list(in, record, "phases");
  const size_t n_timings = r->delta.metrics.n_hists - BN_H_FIXED; /* of the record */
  const size_t n_others = bn_json_in_length(in, others, "timings", n_timings);
  const size_t n_kinds = bn_json_in_length(in, kinds, "event_kinds", n_timings);
  const size_t n_phases = bn_node_count(phases); /* store_read_phases() checks it */
  size_t other = 0, kind = 0, phase = 0;         /* the next value of each list */

  store_name_timings(r);
  for (size_t i = 0; i < n_timings; i++) {
    const bool are_all_read = other + kind >= n_others + n_kinds && phase >= n_phases;

    if (are_all_read)
      break;
    switch (r->delta.metrics.hist[BN_H_FIXED + i].kind) {
    case BN_EVENT_HISTOGRAM:
      store_read_timing(in, bn_node_get_at(kinds, kind++), r);
      break;
    case BN_PHASE_HISTOGRAM:
      store_read_timing(in, bn_node_get_at(phases, phase++), r);
      break;
    default:
      store_read_timing(in, bn_node_get_at(others, other++), r);
    }
  }
  r->view.timings = r->store.timing;
  store_read_event_kinds(in, kinds, r);
  store_read_phases(in, phases, r);
}

/* Reads the next statement, whose name no other statement of the record may have. */
static void store_read_statement(struct bn_json_in *in, const struct bn_node *map,
                                 struct bn_record *r)
{
  const size_t k = r->view.n_statements;
  struct bn_statement_view *s = &r->store.statement[k];
  const char *name = bn_json_in_text(in, map, "name");
  struct bn_statement_sum *sum;

  if (name == NULL || bn_statement_table_find(&r->delta.statements, name) != NULL) {
    bn_json_in_refuse(in, "a statement has no 'name', or that of another one");
    return;
  }
  sum = bn_statement_table_find_or_add(&r->delta.statements, name);
  if (sum == NULL) {
    bn_json_in_refuse(in, "it has too many statements");
    return;
  }
  bn_json_in_layout(in, map, bn_layout_timing, &s->timing);
  s->timing.name = sum->name;
  s->rows = sum->rows = bn_json_in_get_count(in, map, "rows");
  s->errors = sum->errors = bn_json_in_get_count(in, map, "errors");
  store_read_timing_percentiles(in, map, r->view.n_percents, r->store.statement_s[k], &s->timing);
  r->view.n_statements++;
}

/* Reads the statements, which only totals and checkpoints have.  The table was made with room for
   as many as the list has. */
static void store_read_statements(struct bn_json_in *in, const struct bn_node *list,
                                  struct bn_record *r)
{
  for (size_t i = 0; i < r->delta.statements.room && !in->failed; i++)
    store_read_statement(in, bn_node_get_at(list, i), r);
  r->view.statements = r->store.statement;
}

/* Reads the counts of a script, which have the order of its counters; a document may lack the last
   ones. */
static void store_read_counts(struct bn_json_in *in, const struct bn_node *list,
                              struct bn_record *r)
{
  const struct bn_metrics *m = &r->delta.metrics;
  const size_t n = bn_json_in_length(in, list, "counts", m->n_counters);

  for (size_t i = 0; i < m->n_counters && r->view.n_counts < n; i++) {
    struct bn_count *c = &r->store.count[r->view.n_counts];

    if (m->counter[i].kind != BN_SCRIPT_COUNTER)
      continue;
    *c = (struct bn_count){.name = m->counter[i].name, .unit = m->counter[i].unit};
    bn_json_in_layout(in, bn_node_get_at(list, r->view.n_counts++), bn_layout_count, c);
  }
  r->view.counts = r->store.count;
}

/* Reads the figures of the workload.  Their names and texts are copied into one block, whose size
   is computed first. */
static void store_read_workload(struct bn_json_in *in, const struct bn_node *list,
                                struct bn_record *r)
{
  const size_t n = bn_json_in_length(in, list, "workload", BN_FIGURES_MAX);
  size_t size = 0;
  char *end; /* of the texts in the block so far */

  for (size_t i = 0; i < n; i++) {
    const struct bn_node *figure = bn_node_get_at(list, i);

    size += bn_result_text_size(bn_json_in_text(in, figure, "name"));
    size += bn_result_text_size(bn_json_in_text(in, figure, "text"));
  }
  r->figure_names = end = bn_alloc(1, size);
  for (size_t i = 0; i < n && !in->failed; i++) {
    const struct bn_node *figure = bn_node_get_at(list, i);
    const char *name = bn_json_in_text(in, figure, "name");

    if (name == NULL) {
      bn_json_in_refuse(in, "a figure of 'workload' has no name");
      return;
    }
    r->store.figure[i] =
        (struct bn_figure){.key = bn_result_copy_text(&end, name),
                           .value = bn_json_in_get_number(in, figure, "value"),
                           .text = bn_result_copy_text(&end, bn_json_in_text(in, figure, "text"))};
    store_read_figure_merge(in, figure, &r->delta.metrics, &r->store.figure[i]);
  }
  r->view.figures = r->store.figure;
  r->view.n_figures = n;
}

/* Reads the lines that a script has added to the report. */
static void store_read_lines(struct bn_json_in *in, const struct bn_node *list, struct bn_record *r)
{
  const size_t n = bn_json_in_length(in, list, "lines", BN_LINES_MAX);
  struct bn_buf b;

  bn_buf_init(&b, BN_LINES_MAX);
  for (size_t i = 0; i < n && !in->failed; i++) {
    const char *line = bn_node_get_text(bn_node_get_at(list, i));

    if (line == NULL || bn_buf_str(&b, line) != 0 || bn_buf_char(&b, '\n') != 0)
      bn_json_in_refuse(in, "'lines' is no list of texts of up to %d bytes", BN_LINES_MAX);
  }
  r->view.lines = r->lines = n > 0 ? bn_buf_take(&b) : NULL;
  bn_buf_done(&b);
}

/* The watched figures of a map, while they are read. */
struct watched_reading {
  struct bn_json_in *in;
  struct bn_watched *out;
};

/* Reads a watched figure.  Returns -1 if there are too many, which ends the reading. */
static int store_read_watched_figure(void *arg, const char *key, const struct bn_node *value)
{
  const struct watched_reading *w = arg;

  if (w->out->n == BN_WATCHED_MAX) {
    bn_json_in_refuse(w->in, "'watch' has more than %d values", BN_WATCHED_MAX);
    return -1;
  }
  w->out->figure[w->out->n++] =
      (struct bn_watched_figure){.name = key, .value = bn_json_in_read_number(w->in, value, key)};
  return 0;
}

/* Reads the watched figures, which earlier documents and runs without --watch lack. */
static void store_read_watched(struct bn_json_in *in, const struct bn_node *map,
                               struct bn_record *r)
{
  struct bn_watched all;
  struct watched_reading w = {.in = in, .out = &all};

  all.n = 0; /* the other members are large, and few records have figures: they are not cleared */
  if (map == NULL || bn_node_each(map, store_read_watched_figure, &w) != 0)
    return;
  r->view.watched = r->watched = bn_watched_copy(all.figure, all.n);
  r->view.n_watched = all.n;
}

/* Reads the statistics of sessions, which intervals do not have.  There is room for them, because
   store_read_record_of_form() has counted this list. */
static void store_read_sessions(struct bn_json_in *in, const struct bn_node *list,
                                struct bn_record *r)
{
  const size_t n = bn_node_count(list);

  for (size_t i = 0; i < n; i++)
    bn_json_in_layout(in, bn_node_get_at(list, i), bn_layout_session, &r->store.session[i]);
  r->view.sessions = n > 0 ? r->store.session : NULL;
  r->view.n_sessions = n;
}

/* Reads all of a record whose memory has been made, and completes its view. */
static void store_read_parts(struct bn_json_in *in, const struct bn_node *n,
                             const struct bn_node *raw, bool brief, struct bn_record *r)
{
  struct bn_view *v = &r->view;

  v->kind = (enum bn_kind)bn_json_in_name(in, n, "kind", bn_layout_kinds);
  bn_json_in_layout(in, n, bn_layout_view, v);
  if (brief)
    store_read_brief_figures(in, bn_json_in_list(in, n, "figures"), v);
  else
    store_read_figures(in, bn_json_in_map(in, n, "figures"), v);
  store_read_percentiles(in, bn_json_in_list(in, n, "percentiles"), r);
  store_read_timings(in, n, r);
  store_read_statements(in, bn_json_in_list(in, n, "statements"), r);
  store_read_counts(in, bn_json_in_list(in, n, "counts"), r);
  store_read_workload(in, bn_json_in_list(in, n, "workload"), r);
  store_read_lines(in, bn_json_in_list(in, n, "lines"), r);
  store_read_watched(in, bn_json_in_map(in, n, "watch"), r);
  store_read_sessions(in, bn_json_in_list(in, n, "sessions"), r);
  store_read_raw(in, raw, &r->delta);
  if (v->span == BN_VIEW_TOTAL)
    store_read_ages(in, raw, r);
  if (v->span == BN_VIEW_INTERVAL && !brief)
    store_pack_histograms(&r->delta);
  v->delta = &r->delta;
  v->counter = r->delta.counter;
  v->latency = r->delta.hist[BN_H_LATENCY];
  bn_view_settle(v, &r->store);
}

/* The form of a record. */
struct form {
  enum bn_view_span span;
  bool brief; /* it was written by bn_store_print_brief() */
  bool hists; /* it has histograms, which are read */
};

/* Reads a record.  The sessions and statements are counted first, because its memory depends on
   them.  Returns 0, or -1 and err; then there is nothing to free. */
static int store_read_record_of_form(const struct bn_node *n, const struct bn_metrics *m,
                                     struct form form, struct bn_record *out, struct bn_err *err)
{
  struct bn_json_in in = {.err = err};
  const struct bn_node *raw = bn_json_in_map(&in, n, "raw");
  const size_t shown_sessions = bn_node_count(bn_json_in_list(&in, n, "sessions"));
  const size_t raw_sessions = bn_node_count(bn_json_in_list(&in, raw, "sessions"));
  const size_t sessions = shown_sessions > raw_sessions ? shown_sessions : raw_sessions;
  const size_t statements = bn_json_in_length(&in, bn_json_in_list(&in, n, "statements"),
                                              "statements", BN_STATEMENTS_ROWS);

  memset(out, 0, sizeof *out);
  out->view.span = form.span;
  if (form.brief && sessions > 0)
    bn_json_in_refuse(&in, "figures of a part of the time have no sessions");
  if (form.brief && statements > 0)
    bn_json_in_refuse(&in, "figures of a part of the time have no statements");
  if (sessions > BN_BOUND_SESSIONS)
    bn_json_in_refuse(&in, "'sessions' has more than %d values", BN_BOUND_SESSIONS);
  if (!in.failed) {
    bn_snap_init_for_metrics(&out->delta, m, (unsigned)sessions, form.hists);
    bn_statement_table_init(&out->delta.statements, statements, form.hists);
    bn_view_store_init(&out->store, &out->delta);
    store_read_parts(&in, n, raw, form.brief, out);
  }
  if (in.failed)
    bn_record_done(out);
  return bn_json_in_verdict(&in);
}

int bn_store_read_record(const struct bn_node *n, const struct bn_metrics *m,
                         enum bn_view_span span, struct bn_record *out, struct bn_err *err)
{
  const bool has_hists = bn_node_get(bn_node_get(n, "raw"), "histograms") != NULL;
  /* A tick always has histograms, to which those of earlier ticks are added.  A checkpoint has
     none. */
  const struct form form = {
      .span = span, .hists = span == BN_VIEW_TICK || (span != BN_VIEW_CHECKPOINT && has_hists)};

  return store_read_record_of_form(n, m, form, out, err);
}

/* --- brief records ---------------------------------------------------------------------------- */

/* The texts of histograms that are still to be read, each after a gap. */
struct texts {
  const char *at, *end;
};

/* Sets *text and *len to the next text, without the gap before it, and moves t->at past the text.
   Returns false if no gap comes next. */
static bool store_next_text(struct texts *t, const char **text, size_t *len)
{
  const char *next_gap;

  if (t->at == t->end || *t->at != BN_STORE_GAP)
    return false;
  *text = t->at + 1;
  next_gap = memchr(*text, BN_STORE_GAP, (size_t)(t->end - *text));
  t->at = next_gap != NULL ? next_gap : t->end;
  *len = (size_t)(t->at - *text);
  return true;
}

/* Reads the histograms of a brief record, one text for each. */
static void store_read_texts(struct bn_json_in *in, struct texts texts, const struct bn_metrics *m,
                             struct bn_hist_codec *b)
{
  const char *text = NULL;
  size_t len = 0;

  b->n = 0;
  for (size_t i = 0; i < m->n_hists && !in->failed; i++)
    if (!store_next_text(&texts, &text, &len) || !bn_hist_codec_take(b, i, text, len))
      bn_json_in_refuse(in, "'%s' is no text of buckets", m->hist[i].name);
  if (texts.at < texts.end)
    bn_json_in_refuse(in, "it has more histograms than it said");
}

int bn_store_read_brief(const struct bn_node *n, const char *texts, size_t len,
                        const struct bn_metrics *m, enum bn_view_span span, struct bn_record *out,
                        struct bn_hist_codec *hists, struct bn_err *err)
{
  struct bn_json_in in = {.err = err};

  if (store_read_record_of_form(n, m, (struct form){.span = span, .brief = true}, out, err) != 0)
    return -1;
  store_read_texts(&in, (struct texts){.at = texts, .end = texts + len}, m, hists);
  if (in.failed)
    bn_record_done(out);
  return bn_json_in_verdict(&in);
}

/* --- adding what was read --------------------------------------------------------------------- */

struct bn_group *bn_store_add_group(struct bn_result *r, const char *name, struct bn_err *err)
{
  if (r->n_groups == BN_BOUND_GROUPS) {
    (void)bn_err_set(err, EFBIG, "'groups' has more than %d values", BN_BOUND_GROUPS);
    return NULL;
  }
  return bn_result_add_group(r, name != NULL ? name : "");
}

int bn_store_check_length(enum bn_view_span span, size_t length, struct bn_err *err)
{
  if (span == BN_VIEW_INTERVAL && length > BN_BOUND_INTERVALS)
    return bn_err_set(err, EFBIG, "'intervals' has more than %d values", BN_BOUND_INTERVALS);
  if (span == BN_VIEW_CHECKPOINT && length > BN_BOUND_CHECKPOINTS)
    return bn_err_set(err, EFBIG, "'checkpoints' has more than %d values", BN_BOUND_CHECKPOINTS);
  return 0;
}

int bn_store_add_view(struct bn_result *r, const struct bn_view *v, struct bn_err *err)
{
  struct bn_group *g = &r->group[r->n_groups - 1];
  const size_t n = v->span == BN_VIEW_INTERVAL ? g->n_intervals : g->n_checkpoints;
  uint64_t bytes = 0; /* that the records of all groups take */

  if (bn_store_check_length(v->span, n + 1, err) != 0)
    return -1;
  for (size_t i = 0; i < r->n_groups; i++)
    bytes += r->group[i].bytes;
  if (bytes >= BN_BOUND_RECORD_BYTES)
    return bn_err_set(err, EFBIG, "'intervals' and 'checkpoints' need more than %llu GiB of memory",
                      (unsigned long long)(BN_BOUND_RECORD_BYTES >> 30));
  bn_group_add_view(g, v);
  return 0;
}
