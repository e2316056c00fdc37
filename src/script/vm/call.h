/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into a script, protected and guarded; failures are logged in the words that users know. */
#ifndef BN_SCRIPT_VM_CALL_H
#define BN_SCRIPT_VM_CALL_H

struct bn_lua;

/* Key of the registry for the text of an error that is logged unchanged, because a user has typed
   something wrong, or not at all if it is empty, because the reason has been logged. */
#define BN_LUA_REFUSAL "bn.refusal"

/* Calls the function below its nargs arguments, with this instance as the current one.  Returns 0
   with nresults on the stack.  After an error pops the function and its arguments, logs
   "`NAME' function failed: …", in which the parameter `function` is the name (NULL: only the
   message is logged), and returns -1.  os.exit() is no failure: its results are nil. */
int bn_lua_call(struct bn_lua *lua, int nargs, int nresults, const char *function);
/* The state of a call in turns: its session waits, or the call has ended. */
enum bn_lua_turn { BN_LUA_WAITS, BN_LUA_DONE, BN_LUA_FAILED };
/* Begins a call as bn_lua_call does, but in turns and without results, for an instance that shares
   its interpreter; its stack has nothing but the function and its arguments. */
enum bn_lua_turn bn_lua_begin_call(struct bn_lua *lua, int nargs, const char *function);
/* Goes on, with nargs 0, with a call that has returned BN_LUA_WAITS, when its session may go on. */
enum bn_lua_turn bn_lua_resume_call(struct bn_lua *lua, int nargs, const char *function);
/* Calls a global function of the script as bn_lua_call does, without arguments and results.
   Returns 0, also if there is no such function, or -1 after logging why it failed. */
int bn_lua_call_global(struct bn_lua *lua, const char *name);
/* Executes the top level of the script; returns 0, or -1 after logging why. */
int bn_lua_load(struct bn_lua *lua);

#endif
