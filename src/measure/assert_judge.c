/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the value that an assertion is about in a view, and compares it with the limit. */
#include <math.h>
#include <string.h>

#include "measure/assert.h"
#include "measure/event_kinds.h"
#include "measure/layout.h"
#include "measure/phases.h"

/* The value that an assertion is about, in the unit of the view. */
struct found {
  double value;  /* NaN: nothing was measured */
  bool at_least; /* unfinished events may still raise it */
  double upper;  /* up to this; HUGE_VAL: no bound is known */
};

/* Returns what was found if the value is exact. */
static struct found assert_found_exact(double value)
{
  return (struct found){.value = value, .upper = value};
}

/* Returns what was found if the value may be a lower bound. */
static struct found assert_found_bound(double value, bool at_least, double upper)
{
  return (struct found){.value = value, .at_least = at_least, .upper = at_least ? upper : value};
}

/* Finds the share of errors among all attempts.  An attempt ends as an event or as an error. */
static struct found assert_find_error_share(const struct bn_view *v)
{
  const double attempts = (double)v->events + (double)v->errors;

  return assert_found_exact(attempts > 0 ? (double)v->errors / attempts : NAN);
}

/* Finds a percentile of all events: in the list of the view, or else by its histogram, which a view
   from a document may lack.  A percentile that unfinished events may raise can still have an upper
   bound, even below the limit: one arrival that still waits hardly moves the rank of 99 %. */
static struct found assert_find_rank(double rank, const struct bn_view *v,
                                     const struct bn_view_rules *rules)
{
  const size_t i = bn_view_find_rank(v, rank);
  double value, upper = HUGE_VAL;
  bool at_least;

  if (v->latency != NULL)
    upper = bn_view_percentile_bound_s(v, rules, rank);
  if (i < v->n_percents && !isnan(v->percentile_s[i]))
    return assert_found_bound(v->percentile_s[i], bn_view_at_least(v, i), upper);
  if (v->latency == NULL)
    return assert_found_exact(NAN);
  value = bn_view_percentile_s(v, rules, rank, &at_least);
  return assert_found_bound(value, at_least, upper);
}

/* Finds a latency of all events.  The maximum and pN count the ages of unfinished events, so they
   may be lower bounds.  The minimum, the average and the median do not count them. */
static struct found assert_find_latency(const struct bn_assert *a, const struct bn_view *v,
                                        const struct bn_view_rules *rules)
{
  switch (a->what) {
  case BN_ASSERT_RANK:
    return assert_find_rank(a->rank, v, rules);
  case BN_ASSERT_MAX:
    return assert_found_bound(v->max_s, v->max_at_least, HUGE_VAL);
  default:
    return assert_found_exact(bn_view_value(v, a->field));
  }
}

/* Finds a percentile of a timing: in its list, or else by its histogram h; NULL: there is none.
   Only timings of groups and phases may have unfinished events, which may raise the percentile. */
static struct found assert_find_timing_rank(double rank, const struct bn_view *v,
                                            const struct bn_view_rules *rules,
                                            const struct bn_timing *t, const struct bn_hist *h)
{
  const size_t i = bn_view_find_rank(v, rank);
  double value = NAN, upper = HUGE_VAL;

  if (h != NULL && t->unfinished > 0)
    value = bn_view_timing_percentile_s(t, h, rank, &upper);
  else if (h != NULL)
    value = upper = bn_view_hist_percentile_s(h, rank, rules->nearest);
  if (i < v->n_percents && t->percentile_s != NULL && !isnan(t->percentile_s[i]))
    return assert_found_bound(t->percentile_s[i], bn_timing_at_least(t, i), upper);
  return assert_found_bound(value, value < upper, upper);
}

/* Finds a latency of a part by its timing, whose histogram is h; NULL: there is none. */
static struct found assert_find_timing(const struct bn_assert *a, const struct bn_view *v,
                                       const struct bn_view_rules *rules, const struct bn_timing *t,
                                       const struct bn_hist *h)
{
  switch (a->what) {
  case BN_ASSERT_MIN:
    return assert_found_exact(t->min_s);
  case BN_ASSERT_AVG:
    return assert_found_exact(t->avg_s);
  case BN_ASSERT_MAX:
    return assert_found_bound(t->max_s, t->unfinished > 0, HUGE_VAL);
  case BN_ASSERT_MEDIAN:
    return assert_find_timing_rank(50, v, rules, t, h);
  default:
    return assert_find_timing_rank(a->rank, v, rules, t, h);
  }
}

/* Finds a latency of the statements of the name a->part.  It is not measured if the view has no
   such statements; only totals and checkpoints have statements. */
static struct found assert_find_statement(const struct bn_assert *a, const struct bn_view *v,
                                          const struct bn_view_rules *rules)
{
  const struct bn_statement_sum *sum = bn_statement_table_find(&v->delta->statements, a->part);
  const struct bn_hist *hist = sum != NULL ? sum->hist : NULL;

  for (size_t i = 0; i < v->n_statements; i++)
    if (strcmp(v->statements[i].timing.name, a->part) == 0)
      return assert_find_timing(a, v, rules, &v->statements[i].timing, hist);
  return assert_found_exact(NAN);
}

/* Finds a figure of a phase that is no latency. */
static struct found assert_find_of_phase(const struct bn_assert *a, const struct bn_view *v)
{
  const struct bn_phase_view *p = bn_phases_find(v, a->part);
  double value = NAN;

