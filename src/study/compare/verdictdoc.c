/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a comparison as a document. */
#include <math.h>
#include <string.h>

#include "measure/json_write.h"
#include "study/compare/verdicts.h"

static struct bn_node *side_of(struct bn_json_out *p, const struct bn_verdicts *v, size_t i)
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
    bn_json_text(p, one, "file", s->run[k].path);
    bn_json_text(p, one, "reason", s->run[k].left_out);
    bn_json_put(p, one, "status", p->js->integer(s->run[k].result.end.status));
    bn_json_add(p, list, one);
  }
  bn_json_text(p, map, "path", v->name[i]);
  bn_json_u64(p, map, "runs", counted);
  bn_json_put(p, map, "left_out", list);
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

static void put_tests(struct bn_json_out *p, struct bn_node *map,
                      const struct bn_comparison_point *at, const struct bn_comparison_row *row)
{
  static const char *const methods[] = {"too few runs", "paired t", "signs of pairs",
                                        "Mann-Whitney"};
  const struct bn_compare_found *f = &row->found;
  const bool tested = at->how != BN_COMPARISON_APART && f->method != BN_COMPARE_FEW;

  bn_json_text(p, map, "method", at->how == BN_COMPARISON_APART ? NULL : methods[f->method]);
  bn_json_f64(p, map, "p_worse", tested ? f->worse.p : NAN);
  bn_json_f64(p, map, "p_better", tested ? f->better.p : NAN);
  bn_json_f64(p, map, "adjusted_p_worse", tested ? f->worse.adjusted : NAN);
  bn_json_f64(p, map, "adjusted_p_better", tested ? f->better.adjusted : NAN);
}

static struct bn_node *row_of(struct bn_json_out *p, const struct bn_verdicts *v,
                              const struct bn_comparison_point *at,
                              const struct bn_comparison_row *row)
{
  const struct bn_compare_found *f = &row->found;
  const struct bn_figure_name *name = &v->figures->name[row->figure];
  const bool has_interval = f->has_interval && at->how != BN_COMPARISON_APART;
  struct bn_node *map = p->js->map();
  char said[128];

  bn_json_text(p, map, "metric", name->text);
  bn_json_text(p, map, "unit", bn_figure_unit(name));
  bn_json_put(p, map, "primary", p->js->boolean(row->figure == 0));
  bn_json_f64(p, map, "a", row->measured ? f->a : NAN);
  bn_json_f64(p, map, "b", row->measured ? f->b : NAN);
  bn_json_f64(p, map, "ratio", f->has_ratio && row->measured ? f->ratio : NAN);
  bn_json_f64(p, map, "ratio_low", has_interval ? f->interval.low : NAN);
  bn_json_f64(p, map, "ratio_high", has_interval ? f->interval.high : NAN);
  bn_json_f64(p, map, "noise", f->noise > 0 ? f->noise : NAN);
  bn_json_f64(p, map, "drift_per_s", at->how == BN_COMPARISON_PAIRED ? f->drift_per_s : NAN);
  put_tests(p, map, at, row);
  bn_json_text(p, map, "verdict", verdict_of(at, row));
  bn_json_text(p, map, "text", bn_verdicts_say(v, at, row, said, sizeof said));
  bn_json_put(p, map, "more", row->more > 0 ? p->js->integer((int64_t)row->more) : p->js->null());
  bn_json_put(p, map, "failing", p->js->boolean(row->failing));
  return map;
}

static struct bn_node *options_of(struct bn_json_out *p, const struct bn_points *points,
                                  size_t point)
{
  struct bn_node *map = p->js->map();

  for (size_t i = 0; i < points->n_options; i++)
    bn_json_text(p, map, points->option[i], points->value[point * points->n_options + i]);
  return map;
}

static struct bn_node *point_of(struct bn_json_out *p, const struct bn_verdicts *v,
                                const struct bn_comparison_point *at)
{
  struct bn_node *map = p->js->map(), *list = p->js->list();

  bn_json_put(p, map, "options", options_of(p, v->points, at->point));
  bn_json_put(p, map, "interleaved", p->js->boolean(at->how == BN_COMPARISON_PAIRED));
  bn_json_u64(p, map, "runs_a", at->n_a);
  bn_json_u64(p, map, "runs_b", at->n_b);
  for (size_t i = 0; i < v->comparison->n_figures; i++)
    if (at->how != BN_COMPARISON_MISSING && !at->row[i].hidden)
      bn_json_add(p, list, row_of(p, v, at, &at->row[i]));
  bn_json_put(p, map, "metrics", list);
  return map;
}

struct bn_node *bn_verdicts_document(const struct bn_verdicts *v, const struct bn_store *js)
{
  struct bn_json_out p = {.js = js};
  struct bn_node *map = js->map(), *points = js->list();

  bn_json_text(&p, map, "format", "bench comparison");
  bn_json_u64(&p, map, "version", 1);
  bn_json_put(&p, map, "a", side_of(&p, v, 0));
  bn_json_put(&p, map, "b", side_of(&p, v, 1));
  bn_json_put(&p, map, "differences", bn_differences_document(v->differences, js));
  bn_json_f64(&p, map, "alpha", v->rules->alpha);
  bn_json_f64(&p, map, "same", v->rules->same);
  for (size_t i = 0; i < v->comparison->n; i++)
    bn_json_add(&p, points, point_of(&p, v, &v->comparison->point[i]));
  bn_json_put(&p, map, "points", points);
  bn_json_put(&p, map, "regression", js->boolean(v->comparison->failing));
  return bn_json_finish(&p, map);
}
