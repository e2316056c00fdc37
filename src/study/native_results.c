/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results for studies in Lua: the reader in C, whose values are made when they are asked for. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "measure/layout.h"
#include "measure/store.h"
#include "report/saved.h"
#include "study/figure.h"
#include "study/interpreter.h"
#include "study/native.h"
#include "study/native_result.h"
#include "study/results.h"
#include "study/whole.h"

/* What was read since the last collection of garbage, of which Lua sees a few bytes. */
enum { COLLECT_AFTER = 1 << 25 };

static const char result_key[] = "bn.result", bytes_key[] = "bn.result bytes";

struct result {
  const struct bn_store *js;
  struct bn_stored stored;
  bool open;
};

/* --- the value --- */

static struct result *check_result(lua_State *L, int argument)
{
  struct result *r = luaL_checkudata(L, argument, result_key);

  luaL_argcheck(L, r->open, argument, "the result was closed");
  return r;
}

const struct bn_result *bn_native_check_result(lua_State *L, int argument)
{
  return &check_result(L, argument)->stored.result;
}

static int result_close(lua_State *L)
{
  struct result *r = luaL_checkudata(L, 1, result_key);

  if (r->open)
    bn_stored_done(r->js, &r->stored);
  r->open = false;
  return 0;
}

/* The total of all sessions; NULL: there is none. */
static const struct bn_view *total_of(const struct bn_result *r)
{
  return r->n_groups > 0 && r->group[0].has_total ? &r->group[0].total.view : NULL;
}

/* --- members --- */

static void set_text(lua_State *L, const char *name, const char *text)
{
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}

static void set_switch(lua_State *L, const char *name, bool is_on)
{
  lua_pushboolean(L, is_on);
  lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, double x)
{
  lua_pushnumber(L, x);
  lua_setfield(L, -2, name);
}

void bn_native_set_layout(lua_State *L, const struct bn_layout *layout, const void *from)
{
  for (; layout->name != NULL; layout++) {
    const void *at = (const char *)from + layout->offset;

    switch (layout->type) {
    case BN_LAY_BOOL:
      lua_pushboolean(L, *(const bool *)at);
      break;
    case BN_LAY_INT:
      lua_pushinteger(L, *(const int *)at);
      break;
    case BN_LAY_UNSIGNED:
      lua_pushnumber(L, *(const unsigned *)at);
      break;
    case BN_LAY_WHOLE:
      bn_whole_push_unsigned(L, *(const uint64_t *)at);
      break;
    case BN_LAY_SIGNED:
      bn_whole_push(L, *(const int64_t *)at);
      break;
    case BN_LAY_REAL:
      lua_pushnumber(L, *(const double *)at);
      break;
    }
    lua_setfield(L, -2, layout->name);
  }
}

static void push_options(lua_State *L, const struct bn_result *r)
{
  const struct bn_facts *f = &r->facts;

  lua_createtable(L, (int)f->n_options, 0);
  for (size_t i = 0; i < f->n_options; i++) {
    const struct bn_fact_option *o = &f->option[i];

    lua_createtable(L, 0, 6);
    set_text(L, "name", o->name);
    set_text(L, "group", o->group);
    set_text(L, "value", o->value);
    set_text(L, "origin", bn_layout_origins[o->origin]);
    set_switch(L, "secret", o->secret);
    bn_native_push_traits(L, o->traits);
    lua_setfield(L, -2, "traits");
    lua_rawseti(L, -2, (int)i + 1);
  }
}

static void push_fact(lua_State *L, const struct bn_fact *fact)
{
  switch (fact->type) {
  case BN_FACT_TEXT:
    lua_pushstring(L, fact->text);
    break;
  case BN_FACT_WHOLE:
    bn_whole_push(L, fact->whole);
    break;
  case BN_FACT_REAL:
    lua_pushnumber(L, fact->real);
    break;
  }
}

