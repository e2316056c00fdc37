/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a sweep on the terminal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "study/sweep/table.h"

/* A value of an option takes at most so much of a line. */
enum { WIDTH = 100, CELL = 32, CELLS_MAX = BN_GRID_AXES_MAX + 16, GAP = 2 };

/* Columns: the options, the number of runs, and the figures. */
struct column {
  char heading[CELL];
  size_t figure; /* of the tally */
  double scale;
  int width;
};

struct layout {
  struct column column[CELLS_MAX];
  size_t n, n_fixed; /* the options and the runs */
};

/* Four digits, or all of a whole number that has more. */
static const char *digits_of(double x, char out[CELL])
{
  const int decimals = x != 0 ? 3 - (int)floor(log10(fabs(x))) : 0;

  (void)snprintf(out, CELL, "%.*f", decimals < 0 ? 0 : decimals > 9 ? 9 : decimals, x);
  return out;
}

static const char *cut(const char *text, char out[CELL])
{
  if (bn_escape(out, CELL, text, "") >= CELL)
    memcpy(out + strlen(out) - 3, "...", 4);
  return out;
}

static const char *rate_unit(const struct bn_tally *t)
{
  if (t->rate == NULL)
    return "rate, 1/s";
  return strcmp(t->rate, "events_per_s") == 0 ? "events/s" : "transactions/s";
}

/* --- columns ---------------------------------------------------------------------------------- */

static struct column *add_column(struct layout *l, const char *heading, size_t figure, double scale)
{
  struct column *c = &l->column[l->n < CELLS_MAX ? l->n++ : CELLS_MAX - 1];

  *c = (struct column){.figure = figure, .scale = scale};
  (void)snprintf(c->heading, sizeof c->heading, "%s", heading);
  c->width = (int)strlen(c->heading);
  return c;
}

static size_t figure_named(const struct bn_tally *t, const char *name)
{
  size_t i = 0;

  while (i < t->n_names && strcmp(t->name[i], name) != 0)
    i++;
  return i;
}

/* "p99.9_s": the percentile of a column in ms. */
static bool percentile_heading(const char *name, char out[CELL])
{
  const size_t digits = name[0] == 'p' ? strspn(name + 1, "0123456789.") : 0;

  if (digits == 0 || digits > 8 || strcmp(name + 1 + digits, "_s") != 0)
    return false;
  (void)snprintf(out, CELL, "%.*s, ms", (int)digits + 1, name);
  return true;
}

static void choose(struct layout *l, const struct bn_tally *t)
{
  char heading[CELL];

  for (size_t i = 0; i < t->grid->n_axes; i++)
    (void)add_column(l, cut(t->grid->axis[i].name, heading), 0, 1);
  (void)add_column(l, "runs", 0, 1);
  l->n_fixed = l->n;
  (void)add_column(l, rate_unit(t), BN_TALLY_RATE, 1);
  (void)add_column(l, "spread, %", BN_TALLY_RATE, 1);
  for (size_t i = 0; i < t->n_names && l->n < CELLS_MAX / 2; i++)
    if (strncmp(t->name[i], BN_TALLY_OF_TEST, sizeof BN_TALLY_OF_TEST - 1) == 0)
      (void)add_column(l, cut(t->name[i] + sizeof BN_TALLY_OF_TEST - 1, heading), i, 1);
  (void)add_column(l, "avg, ms", figure_named(t, "avg_s"), 1e3);
  (void)add_column(l, "errors/s", figure_named(t, "errors_per_s"), 1);
  for (size_t i = 0; i < t->n_names && l->n < CELLS_MAX; i++)
    if (percentile_heading(t->name[i], heading))
      (void)add_column(l, heading, i, 1e3);
}

/* --- cells ------------------------------------------------------------------------------------ */

static const char *figure_cell(const struct bn_tally *t, size_t point, const struct column *c,
                               bool is_spread, char out[CELL])
{
  struct bn_spread s;

  if (!bn_tally_spread(t, point, c->figure, &s))
    return "-";
  if (!is_spread)
    return digits_of(s.median * c->scale, out);
  if (s.n < 2 || s.median <= 0)
    return "-";
  (void)snprintf(out, CELL, "%.1f", 100 * (s.max - s.min) / s.median);
  return out;
}

static const char *runs_cell(const struct bn_tally *t, size_t point, char out[CELL])
{
  struct bn_tally_point seen;

  bn_tally_look(t, point, &seen);
  if (seen.failed > 0)
    (void)snprintf(out, CELL, "%zu, %zu failed", seen.done, seen.failed);
  else if (seen.done == 0 && seen.left_out > 0)
    (void)snprintf(out, CELL, "left out");
  else
    (void)snprintf(out, CELL, "%zu", seen.done);
  return out;
}

static const char *cell(const struct bn_tally *t, const struct layout *l, size_t point, size_t i,
                        char out[CELL])
{
  if (i < t->grid->n_axes)
    return cut(bn_grid_value(t->grid, point, i), out);
  if (i + 1 == l->n_fixed)
    return runs_cell(t, point, out);
  return figure_cell(t, point, &l->column[i], i == l->n_fixed + 1, out);
}

