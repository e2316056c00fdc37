/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads results from files and folders and keeps what a comparison needs of them. */
#include "study/compare/side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "study/results.h"

/* --- figures ---------------------------------------------------------------------------------- */

int bn_side_add_figure(struct bn_side_figures *f, const char *option, const char *name,
                       bool implied, struct bn_err *err)
{
  struct bn_figure_name *to = &f->name[f->n];
  struct bn_err why = {0};

  for (size_t i = 0; i < f->n; i++)
    if (strcmp(f->name[i].text, name) == 0) {
      f->implied[i] = f->implied[i] && implied;
      return 0;
    }
  if (f->n == BN_SIDE_FIGURES_MAX)
    return bn_err_set(err, BN_ERR_OPTION, "%s: more than %d metrics", option, BN_SIDE_FIGURES_MAX);
  if (bn_figure_parse(to, name, &why) != 0)
    return bn_err_set(err, BN_ERR_OPTION, "%s: %s", option, why.text);
  if (to->better == BN_BETTER_NEITHER)
    return bn_err_set(err, BN_ERR_OPTION,
                      "%s: neither a larger nor a smaller value of %s is better; name a rate, a "
                      "latency or errors",
                      option, name);
  f->implied[f->n++] = implied;
  return 0;
}

/* Where there is no room for all, the first. */
static void add_percentiles(struct bn_side_figures *f, const struct bn_plan *plan)
{
  char name[32];

  f->wants_percentiles = false;
  for (size_t i = 0; i < plan->n_percents && f->n < BN_SIDE_FIGURES_MAX; i++) {
    (void)snprintf(name, sizeof name, "p%g", plan->percents[i]);
    (void)bn_side_add_figure(f, "", name, true, NULL);
  }
}

/* --- one result ------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
  const struct bn_fact_option *o = a, *p = b;

  return strcmp(o->name, p->name);
}

const struct bn_fact_option *bn_side_option(const struct bn_side_run *r, const char *name)
{
  size_t low = 0, high = r->result.facts.n_options;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(r->result.facts.option[middle].name, name);

    if (order == 0)
      return &r->result.facts.option[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static const char *fault_of(const struct bn_result *r)
{
  if (r->end.status != 0)
    return "the run failed";
  if (r->end.partial)
    return "the run was killed";
  if (r->n_groups == 0 || !r->group[0].has_total)
    return "the run measured nothing";
  return NULL;
}

/* Takes the facts over.  -1: out of memory. */
static int keep(struct bn_side_run *run, struct bn_result *r, struct bn_side_figures *figures)
{
  struct bn_facts *facts = &run->result.facts;

  run->left_out = fault_of(r);
  if (run->left_out == NULL && figures->wants_percentiles)
    add_percentiles(figures, &r->facts.plan);
  for (size_t i = 0; i < figures->n; i++)
    run->measured[i] = bn_figure_find(&figures->name[i], r, &run->value[i]);
  run->result.end = r->end;
  *facts = r->facts;
  facts->plan.metrics = NULL;
  r->facts = (struct bn_facts){.n_options = 0};
  if (facts->n_options > 0)
    qsort(facts->option, facts->n_options, sizeof *facts->option, by_name);
  return r->n_groups == 0 || bn_result_group(&run->result, r->group[0].name) != NULL ? 0 : -1;
}

/* What is no result is passed over, unless the user has named it. */
static int add_run(const struct bn_store *js, const char *path, bool named,
                   struct bn_side_figures *figures, struct bn_side *out, struct bn_err *err)
{
  struct bn_side_run *more = reallocarray(out->run, out->n + 1, sizeof *more);
  struct bn_stored stored;
  struct bn_err why = {0};
  int rc;

  if (more == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  out->run = more;
  rc = bn_results_load(js, path, &stored, &why);
  if (rc == 0 && !named)
    return 0;
  if (rc <= 0)
    return *err = why, -1;
  bn_facts_declare(&stored.result.facts, figures->traits_of);
  more[out->n] = (struct bn_side_run){.path = strdup(path)};
  rc = keep(&more[out->n], &stored.result, figures);
  bn_stored_done(js, &stored);
  if (more[out->n++].path == NULL || rc != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  return 0;
}

int bn_side_read(const struct bn_store *js, const char *path, struct bn_side_figures *figures,
                 struct bn_side *out, struct bn_err *err)
{
  struct bn_results files;
  int rc = bn_results_find(&files, path, err);

  *out = (struct bn_side){.n = 0};
  for (size_t i = 0; rc == 0 && i < files.n; i++)
    rc = add_run(js, files.path[i], !files.folder, figures, out, err);
  bn_results_done(&files);
  if (rc == 0 && out->n == 0)
    return bn_err_set(err, ENOENT,
                      "'%s' has no results; name a folder that has files of --report=json:FILE, or "
                      "whose folder runs has them",
                      path);
  return rc;
}

void bn_side_done(struct bn_side *s)
{
  for (size_t i = 0; i < s->n; i++) {
    free(s->run[i].path);
    bn_result_done(&s->run[i].result);
  }
  free(s->run);
}

int bn_side_points(const struct bn_side *a, const struct bn_side *b, struct bn_points *out,
                   struct bn_err *err)
{
  const size_t n = a->n + b->n;
  const struct bn_result **result = calloc(n + 1, sizeof *result);
  size_t *side = calloc(n + 1, sizeof *side);
  int rc = -1;

  for (size_t i = 0; result != NULL && i < n; i++)
    result[i] = i < a->n ? &a->run[i].result : &b->run[i - a->n].result;
  for (size_t i = a->n; side != NULL && i < n; i++)
    side[i] = 1;
  if (result == NULL || side == NULL)
    (void)bn_err_set(err, ENOMEM, "out of memory");
  else
    rc = bn_points_find(result, side, n, out, err);
  free(result);
  free(side);
  return rc;
}
