/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a sweep as documents: table.json and table.csv. */
#include "study/sweep/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/store.h"
#include "study/sweep/folder.h"

/* Puts values into maps and lists until one fails. */
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

static struct bn_node *text_of(const struct pen *p, const char *s)
{
  return s != NULL ? bn_store_text(p->js, s) : p->js->null();
}

static struct bn_node *real_of(const struct pen *p, double x)
{
  return isfinite(x) ? p->js->real(x) : p->js->null();
}

static struct bn_node *count_of(const struct pen *p, size_t n)
{
  return p->js->integer((int64_t)n);
}

/* --- table.json ------------------------------------------------------------------------------- */

static struct bn_node *command_of(struct pen *p, const struct bn_invocation *c)
{
  struct bn_node *list = p->js->list();

  for (size_t i = 0; i < c->n; i++) {
    struct bn_buf shown = {.max = 0};

    if (bn_invocation_show(c, i, &shown) != 0)
      p->failed = true;
    add(p, list, text_of(p, shown.data != NULL ? shown.data : ""));
    bn_buf_done(&shown);
  }
  return list;
}

static struct bn_node *axes_of(struct pen *p, const struct bn_grid *g)
{
  struct bn_node *list = p->js->list();

  for (size_t i = 0; i < g->n_axes; i++) {
    struct bn_node *axis = p->js->map(), *values = p->js->list();

    for (size_t k = 0; k < g->axis[i].n; k++)
      add(p, values, text_of(p, g->axis[i].value[k]));
    put(p, axis, "option", text_of(p, g->axis[i].name));
    put(p, axis, "values", values);
    add(p, list, axis);
  }
  return list;
}

/* without: an axis to leave out; n_axes: none. */
static struct bn_node *values_of(struct pen *p, const struct bn_grid *g, size_t point,
                                 size_t without)
{
  struct bn_node *map = p->js->map();

  for (size_t i = 0; i < g->n_axes; i++)
    if (i != without)
      put(p, map, g->axis[i].name, text_of(p, bn_grid_value(g, point, i)));
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

static struct bn_node *runs_of(struct pen *p, const struct bn_tally *t, size_t point)
{
  struct bn_node *list = p->js->list();
  char name[BN_FOLDER_RUN];

  for (size_t i = 0; i < t->n_runs; i++)
    if (is_run_of(t, i, point))
      add(p, list, text_of(p, bn_folder_run_name(i, "json", name)));
  return list;
}

static struct bn_node *figure_of(struct pen *p, const struct bn_tally *t, size_t point,
                                 size_t figure, const struct bn_spread *s)
{
  struct bn_node *map = p->js->map(), *values = p->js->list();

  put(p, map, "n", count_of(p, s->n));
  put(p, map, "median", real_of(p, s->median));
  put(p, map, "min", real_of(p, s->min));
  put(p, map, "max", real_of(p, s->max));
  for (size_t i = 0; i < t->n_runs; i++)
    if (is_run_of(t, i, point))
      add(p, values, real_of(p, bn_tally_value(t, i, figure)));
  put(p, map, "values", values);
  return map;
}

static struct bn_node *point_of(struct pen *p, const struct bn_tally *t, size_t point)
{
  struct bn_node *map = p->js->map(), *figures = p->js->map();
  struct bn_tally_point seen;

  bn_tally_look(t, point, &seen);
  put(p, map, "values", values_of(p, t->grid, point, t->grid->n_axes));
  put(p, map, "state", text_of(p, state_of(&seen)));
  put(p, map, "n", count_of(p, seen.done));
  put(p, map, "failed", count_of(p, seen.failed));
  put(p, map, "left_out", count_of(p, seen.left_out));
  put(p, map, "stops", p->js->boolean(seen.stops));
  put(p, map, "runs", runs_of(p, t, point));
  for (size_t i = 0; i < t->n_names; i++) {
    struct bn_spread s;

    if (bn_tally_spread(t, point, i, &s))
      put(p, figures, t->name[i], figure_of(p, t, point, i, &s));
  }
  put(p, map, "figures", figures);
  return map;
}

static struct bn_node *bound_of(struct pen *p, const struct bn_usl_value *v)
{
  struct bn_node *map = p->js->map();

  put(p, map, "value", real_of(p, v->value));
  put(p, map, "low", real_of(p, v->low));
  put(p, map, "high", real_of(p, v->high));
  return map;
}

static struct bn_node *peak_of(struct pen *p, const struct bn_usl *u)
{
  struct bn_node *map;

  if (!u->has_peak)
    return p->js->null();
  map = p->js->map();
  put(p, map, "threads", bound_of(p, &u->peak));
  put(p, map, "rate", real_of(p, u->peak_rate));
  return map;
}

static struct bn_node *fit_of(struct pen *p, const struct bn_grid *g, size_t axis,
                              const struct bn_fit *fit)
{
  struct bn_node *map = p->js->map(), *threads = p->js->list(), *rates = p->js->list();

  for (size_t i = 0; i < fit->n; i++) {
    add(p, threads, real_of(p, fit->threads[i]));
    add(p, rates, real_of(p, fit->rate[i]));
  }
  put(p, map, "values", values_of(p, g, fit->point, axis));
  put(p, map, "n", count_of(p, fit->n));
  put(p, map, "threads", threads);
  put(p, map, "rate", rates);
  put(p, map, "gamma", bound_of(p, &fit->usl.gamma));
  put(p, map, "alpha", bound_of(p, &fit->usl.alpha));
  put(p, map, "beta", bound_of(p, &fit->usl.beta));
  put(p, map, "peak", peak_of(p, &fit->usl));
  put(p, map, "r_squared", real_of(p, fit->usl.r_squared));
  return map;
}

struct bn_node *bn_table_document(const struct bn_table *t, const struct bn_store *js)
{
  struct pen p = {.js = js};
  const struct bn_grid *g = t->tally->grid;
  const size_t n = bn_grid_points(g);
  struct bn_node *map = js->map(), *points = js->list(), *fits = js->list();
  size_t best;

  for (size_t i = 0; i < n; i++)
    add(&p, points, point_of(&p, t->tally, i));
  for (size_t i = 0; i < t->fits->n; i++)
    add(&p, fits, fit_of(&p, g, t->fits->axis, &t->fits->fit[i]));
  put(&p, map, "format", js->text("bench sweep table"));
  put(&p, map, "version", js->integer(1));
  put(&p, map, "command", command_of(&p, t->command));
  put(&p, map, "repeat", count_of(&p, t->repeats));
  put(&p, map, "seed", js->integer((int64_t)t->seed));
  put(&p, map, "vary", axes_of(&p, g));
  put(&p, map, "rate", text_of(&p, t->tally->rate));
  put(&p, map, "points", points);
  put(&p, map, "best", bn_tally_best(t->tally, &best) ? count_of(&p, best) : js->null());
  put(&p, map, "usl", fits);
  if (!p.failed)
    return map;
  js->free(map);
  return NULL;
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
