/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option tables of scripts become options of the program, and all options become `sysbench.opt`. */
#include "script/api/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/log.h"
#include "option/opt.h"
#include "script/vm/state.h"

/* The types of sysbench.cmdline, in their order. */
enum arg_type { ARG_NULL, ARG_BOOL, ARG_INT, ARG_SIZE, ARG_DOUBLE, ARG_STRING, ARG_LIST, ARG_FILE };

/* What a declared option owns besides its struct bn_opt. */
struct bn_script_option {
  char *name, *def, *help;
  int validate_ref; /* LUA_NOREF: none */
};

/* Messages name a place in the reference's own module, which users have seen and searched for. */
static int complain(lua_State *L, const char *fmt, const char *arg)
{
  lua_pushliteral(L, "[string \"sysbench.cmdline.lua\"]:141: ");
  lua_pushfstring(L, fmt, arg);
  lua_concat(L, 2);
  return lua_error(L);
}

/* Pushes sysbench.cmdline.options; false: nil, nothing pushed. */
static bool push_table(lua_State *L)
{
  bn_lua_push_field(bn_instance_of(L), "cmdline");
  lua_getfield(L, -1, "options");
  lua_remove(L, -2);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    return false;
  }
  if (!lua_istable(L, -1))
    complain(L, "wrong type for sysbench.cmdline.options: %s", luaL_typename(L, -1));
  return true;
}

/* The value at `index` as the text a user would type; pushes it, or nil for none. */
static void push_default(lua_State *L, int index, const char *name)
{
  struct bn_lua *lua = bn_instance_of(L);

  switch (lua_type(L, index)) {
  case LUA_TBOOLEAN:
    lua_pushstring(L, lua_toboolean(L, index) ? "on" : "off");
    return;
  case LUA_TTABLE:
    bn_buf_clear(&lua->text);
    for (int i = 1;; i++) {
      lua_rawgeti(L, index, i);
      if (lua_isnil(L, -1))
        break;
      if (!lua_isstring(L, -1))
        complain(L, "wrong type for list option %s", name);
      (void)bn_buf_printf(&lua->text, "%s%s", i > 1 ? "," : "", lua_tostring(L, -1));
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
    lua_pushstring(L, lua->text.data != NULL ? lua->text.data : "");
    return;
  case LUA_TSTRING:
  case LUA_TNUMBER:
    lua_pushvalue(L, index);
    (void)lua_tostring(L, -1);
    return;
  default:
    lua_pushnil(L);
  }
}

static enum arg_type type_of(lua_State *L, int def, int type, const char *name)
{
  const bool given = !lua_isnil(L, type);

  if (lua_istable(L, def)) {
    if (given && lua_tointeger(L, type) != ARG_LIST)
      complain(L, "wrong type for list option %s", name);
    return ARG_LIST;
  }
  if (given) {
    const lua_Integer n = lua_isnumber(L, type) ? lua_tointeger(L, type) : ARG_NULL;

    if (n <= ARG_NULL || n > ARG_FILE)
      complain(L, "cannot determine type for option %s", name);
    return (enum arg_type)n;
  }
  switch (lua_type(L, def)) {
  case LUA_TBOOLEAN:
    return ARG_BOOL;
  case LUA_TNUMBER:
    return ARG_DOUBLE;
  case LUA_TSTRING:
  case LUA_TNIL:
    return ARG_STRING;
  default:
    complain(L, "cannot determine type for option %s", name);
    return ARG_NULL;
  }
}

/* What one row of the table says; the description, default, type and validator are at `row` + 1 …
   4, the default as text at + 5. */
static enum arg_type read_row(lua_State *L, int row, const char *name)
{
  for (int i = 1; i <= 4; i++)
    lua_rawgeti(L, row, i);
  if (!lua_isstring(L, row + 1))
    complain(L, "nil description for option %s", name);
  const enum arg_type type = type_of(L, row + 2, row + 3, name);

  push_default(L, row + 2, name);
  return type;
}

/* Calls each(L, name, type) for every row, in byte order of the names; the row's parts are on the
   stack as read_row leaves them.  The options table is on top. */
static void each_row(lua_State *L,
                     void (*each)(lua_State *L, size_t i, const char *name, enum arg_type type))
{
  const int table = lua_gettop(L);
  const char *last = NULL;

  for (size_t i = 0;; i++) {
    const char *next = NULL;

    /* The least name above the last one: tables are small, and nothing needs to be sorted. */
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1))
        complain(L, "wrong table structure in sysbench.cmdline.options%s", "");
      const char *name = lua_tostring(L, -2);

      if ((last == NULL || strcmp(name, last) > 0) && (next == NULL || strcmp(name, next) < 0))
        next = name;
    }
    if (next == NULL)
      return;
    lua_getfield(L, table, next);
    each(L, i, next, read_row(L, table + 1, next));
    lua_settop(L, table);
    last = next;
  }
}