/* Columns that do not fit are left out, the last one first. */
static void measure(struct layout *l, const struct bn_tally *t)
{
  const size_t points = bn_grid_points(t->grid);
  size_t width = 0, n = 0;

  for (size_t i = 0; i < l->n; i++)
    for (size_t p = 0; p < points; p++) {
      char text[CELL];
      const int len = (int)strlen(cell(t, l, p, i, text));

      if (len > l->column[i].width)
        l->column[i].width = len;
    }
  for (; n < l->n; n++) {
    width += (size_t)l->column[n].width + (n > 0 ? GAP : 0);
    if (width > WIDTH && n > l->n_fixed)
      break;
  }
  l->n = n;
}

static void add_table(const struct bn_tally *t, struct bn_buf *out)
{
  const size_t points = bn_grid_points(t->grid);
  struct layout l = {.n = 0};

  choose(&l, t);
  measure(&l, t);
  for (size_t i = 0; i < l.n; i++)
    (void)bn_buf_printf(out, "%*s", l.column[i].width + (i > 0 ? GAP : 0), l.column[i].heading);
  (void)bn_buf_char(out, '\n');
  for (size_t p = 0; p < points; p++) {
    for (size_t i = 0; i < l.n; i++) {
      char text[CELL];

      (void)bn_buf_printf(out, "%*s", l.column[i].width + (i > 0 ? GAP : 0),
                          cell(t, &l, p, i, text));
    }
    (void)bn_buf_char(out, '\n');
  }
}

/* --- below the table -------------------------------------------------------------------------- */

static void add_name(const struct bn_grid *g, size_t point, size_t without, struct bn_buf *out)
{
  char text[CELL];
  const char *gap = "";

  for (size_t i = 0; i < g->n_axes; i++)
    if (i != without) {
      (void)bn_buf_printf(out, "%s%s=", gap, g->axis[i].name);
      (void)bn_buf_str(out, cut(bn_grid_value(g, point, i), text));
      gap = " ";
    }
}

static void add_best(const struct bn_tally *t, struct bn_buf *out)
{
  size_t best;
  struct bn_spread s;
  char digits[CELL];

  if (!bn_tally_best(t, &best) || !bn_tally_spread(t, best, BN_TALLY_RATE, &s))
    return;
  (void)bn_buf_str(out, "\nBest: ");
  add_name(t->grid, best, t->grid->n_axes, out);
  (void)bn_buf_printf(out, ", %s %s\n", digits_of(s.median, digits), rate_unit(t));
}

static void add_bound(struct bn_buf *out, const char *name, const struct bn_usl_value *v,
                      const char *what)
{
  char value[CELL], low[CELL], high[CELL];

  (void)bn_buf_printf(out, "  %s  %10s  (%s to %s)  %s\n", name, digits_of(v->value, value),
                      digits_of(v->low, low), digits_of(v->high, high), what);
}

static void add_peak(const struct bn_table *t, const struct bn_fit *f, struct bn_buf *out)
{
  const struct bn_usl *u = &f->usl;
  char value[CELL], low[CELL], high[CELL], rate[CELL];
  double last = 0;

  for (size_t i = 0; i < f->n; i++)
    last = fmax(last, f->threads[i]);
  if (!u->has_peak) {
    (void)bn_buf_str(out, "  peak           none  within the fit\n");
    return;
  }
  (void)bn_buf_printf(out, "  peak   %10s  (%s ", digits_of(u->peak.value, value),
                      digits_of(u->peak.low, low));
  if (isfinite(u->peak.high))
    (void)bn_buf_printf(out, "to %s)", digits_of(u->peak.high, high));
  else
    (void)bn_buf_str(out, "or more)");
  (void)bn_buf_printf(out, "  threads, with %s %s%s\n", digits_of(u->peak_rate, rate),
                      rate_unit(t->tally), u->peak.value > last ? "; not measured" : "");
}

static void add_fit(const struct bn_table *t, const struct bn_fit *f, struct bn_buf *out)
{
  char what[CELL + 16];

  (void)snprintf(what, sizeof what, "%s of one thread", rate_unit(t->tally));
  (void)bn_buf_str(out, "\nUniversal Scalability Law over threads, 95 % confidence");
  if (t->tally->grid->n_axes > 1) {
    (void)bn_buf_str(out, ", ");
    add_name(t->tally->grid, f->point, t->fits->axis, out);
  }
  (void)bn_buf_str(out, ":\n");
  add_bound(out, "gamma", &f->usl.gamma, what);
  add_bound(out, "alpha", &f->usl.alpha, "contention");
  add_bound(out, "beta ", &f->usl.beta, "crosstalk");
  add_peak(t, f, out);
}

int bn_table_text(const struct bn_table *t, struct bn_buf *out)
{
  add_table(t->tally, out);
  add_best(t->tally, out);
  for (size_t i = 0; i < t->fits->n; i++)
    add_fit(t, &t->fits->fit[i], out);
  return out->failed ? -1 : 0;
}
