/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares workloads, metrics, ranks and options of results. */
#include "measure/merge_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/layout.h"
#include "measure/stat.h"

/* Returns whether both texts are equal, or both are NULL. */
static bool merge_is_same_text(const char *a, const char *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return strcmp(a, b) == 0;
}

/* --- what was measured ------------------------------------------------------------------------ */

/* Checks that a part has one total, with histograms.  Returns 0, or -1 and err. */
static int merge_check_total(const struct bn_part *p, struct bn_err *err)
{
  const struct bn_result *r = p->result;

  if (r->n_groups > 1 && r->group[1].member == NULL)
    return bn_err_set(err, EINVAL, "'%s' has several groups of sessions", p->name);
  if (r->n_groups == 0 || !r->group[0].has_total)
    return bn_err_set(err, EINVAL, "'%s' is of a run that measured nothing, or has no totals",
                      p->name);
  if (r->group[0].total.view.latency == NULL)
    return bn_err_set(err, EINVAL,
                      "'%s' has no histograms, which the percentiles of the sum need "
                      "(--report-bins=total)",
                      p->name);
  return 0;
}

/* Returns the dialect of a part as a message names it. */
static const char *merge_dialect_of(const struct bn_part *p)
{
  const struct bn_plan *plan = &p->result->facts.plan;

  return plan->native ? "none" : bn_layout_dialects[plan->version];
}

/* Checks that two parts are of the same workload and dialect.  Returns 0, or -1 and err. */
static int merge_check_workload(const struct bn_part *a, const struct bn_part *b,
                                struct bn_err *err)
{
  const char *one = a->result->group[0].name, *other = b->result->group[0].name;

  if (strcmp(one, other) != 0)
    return bn_err_set(err, EINVAL, "'%s' is of the test '%s', and '%s' of the test '%s'", a->name,
                      one, b->name, other);
  if (strcmp(merge_dialect_of(a), merge_dialect_of(b)) != 0)
    return bn_err_set(err, EINVAL, "the dialects differ: %s in '%s', %s in '%s'",
                      merge_dialect_of(a), a->name, merge_dialect_of(b), b->name);
  return 0;
}

/* Returns whether both lists have the same metrics in the same order. */
static bool merge_are_same_rows(const struct bn_metric *a, size_t n_a, const struct bn_metric *b,
                                size_t n_b)
{
  if (n_a != n_b)
    return false;
  for (size_t i = 0; i < n_a; i++)
    if (strcmp(a[i].name, b[i].name) != 0 || strcmp(a[i].unit, b[i].unit) != 0 ||
        a[i].kind != b[i].kind)
      return false;
  return true;
}

bool bn_merge_have_same_metrics(const struct bn_metrics *a, const struct bn_metrics *b)
{
  return merge_are_same_rows(a->counter, a->n_counters, b->counter, b->n_counters) &&
         merge_are_same_rows(a->hist, a->n_hists, b->hist, b->n_hists) &&
         merge_are_same_rows(a->labelled, a->n_labelled, b->labelled, b->n_labelled);
}

/* Returns the metrics without the lag of pauses, the last histogram, unless the run had --rate: the
   document of a script that can pause has the lag only if the script did pause.  The rows stay
   those of m. */
static struct bn_metrics merge_leave_out_lag(const struct bn_metrics *m)
{
  const bool lag_is_optional = bn_statset_has_lag(m) && !bn_statset_has_waiting(m);
  struct bn_metrics required = *m;

  if (lag_is_optional)
    required.n_hists--;
  return required;
}

