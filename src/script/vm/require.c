/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `package` and `require` of a script instance: search paths, loaders, what is loaded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lauxlib.h>

#include "base/plugin.h"
#include "script/api/ffi_internal.h"
#include "script/vm/state.h"

static const char loading[] = "loading"; /* its address marks a module that is being loaded */

/* Adds "HOME/.luarocks/…?ext;" twice for Lua: as a file and as a folder with init.lua. */
static void add_luarocks(struct bn_buf *b, const char *folder, const char *ext, bool init)
{
  const char *home = getenv("HOME");
  static const char *const versions[] = {"5.1/", ""};

  for (size_t i = 0; home != NULL && i < 2; i++) {
    (void)bn_buf_printf(b, "%s/.luarocks/%s/lua/%s?%s;", home, folder, versions[i], ext);
    if (init)
      (void)bn_buf_printf(b, "%s/.luarocks/%s/lua/%s?/init%s;", home, folder, versions[i], ext);
  }
}

/* LUA_PATH and LUA_CPATH replace the list; ";;" in them stands for it. */
static char *with_variable(const char *variable, struct bn_buf *list)
{
  const char *value = getenv(variable);
  char *base = bn_buf_take(list);

  if (value == NULL || base == NULL)
    return base;
  struct bn_buf b;
  const char *gap = strstr(value, ";;");

  bn_buf_init(&b, 0);
  if (gap == NULL) {
    (void)bn_buf_str(&b, value);
  } else {
    (void)bn_buf_add(&b, value, (size_t)(gap - value));
    (void)bn_buf_printf(&b, "%s%s%s", gap > value ? ";" : "", base, gap + 2);
  }
  free(base);
  return bn_buf_take(&b);
}

char *bn_require_default_path(const char *data_dir)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  (void)bn_buf_str(&b, "./?.lua;./?/init.lua;./src/lua/?.lua;");
  add_luarocks(&b, "share", ".lua", true);
  (void)bn_buf_str(&b, "/usr/local/share/lua/5.1/?.lua;/usr/share/lua/5.1/?.lua;");
  if (data_dir != NULL)
    (void)bn_buf_printf(&b, "%s/?.lua;", data_dir);
  return with_variable("LUA_PATH", &b);
}

char *bn_require_default_cpath(void)
{
  struct bn_buf b;
  char dir[4096];

  bn_buf_init(&b, 0);
  (void)bn_buf_str(&b, "./?.so;");
  add_luarocks(&b, "lib", ".so", false);
  (void)bn_buf_str(&b, "/usr/local/lib/lua/5.1/?.so;/usr/lib/lua/5.1/?.so;");
  if (bn_plugin_lib_dir(dir, sizeof dir, NULL) != NULL)
    (void)bn_buf_printf(&b, "%s/?.so;", dir);
  return with_variable("LUA_CPATH", &b);
}

static bool readable_file(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) && access(path, R_OK) == 0;
}

/* Replaces every '?' of a template by the module's name with '/' for '.'. */
static char *fill(const char *template, size_t len, const char *name)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  for (size_t i = 0; i < len; i++) {
    if (template[i] != '?') {
      (void)bn_buf_char(&b, template[i]);
      continue;
    }
    for (const char *c = name; *c != '\0'; c++)
      (void)bn_buf_char(&b, *c == '.' ? '/' : *c);
  }
  return bn_buf_take(&b);
}

char *bn_require_search(const char *path, const char *name, struct bn_buf *tried)
{
  while (*path != '\0') {
    const size_t len = strcspn(path, ";");
    char *file = len > 0 ? fill(path, len, name) : NULL;

    if (file != NULL && readable_file(file))
      return file;
    if (file != NULL && tried != NULL)
      (void)bn_buf_printf(tried, "\n\tno file '%s'", file);
    free(file);
    path += len;
    path += *path == ';';
  }
  return NULL;
}

/* Pushes package[name] as a string of the instance; upvalue 1 of all loaders is `package`. */
static const char *path_of(lua_State *L, const char *name)
{
  lua_getfield(L, lua_upvalueindex(1), name);
  if (!lua_isstring(L, -1))
    luaL_error(L, "'package.%s' must be a string", name);
  return lua_tostring(L, -1);
}

/* Searches; pushes the file's name and returns it, or pushes what was tried and returns NULL. */
static const char *search(lua_State *L, const char *field)
{
  struct bn_buf tried;

  bn_buf_init(&tried, 0);
  const char *name = luaL_checkstring(L, 1);
  char *file = bn_require_search(path_of(L, field), name, &tried);

  /* LuaJIT's own modules are where its default path (upvalue 2) says. */
  if (file == NULL && strncmp(name, "jit.", 4) == 0 && strcmp(field, "path") == 0)
    file = bn_require_search(lua_tostring(L, lua_upvalueindex(2)), name, NULL);

  lua_pushstring(L, file != NULL ? file : tried.data != NULL ? tried.data : "");
  bn_buf_done(&tried);
  const bool found = file != NULL;

  free(file);
  return found ? lua_tostring(L, -1) : NULL;
}

static int load_error(lua_State *L, const char *file, const char *message)
{
  return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s", lua_tostring(L, 1), file,
                    message);
}

