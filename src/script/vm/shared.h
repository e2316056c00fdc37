/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interpreters that the sessions of a worker share (--workers).

   An interpreter has the instances of a bounded number of sessions, each a coroutine with globals
   of its own; functions of a script are compiled once for all of them.  A script that changes what
   sessions would share gets an interpreter for each session.  A pool is used by its worker
   alone. */
#ifndef BN_SCRIPT_VM_SHARED_H
#define BN_SCRIPT_VM_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "script/vm/heap.h"

struct bn_lua;
struct bn_vm;

/* An interpreter of this size takes no further session: a step of its collector that cannot be
   divided grows with its sessions and their objects, here to 1 ms.  What its sessions share takes
   160 KiB, so that smaller interpreters would need more memory. */
enum { BN_SHARED_FULL_KIB = 4096 };

struct bn_shared_pool {
  struct bn_shared *latest; /* the interpreter that takes further sessions; NULL: none */
  bool apart;               /* each further session gets an interpreter of its own */
};

struct bn_shared_pools {
  unsigned n;                   /* workers */
  _Atomic bool apart_logged;    /* the hint of bn_shared_take and bn_shared_wants_own was logged */
  _Atomic bool hold_logged;     /* the hint of bn_shared_wait was logged */
  struct bn_shared_pool pool[]; /* session i is of pool[i % n] */
};

struct bn_shared {
  struct bn_shared_pool *pool;
  lua_State *L;
  struct bn_heap heap;    /* memory of L */
  unsigned opened, users; /* sessions that have got it, and those of them that still use it */
  bool made;              /* the objects that its sessions share have been made */
};

/* Returns the pools of n workers, which free() frees. */
struct bn_shared_pools *bn_shared_pools_new(unsigned n);
/* Returns an interpreter for a further session of the pool, which bn_shared_drop gives back. */
struct bn_shared *bn_shared_take(const struct bn_vm *vm, struct bn_shared_pool *pool);
/* Gives an interpreter back; the last session closes it. */
void bn_shared_drop(struct bn_shared *sh);

/* internal.wants_own(what): gives each further session of the pool an interpreter of its own,
   because the script uses what sessions would share.  Logs once that it does. */
int bn_shared_wants_own(lua_State *L);
/* internal.wait(): leaves the session until it may go on.  In a callback of a library function, or
   while a module is loaded, no other session can go on: that is logged once, and the call of the
   session is waited for in place. */
int bn_shared_wait(lua_State *L);

#endif
