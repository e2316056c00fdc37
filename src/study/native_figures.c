/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of results for studies in Lua: by name, by assertion, and of each interval. */
#include <math.h>
#include <string.h>

#include "measure/assert.h"
#include "measure/result.h"
#include "study/int64.h"
#include "study/native.h"

struct bn_native_result *bn_native_check_result(lua_State *L, int argument)
{
  struct bn_native_result *r = luaL_checkudata(L, argument, BN_NATIVE_RESULT);

  luaL_argcheck(L, r->open, argument, "the result was closed");
  return r;
}

void bn_native_set_text(lua_State *L, const char *name, const char *text)
{
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}

void bn_native_set_switch(lua_State *L, const char *name, bool is_on)
{
  lua_pushboolean(L, is_on);
  lua_setfield(L, -2, name);
}

void bn_native_set_number(lua_State *L, const char *name, double x)
{
  lua_pushnumber(L, x);
  lua_setfield(L, -2, name);
}

/* --- names --- */

/* A figure that a user has named: "rate", "tps", "p99", "p95@read", "errors". */
struct figure {
  bool is_rate;            /* "rate": transactions/s of a database, else events/s */
  struct bn_assert metric; /* the parsed name, without a limit; not for "rate" */
  const char *unit;        /* as in documents: "s", "1/s", "bytes/s", "1" */
  enum bn_better better;
};

/* Reads METRIC [@PART] of measure/assert.h, or "rate".  Returns 0, or -1 and err, which quotes
   the name and says what is wrong. */
static int figures_parse(struct figure *out, const char *text, struct bn_err *err)
{
  *out = (struct figure){
      .is_rate = strcmp(text, "rate") == 0, .unit = "1/s", .better = BN_BETTER_MORE};
  if (out->is_rate)
    return 0;
  if (bn_assert_parse_metric(&out->metric, text, err) != 0)
    return -1;
  out->unit = out->metric.unit;
  out->better = out->metric.field != NULL ? out->metric.field->better : BN_BETTER_LESS;
  return 0;
}

/* native.figure(text): returns a table about the figure that a user has named, or nil and a
   sentence.  A value of the figure times `scale` is in `shown_unit`: times are shown in ms, which
   people read more easily than seconds, and pure numbers, whose unit is "1", without a unit. */
static int native_figure(lua_State *L)
{
  static const char *const directions[] = {
      [BN_BETTER_NEITHER] = "neither", [BN_BETTER_MORE] = "more", [BN_BETTER_LESS] = "less"};
  const char *text = luaL_checkstring(L, 1);
  struct figure figure;
  struct bn_err err;

  if (figures_parse(&figure, text, &err) != 0)
    return bn_native_push_error(L, &err);
  const bool is_time = strcmp(figure.unit, "s") == 0;
  const char *shown_unit = strcmp(figure.unit, "1") == 0 ? "" : figure.unit;

  lua_createtable(L, 0, 6);
  bn_native_set_text(L, "text", text);
  bn_native_set_text(L, "unit", figure.unit);
  bn_native_set_number(L, "scale", is_time ? 1e3 : 1);
  bn_native_set_text(L, "shown_unit", is_time ? "ms" : shown_unit);
  bn_native_set_text(L, "better", directions[figure.better]);
  bn_native_set_switch(L, "is_rate", figure.is_rate);
  return 1;
}

/* Judges an assertion on the total of a result.  Without a total, the finding says that it was not
   measured.  Percentiles are computed as in the report of the run: in a dialect, that is the
   nearest step of sysbench's grid. */
static struct bn_finding figures_judge_total(const struct bn_assert *a, const struct bn_result *r)
{
  const struct bn_view *total = bn_result_total(r);
  const struct bn_view_rules rules = {.nearest = !r->facts.plan.native,
                                      .ages = total != NULL ? total->ages : NULL};

  return bn_assert_judge(a, total, &rules);
}

/* r:value(figure): returns a number in the unit of the figure, of the total of the first group;
   nil: the run has no total, or did not measure it.  A result without histograms
   (--report-bins=none) has the percentiles of its --percentile only. */
static int figures_value(lua_State *L)
{
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;
  const struct bn_view *v = bn_result_total(r);
  struct figure figure;
  struct bn_err err;

  if (figures_parse(&figure, luaL_checkstring(L, 2), &err) != 0)
    return luaL_error(L, "%s", err.text);
  struct bn_finding found = {.measured = v != NULL};

  if (!figure.is_rate)
    found = figures_judge_total(&figure.metric, r);
  else if (v != NULL)
    found.value = v->kind == BN_KIND_SQL ? v->transactions_per_s : v->events_per_s;
  if (found.measured)
    lua_pushnumber(L, found.value);
  else
    lua_pushnil(L);
  return 1;
}

/* native.assertion(text): returns a table about the parts of an assertion, or nil and a sentence.
   A part that the assertion does not have is absent. */
