/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens an interpreter, finds embedded modules, tells failures of a study from faults in it, and
   declares and runs studies. */
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "study/declaration.h"
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

/* Calls the function below its n_args arguments.  Returns 0 with n_results on the stack, or -1
   without the function and its arguments.  err then says why if the function has called
   native.fail(); any other error has been printed with its traceback, after `name`, and err is
   empty. */
static int interpreter_call(lua_State *L, int n_args, int n_results, const char *name,
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

/* A loader of package.loaders, for embedded modules.  Tracebacks name the file of a module in the
   sources: '.' in the name of a module separates folders. */
static int interpreter_search_embedded(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  const struct module *m = interpreter_find_module(name);

  if (m == NULL) {
    lua_pushfstring(L, "\n\tno module '%s' in the program", name);
    return 1;
  }
  const char *file = lua_pushfstring(L, "@src/lua/%s.lua", luaL_gsub(L, name, ".", "/"));

  if (luaL_loadbuffer(L, (const char *)m->data, m->size, file) != 0)
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

/* Pushes the function of a file, and lets `require` look into the folder of the file first.
   Returns 0, or -1 and err. */
static int interpreter_load_file(lua_State *L, const char *path, struct bn_err *err)
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

/* Returns an interpreter: Lua's standard libraries, the embedded modules, and the functions in C
   that they call. */
static lua_State *interpreter_new(bn_opt_traits_of *traits_of)
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

/* --- studies --- */

struct bn_study {
  lua_State *L;
  char *name; /* owned */
  struct bn_subcommand sub;
};

/* Names in the registry: the function `run`, and the value that keeps the declaration alive. */
static const char run_key[] = "bn.study.run", kept_key[] = "bn.study.kept";

/* Reads the declaration, which must be a table at 1, into the struct bn_study at upvalue 1.  The
   name is the one by which the study was opened, not that of the declaration. */
static int study_declare(lua_State *L)
{
  struct bn_study *s = lua_touserdata(L, lua_upvalueindex(1));
  const char *name = s->name;

  if (!lua_istable(L, 1)) {
    lua_pushliteral(L, "it returns no table, and there is no global table 'study'; see "
                       "bench-studies(7)");
    return bn_native_raise(L);
  }
  lua_settop(L, 1);
  s->sub = *bn_declaration_read_study(L, 1); /* pushes the value that is kept */
  s->sub.name = name;
  lua_setfield(L, LUA_REGISTRYINDEX, kept_key);
  lua_getfield(L, 1, "run");
  lua_setfield(L, LUA_REGISTRYINDEX, run_key);
  return 0;
}

/* Pops the declaration and reads it, in a protected call.  Returns 0, or -1 and err. */
static int study_read(struct bn_study *s, struct bn_err *err)
{
  lua_pushlightuserdata(s->L, s);
  lua_pushcclosure(s->L, study_declare, 1);
  lua_insert(s->L, -2);
  return interpreter_call(s->L, 1, 0, s->name, err);
}

/* Returns a study with an interpreter, whose name is prefix and name. */
static struct bn_study *study_new(const char *prefix, const char *name, bn_opt_traits_of *traits_of)
{
  struct bn_study *s = bn_alloc(1, sizeof *s);

  s->name = bn_alloc_print("%s%s", prefix, name);
  s->L = interpreter_new(traits_of);
  return s;
}

struct bn_study *bn_study_open(const char *name, bn_opt_traits_of *traits_of, struct bn_err *err)
{
  struct bn_study *s = study_new("", name, traits_of);

  lua_getglobal(s->L, "require");
  lua_pushfstring(s->L, "study.%s", name);
  if (interpreter_call(s->L, 1, 1, name, err) == 0 && study_read(s, err) == 0)
    return s;
  bn_study_free(s);
  return NULL;
}

/* Pops the function of a file, calls it, and reads the declaration that it returns or sets as the
   global `study`.  Returns 0, or -1 and err, which begins with the path; err stays as it is if a
   fault of the study has been printed. */
static int study_read_file(struct bn_study *s, const char *path, struct bn_err *err)
{
  enum { SENTENCE_MAX = 400 }; /* bytes, so that the path fits into err too */
  struct bn_err failure = {0};
  int rc = interpreter_call(s->L, 0, 1, s->name, &failure);

  if (rc == 0) {
    if (!lua_istable(s->L, -1))
      lua_getglobal(s->L, "study");
    rc = study_read(s, &failure);
  }
  if (rc != 0 && failure.text[0] != '\0')
    (void)bn_err_set(err, failure.code, "%s: %.*s", path, SENTENCE_MAX, failure.text);
  return rc;
}

struct bn_study *bn_study_open_file(const char *path, bn_opt_traits_of *traits_of,
                                    struct bn_err *err)
{
  struct bn_study *s = study_new("study ", path, traits_of);

  if (interpreter_load_file(s->L, path, err) == 0 && study_read_file(s, path, err) == 0)
    return s;
  bn_study_free(s);
  return NULL;
}

const struct bn_subcommand *bn_study_declaration(const struct bn_study *s)
{
  return &s->sub;
}

/* Calls run(values, operands, given) of the study, and returns its exit status or nil.  The
   arguments are the addresses of the struct bn_study, the values and the operands. */
static int study_call(lua_State *L)
{
  const struct bn_study *s = lua_touserdata(L, 1);
  const void *conf = lua_touserdata(L, 2);
  const char *const *operand = lua_touserdata(L, 3);

  lua_getfield(L, LUA_REGISTRYINDEX, run_key);
  bn_declaration_push_values(L, s->sub.options, conf);
  lua_newtable(L);
  for (int i = 0; operand[i] != NULL; i++) {
    lua_pushstring(L, operand[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_insert(L, -2); /* before the table of the options that were given */
  lua_call(L, 3, 1);
  if (!lua_isnil(L, -1) && !lua_isnumber(L, -1))
    return luaL_error(L, "run() must return an exit status or nothing");
  return 1;
}

int bn_study_run(struct bn_study *s, const void *conf, const char *const *operand,
                 struct bn_err *err)
{
  lua_pushcfunction(s->L, study_call);
  lua_pushlightuserdata(s->L, s);
  lua_pushlightuserdata(s->L, (void *)(uintptr_t)conf);
  lua_pushlightuserdata(s->L, (void *)(uintptr_t)operand);
  if (interpreter_call(s->L, 3, 1, s->name, err) != 0)
    return EXIT_FAILURE;
  const int status = (int)lua_tointeger(s->L, -1); /* 0 for nil */

  lua_pop(s->L, 1);
  return status;
}

void bn_study_free(struct bn_study *s)
{
  if (s == NULL)
    return;
  lua_close(s->L);
  bn_ending_remove_folder();
  free(s->name);
  free(s);
}
