/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes and closes interpreters, and the data that they share. */
#ifndef BN_SCRIPT_VM_VM_H
#define BN_SCRIPT_VM_VM_H

#include <stdbool.h>

#include "base/err.h"
#include "script/vm/lua.h"

/* Fills *vm, which is all zero, before the script is looked for.  setup and table outlive it. */
void bn_vm_init(struct bn_vm *vm, const struct bn_script_setup *setup,
                const struct bn_vm_table *table);
/* Finds the script, or the scripts of a mix: fills vm->place and vm->mix.  Returns 0, or -1 and
   err. */
int bn_vm_find(struct bn_vm *vm, struct bn_err *err);
/* Compiles the script, or the scripts of the mix, in an interpreter: fills vm->chunk, or those of
   vm->mix.  Returns 0, or -1 and err. */
int bn_vm_compile(struct bn_vm *vm, struct bn_lua *lua, struct bn_err *err);
/* Frees what vm owns.  All its interpreters must have been closed. */
void bn_vm_done(struct bn_vm *vm);

/* Makes an interpreter, or takes a shared one, and an instance in *lua, which is all zero; the
   script is not executed.  is_worker: it is not the main instance.  Returns 0, or -1 after logging
   the reason as FATAL; the caller calls bn_lua_close either way. */
int bn_lua_open(struct bn_lua *lua, const struct bn_vm *vm, struct bn_session *s, bool is_worker);
/* Closes the instance, and its interpreter unless other sessions share that; frees what *lua owns,
   which cannot be used any more. */
void bn_lua_close(struct bn_lua *lua);

#endif
