/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results for studies in Lua: reads documents, and makes values of them when they are asked for. */
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "measure/layout.h"
#include "measure/store.h"
#include "report/saved.h"
#include "study/int64.h"
#include "study/native.h"

enum {
  COLLECT_AFTER = 1 << 25, /* bytes of documents after which garbage is collected */
  FOREIGN_MAX = 1 << 26    /* bytes of a document that is read to see whether it is a result */
};

/* Names in the registry: the bytes of documents since garbage was collected, and the limit of
   native.read_at_most(). */
static const char bytes_key[] = "bn.result_bytes", limit_key[] = "bn.result_limit";

/* r:close(), and the metamethod __gc of a result: frees the result, unless it was closed before. */
static int results_close(lua_State *L)
{
  struct bn_native_result *r = luaL_checkudata(L, 1, BN_NATIVE_RESULT);

  if (r->open)
    bn_stored_done(&r->stored);
  r->open = false;
  return 0;
}

/* --- members --- */

/* Sets in the table on top the members that a layout describes of the struct at `from`. */
static void results_set_layout(lua_State *L, const struct bn_layout *layout, const void *from)
{
  for (; layout->name != NULL; layout++) {
    const void *member = (const char *)from + layout->offset;

    switch (layout->type) {
    case BN_LAY_BOOL:
      lua_pushboolean(L, *(const bool *)member);
      break;
    case BN_LAY_INT:
      lua_pushinteger(L, *(const int *)member);
      break;
    case BN_LAY_UNSIGNED:
      lua_pushnumber(L, *(const unsigned *)member);
      break;
    case BN_LAY_WHOLE:
      bn_int64_push_unsigned(L, *(const uint64_t *)member);
      break;
    case BN_LAY_SIGNED:
      bn_int64_push(L, *(const int64_t *)member);
      break;
    case BN_LAY_REAL:
      lua_pushnumber(L, *(const double *)member);
      break;
    }
    lua_setfield(L, -2, layout->name);
  }
}

