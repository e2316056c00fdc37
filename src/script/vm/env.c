/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes script instances: an environment per script, and the internal modules that it uses. */
#include "script/vm/env.h"

#include <string.h>

#include "api/session.h"
#include "base/log.h"
#include "option/conf.h"
#include "script/vm/library.h"
#include "script/vm/lua.h"
#include "script/vm/require.h"

/* Keys of the registry: the internal modules that are loaded, the table `internal`, and the globals
   of the interpreter, which each environment copies. */
static const char key_modules[] = "bn.modules", key_internal[] = "bn.internal",
                  key_globals[] = "bn.globals";

/* Executes an internal module, with `internal` as its argument, and pushes its result. */
static void env_load_module(lua_State *L, const char *name)
{
  const struct bn_vm_module *m = bn_lua_current()->vm->table->modules;

  while (m->name != NULL && strcmp(m->name, name) != 0)
    m++;
  if (m->name == NULL)
    luaL_error(L, "no internal module '%s'", name);
  /* A chunk name after '=' is shown as it is: here as sysbench shows its modules. */
  lua_pushfstring(L, "=[string \"%s.lua\"]", name);
  if (luaL_loadbuffer(L, (const char *)m->data, m->size, lua_tostring(L, -1)) != 0)
    lua_error(L);
  lua_remove(L, -2); /* the chunk name */
  lua_getfield(L, LUA_REGISTRYINDEX, key_globals);
  lua_setfenv(L, -2);
  lua_getfield(L, LUA_REGISTRYINDEX, key_internal);
  lua_call(L, 1, 1);
}

/* Pushes an internal module, which is loaded when it is first used. */
static void env_push_module(lua_State *L, const char *name)
{
  lua_getfield(L, LUA_REGISTRYINDEX, key_modules);
  lua_getfield(L, -1, name);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    env_load_module(L, name);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
  }
  lua_remove(L, -2); /* the table of modules */
}

/* Returns a part of the C interface.  Raises an error if there is none of that name. */
static const struct bn_vm_part *env_find_part(lua_State *L, const char *name)
{
  const struct bn_vm_part *p = bn_lua_current()->vm->table->parts;

  while (p->name != NULL && strcmp(p->name, name) != 0)
    p++;
  if (p->name == NULL)
    luaL_error(L, "no part '%s' of the C interface", name);
  return p;
}

/* Declares a part of the C interface by the ffi table on top, unless it is declared already: the
   registry then has true under the address of the part. */
static void env_declare(lua_State *L, const char *name)
{
  const struct bn_vm_part *p = env_find_part(L, name);

  lua_pushlightuserdata(L, (void *)(uintptr_t)p);
  lua_rawget(L, LUA_REGISTRYINDEX);
  const bool is_declared = lua_toboolean(L, -1);

  lua_pop(L, 1);
  if (is_declared)
    return;
  lua_pushlightuserdata(L, (void *)(uintptr_t)p);
  lua_pushboolean(L, 1);
  lua_rawset(L, LUA_REGISTRYINDEX);
  lua_getfield(L, -1, "cdef");
  lua_pushstring(L, p->text);
  lua_call(L, 1, 0);
}

/* internal.module(name): returns the internal module of that name. */
static int env_get_module(lua_State *L)
{
  env_push_module(L, luaL_checkstring(L, 1));
  return 1;
}

/* internal.sysbench(): returns the table `sysbench` of the instance whose code runs. */
static int env_get_sysbench(lua_State *L)
{
  lua_rawgeti(L, LUA_REGISTRYINDEX, bn_lua_current()->sysbench_ref);
  return 1;
}

/* Pushes the table ffi of LuaJIT. */
static void env_push_ffi(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, key_internal);
  lua_getfield(L, -1, "ffi");
  lua_remove(L, -2);
}

/* internal.declare(part): declares a part of the C interface. */
static int env_declare_part(lua_State *L)
{
  const char *part = luaL_checkstring(L, 1);

  env_push_ffi(L);
  env_declare(L, part);
  return 0;
}

/* Calls the function internal[name], if there is one, with the value on top, which stays there.
   The function keeps the values of sessions or scripts apart, so it is called only if several of
   them share the interpreter. */
