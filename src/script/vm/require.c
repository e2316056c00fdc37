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

static const char loading_mark = 0; /* its address marks a module that is being loaded */

/* The upvalues of `require` and of the loaders: the instance's `package`; and, for loaders alone,
   LuaJIT's default path, on which its own modules are. */
enum { INSTANCE_PACKAGE = 1, DEFAULT_PATH, N_LOADER_UPVALUES = DEFAULT_PATH };

/* Pushes the path, frees it and returns the pushed text.  For NULL returns NULL and pushes
   nothing. */
static const char *require_push_file(lua_State *L, char *file)
{
  if (file == NULL)
    return NULL;
  lua_pushstring(L, file);
  free(file);
  return lua_tostring(L, -1);
}

/* Searches the path package[field] for a module.  Pushes and returns the name of its file, or
   pushes the names that were tried and returns NULL.  Raises an error if the path is no string. */
static const char *require_search(lua_State *L, const char *field, const char *name)
{
  const bool is_of_luajit = strncmp(name, "jit.", 4) == 0 && strcmp(field, "path") == 0;
  struct bn_buf tried;

  lua_getfield(L, lua_upvalueindex(INSTANCE_PACKAGE), field);
  if (!lua_isstring(L, -1))
    luaL_error(L, "'package.%s' must be a string", field);
  bn_buf_init(&tried, 0);
  char *file = bn_module_path_search(lua_tostring(L, -1), name, &tried);

  if (file == NULL && is_of_luajit) /* package.path lacks the folder of these modules */
    file = bn_module_path_search(lua_tostring(L, lua_upvalueindex(DEFAULT_PATH)), name, NULL);
  const char *found = require_push_file(L, file);

  if (found == NULL)
    lua_pushstring(L, tried.data != NULL ? tried.data : "");
  bn_buf_done(&tried);
  return found;
}

/* Raises LuaJIT's message for a file that cannot be loaded for the module whose name is at 1. */
static int require_raise_load_error(lua_State *L, const char *file, const char *message)
{
  return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s", lua_tostring(L, 1), file,
                    message);
}

/* The four loaders, require_load_*, get the name of a module at 1.  Each returns the function that
   makes the module, or a text that names the places where it has looked, or nothing.  An error ends
   the search. */

/* Returns the function in package.preload. */
static int require_load_preloaded(lua_State *L)
{
  lua_getfield(L, lua_upvalueindex(INSTANCE_PACKAGE), "preload");
  if (!lua_istable(L, -1))
    return luaL_error(L, "'package.preload' must be a table");
  lua_getfield(L, -1, luaL_checkstring(L, 1));
  if (lua_isnil(L, -1))
    lua_pushfstring(L, "\n\tno field package.preload['%s']", lua_tostring(L, 1));
  return 1;
}

/* Pushes and returns the file of the module whose name is at 1, in the script's own folder.  If
   there is none, returns NULL and pushes nothing. */
static const char *require_find_beside(lua_State *L)
{
  const char *dir = bn_lua_current()->place->dir;

  return dir != NULL ? require_push_file(L, bn_module_path_find_in(dir, luaL_checkstring(L, 1)))
                     : NULL;
}

/* Returns, malloc'd, the file of the bundled script or module of that name, or NULL. */
static char *require_find_bundled(const struct bn_lua *lua, const char *name)
{
  static const char no_file[] = ""; /* no bundled file is the same as this one */

  return bn_script_file_find_hidden(lua->vm->setup, name, no_file);
}

static bool require_is_bundled(const struct bn_lua *lua, const char *name)
{
  char *bundled = require_find_bundled(lua, name);
  const bool is_bundled = bundled != NULL;

  free(bundled);
  return is_bundled;
}

/* Returns whether the script's own folder is searched before package.path.  The path begins with
   the working directory, in which a file of the same name must not take the place of a part of the
   script.  The script's folder comes first for the bundled workloads of 0.5 and for scripts from
   another host.  Outside of the dialects, it also comes first for each module that has the name of
   a bundled module. */
static bool require_prefers_beside(const struct bn_lua *lua, const char *name)
{
  if (lua->place->set == BN_SET_LEGACY || lua->place->sent)
    return true;
  return bn_policy_is_native(lua->vm->setup->conf->policy) && require_is_bundled(lua, name);
}

/* Returns whether a file on the path does not belong to the script: it is in the working directory,
   as "./" shows, and the script is in another folder.  In a dialect no file is foreign. */
static bool require_is_foreign(const struct bn_lua *lua, const char *file)
{
  const bool is_in_working_dir = strncmp(file, "./", 2) == 0;
  const bool is_script_elsewhere = lua->place->dir != NULL;

  return is_in_working_dir && is_script_elsewhere &&
         bn_policy_is_native(lua->vm->setup->conf->policy);
}

