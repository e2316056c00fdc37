/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the figures of results as numbers, because the results themselves are large. */
#include "study/sweep/tally.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/row.h"
#include "study/figure.h"
#include "study/stats/stats.h"

/* What every result has, by the names of columns and of figures. */
static const struct {
  const char *column, *figure;
} firsts[BN_TALLY_FIRST] = {{"rate", "rate"}, {"p50_s", "p50"}, {"p95_s", "p95"}, {"p99_s", "p99"}};

/* The index of the figure, or -1: out of memory. */
static long name_index(struct bn_tally *t, const char *name)
{
  char **more;

  for (size_t i = 0; i < t->n_names; i++)
    if (strcmp(t->name[i], name) == 0)
      return (long)i;
  more = reallocarray(t->name, t->n_names + 1, sizeof *more);
  if (more == NULL)
    return -1;
  t->name = more;
  t->name[t->n_names] = strdup(name);
  return t->name[t->n_names] != NULL ? (long)t->n_names++ : -1;
}

int bn_tally_init(struct bn_tally *t, const struct bn_grid *grid, const size_t *order,
                  size_t n_runs)
{
  *t = (struct bn_tally){.grid = grid, .order = order, .n_runs = n_runs};
  t->run = calloc(n_runs, sizeof *t->run);
  for (size_t i = 0; i < BN_TALLY_FIRST; i++)
    if (name_index(t, firsts[i].column) < 0)
      return -1;
  return t->run != NULL ? 0 : -1;
}

void bn_tally_done(struct bn_tally *t)
{
  for (size_t i = 0; t->run != NULL && i < t->n_runs; i++)
    free(t->run[i].value);
  for (size_t i = 0; i < t->n_names; i++)
    free(t->name[i]);
  free(t->run);
  free(t->name);
  *t = (struct bn_tally){.n_runs = 0};
}

static int set_value(struct bn_tally *t, struct bn_tally_run *run, const char *name, double value)
{
  const long at = name_index(t, name);

  if (at < 0)
    return -1;
  if ((size_t)at >= run->n_values) {
    double *more = reallocarray(run->value, (size_t)at + 1, sizeof *more);

    if (more == NULL)
      return -1;
    run->value = more;
    while (run->n_values <= (size_t)at)
      run->value[run->n_values++] = NAN;
  }
  run->value[at] = isfinite(value) ? value : NAN;
  return 0;
}

static int take_firsts(struct bn_tally *t, struct bn_tally_run *run, const struct bn_result *r)
{
  for (size_t i = 0; i < BN_TALLY_FIRST; i++) {
    struct bn_figure_name name;
    double value = NAN;

    if (bn_figure_parse(&name, firsts[i].figure, NULL) != 0 || !bn_figure_find(&name, r, &value))
      value = NAN;
    if (set_value(t, run, firsts[i].column, value) != 0)
      return -1;
  }
  return 0;
}

static int take_row(struct bn_tally *t, struct bn_tally_run *run, const struct bn_row *row)
{
  int rc = 0;

  for (size_t i = 0; i < row->n && rc == 0; i++) {
    const struct bn_cell *c = &row->cell[i];

    /* Result files may come from anywhere, with names of their own. */
    if (t->n_names >= 2 * BN_ROW_MAX)
      break;
    if (c->type == BN_CELL_WHOLE || c->type == BN_CELL_REAL)
      rc = set_value(t, run, c->name, c->type == BN_CELL_WHOLE ? (double)c->whole : c->real);
  }
  return rc;
}

/* Those figures of the test itself that its text report prints. */
static int take_figures(struct bn_tally *t, struct bn_tally_run *run, const struct bn_view *v)
{
  int rc = 0;

  for (size_t i = 0; i < v->n_figures && rc == 0 && t->n_names < 2 * BN_ROW_MAX; i++) {
    char name[sizeof BN_TALLY_OF_TEST + 64];

    (void)snprintf(name, sizeof name, BN_TALLY_OF_TEST "%.60s", v->figures[i].key);
    /* A document may have any. */
    for (char *c = name; *c != '\0'; c++)
      if (!isascii(*c) || !isalnum((unsigned char)*c))
        *c = '_';
    if (v->figures[i].text != NULL)
      rc = set_value(t, run, name, v->figures[i].value);
  }
  return rc;
}