static int load_preloaded(lua_State *L)
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
static const char *in_own_folder(lua_State *L)
{
  const char *dir = bn_ffi_lua()->script->dir;

  if (dir == NULL)
    return NULL;
  lua_pushfstring(L, "%s?.lua", dir);
  char *file = bn_require_search(lua_tostring(L, -1), luaL_checkstring(L, 1), NULL);

  lua_pop(L, 1);
  if (file == NULL)
    return NULL;
  lua_pushstring(L, file);
  free(file);
  return lua_tostring(L, -1);
}

/* The parts of a script stay together wherever it is run from; a common.lua in the working
   directory is not the one of our old workloads. */
static const char *find_lua(lua_State *L)
{
  const bool ours = bn_ffi_lua()->script->set == BN_SET_LEGACY;
  const char *file = ours ? in_own_folder(L) : NULL;

  if (file != NULL || (file = search(L, "path")) != NULL)
    return file;
  return in_own_folder(L);
}

static int load_lua(lua_State *L)
{
  const char *file = find_lua(L);
  struct bn_buf msg;

  if (file == NULL)
    return 1;
  bn_buf_init(&msg, 0);
  const struct bn_chunk *c = bn_chunk_file(bn_ffi_lua()->script, L, file, &msg, NULL);

  lua_pushstring(L, msg.data != NULL ? msg.data : "not enough memory");
  bn_buf_done(&msg);
  if (c == NULL || bn_chunk_push(L, c) != 0)
    return load_error(L, file, lua_tostring(L, -1));
  return 1;
}

/* Loads function luaopen_NAME from the file on top; pushes it. */
static int load_library(lua_State *L, const char *file)
{
  const char *name = lua_tostring(L, 1);
  const char *mark = strchr(name, '-');

  lua_getfield(L, lua_upvalueindex(1), "loadlib");
  lua_pushstring(L, file);
  lua_pushliteral(L, "luaopen_");
  luaL_gsub(L, mark != NULL ? mark + 1 : name, ".", "_");
  lua_concat(L, 2);
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2))
    return load_error(L, file, lua_tostring(L, -1));
  lua_pop(L, 1);
  return 1;
}

static int load_c(lua_State *L)
{
  const char *file = search(L, "cpath");

  return file == NULL ? 1 : load_library(L, file);
}

/* A submodule in the library of its root: "a.b" in a.so. */
static int load_croot(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  const char *dot = strchr(name, '.');
  char *file = NULL;

  if (dot == NULL)
    return 0;
  lua_pushlstring(L, name, (size_t)(dot - name));
  file = bn_require_search(path_of(L, "cpath"), lua_tostring(L, -2), NULL);
  if (file == NULL)
    return 0;
  lua_pushstring(L, file);
  free(file);
  return load_library(L, lua_tostring(L, -1));
}

/* Leaves the loader's function on top, or raises with everything that was tried. */
static void find_loader(lua_State *L, const char *name)
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

static int require(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);

  lua_settop(L, 1);
  lua_getfield(L, lua_upvalueindex(1), "loaded"); /* at 2 */
  lua_getfield(L, 2, name);
  if (lua_toboolean(L, -1)) {
    if (lua_touserdata(L, -1) == (const void *)loading)
      return luaL_error(L, "loop or previous error loading module '%s'", name);
    return 1;
  }
  find_loader(L, name);
  lua_pushlightuserdata(L, (void *)(uintptr_t)loading);
  lua_setfield(L, 2, name);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  if (!lua_isnil(L, -1))
    lua_setfield(L, 2, name);
  lua_getfield(L, 2, name);
  if (lua_touserdata(L, -1) == (const void *)loading) {
    lua_pushboolean(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
  }
  return 1;
}

/* Copies the table `name` of the shared package into the one on top. */
static void copy_table(lua_State *L, int shared, const char *name)
{
  lua_getfield(L, shared, name);
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, -3) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  lua_remove(L, -2);
}

static void push_loaders(lua_State *L, int shared, int package)
{
  static const lua_CFunction loaders[] = {load_preloaded, load_lua, load_c, load_croot};

  lua_createtable(L, 4, 0);
  for (int i = 0; i < 4; i++) {
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
  lua_pushnil(L);
  while (lua_next(L, shared) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, package);
  }
  copy_table(L, shared, "loaded");
  lua_pushvalue(L, env);
  lua_setfield(L, -2, "_G");
  lua_pushvalue(L, package);
  lua_setfield(L, -2, "package");
  lua_getfield(L, env, "ffi");
  lua_setfield(L, -2, "ffi");
  /* What the old function `module` writes to must be what this `require` looks at. */
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_setfield(L, package, "loaded");
  copy_table(L, shared, "preload");
  lua_setfield(L, package, "preload");
  push_loaders(L, shared, package);
  lua_setfield(L, package, "loaders");
  lua_pushstring(L, lua->script->path);
  lua_setfield(L, package, "path");
  lua_pushstring(L, lua->script->cpath);
  lua_setfield(L, package, "cpath");
  lua_pushvalue(L, package);
  lua_pushcclosure(L, require, 1);
  lua_setfield(L, env, "require");
  lua_setfield(L, env, "package");
  lua_settop(L, env);
}
