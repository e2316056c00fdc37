/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into Lua with the thread's C stack guarded against overflow. */
#ifndef BN_SCRIPT_VM_STACKGUARD_H
#define BN_SCRIPT_VM_STACKGUARD_H

#include <signal.h>
#include <stdint.h>

struct bn_lua;

/* Installs the handler, once per process.  Returns the previous one for bn_stackguard_remove. */
struct sigaction *bn_stackguard_install(void);
/* Puts the previous handler back, and frees it. */
void bn_stackguard_remove(struct sigaction *previous);
/* Calls fn(arg) for the current instance with the thread's C stack guarded.  Returns its result. */
int bn_stackguard_call(struct bn_lua *lua, int (*fn)(void *arg), void *arg);
/* Frees the unused part of the stack of a worker, which calls this for its instance: loading needs
   far more of it than an event. */
void bn_stackguard_trim_stack(struct bn_lua *lua);
/* Guards all calls of this thread from now on, for workers that sessions share.  Returns the lowest
   address of its stack, for the stack_low of its instances; 0: it is not known, and nothing is
   guarded. */
uintptr_t bn_stackguard_guard_thread(void);

#endif