bool bn_merge_have_same_ranks(const double *a, size_t n_a, const double *b, size_t n_b)
{
  return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

/* Checks that two parts have the same metrics and ranks.  Returns 0, or -1 and err. */
static int merge_check_figures(const struct bn_part *a, const struct bn_part *b, struct bn_err *err)
{
  const struct bn_plan *plan_a = &a->result->facts.plan, *plan_b = &b->result->facts.plan;
  const struct bn_view *total_a = &a->result->group[0].total.view,
                       *total_b = &b->result->group[0].total.view;
  const struct bn_metrics metrics_a = merge_leave_out_lag(&total_a->delta->metrics),
                          metrics_b = merge_leave_out_lag(&total_b->delta->metrics);

  if (!bn_merge_have_same_metrics(&metrics_a, &metrics_b))
    return bn_err_set(err, EINVAL,
                      "'%s' and '%s' count different metrics; use the same version "
                      "of bench and the same options for all runs",
                      a->name, b->name);
  if (!bn_merge_have_same_ranks(plan_a->percents, plan_a->n_percents, plan_b->percents,
                                plan_b->n_percents) ||
      !bn_merge_have_same_ranks(total_a->percents, total_a->n_percents, total_b->percents,
                                total_b->n_percents))
    return bn_err_set(err, EINVAL,
                      "'%s' and '%s' have percentiles of different ranks "
                      "(--percentile)",
                      a->name, b->name);
  return 0;
}

/* --- options ---------------------------------------------------------------------------------- */

/* Processes that make a run together may differ in how they reach their server and files, in what
   they report, and in how they draw numbers. */
enum {
  MAY_DIFFER = BN_OPT_ADDED | BN_OPT_CONTROLLER_ONLY | BN_OPT_OUTPUT_ONLY | BN_OPT_OBSERVES |
               BN_OPT_REPEAT_ONLY | BN_OPT_ENDPOINT | BN_OPT_PLACE
};

/* The options of a result in the order of their names: a document may have many, and each is looked
   up in the others. */
struct sorted {
  const struct bn_fact_option **option; /* owned */
  size_t n;
};

static int merge_compare_names(const void *a, const void *b)
{
  const struct bn_fact_option *const *p = a, *const *q = b;

  return strcmp((*p)->name, (*q)->name);
}

/* Makes the sorted list of the options of a result.  The caller frees s->option. */
static void merge_sort_options(struct sorted *s, const struct bn_facts *f)
{
  *s = (struct sorted){.option = bn_alloc(f->n_options, sizeof *s->option), .n = f->n_options};
  for (size_t i = 0; i < s->n; i++)
    s->option[i] = &f->option[i];
  qsort(s->option, s->n, sizeof(struct bn_fact_option *), merge_compare_names);
}

/* Returns the option that has the name of `like`, or NULL. */
static const struct bn_fact_option *merge_find_option(const struct sorted *s,
                                                      const struct bn_fact_option *like)
{
  const struct bn_fact_option *const *found =
      bsearch(&like, s->option, s->n, sizeof(struct bn_fact_option *), merge_compare_names);

  return found != NULL ? *found : NULL;
}

/* Returns whether the values of an option differ, so that two runs cannot be merged.  b NULL: the
   other program does not know the option, so it makes a difference only if it was set.  The values
   of secrets are not kept, so they cannot be compared. */
static bool merge_option_differs(const struct bn_fact_option *a, const struct bn_fact_option *b)
{
  if ((a->traits & MAY_DIFFER) != 0 || a->secret)
    return false;
  if (b == NULL)
    return a->origin != BN_FROM_DEFAULT;
  return !b->secret && !merge_is_same_text(a->value, b->value);
}

/* Returns the value of an option as a message shows it.  o NULL: the run does not have it. */
static const char *merge_value_of(const struct bn_fact_option *o)
{
  return o != NULL && o->value != NULL ? o->value : "(none)";
}

/* Two parts whose options are compared. */
struct comparison {
  const struct bn_part *a, *b;
  bool force;
  struct bn_buf *notes;
  struct bn_err *err;
};

/* Notes that two values of an option differ; NULL: a run does not have it. */
static void merge_note_option(const struct comparison *c, const char *name,
                              const struct bn_fact_option *a, const struct bn_fact_option *b)
{
  (void)bn_buf_printf(c->notes, "--%s differs: %s in '%s', %s in '%s'\n", name, merge_value_of(a),
                      c->a->name, merge_value_of(b), c->b->name);
}

/* Refuses to merge runs whose values of an option differ (NULL: a run does not have it), or with
   --force notes the difference.  Returns 0, or -1 and c->err. */
static int merge_refuse_or_note_option(const struct comparison *c, const char *name,
                                       const struct bn_fact_option *a,
                                       const struct bn_fact_option *b)
{
  if (!c->force)
    return bn_err_set(c->err, EINVAL,
                      "--%s differs: %s in '%s', %s in '%s'; --force merges them "
                      "anyway",
                      name, merge_value_of(a), c->a->name, merge_value_of(b), c->b->name);
  merge_note_option(c, name, a, b);
  return 0;
}

/* Refuses or notes all options that differ.  Returns 0, or -1 and c->err. */
static int merge_compare_options(const struct comparison *c, const struct sorted *a,
                                 const struct sorted *b)
{
  /* A document without options says nothing about them. */
  if (a->n == 0 || b->n == 0)
    return 0;
  for (size_t i = 0; i < a->n; i++) {
    const struct bn_fact_option *o = a->option[i], *other = merge_find_option(b, o);

    if (merge_option_differs(o, other) && merge_refuse_or_note_option(c, o->name, o, other) != 0)
      return -1;
  }
  for (size_t i = 0; i < b->n; i++) {
    const struct bn_fact_option *o = b->option[i];

    if (merge_find_option(a, o) != NULL) /* it was compared above */
      continue;
    if (merge_option_differs(o, NULL) && merge_refuse_or_note_option(c, o->name, NULL, o) != 0)
      return -1;
  }
  return 0;
}

/* Notes that the texts of --group differ.  Such a text has options that may differ, such as hosts,
   and others that must not, so the user has to decide. */
static void merge_note_groups(const struct comparison *c, const struct sorted *a,
                              const struct sorted *b)
{
  const struct bn_fact_option like = {.name = (char[]){"group"}}; /* only its name is compared */
  const struct bn_fact_option *one = merge_find_option(a, &like),
                              *other = merge_find_option(b, &like);

  if (one != NULL && other != NULL && !merge_is_same_text(one->value, other->value))
    merge_note_option(c, one->name, one, other);
}

/* Checks that two parts were given the same options.  Returns 0, or -1 and c->err. */
static int merge_check_options(const struct comparison *c)
{
  struct sorted a, b;
  int rc;

  merge_sort_options(&a, &c->a->result->facts);
  merge_sort_options(&b, &c->b->result->facts);
  rc = merge_compare_options(c, &a, &b);
  if (rc == 0)
    merge_note_groups(c, &a, &b);
  free(a.option);
  free(b.option);
  return rc;
}

int bn_merge_check_parts(const struct bn_part *part, size_t n, bool force, struct bn_buf *notes,
                         struct bn_err *err)
{
  for (size_t i = 0; i < n; i++) {
    const struct comparison c = {
        .a = &part[0], .b = &part[i], .force = force, .notes = notes, .err = err};

    if (merge_check_total(&part[i], err) != 0 ||
        merge_check_workload(&part[0], &part[i], err) != 0 ||
        merge_check_figures(&part[0], &part[i], err) != 0 ||
        (i > 0 && merge_check_options(&c) != 0))
      return -1;
  }
  return 0;
}

/* --- facts ------------------------------------------------------------------------------------ */

/* Returns whether there is an equal fact: its section, key, type and value are the same. */
static bool merge_has_fact(const struct bn_facts *f, const struct bn_fact *like)
{
  const struct bn_fact *fact = bn_facts_find(f, like->section, like->key);

  if (fact == NULL || fact->type != like->type)
    return false;
  switch (like->type) {
  case BN_FACT_TEXT:
    return merge_is_same_text(fact->text, like->text);
  case BN_FACT_WHOLE:
    return fact->whole == like->whole;
  case BN_FACT_REAL:
    return memcmp(&fact->real, &like->real, sizeof like->real) == 0; /* so NaN equals itself */
  }
  return false;
}

/* Adds the facts that all parts have alike, but not those that an earlier merge has added. */
static void merge_add_facts(const struct bn_part *part, size_t n, struct bn_facts *out)
{
  const struct bn_facts *first = &part[0].result->facts;

  for (size_t i = 0; i < first->n_facts; i++) {
    bool is_common = strcmp(first->fact[i].section, BN_RUNS_SECTION) != 0;

    for (size_t k = 1; is_common && k < n; k++)
      is_common = merge_has_fact(&part[k].result->facts, &first->fact[i]);
    if (is_common)
      bn_facts_set_copy(out, &first->fact[i]);
  }
}

/* Returns whether there is a line of the same level and text. */
static bool merge_has_row(const struct bn_facts *f, const struct bn_fact_row *like)
{
  for (size_t i = 0; i < f->n_rows; i++)
    if (f->row[i].level == like->level && strcmp(f->row[i].text, like->text) == 0)
      return true;
  return false;
}

/* Adds the lines that all parts have, but not the line that an earlier merge has added. */
static void merge_add_rows(const struct bn_part *part, size_t n, struct bn_facts *out)
{
  const struct bn_facts *first = &part[0].result->facts;

  for (size_t i = 0; i < first->n_rows; i++) {
    bool is_common = strncmp(first->row[i].text, BN_RUNS_ROW, sizeof BN_RUNS_ROW - 1) != 0;

    for (size_t k = 1; is_common && k < n; k++)
      is_common = merge_has_row(&part[k].result->facts, &first->row[i]);
    if (is_common)
      bn_facts_add_row(out, first->row[i].level, "%s", first->row[i].text);
  }
}

/* Adds the options that all n parts have alike.  s: the sorted options of each; first: the facts of
   the first part. */
static void merge_add_options(const struct sorted *s, size_t n, const struct bn_facts *first,
                              struct bn_facts *out)
{
  for (size_t i = 0; i < first->n_options; i++) {
    const struct bn_fact_option *o = &first->option[i];
    bool is_common = true;

    for (size_t k = 1; is_common && k < n; k++) {
      const struct bn_fact_option *other = merge_find_option(&s[k], o);

      is_common =
          other != NULL && other->secret == o->secret && merge_is_same_text(other->value, o->value);
    }
    if (is_common)
      bn_facts_add_option(out, &(struct bn_opt_fact){.name = o->name,
                                                     .group = o->group,
                                                     .origin = o->origin,
                                                     .traits = o->traits,
                                                     .secret = o->secret,
                                                     .text = o->value});
  }
}

void bn_merge_add_common(const struct bn_part *part, size_t n, struct bn_facts *out)
{
  struct sorted *s = bn_alloc(n, sizeof *s);

  merge_add_rows(part, n, out);
  merge_add_facts(part, n, out);
  for (size_t i = 0; i < n; i++) {
    bn_facts_add_errors(out, &part[i].result->facts); /* different runs meet different errors */
    merge_sort_options(&s[i], &part[i].result->facts);
  }
  merge_add_options(s, n, &part[0].result->facts, out);
  for (size_t i = 0; i < n; i++)
    free(s[i].option);
  free(s);
}
