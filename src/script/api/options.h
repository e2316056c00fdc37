/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that a script declares. */
#ifndef BN_SCRIPT_API_OPTIONS_H
#define BN_SCRIPT_API_OPTIONS_H

#include <stdbool.h>

#include <lua.h>

#include "base/err.h"

struct bn_api;
struct bn_lua;
struct bn_opt;
struct bn_options; /* options of one script; written by the main instance, then constant */

struct bn_options *bn_options_new(void);
void bn_options_free(struct bn_options *o);
/* Reads sysbench.cmdline.options of the main instance.  0, or -1 after logging why. */
int bn_options_read(struct bn_lua *lua);
/* Returns whether the script has such a table. */
bool bn_options_declared(const struct bn_options *o);
/* Returns whether it is one of them. */
bool bn_options_have(const struct bn_options *o, const struct bn_opt *opt);
/* Calls the options' validators and adds the options to the program's, which applies the command
   line's values.  Returns 0, or -1 and err, whose text is empty if the reason has been logged. */
int bn_options_add(struct bn_lua *lua, struct bn_err *err);
/* After it: the script has defaults of general options that a run has taken already. */
bool bn_options_change_run(const struct bn_options *o);
/* internal.read_options(number): keeps the options that the script of a mix declares whose code
   runs; raises an error if another one declares an option with another type.  Main instance. */
int bn_options_read_own(lua_State *L);
/* After bn_options_add: calls fn with the options of a script of a mix that nobody has set and for
   which it has another default than the first script that declares them. */
void bn_options_each_own(const struct bn_api *api, unsigned number,
                         void (*fn)(void *arg, const struct bn_opt *o, const void *value),
                         void *arg);
/* Lua functions: raise an error for wrong declarations; print the options. */
int bn_options_check(lua_State *L);
int bn_options_print(lua_State *L);

#endif
