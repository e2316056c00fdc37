/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes plain arrays of what pictures show of a result: its intervals, and the buckets of its
   latency histogram. */
#include <math.h>
#include <stdint.h>

#include "base/hist.h"
#include "study/native_result.h"

/* --- intervals --- */

static const struct bn_hist_sparse *series_sparse_of(const struct bn_record *r)
{
  return r->delta.sparse != NULL ? &r->delta.sparse[BN_H_LATENCY] : NULL;
}

/* Returns the group of all sessions of the result at argument 1. */
static const struct bn_group *series_check_group(lua_State *L)
{
  static const struct bn_group none;
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;

  return r->n_groups > 0 ? &r->group[0] : &none;
}

static bool series_has_packed(const struct bn_group *g)
{
  return g->n_intervals > 0 && series_sparse_of(&g->interval[0]) != NULL;
}

/* r:is_packed(): whether intervals have histograms, so that each of their percentiles is known. */
static int series_is_packed(lua_State *L)
{
  lua_pushboolean(L, series_has_packed(series_check_group(L)));
  return 1;
}

/* Returns a percentile of an interval with the histogram h, which may be NULL, or NaN. */
static double series_latency_of(const struct bn_view *v, const struct bn_hist *h, double rank,
                                bool nearest)
{
  const size_t i = bn_view_find_rank(v, rank);

  if (i < v->n_percents)
    return v->percentile_s[i];
  if (rank == 50)
    return v->median_s;
  if (rank == 100)
    return v->max_s;
  return h != NULL ? bn_view_hist_s(h, rank, nearest) : NAN;
}

/* Sets number i of the array of that name in the table at `series`. */
static void series_set(lua_State *L, int series, const char *name, size_t i, double value)
{
  lua_getfield(L, series, name);
  lua_pushnumber(L, value);
  lua_rawseti(L, -2, (int)i + 1);
  lua_pop(L, 1);
}

/* Sets the percentiles of an interval for the ranks in the list at 2.  `h` is memory for its
   histogram, or NULL if no interval has one. */
static void series_set_latencies(lua_State *L, int series, size_t i, const struct bn_record *r,
                                 struct bn_hist *h, bool nearest)
{
  const struct bn_hist_sparse *sparse = h != NULL ? series_sparse_of(r) : NULL;

  if (sparse != NULL) {
    bn_hist_clear(h);
    for (size_t k = 0; k < sparse->n; k++)
      bn_hist_put(h, sparse->bucket[k].lowest, sparse->bucket[k].count);
  }
  lua_getfield(L, series, "latency_s");
  for (int k = 1; k <= (int)lua_objlen(L, 2); k++) {
    lua_rawgeti(L, 2, k);
    const double rank = lua_tonumber(L, -1);

    lua_pop(L, 1);
    lua_rawgeti(L, -1, k);
    lua_pushnumber(L, series_latency_of(&r->view, sparse != NULL ? h : NULL, rank, nearest));
    lua_rawseti(L, -2, (int)i + 1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* Pushes {at_s = {}, …} with room for n intervals, and with an array of latencies for each rank.
   Returns its index. */
static int series_push(lua_State *L, size_t n)
{
  /* A picture draws these over time (lint: figure list). */
  static const char *const names[] = {"at_s", "events_per_s", "transactions_per_s"};

  lua_newtable(L);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    lua_createtable(L, (int)n, 0);
    lua_setfield(L, -2, names[i]);
  }
  lua_newtable(L);
  for (int k = 1; k <= (int)lua_objlen(L, 2); k++) {
    lua_createtable(L, (int)n, 0);
    lua_rawseti(L, -2, k);
  }
  lua_setfield(L, -2, "latency_s");
  return lua_gettop(L);
}

/* r:series(ranks): of the intervals of all sessions {at_s = {…}, events_per_s = {…},
   transactions_per_s = {…}, latency_s = {{…} for each rank}}.  A latency that is not known, or of
   an interval without events, is NaN; the rank 100 is the maximum. */
static int series_series(lua_State *L)
{
  const struct bn_group *g = series_check_group(L);
  const bool nearest = !bn_native_check_result(L, 1)->stored.result.facts.plan.native;
  struct bn_hist *h = NULL;

  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  const int series = series_push(L, g->n_intervals);

  if (series_has_packed(g))
    h = bn_hist_new();
  for (size_t i = 0; i < g->n_intervals; i++) {
    const struct bn_view *v = &g->interval[i].view;

    series_set(L, series, "at_s", i, v->at_s);
    series_set(L, series, "events_per_s", i, v->events_per_s);
    series_set(L, series, "transactions_per_s", i, v->transactions_per_s);
    series_set_latencies(L, series, i, &g->interval[i], h, nearest);
  }
  bn_hist_free(h);
  return 1;
}

/* --- the histogram of the total --- */

struct buckets {
  lua_State *L;
  int table, n;
};

static void series_push_bucket(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  struct buckets *b = arg;

  (void)lowest;
  series_set(b->L, b->table, "count", (size_t)b->n, (double)count);
  series_set(b->L, b->table, "s", (size_t)b->n++,
             highest == UINT64_MAX ? HUGE_VAL : (double)highest * 1e-9);
}

/* r:buckets(): of the event latencies, with the ages of unfinished events, {s = {the largest value
   of each bucket, ascending; infinite: beyond the range}, count = {…}, max_s = the largest
   latency}; nil: the total has no histogram. */
static int series_buckets(lua_State *L)
{
  const struct bn_group *g = series_check_group(L);
  const struct bn_view *v = &g->total.view;
  struct buckets b = {.L = L};
  struct bn_hist *all;

  if (!g->has_total || v->latency == NULL) {
    lua_pushnil(L);
    return 1;
  }
  lua_newtable(L);
  b.table = lua_gettop(L);
  lua_newtable(L);
  lua_setfield(L, b.table, "s");
  lua_newtable(L);
  lua_setfield(L, b.table, "count");
  lua_pushnumber(L, v->max_s);
  lua_setfield(L, b.table, "max_s");
  all = bn_hist_new();
  bn_hist_add(all, v->latency);
  if (v->ages != NULL)
    bn_hist_add(all, v->ages);
  bn_hist_each(all, series_push_bucket, &b);
  bn_hist_free(all);
  return 1;
}

const luaL_Reg bn_native_result_series[] = {{"buckets", series_buckets},
                                            {"is_packed", series_is_packed},
                                            {"series", series_series},
                                            {NULL, NULL}};
