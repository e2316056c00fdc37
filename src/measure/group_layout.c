/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins the tables of metrics of groups, and puts their records into the joint form. */
#include "measure/group_layout.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/bounds.h"
#include "measure/event_kinds.h"

/* --- the rows of all groups ------------------------------------------------------------------- */

/* The rows of all groups, while they are collected. */
struct rows {
  struct bn_metric *row; /* owned; their texts belong to the parts, or are kind_name[] */
  const char **from;     /* owned; [n]: the group that each row was found in first */
  size_t n;
  char (*kind_name)[BN_BOUND_NAME + 1]; /* owned: the names of rows that no part has */
};

/* The lists of rows in struct bn_metrics, in the order of their block. */
enum list { COUNTERS, HISTS, LABELLED };

/* The place of a row that is no histogram of waiting (bn_statset_waiting_place()). */
enum { NOT_WAITING = 0 };

/* Appends a row of a group. */
static void group_add_row(struct rows *r, const struct bn_metric *row, const char *group)
{
  r->row = bn_alloc_grow(r->row, r->n, sizeof *r->row);
  r->from = bn_alloc_grow(r->from, r->n, sizeof *r->from);
  r->row[r->n] = *row;
  r->from[r->n++] = group;
}

/* Returns the row of that name among n rows, or BN_ROW_NONE. */
static int group_find_row(const struct bn_metric *rows, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(rows[i].name, name) == 0)
      return (int)i;
  return BN_ROW_NONE;
}

/* Adds a row of a group unless there is a row of that name.  Returns 0, or -1 and err if that row
   has another kind or unit. */
static int group_unite_row(struct rows *all, const struct bn_metric *row, const char *group,
                           struct bn_err *err)
{
  const int found = group_find_row(all->row, all->n, row->name);

  if (found == BN_ROW_NONE) {
    group_add_row(all, row, group);
    return 0;
  }
  assert(all->row != NULL); /* the row was found in it */
  if (all->row[found].kind == row->kind && strcmp(all->row[found].unit, row->unit) == 0)
    return 0;
  return bn_err_set(err, EINVAL,
                    "--group=%s: its script measures '%s' in another way than that of the group "
                    "'%s'; give one of them another name",
                    group, row->name, all->from[found]);
}

/* Adds the rows of one list of each group that have this place among the histograms of waiting.
   Phases are left out: each group has its own, which cannot be summed and stay in its total.
   Returns 0, or -1 and err. */
static int group_unite_list(struct rows *all, const struct bn_group_part *part, size_t n,
                            enum list list, unsigned place, struct bn_err *err)
{
  for (size_t i = 0; i < n; i++) {
    const struct bn_metrics *m = part[i].metrics;
    const struct bn_metric *const begin[] = {m->counter, m->hist, m->labelled,
                                             m->labelled + m->n_labelled};

    for (const struct bn_metric *row = begin[list]; row < begin[list + 1]; row++) {
      const bool is_phase = row->kind == BN_PHASE_HISTOGRAM;

      if (is_phase || bn_statset_waiting_place(row->name) != place)
        continue;
      if (group_unite_row(all, row, part[i].name, err) != 0)
        return -1;
    }
  }
  return 0;
}

/* Adds the kinds of events that stand for the groups: for each group one histogram and its
   counters, in the order of enum bn_metric_kind.  The parts of a group, which stand together, get
   them once. */
static void group_add_event_kinds(struct rows *all, const struct bn_group_part *part, size_t n)
{
  static const char *const prefixes[] = BN_EVENT_METRICS;
  enum { N = sizeof prefixes / sizeof *prefixes };
  size_t n_names = 0;

  all->kind_name = bn_alloc(n * N, sizeof *all->kind_name);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && strcmp(part[i].name, part[i - 1].name) == 0)
      continue;
    for (unsigned k = 0; k < N; k++) {
      const enum bn_metric_kind kind = (enum bn_metric_kind)(BN_EVENT_HISTOGRAM + k);
      char *name = all->kind_name[n_names++];
      const struct bn_metric row = {.name = name,
                                    .unit = kind == BN_EVENT_HISTOGRAM ? "ns" : "1",
                                    .kind = kind,
                                    .of_events = true};

      (void)snprintf(name, sizeof *all->kind_name, "%s" BN_GROUP_PART "%s", prefixes[k],
                     part[i].name);
      group_add_row(all, &row, part[i].name);
    }
  }
}

