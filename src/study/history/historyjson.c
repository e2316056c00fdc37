/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A history as a document for programs, and as the one that github-action-benchmark reads. */
#include <stdio.h>
#include <string.h>

#include "measure/json_write.h"
#include "measure/store.h"
#include "study/columns.h"
#include "study/history/historyform.h"

static void put_name(struct bn_json_out *p, struct bn_node *map, const struct bn_history *h,
                     const struct bn_series *s, const struct bn_figure_name *metric)
{
  struct bn_buf name = {.max = 0};

  bn_series_name(&h->set, s, true, &name);
  if (metric != NULL)
    (void)bn_buf_printf(&name, ": %s", metric->text);
  p->failed |= name.failed;
  bn_json_text(p, map, "name", name.data);
  bn_buf_done(&name);
}

/* --- the document ----------------------------------------------------------------------------- */

static struct bn_node *run_node(struct bn_json_out *p, const struct bn_trend *t, size_t i)
{
  struct bn_node *n = p->js->map();

  bn_json_text(p, n, "file", t->run[i]->path);
  bn_json_u64(p, n, "start_wall_ns", t->run[i]->start_wall_ns);
  bn_json_f64(p, n, "value", t->value[i]);
  return n;
}

static struct bn_node *segment_node(struct bn_json_out *p, const struct bn_segment *s)
{
  struct bn_node *n = p->js->map();

  bn_json_u64(p, n, "start", s->start);
  bn_json_u64(p, n, "runs", s->n);
  bn_json_f64(p, n, "median", s->median);
  bn_json_f64(p, n, "deviation", s->deviation);
  return n;
}

static struct bn_node *facts_node(struct bn_json_out *p, const struct bn_series_run *before,
                                  const struct bn_series_run *after)
{
  struct bn_node *list = p->js->list();

  for (size_t k = 0; k < BN_SERIES_FACTS; k++) {
    struct bn_node *n;

    if (before->fact[k] == NULL || after->fact[k] == NULL ||
        strcmp(before->fact[k], after->fact[k]) == 0)
      continue;
    n = p->js->map();
    bn_json_text(p, n, "fact", bn_series_fact_names[k]);
    bn_json_text(p, n, "before", before->fact[k]);
    bn_json_text(p, n, "after", after->fact[k]);
    bn_json_add(p, list, n);
  }
  return list;
}

static struct bn_node *change_node(struct bn_json_out *p, const struct bn_trend *t, size_t i)
{
  static const char *const turns[] = {
      [BN_TURN_BETTER] = "better", [BN_TURN_WORSE] = "worse", [BN_TURN_OTHER] = "changed"};
  const size_t at = t->change[i].at;
  struct bn_node *n = p->js->map();

  bn_json_u64(p, n, "start", at);
  bn_json_text(p, n, "file", t->run[at]->path);
  bn_json_u64(p, n, "start_wall_ns", t->run[at]->start_wall_ns);
  bn_json_f64(p, n, "before", t->segment[i].median);
  bn_json_f64(p, n, "after", t->segment[i + 1].median);
  bn_json_f64(p, n, "difference_percent", bn_history_difference(t, i));
  bn_json_text(p, n, "verdict", turns[bn_trend_turn(t, i)]);
  bn_json_f64(p, n, "p", t->change[i].p);
  bn_json_put(p, n, "facts", facts_node(p, t->run[at - 1], t->run[at]));
  return n;
}

static struct bn_node *trend_node(struct bn_json_out *p, const struct bn_trend *t)
{
  static const char *const better[] = {
      [BN_BETTER_NEITHER] = "neither", [BN_BETTER_MORE] = "more", [BN_BETTER_LESS] = "less"};
  struct bn_node *n = p->js->map(), *runs = p->js->list(), *segments = p->js->list(),
                 *changes = p->js->list();

  bn_json_text(p, n, "name", t->metric->text);
  bn_json_text(p, n, "unit", bn_figure_unit(t->metric));
  bn_json_text(p, n, "better", better[t->metric->better]);
  bn_json_u64(p, n, "runs_not_measured", t->unmeasured);
  bn_json_u64(p, n, "runs_too_old", t->too_old);
  for (size_t i = 0; i < t->n; i++)
    bn_json_add(p, runs, run_node(p, t, i));
  for (size_t i = 0; t->n > 0 && i <= t->n_changes; i++)
    bn_json_add(p, segments, segment_node(p, &t->segment[i]));
  for (size_t i = 0; i < t->n_changes; i++)
    bn_json_add(p, changes, change_node(p, t, i));
  bn_json_put(p, n, "runs", runs);
  bn_json_put(p, n, "segments", segments);
  bn_json_put(p, n, "changes", changes);
  return n;
}

