/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes plain arrays of what pictures show of a result: its intervals, and the buckets of its
   latency histogram. */
#include <math.h>
#include <stdint.h>

#include "base/hist.h"
#include "study/native.h"

enum { RANKS = 2 }; /* the index on the stack of the ranks, the argument of r:series() */

/* --- intervals --- */

/* Returns the latency histogram of an interval, or NULL if the document has none. */
static const struct bn_hist_sparse *series_get_histogram(const struct bn_record *r)
{
  return r->delta.sparse != NULL ? &r->delta.sparse[BN_H_LATENCY] : NULL;
}

/* Returns the group of all sessions of the result at argument 1; an empty one if the result has
   none. */
static const struct bn_group *series_get_group(lua_State *L)
{
  static const struct bn_group none;
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;

  return r->n_groups > 0 ? &r->group[0] : &none;
}

/* Returns whether the intervals have histograms: all have, or none. */
static bool series_has_histograms(const struct bn_group *g)
{
  return g->n_intervals > 0 && series_get_histogram(&g->interval[0]) != NULL;
}

/* r:is_packed(): returns whether the intervals have histograms, so that each of their percentiles
   is known. */
static int series_is_packed(lua_State *L)
{
  lua_pushboolean(L, series_has_histograms(series_get_group(L)));
  return 1;
}

/* Returns a percentile of an interval, in seconds, or NaN if it is not known.  A percentile that
   was reported, the median (rank 50) and the maximum (rank 100) are known without the histogram h,
   which is NULL if the interval has none.  is_nearest: the histogram gives the nearest step of
   its grid. */
static double series_latency_s(const struct bn_view *v, const struct bn_hist *h, double rank,
                               bool is_nearest)
{
  const size_t i = bn_view_find_rank(v, rank);

  if (i < v->n_percents)
    return v->percentile_s[i];
  if (rank == 50)
    return v->median_s;
  if (rank == 100)
    return v->max_s;
  if (h == NULL)
    return NAN;
  return bn_view_hist_percentile_s(h, rank, is_nearest);
}

/* Sets item i, from 0 on, of the array of that name in the table at `series`. */
static void series_set_item(lua_State *L, int series, const char *name, size_t i, double value)
{
  lua_getfield(L, series, name);
  lua_pushnumber(L, value);
  lua_rawseti(L, -2, (int)i + 1);
  lua_pop(L, 1);
}

/* Returns the latencies of an interval, for which `memory` is reused, or NULL if there is no memory
   or the interval has no histogram. */
static const struct bn_hist *series_expand_histogram(const struct bn_record *r,
                                                     struct bn_hist *memory)
{
  const struct bn_hist_sparse *sparse = memory != NULL ? series_get_histogram(r) : NULL;

  if (sparse == NULL)
    return NULL;
  bn_hist_clear(memory);
  for (size_t k = 0; k < sparse->n; k++)
    bn_hist_put(memory, sparse->bucket[k].lowest, sparse->bucket[k].count);
  return memory;
}

/* Sets item i of each array in "latency_s" of the table at `series` to the percentile of interval i
   that has the rank of the array, in the list at RANKS.  `memory` is for
   series_expand_histogram. */
static void series_set_latencies(lua_State *L, int series, size_t i, const struct bn_record *r,
                                 struct bn_hist *memory, bool is_nearest)
{
  const struct bn_hist *latencies = series_expand_histogram(r, memory);

