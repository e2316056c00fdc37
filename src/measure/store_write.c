/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a result as a tree of values. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/units.h"
#include "measure/bounds.h"
#include "measure/json_hist.h"
#include "measure/json_write.h"
#include "measure/layout.h"
#include "measure/row.h"
#include "measure/store.h"

/* How a record is written. */
struct form {
  bool brief;  /* values that are 0, false or empty are left out, and so are the names of figures */
  bool no_lag; /* the last histogram, the lag of pauses, has no value and is left out */
};

/* Puts a list if it has values, and else frees it. */
static void store_put_unless_empty(struct bn_node *map, const char *key, struct bn_node *list)
{
  if (bn_node_count(list) > 0)
    bn_json_put(map, key, list);
  else
    bn_node_free(list);
}

/* Puts a list, also an empty one unless the record is brief. */
static void store_put_list(const struct form *form, struct bn_node *map, const char *key,
                           struct bn_node *list)
{
  if (form->brief)
    store_put_unless_empty(map, key, list);
  else
    bn_json_put(map, key, list);
}

/* --- records ---------------------------------------------------------------------------------- */

/* The functions below put a part of a record into its map, or return it. */

/* Appends n metrics to a list.  "merge" is left out if it is the usual sum. */
static void store_add_metrics(struct bn_node *list, const struct bn_metric *rows, size_t n)
{
  assert(rows != NULL || n == 0);
  for (size_t i = 0; i < n; i++) {
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "name", bn_node_text(rows[i].name));
    bn_json_put(map, "unit", bn_node_text(rows[i].unit));
    bn_json_put(map, "kind", bn_node_text(bn_layout_metric_kinds[rows[i].kind]));
    if (rows[i].merge != BN_MERGE_SUM)
      bn_json_put(map, "merge", bn_node_text(bn_layout_merges[rows[i].merge]));
    bn_json_add(list, map);
  }
}

/* Returns the list of all metrics, in the order of bn_metrics_copy_rows(). */
static struct bn_node *store_list_metrics(const struct form *form, const struct bn_metrics *m)
{
  struct bn_node *list = bn_node_list();

  store_add_metrics(list, m->counter, m->n_counters);
  store_add_metrics(list, m->hist, m->n_hists - form->no_lag);
  store_add_metrics(list, m->labelled, m->n_labelled);
  return list;
}

struct bn_node *bn_store_metrics(const struct bn_metrics *m)
{
  return store_list_metrics(&(struct form){.brief = false}, m);
}

/* Returns the value of a figure, or null if the view does not measure it. */
static struct bn_node *store_figure_of(const struct bn_view *v, const struct bn_view_field *f)
{
  if (!bn_view_measures(v, f))
    return bn_node_null();
  return f->type == BN_VIEW_U64 ? bn_node_u64(bn_view_u64(v, f)) : bn_node_f64(bn_view_value(v, f));
}

/* Puts the percentiles among the figures, under the names of the columns of a CSV file. */
static void store_put_ranks(struct bn_node *map, const struct bn_view *v)
{
  char name[BN_ROW_RANK];

  for (size_t i = 0; i < v->n_percents; i++)
    if (isfinite(v->percents[i]))
      bn_json_put(map, bn_row_name_rank(name, v->percents[i]), bn_node_f64(v->percentile_s[i]));
}

/* Puts the figures that are known, by their names. */
static void store_put_figures(struct bn_node *record, const struct bn_view *v)
{
  struct bn_node *map = bn_node_map();

  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (bn_view_knows(v, f))
      bn_json_put(map, f->name, store_figure_of(v, f));
  store_put_ranks(map, v);
  bn_json_put(record, "figures", map);
}

/* Returns the value of a figure of a brief record.  It is the whole number 0 if the figure is not
   known, and also in place of 0.0, because whole numbers are read faster. */
static struct bn_node *store_brief_figure_of(const struct bn_view *v, const struct bn_view_field *f)
{
  if (!bn_view_knows(v, f) || (f->type == BN_VIEW_F64 && bn_view_value(v, f) == 0))
    return bn_node_integer(0);
  return store_figure_of(v, f);
}

/* Puts all figures as a list, in the order of bn_view_fields: names would be most of the line. */
static void store_put_brief_figures(struct bn_node *record, const struct bn_view *v)
{
  struct bn_node *list = bn_node_list();

  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    bn_json_add(list, store_brief_figure_of(v, f));
  bn_json_put(record, "figures", list);
}

