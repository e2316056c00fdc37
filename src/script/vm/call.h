/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into a script: protected, guarded, and with every failure worded as users know it. */
#ifndef BN_SCRIPT_VM_CALL_H
#define BN_SCRIPT_VM_CALL_H

struct bn_lua;

/* Where the registry has the text of an error that is logged as it is, because a user has typed
   something wrong, or not at all if it is empty, because the reason has been logged. */
#define BN_LUA_REFUSAL "bn.refusal"

/* Calls the function below its nargs arguments with this instance's session as the current one.
   0 with nresults on the stack, or -1: the error has been logged as "`what' function failed: …"
   (what NULL: the bare message) and the stack is as before the function was pushed. */
int bn_lua_call(struct bn_lua *lua, int nargs, int nresults, const char *what);
/* The same, for a global of the script without arguments and results; an absent one succeeds. */
int bn_lua_call_global(struct bn_lua *lua, const char *name);
/* Executes the top level of the script; 0, or -1 after logging why. */
int bn_lua_load(struct bn_lua *lua);

#endif
