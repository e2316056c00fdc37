/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into a script, protected and guarded; failures are logged in the words that users know. */
#ifndef BN_SCRIPT_VM_CALL_H
#define BN_SCRIPT_VM_CALL_H

struct bn_lua;

/* Key of the registry for the text of an error that is logged unchanged, because a user has typed
   something wrong, or not at all if it is empty, because the reason has been logged. */
#define BN_LUA_REFUSAL "bn.refusal"

/* Calls the function below its nargs arguments with this instance's session as the current one.
   Returns 0 with nresults on the stack, or -1: the error has been logged as "`what' function
   failed: …" (what NULL: the bare message) and the stack is as before the function was pushed. */
int bn_lua_call(struct bn_lua *lua, int nargs, int nresults, const char *what);
/* The same in turns, without results, for an instance that shares its interpreter; its stack is
   otherwise empty.  WAITS: the session waits, and bn_lua_go_on with nargs 0 goes on with the call
   when it may. */
enum bn_lua_turn { BN_LUA_WAITS, BN_LUA_DONE, BN_LUA_FAILED };
enum bn_lua_turn bn_lua_begin(struct bn_lua *lua, int nargs, const char *what);
enum bn_lua_turn bn_lua_go_on(struct bn_lua *lua, int nargs, const char *what);
/* Calls a global of the script in the same way, without arguments and results, if it exists. */
int bn_lua_call_global(struct bn_lua *lua, const char *name);
/* Executes the top level of the script; returns 0, or -1 after logging why. */
int bn_lua_load(struct bn_lua *lua);

#endif