static void ignore_row(lua_State *L, size_t i, const char *name, enum arg_type type)
{
  (void)L;
  (void)i;
  (void)name;
  (void)type;
}

int bn_options_check(lua_State *L)
{
  lua_settop(L, 0);
  if (push_table(L))
    each_row(L, ignore_row);
  return 0;
}

static char *copy(lua_State *L, int index)
{
  const char *text = lua_tostring(L, index);

  return text != NULL ? strdup(text) : NULL;
}

/* The bundled workloads have options that older versions do not list: a row's field `since` is the
   first version that does, "bench" if none. */
static unsigned listed_in(lua_State *L, int row)
{
  unsigned in = BN_IN_ALL;

  lua_getfield(L, row, "since");
  if (lua_isstring(L, -1))
    in = strcmp(lua_tostring(L, -1), "1.1") == 0 ? BN_IN_11 : 0;
  lua_pop(L, 1);
  return in;
}

static void store_row(lua_State *L, size_t i, const char *name, enum arg_type type)
{
  static const enum bn_opt_type types[] = {
      [ARG_NULL] = BN_STRING, [ARG_BOOL] = BN_BOOL,     [ARG_INT] = BN_INT,
      [ARG_SIZE] = BN_SIZE,   [ARG_DOUBLE] = BN_DOUBLE, [ARG_STRING] = BN_STRING,
      [ARG_LIST] = BN_LIST,   [ARG_FILE] = BN_PATH};
  struct bn_script *sc = bn_instance_of(L)->script;
  struct bn_script_option *info = &sc->option_info[i];
  struct bn_opt *o = &sc->options[i];
  const int top = lua_gettop(L);

  info->name = strdup(name);
  info->help = copy(L, top - 4);
  info->def = copy(L, top);
  if (info->name == NULL || info->help == NULL)
    luaL_error(L, "not enough memory");
  if (lua_isfunction(L, top - 1)) {
    lua_pushvalue(L, top - 1);
    info->validate_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  o->name = info->name;
  o->help = info->help;
  o->def = info->def;
  o->type = types[type];
  o->in = listed_in(L, top - 5);
  o->offset = i * sizeof(union bn_option_value);
  sc->n_options = i + 1;
}

/* Reads the table into sc->options; arg 1: nothing. */
static int read_options(lua_State *L)
{
  struct bn_script *sc = bn_instance_of(L)->script;
  size_t n = 0;

  if (!push_table(L))
    return 0;
  each_row(L, ignore_row);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
    n++;
  sc->options = calloc(n + 1, sizeof *sc->options);
  sc->option_info = calloc(n + 1, sizeof *sc->option_info);
  sc->option_values = calloc(n + 1, sizeof(union bn_option_value));
  if (sc->options == NULL || sc->option_info == NULL || sc->option_values == NULL)
    return luaL_error(L, "not enough memory");
  for (size_t i = 0; i < n; i++)
    sc->option_info[i].validate_ref = LUA_NOREF;
  each_row(L, store_row);
  sc->has_options = true;
  return 0;
}

void bn_options_forget(struct bn_lua *lua)
{
  lua_State *L = lua->L;

  bn_lua_push_field(lua, "cmdline");
  if (lua_istable(L, -1)) {
    lua_pushliteral(L, "options");
    lua_pushnil(L);
    lua_rawset(L, -3);
  }
  lua_pop(L, 1);
}

void bn_options_free(struct bn_script *sc)
{
  for (size_t i = 0; i < sc->n_options; i++) {
    free(sc->option_info[i].name);
    free(sc->option_info[i].def);
    free(sc->option_info[i].help);
  }
  free(sc->option_group);
  free(sc->options);
  free(sc->option_info);
  free(sc->option_values);
}

/* --- validators ----------------------------------------------------------------------------------
 */

struct validation {
  struct bn_script *sc;
  int rc;
};

static bool same_name(const char *a, const char *b)
{
  for (; *a != '\0' && *b != '\0'; a++, b++)
    if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
      return false;
  return *a == *b;
}

/* Each option's own function gets name and value as strings; nil and false refuse the argument. */
static void validate(void *arg, const char *name, const char *value, const char *path,
                     unsigned line)
{
  struct validation *v = arg;
  struct bn_lua *lua = v->sc->main;
  size_t i = 0;

  (void)line;
  while (i < v->sc->n_options && !same_name(v->sc->options[i].name, name))
    i++;
  if (v->rc != 0 || path != NULL || i == v->sc->n_options ||
      v->sc->option_info[i].validate_ref == LUA_NOREF)
    return;
  lua_rawgeti(lua->L, LUA_REGISTRYINDEX, v->sc->option_info[i].validate_ref);
  lua_pushstring(lua->L, v->sc->options[i].name);
  lua_pushstring(lua->L, value != NULL ? value : "");
  v->rc = bn_lua_call(lua, 2, 1, "validate");
  if (v->rc != 0)
    return;
  if (!lua_toboolean(lua->L, -1)) {
    /* Worded and placed like an option nobody knows. */
    bn_log_stderr("invalid option: --%s%s%s", name, value != NULL ? "=" : "",
                  value != NULL ? value : "");
    v->rc = -1;
  }
  lua_pop(lua->L, 1);
}

int bn_script_options(struct bn_script *sc, bool *accepts_any, struct bn_err *err)
{
  struct validation v = {.sc = sc};
  char group[256];

  lua_pushcfunction(sc->main->L, read_options);
  if (bn_lua_call(sc->main, 0, 0, "sysbench.cmdline.read_cmdline_options") != 0)
    return -1;
  *accepts_any = sc->takes_any = bn_oldstyle_accepts_any(sc);
  if (!sc->has_options)
    return 0;
  bn_optset_each_pending(sc->setup.options, validate, &v);
  if (v.rc != 0)
    return -1;
  (void)snprintf(group, sizeof group, "%s options", sc->title);
  sc->option_group = strdup(group);
  if (sc->option_group == NULL)
    return bn_err_set(err, 0, "out of memory for the options");
  return bn_optset_add(sc->setup.options, sc->option_group, sc->options, sc->option_values, true,
                       err);
}

int bn_options_print(lua_State *L)
{
  const struct bn_script *sc = bn_instance_of(L)->script;
  const char *const groups[] = {sc->option_group};
  char *text = NULL;
  size_t len = 0;
  FILE *out = sc->option_group != NULL ? open_memstream(&text, &len) : NULL;

  if (out == NULL)
    return 0;
  (void)bn_optset_help(sc->setup.options, groups, 1, out);
  if (fclose(out) == 0) {
    lua_getglobal(L, "print");
    lua_pushfstring(L, "%s:\n%s", sc->option_group, text);
    free(text);
    lua_call(L, 1, 0);
    return 0;
  }
  free(text);
  return 0;
}