/* Collects the rows of all groups: the metrics of their workloads, the kinds of events that stand
   for the groups, and at the end, where measure/stat.h has them, the histograms of waiting in their
   usual order: a group may have only the last one, and come before a group that has all.  Returns
   0, or -1 and err. */
static int group_collect(struct rows *all, const struct bn_group_part *part, size_t n,
                         struct bn_err *err)
{
  for (enum list list = COUNTERS; list <= LABELLED; list++)
    if (group_unite_list(all, part, n, list, NOT_WAITING, err) != 0)
      return -1;
  group_add_event_kinds(all, part, n);
  for (unsigned place = 1; place <= BN_STAT_WAITS; place++)
    if (group_unite_list(all, part, n, HISTS, place, err) != 0)
      return -1;
  return 0;
}

/* Makes the table of all groups, which has copies of all texts.  Returns 0, or -1 and err. */
static int group_make_table(struct bn_metrics *all, const struct bn_group_part *part, size_t n,
                            struct bn_err *err)
{
  struct rows rows = {.n = 0};
  const int rc = group_collect(&rows, part, n, err);

  if (rc == 0)
    bn_metrics_copy_rows(all, rows.row, rows.n);
  free(rows.row);
  free(rows.from);
  free(rows.kind_name);
  return rc;
}

/* Returns whether each kind of events has all its counters, and all histograms of waiting, which
   are of no kind, come with the first one.  Rows of a host that breaks this would be put beyond the
   tables. */
static bool group_is_complete(const struct bn_metrics *all)
{
  const size_t n_kinds = bn_metrics_count_kind(all->hist, all->n_hists, BN_EVENT_HISTOGRAM);

  for (enum bn_metric_kind kind = BN_EVENT_ENDED; kind <= BN_EVENT_LATE; kind++)
    if (bn_metrics_count_kind(all->counter, all->n_counters, kind) != n_kinds)
      return false;
  if (!bn_statset_has_waiting(all))
    return true;
  const struct bn_metric *waits = &all->hist[all->n_hists - BN_STAT_WAITS];

  return bn_statset_waiting_place(waits->name) == 1 &&
         bn_metrics_count_kind(waits, BN_STAT_WAITS, BN_HISTOGRAM) == BN_STAT_WAITS;
}

/* Checks that the metrics belong together, and that a document may have as many.  Returns 0, or -1
   and err. */
static int group_check_table(const struct bn_metrics *all, struct bn_err *err)
{
  const size_t n = all->n_counters + all->n_hists + all->n_labelled;

  if (n > BN_BOUND_METRICS)
    return bn_err_set(err, E2BIG, "--group: the groups have %zu metrics together; allowed: %d", n,
                      BN_BOUND_METRICS);
  if (all->n_hists > BN_BOUND_HISTOGRAMS)
    return bn_err_set(err, E2BIG, "--group: the groups measure %zu latencies together; allowed: %d",
                      all->n_hists, BN_BOUND_HISTOGRAMS);
  if (!group_is_complete(all))
    return bn_err_set(err, EPROTO,
                      "--group: a host measures a part of what belongs together; "
                      "is it the same build of bench?");
  return 0;
}

/* --- the rows of a group ---------------------------------------------------------------------- */

/* Returns for each row of all groups its index among the n_own rows of one group, or BN_ROW_NONE.
   The caller frees the list. */
