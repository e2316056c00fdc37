/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table `sysbench.opt`. */
#ifndef BN_SCRIPT_API_OPTEXPORT_H
#define BN_SCRIPT_API_OPTEXPORT_H

#include <lua.h>

struct bn_lua;

/* Sets the option globals before the top level runs, in dialects that have them there.  Returns 0,
   or -1 after logging why. */
int bn_optexport_set_early(struct bn_lua *lua);
/* Sets sysbench.opt of an instance, and the option globals if the script expects them.  Returns 0,
   or -1 after logging why. */
int bn_optexport_set(struct bn_lua *lua);
/* internal.export_options(number): fills sysbench.opt of the script of a mix whose code runs, which
   has this number, from 1 on. */
int bn_optexport_set_own(lua_State *L);
/* internal.option(name): returns the value of an option, whose name has '_' for '-', or nothing if
   there is no such option. */
int bn_optexport_get(lua_State *L);

#endif
