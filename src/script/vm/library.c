/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces functions of the standard libraries that must respect the program around them. */
#include "script/vm/library.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "api/session.h"
#include "engine/stop.h"
#include "option/conf.h"
#include "script/vm/chunk.h"
#include "script/vm/lua.h"

/* Its address is the error value that os.exit() raises to leave a script. */
static const char exit_mark;

/* The upvalue of a C function that stands for a function of Lua's libraries: that function. */
enum { WRAPPED = 1 };

/* Stands for a function that starts a child, and calls it with SIGINT and SIGTERM unblocked,
   because the child inherits the mask.  The call is protected, so that an error blocks the signals
   again. */
static int library_call_unblocked(lua_State *L)
{
  lua_pushvalue(L, lua_upvalueindex(WRAPPED));
  lua_insert(L, 1);
  bn_stop_unblock_for_child();
  const int rc = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);

  bn_stop_block_again();
  return rc == 0 ? lua_gettop(L) : lua_error(L);
}

/* A worker whose script calls os.exit() more often than this during a run is parked.  The first
   call may come from event() and the second one from thread_done(); more come from a script that
   catches errors in a loop, which would never end. */
enum { EXITS_MAX = 2 };

/* Stands for os.exit().  During a run it asks the run to end, so that the result is not lost, and
   raises an error to leave the script; the process exits with the status afterwards.  Without a run
   it exits at once. */
static int library_exit(lua_State *L)
{
  struct bn_lua *lua = bn_lua_current();
  const struct bn_services *services = lua->session->services;
  int status;

  if (lua_isboolean(L, 1))
    status = lua_toboolean(L, 1) ? 0 : 1;
  else
    status = (int)luaL_optinteger(L, 1, 0);
  if (!services->leave(services->of, status)) { /* there is no run */
    lua_pushvalue(L, lua_upvalueindex(WRAPPED));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 0);
    return 0;
  }
  /* The reporting thread has the number of threads as its id, and is never parked. */
  const bool is_reporting = lua->session->id >= lua->vm->setup->conf->plan.threads;

  lua->exits++;
  if (lua->exits > EXITS_MAX && lua->worker && !is_reporting)
    services->stay_behind(services->of);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&exit_mark);
  return lua_error(L);
}

bool bn_library_is_exit(lua_State *L)
{
  return lua_touserdata(L, -1) == (const void *)&exit_mark;
}

/* Replaces a function of the library table on top by a wrapper that has it as WRAPPED. */
static void library_wrap_function(lua_State *L, const char *function, lua_CFunction wrapper)
{
  lua_getfield(L, -1, function);
  lua_pushcclosure(L, wrapper, 1);
  lua_setfield(L, -2, function);
}

/* Makes standard error the default output and io.stdout of the library io, whose table is
   on top. */
static void library_redirect_stdout(lua_State *L)
{
  lua_getfield(L, -1, "output");
  lua_getfield(L, -2, "stderr");
  lua_call(L, 1, 1); /* io.output() returns the file that it has set */
  lua_setfield(L, -2, "stdout");
}

/* Replaces the functions that must respect the program, in the table of a library on top. */
static void library_wrap_table(lua_State *L, const char *library)
{
  if (strcmp(library, LUA_OSLIBNAME) == 0) {
    library_wrap_function(L, "execute", library_call_unblocked);
    library_wrap_function(L, "exit", library_exit);
  } else if (strcmp(library, LUA_IOLIBNAME) == 0) {
    library_wrap_function(L, "popen", library_call_unblocked);
    if (bn_lua_current()->vm->setup->prints_apart)
      library_redirect_stdout(L);
  }
}

/* The upvalues of library_print_line(): io.stdout and its method write.  Before the first call they
   are the table io and nil, because a worker's io is empty until it is first used. */
enum { PRINT_STREAM = 1, PRINT_WRITE, N_PRINT_UPVALUES = PRINT_WRITE };

/* Sets the upvalues at the first call of library_print_line(). */
static void library_bind_stdout(lua_State *L)
{
  if (!lua_isnil(L, lua_upvalueindex(PRINT_WRITE)))
    return;
  lua_getfield(L, lua_upvalueindex(PRINT_STREAM), "stdout");
  lua_getfield(L, -1, "write");
  lua_replace(L, lua_upvalueindex(PRINT_WRITE));
  lua_replace(L, lua_upvalueindex(PRINT_STREAM));
}

