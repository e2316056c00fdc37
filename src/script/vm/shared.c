/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hands out interpreters to sessions. */
#include "script/vm/shared.h"

#include <stdlib.h>

#include <lauxlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "script/vm/lua.h"

struct bn_shared_pools *bn_shared_pools_new(unsigned n)
{
  struct bn_shared_pools *all = bn_alloc(1, sizeof *all + n * sizeof all->pool[0]);

  all->n = n;
  return all;
}

static struct bn_shared *shared_new(struct bn_shared_pool *pool)
{
  struct bn_shared *sh = bn_alloc(1, sizeof *sh);

  sh->pool = pool;
  sh->L = lua_newstate(bn_heap_alloc, &sh->heap);
  /* Builds of LuaJIT with 32-bit pointers insist on their own allocator. */
  if (sh->L == NULL)
    sh->L = luaL_newstate();
  if (sh->L != NULL)
    return sh;
  free(sh);
  return NULL;
}

struct bn_shared *bn_shared_take(struct bn_shared_pool *pool)
{
  struct bn_shared *sh = pool->latest;

  if (sh == NULL || sh->opened == BN_SHARED_SESSIONS || pool->apart)
    sh = pool->latest = shared_new(pool);
  if (sh == NULL)
    return NULL;
  sh->opened++;
  sh->users++;
  return sh;
}

void bn_shared_drop(struct bn_shared *sh)
{
  if (--sh->users > 0)
    return;
  if (sh->pool->latest == sh)
    sh->pool->latest = NULL;
  /* Finalizers of objects that a script still had do not ask for a session. */
  lua_close(sh->L);
  bn_heap_done(&sh->heap);
  free(sh);
}

int bn_shared_wants_own(lua_State *L)
{
  struct bn_lua *lua = bn_lua_current();
  struct bn_shared_pools *all = lua->vm->pools;
  struct bn_shared_pool *pool = lua->shared->pool;

  if (pool->apart)
    return 0;
  if (lua->shared->opened > 1)
    bn_log_hint("with --workers, the threads of a worker share %s", luaL_checkstring(L, 1));
  else if (!atomic_exchange(&all->apart_told, true))
    bn_log_hint("the script uses %s: with --workers each thread has an interpreter of its own, "
                "which takes about 70 KiB",
                luaL_checkstring(L, 1));
  pool->apart = true;
  return 0;
}

int bn_shared_holds_up(lua_State *L)
{
  struct bn_shared_pools *all = bn_lua_current()->vm->pools;

  if (atomic_exchange(&all->hold_told, true))
    return 0;
  luaL_where(L, 2);
  bn_log_hint("%sa statement in a function that a library calls, or that ends an object, holds up "
              "the other threads of its worker (--workers)",
              lua_tostring(L, -1));
  return 0;
}