int bn_tally_take(struct bn_tally *t, size_t run, const struct bn_result *r,
                  const struct bn_assert *stop)
{
  const struct bn_view *v = &r->group[0].total.view;
  struct bn_tally_run *at = &t->run[run];
  struct bn_row *row = calloc(1, sizeof *row);
  int rc = -1;

  if (row != NULL && take_firsts(t, at, r) == 0) {
    bn_row_total(row, &r->facts.plan, v);
    rc = take_row(t, at, row);
  }
  free(row);
  if (rc == 0)
    rc = take_figures(t, at, v);
  if (rc != 0)
    return -1;
  at->state = BN_TALLY_DONE;
  t->rate = v->kind == BN_KIND_SQL ? "transactions_per_s" : "events_per_s";
  if (stop != NULL) {
    const struct bn_finding f = bn_figure_judge(stop, r);

    at->stops = f.measured && f.holds;
  }
  return 0;
}

void bn_tally_mark(struct bn_tally *t, size_t run, enum bn_tally_state state)
{
  t->run[run].state = state;
}

size_t bn_tally_count(const struct bn_tally *t, enum bn_tally_state state)
{
  size_t n = 0;

  for (size_t i = 0; i < t->n_runs; i++)
    n += t->run[i].state == state;
  return n;
}

void bn_tally_look(const struct bn_tally *t, size_t point, struct bn_tally_point *out)
{
  size_t stops = 0;

  *out = (struct bn_tally_point){.done = 0};
  for (size_t i = 0; i < t->n_runs; i++) {
    if (t->order[i] != point)
      continue;
    out->done += t->run[i].state == BN_TALLY_DONE;
    out->failed += t->run[i].state == BN_TALLY_FAILED;
    out->left_out += t->run[i].state == BN_TALLY_LEFT_OUT;
    out->pending += t->run[i].state == BN_TALLY_PENDING;
    stops += t->run[i].stops;
  }
  out->stops = 2 * stops > out->done;
}

void bn_tally_leave_out(struct bn_tally *t, size_t run)
{
  const size_t point = t->order[run];
  size_t done = 0, stops = 0;

  for (size_t i = 0; i <= run; i++)
    if (t->order[i] == point && t->run[i].state == BN_TALLY_DONE) {
      done++;
      stops += t->run[i].stops;
    }
  for (size_t i = run + 1; 2 * stops > done && i < t->n_runs; i++)
    if (t->run[i].state == BN_TALLY_PENDING && bn_grid_beyond(t->grid, point, t->order[i]))
      t->run[i].state = BN_TALLY_LEFT_OUT;
}

double bn_tally_value(const struct bn_tally *t, size_t run, size_t figure)
{
  const struct bn_tally_run *r = &t->run[run];

  return r->state == BN_TALLY_DONE && figure < r->n_values ? r->value[figure] : NAN;
}

bool bn_tally_spread(const struct bn_tally *t, size_t point, size_t figure, struct bn_spread *out)
{
  double *value = calloc(t->n_runs, sizeof *value);
  size_t n = 0;

  *out = (struct bn_spread){.n = 0};
  for (size_t i = 0; value != NULL && i < t->n_runs; i++) {
    const double x = t->order[i] == point ? bn_tally_value(t, i, figure) : NAN;

    if (isfinite(x))
      value[n++] = x;
  }
  if (n > 0) {
    bn_stats_sort(value, n);
    *out = (struct bn_spread){n, bn_stats_median(value, n), value[0], value[n - 1]};
  }
  free(value);
  return n > 0;
}

bool bn_tally_best(const struct bn_tally *t, size_t *point)
{
  const size_t n = bn_grid_points(t->grid);
  double most = -HUGE_VAL;

  for (size_t i = 0; i < n; i++) {
    struct bn_spread s;

    if (bn_tally_spread(t, i, BN_TALLY_RATE, &s) && s.median > most) {
      most = s.median;
      *point = i;
    }
  }
  return most > -HUGE_VAL;
}
