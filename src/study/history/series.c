/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads results one after the other, keeps of each what a series needs, and puts them in order. */
#include "study/history/series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option/opt.h"
#include "study/results.h"

static const struct {
  const char *section, *key;
} facts[BN_SERIES_FACTS] = {{"program", "version"}, {"database", "server_version"},
                            {"host", "name"},       {"host", "cpu_model"},
                            {"host", "kernel"},     {"host", "distribution"}};

const char *const bn_series_fact_names[BN_SERIES_FACTS] = {
    "bench version", "server version", "host", "processor", "kernel", "distribution"};

static int out_of_memory(struct bn_err *err)
{
  return bn_err_set(err, ENOMEM, "out of memory");
}

/* An array with room for one more; it doubles when n is a power of two. */
static void *grow(void *array, size_t n, size_t size)
{
  return (n & (n - 1)) == 0 ? reallocarray(array, n > 0 ? 2 * n : 1, size) : array;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void free_run(struct bn_series_run *run)
{
  for (size_t i = 0; i < BN_SERIES_FACTS; i++)
    free(run->fact[i]);
  free(run->path);
  free(run->value);
  bn_result_done(&run->about);
}

static bool is_ignored(struct bn_series_set *set, const char *name)
{
  for (size_t i = 0; i < set->ignored->n; i++)
    if (bn_opt_same_name(set->ignored->item[i], name)) {
      set->met[i] = true;
      return true;
    }
  return false;
}

/* The facts are not needed any more. */
static int take_options(struct bn_series_set *set, struct bn_result *r, struct bn_result *out)
{
  struct bn_facts *from = &r->facts, *to = &out->facts;

  to->option = from->option;
  from->option = NULL;
  for (size_t i = 0; i < from->n_options; i++)
    if (!is_ignored(set, to->option[i].name)) {
      to->option[to->n_options++] = to->option[i];
    } else {
      free(to->option[i].group);
      free(to->option[i].name);
      free(to->option[i].value);
    }
  from->n_options = 0;
  return bn_result_group(out, r->group[0].name) != NULL ? 0 : -1;
}

static int take_run(struct bn_series_set *set, const char *path, struct bn_result *r,
                    struct bn_series_run *out)
{
  bool complete;

  *out = (struct bn_series_run){.path = strdup(path),
                                .start_wall_ns = r->facts.start_wall_ns,
                                .value = calloc(set->n_metrics, sizeof *out->value)};
  complete = out->path != NULL && out->value != NULL;
  for (size_t i = 0; complete && i < set->n_metrics; i++)
    if (!bn_figure_find(&set->metric[i], r, &out->value[i]) || !isfinite(out->value[i]))
      out->value[i] = NAN;
  for (size_t i = 0; complete && i < BN_SERIES_FACTS; i++) {
    const char *text = bn_facts_find_text(&r->facts, facts[i].section, facts[i].key);

    out->fact[i] = text != NULL ? strdup(text) : NULL;
    complete = text == NULL || out->fact[i] != NULL;
  }
  if (complete && take_options(set, r, &out->about) == 0)
    return 0;
  free_run(out);
  return -1;
}

/* Takes the sentence over. */
static int leave_out(struct bn_series_set *set, const char *path, char *why, struct bn_err *err)
{
  struct bn_series_left *more = grow(set->left, set->n_left, sizeof *more);
  char *name = strdup(path);

  if (more != NULL)
    set->left = more;
  if (more == NULL || name == NULL || why == NULL) {
    free(why);
    free(name);
    return out_of_memory(err);
  }
  set->left[set->n_left++] = (struct bn_series_left){name, why};
  return 0;
}

__attribute__((format(printf, 1, 2))) static char *sentence(const char *fmt, ...)
{
  char *text;
  va_list ap;

  va_start(ap, fmt);
  if (vasprintf(&text, fmt, ap) < 0)
    text = NULL;
  va_end(ap);
  return text;
}

/* What keeps a result out of each series; "": nothing. */
static const char *fault_of(const struct bn_result *r)
{
  const struct bn_end *end = &r->end;

  if (end->partial)
    return "is the result of a run that was killed";
  if (end->signo != 0)
    return "is the result of a run that a signal ended";
  if (end->failed || end->timeout || end->left || end->reason >= BN_END_SIGNAL)
    return "is the result of a run that failed";
  if (r->n_groups == 0 || !r->group[0].has_total)
    return "is the result of a run that measured nothing";
  return r->facts.start_wall_ns == 0 ? "does not say when the run began" : "";
}

static int add_result(struct bn_series_set *set, const char *path, struct bn_result *r,
                      struct bn_err *err)
{
  const char *fault = fault_of(r);
  struct bn_series_run *more;

  if (fault[0] != '\0')
    return leave_out(set, path, sentence("'%s' %s", path, fault), err);
  more = grow(set->run, set->n_runs, sizeof *more);
  if (more == NULL)
    return out_of_memory(err);
  set->run = more;
  if (take_run(set, path, r, &set->run[set->n_runs]) != 0)
    return out_of_memory(err);
  set->n_runs++;
  return 0;
}

/* given: the user has named the file, so it has to be a result. */
static int read_file(struct bn_series_set *set, const struct bn_store *js, const char *path,
                     bool given, struct bn_err *err)
{
  struct bn_stored stored;
  struct bn_err why = {0};
  int rc;

  if (bn_store_load(js, path, false, &stored, &why) != 0)
    return given || why.code == ENOMEM ? bn_err_set(err, why.code, "%s", why.text)
                                       : leave_out(set, path, sentence("%s", why.text), err);
  bn_facts_declare(&stored.result.facts, set->traits_of);
  rc = add_result(set, path, &stored.result, err);
  bn_stored_done(js, &stored);
  return rc;
}

static int read_operand(struct bn_series_set *set, const struct bn_store *js, const char *operand,
                        struct bn_err *err)
{
  struct bn_results files;
  int rc = bn_results_find(&files, operand, err);

  for (size_t i = 0; rc == 0 && i < files.n; i++)
    rc = read_file(set, js, files.path[i], !files.folder, err);
  bn_results_done(&files);
  return rc;
}

/* --- series ----------------------------------------------------------------------------------- */

static int compare_runs(const void *a, const void *b)
{
  const struct bn_series_run *p = a, *q = b;

  if (p->point != q->point)
    return p->point < q->point ? -1 : 1;
  if (p->start_wall_ns != q->start_wall_ns)
    return p->start_wall_ns < q->start_wall_ns ? -1 : 1;
  return strcmp(p->path, q->path);
}

static int order_runs(struct bn_series_set *set, struct bn_err *err)
{
  const struct bn_result **about = calloc(set->n_runs + 1, sizeof *about);
  int rc;

  if (about == NULL)
    return out_of_memory(err);
  for (size_t i = 0; i < set->n_runs; i++)
    about[i] = &set->run[i].about;
  rc = bn_points_find(about, NULL, set->n_runs, &set->points, err);
  for (size_t i = 0; rc == 0 && i < set->n_runs; i++)
    set->run[i].point = set->points.of[i];
  qsort(set->run, set->n_runs, sizeof *set->run, compare_runs);
  free(about);
  return rc;
}

/* Clocks tell nanoseconds: two runs of a point do not begin in the same one. */
static int leave_copies(struct bn_series_set *set, struct bn_err *err)
{
  size_t n = 1;
  int rc = 0;

  for (size_t i = 1; i < set->n_runs; i++) {
    struct bn_series_run *run = &set->run[i];
    const struct bn_series_run *before = &set->run[n - 1];

    if (run->point != before->point || run->start_wall_ns != before->start_wall_ns) {
      set->run[n++] = *run;
      continue;
    }
    if (leave_out(set, run->path,
                  sentence("'%s' is a result of the same run as '%s'", run->path, before->path),
                  err) != 0)
      rc = -1;
    free_run(run);
  }
  set->n_runs = n;
  return rc;
}

static int part_series(struct bn_series_set *set, struct bn_err *err)
{
  set->series = calloc(set->points.n, sizeof *set->series);
  if (set->series == NULL)
    return out_of_memory(err);
  for (size_t i = 0; i < set->n_runs; i++) {
    struct bn_series *s = &set->series[set->run[i].point];

    if (s->n++ == 0) {
      s->run = &set->run[i];
      s->test = set->run[i].about.group[0].name;
    }
  }
  set->n = set->points.n;
  return 0;
}

int bn_series_read(struct bn_series_set *set, const char *const *operand, struct bn_err *err)
{
  const struct bn_store *js = bn_store_json(err);
  int rc = js != NULL ? 0 : -1;

  set->met = calloc(set->ignored->n + 1, sizeof *set->met);
  if (set->met == NULL)
    return out_of_memory(err);
  for (size_t i = 0; rc == 0 && operand[i] != NULL; i++)
    rc = read_operand(set, js, operand[i], err);
  if (rc != 0 || set->n_runs == 0)
    return rc;
  return order_runs(set, err) == 0 && leave_copies(set, err) == 0 ? part_series(set, err) : -1;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char test_option[] = "test"; /* the test itself is named first */

static void add_differing(const struct bn_points *p, size_t point, struct bn_buf *out)
{
  for (size_t i = 0; i < p->n_options; i++) {
    const char *value = p->value[point * p->n_options + i];

    if (value[0] != '\0' && strcmp(p->option[i], test_option) != 0)
      (void)bn_buf_printf(out, " --%s=%s", p->option[i], value);
  }
}

static void add_given(const struct bn_facts *f, struct bn_buf *out)
{
  for (size_t i = 0; i < f->n_options; i++) {
    const struct bn_fact_option *o = &f->option[i];

    if (o->origin != BN_FROM_DEFAULT && o->value != NULL && !bn_points_ignore(o))
      (void)bn_buf_printf(out, " --%s=%s", o->name, o->value);
  }
}

void bn_series_name(const struct bn_series_set *set, const struct bn_series *s, bool all,
                    struct bn_buf *out)
{
  (void)bn_buf_str(out, s->test);
  if (all)
    add_given(&s->run[s->n - 1].about.facts, out);
  else
    add_differing(&set->points, s->run[0].point, out);
}

void bn_series_done(struct bn_series_set *set)
{
  for (size_t i = 0; i < set->n_runs; i++)
    free_run(&set->run[i]);
  for (size_t i = 0; i < set->n_left; i++) {
    free(set->left[i].path);
    free(set->left[i].why);
  }
  bn_points_done(&set->points);
  free(set->met);
  free(set->run);
  free(set->series);
  free(set->left);
}
