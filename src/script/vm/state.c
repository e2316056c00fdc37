/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates, configures and closes interpreters. */
#include "script/vm/state.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <luajit.h>
#include <lualib.h>

#include "base/log.h"
#include "option/conf.h"
#include "script/api/ffi_internal.h"
#include "sql/sql.h"

/* Builds of LuaJIT with 32-bit pointers insist on their own allocator. */
static lua_State *new_interpreter(struct bn_heap *heap)
{
  lua_State *L = lua_newstate(bn_heap_alloc, heap);

  return L != NULL ? L : luaL_newstate();
}

/* Garbage of loading would stay behind as gaps in the heap. */
enum { PAUSE_LOADING = 105, PAUSE_RUNNING = 200, LARGE_KIB = 80 };

static void open_library(lua_State *L, const char *name, lua_CFunction open)
{
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_call(L, 1, 0);
}

/* Libraries that few event loops need; see bn_instance_open_late. */
static void open_most(lua_State *L)
{
  open_library(L, "", luaopen_base);
  open_library(L, LUA_LOADLIBNAME, luaopen_package);
  open_library(L, LUA_TABLIBNAME, luaopen_table);
  open_library(L, LUA_STRLIBNAME, luaopen_string);
  open_library(L, LUA_JITLIBNAME, luaopen_jit);
  luaL_findtable(L, LUA_REGISTRYINDEX, "_PRELOAD", 1);
  lua_pushcfunction(L, luaopen_ffi);
  lua_setfield(L, -2, LUA_FFILIBNAME);
  lua_pop(L, 1);
  bn_instance_open_late(L);
}

static int open_libraries(lua_State *L)
{
  const struct bn_lua *lua = lua_touserdata(L, 1);

  lua_gc(L, LUA_GCSTOP, 0);
  if (lua->worker)
    open_most(L);
  else
    luaL_openlibs(L);
  lua_gc(L, LUA_GCSETPAUSE, PAUSE_LOADING);
  lua_gc(L, LUA_GCRESTART, 0);
  return 0;
}

static int make_instance(lua_State *L)
{
  struct bn_lua *lua = lua_touserdata(L, 1);

  lua_pop(L, 1);
  bn_instance_make(lua);
  return 0;
}

static int refuse_command(lua_State *L)
{
  lua_pushliteral(L, "unknown luaJIT command or jit.* modules not installed");
  return lua_error(L);
}

/* --luajit-cmd=CMD[=ARG,…]: a function of `jit` (on, off, flush), else module jit.CMD. */
static int luajit_command(lua_State *L)
{
  const struct bn_lua *lua = lua_touserdata(L, 1);
  const char *command = lua->script->setup.conf->raw.luajit_cmd;
  const char *args = strchr(command, '=');
  const size_t len = args != NULL ? (size_t)(args - command) : strlen(command);
  int n = 0;

  lua_settop(L, 0);
  lua_getglobal(L, "jit");
  lua_pushlstring(L, command, len);
  lua_gettable(L, -2);
  if (!lua_isfunction(L, -1)) {
    lua_getglobal(L, "require");
    lua_pushliteral(L, "jit.");
    lua_pushlstring(L, command, len);
    lua_concat(L, 2);
    if (lua_pcall(L, 1, 1, 0) != 0 || !lua_istable(L, -1))
      return refuse_command(L);
    lua_getfield(L, -1, "start");
  }
  while (args != NULL && *++args != '\0') {
    const char *end = strchr(args, ',');

    luaL_checkstack(L, 1, "too many arguments");
    lua_pushlstring(L, args, end != NULL ? (size_t)(end - args) : strlen(args));
    n++;
    args = end;
  }
  lua_call(L, n, 0);
  return 0;
}

/* 0, or -1 after logging why. */
static int build(struct bn_lua *lua)
{
  const struct bn_conf *conf = lua->script->setup.conf;
  lua_State *L = lua->L;
  int rc = lua_cpcall(L, open_libraries, lua);

  /* Before there is an instance: LuaJIT's modules are found by the interpreter's own `require`. */
  if (rc == 0 && conf->raw.luajit_cmd != NULL && conf->raw.luajit_cmd[0] != '\0')
    rc = lua_cpcall(L, luajit_command, lua);
  if (rc == 0)
    rc = lua_cpcall(L, make_instance, lua);
  if (rc == 0)
    return 0;
  bn_log(BN_FATAL, "%s", lua_tostring(L, -1));
  return -1;
}

struct bn_lua *bn_lua_open(struct bn_script *sc, struct bn_session *s, unsigned tid, bool worker)
{
  struct bn_lua *lua = calloc(1, sizeof *lua);

  if (lua == NULL || (lua->L = new_interpreter(&lua->heap)) == NULL) {
    bn_log(BN_FATAL, "cannot create a Lua state: not enough memory");
    if (lua != NULL)
      bn_heap_done(&lua->heap);
    free(lua);
    return NULL;
  }
  lua->script = sc;
  lua->session = s;
  lua->tid = tid;
  lua->worker = worker;
  lua->env_ref = lua->sysbench_ref = lua->thread_run_ref = LUA_NOREF;
  bn_buf_init(&lua->text, 0);
  struct bn_lua *previous = bn_ffi_enter(lua);
  const int rc = build(lua);

  bn_ffi_enter(previous);
  if (rc == 0)
    return lua;
  bn_lua_close(lua);
  return NULL;
}

void bn_lua_close(struct bn_lua *lua)
{
  if (lua == NULL)
    return;
  struct bn_lua *previous = bn_ffi_enter(lua);

  /* Finalizers of connections and the like still use the session. */
  lua_close(lua->L);
  bn_ffi_enter(previous);
  if (lua->worker && lua->script->setup.sql != NULL)
    bn_sql_session_end(lua->script->setup.sql, lua->session);
  bn_heap_done(&lua->heap);
  bn_buf_done(&lua->text);
  free(lua);
}

void bn_lua_push_global(struct bn_lua *lua, const char *name)
{
  lua_State *L = lua->L;

  lua_rawgeti(L, LUA_REGISTRYINDEX, lua->env_ref);
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  lua_remove(L, -2);
}

void bn_lua_push_field(struct bn_lua *lua, const char *name)
{
  lua_State *L = lua->L;

  lua_rawgeti(L, LUA_REGISTRYINDEX, lua->sysbench_ref);
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  lua_remove(L, -2);
}

bool bn_lua_has_function(struct bn_lua *lua, const char *name)
{
  bn_lua_push_global(lua, name);
  const bool is_function = lua_isfunction(lua->L, -1);

  lua_pop(lua->L, 1);
  return is_function;
}

bool bn_lua_push_hook(struct bn_lua *lua, const char *name)
{
  lua_State *L = lua->L;

  bn_lua_push_field(lua, "hooks");
  if (lua_istable(L, -1)) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
  if (lua_isfunction(L, -1))
    return true;
  lua_pop(L, 1);
  return false;
}

void bn_lua_trim(struct bn_lua *lua)
{
  if (lua_gc(lua->L, LUA_GCCOUNT, 0) < LARGE_KIB)
    return;
  struct bn_lua *previous = bn_ffi_enter(lua);

  (void)lua_gc(lua->L, LUA_GCCOLLECT, 0);
  bn_ffi_enter(previous);
}

void bn_lua_collect(struct bn_lua *lua)
{
  struct bn_lua *previous = bn_ffi_enter(lua);

  (void)lua_gc(lua->L, LUA_GCSETPAUSE, PAUSE_RUNNING);
  (void)lua_gc(lua->L, LUA_GCCOLLECT, 0);
  bn_ffi_enter(previous);
}
