/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes batches of the intervals of a result, and joins what is decided about each condition. */
#include "study/search/goal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "study/figure.h"

/* Of percentages, which are products. */
static const double rounding = 1e-12;

/* --- parsing ---------------------------------------------------------------------------------- */

static int parse_condition(struct bn_goal *g, const char *text, struct bn_err *err)
{
  struct bn_err why;

  if (g->n == BN_GOALS_MAX)
    return bn_err_set(err, EINVAL, "--goal has more than %d conditions", BN_GOALS_MAX);
  if (bn_assert_parse(&g->condition[g->n], text, &why) != 0)
    return bn_err_set(err, EINVAL, "--goal: '%s': %s", text, why.text);
  g->n++;
  return 0;
}

int bn_goal_parse(struct bn_goal *g, const char *text, struct bn_err *err)
{
  char *rest, *part;

  *g = (struct bn_goal){.typed = text, .text = strdup(text != NULL ? text : "")};
  if (g->text == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  rest = g->text;
  while ((part = strsep(&rest, ",")) != NULL)
    if (part[strspn(part, " ")] != '\0' && parse_condition(g, part, err) != 0)
      return -1;
  if (g->n == 0)
    return bn_err_set(err, EINVAL,
                      "--goal is missing; write a condition, such as --goal='p99<20ms'");
  return 0;
}

void bn_goal_done(struct bn_goal *g)
{
  free(g->text);
  g->text = NULL;
}

/* --- what a condition counts ------------------------------------------------------------------ */

static bool is_below(const struct bn_assert *a)
{
  return a->op == BN_ASSERT_LT || a->op == BN_ASSERT_LE;
}

static bool is_rank(const struct bn_assert *a)
{
  return a->what == BN_ASSERT_RANK || a->what == BN_ASSERT_MEDIAN;
}

static double rank_of(const struct bn_assert *a)
{
  return a->what == BN_ASSERT_MEDIAN ? 50 : a->rank;
}

static bool is_per_second(const struct bn_assert *a)
{
  return a->what == BN_ASSERT_FIELD && strstr(a->field->unit, "/s") != NULL;
}

/* Intervals do not have the latencies of statements. */
static bool has_batches(const struct bn_assert *a, const struct bn_metrics *m)
{
  if (a->timing[0] != '\0' && bn_assert_hist(a, m) == m->n_hists)
    return false;
  return is_rank(a) || a->what == BN_ASSERT_ERRORS || a->what == BN_ASSERT_AVG || is_per_second(a);
}

static struct bn_bound limit_of(const struct bn_assert *a)
{
  struct bn_bound l = {.at = a->limit / a->scale, .below = is_below(a)};

  l.share = is_rank(a) || a->what == BN_ASSERT_ERRORS;
  if (is_rank(a))
    l.at = (100 - rank_of(a)) / 100;
  else if (a->what == BN_ASSERT_ERRORS)
    l.at = a->limit / 100;
  return l;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* The events whose latency is not below the limit, or with <= and > above it, of all of them. */
static struct bn_batch count_slow(const struct bn_assert *a, const struct bn_hist_sparse *s)
{
  const double limit_ns = a->limit / a->scale * 1e9;
  const bool above = a->op == BN_ASSERT_LE || a->op == BN_ASSERT_GT;
  struct bn_batch b = {0, 0};

  for (size_t i = 0; i < s->n; i++) {
    const uint64_t lowest = s->bucket[i].lowest;
    const bool over = lowest >> BN_HIST_TOP_BIT != 0;
    const double ns = over ? HUGE_VAL : (double)bn_hist_highest(bn_hist_index(lowest));
    const bool slow = above ? ns > limit_ns * (1 + rounding) : ns >= limit_ns * (1 - rounding);

    b.num += slow ? (double)s->bucket[i].count : 0;
    b.den += (double)s->bucket[i].count;
  }
  return b;
}

static struct bn_batch sum_latency(const struct bn_assert *a, const struct bn_record *r)
{
  const size_t hist = bn_assert_hist(a, &r->delta.metrics);
  const struct bn_view *v = &r->view;

  if (hist == BN_H_LATENCY)
    return (struct bn_batch){v->avg_s * (double)v->events, (double)v->events};
  if (hist - BN_H_FIXED >= v->n_timings)
    return (struct bn_batch){0, 0};
  return (struct bn_batch){v->timings[hist - BN_H_FIXED].sum_s,
                           (double)v->timings[hist - BN_H_FIXED].count};
}

static struct bn_batch batch_of(const struct bn_assert *a, const struct bn_record *r)
{
  const struct bn_view *v = &r->view;
  const size_t hist = bn_assert_hist(a, &r->delta.metrics);

  if (is_rank(a))
    return r->delta.sparse != NULL ? count_slow(a, &r->delta.sparse[hist])
                                   : (struct bn_batch){0, 0};
  if (a->what == BN_ASSERT_ERRORS)
    return (struct bn_batch){(double)v->errors, (double)v->events + (double)v->errors};
  if (a->what == BN_ASSERT_AVG)
    return sum_latency(a, r);
  return (struct bn_batch){*(const double *)((const char *)v + a->field->offset) * v->span_s,
                           v->span_s};
}

/* --- judging ---------------------------------------------------------------------------------- */

static int judge_batches(const struct bn_assert *a, const struct bn_result *r,
                         struct bn_judged *out, struct bn_err *err)
{
  const struct bn_group *g = &r->group[0];
  const struct bn_bound limit = limit_of(a);
  struct bn_batch *batch = calloc(g->n_intervals + 1, sizeof *batch);

  if (batch == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  for (size_t i = 0; i < g->n_intervals; i++)
    batch[i] = batch_of(a, &g->interval[i]);
  bn_batch_judge(batch, g->n_intervals, &limit, out);
  free(batch);
  return 0;
}

static struct bn_judged judge_total(const struct bn_finding *f)
{
  return (struct bn_judged){
      .decision = f->holds ? BN_HOLDS : BN_VIOLATED, .holds = f->holds, .longer = 1};
}

/* What is wrong outweighs what is not decided, and that what holds. */
static void join(struct bn_goal_found *all, const struct bn_judged *j, double score)
{
  if (j->decision == BN_VIOLATED || all->decision == BN_VIOLATED)
    all->decision = BN_VIOLATED;
  else if (j->decision == BN_UNDECIDED)
    all->decision = BN_UNDECIDED;
  all->holds = all->holds && j->holds;
  all->longer = fmax(all->longer, j->longer);
  /* A figure without a score says nothing unless it is the one that is wrong. */
  if (isnan(score) && j->holds)
    return;
  if (isnan(score) || isnan(all->score))
    all->score = NAN;
  else
    all->score = fmax(all->score, score);
}

static int judge(const struct bn_assert *a, const struct bn_result *r, struct bn_finding *found,
                 struct bn_goal_found *all, struct bn_err *err)
{
  const struct bn_bound limit = limit_of(a);
  struct bn_judged j = {.decision = BN_UNDECIDED};
  double score = NAN;

  *found = bn_figure_judge(a, r);
  if (!has_batches(a, &r->group[0].total.delta.metrics)) {
    j = judge_total(found);
  } else {
    if (judge_batches(a, r, &j, err) != 0)
      return -1;
    /* That there was no error does not say how far they are. */
    score = a->what == BN_ASSERT_ERRORS && j.value == 0 ? -HUGE_VAL : bn_batch_score(&j, &limit);
    /* The total also has what did not end in any interval. */
    if (j.holds != found->holds) {
      j.holds = false;
      j.decision = j.decision == BN_HOLDS ? BN_UNDECIDED : j.decision;
    }
  }
  join(all, &j, score);
  return 0;
}

int bn_goal_judge(const struct bn_goal *g, const struct bn_result *r, struct bn_goal_found *out,
                  struct bn_err *err)
{
  *out =
      (struct bn_goal_found){.decision = BN_HOLDS, .holds = true, .score = -HUGE_VAL, .longer = 1};
  if (r->n_groups == 0 || !r->group[0].has_total)
    return bn_err_set(err, EINVAL, "the run measured nothing");
  for (size_t i = 0; i < g->n; i++)
    if (judge(&g->condition[i], r, &out->finding[i], out, err) != 0)
      return -1;
  if (isinf(out->score))
    out->score = NAN;
  return 0;
}

double bn_goal_worst_score(const struct bn_goal *g)
{
  double worst = NAN;

  for (size_t i = 0; i < g->n; i++) {
    const struct bn_bound limit = limit_of(&g->condition[i]);
    const struct bn_judged all = {.value = 1, .events = 1e15};

    if (is_rank(&g->condition[i]) && limit.below)
      worst = fmax(worst, bn_batch_score(&all, &limit));
  }
  return worst;
}

/* A lower percentile may be that slow for seconds without a backlog. */
void bn_goal_abort(const struct bn_goal *g, struct bn_buf *out)
{
  static const double high = 90, far = 4;
  char digits[BN_UNITS_DIGITS];

  for (size_t i = 0; i < g->n; i++) {
    const struct bn_assert *a = &g->condition[i];

    if (!is_rank(a) || rank_of(a) < high || !is_below(a))
      continue;
    (void)bn_buf_printf(out, "%smedian%s%s<=%s%s", out->len > 0 ? "," : "",
                        a->timing[0] != '\0' ? "@" : "", a->timing,
                        bn_units_shortest(digits, a->limit * far), a->unit);
  }
}
