/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies views into records and keeps them by group. */
#include "measure/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "measure/event_kinds.h"
#include "measure/phases.h"

size_t bn_result_text_size(const char *text)
{
  return text != NULL ? strlen(text) + 1 : 0;
}

const char *bn_result_copy_text(char **at, const char *text)
{
  const size_t size = bn_result_text_size(text);
  char *copy = *at;

  if (text == NULL)
    return NULL;
  memcpy(copy, text, size);
  *at += size;
  return copy;
}

/* These copy a part of a view into a record.  r->view is a copy of the view, whose pointers they
   replace by the record's own; its snapshot and its store have the room. */

/* Copies the figures of the workload, with their texts in one block. */
static void result_copy_figures(struct bn_record *r, const struct bn_view *v)
{
  size_t size = 0;
  char *at;

  for (size_t i = 0; i < v->n_figures; i++)
    size += bn_result_text_size(v->figures[i].key) + bn_result_text_size(v->figures[i].text);
  r->figure_names = at = bn_alloc(1, size);
  for (size_t i = 0; i < v->n_figures; i++) {
    struct bn_figure *f = &r->store.figure[i];

    *f = v->figures[i];
    f->key = bn_result_copy_text(&at, f->key);
    f->text = bn_result_copy_text(&at, f->text);
  }
  r->view.figures = r->store.figure;
}

/* Copies the watched figures, with their names. */
static void result_copy_watched(struct bn_record *r, const struct bn_view *v)
{
  r->watched = v->n_watched > 0 ? bn_watched_copy(v->watched, v->n_watched) : NULL;
  r->view.watched = r->watched;
}

/* Copies the ranks, their values, and which of these are lower bounds. */
static void result_copy_ranks(struct bn_record *r, const struct bn_view *v)
{
  memcpy(r->store.percents, v->percents, v->n_percents * sizeof *v->percents);
  memcpy(r->store.percentile_s, v->percentile_s, v->n_percents * sizeof *v->percentile_s);
  r->view.percents = r->store.percents;
  r->view.percentile_s = r->store.percentile_s;
  for (size_t i = 0; i < v->n_percents; i++)
    r->store.at_least[i] = bn_view_at_least(v, i);
  r->view.at_least = r->store.at_least;
}

/* Copies the timings.  bare: only kinds of events keep their percentiles; with many ranks, those of
   all timings would fill documents. */
static void result_copy_timings(struct bn_record *r, const struct bn_view *v, bool bare)
{
  for (size_t i = 0; i < v->n_timings; i++) {
    struct bn_timing *t = &r->store.timing[i];

    *t = v->timings[i];
    t->name = r->delta.metrics.hist[BN_H_FIXED + i].name;
    if (bare && !t->of_kind)
      t->percentile_s = NULL;
    if (t->percentile_s == NULL)
      continue;
    memcpy(r->store.timing_s[i], t->percentile_s, v->n_percents * sizeof *t->percentile_s);
    t->percentile_s = r->store.timing_s[i];
  }
  r->view.timings = r->store.timing;
}

/* Copies the statements that the record's own table has; their names are those of the table. */
static void result_copy_statements(struct bn_record *r, const struct bn_view *v)
{
  size_t n = 0;

  for (size_t i = 0; i < v->n_statements; i++) {
    const struct bn_timing *from = &v->statements[i].timing;
    const struct bn_statement_sum *sum = bn_statement_table_find(&r->delta.statements, from->name);
    struct bn_statement_view *to;

    if (sum == NULL)
      continue;
    to = &r->store.statement[n];
    *to = v->statements[i];
    to->timing.name = sum->name;
    if (from->percentile_s != NULL) {
      memcpy(r->store.statement_s[n], from->percentile_s, v->n_percents * sizeof(double));
      to->timing.percentile_s = r->store.statement_s[n];
    }
    n++;
  }
  r->view.statements = n > 0 ? r->store.statement : NULL;
  r->view.n_statements = n;
}

