/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into Lua with the thread's C stack guarded against overflow. */
#ifndef BN_SCRIPT_VM_STACKGUARD_H
#define BN_SCRIPT_VM_STACKGUARD_H

#include <signal.h>

struct bn_lua;

/* Installs the handler, once per process; returns the previous one for _remove, NULL: no memory. */
struct sigaction *bn_stackguard_install(void);
void bn_stackguard_remove(struct sigaction *previous); /* NULL: nothing was installed */
/* Calls fn(arg) for the instance that is the current one, with the thread's C stack guarded;
   returns what it returns. */
int bn_stackguard_call(struct bn_lua *lua, int (*fn)(void *arg), void *arg);
/* Gives the unused part of a worker's stack back: loading a script needs far more of it than an
   event. */
void bn_stackguard_release(void);

#endif
