/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bounds and compares what hosts send. */
#include "hosts/validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hist.h"
#include "measure/merge_check.h"
#include "measure/runs.h"
#include "measure/store.h"
#include "measure/sum.h"

/* --- what a host says first ------------------------------------------------------------------- */

/* Refuses facts that only a merged result has.  Returns 0, or -1 and err. */
static int validate_check_not_merged(const struct bn_facts *f, struct bn_err *err)
{
  for (size_t i = 0; i < f->n_facts; i++)
    if (strcmp(f->fact[i].section, BN_RUNS_SECTION) == 0)
      return bn_err_set(err, EPROTO, "it sent facts of a merged result");
  return 0;
}

int bn_valid_read_spec(struct bn_valid_spec *spec, const struct bn_node *group,
                       const struct bn_facts *facts, size_t hosts, struct bn_err *err)
{
  const char *name = bn_node_get_text(bn_node_get(group, "name"));

  *spec = (struct bn_valid_spec){.plan = facts->plan, .hosts = hosts};
  if (group == NULL)
    return bn_err_set(err, EPROTO, "it did not say what it measures");
  if (validate_check_not_merged(facts, err) != 0 ||
      bn_store_read_metrics(bn_node_get(group, "metrics"), &spec->metrics, err) != 0)
    return -1;
  spec->name = bn_alloc_text(name != NULL ? name : "");
  if (facts->plan.events <= UINT64_MAX / hosts)
    return 0;
  bn_valid_done(spec);
  return bn_err_set(err, EPROTO, "its number of events is too large");
}

void bn_valid_done(struct bn_valid_spec *spec)
{
  bn_metrics_done(&spec->metrics);
  free(spec->name);
  *spec = (struct bn_valid_spec){.name = NULL};
}

/* Refuses a plan that makes figures of another dialect than `other`, or percentiles of other ranks.
   `whose` says in the message whose plan the other one is.  Returns 0, or -1 and err. */
static int validate_compare_plans(const struct bn_plan *plan, const struct bn_plan *other,
                                  const char *whose, struct bn_err *err)
{
  if (plan->native != other->native || (!plan->native && plan->version != other->version))
    return bn_err_set(err, EPROTO, "its results are of another dialect than %s", whose);
  if (!bn_merge_have_same_ranks(plan->percents, plan->n_percents, other->percents,
                                other->n_percents))
    return bn_err_set(err, EPROTO, "its percentiles have other ranks than %s", whose);
  return 0;
}

int bn_valid_compare(const struct bn_valid_spec *spec, const struct bn_valid_spec *other,
                     bool measure_same, struct bn_err *err)
{
  if (measure_same && strcmp(spec->name, other->name) != 0)
    return bn_err_set(err, EPROTO, "it runs another test than other hosts");
  if (measure_same && !bn_merge_have_same_metrics(&spec->metrics, &other->metrics))
    return bn_err_set(err, EPROTO,
                      "it counts other metrics than other hosts; is it the same build of bench?");
  return validate_compare_plans(&spec->plan, &other->plan, "those of other hosts", err);
}

/* Returns whether all fixed counters are known.  A counter of a workload may be unknown on a host:
   its sum is then unknown, too. */
static bool validate_has_counts(const struct bn_snap *s)
{
  for (size_t i = 0; i < BN_C_FIXED; i++)
    if (s->counter[i] == BN_ABSENT)
      return false;
  return true;
}

/* Refuses watched figures that make no sense, and figures of a single host in a view that is not a
   total, because an agent leaves them out there.  Returns 0, or -1 and err. */
static int validate_check_watched(const struct bn_view *v, struct bn_err *err)
{
  for (size_t i = 0; i < v->n_watched; i++) {
    const struct bn_watched_figure *f = &v->watched[i];
    const bool may_be_in_view = v->span == BN_VIEW_TOTAL || bn_watched_is_shared(f->name);

    if (!bn_watched_is_valid(f) || !may_be_in_view)
      return bn_err_set(err, EPROTO, "it sent a figure of --watch that is none");
  }
  return 0;
}

int bn_valid_check_view(const struct bn_valid_spec *spec, const struct bn_view *v,
                        struct bn_err *err)
{
  const struct bn_plan *plan = &spec->plan;

  if (!bn_merge_have_same_ranks(v->percents, v->n_percents, plan->percents, plan->n_percents))
    return bn_err_set(err, EPROTO, "its percentiles have other ranks than it said");
  if (v->delta->n_sessions > plan->threads || v->n_sessions > plan->threads)
    return bn_err_set(err, EPROTO, "it sent figures of more threads than it has");
  if (!validate_has_counts(v->delta))
    return bn_err_set(err, EPROTO, "its figures lack a count");
  if (!bn_sum_fits(v, spec->hosts))
    return bn_err_set(err, EPROTO, "its figures are too large");
  return validate_check_watched(v, err);
}

