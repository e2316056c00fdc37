/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the standard libraries that have to know of the program around them. */
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "engine/run.h"
#include "engine/stop.h"
#include "script/api/ffi_internal.h"
#include "script/vm/state.h"

/* Its address is the error value that os.exit() leaves a script with. */
static const char leaving;

/* Calls upvalue 1 with SIGINT and SIGTERM let through: children inherit the mask. */
static int with_signals(lua_State *L)
{
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  bn_stop_unblock_for_child();
  const int rc = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);

  bn_stop_block_again();
  return rc == 0 ? lua_gettop(L) : lua_error(L);
}

/* os.exit(), upvalue 1 being the real one.  While a run is measured it ends that run, so that its
   result is not lost, and the process has the status afterwards. */
static int exit_run(lua_State *L)
{
  struct bn_lua *lua = bn_ffi_lua();
  const struct bn_services *services = lua->session->services;
  int status;

  if (lua_isboolean(L, 1))
    status = lua_toboolean(L, 1) ? 0 : 1;
  else
    status = (int)luaL_optinteger(L, 1, 0);
  if (services->leave(services->of, status)) {
    /* Once in event(), once in thread_done(): who comes back again catches errors in a loop. */
    if (++lua->exits > 2 && lua->worker && lua->session->id < lua->script->setup.conf->threads)
      services->stay_behind(services->of);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&leaving);
    return lua_error(L);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

bool bn_library_leaves(lua_State *L)
{
  return lua_touserdata(L, -1) == (const void *)&leaving;
}

/* Wraps a function of the library table on top. */
static void wrap(lua_State *L, const char *function, lua_CFunction by)
{
  lua_getfield(L, -1, function);
  lua_pushcclosure(L, by, 1);
  lua_setfield(L, -2, function);
}

void bn_library_wrap(lua_State *L, const char *library)
{
  if (strcmp(library, LUA_OSLIBNAME) == 0) {
    wrap(L, "execute", with_signals);
    wrap(L, "exit", exit_run);
  } else if (strcmp(library, LUA_IOLIBNAME) == 0) {
    wrap(L, "popen", with_signals);
  }
}