/* Puts the ranks, their values, and which of these are lower bounds. */
static void store_put_percentiles(struct bn_node *record, const struct bn_view *v)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < v->n_percents; i++) {
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "percent", bn_node_f64(v->percents[i]));
    bn_json_put(map, "s", bn_node_f64(v->percentile_s[i]));
    bn_json_put(map, "at_least", bn_node_boolean(bn_view_at_least(v, i)));
    bn_json_add(list, map);
  }
  bn_json_put(record, "percentiles", list);
}

/* Puts the percentiles of a timing, if it has any.  Their ranks are those of the view.  Hardly any
   is a lower bound, so only such a percentile has "at_least". */
static void store_put_timing_percentiles(struct bn_node *parent, const struct bn_view *v,
                                         const struct bn_timing *t)
{
  struct bn_node *list;

  if (t->percentile_s == NULL)
    return;
  list = bn_node_list();
  for (size_t i = 0; i < v->n_percents; i++) {
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "percent", bn_node_f64(v->percents[i]));
    bn_json_put(map, "s", bn_node_f64(t->percentile_s[i]));
    if (bn_timing_at_least(t, i))
      bn_json_put(map, "at_least", bn_node_boolean(true));
    bn_json_add(list, map);
  }
  bn_json_put(parent, "percentiles", list);
}

/* Puts the timings except those of kinds of events and of phases, which have lists of their own.
   Timings of intervals have no percentiles, which would fill the document. */
static void store_put_timings(const struct form *form, struct bn_node *record,
                              const struct bn_view *v)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i + form->no_lag < v->n_timings; i++) {
    struct bn_node *map;

    if (v->timings[i].of_kind || v->timings[i].of_phase)
      continue;
    map = bn_node_map();
    bn_json_put(map, "name", bn_node_text(v->timings[i].name));
    bn_json_layout(map, bn_layout_timing, &v->timings[i], form->brief);
    if (v->span != BN_VIEW_INTERVAL)
      store_put_timing_percentiles(map, v, &v->timings[i]);
    bn_json_add(list, map);
  }
  store_put_list(form, record, "timings", list);
}

/* Puts the kinds of events, if the script names any. */
static void store_put_event_kinds(const struct form *form, struct bn_node *record,
                                  const struct bn_view *v)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < v->n_event_kinds; i++) {
    const struct bn_event_kind *k = &v->event_kinds[i];
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "name", bn_node_text(k->name));
    bn_json_layout(map, bn_layout_event_kind, k, form->brief);
    bn_json_layout(map, bn_layout_timing, k->timing, form->brief);
    store_put_timing_percentiles(map, v, k->timing);
    if (k->timing->unfinished > 0)
      bn_json_put(map, "unfinished", bn_node_u64(k->timing->unfinished));
    bn_json_add(list, map);
  }
  store_put_unless_empty(record, "event_kinds", list);
}

/* Puts the phases of a profile, if the run has any. */
static void store_put_phases(const struct form *form, struct bn_node *record,
                             const struct bn_view *v)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < v->n_phases; i++) {
    const struct bn_phase_view *phase = &v->phases[i];
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "text", bn_node_text(phase->text));
    bn_json_layout(map, bn_layout_phase, phase, form->brief);
    bn_json_layout(map, bn_layout_timing, phase->timing, form->brief);
    bn_json_layout(map, bn_layout_ages, phase->timing, form->brief);
    store_put_timing_percentiles(map, v, phase->timing);
    bn_json_add(list, map);
  }
  store_put_unless_empty(record, "phases", list);
}

/* Puts the statements by name, if the view tells them apart. */
static void store_put_statements(const struct form *form, struct bn_node *record,
                                 const struct bn_view *v)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < v->n_statements; i++) {
    const struct bn_statement_view *s = &v->statements[i];
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "name", bn_node_text(s->timing.name));
    bn_json_layout(map, bn_layout_timing, &s->timing, form->brief);
    bn_json_put(map, "rows", bn_node_u64(s->rows));
    bn_json_put(map, "errors", bn_node_u64(s->errors));
    store_put_timing_percentiles(map, v, &s->timing);
    bn_json_add(list, map);
  }
  store_put_unless_empty(record, "statements", list);
}