static int *group_map_rows(const struct bn_metric *all, size_t n_all, const struct bn_metric *own,
                           size_t n_own)
{
  int *own_index = bn_alloc(n_all, sizeof *own_index);

  for (size_t i = 0; i < n_all; i++)
    own_index[i] = group_find_row(own, n_own, all[i].name);
  return own_index;
}

/* Maps the kind of events that stands for the group to the latencies and the number of all events
   of the group. */
static void group_map_events(const struct bn_group_layout *l, const char *name,
                             struct bn_group_rows *g)
{
  struct bn_event_kind_rows rows;

  for (size_t k = 0; bn_event_kinds_find_rows(&l->all, k, &rows); k++) {
    const char *kind = l->all.hist[rows.hist].name;

    if (bn_event_kinds_is_group(kind) && strcmp(bn_event_kinds_bare_name(kind), name) == 0) {
      g->hist[rows.hist] = BN_H_LATENCY;
      g->counter[rows.ended] = BN_C_EVENTS;
    }
  }
}

/* Returns which row of a group each row of all groups gets its values from; the caller frees the
   lists.  Events and waiting come last, because they replace rows that were not found by name. */
static struct bn_group_rows group_make_rows(const struct bn_group_layout *l,
                                            const struct bn_group_part *part)
{
  const struct bn_metrics *m = part->metrics, *all = &l->all;
  struct bn_group_rows g = {
      .counter = group_map_rows(all->counter, all->n_counters, m->counter, m->n_counters),
      .hist = group_map_rows(all->hist, all->n_hists, m->hist, m->n_hists),
      .labelled = group_map_rows(all->labelled, all->n_labelled, m->labelled, m->n_labelled),
      .lacks_waiting = bn_statset_has_waiting(all) && !bn_statset_has_waiting(m)};

  group_map_events(l, part->name, &g);
  if (g.lacks_waiting) { /* its events wait for 0 ns, and all of their time is service */
    const size_t queueing = all->n_hists - BN_STAT_WAITS, service = queueing + 1;

    g.hist[queueing] = BN_ROW_ZEROS;
    g.hist[service] = BN_H_LATENCY;
  }
  return g;
}

int bn_group_layout_make(struct bn_group_layout *l, const struct bn_group_part *part, size_t n,
                         struct bn_err *err)
{
  *l = (struct bn_group_layout){.n = 0};
  if (group_make_table(&l->all, part, n, err) != 0 || group_check_table(&l->all, err) != 0) {
    bn_metrics_done(&l->all);
    return -1;
  }
  l->group = bn_alloc(n, sizeof *l->group);
  l->n = n;
  for (size_t i = 0; i < n; i++)
    l->group[i] = group_make_rows(l, &part[i]);
  return 0;
}

void bn_group_layout_done(struct bn_group_layout *l)
{
  for (size_t i = 0; i < l->n; i++) {
    free(l->group[i].counter);
    free(l->group[i].hist);
    free(l->group[i].labelled);
  }
  free(l->group);
  bn_metrics_done(&l->all);
  *l = (struct bn_group_layout){.n = 0};
}

/* --- records ---------------------------------------------------------------------------------- */

/* Returns a count of a view, or 0 if it is not known. */
static uint64_t group_count_or_zero(uint64_t count)
{
  return count != UINT64_MAX ? count : 0;
}

/* Sets the retries, failures and late events of the kind of events that stands for the group.  A
   group has no such counters, so the numbers come from its view; retries and failures that the view
   does not know count as 0.  The number of events is a counter, which group_map_events() has
   mapped. */
static void group_set_event_counters(const struct bn_group_rows *g, const struct bn_view *v,
                                     struct bn_snap *s)
{
  struct bn_event_kind_rows rows;

  for (size_t k = 0; bn_event_kinds_find_rows(&s->metrics, k, &rows); k++) {
    if (g->hist[rows.hist] != BN_H_LATENCY) /* the kind of another group, or of a script */
      continue;
    s->counter[rows.retries] = group_count_or_zero(v->retries);
    s->counter[rows.failed] = group_count_or_zero(v->failed_events);
    s->counter[rows.late] = s->late;
  }
}

