/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Methods of results for studies in Lua: the total as cells, the intervals as batches. */
#include <math.h>

#include "measure/assert.h"
#include "measure/event_kinds.h"
#include "measure/phases.h"
#include "measure/row.h"
#include "study/native.h"

/* The last bit of a limit in ns may be wrong, because it was given in ms and converted. */
static const double relative_error = 1e-12;

/* A figure of an interval as study.stats.batch takes it: num / den. */
struct batch {
  double num, den;
};

static const struct batch unknown_batch = {0, 0};

/* Returns whether the figure of an assertion can be computed for each interval.  Intervals have no
   latencies of statements and no figures of phases.  A count is left out, because the count of a
   run is the sum of the counts of its intervals, and not their mean. */
static bool rows_has_batches(const struct bn_assert *a, const struct bn_metrics *m)
{
  const bool lacks_part = a->part[0] != '\0' && bn_assert_find_hist(a, m) == m->n_hists;

  if (lacks_part)
    return false;
  if (a->what == BN_ASSERT_KIND)
    return !bn_phases_is_part(a->part) && (bn_view_is_rate(a->field) || bn_assert_is_share(a));
  if (a->what == BN_ASSERT_FIELD)
    return bn_view_is_rate(a->field);
  return bn_assert_is_percentile(a) || a->what == BN_ASSERT_ERRORS || a->what == BN_ASSERT_AVG;
}

/* Returns the largest latency of a bucket; that of the overflow bucket is above every limit. */
static double rows_bucket_ns(const struct bn_bucket *b)
{
  const bool is_overflow = b->lowest >> BN_HIST_TOP_BIT != 0;

  return is_overflow ? HUGE_VAL : (double)bn_hist_highest(bn_hist_index(b->lowest));
}

/* Returns the number of slow events over that of all events, in the histogram of an interval.  An
   event is slow if its latency is above the limit of the assertion, or equal to the limit with the
   operators < and >=.  Latencies within relative_error of the limit are equal to it. */
static struct batch rows_count_slow(const struct bn_assert *a, const struct bn_hist_sparse *s)
{
  const double limit_ns = a->limit / a->scale * 1e9;
  const bool equal_is_slow = a->op == BN_ASSERT_LT || a->op == BN_ASSERT_GE;
  struct batch b = {0, 0};

  for (size_t i = 0; i < s->n; i++) {
    const double ns = rows_bucket_ns(&s->bucket[i]);
    const double count = (double)s->bucket[i].count;
    const bool is_slow = equal_is_slow ? ns >= limit_ns * (1 - relative_error)
                                       : ns > limit_ns * (1 + relative_error);

    if (is_slow)
      b.num += count;
    b.den += count;
  }
  return b;
}

/* Returns the sum of the latencies of an interval in that histogram, over their number.  The
   timings of a view are the histograms from BN_H_FIXED on. */
static struct batch rows_sum_latency(const struct bn_record *r, size_t hist)
{
  const struct bn_view *v = &r->view;

  if (hist == BN_H_LATENCY)
    return (struct batch){v->sum_s, (double)v->events};
  if (hist - BN_H_FIXED >= v->n_timings)
    return unknown_batch;
  const struct bn_timing *timing = &v->timings[hist - BN_H_FIXED];

  return (struct batch){timing->sum_s, (double)timing->count};
}

/* Returns the number of events of a kind, over the time of the interval for a rate, or over all its
   events for a share. */
static struct batch rows_count_kind(const struct bn_assert *a, const struct bn_view *v)
{
  const struct bn_event_kind *k = bn_event_kinds_find_kind(v, bn_event_kinds_parse_part(a->part));

  if (k == NULL)
    return unknown_batch;
  if (bn_view_is_rate(a->field))
    return (struct batch){k->events_per_s * v->span_s, v->span_s};
  return (struct batch){(double)k->events, (double)v->events};
}

/* Returns the figure of an assertion, for which rows_has_batches is true, for an interval. */
static struct batch rows_batch_of(const struct bn_assert *a, const struct bn_record *r)
{
  const struct bn_view *v = &r->view;
  const size_t hist = bn_assert_find_hist(a, &r->delta.metrics);

