/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads results from files and folders and keeps what a comparison needs of them. */
#include "study/compare/side.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"

enum { FOREIGN_MAX = 1 << 26 }; /* bytes of a document that is no result */

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
                      "%s: neither more nor less of %s is better; name a rate, a latency or errors",
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

static int add_run(const struct bn_store *js, const char *path, struct bn_side_figures *figures,
                   struct bn_side *out, struct bn_err *err)
{
  struct bn_side_run *more = reallocarray(out->run, out->n + 1, sizeof *more);
  struct bn_stored stored;
  int rc;

  if (more == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  out->run = more;
  if (out->n == BN_SIDE_RUNS_MAX)
    return bn_err_set(err, EFBIG, "more than %d results", BN_SIDE_RUNS_MAX);
  if (bn_store_load(js, path, false, &stored, err) != 0)
    return -1;
  more[out->n] = (struct bn_side_run){.path = strdup(path)};
  rc = keep(&more[out->n], &stored.result, figures);
  bn_stored_done(js, &stored);
  if (more[out->n++].path == NULL || rc != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  return 0;
}

/* --- folders ---------------------------------------------------------------------------------- */

/* A whole document that says that it is something else. */
static bool is_foreign(const struct bn_store *js, const char *path)
{
  struct bn_buf text = {.max = FOREIGN_MAX};
  FILE *f = fopen(path, "re");
  struct bn_node *n = NULL;
  const char *format;
  char block[4096];
  size_t len;
  bool foreign;

  while (f != NULL && (len = fread(block, 1, sizeof block, f)) > 0)
    if (bn_buf_add(&text, block, len) != 0)
      break;
  if (f != NULL && !text.failed && text.len > 0)
    n = js->parse(text.data, text.len, NULL);
  format = n != NULL && js->type(n) == BN_NODE_MAP ? js->get_text(js->get(n, "format")) : NULL;
  foreign = n != NULL && (format == NULL || strcmp(format, "bench result") != 0);
  js->free(n);
  bn_buf_done(&text);
  if (f != NULL)
    (void)fclose(f);
  return foreign;
}

static int is_json(const struct dirent *e)
{
  const size_t len = strlen(e->d_name);

  return e->d_name[0] != '.' && len > 5 && strcmp(e->d_name + len - 5, ".json") == 0;
}

static int add_entry(const struct bn_store *js, const char *folder, const char *name,
                     struct bn_side_figures *figures, struct bn_side *out, struct bn_err *err)
{
  struct bn_err why = {0};
  char *path = NULL;
  int rc;

  if (asprintf(&path, "%s/%s", folder, name) < 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = add_run(js, path, figures, out, &why);
  if (rc != 0 && is_foreign(js, path))
    rc = 0;
  if (rc != 0)
    *err = why;
  free(path);
  return rc;
}

static int read_folder(const struct bn_store *js, const char *path, bool optional,
                       struct bn_side_figures *figures, struct bn_side *out, struct bn_err *err)
{
  struct dirent **entry = NULL;
  const int n = scandir(path, &entry, is_json, versionsort);
  int rc = 0;

  if (n < 0 && optional && (errno == ENOENT || errno == ENOTDIR))
    return 0;
  if (n < 0)
    return bn_err_set(err, errno, "cannot read the folder '%s': %s", path, strerror(errno));
  for (int i = 0; i < n; i++) {
    if (rc == 0)
      rc = add_entry(js, path, entry[i]->d_name, figures, out, err);
    free(entry[i]);
  }
  free(entry);
  return rc;
}

static int read_folders(const struct bn_store *js, const char *path,
                        struct bn_side_figures *figures, struct bn_side *out, struct bn_err *err)
{
  char *runs = NULL;
  int rc;

  if (asprintf(&runs, "%s/runs", path) < 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = read_folder(js, path, false, figures, out, err);
  if (rc == 0)
    rc = read_folder(js, runs, true, figures, out, err);
  free(runs);
  if (rc == 0 && out->n == 0)
    return bn_err_set(err, ENOENT,
                      "'%s' has no results: neither it nor its folder runs has a file *.json that "
                      "--report=json:FILE has written",
                      path);
  return rc;
}

int bn_side_read(const struct bn_store *js, const char *path, struct bn_side_figures *figures,
                 struct bn_side *out, struct bn_err *err)
{
  struct stat st;

  *out = (struct bn_side){.n = 0};
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
    return read_folders(js, path, figures, out, err);
  return add_run(js, path, figures, out, err);
}

void bn_side_done(struct bn_side *s)
{
  for (size_t i = 0; i < s->n; i++) {
    free(s->run[i].path);
    bn_result_done(&s->run[i].result);
  }
  free(s->run);
}