/* Adds the histograms of a group to the rows that get them.  A row of BN_ROW_ZEROS gets a time of 0
   for each event of the group, and a row of BN_ROW_NONE nothing.  Either both snapshots have
   histograms, or neither has and nothing is done. */
static void group_put_hists(const struct bn_group_rows *g, const struct bn_snap *from,
                            struct bn_snap *to)
{
  const struct bn_hist *latency = from->hist[BN_H_LATENCY];

  if (latency == NULL)
    return;
  for (size_t i = 0; i < to->metrics.n_hists; i++) {
    const int row = g->hist[i]; /* of the group, or BN_ROW_… */

    if (row >= 0)
      bn_hist_add(to->hist[i], from->hist[row]);
    else if (row == BN_ROW_ZEROS)
      bn_hist_put(to->hist[i], 0, bn_hist_count(latency));
  }
}

/* Copies the labels of a group to the rows that get them. */
static void group_put_labels(const struct bn_group_rows *g, const struct bn_snap *from,
                             struct bn_snap *to)
{
  for (size_t i = 0; i < to->metrics.n_labelled; i++) {
    const int row = g->labelled[i]; /* of the group */

    if (row == BN_ROW_NONE)
      continue;
    to->n_labels[i] = from->n_labels[row];
    memcpy(to->label[i], from->label[row], from->n_labels[row] * sizeof *to->label[i]);
  }
}

/* Sets the time of service of sessions that do not wait: all of their busy time. */
static void group_set_service(struct bn_snap *s)
{
  s->service_ns = s->busy_ns;
  for (unsigned i = 0; i < s->n_sessions; i++)
    s->session[i].service_ns = s->session[i].busy_ns;
}

/* Makes `to` from the snapshot of a group: with the rows of all groups, and with the sessions and
   statements moved out of `from`.  The caller frees what is left of `from`. */
static void group_move_snap(const struct bn_group_layout *l, const struct bn_group_rows *g,
                            struct bn_snap *from, struct bn_snap *to)
{
  const bool has_hists = from->hist[BN_H_LATENCY] != NULL;
  struct bn_snap rows; /* `to` takes over what it owns */

  bn_snap_init_for_metrics(&rows, &l->all, 0 /* sessions */, has_hists);
  *to = *from;
  to->metrics = rows.metrics;
  to->counter = rows.counter;
  to->hist = rows.hist;
  to->sparse = NULL;
  to->label = rows.label;
  to->n_labels = rows.n_labels;
  free(rows.session); /* memory for no session: `to` has those of the group */
  for (size_t i = 0; i < l->all.n_counters; i++)
    to->counter[i] = g->counter[i] >= 0 ? from->counter[g->counter[i]] : 0;
  group_put_hists(g, from, to);
  group_put_labels(g, from, to);
  if (g->lacks_waiting)
    group_set_service(to);
  from->session = NULL;
  from->statements = (struct bn_statement_table){.n = 0};
}

/* Returns the timing of all events of a group, which borrows the percentiles of its view.  The
   maximum of a timing with unfinished events is a lower bound.  The timing therefore gets their
   number only if the maximum of the view is a lower bound. */
static struct bn_timing group_timing_of_all(const struct bn_view *v)
{
  _Static_assert(BN_PERCENTS_MAX <= 32, "at_least has a bit for each percentile");
  struct bn_timing t = {.percentile_s = v->percentile_s,
                        .count = v->events,
                        .min_s = v->min_s,
                        .avg_s = v->avg_s,
                        .max_s = v->max_s,
                        .sum_s = v->sum_s,
                        .dev_s = v->dev_s,
                        .unfinished = v->max_at_least ? group_count_or_zero(v->unfinished) : 0};

  for (size_t i = 0; i < v->n_percents; i++)
    if (bn_view_at_least(v, i))
      t.at_least |= UINT32_C(1) << i;
  return t;
}

