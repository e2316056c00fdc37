/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens an interpreter, finds embedded modules, and tells failures of a study from faults in it. */
#include "study/interpreter.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "study/ending.h"
#include "study/int64.h"
#include "study/native.h"

/* The modules in src/lua/, as bytecode, or as text if there was no compiler for Lua. */
static const struct module {
  const char *name;
  const unsigned char *data;
  size_t size;
} modules[] = {
#include "study/bn_study_modules.inc"
    {.name = NULL}};

/* --- calls --- */

/* The message handler of calls: replaces an error by its text with a traceback, while the stack is
   still there.  A failure, which native.fail() has raised for the user, stays as it is. */
static int interpreter_add_traceback(lua_State *L)
{
  if (bn_native_get_failure(L, 1) != NULL)
    return 1;
  lua_getglobal(L, "tostring");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  luaL_traceback(L, L, lua_tostring(L, -1), 1);
  return 1;
}

/* Copies the sentence of the error on top to err if it is a failure.  Logs any other error, and
   leaves err empty. */
static void interpreter_report_error(lua_State *L, const char *name, struct bn_err *err)
{
  const char *failure = bn_native_get_failure(L, lua_gettop(L));

  if (failure != NULL) {
    (void)bn_err_set(err, 0, "%s", failure);
    return;
  }
  char *text = bn_alloc_print("bench %s: %s", name, lua_tostring(L, -1));

  bn_log_foreign(text);
  free(text);
}

int bn_interpreter_call(lua_State *L, int n_args, int n_results, const char *name,
                        struct bn_err *err)
{
  const int handler = lua_gettop(L) - n_args; /* the index of the function, which moves up */

  lua_pushcfunction(L, interpreter_add_traceback);
  lua_insert(L, handler);
  const int rc = lua_pcall(L, n_args, n_results, handler);

  lua_remove(L, handler);
  if (rc == 0)
    return 0;
  interpreter_report_error(L, name, err);
  lua_pop(L, 1);
  return -1;
}

/* --- modules --- */

/* Returns the embedded module of that name, or NULL. */
static const struct module *interpreter_find_module(const char *name)
{
  for (const struct module *m = modules; m->name != NULL; m++)
    if (strcmp(m->name, name) == 0)
      return m;
  return NULL;
}

/* Pushes the function of an embedded module.  Tracebacks name its file in the sources: '.' in the
   name of a module separates folders.  Returns 0, or another result of lua_load() after pushing a
   message instead. */
static int interpreter_load_module(lua_State *L, const struct module *m)
{
  static const char folder[] = "@src/lua/";
  char chunkname[PATH_MAX];
  const int len = snprintf(chunkname, sizeof chunkname, "%s%s", folder, m->name);

  for (char *c = chunkname + strlen(folder); *c != '\0'; c++)
    if (*c == '.')
      *c = '/';
  (void)snprintf(chunkname + len, sizeof chunkname - (size_t)len, ".lua");
  return luaL_loadbuffer(L, (const char *)m->data, m->size, chunkname);
}

/* A loader of package.loaders, for embedded modules. */
static int interpreter_search_embedded(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  const struct module *m = interpreter_find_module(name);

  if (m == NULL)
    lua_pushfstring(L, "\n\tno module '%s' in the program", name);
  else if (interpreter_load_module(L, m) != 0)
    return lua_error(L);
  return 1;
}

/* Inserts the loader of embedded modules after that of package.preload, which is the first, and
   before those of files, so that no file takes the place of an embedded module. */
static void interpreter_open_searcher(lua_State *L)
{
  enum { PRELOAD = 1, EMBEDDED }; /* places in package.loaders */

  lua_getglobal(L, "package");
  lua_getfield(L, -1, "loaders");
  for (int i = (int)lua_objlen(L, -1); i > PRELOAD; i--) {
    lua_rawgeti(L, -1, i);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushcfunction(L, interpreter_search_embedded);
  lua_rawseti(L, -2, EMBEDDED);
  lua_pop(L, 2);
}

/* Lets `require` load the module of that name by calling `open`, which returns it. */
static void interpreter_preload_module(lua_State *L, const char *name, lua_CFunction open)
{
  luaL_findtable(L, LUA_REGISTRYINDEX, "_PRELOAD", 2);
  lua_pushcfunction(L, open);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

/* Lets `require` find modules in the folder of a file first: sets package.path = FOLDER .. "?.lua;"
   .. package.path. */
static void interpreter_search_folder_of(lua_State *L, const char *path)
{
  const char *slash = strrchr(path, '/');

  lua_getglobal(L, "package");
  lua_pushlstring(L, path, slash != NULL ? (size_t)(slash + 1 - path) : 0);
  lua_pushliteral(L, "?.lua;");
  lua_getfield(L, -3, "path");
  lua_concat(L, 3);
  lua_setfield(L, -2, "path");
  lua_pop(L, 1);
}

int bn_interpreter_load_file(lua_State *L, const char *path, struct bn_err *err)
{
  enum { MESSAGE_MAX = 400 }; /* bytes of LuaJIT's message, so that the path fits into err too */

  if (luaL_loadfile(L, path) != 0) {
    const char *message = lua_tostring(L, -1);

    /* LuaJIT cuts a long path in its message, so the whole path is put in front. */
    if (strstr(message, path) != NULL)
      (void)bn_err_set(err, 0, "%.*s", MESSAGE_MAX, message);
    else
      (void)bn_err_set(err, 0, "%s: %.*s", path, MESSAGE_MAX, message);
    lua_pop(L, 1);
    return -1;
  }
  interpreter_search_folder_of(L, path);
  return 0;
}

/* --- the interpreter --- */

lua_State *bn_interpreter_new(bn_opt_traits_of *traits_of)
{
  lua_State *L = luaL_newstate();

  if (L == NULL)
    bn_alloc_fail();
  luaL_openlibs(L);
  bn_native_open_format(L);
  bn_native_set_traits(L, traits_of);
  bn_native_register_failures(L);
  interpreter_open_searcher(L);
  bn_int64_open(L);
  interpreter_preload_module(L, "study.native", bn_native_open);
  interpreter_preload_module(L, "study.document", bn_native_open_document);
  return L;
}

void bn_interpreter_free(lua_State *L)
{
  lua_close(L);
  bn_ending_remove_folder();
}