static int native_assertion(lua_State *L)
{
  static const char *const operators[] = {
      [BN_ASSERT_LT] = "<", [BN_ASSERT_LE] = "<=", [BN_ASSERT_GT] = ">", [BN_ASSERT_GE] = ">="};
  /* bn_assert_parse returns no BN_ASSERT_PROOF. */
  static const char *const subjects[] = {
      [BN_ASSERT_FIELD] = "figure", [BN_ASSERT_ERRORS] = "errors", [BN_ASSERT_RANK] = "percentile",
      [BN_ASSERT_MIN] = "min",      [BN_ASSERT_AVG] = "avg",       [BN_ASSERT_MEDIAN] = "median",
      [BN_ASSERT_MAX] = "max",      [BN_ASSERT_KIND] = "kind"};
  const char *text = luaL_checkstring(L, 1);
  struct bn_assert a;
  struct bn_err err;

  if (bn_assert_parse(&a, text, &err) != 0)
    return bn_native_push_error(L, &err);
  lua_createtable(L, 0, 8);
  bn_native_set_text(L, "text", text);
  bn_native_set_text(L, "what", subjects[a.what]);
  bn_native_set_text(L, "op", operators[a.op]);
  bn_native_set_number(L, "limit", a.limit);
  bn_native_set_text(L, "unit", a.unit);
  bn_native_set_number(L, "scale", a.scale);
  bn_native_set_text(L, "timing", a.part[0] != '\0' ? a.part : NULL);
  if (a.what == BN_ASSERT_RANK)
    bn_native_set_number(L, "rank", a.rank);
  return 1;
}

/* Returns 0 if a run with such a result can measure what an assertion is about, or -1 and err,
   which says what the run lacks, such as a group of that name.  Times of waiting are no lack: they
   are not measured in every run, but other runs of the study may measure them. */
static int figures_check(const struct bn_assert *a, const struct bn_result *r, struct bn_err *err)
{
  const struct bn_view *total = bn_result_total(r);
  const bool is_waiting = bn_statset_waiting_place(a->part) > 0;

  if (total == NULL || is_waiting)
    return 0;
  const struct bn_assert_scope scope = {.metrics = &total->delta->metrics,
                                        .kinds = 1U << total->kind,
                                        .paced = true,
                                        .native = r->facts.plan.native,
                                        .statements = total->n_statements > 0};

  return bn_assert_check(a, &scope, err);
}

/* r:judge(text): returns a table that says whether an assertion holds.  If no such run measures the
   value, `lack` says why. */
static int figures_judge(lua_State *L)
{
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;
  struct bn_assert a;
  struct bn_err err;

  if (bn_assert_parse(&a, luaL_checkstring(L, 2), &err) != 0)
    return luaL_error(L, "%s", err.text);
  const struct bn_finding found = figures_judge_total(&a, r);

  lua_createtable(L, 0, 5);
  bn_native_set_switch(L, "holds", found.holds);
  bn_native_set_switch(L, "measured", found.measured);
  bn_native_set_number(L, "value", found.value);
  bn_native_set_text(L, "unit", a.unit);
  if (!found.measured && figures_check(&a, r, &err) != 0)
    bn_native_set_text(L, "lack", err.text);
  return 1;
}

/* --- intervals --- */

/* Sets the figures that a view has measured as members of the table on top. */
static void figures_set_all(lua_State *L, const struct bn_view *v)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++) {
    if (!bn_view_measures(v, f))
      continue;
    if (f->type == BN_VIEW_U64)
      bn_int64_push_unsigned(L, bn_view_u64(v, f));
    else
      lua_pushnumber(L, bn_view_value(v, f));
    lua_setfield(L, -2, f->name);
  }
}

/* Pushes a list with {percent =, s =} for each percentile of a view; s is absent if it is not
   known. */
static void figures_push_percentiles(lua_State *L, const struct bn_view *v)
{
  const size_t n = v->percentile_s != NULL ? v->n_percents : 0;

  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_createtable(L, 0, 2);
    bn_native_set_number(L, "percent", v->percents[i]);
    if (!isnan(v->percentile_s[i]))
      bn_native_set_number(L, "s", v->percentile_s[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* Pushes a table of an interval: its figures, its times and its percentiles. */
static void figures_push_interval(lua_State *L, const struct bn_view *v)
{
  lua_createtable(L, 0, 64);
  figures_set_all(L, v);
  bn_native_set_number(L, "start_s", v->at_s - v->span_s);
  bn_native_set_number(L, "end_s", v->at_s);
  figures_push_percentiles(L, v);
  lua_setfield(L, -2, "percentiles");
}

/* r:intervals(): returns a list with {start_s =, end_s =, FIGURE = …, percentiles = …} for each
   interval, of all sessions; percentiles is a list with {percent =, s =}.  A figure that was not
   measured is absent. */
static int figures_intervals(lua_State *L)
{
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;
  const size_t n = r->n_groups > 0 ? r->group[0].n_intervals : 0;

  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    figures_push_interval(L, &r->group[0].interval[i].view);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

const luaL_Reg bn_native_figures[] = {
    {"assertion", native_assertion}, {"figure", native_figure}, {NULL, NULL}};

const luaL_Reg bn_native_result_figures[] = {{"intervals", figures_intervals},
                                             {"judge", figures_judge},
                                             {"value", figures_value},
                                             {NULL, NULL}};
