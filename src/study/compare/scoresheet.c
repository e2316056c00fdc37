/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints relative scores as a table, and writes them as a document. */
#include <math.h>

#include "measure/json_write.h"
#include "study/columns.h"
#include "study/compare/scores.h"

/* --- text ------------------------------------------------------------------------------------- */

static void add_headings(struct bn_columns *c, const char *unit)
{
  bn_columns_add(c, "sweep");
  bn_columns_add(c, "points");
  bn_columns_add(c, unit[0] != '\0' ? "best A, %s" : "best A", unit);
  bn_columns_add(c, unit[0] != '\0' ? "best B, %s" : "best B", unit);
  bn_columns_add(c, "first");
  bn_columns_add(c, "best");
  bn_columns_add(c, "last");
  bn_columns_add(c, "mean");
  bn_columns_add(c, "spread, %%");
}

static void add_row(struct bn_columns *c, const struct bn_score *s, double scale)
{
  char a[BN_COLUMNS_DIGITS], b[BN_COLUMNS_DIGITS];
  const double relative[] = {s->first, s->best, s->last, s->mean};

  bn_columns_add(c, "%s", s->name);
  bn_columns_add(c, "%zu", s->n_points);
  if (s->n_points == 0) {
    for (size_t i = 0; i < 7; i++)
      bn_columns_add(c, "-");
    return;
  }
  bn_columns_add(c, "%s", bn_columns_number(a, s->a * scale));
  bn_columns_add(c, "%s", bn_columns_number(b, s->b * scale));
  for (size_t i = 0; i < sizeof relative / sizeof relative[0]; i++)
    bn_columns_add(c, "%.3f", relative[i]);
  bn_columns_add(c, isfinite(s->spread) ? "%.1f" : "-", 100 * s->spread);
}

static void print_table(const struct bn_scores *s, const struct bn_figure_name *figure,
                        bool markdown, struct bn_buf *out)
{
  struct bn_columns c = {.align = "lrrrrrrrr"};
  const char *unit;
  const double scale = bn_figure_scale(figure, &unit);

  add_headings(&c, unit);
  for (size_t i = 0; i < s->n; i++)
    add_row(&c, &s->row[i], scale);
  (void)bn_buf_str(out, markdown ? "\n" : "");
  out->failed |= bn_columns_print(&c, markdown, out) != 0;
  bn_columns_done(&c);
}

static void print_only(const struct bn_scores *s, size_t side, bool markdown, struct bn_buf *out)
{
  for (size_t i = 0; i < s->n_only[side]; i++) {
    (void)bn_buf_printf(out, "%s", i > 0 ? ", " : "");
    if (i == 0)
      (void)bn_buf_printf(out, "%sonly in %c: ", markdown ? "\n" : "", (char)('A' + side));
    bn_columns_text(out, s->only[side][i], markdown);
  }
  if (s->n_only[side] > 0)
    (void)bn_buf_char(out, '\n');
}

void bn_scores_print(const struct bn_scores *s, const char *const name[2],
                     const struct bn_figure_name *figure, bool markdown, struct bn_buf *out)
{
  for (size_t side = 0; side < 2; side++) {
    (void)bn_buf_printf(out, "%s%c: ", markdown ? "- " : "", (char)('A' + side));
    bn_columns_text(out, name[side], markdown);
    (void)bn_buf_printf(out, " (%zu sweeps)\n", s->n + s->n_only[side]);
  }
  bn_differences_print(&s->differences, markdown, out);
  (void)bn_buf_printf(out, "\nScores of B relative to A by %s, more than 1 is better:\n",
                      figure->text);
  print_table(s, figure, markdown, out);
  print_only(s, 0, markdown, out);
  print_only(s, 1, markdown, out);
  (void)bn_buf_printf(out, "\nGeometric mean of %zu sweep%s: %.3f\n", s->n_scored,
                      s->n_scored == 1 ? "" : "s", s->mean);
}

/* --- document --------------------------------------------------------------------------------- */

static struct bn_node *side_of(struct bn_json_out *p, const struct bn_scores *s, const char *name,
                               size_t side)
{
  struct bn_node *map = p->js->map(), *only = p->js->list();

  for (size_t i = 0; i < s->n_only[side]; i++)
    bn_json_add(p, only, bn_node_text(p->js, s->only[side][i]));
  bn_json_text(p, map, "path", name);
  bn_json_put(p, map, "only", only);
  return map;
}

static struct bn_node *row_of(struct bn_json_out *p, const struct bn_score *s)
{
  struct bn_node *map = p->js->map();
  const bool known = s->n_points > 0;

  bn_json_text(p, map, "name", s->name);
  bn_json_put(p, map, "points", p->js->integer((int64_t)s->n_points));
  bn_json_f64(p, map, "a", known ? s->a : NAN);
  bn_json_f64(p, map, "b", known ? s->b : NAN);
  bn_json_put(p, map, "best_a", known ? bn_node_text(p->js, s->best_a) : p->js->null());
  bn_json_put(p, map, "best_b", known ? bn_node_text(p->js, s->best_b) : p->js->null());
  bn_json_f64(p, map, "first", known ? s->first : NAN);
  bn_json_f64(p, map, "best", known ? s->best : NAN);
  bn_json_f64(p, map, "last", known ? s->last : NAN);
  bn_json_f64(p, map, "mean", known ? s->mean : NAN);
  bn_json_f64(p, map, "spread", known ? s->spread : NAN);
  return map;
}

struct bn_node *bn_scores_document(const struct bn_scores *s, const char *const name[2],
                                   const struct bn_figure_name *figure, const struct bn_store *js)
{
  struct bn_json_out p = {.js = js};
  struct bn_node *map = js->map(), *rows = js->list();

  bn_json_put(&p, map, "format", js->text("bench scores"));
  bn_json_put(&p, map, "version", js->integer(1));
  bn_json_put(&p, map, "a", side_of(&p, s, name[0], 0));
  bn_json_put(&p, map, "b", side_of(&p, s, name[1], 1));
  bn_json_put(&p, map, "differences", bn_differences_document(&s->differences, js));
  bn_json_text(&p, map, "metric", figure->text);
  bn_json_text(&p, map, "unit", bn_figure_unit(figure));
  for (size_t i = 0; i < s->n; i++)
    bn_json_add(&p, rows, row_of(&p, &s->row[i]));
  bn_json_put(&p, map, "sweeps", rows);
  bn_json_f64(&p, map, "mean", s->mean);
  return bn_json_finish(&p, map);
}
