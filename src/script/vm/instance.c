/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Script instances: an environment of their own per script, and the internal modules they use. */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/log.h"
#include "option/conf.h"
#include "script/api/ffi_internal.h"
#include "script/api/options.h"
#include "script/vm/state.h"

struct module {
  const char *name;
  const unsigned char *data;
  size_t size;
};

static const struct module modules[] = {
#include "script/bn_lua_modules.inc"
};

/* The C interface in the parts that are declared as they are needed: an interpreter pays for each.
 */
static const struct part {
  const char *name, *text;
} parts[] = {
    {
        "event",
#include "script/bn_ffi_cdef.inc"
    },
    {
        "rand",
#include "script/bn_ffi_rand_cdef.inc"
    },
    {
        "hist",
#include "script/bn_ffi_hist_cdef.inc"
    },
    {
        "sql",
#include "script/bn_ffi_sql_cdef.inc"
    },
    {
        "sql_more",
#include "script/bn_ffi_sql_more_cdef.inc"
    },
    {
        "compat",
#include "script/bn_compat_cdef.inc"
    },
    {
        "compat_sql",
#include "script/bn_compat_sql_cdef.inc"
    },
};

/* Keys of the registry. */
static const char key_modules[] = "bn.modules", key_internal[] = "bn.internal",
                  key_globals[] = "bn.globals";

struct bn_lua *bn_instance_of(lua_State *L)
{
  (void)L;
  return bn_ffi_lua();
}

void bn_instance_module(lua_State *L, const char *name)
{
  lua_getfield(L, LUA_REGISTRYINDEX, key_modules);
  lua_getfield(L, -1, name);
  if (!lua_isnil(L, -1)) {
    lua_remove(L, -2);
    return;
  }
  lua_pop(L, 1);
  size_t i = 0;

  while (i < sizeof modules / sizeof modules[0] && strcmp(modules[i].name, name) != 0)
    i++;
  if (i == sizeof modules / sizeof modules[0])
    luaL_error(L, "no internal module '%s'", name);
  lua_pushfstring(L, "=[string \"%s.lua\"]", name);
  if (luaL_loadbuffer(L, (const char *)modules[i].data, modules[i].size, lua_tostring(L, -1)) != 0)
    lua_error(L);
  lua_remove(L, -2);
  lua_getfield(L, LUA_REGISTRYINDEX, key_globals);
  lua_setfenv(L, -2);
  lua_getfield(L, LUA_REGISTRYINDEX, key_internal);
  lua_call(L, 1, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_remove(L, -2);
}

/* Declares a part of the C interface, unless it has been, to the ffi table on top. */
static void declare(lua_State *L, const char *part)
{
  size_t i = 0;

  while (i < sizeof parts / sizeof parts[0] && strcmp(parts[i].name, part) != 0)
    i++;
  if (i == sizeof parts / sizeof parts[0])
    luaL_error(L, "no part '%s' of the C interface", part);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&parts[i]);
  lua_rawget(L, LUA_REGISTRYINDEX);
  const bool known = lua_toboolean(L, -1);

  lua_pop(L, 1);
  if (known)
    return;
  lua_pushlightuserdata(L, (void *)(uintptr_t)&parts[i]);
  lua_pushboolean(L, 1);
  lua_rawset(L, LUA_REGISTRYINDEX);
  lua_getfield(L, -1, "cdef");
  lua_pushstring(L, parts[i].text);
  lua_call(L, 1, 0);
}

/* internal.module(name) */
static int internal_module(lua_State *L)
{
  bn_instance_module(L, luaL_checkstring(L, 1));
  return 1;
}

/* internal.sysbench(): the table of the instance whose code runs. */
static int internal_sysbench(lua_State *L)
{
  lua_rawgeti(L, LUA_REGISTRYINDEX, bn_instance_of(L)->sysbench_ref);
  return 1;
}

/* internal.cmdline(): a new sysbench.cmdline. */
static int internal_cmdline(lua_State *L)
{
  bn_cmdline_make(bn_instance_of(L));
  return 1;
}

static void push_ffi(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, key_internal);
  lua_getfield(L, -1, "ffi");
  lua_remove(L, -2);
}

/* internal.declare(part) */
static int internal_declare(lua_State *L)
{
  const char *part = luaL_checkstring(L, 1);

  push_ffi(L);
  declare(L, part);
  return 0;
}

static void copy_entries(lua_State *L, int from, int to)
{
  lua_pushnil(L);
  while (lua_next(L, from) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, to);
  }
}

/* __index of a script's `ffi`: its first use declares the old names and makes it a plain table. */
static int unfold_ffi(lua_State *L)
{
  lua_settop(L, 2);
  lua_pushnil(L);
  lua_setmetatable(L, 1);
  push_ffi(L);
  declare(L, "compat");
  declare(L, "sql");
  declare(L, "sql_more");
  declare(L, "compat_sql");
  copy_entries(L, 3, 1);
  lua_pushvalue(L, 2);
  lua_rawget(L, 1);
  return 1;
}

