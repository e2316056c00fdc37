/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a sweep as documents: table.json and table.csv. */
#include "study/sweep/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/json_write.h"
#include "measure/store.h"
#include "study/sweep/folder.h"

/* --- table.json ------------------------------------------------------------------------------- */

static struct bn_node *command_of(struct bn_json_out *p, const struct bn_invocation *c)
{
  struct bn_node *list = p->js->list();

  for (size_t i = 0; i < c->n; i++) {
    struct bn_buf shown = {.max = 0};

    if (bn_invocation_show(c, i, &shown) != 0)
      p->failed = true;
    bn_json_add(p, list, bn_node_text(p->js, shown.data != NULL ? shown.data : ""));
    bn_buf_done(&shown);
  }
  return list;
}

static struct bn_node *axes_of(struct bn_json_out *p, const struct bn_grid *g)
{
  struct bn_node *list = p->js->list();

  for (size_t i = 0; i < g->n_axes; i++) {
    struct bn_node *axis = p->js->map(), *values = p->js->list();

    for (size_t k = 0; k < g->axis[i].n; k++)
      bn_json_add(p, values, bn_node_text(p->js, g->axis[i].value[k]));
    bn_json_text(p, axis, "option", g->axis[i].name);
    bn_json_put(p, axis, "values", values);
    bn_json_add(p, list, axis);
  }
  return list;
}

/* without: an axis to leave out; n_axes: none. */
static struct bn_node *values_of(struct bn_json_out *p, const struct bn_grid *g, size_t point,
                                 size_t without)
{
  struct bn_node *map = p->js->map();

  for (size_t i = 0; i < g->n_axes; i++)
    if (i != without)
      bn_json_put(p, map, g->axis[i].name, bn_node_text(p->js, bn_grid_value(g, point, i)));
  return map;
}

static const char *state_of(const struct bn_tally_point *seen)
{
  if (seen->done > 0)
    return "measured";
  if (seen->failed > 0)
    return "failed";
  return seen->left_out > 0 ? "left out" : "pending";
}

static bool is_run_of(const struct bn_tally *t, size_t run, size_t point)
{
  return t->order[run] == point && t->run[run].state == BN_TALLY_DONE;
}

static struct bn_node *runs_of(struct bn_json_out *p, const struct bn_tally *t, size_t point)
{
  struct bn_node *list = p->js->list();
  char name[BN_FOLDER_RUN];

  for (size_t i = 0; i < t->n_runs; i++)
    if (is_run_of(t, i, point))
      bn_json_add(p, list, bn_node_text(p->js, bn_folder_run_name(i, "json", name)));
  return list;
}

static struct bn_node *figure_of(struct bn_json_out *p, const struct bn_tally *t, size_t point,
                                 size_t figure, const struct bn_spread *s)
{
  struct bn_node *map = p->js->map(), *values = p->js->list();

  bn_json_u64(p, map, "n", s->n);
  bn_json_f64(p, map, "median", s->median);
  bn_json_f64(p, map, "min", s->min);
  bn_json_f64(p, map, "max", s->max);
  for (size_t i = 0; i < t->n_runs; i++)
    if (is_run_of(t, i, point))
      bn_json_add(p, values, bn_node_f64(p->js, bn_tally_value(t, i, figure)));
  bn_json_put(p, map, "values", values);
  return map;
}

static struct bn_node *point_of(struct bn_json_out *p, const struct bn_tally *t, size_t point)
{
  struct bn_node *map = p->js->map(), *figures = p->js->map();
  struct bn_tally_point seen;

  bn_tally_look(t, point, &seen);
  bn_json_put(p, map, "values", values_of(p, t->grid, point, t->grid->n_axes));
  bn_json_text(p, map, "state", state_of(&seen));
  bn_json_u64(p, map, "n", seen.done);
  bn_json_u64(p, map, "failed", seen.failed);
  bn_json_u64(p, map, "left_out", seen.left_out);
  bn_json_put(p, map, "stops", p->js->boolean(seen.stops));
  bn_json_put(p, map, "runs", runs_of(p, t, point));
  for (size_t i = 0; i < t->n_names; i++) {
    struct bn_spread s;

    if (bn_tally_spread(t, point, i, &s))
      bn_json_put(p, figures, t->name[i], figure_of(p, t, point, i, &s));
  }
  bn_json_put(p, map, "figures", figures);
  return map;
}

static struct bn_node *bound_of(struct bn_json_out *p, const struct bn_usl_value *v)
{
  struct bn_node *map = p->js->map();

  bn_json_f64(p, map, "value", v->value);
  bn_json_f64(p, map, "low", v->low);
  bn_json_f64(p, map, "high", v->high);
  return map;
}

static struct bn_node *peak_of(struct bn_json_out *p, const struct bn_usl *u)
{
  struct bn_node *map;

  if (!u->has_peak)
    return p->js->null();
  map = p->js->map();
  bn_json_put(p, map, "threads", bound_of(p, &u->peak));
  bn_json_f64(p, map, "rate", u->peak_rate);
  return map;
}

