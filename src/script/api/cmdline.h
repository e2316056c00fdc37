/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table `sysbench.cmdline`. */
#ifndef BN_SCRIPT_API_CMDLINE_H
#define BN_SCRIPT_API_CMDLINE_H

#include <stdbool.h>

#include <lua.h>

struct bn_lua;

/* Whether the script defines the command; fills *parallel if so. */
bool bn_cmdline_find(struct bn_lua *lua, const char *name, bool *parallel);
/* Pushes the command's function; false: nothing pushed, no such command. */
bool bn_cmdline_push(struct bn_lua *lua, const char *name);
/* sysbench.cmdline.options is not nil. */
bool bn_cmdline_has_options(struct bn_lua *lua);
/* It becomes nil: declarations serve the main instance only. */
void bn_cmdline_forget_options(struct bn_lua *lua);
/* internal.cmdline(): a new table. */
int bn_cmdline_make(lua_State *L);
/* internal.dialect(): "0.5", "1.0" or "1.1" when it was asked for, else nothing. */
int bn_cmdline_dialect(lua_State *L);

#endif