  lua_getfield(L, series, "latency_s");
  for (int k = 1; k <= (int)lua_objlen(L, RANKS); k++) {
    lua_rawgeti(L, RANKS, k);
    const double rank = lua_tonumber(L, -1);

    lua_pop(L, 1);
    lua_rawgeti(L, -1, k);
    lua_pushnumber(L, series_latency_s(&r->view, latencies, rank, is_nearest));
    lua_rawseti(L, -2, (int)i + 1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* Pushes {at_s = {}, …, latency_s = {{}, …}} with arrays for n intervals; latency_s has an array
   for each rank in the list at RANKS.  Returns the index of the table. */
static int series_push_arrays(lua_State *L, size_t n)
{
  /* These are drawn over time (lint: figure list). */
  static const char *const names[] = {"at_s", "events_per_s", "transactions_per_s"};

  lua_newtable(L);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    lua_createtable(L, (int)n, 0);
    lua_setfield(L, -2, names[i]);
  }
  lua_newtable(L);
  for (int k = 1; k <= (int)lua_objlen(L, RANKS); k++) {
    lua_createtable(L, (int)n, 0);
    lua_rawseti(L, -2, k);
  }
  lua_setfield(L, -2, "latency_s");
  return lua_gettop(L);
}

/* r:series(ranks): returns {at_s = {…}, events_per_s = {…}, transactions_per_s = {…}, latency_s =
   {{…} for each rank}} with a number for each interval, of all sessions.  A latency that is not
   known, or of an interval without events, is NaN; the rank 100 is the maximum. */
static int series_make(lua_State *L)
{
  const struct bn_group *g = series_get_group(L);
  const bool is_nearest = !bn_native_check_result(L, 1)->stored.result.facts.plan.native;
  struct bn_hist *memory = NULL; /* for the histogram of an interval; NULL: no interval has one */

  luaL_checktype(L, RANKS, LUA_TTABLE);
  lua_settop(L, RANKS);
  const int series = series_push_arrays(L, g->n_intervals);

  if (series_has_histograms(g))
    memory = bn_hist_new();
  for (size_t i = 0; i < g->n_intervals; i++) {
    const struct bn_view *v = &g->interval[i].view;

    series_set_item(L, series, "at_s", i, v->at_s);
    series_set_item(L, series, "events_per_s", i, v->events_per_s);
    series_set_item(L, series, "transactions_per_s", i, v->transactions_per_s);
    series_set_latencies(L, series, i, &g->interval[i], memory, is_nearest);
  }
  bn_hist_free(memory);
  return 1;
}

/* --- the histogram of the total --- */

/* The argument of series_push_bucket. */
struct buckets {
  lua_State *L;
  int table; /* absolute index of the table with the arrays */
  size_t n;  /* buckets in them */
};

/* Appends a bucket to the arrays "count" and "s" of the table, for bn_hist_each.  "s" has the
   largest value of the bucket in seconds, which is infinite for the values beyond the range. */
static void series_push_bucket(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  struct buckets *b = arg;

  (void)lowest;
  const double highest_s = highest == UINT64_MAX ? HUGE_VAL : (double)highest * 1e-9;

  series_set_item(b->L, b->table, "count", b->n, (double)count);
  series_set_item(b->L, b->table, "s", b->n, highest_s);
  b->n++;
}

/* r:buckets(): returns the histogram of the total as {s = {…}, count = {…}, max_s =}, or nil if it
   has none.  For each bucket, ascending, `s` has the largest value that the bucket can hold, which
   may be above max_s and is infinite beyond the range, and `count` the number of events.
   Unfinished events count with their ages.  max_s is the largest latency. */
static int series_buckets(lua_State *L)
{
  const struct bn_group *g = series_get_group(L);
  const struct bn_view *v = &g->total.view;
  struct bn_hist *latencies;

  if (!g->has_total || v->latency == NULL) {
    lua_pushnil(L);
    return 1;
  }
  lua_newtable(L);
  struct buckets b = {.L = L, .table = lua_gettop(L)};

  lua_newtable(L);
  lua_setfield(L, b.table, "s");
  lua_newtable(L);
  lua_setfield(L, b.table, "count");
  lua_pushnumber(L, v->max_s);
  lua_setfield(L, b.table, "max_s");
  /* It is not freed after an error of Lua, which only a lack of memory causes. */
  latencies = bn_hist_new();
  bn_hist_add(latencies, v->latency);
  if (v->ages != NULL)
    bn_hist_add(latencies, v->ages);
  bn_hist_each(latencies, series_push_bucket, &b);
  bn_hist_free(latencies);
  return 1;
}

const luaL_Reg bn_native_result_series[] = {{"buckets", series_buckets},
                                            {"is_packed", series_is_packed},
                                            {"series", series_make},
                                            {NULL, NULL}};