/* Prints its arguments as print does, but in one piece, so that lines of two threads do not mix. */
static int library_print_line(lua_State *L)
{
  const int n_args = lua_gettop(L);

  library_bind_stdout(L);
  lua_pushvalue(L, lua_upvalueindex(PRINT_WRITE));
  lua_pushvalue(L, lua_upvalueindex(PRINT_STREAM));
  /* Each argument, and a tab or the newline after it; tostring and its argument. */
  luaL_checkstack(L, 2 * n_args + 2, "too many arguments");
  for (int i = 1; i <= n_args; i++) {
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
  lua_concat(L, n_args > 0 ? 2 * n_args : 1); /* texts, tabs between them and the newline */
  lua_call(L, 2, 0);
  return 0;
}

static void library_replace_print(lua_State *L)
{
  lua_getglobal(L, "io");
  lua_pushnil(L); /* until library_bind_stdout() */
  lua_pushcclosure(L, library_print_line, N_PRINT_UPVALUES);
  lua_setglobal(L, "print");
}

/* Replaces the path at 1 by that of the file which takes its place, if there is one: a file from
   another host, or a bundled script for a missing file of an old installation.  Returns the path at
   1, or NULL if there is no text: Lua then reads standard input or refuses the argument. */
static const char *library_replace_path(lua_State *L, const struct bn_lua *lua)
{
  if (lua_type(L, 1) != LUA_TSTRING)
    return NULL;
  const bool is_quiet = lua->worker; /* only the main instance logs a substitute */
  char *substitute = bn_script_file_find_substitute(lua->vm->setup, lua_tostring(L, 1), is_quiet);

  if (substitute != NULL) {
    lua_pushstring(L, substitute);
    lua_replace(L, 1);
  }
  free(substitute);
  return lua_tostring(L, 1);
}

/* Stands for dofile or loadfile, but also finds files in other places (library_replace_path).
   Notes files of the main instance for bn_chunks_each(). */
static int library_read_file(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();
  const char *path = library_replace_path(L, lua);

  if (path != NULL && !bn_chunks_compare(lua->vm->chunks, path))
    return luaL_error(L, "%s is another file than that of the controller", path);
  if (path != NULL && !lua->worker)
    bn_chunks_note(lua->vm->chunks, path);
  lua_pushvalue(L, lua_upvalueindex(WRAPPED));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static void library_wrap_file_reader(lua_State *L, const char *name)
{
  lua_getglobal(L, name);
  lua_pushcclosure(L, library_read_file, 1);
  lua_setglobal(L, name);
}

/* The libraries that a worker's interpreter opens when they are first used. */
static const luaL_Reg lazy_libraries[] = {
    {LUA_IOLIBNAME, luaopen_io},   {LUA_OSLIBNAME, luaopen_os},     {LUA_DBLIBNAME, luaopen_debug},
    {LUA_BITLIBNAME, luaopen_bit}, {LUA_MATHLIBNAME, luaopen_math}, {NULL, NULL}};

/* The upvalue of library_fill(): the library's index in lazy_libraries. */
enum { LIBRARY_INDEX = 1 };

/* Implements __index and "bn.complete" of the table of a library that is not open yet: opens the
   library into the table and returns the entry that was asked for. */
static int library_fill(lua_State *L)
{
  enum { TABLE = 1, NAME, LOADED }; /* indices on the stack */
  const luaL_Reg *library = &lazy_libraries[lua_tointeger(L, lua_upvalueindex(LIBRARY_INDEX))];

  lua_settop(L, NAME);
  /* The metatable goes first, or opening the library would come here again. */
  lua_pushnil(L);
  lua_setmetatable(L, TABLE);
  /* A library opens into the table that _LOADED has under its name, so that table goes there until
     the library is open.  An instance may have a view of the library there, which is put back. */
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, LOADED, library->name);
  lua_pushvalue(L, TABLE);
  lua_setfield(L, LOADED, library->name);
  lua_pushcfunction(L, library->func);
  lua_pushstring(L, library->name);
  lua_call(L, 1, 0);
  lua_setfield(L, LOADED, library->name); /* the entry of before */
  lua_settop(L, NAME);
  lua_pushvalue(L, TABLE);
  library_wrap_table(L, library->name);
  lua_pushvalue(L, NAME);
  lua_rawget(L, TABLE);
  return 1;
}

/* Pushes an empty table, which becomes library `index` of lazy_libraries when it is first used. */
static void library_push_lazy(lua_State *L, int index)
{
  lua_newtable(L);
  lua_createtable(L, 0, 2); /* the metatable */
  lua_pushinteger(L, index);
  lua_pushcclosure(L, library_fill, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "bn.complete");
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

/* Sets the tables of lazy_libraries, as globals and in _LOADED. */
static void library_open_lazy(lua_State *L)
{
  for (int i = 0; lazy_libraries[i].name != NULL; i++) {
    library_push_lazy(L, i);
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, lazy_libraries[i].name);
    lua_pop(L, 1); /* _LOADED */
    lua_setglobal(L, lazy_libraries[i].name);
  }
}

/* Replaces functions of the libraries that are open already.  A library that is not open yet has a
   table with a metatable. */
static void library_wrap_opened(lua_State *L)
{
  for (int i = 0; lazy_libraries[i].name != NULL; i++) {
    lua_getglobal(L, lazy_libraries[i].name);
    if (lua_getmetatable(L, -1))
      lua_pop(L, 1); /* the metatable; library_fill() will replace the functions */
    else
      library_wrap_table(L, lazy_libraries[i].name);
    lua_pop(L, 1); /* the library */
  }
}

/* Opens a library as luaL_openlibs() does. */
static void library_open(lua_State *L, const char *name, lua_CFunction open)
{
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_call(L, 1, 0);
}

void bn_library_open_most(lua_State *L)
{
  library_open(L, "", luaopen_base);
  library_open(L, LUA_LOADLIBNAME, luaopen_package);
  library_open(L, LUA_TABLIBNAME, luaopen_table);
  library_open(L, LUA_STRLIBNAME, luaopen_string);
  library_open(L, LUA_JITLIBNAME, luaopen_jit);
  luaL_findtable(L, LUA_REGISTRYINDEX, "_PRELOAD", 1);
  lua_pushcfunction(L, luaopen_ffi);
  lua_setfield(L, -2, LUA_FFILIBNAME);
  lua_pop(L, 1);
  library_open_lazy(L);
}

void bn_library_wrap(lua_State *L)
{
  library_replace_print(L);
  library_wrap_file_reader(L, "dofile");
  library_wrap_file_reader(L, "loadfile");
  library_wrap_opened(L);
}
