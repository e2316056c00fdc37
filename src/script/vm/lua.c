/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions for any interpreter, whatever lives in it. */
#include "script/vm/lua.h"

#include <string.h>

#include <lauxlib.h>

#include "base/alloc.h"

/* PAUSE_RUNNING is Lua's default pause in percent.  An interpreter of at least LARGE_KIB has loaded
   a large script. */
enum { PAUSE_RUNNING = 200, LARGE_KIB = 80 };

_Thread_local struct bn_lua *bn_lua_entered;

struct bn_lua *bn_lua_enter(struct bn_lua *lua)
{
  struct bn_lua *previous = bn_lua_entered;

  bn_lua_entered = lua;
  return previous;
}

lua_State *bn_lua_new_state(struct bn_heap *heap)
{
  lua_State *L = lua_newstate(bn_heap_alloc, heap);

  if (L == NULL) /* builds of LuaJIT with 32-bit pointers insist on their own allocator */
    L = luaL_newstate();
  if (L == NULL)
    bn_alloc_fail();
  return L;
}

void bn_lua_replace_by_entry(lua_State *L, const char *name)
{
  if (lua_istable(L, -1)) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
  } else {
    lua_pushnil(L);
  }
  lua_remove(L, -2);
}

bool bn_lua_is_between(const char *key, const char *last, const char *next)
{
  return (last == NULL || strcmp(key, last) > 0) && (next == NULL || strcmp(key, next) < 0);
}

lua_CFunction bn_lua_find_function(const luaL_Reg *list, const char *name)
{
  while (list->name != NULL && strcmp(list->name, name) != 0)
    list++;
  return list->func; /* NULL in the row that ends the list */
}

void bn_lua_copy_entries(lua_State *L, int from, int to)
{
  lua_pushnil(L);
  while (lua_next(L, from) != 0) {
    lua_pushvalue(L, -2); /* the key for lua_rawset(); the other one stays for lua_next() */
    lua_insert(L, -2);
    lua_rawset(L, to);
  }
}

bool bn_lua_is_alone(const struct bn_lua *lua)
{
  return lua->shared == NULL && lua->vm->mix == NULL;
}

void bn_lua_push_global(struct bn_lua *lua, const char *name)
{
  lua_rawgeti(lua->L, LUA_REGISTRYINDEX, lua->env_ref);
  bn_lua_replace_by_entry(lua->L, name);
}

void bn_lua_push_field(struct bn_lua *lua, const char *name)
{
  lua_rawgeti(lua->L, LUA_REGISTRYINDEX, lua->sysbench_ref);
  bn_lua_replace_by_entry(lua->L, name);
}

bool bn_lua_has_function(struct bn_lua *lua, const char *name)
{
  bn_lua_push_global(lua, name);
  const bool is_function = lua_isfunction(lua->L, -1);

  lua_pop(lua->L, 1);
  return is_function;
}

void bn_lua_trim(struct bn_lua *lua)
{
  if (lua->shared != NULL || lua_gc(lua->L, LUA_GCCOUNT, 0) < LARGE_KIB)
    return;
  struct bn_lua *previous = bn_lua_enter(lua); /* for finalizers */

  (void)lua_gc(lua->L, LUA_GCCOLLECT, 0);
  bn_lua_enter(previous);
}

void bn_lua_collect(struct bn_lua *lua)
{
  struct bn_lua *previous = bn_lua_enter(lua); /* for finalizers */

  (void)lua_gc(lua->L, LUA_GCSETPAUSE, PAUSE_RUNNING);
  (void)lua_gc(lua->L, LUA_GCCOLLECT, 0);
  bn_lua_enter(previous);
}
