/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environments of script instances, and the internal Lua modules and C functions they are given. */
#ifndef BN_SCRIPT_VM_ENV_H
#define BN_SCRIPT_VM_ENV_H

#include <stddef.h>

#include <lauxlib.h>

#include "script/vm/lua.h"

/* An internal module written in Lua. */
struct bn_vm_module {
  const char *name;          /* "sysbench.rand" */
  const unsigned char *data; /* text or bytecode */
  size_t size;
};

/* C declarations for ffi.cdef, in parts that are declared when needed, because an interpreter pays
   for each. */
struct bn_vm_part {
  const char *name, *text;
};

/* The modules, declarations and functions that interpreters get; vm/ itself knows none of them. */
struct bn_vm_table {
  const struct bn_vm_module *modules; /* a NULL name ends it; "sysbench" completes an instance */
  const struct bn_vm_part *parts;     /* a NULL name ends it; the first is declared at once */
  const char *const *old_parts;       /* parts that a script's own `ffi` declares; NULL ends it */
  const luaL_Reg *functions;          /* for modules, in their table `internal` */
  const luaL_Reg *lazy_functions;     /* the same, added to the table when first used */
};

/* These run under lua_pcall and may raise an error. */

/* Makes the objects that the instances of an interpreter share, before the first instance. */
void bn_env_make_shared(lua_State *L);
/* Makes the instance *lua, and sets its env_ref, sysbench_ref and thread_run_ref. */
void bn_env_make(struct bn_lua *lua);
/* Pushes a new environment in the instance, its sysbench table and its preset thread_run; `old`
   says when names of the 0.5 interface appear in it. */
void bn_env_push_instance(struct bn_lua *lua, enum bn_old_names old);
/* A function of Lua that executes module sysbench.mix in place of a script. */
int bn_env_run_mix(lua_State *L);

#endif