/* Copies the counts of a script, which have the order of its counters. */
static void result_copy_counts(struct bn_record *r, const struct bn_view *v)
{
  const struct bn_metrics *m = &r->delta.metrics;
  size_t n = 0;

  for (size_t i = 0; i < m->n_counters && n < v->n_counts; i++) {
    struct bn_count *c = &r->store.count[n];

    if (m->counter[i].kind != BN_SCRIPT_COUNTER)
      continue;
    *c = v->counts[n];
    c->name = m->counter[i].name;
    c->unit = m->counter[i].unit;
    n++;
  }
  r->view.counts = r->store.count;
}

/* Copies the statistics of sessions, for which a record without sessions has no room. */
static void result_copy_sessions(struct bn_record *r, const struct bn_view *v)
{
  if (v->sessions == NULL || r->delta.n_sessions == 0) {
    r->view.sessions = NULL;
    r->view.n_sessions = 0;
    return;
  }
  memcpy(r->store.session, v->sessions, v->n_sessions * sizeof *v->sessions);
  r->view.sessions = r->store.session;
}

static uint64_t result_size_of_statements(const struct bn_record *r)
{
  const struct bn_statement_table *t = &r->delta.statements;
  uint64_t size =
      t->room * (sizeof *t->sum + sizeof *r->store.statement + sizeof *r->store.statement_s);

  for (size_t i = 0; i < t->n; i++)
    size += bn_result_text_size(t->sum[i].name);
  return size;
}

/* Returns the bytes that a record occupies, for the limit of the memory that records may use. */
static uint64_t result_size_of_record(const struct bn_record *r)
{
  const struct bn_metrics *m = &r->delta.metrics;
  const struct bn_snap *d = &r->delta;
  const size_t n_rows = m->n_counters + m->n_hists + m->n_labelled; /* one block, at m->counter */
  uint64_t size = sizeof *r;

  size += n_rows * sizeof *m->counter;
  for (size_t i = 0; i < n_rows; i++)
    size += bn_result_text_size(m->counter[i].name) + bn_result_text_size(m->counter[i].unit);
  size += m->n_counters * (sizeof *d->counter + sizeof *r->store.count);
  size += m->n_hists * (sizeof *d->sparse + sizeof *r->store.timing + sizeof *r->store.event_kind);
  if (r->store.timing_s != NULL)
    size += m->n_hists * sizeof *r->store.timing_s;
  size += bn_snap_count_buckets(d) * sizeof(struct bn_bucket);
  size += bn_phases_count(m) * sizeof *r->store.phase;
  size += m->n_labelled * (sizeof *d->label + sizeof *d->n_labels);
  for (size_t i = 0; i < m->n_labelled; i++)
    size += (d->n_labels[i] + 1) * sizeof **d->label;
  size += d->n_sessions * (sizeof *d->session + sizeof *r->store.session);
  size += result_size_of_statements(r);
  size += (r->view.n_figures + 1) * sizeof *r->store.figure;
  for (size_t i = 0; i < r->view.n_watched; i++)
    size += sizeof *r->watched + bn_result_text_size(r->watched[i].name);
  return size + bn_result_text_size(r->lines);
}

/* Frees the room that a record does not use, because a run of days keeps many records.  A bare
   record has percentiles for kinds of events only; without such kinds it needs no room for them. */
static void result_trim(struct bn_record *r, bool bare)
{
  bn_snap_trim(&r->delta);
  r->store.figure = bn_alloc_resize(r->store.figure, r->view.n_figures, sizeof *r->store.figure);
  r->view.figures = r->store.figure;
  if (bare && r->view.n_event_kinds == 0) {
    free(r->store.timing_s);
    r->store.timing_s = NULL;
  }
}

/* Copies the ages of unfinished events, if the view has any. */
static void result_copy_ages(struct bn_record *r, const struct bn_view *v)
{
  r->view.ages = NULL;
  if (v->ages == NULL)
    return;
  r->view.ages = r->ages = bn_hist_new();
  bn_hist_add(r->ages, v->ages);
}

/* The form in which a record keeps its histograms. */
enum hists { HISTS_NONE, HISTS_PACKED, HISTS_WHOLE };

/* Makes a record that owns all that a view points to.  It has no facts about errors, which a view
   has only while the run reports. */