/* Logs whether the bundled module or the file of its name is loaded.  Only the main instance does
   so, because all instances load the same file. */
static void require_log_choice(const struct bn_lua *lua, const char *name, const char *file,
                               bool is_foreign)
{
  if (lua->worker)
    return;
  if (is_foreign)
    bn_log_note("module '%s' is the bundled one, and not '%s'", name, file);
  else
    bn_log_stderr_if_apart("module '%s' is '%s', which hides the bundled one", name, file);
}

/* Decides between `file` and the bundled module of the name at 1, if there is one.  A foreign file
   gives way to the bundled module, whose name is then pushed and returned.  Any other file hides
   it, and is returned with nothing pushed.  The main instance logs the choice. */
static const char *require_choose_file(lua_State *L, const char *file, bool is_foreign)
{
  const struct bn_lua *lua = bn_lua_current();
  const char *name = lua_tostring(L, 1);
  char *bundled = bn_script_file_find_hidden(lua->vm->setup, name, file);

  if (bundled == NULL)
    return file;
  require_log_choice(lua, name, file, is_foreign);
  if (is_foreign)
    return require_push_file(L, bundled);
  free(bundled);
  return file;
}

/* Finds the file of the module whose name is at 1: on package.path, or in the script's own folder,
   which is searched before or after the path, or else among the bundled ones, which a LUA_PATH
   without the default path does not reach.  Returns its name, whose text the stack keeps, or NULL
   with the names that require_search() has tried on top. */
static const char *require_find_lua(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();
  const char *name = luaL_checkstring(L, 1);
  const char *file = require_prefers_beside(lua, name) ? require_find_beside(L) : NULL;
  bool is_foreign = false; /* no file in the script's own folder is */

  if (file == NULL) {
    file = require_search(L, "path", name);
    is_foreign = file != NULL && require_is_foreign(lua, file);
  }
  if (file == NULL)
    file = require_find_beside(L);
  if (file == NULL)
    file = require_push_file(L, require_find_bundled(lua, name));
  return file != NULL ? require_choose_file(L, file, is_foreign) : NULL;
}

/* Returns the function of a module that is written in Lua. */
static int require_load_lua(lua_State *L)
{
  const char *file = require_find_lua(L);
  struct bn_buf msg;

  if (file == NULL)
    return 1; /* the names that require_search() has tried */
  bn_buf_init(&msg, 0);
  const struct bn_chunk *c = bn_chunks_load_file(bn_lua_current()->vm->chunks, L, file, &msg);

  if (c == NULL)
    lua_pushstring(L, msg.data); /* Lua's copy, because raising the error would leak the buffer */
  bn_buf_done(&msg);
  /* The function is on top, or the message of what has failed. */
  if (c == NULL || bn_chunk_push(L, c) != 0)
    return require_raise_load_error(L, file, lua_tostring(L, -1));
  return 1;
}

/* Pushes the function luaopen_NAME of a library, for the module whose name is at 1, and returns
   true.  NAME is the module's name without a prefix that ends with '-', and with '_' for '.'.  If
   the library lacks the function, leaves a message on top, above a nil, and returns false.  Raises
   an error if the library cannot be loaded. */
static bool require_push_opener(lua_State *L, const char *file)
{
  const char *name = lua_tostring(L, 1);
  const char *hyphen = strchr(name, '-');

  lua_getfield(L, lua_upvalueindex(INSTANCE_PACKAGE), "loadlib");
  lua_pushstring(L, file);
  lua_pushliteral(L, "luaopen_");
  luaL_gsub(L, hyphen != NULL ? hyphen + 1 : name, ".", "_");
  lua_concat(L, 2);
  lua_call(L, 2, 3); /* the function; or nil, a message and the step that failed */
  if (!lua_isnil(L, -3)) {
    lua_pop(L, 2);
    return true;
  }
  const char *step = lua_tostring(L, -1);

  /* LuaJIT says "init" if the library lacks the function, "open" if it cannot be loaded. */
  if (step == NULL || strcmp(step, "init") != 0)
    (void)require_raise_load_error(L, file, lua_tostring(L, -2));
  lua_pop(L, 1);
  return false;
}

/* Returns the function of a module that is a library of its own. */
static int require_load_c(lua_State *L)
{
  const char *file = require_search(L, "cpath", luaL_checkstring(L, 1));

  if (file != NULL && !require_push_opener(L, file))
    return require_raise_load_error(L, file, lua_tostring(L, -1));
  return 1; /* the function, or the names that require_search() has tried */
}

/* Returns the function of a submodule in the library of its root, "a.b" in a.so.  If the library
   lacks the submodule, the search goes on. */