/* Puts the counts of a script, if it declares any. */
static void store_put_counts(const struct form *form, struct bn_node *record,
                             const struct bn_view *v)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < v->n_counts; i++) {
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "name", bn_node_text(v->counts[i].name));
    bn_json_put(map, "unit", bn_node_text(v->counts[i].unit));
    bn_json_layout(map, bn_layout_count, &v->counts[i], form->brief);
    bn_json_add(list, map);
  }
  store_put_unless_empty(record, "counts", list);
}

/* Puts how a figure of a workload is merged, and for a mean the counter that it is weighted by. */
static void store_put_merge(struct bn_node *map, const struct bn_view *v, const struct bn_figure *f)
{
  bn_json_put(map, "merge", bn_node_text(bn_layout_merges[f->merge]));
  if (f->merge == BN_MERGE_MEAN && f->weight < v->delta->metrics.n_counters)
    bn_json_put(map, "weight", bn_node_text(v->delta->metrics.counter[f->weight].name));
}

/* Puts the figures of the workload. */
static void store_put_workload(const struct form *form, struct bn_node *record,
                               const struct bn_view *v)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < v->n_figures; i++) {
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "name", bn_node_text(v->figures[i].key));
    bn_json_put(map, "value", bn_node_f64(v->figures[i].value));
    bn_json_put(map, "text", bn_node_text(v->figures[i].text));
    store_put_merge(map, v, &v->figures[i]);
    bn_json_add(list, map);
  }
  store_put_list(form, record, "workload", list);
}

/* Puts the lines that a script has added to the report, if any. */
static void store_put_lines(struct bn_node *record, const struct bn_view *v)
{
  const char *begin = v->lines;
  struct bn_node *list;

  if (begin == NULL)
    return;
  list = bn_node_list();
  for (const char *end = strchr(begin, '\n'); end != NULL; end = strchr(begin, '\n')) {
    char *line = bn_alloc_part(begin, (size_t)(end - begin));

    bn_json_add(list, bn_node_text(line));
    free(line);
    begin = end + 1;
  }
  bn_json_put(record, "lines", list);
}

/* Puts the watched figures, if there are any. */
static void store_put_watched(struct bn_node *record, const struct bn_view *v)
{
  struct bn_node *map;

  if (v->n_watched == 0)
    return;
  map = bn_node_map();
  for (size_t i = 0; i < v->n_watched; i++)
    bn_json_put(map, v->watched[i].name, bn_node_f64(v->watched[i].value));
  bn_json_put(record, "watch", map);
}

/* Puts the statistics of each session, which intervals do not have. */
static void store_put_sessions(const struct form *form, struct bn_node *record,
                               const struct bn_view *v)
{
  const size_t n = v->sessions != NULL ? v->n_sessions : 0;
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < n; i++) {
    struct bn_node *map = bn_node_map();

    bn_json_layout(map, bn_layout_session, &v->sessions[i], form->brief);
    bn_json_add(list, map);
  }
  store_put_list(form, record, "sessions", list);
}

/* Returns the list of three texts for moments, which a double cannot hold. */
static struct bn_node *store_moments_of(const struct bn_moments *m)
{
  const long double values[] = {m->n, m->sum, m->sum_sq};
  struct bn_node *list = bn_node_list();
  char digits[64];

  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    (void)snprintf(digits, sizeof digits, "%La", values[i]);
    bn_units_restore_point(digits);
    bn_json_add(list, bn_node_utf8(digits));
  }
  return list;
}

/* Returns the labelled counts: for each metric the list of its pairs, [label, count]. */
static struct bn_node *store_labels_of(const struct form *form, const struct bn_snap *s)
{
  struct bn_node *map = bn_node_map();

  for (size_t i = 0; i < s->metrics.n_labelled; i++) {
    struct bn_node *list = bn_node_list();

    for (size_t k = 0; k < s->n_labels[i]; k++) {
      struct bn_node *pair = bn_node_list();

      bn_json_add(pair, bn_node_text(s->label[i][k].name));
      bn_json_add(pair, bn_node_u64(s->label[i][k].n));
      bn_json_add(list, pair);
    }
    store_put_list(form, map, s->metrics.labelled[i].name, list);
  }
  return map;
}