static void result_init_record(struct bn_record *r, const struct bn_view *v, enum hists hists)
{
  /* Intervals keep no sessions: no report shows them, and thousands would fill the memory. */
  const bool bare = v->span == BN_VIEW_INTERVAL && hists != HISTS_WHOLE;
  const unsigned sessions = bare ? 0 : v->delta->n_sessions;
  const size_t statements = v->n_statements > 0 ? v->delta->statements.n : 0;

  memset(r, 0, sizeof *r);
  bn_snap_init_for_metrics(&r->delta, &v->delta->metrics, sessions, hists == HISTS_WHOLE);
  bn_statement_table_init(&r->delta.statements, statements, hists == HISTS_WHOLE);
  bn_view_store_init(&r->store, &r->delta);
  if (hists == HISTS_PACKED)
    bn_snap_pack(&r->delta, v->delta);
  /* From here on each line replaces a pointer that is the view's own. */
  r->view = *v;
  r->view.lines = r->lines = bn_alloc_copy(v->lines);
  r->view.error_facts = NULL;
  bn_snap_copy(&r->delta, v->delta);
  r->view.delta = &r->delta;
  r->view.counter = r->delta.counter;
  r->view.rated = NULL;
  r->view.latency = r->delta.hist[BN_H_LATENCY];
  result_copy_ranks(r, v);
  result_copy_timings(r, v, bare);
  result_copy_statements(r, v);
  result_copy_counts(r, v);
  bn_event_kinds_copy(&r->view, &r->store, v, &r->delta.metrics);
  bn_phases_copy(&r->view, &r->store, v, &r->delta.metrics);
  result_copy_sessions(r, v);
  result_copy_ages(r, v);
  result_copy_figures(r, v);
  result_copy_watched(r, v);
  result_trim(r, bare);
}

void bn_record_copy(struct bn_record *r, const struct bn_view *v)
{
  result_init_record(r, v, HISTS_WHOLE);
}

void bn_record_set_watched(struct bn_record *r, const struct bn_watched_figure *figure, size_t n)
{
  const struct bn_view v = {.watched = figure, .n_watched = n}; /* for result_copy_watched() */

  free(r->watched);
  result_copy_watched(r, &v);
  r->view.n_watched = n;
}

void bn_record_done(struct bn_record *r)
{
  bn_snap_done(&r->delta);
  bn_view_store_done(&r->store);
  bn_hist_free(r->ages);
  free(r->figure_names);
  free(r->lines);
  free(r->watched);
  memset(r, 0, sizeof *r);
}

/* Repairs the view of a record that has moved because its array grew: these pointers lead to arrays
   within the record, all others to memory that has not moved. */
static void result_fix_pointers(struct bn_record *r)
{
  r->view.delta = &r->delta;
  r->view.percents = r->store.percents;
  r->view.percentile_s = r->store.percentile_s;
  r->view.at_least = r->store.at_least;
}

struct bn_group *bn_result_add_group(struct bn_result *r, const char *name)
{
  r->group = bn_alloc_resize(r->group, r->n_groups + 1, sizeof *r->group);
  for (size_t i = 0; i < r->n_groups; i++) /* only totals are within the groups */
    result_fix_pointers(&r->group[i].total);
  r->group[r->n_groups] = (struct bn_group){.name = bn_alloc_text(name)};
  return &r->group[r->n_groups++];
}

const struct bn_view *bn_result_total(const struct bn_result *r)
{
  return r->n_groups > 0 && r->group[0].has_total ? &r->group[0].total.view : NULL;
}

bool bn_result_ended_in_warmup(const struct bn_result *r)
{
  return r->group[0].total.delta.at_ns < r->facts.start_ns + r->facts.plan.warmup_ns;
}

/* Returns a copy that owns its texts. */
static struct bn_member *result_copy_member(const struct bn_member *m)
{
  struct bn_member *copy = bn_alloc(1, sizeof *copy);

  *copy = *m;
  copy->host = bn_alloc_text(m->host);
  copy->group = bn_alloc_copy(m->group);
  copy->lost = bn_alloc_copy(m->lost);
  return copy;
}

void bn_result_add_member(struct bn_result *r, const char *name, const struct bn_member *m,
                          const struct bn_view *v)
{
  struct bn_group *g = bn_result_add_group(r, name);

  g->bare = true;
  g->member = result_copy_member(m);
  if (v != NULL)
    bn_group_add_view(g, v);
}