/* By section and key. */
static void push_facts(lua_State *L, const struct bn_result *r)
{
  lua_newtable(L);
  for (size_t i = 0; i < r->facts.n_facts; i++) {
    const struct bn_fact *fact = &r->facts.fact[i];

    lua_getfield(L, -1, fact->section);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      lua_newtable(L);
      lua_pushvalue(L, -1);
      lua_setfield(L, -3, fact->section);
    }
    push_fact(L, fact);
    lua_setfield(L, -2, fact->key);
    lua_pop(L, 1);
  }
}

/* In the order of the document. */
static void push_fact_list(lua_State *L, const struct bn_result *r)
{
  static const char *const types[] = {
      [BN_FACT_TEXT] = "text", [BN_FACT_WHOLE] = "whole", [BN_FACT_REAL] = "real"};

  lua_createtable(L, (int)r->facts.n_facts, 0);
  for (size_t i = 0; i < r->facts.n_facts; i++) {
    const struct bn_fact *fact = &r->facts.fact[i];

    lua_createtable(L, 0, 4);
    set_text(L, "section", fact->section);
    set_text(L, "key", fact->key);
    set_text(L, "type", types[fact->type]);
    push_fact(L, fact);
    lua_setfield(L, -2, "value");
    lua_rawseti(L, -2, (int)i + 1);
  }
}