  if (bn_assert_is_percentile(a) && r->delta.sparse == NULL)
    return unknown_batch;
  if (bn_assert_is_percentile(a))
    return rows_count_slow(a, &r->delta.sparse[hist]);
  if (a->what == BN_ASSERT_ERRORS)
    return (struct batch){(double)v->errors, (double)v->events + (double)v->errors};
  if (a->what == BN_ASSERT_KIND)
    return rows_count_kind(a, v);
  if (a->what == BN_ASSERT_AVG)
    return rows_sum_latency(r, hist);
  /* The figure is a rate, and counts by the length of its interval. */
  return (struct batch){bn_view_value(v, a->field) * v->span_s, v->span_s};
}

/* r:batches(assertion): returns a list with {num =, den =} for each interval, as study.stats.batch
   takes it; nil: the total alone can be judged. */
static int rows_batches(lua_State *L)
{
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;
  const struct bn_group *g = r->n_groups > 0 && r->group[0].has_total ? &r->group[0] : NULL;
  struct bn_assert a;
  struct bn_err err;

  if (bn_assert_parse(&a, luaL_checkstring(L, 2), &err) != 0)
    return luaL_error(L, "%s", err.text);
  if (g == NULL || !rows_has_batches(&a, &g->total.delta.metrics)) {
    lua_pushnil(L);
    return 1;
  }
  lua_createtable(L, (int)g->n_intervals, 0);
  for (size_t i = 0; i < g->n_intervals; i++) {
    const struct batch b = rows_batch_of(&a, &g->interval[i]);

    lua_createtable(L, 0, 2);
    bn_native_set_number(L, "num", b.num);
    bn_native_set_number(L, "den", b.den);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

/* Pushes {name =, text =, value =} of a cell; value is nil unless the cell has a number. */
static void rows_push_cell(lua_State *L, const struct bn_cell *c)
{
  char digits[BN_CELL_DIGITS];

  lua_createtable(L, 0, 3);
  bn_native_set_text(L, "name", c->name);
  bn_native_set_text(L, "text", bn_cell_print(c, digits));
  if (c->type == BN_CELL_WHOLE || c->type == BN_CELL_REAL)
    bn_native_set_number(L, "value", c->type == BN_CELL_WHOLE ? (double)c->whole : c->real);
}

/* r:row(): returns the total as a list of {name =, text =, value =}, as tables of CSV have it; a
   value that is not known is nil, and its text is empty. */
static int rows_row(lua_State *L)
{
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;
  struct bn_row row = {.n = 0};

  bn_row_set_total(&row, &r->facts.plan, bn_result_total(r));
  lua_createtable(L, (int)row.n, 0);
  for (size_t i = 0; i < row.n; i++) {
    rows_push_cell(L, &row.cell[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  bn_row_done(&row);
  return 1;
}

/* r:test_figures(): returns a list of {key =, text =, value =} of the figures that only this test
   measures; text is the figure as its report prints it, or nil. */
static int rows_test_figures(lua_State *L)
{
  const struct bn_view *v = bn_result_total(&bn_native_check_result(L, 1)->stored.result);
  const size_t n = v != NULL ? v->n_figures : 0;

  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_createtable(L, 0, 3);
    bn_native_set_text(L, "key", v->figures[i].key);
    bn_native_set_text(L, "text", v->figures[i].text);
    bn_native_set_number(L, "value", v->figures[i].value);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

/* r:event_kinds(): returns a list of the names of the kinds of events that the run tells apart. */
static int rows_event_kinds(lua_State *L)
{
  const struct bn_view *v = bn_result_total(&bn_native_check_result(L, 1)->stored.result);
  const size_t n = v != NULL ? v->n_event_kinds : 0;

  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushstring(L, v->event_kinds[i].name);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

const luaL_Reg bn_native_result_rows[] = {{"batches", rows_batches},
                                          {"event_kinds", rows_event_kinds},
                                          {"row", rows_row},
                                          {"test_figures", rows_test_figures},
                                          {NULL, NULL}};