static void env_call_adopter(lua_State *L, const char *name)
{
  if (bn_lua_is_alone(bn_lua_current()))
    return;
  lua_getfield(L, LUA_REGISTRYINDEX, key_internal);
  lua_getfield(L, -1, name);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 2);
    return;
  }
  lua_pushvalue(L, -3); /* the value, below `internal` and the function */
  lua_call(L, 1, 0);
  lua_pop(L, 1); /* `internal` */
}

/* Implements __index of a script's `ffi`, which is empty until its first use calls this: declares
   the old names, fills the table with LuaJIT's entries, and returns the entry that was asked
   for. */
static int env_fill_ffi(lua_State *L)
{
  enum { SCRIPTS_FFI = 1, NAME, FFI }; /* indices on the stack */

  lua_settop(L, NAME);
  lua_pushnil(L); /* no metatable: the next use does not come here */
  lua_setmetatable(L, SCRIPTS_FFI);
  env_push_ffi(L);
  for (const char *const *part = bn_lua_current()->vm->table->old_parts; *part != NULL; part++)
    env_declare(L, *part);
  bn_lua_copy_entries(L, FFI, SCRIPTS_FFI);
  lua_pushvalue(L, SCRIPTS_FFI);
  env_call_adopter(L, "adopt_ffi");
  lua_pop(L, 1);
  lua_pushvalue(L, NAME);
  lua_rawget(L, SCRIPTS_FFI);
  return 1;
}

/* internal.log(level, text): logs a text. */
static int env_log_text(lua_State *L)
{
  bn_log_text((int)luaL_checkinteger(L, 1), luaL_checkstring(L, 2));
  return 0;
}

/* internal.log_traceback(text): prints the traceback of the current error on standard error,
   escaped, because it may quote a server.  It does not depend on the verbosity, but on whether
   asides are shown. */
static int env_log_traceback(lua_State *L)
{
  const char *text = luaL_checkstring(L, 1);

  if (bn_log_has_asides())
    bn_log_foreign(text);
  bn_lua_current()->traced = true;
  return 0;
}

/* Implements __index of `internal`: adds a lazy function when it is first used.  Most interpreters
   use none of them, and without them the table is half as large. */
static int env_index_internal(lua_State *L)
{
  const luaL_Reg *lazy = bn_lua_current()->vm->table->lazy_functions;
  lua_CFunction f = bn_lua_find_function(lazy, luaL_checkstring(L, 2));

  if (f == NULL)
    return 0;
  lua_pushcfunction(L, f);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 1);
  return 1;
}

/* Sets internal.C, the table by which modules call C functions.  It is ffi.C or, if sessions share
   the interpreter, the module sysbench.shared, whose functions let other sessions go on while one
   waits. */
static void env_set_c_functions(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, key_internal);
  if (bn_lua_current()->shared != NULL) {
    env_push_module(L, "sysbench.shared");
  } else {
    lua_getfield(L, -1, "ffi");
    lua_getfield(L, -1, "C");
    lua_remove(L, -2); /* ffi */
  }
  lua_setfield(L, -2, "C");
  lua_pop(L, 1); /* internal */
}

int bn_env_run_mix(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();

  env_push_module(L, "sysbench.mix");
  lua_rawgeti(L, LUA_REGISTRYINDEX, lua->env_ref);
  lua_rawgeti(L, LUA_REGISTRYINDEX, lua->sysbench_ref);
  lua_pushboolean(L, lua->worker);
  lua_pushstring(L, lua->vm->setup->command);
  lua_pushboolean(L, bn_log_get_verbosity() >= BN_DEBUG);
  lua_call(L, 5, 0);
  return 0;
}

/* Keeps pcall and xpcall for bn_lua_begin_call(), whatever a script puts in their place later. */
static void env_keep_protected_calls(lua_State *L)
{
  lua_getglobal(L, "pcall");
  lua_setfield(L, LUA_REGISTRYINDEX, "bn.pcall");
  lua_getglobal(L, "xpcall");
  lua_setfield(L, LUA_REGISTRYINDEX, "bn.xpcall");
}

/* Makes the table `internal`, in which modules find LuaJIT's ffi and the functions that are written
   in C, and keeps it in the registry. */
