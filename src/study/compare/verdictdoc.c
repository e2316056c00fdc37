/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a comparison as a document. */
#include <math.h>
#include <string.h>

#include "study/compare/verdicts.h"

/* Where a tree is made; what cannot be made is remembered. */
struct pen {
  const struct bn_store *js;
  bool failed;
};

static void put(struct pen *p, struct bn_node *map, const char *key, struct bn_node *value)
{
  p->failed |= p->js->set(map, key, value) != 0;
}

static void add(struct pen *p, struct bn_node *list, struct bn_node *value)
{
  p->failed |= p->js->append(list, value) != 0;
}

static void put_text(struct pen *p, struct bn_node *map, const char *key, const char *text)
{
  put(p, map, key, bn_store_text(p->js, text));
}

static void put_whole(struct pen *p, struct bn_node *map, const char *key, size_t n)
{
  put(p, map, key, p->js->integer((int64_t)n));
}

/* null: not known. */
static void put_real(struct pen *p, struct bn_node *map, const char *key, double x, bool known)
{
  put(p, map, key, known && isfinite(x) ? p->js->real(x) : p->js->null());
}

static struct bn_node *side_of(struct pen *p, const struct bn_verdicts *v, size_t i)
{
  struct bn_node *map = p->js->map(), *list = p->js->list();
  const struct bn_side *s = v->side[i];
  size_t counted = 0;

  for (size_t k = 0; k < s->n; k++) {
    struct bn_node *one;

    counted += s->run[k].left_out == NULL;
    if (s->run[k].left_out == NULL)
      continue;
    one = p->js->map();
    put_text(p, one, "file", s->run[k].path);
    put_text(p, one, "reason", s->run[k].left_out);
    put(p, one, "status", p->js->integer(s->run[k].result.end.status));
    add(p, list, one);
  }
  put_text(p, map, "path", v->name[i]);
  put_whole(p, map, "runs", counted);
  put(p, map, "left_out", list);
  return map;
}

static const char *verdict_of(const struct bn_comparison_point *at,
                              const struct bn_comparison_row *row)
{
  static const char *const names[] = {"cannot tell", "better", "worse", "same", "equal"};

  if (!row->measured)
    return "not measured";
  return names[at->how == BN_COMPARISON_APART ? BN_COMPARE_UNKNOWN : row->verdict];
}

static void put_tests(struct pen *p, struct bn_node *map, const struct bn_comparison_point *at,
                      const struct bn_comparison_row *row)
{
  static const char *const methods[] = {"too few runs", "paired t", "signs of pairs",
                                        "Mann-Whitney"};
  const struct bn_compare_found *f = &row->found;
  const bool tested = at->how != BN_COMPARISON_APART && f->method != BN_COMPARE_FEW;

  put_text(p, map, "method", at->how == BN_COMPARISON_APART ? NULL : methods[f->method]);
  put_real(p, map, "p_worse", f->worse.p, tested);
  put_real(p, map, "p_better", f->better.p, tested);
  put_real(p, map, "adjusted_p_worse", f->worse.adjusted, tested);
  put_real(p, map, "adjusted_p_better", f->better.adjusted, tested);
}

static struct bn_node *row_of(struct pen *p, const struct bn_verdicts *v,
                              const struct bn_comparison_point *at,
                              const struct bn_comparison_row *row)
{
  const struct bn_compare_found *f = &row->found;
  const struct bn_figure_name *name = &v->figures->name[row->figure];
  const bool has_interval = f->has_interval && at->how != BN_COMPARISON_APART;
  struct bn_node *map = p->js->map();
  char said[128];

  put_text(p, map, "metric", name->text);
  put_text(p, map, "unit", bn_figure_unit(name));
  put(p, map, "primary", p->js->boolean(row->figure == 0));
  put_real(p, map, "a", f->a, row->measured);
  put_real(p, map, "b", f->b, row->measured);
  put_real(p, map, "ratio", f->ratio, f->has_ratio && row->measured);
  put_real(p, map, "ratio_low", f->interval.low, has_interval);
  put_real(p, map, "ratio_high", f->interval.high, has_interval);
  put_real(p, map, "noise", f->noise, f->noise > 0);
  put_real(p, map, "drift_per_s", f->drift_per_s, at->how == BN_COMPARISON_PAIRED);
  put_tests(p, map, at, row);
  put_text(p, map, "verdict", verdict_of(at, row));
  put_text(p, map, "text", bn_verdicts_say(v, at, row, said, sizeof said));
  put(p, map, "more", row->more > 0 ? p->js->integer((int64_t)row->more) : p->js->null());
  put(p, map, "failing", p->js->boolean(row->failing));
  return map;
}

static struct bn_node *options_of(struct pen *p, const struct bn_points *points, size_t point)
{
  struct bn_node *map = p->js->map();

  for (size_t i = 0; i < points->n_options; i++)
    put_text(p, map, points->option[i], points->value[point * points->n_options + i]);
  return map;
}

static struct bn_node *point_of(struct pen *p, const struct bn_verdicts *v,
                                const struct bn_comparison_point *at)
{
  struct bn_node *map = p->js->map(), *list = p->js->list();

  put(p, map, "options", options_of(p, v->points, at->point));
  put(p, map, "interleaved", p->js->boolean(at->how == BN_COMPARISON_PAIRED));
  put_whole(p, map, "runs_a", at->n_a);
  put_whole(p, map, "runs_b", at->n_b);
  for (size_t i = 0; i < v->comparison->n_figures; i++)
    if (at->how != BN_COMPARISON_MISSING && !at->row[i].hidden)
      add(p, list, row_of(p, v, at, &at->row[i]));
  put(p, map, "metrics", list);
  return map;
}

struct bn_node *bn_verdicts_document(const struct bn_verdicts *v, const struct bn_store *js)
{
  struct pen p = {js, false};
  struct bn_node *map = js->map(), *points = js->list();

  put_text(&p, map, "format", "bench comparison");
  put_whole(&p, map, "version", 1);
  put(&p, map, "a", side_of(&p, v, 0));
  put(&p, map, "b", side_of(&p, v, 1));
  put(&p, map, "differences", bn_differences_document(v->differences, js));
  put_real(&p, map, "alpha", v->rules->alpha, true);
  put_real(&p, map, "same", v->rules->same, true);
  for (size_t i = 0; i < v->comparison->n; i++)
    add(&p, points, point_of(&p, v, &v->comparison->point[i]));
  put(&p, map, "points", points);
  put(&p, map, "regression", js->boolean(v->comparison->failing));
  if (!p.failed)
    return map;
  js->free(map);
  return NULL;
}
