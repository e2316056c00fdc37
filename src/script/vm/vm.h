/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes and closes interpreters, and the data that they share. */
#ifndef BN_SCRIPT_VM_VM_H
#define BN_SCRIPT_VM_VM_H

#include <stdbool.h>

#include "base/err.h"
#include "script/vm/lua.h"

/* *vm is all zero; setup and table outlive it. */
void bn_vm_init(struct bn_vm *vm, const struct bn_script_setup *setup,
                const struct bn_vm_table *table);
/* Fills vm->place.  Returns 0, or -1 and err. */
int bn_vm_find(struct bn_vm *vm, struct bn_err *err);
/* Compiles the script in an interpreter; fills vm->chunk.  Returns 0, or -1 and err. */
int bn_vm_compile(struct bn_vm *vm, struct bn_lua *lua, struct bn_err *err);
void bn_vm_done(struct bn_vm *vm);

/* Makes an interpreter with an instance in *lua, which is all zero; the script is not executed.
   tid: value of sysbench.tid.  Returns 0, or -1: the reason has been logged as FATAL; the caller
   calls bn_lua_close either way. */
int bn_lua_open(struct bn_lua *lua, const struct bn_vm *vm, struct bn_session *s, unsigned tid,
                bool worker);
void bn_lua_close(struct bn_lua *lua);

#endif