/* --- results ---------------------------------------------------------------------------------- */

/* Bounds of the parts of a result.  No run reaches the bound of statements, because no run has all
   kinds of statements in all buckets. */
struct bounds {
  size_t bucket;     /* of a histogram: its index and its count */
  size_t thread;     /* its statistics */
  size_t statements; /* all of them */
  size_t base;       /* all else */
};

static const struct bounds max_bytes = {
    .bucket = 24, .thread = 512, .statements = 128 << 20, .base = 8 << 20};
/* In JSON values. */
static const struct bounds max_values = {
    .bucket = 1, .thread = 16, .statements = 1 << 23, .base = 1 << 18};

/* Returns the bound of a whole result, which is the sum of the bounds of its parts.  spec NULL: the
   host was never ready, and its result has no figures. */
static size_t validate_add_bounds(const struct bn_valid_spec *spec, bool has_statements,
                                  const struct bounds *bounds)
{
  size_t n_hists, sum = bounds->base;

  if (spec == NULL)
    return sum;
  n_hists = spec->metrics.n_hists + 1; /* with the ages of unfinished events */
  sum += n_hists * BN_HIST_BUCKETS * bounds->bucket + spec->plan.threads * bounds->thread;
  return has_statements ? sum + bounds->statements : sum;
}

size_t bn_valid_max_bytes(const struct bn_valid_spec *spec, bool statements)
{
  return validate_add_bounds(spec, statements, &max_bytes);
}

/* Refuses a document with intervals or further groups before it is converted, because they would
   take much more memory than their text, and a document whose group is a member of a merged result.
   Returns 0, or -1 and err. */
static int validate_check_form(const struct bn_node *document, struct bn_err *err)
{
  const struct bn_node *groups = bn_node_get(document, "groups");
  const struct bn_node *group = bn_node_get_at(groups, 0);
  const bool has_intervals = bn_node_count(bn_node_get(group, "intervals")) > 0 ||
                             bn_node_count(bn_node_get(group, "checkpoints")) > 0;
  const bool is_member = bn_node_get(group, "host") != NULL;

  if (bn_node_count(groups) > 1 || has_intervals || is_member)
    return bn_err_set(err, EPROTO, "its result is not that of one host without intervals");
  return 0;
}

/* Refuses a result that cannot be summed, or does not fit what the host has said when it was ready.
   spec NULL: it was never ready, so its result must not have figures.  Returns 0, or -1 and err. */
static int validate_check_content(const struct bn_valid_spec *spec, const struct bn_result *r,
                                  struct bn_err *err)
{
  const struct bn_group *g = r->n_groups > 0 ? &r->group[0] : NULL;

  if (validate_check_not_merged(&r->facts, err) != 0)
    return -1;
  if (g == NULL || !g->has_total)
    return 0;
  if (spec == NULL)
    return bn_err_set(err, EPROTO, "it sent figures, and was never ready");
  if (strcmp(g->name, spec->name) != 0 ||
      !bn_merge_have_same_metrics(&g->total.delta.metrics, &spec->metrics))
    return bn_err_set(err, EPROTO,
                      "its result is of another test or of other metrics than it said");
  if (g->total.view.latency == NULL)
    return bn_err_set(err, EPROTO, "its result has no histograms");
  if (r->facts.plan.events != spec->plan.events)
    return bn_err_set(err, EPROTO, "its result is of another number of events than it said");
  if (validate_compare_plans(&r->facts.plan, &spec->plan, "it said", err) != 0)
    return -1;
  return bn_valid_check_view(spec, &g->total.view, err);
}

int bn_valid_read_result(const struct bn_valid_spec *spec, const struct bn_buf *text,
                         bool statements, struct bn_result *out, struct bn_err *err)
{
  const size_t value_limit = validate_add_bounds(spec, statements, &max_values);
  struct bn_node *document = bn_node_parse_within(text->data, text->len, value_limit, err);
  int rc = document != NULL ? validate_check_form(document, err) : -1;

  *out = (struct bn_result){.n_groups = 0};
  if (rc == 0)
    rc = bn_store_read_document(document, out, err);
  bn_node_free(document);
  if (rc == 0)
    rc = validate_check_content(spec, out, err);
  if (rc == 0)
    bn_result_find_metrics(out);
  if (rc == 0)
    bn_result_escape(out);
  else
    bn_result_done(out);
  return rc;
}
