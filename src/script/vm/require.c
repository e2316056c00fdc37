/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `package` and `require` of a script instance: search paths, loaders and loaded modules. */
#include "script/vm/require.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/buf.h"
#include "base/log.h"
#include "option/conf.h"
#include "script/setup.h"
#include "script/vm/chunk.h"
#include "script/vm/lua.h"
#include "script/vm/module_path.h"

static const char loading = 0; /* its address marks a module that is being loaded */

/* Pushes package[name] as a string of the instance; upvalue 1 of all loaders is `package`. */
static const char *require_path_of(lua_State *L, const char *name)
{
  lua_getfield(L, lua_upvalueindex(1), name);
  if (!lua_isstring(L, -1))
    luaL_error(L, "'package.%s' must be a string", name);
  return lua_tostring(L, -1);
}

/* Searches package[field] for the module; pushes and returns the file's name, or pushes the tried
   names and returns NULL. */
static const char *require_search(lua_State *L, const char *field, const char *name)
{
  const char *path = require_path_of(L, field);
  struct bn_buf tried;

  bn_buf_init(&tried, 0);
  char *file = bn_module_path_search(path, name, &tried);

  /* LuaJIT's own modules are on its default path (upvalue 2). */
  if (file == NULL && strncmp(name, "jit.", 4) == 0 && strcmp(field, "path") == 0)
    file = bn_module_path_search(lua_tostring(L, lua_upvalueindex(2)), name, NULL);

  const bool found = file != NULL;

  if (found)
    lua_pushstring(L, file);
  else
    lua_pushstring(L, tried.data != NULL ? tried.data : "");
  bn_buf_done(&tried);
  free(file);
  return found ? lua_tostring(L, -1) : NULL;
}

static int require_load_error(lua_State *L, const char *file, const char *message)
{
  return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s", lua_tostring(L, 1), file,
                    message);
}

/* The loaders get the name of a module.  Each returns the function that makes the module, a text
   that says where it has looked, or nothing; an error ends the search. */
static int require_load_preloaded(lua_State *L)
{
  lua_getfield(L, lua_upvalueindex(1), "preload");
  if (!lua_istable(L, -1))
    return luaL_error(L, "'package.preload' must be a table");
  lua_getfield(L, -1, luaL_checkstring(L, 1));
  if (lua_isnil(L, -1))
    lua_pushfstring(L, "\n\tno field package.preload['%s']", lua_tostring(L, 1));
  return 1;
}

/* Pushes the module's file in the script's own folder and returns it, or NULL. */
static const char *require_in_own_folder(lua_State *L)
{
  const char *dir = bn_lua_current()->place->dir;

  if (dir == NULL)
    return NULL;
  lua_pushfstring(L, "%s?.lua", dir);
  char *file = bn_module_path_search(lua_tostring(L, -1), luaL_checkstring(L, 1), NULL);

  lua_pop(L, 1);
  if (file == NULL)
    return NULL;
  lua_pushstring(L, file);
  free(file);
  return lua_tostring(L, -1);
}

/* The parts of a script stay together wherever it runs from: a common.lua in the working directory
   does not belong to our workloads, nor to a script that was sent.  Nor does one that has the name
   of a bundled module belong to any script elsewhere; sysbench takes it. */
static bool require_looks_beside_first(const struct bn_lua *lua, const char *name)
{
  const bool decided = lua->place->set == BN_SET_LEGACY || lua->place->sent;
  char *bundled = NULL;

  if (!decided && lua->vm->setup->conf->policy->dialect == NULL)
    bundled = bn_script_file_hidden(lua->vm->setup, name, "");
  free(bundled);
  return decided || bundled != NULL;
}

/* The module on the path is in the working directory, which is not the folder of the script: the
   bundled module of that name takes its place. */
static bool require_is_astray(const struct bn_lua *lua, const char *file)
{
  return lua->vm->setup->conf->policy->dialect == NULL && lua->place->dir != NULL &&
         strncmp(file, "./", 2) == 0;
}