/* Returns the timing that row i of the histograms of all groups, m, gets from the view of one
   group, whose percentiles it borrows.  If the group does not have the row, the timing counts
   nothing. */
static struct bn_timing group_find_timing(const struct bn_group_rows *g, const struct bn_metric *m,
                                          size_t i, const struct bn_view *v)
{
  const int hist = g->hist[i]; /* of the group, or BN_ROW_… */
  const bool stands_for_group = hist == BN_H_LATENCY && m->kind == BN_EVENT_HISTOGRAM;

  if (hist >= BN_H_FIXED && (size_t)(hist - BN_H_FIXED) < v->n_timings)
    return v->timings[hist - BN_H_FIXED];
  if (stands_for_group)
    return group_timing_of_all(v);
  return (struct bn_timing){.count = 0};
}

/* Sets the timings of all groups in a record from the view of one group. */
static void group_put_timings(const struct bn_group_rows *g, const struct bn_view *from,
                              struct bn_record *to)
{
  const struct bn_metrics *all = &to->delta.metrics;

  to->view.n_timings = all->n_hists - BN_H_FIXED;
  to->view.timings = to->store.timing;
  for (size_t i = BN_H_FIXED; i < all->n_hists; i++) {
    struct bn_timing *t = &to->store.timing[i - BN_H_FIXED];
    const struct bn_metric *m = &all->hist[i];
    double *const percentile_s = to->store.timing_s[i - BN_H_FIXED];

    *t = group_find_timing(g, m, i, from);
    if (t->percentile_s != NULL) {
      memcpy(percentile_s, t->percentile_s, from->n_percents * sizeof *percentile_s);
      t->percentile_s = percentile_s;
    }
    t->name = m->name;
    t->of_script = m->kind == BN_SCRIPT_HISTOGRAM;
    t->of_kind = m->kind == BN_EVENT_HISTOGRAM;
  }
}

/* Sets the counts of all scripts in a record from the view of one group, whose metrics are m.  A
   count that the group does not have is 0. */
static void group_put_counts(const struct bn_group_rows *g, const struct bn_metrics *m,
                             const struct bn_view *from, struct bn_record *to)
{
  const struct bn_metrics *all = &to->delta.metrics;

  to->view.n_counts = 0;
  to->view.counts = to->store.count;
  for (size_t i = 0; i < all->n_counters; i++) {
    const struct bn_metric *counter = &all->counter[i];
    const int row = g->counter[i]; /* of the group, or BN_ROW_NONE */

    if (counter->kind != BN_SCRIPT_COUNTER)
      continue;

    /* The index among the counts of the view; SIZE_MAX: the view lacks this count. */
    const size_t view_index =
        row >= 0 ? bn_metrics_count_kind(m->counter, (size_t)row, BN_SCRIPT_COUNTER) : SIZE_MAX;
    struct bn_count *c = &to->store.count[to->view.n_counts++];

    *c = view_index < from->n_counts ? from->counts[view_index] : (struct bn_count){.count = 0};
    c->name = counter->name;
    c->unit = counter->unit;
  }
}

/* Sets the kinds of events of all groups in a record from the view of one group, whose metrics are
   m: the kinds of its script, and the kind that stands for the group. */
static void group_put_kinds(const struct bn_group_rows *g, const struct bn_metrics *m,
                            const struct bn_view *from, struct bn_record *to)
{
  const struct bn_metrics *all = &to->delta.metrics;
  struct bn_event_kind_rows rows;

  bn_event_kinds_name_all(&to->view, &to->store, all);
  for (size_t k = 0; bn_event_kinds_find_rows(all, k, &rows); k++) {
    struct bn_event_kind *kind = &to->store.event_kind[k];
    const struct bn_event_kind named = *kind;
    const int hist = g->hist[rows.hist]; /* of the group, or BN_ROW_NONE */

    if (hist == BN_H_LATENCY) /* the kind that stands for the group */
      *kind = (struct bn_event_kind){.events = from->events,
                                     .events_per_s = from->events_per_s,
                                     .retries = group_count_or_zero(from->retries),
                                     .failed_events = group_count_or_zero(from->failed_events)};
    else if (hist != BN_ROW_NONE && from->n_event_kinds > 0)
      *kind = from->event_kinds[bn_metrics_count_kind(m->hist, (size_t)hist, BN_EVENT_HISTOGRAM)];
    kind->name = named.name;
    kind->timing = named.timing;
  }
  bn_event_kinds_set_shares(&to->view, &to->store);
}