/* Returns the numbers of sessions, each a list in the order in which they are read. */
static struct bn_node *store_raw_sessions_of(const struct bn_snap *s)
{
  struct bn_node *list = bn_node_list();

  for (unsigned i = 0; i < s->n_sessions; i++) {
    const struct bn_snap_session *session = &s->session[i];
    struct bn_node *row = bn_node_list();

    bn_json_add(row, bn_node_u64(session->events));
    bn_json_add(row, bn_node_u64(session->busy_ns));
    bn_json_add(row, bn_node_u64(session->min_ns));
    bn_json_add(row, bn_node_u64(session->max_ns));
    bn_json_add(list, row);
  }
  return list;
}

static struct bn_node *store_histograms_of(const struct form *form, const struct bn_snap *s)
{
  struct bn_node *map = bn_node_map();

  for (size_t i = 0; i + form->no_lag < s->metrics.n_hists; i++)
    bn_json_put(map, s->metrics.hist[i].name,
                bn_json_hist(s->hist[i], s->sparse != NULL ? &s->sparse[i] : NULL));
  return map;
}

/* Puts the histograms of statements, if there are any. */
static void store_put_statement_buckets(struct bn_node *raw, const struct bn_view *v)
{
  struct bn_node *list;

  if (v->n_statements == 0 || !v->delta->statements.hists)
    return;
  list = bn_node_list();
  for (size_t i = 0; i < v->n_statements; i++) {
    const char *name = v->statements[i].timing.name;
    const struct bn_statement_sum *sum = bn_statement_table_find(&v->delta->statements, name);
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "name", bn_node_text(name));
    bn_json_put(map, "histogram", bn_json_hist(sum != NULL ? sum->hist : NULL, NULL));
    bn_json_add(list, map);
  }
  bn_json_put(raw, "statements", list);
}

/* Returns the counters.  A brief record leaves out those that are 0. */
static struct bn_node *store_counters_of(const struct form *form, const struct bn_snap *s)
{
  struct bn_node *map = bn_node_map();

  for (size_t i = 0; i < s->metrics.n_counters; i++)
    if (!form->brief || s->counter[i] != 0)
      bn_json_put(map, s->metrics.counter[i].name, bn_node_u64(s->counter[i]));
  return map;
}

/* Puts moments.  A brief record leaves out moments of no values. */
static void store_put_moments(const struct form *form, struct bn_node *map, const char *key,
                              const struct bn_moments *m)
{
  if (!form->brief || m->n != 0 || m->sum != 0 || m->sum_sq != 0)
    bn_json_put(map, key, store_moments_of(m));
}

/* Returns the raw numbers.  Checkpoints and the total have sessions; ticks, the total and packed
   intervals have histograms. */
static struct bn_node *store_raw_of(const struct form *form, const struct bn_view *v)
{
  const struct bn_snap *s = v->delta;
  const bool has_sessions = v->span == BN_VIEW_CHECKPOINT || v->span == BN_VIEW_TOTAL;
  const bool has_whole_hists =
      (v->span == BN_VIEW_TICK || v->span == BN_VIEW_TOTAL) && s->hist[BN_H_LATENCY] != NULL;
  const bool has_hists = !form->brief && (has_whole_hists || s->sparse != NULL);
  struct bn_node *map = bn_node_map();

  bn_json_layout(map, bn_layout_snap, s, form->brief);
  bn_json_put(map, "counters", store_counters_of(form, s));
  bn_json_put(map, "labels", store_labels_of(form, s));
  if (has_sessions)
    bn_json_put(map, "sessions", store_raw_sessions_of(s));
  store_put_moments(form, map, "fair_events", &s->fair_events);
  store_put_moments(form, map, "fair_busy_s", &s->fair_busy_s);
  if (has_hists)
    bn_json_put(map, "histograms", store_histograms_of(form, s));
  if (v->span == BN_VIEW_TOTAL)
    store_put_statement_buckets(map, v);
  if (v->ages != NULL)
    bn_json_put(map, "ages", bn_json_hist(v->ages, NULL));
  return map;
}

/* Returns a record.  A brief one has no histograms: its line has them after the JSON. */
static struct bn_node *store_record_of(const struct form *form, const struct bn_view *v)
{
  struct bn_node *map = bn_node_map();