static void env_make_internal(lua_State *L)
{
  static const luaL_Reg env_functions[] = {
      {"module", env_get_module},           {"sysbench", env_get_sysbench},
      {"declare", env_declare_part},        {"log", env_log_text},
      {"log_traceback", env_log_traceback}, {NULL, NULL}};
  const struct bn_vm_table *table = bn_lua_current()->vm->table;

  lua_createtable(L, 0, 14); /* room for the entries that all interpreters have */
  luaL_register(L, NULL, env_functions);
  luaL_register(L, NULL, table->functions);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "ffi");
  lua_call(L, 1, 1);
  env_declare(L, table->parts[0].name);
  lua_setfield(L, -2, "ffi");
  lua_createtable(L, 0, 1); /* the metatable */
  lua_pushcfunction(L, env_index_internal);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, key_internal);
}

void bn_env_make_shared(lua_State *L)
{
  bn_library_wrap(L);
  if (bn_lua_current()->shared != NULL)
    env_keep_protected_calls(L);
  lua_newtable(L);
  lua_setfield(L, LUA_REGISTRYINDEX, key_modules);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_setfield(L, LUA_REGISTRYINDEX, key_globals);
  env_make_internal(L);
  /* This may execute an internal module, which needs the tables above. */
  env_set_c_functions(L);
}

/* Pushes a new environment: a copy of the shared globals with an `ffi` of its own.  A table that
   falls back to the globals would be smaller, but in a copy pairs(_G) shows the names that it shows
   in the reference, and a look-up costs nothing extra. */
static void env_push_environment(lua_State *L)
{
  lua_createtable(L, 0, 56); /* room for the globals, so that the copy is not rehashed */
  bn_lua_copy_entries(L, LUA_GLOBALSINDEX, lua_gettop(L));
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "_G");
  lua_newtable(L);          /* `ffi` */
  lua_createtable(L, 0, 1); /* its metatable */
  lua_pushcfunction(L, env_fill_ffi);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "ffi");
}

/* Pushes a new table `sysbench` with the entries whose values are known in C; module "sysbench"
   adds the others. */
static void env_push_sysbench(struct bn_lua *lua)
{
  lua_State *L = lua->L;
  const char *version = lua->vm->setup->conf->policy->script_version;

  lua_createtable(L, 0, 16);
  lua_pushinteger(L, (lua_Integer)lua->session->number);
  lua_setfield(L, -2, "tid");
  lua_pushstring(L, version);
  lua_setfield(L, -2, "version");
  lua_pushfstring(L, "sysbench %s", version);
  lua_setfield(L, -2, "version_string");
  lua_newtable(L);
  lua_setfield(L, -2, "hooks");
}

void bn_env_push_instance(struct bn_lua *lua, enum bn_old_names old)
{
  /* The words by which module "sysbench" learns when old names appear; nil: never. */
  static const char *const words[] = {
      [BN_OLD_NONE] = NULL, [BN_OLD_ON_DEMAND] = "on demand", [BN_OLD_NOW] = "now"};
  lua_State *L = lua->L;
  const int env = lua_gettop(L) + 1, sysbench = env + 1; /* indices on the stack */

  env_push_environment(L);
  env_call_adopter(L, "adopt");
  bn_require_open(lua);
  env_push_sysbench(lua);
  lua_pushvalue(L, sysbench);
  lua_setfield(L, env, "sysbench");
  env_push_module(L, "sysbench");
  lua_pushvalue(L, env);
  lua_pushvalue(L, sysbench);
  lua_pushboolean(L, !lua->worker);
  lua_pushboolean(L, bn_log_get_verbosity() >= BN_DEBUG);
  lua_pushstring(L, words[old]);
  lua_call(L, 5, 1); /* the module returns thread_run */
  lua_pushvalue(L, -1);
  lua_setfield(L, env, "thread_run");
}

void bn_env_make(struct bn_lua *lua)
{
  lua_State *L = lua->L;

  bn_env_push_instance(lua, lua->vm->old_names);
  /* luaL_ref() pops the value on top: thread_run, then sysbench, then the environment. */
  lua->thread_run_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua->sysbench_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushvalue(L, -1);
  lua->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  /* load, loadstring, loadfile and module take the environment of new code from here. */
  lua_replace(L, LUA_GLOBALSINDEX);
}
