/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the sweeps that two folders have in common, and relates their scores. */
#include "study/compare/scores.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/results.h"
#include "study/stats/stats.h"

/* --- folders ---------------------------------------------------------------------------------- */

static char *join(const char *folder, const char *name)
{
  char *path = NULL;

  return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static int is_visible(const struct dirent *e)
{
  return e->d_name[0] != '.';
}

/* One whose runs have all failed to leave a result is none. */
static bool is_sweep(const char *folder, const char *name)
{
  char *path = join(folder, name), *runs = path != NULL ? join(path, "runs") : NULL;
  struct bn_results found = {.n = 0};
  const bool is = runs != NULL && bn_results_is_folder(runs) &&
                  bn_results_find(&found, runs, NULL) == 0 && found.n > 0;

  bn_results_done(&found);
  free(path);
  free(runs);
  return is;
}

/* The names of the sweeps of a folder, sorted; a list as scandir makes it.  -1 and err. */
static int list(const char *folder, struct dirent ***out, struct bn_err *err)
{
  const int n = scandir(folder, out, is_visible, versionsort);
  int kept = 0;

  if (n < 0)
    return bn_err_set(err, errno, "cannot read the folder '%s': %s", folder, strerror(errno));
  for (int i = 0; i < n; i++)
    if (is_sweep(folder, (*out)[i]->d_name))
      (*out)[kept++] = (*out)[i];
    else
      free((*out)[i]);
  return kept;
}

static void release(struct dirent **entry, int n)
{
  for (int i = 0; i < n; i++)
    free(entry[i]);
  free(entry);
}

bool bn_scores_apply(const char *folder)
{
  struct bn_results own = {.n = 0};
  struct dirent **entry = NULL;
  bool apply =
      bn_results_is_folder(folder) && bn_results_find(&own, folder, NULL) == 0 && own.n == 0;
  const int n = apply ? list(folder, &entry, NULL) : 0;

  bn_results_done(&own);
  apply = n > 0;
  if (n >= 0)
    release(entry, n);
  return apply;
}

/* --- one sweep -------------------------------------------------------------------------------- */

/* A sweep of both sides. */
struct work {
  struct bn_side side[2];
  struct bn_points points;
  enum bn_better better;
  double *value;    /* room for those of one point */
  double *relative; /* [points] of those that both have */
  double *spread;   /* [2 * points] */
  size_t n_spreads;
};

/* The median of the runs of a point; false: there are none. */
static bool score_of(struct work *w, size_t side, size_t point, double *score)
{
  const struct bn_side *s = &w->side[side];
  const size_t *of = w->points.of + (side == 1 ? w->side[0].n : 0);
  size_t n = 0;

  for (size_t i = 0; i < s->n; i++)
    if (of[i] == point && s->run[i].left_out == NULL && s->run[i].measured[0] &&
        isfinite(s->run[i].value[0]) && s->run[i].value[0] > 0)
      w->value[n++] = s->run[i].value[0];
  if (n == 0)
    return false;
  bn_stats_sort(w->value, n);
  *score = bn_stats_median(w->value, n);
  if (n > 1)
    w->spread[w->n_spreads++] = (w->value[n - 1] - w->value[0]) / *score;
  return true;
}

static double relate(const struct work *w, double a, double b)
{
  return w->better == BN_BETTER_LESS ? a / b : b / a;
}

/* Whether x is better than what was best. */
static bool is_better(const struct work *w, double x, double best)
{
  return w->better == BN_BETTER_LESS ? x < best : x > best;
}

static char *name_point(const struct work *w, size_t point)
{
  struct bn_buf name = {.max = 0};
  char *text;

  bn_points_name(&w->points, point, &name);
  text = strdup(name.data != NULL ? name.data : "");
  bn_buf_done(&name);
  return text;
}

static double mean_of(double *ratio, size_t n)
{
  for (size_t i = 0; i < n; i++)
    ratio[i] = log(ratio[i]);
  return exp(bn_stats_mean(ratio, n));
}

static void measure(struct work *w, struct bn_score *out, size_t best[2])
{
  size_t n = 0;

  for (size_t i = 0; i < w->points.n; i++) {
    const size_t n_spreads = w->n_spreads;
    double a, b;

    if (!score_of(w, 0, i, &a) || !score_of(w, 1, i, &b)) {
      w->n_spreads = n_spreads;
      continue;
    }
    if (n == 0 || is_better(w, a, out->a)) {
      out->a = a;
      best[0] = i;
    }
    if (n == 0 || is_better(w, b, out->b)) {
      out->b = b;
      best[1] = i;
    }
    w->relative[n++] = relate(w, a, b);
  }
  out->n_points = n;
  if (n == 0)
    return;
  out->first = w->relative[0];
  out->last = w->relative[n - 1];
  out->best = relate(w, out->a, out->b);
  out->mean = mean_of(w->relative, n);
  bn_stats_sort(w->spread, w->n_spreads);
  out->spread = w->n_spreads > 0 ? bn_stats_median(w->spread, w->n_spreads) : NAN;
}

static int score(struct work *w, struct bn_score *out)
{
  size_t best[2] = {0, 0};
  int rc = -1;

  w->value = calloc(w->side[0].n + w->side[1].n + 1, sizeof *w->value);
  w->relative = calloc(w->points.n + 1, sizeof *w->relative);
  w->spread = calloc(2 * w->points.n + 1, sizeof *w->spread);
  if (w->value != NULL && w->relative != NULL && w->spread != NULL) {
    measure(w, out, best);
    out->best_a = name_point(w, best[0]);
    out->best_b = name_point(w, best[1]);
    rc = out->best_a != NULL && out->best_b != NULL ? 0 : -1;
  }
  free(w->value);
  free(w->relative);
  free(w->spread);
  return rc;
}

/* --- all sweeps ------------------------------------------------------------------------------- */

struct making {
  const struct bn_store *js;
  const char *const *name;
  struct bn_side_figures *figures;
  struct bn_scores *out;
};

static int out_of_memory(struct bn_err *err)
{
  return bn_err_set(err, ENOMEM, "out of memory");
}

static bool is_known(const struct bn_differences *all, const struct bn_difference *d)
{
  for (size_t i = 0; i < all->n; i++)
    if (strcmp(all->row[i].what, d->what) == 0 && strcmp(all->row[i].a, d->a) == 0 &&
        strcmp(all->row[i].b, d->b) == 0)
      return true;
  return false;
}

/* Takes those that are new over. */
static int add_differences(struct bn_differences *all, struct bn_differences *more)
{
  for (size_t i = 0; i < more->n; i++) {
    struct bn_difference *row;

    if (is_known(all, &more->row[i]))
      continue;
    row = reallocarray(all->row, all->n + 1, sizeof *row);
    if (row == NULL)
      return -1;
    all->row = row;
    all->row[all->n++] = more->row[i];
    more->row[i] = (struct bn_difference){NULL, NULL, NULL};
  }
  return 0;
}

static int read_side(const struct making *m, size_t side, const char *sweep, struct work *w,
                     struct bn_err *err)
{
  char *path = join(m->name[side], sweep);
  const int rc = path != NULL ? bn_side_read(m->js, path, m->figures, &w->side[side], err)
                              : out_of_memory(err);

  free(path);
  return rc;
}

static int make_row(const struct making *m, const char *sweep, struct work *w, struct bn_err *err)
{
  struct bn_scores *s = m->out;
  struct bn_score *row = reallocarray(s->row, s->n + 1, sizeof *row);
  struct bn_differences d = {.n = 0};
  int rc = -1;

  if (row == NULL)
    return out_of_memory(err);
  s->row = row;
  row = &s->row[s->n++];
  *row = (struct bn_score){.name = strdup(sweep)};
  if (read_side(m, 0, sweep, w, err) != 0 || read_side(m, 1, sweep, w, err) != 0 ||
      bn_side_points(&w->side[0], &w->side[1], &w->points, err) != 0)
    return -1;
  if (row->name == NULL || score(w, row) != 0)
    return out_of_memory(err);
  if (bn_differ(&w->side[0], &w->side[1], &w->points, &d, err) == 0)
    rc = add_differences(&s->differences, &d) == 0 ? 0 : out_of_memory(err);
  bn_differences_done(&d);
  return rc;
}

static int add_row(const struct making *m, const char *sweep, struct bn_err *err)
{
  struct work w = {.better = m->figures->name[0].better};
  const int rc = make_row(m, sweep, &w, err);

  bn_points_done(&w.points);
  bn_side_done(&w.side[0]);
  bn_side_done(&w.side[1]);
  return rc;
}

static int add_only(struct bn_scores *s, size_t side, const char *sweep, struct bn_err *err)
{
  char **more = reallocarray(s->only[side], s->n_only[side] + 1, sizeof *more);

  if (more == NULL)
    return out_of_memory(err);
  s->only[side] = more;
  more[s->n_only[side]] = strdup(sweep);
  return more[s->n_only[side]++] != NULL ? 0 : out_of_memory(err);
}

static int add_all(const struct making *m, struct dirent **a, int n_a, struct bn_err *err)
{
  struct dirent **b = NULL;
  const int n_b = list(m->name[1], &b, err);
  int rc = n_b < 0 ? -1 : 0;

  for (int i = 0; rc == 0 && i < n_a; i++)
    rc = is_sweep(m->name[1], a[i]->d_name) ? add_row(m, a[i]->d_name, err)
                                            : add_only(m->out, 0, a[i]->d_name, err);
  for (int i = 0; rc == 0 && i < n_b; i++)
    if (!is_sweep(m->name[0], b[i]->d_name))
      rc = add_only(m->out, 1, b[i]->d_name, err);
  if (n_b >= 0)
    release(b, n_b);
  return rc;
}

static int find_mean(struct bn_scores *s, struct bn_err *err)
{
  double *ratio = calloc(s->n + 1, sizeof *ratio);
  size_t n = 0;

  if (ratio == NULL)
    return out_of_memory(err);
  for (size_t i = 0; i < s->n; i++)
    if (s->row[i].n_points > 0)
      ratio[n++] = s->row[i].mean;
  if (n > 0)
    s->mean = mean_of(ratio, n);
  s->n_scored = n;
  free(ratio);
  return n > 0 ? 0
               : bn_err_set(err, EINVAL, "the sweeps of the two folders have no point in common");
}

int bn_scores_make(const struct bn_store *js, const char *const name[2],
                   struct bn_side_figures *figures, struct bn_scores *out, struct bn_err *err)
{
  const struct making m = {js, name, figures, out};
  struct dirent **a = NULL;
  const int n_a = list(name[0], &a, err);
  int rc;

  *out = (struct bn_scores){.n = 0};
  if (n_a < 0)
    return -1;
  rc = add_all(&m, a, n_a, err);
  release(a, n_a);
  return rc == 0 ? find_mean(out, err) : rc;
}

void bn_scores_done(struct bn_scores *s)
{
  for (size_t i = 0; i < s->n; i++) {
    free(s->row[i].name);
    free(s->row[i].best_a);
    free(s->row[i].best_b);
  }
  for (size_t side = 0; side < 2; side++) {
    for (size_t i = 0; i < s->n_only[side]; i++)
      free(s->only[side][i]);
    free(s->only[side]);
  }
  free(s->row);
  bn_differences_done(&s->differences);
}