  bn_json_put(map, "kind", bn_node_text(bn_layout_kinds[v->kind]));
  bn_json_layout(map, bn_layout_view, v, form->brief);
  if (form->brief)
    store_put_brief_figures(map, v);
  else
    store_put_figures(map, v);
  store_put_percentiles(map, v);
  store_put_timings(form, map, v);
  store_put_event_kinds(form, map, v);
  store_put_phases(form, map, v);
  store_put_statements(form, map, v);
  store_put_counts(form, map, v);
  store_put_workload(form, map, v);
  store_put_lines(map, v);
  store_put_watched(map, v);
  store_put_sessions(form, map, v);
  bn_json_put(map, "raw", store_raw_of(form, v));
  return map;
}

struct bn_node *bn_store_record(const struct bn_view *v)
{
  return store_record_of(&(struct form){.brief = false}, v);
}

char *bn_store_print_brief(const struct bn_view *v, size_t *len)
{
  const struct form form = {.brief = true};
  const struct bn_snap *s = v->delta;
  struct bn_node *map = bn_node_map();
  struct bn_buf b = {.max = 0}; /* no bound */
  char *text;

  bn_json_put(map, bn_layout_spans[v->span], store_record_of(&form, v));
  text = bn_node_print(map, 0 /* one line */, len);
  bn_node_free(map);
  (void)bn_buf_add(&b, text, *len);
  free(text);
  for (size_t i = 0; i < s->metrics.n_hists; i++) {
    (void)bn_buf_char(&b, BN_STORE_GAP);
    bn_hist_codec_put(&b, s->hist[i], s->sparse != NULL ? &s->sparse[i] : NULL);
  }
  *len = b.len;
  return bn_buf_take(&b);
}

/* --- bounds ----------------------------------------------------------------------------------- */

uint64_t bn_store_count_values(const struct bn_view *v)
{
  struct bn_node *record = bn_store_record(v);
  size_t len = 0;
  char *text = bn_node_print(record, 0 /* one line */, &len);
  const uint64_t n = bn_node_bound_values(text, len);

  free(text);
  bn_node_free(record);
  return n;
}

/* A quarter of each bound is kept for the checkpoints and the total.  The number of values bounds
   the size of the file, too: a value takes less than 42 bytes on average. */
bool bn_store_has_room(const struct bn_group *g, uint64_t values)
{
  return g->bytes < BN_BOUND_RECORD_BYTES / 4 * 3 && values < BN_BOUND_VALUES / 4 * 3 &&
         g->n_intervals < BN_BOUND_INTERVALS;
}

/* --- documents -------------------------------------------------------------------------------- */

/* Removes the members that `known`, the same part of an older document, lacks: a figure that was
   never counted must not become 0.  known NULL: removes nothing.  Returns n. */
static struct bn_node *store_confine(struct bn_node *n, const struct bn_node *known)
{
  bn_node_confine(n, known);
  return n;
}

/* Puts n records of a group.  known: the same group of an older document, or NULL. */
static void store_put_records(const struct form *form, struct bn_node *group, const char *key,
                              const struct bn_record *r, size_t n, const struct bn_node *known)
{
  const struct bn_node *old = bn_node_get(known, key);
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < n; i++)
    bn_json_add(list, store_confine(store_record_of(form, &r[i].view), bn_node_get_at(old, i)));
  bn_json_put(group, key, list);
}

/* Returns the metrics of the records of a group, which are none if it has no record. */
static const struct bn_metrics *store_metrics_of(const struct bn_group *g)
{
  static const struct bn_metrics none = {.n_counters = 0};

  if (g->has_total)
    return &g->total.delta.metrics;
  if (g->n_checkpoints > 0)
    return &g->checkpoint[0].delta.metrics;
  return g->n_intervals > 0 ? &g->interval[0].delta.metrics : &none;
}

/* Returns whether a group has records, and the lag of pauses has no value in any of them. */
static bool store_has_idle_lag(const struct bn_group *g)
{
  const struct {
    const struct bn_record *record;
    size_t n;
  } lists[] = {{g->interval, g->n_intervals},
               {g->checkpoint, g->n_checkpoints},
               {&g->total, g->has_total ? 1 : 0}};
  size_t n = 0;

  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (size_t k = 0; k < lists[i].n; k++, n++)
      if (!bn_view_has_idle_lag(&lists[i].record[k].view))
        return false;
  return n > 0;
}

