/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table `sysbench.cmdline`. */
#ifndef BN_SCRIPT_API_CMDLINE_H
#define BN_SCRIPT_API_CMDLINE_H

#include <stdbool.h>

#include <lua.h>

struct bn_lua;

/* Returns whether the script defines the command; if so, fills *parallel. */
bool bn_cmdline_find(struct bn_lua *lua, const char *name, bool *parallel);
/* Returns the declared command that follows this one in alphabetical order; after NULL: the first.
   NULL: there is none. */
const char *bn_cmdline_next(struct bn_lua *lua, const char *after);
/* Pushes the command's function; false: there is no such command, and nothing is pushed. */
bool bn_cmdline_push(struct bn_lua *lua, const char *name);
/* Returns whether sysbench.cmdline.options is not nil. */
bool bn_cmdline_has_options(struct bn_lua *lua);
/* Sets sysbench.cmdline.options to nil, because declarations serve only the main instance. */
void bn_cmdline_forget_options(struct bn_lua *lua);
/* internal.cmdline(): returns a new table. */
int bn_cmdline_make(lua_State *L);
/* internal.dialect(): returns "0.5", "1.0" or "1.1" in a dialect, else nothing. */
int bn_cmdline_dialect(lua_State *L);

#endif
