/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds figures in stored results: those of the view, and percentiles from the histogram. */
#include "study/figure.h"

#include <stdio.h>
#include <string.h>

static const char rate[] = "rate";

int bn_figure_parse(struct bn_figure_name *out, const char *text, struct bn_err *err)
{
  *out = (struct bn_figure_name){.is_rate = strcmp(text, rate) == 0};
  (void)snprintf(out->text, sizeof out->text, "%s", text);
  if (out->is_rate) {
    out->better = BN_BETTER_MORE;
    return 0;
  }
  if (bn_assert_parse_metric(&out->metric, text, err) != 0)
    return -1;
  out->metric.text = NULL; /* the caller may free the text that it borrows */
  out->better = out->metric.field != NULL ? out->metric.field->better : BN_BETTER_LESS;
  return 0;
}

double bn_figure_scale(const struct bn_figure_name *name, const char **unit)
{
  *unit = bn_figure_unit(name);
  /* Times are shown in ms, and pure numbers, whose unit is "1", without a unit. */
  if (strcmp(*unit, "s") == 0) {
    *unit = "ms";
    return 1e3;
  }
  if (strcmp(*unit, "1") == 0)
    *unit = "";
  return 1;
}

struct bn_finding bn_figure_judge(const struct bn_assert *a, const struct bn_result *r)
{
  const struct bn_view *total = bn_result_total(r);
  /* Percentiles are computed as in the report of the run.  In a dialect that is the nearest step of
     sysbench's grid. */
  const struct bn_view_rules rules = {.nearest = !r->facts.plan.native,
                                      .ages = total != NULL ? total->ages : NULL};

  return bn_assert_judge(a, total, &rules);
}

/* What is not measured in every run is no lack of this run, because other runs of the study may
   measure it, such as those with --rate. */
int bn_figure_check(const struct bn_assert *a, const struct bn_result *r, struct bn_err *err)
{
  const struct bn_view *total = bn_result_total(r);
  const bool is_waiting = bn_statset_waiting_place(a->part) > 0; /* not measured in every run */

  if (total == NULL || is_waiting)
    return 0;
  const struct bn_assert_scope scope = {.metrics = &total->delta->metrics,
                                        .kinds = 1U << total->kind,
                                        .paced = true,
                                        .native = r->facts.plan.native,
                                        .statements = total->n_statements > 0};

  return bn_assert_check(a, &scope, err);
}

bool bn_figure_find(const struct bn_figure_name *name, const struct bn_result *r, double *value)
{
  const struct bn_view *v = bn_result_total(r);

  if (v == NULL)
    return false;
  if (name->is_rate) {
    *value = v->kind == BN_KIND_SQL ? v->transactions_per_s : v->events_per_s;
    return true;
  }
  const struct bn_finding finding = bn_figure_judge(&name->metric, r);

  *value = finding.value;
  return finding.measured;
}

const char *bn_figure_unit(const struct bn_figure_name *name)
{
  return name->is_rate ? "1/s" : name->metric.unit;
}