/* A file beside the script, or one that the user has put on the path, hides the bundled module of
   its name, which is logged once.  Returns the file to load; with `astray` that is the bundled one.
 */
static const char *require_find_before_bundle(lua_State *L, const char *file, bool astray)
{
  const struct bn_lua *lua = bn_lua_current();
  const char *name = lua_tostring(L, 1);
  char *hidden = bn_script_file_hidden(lua->vm->setup, name, file);

  if (hidden == NULL)
    return file;
  if (!lua->worker && astray)
    bn_log_note("module '%s' is the bundled one, and not '%s'", name, file);
  else if (!lua->worker)
    bn_log_apart("module '%s' is '%s', which hides the bundled one", name, file);
  if (astray) {
    lua_pushstring(L, hidden);
    file = lua_tostring(L, -1);
  }
  free(hidden);
  return file;
}

/* Returns the file of module 1, or NULL with the names that were tried on top. */
static const char *require_find_lua(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();
  const char *file =
      require_looks_beside_first(lua, luaL_checkstring(L, 1)) ? require_in_own_folder(L) : NULL;
  bool astray = false;

  if (file == NULL) {
    file = require_search(L, "path", luaL_checkstring(L, 1));
    astray = file != NULL && require_is_astray(lua, file);
  }
  if (file == NULL)
    file = require_in_own_folder(L);
  return file != NULL ? require_find_before_bundle(L, file, astray) : NULL;
}

static int require_load_lua(lua_State *L)
{
  const char *file = require_find_lua(L);
  struct bn_buf msg;

  if (file == NULL)
    return 1;
  bn_buf_init(&msg, 0);
  const struct bn_chunk *c = bn_chunks_file(bn_lua_current()->vm->chunks, L, file, &msg);

  lua_pushstring(L, msg.data);
  bn_buf_done(&msg);
  if (c == NULL || bn_chunk_push(L, c) != 0)
    return require_load_error(L, file, lua_tostring(L, -1));
  return 1;
}

/* Pushes function luaopen_NAME of the file and returns true.  Returns false if the file lacks that
   function; a file that cannot be loaded is an error. */
static bool require_load_library(lua_State *L, const char *file)
{
  const char *name = lua_tostring(L, 1);
  const char *mark = strchr(name, '-');

  lua_getfield(L, lua_upvalueindex(1), "loadlib");
  lua_pushstring(L, file);
  lua_pushliteral(L, "luaopen_");
  luaL_gsub(L, mark != NULL ? mark + 1 : name, ".", "_");
  lua_concat(L, 2);
  lua_call(L, 2, 3); /* the function, or nil, a message and the step that failed */
  const bool found = !lua_isnil(L, -3);
  const char *step = lua_tostring(L, -1);

  if (!found && (step == NULL || strcmp(step, "init") != 0))
    (void)require_load_error(L, file, lua_tostring(L, -2));

  lua_pop(L, found ? 2 : 1); /* the message stays for the caller */
  return found;
}

static int require_load_c(lua_State *L)
{
  const char *file = require_search(L, "cpath", luaL_checkstring(L, 1));

  if (file != NULL && !require_load_library(L, file))
    return require_load_error(L, file, lua_tostring(L, -1));
  return 1;
}

/* Loads a submodule from the library of its root: "a.b" in a.so.  Another loader may still find a
   submodule that the library does not have. */
static int require_load_croot(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  const char *dot = strchr(name, '.');

  if (dot == NULL)
    return 0;
  lua_pushlstring(L, name, (size_t)(dot - name));
  const char *file = require_search(L, "cpath", lua_tostring(L, -1));

  if (file != NULL && !require_load_library(L, file))
    lua_pushfstring(L, "\n\tno module '%s' in file '%s'", name, file);
  return 1;
}