static int require_load_c_root(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  const char *dot = strchr(name, '.');

  if (dot == NULL)
    return 0;
  lua_pushlstring(L, name, (size_t)(dot - name));
  const char *file = require_search(L, "cpath", lua_tostring(L, -1));

  if (file != NULL && !require_push_opener(L, file))
    lua_pushfstring(L, "\n\tno module '%s' in file '%s'", name, file);
  return 1; /* the function, the text above, or the names that require_search() has tried */
}

/* Pushes the function that makes the module, from the first loader that finds the module.  Below it
   stay the list of loaders and the names that were tried.  If no loader finds the module, raises an
   error with all names. */
static void require_push_loader(lua_State *L, const char *name)
{
  lua_getfield(L, lua_upvalueindex(INSTANCE_PACKAGE), "loaders");
  if (!lua_istable(L, -1))
    luaL_error(L, "'package.loaders' must be a table");
  const int loaders = lua_gettop(L);

  lua_pushliteral(L, ""); /* the names that were tried so far */
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

/* Does what `require` of LuaJIT does, but with the package of this instance, of which an
   interpreter may have several.  It does not find bytecode that is linked into a library
   (luaJIT_BC_NAME), because package.loadlib does not. */
static int require_module(lua_State *L)
{
  enum { NAME = 1, LOADED }; /* indices on the stack */
  const char *name = luaL_checkstring(L, NAME);

  lua_settop(L, NAME);
  lua_getfield(L, lua_upvalueindex(INSTANCE_PACKAGE), "loaded");
  lua_getfield(L, LOADED, name);
  if (lua_toboolean(L, -1)) {
    if (lua_touserdata(L, -1) == &loading_mark)
      return luaL_error(L, "loop or previous error loading module '%s'", name);
    return 1;
  }
  require_push_loader(L, name);
  /* The old function `module` writes to _LOADED, which another instance may have set meanwhile. */
  lua_pushvalue(L, LOADED);
  lua_setfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_pushlightuserdata(L, (void *)(uintptr_t)&loading_mark);
  lua_setfield(L, LOADED, name);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  if (!lua_isnil(L, -1))
    lua_setfield(L, LOADED, name);
  /* A module that returns nothing may have set its entry itself; else the entry becomes true. */
  lua_getfield(L, LOADED, name);
  if (lua_touserdata(L, -1) == &loading_mark) {
    lua_pushboolean(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, LOADED, name);
  }
  return 1;
}

/* Replaces the table on top by a copy, if other instances of the interpreter need it too. */
static void require_copy_shared(lua_State *L)
{
  if (bn_lua_is_alone(bn_lua_current()))
    return;
  lua_newtable(L);
  bn_lua_copy_entries(L, lua_gettop(L) - 1, lua_gettop(L));
  lua_remove(L, -2);
}

/* Pushes the instance's table of loaded modules: that of the package at stack index `package`, but
   with the libraries of the environment at stack index `env`.  If sessions share the interpreter,
   these are views of the shared libraries. */
static void require_push_loaded(lua_State *L, int env, int package)
{
  lua_getfield(L, package, "loaded");
  require_copy_shared(L);
  const int loaded = lua_gettop(L);

  lua_pushnil(L);
  while (lua_next(L, loaded) != 0) {
    lua_pop(L, 1);        /* the shared library; the key stays for lua_next() */
    lua_pushvalue(L, -1); /* the key for lua_rawset() */
    lua_pushvalue(L, -1); /* the key for lua_rawget() */
    lua_rawget(L, env);
    if (lua_isnil(L, -1))
      lua_pop(L, 2);
    else
      lua_rawset(L, loaded);
  }
}

/* Pushes the list of loaders.  `package` is the stack index of the instance's package, which still
   has the default path. */
static void require_push_loaders(lua_State *L, int package)
{
  static const lua_CFunction loaders[] = {require_load_preloaded, require_load_lua, require_load_c,
                                          require_load_c_root};
  enum { N_LOADERS = sizeof loaders / sizeof *loaders };

  lua_createtable(L, N_LOADERS, 0);
  for (int i = 0; i < N_LOADERS; i++) {
    lua_pushvalue(L, package);
    lua_getfield(L, package, "path");
    lua_pushcclosure(L, loaders[i], N_LOADER_UPVALUES);
    lua_rawseti(L, -2, i + 1);
  }
}

void bn_require_open(struct bn_lua *lua)
{
  lua_State *L = lua->L;
  const int env = lua_gettop(L);

  lua_getfield(L, env, "package");
  require_copy_shared(L);
  const int package = lua_gettop(L);

  require_push_loaded(L, env, package);
  lua_pushvalue(L, package);
  lua_setfield(L, -2, "package");
  /* The old function `module` must write to the table that this `require` reads. */
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_setfield(L, package, "loaded");
  lua_getfield(L, package, "preload");
  require_copy_shared(L);
  lua_setfield(L, package, "preload");
  require_push_loaders(L, package); /* they keep the default path, which is replaced next */
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