static void push_numbers(lua_State *L, const double *x, size_t n)
{
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushnumber(L, x[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

static void push_plan(lua_State *L, const struct bn_result *r)
{
  const struct bn_plan *p = &r->facts.plan;

  lua_newtable(L);
  bn_native_set_layout(L, bn_layout_plan, p);
  set_number(L, "time_s", (double)p->time_ns * 1e-9);
  set_number(L, "warmup_s", (double)p->warmup_ns * 1e-9);
  set_number(L, "interval_s", (double)p->interval_ns * 1e-9);
  set_switch(L, "own", p->own);
  set_text(L, "dialect", p->own ? NULL : bn_layout_dialects[p->version]);
  push_numbers(L, p->percents, p->n_percents);
  lua_setfield(L, -2, "percents");
}

static void push_times(lua_State *L, const struct bn_result *r)
{
  lua_newtable(L);
  bn_native_set_layout(L, bn_layout_times, &r->facts);
}

static void push_end(lua_State *L, const struct bn_result *r)
{
  lua_newtable(L);
  bn_native_set_layout(L, bn_layout_end, &r->end);
  set_text(L, "reason", bn_layout_reasons[r->end.reason]);
  if (r->end.signo != 0)
    set_number(L, "signal", r->end.signo);
}

static void push_workload(lua_State *L, const struct bn_result *r)
{
  lua_pushstring(L, r->n_groups > 0 ? r->group[0].name : NULL);
}

static void push_start(lua_State *L, const struct bn_result *r)
{
  bn_whole_push_unsigned(L, r->facts.start_wall_ns);
}

static void push_has_total(lua_State *L, const struct bn_result *r)
{
  lua_pushboolean(L, total_of(r) != NULL);
}

/* Of the total, or else of the first interval. */
static void push_kind(lua_State *L, const struct bn_result *r)
{
  const struct bn_view *v = total_of(r);

  if (v == NULL && r->n_groups > 0 && r->group[0].n_intervals > 0)
    v = &r->group[0].interval[0].view;
  lua_pushstring(L, v != NULL ? bn_layout_kinds[v->kind] : NULL);
}

/* Members that are made once: the table of the value's own has them then. */
static const struct {
  const char *name;
  void (*push)(lua_State *L, const struct bn_result *r);
} members[] = {
    {"end_", push_end},   {"fact_list", push_fact_list}, {"facts", push_facts},
    {"kind", push_kind},  {"has_total", push_has_total}, {"options", push_options},
    {"plan", push_plan},  {"start_wall_ns", push_start}, {"times", push_times},
    {"workload", push_workload},
};

/* Upvalue 1: the methods. */
static int result_index(lua_State *L)
{
  const char *name = luaL_checkstring(L, 2);

  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  lua_rawget(L, lua_upvalueindex(1));
  if (!lua_isnil(L, -1))
    return 1;
  lua_getfenv(L, 1);
  lua_getfield(L, -1, name);
  if (!lua_isnil(L, -1))
    return 1;
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
    if (strcmp(members[i].name, name) == 0) {
      members[i].push(L, bn_native_check_result(L, 1));
      lua_pushvalue(L, -1);
      lua_setfield(L, 4, name);
      return 1;
    }
  return 1;
}

/* --- figures --- */

static const char *better_name(enum bn_better better)
{
  static const char *const names[] = {
      [BN_BETTER_NEITHER] = "neither", [BN_BETTER_MORE] = "more", [BN_BETTER_LESS] = "less"};

  return names[better];
}

/* native.figure(text) */
static int native_figure(lua_State *L)
{
  struct bn_figure_name figure;
  const char *shown_unit;
  struct bn_err err;

  if (bn_figure_parse(&figure, luaL_checkstring(L, 1), &err) != 0)
    return bn_native_error(L, &err);
  lua_createtable(L, 0, 6);
  set_text(L, "text", figure.text);
  set_text(L, "unit", bn_figure_unit(&figure));
  set_number(L, "scale", bn_figure_scale(&figure, &shown_unit));
  set_text(L, "shown_unit", shown_unit);
  set_text(L, "better", better_name(figure.better));
  set_switch(L, "is_rate", figure.is_rate);
  return 1;
}

/* r:value(figure): a number in the unit of the figure; nil: it was not measured. */
static int result_value(lua_State *L)
{
  const struct bn_result *r = bn_native_check_result(L, 1);
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

/* native.assertion(text) */
static int native_assertion(lua_State *L)
{
  static const char *const operators[] = {
      [BN_ASSERT_LT] = "<", [BN_ASSERT_LE] = "<=", [BN_ASSERT_GT] = ">", [BN_ASSERT_GE] = ">="};
  static const char *const whats[] = {
      [BN_ASSERT_FIELD] = "figure", [BN_ASSERT_ERRORS] = "errors", [BN_ASSERT_RANK] = "percentile",
      [BN_ASSERT_MIN] = "min",      [BN_ASSERT_AVG] = "avg",       [BN_ASSERT_MEDIAN] = "median",
      [BN_ASSERT_MAX] = "max"};
  const char *text = luaL_checkstring(L, 1);
  struct bn_assert a;
  struct bn_err err;

  if (bn_assert_parse(&a, text, &err) != 0)
    return bn_native_error(L, &err);
  lua_createtable(L, 0, 10);
  set_text(L, "text", text);
  set_text(L, "what", whats[a.what]);
  set_text(L, "op", operators[a.op]);
  set_number(L, "limit", a.limit);
  set_text(L, "unit", a.unit);
  set_number(L, "scale", a.scale);
  set_text(L, "timing", a.timing[0] != '\0' ? a.timing : NULL);
  if (a.what == BN_ASSERT_RANK)
    set_number(L, "rank", a.rank);
  if (a.field != NULL) {
    set_text(L, "figure", a.field->name);
    set_text(L, "figure_unit", a.field->unit);
    set_text(L, "better", better_name(a.field->better));
  }
  return 1;
}

/* r:judge(text): what became of an assertion; shown: the value as a text. */
static int result_judge(lua_State *L)
{
  const struct bn_result *r = bn_native_check_result(L, 1);
  const char *text = luaL_checkstring(L, 2);
  struct bn_verdict verdict = {.text = NULL};
  struct bn_assert a;
  struct bn_err err;
  char shown[64];

  if (bn_assert_parse(&a, text, &err) != 0)
    return luaL_error(L, "%s", err.text);
  verdict.found = bn_figure_judge(&a, r);
  verdict.unit = (char *)(uintptr_t)a.unit;
  lua_createtable(L, 0, 6);
  set_switch(L, "holds", verdict.found.holds);
  set_switch(L, "measured", verdict.found.measured);
  set_switch(L, "at_least", verdict.found.at_least);
  set_number(L, "value", verdict.found.value);
  set_text(L, "unit", a.unit);
  set_text(L, "shown", bn_assert_show(&verdict, shown, sizeof shown));
  return 1;
}

/* --- intervals --- */

static void set_figures(lua_State *L, const struct bn_view *v)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++) {
    const void *at = (const char *)v + f->offset;

    if (!bn_view_knows(v, f))
      continue;
    if (f->type == BN_VIEW_U64)
      bn_whole_push_unsigned(L, *(const uint64_t *)at);
    else
      lua_pushnumber(L, *(const double *)at);
    lua_setfield(L, -2, f->name);
  }
}

static void push_interval(lua_State *L, const struct bn_view *v)
{
  lua_createtable(L, 0, 64);
  set_figures(L, v);
  set_number(L, "start_s", v->at_s - v->span_s);
  set_number(L, "end_s", v->at_s);
  lua_createtable(L, (int)v->n_percents, 0);
  for (size_t i = 0; v->percentile_s != NULL && i < v->n_percents; i++) {
    lua_createtable(L, 0, 2);
    set_number(L, "percent", v->percents[i]);
    set_number(L, "s", v->percentile_s[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "percentiles");
}

/* r:intervals(): of all sessions: {start_s =, end_s =, FIGURE =, percentiles = {{percent =, s =}}}.
 */
static int result_intervals(lua_State *L)
{
  const struct bn_result *r = bn_native_check_result(L, 1);
  const size_t n = r->n_groups > 0 ? r->group[0].n_intervals : 0;

  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    push_interval(L, &r->group[0].interval[i].view);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

/* --- reading --- */

/* r:tell_passed(path): says which lines of a journal were passed over. */
static int result_tell_passed(lua_State *L)
{
  bn_saved_tell_passed(luaL_checkstring(L, 2), &check_result(L, 1)->stored.passed);
  return 0;
}

static void collect_garbage(lua_State *L, const char *path)
{
  struct stat st;
  double bytes;

  lua_getfield(L, LUA_REGISTRYINDEX, bytes_key);
  bytes = lua_tonumber(L, -1) + (stat(path, &st) == 0 ? (double)st.st_size : 0);
  lua_pop(L, 1);
  if (bytes > COLLECT_AFTER) {
    (void)lua_gc(L, LUA_GCCOLLECT, 0);
    bytes = 0;
  }
  lua_pushnumber(L, bytes);
  lua_setfield(L, LUA_REGISTRYINDEX, bytes_key);
}

/* native.result(path): nil and a sentence: it cannot be read; false and a sentence: it is a whole
   document of another kind. */
static int native_result(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  struct bn_err err = {0};
  const struct bn_store *js = bn_store_json(&err);
  struct result *r;
  int rc;

  if (js == NULL)
    return luaL_error(L, "%s", err.text);
  collect_garbage(L, path);
  r = lua_newuserdata(L, sizeof *r);
  *r = (struct result){.js = js};
  luaL_getmetatable(L, result_key);
  lua_setmetatable(L, -2);
  lua_newtable(L);
  lua_setfenv(L, -2);
  rc = bn_results_load(js, path, &r->stored, &err);
  r->open = true;
  if (rc > 0) {
    bn_facts_declare(&r->stored.result.facts, bn_interpreter_traits(L));
    return 1;
  }
  if (rc < 0)
    return bn_native_error(L, &err);
  lua_pushboolean(L, 0);
  lua_pushstring(L, err.text);
  return 2;
}

void bn_native_open_results(lua_State *L)
{
  static const luaL_Reg methods[] = {{"close", result_close},
                                     {"intervals", result_intervals},
                                     {"judge", result_judge},
                                     {"tell_passed", result_tell_passed},
                                     {"value", result_value},
                                     {NULL, NULL}};

  luaL_newmetatable(L, result_key);
  lua_pushcfunction(L, result_close);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_pushcclosure(L, result_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

const luaL_Reg bn_native_results[] = {{"assertion", native_assertion},
                                      {"figure", native_figure},
                                      {"result", native_result},
                                      {NULL, NULL}};
