/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table `sysbench.cmdline`. */
#ifndef BN_SCRIPT_API_CMDLINE_H
#define BN_SCRIPT_API_CMDLINE_H

#include <stdbool.h>

#include <lua.h>

struct bn_lua;

/* Returns whether sysbench.cmdline.commands has a function for the command.  Sets *is_parallel,
   which says whether all threads run it, if there is an entry of that name. */
bool bn_cmdline_find_command(struct bn_lua *lua, const char *name, bool *is_parallel);
/* Returns the declared command that follows `after` in alphabetical order, or NULL after the last
   one; `after` NULL gives the first one. */
const char *bn_cmdline_next_command(struct bn_lua *lua, const char *after);
/* Pushes the function of a declared command, or any value that its declaration has in place of a
   function.  Returns false, and pushes nothing, if the command is not declared. */
bool bn_cmdline_push_command(struct bn_lua *lua, const char *name);
/* Returns whether sysbench.cmdline.options is not nil. */
bool bn_cmdline_has_options(struct bn_lua *lua);
/* Sets sysbench.cmdline.options to nil: the declarations take memory in every worker. */
void bn_cmdline_forget_options(struct bn_lua *lua);
/* internal.cmdline(): returns a new table `sysbench.cmdline` for the instance whose code runs. */
int bn_cmdline_make_table(lua_State *L);
/* internal.dialect(): returns "0.5", "1.0" or "1.1" in a dialect, else nothing. */
int bn_cmdline_dialect(lua_State *L);

#endif