/* Returns the host of a group. */
static struct bn_node *store_member_of(const struct bn_member *m)
{
  struct bn_node *map = bn_node_map();

  bn_json_put(map, "name", bn_node_text(m->host));
  if (m->group != NULL)
    bn_json_put(map, "group", bn_node_text(m->group));
  bn_json_put(map, "lost", bn_node_text(m->lost));
  bn_json_layout(map, bn_layout_member, m, false /* brief */);
  return map;
}

/* Returns a group.  omits_idle_lag: the lag of pauses is left out if no record has a value of it.
   known: the same group of an older document, or NULL. */
static struct bn_node *store_group_of(const struct bn_group *g, bool omits_idle_lag,
                                      const struct bn_node *known)
{
  const struct form form = {.no_lag = omits_idle_lag && store_has_idle_lag(g)};
  struct bn_node *map = bn_node_map(), *metrics, *total = bn_node_null();

  bn_json_put(map, "name", bn_node_text(g->name));
  if (g->member != NULL)
    bn_json_put(map, "host", store_member_of(g->member));
  metrics = store_list_metrics(&form, store_metrics_of(g));
  bn_json_put(map, "metrics", store_confine(metrics, bn_node_get(known, "metrics")));
  store_put_records(&form, map, "intervals", g->interval, g->n_intervals, known);
  store_put_records(&form, map, "checkpoints", g->checkpoint, g->n_checkpoints, known);
  if (g->has_total)
    total = store_confine(store_record_of(&form, &g->total.view), bn_node_get(known, "total"));
  bn_json_put(map, "total", total);
  return map;
}

static struct bn_node *store_assertions_of(const struct bn_facts *f)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < f->n_verdicts; i++) {
    const struct bn_verdict *v = &f->verdict[i];
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "text", bn_node_text(v->text));
    bn_json_put(map, "value", bn_node_f64(v->found.measured ? v->found.value : NAN));
    bn_json_put(map, "unit", bn_node_text(v->unit));
    bn_json_put(map, "at_least", bn_node_boolean(v->found.at_least));
    bn_json_put(map, "holds", bn_node_boolean(v->found.holds));
    bn_json_put(map, "ended_run", bn_node_boolean(v->found.ended_run));
    bn_json_add(list, map);
  }
  return list;
}

/* Returns how the run ended. */
static struct bn_node *store_end_of(const struct bn_end *end)
{
  struct bn_node *map = bn_node_map();

  bn_json_layout(map, bn_layout_end, end, false /* brief */);
  /* A run that was killed, or still goes on, has no status. */
  if (end->partial && end->status == 0)
    bn_json_put(map, "status", bn_node_null());
  if (end->reason != BN_END_UNKNOWN)
    bn_json_put(map, "reason", bn_node_text(bn_layout_reasons[end->reason]));
  return map;
}

/* Returns a document.  omits_idle_lag: as in store_group_of().  known: an older document of the
   same result, or NULL. */
static struct bn_node *store_document_of(const struct bn_result *r, bool omits_idle_lag,
                                         const struct bn_node *known)
{
  struct bn_node *map = bn_node_map(), *groups = bn_node_list();

  bn_json_put(map, "format", bn_node_utf8("bench result"));
  bn_json_put(map, "version", bn_node_integer(BN_STORE_VERSION));
  bn_json_put(map, "facts", store_confine(bn_store_facts(&r->facts), bn_node_get(known, "facts")));
  for (size_t i = 0; i < r->n_groups; i++)
    bn_json_add(groups, store_group_of(&r->group[i], omits_idle_lag,
                                       bn_node_get_at(bn_node_get(known, "groups"), i)));
  bn_json_put(map, "groups", groups);
  if (r->facts.n_verdicts > 0)
    bn_json_put(map, "assertions", store_assertions_of(&r->facts));
  bn_json_put(map, "end", store_confine(store_end_of(&r->end), bn_node_get(known, "end")));
  if (known != NULL)
    bn_node_complete(map, known);
  return map;
}

/* A document that is written anew keeps also the empty histograms of the older one. */
struct bn_node *bn_store_document(const struct bn_result *r, const struct bn_node *known)
{
  return store_document_of(r, known == NULL, known);
}

struct bn_node *bn_store_part(const struct bn_result *r)
{
  return store_document_of(r, false /* all metrics stay */, NULL);
}
