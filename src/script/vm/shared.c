/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hands out interpreters to sessions. */
#include "script/vm/shared.h"

#include <stdlib.h>

#include <lauxlib.h>

#include "api/session.h"
#include "base/alloc.h"
#include "base/log.h"
#include "engine/loop.h"
#include "script/vm/chunk.h"
#include "script/vm/lua.h"

struct bn_shared_pools *bn_shared_pools_new(unsigned n)
{
  struct bn_shared_pools *all = bn_alloc(1, sizeof *all + n * sizeof all->pool[0]);

  all->n = n;
  return all;
}

/* Logs, once for all workers, that each thread has an interpreter of its own because the script
   uses a feature whose state sessions must not share. */
static void shared_log_apart(struct bn_shared_pools *all, const char *feature)
{
  if (!atomic_exchange(&all->apart_logged, true))
    bn_log_hint("the script uses %s: with --workers each thread has an interpreter of its own, "
                "which takes about 70 KiB",
                feature);
}

/* Returns whether the latest interpreter of the pool, if there is one, takes a further session. */
static bool shared_has_room(const struct bn_shared_pool *pool)
{
  const struct bn_shared *latest = pool->latest;

  return latest != NULL && !pool->apart && lua_gc(latest->L, LUA_GCCOUNT, 0) < BN_SHARED_FULL_KIB;
}

struct bn_shared *bn_shared_take(const struct bn_vm *vm, struct bn_shared_pool *pool)
{
  /* The stream of math.random is the interpreter's, so sessions must not share it. */
  if (!pool->apart && bn_chunks_use_random(vm->chunks)) {
    shared_log_apart(vm->pools, "math.random");
    pool->apart = true;
  }
  if (!shared_has_room(pool)) {
    pool->latest = bn_alloc(1, sizeof *pool->latest);
    pool->latest->pool = pool;
    pool->latest->L = bn_lua_new_state(&pool->latest->heap);
  }
  struct bn_shared *sh = pool->latest;

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
  /* This finalizes objects of sessions that have ended; the finalizers use no session. */
  lua_close(sh->L);
  bn_heap_done(&sh->heap);
  free(sh);
}

int bn_shared_wants_own(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();
  struct bn_shared_pools *all = lua->vm->pools;
  struct bn_shared_pool *pool = lua->shared->pool;
  const char *feature = luaL_checkstring(L, 1);

  if (pool->apart)
    return 0;
  pool->apart = true;
  /* If other sessions have got this interpreter too, all of them go on sharing it. */
  if (lua->shared->opened == 1)
    shared_log_apart(all, feature);
  else if (!atomic_exchange(&all->apart_logged, true))
    bn_log_hint("with --workers, the threads of a worker share %s", feature);
  return 0;
}

/* Pushes the place in the script that is being executed, such as "x.lua:12: ", or "" if there is
   none.  Functions in C and in internal modules, whose chunk names do not begin with '@', are
   passed over. */
static void shared_push_place(lua_State *L)
{
  lua_Debug at;

  for (int level = 1; lua_getstack(L, level, &at) != 0; level++) {
    (void)lua_getinfo(L, "Sl", &at);
    if (at.currentline > 0 && at.source[0] == '@') {
      lua_pushfstring(L, "%s:%d: ", at.short_src, at.currentline);
      return;
    }
  }
  lua_pushliteral(L, "");
}

/* Logs, once for all workers, that a call which waits holds up the other sessions of its worker,
   and its place in the script. */
static void shared_log_hold(lua_State *L)
{
  struct bn_shared_pools *all = bn_lua_current()->vm->pools;

  if (atomic_exchange(&all->hold_logged, true))
    return;
  shared_push_place(L);
  bn_log_hint("%sa call that waits, at the top level of a file, in a function that a library calls "
              "or in one that ends an object, holds up the other threads of its worker (--workers)",
              lua_tostring(L, -1));
  lua_pop(L, 1);
}

int bn_shared_wait(lua_State *L)
{
  struct bn_session *s = bn_lua_current()->session;

  if (lua_isyieldable(L))
    return lua_yield(L, 0);
  /* A C function on the stack cannot yield, so the worker waits in place. */
  shared_log_hold(L);
  bn_task_finish(s->task);
  return 0;
}