static struct bn_node *series_node(struct bn_json_out *p, const struct bn_history *h, size_t i)
{
  struct bn_node *n = p->js->map(), *metrics = p->js->list();

  put_name(p, n, h, &h->set.series[i], NULL);
  bn_json_text(p, n, "test", h->set.series[i].test);
  bn_json_u64(p, n, "runs", h->set.series[i].n);
  for (size_t k = 0; k < h->set.n_metrics; k++)
    bn_json_add(p, metrics, trend_node(p, &h->trend[i * h->set.n_metrics + k]));
  bn_json_put(p, n, "metrics", metrics);
  return n;
}

static struct bn_node *left_node(struct bn_json_out *p, const struct bn_series_left *left)
{
  struct bn_node *n = p->js->map();

  bn_json_text(p, n, "file", left->path);
  bn_json_text(p, n, "why", left->why);
  return n;
}

struct bn_node *bn_history_json(const struct bn_history *h, const struct bn_store *js)
{
  struct bn_json_out p = {.js = js};
  struct bn_node *n = js->map(), *series = js->list(), *left = js->list();

  bn_json_text(&p, n, "format", "bench history");
  bn_json_u64(&p, n, "version", 1);
  bn_json_text(&p, n, "method", "e-divisive with means, alpha 1");
  bn_json_f64(&p, n, "level", BN_EDIVISIVE_LEVEL);
  bn_json_u64(&p, n, "permutations", BN_EDIVISIVE_PERMUTATIONS);
  bn_json_u64(&p, n, "least_segment", BN_EDIVISIVE_LEAST);
  for (size_t i = 0; i < h->set.n; i++)
    bn_json_add(&p, series, series_node(&p, h, i));
  for (size_t i = 0; i < h->set.n_left; i++)
    bn_json_add(&p, left, left_node(&p, &h->set.left[i]));
  bn_json_put(&p, n, "series", series);
  bn_json_put(&p, n, "left_out", left);
  return bn_json_finish(&p, n);
}

/* --- github-action-benchmark ------------------------------------------------------------------ */

/* A list of {"name", "unit", "value", "range", "extra"}, as its inputs customBiggerIsBetter and
   customSmallerIsBetter have it; the last two may be absent. */
static struct bn_node *newest_node(struct bn_json_out *p, const struct bn_history *h,
                                   const struct bn_series *s, const struct bn_trend *t)
{
  const struct bn_segment *last = &t->segment[t->n_changes];
  char deviation[BN_COLUMNS_DIGITS], range[BN_COLUMNS_DIGITS + 8], time[BN_COLUMNS_DIGITS];
  struct bn_node *n = p->js->map();
  struct bn_buf extra = {.max = 0};

  put_name(p, n, h, s, t->metric);
  bn_json_text(p, n, "unit", bn_figure_unit(t->metric));
  bn_json_f64(p, n, "value", t->value[t->n - 1]);
  if (last->n > 1) {
    (void)snprintf(range, sizeof range, "\u00b1 %s", bn_columns_number(deviation, last->deviation));
    bn_json_text(p, n, "range", range);
  }
  (void)bn_buf_printf(&extra, "%zu run(s) since %s UTC", last->n,
                      bn_columns_time(time, t->run[last->start]->start_wall_ns));
  p->failed |= extra.failed;
  bn_json_text(p, n, "extra", extra.data);
  bn_buf_done(&extra);
  return n;
}

struct bn_node *bn_history_github(const struct bn_history *h, const struct bn_store *js)
{
  struct bn_json_out p = {.js = js};
  struct bn_node *list = js->list();

  for (size_t i = 0; i < h->n_trends; i++)
    if (h->trend[i].n > 0)
      bn_json_add(&p, list, newest_node(&p, h, &h->set.series[i / h->set.n_metrics], &h->trend[i]));
  return bn_json_finish(&p, list);
}