/* Leaves the loader's function on top, or raises an error with all names that were tried. */
static void require_find_loader(lua_State *L, const char *name)
{
  lua_getfield(L, lua_upvalueindex(1), "loaders");
  if (!lua_istable(L, -1))
    luaL_error(L, "'package.loaders' must be a table");
  const int loaders = lua_gettop(L);

  lua_pushliteral(L, "");
  for (int i = 1;; i++) {
    lua_rawgeti(L, loaders, i);
    if (lua_isnil(L, -1))
      luaL_error(L, "module '%s' not found:%s", name, lua_tostring(L, -2));
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    if (lua_isfunction(L, -1))
      return;
    if (lua_isstring(L, -1))
      lua_concat(L, 2);
    else
      lua_pop(L, 1);
  }
}

/* `require` of LuaJIT, with the package of this instance in place of the one that all instances of
   a process share. */
static int require_module(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);

  lua_settop(L, 1);
  lua_getfield(L, lua_upvalueindex(1), "loaded"); /* at 2 */
  lua_getfield(L, 2, name);
  if (lua_toboolean(L, -1)) {
    if (lua_touserdata(L, -1) == &loading)
      return luaL_error(L, "loop or previous error loading module '%s'", name);
    return 1;
  }
  require_find_loader(L, name);
  /* The old function `module` writes to this table, and another instance may have been opened. */
  lua_pushvalue(L, 2);
  lua_setfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_pushlightuserdata(L, (void *)(uintptr_t)&loading);
  lua_setfield(L, 2, name);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  if (!lua_isnil(L, -1))
    lua_setfield(L, 2, name);
  lua_getfield(L, 2, name);
  if (lua_touserdata(L, -1) == &loading) {
    lua_pushboolean(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
  }
  return 1;
}

/* Pushes a copy of the table `name` of the shared package. */
static void require_copy_table(lua_State *L, int shared, const char *name)
{
  lua_getfield(L, shared, name);
  lua_newtable(L);
  bn_lua_copy_entries(L, lua_gettop(L) - 1, lua_gettop(L));
  lua_remove(L, -2);
}

static void require_push_loaders(lua_State *L, int shared, int package)
{
  static const lua_CFunction loaders[] = {require_load_preloaded, require_load_lua, require_load_c,
                                          require_load_croot};
  enum { N_LOADERS = sizeof loaders / sizeof *loaders };

  lua_createtable(L, N_LOADERS, 0);
  for (int i = 0; i < N_LOADERS; i++) {
    lua_pushvalue(L, package);
    lua_getfield(L, shared, "path");
    lua_pushcclosure(L, loaders[i], 2);
    lua_rawseti(L, -2, i + 1);
  }
}

void bn_require_open(struct bn_lua *lua)
{
  lua_State *L = lua->L;
  const int env = lua_gettop(L);

  lua_getfield(L, env, "package");
  const int shared = env + 1, package = env + 2;

  lua_newtable(L);
  bn_lua_copy_entries(L, shared, package);
  require_copy_table(L, shared, "loaded");
  lua_pushvalue(L, env);
  lua_setfield(L, -2, "_G");
  lua_pushvalue(L, package);
  lua_setfield(L, -2, "package");
  lua_getfield(L, env, "ffi");
  lua_setfield(L, -2, "ffi");
  /* The old function `module` must write to the table that this `require` reads. */
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_setfield(L, package, "loaded");
  require_copy_table(L, shared, "preload");
  lua_setfield(L, package, "preload");
  require_push_loaders(L, shared, package);
  lua_setfield(L, package, "loaders");
  lua_pushstring(L, lua->vm->path);
  lua_setfield(L, package, "path");
  lua_pushstring(L, lua->vm->cpath);
  lua_setfield(L, package, "cpath");
  lua_pushvalue(L, package);
  lua_pushcclosure(L, require_module, 1);
  lua_setfield(L, env, "require");
  lua_setfield(L, env, "package");
  lua_settop(L, env);
}