/* Pushes a list of the options of the run. */
static void results_push_options(lua_State *L, const struct bn_result *r)
{
  const struct bn_facts *f = &r->facts;

  lua_createtable(L, (int)f->n_options, 0);
  for (size_t i = 0; i < f->n_options; i++) {
    const struct bn_fact_option *o = &f->option[i];

    lua_createtable(L, 0, 6);
    bn_native_set_text(L, "name", o->name);
    bn_native_set_text(L, "group", o->group);
    bn_native_set_text(L, "value", o->value);
    bn_native_set_text(L, "origin", bn_layout_origins[o->origin]);
    bn_native_set_switch(L, "secret", o->secret);
    bn_native_push_traits(L, o->traits);
    lua_setfield(L, -2, "traits");
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* Pushes the value of a fact. */
static void results_push_fact(lua_State *L, const struct bn_fact *fact)
{
  switch (fact->type) {
  case BN_FACT_TEXT:
    lua_pushstring(L, fact->text);
    break;
  case BN_FACT_WHOLE:
    bn_int64_push(L, fact->whole);
    break;
  case BN_FACT_REAL:
    lua_pushnumber(L, fact->real);
    break;
  }
}

/* Pushes the table of a section, which is a member of the table on top, and makes it first if it is
   not there. */
static void results_push_section(lua_State *L, const char *section)
{
  lua_getfield(L, -1, section);
  if (!lua_isnil(L, -1))
    return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, section);
}

/* Pushes a table of tables, with the facts by section and key. */
static void results_push_facts(lua_State *L, const struct bn_result *r)
{
  lua_newtable(L);
  for (size_t i = 0; i < r->facts.n_facts; i++) {
    const struct bn_fact *fact = &r->facts.fact[i];

    results_push_section(L, fact->section);
    results_push_fact(L, fact);
    lua_setfield(L, -2, fact->key);
    lua_pop(L, 1); /* the section */
  }
}

/* Pushes a list of the facts in the order of the document. */
static void results_push_fact_list(lua_State *L, const struct bn_result *r)
{
  static const char *const types[] = {
      [BN_FACT_TEXT] = "text", [BN_FACT_WHOLE] = "whole", [BN_FACT_REAL] = "real"};

  lua_createtable(L, (int)r->facts.n_facts, 0);
  for (size_t i = 0; i < r->facts.n_facts; i++) {
    const struct bn_fact *fact = &r->facts.fact[i];

    lua_createtable(L, 0, 4);
    bn_native_set_text(L, "section", fact->section);
    bn_native_set_text(L, "key", fact->key);
    bn_native_set_text(L, "type", types[fact->type]);
    results_push_fact(L, fact);
    lua_setfield(L, -2, "value");
    lua_rawseti(L, -2, (int)i + 1);
  }
}

static void results_push_numbers(lua_State *L, const double *x, size_t n)
{
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushnumber(L, x[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* Pushes a table of the plan, with its times also in seconds. */
static void results_push_plan(lua_State *L, const struct bn_result *r)
{
  const struct bn_plan *p = &r->facts.plan;

  lua_newtable(L);
  results_set_layout(L, bn_layout_plan, p);
  bn_native_set_number(L, "time_s", (double)p->time_ns * 1e-9);
  bn_native_set_number(L, "warmup_s", (double)p->warmup_ns * 1e-9);
  bn_native_set_number(L, "interval_s", (double)p->interval_ns * 1e-9);
  bn_native_set_switch(L, "own", p->native);
  bn_native_set_text(L, "dialect", p->native ? NULL : bn_layout_dialects[p->version]);
  results_push_numbers(L, p->percents, p->n_percents);
  lua_setfield(L, -2, "percents");
}

/* Pushes a table of the times of the start and the end of the run. */
static void results_push_times(lua_State *L, const struct bn_result *r)
{
  lua_newtable(L);
  results_set_layout(L, bn_layout_times, &r->facts);
}

/* Pushes a table of how the run ended; `signal` is absent without one. */
static void results_push_end(lua_State *L, const struct bn_result *r)
{
  lua_newtable(L);
  results_set_layout(L, bn_layout_end, &r->end);
  bn_native_set_text(L, "reason", bn_layout_reasons[r->end.reason]);
  if (r->end.signo != 0)
    bn_native_set_number(L, "signal", r->end.signo);
}

/* The members of a result that are made when they are asked for, and the functions that push them.
 */
static const struct {
  const char *name;
  void (*push)(lua_State *L, const struct bn_result *r);
} members[] = {
    {"end_", results_push_end},    {"fact_list", results_push_fact_list},
    {"facts", results_push_facts}, {"options", results_push_options},
    {"plan", results_push_plan},   {"times", results_push_times},
};

/* Sets the other members in the table on top.  The kind is that of the total, or else of the first
   interval.  The result of a run whose start failed has no group. */
static void results_set_members(lua_State *L, const struct bn_result *r)
{
  const struct bn_view *v = bn_result_total(r);

  bn_native_set_switch(L, "has_total", v != NULL);
  if (v == NULL && r->n_groups > 0 && r->group[0].n_intervals > 0)
    v = &r->group[0].interval[0].view;
  bn_native_set_text(L, "kind", v != NULL ? bn_layout_kinds[v->kind] : NULL);
  bn_native_set_text(L, "workload",
                     r->n_groups > 0 ? r->group[0].name
                                     : bn_facts_find_text(&r->facts, "workload", "name"));
  bn_int64_push_unsigned(L, r->facts.start_wall_ns); /* since 1970 */
  lua_setfield(L, -2, "start_wall_ns");
}

/* The metamethod __index of a result, with the methods as upvalue 1: returns a method or a member,
   or nil.  A member is made when it is first asked for, and kept in the environment of
   the result. */
static int results_index(lua_State *L)
{
  enum { RESULT = 1, NAME, METHOD, CACHE }; /* indices on the stack */
  const int methods = lua_upvalueindex(1);
  const char *name = luaL_checkstring(L, NAME);

  lua_settop(L, NAME);
  lua_pushvalue(L, NAME);
  lua_rawget(L, methods);
  if (!lua_isnil(L, METHOD))
    return 1;
  lua_getfenv(L, RESULT); /* at CACHE: the members that were made before */
  lua_getfield(L, CACHE, name);
  if (!lua_isnil(L, -1))
    return 1;
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
    if (strcmp(members[i].name, name) == 0) {
      members[i].push(L, &bn_native_check_result(L, RESULT)->stored.result);
      lua_pushvalue(L, -1);
      lua_setfield(L, CACHE, name);
      return 1;
    }
  return 1; /* the nil: there is no such member */
}

/* --- reading --- */

/* r:warn_skipped(path): logs which lines of a journal were passed over. */
static int results_warn_skipped(lua_State *L)
{
  bn_saved_warn_skipped(luaL_checkstring(L, 2), &bn_native_check_result(L, 1)->stored.passed);
  return 0;
}

/* Counts the bytes of a document that is about to be read, and collects garbage after many.  Lua
   would collect too late, because it sees only the few bytes of a userdata for each result. */
static void results_count_bytes(lua_State *L, const char *path)
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

/* Returns whether the file is a complete JSON document that does not claim to be a result, such as
   the table.json of a sweep. */
static bool results_is_foreign(const char *path)
{
  struct bn_buf text = {.max = FOREIGN_MAX};
  struct bn_node *document = NULL;

  if (bn_file_read(path, &text) == 0)
    document = bn_node_parse(text.data, text.len, NULL);
  const char *format = bn_node_get_text(bn_node_get(document, "format"));
  const bool is_result = format != NULL && strcmp(format, "bench result") == 0;
  const bool is_foreign = document != NULL && !is_result;

  bn_node_free(document);
  bn_buf_done(&text);
  return is_foreign;
}

/* native.read_at_most(bytes): sets the limit for documents that are read from now on, because a
   user has named them and they may be any files.  A study reads its own documents whatever their
   size. */
static int native_read_at_most(lua_State *L)
{
  (void)bn_int64_check(L, 1);
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, limit_key);
  return 0;
}

/* Returns the limit of native.read_at_most(), or that of all documents before the first call. */
static uint64_t results_get_byte_limit(lua_State *L)
{
  int64_t limit = (int64_t)BN_BOUND_FILE_BYTES;

  lua_getfield(L, LUA_REGISTRYINDEX, limit_key);
  (void)bn_int64_read(L, -1, &limit); /* nil leaves it */
  lua_pop(L, 1);
  return (uint64_t)limit;
}

/* native.result(path [, "totals"]): returns a result; nil and a sentence if the file cannot be
   read; or false and a sentence if it is a complete document of another kind.  "totals" leaves
   out the intervals, which take half of the time. */
static int native_result(lua_State *L)
{
  enum { ALL, TOTALS };
  enum { DROP_TREE = false };
  static const char *const parts[] = {[ALL] = "all", [TOTALS] = "totals", [TOTALS + 1] = NULL};
  const char *path = luaL_checkstring(L, 1);
  const bool only_totals = luaL_checkoption(L, 2, "all", parts) == TOTALS;
  struct bn_err err = {0};

  results_count_bytes(L, path);
  struct bn_native_result *r = lua_newuserdata(L, sizeof *r);

  *r = (struct bn_native_result){.open = false};
  bn_native_set_mark(L, BN_NATIVE_RESULT);
  lua_newtable(L);
  lua_setfenv(L, -2);
  const uint64_t max_bytes = results_get_byte_limit(L);
  const int rc = only_totals ? bn_store_load_totals(path, max_bytes, &r->stored, &err)
                             : bn_store_load(path, max_bytes, DROP_TREE, &r->stored, &err);

  r->open = rc == 0;
  if (r->open) {
    bn_facts_set_traits(&r->stored.result.facts, bn_native_get_traits(L));
    lua_getfenv(L, -1);
    results_set_members(L, &r->stored.result);
    lua_pop(L, 1);
    return 1;
  }
  if (!results_is_foreign(path))
    return bn_native_push_error(L, &err);
  lua_pushboolean(L, 0);
  lua_pushstring(L, err.text);
  return 2;
}

void bn_native_open_results(lua_State *L)
{
  static const luaL_Reg methods[] = {
      {"close", results_close}, {"warn_skipped", results_warn_skipped}, {NULL, NULL}};

  luaL_newmetatable(L, BN_NATIVE_RESULT);
  lua_pushcfunction(L, results_close);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  luaL_register(L, NULL, methods);
  luaL_register(L, NULL, bn_native_result_figures);
  luaL_register(L, NULL, bn_native_result_rows);
  luaL_register(L, NULL, bn_native_result_series);
  lua_pushcclosure(L, results_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

const luaL_Reg bn_native_results[] = {
    {"result", native_result}, {"read_at_most", native_read_at_most}, {NULL, NULL}};
