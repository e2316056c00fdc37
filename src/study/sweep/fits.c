/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the points that can be fitted. */
#include "study/sweep/fits.h"

#include <stdlib.h>
#include <string.h>

static bool find_axis(const struct bn_grid *g, size_t *axis)
{
  for (*axis = 0; *axis < g->n_axes; ++*axis)
    if (strcmp(g->axis[*axis].name, "threads") == 0)
      return true;
  return false;
}

static bool shares_line(const struct bn_grid *g, size_t axis, size_t a, size_t b)
{
  for (size_t i = 0; i < g->n_axes; i++)
    if (i != axis && bn_grid_index(g, a, i) != bn_grid_index(g, b, i))
      return false;
  return true;
}

static void collect(const struct bn_tally *t, size_t axis, struct bn_fit *fit)
{
  const size_t points = bn_grid_points(t->grid);

  for (size_t p = 0; p < points; p++) {
    struct bn_spread s;

    if (shares_line(t->grid, axis, p, fit->point) && bn_tally_spread(t, p, BN_TALLY_RATE, &s) &&
        s.median > 0 && bn_grid_number(bn_grid_value(t->grid, p, axis), &fit->threads[fit->n]))
      fit->rate[fit->n++] = s.median;
  }
}

static void free_fit(struct bn_fit *fit)
{
  free(fit->threads);
  free(fit->rate);
}

static int add_fit(struct bn_fits *f, const struct bn_tally *t, size_t point)
{
  const size_t most = t->grid->axis[f->axis].n;
  struct bn_fit *fit, *more = reallocarray(f->fit, f->n + 1, sizeof *more);

  if (more == NULL)
    return -1;
  f->fit = more;
  fit = &more[f->n];
  *fit = (struct bn_fit){.point = point,
                         .threads = calloc(most, sizeof *fit->threads),
                         .rate = calloc(most, sizeof *fit->rate)};
  if (fit->threads == NULL || fit->rate == NULL) {
    free_fit(fit);
    return -1;
  }
  collect(t, f->axis, fit);
  if (bn_usl_fit(fit->threads, fit->rate, fit->n, &fit->usl))
    f->n++;
  else
    free_fit(fit);
  return 0;
}

int bn_fits_find(struct bn_fits *f, const struct bn_tally *t)
{
  const size_t points = bn_grid_points(t->grid);

  *f = (struct bn_fits){.n = 0};
  if (!find_axis(t->grid, &f->axis))
    return 0;
  for (size_t p = 0; p < points; p++)
    if (bn_grid_index(t->grid, p, f->axis) == 0 && add_fit(f, t, p) != 0)
      return -1;
  return 0;
}

void bn_fits_done(struct bn_fits *f)
{
  for (size_t i = 0; i < f->n; i++)
    free_fit(&f->fit[i]);
  free(f->fit);
  *f = (struct bn_fits){.n = 0};
}
