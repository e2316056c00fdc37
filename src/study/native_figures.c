/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of results for studies in Lua: by name, by assertion, and of each interval. */
#include <math.h>

#include "study/figure.h"
#include "study/int64.h"
#include "study/native.h"
#include "study/native_result.h"

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

/* Returns the word for the direction in which a figure is better. */
static const char *figures_better_name(enum bn_better better)
{
  static const char *const names[] = {
      [BN_BETTER_NEITHER] = "neither", [BN_BETTER_MORE] = "more", [BN_BETTER_LESS] = "less"};

  return names[better];
}

/* native.figure(text): returns a table about the figure that a user has named, or nil and a
   sentence.  A value of the figure times `scale` is in `shown_unit`. */
static int native_figure(lua_State *L)
{
  struct bn_figure_name figure;
  const char *shown_unit;
  struct bn_err err;

  if (bn_figure_parse(&figure, luaL_checkstring(L, 1), &err) != 0)
    return bn_native_push_error(L, &err);
  lua_createtable(L, 0, 6);
  bn_native_set_text(L, "text", figure.text);
  bn_native_set_text(L, "unit", bn_figure_unit(&figure));
  bn_native_set_number(L, "scale", bn_figure_scale(&figure, &shown_unit));
  bn_native_set_text(L, "shown_unit", shown_unit);
  bn_native_set_text(L, "better", figures_better_name(figure.better));
  bn_native_set_switch(L, "is_rate", figure.is_rate);
  return 1;
}

/* r:value(figure): returns a number in the unit of the figure; nil: it was not measured. */
static int figures_value(lua_State *L)
{
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;
  struct bn_figure_name figure;
  struct bn_err err;
  double value;

  if (bn_figure_parse(&figure, luaL_checkstring(L, 2), &err) != 0)
    return luaL_error(L, "%s", err.text);
  if (bn_figure_find(&figure, r, &value))
    lua_pushnumber(L, value);
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
  lua_createtable(L, 0, 10);
  bn_native_set_text(L, "text", text);
  bn_native_set_text(L, "what", subjects[a.what]);
  bn_native_set_text(L, "op", operators[a.op]);
  bn_native_set_number(L, "limit", a.limit);
  bn_native_set_text(L, "unit", a.unit);
  bn_native_set_number(L, "scale", a.scale);
  bn_native_set_text(L, "timing", a.part[0] != '\0' ? a.part : NULL);
  if (a.what == BN_ASSERT_RANK)
    bn_native_set_number(L, "rank", a.rank);
  if (a.field != NULL) {
    bn_native_set_text(L, "figure", a.field->name);
    bn_native_set_text(L, "figure_unit", a.field->unit);
    bn_native_set_text(L, "better", figures_better_name(a.field->better));
  }
  return 1;
}

/* r:judge(text): returns a table that says whether an assertion holds; its `shown` is the value as
   a text.  If no such run measures the value, `lack` says why. */
static int figures_judge(lua_State *L)
{
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;
  const char *text = luaL_checkstring(L, 2);
  struct bn_verdict verdict = {.text = NULL};
  struct bn_assert a;
  struct bn_err err;
  char shown[64];

  if (bn_assert_parse(&a, text, &err) != 0)
    return luaL_error(L, "%s", err.text);
  verdict.found = bn_figure_judge(&a, r);
  verdict.unit = (char *)(uintptr_t)a.unit; /* bn_assert_format only reads it */
  lua_createtable(L, 0, 7);
  bn_native_set_switch(L, "holds", verdict.found.holds);
  bn_native_set_switch(L, "measured", verdict.found.measured);
  bn_native_set_switch(L, "at_least", verdict.found.at_least);
  bn_native_set_number(L, "value", verdict.found.value);
  bn_native_set_text(L, "unit", a.unit);
  bn_native_set_text(L, "shown", bn_assert_format(&verdict, shown, sizeof shown));
  if (!verdict.found.measured && bn_figure_check(&a, r, &err) != 0)
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