/* internal.log(level, text) */
static int internal_log(lua_State *L)
{
  bn_log_text((int)luaL_checkinteger(L, 1), luaL_checkstring(L, 2));
  return 0;
}

/* internal.declares_options(): whether the script is of the newer kind. */
static int internal_declares_options(lua_State *L)
{
  lua_pushboolean(L, bn_instance_of(L)->script->has_options);
  return 1;
}

int bn_instance_dialect(lua_State *L)
{
  static const char *const names[] = {[BN_V05] = "0.5", [BN_V10] = "1.0", [BN_V11] = "1.1"};
  const struct bn_conf *conf = bn_instance_of(L)->script->setup.conf;

  if (!conf->explicit_dialect)
    return 0;
  lua_pushstring(L, names[conf->version]);
  return 1;
}

/* internal.complain(text): one line on stderr. */
static int internal_complain(lua_State *L)
{
  bn_log_stderr("%s", luaL_checkstring(L, 1));
  return 0;
}

/* internal.note_traced(): the error on its way has its traceback. */
static int internal_note_traced(lua_State *L)
{
  bn_instance_of(L)->traced = true;
  return 0;
}

/* internal.json_next(): false: this is the first object of report_json's array. */
static int internal_json_next(lua_State *L)
{
  struct bn_lua *lua = bn_instance_of(L);

  lua_pushboolean(L, lua->json_open);
  lua->json_open = true;
  return 1;
}

/* internal.percentile(): the rank of latency_pct as a text. */
static int internal_percentile(lua_State *L)
{
  const struct bn_conf *conf = bn_instance_of(L)->script->setup.conf;

  lua_pushnumber(L, conf->n_percents > 0 ? conf->percents[0] : 0);
  (void)lua_tostring(L, -1);
  return 1;
}

/* print, but a line at a time: the pieces of two threads' lines do not mix.  Upvalues: first the
   table io, then io.stdout and its write method. */
static int print_line(lua_State *L)
{
  const int n = lua_gettop(L);

  if (lua_isnil(L, lua_upvalueindex(2))) {
    lua_getfield(L, lua_upvalueindex(1), "stdout");
    lua_getfield(L, -1, "write");
    lua_replace(L, lua_upvalueindex(2));
    lua_replace(L, lua_upvalueindex(1));
  }
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, lua_upvalueindex(1));
  luaL_checkstack(L, 2 * n + 2, "too many arguments");
  for (int i = 1; i <= n; i++) {
    if (i > 1)
      lua_pushliteral(L, "\t");
    if (lua_isstring(L, i)) {
      lua_pushvalue(L, i);
      continue;
    }
    lua_getglobal(L, "tostring");
    lua_pushvalue(L, i);
    lua_call(L, 1, 1);
    if (!lua_isstring(L, -1))
      return luaL_error(L, "'tostring' must return a string to 'print'");
  }
  lua_pushliteral(L, "\n");
  lua_concat(L, n > 0 ? 2 * n : 1);
  lua_call(L, 2, 0);
  return 0;
}

static void open_print(lua_State *L)
{
  lua_getglobal(L, "io");
  lua_pushnil(L);
  lua_pushcclosure(L, print_line, 2);
  lua_setglobal(L, "print");
}

/* dofile and loadfile, upvalue 1: also of files in old installations, and remembered. */
static int run_file(lua_State *L)
{
  const struct bn_lua *lua = bn_instance_of(L);
  const char *path = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
  char *instead = path != NULL ? bn_find_instead(lua->script, path, lua->worker) : NULL;

  if (instead != NULL) {
    lua_pushstring(L, instead);
    lua_replace(L, 1);
    free(instead);
    path = lua_tostring(L, 1);
  }
  if (path != NULL && !lua->worker)
    bn_chunk_note(lua->script, path);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static void wrap_file_runner(lua_State *L, const char *name)
{
  lua_getglobal(L, name);
  lua_pushcclosure(L, run_file, 1);
  lua_setglobal(L, name);
}

static const luaL_Reg late_libraries[] = {
    {LUA_IOLIBNAME, luaopen_io},   {LUA_OSLIBNAME, luaopen_os},     {LUA_DBLIBNAME, luaopen_debug},
    {LUA_BITLIBNAME, luaopen_bit}, {LUA_MATHLIBNAME, luaopen_math}, {NULL, NULL}};

/* __index of a library's table that is empty yet, and what the instance's pairs() calls with it;
   upvalue 1: its row. */
static int fill_library(lua_State *L)
{
  const luaL_Reg *library = &late_libraries[lua_tointeger(L, lua_upvalueindex(1))];

  lua_settop(L, 2);
  lua_pushnil(L);
  lua_setmetatable(L, 1);
  /* A library opens in the table that is known as loaded. */
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, library->name);
  lua_pushcfunction(L, library->func);
  lua_pushstring(L, library->name);
  lua_call(L, 1, 0);
  lua_settop(L, 2);
  lua_pushvalue(L, 1);
  bn_library_wrap(L, library->name);
  lua_pushvalue(L, 2);
  lua_rawget(L, 1);
  return 1;
}