/* Appends a copy of a view to an array of *n records of the group, and counts its bytes. */
static void result_append(struct bn_group *g, struct bn_record **array, size_t *n,
                          const struct bn_view *v, enum hists hists)
{
  const bool may_move = (*n & (*n - 1)) == 0; /* bn_alloc_grow() doubles the array then */

  *array = bn_alloc_grow(*array, *n, sizeof **array);
  for (size_t i = 0; may_move && i < *n; i++)
    result_fix_pointers(&(*array)[i]);
  result_init_record(&(*array)[*n], v, hists);
  g->bytes += result_size_of_record(&(*array)[*n]);
  ++*n;
}

void bn_group_add_view(struct bn_group *g, const struct bn_view *v)
{
  const bool packs = g->packs || v->delta->sparse != NULL;

  switch (v->span) {
  case BN_VIEW_INTERVAL:
    result_append(g, &g->interval, &g->n_intervals, v, packs ? HISTS_PACKED : HISTS_NONE);
    break;
  case BN_VIEW_CHECKPOINT:
    result_append(g, &g->checkpoint, &g->n_checkpoints, v, HISTS_NONE);
    break;
  case BN_VIEW_TICK:
  case BN_VIEW_TOTAL:
    if (g->has_total)
      bn_record_done(&g->total);
    result_init_record(&g->total, v, g->bare ? HISTS_NONE : HISTS_WHOLE);
    g->has_total = true;
  }
}

/* --- escaping --------------------------------------------------------------------------------- */

/* Replaces a text, which may be NULL, by its escaped form.  keep: as of bn_escape(). */
static void result_escape_text(char **text, const char *keep)
{
  char *escaped;

  if (*text == NULL)
    return;
  escaped = bn_escape_new(*text, keep);
  free(*text);
  *text = escaped;
}

/* Escapes the lines of a record.  They are printed as they are, so they keep newlines and tabs. */
static void result_escape_record(struct bn_record *r)
{
  result_escape_text(&r->lines, "\n\t");
  r->view.lines = r->lines;
}

/* Escapes the texts of all records of a group, and of its host. */
static void result_escape_group(struct bn_group *g)
{
  if (g->has_total)
    result_escape_record(&g->total);
  for (size_t i = 0; i < g->n_intervals; i++)
    result_escape_record(&g->interval[i]);
  for (size_t i = 0; i < g->n_checkpoints; i++)
    result_escape_record(&g->checkpoint[i]);
  if (g->member == NULL)
    return;
  result_escape_text(&g->member->host, "");
  result_escape_text(&g->member->group, "");
  result_escape_text(&g->member->lost, "");
}

void bn_result_find_metrics(struct bn_result *r)
{
  const struct bn_group *g = r->group; /* the first one */

  if (r->n_groups == 0)
    return;
  if (g->has_total)
    r->facts.plan.metrics = &g->total.delta.metrics;
  else if (g->n_intervals > 0)
    r->facts.plan.metrics = &g->interval[0].delta.metrics;
}

void bn_result_escape(struct bn_result *r)
{
  for (size_t i = 0; i < r->facts.n_rows; i++)
    result_escape_text(&r->facts.row[i].text, "\n");
  for (size_t i = 0; i < r->facts.n_verdicts; i++) {
    result_escape_text(&r->facts.verdict[i].text, "");
    result_escape_text(&r->facts.verdict[i].unit, "");
  }
  for (size_t i = 0; i < r->n_groups; i++)
    result_escape_group(&r->group[i]);
}

static void result_group_done(struct bn_group *g)
{
  for (size_t i = 0; i < g->n_intervals; i++)
    bn_record_done(&g->interval[i]);
  for (size_t i = 0; i < g->n_checkpoints; i++)
    bn_record_done(&g->checkpoint[i]);
  if (g->has_total)
    bn_record_done(&g->total);
  if (g->member != NULL) {
    free(g->member->host);
    free(g->member->group);
    free(g->member->lost);
  }
  free(g->member);
  free(g->interval);
  free(g->checkpoint);
  free(g->name);
}

void bn_result_done(struct bn_result *r)
{
  for (size_t i = 0; i < r->n_groups; i++)
    result_group_done(&r->group[i]);
  free(r->group);
  bn_facts_done(&r->facts);
  memset(r, 0, sizeof *r);
}