static struct bn_node *fit_of(struct bn_json_out *p, const struct bn_grid *g, size_t axis,
                              const struct bn_fit *fit)
{
  struct bn_node *map = p->js->map(), *threads = p->js->list(), *rates = p->js->list();

  for (size_t i = 0; i < fit->n; i++) {
    bn_json_add(p, threads, bn_node_f64(p->js, fit->threads[i]));
    bn_json_add(p, rates, bn_node_f64(p->js, fit->rate[i]));
  }
  bn_json_put(p, map, "values", values_of(p, g, fit->point, axis));
  bn_json_u64(p, map, "n", fit->n);
  bn_json_put(p, map, "threads", threads);
  bn_json_put(p, map, "rate", rates);
  bn_json_put(p, map, "gamma", bound_of(p, &fit->usl.gamma));
  bn_json_put(p, map, "alpha", bound_of(p, &fit->usl.alpha));
  bn_json_put(p, map, "beta", bound_of(p, &fit->usl.beta));
  bn_json_put(p, map, "peak", peak_of(p, &fit->usl));
  bn_json_f64(p, map, "r_squared", fit->usl.r_squared);
  return map;
}

struct bn_node *bn_table_document(const struct bn_table *t, const struct bn_store *js)
{
  struct bn_json_out p = {.js = js};
  const struct bn_grid *g = t->tally->grid;
  const size_t n = bn_grid_points(g);
  struct bn_node *map = js->map(), *points = js->list(), *fits = js->list();
  size_t best;

  for (size_t i = 0; i < n; i++)
    bn_json_add(&p, points, point_of(&p, t->tally, i));
  for (size_t i = 0; i < t->fits->n; i++)
    bn_json_add(&p, fits, fit_of(&p, g, t->fits->axis, &t->fits->fit[i]));
  bn_json_put(&p, map, "format", js->text("bench sweep table"));
  bn_json_put(&p, map, "version", js->integer(1));
  bn_json_put(&p, map, "command", command_of(&p, t->command));
  bn_json_u64(&p, map, "repeat", t->repeats);
  bn_json_put(&p, map, "seed", js->integer((int64_t)t->seed));
  bn_json_put(&p, map, "vary", axes_of(&p, g));
  bn_json_text(&p, map, "rate", t->tally->rate);
  bn_json_put(&p, map, "points", points);
  bn_json_put(&p, map, "best", bn_tally_best(t->tally, &best) ? bn_node_u64(js, best) : js->null());
  bn_json_put(&p, map, "usl", fits);
  return bn_json_finish(&p, map);
}

/* --- table.csv -------------------------------------------------------------------------------- */

static void add_comma(struct bn_buf *out, size_t column)
{
  if (column > 0)
    (void)bn_buf_char(out, ',');
}

/* A value that a reader would split is quoted (RFC 4180). */
static void add_text(struct bn_buf *out, const char *text)
{
  if (strpbrk(text, ",\"\r\n") == NULL) {
    (void)bn_buf_str(out, text);
    return;
  }
  (void)bn_buf_char(out, '"');
  for (; *text != '\0'; text++)
    (void)bn_buf_str(out, *text == '"' ? "\"\"" : (const char[]){*text, '\0'});
  (void)bn_buf_char(out, '"');
}

/* What the table has of each point; all is in table.json. */
static bool is_column(const char *name)
{
  const size_t digits = name[0] == 'p' ? strspn(name + 1, "0123456789.") : 0;

  return strcmp(name, "rate") == 0 || strcmp(name, "avg_s") == 0 ||
         strcmp(name, "errors_per_s") == 0 ||
         strncmp(name, BN_TALLY_OF_TEST, sizeof BN_TALLY_OF_TEST - 1) == 0 ||
         (digits > 0 && strcmp(name + 1 + digits, "_s") == 0);
}

static void add_heading(const struct bn_tally *t, struct bn_buf *out)
{
  const struct bn_grid *g = t->grid;

  for (size_t i = 0; i < g->n_axes; i++) {
    add_comma(out, i);
    add_text(out, g->axis[i].name);
  }
  add_comma(out, g->n_axes);
  (void)bn_buf_str(out, "runs,failed,left_out");
  for (size_t i = 0; i < t->n_names; i++)
    if (is_column(t->name[i]))
      (void)bn_buf_printf(out, ",%s_median,%s_min,%s_max", t->name[i], t->name[i], t->name[i]);
  (void)bn_buf_char(out, '\n');
}

static void add_spread(struct bn_buf *out, const struct bn_spread *s)
{
  const double values[] = {s->median, s->min, s->max};
  char digits[BN_UNITS_DIGITS];

  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    (void)bn_buf_printf(out, ",%s", s->n > 0 ? bn_units_shortest(digits, values[i]) : "");
}

static void add_row(const struct bn_tally *t, size_t point, struct bn_buf *out)
{
  const struct bn_grid *g = t->grid;
  struct bn_tally_point seen;

  bn_tally_look(t, point, &seen);
  for (size_t i = 0; i < g->n_axes; i++) {
    add_comma(out, i);
    add_text(out, bn_grid_value(g, point, i));
  }
  add_comma(out, g->n_axes);
  (void)bn_buf_printf(out, "%zu,%zu,%zu", seen.done, seen.failed, seen.left_out);
  for (size_t i = 0; i < t->n_names; i++)
    if (is_column(t->name[i])) {
      struct bn_spread s;

      (void)bn_tally_spread(t, point, i, &s);
      add_spread(out, &s);
    }
  (void)bn_buf_char(out, '\n');
}

int bn_table_csv(const struct bn_table *t, struct bn_buf *out)
{
  const size_t n = bn_grid_points(t->tally->grid);

  add_heading(t->tally, out);
  for (size_t i = 0; i < n; i++)
    add_row(t->tally, i, out);
  return out->failed ? -1 : 0;
}