void bn_instance_open_late(lua_State *L)
{
  for (int i = 0; late_libraries[i].name != NULL; i++) {
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, i);
    lua_pushcclosure(L, fill_library, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "bn.complete");
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, late_libraries[i].name);
    lua_pop(L, 1);
    lua_setglobal(L, late_libraries[i].name);
  }
}

/* Libraries that are open already. */
static void wrap_open_libraries(lua_State *L)
{
  for (int i = 0; late_libraries[i].name != NULL; i++) {
    lua_getglobal(L, late_libraries[i].name);
    if (lua_getmetatable(L, -1))
      lua_pop(L, 1);
    else
      bn_library_wrap(L, late_libraries[i].name);
    lua_pop(L, 1);
  }
}

/* Once per interpreter: what its instances share. */
static void open_shared(lua_State *L)
{
  static const luaL_Reg functions[] = {{"module", internal_module},
                                       {"sysbench", internal_sysbench},
                                       {"cmdline", internal_cmdline},
                                       {"declare", internal_declare},
                                       {"fill_options", bn_options_fill},
                                       {"declares_options", internal_declares_options},
                                       {"option", bn_options_get},
                                       {"log", internal_log},
                                       {"complain", internal_complain},
                                       {"dialect", bn_instance_dialect},
                                       {"json_next", internal_json_next},
                                       {"percentile", internal_percentile},
                                       {"note_traced", internal_note_traced},
                                       {NULL, NULL}};

  open_print(L);
  wrap_file_runner(L, "dofile");
  wrap_file_runner(L, "loadfile");
  wrap_open_libraries(L);
  lua_newtable(L);
  lua_setfield(L, LUA_REGISTRYINDEX, key_modules);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_setfield(L, LUA_REGISTRYINDEX, key_globals);
  lua_createtable(L, 0, 15);
  luaL_register(L, NULL, functions);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "ffi");
  lua_call(L, 1, 1);
  declare(L, "event");
  lua_setfield(L, -2, "ffi");
  lua_setfield(L, LUA_REGISTRYINDEX, key_internal);
}

/* Pushes a copy of the shared globals.  A copy, not a table that falls back to them: pairs(_G)
   shows what it shows in the reference, and a look-up costs nothing extra. */
static void push_environment(lua_State *L)
{
  lua_createtable(L, 0, 56);
  copy_entries(L, LUA_GLOBALSINDEX, lua_gettop(L));
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "_G");
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, unfold_ffi);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "ffi");
}

static const char *version_of(enum bn_version version)
{
  static const char *const names[] = {[BN_V05] = "0.5", [BN_V10] = "1.0.20", [BN_V11] = "1.1.0"};

  return names[version];
}

static void push_sysbench(struct bn_lua *lua)
{
  lua_State *L = lua->L;
  const char *version = version_of(lua->script->setup.conf->version);

  lua_createtable(L, 0, 16);
  lua_pushinteger(L, (lua_Integer)lua->tid);
  lua_setfield(L, -2, "tid");
  lua_pushstring(L, version);
  lua_setfield(L, -2, "version");
  lua_pushfstring(L, "sysbench %s", version);
  lua_setfield(L, -2, "version_string");
  lua_newtable(L);
  lua_setfield(L, -2, "hooks");
}

/* When the names of the 0.5 interface appear. */
static void push_old_names(lua_State *L, const struct bn_script *sc)
{
  switch (sc->old_names) {
  case BN_OLD_NOW:
    lua_pushliteral(L, "now");
    break;
  case BN_OLD_ON_DEMAND:
    lua_pushliteral(L, "on demand");
    break;
  case BN_OLD_NONE:
    lua_pushnil(L);
  }
}

void bn_instance_make(struct bn_lua *lua)
{
  lua_State *L = lua->L;

  open_shared(L);
  push_environment(L);
  lua_pushvalue(L, -1);
  lua->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  bn_require_open(lua);
  push_sysbench(lua);
  lua_pushvalue(L, -1);
  lua->sysbench_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "sysbench");
  bn_instance_module(L, "sysbench");
  lua_pushvalue(L, -3);
  lua_pushvalue(L, -3);
  lua_pushboolean(L, !lua->worker);
  lua_pushboolean(L, bn_log_get_verbosity() >= BN_DEBUG);
  push_old_names(L, lua->script);
  lua_call(L, 5, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -4, "thread_run");
  lua->thread_run_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pop(L, 1);
  /* load, loadstring, loadfile and module take the environment of new code from here. */
  lua_replace(L, LUA_GLOBALSINDEX);
}