  if (p == NULL)
    return assert_found_exact(NAN);
  (void)bn_phases_get_value(p, a->field->name, &value);
  return assert_found_bound(value, bn_phases_is_lower_bound(p, a->field->name), HUGE_VAL);
}

/* Finds a figure that is no latency, of the kind of events or the group in a->part;
   assert_check_part() has made sure that it names one.  The value is NaN if the view has no such
   kind or group. */
static struct found assert_find_of_kind(const struct bn_assert *a, const struct bn_view *v)
{
  const char *name = bn_event_kinds_parse_part(a->part);
  const struct bn_event_kind *k = bn_event_kinds_find_kind(v, name);
  double value = NAN;

  if (k != NULL)
    (void)bn_layout_get_number(bn_layout_event_kind, k, a->field->name, &value);
  return assert_found_exact(value);
}

/* Finds the value that an assertion is about.  An assertion without a part is about all events,
   whose histogram is BN_H_LATENCY.  A part whose name no histogram of the run has is taken for a
   statement. */
static struct found assert_find_value(const struct bn_assert *a, const struct bn_view *v,
                                      const struct bn_view_rules *rules)
{
  size_t hist;

  if (a->what == BN_ASSERT_ERRORS)
    return assert_find_error_share(v);
  if (a->what == BN_ASSERT_KIND)
    return bn_phases_is_part(a->part) ? assert_find_of_phase(a, v) : assert_find_of_kind(a, v);
  if (a->what == BN_ASSERT_FIELD)
    return assert_found_exact(bn_view_measures(v, a->field) ? bn_view_value(v, a->field) : NAN);
  hist = bn_assert_find_hist(a, &v->delta->metrics);
  if (hist == BN_H_LATENCY)
    return assert_find_latency(a, v, rules);
  if (hist < v->delta->metrics.n_hists)
    return assert_find_timing(a, v, rules, &v->timings[hist - BN_H_FIXED], v->delta->hist[hist]);
  return assert_find_statement(a, v, rules);
}

/* Returns -1, 0 or 1 as a value is less than the limit, equal or more.  The value is a product with
   the scale of a unit, whose last bits may be off: 50 ms must not be less than 50 ms. */
static int assert_compare(double value, double limit)
{
  static const double rounding = 1e-12;

  if (fabs(value - limit) <= rounding * limit)
    return 0;
  return value < limit ? -1 : 1;
}

/* Returns whether the assertion holds for all values from `lower` to `upper`, between which the
   true value lies.  upper HUGE_VAL: no upper bound is known. */
static bool assert_holds(const struct bn_assert *a, double lower, double upper)
{
  switch (a->op) {
  case BN_ASSERT_LT:
    return assert_compare(upper, a->limit) < 0;
  case BN_ASSERT_LE:
    return assert_compare(upper, a->limit) <= 0;
  case BN_ASSERT_GT:
    return assert_compare(lower, a->limit) > 0;
  case BN_ASSERT_GE:
    return assert_compare(lower, a->limit) >= 0;
  }
  return false;
}

struct bn_finding bn_assert_judge(const struct bn_assert *a, const struct bn_view *v,
                                  const struct bn_view_rules *rules)
{
  struct found f;

  if (v == NULL || a->what == BN_ASSERT_PROOF)
    return (struct bn_finding){.measured = false};
  f = assert_find_value(a, v, rules);
  if (isnan(f.value))
    return (struct bn_finding){.measured = false};
  if (isinf(f.value)) /* beyond the range of the histogram, so it is at least the range's end */
    f = assert_found_bound((double)(UINT64_C(1) << BN_HIST_TOP_BIT) * 1e-9, true, HUGE_VAL);
  return (struct bn_finding){.value = f.value * a->scale,
                             .measured = true,
                             .at_least = f.at_least,
                             .holds = assert_holds(a, f.value * a->scale, f.upper * a->scale)};
}

/* Returns whether the metric of an assertion is known for each second: a latency, a rate or a share
   is, but a count is of the whole run.  Phases are known in totals alone. */
static bool assert_is_known_each_second(const struct bn_assert *a)
{
  const bool is_figure = a->what == BN_ASSERT_FIELD || a->what == BN_ASSERT_KIND;

  if (a->what == BN_ASSERT_PROOF || bn_phases_is_part(a->part))
    return false;
  return !is_figure || bn_view_is_rate(a->field) || bn_assert_is_share(a);
}

/* Returns whether an event in flight is already older than the upper limit of a latency of all
   events, so that its own latency will exceed the limit.  This decides about seconds in which no
   event ends. */
static bool assert_is_too_late(const struct bn_assert *a, const struct bn_view *v)
{
  const bool has_upper_limit = a->op == BN_ASSERT_LT || a->op == BN_ASSERT_LE;
  const bool is_of_all_events = bn_assert_is_latency(a) && a->part[0] == '\0';

  return has_upper_limit && is_of_all_events && v->oldest_s * a->scale > a->limit;
}

enum bn_assert_second bn_assert_judge_second(const struct bn_assert *a, const struct bn_view *v,
                                             const struct bn_view_rules *rules)
{
  struct bn_finding f;

  if (!assert_is_known_each_second(a))
    return BN_SECOND_UNKNOWN;
  f = bn_assert_judge(a, v, rules);
  if (f.measured)
    return f.holds ? BN_SECOND_HOLDS : BN_SECOND_VIOLATED;
  return assert_is_too_late(a, v) ? BN_SECOND_VIOLATED : BN_SECOND_UNKNOWN;
}