/* Sets the arrivals of a group without --rate, for the sum with groups that have it: each of its
   events is due when it begins.  Only totals and checkpoints count arrivals. */
static void group_set_arrivals(struct bn_view *v)
{
  if (v->span != BN_VIEW_TOTAL && v->span != BN_VIEW_CHECKPOINT)
    return;
  v->due = v->started = v->delta->counter[BN_C_EVENTS] + group_count_or_zero(v->failed_events) +
                        group_count_or_zero(v->unfinished);
  v->finished = v->delta->counter[BN_C_EVENTS] - v->delta->late;
  v->served = bn_view_served_share(v->finished, v->due);
}

/* Gives the store of a record, whose snapshot has the rows of all groups, new memory for timings,
   counts, kinds of events and phases.  All else does not depend on the metrics and stays.  `old` is
   a copy of the store; it keeps the memory that is replaced, which the caller frees. */
static void group_renew_store(struct bn_record *r, struct bn_view_store *old)
{
  struct bn_view_store fresh;

  bn_view_store_init(&fresh, &r->delta);
  r->store.timing = fresh.timing;
  r->store.timing_s = fresh.timing_s;
  r->store.count = fresh.count;
  r->store.event_kind = fresh.event_kind;
  r->store.phase = fresh.phase;
  old->figure = fresh.figure; /* these are not needed, and the caller frees them instead */
  old->session = fresh.session;
  old->statement = fresh.statement;
  old->statement_s = fresh.statement_s;
}

void bn_group_layout_convert_record(const struct bn_group_layout *l, size_t i, struct bn_record *r)
{
  const struct bn_group_rows *g = &l->group[i];
  struct bn_record old = *r;

  group_move_snap(l, g, &old.delta, &r->delta);
  group_set_event_counters(g, &old.view, &r->delta);
  group_renew_store(r, &old.store);
  group_put_timings(g, &old.view, r);
  group_put_counts(g, &old.delta.metrics, &old.view, r);
  group_put_kinds(g, &old.delta.metrics, &old.view, r);
  r->view.phases = NULL;
  r->view.n_phases = 0;
  r->view.counter = r->delta.counter;
  r->view.latency = r->delta.hist[BN_H_LATENCY];
  if (g->lacks_waiting)
    group_set_arrivals(&r->view);
  bn_view_store_done(&old.store);
  bn_snap_done(&old.delta);
}

/* --- lines ------------------------------------------------------------------------------------ */

void bn_group_layout_convert_line(const struct bn_group_layout *l, size_t i,
                                  struct bn_hist_codec *line)
{
  const struct bn_group_rows *g = &l->group[i];
  const struct bn_hist_part zeros = {.index = 0, .count = line->count[BN_H_LATENCY]};
  struct bn_hist_codec out = {.n = 0};

  for (size_t k = 0; k < l->all.n_hists; k++) {
    const int hist = g->hist[k]; /* of the line, or BN_ROW_… */

    if (hist >= 0) {
      const size_t begin = hist > 0 ? line->end[hist - 1] : 0;

      bn_hist_codec_add(&out, k, line->part + begin, line->end[hist] - begin, line->count[hist]);
    } else {
      const uint64_t count = hist == BN_ROW_ZEROS ? zeros.count : 0;

      bn_hist_codec_add(&out, k, &zeros, count > 0 ? 1 : 0, count);
    }
  }
  free(line->part);
  *line = out;
}
